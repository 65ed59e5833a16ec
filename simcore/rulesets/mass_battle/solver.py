"""Exact solver of mass battles: every state and its probability, from the sampler's own steps.

A state of an army is what stands when the rolls of a turn begin (`army_states`). Given the states of both armies and
the parts of the rolls that concern the roller himself, what happens to one army is independent of what happens to the
other, so a turn is a product of two rows of probabilities (`turn_rows`).

States recur, since a suppressed squad comes back, but squads that are gone never do: all pairs of states with as many
squads on either side are moved on among themselves until next to nothing stays, then the time spent in them leads to
smaller armies. Where a limit of turns matters, or pools change from turn to turn, all pairs are moved on turn by turn
instead. The mean losses so far come along with each pair: they are all that variances need. What an ending is
worth is worked out once, from the time that the battle spends in each pair.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from simcore.core.jit import kernel
from simcore.enums import Status
from simcore.rulesets.mass_battle.army_states import list_states, load_state, room_after
from simcore.rulesets.mass_battle.encoding import (
    MAX_TYPES,
    STATUSES,
    Accumulator,
    Initiative,
    Outcome,
    PursuitLimit,
    RowField,
    Standing,
)
from simcore.rulesets.mass_battle.lane import N_STANDINGS, end_battle, plan_matchup
from simcore.rulesets.mass_battle.steps import GOES_ON, conclude
from simcore.rulesets.mass_battle.turn_rows import (
    binomials,
    chances_of,
    dice_left,
    dice_of,
    face,
    list_rows,
    ones_of,
    outcomes_of,
    pool_index,
    pool_of,
    reach_of,
)

__all__ = ["solve_all", "solve_battle"]

_OK = int(Status.OK)
_CAPACITY = int(Status.CAPACITY)
_ACTIVE = int(Standing.ACTIVE)
_DUE = int(Standing.DUE)
_LATE = int(Standing.LATE)
_ROUTED = int(Standing.ROUTED)
_FAILED = int(Standing.FAILED)
_DESTROYED = int(Standing.DESTROYED)
_CAPTURED = int(Standing.CAPTURED)
_ONES_EVERY_ROLL = int(RowField.ONES_EVERY_ROLL)
_INITIATIVE = int(RowField.INITIATIVE)
_MUTUAL = int(RowField.MUTUAL_OUTCOME)
_MAX_TURNS = int(RowField.MAX_TURNS)
_LIMIT = int(RowField.PURSUIT_LIMIT)
_SIMULTANEOUS = int(Initiative.SIMULTANEOUS)
_DEFENDER_FIRST = int(Initiative.DEFENDER_FIRST)
_ONE_PER_SQUAD = int(PursuitLimit.ONE_PER_SQUAD)
_ATTACKER_WINS = int(Outcome.ATTACKER_WINS)
_DEFENDER_WINS = int(Outcome.DEFENDER_WINS)
_UNDECIDED = int(Outcome.UNDECIDED)
_A_BATTLES = int(Accumulator.BATTLES)
_A_OUTCOMES = int(Accumulator.OUTCOMES)
_A_TURNS = int(Accumulator.TURNS)
_A_LOST = int(Accumulator.ATTACKER_LOST)
_A_SWING = int(Accumulator.SWING)
_A_SQUADS = int(Accumulator.SQUADS)
_A_SURVIVORS = int(Accumulator.SURVIVORS)
_N_STATUSES = len(STATUSES)
_N_OUTCOMES = len(Outcome)
_SPECK = 1e-21
"""Probabilities of pairs of states below this are dropped."""
_REMNANT = 1e-15
"""A battle is left when so little goes on."""
_STAYS = 1e-19
"""A level is left when so little stays in it."""
_MOST_STAYS = 1_000
_STRETCH = 1.5
"""Weight of each further turn in the bound of the time that a battle takes."""
_FAR = 60
"""A limit of turns that may be too far away to matter."""
_MOST_HITS = 1 << 23
_MOST_TURNS = (1 << 20) - 1
_MOST_EFFORT = 1 << 38
"""Most multiplications of a battle that goes on and on."""


class _Weights(NamedTuple):
    """How often each row of an army is passed, by how the battle ends then. R rows, J levels of pursuit.

    Attributes
    ----------
    passed : float64 (R,)
    wins, undecided : float64 (R,)
        For the part of the row that leaves the army unbroken.
    loses : float64 (R, J), mutual : float64 (R,)
        For the part that breaks it.
    """

    passed: Any
    wins: Any
    undecided: Any
    loses: Any
    mutual: Any


@kernel
def _new_weights(rows, levels):
    n = len(rows.low)
    return _Weights(
        passed=np.zeros(n),
        wins=np.zeros(n),
        undecided=np.zeros(n),
        loses=np.zeros((n, levels)),
        mutual=np.zeros(n),
    )


@kernel
def _book(own, enemy, a, b, p, qa, qb, own_weights, enemy_weights, is_last, moments):
    """Book what happens when row `a` of one army meets row `b` of the other.

    Parameters
    ----------
    own, enemy : Rows
    a, b : int64
    p, qa, qb : float64
        How often they meet, and that times the losses of both armies so far.
    own_weights, enemy_weights : _Weights
    is_last : bool
        Whether the limit of turns is reached after this turn.
    moments : float64 (5,)
        Loss of the first army and its square, of the second, and their product.
    """
    mass_a, mass_b = own.mass[a], enemy.mass[b]
    stays_a, stays_b = own.stays[a], enemy.stays[b]
    breaks_a, breaks_b = mass_a - stays_a, mass_b - stays_b
    own_weights.passed[a] += p * mass_b
    enemy_weights.passed[b] += p * mass_a
    own_weights.wins[a] += p * breaks_b
    enemy_weights.wins[b] += p * breaks_a
    own_weights.mutual[a] += p * breaks_b
    enemy_weights.mutual[b] += p * breaks_a
    if is_last:
        own_weights.undecided[a] += p * stays_b
        enemy_weights.undecided[b] += p * stays_a
    moments[0] += p * own.lost[a] * mass_b
    moments[1] += p * own.lost_sq[a] * mass_b + 2.0 * qa * own.lost[a] * mass_b
    moments[2] += p * enemy.lost[b] * mass_a
    moments[3] += p * enemy.lost_sq[b] * mass_a + 2.0 * qb * enemy.lost[b] * mass_a
    moments[4] += p * own.lost[a] * enemy.lost[b] + qa * enemy.lost[b] * mass_a + qb * own.lost[a] * mass_b
    for j in range(own.chases.shape[1]):
        c = own.chases[a, j]
        if c > 0.0 and breaks_b > 0.0:
            enemy_weights.loses[b, j] += p * c
            moments[2] += p * c * enemy.caught[b, j]
            moments[3] += p * c * (enemy.caught_sq[b, j] + 2.0 * enemy.caught_lost[b, j])
            moments[3] += 2.0 * qb * c * enemy.caught[b, j]
            moments[4] += qa * c * enemy.caught[b, j] + p * own.chases_lost[a, j] * enemy.caught[b, j]
        c = enemy.chases[b, j]
        if c > 0.0 and breaks_a > 0.0:
            own_weights.loses[a, j] += p * c
            moments[0] += p * c * own.caught[a, j]
            moments[1] += p * c * (own.caught_sq[a, j] + 2.0 * own.caught_lost[a, j])
            moments[1] += 2.0 * qa * c * own.caught[a, j]
            moments[4] += qb * c * own.caught[a, j] + p * enemy.chases_lost[b, j] * own.caught[a, j]


@kernel
def _account(rules, plan, armies, rows, roles, frame, turn, spent, weights, is_last, moments):
    """Book the time `spent` in pairs of states in a turn; a pool and its effects are the same in all of it."""
    first, second = armies
    own, enemy = rows
    sequential, low_first, low_second, ones_first, ones_second, dice_kinds = frame
    for a in range(spent.shape[1]):
        dice_a = dice_left(first, a)
        for b in range(spent.shape[2]):
            p = spent[0, a, b]
            if p == 0.0:
                continue
            dice_b = dice_left(second, b)
            pool_a = pool_of(rules, plan, roles[0], turn, dice_a, dice_b)
            index_a = pool_index(pool_a, dice_a, low_first)
            kept_a = np.int64(1) if index_a == 0 else ones_of(rules, pool_a, ones_first)
            for g in range(dice_kinds if sequential else 1):
                left = np.int64(g - 1) if sequential else dice_b
                pool_b = pool_of(rules, plan, roles[1], turn, left, dice_a)
                index_b = pool_index(pool_b, left, low_second)
                kept_b = np.int64(1) if index_b == 0 else ones_of(rules, pool_b, ones_second)
                for ka in range(kept_a):
                    for kb in range(kept_b):
                        row_b = enemy.at[b, index_a, ka, kb, g if sequential else 0]
                        if enemy.mass[row_b] == 0.0:
                            continue
                        row_a = own.at[a, index_b, kb, ka, 0]
                        _book(
                            own, enemy, row_a, row_b, p, spent[1, a, b], spent[2, a, b],
                            weights[0], weights[1], is_last, moments,
                        )  # fmt: skip


@kernel
def _move(rules, plan, armies, rows, roles, frame, turn, source, target, span, keeps, middle, used):
    """Move the pairs of states in a block on by one turn; returns the multiplications made.

    Parameters
    ----------
    source, target : float64 (kinds, states, states)
        Probability, the same times the losses of both armies so far; and, where there are five, times the turns
        so far, and weighted with the time (see `_run_by_level`). Added to `target`.
    span : tuple of int64
        First and past-the-last state of either army in the block.
    keeps : int64
        0: all targets; 1: only those inside the block; 2: only those outside.
    middle : float64 (kinds, places, states), used : int64 (places,)
        Scratch.
    """
    first, second = armies
    own, enemy = rows
    sequential, low_first, low_second, ones_first, ones_second, dice_kinds = frame
    a_first, a_last, b_first, b_last = span
    n_second = source.shape[2]
    timed = source.shape[0] > 3
    effort = np.int64(0)
    for a in range(a_first, a_last):
        dice_a = dice_left(first, a)
        some = False
        for b in range(b_first, b_last):
            p = source[0, a, b]
            if p < _SPECK:
                continue
            if not some:
                some = True
                used[:] = 0
            qa = source[1, a, b]
            qb = source[2, a, b]
            w = source[3, a, b] + p if timed else 0.0
            z = source[4, a, b] * _STRETCH if timed else 0.0
            dice_b = dice_left(second, b)
            pool_a = pool_of(rules, plan, roles[0], turn, dice_a, dice_b)
            index_a = pool_index(pool_a, dice_a, low_first)
            kept_a = np.int64(1) if index_a == 0 else ones_of(rules, pool_a, ones_first)
            for g in range(dice_kinds if sequential else 1):
                left = np.int64(g - 1) if sequential else dice_b
                pool_b = pool_of(rules, plan, roles[1], turn, left, dice_a)
                index_b = pool_index(pool_b, left, low_second)
                kept_b = np.int64(1) if index_b == 0 else ones_of(rules, pool_b, ones_second)
                for ka in range(kept_a):
                    for kb in range(kept_b):
                        row = enemy.at[b, index_a, ka, kb, g if sequential else 0]
                        low, high = enemy.low[row], enemy.high[row]
                        start = enemy.start[row] - low
                        if keeps == 1:
                            low, high = max(low, b_first), min(high, b_last)
                        if low >= high:
                            continue
                        place = (index_b * (ones_second + 1) + kb) * (ones_first + 1) + ka
                        if used[place] == 0:
                            used[place] = 1
                            for k in range(source.shape[0]):
                                middle[k, place, :] = 0.0
                        effort += high - low
                        chance = enemy.chance[start + low : start + high]
                        loss = enemy.loss[start + low : start + high]
                        mid = middle[0, place, low:high]
                        mid_a = middle[1, place, low:high]
                        mid_b = middle[2, place, low:high]
                        for k in range(high - low):
                            mid[k] += p * chance[k]
                            mid_a[k] += qa * chance[k]
                            mid_b[k] += qb * chance[k] + p * loss[k]
                        if timed:
                            mid_w = middle[3, place, low:high]
                            mid_z = middle[4, place, low:high]
                            for k in range(high - low):
                                mid_w[k] += w * chance[k]
                                mid_z[k] += z * chance[k]
        if not some:
            continue
        for place in range(len(used)):
            if used[place] == 0:
                continue
            ka = place % (ones_first + 1)
            kb = place // (ones_first + 1) % (ones_second + 1)
            index_b = place // (ones_first + 1) // (ones_second + 1)
            row = own.at[a, index_b, kb, ka, 0]
            low, high = own.low[row], own.high[row]
            start = own.start[row] - low
            if keeps == 1:
                low, high = max(low, a_first), min(high, a_last)
            for m in range(low, max(low, high)):
                chance_a = own.chance[start + m]
                if chance_a == 0.0:
                    continue
                loss_a = own.loss[start + m]
                if keeps == 0:
                    effort += _add_row(middle, place, target, m, chance_a, loss_a, np.int64(0), n_second)
                elif keeps == 1:
                    effort += _add_row(middle, place, target, m, chance_a, loss_a, b_first, b_last)
                else:
                    # Larger armies cannot be reached.
                    begin = b_last if m < a_last else b_first
                    effort += _add_row(middle, place, target, m, chance_a, loss_a, begin, n_second)
    return effort


@kernel
def _add_row(middle, place, target, m, chance, loss, low, high):
    """Add a row of `middle` to the row of state `m` in `target`, from `low` to `high` - 1; returns its length."""
    mid = middle[0, place, low:high]
    mid_a = middle[1, place, low:high]
    mid_b = middle[2, place, low:high]
    row = target[0, m, low:high]
    row_a = target[1, m, low:high]
    row_b = target[2, m, low:high]
    for k in range(len(mid)):
        row[k] += chance * mid[k]
        row_a[k] += chance * mid_a[k] + loss * mid[k]
        row_b[k] += chance * mid_b[k]
    if target.shape[0] > 3:
        mid_w = middle[3, place, low:high]
        mid_z = middle[4, place, low:high]
        row_w = target[3, m, low:high]
        row_z = target[4, m, low:high]
        for k in range(len(mid)):
            row_w[k] += chance * mid_w[k]
            row_z[k] += chance * mid_z[k]
    return max(np.int64(0), high - low)


@kernel
def _run_by_level(rules, plan, armies, rows, roles, frame, sizes, spent, middle, used):
    """Find the time spent in each pair of states of a battle without a limit of turns; returns whether it ends soon.

    Squads never join, so all pairs with the same numbers of squads in play are left for good once a squad is gone:
    level by level, the pairs of one are moved on among themselves until next to nothing stays, and what they were
    worth together leads to the lower ones. Fills `spent` with five kinds: time spent, the same times the losses of
    both armies so far and times the turns so far, and the time weighted with `_STRETCH` to the power of the turns
    so far, which bounds how long the battle may take: what is not followed is too unlikely to break the bound.
    """
    flow = np.zeros(spent.shape)
    flow[0, 0, 0] = 1.0
    flow[4, 0, 0] = 1.0
    now = np.zeros(spent.shape)
    then = np.zeros(spent.shape)
    first, second = sizes
    a_first = np.int64(0)
    while a_first < len(first):
        a_last = a_first
        while a_last < len(first) and first[a_last] == first[a_first]:
            a_last += 1
        b_first = np.int64(0)
        while b_first < len(second):
            b_last = b_first
            while b_last < len(second) and second[b_last] == second[b_first]:
                b_last += 1
            span = (a_first, a_last, b_first, b_last)
            if _sum_block(flow, span) > _SPECK:
                _copy_block(flow, now, span)
                for _ in range(_MOST_STAYS):
                    _add_block(now, spent, span)
                    _clear_block(then, span)
                    _move(
                        rules, plan, armies, rows, roles, frame, np.int64(1), now, then, span, np.int64(1), middle, used
                    )
                    now, then = then, now
                    if _sum_block(now, span) < _STAYS:
                        break
                if not _sum_block(now, span) < _STAYS:
                    return False
                _move(
                    rules, plan, armies, rows, roles, frame, np.int64(1), spent, flow, span, np.int64(2), middle, used
                )
            b_first = b_last
        a_first = a_last
    return True


@kernel
def _sum_block(flow, span):
    """Probability in a block of pairs."""
    total = 0.0
    for a in range(span[0], span[1]):
        for b in range(span[2], span[3]):
            total += flow[0, a, b]
    return total


@kernel
def _copy_block(source, target, span):
    for k in range(source.shape[0]):
        for a in range(span[0], span[1]):
            for b in range(span[2], span[3]):
                target[k, a, b] = source[k, a, b]


@kernel
def _add_block(source, target, span):
    for k in range(source.shape[0]):
        for a in range(span[0], span[1]):
            for b in range(span[2], span[3]):
                target[k, a, b] += source[k, a, b]


@kernel
def _clear_block(target, span):
    for k in range(target.shape[0]):
        for a in range(span[0], span[1]):
            for b in range(span[2], span[3]):
                target[k, a, b] = 0.0


@kernel
def _add_ends(rules, plan, army, n_after, side, rows, weights, frame_ones, tables, pool_low, by_dice, levels, acc):
    """Turn the weights of one army's rows into squads by status and survivors by outcome; returns what is destroyed."""
    half, thirds, third = tables
    most_ones, own_ones = frame_ones
    n, pools = rows.at.shape[0], rows.at.shape[1]
    wins = np.zeros(n_after)
    undecided = np.zeros(n_after)
    mutual = np.zeros(n_after)
    loses = np.zeros((n_after, levels))
    most_targets = np.int64(0)
    for s in range(n):
        most_targets = max(most_targets, army.targets[s])
    out = np.zeros((most_targets + 1, most_targets + 1, most_targets + 1))
    destroyed = 0.0
    for p in range(pools):
        pool = pool_low + p - 1
        kept = np.int64(1) if p == 0 else ones_of(rules, pool, most_ones)
        for ones in range(kept):
            for reach in range(most_targets + 1):
                if p == 0:
                    out[: reach + 1, : reach + 1, : reach + 1] = 0.0
                    out[0, 0, 0] = 1.0
                else:
                    chances_of(rules, half, thirds, third, pool, reach, ones, most_ones, out)
                for s in range(n):
                    if army.targets[s] != reach:
                        continue
                    most = min(army.active[s], own_ones)
                    outcomes = outcomes_of(army, s, most)
                    limit = reach_of(outcomes)
                    for own in range(own_ones + 1):
                        first_row = rows.at[s, p, ones, own, 0]
                        i = army.hit_start[s] + min(own, most) * outcomes
                        for d in range(limit + 1):
                            for u in range(limit + 1 - d):
                                for v in range(limit + 1 - d - u):
                                    q = out[d, u, v]
                                    h = i
                                    i += 1
                                    if q == 0.0:
                                        continue
                                    row = first_row + (army.hit_dice[h] + 1 if by_dice > 1 else 0)
                                    if weights.passed[row] == 0.0:
                                        continue
                                    e = army.hit_after[h]
                                    destroyed += q * weights.passed[row] * army.hit_squads[h]
                                    if army.broken[e] != 0:
                                        mutual[e] += q * weights.mutual[row]
                                        for j in range(levels):
                                            loses[e, j] += q * weights.loses[row, j]
                                    else:
                                        wins[e] += q * weights.wins[row]
                                        undecided[e] += q * weights.undecided[row]
    squads = np.zeros((2, N_STANDINGS, MAX_TYPES, 1), dtype=np.int32)
    win = _ATTACKER_WINS if side == 0 else _DEFENDER_WINS
    loss = _DEFENDER_WINS if side == 0 else _ATTACKER_WINS
    for e in range(n_after):
        for situation in range(3 + levels):
            outcome = np.int64(_UNDECIDED)
            weight = undecided[e]
            pursuers = np.int64(0)
            stands = True
            if situation == 1:
                outcome, weight, stands = np.int64(win), wins[e], False
            elif situation == 2:
                outcome, weight, stands = rules[_MUTUAL], mutual[e], False
            elif situation > 2:
                outcome, weight, pursuers = np.int64(loss), loses[e, situation - 3], np.int64(situation - 3)
            if weight == 0.0:
                continue
            load_state(plan, squads, side, army.after, e, 0, 1)
            for k in range(plan.n_types[1 - side]):
                squads[1 - side, :, plan.listed[1 - side, k], 0] = 0
            if stands:
                face(plan, squads, 1 - side, pursuers)
            end_battle(rules, plan, squads, 0, np.int64(0), None)
            if side == 0:
                acc[_A_OUTCOMES + outcome] += weight
            for k in range(plan.n_types[side]):
                t = plan.listed[side, k]
                squad = squads[side, :, t, 0]
                column = _A_SQUADS + side * _N_STATUSES
                left = squad[_ACTIVE] + squad[_DUE] + squad[_LATE]
                acc[column] += weight * squad[_ACTIVE]
                acc[column + 1] += weight * (squad[_DUE] + squad[_LATE])
                acc[column + 2] += weight * (squad[_ROUTED] + squad[_FAILED])
                acc[column + 4] += weight * squad[_DESTROYED]
                acc[column + 5] += weight * squad[_CAPTURED]
                acc[_A_SURVIVORS + (outcome * 2 + side) * MAX_TYPES + t] += weight * left
    acc[_A_SQUADS + side * _N_STATUSES + 4] += destroyed


