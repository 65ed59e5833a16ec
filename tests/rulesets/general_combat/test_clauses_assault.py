"""One test or more for every clause about amphibious assaults and conclusions, by its id in RULES.md."""

from __future__ import annotations

import copy
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import simcore
from simcore.errors import ScenarioError
from simcore.scenario import load_scenario
from tests.rulesets.general_combat import reference as ref
from tests.rulesets.general_combat.support import AAA_EDITIONS, EDITIONS, fought, fought_all, no_shrinking
from tests.rulesets.general_combat.test_clauses import COIN, distinct
from tests.rulesets.general_combat.test_clauses_sea import assert_outcomes, left, thrown, told
from tests.rulesets.general_combat.test_reference_assault import ashore, assault_of
from tests.rulesets.general_combat.test_reference_sea import at_sea
from tests.strategies import amphibious_scenarios, assault_scenarios, sea_scenarios

if TYPE_CHECKING:
    from collections.abc import Mapping

rule = pytest.mark.rule

MIXED = "2 infantry, 1 tank, 1 fighter"
OFF_SHORE = {"landed": "all", "bombard": "1 battleship"}


def bombards(replay: Any) -> list[tuple[str, int, list[int]]]:
    """Return the dice of the bombardment: which ships, how many, at what odds."""
    return [(draw["what"], draw["dice"], draw["odds"]) for draw in replay.draws if draw["step"] == "bombard"]


def steps(replay: Any) -> list[tuple[str, str]]:
    """Return step and side of all draws."""
    return [(draw["step"], draw["side"]) for draw in replay.draws]


def odds_of(data: dict[str, Any]) -> dict[str, Any]:
    """Return a scenario as arguments of `odds`."""
    return {name: value for name, value in data.items() if name != "ruleset"}


# --------------------------------------------------------------------------------------------------
# 2.3 Switches
# --------------------------------------------------------------------------------------------------


@rule("GC-2.3:bombard_return_fire")
@rule("GC-5.5")
@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("fires", [True, False, None])
def test_bombarded_units_fire_back_by_the_switch(edition: str, fires: bool | None) -> None:
    data = ashore("1 infantry", "1 infantry", edition, **OFF_SHORE)
    if fires is not None:
        data["switches"] = {"bombard_return_fire": fires}
    if fires or (fires is None and edition != "revised"):
        replay = told(data, 1, 0, 1)
        assert thrown(replay)[-1] == (1, "defence", "defender", 1)
        assert (replay.outcome, replay.cycles) == ("both_destroyed", 1)
        assert "still to fire once (5.5)" in replay.to_text()
        assert_outcomes(data, attacker_wins="19/36", both_destroyed="19/72", defender_wins="5/24")
    else:
        replay = told(data, 1)
        assert (replay.outcome, replay.cycles) == ("attacker_wins", 0)
        assert "5.5" not in replay.to_text()
        assert_outcomes(data, attacker_wins="3/4", both_destroyed="1/24", defender_wins="5/24")


@rule("GC-2.3:bombard_cap")
@rule("GC-5.4")
@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("cap", [True, False, None])
def test_as_many_ships_as_landed_units_by_the_switch(edition: str, cap: bool | None) -> None:
    data = ashore("3 infantry", "5 infantry", edition, landed="2 infantry", bombard="4 battleship")
    if cap is not None:
        data["switches"] = {"bombard_cap": cap}
    capped = cap or (cap is None and edition != "revised")
    assert [dice for _, dice, _ in bombards(simcore.replay(data))] == [2 if capped else 4]


@rule("GC-2.3:amphib_retreat")
@rule("GC-5.6")
@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("leaves", ["aircraft_and_overland", "aircraft", None])
@pytest.mark.parametrize("possible", [True, False])
def test_who_leaves_by_the_switch(edition: str, leaves: str | None, possible: bool) -> None:
    retreat = {"after_cycles": 1, "possible": possible}
    data = ashore(MIXED, "1 infantry", edition, landed="1 infantry", retreat=retreat, scenario_cycle_limit=1)
    if leaves:
        data["switches"] = {"amphib_retreat": leaves}
    aircraft_only = leaves == "aircraft" or (leaves is None and edition == "revised")
    replay = told(data, 0, 0, 0, 0)
    gone = {"fighter": 1} if aircraft_only else {"infantry": 1, "tank": 1, "fighter": 1} if possible else {}
    assert replay.conclusion["retreated"] == gone
    assert (replay.outcome, left(replay)[0]) == ("unfinished", ref.parse_units(MIXED))
    assert replay.cost_lost == {"attacker": 0, "defender": 0}
    assert ("(5.6)" in replay.to_text()) == bool(gone)
    assert fought(data, 50).tally["retreated"] <= 50 * sum(gone.values())


TWO_HIT_CARRIERS = {"carrier.hits": 2}


@rule("GC-2.3:bb_repair")
@rule("GC-4.7.7")
@rule("GC-4.7.8")
@rule("GC-8.15")
@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("repair", ["battle_end", "purchase_at_naval_base", None])
def test_repairs_and_room_on_damaged_carriers(edition: str, repair: str | None) -> None:
    ship = "1 destroyer" if edition == "revised" else "1 cruiser"
    data = at_sea(ship, "1 carrier, 1 battleship, 2 fighter", edition)
    data["attacker"]["retreat"] = {"after_cycles": 1}
    data |= {"edition_changes": TWO_HIT_CARRIERS}
    data["defender"]["damaged"] = "1 carrier"
    if repair:
        data["switches"] = {"bb_repair": repair}
    later = repair == "purchase_at_naval_base" or (repair is None and edition == "global40_2nd")
    # The attacker's hit damages the battleship; the carrier came damaged.
    replay = told(data, 1, 0, 0, 0)
    assert replay.conclusion["defender"] == {
        "damaged": {"battleship": 1, "carrier": 1},
        "submerged": 0,
        "no_landing": 2 if later else 0,
    }
    text = replay.to_text()
    assert "(4.7.7)" in text
    assert ("Still damaged until repaired at a naval base" in text) == later
    assert ("Undamaged again now that the battle is over" in text) == (not later)
    assert ("Without room on a carrier: 2 aircraft of the defender" in text) == later
    assert ("(4.7.8)" in text) == later
    # While the battle may go on, nothing is concluded.
    unfinished = data | {"attacker": {"units": ship}, "cycle_limit": 1}
    assert "(4.7." not in told(unfinished, 1, 0, 0, 0).to_text()


@rule("GC-2.3:bb_repair")
@rule("GC-8.15")
@settings(max_examples=5, phases=no_shrinking)
@given(scenarios=st.lists(sea_scenarios(), min_size=5, max_size=10))
def test_repairs_change_no_battle(scenarios: list[dict[str, Any]]) -> None:
    def with_repair(data: dict[str, Any], value: str) -> dict[str, Any]:
        return data | {"switches": data.get("switches", {}) | {"bb_repair": value}}

    for value in ("battle_end", "purchase_at_naval_base"):
        changed = fought_all([with_repair(data, value) for data in scenarios], 30)
        for one, other in zip(changed, fought_all(scenarios, 30), strict=True):
            assert one.same_as(other)
            assert np.array_equal(one.cost_lost, other.cost_lost)


