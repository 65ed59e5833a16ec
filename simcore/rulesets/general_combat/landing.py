"""Amphibious assaults in lanes: what a sea battle leaves to land, bombardment, partial retreats and endings.

Like `lane.py`: loops over neighbouring lanes around the rule steps of `steps.py`. The attacker's units of a
type stand in several rows, landed and overland; where they are needed by type, they are added up in
``Lanes.doomed``, which also holds the defenders that were hit by the bombardment and still fire.
"""

from __future__ import annotations

import numpy as np

from simcore.core.jit import part
from simcore.core.lane import emit
from simcore.rulesets.general_combat.encoding import (
    LAND_UNITS,
    AssaultAccumulator,
    LossForm,
    Outcome,
    RowField,
    UnitType,
)
from simcore.rulesets.general_combat.lane import (
    AA_GUN,
    SEA_TOTALS,
    Count,
    Ending,
    Total,
    is_aircraft,
    is_land,
    sum_units,
    total_dice,
)
from simcore.rulesets.general_combat.leave import looks_up
from simcore.rulesets.general_combat.steps import (
    conclude_without_landing,
    condition_a,
    lands,
    leaving_units,
    may_leave_assault,
    wants_retreat,
)
from simcore.rulesets.general_combat.trace import Event

__all__ = [
    "break_off",
    "close_up_fire",
    "count_parts",
    "find_landing_endings",
    "muster_attackers",
    "note_fire",
    "retreated_units",
    "start_landings",
]

_N_TYPES = len(UnitType)
_N_LAND = len(LAND_UNITS)
_LANDED = int(LossForm.LANDED)
_UNFINISHED = int(Outcome.UNFINISHED)

_KEEP_LAND = int(RowField.KEEP_LAND)
_PER_ARTILLERY = int(RowField.PER_ARTILLERY)
_AFTER = int(RowField.RETREAT_AFTER_CYCLES)
_AT_MOST = int(RowField.RETREAT_UNITS_AT_MOST)
_ONLY_AIRCRAFT = int(RowField.RETREAT_ONLY_AIRCRAFT)
_POSSIBLE = int(RowField.RETREAT_POSSIBLE)
_LIMIT_FIELD = int(RowField.CYCLE_LIMIT)
_ONLY_AIRCRAFT_LEAVE = int(RowField.ONLY_AIRCRAFT_LEAVE)

_GOES_ON = Ending.NONE
_CONDITION_A = Ending.CONDITION_A
_RETREAT = Ending.RETREAT
_LIMIT = Ending.LIMIT
_PARTIAL = Ending.PARTIAL_RETREAT

_ATTACKERS = Total.ATTACKERS
_LAND = Total.LAND
_ATTACK_DICE = Total.ATTACK_DICE
_DEFENCE_DICE = Total.DEFENCE_DICE
# Rows of the totals that sea battles use are free on land.
_STANDING = SEA_TOTALS
"""Defenders that take part in the next cycle, those included that were bombarded and still fire."""
_OVERLAND = SEA_TOTALS + 1
_AIRCRAFT = SEA_TOTALS + 2

_RETREATED = Count.RETREATED
_PRESS_OR_RETREAT = 6
_RETREAT_EVENT = int(Event.RETREAT)

_SEA_OUTCOMES = int(AssaultAccumulator.SEA_OUTCOMES)
_SEA_CYCLES = int(AssaultAccumulator.SEA_CYCLES)
_SEA_CYCLES_SQ = int(AssaultAccumulator.SEA_CYCLES_SQ)
_SEA_LOST = int(AssaultAccumulator.SEA_LOST)
_LANDINGS = int(AssaultAccumulator.LANDINGS)
_LANDED_UNITS = int(AssaultAccumulator.LANDED)
_LAND_BATTLES = int(AssaultAccumulator.LAND_BATTLES)
_LAND_OUTCOMES = int(AssaultAccumulator.LAND_OUTCOMES)
_LAND_CYCLES = int(AssaultAccumulator.LAND_CYCLES)
_LAND_CYCLES_SQ = int(AssaultAccumulator.LAND_CYCLES_SQ)


@part
def _keep_last(plan, alive, i, keep):
    """Divide the land units of lane `i` between their two rows, so that the last `keep` are lost last."""
    for g in range(plan.board[0, 1] - 1, plan.board[0, 0] - 1, -1):
        for f in range(plan.board[0, 0], g):
            if plan.kind[f] == plan.kind[g] and plan.form[f] == plan.form[g]:
                units = alive[f, i] + alive[g, i]
                kept = min(np.int64(units), keep)
                alive[g, i] = kept
                alive[f, i] = units - kept
                keep -= kept


