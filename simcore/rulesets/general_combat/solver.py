"""Exact solver of battles on land and of landings: every state and its probability, from the sampler's own steps.

A side's state is what the order of loss has left of it, so each further hit leads to one next state. One cycle
moves the attacker by the defender's hits and the defender by the attacker's, and both numbers are independent
given the state: the probabilities of all defenders' states beside one state of the attacker move on as a
product of two distributions. States in which nobody is hit lead back to themselves; that loop is divided
out, so no number of cycles bounds a battle.

Before a battle runs in this steady way some cycles may differ: the first one, after a bombardment, and those
that a retreat after n cycles or a cycle limit counts. They are gone through one by one.
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
    LossForm,
    Outcome,
    RowField,
    UnitType,
)
from simcore.rulesets.general_combat.landing import break_off, muster_attackers
from simcore.rulesets.general_combat.lane import AA_GUN, count_dice, is_aircraft, is_land, plan_matchup, remove
from simcore.rulesets.general_combat.steps import (
    conclude,
    conclude_landing,
    condition_a,
    leaving_units,
    may_leave_assault,
    may_retreat,
    wants_retreat,
)
from simcore.schema import MAX_STATES

__all__ = ["solve_all", "solve_land"]

_OK = int(Status.OK)
_CAPACITY = int(Status.CAPACITY)

_N_TYPES = len(UnitType)
_ROWS = 2 * MAX_LOSS_GROUPS + 1
_LANDED = int(LossForm.LANDED)
_ELSEWHERE = int(LossForm.ELSEWHERE)

_AA_ODDS = int(RowField.AA_ODDS)
_AA_OWNER_PICKS = int(RowField.AA_OWNER_PICKS)
_GUNS_ARE_UNITS = int(RowField.GUNS_ARE_UNITS)
_LOW_LUCK_COMBAT = int(RowField.LOW_LUCK_COMBAT)
_LOW_LUCK_AA = int(RowField.LOW_LUCK_AA)
_POINTS = (int(RowField.ATTACK_POINTS), int(RowField.DEFENCE_POINTS))
_PER_ARTILLERY = int(RowField.PER_ARTILLERY)
_LIMIT = int(RowField.CYCLE_LIMIT)
_POSSIBLE = int(RowField.RETREAT_POSSIBLE)
_AFTER = int(RowField.RETREAT_AFTER_CYCLES)
_AT_MOST = int(RowField.RETREAT_UNITS_AT_MOST)
_ONLY_AIRCRAFT = int(RowField.RETREAT_ONLY_AIRCRAFT)
_ONLY_AIRCRAFT_LEAVE = int(RowField.ONLY_AIRCRAFT_LEAVE)
_LANDING = int(RowField.LANDING)
_RETURN_FIRE = int(RowField.RETURN_FIRE)
_BOMBARDING = int(RowField.BOMBARDING)
_BOMBARD_ODDS = int(RowField.BOMBARD_ODDS)
_N_BOMBARDERS = _BOMBARD_ODDS - _BOMBARDING
_VALUE = int(RowField.TERRITORY_VALUE)
_TREASURY = int(RowField.TREASURY)
_CAPTURABLE_GUNS = int(RowField.CAPTURABLE_GUNS)
_CAPTURABLE_COMPLEXES = int(RowField.CAPTURABLE_COMPLEXES)

_N_OUTCOMES = len(Outcome)
_WINS = int(Outcome.ATTACKER_WINS)
_CLEARS = int(Outcome.ATTACKER_CLEARS)
_RETREATS = int(Outcome.ATTACKER_RETREATS)
_UNFINISHED = int(Outcome.UNFINISHED)
_GOES_ON = -1

_A_BATTLES = int(Accumulator.BATTLES)
_A_OUTCOMES = int(Accumulator.OUTCOMES)
_A_CYCLES = int(Accumulator.CYCLES)
_A_ATTACKER_LOST = int(Accumulator.ATTACKER_LOST)
_A_DEFENDER_LOST = int(Accumulator.DEFENDER_LOST)
_A_SWING = int(Accumulator.SWING)
_A_CAPTURED = int(Accumulator.CAPTURED)
_A_RETREATED = int(Accumulator.RETREATED)
_A_BOMBARD_HITS = int(Accumulator.BOMBARD_HITS)
_A_SURVIVORS = int(Accumulator.SURVIVORS)

_TAIL = 1e-17
"""Probability that may be cut off at either end of a distribution of hits in one state."""
_SPECK = 1e-22
"""Products of probabilities below this are dropped."""
_REMNANT = 1e-16
_MOST_HITS = 1 << 26
"""Most entries of the attacker's table of hits: half a gigabyte."""


