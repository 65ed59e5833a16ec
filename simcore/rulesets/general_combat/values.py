"""What every state of a battle on land is worth, and what is therefore decided in it.

A battle with a decision in it is a Markov decision process: chance moves it by the hits of a cycle, a side by
its choice. This module works the states out from the last cycle backwards, each by what it is worth to go on, and then
forwards again under the decisions found, which gives all figures of a result. The rules are those of
`steps.py`; without any decision to take it gives what `solver.py` gives.

Who knows what: all dice of a step are rolled before its losses are chosen (GC-4.8.3). The defender chooses in
step 3, before his own dice fall; the attacker in step 4, when he knows step 3's losses; the attacker leaves
or stays in step 6. One of the two sides decides here, the other follows its written policy.

A state in which nobody is hit leads back to itself, and then the same is decided again: the loop is divided out.
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
    LossForm,
    Outcome,
    RowField,
    UnitType,
    Why,
)
from simcore.rulesets.general_combat.ends import fold_swing, new_record, record_end
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

__all__ = [
    "CRITERIA",
    "Aim",
    "Game",
    "Opening",
    "Stack",
    "decide",
    "open_battle",
    "play",
]

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
_A_CAPTURED = int(Accumulator.CAPTURED)
_A_RETREATED = int(Accumulator.RETREATED)
_A_BOMBARD_HITS = int(Accumulator.BOMBARD_HITS)
_A_SURVIVORS = int(Accumulator.SURVIVORS)

_TAIL = 1e-17
"""Probability that may be cut off at either end of a distribution of hits in one state."""
_REMNANT = 1e-16
CRITERIA = 3
"""Figures that are followed: the goal, the attacker's chance to win, the swing."""

_BY_POLICY = int(Why.POLICY)
_WINS_TOO_RARELY = int(Why.CHANCE)
_LOSES_TOO_MUCH = int(Why.SWING)
_BY_GOAL = int(Why.GOAL)


class Aim(NamedTuple):
    """What is decided, and what for.

    Attributes
    ----------
    prize : float64 (outcomes,)
        Worth of each outcome to the side that decides.
    per_swing : float64
        Worth of one unit of money of swing to it.
    losses : int64
        `ORDERED`, `ATTACKER_CHOOSES` or `DEFENDER_CHOOSES`.
    free_retreat : int64
        1 where leaving and staying are decided by the goal and not by the written policy.
    win_below : float64
        The attacker leaves where his chance to win is smaller; 0 is off.
    swing_negative : int64
        1 where he leaves when he expects to lose more from now on than the defender.
    margin : float64
        `MARGIN` in units of the goal.
    stake : float64
        Cost of both sides: 1 money is `MARGIN` times this.
    """

    prize: Any
    per_swing: Any
    losses: Any
    free_retreat: Any
    win_below: Any
    swing_negative: Any
    margin: Any
    stake: Any


