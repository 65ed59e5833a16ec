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

from simcore.core.chain import add_to, binomial, convolve, new_sums, two_point
from simcore.core.jit import borrowed, kernel, part
from simcore.enums import Status
from simcore.rulesets.general_combat.encoding import (
    BOMBARDERS,
    Accumulator,
    Outcome,
    RowField,
    UnitType,
)
from simcore.rulesets.general_combat.ends import fold_swing, note_end
from simcore.rulesets.general_combat.land_states import (
    AFTER,
    AIRCRAFT,
    AWAY,
    BOARD,
    GUNS,
    HIGH,
    LAND,
    LEFT,
    LOST,
    LOW,
    MOST,
    OVERLAND,
    STANDING,
    attacker_radix,
    fire_aa,
    list_attackers,
    list_defenders,
    most_hits,
    new_room,
    new_states,
)
from simcore.rulesets.general_combat.lane import AA_GUN, is_aircraft, plan_matchup
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

_GUNS_ARE_UNITS = int(RowField.GUNS_ARE_UNITS)
_LOW_LUCK_COMBAT = int(RowField.LOW_LUCK_COMBAT)
_ATTACK_POINTS = int(RowField.ATTACK_POINTS)
_LIMIT = int(RowField.CYCLE_LIMIT)
_POSSIBLE = int(RowField.RETREAT_POSSIBLE)
_AFTER_CYCLES = int(RowField.RETREAT_AFTER_CYCLES)
_AT_MOST = int(RowField.RETREAT_UNITS_AT_MOST)
_ONLY_AIRCRAFT = int(RowField.RETREAT_ONLY_AIRCRAFT)
_ONLY_AIRCRAFT_LEAVE = int(RowField.ONLY_AIRCRAFT_LEAVE)
_LANDING = int(RowField.LANDING)
_RETURN_FIRE = int(RowField.RETURN_FIRE)
_BOMBARDING = int(RowField.BOMBARDING)
_BOMBARD_ODDS = int(RowField.BOMBARD_ODDS)
_N_BOMBARDERS = len(BOMBARDERS)
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
_A_CAPTURED = int(Accumulator.CAPTURED)
_A_RETREATED = int(Accumulator.RETREATED)
_A_BOMBARD_HITS = int(Accumulator.BOMBARD_HITS)
_A_SURVIVORS = int(Accumulator.SURVIVORS)

_SPECK = 1e-22
"""Products of probabilities below this are dropped."""
_REMNANT = 1e-16
_MOST_HITS = 1 << 26
"""Most entries of the attacker's table of hits: half a gigabyte."""
_PADDING = 3
"""Numbers between two lines of a block, so that four hits at a time stay apart."""
_BLOCK = 1_024
"""Numbers that are multiplied at once: they stay in the nearest cache."""


class _Battle(NamedTuple):
    """One battle being solved. A states of the attacker, D of the defender, F facts, H hits, O outcomes, E ends.

    Attributes
    ----------
    rules : int64 (R,)
    own, enemy : int64 (A, F), (D, F)
        Facts of the states.
    scored : float64 (A, H)
        Probability of each number of the attacker's hits.
    suffered : float64 (H, D)
        Probability of each number of the defender's hits.
    ends_own, ends_enemy : float64 (O, A), (O, D)
        Probability of ending there.
    swing : Sums
    acc : float64 (K,)
    end_at : int64 (E + 1, 3)
        Outcome and states of each end, where somebody asks for them; in the last row the number of ends.
    end_chance : float64 (E, 2)
        Probability of each end, and the same times the number of cycles.
    by_cycle : float64 (C,)
        As in `Ends`.
    """

    rules: Any
    own: Any
    enemy: Any
    scored: Any
    suffered: Any
    ends_own: Any
    ends_enemy: Any
    swing: Any
    acc: Any
    end_at: Any
    end_chance: Any
    by_cycle: Any


class _Work(NamedTuple):
    """Work space of products of probabilities: one state's line, and blocks of it before and after the product."""

    line: Any
    before: Any
    after: Any


