"""Statistical estimators on plain numpy arrays: intervals, moments, shown shares.

Nothing here knows about battles or frames. All functions are vectorised and follow numpy's broadcasting;
intervals are two-sided at ``level`` (0.95 unless told otherwise).
"""

from __future__ import annotations

from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = [
    "DEFAULT_LEVEL",
    "Interval",
    "critical_value",
    "lead_interval",
    "mean_interval",
    "moments_from_sums",
    "percent_texts",
    "rounded_shares",
    "standard_error",
    "wilson",
]

FloatArray = npt.NDArray[np.float64]

DEFAULT_LEVEL = 0.95
SMALLEST_SHOWN = 0.001
"""Shares below this, and above one minus it, are shown as "<0.1 %" and ">99.9 %"."""
TENTHS = 1000
"""Tenths of a percent in the whole."""


class Interval(NamedTuple):
    """Lower and upper bounds, float64, of the common shape of the arguments."""

    low: FloatArray
    high: FloatArray


def critical_value(level: float = DEFAULT_LEVEL) -> float:
    """Return z such that a standard normal lies within -z to z with probability `level`.

    Parameters
    ----------
    level : float
        Between 0 and 1, exclusive.

    Raises
    ------
    ValueError
        If `level` is outside its range.

    Examples
    --------
    >>> round(critical_value(0.95), 6)
    1.959964
    """
    if not 0.0 < level < 1.0:
        raise ValueError(f"level is {level}, allowed is a number between 0 and 1")
    return NormalDist().inv_cdf(0.5 + level / 2.0)


def wilson(successes: npt.ArrayLike, trials: npt.ArrayLike, level: float = DEFAULT_LEVEL) -> Interval:
    """Wilson's score interval of a binomial share.

    The bounds are exactly 0 for no success and exactly 1 for nothing but successes. Without trials
    nothing is known and the interval is 0 to 1. NaN in, NaN out.

    Parameters
    ----------
    successes, trials : array_like
        Counts, ``0 <= successes <= trials``; floats are taken as they are.
    level : float
        Coverage of the interval.

    Returns
    -------
    Interval
        Bounds within 0 to 1, float64.

    Examples
    --------
    >>> low, high = wilson(0, 10_000)
    >>> float(low), round(float(high), 6)
    (0.0, 0.000384)
    """
    k, n = np.broadcast_arrays(np.asarray(successes, dtype=np.float64), np.asarray(trials, dtype=np.float64))
    z2 = critical_value(level) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        centre = (k + z2 / 2.0) / (n + z2)
        # k (n - k) / n is the variance of the count; written this way no digits are lost near 0 and n.
        half = np.sqrt(z2 * (np.where(n > 0, k * (n - k) / n, 0.0) + z2 / 4.0)) / (n + z2)
    low = np.where(k == 0, 0.0, np.maximum(centre - half, 0.0))
    high = np.where(k == n, 1.0, np.minimum(centre + half, 1.0))
    unknown = np.isnan(k) | np.isnan(n)
    return Interval(np.where(unknown, np.nan, low), np.where(unknown, np.nan, high))


