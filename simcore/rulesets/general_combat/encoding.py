"""Flat arrays of general combat: names of every axis and field, and the encoder that fills them.

Axes: **M** matchups, **S** sides, **T** unit types, **G** loss groups, **K** accumulators.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from simcore.core.odds_list import OddsList
from simcore.core.swing import common_steps, note_bins, place_bins
from simcore.enums import Side

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simcore.rulesets.general_combat.params import GeneralCombatScenario

__all__ = [
    "ACCUMULATORS",
    "AIRCRAFT",
    "ASSAULT_ACCUMULATORS",
    "ATTACKER_CHOOSES",
    "BEFORE_LANDING",
    "BOMBARDERS",
    "DAMAGEABLE",
    "DEFENDER_CHOOSES",
    "LAND_UNITS",
    "MARGIN",
    "MAX_LOSS_GROUPS",
    "ORDERED",
    "OUTCOMES",
    "UNITS",
    "WIN_BELOW_UNITS",
    "Accumulator",
    "AssaultAccumulator",
    "Assaults",
    "Battles",
    "Decision",
    "DrawStep",
    "Goal",
    "HitClass",
    "LossForm",
    "Outcome",
    "RowField",
    "SubmergePolicy",
    "UnitType",
    "Why",
    "assault_swing_bins",
    "assault_swing_bound",
    "encode",
    "encode_assaults",
    "swing_bins",
    "swing_bound",
]


class UnitType(IntEnum):
    """Axis **T**."""

    INFANTRY = 0
    MECH_INFANTRY = 1
    ARTILLERY = 2
    TANK = 3
    AA_GUN = 4
    FIGHTER = 5
    TACTICAL_BOMBER = 6
    BOMBER = 7
    SUBMARINE = 8
    TRANSPORT = 9
    DESTROYER = 10
    CRUISER = 11
    CARRIER = 12
    BATTLESHIP = 13
    INDUSTRIAL_COMPLEX = 14


UNITS = tuple(unit.name.lower() for unit in UnitType)
LAND_UNITS = ("infantry", "mech_infantry", "artillery", "tank")
AIRCRAFT = ("fighter", "tactical_bomber", "bomber")
BOMBARDERS = ("destroyer", "cruiser", "battleship")
SHIPS = ("submarine", "transport", "destroyer", "cruiser", "carrier", "battleship")


class Outcome(IntEnum):
    """How a battle ended (int8); the lower-case names are the public ones."""

    ATTACKER_WINS = 0
    """A land unit is left: the attacker takes the territory (GC-4.7.1)."""
    ATTACKER_CLEARS = 1
    """Only aircraft are left: no capture (GC-4.7.2)."""
    BOTH_DESTROYED = 2
    DEFENDER_WINS = 3
    ATTACKER_RETREATS = 4
    STAND_OFF = 5
    UNFINISHED = 6
    """A cycle limit was asked for and reached."""


OUTCOMES = tuple(outcome.name.lower() for outcome in Outcome)


class LossForm(IntEnum):
    """What an entry of the order of loss stands for (int8)."""

    UNIT = 0
    """Units that one hit removes."""
    DAMAGE = 1
    """First hits on two-hit ships: nothing is lost (GC-4.2.5)."""
    HULL = 2
    """Two-hit ships themselves, counted undamaged; damaged ones go first."""
    DAMAGED = 3
    """Not an entry: how many ships of a HULL entry are damaged."""
    SUBMERGED = 4
    """Not an entry: submarines that left the board (GC-4.2.3)."""
    LANDED = 5
    """Like UNIT: land units that came from transports and never retreat (GC-5.6)."""
    ELSEWHERE = 6
    """Not an entry: units that have retreated from an assault, or are still aboard a transport (GC-5.2, GC-5.6)."""


class HitClass(IntEnum):
    """What a hit may be given to (GC-4.8.1); on land every hit is OTHER."""

    OTHER = 0
    AIR = 1
    SUB = 2


class SubmergePolicy(IntEnum):
    """When a side's submarines leave the board (GC-4.2.2)."""

    NEVER = 0
    ALWAYS = 1
    FACING_AIRCRAFT = 2
    OUTNUMBERED = 3


