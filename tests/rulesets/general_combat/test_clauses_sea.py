"""One test or more for every clause about sea battles, by its id in RULES.md."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest

import simcore
from simcore.errors import ScenarioError
from tests.rulesets.general_combat import reference as ref
from tests.rulesets.general_combat.support import EDITIONS, Fought, fought, fought_all
from tests.rulesets.general_combat.test_clauses import COIN, assert_share, distinct
from tests.rulesets.general_combat.test_reference_sea import at_sea

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

rule = pytest.mark.rule

BATTLES = 20_000
STEP_2_EDITIONS = tuple(edition for edition in EDITIONS if edition != "revised")


def told(scenario: Mapping[str, Any], *hits: int) -> Any:
    """Return the battle in which the draws give these hits, in order."""
    return simcore.replay(scenario, script=list(hits))


def thrown(replay: Any) -> list[tuple[int, str, str, int]]:
    """Return the draws of a battle: cycle, step, side and number of dice."""
    return [(draw["cycle"], draw["step"], draw["side"], draw["dice"]) for draw in replay.draws]


def left(replay: Any) -> tuple[dict[str, int], dict[str, int]]:
    """Return the survivors of both sides."""
    return replay.survivors["attacker"], replay.survivors["defender"]


def submerged(battles: Fought) -> tuple[int, int]:
    """Return the number of submerged submarines of both sides in all battles."""
    return battles.tally["submerged.attacker"], battles.tally["submerged.defender"]


def assert_outcomes(scenario: Mapping[str, Any], **shares: str) -> Fought:
    """Check the share of every outcome within 4.5 standard errors; those not named do not occur."""
    battles = fought(scenario, BATTLES)
    for outcome in ref.OUTCOMES:
        p = float(Fraction(shares.get(outcome, "0")))
        assert_share(int((battles.outcome == outcome).sum()), BATTLES, p)
    return battles


def in_table_order(units: str | dict[str, int]) -> str:
    """Write a list of units in the order of the unit table."""
    counts = ref.parse_units(units)
    return ", ".join(f"{counts[unit]} {unit}" for unit in ref.UNITS if counts.get(unit))


def assert_endings(scenario: Mapping[str, Any], endings: Mapping[tuple[str, str], str]) -> None:
    """Check the share of every way to end, given by the survivors of both sides."""
    battles = fought(scenario, BATTLES)
    counts = Counter(
        tuple(in_table_order(dict(zip(ref.UNITS, survivors, strict=True))) for survivors in sides)
        for sides in battles.survivors.tolist()
    )
    wanted = {tuple(in_table_order(units) for units in ending): share for ending, share in endings.items()}
    assert set(counts) == set(wanted)
    for ending, share in wanted.items():
        assert_share(counts[ending], BATTLES, float(Fraction(share)))


# --------------------------------------------------------------------------------------------------
# 2.3 Switches
# --------------------------------------------------------------------------------------------------


@rule("GC-2.3:sub_first_strike")
@rule("GC-4.2.1")
@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("switch", ["no_enemy_destroyer", "always", None])
def test_a_destroyer_stops_strikes_by_the_switch(edition: str, switch: str | None) -> None:
    scenario = at_sea("1 submarine", "1 destroyer", edition, cycle_limit=1)
    if switch:
        scenario["switches"] = {"sub_first_strike": switch}
    strikes = switch == "always" or (switch is None and edition == "revised")
    steps = thrown(told(scenario, 0, 0))
    assert steps == [(1, "strike" if strikes else "attack", "attacker", 1), (1, "defence", "defender", 1)]
    beside_nobody = told(at_sea("1 submarine", "1 carrier", edition, cycle_limit=1), 0, 0)
    assert thrown(beside_nobody)[0] == (1, "strike", "attacker", 1)


@rule("GC-2.3:sub_first_strike")
@pytest.mark.parametrize(
    ("switch", "shares"),
    [
        ("no_enemy_destroyer", {"attacker_wins": "2/5", "both_destroyed": "1/5", "defender_wins": "2/5"}),
        ("always", {"attacker_wins": "2/5", "both_destroyed": "1/5", "defender_wins": "2/5"}),
    ],
)
def test_a_lone_destroyer_fires_back_either_way(switch: str, shares: dict[str, str]) -> None:
    # Behind the strip it fires just as it would beside a submarine that fires in step 3.
    assert_outcomes(at_sea("1 submarine", "1 destroyer", switches={"sub_first_strike": switch}), **shares)


@rule("GC-2.3:sub_first_strike")
def test_losses_of_a_strike_fire_once_more_beside_a_destroyer() -> None:
    beside = at_sea("2 submarine", "1 destroyer, 1 transport", "revised", cycle_limit=1)
    replay = told(beside, 2, 1, 1)
    # Both ships are lost in step 2, and both fire in step 4.
    assert thrown(replay) == [
        (1, "strike", "attacker", 2),
        (1, "defence", "defender", 1),
        (1, "defence", "defender", 1),
    ]
    assert (replay.outcome, replay.cycles) == ("both_destroyed", 1)
    alone = told(at_sea("2 submarine", "2 transport", "revised"), 2)
    assert (alone.outcome, thrown(alone)) == ("attacker_wins", [(1, "strike", "attacker", 2)])


@rule("GC-2.3:sub_first_strike")
def test_an_attacking_loss_of_a_strike_fires_in_step_3() -> None:
    scenario = at_sea("1 destroyer, 1 carrier", "2 submarine", "revised", cycle_limit=1)
    replay = told(scenario, 1, 1, 0)
    assert thrown(replay) == [(1, "strike", "defender", 2), (1, "attack", "attacker", 1), (1, "attack", "attacker", 1)]
    assert left(replay) == ({"carrier": 1}, {"submarine": 1})


@rule("GC-2.3:sub_first_strike")
def test_a_submarine_that_has_struck_does_not_fire_from_the_strip() -> None:
    scenario = at_sea("1 submarine, 1 destroyer", "2 submarine", "revised", cycle_limit=1)
    replay = told(scenario, 0, 1, 0)
    assert thrown(replay) == [
        (1, "strike", "attacker", 1),
        (1, "strike", "defender", 2),
        (1, "attack", "attacker", 1),
    ]
    assert left(replay) == ({"destroyer": 1}, {"submarine": 2})


@rule("GC-2.3:sub_first_strike")
def test_what_stands_behind_the_strip_is_no_target() -> None:
    # The destroyer is lost in step 2: the hit of step 4 falls on the carrier.
    scenario = at_sea("1 destroyer, 1 carrier", "1 submarine, 1 destroyer", "revised")
    replay = told(scenario, 1, 0, 0, 1)
    assert (replay.outcome, left(replay)) == ("defender_wins", ({}, {"submarine": 1, "destroyer": 1}))


@rule("GC-2.3:sub_submerge")
@rule("GC-8.8")
@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("switch", ["step_2", "cycle_end", None])
def test_submarines_submerge_in_place_of_firing_or_after_it(edition: str, switch: str | None) -> None:
    scenario = at_sea("1 battleship", "2 submarine", edition, defender_submerge="always")
    if switch:
        scenario["switches"] = {"sub_submerge": switch}
    at_end = switch == "cycle_end" or (switch is None and edition == "revised")
    replay = told(scenario, 0, 1) if at_end else told(scenario, 1)
    fire = (1, "attack", "attacker", 1)
    assert thrown(replay) == ([(1, "strike", "defender", 2), fire] if at_end else [fire])
    # A submarine on the board in step 3 can be hit.
    assert left(replay) == ({"battleship": 1}, {"submarine": 1 if at_end else 2})
    assert (replay.outcome, replay.cycles) == ("attacker_wins", 1)


@rule("GC-2.3:sub_submerge")
@rule("GC-4.5.2")
def test_transports_left_by_their_submarines_are_swept_at_once() -> None:
    scenario = at_sea(
        "1 battleship", "1 submarine, 2 transport", "revised", defender_submerge="always", switches={"tt_swept": True}
    )
    replay = told(scenario, 0, 0, 0)
    assert (replay.outcome, replay.cycles, left(replay)[1]) == ("attacker_wins", 1, {"submarine": 1})


@rule("GC-2.3:air_hits_subs")
@rule("GC-4.8.1")
@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("switch", ["with_destroyer", "always", None])
def test_aircraft_hit_submarines_by_the_switch(edition: str, switch: str | None) -> None:
    scenario = at_sea("1 fighter, 1 battleship", "1 submarine", edition, cycle_limit=1)
    if switch:
        scenario["switches"] = {"air_hits_subs": switch}
    always = switch == "always" or (switch is None and edition == "revised")
    replay = told(scenario, 0, 1, 0)
    assert left(replay)[1] == ({} if always else {"submarine": 1})
    beside_destroyer = at_sea("1 fighter, 1 destroyer", "1 submarine", edition, cycle_limit=1)
    beside_destroyer["switches"] = scenario.get("switches", {})
    # In the editions with a strike for everyone the submarine rolls in step 2, in the others in step 4: last.
    assert left(told(beside_destroyer, *((0, 1, 0) if edition == "revised" else (1, 0, 0))))[1] == {}


@rule("GC-2.3:tt_last")
@rule("GC-4.8.5")
@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("switch", [True, False, None])
@pytest.mark.parametrize("side", ref.SIDES)
def test_listed_transports_are_lost_last_by_the_switch(edition: str, switch: bool | None, side: str) -> None:
    mixed, lone = "1 destroyer, 1 transport", "1 battleship"
    armies = (mixed, lone) if side == "attacker" else (lone, mixed)
    scenario = at_sea(*armies, edition, cycle_limit=1)
    scenario[side]["loss_order"] = ["transport", "destroyer"]
    if switch is not None:
        scenario["switches"] = {"tt_last": switch, "tt_swept": False}
    last = switch if switch is not None else edition != "revised"
    # Only the enemy's battleship hits. A defending transport of the Revised edition fires too.
    armed = side == "defender" and edition == "revised"
    hits = (0, 1) if side == "attacker" else (1, 0, 0) if armed else (1, 0)
    lost = told(scenario, *hits).lost[side]
    assert lost.get("destroyer", 0) == (1 if last else 0)
    if not last:
        assert lost == {"transport": 1}


@rule("GC-2.3:tt_swept")
@rule("GC-4.5.2")
@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("switch", [True, False, None])
def test_defenceless_transports_are_swept_by_the_switch(edition: str, switch: bool | None) -> None:
    scenario = at_sea("1 fighter", "3 transport", edition)
    if switch is not None:
        scenario["switches"] = {"tt_swept": switch}
    swept = switch if switch is not None else edition != "revised"
    battles = fought(scenario, 200)
    assert (distinct(battles.cycles) == {0}) == swept
    if swept:
        assert battles.outcomes() == {"attacker_wins"}
    else:
        assert battles.cycles.min() >= 1


@rule("GC-2.3:tt_swept")
def test_transports_that_are_not_swept_keep_a_battle_going() -> None:
    scenario = at_sea("1 cruiser", "1 destroyer, 1 transport", switches={"tt_swept": False})
    replay = told(scenario, 1, 0, 1)
    assert thrown(replay)[-1] == (2, "attack", "attacker", 1)
    assert (replay.outcome, replay.cycles) == ("attacker_wins", 2)


@rule("GC-2.3:tech")
@rule("GC-7")
def test_super_submarines() -> None:
    scenario = at_sea("1 submarine", "1 cruiser", "aa50", attacker_technologies=["super_submarines"])
    assert_outcomes(scenario, attacker_wins="2/3", defender_wins="1/3")
    theirs = at_sea("1 cruiser", "1 submarine", "aa50", defender_technologies=["super_submarines"])
    assert_outcomes(theirs, attacker_wins="5/7", defender_wins="2/7")


@rule("GC-7")
@pytest.mark.parametrize("technology", ["long_range_aircraft", "combined_bombardment", "radar", "advanced_artillery"])
def test_technologies_without_effect_at_sea(technology: str) -> None:
    armies = ("1 submarine, 1 destroyer, 1 fighter", "1 cruiser, 1 carrier, 1 fighter")
    plain, with_it = fought_all(
        [at_sea(*armies, "aa50", attacker_technologies=t, defender_technologies=t) for t in ([], [technology])]
    )
    assert plain.same_as(with_it)


# --------------------------------------------------------------------------------------------------
# 3 Who is in a battle
# --------------------------------------------------------------------------------------------------


@rule("GC-3.3")
@pytest.mark.parametrize("defender", ["1 submarine", "1 transport", "2 submarine, 2 transport"])
def test_submarines_and_transports_alone_may_be_attacked(defender: str) -> None:
    battles = fought(at_sea("2 destroyer", defender), 200)
    assert "attacker_wins" in battles.outcomes()
    assert battles.cost_lost[:, 1].max() > 0


@rule("GC-3.4")
def test_transports_may_attack_alone() -> None:
    assert fought(at_sea("2 transport", "1 destroyer"), 50).outcomes() <= {"attacker_retreats", "defender_wins"}


@rule("GC-3.5")
def test_cargo_is_cost_and_lost_with_its_transport() -> None:
    loads = ["2 infantry", "1 tank, 1 infantry"]
    scenario = at_sea("1 cruiser", "3 transport", defender_cargo=loads)
    battles = fought(scenario, 5)
    assert distinct(battles.cost_lost[:, 1]) == {3 * 7 + 6 + 8}
    sides = {side: scenario[side] for side in ref.SIDES}
    result = simcore.odds(sides["attacker"], sides["defender"], terrain="sea", method="simulate", battles=10).to_dict()
    assert result["defender"]["cost"] == 35


@rule("GC-3.5")
@pytest.mark.parametrize("side", ref.SIDES)
@pytest.mark.parametrize(("lost", "cost"), [(1, 7), (2, 7 + 13), (3, 7 + 13 + 14), (4, 7 + 13 + 14 + 11)])
def test_empty_transports_are_lost_first_and_loaded_ones_as_listed(side: str, lost: int, cost: int) -> None:
    fleet, enemy = "4 transport", "4 cruiser"
    armies = (fleet, enemy) if side == "attacker" else (enemy, f"1 destroyer, {fleet}")
    scenario = at_sea(*armies, cycle_limit=1, switches={"tt_swept": False})
    scenario[side]["cargo"] = ["2 infantry", "1 artillery, 1 infantry", "1 artillery"]
    if side == "attacker":
        assert told(scenario, lost).cost_lost[side] == cost
    elif lost < 4:
        # One hit of four falls on the escort.
        assert told(scenario, lost + 1, 0).cost_lost[side] == cost + 8


@rule("GC-3.5")
def test_cargo_neither_fires_nor_takes_hits() -> None:
    armies = ("1 cruiser, 2 transport", "2 destroyer")
    empty, loaded = fought_all([at_sea(*armies), at_sea(*armies, attacker_cargo=["1 tank", "1 tank"])])
    assert empty.same_as(loaded)
    with pytest.raises(ScenarioError, match="infantry"):
        simcore.encode([at_sea("1 cruiser, 1 infantry", "1 destroyer")])


@rule("GC-3.5")
def test_fighters_of_a_carrier_fight() -> None:
    scenario = at_sea("1 carrier, 2 fighter", "1 carrier, 2 fighter", cycle_limit=1)
    assert thrown(told(scenario, 0, 0, 0, 0)) == [
        (1, "attack", "attacker", 2),
        (1, "attack", "attacker", 1),
        (1, "defence", "defender", 2),
        (1, "defence", "defender", 1),
    ]


# --------------------------------------------------------------------------------------------------
# 4.2 Step 2: submarines
# --------------------------------------------------------------------------------------------------


@rule("GC-4.2.1")
@pytest.mark.parametrize(
    ("attacker", "defender", "shares"),
    [
        ("1 submarine", "1 cruiser", {"attacker_wins": "1/2", "defender_wins": "1/2"}),
        ("1 submarine", "1 destroyer", {"attacker_wins": "2/5", "both_destroyed": "1/5", "defender_wins": "2/5"}),
        ("1 cruiser", "1 submarine", {"attacker_wins": "5/7", "defender_wins": "2/7"}),
        ("1 destroyer", "1 submarine", {"attacker_wins": "5/8", "both_destroyed": "1/8", "defender_wins": "1/4"}),
        (
            "1 submarine",
            "1 submarine, 1 destroyer",
            {"attacker_wins": "2/17", "both_destroyed": "1/17", "defender_wins": "14/17"},
        ),
    ],
)
def test_strikes_and_what_stops_them(attacker: str, defender: str, shares: dict[str, str]) -> None:
    assert_outcomes(at_sea(attacker, defender), **shares)


@rule("GC-4.2.1")
@pytest.mark.parametrize(
    ("attacker", "defender", "steps"),
    [
        ("1 submarine", "1 submarine", [("strike", "attacker"), ("strike", "defender")]),
        (
            "1 submarine, 1 destroyer",
            "1 submarine",
            [("strike", "attacker"), ("attack", "attacker"), ("defence", "defender")],
        ),
        (
            "1 submarine",
            "1 submarine, 1 destroyer",
            [("strike", "defender"), ("attack", "attacker"), ("defence", "defender")],
        ),
        (
            "1 submarine, 1 destroyer",
            "1 submarine, 1 destroyer",
            [("attack", "attacker"), ("attack", "attacker"), ("defence", "defender"), ("defence", "defender")],
        ),
    ],
)
def test_each_side_is_tested_apart(attacker: str, defender: str, steps: list[tuple[str, str]]) -> None:
    replay = told(at_sea(attacker, defender, cycle_limit=1), *[0] * len(steps))
    assert [(step, side) for _, step, side, _ in thrown(replay)] == steps


@rule("GC-4.2.1")
def test_strikes_are_tested_in_every_cycle() -> None:
    replay = told(at_sea("1 submarine", "1 destroyer, 1 cruiser", cycle_limit=2), 1, 0, 0, 0, 0)
    assert thrown(replay) == [
        (1, "attack", "attacker", 1),
        (1, "defence", "defender", 1),
        (1, "defence", "defender", 1),
        (2, "strike", "attacker", 1),
        (2, "defence", "defender", 1),
    ]


@rule("GC-4.2.2")
@pytest.mark.parametrize(
    ("policy", "enemies", "goes"),
    [
        ("never", "9 cruiser", False),
        ("always", "1 transport, 1 carrier", True),
        ("facing_aircraft", "1 fighter", True),
        ("facing_aircraft", "1 fighter, 1 bomber, 3 transport", True),
        ("facing_aircraft", "1 fighter, 1 submarine", False),
        ("facing_aircraft", "5 fighter, 1 cruiser", False),
        ({"outnumbered": 1.5}, "2 cruiser", False),
        ({"outnumbered": 1.5}, "3 cruiser", True),
        ({"outnumbered": 1.5}, "4 cruiser", True),
        # Neither transports nor aircraft without a destroyer can hit submarines.
        ({"outnumbered": 1.5}, "2 cruiser, 5 transport, 5 fighter", False),
        ({"outnumbered": 1.5}, "2 cruiser, 1 submarine", True),
        ({"outnumbered": 1}, "1 carrier, 1 cruiser", True),
    ],
)
def test_policies_of_submerging(policy: str | dict[str, float], enemies: str, goes: bool) -> None:
    # A fighter of the defender keeps every battle going until step 2.
    scenario = at_sea(enemies, "2 submarine, 1 fighter", cycle_limit=1, defender_submerge=policy)
    battles = fought(scenario, 50)
    assert distinct(battles.cycles) == {1}
    assert submerged(battles) == (0, 100 if goes else 0)


@rule("GC-4.2.2")
@pytest.mark.parametrize(("edition", "goes"), [("spring1942", True), ("global40_2nd", False)])
def test_ships_without_a_value_do_not_outnumber(edition: str, goes: bool) -> None:
    # The attacking carrier has the value 1 in one edition and none in the other.
    scenario = at_sea("1 cruiser, 1 carrier", "1 submarine", edition, defender_submerge={"outnumbered": 2})
    scenario["cycle_limit"] = 1
    assert submerged(fought(scenario, 20)) == (0, 20 if goes else 0)


@rule("GC-4.2.2")
@pytest.mark.parametrize("switch", ["with_destroyer", "always"])
def test_aircraft_that_hit_submarines_outnumber_them(switch: str) -> None:
    scenario = at_sea("1 cruiser, 1 fighter", "1 submarine", defender_submerge={"outnumbered": 2}, cycle_limit=1)
    scenario["switches"] = {"air_hits_subs": switch}
    assert submerged(fought(scenario, 20)) == (0, 20 if switch == "always" else 0)


@rule("GC-4.2.2")
@rule("GC-4.2.1")
@pytest.mark.parametrize("side", ref.SIDES)
@pytest.mark.parametrize("edition", EDITIONS)
def test_no_submerging_while_an_enemy_destroyer_is_there(edition: str, side: str) -> None:
    armies = ("1 submarine", "1 destroyer") if side == "attacker" else ("1 destroyer", "1 submarine")
    scenario = at_sea(*armies, edition, cycle_limit=2)
    scenario[side]["submerge"] = "always"
    replay = told(scenario, 0, 0, 0, 0)
    assert replay.cycles == 2
    assert "submerges" not in replay.to_text()


@rule("GC-4.2.2")
@rule("GC-4.2.1")
def test_submerging_becomes_possible_when_the_destroyer_is_sunk() -> None:
    scenario = at_sea("1 submarine", "1 destroyer, 1 cruiser", attacker_submerge="always")
    replay = told(scenario, 1, 0, 0, 1)
    assert thrown(replay)[-1] == (2, "defence", "defender", 1)
    assert (replay.outcome, left(replay)) == ("defender_wins", ({"submarine": 1}, {"cruiser": 1}))


@rule("GC-4.2.3")
@pytest.mark.parametrize("edition", EDITIONS)
def test_submerged_submarines_are_survivors_and_counted_apart(edition: str) -> None:
    scenario = at_sea("1 battleship", "3 submarine", edition, defender_submerge="always")
    battles = fought(scenario | {"edition_changes": {"submarine.defence": 0}}, 40)
    below = battles.left("defender", "submarine")
    assert submerged(battles) == (0, int(below.sum()))
    # In the Revised edition one may be hit before they submerge.
    assert distinct(below) == ({2, 3} if edition == "revised" else {3})
    cost = 8 if edition == "revised" else 6
    assert (battles.cost_lost[:, 1] == cost * (3 - below)).all()
    assert battles.outcomes() == {"attacker_wins"}


@rule("GC-4.2.3")
def test_submerged_submarines_do_not_keep_a_battle_going() -> None:
    both = at_sea("1 submarine", "1 submarine", attacker_submerge="always", defender_submerge="always")
    battles = fought(both, 20)
    assert (battles.outcomes(), distinct(battles.cycles), submerged(battles)) == ({"stand_off"}, {1}, (20, 20))
    lost = told(at_sea("1 submarine", "1 cruiser", attacker_submerge="always"), 0)
    assert (lost.outcome, lost.cycles, left(lost)) == ("defender_wins", 1, ({"submarine": 1}, {"cruiser": 1}))


@rule("GC-4.2.3")
@rule("GC-4.6.4")
def test_wiped_out_above_submerged_submarines_is_a_stand_off() -> None:
    scenario = at_sea("1 cruiser", "1 submarine, 1 destroyer", defender_submerge="always")
    replay = told(scenario, 1, 1)
    assert (replay.outcome, left(replay)) == ("stand_off", ({}, {"submarine": 1}))


@rule("GC-4.2.3")
@rule("GC-4.6.11")
@rule("GC-8.22")
def test_submerged_submarines_stay_when_the_others_retreat() -> None:
    retreat = {"after_cycles": 1}
    scenario = at_sea("2 submarine, 1 cruiser", "1 battleship", attacker_submerge="always", attacker_retreat=retreat)
    battles = fought(scenario, 400)
    away = battles.outcome == "attacker_retreats"
    assert away.any()
    assert distinct(battles.left("attacker", "submarine")) == {2}
    assert submerged(battles) == (800, 0)


@rule("GC-4.2.4")
@rule("GC-8.6")
def test_both_sides_strike_before_losses_are_removed() -> None:
    assert_outcomes(
        at_sea("1 submarine", "1 submarine"), attacker_wins="5/8", both_destroyed="1/8", defender_wins="1/4"
    )
    fired = told(at_sea("1 submarine", "1 submarine"), 1, 1)
    assert (fired.outcome, len(fired.draws)) == ("both_destroyed", 2)


@rule("GC-4.2.4")
def test_losses_of_a_strike_fire_no_more_and_strikers_fire_once() -> None:
    sunk = told(at_sea("1 submarine, 1 cruiser", "2 carrier", cycle_limit=1), 1, 0, 0)
    assert thrown(sunk) == [(1, "strike", "attacker", 1), (1, "attack", "attacker", 1), (1, "defence", "defender", 1)]
    assert left(sunk)[1] == {"carrier": 1}


@rule("GC-4.2.5")
@pytest.mark.parametrize("edition", EDITIONS)
def test_a_ship_damaged_by_a_strike_fires(edition: str) -> None:
    replay = told(at_sea("1 submarine", "1 battleship", edition), 1, 1)
    assert thrown(replay) == [(1, "strike", "attacker", 1), (1, "defence", "defender", 1)]
    assert (replay.outcome, left(replay)[1]) == ("defender_wins", {"battleship": 1})
    second = told(at_sea("1 submarine", "1 battleship", edition), 1, 0, 1)
    assert (second.outcome, thrown(second)[-1]) == ("attacker_wins", (2, "strike", "attacker", 1))


@rule("GC-4.2.5")
def test_a_submarine_against_a_battleship() -> None:
    scenario = at_sea("1 submarine", "1 battleship")
    assert_outcomes(scenario, attacker_wins="3/49", defender_wins="46/49")
    assert_outcomes(scenario | {"cycle_limit": 1}, defender_wins="2/3", unfinished="1/3")


@rule("GC-4.2.6")
def test_a_submarine_whose_strike_is_stopped_is_lost_before_it_fires() -> None:
    scenario = at_sea("1 submarine, 1 destroyer", "1 submarine")
    assert_endings(
        scenario,
        {
            ("1 submarine, 1 destroyer", ""): "14/17",
            ("1 destroyer", ""): "9/68",
            ("", ""): "1/68",
            ("", "1 submarine"): "1/34",
        },
    )
    assert thrown(told(scenario, 1, 0)) == [(1, "strike", "attacker", 1), (1, "attack", "attacker", 1)]


@rule("GC-4.2.7")
@pytest.mark.parametrize("edition", STEP_2_EDITIONS)
def test_no_destroyer_is_lost_in_step_2(edition: str) -> None:
    # It is lost first, so that strikes can begin only in a cycle after one in which it was hit.
    scenario = at_sea("3 submarine", "1 destroyer, 2 cruiser", edition, defender_loss_order=["destroyer"])
    for battle in range(40):
        replay = simcore.replay(scenario, battle=battle)
        first_hit = next((d["cycle"] for d in replay.draws if d["side"] == "attacker" and d["hits"]), None)
        strikes = [draw["cycle"] for draw in replay.draws if draw["step"] == "strike"]
        assert all(first_hit is not None and cycle > first_hit for cycle in strikes)


@rule("GC-4.2.7")
def test_a_destroyer_lost_in_step_2_of_revised_fires() -> None:
    replay = told(at_sea("1 submarine", "1 destroyer", "revised"), 1, 1)
    assert (replay.outcome, len(replay.draws)) == ("both_destroyed", 2)


# --------------------------------------------------------------------------------------------------
# 4.3 to 4.5
# --------------------------------------------------------------------------------------------------


@rule("GC-4.3.1")
@rule("GC-4.3.3")
def test_dice_of_the_attacker_at_sea() -> None:
    # Transports roll nothing; a tactical bomber beside a fighter attacks at 4.
    scenario = at_sea("1 fighter, 2 tactical_bomber, 1 cruiser, 2 transport", "1 battleship", "global40_2nd")
    replay = told(scenario | {"cycle_limit": 1}, 0, 0, 0, 0, 0)
    assert sorted(tuple(draw["odds"]) for draw in replay.draws if draw["side"] == "attacker") == [
        (3, 6),
        (3, 6),
        (3, 6),
        (4, 6),
    ]


@rule("GC-4.3.2")
@rule("GC-4.4.1")
@rule("GC-4.4.2")
@rule("GC-4.5.1")
def test_doomed_ships_fire_back() -> None:
    replay = told(at_sea("2 cruiser", "2 cruiser"), 2, 2)
    assert (replay.outcome, replay.cycles) == ("both_destroyed", 1)


@rule("GC-4.5.2")
@pytest.mark.parametrize(
    ("attacker", "edition", "sweeps"),
    [
        ("1 fighter", "spring1942", True),
        ("1 submarine", "spring1942", True),
        ("1 carrier", "spring1942", True),
        ("1 carrier, 1 fighter", "global40_2nd", True),
        ("1 carrier", "global40_2nd", False),
        ("1 transport", "spring1942", False),
        ("3 transport, 1 destroyer", "spring1942", True),
    ],
)
def test_only_units_that_can_attack_sweep(attacker: str, edition: str, sweeps: bool) -> None:
    battles = fought(at_sea(attacker, "2 transport", edition), 20)
    assert battles.outcomes() == {"attacker_wins" if sweeps else "stand_off"}
    assert distinct(battles.left("defender")) == {0 if sweeps else 2}
    assert distinct(battles.cycles) == {0}


@rule("GC-4.5.2")
def test_transports_are_swept_when_their_escort_is_sunk() -> None:
    assert_endings(
        at_sea("1 cruiser", "1 cruiser, 1 transport"),
        {("1 cruiser", ""): "1/3", ("", "1 transport"): "1/3", ("", "1 cruiser, 1 transport"): "1/3"},
    )


@rule("GC-4.5.3")
@rule("GC-8.2")
@pytest.mark.parametrize(
    ("attacker", "swept"), [("1 fighter", True), ("2 bomber, 1 fighter", True), ("1 fighter, 1 cruiser", False)]
)
def test_submarines_do_not_protect_transports_from_aircraft(attacker: str, swept: bool) -> None:
    scenario = at_sea(attacker, "2 submarine, 3 transport", cycle_limit=1)
    if swept:
        battles = fought(scenario, 10)
        assert (battles.outcomes(), distinct(battles.cycles)) == ({"stand_off"}, {0})
        assert distinct(battles.left("defender", "transport")) == {0}
        assert distinct(battles.cost_lost[:, 1]) == {21}
    else:
        assert left(told(scenario, 0, 0, 0))[1] == {"submarine": 2, "transport": 3}


@rule("GC-4.5.3")
@rule("GC-8.2")
def test_submerged_submarines_do_not_protect_them_either() -> None:
    scenario = at_sea("1 fighter, 1 carrier", "1 submarine, 2 transport", defender_submerge="always")
    replay = told(scenario, 0, 0)
    assert (replay.outcome, replay.cycles, left(replay)[1]) == ("attacker_wins", 1, {"submarine": 1})


@rule("GC-4.5.4")
@rule("GC-4.6.6")
@rule("GC-8.4")
def test_attacking_transports_are_never_swept() -> None:
    replay = told(at_sea("3 transport", "1 cruiser"), 0)
    assert (replay.outcome, replay.cycles, left(replay)[0]) == ("attacker_retreats", 1, {"transport": 3})
    fought_on = told(at_sea("1 cruiser, 2 transport", "1 cruiser"), 0, 1)
    assert (fought_on.outcome, left(fought_on)[0]) == ("attacker_retreats", {"transport": 2})


@rule("GC-4.5.5")
def test_a_sweep_counts_as_a_battle() -> None:
    battles = fought(at_sea("1 submarine", "2 transport", defender_cargo=["1 tank"]), 30)
    assert battles.tally["outcome.attacker_wins"] == 30
    assert battles.tally["defender.cost_lost.sum"] == battles.tally["swing.sum"] == 30 * 19
    assert battles.tally["cycles.sum"] == 0


# --------------------------------------------------------------------------------------------------
# 4.6 The end of a battle
# --------------------------------------------------------------------------------------------------


@rule("GC-4.6.1")
@rule("GC-8.21")
def test_a_before_b_at_sea() -> None:
    assert_endings(
        at_sea("2 cruiser", "1 cruiser, 1 transport", attacker_retreat={"after_cycles": 1}),
        {
            ("2 cruiser", ""): "3/8",
            ("1 cruiser", ""): "3/8",
            ("2 cruiser", "1 cruiser, 1 transport"): "1/8",
            ("1 cruiser", "1 cruiser, 1 transport"): "1/8",
        },
    )


@rule("GC-4.6.2")
@rule("GC-4.6.4")
@pytest.mark.parametrize(
    ("attacker", "defender", "outcome"),
    [
        ("1 cruiser", "", "attacker_wins"),
        ("1 fighter", "", "attacker_wins"),
        ("1 transport", "", "attacker_wins"),
        ("", "1 transport", "defender_wins"),
        ("", "1 submarine", "defender_wins"),
    ],
)
def test_an_empty_side_at_sea(attacker: str, defender: str, outcome: str) -> None:
    battles = fought(at_sea(attacker, defender), 10)
    assert (battles.outcomes(), distinct(battles.cycles)) == ({outcome}, {0})
    assert distinct(battles.cost_lost) == {0}


@rule("GC-4.6.3")
@rule("GC-8.3")
@pytest.mark.parametrize(
    ("attacker", "defender", "edition", "goes_on"),
    [
        ("1 fighter", "1 submarine", "spring1942", False),
        ("1 fighter", "1 submarine", "revised", True),
        ("1 submarine", "3 fighter", "spring1942", False),
        ("1 submarine", "1 fighter, 1 transport", "spring1942", True),
        ("1 fighter, 1 transport", "1 submarine", "spring1942", True),
        ("1 fighter, 1 destroyer", "1 submarine", "spring1942", True),
        ("1 carrier, 1 fighter", "1 submarine", "spring1942", True),
        ("1 carrier", "1 transport, 1 carrier", "global40_2nd", True),
        ("1 transport", "1 transport", "spring1942", False),
        ("1 transport", "1 transport", "revised", True),
    ],
)
def test_who_can_fire_at_whom(attacker: str, defender: str, edition: str, goes_on: bool) -> None:
    battles = fought(at_sea(attacker, defender, edition), 20)
    assert (battles.cycles.min() > 0) == goes_on
    if not goes_on:
        assert battles.outcomes() == {"stand_off"}


@rule("GC-4.6.5")
@pytest.mark.parametrize(
    ("retreat", "outcome"),
    [
        ({}, "stand_off"),
        ({"after_cycles": 1}, "attacker_retreats"),
        ({"after_cycles": 2}, "stand_off"),
        ({"when_units_at_most": 1}, "attacker_retreats"),
        ({"when_only_aircraft": True}, "stand_off"),
        ({"after_cycles": 1, "possible": False}, "stand_off"),
    ],
)
def test_transports_that_are_left_on_both_sides(retreat: dict[str, Any], outcome: str) -> None:
    armies = ("1 cruiser, 2 transport", "1 cruiser, 1 transport")
    replay = told(at_sea(*armies, attacker_retreat=retreat), 1, 1)
    assert (replay.outcome, replay.cycles, left(replay)) == (outcome, 1, ({"transport": 2}, {"transport": 1}))


@rule("GC-4.6.5")
def test_transports_against_transports_end_before_the_first_cycle() -> None:
    battles = fought(at_sea("2 transport", "1 transport", attacker_retreat={"after_cycles": 1}), 10)
    assert (battles.outcomes(), distinct(battles.cycles)) == ({"stand_off"}, {0})


@rule("GC-4.6.6")
@rule("GC-8.4")
@pytest.mark.parametrize(
    ("retreat", "shares"),
    [
        ({}, {"attacker_retreats": "1/2", "defender_wins": "1/2"}),
        ({"possible": False}, {"defender_wins": "1"}),
        ({"when_transports_only": False}, {"defender_wins": "1"}),
        # Other policies still hold: two cycles without a hit are needed to be there.
        ({"when_transports_only": False, "after_cycles": 2}, {"attacker_retreats": "1/4", "defender_wins": "3/4"}),
    ],
)
def test_transports_alone_against_a_cruiser(retreat: dict[str, Any], shares: dict[str, str]) -> None:
    battles = assert_outcomes(at_sea("1 transport", "1 cruiser", attacker_retreat=retreat), **shares)
    assert battles.cycles.min() == 1


@rule("GC-4.6.7")
@pytest.mark.parametrize(("at_most", "cycles"), [(1, 3), (2, 2), (3, 1), (4, 1)])
def test_units_counted_for_a_retreat(at_most: int, cycles: int) -> None:
    # Three count: two cruisers and a damaged battleship. Transports do not.
    scenario = at_sea(
        "2 cruiser, 1 battleship, 3 transport",
        "5 carrier",
        attacker_damaged="1 battleship",
        attacker_retreat={"when_units_at_most": at_most},
    )
    hits = [part for cycle in range(cycles) for part in (0, 0, 0 if cycle == 0 else 1)]
    replay = told(scenario, *hits)
    assert (replay.outcome, replay.cycles) == ("attacker_retreats", cycles)


@rule("GC-4.6.7")
def test_submerged_submarines_do_not_count_for_a_retreat() -> None:
    scenario = at_sea(
        "5 submarine, 1 cruiser",
        "1 battleship",
        attacker_submerge="always",
        attacker_retreat={"when_units_at_most": 1},
    )
    replay = told(scenario, 0, 0)
    assert (replay.outcome, left(replay)[0]) == ("attacker_retreats", {"submarine": 5, "cruiser": 1})


@rule("GC-4.6.8")
@rule("GC-4.6.9")
@rule("GC-4.6.12")
@pytest.mark.parametrize(
    ("attacker", "possible", "leaves"),
    [("1 cruiser", True, True), ("1 cruiser", False, False), ("1 fighter", False, True), ("1 fighter", True, True)],
)
def test_ships_need_a_space_that_was_friendly(attacker: str, possible: bool, leaves: bool) -> None:
    retreat = {"after_cycles": 1, "possible": possible}
    scenario = at_sea(attacker, "1 carrier", attacker_retreat=retreat, cycle_limit=2)
    replay = told(scenario, 0, 0) if leaves else told(scenario, 0, 0, 0, 0)
    assert replay.outcome == ("attacker_retreats" if leaves else "unfinished")


@rule("GC-4.6.11")
def test_all_ships_and_aircraft_on_the_board_retreat_together() -> None:
    units = "1 fighter, 1 destroyer, 2 transport"
    replay = told(at_sea(units, "2 cruiser", attacker_retreat={"after_cycles": 1}), 0, 0, 0)
    assert (replay.outcome, left(replay)[0]) == ("attacker_retreats", {"fighter": 1, "destroyer": 1, "transport": 2})


# --------------------------------------------------------------------------------------------------
# 4.7 Conclusion
# --------------------------------------------------------------------------------------------------


@rule("GC-4.7.2")
def test_nothing_is_captured_at_sea() -> None:
    battles = fought(at_sea("3 battleship, 1 fighter", "1 destroyer"), 200)
    assert "attacker_wins" in battles.outcomes()
    assert "attacker_clears" not in battles.outcomes()
    assert all(battles.tally[f"captured.{what}"] == 0 for what in ("battles", "value", "guns", "complexes"))


@rule("GC-4.7.7")
@rule("GC-4.2.5")
def test_damage_costs_nothing_and_may_be_there_from_the_start() -> None:
    hurt = at_sea("2 battleship", "1 cruiser", attacker_damaged="1 battleship", cycle_limit=1)
    first = told(hurt, 0, 1)
    assert (left(first)[0], first.cost_lost["attacker"]) == ({"battleship": 2}, 0)
    both = told(at_sea("2 battleship", "1 cruiser", attacker_damaged="2 battleship", cycle_limit=1), 0, 1)
    assert (left(both)[0], both.cost_lost["attacker"]) == ({"battleship": 1}, 20)


@rule("GC-4.7.8")
def test_fighters_fight_on_without_their_carrier() -> None:
    replay = told(at_sea("1 cruiser", "1 carrier, 1 fighter"), 1, 0, 0, 0, 1)
    assert thrown(replay)[-1] == (2, "defence", "defender", 1)
    assert (replay.outcome, left(replay)[1]) == ("defender_wins", {"fighter": 1})


# --------------------------------------------------------------------------------------------------
# 4.8 Giving out hits
# --------------------------------------------------------------------------------------------------


@rule("GC-4.8.1")
def test_hits_of_submarines_pass_aircraft_by() -> None:
    assert_endings(
        at_sea("1 submarine", "1 carrier, 2 fighter"),
        {("1 submarine", "2 fighter"): "3/5", ("", "2 fighter, 1 carrier"): "2/5"},
    )


@rule("GC-4.8.1")
def test_a_destroyer_lets_aircraft_hit_submarines() -> None:
    assert_endings(
        at_sea("1 fighter, 1 destroyer", "1 submarine"),
        {("1 fighter, 1 destroyer", ""): "10/13", ("1 fighter", ""): "2/13", ("1 fighter", "1 submarine"): "1/13"},
    )


@rule("GC-4.8.1")
@pytest.mark.parametrize("order", [["submarine", "fighter", "cruiser"], ["fighter", "submarine", "cruiser"]])
def test_hits_of_surface_ships_go_anywhere(order: list[str]) -> None:
    scenario = at_sea("2 cruiser", "1 submarine, 1 fighter, 1 cruiser", defender_loss_order=order, cycle_limit=1)
    # The submarine strikes first; a fighter and a cruiser fire in step 4.
    replay = told(scenario, 0, 1, 0, 0)
    assert replay.lost["defender"] == {order[0]: 1}


@rule("GC-4.8.2")
@rule("GC-8.7")
@pytest.mark.parametrize(
    ("reading", "endings"),
    [
        ("counts", {"1 fighter, 1 destroyer": "14/23", "1 fighter": "7/23", "stand-off": "2/23"}),
        ("does_not", {"1 fighter, 1 destroyer": "14/23", "1 fighter": "3/23", "stand-off": "6/23"}),
    ],
)
def test_a_doomed_destroyer(reading: str, endings: dict[str, str]) -> None:
    scenario = at_sea("1 submarine", "1 destroyer, 1 fighter", switches={"doomed_destroyer": reading})
    assert_endings(
        scenario,
        {
            ("", "1 fighter, 1 destroyer"): endings["1 fighter, 1 destroyer"],
            ("", "1 fighter"): endings["1 fighter"],
            ("1 submarine", "1 fighter"): endings["stand-off"],
        },
    )


@rule("GC-4.8.4")
@rule("GC-8.9")
def test_as_many_hits_as_possible_find_a_target() -> None:
    scenario = at_sea("2 fighter, 1 cruiser", "1 cruiser, 2 submarine", cycle_limit=1)
    # Both submarines strike, then two hits of aircraft and one of the cruiser: one hit has no target.
    replay = told(scenario, 0, 2, 1, 0)
    assert left(replay)[1] == {"submarine": 1}


@rule("GC-8.9")
@pytest.mark.parametrize("order", [["cruiser", "submarine"], ["submarine", "cruiser"]])
def test_the_order_of_loss_does_not_waste_hits(order: list[str]) -> None:
    scenario = at_sea("1 fighter, 1 cruiser", "1 cruiser, 1 submarine", defender_loss_order=order, cycle_limit=1)
    assert left(told(scenario, 0, 1, 1, 0))[1] == {}


@rule("GC-4.8.5")
@pytest.mark.parametrize(
    ("attacker", "defender", "hits", "survivors"),
    [
        # A hit of a submarine on a fighter and a transport.
        ("1 submarine", "1 fighter, 1 transport", (1, 0), {"fighter": 1}),
        # A hit of a fighter without a destroyer on a submarine and a transport.
        ("1 fighter, 1 carrier", "1 submarine, 2 transport", (0, 1, 0), {"submarine": 1, "transport": 1}),
        # The same hit beside a cruiser.
        ("1 fighter, 1 carrier", "1 submarine, 1 cruiser, 1 transport", (0, 1, 0, 0), {"submarine": 1, "transport": 1}),
        # Two hits on one cruiser: the second reaches a transport.
        ("2 cruiser", "1 cruiser, 3 transport", (2, 1), {}),
    ],
)
def test_transports_take_what_nothing_else_can(
    attacker: str, defender: str, hits: Sequence[int], survivors: dict[str, int]
) -> None:
    replay = told(at_sea(attacker, defender, cycle_limit=1), *hits)
    assert left(replay)[1] == survivors


@rule("GC-4.8.5")
def test_surplus_hits_reach_attacking_transports_one_for_one() -> None:
    replay = told(at_sea("1 cruiser, 2 transport", "2 destroyer", "aa50"), 1, 2)
    assert (replay.outcome, left(replay)) == ("attacker_retreats", ({"transport": 1}, {"destroyer": 1}))


# The fleets hold one of everything; the carrier of the Global edition takes two hits.
FLEET = (
    "1 submarine, 1 transport, 1 destroyer, 1 cruiser, 1 carrier, 1 battleship, 1 fighter, 1 tactical_bomber, 1 bomber"
)
DEFAULT_ORDERS = {
    "attacker": "damage damage submarine destroyer fighter tactical_bomber cruiser bomber carrier battleship transport",
    "defender": "damage damage bomber submarine destroyer carrier cruiser fighter tactical_bomber battleship transport",
}
CHEAPEST = "damage damage submarine destroyer fighter tactical_bomber {} carrier battleship transport"
POLICIES = {
    ("attacker", "default"): DEFAULT_ORDERS["attacker"],
    ("defender", "default"): DEFAULT_ORDERS["defender"],
    ("attacker", "cheapest"): CHEAPEST.format("cruiser bomber"),
    ("defender", "cheapest"): CHEAPEST.format("bomber cruiser"),
    ("attacker", "weakest"): (
        "damage damage carrier submarine destroyer fighter tactical_bomber cruiser bomber battleship transport"
    ),
    ("defender", "weakest"): (
        "damage damage submarine bomber destroyer carrier tactical_bomber cruiser fighter battleship transport"
    ),
}


@rule("GC-4.8.6")
@rule("GC-4.8.7")
@pytest.mark.parametrize(("side", "policy"), POLICIES)
def test_orders_of_loss_at_sea(side: str, policy: str) -> None:
    order = POLICIES[side, policy].split()
    enemy = "20 cruiser"
    armies = (FLEET, enemy) if side == "attacker" else (enemy, FLEET)
    scenario = at_sea(*armies, "global40_2nd", cycle_limit=1)
    scenario[side]["loss_order"] = policy
    for hits in range(len(order) - 2):
        lost = Counter(entry for entry in order[:hits] if entry != "damage")
        # The fleet's strike comes first. Then six kinds of attackers fire before the cruisers, or after them
        # seven kinds of defenders: here the carrier has a value too.
        script = [*[0] * 7, hits] if side == "attacker" else [0, hits, *[0] * 7]
        assert told(scenario, *script).lost[side] == lost


@rule("GC-4.8.6")
@rule("GC-4.8.7")
@pytest.mark.parametrize(
    ("order", "hits", "lost"),
    [
        ("default", 1, {}),
        ("default", 2, {}),
        ("default", 3, {"destroyer": 1}),
        ("default", 4, {"destroyer": 1, "battleship": 1}),
        ("default", 5, {"destroyer": 1, "battleship": 2}),
        (["destroyer"], 1, {}),
        (["destroyer", "battleship:damage"], 1, {"destroyer": 1}),
        (["destroyer", "battleship:damage"], 3, {"destroyer": 1}),
        (["destroyer", "battleship:damage"], 4, {"destroyer": 1, "battleship": 1}),
        (["battleship", "battleship:damage"], 1, {}),
        (["battleship", "battleship:damage"], 2, {"battleship": 1}),
        (["battleship", "battleship:damage"], 3, {"battleship": 1}),
        (["battleship", "battleship:damage"], 4, {"battleship": 2}),
        (["battleship:damage", "battleship", "destroyer"], 3, {"battleship": 1}),
    ],
)
def test_damage_in_the_order_of_loss(order: str | list[str], hits: int, lost: dict[str, int]) -> None:
    scenario = at_sea("6 cruiser", "2 battleship, 1 destroyer", defender_loss_order=order, cycle_limit=1)
    assert told(scenario, hits, 0, 0).lost["defender"] == lost


@rule("GC-4.8.6")
@pytest.mark.parametrize(
    ("order", "hits", "lost"),
    [
        ("default", 1, {}),
        ("default", 2, {"destroyer": 1}),
        (["battleship", "battleship:damage"], 1, {"battleship": 1}),
        (["battleship", "battleship:damage"], 2, {"battleship": 1}),
        (["battleship", "battleship:damage"], 3, {"battleship": 2}),
    ],
)
def test_damaged_ships_are_lost_before_whole_ones(order: str | list[str], hits: int, lost: dict[str, int]) -> None:
    scenario = at_sea("6 cruiser", "2 battleship, 1 destroyer", defender_loss_order=order, cycle_limit=1)
    scenario["defender"]["damaged"] = "1 battleship"
    assert told(scenario, hits, 0, 0).lost["defender"] == lost


@rule("GC-4.8.6")
def test_two_hits_in_one_step() -> None:
    assert_endings(
        at_sea("1 battleship", "1 destroyer"),
        {("1 battleship", ""): "46/49", ("", ""): "2/49", ("", "1 destroyer"): "1/49"},
    )
    sunk = told(at_sea("2 cruiser", "1 battleship"), 2, 0)
    assert (sunk.outcome, sunk.cycles) == ("attacker_wins", 1)


@rule("GC-4.8.6")
@pytest.mark.parametrize(("edition", "hits"), [("spring1942", 1), ("global40_2nd", 2)])
def test_carriers_take_two_hits_where_the_edition_says_so(edition: str, hits: int) -> None:
    scenario = at_sea("3 cruiser", "1 carrier, 1 cruiser", edition, cycle_limit=1, defender_loss_order=["carrier"])
    assert told(scenario, hits - 1, 0, 0).lost["defender"] == {}
    assert told(scenario, hits, 0, 0).lost["defender"] == ({"carrier": 1})


# --------------------------------------------------------------------------------------------------
# 8 Readings
# --------------------------------------------------------------------------------------------------


@rule("GC-8.5")
@pytest.mark.parametrize("armies", [("1 fighter", "1 submarine"), ("1 submarine", "1 fighter")])
@pytest.mark.parametrize("edition", STEP_2_EDITIONS)
def test_submarines_and_aircraft_stand_off(edition: str, armies: tuple[str, str]) -> None:
    retreat = {"after_cycles": 1, "when_units_at_most": 5, "when_only_aircraft": True}
    battles = fought(at_sea(*armies, edition, attacker_retreat=retreat), 10)
    assert (battles.outcomes(), distinct(battles.cycles)) == ({"stand_off"}, {0})


@rule("GC-8.6")
def test_the_attackers_strike_may_come_first() -> None:
    scenario = at_sea("1 submarine", "1 submarine", switches={"submarine_strikes": "attacker_first"})
    assert_outcomes(scenario, attacker_wins="3/4", defender_wins="1/4")
    assert len(told(scenario, 1).draws) == 1


@rule("GC-8.8")
def test_a_submarine_cannot_wait_for_step_3() -> None:
    # Whatever the policy, it fires in step 2 or not at all in this cycle.
    for policy in ("never", "always", "facing_aircraft", {"outnumbered": 1}):
        scenario = at_sea("1 submarine, 1 cruiser", "1 cruiser", attacker_submerge=policy, cycle_limit=1)
        replay = simcore.replay(scenario, battle=0)
        steps = [step for _, step, side, _ in thrown(replay) if side == "attacker"]
        assert steps in (["strike", "attack"], ["attack"])


@rule("GC-8.16")
@rule("GC-4.6.4")
def test_both_sides_wiped_out_at_sea() -> None:
    scenario = at_sea("1 battleship", "1 battleship", attacker_damaged="1 battleship", defender_damaged="1 battleship")
    battles = fought(scenario | {"edition_changes": COIN, "cycle_limit": 1}, 50)
    assert battles.outcomes() == {"both_destroyed"}
    assert distinct(battles.left("attacker") + battles.left("defender")) == {0}


@rule("GC-8.17")
def test_a_submarine_against_aircraft_and_transports_goes_on() -> None:
    scenario = at_sea("1 submarine", "1 fighter, 2 transport")
    replay = told(scenario, 0, 0, 1, 0, 1, 0)
    assert (replay.outcome, replay.cycles, left(replay)[1]) == ("stand_off", 3, {"fighter": 1})
    stopped = told(scenario | {"attacker": scenario["attacker"] | {"retreat": {"after_cycles": 1}}}, 0, 0)
    assert (stopped.outcome, stopped.cycles) == ("attacker_retreats", 1)


# --------------------------------------------------------------------------------------------------
# Options beside the rules
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("attacker", "hits"),
    [
        ("2 cruiser", {1}),
        ("3 destroyer", {1}),
        ("1 battleship, 1 destroyer", {1}),
        ("2 fighter", {1}),
        ("3 submarine", {1}),
        # Each class of hits has a pool and a die of its own.
        ("1 cruiser, 1 fighter", {0, 1, 2}),
        ("1 destroyer, 2 submarine, 1 bomber", {0, 1, 2, 3}),
        ("2 cruiser, 2 fighter, 3 submarine", {3}),
    ],
)
def test_low_luck_by_class_of_hits(attacker: str, hits: set[int]) -> None:
    # No class of hits may fail to find a target here.
    battles = fought(at_sea(attacker, "8 carrier", cycle_limit=1, low_luck="combat"), 500)
    assert distinct(8 - battles.left("defender")) == hits


@pytest.mark.parametrize("low_luck", ["none", "aa"])
def test_low_luck_of_guns_changes_nothing_at_sea(low_luck: str) -> None:
    plain, other = fought_all([at_sea("3 cruiser, 1 fighter", "4 destroyer", low_luck=x) for x in ("none", low_luck)])
    assert plain.same_as(other)


def test_pairings_at_sea() -> None:
    armies = ("2 submarine, 1 destroyer", "1 cruiser, 1 transport")
    one, other = fought_all([at_sea(*armies, "spring1942"), at_sea(*armies, "1942_2nd")])
    assert one.same_as(other)
    one, other = fought_all([at_sea(*armies), at_sea(*armies, defender_cargo=["1 tank"])], pairing="independent")
    assert not one.same_as(other)


@pytest.mark.rule("GC-4.2.2")
def test_submarines_do_not_submerge_when_no_enemy_is_left() -> None:
    alone = {"edition": "revised", "terrain": "sea", "attacker": {"units": "1 submarine", "submerge": "always"}}
    told = simcore.replay({**alone, "defender": {"units": "1 destroyer"}}, script=[1, 0])
    assert (told.outcome, told.survivors) == ("attacker_wins", {"attacker": {"submarine": 1}, "defender": {}})
