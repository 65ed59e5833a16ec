"""One test or more for every clause about land battles, by its id in RULES.md."""

from __future__ import annotations

import ast
import re
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import simcore
from simcore.errors import ScenarioError
from tests.rulesets.general_combat import reference as ref
from tests.rulesets.general_combat import reference_exact as exact
from tests.rulesets.general_combat.support import (
    AAA_EDITIONS,
    EDITIONS,
    GUN_EDITIONS,
    Fought,
    cases,
    fought,
    fought_all,
    land,
)
from tests.strategies import land_scenarios

if TYPE_CHECKING:
    from collections.abc import Sequence

rule = pytest.mark.rule

# With two-sided dice a value of 2 or more always hits: infantry defends with certainty, supported
# infantry attacks with certainty, and with radar every die of a gun is a hit.
COIN = {"dice_sides": 2}
SURE_AA: dict[str, Any] = {
    "edition_changes": COIN,
    "switches": {"tech": "optional"},
    "defender_technologies": ["radar"],
}


def sure_aa(attacker: str, defender: str, edition: str, **switches: str) -> dict[str, Any]:
    """Return a battle in which every die of the guns hits."""
    scenario = land(attacker, defender, edition, **SURE_AA)
    scenario["switches"] = {"tech": "optional", **switches}
    return scenario


def assert_lost_from_the_front(battles: Fought, side: str, stack: Sequence[str]) -> None:
    """Check that in every battle the survivors are the end of the stack, whatever was lost."""
    index = ref.SIDES.index(side)
    for counts in np.unique(battles.survivors[:, index], axis=0):
        left = Counter({unit: int(n) for unit, n in zip(ref.UNITS, counts, strict=True) if n})
        assert left == Counter(stack[len(stack) - left.total() :])


def assert_share(hits: int, battles: int, p: float) -> None:
    """Check a share within 4.5 standard errors."""
    assert abs(hits - battles * p) <= 4.5 * (battles * p * (1 - p)) ** 0.5


def distinct(values: Any) -> set[int]:
    """Return the values that occur."""
    return set(np.unique(values).tolist())


# --------------------------------------------------------------------------------------------------
# 2.3 Switches
# --------------------------------------------------------------------------------------------------


@rule("GC-2.3:aa_dice")
@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("dice", ["per_aircraft", "three_per_gun"])
@pytest.mark.parametrize("guns", [0, 1, 2, 3])
def test_number_of_aa_dice(edition: str, dice: str, guns: int) -> None:
    numbers = [1, 2, 3, 4, 5, 6, 7]
    defender = f"1 infantry, {guns} aa_gun" if guns else "1 infantry"
    scenarios = [sure_aa(f"{number} fighter", defender, edition, aa_dice=dice) for number in numbers]
    for scenario in scenarios:
        scenario["cycle_limit"] = 1
        scenario["edition_changes"] = {**COIN, "infantry.defence": 0}
    for number, battles in zip(numbers, fought_all(scenarios, 20), strict=True):
        lost = (number if guns else 0) if dice == "per_aircraft" else min(3 * guns, number)
        assert distinct(battles.left("attacker")) == {number - lost}


@rule("GC-2.3:aa_dice")
@pytest.mark.parametrize("edition", EDITIONS)
def test_aa_dice_of_the_editions(edition: str) -> None:
    battles = fought(sure_aa("9 fighter, 1 infantry", "2 aa_gun", edition), 10)
    assert distinct(battles.left("attacker", "fighter")) == {3 if edition in AAA_EDITIONS else 0}


@rule("GC-2.3:aa_choice")
@pytest.mark.parametrize("edition", EDITIONS)
def test_aa_choice_of_the_editions(edition: str) -> None:
    # Under "owner" the bombers go only when all fighters are gone.
    battles = fought(land("2 infantry, 3 fighter, 3 bomber", "2 aa_gun", edition), 2_000)
    bomber_before_fighter = (battles.left("attacker", "bomber") < 3) & (battles.left("attacker", "fighter") > 0)
    assert bomber_before_fighter.any() == (edition in GUN_EDITIONS)


@rule("GC-2.3:aa_choice")
@pytest.mark.parametrize("order", [["bomber", "fighter"], ["fighter", "bomber"]])
@pytest.mark.parametrize("choice", ["owner", "per_type"])
def test_fewer_aa_dice_than_aircraft_follow_the_order_of_loss(choice: str, order: list[str]) -> None:
    scenario = sure_aa("2 fighter, 2 bomber", "1 aa_gun", "1942_2nd", aa_choice=choice)
    scenario["attacker"]["loss_order"] = order
    battles = fought(scenario, 20)
    assert distinct(battles.left("attacker", order[0])) == {0}
    assert distinct(battles.left("attacker", order[1])) == {1}


@rule("GC-2.3:aa_choice")
@rule("GC-8.11")
@pytest.mark.parametrize("edition", EDITIONS)
def test_aa_choice_may_be_set_for_any_edition(edition: str) -> None:
    owner, per_type = fought_all(
        [
            land(
                "2 infantry, 3 fighter, 3 bomber",
                "2 aa_gun",
                edition,
                switches={"aa_choice": choice, "aa_dice": "per_aircraft"},
            )
            for choice in ("owner", "per_type")
        ],
        2_000,
    )
    for battles, expected in ((owner, False), (per_type, True)):
        assert ((battles.left("attacker", "bomber") < 3) & (battles.left("attacker", "fighter") > 0)).any() == expected


@rule("GC-2.3:aa_fate")
@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("fate", ["captured", "destroyed", None])
def test_fate_of_a_lone_gun(edition: str, fate: str | None) -> None:
    scenario = land("1 infantry", "2 aa_gun", edition, territory={"value": 3})
    if fate:
        scenario["switches"] = {"aa_fate": fate}
    battles = fought(scenario, 10)
    destroyed = fate == "destroyed" or (fate is None and edition in AAA_EDITIONS)
    assert battles.outcomes() == {"attacker_wins"}
    assert distinct(battles.cycles) == {0}
    assert distinct(battles.cost_lost[:, 1]) == {2 * ref.EDITIONS[edition].units["aa_gun"].cost if destroyed else 0}
    assert battles.tally["captured.guns"] == (0 if destroyed else 20)
    assert distinct(battles.left("defender")) == {0}


@rule("GC-2.3:aa_fate")
@pytest.mark.parametrize("edition", AAA_EDITIONS)
def test_a_living_aaa_decides_against_the_last_attacker(edition: str) -> None:
    # The AAA is listed last, so the infantry dies first; one cycle can remove both sides' last fighters.
    scenario = land("1 infantry", "1 infantry, 1 aa_gun", edition, defender_loss_order=["infantry", "aa_gun"])
    battles = fought(scenario, 2_000)
    assert battles.outcomes() == {"attacker_wins", "defender_wins"}
    alone = (battles.outcome == "defender_wins") & (battles.left("defender", "infantry") == 0)
    assert alone.any()
    assert distinct(battles.left("defender", "aa_gun")[alone]) == {1}
    assert distinct(battles.cost_lost[battles.outcome == "attacker_wins", 1]) == {8}


@rule("GC-2.3:aa_fate")
@pytest.mark.parametrize("edition", GUN_EDITIONS)
def test_mutual_loss_beside_a_captured_gun(edition: str) -> None:
    battles = fought(land("1 infantry", "1 infantry, 1 aa_gun", edition), 2_000)
    assert battles.outcomes() == {"attacker_wins", "both_destroyed", "defender_wins"}
    assert distinct(battles.left("defender", "aa_gun")) == {0}