class Stack(NamedTuple):
    """States of one side. N states, G lane rows, H numbers of hits.

    Attributes
    ----------
    units : int16 (N, G)
        Units of each row.
    after : int32 (N, G)
        States after one more hit, the one by the order of loss first; -1 behind the last.
    left : int32 (N,)
        State after those who may have left an assault, -1 if nobody leaves or all do.
    board, land, standing, guns : int32 (N,)
        Units on the board, land units among them, combat units, AAA units.
    aircraft, overland, elsewhere : int32 (N,)
    lost : int64 (N,)
        Cost lost.
    hits : float64 (N, H)
        Distribution of the hits that the side scores in a cycle.
    most : int32 (N,)
        Most hits.
    order : int64 (N,)
        States from the fewest units on the board to the most.
    radix : int64 (G,)
        What a unit of each row adds to a state's number.
    keys, places : int64 (slots,)
        Table of states by number.
    count : int64 (1,)
        States so far.
    all_lost : int64 (1,)
        Cost of all units.
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
    elsewhere: Any
    lost: Any
    hits: Any
    most: Any
    order: Any
    radix: Any
    keys: Any
    places: Any
    count: Any
    all_lost: Any


class Game(NamedTuple):
    """What is found out about the states. L levels, Y and X states of the defender and the attacker.

    Attributes
    ----------
    worth : float64 (L or 2, criteria, Y, X)
        Worth of arriving in a state after some number of cycles, before it is decided whether to stay.
    going : float64 (L, criteria, Y, X)
        Worth of fighting at least one more cycle.
    leaves : uint8 (L, Y, X)
        `Why` the attacker leaves, 0 where he does not.
    best : int32 (hits + 1, Y, X)
        State after so many hits of the side that chooses its losses, -1 where it is not known; else empty.
    subs, sub_starts : int32 (Y, ...), (Y, hits + 2)
        Defender's states that each one can become, by the number of hits; empty where he does not choose.
    """

    worth: Any
    going: Any
    leaves: Any
    best: Any
    subs: Any
    sub_starts: Any


@part
def new_stack(states, most):
    """Return room for the states of a side and for so many hits that it scores."""
    slots = np.int64(16)
    while slots < 2 * states + 2:
        slots *= 2
    keys, places = new_table(slots)
    return Stack(
        units=np.zeros((states, MAX_LOSS_GROUPS), dtype=np.int16),
        after=np.full((states, MAX_LOSS_GROUPS + 1), -1, dtype=np.int32),
        left=np.full(states, -1, dtype=np.int32),
        board=np.zeros(states, dtype=np.int32),
        land=np.zeros(states, dtype=np.int32),
        standing=np.zeros(states, dtype=np.int32),
        guns=np.zeros(states, dtype=np.int32),
        aircraft=np.zeros(states, dtype=np.int32),
        overland=np.zeros(states, dtype=np.int32),
        elsewhere=np.zeros(states, dtype=np.int32),
        lost=np.zeros(states, dtype=np.int64),
        hits=np.zeros((states, most + 1), dtype=np.float64),
        most=np.zeros(states, dtype=np.int32),
        order=np.zeros(states, dtype=np.int64),
        radix=np.ones(MAX_LOSS_GROUPS, dtype=np.int64),
        keys=keys,
        places=places,
        count=np.zeros(1, dtype=np.int64),
        all_lost=np.zeros(1, dtype=np.int64),
    )


@part
def set_radix(plan, side, counts, radix):
    """Give numbers to the states of a side; returns False where 64 bits are not enough."""
    step = np.int64(1)
    base = plan.groups[side, 0]
    for g in range(plan.groups[side, 0], plan.groups[side, 1]):
        radix[g - base] = step
        size = plan.start[g] + 1
        if plan.form[g] == _ELSEWHERE:
            size = np.int64(counts[plan.kind[g]]) + 1
        if step > (np.int64(1) << 62) // size:
            return False
        step *= size
    return True


@part
def _load(plan, side, stack, state, alive):
    base = plan.groups[side, 0]
    for g in range(plan.groups[side, 0], plan.groups[side, 1]):
        alive[g, 0] = stack.units[state, g - base]


@part
def _find(plan, side, stack, alive):
    """Return the state on `alive`, -1 where there is no room for it."""
    base = plan.groups[side, 0]
    new = stack.count[0]
    if new >= len(stack.left):
        return np.int64(-1)
    key = np.int64(0)
    for g in range(plan.groups[side, 0], plan.groups[side, 1]):
        key += stack.radix[g - base] * alive[g, 0]
    at = find_or_add(stack.keys, stack.places, key, new)
    if at == new:
        stack.count[0] = new + 1
        for g in range(plan.groups[side, 0], plan.groups[side, 1]):
            stack.units[new, g - base] = alive[g, 0]
    return at


@part
def _describe(rules, plan, odds, side, stack, i, alive, doomed, dice, scratch):
    """Count the units of state `i`, what is lost in it, and the distribution of the hits it scores."""
    _load(plan, side, stack, i, alive)
    for g in range(plan.groups[side, 0], plan.groups[side, 1]):
        n = np.int64(alive[g, 0])
        stack.lost[i] += (plan.start[g] - n) * plan.cost[g]
        if plan.form[g] == _ELSEWHERE:
            stack.elsewhere[i] += n
            continue
        t = plan.kind[g]
        stack.board[i] += n
        if t == AA_GUN:
            stack.guns[i] += n
        else:
            stack.standing[i] += n
        if is_land(t):
            stack.land[i] += n
            if plan.form[g] != _LANDED:
                stack.overland[i] += n
        elif is_aircraft(t):
            stack.aircraft[i] += n
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
    stack.most[i] = n
    for h in range(n + 1):
        stack.hits[i, h] = first[h]


@part
def list_states(rules, plan, odds, side, stack, is_free, in_part, alive, doomed, dice, hits, scratch):
    """Complete a side's states by all that follow from those there are; returns False if there are too many.

    Parameters
    ----------
    is_free : bool
        Whether the owner may take each hit where he likes, or follows his order of loss.
    in_part : bool
        Whether some may leave an assault while others stay.
    """
    first = plan.board[side, 0]
    last = plan.board[side, 1]
    for g in range(plan.groups[side, 0], plan.groups[side, 1]):
        stack.all_lost[0] += plan.start[g] * plan.cost[g]
    i = np.int64(0)
    while i < stack.count[0]:
        _describe(rules, plan, odds, side, stack, i, alive, doomed, dice, scratch)
        n = np.int64(0)
        for row in range(first, last):
            _load(plan, side, stack, i, alive)
            if alive[row, 0] == 0:
                continue
            hits[0, 0] = 1
            remove(alive, row, last, 0, 1, hits, 0)
            at = _find(plan, side, stack, alive)
            if at < 0:
                return False
            stack.after[i, n] = at
            n += 1
            if not is_free:
                break
        if in_part and side == 0:
            only = rules[_ONLY_AIRCRAFT_LEAVE]
            aircraft = np.int64(stack.aircraft[i])
            overland = np.int64(stack.overland[i])
            leaving = leaving_units(aircraft, overland, only)
            if 0 < leaving < stack.board[i] and may_leave_assault(rules[_POSSIBLE], aircraft, overland, only):
                _load(plan, 0, stack, i, alive)
                break_off(plan, alive, 0, only)
                at = _find(plan, 0, stack, alive)
                if at < 0:
                    return False
                stack.left[i] = at
        i += 1
    order = np.argsort(stack.board[:i], kind="mergesort")
    for k in range(i):
        stack.order[k] = order[k]
    return True


@part
def _bombarded(plan, enemy, d, firing):
    """Defenders of state `firing` that state `d` lacks, as far as they can still fire (GC-5.5)."""
    base = plan.groups[1, 0]
    total = np.int64(0)
    for g in range(plan.groups[1, 0], plan.groups[1, 1]):
        if plan.armed[g] != 0:
            total += enemy.units[firing, g - base] - enemy.units[d, g - base]
    return total


@part
def _test_a(rules, own, enemy, a, d, firing, bombarded, cycle):
    """Test condition A with the defenders of state `firing` able to fire; returns an outcome or `_GOES_ON`."""
    board = np.int64(own.board[a])
    standing = np.int64(enemy.standing[d])
    if not condition_a(board, standing + bombarded, own.most[a], enemy.most[firing]):
        return np.int64(_GOES_ON)
    guns = np.int64(enemy.guns[d]) if rules[_GUNS_ARE_UNITS] != 0 else np.int64(0)
    outcome = np.int64(conclude(cycle, board, np.int64(own.land[a]), standing, guns))
    if rules[_LANDING] != 0:
        return np.int64(conclude_landing(outcome, np.int64(own.elsewhere[a])))
    return outcome


@part
def _defender_lost(rules, enemy, d, outcome):
    """Cost that the defender has lost when it ends so: AAA units without company too (GC-2.3:aa_fate)."""
    if rules[_GUNS_ARE_UNITS] != 0 and (outcome == _WINS or outcome == _CLEARS):
        return float(enemy.all_lost[0])
    return float(enemy.lost[d])


@part
def _pay(rules, own, enemy, aim, a, d, outcome, out):
    """Fill `out` with what an end is worth by each criterion."""
    swing = _defender_lost(rules, enemy, d, outcome) - float(own.lost[a])
    out[0] = aim.prize[outcome] + aim.per_swing * swing
    out[1] = 1.0 if outcome == _WINS or outcome == _CLEARS else 0.0
    out[2] = swing


@part
def _choose_losses(own, worth, game, aim, a, d):
    """Find the attacker's best states after 1, 2, ... hits in (a, d) by the worth of the arrival (GC-4.4.2).

    The best way to lose h units is to lose one and then h - 1 in the best way.
    """
    best = game.best
    best[0, d, a] = a
    for h in range(1, best.shape[0]):
        if own.board[a] < h:
            best[h, d, a] = best[h - 1, d, a]
            continue
        chosen = best[h - 1, d, own.after[a, 0]]
        value = worth[0, d, chosen]
        n = 1
        while own.after[a, n] >= 0:
            other = best[h - 1, d, own.after[a, n]]
            if worth[0, d, other] > value + aim.margin:
                chosen = other
                value = worth[0, d, other]
            n += 1
        best[h, d, a] = chosen


@part
def _suffer(own, enemy, worth, game, aim, a, f, d, skip_none, out):
    """Fill `out` with the worth of step 4, fired by the defenders of `f`, when the others are those of `d`.

    With `skip_none` the part without any hit is left out.
    """
    scored = enemy.hits[f]
    most = np.int64(enemy.most[f])
    low, high = window(scored, most, _TAIL)
    for c in range(CRITERIA):
        out[c] = 0.0
    state = np.int64(a)
    rest = 1.0
    for k in range(high + 1):
        gone = own.board[a] <= k
        # Nobody is left to lose: all further hits find nobody.
        p = rest if gone else scored[k]
        rest -= scored[k]
        if aim.losses == ATTACKER_CHOOSES:
            state = np.int64(game.best[k, d, a])
        elif k > 0 and own.after[state, 0] >= 0:
            state = np.int64(own.after[state, 0])
        if (k >= low or gone) and not (skip_none != 0 and k == 0):
            for c in range(CRITERIA):
                out[c] += p * worth[c, d, state]
        if gone:
            break


@part
def _fight(own, enemy, worth, game, aim, a, f, d, skip_none, out, one):
    """Fill `out` with the worth of a cycle in (a, d) whose arrivals are worth `worth`; `f` are those who fire.

    With `skip_none` the part in which nobody is hit is left out; its probability is returned.
    """
    scored = own.hits[a]
    most = np.int64(own.most[a])
    low, high = window(scored, most, _TAIL)
    for c in range(CRITERIA):
        out[c] = 0.0
    state = np.int64(d)
    rest = 1.0
    for h in range(high + 1):
        gone = enemy.board[d] <= h
        p = rest if gone else scored[h]
        rest -= scored[h]
        if h > 0 and enemy.after[state, 0] >= 0:
            state = np.int64(enemy.after[state, 0])
        if h >= low or gone:
            chosen = state
            if aim.losses == DEFENDER_CHOOSES and h > 0 and not gone:
                chosen = choose_defenders(own, enemy, worth, game, aim, a, f, d, h, state, one)
                if f == d:
                    game.best[h, d, a] = chosen
            _suffer(own, enemy, worth, game, aim, a, f, chosen, np.int64(skip_none != 0 and h == 0), one)
            for c in range(CRITERIA):
                out[c] += p * one[c]
        if gone:
            break
    return scored[0] * enemy.hits[f, 0] if skip_none != 0 else 0.0


@part
def choose_defenders(own, enemy, worth, game, aim, a, f, d, h, ordered, one):
    """Return the defender's best state after `h` hits, chosen before his own dice fall (GC-4.3.2)."""
    _suffer(own, enemy, worth, game, aim, a, f, ordered, np.int64(0), one)
    chosen = np.int64(ordered)
    value = one[0]
    for k in range(game.sub_starts[d, h], game.sub_starts[d, h + 1]):
        other = np.int64(game.subs[d, k])
        if other == ordered:
            continue
        _suffer(own, enemy, worth, game, aim, a, f, other, np.int64(0), one)
        if one[0] > value + aim.margin:
            chosen = other
            value = one[0]
    return chosen


