"""Sampler of general combat: many battles side by side through the rule steps of `steps.py`.

A chunk of battles is resolved in blocks of `LANES`. The battles of a block fight the same cycle at the same
time, so a draw point has one address for the whole block and its random words are filled in one vector loop.
Battles that end are tallied and their lanes closed up. Lane arrays are laid out (quantity, lane): every rule
step is a loop over neighbouring lanes.
"""

# numba infers the types of these functions; annotations would be ignored
# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from simcore.core.dice import draw_hits
from simcore.core.jit import driver, kernel, prange
from simcore.core.rng import draw_tag, fill_words
from simcore.enums import Status
from simcore.rulesets.general_combat.encoding import (
    AIRCRAFT_GROUP,
    MAX_LOSS_GROUPS,
    REMAINDER_GROUP,
    SUPPORTED_GROUP,
    Accumulator,
    DrawStep,
    Outcome,
    RowField,
    UnitType,
)
from simcore.rulesets.general_combat.steps import (
    aa_dice_total,
    absorb,
    conclude,
    condition_a,
    may_retreat,
    paired_tactical_bombers,
    supported_infantry,
    supported_mech_infantry,
    swept_aa_guns,
    wants_retreat,
)

__all__ = ["CHUNK", "LANES", "Event", "EventField", "Records", "resolve_chunk", "resolve_parallel", "resolve_serial"]

LANES = 256
CHUNK = 4_096
MAX_CYCLE = (1 << 20) - 1

_OK = int(Status.OK)
_RUNAWAY = int(Status.RUNAWAY)
_BAD_STATE = int(Status.BAD_STATE)
_CAPACITY = int(Status.CAPACITY)

_N_TYPES = len(UnitType)
_INF = int(UnitType.INFANTRY)
_MECH = int(UnitType.MECH_INFANTRY)
_ART = int(UnitType.ARTILLERY)
_TANK = int(UnitType.TANK)
_AA = int(UnitType.AA_GUN)
_FIGHTER = int(UnitType.FIGHTER)
_TAC = int(UnitType.TACTICAL_BOMBER)
_BOMBER = int(UnitType.BOMBER)

_AA_FIRE = int(DrawStep.AA_FIRE)
_ATTACK = int(DrawStep.ATTACK)
_DEFENCE = int(DrawStep.DEFENCE)

_UNFINISHED = int(Outcome.UNFINISHED)
_RETREATS = int(Outcome.ATTACKER_RETREATS)
_WINS = int(Outcome.ATTACKER_WINS)

_GUNS = int(RowField.GUNS)
_GUNS_ARE_UNITS = int(RowField.GUNS_ARE_UNITS)
_AA_ODDS = int(RowField.AA_ODDS)
_AA_THREE_PER_GUN = int(RowField.AA_THREE_PER_GUN)
_AA_OWNER_PICKS = int(RowField.AA_OWNER_PICKS)
_LOW_LUCK_COMBAT = int(RowField.LOW_LUCK_COMBAT)
_LOW_LUCK_AA = int(RowField.LOW_LUCK_AA)
_REMAINDER_ODDS = (int(RowField.ATTACK_REMAINDER_ODDS), int(RowField.DEFENCE_REMAINDER_ODDS))
_POINTS = (int(RowField.ATTACK_POINTS), int(RowField.DEFENCE_POINTS))
_PER_ARTILLERY = int(RowField.PER_ARTILLERY)
_CYCLE_LIMIT = int(RowField.CYCLE_LIMIT)
_RETREAT_POSSIBLE = int(RowField.RETREAT_POSSIBLE)
_RETREAT_AFTER = int(RowField.RETREAT_AFTER_CYCLES)
_RETREAT_AT_MOST = int(RowField.RETREAT_UNITS_AT_MOST)
_RETREAT_AIRCRAFT = int(RowField.RETREAT_ONLY_AIRCRAFT)
_TERRITORY_VALUE = int(RowField.TERRITORY_VALUE)
_CAPTURABLE_GUNS = int(RowField.CAPTURABLE_GUNS)
_CAPTURABLE_COMPLEXES = int(RowField.CAPTURABLE_COMPLEXES)

