"""What a turn does to one army, as rows of probabilities for the exact solver.

There is a row for each state, each pool of the enemy, each number of ones in either roll where they matter, and, for
the army that answers, for what it has left to answer with.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from simcore.core.chain import binomial
from simcore.core.jit import kernel
from simcore.rulesets.mass_battle.army_states import count_outcomes, grown, load_state
from simcore.rulesets.mass_battle.encoding import MAX_TYPES, RowField, Standing
from simcore.rulesets.mass_battle.lane import N_STANDINGS, end_battle
from simcore.rulesets.mass_battle.steps import attack_pool, confirms, dice_below_four, negative_dice

__all__ = [
    "Rows",
    "binomials",
    "chances_of",
    "dice_left",
    "dice_of",
    "face",
    "list_rows",
    "ones_of",
    "outcomes_of",
    "pool_index",
    "pool_of",
    "reach_of",
]

_ACTIVE = int(Standing.ACTIVE)
_DUE = int(Standing.DUE)
_DESTROYED = int(Standing.DESTROYED)
_CAPTURED = int(Standing.CAPTURED)
_FACES = (int(RowField.SUPPRESS_FACE), int(RowField.ROUT_FACE), int(RowField.DESTROY_FACE))
_POOL_MODEL = int(RowField.POOL_MODEL)
_NEGATIVE_COUNT = int(RowField.NEGATIVE_COUNT)
_NEGATIVE_ANY = int(RowField.NEGATIVE_ANY)
_ONES_EVERY_ROLL = int(RowField.ONES_EVERY_ROLL)
_SUPPORT = int(RowField.SUPPORT)
_TINY = 1e-30
_MOST_ENTRIES = 1 << 24


class Rows(NamedTuple):
    """What a turn does to one army, for each state, enemy's pool and so on. R rows, J levels of pursuit.

    Attributes
    ----------
    at : int32 (N, pools, ones of the enemy, own ones, dice left)
        Row, -1 where there is none.
    low, high, start : int64 (R,)
        States that are reached, and where their entries begin.
    chance, loss : float64 (entries,)
        Probability of each state, and the same times the cost lost on the way.
    mass, stays : float64 (R,)
        Probability of the whole row, and that the army is not broken.
    lost, lost_sq : float64 (R,)
        Mean cost lost and its square, times probability.
    chases, chases_lost : float64 (R, J)
        Probability that the army is unbroken and pursues at a level, alone and times the cost lost.
    caught, caught_sq, caught_lost : float64 (R, J)
        If broken and pursued at a level: cost of the squads caught, its square, and times the cost lost.
    """

    at: Any
    low: Any
    high: Any
    start: Any
    chance: Any
    loss: Any
    mass: Any
    stays: Any
    lost: Any
    lost_sq: Any
    chases: Any
    chases_lost: Any
    caught: Any
    caught_sq: Any
    caught_lost: Any


@kernel
def binomials(n, numerator, denominator):
    """Distributions of the hits of 0 to `n` dice, float64 (n + 1, n + 1)."""
    table = np.zeros((n + 1, n + 1))
    for k in range(n + 1):
        binomial(k, numerator, denominator, table[k])
    return table


@kernel
def dice_of(rules, pool):
    """Dice of a roll, the others of a negative one included."""
    return pool if pool >= 1 else negative_dice(pool, rules[_NEGATIVE_COUNT])


@kernel
def ones_of(rules, pool, most_ones):
    """How many numbers of ones are told apart in a roll: 1 where they do not matter."""
    if pool >= 1 and rules[_ONES_EVERY_ROLL] == 0:
        return np.int64(1)
    return min(np.int64(dice_of(rules, pool)), most_ones) + 1


@kernel
def _of_ones(third, dice, ones, most_ones, counted):
    """Chance that so many of some dice below 4 show a 1; the last number stands for all larger ones."""
    if not counted:
        return 1.0
    if ones < most_ones:
        return third[dice, ones] if ones <= dice else 0.0
    total = 0.0
    for k in range(ones, dice + 1):
        total += third[dice, k]
    return total


@kernel
def _add_effects(rules, six, five_up, four_up, reach, chance, out):
    """Add a chance where its effects stand in the list of outcomes, the surplus dropped (MB-13, MB-14)."""
    faces = (four_up - five_up, five_up - six, six)
    left = reach
    destroyed = min(left, faces[rules[_FACES[2]]])
    left -= destroyed
    routed = min(left, faces[rules[_FACES[1]]])
    left -= routed
    suppressed = min(left, faces[rules[_FACES[0]]])
    out[destroyed, routed, suppressed] += chance


@kernel
def _scale(out, reach):
    """Make chances sum up to 1: those of a thousand dice come from half a million terms, each of them rounded."""
    total = 0.0
    for destroyed in range(reach + 1):
        for routed in range(reach + 1):
            for suppressed in range(reach + 1):
                total += out[destroyed, routed, suppressed]
    for destroyed in range(reach + 1):
        for routed in range(reach + 1):
            for suppressed in range(reach + 1):
                out[destroyed, routed, suppressed] /= total


@kernel
def chances_of(rules, half, thirds, third, pool, reach, ones, most_ones, out):
    """Fill `out` with the chances of the effects of a roll that shows so many ones (MB-2, MB-19 to MB-21).

    Parameters
    ----------
    rules : int64 (R,)
    half, thirds, third : float64
        Distributions of hits at 1/2, 2/3 and 1/3.
    pool : int64
    reach : int64
        Squads that can be hit.
    ones, most_ones : int64
        Number of ones, and the largest that is told apart.
    out : float64 (reach + 1, reach + 1, reach + 1)
        By destroyed, routed and suppressed squads.
    """
    out[: reach + 1, : reach + 1, : reach + 1] = 0.0
    if pool >= 1:
        counted = rules[_ONES_EVERY_ROLL] != 0
        for four in range(pool + 1):
            chance = half[pool, four] * _of_ones(third, pool - four, ones, most_ones, counted)
            if chance < _TINY:
                continue
            for five in range(four + 1):
                part = chance * thirds[four, five]
                if part < _TINY:
                    continue
                for six in range(five + 1):
                    _add_effects(rules, six, five, four, reach, part * half[five, six], out)
        if not counted:
            _scale(out, reach)
        return
    others = np.int64(dice_of(rules, pool)) - 1
    for main in range(2):
        for hits in range(others + 1):
            below = dice_below_four(main, hits, others)
            chance = 0.5 * half[others, hits] * _of_ones(third, below, ones, most_ones, True)
            if chance == 0.0:
                continue
            if main == 1 and confirms(hits, others, rules[_NEGATIVE_ANY]):
                _add_effects(rules, 0, 0, 1, reach, chance / 3.0, out)
                _add_effects(rules, 0, 1, 1, reach, chance / 3.0, out)
                _add_effects(rules, 1, 1, 1, reach, chance / 3.0, out)
            else:
                out[0, 0, 0] += chance


@kernel
def _caught_cost(rules, plan, army, side, e, pursuers, squads):
    """Cost of the squads that a broken army in state `e` loses to so many pursuers, by the sampler's own step."""
    load_state(plan, squads, side, army.after, e, 0, 1)
    face(plan, squads, 1 - side, pursuers)
    end_battle(rules, plan, squads, 0, np.int64(0), None)
    cost = np.int64(0)
    for k in range(plan.n_types[side]):
        t = plan.listed[side, k]
        caught = np.int64(squads[side, _CAPTURED, t, 0]) + np.int64(squads[side, _DESTROYED, t, 0])
        cost += plan.cost[side, t] * caught
    return cost


