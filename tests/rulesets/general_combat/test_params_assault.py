"""Assaults and raids that cannot be fought, and what their errors say."""

from __future__ import annotations

import re
from typing import Any

import pytest

import simcore
from simcore.errors import ScenarioError
from simcore.scenario import load_scenario
from tests.rulesets.general_combat.support import EDITIONS, land
from tests.rulesets.general_combat.test_params_sea import problem
from tests.rulesets.general_combat.test_reference_assault import ashore, assault_of, raid_of
from tests.rulesets.general_combat.test_reference_sea import at_sea

LANDING = ashore("3 infantry, 1 tank, 1 fighter", "2 infantry")
ASSAULT = assault_of("1 cruiser, 2 transport", "1 destroyer", "2 infantry, 1 tank", "1 infantry", ["2 infantry"])
RAID = raid_of("2 bomber", "1 aa_gun", territory={"value": 3})
GLOBAL_RAID = raid_of("2 bomber", "1 aa_gun", "global40_2nd")
KINDS = {
    "land": land("1 tank", "1 infantry"),
    "sea": at_sea("1 cruiser", "1 cruiser"),
    "amphibious": LANDING,
    "assault": ASSAULT,
    "raid": RAID,
}


def changed(data: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """Return a scenario with one value replaced, named by a dotted path."""
    head, _, rest = path.partition(".")
    return data | {head: changed(data.get(head, {}), rest, value) if rest else value}


def test_the_scenarios_to_be_spoilt_can_be_fought() -> None:
    for data in (*KINDS.values(), GLOBAL_RAID):
        assert len(simcore.encode([data])) == 1


@pytest.mark.parametrize(
    ("landed", "message"),
    [
        ("4 infantry", r"4 infantry, but attacker\.units has 3"),
        ("1 artillery", r"1 artillery, but attacker\.units has 0"),
        ("1 fighter", r"only land units are landed \(infantry, mech_infantry, artillery, tank\), got fighter"),
        ("1 battleship", r"only land units are landed .*got battleship"),
        ("1 aa_gun", r"only land units are landed .*got aa_gun"),
        ("1 infantri", r'did you mean "infantry"'),
        ("al", r"\"al\""),
        ("-1 infantry", r"-1"),
        ({"infantry": 4}, r"4 infantry"),
        (["1 infantry"], r""),
        (True, r""),
    ],
)
def test_landed_units(landed: Any, message: str) -> None:
    text = problem(changed(LANDING, "attacker.landed", landed))
    assert re.match(rf"attacker\.landed.*{message}", text), text


@pytest.mark.parametrize("landed", ["all", "", "3 infantry, 1 tank", {"tank": 1}, {"infantry": 0}])
def test_landed_units_that_are_possible(landed: Any) -> None:
    assert len(simcore.encode([changed(LANDING, "attacker.landed", landed)])) == 1


@pytest.mark.parametrize(
    ("edition", "ships", "message"),
    [
        ("spring1942", "1 submarine", r"submarine cannot bombard; ships that can: cruiser, battleship"),
        ("spring1942", "1 transport", r"transport cannot bombard"),
        ("spring1942", "1 carrier", r"carrier cannot bombard"),
        ("spring1942", "1 destroyer", r"destroyer cannot bombard"),
        ("spring1942", "1 bomber", r"bomber cannot bombard"),
        ("spring1942", "1 artillery", r"artillery cannot bombard"),
        ("revised", "1 cruiser", r"cruiser cannot bombard; ships that can: battleship"),
        ("revised", "1 destroyer", r"destroyer cannot bombard"),
        ("global40_2nd", "1 destroyer", r"destroyer cannot bombard"),
        ("spring1942", "1 batleship", r'did you mean "battleship"'),
        ("spring1942", "-1 battleship", r"-1"),
    ],
)
def test_ships_that_cannot_bombard(edition: str, ships: str, message: str) -> None:
    text = problem(changed(LANDING, "attacker.bombard", ships) | {"edition": edition})
    assert re.match(rf"attacker\.bombard.*{message}", text), text


@pytest.mark.parametrize("side", ["attacker", "defender"])
def test_technologies_for_a_bombardment(side: str) -> None:
    data = changed(LANDING, "attacker.bombard", "1 destroyer")
    assert problem(changed(data, f"{side}.technologies", ["combined_bombardment"])).startswith(f"{side}.technologies: ")
    data = changed(data | {"edition": "aa50"}, f"{side}.technologies", ["combined_bombardment"])
    if side == "attacker":
        assert len(simcore.encode([data])) == 1
    else:
        assert problem(data).startswith("attacker.bombard: destroyer cannot bombard")


@pytest.mark.parametrize("kind", ["land", "sea", "raid"])
@pytest.mark.parametrize(
    ("path", "value", "field"),
    [
        ("attacker.landed", "all", "attacker.landed"),
        ("attacker.landed", "1 infantry", "attacker.landed"),
        ("attacker.bombard", "1 battleship", "attacker.bombard"),
        ("sea", {"attacker": {"units": "1 cruiser"}}, "sea"),
        ("sea", {}, "sea"),
    ],
)
def test_what_belongs_to_assaults(kind: str, path: str, value: Any, field: str) -> None:
    text = problem(changed(KINDS[kind], path, value))
    assert text.startswith(f'{field}: needs terrain = "amphibious"')


@pytest.mark.parametrize("kind", ["land", "sea", "amphibious", "assault"])
@pytest.mark.parametrize("table", [{"target": "complex"}, {"damaged": 1}, {"air_battle": True}, {"cap": "none"}])
def test_what_belongs_to_raids(kind: str, table: dict[str, Any]) -> None:
    assert problem(KINDS[kind] | {"raid": table}).startswith('raid: needs terrain = "raid"')


@pytest.mark.parametrize("unit", ["submarine", "transport", "destroyer", "carrier", "battleship"])
@pytest.mark.parametrize("side", ["attacker", "defender"])
@pytest.mark.parametrize("kind", ["amphibious", "assault"])
def test_ships_do_not_fight_on_the_shore(kind: str, side: str, unit: str) -> None:
    data = KINDS[kind]
    text = problem(changed(data, f"{side}.units", f"{data[side]['units']}, 1 {unit}"))
    assert text.startswith(f"{side}.units: {unit} cannot take part in an amphibious assault; ")


@pytest.mark.parametrize("unit", ["infantry", "tank", "aa_gun", "industrial_complex"])
@pytest.mark.parametrize("side", ["attacker", "defender"])
def test_land_units_do_not_fight_in_the_zone(side: str, unit: str) -> None:
    text = problem(changed(ASSAULT, f"sea.{side}.units", f"2 transport, 1 cruiser, 1 {unit}"))
    assert text.startswith(f"sea.{side}.units: {unit} cannot ")


@pytest.mark.parametrize("unit", ["aa_gun", "industrial_complex"])
@pytest.mark.parametrize("kind", ["amphibious", "assault", "raid"])
def test_installations_attack_nobody(kind: str, unit: str) -> None:
    assert problem(changed(KINDS[kind], "attacker.units", f"1 {unit}")).startswith(f"attacker.units: {unit} ")


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        # The cargo is part of those who attack on land, and `landed` is the cargo.
        ("attacker.units", "1 infantry, 1 tank", r"sea\.attacker\.cargo: 2 infantry, but attacker\.units has 1"),
        ("sea.attacker.cargo", ["1 artillery"], r"sea\.attacker\.cargo: 1 artillery, but attacker\.units has 0"),
        ("sea.attacker.cargo", ["1 aa_gun"], r"sea\.attacker\.cargo: only land units are landed .*got aa_gun"),
        ("attacker.landed", "1 infantry", r'attacker\.landed: differs from the cargo .*"2 infantry"'),
        ("attacker.landed", "2 infantry, 1 tank", r"attacker\.landed: differs from the cargo"),
        (
            "sea.attacker.cargo",
            ["1 tank", "1 infantry", "1 infantry"],
            r"sea\.attacker\.cargo: 3 loads, but the side has 2",
        ),
        ("sea.attacker.cargo", ["2 tank"], r"sea\.attacker\.cargo"),
        ("sea.defender.cargo", ["1 infantry"], r"sea\.defender\.cargo: 1 load, but the side has 0 transports"),
        ("sea.attacker.damaged", "1 cruiser", r"sea\.attacker\.damaged: cruiser takes one hit"),
        ("sea.defender.damaged", "1 battleship", r"sea\.defender\.damaged: 1 damaged battleship"),
        ("sea.attacker.submerge", "allways", r"sea\.attacker\.submerge: "),
        ("sea.attacker.loss_order", ["cruisr"], r"sea\.attacker\.loss_order.*cruiser"),
        ("sea.attacker.retreat", {"after": 1}, r"sea\.attacker\.retreat"),
        ("sea.defender.retreat", {"after_cycles": 1}, r"sea\.defender\.retreat"),
        ("sea.attacker.keep_land", 1, r"sea\.attacker\.keep_land"),
        ("sea.attacker.landed", "all", r"sea\.attacker\.landed"),
        ("sea.attacker.technologies", ["radar"], r"sea\.attacker\.technologies"),
        ("sea.attackers", {}, r'sea\.attackers.*did you mean "attacker"'),
        ("sea", {"attacker": {}, "defender": {}}, r"sea\.attacker\.units: both sides are empty"),
        ("sea.attacker.units", "1 crusier", r"sea\.attacker\.units: .*cruiser"),
        ("defender.submerge", "always", r"defender\.submerge: "),
        ("attacker.cargo", ["1 infantry"], r"attacker\.cargo: "),
        ("attacker.damaged", "1 battleship", r"attacker\.damaged: "),
        ("defender.landed", "all", r"defender\.landed"),
        ("defender.bombard", "1 battleship", r"defender\.bombard"),
        ("edition", "revised", None),
    ],
)
def test_assaults(path: str, value: Any, message: str | None) -> None:
    text = problem(changed(ASSAULT, path, value))
    wanted = message or r'sea\.attacker\.units: unit "cruiser" does not exist in edition "revised"'
    assert re.match(wanted, text), text
    assert "\n" not in text


