"""The board of a skirmish: who stands where and is aboard whom, set-up, attacks as rows, what dies and what is left.

Pieces are numbered, the attacker's first, each side's in table order with its flag last. All functions are
deterministic: draws come in as numbers. Boarding order is kept, because the loading tip may depend on it (FA-10).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from simcore.core.jit import part
from simcore.rulesets.force_order.layout import (
    TARGET,
    Fate,
    FateField,
    FateRow,
    Kind,
    Mount,
    Part,
    PieceField,
    Place,
    RowField,
)
from simcore.rulesets.force_order.skirmish.layout import ListColumn, PieceColumn, Rule, SquareColumn, State, Tip
from simcore.rulesets.force_order.steps import Options, resolve_attack

__all__ = [
    "Board",
    "attack",
    "can_stand",
    "clear_board",
    "deal_mine",
    "describe_attack",
    "expected_loss",
    "holds_flag",
    "is_piece",
    "list_kin",
    "place_piece",
    "put_aboard",
    "put_down",
    "read_options",
    "root_of",
]

_UNIT = int(PieceColumn.UNIT)
_KIND = int(PieceColumn.KIND)
_SIDE = int(PieceColumn.SIDE)
_SQUARE = int(PieceColumn.SQUARE)
_CARRIER = int(PieceColumn.CARRIER)
_FIRST = int(PieceColumn.FIRST)
_NEXT = int(PieceColumn.NEXT)

_SOLDIER = int(Kind.SOLDIER)
_SABOTEUR = int(Kind.SABOTEUR)
_BOAT = int(Kind.BOAT)
_LIFEBOAT = int(Kind.LIFEBOAT)
_PLANE = int(Kind.PLANE)
_FLAG = int(Kind.FLAG)
_MINE = int(Kind.MINE)

# Typed: a plain number among the arguments of a kernel makes a compiled copy for each.
_ATTACKER = np.int64(0)
_TARGET = np.int64(TARGET)
_ROWS = int(RowField.ROWS)
_COLUMNS = int(RowField.COLUMNS)
_IS_OWN = int(RowField.IS_OWN)
_BLOCKED = int(RowField.BLOCKED)
_BESIDE_TAKEN = int(RowField.BESIDE_TAKEN)
_ROW_KIND = int(PieceField.KIND)
_ROW_MOUNT = int(PieceField.MOUNT)
_ROW_PLACE = int(PieceField.PLACE)
_ROW_MINE = int(PieceField.MINE)
_ROW_FLAG = int(PieceField.FLAG)
_ROW_LIFEBOAT = int(PieceField.LIFEBOAT)
_ROW_CARGO = int(PieceField.CARGO)
_ROW_TIP_SOLDIER = int(PieceField.TIP_SOLDIER)
_LAND = int(Place.LAND)
_SEA = int(Place.SEA)
_ON_NOTHING = int(Mount.NONE)
_ON_BOAT = int(Mount.BOAT_TIP)
_ON_PLANE = int(Mount.PLANE_TIP)
_IN_HOLD = int(Mount.HOLD)
_UNLIMITED = int(Tip.UNLIMITED)
_TIP_ONE = int(Tip.ONE)

_OUT_ROW = int(FateRow.ROW)
_OUT_COLUMN = int(FateRow.COLUMN)
_OUT_ATTACKER = np.int64(FateRow.ATTACKER)
_OUT_TARGET = np.int64(FateRow.TARGET)
_FATE = int(FateField.FATE)
_FATE_CARGO = int(FateField.CARGO)
_DIES = int(Fate.DIES)
_CAPTURED = int(Fate.CAPTURED)
_LEFT = int(Part.LEFT)

_MOVER = int(State.MOVER)
_TURN = int(State.TURN)
_OUTCOME = int(State.OUTCOME)
_FRESH = int(State.FRESH)
_DROPPED = int(State.DROPPED)
_TAKEN = int(State.TAKEN)
_RETAKEN = int(State.RETAKEN)
_TOUCHED = int(State.TOUCHED)
_FLAGS = int(State.FLAGS)
_STARTED = int(State.STARTED)
_OPTIONS = int(State.OPTIONS)
_SCRIPT = int(State.SCRIPT)
_FAULT = int(State.FAULT)
_ROWS_OF_BOARD = int(State.RULES) + int(Rule.ROWS)
_BOARD_COLUMNS = int(State.RULES) + int(Rule.COLUMNS)
_SET_UP_ROWS = int(State.RULES) + int(Rule.SET_UP_ROWS)
_FLAG_ROWS = int(State.RULES) + int(Rule.FLAG_ROWS)
_TIP = int(State.RULES) + int(Rule.TIP)
_PIECE = int(SquareColumn.PIECE)
_AT_ROW = int(SquareColumn.ROW)
_AT_COLUMN = int(SquareColumn.COLUMN)
_IS_LAND = int(SquareColumn.IS_LAND)
_KIN = int(ListColumn.KIN)
_STAYS = int(ListColumn.STAYS)


class Board(NamedTuple):
    """One game. P pieces, Q squares; A rows hold the longest list, H the longest history.

    Attributes
    ----------
    pieces : int16 (P, 7)
        By `PieceColumn`.
    squares : int16 (Q, 16)
        By `SquareColumn`.
    state : int64 (46,)
        By `State`, `Rule` and `steps.Options`.
    lists : int32 (A, 3)
        By `ListColumn`.
    keys : uint64 (H, 2)
        By `KeyColumn`.
    row : int8 (1, 24)
        The attack that was looked at last, by `RowField`.
    answer : int8 (1, 15)
        What comes of it, by `FateRow`.
    """

    pieces: Any
    squares: Any
    state: Any
    lists: Any
    keys: Any
    row: Any
    answer: Any


@part
def read_options(state):
    """Return the readings of the rules of single attacks."""
    o = _OPTIONS
    return Options(
        state[o],
        state[o + 1],
        state[o + 2],
        state[o + 3],
        state[o + 4],
        state[o + 5],
        state[o + 6],
        state[o + 7],
        state[o + 8],
        state[o + 9],
    )


# ------------------------------------------------------------------------------------------ who is where


@part
def is_piece(kind):
    """Whether something aboard is cargo: a flag or mine is held and takes no place."""
    return kind not in (_FLAG, _MINE)


@part
def root_of(pieces, p):
    """Return the piece on a square that carries a piece, itself if it stands there."""
    while pieces[p, _CARRIER] >= 0:
        p = np.int64(pieces[p, _CARRIER])
    return p


@part
def _holds(pieces, flag, p):
    """Whether a flag is on a piece, or on what is on it."""
    while pieces[flag, _CARRIER] >= 0:
        flag = np.int64(pieces[flag, _CARRIER])
        if flag == p:
            return True
    return False


@part
def holds_flag(board, p):
    """Whether any flag is on a piece, or on what is on it."""
    return _holds(board.pieces, board.state[_FLAGS], p) or _holds(board.pieces, board.state[_FLAGS + 1], p)


@part
def can_stand(board, kind, square):
    """Whether a piece may stand on a square: soldiers on land, boats at sea (FA-25)."""
    is_land = board.squares[square, _IS_LAND] != 0
    if kind in (_BOAT, _LIFEBOAT):
        return not is_land
    return is_land or kind not in (_SOLDIER, _FLAG)


@part
def _detach(board, p):
    """Take a piece from its square or its carrier."""
    pieces = board.pieces
    if pieces[p, _SQUARE] >= 0:
        board.squares[pieces[p, _SQUARE], _PIECE] = -1
        pieces[p, _SQUARE] = -1
    carrier = np.int64(pieces[p, _CARRIER])
    if carrier < 0:
        return
    if pieces[carrier, _FIRST] == p:
        pieces[carrier, _FIRST] = pieces[p, _NEXT]
    else:
        other = np.int64(pieces[carrier, _FIRST])
        while pieces[other, _NEXT] != p:
            other = np.int64(pieces[other, _NEXT])
        pieces[other, _NEXT] = pieces[p, _NEXT]
    pieces[p, _CARRIER] = -1
    pieces[p, _NEXT] = -1


@part
def put_down(board, p, square):
    """Put a piece on a square, with all that is on it."""
    _detach(board, p)
    board.pieces[p, _SQUARE] = square
    board.squares[square, _PIECE] = p


@part
def put_aboard(board, p, carrier):
    """Put a piece aboard another, behind what is there already."""
    _detach(board, p)
    pieces = board.pieces
    pieces[p, _CARRIER] = carrier
    if pieces[carrier, _FIRST] < 0:
        pieces[carrier, _FIRST] = p
        return
    other = np.int64(pieces[carrier, _FIRST])
    while pieces[other, _NEXT] >= 0:
        other = np.int64(pieces[other, _NEXT])
    pieces[other, _NEXT] = p


@part
def _next_of_kin(pieces, p, top):
    """Return the piece after `p` among all that is on `top`, on what is on it, and so on; -1 behind the last."""
    if pieces[p, _FIRST] >= 0:
        return np.int64(pieces[p, _FIRST])
    while p != top:
        if pieces[p, _NEXT] >= 0:
            return np.int64(pieces[p, _NEXT])
        p = np.int64(pieces[p, _CARRIER])
    return np.int64(-1)


@part
def list_kin(board, top):
    """List all that is on a piece, on what is on it, and so on, in `board.kin`; returns how many there are."""
    n = np.int64(0)
    member = _next_of_kin(board.pieces, top, top)
    while member >= 0:
        board.lists[n, _KIN] = member
        n += 1
        member = _next_of_kin(board.pieces, member, top)
    return n


# ------------------------------------------------------------------------------------------------ set-up


@part
def clear_board(board, mover):
    """Begin a game with no piece placed."""
    pieces, state = board.pieces, board.state
    for square in range(len(board.squares)):
        board.squares[square, _PIECE] = -1
    for p in range(len(pieces)):
        pieces[p, _SQUARE] = -1
        pieces[p, _CARRIER] = -1
        pieces[p, _FIRST] = -1
        pieces[p, _NEXT] = -1
    for field in range(_FLAGS):
        state[field] = 0
    state[_SCRIPT] = 0
    state[_FAULT] = 0
    state[_MOVER] = mover
    state[_STARTED] = mover
    state[_OUTCOME] = -1


@part
def place_piece(board, p, index):
    """Place a piece on the square with a number among those of its side's rows that are free (FA-25).

    Parameters
    ----------
    board : Board
    p : int64
    index : int64
        -1 to count the squares and place nothing.

    Returns
    -------
    int64
        The square; how many there are if they were to be counted.
    """
    pieces, state = board.pieces, board.state
    kind, columns = np.int64(pieces[p, _KIND]), state[_BOARD_COLUMNS]
    depth = state[_FLAG_ROWS] if kind == _FLAG else state[_SET_UP_ROWS]
    n = np.int64(0)
    for i in range(depth * columns):
        # The defender's rows are the attacker's, mirrored: counted from the home row in the same order.
        square = np.int64(i)
        if pieces[p, _SIDE] != 0:
            square += (state[_ROWS_OF_BOARD] - 1 - 2 * (i // columns)) * columns
        if board.squares[square, _PIECE] < 0 and can_stand(board, kind, square):
            if n == index:
                put_down(board, p, square)
                return square
            n += 1
    return n


@part
def deal_mine(board, mine, kind, first, last, index):
    """Give a mine to the piece of a kind with a number among those that hold none (FA-25).

    Parameters
    ----------
    board : Board
    mine, kind : int64
    first, last : int64
        The holders are among the pieces from `first` to `last`, that one excluded.
    index : int64
        -1 to count the holders and give the mine to nobody.

    Returns
    -------
    int64
        The holder; how many there are if they were to be counted.
    """
    pieces = board.pieces
    n = np.int64(0)
    for p in range(first, last):
        if pieces[p, _KIND] == kind and pieces[p, _FIRST] < 0:
            if n == index:
                put_aboard(board, mine, p)
                return np.int64(p)
            n += 1
    return n


# --------------------------------------------------------------------------------------------- attacks


@part
def _stands_on_tip(board, p, carrier):
    """Whether a piece of the cargo stands on the loading tip (FA-10)."""
    pieces, tip = board.pieces, board.state[_TIP]
    if tip == _UNLIMITED:
        return True
    chosen = np.int64(-1)
    other = np.int64(pieces[carrier, _FIRST])
    while other >= 0:
        if is_piece(pieces[other, _KIND]):
            chosen = other
            if tip == _TIP_ONE:
                break
        other = np.int64(pieces[other, _NEXT])
    return chosen == p


@part
def _describe_piece(board, p, base):
    """Write a piece to the row: how it stands, and what it holds."""
    pieces, row = board.pieces, board.row
    kind, carrier = np.int64(pieces[p, _KIND]), np.int64(pieces[p, _CARRIER])
    square = np.int64(pieces[root_of(pieces, p), _SQUARE])
    row[0, base + _ROW_KIND] = kind
    row[0, base + _ROW_PLACE] = _LAND if board.squares[square, _IS_LAND] else _SEA
    mount = _ON_NOTHING
    if carrier >= 0:
        mount = _IN_HOLD
        if _stands_on_tip(board, p, carrier):
            mount = _ON_PLANE if pieces[carrier, _KIND] == _PLANE else _ON_BOAT
    row[0, base + _ROW_MOUNT] = mount
    for field in (_ROW_MINE, _ROW_FLAG, _ROW_LIFEBOAT, _ROW_CARGO, _ROW_TIP_SOLDIER):
        row[0, base + field] = 0
    other = np.int64(pieces[p, _FIRST])
    if other < 0:
        return
    row[0, base + _ROW_FLAG] = holds_flag(board, p)
    while other >= 0:
        held = np.int64(pieces[other, _KIND])
        if held == _MINE:
            row[0, base + _ROW_MINE] = 1
        elif held == _LIFEBOAT:
            row[0, base + _ROW_LIFEBOAT] = 1
        elif held != _FLAG:
            row[0, base + _ROW_CARGO] = 1
            if held == _SOLDIER and _stands_on_tip(board, other, p):
                row[0, base + _ROW_TIP_SOLDIER] = 1
        other = np.int64(pieces[other, _NEXT])


@part
def describe_attack(board, p, target):
    """Write the attack of one piece on another to `board.row`.

    Parameters
    ----------
    board : Board
    p, target : int64
        The target stands on a square.
    """
    pieces, row = board.pieces, board.row
    squares, columns = board.squares, board.state[_BOARD_COLUMNS]
    _describe_piece(board, p, _ATTACKER)
    _describe_piece(board, target, _TARGET)
    start, goal = np.int64(pieces[root_of(pieces, p), _SQUARE]), np.int64(pieces[target, _SQUARE])
    down = np.int64(squares[goal, _AT_ROW]) - np.int64(squares[start, _AT_ROW])
    across = np.int64(squares[goal, _AT_COLUMN]) - np.int64(squares[start, _AT_COLUMN])
    row[0, _ROWS] = down
    row[0, _COLUMNS] = across
    row[0, _IS_OWN] = pieces[p, _SIDE] == pieces[target, _SIDE]
    row[0, _BLOCKED] = 0
    row[0, _BESIDE_TAKEN] = 0
    if down != 0 and across != 0:
        return
    step = np.sign(down) * columns + np.sign(across)
    square = start + step
    while square != goal:
        if squares[square, _PIECE] >= 0:
            row[0, _BLOCKED] = 1
            row[0, _BESIDE_TAKEN] = square + step == goal
        square += step


@part
def _stays(pieces, member, top, lifeboat, saves_all):
    """Whether something on a dead piece stays: what is on its lifeboat, or all its cargo (FO-18, FA-6)."""
    while pieces[member, _CARRIER] != top:
        member = np.int64(pieces[member, _CARRIER])
    return member == lifeboat or (saves_all and is_piece(pieces[member, _KIND]))


@part
def _lifeboat_of(pieces, p):
    """Return the lifeboat among the cargo of a piece, -1 if it has none."""
    other = np.int64(pieces[p, _FIRST])
    while other >= 0:
        if pieces[other, _KIND] == _LIFEBOAT:
            return other
        other = np.int64(pieces[other, _NEXT])
    return np.int64(-1)


@part
def expected_loss(board, p, at, costs):
    """Return the cost of what dies with a piece according to `board.answer`.

    Parameters
    ----------
    board : Board
    p : int64
    at : int64
        First column of the piece's fate in the answer.
    costs : int64 (T,)

    Returns
    -------
    int64
    """
    pieces = board.pieces
    if board.answer[0, at + _FATE] != _DIES:
        return np.int64(0)
    lost = costs[pieces[p, _UNIT]]
    lifeboat, saves_all = _lifeboat_of(pieces, p), board.answer[0, at + _FATE_CARGO] == _LEFT
    member = _next_of_kin(pieces, p, p)
    while member >= 0:
        if pieces[member, _KIND] != _FLAG and not _stays(pieces, member, p, lifeboat, saves_all):
            lost += costs[pieces[member, _UNIT]]
        member = _next_of_kin(pieces, member, p)
    return lost


@part
def _lay(board, p, square, carrier):
    """Leave something where its dead holder was: on the square, or with the carrier (FA-16)."""
    if square >= 0:
        put_down(board, p, square)
    else:
        put_aboard(board, p, carrier)


@part
def _remove(board, p, at):
    """Take a dead piece off, with what dies with it; what stays is put where it was (FO-7, 15, 18, 33; FA-12, 16)."""
    pieces, lists = board.pieces, board.lists
    square, carrier = np.int64(pieces[p, _SQUARE]), np.int64(pieces[p, _CARRIER])
    lifeboat, saves_all = _lifeboat_of(pieces, p), board.answer[0, at + _FATE_CARGO] == _LEFT
    n = list_kin(board, p)
    for i in range(n):
        lists[i, _STAYS] = _stays(pieces, np.int64(lists[i, _KIN]), p, lifeboat, saves_all)
    _detach(board, p)
    if lifeboat >= 0:
        _lay(board, lifeboat, square, carrier)
    for i in range(n):
        if lists[i, _STAYS] and pieces[lists[i, _KIN], _CARRIER] == p:
            put_aboard(board, np.int64(lists[i, _KIN]), lifeboat)
    for i in range(n):
        member = np.int64(lists[i, _KIN])
        if lists[i, _STAYS] or pieces[member, _KIND] != _FLAG:
            continue
        if lifeboat >= 0:
            put_aboard(board, member, lifeboat)
        else:
            board.state[_DROPPED + pieces[p, _SIDE]] += square >= 0
            _lay(board, member, square, carrier)
    for i in range(n):
        if not lists[i, _STAYS] and pieces[lists[i, _KIN], _KIND] != _FLAG:
            _detach(board, np.int64(lists[i, _KIN]))


@part
def attack(board, p, target, result):
    """Carry out an attack: the rules of single attacks decide, the board follows.

    Parameters
    ----------
    board : Board
        Its row and answer tell the attack afterwards.
    p, target : int64
    result : int64
        `Result` of the duel; of no account where the target is a flag.

    Returns
    -------
    clauses, gaps : uint64
        As of `steps.resolve_attack`.
    """
    pieces, state, answer = board.pieces, board.state, board.answer
    start = np.int64(pieces[root_of(pieces, p), _SQUARE])
    describe_attack(board, p, target)
    clauses, gaps = resolve_attack(board.row, 0, result, read_options(state), answer)
    attacker_dies = answer[0, _OUT_ATTACKER + _FATE] == _DIES
    target_dies = answer[0, _OUT_TARGET + _FATE] == _DIES
    captured = answer[0, _OUT_TARGET + _FATE] == _CAPTURED
    if captured:
        owner = np.int64(pieces[target, _SIDE])
        state[_TAKEN + pieces[p, _SIDE]] += 1
        state[_RETAKEN + pieces[p, _SIDE]] += state[_TOUCHED + owner]
        state[_TOUCHED + owner] = 1
        put_aboard(board, target, p)
    if target_dies:
        _remove(board, target, _OUT_TARGET)
    if attacker_dies:
        _remove(board, p, _OUT_ATTACKER)
    down, across = np.int64(answer[0, _OUT_ROW]), np.int64(answer[0, _OUT_COLUMN])
    if down != 0 or across != 0:
        put_down(board, p, start + down * state[_BOARD_COLUMNS] + across)
    if captured or target_dies or attacker_dies:
        state[_FRESH] = state[_TURN] + 1
    return clauses, gaps
