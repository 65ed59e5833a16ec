"""States of one army for the exact solver, and what leads from one to the other.

A state is what stands when the rolls of a turn begin: active squads, squads that come back next turn or the turn after,
and, where it matters, squads in flight. Squads that are gone need not be remembered.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from simcore.core.chain import binomial, find_or_add, new_table
from simcore.core.jit import kernel
from simcore.rulesets.mass_battle.encoding import MAX_TYPES, RowField, Standing
from simcore.rulesets.mass_battle.lane import (
    N_STANDINGS,
    begin_turn,
    choose_tried,
    deal_effects,
    halt,
    settle_tried,
    suppress_own,
)
from simcore.rulesets.mass_battle.steps import can_pursue, is_broken

__all__ = ["Army", "count_outcomes", "expand_rally", "grown", "list_states", "load_state", "room_after"]

_ACTIVE = int(Standing.ACTIVE)
_DUE = int(Standing.DUE)
_LATE = int(Standing.LATE)
_ROUTED = int(Standing.ROUTED)
_FAILED = int(Standing.FAILED)
_DESTROYED = int(Standing.DESTROYED)
_IN_PLAY = _FAILED + 1
"""Standings that a state remembers."""
_ROUTED_TARGETS = int(RowField.ROUTED_TARGETS)
_UNLIMITED = int(RowField.UNLIMITED_RALLY)
_LIMIT = int(RowField.PURSUIT_LIMIT)
_MOST_HITS = 1 << 23


class Army(NamedTuple):
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


@kernel
def grown(array, n):
    """Return an array with room for at least `n` entries."""
    if n <= len(array):
        return array
    out = np.empty(max(n, 2 * len(array)), dtype=array.dtype)
    out[: len(array)] = array
    return out


@kernel
def load_state(plan, squads, side, states, s, start, stop):
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
def expand_rally(rules, plan, odds, squads, side, n, chances, tried, hits, scratch):
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
def count_outcomes(n):
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
def list_states(rules, plan, odds, side, remembers, most_effects, most_ones, room_before, room_after):
    """List all states of an army that can be reached, and what leads from one to the other.

    Returns
    -------
    army : Army
    n_before, n_after : int64
        Numbers of states; -1 for too many.
    """
    total = np.int64(0)
    for k in range(plan.n_types[side]):
        total += plan.start[side, plan.listed[side, k]]
    width = count_outcomes(min(total, most_effects))
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
        combinations = count_outcomes(reach)
        own_ones = min(active[s], most_ones)
        load_state(plan, squads, side, before, s, 0, combinations)
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
        hit_after = grown(hit_after, wanted)
        hit_cost = grown(hit_cost, wanted)
        hit_squads = grown(hit_squads, wanted)
        hit_dice = grown(hit_dice, wanted)
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
            load_state(plan, dealt, side, after, e, 0, 1)
            found = expand_rally(rules, plan, odds, dealt, side, np.int64(1), chances, tried, hits, scratch)
            if found < 0:
                full = True
                break
            rally_state = grown(rally_state, n_rallies + found)
            rally_chance = grown(rally_chance, n_rallies + found)
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
    army = Army(
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
def room_after(plan, side, remembers):
    """Most states of an army after the rolls: one place more than before them, since squads are routed."""
    places = 5 if remembers != 0 else 4
    room = 1.0
    for k in range(plan.n_types[side]):
        n = plan.start[side, plan.listed[side, k]]
        for i in range(1, places + 1):
            room *= (n + i) / i
    return np.int64(min(room + 0.5, 1e7))
