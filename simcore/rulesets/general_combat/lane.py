"""Battles side by side: the arrays of the lanes and the loops that apply rule steps to all of them.

Lane arrays are laid out (quantity, lane), so that a rule step is a loop over neighbouring lanes that the
compiler turns into vector code. The loops must stay free of calls that it would not inline.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from simcore.core.dice import draw_hits
from simcore.core.jit import part
from simcore.core.lane import count_swings
from simcore.rulesets.general_combat.encoding import (
    MAX_LOSS_GROUPS,
    SUPPORTED_GROUP,
    Accumulator,
    HitClass,
    LossForm,
    Outcome,
    RowField,
    UnitType,
)
from simcore.rulesets.general_combat.steps import (
    aa_dice_total,
    absorb,
    aircraft_without_room,
    paired_tactical_bombers,
    supported_infantry,
    supported_mech_infantry,
)

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = [
    "AA_GUN",
    "LANES",
    "N_CLASSES",
    "SEA_TOTALS",
    "SIDE_TOTALS",
    "SLOT_CLASS",
    "SLOT_GROUP",
    "SLOT_ODDS",
    "SLOT_TYPE",
    "Count",
    "Ending",
    "Lanes",
    "Plan",
    "Total",
    "close_up",
    "count_dice",
    "draw",
    "few_lanes",
    "is_aircraft",
    "is_land",
    "keep_dice",
    "new_lanes",
    "plan_matchup",
    "record",
    "remove",
    "set_aside",
    "sum_units",
    "tally",
    "tally_captures",
    "total_dice",
]

LANES = 1024

_N_TYPES = len(UnitType)
_INF = int(UnitType.INFANTRY)
_MECH = int(UnitType.MECH_INFANTRY)
_ART = int(UnitType.ARTILLERY)
_TANK = int(UnitType.TANK)
AA_GUN = int(UnitType.AA_GUN)
_FIGHTER = int(UnitType.FIGHTER)
_TAC = int(UnitType.TACTICAL_BOMBER)
_BOMBER = int(UnitType.BOMBER)

_NOTHING = 2 * MAX_LOSS_GROUPS
"""Lane row that is always zero: stands in for a type without a (second) loss group."""

_MAX_SLOTS = 2 * _N_TYPES

_SUBMARINE = int(UnitType.SUBMARINE)
_TRANSPORT = int(UnitType.TRANSPORT)
_CARRIER = int(UnitType.CARRIER)
_BATTLESHIP = int(UnitType.BATTLESHIP)
_OTHER = int(HitClass.OTHER)
_AIR = int(HitClass.AIR)
_SUB = int(HitClass.SUB)
N_CLASSES = len(HitClass)
_UNIT = int(LossForm.UNIT)
_LANDED = int(LossForm.LANDED)
_ELSEWHERE = int(LossForm.ELSEWHERE)
_HULL = int(LossForm.HULL)
_DAMAGED = int(LossForm.DAMAGED)
_SUBMERGED = int(LossForm.SUBMERGED)
_SEA = int(RowField.SEA)
_LANDING = int(RowField.LANDING)
_DAMAGED_GIVE_ROOM = int(RowField.DAMAGED_GIVE_ROOM)

# Columns of `Plan.slots`, one row per firing group.
SLOT_TYPE = 0
_SLOT_FORM = 1
SLOT_ODDS = 2
SLOT_GROUP = 3
_SLOT_DICE = 4
SLOT_CLASS = 5
_SLOT_FIELDS = 6

# Forms of firing groups: how their dice follow from the counts.
_PLAIN = 0
_SUPPORTED = 1
_UNSUPPORTED = 2

_GUNS = int(RowField.GUNS)
_AA_THREE_PER_GUN = int(RowField.AA_THREE_PER_GUN)
_AA_OWNER_PICKS = int(RowField.AA_OWNER_PICKS)
_PER_ARTILLERY = int(RowField.PER_ARTILLERY)
_SWING_WIDTH = int(RowField.SWING_WIDTH)
_SWING_ZERO = int(RowField.SWING_ZERO)

_WINS = int(Outcome.ATTACKER_WINS)
_A_BATTLES = int(Accumulator.BATTLES)
_A_OUTCOMES = int(Accumulator.OUTCOMES)
_A_CYCLES = int(Accumulator.CYCLES)
_A_CYCLES_SQ = int(Accumulator.CYCLES_SQ)
_A_ATTACKER_LOST = int(Accumulator.ATTACKER_LOST)
_A_ATTACKER_LOST_SQ = int(Accumulator.ATTACKER_LOST_SQ)
_A_DEFENDER_LOST = int(Accumulator.DEFENDER_LOST)
_A_DEFENDER_LOST_SQ = int(Accumulator.DEFENDER_LOST_SQ)
_A_SWING = int(Accumulator.SWING)
_A_SWING_SQ = int(Accumulator.SWING_SQ)
_A_CAPTURED = int(Accumulator.CAPTURED)
_A_CAPTURED_VALUE = int(Accumulator.CAPTURED_VALUE)
_A_CAPTURED_GUNS = int(Accumulator.CAPTURED_GUNS)
_A_CAPTURED_COMPLEXES = int(Accumulator.CAPTURED_COMPLEXES)
_A_CAPTURED_TREASURY = int(Accumulator.CAPTURED_TREASURY)
_A_DAMAGED = int(Accumulator.DAMAGED)
_A_NO_LANDING = int(Accumulator.NO_LANDING)
_A_RETREATED = int(Accumulator.RETREATED)
_A_BOMBARD_HITS = int(Accumulator.BOMBARD_HITS)
_A_SURVIVORS = int(Accumulator.SURVIVORS)
_A_SUBMERGED = int(Accumulator.SUBMERGED)


class Total:
    """Rows of `Lanes.totals`."""

    ATTACKERS = 0
    LAND = 1
    DEFENDERS = 2
    AA_GUNS = 3
    ATTACK_DICE = 4
    DEFENCE_DICE = 5


_ATTACKERS = Total.ATTACKERS
_LAND = Total.LAND
_DEFENDERS = Total.DEFENDERS
_AA_GUNS = Total.AA_GUNS
_ATTACK_DICE = Total.ATTACK_DICE
SEA_TOTALS = 6
"""First row of the totals at sea: `SIDE_TOTALS` rows a side, by `SeaTotal`."""
SIDE_TOTALS = 9
_N_TOTALS = SEA_TOTALS + 2 * SIDE_TOTALS


class Ending:
    """Values of `Lanes.ending`."""

    NONE = 0
    CONDITION_A = 1
    RETREAT = 2
    LIMIT = 3
    PARTIAL_RETREAT = 4
    """Some units leave an assault, the others fight on."""


class Count:
    """Entries of `Lanes.counts`."""

    BOMBARD_HITS = 0
    RETREATED = 1


_BOMBARD_HITS = Count.BOMBARD_HITS
_RETREATED = Count.RETREATED


class Plan(NamedTuple):
    """What stays the same over all battles of a matchup. G lane rows of loss groups, S sides, T types.

    Attributes
    ----------
    kind, form, start, cost, armed : int64 (G,)
        Unit type, `LossForm`, units at the start, unit cost and whether it has a value, of each lane row.
    groups : int64 (S, 2)
        First and past-the-last lane row of each side.
    board : int64 (S, 2)
        The same without rows of units that have left: the rows that take part.
    first, second : int64 (S, T)
        Lane rows that hold a type; `_NOTHING` where there is none. In an assault the attacker's are rows of
        `Lanes.doomed`, where the units of a type are added up.
    slots : int64 (S, slots, fields)
        Firing groups in ascending group number.
    n_slots : int64 (S,)
    aa_pools : int64 (T,)
        Antiaircraft dice by aircraft type.
    powerless : int64 (1,)
        1 when some unit in combat has no value, so that having units is not the same as having dice.
    submerged : int64 (S,)
        Lane row of a side's submerged submarines.
    elsewhere : int64 (T,)
        Lane rows of the attacker's units that have left an assault.
    only_supported : int64 (1,)
        1 when attacking tactical bombers have a value beside a fighter only.
    based : int64 (S,)
        Aircraft that a side's carriers have room for at the start of a sea battle (GC-4.7.8).
    """

    kind: npt.NDArray[np.int64]
    form: npt.NDArray[np.int64]
    start: npt.NDArray[np.int64]
    cost: npt.NDArray[np.int64]
    armed: npt.NDArray[np.int64]
    groups: npt.NDArray[np.int64]
    board: npt.NDArray[np.int64]
    first: npt.NDArray[np.int64]
    second: npt.NDArray[np.int64]
    slots: npt.NDArray[np.int64]
    n_slots: npt.NDArray[np.int64]
    aa_pools: npt.NDArray[np.int64]
    powerless: npt.NDArray[np.int64]
    submerged: npt.NDArray[np.int64]
    elsewhere: npt.NDArray[np.int64]
    only_supported: npt.NDArray[np.int64]
    based: npt.NDArray[np.int64]


class Lanes(NamedTuple):
    """State of the battles in progress, L lanes, and of finished ones that wait to be tallied.

    Attributes
    ----------
    numbers : uint64 (L,)
        Battle numbers.
    cycles : int64 (L,)
        Cycle that each battle is in.
    alive : int32 (G + 1, L)
        Units of each lane row.
    totals : int32 (quantities, L)
        Sums by `Total` and `SeaTotal`.
    hits : int32 (S * classes, L)
        Hits by firing side and `HitClass`: row ``side * N_CLASSES + class``.
    dice : int32 (L,)
        Dice of the current draw point.
    points : int32 (classes, L)
        Low-luck points of the current side by `HitClass`.
    caps : int32 (3, L)
        Scratch of loss taking: hits left for anything, for aircraft, for submarines.
    struck : int32 (S, L)
        1 where a side's submarines fired in step 2 of this cycle.
    air_hits_subs : int32 (S, L)
        1 where a side's aircraft can hit submarines in this cycle.
    doomed : int32 (G + 1, L)
        Units that fire, lost ones included that still may: from step 2 (GC-2.3:sub_first_strike) or from the
        bombardment of an assault (GC-5.5).
    words : uint64 (L,)
        Random words of the current draw point.
    ending : int32 (L,)
        How a lane's battle ends now: 0 = not at all, otherwise by `Ending`.
    going, ended : int64 (L,)
        Lanes whose battles go on, and those whose battles end.
    before : int32 (G + 1,)
        Units of lane 0 when losses were last traced.
    done_alive : int64 (G, 2 L), done_outcomes, done_cycles : int64 (2 L,)
        Finished battles: a step adds at most L to fewer than L.
    done_lost : int64 (S, 2 L)
        Scratch: cost lost of finished battles.
    done_rows : int64 (2 L,)
        Where the sea battles before finished landings are recorded.
    counts : int64 (2,)
        What is counted while battles last, by `Count`.
    """

    numbers: npt.NDArray[np.uint64]
    cycles: npt.NDArray[np.int64]
    alive: npt.NDArray[np.int32]
    totals: npt.NDArray[np.int32]
    hits: npt.NDArray[np.int32]
    dice: npt.NDArray[np.int32]
    points: npt.NDArray[np.int32]
    caps: npt.NDArray[np.int32]
    struck: npt.NDArray[np.int32]
    air_hits_subs: npt.NDArray[np.int32]
    doomed: npt.NDArray[np.int32]
    words: npt.NDArray[np.uint64]
    ending: npt.NDArray[np.int32]
    going: npt.NDArray[np.int64]
    ended: npt.NDArray[np.int64]
    before: npt.NDArray[np.int32]
    done_alive: npt.NDArray[np.int64]
    done_outcomes: npt.NDArray[np.int64]
    done_cycles: npt.NDArray[np.int64]
    done_lost: npt.NDArray[np.int64]
    done_rows: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]


@part
def new_lanes():
    """Return empty lanes: the only memory that a chunk of battles needs.

    Only what is read before it is written is cleared: clearing all of it would cost as much as many battles.
    """
    lanes = Lanes(
        numbers=np.empty(LANES, dtype=np.uint64),
        cycles=np.empty(LANES, dtype=np.int64),
        alive=np.empty((_NOTHING + 1, LANES), dtype=np.int32),
        totals=np.empty((_N_TOTALS, LANES), dtype=np.int32),
        hits=np.empty((2 * N_CLASSES, LANES), dtype=np.int32),
        dice=np.empty(LANES, dtype=np.int32),
        points=np.empty((N_CLASSES, LANES), dtype=np.int32),
        caps=np.empty((3, LANES), dtype=np.int32),
        struck=np.zeros((2, LANES), dtype=np.int32),
        air_hits_subs=np.zeros((2, LANES), dtype=np.int32),
        doomed=np.empty((_NOTHING + 1, LANES), dtype=np.int32),
        words=np.empty(LANES, dtype=np.uint64),
        ending=np.empty(LANES, dtype=np.int32),
        going=np.empty(LANES, dtype=np.int64),
        ended=np.empty(LANES, dtype=np.int64),
        before=np.zeros(_NOTHING + 1, dtype=np.int32),
        done_alive=np.empty((_NOTHING + 1, 2 * LANES), dtype=np.int64),
        done_outcomes=np.empty(2 * LANES, dtype=np.int64),
        done_cycles=np.empty(2 * LANES, dtype=np.int64),
        done_lost=np.empty((2, 2 * LANES), dtype=np.int64),
        done_rows=np.empty(2 * LANES, dtype=np.int64),
        counts=np.zeros(2, dtype=np.int64),
    )
    lanes.done_alive[_NOTHING, :] = 0
    lanes.alive[_NOTHING, :] = 0
    lanes.doomed[_NOTHING, :] = 0
    return lanes


@part
def few_lanes(n):
    """Return `n` lanes, all zero, without room for finished battles: for solvers, whose states are few."""
    return Lanes(
        numbers=np.zeros(n, dtype=np.uint64),
        cycles=np.zeros(n, dtype=np.int64),
        alive=np.zeros((_NOTHING + 1, n), dtype=np.int32),
        totals=np.zeros((_N_TOTALS, n), dtype=np.int32),
        hits=np.zeros((2 * N_CLASSES, n), dtype=np.int32),
        dice=np.zeros(n, dtype=np.int32),
        points=np.zeros((N_CLASSES, n), dtype=np.int32),
        caps=np.zeros((3, n), dtype=np.int32),
        struck=np.zeros((2, n), dtype=np.int32),
        air_hits_subs=np.zeros((2, n), dtype=np.int32),
        doomed=np.zeros((_NOTHING + 1, n), dtype=np.int32),
        words=np.zeros(n, dtype=np.uint64),
        ending=np.zeros(n, dtype=np.int32),
        going=np.zeros(n, dtype=np.int64),
        ended=np.zeros(n, dtype=np.int64),
        before=np.zeros(_NOTHING + 1, dtype=np.int32),
        done_alive=np.zeros((_NOTHING + 1, 0), dtype=np.int64),
        done_outcomes=np.zeros(0, dtype=np.int64),
        done_cycles=np.zeros(0, dtype=np.int64),
        done_lost=np.zeros((2, 0), dtype=np.int64),
        done_rows=np.zeros(0, dtype=np.int64),
        counts=np.zeros(2, dtype=np.int64),
    )


@part
def is_aircraft(t):
    """Whether a unit type can be hit by antiaircraft fire (GC-4.0.1)."""
    return t == _FIGHTER or t == _TAC or t == _BOMBER


@part
def is_land(t):
    """Whether a unit type is a land unit that can take a territory (GC-4.7.1)."""
    return t == _INF or t == _MECH or t == _ART or t == _TANK


@part
def _plan_groups(battles, row, side, plan):
    """Copy a side's loss groups to their lane rows and note where each type stands."""
    base = side * MAX_LOSS_GROUPS
    for t in range(_N_TYPES):
        plan.first[side, t] = _NOTHING
        plan.second[side, t] = _NOTHING
    n = 0
    on_board = 0
    while n < MAX_LOSS_GROUPS and battles.group_type[row, side, n] >= 0:
        t = battles.group_type[row, side, n]
        g = base + n
        form = battles.group_form[row, side, n]
        plan.kind[g] = t
        plan.form[g] = form
        plan.start[g] = battles.group_count[row, side, n]
        plan.cost[g] = battles.group_cost[row, side, n]
        plan.armed[g] = 1 if battles.odds_plain[row, side, t] >= 0 else 0
        if form == _SUBMERGED:
            plan.submerged[side] = g
        elif form == _ELSEWHERE:
            plan.elsewhere[t] = g
        elif form == _UNIT or form == _LANDED or form == _HULL or form == _DAMAGED:
            if plan.first[side, t] == _NOTHING:
                plan.first[side, t] = g
            else:
                plan.second[side, t] = g
        if t != AA_GUN and plan.armed[g] == 0:
            plan.powerless[0] = 1
        n += 1
        if form != _ELSEWHERE:
            on_board = n
    plan.groups[side, 0] = base
    plan.groups[side, 1] = base + n
    plan.board[side, 0] = base
    plan.board[side, 1] = base + on_board
    if side == 0 and battles.rules[row, _LANDING] != 0:
        for t in range(_N_TYPES):
            plan.first[side, t] = _NOTHING if plan.first[side, t] == _NOTHING else t
            plan.second[side, t] = _NOTHING
    if side == 0 and battles.odds_plain[row, 0, _TAC] < 0 and battles.odds_supported[row, 0, _TAC] >= 0:
        plan.only_supported[0] = 1
    if battles.rules[row, _SEA] != 0:
        counts = battles.counts[row, side]
        aircraft = np.int64(counts[_FIGHTER]) + np.int64(counts[_TAC])
        plan.based[side] = min(aircraft, 2 * np.int64(counts[_CARRIER]))


