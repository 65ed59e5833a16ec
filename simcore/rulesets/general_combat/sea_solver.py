"""Exact solver of sea battles: every pair of states and its probability, from the sampler's own steps.

At sea the hits of a side come in classes, submarines act before the others and what can be hit depends on both
sides, so states are found while they are reached (`sea_states.py`). Within a step each side's losses depend on the
enemy's dice alone (`sea_fire.py`): what either side may be left with is worked out apart, and the two are combined in
a matrix of probabilities, own states by the enemy's. Pairs are taken in order of the hits that both sides can still
take, which never grow; a pair's loop to itself is divided out. Pairs between step 2 and step 3 have a matrix of
their own, so that one that is reached in many ways goes on once, together with those that begin a cycle as the same
pair. Cycles that a retreat after n cycles or a cycle limit counts have one matrix after the other.

The room for all that is made once for many battles: clearing what a battle has used takes far less time.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from simcore.core.chain import add_to, clear_sums, new_sums
from simcore.core.jit import inlined_leaf, kernel, leaf, part
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
from simcore.rulesets.general_combat.sea import conclude_at_sea
from simcore.rulesets.general_combat.sea_fire import (
    ALL_FIRE,
    SPENT,
    STRIKE,
    learn,
    list_known,
    list_losses,
    most_hits,
    new_lists,
)
from simcore.rulesets.general_combat.sea_states import (
    AIR_HITS_SUBS,
    ATTACKER,
    COUNT,
    DEFENDER,
    HITS,
    LOST,
    acts,
    add_start,
    change_at_end,
    end_cycle,
    find_firing,
    hits_at_start,
    load_totals,
    new_fleet,
    new_known,
    new_work,
    prepare_fleet,
    submerge_pair,
    submerges_in_step_2,
)
from simcore.rulesets.general_combat.steps import aircraft_without_room

__all__ = ["solve_all_at_sea"]

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

_BUDGET = 4e-15
"""Probability of a battle that may be left out, shared out evenly among levels and the pairs of each."""
_CUTS = 12
"""Ends of distributions of hits that one pair may cut off: two of each class of hits, in two steps, by two sides."""
_FIRST_COLUMNS = 60
"""States of the enemy for which matrices have room at first. No power of two: rows would stand in each other's way."""
_CELLS_PER_PAIR = 8
"""Entries of a matrix for each pair of states for which there is room."""
_MOST_EFFORT = 20_000_000_000
"""Pairs of states that a solution may lead to, repeated ones included: some minutes of work."""
_MOST_LEVELS = 1_000_000
_MOST_CHANCES = 1 << 28
"""Most entries of the table of distributions of hits: two gigabytes, of which only what is used takes memory."""


# Lists of what a side may be left with: even numbers are the attacker's.
_STRUCK_OWN = np.int64(0)
_STRUCK_ENEMY = np.int64(1)
_OWN = np.int64(2)
_ENEMY = np.int64(3)
_CHANGED = np.int64(4)
"""What the attacker may be left with where the defender's aircraft lose sight of submarines in step 3."""
_N_LISTS = 5


# Matrices.
_BETWEEN = np.int64(2)
"""Pairs between step 2 and step 3; the two before it hold pairs at the end of a cycle, of one cycle and of the next."""
_N_MATRICES = 3

# Entries of `_Room.sizes`.
_COLUMNS = 0
_CLEARED = 1


class _Room(NamedTuple):
    """Room for one battle after the other. N states of a side, P pairs.

    Attributes
    ----------
    known : Known
    own, enemy : Fleet
    one : Lanes
        A single lane.
    work : Work
    lists : Lists
    last : float64 (S, outcomes, N)
        Probabilities of the states in which battles end, all zero between two battles.
    swing : Sums
    pairs : int32 (P, 2)
    cells : float64 (3, entries)
        Matrices, all zero between two battles as far as they have been cleared: row by row, for each pair its
        probability, and the same times the number of the cycle (its stamp).
    sizes : int64 (2,)
        Of the matrices: states of the enemy in a row, and entries that have been cleared.
    """

    known: Any
    own: Any
    enemy: Any
    one: Any
    work: Any
    lists: Any
    last: Any
    swing: Any
    pairs: Any
    cells: Any
    sizes: Any


