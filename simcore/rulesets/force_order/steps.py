"""The rules of one attack: whether it is allowed, who is left, and where everything ends up.

Every function is deterministic: chance (which pieces meet, who wins the duel) is decided outside. A row is int8 by
`PieceField` and `RowField`, an answer int8 by `FateRow` and `FateField`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from simcore.core.jit import kernel
from simcore.rulesets.force_order.layout import (
    TARGET,
    Fate,
    FateField,
    FateRow,
    Kind,
    Mount,
    Outcome,
    Part,
    PieceField,
    Place,
    Position,
    Reason,
    Result,
    RowField,
)

__all__ = ["Options", "duel_by_rank", "refuse_attack", "resolve_attack"]


class Options(NamedTuple):
    """Readings of the rules, int64 each: the place of the chosen value in `params.READINGS`, or 0 and 1.

    Attributes
    ----------
    plane_win : int64
        FA-1: 0 stay, 1 take, 2 adjacent.
    plane_special_win : int64
        FA-2: 0 adjacent, 1 stay.
    tie : int64
        FA-3: 0 both die, 1 the attacker wins, 2 the defender wins, 3 both stay.
    adjacency : int64
        FA-4: 0 orthogonal, 1 diagonal too.
    plane_line_blocked : int64
        FA-5.
    lifeboat_saves : int64
        FA-6: 0 what is on the lifeboat, 1 all cargo.
    saboteur_is_soldier : int64
        FA-7.
    boat_attacks_saboteur : int64
        FA-8.
    plane_attacks_flag : int64
        FA-9: 0 refused, 1 the plane dies, 2 it takes the flag.
    own_flag_recovery : int64
        FA-21.
    """

    plane_win: int
    plane_special_win: int
    tie: int
    adjacency: int
    plane_line_blocked: int
    lifeboat_saves: int
    saboteur_is_soldier: int
    boat_attacks_saboteur: int
    plane_attacks_flag: int
    own_flag_recovery: int


_KIND = int(PieceField.KIND)
_MOUNT = int(PieceField.MOUNT)
_PLACE = int(PieceField.PLACE)
_MINE = int(PieceField.MINE)
_FLAG = int(PieceField.FLAG)
_LIFEBOAT = int(PieceField.LIFEBOAT)
_CARGO = int(PieceField.CARGO)
_TIP_SOLDIER = int(PieceField.TIP_SOLDIER)
# Typed: a plain number among the arguments of a kernel makes a compiled copy for each.
_ATTACKER = np.int64(0)
_TARGET = np.int64(TARGET)
_IS_ALONE = np.int64(1)
_IS_NOT_ALONE = np.int64(0)
_ROWS = int(RowField.ROWS)
_COLUMNS = int(RowField.COLUMNS)
_IS_OWN = int(RowField.IS_OWN)
_BLOCKED = int(RowField.BLOCKED)
_BESIDE_TAKEN = int(RowField.BESIDE_TAKEN)
_RESULT = int(RowField.RESULT)
_ATTACKER_RANK = int(RowField.ATTACKER_RANK)
_TARGET_RANK = int(RowField.TARGET_RANK)

_OUT_REASON = int(FateRow.REASON)
_OUT_OUTCOME = int(FateRow.OUTCOME)
_OUT_POSITION = int(FateRow.POSITION)
_OUT_ROW = int(FateRow.ROW)
_OUT_COLUMN = int(FateRow.COLUMN)
_OUT_ATTACKER = np.int64(FateRow.ATTACKER)
_OUT_TARGET = np.int64(FateRow.TARGET)
_FATE = int(FateField.FATE)
_FATE_FLAG = int(FateField.FLAG)
_FATE_LIFEBOAT = int(FateField.LIFEBOAT)
_FATE_CARGO = int(FateField.CARGO)
_FATE_MINE = int(FateField.MINE)

_SOLDIER_KIND = int(Kind.SOLDIER)
_SABOTEUR_KIND = int(Kind.SABOTEUR)
_BOAT_KIND = int(Kind.BOAT)
_LIFEBOAT_KIND = int(Kind.LIFEBOAT)
_PLANE_KIND = int(Kind.PLANE)
_FLAG_KIND = int(Kind.FLAG)
_ON_NOTHING = int(Mount.NONE)
_ON_PLANE = int(Mount.PLANE_TIP)
_IN_HOLD = int(Mount.HOLD)
_LAND = int(Place.LAND)
_SEA = int(Place.SEA)
_WIN = int(Result.WIN)
_LOSE = int(Result.LOSE)
_TIE = int(Result.TIE)
_BY_RANK = int(Result.BY_RANK)

_LEGAL = int(Reason.LEGAL)
_NOT_ON_TIP = int(Reason.NOT_ON_TIP)
_NO_TIP_CLAUSE = int(Reason.NO_TIP_CLAUSE)
_CARGO_TARGET = int(Reason.CARGO_TARGET)
_OWN_PIECE = int(Reason.OWN_PIECE)
_NOT_ON_LAND = int(Reason.NOT_ON_LAND)
_NOT_AT_SEA = int(Reason.NOT_AT_SEA)
_NOT_NAMED = int(Reason.NOT_NAMED)
_NO_TIP_SOLDIER = int(Reason.NO_TIP_SOLDIER)
_NO_RESULT = int(Reason.NO_RESULT)
_NOT_BESIDE = int(Reason.NOT_BESIDE)
_NOT_IN_LINE = int(Reason.NOT_IN_LINE)
_LINE_BLOCKED = int(Reason.BLOCKED)

_ATTACKER_WINS = int(Outcome.ATTACKER_WINS)
_DEFENDER_WINS = int(Outcome.DEFENDER_WINS)
_BOTH_DIE = int(Outcome.BOTH_DIE)
_BOTH_STAY = int(Outcome.BOTH_STAY)
_FLAG_TAKEN = int(Outcome.FLAG_TAKEN)
_ILLEGAL = int(Outcome.ILLEGAL)
_TAKE = int(Position.TAKE)
_STAY = int(Position.STAY)
_BESIDE = int(Position.BESIDE)
_LIVES = int(Fate.LIVES)
_DIES = int(Fate.DIES)
_CAPTURED = int(Fate.CAPTURED)
_PART_DIES = int(Part.DIES)
_LEFT = int(Part.LEFT)
_ON_LIFEBOAT = int(Part.ON_LIFEBOAT)
_ON_ATTACKER = int(Part.ON_ATTACKER)
_ON_TIP = int(Part.ON_TIP)

_FO = tuple(np.uint64(0 if n == 0 else 1 << (n - 1)) for n in range(36))
_FA = tuple(np.uint64(0 if n == 0 else 1 << (n - 1)) for n in range(26))
_NOTHING = np.uint64(0)
_FIRST = np.uint64(1)


@kernel
def _is_boat(kind):
    """Whether a piece attacks, and is attacked, as a boat; a lifeboat by itself is one (FA-11)."""
    return kind in (_BOAT_KIND, _LIFEBOAT_KIND)


@kernel
def _permission(kind, mount):
    """Return the clause that lets a piece attack: FO-1, 8, 10, 19, 20, 25, 26 or 32; 0 if there is none."""
    on_tip = mount != _ON_NOTHING
    if mount == _ON_PLANE and kind not in (_SOLDIER_KIND, _SABOTEUR_KIND):
        return 0
    if kind == _SOLDIER_KIND:
        return 8 if on_tip else 1
    if kind == _SABOTEUR_KIND:
        return 32 if on_tip else 26
    if kind == _PLANE_KIND:
        return 25 if on_tip else 20
    return 19 if on_tip else 10


@kernel
def _permission_bit(kind, mount):
    """Return the bit of that clause; a tuple with a place that varies would be copied for every attack."""
    clause = _permission(kind, mount)
    return _NOTHING if clause == 0 else _FIRST << np.uint64(clause - 1)


@kernel
def _test_target(rows, i, options):
    """Return which piece a kind may not attack, and where (FO-1, 8, 10, 19, 20, 25, 26, 32; FA-7 to FA-9)."""
    kind = np.int64(rows[i, _KIND])
    target = np.int64(rows[i, _TARGET + _KIND])
    place = np.int64(rows[i, _TARGET + _PLACE])
    if kind == _SOLDIER_KIND:
        if place != _LAND:
            return _NOT_ON_LAND
        if target == _SABOTEUR_KIND:
            return _LEGAL if options.saboteur_is_soldier else _NOT_NAMED
        return _LEGAL if target in (_SOLDIER_KIND, _PLANE_KIND, _FLAG_KIND) else _NOT_NAMED
    if _is_boat(kind):
        if place != _SEA:
            return _NOT_AT_SEA
        if target == _SABOTEUR_KIND:
            return _LEGAL if options.boat_attacks_saboteur else _NOT_NAMED
        if target == _FLAG_KIND:
            if rows[i, _MOUNT] != _ON_NOTHING:  # FO-19 names no flags
                return _NOT_NAMED
            return _LEGAL if rows[i, _TIP_SOLDIER] else _NO_TIP_SOLDIER
        return _LEGAL if target == _PLANE_KIND or _is_boat(target) else _NOT_NAMED
    if kind == _PLANE_KIND and target == _FLAG_KIND and options.plane_attacks_flag == 0:
        return _NO_RESULT
    return _LEGAL


@kernel
def _test_range(rows, i, options):
    """Return whether the target is out of reach (FO-1, FO-20, FA-4, FA-5)."""
    down, across = abs(np.int64(rows[i, _ROWS])), abs(np.int64(rows[i, _COLUMNS]))
    if rows[i, _KIND] == _PLANE_KIND:
        if down != 0 and across != 0:
            return _NOT_IN_LINE
        return _LINE_BLOCKED if options.plane_line_blocked and rows[i, _BLOCKED] else _LEGAL
    steps = max(down, across) if options.adjacency else down + across
    return _LEGAL if steps == 1 else _NOT_BESIDE


@kernel
def refuse_attack(rows, i, options):
    """Return why an attack is illegal, as a `Reason`; 0 if it is legal.

    Parameters
    ----------
    rows : int8 (N, 24)
    i : int64
    options : Options

    Returns
    -------
    int64
    """
    if rows[i, _MOUNT] == _IN_HOLD:  # FA-10
        return _NOT_ON_TIP
    if _permission(np.int64(rows[i, _KIND]), np.int64(rows[i, _MOUNT])) == 0:
        return _NO_TIP_CLAUSE
    if rows[i, _TARGET + _MOUNT] != _ON_NOTHING:  # FA-23
        return _CARGO_TARGET
    if rows[i, _IS_OWN] and not (rows[i, _TARGET + _KIND] == _FLAG_KIND and options.own_flag_recovery):  # FA-19, FA-21
        return _OWN_PIECE
    reason = _test_target(rows, i, options)
    return reason if reason != _LEGAL else _test_range(rows, i, options)


@kernel
def duel_by_rank(rows, i):
    """Return the `Result` of a row's duel, by the two ranks where it is not given (FO-2, 11, 21, 27; FA-17)."""
    result = np.int64(rows[i, _RESULT])
    if result != _BY_RANK:
        return result
    own, other = np.int64(rows[i, _ATTACKER_RANK]), np.int64(rows[i, _TARGET_RANK])
    if own == other:
        return _TIE
    return _WIN if own > other else _LOSE


