"""Sea battles in lanes: counting the board, step 2, giving out hits by class, sweeps and endings.

Like `lane.py`: loops over neighbouring lanes around the rule steps of `steps.py`.
"""

from __future__ import annotations

import numpy as np

from simcore.core.jit import part
from simcore.core.lane import emit
from simcore.rulesets.general_combat.encoding import HitClass, LossForm, RowField, UnitType
from simcore.rulesets.general_combat.lane import N_CLASSES, SEA_TOTALS, SIDE_TOTALS, Ending, is_aircraft
from simcore.rulesets.general_combat.steps import (
    absorb,
    acts_in_step_2,
    can_fire,
    conclude_sea,
    condition_a,
    damage_first,
    hull_losses,
    may_retreat,
    paired_tactical_bombers,
    sweeps_transports,
    wants_retreat,
    wants_submerge,
)
from simcore.rulesets.general_combat.trace import Event

__all__ = [
    "SeaTotal",
    "allow_air_hits",
    "changes_at_end",
    "conclude_at_sea",
    "count_board",
    "end_cycle_at_sea",
    "find_endings",
    "keep_doomed",
    "note_doomed",
    "note_strikes",
    "note_unfired",
    "submerge_both",
    "take_losses",
]


class SeaTotal:
    """Rows of the totals of a side at sea, from ``SEA_TOTALS + side * SIDE_TOTALS`` on."""

    AIRCRAFT = 0
    SUBMARINES = 1
    SHIPS = 2
    TRANSPORTS = 3
    ARMED_AIRCRAFT = 4
    ARMED_SUBMARINES = 5
    ARMED_SHIPS = 6
    DESTROYERS = 7
    SUBMERGED = 8


_AIRCRAFT = SeaTotal.AIRCRAFT
_SUBMARINES = SeaTotal.SUBMARINES
_SHIPS = SeaTotal.SHIPS
_TRANSPORTS = SeaTotal.TRANSPORTS
_ARMED_AIRCRAFT = SeaTotal.ARMED_AIRCRAFT
_ARMED_SUBMARINES = SeaTotal.ARMED_SUBMARINES
_ARMED_SHIPS = SeaTotal.ARMED_SHIPS
_DESTROYERS = SeaTotal.DESTROYERS
_SUBMERGED_TOTAL = SeaTotal.SUBMERGED
_SUBMERGE_AT_END = int(RowField.SUBMERGE_AT_END)
_ON_BOARD = 4
"""Kinds of units on the board: the first rows of `SeaTotal`."""
_ARMED = 4
"""From a kind's total to that of its armed units."""

_SUBMARINE = int(UnitType.SUBMARINE)
_TRANSPORT = int(UnitType.TRANSPORT)
_FIGHTER = int(UnitType.FIGHTER)
_TAC = int(UnitType.TACTICAL_BOMBER)
_DESTROYER = int(UnitType.DESTROYER)

_OTHER = int(HitClass.OTHER)
_AIR = int(HitClass.AIR)
_SUB = int(HitClass.SUB)

_UNIT = int(LossForm.UNIT)
_DAMAGE = int(LossForm.DAMAGE)
_HULL = int(LossForm.HULL)
_DAMAGED = int(LossForm.DAMAGED)
_SUBMERGED = int(LossForm.SUBMERGED)

_AIR_HITS_SUBS = int(RowField.AIR_HITS_SUBS)
_STRIKE_ALWAYS = int(RowField.STRIKE_ALWAYS)
_TRANSPORTS_SWEPT = int(RowField.TRANSPORTS_SWEPT)
_SUBMERGE = (int(RowField.ATTACKER_SUBMERGE), int(RowField.DEFENDER_SUBMERGE))
_OUTNUMBERED = (int(RowField.ATTACKER_OUTNUMBERED), int(RowField.DEFENDER_OUTNUMBERED))
_AFTER = int(RowField.RETREAT_AFTER_CYCLES)
_AT_MOST = int(RowField.RETREAT_UNITS_AT_MOST)
_ONLY_AIRCRAFT = int(RowField.RETREAT_ONLY_AIRCRAFT)
_ONLY_TRANSPORTS = int(RowField.RETREAT_TRANSPORTS_ONLY)
_POSSIBLE = int(RowField.RETREAT_POSSIBLE)
_LIMIT_FIELD = int(RowField.CYCLE_LIMIT)

