"""Every way in which a battle may end: the solvers' ends, with units and costs in place of lane rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from simcore.core.chain import Sums, convolve, describe_spread
from simcore.enums import Side, Status
from simcore.rulesets.general_combat.assault_exact import SeaBattle, landing_of, without_landing
from simcore.rulesets.general_combat.encoding import ACCUMULATORS, LAND_UNITS, UNITS, Outcome, RowField, encode
from simcore.rulesets.general_combat.optimal import looks_ahead, play_out
from simcore.rulesets.general_combat.raid_exact import raid_ends
from simcore.rulesets.general_combat.steps import lands
from simcore.schema import MAX_STATES, SPREAD, Endings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simcore.rulesets.general_combat.encoding import Assaults, Battles
    from simcore.rulesets.general_combat.ends import Ends
    from simcore.rulesets.general_combat.params import GeneralCombatScenario
    from simcore.rulesets.general_combat.raid import Raids

__all__ = [
    "NUMBERS_OF_CYCLES",
    "distribute_assault",
    "distribute_battle",
    "distribute_raid",
    "find_ends",
    "read_ends",
    "spread_of",
    "swing_of",
]

NUMBERS_OF_CYCLES = 258
"""Numbers of cycles that are told apart: 0 to 256, and one for more."""
_ENDS = (4_096, 65_536, MAX_STATES)
"""Ends for which there is room, one attempt after the other."""
_N_TYPES = len(UNITS)


def find_ends(arrays: Battles, row: int, cycles: int) -> Ends | None:
    """Return the ends of one battle, None where there are too many states or ends.

    Parameters
    ----------
    arrays : Battles
    row : int
    cycles : int
        Numbers of cycles to tell apart, 0 for none.

    Returns
    -------
    Ends or None
    """
    if looks_ahead(arrays, row):
        return play_out(arrays, row, cycles=cycles).ends
    from simcore.rulesets.general_combat.ends import new_ends  # noqa: PLC0415 - compiles kernels
    from simcore.rulesets.general_combat.exact import SEA_CAPACITIES  # noqa: PLC0415 - the same

    tally = np.zeros((1, len(ACCUMULATORS)))
    reached = np.zeros(1, dtype=np.int64)
    rows = np.array([row], dtype=np.int64)
    rooms: list[Any]
    if arrays.rules[row, RowField.SEA]:
        from simcore.rulesets.general_combat import sea_solver  # noqa: PLC0415 - compiles kernels

        solve: Any = sea_solver.solve_all_at_sea
        rooms = [(np.array(room, dtype=np.int64), room[1]) for room in SEA_CAPACITIES]
    else:
        from simcore.rulesets.general_combat import solver  # noqa: PLC0415 - compiles kernels

        solve = solver.solve_all
        rooms = [(MAX_STATES, n) for n in _ENDS]
    for room, most in rooms:
        ends = new_ends(most, cycles)
        status = np.full(1, Status.UNSET, dtype=np.uint8)
        tally[:] = 0.0
        solve(rows, arrays, room, tally, status, reached, ends)
        if status[0] == Status.OK:
            return ends
    return None


def read_ends(arrays: Battles, row: int, ends: Ends) -> Endings:
    """Return ends with units by type and costs in place of lane rows."""
    n = int(ends.count[0])
    units = ends.units[:n].astype(np.int64)
    survivors = np.zeros((n, 2, _N_TYPES), dtype=np.int16)
    lost = np.zeros((n, 2), dtype=np.int64)
    for side in Side:
        kinds = arrays.group_type[row, side]
        for g in np.flatnonzero(kinds >= 0).tolist():
            survivors[:, side, kinds[g]] += units[:, side, g].astype(np.int16)
            gone = int(arrays.group_count[row, side, g]) - units[:, side, g]
            lost[:, side] += gone * int(arrays.group_cost[row, side, g])
    return Endings(ends.outcome[:n].copy(), survivors, lost, ends.chance[:n].copy(), ends.by_cycle)


def swing_of(endings: Endings) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Return the swing of each end, int64 (E,), and its probability, float64 (E,)."""
    return endings.cost_lost[:, 1] - endings.cost_lost[:, 0], endings.chance


