"""Sampler of bombing raids: all raids of a chunk pass through the same draw points side by side."""

from __future__ import annotations

import numpy as np

from simcore.core.dice import draw_hits
from simcore.core.jit import kernel, part
from simcore.core.lane import emit, swing_bin
from simcore.core.rng import draw_tag, fill_words
from simcore.enums import Status
from simcore.rulesets.general_combat.encoding import REMAINDER_GROUPS, DrawStep, UnitType
from simcore.rulesets.general_combat.raid import HEAVY_GROUP, HISTOGRAM, RaidAccumulator, RaidField, RaidOutcome
from simcore.rulesets.general_combat.steps import absorb, raid_damage
from simcore.rulesets.general_combat.trace import POOLED, UNDECIDED, Event

__all__ = ["resolve_all_raids", "resolve_raids"]

_OK = int(Status.OK)
_BAD_STATE = int(Status.BAD_STATE)
_CAPACITY = int(Status.CAPACITY)

_N_TYPES = len(UnitType)
_FIGHTER = int(UnitType.FIGHTER)
_BOMBER = int(UnitType.BOMBER)
_TAC = int(UnitType.TACTICAL_BOMBER)
_AA_FIRE = int(DrawStep.AA_FIRE)
_ATTACK = int(DrawStep.ATTACK)
_DEFENCE = int(DrawStep.DEFENCE)
_DAMAGE_STEP = int(DrawStep.DAMAGE)
_REMAINDER = int(REMAINDER_GROUPS[0])

_DRAW = int(Event.DRAW)
_LOSS = int(Event.LOSS)
_END = int(Event.END)

_AIR_BATTLE = int(RaidField.AIR_BATTLE)
_AIR_BATTLE_ODDS = int(RaidField.AIR_BATTLE_ODDS)
_AA_FIRES = int(RaidField.AA_FIRES)
_AA_ODDS = int(RaidField.AA_ODDS)
_LOW_LUCK_COMBAT = int(RaidField.LOW_LUCK_COMBAT)
_LOW_LUCK_AA = int(RaidField.LOW_LUCK_AA)
_REMAINDER_ODDS = int(RaidField.REMAINDER_ODDS)
_SIDES = int(RaidField.SIDES)
_DICE_PER_BOMBER = int(RaidField.DICE_PER_BOMBER)
_BEST_OF_TWO = int(RaidField.BEST_OF_TWO)
_BONUS = int(RaidField.BONUS)
_ROOM = int(RaidField.ROOM)
_FACE_ODDS = int(RaidField.FACE_ODDS)
_HEAVY_ODDS = int(RaidField.HEAVY_ODDS)
_SWING_WIDTH = int(RaidField.SWING_WIDTH)
_SWING_ZERO = int(RaidField.SWING_ZERO)

_DID = int(RaidOutcome.DAMAGE)
_DID_NOT = int(RaidOutcome.NO_DAMAGE)

_A_BATTLES = int(RaidAccumulator.BATTLES)
_A_OUTCOMES = int(RaidAccumulator.OUTCOMES)
_A_CYCLES = int(RaidAccumulator.CYCLES)
_A_ATTACKER_LOST = int(RaidAccumulator.ATTACKER_LOST)
_A_DEFENDER_LOST = int(RaidAccumulator.DEFENDER_LOST)
_A_SWING = int(RaidAccumulator.SWING)
_A_DAMAGE = int(RaidAccumulator.DAMAGE)
_A_HISTOGRAM = int(RaidAccumulator.HISTOGRAM)
_A_SURVIVORS = int(RaidAccumulator.SURVIVORS)


@part
def _draw(table, key, numbers, cycles, words, dice, hits, point, trace, script):
    """Decide one draw point in all raids of a chunk and add its hits; returns a `Status`.

    Parameters
    ----------
    numbers, cycles, words, dice, hits : arrays (B,)
        Battle numbers, the cycle of the address, scratch, dice of each raid, output.
    point : tuple of int64
        Step, side, group, index of the odds, sure hits (told only).
    """
    step, side, group, odds, sure = point
    n = len(numbers)
    thrown = np.int64(dice[0])
    scripted = False
    if script is not None:
        scripted = script.shape[0] > 1
    first_row = table.first_row[odds]
    earlier = hits[0]
    if scripted:
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
                    emit(trace, _DRAW, cycles[0], step, side, group, thrown, odds, UNDECIDED, sure)
                return status
            hits[0] += script[at]
    else:
        fill_words(words, numbers, cycles, 0, n, draw_tag(0, step, side, group), key[0], key[1])
        for i in range(n):
            hits[i] += draw_hits(words[i], first_row + dice[i], table.bounds, table.offset, table.guide)
    if trace is not None and (thrown > 0 or sure > 0):
        emit(trace, _DRAW, cycles[0], step, side, group, thrown, odds, hits[0] - earlier, sure)
    return _OK


