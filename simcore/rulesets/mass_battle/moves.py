"""How pairs of states move on by one turn in the exact solver, and where a pair of states stays for how long.

Four numbers belong to a pair of states, side by side in a flat array: its probability, and the same times the losses
of the first and of the second army and the turns so far. A line is what belongs to one state of the first army, with
every state of the second.

A turn is made in two steps. The states of the second army move on first, and what comes of them is kept apart by
what the first army's move still depends on (its place); then the first army moves. Lines are added up four at a time.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from simcore.core.jit import leaf, part
from simcore.rulesets.mass_battle.encoding import RowField
from simcore.rulesets.mass_battle.steps import attack_pool
from simcore.rulesets.mass_battle.turn_rows import HIGH, LOW, START, ones_of, pool_index

__all__ = [
    "KINDS",
    "Elimination",
    "Frame",
    "Scratch",
    "bound_of",
    "kept_ones",
    "move_line",
    "new_elimination",
    "new_scratch",
    "outlast_limit",
    "pool_terms",
    "pool_with",
    "settle_owed",
    "solve_block",
    "spend_block",
    "take_out",
]

_SUPPORT = int(RowField.SUPPORT)
_POOL_MODEL = int(RowField.POOL_MODEL)
KINDS = 4
"""Numbers of a pair of states."""
_LEAST_LEFT = 1e-3
"""Least chance to leave a pair of states for which it is divided by."""
_ENOUGH = 100_000
"""Turns after which it does not matter how many more there are."""
_ONE, _TWO, _THREE, _FOUR = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)


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

    sequential: Any
    dice_kinds: Any
    low_first: Any
    low_second: Any
    ones_first: Any
    ones_second: Any
    every_roll: Any
    as_counted: Any


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


class Scratch(NamedTuple):
    """Room for `move_line`. N states of the second army.

    Attributes
    ----------
    line : float64 (4 N,)
        The line to be moved; all of it must have four numbers, 0 where there is nothing.
    planes : float64 (places, 4, N)
        Lines between both steps, each kind of number by itself.
    middle : float64 (places, 4 N)
        The same, side by side, as far as it is in use.
    used : int64 (places,)
        Places in use.
    reach : int64 (places, 2)
        First and past-the-last state of each; both 0 where it is not in use.
    mass : float64 (places,)
        Probability in each.
    """

    line: Any
    planes: Any
    middle: Any
    used: Any
    reach: Any
    mass: Any


@part
def new_scratch(places, n):
    """Return room for `move_line`."""
    return Scratch(
        line=np.zeros(KINDS * n),
        planes=np.zeros(places * KINDS * n),
        middle=np.zeros(places * KINDS * n),
        used=np.zeros(places, dtype=np.int64),
        reach=np.zeros((places, 2), dtype=np.int64),
        mass=np.zeros(places),
    )


@leaf
def _spread(frame, terms, dice_a, left_b, at, span, chance, loss, first, last, begin, end, scratch):
    """Move the second army on: from states `first` to `last` - 1 of the line to `begin` to `end` - 1.

    Returns the number of places in use.
    """
    line, planes, used, reach, mass = scratch.line, scratch.planes, scratch.used, scratch.reach, scratch.mass
    n = len(left_b)
    n_used = np.int64(0)
    several = frame.dice_kinds if frame.sequential != 0 else np.int64(1)
    for b in range(first, last):
        p = line[KINDS * b]
        if p == 0.0:
            continue
        qa = line[KINDS * b + 1]
        qb = line[KINDS * b + 2]
        w = line[KINDS * b + 3]
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
                        mass[place] = p
                    else:
                        reach[place, 0] = min(reach[place, 0], low)
                        reach[place, 1] = max(reach[place, 1], high)
                        mass[place] += p
                    # Indices without a sign: such loops become vector code.
                    s = np.uint64(span[row, START] - span[row, LOW] + low)
                    t0 = np.uint64(KINDS * n * place + low)
                    t1 = np.uint64(KINDS * n * place + n + low)
                    t2 = np.uint64(KINDS * n * place + 2 * n + low)
                    t3 = np.uint64(KINDS * n * place + 3 * n + low)
                    count = np.uint64(high - low)
                    for k in range(count):
                        planes[t0 + k] += p * chance[s + k]
                        planes[t1 + k] += qa * chance[s + k]
                    for k in range(count):
                        planes[t2 + k] += qb * chance[s + k] + p * loss[s + k]
                        planes[t3 + k] += w * chance[s + k]
    return n_used


@leaf
def _put_together(place, low, high, n, planes, middle):
    """Put the kinds of numbers of a line between both steps side by side, from state `low` to `high` - 1."""
    base = KINDS * n * place
    s0 = np.uint64(base + low)
    s1 = np.uint64(base + n + low)
    s2 = np.uint64(base + 2 * n + low)
    s3 = np.uint64(base + 3 * n + low)
    t = np.uint64(base + KINDS * low)
    for k in range(np.uint64(high - low)):
        to = t + _FOUR * k
        middle[to] = planes[s0 + k]
        middle[to + _ONE] = planes[s1 + k]
        middle[to + _TWO] = planes[s2 + k]
        middle[to + _THREE] = planes[s3 + k]


@leaf
def _clear(n_used, n, planes, used, reach):
    """Clear the lines between both steps."""
    for g in range(n_used):
        place = used[g]
        count = np.uint64(reach[place, 1] - reach[place, 0])
        for k in range(KINDS):
            t = np.uint64((KINDS * place + k) * n + reach[place, 0])
            for j in range(count):
                planes[t + j] = 0.0
        reach[place, 0] = 0
        reach[place, 1] = 0


@leaf
def _collect(frame, a, at, span, chance, loss, n_used, begin, end, target, owed, n, least, scratch):
    """Move the first army on from state `a` to `begin` to `end` - 1.

    Lines are added up four at a time. Returns the multiplications made of each kind.
    """
    planes, middle, used, reach, mass = scratch.planes, scratch.middle, scratch.used, scratch.reach, scratch.mass
    effort = np.int64(0)
    by_a = frame.ones_first + 1
    by_b = frame.ones_second + 1
    size = KINDS * n
    for g in range(0, n_used, 4):
        # Where fewer than four are left the last ones count for nothing.
        last = n_used - 1
        place0 = used[g]
        place1 = used[min(g + 1, last)]
        place2 = used[min(g + 2, last)]
        place3 = used[min(g + 3, last)]
        row0 = at[a, place0 // by_a // by_b, place0 // by_a % by_b, place0 % by_a, 0]
        row1 = at[a, place1 // by_a // by_b, place1 // by_a % by_b, place1 % by_a, 0]
        row2 = at[a, place2 // by_a // by_b, place2 // by_a % by_b, place2 % by_a, 0]
        row3 = at[a, place3 // by_a // by_b, place3 // by_a % by_b, place3 % by_a, 0]
        low0, high0 = span[row0, LOW], span[row0, HIGH]
        low1, high1 = span[row1, LOW], span[row1, HIGH] if g + 1 <= last else np.int64(0)
        low2, high2 = span[row2, LOW], span[row2, HIGH] if g + 2 <= last else np.int64(0)
        low3, high3 = span[row3, LOW], span[row3, HIGH] if g + 3 <= last else np.int64(0)
        mass0, mass1, mass2, mass3 = mass[place0], mass[place1], mass[place2], mass[place3]
        left = min(reach[place0, 0], reach[place1, 0], reach[place2, 0], reach[place3, 0])
        right = max(reach[place0, 1], reach[place1, 1], reach[place2, 1], reach[place3, 1])
        _put_together(place0, left, right, n, planes, middle)
        for i in range(g + 1, min(g + 4, n_used)):
            _put_together(used[i], left, right, n, planes, middle)
        # Indices without a sign: such loops become vector code.
        width = np.uint64(right - left)
        count = np.uint64(KINDS * (right - left))
        x0 = np.uint64(size * place0 + KINDS * left)
        x1 = np.uint64(size * place1 + KINDS * left)
        x2 = np.uint64(size * place2 + KINDS * left)
        x3 = np.uint64(size * place3 + KINDS * left)
        y0 = np.uint64(size * place0 + left)
        y1 = np.uint64(size * place1 + left)
        y2 = np.uint64(size * place2 + left)
        y3 = np.uint64(size * place3 + left)
        shift0 = np.uint64(span[row0, START])
        shift1 = np.uint64(span[row1, START])
        shift2 = np.uint64(span[row2, START])
        shift3 = np.uint64(span[row3, START])
        length0 = np.uint64(max(high0 - low0, np.int64(0)))
        length1 = np.uint64(max(high1 - low1, np.int64(0)))
        length2 = np.uint64(max(high2 - low2, np.int64(0)))
        length3 = np.uint64(max(high3 - low3, np.int64(0)))
        low = max(begin, min(low0, low1, low2, low3))
        high = min(end, max(high0, high1, high2, high3))
        for m in range(low, high):
            # Below the first state the difference is a huge number.
            i0 = np.uint64(m - low0)
            i1 = np.uint64(m - low1)
            i2 = np.uint64(m - low2)
            i3 = np.uint64(m - low3)
            c0 = chance[shift0 + i0] if i0 < length0 else 0.0
            c1 = chance[shift1 + i1] if i1 < length1 else 0.0
            c2 = chance[shift2 + i2] if i2 < length2 else 0.0
            c3 = chance[shift3 + i3] if i3 < length3 else 0.0
            if c0 * mass0 + c1 * mass1 + c2 * mass2 + c3 * mass3 <= least:
                continue
            effort += right - left
            t = np.uint64(KINDS * (m * n + left))
            for k in range(count):
                target[t + k] += c0 * middle[x0 + k] + c1 * middle[x1 + k] + c2 * middle[x2 + k] + c3 * middle[x3 + k]
            if len(owed) == 0:
                continue
            c0 = loss[shift0 + i0] if i0 < length0 else 0.0
            c1 = loss[shift1 + i1] if i1 < length1 else 0.0
            c2 = loss[shift2 + i2] if i2 < length2 else 0.0
            c3 = loss[shift3 + i3] if i3 < length3 else 0.0
            if c0 + c1 + c2 + c3 == 0.0:
                continue
            t = np.uint64(m * n + left)
            for k in range(width):
                owed[t + k] += c0 * planes[y0 + k] + c1 * planes[y1 + k] + c2 * planes[y2 + k] + c3 * planes[y3 + k]
    return 4 * effort


@leaf
def settle_owed(target, owed, n, a, first, last):
    """Add the losses of the first army that `move_line` has kept apart for states `first` to `last` - 1 of a line."""
    for j in range(a * n + first, a * n + last):
        target[KINDS * j + 1] += owed[j]
        owed[j] = 0.0


@part
def move_line(frame, terms, lefts, own, enemy, a, sources, targets, target, owed, least, scratch):
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
    a : int64
    sources : tuple of int64
        First and past-the-last state of the second army to move.
    targets : tuple of int64
        Window that is wanted: first and past-the-last state of the first army, and of the second.
    target : float64 (lines)
        What comes of it is added here.
    owed : float64 (a number for each pair)
        But for the losses of the first army in this turn, which are added here, ready for `settle_owed`; without an
        entry where there are none to be reckoned with.
    least : float64
        Steps of the first army that bring less probability are left out.
    scratch : Scratch

    Returns
    -------
    int64
        Multiplications made of each kind.
    """
    n = len(lefts[1])
    n_used = _spread(
        frame, terms, lefts[0][a], lefts[1], enemy[0], enemy[1], enemy[2], enemy[3], sources[0], sources[1],
        targets[2], targets[3], scratch,
    )  # fmt: skip
    if n_used == 0:
        return np.int64(0)
    effort = _collect(
        frame, a, own[0], own[1], own[2], own[3], n_used, targets[0], targets[1], target, owed, n, least, scratch
    )
    _clear(n_used, n, scratch.planes, scratch.used, scratch.reach)
    return effort