_GOES_ON = Ending.NONE
_CONDITION_A = Ending.CONDITION_A
_RETREAT = Ending.RETREAT
_LIMIT = Ending.LIMIT

_STEP_2 = 2
_STEP_5 = 5
_SUBMERGE_EVENT = int(Event.SUBMERGE)
_SWEEP = int(Event.SWEEP)


@part
def _kind_row(t):
    if is_aircraft(t):
        return _AIRCRAFT
    if t == _SUBMARINE:
        return _SUBMARINES
    if t == _TRANSPORT:
        return _TRANSPORTS
    return _SHIPS


@part
def count_board(plan, alive, n, totals):
    """Fill the totals of both sides: units on the board by kind, armed ones, destroyers, submerged ones."""
    for q in range(SEA_TOTALS, SEA_TOTALS + 2 * SIDE_TOTALS):
        for i in range(n):
            totals[q, i] = 0
    for side in range(2):
        base = SEA_TOTALS + side * SIDE_TOTALS
        for g in range(plan.groups[side, 0], plan.groups[side, 1]):
            if plan.form[g] == _DAMAGE:
                continue
            row = base + _kind_row(plan.kind[g])
            if plan.form[g] == _SUBMERGED:
                row = base + _SUBMERGED_TOTAL
            for i in range(n):
                totals[row, i] += alive[g, i]
            if plan.armed[g] != 0 and row != base + _SUBMERGED_TOTAL:
                # Where transports have a value (Revised) they fire like any other ship.
                armed_row = base + _ARMED_SHIPS if row == base + _TRANSPORTS else row + _ARMED
                for i in range(n):
                    totals[armed_row, i] += alive[g, i]
            if plan.kind[g] == _DESTROYER:
                for i in range(n):
                    totals[base + _DESTROYERS, i] += alive[g, i]
    if plan.only_supported[0] != 0:
        # Tactical bombers without a value of their own are armed by fighters beside them (GC-4.3.3, GC-4.6.3).
        bombers = plan.first[0, _TAC]
        fighters = plan.first[0, _FIGHTER]
        for i in range(n):
            totals[SEA_TOTALS + _ARMED_AIRCRAFT, i] += paired_tactical_bombers(
                alive[bombers, i], alive[fighters, i], np.int32(0)
            )


@part
def allow_air_hits(rules, side, totals, n, air_hits_subs):
    """Note in which lanes a side's aircraft can hit submarines (GC-4.8.1, GC-2.3:air_hits_subs)."""
    row = SEA_TOTALS + side * SIDE_TOTALS + _DESTROYERS
    always = rules[_AIR_HITS_SUBS] != 0
    for i in range(n):
        air_hits_subs[side, i] = 1 if always or totals[row, i] > 0 else 0


@part
def note_strikes(rules, side, totals, n, struck):
    """Note in which lanes a side's submarines fire in step 2 (GC-4.2.1)."""
    own = SEA_TOTALS + side * SIDE_TOTALS + _SUBMARINES
    enemy = SEA_TOTALS + (1 - side) * SIDE_TOTALS + _DESTROYERS
    always = rules[_STRIKE_ALWAYS]
    for i in range(n):
        struck[side, i] = 1 if acts_in_step_2(totals[own, i], totals[enemy, i], always) else 0


