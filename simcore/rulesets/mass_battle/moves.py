"""How pairs of states move on by one turn in the exact solver, and where a pair of states stays for how long.

Probabilities of pairs of states are planes of one flat array: a plane for each kind, in it a line for each state of
the first army with a number for each state of the second. The kinds are the probability, the same times the losses
of both armies so far; and, where the time matters, times the turns so far, and weighted by the time.

A turn is made in two steps. The states of the second army move on first, and what comes of them is kept apart by
what the first army's move still depends on (its place); then the first army moves. Lines are added up four at a time.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from simcore.core.jit import part
from simcore.rulesets.mass_battle.encoding import RowField
from simcore.rulesets.mass_battle.steps import attack_pool
from simcore.rulesets.mass_battle.turn_rows import HIGH, LOW, START, ones_of, pool_index

__all__ = ["Frame", "kept_ones", "move_line", "new_line", "pool_terms", "pool_with", "solve_block"]

_SUPPORT = int(RowField.SUPPORT)
_POOL_MODEL = int(RowField.POOL_MODEL)
_LEAST_LEFT = 1e-3
"""Least chance to leave a pair of states for which it is divided by."""


class Frame(NamedTuple):
    """What the rows of a battle depend on: whole numbers.

    Attributes
    ----------
    sequential : int64
        1 where the second army answers with what the first has left it.
    dice_kinds : int64
        Numbers of dice left that are told apart, with "nobody" in front; 1 where they are not.
    low_first, low_second : int64
        Smallest pools.
    ones_first, ones_second : int64
        Largest numbers of ones that are told apart.
    every_roll, as_counted : int64
        Rules on ones and on negative rolls.
    """

    sequential: int
    dice_kinds: int
    low_first: int
    low_second: int
    ones_first: int
    ones_second: int
    every_roll: int
    as_counted: int


@part
def pool_terms(rules, plan, side, turn):
    """Return what a side's pool in a turn is made of, apart from the dice of active squads."""
    last = len(plan.modifiers[side]) - 1
    modifier = plan.modifiers[side, min(turn - 1, last)]
    enemy_modifier = plan.modifiers[1 - side, min(turn - 1, last)]
    fixed = plan.pools[side, min(turn - 1, len(plan.pools[side]) - 1)]
    own = rules[_SUPPORT + side] + modifier
    enemy = rules[_SUPPORT + 1 - side] + enemy_modifier
    return own, enemy, fixed, modifier, rules[_POOL_MODEL]


@part
def pool_with(terms, dice, enemy_dice):
    """Pool of an army with so many dice active (-1 = nobody)."""
    return attack_pool(dice + terms[0], max(np.int64(0), enemy_dice) + terms[1], terms[2], terms[3], terms[4])


@part
def kept_ones(frame, index, pool, most_ones):
    """How many numbers of ones are told apart in a roll, if there is one."""
    return np.int64(1) if index == 0 else ones_of(frame.every_roll, frame.as_counted, pool, most_ones)


@part
def new_line(places, kinds, n):
    """Return scratch for `move_line`: a line on its way, the lines between both steps, their places and their reach."""
    return (
        np.zeros(kinds * n),
        np.zeros(places * kinds * n),
        np.zeros(places, dtype=np.int64),
        np.zeros((places, 2), dtype=np.int64),
    )


@part
def _spread(frame, terms, dice_a, left_b, at, span, chance, loss, kinds, first, last, begin, end, scratch):
    """Move the second army on: from states `first` to `last` - 1 of the line to `begin` to `end` - 1.

    Returns the number of places in use.
    """
    line, middle, used, reach = scratch
    n = len(left_b)
    n_used = np.int64(0)
    several = frame.dice_kinds if frame.sequential != 0 else np.int64(1)
    for b in range(first, last):
        p = line[b]
        if p == 0.0:
            continue
        qa = line[n + b]
        qb = line[2 * n + b]
        w = line[3 * n + b] if kinds > 3 else 0.0
        z = line[4 * n + b] if kinds > 4 else 0.0
        dice_b = left_b[b]
        pool_a = pool_with(terms[0], dice_a, dice_b)
        index_a = pool_index(pool_a, dice_a, frame.low_first)
        kept_a = kept_ones(frame, index_a, pool_a, frame.ones_first)
        for g in range(several):
            left = np.int64(g - 1) if frame.sequential != 0 else dice_b
            pool_b = pool_with(terms[1], left, dice_a)
            index_b = pool_index(pool_b, left, frame.low_second)
            kept_b = kept_ones(frame, index_b, pool_b, frame.ones_second)
            for ka in range(kept_a):
                for kb in range(kept_b):
                    row = at[b, index_a, ka, kb, g]
                    low = max(span[row, LOW], begin)
                    high = min(span[row, HIGH], end)
                    if low >= high:
                        continue
                    place = (index_b * (frame.ones_second + 1) + kb) * (frame.ones_first + 1) + ka
                    if reach[place, 1] == 0:
                        used[n_used] = place
                        n_used += 1
                        reach[place, 0] = low
                        reach[place, 1] = high
                    else:
                        reach[place, 0] = min(reach[place, 0], low)
                        reach[place, 1] = max(reach[place, 1], high)
                    start = span[row, START] - span[row, LOW] + low
                    to = place * kinds * n + low
                    _scatter(chance, loss, start, middle, to, n, high - low, kinds, p, qa, qb, w, z)
    return n_used


