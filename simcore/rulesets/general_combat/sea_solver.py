"""Exact solver of sea battles: every pair of states and its probability, from the sampler's own steps.

At sea the hits of a side come in classes, submarines act before the others and what can be hit depends on both
sides, so states are found while they are reached (`sea_states.py`). Within a step each side's losses depend on the
enemy's dice alone (`sea_fire.py`): what either side may be left with is worked out apart, and the two are combined in
a matrix of probabilities, own states by the enemy's. Pairs are taken in order of the hits that both sides can still
take, which never grow; a pair's loop to itself is divided out. Pairs between step 2 and step 3 have a matrix of
their own, so that one that is reached in many ways goes on once. Cycles that a retreat after n cycles or a cycle limit
counts have one matrix after the other.
"""

from __future__ import annotations

import numpy as np

from simcore.core.chain import add_to, new_sums
from simcore.core.jit import kernel, part
from simcore.enums import Status
from simcore.rulesets.general_combat.encoding import (
    Accumulator,
    LossForm,
    Outcome,
    RowField,
    UnitType,
)
from simcore.rulesets.general_combat.ends import fold_swing, note_end
from simcore.rulesets.general_combat.lane import Ending, few_lanes, plan_matchup
from simcore.rulesets.general_combat.sea import conclude_at_sea, note_strikes
from simcore.rulesets.general_combat.sea_fire import ALL_FIRE, SPENT, STRIKE, Lists, list_known, list_losses, most_hits
from simcore.rulesets.general_combat.sea_states import (
    AIR_HITS_SUBS,
    ATTACKER,
    COUNT,
    DEFENDER,
    FOLLOWING,
    LOST,
    add_start,
    change_at_end,
    end_cycle,
    find_firing,
    load_totals,
    new_fleet,
    new_known,
    new_work,
    submerge_pair,
    submerges_in_step_2,
)
from simcore.rulesets.general_combat.steps import aircraft_without_room

__all__ = ["solve_all_at_sea", "solve_sea"]

_OK = int(Status.OK)
_CAPACITY = int(Status.CAPACITY)

_N_TYPES = len(UnitType)
_FIGHTER = int(UnitType.FIGHTER)
_TAC = int(UnitType.TACTICAL_BOMBER)
_CARRIER = int(UnitType.CARRIER)
_BATTLESHIP = int(UnitType.BATTLESHIP)
_DAMAGED = int(LossForm.DAMAGED)
_SUBMERGED_FORM = int(LossForm.SUBMERGED)

_STRIKE_ALWAYS = int(RowField.STRIKE_ALWAYS)
_ATTACKER_STRIKES_FIRST = int(RowField.ATTACKER_STRIKES_FIRST)
_DOOMED_DESTROYER_COUNTS = int(RowField.DOOMED_DESTROYER_COUNTS)
_AFTER = int(RowField.RETREAT_AFTER_CYCLES)
_LIMIT = int(RowField.CYCLE_LIMIT)
_DAMAGED_GIVE_ROOM = int(RowField.DAMAGED_GIVE_ROOM)

_GOES_ON = Ending.NONE
_CONDITION_A = Ending.CONDITION_A
_RETREAT = Ending.RETREAT

_N_OUTCOMES = len(Outcome)
_RETREATS = int(Outcome.ATTACKER_RETREATS)
_UNFINISHED = int(Outcome.UNFINISHED)

_A_BATTLES = int(Accumulator.BATTLES)
_A_OUTCOMES = int(Accumulator.OUTCOMES)
_A_CYCLES = int(Accumulator.CYCLES)
_A_ATTACKER_LOST = int(Accumulator.ATTACKER_LOST)
_A_SUBMERGED = int(Accumulator.SUBMERGED)
_A_DAMAGED = int(Accumulator.DAMAGED)
_A_NO_LANDING = int(Accumulator.NO_LANDING)
_A_SURVIVORS = int(Accumulator.SURVIVORS)

