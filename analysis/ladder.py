"""One number per mix: Bradley-Terry strengths, and how much of a matrix no such number can explain.

The model says that an attacker of strength a beats a defender of strength d with odds exp(a - d) to 1. Battles
that nobody wins count half for each. What the model leaves over are residuals: a mix that beats strong enemies and
loses to weak ones, as in rock, paper, scissors.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["ELO", "Ladder", "Reversal", "cycles", "fit_ladder", "reversals"]

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

ELO: Final = 400.0 / np.log(10.0)
"""Points of the usual rating scale per unit of strength: 400 points are odds of 10 to 1."""
_MOST_STEPS: Final = 100
_CONVERGED: Final = 1e-10
_CRUMB: Final = 1e-10
_MOST_COMPARED: Final = 400
"""Rows whose pairs are all compared; of more, as many drawn at random."""


class Ladder(NamedTuple):
    """Strengths of both sides.

    Attributes
    ----------
    rows, columns : float64 (R,), (C,)
        Strengths of attackers and defenders in natural units of log odds; their weighted mean over both is 0.
    rows_se, columns_se : float64 (R,), (C,)
        Standard errors from the errors of the shares; 0 where those are exact.
    fitted : float64 (R, C)
        Share that the strengths lead one to expect.
    explained : float
        Part of the deviance that the ladder accounts for, 0 to 1; NaN where all shares are equal.
    """

    rows: FloatArray
    columns: FloatArray
    rows_se: FloatArray
    columns_se: FloatArray
    fitted: FloatArray
    explained: float


def fit_ladder(
    shares: npt.ArrayLike, weights: npt.ArrayLike, errors: npt.ArrayLike | None = None, *, prior: float = 0.1
) -> Ladder:
    """Fit Bradley-Terry strengths to a matrix of shares by Newton's method.

    Parameters
    ----------
    shares : array_like, float, shape (R, C)
        Share of the row against the column, half of what nobody wins included; anything where the weight is 0.
    weights : array_like, float, shape (R, C)
        How much each pair counts, 0 for pairs that did not meet.
    errors : array_like, float, shape (R, C), optional
        Standard errors of the shares.
    prior : float
        Every mix is taken to have drawn this many battles of mean weight against an enemy of the mean strength. It
        keeps the strength of a mix that won or lost everything finite; 0 leaves it out.

    Returns
    -------
    Ladder

    Examples
    --------
    >>> ladder = fit_ladder([[0.75], [0.25]], [[1.0], [1.0]], prior=0.0)
    >>> round(float(ladder.rows[0] - ladder.columns[0]), 6) == round(float(np.log(3)), 6)
    True
    """
    weight = np.asarray(weights, dtype=np.float64)
    share = np.where(weight > 0.0, np.asarray(shares, dtype=np.float64), 0.5)
    met = weight[weight > 0.0]
    if not len(met):
        raise ValueError("no two mixes met")
    weight = weight / met.mean()
    rows, columns = np.zeros(weight.shape[0]), np.zeros(weight.shape[1])
    for _ in range(_MOST_STEPS):
        step = _newton_step(share, weight, rows, columns, prior)
        largest = max(float(np.abs(part).max()) for part in step)
        # Far from the solution full steps overshoot.
        factor = min(1.0, 3.0 / largest) if largest > 0.0 else 1.0
        rows, columns = rows + factor * step[0], columns + factor * step[1]
        if largest < _CONVERGED:
            break
    fitted = _logistic(rows[:, None] - columns[None, :])
    rows_se, columns_se = _errors(weight, _information(weight, rows, columns, prior), errors)
    middle = (weight.sum(axis=1) @ rows + weight.sum(axis=0) @ columns) / (2.0 * weight.sum())
    return Ladder(rows - middle, columns - middle, rows_se, columns_se, fitted, _explained(share, weight, fitted))


def _logistic(values: FloatArray) -> FloatArray:
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * values)), dtype=np.float64)


def _slope(values: FloatArray) -> FloatArray:
    share = _logistic(values)
    return share * (1.0 - share)


def _information(
    weight: FloatArray, rows: FloatArray, columns: FloatArray, prior: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the information matrix in blocks: rows, columns, and what couples them; never quite singular."""
    couple = weight * _slope(rows[:, None] - columns[None, :])
    # Adding the same to all strengths changes nothing without a prior: a crumb picks one of these solutions.
    own_rows = couple.sum(axis=1) + prior * _slope(rows) + _CRUMB
    own_columns = couple.sum(axis=0) + prior * _slope(columns) + _CRUMB
    return own_rows, own_columns, couple


