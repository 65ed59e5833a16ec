"""Calls of the kernels: runs of games, games kept one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from simcore.core.swing import BINS
from simcore.core.threads import share_out
from simcore.enums import Status
from simcore.rulesets.force_order.edition import UNITS
from simcore.rulesets.force_order.skirmish import kernel
from simcore.rulesets.force_order.skirmish.encoding import ACCUMULATORS
from simcore.rulesets.force_order.skirmish.layout import Rule, TraceColumn

if TYPE_CHECKING:
    from simcore.rulesets.force_order.skirmish.encoding import Games
    from simcore.schema import Tallies

__all__ = ["record_games", "tally_games", "trace_game"]

NO_SCRIPT = np.zeros(0, dtype=np.int64)
NO_TRACE = np.zeros((0, 0), dtype=np.int64)
_Tallied = tuple["Tallies", npt.NDArray[np.uint8], npt.NDArray[np.int64]]


def _new_records(count: int) -> kernel.Records:
    """Return room for `count` games kept one by one."""
    return kernel.Records(
        outcome=np.full(count, -1, dtype=np.int8),
        turns=np.zeros(count, dtype=np.int32),
        survivors=np.zeros((count, 2, len(UNITS)), dtype=np.int16),
        cost_lost=np.zeros((count, 2), dtype=np.int32),
    )


def _run(
    games: Games,
    keys: npt.NDArray[np.uint64],
    segments: npt.NDArray[np.int64],
    records: kernel.Records,
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
        run(segments[here], games, keys, tally[here], status[here], where[here], records, NO_SCRIPT, NO_TRACE)

    # A run of games takes seconds: one at a time, so that an interrupt is answered soon.
    share_out(resolve, len(segments), threads, most=1)
    return tally, status, where


def tally_games(
    games: Games, keys: npt.NDArray[np.uint64], segments: npt.NDArray[np.int64], *, threads: int
) -> _Tallied:
    """Play runs of games.

    Parameters
    ----------
    games : Games
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
    return _run(games, keys, segments, _new_records(0), threads=threads)


def record_games(
    games: Games, keys: npt.NDArray[np.uint64], row: int, first: int, count: int
) -> tuple[dict[str, npt.NDArray[Any]], Tallies, npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """Play games of one matchup and keep each.

    Parameters
    ----------
    games : Games
    keys : uint64 (M, 2)
    row, first, count : int

    Returns
    -------
    records : dict of ndarray
        By the fields of `kernel.Records`.
    tally, status, where
        As of `tally_games`, one run.
    """
    records = _new_records(count)
    segments = np.array([[row, first, count]], dtype=np.int64)
    found = _run(games, keys, segments, records, threads=1)
    return records._asdict(), *found


def trace_game(
    games: Games, key: npt.NDArray[np.uint64], battle: int, script: npt.NDArray[np.int64] | None
) -> tuple[npt.NDArray[np.int64], Tallies, int]:
    """Play one game of the first matchup and write down all that happens.

    Parameters
    ----------
    games : Games
    key : uint64 (2,)
    battle : int
    script : int64 (D,) or None
        Entries in place of random words.

    Returns
    -------
    trace : int64 (R, 51 + 2 P)
        By `layout.TraceColumn`.
    tally : int64 (K,)
    used : int
        Entries of the script that were used; if one is missing or does not fit, minus its number, from 1.
    """
    number = int(games.numbers[0].sum())
    rows = number + int(games.rules[0, Rule.TURN_CAP]) + 2
    trace = np.full((rows, TraceColumn.PIECES + 2 * number), -1, dtype=np.int64)
    tally = np.zeros((1, len(ACCUMULATORS) + BINS), dtype=np.int64)
    status, where = np.full(1, Status.UNSET, dtype=np.uint8), np.zeros(1, dtype=np.int64)
    keys = np.ascontiguousarray(key).reshape(1, 2)
    segments = np.array([[0, battle, 1]], dtype=np.int64)
    given = NO_SCRIPT if script is None else np.ascontiguousarray(script)
    run: Any = kernel.resolve_all
    run(segments, games, keys, tally, status, where, _new_records(0), given, trace)
    counted = tally[0, : len(ACCUMULATORS)]
    return trace[trace[:, TraceColumn.EVENT] >= 0], counted, 0 if script is None else -int(where[0])
