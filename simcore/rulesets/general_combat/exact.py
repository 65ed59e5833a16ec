"""Size and call of the exact solver."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from simcore.enums import Side, Status
from simcore.rulesets.general_combat.encoding import ACCUMULATORS, AIRCRAFT, ASSAULT_ACCUMULATORS, RowField, encode
from simcore.schema import MAX_STATES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from simcore.rulesets.general_combat.encoding import Assaults, Battles
    from simcore.rulesets.general_combat.params import GeneralCombatScenario
    from simcore.rulesets.general_combat.raid import Raids

__all__ = ["count_states", "solve_assaults", "solve_battles", "solve_raids"]

_Found = tuple[npt.NDArray[np.float64], npt.NDArray[np.int64], npt.NDArray[np.uint8]]
"""Expected accumulators, states reached and status of some matchups."""
_AT_A_TIME = 16
_LAND_CAPACITY = 1_024
_GROWTH = 8
_SEA_CAPACITIES = ((1_000, 60_000), (8_000, 400_000), (64_000, 1_500_000))
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


def _in_threads(
    run: Callable[[npt.NDArray[np.int64], _Found], None], rows: npt.NDArray[np.int64], columns: int, threads: int
) -> _Found:
    """Solve matchups in threads, a few at a time: the kernels do without the interpreter's lock."""
    found = (
        np.zeros((len(rows), columns)),
        np.zeros(len(rows), dtype=np.int64),
        np.full(len(rows), Status.UNSET, dtype=np.uint8),
    )

    def solve(low: int) -> None:
        part = slice(low, low + _AT_A_TIME)
        run(rows[part], (found[0][part], found[1][part], found[2][part]))

    starts = range(0, len(rows), _AT_A_TIME)
    if threads == 1 or len(starts) <= 1:
        for low in starts:
            solve(low)
    else:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(solve, starts))
    return found


def solve_battles(arrays: Battles, scenarios: Sequence[GeneralCombatScenario], *, threads: int) -> _Found:
    """Solve battles on land, landings and sea battles.

    Parameters
    ----------
    arrays : Battles
        M rows.
    scenarios : sequence of GeneralCombatScenario
        The same, small enough by `count_states`.
    threads : int

    Returns
    -------
    tally : float64 (M, K)
        Expected accumulators of one battle.
    states : int64 (M,)
        States that were reached.
    status : uint8 (M,)
    """
    m = len(scenarios)
    found = np.zeros((m, len(ACCUMULATORS))), np.zeros(m, dtype=np.int64), np.full(m, Status.UNSET, dtype=np.uint8)
    at_sea = arrays.rules[:, RowField.SEA] != 0
    for rows, part in (
        *_solve_land(arrays, scenarios, np.flatnonzero(~at_sea), threads),
        *_solve_sea(arrays, np.flatnonzero(at_sea), threads),
    ):
        found[0][rows], found[1][rows], found[2][rows] = part
    return found


def _solve_land(
    arrays: Battles, scenarios: Sequence[GeneralCombatScenario], rows: npt.NDArray[np.int64], threads: int
) -> Iterator[tuple[npt.NDArray[np.int64], _Found]]:
    """Solve battles on land in ever larger tables: most attackers have far fewer states than they could have."""
    from simcore.rulesets.general_combat import solver  # noqa: PLC0415 - compiles kernels

    solve: Any = solver.solve_all
    most = max((_attacker_states(scenarios[row]) + 1 for row in rows), default=0)
    capacity = _LAND_CAPACITY
    while len(rows):

        def run(some: npt.NDArray[np.int64], found: _Found, room: int = min(capacity, most)) -> None:
            solve(some, arrays, room, found[0], found[2], found[1])

        part = _in_threads(run, rows, len(ACCUMULATORS), threads)
        yield rows, part
        rows = rows[part[2] == Status.CAPACITY]
        if capacity >= most:
            return
        capacity *= _GROWTH


def _solve_sea(
    arrays: Battles, rows: npt.NDArray[np.int64], threads: int
) -> Iterator[tuple[npt.NDArray[np.int64], _Found]]:
    """Solve sea battles in ever larger tables: most need a small one."""
    from simcore.rulesets.general_combat import sea_solver  # noqa: PLC0415 - compiles kernels
    from simcore.rulesets.general_combat.assault_exact import new_ends  # noqa: PLC0415 - the same

    solve: Any = sea_solver.solve_all_at_sea
    for capacity in _SEA_CAPACITIES:
        if not len(rows):
            return

        def run(some: npt.NDArray[np.int64], found: _Found, room: tuple[int, int] = capacity) -> None:
            solve(some, arrays, np.array(room, dtype=np.int64), found[0], found[2], found[1], new_ends(0))

        part = _in_threads(run, rows, len(ACCUMULATORS), threads)
        yield rows, part
        rows = rows[part[2] == Status.CAPACITY]


def solve_raids(raids: Raids, scenarios: Sequence[GeneralCombatScenario], *, threads: int) -> _Found:
    """Solve raids; parameters and returns as of `solve_battles`. They are too short to be worth threads."""
    del threads
    from simcore.rulesets.general_combat.raid_exact import solve_raid  # noqa: PLC0415 - compiles kernels

    tally = np.array([solve_raid(raids, row) for row in range(len(scenarios))])
    states = np.array([count_states(scenario) for scenario in scenarios], dtype=np.int64)
    return tally, states, np.full(len(scenarios), Status.OK, dtype=np.uint8)


def solve_assaults(assaults: Assaults, scenarios: Sequence[GeneralCombatScenario], *, threads: int) -> _Found:
    """Solve assaults with a sea battle; parameters and returns as of `solve_battles`."""
    from simcore.rulesets.general_combat import sea_solver  # noqa: PLC0415 - compiles kernels
    from simcore.rulesets.general_combat.assault_exact import new_ends, solve_assault  # noqa: PLC0415 - the same

    solve: Any = sea_solver.solve_all_at_sea

    def solve_landings(landings: list[GeneralCombatScenario]) -> npt.NDArray[np.float64] | None:
        if any(count_states(landing) > MAX_STATES for landing in landings):
            return None
        tally, _, status = solve_battles(encode(landings), landings, threads=1)
        return tally if (status == Status.OK).all() else None

    def run(some: npt.NDArray[np.int64], found: _Found) -> None:
        for i, row in enumerate(some.tolist()):
            found[2][i] = Status.CAPACITY
            for capacity in _SEA_CAPACITIES:
                ends = new_ends(capacity[1])
                tally, status = np.zeros((1, len(ACCUMULATORS))), np.full(1, Status.UNSET, dtype=np.uint8)
                room = np.array(capacity, dtype=np.int64)
                solve(np.array([row]), assaults.sea, room, tally, status, found[1][i : i + 1], ends)
                if status[0] == Status.CAPACITY:
                    continue
                whole = solve_assault(assaults, row, scenarios[row], tally[0], ends, solve_landings)
                if whole is not None:
                    found[0][i], found[2][i] = whole, Status.OK
                break

    return _in_threads(run, np.arange(len(scenarios)), len(ASSAULT_ACCUMULATORS), threads)
