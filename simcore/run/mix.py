"""Unit mixes of a side: those written down and all those within a budget."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, overload

import numpy as np

from simcore.unittext import format_units

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

__all__ = ["BudgetRange", "Mix", "Mixes", "count_mixes", "list_mixes"]

_MOST_STATES: Final = 2_000_000
_MOST_KEPT: Final = 20_000
"""Mixes that are kept once they are made."""


@dataclass(frozen=True, slots=True)
class Mix:
    """A unit mix of one side at one grid point.

    Attributes
    ----------
    name : str
        Unique on its side; the canonical unit text unless the sweep file says otherwise.
    units : str
        Canonical unit text.
    counts : mapping of str to int
        Units by name.
    weight : float
        Share in the means of the other side's mixes.
    cost : int or None
        In the edition of the grid point; None where a unit does not exist in it.
    """

    name: str
    units: str
    counts: Mapping[str, int]
    weight: float
    cost: int | None


class Mixes(Sequence[Mix]):
    """The mixes of one side: those written down, then those of a budget, which are kept as bare counts.

    Parameters
    ----------
    listed : sequence of Mix
        Written down.
    budget : BudgetRange, optional
        Further mixes.
    """

    def __init__(self, listed: Sequence[Mix], budget: BudgetRange | None = None) -> None:
        self._listed = tuple(listed)
        self._units: tuple[str, ...] = ()
        self._costs: tuple[int, ...] = ()
        self._counts = np.zeros((0, 0), dtype=np.int16)
        self._made: dict[int, Mix] = {}
        if budget is not None:
            self._units, self._costs, self._counts = budget.units, budget.costs, budget.table()

    def __len__(self) -> int:
        return len(self._listed) + len(self._counts)

    @overload
    def __getitem__(self, position: int) -> Mix: ...

    @overload
    def __getitem__(self, position: slice) -> Sequence[Mix]: ...

    def __getitem__(self, position: int | slice) -> Mix | Sequence[Mix]:
        if isinstance(position, slice):
            return [self[i] for i in range(*position.indices(len(self)))]
        if position < len(self._listed):
            return self._listed[position]
        mix = self._made.get(position)
        if mix is None:
            row = self._counts[position - len(self._listed)].tolist()
            counts = {unit: count for unit, count in zip(self._units, row, strict=True) if count}
            text = format_units(counts)
            mix = Mix(text, text, counts, 1.0, sum(map(operator.mul, row, self._costs)))
            if len(self._made) >= _MOST_KEPT:
                self._made.clear()
            self._made[position] = mix
        return mix


def count_mixes(prices: Sequence[int], low: int, high: int, most: int) -> int | None:
    """Count the mixes that cost between `low` and `high` and have 1 to `most` units, without listing them.

    Parameters
    ----------
    prices : sequence of int
        Price of each unit type.
    low, high : int
        Limits of the total cost, both included.
    most : int
        Largest number of units.

    Returns
    -------
    int or None
        None when even counting would take too much memory (many thousands of possible totals).

    Examples
    --------
    >>> count_mixes([3, 5], 13, 15, 10)
    4
    """
    # ways[n][c] = in how many ways n units of the types seen so far cost c; taken in the order of n, so that
    # a type added to a mix can be added to the result again.
    ways: list[dict[int, int]] = [{0: 1}]
    for price in prices:
        for units in itertools.count():
            if units >= min(len(ways), most):
                break
            more = {spent + price: number for spent, number in ways[units].items() if spent + price <= high}
            if more and units + 1 == len(ways):
                ways.append({})
            for spent, number in more.items():
                ways[units + 1][spent] = ways[units + 1].get(spent, 0) + number
        if sum(map(len, ways)) > _MOST_STATES:
            return None
    return sum(number for row in ways[1:] for spent, number in row.items() if spent >= low)


def list_mixes(prices: Sequence[int], low: int, high: int, most: int) -> Iterator[tuple[int, ...]]:
    """Yield the counts of every mix that costs between `low` and `high` and has 1 to `most` units.

    Parameters
    ----------
    prices : sequence of int
        Price of each unit type.
    low, high : int
        Limits of the total cost, both included.
    most : int
        Largest number of units.

    Yields
    ------
    tuple of int
        A count for each type; mixes with more of the earlier types come first.

    Examples
    --------
    >>> list(list_mixes([3, 5], 13, 15, 10))
    [(5, 0), (3, 1), (1, 2), (0, 3)]
    """
    barren: set[tuple[int, int, int]] = set()

    def descend(i: int, spent: int, units: int) -> Iterator[tuple[int, ...]]:
        if i == len(prices):
            if units and low <= spent:
                yield ()
            return
        if (i, spent, units) in barren:
            return
        is_barren = True
        room = most - units if prices[i] == 0 else min(most - units, (high - spent) // prices[i])
        for count in range(room, -1, -1):
            for rest in descend(i + 1, spent + count * prices[i], units + count):
                is_barren = False
                yield (count, *rest)
        if is_barren:
            barren.add((i, spent, units))

    yield from descend(0, 0, 0)


@dataclass(frozen=True)
class BudgetRange:
    """All mixes within a budget, in one edition.

    Attributes
    ----------
    units : tuple of str
        Unit types that exist in the edition, in table order.
    prices : tuple of int
        What a unit of each type takes from the budget.
    costs : tuple of int
        What a unit of each type adds to the cost of a mix; captured guns and complexes add nothing.
    low, high : int
        Limits of the total price, both included.
    most : int
        Largest number of units.
    written : frozenset of tuple of int
        Counts of mixes that are written down as well and are not repeated.
    """

    units: tuple[str, ...]
    prices: tuple[int, ...]
    costs: tuple[int, ...]
    low: int
    high: int
    most: int
    written: frozenset[tuple[int, ...]] = frozenset()

    def find(self, counts: Mapping[str, int]) -> tuple[int, ...] | None:
        """Return a mix as counts of this budget's types, None when it is not within the budget.

        Parameters
        ----------
        counts : mapping of str to int
            Units by name.

        Returns
        -------
        tuple of int or None
        """
        if not counts.keys() <= set(self.units):
            return None
        row = tuple(counts.get(unit, 0) for unit in self.units)
        is_within = self.low <= sum(map(operator.mul, row, self.prices)) <= self.high
        return row if is_within and 1 <= sum(row) <= self.most else None

    def count(self) -> int:
        """Return how many mixes are not written down, without listing them.

        Returns
        -------
        int

        Raises
        ------
        OverflowError
            When even counting would take too much memory.
        """
        number = count_mixes(self.prices, self.low, self.high, self.most)
        if number is None:
            raise OverflowError("too many possible totals")
        return number - len(self.written)

    def table(self) -> npt.NDArray[np.int16]:
        """Return all mixes that are not written down.

        Returns
        -------
        int16 (n, T)
            Counts by the types of this budget.
        """
        rows = (row for row in list_mixes(self.prices, self.low, self.high, self.most) if row not in self.written)
        flat = np.fromiter(itertools.chain.from_iterable(rows), dtype=np.int16)
        return flat.reshape(-1, len(self.units))
