"""Skirmishes played to their end: set-up, turns, the end, what is counted.

Draws have these addresses. Set-up (cycle 0): step 0 places a side's pieces, step 1 deals its mines, the number of the
draw within the step is the block of the counter. Turn t (cycle t + 1): step 0, side of the mover; its first word
chooses the action, its second decides the duel. One of n things is the whole part of n times the word / 2**64.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from simcore.core.jit import borrowed, kernel, part
from simcore.core.lane import swing_bin
from simcore.core.rng import draw_tag, philox4x32
from simcore.enums import Status
from simcore.rulesets.force_order.layout import FateField, FateRow, Kind, Result, RowField
from simcore.rulesets.force_order.skirmish.actions import decode_action, home_row, keep_choices, list_actions
from simcore.rulesets.force_order.skirmish.board import (
    Board,
    attack,
    clear_board,
    deal_mine,
    list_kin,
    place_piece,
    put_aboard,
    put_down,
    root_of,
)
from simcore.rulesets.force_order.skirmish.encoding import Accumulator
from simcore.rulesets.force_order.skirmish.layout import (
    N_RULES,
    N_STATE,
    Act,
    End,
    Event,
    KeyColumn,
    ListColumn,
    Outcome,
    PieceColumn,
    Rule,
    SquareColumn,
    State,
    Tip,
    TraceColumn,
)

__all__ = ["Records", "resolve_all"]

_OK = int(Status.OK)
_UNIT = int(PieceColumn.UNIT)
_KIND = int(PieceColumn.KIND)
_SIDE = int(PieceColumn.SIDE)
_SQUARE = int(PieceColumn.SQUARE)
_CARRIER = int(PieceColumn.CARRIER)
_FIRST = int(PieceColumn.FIRST)
_PIECE = int(SquareColumn.PIECE)
_AT_ROW = int(SquareColumn.ROW)
_AT_COLUMN = int(SquareColumn.COLUMN)
_IS_LAND = int(SquareColumn.IS_LAND)
_BESIDE = int(SquareColumn.BESIDE)
_AROUND = int(SquareColumn.AROUND)
_ACTION = int(ListColumn.ACTION)
_KIN = int(ListColumn.KIN)
_HISTORY = int(KeyColumn.HISTORY)
_PIECE_KEY = int(KeyColumn.PIECE)
# Typed: a plain number among the arguments of a kernel makes a compiled copy for each.
_SOLDIER = np.int64(Kind.SOLDIER)
_SABOTEUR = np.int64(Kind.SABOTEUR)
_FLAG = int(Kind.FLAG)
_MINE = int(Kind.MINE)
_LOAD = int(Act.LOAD)
_ATTACK = int(Act.ATTACK)
_NO_RESULT = np.int64(Result.BY_RANK)
_NOT_CAPTURED = np.int64(0)
_WIN = np.int64(Result.WIN)
_LOSE = np.int64(Result.LOSE)
_TIE = np.int64(Result.TIE)
_UNLIMITED = int(Tip.UNLIMITED)
_DRAW = np.int64(Outcome.DRAW)
_FLAG_HOME = np.int64(End.FLAG_HOME)
_FLAG_CAPTURED = np.int64(End.FLAG_CAPTURED)
_NO_ACTION = np.int64(End.NO_ACTION)
_REPETITION = np.int64(End.REPETITION)
_TURN_CAP = np.int64(End.TURN_CAP)
_MOVER = int(State.MOVER)
_TURN = int(State.TURN)
_ACTIONS = int(State.ACTIONS)
_OUTCOME = int(State.OUTCOME)
_END = int(State.END)
_FRESH = int(State.FRESH)
_DROPPED = int(State.DROPPED)
_FLAGS = int(State.FLAGS)
_STARTED = int(State.STARTED)
_SCRIPT = int(State.SCRIPT)
_FAULT = int(State.FAULT)
_RULES = int(State.RULES)
_OPTIONS = int(State.OPTIONS)
_ROWS = _RULES + int(Rule.ROWS)
_COLUMNS = _RULES + int(Rule.COLUMNS)
_LAND_COLUMNS = _RULES + int(Rule.LAND_COLUMNS)
_TIP = _RULES + int(Rule.TIP)
_IS_CAPTURE = _RULES + int(Rule.IS_CAPTURE)
_CAP = _RULES + int(Rule.TURN_CAP)
_REPETITIONS = _RULES + int(Rule.REPETITIONS)
_FIRST_MOVER = _RULES + int(Rule.FIRST_MOVER)
_IN_TURN = 2
_N_RULES = N_RULES
_N_STATE = N_STATE
_N_COLUMNS = len(PieceColumn)
_N_SQUARE = _AROUND + 8
_N_LISTS = len(ListColumn)
_N_KEYS = len(KeyColumn)
_N_ROW = int(RowField.TARGET_RANK) + 1
_N_ANSWER = int(FateRow.TARGET) + len(FateField)
_N_FLAG_COUNTS = 6
_MOST_AROUND = 8

_PLACED = np.int64(Event.PLACED)
_DEALT = np.int64(Event.DEALT)
_BEGUN = np.int64(Event.BEGUN)
_ACTED = np.int64(Event.ACTED)
_OF_EVENT = int(TraceColumn.EVENT)
_OF_SIDE = int(TraceColumn.SIDE)
_OF_PIECE = int(TraceColumn.PIECE)
_OF_ACT = int(TraceColumn.ACT)
_OF_SQUARE = int(TraceColumn.SQUARE)
_OF_ACTIONS = int(TraceColumn.ACTIONS)
_OF_CHOICES = int(TraceColumn.CHOICES)
_OF_INDEX = int(TraceColumn.INDEX)
_OF_RESULT = int(TraceColumn.RESULT)
_OF_IS_OPEN = int(TraceColumn.IS_OPEN)
_OF_CLAUSES = int(TraceColumn.CLAUSES)
_OF_GAPS = int(TraceColumn.GAPS)
_OF_ROW = int(TraceColumn.ROW)
_OF_ANSWER = int(TraceColumn.ANSWER)
_OF_PIECES = int(TraceColumn.PIECES)

_BATTLES = int(Accumulator.BATTLES)
_OUTCOMES = int(Accumulator.OUTCOMES)
_TURNS = int(Accumulator.TURNS)
_COST_LOST = int(Accumulator.COST_LOST)
_SWING = int(Accumulator.SWING)
_EDGE = int(Accumulator.EDGE)
_ENDED = int(Accumulator.ENDED)
_PIECES_LOST = int(Accumulator.PIECES_LOST)
_FLAG_COUNTS = int(Accumulator.FLAGS)
_SURVIVORS = int(Accumulator.SURVIVORS)

_1 = np.uint64(1)
_2 = np.uint64(2)
_12 = np.uint64(12)
_32 = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
_NOTHING = np.uint64(0)
_KEY_0 = np.uint64(0x9E3779B9)
_KEY_1 = np.uint64(0x7F4A7C15)
_LOADED = np.uint64(0xFFFF)
"""In place of a square, for what is aboard."""
_SURE = 1 << 62


class Records(NamedTuple):
    """Games kept one by one; empty arrays where none are. B games.

    Attributes
    ----------
    outcome : int8 (B,)
    turns : int32 (B,)
    survivors : int16 (B, S, T)
    cost_lost : int32 (B, S)
    """

    outcome: Any
    turns: Any
    survivors: Any
    cost_lost: Any


# ------------------------------------------------------------------------------------------------- draws


@part
def _block(block, tag, battle, key):
    """Return the two words of an address."""
    c0, c1, c2, c3 = philox4x32(np.uint64(block), tag, battle & _LOW, battle >> _32, key[0], key[1])
    return c0 | (c1 << _32), c2 | (c3 << _32)


@part
def _take(state, script, low, n):
    """Return the next entry of a script, which must be one of the n numbers from `low` on."""
    at = state[_SCRIPT]
    state[_SCRIPT] += 1
    if at < len(script) and low <= script[at] < low + n:
        return script[at]
    if state[_FAULT] == 0:
        state[_FAULT] = at + 1
    return low


@part
def _draw(state, script, word, n):
    """Return one of n things, all alike: the whole part of n times word / 2**64, or what a script says."""
    if n == 1:
        return np.int64(0)
    if len(script):
        return _take(state, script, np.int64(0), n)
    number = np.uint64(n)
    return np.int64(((word >> _32) * number + (((word & _LOW) * number) >> _32)) >> _32)


@part
def _is_open(bounds, own, other):
    """Whether chance decides the duel of two units."""
    win, lose = bounds[own, other, 0], bounds[own, other, 1]
    return not (win == _SURE or lose == 0 or (win == 0 and lose == _SURE))


@part
def _fight(state, script, word, bounds, own, other):
    """Return the `Result` of the duel of two units (FO-2, 11, 21, 27; FA-17)."""
    if len(script) and _is_open(bounds, own, other):
        return _take(state, script, _WIN, np.int64(3))
    drawn = np.int64(word >> _2)
    return _WIN if drawn < bounds[own, other, 0] else _LOSE if drawn < bounds[own, other, 1] else _TIE


# ------------------------------------------------------------------------------------------- repetitions


@part
def _mixed(a, b):
    """Return one word that depends on every bit of two."""
    c0, c1, _, _ = philox4x32(a & _LOW, a >> _32, b & _LOW, b >> _32, _KEY_0, _KEY_1)
    return c0 | (c1 << _32)


@part
def _own_key(pieces, p):
    return np.uint64(2 * np.int64(pieces[p, _UNIT]) + np.int64(pieces[p, _SIDE]))


@part
def _load_key(board, top):
    """Return the key of a piece with its load: two that are interchangeable have the same (FA-25).

    What is aboard is added up, or chained where the loading tip depends on the order of boarding (FA-10).
    """
    pieces, lists, keys = board.pieces, board.lists, board.keys
    n = list_kin(board, top)
    keys[top, _PIECE_KEY] = _own_key(pieces, top)
    for i in range(n):
        member = np.int64(lists[i, _KIN])
        keys[member, _PIECE_KEY] = _own_key(pieces, member)
    # Whatever is on a piece stands behind it in the list: from the end on, every key is finished when it is needed.
    for i in range(n - 1, -1, -1):
        member = np.int64(lists[i, _KIN])
        own, carrier = keys[member, _PIECE_KEY], np.int64(pieces[member, _CARRIER])
        if board.state[_TIP] == _UNLIMITED:
            # Short enough for the sum not to overflow.
            keys[carrier, _PIECE_KEY] += _mixed(own, _LOADED) >> _12
        else:
            keys[carrier, _PIECE_KEY] = _mixed(keys[carrier, _PIECE_KEY], own)
    return keys[top, _PIECE_KEY]


@part
def _board_key(board):
    """Return the key of a board: boards that differ have different keys, but for one chance in 2**64."""
    pieces = board.pieces
    total = _NOTHING
    for p in range(len(pieces)):
        square = np.int64(pieces[p, _SQUARE])
        if square >= 0:
            own = _own_key(pieces, p) if pieces[p, _FIRST] < 0 else _load_key(board, p)
            total ^= _mixed(own, np.uint64(square))
    return total


@part
def _is_repeated(board):
    """Whether the board has come often enough with this side on the move: every other turn since it was fresh."""
    keys, state = board.keys, board.state
    turn = state[_TURN]
    keys[turn, _HISTORY] = _board_key(board)
    seen = 0
    for earlier in range(turn, state[_FRESH] - 1, -2):
        seen += keys[earlier, _HISTORY] == keys[turn, _HISTORY]
    return seen >= state[_REPETITIONS]


# ---------------------------------------------------------------------------------------------- the game


@part
def _has_come_home(board, side):
    """Whether a side carries the enemy's flag on its home row (FA-25)."""
    pieces = board.pieces
    root = root_of(pieces, board.state[_FLAGS + 1 - side])
    return pieces[root, _SIDE] == side and board.squares[pieces[root, _SQUARE], _AT_ROW] == home_row(board, side)