@part
def _plan_slots(battles, row, side, plan):
    """List a side's firing groups in ascending group number (GC-4.3.1, GC-4.3.3, GC-4.4.1)."""
    slots = plan.slots
    n = 0
    artillery = int(battles.counts[row, side, _ART])
    partners = int(battles.counts[row, side, _FIGHTER]) + int(battles.counts[row, side, _TANK])
    for form in (_PLAIN, _SUPPORTED):
        for t in range(_N_TYPES):
            if battles.counts[row, side, t] == 0:
                continue
            helpers = partners if t == _TAC else artillery
            supportable = battles.odds_supported[row, side, t] >= 0 and helpers > 0
            odds = battles.odds_plain[row, side, t] if form == _PLAIN else battles.odds_supported[row, side, t]
            if odds < 0 or (form == _SUPPORTED and not supportable):
                continue
            slots[side, n, SLOT_TYPE] = t
            slots[side, n, _SLOT_FORM] = _UNSUPPORTED if form == _PLAIN and supportable else form
            slots[side, n, SLOT_CLASS] = _OTHER
            if battles.rules[row, _SEA] != 0:
                slots[side, n, SLOT_CLASS] = _AIR if is_aircraft(t) else (_SUB if t == _SUBMARINE else _OTHER)
            slots[side, n, SLOT_ODDS] = odds
            slots[side, n, SLOT_GROUP] = t if form == _PLAIN else SUPPORTED_GROUP + t
            slots[side, n, _SLOT_DICE] = battles.dice_per_unit[row, side, t]
            n += 1
    plan.n_slots[side] = n


