"""States of one side of a sea battle, found while they are reached, and what hits make of them.

What a pair of states needs to know of either side is worked out once for each state: its board counts, what it has
lost, and, row by row, the states that hits lead to. The rules stay in `sea.py`: rows are calls of `take_losses` over
neighbouring lanes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from simcore.core.chain import find_or_add, slots_for
from simcore.core.jit import inlined_leaf, leaf, part
from simcore.enums import Side
from simcore.rulesets.general_combat.encoding import MAX_LOSS_GROUPS, LossForm, RowField
from simcore.rulesets.general_combat.lane import N_CLASSES, SEA_TOTALS, SIDE_TOTALS, few_lanes
from simcore.rulesets.general_combat.sea import (
    SeaTotal,
    allow_air_hits,
    changes_at_end,
    count_board,
    end_cycle_at_sea,
    find_endings,
    keep_doomed,
    note_doomed,
    note_unfired,
    submerge_both,
    take_losses,
)
from simcore.rulesets.general_combat.steps import acts_in_step_2

__all__ = [
    "AIR_HITS_SUBS",
    "ATTACKER",
    "CHANCES_USED",
    "COUNT",
    "COUNTS",
    "DEFENDER",
    "HITS",
    "HITS_LEFT",
    "LOST",
    "MOST",
    "N_VOLLEYS",
    "VOLLEYS",
    "Fleet",
    "Known",
    "Work",
    "acts",
    "add_start",
    "change_at_end",
    "end_cycle",
    "find_firing",
    "give_out",
    "hits_at_start",
    "known_row",
    "load_totals",
    "new_fleet",
    "new_known",
    "new_work",
    "prepare_fleet",
    "queue_row",
    "submerge_pair",
    "submerges_in_step_2",
]

_DAMAGE = int(LossForm.DAMAGE)
_HULL = int(LossForm.HULL)
_DAMAGED = int(LossForm.DAMAGED)
_SUBMERGED_FORM = int(LossForm.SUBMERGED)

_SUBMARINES = SeaTotal.SUBMARINES
_DESTROYERS = SeaTotal.DESTROYERS
_ARMED_SHIPS = SeaTotal.ARMED_SHIPS
_STRIKE_ALWAYS = int(RowField.STRIKE_ALWAYS)
_SUBMERGE_AT_END = int(RowField.SUBMERGE_AT_END)
_ATTACKER_SUBMERGE = int(RowField.ATTACKER_SUBMERGE)
_DEFENDER_SUBMERGE = int(RowField.DEFENDER_SUBMERGE)

# Kernels are compiled once more for each Python number that they are called with, but not for each of NumPy's.
ATTACKER = np.int64(Side.ATTACKER)
DEFENDER = np.int64(Side.DEFENDER)

_STEP_2 = 2
_NONE = -1

# Columns of `Fleet.facts`.
HITS_LEFT = 0
"""Hits that the side can still take."""
LOST = 1
"""Cost lost."""
AIR_HITS_SUBS = 2
"""1 where its aircraft can hit submarines."""
_LADDER = 3
"""Its row without hits of aircraft and submarines that stand apart, -1 while it has none."""
_ROWS = 4
"""Where the list of its other rows begins, -1 while it has none: one entry for each number of such hits."""
_SWEPT = 5
"""The state without its transports, -1 while none has been swept from it."""
COUNTS = 6
"""From here on, units on the board, by `SeaTotal`."""
VOLLEYS = COUNTS + SIDE_TOTALS
"""From here on, records of its fire, -1 while not known: see `sea_fire.py`."""
_N_VOLLEYS = 12
_N_FACTS = VOLLEYS + _N_VOLLEYS

_ROW_ROOM = 256
"""Entries of rows for each state for which there is room."""
_ROW_LANES = 256
"""Entries of rows that are worked out together, more where a single row needs more."""

# Entries of `Fleet.numbers`.
COUNT = 0
"""States so far."""
_USED = 1
"""Entries of `Fleet.after` in use."""
MOST = 2
"""From here on, most hits of the enemy by class."""
N_VOLLEYS = 5
"""Volleys so far."""
CHANCES_USED = 6
"""Entries of `Fleet.chances` in use."""
HITS = 7
"""Hits that the side can take at the start."""
_RADIX = 8
"""From here on, what one unit of a lane row adds to the key of a state."""


class Fleet(NamedTuple):
    """States of one side and its fire. N states, G lane rows, V volleys. Few arrays: each costs compile time.

    Attributes
    ----------
    units : int16 (N, G)
    facts : int64 (N, fields)
        What is known of a state.
    first : int64 (hits + 1,)
        Latest state found that can take so many hits, -1 at the end.
    following : int64 (N,)
        State found before it that can take as many hits.
    table : int64 (2, slots)
        Keys and places of states.
    after : int32 (A,)
        Rows: the length, then the states that 0, 1, ... hits on anything lead to.
    numbers : int64 (fields,)
    volleys : int64 (V, fields)
        Where a volley's distributions begin, and the most hits of each class.
    chances : float64 (B,)
        Of each volley: the probabilities of hits on anything, of so many or more, of so many or fewer, of hits of
        aircraft, and of submarines.
    """

    units: Any
    facts: Any
    first: Any
    following: Any
    table: Any
    after: Any
    numbers: Any
    volleys: Any
    chances: Any


class Known(NamedTuple):
    """What is known of the states of both sides, and their fire: arrays of `Fleet`, one side after the other.

    Pairs whose losses are known need no more.
    """

    facts: Any
    after: Any
    numbers: Any
    volleys: Any
    chances: Any


@part
def new_known(capacity, dice):
    """Return room for so many states of a side, of at most so many dice."""
    return Known(
        facts=np.empty((2, capacity, _N_FACTS), dtype=np.int64),
        after=np.empty((2, capacity * _ROW_ROOM), dtype=np.int32),
        numbers=np.zeros((2, _RADIX + MAX_LOSS_GROUPS), dtype=np.int64),
        volleys=np.empty((2, 4 * capacity, N_CLASSES + 1), dtype=np.int64),
        chances=np.empty((2, 4 * capacity * (2 * dice + 4))),
    )


class Work(NamedTuple):
    """Scratch of both sides. G lane rows, L lanes, H hits.

    Attributes
    ----------
    alive : int32 (G + 1, L)
    hits, caps, flags : int32 (rows, L)
        As of `Lanes`.
    keys : int64 (L,)
    places : int64 (L,)
        Where in `Fleet.after` the states of lanes belong.
    state : int32 (G + 1, 1)
        Units of a single state.
    totals, flag : int32 (rows, 1)
        Counts of a single state.
    dice : int32 (1,)
    pmfs : float64 (classes + 2, H)
    sizes : int64 (2, classes)
        Most hits and low-luck points by class.
    """

    alive: Any
    hits: Any
    caps: Any
    flags: Any
    keys: Any
    places: Any
    state: Any
    totals: Any
    flag: Any
    dice: Any
    pmfs: Any
    sizes: Any


@part
def new_work(hits):
    """Return scratch for at most so many hits."""
    n = max(np.int64(_ROW_LANES), hits + 1)
    lanes = few_lanes(n)
    one = few_lanes(np.int64(1))
    return Work(
        alive=lanes.alive,
        hits=lanes.hits,
        caps=lanes.caps,
        flags=lanes.air_hits_subs,
        keys=lanes.cycles,
        places=np.zeros(n, dtype=np.int64),
        state=one.alive,
        totals=one.totals,
        flag=one.air_hits_subs,
        dice=one.dice,
        pmfs=np.zeros((N_CLASSES + 2, hits + 2)),
        sizes=np.zeros((2, N_CLASSES), dtype=np.int64),
    )


@part
def new_fleet(known, side, hits):
    """Return room for the states of a side that can take at most so many hits."""
    capacity = known.facts.shape[1]
    return Fleet(
        units=np.empty((capacity, MAX_LOSS_GROUPS), dtype=np.int16),
        facts=known.facts[side],
        first=np.empty(hits + 1, dtype=np.int64),
        following=np.empty(capacity, dtype=np.int64),
        table=np.empty((2, slots_for(capacity)), dtype=np.int64),
        after=known.after[side],
        numbers=known.numbers[side],
        volleys=known.volleys[side],
        chances=known.chances[side],
    )


@part
def prepare_fleet(fleet, plan, side, counts, most):
    """Clear the room of a side for a new battle; returns whether 64 bits number all its states.

    Parameters
    ----------
    fleet : Fleet
    plan : Plan
    side : int64
    counts : int16 (T,)
        Units at the start.
    most : int64 (3,)
        Most hits of the enemy by class.
    """
    numbers = fleet.numbers
    numbers[:] = 0
    fleet.first[:] = _NONE
    fleet.table[1, :] = _NONE
    numbers[MOST : MOST + N_CLASSES] = most
    numbers[HITS] = hits_at_start(plan, side)
    step = np.int64(1)
    base = plan.groups[side, 0]
    for g in range(plan.groups[side, 0], plan.groups[side, 1]):
        form = plan.form[g]
        numbers[_RADIX + g - base] = step
        size = np.int64(1)
        if form != _DAMAGE:
            # Damaged ships and submerged submarines begin at 0 and can be all of their type.
            special = form == _DAMAGED or form == _SUBMERGED_FORM or form == _HULL
            size = np.int64(counts[plan.kind[g]]) + 1 if special else plan.start[g] + 1
        if step > (np.int64(1) << 61) // size:
            return False
        step *= size
    return True


@part
def hits_at_start(plan, side):
    """Return how many hits a side can take at the start."""
    hits = np.int64(0)
    for g in range(plan.groups[side, 0], plan.groups[side, 1]):
        form = plan.form[g]
        if form != _DAMAGE and form != _SUBMERGED_FORM:
            hits += (2 if form == _HULL else 1) * plan.start[g]
    return hits


@leaf
def _add_state(rules, plan, side, fleet, alive, i, work):
    """Add the side's state in lane `i`, which is a new one; returns False if there are too many."""
    new = fleet.numbers[COUNT]
    if new >= len(fleet.facts):
        return False
    fleet.numbers[COUNT] = new + 1
    base = plan.groups[side, 0]
    left = np.int64(0)
    lost = np.int64(0)
    for g in range(plan.groups[side, 0], plan.groups[side, 1]):
        n = np.int64(alive[g, i])
        work.state[g, 0] = n
        fleet.units[new, g - base] = n
        lost += (plan.start[g] - n) * plan.cost[g]
        form = plan.form[g]
        if form != _SUBMERGED_FORM and form != _DAMAGE:
            left += (2 if form == _HULL else 1) * n
    count_board(plan, work.state, 1, work.totals)
    allow_air_hits(rules, side, work.totals, 1, work.flag)
    facts = fleet.facts[new]
    facts[:] = _NONE
    for q in range(SIDE_TOTALS):
        facts[COUNTS + q] = work.totals[SEA_TOTALS + side * SIDE_TOTALS + q, 0]
    facts[AIR_HITS_SUBS] = work.flag[side, 0]
    facts[HITS_LEFT] = left
    facts[LOST] = lost
    fleet.following[new] = fleet.first[left]
    fleet.first[left] = new
    return True


