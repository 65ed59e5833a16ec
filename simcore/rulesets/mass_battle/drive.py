"""Calls of the kernel: which battles go through which driver."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from simcore.core.dice import build_dice_table
from simcore.core.swing import BINS
from simcore.core.threads import share_out
from simcore.enums import Status
from simcore.rulesets.mass_battle import kernel
from simcore.rulesets.mass_battle.encoding import ACCUMULATORS, Armies
from simcore.rulesets.mass_battle.trace import Records, new_records

if TYPE_CHECKING:
    from simcore.core.dice import DiceTable
    from simcore.schema import Tallies

__all__ = ["record_battles", "run_one", "tally_battles"]

_Tallied = tuple["Tallies", npt.NDArray[np.uint8], npt.NDArray[np.int64]]


@lru_cache(maxsize=16)
def _dice_table(odds: bytes) -> DiceTable:
    rows = np.frombuffer(odds, dtype=np.int64).reshape(-1, 3).tolist()
    return build_dice_table((a, b, n) for a, b, n in rows)


def _run(
    arrays: Armies,
    keys: npt.NDArray[np.uint64],
    segments: npt.NDArray[np.int64],
    records: Records | None,
    trace: npt.NDArray[np.int32] | None,
    script: npt.NDArray[np.int64] | None,
    *,
    threads: int,
) -> _Tallied:
    tally = np.zeros((len(segments), len(ACCUMULATORS) + BINS), dtype=np.int64)
    status = np.full(len(segments), Status.UNSET, dtype=np.uint8)
    where = np.zeros(len(segments), dtype=np.int64)
    run: Any = kernel.resolve_all
    table = _dice_table(arrays.odds.tobytes())

    def resolve(low: int, high: int) -> None:
        here = slice(low, high)
        run(segments[here], arrays, table, keys, tally[here], status[here], where[here], records, trace, script)

    share_out(resolve, len(segments), threads)
    return tally, status, where


def tally_battles(
    arrays: Armies, keys: npt.NDArray[np.uint64], segments: npt.NDArray[np.int64], *, threads: int
) -> _Tallied:
    """Resolve runs of battles.

    Parameters
    ----------
    arrays : Armies
    keys : uint64 (M, 2)
    segments : int64 (N, 3)
        Matchup row, first battle, number of battles.
    threads : int

    Returns
    -------
    tally : int64 (N, K + BINS)
        Accumulators, and counts of swings behind them.
    status : uint8 (N,)
    where : int64 (N,)
    """
    return _run(arrays, keys, np.ascontiguousarray(segments[:, :3]), None, None, None, threads=threads)


def run_one(
    arrays: Armies,
    keys: npt.NDArray[np.uint64],
    row: int,
    first: int,
    records: Records,
    trace: npt.NDArray[np.int32] | None,
    script: npt.NDArray[np.int64] | None,
) -> _Tallied:
    """Resolve ``len(records.outcome)`` battles of one matchup and record each of them.

    Parameters
    ----------
    arrays : Armies
    keys : uint64 (M, 2)
    row, first : int
        Matchup and number of the first battle.
    records : Records
        Output.
    trace, script
        As in `kernel.resolve_chunk`.

    Returns
    -------
    tally, status, where
        As in `tally_battles`, with one row.
    """
    segments = np.array([[row, first, len(records.outcome)]], dtype=np.int64)
    return _run(arrays, keys, segments, records, trace, script, threads=1)


def record_battles(
    arrays: Armies, keys: npt.NDArray[np.uint64], row: int, first: int, count: int
) -> tuple[dict[str, npt.NDArray[Any]], Tallies, npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """Resolve battles of one matchup and keep each.

    Parameters
    ----------
    arrays : Armies
    keys : uint64 (M, 2)
    row, first, count : int
        Matchup, first battle, number of battles.

    Returns
    -------
    dict of ndarray
        The fields of `Records`.
    tally, status, where
        As in `tally_battles`.
    """
    records = new_records(count)
    result = run_one(arrays, keys, row, first, records, None, None)
    return records._asdict(), *result
