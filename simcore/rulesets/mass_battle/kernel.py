"""Sampler of mass battle: draws every draw point and drives many battles through the rule steps.

A chunk of battles is resolved in lanes. All lanes pass through the same step at the same time, each in its
own turn, so the random words of a draw point are filled in one vector loop. Battles that end are added up, and new
ones take their lanes; when there are no more, the lanes are closed up.

What makes up a turn is compiled into one function: lanes and plan are many arrays, and to hand all of them to a kernel
takes as long as a rule step in a hundred battles.

The dice of an attack are counted, not thrown one by one: how many show 4 or more, how many of these 5 or more,
and how many of those 6. Each part is one draw by inverse CDF, so that for equal words more dice never give less.
"""

from __future__ import annotations

import numpy as np

from simcore.core.jit import borrowed, inlined_leaf, kernel, leaf, part
from simcore.core.lane import emit, sort_lanes, throw
from simcore.core.rng import draw_tag, fill_words, philox4x32
from simcore.enums import Status
from simcore.rulesets.mass_battle.encoding import (
    DrawStep,
    FaceGroup,
    Initiative,
    Route,
    RowField,
    Standing,
)
from simcore.rulesets.mass_battle.lane import (
    LANES,
    begin_turn,
    choose_tried,
    close_up,
    count_forces,
    deal_effects,
    deal_one,
    fill_pools,
    find_endings,
    get_away,
    halt,
    may_pursue,
    new_lanes,
    plan_matchup,
    pursue,
    record,
    settle_tried,
    start_battles,
    suppress_own,
    tally,
)
from simcore.rulesets.mass_battle.steps import confirms, dice_below_four
from simcore.rulesets.mass_battle.trace import UNDECIDED, Event

__all__ = ["MAX_TURN", "resolve_all"]

MAX_TURN = (1 << 20) - 1

_OK = int(Status.OK)
_RUNAWAY = int(Status.RUNAWAY)
_BAD_STATE = int(Status.BAD_STATE)
_CAPACITY = int(Status.CAPACITY)

_CHARACTER = int(DrawStep.CHARACTER)
_RALLY = int(DrawStep.RALLY)
_ATTACK = int(DrawStep.ATTACK)
_TARGET = int(DrawStep.TARGET)
_BACKFIRE = int(DrawStep.BACKFIRE)
_FOUR_UP = int(FaceGroup.FOUR_UP)
_FIVE_UP = int(FaceGroup.FIVE_UP)
_SIX = int(FaceGroup.SIX)
_OTHERS = int(FaceGroup.OTHERS_FOUR_UP)
_ONES = int(FaceGroup.ONES)

_ACTIVE = int(Standing.ACTIVE)
_LATE = int(Standing.LATE)
_ROUTED = int(Standing.ROUTED)
_FAILED = int(Standing.FAILED)
_ARMY = int(Route.ARMY)
_SIMULTANEOUS = int(Initiative.SIMULTANEOUS)
_DEFENDER_FIRST = int(Initiative.DEFENDER_FIRST)

_FACES = (int(RowField.SUPPRESS_FACE), int(RowField.ROUT_FACE), int(RowField.DESTROY_FACE))
_NEGATIVE_ANY = int(RowField.NEGATIVE_ANY)
_ONES_EVERY_ROLL = int(RowField.ONES_EVERY_ROLL)
_ROUTED_TARGETS = int(RowField.ROUTED_TARGETS)
_RANDOM_TARGETS = int(RowField.RANDOM_TARGETS)
_INITIATIVE = int(RowField.INITIATIVE)
_UNLIMITED = int(RowField.UNLIMITED_RALLY)
_HALF = int(RowField.HALF)
_TWO_THIRDS = int(RowField.TWO_THIRDS)
_THIRD = int(RowField.THIRD)