@leaf
def _find(rules, plan, side, fleet, alive, work):
    """Return the index of the side's state in lane 0, -1 if there are too many."""
    base = plan.groups[side, 0]
    key = np.int64(0)
    for g in range(plan.groups[side, 0], plan.groups[side, 1]):
        key += fleet.numbers[_RADIX + g - base] * alive[g, 0]
    new = fleet.numbers[COUNT]
    at = find_or_add(fleet.table[0], fleet.table[1], key, new)
    if at == new and not _add_state(rules, plan, side, fleet, alive, np.int64(0), work):
        return np.int64(_NONE)
    return at


@leaf
def _load(plan, side, fleet, state, alive):
    base = plan.groups[side, 0]
    for g in range(plan.groups[side, 0], plan.groups[side, 1]):
        alive[g, 0] = fleet.units[state, g - base]


@leaf
def _load_pair(plan, own, enemy, x, y, alive):
    """Copy the units of a pair of states to lane 0 of `alive`."""
    _load(plan, ATTACKER, own, x, alive)
    _load(plan, DEFENDER, enemy, y, alive)


@leaf
def load_totals(facts, x, y, totals):
    """Copy the board counts of a pair of states to lane 0 of `totals`."""
    for q in range(SIDE_TOTALS):
        totals[SEA_TOTALS + q, 0] = facts[0, x, COUNTS + q]
        totals[SEA_TOTALS + SIDE_TOTALS + q, 0] = facts[1, y, COUNTS + q]


