"""Sampler of general combat: draws every draw point and drives many battles through the rule steps.

A chunk of battles is resolved in lanes. All lanes pass through the same step at the same time, each in its
own cycle, so the random words of a draw point are filled in one vector loop. Battles that end are set aside
for the tally, their lanes closed up and, once half of the lanes are free, given to new battles.
"""

from __future__ import annotations

import numpy as np

from simcore.core.jit import kernel, part
from simcore.core.lane import emit, sort_lanes
from simcore.core.rng import draw_tag, fill_words
from simcore.enums import Status
from simcore.rulesets.general_combat.encoding import (
    AIRCRAFT_GROUP,
    BOMBARDERS,
    REMAINDER_GROUPS,
    DrawStep,
    Outcome,
    RowField,
    UnitType,
)
from simcore.rulesets.general_combat.landing import (
    close_up_fire,
    count_parts,
    find_landing_endings,
    muster_attackers,
    note_fire,
    retreated_units,
    start_landings,
)
from simcore.rulesets.general_combat.lane import (
    AA_GUN,
    LANES,
    N_CLASSES,
    SLOT_CLASS,
    SLOT_GROUP,
    SLOT_ODDS,
    SLOT_TYPE,
    Count,
    Ending,
    Total,
    close_up,
    count_dice,
    draw,
    is_aircraft,
    keep_dice,
    new_lanes,
    plan_matchup,
    record,
    remove,
    set_aside,
    sum_units,
    tally,
    tally_captures,
    total_dice,
)
from simcore.rulesets.general_combat.leave import leave_by_table
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
from simcore.rulesets.general_combat.steps import (
    conclude,
    conclude_landing,
    condition_a,
    may_retreat,
    swept_aa_guns,
    wants_retreat,
)
from simcore.rulesets.general_combat.trace import POOLED, UNDECIDED, Event, trace_losses

__all__ = ["MAX_CYCLE", "resolve_all"]

MAX_CYCLE = (1 << 20) - 1

_OK = int(Status.OK)
_RUNAWAY = int(Status.RUNAWAY)
_BAD_STATE = int(Status.BAD_STATE)
_CAPACITY = int(Status.CAPACITY)

_N_TYPES = len(UnitType)
_AA_FIRE = int(DrawStep.AA_FIRE)
_BOMBARD = int(DrawStep.BOMBARD)
_STRIKE = int(DrawStep.STRIKE)
_ATTACK = int(DrawStep.ATTACK)
_DEFENCE = int(DrawStep.DEFENCE)
_REMOVAL = 5
_PRESS_OR_RETREAT = 6

_DRAW = int(Event.DRAW)
_SWEEP = int(Event.SWEEP)
_END = int(Event.END)

_UNFINISHED = int(Outcome.UNFINISHED)
_RETREATS = int(Outcome.ATTACKER_RETREATS)

_SUBMARINE = int(UnitType.SUBMARINE)
_SHIPS = tuple(int(UnitType[name.upper()]) for name in BOMBARDERS)
_ENEMY = N_CLASSES
"""First hit row of the defender as the firing side."""

_SEA = int(RowField.SEA)
_STRIKE_ALWAYS = int(RowField.STRIKE_ALWAYS)
_SUBMERGE_AT_END = int(RowField.SUBMERGE_AT_END)
_ATTACKER_STRIKES_FIRST = int(RowField.ATTACKER_STRIKES_FIRST)
_DOOMED_DESTROYER_COUNTS = int(RowField.DOOMED_DESTROYER_COUNTS)
_AA_ODDS = int(RowField.AA_ODDS)
_AA_OWNER_PICKS = int(RowField.AA_OWNER_PICKS)
_GUNS_ARE_UNITS = int(RowField.GUNS_ARE_UNITS)
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
_TREASURY = int(RowField.TREASURY)
_STEP_OFFSET = int(RowField.STEP_OFFSET)
_RETURN_FIRE = int(RowField.RETURN_FIRE)
_BOMBARDING = int(RowField.BOMBARDING)
_BOMBARD_ODDS = int(RowField.BOMBARD_ODDS)
_DAMAGED_GIVE_ROOM = int(RowField.DAMAGED_GIVE_ROOM)
_BOMBARD_HITS = Count.BOMBARD_HITS

