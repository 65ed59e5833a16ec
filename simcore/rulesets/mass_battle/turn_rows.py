"""What a turn does to one army, as rows of probabilities for the exact solver.

There is a row for each state, each pool of the enemy, each number of ones in either roll where they matter, and, for
the army that answers, for what it has left to answer with.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from simcore.core.chain import binomial
from simcore.core.jit import borrowed, inlined_leaf, kernel, leaf, part
from simcore.rulesets.mass_battle.army_states import AFTER, COST, DICE, count_outcomes, grown, load_state
from simcore.rulesets.mass_battle.encoding import MAX_TYPES, RowField, Standing
from simcore.rulesets.mass_battle.lane import N_STANDINGS, end_battles
from simcore.rulesets.mass_battle.limits import MOST_ENTRIES
from simcore.rulesets.mass_battle.steps import catches, confirms, dice_below_four, negative_dice

__all__ = [
    "CAUGHT",
    "CAUGHT_LOST",
    "CAUGHT_SQ",
    "CHASES",
    "CHASES_LOST",
    "FACTS",
    "HIGH",
    "LOST",
    "LOST_SQ",
    "LOW",
    "MASS",
    "START",
    "STAYS",
    "Rows",
    "add_effects",
    "add_facts",
    "binomials",
    "chances_of",
    "dice_of",
    "face",
    "in_reach",
    "keep_outcomes",
    "list_chances",
    "list_rows",
    "ones_of",
    "pool_index",
    "price_captures",
    "wanted_reaches",
]

_ACTIVE = int(Standing.ACTIVE)
_DUE = int(Standing.DUE)
_DESTROYED = int(Standing.DESTROYED)
_CAPTURED = int(Standing.CAPTURED)
_FACES = (int(RowField.SUPPRESS_FACE), int(RowField.ROUT_FACE), int(RowField.DESTROY_FACE))
_ROUTED = int(Standing.ROUTED)
_FAILED = int(Standing.FAILED)
_NEGATIVE_COUNT = int(RowField.NEGATIVE_COUNT)
_NEGATIVE_ANY = int(RowField.NEGATIVE_ANY)
_ONES_EVERY_ROLL = int(RowField.ONES_EVERY_ROLL)
_LIMIT = int(RowField.PURSUIT_LIMIT)
_CAN_FLEE = int(RowField.CAN_FLEE)
_TINY = 1e-30

LOW, HIGH, START = range(3)
"""Columns of `Rows.span`."""
MASS, STAYS, LOST, LOST_SQ = range(4)
CHASES, CHASES_LOST, CAUGHT, CAUGHT_SQ, CAUGHT_LOST = (4, 5, 6, 7, 8)
"""Columns of `Rows.facts`: those from `CHASES` on are for a level of pursuit, and recur for the next."""
FACTS = 5
"""Columns for a level of pursuit."""


class Rows(NamedTuple):
    """What a turn does to one army, for each state, enemy's pool and so on. R rows, J levels of pursuit.

    Attributes
    ----------
    at : int32 (N, pools, ones of the enemy, own ones, dice left)
        Row, -1 where there is none.
    span : int64 (R, 3)
        First and past-the-last state that is reached, and where their entries begin.
    chance, loss : float64 (entries,)
        Probability of each state, and the same times the cost lost on the way.
    facts : float64 (R, 4 + 5 J)
        Probability of the whole row, and that the army is not broken; mean cost lost and its square, times
        probability. For each level of pursuit: the probability that the army is unbroken and pursues at this level,
        alone and times the cost lost; and, if it is broken and pursued at this level, the cost of the squads caught,
        its square, and times the cost lost.
    """

    at: Any
    span: Any
    chance: Any
    loss: Any
    facts: Any


@kernel
def binomials(n, numerator, denominator):
    """Distributions of the hits of 0 to `n` dice, float64 (n + 1, n + 1)."""
    table = np.zeros((n + 1, n + 1))
    for k in range(n + 1):
        binomial(k, numerator, denominator, table[k])
    return table


@part
def dice_of(as_counted, pool):
    """Dice of a roll, the others of a negative one included."""
    return np.int64(pool) if pool >= 1 else np.int64(negative_dice(pool, as_counted))


@part
def ones_of(every_roll, as_counted, pool, most_ones):
    """How many numbers of ones are told apart in a roll: 1 where they do not matter."""
    if most_ones == 0 or (pool >= 1 and every_roll == 0):
        return np.int64(1)
    return min(dice_of(as_counted, pool), most_ones) + 1


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
def add_effects(rules, six, five_up, four_up, reach, chance, out):
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
                    add_effects(rules, six, five, four, reach, part * half[five, six], out)
        if not counted:
            _scale(out, reach)
        return
    others = dice_of(rules[_NEGATIVE_COUNT], pool) - 1
    for main in range(2):
        for hits in range(others + 1):
            below = dice_below_four(main, hits, others)
            chance = 0.5 * half[others, hits] * _of_ones(third, below, ones, most_ones, True)
            if chance == 0.0:
                continue
            if main == 1 and confirms(hits, others, rules[_NEGATIVE_ANY]):
                add_effects(rules, 0, 0, 1, reach, chance / 3.0, out)
                add_effects(rules, 0, 1, 1, reach, chance / 3.0, out)
                add_effects(rules, 1, 1, 1, reach, chance / 3.0, out)
            else:
                out[0, 0, 0] += chance


@part
def wanted_reaches(reaches):
    """Return for every reach whether there is a state with it, and how many outcomes all of them have together."""
    most = np.int64(0)
    for s in range(len(reaches)):
        most = max(most, reaches[s])
    wanted = np.zeros(most + 1, dtype=np.int64)
    for s in range(len(reaches)):
        wanted[reaches[s]] = 1
    outcomes = np.int64(0)
    for reach in range(most + 1):
        outcomes += wanted[reach] * count_outcomes(reach)
    return wanted, outcomes


@leaf
def keep_outcomes(out, reach, chances, outcomes, at):
    """Append the outcomes that there are in `out` to a list with `at` entries; returns how many there are then."""
    place = np.int64(0)
    for d in range(reach + 1):
        for u in range(reach + 1 - d):
            for v in range(reach + 1 - d - u):
                if out[d, u, v] > 0.0:
                    chances[at] = out[d, u, v]
                    outcomes[at] = place
                    at += 1
                place += 1
    return at


@part
def list_chances(rules, tables, pools, pool_low, most_ones, reaches):
    """List the chances of the effects of every pool, number of ones and reach, in the order of `Army.hits`.

    Parameters
    ----------
    rules : int64 (R,)
    tables : tuple of float64 arrays
        Distributions at 1/2, 2/3, 1/3.
    pools, pool_low : int64
        Number of pools, the first of which stands for no roll, and the smallest of the others.
    most_ones : int64
        Largest number of ones that is told apart.
    reaches : int64 (N,)
        The reach of each state.

    Returns
    -------
    chances : float64, outcomes : int64
        Chance of each outcome that there is, and its place in the order.
    lists : int64 (pools, ones, reach, 2)
        Where the list begins, and where it ends.
    is_good : bool
        False if there is no room.
    """
    half, thirds, third = tables
    wanted, at_once = wanted_reaches(reaches)
    most_reach = np.int64(len(wanted) - 1)
    lists = np.zeros((pools, most_ones + 1, most_reach + 1, 2), dtype=np.int64)
    rolls = np.int64(0)
    for p in range(pools):
        rolls += 1 if p == 0 else ones_of(rules[_ONES_EVERY_ROLL], rules[_NEGATIVE_COUNT], pool_low + p - 1, most_ones)
    if rolls * at_once > MOST_ENTRIES:
        return np.zeros(0), np.zeros(0, dtype=np.int64), lists, False
    chances = np.empty(rolls * at_once)
    outcomes = np.empty(rolls * at_once, dtype=np.int64)
    out = np.zeros((most_reach + 1, most_reach + 1, most_reach + 1))
    at = np.int64(0)
    for p in range(pools):
        pool = pool_low + p - 1
        kept = np.int64(1)
        if p > 0:
            kept = ones_of(rules[_ONES_EVERY_ROLL], rules[_NEGATIVE_COUNT], pool, most_ones)
        for ones in range(kept):
            for reach in range(most_reach + 1):
                if wanted[reach] == 0:
                    continue
                lists[p, ones, reach, 0] = at
                if p == 0:
                    chances[at] = 1.0
                    outcomes[at] = 0
                    at += 1
                else:
                    chances_of(rules, half, thirds, third, pool, reach, ones, most_ones, out)
                    at = keep_outcomes(out, np.int64(reach), chances, outcomes, at)
                lists[p, ones, reach, 1] = at
    return chances, outcomes, lists, True


@part
def in_reach(rules, listed, after, side, e, pursuers):
    """Return how many squads in flight of a broken army in state `e` so many pursuers can catch at most."""
    in_flight = np.int64(0)
    for k in range(len(listed)):
        t = listed[k]
        in_flight += after[e, _ROUTED, t] + after[e, _FAILED, t]
    return catches(in_flight, pursuers, rules[_LIMIT], rules[_CAN_FLEE + side])


@part
def _caught_cost(rules, lent_plan, listed, after, side, e, pursuers, squads, in_line):
    """Cost of the squads that a broken army in state `e` loses to so many pursuers, by the sampler's own step."""
    plan = borrowed(lent_plan)
    load_state(listed, squads, side, after, e, 0, 1)
    face(plan, squads, 1 - side, pursuers)
    end_battles(rules, plan, squads, np.int64(0), np.int64(1), in_line, np.int64(0), None)
    cost = np.int64(0)
    for k in range(len(listed)):
        t = listed[k]
        caught = np.int64(squads[side, _CAPTURED, t, 0]) + np.int64(squads[side, _DESTROYED, t, 0])
        cost += plan.cost[side, t] * caught
    return cost


