"""Every way in which a battle may end: against the exact reference, and against the expected accumulators."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import simcore
from simcore.core.jit import is_jit_disabled
from simcore.distribution import QUANTILES, Distribution
from simcore.enums import Side
from simcore.rulesets.general_combat.distribute import NUMBERS_OF_CYCLES, find_ends, read_ends
from simcore.rulesets.general_combat.encoding import UNITS
from simcore.unittext import format_units
from tests.rulesets.general_combat.support import EDITIONS, land
from tests.rulesets.general_combat.test_optimal import FLEETS, SMALL, optimal, retreating
from tests.rulesets.general_combat.test_reference_assault import ashore, assault_of
from tests.rulesets.general_combat.test_reference_sea import at_sea
from tests.rulesets.general_combat.test_solver import KINDS, NAMED, near

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

CHOSEN = NAMED[::4]
compiled_only = pytest.mark.skipif(is_jit_disabled(), reason="takes too long without the JIT")


@cache
def named(kind: str, name: str) -> Distribution:
    """Return the distribution of a scenario of the exact reference."""
    return distribution(KINDS[kind][0][name])


def distribution(scenario: Mapping[str, Any]) -> Distribution:
    """Return the distribution of a battle."""
    encoded = simcore.encode([scenario])
    assert encoded.ruleset.distribute is not None
    endings = encoded.ruleset.distribute(encoded.arrays, encoded.scenarios, 0)
    assert endings is not None
    return Distribution.from_endings(encoded.ruleset, endings)


def means(scenario: Mapping[str, Any]) -> dict[str, float]:
    """Return the expected accumulators of a battle."""
    encoded = simcore.encode([scenario])
    return dict(zip(encoded.ruleset.accumulators, simcore.solve(encoded, threads=1).tally[0].tolist(), strict=True))


def assert_matches(found: Distribution, expected: Mapping[str, float], *, with_cycles: bool = True) -> None:
    """Check that a distribution has the expected outcomes, survivors, losses, swing and cycles."""
    assert near(float(found.chance.sum()), 1.0)
    assert near(float(found.cycle_chance.sum()), 1.0)
    for o, outcome in enumerate(found.outcomes):
        chance = np.where(found.outcome == o, found.chance, 0.0)
        assert near(float(chance.sum()), expected[f"outcome.{outcome}"])
        for side in Side:
            mean = chance @ found.survivors[:, side]
            for unit, value in zip(found.units, mean.tolist(), strict=True):
                assert near(value, expected[f"survivors.{outcome}.{side.name.lower()}.{unit}"]), unit
    for side in Side:
        lost = found.cost_lost[:, side]
        name = f"{side.name.lower()}.cost_lost"
        assert near(float(found.chance @ lost), expected[f"{name}.sum"])
        assert near(float(found.chance @ (lost * lost)), expected[f"{name}.sumsq"])
    assert near(sum(value * p for value, p in found.swing.items()), expected["swing.sum"])
    assert near(sum(value * value * p for value, p in found.swing.items()), expected["swing.sumsq"])
    if with_cycles and found.cycle_chance[-1] < 1e-15:
        numbers = np.arange(len(found.cycle_chance))
        assert near(float(numbers @ found.cycle_chance), expected["cycles.sum"])
        assert near(float((numbers * numbers) @ found.cycle_chance), expected["cycles.sumsq"])


@pytest.mark.parametrize(("kind", "name"), CHOSEN)
def test_distribution_has_the_expected_figures(kind: str, name: str) -> None:
    assert_matches(named(kind, name), means(KINDS[kind][0][name]))


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, name in CHOSEN if kind in {"land", "sea"}])
def test_every_end_equals_the_exact_reference(kind: str, name: str) -> None:
    expected: dict[tuple[str, str, str], float] = defaultdict(float)
    for battle, chance in KINDS[kind][1](name).endings:
        texts = (
            format_units({unit: n for unit in UNITS if (n := battle.survivors[side].get(unit))}) for side in (0, 1)
        )
        expected[battle.outcome, *texts] += float(chance)
    found: dict[tuple[str, str, str], float] = defaultdict(float)
    for end in named(kind, name).joint():
        found[end["outcome"], end["attacker"], end["defender"]] += end["chance"]
    for key in expected | found:
        assert near(found[key], expected[key]), key


def test_swing_of_a_duel() -> None:
    # One infantry attacks one infantry: in each cycle 1/6 v 1/3. Of all cycles in which something happens
    # (8/18) the attacker alone is left in 2/18, the defender alone in 5/18, nobody in 1/18.
    duel = distribution(land("1 infantry", "1 infantry"))
    swing = duel.swing
    assert list(swing) == [-3, 0, 3]
    assert [pytest.approx(p, abs=1e-15) for p in swing.values()] == [5 / 8, 1 / 8, 2 / 8]
    assert duel.chance_of_loss == pytest.approx(5 / 8, abs=1e-15)
    assert duel.swing_quantiles() == {0.05: -3, 0.25: -3, 0.5: -3, 0.75: 0, 0.95: 3}
    assert duel.survivors_of(Side.ATTACKER, "infantry") == pytest.approx({0: 6 / 8, 1: 2 / 8}, abs=1e-15)
    # The same number of cycles with nothing between: 8/18 of the battles last one, 10/18 of the rest, and so on.
    for n in range(1, 40):
        assert duel.cycles[str(n)] == pytest.approx(8 / 18 * (10 / 18) ** (n - 1), rel=1e-12)


def test_quantiles_stand_in_the_solution_too() -> None:
    scenario = land("4 infantry, 2 tank", "5 infantry")
    encoded = simcore.encode([scenario])
    spread = simcore.solve(encoded).spread[0]
    found = distribution(scenario)
    assert spread[: len(QUANTILES)].tolist() == list(found.swing_quantiles().values())
    assert spread[-1] == pytest.approx(found.chance_of_loss, abs=1e-14)


def test_a_battle_that_does_not_take_place_has_no_cycles() -> None:
    empty = distribution(land("1 infantry", ""))
    assert empty.cycles == {"0": 1.0}
    assert empty.joint() == [
        {"outcome": "attacker_wins", "attacker": "1 infantry", "defender": "", "swing": 0, "chance": 1.0}
    ]


@pytest.mark.parametrize("limit", [1, 3])
def test_cycle_limit_ends_the_distribution_of_cycles(limit: int) -> None:
    scenario = {**land("2 infantry", "2 infantry"), "cycle_limit": limit}
    found = distribution(scenario)
    assert max(map(int, found.cycles)) == limit
    assert_matches(found, means(scenario))


@compiled_only
@pytest.mark.parametrize("edition", EDITIONS)
def test_larger_battles_of_every_edition(edition: str) -> None:
    scenarios = [
        land("8 infantry, 3 tank, 2 fighter", "9 infantry, 1 fighter, 1 aa_gun", edition),
        ashore("4 infantry, 2 tank, 1 fighter", "4 infantry, 1 aa_gun", edition, landed="2 infantry"),
        at_sea("2 submarine, 2 destroyer, 1 battleship", "2 submarine, 1 carrier, 1 fighter", edition),
        assault_of("1 destroyer, 2 transport", "1 destroyer", "2 infantry", "1 infantry", ["1 infantry"] * 2, edition),
    ]
    for scenario in scenarios:
        assert_matches(distribution(scenario), means(scenario))


# --------------------------------------------------------------------------------------------------
# Battles whose own odds decide
# --------------------------------------------------------------------------------------------------

FEW = 5
"""Numbers of cycles that are told apart where the rest is worked out at once."""


def decided() -> Iterator[Any]:
    """Return battles with each policy that looks ahead, and with optimal play of each side and goal."""
    policies: list[dict[str, Any]] = [
        {"when_win_chance_below": 0.3},
        {"when_win_chance_below": 0.8, "after_cycles": 3},
        {"when_swing_negative": True},
    ]
    for kind, battles in {"land": SMALL, "sea": FLEETS}.items():
        goals = ["win", "swing"] if kind == "sea" else ["win", "capture", "swing"]
        for name, scenario in battles.items():
            for policy in policies:
                yield pytest.param(retreating(scenario, **policy), id=f"{kind}-{name}-{policy}")
            for side in Side:
                for goal in goals:
                    who = side.name.lower()
                    yield pytest.param(optimal(scenario, who, goal=goal), id=f"{kind}-{name}-{who}-{goal}")


DECIDED = list(decided())


@pytest.mark.parametrize("scenario", DECIDED[:: 5 if is_jit_disabled() else 1])
def test_decisions_by_the_odds_are_in_the_distribution(scenario: dict[str, Any]) -> None:
    encoded = simcore.encode([scenario])
    solution = simcore.solve(encoded, distribution=True, threads=1)
    assert solution.distributions is not None
    found = solution.distributions[0]
    assert_matches(found, dict(zip(encoded.ruleset.accumulators, solution.tally[0].tolist(), strict=True)))
    spread = solution.spread[0].tolist()
    assert spread[: len(QUANTILES)] == list(found.swing_quantiles().values())
    assert near(spread[-1], found.chance_of_loss)


@pytest.mark.parametrize("cycles", [0, FEW])
@pytest.mark.parametrize("scenario", DECIDED[:: 7 if is_jit_disabled() else 2])
def test_ends_are_the_same_however_many_cycles_are_told_apart(scenario: dict[str, Any], cycles: int) -> None:
    encoded = simcore.encode([scenario])
    few, many = (find_ends(encoded.arrays, 0, n) for n in (cycles, NUMBERS_OF_CYCLES))
    assert few is not None
    assert many is not None
    one, other = (
        Distribution.from_endings(encoded.ruleset, read_ends(encoded.arrays, 0, ends)) for ends in (few, many)
    )
    ends = [
        {(end["outcome"], end["attacker"], end["defender"]): end["chance"] for end in found.joint()}
        for found in (one, other)
    ]
    for end in ends[0] | ends[1]:
        # What has become too unlikely to be followed depends on how the battle is gone through.
        assert near(ends[0].get(end, 0.0), ends[1].get(end, 0.0)), end
    assert len(one.cycle_chance) == cycles
    if cycles:
        for n in range(FEW - 1):
            assert near(float(one.cycle_chance[n]), float(other.cycle_chance[n]))
        assert near(float(one.cycle_chance[-1]), float(other.cycle_chance[FEW - 1 :].sum()))


def test_a_duel_that_is_broken_off() -> None:
    # Going on wins a quarter of all such duels (see above): who wants 30 % leaves after the first cycle.
    found = distribution(retreating(land("1 infantry", "1 infantry"), when_win_chance_below=0.3))
    swing = found.swing
    assert list(swing) == [-3, 0, 3]
    assert [pytest.approx(p, abs=1e-15) for p in swing.values()] == [5 / 18, 11 / 18, 2 / 18]
    assert found.swing_quantiles() == {0.05: -3, 0.25: -3, 0.5: 0, 0.75: 0, 0.95: 3}
    assert found.cycles == {"1": pytest.approx(1.0, abs=1e-15)}
    left = {end["outcome"]: end["chance"] for end in found.joint()}
    assert left["attacker_retreats"] == pytest.approx(10 / 18, abs=1e-15)


def test_guns_without_company_are_gone_where_their_owner_chooses() -> None:
    # The infantry is the cheaper loss and goes first: the gun alone falls to whoever is left (GC-2.3:aa_fate).
    scenario = optimal(land("2 infantry, 2 fighter", "1 infantry, 1 aa_gun", "1942_2nd"), "defender", goal="swing")
    found = distribution(scenario)
    assert_matches(found, means(scenario))
    won = np.array([found.outcomes[o] in {"attacker_wins", "attacker_clears"} for o in found.outcome])
    assert won.any()
    assert not found.survivors[won, Side.DEFENDER].any()