@rule("GC-5.1")
@rule("GC-5.2")
def test_both_fleets_and_all_the_cargo_are_gone_and_nobody_defends() -> None:
    data = assault_of("1 cruiser, 1 transport", "1 cruiser", "1 infantry", "", ["1 infantry"])
    data["switches"] = {"tt_last": False}
    data["sea"]["attacker"]["loss_order"] = ["transport"]
    replay = told(data, 0, 1, 1, 1)
    assert replay.sea == {"outcome": "both_destroyed", "cycles": 2, "landed": {}}
    assert (replay.outcome, left(replay)) == ("both_destroyed", ({}, {}))
    assert replay.cost_lost == {"attacker": 3 + 7 + 12, "defender": 12}


# --------------------------------------------------------------------------------------------------
# 3 and 5.1 to 5.3: the order of an assault, landings
# --------------------------------------------------------------------------------------------------


@rule("GC-3.1")
@rule("GC-5.1")
def test_the_order_of_an_assault() -> None:
    data = assault_of(
        "1 cruiser, 1 transport", "1 destroyer", "1 infantry, 1 fighter", "1 infantry, 1 aa_gun", ["1 infantry"]
    )
    at_sea_first = [("attack", "attacker"), ("defence", "defender")]
    guns = [("aa_fire", "defender")]
    on_land = [("attack", "attacker"), ("attack", "attacker"), ("defence", "defender")]
    replay = told(data, 1, 0, 0, 1, 0, 0)
    assert steps(replay) == at_sea_first + guns + on_land
    data["attacker"]["bombard"] = "1 battleship"
    data["sea"]["defender"] = {}
    assert steps(told(data, 0, 0, 1, 0, 0)) == [*guns, ("bombard", "attacker"), *on_land]


def damage_of(data: Mapping[str, Any]) -> int:
    """Return the damage of one raid."""
    return int(simcore.replay(data, battle=3).damage)


@rule("GC-3.1")
def test_what_an_earlier_battle_changed_stands_in_the_scenario() -> None:
    data = {"edition": "spring1942", "terrain": "raid", "attacker": {"units": "3 bomber"}, "defender": {"units": ""}}
    data |= {"territory": {"value": 2}}
    first = damage_of(data)
    second = damage_of(data | {"raid": {"damaged": first}})
    assert first + second <= 4


@rule("GC-5.1")
def test_both_battles_add_up() -> None:
    data = assault_of(
        "1 cruiser, 1 transport, 1 fighter",
        "1 cruiser, 1 fighter",
        "1 infantry, 1 tank, 1 fighter",
        "2 infantry, 1 fighter",
        ["1 infantry"],
    )
    result = simcore.odds(**odds_of(data), method="simulate", battles=500).to_dict()
    assert result["attacker"]["cost"] == 3 + 5 + 10 + 12 + 7 + 10
    assert result["defender"]["cost"] == 12 + 10 + 6 + 10
    assert result["attacker"]["units"] == "1 infantry, 1 tank, 2 fighter, 1 transport, 1 cruiser"
    battles = fought(data, 500)
    assert battles.tally["cycles.sum"] == battles.tally["sea.cycles.sum"] + battles.tally["land.cycles.sum"]
    assert battles.tally["land.battles"] == sum(battles.tally[f"land.outcome.{name}"] for name in ref.OUTCOMES)
    assert sum(battles.tally[f"sea.outcome.{name}"] for name in ref.OUTCOMES) == 500
    # Two fighters were sent into either battle: those left of both are counted together.
    assert distinct(battles.left("attacker", "fighter")) == {0, 1, 2}


@rule("GC-5.1")
@rule("GC-5.2")
@pytest.mark.parametrize(
    ("fleet", "zone", "defender", "edition", "script", "at_sea", "outcome"),
    [
        ("1 cruiser, 1 transport", "1 cruiser", "1 infantry", "spring1942", (0, 1), "attacker_retreats", None),
        ("1 transport, 1 fighter", "1 submarine", "1 infantry", "spring1942", (1, 0), "stand_off", None),
        ("1 transport", "1 transport", "1 infantry", "spring1942", (), "stand_off", None),
        ("1 submarine, 1 transport", "1 submarine", "1 infantry", "spring1942", (1, 1), "attacker_wins", None),
        ("1 cruiser", "1 cruiser", "1 infantry", "spring1942", (1, 0), "attacker_wins", "defender_wins"),
        ("1 cruiser", "1 cruiser", "1 infantry", "spring1942", (0, 1), "defender_wins", "defender_wins"),
        ("1 cruiser", "1 cruiser", "1 infantry", "spring1942", (1, 1), "both_destroyed", "defender_wins"),
        ("1 cruiser", "1 cruiser", "1 aa_gun", "spring1942", (1, 1), "both_destroyed", "both_destroyed"),
        ("1 cruiser", "1 cruiser", "1 industrial_complex", "1942_2nd", (1, 1), "both_destroyed", "both_destroyed"),
        ("1 cruiser", "1 cruiser", "1 aa_gun", "1942_2nd", (1, 1), "both_destroyed", "defender_wins"),
        ("1 cruiser", "1 cruiser", "1 aa_gun", "spring1942", (0, 1), "defender_wins", "defender_wins"),
    ],
)
def test_assaults_that_never_come_to_land(
    fleet: str, zone: str, defender: str, edition: str, script: tuple[int, ...], at_sea: str, outcome: str | None
) -> None:
    cargo = ["1 infantry"] if "transport" in fleet else []
    data = assault_of(fleet, zone, "1 infantry" if cargo else "", defender, cargo, edition)
    if at_sea == "attacker_wins" and cargo:
        # The transport is lost first: nobody is left to land.
        data["switches"] = {"tt_last": False}
        data["sea"]["attacker"]["loss_order"] = ["transport"]
        outcome = "defender_wins"
    replay = told(data, *script) if script else simcore.replay(data)
    assert replay.sea is not None
    assert (replay.sea["outcome"], replay.outcome) == (at_sea, outcome or at_sea)
    assert replay.cycles == replay.sea["cycles"]
    assert (replay.sea["landed"], replay.captured["territory"]) == ({}, False)
    assert replay.conclusion["holder"] == "defender"
    tally = fought(data, 200).tally
    assert tally["land.battles"] < 200


@rule("GC-5.1")
def test_an_unfinished_sea_battle_leaves_everything_open() -> None:
    data = assault_of(
        "1 cruiser, 1 transport", "1 cruiser", "2 infantry", "1 infantry", ["1 infantry"], scenario_cycle_limit=1
    )
    replay = told(data, 0, 0)
    assert (replay.outcome, replay.cycles, steps(replay)[-1]) == ("unfinished", 1, ("defence", "defender"))
    assert left(replay) == ({"infantry": 2, "transport": 1, "cruiser": 1}, {"infantry": 1, "cruiser": 1})
    # Each battle has a limit of its own.
    longer = told(data, 1, 0, 0, 0)
    assert (longer.outcome, longer.cycles) == ("unfinished", 2)


