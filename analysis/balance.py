"""The verb ``summarize``: a run condensed to tables, findings in words and a page of text."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from analysis.estimators import DEFAULT_LEVEL, percent_text
from analysis.finding import Finding, findings
from analysis.frames import EXACT, GRID_PREFIX, MIXED, SIDES, Run, load
from analysis.measure import check_part
from analysis.metrics import grid_points, matchup_table, mix_table
from analysis.picture import heat_map
from analysis.wording import (
    clean,
    count_text,
    display_width,
    figure_text,
    fit,
    grid_value_text,
    interval_text,
    plain_value,
    plural,
    short_label,
    short_labels,
    wrapped,
)
from simcore.errors import ScenarioError

if TYPE_CHECKING:
    from os import PathLike

    from analysis.contest import Game

__all__ = ["Summary", "summarize"]

_SHOWN_MIXES: Final = 9
_SHOWN_HEAD: Final = 5
_SHOWN_TAIL: Final = 3
_SHOWN_FAILURES: Final = 3
_SHOWN_POINTS: Final = 3
_TEXT_WIDTH: Final = 80
_CLOSEST: Final = 10_000
_DECIDED: Final = 0.5
_PICTURED: Final = 12
"""Mixes of a side in the picture of a notebook."""


@dataclass(frozen=True, eq=False, repr=False)
class Summary:
    """What a run says about balance.

    Attributes
    ----------
    run : Run
        The run it is about.
    matchups : DataFrame
        One row per matchup, see :func:`analysis.metrics.matchup_table`.
    mixes : DataFrame
        One row per grid point, side and unit mix, see :func:`analysis.metrics.mix_table`.
    level : float
        Coverage of all intervals.
    """

    run: Run
    matchups: pd.DataFrame
    mixes: pd.DataFrame
    level: float = DEFAULT_LEVEL

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """Headline statements, most important first; none goes beyond the intervals."""
        return tuple(findings(self))

    @property
    def headlines(self) -> tuple[str, ...]:
        """The findings as plain sentences."""
        return tuple(finding.text for finding in self.findings)

    @cached_property
    def counted(self) -> pd.DataFrame:
        """The matchups that gave a result."""
        is_counted = (self.matchups["status"] == "ok") & self.matchups["lead"].notna()
        # Tables of a million rows are not copied to leave nothing out.
        return self.matchups if is_counted.all() else self.matchups[is_counted]

    @cached_property
    def closest(self) -> pd.DataFrame:
        """The matchups with a result by the size of their lead, smallest first: at most 10,000 of them.

        Left out are those in which fewer than half of the battles have a winner: 0 % against 0 % is not close.
        """
        table = self.counted
        decided = table["attacker_win_share"] + table["defender_win_share"]
        rows = np.flatnonzero((decided >= _DECIDED).to_numpy())
        order = np.argsort(np.abs(table["lead"].to_numpy(dtype=np.float64)[rows]), kind="stable")
        return table.take(rows[order[:_CLOSEST]])

    @cached_property
    def game(self) -> Game | None:
        """The game for the share of wins at the first grid point; None where no two mixes a side all met."""
        from analysis.contest import game  # noqa: PLC0415 - it stands on this module

        try:
            return game(self)
        except ScenarioError:
            return None

    @cached_property
    def failed(self) -> pd.DataFrame:
        """The matchups without a result, with their ``error``."""
        return self.matchups.drop(self.counted.index)

    @cached_property
    def grid_labels(self) -> tuple[str, ...]:
        """Label of each grid point in the order of ``mixes.grid_point``; one empty label without a grid."""
        columns = list(self.run.grid_columns)
        if not columns:
            return ("",)
        firsts = self.mixes.drop_duplicates("grid_point")
        return tuple(
            ", ".join(
                f"{clean(_key_label(column))} = {grid_value_text(value)}"
                for column, value in zip(columns, row, strict=True)
            )
            for row in firsts[columns].itertuples(index=False, name=None)
        )

    @cached_property
    def grid_points(self) -> np.ndarray[Any, np.dtype[np.intp]]:
        """Grid point of every row of ``matchups``, int, shape (rows,)."""
        return grid_points(self.matchups, self.run.grid_columns)

    def to_text(self, width: int = _TEXT_WIDTH) -> str:
        """Return a summary for a terminal: settings, findings, the ends of each side's ranking.

        Parameters
        ----------
        width : int
            Columns to fill.
        """
        return _text(self, width)

    def to_dict(self) -> dict[str, Any]:
        """Return settings, findings and the table of mixes as JSON-able values (NaN as None)."""
        run = self.run
        keys = ("ruleset", "edition", "battles", "precision", "seed")
        exact = int((self.counted["method"] == EXACT).sum())
        return {
            "name": run.name,
            **{key: run.manifest.get(key) for key in keys if key != "battles" or run.method != EXACT},
            **({"battles": None} if run.method == EXACT else {}),
            "battles_counted": int(self.counted["battles"].sum()),
            "method": run.method,
            "exact": exact,
            "simulated": len(self.counted) - exact,
            "pairing": run.pairing,
            "level": self.level,
            "matchups": len(self.matchups),
            "failed": len(self.failed),
            "headlines": [{"kind": finding.kind, "text": finding.text} for finding in self.findings],
            "mixes": [
                {str(key): plain_value(value) for key, value in row.items()}
                for row in self.mixes.to_dict(orient="records")
            ],
        }

    def __repr__(self) -> str:
        return self.to_text()

    def _matrix_html(self) -> str:
        """Return a picture of the strongest mixes against each other, at the first grid point."""
        first = self.mixes[self.mixes["grid_point"] == 0]
        names = []
        for side in SIDES:
            ranked = first[first["side"] == side].sort_values("win_share_mean", ascending=False, kind="stable")
            names.append([str(name) for name in ranked["mix"].head(_PICTURED)])
        table = self.counted[self.grid_points[self.counted.index.to_numpy()] == 0]
        table = table[table["attacker"].isin(names[0]) & table["defender"].isin(names[1])]
        if not len(table):
            return ""
        shares = table.pivot_table(index="attacker", columns="defender", values="attacker_win_share", sort=False)
        shares = shares.reindex(index=names[0], columns=names[1])
        label = self.grid_labels[0]
        title = "How often the attacker (row) beats the defender (column)" + (f" at {label}" if label else "")
        picture = heat_map(names[0], names[1], shares.to_numpy(dtype=np.float64), title)
        return f"<p>{escape(title)}, strongest first:</p>{picture}"

    def _repr_html_(self) -> str:
        items = "".join(f"<li>{_finding_html(finding)}</li>" for finding in self.findings)
        columns = ["side", "mix", "win_share_mean", "lo_win_share_mean", "hi_win_share_mean", "swing_mean"]
        table = self.mixes[[*self.run.grid_columns, *columns, "cost_efficiency"]].head(4 * _SHOWN_MIXES)
        return (
            f"<h4>Summary of <bdi>{escape(clean(self.run.title))}</bdi></h4><ul>{items}</ul>{self._matrix_html()}"
            + table.to_html(index=False, escape=True, float_format=lambda value: f"{value:.4g}")
            + f"<p>{count_text(len(table))} of {count_text(len(self.mixes))} rows of <code>.mixes</code></p>"
        )


def summarize(run: Run | str | PathLike[str], *, level: float = DEFAULT_LEVEL) -> Summary:
    """Condense a run: shares with intervals per matchup, means and extremes per unit mix, findings.

    Parameters
    ----------
    run : Run or path
        A loaded run, or the results folder of one.
    level : float
        Coverage of the intervals, between 0 and 1.

    Returns
    -------
    Summary
        Tables ``matchups`` and ``mixes``, sentences ``headlines``, and ``to_text()``.

    Raises
    ------
    ScenarioError
        For a level that is no coverage.
    StoreError
        If a folder is given and cannot be read.

    Examples
    --------
    >>> summary = summarize("results/land-30")  # doctest: +SKIP
    >>> print(summary.to_text())  # doctest: +SKIP
    """
    check_part(level, "level")
    run = run if isinstance(run, Run) else load(run)
    matchups = matchup_table(run, level=level)
    return Summary(run=run, matchups=matchups, mixes=mix_table(run, matchups, level=level), level=level)


def _key_label(column: str) -> str:
    """Return a grid column's key; that a value belongs to the scenario goes without saying."""
    return column.removeprefix(GRID_PREFIX).removeprefix("scenario.")


