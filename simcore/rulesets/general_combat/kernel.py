"""Sampler of general combat: many battles side by side through the rule steps of `steps.py`.

A chunk of battles is resolved in `LANES` lanes. All lanes pass through the same step at the same time, each in
its own cycle, so the random words of a draw point are filled in one vector loop. Battles that end are tallied,
their lanes closed up and, once half of the lanes are free, given to new battles. Lane arrays are laid out
(quantity, lane): every rule step is a loop over neighbouring lanes.
"""

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

__all__ = [
    "CHUNK",
    "LANES",
    "Event",
    "EventField",
    "Records",
    "resolve_chunk",
    "resolve_parallel",
    "resolve_serial",
]

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
_A_ATTACKER_LOST = int(Accumulator.ATTACKER_LOST)
_A_ATTACKER_LOST_SQ = int(Accumulator.ATTACKER_LOST_SQ)
_A_DEFENDER_LOST = int(Accumulator.DEFENDER_LOST)
_A_DEFENDER_LOST_SQ = int(Accumulator.DEFENDER_LOST_SQ)
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
def _find_groups(battles, row, side, kind, start, cost, first, second):
    """Copy the loss groups of a side to their lane rows and find those of each type; returns their number."""
    for t in range(_N_TYPES):
        first[side, t] = _NOTHING
        second[side, t] = _NOTHING
    n = 0
    while n < MAX_LOSS_GROUPS and battles.group_type[row, side, n] >= 0:
        t = battles.group_type[row, side, n]
        g = side * MAX_LOSS_GROUPS + n
        kind[g] = t
        start[g] = battles.group_count[row, side, n]
        cost[g] = battles.cost[row, t]
        if first[side, t] == _NOTHING:
            first[side, t] = g
        else:
            second[side, t] = g
        n += 1
    return n


@kernel
def _list_slots(battles, row, side, slot_type, slot_form, slot_odds, slot_group, slot_dice):
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
                slot_dice[side, n] = battles.dice_per_unit[row, side, t]
                n += 1
            elif form == _SUPPORTED and supportable:
                slot_type[side, n] = t
                slot_form[side, n] = _SUPPORTED
                slot_odds[side, n] = battles.odds_supported[row, side, t]
                slot_group[side, n] = SUPPORTED_GROUP + t
                slot_dice[side, n] = battles.dice_per_unit[row, side, t]
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
def _draw(words, dice, start, stop, first_row, bounds, offset, guide, hits, side):
    """Add the hits of one draw point to `hits` in every lane."""
    for i in range(start, stop):
        hits[side, i] += draw_hits(words[i], first_row + dice[i], bounds, offset, guide)


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
def _remove(alive, first_group, last_group, start, stop, hits, side):
    """Remove one unit per hit along the order of loss (GC-4.3.2, GC-4.4.2, GC-4.8.4)."""
    for j in range(first_group, last_group):
        for i in range(start, stop):
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
def _sum_units(kind, alive, n, n_groups, totals):
    """Count what the end tests need: attackers, their land units, defenders in combat, AAA units."""
    for q in range(_AA_GUNS + 1):
        for i in range(n):
            totals[q, i] = 0
    for j in range(n_groups[0]):
        for i in range(n):
            totals[_ATTACKERS, i] += alive[j, i]
        if _is_land(kind[j]):
            for i in range(n):
                totals[_LAND, i] += alive[j, i]
    for j in range(MAX_LOSS_GROUPS, MAX_LOSS_GROUPS + n_groups[1]):
        q = _AA_GUNS if kind[j] == _AA else _DEFENDERS
        for i in range(n):
            totals[q, i] += alive[j, i]