@part
def _finish(board, outcome, end):
    board.state[_OUTCOME] = outcome
    board.state[_END] = end


@part
def _judge(board, captured):
    """List the actions of the side that is on the move now; end the game if it has ended (FA-25)."""
    state = board.state
    side = state[_MOVER]
    last = 1 - side
    if captured and state[_IS_CAPTURE]:
        _finish(board, last, _FLAG_CAPTURED)
        return
    if state[_TURN] > 0 and not state[_IS_CAPTURE] and _has_come_home(board, last):
        _finish(board, last, _FLAG_HOME)
        return
    state[_ACTIONS] = list_actions(board, side)
    if state[_ACTIONS] == 0:
        _finish(board, last if list_actions(board, last) > 0 else _DRAW, _NO_ACTION)
    elif state[_REPETITIONS] > 0 and _is_repeated(board):
        _finish(board, _DRAW, _REPETITION)
    elif state[_TURN] >= state[_CAP]:
        _finish(board, _DRAW, _TURN_CAP)


@part
def _note(board, trace, event, side, piece, square):
    """Write an event to the trace, with the board as it is now; returns its row."""
    pieces = board.pieces
    at = np.int64(0)
    while trace[at, _OF_EVENT] >= 0:
        at += 1
    for column in range(trace.shape[1]):
        trace[at, column] = 0
    trace[at, _OF_EVENT] = event
    trace[at, _OF_SIDE] = side
    trace[at, _OF_PIECE] = piece
    trace[at, _OF_SQUARE] = square
    trace[at, _OF_ACTIONS] = board.state[_ACTIONS]
    for p in range(len(pieces)):
        trace[at, _OF_PIECES + 2 * p] = pieces[p, _SQUARE]
        trace[at, _OF_PIECES + 2 * p + 1] = pieces[p, _CARRIER]
    return at