class Goal(IntEnum):
    """What optimal play is after; the lower-case names are the public ones."""

    WIN = 0
    """The side's probability to win."""
    CAPTURE = 1
    """The probability that the attacker takes the territory: as high or as low as can be."""
    SWING = 2
    """Defender's cost lost minus attacker's: as high or as low as can be."""


class Decision(IntEnum):
    """What optimal play decides, as bits; the lower-case names are the public ones."""

    CASUALTIES = 1
    RETREAT = 2
    SUBMERGE = 4


class Why(IntEnum):
    """Why an attacker leaves; 0 where he does not."""

    POLICY = 1
    CHANCE = 2
    """His chance to win by going on is too small."""
    SWING = 3
    """Going on costs him more than the defender."""
    GOAL = 4
    """Leaving serves the goal of optimal play better."""


MARGIN = 1e-12
"""How much better a choice must be than the one before it, so that rounding decides nothing: ties go on, and follow the
order of loss. In money it is as much per unit of cost at stake."""

# Who chooses the losses freely.
ORDERED = 0
ATTACKER_CHOOSES = 1
DEFENDER_CHOOSES = 2


class DrawStep(IntEnum):
    """Step part of a random address."""

    AA_FIRE = 0
    BOMBARD = 1
    STRIKE = 2
    ATTACK = 3
    DEFENCE = 4
    DAMAGE = 5
    """Damage dice of a raid."""


BEFORE_LANDING = 8
"""Added to the steps of a sea battle that is fought before a landing: both battles count their cycles from 1."""


SUPPORTED_GROUP = 16
"""Added to the unit type: the part of a type that fires at its supported value."""
REMAINDER_GROUPS = (32, 34, 35)
"""The one die that low luck leaves over, by hit class."""
AIRCRAFT_GROUP = 33
"""All antiaircraft dice at once, when the owner picks the losses freely."""


class RowField(IntEnum):
    """Columns of `Battles.rules`: one number each per matchup."""

    GUNS = 0
    """Guns or AAA units that can fire at aircraft."""
    GUNS_ARE_UNITS = 1
    """1 where AAA units can be casualties and are destroyed when alone (GC-2.3:aa_fate)."""
    AA_ODDS = 2
    AA_THREE_PER_GUN = 3
    AA_OWNER_PICKS = 4
    LOW_LUCK_COMBAT = 5
    LOW_LUCK_AA = 6
    ATTACK_REMAINDER_ODDS = 7
    """Index of the odds 0/d; d/d lies d further: the remainder die of the attacker under low luck."""
    ATTACK_POINTS = 8
    """d: low-luck points that make one sure hit of the attacker."""
    DEFENCE_REMAINDER_ODDS = 9
    DEFENCE_POINTS = 10
    PER_ARTILLERY = 11
    """Infantry that one artillery supports."""
    CYCLE_LIMIT = 12
    RETREAT_POSSIBLE = 13
    RETREAT_AFTER_CYCLES = 14
    RETREAT_UNITS_AT_MOST = 15
    RETREAT_ONLY_AIRCRAFT = 16
    TERRITORY_VALUE = 17
    CAPTURABLE_GUNS = 18
    CAPTURABLE_COMPLEXES = 19
    SEA = 20
    """1 for a sea battle."""
    RETREAT_TRANSPORTS_ONLY = 21
    STRIKE_ALWAYS = 22
    """1 where submarines strike in step 2 whatever faces them (GC-2.3:sub_first_strike)."""
    SUBMERGE_AT_END = 23
    AIR_HITS_SUBS = 24
    """1 where aircraft hit submarines without a destroyer (GC-2.3:air_hits_subs)."""
    TRANSPORTS_SWEPT = 25
    ATTACKER_STRIKES_FIRST = 26
    DOOMED_DESTROYER_COUNTS = 27
    ATTACKER_SUBMERGE = 28
    ATTACKER_OUTNUMBERED = 29
    """Enemies per thousand own submarines at which they submerge."""
    DEFENDER_SUBMERGE = 30
    DEFENDER_OUTNUMBERED = 31
    STEP_OFFSET = 32
    """`BEFORE_LANDING` for a sea battle before a landing, else 0."""
    LANDING = 33
    """1 for the land battle of an amphibious assault."""
    RETURN_FIRE = 34
    """1 where units hit by the bombardment fire once more (GC-2.3:bombard_return_fire)."""
    ONLY_AIRCRAFT_LEAVE = 35
    """1 where overland units cannot leave an assault (GC-2.3:amphib_retreat)."""
    BOMBARDING = 36
    """Ships that bombard, one column for each of `BOMBARDERS`."""
    BOMBARD_ODDS = 39
    TREASURY = 42
    """Money that a capture brings."""
    DAMAGED_GIVE_ROOM = 43
    """1 where fighters can land on damaged carriers (GC-4.7.8)."""
    KEEP_LAND = 44
    RETREAT_WIN_BELOW = 45
    """The attacker leaves where his chance to win is smaller, in units of 1e-12; 0 is off."""
    RETREAT_SWING_NEGATIVE = 46
    OPTIMAL_SIDE = 47
    """Side that plays as well as it can, -1 for none; by `Goal`, in what `Decision` names."""
    OPTIMAL_GOAL = 48
    OPTIMAL_DECISIONS = 49
    TRANSPORTS_LAST = 50
    """1 where transports are hit only by what nothing else can take (GC-2.3:tt_last)."""
    SWING_WIDTH = 51
    """Width of the bins in which swings are counted."""
    SWING_ZERO = 52
    """Column of the tally that counts the bin of 0."""
    COLUMNS = 53


