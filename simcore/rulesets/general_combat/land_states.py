"""States of a side on land: what the order of loss leaves of it, what it can do then, and the hits that it scores.

Each further hit leads to one next state, so a side has one chain of states for each result of the antiaircraft
fire, and one more for each way in which some may have left an assault.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from simcore.core.chain import binomial, convolve, find_or_add, new_table, slots_for, two_point, window
from simcore.core.jit import borrowed, part
from simcore.rulesets.general_combat.encoding import MAX_LOSS_GROUPS, LossForm, RowField, UnitType
from simcore.rulesets.general_combat.landing import break_off, muster_attackers
from simcore.rulesets.general_combat.lane import AA_GUN, count_dice, is_aircraft, is_land, remove
from simcore.rulesets.general_combat.steps import leaving_units, may_leave_assault

__all__ = [
    "AFTER",
    "AIRCRAFT",
    "AWAY",
    "BOARD",
    "GUNS",
    "HIGH",
    "LAND",
    "LEFT",
    "LOST",
    "LOW",
    "MOST",
    "OVERLAND",
    "STANDING",
    "States",
    "attacker_radix",
    "fire_aa",
    "list_attackers",
    "list_defenders",
    "most_hits",
    "new_room",
    "new_states",
]

BOARD = 0
"""Units on the board."""
LAND = 1
"""Land units among them."""
STANDING = 2
"""Combat units: all but AAA units."""
GUNS = 3
"""AAA units."""
AIRCRAFT = 4
OVERLAND = 5
"""Land units that did not come from transports."""
LOST = 6
"""Cost lost."""
AFTER = 7
"""State after one more hit."""
LEFT = 8
"""State after those who may have left an assault, -1 if nobody leaves."""
MOST = 9
"""Most hits that the side scores in a cycle."""
LOW = 10
"""First and last number of hits that count."""
HIGH = 11
AWAY = 12
"""Units that have left the battle."""
_FACTS = 13

_N_TYPES = len(UnitType)
_ROWS = 2 * MAX_LOSS_GROUPS + 1
_LANDED = int(LossForm.LANDED)
_ELSEWHERE = int(LossForm.ELSEWHERE)

_AA_ODDS = int(RowField.AA_ODDS)
_AA_OWNER_PICKS = int(RowField.AA_OWNER_PICKS)
_LOW_LUCK_COMBAT = int(RowField.LOW_LUCK_COMBAT)
_LOW_LUCK_AA = int(RowField.LOW_LUCK_AA)
_POINTS = (int(RowField.ATTACK_POINTS), int(RowField.DEFENCE_POINTS))
_PER_ARTILLERY = int(RowField.PER_ARTILLERY)
_POSSIBLE = int(RowField.RETREAT_POSSIBLE)
_AFTER_CYCLES = int(RowField.RETREAT_AFTER_CYCLES)
_AT_MOST = int(RowField.RETREAT_UNITS_AT_MOST)
_ONLY_AIRCRAFT = int(RowField.RETREAT_ONLY_AIRCRAFT)
_ONLY_AIRCRAFT_LEAVE = int(RowField.ONLY_AIRCRAFT_LEAVE)
_LANDING = int(RowField.LANDING)

_TAIL = 1e-17
"""Probability that may be cut off at either end of a distribution of hits in one state."""


class States(NamedTuple):
    """States of one side. N states, G lane rows, H numbers of hits.

    Attributes
    ----------
    units : int16 (N, G)
        Units of each row.
    facts : int64 (N, F)
        Columns `BOARD` to `AWAY`.
    hits : float64 (N, H)
        Distribution of the hits that the side scores in a cycle.
    radix : int64 (G,)
        Weights that make one number of a state's units.
    keys, places : int64 (slots,)
        Table of states by that number.
    """

    units: Any
    facts: Any
    hits: Any
    radix: Any
    keys: Any
    places: Any


class Room(NamedTuple):
    """Work space while states are described. G lane rows.

    Attributes
    ----------
    alive, doomed : int32 (2 * G + 1, 1)
        Units in lane 0.
    dice, hits : int32
    thrown, sizes : int64 (slots + 1,)
        Dice of each firing group in the state described last, and the most hits of those from there on.
    sums : float64 (slots + 1, H)
        Distribution of the hits of each firing group and those behind it.
    single : float64 (H,)
    """

    alive: Any
    doomed: Any
    dice: Any
    hits: Any
    thrown: Any
    sizes: Any
    sums: Any
    single: Any


@part
def new_states(capacity, most):
    """Return room for the states of a side that scores at most `most` hits."""
    keys, places = new_table(slots_for(capacity))
    return States(
        units=np.zeros((capacity, MAX_LOSS_GROUPS), dtype=np.int16),
        facts=np.zeros((capacity, _FACTS), dtype=np.int64),
        hits=np.zeros((capacity, most + 1), dtype=np.float64),
        radix=np.ones(MAX_LOSS_GROUPS, dtype=np.int64),
        keys=keys,
        places=places,
    )


@part
def new_room(plan, side, width):
    """Return work space; `width` is more than any number of dice, hits or units of the side."""
    slots = plan.n_slots[side]
    return Room(
        alive=np.zeros((_ROWS, 1), dtype=np.int32),
        doomed=np.zeros((_ROWS, 1), dtype=np.int32),
        dice=np.zeros(1, dtype=np.int32),
        hits=np.zeros((1, 1), dtype=np.int32),
        thrown=np.full(slots + 1, -1, dtype=np.int64),
        sizes=np.zeros(slots + 1, dtype=np.int64),
        sums=np.zeros((slots + 1, width)),
        single=np.zeros(width),
    )


@part
def most_hits(plan, side, start):
    """Most dice that a side could ever roll in a cycle."""
    total = np.int64(0)
    for k in range(plan.n_slots[side]):
        t = plan.slots[side, k, 0]
        total += start[t] * plan.slots[side, k, 4]
    return total


@part
def attacker_radix(plan, counts, states):
    """Give numbers to the attacker's states; returns False where 64 bits are not enough."""
    base = plan.groups[0, 0]
    step = np.int64(1)
    for g in range(plan.groups[0, 0], plan.groups[0, 1]):
        states.radix[g - base] = step
        size = plan.start[g] + 1
        if plan.form[g] == _ELSEWHERE:
            size = np.int64(counts[plan.kind[g]]) + 1
        if step > (np.int64(1) << 62) // size:
            return False
        step *= size
    return True