@part
def _lose(raids, row, side, alive, hits, cycle, step, trace):
    """Remove one aircraft per hit along a side's order of loss."""
    for p in range(alive.shape[1]):
        before = alive[side, p, 0]
        for i in range(alive.shape[2]):
            lost = absorb(alive[side, p, i], hits[i])
            alive[side, p, i] -= lost
            hits[i] -= lost
        if trace is not None and before > alive[side, p, 0]:
            emit(trace, _LOSS, cycle, step, side, raids.types[row, side, p], before - alive[side, p, 0], 0, 0, 0)


@part
def _fight_in_the_air(raids, row, table, key, state, trace, script):
    """Let interceptors, escorts and bombers fire once, all at the same value (GC-2.3:sbr_air_battle)."""
    numbers, cycles, words, dice, hits, alive, fought = state
    rules = raids.rules[row]
    n = len(numbers)
    scored = np.zeros((2, n), dtype=np.int64)
    for i in range(n):
        cycles[i] = 1
    for side in range(2):
        hits[:] = 0
        points = np.zeros(n, dtype=np.int64)
        for t in (_FIGHTER, _TAC, _BOMBER):
            for p in range(alive.shape[1]):
                if raids.types[row, side, p] != t:
                    continue
                for i in range(n):
                    # Without interceptors nobody fires.
                    dice[i] = alive[side, p, i] * fought[i]
                odds = rules[_AIR_BATTLE_ODDS]
                if rules[_LOW_LUCK_COMBAT] != 0:
                    for i in range(n):
                        points[i] += dice[i] * raids.odds[odds, 0]
                    if trace is not None and dice[0] > 0:
                        emit(trace, _DRAW, np.int64(1), _ATTACK + side, side, t, dice[0], odds, POOLED, 0)
                    continue
                point = (np.int64(_ATTACK + side), np.int64(side), np.int64(t), odds, np.int64(0))
                status = _draw(table, key, numbers, cycles, words, dice, hits, point, trace, script)
                if status != _OK:
                    return status
        if rules[_LOW_LUCK_COMBAT] != 0:
            status = _draw_pool(
                raids, row, table, key, state, points, _ATTACK + side, side, np.int64(_REMAINDER), trace, script
            )
            if status != _OK:
                return status
        scored[side, :] = hits
    for side in range(2):
        hits[:] = scored[1 - side]
        _lose(raids, row, side, alive, hits, np.int64(1), _ATTACK + 1 - side, trace)
    return _OK


@part
def _draw_pool(raids, row, table, key, state, points, step, side, group, trace, script):
    """Turn low-luck points into sure hits and one die for the rest."""
    numbers, cycles, words, dice, hits, _, _ = state
    rules = raids.rules[row]
    per_hit = rules[_SIDES]
    remainder = rules[_REMAINDER_ODDS]
    for i in range(len(numbers)):
        hits[i] += points[i] // per_hit
        # A run of odds 0/s, 1/s, ... has two table rows each, for no die and for one.
        rest = points[i] % per_hit
        dice[i] = 2 * rest + (1 if rest > 0 else 0)
    rest = points[0] % per_hit
    sure = points[0] // per_hit
    if script is not None or trace is not None:  # one raid: told with its own odds
        dice[0] = 1 if rest > 0 else 0
        remainder += rest
    point = (np.int64(step), np.int64(side), np.int64(group), remainder, sure)
    return _draw(table, key, numbers, cycles, words, dice, hits, point, trace, script)


