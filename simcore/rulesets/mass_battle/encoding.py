"""Flat arrays of mass battle: names of every axis and field, and the encoder that fills them.

Axes: **M** matchups, **S** sides, **T** squad types in the order of their edition, **C** characters, **P** turns
with pools of their own, **K** accumulators.
"""

from __future__ import annotations

from enum import IntEnum
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from simcore.core.odds_list import OddsList
from simcore.core.swing import common_steps, note_bins, place_bins
from simcore.enums import Side

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simcore.rulesets.mass_battle.params import MassBattleScenario

__all__ = [
    "ACCUMULATORS",
    "MAX_CHARACTERS",
    "MAX_ODDS_DICE",
    "MAX_POOL",
    "MAX_TYPES",
    "OUTCOMES",
    "STATUSES",
    "TYPES",
    "Accumulator",
    "Armies",
    "DrawStep",
    "FaceGroup",
    "Initiative",
    "Outcome",
    "PoolModel",
    "PursuitLimit",
    "Route",
    "RowField",
    "Standing",
    "encode",
    "pool_odds",
    "swing_bins",
    "swing_bound",
]

MAX_TYPES = 8
"""Squad types of an edition."""
MAX_CHARACTERS = 8
MAX_POOL = 6_000
"""Most dice of one roll."""
MAX_ODDS_DICE = 20
"""Largest pool of a rally roll, and the smallest is its negative: 6**22 still fits the table of odds."""
_FACES = 6

TYPES = tuple(f"type_{t + 1}" for t in range(MAX_TYPES))
"""Axis **T** by place: editions name their squad types themselves."""


class Outcome(IntEnum):
    """How a battle ended (int8); the lower-case names are the public ones."""

    ATTACKER_WINS = 0
    DEFENDER_WINS = 1
    BOTH_BROKEN = 2
    UNDECIDED = 3
    """The limit of turns was reached (MA-22)."""


OUTCOMES = tuple(outcome.name.lower() for outcome in Outcome)


class Standing(IntEnum):
    """What squads are during a battle."""

    ACTIVE = 0
    DUE = 1
    """Suppressed, active again next turn."""
    LATE = 2
    """Suppressed, active again in the turn after the next."""
    ROUTED = 3
    FAILED = 4
    """In flight: nobody has halted them this turn."""
    FLED = 5
    DESTROYED = 6
    CAPTURED = 7


STATUSES = ("active", "suppressed", "routed", "fled", "destroyed", "captured")
"""What squads are counted as when a battle is over."""


class DrawStep(IntEnum):
    """Step part of a random address."""

    CHARACTER = 0
    """Group = place of the character."""
    RALLY = 1
    """Group = squad type."""
    ATTACK = 2
    """Group = `FaceGroup`."""
    TARGET = 3
    """Who is hit where it is left to chance; the word's block is the place of the hit."""
    BACKFIRE = 4
    """Which own squad a one suppresses, likewise."""


class FaceGroup(IntEnum):
    """Parts of an attack roll: how many dice show so much, each asked of those of the part before."""

    FOUR_UP = 0
    FIVE_UP = 1
    SIX = 2
    OTHERS_FOUR_UP = 3
    """The other dice of a negative roll; the main die is the one die of the parts before."""
    ONES = 4
    """Asked of the dice below 4."""


class PoolModel(IntEnum):
    """Where the dice come from (MA-2)."""

    SUM_ACTIVE = 0
    DIFFERENCE = 1
    FIXED = 2


class Initiative(IntEnum):
    """Who rolls first (MA-11)."""

    SIMULTANEOUS = 0
    ATTACKER_FIRST = 1
    DEFENDER_FIRST = 2


class PursuitLimit(IntEnum):
    """Who pursues, and how many each catches (MA-19)."""

    NONE = 0
    ONE_PER_SQUAD = 1
    SUPPRESSED_TOO = 2


class Route(IntEnum):
    """How a character halts a squad: against its size (MB-7) or against that of the whole army (MB-9)."""

    SQUAD = 0
    ARMY = 1


