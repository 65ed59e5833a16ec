"""Dice pools as one draw each: inverse CDF of a binomial at one 64-bit word.

The number of hits of ``n`` dice that each hit with probability ``p`` is the smallest ``k`` with
``word < round(2**64 * P(Binomial(n, p) <= k))`` (halves up). For equal words more dice, or a higher ``p``, never give
fewer hits: this is what makes battles comparable under common random numbers. A 256-entry guide table
(indexed by the top byte of the word) knows the hits of most words, and leads to the right neighbourhood of the others.

All thresholds are computed with Python integers, so they are the same on every machine.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from simcore.core.jit import kernel

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "GUESS",
    "MAX_DICE",
    "MAX_SIDES",
    "MIN_SIDES",
    "DiceTable",
    "build_dice_table",
    "draw_hits",
    "guide_place",
    "hit_bounds",
    "settle_guess",
]

MIN_SIDES = 2
MAX_SIDES = 20
MAX_DICE = 6_000
"""Largest pool: 2,000 units of a type, two dice each."""

_WORD = 1 << 64
_SCALE_BITS = 192
_1 = np.uint64(1)
_8 = np.uint64(8)
_56 = np.uint64(56)
GUESS = 1 << 15
"""Entries of the guide table from here on are that much more than a number of hits that may be too small."""


class DiceTable(NamedTuple):
    """Inverse-CDF tables of all pools that a set of scenarios can need.

    A pool is addressed by its row ``first_row[odds] + n`` where `odds` is the index of its hit
    probability and `n` its number of dice.

    Attributes
    ----------
    bounds : uint64 (entries,)
        Largest word that still gives k hits, for consecutive k of each row; the last of a row is 2**64 - 1.
    offset : int64 (rows,)
        Where k = 0 of a row would lie in `bounds` (rows start at their smallest possible k).
    guide : uint16 (256 rows,)
        For each row and top byte: the smallest k that such a word can give, and 2**15 more where some give more.
    first_row : int64 (odds,)
        Row of zero dice for each hit probability.
    """

    bounds: npt.NDArray[np.uint64]
    offset: npt.NDArray[np.int64]
    guide: npt.NDArray[np.uint16]
    first_row: npt.NDArray[np.int64]


@kernel
def draw_hits(word, row, bounds, offset, guide):
    """Return the number of hits of the pool in `row` for one random word.

    Parameters
    ----------
    word : uint64
        The draw's word.
    row : int64
        ``first_row[odds] + n``.
    bounds, offset, guide : arrays
        Fields of `DiceTable`.

    Returns
    -------
    int64
        0 to n.
    """
    entry = guide[guide_place(word, row)]
    if entry < GUESS:
        return np.int64(entry)
    return settle_guess(word, entry, row, bounds, offset)


@kernel
def guide_place(word, row):
    """Return where the guide table knows about a word and the pool in a row."""
    # Indices without a sign need no test whether they count from the end.
    return (np.uint64(row) << _8) | (word >> _56)


@kernel
def settle_guess(word, entry, row, bounds, offset):
    """Return the number of hits where the guide table leaves it open: at least what its entry says."""
    at = np.uint64(offset[np.uint64(row)] + np.int64(entry) - GUESS)
    k = np.int64(entry) - GUESS
    while word > bounds[at]:
        at += _1
        k += 1
    return k


@cache
def hit_bounds(numerator: int, denominator: int, n: int) -> tuple[int, tuple[int, ...]]:
    """Return the thresholds of one pool.

    Parameters
    ----------
    numerator, denominator : int
        Probability of a hit per die, 0 <= numerator <= denominator.
    n : int
        Number of dice, 0 to `MAX_DICE`.

    Returns
    -------
    first : int
        Smallest number of hits that a 64-bit word can give.
    bounds : tuple of int
        For k = first, first + 1, ...: the largest word that still gives k hits.
    """
    if not 0 <= numerator <= denominator or not 0 <= n <= MAX_DICE:
        raise ValueError(f"no such dice pool: {n} dice at {numerator}/{denominator}")
    if n == 0 or numerator == 0:
        return 0, (_WORD - 1,)
    if numerator == denominator:
        return n, (_WORD - 1,)
    miss = denominator - numerator
    mode = min(n, (n + 1) * numerator // denominator)
    # Weights relative to the mode in fixed point: 192 bits leave about 100 bits of guard after the sum.
    weights = {mode: 1 << _SCALE_BITS}
    value = weights[mode]
    for k in range(mode, n):
        value = value * ((n - k) * numerator) // ((k + 1) * miss)
        if value == 0:
            break
        weights[k + 1] = value
    value = weights[mode]
    for k in range(mode, 0, -1):
        value = value * (k * miss) // ((n - k + 1) * numerator)
        if value == 0:
            break
        weights[k - 1] = value
    total = sum(weights.values())
    # The fixed point is right to about 2**-116 of a word; the allowance makes exact halves round up everywhere.
    allowance = total >> 90
    first = -1
    bounds: list[int] = []
    running = 0
    for k in sorted(weights):
        running += weights[k]
        limit = (2 * running * _WORD + total + allowance) // (2 * total)
        if limit == 0:
            continue
        if first < 0:
            first = k
        bounds.append(limit - 1)
        if limit == _WORD:
            break
    return first, tuple(bounds)


@cache
def _guide_row(numerator: int, denominator: int, n: int) -> tuple[int, npt.NDArray[np.uint64], npt.NDArray[np.uint16]]:
    first, bounds = hit_bounds(numerator, denominator, n)
    array = np.array(bounds, dtype=np.uint64)
    starts = np.arange(256, dtype=np.uint64) << _56
    place = np.searchsorted(array, starts, side="left")
    leaves_open = array[place] < starts + np.uint64((1 << 56) - 1)
    guide = (first + place + np.where(leaves_open, GUESS, 0)).astype(np.uint16)
    return first, array, guide


def build_dice_table(odds: Iterable[tuple[int, int, int]]) -> DiceTable:
    """Build the tables for a list of hit probabilities.

    Parameters
    ----------
    odds : iterable of (numerator, denominator, most)
        Hit probability and the largest number of dice ever thrown at it.

    Returns
    -------
    DiceTable
        `first_row` follows the order of `odds`.
    """
    bounds: list[npt.NDArray[np.uint64]] = []
    offset: list[int] = []
    guide: list[npt.NDArray[np.uint16]] = []
    first_row: list[int] = []
    position = 0
    for numerator, denominator, most in odds:
        first_row.append(len(offset))
        for n in range(most + 1):
            first, row_bounds, row_guide = _guide_row(numerator, denominator, n)
            offset.append(position - first)
            bounds.append(row_bounds)
            guide.append(row_guide)
            position += len(row_bounds)
    if not offset:
        return build_dice_table([(0, 1, 0)])
    return DiceTable(
        bounds=np.concatenate(bounds),
        offset=np.array(offset, dtype=np.int64),
        guide=np.concatenate(guide),
        first_row=np.array(first_row, dtype=np.int64),
    )