@rule("GC-5.2")
@rule("GC-3.5")
def test_the_cargo_of_lost_transports_does_not_land() -> None:
    data = assault_of(
        "1 cruiser, 3 transport",
        "2 cruiser",
        "1 infantry, 2 tank",
        "1 infantry",
        ["1 tank", "1 tank, 1 infantry"],
        scenario_switches={"tt_last": False},
    )
    data["sea"]["attacker"]["loss_order"] = ["transport"]
    replay = told(data, 1, 2, 1, 0, 0, 1, 0)
    assert replay.sea is not None
    assert replay.sea["landed"] == {"infantry": 1, "tank": 1}
    assert replay.lost["attacker"] == {"transport": 2, "tank": 1}
    assert replay.cost_lost["attacker"] == 7 + 7 + 5
    for line in ("Lost with their transports: 1 tank (3.5)", "Landed: 1 infantry, 1 tank (5.2)"):
        assert line in replay.lines


@rule("GC-5.2")
@pytest.mark.parametrize("ending", ["attacker_retreats", "stand_off"])
def test_cargo_stays_aboard_where_the_sea_battle_was_not_won(ending: str) -> None:
    if ending == "attacker_retreats":
        data = assault_of("1 cruiser, 1 transport", "1 cruiser", "1 tank", "1 infantry", ["1 tank"])
        data["sea"]["attacker"]["retreat"] = {"after_cycles": 1}
        replay = told(data, 0, 0)
    else:
        # Only a submarine is left, which no one can hit: a stand-off, though it stops no landing by the map.
        data = assault_of("1 transport, 1 fighter", "1 submarine", "1 tank", "1 infantry", ["1 tank"])
        data["edition_changes"] = {"submarine.defence": 0}
        replay = simcore.replay(data)
    assert replay.sea is not None
    assert (replay.sea["outcome"], replay.sea["landed"], replay.outcome) == (ending, {}, ending)
    assert left(replay)[0]["tank"] == 1
    assert any(line.startswith("No landing: 1 tank stay") and line.endswith("aboard (5.2)") for line in replay.lines)
    data["sea"]["attacker"] |= {"retreat": {"after_cycles": 1}}
    data["edition_changes"] = {"submarine.defence": 0, "cruiser.attack": 0}
    result = simcore.odds(**odds_of(data), method="simulate", battles=100).to_dict()
    assert (result["land"]["landing"], result["land"]["mean_landed"]) == (0, 0)


@rule("GC-5.2")
@pytest.mark.parametrize(
    ("data", "script", "outcome", "said", "not_said"),
    [
        # The fleet is sunk, the tank takes an empty territory.
        (
            assault_of("1 cruiser", "1 cruiser", "1 tank", "", []),
            (0, 1),
            "attacker_wins",
            "Before the first cycle the attacker wins: a land unit is left and takes the territory (4.7.1).",
            "nobody else attacks",
        ),
        (
            assault_of("1 cruiser", "1 cruiser", "2 fighter", "", []),
            (0, 1),
            "attacker_clears",
            "Before the first cycle the attacker wins: aircraft alone take no territory (4.7.2).",
            "nobody else attacks",
        ),
        # The fleet retreats, nobody else is there.
        (
            assault_of("1 cruiser, 1 transport", "1 cruiser", "1 tank", "1 infantry", ["1 tank"]),
            (0, 1),
            "attacker_retreats",
            "Nobody attacks on land: the attacker retreats (5.2).",
            "After 0",
        ),
        # Both fleets are afloat when the limit is reached: nothing has failed yet.
        (
            assault_of("1 cruiser", "1 cruiser", "1 tank", "1 infantry", [], scenario_cycle_limit=1),
            (0, 0),
            "unfinished",
            "the battle is unfinished",
            "nobody else attacks",
        ),
    ],
)
def test_the_story_of_an_assault_without_a_cycle_on_land(
    data: dict[str, Any], script: tuple[int, ...], outcome: str, said: str, not_said: str
) -> None:
    replay = told(data, *script)
    assert replay.outcome == outcome
    assert said in replay.to_text()
    assert not_said not in replay.to_text()


@rule("GC-5.2")
def test_an_empty_zone_is_won_at_once() -> None:
    data = assault_of("1 transport", "", "2 infantry", "1 infantry", ["2 infantry"])
    replay = told(data, 1, 0)
    assert replay.sea == {"outcome": "attacker_wins", "cycles": 0, "landed": {"infantry": 2}}
    assert replay.outcome == "attacker_wins"


@rule("GC-5.3")
@rule("GC-4.5.5")
@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize(("zone", "fires"), [("", True), ("1 transport", False), ("1 submarine", False)])
def test_a_sea_battle_of_any_kind_spoils_the_bombardment(edition: str, zone: str, fires: bool) -> None:
    data = assault_of(
        "2 destroyer, 1 transport", zone, "1 tank", "1 infantry", ["1 tank"], edition, bombard="2 battleship"
    )
    replay = simcore.replay(data, battle=1)
    assert bool(bombards(replay)) is fires
    assert ("No bombardment: a sea battle was fought in the zone (5.3)" in replay.lines) is not fires
    assert (fought(data, 200).tally["bombard.hits"] > 0) is fires


# --------------------------------------------------------------------------------------------------
# 5.4 and 5.5: bombardment
# --------------------------------------------------------------------------------------------------


@rule("GC-5.4")
@pytest.mark.parametrize(
    ("data", "dice"),
    [
        (
            ashore("1 infantry", "1 infantry", landed="all", bombard="2 battleship, 1 cruiser"),
            [("1 battleship", 1, [4, 6])],
        ),
        (
            ashore("3 infantry", "4 infantry", landed="all", bombard="2 battleship, 2 cruiser"),
            [("1 cruiser", 1, [3, 6]), ("2 battleships", 2, [4, 6])],
        ),
        (ashore("3 infantry", "4 infantry", landed="1 infantry", bombard="2 cruiser"), [("1 cruiser", 1, [3, 6])]),
        (
            ashore("1 infantry", "4 infantry", "revised", landed="all", bombard="3 battleship"),
            [("3 battleships", 3, [4, 6])],
        ),
        (ashore("3 infantry", "1 infantry", bombard="2 battleship"), []),
        (ashore("3 infantry", "1 infantry", "revised", landed="", bombard="2 battleship"), []),
        (ashore("3 infantry", "1 aa_gun", landed="all", bombard="1 battleship"), []),
        (
            ashore("3 infantry", "1 aa_gun", "1942_2nd", landed="all", bombard="1 battleship"),
            [("1 battleship", 1, [4, 6])],
        ),
        (ashore("3 infantry", "", landed="all", bombard="1 battleship"), []),
        (ashore("3 infantry", "1 industrial_complex", landed="all", bombard="1 battleship"), []),
    ],
)
def test_who_bombards(data: dict[str, Any], dice: list[tuple[str, int, list[int]]]) -> None:
    assert bombards(simcore.replay(data)) == dice


