"""The reference against the worked cases of the rules: an oracle has to be right before it judges."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rulesets.mass_battle import reference as ref
from tests.rulesets.mass_battle import reference_exact as exact

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

NOW = 5
# Up to this many dice of both sides a turn is quickly enumerated at once.
FEW_DICE = 6


def named(kind: str, *files: str) -> list[Any]:
    return [
        pytest.param(case, id=case["id"], marks=[pytest.mark.rule(rule) for rule in case["rules"]])
        for name in files
        for case in ref.cases(name)
        if case["kind"] == kind
    ]


def scenario(
    attacker: str = "1 squad",
    defender: str = "1 squad",
    *,
    sides: Sequence[Mapping[str, Any]] = ({}, {}),
    types: tuple[ref.SquadType, ...] | None = None,
    **options: Any,
) -> ref.Scenario:
    data = {
        "ruleset": "mass_battle",
        "attacker": {"units": attacker, **sides[0]},
        "defender": {"units": defender, **sides[1]},
        "options": options,
    }
    return ref.read_scenario(data, types)


def army(counts: Mapping[str, int], kind: int = 0) -> ref.Army:
    """Return squads at turn NOW, suppressed ones due back in the next."""
    dates = {"suppressed": {"back": NOW + 1}, "routed": {"since": NOW - 1}, "fled": {"since": NOW - 1}}
    return [ref.Squad(kind, state, **dates.get(state, {})) for state, count in counts.items() for _ in range(count)]


def states(squads: ref.Army) -> dict[str, int]:
    return dict(Counter(squad.state for squad in squads))


def no_dice(draw: ref.Draw) -> tuple[int, ...]:
    raise AssertionError(f"nothing is drawn here: {draw}")


def agrees(value: exact.Number, figure: str) -> bool:
    """Compare with a fraction exactly, with a printed decimal to half a unit of its last digit."""
    if "/" in figure or "." not in figure:
        wanted = Fraction(figure)
        return value == wanted if isinstance(value, Fraction) else abs(value - float(wanted)) < 1e-12
    return abs(float(value) - float(figure)) <= 0.5000001 * 10.0 ** -len(figure.partition(".")[2])


# --------------------------------------------------------------------------------------------------
# Worked cases
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", named("faces", "rolls"))
def test_faces(case: dict[str, Any]) -> None:
    battle, expect = scenario(), case["expect"]
    squads = army(case["army"])
    before = [squad.state for squad in squads]
    roll = ref.read_faces(case["faces"], battle.options, negative=False)
    chosen = ref.suffer(battle, ref.DEFENDER, squads, roll.effects, NOW, no_dice)
    got = Counter(effect for _, effect in chosen)
    was = {id(squad): state for squad, state in zip(squads, before, strict=True)}
    renewed = sum(effect == "suppress" and was[id(squad)] == "suppressed" for squad, effect in chosen)
    assert (got["destroy"], got["rout"], got["suppress"] - renewed, renewed) == (
        expect["destroyed"],
        expect["routed"],
        expect["suppressed"],
        expect["renewed"],
    )
    effective = sorted((face for face in case["faces"] if face >= ref.SUCCESS), reverse=True)
    assert sorted(effective[len(chosen) :]) == expect["ignored"]
    assert states(squads) == expect["left"]
    assert ref.is_broken(squads) is expect["broken"]
    if "active_next_turn" in expect:
        ref.return_suppressed(squads, NOW + 1)
        assert states(squads).get("active", 0) == expect["active_next_turn"]


@pytest.mark.parametrize("case", named("negative", "rolls"))
def test_negative_rolls(case: dict[str, Any]) -> None:
    roll = ref.read_faces(case["faces"], ref.Options(), negative=True)
    effect = case["expect"]["effect"]
    assert roll == ref.Roll((effect,) if effect else (), case["expect"]["own_suppressed"])


@pytest.mark.parametrize("case", named("exchange", "rolls"))
def test_exchanges(case: dict[str, Any]) -> None:
    battle = scenario(sides=[{"pool_modifier": modifier} for modifier in case["pool_modifier"]])
    armies = [army(counts) for counts in case["armies"]]
    dice = ref.ScriptedDice(case["faces"])
    ref.fight_turn(battle, armies, NOW, dice)
    assert [draw.side for draw, _ in dice.asked] == [ref.ATTACKER, ref.DEFENDER]
    assert [states(squads) for squads in armies] == case["expect"]["left"]
    assert [ref.is_broken(squads) for squads in armies] == case["expect"]["broken"]


@pytest.mark.parametrize("case", named("distribution", "chances"))
def test_distributions(case: dict[str, Any]) -> None:
    battle, expect = scenario(), case["expect"]
    pool = case["pool"]
    joint: defaultdict[str, Fraction] = defaultdict(Fraction)
    own: defaultdict[str, Fraction] = defaultdict(Fraction)
    broken = Fraction(0)
    dice = ref.dice_of(pool, battle.options.negative_dice)
    for roll, p in exact.roll_meanings(dice, battle.options, negative=pool <= 0).items():
        squads = army(case["target"])
        chosen = ref.suffer(battle, ref.DEFENDER, squads, roll.effects, NOW, no_dice)
        got = Counter(effect for _, effect in chosen)
        joint[f"{got['destroy']} {got['rout']} {got['suppress']}"] += p
        own[str(roll.ones)] += p
        broken += p * ref.is_broken(squads)
    if "joint" in expect:
        assert joint == {key: Fraction(p) for key, p in expect["joint"].items()}
    if "own_suppressed" in expect:
        assert own == {key: Fraction(p) for key, p in expect["own_suppressed"].items()}
    if "broken" in expect:
        assert broken == Fraction(expect["broken"])


@pytest.mark.parametrize("case", named("chances", "chances"))
def test_chances(case: dict[str, Any]) -> None:
    for pool, p in case["expect"].items():
        assert ref.success_chance(int(pool), ref.Options()) == Fraction(p), pool


@pytest.mark.parametrize("case", named("rallies", "chances"))
def test_rallies(case: dict[str, Any]) -> None:
    battle = scenario()

    def run(dice: ref.Dice) -> str:
        squads = army({"routed": case["routed"]})
        ref.rally(battle, ref.ATTACKER, squads, NOW, dice)
        assert set(states(squads)) <= {"suppressed", "fled"}
        return str(states(squads).get("suppressed", 0))

    assert exact.branches(run) == {key: Fraction(p) for key, p in case["expect"].items()}


@pytest.mark.parametrize("case", named("comeback", "chances"))
def test_comeback(case: dict[str, Any]) -> None:
    # In turn 1 the enemy routs a squad; it rallies in turn 2; nothing else happens.
    battle = scenario(f"{case['squads']} squad", "3 squad", max_turns=case["turns"])
    script = [[2, 2], [5, 2, 2], [1], *[[2], [2, 2, 2]], *[[2], [2, 2, 2]], *[[2, 2], [2, 2, 2]]]
    dice = ref.ScriptedDice(script)
    story = ref.fight(battle, dice)
    assert (story.battle.outcome, story.battle.turns, len(dice.asked)) == ("undecided", case["turns"], len(script))
    assert [draw.dice for draw, _ in dice.asked if (draw.side, draw.step) == (ref.ATTACKER, "attack")] == case[
        "expect"
    ]["dice"]
    assert [after[0]["routed"] for after in story.after] == [{"squad": case["routed"]}, {}, {}, {}]


@pytest.mark.parametrize("case", named("character", "chances"))
def test_characters(case: dict[str, Any]) -> None:
    types = (ref.SquadType("squad", size_class=case["size_class"]),)
    for route, expect in case["expect"].items():
        character = {"skill": case["skill"], "route": route, "army_modifier": case["army_modifier"]}
        battle = scenario(sides=[{"characters": [character]}, {}], types=types)

        def run(dice: ref.Dice, battle: ref.Scenario = battle) -> tuple[str, int]:
            squads = army({"routed": 1})
            ref.rally(battle, ref.ATTACKER, squads, NOW, dice)
            return squads[0].state, squads[0].back

        ((state, p),) = expect.items()
        back = NOW + 2 if state == "suppressed" else 0
        assert exact.branches(run) == {(state, back): Fraction(p), ("fled", 0): 1 - Fraction(p)}


@pytest.mark.parametrize("case", named("broken", "endings"))
def test_broken(case: dict[str, Any]) -> None:
    assert ref.is_broken(army(case["army"])) is case["expect"]["broken"]
    # Support dice are never rolled alone either (MA-20).
    battle = scenario(sides=[{"support_dice": case["support_dice"]}, {}])
    assert ref.attack(battle, ref.ATTACKER, [army(case["army"]), army({"active": 1})], NOW, no_dice) == ref.Roll()


@pytest.mark.parametrize("case", named("pursuit", "endings"))
def test_pursuit(case: dict[str, Any]) -> None:
    battle = scenario(**case["options"])
    kinds = [row.name for row in battle.types]
    winner = [squad for unit, count in case["winner"].items() for squad in army({"active": count}, kinds.index(unit))]
    loser = [ref.Squad(0, "routed", since=NOW) for _ in range(case["routed"])]
    loser += [ref.Squad(0, "fled", since=NOW) for _ in range(case["fled"])]
    loser += [ref.Squad(0, "fled", since=NOW - 1), ref.Squad(0, "destroyed")]
    result = ref.conclude(battle, [winner, loser], NOW, "attacker_wins")
    assert result.total(ref.DEFENDER, "captured") == case["expect"]["taken"]
    assert result.total(ref.DEFENDER, *ref.STATES) == len(loser)
    assert result.total(ref.DEFENDER, "destroyed") == 1


@pytest.mark.parametrize("case", named("battle", "battles"))
def test_whole_battles(case: dict[str, Any]) -> None:
    data, expect = case["scenario"], case["expect"]
    fractions = "/" in expect["turns"]
    solved = exact.solve(data, exact=fractions, forget=True)
    for name, figure in expect["outcomes"].items():
        assert agrees(solved.outcome(name), figure), name
    assert agrees(solved.mean_turns, expect["turns"])
    if fractions:
        assert sum(solved.outcome(name) for name in ref.OUTCOMES) == 1


def assert_near_sampled(case: dict[str, Any]) -> None:
    """Compare with a printed share: 4.5 standard errors and half a unit of the third digit."""
    expect, battles = case["expect"], case["battles"]
    solved = exact.solve(case["scenario"], exact=False, forget=True)
    for name, figure in expect["outcomes"].items():
        p = min(max(float(solved.outcome(name)), 0.0), 1.0)
        room = 4.5 * (p * (1 - p) / battles) ** 0.5 + 0.5e-3
        assert abs(p - float(figure)) <= room, (name, p)
    # The printed means have one decimal: the standard error of 60 000 battles is far below it.
    assert abs(float(solved.mean_turns) - float(expect["turns"])) <= 0.05 + 0.05


SAMPLED = named("sampled", "sensitivity")


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize("case", SAMPLED)
def test_printed_sensitivity(case: dict[str, Any]) -> None:
    assert_near_sampled(case)


# --------------------------------------------------------------------------------------------------
# Readings: one test for each that a case does not show
# --------------------------------------------------------------------------------------------------

UNLIKE = (
    ref.SquadType("guard", dice=3, cost=5),
    ref.SquadType("levy", dice=1),
    ref.SquadType("rider", dice=2, mobile=True, rally=2, size_class=-1, cost=3),
)


@pytest.mark.rule("MA-1")
def test_faces_can_mean_other_effects() -> None:
    options = scenario(face_effects={4: "rout", "5": "suppress", 6: "destroy"}).options
    # The weakest effect stands last and is the first surplus, whatever its face.
    assert ref.read_faces([4, 5, 6, 5, 4], options, negative=False).effects == (
        *("destroy",),
        *("rout", "rout"),
        *("suppress", "suppress"),
    )
    assert ref.read_faces([5, 4], options, negative=True).effects == ("suppress",)
    # A face left out has no effect, and none to be confirmed.
    options = scenario(face_effects={6: "destroy"}).options
    assert ref.read_faces([4, 5, 6], options, negative=False).effects == ("destroy",)
    assert ref.read_faces([5, 4], options, negative=True) == ref.Roll()


@pytest.mark.rule("MB-1")
@pytest.mark.rule("MA-2")
def test_pools() -> None:
    sides = ({"support_dice": 2, "pool_modifier": -1, "pool": 6}, {"pool_modifier": 3})
    fight = {"attacker": "2 guard, 1 levy", "defender": "1 rider"}
    pools = {}
    for model in ("sum_active", "difference", "fixed"):
        battle = scenario(*fight.values(), sides=sides, types=UNLIKE, pool_model=model)
        armies = [ref.muster(battle, side) for side in (ref.ATTACKER, ref.DEFENDER)]
        armies[0][0].suppress(NOW + 1)
        pools[model] = [ref.pool_of(battle, side, armies) for side in (ref.ATTACKER, ref.DEFENDER)]
    assert pools == {"sum_active": [5, 5], "difference": [0, 0], "fixed": [5, 3]}


@pytest.mark.rule("MB-3")
@pytest.mark.rule("MA-20")
def test_an_army_without_active_squads_does_not_roll() -> None:
    battle = scenario(sides=({"support_dice": 3, "pool": 4}, {}), pool_model="fixed")
    armies = [army({"suppressed": 2, "routed": 1}), army({"active": 1})]
    assert ref.attack(battle, ref.ATTACKER, armies, NOW, no_dice) == ref.Roll()


@pytest.mark.rule("MA-4")
def test_dice_of_negative_rolls() -> None:
    pools = (3, 1, 0, -1, -2, -3)
    assert [ref.dice_of(pool, "two_minus_pool") for pool in pools] == [3, 1, 2, 3, 4, 5]
    assert [ref.dice_of(pool, "count") for pool in pools] == [3, 1, 2, 2, 2, 3]


@pytest.mark.rule("MA-5")
@pytest.mark.rule("MB-20")
def test_one_other_success_can_be_enough() -> None:
    options = scenario(negative_needs="any").options
    assert ref.read_faces([5, 6, 3], options, negative=True) == ref.Roll(("rout",))
    # Only here can one roll hit both armies.
    assert ref.read_faces([6, 4, 1], options, negative=True) == ref.Roll(("destroy",), 1)
    assert ref.read_faces([6, 3, 1], options, negative=True) == ref.Roll((), 1)
    assert ref.read_faces([3, 6, 6], options, negative=True) == ref.Roll()


@pytest.mark.rule("MA-6")
def test_ones_of_ordinary_rolls() -> None:
    assert ref.read_faces([6, 1, 1], ref.Options(), negative=False) == ref.Roll(("destroy",))
    options = scenario(ones_backfire="every_roll").options
    assert ref.read_faces([6, 1, 1], options, negative=False) == ref.Roll(("destroy",), 2)


@pytest.mark.rule("MA-7")
@pytest.mark.rule("MB-21")
@pytest.mark.parametrize("initiative", ["simultaneous", "attacker_first"])
def test_own_ones_come_last_and_touch_active_squads_only(initiative: str) -> None:
    battle = scenario(sides=({"pool_modifier": -3}, {}), initiative=initiative)
    armies = [army({"active": 2, "suppressed": 1}), army({"active": 1})]
    armies[0][2].back = NOW + 1
    ref.fight_turn(battle, armies, NOW, ref.ScriptedDice([[1, 1, 1], [5]]))
    # The active squad that is left is suppressed; the suppressed one is not renewed.
    assert [(squad.state, squad.back) for squad in armies[0]] == [
        ("routed", 0),
        ("suppressed", NOW + 2),
        ("suppressed", NOW + 1),
    ]


@pytest.mark.rule("MA-8")
def test_routed_squads_as_targets() -> None:
    faces = ["destroy"] * 4
    for options, left in (
        ({}, {"destroyed": 2, "routed": 2}),
        ({"rally_attempts": "unlimited"}, {"destroyed": 2, "routed": 2}),
        ({"rally_attempts": "unlimited", "routed_targets": True}, {"destroyed": 4}),
        # With one attempt nobody who ran earlier is on the field when dice are applied.
        ({"routed_targets": True}, {"destroyed": 2, "routed": 2}),
    ):
        squads = army({"routed": 2, "suppressed": 1, "active": 1})
        ref.suffer(scenario(**options), ref.DEFENDER, squads, faces, NOW, no_dice)
        assert states(squads) == left, options


@pytest.mark.rule("MA-8")
def test_lesser_effects_change_nothing_for_routed_squads() -> None:
    battle = scenario(rally_attempts="unlimited", routed_targets=True)
    squads = army({"routed": 3, "active": 1})
    ref.suffer(battle, ref.DEFENDER, squads, ["suppress", "rout", "rout", "rout"], NOW, no_dice)
    assert [(squad.state, squad.since) for squad in squads] == [("routed", NOW - 1)] * 3 + [("routed", NOW)]


@pytest.mark.rule("MA-9")
def test_suppression_is_renewed_or_not() -> None:
    for renew, back in ((True, NOW + 2), (False, NOW + 1)):
        squads = army({"suppressed": 1})
        ref.suffer(scenario(renew_suppression=renew), ref.DEFENDER, squads, ["suppress"], NOW, no_dice)
        assert (squads[0].state, squads[0].back) == ("suppressed", back)


def mixed_line() -> ref.Army:
    """Return one squad of each type in each class, the last class first."""
    line = [ref.Squad(kind, "suppressed", back=NOW + 2) for kind in range(3)]
    line += [ref.Squad(kind, "suppressed", back=NOW + 1) for kind in range(3)]
    return line + [ref.Squad(kind) for kind in range(3)]


@pytest.mark.rule("MA-10")
@pytest.mark.rule("MB-16")
@pytest.mark.parametrize(("order", "kinds"), [("listed", [0, 1, 2]), ("strongest", [0, 2, 1]), ("weakest", [1, 2, 0])])
def test_target_order(order: str, kinds: list[int]) -> None:
    battle = scenario("", "1 guard", types=UNLIKE, target_order=order)
    squads = mixed_line()
    classes = [list(map(id, squads[6:])), list(map(id, squads[3:6])), list(map(id, squads[:3]))]
    chosen = ref.suffer(battle, ref.DEFENDER, squads, ["destroy"] * 9, NOW, no_dice)
    assert [squad.kind for squad, _ in chosen] == kinds * 3
    assert [{id(squad) for squad, _ in chosen[i : i + 3]} for i in (0, 3, 6)] == [set(ids) for ids in classes]
    # Own squads are suppressed by the same order.
    own = mixed_line()
    ref.backfire(battle, ref.DEFENDER, own, 2, NOW, no_dice)
    assert [squad.kind for squad in own[6:] if squad.state == "suppressed"] == sorted(kinds[:2])


@pytest.mark.rule("MA-10")
def test_random_targets_are_drawn_inside_a_class() -> None:
    battle = scenario("", "1 guard", types=UNLIKE, target_order="random")

    def run(dice: ref.Dice) -> tuple[int, ...]:
        line = [ref.Squad(0), ref.Squad(1), ref.Squad(1), ref.Squad(2, "suppressed", back=NOW + 1)]
        return tuple(squad.kind for squad, _ in ref.suffer(battle, 1, line, ["destroy", "rout"], NOW, dice))

    third = Fraction(1, 3)
    assert exact.branches(run) == {(0, 1): third, (1, 0): third, (1, 1): third}


@pytest.mark.rule("MB-13")
@pytest.mark.rule("MB-14")
@given(
    faces=st.lists(st.integers(1, 6), max_size=12),
    active=st.integers(0, 4),
    suppressed=st.integers(0, 4),
)
def test_surplus_is_dropped_weakest_first(faces: list[int], active: int, suppressed: int) -> None:
    battle = scenario()
    squads = army({"active": active, "suppressed": suppressed})
    shown = ref.read_faces(faces, battle.options, negative=False).effects
    chosen = [effect for _, effect in ref.suffer(battle, 1, squads, shown, NOW, no_dice)]
    count = Counter(shown)
    room = active + suppressed
    for effect in ref.SEVERITY:
        taken = min(room, count[effect])
        assert chosen.count(effect) == taken
        room -= taken
    assert sum(states(squads).values()) == active + suppressed


@pytest.mark.rule("MA-11")
def test_the_first_army_can_silence_the_second() -> None:
    for initiative, left in (
        ("simultaneous", [{"destroyed": 1}, {"destroyed": 1}]),
        ("attacker_first", [{"active": 1}, {"destroyed": 1}]),
        ("defender_first", [{"destroyed": 1}, {"active": 1}]),
    ):
        armies = [army({"active": 1}), army({"active": 1})]
        ref.fight_turn(scenario(initiative=initiative), armies, NOW, lambda draw: [6] * draw.dice)
        assert [states(squads) for squads in armies] == left


@pytest.mark.rule("MA-11")
@pytest.mark.rule("MA-2")
def test_the_second_pool_counts_the_survivors() -> None:
    battle = scenario("3 squad", "3 squad", initiative="attacker_first", pool_model="difference")
    dice = ref.ScriptedDice([[4, 5], [2, 2, 2]])
    armies = [army({"active": 3}), army({"active": 3})]
    ref.fight_turn(battle, armies, NOW, dice)
    # 3 - 3 = 0К confirms its 4: two defenders are left, and roll 2 - 3 = -1К.
    assert [(draw.side, draw.dice, draw.negative) for draw, _ in dice.asked] == [(0, 2, True), (1, 3, True)]


@pytest.mark.rule("MB-4")
@pytest.mark.rule("MA-12")
def test_suppressed_squads_miss_the_next_turn_only() -> None:
    squads = army({"active": 1})
    ref.suffer(scenario(), 1, squads, ["suppress"], NOW, no_dice)
    seen = []
    for turn in (NOW + 1, NOW + 2):
        ref.return_suppressed(squads, turn)
        seen.append(squads[0].state)
    assert seen == ["suppressed", "active"]


@pytest.mark.rule("MA-13")
@pytest.mark.parametrize(("miss", "first"), [(1, NOW + 2), (0, NOW + 1)])
def test_turns_missed_after_a_rally(miss: int, first: int) -> None:
    squads = army({"routed": 1})
    ref.rally(scenario(rally_miss=miss), 0, squads, NOW, lambda draw: [draw.rolls])
    assert (squads[0].state, squads[0].back) == ("suppressed", first)


@pytest.mark.rule("MA-9")
@pytest.mark.rule("MA-13")
def test_a_longer_suppression_is_not_shortened() -> None:
    squads = army({"routed": 1})
    ref.rally(scenario(rally_miss=3), 0, squads, NOW, lambda draw: [draw.rolls])
    ref.suffer(scenario(rally_miss=3), 0, squads, ["suppress"], NOW, no_dice)
    assert squads[0].back == NOW + 4


@pytest.mark.rule("MB-6")
@pytest.mark.rule("MA-14")
def test_a_failed_rally() -> None:
    for attempts, state, tries in ((1, "fled", 1), ("unlimited", "routed", 3)):
        squads = army({"routed": 1})
        asked = []
        for turn in range(NOW, NOW + 3):
            dice = ref.KeptDice(lambda draw: [0] * bool(draw.rolls))
            ref.rally(scenario(rally_attempts=attempts), 0, squads, turn, dice)
            asked += dice.asked
        assert (squads[0].state, len(asked)) == (state, tries)


@pytest.mark.rule("MA-15")
@pytest.mark.parametrize("pool", [3, 1, 0, -1])
@pytest.mark.parametrize("face", [3, 4, 5])
def test_success_chances_are_those_of_the_dice(pool: int, face: int) -> None:
    options = scenario(success_face=face).options
    dice = ref.dice_of(pool, "two_minus_pool")
    needed = any if pool > 0 else all
    won = sum(
        (p for faces, p in exact.rolled(dice, dict.fromkeys(range(1, 7), 1)) if needed(f >= face for f in faces)),
        Fraction(0),
    )
    assert ref.success_chance(pool, options) == won


@pytest.mark.rule("MA-16")
@pytest.mark.rule("MA-23")
def test_characters_take_the_first_routed_squads() -> None:
    characters = [
        {"skill": 1, "route": "squad"},
        {"skill": 1, "route": "army", "army_modifier": 2},
        {"skill": 4, "route": "squad"},
    ]
    battle = scenario("2 guard, 3 rider", "1 levy", sides=({"characters": characters}, {}), types=UNLIKE)
    squads = [*army({"routed": 3}, 2), *army({"routed": 2}, 0)]
    dice = ref.ScriptedDice([[1], [1], [0], [1]])
    ref.rally(battle, ref.ATTACKER, squads, NOW, dice)
    # The guards are halted by the first two, the third fails with a rider, the commanders of the others roll 2К.
    asked = [(draw.step, draw.group, draw.dice, draw.rolls, draw.chance) for draw, _ in dice.asked]
    assert asked == [
        ("character", 0, 1, 1, Fraction(1, 2)),
        ("character", 1, 3, 1, Fraction(1, 8)),
        ("character", 2, 5, 1, Fraction(31, 32)),
        ("rally", 2, 2, 2, Fraction(3, 4)),
    ]
    assert [squad.state for squad in squads] == ["fled", "suppressed", "fled", "suppressed", "active"]


@pytest.mark.rule("MB-9")
def test_a_squad_made_ready_fights_in_the_same_turn() -> None:
    character = {"skill": 3, "route": "army", "army_modifier": 0}
    battle = scenario("2 squad", sides=({"characters": [character]}, {}))
    dice = ref.ScriptedDice([[1], [2, 2], [2]])
    ref.fight_turn(battle, [army({"routed": 1, "active": 1}), army({"active": 1})], NOW, dice)
    assert [draw.dice for draw, _ in dice.asked] == [3, 2, 1]


@pytest.mark.rule("MB-17")
@pytest.mark.rule("MA-17")
@pytest.mark.parametrize(
    ("rule", "outcome"), [("draw", "both_broken"), ("attacker", "attacker_wins"), ("defender", "defender_wins")]
)
def test_both_broken(rule: str, outcome: str) -> None:
    battle = scenario("1 mobile_squad", "1 mobile_squad", mutual_break=rule)
    story = ref.fight(battle, ref.ScriptedDice([[5], [5]]))
    # Routed squads could still rally, but the battle is over; nobody pursues.
    assert (story.battle.outcome, story.battle.turns, story.battle.cost_lost) == (outcome, 1, (0, 0))
    assert [story.battle.total(side, "routed") for side in (0, 1)] == [1, 1]


@pytest.mark.rule("MB-5")
@pytest.mark.rule("MB-10")
@pytest.mark.rule("MB-11")
@pytest.mark.rule("MB-12")
@pytest.mark.rule("MB-18")
@pytest.mark.rule("MA-19")
@pytest.mark.parametrize(
    ("options", "winner", "taken"),
    [
        ({}, {"active": 1}, 4),
        ({"pursuit_limit": "one_per_squad"}, {"active": 3}, 3),
        ({"pursuit_limit": "one_per_squad"}, {"active": 2, "suppressed": 2}, 2),
        ({}, {"suppressed": 2}, 0),
        ({"pursuit_limit": "suppressed_too"}, {"suppressed": 1}, 4),
        ({"pursuit_limit": "suppressed_too"}, {"routed": 1}, 0),
        ({"pursuit_fate": "destroyed"}, {"active": 1}, 4),
    ],
)
def test_pursuit_limits(options: dict[str, Any], winner: dict[str, int], taken: int) -> None:
    battle = scenario(**options)
    loser = [ref.Squad(0, "routed", since=NOW), ref.Squad(1, "routed", since=NOW)]
    loser += [ref.Squad(0, "fled", since=NOW), ref.Squad(1, "fled", since=NOW)]
    result = ref.conclude(battle, [army({**winner}, 1) + army({"suppressed": 1}), loser], NOW, "attacker_wins")
    fate = options.get("pursuit_fate", "captured")
    assert result.total(ref.DEFENDER, fate) == taken
    # The routed go first, each in listed order.
    assert result.total(ref.DEFENDER, "fled") == min(2, 4 - taken)
    assert result.cost_lost == (0, (0, 1, 3, 4, 6)[taken])


@pytest.mark.rule("MA-18")
@pytest.mark.rule("MA-14")
def test_pursuit_of_those_who_ran_for_several_turns() -> None:
    for scope, taken in (("in_flight", 2), ("routed_this_turn", 1)):
        battle = scenario(rally_attempts="unlimited", pursuit_scope=scope)
        loser = [ref.Squad(0, "routed", since=NOW), ref.Squad(0, "routed", since=NOW - 2)]
        result = ref.conclude(battle, [army({"active": 1}, 1), loser], NOW, "attacker_wins")
        assert (result.total(1, "captured"), result.total(1, "routed")) == (taken, 2 - taken)


@pytest.mark.rule("MA-21")
@pytest.mark.parametrize(("scope", "taken"), [("in_flight", 2), ("routed_this_turn", 1)])
def test_an_army_that_cannot_flee(scope: str, taken: int) -> None:
    battle = scenario(sides=({}, {"can_flee": False}), pursuit_scope=scope, pursuit_limit="one_per_squad")
    loser = [ref.Squad(0, "routed", since=NOW), ref.Squad(0, "fled", since=NOW), ref.Squad(0, "fled", since=NOW - 1)]
    result = ref.conclude(battle, [army({"active": 1}), loser], NOW, "attacker_wins")
    assert (result.total(1, "captured"), result.total(1, "fled")) == (taken, 3 - taken)


@pytest.mark.rule("MA-21")
@pytest.mark.rule("MA-14")
def test_an_army_that_cannot_flee_loses_all_that_are_routed() -> None:
    for can_flee, taken in ((True, 1), (False, 2)):
        sides: tuple[dict[str, Any], dict[str, Any]] = ({}, {"can_flee": can_flee})
        battle = scenario(sides=sides, pursuit_scope="routed_this_turn", rally_attempts="unlimited")
        loser = [ref.Squad(0, "routed", since=NOW), ref.Squad(0, "routed", since=NOW - 1)]
        result = ref.conclude(battle, [army({"active": 1}, 1), loser], NOW, "attacker_wins")
        assert result.total(1, "captured") == taken


@pytest.mark.rule("MB-18")
@pytest.mark.rule("MA-18")
def test_who_failed_to_rally_in_the_last_turn_is_pursued() -> None:
    # Turn 1 routs a defender, who is not halted in turn 2, when the next is routed; so it goes on to turn 3.
    script = [[5], [2, 2, 2], [0], [5], [2, 2], [0], [5], [2]]
    result = ref.fight(scenario("1 mobile_squad", "3 squad"), ref.ScriptedDice(script)).battle
    assert (result.outcome, result.turns) == ("attacker_wins", 3)
    # The runaway of turn 1 left the field in turn 2 and is out of reach.
    assert (result.total(1, "fled"), result.total(1, "captured")) == (1, 2)


@pytest.mark.rule("MA-22")
@pytest.mark.parametrize("cap", [1, 3])
def test_turn_cap(cap: int) -> None:
    result = ref.fight(scenario(max_turns=cap), lambda draw: [2] * draw.dice).battle
    assert (result.outcome, result.turns) == ("undecided", cap)


@pytest.mark.rule("MB-17")
def test_an_empty_army_is_broken_before_anyone_rolls() -> None:
    result = ref.fight(scenario("", "2 squad"), no_dice).battle
    assert (result.outcome, result.turns, result.swing) == ("defender_wins", 0, 0)


@pytest.mark.rule("MA-3")
def test_support_dice_are_rolled_beside_active_squads() -> None:
    dice = ref.ScriptedDice([[2, 2, 2, 2], [2]])
    ref.fight(scenario("2 squad", sides=({"support_dice": 2}, {}), max_turns=1), dice)
    assert [draw.dice for draw, _ in dice.asked] == [4, 1]


def test_faces_from_counts() -> None:
    assert sorted(ref.faces_of(6, ones=1, fours=2, sixes=1)) == [1, 2, 2, 4, 4, 6]
    with pytest.raises(ValueError, match="more faces than dice"):
        ref.faces_of(2, fours=2, fives=1)


def test_wrong_names_are_refused() -> None:
    for options in ({"initiative": "first"}, {"rally_attempts": 2}, {"luck": 1}, {"face_effects": {3: "rout"}}):
        with pytest.raises(ValueError, match=next(iter(options))):
            scenario(**options)
    with pytest.raises(ValueError, match="unknown squads"):
        scenario("1 knight")


def test_editions_of_a_scenario() -> None:
    data = {
        "edition": "house",
        "editions": {"house": {"base": "standard", "units": {"squad": {"dice": 2}, "guard": {"rally": 3}}}},
        "attacker": {"units": {"guard": 1, "squad": 2}},
        "defender": {"units": "1 mobile_squad"},
    }
    read = ref.read_scenario(data)
    assert [(row.name, row.dice, row.rally, row.mobile) for row in read.types] == [
        ("squad", 2, 1, False),
        ("mobile_squad", 1, 1, True),
        ("guard", 1, 3, False),
    ]
    assert [force.units for force in read.forces] == [(2, 0, 1), (0, 1, 0)]


# --------------------------------------------------------------------------------------------------
# Properties of whole battles
# --------------------------------------------------------------------------------------------------


@st.composite
def battles(draw: st.DrawFn, most: int = 4) -> ref.Scenario:
    """Draw a battle of unlike squads under any options."""
    choices: dict[str, Any] = {
        name: draw(st.sampled_from(values)) for name, values in ref.ALLOWED.items() if draw(st.booleans())
    }
    for name in ("routed_targets", "renew_suppression"):
        choices[name] = draw(st.booleans())
    choices["rally_miss"] = draw(st.integers(0, 1))
    choices["success_face"] = draw(st.integers(3, 5))
    if draw(st.booleans()):
        choices["face_effects"] = {face: draw(st.sampled_from(ref.SEVERITY)) for face in (4, 5, 6)}
    sides = []
    for _ in ref.SIDES:
        characters: st.SearchStrategy[dict[str, Any]] = st.builds(
            dict, skill=st.integers(0, 3), route=st.sampled_from(("squad", "army")), army_modifier=st.integers(0, 2)
        )
        sides.append(
            {
                "support_dice": draw(st.integers(0, 2)),
                "pool_modifier": draw(st.integers(-3, 2)),
                "pool": draw(st.integers(-1, 4)),
                "can_flee": draw(st.booleans()),
                "characters": draw(st.lists(characters, max_size=2)),
            }
        )
    lists = [", ".join(f"{draw(st.integers(0, most))} {row.name}" for row in UNLIKE) for _ in ref.SIDES]
    return scenario(*lists, sides=sides, types=UNLIKE, max_turns=draw(st.integers(1, 12)), **choices)


@given(battle=battles(), seed=st.integers(0, 2**32))
def test_squads_are_conserved(battle: ref.Scenario, seed: int) -> None:
    story = ref.fight(battle, ref.RandomDice(seed))
    for after in [*story.after, story.battle.squads]:
        for side in (0, 1):
            totals: Counter[str] = Counter()
            for counts in after[side].values():
                totals.update(counts)
            mustered = {row.name: n for row, n in zip(UNLIKE, battle.forces[side].units, strict=True) if n}
            assert totals == mustered
    for early, late in zip(story.after, story.after[1:], strict=False):
        for side in (0, 1):
            for state in ("fled", "destroyed"):
                assert all(late[side][state][name] >= n for name, n in early[side][state].items())
    assert all(0 <= lost <= cost for lost, cost in zip(story.battle.cost_lost, story.battle.cost, strict=True))
    assert (story.battle.outcome == "undecided") <= (story.battle.turns == battle.options.max_turns)


def mirrored(dice: Iterable[tuple[ref.Draw, tuple[int, ...]]]) -> ref.Dice:
    """Return dice that show the other side what this one has seen."""
    known = {(1 - d.side, d.turn, d.step, d.group): (d, answer) for d, answer in dice}

    def show(draw: ref.Draw) -> tuple[int, ...]:
        asked, answer = known[draw.side, draw.turn, draw.step, draw.group]
        assert replace(asked, side=draw.side) == draw
        return answer

    return show


@given(battle=battles(), seed=st.integers(0, 2**32))
def test_exchanged_sides_mirror_the_battle(battle: ref.Scenario, seed: int) -> None:
    kept = ref.KeptDice(ref.RandomDice(seed))
    one = ref.fight(battle, kept).battle
    two = ref.fight(battle.swapped(), mirrored(kept.asked)).battle
    turned = {"attacker_wins": "defender_wins", "defender_wins": "attacker_wins"}
    assert two.outcome == turned.get(one.outcome, one.outcome)
    assert (two.turns, two.squads, two.cost_lost) == (one.turns, one.squads[::-1], one.cost_lost[::-1])


def test_exact_distributions_mirror_too() -> None:
    sides = ({"pool_modifier": -1}, {"support_dice": 1})
    battle = scenario("2 squad", "1 mobile_squad", sides=sides, initiative="attacker_first", max_turns=3)
    one, two = exact.solve(battle), exact.solve(battle.swapped())
    assert one.outcome("attacker_wins") == two.outcome("defender_wins")
    assert one.mean(lambda result: result.swing) == -two.mean(lambda result: result.swing)


def dice_rolled(battle: ref.Scenario, pair: exact.Pair) -> int:
    armies = [exact.thaw(frozen) for frozen in pair]
    pools = [ref.pool_of(battle, side, armies) for side in (0, 1) if ref.in_state(armies[side], "active")]
    return sum(ref.dice_of(pool, battle.options.negative_dice) for pool in pools)


@pytest.mark.parametrize("initiative", ref.ALLOWED["initiative"])
@settings(max_examples=12)
@given(battle=battles(most=1))
def test_the_solver_takes_the_turns_of_the_reference(battle: ref.Scenario, initiative: str) -> None:
    battle = replace(battle, options=replace(battle.options, initiative=initiative))
    # The solver takes the steps of a turn one by one; here the whole turn is enumerated at once.
    start = exact.freeze(ref.muster(battle, 0), 0), exact.freeze(ref.muster(battle, 1), 0)
    solver = exact.Solver(battle)
    after = sorted(solver.turn(start), key=lambda pair: -sum(squad[1] in {"routed", "suppressed"} for squad in pair[0]))
    for pair in [start, *after[:2]]:

        def run(dice: ref.Dice, pair: exact.Pair = pair) -> exact.Pair:
            armies = [exact.thaw(pair[0]), exact.thaw(pair[1])]
            ref.fight_turn(battle, armies, 1, dice)
            return exact.freeze(armies[0], 1), exact.freeze(armies[1], 1)

        if dice_rolled(battle, pair) <= FEW_DICE:
            assert exact.branches(run) == solver.turn(pair)


@pytest.mark.parametrize(("dice", "negative"), [(1, False), (3, False), (2, True), (3, True)])
@pytest.mark.parametrize("needs", ["all", "any"])
def test_faces_thrown_together_mean_the_same(dice: int, negative: bool, needs: str) -> None:
    options = scenario(negative_needs=needs, ones_backfire="every_roll").options
    draw = ref.Draw("attack", 0, 1, dice=dice, negative=negative)
    separate: defaultdict[ref.Roll, Fraction] = defaultdict(Fraction)
    for faces, p in exact.attack_faces(draw, merged=False):
        separate[ref.read_faces(faces, options, negative=negative)] += p
    assert exact.roll_meanings(dice, options, negative=negative) == separate


def test_uncapped_battles_by_two_ways() -> None:
    battle = scenario("2 squad", "1 mobile_squad", sides=({"pool_modifier": -1}, {}), max_turns=0)
    solved, followed = exact.solve(battle), exact.iterate(battle)
    assert followed.running <= 1e-15
    for name in ref.OUTCOMES:
        assert abs(float(solved.outcome(name)) - followed.outcome(name)) < 1e-12
    assert abs(float(solved.mean_turns) - followed.mean_turns) < 1e-11
    for side in (0, 1):
        for state in ref.STATES:
            assert abs(float(solved.squads(side, state)) - followed.squads(side, state)) < 1e-12


def test_a_far_cap_changes_nothing() -> None:
    capped, uncapped = exact.solve(scenario("2 squad"), exact=False), exact.solve(scenario("2 squad", max_turns=0))
    assert capped.outcome("undecided") < 1e-12
    assert abs(capped.outcome("attacker_wins") - float(uncapped.outcome("attacker_wins"))) < 1e-12


def test_more_squads_win_more_often() -> None:
    shares = [
        float(exact.solve(scenario(f"{n} squad", "2 squad", max_turns=0), exact=False, forget=True).outcome(name))
        for name in ("attacker_wins",)
        for n in (1, 2, 3)
    ]
    assert shares == sorted(shares)


@pytest.mark.statistical
@pytest.mark.parametrize(
    "battle",
    [
        scenario("2 squad, 1 mobile_squad", "2 squad", max_turns=4),
        scenario("1 rider, 1 levy", "1 guard", types=UNLIKE, target_order="random", sides=({"pool_modifier": -2}, {})),
        scenario(
            "2 squad", "2 squad", pool_model="difference", negative_needs="any", rally_attempts="unlimited", max_turns=9
        ),
    ],
)
def test_random_battles_follow_the_exact_distribution(battle: ref.Scenario) -> None:
    number = 2_000
    dice = ref.RandomDice(7)
    found = [ref.fight(battle, dice).battle for _ in range(number)]
    solved = exact.solve(battle, exact=False)
    for name in ref.OUTCOMES:
        p = min(max(float(solved.outcome(name)), 0.0), 1.0)
        count = sum(result.outcome == name for result in found)
        assert abs(count - number * p) <= 4.5 * (number * p * (1 - p)) ** 0.5 + 1e-6, name
    mean = float(solved.mean(lambda result: result.swing))
    spread = float(solved.mean(lambda result: result.swing**2)) - mean**2
    assert abs(sum(result.swing for result in found) / number - mean) <= 4.5 * (spread / number) ** 0.5
