"""Many tests at once: p-values adjusted so that the share of false discoveries stays below a chosen level.

The procedures are those of Benjamini and Hochberg (1995), for tests that are independent or positively dependent,
and of Benjamini and Yekutieli (2001), for any dependence. Both are given as adjusted p-values: a test counts as a
discovery where its adjusted p-value is at most the level.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["benjamini_hochberg", "benjamini_yekutieli"]

FloatArray = npt.NDArray[np.float64]

_SUMMED: int = 1_000
_EULER: float = 0.5772156649015329


def benjamini_hochberg(p_values: npt.ArrayLike) -> FloatArray:
    """Return adjusted p-values for tests that are independent or positively dependent.

    Parameters
    ----------
    p_values : array_like, float, shape (R,)
        Within 0 to 1; NaN is no test: it stays NaN and does not count.

    Returns
    -------
    float64 (R,)

    Examples
    --------
    >>> benjamini_hochberg([0.01, 0.02, 0.03, 0.5]).tolist()
    [0.04, 0.04, 0.04, 0.5]
    """
    return _adjusted(p_values, factor=1.0)


def benjamini_yekutieli(p_values: npt.ArrayLike) -> FloatArray:
    """Return adjusted p-values for tests that depend on each other in any way.

    They are those of `benjamini_hochberg` times 1 + 1/2 + ... + 1/R.

    Parameters
    ----------
    p_values : array_like, float, shape (R,)
        As in `benjamini_hochberg`.

    Returns
    -------
    float64 (R,)

    Examples
    --------
    >>> benjamini_yekutieli([0.01, 0.02, 0.06]).round(4).tolist()
    [0.055, 0.055, 0.11]
    """
    number = int(np.count_nonzero(~np.isnan(np.asarray(p_values, dtype=np.float64))))
    return _adjusted(p_values, factor=_harmonic(number))


def _harmonic(number: int) -> float:
    """Return 1 + 1/2 + ... + 1/number, to all digits."""
    if number <= _SUMMED:
        return float(np.sum(1.0 / np.arange(1, number + 1)))
    return float(np.log(number)) + _EULER + 1 / (2 * number) - 1 / (12 * number**2)


def _adjusted(p_values: npt.ArrayLike, factor: float) -> FloatArray:
    given = np.asarray(p_values, dtype=np.float64)
    adjusted = np.full(given.shape, np.nan)
    tested = np.flatnonzero(~np.isnan(given))
    order = tested[np.argsort(given[tested], kind="stable")]
    number = len(order)
    scaled = given[order] * factor * number / np.arange(1, number + 1)
    # A test is a discovery as soon as any test with a larger p-value is one.
    adjusted[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1.0)
    return adjusted
