"""Exact distribution of bombing raids: a few sums over what either side may lose."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from simcore.core.chain import binomial, convolve, two_point
from simcore.enums import Side
from simcore.rulesets.general_combat.encoding import UnitType
from simcore.rulesets.general_combat.raid import (
    HISTOGRAM,
    RAID_ACCUMULATORS,
    RaidAccumulator,
    RaidField,
    RaidOutcome,
    Raids,
)
from simcore.rulesets.general_combat.steps import absorb, raid_damage
from simcore.schema import Endings

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["raid_ends", "solve_raid"]

_Pmf = npt.NDArray[np.float64]
_RAIDERS = (UnitType.TACTICAL_BOMBER, UnitType.BOMBER)


def _hits(dice: int, odds: npt.NDArray[np.int64], *, low_luck: bool, sides: int) -> _Pmf:
    """Return the distribution of the hits of some dice."""
    out = np.zeros(dice + 2)
    if low_luck:
        return out[: two_point(dice * int(odds[0]) * (sides // int(odds[1])), sides, out) + 1]
    binomial(dice, int(odds[0]), int(odds[1]), out)
    return out[: dice + 1]


def _sum_of(a: _Pmf, b: _Pmf) -> _Pmf:
    out = np.zeros(len(a) + len(b) - 1)
    convolve(a, len(a) - 1, b, len(b) - 1, out)
    return out


def _powers(die: _Pmf, most: int) -> list[_Pmf]:
    """Return the distributions of the sum of 0, 1, ... dice."""
    out = [np.ones(1)]
    for _ in range(most):
        out.append(_sum_of(out[-1], die))
    return out


def _after_hits(counts: npt.NDArray[np.int64], pmf: _Pmf) -> Iterator[tuple[tuple[int, ...], float]]:
    """Yield what hits along the order of loss leave of a side, each with its probability."""
    found: dict[tuple[int, ...], float] = {}
    for hits, chance in enumerate(pmf.tolist()):
        rest, left = hits, []
        for n in counts.tolist():
            lost = int(absorb(n, rest))
            left.append(n - lost)
            rest -= lost
        found[tuple(left)] = found.get(tuple(left), 0.0) + chance
    yield from found.items()


class _Raid:
    """One raid and the distributions it needs."""

    def __init__(self, raids: Raids, row: int) -> None:
        self.rules = raids.rules[row]
        self.odds = raids.odds
        self.counts = raids.counts[row].astype(np.int64)
        self.types = raids.types[row]
        self.costs = raids.costs[row].astype(np.int64)
        sides = int(self.rules[RaidField.SIDES])
        most = int(self.counts[Side.ATTACKER].sum()) * int(self.rules[RaidField.DICE_PER_BOMBER])
        plain = np.concatenate(([0.0], np.full(sides, 1.0 / sides)))
        self.plain = _powers(plain, most)
        faces = np.arange(sides + 1)
        best = np.where(faces > 0, (2 * faces - 1) / sides**2, 0.0)
        self.best = _powers(best, most) if self.rules[RaidField.BEST_OF_TWO] else self.plain[:1]

    def air_battle(self) -> tuple[list[tuple[tuple[int, ...], float]], list[tuple[tuple[int, ...], float]], bool]:
        """Return what either side brings to the target, and whether there was an air battle."""
        totals = self.counts.sum(axis=1)
        if not (self.rules[RaidField.AIR_BATTLE] and totals.all()):
            untouched = [[(tuple(self.counts[side].tolist()), 1.0)] for side in Side]
            return untouched[0], untouched[1], False
        odds = self.odds[self.rules[RaidField.AIR_BATTLE_ODDS]]
        low_luck = bool(self.rules[RaidField.LOW_LUCK_COMBAT])
        sides = int(self.rules[RaidField.SIDES])
        pmfs = [_hits(int(n), odds, low_luck=low_luck, sides=sides) for n in totals]
        return list(_after_hits(self.counts[0], pmfs[1])), list(_after_hits(self.counts[1], pmfs[0])), True

    def after_fire(self, attackers: list[tuple[tuple[int, ...], float]]) -> list[tuple[tuple[int, ...], float]]:
        """Return what antiaircraft fire leaves of the attackers (GC-6.1)."""
        if not self.rules[RaidField.AA_FIRES]:
            return attackers
        odds = self.odds[self.rules[RaidField.AA_ODDS]]
        low_luck = bool(self.rules[RaidField.LOW_LUCK_AA])
        for place, kind in enumerate(self.types[Side.ATTACKER].tolist()):
            if kind not in _RAIDERS:
                continue
            found: dict[tuple[int, ...], float] = {}
            for left, chance in attackers:
                pmf = _hits(left[place], odds, low_luck=low_luck, sides=int(self.rules[RaidField.SIDES]))
                for hits, share in enumerate(pmf.tolist()):
                    units = list(left)
                    units[place] -= int(absorb(left[place], hits))
                    found[tuple(units)] = found.get(tuple(units), 0.0) + chance * share
            attackers = list(found.items())
        return attackers

    def damage(self, left: tuple[int, ...]) -> dict[int, float]:
        """Return the distribution of the damage that the bombers left do."""
        units = dict(zip(self.types[Side.ATTACKER].tolist(), left, strict=True))
        bombers = units.get(UnitType.BOMBER, 0)
        plain = units.get(UnitType.TACTICAL_BOMBER, 0)
        heavy = bombers if self.rules[RaidField.BEST_OF_TWO] else 0
        plain += 0 if heavy else bombers * int(self.rules[RaidField.DICE_PER_BOMBER])
        pmf = _sum_of(self.plain[plain], self.best[heavy])
        bonus, room = int(self.rules[RaidField.BONUS]) * bombers, int(self.rules[RaidField.ROOM])
        found: dict[int, float] = {}
        for rolled, chance in enumerate(pmf.tolist()):
            done = int(raid_damage(rolled + bonus, room))
            found[done] = found.get(done, 0.0) + chance
        return found

    def cost_lost(self, side: Side, left: tuple[int, ...]) -> int:
        """Return the cost of the aircraft that a side has lost."""
        return int(((self.counts[side] - np.array(left)) * self.costs[side]).sum())


def solve_raid(raids: Raids, row: int) -> npt.NDArray[np.float64]:
    """Return the expected accumulators of one raid.

    Parameters
    ----------
    raids : Raids
    row : int

    Returns
    -------
    float64 (K,)
    """
    raid = _Raid(raids, row)
    acc = np.zeros(len(RAID_ACCUMULATORS))
    attackers, defenders, fought = raid.air_battle()
    attackers = raid.after_fire(attackers)
    lost = [raid.cost_lost(Side.DEFENDER, left) for left, _ in defenders]
    shares = [chance for _, chance in defenders]
    enemy = sum(x * p for x, p in zip(lost, shares, strict=True))
    enemy_sq = sum(x * x * p for x, p in zip(lost, shares, strict=True))
    n_types = len(UnitType)
    for left, chance in attackers:
        own = raid.cost_lost(Side.ATTACKER, left)
        done = nothing = 0.0
        for damage, share in raid.damage(left).items():
            p = chance * share
            acc[RaidAccumulator.DAMAGE] += p * damage
            acc[RaidAccumulator.DAMAGE_SQ] += p * damage * damage
            acc[RaidAccumulator.HISTOGRAM + min(damage, HISTOGRAM - 1)] += p
            if damage > 0:
                done += share
            else:
                nothing += share
        for outcome, share in ((RaidOutcome.DAMAGE, done), (RaidOutcome.NO_DAMAGE, nothing)):
            p = chance * share
            column = RaidAccumulator.SURVIVORS + outcome * 2 * n_types
            acc[RaidAccumulator.OUTCOMES + outcome] += p
            for place, kind in enumerate(raid.types[Side.ATTACKER].tolist()):
                if kind >= 0:
                    acc[column + kind] += p * left[place]
            for units, part in defenders:
                for place, kind in enumerate(raid.types[Side.DEFENDER].tolist()):
                    if kind >= 0:
                        acc[column + n_types + kind] += p * part * units[place]
        acc[RaidAccumulator.BATTLES] += chance
        acc[RaidAccumulator.ATTACKER_LOST] += chance * own
        acc[RaidAccumulator.ATTACKER_LOST_SQ] += chance * own * own
        acc[RaidAccumulator.SWING] += chance * (enemy - own)
        acc[RaidAccumulator.SWING_SQ] += chance * (enemy_sq - 2 * own * enemy + own * own)
    acc[RaidAccumulator.DEFENDER_LOST] = enemy
    acc[RaidAccumulator.DEFENDER_LOST_SQ] = enemy_sq
    acc[RaidAccumulator.CYCLES] = acc[RaidAccumulator.CYCLES_SQ] = float(fought)
    return acc


def raid_ends(raids: Raids, row: int) -> Endings:
    """Return every way in which one raid may end.

    Parameters
    ----------
    raids : Raids
    row : int

    Returns
    -------
    Endings
    """
    raid = _Raid(raids, row)
    attackers, defenders, fought = raid.air_battle()
    ends = []
    for left, chance in raid.after_fire(attackers):
        nothing = raid.damage(left).get(0, 0.0)
        shares = ((RaidOutcome.DAMAGE, 1.0 - nothing), (RaidOutcome.NO_DAMAGE, nothing))
        ends += [
            (outcome, left, units, chance * share * part)
            for outcome, share in shares
            for units, part in defenders
            if share > 0.0
        ]
    survivors = np.zeros((len(ends), 2, len(UnitType)), dtype=np.int16)
    lost = np.zeros((len(ends), 2), dtype=np.int64)
    for end, (_, *both, _) in enumerate(ends):
        for side, left in zip(Side, both, strict=True):
            lost[end, side] = raid.cost_lost(side, left)
            for place, kind in enumerate(raid.types[side].tolist()):
                if kind >= 0:
                    survivors[end, side, kind] = left[place]
    return Endings(
        np.array([end[0] for end in ends], dtype=np.int8),
        survivors,
        lost,
        np.array([end[-1] for end in ends]),
        np.array([0.0, 1.0, 0.0]) if fought else np.array([1.0, 0.0, 0.0]),
    )
