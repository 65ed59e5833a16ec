"""Exact solver of mass battles: every state and its probability, turn by turn, from the sampler's own steps.

A state of an army is what stands when the rolls of a turn begin: active squads, squads that come back next turn or
the turn after, and, where it matters, squads in flight. Squads that are gone need not be remembered. States recur,
since a suppressed squad comes back, so the probabilities of all pairs of states are moved on turn by turn until the
limit of turns, or until next to nothing is left.

Given the states of both armies and the parts of the rolls that concern the roller himself, what happens to one army
is independent of what happens to the other: a turn is a product of two rows of probabilities. Means and variances
of the losses come along: with each state the mean loss so far is known. What an ending is worth is worked out once,
from the time that the battle spends in each pair of states.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from simcore.core.chain import binomial, find_or_add, new_table
from simcore.core.jit import kernel
from simcore.enums import Status
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
from simcore.rulesets.mass_battle.lane import (
    N_STANDINGS,
    begin_turn,
    choose_tried,
    deal_effects,
    end_battle,
    halt,
    plan_matchup,
    settle_tried,
    suppress_own,
)
from simcore.rulesets.mass_battle.steps import (
    GOES_ON,
    attack_pool,
    can_pursue,
    conclude,
    confirms,
    dice_below_four,
    is_broken,
    negative_dice,
)

__all__ = ["solve_all", "solve_battle"]

_OK = int(Status.OK)
_CAPACITY = int(Status.CAPACITY)

_ACTIVE = int(Standing.ACTIVE)
_DUE = int(Standing.DUE)
_LATE = int(Standing.LATE)
_ROUTED = int(Standing.ROUTED)
_FAILED = int(Standing.FAILED)
_FLED = int(Standing.FLED)
_DESTROYED = int(Standing.DESTROYED)
_CAPTURED = int(Standing.CAPTURED)
_IN_PLAY = _FAILED + 1
"""Standings that a state remembers."""

_HALF = int(RowField.HALF)
_FACES = (int(RowField.SUPPRESS_FACE), int(RowField.ROUT_FACE), int(RowField.DESTROY_FACE))
_POOL_MODEL = int(RowField.POOL_MODEL)
_NEGATIVE_COUNT = int(RowField.NEGATIVE_COUNT)
_NEGATIVE_ANY = int(RowField.NEGATIVE_ANY)
_ONES_EVERY_ROLL = int(RowField.ONES_EVERY_ROLL)
_ROUTED_TARGETS = int(RowField.ROUTED_TARGETS)
_INITIATIVE = int(RowField.INITIATIVE)
_UNLIMITED = int(RowField.UNLIMITED_RALLY)
_MUTUAL = int(RowField.MUTUAL_OUTCOME)
_MAX_TURNS = int(RowField.MAX_TURNS)
_LIMIT = int(RowField.PURSUIT_LIMIT)
_SUPPORT = int(RowField.SUPPORT)
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
_TINY = 1e-30
_STAYS = 1e-19
"""A level is left when so little stays in it."""
_MOST_STAYS = 1_000
_STRETCH = 1.5
"""Weight of each further turn in the bound of the time that a battle takes."""
_FAR = 60
"""A limit of turns that may be too far away to matter."""
_MOST_HITS = 1 << 23
_MOST_ENTRIES = 1 << 24
_MOST_TURNS = (1 << 20) - 1
_MOST_EFFORT = 1 << 38
"""Most multiplications of a battle that goes on and on."""


class _Army(NamedTuple):
    """States of one army. N states before the rolls, E states after them.

    Attributes
    ----------
    before : int16 (N, standing, T)
    after : int16 (E, standing, T)
    dice, active, targets : int64 (N,)
        Dice and number of active squads, squads that can be hit.
    size : int64 (N,)
        Squads in play, in falling order.
    broken, pursuers : int64 (E,)
    hit_start : int64 (N + 1,)
        First outcome of each state in the lists of hits: suppressed, routed and destroyed, fastest to slowest,
        together at most as many as can be hit; for each number of own ones again.
    hit_after, hit_cost, hit_squads, hit_dice : int64
        State after the effects, cost and number of squads destroyed, dice left (-1 = nobody is active).
    rally_start : int64 (E + 1,)
    rally_state : int64, rally_chance : float64
        States at the next rolls.
    """

    before: Any
    after: Any
    dice: Any
    active: Any
    targets: Any
    size: Any
    broken: Any
    pursuers: Any
    hit_start: Any
    hit_after: Any
    hit_cost: Any
    hit_squads: Any
    hit_dice: Any
    rally_start: Any
    rally_state: Any
    rally_chance: Any


class _Rows(NamedTuple):
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
def _grown(array, n):
    """Return an array with room for at least `n` entries."""
    if n <= len(array):
        return array
    out = np.empty(max(n, 2 * len(array)), dtype=array.dtype)
    out[: len(array)] = array
    return out


@kernel
def _load(plan, squads, side, states, s, start, stop):
    """Put a state into lanes `start` to `stop` - 1."""
    for k in range(plan.n_types[side]):
        t = plan.listed[side, k]
        for standing in range(N_STANDINGS):
            n = states[s, standing, t] if standing < _IN_PLAY else 0
            for i in range(start, stop):
                squads[side, standing, t, i] = n


@kernel
def _key(plan, squads, side, i):
    """Return the number of the state in lane `i`."""
    key = np.int64(0)
    for k in range(plan.n_types[side]):
        t = plan.listed[side, k]
        for standing in range(_IN_PLAY):
            key = key * (plan.start[side, t] + 1) + squads[side, standing, t, i]
    return key


@kernel
def _add_state(plan, squads, side, i, states, table, n):
    """Return the index of the state in lane `i`, `n` if it is a new one and -1 if there is no room for it."""
    at = find_or_add(table[0], table[1], _key(plan, squads, side, i), n)
    if at == n:
        if n == len(states):
            return np.int64(-1)
        for k in range(plan.n_types[side]):
            t = plan.listed[side, k]
            for standing in range(_IN_PLAY):
                states[n, standing, t] = squads[side, standing, t, i]
    return at


@kernel
def _expand_rally(rules, plan, odds, squads, side, n, chances, tried, hits, scratch):
    """Go through all outcomes of the rolls for squads in flight; the state is in lane 0, returns the lanes in use.

    -1 if there are too few lanes.
    """
    room = len(chances)
    chances[0] = 1.0
    begin_turn(plan, rules[_UNLIMITED] != 0, squads, side, n, np.int64(0), None)
    for c in range(plan.n_characters[side]):
        choose_tried(plan, squads, side, n, tried)
        found = n
        for i in range(n):
            hits[i] = 0
            t = tried[i]
            if t < 0:
                continue
            if found == room:
                return np.int64(-1)
            o = plan.character_odds[side, c, t]
            success = odds[o, 0] / odds[o, 1]
            squads[side, :, :, found] = squads[side, :, :, i]
            tried[found] = t
            hits[found] = 1
            chances[found] = chances[i] * success
            chances[i] *= 1.0 - success
            found += 1
        n = found
        settle_tried(rules, plan, squads, side, np.int64(c), n, tried, hits)
    for k in range(plan.n_types[side]):
        t = plan.listed[side, k]
        found = n
        for i in range(n):
            hits[i] = 0
            routed = np.int64(squads[side, _ROUTED, t, i])
            if routed == 0:
                continue
            if found + routed > room:
                return np.int64(-1)
            o = plan.rally_odds[side, t]
            binomial(routed, odds[o, 0], odds[o, 1], scratch)
            for h in range(1, routed + 1):
                squads[side, :, :, found] = squads[side, :, :, i]
                hits[found] = h
                chances[found] = chances[i] * scratch[h]
                found += 1
            chances[i] *= scratch[0]
        n = found
        halt(rules, squads, side, t, n, hits, np.int64(0), None)
    return n


@kernel
def _choose(n):
    """Return the number of outcomes with at most `n` effects of three kinds."""
    return (n + 1) * (n + 2) * (n + 3) // 6


@kernel
def _sort_states(plan, rules, side, before, n):
    """Return the sizes of an army's states in falling order, the states in this order, and the place of each."""
    size = np.zeros(n, dtype=np.int64)
    last = _FAILED if rules[_UNLIMITED] != 0 else _LATE
    for s in range(n):
        for k in range(plan.n_types[side]):
            t = plan.listed[side, k]
            for standing in range(last + 1):
                size[s] += before[s, standing, t]
    order = np.argsort(-size, kind="mergesort")
    place = np.zeros(n, dtype=np.int64)
    for s in range(n):
        place[order[s]] = s
    return size[order], order, place


