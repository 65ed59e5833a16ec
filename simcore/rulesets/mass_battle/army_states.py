"""States of one army for the exact solver, and what leads from one to the other.

A state is what stands when the rolls of a turn begin: active squads, squads that come back next turn or the turn after,
and, where it matters, squads in flight. Squads that are gone need not be remembered.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from simcore.core.chain import binomial, find_or_add, new_table, slots_for
from simcore.core.jit import borrowed, kernel, leaf, part
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
from simcore.rulesets.mass_battle.limits import MOST_HITS, MOST_WAYS
from simcore.rulesets.mass_battle.steps import can_pursue, is_broken

__all__ = [
    "AFTER",
    "COST",
    "DICE",
    "SQUADS",
    "Army",
    "Bench",
    "count_outcomes",
    "expand_rally",
    "grown",
    "lanes_for",
    "list_states",
    "load_state",
    "new_bench",
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
_LANES = 32
_MANY = 1 << 16
"""More than an army has squads."""

_LEFT, _ACTIVE_SQUADS, _REACH, _HIT_START, _SIZE, _NUMBERS = range(6)
"""Rows of what is known of each state, and their number."""
_BROKEN, _PURSUERS, _BEGUN = range(3)
"""Rows of what is known of each state after the rolls."""
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
    hit_start : int64 (N,)
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


@leaf
def load_state(listed, squads, side, states, s, start, stop):
    """Put a state into lanes `start` to `stop` - 1; `listed` are the types that the army has."""
    for k in range(len(listed)):
        t = listed[k]
        for standing in range(N_STANDINGS):
            n = states[s, standing, t] if standing < _IN_PLAY else 0
            if standing == _DESTROYED and states.shape[1] > _IN_PLAY:
                n = states[s, _IN_PLAY, t]
            for i in range(start, stop):
                squads[side, standing, t, i] = n


@leaf
def _fill_keys(squads, side, listed, bases, kept, n, keys):
    """Fill `keys` with the numbers of the states in lanes 0 to `n` - 1, of which so many standings are kept."""
    for i in range(n):
        keys[i] = 0
    for k in range(len(listed)):
        t = listed[k]
        for column in range(kept):
            standing = column if column < _IN_PLAY else _DESTROYED
            for i in range(n):
                keys[i] = keys[i] * bases[k] + squads[side, standing, t, i]


@leaf
def _keep_state(squads, side, listed, i, states, n):
    """Copy the state in lane `i` to the end of a list of `n`."""
    for k in range(len(listed)):
        t = listed[k]
        for column in range(states.shape[1]):
            states[n, column, t] = squads[side, column if column < _IN_PLAY else _DESTROYED, t, i]


@leaf
def _copy_lane(listed, squads, side, i, to):
    """Copy an army's squads to another lane."""
    for k in range(len(listed)):
        t = listed[k]
        for standing in range(N_STANDINGS):
            squads[side, standing, t, to] = squads[side, standing, t, i]


