"""Bombing raids as flat arrays: what is encoded, and what is counted.

A raid is short: interceptors and escorts, antiaircraft fire, damage dice. It has its own arrays, outcomes and
accumulators; axes as in `encoding.py`.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from simcore.core.odds_list import OddsList
from simcore.core.swing import common_steps, note_bins, place_bins
from simcore.enums import Side
from simcore.rulesets.general_combat.encoding import AIRCRAFT, UNITS, UnitType

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simcore.rulesets.general_combat.params import GeneralCombatScenario

__all__ = [
    "HISTOGRAM",
    "RAID_ACCUMULATORS",
    "RAID_OUTCOMES",
    "RaidAccumulator",
    "RaidField",
    "RaidOutcome",
    "Raids",
    "encode_raids",
    "raid_swing_bins",
    "raid_swing_bound",
]

AIR_BATTLE_VALUE = 1
"""Value of every aircraft in the air battle before a raid (2.3 sbr_air_battle)."""
HISTOGRAM = 257
"""Counted amounts of damage: 0 to 255, and all larger ones together."""
HEAVY_GROUP = 32
"""Added to the face of a damage die: the larger of the two dice of a heavy bomber."""


class RaidOutcome(IntEnum):
    """Whether a raid did damage (int8)."""

    DAMAGE = 0
    NO_DAMAGE = 1


RAID_OUTCOMES = tuple(outcome.name.lower() for outcome in RaidOutcome)


class RaidField(IntEnum):
    """Columns of `Raids.rules`."""

    AIR_BATTLE = 0
    AIR_BATTLE_ODDS = 1
    AA_FIRES = 2
    AA_ODDS = 3
    LOW_LUCK_COMBAT = 4
    LOW_LUCK_AA = 5
    REMAINDER_ODDS = 6
    """Index of the odds 0/s; r/s lies r further."""
    SIDES = 7
    """Faces of a die, which are also the low-luck points of a sure hit."""
    DICE_PER_BOMBER = 8
    BEST_OF_TWO = 9
    BONUS = 10
    """Damage that each bomber adds to its dice (GC-2.3:sbr_bonus)."""
    ROOM = 11
    """Damage that can still be done, -1 for any amount (GC-6.2)."""
    FACE_ODDS = 12
    """Index of the odds 1/2; 1/f lies f - 2 further: a die shows f, if it shows no more than f."""
    HEAVY_ODDS = 13
    """Index of the odds 3/4; (2f - 1)/f^2 lies f - 2 further: the same of the larger of two dice."""
    SWING_WIDTH = 14
    """Width of the bins in which swings are counted."""
    SWING_ZERO = 15
    """Column of the tally that counts the bin of 0."""
    COLUMNS = 16


class RaidAccumulator(IntEnum):
    """First columns of a raid's tally."""

    BATTLES = 0
    OUTCOMES = 1
    CYCLES = 3
    CYCLES_SQ = 4
    ATTACKER_LOST = 5
    ATTACKER_LOST_SQ = 6
    DEFENDER_LOST = 7
    DEFENDER_LOST_SQ = 8
    SWING = 9
    SWING_SQ = 10
    DAMAGE = 11
    DAMAGE_SQ = 12
    HISTOGRAM = 13
    SURVIVORS = 13 + 257


RAID_ACCUMULATORS = (
    "battles",
    *(f"outcome.{outcome}" for outcome in RAID_OUTCOMES),
    "cycles.sum",
    "cycles.sumsq",
    "attacker.cost_lost.sum",
    "attacker.cost_lost.sumsq",
    "defender.cost_lost.sum",
    "defender.cost_lost.sumsq",
    "swing.sum",
    "swing.sumsq",
    "damage.sum",
    "damage.sumsq",
    *(f"damage.n.{amount}" for amount in range(HISTOGRAM)),
    *(
        f"survivors.{outcome}.{side}.{unit}"
        for outcome in RAID_OUTCOMES
        for side in ("attacker", "defender")
        for unit in UNITS
    ),
)


class Raids(NamedTuple):
    """Raids as flat arrays, one row per matchup. P: places in the order of loss, one for each type of aircraft.

    Attributes
    ----------
    counts : int16 (M, S, P)
        Aircraft in order of loss.
    types : int8 (M, S, P)
        Their `UnitType`, -1 where there is none.
    costs : int32 (M, S, P)
    rules : int64 (M, R)
        Parameters by `RaidField`.
    odds : int64 (O, 3)
        As in `Battles`.
    """

    counts: npt.NDArray[np.int16]
    types: npt.NDArray[np.int8]
    costs: npt.NDArray[np.int32]
    rules: npt.NDArray[np.int64]
    odds: npt.NDArray[np.int64]