@rule("GC-2.3:aa_when")
@rule("GC-8.10")
@rule("GC-4.0.3")
@pytest.mark.parametrize("edition", EDITIONS)
def test_guns_fire_before_the_first_cycle(edition: str) -> None:
    battles = fought(sure_aa("2 fighter, 1 bomber", "1 infantry, 1 aa_gun", edition), 50)
    assert battles.outcomes() == {"defender_wins"}
    assert distinct(battles.cycles) == {0}
    assert distinct(battles.cost_lost[:, 1]) == {0}


@rule("GC-2.3:tech")
@pytest.mark.parametrize("edition", EDITIONS)
def test_technologies_of_the_editions(edition: str) -> None:
    scenario = land("1 fighter", "1 infantry", edition, attacker_technologies=["jet_fighters"])
    if edition in {"spring1942", "1942_2nd"}:
        with pytest.raises(ScenarioError, match="technolog"):
            simcore.encode([scenario])
        scenario["switches"] = {"tech": "optional"}
    assert len(simcore.encode([scenario])) == 1
    scenario["switches"] = {"tech": "none"}
    with pytest.raises(ScenarioError, match="technolog"):
        simcore.encode([scenario])


# --------------------------------------------------------------------------------------------------
# 3 Who fights
# --------------------------------------------------------------------------------------------------


@rule("GC-3.2")
@rule("GC-8.20")
def test_the_defence_is_one_force() -> None:
    one, other, third = fought_all(
        [
            land("3 tank", "2 infantry, 1 tank, 1 fighter"),
            land("3 tank", "1 fighter, 1 infantry, 1 tank, 1 infantry"),
            land("3 tank", "2 infantry, 1 tank, 1 fighter", defender_loss_order="default"),
        ]
    )
    assert one.same_as(other)
    assert one.same_as(third)
    assert_lost_from_the_front(one, "defender", ["infantry", "infantry", "tank", "fighter"])


@rule("GC-3.2")
@pytest.mark.parametrize("side", ["friend", "attacker2", "bystanders"])
def test_there_is_no_third_side(side: str) -> None:
    with pytest.raises(ScenarioError, match=side):
        simcore.encode([land("1 tank", "1 infantry") | {side: {"units": "1 tank"}}])


@rule("GC-3.4")
def test_a_force_without_attack_value_may_still_be_fought() -> None:
    changes = {"infantry.attack": 0}
    to_the_end, retreating = fought_all(
        [
            land("2 infantry", "1 infantry", edition_changes=changes),
            land(
                "2 infantry",
                "1 infantry",
                edition_changes=changes,
                attacker_retreat={"when_units_at_most": 1},
            ),
        ]
    )
    assert to_the_end.outcomes() == {"defender_wins"}
    assert distinct(to_the_end.cost_lost[:, 1]) == {0}
    assert retreating.outcomes() == {"attacker_retreats"}
    assert distinct(retreating.left("attacker")) == {1}


# --------------------------------------------------------------------------------------------------
# 4.0 Antiaircraft fire
# --------------------------------------------------------------------------------------------------


@rule("GC-4.0.1")
def test_guns_fire_once_in_a_long_battle() -> None:
    # The infantry neither hits nor is it hit soon, so only the gun takes aircraft.
    scenario = land(
        "6 fighter",
        "12 infantry, 1 aa_gun",
        edition_changes={"infantry.defence": 0, "fighter.attack": 1},
    )
    battles = fought(scenario, 20_000)
    assert battles.cycles.mean() > 5
    lost = 6 - battles.left("attacker")
    for number, p in enumerate(exact.hit_chances([ref.Throw(0, 0, 1, 5, 6, Fraction(1, 6))])):
        assert_share(int((lost == number).sum()), 20_000, float(p))


@rule("GC-4.0.1")
@pytest.mark.parametrize("edition", GUN_EDITIONS)
def test_several_guns_give_no_extra_dice(edition: str) -> None:
    one, three = fought_all(
        [land("2 tank, 4 fighter", f"2 infantry, {guns} aa_gun", edition) for guns in (1, 3)],
        pairing="common",
    )
    assert one.same_as(three)


@rule("GC-4.0.2")
@rule("GC-8.11")
def test_fighters_and_bombers_are_rolled_for_apart() -> None:
    # Adding fighters changes nothing for the bombers when each type has its own dice.
    few, many = fought_all(
        [land(f"1 infantry, {fighters} fighter, 4 bomber", "1 aa_gun") for fighters in (1, 5)],
        pairing="common",
    )
    assert np.array_equal(few.left("attacker", "bomber"), many.left("attacker", "bomber"))
    assert distinct(few.left("attacker", "bomber")) >= {2, 3, 4}


@rule("GC-4.0.3")
@settings(max_examples=20)
@given(fighters=st.integers(1, 6), bombers=st.integers(1, 6), edition=st.sampled_from(EDITIONS))
def test_aircraft_shot_down_do_not_fire(fighters: int, bombers: int, edition: str) -> None:
    # A hit of an aircraft that is gone would show as a loss of the defender.
    scenario = sure_aa(f"{fighters} fighter, {bombers} bomber", "4 infantry, 4 aa_gun", edition)
    assert distinct(fought(scenario, 10).cost_lost[:, 1]) == {0}


@rule("GC-4.0.4")
@pytest.mark.parametrize("edition", GUN_EDITIONS)
def test_guns_do_nothing_against_land_units(edition: str) -> None:
    without, beside = fought_all(
        [land("3 infantry, 1 artillery, 1 tank", f"4 infantry{gun}", edition) for gun in ("", ", 2 aa_gun")],
        pairing="common",
    )
    assert without.same_as(beside)


@rule("GC-4.0.4")
@rule("GC-4.0.5")
@pytest.mark.parametrize("edition", AAA_EDITIONS)
def test_aaa_units_do_not_fire_in_the_cycles(edition: str) -> None:
    # Not even a value in the table of an edition of one's own would let them.
    for changes in ({}, {"aa_gun.defence": 6}):
        scenario = land("5 infantry", "5 aa_gun, 1 infantry", edition, cycle_limit=1, edition_changes=changes)
        assert distinct(fought(scenario, 500).left("attacker")) == {4, 5}


@rule("GC-4.0.5")
@pytest.mark.parametrize("edition", EDITIONS)
def test_guns_do_not_keep_a_battle_going(edition: str) -> None:
    battles = fought(land("1 tank", "3 aa_gun, 1 industrial_complex", edition), 20)
    assert battles.outcomes() == {"attacker_wins"}
    assert distinct(battles.cycles) == {0}


@rule("GC-4.0.5")
@pytest.mark.parametrize("edition", GUN_EDITIONS)
def test_guns_that_are_captured_are_no_casualties(edition: str) -> None:
    battles = fought(land("4 tank", "2 infantry, 2 aa_gun", edition), 500)
    won = int((battles.outcome == "attacker_wins").sum())
    assert battles.tally["captured.guns"] == 2 * won > 0
    assert distinct(battles.cost_lost[:, 1]) <= {0, 3, 6}


@rule("GC-4.0.5")
@pytest.mark.parametrize("unit", ["aa_gun", "industrial_complex"])
@pytest.mark.parametrize("edition", EDITIONS)
def test_installations_do_not_attack(unit: str, edition: str) -> None:
    with pytest.raises(ScenarioError, match=unit):
        simcore.encode([land(f"1 infantry, 1 {unit}", "1 infantry", edition)])