@kernel
def face(plan, squads, side, pursuers):
    """Put an unbroken army with so many pursuers into lane 0."""
    for k in range(plan.n_types[side]):
        squads[side, :, plan.listed[side, k], 0] = 0
    last = plan.listed[side, 0]
    for k in range(plan.n_types[side]):
        t = plan.listed[side, k]
        if (plan.mobile[side, t] != 0) == (pursuers > 0):
            last = t
    # Without pursuers somebody is left who cannot pursue: an active squad that is not mobile, or a mobile one at rest.
    if pursuers > 0:
        squads[side, _ACTIVE, last, 0] = pursuers
    elif plan.mobile[side, last] == 0:
        squads[side, _ACTIVE, last, 0] = 1
    else:
        squads[side, _DUE, last, 0] = 1


@kernel
def outcomes_of(army, s, own_ones):
    """Outcomes of a state for one number of own ones."""
    return (army.hit_start[s + 1] - army.hit_start[s]) // (own_ones + 1)


@kernel
def reach_of(outcomes):
    """Most effects of a list with so many outcomes."""
    reach = np.int64(0)
    while count_outcomes(reach) < outcomes:
        reach += 1
    return reach


@kernel
def pool_of(rules, plan, side, turn, dice, enemy_dice):
    """Pool of an army with so many dice active (-1 = nobody), in a turn."""
    last = len(plan.modifiers[side]) - 1
    modifier = plan.modifiers[side, min(turn - 1, last)]
    enemy_modifier = plan.modifiers[1 - side, min(turn - 1, last)]
    fixed = plan.pools[side, min(turn - 1, len(plan.pools[side]) - 1)]
    forces = dice + rules[_SUPPORT + side] + modifier
    enemy = max(0, enemy_dice) + rules[_SUPPORT + 1 - side] + enemy_modifier
    return attack_pool(forces, enemy, fixed, modifier, rules[_POOL_MODEL])


@kernel
def pool_index(pool, dice, pool_low):
    """Place of a pool among the rows: 0 without a roll."""
    return 0 if dice < 0 else pool - pool_low + 1


@kernel
def dice_left(army, s):
    """Return the dice of an army's active squads in a state, -1 if nobody is active."""
    return army.dice[s] if army.active[s] > 0 else np.int64(-1)