@kernel
def _total(plan, side):
    total = np.int64(0)
    for k in range(plan.n_types[side]):
        total += plan.start[side, plan.listed[side, k]]
    return total


@kernel
def _pool_range(rules, plan, side):
    """Return the least and largest pool that an army may have."""
    most = np.int64(0)
    least = np.int64(1 << 30)
    for k in range(plan.n_types[side]):
        t = plan.listed[side, k]
        most += plan.dice[side, t] * plan.start[side, t]
        least = min(least, plan.dice[side, t])
    enemy = np.int64(0)
    for k in range(plan.n_types[1 - side]):
        t = plan.listed[1 - side, k]
        enemy += plan.dice[1 - side, t] * plan.start[1 - side, t]
    low = np.int64(1 << 30)
    high = np.int64(-(1 << 30))
    turns = max(len(plan.modifiers[side]), len(plan.pools[side]))
    for turn in range(1, turns + 1):
        for dice in (least, most):
            for against in (np.int64(0), enemy):
                pool = pool_of(rules, plan, side, turn, dice, against)
                low = min(low, pool)
                high = max(high, pool)
    return low, high


@kernel
def _end_at_once(rules, plan, acc):
    """Book a battle that is over before its first turn, as one of the armies is empty; returns whether it is."""
    empty = (_total(plan, 0) == 0, _total(plan, 1) == 0)
    outcome = conclude(empty[0], empty[1], rules[_MUTUAL], 0, rules[_MAX_TURNS])
    if outcome == GOES_ON:
        return False
    acc[_A_BATTLES] = 1.0
    acc[_A_OUTCOMES + outcome] = 1.0
    for side in range(2):
        for k in range(plan.n_types[side]):
            t = plan.listed[side, k]
            acc[_A_SQUADS + side * _N_STATUSES] += plan.start[side, t]
            acc[_A_SURVIVORS + (outcome * 2 + side) * MAX_TYPES + t] += plan.start[side, t]
    return True


