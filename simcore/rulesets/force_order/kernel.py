"""Attacks row by row, and attacks between two mixes: who is met, who wins, what is counted.

Draws have the addresses (cycle 1, step, side 0, group 0): step 0 gives two words, which of the attacker's pieces
attacks and which of the defender's is attacked; step 1 gives the word of the duel.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from simcore.core.jit import borrowed, kernel
from simcore.core.lane import swing_bin
from simcore.core.rng import draw_tag, philox4x32
from simcore.enums import Status
from simcore.rulesets.force_order.encoding import Accumulator
from simcore.rulesets.force_order.layout import (
    TARGET,
    Fate,
    FateField,
    FateRow,
    Outcome,
    Part,
    PieceField,
    Result,
    RowField,
)
from simcore.rulesets.force_order.steps import Options, duel_by_rank, resolve_attack

__all__ = ["CHUNK", "Meetings", "attack_all_rows", "draw_meeting", "meet", "resolve_all", "solve_attacks"]

CHUNK = 16_384
"""Rows that are resolved together."""

_OK = int(Status.OK)
_N_FIELDS = len(PieceField)
_TARGET = TARGET
_SCENE = int(RowField.ROWS)
_N_SCENE = int(RowField.BESIDE_TAKEN) - int(RowField.ROWS) + 1
_N_ROW = int(RowField.TARGET_RANK) + 1
_N_ANSWER = int(FateRow.TARGET) + len(FateField)
_OUTCOME = int(FateRow.OUTCOME)
_FATES = (int(FateRow.ATTACKER), int(FateRow.TARGET))
_FATE = int(FateField.FATE)
_FATE_FLAG = int(FateField.FLAG)
_FATE_CARGO = int(FateField.CARGO)
_FATE_MINE = int(FateField.MINE)
_DIES = int(Fate.DIES)
_PART_DIES = int(Part.DIES)
_LEFT = int(Part.LEFT)
_ON_LIFEBOAT = int(Part.ON_LIFEBOAT)
_FLAG_TAKEN = int(Outcome.FLAG_TAKEN)
_WIN = int(Result.WIN)
_LOSE = int(Result.LOSE)
_TIE = int(Result.TIE)
_BY_RANK = int(Result.BY_RANK)
_32 = np.uint64(32)
_2 = np.uint64(2)
_LOW = np.uint64(0xFFFFFFFF)

_BATTLES = int(Accumulator.BATTLES)
_OUTCOMES = int(Accumulator.OUTCOMES)
_CYCLES = int(Accumulator.CYCLES)
_COST_LOST = int(Accumulator.COST_LOST)
_SWING = int(Accumulator.SWING)
_PIECES = int(Accumulator.PIECES)
_DROPPED = int(Accumulator.DROPPED)
_TAKEN = int(Accumulator.TAKEN)
_SURVIVORS = int(Accumulator.SURVIVORS)
_N_OUTCOMES = len(Outcome)


class Meetings(NamedTuple):
    """Attacks kept one by one. B attacks.

    Attributes
    ----------
    outcome : int8 (B,)
    cycles : int32 (B,)
    survivors : int16 (B, S, T)
    cost_lost : int32 (B, S)
    """

    outcome: Any
    cycles: Any
    survivors: Any
    cost_lost: Any


@kernel
def _attack_chunk(chunk, lent_rows, options, lent_answers, clauses, gaps, status):
    """Resolve one chunk of rows."""
    rows, answers = borrowed(lent_rows), borrowed(lent_answers)
    for i in range(chunk * CHUNK, min(len(rows), (chunk + 1) * CHUNK)):
        clauses[i], gaps[i] = resolve_attack(rows, i, duel_by_rank(rows, i), options, answers)
    status[chunk] = _OK


@kernel
def attack_all_rows(rows, options, answers, clauses, gaps, status):
    """Resolve all rows one chunk after the other.

    Parameters
    ----------
    rows : int8 (N, 24)
    options : Options
    answers : int8 (N, 15)
        Output by `FateRow`.
    clauses, gaps : uint64 (N,)
        Output, as of `steps.resolve_attack`.
    status : uint8 (chunks,)
        Output.
    """
    for chunk in range(len(status)):
        _attack_chunk(np.int64(chunk), rows, options, answers, clauses, gaps, status)


@kernel
def _words(battle, step, key):
    """Return two draws of a battle, int64 below `SCALE`."""
    c0, c1, c2, c3 = philox4x32(np.uint64(0), draw_tag(1, step, 0, 0), battle & _LOW, battle >> _32, key[0], key[1])
    return np.int64((c0 | (c1 << _32)) >> _2), np.int64((c2 | (c3 << _32)) >> _2)


@kernel
def _pick(word, limits, number):
    """Return the first entry whose limit the word does not reach."""
    for i in range(number - 1):
        if word < limits[i]:
            return i
    return number - 1


@kernel
def draw_meeting(mixes, m, battle, key):
    """Draw which pieces meet and how their duel ends (FO-2, 11, 21, 27; FA-17).

    Parameters
    ----------
    mixes : Mixes
    m : int64
        Row.
    battle : uint64
    key : uint64 (2,)

    Returns
    -------
    attacker, target, result : int64
        States of the two sides, and a `Result`.
    """
    first, second = _words(battle, 0, key)
    attacker = _pick(first, mixes.limits[m, 0], mixes.numbers[m, 0])
    target = _pick(second, mixes.limits[m, 1], mixes.numbers[m, 1])
    result = mixes.given[m]
    if result == _BY_RANK:
        bounds = mixes.bounds[mixes.order[m], mixes.units[m, 0, attacker], mixes.units[m, 1, target]]
        word, _ = _words(battle, 1, key)
        result = _WIN if word < bounds[0] else _LOSE if word < bounds[1] else _TIE
    return attacker, target, result


@kernel
def meet(mixes, m, attacker, target, result, row, answer):
    """Resolve the attack of one state on another.

    Parameters
    ----------
    mixes : Mixes
    m, attacker, target, result : int64
    row : int8 (1, 24)
        Scratch.
    answer : int8 (1, 15)
        Output by `FateRow`.

    Returns
    -------
    clauses, gaps : uint64
    """
    for field in range(_N_FIELDS):
        row[0, field] = mixes.pieces[m, 0, attacker, field]
        row[0, _TARGET + field] = mixes.pieces[m, 1, target, field]
    for field in range(_N_SCENE):
        row[0, _SCENE + field] = mixes.scenes[m, field]
    o = mixes.options[m]
    options = Options(o[0], o[1], o[2], o[3], o[4], o[5], o[6], o[7], o[8], o[9])
    return resolve_attack(row, 0, result, options, answer)


@kernel
def _losses(mixes, m, side, state, answer):
    """Return cost and number of the pieces that a side has lost, with all they held."""
    at = _FATES[side]
    if answer[0, at + _FATE] != _DIES:
        return np.int64(0), np.int64(0)
    costs, loads = mixes.costs[m, side, state], mixes.loads[m, side, state]
    cost, pieces = costs[0], np.int64(1)
    if answer[0, at + _FATE_MINE] == _PART_DIES:
        cost += costs[1]
        pieces += 1
    if answer[0, at + _FATE_CARGO] == _PART_DIES:
        cost += costs[2]
        pieces += loads[1]
    return cost, pieces


@kernel
def _count(mixes, m, attacker, target, answer, mine, weight, tally):
    """Add one attack to a tally, `weight` times: 1 for one that was drawn, its probability in the exact sums.

    Returns its swing.
    """
    outcome = np.int64(answer[0, _OUTCOME])
    n_units = mixes.starts.shape[2]
    own, own_pieces = _losses(mixes, m, 0, attacker, answer)
    other, other_pieces = _losses(mixes, m, 1, target, answer)
    tally[_BATTLES] += weight
    tally[_OUTCOMES + outcome] += weight
    tally[_CYCLES] += weight
    tally[_CYCLES + 1] += weight
    tally[_COST_LOST] += weight * own
    tally[_COST_LOST + 1] += weight * own * own
    tally[_COST_LOST + 2] += weight * other
    tally[_COST_LOST + 3] += weight * other * other
    tally[_SWING] += weight * (other - own)
    tally[_SWING + 1] += weight * (other - own) * (other - own)
    tally[_PIECES] += weight * own_pieces
    tally[_PIECES + 1] += weight * other_pieces
    if outcome == _FLAG_TAKEN:
        tally[_TAKEN] += weight
    for side in range(2):
        state = attacker if side == 0 else target
        at = _FATES[side]
        if answer[0, at + _FATE] == _DIES:
            if answer[0, at + _FATE_FLAG] in (_LEFT, _ON_LIFEBOAT):
                tally[_DROPPED + side] += weight
            # Units are counted down here from what `_add_starts` adds for all battles together.
            column = _SURVIVORS + (outcome * 2 + side) * n_units
            tally[column + mixes.units[m, side, state]] -= weight
            if answer[0, at + _FATE_MINE] == _PART_DIES and mixes.loads[m, side, state, 0]:
                tally[column + mine] -= weight
    return other - own


@kernel
def _add_starts(mixes, m, tally):
    """Add the units at the start to the survivors of every outcome."""
    n_units = mixes.starts.shape[2]
    for outcome in range(_N_OUTCOMES):
        for side in range(2):
            column = _SURVIVORS + (outcome * 2 + side) * n_units
            for unit in range(n_units):
                tally[column + unit] += tally[_OUTCOMES + outcome] * mixes.starts[m, side, unit]


@kernel
def _keep(mixes, m, attacker, target, answer, mine, meetings, at):
    """Write one attack down."""
    meetings.outcome[at] = answer[0, _OUTCOME]
    meetings.cycles[at] = 1
    for side in range(2):
        state = attacker if side == 0 else target
        for unit in range(mixes.starts.shape[2]):
            meetings.survivors[at, side, unit] = mixes.starts[m, side, unit]
        cost, _ = _losses(mixes, m, side, state, answer)
        meetings.cost_lost[at, side] = cost
        if answer[0, _FATES[side] + _FATE] == _DIES:
            meetings.survivors[at, side, mixes.units[m, side, state]] -= 1
            if answer[0, _FATES[side] + _FATE_MINE] == _PART_DIES and mixes.loads[m, side, state, 0]:
                meetings.survivors[at, side, mine] -= 1


@kernel
def resolve_chunk(s, segments, mixes, mine, keys, tallies, status, where, meetings):
    """Resolve one run of attacks.

    Parameters
    ----------
    s : int64
        Which run.
    segments : int64 (N, 3)
        Row, first battle, number of battles.
    mixes : Mixes
    mine : int64
        Place of the mine on axis T.
    keys : uint64 (M, 2)
    tallies : int64 (N, K + BINS)
        Output: accumulators, and counts of swings behind them.
    status : uint8 (N,)
    where : int64 (N,)
    meetings : Meetings or None
        Output, one entry for each battle of the run.
    """
    m, first, count = segments[s, 0], segments[s, 1], segments[s, 2]
    row, answer = np.zeros((1, _N_ROW), np.int8), np.zeros((1, _N_ANSWER), np.int8)
    tally = tallies[s]
    width, zero = mixes.bins[m, 0], mixes.bins[m, 1]
    for i in range(count):
        attacker, target, result = draw_meeting(mixes, m, np.uint64(first + i), keys[m])
        meet(mixes, m, attacker, target, result, row, answer)
        swing = _count(mixes, m, attacker, target, answer, mine, 1, tally)
        tally[zero + swing_bin(swing, width)] += 1
        if meetings is not None:
            _keep(mixes, m, attacker, target, answer, mine, meetings, i)
    _add_starts(mixes, m, tally)
    status[s] = _OK
    where[s] = first


@kernel
def resolve_all(segments, mixes, mine, keys, tallies, status, where, meetings):
    """Resolve all runs one after the other; arguments as in `resolve_chunk`."""
    for s in range(len(segments)):
        resolve_chunk(np.int64(s), segments, mixes, mine, keys, tallies, status, where, meetings)


@kernel
def _chances(mixes, m, attacker, target, out):
    """Fill `out` with the probabilities of a win, a loss and a tie."""
    given = mixes.given[m]
    for i in range(3):
        out[i] = 0.0
    if given != _BY_RANK:
        out[given - _WIN] = 1.0
        return
    order = mixes.order[m]
    for i in range(3):
        out[i] = mixes.chances[order, mixes.units[m, 0, attacker], mixes.units[m, 1, target], i]


@kernel
def solve_attacks(mixes, m, mine, tally, swing, chance, meetings):
    """Go through all attacks between two mixes with their probabilities.

    Parameters
    ----------
    mixes : Mixes
    m, mine : int64
    tally : float64 (K,)
        Output: expected accumulators of one attack.
    swing : int64 (3 A B,)
        Output for A and B states: what each way to end means; entries behind the returned number are not used.
    chance : float64 (3 A B,)
        Output: its probability.
    meetings : Meetings or None
        Output: each of them.

    Returns
    -------
    int64
        Ways to end with a probability above 0.
    """
    row, answer, odds = np.zeros((1, _N_ROW), np.int8), np.zeros((1, _N_ANSWER), np.int8), np.zeros(3)
    totals = np.zeros(2)
    for side in range(2):
        for state in range(mixes.numbers[m, side]):
            totals[side] += mixes.weights[m, side, state]
    n = 0
    for attacker in range(mixes.numbers[m, 0]):
        for target in range(mixes.numbers[m, 1]):
            _chances(mixes, m, attacker, target, odds)
            pair = mixes.weights[m, 0, attacker] / totals[0] * (mixes.weights[m, 1, target] / totals[1])
            for result in range(_WIN, _TIE + 1):
                share = pair * odds[result - _WIN]
                if share == 0.0:
                    continue
                meet(mixes, m, attacker, target, result, row, answer)
                swing[n] = _count(mixes, m, attacker, target, answer, mine, share, tally)
                chance[n] = share
                if meetings is not None:
                    _keep(mixes, m, attacker, target, answer, mine, meetings, n)
                n += 1
    _add_starts(mixes, m, tally)
    return n
