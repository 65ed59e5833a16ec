"""Calls of the kernels: which battles go through which driver, and how an assault is put together from two."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from simcore.core.dice import build_dice_table
from simcore.core.swing import BINS
from simcore.core.threads import share_out
from simcore.enums import Status
from simcore.rulesets.general_combat import kernel, raid_kernel
from simcore.rulesets.general_combat.encoding import (
    ACCUMULATORS,
    ASSAULT_ACCUMULATORS,
    Assaults,
    Battles,
    RowField,
)
from simcore.rulesets.general_combat.optimal import leave_table
from simcore.rulesets.general_combat.raid import RAID_ACCUMULATORS, Raids
from simcore.rulesets.general_combat.trace import EventField, RaidRecords, Records, new_raid_records, new_records

if TYPE_CHECKING:
    from simcore.core.dice import DiceTable
    from simcore.schema import Tallies

__all__ = [
    "add_sea_battles",
    "record_assaults",
    "record_battles",
    "record_raids",
    "run_one",
    "run_raid",
    "tally_assaults",
    "tally_battles",
    "tally_raids",
]

_ASSAULT_BATTLES = 2**18
"""Assaults per call: their sea battles are recorded one by one, about 130 bytes each."""

_Tallied = tuple["Tallies", npt.NDArray[np.uint8], npt.NDArray[np.int64]]


@lru_cache(maxsize=16)
def _dice_table(odds: bytes) -> DiceTable:
    rows = np.frombuffer(odds, dtype=np.int64).reshape(-1, 3).tolist()
    return build_dice_table((a, b, n) for a, b, n in rows)


def _run(
    arrays: Battles,
    keys: npt.NDArray[np.uint64],
    segments: npt.NDArray[np.int64],
    columns: int,
    *,
    threads: int,
    records: Records | None,
    sea: int | None,
    sea_records: Records | None,
) -> _Tallied:
    tally = np.zeros((len(segments), columns + BINS), dtype=np.int64)
    status = np.full(len(segments), Status.UNSET, dtype=np.uint8)
    where = np.zeros(len(segments), dtype=np.int64)
    run: Any = kernel.resolve_all
    leave = leave_table(arrays, np.unique(segments[:, 0]).tolist())
    table = _dice_table(arrays.odds.tobytes())

    def resolve(low: int, high: int) -> None:
        here = slice(low, high)
        run(
            segments[here], arrays, table, keys, tally[here], status[here], where[here],
            records, None, None, sea, sea_records, leave,
        )  # fmt: skip

    share_out(resolve, len(segments), threads)
    return tally, status, where


def tally_battles(
    arrays: Battles, keys: npt.NDArray[np.uint64], segments: npt.NDArray[np.int64], *, threads: int
) -> _Tallied:
    """Resolve runs of battles; land battles, sea battles and landings are compiled apart.

    Parameters
    ----------
    arrays : Battles
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
    tally = np.zeros((len(segments), len(ACCUMULATORS) + BINS), dtype=np.int64)
    status = np.full(len(segments), Status.UNSET, dtype=np.uint8)
    where = np.zeros(len(segments), dtype=np.int64)
    at_sea = arrays.rules[segments[:, 0], RowField.SEA] != 0
    landing = arrays.rules[segments[:, 0], RowField.LANDING] != 0
    nothing = new_records(0)
    for mask, records, sea, sea_records in (
        (~at_sea & ~landing, None, None, None),
        (at_sea, nothing, 1, None),
        (landing, None, None, nothing),
    ):
        picked = np.flatnonzero(mask)
        if not len(picked):
            continue
        rows = np.zeros((len(picked), 4), dtype=np.int64)
        rows[:, :3] = segments[picked]
        tally[picked], status[picked], where[picked] = _run(
            arrays, keys, rows, len(ACCUMULATORS), threads=threads, records=records, sea=sea, sea_records=sea_records
        )
    return tally, status, where


