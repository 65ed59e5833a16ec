"""A comparison as people and programs read it: plain text, Markdown, HTML for notebooks, JSON."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from analysis.estimators import percent_text
from analysis.frames import GRID_PREFIX, SIDES
from analysis.measure import KINDS
from analysis.picture import ATTACKER, DEFENDER, NEUTRAL, intervals
from analysis.wording import (
    clean,
    count_text,
    figure_text,
    grid_value_text,
    plain_value,
    plural,
    points_text,
    wrapped,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from analysis.comparison import Comparison
    from analysis.counterpart import Half
    from analysis.gate import Judgement

__all__ = [
    "POINT_OF_VIEW",
    "as_dict",
    "change_text",
    "figure_pair",
    "gate_lines",
    "headline",
    "html",
    "markdown",
    "matchup_name",
    "method_text",
    "practical_text",
    "text",
]

POINT_OF_VIEW: Final = "better and worse are seen from the attackers' side"
_SHOWN_ROWS: Final = 12
_MOST_ROWS: Final = 10_000
"""Rows of the JSON object; the others are for ``simcore export``."""
_NARROWEST_NAME: Final = 16
_POINT: Final = 0.01
_SPECIAL: Final = re.compile(r"([\\`*_{}\[\]<>#|~&])")
_TELLING: Final = ("better", "worse", "changed", "not comparable", "failed")


def matchup_name(row: Mapping[str, Any], keys: Sequence[str]) -> str:
    """Return what a matchup is called, with its grid point.

    Parameters
    ----------
    row : mapping
        A row of a comparison.
    keys : sequence of str
        Columns that name matchups.

    Returns
    -------
    str
    """
    name = f"{clean(str(row['attacker']))} v {clean(str(row['defender']))}"
    point = grid_text(row, keys)
    return f"{name} ({point})" if point else name


def grid_text(row: Mapping[str, Any], keys: Sequence[str]) -> str:
    """Return the grid point of a row in words.

    Parameters
    ----------
    row : mapping
    keys : sequence of str

    Returns
    -------
    str
    """
    parts = [
        f"{clean(key.removeprefix(GRID_PREFIX).removeprefix('scenario.'))} = {grid_value_text(row[key])}"
        for key in keys
        if key not in SIDES and row[key] is not None and row[key] == row[key]
    ]
    return ", ".join(parts)


def figure_pair(row: Mapping[str, Any], kind: str) -> tuple[str, str]:
    """Return the two figures of a row as text.

    Parameters
    ----------
    row : mapping
    kind : str
        Kind of its metric.

    Returns
    -------
    str, str
    """
    show = percent_text if kind == "share" else figure_text
    return show(float(row["first"])), show(float(row["second"]))


def change_text(value: float, kind: str) -> str:
    """Return a difference as text: shares in percentage points.

    Parameters
    ----------
    value : float
    kind : str

    Returns
    -------
    str
    """
    if np.isnan(value):
        return "–"
    return points_text(value) if kind == "share" else figure_text(value, signed=True)


def practical_text(comparison: Comparison) -> str:
    """Return the sizes that matter in words.

    Parameters
    ----------
    comparison : Comparison

    Returns
    -------
    str
    """
    kinds = {measure.kind for measure in comparison.metrics}
    size = comparison.practical
    texts = {
        "share": f"{100 * size['share']:g} percentage point{'' if size['share'] == _POINT else 's'} of a share",
        "cost": f"{100 * size['cost']:g} % of the mean cost of the two sides",
        "length": f"{size['length']:g} {comparison.first.run.rounds}",
    }
    return ", ".join(texts[kind] for kind in KINDS if kind in kinds)


def method_text(comparison: Comparison) -> str:
    """Return how differences were tested, in words.

    Parameters
    ----------
    comparison : Comparison

    Returns
    -------
    str
    """
    tests = comparison.rows["test"]
    used = [name for name in dict.fromkeys(tests) if name]
    if not used:
        return "Nothing could be compared."
    words = {
        "exact": "exact figures are subtracted",
        "binomial": "shares are tested against exact ones (binomial test)",
        "z": "means are tested against exact ones (z-test)",
        "paired t": "paired t over common batches, fought with the same dice",
        "McNemar": "McNemar's test of the same battles",
        "score": "shares of different dice by the score test",
        "Welch's t": "means of different dice by Welch's t",
        "errors added": "same dice, but too few common batches to pair: errors are added",
    }
    parts = "; ".join(words.get(name, name) for name in used)
    parts = parts[0].upper() + parts[1:]
    tested = int(comparison.rows["p"].notna().sum())
    if not tested:
        return f"{parts}."
    names = {"hochberg": "Benjamini-Hochberg", "yekutieli": "Benjamini-Yekutieli"}
    share = f"false discoveries at most {100 * comparison.fdr:g} % ({names[comparison.correction]})"
    found = f"{parts}. {plural(tested, 'test', 'tests')}, {share}."
    if comparison.has_same_dice and "McNemar" not in used:
        found += " Outcomes of single battles were not kept, so there is no McNemar test."
    return found


def headline(comparison: Comparison) -> str:
    """Return the comparison in one sentence.

    Parameters
    ----------
    comparison : Comparison

    Returns
    -------
    str
    """
    number = plural(comparison.size, "matchup", "matchups")
    if not comparison.size:
        return "There is no matchup in either run."
    parts = [
        f"{count_text(found)} {verdict}"
        for verdict in ("worse", "better", "changed")
        if (found := comparison.matchups_with([verdict]))
    ]
    absent = [
        f"{count_text(found)} {verdict}"
        for verdict in ("not comparable", "failed")
        if (found := comparison.matchups_with([verdict]))
    ]
    said = ", ".join(parts) if parts else "no change found"
    return f"{number}: {said}" + (f"; {', '.join(absent)}" if absent else "")


def _side_text(half: Half) -> str:
    finished = str(half.run.manifest.get("finished") or "")[:16].replace("T", " ")
    return clean(f"{half.label} ({half.run.path}{', ' + finished if finished else ''})")


def text(comparison: Comparison, width: int) -> str:
    """Return a comparison as plain text.

    Parameters
    ----------
    comparison : Comparison
    width : int
        Columns to fill.

    Returns
    -------
    str
    """
    lines = [*wrapped(headline(comparison), width), ""]
    lines += wrapped(f"first:  {_side_text(comparison.first)}", width, indent="        ")
    lines += wrapped(f"second: {_side_text(comparison.second)}", width, indent="        ")
    for name, one, other in comparison.changes[:_SHOWN_ROWS]:
        lines += wrapped(f"{name}: {one} -> {other}", width, first="  ", indent="    ", most=3)
    if not comparison.changes:
        lines.append("  all settings are the same")
    elif len(comparison.changes) > _SHOWN_ROWS:
        lines.append(f"  ... and {len(comparison.changes) - _SHOWN_ROWS} more settings")
    lines += ["", *_count_lines(comparison), ""]
    lines += _change_lines(comparison, width)
    lines += _absence_lines(comparison, width)
    lines += wrapped(f"Verdicts: {POINT_OF_VIEW}. Sizes that matter: {practical_text(comparison)}.", width)
    lines += wrapped(method_text(comparison), width)
    return "\n".join(lines)


def _count_lines(comparison: Comparison) -> list[str]:
    counts = comparison.counts
    shown = [verdict for verdict in counts.columns if counts[verdict].any()]
    if not shown:
        return []
    room = max(len(name) for name in counts.index)
    lines = [f"{'matchups':<{room}}" + "".join(f"  {verdict:>{max(len(verdict), 6)}}" for verdict in shown)]
    for name, row in zip(counts.index, counts[shown].itertuples(index=False), strict=True):
        cells = (
            f"  {count_text(int(value)):>{max(len(verdict), 6)}}" for verdict, value in zip(shown, row, strict=True)
        )
        lines.append(f"{name:<{room}}" + "".join(cells))
    return lines


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(key): value for key, value in row.items()} for row in table.to_dict(orient="records")]


def _change_lines(comparison: Comparison, width: int) -> list[str]:
    found = comparison.findings
    if not len(found):
        return []
    kinds = {measure.name: measure.kind for measure in comparison.metrics}
    rows = []
    for row in _records(found.head(_SHOWN_ROWS)):
        kind = kinds[row["metric"]]
        one, other = figure_pair(row, kind)
        bounds = f"{change_text(row['low'], kind)} to {change_text(row['high'], kind)}"
        bounds = "" if row["test"] == "exact" else bounds
        rows.append((row, [row["metric"], one, other, change_text(row["difference"], kind), bounds, row["verdict"]]))
    heads = ["metric", "first", "second", "change", f"{100 * comparison.level:g} % interval", ""]
    widths = [max(len(heads[i]), *(len(cells[i]) for _, cells in rows)) for i in range(len(heads))]
    heads_line = "  ".join(
        head.ljust(w) if i in {0, len(heads) - 1} else head.rjust(w)
        for i, (head, w) in enumerate(zip(heads, widths, strict=True))
    )
    lines = ["largest changes", f"  {heads_line.rstrip()}"]
    last = ""
    for row, cells in rows:
        name = matchup_name(row, comparison.keys)
        if name != last:
            lines += wrapped(name, max(width, _NARROWEST_NAME), indent="  ", most=2)
            last = name
        line = "  ".join(
            cell.ljust(w) if i in {0, len(cells) - 1} else cell.rjust(w)
            for i, (cell, w) in enumerate(zip(cells, widths, strict=True))
        )
        lines.append("  " + line.rstrip())
    if len(found) > _SHOWN_ROWS:
        lines.append(f"... and {plural(len(found) - _SHOWN_ROWS, 'more row', 'more rows')}")
    return [*lines, ""]


def _absence_lines(comparison: Comparison, width: int) -> list[str]:
    """Say which matchups have no result, and why."""
    found = comparison.select(("failed", "not comparable")).drop_duplicates("pair")
    lines: list[str] = []
    for row in _records(found.head(3)):
        said = f"{row['verdict']}: {matchup_name(row, comparison.keys)}: {clean(str(row['reason']))}"
        lines += wrapped(said, width, indent="  ", most=3)
    if len(found) > len(found.head(3)):
        lines.append(f"... and {plural(len(found) - 3, 'more matchup', 'more matchups')} without a comparison")
    return [*lines, ""] if lines else []


def markdown(comparison: Comparison) -> str:
    """Return a comparison as Markdown.

    Parameters
    ----------
    comparison : Comparison

    Returns
    -------
    str
    """
    kinds = {measure.name: measure.kind for measure in comparison.metrics}
    lines = [f"**{escaped(headline(comparison))}**", ""]
    lines += [
        f"- first: {escaped(_side_text(comparison.first))}",
        f"- second: {escaped(_side_text(comparison.second))}",
    ]
    lines += [
        f"- {escaped(name)}: {escaped(one)} → {escaped(other)}" for name, one, other in comparison.changes[:_SHOWN_ROWS]
    ]
    if len(comparison.changes) > _SHOWN_ROWS:
        lines.append(f"- … and {len(comparison.changes) - _SHOWN_ROWS} more settings")
    counts = comparison.counts
    shown = [verdict for verdict in counts.columns if counts[verdict].any()]
    if shown:
        lines += ["", f"| matchups | {' | '.join(shown)} |", "|---|" + "---:|" * len(shown)]
        for name, numbers in zip(counts.index, counts[shown].itertuples(index=False), strict=True):
            lines.append(f"| {escaped(str(name))} | {' | '.join(count_text(int(value)) for value in numbers)} |")
    found = comparison.findings
    if len(found):
        lines += [
            "",
            "| matchup | metric | first | second | change | interval | verdict |",
            "|---|---|---:|---:|---:|---|---|",
        ]
        for row in _records(found.head(2 * _SHOWN_ROWS)):
            kind = kinds[row["metric"]]
            one, other = figure_pair(row, kind)
            bounds = f"{change_text(row['low'], kind)} to {change_text(row['high'], kind)}"
            cells = [
                matchup_name(row, comparison.keys), row["metric"], one, other, change_text(row["difference"], kind),
                "exact" if row["test"] == "exact" else bounds, row["verdict"],
            ]  # fmt: skip
            lines.append(f"| {' | '.join(escaped(cell) for cell in cells)} |")
        if len(found) > 2 * _SHOWN_ROWS:
            lines += ["", f"… and {plural(len(found) - 2 * _SHOWN_ROWS, 'more row', 'more rows')}"]
    absent = comparison.select(("failed", "not comparable")).drop_duplicates("pair")
    if len(absent):
        lines += ["", f"Without a comparison: {plural(len(absent), 'matchup', 'matchups')}", ""]
        lines += [
            f"- {escaped(matchup_name(row, comparison.keys))}: {row['verdict']}, {escaped(clean(str(row['reason'])))}"
            for row in _records(absent.head(_SHOWN_ROWS))
        ]
    lines += [
        "",
        f"Verdicts: {POINT_OF_VIEW}. Sizes that matter: {practical_text(comparison)}. {method_text(comparison)}",
    ]
    return "\n".join(lines) + "\n"


def escaped(words: str) -> str:
    r"""Return text in which nothing is Markdown, HTML or a new line.

    Parameters
    ----------
    words : str

    Returns
    -------
    str

    Examples
    --------
    >>> print(escaped("<b>|*x*"))
    \<b\>\|\*x\*
    """
    return _SPECIAL.sub(r"\\\1", clean(words))


def gate_lines(judgements: Sequence[Judgement]) -> list[str]:
    """Return how gates were kept, as lines of Markdown.

    Parameters
    ----------
    judgements : sequence of Judgement

    Returns
    -------
    list of str
    """
    if not judgements:
        return []
    lines = ["", "| gate | allowed | found | |", "|---|---:|---:|---|"]
    for judgement in judgements:
        said = "kept" if judgement.is_kept else f"**failed** {escaped('; '.join(judgement.examples))}".rstrip()
        lines.append(f"| {escaped(judgement.gate)} | {judgement.limit:g} | {judgement.found:.4g} | {said} |")
    return lines


def html(comparison: Comparison) -> str:
    """Return a comparison as HTML for a notebook.

    Parameters
    ----------
    comparison : Comparison

    Returns
    -------
    str
    """
    kinds = {measure.name: measure.kind for measure in comparison.metrics}
    counts = comparison.counts
    shown = counts[[verdict for verdict in counts.columns if counts[verdict].any()]]
    parts = [f"<h4>{escape(headline(comparison))}</h4>", "<ul>"]
    for label, half in (("first", comparison.first), ("second", comparison.second)):
        parts.append(f"<li>{label}: <bdi>{escape(_side_text(half))}</bdi></li>")
    parts += [
        f"<li><bdi>{escape(name)}</bdi>: <bdi>{escape(one)}</bdi> → <bdi>{escape(other)}</bdi></li>"
        for name, one, other in comparison.changes[:_SHOWN_ROWS]
    ]
    parts += ["</ul>", shown.to_html(escape=True)]
    body = []
    for row in _records(comparison.findings.head(_SHOWN_ROWS)):
        kind = kinds[row["metric"]]
        one, other = figure_pair(row, kind)
        bounds = (
            "exact"
            if row["test"] == "exact"
            else (f"{change_text(row['low'], kind)} to {change_text(row['high'], kind)}")
        )
        cells = [row["metric"], one, other, change_text(row["difference"], kind), bounds, row["verdict"]]
        body.append(
            f'<tr><th style="text-align:left"><bdi>{escape(matchup_name(row, comparison.keys))}</bdi></th>'
            + "".join(f"<td>{escape(cell)}</td>" for cell in cells)
            + "</tr>"
        )
    if body:
        heads = ("matchup", "metric", "first", "second", "change", "interval", "verdict")
        parts.append(f"<table><tr>{''.join(f'<th>{head}</th>' for head in heads)}</tr>{''.join(body)}</table>")
        parts.append(_picture(comparison))
    parts.append(f"<p>{escape(POINT_OF_VIEW.capitalize())}. {escape(method_text(comparison))}</p>")
    return "".join(parts)


def _picture(comparison: Comparison) -> str:
    """Return the largest changes of the first metric that changed, as a picture."""
    found = comparison.findings
    measure = next(measure for measure in comparison.metrics if (found["metric"] == measure.name).any())
    colours = {"better": ATTACKER, "worse": DEFENDER}
    rows = [
        {
            "name": matchup_name(row, comparison.keys),
            "value": row["difference"],
            **{key: row[key] for key in ("low", "high", "practical")},
            "colour": colours.get(row["verdict"], NEUTRAL),
        }
        for row in _records(found[found["metric"] == measure.name].head(_SHOWN_ROWS))
    ]
    title = f"Changes of the metric {measure.name}: interval of each, and the zone that does not matter"
    return f"<p>{escape(title)}</p>{intervals(rows, title)}"


def as_dict(comparison: Comparison) -> dict[str, Any]:
    """Return a comparison as JSON-able values.

    Parameters
    ----------
    comparison : Comparison

    Returns
    -------
    dict
        Rows without a change are left out where there are very many.
    """
    rows = comparison.rows
    kept = rows if len(rows) <= _MOST_ROWS else comparison.select(_TELLING).head(_MOST_ROWS)
    halves = {"first": comparison.first, "second": comparison.second}
    return {
        **{
            name: {
                "name": half.run.name,
                "folder": str(half.run.path),
                "label": half.label,
                "finished": half.run.manifest.get("finished"),
            }
            for name, half in halves.items()
        },
        "changes": [{"setting": name, "first": one, "second": other} for name, one, other in comparison.changes],
        "matchups": comparison.size,
        "level": comparison.level,
        "fdr": comparison.fdr,
        "correction": comparison.correction,
        "same_dice": comparison.has_same_dice,
        "practical": comparison.practical,
        "headline": headline(comparison),
        "counts": {
            str(name): {str(verdict): int(number) for verdict, number in row.items()}
            for name, row in comparison.counts.to_dict(orient="index").items()
        },
        "rows": [{key: plain_value(value) for key, value in row.items()} for row in _records(kept)],
        "rows_left_out": len(rows) - len(kept),
    }