@part
def _fire_at_bombers(raids, row, table, key, state, trace, script):
    """Antiaircraft fire: one die for each bomber left, rolled by type (GC-6.1, GC-4.0.2)."""
    numbers, cycles, words, dice, hits, alive, _ = state
    rules = raids.rules[row]
    n = len(numbers)
    cycles[:] = 0
    for t in (_TAC, _BOMBER):
        for p in range(alive.shape[1]):
            if raids.types[row, 0, p] != t:
                continue
            hits[:] = 0
            odds = rules[_AA_ODDS]
            if rules[_LOW_LUCK_AA] != 0:
                points = np.zeros(n, dtype=np.int64)
                for i in range(n):
                    points[i] = np.int64(alive[0, p, i]) * raids.odds[odds, 0]
                status = _draw_pool(raids, row, table, key, state, points, _AA_FIRE, 1, np.int64(t), trace, script)
            else:
                for i in range(n):
                    dice[i] = alive[0, p, i]
                point = (np.int64(_AA_FIRE), np.int64(1), np.int64(t), odds, np.int64(0))
                status = _draw(table, key, numbers, cycles, words, dice, hits, point, trace, script)
            if status != _OK:
                return status
            before = alive[0, p, 0]
            for i in range(n):
                alive[0, p, i] -= absorb(alive[0, p, i], hits[i])
            if trace is not None and before > alive[0, p, 0]:
                emit(trace, _LOSS, 0, _AA_FIRE, 0, t, before - alive[0, p, 0], 0, 0, 0)
    return _OK


@part
def _throw_damage(raids, row, table, key, state, left, group, first_odds, damage, trace, script):
    """Add what `left` dice show: face by face from the highest, each a share of the dice not yet assigned."""
    numbers, cycles, words, dice, hits, _, _ = state
    faces = raids.rules[row, _SIDES]
    for face in range(faces, 1, -1):
        for i in range(len(numbers)):
            dice[i] = left[i]
        hits[:] = 0
        point = (np.int64(_DAMAGE_STEP), np.int64(0), np.int64(group + face), first_odds + face - 2, np.int64(0))
        status = _draw(table, key, numbers, cycles, words, dice, hits, point, trace, script)
        if status != _OK:
            return status
        for i in range(len(numbers)):
            damage[i] += hits[i] * face
            left[i] -= hits[i]
    for i in range(len(numbers)):
        damage[i] += left[i]
    return _OK


@part
def _bomb(raids, row, table, key, state, damage, trace, script):
    """Roll the damage of the bombers left: dice, bonus, cap (GC-6.1, GC-6.2, GC-2.3:sbr_bonus)."""
    numbers, cycles, _, _, _, alive, _ = state
    rules = raids.rules[row]
    n = len(numbers)
    cycles[:] = 1
    best = rules[_BEST_OF_TWO] != 0
    plain = np.zeros(n, dtype=np.int64)
    heavy = np.zeros(n, dtype=np.int64)
    bombers = np.zeros(n, dtype=np.int64)
    for p in range(alive.shape[1]):
        t = np.int64(raids.types[row, 0, p])
        for i in range(n):
            if t == _BOMBER:
                bombers[i] = alive[0, p, i]
                if best:
                    heavy[i] = alive[0, p, i]
                else:
                    plain[i] += alive[0, p, i] * rules[_DICE_PER_BOMBER]
            elif t == _TAC:
                plain[i] += alive[0, p, i]
    status = _throw_damage(raids, row, table, key, state, plain, 0, rules[_FACE_ODDS], damage, trace, script)
    if status == _OK and best:
        first = rules[_HEAVY_ODDS]
        status = _throw_damage(raids, row, table, key, state, heavy, HEAVY_GROUP, first, damage, trace, script)
    for i in range(n):
        damage[i] = raid_damage(damage[i] + rules[_BONUS] * bombers[i], rules[_ROOM])
    return status


@part
def _tally(raids, row, alive, damage, fought, acc):
    """Add the finished raids of a chunk to the accumulators."""
    n = len(damage)
    acc[_A_BATTLES] = n
    for i in range(n):
        outcome = _DID if damage[i] > 0 else _DID_NOT
        lost = np.zeros(2, dtype=np.int64)
        column = _A_SURVIVORS + outcome * 2 * _N_TYPES
        for side in range(2):
            for p in range(alive.shape[1]):
                t = np.int64(raids.types[row, side, p])
                if t >= 0:
                    left = np.int64(alive[side, p, i])
                    lost[side] += (raids.counts[row, side, p] - left) * raids.costs[row, side, p]
                    acc[column + side * _N_TYPES + t] += left
        swing = lost[1] - lost[0]
        acc[_A_OUTCOMES + outcome] += 1
        acc[_A_CYCLES] += fought[i]
        acc[_A_CYCLES + 1] += fought[i]
        acc[_A_ATTACKER_LOST] += lost[0]
        acc[_A_ATTACKER_LOST + 1] += lost[0] * lost[0]
        acc[_A_DEFENDER_LOST] += lost[1]
        acc[_A_DEFENDER_LOST + 1] += lost[1] * lost[1]
        acc[_A_SWING] += swing
        acc[_A_SWING + 1] += swing * swing
        acc[raids.rules[row, _SWING_ZERO] + swing_bin(swing, raids.rules[row, _SWING_WIDTH])] += 1
        acc[_A_DAMAGE] += damage[i]
        acc[_A_DAMAGE + 1] += damage[i] * damage[i]
        acc[_A_HISTOGRAM + min(damage[i], HISTOGRAM - 1)] += 1