@part
def _new_room(capacity, dice, hits, swings):
    """Return room for so many states of a side and pairs, dice of a side, hits that one can take, and swings."""
    known = new_known(capacity[0], dice)
    return _Room(
        known=known,
        own=new_fleet(known, ATTACKER, hits),
        enemy=new_fleet(known, DEFENDER, hits),
        one=few_lanes(np.int64(1)),
        work=new_work(dice),
        lists=new_lists(_N_LISTS, capacity[0]),
        last=np.zeros((2, _N_OUTCOMES, capacity[0])),
        swing=new_sums(swings),
        pairs=np.empty((capacity[1], 2), dtype=np.int32),
        cells=np.empty((_N_MATRICES, 2 * _CELLS_PER_PAIR * capacity[1])),
        sizes=np.zeros(2, dtype=np.int64),
    )


@part
def _clear(room):
    """Clear what an unfinished battle has left behind."""
    room.sizes[_CLEARED] = 0
    room.last[:] = 0.0
    room.lists.sums[:] = 0.0


@leaf
def _widen(cells, sizes, own, columns, needed):
    """Make each matrix one of so many columns, with so many entries cleared, that has `own` rows in use."""
    now = sizes[_COLUMNS]
    for m in range(_N_MATRICES):
        for k in range(sizes[_CLEARED], needed):
            cells[m, k] = 0.0
        if columns == now:
            continue
        # From the end on: nothing is written where something still has to be read.
        for x in range(own - 1, 0, -1):
            for k in range(2 * now - 1, -1, -1):
                value = cells[m, 2 * now * x + k]
                if value != 0.0:
                    cells[m, 2 * now * x + k] = 0.0
                    cells[m, 2 * columns * x + k] = value
    sizes[_COLUMNS] = columns
    sizes[_CLEARED] = max(sizes[_CLEARED], needed)


@inlined_leaf
def _fit(room):
    """Make room for all pairs of the states found so far in the matrices; returns False if there is none."""
    own = room.own.numbers[COUNT]
    columns = room.sizes[_COLUMNS]
    while columns < room.enemy.numbers[COUNT]:
        columns *= 2
    needed = 2 * own * columns
    if needed > room.cells.shape[1]:
        return False
    if needed > room.sizes[_CLEARED] or columns > room.sizes[_COLUMNS]:
        _widen(room.cells, room.sizes, own, columns, needed)
    return True


@inlined_leaf
def _combine(lists, left, n_left, right, start, n_right, weight, stamp, cells, m, columns):
    """Add the product of two lists, the second from `start` on, times a probability and a stamp, to a matrix.

    Unsigned places: others would be compared with 0 one by one.
    """
    states = lists.states
    chances = lists.chances
    one = np.uint64(1)
    two = np.uint64(2)
    for i in range(0, n_left - 1, 2):
        # Two rows at once: each entry of the second list is read for both.
        row = np.uint64(2 * columns * states[left, i])
        c = weight * chances[left, i]
        w = stamp * chances[left, i]
        next_row = np.uint64(2 * columns * states[left, i + 1])
        next_c = weight * chances[left, i + 1]
        next_w = stamp * chances[left, i + 1]
        for j in range(start, n_right):
            y = two * np.uint64(states[right, j])
            chance = chances[right, j]
            at = row + y
            cells[m, at] += c * chance
            cells[m, at + one] += w * chance
            at = next_row + y
            cells[m, at] += next_c * chance
            cells[m, at + one] += next_w * chance
    if n_left % 2 != 0:
        row = np.uint64(2 * columns * states[left, n_left - 1])
        c = weight * chances[left, n_left - 1]
        w = stamp * chances[left, n_left - 1]
        for j in range(start, n_right):
            at = row + two * np.uint64(states[right, j])
            cells[m, at] += c * chances[right, j]
            cells[m, at + one] += w * chances[right, j]