_GOES_ON = Ending.NONE
_CONDITION_A = Ending.CONDITION_A
_RETREAT = Ending.RETREAT
_LIMIT = Ending.LIMIT

_ATTACKERS = Total.ATTACKERS
_LAND = Total.LAND
_DEFENDERS = Total.DEFENDERS
_AA_GUNS = Total.AA_GUNS
_ATTACK_DICE = Total.ATTACK_DICE
_DEFENCE_DICE = Total.DEFENCE_DICE


@part
def _draw_point(lanes, start, stop, table, key, point, thrown, odds, row, sure, trace, script):
    """Decide one draw point in lanes `start` to `stop` - 1 and add its hits; returns a `Status`.

    Parameters
    ----------
    lanes : Lanes
        ``lanes.dice`` holds each lane's table row relative to `row`.
    point : tuple of int64
        Step, firing side, firing group, row of ``lanes.hits``.
    thrown, odds, sure : int64
        Of lane 0, for script and trace: dice, their odds, hits that low luck gave without a die.
    row : int64
        Table row of zero dice.
    trace, script : arrays or None
        As in `resolve_chunk`.
    """
    step, side, group, hit_row = point
    hits = lanes.hits
    # The bombardment belongs to the first cycle, though the battles in its lanes have not entered it yet.
    early = np.int64(1 if step == _BOMBARD else 0)
    earlier = hits[hit_row, 0]
    scripted = False
    if script is not None:
        scripted = script.shape[0] > 1
        if scripted and thrown > 0:
            at = script[0]
            script[0] = at + 1
            status = _OK
            if at >= script.shape[0]:
                status = _CAPACITY
            elif script[at] < 0 or script[at] > thrown:
                status = _BAD_STATE
            if status != _OK:
                if trace is not None:
                    emit(trace, _DRAW, lanes.cycles[0] + early, step, side, group, thrown, odds, UNDECIDED, sure)
                return status
            hits[hit_row, 0] += script[at]
    if not scripted:
        tag = draw_tag(early, step, side, group)
        fill_words(lanes.words, lanes.numbers, lanes.cycles, start, stop, tag, key[0], key[1])
        draw(lanes.words, lanes.dice, start, stop, row, table.bounds, table.offset, table.guide, hits, hit_row)
    if trace is not None:
        now = lanes.cycles[0] + early
        emit(trace, _DRAW, now, step, side, group, thrown, odds, hits[hit_row, 0] - earlier, sure)
    return _OK


@part
def _fire_aa(rules, plan, odds_table, lanes, start, stop, table, key, trace, script):
    """Antiaircraft fire at new battles, before the first cycle (GC-4.0.1 to GC-4.0.6); returns a `Status`.

    Draws cycle 0, step AA_FIRE, side 1; group = aircraft type, or `AIRCRAFT_GROUP` when the owner picks.
    """
    hits = lanes.hits
    dice = lanes.dice
    owner_picks = rules[_AA_OWNER_PICKS] != 0
    for t in range(_N_TYPES):
        thrown = plan.aa_pools[t]
        if thrown == 0:
            continue
        if stop - start == 1:  # where nobody attacks on land, a battle that is told throws no dice
            aircraft = np.int64(0)
            for g in range(plan.board[0, 0], plan.board[0, 1]):
                if is_aircraft(plan.kind[g]):
                    aircraft += lanes.alive[g, start]
            thrown = min(thrown, aircraft)
            if thrown == 0:
                continue
        group = AIRCRAFT_GROUP if owner_picks else t
        odds = rules[_AA_ODDS]
        sure = np.int64(0)
        if rules[_LOW_LUCK_AA] != 0:
            points = thrown * odds_table[odds, 0]
            per_hit = odds_table[odds, 1]
            sure = points // per_hit
            odds = rules[_REMAINDER_ODDS[1]] + points % per_hit
            thrown = np.int64(1 if points % per_hit > 0 else 0)
        for i in range(start, stop):
            hits[_ENEMY, i] = sure
            dice[i] = thrown
        point = (_AA_FIRE, 1, group, _ENEMY)
        status = _draw_point(
            lanes, start, stop, table, key, point, thrown, odds, table.first_row[odds], sure, trace, script
        )
        if status != _OK:
            return status
        for g in range(plan.board[0, 0], plan.board[0, 1]):
            if is_aircraft(plan.kind[g]) if owner_picks else plan.kind[g] == t:
                remove(lanes.alive, g, g + 1, start, stop, hits, _ENEMY)
    if trace is not None:
        trace_losses(trace, plan, lanes.alive, lanes.before, 0, 0, _AA_FIRE)
    return _OK


