"""Exact solver of mass battles: every state and its probability, from the sampler's own steps.

A state of an army is what stands when the rolls of a turn begin (`army_states`). Given the states of both armies and
the parts of the rolls that concern the roller himself, what happens to one army is independent of what happens to the
other, so a turn is a product of two rows of probabilities (`turn_rows`).

States recur, since a suppressed squad comes back, but squads that are gone never do: all pairs of states with as many
squads on either side are a block that is left for good some time. Block by block, the time spent in each pair is
found, in small blocks by elimination, in large ones by moving on what is there until next to nothing stays; then that
time leads to smaller armies. Where a limit of turns matters, or pools change from turn to turn, all pairs are moved
on turn by turn instead (`moves`). The mean losses so far come along with each pair: they are all that variances need.
What an ending is worth is worked out once, from the time that the battle spends in each pair.
"""

from __future__ import annotations

import numpy as np

from simcore.core.jit import borrowed, kernel, leaf, part
from simcore.enums import Status
from simcore.rulesets.mass_battle.army_states import (
    AFTER,
    DICE,
    SQUADS,
    count_outcomes,
    lanes_for,
    list_states,
    load_state,
    new_bench,
    room_after,
)
from simcore.rulesets.mass_battle.encoding import (
    MAX_TYPES,
    STATUSES,
    Accumulator,
    Initiative,
    Outcome,
    PoolModel,
    PursuitLimit,
    RowField,
    Standing,
)
from simcore.rulesets.mass_battle.end_costs import book_swings, list_end_costs, list_row_costs
from simcore.rulesets.mass_battle.lane import N_STANDINGS, end_battles, plan_matchup
from simcore.rulesets.mass_battle.limits import MOST_ROWS
from simcore.rulesets.mass_battle.moves import (
    KINDS,
    Frame,
    kept_ones,
    move_line,
    new_elimination,
    new_scratch,
    outlast_limit,
    pool_terms,
    pool_with,
    settle_owed,
    solve_block,
)
from simcore.rulesets.mass_battle.plain_moves import PlainArmy, outlast_limit_plainly, run_plainly
from simcore.rulesets.mass_battle.plain_rows import find_classes, list_cases, list_plain_rows
from simcore.rulesets.mass_battle.steps import GOES_ON, conclude
from simcore.rulesets.mass_battle.turn_rows import (
    CAUGHT,
    CAUGHT_LOST,
    CAUGHT_SQ,
    CHASES,
    CHASES_LOST,
    FACTS,
    LOST,
    LOST_SQ,
    MASS,
    STAYS,
    binomials,
    dice_of,
    face,
    in_reach,
    list_chances,
    list_rows,
    ones_of,
    pool_index,
)

__all__ = ["solve_all"]

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
_NEGATIVE_COUNT = int(RowField.NEGATIVE_COUNT)
_INITIATIVE = int(RowField.INITIATIVE)
_UNLIMITED = int(RowField.UNLIMITED_RALLY)
_MUTUAL = int(RowField.MUTUAL_OUTCOME)
_MAX_TURNS = int(RowField.MAX_TURNS)
_LIMIT = int(RowField.PURSUIT_LIMIT)
_POOL_MODEL = int(RowField.POOL_MODEL)
_DIFFERENCE = int(PoolModel.DIFFERENCE)
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
"""Probabilities of pairs of states below this are dropped in a turn."""
_REMNANT = 1e-15
"""A battle is left when so little goes on."""
_DROPPED = 1e-14
"""Most probability that stays where it is in the end in all pairs of states, or that a limit cuts off."""
_DELAY = 1.57
"""How much longer a squad takes that is out of action for one turn more."""
_BAR = 1e-6
"""Share of the largest probability in a block below which others wait for their next turn."""
_TINY_SHARE = 0.1
"""Share of the least probability that is moved on below which it is left out on its way."""
_MOST_STAYS = 1_000
_SMALL_BLOCK = 256
"""Most pairs of states of a block that is solved by elimination."""
_MOST_TURNS = (1 << 20) - 1
_FEW_LANES = 32
"""Lanes of the scratch for small armies."""
_MOST_EFFORT = 1 << 38
"""Most multiplications of a battle that goes on and on."""


_PASSED, _BEATEN, _UNDECIDED_YET, _CHASED = range(4)
"""Columns of the weights of an army's rows: how often each is passed; where the enemy breaks, where the limit is
reached while both stand, and, from `_CHASED` on, where the enemy stands and pursues at a level."""


