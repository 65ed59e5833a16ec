"""One test or more for every sentence and every open question of the rules, by its id in RULES.md."""

from __future__ import annotations

import ast
import itertools
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import icepool
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import simcore
from simcore.core.jit import is_jit_disabled
from simcore.rulesets.mass_battle.encoding import Standing
from tests.rulesets.mass_battle.field import ATTACKER, DEFENDER, Field
from tests.rulesets.mass_battle.strategies import scenarios
from tests.rulesets.mass_battle.support import HOUSE, NEAR, SIDES, battle, house, means

rule = pytest.mark.rule

compiled_only = pytest.mark.skipif(is_jit_disabled(), reason="takes too long without the JIT")
BATTLES = 40 if is_jit_disabled() else 4_000


@pytest.fixture(autouse=True)
def _wrapping() -> Any:
    """Let products of 64-bit words wrap around silently, as they do in compiled code."""
    with np.errstate(over="ignore"):
        yield


def played(scenario: dict[str, Any], *script: int) -> Any:
    """Return the battle with these hits at its draw points."""
    return simcore.replay(scenario, script=list(script))


def total(told: Any, side: str, *states: str) -> int:
    """Return a replay's squads of a side in these states."""
    return sum(sum(told.squads[side].get(state, {}).values()) for state in states)


def dice_of(told: Any, side: str) -> dict[int, int]:
    """Return the dice of the first part of a side's attack rolls, by turn."""
    return {
        draw["turn"]: draw["dice"]
        for draw in told.draws
        if draw["side"] == side and draw["what"] == "showing 4 or more"
    }


def share(scenario: dict[str, Any], outcome: str = "attacker_wins") -> float:
    """Return the exact chance of an outcome."""
    return means(scenario)[f"outcome.{outcome}"]


def differs(attacker: Any, defender: Any, **options: Any) -> bool:
    """Whether options change the chances of a battle."""
    plain, other = means(battle(attacker, defender)), means(battle(attacker, defender, **options))
    return any(abs(plain[name] - other[name]) > 1e-9 for name in plain)


# --------------------------------------------------------------------------------------------------
# Rolls and effects
# --------------------------------------------------------------------------------------------------


@rule("MB-1")
def test_pools_are_forces_support_and_modifier() -> None:
    scenario = house({"units": "1 levy, 2 guard", "support_dice": 3, "pool_modifier": -2}, "3 levy", max_turns=1)
    told = simcore.replay(scenario)
    assert dice_of(told, "attacker") == {1: 1 + 2 * 2 + 3 - 2}
    assert dice_of(told, "defender") == {1: 3}


@rule("MB-2")
@pytest.mark.parametrize("dice", [1, 2, 5])
def test_dice_are_a_pool_of_six_sided_dice(dice: int) -> None:
    """The number of squads out of line after one turn, against an independent library of dice."""
    found = means(
        battle({"units": "1 squad", "pool": dice}, {"units": "3 squad", "pool": 0}, pool_model="fixed", max_turns=1)
    )
    hits = dice @ icepool.d6.map(lambda face: int(face >= 5))
    gone = hits.map(lambda n: min(n, 3))
    mean = float(sum(Fraction(n) * gone.probability(n) for n in gone))
    lost = found["squads.defender.destroyed"] + found["squads.defender.routed"]
    assert abs(lost - mean) < NEAR
    # The defender's negative roll of two dice breaks the attacker's only squad with 1/6.
    broken = float(gone.probability(3)) if dice >= 3 else 0.0
    assert abs(found["outcome.attacker_wins"] - broken * 5 / 6) < NEAR
    assert abs(found["outcome.both_broken"] - broken / 6) < NEAR


@rule("MB-3")
@rule("MB-4")
@rule("MB-12")
def test_suppressed_squads_miss_the_next_turn_and_come_back() -> None:
    # Turn 1: the defender's only die shows a 4. Nobody hits anything afterwards.
    told = played(battle("3 squad", "1 squad", max_turns=3), 0, 1, 0, 0, 0, 0, 0)
    assert dice_of(told, "attacker") == {1: 3, 2: 2, 3: 3}
    assert total(told, "attacker", "active") == 3


