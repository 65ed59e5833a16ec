"""Differences of two figures with an interval and a p-value, whole columns at a time.

Every function returns the second figure minus the first. Nothing here knows about runs or matchups; which test
fits which pair of results is decided by :mod:`analysis.comparison`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import betainc, betaln, ndtr, ndtri, stdtr, stdtrit

from analysis.estimators import DEFAULT_LEVEL, critical_value, wilson

__all__ = [
    "BatchErrors",
    "Difference",
    "batch_difference",
    "batch_errors",
    "discordant_difference",
    "known_mean_difference",
    "known_share_difference",
    "mean_difference",
    "share_difference",
    "t_difference",
    "t_quantile",
    "unchanged_error",
]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


class Difference(NamedTuple):
    """Second figure minus the first, float64 arrays of one shape.

    Attributes
    ----------
    value, low, high : ndarray
        The difference and the bounds of its interval.
    p : ndarray
        Two-sided p-value of "there is no difference"; NaN where nothing can be said.
    """

    value: FloatArray
    low: FloatArray
    high: FloatArray
    p: FloatArray


class BatchErrors(NamedTuple):
    """Means over batches with their errors, float64 arrays of one shape.

    Attributes
    ----------
    value, error : ndarray
        The mean, and its standard error; NaN without batches, and with a single one.
    freedom : ndarray
        Degrees of freedom: batches less one.
    """

    value: FloatArray
    error: FloatArray
    freedom: FloatArray


def batch_errors(
    pairs: npt.ArrayLike,
    battles: npt.ArrayLike,
    change: npt.ArrayLike,
    number: int,
    *,
    is_constant: npt.ArrayLike = False,
) -> BatchErrors:
    """Return the mean change of each pair and its error, from batches of unequal size.

    Batch b of a pair has n_b battles in both runs and the difference d_b of their means, whose variance is
    sigma^2 / n_b. With N battles in B batches the estimate is sum(n_b d_b) / N, and its squared standard error
    sum(n_b (d_b - estimate)^2) / (B - 1) / N.

    Changes that are the same in all batches show no spread, which does not mean that there is none: sums are whole
    numbers, and a few of them are soon equal. All that is known then is that all have one sign, which happens once in
    2^(B - 1) times where there is no difference. The error is the one that gives Student's t this p-value. Where every
    battle of either run ended alike, all the battles are known to have changed in the same way, and they take the
    place of the batches.

    Parameters
    ----------
    pairs : array_like of int, shape (n,)
        Which pair each batch belongs to, 0 to number - 1.
    battles, change : array_like, shape (n,)
        Battles of the batch, and what it adds up to in the second run beyond the first.
    number : int
        Number of pairs.
    is_constant : array_like of bool, shape (number,)
        In which pairs all battles of either run are alike.

    Returns
    -------
    BatchErrors
        Arrays of shape (number,).

    Examples
    --------
    >>> found = batch_errors([0, 0, 0, 0], [10, 10, 10, 10], [1, 1, 1, 1], 1)
    >>> round(float(found.value[0]), 3), round(float(found.error[0]), 3)
    (0.1, 0.047)
    """
    at = np.asarray(pairs, dtype=np.intp)
    size, changes = np.asarray(battles, dtype=np.int64), np.asarray(change)

    def added(values: npt.NDArray[np.generic]) -> FloatArray:
        return np.bincount(at, weights=values, minlength=number).astype(np.float64, copy=False)

    total, batches = added(size), np.bincount(at, minlength=number).astype(np.float64)
    freedom = batches - 1.0
    with np.errstate(divide="ignore", invalid="ignore"):
        value = added(changes) / total
        spread = added(size * (changes / size - value[at]) ** 2)
        error = np.where(freedom > 0, np.sqrt(spread / freedom / total), np.nan)
        # Equal differences in all batches leave a remainder of rounding, which is no spread.
        is_flat = error <= 1e-13 * np.abs(value)
        signs = np.where(is_constant, total, batches)
        flat = np.abs(value) / -stdtrit(np.maximum(freedom, 1.0), np.exp2(-signs))
    return BatchErrors(value, np.where(is_flat, np.where(value == 0.0, 0.0, flat), error), freedom)


def t_difference(
    value: npt.ArrayLike, error: npt.ArrayLike, freedom: npt.ArrayLike, level: float = DEFAULT_LEVEL
) -> Difference:
    """Return a difference with interval and p-value by Student's t.

    Parameters
    ----------
    value, error, freedom : array_like
        Differences, their standard errors and the degrees of freedom of these; inf is the normal distribution.
    level : float
        Coverage of the interval.

    Returns
    -------
    Difference
        Without error and without difference p is 1.

    Examples
    --------
    >>> round(float(t_difference(0.2, 0.1, 2).p), 4)
    0.1835
    """
    values, errors, degrees = (np.asarray(given, dtype=np.float64) for given in (value, error, freedom))
    with np.errstate(divide="ignore", invalid="ignore"):
        half = t_quantile(0.5 + level / 2.0, degrees) * errors
        ratio = -np.abs(values / errors)
        p = 2.0 * np.where(
            np.isinf(degrees), ndtr(ratio), stdtr(np.where(np.isinf(degrees), 1.0, np.maximum(degrees, 1.0)), ratio)
        )
    p = np.where(errors == 0.0, np.where(values == 0.0, 1.0, 0.0), p)
    return Difference(values, values - half, values + half, p)


def t_quantile(share: float, freedom: npt.ArrayLike) -> FloatArray:
    """Return quantiles of Student's t.

    Parameters
    ----------
    share : float
        Share of the distribution below the quantile.
    freedom : array_like
        Degrees of freedom, inf for the normal distribution; fewer than 1 count as 1.

    Returns
    -------
    float64 ndarray

    Examples
    --------
    >>> t_quantile(0.975, [3.0, float("inf")]).round(3).tolist()
    [3.182, 1.96]
    """
    degrees = np.asarray(freedom, dtype=np.float64)
    finite = np.where(np.isinf(degrees), 1.0, np.maximum(degrees, 1.0))
    return np.asarray(np.where(np.isinf(degrees), ndtri(share), stdtrit(finite, share)), dtype=np.float64)


def unchanged_error(
    share: npt.ArrayLike,
    battles: npt.ArrayLike,
    other_battles: npt.ArrayLike | None = None,
    *,
    at_worst: bool = False,
) -> FloatArray:
    """Return the standard error that the difference of two equal shares has.

    Its square is right in the mean for any number of battles, so it may be added up over many matchups of few.

    Parameters
    ----------
    share : array_like
        The share in the battles of both runs together, or the one that is known exactly.
    battles, other_battles : array_like
        Battles of each run; None where the share is known exactly in the other run.
    at_worst : bool
        As in `share_difference`.

    Returns
    -------
    float64 ndarray

    Examples
    --------
    >>> float(unchanged_error(0.5, 1, 1))
    1.0
    """
    known, n1 = np.asarray(share, dtype=np.float64), np.asarray(battles, dtype=np.float64)
    variance = np.maximum(known * (1.0 - known), 0.0)
    if other_battles is None:
        return np.asarray(np.sqrt(variance / n1), dtype=np.float64)
    n2 = np.asarray(other_battles, dtype=np.float64)
    sd = np.sqrt(variance * (n1 + n2) / (n1 + n2 - 1.0))
    return _joined(sd / np.sqrt(n1), sd / np.sqrt(n2), at_worst)


def batch_difference(
    pairs: npt.ArrayLike,
    battles: npt.ArrayLike,
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    number: int,
    level: float = DEFAULT_LEVEL,
    *,
    is_constant: npt.ArrayLike = False,
) -> Difference:
    """Paired t over batches of unequal size; the errors are those of `batch_errors`.

    Parameters
    ----------
    pairs : array_like of int, shape (n,)
        Which pair each batch belongs to, 0 to number - 1.
    battles, first, second : array_like of int, shape (n,)
        Battles of the batch, and what they add up to in the first and the second run.
    number : int
        Number of pairs.
    level : float
        Coverage of the interval.
    is_constant : array_like of bool, shape (number,)
        In which pairs all battles of either run are alike.

    Returns
    -------
    Difference
        Arrays of shape (number,). NaN for a pair without batches; with one batch only the value is known.

    Examples
    --------
    >>> found = batch_difference([0, 0, 0], [10, 10, 10], [4, 5, 6], [5, 7, 9], 1)
    >>> round(float(found.value[0]), 3), round(float(found.p[0]), 4)
    (0.2, 0.0742)

    Four batches that all differ by the same amount are four equal signs:

    >>> round(float(batch_difference([0] * 4, [10] * 4, [4, 5, 6, 7], [5, 6, 7, 8], 1).p[0]), 4)
    0.125
    """
    change = np.asarray(second, dtype=np.int64) - np.asarray(first, dtype=np.int64)
    return t_difference(*batch_errors(pairs, battles, change, number, is_constant=is_constant), level)


def share_difference(
    first: npt.ArrayLike,
    first_battles: npt.ArrayLike,
    second: npt.ArrayLike,
    second_battles: npt.ArrayLike,
    level: float = DEFAULT_LEVEL,
    *,
    at_worst: bool | npt.NDArray[np.bool_] = False,
) -> Difference:
    """Difference of two shares of battles that were fought apart.

    The p-value is that of the score test (pooled share), the interval joins the two Wilson intervals ("method of
    variance estimates recovery").

    Parameters
    ----------
    first, first_battles, second, second_battles : array_like
        Counts and numbers of battles.
    level : float
        Coverage of the interval.
    at_worst : bool or array of bool
        Where True the two may depend on each other in an unknown way: errors are added instead of their squares.

    Returns
    -------
    Difference

    Examples
    --------
    >>> found = share_difference(40, 100, 60, 100)
    >>> round(float(found.value), 2), round(float(found.p), 4)
    (0.2, 0.0047)
    """
    k1, n1, k2, n2 = (np.asarray(given, dtype=np.float64) for given in (first, first_battles, second, second_battles))
    with np.errstate(divide="ignore", invalid="ignore"):
        one, other, pooled = k1 / n1, k2 / n2, (k1 + k2) / (n1 + n2)
        sd = np.sqrt(pooled * (1.0 - pooled))
        error = _joined(sd / np.sqrt(n1), sd / np.sqrt(n2), at_worst)
    value = other - one
    low1, high1 = wilson(k1, n1, level)
    low2, high2 = wilson(k2, n2, level)
    low = value - _joined(high1 - one, other - low2, at_worst)
    high = value + _joined(one - low1, high2 - other, at_worst)
    return Difference(value, np.maximum(low, -1.0), np.minimum(high, 1.0), _normal_p(value, error))


def mean_difference(
    first: npt.ArrayLike,
    first_sd: npt.ArrayLike,
    first_battles: npt.ArrayLike,
    second: npt.ArrayLike,
    second_sd: npt.ArrayLike,
    second_battles: npt.ArrayLike,
    level: float = DEFAULT_LEVEL,
    *,
    at_worst: bool | npt.NDArray[np.bool_] = False,
) -> Difference:
    """Difference of two means of battles that were fought apart (Welch's t).

    Parameters
    ----------
    first, first_sd, first_battles, second, second_sd, second_battles : array_like
        Means, standard deviations of single battles, numbers of battles.
    level : float
        Coverage of the interval.
    at_worst : bool or array of bool
        As in `share_difference`.

    Returns
    -------
    Difference
        Where neither sample has any spread the p-value is that of the permutation test.

    Examples
    --------
    >>> found = mean_difference(10.0, 2.0, 25, 11.0, 2.0, 25)
    >>> round(float(found.p), 4)
    0.0835
    """
    mean1, sd1, n1, mean2, sd2, n2 = (
        np.asarray(given, dtype=np.float64)
        for given in (first, first_sd, first_battles, second, second_sd, second_battles)
    )
    value = mean2 - mean1
    with np.errstate(divide="ignore", invalid="ignore"):
        error1, error2 = sd1 / np.sqrt(n1), sd2 / np.sqrt(n2)
        error = _joined(error1, error2, at_worst)
        freedom = (error1**2 + error2**2) ** 2 / (error1**4 / (n1 - 1.0) + error2**4 / (n2 - 1.0))
        freedom = np.where(np.isfinite(freedom), np.maximum(freedom, 1.0), np.maximum(np.minimum(n1, n2) - 1.0, 1.0))
        p = 2.0 * stdtr(freedom, -np.abs(value / error))
        half = stdtrit(freedom, 0.5 + level / 2.0) * error
        # Two constant samples that differ: one in so many ways to deal the values out is as extreme.
        dealt = np.minimum(2.0 * (n1 + n2 + 1.0) * np.exp(betaln(n1 + 1.0, n2 + 1.0)), 1.0)
    p = np.where(error == 0.0, np.where(value == 0.0, 1.0, dealt), p)
    return Difference(value, value - half, value + half, p)


def known_share_difference(
    known: npt.ArrayLike, count: npt.ArrayLike, battles: npt.ArrayLike, level: float = DEFAULT_LEVEL
) -> Difference:
    """Difference of a sampled share from one that is known exactly (binomial test, Wilson interval).

    Parameters
    ----------
    known : array_like
        The exact share.
    count, battles : array_like
        The sample.
    level : float
        Coverage of the interval.

    Returns
    -------
    Difference
        Sampled minus exact.

    Examples
    --------
    >>> found = known_share_difference(0.5, 60, 100)
    >>> round(float(found.value), 2), round(float(found.p), 4)
    (0.1, 0.0569)
    """
    share = np.clip(np.asarray(known, dtype=np.float64), 0.0, 1.0)
    k, n = np.asarray(count, dtype=np.float64), np.asarray(battles, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = k / n - share
    below, above = _at_most(k, n, share), _at_most(n - k, n, 1.0 - share)
    p = np.where(np.isnan(value), np.nan, np.minimum(2.0 * np.minimum(below, above), 1.0))
    low, high = wilson(k, n, level)
    return Difference(value, low - share, high - share, p)


def known_mean_difference(
    known: npt.ArrayLike,
    known_sd: npt.ArrayLike,
    mean: npt.ArrayLike,
    sd: npt.ArrayLike,
    battles: npt.ArrayLike,
    level: float = DEFAULT_LEVEL,
) -> Difference:
    """Difference of a sampled mean from one that is known exactly.

    The standard error takes the larger of the two standard deviations: the sample may have missed the rare battles
    that make up the spread, and a few of them seen by chance must not count as proof either.

    Parameters
    ----------
    known, known_sd : array_like
        Exact mean and standard deviation of single battles.
    mean, sd, battles : array_like
        The sample.
    level : float
        Coverage of the interval.

    Returns
    -------
    Difference
        Sampled minus exact.

    Examples
    --------
    >>> found = known_mean_difference(10.0, 2.0, 10.5, 2.0, 64)
    >>> round(float(found.p), 4)
    0.0455
    """
    value = np.asarray(mean, dtype=np.float64) - np.asarray(known, dtype=np.float64)
    n = np.asarray(battles, dtype=np.float64)
    # Means of equal battles may differ by the rounding of the solver.
    value = np.where(np.abs(value) <= 1e-9 * np.maximum(np.abs(np.asarray(known)), 1.0), 0.0, value)
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.fmax(np.asarray(sd, dtype=np.float64), np.asarray(known_sd, dtype=np.float64)) / np.sqrt(n)
    half = critical_value(level) * error
    return Difference(value, value - half, value + half, _normal_p(value, error))


def discordant_difference(
    only_first: npt.ArrayLike, only_second: npt.ArrayLike, battles: npt.ArrayLike, level: float = DEFAULT_LEVEL
) -> Difference:
    """Difference of two shares of the same battles (exact McNemar test, interval of Bonett and Price).

    Parameters
    ----------
    only_first, only_second : array_like
        Battles that counted in one run and not in the other.
    battles : array_like
        All battles.
    level : float
        Coverage of the interval.

    Returns
    -------
    Difference

    Examples
    --------
    >>> found = discordant_difference(5, 15, 100)
    >>> round(float(found.value), 2), round(float(found.p), 4)
    (0.1, 0.0414)
    """
    b, c, n = (np.asarray(given, dtype=np.float64) for given in (only_first, only_second, battles))
    p = np.where(b + c > 0, np.minimum(2.0 * _at_most(np.minimum(b, c), b + c, 0.5), 1.0), 1.0)
    one, other = (b + 1.0) / (n + 2.0), (c + 1.0) / (n + 2.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = (c - b) / n
        half = critical_value(level) * np.sqrt(np.maximum(one + other - (other - one) ** 2, 0.0) / (n + 2.0))
    centre = other - one
    return Difference(
        value, np.maximum(centre - half, -1.0), np.minimum(centre + half, 1.0), np.where(n > 0, p, np.nan)
    )


def _at_most(count: FloatArray, trials: FloatArray, share: npt.ArrayLike) -> FloatArray:
    """Return the chance of at most `count` successes."""
    found = betainc(np.maximum(trials - count, 1e-300), count + 1.0, 1.0 - np.asarray(share, dtype=np.float64))
    return np.asarray(np.where(count >= trials, 1.0, found), dtype=np.float64)


def _joined(one: FloatArray, other: FloatArray, at_worst: npt.ArrayLike) -> FloatArray:
    """Return the error of a difference from the errors of its two sides."""
    return np.asarray(np.where(at_worst, one + other, np.hypot(one, other)), dtype=np.float64)


def _normal_p(value: FloatArray, error: FloatArray) -> FloatArray:
    """Return the two-sided p-value of a normal estimate; no error and no difference is no evidence."""
    with np.errstate(divide="ignore", invalid="ignore"):
        p = 2.0 * ndtr(-np.abs(value / error))
    return np.asarray(np.where(error == 0.0, np.where(value == 0.0, 1.0, 0.0), p), dtype=np.float64)