_A_BATTLES = int(Accumulator.BATTLES)
_A_OUTCOMES = int(Accumulator.OUTCOMES)
_A_CYCLES = int(Accumulator.CYCLES)
_A_CYCLES_SQ = int(Accumulator.CYCLES_SQ)
_A_LOST = (int(Accumulator.ATTACKER_LOST), int(Accumulator.DEFENDER_LOST))
_A_LOST_SQ = (int(Accumulator.ATTACKER_LOST_SQ), int(Accumulator.DEFENDER_LOST_SQ))
_A_SWING = int(Accumulator.SWING)
_A_SWING_SQ = int(Accumulator.SWING_SQ)
_A_CAPTURED = int(Accumulator.CAPTURED)
_A_CAPTURED_VALUE = int(Accumulator.CAPTURED_VALUE)
_A_CAPTURED_GUNS = int(Accumulator.CAPTURED_GUNS)
_A_CAPTURED_COMPLEXES = int(Accumulator.CAPTURED_COMPLEXES)
_A_SURVIVORS = int(Accumulator.SURVIVORS)

_NOTHING = 2 * MAX_LOSS_GROUPS
"""Lane row that is always zero: stands in for a type without (a second) loss group."""

# Rows of the lane totals.
_ATTACKERS = 0
_LAND = 1
_DEFENDERS = 2
_AA_GUNS = 3
_ATTACK_DICE = 4
_DEFENCE_DICE = 5
_N_TOTALS = 6

# How the dice of a firing group follow from the counts.
_PLAIN = 0
_SUPPORTED = 1
_UNSUPPORTED = 2


class Event(IntEnum):
    """Kinds of trace events (first column)."""

    DRAW = 1
    LOSS = 2
    SWEEP = 3
    END = 4


class EventField(IntEnum):
    """Columns of a trace event; row 0 of the trace holds the number of events in its first column."""

    KIND = 0
    CYCLE = 1
    STEP = 2
    SIDE = 3
    GROUP = 4
    """Firing group of a draw, unit type of a loss, outcome of the end."""
    DICE = 5
    """Dice of a draw, low-luck points for the remainder die, units of a loss."""
    ODDS = 6
    HITS = 7
    SURE = 8
    """Hits that low luck gave without a die."""


_DRAW = int(Event.DRAW)
_LOSS = int(Event.LOSS)
_SWEEP = int(Event.SWEEP)
_END = int(Event.END)


class Records(NamedTuple):
    """Results of single battles, in order of battle number.

    Attributes
    ----------
    outcome : int8 (B,)
    cycles : int32 (B,)
    survivors : int16 (B, S, T)
    cost_lost : int32 (B, S)
    captured_value : int32 (B,)
    """

    outcome: npt.NDArray[np.int8]
    cycles: npt.NDArray[np.int32]
    survivors: npt.NDArray[np.int16]
    cost_lost: npt.NDArray[np.int32]
    captured_value: npt.NDArray[np.int32]


@kernel
def _emit(trace, kind, cycle, step, side, group, dice, odds, hits, sure):
    """Append an event to the trace; what no longer fits is counted, so that Python can say so."""
    n = trace[0, 0] + 1
    trace[0, 0] = n
    if n < trace.shape[0]:
        trace[n, 0] = kind
        trace[n, 1] = cycle
        trace[n, 2] = step
        trace[n, 3] = side
        trace[n, 4] = group
        trace[n, 5] = dice
        trace[n, 6] = odds
        trace[n, 7] = hits
        trace[n, 8] = sure


@kernel
def _find_groups(battles, row, side, first, second):
    """Fill the lane rows of each type's loss groups; returns the number of groups."""
    for t in range(_N_TYPES):
        first[side, t] = _NOTHING
        second[side, t] = _NOTHING
    n = 0
    while n < MAX_LOSS_GROUPS and battles.group_type[row, side, n] >= 0:
        t = battles.group_type[row, side, n]
        if first[side, t] == _NOTHING:
            first[side, t] = side * MAX_LOSS_GROUPS + n
        else:
            second[side, t] = side * MAX_LOSS_GROUPS + n
        n += 1
    return n


