"""Battles side by side: the arrays of the lanes and the loops that apply rule steps to all of them.

Lane arrays are laid out (quantity, lane), so that a rule step is a loop over neighbouring lanes that the compiler
turns into vector code. The exact solver runs the same loops, with one lane for each outcome of a roll.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from simcore.core.jit import inlined, inlined_leaf, kernel, part
from simcore.core.lane import count_swings, emit
from simcore.rulesets.mass_battle.encoding import (
    MAX_CHARACTERS,
    MAX_TYPES,
    STATUSES,
    Accumulator,
    DrawStep,
    Outcome,
    Route,
    RowField,
    Standing,
)
from simcore.rulesets.mass_battle.steps import (
    GOES_ON,
    attack_pool,
    can_pursue,
    catches,
    conclude,
    deal_effect,
    is_broken,
    moves,
    negative_dice,
)
from simcore.rulesets.mass_battle.trace import Event

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = [
    "LANES",
    "N_STANDINGS",
    "Lanes",
    "Plan",
    "begin_turn",
    "choose_tried",
    "close_up",
    "count_forces",
    "deal_effects",
    "deal_one",
    "end_battles",
    "fill_pools",
    "find_endings",
    "get_away",
    "halt",
    "may_pursue",
    "new_lanes",
    "plan_matchup",
    "pursue",
    "record",
    "settle_tried",
    "start_battles",
    "suppress_own",
    "tally",
]

LANES = 512

N_STANDINGS = len(Standing)
_N_STATUSES = len(STATUSES)
_SWING_WIDTH = int(RowField.SWING_WIDTH)
_SWING_ZERO = int(RowField.SWING_ZERO)
_ACTIVE = int(Standing.ACTIVE)
_DUE = int(Standing.DUE)
_LATE = int(Standing.LATE)
_ROUTED = int(Standing.ROUTED)
_FAILED = int(Standing.FAILED)
_FLED = int(Standing.FLED)
_DESTROYED = int(Standing.DESTROYED)
_CAPTURED = int(Standing.CAPTURED)

# What a standing is counted as when the battle is over, in the order of `STATUSES`.
_COUNTED = (0, 1, 1, 2, 2, 3, 4, 5)

_POOL_MODEL = int(RowField.POOL_MODEL)
_NEGATIVE_COUNT = int(RowField.NEGATIVE_COUNT)
_ROUTED_TARGETS = int(RowField.ROUTED_TARGETS)
_RENEW = int(RowField.RENEW)
_RALLY_MISS = int(RowField.RALLY_MISS)
_UNLIMITED = int(RowField.UNLIMITED_RALLY)
_MUTUAL = int(RowField.MUTUAL_OUTCOME)
_ROUTED_ONLY = int(RowField.ROUTED_ONLY)
_LIMIT = int(RowField.PURSUIT_LIMIT)
_CAUGHT_DESTROYED = int(RowField.CAUGHT_DESTROYED)
_MAX_TURNS = int(RowField.MAX_TURNS)
_ARMY = int(Route.ARMY)
_SUPPORT = int(RowField.SUPPORT)
_CAN_FLEE = int(RowField.CAN_FLEE)

_N_OUTCOMES = len(Outcome)
_A_BATTLES = int(Accumulator.BATTLES)
_A_OUTCOMES = int(Accumulator.OUTCOMES)
_A_TURNS = int(Accumulator.TURNS)
_A_LOST = int(Accumulator.ATTACKER_LOST)
_A_SWING = int(Accumulator.SWING)
_A_SQUADS = int(Accumulator.SQUADS)
_A_SURVIVORS = int(Accumulator.SURVIVORS)

_ATTACK = int(DrawStep.ATTACK)
_RALLY = int(DrawStep.RALLY)
_PURSUIT = 9
_RETURN = int(Event.RETURN)
_HALT = int(Event.HALT)
_EFFECT = int(Event.EFFECT)
_BACKFIRE = int(Event.BACKFIRE)
_CAUGHT = int(Event.CAUGHT)
_SUPPRESS, _ROUT, _DESTROY = 0, 1, 2
"""Effects in a trace, and the order of their severity."""


class Plan(NamedTuple):
    """What stays the same over all battles of a matchup. S sides, T squad types, C characters, P turns.

    Attributes
    ----------
    order : int64 (S, T)
        Types in the order in which they are hit.
    listed : int64 (S, T)
        The same types in table order.
    n_types : int64 (S,)
    start, dice, mobile, cost, rally_odds : int64 (S, T)
    n_characters : int64 (S,)
    routes : int64 (S, C)
    character_odds : int64 (S, C, T)
    modifiers, pools : int64 (S, P)
    """

    order: npt.NDArray[np.int64]
    listed: npt.NDArray[np.int64]
    n_types: npt.NDArray[np.int64]
    start: npt.NDArray[np.int64]
    dice: npt.NDArray[np.int64]
    mobile: npt.NDArray[np.int64]
    cost: npt.NDArray[np.int64]
    rally_odds: npt.NDArray[np.int64]
    n_characters: npt.NDArray[np.int64]
    routes: npt.NDArray[np.int64]
    character_odds: npt.NDArray[np.int64]
    modifiers: npt.NDArray[np.int64]
    pools: npt.NDArray[np.int64]


class Lanes(NamedTuple):
    """State of the battles in progress, L lanes.

    Attributes
    ----------
    numbers : uint64 (L,)
        Battle numbers.
    turns : int64 (L,)
        Turn that each battle is in.
    squads : int32 (S, standing, T, L)
        Squads by `Standing`.
    in_line : int32 (S, L)
        Active and suppressed squads when a turn has ended.
    active, forces : int32 (S, L)
        Active squads, and the dice of an army before it is known against whom.
    dice, others, pools : int32 (L,)
        Of the roll in hand: dice of the main part, other dice of a negative roll, the pool.
    parts : int32 (group, L)
        Hits of the roll in hand by `FaceGroup`.
    hits : int32 (L,)
        Hits of another draw point.
    effects : int32 (S, 3, L)
        Effects that a side has scored: suppressed, routed, destroyed.
    ones : int32 (S, L)
        Own squads that a side's roll suppresses.
    fresh : int32 (T, L)
        Squads just suppressed.
    tried : int32 (L,)
        Type that a character tries to halt.
    words : uint64 (L,)
        Random words of the current draw point.
    ending : int32 (L,)
        0 = the battle goes on, otherwise its outcome + 1.
    going, ended : int64 (L,)
        Lanes whose battles go on, and those whose battles end.
    lost : int64 (S, L)
        Cost lost in the battles that end, in the order of `ended`.
    waiting : int64 (standing, T)
        Scratch: squads of one lane that may be hit.
    """

    numbers: npt.NDArray[np.uint64]
    turns: npt.NDArray[np.int64]
    squads: npt.NDArray[np.int32]
    in_line: npt.NDArray[np.int32]
    active: npt.NDArray[np.int32]
    forces: npt.NDArray[np.int32]
    dice: npt.NDArray[np.int32]
    others: npt.NDArray[np.int32]
    pools: npt.NDArray[np.int32]
    parts: npt.NDArray[np.int32]
    hits: npt.NDArray[np.int32]
    effects: npt.NDArray[np.int32]
    ones: npt.NDArray[np.int32]
    fresh: npt.NDArray[np.int32]
    tried: npt.NDArray[np.int32]
    words: npt.NDArray[np.uint64]
    ending: npt.NDArray[np.int32]
    going: npt.NDArray[np.int64]
    ended: npt.NDArray[np.int64]
    lost: npt.NDArray[np.int64]
    waiting: npt.NDArray[np.int64]


@part
def new_lanes(n):
    """Return `n` empty lanes: the only memory that a chunk of battles needs.

    Squads are written before they are read, and only those of types that the armies have.
    """
    return Lanes(
        numbers=np.empty(n, dtype=np.uint64),
        turns=np.empty(n, dtype=np.int64),
        squads=np.empty((2, N_STANDINGS, MAX_TYPES, n), dtype=np.int32),
        in_line=np.zeros((2, n), dtype=np.int32),
        active=np.zeros((2, n), dtype=np.int32),
        forces=np.zeros((2, n), dtype=np.int32),
        dice=np.zeros(n, dtype=np.int32),
        others=np.zeros(n, dtype=np.int32),
        pools=np.zeros(n, dtype=np.int32),
        parts=np.zeros((5, n), dtype=np.int32),
        hits=np.zeros(n, dtype=np.int32),
        effects=np.zeros((2, 3, n), dtype=np.int32),
        ones=np.zeros((2, n), dtype=np.int32),
        fresh=np.zeros((MAX_TYPES, n), dtype=np.int32),
        tried=np.zeros(n, dtype=np.int32),
        words=np.empty(n, dtype=np.uint64),
        ending=np.zeros(n, dtype=np.int32),
        going=np.empty(n, dtype=np.int64),
        ended=np.empty(n, dtype=np.int64),
        lost=np.empty((2, n), dtype=np.int64),
        waiting=np.zeros((_FAILED + 1, MAX_TYPES), dtype=np.int64),
    )


@kernel
def plan_matchup(armies, row):
    """Return the `Plan` of one matchup."""
    turns = armies.modifiers.shape[2]
    plan = Plan(
        order=np.zeros((2, MAX_TYPES), dtype=np.int64),
        listed=np.zeros((2, MAX_TYPES), dtype=np.int64),
        n_types=np.zeros(2, dtype=np.int64),
        start=np.zeros((2, MAX_TYPES), dtype=np.int64),
        dice=np.zeros((2, MAX_TYPES), dtype=np.int64),
        mobile=np.zeros((2, MAX_TYPES), dtype=np.int64),
        cost=np.zeros((2, MAX_TYPES), dtype=np.int64),
        rally_odds=np.zeros((2, MAX_TYPES), dtype=np.int64),
        n_characters=np.zeros(2, dtype=np.int64),
        routes=np.zeros((2, MAX_CHARACTERS), dtype=np.int64),
        character_odds=np.zeros((2, MAX_CHARACTERS, MAX_TYPES), dtype=np.int64),
        modifiers=np.zeros((2, turns), dtype=np.int64),
        pools=np.zeros((2, armies.pools.shape[2]), dtype=np.int64),
    )
    for side in range(2):
        n = 0
        listed = 0
        for t in range(MAX_TYPES):
            if armies.order[row, side, t] >= 0:
                plan.order[side, n] = armies.order[row, side, t]
                n += 1
            if armies.counts[row, side, t] > 0:
                plan.listed[side, listed] = t
                listed += 1
            plan.start[side, t] = armies.counts[row, side, t]
            plan.dice[side, t] = armies.dice[row, side, t]
            plan.mobile[side, t] = armies.mobile[row, side, t]
            plan.cost[side, t] = armies.cost[row, side, t]
            plan.rally_odds[side, t] = armies.rally_odds[row, side, t]
        plan.n_types[side] = n
        for c in range(MAX_CHARACTERS):
            if armies.character_route[row, side, c] >= 0:
                plan.n_characters[side] = c + 1
                plan.routes[side, c] = armies.character_route[row, side, c]
                for t in range(MAX_TYPES):
                    plan.character_odds[side, c, t] = armies.character_odds[row, side, c, t]
        for p in range(turns):
            plan.modifiers[side, p] = armies.modifiers[row, side, p]
        for p in range(armies.pools.shape[2]):
            plan.pools[side, p] = armies.pools[row, side, p]
    return plan


@inlined
def begin_turn(plan, unlimited, squads, side, n, turn, trace):
    """Let suppressed squads come back (MB-4), and those that nobody halted leave, or run on (MA-14)."""
    for k in range(plan.n_types[side]):
        t = plan.listed[side, k]
        active = squads[side, _ACTIVE, t]
        due = squads[side, _DUE, t]
        late = squads[side, _LATE, t]
        failed = squads[side, _FAILED, t]
        gone = squads[side, _ROUTED if unlimited else _FLED, t]
        if trace is not None:
            if due[0] > 0:
                emit(trace, _RETURN, turn, _RALLY, side, t, due[0], 0, 0, 0)
        for i in range(n):
            active[i] += due[i]
            due[i] = late[i]
            late[i] = 0
            gone[i] += failed[i]
            failed[i] = 0


@inlined_leaf
def choose_tried(plan, squads, side, n, tried):
    """Find the squad that the next character tries to halt: the first in listed order (MA-16).

    Writes its type to `tried`, -1 where nobody is in flight; returns whether there is any.
    """
    found = False
    for i in range(n):
        tried[i] = -1
        for k in range(plan.n_types[side]):
            t = plan.listed[side, k]
            if tried[i] < 0 and squads[side, _ROUTED, t, i] > 0:
                tried[i] = t
                found = True
    return found


@inlined_leaf
def settle_tried(rules, plan, squads, side, character, n, tried, hits):
    """Halt the squads that a character has tried, where he succeeds (MB-7 to MB-9); the others stay in flight."""
    at_once = plan.routes[side, character] == _ARMY
    standing = _ACTIVE if at_once else (_LATE if rules[_RALLY_MISS] != 0 else _DUE)
    for i in range(n):
        t = tried[i]
        if t >= 0:
            squads[side, _ROUTED, t, i] -= 1
            squads[side, standing, t, i] += hits[i]
            squads[side, _FAILED, t, i] += 1 - hits[i]


@inlined_leaf
def halt(rules, squads, side, t, n, hits, turn, trace):
    """Suppress the squads of a type that their commanders halt; the others stay in flight (MB-6, MB-8, MA-13)."""
    rallied = squads[side, _LATE if rules[_RALLY_MISS] != 0 else _DUE, t]
    routed = squads[side, _ROUTED, t]
    failed = squads[side, _FAILED, t]
    for i in range(n):
        rallied[i] += hits[i]
        failed[i] += routed[i] - hits[i]
        routed[i] = 0
    if trace is not None:
        if hits[0] > 0:
            emit(trace, _HALT, turn, _RALLY, side, t, hits[0], 0, 0, 0)


@inlined_leaf
def count_forces(rules, plan, squads, side, turns, n, active, forces):
    """Count the active squads of an army and the dice that they, support and modifier give (MA-2, MA-3)."""
    support = rules[_SUPPORT + side]
    modifiers = plan.modifiers[side]
    last = len(modifiers) - 1
    count = active[side]
    sums = forces[side]
    for i in range(n):
        count[i] = 0
        sums[i] = support + modifiers[0]
    if last > 0:
        for i in range(n):
            sums[i] = support + modifiers[max(0, min(turns[i] - 1, last))]
    for k in range(plan.n_types[side]):
        t = plan.listed[side, k]
        dice = np.int32(plan.dice[side, t])
        own = squads[side, _ACTIVE, t]
        for i in range(n):
            count[i] += own[i]
            sums[i] += dice * own[i]


@inlined_leaf
def fill_pools(rules, plan, lanes, side, n):
    """Fill ``lanes.pools``, ``dice`` and ``others`` for a side's roll; returns the largest of both kinds of dice.

    An army without an active squad rolls nothing (MA-20); a pool below 1 is a negative roll, with a main die and
    others (MB-19).
    """
    model = rules[_POOL_MODEL]
    as_counted = rules[_NEGATIVE_COUNT]
    last = len(plan.modifiers[side]) - 1
    last_pool = len(plan.pools[side]) - 1
    most = np.int64(0)
    most_others = np.int64(0)
    own = lanes.forces[side]
    against = lanes.forces[1 - side]
    active = lanes.active[side]
    pools = lanes.pools
    dice = lanes.dice
    others = lanes.others
    fixed = plan.pools[side, 0]
    modifier = plan.modifiers[side, 0]
    # Where nothing changes from turn to turn the loop looks nothing up, and becomes vector code.
    changes = last > 0 or last_pool > 0
    for i in range(n):
        if changes:
            turn = max(0, lanes.turns[i] - 1)
            fixed = plan.pools[side, min(turn, last_pool)]
            modifier = plan.modifiers[side, min(turn, last)]
        pool = attack_pool(np.int64(own[i]), np.int64(against[i]), fixed, modifier, model)
        rolls = active[i] > 0
        thrown = max(pool, 1) if rolls else np.int64(0)
        beside = negative_dice(pool, as_counted) - 1 if rolls and pool < 1 else np.int64(0)
        pools[i] = pool
        dice[i] = thrown
        others[i] = beside
        most = max(most, thrown)
        most_others = max(most_others, beside)
    return most, most_others


@inlined
def deal_effects(rules, plan, squads, side, n, effects, fresh, turn, trace):
    """Deal the enemy's effects to the squads of an army (MB-3, MB-5, MB-10, MB-13 to MB-16, MA-8 to MA-10).

    Parameters
    ----------
    rules : int64 (R,)
    plan : Plan
    squads : int32 (S, standing, T, L)
    side : int64
        The army that is hit.
    n : int64
        Lanes.
    effects : int32 (3, L)
        Squads to suppress, to rout and to destroy; used up.
    fresh : int32 (T, L)
        Scratch.
    turn, trace
        For the story of lane 0.
    """
    standings = _FAILED + 1 if rules[_ROUTED_TARGETS] != 0 else _ROUTED
    to_suppress = effects[_SUPPRESS]
    to_rout = effects[_ROUT]
    to_destroy = effects[_DESTROY]
    for k in range(plan.n_types[side]):
        fresh[plan.order[side, k], :n] = 0
    for standing in range(standings):
        if standing == _ROUTED:
            continue
        routs = np.int32(moves(standing, _ROUT, rules[_RENEW]))
        suppresses = np.int32(moves(standing, _SUPPRESS, rules[_RENEW]))
        for k in range(plan.n_types[side]):
            t = plan.order[side, k]
            own = squads[side, standing, t]
            gone = squads[side, _DESTROYED, t]
            routed = squads[side, _ROUTED, t]
            now = fresh[t]
            before = (effects[_SUPPRESS, 0], effects[_ROUT, 0], effects[_DESTROY, 0])
            for i in range(n):
                left = own[i]
                d = deal_effect(left, to_destroy[i])
                # Sums of two 32-bit numbers have 64 bits unless they are told otherwise: half as many in a vector.
                left = np.int32(left - d)
                r = deal_effect(left, to_rout[i])
                left = np.int32(left - r)
                s = deal_effect(left, to_suppress[i])
                to_destroy[i] -= d
                to_rout[i] -= r
                to_suppress[i] -= s
                r = np.int32(routs * r)
                s = np.int32(suppresses * s)
                gone[i] += d
                routed[i] += r
                now[i] += s
                own[i] -= d + r + s
            if trace is not None:
                for e in range(3):
                    dealt = before[2 - e] - effects[2 - e, 0]
                    if dealt > 0:
                        emit(trace, _EFFECT, turn, _ATTACK, side, t, dealt, standing, 2 - e, 0)
    for k in range(plan.n_types[side]):
        t = plan.order[side, k]
        late = squads[side, _LATE, t]
        now = fresh[t]
        for i in range(n):
            late[i] += now[i]


@inlined_leaf
def deal_one(rules, squads, side, t, i, standing, effect, fresh):
    """Let one effect reach one squad of a type in lane `i`: what `deal_effects` does, squad by squad."""
    if moves(standing, effect, rules[_RENEW]) == 0:
        return
    squads[side, standing, t, i] -= 1
    if effect == _DESTROY:
        squads[side, _DESTROYED, t, i] += 1
    elif effect == _ROUT:
        squads[side, _ROUTED, t, i] += 1
    else:
        fresh[t, i] += 1


@inlined
def suppress_own(plan, squads, side, n, ones, turn, trace):
    """Suppress as many own active squads as the roll shows ones; a surplus is lost (MB-21, MA-7)."""
    left = ones[side]
    for k in range(plan.n_types[side]):
        t = plan.order[side, k]
        active = squads[side, _ACTIVE, t]
        late = squads[side, _LATE, t]
        before = ones[side, 0]
        for i in range(n):
            s = deal_effect(active[i], left[i])
            active[i] -= s
            late[i] += s
            left[i] -= s
        if trace is not None:
            if before > ones[side, 0]:
                emit(trace, _BACKFIRE, turn, _ATTACK, side, t, before - ones[side, 0], 0, 0, 0)


@inlined
def find_endings(rules, plan, squads, turns, n, in_line, ending):
    """Test which battles are over after their turn (MB-17, MA-17, MA-22).

    Fills `ending` with 0 where a battle goes on and with its outcome + 1 where not; `in_line`, int32 (S, L), is
    scratch.
    """
    mutual = rules[_MUTUAL]
    limit = rules[_MAX_TURNS]
    count_in_line(plan, squads, 0, n, in_line)
    attackers = in_line[0]
    defenders = in_line[1]
    for i in range(n):
        attacker_broken = is_broken(attackers[i], 0)
        defender_broken = is_broken(defenders[i], 0)
        ending[i] = conclude(attacker_broken, defender_broken, mutual, turns[i], limit) - GOES_ON


@inlined_leaf
def count_in_line(plan, squads, start, stop, in_line):
    """Count the active and suppressed squads of both armies in lanes `start` to `stop` - 1."""
    for side in range(2):
        total = in_line[side]
        for i in range(start, stop):
            total[i] = 0
        for k in range(plan.n_types[side]):
            t = plan.listed[side, k]
            active = squads[side, _ACTIVE, t]
            due = squads[side, _DUE, t]
            late = squads[side, _LATE, t]
            for i in range(start, stop):
                total[i] += active[i] + due[i] + late[i]


@inlined_leaf
def may_pursue(rules, plan, loser):
    """Whether a battle of the matchup can end with a pursuit of this army."""
    most = np.int64(0)
    for k in range(plan.n_types[1 - loser]):
        t = plan.listed[1 - loser, k]
        if plan.mobile[1 - loser, t] != 0:
            most += plan.start[1 - loser, t]
    return catches(np.int64(1), most, rules[_LIMIT], rules[_CAN_FLEE + loser]) > 0


@inlined
def end_battles(rules, plan, squads, start, stop, in_line, turn, trace):
    """Let the victors pursue the squads in flight of broken armies in lanes `start` to `stop` - 1 (MB-17, MB-18).

    `in_line`, int32 (S, L), is scratch; `turn` and `trace` are for the story of a single battle.
    """
    for loser in range(np.int64(2)):
        if may_pursue(rules, plan, loser):
            count_in_line(plan, squads, start, stop, in_line)
            for i in range(start, stop):
                pursue(rules, plan, squads, loser, i, in_line, turn, trace)
    get_away(rules, plan, squads, start, stop)


@inlined_leaf
def get_away(rules, plan, squads, start, stop):
    """Let those in flight whom nobody has halted or caught leave, or be routed still, in lanes `start` to `stop` - 1.

    Turns begin with the same (MA-14), so it does nothing to battles that go on.
    """
    for side in range(2):
        for k in range(plan.n_types[side]):
            t = plan.listed[side, k]
            left = squads[side, _ROUTED if rules[_UNLIMITED] else _FLED, t]
            failed = squads[side, _FAILED, t]
            for i in range(start, stop):
                left[i] += failed[i]
                failed[i] = 0


@inlined_leaf
def pursue(rules, plan, squads, loser, i, in_line, turn, trace):
    """Let the victor catch the loser's squads in flight in lane `i`, if it is one (MB-18).

    Those routed in the last turn are caught first, each kind in listed order (MA-18, MA-19, MA-21).
    """
    if not is_broken(in_line[loser, i], 0) or is_broken(in_line[1 - loser, i], 0):
        return
    pursuers = np.int64(0)
    limit = rules[_LIMIT]
    for k in range(plan.n_types[1 - loser]):
        t = plan.listed[1 - loser, k]
        if plan.mobile[1 - loser, t] != 0:
            own = squads[1 - loser, :, t]
            active = np.int64(own[_ACTIVE, i])
            suppressed = np.int64(own[_DUE, i]) + np.int64(own[_LATE, i])
            pursuers += can_pursue(active, suppressed, limit)
    last = _ROUTED if rules[_ROUTED_ONLY] != 0 else _FAILED
    in_flight = np.int64(0)
    for standing in range(_ROUTED, last + 1):
        for k in range(plan.n_types[loser]):
            in_flight += squads[loser, standing, plan.listed[loser, k], i]
    left = catches(in_flight, pursuers, limit, rules[_CAN_FLEE + loser])
    fate = _DESTROYED if rules[_CAUGHT_DESTROYED] != 0 else _CAPTURED
    for standing in range(_ROUTED, last + 1):
        for k in range(plan.n_types[loser]):
            t = plan.listed[loser, k]
            caught = min(left, np.int64(squads[loser, standing, t, i]))
            squads[loser, standing, t, i] -= caught
            squads[loser, fate, t, i] += caught
            left -= caught
            if trace is not None:
                if caught > 0:
                    emit(trace, _CAUGHT, turn, _PURSUIT, loser, t, caught, fate, pursuers, 0)


@inlined_leaf
def start_battles(plan, lanes, n, n_new, number):
    """Put new battles into the first `n_new` of the lanes listed as ended, and clear the others of them.

    Parameters
    ----------
    plan : Plan
    lanes : Lanes
    n : int64
        Lanes in use.
    n_new : int64
    number : int64
        Of the first new battle.
    """
    ending = lanes.ending
    ended = lanes.ended
    turns = lanes.turns
    for side in range(2):
        for k in range(plan.n_types[side]):
            t = plan.listed[side, k]
            for standing in range(N_STANDINGS):
                own = lanes.squads[side, standing, t]
                count = np.int32(plan.start[side, t] if standing == _ACTIVE else 0)
                for i in range(n):
                    own[i] = count if ending[i] != 0 else own[i]
    for i in range(n):
        turns[i] = 0 if ending[i] != 0 else turns[i]
    for j in range(n_new):
        lanes.numbers[ended[j]] = np.uint64(number + j)
        ending[ended[j]] = 0


@inlined_leaf
def close_up(plan, lanes, n_going, n_ended):
    """Move the last battles that go on into the lanes of those that ended."""
    squads = lanes.squads
    holes = np.int64(0)
    while holes < n_ended and lanes.ended[holes] < n_going:
        holes += 1
    free = lanes.ended[:holes]
    movers = lanes.going[n_going - holes : n_going]
    for side in range(2):
        for k in range(plan.n_types[side]):
            t = plan.listed[side, k]
            # Nobody is captured before a battle has ended.
            for standing in range(_CAPTURED):
                own = squads[side, standing, t]
                for j in range(holes):
                    own[free[j]] = own[movers[j]]
    numbers = lanes.numbers
    turns = lanes.turns
    for j in range(holes):
        numbers[free[j]] = numbers[movers[j]]
        turns[free[j]] = turns[movers[j]]


@inlined_leaf
def tally(rules, plan, lanes, n, acc):
    """Add the `n` battles in the lanes listed as ended to the accumulators.

    Parameters
    ----------
    rules : int64 (R,)
    plan : Plan
    lanes : Lanes
    n : int64
    acc : int64 (K + BINS,)
        Accumulators, and counts of swings behind them.
    """
    ended = lanes.ended
    ending = lanes.ending
    for side in range(2):
        lost = lanes.lost[side]
        for j in range(n):
            lost[j] = 0
        for k in range(plan.n_types[side]):
            t = plan.listed[side, k]
            _tally_type(lanes.squads, ended, ending, n, side, t, plan.cost[side, t], lost, acc)
    acc[_A_BATTLES] += n
    sums = np.int64(0)
    squares = np.int64(0)
    for j in range(n):
        i = np.uint64(ended[j])
        turn = lanes.turns[i]
        acc[np.uint64(_A_OUTCOMES - 1 + ending[i])] += 1
        sums += turn
        squares += turn * turn
    acc[_A_TURNS] += sums
    acc[_A_TURNS + 1] += squares
    _tally_losses(lanes.lost[0], lanes.lost[1], n, acc)
    count_swings(lanes.lost, n, rules[_SWING_ZERO], rules[_SWING_WIDTH], acc)


@inlined_leaf
def _tally_type(squads, ended, ending, n, side, t, cost, lost, acc):
    """Add up what became of one squad type in the battles that end, and what it has cost in each of them.

    After `get_away` nobody is left whom his commander has failed to halt.
    """
    active = squads[side, _ACTIVE, t]
    due = squads[side, _DUE, t]
    late = squads[side, _LATE, t]
    routed = squads[side, _ROUTED, t]
    fled = squads[side, _FLED, t]
    destroyed = squads[side, _DESTROYED, t]
    captured = squads[side, _CAPTURED, t]
    n_active = np.int64(0)
    n_suppressed = np.int64(0)
    n_routed = np.int64(0)
    n_fled = np.int64(0)
    n_destroyed = np.int64(0)
    n_captured = np.int64(0)
    survivors = _A_SURVIVORS + side * MAX_TYPES + t - 2 * MAX_TYPES
    for j in range(n):
        # Indices without a sign need no test whether they count from the end.
        i = np.uint64(ended[j])
        suppressed = due[i] + late[i]
        gone = destroyed[i] + captured[i]
        n_active += active[i]
        n_suppressed += suppressed
        n_routed += routed[i]
        n_fled += fled[i]
        n_destroyed += destroyed[i]
        n_captured += captured[i]
        lost[j] += cost * gone
        acc[np.uint64(survivors + 2 * MAX_TYPES * ending[i])] += active[i] + suppressed
    for standing, total in enumerate((n_active, n_suppressed, n_routed, n_fled, n_destroyed, n_captured)):
        acc[_A_SQUADS + side * _N_STATUSES + standing] += total


@inlined_leaf
def _tally_losses(attacker, defender, n, acc):
    """Add up the costs lost in `n` battles and the swings between them."""
    sum_a = np.int64(0)
    square_a = np.int64(0)
    sum_b = np.int64(0)
    square_b = np.int64(0)
    square_swing = np.int64(0)
    for j in range(n):
        a = attacker[j]
        b = defender[j]
        sum_a += a
        square_a += a * a
        sum_b += b
        square_b += b * b
        square_swing += (b - a) * (b - a)
    acc[_A_LOST] += sum_a
    acc[_A_LOST + 1] += square_a
    acc[_A_LOST + 2] += sum_b
    acc[_A_LOST + 3] += square_b
    acc[_A_SWING] += sum_b - sum_a
    acc[_A_SWING + 1] += square_swing


@inlined_leaf
def record(plan, squads, i, turn, outcome, records, at):
    """Write the result of the battle that ended in lane `i` to row `at` of `records`."""
    records.outcome[at] = outcome
    records.turns[at] = turn
    for side in range(2):
        lost = np.int64(0)
        for k in range(plan.n_types[side]):
            t = plan.listed[side, k]
            own = squads[side, :, t]
            for standing in range(N_STANDINGS):
                records.squads[at, side, _COUNTED[standing], t] += own[standing, i]
            records.survivors[at, side, t] = own[_ACTIVE, i] + own[_DUE, i] + own[_LATE, i]
            lost += plan.cost[side, t] * (np.int64(own[_DESTROYED, i]) + np.int64(own[_CAPTURED, i]))
        records.cost_lost[at, side] = lost
