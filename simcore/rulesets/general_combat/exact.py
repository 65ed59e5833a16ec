"""Size and call of the exact solver."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from simcore.enums import Side, Status
from simcore.rulesets.general_combat.encoding import ACCUMULATORS, AIRCRAFT, ASSAULT_ACCUMULATORS, RowField
from simcore.schema import MAX_STATES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simcore.rulesets.general_combat.encoding import Assaults, Battles
    from simcore.rulesets.general_combat.params import GeneralCombatScenario
    from simcore.rulesets.general_combat.raid import Raids

__all__ = ["count_states", "solve_assaults", "solve_battles", "solve_raids"]

_SEA_CAPACITIES = ((2_000, 8_000), (16_000, 100_000), (64_000, 1_500_000))
"""States of a side and pairs of states for which there is room, one attempt after the other."""


def _attacker_states(scenario: GeneralCombatScenario) -> int:
    """Return how many states the attacker can be in at most: what is left, and who has left an assault."""
    units = scenario.own_counts(Side.ATTACKER)
    total = sum(units.values())
    aircraft = [units.get(unit, 0) for unit in AIRCRAFT]
    guns = scenario.own_counts(Side.DEFENDER).get("aa_gun", 0)
    after_fire = prod(n + 1 for n in aircraft) if guns else 1
    states = after_fire * (total + 1)
    # Each state may be left in part once, and what stays can then be lost unit by unit.
    return states * (total + 2) if scenario.may_leave_in_part else states


def count_states(scenario: GeneralCombatScenario) -> int:
    """Return how many states the exact solver would have to hold at most.

    -1 where it finds out on the way: the states of sea battles depend on both sides.

    Parameters
    ----------
    scenario : GeneralCombatScenario

    Returns
    -------
    int
    """
    if scenario.terrain == "raid":
        units = scenario.own_counts(Side.ATTACKER), scenario.own_counts(Side.DEFENDER)
        return prod(n + 1 for side in units for unit, n in side.items() if unit in AIRCRAFT)
    if scenario.terrain == "sea" or scenario.sea is not None:
        return -1
    defenders = 1 + sum(group.size for group in scenario.loss_groups(Side.DEFENDER))
    return _attacker_states(scenario) * defenders


def solve_battles(
    arrays: Battles, scenarios: Sequence[GeneralCombatScenario], *, parallel: bool
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
    """Solve battles on land, landings and sea battles.

    Parameters
    ----------
    arrays : Battles
        M rows.
    scenarios : sequence of GeneralCombatScenario
        The same, small enough by `count_states`.
    parallel : bool

    Returns
    -------
    tally : float64 (M, K)
        Expected accumulators of one battle.
    states : int64 (M,)
        States that were reached.
    status : uint8 (M,)
    """
    m = len(scenarios)
    tally = np.zeros((m, len(ACCUMULATORS)))
    status = np.full(m, Status.UNSET, dtype=np.uint8)
    states = np.zeros(m, dtype=np.int64)
    at_sea = arrays.rules[:, RowField.SEA] != 0
    _solve_land(arrays, scenarios, np.flatnonzero(~at_sea), tally, states, status, parallel=parallel)
    _solve_sea(arrays, np.flatnonzero(at_sea), tally, states, status, parallel=parallel)
    return tally, states, status


def _solve_land(
    arrays: Battles,
    scenarios: Sequence[GeneralCombatScenario],
    rows: npt.NDArray[np.int64],
    tally: npt.NDArray[np.float64],
    states: npt.NDArray[np.int64],
    status: npt.NDArray[np.uint8],
    *,
    parallel: bool,
) -> None:
    if not len(rows):
        return
    from simcore.rulesets.general_combat import solver  # noqa: PLC0415 - compiles kernels

    capacity = np.array([_attacker_states(scenarios[row]) + 1 for row in rows], dtype=np.int64)
    run: Any = solver.solve_parallel if parallel else solver.solve_serial
    part = np.zeros((len(rows), tally.shape[1])), np.full(len(rows), Status.UNSET, np.uint8), np.zeros_like(rows)
    run(rows, arrays, capacity, *part)
    tally[rows], status[rows], states[rows] = part


def _solve_sea(
    arrays: Battles,
    rows: npt.NDArray[np.int64],
    tally: npt.NDArray[np.float64],
    states: npt.NDArray[np.int64],
    status: npt.NDArray[np.uint8],
    *,
    parallel: bool,
) -> None:
    """Solve sea battles in ever larger tables: most need a small one."""
    if not len(rows):
        return
    from simcore.rulesets.general_combat import sea_solver  # noqa: PLC0415 - compiles kernels

    run: Any = sea_solver.solve_sea_parallel if parallel else sea_solver.solve_sea_serial
    for capacity in _SEA_CAPACITIES:
        part = np.zeros((len(rows), tally.shape[1])), np.full(len(rows), Status.UNSET, np.uint8), np.zeros_like(rows)
        run(rows, arrays, np.array(capacity, dtype=np.int64), *part, None)
        tally[rows], status[rows], states[rows] = part
        rows = rows[part[1] == Status.CAPACITY]
        if not len(rows):
            return


def solve_raids(
    raids: Raids, scenarios: Sequence[GeneralCombatScenario], *, parallel: bool
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
    """Solve raids; parameters and returns as of `solve_battles`. They are too short to be worth threads."""
    del parallel
    from simcore.rulesets.general_combat.raid_exact import solve_raid  # noqa: PLC0415 - compiles kernels

    tally = np.array([solve_raid(raids, row) for row in range(len(scenarios))])
    states = np.array([count_states(scenario) for scenario in scenarios], dtype=np.int64)
    return tally, states, np.full(len(scenarios), Status.OK, dtype=np.uint8)


def solve_assaults(
    assaults: Assaults, scenarios: Sequence[GeneralCombatScenario], *, parallel: bool
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
    """Solve assaults with a sea battle; parameters and returns as of `solve_battles`."""
    from simcore.rulesets.general_combat import sea_solver  # noqa: PLC0415 - compiles kernels
    from simcore.rulesets.general_combat.assault_exact import new_ends, solve_assault  # noqa: PLC0415 - the same

    m = len(scenarios)
    tally = np.zeros((m, len(ASSAULT_ACCUMULATORS)))
    states = np.zeros(m, dtype=np.int64)
    status = np.full(m, Status.CAPACITY, dtype=np.uint8)
    run: Any = sea_solver.solve_sea_serial

    def solve_land(arrays: Battles, landings: list[GeneralCombatScenario]) -> Any:
        if any(count_states(landing) > MAX_STATES for landing in landings):
            return None, None, np.full(len(landings), Status.CAPACITY, dtype=np.uint8)
        return solve_battles(arrays, landings, parallel=parallel)

    for row, scenario in enumerate(scenarios):
        for capacity in _SEA_CAPACITIES:
            ends = new_ends(capacity[1])
            part = np.zeros((1, len(ACCUMULATORS))), np.full(1, Status.UNSET, np.uint8), np.zeros(1, np.int64)
            run(np.array([row]), assaults.sea, np.array(capacity, dtype=np.int64), *part, ends)
            if part[1][0] != Status.CAPACITY:
                found = solve_assault(assaults, row, scenario, part[0][0], ends, solve_land)
                if found is not None:
                    tally[row], status[row] = found, Status.OK
                states[row] = part[2][0]
                break
    return tally, states, status