def _finding_html(finding: Finding) -> str:
    words = (
        f"<bdi><b>{escape(clean(piece.text))}</b></bdi>" if piece.is_name else escape(piece.text)
        for piece in finding.pieces
    )
    return f"{escape(finding.title)}: {''.join(words)}"


def _text(summary: Summary, width: int) -> str:
    run = summary.run
    attackers, defenders = (summary.matchups[side].nunique() for side in SIDES)
    points = len(summary.grid_labels)
    size = (
        f"{plural(attackers, 'attacker mix', 'attacker mixes')} x "
        f"{plural(defenders, 'defender mix', 'defender mixes')}"
        + (f" x {points} grid points" if points > 1 else "")
        + f", {plural(len(summary.matchups), 'matchup', 'matchups')}"
    )
    rules = ", ".join(
        [
            str(run.manifest["ruleset"]),
            f"edition {clean(str(run.manifest.get('edition', '?')))}",
            *_method_words(run),
            f"seed {run.manifest.get('seed')}",
            f"pairing {run.pairing}",
        ]
    )
    lines = [short_label(run.title, width), *wrapped(size, width), *wrapped(rules, width), ""]
    for finding in summary.findings:
        lines += wrapped(_shortened(finding), width, first="* ", indent="  ")
    for point, label in enumerate(summary.grid_labels[:_SHOWN_POINTS]):
        for side in SIDES:
            lines += _side_lines(summary, side, point, label, width)
    if points > _SHOWN_POINTS:
        lines += ["", f"... and {plural(points - _SHOWN_POINTS, 'more grid point', 'more grid points')}"]
    failed = summary.failed
    for row in failed.head(_SHOWN_FAILURES).itertuples():
        text = f"failed: {clean(str(row.attacker))} v {clean(str(row.defender))}: {clean(str(row.error))}"
        lines += ["", *wrapped(text, width, indent="  ", most=3)]
    if len(failed) > _SHOWN_FAILURES:
        lines.append(f"... and {count_text(len(failed) - _SHOWN_FAILURES)} more failed matchups")
    return "\n".join(lines)


