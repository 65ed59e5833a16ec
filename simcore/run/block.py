"""Rows of many solved matchups at once: what `table` does row by row, done column by column.

Sweeps of exact battles have up to millions of matchups, and each takes less time to be solved than a row takes to be
put together in Python. Every figure is computed in the same order as there, so it has the same bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from simcore.result import ROUNDING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["LARGEST_WEIGHT", "Block", "SolvedSums", "Survivors", "matchup_figures", "strings", "survivor_columns"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

LARGEST_WEIGHT: Final = 2**53
"""Whole weights below it are floats without rounding."""
_SIDES: Final = ("attacker", "defender")


class Block(NamedTuple):
    """Solved matchups of one grid point. B matchups.

    Attributes
    ----------
    matchups : int64 (B,)
        Numbers, ascending.
    places : tuple of int64 (B,)
        Position of the mix of each side.
    figures : float64 (B, K + 6)
        Expected accumulators, and what is told of the swing.
    """

    matchups: Integers
    places: tuple[Integers, Integers]
    figures: Floats


def strings(names: Sequence[str], places: Integers) -> pa.Array:
    """Return names by their positions.

    Parameters
    ----------
    names : sequence of str
        Few.
    places : int64 (n,)

    Returns
    -------
    string (n,)
    """
    return pa.array(names, pa.string()).take(pa.array(places))


def expected_sds(totals: Floats, squares: Floats) -> Floats:
    """Return `simcore.result.expected_sd` of many figures that all battles have.

    Parameters
    ----------
    totals, squares : float64 (n,)
        Expected values of each figure and of its square.

    Returns
    -------
    float64 (n,)
    """
    variances = squares - totals * totals
    return np.where(variances > ROUNDING * squares, np.sqrt(np.maximum(variances, 0.0)), 0.0)


def matchup_figures(
    figures: Floats,
    outcomes: Sequence[int],
    moments: Sequence[tuple[int, int]],
    means: Sequence[int],
    spread: Sequence[int],
) -> list[pa.Array]:
    """Return the columns of figures of solved matchups, from the shares of outcomes on.

    Parameters
    ----------
    figures : float64 (B, K + 6)
        Of a `Block`.
    outcomes, means, spread : sequence of int
        Positions of figures that are shown as they are; of the last NaN is left out.
    moments : sequence of (int, int)
        Positions of sums and sums of squares.

    Returns
    -------
    list of float64 (B,)
    """
    columns = [figures[:, k] for k in outcomes]
    for total, squares in moments:
        columns += [figures[:, total], expected_sds(figures[:, total], figures[:, squares])]
    columns += [figures[:, k] for k in means]
    found = [pa.array(np.ascontiguousarray(column)) for column in columns]
    return found + [pa.array(np.ascontiguousarray(figures[:, k]), from_pandas=True) for k in spread]


class Survivors:
    """Which units of a side can be lost at a grid point, mix by mix.

    Parameters
    ----------
    find : callable
        ``find(place, matchup) -> [(name, number at the start, positions of the figures by outcome)]`` of a mix and some
        matchup of it.
    """

    def __init__(self, find: Callable[[int, int], list[tuple[str, int, list[int]]]]) -> None:
        self._find = find
        self._units: dict[str, int] = {}
        self._positions: list[list[int]] = []
        self._of_mix: dict[int, tuple[Integers, Integers]] = {}

    @property
    def names(self) -> list[str]:
        """Names of the units met so far."""
        return list(self._units)

    @property
    def positions(self) -> Integers:
        """Positions of their figures, int64 (units, outcomes)."""
        return np.array(self._positions, dtype=np.int64)

    def of(self, place: int, matchup: int) -> tuple[Integers, Integers]:
        """Return units, as positions in `names`, and their numbers at the start of a mix.

        Parameters
        ----------
        place : int
            Position of the mix.
        matchup : int
            Number of a matchup of it.

        Returns
        -------
        units, starts : int64 (n,)
        """
        if place not in self._of_mix:
            units, starts = [], []
            for name, start, positions in self._find(place, matchup):
                if name not in self._units:
                    self._units[name] = len(self._units)
                    self._positions.append(positions)
                units.append(self._units[name])
                starts.append(start)
            self._of_mix[place] = np.array(units, dtype=np.int64), np.array(starts, dtype=np.int64)
        return self._of_mix[place]


def survivor_columns(
    block: Block, sides: tuple[Survivors, Survivors], outcomes: Sequence[int], names: Sequence[str]
) -> tuple[list[pa.Array], Integers]:
    """Return the columns of survivors: of each unit over all battles and by outcome that may occur.

    Parameters
    ----------
    block : Block
    sides : tuple of Survivors
        Attacker and defender.
    outcomes : sequence of int
        Positions of the probabilities of outcomes.
    names : sequence of str
        Name for all battles, then those of the outcomes.

    Returns
    -------
    columns : list of arrays (n,)
        Matchup, side, unit, outcome, battles, number at the start and mean.
    ends : int64 (B,)
        Where the rows of each matchup end.
    """
    numbers = block.matchups.tolist()
    of_sides = [map(side.of, places.tolist(), numbers) for side, places in zip(sides, block.places, strict=True)]
    pieces = [piece for pair in zip(*of_sides, strict=True) for piece in pair]
    lengths = np.array([len(units) for units, _ in pieces], dtype=np.int64).reshape(-1, 2)
    if not lengths.any():
        return [], np.zeros(len(block.matchups), dtype=np.int64)
    units = np.concatenate([units for units, _ in pieces])
    starts = np.concatenate([starts for _, starts in pieces])
    side = np.repeat(np.tile(np.arange(2), len(lengths)), lengths.ravel())
    row = np.repeat(np.arange(len(lengths)), lengths.sum(axis=1))
    # Units of both sides in one list: those of the attacker first.
    before = np.array([0, len(sides[0].names)])
    positions = np.concatenate([own.positions.reshape(-1, len(outcomes)) for own in sides])
    unit = units + before[side]
    figures = block.figures
    left = figures[row[:, np.newaxis], positions[unit]]
    times = figures[row][:, list(outcomes)]
    means = np.empty((len(row), 1 + len(outcomes)))
    # Added up in this order everywhere.
    means[:, 0] = left[:, 0]
    for k in range(1, len(outcomes)):
        means[:, 0] += left[:, k]
    is_shown = np.ones(means.shape, dtype=bool)
    is_shown[:, 1:] = times != 0
    np.divide(left, times, out=means[:, 1:], where=is_shown[:, 1:])
    entry, outcome = np.nonzero(is_shown)
    columns = [
        pa.array(block.matchups[row[entry]].astype(np.int32)),
        strings(_SIDES, side[entry]),
        strings([*sides[0].names, *sides[1].names], unit[entry]),
        strings(names, outcome),
        pa.array(np.zeros(len(entry), dtype=np.int64)),
        pa.array(starts[entry].astype(np.int32)),
        pa.array(means[is_shown]),
    ]
    ends = np.searchsorted(row[entry], np.arange(len(lengths)), side="right")
    return columns, ends


@dataclass(slots=True)
class _Extreme:
    """The least of some figure for each mix, and against whom; of equal ones the first."""

    shares: Floats
    opponents: Integers

    def take(self, own: Integers, enemy: Integers, shares: Floats) -> None:
        order = np.lexsort((np.arange(len(own)), shares, own))
        first = np.flatnonzero(np.diff(own[order], prepend=-1))
        at = order[first]
        better = at[shares[at] < self.shares[own[at]]]
        self.shares[own[better]] = shares[better]
        self.opponents[own[better]] = enemy[better]


class SolvedSums:
    """What the mixes of one side did against their opponents, as expected of one battle against each.

    Parameters
    ----------
    number : int
        Mixes of the side.

    Attributes
    ----------
    opponents, weights : int64 (number,)
        Opponents, and the sum of their weights.
    figures : float64 (number, 4)
        Wins, swing, cost lost and enemy cost lost, added in the order of the matchups with the opponents' weights.
    """

    def __init__(self, number: int) -> None:
        self.opponents = np.zeros(number, dtype=np.int64)
        self.weights = np.zeros(number, dtype=np.int64)
        self.figures = np.zeros((number, 4))
        self._worst = _Extreme(np.full(number, np.inf), np.full(number, -1))
        self._best = _Extreme(np.full(number, np.inf), np.full(number, -1))

    def add(self, own: Integers, enemy: Integers, weights: Integers, figures: Floats) -> None:
        """Add matchups.

        Parameters
        ----------
        own, enemy : int64 (n,)
            Positions of the mixes.
        weights : int64 (n,)
            Of the opponents.
        figures : float64 (n, 4)
            As in `figures`, of one battle.
        """
        np.add.at(self.opponents, own, 1)
        np.add.at(self.weights, own, weights)
        np.add.at(self.figures, own, weights[:, np.newaxis] * figures)
        self._worst.take(own, enemy, figures[:, 0])
        self._best.take(own, enemy, -figures[:, 0])

    def extremes(self, place: int) -> tuple[tuple[float, int], tuple[float, int]]:
        """Return the worst and the best share of wins of a mix that has opponents, and against whom.

        Parameters
        ----------
        place : int
            Position of the mix.

        Returns
        -------
        worst, best : tuple of float and int
        """
        worst = float(self._worst.shares[place]), int(self._worst.opponents[place])
        return worst, (-float(self._best.shares[place]), int(self._best.opponents[place]))
