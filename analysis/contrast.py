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
    "MIX_VIEW",
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
    "mix_headline",
    "mix_method",
    "mix_name",
    "practical_text",
    "text",
]

POINT_OF_VIEW: Final = "better and worse are seen from the attackers' side"
MIX_VIEW: Final = "Mixes by their mean win share over the weighted field, each seen from its own side"
_SHOWN_ROWS: Final = 12
_MOST_ROWS: Final = 10_000
"""Rows of the JSON object; the others are for ``simcore export``."""
_NARROWEST_NAME: Final = 16
_POINT: Final = 0.01
_SPECIAL: Final = re.compile(r"([\\`*_{}\[\]<>#|~&])")
_MIX_TESTS: Final = {
    "exact": "exact figures are subtracted",
    "independent matchups": "matchups with dice of their own add the squares of their errors",
    "common batches": "paired t over the weighted means of common batches",
    "errors added": "matchups share dice, so errors are added",
}
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
    found = f"{parts}. {plural(tested, 'test', 'tests')}, {_discoveries(comparison, comparison.correction)}."
    has_outcomes = any(measure.outcomes for measure in comparison.metrics)
    if comparison.has_same_dice and has_outcomes and "McNemar" not in used:
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


def mix_name(row: Mapping[str, Any], keys: Sequence[str]) -> str:
    """Return what a mix is called, with its side and grid point.

    Parameters
    ----------
    row : mapping
        A row of ``Comparison.mixes``.
    keys : sequence of str
        Grid columns.

    Returns
    -------
    str
    """
    name = f"{row['side']} {clean(str(row['mix']))}"
    point = grid_text(row, keys)
    return f"{name} ({point})" if point else name


def mix_headline(comparison: Comparison) -> str:
    """Return what became of the mixes in one sentence.

    Parameters
    ----------
    comparison : Comparison

    Returns
    -------
    str
        Empty without a mix.
    """
    if not len(comparison.mixes):
        return ""
    totals = comparison.mix_counts.sum()
    order = ("worse", "better", "same", "unclear", "not comparable", "failed")
    parts = [f"{count_text(int(totals[verdict]))} {verdict}" for verdict in order if totals[verdict]]
    return f"{plural(len(comparison.mixes), 'mix', 'mixes')}: {', '.join(parts)}"


def mix_method(comparison: Comparison) -> str:
    """Return how mixes were compared, in words.

    Parameters
    ----------
    comparison : Comparison

    Returns
    -------
    str
    """
    used = [name for name in dict.fromkeys(comparison.mixes["test"]) if name]
    parts = "; ".join(_MIX_TESTS[name] for name in used)
    said = f"{MIX_VIEW}" + (f": {parts}" if parts else "")
    tested = int(comparison.mixes["p"].notna().sum())
    if not tested:
        return f"{said}."
    return f"{said}. {plural(tested, 'test', 'tests')}, {_discoveries(comparison, comparison.mix_correction)}."


def _discoveries(comparison: Comparison, correction: str) -> str:
    names = {"hochberg": "Benjamini-Hochberg", "yekutieli": "Benjamini-Yekutieli"}
    return f"false discoveries at most {100 * comparison.fdr:g} % ({names[correction]})"


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
    lines += _mix_lines(comparison, width)
    lines += _absence_lines(comparison, width)
    lines += wrapped(f"Verdicts: {POINT_OF_VIEW}. Sizes that matter: {practical_text(comparison)}.", width)
    lines += wrapped(method_text(comparison), width)
    lines += wrapped(mix_method(comparison), width)
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


def _change_cells(row: Mapping[str, Any], kind: str, exact: str = "exact") -> list[str]:
    """Return what is told of a change: both figures, their difference, its interval, the verdict."""
    one, other = figure_pair(row, kind)
    bounds = f"{change_text(row['low'], kind)} to {change_text(row['high'], kind)}"
    return [
        one, other, change_text(row["difference"], kind), exact if row["test"] == "exact" else bounds, row["verdict"],
    ]  # fmt: skip