_BUDGET = 2e-15
"""Probability of a battle that may be left out, shared out evenly among levels and the pairs of each."""
_CUTS = 12
"""Ends of distributions of hits that one pair may cut off: two of each class of hits, in two steps, by two sides."""
_FIRST_CELLS = 8
"""Rows and columns of the matrix before the first cycle."""
_SIDE_CELLS = 64
"""Rows and columns of the others at first."""
_CELLS_PER_PAIR = 8
"""Entries of a matrix for each pair of states for which there is room."""
_MOST_EFFORT = 20_000_000_000
"""Pairs of states that a solution may lead to, repeated ones included: some minutes of work."""
_MOST_LEVELS = 1_000_000
_MOST_CHANCES = 1 << 28
"""Most entries of the table of distributions of hits: two gigabytes, of which only what is used takes memory."""


# Lists of what a side may be left with.
_STRUCK_OWN = np.int64(0)
_STRUCK_ENEMY = np.int64(1)
_OWN = np.int64(2)
_ENEMY = np.int64(3)
_CHANGED = np.int64(4)
"""What the attacker may be left with where the defender's aircraft lose sight of submarines in step 3."""
_N_LISTS = 5


@part
def _fit(matrix, own, enemy):
    """Return a matrix that has room for the pairs of so many states."""
    rows, columns = matrix.shape[0], matrix.shape[1]
    if own <= rows and enemy <= columns:
        return matrix
    larger = np.zeros((rows if own <= rows else 2 * own, columns if enemy <= columns else 2 * enemy, 2))
    for x in range(rows):
        for y in range(columns):
            larger[x, y, 0] = matrix[x, y, 0]
            larger[x, y, 1] = matrix[x, y, 1]
    return larger


@part
def _combine(lists, left, n_left, right, start, n_right, weight, stamp, matrix):
    """Add the product of two lists, the second from `start` on, times a probability and a stamp, to a matrix."""
    for i in range(n_left):
        # No view of a row: it would be counted as a reference, which takes longer than many products.
        x = lists.states[left, i]
        c = weight * lists.chances[left, i]
        w = stamp * lists.chances[left, i]
        for j in range(start, n_right):
            y = lists.states[right, j]
            matrix[x, y, 0] += c * lists.chances[right, j]
            matrix[x, y, 1] += w * lists.chances[right, j]


@part
def _chance_of(lists, which, n, state):
    """Return the probability of a state in a list."""
    for i in range(n):
        if lists.states[which, i] == state:
            return lists.chances[which, i]
    return 0.0


@part
def _list_pairs(own, enemy, level, matrix, pairs):
    """List the pairs of a matrix whose sides can take so many hits together; returns their number, -1 for too many."""
    n = np.int64(0)
    rows, columns = matrix.shape[0], matrix.shape[1]
    most = min(level, np.int64(len(own.first)) - 1)
    least = max(np.int64(0), level - (np.int64(len(enemy.first)) - 1))
    for hits in range(most, least - 1, -1):
        first = np.int64(enemy.first[level - hits])
        x = np.int64(own.first[hits])
        while x >= 0:
            if x < rows:
                y = first
                while y >= 0:
                    if y < columns and matrix[x, y, 0] > 0.0:
                        if n >= len(pairs):
                            return np.int64(-1)
                        pairs[n, 0] = x
                        pairs[n, 1] = y
                        n += 1
                    y = np.int64(enemy.facts[y, FOLLOWING])
            x = np.int64(own.facts[x, FOLLOWING])
    return n


@part
def _outcome(ending, totals):
    """Outcome of a battle that ends so."""
    if ending == _CONDITION_A:
        return np.int64(conclude_at_sea(totals, 0))
    return np.int64(_RETREATS) if ending == _RETREAT else np.int64(_UNFINISHED)


@part
def _book(facts, x, y, outcome, chance, last, swing):
    """Book the probability of an end."""
    last[0, outcome, x] += chance
    last[1, outcome, y] += chance
    add_to(swing, facts[1, y, LOST] - facts[0, x, LOST], chance)


