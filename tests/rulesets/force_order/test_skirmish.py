"""Skirmishes of the compiled rules: battle by battle those of the reference, and what must hold in all of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import simcore
from simcore.core.jit import is_jit_disabled
from simcore.errors import ScenarioError
from simcore.rulesets.force_order.attack import resolve_rows
from simcore.rulesets.force_order.edition import KIND_OF, UNITS
from simcore.rulesets.force_order.layout import ROW_FIELDS, Kind, RowField
from simcore.rulesets.force_order.skirmish.drive import trace_game
from simcore.rulesets.force_order.skirmish.encoding import encode
from simcore.rulesets.force_order.skirmish.layout import Event, PieceColumn, TraceColumn
from simcore.scenario import load_scenario
from tests.rulesets.force_order import reference as ref
from tests.rulesets.force_order import reference_skirmish as sk
from tests.rulesets.force_order.lockstep import compare, scenario_of, script_for
from tests.rulesets.force_order.test_reference_skirmish import MIX, RULES, check

if TYPE_CHECKING:
    from simcore.api import Simulation
    from tests.rulesets.force_order.lockstep import Mixes

rule = pytest.mark.rule
EXAMPLES = 3 if is_jit_disabled() else 12
GAMES = 40 if is_jit_disabled() else 4_000
BOTH = {"soldier2": 2, "soldier5": 1, "saboteur": 1, "boat_small": 1, "boat_large": 1, "lifeboat": 1}
BOTH |= {"plane_scout": 1, "plane_fighter": 1, "mine": 2}
SMALL = sk.Rules(rows=6, set_up_rows=2, turn_cap=60)
policies = st.sampled_from(["random", "eager", "greedy"])


def skirmish(attacker: Any, defender: Any, **more: Any) -> dict[str, Any]:
    sides = {
        name: side if isinstance(side, dict) and "units" in side else {"units": side}
        for name, side in (("attacker", attacker), ("defender", defender))
    }
    return {"ruleset": "force_order", "mode": "skirmish", **sides, **more}


def small(**more: Any) -> dict[str, Any]:
    """Return a short game on a small board."""
    mix = "1 soldier2, 1 soldier5, 1 boat_small, 1 plane_scout"
    options = {"rows": 5, "columns": 6, "land_columns": 4, "set_up_rows": 2, "turn_cap": 40, **more.pop("options", {})}
    return skirmish(mix, mix, options=options, **more)


# ------------------------------------------------------------------------------------ the same games as the reference


@settings(max_examples=EXAMPLES, phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(st.tuples(MIX, MIX), RULES, st.tuples(policies, policies), st.integers(0, 2**32 - 1), st.integers(0, 1))
def test_every_game_is_that_of_the_reference(
    mixes: Mixes, rules: sk.Rules, chosen: tuple[str, str], seed: int, first: int
) -> None:
    compare(rules, mixes, chosen, key=(seed, 77), battle=seed * 3, first=first, watch=check)


@pytest.mark.slow
@settings(max_examples=400, phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(st.tuples(MIX, MIX), RULES, st.tuples(policies, policies), st.integers(0, 2**32 - 1), st.integers(0, 1))
def test_hundreds_of_games_are_those_of_the_reference(
    mixes: Mixes, rules: sk.Rules, chosen: tuple[str, str], seed: int, first: int
) -> None:
    compare(rules, mixes, chosen, key=(seed, 78), battle=seed * 5, first=first)


VARIANTS: dict[str, sk.Rules] = {
    "default": SMALL,
    "rows": replace(SMALL, rows=9),
    "columns": replace(SMALL, columns=10, land_columns=6),
    "no sea": replace(SMALL, land_columns=8),
    "land_columns": replace(SMALL, land_columns=3),
    "set_up_rows": replace(SMALL, set_up_rows=3),
    "flag_rows": replace(SMALL, flag_rows=1),
    "capacity": replace(SMALL, capacity={"boat": 1, "lifeboat": 1, "plane": 0}),
    "win": replace(SMALL, win="capture"),
    "turn_cap": replace(SMALL, turn_cap=7),
    "repetitions": replace(SMALL, repetitions=2),
    "tip one": replace(SMALL, options=ref.Options(tip_capacity="one")),
    "tip last": replace(SMALL, options=ref.Options(tip_capacity="last")),
    "recovery": replace(SMALL, options=ref.Options(own_flag_recovery=True, adjacency="diagonal")),
    "planes take flags": replace(SMALL, options=ref.Options(plane_attacks_flag="plane_takes", plane_win="take")),
    "planes win": replace(SMALL, order_of_forces={("plane_scout", unit): (5, 2, 1) for unit in sk.TYPES}),
}


@rule("FA-25")
@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize("policy", ["eager", "greedy"])
def test_options_of_the_board(name: str, policy: str) -> None:
    rules = VARIANTS[name]
    mix = {unit: n for unit, n in BOTH.items() if name != "no sea" or KIND_OF[unit] not in {Kind.BOAT, Kind.LIFEBOAT}}
    for battle in range(1 if is_jit_disabled() else 2):
        # A plane with a flag stands against FA-15, and this reading of FA-9 asks for it.
        watch = None if name == "planes take flags" else check
        compare(rules, (mix, mix), (policy, policy), battle=battle, first=battle % 2, watch=watch)


@rule("FA-17")
@pytest.mark.parametrize("result", ["win", "lose", "tie"])
def test_a_given_result_holds_for_every_duel(result: str) -> None:
    options = {"options": {"order_of_forces": "given", "turn_cap": 40, "rows": 4, "set_up_rows": 2}}
    told = simcore.replay(skirmish("4 soldier1, 2 saboteur", "4 soldier9, 2 boat_large", result=result, **options))
    duels = [action["attack"]["outcome"] for action in told.actions if action["act"] == "attack"]
    expected = {"win": "attacker_wins", "lose": "defender_wins", "tie": "both_die"}[result]
    assert duels
    assert set(duels) <= {expected, "flag_taken"}


# ---------------------------------------------------------------------------------------------- games by hand


def by_hand(rules: sk.Rules, mixes: Mixes, squares: list[sk.Square], moves: list[tuple[int, str, sk.Square]]) -> Any:
    """Return the story of a game in which pieces start on these squares and do this."""
    script = script_for(rules, mixes, squares, moves)
    return simcore.replay(scenario_of(rules, mixes, ("random", "random")), script=script)


@rule("FO-5", "FA-25")
def test_a_soldier_fetches_the_flag() -> None:
    rules = sk.Rules(rows=4, columns=3, land_columns=2, set_up_rows=2, flag_rows=2, turn_cap=50)
    # Numbers of the pieces: soldier, flag; soldier, flag.
    start = [(1, 0), (0, 1), (3, 1), (2, 0)]
    moves = [
        (0, "attack", (2, 0)),
        (2, "move", (2, 1)),
        (0, "move", (1, 0)),
        (2, "move", (3, 1)),
        (0, "move", (0, 0)),
    ]
    told = by_hand(rules, ({"soldier3": 1}, {"soldier2": 1}), start, moves)
    assert (told.outcome, told.turns, told.end) == ("attacker_wins", 5, "flag_home")
    assert told.actions[0]["attack"]["clauses"] == ["FO-1", "FO-5"]
    assert " 0  S3*  FL   ~" in told.lines


@rule("FO-8", "FO-10", "FA-16", "FA-25")
def test_a_landing_from_the_tip() -> None:
    rules = sk.Rules(rows=4, columns=3, land_columns=1, set_up_rows=2, flag_rows=2, turn_cap=50)
    mixes: Mixes = ({"soldier5": 1, "boat_large": 1, "plane_scout": 1}, {"soldier2": 1, "boat_small": 1})
    start = [(1, 0), (1, 1), (0, 1), (0, 0), (2, 0), (2, 2), (3, 0)]
    soldier, boat, plane, enemy, sunk = 0, 1, 2, 4, 5
    moves = [
        (soldier, "load", (1, 1)),
        (sunk, "move", (1, 2)),
        (boat, "attack", (1, 2)),
        (enemy, "move", (1, 0)),
        (boat, "move", (0, 2)),
        (enemy, "move", (2, 0)),
        (plane, "move", (1, 1)),
        (enemy, "move", (1, 0)),
        (boat, "move", (0, 1)),
        (enemy, "attack", (0, 0)),
    ]
    with pytest.raises(ValueError, match="not in list"):  # the boat has not come near
        script_for(rules, mixes, start, [*moves[:4], (soldier, "attack", (1, 0))])
    told = by_hand(rules, mixes, start, [*moves, (soldier, "attack", (0, 0))])
    assert told.actions[2]["attack"]["clauses"] == ["FO-10", "FO-13", "FO-17"]
    # The soldier on the tip beats the one who has taken the flag, which is left; he stays with the boat.
    assert told.actions[9]["attack"]["outcome"] == "flag_taken"
    assert told.actions[10]["attack"]["clauses"] == ["FO-4", "FO-7", "FO-8"]
    assert told.actions[10]["attack"]["position"] == "beside"
    assert (told.outcome, told.turns, told.end) == ("attacker_wins", 11, "no_action")
    assert "Turn 11, attacker: soldier5 on boat_large (0,1) attacks soldier2 (0,0) and wins the duel" in told.to_text()


@rule("FA-25")
def test_the_same_board_for_the_third_time() -> None:
    rules = sk.Rules(rows=4, columns=2, land_columns=2, set_up_rows=2, turn_cap=50)
    start = [(1, 0), (0, 0), (2, 1), (3, 1)]
    there: list[tuple[int, str, sk.Square]] = [(0, "move", (1, 1)), (2, "move", (2, 0))]
    back: list[tuple[int, str, sk.Square]] = [(0, "move", (0, 1)), (2, "move", (3, 0))]
    told = by_hand(rules, ({"soldier3": 1}, {"soldier3": 1}), start, [*there, *back, *there, *back, *there])
    # The board after `there` comes after turns 2, 6 and 10.
    assert (told.outcome, told.turns, told.end) == ("draw", 10, "repetition")


@rule("FA-25")
def test_a_side_that_cannot_act_loses() -> None:
    rules = sk.Rules(rows=4, columns=2, land_columns=2, set_up_rows=2, turn_cap=50)
    start = [(1, 0), (0, 0), (2, 0), (3, 1)]
    told = by_hand(rules, ({"soldier3": 1}, {"soldier2": 1}), start, [(0, "attack", (2, 0))])
    assert (told.outcome, told.turns, told.end) == ("attacker_wins", 1, "no_action")
    both = by_hand(rules, ({"soldier3": 1}, {"soldier3": 1}), start, [(0, "attack", (2, 0))])
    assert (both.outcome, both.turns, both.end) == ("draw", 1, "no_action")


@rule("FA-25")
def test_scripts_that_do_not_fit() -> None:
    game = small()
    entries = [draw["hits"] for draw in simcore.replay(game).draws]
    assert simcore.replay(game, battle=5, script=entries).lines[1:] == simcore.replay(game).lines[1:]
    with pytest.raises(ScenarioError, match=r"script: the game ends after \d+ draw points, but the script has \d+"):
        simcore.replay(game, script=[*entries, 0])
    with pytest.raises(ScenarioError, match=r"script: the script ends after 3 draw points, but draw point 4 \(turn 0"):
        simcore.replay(game, script=entries[:3])
    with pytest.raises(
        ScenarioError, match=r"draw point 1 \(turn 0, attacker: square of flag\) cannot give 99; allowed"
    ):
        simcore.replay(game, script=[99, *entries[1:]])


def test_a_script_decides_open_duels() -> None:
    odds = {"attacker": "soldier3", "defender": "soldier3", "win": 0.25, "lose": 0.25}
    changes = {"duels": [odds], "options.order_of_forces": "pairs"}
    board = {"rows": 2, "columns": 2, "land_columns": 2, "set_up_rows": 1, "flag_rows": 1, "turn_cap": 2}
    # Both sides fill their rows: soldier left, flag right, so that the soldiers meet at once.
    game = skirmish("1 soldier3", "1 soldier3", options=board, edition_changes=changes)
    for entry, end in ((1, "attacker_wins"), (2, "defender_wins"), (3, "both_die")):
        told = simcore.replay(game, script=[1, 1, entry])
        assert told.actions[0]["attack"]["outcome"] == end
        assert told.draws[-1]["what"] == "duel: 1 win, 2 lose, 3 tie"


# ------------------------------------------------------------------------------------- what holds in every game


@st.composite
def boards(draw: st.DrawFn) -> dict[str, Any]:
    """Return a scenario on a board of any form, with pieces that fit into their rows."""
    rows, columns = draw(st.integers(2, 9)), draw(st.integers(2, 9))
    depth = draw(st.integers(1, rows // 2))
    land = draw(st.integers(1, columns))
    options = {
        "rows": rows,
        "columns": columns,
        "land_columns": land,
        "set_up_rows": depth,
        "flag_rows": draw(st.integers(1, depth)),
        "win": draw(st.sampled_from(["carry_home", "capture"])),
        "tie": draw(st.sampled_from(["both_die", "attacker_wins", "both_stay"])),
        "tip_capacity": draw(st.sampled_from(["unlimited", "one", "last"])),
        "adjacency": draw(st.sampled_from(["orthogonal", "diagonal"])),
        "lifeboat_saves": draw(st.sampled_from(["own_load", "all_cargo"])),
        "turn_cap": draw(st.integers(1, 20 if is_jit_disabled() else 120)),
    }
    sides: dict[str, Any] = {}
    for side in ("attacker", "defender"):
        room = {"land": depth * land - 1, "sea": depth * (columns - land)}
        units: Counter[str] = Counter()
        for unit in draw(st.lists(st.sampled_from(UNITS[:-2]), min_size=1, max_size=14)):
            kind = KIND_OF[unit]
            place = "land" if kind == Kind.SOLDIER else "sea" if kind in {Kind.BOAT, Kind.LIFEBOAT} else ""
            place = place or max(room, key=lambda name: room[name])
            if room[place] > 0:
                room[place] -= 1
                units[unit] += 1
        holders = sum(n for unit, n in units.items() if KIND_OF[unit] in {Kind.SOLDIER, Kind.SABOTEUR})
        units["mine"] = draw(st.integers(0, holders))
        sides[side] = {"units": {unit: n for unit, n in units.items() if n}, "policy": draw(st.sampled_from(POLICIES))}
    return {"ruleset": "force_order", "mode": "skirmish", "options": options, **sides}


POLICIES = ("random", "greedy")


@settings(max_examples=10 if is_jit_disabled() else 60)
@given(boards(), st.integers(0, 2**32))
def test_what_holds_on_every_board(table: dict[str, Any], battle: int) -> None:
    try:
        scenario: Any = load_scenario(table)
    except ScenarioError as problem:
        assert "has no piece that can act" in str(problem)  # noqa: PT017 - no board has room for nobody
        return
    games = encode([scenario])
    trace, _, _ = trace_game(games, np.array([3, 4], dtype=np.uint64), battle, None)
    units = [UNITS[unit] for unit in games.pieces[0, :, PieceColumn.UNIT].tolist()]
    sides = games.pieces[0, :, PieceColumn.SIDE].tolist()
    events = trace[:, TraceColumn.EVENT]
    dead: set[int] = set()
    for row in trace[(events == Event.BEGUN) | (events == Event.ACTED)].tolist():
        places = [tuple(row[at : at + 2]) for at in range(TraceColumn.PIECES, len(row), 2)]
        dead = check_places(scenario, units, sides, places, dead)
    attacks = trace[(events == Event.ACTED) & (trace[:, TraceColumn.ACT] == sk.ACTIONS.index("attack"))]
    check_attacks(scenario, attacks)


def check_places(
    scenario: Any, units: list[str], sides: list[int], places: list[tuple[int, int]], before: set[int]
) -> set[int]:
    """Check one board; returns the dead, who include all that were dead before."""
    columns, land = scenario.rules.options.columns, scenario.rules.options.land_columns
    squares = [square for square, _ in places if square >= 0]
    assert len(set(squares)) == len(squares)
    dead = {p for p, (square, carrier) in enumerate(places) if square < 0 and carrier < 0}
    assert before <= dead
    for p, (square, carrier) in enumerate(places):
        kind = KIND_OF[units[p]]
        assert square < 0 or carrier < 0
        assert kind != Kind.FLAG or p not in dead
        if square >= 0:
            is_land = square % columns < land
            assert kind != Kind.MINE
            assert is_land or kind != Kind.SOLDIER
            assert not is_land or kind not in {Kind.BOAT, Kind.LIFEBOAT}
        if carrier >= 0:
            assert carrier not in dead
            assert kind == Kind.FLAG or sides[carrier] == sides[p]
    return dead


def check_attacks(scenario: Any, attacks: Any) -> None:
    """Check that every attack is legal and ended as the rules of single attacks say of its row."""
    rows = np.ascontiguousarray(attacks[:, TraceColumn.ROW : TraceColumn.ROW + len(ROW_FIELDS)], dtype=np.int8)
    # A flag is taken without a duel, whatever the result.
    rows[:, RowField.RESULT] = np.maximum(attacks[:, TraceColumn.RESULT], 1)
    found = resolve_rows(rows, scenario.rules.options, threads=1)
    assert np.array_equal(found.answers, attacks[:, TraceColumn.ANSWER : TraceColumn.PIECES])
    assert not found.answers[:, 0].any()
    assert np.array_equal(found.clauses, attacks[:, TraceColumn.CLAUSES].astype(np.uint64))
    assert np.array_equal(found.gaps, attacks[:, TraceColumn.GAPS].astype(np.uint64))


# -------------------------------------------------------------------------------------------------- both sides alike


def shares(run: Simulation) -> dict[str, float]:
    return {name: int(run.column(f"outcome.{name}")[0]) / run.battles for name in run.ruleset.outcomes}


def assert_alike(one: float, other: float, battles: int) -> None:
    error = ((one * (1 - one) + other * (1 - other)) / battles) ** 0.5
    assert abs(one - other) <= 4.5 * error + 1e-12


@rule("FA-25")
@pytest.mark.parametrize("policy", POLICIES)
def test_equal_sides_are_equal_both_ways_round(policy: str) -> None:
    side = {"units": "2 soldier2, 1 soldier5, 1 boat_small, 1 plane_scout", "policy": policy}
    game = small(first_mover="alternate") | {"attacker": side, "defender": side}
    run = simcore.simulate(simcore.encode([game]), battles=GAMES)
    found = shares(run)
    assert_alike(found["attacker_wins"], found["defender_wins"], GAMES)
    assert found["attacker_wins"] > 0.05


@rule("FA-25")
def test_swapped_sides_swap_the_outcomes() -> None:
    one, other = {"units": "3 soldier4, 1 boat_large"}, {"units": "2 soldier5, 1 saboteur, 1 plane_fighter"}
    found = []
    for attacker, defender, mover in ((one, other, "attacker"), (other, one, "defender")):
        game = small(first_mover=mover) | {"attacker": attacker, "defender": defender}
        found.append(shares(simcore.simulate(simcore.encode([game]), battles=GAMES, pairing="independent")))
    assert_alike(found[0]["attacker_wins"], found[1]["defender_wins"], GAMES)
    assert_alike(found[0]["defender_wins"], found[1]["attacker_wins"], GAMES)


@rule("FA-25")
def test_alternate_games_are_those_of_either_first_mover() -> None:
    number = 6 if is_jit_disabled() else 400
    runs = {
        mover: simcore.simulate(simcore.encode([small(first_mover=mover)]), battles=number, keep_battles=True)
        for mover in ("attacker", "defender", "alternate")
    }
    outcomes = {mover: run.outcome[0] for mover, run in runs.items() if run.outcome is not None}
    assert np.array_equal(outcomes["alternate"][::2], outcomes["attacker"][::2])
    assert np.array_equal(outcomes["alternate"][1::2], outcomes["defender"][1::2])
    for mover, sign in (("attacker", 1), ("defender", -1)):
        run = runs[mover]
        lead = run.column("outcome.attacker_wins") - run.column("outcome.defender_wins")
        assert run.column("first_mover_edge.sum") == sign * lead
    won = outcomes["alternate"] < 2
    edge = np.where(won, 1 - 2 * (outcomes["alternate"] ^ (np.arange(number) & 1)), 0)
    assert runs["alternate"].column("first_mover_edge.sum") == edge.sum()
    assert runs["alternate"].column("first_mover_edge.sumsq") == won.sum()


@rule("FA-25")
def test_greed_beats_chance() -> None:
    side = {"units": "4 soldier4, 1 soldier6"}
    game = small(first_mover="alternate") | {"attacker": {**side, "policy": "greedy"}, "defender": side}
    found = simcore.odds(scenario=game, battles=GAMES // 2).to_dict()
    assert found["swing"]["mean"] > 0
    if not is_jit_disabled():
        assert found["outcomes"]["attacker_wins"] > found["outcomes"]["defender_wins"]


@rule("FA-25")
def test_flags_are_left_alone_on_request() -> None:
    kept = {"units": "3 soldier4", "flag_first": False}
    game = small(first_mover="alternate") | {"attacker": {"units": "3 soldier4"}, "defender": kept}
    found = simcore.odds(scenario=game, battles=GAMES // 2).to_dict()
    assert found["mean_attacker_flags_taken"] > found["mean_defender_flags_taken"]


# -------------------------------------------------------------------------------------------------------- results


def test_a_result_counts_everything_once() -> None:
    found = simcore.odds(scenario=small(), battles=GAMES // 4).to_dict()
    assert found["method"] == "simulated"
    assert found["method_reason"] == "there is no exact solver for such battles"
    assert sum(found["outcomes"].values()) == pytest.approx(1)
    assert sum(value for name, value in found.items() if name.startswith("mean_end_")) == pytest.approx(1)
    assert 0 < found["turns"]["mean"] <= 40
    for side in ("attacker", "defender"):
        lost = 4 - sum(found[side]["mean_survivors"].values())
        assert found[f"mean_{side}_pieces_lost"] == pytest.approx(lost)
        assert "flag" not in found[side]["mean_survivors"]
        assert found[f"mean_{side}_flags_retaken"] <= found[f"mean_{side}_flags_taken"]
    edge = found["outcomes"]["attacker_wins"] - found["outcomes"]["defender_wins"]
    assert found["mean_first_mover_edge"] == pytest.approx(edge)
    with pytest.raises(ScenarioError, match="no exact solver"):
        simcore.odds(scenario=small(), method="exact")


def test_a_flag_among_the_units_is_the_one_that_each_side_has() -> None:
    with_flag = small() | {"attacker": {"units": "1 soldier2, 1 flag"}}
    without = small() | {"attacker": {"units": "1 soldier2"}}
    assert load_scenario(with_flag).canonical() == load_scenario(without).canonical()


def test_options_of_the_board_do_not_change_attacks() -> None:
    sides = {"ruleset": "force_order", "attacker": {"units": "1 soldier2"}, "defender": {"units": "1 soldier3"}}
    plain = load_scenario(sides)
    wide = load_scenario(sides | {"edition_changes": {"options.rows": 10}})
    assert plain.canonical() == wide.canonical()


# ------------------------------------------------------------------------------------------------------------ input


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"attacker": {"units": "1 soldier1", "policy": "clever"}}, 'attacker.policy: must be "random" or "greedy"'),
        ({"attacker": {"units": "1 soldier1", "flag_first": 1}}, "attacker.flag_first: must be true or false"),
        ({"first_mover": "both"}, 'first_mover: must be "attacker", "defender" or "alternate"'),
        ({"mode": "siege"}, 'mode: must be "attack" or "skirmish"'),
        ({"attacker": {"units": "2 mine"}}, "attacker.units: has no piece that can act; mines and flags never do"),
        ({"defender": {"units": {}}}, "defender.units: has no piece that can act"),
        ({"attacker": {"units": "1 soldier1, 2 mine"}}, "attacker.units: every mine is held by a soldier or saboteur"),
        ({"attacker": {"units": "15 soldier1"}}, "which has room for 15, got 16"),
        (
            {"defender": {"units": "10 boat_small"}},
            "defender.units: boats and lifeboats are placed at sea of the side's",
        ),
        ({"attacker": {"units": "25 saboteur"}}, "attacker.units: pieces and the flag are placed on squares of their"),
        ({"attacker": {"units": "2 flag, 1 soldier1"}}, "attacker.units: a side has one flag, got 2"),
        ({"attacker": {"units": "1 soldier1", "place": "land"}}, 'attacker.place: has no effect in mode "skirmish"'),
        ({"attacker": {"units": "1 soldier1", "pieces": {}}}, 'attacker.pieces: has no effect in mode "skirmish"'),
        ({"row_difference": 1}, 'row_difference: has no effect in mode "skirmish", only in "attack"'),
        ({"mode": "attack"}, 'options.turn_cap: has no effect in mode "attack", only in "skirmish"'),
        ({"mode": "attack", "options": {}, "first_mover": "attacker"}, 'first_mover: has no effect in mode "attack"'),
        (
            {"mode": "attack", "options": {}, "attacker": {"units": "1 soldier1", "policy": "greedy"}},
            'attacker.policy: has no effect in mode "attack"',
        ),
        ({"options": {"rows": 1}}, "options.rows: must be greater than or equal to 2, got 1"),
        ({"options": {"rows": 40}}, "options.rows: must be less than or equal to 32, got 40"),
        ({"options": {"rows": 4}}, "options.set_up_rows: both sides must fit on rows = 4: at most 2, got 3"),
        ({"options": {"land_columns": 9}}, "options.land_columns: must be at most columns = 8, got 9"),
        ({"options": {"flag_rows": 4}}, "options.flag_rows: must be at most set_up_rows = 3, got 4"),
        ({"options": {"repetitions": 1}}, "options.repetitions: must be 0 (never) or at least 2"),
        ({"options": {"turn_cap": 0}}, "options.turn_cap: must be greater than or equal to 1, got 0"),
        ({"options": {"win": "luck"}}, 'options.win: must be "carry_home" or "capture", got "luck"'),
        ({"options": {"order_of_forces": "given"}}, "result: must be win, lose or tie with options.order_of_forces"),
    ],
)
def test_what_is_refused(changes: dict[str, Any], message: str) -> None:
    game = skirmish("1 soldier1", "1 soldier1", options={"turn_cap": 50}) | changes
    with pytest.raises(ScenarioError) as problem:
        load_scenario(game)
    assert message in str(problem.value)