@leaf
def _weigh_rows(span, chance, worth, weighed):
    """Fill `weighed` with the mean worth of the states that a row leads to."""
    for row in range(len(span)):
        low = span[row, LOW]
        total = 0.0
        for k in range(span[row, HIGH] - low):
            total += chance[span[row, START] + k] * worth[low + k]
        weighed[row] = total


@part
def outlast_limit(frame, terms, lefts, own, enemy, worths, start, limit):
    """Return a bound of the probability that a battle goes on after a limit of turns.

    A pair of states has a worth, the product of those of both states, that is larger the longer it may take the
    armies to fight it out. If a turn leaves of it, on average over what goes on, at most a share of r, then the worth
    of what still goes on after n turns is at most r**n times that of the start.

    Parameters
    ----------
    frame, terms, lefts, own, enemy
        As of `move_line`.
    worths : tuple of float64 arrays
        Of both armies' states: any numbers above 0.
    start : tuple of int64
        States in which the battle begins.
    limit : int64
    """
    left_a, left_b = lefts
    worth_a, worth_b = worths
    at_a, span_a, chance_a, _ = own
    at_b, span_b, chance_b, _ = enemy
    weighed_a = np.zeros(len(span_a))
    weighed_b = np.zeros(len(span_b))
    _weigh_rows(span_a, chance_a, worth_a, weighed_a)
    _weigh_rows(span_b, chance_b, worth_b, weighed_b)
    several = frame.dice_kinds if frame.sequential != 0 else np.int64(1)
    share = 0.0
    for a in range(len(left_a)):
        dice_a = left_a[a]
        for b in range(len(left_b)):
            dice_b = left_b[b]
            pool_a = pool_with(terms[0], dice_a, dice_b)
            index_a = pool_index(pool_a, dice_a, frame.low_first)
            kept_a = kept_ones(frame, index_a, pool_a, frame.ones_first)
            total = 0.0
            for g in range(several):
                left = np.int64(g - 1) if frame.sequential != 0 else dice_b
                pool_b = pool_with(terms[1], left, dice_a)
                index_b = pool_index(pool_b, left, frame.low_second)
                kept_b = kept_ones(frame, index_b, pool_b, frame.ones_second)
                for ka in range(kept_a):
                    for kb in range(kept_b):
                        row_b = at_b[b, index_a, ka, kb, g]
                        row_a = at_a[a, index_b, kb, ka, 0]
                        total += weighed_a[row_a] * weighed_b[row_b]
            share = max(share, total / (worth_a[a] * worth_b[b]))
    return bound_of(share, worths, start, limit)


