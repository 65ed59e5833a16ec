"""The references of landings, assaults and raids against worked figures, scripted battles and exact distributions."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rulesets.general_combat import reference as ref
from tests.rulesets.general_combat import reference_assault as shore
from tests.rulesets.general_combat import reference_raid as raids
from tests.rulesets.general_combat import reference_sea as sea
from tests.rulesets.general_combat.reference_assault_exact import (
    Chances,
    bombed,
    every_way,
    solve_assault,
    solve_landing,
    solve_raid,
)
from tests.strategies import amphibious_scenarios, assault_scenarios, land_scenarios, raid_scenarios

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.rulesets.general_combat.reference_assault import Roll

STANDARD_ERRORS = 4.5


def ashore(attacker: str, defender: str, edition: str = "spring1942", **options: Any) -> dict[str, Any]:
    """Return a landing; options of the attacker as ``landed="all"``, all others as ``scenario_switches={...}``."""
    data: dict[str, Any] = {
        "edition": edition,
        "terrain": "amphibious",
        "attacker": {"units": attacker},
        "defender": {"units": defender},
    }
    for name, value in options.items():
        part, _, field = name.partition("_")
        if part == "scenario":
            data[field] = value
        else:
            data["attacker"][name] = value
    return data


def assault_of(
    fleet: str, zone: str, attacker: str, defender: str, cargo: list[str], edition: str = "spring1942", **options: Any
) -> dict[str, Any]:
    """Return an assault; other options as for a landing."""
    data = ashore(attacker, defender, edition, **options)
    return data | {"sea": {"attacker": {"units": fleet, "cargo": cargo}, "defender": {"units": zone}}}


def raid_of(attacker: str, defender: str, edition: str = "spring1942", **options: Any) -> dict[str, Any]:
    """Return a raid."""
    return {
        "edition": edition,
        "terrain": "raid",
        "attacker": {"units": attacker},
        "defender": {"units": defender},
        **options,
    }


def shares(solved: Chances[Any]) -> dict[str, Fraction]:
    """Return the probability of each outcome that can occur."""
    found: Counter[str] = Counter()
    for ending, p in solved.endings:
        found[ending.outcome] += p  # type: ignore[assignment]  # fractions are counted as well
    return {name: Fraction(p) for name, p in found.items() if p}


def written(thrown: list[tuple[ref.Throw, int]]) -> list[tuple[int, ...]]:
    """Return the addresses, dice and hits of throws."""
    return [(throw.cycle, throw.step, throw.side, throw.group, throw.dice, hits) for throw, hits in thrown]


# --------------------------------------------------------------------------------------------------
# Worked figures
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("edition", "figures"),
    [
        ("spring1942", {"attacker_wins": "19/36", "both_destroyed": "19/72", "defender_wins": "5/24"}),
        ("1942_2nd", {"attacker_wins": "19/36", "both_destroyed": "19/72", "defender_wins": "5/24"}),
        ("revised", {"attacker_wins": "3/4", "both_destroyed": "1/24", "defender_wins": "5/24"}),
    ],
)
def test_cases_22_and_22b_and_b01(edition: str, figures: dict[str, str]) -> None:
    solved = solve_landing(ashore("1 infantry", "1 infantry", edition, landed="all", bombard="1 battleship"))
    assert shares(solved) == {name: Fraction(p) for name, p in figures.items()}
    if edition == "1942_2nd":
        assert float(solved.mean(lambda battle: battle.swing)) == pytest.approx(0.958333333, abs=5e-10)


def test_b01_with_the_switch_off() -> None:
    off = {"bombard_return_fire": False}
    data = ashore("1 infantry", "1 infantry", "1942_2nd", landed="all", bombard="1 battleship", scenario_switches=off)
    assert shares(solve_landing(data))["attacker_wins"] == Fraction(3, 4)


@pytest.mark.parametrize(("ships", "cap"), [("1 battleship, 1 cruiser", True), ("1 battleship, 2 cruiser", True)])
def test_b03(ships: str, cap: bool) -> None:
    data = ashore("2 infantry", "3 infantry", "1942_2nd", landed="all", bombard=ships)
    solved = solve_landing(data | {"switches": {"bombard_cap": cap}})
    figures = {
        "attacker_wins": 0.234143859618,
        "defender_wins": 0.701067533466,
        "both_destroyed": 0.064788606916,
    }
    assert {name: float(p) for name, p in shares(solved).items()} == pytest.approx(figures, abs=5e-13)
    assert float(solved.mean(lambda battle: battle.swing)) == pytest.approx(0.419380337, abs=5e-10)
    for side, left in ((ref.ATTACKER, 0.321001733), (ref.DEFENDER, 1.181208288)):
        mean = sum(sum(battle.survivors[side].values()) * p for battle, p in solved.endings)
        assert float(mean) == pytest.approx(left, abs=5e-10)


def test_b03_without_the_cap() -> None:
    data = ashore("2 infantry", "3 infantry", "1942_2nd", landed="all", bombard="1 battleship, 2 cruiser")
    solved = solve_landing(data | {"switches": {"bombard_cap": False}})
    assert float(shares(solved)["attacker_wins"]) == pytest.approx(0.3646, abs=5e-5)


@pytest.mark.parametrize("half", ["2 infantry", "1 infantry, 1 tank"])
def test_b05_bombardment_does_not_depend_on_how_many_landed_within_the_cap(half: str) -> None:
    battles = [
        solve_landing(ashore("2 infantry, 2 tank", "2 infantry, 1 fighter", "1942_2nd", landed=landed, bombard=ships))
        for ships in ("1 battleship, 1 cruiser",)
        for landed in ("all", half)
    ]
    assert shares(battles[0]) == shares(battles[1])
    assert len({battle.mean(lambda battle: battle.bombard_hits) for battle in battles}) == 1


@pytest.mark.parametrize(
    ("options", "mean"),
    [
        ({"raid": {"cap": "none"}}, "35/12"),
        ({"territory": {"value": 2}}, "5/2"),
        ({"territory": {"value": 1}}, "55/36"),
        ({"raid": {"cap": 4}}, "5/2"),
        ({"territory": {"value": 2}, "raid": {"damaged": 2}}, "55/36"),
        ({"territory": {"value": 2}, "raid": {"damaged": 4}}, "0"),
        ({"territory": {"value": 2}, "raid": {"damaged": 9}}, "0"),
    ],
)
def test_case_25(options: dict[str, Any], mean: str) -> None:
    assert solve_raid(raid_of("1 bomber", "1 aa_gun", **options)).mean(lambda raid: raid.damage) == Fraction(mean)


@pytest.mark.parametrize("guns", ["", "1 aa_gun", "3 aa_gun, 1 industrial_complex"])
@pytest.mark.parametrize("damaged", [0, 50])
def test_b29(guns: str, damaged: int) -> None:
    data = raid_of("2 bomber", guns, "1942_2nd", raid={"cap": "none"} | ({"damaged": 50, "cap": 50} if damaged else {}))
    solved = solve_raid(data)
    assert solved.mean(lambda raid: 2 - raid.survivors[0].get("bomber", 0)) == Fraction(1, 3)
    assert solved.mean(lambda raid: raid.cost_lost[0]) == 4
    assert solved.mean(lambda raid: raid.damage) == (0 if damaged else Fraction(35, 6))


# --------------------------------------------------------------------------------------------------
# Editions and conclusion
# --------------------------------------------------------------------------------------------------


def test_switches_of_landings() -> None:
    for name, rules in shore.ASSAULT_EDITIONS.items():
        old = name == "revised"
        assert (rules.bombard_return_fire, rules.bombard_cap) == (not old, not old)
        assert rules.amphib_retreat == ("aircraft" if old else "aircraft_and_overland")
        assert rules.bombard == ({"battleship": 4} if old else {"cruiser": 3, "battleship": 4})
        assert (rules.aa_dice, rules.aa_choice, rules.aa_fate) == (
            ref.EDITIONS[name].aa_dice,
            ref.EDITIONS[name].aa_choice,
            ref.EDITIONS[name].aa_fate,
        )
        assert (rules.sub_first_strike, rules.tt_swept) == (
            sea.SEA_EDITIONS[name].sub_first_strike,
            sea.SEA_EDITIONS[name].tt_swept,
        )


@pytest.mark.parametrize(
    ("territory", "treasury", "liberated"),
    [
        ({"value": 3}, 0, False),
        ({"value": 3, "treasury": 20}, 0, False),
        ({"value": 3, "treasury": 20, "capital": True}, 20, False),
        ({"value": 3, "treasury": 20, "capital": True, "original_owner": "attacker"}, 0, False),
        ({"value": 3, "treasury": 20, "capital": True, "original_owner": "friend"}, 0, True),
        ({"value": 3, "original_owner": "friend"}, 0, True),
        ({"value": 3, "original_owner": "friend", "original_capital_held_by": "enemy"}, 0, False),
        (
            {"value": 3, "original_owner": "friend", "original_capital_held_by": "enemy", "capital": True},
            0,
            True,
        ),
    ],
)
def test_what_a_capture_brings(territory: dict[str, Any], treasury: int, liberated: bool) -> None:
    data = ashore("1 tank", "1 infantry, 1 aa_gun, 1 industrial_complex", landed="all", scenario_territory=territory)
    battle, _ = shore.scripted_landing(data, [1, 0])
    assert (battle.outcome, battle.treasury, battle.liberated) == ("attacker_wins", treasury, liberated)
    assert (battle.captured_value, battle.guns, battle.complexes) == (3, 1, 1)
    lost, _ = shore.scripted_landing(data, [1, 1])
    assert (lost.outcome, lost.treasury, lost.liberated, lost.captured_value) == ("both_destroyed", 0, False, 0)


@pytest.mark.parametrize(
    ("edition", "attacker", "left", "damaged", "homeless"),
    [
        ("spring1942", "2 carrier, 3 fighter", "1 carrier, 3 fighter", "", 1),
        ("spring1942", "2 carrier, 3 fighter", "2 carrier, 3 fighter", "", 0),
        ("spring1942", "1 carrier, 5 fighter", "5 fighter", "", 2),
        ("spring1942", "1 carrier, 5 fighter, 2 bomber", "1 fighter, 2 bomber", "", 1),
        ("spring1942", "3 fighter", "3 fighter", "", 0),
        ("global40_2nd", "1 carrier, 1 fighter, 1 tactical_bomber", "1 fighter, 1 tactical_bomber", "", 2),
        ("global40_2nd", "2 carrier, 3 fighter", "2 carrier, 3 fighter", "1 carrier", 1),
        ("global40_2nd", "2 carrier, 3 fighter", "2 carrier, 3 fighter", "2 carrier", 3),
    ],
)
def test_aircraft_without_a_carrier(edition: str, attacker: str, left: str, damaged: str, homeless: int) -> None:
    scenario = sea.read_sea({"edition": edition, "attacker": {"units": attacker}, "defender": {"units": "1 cruiser"}})
    found = sea.no_landing(scenario, ref.ATTACKER, ref.parse_units(left), ref.parse_units(damaged))
    assert found == homeless


# --------------------------------------------------------------------------------------------------
# Landings by hand
# --------------------------------------------------------------------------------------------------

BATTLESHIP, CRUISER, DESTROYER = ref.TYPE["battleship"], ref.TYPE["cruiser"], ref.TYPE["destroyer"]
INFANTRY = ref.TYPE["infantry"]


def bombardment(data: dict[str, Any]) -> list[tuple[int, int, Fraction]]:
    """Return type, dice and chance of the ships that fire."""
    scenario = shore.read_shore(data)
    return [
        (throw.group, throw.dice, throw.chance)
        for throw in shore.bombard_throws(scenario, shore.muster_shore(scenario))
    ]


HALF, TWO_THIRDS = Fraction(1, 2), Fraction(2, 3)


@pytest.mark.parametrize(
    ("data", "dice"),
    [
        # GC-5.4: as many ships as landed units, the strongest.
        (
            ashore("1 infantry", "1 infantry", landed="all", bombard="2 battleship, 1 cruiser"),
            [(BATTLESHIP, 1, TWO_THIRDS)],
        ),
        (
            ashore("3 infantry", "1 infantry", landed="all", bombard="2 battleship, 2 cruiser"),
            [(CRUISER, 1, HALF), (BATTLESHIP, 2, TWO_THIRDS)],
        ),
        (
            ashore("3 infantry", "1 infantry", landed="1 infantry", bombard="2 cruiser"),
            [(CRUISER, 1, HALF)],
        ),
        (
            ashore("1 infantry", "1 infantry", "revised", landed="all", bombard="3 battleship"),
            [(BATTLESHIP, 3, TWO_THIRDS)],
        ),
        # Nobody landed, or nobody to hit.
        (ashore("3 infantry", "1 infantry", bombard="2 battleship"), []),
        (ashore("3 infantry", "1 infantry", landed="", bombard="2 battleship"), []),
        (ashore("3 infantry", "1 infantry", "revised", landed="", bombard="2 battleship"), []),
        (ashore("3 infantry", "1 aa_gun", landed="all", bombard="1 battleship"), []),
        (
            ashore("3 infantry", "1 aa_gun", "1942_2nd", landed="all", bombard="1 battleship"),
            [(BATTLESHIP, 1, TWO_THIRDS)],
        ),
        # GC-7: destroyers bombard at 3, and go before cruisers of the same value.
        (
            ashore(
                "2 infantry",
                "1 infantry",
                "aa50",
                landed="all",
                bombard="1 destroyer, 2 cruiser",
                technologies=["combined_bombardment"],
            ),
            [(DESTROYER, 1, HALF), (CRUISER, 1, HALF)],
        ),
        # Low luck: one pool.
        (
            ashore(
                "3 infantry", "1 infantry", landed="all", bombard="1 battleship, 2 cruiser", scenario_low_luck="both"
            ),
            [(ref.GROUP_REMAINDER, 1, TWO_THIRDS)],
        ),
        (
            ashore("3 infantry", "1 infantry", landed="all", bombard="2 cruiser", scenario_low_luck="combat"),
            [(ref.GROUP_REMAINDER, 0, Fraction(0))],
        ),
        (
            ashore("3 infantry", "1 infantry", landed="all", bombard="2 cruiser", scenario_low_luck="aa"),
            [(CRUISER, 2, HALF)],
        ),
    ],
)
def test_who_bombards(data: dict[str, Any], dice: list[tuple[int, int, Fraction]]) -> None:
    assert bombardment(data) == dice


def test_those_hit_by_the_bombardment_fire_once_and_are_no_targets() -> None:
    # GC-5.5: the infantry is hit, the tank takes the hit of step 3, both fire in step 4.
    data = ashore("3 infantry", "1 infantry, 1 tank, 1 fighter", landed="all", bombard="1 cruiser")
    battle, dice = shore.scripted_landing(data, [1, 1, 0, 0, 0, 1, 0, 0])
    assert (
        written(dice.thrown)
        == [
            (1, shore.STEP_BOMBARD, ref.ATTACKER, CRUISER, 1, 1),
            (1, ref.STEP_ATTACK, ref.ATTACKER, INFANTRY, 3, 1),
            (1, ref.STEP_DEFENCE, ref.DEFENDER, INFANTRY, 1, 0),
            (1, ref.STEP_DEFENCE, ref.DEFENDER, ref.TYPE["tank"], 1, 0),
            (1, ref.STEP_DEFENCE, ref.DEFENDER, ref.TYPE["fighter"], 1, 0),
            (2, ref.STEP_ATTACK, ref.ATTACKER, INFANTRY, 3, 1),
            (2, ref.STEP_DEFENCE, ref.DEFENDER, ref.TYPE["fighter"], 1, 0),
        ][: len(dice.thrown)]
    )
    assert (battle.outcome, battle.cycles, battle.bombard_hits) == ("attacker_wins", 2, 1)
    assert battle.cost_lost == (0, 18)


@pytest.mark.parametrize(
    ("edition", "script", "cycles", "outcome"),
    [
        # All defenders are hit: where they fire back there is one cycle, otherwise none.
        ("spring1942", [1, 0, 0], 1, "attacker_wins"),
        ("spring1942", [1, 1, 1], 1, "both_destroyed"),
        ("revised", [1], 0, "attacker_wins"),
    ],
)
def test_a_defence_that_the_ships_wiped_out(edition: str, script: list[int], cycles: int, outcome: str) -> None:
    data = ashore("1 infantry", "1 infantry", edition, landed="all", bombard="1 battleship")
    battle, dice = shore.scripted_landing(data, script)
    assert (battle.outcome, battle.cycles, len(dice.thrown)) == (outcome, cycles, len(script))
    assert battle.survivors[ref.DEFENDER] == {}


def test_guns_fire_before_the_ships() -> None:
    data = ashore("1 infantry, 1 fighter", "1 infantry, 1 aa_gun", landed="all", bombard="1 battleship")
    battle, dice = shore.scripted_landing(data, [1, 1, 0, 0])
    assert [throw.step for throw, _ in dice.thrown] == [
        ref.STEP_AA,
        shore.STEP_BOMBARD,
        ref.STEP_ATTACK,
        ref.STEP_DEFENCE,
    ]
    assert (battle.outcome, battle.cycles, battle.cost_lost) == ("attacker_wins", 1, (10, 3))


def test_hits_of_the_bombardment_fall_on_antiaircraft_units_first() -> None:
    data = ashore("1 infantry", "1 infantry, 1 aa_gun", "1942_2nd", landed="all", bombard="1 battleship")
    # The infantry fires as long as it lives; the gun that was hit never does.
    battle, dice = shore.scripted_landing(data, [1, 0, 0, 1, 0])
    assert (battle.outcome, battle.cycles, battle.cost_lost) == ("attacker_wins", 2, (0, 8))
    assert [throw.dice for throw, _ in dice.thrown] == [1] * 5


def test_nobody_waits_for_doomed_units_that_cannot_fire() -> None:
    harmless = {**shore.ASSAULT_EDITIONS["1942_2nd"].units, "bomber": ref.UnitRow(12, 4, 0)}
    edition = shore.ASSAULT_EDITIONS["1942_2nd"]
    for left, outcome in (("1 bomber", "attacker_wins"), ("2 bomber", "attacker_wins")):
        data = ashore("1 infantry", left, "1942_2nd", landed="all", bombard="1 battleship")
        scenario = shore.read_shore(data, replace(edition, units=harmless))
        script = [1] if left == "1 bomber" else [1, 1]
        battle, dice = shore.scripted_landing(scenario, script)
        assert (battle.outcome, battle.cycles) == (outcome, len(script) - 1)
        assert battle.survivors[ref.DEFENDER] == {}
        assert len(dice.thrown) == len(script)


def test_a_stand_off_beside_doomed_units_that_cannot_fire() -> None:
    edition = shore.ASSAULT_EDITIONS["spring1942"]
    units = {**edition.units, "infantry": ref.UnitRow(3, 0, 0)}
    data = ashore("1 infantry", "2 infantry", landed="all", bombard="1 battleship")
    battle, _ = shore.scripted_landing(shore.read_shore(data, replace(edition, units=units)), [1])
    assert (battle.outcome, battle.cycles) == ("stand_off", 0)
    assert battle.survivors == ({"infantry": 1}, {"infantry": 1})
    assert battle.cost_lost == (0, 3)


def test_the_landed_of_a_type_are_lost_first() -> None:
    data = ashore("3 infantry, 2 tank, 1 fighter", "1 infantry", landed="1 infantry, 1 tank", keep_land=2)
    stack = shore.muster_shore(shore.read_shore(data)).attackers
    assert [(soldier.unit, soldier.landed) for soldier in stack] == [
        ("infantry", True),
        ("infantry", False),
        ("infantry", False),
        ("fighter", False),
        ("tank", True),
        ("tank", False),
    ]


# --------------------------------------------------------------------------------------------------
# Retreats
# --------------------------------------------------------------------------------------------------

MIXED = "2 infantry, 1 tank, 1 fighter"


@pytest.mark.parametrize(
    ("edition", "landed", "retreat", "gone", "outcome"),
    [
        # GC-5.6: aircraft and overland units leave, the landed fight on.
        ("spring1942", "1 infantry", {"after_cycles": 1}, 3, "unfinished"),
        ("spring1942", "2 infantry, 1 tank", {"after_cycles": 1}, 1, "unfinished"),
        ("spring1942", "", {"after_cycles": 1}, 0, "attacker_retreats"),
        # A force that is partly on foot needs a space; aircraft alone need none.
        ("spring1942", "1 infantry", {"after_cycles": 1, "possible": False}, 0, "unfinished"),
        ("spring1942", "2 infantry, 1 tank", {"after_cycles": 1, "possible": False}, 1, "unfinished"),
        # Revised: only aircraft.
        ("revised", "1 infantry", {"after_cycles": 1}, 1, "unfinished"),
        ("revised", "1 infantry", {"after_cycles": 1, "possible": False}, 1, "unfinished"),
        # Other reasons count everybody on the board.
        ("spring1942", "1 infantry", {"when_units_at_most": 4}, 3, "unfinished"),
        ("spring1942", "1 infantry", {"when_units_at_most": 3}, 0, "unfinished"),
        ("spring1942", "1 infantry", {"when_only_aircraft": True}, 0, "unfinished"),
    ],
)
def test_who_leaves(edition: str, landed: str, retreat: dict[str, Any], gone: int, outcome: str) -> None:
    data = ashore(MIXED, "1 infantry", edition, landed=landed, retreat=retreat, scenario_cycle_limit=2)
    battle, _ = shore.scripted_landing(data, [0] * 20)
    assert (battle.retreated, battle.outcome) == (gone, outcome)
    assert battle.survivors[ref.ATTACKER] == ref.parse_units(MIXED)
    assert battle.cost_lost == (0, 0)


def test_those_who_stay_fight_on_alone() -> None:
    data = ashore(MIXED, "2 infantry", landed="1 infantry", retreat={"after_cycles": 1})
    # Cycle 1: infantry, tank, fighter miss, then two cycles of one infantry.
    battle, dice = shore.scripted_landing(data, [0, 0, 0, 0, 0, 0, 0, 1])
    assert [throw.dice for throw, _ in dice.thrown] == [2, 1, 1, 2, 1, 2, 1, 2]
    assert (battle.outcome, battle.cycles, battle.retreated) == ("defender_wins", 3, 3)
    assert battle.survivors == ({"infantry": 1, "tank": 1, "fighter": 1}, {"infantry": 2})
    assert battle.cost_lost == (3, 0)


@pytest.mark.parametrize(
    ("script", "outcome"),
    [([1, 0], "attacker_wins"), ([1, 1], "attacker_retreats"), ([0, 1], "defender_wins")],
)
def test_the_outcome_after_a_partial_retreat(script: list[int], outcome: str) -> None:
    data = ashore(MIXED, "1 infantry", landed="1 infantry", retreat={"after_cycles": 1})
    battle, _ = shore.scripted_landing(data, [0, 0, 0, 0, *script])
    assert (battle.outcome, battle.cycles, battle.retreated) == (outcome, 2, 3)
    assert (battle.captured_value, battle.guns) == (0, 0)


def test_a_living_antiaircraft_unit_holds_what_the_landed_left() -> None:
    data = ashore(
        "1 infantry, 1 fighter", "1 infantry, 1 aa_gun", "1942_2nd", landed="all", retreat={"after_cycles": 1}
    )
    data["defender"]["loss_order"] = ["infantry", "aa_gun"]
    battle, _ = shore.scripted_landing(data, [0, 0, 0, 0, 1, 1])
    assert (battle.outcome, battle.retreated, battle.survivors) == (
        "defender_wins",
        1,
        ({"fighter": 1}, {"aa_gun": 1}),
    )


def test_condition_a_comes_before_a_retreat() -> None:
    data = ashore(MIXED, "1 infantry", landed="1 infantry", retreat={"after_cycles": 1})
    battle, _ = shore.scripted_landing(data, [1, 0, 0, 0])
    assert (battle.outcome, battle.retreated) == ("attacker_wins", 0)


def test_aircraft_left_alone_leave_as_a_whole() -> None:
    data = ashore(
        "1 infantry, 2 fighter", "2 infantry", landed="all", retreat={"when_only_aircraft": True, "possible": False}
    )
    battle, _ = shore.scripted_landing(data, [0, 0, 1])
    assert (battle.outcome, battle.cycles, battle.retreated) == ("attacker_retreats", 1, 0)
    assert battle.survivors == ({"fighter": 2}, {"infantry": 2})


def test_a_stand_off_can_arise_when_the_others_leave() -> None:
    edition = shore.ASSAULT_EDITIONS["spring1942"]
    units = {**edition.units, "infantry": ref.UnitRow(3, 0, 0)}
    data = ashore("1 infantry, 1 fighter", "1 infantry", landed="all", retreat={"after_cycles": 1})
    battle, _ = shore.scripted_landing(shore.read_shore(data, replace(edition, units=units)), [0])
    assert (battle.outcome, battle.cycles, battle.retreated) == ("stand_off", 1, 1)
    assert battle.survivors == ({"infantry": 1, "fighter": 1}, {"infantry": 1})


# --------------------------------------------------------------------------------------------------
# Assaults by hand
# --------------------------------------------------------------------------------------------------

SEA_ATTACK, SEA_DEFENCE = ref.STEP_ATTACK + shore.SEA_STEPS, ref.STEP_DEFENCE + shore.SEA_STEPS


def test_the_sea_battle_comes_first_and_has_addresses_of_its_own() -> None:
    data = assault_of("1 cruiser, 1 transport", "1 cruiser", "1 infantry", "1 infantry", ["1 infantry"])
    battle, dice = shore.scripted_assault(data, [1, 0, 1, 0])
    assert written(dice.thrown) == [
        (1, SEA_ATTACK, ref.ATTACKER, CRUISER, 1, 1),
        (1, SEA_DEFENCE, ref.DEFENDER, CRUISER, 1, 0),
        (1, ref.STEP_ATTACK, ref.ATTACKER, INFANTRY, 1, 1),
        (1, ref.STEP_DEFENCE, ref.DEFENDER, INFANTRY, 1, 0),
    ]
    assert (battle.outcome, battle.cycles, battle.sea.cycles) == ("attacker_wins", 2, 1)
    assert battle.survivors == ({"cruiser": 1, "transport": 1, "infantry": 1}, {})
    assert battle.cost_lost == (0, 15)


@pytest.mark.parametrize(("zone", "bombards"), [("", True), ("1 transport", False), ("1 cruiser", False)])
def test_any_sea_battle_spoils_the_bombardment(zone: str, bombards: bool) -> None:
    # GC-5.3, GC-4.5.5: a sweep is a sea battle as well.
    data = assault_of("1 cruiser, 1 transport", zone, "1 tank", "1 infantry", ["1 tank"], bombard="1 battleship")
    _, dice = shore.scripted_assault(data, [1, 0, 1, 0, 0, 0] if zone == "1 cruiser" else [1, 0, 0, 1, 0])
    assert any(throw.step == shore.STEP_BOMBARD for throw, _ in dice.thrown) is bombards


def test_no_landing_after_a_retreat_at_sea() -> None:
    # GC-5.2, GC-5.7: the cargo stays aboard; the tank that came over land fights at least one cycle.
    data = assault_of(
        "1 cruiser, 2 transport",
        "1 cruiser",
        "2 infantry, 1 tank",
        "1 infantry",
        ["1 infantry", "1 infantry"],
        retreat={"after_cycles": 1},
    )
    data["sea"]["attacker"]["retreat"] = {"after_cycles": 1}
    battle, _ = shore.scripted_assault(data, [0, 0, 0, 0])
    assert (battle.sea.outcome, battle.outcome, battle.cycles) == ("attacker_retreats", "attacker_retreats", 2)
    assert (battle.landed, battle.aboard) == ({}, {"infantry": 2})
    assert battle.survivors == (
        {"cruiser": 1, "transport": 2, "infantry": 2, "tank": 1},
        {"cruiser": 1, "infantry": 1},
    )
    assert battle.cost_lost == (0, 0)


def test_cargo_that_is_lost_does_not_land() -> None:
    data = assault_of(
        "1 cruiser, 3 transport",
        "2 cruiser",
        "1 infantry, 2 tank",
        "1 infantry",
        ["1 tank", "1 tank, 1 infantry"],
        scenario_switches={"tt_last": False},
    )
    data["sea"]["attacker"]["loss_order"] = ["transport"]
    # The empty transport goes first, then the one with a single tank.
    battle, _ = shore.scripted_assault(data, [1, 2, 1, 0, 0, 1, 0])
    assert battle.sea.outcome == "attacker_wins"
    assert battle.landed == {"tank": 1, "infantry": 1}
    assert battle.sea.cost_lost == (7 + 7 + 5, 24)
    assert battle.cost_lost[ref.ATTACKER] == 19
    assert battle.survivors[ref.ATTACKER] == {"cruiser": 1, "transport": 1, "infantry": 1, "tank": 1}


@pytest.mark.parametrize(
    ("fleet", "zone", "options", "script", "at_sea", "outcome"),
    [
        # Nobody is on land but the cargo.
        ("1 cruiser, 1 transport", "1 cruiser", {}, [0, 0], "attacker_retreats", "attacker_retreats"),
        ("1 cruiser, 1 transport", "1 battleship", {}, [0, 1, 1], "defender_wins", "defender_wins"),
        ("1 transport, 1 fighter", "1 submarine", {}, [1, 0], "stand_off", "stand_off"),
        ("1 transport", "1 transport", {}, [], "stand_off", "stand_off"),
        ("1 transport, 1 submarine", "1 submarine", {"tt_last": False}, [1, 1], "attacker_wins", "defender_wins"),
    ],
)
def test_assaults_without_a_land_battle(
    fleet: str, zone: str, options: dict[str, Any], script: list[int], at_sea: str, outcome: str
) -> None:
    data = assault_of(fleet, zone, "1 infantry", "1 infantry", ["1 infantry"], scenario_switches=options)
    cautious = at_sea == "attacker_retreats"
    data["sea"]["attacker"]["retreat"] = {"after_cycles": int(cautious), "when_transports_only": False}
    if options:
        data["sea"]["attacker"]["loss_order"] = ["transport"]
    battle, _ = shore.scripted_assault(data, script)
    assert (battle.sea.outcome, battle.outcome, battle.land) == (at_sea, outcome, None)
    assert battle.cycles == battle.sea.cycles
    assert battle.survivors[ref.DEFENDER]["infantry"] == 1


@pytest.mark.parametrize(
    ("defender", "edition", "outcome"),
    [
        ("", "spring1942", "both_destroyed"),
        ("1 aa_gun", "spring1942", "both_destroyed"),
        ("1 aa_gun", "1942_2nd", "defender_wins"),
        ("1 infantry", "spring1942", "defender_wins"),
    ],
)
def test_both_fleets_are_gone_and_nobody_is_on_land(defender: str, edition: str, outcome: str) -> None:
    # The transport is lost first, then the cruisers sink each other.
    data = assault_of("1 cruiser, 1 transport", "1 cruiser", "1 infantry", defender, ["1 infantry"], edition)
    data["sea"]["attacker"]["loss_order"] = ["transport"]
    battle, _ = shore.scripted_assault(data | {"switches": {"tt_last": False}}, [0, 1, 1, 1])
    assert (battle.sea.outcome, battle.outcome, battle.land) == ("both_destroyed", outcome, None)


def test_an_unfinished_sea_battle_leaves_everybody_where_he_is() -> None:
    data = assault_of(
        "1 cruiser, 1 transport",
        "1 cruiser",
        "2 infantry, 1 tank",
        "1 infantry",
        ["1 infantry"],
        scenario_cycle_limit=1,
    )
    battle, dice = shore.scripted_assault(data, [0, 0])
    assert (battle.outcome, battle.cycles, battle.land, len(dice.thrown)) == ("unfinished", 1, None, 2)
    assert battle.survivors == (
        {"cruiser": 1, "transport": 1, "infantry": 2, "tank": 1},
        {"cruiser": 1, "infantry": 1},
    )


def test_cycle_limits_count_each_battle_by_itself() -> None:
    data = assault_of(
        "1 cruiser, 1 transport", "1 cruiser", "1 infantry", "1 infantry", ["1 infantry"], scenario_cycle_limit=1
    )
    battle, _ = shore.scripted_assault(data, [1, 0, 0, 0])
    assert (battle.outcome, battle.cycles, battle.sea.outcome) == ("unfinished", 2, "attacker_wins")


def test_the_dice_of_an_assault_are_named_after_both_battles() -> None:
    data = assault_of(
        "1 cruiser, 1 transport, 1 fighter", "1 fighter", "2 infantry, 1 fighter", "1 infantry", ["1 infantry"]
    )
    key = shore.assault_key(shore.read_assault(data), 1)
    both = {
        "attacker": {"units": "2 infantry, 2 fighter, 1 transport, 1 cruiser"},
        "defender": {"units": "1 infantry, 1 fighter"},
    }
    assert key == ref.random_key(sea.read_sea(both), 1)


# --------------------------------------------------------------------------------------------------
# Raids by hand
# --------------------------------------------------------------------------------------------------


def test_the_dice_of_a_raid() -> None:
    data = raid_of(
        "3 bomber, 2 tactical_bomber, 1 fighter",
        "2 fighter, 1 aa_gun",
        "global40_2nd",
        raid={"target": "air_base", "cap": "none"},
    )
    raid, dice = raids.scripted_raid(data, [0, 1, 0, 1, 1, 0, 1, 0, 1, 0, 2])
    bomber, tactical, fighter = (ref.TYPE[unit] for unit in ("bomber", "tactical_bomber", "fighter"))
    assert written(dice.thrown) == [
        (1, ref.STEP_ATTACK, ref.ATTACKER, fighter, 1, 0),
        (1, ref.STEP_ATTACK, ref.ATTACKER, tactical, 2, 1),
        (1, ref.STEP_ATTACK, ref.ATTACKER, bomber, 3, 0),
        (1, ref.STEP_DEFENCE, ref.DEFENDER, fighter, 2, 1),
        (0, ref.STEP_AA, ref.DEFENDER, tactical, 2, 1),
        (0, ref.STEP_AA, ref.DEFENDER, bomber, 3, 0),
        (1, raids.STEP_DAMAGE, ref.ATTACKER, 6, 4, 1),
        (1, raids.STEP_DAMAGE, ref.ATTACKER, 5, 3, 0),
        (1, raids.STEP_DAMAGE, ref.ATTACKER, 4, 3, 1),
        (1, raids.STEP_DAMAGE, ref.ATTACKER, 3, 2, 0),
        (1, raids.STEP_DAMAGE, ref.ATTACKER, 2, 2, 2),
    ]
    # 6 + 4 + 2 + 2, and 2 for each of the three bombers.
    assert (raid.outcome, raid.damage, raid.cycles) == ("damage", 20, 1)
    assert raid.cost_lost == (10 + 11, 10)


@pytest.mark.parametrize(
    ("edition", "raid", "territory", "damage"),
    [
        ("spring1942", {}, {"value": 2}, 4),
        ("revised", {}, {"value": 2}, 2),
        ("global40_2nd", {}, {}, 6),
        ("global40_2nd", {"target": "major_complex"}, {}, 12),
        ("global40_2nd", {"target": "naval_base"}, {}, 6),
        ("global40_2nd", {"target": "naval_base", "damaged": 4}, {}, 2),
        ("spring1942", {"cap": 3}, {"value": 2}, 3),
        ("spring1942", {"cap": "none"}, {"value": 2}, 8),
    ],
)
def test_caps(edition: str, raid: dict[str, Any], territory: dict[str, Any], damage: int) -> None:
    data = raid_of("2 bomber", "1 aa_gun", edition, raid=raid, territory=territory)
    # Two fours, and the bonus where there is one.
    flown, _ = raids.scripted_raid(data, [0, 0, 0, 2])
    assert flown.damage == damage


@pytest.mark.parametrize(
    ("edition", "guns", "fires"),
    [
        ("spring1942", "1 aa_gun", True),
        ("spring1942", "1 industrial_complex", False),
        ("1942_2nd", "", True),
        ("1942_2nd", "2 aa_gun", True),
    ],
)
def test_who_fires_at_bombers(edition: str, guns: str, fires: bool) -> None:
    scenario = raids.read_raid(raid_of("2 bomber", guns, edition, raid={"cap": "none"}))
    _, dice = raids.scripted_raid(scenario, [0] * 8)
    assert [throw.dice for throw, _ in dice.thrown if throw.step == ref.STEP_AA] == [2] * fires


@pytest.mark.parametrize(
    ("rule", "mean"),
    [("both_dice", Fraction(7)), ("best_of_two", Fraction(161, 36)), (None, Fraction(7, 2))],
)
def test_heavy_bombers(rule: str | None, mean: Fraction) -> None:
    data = raid_of("1 bomber", "", "aa50", raid={"cap": "none"})
    if rule:
        data["attacker"]["technologies"] = ["heavy_bombers"]
        data["switches"] = {"heavy_bombers": rule}
    assert solve_raid(data).mean(lambda raid: raid.damage) == mean


def test_no_air_battle_without_interceptors() -> None:
    data = raid_of("1 bomber, 1 fighter", "", "global40_2nd", raid={"cap": "none"})
    flown, dice = raids.scripted_raid(data, [1])
    assert (flown.outcome, flown.cycles, flown.damage, flown.cost_lost) == ("no_damage", 0, 0, (12, 0))
    assert len(dice.thrown) == 1


# --------------------------------------------------------------------------------------------------
# The reference against exact distributions
# --------------------------------------------------------------------------------------------------


def assert_follows(
    solved: Chances[Any], fight: Callable[[int], Any], what: Callable[[Any], object], battles: int
) -> None:
    """Compare the shares of some feature of the battles with their probabilities."""
    chances: dict[object, Fraction] = {}
    for ending, p in solved.endings:
        chances[what(ending)] = chances.get(what(ending), Fraction(0)) + p
    assert sum(chances.values()) == 1
    counts = Counter(what(fight(number)) for number in range(battles))
    assert set(counts) <= {feature for feature, p in chances.items() if p}
    for feature, chance in chances.items():
        share = float(chance)
        error = (battles * share * (1 - share)) ** 0.5
        # A count of a rare event is not nearly normal: one battle more or less is no deviation.
        assert abs(counts[feature] - battles * share) <= STANDARD_ERRORS * error + 1, feature


def features(ending: Any) -> object:
    """Return what two battles are told apart by."""
    return (ending.outcome, *(frozenset(survivors.items()) for survivors in ending.survivors))


@pytest.mark.parametrize(
    "data",
    [
        ashore("2 infantry, 1 fighter", "2 infantry, 1 aa_gun", landed="1 infantry", bombard="1 cruiser"),
        ashore(
            "2 infantry, 1 artillery, 1 fighter",
            "2 infantry, 1 tank",
            landed="1 infantry, 1 artillery",
            bombard="1 battleship, 2 cruiser",
            retreat={"when_units_at_most": 3},
        ),
        ashore(
            "2 tank, 1 bomber",
            "2 infantry, 1 aa_gun",
            "1942_2nd",
            landed="1 tank",
            bombard="1 cruiser",
            scenario_low_luck="both",
            retreat={"after_cycles": 2},
        ),
        ashore(
            "2 infantry, 1 fighter",
            "2 infantry",
            "revised",
            landed="all",
            bombard="2 battleship",
            retreat={"after_cycles": 1},
        ),
    ],
)
def test_random_landings_follow_the_exact_distribution(data: dict[str, Any]) -> None:
    scenario = shore.read_shore(data)
    assert_follows(solve_landing(scenario), lambda number: shore.landing(scenario, number), features, 2_000)


@pytest.mark.parametrize(
    "data",
    [
        assault_of("1 cruiser, 1 transport", "1 destroyer", "1 infantry, 1 tank", "1 infantry", ["1 infantry"]),
        assault_of(
            "1 submarine, 1 cruiser, 2 transport",
            "1 submarine",
            "2 infantry, 1 fighter",
            "1 infantry",
            ["1 infantry", "1 infantry"],
            scenario_switches={"tt_last": False},
        ),
    ],
)
def test_random_assaults_follow_the_exact_distribution(data: dict[str, Any]) -> None:
    if "switches" in data:
        data["sea"]["attacker"]["loss_order"] = ["transport"]
    scenario = shore.read_assault(data)
    assert_follows(solve_assault(data), lambda number: shore.assault(scenario, number), features, 2_000)


@pytest.mark.parametrize(
    "data",
    [
        raid_of("3 bomber", "1 aa_gun", territory={"value": 5}),
        raid_of("2 bomber, 1 fighter", "2 fighter", "global40_2nd", raid={"cap": "none"}),
        raid_of("2 bomber, 2 tactical_bomber", "", "global40_2nd", raid={"target": "naval_base", "cap": "none"}),
        raid_of("2 bomber", "", "1942_2nd", raid={"cap": 9, "damaged": 2}, low_luck="aa"),
    ],
)
@pytest.mark.parametrize("heavy", [False, True])
def test_random_raids_follow_the_exact_distribution(data: dict[str, Any], heavy: bool) -> None:
    if heavy:
        data = data | {"attacker": data["attacker"] | {"technologies": ["heavy_bombers"]}}
    scenario = raids.read_raid(data)
    assert_follows(
        solve_raid(data),
        lambda number: raids.raid(scenario, number),
        lambda flown: (flown.outcome, flown.damage, flown.cost_lost),
        2_000,
    )


class Rolled:
    """Dice that ask for one throw after the other."""

    def __init__(self, roll: Roll) -> None:
        self.roll = roll

    def hits(self, throw: ref.Throw) -> int:
        return self.roll([throw])


@pytest.mark.parametrize("rule", ["both_dice", "best_of_two"])
@pytest.mark.parametrize(("sides", "bombers"), [(2, 3), (3, 2), (6, 2), (12, 1)])
def test_faces_from_the_highest_down_are_the_dice_themselves(sides: int, bombers: int, rule: str) -> None:
    edition = replace(raids.RAID_EDITIONS["aa50"], sides=sides, heavy_bombers=rule)
    data = raid_of("1 bomber", "", "aa50", raid={"cap": "none"})
    data["attacker"] |= {"technologies": ["heavy_bombers"]}
    scenario, stack = raids.read_raid(data, edition), ["bomber"] * bombers + ["tactical_bomber"]
    sums: dict[int, Fraction] = {}
    for total, p in every_way(lambda roll: raids.bombs(scenario, stack, Rolled(roll))):
        sums[total] = sums.get(total, Fraction(0)) + p
    assert sums == bombed(scenario, stack)


# --------------------------------------------------------------------------------------------------
# What holds in every battle
# --------------------------------------------------------------------------------------------------

numbers = st.integers(0, 2**40)


@settings(max_examples=200)
@given(scenario=land_scenarios(), number=numbers)
def test_a_landing_where_nobody_landed_is_a_land_battle(scenario: dict[str, Any], number: int) -> None:
    alike = scenario | {"switches": scenario.get("switches", {}) | {"amphib_retreat": "aircraft_and_overland"}}
    fought, plain = shore.landing(alike, number), ref.battle(scenario, number)
    for name in ("outcome", "cycles", "survivors", "cost_lost", "captured_value", "guns", "complexes"):
        assert getattr(fought, name) == getattr(plain, name)
    assert (fought.retreated, fought.bombard_hits) == (0, 0)


@settings(max_examples=300)
@given(scenario=amphibious_scenarios(), number=numbers)
def test_what_holds_in_every_landing(scenario: dict[str, Any], number: int) -> None:
    read = shore.read_shore(scenario)
    fought = shore.landing(read, number)
    start = shore.muster_shore(read)
    for left, whole in zip(fought.survivors, (start.attacking(), start.defenders), strict=True):
        assert Counter(left) <= Counter(whole)
    alive = sum(fought.survivors[ref.ATTACKER].values())
    assert fought.retreated <= alive
    if fought.outcome == "both_destroyed":
        assert not any(fought.survivors)
    if fought.outcome in {"attacker_wins", "attacker_clears"}:
        assert alive > fought.retreated
        assert not fought.survivors[ref.DEFENDER]
    if fought.outcome == "defender_wins":
        assert alive == fought.retreated
    if fought.bombard_hits:
        assert any(soldier.landed for soldier in start.attackers)


@settings(max_examples=200)
@given(scenario=assault_scenarios(), number=numbers)
def test_what_holds_in_every_assault(scenario: dict[str, Any], number: int) -> None:
    read = shore.read_assault(scenario)
    fought = shore.assault(read, number)
    assert fought.cycles == fought.sea.cycles + (fought.land.cycles if fought.land else 0)
    if fought.landed:
        assert fought.sea.outcome == "attacker_wins"
        assert fought.land is not None
        assert fought.landed == fought.aboard
    if fought.bombard_hits:
        assert fought.sea.cycles == 0
    for side in (ref.ATTACKER, ref.DEFENDER):
        forces = read.land.forces[side], read.sea.forces[side]
        gone = Counter(shore.added(force.units for force in forces))
        del gone["industrial_complex"]
        if not read.land.guns_are_units:
            del gone["aa_gun"]
        gone.subtract(fought.survivors[side])
        assert all(count >= 0 for count in gone.values())
        cargo_lost = 0
        if side == ref.DEFENDER:
            cargo = forces[1].cargo
            cargo_lost = shore.price(read.land, shore.added(cargo)) - shore.price(
                read.land, shore.afloat(read.sea, side, fought.sea)
            )
        assert fought.cost_lost[side] == shore.price(read.land, gone) + cargo_lost


@settings(max_examples=200)
@given(scenario=raid_scenarios(), number=numbers)
def test_what_holds_in_every_raid(scenario: dict[str, Any], number: int) -> None:
    read = raids.read_raid(scenario)
    flown = raids.raid(read, number)
    assert flown.outcome == ("damage" if flown.damage else "no_damage")
    assert flown.damage >= 0
    if read.cap is not None:
        assert flown.damage <= max(0, read.cap - read.damaged)
    assert flown.cycles == int(read.air_battle and bool(read.forces[ref.DEFENDER].units.get("fighter")))
    assert flown.cycles or flown.survivors[0].get("fighter", 0) == read.forces[0].units.get("fighter", 0)