class RowField(IntEnum):
    """Columns of `Armies.rules`: one number each per matchup."""

    DESTROY_FACE = 0
    """0, 1, 2 for the faces 4, 5, 6."""
    ROUT_FACE = 1
    SUPPRESS_FACE = 2
    POOL_MODEL = 3
    NEGATIVE_COUNT = 4
    """1 where a negative roll has as many dice as its pool says (MA-4)."""
    NEGATIVE_ANY = 5
    """1 where one other die confirms a negative roll (MA-5)."""
    ONES_EVERY_ROLL = 6
    ROUTED_TARGETS = 7
    RENEW = 8
    RANDOM_TARGETS = 9
    INITIATIVE = 10
    RALLY_MISS = 11
    UNLIMITED_RALLY = 12
    MUTUAL_OUTCOME = 13
    """Outcome when both armies break (MA-17)."""
    ROUTED_ONLY = 14
    """1 where only squads routed in the last turn are pursued (MA-18)."""
    PURSUIT_LIMIT = 15
    CAUGHT_DESTROYED = 16
    MAX_TURNS = 17
    HALF = 18
    """Index of the odds 1/2."""
    TWO_THIRDS = 19
    THIRD = 20
    SUPPORT = 21
    """Support dice, one column a side."""
    CAN_FLEE = 23
    """One column a side."""
    SWING_WIDTH = 25
    """Width of the bins in which swings are counted."""
    SWING_ZERO = 26
    """Column of the tally that counts the bin of 0."""
    COLUMNS = 27


class Accumulator(IntEnum):
    """First columns of a tally; survivors by outcome, side and type follow from `SURVIVORS` on."""

    BATTLES = 0
    OUTCOMES = 1
    TURNS = 5
    TURNS_SQ = 6
    ATTACKER_LOST = 7
    ATTACKER_LOST_SQ = 8
    DEFENDER_LOST = 9
    DEFENDER_LOST_SQ = 10
    SWING = 11
    SWING_SQ = 12
    SQUADS = 13
    """Squads by side and status."""
    SURVIVORS = SQUADS + 2 * len(STATUSES)


ACCUMULATORS = (
    "battles",
    *(f"outcome.{outcome}" for outcome in OUTCOMES),
    "turns.sum",
    "turns.sumsq",
    "attacker.cost_lost.sum",
    "attacker.cost_lost.sumsq",
    "defender.cost_lost.sum",
    "defender.cost_lost.sumsq",
    "swing.sum",
    "swing.sumsq",
    *(f"squads.{side}.{status}" for side in ("attacker", "defender") for status in STATUSES),
    *(f"survivors.{outcome}.{side}.{t}" for outcome in OUTCOMES for side in ("attacker", "defender") for t in TYPES),
)


class Armies(NamedTuple):
    """Scenarios as flat arrays, one row per matchup.

    Attributes
    ----------
    counts : int16 (M, S, T)
        Squads at the start.
    dice, mobile, cost : int32 (M, S, T)
        What each squad adds to the Forces, whether it can pursue, what it costs.
    order : int8 (M, S, T)
        Types in the order in which they are hit, -1 after the last that the army has.
    rally_odds : int16 (M, S, T)
        Index into `odds` of the commander's roll.
    character_route : int8 (M, S, C)
        `Route`, -1 after the last character.
    character_odds : int16 (M, S, C, T)
        Index into `odds` of a character's roll for a squad of each type.
    modifiers, pools : int16 (M, S, P)
        Modifier of the pool, and the pool itself where it is fixed, in turn 1, 2, ...; the last one holds on.
    rules : int64 (M, R)
        Options and parameters by `RowField`.
    odds : int64 (O, 3)
        Numerator, denominator and largest number of dice of every probability in use.
    """

    counts: npt.NDArray[np.int16]
    dice: npt.NDArray[np.int32]
    mobile: npt.NDArray[np.int32]
    cost: npt.NDArray[np.int32]
    order: npt.NDArray[np.int8]
    rally_odds: npt.NDArray[np.int16]
    character_route: npt.NDArray[np.int8]
    character_odds: npt.NDArray[np.int16]
    modifiers: npt.NDArray[np.int16]
    pools: npt.NDArray[np.int16]
    rules: npt.NDArray[np.int64]
    odds: npt.NDArray[np.int64]