@kernel
def _tally(kind, start, cost, left, outcomes, cycles, n, n_groups, lost, acc):
    """Add `n` finished battles to the accumulators.

    Sums over lanes are vector loops; only what is counted by outcome is scattered battle by battle.
    """
    for side in range(2):
        for i in range(n):
            lost[side, i] = 0
        for g in range(side * MAX_LOSS_GROUPS, side * MAX_LOSS_GROUPS + n_groups[side]):
            column = _A_SURVIVORS + side * _N_TYPES + kind[g]
            for i in range(n):
                lost[side, i] += (start[g] - left[g, i]) * cost[g]
            for i in range(n):
                acc[column + outcomes[i] * 2 * _N_TYPES] += left[g, i]
    total = np.int64(0)
    total_sq = np.int64(0)
    for i in range(n):
        acc[_A_OUTCOMES + outcomes[i]] += 1
        total += cycles[i]
        total_sq += cycles[i] * cycles[i]
    own = np.int64(0)
    own_sq = np.int64(0)
    enemy = np.int64(0)
    enemy_sq = np.int64(0)
    both = np.int64(0)
    for i in range(n):
        a = lost[0, i]
        b = lost[1, i]
        own += a
        own_sq += a * a
        enemy += b
        enemy_sq += b * b
        both += a * b
    acc[_A_CYCLES] += total
    acc[_A_CYCLES_SQ] += total_sq
    acc[_A_ATTACKER_LOST] += own
    acc[_A_ATTACKER_LOST_SQ] += own_sq
    acc[_A_DEFENDER_LOST] += enemy
    acc[_A_DEFENDER_LOST_SQ] += enemy_sq
    acc[_A_SWING] += enemy - own
    acc[_A_SWING_SQ] += own_sq + enemy_sq - 2 * both


@kernel
def _record(kind, start, cost, alive, i, n_groups, cycle, outcome, value, records, record):
    """Write the result of one finished battle."""
    records.outcome[record] = outcome
    records.cycles[record] = cycle
    records.captured_value[record] = value if outcome == _WINS else 0
    for side in range(2):
        lost = np.int64(0)
        for j in range(side * MAX_LOSS_GROUPS, side * MAX_LOSS_GROUPS + n_groups[side]):
            left = np.int64(alive[j, i])
            lost += (start[j] - left) * cost[j]
            records.survivors[record, side, kind[j]] += left
        records.cost_lost[record, side] = lost


@kernel
def _tally_captures(battles_fought, value, guns, complexes, acc):
    """Complete the accumulators of a segment: what each capture brings (GC-4.7.1, GC-4.7.3, GC-4.7.4)."""
    captures = acc[_A_OUTCOMES + _WINS]
    acc[_A_BATTLES] = battles_fought
    acc[_A_CAPTURED] = captures
    acc[_A_CAPTURED_VALUE] = captures * value
    acc[_A_CAPTURED_GUNS] = captures * guns
    acc[_A_CAPTURED_COMPLEXES] = captures * complexes


@kernel
def _plan_aa(kind, start, n_groups, guns, three_per_gun, owner_picks, pools):
    """Fill `pools` with the antiaircraft dice per aircraft type (GC-4.0.1, GC-4.0.2); returns their number.

    Where dice are short they go to the types in their owner's order of loss. When the owner picks freely,
    all dice are one pool, held by the first aircraft type.
    """
    aircraft = np.int64(0)
    for j in range(n_groups[0]):
        if _is_aircraft(kind[j]):
            aircraft += start[j]
    total = np.int64(aa_dice_total(guns, aircraft, three_per_gun))
    left = total
    for j in range(n_groups[0]):
        if _is_aircraft(kind[j]):
            pool = min(left, start[j])
            pools[_FIGHTER if owner_picks else kind[j]] += pool
            left -= pool
    return total