@rule("MB-5")
@rule("MB-6")
@rule("MB-8")
@rule("MA-13")
@pytest.mark.parametrize(("miss", "expected"), [(1, [3, 2, 2, 3]), (0, [3, 2, 3, 3])])
def test_routed_squads_flee_and_may_be_halted(miss: int, expected: list[int]) -> None:
    script = [0, 1, 1, 0, 1, *[0] * 6]
    told = played(battle("3 squad", "1 squad", max_turns=4, rally_miss=miss), *script)
    assert list(dice_of(told, "attacker").values()) == expected
    rally = next(draw for draw in told.draws if draw["step"] == "rally")
    assert (rally["turn"], rally["dice"], rally["odds"]) == (2, 1, [1, 2])


@rule("MB-7")
def test_a_character_rolls_his_skill_less_the_size_class() -> None:
    army = {"units": "2 guard", "characters": [{"skill": 3}]}
    told = played(house(army, "1 levy", max_turns=2), 0, 1, 1, 0, 1, 0, 0)
    roll = next(draw for draw in told.draws if draw["step"] == "character")
    assert roll["odds"] == [3, 4]  # two dice, for a squad of size class 1
    assert total(told, "attacker", "suppressed") == 1
    assert not any(draw["step"] == "rally" for draw in told.draws)


@rule("MB-9")
def test_a_character_may_make_a_squad_active_at_once() -> None:
    army = {"units": "2 squad", "characters": [{"skill": 3, "route": "army", "army_modifier": 4}]}
    told = played(battle(army, "1 squad", max_turns=2), 0, 1, 1, 0, 1, 0, 0)
    roll = next(draw for draw in told.draws if draw["step"] == "character")
    assert roll["odds"] == [1, 8]
    assert dice_of(told, "attacker") == {1: 2, 2: 2}
    assert total(told, "attacker", "active") == 2


@rule("MB-10")
@rule("MB-11")
def test_destroyed_squads_are_lost_for_good() -> None:
    told = played(house("2 guard", "1 levy", max_turns=3), 0, 1, 1, 1, 0, 0, 0, 0)
    assert total(told, "attacker", "destroyed") == 1
    assert told.cost_lost == {"attacker": 3, "defender": 0}
    assert list(dice_of(told, "attacker").values()) == [4, 2, 2]


@rule("MB-13")
@rule("MB-14")
@given(
    faces=st.lists(st.integers(1, 6), max_size=12), active=st.integers(0, 4), due=st.integers(0, 4),
    rallied=st.integers(0, 3),
)  # fmt: skip
def test_surplus_is_dropped_weakest_first(faces: list[int], active: int, due: int, rallied: int) -> None:
    field = Field().put(ATTACKER, {"active": 1})
    field.put(DEFENDER, {"active": active, "suppressed": due, "rallied": rallied})
    dropped = field.deal(DEFENDER, faces)
    effects = sorted((face for face in faces if face >= 4), reverse=True)
    squads = active + due + rallied
    assert dropped == sorted(effects[squads:])
    kept = effects[:squads]
    assert field.count(DEFENDER, Standing.DESTROYED) == kept.count(6)
    assert field.count(DEFENDER, Standing.ROUTED) == kept.count(5)
    assert field.count(DEFENDER, *Standing) == squads
    # Whoever was not reached is as before: active squads are reached first.
    assert field.count(DEFENDER, Standing.ACTIVE) == max(0, active - len(kept))


@rule("MB-15")
def test_first_example_of_the_source() -> None:
    told = played(battle({"units": "5 squad"}, "2 squad", max_turns=1), 5, 4, 3, 0)
    assert told.squads["defender"] == {"destroyed": {"squad": 2}}
    assert told.outcome == "attacker_wins"


@rule("MB-16")
@rule("MA-10")
def test_second_example_of_the_source() -> None:
    field = Field().put(DEFENDER, {"active": 2, "suppressed": 2})
    assert field.deal(DEFENDER, [4, 5, 6, 6, 6]) == [4]
    assert field.count(DEFENDER, Standing.DESTROYED) == 3
    assert field.count(DEFENDER, Standing.ROUTED) == 1
    assert field.count(DEFENDER, Standing.ACTIVE) == 0