@leaf
def _book(facts_a, facts_b, a, b, p, qa, qb, sums_a, sums_b, is_last, moments):
    """Book what happens when row `a` of one army meets row `b` of the other.

    Parameters
    ----------
    facts_a, facts_b : float64
        Of both armies' rows.
    a, b : int64
    p, qa, qb : float64
        How often they meet, and that times the losses of both armies so far.
    sums_a, sums_b : float64 (R, 3 + J)
        Weights of the rows.
    is_last : bool
        Whether the limit of turns is reached after this turn.
    moments : float64 (5,)
        Loss of the first army and its square, of the second, and their product.
    """
    mass_a, mass_b = facts_a[a, MASS], facts_b[b, MASS]
    stays_a, stays_b = facts_a[a, STAYS], facts_b[b, STAYS]
    lost_a, lost_b = facts_a[a, LOST], facts_b[b, LOST]
    breaks_a, breaks_b = mass_a - stays_a, mass_b - stays_b
    sums_a[a, _PASSED] += p * mass_b
    sums_b[b, _PASSED] += p * mass_a
    sums_a[a, _BEATEN] += p * breaks_b
    sums_b[b, _BEATEN] += p * breaks_a
    if is_last:
        sums_a[a, _UNDECIDED_YET] += p * stays_b
        sums_b[b, _UNDECIDED_YET] += p * stays_a
    moments[0] += p * lost_a * mass_b
    moments[1] += (p * facts_a[a, LOST_SQ] + 2.0 * qa * lost_a) * mass_b
    moments[2] += p * lost_b * mass_a
    moments[3] += (p * facts_b[b, LOST_SQ] + 2.0 * qb * lost_b) * mass_a
    moments[4] += p * lost_a * lost_b + qa * lost_b * mass_a + qb * lost_a * mass_b
    for j in range((facts_a.shape[1] - CHASES) // FACTS):
        shift = FACTS * j
        c = facts_a[a, CHASES + shift]
        if c > 0.0 and breaks_b > 0.0:
            sums_b[b, _CHASED + j] += p * c
            caught = facts_b[b, CAUGHT + shift]
        else:
            caught = 0.0
        if caught > 0.0:
            moments[2] += p * c * caught
            moments[3] += p * c * (facts_b[b, CAUGHT_SQ + shift] + 2.0 * facts_b[b, CAUGHT_LOST + shift])
            moments[3] += 2.0 * qb * c * caught
            moments[4] += (qa * c + p * facts_a[a, CHASES_LOST + shift]) * caught
        c = facts_b[b, CHASES + shift]
        if c > 0.0 and breaks_a > 0.0:
            sums_a[a, _CHASED + j] += p * c
            caught = facts_a[a, CAUGHT + shift]
        else:
            caught = 0.0
        if caught > 0.0:
            moments[0] += p * c * caught
            moments[1] += p * c * (facts_a[a, CAUGHT_SQ + shift] + 2.0 * facts_a[a, CAUGHT_LOST + shift])
            moments[1] += 2.0 * qa * c * caught
            moments[4] += (qb * c + p * facts_b[b, CHASES_LOST + shift]) * caught


@leaf
def _account(frame, terms, lefts, ats, facts, spent, weights, is_last, moments):
    """Book the time `spent` in pairs of states in a turn; a pool and its effects are the same in all of it."""
    left_a, left_b = lefts
    at_a, at_b = ats
    facts_a, facts_b = facts
    sums_a, sums_b = weights
    n_b = len(left_b)
    several = frame.dice_kinds if frame.sequential != 0 else np.int64(1)
    for a in range(len(left_a)):
        dice_a = left_a[a]
        for b in range(n_b):
            pair = KINDS * (a * n_b + b)
            p = spent[pair]
            if p == 0.0:
                continue
            dice_b = left_b[b]
            pool_a = pool_with(terms[0], dice_a, dice_b)
            index_a = pool_index(pool_a, dice_a, frame.low_first)
            kept_a = kept_ones(frame, index_a, pool_a, frame.ones_first)
            for g in range(several):
                left = np.int64(g - 1) if frame.sequential != 0 else dice_b
                pool_b = pool_with(terms[1], left, dice_a)
                index_b = pool_index(pool_b, left, frame.low_second)
                kept_b = kept_ones(frame, index_b, pool_b, frame.ones_second)
                for ka in range(kept_a):
                    for kb in range(kept_b):
                        row_b = at_b[b, index_a, ka, kb, g]
                        if facts_b[row_b, MASS] == 0.0:
                            continue
                        row_a = at_a[a, index_b, kb, ka, 0]
                        _book(
                            facts_a, facts_b, row_a, row_b, p, spent[pair + 1], spent[pair + 2],
                            sums_a, sums_b, is_last, moments,
                        )  # fmt: skip


@part
def _facts_by_pool(facts, mix, span, n):
    """Return the facts of `n` states for each pool of the enemy, from those for each case."""
    pools, cases = mix.shape
    out = np.zeros((n * pools, facts.shape[1]))
    for s in range(n):
        for p in range(pools):
            for c in range(span[p, 0], span[p, 1]):
                w = mix[p, c]
                for k in range(facts.shape[1]):
                    out[s * pools + p, k] += w * facts[s * cases + c, k]
    return out


@part
def _weights_by_case(weights, mix, span, n):
    """Return the weights of rows of `n` states for each case of the enemy, from those for each pool."""
    pools, cases = mix.shape
    out = np.zeros((n * cases, weights.shape[1]))
    for s in range(n):
        for p in range(pools):
            if weights[s * pools + p, _PASSED] == 0.0:
                continue
            for c in range(span[p, 0], span[p, 1]):
                w = mix[p, c]
                for k in range(weights.shape[1]):
                    out[s * cases + c, k] += w * weights[s * pools + p, k]
    return out


@leaf
def _account_plainly(first, second, facts, spent, weights, moments):
    """Book the time `spent` in pairs of states, as `_account` does, in a plain battle; rows are by pool."""
    facts_a, facts_b = facts
    sums_a, sums_b = weights
    n_b = len(second.roll)
    pools_a, pools_b = len(first.mix), len(second.mix)
    for a in range(len(first.roll)):
        for b in range(n_b):
            pair = KINDS * (a * n_b + b)
            if spent[pair] != 0.0:
                _book(
                    facts_a, facts_b, a * pools_b + second.roll[b], b * pools_a + first.roll[a],
                    spent[pair], spent[pair + 1], spent[pair + 2], sums_a, sums_b, False, moments,
                )  # fmt: skip


@leaf
def _take_line(source, n, a, first, last, least, line):
    """Copy a line of pairs of states, as it is a turn later, where there is more than `least`; whether there is."""
    some = False
    for b in range(first, last):
        at = KINDS * (a * n + b)
        p = source[at]
        if p <= least:
            line[KINDS * b] = 0.0
            continue
        some = True
        for k in range(KINDS):
            line[KINDS * b + k] = source[at + k]
        line[KINDS * b + KINDS - 1] += p
    return some


@leaf
def _settle_line(flow, spent, n, a, first, last, least, line):
    """Take from `flow` what is moved on now, as `_take_line` does, and add it to what is `spent`."""
    some = False
    for b in range(first, last):
        at = KINDS * (a * n + b)
        p = flow[at]
        if p <= least:
            line[KINDS * b] = 0.0
            continue
        some = True
        for k in range(KINDS):
            x = flow[at + k]
            line[KINDS * b + k] = x
            spent[at + k] += x
            flow[at + k] = 0.0
        line[KINDS * b + KINDS - 1] += p
    return some


@part
def _run_by_level(frame, terms, lefts, own, enemy, sizes, start, places, spent):
    """Find the time spent in each pair of states of a battle without a limit of turns; returns whether it ends soon.

    Squads never join, so all pairs with the same numbers of squads in play are left for good once a squad is gone.
    """
    first, second = sizes
    n_a, n_b = np.int64(len(first)), np.int64(len(second))
    least = _DROPPED / (n_a * n_b)
    tiny = _TINY_SHARE * least
    whole = (np.int64(0), n_b)
    flow = np.zeros(KINDS * n_a * n_b)
    flow[KINDS * start] = 1.0
    owed = np.zeros(n_a * n_b)
    nothing = np.zeros(0)
    scratch = new_scratch(places, n_b)
    line = scratch.line
    elimination = new_elimination(min(np.int64(_SMALL_BLOCK), n_a * n_b))
    a_first = np.int64(0)
    while a_first < n_a:
        a_last = a_first
        while a_last < n_a and first[a_last] == first[a_first]:
            a_last += 1
        b_first = np.int64(0)
        while b_first < n_b:
            b_last = b_first
            while b_last < n_b and second[b_last] == second[b_first]:
                b_last += 1
            inside = (a_first, a_last, b_first, b_last)
            for a in range(a_first, a_last):
                settle_owed(flow, owed, n_b, a, b_first, b_last)
            pairs = (a_last - a_first) * (b_last - b_first)
            sources = (b_first, b_last)
            if pairs <= _SMALL_BLOCK:
                if _peak(flow, n_b, inside) > 0.0:
                    if not solve_block(frame, terms, lefts, own, enemy, inside, flow, spent, elimination):
                        return False
            else:
                stays = 0
                while True:
                    peak = _peak(flow, n_b, inside)
                    if peak <= least:
                        break
                    if stays == _MOST_STAYS:
                        return False
                    stays += 1
                    # What is little now may be more before its turn comes.
                    bar = max(least, _BAR * peak)
                    for a in range(a_last - 1, a_first - 1, -1):
                        if _settle_line(flow, spent, n_b, a, b_first, b_last, bar, line):
                            move_line(
                                frame, terms, lefts, own, enemy, a, sources, inside, flow, nothing, tiny, scratch
                            )  # fmt: skip
            # Those that stay as many on the first side lead to the next blocks beside this one ...
            beside = (a_first, a_last, b_last, n_b)
            for a in range(a_first, a_last):
                if _take_line(spent, n_b, a, b_first, b_last, 0.0, line):
                    move_line(frame, terms, lefts, own, enemy, a, sources, beside, flow, owed, tiny, scratch)
            b_first = b_last
        # ... and all of them together to those below.
        below = (a_last, n_a, np.int64(0), n_b)
        for a in range(a_first, a_last):
            if _take_line(spent, n_b, a, np.int64(0), n_b, 0.0, line):
                move_line(frame, terms, lefts, own, enemy, a, whole, below, flow, owed, tiny, scratch)
        a_first = a_last
    return True


@leaf
def _peak(flow, n_b, span):
    """Largest probability in a block."""
    peak = 0.0
    for a in range(span[0], span[1]):
        for b in range(span[2], span[3]):
            peak = max(peak, flow[KINDS * (a * n_b + b)])
    return peak


@leaf
def _add_up(lines, kind):
    total = 0.0
    for k in range(kind, len(lines), KINDS):
        total += lines[k]
    return total


@part
def _worth(lent_army, n):
    """Return how long each state may take, roughly: longer with more squads, and with squads that are out of action.

    The base and the power are those that give the best bound for plain armies of up to ten squads.
    """
    army = borrowed(lent_army)
    worth = np.zeros(n)
    for s in range(n):
        delay = 1.0
        for standing in range(_FAILED + 1):
            if standing != _ROUTED:
                for t in range(MAX_TYPES):
                    worth[s] += delay * army.before[s, standing, t]
                delay *= _DELAY
        size = np.float64(army.size[s])
        worth[s] *= size * np.sqrt(size)
    return worth


@part
def _add_ends(rules, lent_plan, lent_army, n_after, side, at, weights, lent_chances, pool_low, levels, acc):
    """Turn the weights of one army's rows into squads by status and survivors by outcome."""
    plan, army, chances = borrowed(lent_plan), borrowed(lent_army), borrowed(lent_chances)
    values, places, lists = chances
    ends = np.zeros((2, n_after))
    wins, undecided = ends[0], ends[1]
    loses = np.zeros((n_after, levels))
    destroyed = 0.0
    n, pools, most_ones, own_ones, by_dice = at.shape
    broken, active, reaches = army.broken, army.active, army.reach
    hit_start, hits = army.hit_start, army.hits
    for p in range(pools):
        kept = np.int64(1)
        if p > 0:
            kept = ones_of(
                rules[_ONES_EVERY_ROLL], rules[_NEGATIVE_COUNT], np.int64(pool_low + p - 1), np.int64(most_ones - 1)
            )
        for ones in range(kept):
            for s in range(n):
                outcomes = count_outcomes(reaches[s])
                begin, end = lists[p, ones, reaches[s], 0], lists[p, ones, reaches[s], 1]
                for own in range(own_ones):
                    first_row = at[s, p, ones, own, 0]
                    passed = 0.0
                    for b in range(by_dice):
                        passed += weights[first_row + b, _PASSED]
                    if passed == 0.0:
                        continue
                    h_start = hit_start[s] + min(np.int64(own), active[s]) * outcomes
                    for i in range(begin, end):
                        q = values[i]
                        h = h_start + places[i]
                        row = first_row + (hits[h, DICE] + 1 if by_dice > 1 else 0)
                        e = hits[h, AFTER]
                        destroyed += q * weights[row, _PASSED] * hits[h, SQUADS]
                        # Beside a beaten enemy an army has won, or both are broken.
                        wins[e] += q * weights[row, _BEATEN]
                        if broken[e] != 0:
                            for j in range(levels):
                                loses[e, j] += q * weights[row, _CHASED + j]
                        else:
                            undecided[e] += q * weights[row, _UNDECIDED_YET]
    squads = np.zeros((2, N_STANDINGS, MAX_TYPES, 1), dtype=np.int32)
    in_line = np.zeros((2, 1), dtype=np.int32)
    after = army.after
    listed = plan.listed[side, : plan.n_types[side]]
    column = _A_SQUADS + side * _N_STATUSES
    win = _ATTACKER_WINS if side == 0 else _DEFENDER_WINS
    loss = _DEFENDER_WINS if side == 0 else _ATTACKER_WINS
    for e in range(n_after):
        for situation in range(2 + levels):
            outcome = np.int64(_UNDECIDED)
            weight = undecided[e]
            pursuers = np.int64(0)
            if situation == 1:
                outcome, weight = np.int64(win) if broken[e] == 0 else rules[_MUTUAL], wins[e]
            elif situation > 1:
                outcome, weight, pursuers = np.int64(loss), loses[e, situation - 2], np.int64(situation - 2)
            if weight == 0.0:
                continue
            if side == 0:
                acc[_A_OUTCOMES + outcome] += weight
            caught = np.int64(0)
            if situation > 1:
                caught = in_reach(rules, listed, after, side, e, pursuers)
            if caught > 0:
                load_state(listed, squads, side, after, e, 0, 1)
                face(plan, squads, 1 - side, pursuers)
                end_battles(rules, plan, squads, np.int64(0), np.int64(1), in_line, np.int64(0), None)
            for k in range(len(listed)):
                t = listed[k]
                active_left = np.int64(after[e, _ACTIVE, t])
                resting = np.int64(after[e, _DUE, t]) + np.int64(after[e, _LATE, t])
                acc[column] += weight * active_left
                acc[column + 1] += weight * resting
                acc[_A_SURVIVORS + (outcome * 2 + side) * MAX_TYPES + t] += weight * (active_left + resting)
                if caught > 0:
                    acc[column + 2] += weight * squads[side, _ROUTED, t, 0]
                    acc[column + 4] += weight * squads[side, _DESTROYED, t, 0]
                    acc[column + 5] += weight * squads[side, _CAPTURED, t, 0]
                else:
                    # Who is not caught is still routed, or has left (MA-14).
                    running = np.int64(after[e, _FAILED, t]) if rules[_UNLIMITED] != 0 else np.int64(0)
                    acc[column + 2] += weight * (after[e, _ROUTED, t] + running)
    acc[_A_SQUADS + side * _N_STATUSES + 4] += destroyed


@part
def _total(plan, side):
    total = np.int64(0)
    for k in range(plan.n_types[side]):
        total += plan.start[side, plan.listed[side, k]]
    return total


@part
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
        terms = pool_terms(rules, plan, side, turn)
        for dice in (least, most):
            for against in (np.int64(0), enemy):
                pool = pool_with(terms, dice, against)
                low = min(low, pool)
                high = max(high, pool)
    return low, high


@part
def _levels_of_pursuit(rules, plan):
    """Return how many levels of pursuit there are: without mobile squads nobody ever pursues."""
    levels = np.int64(1)
    for side in range(2):
        mobile = np.int64(0)
        for k in range(plan.n_types[side]):
            t = plan.listed[side, k]
            mobile += plan.start[side, t] if plan.mobile[side, t] != 0 else 0
        levels = max(levels, (mobile if rules[_LIMIT] == _ONE_PER_SQUAD else min(mobile, np.int64(1))) + 1)
    return levels


@part
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


@part
def _both_terms(rules, plan, roles, turn):
    return pool_terms(rules, plan, roles[0], turn), pool_terms(rules, plan, roles[1], turn)


@part
def _note(frame, terms, lefts, ats, facts, spent, weights, is_last, moments, costs):
    """Book the time `spent` in pairs of states in a turn: all that counts, or only swings where there are `costs`."""
    if costs is not None:
        book_swings(frame, terms, lefts, ats, costs[0], spent, is_last, costs[1], costs[2], costs[3])
    else:
        _account(frame, terms, lefts, ats, facts, spent, weights, is_last, moments)


@part
def _run_by_turn(
    rules, plan, roles, frame, lefts, own, enemy, facts, start, limit, changing, places, weights, moments, acc, costs
):  # fmt: skip
    """Move all pairs of states on turn by turn, to the limit or until next to nothing goes on.

    Returns False for a battle that takes too long.
    """
    n_a, n_b = np.int64(len(lefts[0])), np.int64(len(lefts[1]))
    now = np.zeros(KINDS * n_a * n_b)
    then = np.zeros(KINDS * n_a * n_b)
    owed = np.zeros(n_a * n_b)
    spent = np.zeros(KINDS * n_a * n_b)
    scratch = new_scratch(places, n_b)
    line = scratch.line
    ats = (own[0], enemy[0])
    sources = (np.int64(0), n_b)
    targets = (np.int64(0), n_a, np.int64(0), n_b)
    now[KINDS * start] = 1.0
    going = 1.0
    turn = np.int64(0)
    effort = np.int64(0)
    while going > _REMNANT and (limit == 0 or turn < limit):
        turn = turn + np.int64(1)
        terms = _both_terms(rules, plan, roles, turn)
        acc[_A_TURNS] += going
        acc[_A_TURNS + 1] += going * (2 * turn - 1)
        is_last = turn == limit
        if is_last:
            _note(frame, terms, lefts, ats, facts, spent, weights, False, moments, costs)
            spent[:] = 0.0
        for k in range(len(now)):
            spent[k] += now[k]
        if is_last or turn <= changing:
            _note(frame, terms, lefts, ats, facts, spent, weights, is_last, moments, costs)
            spent[:] = 0.0
        if is_last:
            return True
        then[:] = 0.0
        for a in range(n_a):
            if _take_line(now, n_b, a, np.int64(0), n_b, _SPECK, line):
                effort += move_line(
                    frame, terms, lefts, own, enemy, a, sources, targets, then, owed, _TINY_SHARE * _SPECK, scratch
                )
        settle_owed(then, owed, n_b, np.int64(0), np.int64(0), n_a * n_b)
        now, then = then, now
        going = _add_up(now, np.int64(0))
        if effort > _MOST_EFFORT or turn == _MOST_TURNS:
            return False
    _note(
        frame, _both_terms(rules, plan, roles, turn + 1), lefts, ats, facts, spent, weights, False, moments, costs
    )  # fmt: skip
    return True


@part
def _most_dice(ranges, as_counted):
    """Most dice that are thrown together."""
    most = np.int64(2)
    for low, high in ranges:
        most = max(most, high, dice_of(as_counted, low))
    return most


@part
def _rolls_of(terms, left, low):
    """Pool of each state of an army whose pool does not depend on the enemy."""
    rolls = np.zeros(len(left), dtype=np.int64)
    for s in range(len(left)):
        rolls[s] = pool_index(pool_with(terms, left[s], np.int64(0)), left[s], low)
    return rolls


@part
def _plain_army(army, classes, cases, rows):
    return PlainArmy(
        size=army.size,
        class_of=classes.of,
        past_class=classes.past,
        members=classes.members,
        member_start=classes.start,
        roll=cases.roll,
        mix=cases.mix,
        span=cases.span,
        class_span=cases.class_span,
        cells=cases.cells,
        cell=cases.cell,
        start=rows.start,
        stays=rows.stays,
        state=rows.state,
        chance=rows.chance,
        loss=rows.loss,
    )


@part
def _places_of(n, cases):
    """Places of the rows of a plain battle: one for each state and case."""
    return np.arange(n * cases).astype(np.int32).reshape((n, cases, 1, 1, 1))


@part
def _solve_plainly(rules, lent_plan, roles, lent_armies, counts, ranges, tables, levels, moments, acc):
    """Solve a plain battle in which no limit of turns matters; returns whether it is one.

    Parameters
    ----------
    rules, lent_plan : arrays
    roles : tuple of int64
        The armies' sides.
    lent_armies : tuple of Army
    counts : tuple of tuples of int64
        Numbers of states before and after the rolls.
    ranges : tuple of tuples of int64
        Least and largest pools.
    tables : tuple of arrays
    levels : int64
        Levels of pursuit.
    moments : float64 (5,)
        Output, as of `_book`.
    acc : float64 (K,)
        Output.
    """
    plan, armies = borrowed(lent_plan), borrowed(lent_armies)
    army_a, army_b = armies
    n_a, n_b = counts[0][0], counts[1][0]
    terms = _both_terms(rules, plan, roles, np.int64(1))
    classes_a, classes_b = find_classes(army_a, n_a), find_classes(army_b, n_b)
    cases_a, hits_on_b, fits_b = list_cases(
        rules, tables, ranges[0][1] - ranges[0][0] + 2, ranges[0][0], _rolls_of(terms[0], army_a.left, ranges[0][0]),
        classes_a, army_b.reach,
    )  # fmt: skip
    cases_b, hits_on_a, fits_a = list_cases(
        rules, tables, ranges[1][1] - ranges[1][0] + 2, ranges[1][0], _rolls_of(terms[1], army_b.left, ranges[1][0]),
        classes_b, army_a.reach,
    )  # fmt: skip
    if not (fits_a and fits_b):
        return False
    rows_a = list_plain_rows(rules, plan, army_a, n_a, counts[0][1], roles[0], levels, classes_a, hits_on_a)
    rows_b = list_plain_rows(rules, plan, army_b, n_b, counts[1][1], roles[1], levels, classes_b, hits_on_b)
    first = _plain_army(army_a, classes_a, cases_a, rows_a)
    second = _plain_army(army_b, classes_b, cases_b, rows_b)
    limit = rules[_MAX_TURNS]
    if limit > 0:
        begins = (army_a.start, army_b.start)
        worths = (_worth(army_a, n_a), _worth(army_b, n_b))
        if outlast_limit_plainly(first, second, worths, begins, limit) > _DROPPED:
            return False
    spent = np.zeros(KINDS * n_a * n_b)
    if not run_plainly(first, second, army_a.start * n_b + army_b.start, _DROPPED, spent):
        return False
    turns = _add_up(spent, np.int64(0))
    acc[_A_TURNS] = turns
    acc[_A_TURNS + 1] = 2.0 * _add_up(spent, np.int64(KINDS - 1)) + turns
    facts = (
        _facts_by_pool(rows_a.facts, cases_b.mix, cases_b.span, n_a),
        _facts_by_pool(rows_b.facts, cases_a.mix, cases_a.span, n_b),
    )
    weights = (np.zeros((len(facts[0]), _CHASED + levels)), np.zeros((len(facts[1]), _CHASED + levels)))
    _account_plainly(first, second, facts, spent, weights, moments)
    _add_ends(
        rules, plan, army_a, counts[0][1], roles[0], _places_of(n_a, np.int64(cases_b.mix.shape[1])),
        _weights_by_case(weights[0], cases_b.mix, cases_b.span, n_a), hits_on_a, np.int64(1), levels, acc,
    )  # fmt: skip
    _add_ends(
        rules, plan, army_b, counts[1][1], roles[1], _places_of(n_b, np.int64(cases_a.mix.shape[1])),
        _weights_by_case(weights[1], cases_a.mix, cases_a.span, n_b), hits_on_b, np.int64(1), levels, acc,
    )  # fmt: skip
    return True


@part
def _costs_of(rules, plan, roles, armies, n_after, levels, ats, chances, pool_lows, swings):
    """Return what `_note` needs to book swings, None where all is booked that counts."""
    if swings is None:
        return swings
    _, zero, sign, out, step = swings
    most = np.int64(len(out) - 1)
    first = list_end_costs(rules, plan, armies[0], n_after[0], roles[0], levels, step)
    second = list_end_costs(rules, plan, armies[1], n_after[1], roles[1], levels, step)
    row_costs = (
        list_row_costs(rules, armies[0], ats[0], first, chances[0], pool_lows[0], most),
        list_row_costs(rules, armies[1], ats[1], second, chances[1], pool_lows[1], most),
    )
    return row_costs, zero, sign, out, step


@part
def _solve_any(
    rules, plan, roles, armies, counts, ranges, tables, levels, ones, dice_kinds, changing, moments, acc, swings
):  # fmt: skip
    """Solve a battle of any kind; returns False where there is more to do than allowed.

    Parameters
    ----------
    rules, plan, roles, armies, counts, ranges, tables, levels, moments, acc
        Arguments as of `_solve_plainly`.
    ones : tuple of int64
        Largest numbers of ones that are told apart.
    dice_kinds : int64
        As of `Frame`.
    changing : int64
        Turns after which pools change no more.
    swings : tuple or None
        As of `solve_battle`.
    """
    army_a, army_b = armies
    n_a, after_a = counts[0]
    n_b, after_b = counts[1]
    low_first, high_first = ranges[0]
    low_second, high_second = ranges[1]
    ones_first, ones_second = ones
    pools_first = high_first - low_first + 2
    pools_second = high_second - low_second + 2
    places = pools_second * (ones_first + 1) * (ones_second + 1)
    kinds_b = pools_first * (ones_first + 1) * (ones_second + 1) * dice_kinds
    if n_a * places > MOST_ROWS or n_b * kinds_b > MOST_ROWS:
        return False
    values_a, places_a, lists_a, fits_a = list_chances(
        rules, tables, pools_second, low_second, ones_second, army_a.reach
    )  # fmt: skip
    values_b, places_b, lists_b, fits_b = list_chances(
        rules, tables, pools_first, low_first, ones_first, army_b.reach
    )  # fmt: skip
    if not (fits_a and fits_b):
        return False
    chances_a = (values_a, places_a, lists_a)
    chances_b = (values_b, places_b, lists_b)
    rows_a, good_a = list_rows(
        rules, plan, army_a, n_a, after_a, roles[0], pools_second, low_second, ones_second, ones_first, levels,
        np.int64(1), chances_a,
    )  # fmt: skip
    rows_b, good_b = list_rows(
        rules, plan, army_b, n_b, after_b, roles[1], pools_first, low_first, ones_first, ones_second, levels,
        dice_kinds, chances_b,
    )  # fmt: skip
    if not (good_a and good_b):
        return False
    frame = Frame(
        sequential=np.int64(1 if rules[_INITIATIVE] != _SIMULTANEOUS else 0),
        dice_kinds=dice_kinds,
        low_first=low_first,
        low_second=low_second,
        ones_first=ones_first,
        ones_second=ones_second,
        every_roll=rules[_ONES_EVERY_ROLL],
        as_counted=rules[_NEGATIVE_COUNT],
    )
    lefts = (army_a.left, army_b.left)
    own = (rows_a.at, rows_a.span, rows_a.chance, rows_a.loss)
    enemy = (rows_b.at, rows_b.span, rows_b.chance, rows_b.loss)
    facts = (rows_a.facts, rows_b.facts)
    weights = (np.zeros((len(rows_a.facts), _CHASED + levels)), np.zeros((len(rows_b.facts), _CHASED + levels)))
    start = army_a.start * n_b + army_b.start
    limit = rules[_MAX_TURNS]
    costs = _costs_of(
        rules, plan, roles, armies, (after_a, after_b), levels, (rows_a.at, rows_b.at), (chances_a, chances_b),
        (low_second, low_first), swings,
    )  # fmt: skip
    done = False
    if changing == 0:
        terms = _both_terms(rules, plan, roles, np.int64(1))
        done = limit == 0
        if not done:
            begins = (army_a.start, army_b.start)
            worths = (_worth(army_a, n_a), _worth(army_b, n_b))
            done = outlast_limit(frame, terms, lefts, own, enemy, worths, begins, limit) <= _DROPPED
        if done:
            spent = np.zeros(KINDS * n_a * n_b)
            sizes = (army_a.size, army_b.size)
            done = _run_by_level(frame, terms, lefts, own, enemy, sizes, start, places, spent)
        if done:
            turns = _add_up(spent, np.int64(0))
            acc[_A_TURNS] = turns
            acc[_A_TURNS + 1] = 2.0 * _add_up(spent, np.int64(KINDS - 1)) + turns
            _note(frame, terms, lefts, (own[0], enemy[0]), facts, spent, weights, False, moments, costs)
    if not done and not _run_by_turn(
        rules, plan, roles, frame, lefts, own, enemy, facts, start, limit, changing, places, weights, moments, acc,
        costs,
    ):  # fmt: skip
        return False
    if swings is not None:
        return True
    _add_ends(rules, plan, army_a, after_a, roles[0], rows_a.at, weights[0], chances_a, low_second, levels, acc)
    _add_ends(rules, plan, army_b, after_b, roles[1], rows_b.at, weights[1], chances_b, low_first, levels, acc)
    return True


@kernel
def solve_all(rows, armies, remembers, rooms, tallies, status, reached, others, swings):
    """Solve battles exactly, one after the other. Threads may do so at the same time.

    Parameters
    ----------
    rows : int64 (N,)
        Matchups.
    armies : Armies
    remembers : int64 (M, S)
        Whether states of a side remember squads in flight.
    rooms : int64 (M, S)
        Most states of a side.
    tallies : float64 (M, K)
        Output: expected accumulators of one battle.
    status : uint8 (M,)
        Output: CAPACITY when there is more to do than allowed; left as it is where the battle is not solved.
    reached : int64 (M,)
        Output: number of pairs of states.
    others : int64 or None
        None to solve plain battles in which no limit of turns matters and no others, a number to solve all of them in
        the way that suits every battle: neither is compiled where it is not needed.
    swings : tuple or None
        Two empty arrays in place of what `_costs_of` finds; entry of the output for a swing of 0; 1 where the attacker
        rolls first or both at once, else -1; the output: the probability of each swing, in units of the last number.
        States then count the destroyed squads, and nothing else is told of the battle.
    """
    counts_lost = swings is not None
    bench = new_bench(np.int64(_FEW_LANES))
    for at in range(len(rows)):
        row = rows[at]
        rules = armies.rules[row]
        odds = armies.odds
        plan = plan_matchup(armies, row)
        acc = tallies[row]
        reached[row] = 1
        if _end_at_once(rules, plan, acc):
            status[row] = _OK
            if swings is not None:
                swings[3][swings[1]] = 1.0
            continue
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
        changing = np.int64(max(plan.modifiers.shape[1], plan.pools.shape[1]) - 1)
        if others is None:
            no_ones = ones_first == 0 and ones_second == 0
            if sequential or not no_ones or changing > 0 or rules[_POOL_MODEL] == _DIFFERENCE:
                continue
        levels = _levels_of_pursuit(rules, plan)
        dice_kinds = np.int64(1)
        if sequential:
            dice_kinds = np.int64(2)
            for k in range(plan.n_types[roles[1]]):
                t = plan.listed[roles[1], k]
                dice_kinds += plan.dice[roles[1], t] * plan.start[roles[1], t]
        effects_first, effects_second = max(np.int64(1), high_second), max(np.int64(1), high_first)
        lanes = max(lanes_for(plan, roles[0], effects_first), lanes_for(plan, roles[1], effects_second))
        if lanes > len(bench.chances):
            bench = new_bench(lanes)
        room_first = rooms[row, roles[0]]
        room_second = rooms[row, roles[1]]
        army_a, n_a, after_a = list_states(
            rules, plan, odds, roles[0], remembers[row, roles[0]] != 0, counts_lost, effects_first, ones_first,
            room_first, room_after(plan, roles[0], remembers[row, roles[0]] + counts_lost), bench,
        )  # fmt: skip
        army_b, n_b, after_b = list_states(
            rules, plan, odds, roles[1], remembers[row, roles[1]] != 0, counts_lost, effects_second, ones_second,
            room_second, room_after(plan, roles[1], remembers[row, roles[1]] + counts_lost), bench,
        )  # fmt: skip
        if n_a < 0 or n_b < 0:
            status[row] = _CAPACITY
            continue
        reached[row] = n_a * n_b
        as_counted = rules[_NEGATIVE_COUNT]
        ranges = ((low_first, high_first), (low_second, high_second))
        most_dice = _most_dice(ranges, as_counted)
        tables = (binomials(most_dice, 1, 2), binomials(most_dice, 2, 3), binomials(most_dice, 1, 3))
        moments = np.zeros(5)
        armies_of = (army_a, army_b)
        counts = ((n_a, after_a), (n_b, after_b))
        if others is None:
            if not _solve_plainly(rules, plan, roles, armies_of, counts, ranges, tables, levels, moments, acc):
                continue
        elif not _solve_any(
            rules, plan, roles, armies_of, counts, ranges, tables, levels, (ones_first, ones_second), dice_kinds,
            changing, moments, acc, swings,
        ):  # fmt: skip
            status[row] = _CAPACITY
            continue
        status[row] = _OK
        if swings is not None:
            continue
        for o in range(_N_OUTCOMES):
            acc[_A_BATTLES] += acc[_A_OUTCOMES + o]
        for k in range(2):
            column = _A_LOST + 2 * roles[k]
            acc[column] = moments[2 * k]
            acc[column + 1] = moments[2 * k + 1]
            squads = _A_SQUADS + roles[k] * _N_STATUSES
            accounted = acc[squads] + acc[squads + 1] + acc[squads + 2] + acc[squads + 4] + acc[squads + 5]
            acc[squads + 3] = max(0.0, _total(plan, roles[k]) * acc[_A_BATTLES] - accounted)
        acc[_A_SWING] = acc[_A_LOST + 2] - acc[_A_LOST]
        acc[_A_SWING + 1] = acc[_A_LOST + 1] + acc[_A_LOST + 3] - 2.0 * moments[4]