@part
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


@part
def pool_index(pool, dice, pool_low):
    """Place of a pool among the rows: 0 without a roll."""
    return 0 if dice < 0 else pool - pool_low + 1


@part
def price_captures(rules, lent_plan, lent_army, n_after, side, levels):
    """Return what a broken army loses to its pursuers in each state after the rolls, for each level of pursuit."""
    plan, army = borrowed(lent_plan), borrowed(lent_army)
    price = np.zeros((n_after, levels))
    if levels == 1 and rules[_CAN_FLEE + side] != 0:
        return price  # nobody pursues
    squads = np.zeros((2, N_STANDINGS, MAX_TYPES, 1), dtype=np.int32)
    in_line = np.zeros((2, 1), dtype=np.int32)
    listed = plan.listed[side, : plan.n_types[side]]
    for e in range(n_after):
        if army.broken[e] != 0:
            for j in range(levels):
                if in_reach(rules, listed, army.after, side, e, np.int64(j)) > 0:
                    price[e, j] = _caught_cost(rules, plan, listed, army.after, side, e, np.int64(j), squads, in_line)
    return price


@inlined_leaf
def add_facts(facts, row, q, cost, is_broken, pursuers, price, e):
    """Add an outcome with probability `q` to the facts of a row; it leads to state `e` after the rolls."""
    levels = price.shape[1]
    facts[row, MASS] += q
    facts[row, LOST] += q * cost
    facts[row, LOST_SQ] += q * cost * cost
    if is_broken:
        for j in range(levels):
            c = price[e, j]
            if c != 0.0:
                facts[row, CAUGHT + FACTS * j] += q * c
                facts[row, CAUGHT_SQ + FACTS * j] += q * c * c
                facts[row, CAUGHT_LOST + FACTS * j] += q * c * cost
    else:
        j = min(pursuers, levels - 1)
        facts[row, STAYS] += q
        facts[row, CHASES + FACTS * j] += q
        facts[row, CHASES_LOST + FACTS * j] += q * cost