@kernel
def _run_by_turn(rules, plan, armies, rows, roles, frame, limit, changing, weights, moments, used, acc):
    """Move all pairs of states on turn by turn, to the limit or until next to nothing goes on.

    Returns False for a battle that takes too long.
    """
    n_first, n_second = len(armies[0].size), len(armies[1].size)
    now = np.zeros((3, n_first, n_second))
    then = np.zeros((3, n_first, n_second))
    spent = np.zeros((3, n_first, n_second))
    middle = np.zeros((3, len(used), n_second))
    span = (np.int64(0), np.int64(n_first), np.int64(0), np.int64(n_second))
    now[0, 0, 0] = 1.0
    going = 1.0
    turn = np.int64(0)
    effort = np.int64(0)
    while going > _REMNANT and (limit == 0 or turn < limit):
        turn = turn + np.int64(1)
        acc[_A_TURNS] += going
        acc[_A_TURNS + 1] += going * (2 * turn - 1)
        is_last = turn == limit
        if is_last:
            _account(rules, plan, armies, rows, roles, frame, turn, spent, weights, False, moments)
            spent[:, :, :] = 0.0
        _add_block(now, spent, span)
        if is_last or turn <= changing:
            _account(rules, plan, armies, rows, roles, frame, turn, spent, weights, is_last, moments)
            spent[:, :, :] = 0.0
        if is_last:
            return True
        then[:, :, :] = 0.0
        effort += _move(rules, plan, armies, rows, roles, frame, turn, now, then, span, np.int64(0), middle, used)
        now, then = then, now
        going = now[0].sum()
        if effort > _MOST_EFFORT or turn == _MOST_TURNS:
            return False
    _account(rules, plan, armies, rows, roles, frame, turn + 1, spent, weights, False, moments)
    return True