@part
def _scatter(chance, loss, start, out, to, n, count, kinds, p, qa, qb, w, z):
    """Add a row of the second army, weighted, to the planes of a line that lie `n` apart."""
    # Indices without a sign: such loops become vector code.
    k0 = np.uint64(start)
    t0 = np.uint64(to)
    t1 = np.uint64(to + n)
    t2 = np.uint64(to + 2 * n)
    for k in range(np.uint64(count)):
        c = chance[k0 + k]
        out[t0 + k] += p * c
        out[t1 + k] += qa * c
        out[t2 + k] += qb * c + p * loss[k0 + k]
    if kinds > 3:
        t3 = np.uint64(to + 3 * n)
        for k in range(np.uint64(count)):
            out[t3 + k] += w * chance[k0 + k]
    if kinds > 4:
        t4 = np.uint64(to + 4 * n)
        for k in range(np.uint64(count)):
            out[t4 + k] += z * chance[k0 + k]


@part
def _add_four(out, to, lines, p0, p1, p2, p3, c0, c1, c2, c3, count):
    """Add four weighted lines to another."""
    # Indices without a sign: such loops become vector code.
    t = np.uint64(to)
    q0 = np.uint64(p0)
    q1 = np.uint64(p1)
    q2 = np.uint64(p2)
    q3 = np.uint64(p3)
    for k in range(np.uint64(count)):
        out[t + k] += c0 * lines[q0 + k] + c1 * lines[q1 + k] + c2 * lines[q2 + k] + c3 * lines[q3 + k]


@part
def _entry(values, low, high, start, m):
    """Return what a row holds for state `m`."""
    return values[start + m - low] if low <= m < high else 0.0


@part
def _collect(frame, a, at, span, chance, loss, kinds, n_used, begin, end, target, plane, scratch):
    """Move the first army on from state `a` to `begin` to `end` - 1, and clear the lines in between.

    Returns the multiplications made for each kind.
    """
    _, middle, used, reach = scratch
    n = plane // np.int64(at.shape[0])
    effort = np.int64(0)
    places = (frame.ones_second + 1, frame.ones_first + 1)
    size = kinds * n
    for g in range(0, n_used, 4):
        # Where fewer than four are left the last ones count for nothing.
        last = n_used - 1
        place0 = used[g]
        place1 = used[min(g + 1, last)]
        place2 = used[min(g + 2, last)]
        place3 = used[min(g + 3, last)]
        row0 = _row_at(at, a, place0, places)
        row1 = _row_at(at, a, place1, places)
        row2 = _row_at(at, a, place2, places)
        row3 = _row_at(at, a, place3, places)
        low0, high0, start0 = span[row0, LOW], span[row0, HIGH], span[row0, START]
        low1, high1, start1 = span[row1, LOW], span[row1, HIGH], span[row1, START]
        low2, high2, start2 = span[row2, LOW], span[row2, HIGH], span[row2, START]
        low3, high3, start3 = span[row3, LOW], span[row3, HIGH], span[row3, START]
        if g + 1 > last:
            low1 = high1
        if g + 2 > last:
            low2 = high2
        if g + 3 > last:
            low3 = high3
        left = min(min(reach[place0, 0], reach[place1, 0]), min(reach[place2, 0], reach[place3, 0]))
        right = max(max(reach[place0, 1], reach[place1, 1]), max(reach[place2, 1], reach[place3, 1]))
        count = right - left
        from0 = place0 * size + left
        from1 = place1 * size + left
        from2 = place2 * size + left
        from3 = place3 * size + left
        low = max(begin, min(min(low0, low1), min(low2, low3)))
        high = min(end, max(max(high0, high1), max(high2, high3)))
        for m in range(low, high):
            c0 = _entry(chance, low0, high0, start0, m)
            c1 = _entry(chance, low1, high1, start1, m)
            c2 = _entry(chance, low2, high2, start2, m)
            c3 = _entry(chance, low3, high3, start3, m)
            if c0 + c1 + c2 + c3 == 0.0:
                continue
            effort += 4 * count
            to = m * n + left
            for k in range(kinds):
                _add_four(
                    target, to + k * plane, middle, from0 + k * n, from1 + k * n, from2 + k * n, from3 + k * n,
                    c0, c1, c2, c3, count,
                )  # fmt: skip
            c0 = _entry(loss, low0, high0, start0, m)
            c1 = _entry(loss, low1, high1, start1, m)
            c2 = _entry(loss, low2, high2, start2, m)
            c3 = _entry(loss, low3, high3, start3, m)
            if c0 + c1 + c2 + c3 != 0.0:
                _add_four(target, to + plane, middle, from0, from1, from2, from3, c0, c1, c2, c3, count)
    for g in range(n_used):
        place = used[g]
        for k in range(kinds):
            base = place * size + k * n
            for j in range(reach[place, 0], reach[place, 1]):
                middle[base + j] = 0.0
        reach[place, 0] = 0
        reach[place, 1] = 0
    return effort