@part
def _bombard(rules, plan, odds_table, lanes, start, stop, table, key, trace, script):
    """Let ships bombard before the first cycle of new battles (GC-5.4, GC-5.5); returns a `Status`.

    Draws cycle 1, step BOMBARD, side 0, group = ship type. The units hit are no targets any more; where they
    may fire back they do so in the first cycle, because ``lanes.doomed`` still holds them.
    """
    hits = lanes.hits
    dice = lanes.dice
    low_luck = rules[_LOW_LUCK_COMBAT] != 0
    per_hit = rules[_POINTS[0]]
    points = np.int64(0)
    for i in range(start, stop):
        hits[0, i] = 0
    for k in range(len(_SHIPS)):
        thrown = rules[_BOMBARDING + k]
        if thrown == 0:
            continue
        odds = rules[_BOMBARD_ODDS + k]
        group = np.int64(_SHIPS[k])
        if low_luck:
            points += thrown * odds_table[odds, 0] * (per_hit // odds_table[odds, 1])
            if trace is not None:
                emit(trace, _DRAW, np.int64(1), _BOMBARD, 0, group, thrown, odds, POOLED, 0)
            continue
        for i in range(start, stop):
            dice[i] = thrown
        point = (_BOMBARD, 0, group, 0)
        first = table.first_row[odds]
        status = _draw_point(lanes, start, stop, table, key, point, thrown, odds, first, np.int64(0), trace, script)
        if status != _OK:
            return status
    if points > 0:
        rest = points % per_hit
        thrown = np.int64(1 if rest > 0 else 0)
        odds = rules[_REMAINDER_ODDS[0]] + rest
        sure = points // per_hit
        for i in range(start, stop):
            hits[0, i] = sure
            dice[i] = thrown
        point = (_BOMBARD, 0, np.int64(REMAINDER_GROUPS[0]), 0)
        first = table.first_row[odds]
        status = _draw_point(lanes, start, stop, table, key, point, thrown, odds, first, sure, trace, script)
        if status != _OK:
            return status
    scored = np.int64(0)
    for i in range(start, stop):
        scored += hits[0, i]
    lanes.counts[_BOMBARD_HITS] += scored
    remove(lanes.alive, plan.groups[1, 0], plan.groups[1, 1], start, stop, hits, 0)
    if rules[_RETURN_FIRE] == 0:
        note_fire(plan, lanes.alive, start, stop, lanes.doomed)
    if trace is not None:
        trace_losses(trace, plan, lanes.alive, lanes.before, 1, 1, _BOMBARD)
    return _OK


@part
def _start_battles(plan, lanes, start, stop, first_battle):
    """Put new battles into lanes `start` to `stop` - 1."""
    numbers = lanes.numbers
    cycles = lanes.cycles
    alive = lanes.alive
    for i in range(start, stop):
        numbers[i] = np.uint64(first_battle + i - start)
        cycles[i] = 0
    for side in range(2):
        for g in range(plan.groups[side, 0], plan.groups[side, 1]):
            units = plan.start[g]
            for i in range(start, stop):
                alive[g, i] = units
            lanes.before[g] = units


@part
def _find_endings(rules, plan, lanes, n):
    """Step 6 and the test before cycle 1: condition A, then B, then the cycle limit (GC-4.6.1)."""
    totals = lanes.totals
    cycles = lanes.cycles
    ending = lanes.ending
    sum_units(plan.kind, plan.groups, lanes.alive, n, totals)
    attack_row = _ATTACKERS
    defence_row = _DEFENDERS
    if plan.powerless[0] != 0:
        total_dice(plan, rules[_PER_ARTILLERY], lanes, lanes.alive, n)
        attack_row = _ATTACK_DICE
        defence_row = _DEFENCE_DICE
    for i in range(n):
        ends = condition_a(totals[_ATTACKERS, i], totals[_DEFENDERS, i], totals[attack_row, i], totals[defence_row, i])
        ending[i] = _CONDITION_A if ends else _GOES_ON
    after = rules[_RETREAT_AFTER]
    at_most = rules[_RETREAT_AT_MOST]
    only_aircraft = rules[_RETREAT_AIRCRAFT]
    possible = rules[_RETREAT_POSSIBLE]
    limit = rules[_CYCLE_LIMIT]
    if after + at_most + only_aircraft + limit > 0:
        for i in range(n):
            cycle = cycles[i]
            land = totals[_LAND, i]
            wanted = wants_retreat(cycle, totals[_ATTACKERS, i], land, after, at_most, only_aircraft)
            retreats = (cycle > 0) & wanted & may_retreat(possible, land)
            stop = _RETREAT if retreats else (_LIMIT if (limit > 0) & (cycle == limit) else _GOES_ON)
            ending[i] = stop if ending[i] == _GOES_ON else ending[i]


@part
def _find_runaway(lanes, n):
    """Return the lane of a battle that would leave the range of cycles, -1 if there is none."""
    cycles = lanes.cycles
    ending = lanes.ending
    oldest = np.int64(0)
    for i in range(n):
        oldest = max(oldest, cycles[i])
    if oldest == MAX_CYCLE:
        for i in range(n):
            if cycles[i] == MAX_CYCLE and ending[i] == _GOES_ON:
                return i
    return -1


@part
def _end_battles(rules, plan, cargo, lanes, n_ended, n_done, records, first_record, sea_records, acc, trace):
    """Conclude the battles of the listed lanes (GC-4.7.1) and set them aside for the tally."""
    totals = lanes.totals
    alive = lanes.alive
    outcomes = lanes.done_outcomes
    done_cycles = lanes.done_cycles
    ended = lanes.ended
    ending = lanes.ending
    cycles = lanes.cycles
    numbers = lanes.numbers
    at_sea = rules[_SEA] != 0
    value = np.int64(0) if at_sea else rules[_TERRITORY_VALUE]
    guns_are_units = rules[_GUNS_ARE_UNITS] != 0
    damaged_give_room = rules[_DAMAGED_GIVE_ROOM] != 0
    aa_row = plan.first[1, AA_GUN]
    for k in range(n_ended):
        i = ended[k]
        cycle = cycles[i]
        outcome = np.int64(_UNFINISHED)
        if ending[i] == _CONDITION_A and at_sea:
            outcome = np.int64(conclude_at_sea(totals, i))
        elif ending[i] == _CONDITION_A:
            attackers = np.int64(totals[_ATTACKERS, i])
            defenders = np.int64(totals[_DEFENDERS, i])
            aa_guns = np.int64(totals[_AA_GUNS, i])
            outcome = conclude(cycle, attackers, np.int64(totals[_LAND, i]), defenders, aa_guns)
            if guns_are_units and swept_aa_guns(aa_guns, attackers, defenders) > 0:
                alive[aa_row, i] = 0
                if trace is not None:
                    emit(trace, _SWEEP, cycle, _REMOVAL, 1, AA_GUN, aa_guns, 0, 0, 0)
        elif ending[i] == _RETREAT:
            outcome = np.int64(_RETREATS)
        at = np.int64(numbers[i]) - first_record
        if sea_records is not None:
            if ending[i] == _CONDITION_A:
                outcome = np.int64(conclude_landing(outcome, retreated_units(plan, alive, i, sea_records, at)))
            if sea_records.outcome.shape[0] > 0:
                outcome = count_parts(plan, sea_records, at, cycle, outcome, acc)
                cycle += sea_records.cycles[at]
                lanes.done_rows[n_done + k] = at
        outcomes[n_done + k] = outcome
        done_cycles[n_done + k] = cycle
        if records is not None:
            if records.outcome.shape[0] > 0:
                record(plan, cargo, alive, i, cycle, outcome, value, damaged_give_room, records, at)
        if trace is not None:
            emit(trace, _END, cycle, _PRESS_OR_RETREAT, 0, outcome, 0, 0, 0, 0)
    set_aside(plan.groups, alive, lanes.ended, n_ended, lanes.done_alive, n_done)


@part
def _fire(rules, plan, odds_table, lanes, units, n, step, side, table, key, trace, script):
    """Let one side's units fire in step 2, 3 or 4; returns a `Status`.

    In step 2 only the submarines that act then, in steps 3 and 4 all others. Draws one draw point per firing
    group; under low luck one per hit class, at `REMAINDER_GROUPS`.

    Parameters
    ----------
    units : int32 (G + 1, L)
        Units that fire: those on the board at the start of the step, units behind the casualty line included.
    step, side : int64
        `DrawStep` and firing side.
    """
    hits = lanes.hits
    dice = lanes.dice
    points = lanes.points
    struck = lanes.struck
    at_sea = rules[_SEA] != 0
    low_luck = rules[_LOW_LUCK_COMBAT] != 0
    per_hit = rules[_POINTS[side]]
    base = side * N_CLASSES
    address = step + rules[_STEP_OFFSET]
    classes = N_CLASSES if at_sea else 1
    for c in range(classes):
        for i in range(n):
            hits[base + c, i] = 0
            points[c, i] = 0
    for k in range(plan.n_slots[side]):
        slot = plan.slots[side, k]
        is_submarine = slot[SLOT_TYPE] == _SUBMARINE
        if step == _STRIKE and not is_submarine:
            continue
        most = count_dice(units, n, side, slot, rules[_PER_ARTILLERY], plan.kind, plan.first, plan.second, dice)
        if is_submarine and (step == _STRIKE or rules[_STRIKE_ALWAYS] == 0):
            most = keep_dice(dice, n, struck, side, 1 if step == _STRIKE else 0)
        if most == 0:
            continue
        odds = slot[SLOT_ODDS]
        group = slot[SLOT_GROUP]
        hit_class = slot[SLOT_CLASS]
        if low_luck:
            worth = odds_table[odds, 0] * (per_hit // odds_table[odds, 1])
            for i in range(n):
                points[hit_class, i] += dice[i] * worth
            if trace is not None:
                emit(trace, _DRAW, lanes.cycles[0], address, side, group, dice[0], odds, POOLED, 0)
            continue
        point = (address, side, group, base + hit_class)
        thrown = np.int64(dice[0])
        status = _draw_point(
            lanes, 0, n, table, key, point, thrown, odds, table.first_row[odds], np.int64(0), trace, script
        )
        if status != _OK:
            return status
    if low_luck:
        remainder = rules[_REMAINDER_ODDS[side]]
        for c in range(classes):
            most = 0
            for i in range(n):
                hits[base + c, i] = points[c, i] // per_hit
                # A run of odds 0/d, 1/d, ... has two table rows each, for no die and for one.
                rest = points[c, i] % per_hit
                dice[i] = 2 * rest + (1 if rest > 0 else 0)
                most = max(most, points[c, i])
            if most == 0:
                continue
            point = (address, side, np.int64(REMAINDER_GROUPS[c]), base + c)
            thrown = np.int64(1 if points[c, 0] % per_hit > 0 else 0)
            odds = remainder + points[c, 0] % per_hit
            sure = np.int64(hits[base + c, 0])
            status = _draw_point(
                lanes, 0, n, table, key, point, thrown, odds, table.first_row[remainder], sure, trace, script
            )
            if status != _OK:
                return status
    return _OK


@part
def _fight_on_land(rules, plan, odds_table, lanes, n, table, key, sea_records, trace, script):
    """One cycle on land: steps 3, 4 and 5; returns a `Status`."""
    alive = lanes.alive
    units = alive
    if sea_records is not None:
        muster_attackers(plan, alive, n, lanes.doomed)
        units = lanes.doomed
    # Both sides fire before any loss is removed: units behind the casualty line fire too (GC-4.4.1).
    for side in range(2):
        status = _fire(rules, plan, odds_table, lanes, units, n, _ATTACK + side, side, table, key, trace, script)
        if status != _OK:
            return status
    board = plan.board
    remove(alive, board[1, 0], board[1, 1], 0, n, lanes.hits, 0)
    remove(alive, board[0, 0], board[0, 1], 0, n, lanes.hits, _ENEMY)
    if sea_records is not None:
        note_fire(plan, alive, 0, n, lanes.doomed)
    if trace is not None:
        trace_losses(trace, plan, alive, lanes.before, 1, lanes.cycles[0], _ATTACK)
        trace_losses(trace, plan, alive, lanes.before, 0, lanes.cycles[0], _DEFENCE)
    return _OK


@part
def _fight_at_sea(rules, plan, odds_table, lanes, n, table, key, trace, script):
    """One cycle at sea: steps 2 to 5 but for the sweep; returns a `Status`."""
    alive = lanes.alive
    totals = lanes.totals
    hits = lanes.hits
    strip = rules[_STRIKE_ALWAYS] != 0
    count_board(plan, alive, n, totals)
    if rules[_SUBMERGE_AT_END] == 0:
        submerge_both(rules, plan, lanes, n, _STRIKE, trace)
    for side in range(2):
        note_strikes(rules, side, totals, n, lanes.struck)
        if strip:
            note_doomed(plan, side, n, alive, lanes.doomed)
    one_by_one = rules[_ATTACKER_STRIKES_FIRST] != 0
    for side in range(2):
        status = _fire(rules, plan, odds_table, lanes, alive, n, _STRIKE, side, table, key, trace, script)
        if status != _OK:
            return status
        if one_by_one:
            take_losses(plan, 1 - side, n, alive, hits, lanes.air_hits_subs, lanes.caps)
            if strip and side == 0:
                note_unfired(plan, 1, n, alive, lanes.doomed)
    if not one_by_one:
        for side in range(2):
            take_losses(plan, side, n, alive, hits, lanes.air_hits_subs, lanes.caps)
    if trace is not None:
        for side in range(2):
            trace_losses(trace, plan, alive, lanes.before, 1 - side, lanes.cycles[0], _STRIKE)
    firing = alive
    if strip:
        for side in range(2):
            keep_doomed(plan, side, totals, n, alive, one_by_one and side == 1, lanes.doomed)
        firing = lanes.doomed
    doomed_count = rules[_DOOMED_DESTROYER_COUNTS] != 0
    count_board(plan, firing if doomed_count else alive, n, totals)
    for side in range(2):
        allow_air_hits(rules, side, totals, n, lanes.air_hits_subs)
    for side in range(2):
        status = _fire(rules, plan, odds_table, lanes, firing, n, _ATTACK + side, side, table, key, trace, script)
        if status != _OK:
            return status
    take_losses(plan, 1, n, alive, hits, lanes.air_hits_subs, lanes.caps)
    if not doomed_count:
        count_board(plan, alive, n, totals)
        allow_air_hits(rules, 1, totals, n, lanes.air_hits_subs)
    take_losses(plan, 0, n, alive, hits, lanes.air_hits_subs, lanes.caps)
    if trace is not None:
        trace_losses(trace, plan, alive, lanes.before, 1, lanes.cycles[0], _ATTACK)
        trace_losses(trace, plan, alive, lanes.before, 0, lanes.cycles[0], _DEFENCE)
    return _OK


@part
def resolve_chunk(
    s, segments, battles, table, keys, tallies, status, where, records, trace, script, sea, sea_records, leave
):
    """Resolve one run of battles of one matchup.

    Parameters
    ----------
    s : int64
        Row of `segments`, `tallies`, `status` and `where`.
    segments : int64 (N, 4)
        Matchup row, first battle, number of battles, first row in `records`.
    battles : Battles
        Encoded scenarios.
    table : DiceTable
        Dice tables of `battles.odds`.
    keys : uint64 (M, 2)
        Stream key of each matchup.
    tallies : int64 (N, K + BINS)
        Output: accumulators of the segment, and counts of its swings behind them.
    status : uint8 (N,), where : int64 (N,)
        Output: `Status` of the segment and the battle it is about.
    records : Records or None
        Output: single battles; may be empty for sea battles, which are recorded before a landing.
    trace : int32 (events, EventField) or None
        Output: events of the battle in lane 0; row 0 counts them.
    script : int64 (1 + draws,) or None
        Hits at each draw point from index 1 on (index 0: next to use); length 1 = draw from the battle's words.
    sea : int64 or None
        None for land battles, any number for sea battles. All segments of a call are of one kind: what the
        others need is not even compiled.
    sea_records : Records or None
        None but for assaults: the sea battles before the landings, in rows as those of `records`; empty where
        there were none.
    leave : LeaveTable or None
        In which states attackers leave whose policy looks ahead; None where there is none in the call.
    """
    row = segments[s, 0]
    first_battle = segments[s, 1]
    count = segments[s, 2]
    rules = battles.rules[row]
    key = keys[row]
    plan = plan_matchup(battles, row)
    has_aa = plan.aa_pools.sum() > 0
    bombards = rules[_BOMBARDING : _BOMBARDING + len(_SHIPS)].sum() > 0
    # The attacker's side comes first in the lane rows, so a row of the cargo is a lane row.
    cargo = battles.group_cargo[row, 0]
    first_record = first_battle - segments[s, 3]
    damaged_give_room = rules[_DAMAGED_GIVE_ROOM] != 0
    lanes = new_lanes()
    acc = np.zeros(tallies.shape[1], dtype=np.int64)
    started = np.int64(0)
    n = np.int64(0)
    n_done = np.int64(0)
    while True:
        if started < count and n <= LANES // 2:
            stop = min(np.int64(LANES), n + count - started)
            _start_battles(plan, lanes, n, stop, first_battle + started)
            if sea_records is not None:
                if sea_records.outcome.shape[0] > 0:
                    start_landings(rules, plan, lanes, n, stop, sea_records, first_record)
                note_fire(plan, lanes.alive, n, stop, lanes.doomed)
            if has_aa:
                code = _fire_aa(rules, plan, battles.odds, lanes, n, stop, table, key, trace, script)
                if code != _OK:
                    status[s] = code
                    where[s] = np.int64(lanes.numbers[n])
                    return
            if sea_records is not None:
                if bombards:
                    code = _bombard(rules, plan, battles.odds, lanes, n, stop, table, key, trace, script)
                    if code != _OK:
                        status[s] = code
                        where[s] = np.int64(lanes.numbers[n])
                        return
            started += stop - n
            n = stop
        if sea is not None:
            end_cycle_at_sea(rules, plan, lanes, n, trace)
        elif sea_records is not None:
            find_landing_endings(rules, plan, lanes, n, leave, row, trace)
        else:
            _find_endings(rules, plan, lanes, n)
        if leave is not None and sea_records is None:
            leave_by_table(leave, row, plan, lanes, n, trace)
        lost_lane = _find_runaway(lanes, n)
        if lost_lane >= 0:
            status[s] = _RUNAWAY
            where[s] = np.int64(lanes.numbers[lost_lane])
            return
        n_going, n_ended = sort_lanes(lanes.ending, n, lanes.going, lanes.ended)
        _end_battles(rules, plan, cargo, lanes, n_ended, n_done, records, first_record, sea_records, acc, trace)
        if sea_records is not None:
            close_up_fire(plan, lanes.doomed, lanes.going, n_going)
        close_up(plan.groups, lanes.alive, lanes.numbers, lanes.cycles, lanes.going, n_going)
        n = n_going
        n_done += n_ended
        if n_done >= LANES or n == 0:
            tally(rules, plan, lanes, n_done, damaged_give_room, sea_records, acc)
            n_done = np.int64(0)
        if n == 0:
            if started == count:
                break
            continue
        if sea is not None:
            code = _fight_at_sea(rules, plan, battles.odds, lanes, n, table, key, trace, script)
        else:
            code = _fight_on_land(rules, plan, battles.odds, lanes, n, table, key, sea_records, trace, script)
        if code != _OK:
            status[s] = code
            where[s] = np.int64(lanes.numbers[0])
            return
    guns = rules[_CAPTURABLE_GUNS]
    complexes = rules[_CAPTURABLE_COMPLEXES]
    tally_captures(count, sea is None, rules[_TERRITORY_VALUE], guns, complexes, rules[_TREASURY], lanes.counts, acc)
    for k in range(len(acc)):
        tallies[s, k] = acc[k]
    status[s] = _OK


@kernel
def resolve_all(
    segments, battles, table, keys, tallies, status, where, records, trace, script, sea, sea_records, leave
):
    """Resolve all segments one after the other; arguments as in `resolve_chunk`."""
    for s in range(len(segments)):
        resolve_chunk(
            np.int64(s),
            segments,
            battles,
            table,
            keys,
            tallies,
            status,
            where,
            records,
            trace,
            script,
            sea,
            sea_records,
            leave,
        )