def spread_of(swing: npt.NDArray[np.int64], chance: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return what `SPREAD` names of a distribution of the swing, float64 (6,); values may stand there twice."""
    out = np.zeros(len(SPREAD))
    none = np.zeros(0, dtype=np.int64)
    describe_spread(Sums(none, none, swing, chance, np.array([len(swing)], dtype=np.int64)), out)
    return out


def distribute_battle(
    arrays: Battles, scenarios: Sequence[GeneralCombatScenario], row: int, *, cycles: int = NUMBERS_OF_CYCLES
) -> Endings | None:
    """Return the ends of a battle on land, a landing or a sea battle.

    Parameters
    ----------
    arrays : Battles
    scenarios : sequence of GeneralCombatScenario
        The same.
    row : int
    cycles : int
        Numbers of cycles to tell apart, 0 for none.

    Returns
    -------
    Endings or None
        None where there are too many states or ends.
    """
    del scenarios
    ends = find_ends(arrays, row, cycles)
    return read_ends(arrays, row, ends) if ends is not None else None


def _no_battle(scenario: GeneralCombatScenario, outcome: int) -> Endings:
    """Return the one end of a battle on land that does not take place."""
    whole, left = without_landing(scenario, outcome)
    never = np.zeros(NUMBERS_OF_CYCLES)
    never[0] = 1.0
    return Endings(
        np.array([whole], dtype=np.int8),
        left[np.newaxis].astype(np.int16),
        np.zeros((1, 2), dtype=np.int64),
        np.ones(1),
        never,
    )


def distribute_assault(assaults: Assaults, scenarios: Sequence[GeneralCombatScenario], row: int) -> Endings | None:
    """Return the ends of an assault with a sea battle; parameters and returns as of `distribute_battle`.

    What is left of the sea battle and of the landing are independent given how the former ended and the cargo
    that arrived.
    """
    scenario = scenarios[row]
    ends = find_ends(assaults.sea, row, NUMBERS_OF_CYCLES)
    if ends is None:
        return None
    sea = SeaBattle(assaults, row, scenario, ends)
    last = NUMBERS_OF_CYCLES - 1
    cycle = np.minimum(np.rint(sea.cycles / sea.chance).astype(np.int64), last)
    found: list[Endings] = []
    cycle_chance = np.zeros(NUMBERS_OF_CYCLES)
    for group in sea.groups():
        outcome, cargo = int(sea.outcome[group[0]]), sea.cargo[group[0]]
        won = bool(lands(outcome))
        landing = landing_of(scenario, dict(zip(LAND_UNITS, cargo.tolist(), strict=True)), won=won)
        land: Endings | None
        if landing is not None and outcome != Outcome.UNFINISHED:
            land = distribute_battle(encode([landing]), [landing], 0)
        else:
            land = _no_battle(scenario, outcome)
        if land is None:
            return None
        left = sea.left[group].copy()
        if not won:
            left[:, 0, : len(LAND_UNITS)] += cargo
        n = len(group)
        rows, place = np.unique(np.column_stack((left.reshape(n, -1), sea.lost[group])), axis=0, return_inverse=True)
        chance = np.zeros(len(rows))
        np.add.at(chance, place.reshape(-1), sea.chance[group])
        if sum(len(part.chance) for part in found) + len(rows) * len(land.chance) > MAX_STATES:
            return None
        at_sea = rows[:, :-2].reshape(-1, 1, 2, _N_TYPES)
        found.append(
            Endings(
                np.tile(land.outcome, len(rows)),
                (at_sea + land.survivors).reshape(-1, 2, _N_TYPES).astype(np.int16),
                (rows[:, np.newaxis, -2:] + land.cost_lost).reshape(-1, 2),
                (chance[:, np.newaxis] * land.chance).reshape(-1),
                cycle_chance,
            )
        )
        by_cycle = np.zeros(NUMBERS_OF_CYCLES)
        np.add.at(by_cycle, cycle[group], sea.chance[group])
        both = np.zeros(2 * NUMBERS_OF_CYCLES)
        convolve(by_cycle, last, land.cycle_chance, last, both)
        cycle_chance[:last] += both[:last]
        cycle_chance[last] += both[last:].sum()
    outcomes, survivors, lost, chances, _ = zip(*found, strict=True)
    return Endings(
        np.concatenate(outcomes),
        np.concatenate(survivors),
        np.concatenate(lost),
        np.concatenate(chances),
        cycle_chance,
    )


def distribute_raid(raids: Raids, scenarios: Sequence[GeneralCombatScenario], row: int) -> Endings:
    """Return the ends of a raid; parameters and returns as of `distribute_battle`."""
    del scenarios
    return raid_ends(raids, row)
