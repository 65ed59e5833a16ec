"""Exact solver of sea battles: every pair of states and its probability, from the sampler's own steps.

At sea the hits of a side come in classes, submarines act before the others and what can be hit depends on both
sides, so states are found while they are reached. Within a step each side's losses depend on the enemy's
dice alone: what either side may be left with is worked out apart, and the two are combined. States are
taken in order of the hits that both sides can still take, which never grow; a state's loop to itself is
divided out. Cycles that a retreat after n cycles or a cycle limit counts are part of the state.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from simcore.core.chain import binomial, convolve, find_or_add, new_table, two_point, window
from simcore.core.jit import kernel
from simcore.enums import Status
from simcore.rulesets.general_combat.encoding import (
    MAX_LOSS_GROUPS,
    Accumulator,
    HitClass,
    LossForm,
    Outcome,
    RowField,
    UnitType,
)
from simcore.rulesets.general_combat.ends import note_end
from simcore.rulesets.general_combat.lane import (
    LANES,
    N_CLASSES,
    SLOT_CLASS,
    SLOT_ODDS,
    SLOT_TYPE,
    Ending,
    count_dice,
    is_aircraft,
    new_lanes,
    plan_matchup,
)
from simcore.rulesets.general_combat.sea import (
    allow_air_hits,
    conclude_at_sea,
    count_board,
    end_cycle_at_sea,
    keep_doomed,
    note_doomed,
    note_strikes,
    note_unfired,
    submerge_both,
    take_losses,
)
from simcore.rulesets.general_combat.steps import aircraft_without_room

__all__ = ["solve_all_at_sea", "solve_sea"]

_OK = int(Status.OK)
_CAPACITY = int(Status.CAPACITY)

_N_TYPES = len(UnitType)
_AIR = int(HitClass.AIR)
_SUBMARINE = int(UnitType.SUBMARINE)
_FIGHTER = int(UnitType.FIGHTER)
_TAC = int(UnitType.TACTICAL_BOMBER)
_CARRIER = int(UnitType.CARRIER)
_BATTLESHIP = int(UnitType.BATTLESHIP)
_DAMAGE = int(LossForm.DAMAGE)
_HULL = int(LossForm.HULL)
_DAMAGED = int(LossForm.DAMAGED)
_SUBMERGED_FORM = int(LossForm.SUBMERGED)

_STRIKE = 2
_ATTACK = 3

_STRIKE_ALWAYS = int(RowField.STRIKE_ALWAYS)
_SUBMERGE_AT_END = int(RowField.SUBMERGE_AT_END)
_ATTACKER_STRIKES_FIRST = int(RowField.ATTACKER_STRIKES_FIRST)
_DOOMED_DESTROYER_COUNTS = int(RowField.DOOMED_DESTROYER_COUNTS)
_LOW_LUCK_COMBAT = int(RowField.LOW_LUCK_COMBAT)
_POINTS = (int(RowField.ATTACK_POINTS), int(RowField.DEFENCE_POINTS))
_PER_ARTILLERY = int(RowField.PER_ARTILLERY)
_AFTER = int(RowField.RETREAT_AFTER_CYCLES)
_LIMIT = int(RowField.CYCLE_LIMIT)
_DAMAGED_GIVE_ROOM = int(RowField.DAMAGED_GIVE_ROOM)

_GOES_ON = Ending.NONE
_CONDITION_A = Ending.CONDITION_A
_RETREAT = Ending.RETREAT

_N_OUTCOMES = len(Outcome)
_RETREATS = int(Outcome.ATTACKER_RETREATS)
_UNFINISHED = int(Outcome.UNFINISHED)

_A_BATTLES = int(Accumulator.BATTLES)
_A_OUTCOMES = int(Accumulator.OUTCOMES)
_A_CYCLES = int(Accumulator.CYCLES)
_A_ATTACKER_LOST = int(Accumulator.ATTACKER_LOST)
_A_SWING = int(Accumulator.SWING)
_A_SUBMERGED = int(Accumulator.SUBMERGED)
_A_DAMAGED = int(Accumulator.DAMAGED)
_A_NO_LANDING = int(Accumulator.NO_LANDING)
_A_SURVIVORS = int(Accumulator.SURVIVORS)

_TAIL = 1e-17
_SPECK = 1e-19
_REMNANT = 1e-21
"""States less likely than this are not followed."""
_LISTS = 1 << 38
_MOST_EFFORT = 3_000_000_000
"""Pairs of states that a solution may lead to, repeated ones included: some minutes of work."""


class _Fleet(NamedTuple):
    """States of one side. N states, G lane rows.

    Attributes
    ----------
    units : int16 (N, G)
    hits_left : int32 (N,)
        Hits that the side can still take.
    keys, places : int64 (slots,)
        Table of states.
    radix : int64 (G,)
    count : int64 (1,)
        States so far.
    mark, place : int64 (N,)
        Which list a state is part of now, and where.
    """

    units: Any
    hits_left: Any
    keys: Any
    places: Any
    radix: Any
    count: Any
    mark: Any
    place: Any


class _Pairs(NamedTuple):
    """Pairs of states after some number of cycles.

    Attributes
    ----------
    own, enemy, cycle : int32 (P,)
    chance, stamp : float64 (P,)
        Probability of arriving, and the same times the number of the next cycle.
    following : int32 (P,)
        Next pair of the same level, -1 at the end.
    head : int32 (levels,)
        First pair of each level.
    keys, places : int64 (slots,)
    count : int64 (1,)
    """

    own: Any
    enemy: Any
    cycle: Any
    chance: Any
    stamp: Any
    following: Any
    head: Any
    keys: Any
    places: Any
    count: Any


class _Options(NamedTuple):
    """What a side may be left with: states and probabilities."""

    states: Any
    chances: Any


@kernel
def _slots_for(n):
    slots = np.int64(16)
    while slots < 2 * n + 2:
        slots *= 2
    return slots


@kernel
def _new_fleet(capacity):
    keys, places = new_table(_slots_for(capacity))
    return _Fleet(
        units=np.zeros((capacity, MAX_LOSS_GROUPS), dtype=np.int16),
        hits_left=np.zeros(capacity, dtype=np.int32),
        keys=keys,
        places=places,
        radix=np.ones(MAX_LOSS_GROUPS, dtype=np.int64),
        count=np.zeros(1, dtype=np.int64),
        mark=np.full(capacity, -1, dtype=np.int64),
        place=np.zeros(capacity, dtype=np.int64),
    )


@kernel
def _set_radix(plan, side, counts, fleet):
    """Give numbers to the states of a side; returns False where 64 bits are not enough."""
    step = np.int64(1)
    base = plan.groups[side, 0]
    for g in range(plan.groups[side, 0], plan.groups[side, 1]):
        fleet.radix[g - base] = step
        size = np.int64(1)
        if plan.form[g] != _DAMAGE:
            # Damaged ships and submerged submarines begin at 0 and can be all of their type.
            special = plan.form[g] == _DAMAGED or plan.form[g] == _SUBMERGED_FORM or plan.form[g] == _HULL
            size = np.int64(counts[plan.kind[g]]) + 1 if special else plan.start[g] + 1
        if step > (np.int64(1) << 61) // size:
            return False
        step *= size
    return True


@kernel
def _find_state(plan, side, fleet, alive, i):
    """Return the index of the side's state in lane `i`, -1 if there are too many."""
    base = plan.groups[side, 0]
    key = np.int64(0)
    for g in range(plan.groups[side, 0], plan.groups[side, 1]):
        key += fleet.radix[g - base] * alive[g, i]
    new = fleet.count[0]
    if new >= len(fleet.hits_left):
        return np.int64(-1)
    at = find_or_add(fleet.keys, fleet.places, key, new)
    if at == new:
        fleet.count[0] = new + 1
        left = np.int64(0)
        for g in range(plan.groups[side, 0], plan.groups[side, 1]):
            fleet.units[new, g - base] = alive[g, i]
            form = plan.form[g]
            if form != _SUBMERGED_FORM and form != _DAMAGE:
                left += (2 if form == _HULL else 1) * alive[g, i]
        fleet.hits_left[new] = left
    return at


