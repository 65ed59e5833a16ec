"""How pairs of states of a plain battle move on, and where each stays for how long.

As in `moves`, four numbers belong to a pair of states: its probability, and the same times the losses of the first and
of the second army and the turns so far; a line is what belongs to one state of the first army. What a turn does is
worked out for a class of states of the first army at once (`plain_rows`), in four steps: what both armies roll is
taken apart into cases, the second army first; then the second army moves on, by the cases of the first; then the first.
Numbers that belong to the second army's cases stand side by side, so that loops are over many neighbours.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from simcore.core.jit import borrowed, leaf, part
from simcore.rulesets.mass_battle.moves import KINDS, bound_of, new_elimination, spend_block, take_out

__all__ = ["PlainArmy", "outlast_limit_plainly", "run_plainly"]

_SMALL_BLOCK = 256
"""Most pairs of states of a block that is solved by elimination."""
_MOST_STAYS = 1_000
_BAR = 1e-6
"""Share of the largest probability in a block below which others wait for their next turn."""
_TINY_SHARE = 0.1
"""Share of the least probability that is moved on below which it is left out on its way."""
_INSIDE, _BESIDE, _BELOW = range(3)
"""Moves that leave both armies as large as before, only the first, and not even the first."""
_ONE, _TWO, _THREE, _FOUR = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)


class PlainArmy(NamedTuple):
    """What a plain battle is moved on by, of one army: its `Classes`, `Cases`, `PlainRows` and sizes of states."""

    size: Any
    class_of: Any
    past_class: Any
    members: Any
    member_start: Any
    roll: Any
    mix: Any
    span: Any
    class_span: Any
    cells: Any
    cell: Any
    start: Any
    stays: Any
    state: Any
    chance: Any
    loss: Any


class _Room(NamedTuple):
    """Scratch for `_move_class`. N states of the second army, Z cells of all its classes.

    Attributes
    ----------
    lines : float64
        Lines of all states of a class.
    cells : float64 (4 Z,)
        A line by the second army's cases.
    lifted : float64 (cases of the first army, 4 Z)
        The class by the cases of both armies.
    planes : float64 (N, cases of the second army, 4)
        The same when the second army has moved on; zeros between two calls.
    line, shifted : float64 (4 N,)
        Of it one case of the second army, and its probabilities where losses of the first stand.
    """

    lines: Any
    cells: Any
    lifted: Any
    planes: Any
    line: Any
    shifted: Any


@part
def _new_room(first, second):
    """Return room for `_move_class`."""
    n = len(second.size)
    most = np.int64(0)
    for k in range(len(first.member_start) - 1):
        most = max(most, first.member_start[k + 1] - first.member_start[k])
    size = KINDS * second.cells[len(second.cells) - 1]
    ends = (KINDS * n, 2 * KINDS * n, 2 * KINDS * n + size)
    room = np.zeros(ends[2] + first.mix.shape[1] * size)
    return _Room(
        lines=np.empty(most * KINDS * n),
        cells=room[ends[1] : ends[2]],
        lifted=room[ends[2] :],
        planes=np.zeros(n * second.mix.shape[1] * KINDS),
        line=room[: ends[0]],
        shifted=room[ends[0] : ends[1]],
    )


@leaf
def _take_class(source, members, first, last, n, begin, end, lines):
    """Copy the lines of a class of states, as they are a turn later; whether there is anything in them."""
    some = False
    to = np.int64(0)
    for i in range(first, last):
        at = KINDS * (members[i] * n + begin)
        for _ in range(begin, end):
            p = source[at]
            if p != 0.0:
                some = True
            lines[to] = p
            lines[to + 1] = source[at + 1]
            lines[to + 2] = source[at + 2]
            lines[to + 3] = source[at + 3] + p
            to += KINDS
            at += KINDS
    return some


@leaf
def _settle_class(flow, spent, members, first, last, n, begin, end, least, lines):
    """Take from `flow` what is moved on now, where it is more than `least`, as `_take_class` does, and spend it."""
    some = False
    to = np.int64(0)
    for i in range(first, last):
        at = KINDS * (members[i] * n + begin)
        for _ in range(begin, end):
            p = flow[at]
            if p > least:
                some = True
                for k in range(KINDS):
                    x = flow[at + k]
                    lines[to + k] = x
                    spent[at + k] += x
                    flow[at + k] = 0.0
                lines[to + KINDS - 1] += p
            else:
                lines[to] = 0.0
            to += KINDS
            at += KINDS
    return some


@leaf
def _move_class(first, second, k, mode, begin, end, room, target, least):
    """Move on, by one turn, what the lines in `room` hold of a class of states.

    Parameters
    ----------
    first, second : PlainArmy
    k : int64
        The class, of the first army.
    mode : int64
        Which moves are wanted.
    begin, end : int64
        First and past-the-last state of the second army in the lines; blocks of equal size are whole.
    room : _Room
    target : float64 (lines)
        What comes of it is added here.
    least : float64
        Steps that bring less probability are left out.
    """
    lines, cells, lifted, planes, line, shifted = room
    n = np.int64(len(second.size))
    first_class = second.class_of[begin]
    past_class = second.past_class[end - 1]
    first_cell = second.cells[first_class]
    size = np.uint64(KINDS * (second.cells[past_class] - first_cell))
    first_case = first.class_span[k, 0]
    past_case = first.class_span[k, 1]
    # Both armies' rolls are taken apart into cases.
    for j in range(size * np.uint64(past_case - first_case)):
        lifted[j] = 0.0
    at = np.int64(0)
    for i in range(first.member_start[k], first.member_start[k + 1]):
        for j in range(size):
            cells[j] = 0.0
        some = False
        for b in range(begin, end):
            x0 = lines[at]
            if x0 != 0.0:
                some = True
                x1 = lines[at + 1]
                x2 = lines[at + 2]
                x3 = lines[at + 3]
                roll = second.roll[b]
                t = np.uint64(KINDS * (second.cell[b] - first_cell))
                for c in range(second.span[roll, 0], second.span[roll, 1]):
                    w = second.mix[roll, c]
                    cells[t] += w * x0
                    cells[t + _ONE] += w * x1
                    cells[t + _TWO] += w * x2
                    cells[t + _THREE] += w * x3
                    t += _FOUR
            at += KINDS
        if some:
            roll = first.roll[first.members[i]]
            for c in range(first.span[roll, 0], first.span[roll, 1]):
                w = first.mix[roll, c]
                t = size * np.uint64(c - first_case)
                for j in range(size):
                    lifted[t + j] += w * cells[j]
    # The second army moves on, for each case of the first.
    cases_a = np.int64(first.mix.shape[1])
    cases_b = np.int64(second.mix.shape[1])
    low = n
    high = np.int64(0)
    low_case = cases_b
    high_case = np.int64(0)
    for c in range(first_case, past_case):
        for of in range(first_class, past_class):
            x = size * np.uint64(c - first_case) + np.uint64(KINDS * (second.cells[of] - first_cell))
            count = np.uint64(second.cells[of + 1] - second.cells[of])
            mass = 0.0
            for j in range(count):
                mass += lifted[x + _FOUR * j]
            if mass <= least:
                continue
            row = of * cases_a + c
            e0 = second.start[row] if mode != _BESIDE else second.stays[row]
            e1 = second.start[row + 1] if mode != _INSIDE else second.stays[row]
            if e0 >= e1:
                continue
            low = min(low, second.state[e0])
            high = max(high, second.state[e1 - 1] + 1)
            low_case = min(low_case, second.class_span[of, 0])
            high_case = max(high_case, second.class_span[of, 1])
            for e in range(e0, e1):
                z = np.uint64(KINDS * (second.state[e] * cases_b + second.class_span[of, 0]))
                q = second.chance[e]
                for j in range(_FOUR * count):
                    planes[z + j] += q * lifted[x + j]
                q = second.loss[e]
                if q != 0.0:
                    z += _TWO
                    for j in range(count):
                        planes[z + _FOUR * j] += q * lifted[x + _FOUR * j]
    # The first army moves on, for each case of the second.
    if low >= high:
        return
    width = np.uint64(high - low)
    stride = np.uint64(KINDS * cases_b)
    for c in range(low_case, high_case):
        z = np.uint64(low) * stride + np.uint64(KINDS * c)
        mass = 0.0
        for j in range(width):
            mass += planes[z]
            for i in range(_FOUR):
                line[_FOUR * j + i] = planes[z + i]
                planes[z + i] = 0.0
            z += stride
        row = k * cases_b + c
        e0 = first.start[row] if mode != _BELOW else first.stays[row]
        e1 = first.start[row + 1] if mode == _BELOW else first.stays[row]
        if mode == _BELOW and mass > least:
            for j in range(width):
                shifted[_FOUR * j + _ONE] = line[_FOUR * j]
        for e in range(e0, e1):
            p = first.chance[e]
            if p * mass <= least:
                continue
            t = np.uint64(KINDS * (first.state[e] * n + low))
            q = first.loss[e]
            if q == 0.0:
                for j in range(_FOUR * width):
                    target[t + j] += p * line[j]
            else:
                for j in range(_FOUR * width):
                    target[t + j] += p * line[j] + q * shifted[j]


class _Inner(NamedTuple):
    """Rows that lead to as many squads as before, for each class and each pool of the enemy; only for small blocks.

    Attributes
    ----------
    start : uint64 (K * P + 1,)
    place : uint64, chance : float64
        States, counted from the first of their size.
    """

    start: Any
    place: Any
    chance: Any


@part
def _inner_rows(lent_army, lent_enemy):
    """Return the `_Inner` rows of an army."""
    army, enemy = borrowed(lent_army), borrowed(lent_enemy)
    sizes, members, member_start, starts, stays = army.size, army.members, army.member_start, army.start, army.stays
    states, chances, mix, span = army.state, army.chance, enemy.mix, enemy.span
    found = len(member_start) - 1
    n = len(sizes)
    pools, cases = mix.shape
    start = np.zeros(found * pools + 1, dtype=np.uint64)
    room = np.int64(0)
    first = np.int64(0)
    past = np.int64(0)
    for k in range(found):
        while past < n and sizes[past] >= sizes[members[member_start[k]]]:
            if sizes[past] != sizes[first]:
                first = past
            past += 1
        if past - first <= _SMALL_BLOCK:
            room += pools * (past - first)
    place = np.empty(room, dtype=np.uint64)
    chance = np.empty(room)
    row = np.zeros(_SMALL_BLOCK)
    at = np.int64(0)
    first = np.int64(0)
    past = np.int64(0)
    for k in range(found):
        while past < n and sizes[past] >= sizes[members[member_start[k]]]:
            if sizes[past] != sizes[first]:
                first = past
            past += 1
        for p in range(pools):
            if past - first <= _SMALL_BLOCK:
                for c in range(span[p, 0], span[p, 1]):
                    w = mix[p, c]
                    for e in range(starts[k * cases + c], stays[k * cases + c]):
                        row[states[e] - first] += w * chances[e]
                for i in range(past - first):
                    if row[i] != 0.0:
                        place[at] = i
                        chance[at] = row[i]
                        row[i] = 0.0
                        at += 1
            start[k * pools + p + 1] = at
    return _Inner(start=start, place=place, chance=chance)


@leaf
def _solve_plainly(first, second, inner_a, inner_b, inside, flow, spent, elimination):
    """Find the time spent in each pair of states of a small block, as `solve_block` does."""
    a_first, a_last, b_first, b_last = inside
    work = elimination.work
    pools_a, pools_b = np.int64(first.mix.shape[0]), np.int64(second.mix.shape[0])
    width = np.uint64(b_last - b_first)
    n = (a_last - a_first) * (b_last - b_first)
    i = np.int64(0)
    for a in range(a_first, a_last):
        for b in range(b_first, b_last):
            row_a = first.class_of[a] * pools_b + second.roll[b]
            row_b = second.class_of[b] * pools_a + first.roll[a]
            for e in range(inner_a.start[row_a], inner_a.start[row_a + 1]):
                c = inner_a.chance[e]
                t = inner_a.place[e] * width
                for k in range(inner_b.start[row_b], inner_b.start[row_b + 1]):
                    work[t + inner_b.place[k]] = c * inner_b.chance[k]
            if not take_out(elimination, n, i):
                return False
            i += 1
    spend_block(elimination, inside, np.int64(len(second.size)), flow, spent)
    return True


@leaf
def _peak(flow, n, inside):
    """Largest probability in a block."""
    a_first, a_last, b_first, b_last = inside
    peak = 0.0
    for a in range(a_first, a_last):
        for b in range(b_first, b_last):
            peak = max(peak, flow[KINDS * (a * n + b)])
    return peak


@part
def run_plainly(lent_first, lent_second, start, dropped, lent_spent):
    """Find the time spent in each pair of states of a battle without a limit of turns; returns whether it ends soon.

    Squads never join, so all pairs with the same numbers of squads in play are left for good once a squad is gone.

    Parameters
    ----------
    lent_first, lent_second : PlainArmy
    start : int64
        Pair of states in which the battle begins.
    dropped : float64
        Most probability that stays where it is in the end in all pairs of states.
    lent_spent : float64 (lines)
        Output; zeros.
    """
    first, second, spent = borrowed(lent_first), borrowed(lent_second), borrowed(lent_spent)
    n_a, n_b = np.int64(len(first.size)), np.int64(len(second.size))
    least = dropped / (n_a * n_b)
    tiny = _TINY_SHARE * least
    flow = np.zeros(KINDS * n_a * n_b)
    flow[KINDS * start] = 1.0
    room = _new_room(first, second)
    inner_a = _inner_rows(first, second)
    inner_b = _inner_rows(second, first)
    elimination = new_elimination(min(np.int64(_SMALL_BLOCK), n_a * n_b))
    members, member_start = first.members, first.member_start
    a_first = np.int64(0)
    while a_first < n_a:
        a_last = a_first
        while a_last < n_a and first.size[a_last] == first.size[a_first]:
            a_last += 1
        first_class, past_class = first.class_of[a_first], first.past_class[a_first]
        b_first = np.int64(0)
        while b_first < n_b:
            b_last = b_first
            while b_last < n_b and second.size[b_last] == second.size[b_first]:
                b_last += 1
            inside = (a_first, a_last, b_first, b_last)
            pairs = (a_last - a_first) * (b_last - b_first)
            if pairs <= _SMALL_BLOCK:
                if _peak(flow, n_b, inside) > 0.0:
                    if not _solve_plainly(first, second, inner_a, inner_b, inside, flow, spent, elimination):
                        return False
            else:
                stays = 0
                while True:
                    peak = _peak(flow, n_b, inside)
                    if peak <= least:
                        break
                    if stays == _MOST_STAYS:
                        return False
                    stays += 1
                    # What is little now may be more before its turn comes.
                    bar = max(least, _BAR * peak)
                    for k in range(first_class, past_class):
                        if _settle_class(
                            flow, spent, members, member_start[k], member_start[k + 1], n_b, b_first, b_last, bar,
                            room.lines,
                        ):  # fmt: skip
                            _move_class(first, second, k, np.int64(_INSIDE), b_first, b_last, room, flow, tiny)
            # Those that stay as many on the first side lead to the next blocks beside this one ...
            if b_last < n_b:
                for k in range(first_class, past_class):
                    if _take_class(
                        spent, members, member_start[k], member_start[k + 1], n_b, b_first, b_last, room.lines
                    ):
                        _move_class(first, second, k, np.int64(_BESIDE), b_first, b_last, room, flow, tiny)
            b_first = b_last
        # ... and all of them together to those below.
        if a_last < n_a:
            for k in range(first_class, past_class):
                if _take_class(spent, members, member_start[k], member_start[k + 1], n_b, np.int64(0), n_b, room.lines):
                    _move_class(first, second, k, np.int64(_BELOW), np.int64(0), n_b, room, flow, tiny)
        a_first = a_last
    return True


@part
def _weigh_classes(lent_army, lent_enemy, worth):
    """Return the mean worth of the states that each class leads to, for each pool of the enemy."""
    army, enemy = borrowed(lent_army), borrowed(lent_enemy)
    found = len(army.member_start) - 1
    pools = enemy.mix.shape[0]
    cases = enemy.mix.shape[1]
    weighed = np.zeros((found, pools))
    by_case = np.zeros(cases)
    for k in range(found):
        for c in range(cases):
            row = k * cases + c
            total = 0.0
            for e in range(army.start[row], army.start[row + 1]):
                total += army.chance[e] * worth[army.state[e]]
            by_case[c] = total
        for p in range(pools):
            for c in range(enemy.span[p, 0], enemy.span[p, 1]):
                weighed[k, p] += enemy.mix[p, c] * by_case[c]
    return weighed


@part
def outlast_limit_plainly(lent_first, lent_second, worths, start, limit):
    """Return a bound of the probability that a battle goes on after a limit of turns, as `outlast_limit` does.

    Parameters
    ----------
    lent_first, lent_second : PlainArmy
    worths, start, limit
        As of `outlast_limit`.
    """
    first, second = borrowed(lent_first), borrowed(lent_second)
    worth_a, worth_b = worths
    weighed_a = _weigh_classes(first, second, worth_a)
    weighed_b = _weigh_classes(second, first, worth_b)
    share = 0.0
    for a in range(len(worth_a)):
        roll_a = first.roll[a]
        class_a = first.class_of[a]
        for b in range(len(worth_b)):
            total = weighed_a[class_a, second.roll[b]] * weighed_b[second.class_of[b], roll_a]
            share = max(share, total / (worth_a[a] * worth_b[b]))
    return bound_of(share, worths, start, limit)