@part
def _set_up(games, m, board, battle, key, script, trace):
    """Place both sides at random, then deal their mines to soldiers and saboteurs (FA-25)."""
    pieces, state = board.pieces, board.state
    first = np.int64(0)
    for side in range(2):
        last = first + games.numbers[m, side]
        drawn = np.int64(0)
        for i in range(games.placed[m, side]):
            p = np.int64(games.placing[m, first + i])
            word, _ = _block(i, draw_tag(0, 0, side, 0), battle, key)
            n = place_piece(board, p, np.int64(-1))
            index = _draw(state, script, word, n)
            square = place_piece(board, p, index)
            if len(trace):
                at = _note(board, trace, _PLACED, side, p, square)
                trace[at, _OF_CHOICES] = n
                trace[at, _OF_INDEX] = index
        for mine in range(first, last):
            if pieces[mine, _KIND] != _MINE:
                continue
            word, _ = _block(drawn, draw_tag(0, 1, side, 0), battle, key)
            kind, drawn = _SOLDIER, drawn + np.int64(1)
            n = deal_mine(board, mine, kind, first, last, np.int64(-1))
            if n == 0:
                kind = _SABOTEUR
                n = deal_mine(board, mine, kind, first, last, np.int64(-1))
            index = _draw(state, script, word, n)
            holder = deal_mine(board, mine, kind, first, last, index)
            if len(trace):
                at = _note(board, trace, _DEALT, side, mine, holder)
                trace[at, _OF_CHOICES] = n
                trace[at, _OF_INDEX] = index
        first = last