def tally_assaults(
    arrays: Assaults, keys: npt.NDArray[np.uint64], segments: npt.NDArray[np.int64], *, threads: int
) -> _Tallied:
    """Resolve runs of assaults: all their sea battles, then the landings with what is left of each.

    Parameters
    ----------
    arrays : Assaults
    keys, segments, parallel
        As in `tally_battles`.

    Returns
    -------
    tally, status, where
        As in `tally_battles`, with the accumulators of assaults.
    """
    tally = np.zeros((len(segments), len(ASSAULT_ACCUMULATORS) + BINS), dtype=np.int64)
    status = np.full(len(segments), Status.UNSET, dtype=np.uint8)
    where = np.zeros(len(segments), dtype=np.int64)
    ends = np.cumsum(segments[:, 2])
    low = 0
    while low < len(segments):
        done = ends[low - 1] if low else 0
        high = max(low + 1, int(np.searchsorted(ends, done + _ASSAULT_BATTLES, side="right")))
        part = slice(low, high)
        rows = np.zeros((high - low, 4), dtype=np.int64)
        rows[:, :3] = segments[part]
        rows[1:, 3] = np.cumsum(segments[part, 2])[:-1]
        tally[part], status[part], where[part] = _run_assaults(arrays, keys, rows, threads=threads)
        low = high
    return tally, status, where


def _run_assaults(
    arrays: Assaults, keys: npt.NDArray[np.uint64], rows: npt.NDArray[np.int64], *, threads: int
) -> _Tallied:
    sea_records = new_records(int(rows[:, 2].sum()))
    _, status, where = _run(
        arrays.sea, keys, rows, len(ACCUMULATORS), threads=threads, records=sea_records, sea=1, sea_records=None
    )
    good = np.flatnonzero(status == Status.OK)
    tally = np.zeros((len(rows), len(ASSAULT_ACCUMULATORS) + BINS), dtype=np.int64)
    if len(good):
        landings = np.ascontiguousarray(rows[good])
        tally[good], status[good], where[good] = _run(
            arrays.land,
            keys,
            landings,
            len(ASSAULT_ACCUMULATORS),
            threads=threads,
            records=None,
            sea=None,
            sea_records=sea_records,
        )
    return tally, status, where


def run_one(
    arrays: Battles,
    key: npt.NDArray[np.uint64],
    row: int,
    first: int,
    records: Records,
    trace: npt.NDArray[np.int32],
    script: npt.NDArray[np.int64],
    *,
    columns: int = len(ACCUMULATORS),
    sea_records: Records | None = None,
) -> _Tallied:
    """Resolve ``len(records.outcome)`` battles of one matchup and record each of them.

    Parameters
    ----------
    arrays : Battles
    key : uint64 (M, 2)
    row, first : int
        Matchup and number of the first battle.
    records : Records
        Output.
    trace, script
        As in `kernel.resolve_chunk`.
    columns : int
        Number of accumulators.
    sea_records : Records or None
        Sea battles before the landings.

    Returns
    -------
    tally, status, where
        As in `tally_battles`, with one row.
    """
    segments = np.array([[row, first, len(records.outcome), 0]], dtype=np.int64)
    tally = np.zeros((1, columns + BINS), dtype=np.int64)
    status = np.full(1, Status.UNSET, dtype=np.uint8)
    where = np.zeros(1, dtype=np.int64)
    if sea_records is None and arrays.rules[row, RowField.LANDING]:
        sea_records = new_records(0)
    sea = 1 if arrays.rules[row, RowField.SEA] else None
    run: Any = kernel.resolve_all
    leave = leave_table(arrays, [row])
    table = _dice_table(arrays.odds.tobytes())
    run(segments, arrays, table, key, tally, status, where, records, trace, script, sea, sea_records, leave)
    return tally, status, where


def _no_trace() -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    return np.zeros((1, len(EventField)), dtype=np.int32), np.zeros(1, dtype=np.int64)