@pytest.mark.parametrize("landed", ["all", "2 infantry", {"infantry": 2}, ""])
def test_landed_units_may_be_written_beside_the_cargo(landed: Any) -> None:
    scenario: Any = load_scenario(changed(ASSAULT, "attacker.landed", landed))
    assert scenario.landed == {"infantry": 2}


def test_an_assault_of_nobody() -> None:
    assert "empty" in problem(ashore("", "", landed="all"))
    assert len(simcore.encode([ashore("", "1 infantry", landed="all")])) == 1
    assert len(simcore.encode([assault_of("1 cruiser", "1 cruiser", "", "1 infantry", [])])) == 1


@pytest.mark.parametrize(
    ("base", "path", "value", "message"),
    [
        (RAID, "territory", {}, r"territory\.value: a raid needs the value of the territory"),
        (RAID, "attacker.units", "1 bomber, 1 fighter", r"attacker\.units: fighter .*raid\.air_battle"),
        (RAID, "defender.units", "1 fighter", r"defender\.units: fighter .*raid\.air_battle"),
        (GLOBAL_RAID, "attacker.units", "1 tactical_bomber", r"attacker\.units: tactical_bomber .*raid\.target"),
        (GLOBAL_RAID, "defender.units", "1 tactical_bomber", r"defender\.units: tactical_bomber takes no part"),
        (RAID, "attacker.units", "1 tank", r"attacker\.units: tank "),
        (RAID, "attacker.units", "1 battleship", r"attacker\.units: battleship cannot take part in a raid"),
        (
            RAID,
            "defender.units",
            "1 infantry",
            r"defender\.units: infantry takes no part in this raid; allowed: aa_gun",
        ),
        (RAID, "defender.units", "1 bomber", r"defender\.units: bomber takes no part"),
        (RAID, "raid.target", "minor_complex", r'raid\.target: edition "spring1942" has the targets complex'),
        (RAID, "raid.target", "air_base", r"raid\.target: "),
        (GLOBAL_RAID, "raid.target", "complex", r'raid\.target: edition "global40_2nd" has the targets minor_complex'),
        (GLOBAL_RAID, "raid.target", "airbase", r"raid\.target: .*air_base"),
        (RAID, "raid.air_battle", True, r'raid\.air_battle: edition "spring1942" has no air battle'),
        (RAID, "raid.air_battle", "yes", r"raid\.air_battle"),
        (RAID, "raid.damaged", -1, r"raid\.damaged"),
        (RAID, "raid.damaged", 1.5, r"raid\.damaged"),
        (RAID, "raid.cap", -1, r"raid\.cap"),
        (RAID, "raid.cap", "all", r"raid\.cap"),
        (RAID, "raid.tarjet", "complex", r'raid\.tarjet.*did you mean "target"'),
        (RAID, "attacker.keep_land", 1, r"attacker\.keep_land: has no meaning in a raid"),
        (RAID, "attacker.retreat", {"after_cycles": 1}, r"attacker\.retreat: has no meaning in a raid"),
        (RAID, "cycle_limit", 3, r"cycle_limit: has no meaning in a raid"),
        (RAID, "attacker.technologies", ["heavy_bombers"], r"attacker\.technologies: .*has no technologies"),
        (RAID, "defender.technologies", ["radar"], r"defender\.technologies: .*has no technologies"),
        (RAID, "attacker.submerge", "always", r"attacker\.submerge: "),
        (RAID, "attacker.cargo", ["1 infantry"], r"attacker\.cargo: "),
        (RAID, "switches", {"sbr_cap": "half"}, r"switches\.sbr_cap: "),
        (RAID, "switches", {"sbr_bonus": -1}, r"switches\.sbr_bonus: "),
        (RAID, "switches", {"sbr_aa": "guns"}, r"switches\.sbr_aa: "),
        (RAID, "switches", {"sbr_air_battle": True}, r"switches\.sbr_air_battle: "),
        (RAID, "switches", {"sbr_target": "factory"}, r"switches\.sbr_target: "),
    ],
)
def test_raids(base: dict[str, Any], path: str, value: Any, message: str) -> None:
    text = problem(changed(base, path, value))
    assert re.match(message, text), text
    assert "\n" not in text