@kernel
def list_rows(rules, plan, army, n, n_after, side, pools, pool_low, most_ones, own_ones, levels, by_dice, tables):
    """Work out what a turn does to one army in each state, for each pool of the enemy and so on.

    Parameters
    ----------
    rules, plan : arrays
    army : Army
    n, n_after : int64
        Numbers of states.
    side : int64
    pools, pool_low : int64
        Number of pools, the first of which stands for no roll, and the smallest of the others.
    most_ones, own_ones : int64
        Largest numbers of ones that are told apart, of the enemy's roll and of one's own.
    levels : int64
        Levels of pursuit.
    by_dice : int64
        1 if dice left are not told apart, otherwise their number + 2.
    tables : tuple of float64 arrays
        Distributions at 1/2, 2/3, 1/3.

    Returns
    -------
    rows : Rows
    is_good : bool
        False if there is no room.
    """
    half, thirds, third = tables
    kinds = pools * (most_ones + 1) * (own_ones + 1) * by_dice
    at = np.full((n, pools, most_ones + 1, own_ones + 1, by_dice), -1, dtype=np.int32)
    room = n * kinds
    low = np.zeros(room, dtype=np.int64)
    high = np.zeros(room, dtype=np.int64)
    start = np.zeros(room + 1, dtype=np.int64)
    chance = np.zeros(4096)
    loss = np.zeros(4096)
    mass = np.zeros(room)
    stays = np.zeros(room)
    lost = np.zeros(room)
    lost_sq = np.zeros(room)
    chases = np.zeros((room, levels))
    chases_lost = np.zeros((room, levels))
    caught = np.zeros((room, levels))
    caught_sq = np.zeros((room, levels))
    caught_lost = np.zeros((room, levels))
    most_targets = np.int64(0)
    for s in range(n):
        most_targets = max(most_targets, army.targets[s])
    out = np.zeros((most_targets + 1, most_targets + 1, most_targets + 1))
    row_chance = np.zeros((by_dice, n))
    row_loss = np.zeros((by_dice, n))
    squads = np.zeros((2, N_STANDINGS, MAX_TYPES, 1), dtype=np.int32)
    price = np.zeros((n_after, levels))
    for e in range(n_after):
        if army.broken[e] != 0:
            for j in range(levels):
                price[e, j] = _caught_cost(rules, plan, army, side, e, np.int64(j), squads)
    r = np.int64(0)
    entries = np.int64(0)
    good = True
    # States with the same number of targets share the chances of a roll.
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
                    if army.targets[s] != reach or not good:
                        continue
                    most = min(army.active[s], own_ones)
                    for own in range(own_ones + 1):
                        first = army.hit_start[s] + min(own, most) * outcomes_of(army, s, most)
                        first_row = r
                        for b in range(by_dice):
                            at[s, p, ones, own, b] = r
                            low[r] = n
                            high[r] = 0
                            r += 1
                        i = first
                        limit = reach_of(outcomes_of(army, s, most))
                        for d in range(limit + 1):
                            for u in range(limit + 1 - d):
                                for v in range(limit + 1 - d - u):
                                    q = out[d, u, v]
                                    h = i
                                    i += 1
                                    if q == 0.0:
                                        continue
                                    b = army.hit_dice[h] + 1 if by_dice > 1 else 0
                                    row = first_row + b
                                    e = army.hit_after[h]
                                    cost = army.hit_cost[h]
                                    mass[row] += q
                                    lost[row] += q * cost
                                    lost_sq[row] += q * cost * cost
                                    if army.broken[e] != 0:
                                        for j in range(levels):
                                            c = price[e, j]
                                            caught[row, j] += q * c
                                            caught_sq[row, j] += q * c * c
                                            caught_lost[row, j] += q * c * cost
                                        continue
                                    j = min(army.pursuers[e], levels - 1)
                                    stays[row] += q
                                    chases[row, j] += q
                                    chases_lost[row, j] += q * cost
                                    for m in range(army.rally_start[e], army.rally_start[e + 1]):
                                        state = army.rally_state[m]
                                        w = q * army.rally_chance[m]
                                        row_chance[b, state] += w
                                        row_loss[b, state] += w * cost
                                        low[row] = min(low[row], state)
                                        high[row] = max(high[row], state + 1)
                        for b in range(by_dice):
                            row = first_row + b
                            start[row] = entries
                            length = max(0, high[row] - low[row])
                            if entries + length > _MOST_ENTRIES:
                                good = False
                                break
                            chance = grown(chance, entries + length)
                            loss = grown(loss, entries + length)
                            for m in range(length):
                                chance[entries + m] = row_chance[b, low[row] + m]
                                loss[entries + m] = row_loss[b, low[row] + m]
                                row_chance[b, low[row] + m] = 0.0
                                row_loss[b, low[row] + m] = 0.0
                            entries += length
                        if not good:
                            break
    rows = Rows(
        at=at,
        low=low,
        high=high,
        start=start,
        chance=chance,
        loss=loss,
        mass=mass,
        stays=stays,
        lost=lost,
        lost_sq=lost_sq,
        chases=chases,
        chases_lost=chases_lost,
        caught=caught,
        caught_sq=caught_sq,
        caught_lost=caught_lost,
    )
    return rows, good