@part
def _take_turn(board, bounds, costs, battle, key, script, trace):
    """Let the side on the move choose an action and carry it out; then see whether the game has ended."""
    pieces, squares, state = board.pieces, board.squares, board.state
    side, n_actions = state[_MOVER], state[_ACTIONS]
    word, other = _block(0, draw_tag(state[_TURN] + 1, 0, side, 0), battle, key)
    choices = keep_choices(board, bounds, costs)
    index = _draw(state, script, word, choices)
    p, act, square = decode_action(board.lists[index, _ACTION])
    result, is_open, captured = _NO_RESULT, False, _NOT_CAPTURED
    clauses, gaps = _NOTHING, _NOTHING
    if act == _ATTACK:
        target = np.int64(squares[square, _PIECE])
        is_flag = pieces[target, _KIND] == _FLAG
        if not is_flag:
            own, enemy = np.int64(pieces[p, _UNIT]), np.int64(pieces[target, _UNIT])
            is_open = _is_open(bounds, own, enemy)
            result = _fight(state, script, other, bounds, own, enemy)
        clauses, gaps = attack(board, p, target, result)
        captured = np.int64(is_flag and pieces[target, _CARRIER] == p and pieces[target, _SIDE] != side)
    elif act == _LOAD:
        put_aboard(board, p, np.int64(squares[square, _PIECE]))
    else:
        put_down(board, p, square)
    state[_TURN] += 1
    state[_MOVER] = 1 - side
    if len(trace):
        at = _note(board, trace, _ACTED, side, p, square)
        trace[at, _OF_ACT] = act
        trace[at, _OF_ACTIONS] = n_actions
        trace[at, _OF_CHOICES] = choices
        trace[at, _OF_INDEX] = index
        trace[at, _OF_RESULT] = result
        trace[at, _OF_IS_OPEN] = is_open
        trace[at, _OF_CLAUSES] = np.int64(clauses)
        trace[at, _OF_GAPS] = np.int64(gaps)
        for field in range(_N_ROW):
            trace[at, _OF_ROW + field] = board.row[0, field]
        for field in range(_N_ANSWER):
            trace[at, _OF_ANSWER + field] = board.answer[0, field]
    _judge(board, captured)