@leaf
def add_start(rules, plan, own, enemy, alive, work):
    """Add the states of both sides before the battle."""
    for side in range(2):
        for g in range(plan.groups[side, 0], plan.groups[side, 1]):
            alive[g, 0] = plan.start[g]
    _find(rules, plan, ATTACKER, own, alive, work)
    _find(rules, plan, DEFENDER, enemy, alive, work)


@inlined_leaf
def known_row(facts, after, numbers, state, air, sub, others):
    """Return where the row of a state under some hits of aircraft and submarines begins, -1 if it is not known.

    It must be as long as `others`, the most hits on anything beside them, demands.
    """
    left = facts[state, HITS_LEFT]
    at = facts[state, _LADDER]
    if air > 0 or sub > 0:
        block = facts[state, _ROWS]
        if block < 0:
            return block
        # More hits than there is to hit do no more.
        at = np.int64(after[block + min(air, left) * (numbers[MOST + 2] + 1) + min(sub, left)])
    if at >= 0 and after[at] <= min(left, others):
        return np.int64(_NONE)
    return at


@inlined_leaf
def queue_row(side, fleet, state, air, sub, others, n, work):
    """Begin the row of a state that `known_row` does not find: its entries wait in lanes for `give_out`.

    Parameters
    ----------
    air, sub : int64
        Hits of aircraft and submarines.
    others : int64
        Most hits on anything beside them.
    n : int64
        Entries that wait already, of the same state. There must be lanes for those of this row.

    Returns
    -------
    int64
        Entries that wait then, -1 if there is no room for the row.
    """
    left = fleet.facts[state, HITS_LEFT]
    length = min(left, others) + 1
    block = np.int64(_NONE)
    if air > 0 or sub > 0:
        block = fleet.facts[state, _ROWS]
        if block < 0:
            size = (fleet.numbers[MOST + 1] + 1) * (fleet.numbers[MOST + 2] + 1)
            block = fleet.numbers[_USED]
            if block + size > len(fleet.after):
                return np.int64(_NONE)
            fleet.numbers[_USED] = block + size
            for k in range(size):
                fleet.after[block + k] = _NONE
            fleet.facts[state, _ROWS] = block
    air = min(air, left)
    sub = min(sub, left)
    at = fleet.numbers[_USED]
    if at + length + 1 > len(fleet.after):
        return np.int64(_NONE)
    fleet.numbers[_USED] = at + length + 1
    fleet.after[at] = length
    if block < 0:
        fleet.facts[state, _LADDER] = at
    else:
        fleet.after[block + air * (fleet.numbers[MOST + 2] + 1) + sub] = at
    hit_row = (1 - side) * N_CLASSES
    for h in range(length):
        work.hits[hit_row, n] = h
        work.hits[hit_row + 1, n] = air
        work.hits[hit_row + 2, n] = sub
        work.places[n] = at + 1 + h
        n += 1
    return n


