"""Retreats that look ahead and optimal play: against a plain recursion over all choices, and against each other."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import permutations, product
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import simcore
from simcore.core.jit import is_jit_disabled
from simcore.errors import ScenarioError
from simcore.rulesets.general_combat.encoding import ACCUMULATORS, Accumulator
from simcore.rulesets.general_combat.optimal import play_out
from tests.rulesets.general_combat import reference_optimal as plain
from tests.rulesets.general_combat.reference import ATTACKER, condition_a, read_scenario
from tests.rulesets.general_combat.reference_exact import hit_chances
from tests.rulesets.general_combat.support import land, no_shrinking
from tests.rulesets.general_combat.test_params_sea import problem
from tests.rulesets.general_combat.test_reference_assault import ashore, assault_of, raid_of
from tests.strategies import amphibious_scenarios, land_scenarios

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

NEAR = 1e-12
MARGIN = 1e-9
compiled_only = pytest.mark.skipif(is_jit_disabled(), reason="takes too long without the JIT")


@pytest.fixture(autouse=True)
def wrapping() -> Iterator[None]:
    """Let products of 64-bit words wrap around silently, as they do in compiled code."""
    with np.errstate(over="ignore"):
        yield


def played(scenario: Mapping[str, Any]) -> Any:
    """Return what the solver of decisions makes of a battle, whether or not it decides anything."""
    return play_out(simcore.encode([scenario]).arrays, 0)


def means(scenario: Mapping[str, Any]) -> dict[str, float]:
    """Return the expected accumulators of a battle."""
    encoded = simcore.encode([scenario])
    return dict(zip(encoded.ruleset.accumulators, simcore.solve(encoded, threads=1).tally[0].tolist(), strict=True))


def wins(found: Mapping[str, float]) -> float:
    """Return the attacker's chance to win."""
    return found["outcome.attacker_wins"] + found["outcome.attacker_clears"]


def optimal(scenario: Mapping[str, Any], side: str, **choice: Any) -> dict[str, Any]:
    """Return a scenario in which a side plays optimally."""
    return {**scenario, side: {**scenario[side], "optimal": choice}}


def retreating(scenario: Mapping[str, Any], **policy: Any) -> dict[str, Any]:
    """Return a scenario with another retreat policy of the attacker, added to his own."""
    own = scenario["attacker"]
    return {**scenario, "attacker": {**own, "retreat": {**own.get("retreat", {}), **policy}}}


# --------------------------------------------------------------------------------------------------
# Without a decision
# --------------------------------------------------------------------------------------------------


@compiled_only
@settings(max_examples=60, phases=no_shrinking)
@given(scenario=st.one_of(land_scenarios(4), amphibious_scenarios(3)))
def test_without_decisions_it_is_the_other_solver(scenario: dict[str, Any]) -> None:
    encoded = simcore.encode([scenario])
    found = played(scenario)
    wanted = simcore.solve(encoded, threads=1).tally[0]
    assert np.all(np.abs(found.tally - wanted) <= NEAR * np.maximum(1, np.abs(wanted)))
    assert abs(found.value[1] - wanted[Accumulator.OUTCOMES : Accumulator.OUTCOMES + 2].sum()) <= NEAR
    assert abs(found.value[2] - wanted[Accumulator.SWING]) <= NEAR * max(1, abs(wanted[Accumulator.SWING]))


# --------------------------------------------------------------------------------------------------
# Against the plain recursion
# --------------------------------------------------------------------------------------------------

SMALL = {
    "land": land("2 infantry, 1 tank, 1 fighter", "2 infantry, 1 fighter"),
    "owner picks": land("2 infantry, 2 fighter, 1 bomber", "2 infantry, 2 aa_gun", "1942_2nd"),
    "limit": land("2 infantry, 1 tank, 1 fighter", "2 infantry, 1 fighter", cycle_limit=2),
    "landing": ashore(
        "2 infantry, 2 tank, 1 fighter", "2 infantry, 1 fighter", landed="1 infantry, 1 tank", bombard="1 cruiser"
    ),
    "revised": ashore(
        "2 infantry, 1 tank, 1 fighter", "2 infantry, 1 fighter", "revised", landed="1 infantry",
        bombard="1 battleship",
    ),
}  # fmt: skip


