"""The sampler against exact distributions: fixed seeds, 4.5 standard errors.

Everything that a tally holds is compared: outcomes, cycles, losses, swing, captures and the survivors by
outcome, side and unit.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

import simcore
from tests.rulesets.general_combat import reference as ref
from tests.rulesets.general_combat import reference_exact as exact
from tests.rulesets.general_combat.support import EDITIONS, cases, land

if TYPE_CHECKING:
    from collections.abc import Mapping

BATTLES = 200_000
ERRORS = 4.5
# Counts of rare events are skewed; this many more or less of them is no sign of a fault.
RARE = 10


def unit_table_scenarios() -> dict[str, dict[str, Any]]:
    """Every unit of every edition once in attack and once in defence."""
    found = {}
    for edition in EDITIONS:
        for unit in ref.EDITIONS[edition].units:
            if unit in ref.LAND + ref.AIRCRAFT:
                found[f"{edition} {unit} attacks"] = land(f"1 {unit}", "1 infantry", edition)
                found[f"{edition} {unit} defends"] = land("1 infantry", f"1 {unit}", edition)
    return found


MIXED = ("2 infantry, 1 artillery, 1 fighter", "2 infantry, 1 tank")


def edition_scenarios(edition: str) -> dict[str, dict[str, Any]]:
    """Small battles in which low luck, the guns or a technology decide."""
    air = ("1 infantry, 2 fighter, 1 bomber", "1 infantry, 2 aa_gun")
    found = {}
    for low_luck in ("none", "combat", "aa", "both"):
        found[f"{edition} low luck {low_luck}"] = land(*air, edition, low_luck=low_luck)
        found[f"{edition} low luck {low_luck}, land"] = land(*MIXED, edition, low_luck=low_luck)
    for dice, choice, fate in product(
        ("per_aircraft", "three_per_gun"), ("per_type", "owner"), ("captured", "destroyed")
    ):
        found[f"{edition} {dice} {choice} {fate}"] = land(
            "1 infantry, 3 fighter, 1 bomber",
            "1 infantry, 1 aa_gun",
            edition,
            switches={"aa_dice": dice, "aa_choice": choice, "aa_fate": fate},
            attacker_loss_order=["bomber", "fighter", "infantry"],
        )
    if ref.EDITIONS[edition].technologies:
        for technology in ("jet_fighters", "heavy_bombers", "radar", "advanced_artillery"):
            for low_luck in ("none", "combat"):
                found[f"{edition} {technology} low luck {low_luck}"] = land(
                    "3 infantry, 1 artillery, 1 fighter, 1 bomber",
                    "2 infantry, 1 fighter, 1 bomber, 1 aa_gun",
                    edition,
                    attacker_technologies=[technology],
                    defender_technologies=[technology],
                    low_luck=low_luck,
                )
    return found


def policy_scenarios() -> dict[str, dict[str, Any]]:
    """Small battles in which an order of loss, a retreat or a limit decides."""
    full = (
        "1 infantry, 1 mech_infantry, 1 artillery, 1 tank, 1 fighter, 1 tactical_bomber",
        "1 infantry, 1 mech_infantry, 1 aa_gun, 1 tactical_bomber, 1 fighter",
    )
    found = {}
    for policy in ("default", "cheapest", "weakest"):
        found[f"policy {policy}"] = land(*full, "global40_2nd", attacker_loss_order=policy, defender_loss_order=policy)
    for kept in (1, 2, 3):
        found[f"keep land {kept}"] = land(*MIXED, attacker_keep_land=kept)
    for number, retreat in enumerate(
        (
            {"after_cycles": 1},
            {"after_cycles": 3},
            {"when_units_at_most": 2},
            {"when_only_aircraft": True},
            {"after_cycles": 2, "possible": False},
            {"when_units_at_most": 3, "possible": False},
            {"when_only_aircraft": True, "possible": False},
        )
    ):
        found[f"retreat {number}"] = land(*MIXED, attacker_retreat=retreat)
    for limit in (1, 2, 4):
        found[f"cycle limit {limit}"] = land(*MIXED, cycle_limit=limit)
    found["capture"] = land("2 infantry, 1 tank", "1 infantry, 2 aa_gun, 1 industrial_complex", territory={"value": 5})
    found["no defender"] = land("1 infantry, 1 fighter", "", territory={"value": 2})
    found["no attacker"] = land("", "1 infantry")
    return found


SCENARIOS: dict[str, dict[str, Any]] = {
    **{case["id"]: case["scenario"] for case in cases("worked") + cases("disputed")},
    **unit_table_scenarios(),
    **{name: scenario for edition in EDITIONS for name, scenario in edition_scenarios(edition).items()},
    **policy_scenarios(),
}
PRINTED_ONLY = [case for case in cases("disputed") if "sampled_only" in case["expect"]]


@cache
def tallies() -> dict[str, dict[str, int]]:
    """Fight all battles in one go."""
    encoded = simcore.encode(list(SCENARIOS.values()))
    tally = simcore.simulate(encoded, battles=BATTLES, seed=20).tally
    names = encoded.ruleset.accumulators
    return {name: dict(zip(names, row.tolist(), strict=True)) for name, row in zip(SCENARIOS, tally, strict=True)}


def assert_near(total: float, mean: float, square: float, most: float, what: str, *, battles: int = BATTLES) -> None:
    """Compare a sum over the battles with the exact mean; `square` is the mean of the squares."""
    variance = max(square - mean * mean, 0.0)
    bound = ERRORS * (battles * variance) ** 0.5 + (RARE * most if variance > 1e-15 else 1e-6 * battles)
    assert abs(total - battles * mean) <= bound, f"{what}: {total / battles} is not {mean}"


@cache
def solved_by_reference(name: str) -> exact.Distribution:
    """Solve a scenario; fractions stay short for battles of few units."""
    scenario = ref.read_scenario(SCENARIOS[name])
    units = max(sum(force.units.values()) for force in scenario.forces)
    return exact.solve(scenario, exact=units <= 4)


SOLVED = [name for name in SCENARIOS if name not in {case["id"] for case in PRINTED_ONLY}]
"""All but those that are too large to enumerate."""


@pytest.mark.statistical
@pytest.mark.parametrize("name", SOLVED)
def test_sampler_follows_the_exact_distribution(name: str) -> None:
    scenario = ref.read_scenario(SCENARIOS[name])
    solved = solved_by_reference(name)
    tally = tallies()[name]

    def check(accumulator: str, what: Any, most: float) -> None:
        mean = float(solved.mean(what))
        square = float(solved.mean(lambda battle: what(battle) ** 2))
        assert_near(tally[accumulator], mean, square, most, accumulator)
        if f"{accumulator}sq" in tally:
            fourth = float(solved.mean(lambda battle: what(battle) ** 4))
            assert_near(tally[f"{accumulator}sq"], square, fourth, most * most, f"{accumulator}sq")

    assert tally["battles"] == BATTLES
    assert sum(tally[f"outcome.{outcome}"] for outcome in ref.OUTCOMES) == BATTLES
    costs = [
        sum(scenario.row(unit).cost for unit in ref.muster(scenario, side)) for side in (ref.ATTACKER, ref.DEFENDER)
    ]
    for outcome in ref.OUTCOMES:
        check(f"outcome.{outcome}", lambda battle, name=outcome: int(battle.outcome == name), 1)
        for side in (ref.ATTACKER, ref.DEFENDER):
            for unit, start in scenario.forces[side].units.items():
                check(
                    f"survivors.{outcome}.{ref.SIDES[side]}.{unit}",
                    lambda battle, name=outcome, side=side, unit=unit: (
                        battle.survivors[side].get(unit, 0) if battle.outcome == name else 0
                    ),
                    start,
                )
    for side in (ref.ATTACKER, ref.DEFENDER):
        check(
            f"{ref.SIDES[side]}.cost_lost.sum",
            lambda battle, side=side: battle.cost_lost[side],
            costs[side],
        )
    check("swing.sum", lambda battle: battle.swing, max(costs))
    check("captured.battles", lambda battle: int(battle.outcome == "attacker_wins"), 1)
    check("captured.value", lambda battle: battle.captured_value, scenario.value)
    check("captured.guns", lambda battle: battle.guns, 9)
    check("captured.complexes", lambda battle: battle.complexes, 9)
    # The exact variance of the number of cycles is not kept: the sample's own is used.
    square = tally["cycles.sumsq"] / BATTLES
    mean = float(solved.mean_cycles)
    assert_near(tally["cycles.sum"], mean, square - (tally["cycles.sum"] / BATTLES) ** 2 + mean**2, 1, "cycles")


@pytest.mark.statistical
@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in PRINTED_ONLY])
def test_sampler_agrees_with_printed_figures(case: Mapping[str, Any]) -> None:
    tally = tallies()[case["id"]]
    for outcome, p in case["expect"]["outcomes"].items():
        assert_near(tally[f"outcome.{outcome}"], p, p, 1, outcome)
    for outcome, mean in case["expect"]["left_if"].items():
        side = "attacker" if outcome.startswith("attacker") else "defender"
        won = tally[f"outcome.{outcome}"]
        left = sum(tally[f"survivors.{outcome}.{side}.{unit}"] for unit in ref.UNITS)
        # The winner keeps at most his 100 units, so no standard deviation exceeds 50.
        assert abs(left / won - mean) <= ERRORS * 50 / won**0.5