@part
def _leave(rules, own, enemy, aim, game, a, d, cycle, out):
    """Fill `out` with the worth of leaving after a cycle; returns False where nobody may (GC-4.6.8, GC-5.6)."""
    if rules[_LANDING] == 0:
        if not may_retreat(rules[_POSSIBLE], np.int64(own.land[a])):
            return False
        _pay(rules, own, enemy, aim, a, d, _RETREATS, out)
        return True
    only = rules[_ONLY_AIRCRAFT_LEAVE]
    aircraft = np.int64(own.aircraft[a])
    overland = np.int64(own.overland[a])
    if not may_leave_assault(rules[_POSSIBLE], aircraft, overland, only):
        return False
    if leaving_units(aircraft, overland, only) == own.board[a]:
        _pay(rules, own, enemy, aim, a, d, _RETREATS, out)
        return True
    left = np.int64(own.left[a])
    outcome = _test_a(rules, own, enemy, left, d, d, np.int64(0), cycle)
    if outcome == _GOES_ON and cycle == rules[_LIMIT]:
        outcome = np.int64(_UNFINISHED)
    if outcome != _GOES_ON:
        _pay(rules, own, enemy, aim, left, d, outcome, out)
    else:
        for c in range(CRITERIA):
            out[c] = game.going[cycle - 1, c, d, left]
    return True


