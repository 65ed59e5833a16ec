"""The verb ``compare``: what changed between two runs, and how sure that is.

Every matchup that both runs have is compared by several metrics. How depends on what is known of it:

========================  ==========================================================================================
both exact                the difference is exact; there is nothing to test
one exact, one sampled    binomial test of a share, z-test of a mean, against the exact figure
both sampled, same dice   McNemar's test of shares where both runs kept the outcome of every battle, else paired t over
                          the batches that both runs have: the luck of the dice cancels out
both sampled, otherwise   score test of shares, Welch's t of means
========================  ==========================================================================================

Where two samples share their dice but too few batches are common, how far they move together cannot be seen: then
the errors are added, which is never too narrow. p-values are adjusted for the number of tests.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis import contrast, difference
from analysis.counterpart import Half, Meetings, are_related, dice_of, halves_between, meet, shares_dice, whole
from analysis.difference import Difference
from analysis.estimators import DEFAULT_LEVEL
from analysis.frames import SIDES, Run, load
from analysis.measure import Measure, check_part, measures, practical_sizes
from analysis.multiplicity import benjamini_hochberg, benjamini_yekutieli
from analysis.standing import MIX_MEASURES, Batched, Duels, compare_mixes
from analysis.wording import clean, plural
from simcore.argument import check_choice
from simcore.errors import ScenarioError
from simcore.model import shown
from simcore.run.batch import LOSSES, read_batches, read_outcomes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from os import PathLike

    from simcore.run.batch import Batches

__all__ = ["CORRECTIONS", "DEFAULT_FDR", "VERDICTS", "Comparison", "compare"]

DEFAULT_FDR: Final = 0.05
CORRECTIONS: Final = ("auto", "hochberg", "yekutieli")
VERDICTS: Final = ("better", "worse", "changed", "same", "unclear", "not comparable", "failed")
_FEWEST_BATCHES: Final = 4
"""Below this the t distribution is so wide that adding the errors says more."""
_MOST_ENTRIES: Final = 4
_MOST_LETTERS: Final = 80
_ABSENT: Final = "absent"
_MOST_CODES: Final = 2**26
"""Battles whose outcomes are read at a time."""

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Two runs side by side; the second is compared with the first, from the attackers' point of view.

    Attributes
    ----------
    first, second : Half
        What is compared.
    rows : DataFrame
        One row per matchup and metric: ``pair`` (number of the matchup), ``attacker``, ``defender``, grid columns,
        ``metric``, ``first`` and ``second`` (the two figures), ``difference`` with ``low`` and ``high``,
        ``practical`` (size that matters), ``test``, ``battles`` (that the test saw, in each run), ``p``,
        ``p_adjusted``, ``verdict`` and ``reason`` (why it has no result).
    metrics : tuple of Measure
    practical : dict of str to float
        Size that matters of each kind of metric.
    level : float
        Coverage of the intervals.
    fdr : float
        Share of false discoveries that is accepted.
    correction : str
        "hochberg" or "yekutieli".
    mixes : DataFrame
        One row per mix of either side at every grid point, seen by that side: ``side``, ``mix``, grid columns,
        ``opponents`` (it is compared over) and ``left_out`` (of those it has in either run), ``first`` and ``second``
        (mean win shares over the weighted field), ``difference`` with ``low`` and ``high``, ``practical``, ``test``,
        ``p``, ``p_adjusted``, ``verdict`` and ``reason``.
    mix_correction : str
        As `correction`, for ``mixes``.
    changes : tuple of (str, str, str)
        Settings that differ: name, value in the first run, value in the second.
    has_same_dice : bool
        Whether any matchup was fought with the same dice in both.
    mean_costs : float64 (P,)
        Mean cost of the two sides of every matchup.
    """

    first: Half
    second: Half
    rows: pd.DataFrame
    metrics: tuple[Measure, ...]
    practical: dict[str, float]
    level: float = DEFAULT_LEVEL
    fdr: float = DEFAULT_FDR
    correction: str = "hochberg"
    mixes: pd.DataFrame = field(default_factory=pd.DataFrame)
    mix_correction: str = "yekutieli"
    changes: tuple[tuple[str, str, str], ...] = ()
    has_same_dice: bool = False
    mean_costs: FloatArray = field(default_factory=lambda: np.zeros(0))

    @property
    def keys(self) -> list[str]:
        """Columns of ``rows`` that name a matchup."""
        columns = list(self.rows.columns)
        return columns[1 : columns.index("metric")]

    @property
    def size(self) -> int:
        """Number of matchups, those without a counterpart included."""
        return int(self.rows["pair"].nunique())

    @cached_property
    def counts(self) -> pd.DataFrame:
        """How many matchups have which verdict: one row per metric, one column per verdict."""
        table = pd.crosstab(self.rows["metric"], self.rows["verdict"])
        names = [measure.name for measure in self.metrics]
        return table.reindex(index=names, columns=list(VERDICTS), fill_value=0)

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """The tables by the names under which they are exported."""
        changes = pd.DataFrame(list(self.changes), columns=["setting", "first", "second"])
        counts = self.counts.rename_axis(columns=None).reset_index()
        return {"comparison": self.rows, "mix_comparison": self.mixes, "verdicts": counts, "changes": changes}

    def matchups_with(self, verdicts: Iterable[str], metrics: Iterable[str] | None = None) -> int:
        """Return how many matchups have a verdict in at least one metric.

        Parameters
        ----------
        verdicts : iterable of str
            Any of `VERDICTS`.
        metrics : iterable of str, optional
            Metrics that count; all by default.

        Returns
        -------
        int
        """
        return int(self.select(verdicts, metrics)["pair"].nunique())

    def select(self, verdicts: Iterable[str], metrics: Iterable[str] | None = None) -> pd.DataFrame:
        """Return the rows that have one of some verdicts.

        Parameters
        ----------
        verdicts : iterable of str
        metrics : iterable of str, optional
            All by default.

        Returns
        -------
        DataFrame
        """
        chosen = self.rows["verdict"].isin(list(verdicts))
        if metrics is not None:
            chosen &= self.rows["metric"].isin(list(metrics))
        return self.rows[chosen]

    @cached_property
    def findings(self) -> pd.DataFrame:
        """Rows in which something changed, matchup by matchup, those with the largest changes first.

        Changes are measured by the size that matters.
        """
        found = self.select(("better", "worse", "changed"))
        with np.errstate(divide="ignore"):
            size = np.abs(found["difference"].to_numpy(float)) / found["practical"].to_numpy(float)
        pairs = found["pair"].to_numpy()
        largest = np.zeros(len(self.rows))
        np.maximum.at(largest, pairs, size)
        return found.take(np.lexsort((np.arange(len(found)), pairs, -largest[pairs])))

    @cached_property
    def mix_counts(self) -> pd.DataFrame:
        """How many mixes have which verdict: one row per side, one column per verdict."""
        table = pd.crosstab(self.mixes["side"], self.mixes["verdict"])
        return table.reindex(index=list(SIDES), columns=list(VERDICTS), fill_value=0)

    @cached_property
    def mix_findings(self) -> pd.DataFrame:
        """Mixes that became better or worse, those that changed most first."""
        found = self.mixes[self.mixes["verdict"].isin(["better", "worse"])]
        return found.take(np.argsort(-np.abs(found["difference"].to_numpy(dtype=np.float64)), kind="stable"))

    @property
    def mix_keys(self) -> list[str]:
        """Grid columns of ``mixes``."""
        columns = list(self.mixes.columns)
        return columns[2 : columns.index("opponents")]

    def to_text(self, width: int = 80) -> str:
        """Return the comparison as plain text.

        Parameters
        ----------
        width : int
            Columns to fill.

        Returns
        -------
        str
        """
        return contrast.text(self, width)

    def to_markdown(self) -> str:
        """Return the comparison as Markdown.

        Returns
        -------
        str
        """
        return contrast.markdown(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as JSON-able values.

        Returns
        -------
        dict
        """
        return contrast.as_dict(self)

    def __repr__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return contrast.html(self)


def compare(
    dir_a: Run | str | PathLike[str],
    dir_b: Run | str | PathLike[str] | None = None,
    *,
    between: tuple[str, Sequence[Any]] | None = None,
    metrics: Iterable[str] | None = None,
    practical: Mapping[str, float] | None = None,
    level: float = DEFAULT_LEVEL,
    fdr: float = DEFAULT_FDR,
    correction: str = "auto",
) -> Comparison:
    """Compare a run with an earlier one, or two grid points of one run.

    Parameters
    ----------
    dir_a : Run or path
        What is compared with: the results folder of a finished run.
    dir_b : Run or path, optional
        What is compared; left out with `between`.
    between : (str, sequence of two values), optional
        Grid key and the two values to compare, as in ``("edition.tank.cost", [5, 6])``.
    metrics : iterable of str, optional
        Metrics to compare: ``attacker_win_share``, ``defender_win_share``, ``swing``, ``attacker_cost_lost``,
        ``defender_cost_lost``, ``cycles`` or ``turns`` (all of these by default), ``swing_negative``, ``p_<outcome>``.
    practical : mapping of str to float, optional
        Size that matters of each kind of metric: "share", "cost" (part of the mean cost of the two sides), "length".
    level : float
        Coverage of the intervals.
    fdr : float
        Share of false discoveries that is accepted.
    correction : str
        "hochberg", "yekutieli", or "auto": Yekutieli where tests of different matchups share dice.

    Returns
    -------
    Comparison

    Raises
    ------
    StoreError
        If a folder cannot be read.
    ScenarioError
        If the runs cannot be compared, or an option is wrong.

    Examples
    --------
    >>> found = compare("results/monday", "results/tuesday")  # doctest: +SKIP
    >>> found.counts  # doctest: +SKIP
    """
    first, second = _halves(dir_a, dir_b, between)
    for name, value in (("level", level), ("fdr", fdr)):
        check_part(value, name)
    check_choice(correction, CORRECTIONS, "correction")
    chosen, sizes = measures(first.run, metrics), practical_sizes(practical)
    # Mixes are judged by their win shares, whichever metrics were asked for.
    needed = {measure.name: measure for measure in (*chosen, *measures(first.run, MIX_MEASURES))}
    contest = _Contest(first, second, meet(first, second), tuple(needed.values()), level)
    found = [_judged(contest, position) for position in range(len(needed))]
    rows = _long(contest, found[: len(chosen)], sizes)
    mixes = _mixes(contest, dict(zip(needed, found, strict=True)), sizes["share"])
    asked = correction
    if correction == "auto":
        tested = contest.meetings.are_both & ~contest.is_failed & ~(contest.is_exact[0] & contest.is_exact[1])
        is_related = are_related(first, second, contest.meetings, tested)
        correction = "yekutieli" if is_related else "hochberg"
    adjust = benjamini_yekutieli if correction == "yekutieli" else benjamini_hochberg
    rows["p_adjusted"] = adjust(rows["p"].to_numpy(float))
    directions = [measure.direction for measure in chosen]
    rows["verdict"] = _verdicts(rows, np.tile(directions, len(rows) // len(chosen)), fdr)
    # The two sides of a matchup are two tests of the same battles.
    mix_correction = "hochberg" if asked == "hochberg" else "yekutieli"
    adjust = benjamini_hochberg if mix_correction == "hochberg" else benjamini_yekutieli
    mixes.insert(list(mixes.columns).index("p") + 1, "p_adjusted", adjust(mixes["p"].to_numpy(float)))
    mixes.insert(len(mixes.columns) - 1, "verdict", _verdicts(mixes, np.ones(len(mixes)), fdr))
    order = [name for name in rows.columns if name not in {"verdict", "reason"}]
    return Comparison(
        first=first,
        second=second,
        rows=rows[[*order, "verdict", "reason"]],
        metrics=chosen,
        practical=sizes,
        level=level,
        fdr=fdr,
        correction=correction,
        mixes=mixes,
        mix_correction=mix_correction,
        changes=_changes(first, second),
        has_same_dice=bool(contest.has_same_dice.any()),
        mean_costs=contest.costs,
    )


def _halves(
    dir_a: Run | str | PathLike[str],
    dir_b: Run | str | PathLike[str] | None,
    between: tuple[str, Sequence[Any]] | None,
) -> tuple[Half, Half]:
    one = dir_a if isinstance(dir_a, Run) else load(dir_a)
    if between is not None:
        if dir_b is not None:
            raise ScenarioError("compares two grid points of one run, but two runs were given", field="between")
        given: object = between
        if isinstance(given, str) or not isinstance(given, Sequence) or len(given) != 2:  # noqa: PLR2004 - a pair
            raise ScenarioError(f"must be a grid key and two of its values, got {shown(between)}", field="between")
        return halves_between(one, *between)
    if dir_b is None:
        raise ScenarioError("needs a second run, or two values of the grid of one run")
    other = dir_b if isinstance(dir_b, Run) else load(dir_b)
    rules = [str(run.manifest["ruleset"]) for run in (one, other)]
    if rules[0] != rules[1]:
        raise ScenarioError(f"{one.path} and {other.path} have different rulesets: {rules[0]} and {rules[1]}")
    return whole(one), whole(other)


@dataclass(eq=False)
class _Contest:
    """The meetings of two halves with everything that a test needs, as columns of R rows."""

    first: Half
    second: Half
    meetings: Meetings
    metrics: tuple[Measure, ...]
    level: float
    is_failed: BoolArray = field(init=False)
    is_exact: tuple[BoolArray, BoolArray] = field(init=False)
    has_same_dice: BoolArray = field(init=False)

    def __post_init__(self) -> None:
        both = self.meetings.are_both
        status = [self._taken(side, "status") for side in (0, 1)]
        self.is_failed = both & ((status[0] != "ok") | (status[1] != "ok"))
        exact = [self._taken(side, "method") == "exact" for side in (0, 1)]
        self.is_exact = (exact[0], exact[1])
        self.has_same_dice = (
            shares_dice(self.first, self.second, self.meetings) & ~exact[0] & ~exact[1] & ~self.is_failed
        )

    def _half(self, side: int) -> tuple[Half, IntArray]:
        return (self.first, self.meetings.first) if side == 0 else (self.second, self.meetings.second)

    def _taken(self, side: int, column: str) -> npt.NDArray[np.object_]:
        """Return a column of one half for every meeting, None where it has no row."""
        half, rows = self._half(side)
        found = np.full(len(rows), None, dtype=object)
        if column in half.rows:
            found[rows >= 0] = half.rows[column].to_numpy(dtype=object)[rows[rows >= 0]]
        return found

    def floats(self, side: int, columns: Sequence[str]) -> FloatArray:
        """Return the sum of some columns of one half; NaN where it has no row or no such column."""
        half, rows = self._half(side)
        found = np.full(len(rows), np.nan)
        if columns and all(column in half.rows for column in columns):
            values = sum(half.rows[column].to_numpy(dtype=np.float64, na_value=np.nan) for column in columns)
            found[rows >= 0] = np.asarray(values)[rows[rows >= 0]]
        return found

    @cached_property
    def battles(self) -> tuple[FloatArray, FloatArray]:
        return self.floats(0, ["battles"]), self.floats(1, ["battles"])

    @cached_property
    def common(self) -> _Common:
        """Batches that meetings with the same dice have in common."""
        return _common_batches(self)

    @cached_property
    def crossed(self) -> npt.NDArray[np.int64]:
        """Battles of every meeting by outcome in the first and in the second run, (R, O, O); 0 where not kept."""
        return _crossed_outcomes(self)

    @cached_property
    def costs(self) -> FloatArray:
        """Mean cost of the two sides, of the first half where it knows it."""
        costs = [(self.floats(side, ["attacker_cost", "defender_cost"])) / 2.0 for side in (0, 1)]
        return np.where(np.isnan(costs[0]), costs[1], costs[0])


@dataclass(frozen=True)
class _Common:
    """Common batches of the meetings: n batches, k metrics."""

    pairs: IntArray
    begin: npt.NDArray[np.int64]
    battles: npt.NDArray[np.int64]
    first: npt.NDArray[np.int64]
    second: npt.NDArray[np.int64]
    number: IntArray
    """Batches of each meeting, shape (R,)."""
    total: FloatArray
    """Battles of them, shape (R,)."""


def _common_batches(contest: _Contest) -> _Common:
    asked = np.flatnonzero(contest.has_same_dice)
    size, k = len(contest.has_same_dice), len(contest.metrics)
    nothing = np.zeros(0, dtype=np.int64)
    empty = _Common(
        np.zeros(0, dtype=np.intp), nothing, nothing, np.zeros((0, k), np.int64), np.zeros((0, k), np.int64),
        np.zeros(size, dtype=np.intp), np.zeros(size),
    )  # fmt: skip
    if not len(asked):
        return empty
    frames = []
    for side in (0, 1):
        half, rows = contest._half(side)
        numbers = half.rows["matchup"].to_numpy(dtype=np.int64)[rows[asked]]
        frame = _batch_frame(half, numbers, contest.metrics)
        if frame is None:
            return empty
        asked_for = pd.DataFrame({"pair": asked, "matchup": numbers})
        frames.append(asked_for.merge(frame, on="matchup").drop(columns="matchup"))
    joined = frames[0].merge(frames[1], on=["pair", "begin", "battles"], suffixes=("_a", "_b"))
    pairs = joined["pair"].to_numpy(dtype=np.intp)
    battles = joined["battles"].to_numpy(dtype=np.int64)
    names = range(k)
    return _Common(
        pairs,
        joined["begin"].to_numpy(dtype=np.int64),
        battles,
        joined[[f"{name}_a" for name in names]].to_numpy(dtype=np.int64),
        joined[[f"{name}_b" for name in names]].to_numpy(dtype=np.int64),
        np.bincount(pairs, minlength=size).astype(np.intp),
        np.bincount(pairs, weights=battles, minlength=size).astype(np.float64),
    )


def _crossed_outcomes(contest: _Contest) -> npt.NDArray[np.int64]:
    """Count common battles by how they ended in both runs, as far as that was kept."""
    names = contest.first.run.outcomes
    k = len(names)
    crossed = np.zeros((len(contest.has_same_dice), k, k), dtype=np.int64)
    halves = (contest.first, contest.second)
    if names != contest.second.run.outcomes or not all(_keeps_outcomes(half.run) for half in halves):
        return crossed
    asked = np.flatnonzero(contest.has_same_dice)
    numbers = [
        half.rows["matchup"].to_numpy(dtype=np.int64)[rows[asked]]
        for half, rows in zip(halves, (contest.meetings.first, contest.meetings.second), strict=True)
    ]
    groups = np.cumsum(contest.battles[0][asked] + contest.battles[1][asked]) // _MOST_CODES
    for group in np.unique(groups):
        here = np.flatnonzero(groups == group)
        kept = [_kept(half, own[here]) for half, own in zip(halves, numbers, strict=True)]
        for place in here.tolist():
            one, other = (codes.get(int(own[place])) for codes, own in zip(kept, numbers, strict=True))
            if one is not None and other is not None:
                common = min(len(one), len(other))
                cells = one[:common].astype(np.int64) * k + other[:common]
                crossed[asked[place]] = np.bincount(cells, minlength=k * k).reshape(k, k)
    return crossed


def _keeps_outcomes(run: Run) -> bool:
    sweep = run.manifest.get("sweep")
    settings = sweep.get("sweep") if isinstance(sweep, dict) else None
    names = run.manifest.get("accumulators")
    return isinstance(settings, dict) and settings.get("keep_outcomes") is True and isinstance(names, list)


def _kept(half: Half, numbers: npt.NDArray[np.int64]) -> dict[int, npt.NDArray[np.int8]]:
    """Return the outcomes of all battles of matchups in order, where they are whole and those of the table."""
    found = read_outcomes(half.run.path, half.run.manifest["accumulators"], numbers.tolist())
    rows = half.rows.set_index("matchup")
    counts = rows[[f"n_{name}" for name in half.run.outcomes]].to_numpy(dtype=np.float64, na_value=-1.0)
    place = {int(number): i for i, number in enumerate(rows.index)}
    joined: dict[int, npt.NDArray[np.int8]] = {}
    pieces: dict[int, list[npt.NDArray[np.int8]]] = {}
    for (number, begin), codes in sorted(found.items()):
        if begin == sum(map(len, pieces.setdefault(number, []))):
            pieces[number].append(codes)
    for number, parts in pieces.items():
        codes = np.concatenate(parts) if parts else np.zeros(0, dtype=np.int8)
        told = counts[place[number]]
        is_code = len(codes) > 0 and 0 <= codes.min() <= codes.max() < len(told)
        if is_code and np.array_equal(np.bincount(codes, minlength=len(told)), told):
            joined[number] = codes
    return joined


def _batch_frame(half: Half, numbers: npt.NDArray[np.int64], metrics: Sequence[Measure]) -> pd.DataFrame | None:
    """Return the sums of every metric in every batch; None where the run does not tell them.

    Matchups whose batches do not add up to the row of the table are left out: a file may be missing, or belong to
    another sweep.
    """
    run = half.run
    names = run.manifest.get("accumulators")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        return None
    needed = [f"outcome.{outcome}" for outcome in run.outcomes]
    wanted = list(dict.fromkeys([*needed, *(name for measure in metrics for name in measure.sums)]))
    if not set(wanted) <= {*names, LOSSES}:
        return None
    found = read_batches(run.path, names, wanted, np.unique(numbers).tolist())
    kept = _whole_matchups(half, found, wanted)
    place = {name: position for position, name in enumerate(wanted)}
    columns: dict[Any, Any] = {
        "matchup": found.matchups[kept], "begin": found.first[kept], "battles": found.battles[kept],
    }  # fmt: skip
    for number, measure in enumerate(metrics):
        columns[str(number)] = found.sums[kept][:, [place[name] for name in measure.sums]].sum(axis=1)
    return pd.DataFrame(columns)


def _whole_matchups(half: Half, found: Batches, wanted: Sequence[str]) -> BoolArray:
    """Return which batches belong to matchups whose batches add up to what the table says."""
    outcomes = half.run.outcomes
    numbers, at = np.unique(found.matchups, return_inverse=True)
    rows = half.rows.set_index("matchup").reindex(numbers)
    table = [rows["battles"], *(rows[f"n_{outcome}"] for outcome in outcomes)]
    sums = [found.battles, *(found.sums[:, wanted.index(f"outcome.{outcome}")] for outcome in outcomes)]
    good = np.ones(len(numbers), dtype=bool)
    for told, values in zip(table, sums, strict=True):
        total = np.zeros(len(numbers), dtype=np.int64)
        np.add.at(total, at, values)
        good &= total == told.to_numpy(dtype=np.float64, na_value=-1.0)
    return np.asarray(good[at], dtype=np.bool_)


def _long(contest: _Contest, found: Sequence[_Judged], sizes: Mapping[str, float]) -> pd.DataFrame:
    """Return one row per meeting and metric, without the verdicts."""
    keys, number, k = contest.meetings.keys, len(contest.meetings.first), len(found)
    blocks = [_block(contest, judged, sizes) for judged in found]
    columns: dict[Any, Any] = {"pair": np.repeat(np.arange(number), k)}
    for key in keys:
        columns[key] = np.repeat(keys[key].to_numpy(dtype=object), k)
    columns["metric"] = np.tile(np.array([judged.measure.name for judged in found], dtype=object), number)
    for name in blocks[0]:
        columns[name] = np.stack([block[name] for block in blocks], axis=1).reshape(-1)
    frame = pd.DataFrame(columns)
    for key in keys:
        frame[key] = frame[key].infer_objects()
    return frame


@dataclass(frozen=True)
class _Judged:
    """A metric of all meetings, as columns of R rows: figures, their difference, and how it was tested."""

    measure: Measure
    first: FloatArray
    second: FloatArray
    found: Difference
    test: npt.NDArray[np.object_]
    battles: npt.NDArray[np.int64]
    """Battles that the test saw, in each run."""
    freedom: FloatArray
    """Degrees of freedom behind the interval; inf for a normal estimate."""
    least_error: FloatArray
    """Standard error of a share that has not changed, as its test takes it; 0 where the interval tells it."""
    is_known: BoolArray

    def error(self, level: float) -> FloatArray:
        """Return the standard error that the interval stands for, or that of the test where that is larger.

        Of few battles it is: their intervals reach further to one side, and end at -1 and 1.
        """
        half = (self.found.high - self.found.low) / 2.0
        return np.fmax(half / difference.t_quantile(0.5 + level / 2.0, self.freedom), self.least_error)


def _judged(contest: _Contest, position: int) -> _Judged:
    """Test one metric in all meetings."""
    measure, level = contest.metrics[position], contest.level
    figures = [contest.floats(side, measure.columns) for side in (0, 1)]
    number = len(figures[0])
    battles = contest.battles
    both = contest.meetings.are_both & ~contest.is_failed
    has_figures = both & ~np.isnan(figures[0]) & ~np.isnan(figures[1])
    found = Difference(*(np.full(number, np.nan) for _ in range(4)))
    seen = np.zeros(number)
    test = np.full(number, "", dtype=object)

    def put(rows: BoolArray, name: str, made: Difference, count: FloatArray) -> None:
        for column, values in zip(found, made, strict=True):
            column[rows] = values
        test[rows] = name
        seen[rows] = count

    exact = contest.is_exact
    rows = has_figures & exact[0] & exact[1]
    value = _unrounded(figures[0][rows], figures[1][rows])
    put(rows, "exact", Difference(value, value, value, np.full(len(value), np.nan)), np.zeros(len(value)))
    for known, sampled, sign in ((0, 1, 1.0), (1, 0, -1.0)):
        rows = has_figures & exact[known] & ~exact[sampled]
        made = _against_known(contest, measure, rows, known)
        name = "binomial" if measure.kind == "share" else "z"
        if sign < 0:
            made = Difference(-made.value, -made.high, -made.low, made.p)
        put(rows, name, made, battles[sampled][rows])
    sampled_both = has_figures & ~exact[0] & ~exact[1]
    is_paired = np.zeros(number, dtype=bool)
    freedom = np.full(number, np.inf)
    if contest.has_same_dice.any():
        common = contest.common
        is_paired = sampled_both & (common.number >= _FEWEST_BATCHES)
        made = difference.batch_difference(
            common.pairs, common.battles, common.first[:, position], common.second[:, position], number, level,
            is_constant=_is_constant(contest, measure, figures),
        )  # fmt: skip
        freedom[is_paired] = common.number[is_paired] - 1.0
        put(is_paired, "paired t", Difference(*(column[is_paired] for column in made)), common.total[is_paired])
        for figure, sums in zip(figures, (common.first, common.second), strict=True):
            total = np.bincount(common.pairs, weights=sums[:, position], minlength=number)
            figure[is_paired] = (total / np.where(common.total > 0, common.total, 1.0))[is_paired]
    if measure.outcomes and contest.has_same_dice.any():
        is_crossed = sampled_both & (contest.crossed.sum(axis=(1, 2)) > 0)
        counts, made = _discordant(contest, measure, is_crossed)
        total = contest.crossed[is_crossed].sum(axis=(1, 2)).astype(np.float64)
        put(is_crossed, "McNemar", made, total)
        freedom[is_crossed] = np.inf
        for figure, count in zip(figures, counts, strict=True):
            figure[is_crossed] = count / total
        is_paired |= is_crossed
    for at_worst in (False, True):
        rows = sampled_both & ~is_paired & (contest.has_same_dice == at_worst)
        made = _apart(contest, measure, rows, at_worst=at_worst)
        name = "errors added" if at_worst else "score" if measure.kind == "share" else "Welch's t"
        put(rows, name, made, np.minimum(battles[0], battles[1])[rows])
    least = _least_errors(contest, measure, figures, test)
    return _Judged(measure, figures[0], figures[1], found, test, seen.astype(np.int64), freedom, least, has_figures)


def _least_errors(
    contest: _Contest, measure: Measure, figures: Sequence[FloatArray], test: npt.NDArray[np.object_]
) -> FloatArray:
    """Return the standard errors that shares have which have not changed; 0 where the interval of the test tells it."""
    least = np.zeros(len(test))
    if measure.kind != "share":
        return least
    (one, other), (n1, n2) = figures, contest.battles
    with np.errstate(divide="ignore", invalid="ignore"):
        pooled = (one * n1 + other * n2) / (n1 + n2)
        for name, at_worst in (("score", False), ("errors added", True)):
            rows = test == name
            least[rows] = difference.unchanged_error(pooled, n1, n2, at_worst=at_worst)[rows]
        is_known = contest.is_exact[0]
        rows = test == "binomial"
        share, battles = np.where(is_known, one, other), np.where(is_known, n2, n1)
        least[rows] = difference.unchanged_error(share, battles)[rows]
    rows = test == "McNemar"
    if rows.any():
        crossed, is_in = contest.crossed[rows], np.isin(contest.first.run.outcomes, measure.outcomes)
        # Battles that ended so in one run alone.
        single = crossed[:, is_in][:, :, ~is_in].sum(axis=(1, 2)) + crossed[:, ~is_in][:, :, is_in].sum(axis=(1, 2))
        least[rows] = np.sqrt(single) / crossed.sum(axis=(1, 2))
    return least


def _is_constant(contest: _Contest, measure: Measure, figures: Sequence[FloatArray]) -> BoolArray:
    """Return in which meetings all battles of either run are alike in a metric."""
    if measure.outcomes:
        alike = [(figure == 0.0) | (figure == 1.0) for figure in figures]
    else:
        alike = [contest.floats(side, [measure.spread]) == 0.0 for side in (0, 1)]
    return np.asarray(alike[0] & alike[1], dtype=np.bool_)


def _mixes(contest: _Contest, judged: Mapping[str, _Judged], size: float) -> pd.DataFrame:
    """Return one row per mix of both sides, without the verdicts."""
    meetings = contest.meetings
    dice = []
    for number, (half, rows) in enumerate(((contest.first, meetings.first), (contest.second, meetings.second))):
        words = dice_of(half, rows)
        # What was solved has no dice: its place stands for nothing else.
        words[contest.is_exact[number]] = np.flatnonzero(contest.is_exact[number])
        dice.append(words)
    common = contest.common
    position = {measure.name: place for place, measure in enumerate(contest.metrics)}
    tables = []
    for side, enemy, name in zip(SIDES, reversed(SIDES), MIX_MEASURES, strict=True):
        found = judged[name]
        own = position[name]
        is_exact = found.test == "exact"
        duels = Duels(
            first=found.first,
            second=found.second,
            difference=np.where(found.is_known, found.found.value, np.nan),
            error=np.where(is_exact, 0.0, found.error(contest.level)),
            freedom=found.freedom,
            is_exact=is_exact,
            is_failed=contest.is_failed,
            is_paired=contest.has_same_dice & (common.number >= _FEWEST_BATCHES),
        )
        batched = Batched(common.pairs, common.begin, common.battles, common.second[:, own] - common.first[:, own])
        weights = contest.floats(1, [f"{enemy}_weight"])
        tables.append(compare_mixes(meetings.keys, side, duels, batched, weights, dice, contest.level))
    table = pd.concat(tables, ignore_index=True)
    table.insert(list(table.columns).index("high") + 1, "practical", size)
    return table


def _block(contest: _Contest, judged: _Judged, sizes: Mapping[str, float]) -> dict[str, Any]:
    """Return the columns of one metric."""
    measure, found = judged.measure, judged.found
    both, failed = contest.meetings.are_both, contest.is_failed
    number = len(both)
    size = np.full(number, sizes[measure.kind])
    reason = np.full(number, "", dtype=object)
    reason[failed] = _failure_texts(contest)[failed]
    reason[both & ~failed & ~judged.is_known] = f"{measure.name} is not known in both runs"
    reason[contest.meetings.second < 0] = "only in the first run"
    reason[contest.meetings.first < 0] = "only in the second run"
    return {
        "first": judged.first,
        "second": judged.second,
        "difference": found.value,
        "low": found.low,
        "high": found.high,
        "practical": size * contest.costs if measure.kind == "cost" else size,
        "test": judged.test,
        "battles": judged.battles,
        "p": found.p,
        "reason": reason,
    }


def _discordant(
    contest: _Contest, measure: Measure, rows: BoolArray
) -> tuple[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]], Difference]:
    """Return in how many battles an outcome occurred in each run, and the difference battle by battle."""
    crossed = contest.crossed[rows]
    is_in = np.isin(contest.first.run.outcomes, measure.outcomes)
    first, second = crossed[:, is_in].sum(axis=(1, 2)), crossed[:, :, is_in].sum(axis=(1, 2))
    both = crossed[:, is_in][:, :, is_in].sum(axis=(1, 2))
    made = difference.discordant_difference(first - both, second - both, crossed.sum(axis=(1, 2)), contest.level)
    return (first, second), made


def _unrounded(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the difference of exact figures; what is within the rounding of the solver is none."""
    value = second - first
    return np.where(np.abs(value) <= 1e-11 * np.maximum(np.abs(first), 1.0), 0.0, value)


def _against_known(contest: _Contest, measure: Measure, rows: BoolArray, known: int) -> Difference:
    exact = contest.floats(known, measure.columns)[rows]
    figure, battles = contest.floats(1 - known, measure.columns)[rows], contest.battles[1 - known][rows]
    if measure.kind == "share":
        return difference.known_share_difference(exact, np.rint(figure * battles), battles, contest.level)
    spreads = [contest.floats(side, [measure.spread])[rows] for side in (known, 1 - known)]
    return difference.known_mean_difference(exact, spreads[0], figure, spreads[1], battles, contest.level)


def _apart(contest: _Contest, measure: Measure, rows: BoolArray, *, at_worst: bool) -> Difference:
    figures = [contest.floats(side, measure.columns)[rows] for side in (0, 1)]
    battles = [contest.battles[side][rows] for side in (0, 1)]
    if measure.kind == "share":
        counts = [np.rint(figure * number) for figure, number in zip(figures, battles, strict=True)]
        return difference.share_difference(
            counts[0], battles[0], counts[1], battles[1], contest.level, at_worst=at_worst
        )
    spreads = [contest.floats(side, [measure.spread])[rows] for side in (0, 1)]
    return difference.mean_difference(
        figures[0], spreads[0], battles[0], figures[1], spreads[1], battles[1], contest.level, at_worst=at_worst
    )


def _failure_texts(contest: _Contest) -> npt.NDArray[np.object_]:
    """Return why meetings failed."""
    texts = np.full(len(contest.is_failed), "", dtype=object)
    for word, side in (("second", 1), ("first", 0)):
        status, errors = contest._taken(side, "status"), contest._taken(side, "error")
        bad = contest.is_failed & (status != "ok")
        texts[bad] = [f"failed in the {word} run: {error or 'no reason given'}" for error in errors[bad]]
    return texts


def _verdicts(rows: pd.DataFrame, direction: npt.ArrayLike, fdr: float) -> npt.NDArray[np.object_]:
    """Return the verdict of every row; see docs/compare.md."""
    value, low, high, size, adjusted = (
        rows[name].to_numpy(dtype=np.float64) for name in ("difference", "low", "high", "practical", "p_adjusted")
    )
    is_known = rows["test"].to_numpy(dtype=object) != ""
    is_exact = rows["test"].to_numpy(dtype=object) == "exact"
    is_sure = (is_exact | (adjusted <= fdr)) & (np.abs(value) > size)
    is_same = (low >= -size) & (high <= size)
    gain = np.sign(value) * np.asarray(direction)
    found = np.select(
        [
            ~is_known & (rows["reason"].str.startswith("failed").to_numpy(dtype=bool)),
            ~is_known,
            is_sure & (gain > 0),
            is_sure & (gain < 0),
            is_sure,
            is_same,
        ],
        ["failed", "not comparable", "better", "worse", "changed", "same"],
        "unclear",
    )
    return found.astype(object)


def _changes(first: Half, second: Half) -> tuple[tuple[str, str, str], ...]:
    """Return the settings in which two runs differ."""
    if first.run is second.run:
        return (("grid point", first.label, second.label),)
    tables = [_settings(half.run.manifest) for half in (first, second)]
    found: list[tuple[str, str, str]] = []
    for name in sorted({*tables[0], *tables[1]}):
        values = [table.get(name, _ABSENT) for table in tables]
        if values[0] != values[1]:
            found.append((clean(name), _setting_text(values[0]), _setting_text(values[1])))
    return tuple(found)


def _setting_text(value: Any) -> str:
    if isinstance(value, list) and len(value) > _MOST_ENTRIES:
        return plural(len(value), "entry", "entries")
    text = clean(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
    return text if len(text) <= _MOST_LETTERS else f"{text[: _MOST_LETTERS - 1]}…"


def _settings(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return what can change a result, by dotted path."""
    leaves: dict[str, Any] = {}

    def collect(table: Mapping[str, Any], prefix: str) -> None:
        for key, value in table.items():
            if isinstance(value, dict):
                collect(value, f"{prefix}{key}.")
            else:
                leaves[f"{prefix}{key}"] = value

    sweep = manifest.get("sweep")
    if isinstance(sweep, dict):
        collect({key: value for key, value in sweep.items() if key != "report"}, "")
    for name in ("sweep.out", "sweep.name"):
        leaves.pop(name, None)
    for name in ("edition", "ruleset_version"):
        leaves[name] = manifest.get(name)
    versions = manifest.get("versions")
    leaves["random numbers"] = versions.get("rng") if isinstance(versions, dict) else None
    return {name: value for name, value in leaves.items() if value is not None}