@inlined_leaf
def _take(cells, m, at):
    """Return the probability and the stamp of a place in a matrix, which is cleared."""
    chance = cells[m, at]
    stamp = cells[m, at + 1]
    cells[m, at] = 0.0
    cells[m, at + 1] = 0.0
    return chance, stamp


@leaf
def _list_pairs(own, enemy, level, cells, now, columns, pairs):
    """List the pairs whose sides can take so many hits together; returns their number, -1 for too many."""
    n = np.int64(0)
    most_back = enemy.numbers[HITS]
    for hits in range(min(level, own.numbers[HITS]), max(np.int64(0), level - most_back) - 1, -1):
        first = enemy.first[level - hits]
        x = own.first[hits]
        while x >= 0:
            y = first
            while y >= 0:
                at = 2 * (columns * x + y)
                if cells[now, at] + cells[_BETWEEN, at] > 0.0:
                    if n >= len(pairs):
                        return np.int64(-1)
                    pairs[n, 0] = x
                    pairs[n, 1] = y
                    n += 1
                y = enemy.following[y]
            x = own.following[x]
    return n


@leaf
def _outcome(ending, totals):
    """Outcome of a battle that ends so."""
    if ending == _CONDITION_A:
        return np.int64(conclude_at_sea(totals, 0))
    return np.int64(_RETREATS) if ending == _RETREAT else np.int64(_UNFINISHED)


@leaf
def _book(facts, x, y, outcome, chance, last, swing):
    """Book the probability of an end."""
    last[0, outcome, x] += chance
    last[1, outcome, y] += chance
    add_to(swing, facts[1, y, LOST] - facts[0, x, LOST], chance)


@leaf
def _fold(plan, rules, side, fleet, last, acc):
    """Turn the probabilities of a side's last states into accumulators, and clear them."""
    damaged_give_room = rules[_DAMAGED_GIVE_ROOM] != 0
    base = plan.groups[side, 0]
    for outcome in range(_N_OUTCOMES):
        column = _A_SURVIVORS + outcome * 2 * _N_TYPES + side * _N_TYPES
        for x in range(fleet.numbers[COUNT]):
            chance = last[side, outcome, x]
            if chance == 0.0:
                continue
            last[side, outcome, x] = 0.0
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


@leaf
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


@leaf
def _exchange(enemy, n_own, n_enemy, n_changed, weight, stamp, lists, cells, m, columns):
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
        _combine(lists, _CHANGED, n_changed, _ENEMY, kept, n_enemy, weight, stamp, cells, m, columns)
    _combine(lists, _OWN, n_own, _ENEMY, np.int64(0), kept, weight, stamp, cells, m, columns)


@leaf
def _fight_doomed(rules, plan, odds, room, x, y, n_own, n_enemy, weight, stamp, cut, then):
    """Add what a cycle leads to in which those lost in step 2 may fire once more (GC-2.3:sub_first_strike).

    The lists after step 2 are made. Returns the effort, -1 if there is no room.
    """
    known = room.known
    own = room.own
    enemy = room.enemy
    lists = room.lists
    work = room.work
    alive = room.one.alive
    doomed = room.one.doomed
    totals = room.one.totals
    one_by_one = rules[_ATTACKER_STRIKES_FIRST] != 0
    strikes_back = acts(rules, known.facts, DEFENDER, y, x)
    effort = np.int64(0)
    for j in range(n_enemy):
        after = lists.states[_STRUCK_ENEMY, j]
        fires_back = find_firing(rules, plan, DEFENDER, enemy, y, after, one_by_one, totals, alive, doomed, work)
        if fires_back < 0:
            return np.int64(-1)
        if one_by_one and strikes_back:
            n_own = list_losses(
                rules, plan, odds, ATTACKER, own, x, enemy, after, STRIKE, np.int64(0), cut, known, lists, _STRUCK_OWN,
                work,
            )  # fmt: skip
        if n_own < 0:
            return np.int64(-1)
        for i in range(n_own):
            before = lists.states[_STRUCK_OWN, i]
            share = lists.chances[_STRUCK_ENEMY, j] * lists.chances[_STRUCK_OWN, i]
            fires = find_firing(rules, plan, ATTACKER, own, x, before, np.bool_(False), totals, alive, doomed, work)
            if fires < 0:
                return np.int64(-1)
            a, b, c = _list_exchange(
                rules, plan, odds, own, enemy, before, after, fires, fires_back, ALL_FIRE, ALL_FIRE, cut, known, lists,
                work,
            )  # fmt: skip
            if a < 0 or not _fit(room):
                return np.int64(-1)
            _exchange(enemy, a, b, c, weight * share, stamp * share, lists, room.cells, then, room.sizes[_COLUMNS])
            effort += a * b
    return effort