WIN_BELOW_UNITS = 10**12

MAX_LOSS_GROUPS = 32
"""Rows of a side. On land: unit types, land types twice because of `keep_land`. In an assault land types up to four
times, landed and overland, and every type once more for those who left. At sea: nine types, for each two-hit type
its damage and its damaged ships, submerged submarines, and the rest for loaded transports."""


class Accumulator(IntEnum):
    """First columns of a tally; survivors by outcome, side and type follow from `SURVIVORS` on."""

    BATTLES = 0
    OUTCOMES = 1
    CYCLES = 8
    CYCLES_SQ = 9
    ATTACKER_LOST = 10
    ATTACKER_LOST_SQ = 11
    DEFENDER_LOST = 12
    DEFENDER_LOST_SQ = 13
    SWING = 14
    SWING_SQ = 15
    CAPTURED = 16
    CAPTURED_VALUE = 17
    CAPTURED_GUNS = 18
    CAPTURED_COMPLEXES = 19
    CAPTURED_TREASURY = 20
    SUBMERGED = 21
    """One column a side; submerged submarines are survivors too."""
    DAMAGED = 23
    """Damaged ships that survived: battleships and carriers of the attacker, then of the defender."""
    NO_LANDING = 27
    """One column a side: aircraft left without room on a carrier (GC-4.7.8)."""
    RETREATED = 29
    """Units that left an assault in which others fought on (GC-5.6)."""
    BOMBARD_HITS = 30
    SURVIVORS = 31


DAMAGEABLE = ("battleship", "carrier")

ACCUMULATORS = (
    "battles",
    *(f"outcome.{outcome}" for outcome in OUTCOMES),
    "cycles.sum",
    "cycles.sumsq",
    "attacker.cost_lost.sum",
    "attacker.cost_lost.sumsq",
    "defender.cost_lost.sum",
    "defender.cost_lost.sumsq",
    "swing.sum",
    "swing.sumsq",
    "captured.battles",
    "captured.value",
    "captured.guns",
    "captured.complexes",
    "captured.treasury",
    "submerged.attacker",
    "submerged.defender",
    *(f"damaged.{side}.{unit}" for side in ("attacker", "defender") for unit in DAMAGEABLE),
    "no_landing.attacker",
    "no_landing.defender",
    "retreated",
    "bombard.hits",
    *(
        f"survivors.{outcome}.{side}.{unit}"
        for outcome in OUTCOMES
        for side in ("attacker", "defender")
        for unit in UNITS
    ),
)