@part
def _why_leave(rules, own, enemy, aim, a, d, cycle, going, leaving):
    """Why the attacker leaves, by what going on and leaving are worth; 0 if he stays."""
    if aim.free_retreat != 0:
        return _BY_GOAL if leaving[0] > going[0] + aim.margin else 0
    board = np.int64(own.board[a])
    land = np.int64(own.land[a])
    if wants_retreat(cycle, board, land, rules[_AFTER], rules[_AT_MOST], rules[_ONLY_AIRCRAFT]):
        return _BY_POLICY
    if going[1] < aim.win_below - MARGIN:
        return _WINS_TOO_RARELY
    so_far = float(enemy.lost[d] - own.lost[a])
    if aim.swing_negative != 0 and going[2] - so_far < -MARGIN * aim.stake:
        return _LOSES_TOO_MUCH
    return 0


@part
def _settle(rules, own, enemy, aim, game, worth, a, d, level, stays, scratch):
    """Work out one state at a level: what going on and arriving are worth, and whether the attacker leaves.

    ``scratch[0]`` holds the worth of a cycle, without its part in which nobody is hit where `stays`, the
    probability of that part, is not 0: then the same is decided again afterwards.
    """
    going, leaving, end = scratch
    outcome = _test_a(rules, own, enemy, a, d, d, np.int64(0), level)
    before = game.going[level - 1]
    game.leaves[level - 1, d, a] = 0
    if outcome != _GOES_ON:
        _pay(rules, own, enemy, aim, a, d, outcome, end)
        for c in range(CRITERIA):
            worth[c, d, a] = end[c]
            before[c, d, a] = end[c]
        return
    if level == rules[_LIMIT]:
        _pay(rules, own, enemy, aim, a, d, _UNFINISHED, going)
        stays = 0.0
    for c in range(CRITERIA):
        end[c] = going[c] / (1.0 - stays)
    why = 0
    if _leave(rules, own, enemy, aim, game, a, d, level, leaving):
        why = _why_leave(rules, own, enemy, aim, a, d, level, end, leaving)
    game.leaves[level - 1, d, a] = why
    for c in range(CRITERIA):
        worth[c, d, a] = leaving[c] if why != 0 else end[c]
        # What the decision goes by: if it were to stay, it would be so after every cycle in which nobody is hit.
        before[c, d, a] = end[c]


@part
def value_levels(rules, own, enemy, aim, game, levels):
    """Work out all states, from the last level back to the first.

    Level n is step 6 of cycle n; the last level stands for all later cycles too. Smaller stacks come first: a cycle
    never adds units.
    """
    kept = game.worth.shape[0]
    scratch = (np.zeros(CRITERIA), np.zeros(CRITERIA), np.zeros(CRITERIA))
    one = np.zeros(CRITERIA)
    n_own = own.count[0]
    n_enemy = enemy.count[0]
    for level in range(levels, 0, -1):
        is_last = level == levels
        now = game.worth[level % kept]
        then = now if is_last else game.worth[(level + 1) % kept]
        for j in range(n_enemy):
            d = enemy.order[j]
            for i in range(n_own):
                a = own.order[i]
                if aim.losses == ATTACKER_CHOOSES:
                    _choose_losses(own, then, game, aim, a, d)
                stays = 0.0
                is_over = _test_a(rules, own, enemy, a, d, d, np.int64(0), level) != _GOES_ON
                if not is_over and level != rules[_LIMIT]:
                    stays = _fight(own, enemy, then, game, aim, a, d, d, np.int64(is_last), scratch[0], one)
                _settle(rules, own, enemy, aim, game, now, a, d, level, stays, scratch)


@part
def _add_fire(own, enemy, game, aim, a, f, d, p, stamp, skip_none, out, out_stamps):
    """Add `p` and `stamp` times the probability of each result of step 4 to the arrivals; as `_suffer`."""
    scored = enemy.hits[f]
    most = np.int64(enemy.most[f])
    low, high = window(scored, most, _TAIL)
    state = np.int64(a)
    rest = 1.0
    for k in range(high + 1):
        gone = own.board[a] <= k
        q = rest if gone else scored[k]
        rest -= scored[k]
        if aim.losses == ATTACKER_CHOOSES:
            state = np.int64(game.best[k, d, a])
        elif k > 0 and own.after[state, 0] >= 0:
            state = np.int64(own.after[state, 0])
        if (k >= low or gone) and not (skip_none != 0 and k == 0):
            out[d, state] += p * q
            out_stamps[d, state] += stamp * q
        if gone:
            break