def pool_odds(pool: int, success_face: int) -> Fraction:
    """Return the chance that a roll of a skill succeeds (MA-15, MA-16).

    Parameters
    ----------
    pool : int
        Dice; 0 and less is a negative roll, of 2 - pool dice.
    success_face : int
        Least face that is a success.

    Returns
    -------
    Fraction

    Examples
    --------
    >>> [str(pool_odds(pool, 4)) for pool in (3, 2, 1, 0, -1)]
    ['7/8', '3/4', '1/2', '1/4', '1/8']
    """
    one = Fraction(_FACES + 1 - success_face, _FACES)
    if pool >= 1:
        return 1 - (1 - one) ** pool
    return Fraction(one ** (2 - pool))


def _order_of_types(units: Sequence[int], dice: Sequence[int], target_order: str) -> list[int]:
    """Return the types that an army has, in the order in which they are hit (MA-10)."""
    present = [t for t, count in enumerate(units) if count]
    if target_order == "strongest":
        present.sort(key=lambda t: -dice[t])
    elif target_order == "weakest":
        present.sort(key=lambda t: dice[t])
    return present


def _fill_side(armies: Armies, row: int, side: Side, scenario: MassBattleScenario, odds: OddsList) -> None:
    options = scenario.chosen
    army = scenario.side(side)
    types = list(scenario.rules.units.values())
    counts = [scenario.counts(side).get(name, 0) for name in scenario.rules.units]
    for t, kind in enumerate(types):
        armies.counts[row, side, t] = counts[t]
        armies.dice[row, side, t] = kind.dice
        armies.mobile[row, side, t] = kind.mobile
        armies.cost[row, side, t] = kind.cost
        pool = kind.rally if options.rally_pool is None else options.rally_pool
        chance = pool_odds(pool, options.success_face)
        armies.rally_odds[row, side, t] = odds.index(chance.numerator, chance.denominator, counts[t])
        for c, character in enumerate(army.characters):
            chance = pool_odds(character.pool(kind.size_class), options.success_face)
            armies.character_odds[row, side, c, t] = odds.index(chance.numerator, chance.denominator, 1)
    for place, t in enumerate(_order_of_types(counts, [kind.dice for kind in types], options.target_order)):
        armies.order[row, side, place] = t
    for c, character in enumerate(army.characters):
        armies.character_route[row, side, c] = Route[character.route.upper()]
    _fill_turns(armies.modifiers[row, side], army.modifiers)
    _fill_turns(armies.pools[row, side], army.pools)
    armies.rules[row, RowField.SUPPORT + side] = army.support_dice
    armies.rules[row, RowField.CAN_FLEE + side] = army.can_flee


def _fill_turns(row: npt.NDArray[np.int16], values: Sequence[int]) -> None:
    row[: len(values)] = values
    row[len(values) :] = values[-1]