class AssaultAccumulator(IntEnum):
    """Columns that an assault with a sea battle adds behind `ACCUMULATORS`."""

    SEA_OUTCOMES = len(ACCUMULATORS)
    SEA_CYCLES = SEA_OUTCOMES + len(OUTCOMES)
    SEA_CYCLES_SQ = SEA_CYCLES + 1
    SEA_LOST = SEA_CYCLES + 2
    """Cost lost at sea and its square, attacker then defender; the attacker's cargo included."""
    LANDINGS = SEA_LOST + 4
    LANDED = LANDINGS + 1
    LAND_BATTLES = LANDINGS + 2
    LAND_OUTCOMES = LANDINGS + 3
    LAND_CYCLES = LAND_OUTCOMES + len(OUTCOMES)
    LAND_CYCLES_SQ = LAND_CYCLES + 1


ASSAULT_ACCUMULATORS = (
    *ACCUMULATORS,
    *(f"sea.outcome.{outcome}" for outcome in OUTCOMES),
    "sea.cycles.sum",
    "sea.cycles.sumsq",
    "sea.attacker.cost_lost.sum",
    "sea.attacker.cost_lost.sumsq",
    "sea.defender.cost_lost.sum",
    "sea.defender.cost_lost.sumsq",
    "landings",
    "landed.sum",
    "land.battles",
    *(f"land.outcome.{outcome}" for outcome in OUTCOMES),
    "land.cycles.sum",
    "land.cycles.sumsq",
)


class Battles(NamedTuple):
    """Scenarios as flat arrays, one row per matchup.

    Attributes
    ----------
    counts : int16 (M, S, T)
        Units at the start, guns and complexes included.
    group_type : int8 (M, S, G)
        Unit types in order of loss, -1 after the last group.
    group_form : int8 (M, S, G)
        `LossForm` of each group.
    group_count : int16 (M, S, G)
        Units of each loss group at the start.
    group_cost : int32 (M, S, G)
        Cost of one unit of each loss group, its cargo included.
    group_cargo : int8 (M, S, G, T)
        Units aboard each transport of a loss group; T: the land units in table order.
    odds_plain, odds_supported : int16 (M, S, T)
        Index into `odds` of a unit's own and supported hit probability; -1 where it does not fire so.
    dice_per_unit : int8 (M, S, T)
        Dice that one unit rolls.
    rules : int64 (M, R)
        Switches and parameters by `RowField`.
    odds : int64 (O, 3)
        Numerator, denominator and largest number of dice of every hit probability in use.
    """

    counts: npt.NDArray[np.int16]
    group_type: npt.NDArray[np.int8]
    group_form: npt.NDArray[np.int8]
    group_count: npt.NDArray[np.int16]
    group_cost: npt.NDArray[np.int32]
    group_cargo: npt.NDArray[np.int8]
    odds_plain: npt.NDArray[np.int16]
    odds_supported: npt.NDArray[np.int16]
    dice_per_unit: npt.NDArray[np.int8]
    rules: npt.NDArray[np.int64]
    odds: npt.NDArray[np.int64]


class Assaults(NamedTuple):
    """Assaults with a sea battle before the landing: row by row the land battle and the sea battle."""

    land: Battles
    sea: Battles


_SIDE_FIELDS = (
    "counts", "group_type", "group_form", "group_count", "group_cost", "group_cargo",
    "odds_plain", "odds_supported", "dice_per_unit",
)  # fmt: skip
_TYPE_OF = {unit: int(UnitType[unit.upper()]) for unit in UNITS}