@kernel
def _remove(rows, i, base, options, answers, at):
    """Take a dead piece off with what it takes along (FO-3, 6, 7, 12 to 18, 22, 29, 31, 33; FA-6, FA-12).

    Returns
    -------
    clauses, gaps : uint64
    """
    kind = np.int64(rows[i, base + _KIND])
    has_flag, has_lifeboat = rows[i, base + _FLAG] != 0, rows[i, base + _LIFEBOAT] != 0
    clauses, gaps = _NOTHING, _NOTHING
    answers[i, at + _FATE] = _DIES
    if rows[i, base + _MINE]:
        answers[i, at + _FATE_MINE] = _PART_DIES
        clauses |= _FO[6] if kind == _SOLDIER_KIND else _FO[31]
    if has_lifeboat:
        answers[i, at + _FATE_LIFEBOAT] = _LEFT
        clauses |= _FO[18]
    if has_flag:
        if has_lifeboat:
            answers[i, at + _FATE_FLAG] = _ON_LIFEBOAT
            gaps |= _FA[12]
        else:
            answers[i, at + _FATE_FLAG] = _LEFT
            if kind == _SOLDIER_KIND:
                clauses |= _FO[7]
            elif kind == _SABOTEUR_KIND:
                clauses |= _FO[33]
            else:
                clauses |= _FO[15]
    if rows[i, base + _CARGO]:
        is_saved = has_lifeboat and options.lifeboat_saves == 1
        answers[i, at + _FATE_CARGO] = _LEFT if is_saved else _PART_DIES
        if has_lifeboat and not has_flag:
            gaps |= _FA[6]
    if kind == _PLANE_KIND:
        clauses |= _FO[22]
    return clauses, gaps