_DRAW = int(Event.DRAW)
_STAND = int(Event.STAND)
_HALT = int(Event.HALT)
_ROLL = int(Event.ROLL)
_EFFECT = int(Event.EFFECT)
_OWN_ONES = int(Event.BACKFIRE)
_END = int(Event.END)

_LOW = np.uint64(0xFFFFFFFF)
_16 = np.uint64(16)
_32 = np.uint64(32)
_48 = np.uint64(48)


@inlined_leaf
def _draw_point(lanes, n, table, key, point, dice, row, thrown, odds, out, trace, script):
    """Decide one draw point in lanes 0 to n - 1; returns a `Status`.

    Parameters
    ----------
    lanes : Lanes
    n : int64
    table : DiceTable
    key : uint64 (2,)
    point : tuple of int64
        Step, side, group.
    dice : int32 (L,)
        Table row of each lane, counted from `row`.
    row : int64
    thrown, odds : int64
        Dice of lane 0 and their odds, for script and trace.
    out : int32 (L,)
        Hits.
    trace, script : arrays or None
        As in `resolve_chunk`.
    """
    step, side, group = point
    scripted = False
    if script is not None:
        scripted = script.shape[0] > 1
        if scripted:
            out[0] = 0
            if thrown > 0:
                at = script[0]
                script[0] = at + 1
                status = _OK
                if at >= script.shape[0]:
                    status = _CAPACITY
                elif script[at] < 0 or script[at] > thrown:
                    status = _BAD_STATE
                if status != _OK:
                    if trace is not None:
                        emit(trace, _DRAW, lanes.turns[0], step, side, group, thrown, odds, UNDECIDED, 0)
                    return status
                out[0] = script[at]
    if not scripted:
        fill_words(lanes.words, lanes.numbers, lanes.turns, 0, n, draw_tag(0, step, side, group), key[0], key[1])
        throw(lanes.words, dice, 0, n, row, table.bounds, table.offset, table.guide, out)
    if trace is not None:
        emit(trace, _DRAW, lanes.turns[0], step, side, group, thrown, odds, out[0], 0)
    return _OK


@inlined_leaf
def _let_characters_rally(rules, plan, lanes, n, side, table, key, trace, script):
    """Let each character try to halt the first routed squad in listed order (MB-7 to MB-9, MA-16)."""
    tried = lanes.tried
    dice = lanes.dice
    for c in range(plan.n_characters[side]):
        if not choose_tried(plan, lanes.squads, side, n, tried):
            return _OK
        for i in range(n):
            dice[i] = table.first_row[plan.character_odds[side, c, tried[i]]] + 1 if tried[i] >= 0 else 0
        odds = plan.character_odds[side, c, max(0, tried[0])]
        thrown = np.int64(1 if tried[0] >= 0 else 0)
        point = (np.int64(_CHARACTER), side, np.int64(c))
        status = _draw_point(lanes, n, table, key, point, dice, np.int64(0), thrown, odds, lanes.hits, trace, script)
        if status != _OK:
            return status
        settle_tried(rules, plan, lanes.squads, side, c, n, tried, lanes.hits)
        if trace is not None:
            if thrown > 0 and lanes.hits[0] > 0:
                kind = _STAND if plan.routes[side, c] == _ARMY else _HALT
                emit(trace, kind, lanes.turns[0], _CHARACTER, side, tried[0], 1, 0, 0, 0)
    return _OK


@inlined_leaf
def _rally(rules, plan, lanes, n, side, table, key, trace, script):
    """Roll for the squads routed in the last turn (MB-6 to MB-9); returns a `Status`."""
    squads = lanes.squads
    if plan.n_characters[side] > 0:
        status = _let_characters_rally(rules, plan, lanes, n, side, table, key, trace, script)
        if status != _OK:
            return status
    for k in range(plan.n_types[side]):
        t = plan.listed[side, k]
        routed = squads[side, _ROUTED, t]
        most = 0
        for i in range(n):
            most = max(most, routed[i])
        if most == 0:
            continue
        odds = plan.rally_odds[side, t]
        point = (np.int64(_RALLY), side, t)
        thrown = np.int64(routed[0])
        row = table.first_row[odds]
        status = _draw_point(lanes, n, table, key, point, routed, row, thrown, odds, lanes.hits, trace, script)
        if status != _OK:
            return status
        halt(rules, squads, side, t, n, lanes.hits, lanes.turns[0], trace)
    return _OK