@part
def _submerge(rules, plan, side, lanes, n, step, trace):
    """Submerge a side's submarines where its policy says so and no enemy destroyer is left (GC-4.2.2, GC-4.2.3).

    ``lanes.totals`` count the board as it is now, ``lanes.air_hits_subs`` says where the enemy's aircraft can
    hit submarines. Never before the first cycle.
    """
    totals = lanes.totals
    alive = lanes.alive
    cycles = lanes.cycles
    air_hits_subs = lanes.air_hits_subs
    before = lanes.before
    policy = rules[_SUBMERGE[side]]
    below = plan.submerged[side]
    if policy == 0 or plan.first[side, _SUBMARINE] == below:  # no submarine: both rows are the empty one
        return
    per_thousand = rules[_OUTNUMBERED[side]]
    own = SEA_TOTALS + side * SIDE_TOTALS
    enemy = SEA_TOTALS + (1 - side) * SIDE_TOTALS
    row = plan.first[side, _SUBMARINE]
    for i in range(n):
        submarines = totals[own + _SUBMARINES, i]
        fighting = totals[enemy + _SUBMARINES, i] + totals[enemy + _SHIPS, i]
        hunters = totals[enemy + _ARMED_SUBMARINES, i] + totals[enemy + _ARMED_SHIPS, i]
        hunters += totals[enemy + _ARMED_AIRCRAFT, i] * air_hits_subs[1 - side, i]
        aircraft = totals[enemy + _AIRCRAFT, i]
        enemies = aircraft + fighting + totals[enemy + _TRANSPORTS, i] + totals[enemy + _SUBMERGED_TOTAL, i]
        wanted = wants_submerge(policy, per_thousand, submarines, enemies, aircraft, fighting, hunters)
        if wanted and cycles[i] > 0 and acts_in_step_2(submarines, totals[enemy + _DESTROYERS, i], 0):
            if trace is not None:
                emit(trace, _SUBMERGE_EVENT, cycles[i], step, side, _SUBMARINE, alive[row, i], 0, 0, 0)
                before[row] = 0
            alive[below, i] += alive[row, i]
            alive[row, i] = 0


@part
def take_losses(plan, side, n, alive, hits, air_hits_subs, caps):
    """Give out the enemy's hits of one step along a side's order of loss (GC-4.8.1 to GC-4.8.7).

    The owner takes as many hits as possible. With the three classes of hits and the kinds of targets that
    is possible exactly while: all hits taken stay within all hits, those on aircraft within the hits of
    aircraft and other units, those on submarines within all hits that may be given to submarines. Going once
    through the order of loss under these three caps therefore gives the owner's favourite among the largest
    assignments, and transports, last in the order, take only what nothing else can.
    """
    base = (1 - side) * N_CLASSES
    for i in range(n):
        other = hits[base + _OTHER, i]
        air = hits[base + _AIR, i]
        sub = hits[base + _SUB, i]
        caps[0, i] = other + air + sub
        caps[1, i] = other + air
        caps[2, i] = other + sub + air * air_hits_subs[1 - side, i]
    for g in range(plan.groups[side, 0], plan.groups[side, 1]):
        t = plan.kind[g]
        form = plan.form[g]
        if form == _UNIT:
            own_cap = 1 if is_aircraft(t) else (2 if t == _SUBMARINE else 0)
            for i in range(n):
                lost = absorb(alive[g, i], min(caps[0, i], caps[own_cap, i]))
                alive[g, i] -= lost
                caps[0, i] -= lost
                if own_cap > 0:
                    caps[own_cap, i] -= lost
        elif form == _DAMAGE:
            whole = plan.first[side, t]
            damaged = plan.second[side, t]
            for i in range(n):
                taken = damage_first(alive[whole, i], caps[0, i])
                alive[whole, i] -= taken
                alive[damaged, i] += taken
                caps[0, i] -= taken
        elif form == _HULL:
            damaged = plan.second[side, t]
            for i in range(n):
                taken = min(caps[0, i], alive[damaged, i] + 2 * alive[g, i])
                sunk_damaged, sunk_whole, newly = hull_losses(alive[damaged, i], taken)
                alive[g, i] -= sunk_whole + newly
                alive[damaged, i] += newly - sunk_damaged
                caps[0, i] -= taken


@part
def note_doomed(plan, side, n, alive, doomed):
    """Remember a side's units before step 2."""
    for g in range(plan.groups[side, 0], plan.groups[side, 1]):
        for i in range(n):
            doomed[g, i] = alive[g, i]


@part
def note_unfired(plan, side, n, alive, doomed):
    """After the enemy's strike alone: `doomed` becomes the submarines lost before they could strike."""
    row = plan.first[side, _SUBMARINE]
    for i in range(n):
        doomed[row, i] -= alive[row, i]