def _newton_step(
    share: FloatArray, weight: FloatArray, rows: FloatArray, columns: FloatArray, prior: float
) -> tuple[FloatArray, FloatArray]:
    rest = weight * (share - _logistic(rows[:, None] - columns[None, :]))
    gradient_rows = rest.sum(axis=1) + prior * (0.5 - _logistic(rows))
    gradient_columns = -rest.sum(axis=0) + prior * (0.5 - _logistic(columns))
    return _solved(*_information(weight, rows, columns, prior), gradient_rows, gradient_columns)


def _solved(
    own_rows: FloatArray, own_columns: FloatArray, couple: FloatArray, at_rows: FloatArray, at_columns: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Solve the equations of the two coupled blocks by eliminating the longer side, whose block is diagonal."""
    if len(own_rows) < len(own_columns):
        columns, rows = _solved(own_columns, own_rows, couple.T, at_columns, at_rows)
        return rows, columns
    reduced = np.diag(own_columns) - couple.T @ (couple / own_rows[:, None])
    columns = np.linalg.solve(reduced, at_columns + couple.T @ (at_rows / own_rows))
    return (at_rows + couple @ columns) / own_rows, columns


def _errors(
    weight: FloatArray, information: tuple[FloatArray, FloatArray, FloatArray], errors: npt.ArrayLike | None
) -> tuple[FloatArray, FloatArray]:
    """Return what errors of the shares do to the strengths, to first order; whether the model fits or not."""
    n_rows, n_columns = weight.shape
    spread = np.zeros(weight.shape) if errors is None else np.nan_to_num(np.asarray(errors, dtype=np.float64))
    if not spread.any():
        return np.zeros(n_rows), np.zeros(n_columns)
    own_rows, own_columns, couple = information
    variance = (weight * spread) ** 2
    if n_rows < n_columns:
        columns_se, rows_se = _sandwich(own_columns, own_rows, couple.T, variance.T)
    else:
        rows_se, columns_se = _sandwich(own_rows, own_columns, couple, variance)
    return rows_se, columns_se


def _sandwich(
    own_long: FloatArray, own_short: FloatArray, couple: FloatArray, variance: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return standard errors of the longer and the shorter side.

    With L = the inverse information, in blocks, and independent errors of the cells, the variance of a strength is the
    sum over all cells (i, j) of variance_ij times (L_ki - L_kj)^2.
    """
    scaled = couple / own_long[:, None]
    short = np.linalg.inv(np.diag(own_short) - couple.T @ scaled)
    mixed = scaled @ short  # long x short
    by_row, by_column = variance.sum(axis=1), variance.sum(axis=0)
    # Shorter side: L_ki of the long side is mixed[i, k].
    short_variance = (mixed**2).T @ by_row + short**2 @ by_column - 2.0 * ((variance @ short) * mixed).sum(axis=0)
    # Longer side: L_ki = [k = i] / own + mixed[k] @ scaled[i]; its first part meets cells of row k alone.
    to_long = mixed @ scaled.T if len(own_long) <= _MOST_COMPARED * 5 else None
    if to_long is None:
        # The coupling through the other side is small where a side is this long.
        long_variance = by_row / own_long**2 + mixed**2 @ by_column
    else:
        np.fill_diagonal(to_long, to_long.diagonal() + 1.0 / own_long)
        long_variance = to_long**2 @ by_row + mixed**2 @ by_column - 2.0 * ((to_long @ variance) * mixed).sum(axis=1)
    return np.sqrt(np.maximum(long_variance, 0.0)), np.sqrt(np.maximum(short_variance, 0.0))


def _deviance(share: FloatArray, weight: FloatArray, fitted: FloatArray) -> float:
    with np.errstate(divide="ignore", invalid="ignore"):
        won = np.where(share > 0.0, share * np.log(share / fitted), 0.0)
        lost = np.where(share < 1.0, (1.0 - share) * np.log((1.0 - share) / (1.0 - fitted)), 0.0)
    return 2.0 * float((weight * np.where(weight > 0.0, won + lost, 0.0)).sum())


def _explained(share: FloatArray, weight: FloatArray, fitted: FloatArray) -> float:
    mean = float((weight * share).sum() / weight.sum())
    whole = _deviance(share, weight, np.full(share.shape, mean))
    if whole <= 1e-12 * weight.sum():
        return float("nan")
    inside = np.clip(fitted, 1e-300, 1.0 - 1e-16)
    return float(np.clip(1.0 - _deviance(share, weight, inside) / whole, 0.0, 1.0))


class Reversal(NamedTuple):
    """How often the better of two rows depends on the column.

    Attributes
    ----------
    share : float
        Of all pairs of rows and pairs of columns, those in which the first row is better at one column and the
        second at the other; NaN without a pair of each.
    example : tuple of int, or None
        Rows i and k, columns x and y: i is better than k at x, k better than i at y, by as much as can be.
    is_sampled : bool
        Whether only a part of the rows was compared.
    """

    share: float
    example: tuple[int, int, int, int] | None
    is_sampled: bool


def reversals(payoff: npt.ArrayLike, errors: npt.ArrayLike | float = 0.0, *, z: float = 1.959964) -> Reversal:
    """Count pairs of rows whose order depends on the column; a ladder has none.

    Parameters
    ----------
    payoff : array_like, float, shape (R, C)
    errors : array_like, float, shape (R, C), or float
        Standard errors; a difference counts where it is more than `z` times its own.
    z : float
        See `errors`.

    Returns
    -------
    Reversal

    Examples
    --------
    >>> reversals([[0.0, -1.0, 1.0], [1.0, 0.0, -1.0], [-1.0, 1.0, 0.0]]).share
    0.6666666666666666
    >>> reversals([[3.0, 2.0], [2.0, 1.0]]).share
    0.0
    """
    matrix = np.asarray(payoff, dtype=np.float64)
    variance = np.broadcast_to(np.asarray(errors, dtype=np.float64) ** 2, matrix.shape)
    chosen = np.arange(len(matrix))
    is_sampled = len(matrix) > _MOST_COMPARED
    if is_sampled:
        chosen = np.sort(np.random.default_rng(1).choice(len(matrix), _MOST_COMPARED, replace=False))
    number, width = len(chosen), matrix.shape[1]
    pairs = number * (number - 1) // 2 * (width * (width - 1) // 2)
    if not pairs:
        return Reversal(float("nan"), None, is_sampled)
    rounding = 1e-9 * max(float(np.ptp(matrix)), 1e-300)
    found, best, example = 0, 0.0, None
    for place, row in enumerate(chosen[:-1].tolist()):
        others = chosen[place + 1 :]
        difference = matrix[row] - matrix[others]
        clear = np.abs(difference) > z * np.sqrt(variance[row] + variance[others]) + rounding
        ahead, behind = np.where(clear, difference, 0.0), np.where(clear, -difference, 0.0)
        found += int(((ahead > 0.0).sum(axis=1) * (behind > 0.0).sum(axis=1)).sum())
        strength = np.minimum(ahead.max(axis=1), behind.max(axis=1))
        at = int(strength.argmax())
        if strength[at] > best:
            best = float(strength[at])
            example = (row, int(others[at]), int(ahead[at].argmax()), int(behind[at].argmax()))
    return Reversal(found / pairs, example, is_sampled)


def cycles(lead: npt.ArrayLike, errors: npt.ArrayLike | float = 0.0, *, z: float = 1.959964) -> Reversal:
    """Count circles of three: i beats j, j beats k, k beats i.

    Parameters
    ----------
    lead : array_like, float, shape (P, P)
        Lead of each over each other, ``lead[i, j] = -lead[j, i]``.
    errors : array_like, float, shape (P, P), or float
        Standard errors; one beats the other where its lead is more than `z` times this.
    z : float
        See `errors`.

    Returns
    -------
    Reversal
        ``share`` of all triples, ``example`` the clearest circle as ``(i, j, k, i)``.

    Examples
    --------
    >>> cycles([[0, -1, 1], [1, 0, -1], [-1, 1, 0]]).share
    1.0
    """
    matrix = np.asarray(lead, dtype=np.float64)
    spread = np.broadcast_to(np.asarray(errors, dtype=np.float64), matrix.shape)
    chosen = np.arange(len(matrix))
    is_sampled = len(matrix) > _MOST_COMPARED
    if is_sampled:
        chosen = np.sort(np.random.default_rng(1).choice(len(matrix), _MOST_COMPARED, replace=False))
        matrix, spread = matrix[np.ix_(chosen, chosen)], spread[np.ix_(chosen, chosen)]
    number = len(matrix)
    triples = number * (number - 1) * (number - 2) // 6
    if triples <= 0:
        return Reversal(float("nan"), None, is_sampled)
    clear = matrix > z * spread + 1e-12
    beats = clear.astype(np.float64)
    found = float(np.trace(beats @ beats @ beats)) / 3.0
    if not found:
        return Reversal(0.0, None, is_sampled)
    strength = np.where(clear, matrix, 0.0)
    best, example = 0.0, None
    for i in range(number):
        weakest = np.minimum(np.minimum(strength[i][:, None], strength), strength[:, i][None, :])
        if weakest.max() > best:
            best = float(weakest.max())
            j, k = (int(place) for place in np.unravel_index(int(weakest.argmax()), weakest.shape))
            example = (int(chosen[i]), int(chosen[j]), int(chosen[k]), int(chosen[i]))
    return Reversal(found / triples, example, is_sampled)