def _fill_side(
    battles: Battles, row: int, side: Side, scenario: GeneralCombatScenario, odds: OddsList, *, before_landing: bool
) -> None:
    cargo_apart = before_landing and side == Side.ATTACKER
    for i, group in enumerate(scenario.loss_groups(side, cargo_apart=cargo_apart)):
        battles.group_type[row, side, i] = _TYPE_OF[group.unit]
        battles.group_form[row, side, i] = group.form
        battles.group_count[row, side, i] = group.size
        battles.group_cost[row, side, i] = group.cost
        for unit, aboard in group.cargo:
            if unit in LAND_UNITS:
                battles.group_cargo[row, side, i, LAND_UNITS.index(unit)] = aboard
    for unit, count in scenario.own_counts(side).items():
        t = _TYPE_OF[unit]
        battles.counts[row, side, t] = count
        fire = scenario.fire(side, unit)
        battles.dice_per_unit[row, side, t] = fire.dice
        if fire.plain[0] > 0:
            battles.odds_plain[row, side, t] = odds.index(*fire.plain, count * fire.dice)
        if fire.supported is not None and fire.supported[0] > 0:
            battles.odds_supported[row, side, t] = odds.index(*fire.supported, count * fire.dice)


def _fill_decisions(rules: npt.NDArray[np.int64], scenario: GeneralCombatScenario) -> None:
    """Fill in when the attacker retreats, and which side plays optimally, for which goal and in what."""
    retreat = scenario.attacker.retreat
    if "retreat" not in scenario.decisions(Side.ATTACKER):  # otherwise no policy asks for one
        rules[RowField.RETREAT_AFTER_CYCLES] = retreat.after_cycles
        rules[RowField.RETREAT_UNITS_AT_MOST] = retreat.when_units_at_most
        rules[RowField.RETREAT_ONLY_AIRCRAFT] = retreat.when_only_aircraft
        rules[RowField.RETREAT_TRANSPORTS_ONLY] = retreat.when_transports_only
        rules[RowField.RETREAT_WIN_BELOW] = round(retreat.when_win_chance_below * WIN_BELOW_UNITS)
        rules[RowField.RETREAT_SWING_NEGATIVE] = retreat.when_swing_negative
    rules[RowField.OPTIMAL_SIDE] = -1
    for side in Side:
        optimal = scenario.optimal(side)
        if optimal is not None:
            rules[RowField.OPTIMAL_SIDE] = side
            rules[RowField.OPTIMAL_GOAL] = Goal[optimal.goal.upper()]
            rules[RowField.OPTIMAL_DECISIONS] = sum(Decision[name.upper()] for name in scenario.decisions(side))