@part
def _fold(plan, rules, side, fleet, last, acc):
    """Turn the probabilities of a side's last states into accumulators."""
    damaged_give_room = rules[_DAMAGED_GIVE_ROOM] != 0
    base = plan.groups[side, 0]
    for outcome in range(_N_OUTCOMES):
        column = _A_SURVIVORS + outcome * 2 * _N_TYPES + side * _N_TYPES
        for x in range(fleet.numbers[COUNT]):
            chance = last[side, outcome, x]
            if chance == 0.0:
                continue
            if side == 0:
                acc[_A_BATTLES] += chance
                acc[_A_OUTCOMES + outcome] += chance
            lost = float(fleet.facts[x, LOST])
            acc[_A_ATTACKER_LOST + 2 * side] += chance * lost
            acc[_A_ATTACKER_LOST + 2 * side + 1] += chance * lost * lost
            aircraft = np.int64(0)
            carriers = np.int64(0)
            for g in range(plan.groups[side, 0], plan.groups[side, 1]):
                units = np.int64(fleet.units[x, g - base])
                t = plan.kind[g]
                form = plan.form[g]
                acc[column + t] += chance * units
                if form == _DAMAGED:
                    acc[_A_DAMAGED + 2 * side + (0 if t == _BATTLESHIP else 1)] += chance * units
                elif form == _SUBMERGED_FORM:
                    acc[_A_SUBMERGED + side] += chance * units
                if t == _FIGHTER or t == _TAC:
                    aircraft += units
                elif t == _CARRIER and (form != _DAMAGED or damaged_give_room):
                    carriers += units
            if plan.based[side] > 0:
                acc[_A_NO_LANDING + side] += chance * aircraft_without_room(plan.based[side], aircraft, carriers)


@part
def _list_exchange(rules, plan, odds, own, enemy, x, y, fires, fires_back, kind, kind_back, cut, known, lists, work):
    """List what steps 3 and 4 may leave of both sides.

    Parameters
    ----------
    x, y : int64
        States after step 2.
    fires, fires_back : int64
        States of those who fire, lost ones included that still do.
    kind, kind_back : int64
        `ALL_FIRE` or `SPENT`.

    Returns
    -------
    n_own, n_enemy, n_changed : int64
        Lengths of the lists, -1 if there is no room; `n_changed` is 0 where nothing depends on it.
    """
    doomed_count = rules[_DOOMED_DESTROYER_COUNTS] != 0
    flag = own.facts[fires if doomed_count else x, AIR_HITS_SUBS]
    flag_back = enemy.facts[fires_back if doomed_count else y, AIR_HITS_SUBS]
    n_enemy = list_losses(
        rules, plan, odds, DEFENDER, enemy, y, own, fires, kind, flag, cut, known, lists, _ENEMY, work
    )
    n_own = list_losses(
        rules, plan, odds, ATTACKER, own, x, enemy, fires_back, kind_back, flag_back, cut, known, lists, _OWN, work
    )
    if n_own < 0 or n_enemy < 0:
        return np.int64(-1), np.int64(-1), np.int64(-1)
    n_changed = np.int64(0)
    if not doomed_count and flag_back != 0:
        # Only destroyers that are left after step 3 let the defender's aircraft hit submarines.
        blind = False
        for j in range(n_enemy):
            blind |= enemy.facts[lists.states[_ENEMY, j], AIR_HITS_SUBS] == 0
        if blind:
            n_changed = list_losses(
                rules,
                plan,
                odds,
                ATTACKER,
                own,
                x,
                enemy,
                fires_back,
                kind_back,
                np.int64(0),
                cut,
                known,
                lists,
                _CHANGED,
                work,
            )
    return min(n_own, n_changed) if n_changed < 0 else n_own, n_enemy, n_changed