@rule("GC-5.4")
@rule("GC-5.6")
def test_the_story_of_a_landing_names_its_clauses() -> None:
    data = ashore(MIXED, "2 infantry", landed="1 infantry", bombard="1 cruiser", retreat={"after_cycles": 1})
    replay = told(data, 1, 0, 0, 0, 0, 1, 0)
    assert replay.lines[1:4] == [
        "Bombardment (5.4)",
        "  attacker: 1 cruiser at 3 or less: 1 hit",
        "  defender loses 1 infantry, still to fire once (5.5)",
    ]
    assert "  attacker withdraws 1 infantry, 1 tank, 1 fighter; the others fight on (5.6)" in replay.lines
    assert "(landed: 1 infantry; off the coast: 1 cruiser)" in replay.lines[0]
    assert (replay.outcome, replay.cycles) == ("attacker_wins", 2)


@rule("GC-5.4")
def test_bombarding_ships_are_no_part_of_the_land_battle() -> None:
    data = ashore("2 infantry", "2 infantry", landed="all", bombard="2 battleship")
    result = simcore.odds(**odds_of(data), method="simulate", battles=300).to_dict()
    assert (result["attacker"]["units"], result["attacker"]["cost"]) == ("2 infantry", 6)
    assert set(result["attacker"]["mean_survivors"]) == {"infantry"}
    assert 0 < result["mean_bombard_hits"] < 2
    silent, firing = fought_all([data | {"attacker": data["attacker"] | {"bombard": ""}}, data])
    # The dice of the land battle are those of a battle without ships.
    assert (firing.left("defender") <= silent.left("defender")).mean() > 0.5
    assert distinct(firing.cost_lost[:, 0]) <= {0, 3, 6}


@rule("GC-5.4")
@pytest.mark.parametrize(
    ("ships", "low_luck", "hits"),
    [
        ("2 cruiser", "combat", {1}),
        ("2 cruiser", "both", {1}),
        ("2 cruiser", "aa", {0, 1, 2}),
        ("1 battleship, 2 cruiser", "combat", {1, 2}),
        ("3 battleship", "combat", {2}),
    ],
)
def test_low_luck_of_a_bombardment_is_one_pool(ships: str, low_luck: str, hits: set[int]) -> None:
    data = ashore("3 infantry", "6 infantry", "revised", landed="all", bombard=ships, scenario_low_luck=low_luck)
    if "cruiser" in ships:
        data["edition"] = "spring1942"
    data |= {"cycle_limit": 1, "edition_changes": {"infantry.attack": 0}}
    assert distinct(6 - fought(data, 300).left("defender")) == hits


@rule("GC-5.5")
def test_bombarded_units_are_no_targets_and_fire_once() -> None:
    data = ashore("3 infantry", "1 infantry, 1 tank, 1 fighter", landed="all", bombard="1 cruiser")
    replay = told(data, 1, 1, 0, 0, 0, 1, 0)
    assert thrown(replay) == [
        (1, "bombard", "attacker", 1),
        (1, "attack", "attacker", 3),
        (1, "defence", "defender", 1),
        (1, "defence", "defender", 1),
        (1, "defence", "defender", 1),
        (2, "attack", "attacker", 3),
        (2, "defence", "defender", 1),
    ]
    assert (replay.outcome, replay.cost_lost["defender"]) == ("attacker_wins", 18)
    assert fought(data, 2_000).tally["bombard.hits"] > 800


@rule("GC-5.5")
@pytest.mark.parametrize("edition", AAA_EDITIONS)
def test_a_bombardment_may_take_antiaircraft_units(edition: str) -> None:
    data = ashore("1 infantry", "1 infantry, 1 aa_gun", edition, **OFF_SHORE)
    replay = told(data, 1, 0, 0, 1, 0)
    assert "  defender loses 1 AA gun" in replay.lines
    assert (replay.outcome, replay.cycles, replay.cost_lost["defender"]) == ("attacker_wins", 2, 8)


@rule("GC-5.5")
def test_units_without_a_value_keep_no_battle_going_once_they_are_hit() -> None:
    harmless = {"bomber.defence": 0}
    data = ashore("1 infantry", "1 bomber", **OFF_SHORE, scenario_edition_changes=harmless)
    replay = told(data, 1)
    assert (replay.outcome, replay.cycles, replay.lost["defender"]) == ("attacker_wins", 0, {"bomber": 1})
    # Beside them, nobody can fire at all.
    none = {"infantry.attack": 0, "infantry.defence": 0}
    stand_off = told(ashore("1 infantry", "2 infantry", **OFF_SHORE, scenario_edition_changes=none), 1)
    assert (stand_off.outcome, stand_off.cycles, left(stand_off)[1]) == ("stand_off", 0, {"infantry": 1})


# --------------------------------------------------------------------------------------------------
# 5.6 and 5.7: retreats
# --------------------------------------------------------------------------------------------------


@rule("GC-5.6")
@pytest.mark.parametrize(
    ("landed", "retreat", "gone", "outcome"),
    [
        ("1 infantry", {"after_cycles": 1}, 3, "unfinished"),
        ("2 infantry, 1 tank", {"after_cycles": 1}, 1, "unfinished"),
        ("", {"after_cycles": 1}, 0, "attacker_retreats"),
        ("1 infantry", {"after_cycles": 1, "possible": False}, 0, "unfinished"),
        ("2 infantry, 1 tank", {"after_cycles": 1, "possible": False}, 1, "unfinished"),
        ("1 infantry", {"when_units_at_most": 4}, 3, "unfinished"),
        ("1 infantry", {"when_units_at_most": 3}, 0, "unfinished"),
        ("1 infantry", {"when_only_aircraft": True}, 0, "unfinished"),
    ],
)
def test_who_leaves_a_landing(landed: str, retreat: dict[str, Any], gone: int, outcome: str) -> None:
    data = ashore(MIXED, "1 infantry", landed=landed, retreat=retreat, scenario_cycle_limit=1)
    replay = told(data, 0, 0, 0, 0)
    assert (sum(replay.conclusion["retreated"].values()), replay.outcome) == (gone, outcome)
    assert left(replay)[0] == ref.parse_units(MIXED)


@rule("GC-5.6")
@rule("GC-4.6.11")
def test_the_landed_fight_on_alone() -> None:
    data = ashore(MIXED, "2 infantry", landed="1 infantry", retreat={"after_cycles": 1})
    replay = told(data, 0, 0, 0, 0, 0, 0, 0, 1)
    assert [dice for *_, dice in thrown(replay)] == [2, 1, 1, 2, 1, 2, 1, 2]
    assert (replay.outcome, left(replay)) == (
        "defender_wins",
        ({"infantry": 1, "tank": 1, "fighter": 1}, {"infantry": 2}),
    )
    assert (
        "Left of the attacker: 1 infantry, 1 tank, 1 fighter (1 infantry, 1 tank, 1 fighter withdrawn)" in replay.lines
    )
    result = simcore.odds(**odds_of(data), method="simulate", battles=500).to_dict()
    assert 0 < result["mean_retreated"] <= 3


