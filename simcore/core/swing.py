"""How often each swing occurred: whole numbers by bins, which add up whatever the battles were cut into.

A swing is the defender's cost lost minus the attacker's. Swings of a matchup are multiples of the greatest common
divisor of its unit costs, the step. Bin k holds the swings from k times the width up to, not including, k + 1 times:
0 begins a bin, so that losses are always counted exactly. The width is that multiple of the step with which all that
the matchup allows fits into `BINS`; nearly always the step itself, and then every swing has a bin of its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["BINS", "BinField", "SwingCounts", "Swings", "common_steps", "note_bins", "place_bins"]

BINS: Final = 512
"""Most bins of a matchup."""
_PERCENTS: Final = np.array([5, 25, 50, 75, 95])
"""Levels of the quantiles of `simcore.schema.SPREAD`."""

Integers = npt.NDArray[np.int64]


class BinField(IntEnum):
    """Columns of what `place_bins` returns."""

    STEP = 0
    WIDTH = 1
    BELOW = 2
    """Bins of swings below 0."""


def common_steps(costs: Integers) -> Integers:
    """Return the greatest common divisor of the costs of each matchup, 0 where nothing costs anything.

    Parameters
    ----------
    costs : int64 (M, ...)

    Returns
    -------
    int64 (M,)
    """
    found: Integers = np.gcd.reduce(costs.reshape(len(costs), math.prod(costs.shape[1:])), axis=1, initial=0)
    return found


def place_bins(costs: Integers, steps: Integers) -> Integers:
    """Return the bins of matchups.

    Parameters
    ----------
    costs : int64 (M, S)
        Most that each side can lose.
    steps : int64 (M,)
        Greatest common divisor of what can be lost piece by piece, as of `common_steps`.

    Returns
    -------
    int64 (M, 3)
        By `BinField`.

    Examples
    --------
    >>> place_bins(np.array([[9, 6], [4_000, 2_000]]), np.array([3, 5])).tolist()
    [[3, 3, 3], [5, 15, 267]]
    """
    steps = np.maximum(steps, 1)
    own, enemy = costs[:, 0] // steps, costs[:, 1] // steps

    def bins(factors: Integers) -> Integers:
        return -(-own // factors) + enemy // factors + 1

    # The smallest factor: the number of bins never grows with it, and with `high` they certainly fit.
    low = np.ones_like(steps)
    high = np.maximum(-(-(own + enemy) // (BINS - 2)), 1)
    while (low < high).any():
        middle = (low + high) // 2
        fits = bins(middle) <= BINS
        high = np.where(fits, middle, high)
        low = np.where(fits, low, middle + 1)
    return np.stack((steps, steps * low, -(-own // low)), axis=1)


def note_bins(rows: Integers, column: int, bins: Integers, columns: int) -> None:
    """Write down what a kernel has to know of the bins of each matchup.

    Parameters
    ----------
    rows : int64 (M, any)
        Parameters of the matchups.
    column : int
        Gets the width of a bin, and the column behind it the column of a tally that counts the bin of 0.
    bins : int64 (M, 3)
        By `BinField`.
    columns : int
        Accumulators, behind which the bins stand in a tally.
    """
    rows[:, column] = bins[:, BinField.WIDTH]
    rows[:, column + 1] = columns + bins[:, BinField.BELOW]


@dataclass(frozen=True, eq=False)
class SwingCounts:
    """How often each swing occurred in the battles of a matchup.

    Attributes
    ----------
    step, width : int
        Swings are multiples of the step; a bin holds as many of them as fit into the width.
    first : int
        Bin of the first count.
    counts : int64 (n,)
        Battles by bin; neither the first nor the last is 0.
    """

    step: int
    width: int
    first: int
    counts: Integers

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SwingCounts):
            return NotImplemented
        mine, theirs = ((one.step, one.width, one.first) for one in (self, other))
        return mine == theirs and np.array_equal(self.counts, other.counts)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"SwingCounts({self.battles:,} battles, {len(self.counts)} bins of {self.width})"

    @property
    def battles(self) -> int:
        """All battles counted."""
        return int(self.counts.sum())

    @property
    def losses(self) -> int:
        """Battles with a swing below 0."""
        return int(self.counts[: max(0, -self.first)].sum())

    @property
    def rounding(self) -> float:
        """How far a swing may lie from the middle of its bin: 0 where each has its own."""
        return (self.width - self.step) / 2

    @property
    def swings(self) -> npt.NDArray[np.float64]:
        """Swing that each bin stands for, the middle of those in it, float64 (n,)."""
        bins = np.arange(self.first, self.first + len(self.counts), dtype=np.float64)
        return bins * self.width + self.rounding

    def plus(self, more: SwingCounts) -> SwingCounts:
        """Return this and further battles of the same matchup together.

        Parameters
        ----------
        more : SwingCounts
            With bins of the same width.

        Returns
        -------
        SwingCounts

        Raises
        ------
        ValueError
            When the bins differ.
        """
        if (self.step, self.width) != (more.step, more.width):
            raise ValueError(f"bins of {self.width} in steps of {self.step}, and of {more.width} in {more.step}")
        first = min(self.first, more.first)
        end = max(self.first + len(self.counts), more.first + len(more.counts))
        counts = np.zeros(end - first, dtype=np.int64)
        for part in (self, more):
            counts[part.first - first : part.first - first + len(part.counts)] += part.counts
        return SwingCounts(self.step, self.width, first, counts)

    def quantiles(self) -> list[float]:
        """Return the quantiles that `simcore.schema.SPREAD` names.

        Returns
        -------
        list of float
            For each level the smallest swing that is not exceeded in at least that share of the battles.

        Examples
        --------
        >>> SwingCounts(3, 3, -1, np.array([5, 1, 14])).quantiles()
        [-3.0, -3.0, 3.0, 3.0, 3.0]
        """
        reached = self.counts.cumsum()
        wanted = -(-_PERCENTS * reached[-1] // 100)
        found: list[float] = self.swings[np.searchsorted(reached, wanted)].tolist()
        return found


@dataclass(frozen=True, eq=False)
class Swings:
    """How often each swing occurred in many runs of battles, as flat arrays. n rows.

    Attributes
    ----------
    heads : int64 (n, 3)
        Step, width and bin of the first count; zeros where nothing was counted.
    ends : int64 (n,)
        Where the counts of each row end.
    counts : int64 (all,)
        The counts of all rows, one row behind the other.
    """

    heads: Integers
    ends: Integers
    counts: Integers

    def __len__(self) -> int:
        return len(self.heads)

    @classmethod
    def nothing(cls, rows: int) -> Swings:
        """Return rows in which nothing was counted."""
        return cls(np.zeros((rows, 3), dtype=np.int64), np.zeros(rows, dtype=np.int64), np.zeros(0, dtype=np.int64))

    @classmethod
    def from_bins(cls, bins: Integers, counts: Integers) -> Swings:
        """Leave out what is 0 at either end of each row.

        Parameters
        ----------
        bins : int64 (n, 3)
            By `BinField`.
        counts : int64 (n, BINS)
            Battles by bin, from the lowest bin of each row on.

        Returns
        -------
        Swings
        """
        rows, columns = np.nonzero(counts)
        counted, begins = np.unique(rows, return_index=True)
        first, last = columns[begins], columns[np.append(begins[1:], len(rows))[: len(begins)] - 1]
        heads = np.zeros((len(counts), 3), dtype=np.int64)
        heads[counted] = bins[counted][:, [BinField.STEP, BinField.WIDTH, BinField.BELOW]]
        heads[counted, 2] = first - heads[counted, 2]
        lengths = np.zeros(len(counts), dtype=np.int64)
        lengths[counted] = last - first + 1
        ends = np.cumsum(lengths)
        shift = np.zeros(len(counts), dtype=np.int64)
        shift[counted] = (ends - lengths)[counted] - first
        found = np.zeros(int(lengths.sum()), dtype=np.int64)
        found[shift[rows] + columns] = counts[rows, columns]
        return cls(heads, ends, found)

    @property
    def lengths(self) -> Integers:
        """Number of counts of each row, int64 (n,)."""
        return np.diff(self.ends, prepend=0)

    @property
    def losses(self) -> Integers:
        """Battles of each row with a swing below 0, int64 (n,)."""
        lengths = self.lengths
        owner = np.repeat(np.arange(len(self)), lengths)
        place = np.arange(len(self.counts)) - (self.ends - lengths)[owner]
        found = np.zeros(len(self), dtype=np.int64)
        np.add.at(found, owner, np.where(self.heads[owner, 2] + place < 0, self.counts, 0))
        return found

    def row(self, i: int) -> SwingCounts | None:
        """Return one row, None where nothing was counted."""
        return self.added_up([i], [i + 1])[0]

    def added_up(self, starts: Sequence[int], stops: Sequence[int]) -> list[SwingCounts | None]:
        """Add up runs of rows, each of one matchup.

        Parameters
        ----------
        starts, stops : sequence of int
            First row of each run, and the row behind its last.

        Returns
        -------
        list of SwingCounts or None
            None where a row has nothing: the counts would not be of all battles.
        """
        begins = self.ends - self.lengths
        found: list[SwingCounts | None] = []
        for start, stop in zip(starts, stops, strict=True):
            if not self.heads[start:stop, 1].all():
                found.append(None)
                continue
            step, width, first = self.heads[start].tolist()
            if stop == start + 1:
                found.append(SwingCounts(step, width, first, self.counts[begins[start] : self.ends[start]]))
                continue
            firsts = self.heads[start:stop, 2]
            lengths = self.ends[start:stop] - begins[start:stop]
            first = int(firsts.min())
            places = np.repeat(firsts - first - (begins[start:stop] - begins[start]), lengths)
            places += np.arange(len(places))
            counts = np.zeros(int((firsts + lengths).max()) - first, dtype=np.int64)
            np.add.at(counts, places, self.counts[begins[start] : self.ends[stop - 1]])
            found.append(SwingCounts(step, width, first, counts))
        return found
