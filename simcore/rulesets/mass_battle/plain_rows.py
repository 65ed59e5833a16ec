"""What a turn does to one army in a plain battle, in as few rows of probabilities as possible.

A battle is plain where both armies roll at once, no ones count, and each pool depends on its own army's dice alone. Two
things make rows few then. What a roll does to an army depends on its hits, however many dice there were: there are as
many numbers of hits as there were pools, with shorter rows, and pools are mixtures of them. And many states have equal
rows: squads in line and those that come back next turn stand in the same place after it. Such states are a class.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from simcore.core.jit import borrowed, leaf, part
from simcore.rulesets.mass_battle.army_states import AFTER, COST, count_outcomes, grown
from simcore.rulesets.mass_battle.turn_rows import (
    CHASES,
    FACTS,
    add_effects,
    add_facts,
    keep_outcomes,
    list_chances,
    price_captures,
    wanted_reaches,
)

__all__ = ["Cases", "Classes", "PlainRows", "find_classes", "list_cases", "list_plain_rows"]

_MOST_CASES = 2
"""Numbers of hits for each pool up to which hits are told apart instead of pools."""


class Cases(NamedTuple):
    """What the roll of an army may come to, as far as the enemy is concerned. N states, P pools, C cases, K classes.

    Attributes
    ----------
    roll : int64 (N,)
        Pool of each state; 0 stands for no roll.
    mix : float64 (P, C)
        Probability of each case.
    span : int64 (P, 2)
        First and past-the-last case of each pool.
    class_span : int64 (K, 2)
        The same of all states of a class.
    cells : int64 (K + 1,)
        Where the cases of each class begin, when those of all classes stand side by side.
    cell : int64 (N,)
        Where the first case of each state stands then.
    """

    roll: Any
    mix: Any
    span: Any
    class_span: Any
    cells: Any
    cell: Any


class Classes(NamedTuple):
    """States of an army with equal rows. N states, K classes.

    Attributes
    ----------
    of : int64 (N,)
        Class of each state; they are numbered in the order of their first states, and all members have one size.
    past : int64 (N,)
        Past-the-last class of states with the same size.
    members : int64 (N,)
    start : int64 (K + 1,)
        First of the members of each class.
    """

    of: Any
    past: Any
    members: Any
    start: Any


class PlainRows(NamedTuple):
    """What a turn does to one army, for each class of states and case. K classes, C cases, J levels of pursuit.

    Attributes
    ----------
    start : int64 (K * C + 1,)
        First entry of each row; entries are in the order of states.
    stays : int64 (K * C,)
        Past the last entry of as many squads as before.
    state : int64, chance, loss : float64
        Probability of each state, and the same times the cost lost on the way.
    facts : float64 (N * C, 4 + 5 J)
        As of `turn_rows.Rows`, for each state and case.
    """

    start: Any
    stays: Any
    state: Any
    chance: Any
    loss: Any
    facts: Any


@leaf
def _are_alike(army, s, t):
    """Whether the same outcomes lead to the same from two states."""
    if army.reach[s] != army.reach[t]:
        return False
    first, second = army.hit_start[s], army.hit_start[t]
    for i in range(count_outcomes(army.reach[s])):
        if army.begun[army.hits[first + i, AFTER]] != army.begun[army.hits[second + i, AFTER]]:
            return False
        if army.hits[first + i, COST] != army.hits[second + i, COST]:
            return False
    return True


@part
def find_classes(lent_army, n):
    """Return the `Classes` of the `n` states of an army; states of a class have as many squads in play."""
    army = borrowed(lent_army)
    numbers = np.zeros((4, n), dtype=np.int64)
    of, past, members, leaders = numbers[0], numbers[1], numbers[2], numbers[3]
    found = np.int64(0)
    first = np.int64(0)
    for s in range(n):
        if s > 0 and army.size[s] != army.size[s - 1]:
            first = found
        own = first
        while own < found and not _are_alike(army, leaders[own], np.int64(s)):
            own += 1
        if own == found:
            leaders[own] = s
            found += 1
        of[s] = own
    start = np.zeros(found + 1, dtype=np.int64)
    for s in range(n):
        start[of[s] + 1] += 1
    for k in range(found):
        start[k + 1] += start[k]
        leaders[k] = start[k]
    for s in range(n):
        members[leaders[of[s]]] = s
        leaders[of[s]] += 1
    last = found
    for s in range(n - 1, -1, -1):
        if s + 1 < n and army.size[s] != army.size[s + 1]:
            # The first class of the states behind.
            last = of[s + 1]
        past[s] = last
    return Classes(of=of, past=past, members=members, start=start)


@part
def _list_hits(rules, tables, most_hits, reaches):
    """List the chances of the effects of so many hits, as `list_chances` does for pools."""
    half, thirds, _ = tables
    wanted, at_once = wanted_reaches(reaches)
    most_reach = np.int64(len(wanted) - 1)
    lists = np.zeros((most_hits + 1, 1, most_reach + 1, 2), dtype=np.int64)
    chances = np.empty((most_hits + 1) * at_once)
    outcomes = np.empty((most_hits + 1) * at_once, dtype=np.int64)
    out = np.zeros((most_reach + 1, most_reach + 1, most_reach + 1))
    at = np.int64(0)
    for hits in range(most_hits + 1):
        for reach in range(most_reach + 1):
            if wanted[reach] == 0:
                continue
            out[: reach + 1, : reach + 1, : reach + 1] = 0.0
            for five in range(hits + 1):
                for six in range(five + 1):
                    add_effects(rules, six, five, hits, reach, thirds[hits, five] * half[five, six], out)
            lists[hits, 0, reach, 0] = at
            at = keep_outcomes(out, np.int64(reach), chances, outcomes, at)
            lists[hits, 0, reach, 1] = at
    return chances, outcomes, lists, True


@leaf
def _mix_hits(half, pools, pool_low, mix, span):
    """Fill in how pools are made of numbers of hits; without a roll there are none."""
    mix[0, 0] = 1.0
    span[0, 1] = 1
    for p in range(1, pools):
        pool = pool_low + p - 1
        span[p, 1] = pool + 1
        for hits in range(pool + 1):
            mix[p, hits] = half[pool, hits]


@part
def list_cases(rules, tables, pools, pool_low, rolls, classes, reaches):
    """List what an army's rolls may come to, and the chances of the effects of each case.

    Parameters
    ----------
    rules, tables
        As of `list_chances`.
    pools, pool_low : int64
        Number of pools, the first of which stands for no roll, and the smallest of the others, at least 1.
    rolls : int64 (N,)
        Pool of each state of the army that rolls.
    classes : Classes
        Of the army that rolls.
    reaches : int64 (M,)
        The reach of each state of the army that is hit.

    Returns
    -------
    cases : Cases
    chances : tuple
        As of `list_chances`, by case.
    is_good : bool
        False if there is no room.
    """
    most_hits = pool_low + pools - 2
    by_hits = most_hits <= _MOST_CASES * pools
    count = most_hits + 1 if by_hits else pools
    mix = np.zeros((pools, count))
    span = np.zeros((pools, 2), dtype=np.int64)
    if by_hits:
        _mix_hits(tables[0], pools, pool_low, mix, span)
        chances, outcomes, lists, is_good = _list_hits(rules, tables, most_hits, reaches)
    else:
        for p in range(pools):
            mix[p, p] = 1.0
            span[p, 0] = p
            span[p, 1] = p + 1
        chances, outcomes, lists, is_good = list_chances(rules, tables, pools, pool_low, np.int64(0), reaches)
    found = len(classes.start) - 1
    class_span = np.zeros((found, 2), dtype=np.int64)
    cells = np.zeros(found + 1, dtype=np.int64)
    for k in range(found):
        first = count
        past = np.int64(0)
        for i in range(classes.start[k], classes.start[k + 1]):
            roll = rolls[classes.members[i]]
            first = min(first, span[roll, 0])
            past = max(past, span[roll, 1])
        class_span[k, 0] = first
        class_span[k, 1] = past
        cells[k + 1] = cells[k] + past - first
    cell = np.empty(len(rolls), dtype=np.int64)
    for s in range(len(rolls)):
        k = classes.of[s]
        cell[s] = cells[k] + span[rolls[s], 0] - class_span[k, 0]
    cases = Cases(roll=rolls, mix=mix, span=span, class_span=class_span, cells=cells, cell=cell)
    return cases, (chances, outcomes, lists), is_good


@part
def _list_facts(rules, lent_plan, lent_army, n, n_after, side, levels, chances):
    """Return the facts of every state and case."""
    plan, army = borrowed(lent_plan), borrowed(lent_army)
    values, places, lists = chances
    cases = len(lists)
    price = price_captures(rules, plan, army, n_after, side, levels)
    facts = np.zeros((n * cases, CHASES + FACTS * levels))
    broken, pursuers = army.broken, army.pursuers
    reaches, hit_start, hits = army.reach, army.hit_start, army.hits
    for s in range(n):
        reach = reaches[s]
        begin = hit_start[s]
        for c in range(cases):
            row = s * cases + c
            for i in range(lists[c, 0, reach, 0], lists[c, 0, reach, 1]):
                h = begin + places[i]
                e = hits[h, AFTER]
                add_facts(facts, row, values[i], np.float64(hits[h, COST]), broken[e] != 0, pursuers[e], price, e)
    return facts


@part
def list_plain_rows(rules, lent_plan, lent_army, n, n_after, side, levels, lent_classes, lent_chances):
    """Work out what a turn does to one army, for each class of states and each case of the enemy's roll.

    Parameters
    ----------
    rules, lent_plan : arrays
    lent_army : Army
    n, n_after : int64
        Numbers of states.
    side : int64
    levels : int64
        Levels of pursuit.
    lent_classes : Classes
    lent_chances : tuple
        Of `list_cases`, for the enemy's rolls.

    Returns
    -------
    PlainRows
    """
    plan, army = borrowed(lent_plan), borrowed(lent_army)
    classes, chances = borrowed(lent_classes), borrowed(lent_chances)
    values, places, lists = chances
    cases = len(lists)
    found = len(classes.start) - 1
    start = np.zeros(found * cases + 1, dtype=np.int64)
    stays = np.zeros(found * cases, dtype=np.int64)
    state = np.empty(1024, dtype=np.int64)
    chance = np.empty(1024)
    loss = np.empty(1024)
    row = np.zeros((2, n))
    row_chance, row_loss = row[0], row[1]
    size, reaches, hit_start, hits = army.size, army.reach, army.hit_start, army.hits
    begun, rally_start, rally_state, rally_chance = army.begun, army.rally_start, army.rally_state, army.rally_chance
    entries = np.int64(0)
    block_end = np.int64(0)
    for k in range(found):
        s = classes.members[classes.start[k]]
        while block_end < n and size[block_end] >= size[s]:
            block_end += 1
        reach = reaches[s]
        begin = hit_start[s]
        for c in range(cases):
            low = n
            high = np.int64(0)
            for i in range(lists[c, 0, reach, 0], lists[c, 0, reach, 1]):
                h = begin + places[i]
                g = begun[hits[h, AFTER]]
                if g < 0:
                    continue
                cost = np.float64(hits[h, COST])
                for m in range(rally_start[g], rally_start[g + 1]):
                    to = rally_state[m]
                    w = values[i] * rally_chance[m]
                    row_chance[to] += w
                    row_loss[to] += w * cost
                    low = min(low, to)
                    high = max(high, to + 1)
            if entries + n > len(state):
                state = grown(state, entries + n)
                chance = grown(chance, entries + n)
                loss = grown(loss, entries + n)
            r = k * cases + c
            stays[r] = entries
            for to in range(low, high):
                if row_chance[to] > 0.0:
                    state[entries] = to
                    chance[entries] = row_chance[to]
                    loss[entries] = row_loss[to]
                    entries += 1
                    if to < block_end:
                        stays[r] = entries
                    row_chance[to] = 0.0
                    row_loss[to] = 0.0
            start[r + 1] = entries
    facts = _list_facts(rules, plan, army, n, n_after, side, levels, chances)
    return PlainRows(start=start, stays=stays, state=state, chance=chance, loss=loss, facts=facts)