class _Side(NamedTuple):
    """States of one side. N states, G lane rows, H numbers of hits.

    Attributes
    ----------
    units : int16 (N, G)
        Units of each row.
    after : int32 (N,)
        State after one more hit.
    left : int32 (N,)
        State after those who may have left an assault, -1 if nobody leaves.
    board, land, standing, guns : int32 (N,)
        Units on the board, land units among them, combat units, AAA units.
    aircraft, overland : int32 (N,)
    lost : int64 (N,)
        Cost lost.
    hits : float64 (N, H)
        Distribution of the hits that the side scores in a cycle.
    most : int32 (N,)
        Most hits.
    """

    units: Any
    after: Any
    left: Any
    board: Any
    land: Any
    standing: Any
    guns: Any
    aircraft: Any
    overland: Any
    lost: Any
    hits: Any
    most: Any


@kernel
def _new_side(states, most):
    return _Side(
        units=np.zeros((states, MAX_LOSS_GROUPS), dtype=np.int16),
        after=np.full(states, -1, dtype=np.int32),
        left=np.full(states, -1, dtype=np.int32),
        board=np.zeros(states, dtype=np.int32),
        land=np.zeros(states, dtype=np.int32),
        standing=np.zeros(states, dtype=np.int32),
        guns=np.zeros(states, dtype=np.int32),
        aircraft=np.zeros(states, dtype=np.int32),
        overland=np.zeros(states, dtype=np.int32),
        lost=np.zeros(states, dtype=np.int64),
        hits=np.zeros((states, most + 1), dtype=np.float64),
        most=np.zeros(states, dtype=np.int32),
    )


@kernel
def _most_hits(plan, side, start):
    """Most dice that a side could ever roll in a cycle."""
    total = np.int64(0)
    for k in range(plan.n_slots[side]):
        t = plan.slots[side, k, 0]
        total += start[t] * plan.slots[side, k, 4]
    return total


@kernel
def _read_units(plan, side, units, state, alive):
    base = plan.groups[side, 0]
    for g in range(plan.groups[side, 0], plan.groups[side, 1]):
        alive[g, 0] = units[state, g - base]


@kernel
def _key(plan, side, radix, alive):
    base = plan.groups[side, 0]
    key = np.int64(0)
    for g in range(plan.groups[side, 0], plan.groups[side, 1]):
        key += radix[g - base] * alive[g, 0]
    return key


@kernel
def _add_state(plan, side, states, table, radix, n, alive):
    """Return the index of the state on `alive`, which is a new one if it equals the first return value."""
    if n >= len(states.after):
        return np.int64(-1)
    keys, places = table
    at = find_or_add(keys, places, _key(plan, side, radix, alive), n)
    if at == n:
        base = plan.groups[side, 0]
        for g in range(plan.groups[side, 0], plan.groups[side, 1]):
            states.units[n, g - base] = alive[g, 0]
    return at


