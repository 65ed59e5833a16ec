"""States of one army for the exact solver, and what leads from one to the other.

A state is what stands when the rolls of a turn begin: active squads, squads that come back next turn or the turn after,
and, where it matters, squads in flight. Squads that are gone need not be remembered.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from simcore.core.chain import binomial, find_or_add, new_table, slots_for
from simcore.core.jit import kernel, part
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

__all__ = [
    "AFTER",
    "COST",
    "DICE",
    "SQUADS",
    "Army",
    "count_outcomes",
    "expand_rally",
    "grown",
    "list_states",
    "load_state",
    "room_after",
]

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
_LANES = 32
_MOST_LANES = 1 << 17
"""Most ways in which the rallies of a turn may go."""
_MANY = 1 << 16
"""More than an army has squads."""

AFTER, COST, SQUADS, DICE = range(4)
"""Columns of `Army.hits`."""


class Army(NamedTuple):
    """States of one army. N states before the rolls, E states after them, G states before the rallies.

    Attributes
    ----------
    before : int16 (N, standing, T)
    after : int16 (E, standing, T)
    left, active : int64 (N,)
        Dice of the active squads, -1 if nobody is active, and their number.
    reach : int64 (N,)
        Most effects of a roll.
    size : int64 (N,)
        Squads in play, in falling order; among equal sizes those come first of which fewest squads are active.
    start : int64
        State in which the battle begins.
    broken, pursuers : int64 (E,)
    hit_start : int64 (N + 1,)
        First outcome of each state in the list of hits: suppressed, routed and destroyed, fastest to slowest,
        together at most its reach; for each number of own ones again.
    hits : int64 (H, 4)
        State after the effects, cost and number of squads destroyed, dice left (-1 = nobody is active).
    begun : int64 (E,)
        Its state when the next turn has begun and nobody has rallied yet, -1 if it is broken.
    rally_start : int64 (G + 1,)
    rally_state : int64, rally_chance : float64
        States at the next rolls.
    """

    before: Any
    after: Any
    left: Any
    active: Any
    reach: Any
    size: Any
    start: Any
    broken: Any
    pursuers: Any
    hit_start: Any
    hits: Any
    begun: Any
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


@part
def load_state(listed, squads, side, states, s, start, stop):
    """Put a state into lanes `start` to `stop` - 1; `listed` are the types that the army has."""
    for k in range(len(listed)):
        t = listed[k]
        for standing in range(N_STANDINGS):
            n = states[s, standing, t] if standing < _IN_PLAY else 0
            for i in range(start, stop):
                squads[side, standing, t, i] = n


@part
def _fill_keys(squads, side, listed, bases, n, keys):
    """Fill `keys` with the numbers of the states in lanes 0 to `n` - 1."""
    for i in range(n):
        keys[i] = 0
    for k in range(len(listed)):
        t = listed[k]
        for standing in range(_IN_PLAY):
            for i in range(n):
                keys[i] = keys[i] * bases[k] + squads[side, standing, t, i]


@part
def _keep_state(squads, side, listed, i, states, n):
    """Copy the state in lane `i` to the end of a list of `n`."""
    for k in range(len(listed)):
        t = listed[k]
        for standing in range(_IN_PLAY):
            states[n, standing, t] = squads[side, standing, t, i]


@part
def _copy_lane(listed, squads, side, i, to):
    """Copy an army's squads to another lane."""
    for k in range(len(listed)):
        t = listed[k]
        for standing in range(N_STANDINGS):
            squads[side, standing, t, to] = squads[side, standing, t, i]


@kernel
def expand_rally(rules, plan, odds, squads, side, n, chances, origins, tried, hits, scratch):
    """Go through all outcomes of the rolls for squads in flight; returns the lanes in use, -1 if there are too few.

    The turn has begun already.

    Parameters
    ----------
    rules, plan, odds : arrays
    squads : int32 (S, standing, T, L)
        The states of an army in the first lanes; output: what comes of each.
    side, n : int64
        The army, and the number of its states.
    chances : float64 (L,), origins : int64 (L,)
        Output: probability of each lane, and the lane that it comes from.
    tried, hits : int32 (L,), scratch : float64
        Scratch.
    """
    room = len(chances)
    listed = plan.listed[side, : plan.n_types[side]]
    for i in range(n):
        chances[i] = 1.0
        origins[i] = i
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
            _copy_lane(listed, squads, side, i, found)
            origins[found] = origins[i]
            tried[found] = t
            hits[found] = 1
            chances[found] = chances[i] * success
            chances[i] *= 1.0 - success
            found += 1
        n = found
        settle_tried(rules, plan, squads, side, np.int64(c), n, tried, hits)
    for k in range(len(listed)):
        t = listed[k]
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
                _copy_lane(listed, squads, side, i, found)
                origins[found] = origins[i]
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