@rule("GC-4.0.6")
@rule("GC-8.12")
@pytest.mark.parametrize("edition", EDITIONS)
def test_a_lone_gun_fires_before_the_capture(edition: str) -> None:
    scenario = sure_aa("1 infantry, 3 fighter", "1 aa_gun, 1 industrial_complex", edition)
    scenario["territory"] = {"value": 2}
    battles = fought(scenario, 20)
    assert battles.outcomes() == {"attacker_wins"}
    assert distinct(battles.left("attacker", "fighter")) == {0}
    assert distinct(battles.captured_value) == {2}
    assert battles.tally["captured.complexes"] == 20
    assert battles.tally["captured.guns"] == (20 if edition in GUN_EDITIONS else 0)


@rule("GC-4.0.6")
@rule("GC-8.12")
@pytest.mark.parametrize("edition", EDITIONS)
def test_a_lone_gun_can_hold_against_aircraft(edition: str) -> None:
    battles = fought(sure_aa("2 fighter, 1 bomber", "1 aa_gun", edition), 20)
    assert battles.outcomes() == {"defender_wins"}
    assert distinct(battles.cost_lost[:, 1]) == {0}
    assert distinct(battles.left("defender")) == {1 if edition in AAA_EDITIONS else 0}


# --------------------------------------------------------------------------------------------------
# 4.1, 4.3, 4.4, 4.5 A cycle
# --------------------------------------------------------------------------------------------------


@rule("GC-4.1.1")
@settings(max_examples=20)
@given(scenarios=st.lists(land_scenarios(), min_size=4, max_size=12))
def test_nobody_joins_and_every_loss_is_booked(scenarios: list[dict[str, Any]]) -> None:
    for data, battles in zip(scenarios, fought_all(scenarios, 50), strict=True):
        scenario = ref.read_scenario(data)
        for side in (ref.ATTACKER, ref.DEFENDER):
            start = Counter(ref.muster(scenario, side))
            row = np.array([start.get(unit, 0) for unit in ref.UNITS])
            costs = np.array([scenario.row(unit).cost if unit in start else 0 for unit in ref.UNITS])
            lost = row - battles.survivors[:, side]
            assert (lost >= 0).all()
            assert np.array_equal(lost @ costs, battles.cost_lost[:, side])


@rule("GC-4.1.1")
@rule("GC-4.3.1")
@rule("GC-4.4.1")
@pytest.mark.parametrize("edition", EDITIONS)
def test_values_of_the_unit_tables(edition: str) -> None:
    # One cycle of one unit against one infantry: the shares are the values of the table.
    units = [unit for unit in ref.EDITIONS[edition].units if unit in ref.LAND + ref.AIRCRAFT]
    attack = fought_all([land(f"1 {unit}", "1 infantry", edition, cycle_limit=1) for unit in units], 6_000)
    defence = fought_all([land("1 infantry", f"1 {unit}", edition, cycle_limit=1) for unit in units], 6_000)
    for unit, attacking, defending in zip(units, attack, defence, strict=True):
        row = ref.EDITIONS[edition].units[unit]
        assert_share(int((attacking.left("defender") == 0).sum()), 6_000, row.attack / 6)
        assert_share(int((defending.left("attacker") == 0).sum()), 6_000, row.defence / 6)
        assert distinct(attacking.cost_lost[:, 0]) == {0, row.cost}
        assert distinct(defending.cost_lost[:, 1]) == {0, row.cost}


@rule("GC-4.3.1")
@pytest.mark.parametrize(("value", "hits"), [(0, {0}), (1, {0, 1, 2}), (5, {0, 1, 2}), (6, {2}), (7, {2}), (20, {2})])
def test_boundary_values_of_a_die(value: int, hits: set[int]) -> None:
    scenario = land(
        "2 tank", "3 infantry", cycle_limit=1, edition_changes={"tank.attack": value, "infantry.defence": 1}
    )
    assert distinct(3 - fought(scenario, 2_000).left("defender")) == hits
    scenario = land("3 infantry", "2 tank", cycle_limit=1, edition_changes={"tank.defence": value})
    assert distinct(3 - fought(scenario, 2_000).left("attacker")) == hits


@rule("GC-4.3.2")
@rule("GC-4.4.2")
@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in cases("scripted")])
def test_scripted_battles(case: dict[str, Any]) -> None:
    replay = simcore.replay(case["scenario"], script=case["script"])
    assert [
        [draw["side"], draw["cycle"], draw["dice"], str(Fraction(*draw["odds"])), draw["hits"]] for draw in replay.draws
    ] == [[side, cycle, dice, p, hits] for side, cycle, _, dice, p, hits in case["throws"]]
    expect = case["expect"]
    assert (replay.outcome, replay.cycles) == (expect["outcome"], expect["cycles"])
    assert list(replay.survivors.values()) == expect["survivors"]


@rule("GC-4.3.2")
def test_losses_of_the_defender_are_chosen_by_the_defender() -> None:
    for order in (["infantry", "tank"], ["tank", "infantry"]):
        battles = fought(land("3 tank", "2 infantry, 2 tank", defender_loss_order=order))
        assert_lost_from_the_front(battles, "defender", [order[0]] * 2 + [order[1]] * 2)


@rule("GC-4.3.3")
@pytest.mark.parametrize(
    ("attacker", "hits"),
    [
        ("2 infantry", {0, 1, 2}),
        ("1 infantry, 1 artillery", {2}),
        ("2 infantry, 1 artillery", {2, 3}),
        ("2 infantry, 2 artillery", {4}),
        ("1 infantry, 3 artillery", {4}),
    ],
)
def test_artillery_supports_one_for_one(attacker: str, hits: set[int]) -> None:
    scenario = land(attacker, "6 infantry", cycle_limit=1, edition_changes=COIN)
    assert distinct(6 - fought(scenario).left("defender")) == hits


@rule("GC-4.3.3")
def test_infantry_is_supported_before_mechanized_infantry() -> None:
    changes = {**COIN, "mech_infantry.attack": 0}
    one, two = fought_all(
        [
            land(
                f"1 infantry, 1 mech_infantry, {guns} artillery",
                "6 infantry",
                "global40_2nd",
                cycle_limit=1,
                edition_changes=changes,
            )
            for guns in (1, 2)
        ]
    )
    assert distinct(6 - one.left("defender")) == {2}
    assert distinct(6 - two.left("defender")) == {4}


@rule("GC-4.3.3")
@pytest.mark.parametrize(
    ("partners", "hits"),
    [("", 0), (", 1 fighter", 1), (", 1 tank", 1), (", 1 fighter, 1 tank", 2), (", 3 tank, 2 fighter", 3)],
)
def test_tactical_bombers_pair_with_fighters_and_tanks(partners: str, hits: int) -> None:
    changes = {
        "tactical_bomber.attack": 0,
        "tactical_bomber.supported_attack": 6,
        "fighter.attack": 0,
        "tank.attack": 0,
        "infantry.defence": 1,
    }
    scenario = land(
        f"3 tactical_bomber{partners}", "6 infantry", "global40_2nd", cycle_limit=1, edition_changes=changes
    )
    assert distinct(6 - fought(scenario).left("defender")) == {hits}


@rule("GC-4.3.3")
def test_there_is_no_support_in_defence() -> None:
    # Infantry that never hits in defence is not helped by artillery that never hits either.
    changes = {"infantry.defence": 0, "artillery.defence": 0}
    battles = fought(land("1 tank", "2 infantry, 2 artillery", edition_changes=changes))
    assert battles.outcomes() == {"attacker_wins"}
    assert distinct(battles.cost_lost[:, 0]) == {0}