def _fill_rules(rules: npt.NDArray[np.int64], scenario: MassBattleScenario, odds: OddsList) -> None:
    options = scenario.chosen
    most = scenario.most_dice
    face = {effect: int(face) - 4 for face, effect in options.face_effects.items()}
    rules[RowField.DESTROY_FACE] = face["destroy"]
    rules[RowField.ROUT_FACE] = face["rout"]
    rules[RowField.SUPPRESS_FACE] = face["suppress"]
    rules[RowField.POOL_MODEL] = PoolModel[options.pool_model.upper()]
    rules[RowField.NEGATIVE_COUNT] = options.negative_dice == "count"
    rules[RowField.NEGATIVE_ANY] = options.negative_needs == "any"
    rules[RowField.ONES_EVERY_ROLL] = options.ones_backfire == "every_roll"
    rules[RowField.ROUTED_TARGETS] = options.routed_targets
    rules[RowField.RENEW] = options.renew_suppression
    rules[RowField.RANDOM_TARGETS] = options.target_order == "random"
    rules[RowField.INITIATIVE] = Initiative[options.initiative.upper()]
    rules[RowField.RALLY_MISS] = options.rally_miss
    rules[RowField.UNLIMITED_RALLY] = options.rally_attempts == "unlimited"
    rules[RowField.MUTUAL_OUTCOME] = {
        "draw": Outcome.BOTH_BROKEN,
        "attacker": Outcome.ATTACKER_WINS,
        "defender": Outcome.DEFENDER_WINS,
    }[options.mutual_break]
    rules[RowField.ROUTED_ONLY] = options.pursuit_scope == "routed_this_turn"
    rules[RowField.PURSUIT_LIMIT] = PursuitLimit[options.pursuit_limit.upper()]
    rules[RowField.CAUGHT_DESTROYED] = options.pursuit_fate == "destroyed"
    rules[RowField.MAX_TURNS] = options.max_turns
    rules[RowField.HALF] = odds.index(1, 2, most)
    rules[RowField.TWO_THIRDS] = odds.index(2, 3, most)
    rules[RowField.THIRD] = odds.index(1, 3, most)


def encode(scenarios: Sequence[MassBattleScenario]) -> Armies:
    """Encode parsed scenarios as flat arrays.

    Parameters
    ----------
    scenarios : sequence of MassBattleScenario
        Length M; already checked, so nothing here can be out of range.

    Returns
    -------
    Armies
    """
    m, s, t = len(scenarios), len(Side), MAX_TYPES

    def longest(read: str) -> int:
        return max((len(getattr(scenario.side(side), read)) for scenario in scenarios for side in Side), default=1)

    armies = Armies(
        counts=np.zeros((m, s, t), dtype=np.int16),
        dice=np.zeros((m, s, t), dtype=np.int32),
        mobile=np.zeros((m, s, t), dtype=np.int32),
        cost=np.zeros((m, s, t), dtype=np.int32),
        order=np.full((m, s, t), -1, dtype=np.int8),
        rally_odds=np.zeros((m, s, t), dtype=np.int16),
        character_route=np.full((m, s, MAX_CHARACTERS), -1, dtype=np.int8),
        character_odds=np.zeros((m, s, MAX_CHARACTERS, t), dtype=np.int16),
        modifiers=np.zeros((m, s, longest("modifiers")), dtype=np.int16),
        pools=np.zeros((m, s, longest("pools")), dtype=np.int16),
        rules=np.zeros((m, RowField.COLUMNS), dtype=np.int64),
        odds=np.zeros((0, 3), dtype=np.int64),
    )
    odds = OddsList()
    for row, scenario in enumerate(scenarios):
        for side in Side:
            _fill_side(armies, row, side, scenario, odds)
        _fill_rules(armies.rules[row], scenario, odds)
    note_bins(armies.rules, RowField.SWING_WIDTH, swing_bins(armies), len(ACCUMULATORS))
    return armies._replace(odds=odds.array())


def _army_costs(armies: Armies) -> npt.NDArray[np.int64]:
    """Return what the squads of each type cost together, int64 (M, S, T)."""
    return armies.cost.astype(np.int64) * armies.counts


def swing_bins(armies: Armies) -> npt.NDArray[np.int64]:
    """Return the bins in which the swings of each matchup are counted.

    Parameters
    ----------
    armies : Armies

    Returns
    -------
    int64 (M, 3)
        By `simcore.core.swing.BinField`.
    """
    present = np.where(armies.counts > 0, armies.cost.astype(np.int64), 0)
    return place_bins(_army_costs(armies).sum(axis=2), common_steps(present))


def swing_bound(armies: Armies) -> npt.NDArray[np.int64]:
    """Return the largest possible absolute swing of each matchup.

    Parameters
    ----------
    armies : Armies
        Encoded scenarios.

    Returns
    -------
    int64 (M,)
        The larger of both armies' costs.
    """
    bound: npt.NDArray[np.int64] = _army_costs(armies).sum(axis=2).max(axis=1)
    return bound