@part
def _sort_states(listed, rules, before, active, n):
    """Return the sizes of an army's states in falling order, the states in this order, and the place of each.

    The solver takes states out one after the other, and little work is made by those that come back last.
    """
    size = np.zeros(n, dtype=np.int64)
    rank = np.zeros(n, dtype=np.int64)
    last = _FAILED if rules[_UNLIMITED] != 0 else _LATE
    for s in range(n):
        away = np.int64(0)
        for k in range(len(listed)):
            t = listed[k]
            for standing in range(last + 1):
                size[s] += before[s, standing, t]
                away += standing * before[s, standing, t]
        rank[s] = ((_MANY - size[s]) * _MANY + active[s]) * 4 * _MANY - away
    order = np.argsort(rank, kind="mergesort")
    place = np.zeros(n, dtype=np.int64)
    for s in range(n):
        place[order[s]] = s
    return size[order], order, place


@part
def _sort_hits(order, starts, hits):
    """Return the list of hits with the states in another order, and where each begins."""
    n = len(order)
    sorted_starts = np.zeros(n + 1, dtype=np.int64)
    out = np.empty((starts[n], 4), dtype=np.int64)
    at = np.int64(0)
    for s in range(n):
        sorted_starts[s] = at
        for h in range(starts[order[s]], starts[order[s] + 1]):
            for c in range(4):
                out[at, c] = hits[h, c]
            at += 1
    sorted_starts[n] = at
    return sorted_starts, out


@part
def _grown_hits(hits, n):
    """Return a list of hits with room for at least `n`."""
    if n <= len(hits):
        return hits
    out = np.empty((max(n, 2 * len(hits)), 4), dtype=np.int64)
    out[: len(hits)] = hits
    return out


@part
def _rally_lanes(plan, side):
    """Most ways in which the rallies of a turn may go."""
    ways = 1.0
    for k in range(plan.n_types[side]):
        ways *= plan.start[side, plan.listed[side, k]] + 1
    ways *= 2.0 ** plan.n_characters[side]
    return np.int64(min(ways, np.float64(_MOST_LANES)))