@leaf
def give_out(rules, plan, side, fleet, state, n, work):
    """Complete the rows of a state whose last `n` entries wait in lanes; returns False if there is no room."""
    base = plan.groups[side, 0]
    alive = work.alive
    keys = work.keys
    for g in range(plan.groups[side, 0], plan.groups[side, 1]):
        units = fleet.units[state, g - base]
        for i in range(n):
            alive[g, i] = units
    for i in range(n):
        # Hits of aircraft that may fall on submarines are among those on anything.
        work.flags[1 - side, i] = 0
        keys[i] = 0
    take_losses(plan, side, n, alive, work.hits, work.flags, work.caps)
    for g in range(plan.groups[side, 0], plan.groups[side, 1]):
        step = fleet.numbers[_RADIX + g - base]
        for i in range(n):
            keys[i] += step * alive[g, i]
    for i in range(n):
        new = fleet.numbers[COUNT]
        after = find_or_add(fleet.table[0], fleet.table[1], keys[i], new)
        if after == new and not _add_state(rules, plan, side, fleet, alive, i, work):
            return False
        fleet.after[work.places[i]] = after
    return True


@inlined_leaf
def acts(rules, facts, side, state, facing):
    """Whether the submarines of a side's state act in step 2 against a state of the enemy (GC-4.2.1)."""
    own = facts[side, state, COUNTS + _SUBMARINES]
    return acts_in_step_2(own, facts[1 - side, facing, COUNTS + _DESTROYERS], rules[_STRIKE_ALWAYS])