@part
def _plan_aa(rules, plan):
    """Deal the antiaircraft dice to the aircraft types (GC-4.0.1, GC-4.0.2).

    Where dice are short they go to the types in their owner's order of loss. When the owner picks freely,
    all dice are one pool, held by the fighters' place.
    """
    aircraft = np.int64(0)
    for g in range(plan.groups[0, 0], plan.groups[0, 1]):
        if is_aircraft(plan.kind[g]):
            aircraft += plan.start[g]
    left = np.int64(aa_dice_total(rules[_GUNS], aircraft, rules[_AA_THREE_PER_GUN]))
    for g in range(plan.groups[0, 0], plan.groups[0, 1]):
        if is_aircraft(plan.kind[g]):
            pool = min(left, plan.start[g])
            plan.aa_pools[_FIGHTER if rules[_AA_OWNER_PICKS] != 0 else plan.kind[g]] += pool
            left -= pool


@part
def plan_matchup(battles, row):
    """Return the `Plan` of one matchup."""
    plan = Plan(
        kind=np.full(_NOTHING, -1, dtype=np.int64),
        form=np.zeros(_NOTHING, dtype=np.int64),
        start=np.zeros(_NOTHING, dtype=np.int64),
        cost=np.zeros(_NOTHING, dtype=np.int64),
        armed=np.zeros(_NOTHING, dtype=np.int64),
        groups=np.zeros((2, 2), dtype=np.int64),
        board=np.zeros((2, 2), dtype=np.int64),
        first=np.zeros((2, _N_TYPES), dtype=np.int64),
        second=np.zeros((2, _N_TYPES), dtype=np.int64),
        slots=np.zeros((2, _MAX_SLOTS, _SLOT_FIELDS), dtype=np.int64),
        n_slots=np.zeros(2, dtype=np.int64),
        aa_pools=np.zeros(_N_TYPES, dtype=np.int64),
        powerless=np.zeros(1, dtype=np.int64),
        submerged=np.full(2, _NOTHING, dtype=np.int64),
        elsewhere=np.full(_N_TYPES, _NOTHING, dtype=np.int64),
        only_supported=np.zeros(1, dtype=np.int64),
        based=np.zeros(2, dtype=np.int64),
    )
    for side in range(2):
        _plan_groups(battles, row, side, plan)
        _plan_slots(battles, row, side, plan)
    _plan_aa(battles.rules[row], plan)
    return plan