@rule("GC-4.3.3")
def test_support_is_counted_anew_each_cycle() -> None:
    # The artillery is lost in cycle 1, so the infantry's second shot needs a 1.
    case = next(case for case in cases("scripted") if case["id"] == "B07")
    draws = simcore.replay(case["scenario"], script=case["script"]).draws
    infantry = [draw["odds"] for draw in draws if "infantry" in draw["what"]]
    assert infantry == [[2, 6], [1, 6]]


@rule("GC-4.4.1")
@rule("GC-4.5.1")
def test_units_behind_the_strip_fire_before_they_leave() -> None:
    # Both sides hit with certainty: everybody fires once, and nobody is left.
    battles = fought(land("3 tank", "3 infantry", edition_changes=COIN), 20)
    assert battles.outcomes() == {"both_destroyed"}
    assert distinct(battles.cycles) == {1}


@rule("GC-4.4.2")
def test_losses_of_the_attacker_are_chosen_by_the_attacker() -> None:
    for order in (["infantry", "tank"], ["tank", "infantry"]):
        battles = fought(land("2 infantry, 2 tank", "3 tank", attacker_loss_order=order))
        assert_lost_from_the_front(battles, "attacker", [order[0]] * 2 + [order[1]] * 2)


@rule("GC-4.5.1")
def test_losses_do_not_fire_in_the_next_cycle() -> None:
    # Seven hits remove seven of eight infantry, so one is left to fire in cycle 2.
    scenario = land("14 tank", "8 infantry", cycle_limit=2)
    replay = simcore.replay(scenario, script=[7, 0, 0, 1])
    assert replay.outcome == "unfinished"
    assert [draw["dice"] for draw in replay.draws] == [14, 8, 14, 1]
    with pytest.raises(ScenarioError):
        simcore.replay(scenario, script=[7, 0, 0, 2])


# --------------------------------------------------------------------------------------------------
# 4.6 End of a battle
# --------------------------------------------------------------------------------------------------


@rule("GC-4.6.1")
@pytest.mark.parametrize("limit", [1, 2, 3, 7])
def test_a_cycle_limit_leaves_a_battle_unfinished(limit: int) -> None:
    free, limited = fought_all(
        [land("4 infantry", "4 infantry", cycle_limit=cycle_limit) for cycle_limit in (0, limit)], 1_000
    )
    assert limited.cycles.max() == limit
    assert np.array_equal(limited.outcome == "unfinished", free.cycles > limit)
    ended = free.cycles <= limit
    assert np.array_equal(limited.outcome[ended], free.outcome[ended])
    assert (limited.left("attacker")[~ended] > 0).all()
    assert (limited.left("defender")[~ended] > 0).all()


@rule("GC-4.6.1")
def test_a_battle_that_ends_in_the_last_cycle_is_finished() -> None:
    battles = fought(land("3 tank", "3 infantry", edition_changes=COIN, cycle_limit=1), 20)
    assert battles.outcomes() == {"both_destroyed"}


@rule("GC-4.6.1")
@rule("GC-8.1")
@pytest.mark.parametrize("cycles", [1, 2, 3])
def test_the_retreat_comes_before_the_cycle_limit(cycles: int) -> None:
    battles = fought(land("6 infantry", "6 infantry", cycle_limit=cycles, attacker_retreat={"after_cycles": cycles}))
    assert "unfinished" not in battles.outcomes()
    assert distinct(battles.cycles[battles.outcome == "attacker_retreats"]) == {cycles}


@rule("GC-4.6.2")
@pytest.mark.parametrize(
    ("attacker", "defender", "outcome"),
    [
        ("1 infantry", "", "attacker_wins"),
        ("1 fighter", "", "attacker_clears"),
        ("1 infantry, 1 bomber", "1 industrial_complex", "attacker_wins"),
        ("", "1 infantry", "defender_wins"),
    ],
)
def test_condition_a_before_the_first_cycle(attacker: str, defender: str, outcome: str) -> None:
    battles = fought(land(attacker, defender), 10)
    assert battles.outcomes() == {outcome}
    assert distinct(battles.cycles) == {0}
    assert distinct(battles.cost_lost) == {0}


@rule("GC-4.6.2")
def test_a_battle_needs_somebody() -> None:
    with pytest.raises(ScenarioError, match="empty"):
        simcore.encode([land("", "")])


@rule("GC-4.6.2")
@settings(max_examples=20)
@given(scenarios=st.lists(land_scenarios(), min_size=4, max_size=12))
def test_outcomes_fit_the_survivors(scenarios: list[dict[str, Any]]) -> None:
    for battles in fought_all(scenarios, 60):
        attackers = battles.left("attacker")
        land_units = battles.left("attacker", *ref.LAND)
        defenders = battles.left("defender")
        for outcome, fits in {
            "attacker_wins": (land_units > 0) & (defenders == 0),
            "attacker_clears": (land_units == 0) & (attackers > 0) & (defenders == 0),
            "both_destroyed": (attackers == 0) & (defenders == 0),
            "attacker_retreats": (attackers > 0) & (defenders > 0) & (battles.cycles > 0),
            "stand_off": (attackers > 0) & (defenders > 0),
            "unfinished": (attackers > 0) & (defenders > 0),
            "defender_wins": attackers == 0,
        }.items():
            assert fits[battles.outcome == outcome].all(), outcome


@rule("GC-4.6.3")
@rule("GC-8.3")
@pytest.mark.parametrize(
    ("attacker", "outcomes"),
    [
        ("1 infantry", {"stand_off"}),
        ("1 artillery", {"stand_off"}),
        ("1 infantry, 1 artillery", {"attacker_wins"}),
    ],
)
def test_support_counts_as_an_attack_value(attacker: str, outcomes: set[str]) -> None:
    changes = {"infantry.attack": 0, "artillery.attack": 0, "tank.defence": 0}
    assert fought(land(attacker, "1 tank", edition_changes=changes)).outcomes() == outcomes


@rule("GC-4.6.4")
@rule("GC-8.3")
def test_two_powerless_sides_part_at_once() -> None:
    changes = {"infantry.attack": 0, "infantry.defence": 0}
    battles = fought(
        land("2000 infantry", "1999 infantry", edition_changes=changes, attacker_retreat={"after_cycles": 1}),
        50,
    )
    assert battles.outcomes() == {"stand_off"}
    assert distinct(battles.cycles) == {0}
    assert distinct(battles.left("attacker")) == {2000}
    assert distinct(battles.left("defender")) == {1999}


@rule("GC-4.6.4")
def test_a_battle_becomes_powerless_in_its_course() -> None:
    # Bombers that cannot be hit by bombers: when the infantry on both sides is gone nobody can fire.
    changes = {"bomber.attack": 0, "bomber.defence": 0}
    order = ["infantry", "bomber"]
    battles = fought(
        land(
            "1 infantry, 1 bomber",
            "1 infantry, 1 bomber",
            edition_changes=changes,
            attacker_loss_order=order,
            defender_loss_order=order,
        ),
        2_000,
    )
    parted = battles.outcome == "stand_off"
    assert parted.any()
    assert distinct(battles.left("attacker", "bomber")[parted]) == {1}
    assert distinct(battles.left("defender", "bomber")[parted]) == {1}
    assert distinct(battles.left("attacker", "infantry")[parted]) == {0}