@part
def keep_doomed(plan, side, totals, n, alive, unfired, doomed):
    """After step 2: what a side with a destroyer lost in it fires once more (GC-2.3:sub_first_strike).

    In lanes without a destroyer, by `totals` from the start of step 2, `doomed` becomes what is alive. Of the
    submarines only those fire that were lost before they could strike, where `unfired` says that `doomed`
    holds their number.
    """
    row = SEA_TOTALS + side * SIDE_TOTALS + _DESTROYERS
    for g in range(plan.groups[side, 0], plan.groups[side, 1]):
        if plan.kind[g] == _SUBMARINE:
            for i in range(n):
                doomed[g, i] = doomed[g, i] if unfired and totals[row, i] > 0 else 0
        else:
            for i in range(n):
                doomed[g, i] = doomed[g, i] if totals[row, i] > 0 else alive[g, i]


@part
def _is_swept(totals, i):
    a = SEA_TOTALS
    d = SEA_TOTALS + SIDE_TOTALS
    aircraft = totals[a + _AIRCRAFT, i]
    attackers = aircraft + totals[a + _SUBMARINES, i] + totals[a + _SHIPS, i] + totals[a + _TRANSPORTS, i]
    armed = totals[a + _ARMED_AIRCRAFT, i] + totals[a + _ARMED_SUBMARINES, i] + totals[a + _ARMED_SHIPS, i]
    return sweeps_transports(
        attackers,
        aircraft,
        armed,
        totals[d + _AIRCRAFT, i],
        totals[d + _SUBMARINES, i],
        totals[d + _SHIPS, i],
        totals[d + _TRANSPORTS, i],
    )


@part
def _sweep_transports(rules, plan, totals, n, alive, cycles, before, trace):
    """Step 5 and before the first die: destroy defenceless transports of the defender (GC-4.5.2, GC-4.5.3)."""
    if rules[_TRANSPORTS_SWEPT] == 0:
        return
    d = SEA_TOTALS + SIDE_TOTALS
    for i in range(n):
        if _is_swept(totals, i):
            if trace is not None:
                beside = 1 if totals[d + _SUBMARINES, i] > 0 else 0
                emit(trace, _SWEEP, cycles[i], _STEP_5, 1, _TRANSPORT, totals[d + _TRANSPORTS, i], beside, 0, 0)
            for g in range(plan.groups[1, 0], plan.groups[1, 1]):
                if plan.kind[g] == _TRANSPORT:
                    alive[g, i] = 0
                    before[g] = 0
            totals[d + _TRANSPORTS, i] = 0


