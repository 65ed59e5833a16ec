"""What a side may do in its turn, and among which of it its policy chooses.

An action is one number (`ListColumn.ACTION`); in the order of these numbers actions are listed.
"""

from __future__ import annotations

import numpy as np

from simcore.core.jit import part
from simcore.rulesets.force_order.layout import FateRow, Kind, Reason, Result
from simcore.rulesets.force_order.skirmish.board import (
    can_stand,
    describe_attack,
    expected_loss,
    holds_flag,
    is_piece,
    read_options,
    root_of,
)
from simcore.rulesets.force_order.skirmish.layout import (
    Act,
    ListColumn,
    PieceColumn,
    Policy,
    Rule,
    SquareColumn,
    State,
)
from simcore.rulesets.force_order.steps import Options, refuse_attack, resolve_attack

__all__ = ["decode_action", "home_row", "keep_choices", "list_actions"]

_UNIT = int(PieceColumn.UNIT)
_KIND = int(PieceColumn.KIND)
_SIDE = int(PieceColumn.SIDE)
_SQUARE = int(PieceColumn.SQUARE)
_CARRIER = int(PieceColumn.CARRIER)
_FIRST = int(PieceColumn.FIRST)
_NEXT = int(PieceColumn.NEXT)
_PIECE = int(SquareColumn.PIECE)
_AT_ROW = int(SquareColumn.ROW)
_AT_COLUMN = int(SquareColumn.COLUMN)
_BESIDE = int(SquareColumn.BESIDE)
_AROUND = int(SquareColumn.AROUND)
_ACTION = int(ListColumn.ACTION)
_SOLDIER = int(Kind.SOLDIER)
_SABOTEUR = int(Kind.SABOTEUR)
_BOAT = int(Kind.BOAT)
_LIFEBOAT = int(Kind.LIFEBOAT)
_PLANE = int(Kind.PLANE)
_FLAG = int(Kind.FLAG)
_MOVE = np.int64(Act.MOVE)
_LOAD = np.int64(Act.LOAD)
_UNLOAD = np.int64(Act.UNLOAD)
_ATTACK = np.int64(Act.ATTACK)
_LEGAL = int(Reason.LEGAL)
_WIN = int(Result.WIN)
_LOSE = int(Result.LOSE)
_TIE = int(Result.TIE)
_GREEDY = int(Policy.GREEDY)
# Typed: a plain number among the arguments of a kernel makes a compiled copy for each.
_OUT_ATTACKER = np.int64(FateRow.ATTACKER)
_OUT_TARGET = np.int64(FateRow.TARGET)
_MOVER = int(State.MOVER)
_ACTIONS = int(State.ACTIONS)
_FLAGS = int(State.FLAGS)
_ROWS = int(State.RULES) + int(Rule.ROWS)
_COLUMNS = int(State.RULES) + int(Rule.COLUMNS)
_BOAT_CAPACITY = int(State.RULES) + int(Rule.BOAT_CAPACITY)
_LIFEBOAT_CAPACITY = int(State.RULES) + int(Rule.LIFEBOAT_CAPACITY)
_PLANE_CAPACITY = int(State.RULES) + int(Rule.PLANE_CAPACITY)
_POLICY = int(State.RULES) + int(Rule.POLICY)
_FLAG_FIRST = int(State.RULES) + int(Rule.FLAG_FIRST)
_ADJACENCY = int(State.OPTIONS) + Options._fields.index("adjacency")
_N_BESIDE = _AROUND - _BESIDE
_N_AROUND = 8
_WEIGHT = 32
"""Chances of duels are weighed in steps of 1 / 2**30."""
_FINE = 20
_HALF = 1 << (_FINE - 1)
_SURE = 1 << 62
_NO_VALUE = -(1 << 62)


@part
def decode_action(action):
    """Return piece, kind of action and square of an action."""
    number = np.int64(action)
    return number >> 12, (number >> 10) & 3, number & 1023


@part
def _write(board, n, p, act, square):
    """Write an action to the list, as number n; returns the next number."""
    board.lists[n, _ACTION] = (p << 12) | (act << 10) | square
    return n + 1


@part
def home_row(board, side):
    """Return the row to which a side carries the enemy's flag."""
    return np.int64(0) if side == 0 else board.state[_ROWS] - 1