@rule("GC-4.6.4")
def test_one_powerless_side_fights_on() -> None:
    attacking, defending = fought_all(
        [
            land("2 infantry", "3 infantry", edition_changes={"infantry.attack": 0}),
            land("2 infantry", "3 infantry", edition_changes={"infantry.defence": 0}),
        ]
    )
    assert attacking.outcomes() == {"defender_wins"}
    assert defending.outcomes() == {"attacker_wins"}
    assert defending.cycles.max() > 3


@rule("GC-4.6.4")
@rule("GC-8.21")
@pytest.mark.parametrize("edition", EDITIONS)
def test_a_battle_that_is_won_is_not_left(edition: str) -> None:
    free, leaving = fought_all(
        [
            land(
                "2 tank, 1 fighter",
                "1 infantry, 1 aa_gun",
                edition,
                attacker_retreat={"after_cycles": cycles},
            )
            for cycles in (0, 1)
        ],
        1_000,
    )
    ended = free.cycles <= 1
    assert ended.any()
    assert np.array_equal(leaving.outcome[ended], free.outcome[ended])
    assert (leaving.outcome[~ended] == "attacker_retreats").all()


@rule("GC-4.6.7")
def test_only_the_attacker_retreats() -> None:
    with pytest.raises(ScenarioError, match="retreat"):
        simcore.encode([land("1 tank", "1 infantry", defender_retreat={"after_cycles": 1})])


@rule("GC-4.6.7")
@settings(max_examples=30)
@given(
    scenario=land_scenarios(),
    after_cycles=st.integers(0, 3),
    units_at_most=st.integers(0, 5),
    only_aircraft=st.booleans(),
    possible=st.booleans(),
)
def test_when_the_attacker_retreats(
    scenario: dict[str, Any], after_cycles: int, units_at_most: int, only_aircraft: bool, possible: bool
) -> None:
    scenario["attacker"]["retreat"] = {
        "after_cycles": after_cycles,
        "when_units_at_most": units_at_most,
        "when_only_aircraft": only_aircraft,
        "possible": possible,
    }
    scenario["cycle_limit"] = 0
    battles = fought(scenario, 100)
    attackers, land_units = battles.left("attacker"), battles.left("attacker", *ref.LAND)
    wanted = (
        ((after_cycles > 0) & (battles.cycles >= after_cycles))
        | (attackers <= units_at_most)
        | (only_aircraft & (land_units == 0))
    )
    if not possible:
        wanted &= land_units == 0
    retreated = battles.outcome == "attacker_retreats"
    assert wanted[retreated].all()
    if possible and after_cycles:
        assert battles.cycles.max() <= after_cycles


@rule("GC-4.6.8")
def test_land_units_need_a_space() -> None:
    free, held = fought_all(
        [
            land("3 infantry", "3 infantry", attacker_retreat={"after_cycles": 1, "possible": possible})
            for possible in (True, False)
        ]
    )
    assert "attacker_retreats" in free.outcomes()
    assert "attacker_retreats" not in held.outcomes()
    assert held.same_as(fought(land("3 infantry", "3 infantry")))


@rule("GC-4.6.8")
def test_the_unit_that_came_from_there_need_not_be_alive() -> None:
    # The space stays open whatever was lost: one unit of any kind may still go there.
    battles = fought(land("2 infantry, 1 tank", "4 infantry", attacker_retreat={"when_units_at_most": 1}), 1_000)
    left = battles.outcome == "attacker_retreats"
    assert left.any()
    assert distinct(battles.left("attacker")[left]) == {1}


@rule("GC-4.6.10")
@rule("GC-8.13")
def test_retreating_aircraft_are_survivors() -> None:
    battles = fought(land("1 infantry, 2 fighter", "6 infantry", attacker_retreat={"after_cycles": 1}), 500)
    left = battles.outcome == "attacker_retreats"
    assert distinct(battles.left("attacker", "fighter")[left]) >= {1, 2}
    assert distinct(battles.cost_lost[left & (battles.left("attacker") == 3), 0]) == {0}


@rule("GC-4.6.11")
def test_a_retreat_takes_everybody() -> None:
    free, leaving = fought_all(
        [
            land("3 infantry, 2 fighter", "6 infantry", cycle_limit=1),
            land("3 infantry, 2 fighter", "6 infantry", attacker_retreat={"after_cycles": 1}),
        ],
        500,
    )
    # The same units are on the board as if the battle had been stopped by the limit.
    assert np.array_equal(free.survivors, leaving.survivors)
    assert np.array_equal(free.outcome == "unfinished", leaving.outcome == "attacker_retreats")


@rule("GC-4.6.12")
def test_aircraft_alone_need_no_space() -> None:
    only, mixed = fought_all(
        [
            land(attacker, "4 infantry", attacker_retreat={"after_cycles": 1, "possible": False})
            for attacker in ("3 fighter", "1 infantry, 3 fighter")
        ],
        1_000,
    )
    assert "attacker_retreats" in only.outcomes()
    assert distinct(only.cycles[only.outcome == "attacker_retreats"]) == {1}
    left = mixed.outcome == "attacker_retreats"
    assert left.any()
    assert distinct(mixed.left("attacker", "infantry")[left]) == {0}


# --------------------------------------------------------------------------------------------------
# 4.7 Conclusion
# --------------------------------------------------------------------------------------------------


@rule("GC-4.7.1")
@rule("GC-4.7.3")
@settings(max_examples=20)
@given(scenario=land_scenarios(), value=st.integers(0, 20))
def test_the_territory_changes_hands_only_by_a_land_unit(scenario: dict[str, Any], value: int) -> None:
    scenario["territory"] = {"value": value}
    battles = fought(scenario, 100)
    won = battles.outcome == "attacker_wins"
    assert np.array_equal(battles.captured_value, np.where(won, value, 0))
    assert battles.tally["captured.battles"] == won.sum()
    assert battles.tally["captured.value"] == value * won.sum()
    assert (battles.left("attacker", *ref.LAND)[won] > 0).all()


@rule("GC-4.7.1")
def test_after_mutual_loss_the_defender_keeps_the_territory() -> None:
    battles = fought(land("3 tank", "3 infantry", edition_changes=COIN, territory={"value": 4}), 20)
    assert battles.outcomes() == {"both_destroyed"}
    assert distinct(battles.captured_value) == {0}


@rule("GC-4.7.2")
@pytest.mark.parametrize("edition", EDITIONS)
def test_aircraft_do_not_take_an_empty_territory(edition: str) -> None:
    battles = fought(land("5 fighter, 5 bomber", "1 industrial_complex", edition, territory={"value": 9}), 10)
    assert battles.outcomes() == {"attacker_clears"}
    assert distinct(battles.captured_value) == {0}
    assert battles.tally["captured.battles"] == battles.tally["captured.complexes"] == 0


@rule("GC-4.7.4")
@pytest.mark.parametrize("edition", EDITIONS)
def test_guns_and_complexes_go_with_the_territory(edition: str) -> None:
    scenario = land("4 tank, 1 fighter", "1 infantry, 2 aa_gun, 1 industrial_complex", edition)
    battles = fought(scenario, 500)
    won = int((battles.outcome == "attacker_wins").sum())
    assert battles.tally["captured.complexes"] == won > 0
    assert battles.tally["captured.guns"] == (2 * won if edition in GUN_EDITIONS else 0)
    most = 3 + (2 * ref.EDITIONS[edition].units["aa_gun"].cost if edition in AAA_EDITIONS else 0)
    assert battles.cost_lost[:, 1].max() == most


# --------------------------------------------------------------------------------------------------
# 4.8 Giving out hits
# --------------------------------------------------------------------------------------------------