def lead_interval(
    first: npt.ArrayLike, second: npt.ArrayLike, trials: npt.ArrayLike, level: float = DEFAULT_LEVEL
) -> Interval:
    """Interval of the difference of two shares of the same trials (first minus second).

    The two Wilson intervals are joined by the "method of variance estimates recovery", with the
    correlation that two cells of a multinomial have. When the two shares make up everything it reduces
    to the Wilson interval of the first, stretched to -1 to 1.

    Parameters
    ----------
    first, second, trials : array_like
        Counts; ``first + second <= trials``.
    level : float
        Coverage of the interval.

    Returns
    -------
    Interval
        Bounds within -1 to 1, float64.

    Examples
    --------
    >>> low, high = lead_interval(50, 50, 100)
    >>> round(float(low), 4), round(float(high), 4)
    (-0.1923, 0.1923)
    """
    k1, k2, n = np.broadcast_arrays(
        np.asarray(first, dtype=np.float64),
        np.asarray(second, dtype=np.float64),
        np.asarray(trials, dtype=np.float64),
    )
    low1, high1 = wilson(k1, n, level)
    low2, high2 = wilson(k2, n, level)
    with np.errstate(divide="ignore", invalid="ignore"):
        p1, p2 = k1 / n, k2 / n
        correlation = -np.sqrt(p1 * p2 / ((1.0 - p1) * (1.0 - p2)))
    # 0/0 where one share is everything: then the other is nothing and the two are complements.
    correlation = np.where(k1 + k2 >= n, -1.0, np.nan_to_num(np.clip(correlation, -1.0, 0.0)))
    lead = p1 - p2

    def distance(one: FloatArray, other: FloatArray) -> FloatArray:
        squared = one**2 + other**2 - 2.0 * correlation * one * other
        return np.asarray(np.sqrt(np.maximum(squared, 0.0)), dtype=np.float64)

    low = np.maximum(lead - distance(p1 - low1, high2 - p2), -1.0)
    high = np.minimum(lead + distance(high1 - p1, p2 - low2), 1.0)
    nothing = n == 0
    return Interval(np.where(nothing, -1.0, low), np.where(nothing, 1.0, high))


def moments_from_sums(
    count: npt.ArrayLike, total: npt.ArrayLike, total_of_squares: npt.ArrayLike
) -> tuple[FloatArray, FloatArray]:
    """Mean and sample standard deviation (n - 1) from exact integer sums.

    The sum of squared deviations is first taken from the whole part of the mean, in wrapping 64-bit
    arithmetic that is exact because the result fits, so that nothing cancels even when mean and sums
    are huge.

    Parameters
    ----------
    count, total, total_of_squares : array_like of int
        Number of values, their sum, and the sum of their squares, each within int64.

    Returns
    -------
    tuple of float64 arrays
        Mean (NaN without values) and standard deviation (NaN below two values).

    Examples
    --------
    >>> mean, sd = moments_from_sums(4, 10, 30)
    >>> float(mean), round(float(sd), 6)
    (2.5, 1.290994)
    """
    n, s, q = np.broadcast_arrays(
        np.asarray(count, dtype=np.int64),
        np.asarray(total, dtype=np.int64),
        np.asarray(total_of_squares, dtype=np.int64),
    )
    shape = n.shape
    n, s, q = n.reshape(-1), s.reshape(-1), q.reshape(-1)
    safe = np.maximum(n, 1)
    whole = s // safe
    rest = s - whole * safe
    about_whole = q - 2 * whole * s + safe * whole * whole
    fraction = rest / safe
    mean = np.where(n > 0, whole + fraction, np.nan)
    deviations = np.maximum(about_whole - rest * fraction, 0.0)
    sd = np.where(n > 1, np.sqrt(deviations / np.maximum(n - 1, 1)), np.nan)
    return mean.reshape(shape), sd.reshape(shape)