def _aligned(lines: Sequence[Sequence[str]]) -> list[str]:
    """Lay out cells under each other: the first and the last column to the left, figures to the right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    outer = {0, len(widths) - 1}
    return [
        "  "
        + "  ".join(
            cell.ljust(room) if place in outer else cell.rjust(room)
            for place, (cell, room) in enumerate(zip(cells, widths, strict=True))
        ).rstrip()
        for cells in lines
    ]


def _change_lines(comparison: Comparison, width: int) -> list[str]:
    found = comparison.findings
    if not len(found):
        return []
    kinds = {measure.name: measure.kind for measure in comparison.metrics}
    rows = _records(found.head(_SHOWN_ROWS))
    heads = ["metric", "first", "second", "change", f"{100 * comparison.level:g} % interval", ""]
    head, *laid = _aligned(
        [heads, *([row["metric"], *_change_cells(row, kinds[row["metric"]], exact="")] for row in rows)]
    )
    lines = ["largest changes", head]
    last = ""
    for row, line in zip(rows, laid, strict=True):
        name = matchup_name(row, comparison.keys)
        if name != last:
            lines += wrapped(name, max(width, _NARROWEST_NAME), indent="  ", most=2)
            last = name
        lines.append(line)
    if len(found) > _SHOWN_ROWS:
        lines.append(f"... and {plural(len(found) - _SHOWN_ROWS, 'more row', 'more rows')}")
    return [*lines, ""]


def _mix_lines(comparison: Comparison, width: int) -> list[str]:
    if not len(comparison.mixes):
        return []
    lines = wrapped(mix_headline(comparison), width)
    found = comparison.mix_findings
    rows = _records(found.head(_SHOWN_ROWS))
    heads = ["", "first", "second", "change", f"{100 * comparison.level:g} % interval", ""]
    if rows:
        head, *laid = _aligned([heads, *(["", *_change_cells(row, "share", exact="")] for row in rows)])
        lines.append(head)
        for row, line in zip(rows, laid, strict=True):
            name = mix_name(row, comparison.mix_keys)
            lines += [*wrapped(name, max(width, _NARROWEST_NAME), indent="  ", most=2), line]
    if len(found) > len(rows):
        lines.append(f"... and {plural(len(found) - len(rows), 'more mix', 'more mixes')}")
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
            cells = [matchup_name(row, comparison.keys), row["metric"], *_change_cells(row, kinds[row["metric"]])]
            lines.append(f"| {' | '.join(escaped(cell) for cell in cells)} |")
        if len(found) > 2 * _SHOWN_ROWS:
            lines += ["", f"… and {plural(len(found) - 2 * _SHOWN_ROWS, 'more row', 'more rows')}"]
    lines += _mix_markdown(comparison)
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
        *(["", f"{mix_method(comparison)}"] if len(comparison.mixes) else []),
    ]
    return "\n".join(lines) + "\n"


def _mix_markdown(comparison: Comparison) -> list[str]:
    if not len(comparison.mixes):
        return []
    lines = ["", f"**{escaped(mix_headline(comparison))}**"]
    found = comparison.mix_findings
    if len(found):
        lines += ["", "| mix | first | second | change | interval | verdict |", "|---|---:|---:|---:|---|---|"]
    for row in _records(found.head(2 * _SHOWN_ROWS)):
        cells = [mix_name(row, comparison.mix_keys), *_change_cells(row, "share")]
        lines.append(f"| {' | '.join(escaped(cell) for cell in cells)} |")
    if len(found) > 2 * _SHOWN_ROWS:
        lines += ["", f"… and {plural(len(found) - 2 * _SHOWN_ROWS, 'more mix', 'more mixes')}"]
    return lines


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
    heads = ("first", "second", "change", "interval", "verdict")
    body = [
        (matchup_name(row, comparison.keys), [row["metric"], *_change_cells(row, kinds[row["metric"]])])
        for row in _records(comparison.findings.head(_SHOWN_ROWS))
    ]
    if body:
        parts += [_html_table(("matchup", "metric", *heads), body), _picture(comparison)]
    if len(comparison.mixes):
        parts.append(f"<p>{escape(mix_headline(comparison))}</p>")
        body = [
            (mix_name(row, comparison.mix_keys), _change_cells(row, "share"))
            for row in _records(comparison.mix_findings.head(_SHOWN_ROWS))
        ]
        parts += [_html_table(("mix", *heads), body)] if body else []
    parts.append(f"<p>{escape(POINT_OF_VIEW.capitalize())}. {escape(method_text(comparison))}</p>")
    return "".join(parts)


def _html_table(heads: Sequence[str], rows: Sequence[tuple[str, Sequence[str]]]) -> str:
    body = "".join(
        f'<tr><th style="text-align:left"><bdi>{escape(name)}</bdi></th>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        + "</tr>"
        for name, cells in rows
    )
    return f"<table><tr>{''.join(f'<th>{head}</th>' for head in heads)}</tr>{body}</table>"


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
    mixes = comparison.mixes
    if len(mixes) > _MOST_ROWS:
        mixes = mixes[mixes["verdict"].isin(_TELLING)].head(_MOST_ROWS)
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
        "mix_headline": mix_headline(comparison),
        "mix_correction": comparison.mix_correction,
        "mix_counts": {
            str(side): {str(verdict): int(number) for verdict, number in row.items()}
            for side, row in comparison.mix_counts.to_dict(orient="index").items()
        },
        "mixes": [{key: plain_value(value) for key, value in row.items()} for row in _records(mixes)],
        "mixes_left_out": len(comparison.mixes) - len(mixes),
    }
