"""Intervals of shares that stay valid however often one looks, and the rule that stops a matchup at a precision.

The intervals are Robbins' beta-binomial mixtures: for a share p and k successes in n battles

    M(p) = B(r p + k, r (1 - p) + n - k) / (B(r p, r (1 - p)) p^k (1 - p)^(n - k))

is a martingale of mean 1 when p is the true share, so by Ville's inequality it ever exceeds 1 / alpha with
probability alpha at most. The shares at which it does not are an interval, since log M is convex in p. The pages of
documentation have the proof and the sources. The weight r of the mixture is a constant: the intervals of a run do not
depend on the precision that was asked for, so they stay valid when a finer one is asked for later.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "FINEST",
    "LEVEL",
    "MIXTURE_BATTLES",
    "Bounds",
    "always_valid",
    "battles_enough",
    "largest_minorities",
    "log_mixture",
    "reached",
]

LEVEL: Final = 0.95
"""Coverage of the intervals of all outcome shares of a matchup together, at all times together."""
MIXTURE_BATTLES: Final = 32_768
"""Weight r of the mixture in battles: within a tenth of the narrowest for half-widths from 0.0005 to 0.005."""
FINEST: Final = 1e-5
"""Smallest half-width that may be asked for: it takes up to 10^11 battles of a matchup."""
_STEPS: Final = 60
_CLOSE: Final = 1e-10
_FIRST_STEP: Final = 1.5
_LARGEST: Final = 1.0 - 2.0**-48
_SERIES_FROM: Final = 8
_HALF: Final = 0.5
_MOST_OUTCOMES: Final = 64
_DIGITS: Final = 10

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


class Bounds(NamedTuple):
    """Lower and upper bounds, float64, of the common shape of the arguments."""

    low: Floats
    high: Floats


def _stirling_rest(x: Floats) -> Floats:
    """Return log Gamma(x) without its leading part (x - 1/2) log x - x + log(2 pi) / 2, for x > 0."""
    found = np.zeros_like(x)
    small = x < _SERIES_FROM
    if small.any():
        shifted = x[small]
        rest = np.zeros_like(shifted)
        for _ in range(_SERIES_FROM):
            rest += (shifted + 0.5) * np.log1p(1.0 / shifted) - 1.0
            shifted = shifted + 1.0
        found[small] = rest
        x = np.where(small, x + _SERIES_FROM, x)
    square = 1.0 / (x * x)
    return found + (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square / 1680))) / x


def log_mixture(share: npt.ArrayLike, successes: npt.ArrayLike, trials: npt.ArrayLike) -> Floats:
    """Return log M(p): how much more likely the mixture makes the counts than the share p does.

    Parameters
    ----------
    share : array_like, float
        Shares p, above 0 and below 1.
    successes, trials : array_like
        Counts, ``0 <= successes <= trials``.

    Returns
    -------
    float64
        Of the common shape.

    Examples
    --------
    >>> round(float(log_mixture(0.5, 50, 100)), 4), round(float(log_mixture(0.5, 5_300, 10_000)), 2)
    (-0.0015, 4.08)
    """
    p, k, n = np.broadcast_arrays(
        np.asarray(share, dtype=np.float64),
        np.asarray(successes, dtype=np.float64),
        np.asarray(trials, dtype=np.float64),
    )
    q = 1.0 - p
    weight = float(MIXTURE_BATTLES)
    one, other = weight * p, weight * q
    one_after, other_after = one + k, other + (n - k)
    # With n the posterior mean goes from p to p + (k - n p) / (r + n). The gamma functions are taken apart into
    # their leading parts, which give a divergence without cancellation, and their small rests.
    shift = np.where(p > _HALF, n * q - (n - k), k - n * p) / (weight + n)
    divergence = one_after * np.log1p(shift / p) + other_after * np.log1p(-shift / q)
    spread = np.log1p(k / one) + np.log1p((n - k) / other) - np.log1p(n / weight)
    rest = _stirling_rest(one_after) + _stirling_rest(other_after) - _stirling_rest(weight + n)
    rest -= _stirling_rest(one) + _stirling_rest(other) - _stirling_rest(np.full_like(p, weight))
    return np.asarray(divergence - 0.5 * spread + rest, dtype=np.float64)


def _lower(successes: Floats, trials: Floats, limit: float) -> Floats:
    """Return the smallest share at which log M stays below `limit`; 0 where it does all the way."""
    found = np.zeros_like(successes)
    # With one success the mixture for p has no more to say against p = 0 than its own weight: M is below 1 there.
    some = successes > 1
    k, n = successes[some], trials[some]
    if not len(k):
        return found
    # Sought on the scale of log p, where log M is convex too. Its root above the value at the sampled share is
    # nearly straight there, so that regula falsi needs few steps.
    high = np.log(np.minimum(k / n, _LARGEST))
    least = log_mixture(np.exp(high), k, n)
    wanted = np.sqrt(limit - least)

    def missing(at: Floats) -> Floats:
        return np.asarray(np.sqrt(np.maximum(log_mixture(np.exp(at), k, n) - least, 0.0)) - wanted)

    step = wanted * np.sqrt((n - k + 1.0) / (n * k)) * _FIRST_STEP
    low = high - step
    beyond = missing(low)
    while (beyond < 0).any():
        step = step * 2.0
        low = np.where(beyond < 0, low - step, low)
        beyond = missing(low)
    within = -wanted
    last = np.zeros_like(k)
    share = np.exp(low)
    is_open = np.ones(len(k), dtype=np.bool_)
    for _ in range(_STEPS):
        middle = (high * beyond - low * within) / (beyond - within)
        value = missing(middle)
        # Every share is taken as soon as it is close, so that none depends on what else is asked for.
        share = np.where(is_open, np.exp(middle), share)
        is_open &= np.abs(value) >= _CLOSE
        if not is_open.any():
            break
        is_low = value > 0
        # Halving the value at an end that stays (Illinois) keeps both ends moving.
        within = np.where(is_low, np.where(last > 0, within / 2, within), value)
        beyond = np.where(is_low, value, np.where(last < 0, beyond / 2, beyond))
        low, high = np.where(is_low, middle, low), np.where(is_low, high, middle)
        last = np.where(is_low, 1.0, -1.0)
    found[some] = share
    return found


def always_valid(successes: npt.ArrayLike, trials: npt.ArrayLike, *, outcomes: int = 1, level: float = LEVEL) -> Bounds:
    """Intervals of binomial shares that hold at all times together.

    Parameters
    ----------
    successes, trials : array_like
        Counts, ``0 <= successes <= trials``. Without trials the interval is 0 to 1; NaN in, NaN out.
    outcomes : int
        Number of shares that shall lie within their intervals together; the error is divided among them.
    level : float
        Coverage, above 0 and below 1.

    Returns
    -------
    Bounds
        Within 0 to 1; a lower bound is 0 without a success, an upper one 1 with nothing else.

    Examples
    --------
    >>> low, high = always_valid(500_000, 1_000_000, outcomes=7)
    >>> round(float(low), 5), round(float(high), 5)
    (0.49814, 0.50186)
    """
    k, n = np.broadcast_arrays(np.asarray(successes, dtype=np.float64), np.asarray(trials, dtype=np.float64))
    shape = k.shape
    k, n = k.ravel(), n.ravel()
    limit = math.log(outcomes / (1.0 - level))
    low, high = np.full(k.shape, np.nan), np.full(k.shape, np.nan)
    known = ~(np.isnan(k) | np.isnan(n))
    low[known] = _lower(k[known], n[known], limit)
    high[known] = 1.0 - _lower(n[known] - k[known], n[known], limit)
    return Bounds(low.reshape(shape), high.reshape(shape))


def reached(counts: npt.NDArray[np.int64]) -> Floats:
    """Return the largest half-width over the outcome shares of matchups.

    Parameters
    ----------
    counts : int64 (M, K)
        Battles that ended with each outcome, at least one battle in every row.

    Returns
    -------
    float64 (M,)
        Rounded to ten decimals, which do not depend on the machine.

    Examples
    --------
    >>> reached(np.array([[500_000, 0, 500_000], [10, 4_086, 0]])).tolist()
    [0.0017335356, 0.0107434244]
    """
    trials = counts.sum(axis=1)
    # The closer to one half, the wider.
    minority = np.minimum(counts, trials[:, None] - counts).max(axis=1)
    return _half_width(minority, trials, counts.shape[1])


def largest_minorities(precision: float, looks: Sequence[int], outcomes: int) -> Integers:
    """Return how evenly the battles of a matchup may be divided at each look for it to be precise enough.

    An outcome that k of n battles have has a half-width that grows with min(k, n - k). So a matchup is precise enough
    where that is at most the number found here, for all its outcomes: a comparison of whole numbers.

    Parameters
    ----------
    precision : float
        Largest half-width.
    looks : sequence of int
        Numbers of battles n.
    outcomes : int
        Number of outcomes.

    Returns
    -------
    int64 (len(looks),)
        -1 where no matchup is.

    Examples
    --------
    >>> largest_minorities(0.005, [4_096, 65_536, 319_488], 7).tolist()
    [-1, 7340, 159744]
    """
    n = np.array(looks, dtype=np.int64)
    fits, fails = np.full(len(n), -1, dtype=np.int64), n // 2 + 1
    while (is_open := fails - fits > 1).any():
        middle = (fits[is_open] + fails[is_open]) // 2
        is_fit = _half_width(middle, n[is_open], outcomes) <= precision
        fits[is_open] = np.where(is_fit, middle, fits[is_open])
        fails[is_open] = np.where(is_fit, fails[is_open], middle)
    return fits


def _half_width(counts: Integers, trials: Integers, outcomes: int) -> Floats:
    low, high = always_valid(counts, trials, outcomes=outcomes)
    return np.round((high - low) / 2.0, _DIGITS)


def battles_enough(precision: float) -> int:
    """Return a number of battles that brings any matchup of any ruleset to a precision.

    Parameters
    ----------
    precision : float
        Largest half-width.

    Returns
    -------
    int

    Examples
    --------
    >>> battles_enough(0.01), battles_enough(0.001)
    (65536, 8388608)
    """
    battles = 4_096
    while _half_width(np.array([battles // 2]), np.array([battles]), _MOST_OUTCOMES)[0] > precision:
        battles *= 2
    return battles