@kernel
def _describe(rules, plan, odds, side, states, i, alive, doomed, dice, scratch):
    """Count the units of state `i`, what is lost in it, and the distribution of the hits it scores."""
    _read_units(plan, side, states.units, i, alive)
    lost = np.int64(0)
    for g in range(plan.groups[side, 0], plan.groups[side, 1]):
        n = np.int64(alive[g, 0])
        lost += (plan.start[g] - n) * plan.cost[g]
        if plan.form[g] == _ELSEWHERE:
            continue
        t = plan.kind[g]
        states.board[i] += n
        if t == AA_GUN:
            states.guns[i] += n
        else:
            states.standing[i] += n
        if is_land(t):
            states.land[i] += n
            if plan.form[g] != _LANDED:
                states.overland[i] += n
        elif is_aircraft(t):
            states.aircraft[i] += n
    states.lost[i] = lost
    units = alive
    if side == 0 and rules[_LANDING] != 0:
        muster_attackers(plan, alive, 1, doomed)
        units = doomed
    first, second, third = scratch
    n = np.int64(0)
    first[0] = 1.0
    points = np.int64(0)
    per_hit = rules[_POINTS[side]]
    for k in range(plan.n_slots[side]):
        slot = plan.slots[side, k]
        count_dice(units, 1, side, slot, rules[_PER_ARTILLERY], plan.kind, plan.first, plan.second, dice)
        thrown = np.int64(dice[0])
        if thrown == 0:
            continue
        numerator = odds[slot[2], 0]
        denominator = odds[slot[2], 1]
        if rules[_LOW_LUCK_COMBAT] != 0:
            points += thrown * numerator * (per_hit // denominator)
            continue
        binomial(thrown, numerator, denominator, second)
        convolve(first, n, second, thrown, third)
        n += thrown
        for h in range(n + 1):
            first[h] = third[h]
    if points > 0:
        n = two_point(points, per_hit, first)
    states.most[i] = n
    for h in range(n + 1):
        states.hits[i, h] = first[h]


@kernel
def _fire_aa(rules, plan, odds, states, table, radix, alive, hits, scratch, starts, chances):
    """Find the states after antiaircraft fire and their probabilities (GC-4.0.1 to GC-4.0.3).

    Returns the number of states and the number of starts; -1 states for too many.
    """
    for g in range(plan.groups[0, 0], plan.groups[0, 1]):
        alive[g, 0] = plan.start[g]
    _add_state(plan, 0, states, table, radix, 0, alive)
    n = np.int64(1)
    n_starts = np.int64(1)
    starts[0] = 0
    chances[0] = 1.0
    owner_picks = rules[_AA_OWNER_PICKS] != 0
    pmf = scratch[0]
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
                hits[0, 0] = scored
                for g in range(plan.board[0, 0], plan.board[0, 1]):
                    if is_aircraft(plan.kind[g]) if owner_picks else plan.kind[g] == t:
                        remove(alive, g, g + 1, 0, 1, hits, 0)
                at = _add_state(plan, 0, states, table, radix, n, alive)
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


@kernel
def _list_attackers(rules, plan, odds, states, table, radix, n, alive, doomed, dice, hits, scratch):
    """Complete the attacker's states: those after hits, and those after some have left; returns their number."""
    # Only where a policy may ask for it do some leave while others stay.
    in_part = rules[_LANDING] != 0 and rules[_AFTER] + rules[_AT_MOST] + rules[_ONLY_AIRCRAFT] > 0
    i = np.int64(0)
    while i < n:
        _describe(rules, plan, odds, 0, states, i, alive, doomed, dice, scratch)
        if states.board[i] == 0:
            states.after[i] = i
            i += 1
            continue
        _read_units(plan, 0, states.units, i, alive)
        hits[0, 0] = 1
        remove(alive, plan.board[0, 0], plan.board[0, 1], 0, 1, hits, 0)
        at = _add_state(plan, 0, states, table, radix, n, alive)
        if at < 0:
            return at
        n = max(n, at + 1)
        states.after[i] = at
        if in_part:
            only = rules[_ONLY_AIRCRAFT_LEAVE]
            aircraft = np.int64(states.aircraft[i])
            overland = np.int64(states.overland[i])
            leaving = leaving_units(aircraft, overland, only)
            if 0 < leaving < states.board[i] and may_leave_assault(rules[_POSSIBLE], aircraft, overland, only):
                _read_units(plan, 0, states.units, i, alive)
                break_off(plan, alive, 0, only)
                at = _add_state(plan, 0, states, table, radix, n, alive)
                if at < 0:
                    return at
                n = max(n, at + 1)
                states.left[i] = at
        i += 1
    return n


@kernel
def _list_defenders(rules, plan, odds, states, alive, doomed, dice, hits, scratch):
    """List the defender's states, one for each number of hits; returns their number."""
    base = plan.groups[1, 0]
    n = np.int64(0)
    for g in range(plan.groups[1, 0], plan.groups[1, 1]):
        n += plan.start[g]
    for d in range(n + 1):
        for g in range(plan.groups[1, 0], plan.groups[1, 1]):
            alive[g, 0] = plan.start[g]
        hits[0, 0] = d
        remove(alive, plan.board[1, 0], plan.board[1, 1], 0, 1, hits, 0)
        for g in range(plan.groups[1, 0], plan.groups[1, 1]):
            states.units[d, g - base] = alive[g, 0]
        states.after[d] = min(d + 1, n)
        _describe(rules, plan, odds, 1, states, d, alive, doomed, dice, scratch)
    return n + 1


@kernel
def _bombarded(plan, enemy, d, firing):
    """Defenders of state `firing` that state `d` lacks, as far as they can still fire (GC-5.5)."""
    base = plan.groups[1, 0]
    total = np.int64(0)
    for g in range(plan.groups[1, 0], plan.groups[1, 1]):
        if plan.armed[g] != 0:
            total += enemy.units[firing, g - base] - enemy.units[d, g - base]
    return total


@kernel
def _test_a(rules, own, enemy, a, d, firing, bombarded, cycle, retreated):
    """Test condition A with the defenders of state `firing` able to fire; returns an outcome or `_GOES_ON`."""
    standing = np.int64(enemy.standing[d]) + bombarded
    if condition_a(np.int64(own.board[a]), standing, own.most[a], enemy.most[firing]):
        guns = np.int64(enemy.guns[d]) if rules[_GUNS_ARE_UNITS] != 0 else np.int64(0)
        outcome = np.int64(
            conclude(cycle, np.int64(own.board[a]), np.int64(own.land[a]), np.int64(enemy.standing[d]), guns)
        )
        if rules[_LANDING] != 0:
            return np.int64(conclude_landing(outcome, retreated))
        return outcome
    return np.int64(_GOES_ON)


@kernel
def _arrive(rules, plan, own, enemy, a, d, cycle):
    """Step 6 in a state after some cycle: returns the outcome or `_GOES_ON`, and the attacker's state (GC-4.6.1)."""
    outcome = _test_a(rules, own, enemy, a, d, d, np.int64(0), cycle, _elsewhere(plan, own, a))
    if outcome != _GOES_ON:
        return outcome, a
    board = np.int64(own.board[a])
    land = np.int64(own.land[a])
    if wants_retreat(cycle, board, land, rules[_AFTER], rules[_AT_MOST], rules[_ONLY_AIRCRAFT]):
        if rules[_LANDING] == 0:
            if may_retreat(rules[_POSSIBLE], land):
                return np.int64(_RETREATS), a
        else:
            only = rules[_ONLY_AIRCRAFT_LEAVE]
            aircraft = np.int64(own.aircraft[a])
            overland = np.int64(own.overland[a])
            if may_leave_assault(rules[_POSSIBLE], aircraft, overland, only):
                if leaving_units(aircraft, overland, only) == board:
                    return np.int64(_RETREATS), a
                a = np.int64(own.left[a])
                outcome = _test_a(rules, own, enemy, a, d, d, np.int64(0), cycle, _elsewhere(plan, own, a))
                if outcome != _GOES_ON:
                    return outcome, a
    if cycle == rules[_LIMIT]:
        return np.int64(_UNFINISHED), a
    return np.int64(_GOES_ON), a


@kernel
def _elsewhere(plan, own, a):
    """Units that have left the battle in an attacker's state."""
    base = plan.groups[0, 0]
    total = np.int64(0)
    for g in range(plan.board[0, 1], plan.groups[0, 1]):
        total += own.units[a, g - base]
    return total


@kernel
def _spread(own, enemy, a, firing, d, visits, stamps, own_tail, out, out_stamps):
    """Let the states (a, d) fight one cycle, the defenders of `firing` being those who fire.

    Adds ``visits`` times the probability of each pair of hits to `out`, and ``stamps`` times it to `out_stamps`.
    """
    last = out.shape[1] - 1
    scored = own.hits[a]
    most = np.int64(own.most[a])
    low, high = window(scored, most, _TAIL)
    for h in range(most + 1):
        own_tail[h] = 0.0
    mass = 0.0
    for h in range(most, -1, -1):
        mass += scored[h]
        own_tail[h] = mass
    suffered = enemy.hits[firing]
    most_suffered = np.int64(enemy.most[firing])
    first, final = window(suffered, most_suffered, _TAIL)
    room = last - d
    upto = min(high, room - 1)
    state = np.int64(a)
    rest = 1.0
    for k in range(final + 1):
        q = suffered[k]
        gone = own.board[state] == 0
        if gone:
            # Nobody is left to lose: all further hits find nobody.
            q = rest
        rest -= suffered[k]
        if k >= first or gone:
            c = visits * q
            if c > _SPECK:
                w = stamps * q
                row = out[state]
                row_stamps = out_stamps[state]
                for h in range(low, upto + 1):
                    row[d + h] += c * scored[h]
                    row_stamps[d + h] += w * scored[h]
                if room <= high:
                    row[last] += c * own_tail[room]
                    row_stamps[last] += w * own_tail[room]
        if gone:
            break
        state = np.int64(own.after[state])


@kernel
def _book(rules, own, enemy, a, d, outcome, chance, ends_own, ends_enemy, acc):
    """Book the probability of an end."""
    lost = float(enemy.lost[d])
    ends_own[outcome, a] += chance
    ends_enemy[outcome, d] += chance
    swept = rules[_GUNS_ARE_UNITS] != 0 and (outcome == _WINS or outcome == _CLEARS)
    if swept:
        lost = float(enemy.lost[len(enemy.after) - 1])
    acc[_A_SWING + 1] -= 2.0 * chance * float(own.lost[a]) * lost


@kernel
def _fold(plan, rules, own, enemy, n_own, n_enemy, ends_own, ends_enemy, acc):
    """Turn the probabilities of the ends into accumulators."""
    for o in range(_N_OUTCOMES):
        column = _A_SURVIVORS + o * 2 * _N_TYPES
        swept = rules[_GUNS_ARE_UNITS] != 0 and (o == _WINS or o == _CLEARS)
        for a in range(n_own):
            p = ends_own[o, a]
            if p == 0.0:
                continue
            acc[_A_BATTLES] += p
            acc[_A_OUTCOMES + o] += p
            lost = float(own.lost[a])
            acc[_A_ATTACKER_LOST] += p * lost
            acc[_A_ATTACKER_LOST + 1] += p * lost * lost
            base = plan.groups[0, 0]
            for g in range(plan.groups[0, 0], plan.groups[0, 1]):
                acc[column + plan.kind[g]] += p * own.units[a, g - base]
            acc[_A_RETREATED] += p * _elsewhere(plan, own, a)
        for d in range(n_enemy):
            p = ends_enemy[o, d]
            if p == 0.0:
                continue
            lost = float(enemy.lost[n_enemy - 1] if swept else enemy.lost[d])
            acc[_A_DEFENDER_LOST] += p * lost
            acc[_A_DEFENDER_LOST + 1] += p * lost * lost
            base = plan.groups[1, 0]
            for g in range(plan.groups[1, 0], plan.groups[1, 1]):
                if not (swept and plan.kind[g] == AA_GUN):
                    acc[column + _N_TYPES + plan.kind[g]] += p * enemy.units[d, g - base]
    acc[_A_SWING] = acc[_A_DEFENDER_LOST] - acc[_A_ATTACKER_LOST]
    acc[_A_SWING + 1] += acc[_A_DEFENDER_LOST + 1] + acc[_A_ATTACKER_LOST + 1]
    wins = acc[_A_OUTCOMES + _WINS]
    acc[_A_CAPTURED] = wins
    acc[_A_CAPTURED + 1] = wins * rules[_VALUE]
    acc[_A_CAPTURED + 2] = wins * rules[_CAPTURABLE_GUNS]
    acc[_A_CAPTURED + 3] = wins * rules[_CAPTURABLE_COMPLEXES]
    acc[_A_CAPTURED + 4] = wins * rules[_TREASURY]


@kernel
def _bombardment(rules, odds, scratch):
    """Fill the first scratch row with the distribution of the bombardment's hits; returns the most hits."""
    first, second, third = scratch
    first[0] = 1.0
    n = np.int64(0)
    points = np.int64(0)
    per_hit = rules[_POINTS[0]]
    for k in range(_N_BOMBARDERS):
        thrown = rules[_BOMBARDING + k]
        if thrown == 0:
            continue
        o = rules[_BOMBARD_ODDS + k]
        if rules[_LOW_LUCK_COMBAT] != 0:
            points += thrown * odds[o, 0] * (per_hit // odds[o, 1])
            continue
        binomial(thrown, odds[o, 0], odds[o, 1], second)
        convolve(first, n, second, thrown, third)
        n += thrown
        for h in range(n + 1):
            first[h] = third[h]
    if points > 0:
        n = two_point(points, per_hit, first)
    return n


@kernel
def solve_land(s, rows, battles, capacity, tallies, status, reached):
    """Solve one battle on land or landing exactly.

    Parameters
    ----------
    s : int64
        Entry of `rows`, `tallies`, `status` and `reached`.
    rows : int64 (N,)
        Matchup rows.
    battles : Battles
    capacity : int64
        Most states of the attacker.
    tallies : float64 (N, K)
        Output: expected accumulators of one battle.
    status : uint8 (N,)
        Output: CAPACITY when there are more states than allowed.
    reached : int64 (N,)
        Output: number of states.
    """
    row = rows[s]
    rules = battles.rules[row]
    odds = battles.odds
    plan = plan_matchup(battles, row)
    acc = tallies[s]
    alive = np.zeros((_ROWS, 1), dtype=np.int32)
    doomed = np.zeros((_ROWS, 1), dtype=np.int32)
    dice = np.zeros(1, dtype=np.int32)
    hits = np.zeros((1, 1), dtype=np.int32)
    most_own = np.int64(_most_hits(plan, 0, battles.counts[row, 0]))
    most_enemy = np.int64(_most_hits(plan, 1, battles.counts[row, 1]))
    bombs = np.int64(0)
    for k in range(_N_BOMBARDERS):
        bombs += rules[_BOMBARDING + k]
    units_own = np.int64(0)
    radix = np.ones(MAX_LOSS_GROUPS, dtype=np.int64)
    base = plan.groups[0, 0]
    for g in range(plan.groups[0, 0], plan.groups[0, 1]):
        units_own += plan.start[g]
    step = np.int64(1)
    for g in range(plan.groups[0, 0], plan.groups[0, 1]):
        radix[g - base] = step
        size = plan.start[g] + 1
        if plan.form[g] == _ELSEWHERE:
            size = np.int64(battles.counts[row, 0, plan.kind[g]]) + 1
        if step > (np.int64(1) << 62) // size:
            status[s] = _CAPACITY
            return
        step *= size
    width = max(most_own, most_enemy, bombs, units_own) + 2
    scratch = (np.zeros(width), np.zeros(width), np.zeros(width))
    n_enemy = np.int64(1)
    for g in range(plan.groups[1, 0], plan.groups[1, 1]):
        n_enemy += plan.start[g]
    if capacity * (most_own + 1) > _MOST_HITS:
        status[s] = _CAPACITY
        return
    own = _new_side(capacity, most_own)
    enemy = _new_side(n_enemy, most_enemy)
    slots = np.int64(16)
    while slots < 2 * capacity + 2:
        slots *= 2
    table = new_table(slots)
    starts = np.zeros(2 * capacity + 2, dtype=np.int64)
    chances = np.zeros(2 * capacity + 2)
    n_own, n_starts = _fire_aa(rules, plan, odds, own, table, radix, alive, hits, scratch, starts, chances)
    if n_own >= 0:
        n_own = _list_attackers(rules, plan, odds, own, table, radix, n_own, alive, doomed, dice, hits, scratch)
    if n_own < 0:
        status[s] = _CAPACITY
        return
    _list_defenders(rules, plan, odds, enemy, alive, doomed, dice, hits, scratch)
    reached[s] = n_own * n_enemy
    if n_own * n_enemy > MAX_STATES:
        status[s] = _CAPACITY
        return
    ends_own = np.zeros((_N_OUTCOMES, n_own))
    ends_enemy = np.zeros((_N_OUTCOMES, n_enemy))
    now = np.zeros((n_own, n_enemy))
    then = np.zeros((n_own, n_enemy))
    stamps = np.zeros((n_own, n_enemy))
    own_tail = np.zeros(width)
    most_bombs = _bombardment(rules, odds, scratch)
    bombed = scratch[0][: most_bombs + 1].copy()
    for b in range(most_bombs + 1):
        acc[_A_BOMBARD_HITS] += b * bombed[b]
    # Before cycle 1, and the first cycle itself, in which units hit by the bombardment may still fire.
    for i in range(n_starts):
        origin = starts[i]
        for b in range(most_bombs + 1):
            chance = chances[i] * bombed[b]
            if chance == 0.0:
                continue
            struck = min(np.int64(b), n_enemy - 1)
            firing = np.int64(0) if rules[_RETURN_FIRE] != 0 else struck
            hit = _bombarded(plan, enemy, struck, firing)
            outcome = _test_a(rules, own, enemy, origin, struck, firing, hit, 0, np.int64(0))
            if outcome != _GOES_ON:
                _book(rules, own, enemy, origin, struck, outcome, chance, ends_own, ends_enemy, acc)
            else:
                _spread(own, enemy, origin, firing, struck, chance, 0.0, own_tail, then, stamps)
    cycle = np.int64(1)
    counted = max(np.int64(1), rules[_AFTER], rules[_LIMIT])
    going = 0.0
    while True:
        going = 0.0
        for a in range(n_own):
            for d in range(n_enemy):
                p = then[a, d]
                if p == 0.0:
                    continue
                outcome, state = _arrive(rules, plan, own, enemy, a, d, cycle)
                if outcome == _GOES_ON:
                    now[state, d] += p
                    going += p
                else:
                    acc[_A_CYCLES] += p * cycle
                    acc[_A_CYCLES + 1] += p * cycle * cycle
                    _book(rules, own, enemy, state, d, outcome, p, ends_own, ends_enemy, acc)
        # What is left after very many cycles is too little to be counted one by one.
        if cycle == counted or going <= _REMNANT:
            break
        then[:, :] = 0.0
        for a in range(n_own):
            for d in range(n_enemy):
                if now[a, d] > 0.0:
                    _spread(own, enemy, a, d, d, now[a, d], 0.0, own_tail, then, stamps)
        now[:, :] = 0.0
        cycle = cycle + np.int64(1)
    acc[_A_CYCLES] += going * cycle
    acc[_A_CYCLES + 1] += going * cycle * cycle
    if going > 0.0:
        _run_to_the_end(rules, plan, own, enemy, n_own, now, stamps, cycle, own_tail, ends_own, ends_enemy, acc)
    _fold(plan, rules, own, enemy, n_own, n_enemy, ends_own, ends_enemy, acc)
    status[s] = _OK


@kernel
def _run_to_the_end(rules, plan, own, enemy, n_own, now, stamps, cycle, own_tail, ends_own, ends_enemy, acc):
    """Go through all states in order of the attacker's units, with the loops of states to themselves divided out."""
    n_enemy = now.shape[1]
    for a in range(n_own):
        for d in range(n_enemy):
            stamps[a, d] = now[a, d] * (cycle + 1)
    order = np.argsort(-own.board[:n_own], kind="mergesort")
    visits_sum = 0.0
    stamps_sum = 0.0
    for i in range(n_own):
        a = order[i]
        for d in range(n_enemy):
            p = now[a, d]
            if p == 0.0:
                continue
            outcome, state = _arrive(rules, plan, own, enemy, a, d, cycle + 1)
            if outcome != _GOES_ON:
                _book(rules, own, enemy, state, d, outcome, p, ends_own, ends_enemy, acc)
                continue
            if state != a:
                now[state, d] += p
                stamps[state, d] += stamps[a, d]
                continue
            stays = own.hits[a, 0] * enemy.hits[d, 0]
            visits = p / (1.0 - stays)
            stamp = (stamps[a, d] + stays * visits) / (1.0 - stays)
            visits_sum += visits
            stamps_sum += stamp
            _spread(own, enemy, a, d, d, visits, stamp + visits, own_tail, now, stamps)
    acc[_A_CYCLES] += visits_sum
    acc[_A_CYCLES + 1] += 2.0 * stamps_sum - visits_sum


@kernel
def solve_all(rows, battles, capacity, tallies, status, reached):
    """Solve all matchups one after the other; arguments as of `solve_land`. Threads may do so at the same time."""
    for s in range(len(rows)):
        solve_land(s, rows, battles, capacity, tallies, status, reached)
