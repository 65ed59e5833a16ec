"""Figures per matchup and per unit mix, with their uncertainty, as whole columns.

Definitions
-----------
* The attackers' **win share** is the share of battles that end in ``attacker_wins`` or ``attacker_clears``;
  the defenders' is that of ``defender_wins``. In raids they are those of ``damage`` and ``no_damage``.
* The **lead** of a matchup is the attackers' win share minus the defenders'.
* A side's **swing** is the enemy's cost lost minus its own.
* A mix's **cost efficiency** is the enemy cost it destroyed per own cost it lost: the ratio of the two means
  over its opponents; NaN where nothing was lost.
* Means over opponents weigh each by its ``weight``. Worst and best are over the opponents with a weight above 0, or
  over all where none has one.
* Two mixes **cost about the same** where the dearer one costs at most 10 % more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.estimators import (
    DEFAULT_LEVEL,
    Interval,
    critical_value,
    lead_interval,
    mean_interval,
    standard_error,
    wilson,
)
from analysis.frames import SIDES
from simcore.precision import always_valid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analysis.frames import Run

__all__ = ["matchup_table", "mix_table"]

_EQUAL_COST: Final = 1.1
_MEANS: Final = ("attacker_cost_lost", "defender_cost_lost", "swing")
_MORE_MEANS: Final = ("first_mover_edge",)
"""Means that only some battles have."""

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]


def matchup_table(run: Run, *, level: float = DEFAULT_LEVEL) -> pd.DataFrame:
    """Add intervals, standard errors, win shares and leads to the matchups of a run.

    Parameters
    ----------
    run : Run
        From :func:`analysis.load`.
    level : float
        Coverage of the intervals.

    Returns
    -------
    DataFrame
        The rows of ``run.matchups`` in their order with, per outcome, ``lo_<outcome>`` and ``hi_<outcome>``
        (Wilson, or those that hold at all times where a precision decided how many battles there are);
        ``attacker_win_share`` and ``defender_win_share`` with ``lo_`` and ``hi_``; ``lead`` with
        ``lo_`` and ``hi_``; ``favourite`` ("attacker", "defender", "none" when the interval of the lead holds
        0, "" for failed rows); ``lo_`` and ``hi_`` of ``captured`` and ``swing_negative``; ``<figure>_se`` of cycles
        or turns, costs lost, swing and the first mover's edge. Exact rows get intervals of no width and errors of 0.
    """
    source = run.matchups
    is_exact = run.is_exact
    columns: dict[Any, Any] = {name: source[name] for name in source.columns}
    counted = source["status"].to_numpy(dtype=object) == "ok"
    battles = np.where(counted & ~is_exact, _floats(source["battles"]), np.nan)

    def interval_of(successes: FloatArray) -> Interval:
        if run.precision is None:
            return wilson(successes, battles, level)
        # Where the counts themselves decided how many battles there are, other intervals would be too narrow.
        return Interval(*always_valid(successes, battles, outcomes=len(run.outcomes), level=level))

    def bounds(name: str, share: FloatArray) -> None:
        interval = interval_of(np.rint(share * battles))
        columns[f"lo_{name}"], columns[f"hi_{name}"] = (np.where(is_exact, share, bound) for bound in interval)

    for outcome in run.outcomes:
        bounds(outcome, _floats(source[f"p_{outcome}"]))
    shares: dict[str, FloatArray] = {}
    for side in SIDES:
        known = [_floats(source[f"p_{name}"]) for name in run.wins[side] if name in run.outcomes]
        shares[side] = np.minimum(np.sum(known, axis=0), 1.0) if known else np.zeros(len(source))
        columns[f"{side}_win_share"] = shares[side]
        bounds(f"{side}_win_share", shares[side])
    lead = shares["attacker"] - shares["defender"]
    columns["lead"] = lead
    won = {side: np.rint(shares[side] * battles) for side in SIDES}
    if run.precision is None:
        interval = lead_interval(won["attacker"], won["defender"], battles, level)
    else:
        ours, theirs = interval_of(won["attacker"]), interval_of(won["defender"])
        interval = Interval(ours.low - theirs.high, ours.high - theirs.low)
    low, high = (np.where(is_exact, lead, bound) for bound in interval)
    columns["lo_lead"], columns["hi_lead"] = low, high
    columns["favourite"] = np.select(
        [low > 0.0, high < 0.0, counted & ~np.isnan(lead)], ["attacker", "defender", "none"], ""
    )
    if "p_captured" in source:
        bounds("captured", _floats(source["p_captured"]))
    if "swing_negative" in source:
        bounds("swing_negative", _floats(source["swing_negative"]))
    for figure in (*_MEANS, run.rounds, *(name for name in _MORE_MEANS if f"{name}_mean" in source)):
        error = standard_error(_floats(source[f"{figure}_sd"]), battles)
        columns[f"{figure}_se"] = np.where(counted, np.where(is_exact, 0.0, error), np.nan)
    return pd.DataFrame(columns, copy=False)


def mix_table(run: Run, matchups: pd.DataFrame, *, level: float = DEFAULT_LEVEL) -> pd.DataFrame:
    """Condense matchups to one row per grid point, side and unit mix.

    Variances of the single matchups add up when their dice are their own (pairing "matchup" and
    "independent"). Under "common" all matchups share their dice; how far they move together is not known,
    so errors are added instead, which is never too narrow.

    Parameters
    ----------
    run : Run
        From :func:`analysis.load`.
    matchups : DataFrame
        From :func:`matchup_table`.
    level : float
        Coverage of the intervals.

    Returns
    -------
    DataFrame
        ``grid.<key>`` columns, ``grid_point`` (0, 1, … in order of appearance), ``side``, ``mix``, ``units``,
        ``cost``, ``weight``, ``n_opponents`` (matchups that counted), ``n_failed``, ``battles``;
        ``win_share_mean``, ``win_share_worst``, ``win_share_best``, each with ``lo_`` and ``hi_``,
        ``worst_opponent``, ``best_opponent``; ``n_equal_cost``, opponents that cost about the same, and
        ``win_share_equal_cost`` against these with ``lo_`` and ``hi_`` and ``equal_cost_rank`` (1 = best of its side
        and grid point); ``swing_mean`` (from the side's own view), ``swing_se`` and
        ``swing_sd`` (of a single battle against an opponent of the field); ``cost_lost_mean``,
        ``enemy_cost_lost_mean`` with ``_se``; ``cost_efficiency`` with ``lo_`` and ``hi_``; ``cycles_mean``
        or ``turns_mean``.
        Ordered by grid point, side (attackers first) and appearance.
    """
    grid = list(run.grid_columns)
    points = grid_points(matchups, grid)
    tables = [
        _side_table(run, matchups, side, points, is_common=run.pairing == "common", level=level) for side in SIDES
    ]
    both = pd.concat(tables, ignore_index=True)
    return both.sort_values("grid_point", kind="stable", ignore_index=True)


def grid_points(frame: pd.DataFrame, grid: Sequence[str]) -> IntArray:
    """Return the number of each row's grid point, 0, 1, … in order of appearance.

    Parameters
    ----------
    frame : DataFrame
        A table of the results folder.
    grid : sequence of str
        Its grid columns; without any every row is at point 0.

    Returns
    -------
    ndarray of int, shape (rows,)
    """
    codes = np.zeros(len(frame), dtype=np.intp)
    for column in grid:
        values, names = pd.factorize(frame[column], use_na_sentinel=False)
        codes, _ = pd.factorize(codes * len(names) + values)
    return np.asarray(codes, dtype=np.intp)


def _floats(column: pd.Series[Any]) -> FloatArray:
    """Return a column as float64, with NaN for null."""
    return column.to_numpy(dtype=np.float64, na_value=np.nan)


class _Groups:
    """Rows collected into groups, with the sums that the table of mixes needs."""

    def __init__(self, codes: IntArray, counted: npt.NDArray[np.bool_], weights: FloatArray) -> None:
        self.codes = codes
        self.size = int(codes.max()) + 1 if len(codes) else 0
        self.counted = counted
        total = self.sum(np.where(counted, weights, 0.0))
        with np.errstate(divide="ignore", invalid="ignore"):
            self.weights = np.where(counted, weights / total[codes], 0.0)

    def sum(self, values: FloatArray) -> FloatArray:
        return np.bincount(self.codes, weights=values, minlength=self.size).astype(np.float64, copy=False)

    def mean(self, values: FloatArray) -> FloatArray:
        """Weighted mean over the rows that count; NaN for a group without any."""
        found = self.sum(self.weights * np.where(self.counted, values, 0.0))
        return np.where(self.sum(self.counted.astype(np.float64)) > 0, found, np.nan)

    def error(self, errors: FloatArray, *, is_common: bool) -> FloatArray:
        """Error of the weighted mean from the errors of the rows."""
        parts = self.weights * np.where(self.counted, errors, 0.0)
        found = self.sum(parts) if is_common else np.sqrt(self.sum(parts**2))
        return np.where(self.sum(self.counted.astype(np.float64)) > 0, found, np.nan)

    def first_extreme(self, values: FloatArray, *, largest: bool) -> IntArray:
        """Return per group the first row with the smallest or largest value; -1 without any."""
        rows = np.flatnonzero(self.counted & ~np.isnan(values))
        keys = -values[rows] if largest else values[rows]
        order = rows[np.lexsort((rows, keys, self.codes[rows]))]
        found = np.full(self.size, -1, dtype=np.intp)
        groups, starts = np.unique(self.codes[order], return_index=True)
        found[groups] = order[starts]
        return found


def _side_table(
    run: Run,
    matchups: pd.DataFrame,
    side: str,
    points: IntArray,
    *,
    is_common: bool,
    level: float,
) -> pd.DataFrame:
    """Return the rows of one side, ordered by grid point and first appearance."""
    enemy = SIDES[1 - SIDES.index(side)]
    names, known = pd.factorize(matchups[side])
    codes, keys = pd.factorize(points * max(len(known), 1) + names, sort=True)
    share = _floats(matchups[f"{side}_win_share"])
    counted = (matchups["status"].to_numpy(dtype=object) == "ok") & ~np.isnan(share)
    groups = _Groups(np.asarray(codes, dtype=np.intp), counted, _floats(matchups[f"{enemy}_weight"]))
    firsts = np.full(len(keys), len(matchups), dtype=np.intp)
    np.minimum.at(firsts, groups.codes, np.arange(len(matchups)))

    sign = 1.0 if side == "attacker" else -1.0
    battles = np.where(counted, _floats(matchups["battles"]), 0.0)
    z = critical_value(level)
    low, high = (_floats(matchups[f"{bound}_{side}_win_share"]) for bound in ("lo", "hi"))
    mean = groups.mean(share)
    first = matchups.take(firsts)
    table: dict[Any, Any] = {column: first[column].to_numpy() for column in run.grid_columns}
    table |= {
        "grid_point": points[firsts],
        "side": side,
        "mix": first[side].array,
        "units": first[f"{side}_units"].array,
        "cost": _floats(first[f"{side}_cost"]),
        "weight": first[f"{side}_weight"].to_numpy(),
        "n_opponents": groups.sum(counted.astype(np.float64)).astype(np.int64),
        "n_failed": groups.sum((~counted).astype(np.float64)).astype(np.int64),
        "battles": groups.sum(battles).astype(np.int64),
        "win_share_mean": mean,
        # Distances to the Wilson bounds take the place of standard errors: unlike those they are right near
        # 0 and 1, and they keep the two sides of the interval apart.
        "lo_win_share_mean": np.clip(mean - groups.error(share - low, is_common=is_common), 0.0, 1.0),
        "hi_win_share_mean": np.clip(mean + groups.error(high - share, is_common=is_common), 0.0, 1.0),
    }
    opponents = matchups[enemy].array
    # The field is what has a weight; a mix all of whose opponents have none is judged by all of them.
    weighs = _floats(matchups[f"{enemy}_weight"]) > 0.0
    in_field = weighs | (groups.sum((weighs & counted).astype(np.float64))[groups.codes] == 0.0)
    for word in ("worst", "best"):
        rows = groups.first_extreme(np.where(in_field, share, np.nan), largest=word == "best")
        table[f"win_share_{word}"] = _taken(share, rows)
        table[f"lo_win_share_{word}"] = _taken(low, rows)
        table[f"hi_win_share_{word}"] = _taken(high, rows)
        table[f"{word}_opponent"] = opponents.take(rows, allow_fill=True)

    table |= _equal_cost(matchups, groups, counted, (share, low, high), side, is_common=is_common)
    table["equal_cost_rank"] = _ranks(table["win_share_equal_cost"], table["grid_point"])

    swing, swing_sd = sign * _floats(matchups["swing_mean"]), _floats(matchups["swing_sd"])
    table["swing_mean"] = groups.mean(swing)
    table["swing_se"] = groups.error(_floats(matchups["swing_se"]), is_common=is_common)
    between = swing - table["swing_mean"][groups.codes]
    table["swing_sd"] = np.sqrt(groups.mean(np.nan_to_num(swing_sd) ** 2 + between**2))
    for name, who in (("cost_lost", side), ("enemy_cost_lost", enemy)):
        table[f"{name}_mean"] = groups.mean(_floats(matchups[f"{who}_cost_lost_mean"]))
        table[f"{name}_se"] = groups.error(_floats(matchups[f"{who}_cost_lost_se"]), is_common=is_common)

    own, gained = table["cost_lost_mean"], table["enemy_cost_lost_mean"]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(own > 0.0, gained / own, np.nan)
        # The variance of the swing gives the covariance of the two losses, hence the error of log(ratio).
        one, other = gained[groups.codes], own[groups.codes]
        gain_se = _floats(matchups[f"{enemy}_cost_lost_se"])
        own_se = _floats(matchups[f"{side}_cost_lost_se"])
        covariance = (gain_se**2 + own_se**2 - _floats(matchups["swing_se"]) ** 2) / 2.0
        relative = (gain_se / one) ** 2 + (own_se / other) ** 2 - 2.0 * covariance / (one * other)
        error = groups.error(np.sqrt(np.maximum(_finite(relative), 0.0)), is_common=is_common)
        log_low, log_high = mean_interval(np.log(ratio), error, level)
        table["cost_efficiency"] = ratio
        table["lo_cost_efficiency"] = np.where(ratio > 0.0, np.exp(log_low), np.where(own > 0.0, 0.0, np.nan))
        # Nothing destroyed: at most what z standard errors of the enemy's loss would be.
        table["hi_cost_efficiency"] = np.where(
            ratio > 0.0, np.exp(log_high), (gained + z * table["enemy_cost_lost_se"]) / own
        )
    table["hi_cost_efficiency"] = np.where(own > 0.0, table["hi_cost_efficiency"], np.nan)
    table[f"{run.rounds}_mean"] = groups.mean(_floats(matchups[f"{run.rounds}_mean"]))
    return pd.DataFrame(table)


def _equal_cost(
    matchups: pd.DataFrame,
    groups: _Groups,
    counted: npt.NDArray[np.bool_],
    shares: tuple[FloatArray, FloatArray, FloatArray],
    side: str,
    *,
    is_common: bool,
) -> dict[str, Any]:
    """Return the mean win share against opponents that cost about the same."""
    enemy = SIDES[1 - SIDES.index(side)]
    own, other = _floats(matchups[f"{side}_cost"]), _floats(matchups[f"{enemy}_cost"])
    # The slack is for 1.1 times a cost not being exact.
    is_equal = counted & (np.maximum(own, other) <= _EQUAL_COST * np.minimum(own, other) + 1e-9)
    equal = _Groups(groups.codes, is_equal, _floats(matchups[f"{enemy}_weight"]))
    share, low, high = shares
    mean = equal.mean(share)
    mean = np.where(equal.sum(equal.weights) > 0.0, mean, np.nan)
    return {
        "n_equal_cost": equal.sum(is_equal.astype(np.float64)).astype(np.int64),
        "win_share_equal_cost": mean,
        "lo_win_share_equal_cost": np.clip(mean - equal.error(share - low, is_common=is_common), 0.0, 1.0),
        "hi_win_share_equal_cost": np.clip(mean + equal.error(high - share, is_common=is_common), 0.0, 1.0),
    }


def _ranks(values: FloatArray, points: IntArray) -> FloatArray:
    """Return ranks within each grid point, 1 for the largest value; equal values share the better rank."""
    ranks = pd.Series(values).groupby(points).rank(method="min", ascending=False)
    return np.asarray(ranks.to_numpy(dtype=np.float64), dtype=np.float64)


def _taken(values: FloatArray, rows: IntArray) -> FloatArray:
    """Return the values at `rows`, NaN where a row is -1."""
    if not len(values):
        return np.full(len(rows), np.nan)
    return np.where(rows >= 0, values[rows], np.nan)


def _finite(values: FloatArray) -> FloatArray:
    return np.nan_to_num(values, nan=0.0, posinf=0.0, neginf=0.0)