@part
def _exchange(enemy, n_own, n_enemy, n_changed, weight, stamp, lists, matrix):
    """Add what `_list_exchange` listed, times a probability and a stamp, to a matrix."""
    kept = n_enemy
    if n_changed > 0:
        # Those who have lost their last destroyer come last.
        states = lists.states[_ENEMY]
        chances = lists.chances[_ENEMY]
        kept = np.int64(0)
        for j in range(n_enemy):
            y = states[j]
            c = chances[j]
            if enemy.facts[y, AIR_HITS_SUBS] != 0:
                states[j] = states[kept]
                chances[j] = chances[kept]
                states[kept] = y
                chances[kept] = c
                kept += 1
        _combine(lists, _CHANGED, n_changed, _ENEMY, kept, n_enemy, weight, stamp, matrix)
    _combine(lists, _OWN, n_own, _ENEMY, np.int64(0), kept, weight, stamp, matrix)


@part
def _fight_doomed(
    rules,
    plan,
    odds,
    own,
    enemy,
    x,
    y,
    n_own,
    n_enemy,
    weight,
    stamp,
    cut,
    known,
    lists,
    then,
    totals,
    struck,
    scratch,
    work,
):
    """Add what a cycle leads to in which those lost in step 2 may fire once more (GC-2.3:sub_first_strike).

    The lists after step 2 are made. Returns the matrix and the effort, -1 if there is no room.
    """
    one_by_one = rules[_ATTACKER_STRIKES_FIRST] != 0
    alive, doomed = scratch
    effort = np.int64(0)
    for j in range(n_enemy):
        after = lists.states[_STRUCK_ENEMY, j]
        fires_back = find_firing(rules, plan, DEFENDER, enemy, y, after, one_by_one, totals, alive, doomed, work)
        if fires_back < 0:
            return then, np.int64(-1)
        if one_by_one and struck[1, 0] != 0:
            n_own = list_losses(
                rules,
                plan,
                odds,
                ATTACKER,
                own,
                x,
                enemy,
                after,
                STRIKE,
                np.int64(0),
                cut,
                known,
                lists,
                _STRUCK_OWN,
                work,
            )
        if n_own < 0:
            return then, np.int64(-1)
        for i in range(n_own):
            before = lists.states[_STRUCK_OWN, i]
            share = lists.chances[_STRUCK_ENEMY, j] * lists.chances[_STRUCK_OWN, i]
            fires = find_firing(rules, plan, ATTACKER, own, x, before, np.bool_(False), totals, alive, doomed, work)
            if fires < 0:
                return then, np.int64(-1)
            a, b, c = _list_exchange(
                rules,
                plan,
                odds,
                own,
                enemy,
                before,
                after,
                fires,
                fires_back,
                ALL_FIRE,
                ALL_FIRE,
                cut,
                known,
                lists,
                work,
            )
            if a < 0:
                return then, np.int64(-1)
            then = _fit(then, own.numbers[COUNT], enemy.numbers[COUNT])
            _exchange(enemy, a, b, c, weight * share, stamp * share, lists, then)
            effort += a * b
    return then, effort


@part
def _divide_out(chance, stamp, stays):
    """Return how often a pair is met that leads back to itself with probability `stays`, and the same with stamps."""
    visits = chance / (1.0 - stays)
    return visits, (stamp + stays * visits) / (1.0 - stays)


@part
def _list_strike(known, side, state, firing, strikes, cut, lists, which):
    """List what the enemy's strike in step 2 may leave of a side: the state itself where there is none."""
    if strikes == 0:
        lists.states[which, 0] = state
        lists.chances[which, 0] = 1.0
        return np.int64(1)
    return list_known(known, side, state, firing, STRIKE, np.int64(0), cut, lists, which)