@rule("MB-17")
@rule("MA-3")
@rule("MA-17")
def test_an_army_without_squads_in_line_is_broken() -> None:
    army = {"units": "1 squad", "support_dice": 3}
    told = played(battle("1 squad", army, max_turns=5), 1, 1, 0, 0)
    assert (told.outcome, told.turns) == ("attacker_wins", 1)
    assert total(told, "defender", "routed") == 1
    both = played(battle("1 squad", "1 squad"), 1, 1, 1, 1, 1, 1)
    assert (both.outcome, both.turns) == ("both_broken", 1)
    assert total(both, "attacker", "captured") == total(both, "defender", "captured") == 0


@rule("MA-17")
@pytest.mark.parametrize(
    ("mutual", "outcome"), [("draw", "both_broken"), ("attacker", "attacker_wins"), ("defender", "defender_wins")]
)
def test_both_broken(mutual: str, outcome: str) -> None:
    army = {"units": "1 mobile_squad", "can_flee": False}
    told = played(battle(army, army, mutual_break=mutual), 1, 1, 0, 1, 1, 0)
    assert told.outcome == outcome
    assert total(told, "attacker", "captured") == total(told, "defender", "captured") == 0
    chance = share(battle("1 squad", "1 squad", mutual_break=mutual), outcome)
    assert abs(chance - (5 / 28 + (0 if mutual == "draw" else 23 / 56))) < NEAR


@rule("MB-18")
@rule("MA-18")
@rule("MA-19")
@pytest.mark.parametrize(
    ("options", "mobile", "resting", "caught"),
    [
        ({}, 1, 0, 5),
        ({}, 0, 0, 0),
        ({}, 0, 1, 0),
        ({"pursuit_scope": "routed_this_turn"}, 1, 0, 3),
        ({"pursuit_limit": "one_per_squad"}, 1, 0, 1),
        ({"pursuit_limit": "one_per_squad"}, 4, 0, 4),
        ({"pursuit_limit": "one_per_squad"}, 4, 3, 4),
        ({"pursuit_limit": "suppressed_too"}, 0, 1, 5),
        ({"pursuit_limit": "one_per_squad", "pursuit_scope": "routed_this_turn"}, 9, 0, 3),
    ],
)
def test_mobile_squads_pursue(options: dict[str, Any], mobile: int, resting: int, caught: int) -> None:
    for fate in ("captured", "destroyed"):
        field = Field(battle("9 squad, 9 mobile_squad", "9 squad", pursuit_fate=fate, **options))
        field.put(ATTACKER, {"active": 1}).put(ATTACKER, {"active": mobile, "suppressed": resting}, 1)
        field.put(DEFENDER, {"routed": 3, "failed": 2})
        field.conclude()
        assert field.count(DEFENDER, Standing[fate.upper()]) == caught
        # Those just routed are caught first; nobody vanishes.
        assert field.count(DEFENDER, Standing.ROUTED) == max(0, 3 - caught)
        assert field.count(DEFENDER, *Standing) == 5


@rule("MB-19")
@rule("MB-20")
@rule("MA-5")
@pytest.mark.parametrize(
    ("needs", "others", "confirmed"),
    [("all", 2, True), ("all", 1, False), ("all", 0, False), ("any", 2, True), ("any", 1, True), ("any", 0, False)],
)
def test_the_main_die_needs_the_others(needs: str, others: int, *, confirmed: bool) -> None:
    army = {"units": "1 squad", "pool_modifier": -2}
    script = [1, 1, 0, others] + ([0] if others < 2 else []) + [0]
    told = played(battle(army, "1 squad", max_turns=1, negative_needs=needs), *script)
    assert total(told, "defender", "routed") == confirmed
    # Without a 4 or more on the main die there is nothing to confirm.
    told = played(battle(army, "1 squad", max_turns=1, negative_needs=needs), 0, 2, 0, 0)
    assert total(told, "defender", "active") == 1


@rule("MB-21")
@rule("MA-7")
def test_ones_suppress_own_active_squads_that_are_left() -> None:
    army = {"units": "2 squad", "pool_modifier": -2}
    # Both dice of the attacker show 1; the defender destroys one squad: only one is left to be suppressed.
    told = played(battle(army, "1 squad", max_turns=1), 0, 0, 2, 1, 1, 1)
    assert told.squads["attacker"] == {"suppressed": {"squad": 1}, "destroyed": {"squad": 1}}
    assert told.outcome == "undecided"