@part
def _play(lent_games, m, lent_board, battle, lent_key, lent_script, lent_trace):
    """Play one game to its end."""
    games, board, key = borrowed(lent_games), borrowed(lent_board), borrowed(lent_key)
    script, trace = borrowed(lent_script), borrowed(lent_trace)
    state, bounds, costs = board.state, games.bounds[games.order[m]], games.costs[m]
    clear_board(board, np.int64(battle & _1) if state[_FIRST_MOVER] == _IN_TURN else state[_FIRST_MOVER])
    _set_up(games, m, board, battle, key, script, trace)
    _judge(board, _NOT_CAPTURED)
    if len(trace):
        _note(board, trace, _BEGUN, state[_MOVER], np.int64(-1), np.int64(-1))
    while state[_OUTCOME] < 0:
        _take_turn(board, bounds, costs, battle, key, script, trace)


# ---------------------------------------------------------------------------------------------- counting


@part
def _count(games, m, board, tally, records, at):
    """Add a finished game to a tally, and write it down if it is kept."""
    pieces, state = board.pieces, board.state
    outcome, turns = state[_OUTCOME], state[_TURN]
    n_units = games.starts.shape[2]
    column = _SURVIVORS + outcome * 2 * n_units
    own, other = np.int64(0), np.int64(0)
    is_kept = len(records.outcome) > 0
    for p in range(len(pieces)):
        side, unit = np.int64(pieces[p, _SIDE]), np.int64(pieces[p, _UNIT])
        if pieces[p, _KIND] == _FLAG:
            continue
        if pieces[p, _SQUARE] >= 0 or pieces[p, _CARRIER] >= 0:
            tally[column + side * n_units + unit] += 1
            if is_kept:
                records.survivors[at, side, unit] += 1
            continue
        tally[_PIECES_LOST + side] += 1
        if side == 0:
            own += games.costs[m, unit]
        else:
            other += games.costs[m, unit]
    edge = np.int64(0)
    if outcome != _DRAW:
        edge = np.int64(1) if outcome == state[_STARTED] else np.int64(-1)
    tally[_BATTLES] += 1
    tally[_OUTCOMES + outcome] += 1
    tally[_TURNS] += turns
    tally[_TURNS + 1] += turns * turns
    tally[_COST_LOST] += own
    tally[_COST_LOST + 1] += own * own
    tally[_COST_LOST + 2] += other
    tally[_COST_LOST + 3] += other * other
    tally[_SWING] += other - own
    tally[_SWING + 1] += (other - own) * (other - own)
    tally[games.bins[m, 1] + swing_bin(other - own, games.bins[m, 0])] += 1
    tally[_EDGE] += edge
    tally[_EDGE + 1] += edge * edge
    tally[_ENDED + state[_END]] += 1
    for i in range(_N_FLAG_COUNTS):
        tally[_FLAG_COUNTS + i] += state[_DROPPED + i]
    if is_kept:
        records.outcome[at] = outcome
        records.turns[at] = turns
        records.cost_lost[at, 0] = own
        records.cost_lost[at, 1] = other