@part
def bound_of(share, worths, start, limit):
    """Return the bound of what goes on after a limit of turns, if each turn leaves at most a share of the worth."""
    worth_a, worth_b = worths
    if share >= 1.0:
        return 1.0
    bound = worth_a[start[0]] / worth_a.min() * (worth_b[start[1]] / worth_b.min())
    for _ in range(min(limit, _ENOUGH)):
        bound *= share
    return bound


class Elimination(NamedTuple):
    """Pairs of states of a small block, taken out one after the other; few of them lead to each other.

    Attributes
    ----------
    work : float64 (n + 4,)
        Chances to get from one pair to each pair of the block, and zeros.
    passed : float64 (n,)
        How often a pair is passed in a row.
    start : uint64 (2 n + 1,)
        Where the lists of each pair begin: which pairs before it are left for it on the way, and where it leads to when
        it has been taken out.
    index : uint32, value : float64
        Pairs in the lists, and chances.
    lines : float64 (4 n,)
        Numbers of all pairs.
    """

    work: Any
    passed: Any
    start: Any
    index: Any
    value: Any
    lines: Any


@part
def new_elimination(n):
    """Return room for a block of `n` pairs."""
    return Elimination(
        work=np.zeros(n + 4),
        passed=np.empty(n),
        start=np.zeros(2 * n + 1, dtype=np.uint64),
        index=np.empty(n * n, dtype=np.uint32),
        value=np.empty(n * n),
        lines=np.empty(KINDS * n),
    )