@part
def list_rows(rules, plan, army, n, n_after, side, pools, pool_low, most_ones, own_ones, levels, by_dice, chances):
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
    chances : tuple
        Of `list_chances`.

    Returns
    -------
    rows : Rows
    is_good : bool
        False if there is no room.
    """
    values, places, lists = chances
    kinds = pools * (most_ones + 1) * (own_ones + 1) * by_dice
    at = np.full((n, pools, most_ones + 1, own_ones + 1, by_dice), -1, dtype=np.int32)
    span = np.zeros((n * kinds, 3), dtype=np.int64)
    facts = np.zeros((n * kinds, CHASES + FACTS * levels))
    chance = np.zeros(1024)
    loss = np.zeros(1024)
    row_chance = np.zeros((by_dice, n))
    row_loss = np.zeros((by_dice, n))
    price = price_captures(rules, plan, army, n_after, side, levels)
    broken, begun = army.broken, army.begun
    active, reaches, pursuers = army.active, army.reach, army.pursuers
    hit_start, hits = army.hit_start, army.hits
    rally_start, rally_state, rally_chance = army.rally_start, army.rally_state, army.rally_chance
    reach = np.zeros((len(rally_start), 2), dtype=np.int64)
    for g in range(len(rally_start) - 1):
        reach[g, LOW] = n
        for m in range(rally_start[g], rally_start[g + 1]):
            reach[g, LOW] = min(reach[g, LOW], rally_state[m])
            reach[g, HIGH] = max(reach[g, HIGH], rally_state[m] + 1)
    r = np.int64(0)
    entries = np.int64(0)
    for p in range(pools):
        kept = np.int64(1)
        if p > 0:
            kept = ones_of(rules[_ONES_EVERY_ROLL], rules[_NEGATIVE_COUNT], pool_low + p - 1, most_ones)
        for ones in range(kept):
            for s in range(n):
                outcomes = count_outcomes(reaches[s])
                begin, end = lists[p, ones, reaches[s], 0], lists[p, ones, reaches[s], 1]
                for own in range(own_ones + 1):
                    h_start = hit_start[s] + min(own, active[s]) * outcomes
                    first_row = r
                    for b in range(by_dice):
                        at[s, p, ones, own, b] = r
                        span[r, LOW] = n
                        r += 1
                    for i in range(begin, end):
                        q = values[i]
                        h = h_start + places[i]
                        b = hits[h, DICE] + 1 if by_dice > 1 else 0
                        row = first_row + b
                        e = hits[h, AFTER]
                        cost = np.float64(hits[h, COST])
                        add_facts(facts, row, q, cost, broken[e] != 0, pursuers[e], price, e)
                        if broken[e] != 0:
                            continue
                        g = begun[e]
                        for m in range(rally_start[g], rally_start[g + 1]):
                            state = rally_state[m]
                            w = q * rally_chance[m]
                            row_chance[b, state] += w
                            row_loss[b, state] += w * cost
                        span[row, LOW] = min(span[row, LOW], reach[g, LOW])
                        span[row, HIGH] = max(span[row, HIGH], reach[g, HIGH])
                    for b in range(by_dice):
                        row = first_row + b
                        low = span[row, LOW]
                        length = max(np.int64(0), span[row, HIGH] - low)
                        span[row, START] = entries
                        if entries + length > len(chance):
                            if entries + length > MOST_ENTRIES:
                                return Rows(at=at, span=span, chance=chance, loss=loss, facts=facts), False
                            chance = grown(chance, entries + length)
                            loss = grown(loss, entries + length)
                        for m in range(length):
                            chance[entries + m] = row_chance[b, low + m]
                            loss[entries + m] = row_loss[b, low + m]
                            row_chance[b, low + m] = 0.0
                            row_loss[b, low + m] = 0.0
                        entries += length
    return Rows(at=at, span=span, chance=chance, loss=loss, facts=facts), True