@part
def count_dice(alive, n, side, slot, per_artillery, kind, first, second, dice):
    """Fill `dice` with the dice of one firing group in lanes 0 to n - 1; returns the largest.

    Parameters
    ----------
    alive : int32 (G + 1, L)
    n, side : int64
    slot : int64 (fields,)
        Row of `Plan.slots`.
    per_artillery : int64
    kind : int64 (G,)
    first, second : int64 (S, T)
    dice : int32 (L,)
        Output.
    """
    most = 0
    t = slot[SLOT_TYPE]
    form = slot[_SLOT_FORM]
    per_unit = slot[_SLOT_DICE]
    a = first[side, t]
    b = second[side, t]
    if t == _TRANSPORT:  # the only type that may stand in many rows, by what it carries
        for i in range(n):
            dice[i] = 0
        for g in range(side * MAX_LOSS_GROUPS, (side + 1) * MAX_LOSS_GROUPS):
            if kind[g] == t:
                for i in range(n):
                    dice[i] += alive[g, i]
        for i in range(n):
            most = max(most, dice[i])
        return most
    if form == _PLAIN:
        for i in range(n):
            dice[i] = per_unit * (alive[a, i] + alive[b, i])
            most = max(most, dice[i])
        return most
    if t == _TAC:
        f = first[side, _FIGHTER]
        k0 = first[side, _TANK]
        k1 = second[side, _TANK]
        for i in range(n):
            paired = paired_tactical_bombers(alive[a, i], alive[f, i], alive[k0, i] + alive[k1, i])
            dice[i] = paired if form == _SUPPORTED else alive[a, i] - paired
            most = max(most, dice[i])
        return most
    r0 = first[side, _ART]
    r1 = second[side, _ART]
    if t == _INF:
        for i in range(n):
            units = alive[a, i] + alive[b, i]
            supported = supported_infantry(units, alive[r0, i] + alive[r1, i], per_artillery)
            dice[i] = supported if form == _SUPPORTED else units - supported
            most = max(most, dice[i])
        return most
    i0 = first[side, _INF]
    i1 = second[side, _INF]
    for i in range(n):
        units = alive[a, i] + alive[b, i]
        infantry = alive[i0, i] + alive[i1, i]
        supported = supported_mech_infantry(units, infantry, alive[r0, i] + alive[r1, i], per_artillery)
        dice[i] = supported if form == _SUPPORTED else units - supported
        most = max(most, dice[i])
    return most