@kernel
def _list_slots(battles, row, side, slot_type, slot_form, slot_odds, slot_group):
    """List the firing groups of a side in ascending group number; returns how many there are."""
    n = 0
    artillery = int(battles.counts[row, side, _ART])
    partners = int(battles.counts[row, side, _FIGHTER]) + int(battles.counts[row, side, _TANK])
    for form in (_PLAIN, _SUPPORTED):
        for t in range(_N_TYPES):
            if battles.counts[row, side, t] == 0:
                continue
            helpers = partners if t == _TAC else artillery
            supportable = battles.odds_supported[row, side, t] >= 0 and helpers > 0
            if form == _PLAIN and battles.odds_plain[row, side, t] >= 0:
                slot_type[side, n] = t
                slot_form[side, n] = _UNSUPPORTED if supportable else _PLAIN
                slot_odds[side, n] = battles.odds_plain[row, side, t]
                slot_group[side, n] = t
                n += 1
            elif form == _SUPPORTED and supportable:
                slot_type[side, n] = t
                slot_form[side, n] = _SUPPORTED
                slot_odds[side, n] = battles.odds_supported[row, side, t]
                slot_group[side, n] = SUPPORTED_GROUP + t
                n += 1
    return n


@kernel
def _count_dice(alive, n, side, t, form, per_unit, per_artillery, first, second, dice):
    """Fill `dice` with the dice of one firing group in every lane; returns the largest."""
    most = 0
    a = first[side, t]
    b = second[side, t]
    if form == _PLAIN:
        for i in range(n):
            dice[i] = per_unit * (alive[a, i] + alive[b, i])
            most = max(most, dice[i])
        return most
    if t == _TAC:
        f = first[side, _FIGHTER]
        k0 = first[side, _TANK]
        k1 = second[side, _TANK]
        for i in range(n):
            paired = paired_tactical_bombers(alive[a, i], alive[f, i], alive[k0, i] + alive[k1, i])
            dice[i] = paired if form == _SUPPORTED else alive[a, i] - paired
            most = max(most, dice[i])
        return most
    r0 = first[side, _ART]
    r1 = second[side, _ART]
    if t == _INF:
        for i in range(n):
            units = alive[a, i] + alive[b, i]
            supported = supported_infantry(units, alive[r0, i] + alive[r1, i], per_artillery)
            dice[i] = supported if form == _SUPPORTED else units - supported
            most = max(most, dice[i])
        return most
    i0 = first[side, _INF]
    i1 = second[side, _INF]
    for i in range(n):
        units = alive[a, i] + alive[b, i]
        supported = supported_mech_infantry(
            units, alive[i0, i] + alive[i1, i], alive[r0, i] + alive[r1, i], per_artillery
        )
        dice[i] = supported if form == _SUPPORTED else units - supported
        most = max(most, dice[i])
    return most


@kernel
def _draw(words, dice, n, first_row, table, hits, side):
    """Add the hits of one draw point to `hits` in every lane."""
    bounds = table.bounds
    offset = table.offset
    guide = table.guide
    for i in range(n):
        hits[side, i] += draw_hits(words[0, i], first_row + dice[i], bounds, offset, guide)


@kernel
def _scripted(script, dice, status, where, s, battle):
    """Return the next hits of the script, or -1 with a status when it cannot be used."""
    at = script[0]
    if at >= script.shape[0]:
        status[s] = _CAPACITY
        where[s] = np.int64(battle)
        return np.int64(-1)
    script[0] = at + 1
    if script[at] < 0 or script[at] > dice:
        status[s] = _BAD_STATE
        where[s] = np.int64(battle)
        return np.int64(-1)
    return script[at]


@kernel
def _remove(alive, n, start, stop, hits, side):
    """Remove one unit per hit along the order of loss (GC-4.3.2, GC-4.4.2, GC-4.8.4)."""
    for j in range(start, stop):
        for i in range(n):
            lost = absorb(alive[j, i], hits[side, i])
            alive[j, i] -= lost
            hits[side, i] -= lost


@kernel
def _is_aircraft(t):
    return t == _FIGHTER or t == _TAC or t == _BOMBER


@kernel
def _is_land(t):
    return t == _INF or t == _MECH or t == _ART or t == _TANK


@kernel
def _sum_units(battles, row, alive, n, n_groups, totals):
    """Count what the end tests need: attackers, their land units, defenders in combat, AAA units."""
    for q in range(_AA_GUNS + 1):
        for i in range(n):
            totals[q, i] = 0
    for j in range(n_groups[0]):
        for i in range(n):
            totals[_ATTACKERS, i] += alive[j, i]
        if _is_land(battles.group_type[row, 0, j]):
            for i in range(n):
                totals[_LAND, i] += alive[j, i]
    for j in range(n_groups[1]):
        q = _AA_GUNS if battles.group_type[row, 1, j] == _AA else _DEFENDERS
        for i in range(n):
            totals[q, i] += alive[MAX_LOSS_GROUPS + j, i]