@kernel
def _sort_hits(order, starts, sorted_starts, after, cost, squads, dice):
    """Return the lists of hits with the states in another order, and write where each begins."""
    n = len(order)
    total = starts[n]
    out = (
        np.zeros(total, dtype=np.int64),
        np.zeros(total, dtype=np.int64),
        np.zeros(total, dtype=np.int64),
        np.zeros(total, dtype=np.int64),
    )
    at = np.int64(0)
    for s in range(n):
        sorted_starts[s] = at
        for h in range(starts[order[s]], starts[order[s] + 1]):
            out[0][at] = after[h]
            out[1][at] = cost[h]
            out[2][at] = squads[h]
            out[3][at] = dice[h]
            at += 1
    sorted_starts[n] = at
    return out


@kernel
def _list_states(rules, plan, odds, side, remembers, most_effects, most_ones, room_before, room_after):
    """List all states of an army that can be reached, and what leads from one to the other.

    Returns
    -------
    army : _Army
    n_before, n_after : int64
        Numbers of states; -1 for too many.
    """
    total = np.int64(0)
    for k in range(plan.n_types[side]):
        total += plan.start[side, plan.listed[side, k]]
    width = _choose(min(total, most_effects))
    lanes = max(width, 256)
    squads = np.zeros((2, N_STANDINGS, MAX_TYPES, lanes), dtype=np.int32)
    dealt = np.zeros((2, N_STANDINGS, MAX_TYPES, lanes), dtype=np.int32)
    effects = np.zeros((3, lanes), dtype=np.int32)
    fresh = np.zeros((MAX_TYPES, lanes), dtype=np.int32)
    ones = np.zeros((2, lanes), dtype=np.int32)
    tried = np.zeros(lanes, dtype=np.int32)
    hits = np.zeros(lanes, dtype=np.int32)
    chances = np.zeros(lanes)
    scratch = np.zeros(total + 2)
    slots = np.int64(16)
    while slots < 2 * max(room_before, room_after) + 4:
        slots *= 2
    table_before = new_table(slots)
    table_after = new_table(slots)
    before = np.zeros((room_before, _IN_PLAY, MAX_TYPES), dtype=np.int16)
    after = np.zeros((room_after, _IN_PLAY, MAX_TYPES), dtype=np.int16)
    dice = np.zeros(room_before, dtype=np.int64)
    active = np.zeros(room_before, dtype=np.int64)
    targets = np.zeros(room_before, dtype=np.int64)
    broken = np.zeros(room_after, dtype=np.int64)
    pursuers = np.zeros(room_after, dtype=np.int64)
    hit_start = np.zeros(room_before + 1, dtype=np.int64)
    hit_after = np.zeros(1024, dtype=np.int64)
    hit_cost = np.zeros(1024, dtype=np.int64)
    hit_squads = np.zeros(1024, dtype=np.int64)
    hit_dice = np.zeros(1024, dtype=np.int64)
    rally_start = np.zeros(room_after + 1, dtype=np.int64)
    rally_state = np.zeros(1024, dtype=np.int64)
    rally_chance = np.zeros(1024)
    for k in range(plan.n_types[side]):
        t = plan.listed[side, k]
        squads[side, _ACTIVE, t, 0] = plan.start[side, t]
    _add_state(plan, squads, side, 0, before, table_before, np.int64(0))
    n = np.int64(1)
    n_after = np.int64(0)
    n_hits = np.int64(0)
    n_rallies = np.int64(0)
    expanded = np.int64(0)
    s = np.int64(0)
    full = False
    while s < n and not full:
        for k in range(plan.n_types[side]):
            t = plan.listed[side, k]
            dice[s] += plan.dice[side, t] * before[s, _ACTIVE, t]
            active[s] += before[s, _ACTIVE, t]
            targets[s] += before[s, _ACTIVE, t] + before[s, _DUE, t] + before[s, _LATE, t]
            if rules[_ROUTED_TARGETS] != 0:
                targets[s] += before[s, _FAILED, t]
        reach = min(targets[s], most_effects)
        combinations = _choose(reach)
        own_ones = min(active[s], most_ones)
        _load(plan, squads, side, before, s, 0, combinations)
        place = 0
        for d in range(reach + 1):
            for r in range(reach + 1 - d):
                for p in range(reach + 1 - d - r):
                    effects[2, place] = d
                    effects[1, place] = r
                    effects[0, place] = p
                    place += 1
        deal_effects(rules, plan, squads, side, combinations, effects, fresh, np.int64(0), None)
        hit_start[s] = n_hits
        wanted = n_hits + combinations * (own_ones + 1)
        if wanted > _MOST_HITS:
            full = True
            break
        hit_after = _grown(hit_after, wanted)
        hit_cost = _grown(hit_cost, wanted)
        hit_squads = _grown(hit_squads, wanted)
        hit_dice = _grown(hit_dice, wanted)
        for own in range(own_ones + 1):
            result = squads
            if own > 0:
                result = dealt
                for k in range(plan.n_types[side]):
                    t = plan.listed[side, k]
                    for standing in range(N_STANDINGS):
                        for i in range(combinations):
                            dealt[side, standing, t, i] = squads[side, standing, t, i]
                for i in range(combinations):
                    ones[side, i] = own
                suppress_own(plan, dealt, side, combinations, ones, np.int64(0), None)
            for i in range(combinations):
                at = _add_state(plan, result, side, i, after, table_after, n_after)
                if at < 0:
                    full = True
                    break
                if at == n_after:
                    n_after += 1
                cost = np.int64(0)
                gone = np.int64(0)
                left = np.int64(0)
                standing_dice = np.int64(0)
                for k in range(plan.n_types[side]):
                    t = plan.listed[side, k]
                    destroyed = np.int64(result[side, _DESTROYED, t, i])
                    cost += plan.cost[side, t] * destroyed
                    gone += destroyed
                    # Before his own ones count, an army answers with what the enemy has left it (MA-11).
                    left += squads[side, _ACTIVE, t, i]
                    standing_dice += plan.dice[side, t] * squads[side, _ACTIVE, t, i]
                hit_after[n_hits] = at
                hit_cost[n_hits] = cost
                hit_squads[n_hits] = gone
                hit_dice[n_hits] = standing_dice if left > 0 else -1
                n_hits += 1
            if full:
                break
        while expanded < n_after and not full:
            e = expanded
            expanded += 1
            rally_start[e] = n_rallies
            standing_active = np.int64(0)
            suppressed = np.int64(0)
            for k in range(plan.n_types[side]):
                t = plan.listed[side, k]
                standing_active += after[e, _ACTIVE, t]
                suppressed += after[e, _DUE, t] + after[e, _LATE, t]
                if plan.mobile[side, t] != 0:
                    resting = np.int64(after[e, _DUE, t]) + np.int64(after[e, _LATE, t])
                    pursuers[e] += can_pursue(np.int64(after[e, _ACTIVE, t]), resting, rules[_LIMIT])
            if is_broken(standing_active, suppressed):
                broken[e] = 1
                continue
            _load(plan, dealt, side, after, e, 0, 1)
            found = _expand_rally(rules, plan, odds, dealt, side, np.int64(1), chances, tried, hits, scratch)
            if found < 0:
                full = True
                break
            rally_state = _grown(rally_state, n_rallies + found)
            rally_chance = _grown(rally_chance, n_rallies + found)
            for i in range(found):
                if chances[i] == 0.0:
                    continue
                if not remembers:
                    for k in range(plan.n_types[side]):
                        dealt[side, _FAILED, plan.listed[side, k], i] = 0
                at = _add_state(plan, dealt, side, i, before, table_before, n)
                if at < 0:
                    full = True
                    break
                if at == n:
                    n += 1
                rally_state[n_rallies] = at
                rally_chance[n_rallies] = chances[i]
                n_rallies += 1
        s += 1
    hit_start[n if not full else 0] = n_hits
    rally_start[n_after if not full else 0] = n_rallies
    size, order, place = _sort_states(plan, rules, side, before, 0 if full else n)
    hits_sorted = np.zeros(len(hit_start), dtype=np.int64)
    if not full:
        before, dice, active, targets = before[order], dice[order], active[order], targets[order]
        hit_after, hit_cost, hit_squads, hit_dice = _sort_hits(
            order, hit_start, hits_sorted, hit_after, hit_cost, hit_squads, hit_dice
        )
        for i in range(n_rallies):
            rally_state[i] = place[rally_state[i]]
    army = _Army(
        before=before,
        after=after,
        dice=dice,
        active=active,
        targets=targets,
        size=size,
        broken=broken,
        pursuers=pursuers,
        hit_start=hits_sorted,
        hit_after=hit_after,
        hit_cost=hit_cost,
        hit_squads=hit_squads,
        hit_dice=hit_dice,
        rally_start=rally_start,
        rally_state=rally_state,
        rally_chance=rally_chance,
    )
    return army, np.int64(-1) if full else n, n_after