@inlined_leaf
def _visits(begins, begin_stamp, struck, struck_stamp, unhurt, missed):
    """Return how often a cycle begins with a pair that may lead back to itself, and the same with stamps.

    Parameters
    ----------
    begins, begin_stamp : float64
        Probability with which it is reached from elsewhere at the beginning of a cycle.
    struck, struck_stamp : float64
        The same between step 2 and step 3.
    unhurt, missed : float64
        Probability that it is still the same pair after step 2, and after what follows.
    """
    stays = unhurt * missed
    visits = (begins + missed * struck) / (1.0 - stays)
    return visits, (begin_stamp + missed * struck_stamp + stays * visits) / (1.0 - stays)


@inlined_leaf
def _fire_of(facts, side, firing, acting, which):
    """Return the kind of fire that makes a list of a side, and whether aircraft among it can hit submarines.

    `acting` says whether the submarines of those who fire act in step 2.
    """
    if which < _OWN:
        return STRIKE, np.int64(0)
    return SPENT if acting else ALL_FIRE, facts[1 - side, firing, AIR_HITS_SUBS]


@inlined_leaf
def _trade(
    rules, known, lists, cells, columns, x, y, begins, begin_stamp, struck, struck_stamp, fights, loops, cut, then
):
    """Do what `_lead` does where all that may follow is known, but for rules that few editions have.

    Returns
    -------
    visits, stamps : float64
    effort : int64
        Negative where that is not so: -1 less the list that cannot be made. Nothing is done then.
    """
    facts = known.facts
    acts_own = acts(rules, facts, ATTACKER, x, y)
    acts_enemy = acts(rules, facts, DEFENDER, y, x)
    strikes = fights and (acts_own or acts_enemy)
    lengths = lists.lengths
    # What needs the longest rows comes first.
    for which in range(_ENEMY, (_STRUCK_OWN if strikes else _OWN) - 1, -1):
        side = which % 2
        state = x if side == ATTACKER else y
        firing = y if side == ATTACKER else x
        acting = acts_enemy if side == ATTACKER else acts_own
        if which < _OWN and not acting:
            # A side whose submarines do not act in this step has no strike that could hit.
            lists.states[which, 0] = state
            lists.chances[which, 0] = 1.0
            lists.stays[which] = 1.0
            lengths[which] = 1
            continue
        kind, flag = _fire_of(facts, side, firing, acting, which)
        lengths[which] = list_known(known, side, state, firing, kind, flag, cut, lists, which)
        if lengths[which] < 0:
            return 0.0, 0.0, -1 - which
    missed = lists.stays[_OWN] * lists.stays[_ENEMY]
    unhurt = 1.0
    effort = lengths[_OWN] * lengths[_ENEMY]
    if strikes:
        unhurt = lists.stays[_STRUCK_OWN] * lists.stays[_STRUCK_ENEMY]
        effort += lengths[_STRUCK_OWN] * lengths[_STRUCK_ENEMY]
    visits = begins
    stamps = begin_stamp
    if loops:
        visits, stamps = _visits(begins, begin_stamp, struck, struck_stamp, unhurt, missed)
    weight = visits
    marked = stamps + visits
    at = 2 * (columns * x + y)
    if strikes:
        _combine(
            lists, _STRUCK_OWN, lengths[_STRUCK_OWN], _STRUCK_ENEMY, np.int64(0), lengths[_STRUCK_ENEMY],
            weight, marked, cells, _BETWEEN, columns,
        )  # fmt: skip
        # Nothing else leads to this pair any more.
        weight, marked = _take(cells, _BETWEEN, at)
    weight += struck
    marked += struck_stamp
    if weight > 0.0:
        _combine(lists, _OWN, lengths[_OWN], _ENEMY, np.int64(0), lengths[_ENEMY], weight, marked, cells, then, columns)
    if loops:
        _take(cells, then, at)
    return visits, stamps, effort


