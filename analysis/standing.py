"""Which mixes became better or worse between two runs: their mean win share over the weighted field.

A mix is compared over the opponents that it met in both runs, with the weights that they have in the second one: what
is told is what the battles changed, not what another field would. Its difference is the weighted mean of those of its
matchups, each found as :mod:`analysis.comparison` finds it. How the errors of these add up depends on the dice:

=================================  ===========================================================================
all opponents met with other dice  squares of the errors are added; t, degrees of freedom by Satterthwaite
the same dice, the same batches    paired t over the weighted means of common batches
the same dice otherwise            errors are added, which is never too narrow
=================================  ===========================================================================
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.difference import batch_errors, t_difference
from analysis.frames import SIDES

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["MIX_MEASURES", "Batched", "Duels", "compare_mixes"]

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.intp]

MIX_MEASURES: Final = tuple(f"{side}_win_share" for side in SIDES)
"""Metric of a matchup that a mix of each side is judged by."""


@dataclass(frozen=True)
class Duels:
    """What is known of a side's win share in every meeting, as columns of R rows.

    Attributes
    ----------
    first, second, difference : float64 (R,)
        The two shares and their difference; NaN where there is no result.
    error, freedom : float64 (R,)
        Standard error of the difference, and its degrees of freedom (inf for a normal estimate).
    is_exact, is_failed, is_paired : bool (R,)
        Both figures are exact; it failed in one run; the error comes from common batches.
    """

    first: FloatArray
    second: FloatArray
    difference: FloatArray
    error: FloatArray
    freedom: FloatArray
    is_exact: BoolArray
    is_failed: BoolArray
    is_paired: BoolArray


@dataclass(frozen=True)
class Batched:
    """Common batches of meetings: n rows.

    Attributes
    ----------
    pairs : intp (n,)
        The meeting.
    begin, battles : int64 (n,)
        First battle of the batch, and how many it has.
    change : int64 (n,)
        Battles won in the second run beyond those in the first.
    """

    pairs: IntArray
    begin: npt.NDArray[np.int64]
    battles: npt.NDArray[np.int64]
    change: npt.NDArray[np.int64]


def compare_mixes(
    keys: pd.DataFrame,
    side: str,
    duels: Duels,
    batched: Batched,
    weights: FloatArray,
    dice: Sequence[npt.NDArray[np.object_]],
    level: float,
) -> pd.DataFrame:
    """Compare the mixes of one side.

    Parameters
    ----------
    keys : DataFrame
        ``attacker``, ``defender`` and the grid columns of R meetings.
    side : str
        Whose mixes.
    duels : Duels
        Their results, seen by that side.
    batched : Batched
        Batches of the meetings that are paired.
    weights : float64 (R,)
        Weight of the opponent.
    dice : object (R,), of each run
        Meetings that were fought with the same random words have equal values.
    level : float
        Coverage of the intervals.

    Returns
    -------
    DataFrame
        ``side``, ``mix``, grid columns, ``opponents`` (that count), ``left_out``, ``first``, ``second``, ``difference``
        with ``low`` and ``high``, ``test``, ``p`` and ``reason``; in order of appearance.
    """
    columns = [side, *(name for name in keys.columns if name not in SIDES)]
    codes, firsts = _groups(keys, columns)
    number = len(firsts)

    def added(values: npt.NDArray[np.generic]) -> FloatArray:
        return np.bincount(codes, weights=values, minlength=number).astype(np.float64, copy=False)

    is_known = ~np.isnan(duels.difference)
    total = added(np.where(is_known, weights, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        # Where every opponent has the weight 0 there is no field to be judged by.
        shares = np.where(is_known, weights / total[codes], 0.0)
    counts = added(is_known & (weights > 0.0))
    has_result = counts > 0

    def mean(values: FloatArray) -> FloatArray:
        return np.where(has_result, added(shares * np.where(is_known, values, 0.0)), np.nan)

    value = mean(duels.difference)
    # What weighs nothing, and what is exact, adds no error.
    error = np.where(is_known & (shares > 0.0), shares * np.nan_to_num(duels.error), 0.0)
    is_sampled = is_known & (shares > 0.0) & ~duels.is_exact
    squares = added(error**2)
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom = squares**2 / added(error**4 / duels.freedom)
    freedom = np.where(np.isfinite(freedom), np.maximum(freedom, 1.0), np.inf)
    spread = np.sqrt(squares)
    test = np.where(added(is_sampled) > 0, "independent matchups", "exact").astype(object)
    related = _related(codes, dice, is_sampled, number)
    if related.any():
        spread[related], freedom[related], test[related] = added(error)[related], np.inf, "errors added"
        least = np.full(number, np.inf)
        np.minimum.at(least, codes, np.where(is_sampled, duels.freedom, np.inf))
        freedom[related] = least[related]
        together = _by_batches(codes, shares, is_sampled & duels.is_paired, added(is_sampled), batched, number)
        rows = related & together.has_error
        spread[rows], freedom[rows], test[rows] = together.error[rows], together.freedom[rows], "common batches"
    made = t_difference(value, np.where(has_result, spread, np.nan), freedom, level)
    test[~has_result] = ""
    p = np.where(test == "exact", np.nan, made.p)
    table = {"side": np.full(number, side, dtype=object), "mix": keys[side].to_numpy(dtype=object)[firsts]}
    table |= {str(name): keys[name].to_numpy(dtype=object)[firsts] for name in columns[1:]}
    return pd.DataFrame(
        {
            **table,
            "opponents": counts.astype(np.int64),
            "left_out": added(~is_known).astype(np.int64),
            "first": mean(duels.first),
            "second": mean(duels.second),
            "difference": value,
            "low": np.maximum(made.low, -1.0),
            "high": np.minimum(made.high, 1.0),
            "test": test,
            "p": p,
            "reason": _reasons(has_result, added(is_known), added(duels.is_failed)),
        }
    )


def _groups(keys: pd.DataFrame, columns: Sequence[str]) -> tuple[IntArray, IntArray]:
    """Return the number of the mix of every meeting in order of appearance, and the first meeting of each mix."""
    codes = np.zeros(len(keys), dtype=np.intp)
    for column in columns:
        values, known = pd.factorize(keys[column], use_na_sentinel=False)
        codes, _ = pd.factorize(codes * max(len(known), 1) + values)
    _, firsts = np.unique(codes, return_index=True)
    return np.asarray(codes, dtype=np.intp), np.asarray(firsts, dtype=np.intp)


def _related(codes: IntArray, dice: Sequence[npt.NDArray[np.object_]], is_sampled: BoolArray, number: int) -> BoolArray:
    """Return which mixes met several opponents with the same random words in a run."""
    rows = np.flatnonzero(is_sampled)
    found = np.zeros(number, dtype=bool)
    for words in dice:
        repeated = pd.DataFrame({"mix": codes[rows], "dice": words[rows]}).duplicated().to_numpy()
        found[codes[rows][repeated]] = True
    return found


@dataclass(frozen=True)
class _Together:
    error: FloatArray
    freedom: FloatArray
    has_error: BoolArray


def _by_batches(
    codes: IntArray, shares: FloatArray, is_in: BoolArray, wanted: FloatArray, batched: Batched, number: int
) -> _Together:
    """Return the error of the weighted mean of batches, of mixes all of whose sampled matchups have the same ones."""
    rows = is_in[batched.pairs]
    frame = pd.DataFrame(
        {
            "mix": codes[batched.pairs][rows],
            "begin": batched.begin[rows],
            "battles": batched.battles[rows],
            "change": shares[batched.pairs][rows] * batched.change[rows],
        }
    )
    found = frame.groupby(["mix", "begin", "battles"], as_index=False, sort=True).agg(
        change=("change", "sum"), opponents=("change", "size")
    )
    mixes = found["mix"].to_numpy(dtype=np.intp)
    is_whole = np.ones(number, dtype=bool)
    is_whole[mixes[found["opponents"].to_numpy() != wanted[mixes]]] = False
    change = found["change"].to_numpy(dtype=np.float64)
    made = batch_errors(mixes, found["battles"].to_numpy(dtype=np.int64), change, number)
    return _Together(made.error, made.freedom, is_whole & (made.freedom > 0) & ~np.isnan(made.error))


def _reasons(has_result: BoolArray, known: FloatArray, failed: FloatArray) -> npt.NDArray[np.object_]:
    """Return why mixes have no result."""
    texts = np.full(len(has_result), "", dtype=object)
    texts[~has_result] = "no opponent in both runs"
    texts[~has_result & (failed > 0)] = "failed against every opponent that both runs have"
    texts[~has_result & (known > 0)] = "all opponents have weight 0"
    return texts