@part
def _may_board(board, p, carrier):
    """Whether a piece may go aboard another (FA-15, FA-25)."""
    pieces, state = board.pieces, board.state
    if pieces[carrier, _SIDE] != pieces[p, _SIDE]:
        return False
    kind, other = np.int64(pieces[p, _KIND]), np.int64(pieces[carrier, _KIND])
    if other not in (_BOAT, _LIFEBOAT, _PLANE) or (other != _BOAT and kind not in (_SOLDIER, _SABOTEUR)):
        return False
    capacity = _BOAT_CAPACITY if other == _BOAT else _LIFEBOAT_CAPACITY if other == _LIFEBOAT else _PLANE_CAPACITY
    places = state[capacity]
    aboard = np.int64(pieces[carrier, _FIRST])
    while aboard >= 0:
        held = np.int64(pieces[aboard, _KIND])
        places -= is_piece(held)
        if held == _LIFEBOAT and kind == _LIFEBOAT:
            return False
        aboard = np.int64(pieces[aboard, _NEXT])
    if places <= 0:
        return False
    return not holds_flag(board, p) or (other != _PLANE and not holds_flag(board, carrier))


@part
def _may_attack(board, p, target):
    """Whether an attack is legal by the rules of single attacks, and no piece comes to hold both flags (FA-21)."""
    describe_attack(board, p, target)
    if refuse_attack(board.row, 0, read_options(board.state)) != _LEGAL:
        return False
    return board.pieces[target, _KIND] != _FLAG or not holds_flag(board, p)


@part
def _list_line(board, p, square, step, length, n):
    """List the moves of a plane along a line while it is empty, the lowest square first."""
    steps = np.int64(0)
    while steps < length and board.squares[square + (steps + 1) * step, _PIECE] < 0:
        steps += 1
    for i in range(steps):
        n = _write(board, n, p, _MOVE, square + (i + 1 if step > 0 else steps - i) * step)
    return n


@part
def _list_steps(board, p, act, square, n):
    """List the empty squares beside a square on which a piece may stand."""
    squares, kind = board.squares, np.int64(board.pieces[p, _KIND])
    for i in range(_BESIDE, _BESIDE + _N_BESIDE):
        goal = np.int64(squares[square, i])
        if goal >= 0 and squares[goal, _PIECE] < 0 and can_stand(board, kind, goal):
            n = _write(board, n, p, act, goal)
    return n


@part
def _list_moves(board, p, square, n):
    """List the moves of a piece on the board, then the carriers that it may board (FA-25)."""
    squares, state = board.squares, board.state
    if board.pieces[p, _KIND] == _PLANE:
        row, column = np.int64(squares[square, _AT_ROW]), np.int64(squares[square, _AT_COLUMN])
        n = _list_line(board, p, square, -state[_COLUMNS], row, n)
        n = _list_line(board, p, square, np.int64(-1), column, n)
        n = _list_line(board, p, square, np.int64(1), state[_COLUMNS] - 1 - column, n)
        n = _list_line(board, p, square, state[_COLUMNS], state[_ROWS] - 1 - row, n)
    else:
        n = _list_steps(board, p, _MOVE, square, n)
    for i in range(_BESIDE, _BESIDE + _N_BESIDE):
        goal = np.int64(squares[square, i])
        if goal >= 0 and squares[goal, _PIECE] >= 0 and _may_board(board, p, np.int64(squares[goal, _PIECE])):
            n = _write(board, n, p, _LOAD, goal)
    return n


@part
def _list_attacks(board, p, square, n):
    """List the attacks of a piece from a square: planes look along row and column, others around them."""
    squares, state = board.squares, board.state
    is_plane = board.pieces[p, _KIND] == _PLANE
    column = np.int64(squares[square, _AT_COLUMN])
    start = square - column
    # Squares of the column above, of the row, of the column below: together one list in order.
    above = np.int64(squares[square, _AT_ROW])
    head = above + state[_COLUMNS]
    near, n_near = (_AROUND, _N_AROUND) if state[_ADJACENCY] else (_BESIDE, _N_BESIDE)
    for i in range(head + state[_ROWS] - 1 - above if is_plane else n_near):
        if not is_plane:
            goal = np.int64(squares[square, near + i])
        elif i < above:
            goal = column + i * state[_COLUMNS]
        elif i < head:
            goal = start + i - above
        else:
            goal = square + (i - head + 1) * state[_COLUMNS]
        if goal < 0 or goal == square or squares[goal, _PIECE] < 0:
            continue
        if _may_attack(board, p, np.int64(squares[goal, _PIECE])):
            n = _write(board, n, p, _ATTACK, goal)
    return n