@inlined_leaf
def _learn_list(rules, plan, odds, room, x, y, which, cut):
    """Find out what `_trade` needs to know for a list; returns False if there is no room."""
    own = room.own
    enemy = room.enemy
    facts = room.known.facts
    if which % 2 == ATTACKER:
        kind, flag = _fire_of(facts, ATTACKER, y, acts(rules, facts, DEFENDER, y, x), which)
        learned = learn(rules, plan, odds, ATTACKER, own, x, enemy, y, kind, flag, cut, room.work)
    else:
        kind, flag = _fire_of(facts, DEFENDER, x, acts(rules, facts, ATTACKER, x, y), which)
        learned = learn(rules, plan, odds, DEFENDER, enemy, y, own, x, kind, flag, cut, room.work)
    return learned and _fit(room)


@leaf
def _lead(rules, plan, odds, room, x, y, begins, begin_stamp, struck, struck_stamp, fights, loops, cut, then):
    """Add what a cycle leads to from a pair of states.

    Parameters
    ----------
    x, y : int64
        The pair, after submerging. Its board is counted in ``room.one.totals``.
    begins, begin_stamp : float64
        Probability with which a cycle begins with it, and the same times the number of the cycle.
    struck, struck_stamp : float64
        The same of the pair between step 2 and step 3, the stamp for the cycle after that. Where destroyers stop
        strikes, none is lost in step 2 (GC-4.2.7): who has struck can be read from who is left.
    fights : bool
        Whether a cycle may begin with it.
    loops : bool
        Whether what it leads to holds the pair itself: the way back to it is divided out.
    cut : float64
        What may be left out at each end of a distribution.
    then : int64
        Matrix of the pairs after the cycle.

    Returns
    -------
    visits, stamps : float64
        How often a cycle begins with the pair, the same times the number of the cycle.
    effort : int64
        Pairs that it leads to, -1 if there is no room.
    """
    lacking = (0.0, 0.0, np.int64(-1))
    known = room.known
    own = room.own
    enemy = room.enemy
    lists = room.lists
    work = room.work
    cells = room.cells
    acts_own = acts(rules, known.facts, ATTACKER, x, y)
    acts_enemy = acts(rules, known.facts, DEFENDER, y, x)
    strikes = fights and (acts_own or acts_enemy)
    strip = rules[_STRIKE_ALWAYS] != 0
    one_by_one = rules[_ATTACKER_STRIKES_FIRST] != 0
    fires = x
    fires_back = y
    kind = SPENT if acts_own else ALL_FIRE
    kind_back = SPENT if acts_enemy else ALL_FIRE
    n_own = np.int64(1)
    n_enemy = np.int64(1)
    unhurt = 1.0
    if strikes:
        lists.states[_STRUCK_OWN, 0] = x
        lists.chances[_STRUCK_OWN, 0] = 1.0
        lists.stays[_STRUCK_OWN] = 1.0
        lists.states[_STRUCK_ENEMY, 0] = y
        lists.chances[_STRUCK_ENEMY, 0] = 1.0
        lists.stays[_STRUCK_ENEMY] = 1.0
        if acts_own:
            n_enemy = list_losses(
                rules, plan, odds, DEFENDER, enemy, y, own, x, STRIKE, np.int64(0), cut, known, lists, _STRUCK_ENEMY,
                work,
            )  # fmt: skip
        if acts_enemy:
            n_own = list_losses(
                rules, plan, odds, ATTACKER, own, x, enemy, y, STRIKE, np.int64(0), cut, known, lists, _STRUCK_OWN, work
            )
        if n_own < 0 or n_enemy < 0:
            return lacking
        unhurt = lists.stays[_STRUCK_OWN] * lists.stays[_STRUCK_ENEMY]
        if strip:
            totals = room.one.totals
            alive = room.one.alive
            doomed = room.one.doomed
            fires = find_firing(rules, plan, ATTACKER, own, x, x, np.bool_(False), totals, alive, doomed, work)
            fires_back = find_firing(rules, plan, DEFENDER, enemy, y, y, one_by_one, totals, alive, doomed, work)
            kind = ALL_FIRE
            kind_back = ALL_FIRE
            if fires < 0 or fires_back < 0:
                return lacking
    # If nobody is hit in step 2, the pair goes on to step 3 as it is.
    a, b, c = _list_exchange(
        rules, plan, odds, own, enemy, x, y, fires, fires_back, kind, kind_back, cut, known, lists, work
    )
    if a < 0 or not _fit(room):
        return lacking
    visits = begins
    stamps = begin_stamp
    if loops:
        missed = lists.stays[_OWN] * lists.stays[_ENEMY]
        visits, stamps = _visits(begins, begin_stamp, struck, struck_stamp, unhurt, missed)
    weight = visits
    marked = stamps + visits
    effort = a * b
    if strikes and strip:
        effort = _fight_doomed(rules, plan, odds, room, x, y, n_own, n_enemy, weight, marked, cut, then)
        if effort < 0:
            return lacking
        weight = 0.0
        marked = 0.0
    elif strikes:
        effort += n_own * n_enemy
        for j in range(n_enemy):
            after = lists.states[_STRUCK_ENEMY, j]
            if one_by_one and acts_enemy:
                n_own = list_losses(
                    rules, plan, odds, ATTACKER, own, x, enemy, after, STRIKE, np.int64(0), cut, known, lists,
                    _STRUCK_OWN, work,
                )  # fmt: skip
                if n_own < 0 or not _fit(room):
                    return lacking
            _combine(
                lists, _STRUCK_OWN, n_own, _STRUCK_ENEMY, j, j + 1, weight, marked, cells, _BETWEEN,
                room.sizes[_COLUMNS],
            )  # fmt: skip
        # Nothing else leads to this pair any more.
        weight, marked = _take(cells, _BETWEEN, 2 * (room.sizes[_COLUMNS] * x + y))
    weight += struck
    marked += struck_stamp
    if weight > 0.0:
        _exchange(enemy, a, b, c, weight, marked, lists, cells, then, room.sizes[_COLUMNS])
    if loops:
        _take(cells, then, 2 * (room.sizes[_COLUMNS] * x + y))
    return visits, stamps, effort