@rule("GC-4.8.1")
@pytest.mark.parametrize("unit", [*ref.LAND, *ref.AIRCRAFT])
def test_every_hit_may_fall_on_every_unit(unit: str) -> None:
    # Whatever is listed first is lost first, and whatever fires can hit it.
    for firing in ("5 tank", "5 fighter"):
        battles = fought(
            land(
                firing,
                f"1 {unit}, 3 infantry, 3 bomber",
                "global40_2nd",
                cycle_limit=1,
                defender_loss_order=[unit],
            ),
            100,
        )
        start = 1 + 3 * (unit in {"infantry", "bomber"})
        hit = battles.left("defender") < 7
        assert (battles.left("defender", unit)[hit] < start).all()


@rule("GC-4.8.3")
@settings(max_examples=20)
@given(tanks=st.integers(1, 8), infantry=st.integers(1, 8))
def test_all_dice_are_rolled_before_any_loss(tanks: int, infantry: int) -> None:
    # If losses were chosen first, the side that fires second would have fewer dice.
    battles = fought(land(f"{tanks} tank", f"{infantry} infantry", edition_changes=COIN, cycle_limit=1), 5)
    assert distinct(battles.left("attacker")) == {max(tanks - infantry, 0)}
    assert distinct(battles.left("defender")) == {max(infantry - tanks, 0)}


@rule("GC-4.8.4")
@rule("GC-8.23")
@settings(max_examples=20)
@given(hits=st.integers(1, 30), units=st.integers(1, 30))
def test_as_many_hits_as_possible_are_given_out(hits: int, units: int) -> None:
    changes = {"tank.attack": 6, "infantry.defence": 0}
    battles = fought(land(f"{hits} tank", f"{units} infantry", edition_changes=changes, cycle_limit=1), 5)
    assert distinct(battles.left("defender")) == {max(units - hits, 0)}
    assert distinct(battles.cost_lost[:, 1]) == {3 * min(units, hits)}


@rule("GC-8.23")
def test_hits_do_not_carry_over_to_a_later_cycle() -> None:
    replay = simcore.replay(land("3 tank", "1 infantry"), script=[3, 0])
    assert (replay.outcome, replay.cycles) == ("attacker_wins", 1)


ATTACK_ORDER = ["infantry", "mech_infantry", "artillery", "tank", "fighter", "tactical_bomber", "bomber"]
DEFENCE_ORDER = [
    "aa_gun",
    "infantry",
    "mech_infantry",
    "artillery",
    "tank",
    "bomber",
    "fighter",
    "tactical_bomber",
]


def one_of_each(units: Sequence[str]) -> str:
    """Return a force with one unit of each type, listed in the order of the unit table."""
    return ", ".join(f"1 {unit}" for unit in ref.UNITS if unit in units)


@rule("GC-4.8.6")
@rule("GC-4.8.7")
@pytest.mark.parametrize(
    ("policy", "changes", "attack", "defence"),
    [
        ("default", {}, ATTACK_ORDER, DEFENCE_ORDER),
        (
            "cheapest",
            {},
            ATTACK_ORDER,
            [
                "infantry",
                "mech_infantry",
                "artillery",
                "aa_gun",
                "tank",
                "fighter",
                "tactical_bomber",
                "bomber",
            ],
        ),
        (
            "cheapest",
            {"tank.cost": 3, "fighter.cost": 2, "aa_gun.cost": 12},
            ["fighter", "infantry", "tank", "mech_infantry", "artillery", "tactical_bomber", "bomber"],
            [
                "fighter",
                "infantry",
                "tank",
                "mech_infantry",
                "artillery",
                "tactical_bomber",
                "aa_gun",
                "bomber",
            ],
        ),
        (
            "weakest",
            {},
            ATTACK_ORDER,
            [
                "aa_gun",
                "bomber",
                "infantry",
                "mech_infantry",
                "artillery",
                "tank",
                "tactical_bomber",
                "fighter",
            ],
        ),
        (
            "weakest",
            {"mech_infantry.cost": 2, "tank.attack": 1, "tank.defence": 1},
            ["mech_infantry", "infantry", "tank", "artillery", "fighter", "tactical_bomber", "bomber"],
            [
                "aa_gun",
                "tank",
                "bomber",
                "mech_infantry",
                "infantry",
                "artillery",
                "tactical_bomber",
                "fighter",
            ],
        ),
        (
            ["tank", "fighter"],
            {},
            ["tank", "fighter", "infantry", "mech_infantry", "artillery", "tactical_bomber", "bomber"],
            [
                "tank",
                "fighter",
                "aa_gun",
                "infantry",
                "mech_infantry",
                "artillery",
                "bomber",
                "tactical_bomber",
            ],
        ),
    ],
)
def test_policies_of_loss(
    policy: str | list[str], changes: dict[str, int], attack: list[str], defence: list[str]
) -> None:
    # The gun would change the order of the attacker's losses, so each side's order has its own battle.
    attacking, defending = fought_all(
        [
            land(
                one_of_each(attack),
                "5 infantry",
                "global40_2nd",
                attacker_loss_order=policy,
                edition_changes=changes,
            ),
            land(
                "5 tank",
                one_of_each(defence),
                "global40_2nd",
                defender_loss_order=policy,
                edition_changes=changes,
            ),
        ],
        1_500,
    )
    assert_lost_from_the_front(attacking, "attacker", attack)
    assert_lost_from_the_front(defending, "defender", defence)
    assert len(distinct(attacking.left("attacker"))) > 4
    assert len(distinct(defending.left("defender"))) > 4


@rule("GC-4.8.7")
def test_technologies_count_in_the_values_of_a_policy() -> None:
    # With jets a fighter attacks as well as a bomber and is cheaper, so it is still lost first;
    # a tank that attacks at 3 is then weaker than the fighter although it costs more.
    changes = {"tank.cost": 11}
    with_jets, without = fought_all(
        [
            land(
                "1 tank, 1 fighter, 1 bomber",
                "4 infantry",
                "aa50",
                attacker_loss_order="weakest",
                edition_changes=changes,
                attacker_technologies=technologies,
            )
            for technologies in (["jet_fighters"], [])
        ],
        500,
    )
    assert_lost_from_the_front(with_jets, "attacker", ["tank", "fighter", "bomber"])
    assert_lost_from_the_front(without, "attacker", ["fighter", "tank", "bomber"])


@rule("GC-4.8.6")
@pytest.mark.parametrize(
    ("keep", "stack"),
    [
        (0, ["infantry", "infantry", "tank", "fighter", "bomber"]),
        (1, ["infantry", "infantry", "fighter", "bomber", "tank"]),
        (2, ["infantry", "fighter", "bomber", "infantry", "tank"]),
        (3, ["fighter", "bomber", "infantry", "infantry", "tank"]),
    ],
)
def test_land_units_kept_to_the_last(keep: int, stack: list[str]) -> None:
    battles = fought(land("2 infantry, 1 tank, 1 fighter, 1 bomber", "4 infantry", attacker_keep_land=keep), 1_000)
    assert_lost_from_the_front(battles, "attacker", stack)


@rule("GC-4.8.6")
def test_kept_land_units_follow_the_order_given() -> None:
    battles = fought(
        land(
            "2 infantry, 1 tank, 1 fighter",
            "4 infantry",
            attacker_keep_land=2,
            attacker_loss_order=["tank", "fighter", "infantry"],
        ),
        1_000,
    )
    assert_lost_from_the_front(battles, "attacker", ["tank", "fighter", "infantry", "infantry"])