@part
def _look_up_defenders(own, enemy, worth, game, aim, a, f, d, h, ordered, one):
    """Do what `choose_defenders` does, once for each state where all defenders fire."""
    if f != d:
        return choose_defenders(own, enemy, worth, game, aim, a, f, d, h, ordered, one)
    if game.best[h, d, a] < 0:
        game.best[h, d, a] = choose_defenders(own, enemy, worth, game, aim, a, f, d, h, ordered, one)
    return np.int64(game.best[h, d, a])


@part
def _spread(own, enemy, worth, game, aim, a, f, d, visits, stamp, skip_none, out, out_stamps, one):
    """Let a state fight a cycle `visits` times: adds the probabilities of what follows to `out`; as `_fight`.

    `stamp` is added up likewise in `out_stamps`.
    """
    scored = own.hits[a]
    most = np.int64(own.most[a])
    low, high = window(scored, most, _TAIL)
    state = np.int64(d)
    rest = 1.0
    for h in range(high + 1):
        gone = enemy.board[d] <= h
        p = rest if gone else scored[h]
        rest -= scored[h]
        if h > 0 and enemy.after[state, 0] >= 0:
            state = np.int64(enemy.after[state, 0])
        if h >= low or gone:
            chosen = state
            if aim.losses == DEFENDER_CHOOSES and h > 0 and not gone:
                chosen = _look_up_defenders(own, enemy, worth, game, aim, a, f, d, h, state, one)
            none = np.int64(skip_none != 0 and h == 0)
            _add_fire(own, enemy, game, aim, a, f, chosen, visits * p, stamp * p, none, out, out_stamps)
        if gone:
            break


@part
def _book(plan, rules, own, enemy, a, d, outcome, chance, stamp, cycle, acc, record):
    """Add the probability of an end to the accumulators and the record, as `record_end`."""
    column = _A_SURVIVORS + outcome * 2 * _N_TYPES
    swept = rules[_GUNS_ARE_UNITS] != 0 and (outcome == _WINS or outcome == _CLEARS)
    acc[_A_BATTLES] += chance
    acc[_A_OUTCOMES + outcome] += chance
    for side in range(2):
        base = plan.groups[side, 0]
        for g in range(plan.groups[side, 0], plan.groups[side, 1]):
            units = float(own.units[a, g - base] if side == 0 else enemy.units[d, g - base])
            if side == 0 or not (swept and plan.kind[g] == AA_GUN):
                acc[column + side * _N_TYPES + plan.kind[g]] += chance * units
        lost = float(own.lost[a]) if side == 0 else _defender_lost(rules, enemy, d, outcome)
        acc[_A_ATTACKER_LOST + 2 * side] += chance * lost
        acc[_A_ATTACKER_LOST + 2 * side + 1] += chance * lost * lost
    acc[_A_RETREATED] += chance * own.elsewhere[a]
    swing = np.int64(_defender_lost(rules, enemy, d, outcome)) - own.lost[a]
    units = enemy.units[d]
    if swept and len(record.ends.chance) > 0:
        units = units.copy()
        for g in range(plan.groups[1, 0], plan.groups[1, 1]):
            if plan.kind[g] == AA_GUN:
                units[g - plan.groups[1, 0]] = 0
    key = (outcome * enemy.count[0] + d) * own.count[0] + a
    return record_end(record, key, own.units[a], units, outcome, swing, chance, stamp, cycle)


@part
def _finish(rules, acc):
    """Complete the accumulators by what a capture brings."""
    wins = acc[_A_OUTCOMES + _WINS]
    acc[_A_CAPTURED] = wins
    acc[_A_CAPTURED + 1] = wins * rules[_VALUE]
    acc[_A_CAPTURED + 2] = wins * rules[_CAPTURABLE_GUNS]
    acc[_A_CAPTURED + 3] = wins * rules[_CAPTURABLE_COMPLEXES]
    acc[_A_CAPTURED + 4] = wins * rules[_TREASURY]


@part
def _bombardment(rules, odds, scratch):
    """Return the distribution of the bombardment's hits (GC-5.4)."""
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
    return first[: n + 1].copy()


@part
def _first_cycle(plan, rules, own, enemy, aim, game, worth, a, bombed, out, one, chosen):
    """Fill `out` with what the battle is worth to an attacker whom the guns left as `a`.

    ``chosen[b]`` gets the defender's state after `b` hits of the bombardment; where he chooses he does so here
    (GC-5.5).
    """
    total = np.zeros(CRITERIA)
    ordered = np.int64(0)
    for b in range(len(bombed)):
        if b > 0 and enemy.after[ordered, 0] >= 0:
            ordered = np.int64(enemy.after[ordered, 0])
        chosen[b] = ordered
        _begin(plan, rules, own, enemy, aim, game, worth, a, ordered, out, one)
        hits = min(np.int64(b), np.int64(enemy.board[0]))
        if aim.losses == DEFENDER_CHOOSES and hits > 0:
            value = out[0]
            for k in range(game.sub_starts[0, hits], game.sub_starts[0, hits + 1]):
                other = np.int64(game.subs[0, k])
                _begin(plan, rules, own, enemy, aim, game, worth, a, other, out, one)
                if out[0] > value + aim.margin:
                    value = out[0]
                    chosen[b] = other
            _begin(plan, rules, own, enemy, aim, game, worth, a, np.int64(chosen[b]), out, one)
        for c in range(CRITERIA):
            total[c] += bombed[b] * out[c]
    for c in range(CRITERIA):
        out[c] = total[c]