@kernel
def _binomials(n, numerator, denominator):
    """Distributions of the hits of 0 to `n` dice, float64 (n + 1, n + 1)."""
    table = np.zeros((n + 1, n + 1))
    for k in range(n + 1):
        binomial(k, numerator, denominator, table[k])
    return table


@kernel
def _dice_of(rules, pool):
    """Dice of a roll, the others of a negative one included."""
    return pool if pool >= 1 else negative_dice(pool, rules[_NEGATIVE_COUNT])


@kernel
def _ones_of(rules, pool, most_ones):
    """How many numbers of ones are told apart in a roll: 1 where they do not matter."""
    if pool >= 1 and rules[_ONES_EVERY_ROLL] == 0:
        return np.int64(1)
    return min(np.int64(_dice_of(rules, pool)), most_ones) + 1


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
def _chances(rules, half, thirds, third, pool, reach, ones, most_ones, out):
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
        return
    others = np.int64(_dice_of(rules, pool)) - 1
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
    _load(plan, squads, side, army.after, e, 0, 1)
    _face(plan, squads, 1 - side, pursuers)
    end_battle(rules, plan, squads, 0, np.int64(0), None)
    cost = np.int64(0)
    for k in range(plan.n_types[side]):
        t = plan.listed[side, k]
        caught = np.int64(squads[side, _CAPTURED, t, 0]) + np.int64(squads[side, _DESTROYED, t, 0])
        cost += plan.cost[side, t] * caught
    return cost