@rule("MA-6")
def test_ones_of_ordinary_rolls() -> None:
    told = played(battle("3 squad", "1 squad", max_turns=1), 0, 0)
    assert not any("1" in draw["what"].split()[-1:] for draw in told.draws)
    told = played(battle("3 squad", "1 squad", max_turns=1, ones_backfire="every_roll"), 0, 2, 0, 0)
    assert total(told, "attacker", "suppressed") == 2
    assert differs("3 squad", "3 squad", ones_backfire="every_roll")


# --------------------------------------------------------------------------------------------------
# Readings
# --------------------------------------------------------------------------------------------------


@rule("MA-1")
@pytest.mark.parametrize("order", list(itertools.permutations(("suppress", "rout", "destroy"))))
def test_faces_have_the_effects_they_are_given(order: tuple[str, str, str]) -> None:
    faces = dict(zip(("4", "5", "6"), order, strict=True))
    states = {"suppress": "suppressed", "rout": "routed", "destroy": "destroyed"}
    for place, effect in enumerate(order):
        script = [1, min(place, 1)] + ([max(place - 1, 0)] if place else [])
        told = played(battle("1 squad", "2 squad", max_turns=1, face_effects=faces), *script, 0)
        assert total(told, "defender", states[effect]) == 1
    # Each effect still has one face of six, so the odds are the same.
    assert not differs("2 squad", "2 squad", face_effects=faces)


@rule("MA-2")
def test_pool_models() -> None:
    told = simcore.replay(battle("5 squad", "3 squad", pool_model="difference", max_turns=1))
    assert dice_of(told, "attacker") == {1: 2}
    others = [draw["dice"] for draw in told.draws if draw["what"].startswith("other dice")]
    assert others == [3]  # pool -2: four dice, one of them the main die
    fixed = {"units": "2 squad", "pool": [3, 1], "pool_modifier": [0, 0, 2]}
    told = played(battle(fixed, {"units": "2 squad", "pool": 1}, pool_model="fixed", max_turns=5), *[0] * 10)
    assert list(dice_of(told, "attacker").values()) == [3, 1, 3, 3, 3]


@rule("MA-2")
def test_modifiers_turn_by_turn_are_exact_too() -> None:
    """A list whose end holds on is the same as the plain number, and a longer one is not."""
    plain = means(battle({"units": "2 squad", "pool_modifier": 1}, "2 squad"))
    listed = means(battle({"units": "2 squad", "pool_modifier": [1, 1, 1]}, "2 squad"))
    assert all(abs(plain[name] - listed[name]) < NEAR * max(1.0, abs(plain[name])) for name in plain)
    changing = battle({"units": "2 squad", "pool_modifier": [3, 0, -1]}, "2 squad")
    found, drawn = means(changing), means(changing, exact=False, battles=BATTLES)
    p = found["outcome.attacker_wins"]
    assert abs(drawn["outcome.attacker_wins"] - p) < 4.5 * (p * (1 - p) / BATTLES) ** 0.5
    assert abs(p - plain["outcome.attacker_wins"]) > 1e-3


@rule("MA-4")
@pytest.mark.parametrize(
    ("kind", "pool", "dice"),
    [("two_minus_pool", 0, 2), ("two_minus_pool", -1, 3), ("two_minus_pool", -5, 7), ("count", 0, 2), ("count", -1, 2),
     ("count", -2, 2), ("count", -5, 5)],
)  # fmt: skip
def test_dice_of_negative_rolls(kind: str, pool: int, dice: int) -> None:
    army = {"units": "1 squad", "pool_modifier": pool - 1}
    told = simcore.replay(battle(army, "1 squad", negative_dice=kind, max_turns=1))
    assert dice_of(told, "attacker") == {1: 1}
    assert next(draw["dice"] for draw in told.draws if draw["what"].startswith("other dice")) == dice - 1