def _fill_rules(rules: npt.NDArray[np.int64], scenario: GeneralCombatScenario, odds: OddsList) -> None:
    """Fill the row of switches and parameters that all kinds of battles share, then those of each kind."""
    edition = scenario.rules
    sides = edition.dice_sides
    attackers, defenders = scenario.own_counts(Side.ATTACKER), scenario.own_counts(Side.DEFENDER)
    guns = defenders.get("aa_gun", 0)
    complexes = defenders.get("industrial_complex", 0)
    aircraft = sum(attackers.get(unit, 0) for unit in AIRCRAFT)
    guns_are_units = edition.switches.aa_fate == "destroyed"
    attack_points = scenario.low_luck_points(Side.ATTACKER)
    retreat = scenario.attacker.retreat
    _fill_decisions(rules, scenario)
    rules[RowField.GUNS] = guns
    rules[RowField.GUNS_ARE_UNITS] = guns_are_units
    rules[RowField.AA_ODDS] = odds.index(min(scenario.aa_value, sides), sides, aircraft if guns else 0)
    rules[RowField.AA_THREE_PER_GUN] = edition.switches.aa_dice == "three_per_gun"
    rules[RowField.AA_OWNER_PICKS] = edition.switches.aa_choice == "owner"
    rules[RowField.LOW_LUCK_COMBAT] = scenario.low_luck in {"combat", "both"}
    rules[RowField.LOW_LUCK_AA] = scenario.low_luck in {"aa", "both"}
    rules[RowField.ATTACK_POINTS] = attack_points
    rules[RowField.DEFENCE_POINTS] = sides
    if scenario.low_luck != "none":
        rules[RowField.ATTACK_REMAINDER_ODDS] = odds.remainder(attack_points)
        rules[RowField.DEFENCE_REMAINDER_ODDS] = odds.remainder(sides)
    rules[RowField.PER_ARTILLERY] = scenario.per_artillery
    rules[RowField.CYCLE_LIMIT] = scenario.cycle_limit
    rules[RowField.RETREAT_POSSIBLE] = retreat.possible
    rules[RowField.TERRITORY_VALUE] = scenario.territory.value or 0
    rules[RowField.TREASURY] = scenario.territory.spoils
    rules[RowField.CAPTURABLE_GUNS] = 0 if guns_are_units else guns
    rules[RowField.CAPTURABLE_COMPLEXES] = complexes
    rules[RowField.SEA] = scenario.terrain == "sea"
    rules[RowField.STRIKE_ALWAYS] = edition.switches.sub_first_strike == "always"
    rules[RowField.SUBMERGE_AT_END] = edition.switches.sub_submerge == "cycle_end"
    rules[RowField.AIR_HITS_SUBS] = edition.switches.air_hits_subs == "always"
    rules[RowField.TRANSPORTS_LAST] = edition.switches.tt_last
    rules[RowField.TRANSPORTS_SWEPT] = edition.switches.tt_swept
    rules[RowField.ATTACKER_STRIKES_FIRST] = edition.switches.submarine_strikes == "attacker_first"
    rules[RowField.DOOMED_DESTROYER_COUNTS] = edition.switches.doomed_destroyer == "counts"
    rules[RowField.KEEP_LAND] = scenario.attacker.keep_land
    rules[RowField.LANDING] = scenario.terrain == "amphibious"
    rules[RowField.RETURN_FIRE] = edition.switches.bombard_return_fire
    rules[RowField.ONLY_AIRCRAFT_LEAVE] = edition.switches.amphib_retreat == "aircraft"
    rules[RowField.DAMAGED_GIVE_ROOM] = edition.switches.bb_repair == "battle_end"
    for unit, ships in scenario.bombardment().items():
        column = BOMBARDERS.index(unit)
        rules[RowField.BOMBARDING + column] = ships
        rules[RowField.BOMBARD_ODDS + column] = odds.index(scenario.bombard_value(unit), sides, ships)
    for side, policy, ratio in (
        (Side.ATTACKER, RowField.ATTACKER_SUBMERGE, RowField.ATTACKER_OUTNUMBERED),
        (Side.DEFENDER, RowField.DEFENDER_SUBMERGE, RowField.DEFENDER_OUTNUMBERED),
    ):
        rules[policy], rules[ratio] = scenario.submerge_policy(side)


def encode_assaults(scenarios: Sequence[GeneralCombatScenario]) -> Assaults:
    """Encode parsed assaults that begin with a sea battle.

    Parameters
    ----------
    scenarios : sequence of GeneralCombatScenario
        Length M.

    Returns
    -------
    Assaults
    """
    at_sea = [scenario.sea_battle for scenario in scenarios]
    assaults = Assaults(land=encode(scenarios), sea=encode(at_sea, before_landing=True))
    note_bins(assaults.land.rules, RowField.SWING_WIDTH, assault_swing_bins(assaults), len(ASSAULT_ACCUMULATORS))
    return assaults


def _rules_key(scenario: GeneralCombatScenario) -> tuple[Any, ...]:
    """Return what decides the row of rules: of a battle on land with policies alone little of the defender's side."""
    if scenario.terrain != "land" or scenario.looks_ahead:
        return (id(scenario),)
    defenders = scenario.defender.units
    return (
        id(scenario.attacker),
        id(scenario.rules),
        id(scenario.territory),
        scenario.low_luck,
        scenario.cycle_limit,
        defenders.get("aa_gun", 0),
        defenders.get("industrial_complex", 0),
        *scenario.defender.technologies,
    )