@kernel
def _defeat_attacker(rows, i, options, answers, is_alone):
    """Remove a beaten attacker; `is_alone`: the target lives and stays where it is (FO-9, 16, 22, 34; FA-14, FA-22)."""
    kind = np.int64(rows[i, _KIND])
    clauses, gaps = _remove(rows, i, _ATTACKER, options, answers, _OUT_ATTACKER)
    if rows[i, _FLAG] and rows[i, _MOUNT] != _ON_NOTHING and not rows[i, _LIFEBOAT]:
        gaps |= _FA[16]
    if _is_boat(kind):
        if not rows[i, _LIFEBOAT] and not rows[i, _FLAG]:
            clauses |= _FO[16]
        if is_alone and rows[i, _LIFEBOAT]:
            gaps |= _FA[14]
    elif is_alone and kind == _SOLDIER_KIND:
        clauses |= _FO[9]
    elif is_alone and kind == _SABOTEUR_KIND:
        clauses |= _FO[34]
    return clauses, gaps


@kernel
def _go_beside(rows, i, answers):
    """Move a plane up to the last square before its target; it stays where that is taken (FO-7, FO-23, FA-2)."""
    down, across = np.int64(rows[i, _ROWS]), np.int64(rows[i, _COLUMNS])
    if rows[i, _BESIDE_TAKEN]:
        answers[i, _OUT_POSITION] = _STAY
        return
    answers[i, _OUT_POSITION] = _BESIDE
    answers[i, _OUT_ROW] = down - np.sign(down)
    answers[i, _OUT_COLUMN] = across - np.sign(across)


