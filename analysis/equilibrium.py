"""The zero-sum game behind a matrix of payoffs: equilibrium, averaging, domination.

One player picks a row and wants a large payoff, the other picks a column and wants a small one. Nothing here
knows about battles: :mod:`analysis.contest` makes the matrix of a run and puts the answers beside its mixes.
scipy is imported where it is used, because its import is slow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["MOST_CELLS", "Domination", "Equilibrium", "averaged", "domination", "resampled", "solve_game"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]

MOST_CELLS: Final = 1_000_000
"""Cells of a matrix up to which its equilibrium takes seconds."""
_SMALLEST: Final = 1e-9
"""Weights below this are rounding of the linear program."""
_PROGRAM_CELLS: Final = 2_000_000
"""Cells of all programs together that look for dominating mixtures."""
_MOST_PROGRAMS: Final = 200
_MOST_RIVALS: Final = 500
"""Rows, those of the highest means, that may dominate others by themselves."""


class Equilibrium(NamedTuple):
    """A pair of mixed strategies neither of which can be improved upon.

    Attributes
    ----------
    value : float
        Payoff that the row player makes sure of, and beyond which the column player lets nobody go.
    rows : float64 (R,)
        Weights of the rows; they add up to 1.
    columns : float64 (C,)
        Weights of the columns; they add up to 1.
    gap : float
        What the best replies to the two strategies differ by: 0 within rounding.
    """

    value: float
    rows: FloatArray
    columns: FloatArray
    gap: float


def _weights(values: FloatArray) -> FloatArray:
    """Return weights without the crumbs that a linear program leaves."""
    kept = np.where(values > _SMALLEST, values, 0.0)
    return np.asarray(kept / kept.sum(), dtype=np.float64)


def _only(place: int, number: int) -> FloatArray:
    """Return the weights of picking one thing always."""
    weights = np.zeros(number)
    weights[place] = 1.0
    return weights


def solve_game(payoff: npt.ArrayLike) -> Equilibrium:
    """Return an equilibrium of a zero-sum game.

    Parameters
    ----------
    payoff : array_like, float, shape (R, C)
        What the row player gets; finite, at least one row and column.

    Returns
    -------
    Equilibrium
        Where there are several, the one that the linear program ends at; see `averaged`.

    Raises
    ------
    ValueError
        For an empty matrix, or one with NaN.

    Examples
    --------
    >>> pennies = solve_game([[1, -1], [-1, 1]])
    >>> pennies.value, pennies.rows.tolist(), pennies.columns.tolist()
    (0.0, [0.5, 0.5], [0.5, 0.5])
    """
    matrix = np.asarray(payoff, dtype=np.float64)
    if matrix.ndim != 2 or not matrix.size or not np.isfinite(matrix).all():  # noqa: PLR2004 - rows and columns
        raise ValueError("a game needs a matrix of finite payoffs with at least one row and one column")
    row, column = int(matrix.min(axis=1).argmax()), int(matrix.max(axis=0).argmin())
    if matrix[row].min() == matrix[:, column].max():
        return Equilibrium(float(matrix[row, column]), _only(row, len(matrix)), _only(column, matrix.shape[1]), 0.0)
    # The program has a constraint for each column: the shorter side goes there.
    if matrix.shape[0] < matrix.shape[1]:
        other = _solve(-matrix.T)
        return _with_gap(matrix, other[1], other[0])
    return _with_gap(matrix, *_solve(matrix))


def _with_gap(matrix: FloatArray, rows: FloatArray, columns: FloatArray) -> Equilibrium:
    low, high = float((rows @ matrix).min()), float((matrix @ columns).max())
    return Equilibrium((low + high) / 2.0 + 0.0, rows, columns, high - low)


def _solve(matrix: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the weights of rows and columns: the solution of the row player's program and its dual."""
    from scipy.optimize import linprog  # noqa: PLC0415 - slow import

    n_rows, n_columns = matrix.shape
    # Payoffs of any size are brought to 0 to 1, which the tolerances of the program are made for.
    low, size = matrix.min(), np.ptp(matrix)
    scaled = (matrix - low) / (size if size > 0.0 else 1.0)
    found: Any = linprog(
        np.append(np.zeros(n_rows), -1.0),
        A_ub=np.hstack([-scaled.T, np.ones((n_columns, 1))]),
        b_ub=np.zeros(n_columns),
        A_eq=np.append(np.ones(n_rows), 0.0)[None, :],
        b_eq=[1.0],
        bounds=[(0.0, None)] * n_rows + [(None, None)],
        method="highs",
    )
    if found.status != 0:
        raise ArithmeticError(f"the linear program of the game ended without a solution: {found.message}")
    return _weights(found.x[:-1]), _weights(-found.ineqlin.marginals)


def averaged(payoff: npt.ArrayLike, value: float, margin: float) -> FloatArray:
    """Return the most even strategy of the row player that gives up at most `margin` of the value.

    Of all strategies that are as good within the margin it is the one of largest entropy ("Nash averaging"):
    rows that do the same share what one of them would get, so a near-duplicate changes nothing for the others.

    Parameters
    ----------
    payoff : array_like, float, shape (R, C)
        What the row player gets.
    value : float
        Value of the game.
    margin : float
        What the strategy may lose against the best reply, above 0.

    Returns
    -------
    float64 (R,)
        Weights that add up to 1.

    Examples
    --------
    >>> rock_twice = [[0, 0, -1, 1], [0, 0, -1, 1], [1, 1, 0, -1], [-1, -1, 1, 0]]
    >>> averaged(rock_twice, 0.0, 1e-4).round(3).tolist()
    [0.167, 0.167, 0.333, 0.333]
    """
    from scipy.optimize import minimize  # noqa: PLC0415 - slow import

    matrix = np.asarray(payoff, dtype=np.float64)
    # In units of the margin all multipliers are of about the same size.
    excess = (matrix - (value - margin)) / margin

    # The dual of the entropy: weights are exp(excess @ multipliers), the multipliers at least 0.
    def dual(multipliers: FloatArray) -> tuple[float, FloatArray]:
        logs = excess @ multipliers
        top = logs.max()
        weights = np.exp(logs - top)
        total = weights.sum()
        return float(top + np.log(total)), np.asarray((weights / total) @ excess, dtype=np.float64)

    found: Any = minimize(
        dual,
        np.zeros(matrix.shape[1]),
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, None)] * matrix.shape[1],
        options={"maxiter": 5_000, "maxfun": 20_000, "ftol": 1e-14, "gtol": 1e-7},
    )
    logs = excess @ found.x
    weights = np.exp(logs - logs.max())
    return _weights(weights / weights.sum())


