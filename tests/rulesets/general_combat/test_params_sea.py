"""Sea scenarios that cannot be fought, and what their errors say."""

from __future__ import annotations

import re
from typing import Any

import pytest

import simcore
from simcore.errors import ScenarioError
from simcore.scenario import load_scenario
from tests.rulesets.general_combat.support import EDITIONS
from tests.rulesets.general_combat.test_reference_sea import at_sea
from tests.strategies import sea_units


def problem(scenario: dict[str, Any]) -> str:
    """Return the error of a scenario."""
    with pytest.raises(ScenarioError) as caught:
        load_scenario(scenario)
    return str(caught.value)


@pytest.mark.parametrize("unit", ["infantry", "artillery", "tank", "aa_gun", "industrial_complex"])
@pytest.mark.parametrize("edition", EDITIONS)
def test_land_units_are_refused_at_sea(unit: str, edition: str) -> None:
    message = problem(at_sea("1 destroyer", f"1 {unit}", edition))
    assert message == f"defender.units: {unit} cannot take part in a sea battle"


@pytest.mark.parametrize("unit", ["submarine", "transport", "destroyer", "cruiser", "carrier", "battleship"])
@pytest.mark.parametrize("side", ["attacker", "defender"])
def test_ships_are_refused_on_land(unit: str, side: str) -> None:
    scenario = {"attacker": {"units": "1 tank"}, "defender": {"units": "1 tank"}}
    scenario[side]["units"] += f", 1 {unit}"
    assert problem(scenario).startswith(f"{side}.units: {unit} cannot take part in a land battle")


@pytest.mark.parametrize("edition", EDITIONS)
def test_all_ships_and_aircraft_of_an_edition_may_fight_at_sea(edition: str) -> None:
    everything = ", ".join(f"1 {unit}" for unit in sea_units(edition))
    assert len(simcore.encode([at_sea(everything, everything, edition)])) == 1


def test_units_that_an_edition_lacks() -> None:
    assert 'unit "cruiser" does not exist in edition "revised"' in problem(
        at_sea("1 cruiser", "1 destroyer", "revised")
    )


@pytest.mark.parametrize(
    ("edition", "units", "damaged", "message"),
    [
        ("spring1942", "1 destroyer", "1 destroyer", r"destroyer takes one hit in edition \"spring1942\""),
        ("spring1942", "1 carrier", "1 carrier", r"carrier takes one hit"),
        ("spring1942", "1 fighter", "1 fighter", r"fighter takes one hit"),
        ("spring1942", "2 battleship", "3 battleship", r"3 damaged battleship, but the side has 2"),
        ("spring1942", "1 cruiser", "1 battleship", r"1 damaged battleship, but the side has 0"),
        ("global40_2nd", "1 carrier", "2 carrier", r"2 damaged carrier, but the side has 1"),
        ("revised", "1 destroyer", "1 cruiser", r"cruiser takes one hit"),
        ("spring1942", "1 battleship", "1 batleship", r"did you mean \"battleship\""),
        ("spring1942", "1 battleship", "-1 battleship", r"-1"),
    ],
)
@pytest.mark.parametrize("side", ["attacker", "defender"])
def test_damage(side: str, edition: str, units: str, damaged: str, message: str) -> None:
    scenario = at_sea(units, units, edition)
    scenario[side]["damaged"] = damaged
    assert re.match(rf"{side}\.damaged: .*{message}", problem(scenario))


@pytest.mark.parametrize(
    ("edition", "damaged"),
    [("spring1942", "2 battleship"), ("global40_2nd", "1 carrier, 1 battleship"), ("global40_2nd", {"carrier": 1})],
)
def test_damage_that_is_possible(edition: str, damaged: str | dict[str, int]) -> None:
    scenario = at_sea("2 battleship, 1 carrier", "1 destroyer", edition)
    scenario["attacker"]["damaged"] = damaged
    assert len(simcore.encode([scenario])) == 1


@pytest.mark.parametrize(
    ("cargo", "message"),
    [
        (["1 infantry"] * 3, r"cargo: 3 loads, but the side has 2 transports"),
        (["2 tank"], r'cargo\[0\]: a transport carries one land unit and one infantry, got "2 tank"'),
        (["1 infantry", "3 infantry"], r'cargo\[1\]: .*"3 infantry"'),
        (["1 tank, 1 artillery"], r'cargo\[0\]: .*"1 artillery, 1 tank"'),
        (["1 tank, 2 infantry"], r"cargo\[0\]: "),
        (["1 fighter"], r'cargo\[0\]: .*"1 fighter"'),
        (["1 destroyer"], r"cargo\[0\]: "),
        (["1 industrial_complex"], r"cargo\[0\]: "),
        (["1 mech_infantry"], r"cargo\[0\]: "),
        (["0 infantry"], r"cargo\[0\]: "),
        ([""], r"cargo\[0\]: "),
        (["1 infantri"], r'cargo.*did you mean "infantry"'),
        ("2 infantry", r"cargo: "),
        ([2], r"cargo"),
    ],
)
def test_cargo(cargo: Any, message: str) -> None:
    scenario = at_sea("1 cruiser", "2 transport, 1 destroyer")
    scenario["defender"]["cargo"] = cargo
    assert re.match(rf"defender\.{message}", problem(scenario))