def _method_words(run: Run) -> list[str]:
    """Say how the matchups were resolved."""
    if run.method == EXACT:
        return [EXACT]
    battles = f"{run.battles_each} battles each"
    return [run.mixture, f"the latter with {battles}"] if run.method == MIXED else [battles]


def _shortened(finding: Finding) -> str:
    """Return a finding with long names cut, so that one name cannot fill the screen."""
    words = (f"“{short_label(piece.text, 40)}”" if piece.is_name else piece.text for piece in finding.pieces)
    return f"{finding.title}: {''.join(words)}"


def _side_lines(summary: Summary, side: str, point: int, label: str, width: int) -> list[str]:
    """Return the ranking of one side at one grid point: the strongest and the weakest mixes."""
    mixes = summary.mixes
    table = mixes[(mixes["side"] == side) & (mixes["grid_point"] == point) & mixes["win_share_mean"].notna()]
    if not len(table):
        return []
    table = table.sort_values("win_share_mean", ascending=False, kind="stable")
    figures = f"{'wins':>7}  {'95 % interval':>16}  {'swing':>7}  {'efficiency':>10}"
    if summary.run.method == EXACT:
        figures = figures.replace("95 % interval", " " * len("95 % interval"))
    elif summary.level != DEFAULT_LEVEL:
        figures = figures.replace("95 % interval", f"{summary.level:>4.0%} interval")
    room = max(width - len(figures) - 2, 12)
    heading = f"{side.capitalize()}s" + (f" at {label}" if label else "")
    if display_width(heading) <= room:
        lines = ["", fit(heading, room) + "  " + figures]
    else:
        lines = ["", *wrapped(heading, width), " " * room + "  " + figures]
    head = table if len(table) <= _SHOWN_MIXES else table.head(_SHOWN_HEAD)
    tail = table.iloc[len(table) :] if len(table) <= _SHOWN_MIXES else table.tail(_SHOWN_TAIL)
    shown = pd.concat([head, tail])
    labels = pd.Series(short_labels(shown["mix"], room - 2), index=shown.index)
    for part in (head, tail):
        if part is tail and len(tail):
            lines.append(f"  ... {count_text(len(table) - _SHOWN_HEAD - _SHOWN_TAIL)} more ...")
        for row, mix in zip(part.to_dict(orient="records"), labels[part.index], strict=True):
            low, high = row["lo_win_share_mean"], row["hi_win_share_mean"]
            # Against solved opponents alone there is no uncertainty.
            interval = "" if low == high else interval_text(low, high).removesuffix(" %")
            lines.append(
                "  "
                + fit(mix, room - 2)
                + f"  {percent_text(row['win_share_mean']):>7}  {interval:>16}"
                + f"  {figure_text(row['swing_mean'], signed=True):>7}"
                + f"  {figure_text(row['cost_efficiency']):>10}"
            )
    return lines
