"""Calls of the exact solvers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from simcore.core.threads import share_out
from simcore.enums import Status
from simcore.rulesets.general_combat import optimal
from simcore.rulesets.general_combat.encoding import ACCUMULATORS, ASSAULT_ACCUMULATORS, RowField, encode
from simcore.rulesets.general_combat.extent import attacker_states, count_states
from simcore.schema import MAX_STATES, SPREAD

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from simcore.rulesets.general_combat.encoding import Assaults, Battles
    from simcore.rulesets.general_combat.params import GeneralCombatScenario
    from simcore.rulesets.general_combat.raid import Raids

__all__ = ["SEA_CAPACITIES", "solve_assaults", "solve_battles", "solve_raids"]

_Found = tuple[npt.NDArray[np.float64], npt.NDArray[np.int64], npt.NDArray[np.uint8]]
"""Expected accumulators, states reached and status of some matchups."""
_COLUMNS = len(ACCUMULATORS) + len(SPREAD)
_AT_A_TIME = 64
"""Most battles in one call of a kernel."""
_LAND_CAPACITY = 1_024
_GROWTH = 8
SEA_CAPACITIES = ((1_000, 60_000), (8_000, 400_000), (64_000, 1_500_000))
"""States of a side and pairs of states for which there is room, one attempt after the other."""


def _in_threads(
    run: Callable[[npt.NDArray[np.int64], _Found], None], rows: npt.NDArray[np.int64], columns: int, threads: int
) -> _Found:
    """Solve matchups in threads, a few at a time: the kernels do without the interpreter's lock."""
    found = (
        np.zeros((len(rows), columns)),
        np.zeros(len(rows), dtype=np.int64),
        np.full(len(rows), Status.UNSET, dtype=np.uint8),
    )

    def solve(low: int, high: int) -> None:
        part = slice(low, high)
        run(rows[part], (found[0][part], found[1][part], found[2][part]))

    share_out(solve, len(rows), threads, most=_AT_A_TIME)
    return found


