"""Machinery of exact solvers: distributions of hits, and tables of states.

Everything works on plain arrays in a fixed order, so that results are the same bits on every machine.
"""

from __future__ import annotations

import numpy as np

from simcore.core.jit import kernel

__all__ = ["binomial", "convolve", "find_or_add", "new_table", "two_point", "window"]

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
    for k in range(n + 1):
        out[k] /= total


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