def encode_raids(scenarios: Sequence[GeneralCombatScenario]) -> Raids:
    """Encode parsed raids as flat arrays.

    Parameters
    ----------
    scenarios : sequence of GeneralCombatScenario
        Length M, all with ``terrain = "raid"``.

    Returns
    -------
    Raids
    """
    shape = (len(scenarios), len(Side), len(AIRCRAFT))
    raids = Raids(
        counts=np.zeros(shape, dtype=np.int16),
        types=np.full(shape, -1, dtype=np.int8),
        costs=np.zeros(shape, dtype=np.int32),
        rules=np.zeros((len(scenarios), RaidField.COLUMNS), dtype=np.int64),
        odds=np.zeros((0, 3), dtype=np.int64),
    )
    odds = OddsList()
    for row, scenario in enumerate(scenarios):
        for side in Side:
            aircraft = [group for group in scenario.loss_groups(side) if group.unit in AIRCRAFT]
            for place, group in enumerate(aircraft):
                raids.counts[row, side, place] = group.size
                raids.types[row, side, place] = UnitType[group.unit.upper()]
                raids.costs[row, side, place] = group.cost
        _fill_rules(raids.rules[row], scenario, odds)
    note_bins(raids.rules, RaidField.SWING_WIDTH, raid_swing_bins(raids), len(RAID_ACCUMULATORS))
    return raids._replace(odds=odds.array())


def _fill_rules(rules: npt.NDArray[np.int64], scenario: GeneralCombatScenario, odds: OddsList) -> None:
    edition = scenario.rules
    sides = edition.dice_sides
    own = scenario.own_counts(Side.ATTACKER)
    enemy = scenario.own_counts(Side.DEFENDER)
    heavy = scenario.has_heavy_bombers
    best = heavy and edition.switches.heavy_bombers == "best_of_two"
    most = max(sum(own.get(unit, 0) for unit in AIRCRAFT), sum(enemy.get(unit, 0) for unit in AIRCRAFT), 1)
    rules[RaidField.AIR_BATTLE] = scenario.has_air_battle
    rules[RaidField.AIR_BATTLE_ODDS] = odds.index(AIR_BATTLE_VALUE, sides, most)
    rules[RaidField.AA_FIRES] = edition.switches.sbr_aa == "built_in" or enemy.get("aa_gun", 0) > 0
    rules[RaidField.AA_ODDS] = odds.index(min(scenario.aa_value, sides), sides, most)
    rules[RaidField.LOW_LUCK_COMBAT] = scenario.low_luck in {"combat", "both"}
    rules[RaidField.LOW_LUCK_AA] = scenario.low_luck in {"aa", "both"}
    rules[RaidField.REMAINDER_ODDS] = odds.remainder(sides)
    rules[RaidField.SIDES] = sides
    rules[RaidField.DICE_PER_BOMBER] = 2 if heavy and not best else 1
    rules[RaidField.BEST_OF_TWO] = best
    rules[RaidField.BONUS] = edition.switches.sbr_bonus
    rules[RaidField.ROOM] = -1 if scenario.raid_cap < 0 else max(0, scenario.raid_cap - scenario.raid.damaged)
    extra = own.get("bomber", 0) if heavy and not best else 0
    dice = own.get("tactical_bomber", 0) + own.get("bomber", 0) + extra
    rules[RaidField.FACE_ODDS] = odds.run([(1, face) for face in range(2, sides + 1)], dice)
    if best:
        rules[RaidField.HEAVY_ODDS] = odds.run([(2 * face - 1, face**2) for face in range(2, sides + 1)], most)


def raid_swing_bins(raids: Raids) -> npt.NDArray[np.int64]:
    """Return the bins in which the swings of each matchup are counted.

    Parameters
    ----------
    raids : Raids

    Returns
    -------
    int64 (M, 3)
        By `simcore.core.swing.BinField`.
    """
    costs = raids.costs.astype(np.int64)
    return place_bins((raids.counts * costs).sum(axis=2), common_steps(costs))


def raid_swing_bound(raids: Raids) -> npt.NDArray[np.int64]:
    """Return the largest number that a raid can add to the sums: swing or damage.

    Parameters
    ----------
    raids : Raids

    Returns
    -------
    int64 (M,)
    """
    costs = (raids.counts.astype(np.int64) * raids.costs).sum(axis=2).max(axis=1)
    rules = raids.rules
    dice = raids.counts[:, Side.ATTACKER].astype(np.int64).sum(axis=1)
    damage = dice * (rules[:, RaidField.SIDES] * rules[:, RaidField.DICE_PER_BOMBER] + rules[:, RaidField.BONUS])
    bound: npt.NDArray[np.int64] = np.maximum(costs, damage)
    return bound