@part
def _trade(rules, known, x, y, struck, chance, stamp, resumed, loops, cut, lists, then, between):
    """Do what `_lead` does where all that may follow is known, but for rules that few editions have.

    Returns
    -------
    visits, stamps : float64
    effort : int64
        -1 where that is not so: nothing is done then.
    """
    lacking = (0.0, 0.0, np.int64(-1))
    strikes = not resumed and (struck[0, 0] != 0 or struck[1, 0] != 0)
    if strikes and rules[_STRIKE_ALWAYS] + rules[_ATTACKER_STRIKES_FIRST] != 0:
        return lacking
    if known.numbers[0, COUNT] > then.shape[0] or known.numbers[1, COUNT] > then.shape[1]:
        return lacking
    if strikes and (known.numbers[0, COUNT] > between.shape[0] or known.numbers[1, COUNT] > between.shape[1]):
        return lacking
    flag_back = known.facts[1, y, AIR_HITS_SUBS]
    if flag_back != 0 and rules[_DOOMED_DESTROYER_COUNTS] == 0:
        return lacking
    kind = SPENT if struck[0, 0] != 0 else ALL_FIRE
    kind_back = SPENT if struck[1, 0] != 0 else ALL_FIRE
    n_own = list_known(known, ATTACKER, x, y, kind_back, flag_back, cut, lists, _OWN)
    if n_own < 0:
        return lacking
    n_enemy = list_known(known, DEFENDER, y, x, kind, known.facts[0, x, AIR_HITS_SUBS], cut, lists, _ENEMY)
    if n_enemy < 0:
        return lacking
    n_struck_own = np.int64(0)
    n_struck_enemy = np.int64(0)
    unhurt = 1.0
    if strikes:
        # A side whose submarines do not act in this step has no strike that could hit.
        n_struck_own = _list_strike(known, ATTACKER, x, y, struck[1, 0], cut, lists, _STRUCK_OWN)
        n_struck_enemy = _list_strike(known, DEFENDER, y, x, struck[0, 0], cut, lists, _STRUCK_ENEMY)
        if n_struck_own < 0 or n_struck_enemy < 0:
            return lacking
        unhurt = _chance_of(lists, _STRUCK_OWN, n_struck_own, x) * _chance_of(lists, _STRUCK_ENEMY, n_struck_enemy, y)
    visits = chance
    stamps = stamp
    if loops:
        stays = unhurt * _chance_of(lists, _OWN, n_own, x) * _chance_of(lists, _ENEMY, n_enemy, y)
        visits, stamps = _divide_out(chance, stamp, stays)
    weight = visits
    marked = stamps if resumed else stamps + visits
    if strikes:
        _combine(lists, _STRUCK_OWN, n_struck_own, _STRUCK_ENEMY, np.int64(0), n_struck_enemy, weight, marked, between)
        # Nothing else leads to this pair any more.
        weight = between[x, y, 0]
        marked = between[x, y, 1]
        between[x, y, 0] = 0.0
        between[x, y, 1] = 0.0
    if weight > 0.0:
        _combine(lists, _OWN, n_own, _ENEMY, np.int64(0), n_enemy, weight, marked, then)
    if loops:
        then[x, y, 0] = 0.0
        then[x, y, 1] = 0.0
    return visits, stamps, n_own * n_enemy + n_struck_own * n_struck_enemy