@part
def keep_dice(dice, n, struck, side, wanted):
    """Keep the submarines' dice only in lanes where ``struck[side]`` is `wanted`; returns the largest left."""
    most = 0
    for i in range(n):
        dice[i] = dice[i] if struck[side, i] == wanted else 0
        most = max(most, dice[i])
    return most


@part
def draw(words, dice, start, stop, first_row, bounds, offset, guide, hits, hit_row):
    """Add the hits of one draw point to row `hit_row` of `hits` in lanes `start` to `stop` - 1."""
    for i in range(start, stop):
        hits[hit_row, i] += draw_hits(words[i], first_row + dice[i], bounds, offset, guide)


@part
def remove(alive, first_group, last_group, start, stop, hits, hit_row):
    """Remove one unit per hit along the order of loss on land (GC-4.3.2, GC-4.4.2, GC-4.8.4)."""
    for g in range(first_group, last_group):
        for i in range(start, stop):
            lost = absorb(alive[g, i], hits[hit_row, i])
            alive[g, i] -= lost
            hits[hit_row, i] -= lost


@part
def sum_units(kind, groups, alive, n, totals):
    """Count what the end tests need: attackers, their land units, defenders in combat, AAA units."""
    for q in range(_AA_GUNS + 1):
        for i in range(n):
            totals[q, i] = 0
    for g in range(groups[0, 0], groups[0, 1]):
        for i in range(n):
            totals[_ATTACKERS, i] += alive[g, i]
        if is_land(kind[g]):
            for i in range(n):
                totals[_LAND, i] += alive[g, i]
    for g in range(groups[1, 0], groups[1, 1]):
        q = _AA_GUNS if kind[g] == AA_GUN else _DEFENDERS
        for i in range(n):
            totals[q, i] += alive[g, i]


