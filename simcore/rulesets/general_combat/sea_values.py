"""What every state of a sea battle is worth, and what is therefore decided in it: `values.py` for ships.

At sea hits come in classes, submarines act first and what may be hit depends on both sides. So the pairs of
states are first found by going through everything that dice and choices can lead to, then worked out from the
smallest, then played forwards from the largest. Rules and their order are those of `sea.py` and `steps.py`.

A pair is looked at twice a cycle: when it is arrived at after step 4, before sweeps and whatever submerges in step 5,
and when it is settled in step 6. The worth of the first is `Sea.arriving`, of the second `Sea.settled`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from simcore.core.chain import binomial, convolve, find_or_add, new_table, two_point, window
from simcore.core.jit import kernel, part
from simcore.rulesets.general_combat.encoding import (
    ATTACKER_CHOOSES,
    DEFENDER_CHOOSES,
    MARGIN,
    MAX_LOSS_GROUPS,
    Accumulator,
    HitClass,
    LossForm,
    Outcome,
    RowField,
    UnitType,
    Why,
)
from simcore.rulesets.general_combat.ends import fold_swing, new_record, record_end
from simcore.rulesets.general_combat.lane import (
    N_CLASSES,
    SEA_TOTALS,
    SIDE_TOTALS,
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
    SeaTotal,
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
from simcore.rulesets.general_combat.steps import acts_in_step_2, aircraft_without_room
from simcore.rulesets.general_combat.values import CRITERIA

__all__ = ["Fleet", "Sea", "decide_at_sea", "explore", "new_sea", "play_at_sea"]

_N_TYPES = len(UnitType)
_AIR = int(HitClass.AIR)
_SUBMARINE = int(UnitType.SUBMARINE)
_TRANSPORT = int(UnitType.TRANSPORT)
_FIGHTER = int(UnitType.FIGHTER)
_TAC = int(UnitType.TACTICAL_BOMBER)
_CARRIER = int(UnitType.CARRIER)
_BATTLESHIP = int(UnitType.BATTLESHIP)
_UNIT = int(LossForm.UNIT)
_DAMAGE = int(LossForm.DAMAGE)
_HULL = int(LossForm.HULL)
_DAMAGED = int(LossForm.DAMAGED)
_SUBMERGED_FORM = int(LossForm.SUBMERGED)

_STRIKE = 2
_ATTACK = 3
_STEP_5 = 5

_STRIKE_ALWAYS = int(RowField.STRIKE_ALWAYS)
_SUBMERGE_AT_END = int(RowField.SUBMERGE_AT_END)
_SUBMERGE = (int(RowField.ATTACKER_SUBMERGE), int(RowField.DEFENDER_SUBMERGE))
_ATTACKER_STRIKES_FIRST = int(RowField.ATTACKER_STRIKES_FIRST)
_DOOMED_DESTROYER_COUNTS = int(RowField.DOOMED_DESTROYER_COUNTS)
_TRANSPORTS_LAST = int(RowField.TRANSPORTS_LAST)
_LOW_LUCK_COMBAT = int(RowField.LOW_LUCK_COMBAT)
_POINTS = (int(RowField.ATTACK_POINTS), int(RowField.DEFENCE_POINTS))
_PER_ARTILLERY = int(RowField.PER_ARTILLERY)
_AFTER = int(RowField.RETREAT_AFTER_CYCLES)
_AT_MOST = int(RowField.RETREAT_UNITS_AT_MOST)
_ONLY_AIRCRAFT = int(RowField.RETREAT_ONLY_AIRCRAFT)
_ONLY_TRANSPORTS = int(RowField.RETREAT_TRANSPORTS_ONLY)
_DAMAGED_GIVE_ROOM = int(RowField.DAMAGED_GIVE_ROOM)

_GOES_ON = Ending.NONE
_CONDITION_A = Ending.CONDITION_A
_RETREAT = Ending.RETREAT

_WINS = int(Outcome.ATTACKER_WINS)
_RETREATS = int(Outcome.ATTACKER_RETREATS)
_UNFINISHED = int(Outcome.UNFINISHED)
_BY_POLICY = int(Why.POLICY)
_WINS_TOO_RARELY = int(Why.CHANCE)
_LOSES_TOO_MUCH = int(Why.SWING)
_BY_GOAL = int(Why.GOAL)

_A_BATTLES = int(Accumulator.BATTLES)
_A_OUTCOMES = int(Accumulator.OUTCOMES)
_A_CYCLES = int(Accumulator.CYCLES)
_A_ATTACKER_LOST = int(Accumulator.ATTACKER_LOST)
_A_SUBMERGED = int(Accumulator.SUBMERGED)
_A_DAMAGED = int(Accumulator.DAMAGED)
_A_NO_LANDING = int(Accumulator.NO_LANDING)
_A_SURVIVORS = int(Accumulator.SURVIVORS)

_TAIL = 1e-17
_SPECK = 1e-19
_REMNANT = 1e-21
_UNCOUNTED = 1e-16
"""Probability of going on that is not worth counting its cycles one by one."""

_SUBMARINES = SeaTotal.SUBMARINES
_DESTROYERS = SeaTotal.DESTROYERS
_SUBMERGED_TOTAL = SeaTotal.SUBMERGED
_ON_BOARD = 4
"""Kinds of units on the board: the first rows of `SeaTotal`."""

# What a walk through a cycle is for.
_EXPLORE = 0
_VALUE = 1
_PUSH = 2

_LOOP = CRITERIA
"""Behind the criteria of a worth: the probability of the way back to where the cycle began."""
_NOBODY = -1


class Fleet(NamedTuple):
    """States of one side. N states, G lane rows.

    Attributes
    ----------
    units : int16 (N, G)
    hits_left : int32 (N,)
        Hits that the side can still take.
    lost : int64 (N,)
        Cost lost.
    keys, places : int64 (slots,)
        Table of states.
    radix : int64 (G,)
        What a unit of each row adds to a state's number.
    count : int64 (1,)
        States so far.
    mark, place : int64 (N,)
        Which list a state is part of now, and where.
    """

    units: Any
    hits_left: Any
    lost: Any
    keys: Any
    places: Any
    radix: Any
    count: Any
    mark: Any
    place: Any


class Events(NamedTuple):
    """What the enemy's dice do to a side in a step: events, each with the states that the owner may choose from.

    Attributes
    ----------
    chance : float64 (E,)
    first : int64 (E + 1,)
        Where the states of an event begin; the one by the order of loss is the first.
    states : int64 (O,)
    """

    chance: Any
    first: Any
    states: Any


class Sea(NamedTuple):
    """A sea battle that is worked out. L levels (the first stands for the time before cycle 1), Y, X states, P pairs.

    Attributes
    ----------
    rules, written, never, always : int64 (R,)
        Rules without the policies of those who decide: with the attacker's triggers as written, with none, and with
        one that always asks for a retreat. `rules` has none and submerges nobody at the end of a cycle.
    odds : int64 (O, 3)
    plan : Plan
    own, enemy : Fleet
    one, lanes : Lanes
        Scratch: the pair looked at, and losses.
    pmfs, scratch : float64
    sizes, points : int64
        Scratch of the hits by class.
    late, free_side : int64
        1 where submarines submerge at the end of a cycle; the side that decides about it by its goal, -1 for none.
    strikes, exchange : tuple of Events
        Scratch: of step 2 for defender, attacker and one state alone; of step 3, and of step 4 without and with a
        change of what may be hit.
    inner : float64 (criteria + 1, Y)
        Scratch: worth of step 4 by the defender's state.
    inner_mark : int64 (Y,)
    generation : int64 (1,)
    effort : int64 (1,)
    seen : uint8 (Y, X)
        1 where a pair was found.
    pairs : int32 (P, 2)
        Defender's and attacker's states, in order of finding.
    n_pairs : int64 (1,)
    arriving, settled, going : float64 (L, criteria, Y, X)
    leaves : uint8 (L, Y, X)
        `Why` the attacker leaves.
    dives, dives_late : uint8 (L, Y, X)
        Submarines that submerge in step 2 of the next cycle, and at the end of this one, where that is decided.
    loops : float64 (Y, X)
        Probability that a cycle changes nothing, at the last level.
    arrived, stamps, post, post_stamps : float64 (Y, X)
        Probabilities on the way forwards.
    """

    rules: Any
    written: Any
    never: Any
    always: Any
    odds: Any
    plan: Any
    late: Any
    free_side: Any
    own: Any
    enemy: Any
    one: Any
    lanes: Any
    pmfs: Any
    scratch: Any
    sizes: Any
    points: Any
    strikes: Any
    exchange: Any
    inner: Any
    inner_mark: Any
    generation: Any
    effort: Any
    seen: Any
    pairs: Any
    n_pairs: Any
    arriving: Any
    settled: Any
    going: Any
    leaves: Any
    dives: Any
    dives_late: Any
    loops: Any
    arrived: Any
    stamps: Any
    post: Any
    post_stamps: Any


@part
def _zero():
    """Return 0 as a number of no known value: a written one would be compiled for apart."""
    return np.int64(0)


@part
def _one():
    """Return 1 as `_zero` returns 0."""
    return np.int64(1)


@part
def _new_fleet(capacity):
    slots = np.int64(16)
    while slots < 2 * capacity + 2:
        slots *= 2
    keys, places = new_table(slots)
    return Fleet(
        units=np.zeros((capacity, MAX_LOSS_GROUPS), dtype=np.int16),
        hits_left=np.zeros(capacity, dtype=np.int32),
        lost=np.zeros(capacity, dtype=np.int64),
        keys=keys,
        places=places,
        radix=np.ones(MAX_LOSS_GROUPS, dtype=np.int64),
        count=np.zeros(1, dtype=np.int64),
        mark=np.full(capacity, -1, dtype=np.int64),
        place=np.zeros(capacity, dtype=np.int64),
    )


@part
def _new_events(events, options):
    return Events(
        chance=np.zeros(events),
        first=np.zeros(events + 1, dtype=np.int64),
        states=np.zeros(options, dtype=np.int64),
    )


@part
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


@part
def _find_state(plan, side, fleet, alive):
    """Return the index of the side's state in lane 0, -1 if there are too many."""
    base = plan.groups[side, 0]
    key = np.int64(0)
    for g in range(plan.groups[side, 0], plan.groups[side, 1]):
        key += fleet.radix[g - base] * alive[g, 0]
    new = fleet.count[0]
    if new >= len(fleet.hits_left):
        return np.int64(-1)
    at = find_or_add(fleet.keys, fleet.places, key, new)
    if at == new:
        fleet.count[0] = new + 1
        for g in range(plan.groups[side, 0], plan.groups[side, 1]):
            fleet.units[new, g - base] = alive[g, 0]
            fleet.lost[new] += (plan.start[g] - np.int64(alive[g, 0])) * plan.cost[g]
            form = plan.form[g]
            if form != _SUBMERGED_FORM and form != _DAMAGE:
                fleet.hits_left[new] += (2 if form == _HULL else 1) * alive[g, 0]
    return at