@part
def _lead(
    rules, plan, odds, own, enemy, x, y, struck, totals, chance, stamp, resumed, loops, cut, known, lists, then,
    between, scratch, work,
):  # fmt: skip
    """Add what a cycle leads to from a pair of states.

    Parameters
    ----------
    x, y : int64
        The pair, after submerging.
    struck : int32 (S, 1)
        Whose submarines act in step 2 of the cycle.
    totals : int32 (quantities, 1)
        Counts of the board.
    chance, stamp : float64
        Probability of the pair, and the same times the number of the cycle.
    resumed : bool
        Whether step 2 is over. Where destroyers stop strikes, none is lost in it (GC-4.2.7): who has struck can be read
        from who is left.
    loops : bool
        Whether `then` holds the pair itself: the way back to it is divided out.
    cut : float64
        What may be left out at each end of a distribution.
    then, between : float64 (own states, enemy states, 2)
        Probabilities and stamps after the cycle, and between its step 2 and step 3.
    scratch : (int32 (G + 1, 1), int32 (G + 1, 1))

    Returns
    -------
    then, between : float64 (own states, enemy states, 2)
        The same, larger ones where there was not enough room.
    visits, stamps : float64
        How often the pair is met, the same times the number of the cycle.
    effort : int64
        Pairs that it leads to, -1 if there is no room.
    """
    strikes = struck[0, 0] != 0 or struck[1, 0] != 0
    strip = rules[_STRIKE_ALWAYS] != 0
    one_by_one = rules[_ATTACKER_STRIKES_FIRST] != 0
    fires = x
    fires_back = y
    kind = SPENT if struck[0, 0] != 0 else ALL_FIRE
    kind_back = SPENT if struck[1, 0] != 0 else ALL_FIRE
    n_own = np.int64(1)
    n_enemy = np.int64(1)
    unhurt = 1.0
    a = np.int64(-1)
    b = a
    c = a
    if strikes and not resumed:
        lists.states[_STRUCK_OWN, 0] = x
        lists.chances[_STRUCK_OWN, 0] = 1.0
        lists.states[_STRUCK_ENEMY, 0] = y
        lists.chances[_STRUCK_ENEMY, 0] = 1.0
        if struck[0, 0] != 0:
            n_enemy = list_losses(
                rules,
                plan,
                odds,
                DEFENDER,
                enemy,
                y,
                own,
                x,
                STRIKE,
                np.int64(0),
                cut,
                known,
                lists,
                _STRUCK_ENEMY,
                work,
            )
        if struck[1, 0] != 0:
            n_own = list_losses(
                rules, plan, odds, ATTACKER, own, x, enemy, y, STRIKE, np.int64(0), cut, known, lists, _STRUCK_OWN, work
            )
        unhurt = _chance_of(lists, _STRUCK_OWN, n_own, x) * _chance_of(lists, _STRUCK_ENEMY, n_enemy, y)
        if strip:
            alive, doomed = scratch
            fires = find_firing(rules, plan, ATTACKER, own, x, x, np.bool_(False), totals, alive, doomed, work)
            fires_back = find_firing(rules, plan, DEFENDER, enemy, y, y, one_by_one, totals, alive, doomed, work)
            kind = ALL_FIRE
            kind_back = ALL_FIRE
    if min(n_own, n_enemy, fires, fires_back) >= 0:
        # If nobody is hit in step 2, the pair goes on to step 3 as it is.
        a, b, c = _list_exchange(
            rules, plan, odds, own, enemy, x, y, fires, fires_back, kind, kind_back, cut, known, lists, work
        )
    if a < 0:
        return then, between, 0.0, 0.0, np.int64(-1)
    visits = chance
    stamps = stamp
    if loops:
        stays = unhurt * _chance_of(lists, _OWN, a, x) * _chance_of(lists, _ENEMY, b, y)
        visits, stamps = _divide_out(chance, stamp, stays)
    weight = visits
    marked = stamps if resumed else stamps + visits
    effort = a * b
    if strikes and strip:
        then, effort = _fight_doomed(
            rules, plan, odds, own, enemy, x, y, n_own, n_enemy, weight, marked, cut, known, lists, then, totals,
            struck,            scratch, work,
        )  # fmt: skip
        weight = 0.0
    elif strikes and not resumed:
        effort += n_own * n_enemy
        for j in range(n_enemy):
            after = lists.states[_STRUCK_ENEMY, j]
            if one_by_one and struck[1, 0] != 0:
                n_own = list_losses(
                    rules,
                    plan,
                    odds,
                    ATTACKER,
                    own,
                    x,
                    enemy,
                    after,
                    STRIKE,
                    np.int64(0),
                    cut,
                    known,
                    lists,
                    _STRUCK_OWN,
                    work,
                )
                if n_own < 0:
                    return then, between, 0.0, 0.0, np.int64(-1)
            between = _fit(between, own.numbers[COUNT], enemy.numbers[COUNT])
            for i in range(n_own):
                share = lists.chances[_STRUCK_ENEMY, j] * lists.chances[_STRUCK_OWN, i]
                between[lists.states[_STRUCK_OWN, i], after, 0] += weight * share
                between[lists.states[_STRUCK_OWN, i], after, 1] += marked * share
        # Nothing else leads to this pair any more.
        weight = between[x, y, 0]
        marked = between[x, y, 1]
        between[x, y, :] = 0.0
    if weight > 0.0:
        then = _fit(then, own.numbers[COUNT], enemy.numbers[COUNT])
        _exchange(enemy, a, b, c, weight, marked, lists, then)
    if loops:
        then[x, y, :] = 0.0
    return then, between, visits, stamps, effort