@part
def start_landings(rules, plan, lanes, start, stop, sea_records, first_record):
    """Take over what the sea battles left: in lanes `start` to `stop` - 1 (GC-5.2).

    Only cargo of surviving transports is landed, and only where the sea battle was won; elsewhere it stays
    aboard. Where the sea battle was not finished, nobody fights on land.
    """
    alive = lanes.alive
    numbers = lanes.numbers
    first = plan.board[0, 0]
    last = plan.board[0, 1]
    keep = rules[_KEEP_LAND]
    for i in range(start, stop):
        at = np.int64(numbers[i]) - first_record
        outcome = sea_records.outcome[at]
        won = lands(outcome)
        for k in range(_N_LAND):
            aboard = np.int64(sea_records.cargo[at, k])
            lost = -aboard
            for g in range(first, last):
                if plan.form[g] == _LANDED and plan.kind[g] == k:
                    lost += plan.start[g]
            for g in range(first, last):
                if plan.form[g] == _LANDED and plan.kind[g] == k:
                    sunk = min(lost, plan.start[g])
                    lost -= sunk
                    alive[g, i] = plan.start[g] - sunk if won else 0
            if not won and aboard > 0:
                alive[plan.elsewhere[k], i] += aboard
        if outcome == _UNFINISHED:
            for g in range(first, last):
                alive[plan.elsewhere[plan.kind[g]], i] += alive[g, i]
                alive[g, i] = 0
        elif keep > 0:
            _keep_last(plan, alive, i, keep)
    for g in range(plan.groups[0, 0], plan.groups[0, 1]):
        lanes.before[g] = alive[g, start]


@part
def note_fire(plan, alive, start, stop, doomed):
    """Let the defenders on the board be those who fire, in lanes `start` to `stop` - 1."""
    for g in range(plan.groups[1, 0], plan.groups[1, 1]):
        for i in range(start, stop):
            doomed[g, i] = alive[g, i]


@part
def close_up_fire(plan, doomed, going, n_going):
    """Move the defenders who fire along with their battles."""
    for g in range(plan.groups[1, 0], plan.groups[1, 1]):
        for k in range(n_going):
            doomed[g, k] = doomed[g, going[k]]


@part
def muster_attackers(plan, alive, n, doomed):
    """Add up the attacker's units by type, landed and overland (GC-4.3.3 makes no difference between them)."""
    for t in range(_N_TYPES):
        if plan.first[0, t] == t:
            for i in range(n):
                doomed[t, i] = 0
    for g in range(plan.board[0, 0], plan.board[0, 1]):
        t = plan.kind[g]
        for i in range(n):
            doomed[t, i] += alive[g, i]


@part
def _count_sides(rules, plan, lanes, n):
    """Count what the end tests of a landing need."""
    totals = lanes.totals
    alive = lanes.alive
    doomed = lanes.doomed
    sum_units(plan.kind, plan.board, alive, n, totals)
    for i in range(n):
        totals[_STANDING, i] = 0
        totals[_OVERLAND, i] = 0
        totals[_AIRCRAFT, i] = 0
    for g in range(plan.groups[1, 0], plan.groups[1, 1]):
        if plan.kind[g] != AA_GUN:
            # Units that were bombarded keep a battle going only by the shot they still have.
            firing = doomed if plan.armed[g] != 0 else alive
            for i in range(n):
                totals[_STANDING, i] += firing[g, i]
    for g in range(plan.board[0, 0], plan.board[0, 1]):
        if is_aircraft(plan.kind[g]):
            for i in range(n):
                totals[_AIRCRAFT, i] += alive[g, i]
        elif plan.form[g] != _LANDED:
            for i in range(n):
                totals[_OVERLAND, i] += alive[g, i]
    if plan.powerless[0] != 0:
        muster_attackers(plan, alive, n, doomed)
        total_dice(plan, rules[_PER_ARTILLERY], lanes, doomed, n)
    else:
        for i in range(n):
            totals[_ATTACK_DICE, i] = totals[_ATTACKERS, i]
            totals[_DEFENCE_DICE, i] = totals[_STANDING, i]


@part
def _may_break_off(plan, g, only_aircraft):
    """Whether the units of row `g` may leave an assault: aircraft, and overland units where the edition lets them."""
    t = plan.kind[g]
    return is_aircraft(t) or (is_land(t) and plan.form[g] != _LANDED and only_aircraft == 0)


@part
def break_off(plan, alive, i, only_aircraft):
    """Move those who may leave an assault off the board of lane `i`; returns how many they are (GC-5.6)."""
    left = np.int64(0)
    for g in range(plan.board[0, 0], plan.board[0, 1]):
        if _may_break_off(plan, g, only_aircraft):
            left += alive[g, i]
            alive[plan.elsewhere[plan.kind[g]], i] += alive[g, i]
            alive[g, i] = 0
    return left


@part
def _leave(plan, lanes, i, only_aircraft, trace):
    """Move those who may break off from the board of lane `i` to the rows of those who left (GC-5.6)."""
    alive = lanes.alive
    if trace is not None:
        for g in range(plan.board[0, 0], plan.board[0, 1]):
            if alive[g, i] > 0 and _may_break_off(plan, g, only_aircraft):
                emit(trace, _RETREAT_EVENT, lanes.cycles[i], _PRESS_OR_RETREAT, 0, plan.kind[g], alive[g, i], 0, 0, 0)
                lanes.before[g] = 0
    lanes.counts[_RETREATED] += break_off(plan, alive, i, only_aircraft)