@inlined_leaf
def _needs_lead(rules, facts, x, y, fights):
    """Whether only `_lead` knows the rules by which a pair fights."""
    if facts[1, y, AIR_HITS_SUBS] != 0 and rules[_DOOMED_DESTROYER_COUNTS] == 0:
        return True
    if not fights or rules[_STRIKE_ALWAYS] + rules[_ATTACKER_STRIKES_FIRST] == 0:
        return False
    return acts(rules, facts, ATTACKER, x, y) or acts(rules, facts, DEFENDER, y, x)


@inlined_leaf
def _fight(rules, plan, odds, room, x, y, begins, begin_stamp, struck, struck_stamp, fights, loops, cut, then):
    """Do what `_lead` does, in the shortest way."""
    if _needs_lead(rules, room.known.facts, x, y, fights):
        return _lead(rules, plan, odds, room, x, y, begins, begin_stamp, struck, struck_stamp, fights, loops, cut, then)
    while True:
        visits, stamps, effort = _trade(
            rules, room.known, room.lists, room.cells, room.sizes[_COLUMNS], x, y, begins, begin_stamp, struck,
            struck_stamp, fights, loops, cut, then,
        )  # fmt: skip
        if effort >= 0 or not _learn_list(rules, plan, odds, room, x, y, -1 - effort, cut):
            return visits, stamps, effort