@part
def total_dice(plan, per_artillery, lanes, units, n):
    """Count the dice that each side's `units` could roll next: 0 means that it cannot fire (GC-4.6.3)."""
    totals = lanes.totals
    dice = lanes.dice
    for side in range(2):
        q = _ATTACK_DICE + side
        for i in range(n):
            totals[q, i] = 0
        for k in range(plan.n_slots[side]):
            count_dice(units, n, side, plan.slots[side, k], per_artillery, plan.kind, plan.first, plan.second, dice)
            for i in range(n):
                totals[q, i] += dice[i]


@part
def set_aside(groups, alive, ended, n_ended, done_alive, n_done):
    """Copy the units of ended battles behind the `n_done` that wait for the tally."""
    for side in range(2):
        for g in range(groups[side, 0], groups[side, 1]):
            for k in range(n_ended):
                done_alive[g, n_done + k] = alive[g, ended[k]]


@part
def close_up(groups, alive, numbers, cycles, going, n_going):
    """Move the battles that go on to the first lanes, each into its next cycle."""
    for side in range(2):
        for g in range(groups[side, 0], groups[side, 1]):
            for k in range(n_going):
                alive[g, k] = alive[g, going[k]]
    for k in range(n_going):
        numbers[k] = numbers[going[k]]
        cycles[k] = cycles[going[k]] + 1