@part
def _firing(rules, struck):
    """Defender's state that fires in the first cycle (GC-2.3:bombard_return_fire)."""
    return np.int64(0) if rules[_RETURN_FIRE] != 0 else struck


@part
def _begin(plan, rules, own, enemy, aim, game, worth, a, struck, out, one):
    """Fill `out` with the worth of the battle before cycle 1, after the bombardment (GC-4.6.1, GC-5.5)."""
    firing = _firing(rules, struck)
    hit = _bombarded(plan, enemy, struck, firing)
    outcome = _test_a(rules, own, enemy, a, struck, firing, hit, np.int64(0))
    if outcome != _GOES_ON:
        _pay(rules, own, enemy, aim, a, struck, outcome, out)
    else:
        _fight(own, enemy, worth, game, aim, a, firing, struck, np.int64(0), out, one)


@part
def _list_subs(enemy, game):
    """List what each state of the defender can become, by the number of hits; returns False if that is too much."""
    n = enemy.count[0]
    for d in range(n):
        at = np.int64(0)
        h = np.int64(0)
        game.sub_starts[d, 0] = 0
        for j in range(n - 1, -1, -1):
            other = enemy.order[j]
            lost = np.int64(enemy.board[d]) - enemy.board[other]
            if lost < 0:
                continue
            inside = True
            for g in range(enemy.units.shape[1]):
                if enemy.units[other, g] > enemy.units[d, g]:
                    inside = False
                    break
            if not inside:
                continue
            while h < lost:
                h += 1
                game.sub_starts[d, h] = at
            if at >= game.subs.shape[1]:
                return False
            game.subs[d, at] = other
            at += 1
        for k in range(h + 1, game.sub_starts.shape[1]):
            game.sub_starts[d, k] = at
    return True


@part
def choose_all_losses(own, enemy, worth, game, aim):
    """Find the attacker's best losses in all states by the worth of the arrivals of one level."""
    for d in range(enemy.count[0]):
        for i in range(own.count[0]):
            _choose_losses(own, worth, game, aim, own.order[i], d)


@part
def _prepare_losses(own, enemy, worth, game, aim):
    """Make ready to play a cycle whose arrivals are worth `worth`."""
    if aim.losses == ATTACKER_CHOOSES:
        choose_all_losses(own, enemy, worth, game, aim)
    elif aim.losses == DEFENDER_CHOOSES:
        game.best[:, :, :] = -1


@kernel
def play(rules, opening, aim, game, levels, starts, chosen, acc, ends):
    """Play the battle forwards under the decisions found; returns False if it has too many ends.

    Parameters
    ----------
    rules, opening, aim, game, levels, starts, chosen
        As `decide` was given and left them.
    acc : float64 (K + 6,)
        Output: expected accumulators of one battle, and what `SPREAD` names of the swing.
    ends : Ends
        Output: how the battle ends; without room where nobody asks.
    """
    plan = opening.plan
    own = opening.own
    enemy = opening.enemy
    chances = opening.chances
    bombed = opening.bombed
    n_own = own.count[0]
    n_enemy = enemy.count[0]
    kept = game.worth.shape[0]
    now = np.zeros((n_enemy, n_own))
    then = np.zeros((n_enemy, n_own))
    stamps = np.zeros((n_enemy, n_own))
    one = np.zeros(CRITERIA)
    for b in range(len(bombed)):
        acc[_A_BOMBARD_HITS] += b * bombed[b]
    most_lost = own.lost[0]
    for a in range(n_own):
        most_lost = max(most_lost, own.lost[a])
    record = new_record(min(most_lost + enemy.all_lost[0] + 1, 2 * n_own * n_enemy), ends)
    after = game.worth[1 % kept]
    _prepare_losses(own, enemy, after, game, aim)
    for i in range(len(starts)):
        start = np.int64(starts[i])
        for b in range(len(bombed)):
            p = chances[i] * bombed[b]
            if p == 0.0:
                continue
            struck = np.int64(chosen[i, b])
            firing = _firing(rules, struck)
            hit = _bombarded(plan, enemy, struck, firing)
            over = _test_a(rules, own, enemy, start, struck, firing, hit, np.int64(0))
            if over != _GOES_ON:
                if not _book(plan, rules, own, enemy, start, struck, over, p, 0.0, np.int64(0), acc, record):
                    return False
            else:
                _spread(own, enemy, after, game, aim, start, firing, struck, p, 0.0, np.int64(0), then, stamps, one)
    cycle = np.int64(1)
    going = 0.0
    counted = max(levels, len(ends.by_cycle) - 2)
    while True:
        going = 0.0
        for d in range(n_enemy):
            for a in range(n_own):
                p = then[d, a]
                if p == 0.0:
                    continue
                then[d, a] = 0.0
                outcome, state = _arrive(rules, own, enemy, game, a, d, cycle, levels)
                if outcome == _GOES_ON:
                    now[d, state] += p
                    going += p
                else:
                    acc[_A_CYCLES] += p * cycle
                    acc[_A_CYCLES + 1] += p * cycle * cycle
                    if not _book(plan, rules, own, enemy, state, d, outcome, p, p * cycle, cycle, acc, record):
                        return False
        if cycle == counted or going <= _REMNANT:
            break
        if cycle < levels:
            after = game.worth[(cycle + 1) % kept]
            _prepare_losses(own, enemy, after, game, aim)
        for d in range(n_enemy):
            for a in range(n_own):
                if now[d, a] > 0.0:
                    _spread(own, enemy, after, game, aim, a, d, d, now[d, a], 0.0, np.int64(0), then, stamps, one)
                    now[d, a] = 0.0
        cycle = cycle + np.int64(1)
    acc[_A_CYCLES] += going * cycle
    acc[_A_CYCLES + 1] += going * cycle * cycle
    if cycle >= levels and going > 0.0:
        if not _play_to_the_end(plan, rules, own, enemy, aim, game, levels, now, cycle, acc, record):
            return False
    _finish(rules, acc)
    fold_swing(record.swing, acc)
    return True