@kernel
def _tally(battles, row, alive, i, n_groups, cycle, outcome, acc, records, record):
    """Add one finished battle to the accumulators (GC-4.7.1 to GC-4.7.4 for what a capture brings)."""
    rules = battles.rules
    acc[_A_BATTLES] += 1
    acc[_A_OUTCOMES + outcome] += 1
    acc[_A_CYCLES] += cycle
    acc[_A_CYCLES_SQ] += cycle * cycle
    swing = np.int64(0)
    for side in range(2):
        lost = np.int64(0)
        base = _A_SURVIVORS + (outcome * 2 + side) * _N_TYPES
        for j in range(n_groups[side]):
            t = np.int64(battles.group_type[row, side, j])
            left = np.int64(alive[side * MAX_LOSS_GROUPS + j, i])
            lost += (np.int64(battles.group_count[row, side, j]) - left) * np.int64(battles.cost[row, t])
            acc[base + t] += left
            if records is not None:
                records.survivors[record, side, t] += left
        acc[_A_LOST[side]] += lost
        acc[_A_LOST_SQ[side]] += lost * lost
        swing += lost if side == 1 else -lost
        if records is not None:
            records.cost_lost[record, side] = lost
    acc[_A_SWING] += swing
    acc[_A_SWING_SQ] += swing * swing
    value = np.int64(0)
    if outcome == _WINS:
        value = rules[row, _TERRITORY_VALUE]
        acc[_A_CAPTURED] += 1
        acc[_A_CAPTURED_VALUE] += value
        acc[_A_CAPTURED_GUNS] += rules[row, _CAPTURABLE_GUNS]
        acc[_A_CAPTURED_COMPLEXES] += rules[row, _CAPTURABLE_COMPLEXES]
    if records is not None:
        records.outcome[record] = outcome
        records.cycles[record] = cycle
        records.captured_value[record] = value


@kernel
def _fire_aa(battles, row, table, key, s, numbers, alive, n, n_groups, first, words, dice, hits, status, where, trace, script):
    """Antiaircraft fire before the first cycle (GC-4.0.1 to GC-4.0.6); returns False when a script stops it.

    Draws cycle 0, step `AA_FIRE`, side 1; group = aircraft type, or `AIRCRAFT_GROUP` when the owner picks.
    """
    rules = battles.rules
    aircraft = np.int64(0)
    for j in range(n_groups[0]):
        if _is_aircraft(battles.group_type[row, 0, j]):
            aircraft += np.int64(battles.group_count[row, 0, j])
    left = np.int64(aa_dice_total(rules[row, _GUNS], aircraft, rules[row, _AA_THREE_PER_GUN]))
    if left == 0:
        return True
    odds = rules[row, _AA_ODDS]
    numerator = battles.odds[odds, 0]
    owner_picks = rules[row, _AA_OWNER_PICKS] != 0
    pools = np.zeros(_N_TYPES, dtype=np.int64)
    for j in range(n_groups[0]):  # where dice are short they go to the types in order of loss
        t = battles.group_type[row, 0, j]
        if _is_aircraft(t):
            pools[t] = min(left, np.int64(battles.group_count[row, 0, j]))
            left -= pools[t]
    if owner_picks:
        total = pools.sum()
        pools[:] = 0
        pools[_FIGHTER] = total
    for t in range(_N_TYPES):
        pool = pools[t]
        if pool == 0:
            continue
        group = AIRCRAFT_GROUP if owner_picks else t
        sure = np.int64(0)
        thrown = pool
        drawn = odds
        if rules[row, _LOW_LUCK_AA] != 0:
            denominator = battles.odds[odds, 1]
            sure = pool * numerator // denominator
            drawn = rules[row, _REMAINDER_ODDS[1]] + pool * numerator % denominator
            thrown = np.int64(1) if pool * numerator % denominator > 0 else np.int64(0)
        for i in range(n):
            hits[1, i] = sure
        if thrown > 0:
            given = np.int64(-1)
            if script is not None and script.shape[0] > 1:
                given = _scripted(script, thrown, status, where, s, numbers[0])
                if given < 0:
                    _emit(trace, _DRAW, 0, _AA_FIRE, 1, group, thrown, drawn, -1, sure)
                    return False
                hits[1, 0] += given
            else:
                fill_words(words, 0, numbers, n, draw_tag(0, _AA_FIRE, 1, group), key[0], key[1])
                for i in range(n):
                    dice[i] = thrown
                _draw(words, dice, n, table.first_row[drawn], table, hits, 1)
        if trace is not None:
            _emit(trace, _DRAW, 0, _AA_FIRE, 1, group, thrown, drawn, hits[1, 0] - sure, sure)
        if owner_picks:
            for j in range(n_groups[0]):
                if _is_aircraft(battles.group_type[row, 0, j]):
                    _remove(alive, n, j, j + 1, hits, 1)
        else:
            _remove(alive, n, first[0, t], first[0, t] + 1, hits, 1)
    return True