@pytest.mark.parametrize("edition", EDITIONS)
def test_raids_need_a_value_unless_the_cap_does_not(edition: str) -> None:
    data = raid_of("1 bomber", "1 aa_gun", edition)
    if edition == "global40_2nd":
        assert len(simcore.encode([data])) == 1
    else:
        assert problem(data).startswith("territory.value: ")
    for raid in ({"cap": "none"}, {"cap": 7}):
        assert len(simcore.encode([data | {"raid": raid}])) == 1
    assert len(simcore.encode([data | {"territory": {"value": 0}}])) == 1


@pytest.mark.parametrize(
    ("territory", "message"),
    [
        ({"value": -1}, r"territory\.value"),
        ({"treasury": -1}, r"territory\.treasury"),
        ({"treasury": 1.5}, r"territory\.treasury"),
        ({"owner": ""}, r"territory\.owner"),
        ({"owner": 3}, r"territory\.owner"),
        ({"original_owner": "enemy"}, r"territory\.original_owner"),
        ({"original_owner": "friend", "original_capital_held_by": "nobody"}, r"territory\.original_capital_held_by"),
        ({"capital": "yes"}, r"territory\.capital"),
        ({"capitol": True}, r'territory\.capitol.*did you mean "capital"'),
    ],
)
@pytest.mark.parametrize("kind", ["land", "amphibious", "assault"])
def test_territories(kind: str, territory: dict[str, Any], message: str) -> None:
    text = problem(KINDS[kind] | {"territory": territory})
    assert re.match(message, text), text