@part
def _arrive(rules, own, enemy, game, a, d, cycle, levels):
    """Step 6 under the decisions found: returns the outcome or `_GOES_ON`, and the attacker's state (GC-4.6.1)."""
    outcome = _test_a(rules, own, enemy, a, d, d, np.int64(0), cycle)
    if outcome != _GOES_ON:
        return outcome, np.int64(a)
    if game.leaves[min(cycle, levels) - 1, d, a] != 0:
        if own.left[a] < 0:
            return np.int64(_RETREATS), np.int64(a)
        a = np.int64(own.left[a])
        outcome = _test_a(rules, own, enemy, a, d, d, np.int64(0), cycle)
        if outcome != _GOES_ON:
            return outcome, a
    if cycle == rules[_LIMIT]:
        return np.int64(_UNFINISHED), np.int64(a)
    return np.int64(_GOES_ON), np.int64(a)


@part
def _play_to_the_end(plan, rules, own, enemy, aim, game, levels, now, cycle, acc, record):
    """Go through all states from the largest, with the loops of states to themselves divided out.

    A stamp is a probability times the number of cycles fought. Who left in part does not come to leave again, so
    whoever goes on here does so after every cycle in which nobody is hit. Cycles are not told apart any
    more: the next one stands for all of them.
    """
    last = game.worth[levels % game.worth.shape[0]]
    n_own = own.count[0]
    n_enemy = enemy.count[0]
    one = np.zeros(CRITERIA)
    stamps = now * np.float64(cycle)
    arrived = np.zeros((n_enemy, n_own))
    arrived_stamps = np.zeros((n_enemy, n_own))
    visits_sum = 0.0
    stamps_sum = 0.0
    for j in range(n_enemy - 1, -1, -1):
        d = enemy.order[j]
        for i in range(n_own - 1, -1, -1):
            a = own.order[i]
            p = arrived[d, a]
            if p > 0.0:
                outcome, state = _arrive(rules, own, enemy, game, a, d, levels, levels)
                if outcome == _GOES_ON:
                    now[d, state] += p
                    stamps[d, state] += arrived_stamps[d, a]
                else:
                    marked = arrived_stamps[d, a]
                    if not _book(plan, rules, own, enemy, state, d, outcome, p, marked, cycle + 1, acc, record):
                        return False
            if now[d, a] == 0.0:
                continue
            stays = own.hits[a, 0] * enemy.hits[d, 0]
            visits = now[d, a] / (1.0 - stays)
            stamp = (stamps[d, a] + stays * visits) / (1.0 - stays)
            visits_sum += visits
            stamps_sum += stamp
            _spread(
                own, enemy, last, game, aim, a, d, d, visits, stamp + visits, np.int64(1), arrived, arrived_stamps, one
            )
    acc[_A_CYCLES] += visits_sum
    acc[_A_CYCLES + 1] += 2.0 * stamps_sum + visits_sum
    return True


@part
def _most_hits(plan, side, counts):
    """Most dice that a side could ever roll in a cycle."""
    total = np.int64(0)
    for k in range(plan.n_slots[side]):
        total += counts[plan.slots[side, k, 0]] * plan.slots[side, k, 4]
    return total


@part
def _fire_aa(rules, plan, odds, stack, alive, hits, scratch, starts, chances, scored):
    """Find the states after antiaircraft fire, each lost along the order of loss (GC-4.0.1 to GC-4.0.3).

    Fills states, probabilities and hits; returns how many, -1 for too many.
    """
    n_starts = np.int64(1)
    starts[0] = 0
    chances[0] = 1.0
    scored[0] = 0
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
            for h in range(most + 1):
                if pmf[h] == 0.0:
                    continue
                _load(plan, 0, stack, starts[s], alive)
                hits[0, 0] = h
                for g in range(plan.board[0, 0], plan.board[0, 1]):
                    if is_aircraft(plan.kind[g]) if owner_picks else plan.kind[g] == t:
                        remove(alive, g, g + 1, 0, 1, hits, 0)
                at = _find(plan, 0, stack, alive)
                if at < 0 or n_starts >= len(starts):
                    return np.int64(-1)
                starts[n_starts] = at
                chances[n_starts] = chances[s] * pmf[h]
                scored[n_starts] = scored[s] + h
                n_starts += 1
        for s in range(before, n_starts):
            starts[s - before] = starts[s]
            chances[s - before] = chances[s]
            scored[s - before] = scored[s]
        n_starts -= before
    return n_starts