@kernel
def _trace_losses(trace, battles, row, alive, before, n_groups, side, cycle, step):
    """Record what lane 0 lost since `before` was taken."""
    for j in range(n_groups[side]):
        g = side * MAX_LOSS_GROUPS + j
        if before[g] > alive[g, 0]:
            _emit(trace, _LOSS, cycle, step, side, battles.group_type[row, side, j], before[g] - alive[g, 0], 0, 0, 0)
        before[g] = alive[g, 0]


@kernel
def resolve_chunk(s, segments, battles, table, keys, tally, status, where, records, trace, script):
    """Resolve one run of battles of one matchup.

    Parameters
    ----------
    s : int64
        Row of `segments`, `tally`, `status` and `where`.
    segments : int64 (N, 4)
        Matchup row, first battle, number of battles, first row in `records`.
    battles : Battles
        Encoded scenarios.
    table : DiceTable
        Dice tables of `battles.odds`.
    keys : uint64 (M, 2)
        Stream key of each matchup.
    tally : int64 (N, K)
        Output: accumulators of the segment.
    status : uint8 (N,), where : int64 (N,)
        Output: `Status` of the segment and the battle it is about.
    records : Records or None
        Output: single battles.
    trace : int32 (events, fields) or None
        Output: events of the first battle; row 0 counts them.
    script : int64 (1 + draws,) or None
        Hits at each draw point from index 1 on (index 0: next to use); length 1 = draw from the battle's words.

    Notes
    -----
    Draws cycle 0 step AA_FIRE, then per cycle step ATTACK side 0 and step DEFENCE side 1, one draw per firing
    group; under low luck one draw per step at `REMAINDER_GROUP`.
    """
    row = segments[s, 0]
    key = keys[row]
    rules = battles.rules
    n_groups = np.zeros(2, dtype=np.int64)
    n_slots = np.zeros(2, dtype=np.int64)
    first = np.zeros((2, _N_TYPES), dtype=np.int64)
    second = np.zeros((2, _N_TYPES), dtype=np.int64)
    slot_type = np.zeros((2, 2 * _N_TYPES), dtype=np.int64)
    slot_form = np.zeros((2, 2 * _N_TYPES), dtype=np.int64)
    slot_odds = np.zeros((2, 2 * _N_TYPES), dtype=np.int64)
    slot_group = np.zeros((2, 2 * _N_TYPES), dtype=np.int64)
    some_powerless = False
    for side in range(2):
        n_groups[side] = _find_groups(battles, row, side, first, second)
        n_slots[side] = _list_slots(battles, row, side, slot_type, slot_form, slot_odds, slot_group)
        for j in range(n_groups[side]):
            t = battles.group_type[row, side, j]
            if t != _AA and battles.odds_plain[row, side, t] < 0:
                some_powerless = True
    low_luck = rules[row, _LOW_LUCK_COMBAT] != 0
    per_artillery = rules[row, _PER_ARTILLERY]
    cycle_limit = rules[row, _CYCLE_LIMIT]
    retreat_possible = rules[row, _RETREAT_POSSIBLE]
    retreat_after = rules[row, _RETREAT_AFTER]
    retreat_at_most = rules[row, _RETREAT_AT_MOST]
    retreat_aircraft = rules[row, _RETREAT_AIRCRAFT]
    guns_are_units = rules[row, _GUNS_ARE_UNITS] != 0
    scripted = False
    if script is not None:
        scripted = script.shape[0] > 1

    acc = np.zeros(tally.shape[1], dtype=np.int64)
    alive = np.zeros((_NOTHING + 1, LANES), dtype=np.int32)
    before = np.zeros(_NOTHING + 1, dtype=np.int32)
    totals = np.zeros((_N_TOTALS, LANES), dtype=np.int32)
    hits = np.zeros((2, LANES), dtype=np.int32)
    dice = np.zeros(LANES, dtype=np.int32)
    points = np.zeros(LANES, dtype=np.int32)
    words = np.zeros((1, LANES), dtype=np.uint64)
    numbers = np.zeros(LANES, dtype=np.uint64)
    status[s] = _OK

    for block in range(0, segments[s, 2], LANES):
        n = min(LANES, segments[s, 2] - block)
        first_battle = segments[s, 1] + block
        for i in range(n):
            numbers[i] = np.uint64(first_battle + i)
        for side in range(2):
            for j in range(n_groups[side]):
                g = side * MAX_LOSS_GROUPS + j
                for i in range(n):
                    alive[g, i] = battles.group_count[row, side, j]
                before[g] = alive[g, 0]
        if rules[row, _GUNS] > 0:
            if not _fire_aa(
                battles, row, table, key, s, numbers, alive, n, n_groups, first, words, dice, hits, status, where, trace, script
            ):
                return
            if trace is not None:
                _trace_losses(trace, battles, row, alive, before, n_groups, 0, 0, _AA_FIRE)

        cycle = np.int64(0)
        while True:
            # Step 6 (and the test before cycle 1): condition A, then B, then the cycle limit.
            _sum_units(battles, row, alive, n, n_groups, totals)
            if some_powerless:
                for side in range(2):
                    q = _ATTACK_DICE + side
                    for i in range(n):
                        totals[q, i] = 0
                    for slot in range(n_slots[side]):
                        t = slot_type[side, slot]
                        per_unit = np.int64(battles.dice_per_unit[row, side, t])
                        _count_dice(alive, n, side, t, slot_form[side, slot], per_unit, per_artillery, first, second, dice)
                        for i in range(n):
                            totals[q, i] += dice[i]
            else:
                for i in range(n):
                    totals[_ATTACK_DICE, i] = totals[_ATTACKERS, i]
                    totals[_DEFENCE_DICE, i] = totals[_DEFENDERS, i]
            m = 0
            for i in range(n):
                attackers = np.int64(totals[_ATTACKERS, i])
                land = np.int64(totals[_LAND, i])
                defenders = np.int64(totals[_DEFENDERS, i])
                outcome = np.int64(-1)
                if condition_a(attackers, defenders, totals[_ATTACK_DICE, i], totals[_DEFENCE_DICE, i]):
                    aa_guns = np.int64(totals[_AA_GUNS, i])
                    outcome = conclude(cycle, attackers, land, defenders, aa_guns)
                    if guns_are_units and swept_aa_guns(aa_guns, attackers, defenders) > 0:
                        alive[first[1, _AA], i] = 0
                        if trace is not None:
                            _emit(trace, _SWEEP, cycle, 5, 1, _AA, aa_guns, 0, 0, 0)
                elif cycle > 0:
                    if wants_retreat(
                        cycle, attackers, land, retreat_after, retreat_at_most, retreat_aircraft
                    ) and may_retreat(retreat_possible, land):
                        outcome = np.int64(_RETREATS)
                    elif cycle == cycle_limit:
                        outcome = np.int64(_UNFINISHED)
                if outcome >= 0:
                    record = segments[s, 3] + np.int64(numbers[i]) - segments[s, 1]
                    _tally(battles, row, alive, i, n_groups, cycle, outcome, acc, records, record)
                    if trace is not None:
                        _emit(trace, _END, cycle, 6, 0, outcome, 0, 0, 0, 0)
                else:
                    if m != i:
                        numbers[m] = numbers[i]
                        for j in range(n_groups[0]):
                            alive[j, m] = alive[j, i]
                        for j in range(MAX_LOSS_GROUPS, MAX_LOSS_GROUPS + n_groups[1]):
                            alive[j, m] = alive[j, i]
                    m += 1
            n = m
            if n == 0:
                break
            if cycle == MAX_CYCLE:
                status[s] = _RUNAWAY
                where[s] = np.int64(numbers[0])
                return
            cycle += 1

            # Steps 3 and 4: both sides fire from the units at the start of the cycle, the doomed included.
            for side in range(2):
                step = _ATTACK + side
                sure = np.int32(0)
                for i in range(n):
                    hits[side, i] = 0
                    points[i] = 0
                for slot in range(n_slots[side]):
                    t = slot_type[side, slot]
                    per_unit = np.int64(battles.dice_per_unit[row, side, t])
                    most = _count_dice(alive, n, side, t, slot_form[side, slot], per_unit, per_artillery, first, second, dice)
                    if most == 0:
                        continue
                    odds = slot_odds[side, slot]
                    group = slot_group[side, slot]
                    if low_luck:
                        worth = battles.odds[odds, 0] * (rules[row, _POINTS[side]] // battles.odds[odds, 1])
                        for i in range(n):
                            points[i] += dice[i] * worth
                        if trace is not None:
                            _emit(trace, _DRAW, cycle, step, side, group, dice[0], odds, -2, 0)
                        continue
                    if scripted:
                        given = _scripted(script, dice[0], status, where, s, numbers[0])
                        if given < 0:
                            _emit(trace, _DRAW, cycle, step, side, group, dice[0], odds, -1, 0)
                            return
                        if trace is not None:
                            _emit(trace, _DRAW, cycle, step, side, group, dice[0], odds, given, 0)
                        hits[side, 0] += given
                        continue
                    fill_words(words, 0, numbers, n, draw_tag(cycle, step, side, group), key[0], key[1])
                    earlier = hits[side, 0]
                    _draw(words, dice, n, table.first_row[odds], table, hits, side)
                    if trace is not None:
                        _emit(trace, _DRAW, cycle, step, side, group, dice[0], odds, hits[side, 0] - earlier, 0)
                if low_luck:
                    per_hit = rules[row, _POINTS[side]]
                    remainder_row = table.first_row[rules[row, _REMAINDER_ODDS[side]]]
                    for i in range(n):
                        hits[side, i] = points[i] // per_hit
                        dice[i] = 2 * (points[i] % per_hit) + (1 if points[i] % per_hit > 0 else 0)
                    sure = hits[side, 0]
                    if scripted and dice[0] > 0:
                        given = _scripted(script, 1, status, where, s, numbers[0])
                        odds = rules[row, _REMAINDER_ODDS[side]] + points[0] % per_hit
                        if given < 0:
                            _emit(trace, _DRAW, cycle, step, side, REMAINDER_GROUP, 1, odds, -1, sure)
                            return
                        hits[side, 0] += given
                    elif not scripted:
                        fill_words(words, 0, numbers, n, draw_tag(cycle, step, side, REMAINDER_GROUP), key[0], key[1])
                        # A run of odds 0/d, 1/d, ... has two table rows each: no die and one die.
                        _draw(words, dice, n, remainder_row, table, hits, side)
                    if trace is not None:
                        odds = rules[row, _REMAINDER_ODDS[side]] + points[0] % per_hit
                        thrown = 1 if points[0] % per_hit > 0 else 0
                        _emit(
                            trace, _DRAW, cycle, step, side, REMAINDER_GROUP, thrown, odds, hits[side, 0] - sure, sure
                        )
            _remove(alive, n, MAX_LOSS_GROUPS, MAX_LOSS_GROUPS + n_groups[1], hits, 0)
            _remove(alive, n, 0, n_groups[0], hits, 1)
            if trace is not None:
                _trace_losses(trace, battles, row, alive, before, n_groups, 1, cycle, _ATTACK)
                _trace_losses(trace, battles, row, alive, before, n_groups, 0, cycle, _DEFENCE)

    for k in range(len(acc)):
        tally[s, k] = acc[k]


@kernel
def resolve_serial(segments, battles, table, keys, tally, status, where, records, trace, script):
    """Resolve all segments one after the other; arguments as in `resolve_chunk`."""
    for s in range(len(segments)):
        resolve_chunk(s, segments, battles, table, keys, tally, status, where, records, trace, script)


@driver
def resolve_parallel(segments, battles, table, keys, tally, status, where, records, trace, script):
    """Resolve all segments on all threads; arguments as in `resolve_chunk`."""
    for s in prange(len(segments)):
        resolve_chunk(s, segments, battles, table, keys, tally, status, where, records, trace, script)
