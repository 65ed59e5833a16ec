"""Mixes within a budget: counted and listed like brute force does."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simcore.rulesets.general_combat.edition import builtin_editions
from simcore.run.mix import BudgetRange, Mix, Mixes, count_mixes, list_mixes
from tests.run.sweeps import planned


def brute(prices: list[int], low: int, high: int, most: int) -> set[tuple[int, ...]]:
    every = itertools.product(range(most + 1), repeat=len(prices))
    return {
        row
        for row in every
        if 1 <= sum(row) <= most and low <= sum(n * price for n, price in zip(row, prices, strict=True)) <= high
    }


@given(
    prices=st.lists(st.integers(0, 12), min_size=1, max_size=4),
    high=st.integers(0, 40),
    slack=st.integers(0, 8),
    most=st.integers(1, 6),
)
def test_counting_and_listing_equal_brute_force(prices: list[int], high: int, slack: int, most: int) -> None:
    low = max(high - slack, 0)
    expected = brute(prices, low, high, most)
    found = list(list_mixes(prices, low, high, most))
    assert len(found) == len(set(found))
    assert set(found) == expected
    assert count_mixes(prices, low, high, most) == len(expected)


def test_counting_does_not_list() -> None:
    assert count_mixes([3, 4, 5, 6, 10, 12], 990, 1_000, 333) == 2_285_531_204


def test_counting_gives_up_before_memory_does() -> None:
    assert count_mixes(list(range(1, 20)), 0, 1_000_000, 2_000) is None


@pytest.mark.parametrize("edition", ["spring1942", "1942_2nd"])
def test_a_budget_means_every_mix(edition: str) -> None:
    units = ["infantry", "artillery", "tank", "fighter"]
    prices = [builtin_editions()[edition].units[unit].cost for unit in units]
    plan = planned(
        sweep={"edition": edition},
        attacker={
            "mixes": [],
            "budget": {"units": ["fig", "inf", "tank", "art"], "cost": 30, "slack": 2, "max_units": 9},
        },
    )
    found = [tuple(mix.counts.get(unit, 0) for unit in units) for mix in plan.points[0].attackers]
    assert len(found) == len(set(found))
    assert set(found) == brute(prices, 28, 30, 9)
    for mix, row in zip(plan.points[0].attackers, found, strict=True):
        assert mix.cost == sum(n * price for n, price in zip(row, prices, strict=True))
        assert mix.name == mix.units
        assert mix.weight == 1.0


def test_the_limits_of_a_budget_are_included() -> None:
    budget = {"units": ["infantry"], "cost": 9, "slack": 3, "max_units": 3}
    plan = planned(attacker={"mixes": [], "budget": budget})
    assert [mix.name for mix in plan.points[0].attackers] == ["3 infantry", "2 infantry"]
    plan = planned(attacker={"mixes": [], "budget": {**budget, "max_units": 2}})
    assert [mix.name for mix in plan.points[0].attackers] == ["2 infantry"]


def test_a_listed_mix_is_not_repeated_by_the_budget() -> None:
    plan = planned(
        attacker={
            "mixes": [{"name": "pair", "units": "2 infantry"}, "5 tank"],
            "budget": {"units": ["infantry"], "cost": 9, "slack": 6},
        }
    )
    assert [mix.name for mix in plan.points[0].attackers] == ["pair", "5 tank", "3 infantry", "1 infantry"]


def test_a_gun_takes_its_price_from_the_budget_but_is_no_loss() -> None:
    plan = planned(defender={"mixes": [], "budget": {"units": ["aa_gun", "infantry"], "cost": 9, "max_units": 3}})
    assert [(mix.name, mix.cost) for mix in plan.points[0].defenders] == [
        ("3 infantry", 9),
        ("1 infantry, 1 aa_gun", 3),
    ]


def test_mixes_behave_like_a_list() -> None:
    budget = BudgetRange(("infantry", "tank"), (3, 5), (3, 5), 8, 8, 5)
    mixes = Mixes([Mix("odd", "1 bomber", {"bomber": 1}, 2.0, 12)], budget)
    assert [mix.name for mix in mixes] == ["odd", "1 infantry, 1 tank"]
    assert mixes[1:] == [Mix("1 infantry, 1 tank", "1 infantry, 1 tank", {"infantry": 1, "tank": 1}, 1.0, 8)]
    with pytest.raises(IndexError):
        mixes[2]