def encode(scenarios: Sequence[GeneralCombatScenario], *, before_landing: bool = False) -> Battles:
    """Encode parsed scenarios as flat arrays.

    Parameters
    ----------
    scenarios : sequence of GeneralCombatScenario
        Length M; already checked, so nothing here can be out of range.
    before_landing : bool
        Whether they are sea battles before a landing, which have random addresses of their own.

    Returns
    -------
    Battles
    """
    m, s, t = len(scenarios), len(Side), len(UnitType)
    battles = Battles(
        counts=np.zeros((m, s, t), dtype=np.int16),
        group_type=np.full((m, s, MAX_LOSS_GROUPS), -1, dtype=np.int8),
        group_form=np.zeros((m, s, MAX_LOSS_GROUPS), dtype=np.int8),
        group_count=np.zeros((m, s, MAX_LOSS_GROUPS), dtype=np.int16),
        group_cost=np.zeros((m, s, MAX_LOSS_GROUPS), dtype=np.int32),
        group_cargo=np.zeros((m, s, MAX_LOSS_GROUPS, len(LAND_UNITS)), dtype=np.int8),
        odds_plain=np.full((m, s, t), -1, dtype=np.int16),
        odds_supported=np.full((m, s, t), -1, dtype=np.int16),
        dice_per_unit=np.ones((m, s, t), dtype=np.int8),
        rules=np.zeros((m, RowField.COLUMNS), dtype=np.int64),
        odds=np.zeros((0, 3), dtype=np.int64),
    )
    odds = OddsList()
    # Sweeps have few mixes and many matchups: what was met before is filled in once, and copied at the end.
    met: dict[tuple[Any, ...], int] = {}
    sources = np.tile(np.arange(m)[:, np.newaxis], (1, s))
    rules_source = np.arange(m)
    for row, scenario in enumerate(scenarios):
        for side, part in ((Side.ATTACKER, scenario.attacker), (Side.DEFENDER, scenario.defender)):
            key = (side, id(part), id(scenario.rules), scenario.terrain)
            source = met.setdefault(key, row) if scenario.sea is None else row
            sources[row, side] = source
            if source == row:
                _fill_side(battles, row, side, scenario, odds, before_landing=before_landing)
        source = met.setdefault(_rules_key(scenario), row)
        rules_source[row] = source
        if source == row:
            _fill_rules(battles.rules[row], scenario, odds)
            battles.rules[row, RowField.STEP_OFFSET] = BEFORE_LANDING if before_landing else 0
    for side in Side:
        for field in _SIDE_FIELDS:
            array = getattr(battles, field)
            array[:, side] = array[sources[:, side], side]
    battles.rules[:] = battles.rules[rules_source]
    note_bins(battles.rules, RowField.SWING_WIDTH, swing_bins(battles), len(ACCUMULATORS))
    return battles._replace(odds=odds.array())


def _losses(battles: Battles) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the most that each side can lose, int64 (M, S), and the step of what both lose, int64 (M,)."""
    costs = battles.group_cost.astype(np.int64)
    return (costs * battles.group_count).sum(axis=2), common_steps(costs)


def swing_bins(battles: Battles) -> npt.NDArray[np.int64]:
    """Return the bins in which the swings of each matchup are counted.

    Parameters
    ----------
    battles : Battles

    Returns
    -------
    int64 (M, 3)
        By `simcore.core.swing.BinField`.
    """
    return place_bins(*_losses(battles))


def assault_swing_bins(assaults: Assaults) -> npt.NDArray[np.int64]:
    """Return the bins in which the swings of each assault are counted, both battles together.

    Parameters
    ----------
    assaults : Assaults

    Returns
    -------
    int64 (M, 3)
        By `simcore.core.swing.BinField`.
    """
    (on_land, step), (at_sea, other) = _losses(assaults.land), _losses(assaults.sea)
    return place_bins(on_land + at_sea, np.gcd(step, other))


def swing_bound(battles: Battles) -> npt.NDArray[np.int64]:
    """Return the largest possible absolute swing of each matchup.

    Parameters
    ----------
    battles : Battles
        Encoded scenarios.

    Returns
    -------
    int64 (M,)
        The larger of both sides' costs.
    """
    bound: npt.NDArray[np.int64] = _losses(battles)[0].max(axis=1)
    return bound


def assault_swing_bound(assaults: Assaults) -> npt.NDArray[np.int64]:
    """Return the largest possible absolute swing of each assault: both battles together.

    Parameters
    ----------
    assaults : Assaults

    Returns
    -------
    int64 (M,)
    """
    return swing_bound(assaults.land) + swing_bound(assaults.sea)