class Domination(NamedTuple):
    """Which rows are dominated, and by what.

    Attributes
    ----------
    margin : float64 (R,)
        By how much the dominating mixture does better against every column at least; 0 where there is none,
        NaN where it was not looked for.
    by : tuple of tuple of (int, float)
        Rows of the dominating mixture with their weights, largest first; empty where there is none.
    """

    margin: FloatArray
    by: tuple[tuple[tuple[int, float], ...], ...]


def domination(payoff: npt.ArrayLike, margin: float = 0.0) -> Domination:
    """Find the rows that another row, or a mixture of others, beats against every column.

    Parameters
    ----------
    payoff : array_like, float, shape (R, C)
        What the row player gets.
    margin : float
        Rows count as dominated only where something does better by more than this everywhere.

    Returns
    -------
    Domination

    Examples
    --------
    >>> found = domination([[4.0, 0.0], [0.0, 4.0], [1.0, 1.5]])
    >>> round(float(found.margin[2]), 3), [row for row, _ in found.by[2]]
    (0.75, [1, 0])
    """
    matrix = np.asarray(payoff, dtype=np.float64)
    number = len(matrix)
    threshold = max(margin, 1e-9 * max(float(np.ptp(matrix)), 1e-300))
    margins = np.zeros(number)
    by: list[tuple[tuple[int, float], ...]] = [()] * number
    by_one, who = _pure_margins(matrix)
    # A row that is a best reply to some column by itself cannot be beaten there.
    is_open = (matrix < matrix.max(axis=0) - threshold).all(axis=1)
    # What a dominated row does in a mixture, the row that dominates it does better.
    rivals = np.flatnonzero(by_one <= threshold)
    programs = min(_MOST_PROGRAMS, _PROGRAM_CELLS // max(matrix[rivals].size, 1))
    for row in np.flatnonzero(is_open).tolist():
        if by_one[row] > threshold:
            # A single row is easier to understand than a mixture that does better still.
            margins[row], by[row] = by_one[row], ((int(who[row]), 1.0),)
        elif programs:
            programs -= 1
            mixed, weights = _mixed_margin(matrix, row, rivals[rivals != row])
            if mixed > threshold:
                margins[row], by[row] = mixed, tuple(_largest_first(weights))
        else:
            margins[row] = np.nan
    return Domination(margins, tuple(by))


def _pure_margins(matrix: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return for each row the largest margin by which a single row beats it everywhere, and which row."""
    rivals = np.argsort(-matrix.mean(axis=1), kind="stable")[:_MOST_RIVALS]
    margins, who = np.full(len(matrix), -np.inf), np.zeros(len(matrix), dtype=np.intp)
    for rival in rivals.tolist():
        least = (matrix[rival] - matrix).min(axis=1)
        least[rival] = -np.inf
        is_larger = least > margins
        margins[is_larger], who[is_larger] = least[is_larger], rival
    return margins, who


def _mixed_margin(matrix: FloatArray, row: int, rivals: IntArray) -> tuple[float, FloatArray]:
    """Return the largest margin by which a mixture of rivals beats a row: the value of a game."""
    weights = np.zeros(len(matrix))
    if not len(rivals):
        return -np.inf, weights
    ahead = matrix[rivals] - matrix[row]
    weights[rivals] = solve_game(ahead).rows
    return float((weights[rivals] @ ahead).min()), weights


def _largest_first(weights: FloatArray) -> Iterator[tuple[int, float]]:
    for row in np.argsort(-weights, kind="stable").tolist():
        if weights[row] > 0.0:
            yield row, float(weights[row])


def resampled(
    payoff: npt.ArrayLike,
    errors: npt.ArrayLike,
    *,
    replications: int,
    seed: int,
    bounds: tuple[float, float] = (-np.inf, np.inf),
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Solve the game again and again with payoffs drawn anew: how far the answer depends on the sample.

    Parameters
    ----------
    payoff, errors : array_like, float, shape (R, C)
        Payoffs and their standard errors; errors are taken as normal and independent.
    replications : int
        Games to solve, at least 1.
    seed : int
        Of the random numbers; equal seeds give equal answers.
    bounds : tuple of float
        What no payoff can pass, as 0 and 1 for shares.

    Returns
    -------
    values : float64 (replications,)
    rows : float64 (replications, R)
    columns : float64 (replications, C)
    """
    matrix, spread = np.asarray(payoff, dtype=np.float64), np.asarray(errors, dtype=np.float64)
    rng = np.random.default_rng(seed)
    games = [
        solve_game(np.clip(matrix + spread * rng.standard_normal(matrix.shape), *bounds)) for _ in range(replications)
    ]
    return (
        np.array([game.value for game in games]),
        np.array([game.rows for game in games]),
        np.array([game.columns for game in games]),
    )