@leaf
def _go_through(rules, plan, odds, room, counted, acc, ends):
    """Follow a battle from its start to all its ends.

    Parameters
    ----------
    rules : int64 (fields,)
    plan : Plan
    odds : int64 (N, 2)
    room : _Room
        Prepared for the battle.
    counted : int64
        Cycles that are told apart.
    acc : float64 (K,)
        Output: number of cycles.
    ends : Ends
        Output, as of `solve_all_at_sea`.

    Returns
    -------
    int64
        Pairs of states that were reached, -1 if there are too many.
    """
    known = room.known
    own = room.own
    enemy = room.enemy
    one = room.one
    cells = room.cells
    work = room.work
    submerging = submerges_in_step_2(rules)
    top = own.numbers[HITS] + enemy.numbers[HITS]
    add_start(rules, plan, own, enemy, one.alive, work)
    if not _fit(room):
        return np.int64(-1)
    now = np.int64(0)
    cells[now, 0] = 1.0
    cells[now, 1] = 1.0
    share = _BUDGET / ((counted + 1) * (top + 1))
    effort = np.int64(0)
    n_reached = np.int64(0)
    visits_sum = 0.0
    squares_sum = 0.0
    for cycle in range(counted + 1):
        is_last = cycle == counted
        then = now if is_last else 1 - now
        reached_before = n_reached
        for level in range(top, -1, -1):
            n = _list_pairs(own, enemy, level, cells, now, room.sizes[_COLUMNS], room.pairs)
            if n < 0 or effort > _MOST_EFFORT:
                return np.int64(-1)
            for i in range(n):
                x = np.int64(room.pairs[i, 0])
                y = np.int64(room.pairs[i, 1])
                at = 2 * (room.sizes[_COLUMNS] * x + y)
                begins, begin_stamp = _take(cells, now, at)
                struck, struck_stamp = _take(cells, _BETWEEN, at)
                chance = begins + struck
                if chance * n <= share:
                    n_reached += begins > 0.0
                    continue
                cut = share / (n * _CUTS * chance)
                left = x
                right = y
                ending = np.int64(_GOES_ON)
                # Where pairs may lead back to themselves, a cycle begins with those past step 2 too.
                fights = is_last or begins > 0.0
                if fights:
                    ending = end_cycle(rules, known.facts, x, y, cycle, one.totals, one.cycles, one.ending)
                    if ending < 0:
                        ending, left, right = change_at_end(
                            rules, plan, known.facts, own, enemy, x, y, cycle, one, work
                        )
                        if left < 0 or right < 0 or not _fit(room):
                            return np.int64(-1)
                    if ending == _GOES_ON:
                        if left != x or right != y:
                            # They fight the next cycle at once: what its end would change again is another cycle's
                            # matter.
                            load_totals(known.facts, left, right, one.totals)
                        if submerging:
                            left, right = submerge_pair(rules, plan, own, enemy, left, right, cycle + 1, one, work)
                            if left < 0 or right < 0 or not _fit(room):
                                return np.int64(-1)
                same = left == x and right == y
                # Those past step 2 go on first where they do not take part in the same cycle: they may be the same pair
                # at its end.
                apart = struck > 0.0 and not (same and ending == _GOES_ON)
                while apart or (ending == _GOES_ON and begins + struck > 0.0):
                    visits, stamps, more = _fight(
                        rules,
                        plan,
                        odds,
                        room,
                        x if apart else left,
                        y if apart else right,
                        0.0 if apart else begins,
                        0.0 if apart else begin_stamp,
                        struck,
                        struck_stamp,
                        fights and not apart,
                        is_last and same and not apart,
                        cut,
                        then,
                    )
                    if more < 0:
                        return np.int64(-1)
                    effort += more
                    n_reached += visits > 0.0
                    visits_sum += visits
                    squares_sum += 2.0 * stamps - visits
                    if not apart:
                        break
                    apart = False
                    struck = 0.0
                    struck_stamp = 0.0
                    if is_last:
                        missed, missed_stamp = _take(cells, now, 2 * (room.sizes[_COLUMNS] * x + y))
                        begins += missed
                        begin_stamp += missed_stamp
                if ending != _GOES_ON and begins > 0.0:
                    n_reached += 1
                    outcome = _outcome(ending, one.totals)
                    _book(known.facts, left, right, outcome, begins, room.last, room.swing)
                    if len(ends.by_cycle) > 0:
                        ends.by_cycle[min(cycle, len(ends.by_cycle) - 1)] += begins
                    # The stamp holds the number of the cycle that would come next.
                    if len(ends.chance) > 0 and not note_end(
                        own.units[left], enemy.units[right], outcome, begins, begin_stamp - begins, ends
                    ):
                        return np.int64(-1)
        if n_reached == reached_before:
            break
        now = then
    acc[_A_CYCLES] = visits_sum
    acc[_A_CYCLES + 1] = squares_sum
    return n_reached