@kernel
def _take_square(rows, i, answers):
    answers[i, _OUT_POSITION] = _TAKE
    answers[i, _OUT_ROW] = rows[i, _ROWS]
    answers[i, _OUT_COLUMN] = rows[i, _COLUMNS]


@kernel
def _advance_plane(rows, i, options, answers, leaves_something):
    """Place a plane that has won (FO-7, 23, 24, 33; FA-1, FA-2)."""
    target = np.int64(rows[i, _TARGET + _KIND])
    if leaves_something:
        if options.plane_special_win == 0:
            _go_beside(rows, i, answers)
        else:
            answers[i, _OUT_POSITION] = _STAY
        return _FO[23] if _is_boat(target) else _FO[24]
    if options.plane_win == 0:
        answers[i, _OUT_POSITION] = _STAY
    elif options.plane_win == 1:
        _take_square(rows, i, answers)
    else:
        _go_beside(rows, i, answers)
    return _FO[24]


@kernel
def _advance(rows, i, options, answers):
    """Place an attacker that has won, what is left behind coming first (section 3); returns the clauses."""
    kind = np.int64(rows[i, _KIND])
    target = np.int64(rows[i, _TARGET + _KIND])
    leaves_lifeboat = rows[i, _TARGET + _LIFEBOAT] != 0
    leaves_something = leaves_lifeboat or rows[i, _TARGET + _FLAG] != 0
    is_loaded_plane = target == _PLANE_KIND and rows[i, _TARGET + _CARGO] != 0
    if kind == _PLANE_KIND:
        return _advance_plane(rows, i, options, answers, leaves_something)
    if not leaves_something:
        _take_square(rows, i, answers)
    elif leaves_lifeboat and _is_boat(kind):  # FO-18 says "stays", of the same square
        answers[i, _OUT_POSITION] = _STAY
    else:
        answers[i, _OUT_POSITION] = _BESIDE
    if kind == _SOLDIER_KIND:
        return _FO[3] if is_loaded_plane else _FO[4]
    if kind == _SABOTEUR_KIND:
        if leaves_something and _is_boat(target):
            return _FO[30]
        return _FO[29] if is_loaded_plane else _FO[35]
    if _is_boat(target):
        return _NOTHING if leaves_something else _FO[13] | _FO[17]
    return _FO[12] if is_loaded_plane else _FO[17]


@kernel
def _capture_flag(rows, i, options, answers):
    """Take a lone flag: no duel is fought (FO-5, 14, 28; FA-9)."""
    kind = np.int64(rows[i, _KIND])
    if kind == _PLANE_KIND and options.plane_attacks_flag == 1:
        clauses, gaps = _defeat_attacker(rows, i, options, answers, _IS_ALONE)
        answers[i, _OUT_OUTCOME] = _DEFENDER_WINS
        answers[i, _OUT_TARGET + _FATE] = _LIVES
        return clauses, gaps | _FA[9]
    answers[i, _OUT_OUTCOME] = _FLAG_TAKEN
    answers[i, _OUT_ATTACKER + _FATE] = _LIVES
    answers[i, _OUT_TARGET + _FATE] = _CAPTURED
    answers[i, _OUT_TARGET + _FATE_FLAG] = _ON_TIP if _is_boat(kind) else _ON_ATTACKER
    _take_square(rows, i, answers)
    if kind == _PLANE_KIND:
        return _NOTHING, _FA[9]
    if kind == _SOLDIER_KIND:
        return _FO[5], _NOTHING
    return _FO[28] if kind == _SABOTEUR_KIND else _FO[14], _NOTHING