@kernel
def _trace_losses(trace, kind, alive, before, first_group, last_group, side, cycle, step):
    """Record what lane 0 lost since `before` was taken."""
    for g in range(first_group, last_group):
        if before[g] > alive[g, 0]:
            _emit(trace, _LOSS, cycle, step, side, kind[g], before[g] - alive[g, 0], 0, 0, 0)
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
    rules = battles.rules
    n_groups = np.zeros(2, dtype=np.int64)
    n_slots = np.zeros(2, dtype=np.int64)
    kind = np.zeros(_NOTHING, dtype=np.int64)
    start = np.zeros(_NOTHING, dtype=np.int64)
    cost = np.zeros(_NOTHING, dtype=np.int64)
    first = np.zeros((2, _N_TYPES), dtype=np.int64)
    second = np.zeros((2, _N_TYPES), dtype=np.int64)
    slot_type = np.zeros((2, 2 * _N_TYPES), dtype=np.int64)
    slot_form = np.zeros((2, 2 * _N_TYPES), dtype=np.int64)
    slot_odds = np.zeros((2, 2 * _N_TYPES), dtype=np.int64)
    slot_group = np.zeros((2, 2 * _N_TYPES), dtype=np.int64)
    slot_dice = np.zeros((2, 2 * _N_TYPES), dtype=np.int64)
    some_powerless = False
    for side in range(2):
        n_groups[side] = _find_groups(battles, row, side, kind, start, cost, first, second)
        n_slots[side] = _list_slots(battles, row, side, slot_type, slot_form, slot_odds, slot_group, slot_dice)
        for j in range(side * MAX_LOSS_GROUPS, side * MAX_LOSS_GROUPS + n_groups[side]):
            t = kind[j]
            if t != _AA and battles.odds_plain[row, side, t] < 0:
                some_powerless = True
    low_luck = rules[row, _LOW_LUCK_COMBAT] != 0
    per_artillery = rules[row, _PER_ARTILLERY]
    cycle_limit = rules[row, _CYCLE_LIMIT]
    retreat_possible = rules[row, _RETREAT_POSSIBLE]
    retreat_after = rules[row, _RETREAT_AFTER]
    retreat_at_most = rules[row, _RETREAT_AT_MOST]
    retreat_aircraft = rules[row, _RETREAT_AIRCRAFT]
    odds_table = battles.odds
    bounds = table.bounds
    offset = table.offset
    guide = table.guide
    first_row = table.first_row
    k0 = keys[row, 0]
    k1 = keys[row, 1]
    aa_pools = np.zeros(_N_TYPES, dtype=np.int64)
    aa_dice = np.int64(0)
    aa_odds = rules[row, _AA_ODDS]
    owner_picks = rules[row, _AA_OWNER_PICKS] != 0
    low_luck_aa = rules[row, _LOW_LUCK_AA] != 0
    if rules[row, _GUNS] > 0:
        aa_dice = _plan_aa(
            kind, start, n_groups, rules[row, _GUNS], rules[row, _AA_THREE_PER_GUN], owner_picks, aa_pools
        )
    territory_value = rules[row, _TERRITORY_VALUE]
    may_stop = retreat_after + retreat_at_most + retreat_aircraft + cycle_limit > 0
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
    words = np.zeros(LANES, dtype=np.uint64)
    numbers = np.zeros(LANES, dtype=np.uint64)
    cycles = np.zeros(LANES, dtype=np.int64)
    # Finished battles wait here; a step adds at most LANES to fewer than LANES.
    left = np.zeros((_NOTHING, 2 * LANES), dtype=np.int64)
    lost = np.zeros((2, 2 * LANES), dtype=np.int64)
    done_outcomes = np.zeros(2 * LANES, dtype=np.int64)
    done_cycles = np.zeros(2 * LANES, dtype=np.int64)
    n_done = np.int64(0)
    status[s] = _OK

    first_battle = segments[s, 1]
    count = segments[s, 2]
    started = np.int64(0)
    n = np.int64(0)
    while True:
        if started < count and n <= LANES // 2:
            # Lanes of finished battles take new ones, so that the loops below stay long.
            stop = min(np.int64(LANES), n + count - started)
            for i in range(n, stop):
                numbers[i] = np.uint64(first_battle + started + i - n)
                cycles[i] = 0
            for side in range(2):
                for g in range(side * MAX_LOSS_GROUPS, side * MAX_LOSS_GROUPS + n_groups[side]):
                    for i in range(n, stop):
                        alive[g, i] = start[g]
                    before[g] = start[g]
            if aa_dice > 0:
                for t in range(_N_TYPES):
                    pool = aa_pools[t]
                    if pool == 0:
                        continue
                    group = AIRCRAFT_GROUP if owner_picks else t
                    sure = np.int64(0)
                    thrown = pool
                    drawn = aa_odds
                    if low_luck_aa:
                        score = pool * odds_table[aa_odds, 0]
                        sure = score // odds_table[aa_odds, 1]
                        drawn = rules[row, _REMAINDER_ODDS[1]] + score % odds_table[aa_odds, 1]
                        thrown = np.int64(1 if score % odds_table[aa_odds, 1] > 0 else 0)
                    for i in range(n, stop):
                        hits[1, i] = sure
                        dice[i] = thrown
                    if scripted and thrown > 0:
                        given = _scripted(script, thrown, status, where, s, numbers[0])
                        if given < 0:
                            if trace is not None:
                                _emit(trace, _DRAW, 0, _AA_FIRE, 1, group, thrown, drawn, -1, sure)
                            return
                        hits[1, 0] += given
                    elif thrown > 0:
                        fill_words(words, numbers, cycles, n, stop, draw_tag(0, _AA_FIRE, 1, group), k0, k1)
                        _draw(words, dice, n, stop, first_row[drawn], bounds, offset, guide, hits, 1)
                    if trace is not None:
                        _emit(trace, _DRAW, 0, _AA_FIRE, 1, group, thrown, drawn, hits[1, 0] - sure, sure)
                    for j in range(n_groups[0]):
                        if _is_aircraft(kind[j]) if owner_picks else kind[j] == t:
                            _remove(alive, j, j + 1, n, stop, hits, 1)
                if trace is not None:
                    _trace_losses(trace, kind, alive, before, 0, n_groups[0], 0, 0, _AA_FIRE)
            started += stop - n
            n = stop

        # Step 6 (and the test before cycle 1): condition A, then B, then the cycle limit.
        _sum_units(kind, alive, n, n_groups, totals)
        if some_powerless:
            for side in range(2):
                q = _ATTACK_DICE + side
                for i in range(n):
                    totals[q, i] = 0
                for slot in range(n_slots[side]):
                    t = slot_type[side, slot]
                    per_unit = slot_dice[side, slot]
                    _count_dice(alive, n, side, t, slot_form[side, slot], per_unit, per_artillery, first, second, dice)
                    for i in range(n):
                        totals[q, i] += dice[i]
        else:
            for i in range(n):
                totals[_ATTACK_DICE, i] = totals[_ATTACKERS, i]
                totals[_DEFENCE_DICE, i] = totals[_DEFENDERS, i]
        m = np.int64(0)
        for i in range(n):
            attackers = np.int64(totals[_ATTACKERS, i])
            land = np.int64(totals[_LAND, i])
            defenders = np.int64(totals[_DEFENDERS, i])
            cycle = cycles[i]
            outcome = np.int64(-1)
            if condition_a(attackers, defenders, totals[_ATTACK_DICE, i], totals[_DEFENCE_DICE, i]):
                aa_guns = np.int64(totals[_AA_GUNS, i])
                outcome = conclude(cycle, attackers, land, defenders, aa_guns)
                if guns_are_units and swept_aa_guns(aa_guns, attackers, defenders) > 0:
                    alive[first[1, _AA], i] = 0
                    if trace is not None:
                        _emit(trace, _SWEEP, cycle, 5, 1, _AA, aa_guns, 0, 0, 0)
            elif cycle > 0:
                if may_stop:
                    if wants_retreat(
                        cycle, attackers, land, retreat_after, retreat_at_most, retreat_aircraft
                    ) and may_retreat(retreat_possible, land):
                        outcome = np.int64(_RETREATS)
                    elif cycle == cycle_limit:
                        outcome = np.int64(_UNFINISHED)
                if cycle == MAX_CYCLE and outcome < 0:
                    status[s] = _RUNAWAY
                    where[s] = np.int64(numbers[i])
                    return
            if outcome >= 0:
                for g in range(n_groups[0]):
                    left[g, n_done] = alive[g, i]
                for g in range(MAX_LOSS_GROUPS, MAX_LOSS_GROUPS + n_groups[1]):
                    left[g, n_done] = alive[g, i]
                done_outcomes[n_done] = outcome
                done_cycles[n_done] = cycle
                n_done += 1
                if records is not None:
                    record = segments[s, 3] + np.int64(numbers[i]) - first_battle
                    _record(
                        kind,
                        start,
                        cost,
                        alive,
                        i,
                        n_groups,
                        cycle,
                        outcome,
                        territory_value,
                        records,
                        record,
                    )
                if trace is not None:
                    _emit(trace, _END, cycle, 6, 0, outcome, 0, 0, 0, 0)
            else:
                if m != i:
                    numbers[m] = numbers[i]
                    for j in range(n_groups[0]):
                        alive[j, m] = alive[j, i]
                    for j in range(MAX_LOSS_GROUPS, MAX_LOSS_GROUPS + n_groups[1]):
                        alive[j, m] = alive[j, i]
                cycles[m] = cycle + 1
                m += 1
        if n_done >= LANES or m == 0:
            _tally(kind, start, cost, left, done_outcomes, done_cycles, n_done, n_groups, lost, acc)
            n_done = np.int64(0)
        n = m
        if n == 0:
            if started == count:
                break
            continue

        # Steps 3 and 4: both sides fire from the units at the start of the cycle, the doomed included.
        for side in range(2):
            step = _ATTACK + side
            for i in range(n):
                hits[side, i] = 0
                points[i] = 0
            for slot in range(n_slots[side]):
                t = slot_type[side, slot]
                per_unit = slot_dice[side, slot]
                most = _count_dice(
                    alive, n, side, t, slot_form[side, slot], per_unit, per_artillery, first, second, dice
                )
                if most == 0:
                    continue
                odds = slot_odds[side, slot]
                group = slot_group[side, slot]
                if low_luck:
                    worth = odds_table[odds, 0] * (rules[row, _POINTS[side]] // odds_table[odds, 1])
                    for i in range(n):
                        points[i] += dice[i] * worth
                    if trace is not None:
                        _emit(trace, _DRAW, cycles[0], step, side, group, dice[0], odds, -2, 0)
                    continue
                if scripted:
                    given = _scripted(script, dice[0], status, where, s, numbers[0])
                    if trace is not None:
                        _emit(trace, _DRAW, cycles[0], step, side, group, dice[0], odds, given, 0)
                    if given < 0:
                        return
                    hits[side, 0] += given
                    continue
                fill_words(words, numbers, cycles, 0, n, draw_tag(0, step, side, group), k0, k1)
                earlier = hits[side, 0]
                _draw(words, dice, 0, n, first_row[odds], bounds, offset, guide, hits, side)
                if trace is not None:
                    _emit(trace, _DRAW, cycles[0], step, side, group, dice[0], odds, hits[side, 0] - earlier, 0)
            if low_luck:
                per_hit = rules[row, _POINTS[side]]
                remainder_odds = rules[row, _REMAINDER_ODDS[side]]
                for i in range(n):
                    hits[side, i] = points[i] // per_hit
                    # A run of odds 0/d, 1/d, ... has two table rows each, for no die and for one.
                    rest = points[i] % per_hit
                    dice[i] = 2 * rest + (1 if rest > 0 else 0)
                sure = hits[side, 0]
                thrown = 1 if dice[0] > 0 else 0
                drawn = remainder_odds + points[0] % per_hit
                if not scripted:
                    fill_words(words, numbers, cycles, 0, n, draw_tag(0, step, side, REMAINDER_GROUP), k0, k1)
                    _draw(words, dice, 0, n, first_row[remainder_odds], bounds, offset, guide, hits, side)
                elif thrown > 0:
                    given = _scripted(script, 1, status, where, s, numbers[0])
                    if given < 0:
                        if trace is not None:
                            _emit(trace, _DRAW, cycles[0], step, side, REMAINDER_GROUP, 1, drawn, -1, sure)
                        return
                    hits[side, 0] += given
                if trace is not None:
                    _emit(
                        trace,
                        _DRAW,
                        cycles[0],
                        step,
                        side,
                        REMAINDER_GROUP,
                        thrown,
                        drawn,
                        hits[side, 0] - sure,
                        sure,
                    )
        _remove(alive, MAX_LOSS_GROUPS, MAX_LOSS_GROUPS + n_groups[1], 0, n, hits, 0)
        _remove(alive, 0, n_groups[0], 0, n, hits, 1)
        if trace is not None:
            _trace_losses(
                trace,
                kind,
                alive,
                before,
                MAX_LOSS_GROUPS,
                MAX_LOSS_GROUPS + n_groups[1],
                1,
                cycles[0],
                _ATTACK,
            )
            _trace_losses(trace, kind, alive, before, 0, n_groups[0], 0, cycles[0], _DEFENCE)

    _tally_captures(count, territory_value, rules[row, _CAPTURABLE_GUNS], rules[row, _CAPTURABLE_COMPLEXES], acc)
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