@part
def _count_without_landing(plan, side, left, n, damaged_give_room):
    """Aircraft of a side that its carriers have no room for any more, over `n` finished battles (GC-4.7.8)."""
    f0 = plan.first[side, _FIGHTER]
    f1 = plan.first[side, _TAC]
    c0 = plan.first[side, _CARRIER]
    c1 = plan.second[side, _CARRIER] if damaged_give_room else _NOTHING
    based = plan.based[side]
    total = np.int64(0)
    for i in range(n):
        total += aircraft_without_room(based, left[f0, i] + left[f1, i], left[c0, i] + left[c1, i])
    return total


@part
def _add_sea_battles(lanes, n, sea_records, acc):
    """Add what was lost and what is left of the sea battles before `n` finished landings (GC-5.1)."""
    outcomes = lanes.done_outcomes
    rows = lanes.done_rows
    lost = lanes.done_lost
    for i in range(n):
        at = rows[i]
        column = _A_SURVIVORS + outcomes[i] * 2 * _N_TYPES
        for side in range(2):
            lost[side, i] += sea_records.cost_lost[at, side]
            for t in range(_N_TYPES):
                acc[column + side * _N_TYPES + t] += sea_records.survivors[at, side, t]
            for k in range(2):
                acc[_A_DAMAGED + 2 * side + k] += sea_records.damaged[at, side, k]
            acc[_A_NO_LANDING + side] += sea_records.no_landing[at, side]
            acc[_A_SUBMERGED + side] += sea_records.submerged[at, side]