def standard_error(sd: npt.ArrayLike, count: npt.ArrayLike) -> FloatArray:
    """Return the standard error of a mean: sd / sqrt(count); NaN where `count` is 0.

    Examples
    --------
    >>> float(standard_error(3.0, 9))
    1.0
    """
    n = np.asarray(count, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.asarray(sd, dtype=np.float64) / np.sqrt(n)
    return np.asarray(np.where(n > 0, error, np.nan), dtype=np.float64)


def mean_interval(mean: npt.ArrayLike, error: npt.ArrayLike, level: float = DEFAULT_LEVEL) -> Interval:
    """Return the normal interval of a mean from its standard error.

    Examples
    --------
    >>> low, high = mean_interval(10.0, 1.0)
    >>> round(float(low), 2), round(float(high), 2)
    (8.04, 11.96)
    """
    centre = np.asarray(mean, dtype=np.float64)
    half = critical_value(level) * np.asarray(error, dtype=np.float64)
    return Interval(centre - half, centre + half)


def rounded_shares(shares: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Round shares that make up a whole to tenths of a percent so that they still do.

    Largest remainders: every share is cut to whole tenths and the tenths left over go to those that
    lost most (ties: the earlier one). Shares of exactly 0 or 1, below 0.1 % or above 99.9 % stand
    outside: they get 0 and 1000, and the others add up to 100 % among themselves as far as moving each
    to the next tenth reaches. No share is moved by a tenth or more.

    Parameters
    ----------
    shares : array_like, float, shape (..., K)
        Shares along the last axis, each within 0 to 1; every row adds up to 1.

    Returns
    -------
    ndarray of int64, shape (..., K)
        Tenths of a percent.

    Examples
    --------
    >>> rounded_shares([1 / 3, 1 / 3, 1 / 3]).tolist()
    [334, 333, 333]
    >>> rounded_shares([0.6, 0.3996, 0.0004]).tolist()
    [600, 400, 0]
    """
    exact = np.asarray(shares, dtype=np.float64) * TENTHS
    inside = (exact >= 1.0) & (exact <= TENTHS - 1.0)
    # 0.3 * 1000 is 299.99999999999994 for some neighbours of 0.3: whole tenths are recognised first.
    nearest = np.rint(exact)
    exact = np.where(np.isclose(exact, nearest, rtol=0.0, atol=1e-9), nearest, exact)
    floors = np.floor(exact)
    remainders = np.where(inside, exact - floors, -1.0)
    floors = np.where(inside, floors, 0.0)
    missing = TENTHS - floors.sum(axis=-1, keepdims=True)
    order = np.argsort(-remainders, axis=-1, kind="stable")
    place = np.empty_like(order)
    np.put_along_axis(place, order, np.broadcast_to(np.arange(exact.shape[-1]), exact.shape), axis=-1)
    tenths = floors + ((place < missing) & (remainders > 0.0))
    return np.where(inside, tenths, np.where(exact > TENTHS / 2, TENTHS, 0)).astype(np.int64)


def percent_texts(shares: npt.ArrayLike) -> list[str]:
    """Show shares that make up a whole, as text that adds up to 100 %.

    A share that is exactly 0 is "0 %", exactly 1 is "100 %"; other shares below 0.1 % or above 99.9 %
    are "<0.1 %" and ">99.9 %". A sampled 0 % means "not seen": its interval says how rare it must be and
    belongs beside it.

    Parameters
    ----------
    shares : array_like, float, shape (K,)
        Shares that add up to 1.

    Returns
    -------
    list of str
        One text per share.

    Examples
    --------
    >>> percent_texts([0.66666, 0.33329, 0.00005, 0.0])
    ['66.7 %', '33.3 %', '<0.1 %', '0 %']
    """
    values = np.asarray(shares, dtype=np.float64)
    return [
        percent_text(float(share), tenths=int(tenths))
        for share, tenths in zip(values, rounded_shares(values), strict=True)
    ]


def percent_text(share: float, *, tenths: int | None = None) -> str:
    """Show one share; see :func:`percent_texts`.

    Parameters
    ----------
    share : float
        Within 0 to 1; NaN gives a dash.
    tenths : int, optional
        The rounded figure when the share is one of several that must add up.

    Examples
    --------
    >>> percent_text(0.71349), percent_text(0.0), percent_text(0.99999)
    ('71.3 %', '0 %', '>99.9 %')
    """
    if np.isnan(share):
        return "–"
    if share <= 0.0:
        return "0 %"
    if share >= 1.0:
        return "100 %"
    if share < SMALLEST_SHOWN:
        return "<0.1 %"
    if share > 1.0 - SMALLEST_SHOWN:
        return ">99.9 %"
    shown = round(share * TENTHS) if tenths is None else tenths
    return f"{shown / 10:.1f} %"