@kernel
def solve_battle(row, armies, remembers, rooms, tallies, status, reached):
    """Solve one battle exactly.

    Parameters
    ----------
    row : int64
        Matchup.
    armies : Armies
    remembers : int64 (M, S)
        Whether states of a side remember squads in flight.
    rooms : int64 (M, S)
        Most states of a side.
    tallies : float64 (M, K)
        Output: expected accumulators of one battle.
    status : uint8 (M,)
        Output: CAPACITY when there is more to do than allowed.
    reached : int64 (M,)
        Output: number of pairs of states.
    """
    rules = armies.rules[row]
    odds = armies.odds
    plan = plan_matchup(armies, row)
    acc = tallies[row]
    reached[row] = 1
    status[row] = _OK
    if _end_at_once(rules, plan, acc):
        return
    sequential = rules[_INITIATIVE] != _SIMULTANEOUS
    first = np.int64(1 if rules[_INITIATIVE] == _DEFENDER_FIRST else 0)
    roles = (first, 1 - first)
    low_first, high_first = _pool_range(rules, plan, roles[0])
    low_second, high_second = _pool_range(rules, plan, roles[1])
    # Beyond one's own squads more ones change nothing.
    ones_first = np.int64(0)
    ones_second = np.int64(0)
    if rules[_ONES_EVERY_ROLL] != 0 or low_first < 1:
        ones_first = _total(plan, roles[0])
    if rules[_ONES_EVERY_ROLL] != 0 or low_second < 1:
        ones_second = _total(plan, roles[1])
    levels = np.int64(2)
    if rules[_LIMIT] == _ONE_PER_SQUAD:
        for side in range(2):
            mobile = np.int64(0)
            for k in range(plan.n_types[side]):
                t = plan.listed[side, k]
                mobile += plan.start[side, t] if plan.mobile[side, t] != 0 else 0
            levels = max(levels, mobile + 1)
    dice_kinds = np.int64(1)
    if sequential:
        dice_kinds = np.int64(2)
        for k in range(plan.n_types[roles[1]]):
            t = plan.listed[roles[1], k]
            dice_kinds += plan.dice[roles[1], t] * plan.start[roles[1], t]
    room_first = rooms[row, roles[0]]
    room_second = rooms[row, roles[1]]
    army_a, n_a, after_a = list_states(
        rules, plan, odds, roles[0], remembers[row, roles[0]] != 0, max(np.int64(1), high_second), ones_first,
        room_first, room_after(plan, roles[0], remembers[row, roles[0]]),
    )  # fmt: skip
    army_b, n_b, after_b = list_states(
        rules, plan, odds, roles[1], remembers[row, roles[1]] != 0, max(np.int64(1), high_first), ones_second,
        room_second, room_after(plan, roles[1], remembers[row, roles[1]]),
    )  # fmt: skip
    if n_a < 0 or n_b < 0:
        status[row] = _CAPACITY
        return
    reached[row] = n_a * n_b
    pools_first = high_first - low_first + 2
    pools_second = high_second - low_second + 2
    kinds_a = pools_second * (ones_first + 1) * (ones_second + 1)
    kinds_b = pools_first * (ones_first + 1) * (ones_second + 1) * dice_kinds
    if n_a * kinds_a > _MOST_HITS or n_b * kinds_b > _MOST_HITS:
        status[row] = _CAPACITY
        return
    most_dice = max(high_first, high_second, dice_of(rules, low_first), dice_of(rules, low_second), 2)
    tables = (binomials(most_dice, 1, 2), binomials(most_dice, 2, 3), binomials(most_dice, 1, 3))
    rows_a, good_a = list_rows(
        rules, plan, army_a, n_a, after_a, roles[0], pools_second, low_second, ones_second, ones_first, levels,
        np.int64(1), tables,
    )  # fmt: skip
    rows_b, good_b = list_rows(
        rules, plan, army_b, n_b, after_b, roles[1], pools_first, low_first, ones_first, ones_second, levels,
        dice_kinds, tables,
    )  # fmt: skip
    if not (good_a and good_b):
        status[row] = _CAPACITY
        return
    frame = (sequential, low_first, low_second, ones_first, ones_second, dice_kinds)
    both = (army_a, army_b)
    rows = (rows_a, rows_b)
    weights = (_new_weights(rows_a, levels), _new_weights(rows_b, levels))
    moments = np.zeros(5)
    places = pools_second * (ones_first + 1) * (ones_second + 1)
    used = np.zeros(places, dtype=np.int64)
    limit = rules[_MAX_TURNS]
    changing = max(plan.modifiers.shape[1], plan.pools.shape[1]) - 1
    done = False
    if changing == 0 and (limit == 0 or limit >= _FAR):
        spent = np.zeros((5, n_a, n_b))
        middle = np.zeros((5, places, n_b))
        sizes = (army_a.size[:n_a], army_b.size[:n_b])
        done = _run_by_level(rules, plan, both, rows, roles, frame, sizes, spent, middle, used)
        # The chance of still going on after the limit is at most the weighted time over the weight of that time.
        done = done and (limit == 0 or spent[4].sum() <= _REMNANT * _STRETCH ** min(limit, 1000))
        if done:
            acc[_A_TURNS] = spent[0].sum()
            acc[_A_TURNS + 1] = 2.0 * spent[3].sum() + spent[0].sum()
            _account(rules, plan, both, rows, roles, frame, np.int64(1), spent, weights, False, moments)
    if not done and not _run_by_turn(
        rules, plan, both, rows, roles, frame, limit, changing, weights, moments, used, acc
    ):  # fmt: skip
        status[row] = _CAPACITY
        return
    _add_ends(
        rules, plan, army_a, after_a, roles[0], rows_a, weights[0], (ones_second, ones_first), tables, low_second,
        np.int64(1), levels, acc,
    )  # fmt: skip
    _add_ends(
        rules, plan, army_b, after_b, roles[1], rows_b, weights[1], (ones_first, ones_second), tables, low_first,
        dice_kinds, levels, acc,
    )  # fmt: skip
    for o in range(_N_OUTCOMES):
        acc[_A_BATTLES] += acc[_A_OUTCOMES + o]
    for k in range(2):
        column = _A_LOST + 2 * roles[k]
        acc[column] = moments[2 * k]
        acc[column + 1] = moments[2 * k + 1]
        squads = _A_SQUADS + roles[k] * _N_STATUSES
        others = acc[squads] + acc[squads + 1] + acc[squads + 2] + acc[squads + 4] + acc[squads + 5]
        acc[squads + 3] = max(0.0, _total(plan, roles[k]) * acc[_A_BATTLES] - others)
    acc[_A_SWING] = acc[_A_LOST + 2] - acc[_A_LOST]
    acc[_A_SWING + 1] = acc[_A_LOST + 1] + acc[_A_LOST + 3] - 2.0 * moments[4]


@kernel
def solve_all(rows, armies, remembers, rooms, tallies, status, reached):
    """Solve all matchups one after the other; arguments as of `solve_battle`. Threads may do so at the same time."""
    for s in range(len(rows)):
        solve_battle(rows[s], armies, remembers, rooms, tallies, status, reached)
