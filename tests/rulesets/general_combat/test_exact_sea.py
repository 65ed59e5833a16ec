"""The sampler against exact distributions of sea battles: fixed seed, 4.5 standard errors.

Everything that a tally holds is compared: outcomes, cycles, losses, swing, submerged submarines and the
survivors by outcome, side and unit. At sea nothing is captured.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

import simcore
from tests.rulesets.general_combat import reference as ref
from tests.rulesets.general_combat import reference_sea as sea
from tests.rulesets.general_combat.reference_sea_exact import SeaDistribution, solve_at_sea
from tests.rulesets.general_combat.support import EDITIONS, cases
from tests.rulesets.general_combat.test_exact import BATTLES, assert_near
from tests.rulesets.general_combat.test_reference_sea import at_sea

SHIPS = ("submarine", "transport", "destroyer", "cruiser", "carrier", "battleship")
# Fractions stay short for battles of few hits; larger ones are computed in floats.
FRACTIONS_UP_TO = 4

MIXED = ("1 submarine, 1 destroyer, 1 fighter", "1 submarine, 1 carrier, 1 fighter, 1 transport")
FEW = ("1 submarine, 1 carrier, 1 fighter", "1 submarine, 1 destroyer, 1 fighter")


def unit_table_scenarios() -> dict[str, dict[str, Any]]:
    """Every ship and aircraft of every edition once in attack and once in defence."""
    found = {}
    for edition in EDITIONS:
        for unit in sea.SEA_EDITIONS[edition].units:
            if unit in SHIPS + ref.AIRCRAFT:
                found[f"{edition} {unit} attacks"] = at_sea(f"1 {unit}", "1 destroyer", edition)
                found[f"{edition} {unit} defends"] = at_sea("1 destroyer", f"1 {unit}", edition)
    return found


def edition_scenarios() -> dict[str, dict[str, Any]]:
    """Small battles in which low luck, a technology or a switch decides."""
    found = {}
    for edition in EDITIONS:
        for low_luck in ("none", "combat"):
            found[f"{edition} low luck {low_luck}"] = at_sea(*MIXED, edition, low_luck=low_luck)
        found[f"{edition} few"] = at_sea(*FEW, edition)
    for name, value in (
        ("sub_first_strike", "always"),
        ("sub_submerge", "cycle_end"),
        ("air_hits_subs", "always"),
        ("tt_last", False),
        ("tt_swept", False),
        ("submarine_strikes", "attacker_first"),
        ("doomed_destroyer", "does_not"),
    ):
        found[f"switch {name}"] = at_sea(
            *MIXED, switches={name: value}, attacker_submerge="facing_aircraft", defender_loss_order=["transport"]
        )
    for edition in ("aa50", "revised", "global40_2nd"):
        for technology in ("super_submarines", "jet_fighters", "heavy_bombers"):
            found[f"{edition} {technology}"] = at_sea(
                "1 submarine, 1 fighter, 1 bomber",
                "1 submarine, 1 fighter, 1 carrier",
                edition,
                attacker_technologies=[technology],
                defender_technologies=[technology],
            )
    return found


def policy_scenarios() -> dict[str, dict[str, Any]]:
    """Small battles in which an owner's policy, damage or cargo decides."""
    found = {}
    for policy in ("default", "cheapest", "weakest"):
        found[f"policy {policy}"] = at_sea(
            "1 battleship, 1 fighter, 1 carrier",
            "1 carrier, 1 bomber, 1 cruiser",
            "global40_2nd",
            attacker_loss_order=policy,
            defender_loss_order=policy,
        )
    submerge: tuple[Any, ...] = ("always", "facing_aircraft", {"outnumbered": 1}, {"outnumbered": 2})
    for number, wish in enumerate(submerge):
        for edition in ("spring1942", "revised"):
            found[f"{edition} submerge {number}"] = at_sea(
                "2 submarine, 1 fighter", "1 destroyer, 1 carrier", edition, attacker_submerge=wish
            )
    for number, retreat in enumerate(
        (
            {"after_cycles": 2},
            {"when_units_at_most": 1},
            {"when_only_aircraft": True},
            {"when_transports_only": False},
            {"possible": False},
            {"when_units_at_most": 2, "possible": False},
        )
    ):
        found[f"retreat {number}"] = at_sea(
            "1 cruiser, 1 fighter, 1 transport", "1 carrier, 1 fighter", attacker_retreat=retreat
        )
    found["damage"] = at_sea(
        "2 battleship",
        "1 battleship, 1 destroyer",
        attacker_damaged="1 battleship",
        defender_loss_order=["destroyer", "battleship:damage"],
    )
    found["cargo"] = at_sea(
        "1 cruiser, 2 transport",
        "1 destroyer, 2 transport",
        attacker_cargo=["2 infantry", "1 tank"],
        defender_cargo=["1 artillery, 1 infantry"],
    )
    for limit in (1, 2):
        found[f"cycle limit {limit}"] = at_sea(*MIXED, cycle_limit=limit)
    return found


SCENARIOS: dict[str, dict[str, Any]] = {
    **{case["id"]: case["scenario"] for case in cases("sea")},
    **unit_table_scenarios(),
    **edition_scenarios(),
    **policy_scenarios(),
}


@cache
def tallies() -> dict[str, dict[str, int]]:
    """Fight all battles in one go."""
    encoded = simcore.encode(list(SCENARIOS.values()))
    tally = simcore.simulate(encoded, battles=BATTLES, seed=21).tally
    names = encoded.ruleset.accumulators
    return {name: dict(zip(names, row.tolist(), strict=True)) for name, row in zip(SCENARIOS, tally, strict=True)}


@cache
def solved_by_reference(name: str) -> SeaDistribution:
    """Solve a scenario; fractions stay short for battles of few units."""
    scenario = sea.read_sea(SCENARIOS[name])
    units = max(sum(force.units.values()) for force in scenario.forces)
    return solve_at_sea(scenario, exact=units < FRACTIONS_UP_TO)


@pytest.mark.statistical
@pytest.mark.parametrize("name", SCENARIOS)
def test_sampler_follows_the_exact_distribution_at_sea(name: str) -> None:
    scenario = sea.read_sea(SCENARIOS[name])
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
    assert not any(tally[f"captured.{what}"] for what in ("battles", "value", "guns", "complexes"))
    costs = [
        sum(scenario.row(unit).cost * number for unit, number in force.units.items())
        + sum(scenario.row(unit).cost * number for load in force.cargo for unit, number in load.items())
        for force in scenario.forces
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
        check(f"{ref.SIDES[side]}.cost_lost.sum", lambda battle, side=side: battle.cost_lost[side], costs[side])
        start = scenario.forces[side].units.get("submarine", 0)
        check(f"submerged.{ref.SIDES[side]}", lambda battle, side=side: battle.submerged[side], start)
    check("swing.sum", lambda battle: battle.swing, max(costs))
    # The exact variance of the number of cycles is not kept: the sample's own is used.
    square = tally["cycles.sumsq"] / BATTLES
    mean = float(solved.mean_cycles)
    assert_near(tally["cycles.sum"], mean, square - (tally["cycles.sum"] / BATTLES) ** 2 + mean**2, 1, "cycles")