@part
def _new_board(games, m):
    """Return room for the games of a matchup, with its pieces and the neighbours of every square."""
    number = games.numbers[m, 0] + games.numbers[m, 1]
    rules = games.rules[m]
    rows, columns = rules[_ROWS - _RULES], rules[_COLUMNS - _RULES]
    pieces = np.full((number, _N_COLUMNS), -1, np.int16)
    for p in range(number):
        for field in range(games.pieces.shape[2]):
            pieces[p, field] = games.pieces[m, p, field]
    squares = np.full((rows * columns, _N_SQUARE), -1, np.int16)
    for square in range(rows * columns):
        row, column = square // columns, square % columns
        squares[square, _AT_ROW] = row
        squares[square, _AT_COLUMN] = column
        squares[square, _IS_LAND] = column < rules[_LAND_COLUMNS - _RULES]
        n_beside, n_around = _BESIDE, _AROUND
        for i in range(9):
            down, across = i // 3 - 1, i % 3 - 1
            inside = 0 <= row + down < rows and 0 <= column + across < columns
            if not inside or (down == 0 and across == 0):
                continue
            squares[square, n_around] = square + down * columns + across
            n_around += 1
            if down == 0 or across == 0:
                squares[square, n_beside] = square + down * columns + across
                n_beside += 1
    state = np.zeros(_N_STATE, np.int64)
    for i in range(_N_RULES):
        state[_RULES + i] = rules[i]
    for i in range(games.options.shape[1]):
        state[_OPTIONS + i] = games.options[m, i]
    state[_FLAGS] = games.numbers[m, 0] - 1
    state[_FLAGS + 1] = number - 1
    # A piece has at most a move and an attack for every square of its lines, or for the eight around it.
    lists = np.zeros((number * 2 * (rows + columns + _MOST_AROUND), _N_LISTS), np.int32)
    keys = np.zeros((max(state[_CAP] + 1, number), _N_KEYS), np.uint64)
    row, answer = np.zeros((1, _N_ROW), np.int8), np.zeros((1, _N_ANSWER), np.int8)
    return Board(pieces, squares, state, lists, keys, row, answer)


@part
def resolve_chunk(s, segments, games, keys, tallies, status, where, records, script, trace):
    """Play one run of games.

    Parameters
    ----------
    s : int64
        Which run.
    segments : int64 (N, 3)
        Row, first battle, number of battles.
    games : Games
    keys : uint64 (M, 2)
    tallies : int64 (N, K + BINS)
        Output: accumulators, and counts of swings behind them.
    status : uint8 (N,)
    where : int64 (N,)
        Output; of a game with a script: the number, from 1, of its first entry that is missing or does not fit, or
        else minus the number of entries used.
    records : Records
        Output, one entry for each battle of the run; empty if none are kept.
    script : int64 (D,)
        Entries in place of random words, for one game; empty for none.
    trace : int64 (R, 51 + 2 P)
        Output by `TraceColumn`, for one game, filled with -1; empty for none.
    """
    m, first, count = segments[s, 0], segments[s, 1], segments[s, 2]
    board = _new_board(games, m)
    tally, key = tallies[s], keys[m]
    for i in range(count):
        _play(games, m, board, np.uint64(first + i), key, script, trace)
        _count(games, m, board, tally, records, i)
    status[s] = _OK
    where[s] = first
    if len(script):
        where[s] = board.state[_FAULT] if board.state[_FAULT] else -board.state[_SCRIPT]


@kernel
def resolve_all(segments, games, keys, tallies, status, where, records, script, trace):
    """Play all runs one after the other; arguments as in `resolve_chunk`."""
    for s in range(len(segments)):
        resolve_chunk(np.int64(s), segments, games, keys, tallies, status, where, records, script, trace)