@inlined_leaf
def _throw_part(rules, lanes, n, table, key, side, group, odds_field, dice, trace, script):
    """Draw one part of an attack roll, asked of `dice`; returns a `Status`."""
    odds = rules[odds_field]
    point = (np.int64(_ATTACK), side, np.int64(group))
    thrown = np.int64(dice[0])
    return _draw_point(
        lanes, n, table, key, point, dice, table.first_row[odds], thrown, odds, lanes.parts[group], trace, script
    )


@inlined_leaf
def _roll(rules, plan, lanes, n, side, table, key, trace, script):
    """Attack roll of one army (MB-1, MB-2, MB-19 to MB-21); returns a `Status`, and whether ones were looked for.

    Draws step ATTACK, groups by `FaceGroup`; leaves the effects in ``lanes.effects`` and the ones that hit own
    squads in ``lanes.ones``.
    """
    parts = lanes.parts
    dice = lanes.dice
    others = lanes.others
    most, most_others = fill_pools(rules, plan, lanes, side, n)
    for i in range(n):
        lanes.ones[side, i] = 0
    if most == 0:
        for e in range(3):
            for i in range(n):
                lanes.effects[side, e, i] = 0
        return _OK, False
    if trace is not None:
        if dice[0] > 0:
            emit(trace, _ROLL, lanes.turns[0], _ATTACK, side, 0, dice[0] + others[0], lanes.pools[0], 0, 0)
    for group in range(_FOUR_UP, _SIX + 1):
        asked = dice if group == _FOUR_UP else parts[group - 1]
        odds_field = _TWO_THIRDS if group == _FIVE_UP else _HALF
        status = _throw_part(rules, lanes, n, table, key, side, group, odds_field, asked, trace, script)
        if status != _OK:
            return status, False
    if most_others > 0:
        status = _throw_part(rules, lanes, n, table, key, side, _OTHERS, _HALF, others, trace, script)
        if status != _OK:
            return status, False
    always = rules[_ONES_EVERY_ROLL] != 0
    has_ones = most_others > 0 or always
    if has_ones:
        hits = lanes.hits
        for i in range(n):
            hits[i] = dice[i] - parts[_FOUR_UP, i] if always else 0
            if others[i] > 0:
                hits[i] = dice_below_four(parts[_FOUR_UP, i], parts[_OTHERS, i], others[i])
        status = _throw_part(rules, lanes, n, table, key, side, _ONES, _THIRD, hits, trace, script)
        if status != _OK:
            return status, False
        for i in range(n):
            lanes.ones[side, i] = parts[_ONES, i]
    any_will_do = rules[_NEGATIVE_ANY]
    if most_others > 0:
        for i in range(n):
            if others[i] > 0 and not confirms(parts[_OTHERS, i], others[i], any_will_do):
                parts[_FOUR_UP, i] = 0
                parts[_FIVE_UP, i] = 0
                parts[_SIX, i] = 0
    for e in range(3):
        face = rules[_FACES[e]]
        out = lanes.effects[side, e]
        if face == _SIX:
            for i in range(n):
                out[i] = parts[_SIX, i]
        else:
            for i in range(n):
                out[i] = parts[face, i] - parts[face + 1, i]
    return _OK, has_ones


