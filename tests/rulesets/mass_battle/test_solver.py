"""The exact solver against the exact reference, the sampler, and what holds in every battle."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import simcore
from simcore.errors import ScenarioError
from simcore.method import Choice, choose
from tests.rulesets.mass_battle import reference_exact as exact
from tests.rulesets.mass_battle.reference import OUTCOMES, STATES
from tests.rulesets.mass_battle.strategies import scenarios
from tests.rulesets.mass_battle.support import NEAR, SIDES, battle, house, means

PLACES = {
    "standard": {"squad": "type_1", "mobile_squad": "type_2"},
    "house": {"levy": "type_1", "guard": "type_2", "riders": "type_3"},
}


def reference_means(scenario: dict[str, Any]) -> dict[str, float]:
    """Return every accumulator that the reference knows."""
    found: dict[str, float] = {}

    def add(name: str, value: float) -> None:
        found[name] = found.get(name, 0.0) + value

    places = PLACES[scenario.get("edition", "standard")]
    table = {key: value for key, value in scenario.items() if key != "ruleset"}
    solved = exact.solve(table, exact=False, left=1e-17)
    for ending, p in solved.battles:
        chance = float(p)
        add(f"outcome.{ending.outcome}", chance)
        lost = ending.cost_lost
        for side, name in enumerate(SIDES):
            add(f"{name}.cost_lost.sum", chance * lost[side])
            add(f"{name}.cost_lost.sumsq", chance * lost[side] ** 2)
            for state in STATES:
                add(f"squads.{name}.{state}", chance * ending.total(side, state))
                for unit, count in ending.squads[side][state].items():
                    if state in {"active", "suppressed"}:
                        add(f"survivors.{ending.outcome}.{name}.{places[unit]}", chance * count)
        add("swing.sum", chance * ending.swing)
        add("swing.sumsq", chance * ending.swing**2)
    add("turns.sum", float(solved.mean_turns))
    if solved.turns:
        add("turns.sumsq", sum(turn**2 * float(p) for turn, p in solved.turns.items()))
    add("battles", sum(found.get(f"outcome.{name}", 0.0) for name in OUTCOMES))
    return found


def assert_equals_reference(scenario: dict[str, Any]) -> None:
    """Check every accumulator."""
    found, wanted = means(scenario), reference_means(scenario)
    for name, value in found.items():
        if name == "turns.sumsq" and name not in wanted:
            continue
        assert abs(value - wanted.get(name, 0.0)) <= NEAR * max(1.0, abs(value)), name


NAMED = {
    "attacker first": battle("2 squad", "2 squad", initiative="attacker_first"),
    "defender first": battle("2 squad", "3 squad", initiative="defender_first", max_turns=4),
    "ones of every roll": battle("2 squad", "2 squad", ones_backfire="every_roll", max_turns=8),
    "negative rolls": battle(
        {"units": "2 squad", "pool_modifier": -2}, {"units": "2 squad", "pool_modifier": -1}, negative_needs="any"
    ),
    "pursuit": battle("2 mobile_squad", "2 squad"),
    "pursuit one by one": battle("1 mobile_squad, 1 squad", "2 squad", pursuit_limit="one_per_squad"),
    "endless rallies": battle(
        "2 squad", "2 squad", rally_attempts="unlimited", routed_targets=True, max_turns=6
    ),
    "unlike squads": house("1 levy, 1 guard", "2 riders", max_turns=9),
    "difference": battle("2 squad", "1 squad", pool_model="difference"),
    "characters": house(
        {"units": "2 guard", "characters": [{"skill": 2}, {"skill": 3, "route": "army", "army_modifier": 1}]},
        "2 riders",
        max_turns=5,
    ),
    "first, and ones": battle(
        "2 squad", {"units": "2 squad", "pool_modifier": -1}, initiative="attacker_first", ones_backfire="every_roll",
        max_turns=5,
    ),
    "no flight": battle("2 squad", {"units": "2 squad", "can_flee": False}),
    "fixed": battle({"units": "2 squad", "pool": 2}, {"units": "2 squad", "pool": 1}, pool_model="fixed"),
}  # fmt: skip


@pytest.mark.parametrize("name", NAMED)
def test_named_solutions_equal_the_exact_reference(name: str) -> None:
    with np.errstate(over="ignore"):
        assert_equals_reference(NAMED[name])


def test_threads_and_company_change_no_bit() -> None:
    encoded = simcore.encode([NAMED[name] for name in ("pursuit", "negative rolls", "first, and ones")] * 7)
    one = simcore.solve(encoded, threads=1)
    assert np.array_equal(one.tally, simcore.solve(encoded, threads=2).tally)
    assert np.array_equal(one.tally[:3], one.tally[3:6])


@pytest.mark.parametrize(
    ("attacker", "defender", "options"),
    [
        ("5 squad", "4 squad", {}),
        ("2 squad, 3 mobile_squad", "4 squad", {"initiative": "defender_first"}),
        ("3 squad", "3 squad", {"ones_backfire": "every_roll"}),
    ],
)
def test_levels_and_turns_lead_to_the_same(attacker: Any, defender: Any, options: dict[str, Any]) -> None:
    """Both ways to solve a battle: squads that are gone never come back, or turn by turn to a limit."""
    endless = means(battle(attacker, defender, max_turns=0, **options))
    limited = means(battle(attacker, defender, max_turns=65, **options))
    for name, value in endless.items():
        assert abs(value - limited[name]) <= NEAR * max(1.0, abs(value)), name


@pytest.mark.parametrize(
    ("attacker", "defender", "options"),
    [
        ("6 squad", "4 squad", {}),
        ("2 squad, 2 mobile_squad", "4 mobile_squad", {"renew_suppression": False}),
        ({"units": "3 squad", "support_dice": 40}, "4 mobile_squad", {}),
        ("3 squad", "3 mobile_squad", {"rally_attempts": "unlimited", "routed_targets": True}),
    ],
    ids=["squads", "two types", "pools in place of hits", "endless rallies"],
)
def test_plain_battles_equal_those_that_are_not_known_to_be_plain(
    attacker: Any, defender: Any, options: dict[str, Any]
) -> None:
    """A modifier that might change from turn to turn makes a battle be solved in the other way, by pools and states."""
    army = attacker if isinstance(attacker, dict) else {"units": attacker}
    plain = means(battle(army, defender, **options))
    other = means(battle({**army, "pool_modifier": [0, 0]}, defender, **options))
    for name, value in plain.items():
        assert abs(value - other[name]) <= NEAR * max(1.0, abs(value)), name


def test_a_limit_that_is_never_reached_changes_no_bit() -> None:
    assert means(battle("4 squad", "4 squad", max_turns=300)) == means(battle("4 squad", "4 squad", max_turns=0))


def test_battles_that_are_too_large_are_refused_before_they_start() -> None:
    with pytest.raises(ScenarioError, match="states"):
        simcore.odds(scenario=battle("40 squad", "40 squad"), method="exact")
    with pytest.raises(ScenarioError, match="exact solver"):
        simcore.odds(scenario=house("1 levy, 1 guard", "1 levy", target_order="random"), method="exact")


LONG_LISTS = {
    "outcomes": battle("50 squad", {"units": "1 squad", "support_dice": 50}),
    "rows": battle("10 squad", "10 squad", ones_backfire="every_roll"),
}


@pytest.mark.parametrize("name", LONG_LISTS)
def test_battles_with_few_states_but_long_lists_are_refused_before_they_start(name: str) -> None:
    """What the solver itself gives up reads otherwise."""
    with pytest.raises(ScenarioError, match="has no exact solver for battles of this kind, size and options"):
        simcore.solve(simcore.encode([LONG_LISTS[name]]))


def test_hundreds_of_dice_count_as_work() -> None:
    """Their effects take seconds to list, however few states there are."""

    def choice(dice: int) -> Choice:
        army = {"units": "5 squad", "support_dice": dice}
        encoded = simcore.encode([battle(army, army)])
        return choose(encoded.ruleset, encoded.scenarios[0])

    assert choice(100).is_exact
    assert not choice(990).is_exact
    assert "steps" in choice(990).reason


def test_many_squads_against_one_fit() -> None:
    found = means(battle("30 squad", "1 squad"))
    assert abs(found["outcome.attacker_wins"] + found["outcome.both_broken"] - 1.0) <= NEAR


def test_an_empty_army_is_broken_before_anyone_rolls() -> None:
    found = means(battle("2 squad", ""))
    assert found["outcome.attacker_wins"] == 1.0
    assert found["turns.sum"] == found["attacker.cost_lost.sum"] == 0.0
    assert found["survivors.attacker_wins.attacker.type_1"] == found["squads.attacker.active"] == 2.0
    assert means(battle("2 squad", ""), exact=False, battles=10) == found


@given(scenario=scenarios(most=2))
@settings(max_examples=12)
def test_solutions_equal_the_exact_reference(scenario: dict[str, Any]) -> None:
    for side in SIDES:
        for name in ("pool", "pool_modifier"):
            if isinstance(scenario[side].get(name), list):
                scenario[side][name] = scenario[side][name][0]
        units = scenario[side]["units"]
        # The reference keeps squads apart and takes long for large armies.
        while sum(units.values()) > 2:
            units.popitem()
    if scenario["options"].get("target_order") == "random":
        scenario["options"]["target_order"] = "listed"
    with np.errstate(over="ignore"):
        assert_equals_reference(scenario)