def _kept(records: Records) -> dict[str, npt.NDArray[Any]]:
    data = records._asdict()
    del data["cargo"]
    return data


def record_battles(
    arrays: Battles, keys: npt.NDArray[np.uint64], row: int, first: int, count: int
) -> tuple[dict[str, npt.NDArray[Any]], Tallies, npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """Resolve battles of one matchup and keep each.

    Parameters
    ----------
    arrays : Battles
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
    result = run_one(arrays, keys, row, first, records, *_no_trace())
    return _kept(records), *result


def record_assaults(
    arrays: Assaults, keys: npt.NDArray[np.uint64], row: int, first: int, count: int
) -> tuple[dict[str, npt.NDArray[Any]], Tallies, npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """Resolve assaults of one matchup and keep each; parameters and returns as of `record_battles`."""
    at_sea, records = new_records(count), new_records(count)
    tally, status, where = run_one(arrays.sea, keys, row, first, at_sea, *_no_trace())
    if status[0] == Status.OK:
        columns = len(ASSAULT_ACCUMULATORS)
        tally, status, where = run_one(
            arrays.land, keys, row, first, records, *_no_trace(), columns=columns, sea_records=at_sea
        )
    add_sea_battles(records, at_sea)
    return _kept(records), tally, status, where


def add_sea_battles(records: Records, at_sea: Records) -> None:
    """Add the sea battles of assaults to the records of their landings, in place."""
    for name in ("survivors", "cost_lost", "damaged", "submerged", "no_landing"):
        total = getattr(records, name)
        total += getattr(at_sea, name)


def tally_raids(
    raids: Raids, keys: npt.NDArray[np.uint64], segments: npt.NDArray[np.int64], *, threads: int
) -> _Tallied:
    """Resolve runs of raids.

    Parameters
    ----------
    raids : Raids
    keys, segments, parallel
        As in `tally_battles`.

    Returns
    -------
    tally, status, where
        As in `tally_battles`, with the accumulators of raids.
    """
    rows = np.zeros((len(segments), 4), dtype=np.int64)
    rows[:, :3] = segments[:, :3]
    tally = np.zeros((len(rows), len(RAID_ACCUMULATORS) + BINS), dtype=np.int64)
    status = np.full(len(rows), Status.UNSET, dtype=np.uint8)
    where = np.zeros(len(rows), dtype=np.int64)
    run: Any = raid_kernel.resolve_all_raids
    table = _dice_table(raids.odds.tobytes())

    def resolve(low: int, high: int) -> None:
        here = slice(low, high)
        run(rows[here], raids, table, keys, tally[here], status[here], where[here], None, None, None)

    share_out(resolve, len(rows), threads)
    return tally, status, where


def run_raid(
    raids: Raids,
    keys: npt.NDArray[np.uint64],
    row: int,
    first: int,
    records: RaidRecords,
    trace: npt.NDArray[np.int32] | None,
    script: npt.NDArray[np.int64] | None,
) -> _Tallied:
    """Resolve ``len(records.outcome)`` raids of one matchup and record each of them; parameters as of `run_one`."""
    segments = np.array([[row, first, len(records.outcome), 0]], dtype=np.int64)
    tally = np.zeros((1, len(RAID_ACCUMULATORS) + BINS), dtype=np.int64)
    status = np.full(1, Status.UNSET, dtype=np.uint8)
    where = np.zeros(1, dtype=np.int64)
    run: Any = raid_kernel.resolve_all_raids
    run(segments, raids, _dice_table(raids.odds.tobytes()), keys, tally, status, where, records, trace, script)
    return tally, status, where


def record_raids(
    raids: Raids, keys: npt.NDArray[np.uint64], row: int, first: int, count: int
) -> tuple[dict[str, npt.NDArray[Any]], Tallies, npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """Resolve raids of one matchup and keep each; parameters and returns as of `record_battles`."""
    records = new_raid_records(count)
    result = run_raid(raids, keys, row, first, records, None, None)
    return records._asdict(), *result