@kernel
def _win(rows, i, options, answers):
    kind = np.int64(rows[i, _KIND])
    target = np.int64(rows[i, _TARGET + _KIND])
    answers[i, _OUT_OUTCOME] = _ATTACKER_WINS
    answers[i, _OUT_ATTACKER + _FATE] = _LIVES
    clauses, gaps = _remove(rows, i, _TARGET, options, answers, _OUT_TARGET)
    clauses |= _advance(rows, i, options, answers)
    is_plain = not rows[i, _TARGET + _FLAG] and not rows[i, _TARGET + _LIFEBOAT]
    if _is_boat(target) and rows[i, _TARGET + _CARGO] and is_plain and not _is_boat(kind):
        gaps |= _FA[13]
    if target == _LIFEBOAT_KIND:
        gaps |= _FA[11]
    return clauses, gaps


@kernel
def _lose(rows, i, options, answers):
    clauses, gaps = _defeat_attacker(rows, i, options, answers, _IS_ALONE)
    answers[i, _OUT_OUTCOME] = _DEFENDER_WINS
    answers[i, _OUT_TARGET + _FATE] = _LIVES
    return clauses, gaps


@kernel
def _tie_both_die(rows, i, options, answers):
    clauses, gaps = _defeat_attacker(rows, i, options, answers, _IS_NOT_ALONE)
    more, more_gaps = _remove(rows, i, _TARGET, options, answers, _OUT_TARGET)
    answers[i, _OUT_OUTCOME] = _BOTH_DIE
    return clauses | more, gaps | more_gaps


@kernel
def _fight(rows, i, result, options, answers):
    """Apply a duel's result (FO-2, 11, 21, 27; FA-3)."""
    if result != _TIE:
        return _win(rows, i, options, answers) if result == _WIN else _lose(rows, i, options, answers)
    clauses, gaps = _NOTHING, _NOTHING
    if options.tie == 0:
        clauses, gaps = _tie_both_die(rows, i, options, answers)
    elif options.tie == 1:
        clauses, gaps = _win(rows, i, options, answers)
    elif options.tie == 2:
        clauses, gaps = _lose(rows, i, options, answers)
    else:
        answers[i, _OUT_OUTCOME] = _BOTH_STAY
        answers[i, _OUT_POSITION] = _STAY
        answers[i, _OUT_ATTACKER + _FATE] = _LIVES
        answers[i, _OUT_TARGET + _FATE] = _LIVES
    return clauses, gaps | _FA[3]


@kernel
def _refusal_gap(rows, i, reason):
    """Return which gap of the rules an illegal attack falls into."""
    if reason == _NOT_ON_TIP:
        return _FA[10]
    if reason == _NO_RESULT:
        return _FA[9]
    if reason == _NOT_NAMED and rows[i, _TARGET + _KIND] == _SABOTEUR_KIND:
        return _FA[7] if rows[i, _KIND] == _SOLDIER_KIND else _FA[8]
    return _NOTHING


@kernel
def resolve_attack(rows, i, result, options, answers):
    """Resolve one attack.

    Parameters
    ----------
    rows : int8 (N, 24)
        Rows that can exist.
    i : int64
        The one that is resolved.
    result : int64
        `Result` of the duel, one of WIN, LOSE and TIE; of no account where there is none.
    options : Options
    answers : int8 (N, 15)
        Output in row i, by `FateRow`.

    Returns
    -------
    clauses, gaps : uint64
        Bit n - 1 for each clause FO-n that decided, and for each gap FA-n of the text that a default had to fill.
    """
    for field in range(answers.shape[1]):
        answers[i, field] = 0
    kind = np.int64(rows[i, _KIND])
    target = np.int64(rows[i, _TARGET + _KIND])
    reason = refuse_attack(rows, i, options)
    if reason != _LEGAL:
        answers[i, _OUT_REASON] = reason
        answers[i, _OUT_OUTCOME] = _ILLEGAL
        return _permission_bit(kind, np.int64(rows[i, _MOUNT])), _refusal_gap(rows, i, reason)
    if target == _FLAG_KIND:
        clauses, gaps = _capture_flag(rows, i, options, answers)
    else:
        clauses, gaps = _fight(rows, i, result, options, answers)
    if kind == _SOLDIER_KIND and target == _SABOTEUR_KIND:
        gaps |= _FA[7]
    if _is_boat(kind) and target == _SABOTEUR_KIND:
        gaps |= _FA[8]
    if kind == _LIFEBOAT_KIND or (_is_boat(kind) and target == _LIFEBOAT_KIND):
        gaps |= _FA[11]
    return clauses | _permission_bit(kind, np.int64(rows[i, _MOUNT])), gaps