@rule("GC-4.8.7")
@settings(max_examples=25)
@given(scenarios=st.lists(land_scenarios(), min_size=4, max_size=12))
def test_losses_always_come_from_the_front(scenarios: list[dict[str, Any]]) -> None:
    for data in scenarios:
        # Antiaircraft fire picks aircraft out of the stack.
        counts = data["defender"]["units"]
        counts.pop("aa_gun", None)
        counts.setdefault("infantry", 1)
    for data, battles in zip(scenarios, fought_all(scenarios, 60), strict=True):
        scenario = ref.read_scenario(data)
        for side in (ref.ATTACKER, ref.DEFENDER):
            assert_lost_from_the_front(battles, ref.SIDES[side], ref.muster(scenario, side))


# --------------------------------------------------------------------------------------------------
# 7 Technologies
# --------------------------------------------------------------------------------------------------


@rule("GC-7")
@pytest.mark.parametrize(("edition", "attack", "defence"), [("aa50", 4, 4), ("global40_2nd", 4, 4), ("revised", 3, 5)])
def test_jet_fighters(edition: str, attack: int, defence: int) -> None:
    jets = ["jet_fighters"]
    attacking, defending = fought_all(
        [
            land("1 fighter", "1 infantry", edition, cycle_limit=1, attacker_technologies=jets),
            land("1 infantry", "1 fighter", edition, cycle_limit=1, defender_technologies=jets),
        ],
        6_000,
    )
    assert_share(int((attacking.left("defender") == 0).sum()), 6_000, attack / 6)
    assert_share(int((defending.left("attacker") == 0).sum()), 6_000, defence / 6)


@rule("GC-7")
@rule("GC-8.19")
@pytest.mark.parametrize("edition", ["aa50", "revised", "global40_2nd"])
@pytest.mark.parametrize("switch", [None, "both_dice", "best_of_two"])
def test_heavy_bombers(edition: str, switch: str | None) -> None:
    scenario = land("1 bomber", "3 infantry", edition, cycle_limit=1, attacker_technologies=["heavy_bombers"])
    if switch:
        scenario["switches"] = {"heavy_bombers": switch}
    hits = 3 - fought(scenario, 6_000).left("defender")
    both = switch == "both_dice" or (switch is None and edition != "global40_2nd")
    for number, p in enumerate((1 / 9, 4 / 9, 4 / 9) if both else (1 / 9, 8 / 9, 0)):
        assert_share(int((hits == number).sum()), 6_000, p)


@rule("GC-7")
def test_heavy_bombers_defend_as_before() -> None:
    plain, heavy = fought_all(
        [land("2 tank", "2 bomber", "aa50", defender_technologies=tech) for tech in ([], ["heavy_bombers"])]
    )
    assert plain.same_as(heavy)


@rule("GC-7")
@pytest.mark.parametrize("edition", ["aa50", "revised", "global40_2nd"])
def test_radar(edition: str) -> None:
    battles = fought(land("1 fighter", "1 aa_gun", edition, defender_technologies=["radar"]), 6_000)
    assert_share(int((battles.left("attacker") == 0).sum()), 6_000, 1 / 3)
    ours = land("1 fighter", "1 aa_gun", edition, attacker_technologies=["radar"])
    assert_share(int((fought(ours, 6_000).left("attacker") == 0).sum()), 6_000, 1 / 6)


@rule("GC-7")
@pytest.mark.parametrize(
    ("attacker", "hits"),
    [
        ("2 infantry, 1 artillery", {3}),
        ("3 infantry, 1 artillery", {3, 4}),
        ("1 infantry, 1 mech_infantry, 1 artillery", {3}),
        ("4 infantry, 2 artillery", {6}),
    ],
)
def test_advanced_artillery(attacker: str, hits: set[int]) -> None:
    scenario = land(
        attacker,
        "8 infantry",
        "global40_2nd",
        cycle_limit=1,
        edition_changes=COIN,
        attacker_technologies=["advanced_artillery"],
    )
    assert distinct(8 - fought(scenario).left("defender")) == hits


@rule("GC-7")
@pytest.mark.parametrize("technology", ["long_range_aircraft", "super_submarines", "combined_bombardment"])
def test_technologies_without_effect_on_land(technology: str) -> None:
    plain, with_it = fought_all(
        [
            land(
                "2 infantry, 1 artillery, 1 fighter, 1 bomber",
                "3 infantry, 1 fighter, 1 aa_gun",
                "aa50",
                attacker_technologies=technologies,
                defender_technologies=technologies,
            )
            for technologies in ([], [technology])
        ]
    )
    assert plain.same_as(with_it)


@rule("GC-8.18")
def test_cost_of_a_gun_in_the_first_edition() -> None:
    scenario = land("1 infantry", "1 aa_gun", switches={"aa_fate": "destroyed"})
    assert distinct(fought(scenario, 5).cost_lost[:, 1]) == {6}


# --------------------------------------------------------------------------------------------------
# Options beside the rules
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("attacker", "hits"),
    [
        ("6 infantry", {1}),
        ("5 infantry", {0, 1}),
        ("7 infantry", {1, 2}),
        ("2 tank", {1}),
        ("1 infantry, 1 tank", {0, 1}),
    ],
)
def test_low_luck_in_combat(attacker: str, hits: set[int]) -> None:
    battles = fought(land(attacker, "4 infantry", cycle_limit=1, low_luck="combat"), 500)
    assert distinct(4 - battles.left("defender")) == hits


@pytest.mark.parametrize("choice", ["per_type", "owner"])
@pytest.mark.parametrize(
    ("attacker", "per_type", "owner"),
    [
        ("6 fighter", {1}, {1}),
        ("7 fighter", {1, 2}, {1, 2}),
        ("3 fighter, 3 bomber", {0, 1, 2}, {1}),
        ("6 fighter, 6 bomber", {2}, {2}),
        ("5 bomber", {0, 1}, {0, 1}),
    ],
)
def test_low_luck_of_the_guns(attacker: str, per_type: set[int], owner: set[int], choice: str) -> None:
    scenario = land(f"1 infantry, {attacker}", "1 aa_gun", low_luck="aa", switches={"aa_choice": choice})
    battles = fought(scenario, 500)
    start = sum(ref.parse_units(attacker).values())
    assert distinct(start - battles.left("attacker", *ref.AIRCRAFT)) == (owner if choice == "owner" else per_type)


@pytest.mark.parametrize(("option", "combat", "aa"), [("none", 0, 0), ("combat", 1, 0), ("aa", 0, 1), ("both", 1, 1)])
def test_low_luck_is_chosen_for_combat_and_guns_apart(option: str, combat: int, aa: int) -> None:
    in_combat = fought(land("6 infantry", "4 infantry", cycle_limit=1, low_luck=option), 500)
    assert (distinct(4 - in_combat.left("defender")) == {1}) == bool(combat)
    at_guns = fought(land("1 infantry, 6 fighter", "1 aa_gun", low_luck=option), 500)
    assert (distinct(6 - at_guns.left("attacker", "fighter")) == {1}) == bool(aa)


def test_low_luck_of_the_better_of_two_dice() -> None:
    # Nine bombers at 8/9 hit exactly eight times.
    scenario = land(
        "9 bomber",
        "12 infantry",
        "global40_2nd",
        cycle_limit=1,
        low_luck="combat",
        attacker_technologies=["heavy_bombers"],
    )
    assert distinct(12 - fought(scenario, 100).left("defender")) == {8}


# --------------------------------------------------------------------------------------------------
# Properties of the whole
# --------------------------------------------------------------------------------------------------