@part
def _find_endings(rules, totals, n, cycles, ending):
    """Step 6 at sea and the test before cycle 1: condition A, then B, then the cycle limit (GC-4.6.1)."""
    a = SEA_TOTALS
    d = SEA_TOTALS + SIDE_TOTALS
    swept = rules[_TRANSPORTS_SWEPT] != 0
    always = rules[_AIR_HITS_SUBS] != 0
    after = rules[_AFTER]
    at_most = rules[_AT_MOST]
    only_aircraft = rules[_ONLY_AIRCRAFT]
    only_transports = rules[_ONLY_TRANSPORTS] != 0
    possible = rules[_POSSIBLE]
    limit = rules[_LIMIT_FIELD]
    for i in range(n):
        own_air = np.int64(totals[a + _AIRCRAFT, i])
        own_subs = np.int64(totals[a + _SUBMARINES, i])
        own_ships = np.int64(totals[a + _SHIPS, i])
        own_transports = np.int64(totals[a + _TRANSPORTS, i])
        air = np.int64(totals[d + _AIRCRAFT, i])
        subs = np.int64(totals[d + _SUBMARINES, i])
        ships = np.int64(totals[d + _SHIPS, i])
        transports = np.int64(totals[d + _TRANSPORTS, i])
        attackers = own_air + own_subs + own_ships + own_transports
        combat = air + subs + ships
        if not swept:
            combat += transports
        attack = can_fire(
            totals[a + _ARMED_SHIPS, i],
            totals[a + _ARMED_SUBMARINES, i],
            totals[a + _ARMED_AIRCRAFT, i],
            air,
            subs,
            ships,
            transports,
            always or totals[a + _DESTROYERS, i] > 0,
        )
        defence = can_fire(
            totals[d + _ARMED_SHIPS, i],
            totals[d + _ARMED_SUBMARINES, i],
            totals[d + _ARMED_AIRCRAFT, i],
            own_air,
            own_subs,
            own_ships,
            own_transports,
            always or totals[d + _DESTROYERS, i] > 0,
        )
        cycle = cycles[i]
        units = attackers - own_transports
        surface = attackers - own_air
        policy = wants_retreat(cycle, units, surface, after, at_most, only_aircraft)
        may_leave = may_retreat(possible, surface)
        ends = _GOES_ON
        if condition_a(attackers, combat, attack, defence):
            ends = _CONDITION_A
            # Transports against transports: the attacker's may leave, but only where he asks for it (GC-4.6.5).
            lone = (units == 0) & (own_transports > 0) & (combat == 0) & (transports > 0)
            asked = ((after > 0) & (cycle >= after)) | ((at_most > 0) & (units <= at_most))
            if lone and cycle > 0 and asked and may_leave:
                ends = _RETREAT
        elif cycle > 0:
            stranded = only_transports and units == 0 and own_transports > 0
            if (policy or stranded) and may_leave:
                ends = _RETREAT
            elif cycle == limit:
                ends = _LIMIT
        ending[i] = ends


@part
def submerge_both(rules, plan, lanes, n, step, trace):
    """Submerge by policy: first the attacker's submarines, then the defender's, who sees them gone (GC-4.2.2)."""
    for side in range(2):
        if rules[_SUBMERGE[side]] != 0:
            allow_air_hits(rules, 1 - side, lanes.totals, n, lanes.air_hits_subs)
            _submerge(rules, plan, side, lanes, n, step, trace)
            count_board(plan, lanes.alive, n, lanes.totals)


@part
def changes_at_end(rules, totals, i):
    """Whether the end of a cycle may take units from the board in lane `i` before step 6, by its counts."""
    submerging = rules[_SUBMERGE_AT_END] != 0 and rules[_SUBMERGE[0]] + rules[_SUBMERGE[1]] != 0
    return submerging or (rules[_TRANSPORTS_SWEPT] != 0 and _is_swept(totals, i))


@part
def find_endings(rules, totals, n, cycles, ending):
    """Test step 6 where nothing changes before it (GC-4.6.1)."""
    _find_endings(rules, totals, n, cycles, ending)


@part
def end_cycle_at_sea(rules, plan, lanes, n, trace):
    """Make the sweep of step 5, submerge where it comes last, and test step 6 (GC-4.5.2, GC-4.5.3, GC-4.6.1)."""
    count_board(plan, lanes.alive, n, lanes.totals)
    _sweep_transports(rules, plan, lanes.totals, n, lanes.alive, lanes.cycles, lanes.before, trace)
    if rules[_SUBMERGE_AT_END] != 0:
        submerge_both(rules, plan, lanes, n, _STEP_5, trace)
        _sweep_transports(rules, plan, lanes.totals, n, lanes.alive, lanes.cycles, lanes.before, trace)
    _find_endings(rules, lanes.totals, n, lanes.cycles, lanes.ending)


@part
def conclude_at_sea(totals, i):
    """Outcome of the battle in lane `i`, which ended under condition A (GC-4.6.2 to GC-4.6.5)."""
    attackers = np.int64(0)
    defenders = np.int64(0)
    for kind in range(_ON_BOARD):
        attackers += totals[SEA_TOTALS + kind, i]
        defenders += totals[SEA_TOTALS + SIDE_TOTALS + kind, i]
    below = totals[SEA_TOTALS + _SUBMERGED_TOTAL, i] + totals[SEA_TOTALS + SIDE_TOTALS + _SUBMERGED_TOTAL, i]
    return conclude_sea(attackers, defenders, below)