@part
def _record(raids, row, alive, damage, fought, records):
    """Write each raid of a chunk to `records`."""
    for i in range(len(damage)):
        records.outcome[i] = _DID if damage[i] > 0 else _DID_NOT
        records.cycles[i] = fought[i]
        records.damage[i] = damage[i]
        for side in range(2):
            for p in range(alive.shape[1]):
                t = np.int64(raids.types[row, side, p])
                if t >= 0:
                    left = np.int64(alive[side, p, i])
                    records.survivors[i, side, t] += left
                    records.cost_lost[i, side] += (raids.counts[row, side, p] - left) * raids.costs[row, side, p]


@part
def resolve_raids(s, segments, raids, table, keys, tallies, status, where, records, trace, script):
    """Resolve one run of raids of one matchup (GC-6.1, GC-6.2).

    Parameters
    ----------
    s : int64
        Row of `segments`, `tallies`, `status` and `where`.
    segments : int64 (N, 4)
        Matchup row, first battle, number of battles, unused.
    raids : Raids
        Encoded scenarios.
    table : DiceTable
        Dice tables of `raids.odds`.
    keys : uint64 (M, 2)
    tallies : int64 (N, K + BINS)
        Output: accumulators, and counts of swings behind them.
    status : uint8 (N,), where : int64 (N,)
        Output.
    records : RaidRecords or None
        Output: single raids, of one segment.
    trace, script : arrays or None
        As in `kernel.resolve_chunk`; with a single raid.
    """
    row = segments[s, 0]
    n = segments[s, 2]
    key = keys[row]
    places = raids.counts.shape[2]
    numbers = np.empty(n, dtype=np.uint64)
    alive = np.empty((2, places, n), dtype=np.int32)
    fought = np.zeros(n, dtype=np.int64)
    damage = np.zeros(n, dtype=np.int64)
    interceptors = np.int64(0)
    raiders = np.int64(0)
    for p in range(places):
        raiders += raids.counts[row, 0, p]
        interceptors += raids.counts[row, 1, p]
        for i in range(n):
            for side in range(2):
                alive[side, p, i] = raids.counts[row, side, p]
    for i in range(n):
        numbers[i] = np.uint64(segments[s, 1] + i)
        fought[i] = 1 if raids.rules[row, _AIR_BATTLE] != 0 and interceptors > 0 and raiders > 0 else 0
    words = np.empty(n, dtype=np.uint64)
    dice = np.zeros(n, dtype=np.int64)
    hits = np.zeros(n, dtype=np.int64)
    cycles = np.zeros(n, dtype=np.int64)
    state = (numbers, cycles, words, dice, hits, alive, fought)
    code = _OK
    if fought[0] != 0:
        code = _fight_in_the_air(raids, row, table, key, state, trace, script)
    if code == _OK and raids.rules[row, _AA_FIRES] != 0:
        code = _fire_at_bombers(raids, row, table, key, state, trace, script)
    if code == _OK:
        code = _bomb(raids, row, table, key, state, damage, trace, script)
    if code != _OK:
        status[s] = code
        where[s] = segments[s, 1]
        return
    if trace is not None:
        emit(trace, _END, fought[0], _DAMAGE_STEP, 0, _DID if damage[0] > 0 else _DID_NOT, damage[0], 0, 0, 0)
    if records is not None:
        _record(raids, row, alive, damage, fought, records)
    _tally(raids, row, alive, damage, fought, tallies[s])
    status[s] = _OK


@kernel
def resolve_all_raids(segments, raids, table, keys, tallies, status, where, records, trace, script):
    """Resolve all segments one after the other; arguments as in `resolve_raids`."""
    for s in range(len(segments)):
        resolve_raids(np.int64(s), segments, raids, table, keys, tallies, status, where, records, trace, script)