@leaf
def _fill_work(frame, terms, lefts, own, enemy, span, a, b, work):
    """Add up the chances to get from a pair of states of a block to each other one."""
    a_first, a_last, b_first, b_last = span
    at_a, span_a, chance_a, _ = own
    at_b, span_b, chance_b, _ = enemy
    width = b_last - b_first
    several = frame.dice_kinds if frame.sequential != 0 else np.int64(1)
    dice_a = lefts[0][a]
    dice_b = lefts[1][b]
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
                s = np.uint64(shift_b + low_b)
                count = np.uint64(high_b - low_b)
                for m in range(low_a, high_a):
                    c = chance_a[shift_a + m]
                    if c == 0.0:
                        continue
                    t = np.uint64((m - a_first) * width + low_b - b_first)
                    for k in range(count):
                        work[t + k] += c * chance_b[s + k]


@leaf
def take_out(elimination, n, i):
    """Take pair `i` of a block of `n` out, those before it have been; whether it is left soon.

    Its chances to get to each pair stand in `work`, and are zero afterwards. Nothing is ever subtracted but the chance
    to stay.
    """
    work, passed, start, index, value, _ = elimination
    at = start[2 * i]
    here = np.uint64(i)
    k = np.uint64(0)
    # Most chances are zero: four at a time are passed over.
    while k < here:
        if work[k] + work[k + _ONE] + work[k + _TWO] + work[k + _THREE] == 0.0:
            k += _FOUR
            continue
        stop = min(k + _FOUR, here)
        while k < stop:
            f = work[k]
            if f != 0.0:
                work[k] = 0.0
                index[at] = k
                value[at] = f
                at += _ONE
                for e in range(start[_TWO * k + _ONE], start[_TWO * k + _TWO]):
                    work[index[e]] += f * value[e]
            k += _ONE
    leaves = 1.0 - work[here]
    work[here] = 0.0
    if not leaves > _LEAST_LEFT:
        return False
    often = 1.0 / leaves
    passed[here] = often
    start[2 * i + 1] = at
    k = here + _ONE
    past = np.uint64(n)
    while k < past:
        if work[k] + work[k + _ONE] + work[k + _TWO] + work[k + _THREE] == 0.0:
            k += _FOUR
            continue
        stop = k + _FOUR
        while k < stop:
            f = work[k]
            if f != 0.0:
                work[k] = 0.0
                index[at] = k
                value[at] = f * often
                at += _ONE
            k += _ONE
    start[2 * i + 2] = at
    return True