@part
def _row_at(at, a, place, places):
    """Return the first army's row for a place."""
    ones_second, ones_first = places
    ka = place % ones_first
    kb = place // ones_first % ones_second
    index_b = place // ones_first // ones_second
    return at[a, index_b, kb, ka, 0]


@part
def move_line(frame, terms, lefts, own, enemy, a, kinds, sources, targets, target, plane, scratch):
    """Move on the pairs of state `a` that the scratch line holds, by one turn.

    Parameters
    ----------
    frame : Frame
    terms : tuple
        `pool_terms` of both armies.
    lefts : tuple of int64 arrays
        Dice of both armies' states, -1 where nobody is active.
    own, enemy : tuple of arrays
        Both armies' rows: `at`, `span`, `chance`, `loss`.
    a, kinds : int64
    sources : tuple of int64
        First and past-the-last state of the second army to move.
    targets : tuple of int64
        Window that is wanted: first and past-the-last state of the first army, and of the second.
    target : float64 (kinds * plane,)
        What comes of it is added here.
    plane : int64
    scratch : tuple
        Of `new_line`.

    Returns
    -------
    int64
        Multiplications made for each kind.
    """
    n_used = _spread(
        frame, terms, lefts[0][a], lefts[1], enemy[0], enemy[1], enemy[2], enemy[3], kinds, sources[0], sources[1],
        targets[2], targets[3], scratch,
    )  # fmt: skip
    if n_used == 0:
        return np.int64(0)
    return _collect(
        frame, a, own[0], own[1], own[2], own[3], kinds, n_used, targets[0], targets[1], target, plane, scratch
    )


@part
def _fill_block(frame, terms, lefts, own, enemy, span, matrix):
    """Fill a matrix with the chances to get from one pair of states of a block to another."""
    a_first, a_last, b_first, b_last = span
    left_a, left_b = lefts
    at_a, span_a, chance_a, _ = own
    at_b, span_b, chance_b, _ = enemy
    width = b_last - b_first
    n = (a_last - a_first) * width
    several = frame.dice_kinds if frame.sequential != 0 else np.int64(1)
    for k in range(n * n):
        matrix[k] = 0.0
    line = np.int64(0)
    for a in range(a_first, a_last):
        dice_a = left_a[a]
        for b in range(b_first, b_last):
            dice_b = left_b[b]
            pool_a = pool_with(terms[0], dice_a, dice_b)
            index_a = pool_index(pool_a, dice_a, frame.low_first)
            kept_a = kept_ones(frame, index_a, pool_a, frame.ones_first)
            for g in range(several):
                left = np.int64(g - 1) if frame.sequential != 0 else dice_b
                pool_b = pool_with(terms[1], left, dice_a)
                index_b = pool_index(pool_b, left, frame.low_second)
                kept_b = kept_ones(frame, index_b, pool_b, frame.ones_second)
                for ka in range(kept_a):
                    for kb in range(kept_b):
                        row_b = at_b[b, index_a, ka, kb, g]
                        low_b = max(span_b[row_b, LOW], b_first)
                        high_b = min(span_b[row_b, HIGH], b_last)
                        row_a = at_a[a, index_b, kb, ka, 0]
                        low_a = max(span_a[row_a, LOW], a_first)
                        high_a = min(span_a[row_a, HIGH], a_last)
                        if low_b >= high_b or low_a >= high_a:
                            continue
                        shift_a = span_a[row_a, START] - span_a[row_a, LOW]
                        shift_b = span_b[row_b, START] - span_b[row_b, LOW]
                        for m in range(low_a, high_a):
                            c = chance_a[shift_a + m]
                            if c == 0.0:
                                continue
                            to = line + (m - a_first) * width - b_first
                            for k in range(low_b, high_b):
                                matrix[to + k] += c * chance_b[shift_b + k]
            line += n