@settings(max_examples=15)
@given(scenarios=st.lists(land_scenarios(), min_size=2, max_size=6), first=st.integers(1, 60))
def test_prefixes_order_and_company_change_nothing(scenarios: list[dict[str, Any]], first: int) -> None:
    whole = fought_all(scenarios, 100)
    for scenario, battles in zip(scenarios, whole, strict=True):
        alone = fought(scenario, 20)
        assert np.array_equal(alone.survivors, battles.survivors[:20])
        assert np.array_equal(alone.outcome, battles.outcome[:20])
        later = fought(scenario, 100 - first, first=first)
        assert np.array_equal(later.survivors, battles.survivors[first:])
    for battles, again in zip(whole, reversed(fought_all(scenarios[::-1], 100)), strict=True):
        assert battles.same_as(again)


@pytest.mark.parametrize("battles", [1, 13, 4_095, 4_096, 4_097, 10_000])
def test_the_number_of_battles_is_exact(battles: int) -> None:
    tally = fought(land("3 infantry", "2 infantry, 1 tank"), battles).tally
    assert tally["battles"] == battles
    assert sum(tally[f"outcome.{outcome}"] for outcome in ref.OUTCOMES) == battles


def test_shares_add_up_to_one() -> None:
    result = simcore.odds("2 infantry, 1 fighter", "2 infantry, 1 aa_gun", method="simulate", battles=1_000)
    assert abs(sum(result.outcomes.values()) - 1) < 1e-12
    assert all(0 <= p <= 1 for p in result.outcomes.values())


def test_forces_of_equal_sums_are_not_confused() -> None:
    armies = [
        "3 infantry, 1 tank",
        "1 infantry, 3 tank",
        "2 infantry, 2 artillery",
        "1 infantry, 2 artillery, 1 tank",
    ]
    orders: list[list[str]] = [["infantry", "tank"], ["tank", "infantry"]]
    scenarios = [
        land(army, "3 infantry, 1 tank", edition, attacker_loss_order=order)
        for army in armies
        for order in orders
        for edition in EDITIONS
    ]
    for scenario, battles in zip(scenarios, fought_all(scenarios, 50), strict=True):
        assert battles.same_as(fought(scenario, 50))


@settings(max_examples=20)
@given(units=st.dictionaries(st.sampled_from(("artillery", "tank")), st.integers(1, 3), min_size=1))
def test_equal_forces_have_equal_chances(units: dict[str, int]) -> None:
    # Artillery and tanks attack as well as they defend, and lose in the same order on both sides.
    text = ", ".join(f"{number} {unit}" for unit, number in units.items())
    solved = exact.solve(land(text, text))
    assert solved.outcome("attacker_wins") == solved.outcome("defender_wins")
    battles = fought(land(text, text), 4_000)
    assert_share(int((battles.outcome == "attacker_wins").sum()), 4_000, float(solved.outcome("attacker_wins")))
    assert_share(int((battles.outcome == "defender_wins").sum()), 4_000, float(solved.outcome("defender_wins")))


def test_doubled_costs_double_the_swing() -> None:
    armies = ("3 infantry, 1 artillery, 1 tank", "4 infantry, 1 tank")
    doubled = {
        f"{unit}.cost": 2 * ref.EDITIONS["spring1942"].units[unit].cost for unit in ref.LAND if unit != "mech_infantry"
    }
    plain, dear = fought_all([land(*armies), land(*armies, edition_changes=doubled)])
    assert plain.same_as(dear)
    assert np.array_equal(2 * plain.cost_lost, dear.cost_lost)
    assert dear.tally["swing.sum"] == 2 * plain.tally["swing.sum"]
    assert dear.tally["swing.sumsq"] == 4 * plain.tally["swing.sumsq"]


@settings(max_examples=25)
@given(
    attackers=st.dictionaries(st.sampled_from(("infantry", "tank", "fighter")), st.integers(1, 5), min_size=1),
    defenders=st.dictionaries(st.sampled_from(("infantry", "tank", "fighter")), st.integers(1, 5), min_size=1),
    more=st.sampled_from(("infantry", "tank", "fighter")),
)
def test_one_more_unit_never_hurts(attackers: dict[str, int], defenders: dict[str, int], more: str) -> None:
    # With shared dice this holds battle by battle where no unit supports another.
    def text(counts: dict[str, int]) -> str:
        return ", ".join(f"{number} {unit}" for unit, number in counts.items())

    more_attackers = attackers | {more: attackers.get(more, 0) + 1}
    more_defenders = defenders | {more: defenders.get(more, 0) + 1}
    plain, stronger, harder = fought_all(
        [
            land(text(attackers), text(defenders)),
            land(text(more_attackers), text(defenders)),
            land(text(attackers), text(more_defenders)),
        ],
        200,
        pairing="common",
    )
    assert (stronger.left("attacker") >= plain.left("attacker")).all()
    assert (stronger.left("defender") <= plain.left("defender")).all()
    assert (harder.left("attacker") <= plain.left("attacker")).all()
    assert (harder.left("defender") >= plain.left("defender")).all()


def test_pairings() -> None:
    armies = ("3 infantry, 1 artillery", "3 infantry")
    scenarios = [
        land(*armies, "spring1942"),
        land(*armies, "1942_2nd"),
        land(*armies, territory={"value": 3}),
    ]
    first, second, third = fought_all(scenarios)
    assert first.same_as(second)
    assert first.same_as(third)
    first, second, third = fought_all(scenarios, pairing="common")
    assert first.same_as(second)
    assert first.same_as(third)
    first, second, third = fought_all(scenarios, pairing="independent")
    assert not first.same_as(second)
    assert not first.same_as(third)
    one, other = fought_all([land("3 tank", "3 infantry"), land("3 tank", "3 infantry, 1 aa_gun")])
    assert not one.same_as(other)
    one, other = fought_all([land("3 tank", "3 infantry"), land("3 tank", "3 infantry, 1 aa_gun")], pairing="common")
    assert one.same_as(other)


@settings(max_examples=10)
@given(scenario=land_scenarios(), battle=st.integers(0, 50))
def test_a_replay_is_the_battle_of_that_number(scenario: dict[str, Any], battle: int) -> None:
    replay = simcore.replay(scenario, battle=battle)
    whole = fought(scenario, 51)
    assert replay.outcome == whole.outcome[battle]
    assert replay.cycles == whole.cycles[battle]


# --------------------------------------------------------------------------------------------------
# Every clause has a test, and every test names a clause that exists.
# --------------------------------------------------------------------------------------------------


def test_every_clause_has_a_test() -> None:
    rules = Path(simcore.__file__).parent / "rulesets" / "general_combat" / "RULES.md"
    clauses = re.findall(r"^- \*\*(GC-[^*]+)\*\*", rules.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(clauses) == len(set(clauses)) > 75
    marked = set()
    for path in Path(__file__).parent.glob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in {"rule", "pytest.mark.rule"}:
                marked.add(ast.literal_eval(node.args[0]))
    assert marked == set(clauses)
    for name in ("worked", "disputed", "scripted", "sea", "sea_scripted", "assault", "raid"):
        for case in cases(name):
            assert set(case["rules"]) <= set(clauses), case["id"]


@rule("GC-4.0.1")
def test_guns_fire_at_every_aircraft_of_the_largest_force() -> None:
    force = "2000 fighter, 2000 bomber, 2000 tactical_bomber"
    data = land(force, "2000 aa_gun, 1 infantry", "global40_2nd", cycle_limit=1)
    lost = 6_000 - fought(data, 50).left("attacker")
    assert abs(lost.mean() - 1_000) < 50