@rule("GC-5.6")
@pytest.mark.parametrize(
    ("script", "outcome"),
    [((1, 0), "attacker_wins"), ((1, 1), "attacker_retreats"), ((0, 1), "defender_wins")],
)
def test_outcomes_after_a_part_has_left(script: tuple[int, int], outcome: str) -> None:
    data = ashore(MIXED, "1 infantry", landed="1 infantry", retreat={"after_cycles": 1})
    replay = told(data, 0, 0, 0, 0, *script)
    assert (replay.outcome, replay.cycles) == (outcome, 2)
    assert replay.captured["territory"] == (outcome == "attacker_wins")


@rule("GC-5.6")
def test_a_stand_off_of_those_who_stay() -> None:
    none = {"infantry.attack": 0, "infantry.defence": 0}
    data = ashore("1 infantry, 1 fighter", "1 infantry", landed="all", retreat={"after_cycles": 1})
    replay = told(data | {"edition_changes": none}, 0)
    assert (replay.outcome, replay.cycles, left(replay)) == (
        "stand_off",
        1,
        ({"infantry": 1, "fighter": 1}, {"infantry": 1}),
    )


@rule("GC-5.6")
@rule("GC-8.21")
def test_a_won_landing_cannot_end_in_a_retreat() -> None:
    data = ashore(MIXED, "1 infantry", landed="1 infantry", retreat={"after_cycles": 1})
    replay = told(data, 1, 0, 0, 0)
    assert (replay.outcome, replay.conclusion["retreated"]) == ("attacker_wins", {})


@rule("GC-5.6")
@pytest.mark.parametrize(
    ("landed", "keep", "hits", "gone"),
    [
        # The infantry that is lost is the landed one; what came over land may leave.
        ("1 infantry", 0, 1, {"infantry": 1, "tank": 1}),
        ("2 infantry", 0, 1, {"tank": 1}),
        ("1 tank", 0, 1, {"infantry": 1}),
        ("1 infantry", 3, 2, {"tank": 1}),
    ],
)
def test_the_landed_of_a_type_are_lost_first(landed: str, keep: int, hits: int, gone: dict[str, int]) -> None:
    data = ashore("2 infantry, 1 tank", "3 tank", landed=landed, keep_land=keep, retreat={"after_cycles": 1})
    replay = told(data | {"cycle_limit": 1}, 0, 0, hits)
    if replay.outcome == "attacker_retreats":
        assert left(replay)[0] == gone
    else:
        assert replay.conclusion["retreated"] == gone


@rule("GC-4.6.7")
@pytest.mark.parametrize("where", ["defender", "sea"])
def test_a_defender_never_retreats(where: str) -> None:
    data = assault_of("1 cruiser", "1 cruiser", "1 tank", "1 infantry", [])
    table = data["defender"] if where == "defender" else data["sea"]["defender"]
    table["retreat"] = {"after_cycles": 1}
    with pytest.raises(ScenarioError, match=r"defender\.retreat"):
        load_scenario(data)
    # Nor does he leave by himself: only the attacker is ever withdrawn.
    scenarios = [ashore(MIXED, MIXED, landed=landed, retreat={"after_cycles": 1}) for landed in ("", "1 tank", "all")]
    for battles in fought_all(scenarios, 100):
        ended = battles.outcome == "attacker_retreats"
        assert (battles.left("attacker")[ended] > 0).all()


@rule("GC-5.7")
@rule("GC-5.6")
@pytest.mark.parametrize("retreat", [{"after_cycles": 1}, {"when_units_at_most": 9}])
def test_those_sent_along_fight_one_cycle_at_least(retreat: dict[str, Any]) -> None:
    data = assault_of(
        "1 cruiser, 1 transport", "1 cruiser", "1 infantry, 1 tank, 1 fighter", "2 infantry", ["1 infantry"]
    )
    data["attacker"]["retreat"] = retreat
    data["sea"]["attacker"]["retreat"] = {"after_cycles": 1}
    replay = told(data, 0, 0, 0, 0, 0)
    assert (replay.outcome, replay.cycles) == ("attacker_retreats", 2)
    assert left(replay)[0] == {"infantry": 1, "tank": 1, "fighter": 1, "transport": 1, "cruiser": 1}
    assert steps(replay)[2:] == [("attack", "attacker"), ("attack", "attacker"), ("defence", "defender")]


@rule("GC-4.6.9")
@rule("GC-8.14")
def test_spaces_taken_this_turn() -> None:
    # Neither the fleet nor the force on land has a space; for the latter one that was taken this turn will do.
    data = assault_of("1 cruiser, 1 transport", "1 battleship", "1 tank", "1 infantry", [])
    data["sea"]["attacker"]["retreat"] = {"after_cycles": 1, "possible": False}
    data["attacker"]["retreat"] = {"after_cycles": 1, "possible": True}
    replay = told(data, 0, 0, 0, 1, 1, 0, 0)
    assert replay.sea == {"outcome": "defender_wins", "cycles": 3, "landed": {}}
    assert (replay.outcome, left(replay)[0]) == ("attacker_retreats", {"tank": 1})


@rule("GC-4.2.3")
@rule("GC-8.22")
def test_submerged_submarines_stay_when_the_fleet_leaves() -> None:
    data = assault_of("2 submarine, 1 cruiser, 1 transport", "1 battleship", "1 tank", "1 infantry", ["1 tank"])
    data["sea"]["attacker"] |= {"submerge": "always", "retreat": {"after_cycles": 1}}
    replay = told(data, 0, 0)
    assert replay.sea is not None
    assert replay.sea["outcome"] == "attacker_retreats"
    assert replay.conclusion["attacker"]["submerged"] == 2
    assert "Left of the attacker: 1 tank, 2 submarines, 1 transport, 1 cruiser (2 submarines submerged)" in replay.lines


# --------------------------------------------------------------------------------------------------
# 4.7 Conclusion
# --------------------------------------------------------------------------------------------------

FRIENDLY = {"original_owner": "friend"}