@inlined_leaf
def end_cycle(rules, facts, x, y, cycle, totals, cycles, ending):
    """How a cycle ends in a pair of states, or whether the first one begins.

    Returns
    -------
    int64
        By `Ending`; `totals` hold what the outcome depends on. -1 where `change_at_end` must change the states first.
    """
    load_totals(facts, x, y, totals)
    if changes_at_end(rules, totals, 0):
        return np.int64(_NONE)
    cycles[0] = cycle
    find_endings(rules, totals, 1, cycles, ending)
    return np.int64(ending[0])


@leaf
def change_at_end(rules, plan, facts, own, enemy, x, y, cycle, one, work):
    """Sweep and submerge at the end of a cycle in a pair of states.

    Returns
    -------
    ending : int64
        How the cycle ends then, by `Ending`; ``one.totals`` hold what the outcome depends on.
    left, right : int64
        The states after it, -1 where there are too many.
    """
    one.cycles[0] = cycle
    only_sweeps = rules[_SUBMERGE_AT_END] == 0
    swept = facts[1, y, _SWEPT]
    if only_sweeps and swept >= 0:
        load_totals(facts, x, swept, one.totals)
        find_endings(rules, one.totals, 1, one.cycles, one.ending)
        return np.int64(one.ending[0]), x, swept
    _load_pair(plan, own, enemy, x, y, one.alive)
    end_cycle_at_sea(rules, plan, one, 1, None)
    left = _find(rules, plan, ATTACKER, own, one.alive, work)
    right = _find(rules, plan, DEFENDER, enemy, one.alive, work)
    if only_sweeps and right >= 0 and facts[1, y, COUNTS + _ARMED_SHIPS] == facts[1, right, COUNTS + _ARMED_SHIPS]:
        # Whoever faces it, a sweep leaves the same. Transports that could fire count until step 6 is over.
        facts[1, y, _SWEPT] = right
    return np.int64(one.ending[0]), left, right


@leaf
def submerge_pair(rules, plan, own, enemy, x, y, cycle, one, work):
    """Submerge by policy at the beginning of a cycle; returns the states after it, counted in ``one.totals``."""
    one.cycles[0] = cycle
    _load_pair(plan, own, enemy, x, y, one.alive)
    submerge_both(rules, plan, one, 1, _STEP_2, None)
    return _find(rules, plan, ATTACKER, own, one.alive, work), _find(rules, plan, DEFENDER, enemy, one.alive, work)


@leaf
def submerges_in_step_2(rules):
    """Whether submarines may submerge at the beginning of a cycle."""
    return rules[_SUBMERGE_AT_END] == 0 and rules[_ATTACKER_SUBMERGE] + rules[_DEFENDER_SUBMERGE] != 0


@leaf
def find_firing(rules, plan, side, fleet, before, after, unfired, totals, one_alive, one_doomed, work):
    """Return the state of who of a side fires in steps 3 and 4 (GC-2.3:sub_first_strike), -1 if there are too many.

    `before` and `after` are its states around step 2, `unfired` says that it was struck before its submarines
    could; `totals` count the board before step 2.
    """
    _load(plan, side, fleet, before, one_alive)
    note_doomed(plan, side, 1, one_alive, one_doomed)
    _load(plan, side, fleet, after, one_alive)
    if unfired:
        note_unfired(plan, side, 1, one_alive, one_doomed)
    keep_doomed(plan, side, totals, 1, one_alive, unfired, one_doomed)
    return _find(rules, plan, side, fleet, one_doomed, work)
