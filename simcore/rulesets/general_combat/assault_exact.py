"""Exact distribution of assaults with a sea battle: the sea battle, then the landing for each cargo that may arrive."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from simcore.enums import Side
from simcore.rulesets.general_combat.encoding import (
    ACCUMULATORS,
    ASSAULT_ACCUMULATORS,
    LAND_UNITS,
    OUTCOMES,
    UNITS,
    Accumulator,
    AssaultAccumulator,
    Outcome,
)
from simcore.rulesets.general_combat.steps import conclude_without_landing, lands

if TYPE_CHECKING:
    from collections.abc import Callable

    from simcore.rulesets.general_combat.encoding import Assaults
    from simcore.rulesets.general_combat.ends import Ends
    from simcore.rulesets.general_combat.params import GeneralCombatScenario

__all__ = ["Landing", "SeaBattle", "landing_of", "solve_assault", "without_landing"]

_Floats = npt.NDArray[np.float64]
_N_TYPES = len(UNITS)
_LOST = (Accumulator.ATTACKER_LOST, Accumulator.DEFENDER_LOST)


class Landing(NamedTuple):
    """A battle on land that was solved: its expected accumulators, and the distribution of its swing."""

    tally: _Floats
    swing: npt.NDArray[np.int64]
    chance: _Floats


class SeaBattle:
    """How the sea battle of an assault may end, each end with what it means for the landing."""

    def __init__(self, assaults: Assaults, row: int, scenario: GeneralCombatScenario, ends: Ends) -> None:
        sea = assaults.sea
        n = int(ends.count[0])
        self.chance: _Floats = ends.chance[:n]
        self.cycles: _Floats = ends.cycles[:n]
        self.outcome = ends.outcome[:n].astype(np.int64)
        units = ends.units[:n].astype(np.int64)
        self.cargo = units[:, 0] @ sea.group_cargo[row, 0].astype(np.int64)
        self.left = np.zeros((n, 2, _N_TYPES), dtype=np.int64)
        lost = np.zeros((n, 2), dtype=np.int64)
        for side in Side:
            kinds = sea.group_type[row, side]
            for g in np.flatnonzero(kinds >= 0).tolist():
                self.left[:, side, kinds[g]] += units[:, side, g]
                start = int(sea.group_count[row, side, g])
                lost[:, side] += (start - units[:, side, g]) * int(sea.group_cost[row, side, g])
        aboard = np.array([scenario.landed.get(unit, 0) for unit in LAND_UNITS], dtype=np.int64)
        price = [scenario.rules.units[unit].cost if unit in scenario.rules.units else 0 for unit in LAND_UNITS]
        lost[:, 0] += (aboard - self.cargo) @ np.array(price, dtype=np.int64)
        self.lost = lost

    def groups(self) -> list[npt.NDArray[np.int64]]:
        """Return the ends that are alike for the landing: same outcome, same cargo left."""
        found: dict[tuple[int, ...], list[int]] = {}
        for end, key in enumerate(zip(self.outcome.tolist(), *self.cargo.T.tolist(), strict=True)):
            found.setdefault(key, []).append(end)
        return [np.array(ends, dtype=np.int64) for ends in found.values()]


def landing_of(scenario: GeneralCombatScenario, cargo: dict[str, int], *, won: bool) -> GeneralCombatScenario | None:
    """Return the battle on land as a scenario of its own, None if nobody attacks there."""
    units = scenario.own_counts(Side.ATTACKER)
    landed = scenario.landed
    others = {unit: n - landed.get(unit, 0) for unit, n in units.items() if n > landed.get(unit, 0)}
    ashore = {unit: n for unit, n in cargo.items() if n} if won else {}
    total = {unit: others.get(unit, 0) + ashore.get(unit, 0) for unit in UNITS}
    total = {unit: n for unit, n in total.items() if n}
    if not total:
        return None
    ships = scenario.attacker.bombard if scenario.bombardment() else {}
    side = scenario.attacker.model_copy(update={"units": total, "landed": ashore, "bombard": ships})
    return scenario.model_copy(update={"attacker": side, "sea": None})


def without_landing(scenario: GeneralCombatScenario, outcome: int) -> tuple[int, npt.NDArray[np.int64]]:
    """Return how an assault ends in which nobody fights on land: the outcome, and who survives there.

    Parameters
    ----------
    scenario : GeneralCombatScenario
    outcome : int
        Of the sea battle.

    Returns
    -------
    int, int64 (S, T)
    """
    left = np.zeros((2, _N_TYPES), dtype=np.int64)
    for group in scenario.loss_groups(Side.DEFENDER):
        left[Side.DEFENDER, UNITS.index(group.unit)] += group.size
    if outcome == Outcome.UNFINISHED:
        for unit, n in scenario.own_counts(Side.ATTACKER).items():
            left[Side.ATTACKER, UNITS.index(unit)] += n - scenario.landed.get(unit, 0)
    return int(conclude_without_landing(outcome, int(left[Side.DEFENDER].sum()))), left


def _no_landing(scenario: GeneralCombatScenario, outcome: int) -> Landing:
    """Return a battle on land that does not take place; all on land survive."""
    acc = np.zeros(len(ACCUMULATORS))
    whole, left = without_landing(scenario, outcome)
    acc[Accumulator.BATTLES] = 1.0
    acc[Accumulator.OUTCOMES + whole] = 1.0
    column = Accumulator.SURVIVORS + whole * 2 * _N_TYPES
    acc[column : column + 2 * _N_TYPES] += left.reshape(-1)
    return Landing(acc, np.zeros(1, dtype=np.int64), np.ones(1))


def solve_assault(
    assaults: Assaults,
    row: int,
    scenario: GeneralCombatScenario,
    sea_tally: _Floats,
    ends: Ends,
    solve_landings: Callable[[list[GeneralCombatScenario]], list[Landing] | None],
) -> Landing | None:
    """Solve one assault; returns None if a landing has too many states.

    Parameters
    ----------
    assaults : Assaults
    row : int
    scenario : GeneralCombatScenario
    sea_tally : float64 (K,)
        Expected accumulators of the sea battle.
    ends : Ends
        How it may end.
    solve_landings : callable
        Solves battles on land; returns None where they have too many states.

    Returns
    -------
    Landing or None
        Of the whole assault: accumulators by `ASSAULT_ACCUMULATORS`, and its swing.
    """
    sea = SeaBattle(assaults, row, scenario, ends)
    groups = sea.groups()
    parts: list[Landing] = []
    fought: list[bool] = []
    todo: list[GeneralCombatScenario] = []
    for group in groups:
        outcome = int(sea.outcome[group[0]])
        cargo = dict(zip(LAND_UNITS, sea.cargo[group[0]].tolist(), strict=True))
        landing = landing_of(scenario, cargo, won=bool(lands(outcome)))
        fights = landing is not None and outcome != Outcome.UNFINISHED
        fought.append(fights)
        if landing is not None and fights:
            todo.append(landing)
        parts.append(_no_landing(scenario, outcome))
    if todo:
        solved = solve_landings(todo)
        if solved is None:
            return None
        rows = iter(solved)
        parts = [next(rows) if fights else part for part, fights in zip(parts, fought, strict=True)]
    acc = np.zeros(len(ASSAULT_ACCUMULATORS))
    swings, chances = [], []
    for group, land, fights in zip(groups, parts, fought, strict=True):
        _add_group(acc, sea, group, land.tally[: len(ACCUMULATORS)], fights=fights)
        at_sea, place = np.unique(sea.lost[group, 1] - sea.lost[group, 0], return_inverse=True)
        chance = np.zeros(len(at_sea))
        np.add.at(chance, place, sea.chance[group])
        swings.append(np.add.outer(at_sea, land.swing).reshape(-1))
        chances.append(np.multiply.outer(chance, land.chance).reshape(-1))
    acc[Accumulator.CYCLES] += sea_tally[Accumulator.CYCLES]
    acc[Accumulator.CYCLES_SQ] += sea_tally[Accumulator.CYCLES_SQ]
    ships = slice(Accumulator.SUBMERGED, Accumulator.RETREATED)
    acc[ships] += sea_tally[ships]
    outcomes = slice(Accumulator.OUTCOMES, Accumulator.OUTCOMES + len(OUTCOMES))
    acc[AssaultAccumulator.SEA_OUTCOMES : AssaultAccumulator.SEA_OUTCOMES + len(OUTCOMES)] = sea_tally[outcomes]
    acc[AssaultAccumulator.SEA_CYCLES] = sea_tally[Accumulator.CYCLES]
    acc[AssaultAccumulator.SEA_CYCLES_SQ] = sea_tally[Accumulator.CYCLES_SQ]
    return Landing(acc, np.concatenate(swings), np.concatenate(chances))


def _add_group(acc: _Floats, sea: SeaBattle, group: npt.NDArray[np.int64], land: _Floats, *, fights: bool) -> None:
    """Add the ends of a group: what is left of the sea battle and of the landing are independent within it."""
    chance = sea.chance[group]
    weight = float(chance.sum())
    if weight == 0.0:
        return
    n = len(ACCUMULATORS)
    outcomes = land[Accumulator.OUTCOMES : Accumulator.OUTCOMES + len(OUTCOMES)]
    # Squares are added below, with the products of both battles.
    plain = weight * land
    for mean in (*_LOST, Accumulator.SWING, Accumulator.CYCLES):
        plain[mean + 1] = 0.0
    acc[:n] += plain
    left = (chance[:, None, None] * sea.left[group]).sum(axis=0)
    outcome, cargo = int(sea.outcome[group[0]]), sea.cargo[group[0]]
    if not lands(outcome):
        left[0, : len(LAND_UNITS)] += weight * cargo
    for o, share in enumerate(outcomes.tolist()):
        column = Accumulator.SURVIVORS + o * 2 * _N_TYPES
        acc[column : column + 2 * _N_TYPES] += share * left.reshape(-1)
    lost = sea.lost[group].astype(np.float64)
    for side, column in enumerate(_LOST):
        own = lost[:, side]
        acc[column] += float((chance * own).sum())
        acc[column + 1] += float((chance * own * own).sum())
        acc[column + 1] += 2.0 * float((chance * own).sum()) * land[column] + weight * land[column + 1]
        acc[AssaultAccumulator.SEA_LOST + 2 * side] += float((chance * own).sum())
        acc[AssaultAccumulator.SEA_LOST + 2 * side + 1] += float((chance * own * own).sum())
    swing = lost[:, 1] - lost[:, 0]
    column = Accumulator.SWING
    acc[column] += float((chance * swing).sum())
    acc[column + 1] += float((chance * swing * swing).sum())
    acc[column + 1] += 2.0 * float((chance * swing).sum()) * land[column] + weight * land[column + 1]
    column = Accumulator.CYCLES
    acc[column + 1] += 2.0 * float(sea.cycles[group].sum()) * land[column] + weight * land[column + 1]
    landed = int(cargo.sum()) if lands(outcome) else 0
    acc[AssaultAccumulator.LANDINGS] += weight * (landed > 0)
    acc[AssaultAccumulator.LANDED] += weight * landed
    if fights:
        acc[AssaultAccumulator.LAND_BATTLES] += weight
        first = AssaultAccumulator.LAND_OUTCOMES
        acc[first : first + len(OUTCOMES)] += weight * outcomes
        acc[AssaultAccumulator.LAND_CYCLES] += weight * land[Accumulator.CYCLES]
        acc[AssaultAccumulator.LAND_CYCLES_SQ] += weight * land[Accumulator.CYCLES_SQ]