@part
def list_actions(board, side):
    """List all legal actions of a side.

    Pieces on the board act, and what is aboard of them directly; flags and mines do not.

    Parameters
    ----------
    board : Board
    side : int64

    Returns
    -------
    int64
        How many there are.
    """
    pieces, state = board.pieces, board.state
    n = np.int64(0)
    for p in range(np.int64(0) if side == 0 else state[_FLAGS] + 1, state[_FLAGS + side]):
        square, carrier = np.int64(pieces[p, _SQUARE]), np.int64(pieces[p, _CARRIER])
        if (square < 0 and carrier < 0) or not is_piece(np.int64(pieces[p, _KIND])):
            continue
        if square >= 0:
            n = _list_moves(board, p, square, n)
        else:
            square = np.int64(pieces[carrier, _SQUARE])
            if square < 0:
                continue
            n = _list_steps(board, p, _UNLOAD, square, n)
        n = _list_attacks(board, p, square, n)
    return n


@part
def _keep_preferred(board, side, n):
    """Keep the actions that take the enemy's flag or carry it homeward; returns how many there are."""
    pieces, lists, squares = board.pieces, board.lists, board.squares
    flag = board.state[_FLAGS + 1 - side]
    root = root_of(pieces, flag)
    if root != flag and pieces[root, _SIDE] != side:
        return np.int64(0)
    square = np.int64(pieces[root, _SQUARE])
    home = home_row(board, side)
    distance = abs(squares[square, _AT_ROW] - home)
    kept = np.int64(0)
    for i in range(n):
        p, act, goal = decode_action(lists[i, _ACTION])
        if root == flag:
            is_preferred = act == _ATTACK and goal == square
        else:
            is_preferred = p == root and act == _MOVE and abs(squares[goal, _AT_ROW] - home) < distance
        if is_preferred:
            lists[kept, _ACTION] = lists[i, _ACTION]
            kept += 1
    return kept


@part
def _value(board, p, target, bounds, costs):
    """Return the expected cost of the pieces that an attack wins minus those that it loses, in units of 1 / 1024.

    Probabilities such as a third are not exact: finer differences would be rounding, and no reason to choose.
    """
    pieces = board.pieces
    describe_attack(board, p, target)
    low, value = np.int64(0), np.int64(0)
    for result in range(_WIN, _TIE + 1):
        # A flag is taken without a duel, whatever its result.
        high = np.int64(_SURE)
        if result != _TIE and pieces[target, _KIND] != _FLAG:
            high = bounds[pieces[p, _UNIT], pieces[target, _UNIT], result - _WIN]
        if high > low:
            resolve_attack(board.row, 0, np.int64(result), read_options(board.state), board.answer)
            won = expected_loss(board, target, _OUT_TARGET, costs)
            lost = expected_loss(board, p, _OUT_ATTACKER, costs)
            value += ((high >> _WEIGHT) - (low >> _WEIGHT)) * (won - lost)
        low = high
    return (value + _HALF) >> _FINE


@part
def _keep_best(board, bounds, costs, n):
    """Keep the actions with the largest value; moving and loading are worth nothing."""
    lists = board.lists
    best, kept = np.int64(_NO_VALUE), np.int64(0)
    for i in range(n):
        p, act, goal = decode_action(lists[i, _ACTION])
        value = np.int64(0)
        if act == _ATTACK:
            value = _value(board, p, np.int64(board.squares[goal, _PIECE]), bounds, costs)
        if value > best:
            best, kept = value, np.int64(0)
        if value == best:
            lists[kept, _ACTION] = lists[i, _ACTION]
            kept += 1
    return kept


@part
def keep_choices(board, bounds, costs):
    """Keep those of the listed actions among which the policy of the side on the move chooses, all alike.

    Parameters
    ----------
    board : Board
    bounds : int64 (T, T, 2)
        Running shares of a win, and of a win or a loss, of each duel.
    costs : int64 (T,)

    Returns
    -------
    int64
        How many they are, at least 1.
    """
    state = board.state
    side, n = state[_MOVER], state[_ACTIONS]
    if state[_FLAG_FIRST + side]:
        kept = _keep_preferred(board, side, n)
        if kept > 0:
            return kept
    return _keep_best(board, bounds, costs, n) if state[_POLICY + side] == _GREEDY else n