@rule("MA-8")
def test_squads_in_flight_as_targets() -> None:
    plain = Field(battle("1 squad", "9 squad")).put(DEFENDER, {"active": 1, "failed": 2})
    assert plain.deal(DEFENDER, [6, 6, 5]) == [5, 6]
    open_field = Field(battle("1 squad", "9 squad", rally_attempts="unlimited", routed_targets=True))
    open_field.put(DEFENDER, {"active": 1, "failed": 3})
    assert open_field.deal(DEFENDER, [6, 6, 5, 4]) == []
    assert open_field.count(DEFENDER, Standing.DESTROYED) == 2
    assert open_field.count(DEFENDER, Standing.FAILED) == 2
    with pytest.raises(simcore.ScenarioError, match="rally_attempts"):
        simcore.encode([battle("1 squad", "1 squad", routed_targets=True)])


@rule("MA-9")
def test_suppression_is_renewed_or_wasted() -> None:
    for renews in (True, False):
        field = Field(battle("1 squad", "9 squad", renew_suppression=renews)).put(DEFENDER, {"suppressed": 2})
        assert field.deal(DEFENDER, [4, 4, 4]) == [4]
        assert field.count(DEFENDER, Standing.LATE) == (2 if renews else 0)
        field.begin(DEFENDER)
        assert field.count(DEFENDER, Standing.ACTIVE) == (0 if renews else 2)
    assert differs("3 squad", "3 squad", renew_suppression=False)


@rule("MA-10")
@rule("MA-23")
@pytest.mark.parametrize(
    ("order", "first"), [("listed", "levy"), ("strongest", "guard"), ("weakest", "levy"), ("random", "")]
)
def test_target_order(order: str, first: str) -> None:
    scenario = house("1 levy", "1 levy, 1 guard, 1 riders", target_order=order, max_turns=1)
    if first:
        told = played(scenario, 1, 1, 1, 0)
        assert told.squads["defender"]["destroyed"] == {first: 1}
        return
    for place, name in enumerate(HOUSE["house"]["units"]):
        told = played(scenario, 1, 1, 1, 0, place)
        assert told.squads["defender"]["destroyed"] == {name: 1}
    kept = simcore.simulate(simcore.encode([scenario]), battles=BATTLES, keep_battles=True)
    assert kept.squads is not None
    gone = kept.squads[0, :, DEFENDER, 4, :3].sum(axis=0)
    share_of_each = gone / gone.sum()
    assert np.all(np.abs(share_of_each - 1 / 3) < 4.5 * (2 / 9 / gone.sum()) ** 0.5)


@rule("MA-11")
def test_who_rolls_first_silences_the_other() -> None:
    # The defender's only squad is suppressed before it could answer, and so is the attacker's in the other case.
    for side, other in zip(SIDES, reversed(SIDES), strict=True):
        told = played(battle("1 squad", "1 squad", initiative=f"{side}_first", max_turns=1), 1, 0)
        assert (dice_of(told, side), dice_of(told, other)) == ({1: 1}, {})
        assert total(told, other, "suppressed") == 1
    first, second = (share(battle("3 squad", "3 squad", initiative=f"{side}_first")) for side in SIDES)
    assert 0.75 < first < 0.8
    assert abs(first + second - 1.0) < NEAR


@rule("MA-12")
@rule("MA-20")
def test_nobody_rolls_for_suppressed_squads_or_without_active_ones() -> None:
    told = played(battle("1 squad", "1 squad", max_turns=3), 0, 1, 0, 0, 0, 0)
    assert dice_of(told, "attacker") == {1: 1, 3: 1}
    assert {draw["step"] for draw in told.draws} == {"attack"}


@rule("MA-14")
def test_attempts_to_halt() -> None:
    script = [0, 1, 1, 0, 0, 0, 0]
    once = played(battle("2 squad", "1 squad", max_turns=2), *script)
    assert total(once, "attacker", "fled") == 1
    again = played(battle("2 squad", "1 squad", max_turns=3, rally_attempts="unlimited"), *script, 1, 0, 0)
    assert total(again, "attacker", "suppressed") == 1
    assert [draw["turn"] for draw in again.draws if draw["step"] == "rally"] == [2, 3]


@rule("MA-15")
@pytest.mark.parametrize(
    ("pool", "face", "odds"), [(1, 4, [1, 2]), (2, 4, [3, 4]), (0, 4, [1, 4]), (-1, 4, [1, 8]), (1, 6, [1, 6]),
                               (2, 5, [5, 9]), (0, 2, [25, 36])],
)  # fmt: skip
def test_success_of_a_skill(pool: int, face: int, odds: list[int]) -> None:
    told = played(battle("2 squad", "1 squad", max_turns=2, rally_pool=pool, success_face=face), 0, 1, 1, 0, 0, 0, 0)
    assert next(draw["odds"] for draw in told.draws if draw["step"] == "rally") == odds


