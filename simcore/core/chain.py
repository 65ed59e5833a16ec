"""Machinery of exact solvers: distributions of hits, and tables of states.

Everything works on plain arrays in a fixed order, so that results are the same bits on every machine.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from simcore.core.jit import kernel

__all__ = [
    "Sums",
    "add_to",
    "binomial",
    "clear_sums",
    "convolve",
    "describe_spread",
    "find_or_add",
    "new_sums",
    "new_table",
    "slots_for",
    "two_point",
    "window",
]

_LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
_SLACK = 1e-12
"""Rounding that a quantile's level is allowed: sums of probabilities that are exactly a half stay a half."""

_FIRST = np.uint64(12)
_SECOND = np.uint64(25)
_THIRD = np.uint64(27)


@kernel
def binomial(n, numerator, denominator, out):
    """Fill ``out[: n + 1]`` with the distribution of hits of `n` dice.

    Grown from the mode by the ratio of neighbours and normalised: no factorials, so nothing overflows, and
    an error in the mode's own value cancels out.

    Parameters
    ----------
    n : int64
        Dice.
    numerator, denominator : int64
        Probability of a hit, 0 to 1.
    out : float64 (at least n + 1,)
    """
    for k in range(n + 1):
        out[k] = 0.0
    if numerator <= 0:
        out[0] = 1.0
        return
    if numerator >= denominator:
        out[n] = 1.0
        return
    up = numerator / (denominator - numerator)
    mode = (n + 1) * numerator // denominator
    mode = min(mode, n)
    out[mode] = 1.0
    for k in range(mode, n):
        out[k + 1] = out[k] * ((n - k) / (k + 1) * up)
    for k in range(mode, 0, -1):
        out[k - 1] = out[k] * (k / ((n - k + 1) * up))
    total = 0.0
    for k in range(n + 1):
        total += out[k]
    scale = 1.0 / total
    for k in range(n + 1):
        out[k] *= scale


@kernel
def two_point(points, per_hit, out):
    """Fill `out` with low luck's hits: the sure ones, and one die for the rest; returns the most hits possible."""
    sure = points // per_hit
    rest = points % per_hit
    for k in range(sure):
        out[k] = 0.0
    out[sure] = (per_hit - rest) / per_hit
    if rest == 0:
        return sure
    out[sure + 1] = rest / per_hit
    return sure + 1


@kernel
def convolve(a, na, b, nb, out):
    """Fill ``out[: na + nb + 1]`` with the distribution of the sum of two independent numbers of hits."""
    for k in range(na + nb + 1):
        out[k] = 0.0
    for i in range(na + 1):
        x = a[i]
        if x > 0.0:
            for j in range(nb + 1):
                out[i + j] += x * b[j]


@kernel
def window(pmf, n, tail):
    """Return first and last number of hits that count: beyond them lies at most `tail` on either side."""
    low = np.int64(0)
    mass = pmf[0]
    while low < n and mass <= tail:
        low += 1
        mass += pmf[low]
    high = np.int64(n)
    mass = pmf[high]
    while high > low and mass <= tail:
        high -= 1
        mass += pmf[high]
    return low, high


@kernel
def new_table(capacity):
    """Return an empty table of states: its slots hold a key and an index, -1 where they are free.

    `capacity` must be a power of two, at least twice the number of states.
    """
    return np.full(capacity, -1, dtype=np.int64), np.full(capacity, -1, dtype=np.int64)


@kernel
def find_or_add(keys, places, key, new):
    """Return the index of `key`, which becomes `new` if it was not there."""
    mask = np.uint64(len(keys) - 1)
    # Shifts alone: a product would leave the range of 64 bits, which is an error where nothing is compiled.
    mixed = np.uint64(key)
    mixed ^= mixed >> _FIRST
    mixed ^= mixed << _SECOND
    mixed ^= mixed >> _THIRD
    slot = np.int64(mixed & mask)
    while places[slot] >= 0:
        if keys[slot] == key:
            return places[slot]
        slot = np.int64((np.uint64(slot) + np.uint64(1)) & mask)
    keys[slot] = key
    places[slot] = new
    return np.int64(new)


@kernel
def slots_for(n):
    """Return how many slots a table of up to `n` states needs: a power of two, at least twice as many."""
    slots = np.int64(16)
    while slots < 2 * n + 2:
        slots *= 2
    return slots


class Sums(NamedTuple):
    """Probabilities of whole numbers, each number once. N numbers.

    Attributes
    ----------
    keys, places : int64 (slots,)
        Table of the numbers.
    values : int64 (N,)
    chances : float64 (N,)
    count : int64 (1,)
        Numbers so far.
    """

    keys: Any
    places: Any
    values: Any
    chances: Any
    count: Any


@kernel
def new_sums(capacity):
    """Return an empty distribution with room for `capacity` different numbers."""
    keys, places = new_table(slots_for(capacity))
    return Sums(
        keys=keys,
        places=places,
        values=np.zeros(capacity, dtype=np.int64),
        chances=np.zeros(capacity),
        count=np.zeros(1, dtype=np.int64),
    )


@kernel
def clear_sums(sums):
    """Make a distribution empty again."""
    sums.places[:] = -1
    sums.chances[: sums.count[0]] = 0.0
    sums.count[0] = 0


@kernel
def add_to(sums, value, chance):
    """Add a probability to that of a number."""
    new = sums.count[0]
    key = 2 * value if value >= 0 else -2 * value - 1
    at = find_or_add(sums.keys, sums.places, key, new)
    if at == new:
        sums.count[0] = new + 1
        sums.values[new] = value
    sums.chances[at] += chance


@kernel
def describe_spread(sums, out):
    """Fill `out` with what `simcore.schema.SPREAD` names: the smallest number that at least that share does not exceed.

    Parameters
    ----------
    sums : Sums
    out : float64 (6,)
    """
    n = sums.count[0]
    order = np.argsort(sums.values[:n])
    total = 0.0
    for i in range(n):
        total += sums.chances[order[i]]
    below = 0.0
    level = 0
    negative = 0.0
    for i in range(n):
        value = sums.values[order[i]]
        below += sums.chances[order[i]]
        if value < 0:
            negative = below
        while level < len(_LEVELS) and below >= (_LEVELS[level] - _SLACK) * total:
            out[level] = value
            level += 1
    out[len(_LEVELS)] = negative