@leaf
def _spend(elimination, n):
    """Turn what enters the pairs of a block into the time spent in them, alone and times both armies' losses."""
    _, passed, start, index, value, lines = elimination
    for k in range(n):
        at = np.uint64(KINDS * k)
        x = lines[at]
        if x != 0.0:
            y = lines[at + _ONE]
            z = lines[at + _TWO]
            for e in range(start[2 * k + 1], start[2 * k + 2]):
                to = _FOUR * np.uint64(index[e])
                lines[to] += x * value[e]
                lines[to + _ONE] += y * value[e]
                lines[to + _TWO] += z * value[e]
    for k in range(n - 1, -1, -1):
        at = np.uint64(KINDS * k)
        x = lines[at]
        if x != 0.0:
            x *= passed[k]
            y = lines[at + _ONE] * passed[k]
            z = lines[at + _TWO] * passed[k]
            lines[at] = x
            lines[at + _ONE] = y
            lines[at + _TWO] = z
            for e in range(start[2 * k], start[2 * k + 1]):
                to = _FOUR * np.uint64(index[e])
                lines[to] += x * value[e]
                lines[to + _ONE] += y * value[e]
                lines[to + _TWO] += z * value[e]


@leaf
def _spend_turns(elimination, n):
    """Do the same for the turns so far, the last of the numbers of a pair."""
    _, passed, start, index, value, lines = elimination
    for k in range(n):
        x = lines[np.uint64(KINDS * k) + _THREE]
        if x != 0.0:
            for e in range(start[2 * k + 1], start[2 * k + 2]):
                lines[_FOUR * np.uint64(index[e]) + _THREE] += x * value[e]
    for k in range(n - 1, -1, -1):
        x = lines[np.uint64(KINDS * k) + _THREE]
        if x != 0.0:
            x *= passed[k]
            lines[np.uint64(KINDS * k) + _THREE] = x
            for e in range(start[2 * k], start[2 * k + 1]):
                lines[_FOUR * np.uint64(index[e]) + _THREE] += x * value[e]


@leaf
def spend_block(elimination, span, n_b, flow, spent):
    """Find the time spent in each pair of states of a small block, given what flows into it; all have been taken out.

    Parameters
    ----------
    elimination : Elimination
    span : tuple of int64
        First and past-the-last state of either army in the block.
    n_b : int64
        States of the second army.
    flow, spent : float64 (lines)
        `spent` is filled in the block.
    """
    lines = elimination.lines
    a_first, a_last, b_first, b_last = span
    size = np.uint64(KINDS * (b_last - b_first))
    n = (a_last - a_first) * (b_last - b_first)
    to = np.uint64(0)
    for a in range(a_first, a_last):
        pair = np.uint64(KINDS * (a * n_b + b_first))
        for j in range(size):
            lines[to + j] = flow[pair + j]
        to += size
    turns = KINDS - 1
    for k in range(n):
        lines[KINDS * k + turns] -= lines[KINDS * k]
    _spend(elimination, n)
    # Each turn spent here is one turn more for what goes on.
    for k in range(n):
        lines[KINDS * k + turns] += lines[KINDS * k]
    _spend_turns(elimination, n)
    to = np.uint64(0)
    for a in range(a_first, a_last):
        pair = np.uint64(KINDS * (a * n_b + b_first))
        for j in range(size):
            spent[pair + j] = lines[to + j]
        to += size


@part
def solve_block(frame, terms, lefts, own, enemy, span, flow, spent, elimination):
    """Find the time spent in each pair of states of a small block, given what flows into it; whether it is left soon.

    Parameters
    ----------
    frame, terms, lefts, own, enemy
        As of `move_line`.
    span : tuple of int64
        First and past-the-last state of either army in the block.
    flow, spent : float64 (lines)
        `spent` is filled in the block.
    elimination : Elimination
        Room for as many pairs at least.
    """
    a_first, a_last, b_first, b_last = span
    n = (a_last - a_first) * (b_last - b_first)
    i = np.int64(0)
    for a in range(a_first, a_last):
        for b in range(b_first, b_last):
            _fill_work(frame, terms, lefts, own, enemy, span, a, b, elimination.work)
            if not take_out(elimination, n, i):
                return False
            i += 1
    spend_block(elimination, span, np.int64(len(lefts[1])), flow, spent)
    return True