@part
def list_states(rules, plan, odds, side, remembers, most_effects, most_ones, room_before, room_after):
    """List all states of an army that can be reached, and what leads from one to the other.

    Returns
    -------
    army : Army
    n_before, n_after : int64
        Numbers of states; -1 for too many.
    """
    n_types = plan.n_types[side]
    listed = plan.listed[side, :n_types]
    bases = np.zeros(n_types, dtype=np.int64)
    type_dice = np.zeros(n_types, dtype=np.int64)
    type_cost = np.zeros(n_types, dtype=np.int64)
    mobile = np.zeros(n_types, dtype=np.int64)
    total = np.int64(0)
    for k in range(n_types):
        t = listed[k]
        total += plan.start[side, t]
        bases[k] = plan.start[side, t] + 1
        type_dice[k] = plan.dice[side, t]
        type_cost[k] = plan.cost[side, t]
        mobile[k] = plan.mobile[side, t]
    ways = _rally_lanes(plan, side)
    lanes = max(count_outcomes(min(total, most_effects)), ways, _LANES)
    squads = np.zeros((2, N_STANDINGS, MAX_TYPES, lanes), dtype=np.int32)
    dealt = np.zeros((2, N_STANDINGS, MAX_TYPES, lanes), dtype=np.int32)
    effects = np.zeros((3, lanes), dtype=np.int32)
    fresh = np.zeros((MAX_TYPES, lanes), dtype=np.int32)
    ones = np.zeros((2, lanes), dtype=np.int32)
    tried = np.zeros(lanes, dtype=np.int32)
    hits_rolled = np.zeros(lanes, dtype=np.int32)
    keys = np.zeros(lanes, dtype=np.int64)
    chances = np.zeros(lanes)
    origins = np.zeros(lanes, dtype=np.int64)
    batch = np.zeros(lanes // ways, dtype=np.int64)
    counts = np.zeros(lanes // ways + 1, dtype=np.int64)
    scratch = np.zeros(total + 2)
    before_keys, before_places = new_table(slots_for(room_before))
    after_keys, after_places = new_table(slots_for(room_after))
    begun_keys, begun_places = new_table(slots_for(room_after))
    before = np.zeros((room_before, _IN_PLAY, MAX_TYPES), dtype=np.int16)
    after = np.zeros((room_after, _IN_PLAY, MAX_TYPES), dtype=np.int16)
    left = np.zeros(room_before, dtype=np.int64)
    active = np.zeros(room_before, dtype=np.int64)
    reach = np.zeros(room_before, dtype=np.int64)
    broken = np.zeros(room_after, dtype=np.int64)
    pursuers = np.zeros(room_after, dtype=np.int64)
    hit_start = np.zeros(room_before + 1, dtype=np.int64)
    hits = np.empty((1024, 4), dtype=np.int64)
    begun = np.full(room_after, -1, dtype=np.int64)
    rally_start = np.zeros(room_after + 1, dtype=np.int64)
    rally_state = np.zeros(256, dtype=np.int64)
    rally_chance = np.zeros(256)
    for k in range(n_types):
        squads[side, _ACTIVE, listed[k], 0] = bases[k] - 1
    _fill_keys(squads, side, listed, bases, np.int64(1), keys)
    find_or_add(before_keys, before_places, keys[0], np.int64(0))
    _keep_state(squads, side, listed, np.int64(0), before, np.int64(0))
    n = np.int64(1)
    n_after = np.int64(0)
    n_begun = np.int64(0)
    n_hits = np.int64(0)
    n_rallies = np.int64(0)
    expanded = np.int64(0)
    s = np.int64(0)
    full = False
    while s < n and not full:
        targets = np.int64(0)
        for k in range(n_types):
            t = listed[k]
            left[s] += type_dice[k] * before[s, _ACTIVE, t]
            active[s] += before[s, _ACTIVE, t]
            targets += before[s, _ACTIVE, t] + before[s, _DUE, t] + before[s, _LATE, t]
            if rules[_ROUTED_TARGETS] != 0:
                targets += before[s, _FAILED, t]
        if active[s] == 0:
            left[s] = -1
        reach[s] = min(targets, most_effects)
        combinations = count_outcomes(reach[s])
        own_ones = min(active[s], most_ones)
        load_state(listed, squads, side, before, s, 0, combinations)
        place = 0
        for d in range(reach[s] + 1):
            for r in range(reach[s] + 1 - d):
                for p in range(reach[s] + 1 - d - r):
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
        if wanted > len(hits):
            hits = _grown_hits(hits, wanted)
        for own in range(own_ones + 1):
            result = squads
            if own > 0:
                result = dealt
                for k in range(n_types):
                    t = listed[k]
                    for standing in range(N_STANDINGS):
                        for i in range(combinations):
                            dealt[side, standing, t, i] = squads[side, standing, t, i]
                for i in range(combinations):
                    ones[side, i] = own
                suppress_own(plan, dealt, side, combinations, ones, np.int64(0), None)
            _fill_keys(result, side, listed, bases, combinations, keys)
            for i in range(combinations):
                at = find_or_add(after_keys, after_places, keys[i], n_after)
                if at == n_after:
                    if n_after == room_after:
                        full = True
                        break
                    _keep_state(result, side, listed, i, after, n_after)
                    n_after += 1
                hits[n_hits + i, AFTER] = at
            if full:
                break
            _describe_hits(squads, result, side, listed, type_dice, type_cost, combinations, hits, n_hits)
            n_hits += combinations
        while expanded < n_after and not full:
            n_batch = np.int64(0)
            while expanded < n_after and n_batch < len(batch):
                e = expanded
                expanded += 1
                standing_active = np.int64(0)
                suppressed = np.int64(0)
                for k in range(n_types):
                    t = listed[k]
                    resting = np.int64(after[e, _DUE, t]) + np.int64(after[e, _LATE, t])
                    standing_active += after[e, _ACTIVE, t]
                    suppressed += resting
                    if mobile[k] != 0:
                        pursuers[e] += can_pursue(np.int64(after[e, _ACTIVE, t]), resting, rules[_LIMIT])
                if is_broken(standing_active, suppressed):
                    broken[e] = 1
                    continue
                load_state(listed, dealt, side, after, e, n_batch, n_batch + 1)
                batch[n_batch] = e
                n_batch += 1
            # Squads in line and those that come back stand in the same place then: many states are one.
            begin_turn(plan, rules[_UNLIMITED] != 0, dealt, side, n_batch, np.int64(0), None)
            _fill_keys(dealt, side, listed, bases, n_batch, keys)
            first = n_begun
            for i in range(n_batch):
                g = find_or_add(begun_keys, begun_places, keys[i], n_begun)
                begun[batch[i]] = g
                if g == n_begun:
                    if g - first < i:
                        _copy_lane(listed, dealt, side, i, g - first)
                    n_begun += 1
            n_batch = n_begun - first
            found = expand_rally(
                rules, plan, odds, dealt, side, n_batch, chances, origins, tried, hits_rolled, scratch
            )  # fmt: skip
            if found < 0:
                full = True
                break
            if n_rallies + found > len(rally_state):
                rally_state = grown(rally_state, n_rallies + found)
                rally_chance = grown(rally_chance, n_rallies + found)
            # What comes of the same state is listed together.
            counts[: n_batch + 1] = 0
            for i in range(found):
                if chances[i] > 0.0:
                    counts[origins[i] + 1] += 1
            for i in range(n_batch):
                rally_start[first + i] = n_rallies
                n_rallies += counts[i + 1]
                counts[i + 1] = n_rallies
            counts[0] = rally_start[first]
            if not remembers:
                for k in range(n_types):
                    for i in range(found):
                        dealt[side, _FAILED, listed[k], i] = 0
            _fill_keys(dealt, side, listed, bases, found, keys)
            for i in range(found):
                if chances[i] == 0.0:
                    continue
                at = find_or_add(before_keys, before_places, keys[i], n)
                if at == n:
                    if n == room_before:
                        full = True
                        break
                    _keep_state(dealt, side, listed, i, before, n)
                    n += 1
                m = counts[origins[i]]
                counts[origins[i]] = m + 1
                rally_state[m] = at
                rally_chance[m] = chances[i]
        s += 1
    if full:
        n = np.int64(0)
        n_hits = np.int64(0)
        n_rallies = np.int64(0)
    hit_start[n] = n_hits
    rally_start[n_begun if not full else 0] = n_rallies
    size, order, place = _sort_states(listed, rules, before, active, n)
    sorted_starts, sorted_hits = _sort_hits(order, hit_start, hits)
    for i in range(n_rallies):
        rally_state[i] = place[rally_state[i]]
    army = Army(
        before=before[order],
        after=after,
        left=left[order],
        active=active[order],
        reach=reach[order],
        size=size,
        start=place[0] if not full else np.int64(0),
        broken=broken,
        pursuers=pursuers,
        hit_start=sorted_starts,
        hits=sorted_hits,
        begun=begun,
        rally_start=rally_start[: n_begun + 1],
        rally_state=rally_state,
        rally_chance=rally_chance,
    )
    return army, np.int64(-1) if full else n, n_after


@part
def _describe_hits(squads, result, side, listed, type_dice, type_cost, n, hits, start):
    """Write down what each outcome of a roll costs and leaves; `result` differs from `squads` by own ones."""
    for i in range(n):
        cost = np.int64(0)
        gone = np.int64(0)
        left = np.int64(0)
        dice = np.int64(0)
        for k in range(len(listed)):
            t = listed[k]
            destroyed = np.int64(result[side, _DESTROYED, t, i])
            cost += type_cost[k] * destroyed
            gone += destroyed
            # Before his own ones count, an army answers with what the enemy has left it (MA-11).
            left += squads[side, _ACTIVE, t, i]
            dice += type_dice[k] * squads[side, _ACTIVE, t, i]
        hits[start + i, COST] = cost
        hits[start + i, SQUADS] = gone
        hits[start + i, DICE] = dice if left > 0 else -1


@part
def room_after(plan, side, remembers):
    """Most states of an army after the rolls: one place more than before them, since squads are routed."""
    places = 5 if remembers != 0 else 4
    room = 1.0
    for k in range(plan.n_types[side]):
        n = plan.start[side, plan.listed[side, k]]
        for i in range(1, places + 1):
            room *= (n + i) / i
    return np.int64(min(room + 0.5, 1e7))