@part
def _read_units(plan, side, units, state, alive):
    base = plan.groups[side, 0]
    for g in range(plan.groups[side, 0], plan.groups[side, 1]):
        alive[g, 0] = units[state, g - base]


@part
def _add_attacker(plan, states, n, alive):
    """Return the index of the attacker's state on `alive`: `n` if it is a new one, -1 if there is no room."""
    base = plan.groups[0, 0]
    key = np.int64(0)
    for g in range(plan.groups[0, 0], plan.groups[0, 1]):
        key += states.radix[g - base] * alive[g, 0]
    if n >= len(states.facts):
        return np.int64(-1)
    at = find_or_add(states.keys, states.places, key, n)
    if at == n:
        for g in range(plan.groups[0, 0], plan.groups[0, 1]):
            states.units[n, g - base] = alive[g, 0]
    return at


@part
def _score(rules, plan, odds, side, units, room, out):
    """Fill `out` with the distribution of the hits of `units` in a cycle; returns the most hits.

    The firing groups' sums are kept from the back on: neighbouring states differ in one group only, the one that
    is lost next, and those lost last stand at the back.
    """
    per_hit = rules[_POINTS[side]]
    low_luck = rules[_LOW_LUCK_COMBAT] != 0
    points = np.int64(0)
    last = plan.n_slots[side]
    room.sums[last, 0] = 1.0
    fresh = False
    # Once here and not in each turn of the loop: every access counts a reference.
    slots = plan.slots
    kind = plan.kind
    first = plan.first
    second = plan.second
    dice = room.dice
    for k in range(last - 1, -1, -1):
        slot = slots[side, k]
        count_dice(units, 1, side, slot, rules[_PER_ARTILLERY], kind, first, second, dice)
        thrown = np.int64(dice[0])
        numerator = odds[slot[2], 0]
        denominator = odds[slot[2], 1]
        if low_luck:
            points += thrown * numerator * (per_hit // denominator)
            continue
        if not fresh and room.thrown[k] == thrown:
            continue
        fresh = True
        room.thrown[k] = thrown
        before = room.sizes[k + 1]
        room.sizes[k] = before + thrown
        if thrown == 0:
            for h in range(before + 1):
                room.sums[k, h] = room.sums[k + 1, h]
        else:
            binomial(thrown, numerator, denominator, room.single)
            convolve(room.single, thrown, room.sums[k + 1], before, room.sums[k])
    if low_luck:
        if points > 0:
            return two_point(points, per_hit, out)
        out[0] = 1.0
        return np.int64(0)
    most = room.sizes[0]
    for h in range(most + 1):
        out[h] = room.sums[0, h]
    return most


@part
def _describe(rules, plan, odds, side, states, i, room):
    """Count the units of state `i`, what is lost in it, and the distribution of the hits it scores."""
    alive = room.alive
    facts = states.facts[i]
    _read_units(plan, side, states.units, i, alive)
    lost = np.int64(0)
    for g in range(plan.groups[side, 0], plan.groups[side, 1]):
        n = np.int64(alive[g, 0])
        lost += (plan.start[g] - n) * plan.cost[g]
        if plan.form[g] == _ELSEWHERE:
            facts[AWAY] += n
            continue
        t = plan.kind[g]
        facts[BOARD] += n
        if t == AA_GUN:
            facts[GUNS] += n
        else:
            facts[STANDING] += n
        if is_land(t):
            facts[LAND] += n
            if plan.form[g] != _LANDED:
                facts[OVERLAND] += n
        elif is_aircraft(t):
            facts[AIRCRAFT] += n
    facts[LOST] = lost
    facts[LEFT] = -1
    units = alive
    if side == 0 and rules[_LANDING] != 0:
        muster_attackers(plan, alive, 1, room.doomed)
        units = room.doomed
    scored = states.hits[i]
    most = _score(rules, plan, odds, side, units, room, scored)
    low, high = window(scored, most, _TAIL)
    facts[MOST] = most
    facts[LOW] = low
    facts[HIGH] = high


@part
def fire_aa(rules, lent_plan, odds, lent_states, lent_room, starts, chances):
    """Find the states after antiaircraft fire and their probabilities (GC-4.0.1 to GC-4.0.3).

    Returns the number of states and the number of starts; -1 states for too many.
    """
    plan = borrowed(lent_plan)
    states = borrowed(lent_states)
    room = borrowed(lent_room)
    alive = room.alive
    for g in range(plan.groups[0, 0], plan.groups[0, 1]):
        alive[g, 0] = plan.start[g]
    _add_attacker(plan, states, 0, alive)
    n = np.int64(1)
    n_starts = np.int64(1)
    starts[0] = 0
    chances[0] = 1.0
    owner_picks = rules[_AA_OWNER_PICKS] != 0
    pmf = room.single
    for t in range(_N_TYPES):
        thrown = plan.aa_pools[t]
        if thrown == 0:
            continue
        numerator = odds[rules[_AA_ODDS], 0]
        denominator = odds[rules[_AA_ODDS], 1]
        most = thrown
        if rules[_LOW_LUCK_AA] != 0:
            most = two_point(thrown * numerator, denominator, pmf)
        else:
            binomial(thrown, numerator, denominator, pmf)
        before = n_starts
        for s in range(before):
            chance = chances[s]
            origin = starts[s]
            for scored in range(most + 1):
                if pmf[scored] == 0.0:
                    continue
                _read_units(plan, 0, states.units, origin, alive)
                room.hits[0, 0] = scored
                for g in range(plan.board[0, 0], plan.board[0, 1]):
                    if is_aircraft(plan.kind[g]) if owner_picks else plan.kind[g] == t:
                        remove(alive, g, g + 1, 0, 1, room.hits, 0)
                at = _add_attacker(plan, states, n, alive)
                if at < 0 or n_starts >= len(starts):
                    return np.int64(-1), n_starts
                if at == n:
                    n += 1
                starts[n_starts] = at
                chances[n_starts] = chance * pmf[scored]
                n_starts += 1
        for s in range(before, n_starts):
            starts[s - before] = starts[s]
            chances[s - before] = chances[s]
        n_starts -= before
    return n, n_starts


@part
def list_attackers(lent_rules, lent_plan, lent_odds, lent_states, n, lent_room):
    """Complete the attacker's states: those after hits, and those after some have left; returns their number."""
    rules = borrowed(lent_rules)
    plan = borrowed(lent_plan)
    odds = borrowed(lent_odds)
    states = borrowed(lent_states)
    room = borrowed(lent_room)
    alive = room.alive
    # Only where a policy may ask for it do some leave while others stay.
    in_part = rules[_LANDING] != 0 and rules[_AFTER_CYCLES] + rules[_AT_MOST] + rules[_ONLY_AIRCRAFT] > 0
    i = np.int64(0)
    while i < n:
        _describe(rules, plan, odds, 0, states, i, room)
        facts = states.facts[i]
        if facts[BOARD] == 0:
            facts[AFTER] = i
            i += 1
            continue
        _read_units(plan, 0, states.units, i, alive)
        room.hits[0, 0] = 1
        remove(alive, plan.board[0, 0], plan.board[0, 1], 0, 1, room.hits, 0)
        at = _add_attacker(plan, states, n, alive)
        if at < 0:
            return at
        n = max(n, at + 1)
        facts[AFTER] = at
        if in_part:
            only = rules[_ONLY_AIRCRAFT_LEAVE]
            leaving = leaving_units(facts[AIRCRAFT], facts[OVERLAND], only)
            may_leave = may_leave_assault(rules[_POSSIBLE], facts[AIRCRAFT], facts[OVERLAND], only)
            if 0 < leaving < facts[BOARD] and may_leave:
                _read_units(plan, 0, states.units, i, alive)
                break_off(plan, alive, 0, only)
                at = _add_attacker(plan, states, n, alive)
                if at < 0:
                    return at
                n = max(n, at + 1)
                facts[LEFT] = at
        i += 1
    return n


@part
def list_defenders(lent_rules, lent_plan, lent_odds, lent_states, lent_room):
    """List the defender's states, one for each number of hits; returns their number."""
    rules = borrowed(lent_rules)
    plan = borrowed(lent_plan)
    odds = borrowed(lent_odds)
    states = borrowed(lent_states)
    room = borrowed(lent_room)
    alive = room.alive
    base = plan.groups[1, 0]
    n = np.int64(0)
    for g in range(plan.groups[1, 0], plan.groups[1, 1]):
        n += plan.start[g]
        alive[g, 0] = plan.start[g]
    for d in range(n + 1):
        if d > 0:
            _read_units(plan, 1, states.units, d - 1, alive)
            room.hits[0, 0] = 1
            remove(alive, plan.board[1, 0], plan.board[1, 1], 0, 1, room.hits, 0)
        for g in range(plan.groups[1, 0], plan.groups[1, 1]):
            states.units[d, g - base] = alive[g, 0]
        _describe(rules, plan, odds, 1, states, d, room)
        states.facts[d, AFTER] = min(d + 1, n)
    return n + 1