@rule("GC-4.7.3")
@rule("GC-4.7.4")
@rule("GC-4.7.5")
@rule("GC-4.7.6")
@pytest.mark.parametrize("terrain", ["land", "amphibious"])
@pytest.mark.parametrize(
    ("territory", "holder", "treasury", "line"),
    [
        ({}, "attacker", 0, "National production: attacker +3, defender -3 (4.7.3)"),
        ({"treasury": 20}, "attacker", 0, ""),
        (
            {"treasury": 20, "capital": True},
            "attacker",
            20,
            "The treasury of defender goes to the attacker: 20 (4.7.6)",
        ),
        ({"treasury": 20, "capital": True, "owner": "Japan"}, "attacker", 20, "The treasury of Japan goes"),
        ({"capital": True}, "attacker", 0, ""),
        ({"original_owner": "attacker"}, "attacker", 0, "The attacker has his own territory back (4.7.1)"),
        (
            {"treasury": 20, "capital": True, "original_owner": "attacker"},
            "attacker",
            0,
            "Liberating a capital brings no money (4.7.6)",
        ),
        (FRIENDLY, "friend", 0, "Liberated: the territory goes back to the friend it belonged to (4.7.5)"),
        (FRIENDLY | {"treasury": 9}, "friend", 0, "National production: friend +3, defender -3 (4.7.3)"),
        (
            FRIENDLY | {"original_capital_held_by": "enemy"},
            "attacker",
            0,
            "The attacker keeps the territory until its first owner's capital is free (4.7.5)",
        ),
        (
            FRIENDLY | {"original_capital_held_by": "enemy", "capital": True, "treasury": 20},
            "friend",
            0,
            "Liberating a capital brings no money (4.7.6)",
        ),
        (FRIENDLY | {"capital": True}, "friend", 0, "Captured for the friend: 1 AA gun, 1 industrial complex (4.7.4)"),
    ],
)
def test_what_a_capture_brings(terrain: str, territory: dict[str, Any], holder: str, treasury: int, line: str) -> None:
    data = ashore("1 tank", "1 infantry, 1 aa_gun, 1 industrial_complex", scenario_territory={"value": 3} | territory)
    data["terrain"] = terrain
    won = told(data, 1, 0)
    assert won.captured == {"territory": True, "value": 3, "guns": 1, "complexes": 1}
    assert (won.conclusion["holder"], won.conclusion["treasury"]) == (holder, treasury)
    assert line in won.to_text()
    assert ("(4.7.6)" in won.to_text()) == ("4.7.6" in line or (treasury > 0))
    lost = told(data, 1, 1)
    assert lost.captured == {"territory": False, "value": 0, "guns": 0, "complexes": 0}
    assert (lost.conclusion["holder"], lost.conclusion["treasury"]) == ("defender", 0)
    assert not any(clause in lost.to_text() for clause in ("4.7.3", "4.7.4", "4.7.5", "4.7.6"))
    result = simcore.odds(**odds_of(data), method="simulate", battles=2_000).to_dict()
    share = result["outcomes"]["attacker_wins"]
    assert result["captured"] == {
        "share": share,
        "mean_value": pytest.approx(3 * share),
        "mean_guns": pytest.approx(share),
        "mean_complexes": pytest.approx(share),
        "mean_treasury": pytest.approx(treasury * share),
    }


@rule("GC-4.7.1")
@rule("GC-4.7.6")
def test_an_assault_takes_a_capital() -> None:
    capital = {"value": 10, "capital": True, "treasury": 30, "owner": "Japan"}
    data = assault_of(
        "1 cruiser, 1 transport", "1 transport", "1 tank", "1 infantry", ["1 tank"], scenario_territory=capital
    )
    won = told(data, 1, 0)
    assert (won.captured["value"], won.conclusion["holder"], won.conclusion["treasury"]) == (10, "attacker", 30)
    by_air = assault_of("", "", "2 fighter", "1 infantry", [], scenario_territory=capital)
    by_air["sea"]["attacker"] = {"units": "1 cruiser"}
    cleared = told(by_air, 2, 0)
    assert (cleared.outcome, cleared.conclusion["holder"], cleared.conclusion["treasury"]) == (
        "attacker_clears",
        "defender",
        0,
    )
    result = simcore.odds(**odds_of(data), method="simulate", battles=500).to_dict()
    assert result["captured"]["mean_treasury"] == pytest.approx(30 * result["captured"]["share"])


@rule("GC-4.7.7")
def test_damaged_ships_are_told_and_counted() -> None:
    data = at_sea("2 battleship", "1 cruiser", attacker_damaged="1 battleship")
    replay = told(data, 1, 1)
    assert replay.conclusion["attacker"]["damaged"] == {"battleship": 2}
    assert "Undamaged again now that the battle is over: attacker's 2 battleships (4.7.7)" in replay.lines
    result = simcore.odds(**odds_of(data), method="simulate", battles=300).to_dict()
    assert 1 <= result["attacker"]["mean_damaged"]["battleship"] <= 2
    assert "mean_damaged" not in result["defender"]
    assert result["attacker"]["mean_cost_lost"] < 3


@rule("GC-4.7.8")
@pytest.mark.parametrize(
    ("carriers", "aircraft", "homeless"),
    [("1 carrier", "2 fighter", 2), ("1 carrier", "4 fighter", 2), ("2 carrier", "3 fighter", 1), ("", "2 fighter", 0)],
)
@pytest.mark.parametrize("side", ["attacker", "defender"])
def test_aircraft_that_lost_their_carrier(side: str, carriers: str, aircraft: str, homeless: int) -> None:
    # One hit sinks one carrier where there is one, else a fighter.
    units = ", ".join(part for part in (carriers, aircraft) if part)
    armies = (units, "1 cruiser") if side == "attacker" else ("1 cruiser", units)
    data = at_sea(*armies)
    data[side]["loss_order"] = ["carrier"]
    fought_out = copy.deepcopy(data)
    data["attacker"]["retreat"] = {"after_cycles": 1}
    dice = (0,) * (1 + bool(carriers))
    replay = told(data, *((*dice, 1) if side == "attacker" else (1, *dice)))
    assert replay.conclusion[side]["no_landing"] == homeless
    other = "defender" if side == "attacker" else "attacker"
    assert replay.conclusion[other]["no_landing"] == 0
    # They are survivors, whatever becomes of them.
    assert sum(left(replay)[ref.SIDES.index(side)].get(unit, 0) for unit in ref.AIRCRAFT) == sum(
        ref.parse_units(aircraft).values()
    ) - (not carriers)
    where = "noncombat movement (4.7.8)" if side == "attacker" else "else they are lost (4.7.8)"
    assert (where in replay.to_text()) == bool(homeless)
    result = simcore.odds(**odds_of(fought_out), method="simulate", battles=400).to_dict()
    assert bool(result[side].get("mean_without_landing_place")) == bool(carriers)


@rule("GC-4.7.8")
@rule("GC-2.3:bb_repair")
@pytest.mark.parametrize("repair", ["battle_end", "purchase_at_naval_base"])
@pytest.mark.parametrize("edition", EDITIONS)
def test_aircraft_without_a_place_to_land_in_a_tally(edition: str, repair: str) -> None:
    changes = {**TWO_HIT_CARRIERS, **COIN, "submarine.attack": 2, "fighter.defence": 0, "carrier.defence": 0}
    data = at_sea("1 submarine", "1 carrier, 2 fighter", edition, cycle_limit=1, edition_changes=changes)
    data["switches"] = {"bb_repair": repair}
    tally = fought(data, 20).tally
    assert tally["no_landing.defender"] == (40 if repair == "purchase_at_naval_base" else 0)
    assert tally["damaged.defender.carrier"] == 20


# --------------------------------------------------------------------------------------------------
# 7 Technologies
# --------------------------------------------------------------------------------------------------


@rule("GC-7")
@rule("GC-5.4")
@pytest.mark.parametrize("edition", ["aa50", "revised", "global40_2nd"])
def test_combined_bombardment(edition: str) -> None:
    ships = "2 destroyer, 1 battleship"
    data = ashore("2 infantry", "4 infantry", edition, landed="all", bombard=ships)
    with pytest.raises(ScenarioError, match=r"attacker\.bombard: destroyer cannot bombard"):
        load_scenario(data)
    data["attacker"]["technologies"] = ["combined_bombardment"]
    count = 2 if edition == "revised" else 1
    assert bombards(simcore.replay(data)) == [
        (f"{count} destroyer{'s' * (count > 1)}", count, [3, 6]),
        ("1 battleship", 1, [4, 6]),
    ]
    theirs = ashore("2 infantry", "4 infantry", edition, landed="all", bombard=ships)
    theirs["defender"]["technologies"] = ["combined_bombardment"]
    with pytest.raises(ScenarioError, match=r"attacker\.bombard"):
        load_scenario(theirs)