@kernel
def _load(plan, side, fleet, state, alive):
    base = plan.groups[side, 0]
    for g in range(plan.groups[side, 0], plan.groups[side, 1]):
        alive[g, 0] = fleet.units[state, g - base]


@kernel
def _arrive(pairs, top, width, own, enemy, hits_left, cycle, chance, stamp):
    """Add a probability to a pair of states; returns False if there are too many pairs."""
    new = pairs.count[0]
    if new >= len(pairs.chance):
        return False
    key = (np.int64(cycle) * width + own) * width + enemy
    at = find_or_add(pairs.keys, pairs.places, key, new)
    if at == new:
        pairs.count[0] = new + 1
        pairs.own[new] = own
        pairs.enemy[new] = enemy
        pairs.cycle[new] = cycle
        level = cycle * (top + 1) + top - hits_left
        pairs.following[new] = pairs.head[level]
        pairs.head[level] = new
    pairs.chance[at] += chance
    pairs.stamp[at] += stamp
    return True


@kernel
def _hits_by_class(rules, plan, odds, units, side, step, struck, dice, pmfs, sizes, points, scratch):
    """Fill `pmfs` with the distributions of a side's hits by class in one step; `sizes` gets the most of each."""
    low_luck = rules[_LOW_LUCK_COMBAT] != 0
    per_hit = rules[_POINTS[side]]
    for c in range(N_CLASSES):
        sizes[c] = 0
        pmfs[c, 0] = 1.0
        points[c] = 0
    for k in range(plan.n_slots[side]):
        slot = plan.slots[side, k]
        is_submarine = slot[SLOT_TYPE] == _SUBMARINE
        if step == _STRIKE and not is_submarine:
            continue
        if is_submarine and (step == _STRIKE or rules[_STRIKE_ALWAYS] == 0):
            if struck[side, 0] != (1 if step == _STRIKE else 0):
                continue
        count_dice(units, 1, side, slot, rules[_PER_ARTILLERY], plan.kind, plan.first, plan.second, dice)
        thrown = np.int64(dice[0])
        if thrown == 0:
            continue
        numerator = odds[slot[SLOT_ODDS], 0]
        denominator = odds[slot[SLOT_ODDS], 1]
        c = slot[SLOT_CLASS]
        if low_luck:
            points[c] += thrown * numerator * (per_hit // denominator)
            continue
        binomial(thrown, numerator, denominator, scratch[0])
        convolve(pmfs[c], sizes[c], scratch[0], thrown, scratch[1])
        sizes[c] += thrown
        for h in range(sizes[c] + 1):
            pmfs[c, h] = scratch[1, h]
    if low_luck:
        for c in range(N_CLASSES):
            if points[c] > 0:
                sizes[c] = two_point(points[c], per_hit, pmfs[c])


@kernel
def _merge_classes(plan, side, alive, pmfs, sizes, air_hits_subs, scratch):
    """Add to the hits that may fall on anything those that do so here (GC-4.8.1).

    Hits of aircraft may where they can hit submarines or there are none, hits of submarines where there are no
    aircraft. What is left apart is what matters.
    """
    aircraft = np.int64(0)
    submarines = np.int64(0)
    for g in range(plan.groups[side, 0], plan.groups[side, 1]):
        if is_aircraft(plan.kind[g]):
            aircraft += alive[g, 0]
        elif plan.kind[g] == _SUBMARINE and plan.form[g] != _SUBMERGED_FORM:
            submarines += alive[g, 0]
    for c in range(1, N_CLASSES):
        anywhere = (submarines == 0 or air_hits_subs != 0) if c == _AIR else aircraft == 0
        if anywhere and sizes[c] > 0:
            convolve(pmfs[0], sizes[0], pmfs[c], sizes[c], scratch[1])
            sizes[0] += sizes[c]
            for h in range(sizes[0] + 1):
                pmfs[0, h] = scratch[1, h]
            sizes[c] = 0
            pmfs[c, 0] = 1.0


@kernel
def _list_losses(plan, side, fleet, alive, pmfs, sizes, air_hits_subs, lanes, chances, generation, options, scratch):
    """List what a side may be left with under the enemy's hits; returns how many states, -1 for too many."""
    base = (1 - side) * N_CLASSES
    _merge_classes(plan, side, alive, pmfs, sizes, air_hits_subs, scratch)
    low0, high0 = window(pmfs[0], sizes[0], _TAIL)
    low1, high1 = window(pmfs[1], sizes[1], _TAIL)
    low2, high2 = window(pmfs[2], sizes[2], _TAIL)
    found = np.int64(0)
    n = np.int64(0)
    for other in range(low0, high0 + 1):
        for air in range(low1, high1 + 1):
            for sub in range(low2, high2 + 1):
                chance = pmfs[0, other] * pmfs[1, air] * pmfs[2, sub]
                is_last = other == high0 and air == high1 and sub == high2
                if chance > _SPECK:
                    lanes.hits[base, n] = other
                    lanes.hits[base + 1, n] = air
                    lanes.hits[base + 2, n] = sub
                    chances[n] = chance
                    n += 1
                if n < LANES and not is_last:
                    continue
                for g in range(plan.groups[side, 0], plan.groups[side, 1]):
                    for i in range(n):
                        lanes.alive[g, i] = alive[g, 0]
                for i in range(n):
                    lanes.air_hits_subs[1 - side, i] = air_hits_subs
                take_losses(plan, side, n, lanes.alive, lanes.hits, lanes.air_hits_subs, lanes.caps)
                for i in range(n):
                    state = _find_state(plan, side, fleet, lanes.alive, i)
                    if state < 0:
                        return np.int64(-1)
                    if fleet.mark[state] != generation:
                        fleet.mark[state] = generation
                        fleet.place[state] = found
                        options.states[found] = state
                        options.chances[found] = 0.0
                        found += 1
                    options.chances[fleet.place[state]] += chances[i]
                n = np.int64(0)
    return found


@kernel
def _book(plan, rules, own, enemy, x, y, outcome, chance, acc):
    """Book the probability of an end."""
    lost = np.zeros(2)
    damaged_give_room = rules[_DAMAGED_GIVE_ROOM] != 0
    acc[_A_BATTLES] += chance
    acc[_A_OUTCOMES + outcome] += chance
    for side in range(2):
        base = plan.groups[side, 0]
        column = _A_SURVIVORS + outcome * 2 * _N_TYPES + side * _N_TYPES
        aircraft = np.int64(0)
        carriers = np.int64(0)
        for g in range(plan.groups[side, 0], plan.groups[side, 1]):
            units = np.int64(own.units[x, g - base] if side == 0 else enemy.units[y, g - base])
            t = plan.kind[g]
            form = plan.form[g]
            lost[side] += (plan.start[g] - units) * plan.cost[g]
            acc[column + t] += chance * units
            if form == _DAMAGED:
                acc[_A_DAMAGED + 2 * side + (0 if t == _BATTLESHIP else 1)] += chance * units
            elif form == _SUBMERGED_FORM:
                acc[_A_SUBMERGED + side] += chance * units
            if t == _FIGHTER or t == _TAC:
                aircraft += units
            elif t == _CARRIER and (form != _DAMAGED or damaged_give_room):
                carriers += units
        if plan.based[side] > 0:
            acc[_A_NO_LANDING + side] += chance * aircraft_without_room(plan.based[side], aircraft, carriers)
        acc[_A_ATTACKER_LOST + 2 * side] += chance * lost[side]
        acc[_A_ATTACKER_LOST + 2 * side + 1] += chance * lost[side] * lost[side]
    swing = lost[1] - lost[0]
    acc[_A_SWING] += chance * swing
    acc[_A_SWING + 1] += chance * swing * swing


class _Buffer(NamedTuple):
    """Pairs that one cycle leads to, before the loop to itself is divided out."""

    own: Any
    enemy: Any
    chance: Any


@kernel
def _strike_options(rules, plan, odds, own, enemy, one, lanes, work, generation, first, second):
    """Step 2 by both sides at once: what either side may be left with; returns both numbers."""
    pmfs, sizes, points, scratch, chances = work
    _hits_by_class(rules, plan, odds, one.alive, 0, _STRIKE, one.struck, one.dice, pmfs, sizes, points, scratch)
    n_second = _list_losses(plan, 1, enemy, one.alive, pmfs, sizes, 0, lanes, chances, generation, second, scratch)
    _hits_by_class(rules, plan, odds, one.alive, 1, _STRIKE, one.struck, one.dice, pmfs, sizes, points, scratch)
    n_first = _list_losses(plan, 0, own, one.alive, pmfs, sizes, 0, lanes, chances, generation + 1, first, scratch)
    return n_first, n_second


@kernel
def _exchange(rules, plan, odds, own, enemy, weight, one, lanes, work, generation, lists, buffer, n):
    """Add what steps 3 and 4 lead to from the states after step 2, in ``one.alive``, to `buffer`.

    ``one.doomed`` holds who fires where that is not the same. Returns the new length of `buffer`, -1 if
    something is full.
    """
    pmfs, sizes, points, scratch, chances = work
    left, right, other_left = lists
    doomed_count = rules[_DOOMED_DESTROYER_COUNTS] != 0
    strip = rules[_STRIKE_ALWAYS] != 0
    firing = one.doomed if strip else one.alive
    shooters = firing
    if not doomed_count:
        shooters = firing.copy()
    count_board(plan, firing if doomed_count else one.alive, 1, one.totals)
    for side in range(2):
        allow_air_hits(rules, side, one.totals, 1, one.air_hits_subs)
    own_flag = np.int64(one.air_hits_subs[0, 0])
    enemy_flag = np.int64(one.air_hits_subs[1, 0])
    _hits_by_class(rules, plan, odds, firing, 0, _ATTACK, one.struck, one.dice, pmfs, sizes, points, scratch)
    n_right = _list_losses(plan, 1, enemy, one.alive, pmfs, sizes, own_flag, lanes, chances, generation, right, scratch)
    _hits_by_class(rules, plan, odds, firing, 1, _ATTACK + 1, one.struck, one.dice, pmfs, sizes, points, scratch)
    n_left = _list_losses(
        plan, 0, own, one.alive, pmfs, sizes, enemy_flag, lanes, chances, generation + 1, left, scratch
    )
    if n_right < 0 or n_left < 0:
        return np.int64(-1)
    n_other = np.int64(-1)
    for j in range(n_right):
        after = options_state(right, j)
        chance = weight * right.chances[j]
        chosen = left
        n_chosen = n_left
        if not doomed_count:
            # Only destroyers that are left after step 3 let the defender's aircraft hit submarines.
            _load(plan, 1, enemy, after, one.alive)
            count_board(plan, one.alive, 1, one.totals)
            allow_air_hits(rules, 1, one.totals, 1, one.air_hits_subs)
            if one.air_hits_subs[1, 0] != enemy_flag:
                if n_other < 0:
                    flag = np.int64(one.air_hits_subs[1, 0])
                    # Who fires was settled before step 3; only what may be hit is another matter now.
                    _hits_by_class(
                        rules, plan, odds, shooters, 1, _ATTACK + 1, one.struck, one.dice, pmfs, sizes, points, scratch
                    )
                    n_other = _list_losses(
                        plan, 0, own, one.alive, pmfs, sizes, flag, lanes, chances, generation + 2, other_left, scratch
                    )
                    if n_other < 0:
                        return np.int64(-1)
                chosen = other_left
                n_chosen = n_other
        for i in range(n_chosen):
            c = chance * chosen.chances[i]
            if c > _SPECK * weight:
                if n >= len(buffer.chance):
                    return np.int64(-1)
                buffer.own[n] = chosen.states[i]
                buffer.enemy[n] = after
                buffer.chance[n] = c
                n += 1
    return n


@kernel
def options_state(options, j):
    """Return entry `j` of what a side may be left with."""
    return np.int64(options.states[j])


@kernel
def _fight(rules, plan, odds, own, enemy, one, lanes, work, generation, lists, strikes, buffer):
    """One cycle from the states in lane 0 of `one`; returns the length of `buffer`, -1 if something is full."""
    pmfs, sizes, points, scratch, chances = work
    struck_own, struck_enemy = strikes
    strip = rules[_STRIKE_ALWAYS] != 0
    one_by_one = rules[_ATTACKER_STRIKES_FIRST] != 0
    count_board(plan, one.alive, 1, one.totals)
    if rules[_SUBMERGE_AT_END] == 0:
        submerge_both(rules, plan, one, 1, _STRIKE, None)
    for side in range(2):
        note_strikes(rules, side, one.totals, 1, one.struck)
    x = _find_state(plan, 0, own, one.alive, 0)
    y = _find_state(plan, 1, enemy, one.alive, 0)
    if x < 0 or y < 0:
        return np.int64(-1)
    if one.struck[0, 0] == 0 and one.struck[1, 0] == 0:
        if strip:
            for side in range(2):
                note_doomed(plan, side, 1, one.alive, one.doomed)
                keep_doomed(plan, side, one.totals, 1, one.alive, False, one.doomed)
        return _exchange(rules, plan, odds, own, enemy, 1.0, one, lanes, work, generation, lists, buffer, 0)
    n = np.int64(0)
    if not one_by_one:
        n_own, n_enemy = _strike_options(
            rules, plan, odds, own, enemy, one, lanes, work, generation, struck_own, struck_enemy
        )
        if n_own < 0 or n_enemy < 0:
            return np.int64(-1)
        generation += 2
    else:
        _hits_by_class(rules, plan, odds, one.alive, 0, _STRIKE, one.struck, one.dice, pmfs, sizes, points, scratch)
        n_enemy = _list_losses(
            plan, 1, enemy, one.alive, pmfs, sizes, 0, lanes, chances, generation, struck_enemy, scratch
        )
        n_own = np.int64(0)
        generation += 1
        if n_enemy < 0:
            return np.int64(-1)
    for j in range(n_enemy):
        after = options_state(struck_enemy, j)
        if one_by_one:
            _load(plan, 0, own, x, one.alive)
            _load(plan, 1, enemy, after, one.alive)
            _hits_by_class(rules, plan, odds, one.alive, 1, _STRIKE, one.struck, one.dice, pmfs, sizes, points, scratch)
            n_own = _list_losses(
                plan, 0, own, one.alive, pmfs, sizes, 0, lanes, chances, generation, struck_own, scratch
            )
            generation += 1
            if n_own < 0:
                return np.int64(-1)
        for i in range(n_own):
            before = options_state(struck_own, i)
            weight = struck_enemy.chances[j] * struck_own.chances[i]
            if weight <= _SPECK:
                continue
            if strip:
                # Who was there at the start of step 2, and of the defender's submarines those that did not fire.
                _load(plan, 0, own, x, one.alive)
                _load(plan, 1, enemy, y, one.alive)
                count_board(plan, one.alive, 1, one.totals)
                for side in range(2):
                    note_doomed(plan, side, 1, one.alive, one.doomed)
                _load(plan, 1, enemy, after, one.alive)
                if one_by_one:
                    note_unfired(plan, 1, 1, one.alive, one.doomed)
                _load(plan, 0, own, before, one.alive)
                for side in range(2):
                    keep_doomed(plan, side, one.totals, 1, one.alive, one_by_one and side == 1, one.doomed)
            else:
                _load(plan, 0, own, before, one.alive)
                _load(plan, 1, enemy, after, one.alive)
            n = _exchange(rules, plan, odds, own, enemy, weight, one, lanes, work, generation, lists, buffer, n)
            generation += 3
            if n < 0:
                return n
    return n


@kernel
def _new_options(n):
    return _Options(states=np.zeros(n, dtype=np.int64), chances=np.zeros(n))


@kernel
def solve_sea(s, rows, battles, capacity, tallies, status, reached, ends):
    """Solve one sea battle exactly.

    Parameters
    ----------
    s : int64
        Entry of `rows`, `tallies`, `status` and `reached`.
    rows : int64 (N,)
        Matchup rows.
    battles : Battles
    capacity : int64 (2,)
        Most states of a side, most pairs of states.
    tallies : float64 (N, K)
        Output: expected accumulators of one battle.
    status : uint8 (N,)
        Output: CAPACITY when there are more states than allowed.
    reached : int64 (N,)
        Output: number of pairs of states.
    ends : Ends
        Output, of a single battle: the pairs of states in which it ends; without room where nobody asks.
    """
    row = rows[s]
    rules = battles.rules[row]
    odds = battles.odds
    plan = plan_matchup(battles, row)
    acc = tallies[s]
    one = new_lanes()
    lanes = new_lanes()
    own = _new_fleet(capacity[0])
    enemy = _new_fleet(capacity[0])
    status[s] = _CAPACITY
    if not (_set_radix(plan, 0, battles.counts[row, 0], own) and _set_radix(plan, 1, battles.counts[row, 1], enemy)):
        return
    for side in range(2):
        for g in range(plan.groups[side, 0], plan.groups[side, 1]):
            one.alive[g, 0] = plan.start[g]
    x = _find_state(plan, 0, own, one.alive, 0)
    y = _find_state(plan, 1, enemy, one.alive, 0)
    top = np.int64(own.hits_left[x]) + enemy.hits_left[y]
    counted = max(np.int64(1), rules[_AFTER], rules[_LIMIT], len(ends.by_cycle) - 1)
    width = capacity[0]
    if counted > 1_000_000 // (top + 1):
        return
    pair_keys, pair_places = new_table(_slots_for(capacity[1]))
    pairs = _Pairs(
        own=np.zeros(capacity[1], dtype=np.int32),
        enemy=np.zeros(capacity[1], dtype=np.int32),
        cycle=np.zeros(capacity[1], dtype=np.int32),
        chance=np.zeros(capacity[1]),
        stamp=np.zeros(capacity[1]),
        following=np.full(capacity[1], -1, dtype=np.int32),
        head=np.full((counted + 1) * (top + 1), -1, dtype=np.int32),
        keys=pair_keys,
        places=pair_places,
        count=np.zeros(1, dtype=np.int64),
    )
    dice = np.int64(0)
    for side in range(2):
        for k in range(plan.n_slots[side]):
            dice += battles.counts[row, side, plan.slots[side, k, SLOT_TYPE]] * plan.slots[side, k, 4]
    work = (
        np.zeros((N_CLASSES, dice + 2)),
        np.zeros(N_CLASSES, dtype=np.int64),
        np.zeros(N_CLASSES, dtype=np.int64),
        np.zeros((2, dice + 2)),
        np.zeros(LANES),
    )
    lists = (_new_options(capacity[0]), _new_options(capacity[0]), _new_options(capacity[0]))
    strikes = (_new_options(capacity[0]), _new_options(capacity[0]))
    buffer = _Buffer(
        own=np.zeros(capacity[1], dtype=np.int32),
        enemy=np.zeros(capacity[1], dtype=np.int32),
        chance=np.zeros(capacity[1]),
    )
    _arrive(pairs, top, width, x, y, top, 0, 1.0, 1.0)
    generation = np.int64(0)
    effort = np.int64(0)
    visits_sum = 0.0
    squares_sum = 0.0
    for level in range(len(pairs.head)):
        at = np.int64(pairs.head[level])
        while at >= 0:
            chance = pairs.chance[at]
            stamp = pairs.stamp[at]
            x = np.int64(pairs.own[at])
            y = np.int64(pairs.enemy[at])
            cycle = np.int64(pairs.cycle[at])
            at = np.int64(pairs.following[at])
            if chance <= _REMNANT:
                continue
            _load(plan, 0, own, x, one.alive)
            _load(plan, 1, enemy, y, one.alive)
            one.cycles[0] = cycle
            end_cycle_at_sea(rules, plan, one, 1, None)
            left = _find_state(plan, 0, own, one.alive, 0)
            right = _find_state(plan, 1, enemy, one.alive, 0)
            if left < 0 or right < 0:
                return
            ending = one.ending[0]
            if ending != _GOES_ON:
                outcome = np.int64(_UNFINISHED)
                if ending == _CONDITION_A:
                    outcome = np.int64(conclude_at_sea(one.totals, 0))
                elif ending == _RETREAT:
                    outcome = np.int64(_RETREATS)
                _book(plan, rules, own, enemy, left, right, outcome, chance, acc)
                # The stamp holds the number of the cycle that would come next.
                cycles = stamp - chance
                if len(ends.by_cycle) > 0:
                    ends.by_cycle[min(cycle, len(ends.by_cycle) - 1)] += chance
                if len(ends.chance) > 0:
                    if not note_end(own.units[left], enemy.units[right], outcome, chance, cycles, ends):
                        return
                continue
            if left != x or right != y:
                hits_left = np.int64(own.hits_left[left]) + enemy.hits_left[right]
                if not _arrive(pairs, top, width, left, right, hits_left, cycle, chance, stamp):
                    return
                continue
            one.cycles[0] = cycle + 1
            n = _fight(rules, plan, odds, own, enemy, one, lanes, work, generation, lists, strikes, buffer)
            # More lists than one cycle could ever make.
            generation += _LISTS
            effort += n + LANES
            if n < 0 or effort > _MOST_EFFORT:
                return
            then = min(cycle + 1, counted)
            stays = 0.0
            if then == cycle:
                for i in range(n):
                    if buffer.own[i] == x and buffer.enemy[i] == y:
                        stays += buffer.chance[i]
            visits = chance / (1.0 - stays)
            stamps = (stamp + stays * visits) / (1.0 - stays)
            visits_sum += visits
            squares_sum += 2.0 * stamps - visits
            for i in range(n):
                if then == cycle and buffer.own[i] == x and buffer.enemy[i] == y:
                    continue
                hits_left = np.int64(own.hits_left[buffer.own[i]]) + enemy.hits_left[buffer.enemy[i]]
                c = buffer.chance[i]
                arrived = _arrive(
                    pairs, top, width, np.int64(buffer.own[i]), np.int64(buffer.enemy[i]), hits_left, then,
                    visits * c, (stamps + visits) * c,
                )  # fmt: skip
                if not arrived:
                    return
    acc[_A_CYCLES] = visits_sum
    acc[_A_CYCLES + 1] = squares_sum
    reached[s] = pairs.count[0]
    status[s] = _OK


@kernel
def solve_all_at_sea(rows, battles, capacity, tallies, status, reached, ends):
    """Solve all matchups one after the other; arguments as of `solve_sea`. Threads may do so at the same time."""
    for s in range(len(rows)):
        solve_sea(s, rows, battles, capacity, tallies, status, reached, ends)