@part
def _load(plan, side, fleet, state, alive):
    base = plan.groups[side, 0]
    for g in range(plan.groups[side, 0], plan.groups[side, 1]):
        alive[g, 0] = fleet.units[state, g - base]


@part
def _hits_by_class(s, units, side, step):
    """Fill ``s.pmfs`` with the distributions of a side's hits by class in one step, ``s.sizes`` with the most."""
    rules = s.rules
    plan = s.plan
    pmfs = s.pmfs
    sizes = s.sizes
    low_luck = rules[_LOW_LUCK_COMBAT] != 0
    per_hit = rules[_POINTS[side]]
    for c in range(N_CLASSES):
        sizes[c] = 0
        pmfs[c, 0] = 1.0
        s.points[c] = 0
    for k in range(plan.n_slots[side]):
        slot = plan.slots[side, k]
        is_submarine = slot[SLOT_TYPE] == _SUBMARINE
        if step == _STRIKE and not is_submarine:
            continue
        if is_submarine and (step == _STRIKE or rules[_STRIKE_ALWAYS] == 0):
            if s.one.struck[side, 0] != (1 if step == _STRIKE else 0):
                continue
        count_dice(units, 1, side, slot, rules[_PER_ARTILLERY], plan.kind, plan.first, plan.second, s.one.dice)
        thrown = np.int64(s.one.dice[0])
        if thrown == 0:
            continue
        numerator = s.odds[slot[SLOT_ODDS], 0]
        denominator = s.odds[slot[SLOT_ODDS], 1]
        c = slot[SLOT_CLASS]
        if low_luck:
            s.points[c] += thrown * numerator * (per_hit // denominator)
            continue
        binomial(thrown, numerator, denominator, s.scratch[0])
        convolve(pmfs[c], sizes[c], s.scratch[0], thrown, s.scratch[1])
        sizes[c] += thrown
        for h in range(sizes[c] + 1):
            pmfs[c, h] = s.scratch[1, h]
    if low_luck:
        for c in range(N_CLASSES):
            if s.points[c] > 0:
                sizes[c] = two_point(s.points[c], per_hit, pmfs[c])


@part
def _merge_classes(plan, side, alive, pmfs, sizes, air_hits_subs, scratch):
    """Add to the hits that may fall on anything those that do so here (GC-4.8.1)."""
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


@part
def _kind_of(t):
    """Kind of target: 0 aircraft, 1 submarine, 2 other ship, 3 transport."""
    if is_aircraft(t):
        return 0
    if t == _SUBMARINE:
        return 1
    return 3 if t == _TRANSPORT else 2


@part
def _hits_in(plan, g, before, after):
    """Hits that took row `g` from `before` to `after`: two for a whole two-hit ship that is gone."""
    weight = 2 if plan.form[g] == _HULL else 1
    return weight * (np.int64(before[g, 0]) - after[g, 0])


@part
def _list_choices(plan, side, fleet, before, other, air, sub, air_hits_subs, last, ordered, alive, events, n):
    """Add to `events` the states that the owner may choose from under these hits; returns their end, -1 if full.

    As many hits are given out as possible, and where transports come `last` as few of them as possible to these
    (GC-4.8.4 to GC-4.8.6); ``alive`` is scratch, `ordered` the state by the order of loss, which is there already.
    """
    first = plan.groups[side, 0]
    stop = plan.groups[side, 1]
    taken = np.zeros(4, dtype=np.int64)
    base = first
    for g in range(first, stop):
        if plan.form[g] == _UNIT or plan.form[g] == _HULL or plan.form[g] == _DAMAGED:
            hits = (2 if plan.form[g] == _HULL else 1) * (
                np.int64(before[g, 0]) - np.int64(fleet.units[ordered, g - base])
            )
            taken[_kind_of(plan.kind[g])] += hits
    # The order of loss gives out as many hits as possible, and transports are last in it where they must be.
    most = taken[0] + taken[1] + taken[2] + taken[3]
    transports = taken[3]
    for g in range(first, stop):
        alive[g, 0] = before[g, 0]
        if plan.form[g] == _UNIT or plan.form[g] == _HULL or plan.form[g] == _DAMAGED:
            alive[g, 0] = 0
    limit = other + air + sub
    while True:
        for kind in range(4):
            taken[kind] = 0
        fits = True
        for g in range(first, stop):
            form = plan.form[g]
            if form == _UNIT or form == _HULL or form == _DAMAGED:
                taken[_kind_of(plan.kind[g])] += _hits_in(plan, g, before, alive)
            if form == _HULL:
                damaged = plan.second[side, plan.kind[g]]
                if alive[g, 0] + alive[damaged, 0] > before[g, 0] + before[damaged, 0]:
                    fits = False
        total = taken[0] + taken[1] + taken[2] + taken[3]
        fits = fits and total == most and (not last or taken[3] == transports)
        fits = fits and total <= limit and taken[0] <= other + air
        fits = fits and taken[1] <= other + sub + (air if air_hits_subs != 0 else 0)
        if fits:
            state = _find_state(plan, side, fleet, alive)
            if state < 0 or n >= len(events.states):
                return np.int64(-1)
            if state != ordered:
                events.states[n] = state
                n += 1
        # The next combination: every row from nothing to what there was; damaged ships may become more.
        g = first
        while g < stop:
            form = plan.form[g]
            if form == _UNIT or form == _HULL or form == _DAMAGED:
                room = np.int64(before[g, 0])
                if form == _DAMAGED:
                    room += before[plan.first[side, plan.kind[g]], 0]
                if alive[g, 0] < room:
                    alive[g, 0] += 1
                    break
                alive[g, 0] = 0
            g += 1
        if g == stop:
            return n


@part
def _list_events(s, side, is_free, air_hits_subs, events):
    """List what a side may be left with under the hits in ``s.pmfs``; returns the number of events, -1 if full.

    The side's board is that in ``s.one.alive``. Where the owner follows his order, an event is a state.
    """
    plan = s.plan
    fleet = s.own if side == 0 else s.enemy
    before = s.one.alive
    lanes = s.lanes
    base = (1 - side) * N_CLASSES
    _merge_classes(plan, side, before, s.pmfs, s.sizes, air_hits_subs, s.scratch)
    s.generation[0] += 1
    generation = s.generation[0]
    low0, high0 = window(s.pmfs[0], s.sizes[0], _TAIL)
    low1, high1 = window(s.pmfs[1], s.sizes[1], _TAIL)
    low2, high2 = window(s.pmfs[2], s.sizes[2], _TAIL)
    n = np.int64(0)
    n_states = np.int64(0)
    for other in range(low0, high0 + 1):
        for air in range(low1, high1 + 1):
            for sub in range(low2, high2 + 1):
                chance = s.pmfs[0, other] * s.pmfs[1, air] * s.pmfs[2, sub]
                if chance <= _SPECK:
                    continue
                for g in range(plan.groups[side, 0], plan.groups[side, 1]):
                    lanes.alive[g, 0] = before[g, 0]
                lanes.hits[base, 0] = other
                lanes.hits[base + 1, 0] = air
                lanes.hits[base + 2, 0] = sub
                lanes.air_hits_subs[1 - side, 0] = air_hits_subs
                take_losses(plan, side, 1, lanes.alive, lanes.hits, lanes.air_hits_subs, lanes.caps)
                state = _find_state(plan, side, fleet, lanes.alive)
                if state < 0:
                    return np.int64(-1)
                if not is_free:
                    if fleet.mark[state] == generation:
                        events.chance[fleet.place[state]] += chance
                        continue
                    fleet.mark[state] = generation
                    fleet.place[state] = n
                if n + 1 >= len(events.first) or n_states >= len(events.states):
                    return np.int64(-1)
                events.chance[n] = chance
                events.first[n] = n_states
                events.states[n_states] = state
                n_states += 1
                if is_free and other + air + sub > 0:
                    last = s.rules[_TRANSPORTS_LAST] != 0
                    n_states = _list_choices(
                        plan, side, fleet, before, other, air, sub, air_hits_subs, last, state, lanes.alive, events,
                        n_states,
                    )  # fmt: skip
                    if n_states < 0:
                        return np.int64(-1)
                n += 1
    events.first[n] = n_states
    return n


@part
def _meet(s, y, x):
    """Note that a pair of states can be arrived at; returns False if there are too many."""
    if s.seen[y, x] == 0:
        n = s.n_pairs[0]
        if n >= len(s.pairs):
            return False
        s.seen[y, x] = 1
        s.pairs[n, 0] = y
        s.pairs[n, 1] = x
        s.n_pairs[0] = n + 1
    return True


@part
def _pick(worth, events, e, y, margin):
    """Return the attacker's best state of an event beside the defender's `y`, chosen in step 4 (GC-4.4.2)."""
    chosen = events.states[events.first[e]]
    value = worth[0, y, chosen]
    for k in range(events.first[e] + 1, events.first[e + 1]):
        if worth[0, y, events.states[k]] > value + margin:
            chosen = events.states[k]
            value = worth[0, y, chosen]
    return chosen


@part
def _answer(s, worth, aim, events, n_events, y, origin, is_looped, out):
    """Fill `out` with the worth of step 4 beside the defender's state `y`."""
    for c in range(CRITERIA + 1):
        out[c] = 0.0
    for e in range(n_events):
        p = events.chance[e]
        x = events.states[events.first[e]]
        if aim.losses == ATTACKER_CHOOSES:
            x = _pick(worth, events, e, y, aim.margin)
        if is_looped != 0 and x == origin[1] and y == origin[0]:
            out[_LOOP] += p
            continue
        for c in range(CRITERIA):
            out[c] += p * worth[c, y, x]
    s.effort[0] += n_events


@part
def _exchange(s, worth, aim, mode, weight, stamp, origin, is_looped, out):
    """Go through steps 3 and 4 from the board in ``s.one.alive``; returns False if something is full.

    ``s.one.doomed`` holds who fires where that is not the same. Explores, values into `out`, or pushes `weight` and
    `stamp` times the probabilities.
    """
    plan = s.plan
    one = s.one
    doomed_count = s.rules[_DOOMED_DESTROYER_COUNTS] != 0
    firing = one.doomed if s.rules[_STRIKE_ALWAYS] != 0 else one.alive
    shooters = firing
    if not doomed_count:
        shooters = firing.copy()
    count_board(plan, firing if doomed_count else one.alive, 1, one.totals)
    for side in range(2):
        allow_air_hits(s.rules, side, one.totals, 1, one.air_hits_subs)
    own_flag = np.int64(one.air_hits_subs[0, 0])
    enemy_flag = np.int64(one.air_hits_subs[1, 0])
    taken, given, given_otherwise = s.exchange
    _hits_by_class(s, firing, _zero(), np.int64(_ATTACK))
    n_taken = _list_events(s, _one(), aim.losses == DEFENDER_CHOOSES, own_flag, taken)
    _hits_by_class(s, firing, _one(), np.int64(_ATTACK + 1))
    n_given = _list_events(s, _zero(), aim.losses == ATTACKER_CHOOSES, enemy_flag, given)
    if n_taken < 0 or n_given < 0:
        return False
    n_otherwise = np.int64(-1)
    s.generation[0] += 1
    generation = s.generation[0]
    for c in range(CRITERIA + 1):
        out[c] = 0.0
    one_answer = np.zeros(CRITERIA + 1)
    for e in range(n_taken):
        chosen = np.int64(_NOBODY)
        for k in range(taken.first[e], taken.first[e + 1]):
            y = taken.states[k]
            events = given
            n_events = n_given
            if not doomed_count:
                # Only destroyers that are left after step 3 let the defender's aircraft hit submarines.
                _load(plan, 1, s.enemy, y, one.alive)
                count_board(plan, one.alive, 1, one.totals)
                allow_air_hits(s.rules, 1, one.totals, 1, one.air_hits_subs)
                if one.air_hits_subs[1, 0] != enemy_flag:
                    if n_otherwise < 0:
                        # Who fires was settled before step 3; only what may be hit is another matter now.
                        flag = np.int64(one.air_hits_subs[1, 0])
                        _hits_by_class(s, shooters, _one(), np.int64(_ATTACK + 1))
                        n_otherwise = _list_events(s, _zero(), aim.losses == ATTACKER_CHOOSES, flag, given_otherwise)
                        if n_otherwise < 0:
                            return False
                    events = given_otherwise
                    n_events = n_otherwise
            if mode == _EXPLORE:
                for f in range(events.first[n_events]):
                    if not _meet(s, y, events.states[f]):
                        return False
                s.effort[0] += events.first[n_events]
                continue
            if mode == _VALUE or taken.first[e + 1] > taken.first[e] + 1:
                if s.inner_mark[y] != generation:
                    s.inner_mark[y] = generation
                    _answer(s, worth, aim, events, n_events, y, origin, is_looped, one_answer)
                    for c in range(CRITERIA + 1):
                        s.inner[c, y] = one_answer[c]
            if chosen == _NOBODY or s.inner[0, y] > s.inner[0, chosen] + aim.margin:
                chosen = y
        if mode == _VALUE:
            for c in range(CRITERIA + 1):
                out[c] += taken.chance[e] * s.inner[c, chosen]
        elif mode == _PUSH:
            events = given
            n_events = n_given
            if not doomed_count:
                _load(plan, 1, s.enemy, chosen, one.alive)
                count_board(plan, one.alive, 1, one.totals)
                allow_air_hits(s.rules, 1, one.totals, 1, one.air_hits_subs)
                if one.air_hits_subs[1, 0] != enemy_flag:
                    events = given_otherwise
                    n_events = n_otherwise
            for f in range(n_events):
                x = events.states[events.first[f]]
                if aim.losses == ATTACKER_CHOOSES:
                    x = _pick(worth, events, f, chosen, aim.margin)
                if is_looped != 0 and x == origin[1] and chosen == origin[0]:
                    continue
                p = taken.chance[e] * events.chance[f]
                s.arrived[chosen, x] += weight * p
                s.stamps[chosen, x] += stamp * p
    return True


@part
def _board_after_strikes(s, x, y, before, after, one_by_one):
    """Put the board after step 2 into ``s.one``: from (x, y) at its start to (before, after)."""
    plan = s.plan
    one = s.one
    if s.rules[_STRIKE_ALWAYS] != 0:
        # Who was there at the start of step 2, and of the defender's submarines those that did not fire.
        _load(plan, 0, s.own, x, one.alive)
        _load(plan, 1, s.enemy, y, one.alive)
        count_board(plan, one.alive, 1, one.totals)
        for side in range(2):
            note_doomed(plan, side, 1, one.alive, one.doomed)
        _load(plan, 1, s.enemy, after, one.alive)
        if one_by_one != 0:
            note_unfired(plan, 1, 1, one.alive, one.doomed)
        _load(plan, 0, s.own, before, one.alive)
        for side in range(2):
            keep_doomed(plan, side, one.totals, 1, one.alive, one_by_one != 0 and side == 1, one.doomed)
    else:
        _load(plan, 0, s.own, before, one.alive)
        _load(plan, 1, s.enemy, after, one.alive)


@part
def _strike(s, worth, aim, mode, weight, stamp, x, y, origin, is_looped, out):
    """Go through steps 2 to 4 from the board (x, y), on which nobody submerges any more; as `_exchange`."""
    plan = s.plan
    one = s.one
    one_by_one = s.rules[_ATTACKER_STRIKES_FIRST]
    _load(plan, 0, s.own, x, one.alive)
    _load(plan, 1, s.enemy, y, one.alive)
    count_board(plan, one.alive, 1, one.totals)
    for side in range(2):
        note_strikes(s.rules, side, one.totals, 1, one.struck)
    if one.struck[0, 0] == 0 and one.struck[1, 0] == 0:
        _board_after_strikes(s, x, y, x, y, _zero())
        return _exchange(s, worth, aim, mode, weight, stamp, origin, is_looped, out)
    for c in range(CRITERIA + 1):
        out[c] = 0.0
    taken = s.strikes[0]
    given = s.strikes[1]
    frees = (aim.losses == ATTACKER_CHOOSES, aim.losses == DEFENDER_CHOOSES)
    struck = (np.int64(one.struck[0, 0]), np.int64(one.struck[1, 0]))
    _hits_by_class(s, one.alive, _zero(), np.int64(_STRIKE))
    n_taken = _list_events(s, _one(), frees[1], _zero(), taken)
    n_given = np.int64(0)
    if one_by_one == 0:
        _hits_by_class(s, one.alive, _one(), np.int64(_STRIKE))
        n_given = _list_events(s, _zero(), frees[0], _zero(), given)
    if n_taken < 0 or n_given < 0:
        return False
    one_out = np.zeros(CRITERIA + 1)
    best = np.zeros(CRITERIA + 1)
    reply = np.zeros(CRITERIA + 1)
    for e in range(n_taken):
        if one_by_one != 0:
            # The defender chooses before his own submarines strike, in ignorance of what they will hit.
            n_options = taken.first[e + 1] - taken.first[e]
            chosen = np.int64(taken.states[taken.first[e]])
            value = 0.0
            if n_options > 1 and mode != _EXPLORE:
                for k in range(taken.first[e], taken.first[e + 1]):
                    after = np.int64(taken.states[k])
                    if not _strike_back(
                        s,
                        worth,
                        aim,
                        np.int64(_VALUE),
                        1.0,
                        0.0,
                        x,
                        y,
                        after,
                        struck,
                        origin,
                        is_looped,
                        reply,
                        best,
                        one_out,
                    ):
                        return False
                    if k == taken.first[e] or reply[0] > value + aim.margin:
                        value = reply[0]
                        chosen = after
            for k in range(taken.first[e], taken.first[e + 1]):
                after = np.int64(taken.states[k])
                if mode != _EXPLORE and after != chosen:
                    continue
                p = taken.chance[e]
                if not _strike_back(
                    s,
                    worth,
                    aim,
                    mode,
                    weight * p,
                    stamp * p,
                    x,
                    y,
                    after,
                    struck,
                    origin,
                    is_looped,
                    reply,
                    best,
                    one_out,
                ):
                    return False
                for c in range(CRITERIA + 1):
                    out[c] += p * reply[c]
            continue
        for f in range(n_given):
            p = taken.chance[e] * given.chance[f]
            if p <= _SPECK:
                continue
            if not _choose_pair(
                s,
                worth,
                aim,
                mode,
                weight * p,
                stamp * p,
                x,
                y,
                taken,
                e,
                given,
                f,
                _zero(),
                origin,
                is_looped,
                best,
                one_out,
            ):
                return False
            for c in range(CRITERIA + 1):
                out[c] += p * best[c]
    return True


@part
def _choose_pair(
    s, worth, aim, mode, weight, stamp, x, y, taken, e, given, f, one_by_one, origin, is_looped, best, one_out
):
    """Let the owner who is free choose his losses of step 2, when all its dice are known (GC-4.2.4); as `_exchange`."""
    first_y = taken.first[e]
    last_y = taken.first[e + 1]
    first_x = given.first[f]
    last_x = given.first[f + 1]
    count = (last_y - first_y) * (last_x - first_x)
    chosen_x = np.int64(given.states[first_x])
    chosen_y = np.int64(taken.states[first_y])
    if mode == _EXPLORE:
        for i in range(first_y, last_y):
            for k in range(first_x, last_x):
                before = np.int64(given.states[k])
                after = np.int64(taken.states[i])
                _board_after_strikes(s, x, y, before, after, one_by_one)
                if not _exchange(s, worth, aim, np.int64(_EXPLORE), 0.0, 0.0, origin, is_looped, one_out):
                    return False
        return True
    if mode == _VALUE or count > 1:
        is_first = True
        for i in range(first_y, last_y):
            for k in range(first_x, last_x):
                before = np.int64(given.states[k])
                after = np.int64(taken.states[i])
                _board_after_strikes(s, x, y, before, after, one_by_one)
                if not _exchange(s, worth, aim, np.int64(_VALUE), 0.0, 0.0, origin, is_looped, one_out):
                    return False
                if is_first or one_out[0] > best[0] + aim.margin:
                    is_first = False
                    chosen_x = before
                    chosen_y = after
                    for c in range(CRITERIA + 1):
                        best[c] = one_out[c]
    if mode == _PUSH:
        _board_after_strikes(s, x, y, chosen_x, chosen_y, one_by_one)
        return _exchange(s, worth, aim, np.int64(_PUSH), weight, stamp, origin, is_looped, one_out)
    return True


@part
def _strike_back(s, worth, aim, mode, weight, stamp, x, y, after, struck, origin, is_looped, reply, best, one_out):
    """Let the defender's submarines strike when the attacker's have, and the defender is left with `after`."""
    given = s.strikes[1]
    alone = s.strikes[2]
    _load(s.plan, 0, s.own, x, s.one.alive)
    _load(s.plan, 1, s.enemy, after, s.one.alive)
    s.one.struck[0, 0] = struck[0]
    s.one.struck[1, 0] = struck[1]
    _hits_by_class(s, s.one.alive, _one(), np.int64(_STRIKE))
    n_given = _list_events(s, _zero(), aim.losses == ATTACKER_CHOOSES, _zero(), given)
    if n_given < 0:
        return False
    for c in range(CRITERIA + 1):
        reply[c] = 0.0
    alone.first[0] = 0
    alone.first[1] = 1
    alone.states[0] = after
    for f in range(n_given):
        p = given.chance[f]
        if not _choose_pair(
            s,
            worth,
            aim,
            mode,
            weight * p,
            stamp * p,
            x,
            y,
            alone,
            _zero(),
            given,
            f,
            _one(),
            origin,
            is_looped,
            best,
            one_out,
        ):
            return False
        for c in range(CRITERIA + 1):
            reply[c] += p * best[c]
    return True


@part
def _room_to_dive(s, side):
    """Submarines of a side that may submerge now, by ``s.one.totals``: none where there is no enemy (GC-4.2.2)."""
    totals = s.one.totals
    own = SEA_TOTALS + side * SIDE_TOTALS
    enemy = SEA_TOTALS + (1 - side) * SIDE_TOTALS
    submarines = np.int64(totals[own + _SUBMARINES, 0])
    enemies = totals[enemy + _SUBMERGED_TOTAL, 0]
    for kind in range(_ON_BOARD):
        enemies += totals[enemy + kind, 0]
    if enemies > 0 and acts_in_step_2(submarines, totals[enemy + _DESTROYERS, 0], 0):
        return submarines
    return np.int64(0)


@part
def _put_board(s, x, y, cycle, divers, at_end):
    """Put a pair on the board and let submarines submerge: at the end of a cycle, or in step 2 of one.

    Of the side that decides about it, `divers` do; the other follows its policy, the attacker first (GC-4.2.2).
    Returns how many could.
    """
    plan = s.plan
    one = s.one
    _load(plan, 0, s.own, x, one.alive)
    _load(plan, 1, s.enemy, y, one.alive)
    one.cycles[0] = cycle
    if at_end != 0:
        end_cycle_at_sea(s.never, plan, one, 1, None)
    room = np.int64(0)
    if at_end == s.late:
        step = np.int64(_STEP_5) if at_end != 0 else np.int64(_STRIKE)
        side = s.free_side
        count_board(plan, one.alive, 1, one.totals)
        if side == 1:
            submerge_both(s.rules, plan, one, 1, step, None)
            count_board(plan, one.alive, 1, one.totals)
        if side >= 0 and cycle > 0:
            room = _room_to_dive(s, side)
            if divers > 0:
                one.alive[plan.submerged[side], 0] += divers
                one.alive[plan.first[side, _SUBMARINE], 0] -= divers
                count_board(plan, one.alive, 1, one.totals)
        if side != 1:
            submerge_both(s.rules, plan, one, 1, step, None)
        if at_end != 0:
            end_cycle_at_sea(s.never, plan, one, 1, None)
    return room


@part
def _states_on_board(s):
    """Return the states of both sides on the board, attacker's first."""
    x = _find_state(s.plan, 0, s.own, s.one.alive)
    y = _find_state(s.plan, 1, s.enemy, s.one.alive)
    return x, y


@part
def _ending(s, rules, x, y, cycle):
    """Return how step 6 ends a pair under some rules, and the outcome if condition A does."""
    _load(s.plan, 0, s.own, x, s.one.alive)
    _load(s.plan, 1, s.enemy, y, s.one.alive)
    s.one.cycles[0] = cycle
    end_cycle_at_sea(rules, s.plan, s.one, 1, None)
    ending = np.int64(s.one.ending[0])
    outcome = np.int64(_UNFINISHED)
    if ending == _CONDITION_A:
        outcome = np.int64(conclude_at_sea(s.one.totals, 0))
    return ending, outcome


@part
def _pay_at_sea(s, aim, x, y, outcome, out):
    """Fill `out` with what an end is worth by each criterion."""
    swing = float(s.enemy.lost[y] - s.own.lost[x])
    out[0] = aim.prize[outcome] + aim.per_swing * swing
    out[1] = 1.0 if outcome == _WINS else 0.0
    out[2] = swing


@kernel
def explore(s, aim, x, y):
    """Find all pairs that (x, y) can lead to; returns False if there are too many."""
    out = np.zeros(CRITERIA + 1)
    none = s.arriving[0]
    origin = (np.int64(_NOBODY), np.int64(_NOBODY))
    if not _meet(s, y, x):
        return False
    _put_board(s, x, y, _zero(), _zero(), _one())
    first, second = _states_on_board(s)
    if first < 0 or second < 0 or not _meet(s, second, first):
        return False
    at = np.int64(0)
    while at < s.n_pairs[0]:
        y = np.int64(s.pairs[at, 0])
        x = np.int64(s.pairs[at, 1])
        at += 1
        divers = np.int64(0)
        room = np.int64(0)
        while divers <= room:
            room = _put_board(s, x, y, _one(), divers, _one())
            first, second = _states_on_board(s)
            if first < 0 or second < 0 or not _meet(s, second, first):
                return False
            divers += 1
        ending, _ = _ending(s, s.never, x, y, _one())
        if ending == _CONDITION_A:
            continue
        divers = np.int64(0)
        room = np.int64(0)
        while divers <= room:
            room = _put_board(s, x, y, _one(), divers, _zero())
            first, second = _states_on_board(s)
            if first < 0 or second < 0:
                return False
            if not _strike(s, none, aim, np.int64(_EXPLORE), 0.0, 0.0, first, second, origin, _zero(), out):
                return False
            divers += 1
    return True


@part
def _value_going(s, aim, level, worth, x, y, is_looped, out, best):
    """Fill `best` with the worth of a cycle from (x, y), its part that changes nothing apart; notes who submerges."""
    origin = (y, x)
    divers = np.int64(0)
    room = np.int64(0)
    value = 0.0
    while divers <= room:
        room = _put_board(s, x, y, level + 1, divers, _zero())
        first, second = _states_on_board(s)
        if first < 0 or second < 0:
            return False
        if not _strike(s, worth, aim, np.int64(_VALUE), 0.0, 0.0, first, second, origin, is_looped, out):
            return False
        # If it goes on so, it does so after every cycle that changes nothing.
        found = out[0] / (1.0 - out[_LOOP])
        if divers == 0 or found > value + aim.margin:
            value = found
            s.dives[level, y, x] = divers
            for c in range(CRITERIA + 1):
                best[c] = out[c]
        divers += 1
    return True


@part
def _settle_at_sea(s, aim, level, x, y, ending, outcome, going, leaving):
    """Work out step 6 of a pair from the worth of going on; returns `Why` the attacker leaves."""
    base = s.settled[level, :, y, x]
    if ending == _GOES_ON:
        for c in range(CRITERIA):
            base[c] = going[c]
    else:
        _pay_at_sea(s, aim, x, y, outcome, base)
    if level == 0:
        return 0
    why = 0
    asked, _ = _ending(s, s.always, x, y, level)
    if asked == _RETREAT:
        _pay_at_sea(s, aim, x, y, _RETREATS, leaving)
        wanted, _ = _ending(s, s.written, x, y, level)
        if aim.free_retreat != 0:
            if leaving[0] > base[0] + aim.margin:
                why = _BY_GOAL
        elif wanted == _RETREAT:
            why = _BY_POLICY
        elif ending != _CONDITION_A:
            if base[1] < aim.win_below - MARGIN:
                why = _WINS_TOO_RARELY
            elif aim.swing_negative != 0 and base[2] - leaving[2] < -MARGIN * aim.stake:
                why = _LOSES_TOO_MUCH
        if why != 0:
            for c in range(CRITERIA):
                base[c] = leaving[c]
    return why


@part
def _value_pair(s, aim, level, levels, x, y, scratch):
    """Work out one pair at a level: going on, settled, arriving; returns False if something is full."""
    out, best, going, leaving = scratch
    is_last = level == levels
    now = s.arriving[level]
    then = now if is_last else s.arriving[level + 1]
    # What it becomes before step 6, where nobody decides to submerge and where somebody does.
    late = np.int64(0)
    same = False
    value = 0.0
    divers = np.int64(0)
    room = np.int64(0)
    become_x = np.int64(x)
    become_y = np.int64(y)
    while divers <= room:
        room = _put_board(s, x, y, level, divers, _one())
        first, second = _states_on_board(s)
        if divers == 0 and first == x and second == y:
            same = True
        else:
            worth = s.settled[level, 0, second, first]
            if (divers == 0 or (same and divers == 1)) or worth > value + aim.margin:
                value = worth
                late = divers
                become_x = first
                become_y = second
        divers += 1
    if not same:
        for c in range(CRITERIA):
            now[c, y, x] = s.settled[level, c, become_y, become_x]
    ending, outcome = _ending(s, s.never, x, y, level)
    p = 0.0
    for c in range(CRITERIA):
        going[c] = 0.0
    if ending == _GOES_ON:
        if not _value_going(s, aim, level, then, x, y, np.int64(is_last), out, best):
            return False
        p = best[_LOOP]
        for c in range(CRITERIA):
            going[c] = best[c] / (1.0 - p) if same else best[c] + p * now[c, y, x]
        if is_last:
            s.loops[y, x] = p
    why = _settle_at_sea(s, aim, level, x, y, ending, outcome, going, leaving)
    if same and late > 0:
        if value > s.settled[level, 0, y, x] + aim.margin:
            for c in range(CRITERIA):
                now[c, y, x] = s.settled[level, c, become_y, become_x]
                if ending == _GOES_ON:
                    going[c] = best[c] + p * now[c, y, x]
            why = _settle_at_sea(s, aim, level, x, y, ending, outcome, going, leaving)
        else:
            late = np.int64(0)
    if same and late == 0:
        for c in range(CRITERIA):
            now[c, y, x] = s.settled[level, c, y, x]
    s.leaves[level, y, x] = why
    s.dives_late[level, y, x] = late
    for c in range(CRITERIA):
        s.going[level, c, y, x] = going[c]
        if ending != _GOES_ON and why == 0:
            s.going[level, c, y, x] = s.settled[level, c, y, x]
    return True


@part
def _in_order(s):
    """Return the pairs from those that can take the fewest hits."""
    n = s.n_pairs[0]
    left = np.zeros(n, dtype=np.int64)
    for k in range(n):
        left[k] = np.int64(s.enemy.hits_left[s.pairs[k, 0]]) + s.own.hits_left[s.pairs[k, 1]]
    return np.argsort(left, kind="mergesort")


@kernel
def decide_at_sea(s, aim, levels, x, y, most_effort, total):
    """Work the battle out backwards from the pair (x, y); returns False if it is too much.

    Parameters
    ----------
    s : Sea
        Explored; its worths and decisions are filled.
    aim : Aim
    levels : int64
        Cycles that are gone through one by one; the last stands for all later ones.
    x, y : int64
        States at the start.
    most_effort : int64
        Most worths that may be added up.
    total : float64 (criteria,)
        Output: what the battle is worth.
    """
    order = _in_order(s)
    scratch = (np.zeros(CRITERIA + 1), np.zeros(CRITERIA + 1), np.zeros(CRITERIA), np.zeros(CRITERIA))
    _put_board(s, x, y, _zero(), _zero(), _one())
    first, second = _states_on_board(s)
    for level in range(levels, -1, -1):
        for k in range(len(order)):
            pair = s.pairs[order[k]]
            # Before cycle 1 there is one pair alone.
            if level == 0 and (pair[0] != second or pair[1] != first):
                continue
            if not _value_pair(s, aim, level, levels, np.int64(pair[1]), np.int64(pair[0]), scratch):
                return False
            if s.effort[0] > most_effort:
                return False
    for c in range(CRITERIA):
        total[c] = s.settled[0, c, second, first]
        s.arriving[0, c, y, x] = total[c]
    return True


@part
def _book_at_sea(s, x, y, outcome, chance, stamp, cycle, acc, record):
    """Add the probability of an end to the accumulators and the record, as `record_end`."""
    plan = s.plan
    lost = (float(s.own.lost[x]), float(s.enemy.lost[y]))
    damaged_give_room = s.rules[_DAMAGED_GIVE_ROOM] != 0
    acc[_A_BATTLES] += chance
    acc[_A_OUTCOMES + outcome] += chance
    for side in range(2):
        base = plan.groups[side, 0]
        column = _A_SURVIVORS + outcome * 2 * _N_TYPES + side * _N_TYPES
        aircraft = np.int64(0)
        carriers = np.int64(0)
        for g in range(plan.groups[side, 0], plan.groups[side, 1]):
            units = np.int64(s.own.units[x, g - base] if side == 0 else s.enemy.units[y, g - base])
            t = plan.kind[g]
            form = plan.form[g]
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
    swing = s.enemy.lost[y] - s.own.lost[x]
    key = (outcome * s.enemy.count[0] + y) * s.own.count[0] + x
    return record_end(record, key, s.own.units[x], s.enemy.units[y], outcome, swing, chance, stamp, cycle)


@part
def _push_pair(s, aim, level, cycle, is_last, worth, x, y, acc, record, out):
    """Let what is settled in a pair end or fight its next cycle; returns False if something is full.

    `level` holds the decisions after `cycle`; where that `is_last`, the way back to the pair is divided out.
    """
    chance = s.post[y, x]
    stamp = s.post_stamps[y, x]
    s.post[y, x] = 0.0
    s.post_stamps[y, x] = 0.0
    if chance <= _REMNANT:
        return True
    ending, outcome = _ending(s, s.never, x, y, level)
    if s.leaves[level, y, x] != 0:
        ending = np.int64(_RETREAT)
        outcome = np.int64(_RETREATS)
    if ending != _GOES_ON:
        return _book_at_sea(s, x, y, outcome, chance, stamp, cycle, acc, record)
    stays = s.loops[y, x] if is_last else 0.0
    become_x = np.int64(x)
    become_y = np.int64(y)
    if is_last:
        _put_board(s, x, y, level, np.int64(s.dives_late[level, y, x]), _one())
        become_x, become_y = _states_on_board(s)
    if become_x == x and become_y == y:
        chance = chance / (1.0 - stays)
        # Each visit is a cycle later than the one before it.
        stamp = (stamp + stays * chance) / (1.0 - stays)
    elif stays > 0.0:
        s.post[become_y, become_x] += chance * stays
        s.post_stamps[become_y, become_x] += (stamp + chance) * stays
    # A stamp is a probability times the number of cycles fought.
    acc[_A_CYCLES] += chance
    acc[_A_CYCLES + 1] += 2.0 * stamp + chance
    _put_board(s, x, y, level + 1, np.int64(s.dives[level, y, x]), _zero())
    first, second = _states_on_board(s)
    return _strike(
        s, worth, aim, np.int64(_PUSH), chance, stamp + chance, first, second, (y, x), np.int64(is_last), out
    )


@part
def _settle_arrivals(s, level, x, y):
    """Let what arrived at a pair become what it is in step 6."""
    if s.arrived[y, x] == 0.0:
        return
    _put_board(s, x, y, level, np.int64(s.dives_late[level, y, x]), _one())
    first, second = _states_on_board(s)
    s.post[second, first] += s.arrived[y, x]
    s.post_stamps[second, first] += s.stamps[y, x]
    s.arrived[y, x] = 0.0
    s.stamps[y, x] = 0.0


@part
def _swings(plan):
    """Most different swings of a battle."""
    most = np.int64(1)
    for side in range(2):
        for g in range(plan.groups[side, 0], plan.groups[side, 1]):
            most += plan.start[g] * plan.cost[g]
    return most


@part
def _waiting(s):
    """Probability of having arrived somewhere."""
    total = 0.0
    for k in range(s.n_pairs[0]):
        total += s.arrived[s.pairs[k, 0], s.pairs[k, 1]]
    return total


@kernel
def play_at_sea(s, aim, levels, x, y, acc, ends):
    """Play the battle forwards under the decisions found; returns False if something is full.

    Parameters
    ----------
    s, aim, levels, x, y
        As `decide_at_sea` was given and left them.
    acc : float64 (K + 6,)
        Output: expected accumulators of one battle, and what `SPREAD` names of the swing.
    ends : Ends
        Output: how the battle ends; without room where nobody asks.
    """
    order = _in_order(s)
    out = np.zeros(CRITERIA + 1)
    record = new_record(min(_swings(s.plan), s.n_pairs[0]), ends)
    s.arrived[y, x] = 1.0
    # Each cycle but the last in two rounds: all that arrives is settled, then all that is settled goes on. In the last
    # one, which stands for all later ones too, every pair does both before the smaller ones.
    counted = max(levels, len(ends.by_cycle) - 1)
    cycle = np.int64(0)
    is_last = False
    while not is_last:
        level = min(cycle, levels)
        is_last = cycle == counted or (cycle >= levels and _waiting(s) <= _UNCOUNTED)
        for turn in range(1 if is_last else 2):
            for k in range(len(order) - 1, -1, -1):
                pair = s.pairs[order[k]]
                first = np.int64(pair[1])
                second = np.int64(pair[0])
                if turn == 0:
                    _settle_arrivals(s, level, first, second)
                if turn == 1 or is_last:
                    worth = s.arriving[min(level + 1, levels)]
                    if not _push_pair(s, aim, level, cycle, is_last, worth, first, second, acc, record, out):
                        return False
        cycle += 1
    fold_swing(record.swing, acc)
    return True


@kernel
def new_sea(battles, row, free_side, capacity):
    """Return room for a sea battle, and the states of both sides at the start.

    There is no room yet for what the states are worth, because it is not known how many there are.

    Parameters
    ----------
    battles : Battles
    row : int64
    free_side : int64
        Side that decides about submerging by its goal, -1 for none.
    capacity : int64 (4,)
        Most states of a side, pairs, events of a step, choices of a step.
    """
    plan = plan_matchup(battles, row)
    states = capacity[0]
    own = _new_fleet(states)
    enemy = _new_fleet(states)
    one = new_lanes()
    fits = _set_radix(plan, 0, battles.counts[row, 0], own)
    fits = _set_radix(plan, 1, battles.counts[row, 1], enemy) and fits
    dice = np.int64(0)
    for side in range(2):
        for k in range(plan.n_slots[side]):
            dice += np.int64(battles.counts[row, side, plan.slots[side, k, SLOT_TYPE]]) * plan.slots[side, k, 4]
        for g in range(plan.groups[side, 0], plan.groups[side, 1]):
            one.alive[g, 0] = plan.start[g]
    rules = battles.rules[row].copy()
    late = np.int64(rules[_SUBMERGE_AT_END])
    rules[_SUBMERGE_AT_END] = 0
    if free_side >= 0:
        rules[_SUBMERGE[0] if free_side == 0 else _SUBMERGE[1]] = 0
    written = rules.copy()
    never = rules.copy()
    never[_AFTER] = 0
    never[_AT_MOST] = 0
    never[_ONLY_AIRCRAFT] = 0
    never[_ONLY_TRANSPORTS] = 0
    always = never.copy()
    always[_AFTER] = 1
    x = np.int64(0)
    y = np.int64(0)
    if fits:
        x = _find_state(plan, 0, own, one.alive)
        y = _find_state(plan, 1, enemy, one.alive)
    shape = (1, CRITERIA, 1, 1)
    s = Sea(
        rules=rules,
        written=written,
        never=never,
        always=always,
        odds=battles.odds,
        plan=plan,
        late=late,
        free_side=np.int64(free_side),
        own=own,
        enemy=enemy,
        one=one,
        lanes=new_lanes(),
        pmfs=np.zeros((N_CLASSES, dice + 2)),
        scratch=np.zeros((2, dice + 2)),
        sizes=np.zeros(N_CLASSES, dtype=np.int64),
        points=np.zeros(N_CLASSES, dtype=np.int64),
        strikes=(
            _new_events(capacity[2], capacity[3]),
            _new_events(capacity[2], capacity[3]),
            _new_events(2, 2),
        ),
        exchange=(
            _new_events(capacity[2], capacity[3]),
            _new_events(capacity[2], capacity[3]),
            _new_events(capacity[2], capacity[3]),
        ),
        inner=np.zeros((CRITERIA + 1, states)),
        inner_mark=np.full(states, -1, dtype=np.int64),
        generation=np.zeros(1, dtype=np.int64),
        effort=np.zeros(1, dtype=np.int64),
        seen=np.zeros((states, states), dtype=np.uint8),
        pairs=np.zeros((capacity[1], 2), dtype=np.int32),
        n_pairs=np.zeros(1, dtype=np.int64),
        arriving=np.zeros(shape),
        settled=np.zeros(shape),
        going=np.zeros(shape),
        leaves=np.zeros((1, 1, 1), dtype=np.uint8),
        dives=np.zeros((1, 1, 1), dtype=np.uint8),
        dives_late=np.zeros((1, 1, 1), dtype=np.uint8),
        loops=np.zeros((1, 1)),
        arrived=np.zeros((1, 1)),
        stamps=np.zeros((1, 1)),
        post=np.zeros((1, 1)),
        post_stamps=np.zeros((1, 1)),
    )
    return s, x, y, fits