@part
def find_landing_endings(rules, plan, lanes, n, leave, row, trace):
    """Step 6 of a landing and the test before cycle 1: A, then B, which only some may follow, then the limit.

    GC-4.6.1, GC-5.6. Where some leave and others stay, A is tested once more. `leave` is a table by matchup `row`, or
    None.
    """
    _count_sides(rules, plan, lanes, n)
    totals = lanes.totals
    cycles = lanes.cycles
    ending = lanes.ending
    after = rules[_AFTER]
    at_most = rules[_AT_MOST]
    only_aircraft = rules[_ONLY_AIRCRAFT]
    possible = rules[_POSSIBLE]
    only_aircraft_leave = rules[_ONLY_AIRCRAFT_LEAVE]
    limit = rules[_LIMIT_FIELD]
    partial = np.int64(0)
    for i in range(n):
        cycle = cycles[i]
        units = np.int64(totals[_ATTACKERS, i])
        aircraft = np.int64(totals[_AIRCRAFT, i])
        overland = np.int64(totals[_OVERLAND, i])
        ends = _GOES_ON
        if condition_a(units, totals[_STANDING, i], totals[_ATTACK_DICE, i], totals[_DEFENCE_DICE, i]):
            ends = _CONDITION_A
        elif cycle > 0:
            wanted = wants_retreat(cycle, units, totals[_LAND, i], after, at_most, only_aircraft)
            if leave is not None:
                wanted = wanted or looks_up(leave, row, plan, lanes, i, trace)
            if wanted and may_leave_assault(possible, aircraft, overland, only_aircraft_leave):
                ends = _RETREAT
                if leaving_units(aircraft, overland, only_aircraft_leave) < units:
                    ends = _PARTIAL
                    partial += 1
            elif cycle == limit:
                ends = _LIMIT
        ending[i] = ends
    if partial == 0:
        return
    for i in range(n):
        if ending[i] == _PARTIAL:
            _leave(plan, lanes, i, only_aircraft_leave, trace)
    _count_sides(rules, plan, lanes, n)
    for i in range(n):
        if ending[i] == _PARTIAL:
            ends = condition_a(
                totals[_ATTACKERS, i], totals[_STANDING, i], totals[_ATTACK_DICE, i], totals[_DEFENCE_DICE, i]
            )
            ending[i] = _CONDITION_A if ends else (_LIMIT if cycles[i] == limit else _GOES_ON)


@part
def retreated_units(plan, alive, i, sea_records, at):
    """Units that left the battle of lane `i`; those who never left their transports are none of them."""
    total = np.int64(0)
    for g in range(plan.board[0, 1], plan.groups[0, 1]):
        total += alive[g, i]
    if sea_records.outcome.shape[0] > 0 and not lands(sea_records.outcome[at]):
        for k in range(_N_LAND):
            total -= sea_records.cargo[at, k]
    return total


@part
def count_parts(plan, sea_records, at, cycle, outcome, acc):
    """Count the two battles of an assault apart; returns the outcome of the whole (GC-5.1, GC-5.2).

    Parameters
    ----------
    plan : Plan
        Of the battle on land.
    sea_records : Records
        Sea battles.
    at : int64
        Row of `sea_records`.
    cycle, outcome : int64
        Of the battle on land.
    acc : int64 (K,)
        Accumulators by `AssaultAccumulator`.
    """
    at_sea = np.int64(sea_records.outcome[at])
    lost = np.int64(sea_records.cost_lost[at, 0])
    others = np.int64(0)
    cargo = np.int64(0)
    for g in range(plan.board[0, 0], plan.board[0, 1]):
        if plan.form[g] == _LANDED:
            lost += plan.start[g] * plan.cost[g]
        else:
            others += plan.start[g]
    for k in range(_N_LAND):
        aboard = np.int64(sea_records.cargo[at, k])
        cargo += aboard
        if aboard > 0:
            lost -= aboard * plan.cost[plan.elsewhere[k]]
    acc[_SEA_OUTCOMES + at_sea] += 1
    acc[_SEA_CYCLES] += sea_records.cycles[at]
    acc[_SEA_CYCLES_SQ] += np.int64(sea_records.cycles[at]) * sea_records.cycles[at]
    acc[_SEA_LOST] += lost
    acc[_SEA_LOST + 1] += lost * lost
    acc[_SEA_LOST + 2] += sea_records.cost_lost[at, 1]
    acc[_SEA_LOST + 3] += np.int64(sea_records.cost_lost[at, 1]) * sea_records.cost_lost[at, 1]
    landed = cargo if lands(at_sea) else 0
    if landed > 0:
        acc[_LANDINGS] += 1
        acc[_LANDED_UNITS] += landed
    if at_sea == _UNFINISHED or landed + others == 0:
        defenders = np.int64(0)
        for g in range(plan.groups[1, 0], plan.groups[1, 1]):
            defenders += plan.start[g]
        return np.int64(conclude_without_landing(at_sea, defenders))
    acc[_LAND_BATTLES] += 1
    acc[_LAND_OUTCOMES + outcome] += 1
    acc[_LAND_CYCLES] += cycle
    acc[_LAND_CYCLES_SQ] += cycle * cycle
    return np.int64(outcome)