@part
def solve_sea(s, rows, battles, capacity, tallies, status, reached, ends):
    """Solve one sea battle exactly.

    Parameters
    ----------
    s : int64
        Entry of `rows`, `tallies`, `status` and `reached`.
    rows : int64 (N,)
        Matchup rows.
    battles : Battles
    capacity : int64 (2,)
        Most states of a side, most pairs of states.
    tallies : float64 (N, K) or (N, K + 6)
        Output: expected accumulators of one battle, and what `SPREAD` names of the swing.
    status : uint8 (N,)
        Output: CAPACITY when there are more states than allowed.
    reached : int64 (N,)
        Output: number of pairs of states.
    ends : Ends
        Output, of a single battle: the pairs of states in which it ends; without room where nobody asks.
    """
    row = rows[s]
    rules = battles.rules[row]
    odds = battles.odds
    plan = plan_matchup(battles, row)
    acc = tallies[s]
    status[s] = _CAPACITY
    most = most_hits(plan, ATTACKER, battles.counts[row, 0])
    most_back = most_hits(plan, DEFENDER, battles.counts[row, 1])
    if 8 * capacity[0] * (2 * max(most[0], most_back[0]) + 4) > _MOST_CHANCES:
        return
    known = new_known(capacity[0], max(most[0], most_back[0]))
    own, own_fits = new_fleet(known, plan, ATTACKER, battles.counts[row, 0], most_back)
    enemy, enemy_fits = new_fleet(known, plan, DEFENDER, battles.counts[row, 1], most)
    counted = max(np.int64(1), rules[_AFTER], rules[_LIMIT], len(ends.by_cycle) - 1)
    top = np.int64(len(own.first) + len(enemy.first)) - 2
    if not (own_fits and enemy_fits) or counted > _MOST_LEVELS // (top + 1):
        return
    one = few_lanes(np.int64(1))
    scratch = (one.alive, one.doomed)
    submerging = submerges_in_step_2(rules)
    work = new_work(max(most[0], most_back[0]))
    lists = Lists(states=np.empty((_N_LISTS, capacity[0]), dtype=np.int64), chances=np.empty((_N_LISTS, capacity[0])))
    last = np.zeros((2, _N_OUTCOMES, capacity[0]))
    values = np.int64(1)
    for side in range(2):
        for g in range(plan.groups[side, 0], plan.groups[side, 1]):
            values += plan.start[g] * plan.cost[g]
    swing = new_sums(min(values, capacity[1]))
    pairs = np.empty((capacity[1], 2), dtype=np.int32)
    add_start(rules, plan, own, enemy, one.alive, work)
    # Before the first cycle there is one pair, and those that sweeping makes of it.
    now = np.zeros((_FIRST_CELLS, _FIRST_CELLS, 2))
    then = np.zeros((_SIDE_CELLS, _SIDE_CELLS, 2))
    between = np.zeros((1, 1, 2))
    now[0, 0, :] = 1.0
    share = _BUDGET / ((counted + 1) * (top + 1))
    effort = np.int64(0)
    n_reached = np.int64(0)
    visits_sum = 0.0
    squares_sum = 0.0
    for cycle in range(counted + 1):
        is_last = cycle == counted
        reached_before = n_reached
        for k in range(2 * (top + 1)):
            level = top - k // 2
            # First those whose step 2 is over: they may lead to pairs of the same level.
            resumed = k % 2 == 0
            if is_last:
                now = then
            source = between if resumed else now
            n = _list_pairs(own, enemy, level, source, pairs)
            if n < 0 or source.shape[0] * source.shape[1] > _CELLS_PER_PAIR * capacity[1] or effort > _MOST_EFFORT:
                return
            if not resumed:
                n_reached += n
            for i in range(n):
                x = np.int64(pairs[i, 0])
                y = np.int64(pairs[i, 1])
                source = between if resumed else now
                chance = source[x, y, 0]
                stamp = source[x, y, 1]
                source[x, y, 0] = 0.0
                source[x, y, 1] = 0.0
                if chance * n <= share:
                    continue
                cut = share / (n * _CUTS * chance)
                left = x
                right = y
                changed = False
                if resumed:
                    load_totals(known.facts, x, y, one.totals)
                else:
                    ending = end_cycle(rules, known.facts, x, y, cycle, one.totals, one.cycles, one.ending)
                    if ending < 0:
                        ending, left, right = change_at_end(rules, plan, own, enemy, x, y, cycle, one, work)
                        if left < 0 or right < 0:
                            return
                    if ending != _GOES_ON:
                        outcome = _outcome(ending, one.totals)
                        _book(known.facts, left, right, outcome, chance, last, swing)
                        if len(ends.by_cycle) > 0:
                            ends.by_cycle[min(cycle, len(ends.by_cycle) - 1)] += chance
                        # The stamp holds the number of the cycle that would come next.
                        if len(ends.chance) > 0:
                            if not note_end(own.units[left], enemy.units[right], outcome, chance, stamp - chance, ends):
                                return
                        continue
                    changed = left != x or right != y
                    if changed:
                        # They fight the next cycle at once: what its end would change again is another cycle's matter.
                        load_totals(known.facts, left, right, one.totals)
                    if submerging:
                        left, right = submerge_pair(rules, plan, own, enemy, left, right, cycle + 1, one, work)
                        if left < 0 or right < 0:
                            return
                for side in range(2):
                    note_strikes(rules, side, one.totals, 1, one.struck)
                loops = is_last and not resumed and not changed and left == x and right == y
                visits, stamps, more = _trade(
                    rules,
                    known,
                    left,
                    right,
                    one.struck,
                    chance,
                    stamp,
                    resumed,
                    loops,
                    cut,
                    lists,
                    then,
                    between,
                )
                if more < 0:
                    then, between, visits, stamps, more = _lead(
                        rules, plan, odds, own, enemy, left, right, one.struck, one.totals, chance, stamp, resumed,
                        loops, cut, known, lists, then, between, scratch, work,
                    )  # fmt: skip
                if more < 0:
                    return
                effort += more
                if is_last:
                    now = then
                if not resumed:
                    visits_sum += visits
                    squares_sum += 2.0 * stamps - visits
        if n_reached == reached_before:
            break
        if cycle + 1 < counted:
            now, then = then, now
    _fold(plan, rules, ATTACKER, own, last, acc)
    _fold(plan, rules, DEFENDER, enemy, last, acc)
    fold_swing(swing, acc)
    acc[_A_CYCLES] = visits_sum
    acc[_A_CYCLES + 1] = squares_sum
    reached[s] = n_reached
    status[s] = _OK


@kernel
def solve_all_at_sea(rows, battles, capacity, tallies, status, reached, ends):
    """Solve all matchups one after the other; arguments as of `solve_sea`. Threads may do so at the same time."""
    for s in range(len(rows)):
        solve_sea(s, rows, battles, capacity, tallies, status, reached, ends)