@rule("MA-16")
def test_characters_come_before_commanders_and_take_the_first_in_listed_order() -> None:
    # Three squads are routed at once; two characters try the levy and one guard, a commander the other guard.
    army = {"units": "1 levy, 2 guard, 1 riders", "characters": [{"skill": 2}, {"skill": 4}]}
    told = played(house(army, "3 guard", max_turns=2), 0, 3, 3, 0, 1, 0, 1, 0, 0)
    rolls = [(draw["step"], draw["dice"], draw["odds"]) for draw in told.draws if draw["turn"] == 2][:3]
    assert rolls == [("character", 1, [3, 4]), ("character", 1, [7, 8]), ("rally", 1, [3, 4])]


@rule("MA-21")
def test_an_army_that_cannot_flee_loses_its_routed_squads() -> None:
    army = {"units": "2 squad", "can_flee": False}
    told = played(battle("2 squad", army), 2, 2, 0, 0)
    assert total(told, "defender", "captured") == 2
    assert told.cost_lost["defender"] == 2
    free = played(battle("2 squad", "2 squad"), 2, 2, 0, 0)
    assert total(free, "defender", "routed") == 2
    assert free.cost_lost["defender"] == 0


@rule("MA-22")
@pytest.mark.parametrize("limit", [1, 2, 7])
def test_battles_end_undecided_at_the_limit(limit: int) -> None:
    army = {"units": "1 squad", "pool_modifier": -1000}
    told = simcore.replay(battle(army, army, max_turns=limit))
    assert (told.outcome, told.turns) == ("undecided", limit)
    found = means(battle(army, army, max_turns=limit))
    assert abs(found["outcome.undecided"] - 1.0) < NEAR
    assert abs(found["turns.sum"] - limit) < NEAR
    default = simcore.replay(battle(army, army))
    assert (default.outcome, default.turns) == ("undecided", 100)


@rule("MA-23")
def test_unlike_squads_differ_in_dice_alone_where_they_are_hit() -> None:
    alike: dict[str, Any] = {"two": {"units": {"left": {}, "right": {}}}}
    mixed = battle("1 left, 2 right", "2 left, 1 right") | {"edition": "two", "editions": alike}
    plain = means(battle("3 squad", "3 squad"))
    found = means(mixed)
    for name in plain:
        if not name.startswith("survivors."):
            assert abs(plain[name] - found[name]) < 1e-11 * max(1.0, abs(plain[name])), name


# --------------------------------------------------------------------------------------------------
# What holds in every battle
# --------------------------------------------------------------------------------------------------


@given(scenario=scenarios(), number=st.integers(0, 1000))
def test_squads_are_conserved(scenario: dict[str, Any], number: int) -> None:
    told = simcore.replay(scenario, battle=number)
    for side in SIDES:
        found: dict[str, int] = {}
        for counts in told.squads[side].values():
            for unit, count in counts.items():
                found[unit] = found.get(unit, 0) + count
        assert found == scenario[side]["units"]


