"""What battles cost when they end, for the distribution of the swing: from states that remember who was destroyed.

Squads that fled cost nothing, so what an army has lost cannot be told from the squads that it has left. States that
count the destroyed squads as well tell it, but there are many more of them.
"""

from __future__ import annotations

import numpy as np

from simcore.core.jit import leaf, part
from simcore.rulesets.mass_battle.army_states import AFTER, DICE, count_outcomes
from simcore.rulesets.mass_battle.encoding import RowField
from simcore.rulesets.mass_battle.moves import KINDS, kept_ones, pool_with
from simcore.rulesets.mass_battle.turn_rows import ones_of, pool_index, price_captures

__all__ = ["book_swings", "list_end_costs", "list_row_costs"]

_ONES_EVERY_ROLL = int(RowField.ONES_EVERY_ROLL)
_NEGATIVE_COUNT = int(RowField.NEGATIVE_COUNT)
_BROKEN = 0
"""Ways in which a turn may leave an army: broken with nobody to pursue it; then, for each level of pursuit, broken and
pursued at that level; then, for each level, unbroken and pursuing at that level."""


@part
def list_end_costs(rules, plan, army, n_after, side, levels, step):
    """Return what an army has lost in each state after the rolls, if the battle ends there.

    Parameters
    ----------
    rules, plan : arrays
    army : Army
        Its states count the destroyed.
    n_after, side : int64
    levels : int64
        Levels of pursuit.
    step : int64
        Unit of costs.

    Returns
    -------
    int64 (E, 1 + 2 J)
        In steps, by the ways in which a turn may leave an army; -1 for those in which it does not leave it so.
    """
    price = price_captures(rules, plan, army, n_after, side, levels)
    last = army.after.shape[1] - 1
    costs = np.full((n_after, 1 + 2 * levels), -1, dtype=np.int64)
    for e in range(n_after):
        cost = np.int64(0)
        for k in range(plan.n_types[side]):
            t = plan.listed[side, k]
            cost += plan.cost[side, t] * np.int64(army.after[e, last, t])
        if army.broken[e] != 0:
            costs[e, _BROKEN] = cost // step
            for j in range(levels):
                # Where somebody is caught the price is that of all squads lost.
                costs[e, 1 + j] = max(cost, np.int64(price[e, j])) // step
        else:
            costs[e, 1 + levels + min(army.pursuers[e], levels - 1)] = cost // step
    return costs


@part
def list_row_costs(rules, army, at, costs, chances, pool_low, most):
    """Return how likely each row leaves an army in each way at each cost, float64 (R, 1 + 2 J, most + 1).

    Parameters
    ----------
    rules : int64 (R,)
    army : Army
    at : int32
        As of `Rows`.
    costs : int64 (E, 1 + 2 J)
        Of `list_end_costs`.
    chances : tuple
        Of `list_chances`.
    pool_low : int64
        Smallest pool of the enemy.
    most : int64
        Largest cost, in steps.
    """
    values, places, lists = chances
    n, pools, most_ones, own_ones, by_dice = at.shape
    ways = costs.shape[1]
    out = np.zeros((at.size, ways, most + 1))
    for p in range(pools):
        kept = np.int64(1)
        if p > 0:
            kept = ones_of(
                rules[_ONES_EVERY_ROLL], rules[_NEGATIVE_COUNT], np.int64(pool_low + p - 1), np.int64(most_ones - 1)
            )
        for ones in range(kept):
            for s in range(n):
                outcomes = count_outcomes(army.reach[s])
                begin, end = lists[p, ones, army.reach[s], 0], lists[p, ones, army.reach[s], 1]
                for own in range(own_ones):
                    first_row = at[s, p, ones, own, 0]
                    h_start = army.hit_start[s] + min(np.int64(own), army.active[s]) * outcomes
                    for i in range(begin, end):
                        h = h_start + places[i]
                        row = first_row + (army.hits[h, DICE] + 1 if by_dice > 1 else 0)
                        e = army.hits[h, AFTER]
                        for way in range(ways):
                            if costs[e, way] >= 0:
                                out[row, way, costs[e, way]] += values[i]
    return out


@leaf
def _add_products(x, y, chance, zero, sign, out):
    """Add the chances of two costs to that of their swing."""
    for i in range(len(x)):
        if x[i] != 0.0:
            for j in range(len(y)):
                if y[j] != 0.0:  # beyond what an army costs there is no entry
                    out[zero + sign * (j - i)] += chance * x[i] * y[j]


@part
def book_swings(frame, terms, lefts, ats, row_costs, spent, is_last, zero, sign, out):
    """Book how the battle ends in a turn that begins in pairs of states in which so much time is `spent`.

    Parameters
    ----------
    frame : Frame
    terms, lefts, ats : tuples
        Of both armies, as of `move_line`.
    row_costs : tuple of float64 arrays
        Of both armies, of `list_row_costs`.
    spent : float64 (pairs,)
    is_last : bool
        Whether the limit of turns is reached after this turn.
    zero : int64
        Entry of `out` for a swing of 0.
    sign : int64
        1 where the first army is the attacker, otherwise -1.
    out : float64 (swings,)
        Probability of each swing, in steps.
    """
    left_a, left_b = lefts
    at_a, at_b = ats
    costs_a, costs_b = row_costs
    levels = (costs_a.shape[1] - 1) // 2
    several = frame.dice_kinds if frame.sequential != 0 else np.int64(1)
    for a in range(len(left_a)):
        for b in range(len(left_b)):
            p = spent[KINDS * (a * len(left_b) + b)]
            if p == 0.0:
                continue
            pool_a = pool_with(terms[0], left_a[a], left_b[b])
            index_a = pool_index(pool_a, left_a[a], frame.low_first)
            for g in range(several):
                left = np.int64(g - 1) if frame.sequential != 0 else left_b[b]
                pool_b = pool_with(terms[1], left, left_a[a])
                index_b = pool_index(pool_b, left, frame.low_second)
                for ka in range(kept_ones(frame, index_a, pool_a, frame.ones_first)):
                    for kb in range(kept_ones(frame, index_b, pool_b, frame.ones_second)):
                        x = costs_a[at_a[a, index_b, kb, ka, 0]]
                        y = costs_b[at_b[b, index_a, ka, kb, g]]
                        _add_products(x[_BROKEN], y[_BROKEN], p, zero, sign, out)
                        for j in range(levels):
                            stays = 1 + levels + j
                            _add_products(x[1 + j], y[stays], p, zero, sign, out)
                            _add_products(x[stays], y[1 + j], p, zero, sign, out)
                            if is_last:
                                for k in range(levels):
                                    _add_products(x[stays], y[1 + levels + k], p, zero, sign, out)