def solve_battles(arrays: Battles, scenarios: Sequence[GeneralCombatScenario], *, threads: int) -> _Found:
    """Solve battles on land, landings and sea battles.

    Parameters
    ----------
    arrays : Battles
        M rows.
    scenarios : sequence of GeneralCombatScenario
        The same, small enough by `extent.count_states`.
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
    found = np.zeros((m, _COLUMNS)), np.zeros(m, dtype=np.int64), np.full(m, Status.UNSET, dtype=np.uint8)
    at_sea = arrays.rules[:, RowField.SEA] != 0
    decided = np.array([scenario.looks_ahead for scenario in scenarios], dtype=bool)
    for rows, part in (
        *_solve_land(arrays, scenarios, np.flatnonzero(~at_sea & ~decided), threads),
        *_solve_sea(arrays, np.flatnonzero(at_sea & ~decided), threads),
        *_solve_decided(arrays, np.flatnonzero(decided), threads),
    ):
        found[0][rows], found[1][rows], found[2][rows] = part
    return found


def _solve_land(
    arrays: Battles, scenarios: Sequence[GeneralCombatScenario], rows: npt.NDArray[np.int64], threads: int
) -> Iterator[tuple[npt.NDArray[np.int64], _Found]]:
    """Solve battles on land in ever larger tables: most attackers have far fewer states than they could have."""
    from simcore.rulesets.general_combat import solver  # noqa: PLC0415 - compiles kernels
    from simcore.rulesets.general_combat.ends import new_ends  # noqa: PLC0415 - the same

    solve: Any = solver.solve_all
    capacity = _LAND_CAPACITY
    while len(rows):

        def run(some: npt.NDArray[np.int64], found: _Found, room: int = capacity) -> None:
            solve(some, arrays, room, found[0], found[2], found[1], new_ends(0))

        part = _in_threads(run, rows, _COLUMNS, threads)
        yield rows, part
        rows = rows[part[2] == Status.CAPACITY]
        if capacity > max((attacker_states(scenarios[row]) for row in rows), default=0):
            return
        capacity *= _GROWTH


def _solve_sea(
    arrays: Battles, rows: npt.NDArray[np.int64], threads: int
) -> Iterator[tuple[npt.NDArray[np.int64], _Found]]:
    """Solve sea battles in ever larger tables: most need a small one."""
    from simcore.rulesets.general_combat import sea_solver  # noqa: PLC0415 - compiles kernels
    from simcore.rulesets.general_combat.ends import new_ends  # noqa: PLC0415 - the same

    solve: Any = sea_solver.solve_all_at_sea
    for capacity in SEA_CAPACITIES:
        if not len(rows):
            return

        def run(some: npt.NDArray[np.int64], found: _Found, room: tuple[int, int] = capacity) -> None:
            solve(some, arrays, np.array(room, dtype=np.int64), found[0], found[2], found[1], new_ends(0))

        part = _in_threads(run, rows, _COLUMNS, threads)
        yield rows, part
        rows = rows[part[2] == Status.CAPACITY]


def _solve_decided(
    arrays: Battles, rows: npt.NDArray[np.int64], threads: int
) -> Iterator[tuple[npt.NDArray[np.int64], _Found]]:
    """Solve battles in which their own odds decide something."""
    if not len(rows):
        return

    def run(some: npt.NDArray[np.int64], found: _Found) -> None:
        found[0][:], found[1][:], found[2][:] = optimal.solve_decided(arrays, some.tolist())

    yield rows, _in_threads(run, rows, _COLUMNS, threads)


def solve_raids(raids: Raids, scenarios: Sequence[GeneralCombatScenario], *, threads: int) -> _Found:
    """Solve raids; parameters and returns as of `solve_battles`. They are too short to be worth threads."""
    del threads
    from simcore.rulesets.general_combat.distribute import spread_of, swing_of  # noqa: PLC0415 - compiles kernels
    from simcore.rulesets.general_combat.raid_exact import raid_ends, solve_raid  # noqa: PLC0415 - the same

    tally = np.array([solve_raid(raids, row) for row in range(len(scenarios))])
    spread = [spread_of(*swing_of(raid_ends(raids, row))) for row in range(len(scenarios))]
    states = np.array([count_states(scenario) for scenario in scenarios], dtype=np.int64)
    return np.hstack((tally, spread)), states, np.full(len(scenarios), Status.OK, dtype=np.uint8)


def solve_assaults(assaults: Assaults, scenarios: Sequence[GeneralCombatScenario], *, threads: int) -> _Found:
    """Solve assaults with a sea battle; parameters and returns as of `solve_battles`."""
    from simcore.rulesets.general_combat import sea_solver  # noqa: PLC0415 - compiles kernels
    from simcore.rulesets.general_combat.assault_exact import Landing, solve_assault  # noqa: PLC0415 - the same
    from simcore.rulesets.general_combat.distribute import distribute_battle, spread_of, swing_of  # noqa: PLC0415
    from simcore.rulesets.general_combat.ends import new_ends  # noqa: PLC0415 - the same

    solve: Any = sea_solver.solve_all_at_sea

    def solve_landings(landings: list[GeneralCombatScenario]) -> list[Landing] | None:
        if any(count_states(landing) > MAX_STATES for landing in landings):
            return None
        arrays = encode(landings)
        tally, _, status = solve_battles(arrays, landings, threads=1)
        ends = [distribute_battle(arrays, landings, row, cycles=0) for row in range(len(landings))]
        if not (status == Status.OK).all() or None in ends:
            return None
        return [Landing(row, *swing_of(end)) for row, end in zip(tally, ends, strict=True) if end is not None]

    def run(some: npt.NDArray[np.int64], found: _Found) -> None:
        for i, row in enumerate(some.tolist()):
            found[2][i] = Status.CAPACITY
            for capacity in SEA_CAPACITIES:
                ends = new_ends(capacity[1])
                tally, status = np.zeros((1, _COLUMNS)), np.full(1, Status.UNSET, dtype=np.uint8)
                room = np.array(capacity, dtype=np.int64)
                solve(np.array([row]), assaults.sea, room, tally, status, found[1][i : i + 1], ends)
                if status[0] == Status.CAPACITY:
                    continue
                whole = solve_assault(assaults, row, scenarios[row], tally[0], ends, solve_landings)
                if whole is not None:
                    found[0][i] = np.concatenate((whole.tally, spread_of(whole.swing, whole.chance)))
                    found[2][i] = Status.OK
                break

    return _in_threads(run, np.arange(len(scenarios)), len(ASSAULT_ACCUMULATORS) + len(SPREAD), threads)