@kernel
def _face(plan, squads, side, pursuers):
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
def _list_rows(rules, plan, army, n, n_after, side, pools, pool_low, most_ones, own_ones, levels, by_dice, tables):
    """Work out what a turn does to one army in each state, for each pool of the enemy and so on.

    Parameters
    ----------
    rules, plan : arrays
    army : _Army
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
    rows : _Rows
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
        kept = np.int64(1) if p == 0 else _ones_of(rules, pool, most_ones)
        for ones in range(kept):
            for reach in range(most_targets + 1):
                if p == 0:
                    out[: reach + 1, : reach + 1, : reach + 1] = 0.0
                    out[0, 0, 0] = 1.0
                else:
                    _chances(rules, half, thirds, third, pool, reach, ones, most_ones, out)
                for s in range(n):
                    if army.targets[s] != reach or not good:
                        continue
                    most = min(army.active[s], own_ones)
                    for own in range(own_ones + 1):
                        first = army.hit_start[s] + min(own, most) * _outcomes(army, s, most)
                        first_row = r
                        for b in range(by_dice):
                            at[s, p, ones, own, b] = r
                            low[r] = n
                            high[r] = 0
                            r += 1
                        i = first
                        limit = _reach_of(_outcomes(army, s, most))
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
                            chance = _grown(chance, entries + length)
                            loss = _grown(loss, entries + length)
                            for m in range(length):
                                chance[entries + m] = row_chance[b, low[row] + m]
                                loss[entries + m] = row_loss[b, low[row] + m]
                                row_chance[b, low[row] + m] = 0.0
                                row_loss[b, low[row] + m] = 0.0
                            entries += length
                        if not good:
                            break
    rows = _Rows(
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


@kernel
def _outcomes(army, s, own_ones):
    """Outcomes of a state for one number of own ones."""
    return (army.hit_start[s + 1] - army.hit_start[s]) // (own_ones + 1)


@kernel
def _reach_of(outcomes):
    """Most effects of a list with so many outcomes."""
    reach = np.int64(0)
    while _choose(reach) < outcomes:
        reach += 1
    return reach


@kernel
def _pool_of(rules, plan, side, turn, dice, enemy_dice):
    """Pool of an army with so many dice active (-1 = nobody), in a turn."""
    last = len(plan.modifiers[side]) - 1
    modifier = plan.modifiers[side, min(turn - 1, last)]
    enemy_modifier = plan.modifiers[1 - side, min(turn - 1, last)]
    fixed = plan.pools[side, min(turn - 1, len(plan.pools[side]) - 1)]
    forces = dice + rules[_SUPPORT + side] + modifier
    enemy = max(0, enemy_dice) + rules[_SUPPORT + 1 - side] + enemy_modifier
    return attack_pool(forces, enemy, fixed, modifier, rules[_POOL_MODEL])


@kernel
def _index(pool, dice, pool_low):
    """Place of a pool among the rows: 0 without a roll."""
    return 0 if dice < 0 else pool - pool_low + 1


@kernel
def _dice_left(army, s):
    return army.dice[s] if army.active[s] > 0 else np.int64(-1)


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
    own, enemy : _Rows
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
        dice_a = _dice_left(first, a)
        for b in range(spent.shape[2]):
            p = spent[0, a, b]
            if p == 0.0:
                continue
            dice_b = _dice_left(second, b)
            pool_a = _pool_of(rules, plan, roles[0], turn, dice_a, dice_b)
            index_a = _index(pool_a, dice_a, low_first)
            kept_a = np.int64(1) if index_a == 0 else _ones_of(rules, pool_a, ones_first)
            for g in range(dice_kinds if sequential else 1):
                left = np.int64(g - 1) if sequential else dice_b
                pool_b = _pool_of(rules, plan, roles[1], turn, left, dice_a)
                index_b = _index(pool_b, left, low_second)
                kept_b = np.int64(1) if index_b == 0 else _ones_of(rules, pool_b, ones_second)
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
        dice_a = _dice_left(first, a)
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
            dice_b = _dice_left(second, b)
            pool_a = _pool_of(rules, plan, roles[0], turn, dice_a, dice_b)
            index_a = _index(pool_a, dice_a, low_first)
            kept_a = np.int64(1) if index_a == 0 else _ones_of(rules, pool_a, ones_first)
            for g in range(dice_kinds if sequential else 1):
                left = np.int64(g - 1) if sequential else dice_b
                pool_b = _pool_of(rules, plan, roles[1], turn, left, dice_a)
                index_b = _index(pool_b, left, low_second)
                kept_b = np.int64(1) if index_b == 0 else _ones_of(rules, pool_b, ones_second)
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
    so far, which bounds how long the battle may take.
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
    """Probability in a block of pairs, and its weighted time."""
    total = 0.0
    for a in range(span[0], span[1]):
        for b in range(span[2], span[3]):
            total += flow[0, a, b] + flow[4, a, b]
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
        kept = np.int64(1) if p == 0 else _ones_of(rules, pool, most_ones)
        for ones in range(kept):
            for reach in range(most_targets + 1):
                if p == 0:
                    out[: reach + 1, : reach + 1, : reach + 1] = 0.0
                    out[0, 0, 0] = 1.0
                else:
                    _chances(rules, half, thirds, third, pool, reach, ones, most_ones, out)
                for s in range(n):
                    if army.targets[s] != reach:
                        continue
                    most = min(army.active[s], own_ones)
                    outcomes = _outcomes(army, s, most)
                    limit = _reach_of(outcomes)
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
            _load(plan, squads, side, army.after, e, 0, 1)
            for k in range(plan.n_types[1 - side]):
                squads[1 - side, :, plan.listed[1 - side, k], 0] = 0
            if stands:
                _face(plan, squads, 1 - side, pursuers)
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
                pool = _pool_of(rules, plan, side, turn, dice, against)
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
    army_a, n_a, after_a = _list_states(
        rules, plan, odds, roles[0], remembers[row, roles[0]] != 0, max(np.int64(1), high_second), ones_first,
        room_first, _room_after(plan, roles[0], remembers[row, roles[0]]),
    )  # fmt: skip
    army_b, n_b, after_b = _list_states(
        rules, plan, odds, roles[1], remembers[row, roles[1]] != 0, max(np.int64(1), high_first), ones_second,
        room_second, _room_after(plan, roles[1], remembers[row, roles[1]]),
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
    most_dice = max(high_first, high_second, _dice_of(rules, low_first), _dice_of(rules, low_second), 2)
    tables = (_binomials(most_dice, 1, 2), _binomials(most_dice, 2, 3), _binomials(most_dice, 1, 3))
    rows_a, good_a = _list_rows(
        rules, plan, army_a, n_a, after_a, roles[0], pools_second, low_second, ones_second, ones_first, levels,
        np.int64(1), tables,
    )  # fmt: skip
    rows_b, good_b = _list_rows(
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
def _room_after(plan, side, remembers):
    """Most states of an army after the rolls: one place more than before them, since squads are routed."""
    places = 5 if remembers != 0 else 4
    room = 1.0
    for k in range(plan.n_types[side]):
        n = plan.start[side, plan.listed[side, k]]
        for i in range(1, places + 1):
            room *= (n + i) / i
    return np.int64(min(room + 0.5, 1e7))


@kernel
def solve_all(rows, armies, remembers, rooms, tallies, status, reached):
    """Solve all matchups one after the other; arguments as of `solve_battle`. Threads may do so at the same time."""
    for s in range(len(rows)):
        solve_battle(rows[s], armies, remembers, rooms, tallies, status, reached)
