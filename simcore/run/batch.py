"""Reading the batches of a finished run: what every matchup did in each run of battles.

The tables hold sums over all battles. What two runs have in common, battle for battle, can only be seen in the parts
behind them, which keep the sums of every batch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from simcore.run.store import PARTS, read_rows
from simcore.schema import SPREAD

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

__all__ = ["LOSSES", "Batches", "read_batches", "read_outcomes"]

LOSSES: Final = "swing.negative"
"""Battles with a swing below 0: no accumulator, but counted among the swings, which are read only for it."""

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Batches:
    """Sums of runs of battles, in the order of matchups and battles.

    Attributes
    ----------
    matchups, first, battles : int64 (n,)
        Matchup number, first battle and number of battles of each row.
    sums : int64 (n, k)
        The accumulators that were asked for.
    """

    matchups: Integers
    first: Integers
    battles: Integers
    sums: Integers


def read_batches(
    folder: Path, accumulators: Sequence[str], wanted: Sequence[str], matchups: Collection[int] | None = None
) -> Batches:
    """Read the batches of the matchups that were simulated.

    Parameters
    ----------
    folder : Path
        The results folder.
    accumulators : sequence of str
        Names of all accumulators of the run, as the manifest has them.
    wanted : sequence of str
        Those to return; `LOSSES` may be among them.
    matchups : collection of int, optional
        Numbers of the matchups to return; all by default.

    Returns
    -------
    Batches
        Files that cannot be trusted are passed over, and so are the rows of failed and solved matchups. Nothing here
        knows whether all battles are there, or whether a file belongs to another sweep: the reader compares the sums
        with the tables. So are files of older versions, which did not count swings, where `LOSSES` are wanted.
    """
    kept_sums = [name for name in wanted if name != LOSSES]
    places = [accumulators.index(name) for name in kept_sums]
    needs_swings = len(kept_sums) < len(wanted)
    chosen = None if matchups is None else np.unique(np.fromiter(matchups, dtype=np.int64))
    segments = [np.zeros((0, 4), dtype=np.int64)]
    sums = [np.zeros((0, len(wanted)), dtype=np.int64)]
    for path in sorted((folder / PARTS).glob("*.parquet")):
        rows = read_rows(path, len(accumulators) + len(SPREAD), with_swings=needs_swings)
        if rows is None or (needs_swings and rows.swings is None):
            continue
        kept = rows.segments[:, 3] > 0
        if rows.errors:
            kept &= ~np.isin(rows.segments[:, 0], list(rows.errors))
        if chosen is not None:
            kept &= np.isin(rows.segments[:, 0], chosen)
        segments.append(rows.segments[kept])
        found = np.zeros((int(kept.sum()), len(wanted)), dtype=np.int64)
        found[:, [name != LOSSES for name in wanted]] = rows.tallies[kept][:, places]
        if rows.swings is not None:
            found[:, [name == LOSSES for name in wanted]] = rows.swings.losses[kept, None]
        sums.append(found)
    every, values = np.concatenate(segments), np.concatenate(sums)
    order = np.lexsort((every[:, 3], every[:, 2], every[:, 0]))
    every, values = every[order], values[order]
    # The same battles may lie in two files, left by runs of different length: the longer row counts.
    is_last = np.ones(len(every), dtype=bool)
    is_last[:-1] = (every[1:][:, [0, 2]] != every[:-1][:, [0, 2]]).any(axis=1)
    every, values = every[is_last], values[is_last]
    return Batches(every[:, 0], every[:, 2], every[:, 3], values)


def read_outcomes(
    folder: Path, accumulators: Sequence[str], matchups: Collection[int]
) -> dict[tuple[int, int], npt.NDArray[np.int8]]:
    """Read how single battles of some matchups ended, where that was kept.

    Parameters
    ----------
    folder : Path
        The results folder.
    accumulators : sequence of str
        Names of all accumulators of the run.
    matchups : collection of int
        Numbers of the matchups.

    Returns
    -------
    dict
        Codes of outcomes by matchup number and first battle, one entry per row of the parts; where two files have the
        same row, the longer one.
    """
    found: dict[tuple[int, int], npt.NDArray[np.int8]] = {}
    chosen = np.unique(np.fromiter(matchups, dtype=np.int64))
    for path in sorted((folder / PARTS).glob("*.parquet")):
        rows = read_rows(path, len(accumulators) + len(SPREAD))
        if rows is None or not rows.outcomes:
            continue
        for i in np.flatnonzero(np.isin(rows.segments[:, 0], chosen)).tolist():
            key = int(rows.segments[i, 0]), int(rows.segments[i, 2])
            codes = np.frombuffer(rows.outcomes[i], dtype=np.int8)
            if len(codes) > len(found.get(key, ())):
                found[key] = codes
    return found