@kernel
def expand_rally(lent_rules, lent_plan, odds, lent_squads, side, n, chances, origins, tried, lent_hits, scratch):
    """Go through all outcomes of the rolls for squads in flight; returns the lanes in use, -1 if there are too few.

    The turn has begun already.

    Parameters
    ----------
    lent_rules, lent_plan, odds : arrays
    lent_squads : int32 (S, standing, T, L)
        The states of an army in the first lanes; output: what comes of each.
    side, n : int64
        The army, and the number of its states.
    chances : float64 (L,), origins : int64 (L,)
        Output: probability of each lane, and the lane that it comes from.
    tried, lent_hits : int32 (L,), scratch : float64
        Scratch.
    """
    rules, plan, squads, hits = borrowed(lent_rules), borrowed(lent_plan), borrowed(lent_squads), borrowed(lent_hits)
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
def _sort_states(listed, rules, before, numbers, n):
    """Return the states of an army in falling order of their sizes, with their numbers, and the place of each.

    The solver takes states out one after the other, and little work is made by those that come back last.
    """
    ranks = np.zeros((2, n), dtype=np.int64)
    rank, place = ranks[0], ranks[1]
    last = _FAILED if rules[_UNLIMITED] != 0 else _LATE
    for s in range(n):
        away = np.int64(0)
        for k in range(len(listed)):
            t = listed[k]
            for standing in range(last + 1):
                numbers[_SIZE, s] += before[s, standing, t]
                away += standing * before[s, standing, t]
        rank[s] = ((_MANY - numbers[_SIZE, s]) * _MANY + numbers[_ACTIVE_SQUADS, s]) * 4 * _MANY - away
    order = np.argsort(rank, kind="mergesort")
    states = np.empty((n, _IN_PLAY, MAX_TYPES), dtype=np.int16)
    out = np.empty((_NUMBERS, n), dtype=np.int64)
    for s in range(n):
        source = order[s]
        place[source] = s
        for c in range(_NUMBERS):
            out[c, s] = numbers[c, source]
        for standing in range(_IN_PLAY):
            for t in range(MAX_TYPES):
                states[s, standing, t] = before[source, standing, t]
    return states, out, place


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
    return np.int64(min(ways, np.float64(MOST_WAYS)))


class Bench(NamedTuple):
    """Scratch for `list_states`, as large as its longest list of outcomes, L lanes."""

    squads: Any
    dealt: Any
    effects: Any
    fresh: Any
    ones: Any
    tried: Any
    hits: Any
    keys: Any
    chances: Any
    origins: Any
    batch: Any
    counts: Any
    scratch: Any


@part
def new_bench(lanes):
    """Return scratch for `list_states`."""
    return Bench(
        squads=np.zeros((2, N_STANDINGS, MAX_TYPES, lanes), dtype=np.int32),
        dealt=np.zeros((2, N_STANDINGS, MAX_TYPES, lanes), dtype=np.int32),
        effects=np.zeros((3, lanes), dtype=np.int32),
        fresh=np.zeros((MAX_TYPES, lanes), dtype=np.int32),
        ones=np.zeros((2, lanes), dtype=np.int32),
        tried=np.zeros(lanes, dtype=np.int32),
        hits=np.zeros(lanes, dtype=np.int32),
        keys=np.zeros(lanes, dtype=np.int64),
        chances=np.zeros(lanes),
        origins=np.zeros(lanes, dtype=np.int64),
        batch=np.zeros(lanes, dtype=np.int64),
        counts=np.zeros(lanes + 1, dtype=np.int64),
        scratch=np.zeros(lanes + 2),
    )


@part
def lanes_for(plan, side, most_effects):
    """Return how many lanes the lists of an army's outcomes need."""
    total = np.int64(0)
    for k in range(plan.n_types[side]):
        total += plan.start[side, plan.listed[side, k]]
    return max(count_outcomes(min(total, most_effects)), _rally_lanes(plan, side), total, np.int64(_LANES))