@part
def tally(rules, plan, lanes, n, damaged_give_room, sea_records, acc):
    """Add `n` finished battles to the accumulators.

    Sums over lanes are vector loops; only what is counted by outcome is scattered battle by battle.

    Parameters
    ----------
    rules : int64 (R,)
    plan : Plan
    lanes : Lanes
    n : int64
    damaged_give_room : bool
    sea_records : Records or None
        Of an assault: the sea battles before the landings, whose losses and survivors are added; may be empty.
    acc : int64 (K + BINS,)
        Accumulators, and counts of swings behind them.
    """
    left = lanes.done_alive
    outcomes = lanes.done_outcomes
    cycles = lanes.done_cycles
    lost = lanes.done_lost
    for side in range(2):
        for i in range(n):
            lost[side, i] = 0
        for g in range(plan.groups[side, 0], plan.groups[side, 1]):
            column = _A_SURVIVORS + side * _N_TYPES + plan.kind[g]
            start = plan.start[g]
            cost = plan.cost[g]
            for i in range(n):
                lost[side, i] += (start - left[g, i]) * cost
            for i in range(n):
                acc[column + outcomes[i] * 2 * _N_TYPES] += left[g, i]
        below = plan.submerged[side]
        if below != _NOTHING:
            submerged = np.int64(0)
            for i in range(n):
                submerged += left[below, i]
            acc[_A_SUBMERGED + side] += submerged
        for g in range(plan.groups[side, 0], plan.groups[side, 1]):
            if plan.form[g] == _DAMAGED:
                damaged = np.int64(0)
                for i in range(n):
                    damaged += left[g, i]
                acc[_A_DAMAGED + 2 * side + (0 if plan.kind[g] == _BATTLESHIP else 1)] += damaged
        if plan.based[side] > 0:
            acc[_A_NO_LANDING + side] += _count_without_landing(plan, side, left, n, damaged_give_room)
    if sea_records is not None:
        if sea_records.outcome.shape[0] > 0:
            _add_sea_battles(lanes, n, sea_records, acc)
    total = np.int64(0)
    total_sq = np.int64(0)
    for i in range(n):
        acc[_A_OUTCOMES + outcomes[i]] += 1
        total += cycles[i]
        total_sq += cycles[i] * cycles[i]
    own = np.int64(0)
    own_sq = np.int64(0)
    enemy = np.int64(0)
    enemy_sq = np.int64(0)
    both = np.int64(0)
    for i in range(n):
        a = lost[0, i]
        b = lost[1, i]
        own += a
        own_sq += a * a
        enemy += b
        enemy_sq += b * b
        both += a * b
    acc[_A_CYCLES] += total
    acc[_A_CYCLES_SQ] += total_sq
    acc[_A_ATTACKER_LOST] += own
    acc[_A_ATTACKER_LOST_SQ] += own_sq
    acc[_A_DEFENDER_LOST] += enemy
    acc[_A_DEFENDER_LOST_SQ] += enemy_sq
    acc[_A_SWING] += enemy - own
    acc[_A_SWING_SQ] += own_sq + enemy_sq - 2 * both
    count_swings(lost, n, rules[_SWING_ZERO], rules[_SWING_WIDTH], acc)


@part
def tally_captures(battles_fought, on_land, value, guns, complexes, treasury, counts, acc):
    """Complete the accumulators of a segment: what each capture brings (GC-4.7.1 to GC-4.7.6), what was counted."""
    captures = acc[_A_OUTCOMES + _WINS] if on_land else 0
    acc[_A_BATTLES] = battles_fought
    acc[_A_CAPTURED] = captures
    acc[_A_CAPTURED_VALUE] = captures * value
    acc[_A_CAPTURED_GUNS] = captures * guns
    acc[_A_CAPTURED_COMPLEXES] = captures * complexes
    acc[_A_CAPTURED_TREASURY] = captures * treasury
    acc[_A_BOMBARD_HITS] = counts[_BOMBARD_HITS]
    acc[_A_RETREATED] = counts[_RETREATED]


@part
def record(plan, cargo, alive, i, cycle, outcome, value, damaged_give_room, records, at):
    """Write the result of the battle that ended in lane `i` to row `at` of `records`."""
    records.outcome[at] = outcome
    records.cycles[at] = cycle
    records.captured_value[at] = value if outcome == _WINS else 0
    for side in range(2):
        lost = np.int64(0)
        for g in range(plan.groups[side, 0], plan.groups[side, 1]):
            left = np.int64(alive[g, i])
            t = plan.kind[g]
            lost += (plan.start[g] - left) * plan.cost[g]
            records.survivors[at, side, t] += left
            if plan.form[g] == _DAMAGED:
                records.damaged[at, side, 0 if t == _BATTLESHIP else 1] = left
            elif plan.form[g] == _SUBMERGED:
                records.submerged[at, side] = left
            elif side == 0 and t == _TRANSPORT:
                for k in range(cargo.shape[1]):
                    records.cargo[at, k] += left * cargo[g, k]
        records.cost_lost[at, side] = lost
        if plan.based[side] > 0:
            records.no_landing[at, side] = aircraft_without_room(
                plan.based[side],
                records.survivors[at, side, _FIGHTER] + records.survivors[at, side, _TAC],
                records.survivors[at, side, _CARRIER] - (0 if damaged_give_room else records.damaged[at, side, 1]),
            )
