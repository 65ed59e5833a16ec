"""The reference of skirmishes: set-up, legal actions, what an attack does to the board, and the ends of the game."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.rulesets.force_order import reference as ref
from tests.rulesets.force_order import reference_skirmish as sk

if TYPE_CHECKING:
    from collections.abc import Callable

rule = pytest.mark.rule

Placed = tuple[int, str, Any]


def game(*placed: Placed, rules: sk.Rules = sk.DEFAULTS, mover: int = 0) -> sk.Game:
    """Return a game; each piece is (side, type, square), or (side, type, number of its carrier).

    A side without a flag of its own among the pieces has none: positions are cut down to what matters.
    """
    tokens = []
    boarded = count(1)
    for number, (side, unit, where) in enumerate(placed):
        token = sk.Token(number, side, unit)
        if isinstance(where, int):
            token.carrier, token.boarded = where, next(boarded)
        else:
            token.square = where
        tokens.append(token)
    return sk.Game(rules, tokens, mover)


def reading(**options: Any) -> sk.Rules:
    return sk.Rules(options=ref.Options(**options))


def actions(state: sk.Game, piece: int, name: str) -> set[sk.Square]:
    """Return the goals of one kind of action of one piece."""
    return {action.square for action in state.legal_actions() if (action.piece, action.name) == (piece, name)}


def dice(seed: int) -> sk.Draw:
    """Return a source of chance."""
    return random.Random(seed).randrange  # noqa: S311


def no_dice(sides: int) -> int:
    raise AssertionError(f"a die of {sides} sides was thrown")


def act(state: sk.Game, piece: int, name: str, square: sk.Square, draw: Callable[[int], int] = no_dice) -> sk.Game:
    action = sk.Action(piece, sk.ACTIONS.index(name), square)
    assert action in state.legal_actions()
    state.act(action, draw)
    return state


def where(state: sk.Game) -> list[Any]:
    """Return the square of each piece, the number of its carrier, or None for the dead."""
    return [token.square if token.square is not None else token.carrier for token in state.tokens]


# Pieces far off that keep both sides able to act.
OTHERS: tuple[Placed, ...] = ((0, "soldier1", (0, 0)), (1, "soldier1", (7, 0)))
AT = len(OTHERS)


# --------------------------------------------------------------------------------------------------
# Set-up
# --------------------------------------------------------------------------------------------------

FULL = {"soldier2": 4, "soldier9": 2, "saboteur": 2, "boat_small": 2, "boat_large": 1, "lifeboat": 2}
FULL |= {"plane_scout": 2, "plane_fighter": 1, "mine": 7}


@rule("FA-25")
@pytest.mark.parametrize("seed", range(20))
def test_set_up(seed: int) -> None:
    tokens = sk.set_up(sk.DEFAULTS, (FULL, FULL), dice(seed))
    assert [token.number for token in tokens] == list(range(len(tokens)))
    for side in sk.SIDES:
        mine = [token for token in tokens if token.side == side]
        assert Counter(token.type for token in mine) == Counter({**FULL, "flag": 1})
        for token in mine:
            if token.kind == "mine":
                assert token.carrier is not None
                continue
            assert token.square is not None
            assert sk.DEFAULTS.bears("soldier" if token.kind == "flag" else token.kind, token.square)
            depth = abs(token.square[0] - sk.DEFAULTS.home_row(side))
            assert depth < (2 if token.kind == "flag" else 3)
        holders = [tokens[token.carrier].kind for token in mine if token.carrier is not None]
        # Six soldiers take six of the seven mines.
        assert Counter(holders) == {"soldier": 6, "saboteur": 1}
        assert len({token.carrier for token in mine if token.kind == "mine"}) == 7
    squares = [token.square for token in tokens if token.square is not None]
    assert len(set(squares)) == len(squares)


def test_set_up_is_the_same_for_both_sides() -> None:
    throws = [5, 3, 0, 8, 2, 4, 1]
    mix = {"soldier4": 2, "boat_small": 1, "saboteur": 1, "plane_scout": 1, "mine": 1}
    script = iter(throws * 2)
    tokens = sk.set_up(sk.DEFAULTS, (mix, mix), lambda sides: next(script) % sides)
    for first, second in zip(tokens[:7], tokens[7:], strict=True):
        assert first.type == second.type
        if first.square is not None and second.square is not None:
            assert (first.square[0] + second.square[0], first.square[1]) == (7, second.square[1])


def test_mines_need_holders() -> None:
    with pytest.raises(ValueError, match="more mines"):
        sk.set_up(sk.DEFAULTS, ({"soldier1": 1, "mine": 2}, {}), dice(1))


# --------------------------------------------------------------------------------------------------
# Moving, loading, unloading
# --------------------------------------------------------------------------------------------------


@rule("FA-25")
def test_moves() -> None:
    state = game(
        (0, "soldier3", (3, 4)), (0, "boat_small", (3, 5)), (0, "saboteur", (5, 4)), (0, "lifeboat", (0, 7)), *OTHERS
    )
    assert actions(state, 0, "move") == {(2, 4), (4, 4), (3, 3)}
    assert actions(state, 1, "move") == {(2, 5), (4, 5), (3, 6)}
    assert actions(state, 2, "move") == {(4, 4), (6, 4), (5, 3), (5, 5)}
    assert actions(state, 3, "move") == {(1, 7), (0, 6)}


@rule("FA-25")
def test_a_plane_moves_over_empty_squares() -> None:
    state = game((0, "plane_scout", (3, 3)), (1, "boat_small", (3, 6)), (0, "flag", (1, 3)), *OTHERS)
    assert actions(state, 0, "move") == {
        *((3, column) for column in (0, 1, 2, 4, 5)),
        *((row, 3) for row in (2, 4, 5, 6, 7)),
    }


@rule("FA-25")
def test_flags_and_mines_do_not_move() -> None:
    state = game((0, "flag", (3, 3)), (0, "soldier5", (5, 3)), (0, "mine", 1), *OTHERS)
    assert {action.piece for action in state.legal_actions()} == {1, 3}


@rule("FA-25")
def test_what_boards_what() -> None:
    crew = ("soldier3", "saboteur", "boat_small", "lifeboat", "plane_scout")
    may = set()
    for unit in crew:
        start = (3, 6) if sk.TYPES[unit][0] in sk.BOATS else (3, 4)
        for carrier in crew[1:]:
            if actions(game((0, unit, start), (0, carrier, (3, 5)), *OTHERS), 0, "load"):
                may.add((unit, carrier))
    assert may == {
        *((unit, "boat_small") for unit in crew),
        *((unit, carrier) for unit in ("soldier3", "saboteur") for carrier in ("lifeboat", "plane_scout")),
    }
    for carrier in ("boat_small", "lifeboat", "plane_scout"):
        assert not actions(game((0, "soldier3", (3, 4)), (1, carrier, (3, 5)), *OTHERS), 0, "load")
    assert not actions(game((0, "soldier3", (3, 4)), (0, "soldier4", (3, 3)), *OTHERS), 0, "load")


@rule("FA-25")
@pytest.mark.parametrize(("carrier", "places"), [("boat_large", 4), ("lifeboat", 2), ("plane_fighter", 2)])
def test_capacity(carrier: str, places: int) -> None:
    for load in range(places + 1):
        crew: list[Placed] = [(0, "soldier2", 0)] * load
        state = game((0, carrier, (3, 5)), (0, "soldier3", (3, 4)), *crew, (0, "mine", 1), *OTHERS)
        assert actions(state, 1, "load") == ({(3, 5)} if load < places else set())


@rule("FA-25")
def test_loading_and_unloading() -> None:
    state = game((0, "boat_small", (3, 5)), (0, "soldier3", (3, 4)), (0, "mine", 1), *OTHERS)
    act(state, 1, "load", (3, 5))
    assert where(state)[:3] == [(3, 5), 0, 1]
    act(state, 4, "move", (7, 1))
    assert not actions(state, 1, "move")
    assert actions(state, 1, "unload") == {(3, 4)}
    act(state, 0, "move", (2, 5))
    act(state, 4, "move", (7, 0))
    act(state, 1, "unload", (2, 4))
    assert where(state)[:3] == [(2, 5), (2, 4), 1]


@rule("FA-25")
def test_one_lifeboat_a_boat() -> None:
    state = game((0, "boat_large", (3, 5)), (0, "lifeboat", 0), (0, "lifeboat", (3, 6)), *OTHERS)
    assert not actions(state, 2, "load")


@rule("FA-15")
def test_no_flag_boards_a_plane() -> None:
    state = game(
        (0, "soldier3", (3, 3)),
        (1, "flag", 0),
        (0, "plane_scout", (3, 2)),
        (0, "soldier4", (3, 1)),
        (0, "boat_small", (2, 5)),
        *OTHERS,
    )
    assert not actions(state, 0, "load")
    assert actions(state, 3, "load") == {(3, 2)}


@rule("FA-10")
@pytest.mark.parametrize(("tip", "acting"), [("unlimited", {1, 2}), ("one", {1}), ("last", {2})])
def test_who_stands_on_the_tip(tip: str, acting: set[int]) -> None:
    state = game(
        (0, "boat_small", (3, 5)),
        (0, "soldier3", 0),
        (0, "soldier4", 0),
        (1, "soldier1", (3, 4)),
        *OTHERS,
        rules=reading(tip_capacity=tip),
    )
    assert {piece for piece in (1, 2) if actions(state, piece, "attack")} == acting
    assert all(actions(state, piece, "unload") == set() for piece in (1, 2))


@rule("FA-10")
def test_a_piece_on_a_carrier_that_is_aboard_does_not_act() -> None:
    state = game((0, "boat_large", (3, 5)), (0, "plane_scout", 0), (0, "soldier3", 1), (1, "soldier1", (3, 4)), *OTHERS)
    assert actions(state, 1, "attack") == {(3, 4)}
    assert not [action for action in state.legal_actions() if action.piece == 2]


# --------------------------------------------------------------------------------------------------
# Attacks on the board
# --------------------------------------------------------------------------------------------------


@rule("FA-16")
def test_a_winner_leaves_its_tip() -> None:
    state = game((0, "boat_small", (4, 5)), (0, "soldier3", 0), (1, "soldier1", (4, 4)), *OTHERS)
    assert actions(state, 1, "attack") == {(4, 4)}
    assert where(act(state, 1, "attack", (4, 4)))[:3] == [(4, 5), (4, 4), None]


@rule("FA-16")
def test_the_flag_of_a_piece_that_dies_on_a_tip_stays_with_the_carrier() -> None:
    state = game(
        (0, "boat_small", (4, 5)), (0, "soldier3", 0), (1, "flag", 1), (0, "mine", 1), (1, "soldier5", (4, 4)), *OTHERS
    )
    assert where(act(state, 1, "attack", (4, 4)))[:5] == [(4, 5), None, 0, None, (4, 4)]


@rule("FA-12")
def test_flag_and_lifeboat_of_a_lost_boat() -> None:
    state = game(
        (0, "boat_large", (4, 5)),
        (1, "boat_small", (4, 6)),
        (1, "lifeboat", 1),
        (1, "soldier2", 2),
        (1, "soldier3", 1),
        (0, "flag", 4),
        *OTHERS,
    )
    assert where(act(state, 0, "attack", (4, 6)))[:6] == [(4, 5), None, (4, 6), 2, None, 2]


@rule("FA-6")
def test_all_cargo_is_saved() -> None:
    state = game(
        (0, "boat_large", (4, 5)),
        (1, "boat_small", (4, 6)),
        (1, "lifeboat", 1),
        (1, "soldier3", 1),
        (1, "mine", 3),
        (0, "flag", 3),
        *OTHERS,
        rules=reading(lifeboat_saves="all_cargo"),
    )
    assert where(act(state, 0, "attack", (4, 6)))[:6] == [(4, 5), None, (4, 6), 2, 3, 3]


@rule("FO-15")
def test_the_flag_of_a_lost_boat_lies_on_the_sea() -> None:
    state = game(
        (0, "boat_large", (4, 5)),
        (1, "boat_small", (4, 6)),
        (1, "soldier3", 1),
        (0, "flag", 2),
        (1, "flag", (7, 1)),
        *OTHERS,
    )
    act(state, 0, "attack", (4, 6))
    assert where(state)[:4] == [(4, 5), None, None, (4, 6)]
    assert state.flags_dropped == 1
    # FA-21: its owner may not touch it.
    state.mover = 0
    assert not actions(state, 0, "attack")
    assert not actions(state, 0, "load")


@rule("FO-14")
def test_a_boat_takes_the_flag_onto_its_tip() -> None:
    state = game((0, "boat_small", (4, 5)), (0, "soldier3", 0), (1, "flag", (4, 6)), *OTHERS)
    assert where(act(state, 0, "attack", (4, 6)))[:3] == [(4, 6), 0, 0]
    assert state.flags_taken == 1


@rule("FO-23")
def test_a_plane_with_its_load_moves_up() -> None:
    rules = replace(sk.DEFAULTS, order_of_forces={("plane_scout", "boat_small"): "win"})
    state = game(
        (0, "plane_scout", (4, 0)),
        (0, "soldier3", 0),
        (1, "boat_small", (4, 6)),
        (1, "lifeboat", 2),
        *OTHERS,
        rules=rules,
    )
    assert where(act(state, 0, "attack", (4, 6)))[:4] == [(4, 5), 0, None, (4, 6)]


@rule("FA-2")
def test_a_plane_stays_when_the_square_is_taken() -> None:
    rules = replace(sk.DEFAULTS, order_of_forces={("plane_scout", "boat_small"): "win"})
    state = game(
        (0, "plane_scout", (4, 0)),
        (1, "boat_small", (4, 6)),
        (1, "lifeboat", 1),
        (0, "boat_small", (4, 5)),
        *OTHERS,
        rules=rules,
    )
    assert where(act(state, 0, "attack", (4, 6)))[:3] == [(4, 0), None, (4, 6)]


@rule("FA-5")
@pytest.mark.parametrize("blocked", [False, True])
def test_a_piece_in_the_line_of_a_plane(blocked: bool) -> None:
    state = game(
        (0, "plane_scout", (4, 1)),
        (1, "plane_scout", (4, 6)),
        (0, "soldier1", (4, 3)),
        *OTHERS,
        rules=reading(plane_line_blocked=blocked),
    )
    assert actions(state, 0, "attack") == (set() if blocked else {(4, 6)})


@rule("FA-21")
@pytest.mark.parametrize("recovery", [False, True])
def test_the_owner_and_its_flag(recovery: bool) -> None:
    state = game((0, "soldier3", (4, 4)), (0, "flag", (4, 3)), *OTHERS, rules=reading(own_flag_recovery=recovery))
    assert actions(state, 0, "attack") == ({(4, 3)} if recovery else set())


@rule("FA-21")
def test_a_recovered_flag_wins_nothing() -> None:
    rules = reading(own_flag_recovery=True)
    state = game((0, "soldier3", (1, 3)), (0, "flag", (1, 4)), *OTHERS, rules=rules)
    assert not [action for action in state.actions if sk.is_preferred(state, action)]
    act(state, 0, "attack", (1, 4))
    state.mover = 0
    assert act(state, 0, "move", (0, 4)).outcome is None
    # No piece comes to hold both flags, and no carrier.
    both = game(
        (0, "soldier3", (1, 4)), (1, "flag", 0), (0, "flag", (1, 3)), (0, "boat_small", (1, 5)), *OTHERS, rules=rules
    )
    assert not actions(both, 0, "attack")
    assert actions(both, 0, "load") == {(1, 5)}
    two = game((0, "soldier3", (1, 4)), (1, "flag", 0), (0, "boat_small", (1, 5)), (0, "flag", 2), *OTHERS, rules=rules)
    assert not actions(two, 0, "load")


@rule("FA-23")
def test_only_the_carrier_is_a_target() -> None:
    state = game((0, "saboteur", (4, 4)), (1, "boat_large", (4, 5)), (1, "soldier1", 1), *OTHERS)
    assert actions(state, 0, "attack") == {(4, 5)}
    assert where(act(state, 0, "attack", (4, 5)))[:3] == [(4, 5), None, None]


# --------------------------------------------------------------------------------------------------
# Order of forces
# --------------------------------------------------------------------------------------------------


@rule("FA-17")
@pytest.mark.parametrize(
    ("attacker", "target", "result"),
    [
        ("soldier5", "soldier4", "win"),
        ("soldier5", "soldier5", "tie"),
        ("soldier1", "soldier9", "lose"),
        ("saboteur", "soldier9", "win"),
        ("saboteur", "soldier8", "lose"),
        ("saboteur", "soldier1", "lose"),
        ("soldier9", "saboteur", "win"),
        ("soldier1", "saboteur", "win"),
        ("saboteur", "saboteur", "tie"),
        ("saboteur", "boat_large", "win"),
        ("saboteur", "boat_medium", "lose"),
        ("saboteur", "lifeboat", "lose"),
        ("boat_large", "saboteur", "win"),
        ("lifeboat", "saboteur", "win"),
        ("boat_large", "boat_medium", "win"),
        ("boat_small", "boat_medium", "lose"),
        ("boat_small", "lifeboat", "win"),
        ("lifeboat", "lifeboat", "tie"),
        ("boat_small", "plane_fighter", "win"),
        ("lifeboat", "plane_fighter", "win"),
        ("plane_fighter", "lifeboat", "lose"),
        ("plane_fighter", "plane_scout", "win"),
        ("plane_scout", "plane_fighter", "lose"),
        ("plane_scout", "plane_scout", "tie"),
        ("soldier1", "plane_fighter", "win"),
        ("saboteur", "plane_fighter", "win"),
        ("plane_fighter", "soldier1", "lose"),
        ("plane_fighter", "saboteur", "lose"),
        ("saboteur", "mine", "win"),
        ("plane_fighter", "mine", "lose"),
    ],
)
def test_order_of_forces(attacker: str, target: str, result: str) -> None:
    assert sk.order_of_forces(attacker, target) == result


@rule("FA-17")
def test_order_of_forces_with_chances() -> None:
    rules = replace(sk.DEFAULTS, order_of_forces={("plane_scout", "soldier1"): (3, 2, 1)})
    faces = iter(range(6))
    results = [sk.duel(rules, "plane_scout", "soldier1", lambda sides: next(faces) % sides) for _ in range(6)]
    assert results == ["win"] * 3 + ["lose"] * 2 + ["tie"]
    assert sk.duel(rules, "plane_scout", "soldier2", no_dice) == "lose"


# --------------------------------------------------------------------------------------------------
# The ends
# --------------------------------------------------------------------------------------------------


@rule("FA-25")
@pytest.mark.parametrize(("side", "start", "goal"), [(0, (1, 3), (0, 3)), (1, (6, 3), (7, 3))])
def test_the_flag_carried_home(side: int, start: sk.Square, goal: sk.Square) -> None:
    state = game((side, "soldier3", start), (1 - side, "flag", 0), *OTHERS, mover=side)
    act(state, 0, "move", goal)
    assert state.outcome == sk.OUTCOMES[side]


@rule("FA-25")
def test_a_boat_carries_the_flag_home() -> None:
    state = game((0, "boat_small", (1, 6)), (0, "soldier3", 0), (1, "flag", 1), *OTHERS)
    assert act(state, 0, "move", (0, 6)).outcome == "attacker_wins"


@rule("FA-25")
@pytest.mark.parametrize(("win", "outcome"), [("capture", "attacker_wins"), ("carry_home", None)])
def test_winning_by_capture(win: str, outcome: str | None) -> None:
    state = game((0, "soldier3", (4, 3)), (1, "flag", (4, 4)), *OTHERS, rules=sk.Rules(win=win))
    assert act(state, 0, "attack", (4, 4)).outcome == outcome


@rule("FA-25")
def test_home_rows_do_not_matter_where_captures_win() -> None:
    state = game((0, "soldier3", (1, 3)), (1, "flag", 0), *OTHERS, rules=sk.Rules(win="capture"))
    assert act(state, 0, "move", (0, 3)).outcome is None


@rule("FA-25")
def test_a_side_that_cannot_act_has_lost() -> None:
    assert game((0, "soldier3", (4, 3)), (1, "flag", (7, 4))).outcome is None
    state = game((0, "soldier3", (4, 3)), (1, "soldier1", (4, 4)), (1, "flag", (7, 4)))
    assert act(state, 0, "attack", (4, 4)).outcome == "attacker_wins"
    assert game((0, "flag", (0, 0)), (1, "soldier1", (4, 4))).outcome == "defender_wins"
    both = game((0, "soldier3", (4, 3)), (1, "soldier3", (4, 4)))
    assert act(both, 0, "attack", (4, 4)).outcome == "draw"


@rule("FA-25")
def test_the_third_time_is_a_draw() -> None:
    state = game(*OTHERS)
    for turn in range(8):
        assert state.outcome is None
        side = turn % 2
        away = state.tokens[side].square == OTHERS[side][2]
        act(state, side, "move", (OTHERS[side][2][0], 1 if away else 0))
    assert (state.outcome, state.turn) == ("draw", 8)


@rule("FA-25")
def test_equal_pieces_make_equal_boards() -> None:
    one = game((0, "soldier3", (4, 3)), (0, "soldier3", (4, 2)), (0, "mine", 0), *OTHERS)
    other = game((0, "soldier3", (4, 2)), (0, "soldier3", (4, 3)), (0, "mine", 1), *OTHERS)
    third = game((0, "soldier3", (4, 2)), (0, "soldier3", (4, 3)), (0, "mine", 0), *OTHERS)
    assert one.board() == other.board() != third.board()


@rule("FA-25")
def test_the_cap() -> None:
    rules = sk.Rules(turn_cap=7, repetitions=1000)
    state = game(*OTHERS, rules=rules)
    while state.outcome is None:
        state.act(state.actions[0], no_dice)
    assert (state.outcome, state.turn) == ("draw", 7)


@rule("FA-25")
def test_the_eager_policy() -> None:
    placed: list[Placed] = [
        (0, "soldier3", (4, 3)),
        (1, "flag", 0),
        (0, "soldier5", (5, 2)),
        (0, "flag", (0, 4)),
        *OTHERS,
    ]
    state = game(*placed)
    homeward = sk.Action(0, 0, (3, 3))
    assert [action for action in state.actions if sk.is_preferred(state, action)] == [homeward]
    assert sk.choose_eager(state, lambda sides: 0 if sides == 1 else sides) == homeward
    assert sk.choose_random(state, lambda sides: sides - 1) == state.actions[-1]
    placed[1] = (1, "flag", (4, 4))
    placed[2] = (0, "soldier5", (5, 4))
    state = game(*placed)
    preferred = [action for action in state.actions if sk.is_preferred(state, action)]
    assert preferred == [sk.Action(0, 3, (4, 4)), sk.Action(2, 3, (4, 4))]


# --------------------------------------------------------------------------------------------------
# Whole games
# --------------------------------------------------------------------------------------------------


def check(state: sk.Game) -> None:
    """Check what holds in every position."""
    rules = state.rules
    squares = [token.square for token in state.tokens if token.square is not None]
    assert len(set(squares)) == len(squares)
    assert sorted(token.side for token in state.tokens if token.kind == "flag" and token.is_alive) == [0, 1]
    for token in state.tokens:
        assert token.square is None or token.carrier is None
        if token.square is not None and token.kind != "flag":
            assert token.kind != "mine"
            assert rules.bears(token.kind, token.square)
        if token.carrier is not None:
            holder = state.tokens[token.carrier]
            assert holder.is_alive
            if token.kind == "mine":
                assert holder.kind in sk.FOOT
            elif token.kind == "flag":
                assert holder.kind in sk.FOOT | sk.BOATS
            else:
                assert holder.side == token.side
                assert token.kind in sk.CARRIES[holder.kind]
    for action in state.actions:
        token = state.tokens[action.piece]
        assert token.side == state.mover
        assert token.is_alive
    assert len(set(state.actions)) == len(state.actions)


MIX = st.fixed_dictionaries(
    {unit: st.integers(0, 2) for unit in sk.TYPES if unit not in {"mine", "flag"}} | {"mine": st.integers(0, 1)}
).filter(
    lambda mix: (
        sum(n for unit, n in mix.items() if unit.startswith("soldier")) in range(1, 12)
        and sum(n for unit, n in mix.items() if "boat" in unit and unit != "saboteur") <= 6
        and sum(mix.values()) <= 16
    )
)
RULES = st.builds(
    sk.Rules,
    options=st.builds(
        ref.Options,
        plane_win=st.sampled_from(["stay", "take", "adjacent"]),
        plane_special_win=st.sampled_from(["adjacent", "stay"]),
        tie=st.sampled_from(["both_die", "attacker_wins", "defender_wins", "both_stay"]),
        adjacency=st.sampled_from(["orthogonal", "diagonal"]),
        plane_line_blocked=st.booleans(),
        lifeboat_saves=st.sampled_from(["own_load", "all_cargo"]),
        saboteur_is_soldier=st.booleans(),
        boat_attacks_saboteur=st.booleans(),
        plane_attacks_flag=st.sampled_from(["refused", "plane_dies"]),
        tip_capacity=st.sampled_from(["unlimited", "one", "last"]),
        own_flag_recovery=st.booleans(),
    ),
    win=st.sampled_from(["carry_home", "capture"]),
    turn_cap=st.just(60),
    order_of_forces=st.dictionaries(
        st.tuples(st.sampled_from(["plane_scout", "plane_fighter"]), st.sampled_from(sorted(sk.TYPES))),
        st.sampled_from(["win", "tie", (1, 1, 1)]),
    ),
)


@settings(max_examples=15, phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(st.tuples(MIX, MIX), RULES, st.sampled_from(sorted(sk.POLICIES)), st.integers(0, 2**32))
def test_whole_games_keep_the_rules(
    mixes: tuple[dict[str, int], dict[str, int]], rules: sk.Rules, policy: str, seed: int
) -> None:
    played = sk.play(mixes, dice(seed), rules, policy, check)
    assert played.outcome in sk.OUTCOMES
    assert played.turn <= rules.turn_cap
    for side in sk.SIDES:
        there = Counter(token.type for token in played.tokens if token.side == side)
        assert there == Counter({**mixes[side], "flag": 1})
    for _, answer in played.attacks:
        assert answer.reason == "legal"


def test_the_mirrored_game_goes_the_mirrored_way() -> None:
    """Swapping the sides and turning the board over swaps the winner and keeps the length."""
    rules = sk.Rules(rows=5, set_up_rows=2)
    mix = {"soldier2": 1, "soldier5": 1, "saboteur": 1, "boat_small": 1, "plane_scout": 1, "mine": 1}
    ended = Counter[str]()
    for seed in range(12):
        draw = dice(seed)
        tokens = sk.set_up(rules, (mix, mix), draw)
        turned = [
            replace(token, side=1 - token.side, square=token.square and (4 - token.square[0], token.square[1]))
            for token in tokens
        ]
        here, there = sk.Game(rules, tokens), sk.Game(rules, turned, mover=1)
        while here.outcome is None:
            assert len(here.actions) == len(there.actions)
            action = sk.choose_eager(here, draw)
            here.act(action, no_dice)
            there.act(replace(action, square=(4 - action.square[0], action.square[1])), no_dice)
        swapped = {"attacker_wins": "defender_wins", "defender_wins": "attacker_wins", "draw": "draw"}
        assert there.outcome == swapped[here.outcome]
        ended[here.outcome] += 1
    assert len(ended) > 1