@leaf
def _pick(lanes, i, waiting, kinds, step, side, number, key, trace, script):
    """Pick the type of the next squad by chance, each squad alike; returns a `Status` and the type.

    Draws block `number` of its step; a type that is alone in its class is not drawn.
    """
    total = np.int64(0)
    alone = np.int64(-1)
    n_kinds = 0
    for t in kinds:
        if waiting[t] > 0:
            total += waiting[t]
            alone = np.int64(t)
            n_kinds += 1
    if n_kinds == 1:
        return _OK, alone
    point = draw_tag(lanes.turns[i], step, side, 0)
    scripted = False
    place = np.int64(0)
    if script is not None:
        scripted = script.shape[0] > 1
        if scripted:
            at = script[0]
            script[0] = at + 1
            status = _OK
            if at >= script.shape[0]:
                status = _CAPACITY
            elif script[at] < 0 or script[at] >= total:
                status = _BAD_STATE
            if status != _OK:
                if trace is not None:
                    emit(trace, _DRAW, lanes.turns[i], step, side, 0, total - 1, -1, UNDECIDED, 0)
                return status, alone
            place = script[at]
    if not scripted:
        battle = lanes.numbers[i]
        c0, c1, _, _ = philox4x32(np.uint64(number), point, battle & _LOW, battle >> _32, key[0], key[1])
        # 48 bits times at most 16,000 squads stay below 2**63; no squad is preferred by more than 2**-34.
        bits = (c0 | (c1 << _32)) >> _16
        place = np.int64((bits * np.uint64(total)) >> _48)
    if trace is not None:
        emit(trace, _DRAW, lanes.turns[i], step, side, 0, total - 1, -1, place, 0)
    for t in kinds:
        if place < waiting[t]:
            return _OK, np.int64(t)
        place -= waiting[t]
    return _BAD_STATE, alone


@leaf
def _deal_at_random(rules, plan, lanes, n, side, key, trace, script):
    """Deal the enemy's effects to squads of a class picked by chance (MA-10); returns a `Status`."""
    squads = lanes.squads
    fresh = lanes.fresh
    effects = lanes.effects[1 - side]
    kinds = plan.listed[side, : plan.n_types[side]]
    waiting = lanes.waiting
    waiting[:] = 0
    for i in range(n):
        for t in kinds:
            fresh[t, i] = 0
            for standing in range(_FAILED + 1):
                is_target = standing < _ROUTED or (standing == _FAILED and rules[_ROUTED_TARGETS] != 0)
                waiting[standing, t] = squads[side, standing, t, i] if is_target else 0
        number = np.int64(0)
        reached = 0
        for e in range(3):
            effect = 2 - e
            while effects[effect, i] > 0:
                while reached <= _FAILED and waiting[reached].sum() == 0:
                    reached += 1
                if reached > _FAILED:
                    break
                status, t = _pick(
                    lanes, i, waiting[reached], kinds, np.int64(_TARGET), side, number, key, trace, script
                )
                if status != _OK:
                    return status
                number += 1
                waiting[reached, t] -= 1
                effects[effect, i] -= 1
                deal_one(rules, squads, side, t, i, reached, effect, fresh)
                if trace is not None:
                    emit(trace, _EFFECT, lanes.turns[i], _ATTACK, side, t, 1, reached, effect, 0)
        for t in kinds:
            squads[side, _LATE, t, i] += fresh[t, i]
    return _OK


@leaf
def _suppress_own_at_random(plan, lanes, n, side, key, trace, script):
    """Let the ones of an own roll suppress active squads picked by chance (MB-21, MA-10); returns a `Status`."""
    squads = lanes.squads
    kinds = plan.listed[side, : plan.n_types[side]]
    waiting = lanes.waiting[_ACTIVE]
    waiting[:] = 0
    for i in range(n):
        active = np.int64(0)
        for t in kinds:
            waiting[t] = squads[side, _ACTIVE, t, i]
            active += waiting[t]
        for number in range(min(np.int64(lanes.ones[side, i]), active)):
            status, t = _pick(lanes, i, waiting, kinds, np.int64(_BACKFIRE), side, number, key, trace, script)
            if status != _OK:
                return status
            waiting[t] -= 1
            squads[side, _ACTIVE, t, i] -= 1
            squads[side, _LATE, t, i] += 1
            if trace is not None:
                emit(trace, _OWN_ONES, lanes.turns[i], _ATTACK, side, t, 1, 0, 0, 0)
    return _OK