class Opening(NamedTuple):
    """The states of both sides and how a battle begins.

    Attributes
    ----------
    plan : Plan
    own, enemy : Stack
    starts, scored : int64 (n,)
        Attacker's states after antiaircraft fire by his order of loss, and its hits.
    chances : float64 (n,)
        Their probabilities.
    bombed : float64 (hits,)
        Distribution of the bombardment's hits.
    fits : bool
        Whether there was room for all states.
    """

    plan: Any
    own: Any
    enemy: Any
    starts: Any
    scored: Any
    chances: Any
    bombed: Any
    fits: Any


@kernel
def open_battle(battles, row, losses, in_part, capacity):
    """Return the `Opening` of a battle on land or landing.

    Parameters
    ----------
    battles : Battles
    row, losses : int64
        Matchup row; as `Aim.losses`.
    in_part : bool
        Whether some may leave an assault while others stay.
    capacity : int64 (2,)
        Most states of either side.
    """
    rules = battles.rules[row]
    odds = battles.odds
    plan = plan_matchup(battles, row)
    alive = np.zeros((_ROWS, 1), dtype=np.int32)
    doomed = np.zeros((_ROWS, 1), dtype=np.int32)
    dice = np.zeros(1, dtype=np.int32)
    hits = np.zeros((1, 1), dtype=np.int32)
    most_own = np.int64(_most_hits(plan, 0, battles.counts[row, 0]))
    most_enemy = np.int64(_most_hits(plan, 1, battles.counts[row, 1]))
    width = max(most_own, most_enemy)
    for k in range(_N_BOMBARDERS):
        width += rules[_BOMBARDING + k]
    for g in range(plan.groups[0, 0], plan.groups[0, 1]):
        width += plan.start[g]
    scratch = (np.zeros(width + 2), np.zeros(width + 2), np.zeros(width + 2))
    own = new_stack(capacity[0], most_own)
    enemy = new_stack(capacity[1], most_enemy)
    fits = set_radix(plan, 0, battles.counts[row, 0], own.radix)
    fits = set_radix(plan, 1, battles.counts[row, 1], enemy.radix) and fits
    for side in range(2):
        for g in range(plan.groups[side, 0], plan.groups[side, 1]):
            alive[g, 0] = plan.start[g]
    _find(plan, 0, own, alive)
    _find(plan, 1, enemy, alive)
    starts = np.zeros(2 * capacity[0] + 2, dtype=np.int64)
    scored = np.zeros(2 * capacity[0] + 2, dtype=np.int64)
    chances = np.zeros(2 * capacity[0] + 2)
    n_starts = np.int64(0)
    if fits:
        n_starts = _fire_aa(rules, plan, odds, own, alive, hits, scratch, starts, chances, scored)
        fits = n_starts >= 0
    if fits:
        is_free = losses == ATTACKER_CHOOSES
        fits = list_states(rules, plan, odds, np.int64(0), own, is_free, in_part, alive, doomed, dice, hits, scratch)
    if fits:
        is_free = losses == DEFENDER_CHOOSES
        fits = list_states(rules, plan, odds, np.int64(1), enemy, is_free, in_part, alive, doomed, dice, hits, scratch)
    n_starts = max(n_starts, np.int64(0))
    bombed = _bombardment(rules, odds, scratch)
    return Opening(
        plan, own, enemy, starts[:n_starts].copy(), scored[:n_starts].copy(), chances[:n_starts].copy(), bombed, fits
    )


@kernel
def decide(rules, opening, aim, game, levels, starts, chosen, total):
    """Work the battle out backwards; returns False where the defender has too many choices.

    Parameters
    ----------
    rules : int64 (R,)
    opening : Opening
    aim : Aim
    game : Game
        Output.
    levels : int64
        Cycles that are gone through one by one; the last stands for all later ones.
    starts : int64 (n,)
        Output: attacker's states after antiaircraft fire.
    chosen : int64 (n, hits)
        Output: defender's states after the bombardment.
    total : float64 (criteria,)
        Output: what the battle is worth.
    """
    plan = opening.plan
    own = opening.own
    enemy = opening.enemy
    if aim.losses == DEFENDER_CHOOSES and not _list_subs(enemy, game):
        return False
    value_levels(rules, own, enemy, aim, game, levels)
    first = game.worth[1 % game.worth.shape[0]]
    if aim.losses == ATTACKER_CHOOSES:
        choose_all_losses(own, enemy, first, game, aim)
    out = np.zeros(CRITERIA)
    one = np.zeros(CRITERIA)
    other = np.zeros(chosen.shape[1], dtype=np.int64)
    for i in range(len(starts)):
        starts[i] = opening.starts[i]
        _first_cycle(plan, rules, own, enemy, aim, game, first, starts[i], opening.bombed, out, one, chosen[i])
        if aim.losses == ATTACKER_CHOOSES and rules[_AA_OWNER_PICKS] != 0 and opening.scored[i] > 0:
            # The owner picks the aircraft that are hit: of all states without so many of them the best.
            value = out[0]
            full = opening.starts[i]
            for a in range(own.count[0]):
                alike = own.elsewhere[a] == 0 and own.land[a] == own.land[0] and own.board[a] == own.board[full]
                if alike and a != full:
                    _first_cycle(plan, rules, own, enemy, aim, game, first, a, opening.bombed, out, one, other)
                    if out[0] > value + aim.margin:
                        value = out[0]
                        starts[i] = a
            _first_cycle(plan, rules, own, enemy, aim, game, first, starts[i], opening.bombed, out, one, chosen[i])
        for c in range(CRITERIA):
            total[c] += opening.chances[i] * out[c]
    return True
