"""One test or more for every clause about bombing raids, by its id in RULES.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import simcore
from simcore.errors import ScenarioError
from simcore.scenario import load_scenario
from tests.rulesets.general_combat import reference as ref
from tests.rulesets.general_combat.support import EDITIONS, no_shrinking
from tests.rulesets.general_combat.test_clauses import COIN, assert_share, distinct
from tests.rulesets.general_combat.test_clauses_assault import begun, losses_told, odds_of, price_list, steps
from tests.rulesets.general_combat.test_clauses_sea import left, thrown, told
from tests.rulesets.general_combat.test_reference_assault import raid_of
from tests.strategies import raid_scenarios

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

rule = pytest.mark.rule

BATTLES = 20_000
NO_CAP = {"cap": "none"}


def flown(scenarios: Sequence[Mapping[str, Any]], battles: int = 400, **options: Any) -> Any:
    """Fly the raids of several scenarios and keep each."""
    return simcore.simulate(simcore.encode(scenarios), battles=battles, keep_battles=True, **options)


def damage_of(data: Mapping[str, Any], battles: int = 400) -> Any:
    """Return the damage of each raid of one scenario."""
    return flown([data], battles).damage[0]


def aircraft_left(data: Mapping[str, Any], side: str = "attacker", battles: int = 400) -> Any:
    """Return the aircraft left of a side in each raid of one scenario."""
    return flown([data], battles).survivors[0][:, ref.SIDES.index(side)].sum(axis=1)


# --------------------------------------------------------------------------------------------------
# 2.3 Switches
# --------------------------------------------------------------------------------------------------


@rule("GC-2.3:sbr_target")
@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("target", ["complex", "income", None])
def test_what_is_bombed(edition: str, target: str | None) -> None:
    data = raid_of("1 bomber", "1 aa_gun", edition, territory={"value": 9}, raid={"cap": 18})
    plain = damage_of(data)
    if target:
        data["switches"] = {"sbr_target": target}
    assert np.array_equal(damage_of(data), plain)
    income = target == "income" or (target is None and edition == "revised")
    lines = told(data, 0, 0, 1).lines
    bonus = 2 if edition == "global40_2nd" else 0
    assert ("Each bomber adds 2: 2 (2.3 sbr_bonus)" in lines) == bool(bonus)
    if income:
        assert f"Lost income of defender: {5 + bonus}; at most 18 in all (6.2)" in lines
    else:
        assert f"Damage: {5 + bonus}; at most 18 in all (6.2)" in lines


@rule("GC-2.3:sbr_cap")
@rule("GC-6.2")
@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("cap", ["twice_territory", "territory", "facility", None])
def test_caps_by_the_switch(edition: str, cap: str | None) -> None:
    data = raid_of("8 bomber", "1 aa_gun", edition, territory={"value": 5})
    if cap:
        data["switches"] = {"sbr_cap": cap}
    own = {"revised": "territory", "global40_2nd": "facility"}.get(edition, "twice_territory")
    most = {"twice_territory": 10, "territory": 5, "facility": 6}[cap or own]
    assert damage_of(data).max() == most


@rule("GC-2.3:sbr_cap")
@pytest.mark.parametrize(
    ("target", "most"), [(None, 6), ("minor_complex", 6), ("major_complex", 20), ("air_base", 6), ("naval_base", 6)]
)
@pytest.mark.parametrize("edition", ["spring1942", "global40_2nd"])
def test_caps_of_facilities(edition: str, target: str | None, most: int) -> None:
    data = raid_of("9 bomber", "", edition, switches={"sbr_cap": "facility", "sbr_aa": "gun"})
    if target:
        data["raid"] = {"target": target}
    assert damage_of(data).max() == most


@rule("GC-2.3:sbr_aa")
@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("fires", ["gun", "built_in", None])
@pytest.mark.parametrize("guns", ["", "1 aa_gun", "3 aa_gun, 1 industrial_complex", "1 industrial_complex"])
def test_who_fires_at_bombers(edition: str, fires: str | None, guns: str) -> None:
    data = raid_of("4 bomber", guns, edition, raid=NO_CAP)
    if fires:
        data["switches"] = {"sbr_aa": fires}
    built_in = fires == "built_in" or (fires is None and edition in {"1942_2nd", "global40_2nd"})
    at_bombers = [dice for _, step, _, dice in thrown(simcore.replay(data)) if step == "aa_fire"]
    assert at_bombers == ([4] if built_in or "aa_gun" in guns else [])


@rule("GC-2.3:sbr_aa")
@rule("GC-6.1")
@pytest.mark.parametrize("guns", ["", "1 aa_gun", "3 aa_gun"])
@pytest.mark.parametrize("room", [0, 30])
def test_the_complex_fires_whatever_stands_beside_it(guns: str, room: int) -> None:
    data = raid_of("2 bomber", guns, "1942_2nd", raid={"cap": 30, "damaged": 30 - room})
    result = simcore.odds(**odds_of(data), method="simulate", battles=BATTLES).to_dict()
    lost = round(BATTLES * (2 - result["attacker"]["mean_survivors"]["bomber"]))
    assert_share(lost, 2 * BATTLES, 1 / 6)
    assert result["damage"]["mean"] == pytest.approx(35 / 6 if room else 0, abs=0.12)


@rule("GC-2.3:sbr_bonus")
@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("bonus", [0, 2, 5, None])
def test_each_bomber_adds_the_bonus(edition: str, bonus: int | None) -> None:
    data = raid_of("3 bomber", "1 aa_gun", edition, raid=NO_CAP)
    if bonus is not None:
        data["switches"] = {"sbr_bonus": bonus}
    each = bonus if bonus is not None else 2 if edition == "global40_2nd" else 0
    # One bomber is shot down, the others throw a six and a one.
    replay = told(data, 1, 1, 0, 0, 0, 0)
    assert replay.damage == 7 + 2 * each
    assert distinct(damage_of(data, 50)) <= set(range(3 * (6 + each) + 1))


@rule("GC-2.3:sbr_bonus")
def test_tactical_bombers_add_nothing() -> None:
    data = raid_of("2 tactical_bomber, 1 bomber", "", "global40_2nd", raid=NO_CAP | {"target": "air_base"})
    assert told(data, 0, 0, 3).damage == 18 + 2
    data["attacker"]["units"] = "2 tactical_bomber"
    assert told(data, 0, 2).damage == 12


@rule("GC-2.3:sbr_air_battle")
@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("switch", ["none", "optional", "one_cycle", None])
@pytest.mark.parametrize("wish", [True, False, None])
def test_the_air_battle_by_the_switch(edition: str, switch: str | None, wish: bool | None) -> None:
    data = raid_of("1 bomber, 1 fighter", "1 fighter", edition, raid=dict(NO_CAP))
    if switch:
        data["switches"] = {"sbr_air_battle": switch}
    if wish is not None:
        data["raid"]["air_battle"] = wish
    rules = switch or {"1942_2nd": "optional", "global40_2nd": "one_cycle"}.get(edition, "none")
    fought = wish if wish is not None else rules == "one_cycle"
    if rules == "none" and wish:
        with pytest.raises(ScenarioError, match=r"raid\.air_battle"):
            load_scenario(data)
    elif not fought:
        with pytest.raises(ScenarioError, match=r"attacker\.units: fighter .*raid\.air_battle"):
            load_scenario(data)
    else:
        run = flown([data], 100)
        assert distinct(run.cycles) == {1}
        assert steps(simcore.replay(data))[:3] == [
            ("attack", "attacker"),
            ("attack", "attacker"),
            ("defence", "defender"),
        ]


# --------------------------------------------------------------------------------------------------
# 6.1 The raid
# --------------------------------------------------------------------------------------------------


@rule("GC-3.1")
@rule("GC-6.1")
def test_the_order_of_a_raid() -> None:
    data = raid_of("1 bomber, 1 tactical_bomber, 1 fighter", "2 fighter", "global40_2nd")
    data["raid"] = NO_CAP | {"target": "naval_base"}
    replay = told(data, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1)
    assert [(cycle, step, side, dice) for cycle, step, side, dice in thrown(replay)] == [
        (1, "attack", "attacker", 1),
        (1, "attack", "attacker", 1),
        (1, "attack", "attacker", 1),
        (1, "defence", "defender", 2),
        (0, "aa_fire", "defender", 1),
        (0, "aa_fire", "defender", 1),
        (1, "damage", "attacker", 2),
        (1, "damage", "attacker", 1),
        (1, "damage", "attacker", 1),
        (1, "damage", "attacker", 1),
    ]
    # A six and a three, and the bonus of one bomber.
    assert (replay.outcome, replay.damage, replay.cycles) == ("damage", 6 + 3 + 2, 1)
    text = replay.to_text()
    for heading in ("Air battle (2.3 sbr_air_battle)", "Antiaircraft fire at the bombers (6.1)", "Bombs (6.1)"):
        assert text.count(heading) == 1


@rule("GC-6.1")
def test_both_sides_fire_before_losses_in_the_air_battle() -> None:
    data = raid_of("1 bomber, 1 fighter", "1 fighter", "global40_2nd", raid=NO_CAP)
    replay = told(data, 1, 0, 1, 0, 0, 0, 0, 0, 1)
    assert left(replay) == ({"bomber": 1}, {})
    assert replay.cost_lost == {"attacker": 10, "defender": 10}
    # Escorts shield the bombers unless the order of loss says otherwise, and they are not fired at later.
    bombers_first = data | {"attacker": data["attacker"] | {"loss_order": ["bomber"]}}
    other = told(bombers_first, 0, 0, 1)
    assert (left(other), other.outcome) == (({"fighter": 1}, {"fighter": 1}), "no_damage")
    assert [step for step, _ in steps(other)].count("aa_fire") == 0


@rule("GC-6.1")
@pytest.mark.parametrize("units", ["2 bomber", "2 bomber, 3 fighter"])
@pytest.mark.parametrize("defender", ["", "1 industrial_complex"])
def test_no_air_battle_without_interceptors(units: str, defender: str) -> None:
    run = flown([raid_of(units, defender, "global40_2nd", raid=NO_CAP)])
    assert distinct(run.cycles) == {0}
    fighters = run.survivors[0][:, 0, ref.TYPE["fighter"]]
    assert distinct(fighters) == {ref.parse_units(units).get("fighter", 0)}


@rule("GC-6.1")
@pytest.mark.parametrize("edition", EDITIONS)
def test_everybody_fires_at_one_in_the_air_battle(edition: str) -> None:
    switches = {"sbr_air_battle": "one_cycle", "sbr_aa": "gun", "tech": "optional"}
    data = raid_of("1 bomber", "1 fighter", edition, raid=NO_CAP, switches=switches)
    for side in ref.SIDES:
        data[side]["technologies"] = ["jet_fighters", "heavy_bombers"]
    run = flown([data], BATTLES)
    assert_share(int((run.survivors[0][:, 0].sum(axis=1) == 0).sum()), BATTLES, 1 / 6)
    assert_share(int((run.survivors[0][:, 1].sum(axis=1) == 0).sum()), BATTLES, 1 / 6)


@rule("GC-6.1")
def test_an_edition_with_other_dice() -> None:
    # With coins every die of the guns hits half of the bombers, and damage is one or two a die.
    data = raid_of("2 bomber", "1 aa_gun", raid=NO_CAP, edition_changes=COIN)
    assert distinct(damage_of(data)) == {0, 1, 2, 3, 4}
    data["defender"]["units"] = ""
    assert distinct(damage_of(data)) == {2, 3, 4}


@rule("GC-6.1")
@rule("GC-2.3:aa_fate")
@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("fate", ["captured", "destroyed"])
def test_nothing_on_the_ground_is_lost(edition: str, fate: str) -> None:
    data = raid_of("3 bomber", "2 aa_gun, 1 industrial_complex", edition, raid=NO_CAP, switches={"aa_fate": fate})
    run = flown([data])
    assert distinct(run.cost_lost[0, :, 1]) == {0}
    result = simcore.odds(**odds_of(data), method="simulate", battles=100).to_dict()
    assert (result["defender"]["cost"], result["defender"]["mean_survivors"]) == (0, {})
    assert "captured" not in result


@rule("GC-6.1")
@pytest.mark.parametrize("value", [0, 3])
def test_outcomes_of_a_raid(value: int) -> None:
    data = raid_of("1 bomber", "1 aa_gun", territory={"value": value})
    result = simcore.odds(**odds_of(data), method="simulate", battles=BATTLES)
    assert set(result.outcomes) == {"damage", "no_damage"}
    assert_share(round(BATTLES * result.outcomes["damage"]), BATTLES, 5 / 6 if value else 0)
    told_damage = result.to_dict()["damage"]
    assert sum(told_damage["distribution"].values()) == pytest.approx(1)
    mean = sum(float(amount) * share for amount, share in told_damage["distribution"].items())
    assert mean == pytest.approx(told_damage["mean"])


@rule("GC-6.1")
@pytest.mark.parametrize(
    ("low_luck", "lost"), [("none", {0, 1, 2, 3}), ("aa", {1}), ("both", {1}), ("combat", {0, 1, 2, 3})]
)
def test_low_luck_of_the_fire_at_bombers(low_luck: str, lost: set[int]) -> None:
    data = raid_of("6 bomber", "1 aa_gun", raid=NO_CAP, low_luck=low_luck)
    found = distinct(6 - aircraft_left(data))
    assert found == lost if low_luck in {"aa", "both"} else found >= {0, 1, 2}
    # The dice of the damage are always thrown.
    assert len(distinct(damage_of(data))) > 10


@rule("GC-6.1")
@pytest.mark.parametrize("low_luck", ["combat", "both"])
def test_low_luck_of_the_air_battle(low_luck: str) -> None:
    data = raid_of("4 bomber, 2 fighter", "6 fighter", "global40_2nd", raid=NO_CAP, low_luck=low_luck)
    assert distinct(6 - aircraft_left(data, "defender")) == {1}
    # One escort is lost in the air, and nobody fires at the other.
    assert distinct(flown([data]).survivors[0][:, 0, ref.TYPE["fighter"]]) == {1}


# --------------------------------------------------------------------------------------------------
# 6.2 The cap
# --------------------------------------------------------------------------------------------------


@rule("GC-6.2")
@pytest.mark.parametrize(
    ("edition", "raid", "territory", "damage"),
    [
        ("spring1942", {}, {"value": 2}, 4),
        ("revised", {}, {"value": 2}, 2),
        ("global40_2nd", {}, {}, 6),
        ("global40_2nd", {"target": "major_complex"}, {}, 12),
        ("global40_2nd", {"target": "naval_base", "damaged": 4}, {}, 2),
        ("spring1942", {"cap": 3}, {"value": 2}, 3),
        ("spring1942", {"cap": 3}, {}, 3),
        ("spring1942", {"cap": 0}, {}, 0),
        ("spring1942", {"cap": "none"}, {"value": 2}, 8),
        ("spring1942", {"cap": "none", "damaged": 100}, {}, 8),
        ("spring1942", {"damaged": 3}, {"value": 2}, 1),
        ("spring1942", {"damaged": 4}, {"value": 2}, 0),
        ("spring1942", {"damaged": 99}, {"value": 2}, 0),
        ("spring1942", {}, {"value": 0}, 0),
    ],
)
def test_room_for_damage(edition: str, raid: dict[str, Any], territory: dict[str, Any], damage: int) -> None:
    data = raid_of("2 bomber", "1 aa_gun", edition, raid=raid, territory=territory)
    # Two fours, and the bonus where there is one.
    replay = told(data, 0, 0, 0, 2)
    assert (replay.damage, replay.outcome) == (damage, "damage" if damage else "no_damage")
    capped = raid.get("cap") != "none"
    assert ("in all (6.2)" in replay.lines[-3]) is capped
    assert (f", {raid['damaged']} before" in replay.lines[-3]) if raid.get("damaged") else True


@rule("GC-6.2")
@pytest.mark.parametrize(("value", "mean"), [(None, 35 / 12), (2, 5 / 2), (1, 55 / 36)])
def test_mean_damage_of_one_bomber(value: int | None, mean: float) -> None:
    data = raid_of("1 bomber", "1 aa_gun", raid=NO_CAP)
    if value is not None:
        data |= {"raid": {}, "territory": {"value": value}}
    result = simcore.odds(**odds_of(data), method="simulate", battles=BATTLES).to_dict()
    assert abs(result["damage"]["mean"] - mean) <= 4.5 * result["damage"]["sd"] / BATTLES**0.5


# --------------------------------------------------------------------------------------------------
# 7 Technologies
# --------------------------------------------------------------------------------------------------


@rule("GC-7")
@pytest.mark.parametrize("edition", ["aa50", "revised", "global40_2nd"])
def test_radar_at_raiding_bombers(edition: str) -> None:
    data = raid_of("1 bomber", "1 aa_gun", edition, raid=NO_CAP)
    data["defender"]["technologies"] = ["radar"]
    assert_share(int((aircraft_left(data, battles=6_000) == 0).sum()), 6_000, 1 / 3)
    data["attacker"]["technologies"] = data["defender"].pop("technologies")
    assert_share(int((aircraft_left(data, battles=6_000) == 0).sum()), 6_000, 1 / 6)


@rule("GC-7")
@rule("GC-8.19")
@pytest.mark.parametrize("edition", ["aa50", "revised", "global40_2nd"])
@pytest.mark.parametrize("switch", [None, "both_dice", "best_of_two"])
def test_heavy_bombers_in_a_raid(edition: str, switch: str | None) -> None:
    switches: dict[str, Any] = {"sbr_bonus": 0, "sbr_aa": "gun"}
    if switch:
        switches["heavy_bombers"] = switch
    data = raid_of("1 bomber", "", edition, raid=NO_CAP, switches=switches)
    data["attacker"]["technologies"] = ["heavy_bombers"]
    both = switch == "both_dice" or (switch is None and edition != "global40_2nd")
    damage = damage_of(data, BATTLES)
    faces = [(a, b) for a in range(1, 7) for b in range(1, 7)]
    for amount in range(1, 13):
        share = sum((a + b if both else max(a, b)) == amount for a, b in faces) / 36
        assert_share(int((damage == amount).sum()), BATTLES, share)


@rule("GC-7")
def test_heavy_bombers_beside_tactical_ones() -> None:
    data = raid_of("1 bomber, 2 tactical_bomber", "", "global40_2nd", raid=NO_CAP | {"target": "air_base"})
    data["attacker"]["technologies"] = ["heavy_bombers"]
    # Two ordinary dice show six; the larger of the bomber's two shows five, and the bonus is added once.
    replay = told(data, 0, 0, 2, 0, 1)
    assert [draw["odds"] for draw in replay.draws[2:]] == [[1, 6], [11, 36], [9, 25]]
    assert replay.damage == 12 + 5 + 2


# --------------------------------------------------------------------------------------------------
# What holds in every raid
# --------------------------------------------------------------------------------------------------


@rule("GC-6.1")
@rule("GC-6.2")
@settings(max_examples=10, phases=no_shrinking)
@given(scenarios=st.lists(raid_scenarios(), min_size=10, max_size=20))
def test_aircraft_are_conserved_in_raids(scenarios: list[dict[str, Any]]) -> None:
    run = flown(scenarios, 30)
    for row, data in enumerate(scenarios):
        costs = price_list(data)
        each = np.array([costs.get(unit, 0) for unit in ref.UNITS])
        for side, start in enumerate(begun(data)):
            gone = np.array([start.get(unit, 0) for unit in ref.UNITS]) - run.survivors[row, :, side]
            assert (gone >= 0).all(), data
            assert np.array_equal(gone @ each, run.cost_lost[row, :, side]), data
        scenario: Any = load_scenario(data)
        damage = run.damage[row]
        assert (damage >= 0).all()
        if scenario.raid_cap >= 0:
            assert (damage <= max(0, scenario.raid_cap - scenario.raid.damaged)).all(), data
        assert np.array_equal(run.outcome[row] == 0, damage > 0)
        assert distinct(run.cycles[row]) <= {0, 1}


@rule("GC-6.1")
@settings(max_examples=60)
@given(scenario=raid_scenarios(), battle=st.integers(0, 2**40))
def test_the_losses_told_of_a_raid_and_the_survivors_are_all_who_came(scenario: dict[str, Any], battle: int) -> None:
    replay = simcore.replay(scenario, battle=battle)
    told_lost = losses_told(replay)
    for side, start in enumerate(begun(scenario)):
        name = ref.SIDES[side]
        assert replay.lost[name] == told_lost[side]
        for unit, count in start.items():
            assert count == replay.survivors[name].get(unit, 0) + told_lost[side].get(unit, 0), unit


@rule("GC-6.1")
@settings(max_examples=30)
@given(scenario=raid_scenarios(), battle=st.integers(0, 2**40))
def test_a_told_raid_gives_its_script(scenario: dict[str, Any], battle: int) -> None:
    replay = simcore.replay(scenario, battle=battle)
    script = [draw["hits"] for draw in replay.draws]
    if script:
        again = simcore.replay(scenario, script=script)
        assert (again.damage, again.survivors, again.draws) == (replay.damage, replay.survivors, replay.draws)


@rule("GC-6.1")
@pytest.mark.parametrize("edition", EDITIONS)
def test_a_raid_of_nobody(edition: str) -> None:
    data = raid_of("", "1 aa_gun", edition, raid=NO_CAP)
    replay = simcore.replay(data)
    assert (replay.outcome, replay.damage, replay.cycles, replay.draws) == ("no_damage", 0, 0, [])
    run = flown([data], 20)
    assert distinct(run.damage) == {0}
    # Escorts alone meet interceptors and do no damage.
    alone = raid_of("2 fighter", "2 fighter", edition, raid=NO_CAP, switches={"sbr_air_battle": "one_cycle"})
    assert distinct(damage_of(alone)) == {0}


@rule("GC-6.1")
@pytest.mark.parametrize("sides", [2, 6, 20])
def test_a_raid_has_at_most_one_cycle_whatever_the_values(sides: int) -> None:
    values = {f"{unit}.{field}": 0 for unit in ("fighter", "bomber") for field in ("attack", "defence")}
    data = raid_of("3 bomber, 1 fighter", "2 fighter", "global40_2nd", raid=NO_CAP)
    data["edition_changes"] = values | {"dice_sides": sides}
    run = flown([data], 2_000)
    assert distinct(run.cycles) == {1}
    # Values of the unit table have no part in it.
    assert_share(int((run.survivors[0][:, 1].sum(axis=1) == 2).sum()), 2_000, (1 - 1 / sides) ** 4)