@part
def list_states(
    rules, lent_plan, odds, side, remembers, counts_lost, most_effects, most_ones, room_before, room_after, lent_bench
):  # fmt: skip
    """List all states of an army that can be reached, and what leads from one to the other.

    Parameters
    ----------
    rules, lent_plan, odds : arrays
    side : int64
    remembers : bool
        Whether states remember squads in flight.
    counts_lost : bool
        Whether they count destroyed squads, too, in one more column: costs are then those of all squads destroyed.
    most_effects, most_ones : int64
        Most effects of an enemy's roll, and largest number of own ones that is told apart.
    room_before, room_after : int64
        Most states before and after the rolls.
    lent_bench : Bench
        With as many lanes as `lanes_for` says at least.

    Returns
    -------
    army : Army
    n_before, n_after : int64
        Numbers of states; -1 for too many.
    """
    plan, bench = borrowed(lent_plan), borrowed(lent_bench)
    n_types = plan.n_types[side]
    listed = plan.listed[side, :n_types]
    # Few arrays: making one takes as long as what is done with it for a small army.
    of_types = np.zeros((4, n_types), dtype=np.int64)
    bases, type_dice, type_cost, mobile = of_types[0], of_types[1], of_types[2], of_types[3]
    for k in range(n_types):
        t = listed[k]
        bases[k] = plan.start[side, t] + 1
        type_dice[k] = plan.dice[side, t]
        type_cost[k] = plan.cost[side, t]
        mobile[k] = plan.mobile[side, t]
    squads, dealt, effects, fresh, ones, tried, hits_rolled, keys, chances, origins, batch, counts, scratch = bench
    at_once = min(np.int64(len(batch)), len(chances) // _rally_lanes(plan, side))
    few, many = slots_for(room_before), slots_for(room_after)
    keys_of, places_of = new_table(few + 2 * many)
    before_keys, before_places = keys_of[:few], places_of[:few]
    after_keys, after_places = keys_of[few : few + many], places_of[few : few + many]
    begun_keys, begun_places = keys_of[few + many :], places_of[few + many :]
    kept = np.int64(_IN_PLAY + 1 if counts_lost else _IN_PLAY)
    before = np.zeros((room_before, kept, MAX_TYPES), dtype=np.int16)
    after = np.zeros((room_after, kept, MAX_TYPES), dtype=np.int16)
    numbers = np.zeros((_NUMBERS, room_before), dtype=np.int64)
    left, active, reach, hit_start = numbers[_LEFT], numbers[_ACTIVE_SQUADS], numbers[_REACH], numbers[_HIT_START]
    of_after = np.zeros((3, room_after), dtype=np.int64)
    broken, pursuers, begun = of_after[_BROKEN], of_after[_PURSUERS], of_after[_BEGUN]
    begun[:] = -1
    hits = np.empty((1024, 4), dtype=np.int64)
    rally_start = np.zeros(room_after + 1, dtype=np.int64)
    rally_state = np.empty(256, dtype=np.int64)
    rally_chance = np.empty(256)
    for k in range(n_types):
        for standing in range(N_STANDINGS):
            squads[side, standing, listed[k], 0] = bases[k] - 1 if standing == _ACTIVE else 0
    _fill_keys(squads, side, listed, bases, kept, np.int64(1), keys)
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
        if wanted > MOST_HITS:
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
            _fill_keys(result, side, listed, bases, kept, combinations, keys)
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
            while expanded < n_after and n_batch < at_once:
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
            _fill_keys(dealt, side, listed, bases, kept, n_batch, keys)
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
            _fill_keys(dealt, side, listed, bases, kept, found, keys)
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
    rally_start[n_begun if not full else 0] = n_rallies
    states, out, place = _sort_states(listed, rules, before, numbers, n)
    for i in range(n_rallies):
        rally_state[i] = place[rally_state[i]]
    army = Army(
        before=states,
        after=after,
        left=out[_LEFT],
        active=out[_ACTIVE_SQUADS],
        reach=out[_REACH],
        size=out[_SIZE],
        start=place[0] if not full else np.int64(0),
        broken=broken,
        pursuers=pursuers,
        hit_start=out[_HIT_START],
        hits=hits,
        begun=begun,
        rally_start=rally_start[: n_begun + 1],
        rally_state=rally_state,
        rally_chance=rally_chance,
    )
    return army, np.int64(-1) if full else n, n_after


@leaf
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
    """Most states of an army after the rolls: one place more than before them, since squads are routed.

    There are as many places more as `remembers` says: one for squads in flight, one for the destroyed.
    """
    places = 4 + remembers
    room = 1.0
    for k in range(plan.n_types[side]):
        n = plan.start[side, plan.listed[side, k]]
        for i in range(1, places + 1):
            room *= (n + i) / i
    return np.int64(min(room + 0.5, 1e7))