# --------------------------------------------------------------------------------------------------
# Scripts
# --------------------------------------------------------------------------------------------------

SHELLED = ashore("1 infantry, 1 fighter", "2 infantry, 1 aa_gun", **OFF_SHORE)
CONVOY = assault_of("1 cruiser, 1 transport", "1 cruiser", "1 tank", "1 infantry", ["1 tank"])


@rule("GC-5.1")
@pytest.mark.parametrize(
    ("data", "script", "message"),
    [
        (SHELLED, [0], r"ends after 1 draw points, but draw point 2 \(cycle 1, attacker: 1 battleship"),
        (SHELLED, [0, 1], r"ends after 2 .*draw point 3 \(cycle 1, attacker: 1 infantry"),
        (SHELLED | {"low_luck": "combat"}, [0], r"draw point 2 \(cycle 1, attacker: low luck, 1 die"),
        (SHELLED, [0, 2], r"draw point 2 .*1 battleship.*cannot give 2 hits; allowed: 0 to 1"),
        (CONVOY, [1], r"ends after 1 draw points, but draw point 2 \(cycle 1, defender: 1 cruiser"),
        (CONVOY, [1, 0], r"ends after 2 draw points, but draw point 3 \(cycle 1, attacker: 1 tank"),
        (CONVOY, [1, 0, 1], r"ends after 3 draw points, but draw point 4 \(cycle 1, defender: 1 infantry"),
        (CONVOY, [1, 3], r"draw point 2 .*cannot give 3 hits; allowed: 0 to 1"),
        (CONVOY, [1, 0, 1, 2], r"draw point 4 .*cannot give 2 hits; allowed: 0 to 1"),
        (CONVOY, [1, 0, 1, 0, 0], r"the battle ends after 4 draw points, but the script has 5"),
        # The fleet retreats, and nobody fights on land.
        (CONVOY, [0, 1, 0], r"the battle ends after 2 draw points, but the script has 3"),
    ],
)
def test_scripts_that_do_not_fit(data: dict[str, Any], script: list[int], message: str) -> None:
    with pytest.raises(ScenarioError, match=f"script: .*{message}"):
        told(data, *script)


# --------------------------------------------------------------------------------------------------
# What holds in every landing and every assault
# --------------------------------------------------------------------------------------------------


def begun(data: Mapping[str, Any]) -> list[dict[str, int]]:
    """Return the units of both sides that can be lost, both battles together."""
    scenario = load_scenario(data)
    return [scenario.casualties(side) for side in (0, 1)]


def price_list(data: Mapping[str, Any]) -> dict[str, int]:
    """Return the cost of every unit of the scenario's edition."""
    scenario: Any = load_scenario(data)
    return {unit: row.cost for unit, row in scenario.rules.units.items()}


def assert_conserved(data: Mapping[str, Any], battles: Any, cargo_cost: int = 0) -> None:
    """Check battle by battle that nobody appears from nowhere and that whoever is gone was paid for.

    `cargo_cost` is what the defender's transports carry: it is lost with them and in no list of units.
    """
    costs = price_list(data)
    for side, start in enumerate(begun(data)):
        counts = np.array([start.get(unit, 0) for unit in ref.UNITS])
        gone = counts - battles.survivors[:, side]
        assert (gone >= 0).all(), data
        paid = gone @ np.array([costs.get(unit, 0) for unit in ref.UNITS])
        excess = battles.cost_lost[:, side] - paid
        most = cargo_cost if side == ref.DEFENDER else 0
        assert (excess >= 0).all(), data
        assert (excess <= most).all(), data


@rule("GC-5.2")
@rule("GC-5.6")
@settings(max_examples=10, phases=no_shrinking)
@given(scenarios=st.lists(amphibious_scenarios(), min_size=10, max_size=20))
def test_units_are_conserved_in_landings(scenarios: list[dict[str, Any]]) -> None:
    for data, battles in zip(scenarios, fought_all(scenarios, 30), strict=True):
        assert_conserved(data, battles)


@rule("GC-5.2")
@settings(max_examples=10, phases=no_shrinking)
@given(scenarios=st.lists(assault_scenarios(), min_size=10, max_size=20))
def test_units_are_conserved_in_assaults(scenarios: list[dict[str, Any]]) -> None:
    for data, battles in zip(scenarios, fought_all(scenarios, 30), strict=True):
        loads = data["sea"]["defender"].get("cargo", [])
        costs = price_list(data)
        cargo = sum(costs[unit] * n for load in loads for unit, n in ref.parse_units(load).items())
        assert_conserved(data, battles, cargo)


SINGULAR = {
    "aa gun": "aa_gun",
    "mechanised infantry": "mech_infantry",
    "tactical bomber": "tactical_bomber",
    "industrial complex": "industrial_complex",
}


def named(text: str) -> tuple[str, int]:
    """Return unit and number of what a story calls "2 AA guns"."""
    number, name = text.split(" ", 1)
    name = name.lower()
    name = name if name in ref.UNITS or name in SINGULAR else name.removesuffix("s")
    return SINGULAR.get(name, name), int(number)


def losses_told(replay: Any) -> list[dict[str, int]]:
    """Add up what the story says is lost, by side and unit."""
    lost: list[dict[str, int]] = [{}, {}]

    def add(side: int, text: str) -> None:
        unit, number = named(text)
        lost[side][unit] = lost[side].get(unit, 0) + number

    for line in replay.lines:
        words = line.strip()
        for side, name in enumerate(ref.SIDES):
            if words.startswith(f"{name} loses "):
                add(side, words.removeprefix(f"{name} loses ").split(", ")[0].split(" without dice")[0])
        if " without company: destroyed" in words:
            add(ref.DEFENDER, words.split(" without company")[0])
        if words.startswith("Lost with their transports: "):
            for part in words.removeprefix("Lost with their transports: ").removesuffix(" (3.5)").split(", "):
                add(ref.ATTACKER, part)
    return lost


@rule("GC-5.1")
@settings(max_examples=120)
@given(scenario=amphibious_scenarios() | assault_scenarios(), battle=st.integers(0, 2**40))
def test_the_losses_told_and_the_survivors_are_all_who_came(scenario: dict[str, Any], battle: int) -> None:
    replay = simcore.replay(scenario, battle=battle)
    told_lost = losses_told(replay)
    for side, start in enumerate(begun(scenario)):
        name = ref.SIDES[side]
        assert replay.lost[name] == told_lost[side]
        for unit, count in start.items():
            assert count == replay.survivors[name].get(unit, 0) + told_lost[side].get(unit, 0), (unit, replay.to_text())
        assert set(replay.survivors[name]) <= set(start)


