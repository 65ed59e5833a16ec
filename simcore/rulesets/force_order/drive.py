"""Calls of the kernels: runs of attacks, attacks kept one by one, exact sums."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from simcore.core.chain import Sums, describe_spread
from simcore.core.swing import BINS
from simcore.core.threads import share_out
from simcore.enums import Status
from simcore.rulesets.force_order import kernel
from simcore.rulesets.force_order.edition import UNITS
from simcore.rulesets.force_order.encoding import ACCUMULATORS
from simcore.schema import SPREAD, Endings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simcore.rulesets.force_order.encoding import Mixes
    from simcore.schema import Tallies

__all__ = ["distribute_attack", "new_meetings", "record_attacks", "solve_mixes", "tally_attacks"]

MINE = UNITS.index("mine")
_Tallied = tuple["Tallies", npt.NDArray[np.uint8], npt.NDArray[np.int64]]


def new_meetings(count: int) -> kernel.Meetings:
    """Return room for `count` attacks kept one by one."""
    return kernel.Meetings(
        outcome=np.full(count, -1, dtype=np.int8),
        cycles=np.zeros(count, dtype=np.int32),
        survivors=np.zeros((count, 2, len(UNITS)), dtype=np.int16),
        cost_lost=np.zeros((count, 2), dtype=np.int32),
    )


def _run(
    mixes: Mixes,
    keys: npt.NDArray[np.uint64],
    segments: npt.NDArray[np.int64],
    meetings: kernel.Meetings | None,
    *,
    threads: int,
) -> _Tallied:
    tally = np.zeros((len(segments), len(ACCUMULATORS) + BINS), dtype=np.int64)
    status = np.full(len(segments), Status.UNSET, dtype=np.uint8)
    where = np.zeros(len(segments), dtype=np.int64)
    run: Any = kernel.resolve_all
    segments = np.ascontiguousarray(segments)

    def resolve(low: int, high: int) -> None:
        here = slice(low, high)
        run(segments[here], mixes, MINE, keys, tally[here], status[here], where[here], meetings)

    share_out(resolve, len(segments), threads)
    return tally, status, where


def tally_attacks(
    mixes: Mixes, keys: npt.NDArray[np.uint64], segments: npt.NDArray[np.int64], *, threads: int
) -> _Tallied:
    """Draw and resolve runs of attacks.

    Parameters
    ----------
    mixes : Mixes
    keys : uint64 (M, 2)
    segments : int64 (N, 3)
        Row, first battle, number of battles.
    threads : int

    Returns
    -------
    tally : int64 (N, K + BINS)
        Accumulators, and counts of swings behind them.
    status : uint8 (N,)
    where : int64 (N,)
    """
    return _run(mixes, keys, segments, None, threads=threads)


def record_attacks(
    mixes: Mixes, keys: npt.NDArray[np.uint64], row: int, first: int, count: int
) -> tuple[dict[str, npt.NDArray[Any]], Tallies, npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """Draw and resolve attacks of one matchup and keep each.

    Parameters
    ----------
    mixes : Mixes
    keys : uint64 (M, 2)
    row, first, count : int

    Returns
    -------
    records : dict of ndarray
        By the fields of `kernel.Meetings`.
    tally, status, where
        As of `tally_attacks`, one run.
    """
    meetings = new_meetings(count)
    segments = np.array([[row, first, count]], dtype=np.int64)
    found = _run(mixes, keys, segments, meetings, threads=1)
    return meetings._asdict(), *found


def _ways(mixes: Mixes, row: int) -> int:
    return 3 * int(mixes.numbers[row].prod())


def solve_mixes(
    mixes: Mixes, scenarios: Sequence[Any]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
    """Return the exact expected accumulators of one attack of each matchup.

    Parameters
    ----------
    mixes : Mixes
    scenarios : sequence of ForceOrderScenario
        The same M.

    Returns
    -------
    tally : float64 (M, K + 6)
    states : int64 (M,)
        Ways to end with a probability above 0.
    status : uint8 (M,)
    """
    m = len(scenarios)
    columns = len(ACCUMULATORS)
    tally = np.zeros((m, columns + len(SPREAD)))
    states = np.zeros(m, dtype=np.int64)
    none = np.zeros(0, dtype=np.int64)
    for row in range(m):
        swing, chance = np.zeros(_ways(mixes, row), dtype=np.int64), np.zeros(_ways(mixes, row))
        n = kernel.solve_attacks(mixes, row, MINE, tally[row, :columns], swing, chance, None)
        sums = Sums(none, none, swing[:n], chance[:n], np.array([n], dtype=np.int64))
        describe_spread(sums, tally[row, columns:])
        states[row] = n
    return tally, states, np.full(m, Status.OK, dtype=np.uint8)


def distribute_attack(mixes: Mixes, row: int) -> Endings:
    """Return every way in which an attack between two mixes may end.

    Parameters
    ----------
    mixes : Mixes
    row : int

    Returns
    -------
    Endings
    """
    ways = _ways(mixes, row)
    meetings, chance = new_meetings(ways), np.zeros(ways)
    tally, swing = np.zeros(len(ACCUMULATORS)), np.zeros(ways, dtype=np.int64)
    n = kernel.solve_attacks(mixes, row, MINE, tally, swing, chance, meetings)
    return Endings(
        meetings.outcome[:n],
        meetings.survivors[:n],
        meetings.cost_lost[:n].astype(np.int64),
        chance[:n],
        np.array([0.0, 1.0, 0.0]),
    )