@pytest.mark.parametrize("load", ["1 infantry", "2 infantry", "1 tank", "1 tank, 1 infantry", "1 aa_gun", {"tank": 1}])
def test_cargo_that_is_possible(load: str | dict[str, int]) -> None:
    scenario = at_sea("1 cruiser", "1 transport")
    scenario["defender"]["cargo"] = [load]
    assert len(simcore.encode([scenario])) == 1


def test_too_many_different_loads() -> None:
    loads = [load for _ in range(20) for load in ("1 infantry", "1 tank")]
    scenario = at_sea("1 cruiser", "40 transport")
    scenario["defender"]["cargo"] = loads
    assert problem(scenario).startswith("defender.cargo: too many different loads")
    scenario["defender"]["cargo"] = sorted(loads)
    assert len(simcore.encode([scenario])) == 1


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        ("alway", r'got "alway" \(did you mean "always"\?\)'),
        ("facing aircraft", r'"facing_aircraft"'),
        ("outnumbered", r"outnumbered = x .*0\.001 to 1,000"),
        ({"outnumbered": 0}, r"outnumbered"),
        ({"outnumbered": -1.5}, r"outnumbered"),
        ({"outnumbered": float("nan")}, r"outnumbered"),
        ({"outnumbered": float("inf")}, r"outnumbered"),
        ({"outnumbered": 1e9}, r"outnumbered"),
        ({"outnumbred": 1.5}, r"outnumb"),
        ({}, r""),
        (True, r""),
        (1.5, r""),
    ],
)
@pytest.mark.parametrize("side", ["attacker", "defender"])
def test_policies_of_submerging(side: str, policy: Any, message: str) -> None:
    scenario = at_sea("1 submarine", "1 submarine")
    scenario[side]["submerge"] = policy
    text = problem(scenario)
    assert text.startswith(f"{side}.submerge")
    assert re.search(message, text), text
    assert "\n" not in text


@pytest.mark.parametrize("policy", ["always", "facing_aircraft", {"outnumbered": 1.5}])
@pytest.mark.parametrize("side", ["attacker", "defender"])
def test_submarines_do_not_submerge_on_land(side: str, policy: Any) -> None:
    scenario: dict[str, Any] = {"attacker": {"units": "1 tank"}, "defender": {"units": "1 tank"}}
    scenario[side]["submerge"] = "never"
    assert len(simcore.encode([scenario])) == 1
    scenario[side]["submerge"] = policy
    assert problem(scenario).startswith(f"{side}.submerge: ")


@pytest.mark.parametrize(
    ("order", "message"),
    [
        (["battleship:damge"], r'"battleship:damge"'),
        (["batleship:damage"], r'did you mean "battleship"'),
        (["cruiser:damage"], r'"cruiser:damage": only battleship and carrier can be damaged'),
        (["submarine:damage"], r"can be damaged"),
        (["battleship:damage", "battleship:damage"], r'"battleship:damage" stands in the order twice'),
        (["battleship", "bb"], r'"battleship" stands in the order twice'),
        (["damage"], r'"damage"'),
        ("battleship:damage", r"must be a list"),
        ([":damage"], r"unit"),
    ],
)
def test_orders_of_loss(order: Any, message: str) -> None:
    text = problem(at_sea("1 battleship", "1 cruiser", attacker_loss_order=order))
    assert re.match(rf"attacker\.loss_order.*{message}", text), text


def test_orders_of_loss_know_other_names() -> None:
    one, other = (
        load_scenario(at_sea("1 battleship", "1 cruiser", attacker_loss_order=order)).canonical()
        for order in (["bb", "BB:damage"], ["battleship", "battleship:damage"])
    )
    assert one == other


@pytest.mark.parametrize("terrain", ["amphibian", "raids", "air", "Sea", 3])
def test_other_kinds_of_battle(terrain: Any) -> None:
    text = problem({"terrain": terrain, "attacker": {"units": "1 fighter"}, "defender": {"units": "1 fighter"}})
    assert re.match(r"terrain: .*land.*sea.*amphibious.*raid", text)


@pytest.mark.parametrize(
    ("switches", "message"),
    [
        ({"submarine_strikes": "attacker"}, r"switches\.submarine_strikes: .*attacker_first"),
        ({"doomed_destroyer": True}, r"switches\.doomed_destroyer: .*counts"),
        ({"sub_first_strike": "never"}, r"switches\.sub_first_strike: "),
        ({"tt_lost": True}, r'switches\.tt_lost: .*did you mean "tt_last"'),
        ({"tt_swept": "yes"}, r"switches\.tt_swept: "),
    ],
)
def test_switches_at_sea(switches: dict[str, Any], message: str) -> None:
    assert re.match(message, problem(at_sea("1 submarine", "1 destroyer", switches=switches)))


def test_both_sides_empty_at_sea() -> None:
    assert "empty" in problem(at_sea("", ""))


def test_two_hits_are_for_battleships_and_carriers() -> None:
    text = problem(at_sea("1 cruiser", "1 destroyer", edition_changes={"cruiser.hits": 2}))
    assert re.match(r"edition_changes\.cruiser\.hits: .*battleship and carrier", text)


@pytest.mark.parametrize(
    ("given", "field"),
    [({"attacker_keep_land": 1}, r"attacker\.keep_land"), ({"territory": {"value": 2}}, r"territory\.value")],
)
def test_what_belongs_to_land_battles(given: dict[str, Any], field: str) -> None:
    assert re.match(f"{field}: there", problem(at_sea("1 cruiser", "1 destroyer", **given)))