@rule("GC-4.6.1")
@settings(max_examples=60)
@given(scenario=assault_scenarios(), battle=st.integers(0, 2**40))
def test_cycles_are_numbered_and_counted(scenario: dict[str, Any], battle: int) -> None:
    replay = simcore.replay(scenario, battle=battle)
    assert replay.sea is not None
    assert replay.cycles >= replay.sea["cycles"]
    limit = scenario.get("cycle_limit", 0)
    if limit:
        assert replay.sea["cycles"] <= limit
        assert replay.cycles - replay.sea["cycles"] <= limit
    # On land the cycles begin anew.
    numbers = [draw["cycle"] for draw in replay.draws]
    assert sum(later < earlier for earlier, later in pairwise(numbers)) <= 1


# --------------------------------------------------------------------------------------------------
# No battle goes on for ever
# --------------------------------------------------------------------------------------------------

UNITS = ("infantry", "artillery", "tank", "fighter", "bomber", "submarine", "destroyer", "carrier", "battleship")
POWERLESS = {f"{unit}.{field}": 0 for unit in UNITS for field in ("attack", "defence")} | {
    "infantry.supported_attack": 0
}


@rule("GC-4.6.4")
@rule("GC-5.1")
@pytest.mark.parametrize("low_luck", ["none", "both"])
@pytest.mark.parametrize("edition", EDITIONS)
def test_powerless_sides_end_at_once(edition: str, low_luck: str) -> None:
    frame = {"edition_changes": POWERLESS, "low_luck": low_luck}
    everybody = "2 infantry, 1 artillery, 1 tank, 1 fighter, 1 bomber"
    fleet = "1 submarine, 1 destroyer, 1 carrier, 1 battleship, 1 fighter"
    landing = ashore(everybody, everybody, edition, landed="1 tank", retreat={"after_cycles": 1}) | frame
    assault = assault_of(fleet + ", 1 transport", fleet, everybody, everybody, ["1 tank"], edition) | frame
    for data in (
        landing,
        landing | {"terrain": "land", "attacker": {"units": everybody}},
        at_sea(fleet, fleet, edition) | frame,
    ):
        battles = fought(data, 20)
        assert (battles.outcomes(), distinct(battles.cycles)) == ({"stand_off"}, {0})
    battles = fought(assault, 20)
    assert battles.tally["sea.outcome.stand_off"] == 20
    assert (battles.outcomes(), distinct(battles.cycles)) == ({"stand_off"}, {0})
    assert distinct(battles.cost_lost) == {0}
    # Ships off the shore fire once, and then nobody can.
    shelled = landing | {"attacker": landing["attacker"] | {"bombard": "1 battleship"}}
    battles = fought(shelled, 200)
    assert (battles.outcomes(), distinct(battles.cycles)) == ({"stand_off"}, {0})
    assert distinct(10 - battles.left("defender")) - {4, 5} == set()


@rule("GC-4.6.4")
@rule("GC-5.6")
@pytest.mark.parametrize(
    ("changes", "landed", "outcomes"),
    [
        # Only the aircraft can hit, and they leave after the first cycle.
        ({"infantry.attack": 0}, "all", {"attacker_wins", "defender_wins", "attacker_retreats"}),
        ({"infantry.attack": 0, "infantry.defence": 0}, "all", {"attacker_wins", "stand_off"}),
        # Nobody is hit, nobody is landed: all leave.
        ({"infantry.attack": 0, "fighter.attack": 0}, "", {"attacker_retreats", "defender_wins"}),
        # Only support lets the infantry fire, and the artillery is lost first.
        (
            {"infantry.attack": 0, "artillery.attack": 0},
            "1 infantry",
            {"attacker_wins", "defender_wins", "both_destroyed"},
        ),
    ],
)
@pytest.mark.parametrize("low_luck", ["none", "combat"])
def test_landings_in_which_hardly_anybody_can_fire(
    changes: dict[str, int], landed: str, outcomes: set[str], low_luck: str
) -> None:
    supported = "artillery.attack" in changes
    units = "2 infantry, 1 artillery" if supported else "2 infantry, 1 fighter"
    data = ashore(units, "2 infantry", landed=landed, scenario_edition_changes=changes, scenario_low_luck=low_luck)
    if supported:
        data["attacker"]["loss_order"] = ["artillery", "infantry"]
    else:
        data["attacker"]["retreat"] = {"after_cycles": 1}
    battles = fought(data, 300)
    assert battles.outcomes() <= outcomes
    assert battles.cycles.max() < 200


@rule("GC-4.6.3")
@pytest.mark.parametrize("terrain", ["land", "sea", "amphibious"])
@pytest.mark.parametrize(
    ("helper", "outcomes"), [("fighter", {"attacker_clears", "attacker_wins"}), ("bomber", {"stand_off"})]
)
def test_support_alone_lets_a_unit_fire(terrain: str, helper: str, outcomes: set[str]) -> None:
    target = "destroyer" if terrain == "sea" else "infantry"
    values = ("tactical_bomber.attack", "fighter.attack", "bomber.attack", f"{target}.defence")
    data = ashore(f"1 tactical_bomber, 1 {helper}", f"2 {target}", "global40_2nd")
    data |= {"terrain": terrain, "edition_changes": dict.fromkeys(values, 0)}
    battles = fought(data, 50)
    assert battles.outcomes() <= outcomes
    assert (battles.cycles.max() > 0) == (helper == "fighter")


NEAR = st.sampled_from((0, 0, 0, 1, 2, 20))


@st.composite
def almost_powerless(draw: st.DrawFn) -> dict[str, Any]:
    """Scenarios of all kinds in which most units have no value, with dice of few or many faces."""
    scenario: dict[str, Any] = draw(amphibious_scenarios() | assault_scenarios() | sea_scenarios())
    scenario.pop("cycle_limit", None)
    units = [*UNITS, "transport"]
    supported = ["infantry"]
    if scenario["edition"] == "global40_2nd":
        units += ["mech_infantry", "tactical_bomber"]
        supported += ["mech_infantry", "tactical_bomber"]
    changes: dict[str, Any] = {"dice_sides": draw(st.sampled_from((2, 6, 20)))}
    for unit in units:
        changes |= {f"{unit}.{field}": draw(NEAR) for field in ("attack", "defence")}
    changes |= {f"{unit}.supported_attack": draw(NEAR) for unit in supported}
    return scenario | {"edition_changes": changes}


@rule("GC-4.6.2")
@settings(max_examples=12, phases=no_shrinking)
@given(data=st.data())
def test_battles_of_almost_powerless_sides_end(data: st.DataObject) -> None:
    kinds: dict[bool, list[dict[str, Any]]] = {False: [], True: []}
    for _ in range(data.draw(st.integers(6, 14))):
        scenario = data.draw(almost_powerless())
        kinds["sea" in scenario].append(scenario)
    for scenarios in kinds.values():
        for battles in fought_all(scenarios, 20) if scenarios else []:
            # Each loss takes about the faces of a die divided by a value of one, at most some hundred times over.
            assert battles.cycles.max() < 20_000
            assert "unfinished" not in battles.outcomes()