@pytest.mark.parametrize(
    ("territory", "field"),
    [({"value": 2}, "territory.value"), ({"treasury": 2}, "territory.treasury")],
)
def test_there_is_no_territory_at_sea(territory: dict[str, int], field: str) -> None:
    assert problem(KINDS["sea"] | {"territory": territory}).startswith(f"{field}: there is no territory")


@pytest.mark.parametrize(
    ("switches", "message"),
    [
        ({"bombard_return_fire": "yes"}, r"switches\.bombard_return_fire: "),
        ({"bombard_cap": 3}, r"switches\.bombard_cap: "),
        ({"amphib_retreat": "overland"}, r"switches\.amphib_retreat: .*aircraft"),
        ({"bb_repair": "never"}, r"switches\.bb_repair: .*battle_end"),
        ({"amphib_retret": "aircraft"}, r'switches\.amphib_retret: .*did you mean "amphib_retreat"'),
    ],
)
def test_switches_of_landings(switches: dict[str, Any], message: str) -> None:
    text = problem(LANDING | {"switches": switches})
    assert re.match(message, text), text


def test_kinds_that_are_counted_differently_do_not_mix() -> None:
    for other in (ASSAULT, RAID):
        with pytest.raises(ScenarioError, match=r"scenarios\[1\]: battles of the kinds"):
            simcore.encode([LANDING, other])
    assert len(simcore.encode([KINDS["land"], KINDS["sea"], LANDING])) == 3