@part
def _count_swings(plan):
    """Return how many different swings a battle may have at most."""
    values = np.int64(1)
    for side in range(2):
        for g in range(plan.groups[side, 0], plan.groups[side, 1]):
            values += plan.start[g] * plan.cost[g]
    return values


@part
def _first_columns(room, hits):
    """Return for how many states of the enemy, who can take so many hits, rows have room at first."""
    columns = np.int64(_FIRST_COLUMNS)
    while columns < 4 * hits:
        columns *= 2
    while columns > _FIRST_COLUMNS and 2 * len(room.known.facts[0]) * columns > room.cells.shape[1]:
        # Longer rows would leave room for too few of them.
        columns //= 2
    return columns


@kernel
def solve_all_at_sea(rows, battles, capacity, tallies, status, reached, ends):
    """Solve sea battles exactly, one after the other. Threads may do so at the same time.

    Parameters
    ----------
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
    dice = np.int64(0)
    hits = np.int64(0)
    swings = np.int64(0)
    room = _new_room(capacity, dice, hits, swings)
    for s in range(len(rows)):
        row = rows[s]
        rules = battles.rules[row]
        plan = plan_matchup(battles, row)
        acc = tallies[s]
        status[s] = _CAPACITY
        most = most_hits(plan, ATTACKER, battles.counts[row, 0])
        most_back = most_hits(plan, DEFENDER, battles.counts[row, 1])
        most_dice = max(most[0], most_back[0])
        own_hits = hits_at_start(plan, ATTACKER)
        enemy_hits = hits_at_start(plan, DEFENDER)
        most_swings = min(_count_swings(plan), capacity[1])
        counted = max(np.int64(1), rules[_AFTER], rules[_LIMIT], len(ends.by_cycle) - 1)
        if 8 * capacity[0] * (2 * most_dice + 4) > _MOST_CHANCES:
            continue
        if counted > _MOST_LEVELS // (own_hits + enemy_hits + 1):
            continue
        if most_dice > dice or max(own_hits, enemy_hits) > hits or most_swings > swings:
            dice = max(dice, most_dice)
            hits = max(hits, own_hits, enemy_hits)
            swings = max(swings, most_swings)
            room = _new_room(capacity, dice, hits, swings)
        own_fits = prepare_fleet(room.own, plan, ATTACKER, battles.counts[row, 0], most_back)
        enemy_fits = prepare_fleet(room.enemy, plan, DEFENDER, battles.counts[row, 1], most)
        if not (own_fits and enemy_fits):
            continue
        clear_sums(room.swing)
        room.sizes[_COLUMNS] = _first_columns(room, enemy_hits)
        found = _go_through(rules, plan, battles.odds, room, counted, acc, ends)
        if found < 0:
            _clear(room)
            acc[:] = 0.0
            continue
        _fold(plan, rules, ATTACKER, room.own, room.last, acc)
        _fold(plan, rules, DEFENDER, room.enemy, room.last, acc)
        fold_swing(room.swing, acc)
        reached[s] = found
        status[s] = _OK