@part
def _factor(matrix, n):
    """Take the pairs of a block out one after the other, each with the time that is spent in it; whether all leave.

    Above the diagonal stands then where a pair that has left leads to among those that are still there, below it how
    it is reached from them, on it how often it is passed. Nothing is ever subtracted but the chance to stay.
    """
    for k in range(n):
        base = k * n
        leaves = 1.0 - matrix[base + k]
        if not leaves > _LEAST_LEFT:
            return False
        passed = 1.0 / leaves
        matrix[base + k] = passed
        leads = False
        for j in range(k + 1, n):
            if matrix[base + j] != 0.0:
                matrix[base + j] *= passed
                leads = True
        if not leads:
            continue
        count = np.uint64(n - k - 1)
        u = np.uint64(base + k + 1)
        for i in range(k + 1, n):
            f = matrix[i * n + k]
            if f != 0.0:
                t = np.uint64(i * n + k + 1)
                for j in range(count):
                    matrix[t + j] += f * matrix[u + j]
    return True


@part
def _solve(matrix, n, line, start):
    """Turn what enters the pairs of a block into the time spent in them; `_factor` has filled the matrix."""
    for k in range(n):
        f = line[start + k]
        if f != 0.0:
            t = np.uint64(start + k + 1)
            u = np.uint64(k * n + k + 1)
            for j in range(np.uint64(n - k - 1)):
                line[t + j] += f * matrix[u + j]
    for k in range(n - 1, -1, -1):
        x = line[start + k]
        if x != 0.0:
            x *= matrix[k * n + k]
            line[start + k] = x
            t = np.uint64(start)
            u = np.uint64(k * n)
            for j in range(np.uint64(k)):
                line[t + j] += x * matrix[u + j]


@part
def solve_block(frame, terms, lefts, own, enemy, span, kinds, stretch, flow, spent, plane, matrix, lines):
    """Find the time spent in each pair of states of a small block, given what flows into it; whether it is left soon.

    Parameters
    ----------
    frame, terms, lefts, own, enemy
        As of `move_line`.
    span : tuple of int64
        First and past-the-last state of either army in the block.
    kinds : int64
    stretch : float64
        Weight of each further turn in the last kind.
    flow, spent : float64 (kinds * plane,)
        `spent` is filled in the block.
    plane : int64
    matrix, lines : float64
        Scratch: the square of the pairs of a block, and `kinds` times them.
    """
    a_first, a_last, b_first, b_last = span
    n_b = len(lefts[1])
    n = (a_last - a_first) * (b_last - b_first)
    _fill_block(frame, terms, lefts, own, enemy, span, matrix)
    for k in range(kinds):
        i = k * n
        for a in range(a_first, a_last):
            for b in range(b_first, b_last):
                lines[i] = flow[k * plane + a * n_b + b]
                i += 1
    if kinds > 4:
        for k in range(n * n):
            matrix[n * n + k] = stretch * matrix[k]
    if not _factor(matrix, n):
        return False
    for k in range(n):
        # Each turn spent here is one turn more for what goes on.
        lines[3 * n + k] -= lines[k]
    for k in range(3):
        _solve(matrix, n, lines, k * n)
    for k in range(n):
        lines[3 * n + k] += lines[k]
    _solve(matrix, n, lines, 3 * n)
    if kinds > 4:
        if not _factor(matrix[n * n :], n):
            return False
        _solve(matrix[n * n :], n, lines, 4 * n)
    for k in range(kinds):
        i = k * n
        for a in range(a_first, a_last):
            for b in range(b_first, b_last):
                spent[k * plane + a * n_b + b] = lines[i]
                i += 1
    return True