@compiled_only
@given(scenarios())
def test_squads_of_many_battles_are_conserved(scenario: dict[str, Any]) -> None:
    # More battles than lanes: what one leaves behind in its lane is not the next one's.
    encoded = simcore.encode([scenario])
    run = simcore.simulate(encoded, battles=BATTLES // 4 + 60)
    for side, name in ((0, "attacker"), (1, "defender")):
        counted = sum(
            int(run.column(column)[0])
            for column in encoded.ruleset.accumulators
            if column.startswith(f"squads.{name}.")
        )
        assert counted == run.battles * sum(encoded.scenarios[0].counts(side).values())


def test_exchanging_the_armies_mirrors_the_odds() -> None:
    one = {"units": "3 squad, 1 mobile_squad", "pool_modifier": -1}
    two = {"units": "3 squad", "support_dice": 1}
    here, there = means(battle(one, two)), means(battle(two, one))
    swapped = {"attacker": "defender", "defender": "attacker"}
    for name, value in here.items():
        mirror = re.sub("attacker|defender", lambda found: swapped[found[0]], name)
        sign = -1.0 if name == "swing.sum" else 1.0
        assert abs(value - sign * there[mirror]) < 1e-11 * max(1.0, abs(value)), name


def most_lost(scenario: dict[str, Any], side: str) -> int:
    """Return what a side can lose at most."""
    return int(simcore.encode([scenario]).scenarios[0].cost(SIDES.index(side)))


@pytest.mark.statistical
@compiled_only
@given(scenario=scenarios(most=2))
def test_samples_agree_with_solutions(scenario: dict[str, Any]) -> None:
    if scenario["options"].get("target_order") == "random" and any(len(scenario[s]["units"]) > 1 for s in SIDES):
        return
    try:
        found = means(scenario)
    except simcore.ScenarioError as problem:  # too large to be solved
        if not re.search(r"states, more than|more states than|has no exact solver", problem.problem):
            raise
        return
    drawn = means(scenario, exact=False, battles=BATTLES)
    for name in ("attacker_wins", "defender_wins", "both_broken", "undecided"):
        p = min(1.0, max(0.0, found[f"outcome.{name}"]))
        # What happens once in many runs may happen in this one: then it counts for far more than it is likely.
        assert abs(drawn[f"outcome.{name}"] - p) <= 5.5 * (p * (1 - p) / BATTLES) ** 0.5 + 3 / BATTLES, name
    for side in SIDES:
        mean = found[f"{side}.cost_lost.sum"]
        spread = max(0.0, found[f"{side}.cost_lost.sumsq"] - mean**2) ** 0.5
        most = most_lost(scenario, side)
        assert abs(drawn[f"{side}.cost_lost.sum"] - mean) <= 5.5 * spread / BATTLES**0.5 + 3 * most / BATTLES


@pytest.mark.parametrize("pool", [0, 1, -1, pytest.param(1000, marks=compiled_only)])
def test_boundary_pools(pool: int) -> None:
    scenario = battle({"units": "2 squad", "pool": pool}, {"units": "2 squad", "pool": 1}, pool_model="fixed")
    drawn, found = means(scenario, exact=False, battles=BATTLES), means(scenario)
    assert abs(sum(value for name, value in found.items() if name.startswith("outcome.")) - 1.0) < NEAR
    p = found["outcome.attacker_wins"]
    assert abs(drawn["outcome.attacker_wins"] - p) <= 4.5 * max(p * (1 - p) / BATTLES, 0.0) ** 0.5 + 1e-9


def test_more_dice_at_the_same_words_never_do_less() -> None:
    """Common random numbers: the effects of a larger pool contain those of a smaller one."""
    encoded = [
        simcore.encode([battle({"units": "3 squad", "pool_modifier": more}, "9 squad", max_turns=1)])
        for more in (0, 1, 4)
    ]
    kept = [simcore.simulate(one, battles=BATTLES, keep_battles=True).squads for one in encoded]
    for less, more in itertools.pairwise(kept):
        assert less is not None
        assert more is not None
        gone = [squads[0, :, DEFENDER].sum(axis=-1) for squads in (less, more)]
        assert np.all(gone[0][:, 4] <= gone[1][:, 4])
        assert np.all(gone[0][:, [2, 4]].sum(axis=1) <= gone[1][:, [2, 4]].sum(axis=1))
        assert np.all(gone[0][:, 0] >= gone[1][:, 0])


# --------------------------------------------------------------------------------------------------
# Every clause has a test, and every test names a clause that exists.
# --------------------------------------------------------------------------------------------------


def test_every_clause_has_a_test() -> None:
    rules = Path(simcore.__file__).parent / "rulesets" / "mass_battle" / "RULES.md"
    clauses = re.findall(r"^- \*\*(M[AB]-\d+)\*\*", rules.read_text(encoding="utf-8"), re.MULTILINE)
    assert clauses == [f"MB-{n}" for n in range(1, 22)] + [f"MA-{n}" for n in range(1, 24)]
    marked = {
        ast.literal_eval(node.args[0])
        for node in ast.walk(ast.parse(Path(__file__).read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "rule"
    }
    assert marked == set(clauses)