@pytest.mark.rule("GC-4.8.6")
@pytest.mark.rule("GC-4.3.2")
@pytest.mark.rule("GC-4.4.2")
@pytest.mark.parametrize("goal", ["win", "capture", "swing"])
@pytest.mark.parametrize("side", ["attacker", "defender"])
@pytest.mark.parametrize("name", list(SMALL)[:: 3 if is_jit_disabled() else 1])
def test_optimal_play_is_the_best_of_all(name: str, side: str, goal: str) -> None:
    scenario = optimal(SMALL[name], side, goal=goal)
    found = played(scenario)
    wanted = plain.best(scenario)
    assert abs(found.value[0] - wanted.goal) <= NEAR
    # What is valued backwards is what comes out forwards.
    assert abs(found.tally[Accumulator.BATTLES] - 1) <= NEAR
    assert abs(found.value[1] - found.tally[Accumulator.OUTCOMES : Accumulator.OUTCOMES + 2].sum()) <= NEAR
    assert abs(found.value[2] - found.tally[Accumulator.SWING]) <= 10 * NEAR


@pytest.mark.rule("GC-4.6.7")
@pytest.mark.rule("GC-5.6")
@pytest.mark.parametrize(
    "policy",
    [
        {"when_win_chance_below": 0.3},
        {"when_win_chance_below": 0.85, "after_cycles": 3},
        {"when_win_chance_below": 1.0},
        {"when_swing_negative": True},
        {"when_swing_negative": True, "possible": False, "when_units_at_most": 1},
    ],
)
@pytest.mark.parametrize("name", list(SMALL)[:: 3 if is_jit_disabled() else 1])
def test_retreats_look_ahead(name: str, policy: dict[str, Any]) -> None:
    scenario = retreating(SMALL[name], **policy)
    found = played(scenario)
    wanted = plain.best(scenario)
    assert abs(found.value[1] - wanted.win) <= NEAR
    assert abs(found.value[2] - wanted.swing) <= 10 * NEAR
    assert abs(found.value[1] - found.tally[Accumulator.OUTCOMES : Accumulator.OUTCOMES + 2].sum()) <= NEAR


@compiled_only
@settings(max_examples=40, phases=no_shrinking)
@given(
    scenario=st.one_of(land_scenarios(2), amphibious_scenarios(1)),
    side=st.sampled_from(["attacker", "defender"]),
    goal=st.sampled_from(["win", "capture", "swing"]),
)
def test_any_small_battle_is_played_optimally(scenario: dict[str, Any], side: str, goal: str) -> None:
    scenario = optimal(scenario, side, goal=goal)
    units = sum(simcore.encode([scenario]).scenarios[0].own_counts(0).values())
    if units <= 7:
        assert abs(played(scenario).value[0] - plain.best(scenario).goal) <= 10 * NEAR


def test_all_policies_of_a_tiny_battle_one_by_one() -> None:
    """No recursion over choices here: every list of choices is tried as a whole battle."""
    scenario = read_scenario(land("2 infantry, 1 tank", "2 infantry"))
    types = ("infantry", "tank")

    def chances(side: int, counts: tuple[int, int]) -> list[Fraction]:
        stack = [unit for unit, n in zip(types, counts, strict=True) for _ in range(n)]
        return hit_chances(plain.combat_throws(scenario, side, stack, 1))

    points = [
        (i, t, d, k)
        for i, t in product(range(3), range(2))
        for d in (1, 2)
        for k in range(1, i + t)
        if i and t
    ]

    def choices(i: int, t: int, k: int) -> list[tuple[int, int]]:
        return [(i - a, t - (k - a)) for a in range(k + 1) if a <= i and k - a <= t]

    def win(policy: dict[tuple[int, int, int, int], tuple[int, int]]) -> Fraction:
        @cache
        def arrive(i: int, t: int, d: int) -> Fraction:
            if i + t == 0:
                return Fraction(0)
            if d == 0:
                return Fraction(1)
            total, same = Fraction(0), Fraction(0)
            for h, p in enumerate(chances(ATTACKER, (i, t))):
                for k, q in enumerate(chances(1, (d, 0))):
                    left = max(0, d - h)
                    if h == 0 and k == 0:
                        same = p * q
                    elif k >= i + t:
                        total += p * q * arrive(0, 0, left)
                    else:
                        options = choices(i, t, k)
                        after = policy[i, t, left, k] if (i, t, left, k) in policy else options[0]
                        total += p * q * arrive(*after, left)
            return total / (1 - same)

        return arrive(2, 1, 2)

    best = max(
        win(dict(zip(points, chosen, strict=True)))
        for chosen in product(*(choices(i, t, k) for i, t, _, k in points))
    )
    found = played(optimal(land("2 infantry, 1 tank", "2 infantry"), "attacker", goal="win"))
    assert abs(found.value[0] - best) <= NEAR
    assert condition_a is not None