@part
def _bombarded(plan, units, d, firing):
    """Defenders of state `firing` that state `d` lacks, as far as they can still fire (GC-5.5)."""
    base = plan.groups[1, 0]
    total = np.int64(0)
    for g in range(plan.groups[1, 0], plan.groups[1, 1]):
        if plan.armed[g] != 0:
            total += units[firing, g - base] - units[d, g - base]
    return total


# Functions that are called for each pair of states take the few arrays they need: handing over a whole battle, with
# some hundred fields, would cost more than they do.


@part
def _test_a(rules, own, enemy, a, d, firing, bombarded, cycle):
    """Test condition A with the defenders of state `firing` able to fire; returns an outcome or `_GOES_ON`.

    `own` and `enemy` are the facts of the states.
    """
    standing = enemy[d, STANDING] + bombarded
    if condition_a(own[a, BOARD], standing, own[a, MOST], enemy[firing, MOST]):
        guns = enemy[d, GUNS] if rules[_GUNS_ARE_UNITS] != 0 else np.int64(0)
        outcome = np.int64(conclude(cycle, own[a, BOARD], own[a, LAND], enemy[d, STANDING], guns))
        if rules[_LANDING] != 0:
            return np.int64(conclude_landing(outcome, own[a, AWAY]))
        return outcome
    return np.int64(_GOES_ON)


@part
def _arrive(rules, own, enemy, a, d, cycle):
    """Step 6 in a state after some cycle: returns the outcome or `_GOES_ON`, and the attacker's state (GC-4.6.1)."""
    outcome = _test_a(rules, own, enemy, a, d, d, np.int64(0), cycle)
    if outcome != _GOES_ON:
        return outcome, a
    board = own[a, BOARD]
    if wants_retreat(cycle, board, own[a, LAND], rules[_AFTER_CYCLES], rules[_AT_MOST], rules[_ONLY_AIRCRAFT]):
        if rules[_LANDING] == 0:
            if may_retreat(rules[_POSSIBLE], own[a, LAND]):
                return np.int64(_RETREATS), a
        else:
            only = rules[_ONLY_AIRCRAFT_LEAVE]
            if may_leave_assault(rules[_POSSIBLE], own[a, AIRCRAFT], own[a, OVERLAND], only):
                if leaving_units(own[a, AIRCRAFT], own[a, OVERLAND], only) == board:
                    return np.int64(_RETREATS), a
                a = own[a, LEFT]
                outcome = _test_a(rules, own, enemy, a, d, d, np.int64(0), cycle)
                if outcome != _GOES_ON:
                    return outcome, a
    if cycle == rules[_LIMIT]:
        return np.int64(_UNFINISHED), a
    return np.int64(_GOES_ON), a


@part
def _book(battle, a, d, outcome, chance, cycles):
    """Book the probability of an end; `cycles` is the same times the number of cycles."""
    battle.ends_own[outcome, a] += chance
    battle.ends_enemy[outcome, d] += chance
    swept = battle.rules[_GUNS_ARE_UNITS] != 0 and (outcome == _WINS or outcome == _CLEARS)
    lost = battle.enemy[battle.enemy.shape[0] - 1 if swept else d, LOST]
    add_to(battle.swing, lost - battle.own[a, LOST], chance)
    most = len(battle.end_chance)
    if most > 0:
        n = battle.end_at[most, 0]
        battle.end_at[most, 0] = n + 1
        if n < most:
            battle.end_at[n, 0] = outcome
            battle.end_at[n, 1] = a
            battle.end_at[n, 2] = d
            battle.end_chance[n, 0] = chance
            battle.end_chance[n, 1] = cycles


@part
def _note_ends(battle, plan, own_units, enemy_units, ends):
    """Write the ends down; returns False if there are too many."""
    most = len(battle.end_chance)
    n = battle.end_at[most, 0]
    if n > most:
        return False
    units = np.zeros(enemy_units.shape[1], dtype=np.int16)
    for i in range(n):
        outcome = battle.end_at[i, 0]
        d = battle.end_at[i, 2]
        swept = battle.rules[_GUNS_ARE_UNITS] != 0 and (outcome == _WINS or outcome == _CLEARS)
        units[:] = enemy_units[d]
        for g in range(plan.groups[1, 0], plan.groups[1, 1]):
            if swept and plan.kind[g] == AA_GUN:
                units[g - plan.groups[1, 0]] = 0
        note_end(own_units[battle.end_at[i, 1]], units, outcome, battle.end_chance[i, 0], battle.end_chance[i, 1], ends)
    return True


