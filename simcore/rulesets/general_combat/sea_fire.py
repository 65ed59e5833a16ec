"""Fire at sea: the hits by class that a side's state scores in a step, and what they leave of a state of the enemy."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from simcore.core.chain import binomial, convolve, two_point, window
from simcore.core.jit import inlined_leaf, leaf, part
from simcore.rulesets.general_combat.encoding import HitClass, RowField, UnitType
from simcore.rulesets.general_combat.lane import N_CLASSES, SLOT_CLASS, SLOT_ODDS, SLOT_TYPE, count_dice
from simcore.rulesets.general_combat.sea import SeaTotal
from simcore.rulesets.general_combat.sea_states import (
    CHANCES_USED,
    COUNTS,
    N_VOLLEYS,
    VOLLEYS,
    give_out,
    known_row,
    queue_row,
)

__all__ = ["ALL_FIRE", "SPENT", "STRIKE", "Lists", "learn", "list_known", "list_losses", "most_hits", "new_lists"]

STRIKE = np.int64(0)
"""Step 2: submarines alone."""
ALL_FIRE = np.int64(1)
"""Step 3 or 4 of a side whose submarines did not act in step 2."""
SPENT = np.int64(2)
"""Step 3 or 4 without the submarines, which have fired."""

_SUBMARINE = int(UnitType.SUBMARINE)
_LOW_LUCK_COMBAT = int(RowField.LOW_LUCK_COMBAT)
_POINTS = (int(RowField.ATTACK_POINTS), int(RowField.DEFENCE_POINTS))
_PER_ARTILLERY = int(RowField.PER_ARTILLERY)
_AIRCRAFT = SeaTotal.AIRCRAFT
_SUBMARINES = SeaTotal.SUBMARINES
_OTHER = int(HitClass.OTHER)
_AIR = int(HitClass.AIR)
_SUB = int(HitClass.SUB)
_SLOT_DICE = 4

# Columns of `Fleet.volleys`.
_AT = 0
_MOST = 1

# Rows of `Work.pmfs` behind those of the classes.
_ALONE = np.int64(N_CLASSES)
_SUM = N_CLASSES + 1

_AIR_JOINS = 1
_SUB_JOINS = 2
_VARIANTS = 4
"""Volleys of one kind: with and without the hits of aircraft, and of submarines, put to those on anything."""


class Lists(NamedTuple):
    """Lists of what a side may be left with.

    Attributes
    ----------
    states : int64 (lists, N)
    chances : float64 (lists, N)
    lengths : int64 (lists,)
    stays : float64 (lists,)
        Probability of the state that the list was made for.
    sums : float64 (N,)
        Scratch: all zero between two lists.
    """

    states: Any
    chances: Any
    lengths: Any
    stays: Any
    sums: Any


@part
def new_lists(n, capacity):
    """Return room for `n` lists of at most so many states."""
    return Lists(
        states=np.empty((n, capacity), dtype=np.int64),
        chances=np.empty((n, capacity)),
        lengths=np.zeros(n, dtype=np.int64),
        stays=np.zeros(n),
        sums=np.zeros(capacity),
    )


@part
def most_hits(plan, side, counts):
    """Return the most hits of a side by class: those on anything may take in the others."""
    most = np.zeros(N_CLASSES, dtype=np.int64)
    for k in range(plan.n_slots[side]):
        slot = plan.slots[side, k]
        dice = np.int64(counts[slot[SLOT_TYPE]]) * slot[_SLOT_DICE]
        most[_OTHER] += dice
        if slot[SLOT_CLASS] != _OTHER:
            most[slot[SLOT_CLASS]] += dice
    return most


@inlined_leaf
def _roll(rules, plan, odds, side, kind, work):
    """Fill ``work.pmfs`` with the distributions of hits by class of the units in ``work.state``."""
    low_luck = rules[_LOW_LUCK_COMBAT] != 0
    per_hit = rules[_POINTS[side]]
    pmfs = work.pmfs
    sizes = work.sizes[0]
    points = work.sizes[1]
    for c in range(N_CLASSES):
        sizes[c] = 0
        pmfs[c, 0] = 1.0
        points[c] = 0
    for k in range(plan.n_slots[side]):
        slot = plan.slots[side, k]
        is_submarine = slot[SLOT_TYPE] == _SUBMARINE
        if (kind == STRIKE and not is_submarine) or (kind == SPENT and is_submarine):
            continue
        count_dice(work.state, 1, side, slot, rules[_PER_ARTILLERY], plan.kind, plan.first, plan.second, work.dice)
        thrown = np.int64(work.dice[0])
        if thrown == 0:
            continue
        numerator = odds[slot[SLOT_ODDS], 0]
        denominator = odds[slot[SLOT_ODDS], 1]
        c = slot[SLOT_CLASS]
        if low_luck:
            points[c] += thrown * numerator * (per_hit // denominator)
            continue
        binomial(thrown, numerator, denominator, pmfs[_ALONE])
        _add_hits(pmfs, sizes, c, _ALONE, thrown)
    if low_luck:
        for c in range(N_CLASSES):
            if points[c] > 0:
                sizes[c] = two_point(points[c], per_hit, pmfs[c])


@leaf
def _add_hits(pmfs, sizes, to, source, n):
    """Add independent hits, at most `n`, to those of class `to`."""
    convolve(pmfs[to], sizes[to], pmfs[source], n, pmfs[_SUM])
    sizes[to] += n
    for h in range(sizes[to] + 1):
        pmfs[to, h] = pmfs[_SUM, h]


@inlined_leaf
def _record(shooters, work):
    """Write ``work.pmfs`` down as a new volley; returns its number, -1 if there is no room."""
    at = shooters.numbers[CHANCES_USED]
    new = shooters.numbers[N_VOLLEYS]
    sizes = work.sizes[0]
    needed = 3 * (sizes[_OTHER] + 1) + sizes[_AIR] + 1 + sizes[_SUB] + 1
    if new >= len(shooters.volleys) or at + needed > len(shooters.chances):
        return np.int64(-1)
    shooters.numbers[N_VOLLEYS] = new + 1
    shooters.numbers[CHANCES_USED] = at + needed
    shooters.volleys[new, _AT] = at
    n = sizes[_OTHER]
    mass = 0.0
    for h in range(n, -1, -1):
        mass += work.pmfs[_OTHER, h]
        shooters.chances[at + n + 1 + h] = mass
    mass = 0.0
    for h in range(n + 1):
        mass += work.pmfs[_OTHER, h]
        shooters.chances[at + 2 * (n + 1) + h] = mass
    for c in range(N_CLASSES):
        shooters.volleys[new, _MOST + c] = sizes[c]
        for h in range(sizes[c] + 1):
            shooters.chances[at + h] = work.pmfs[c, h]
        at += (3 if c == _OTHER else 1) * (sizes[c] + 1)
    return new


@inlined_leaf
def _find_volley(rules, plan, odds, side, shooters, state, kind, joins, work):
    """Return the volley of a state, -1 if there is no room."""
    column = VOLLEYS + kind * _VARIANTS
    facts = shooters.facts[state]
    if facts[column + joins] >= 0:
        return facts[column + joins]
    base = plan.groups[side, 0]
    for g in range(plan.groups[side, 0], plan.groups[side, 1]):
        work.state[g, 0] = shooters.units[state, g - base]
    _roll(rules, plan, odds, side, kind, work)
    sizes = work.sizes[0]
    kept = np.int64(0)
    for c in range(1, N_CLASSES):
        bit = _AIR_JOINS if c == _AIR else _SUB_JOINS
        if sizes[c] > 0 and (joins & bit) != 0:
            _add_hits(work.pmfs, sizes, np.int64(_OTHER), np.int64(c), sizes[c])
            sizes[c] = 0
            work.pmfs[c, 0] = 1.0
            kept |= bit
    # Where nothing was there to be put together, the volley is that of fewer joins.
    found = facts[column + kept]
    if found < 0:
        found = _record(shooters, work)
        facts[column + kept] = found
    facts[column + joins] = found
    return found


@inlined_leaf
def _joins(facts, state, air_hits_subs):
    """Which hits may fall on anything of a state beside those of other units (GC-4.8.1).

    Hits of aircraft may where they can hit submarines or there are none, hits of submarines where there are no
    aircraft. What is left apart is what matters.
    """
    joins = np.int64(0)
    if facts[state, COUNTS + _SUBMARINES] == 0 or air_hits_subs != 0:
        joins += _AIR_JOINS
    if facts[state, COUNTS + _AIRCRAFT] == 0:
        joins += _SUB_JOINS
    return joins


@inlined_leaf
def list_known(known, side, state, firing, kind, air_hits_subs, cut, lists, which):
    """List what a side's state may be left with under the fire of a state of the enemy, if all of that is known.

    Parameters
    ----------
    known : Known
    side : int64
        Side that is fired at.
    state, firing : int64
        Its state, and the state of the enemy that fires.
    kind : int64
        `STRIKE`, `ALL_FIRE` or `SPENT`.
    air_hits_subs : int64
        Whether the enemy's aircraft can hit submarines.
    cut : float64
        Probability that may be left out at each end of each class of hits.
    lists : Lists
    which : int64
        List that is made.

    Returns
    -------
    int64
        Number of states, -1 if a volley or a row is not known.
    """
    facts = known.facts[side]
    after = known.after[side]
    numbers = known.numbers[side]
    volleys = known.volleys[1 - side]
    fire = known.chances[1 - side]
    states = lists.states[which]
    chances = lists.chances[which]
    sums = lists.sums
    joins = _joins(facts, state, air_hits_subs)
    volley = known.facts[1 - side, firing, VOLLEYS + kind * _VARIANTS + joins]
    if volley < 0:
        return np.int64(-1)
    other = volleys[volley, _AT]
    n_other = volleys[volley, _MOST + _OTHER]
    n_air = volleys[volley, _MOST + _AIR]
    n_sub = volleys[volley, _MOST + _SUB]
    or_more = other + n_other + 1
    or_fewer = or_more + n_other + 1
    low = np.int64(0)
    high = n_other
    n = np.int64(0)
    if n_air == 0 and n_sub == 0:
        row = known_row(facts, after, numbers, state, np.int64(0), np.int64(0), n_other)
        if row < 0:
            return np.int64(-1)
        last = np.int64(after[row]) - 1
        row += 1
        while low < last and fire[or_fewer + low] <= cut:
            low += 1
        while high > low and fire[or_more + high] <= cut:
            high -= 1
        for h in range(low, min(high + 1, last)):
            states[n] = after[row + h]
            chances[n] = fire[other + h]
            n += 1
        if high >= last:
            # Further hits find nothing to hit.
            states[n] = after[row + last]
            chances[n] = fire[or_more + last]
            n += 1
        # Any hit leaves another state.
        lists.stays[which] = chances[0] if low == 0 else 0.0
        return n
    air = or_fewer + n_other + 1
    sub = air + n_air + 1
    low_air, high_air = window(fire[air:sub], n_air, cut)
    low_sub, high_sub = window(fire[sub : sub + n_sub + 1], n_sub, cut)
    share = cut / ((high_air - low_air + 1) * (high_sub - low_sub + 1))
    lacking = False
    for a in range(low_air, high_air + 1):
        for s in range(low_sub, high_sub + 1):
            both = fire[air + a] * fire[sub + s]
            if both <= share:
                continue
            row = known_row(facts, after, numbers, state, a, s, n_other)
            if row < 0:
                lacking = True
                continue
            last = np.int64(after[row]) - 1
            row += 1
            # The ends are near those of the numbers of hits before.
            tail = share / both
            while low > 0 and fire[or_fewer + low - 1] > tail:
                low -= 1
            while low < n_other and fire[or_fewer + low] <= tail:
                low += 1
            while high < n_other and fire[or_more + high + 1] > tail:
                high += 1
            while high > low and fire[or_more + high] <= tail:
                high -= 1
            for h in range(min(low, last), min(high, last) + 1):
                chance = both * (fire[other + h] if h < last else fire[or_more + h])
                if chance > 0.0:
                    to = after[row + h]
                    if sums[to] == 0.0:
                        states[n] = to
                        n += 1
                    sums[to] += chance
    lists.stays[which] = sums[state]
    for i in range(n):
        to = states[i]
        chances[i] = sums[to]
        sums[to] = 0.0
    return np.int64(-1) if lacking else n


@leaf
def learn(rules, plan, odds, side, fleet, state, shooters, firing, kind, air_hits_subs, cut, work):
    """Find out what `list_known` needs to know; arguments as there.

    Parameters
    ----------
    fleet, shooters : Fleet
        Of the side that is fired at, and of the enemy.

    Returns
    -------
    bool
        False if there is no room.
    """
    joins = _joins(fleet.facts, state, air_hits_subs)
    volley = _find_volley(rules, plan, odds, 1 - side, shooters, firing, kind, joins, work)
    if volley < 0:
        return False
    n_other = shooters.volleys[volley, _MOST + _OTHER]
    n_air = shooters.volleys[volley, _MOST + _AIR]
    n_sub = shooters.volleys[volley, _MOST + _SUB]
    air = shooters.volleys[volley, _AT] + 3 * (n_other + 1)
    sub = air + n_air + 1
    low_air, high_air = window(shooters.chances[air:sub], n_air, cut)
    low_sub, high_sub = window(shooters.chances[sub : sub + n_sub + 1], n_sub, cut)
    share = cut / ((high_air - low_air + 1) * (high_sub - low_sub + 1))
    n = np.int64(0)
    for a in range(low_air, high_air + 1):
        for s in range(low_sub, high_sub + 1):
            likely = shooters.chances[air + a] * shooters.chances[sub + s] > share or n_air + n_sub == 0
            if likely and known_row(fleet.facts, fleet.after, fleet.numbers, state, a, s, n_other) < 0:
                if n + n_other + 1 > len(work.places):
                    if not give_out(rules, plan, side, fleet, state, n, work):
                        return False
                    n = np.int64(0)
                n = queue_row(side, fleet, state, a, s, n_other, n, work)
                if n < 0:
                    return False
    return n == 0 or give_out(rules, plan, side, fleet, state, n, work)


@leaf
def list_losses(
    rules, plan, odds, side, fleet, state, shooters, firing, kind, air_hits_subs, cut, known, lists, which, work
):
    """Do what `list_known` does, and find out first what is not known; returns -1 if there is no room."""
    while True:
        n = list_known(known, side, state, firing, kind, air_hits_subs, cut, lists, which)
        if n >= 0 or not learn(rules, plan, odds, side, fleet, state, shooters, firing, kind, air_hits_subs, cut, work):
            return n