@inlined_leaf
def _deal(rules, plan, lanes, n, side, key, trace, script):
    """Deal the enemy's effects to an army; returns a `Status`."""
    if rules[_RANDOM_TARGETS] != 0:
        return _deal_at_random(rules, plan, lanes, n, side, key, trace, script)
    effects = lanes.effects[1 - side]
    deal_effects(rules, plan, lanes.squads, side, n, effects, lanes.fresh, lanes.turns[0], trace)
    return _OK


@inlined_leaf
def _fight(rules, plan, lanes, n, table, key, trace, script):
    """One turn: rallies, rolls and their effects; returns a `Status`."""
    squads = lanes.squads
    turns = lanes.turns
    for side in range(np.int64(2)):
        begin_turn(plan, rules[_UNLIMITED] != 0, squads, side, n, turns[0], trace)
    for side in range(2):
        status = _rally(rules, plan, lanes, n, side, table, key, trace, script)
        if status != _OK:
            return status
    for side in range(2):
        count_forces(rules, plan, squads, side, turns, n, lanes.active, lanes.forces)
    initiative = rules[_INITIATIVE]
    backfires = False
    first = 1 if initiative == _DEFENDER_FIRST else 0
    for k in range(2):
        army = np.int64(first if k == 0 else 1 - first)
        status, has_ones = _roll(rules, plan, lanes, n, army, table, key, trace, script)
        if status != _OK:
            return status
        backfires = backfires or has_ones
        if initiative != _SIMULTANEOUS and k == 0:
            status = _deal(rules, plan, lanes, n, 1 - army, key, trace, script)
            if status != _OK:
                return status
            count_forces(rules, plan, squads, 1 - army, turns, n, lanes.active, lanes.forces)
    for k in range(2):
        army = np.int64(1 - k)
        if initiative == _SIMULTANEOUS or army == first:
            status = _deal(rules, plan, lanes, n, army, key, trace, script)
            if status != _OK:
                return status
    for k in range(2 if backfires else 0):
        army = np.int64(k)
        if rules[_RANDOM_TARGETS] == 0:
            suppress_own(plan, squads, army, n, lanes.ones, turns[0], trace)
            continue
        status = _suppress_own_at_random(plan, lanes, n, army, key, trace, script)
        if status != _OK:
            return status
    return _OK


@inlined_leaf
def _end_battles(rules, plan, lanes, n, n_ended, acc, records, first_record, trace):
    """Conclude the battles of the lanes listed as ended, and add them up."""
    ended = lanes.ended
    # Only a single battle is told, and it is in the first lane.
    for loser in range(np.int64(2)):
        if may_pursue(rules, plan, loser):
            for j in range(n_ended):
                pursue(rules, plan, lanes.squads, loser, ended[j], lanes.in_line, lanes.turns[0], trace)
    get_away(rules, plan, lanes.squads, 0, n)
    tally(rules, plan, lanes, n_ended, acc)
    if records is not None:
        for j in range(n_ended):
            i = ended[j]
            outcome = np.int64(lanes.ending[i]) - 1
            at = np.int64(lanes.numbers[i]) - first_record
            record(plan, lanes.squads, i, lanes.turns[i], outcome, records, at)
    if trace is not None:
        if n_ended > 0:
            emit(trace, _END, lanes.turns[0], 0, 0, np.int64(lanes.ending[0]) - 1, 0, 0, 0, 0)