@part
def _multiply(before, n, scored, first, last, after):
    """Add to `after` the product of the pairs `before` with the probabilities of `first` to `last` hits.

    Four hits at a time over neighbouring numbers: vector instructions without another order of the sums.
    `before` has three pairs of zeros in front, which are not part of its `n` numbers.
    """
    length = n + 6
    for h in range(first, last + 1, 4):
        c0 = scored[h]
        c1 = scored[h + 1] if h < last else 0.0
        c2 = scored[h + 2] if h + 1 < last else 0.0
        c3 = scored[h + 3] if h + 2 < last else 0.0
        x0 = before[6 : 6 + length]
        x1 = before[4 : 4 + length]
        x2 = before[2 : 2 + length]
        x3 = before[0:length]
        shift = 2 * (h - first)
        out = after[shift : shift + length]
        for j in range(length):
            out[j] += c0 * x0[j] + c1 * x1[j] + c2 * x2[j] + c3 * x3[j]


@part
def _advance(battle, a, low, high, shift, fewest, work, out):
    """Let the attacker's state `a` fight a cycle with the defenders' states that ``work.line`` holds.

    Parameters
    ----------
    battle : _Battle
    a : int64
    low, high : int64
        Defenders' states in ``work.line``, pairs of a probability and a stamp: those who fire.
    shift : int64
        From the state that fires to that which is hit.
    fewest : int64
        Hits of the defender from which on to do so.
    work : _Work
    out : float64 (A, D, 2)
        Output: probabilities and stamps are added to it.
    """
    own = battle.own
    enemy = battle.enemy
    suffered = battle.suffered
    n = high - low + 1
    last = suffered.shape[1] - 1
    board = own[a, BOARD]
    most = np.int64(0)
    for d in range(low, high + 1):
        most = max(most, enemy[d, HIGH])
    most = min(most, board)
    scored = battle.scored[a]
    first = own[a, LOW]
    final = own[a, HIGH]
    # Pairs of one number of hits, with room for the product behind them.
    stride = 2 * (n + final - first + 1 + _PADDING)
    at_once = max(np.int64(1), _BLOCK // stride)
    state = np.int64(a)
    for _ in range(fewest):
        state = own[state, AFTER]
    line = work.line
    before = work.before
    after = work.after
    k = fewest
    while k <= most:
        lines = min(at_once, most - k + 1)
        for j in range(6 + lines * stride + 8):
            before[j] = 0.0
        for j in range(lines * stride + 2 * (final - first) + 16):
            after[j] = 0.0
        for i in range(lines):
            start = 6 + i * stride
            for d in range(low, high + 1):
                q = suffered[k + i, d]
                j = start + 2 * (d - low)
                before[j] = line[2 * d] * q
                before[j + 1] = line[2 * d + 1] * q
            if k + i == board:
                # Nobody is left to lose: all further hits find nobody.
                for more in range(k + i + 1, suffered.shape[0]):
                    for d in range(low, high + 1):
                        q = suffered[more, d]
                        j = start + 2 * (d - low)
                        before[j] += line[2 * d] * q
                        before[j + 1] += line[2 * d + 1] * q
        _multiply(before, lines * stride, scored, first, final, after)
        for i in range(lines):
            row = out[state]
            start = i * stride
            target = low + shift + first
            count = n + final - first
            inside = min(count, max(last - target, np.int64(0)))
            for j in range(inside):
                row[target + j, 0] += after[start + 2 * j]
                row[target + j, 1] += after[start + 2 * j + 1]
            for j in range(inside, count):
                row[last, 0] += after[start + 2 * j]
                row[last, 1] += after[start + 2 * j + 1]
            state = own[state, AFTER]
        k += lines


@part
def _count_cycles(battle, n_own, now, then, counted, work):
    """Go through the first cycles one by one; returns their number and the probability of going on.

    `now` holds the states after cycle 1, and in the end those after the last cycle.
    """
    n_enemy = now.shape[1]
    rules = battle.rules
    own = battle.own
    enemy = battle.enemy
    acc = battle.acc
    by_cycle = battle.by_cycle
    cycle = np.int64(1)
    while True:
        going = 0.0
        for a in range(n_own):
            for d in range(n_enemy):
                p = now[a, d, 0]
                if p == 0.0:
                    continue
                outcome, state = _arrive(rules, own, enemy, a, d, cycle)
                if outcome == _GOES_ON:
                    then[state, d, 0] += p
                    going += p
                else:
                    acc[_A_CYCLES] += p * cycle
                    acc[_A_CYCLES + 1] += p * cycle * cycle
                    if len(by_cycle) > 0:
                        by_cycle[min(cycle, len(by_cycle) - 1)] += p
                    _book(battle, state, d, outcome, p, p * cycle)
        now[:, :, :] = 0.0
        # What is left after very many cycles is too little to be counted one by one.
        if cycle == counted or going <= _REMNANT:
            break
        for a in range(n_own):
            low = n_enemy
            high = -1
            for d in range(n_enemy):
                p = then[a, d, 0]
                work.line[2 * d] = p
                work.line[2 * d + 1] = 0.0
                if p > 0.0:
                    low = min(low, d)
                    high = d
            if high >= 0:
                _advance(battle, a, low, high, 0, 0, work, now)
        then[:, :, :] = 0.0
        cycle = cycle + np.int64(1)
    for a in range(n_own):
        for d in range(n_enemy):
            now[a, d, 0] = then[a, d, 0]
            now[a, d, 1] = then[a, d, 0] * (cycle + 1)
    return cycle, going


@part
def _run_to_the_end(battle, n_own, lent, cycle, work):
    """Go through all states in order of the attacker's units, with the loops of states to themselves divided out.

    `lent` holds the probabilities of the states after some cycle and, as stamps, the same times the number of the
    next one.
    """
    now = borrowed(lent)
    rules = battle.rules
    own = battle.own
    enemy = battle.enemy
    hits = battle.scored
    unhit = battle.suffered[0]
    n_enemy = now.shape[1]
    # Most pairs of states just fight on: step 6 is gone through only where it may end the battle.
    watches = rules[_AFTER_CYCLES] > 0 or rules[_AT_MOST] > 0 or rules[_ONLY_AIRCRAFT] != 0
    last = n_enemy - 1
    line = work.line
    visits_sum = 0.0
    stamps_sum = 0.0
    units = own[0, BOARD]
    first_of = np.zeros(units + 2, dtype=np.int64)
    for a in range(n_own):
        first_of[units - own[a, BOARD] + 1] += 1
    for k in range(units + 1):
        first_of[k + 1] += first_of[k]
    order = np.zeros(n_own, dtype=np.int64)
    for a in range(n_own):
        k = units - own[a, BOARD]
        order[first_of[k]] = a
        first_of[k] += 1
    for i in range(n_own):
        a = order[i]
        row = now[a]
        scored = hits[a]
        first = max(own[a, LOW], 1)
        final = own[a, HIGH]
        low = n_enemy
        high = -1
        board = own[a, BOARD]
        able = own[a, MOST]
        for d in range(n_enemy):
            line[2 * d] = 0.0
            line[2 * d + 1] = 0.0
            p = row[d, 0]
            if p == 0.0:
                continue
            stamp = row[d, 1]
            if watches or condition_a(board, enemy[d, STANDING], able, enemy[d, MOST]):
                outcome, state = _arrive(rules, own, enemy, a, d, cycle + 1)
                if outcome != _GOES_ON:
                    _book(battle, state, d, outcome, p, stamp - p)
                    continue
                if state != a:
                    now[state, d, 0] += p
                    now[state, d, 1] += stamp
                    continue
            stays = scored[0] * unhit[d]
            visits = p / (1.0 - stays)
            stamp = (stamp + stays * visits) / (1.0 - stays)
            visits_sum += visits
            stamps_sum += stamp
            line[2 * d] = visits
            line[2 * d + 1] = stamp + visits
            low = min(low, d)
            high = d
            # The attacker unhit: these states are still to come.
            c = visits * unhit[d]
            if c > _SPECK:
                w = (stamp + visits) * unhit[d]
                for h in range(first, final + 1):
                    e = min(d + h, last)
                    row[e, 0] += c * scored[h]
                    row[e, 1] += w * scored[h]
        while low < high and line[2 * low] <= _SPECK:
            low += 1
        while high >= low and line[2 * high] <= _SPECK:
            high -= 1
        if high >= low:
            _advance(battle, a, low, high, 0, 1, work, now)
    battle.acc[_A_CYCLES] += visits_sum
    battle.acc[_A_CYCLES + 1] += 2.0 * stamps_sum - visits_sum


@part
def _fold(battle, plan, own_units, enemy_units, n_own):
    """Turn the probabilities of the ends into accumulators."""
    rules = battle.rules
    own = battle.own
    enemy = battle.enemy
    acc = battle.acc
    n_enemy = enemy.shape[0]
    for o in range(_N_OUTCOMES):
        column = _A_SURVIVORS + o * 2 * _N_TYPES
        swept = rules[_GUNS_ARE_UNITS] != 0 and (o == _WINS or o == _CLEARS)
        for a in range(n_own):
            p = battle.ends_own[o, a]
            if p == 0.0:
                continue
            acc[_A_BATTLES] += p
            acc[_A_OUTCOMES + o] += p
            lost = float(own[a, LOST])
            acc[_A_ATTACKER_LOST] += p * lost
            acc[_A_ATTACKER_LOST + 1] += p * lost * lost
            base = plan.groups[0, 0]
            for g in range(plan.groups[0, 0], plan.groups[0, 1]):
                acc[column + plan.kind[g]] += p * own_units[a, g - base]
            acc[_A_RETREATED] += p * own[a, AWAY]
        for d in range(n_enemy):
            p = battle.ends_enemy[o, d]
            if p == 0.0:
                continue
            lost = float(enemy[n_enemy - 1 if swept else d, LOST])
            acc[_A_DEFENDER_LOST] += p * lost
            acc[_A_DEFENDER_LOST + 1] += p * lost * lost
            base = plan.groups[1, 0]
            for g in range(plan.groups[1, 0], plan.groups[1, 1]):
                if not (swept and plan.kind[g] == AA_GUN):
                    acc[column + _N_TYPES + plan.kind[g]] += p * enemy_units[d, g - base]
    fold_swing(battle.swing, acc)
    wins = acc[_A_OUTCOMES + _WINS]
    acc[_A_CAPTURED] = wins
    acc[_A_CAPTURED + 1] = wins * rules[_VALUE]
    acc[_A_CAPTURED + 2] = wins * rules[_CAPTURABLE_GUNS]
    acc[_A_CAPTURED + 3] = wins * rules[_CAPTURABLE_COMPLEXES]
    acc[_A_CAPTURED + 4] = wins * rules[_TREASURY]


@part
def _bombardment(rules, odds, width):
    """Return the distribution of the bombardment's hits."""
    hits = np.zeros(width)
    one = np.zeros(width)
    both = np.zeros(width)
    hits[0] = 1.0
    n = np.int64(0)
    points = np.int64(0)
    per_hit = rules[_ATTACK_POINTS]
    for k in range(_N_BOMBARDERS):
        thrown = rules[_BOMBARDING + k]
        if thrown == 0:
            continue
        o = rules[_BOMBARD_ODDS + k]
        if rules[_LOW_LUCK_COMBAT] != 0:
            points += thrown * odds[o, 0] * (per_hit // odds[o, 1])
            continue
        binomial(thrown, odds[o, 0], odds[o, 1], one)
        convolve(hits, n, one, thrown, both)
        n += thrown
        for h in range(n + 1):
            hits[h] = both[h]
    if points > 0:
        n = two_point(points, per_hit, hits)
    return hits[: n + 1]


@part
def _most_attackers(rules, plan):
    """Return how many states the attacker can have at most, and the units lost in the order of loss."""
    units = np.int64(0)
    for g in range(plan.groups[0, 0], plan.groups[0, 1]):
        units += plan.start[g]
    after_fire = np.int64(1)
    under_fire = False
    for t in range(_N_TYPES):
        under_fire |= plan.aa_pools[t] > 0
    if under_fire:
        for g in range(plan.board[0, 0], plan.board[0, 1]):
            if is_aircraft(plan.kind[g]):
                after_fire *= plan.start[g] + 1
    states = after_fire * (units + 1)
    in_part = rules[_LANDING] != 0 and rules[_AFTER_CYCLES] + rules[_AT_MOST] + rules[_ONLY_AIRCRAFT] > 0
    return states * (units + 2) if in_part else states, units


@part
def _first_cycle(battle, plan, enemy_units, starts, chances, n_starts, bombed, work, now):
    """Make the test before cycle 1, and cycle 1, in which those bombarded may fire; returns who fights it."""
    rules = battle.rules
    own = battle.own
    enemy = battle.enemy
    n_enemy = now.shape[1]
    going = 0.0
    for i in range(n_starts):
        origin = starts[i]
        for b in range(len(bombed)):
            chance = chances[i] * bombed[b]
            if chance == 0.0:
                continue
            struck = min(np.int64(b), n_enemy - 1)
            firing = np.int64(0) if rules[_RETURN_FIRE] != 0 else struck
            hit = _bombarded(plan, enemy_units, struck, firing)
            outcome = _test_a(rules, own, enemy, origin, struck, firing, hit, 0)
            if outcome != _GOES_ON:
                if len(battle.by_cycle) > 0:
                    battle.by_cycle[0] += chance
                _book(battle, origin, struck, outcome, chance, 0.0)
            else:
                going += chance
                work.line[2 * firing] = chance
                work.line[2 * firing + 1] = 2.0 * chance
                _advance(battle, origin, firing, firing, struck - firing, 0, work, now)
    return going


@part
def _fight(lent, lent_plan, own_units, enemy_units, starts, chances, n_starts, bombed, lent_work, ends):
    """Go through the cycles of a battle and add up how it ends; returns False if it may end in too many ways."""
    battle = borrowed(lent)
    plan = borrowed(lent_plan)
    work = borrowed(lent_work)
    rules = battle.rules
    n_own = battle.ends_own.shape[1]
    n_enemy = battle.ends_enemy.shape[1]
    now = np.zeros((n_own, n_enemy, 2))
    going = _first_cycle(battle, plan, enemy_units, starts, chances, n_starts, bombed, work, now)
    cycle = np.int64(1)
    by_cycle = battle.by_cycle
    counted = max(np.int64(1), rules[_AFTER_CYCLES], rules[_LIMIT], len(by_cycle) - 2)
    if rules[_AFTER_CYCLES] + rules[_LIMIT] + len(by_cycle) > 0:
        then = np.zeros((n_own, n_enemy, 2))
        cycle, going = _count_cycles(battle, n_own, now, then, counted, work)
    battle.acc[_A_CYCLES] += going * cycle
    battle.acc[_A_CYCLES + 1] += going * cycle * cycle
    if len(by_cycle) > 0:
        # Where so little was left that the rest was not counted one by one, the next cycle stands for all of it.
        by_cycle[min(cycle + 1, len(by_cycle) - 1)] += going
    if going > 0.0:
        _run_to_the_end(battle, n_own, now, cycle, work)
    _fold(battle, plan, own_units, enemy_units, n_own)
    return len(battle.end_chance) == 0 or _note_ends(battle, plan, own_units, enemy_units, ends)


@part
def solve_land(s, rows, lent_battles, capacity, tallies, status, reached, ends):
    """Solve one battle on land or landing exactly.

    Parameters
    ----------
    s : int64
        Entry of `rows`, `tallies`, `status` and `reached`.
    rows : int64 (N,)
        Matchup rows.
    lent_battles : Battles
    capacity : int64
        Most states of the attacker.
    tallies : float64 (N, K) or (N, K + 6)
        Output: expected accumulators of one battle, and what `SPREAD` names of the swing.
    status : uint8 (N,)
        Output: CAPACITY when there are more states than allowed.
    reached : int64 (N,)
        Output: number of states.
    ends : Ends
        Output, of a single battle: how it ends; without room where nobody asks.
    """
    battles = borrowed(lent_battles)
    row = rows[s]
    rules = battles.rules[row]
    odds = battles.odds
    plan = plan_matchup(battles, row)
    status[s] = _CAPACITY
    most_own = np.int64(most_hits(plan, 0, battles.counts[row, 0]))
    most_enemy = np.int64(most_hits(plan, 1, battles.counts[row, 1]))
    bombs = np.int64(0)
    for k in range(_N_BOMBARDERS):
        bombs += rules[_BOMBARDING + k]
    most_attackers, units_own = _most_attackers(rules, plan)
    capacity = min(capacity, most_attackers)
    n_enemy = np.int64(1)
    for g in range(plan.groups[1, 0], plan.groups[1, 1]):
        n_enemy += plan.start[g]
    if capacity * (most_own + 1) > _MOST_HITS:
        return
    own = new_states(capacity, most_own)
    if not attacker_radix(plan, battles.counts[row, 0], own):
        return
    enemy = new_states(n_enemy, most_enemy)
    width = max(most_own, most_enemy, bombs, units_own) + 2
    starts = np.zeros(2 * capacity + 2, dtype=np.int64)
    chances = np.zeros(2 * capacity + 2)
    room = new_room(plan, 0, width)
    n_own, n_starts = fire_aa(rules, plan, odds, own, room, starts, chances)
    if n_own >= 0:
        n_own = list_attackers(rules, plan, odds, own, n_own, room)
    if n_own < 0:
        return
    reached[s] = n_own * n_enemy
    if n_own * n_enemy > MAX_STATES:
        return
    list_defenders(rules, plan, odds, enemy, new_room(plan, 1, width))
    suffered = np.zeros((most_enemy + 1, n_enemy))
    for h in range(most_enemy + 1):
        for d in range(n_enemy):
            suffered[h, d] = enemy.hits[d, h]
    values = own.facts[0, LOST]
    for a in range(n_own):
        values = max(values, own.facts[a, LOST])
    values += enemy.facts[n_enemy - 1, LOST] + 1
    kept = len(ends.chance)
    battle = _Battle(
        rules=rules,
        own=own.facts,
        enemy=enemy.facts,
        scored=own.hits,
        suffered=suffered,
        ends_own=np.zeros((_N_OUTCOMES, n_own)),
        ends_enemy=np.zeros((_N_OUTCOMES, n_enemy)),
        swing=new_sums(min(values, 2 * n_own * n_enemy)),
        acc=tallies[s],
        end_at=np.zeros((kept + 1, 3), dtype=np.int64),
        end_chance=np.zeros((kept, 2)),
        by_cycle=ends.by_cycle,
    )
    longest = 2 * (n_enemy + most_own + 1 + _PADDING) + _BLOCK + 2 * most_own + 32
    work = _Work(line=np.zeros(2 * n_enemy), before=np.zeros(longest), after=np.zeros(longest))
    bombed = _bombardment(rules, odds, bombs + 2)
    for b in range(len(bombed)):
        battle.acc[_A_BOMBARD_HITS] += b * bombed[b]
    if _fight(battle, plan, own.units, enemy.units, starts, chances, n_starts, bombed, work, ends):
        status[s] = _OK


@kernel
def solve_all(rows, battles, capacity, tallies, status, reached, ends):
    """Solve all matchups one after the other; arguments as of `solve_land`. Threads may do so at the same time."""
    for s in range(len(rows)):
        solve_land(s, rows, battles, capacity, tallies, status, reached, ends)