@inlined_leaf
def _find_runaway(lanes, n):
    """Return the lane of a battle that would leave the range of turns, -1 if there is none."""
    for i in range(n):
        if lanes.turns[i] == MAX_TURN and lanes.ending[i] == 0:
            return i
    return -1


@part
def _resolve(segment, rules, lent_plan, lent_lanes, lent_table, lent_key, lent_acc, records, trace, script):
    """Resolve a run of battles in empty lanes; returns a `Status` and the battle that it is about."""
    plan = borrowed(lent_plan)
    lanes = borrowed(lent_lanes)
    table = borrowed(lent_table)
    key = borrowed(lent_key)
    acc = borrowed(lent_acc)
    first_battle = segment[1]
    count = segment[2]
    n = min(np.int64(LANES), count)
    # At the beginning all lanes are as after a battle.
    n_going = np.int64(0)
    n_ended = n
    for i in range(n):
        lanes.ending[i] = 1
        lanes.ended[i] = i
    started = np.int64(0)
    steps = np.int64(0)
    while True:
        if n_ended > 0:
            n_new = min(n_ended, count - started)
            start_battles(plan, lanes, n, n_new, first_battle + started)
            started += n_new
            if n_new < n_ended:
                n, n_free = sort_lanes(lanes.ending, n, lanes.going, lanes.ended)
                close_up(plan, lanes, n, n_free)
        if n == 0:
            return _OK, np.int64(0)
        # Battles that have all just begun may be over before the first turn.
        if n_going > 0:
            for i in range(n):
                lanes.turns[i] += 1
            code = _fight(rules, plan, lanes, n, table, key, trace, script)
            if code != _OK:
                return code, np.int64(lanes.numbers[0])
            steps += 1
        find_endings(rules, plan, lanes.squads, lanes.turns, n, lanes.in_line, lanes.ending)
        if steps >= MAX_TURN:
            lost_lane = _find_runaway(lanes, n)
            if lost_lane >= 0:
                return _RUNAWAY, np.int64(lanes.numbers[lost_lane])
        n_going, n_ended = sort_lanes(lanes.ending, n, lanes.going, lanes.ended)
        if n_ended > 0:
            _end_battles(rules, plan, lanes, n, n_ended, acc, records, first_battle, trace)


@part
def resolve_chunk(s, segments, armies, table, keys, tallies, status, where, records, trace, script):
    """Resolve one run of battles of one matchup.

    Parameters
    ----------
    s : int64
        Row of `segments`, `tallies`, `status` and `where`.
    segments : int64 (N, 3)
        Matchup row, first battle, number of battles.
    armies : Armies
        Encoded scenarios.
    table : DiceTable
        Dice tables of `armies.odds`.
    keys : uint64 (M, 2)
        Stream key of each matchup.
    tallies : int64 (N, K + BINS)
        Output: accumulators of the segment, and counts of its swings behind them.
    status : uint8 (N,), where : int64 (N,)
        Output: `Status` of the segment and the battle it is about.
    records : Records or None
        Output: single battles.
    trace : int32 (events, EventField) or None
        Output: events of the battle in lane 0; row 0 counts them.
    script : int64 (1 + draws,) or None
        Hits at each draw point from index 1 on (index 0: next to use); length 1 = draw from the battle's words.
    """
    row = segments[s, 0]
    plan = plan_matchup(armies, row)
    lanes = new_lanes(LANES)
    code, battle = _resolve(
        segments[s], armies.rules[row], plan, lanes, table, keys[row], tallies[s], records, trace, script
    )
    status[s] = code
    where[s] = battle


@kernel
def resolve_all(segments, armies, table, keys, tallies, status, where, records, trace, script):
    """Resolve all segments one after the other; arguments as in `resolve_chunk`."""
    for s in range(len(segments)):
        resolve_chunk(np.int64(s), segments, armies, table, keys, tallies, status, where, records, trace, script)
