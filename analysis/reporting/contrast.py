"""The report's comparison with another run, as plain values for the template."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from analysis.contrast import (
    change_text,
    figure_pair,
    grid_text,
    headline,
    matchup_name,
    method_text,
    mix_headline,
    mix_method,
    practical_text,
)
from analysis.wording import clean, count_text, plural

if TYPE_CHECKING:
    from collections.abc import Mapping

    from analysis.comparison import Comparison

__all__ = ["comparison_content"]

_MOST_ROWS: Final = 300
_MOST_CHANGES: Final = 20
_SIGNS: Final = {"better": "▲", "worse": "▼", "changed": "◆", "same": "=", "unclear": "?"}
_MIDDLE: Final = 50.0
_REACH: Final = 48.0


def comparison_content(comparison: Comparison | None) -> dict[str, Any] | None:
    """Collect what the page shows of a comparison.

    Parameters
    ----------
    comparison : Comparison, optional

    Returns
    -------
    dict or None
        None without a comparison.
    """
    if comparison is None:
        return None
    counts = comparison.counts
    shown = [verdict for verdict in counts.columns if counts[verdict].any()]
    labels = {measure.name: measure.label for measure in comparison.metrics}
    rows, number = _rows(comparison)
    more = len(comparison.changes) - _MOST_CHANGES
    return {
        "first": comparison.first.label,
        "first_place": clean(f"{comparison.first.run.path}, {comparison.first.run.manifest.get('finished') or ''}"),
        "headline": headline(comparison),
        "changes": comparison.changes[:_MOST_CHANGES],
        "changes_note": f"… and {plural(more, 'more setting', 'more settings')}" if more > 0 else "",
        "verdicts": shown,
        "counts": [
            {"label": labels[str(name)], "numbers": [count_text(int(value)) for value in values]}
            for name, values in zip(counts.index, counts[shown].itertuples(index=False), strict=True)
        ],
        "rows": rows,
        "shown_verdicts": list(dict.fromkeys(row["verdict"] for row in rows)),
        "note": (
            f"{count_text(len(rows))} of {count_text(number)} rows: those of the matchups that changed most."
            if number > len(rows)
            else ""
        ),
        "mixes": _mixes(comparison),
        "mix_headline": mix_headline(comparison),
        "mix_method": mix_method(comparison),
        "method": f"Sizes that matter: {practical_text(comparison)}. {method_text(comparison)}",
    }


def _rows(comparison: Comparison) -> tuple[list[dict[str, Any]], int]:
    """Return the rows to show, and how many there would be: what changed, then what has no result."""
    absent = comparison.select(("failed", "not comparable")).drop_duplicates("pair")
    changed = comparison.findings
    kinds = {measure.name: measure.kind for measure in comparison.metrics}
    labels = {measure.name: measure.label for measure in comparison.metrics}
    scales = _scales(comparison)
    shown = [*changed.head(_MOST_ROWS).to_dict(orient="records")]
    shown += absent.head(max(_MOST_ROWS - len(shown), _MOST_CHANGES)).to_dict(orient="records")
    rows = []
    for record in shown:
        row = {str(key): value for key, value in record.items()}
        kind = kinds[row["metric"]]
        has_result = row["test"] != ""
        first, second = figure_pair(row, kind) if has_result else ("–", "–")
        rows.append(
            {
                "name": matchup_name(row, comparison.keys),
                "attacker": clean(str(row["attacker"])),
                "defender": clean(str(row["defender"])),
                "point": grid_text(row, comparison.keys),
                "metric": labels[row["metric"]] if has_result else "all",
                "first": _cell(row["first"], first),
                "second": _cell(row["second"], second),
                "change": _cell(row["difference"], change_text(row["difference"], kind), _bounds(row, kind)),
                "bar": _bar(row, scales[row["metric"]]) if has_result else None,
                "verdict": row["verdict"],
                "sign": _SIGNS.get(row["verdict"], "–"),
                "reason": clean(str(row["reason"])),
            }
        )
    return rows, len(changed) + len(absent)


def _mixes(comparison: Comparison) -> list[dict[str, Any]]:
    """Return the mixes that became better or worse, then the others by the size of their change."""
    table = comparison.mixes
    size = np.abs(table["difference"].to_numpy(dtype=np.float64))
    is_told = table["verdict"].isin(["better", "worse"]).to_numpy()
    table = table.take(np.lexsort((-np.nan_to_num(size, nan=-1.0), ~is_told))).head(_MOST_ROWS)
    bounds = np.abs(table[["low", "high", "practical"]].to_numpy(dtype=np.float64))
    scale = float(np.nanmax(bounds)) if bounds.size else 1.0
    rows = []
    for record in table.to_dict(orient="records"):
        row = {str(key): value for key, value in record.items()}
        has_result = row["test"] != ""
        first, second = figure_pair(row, "share") if has_result else ("–", "–")
        rows.append(
            {
                "name": clean(str(row["mix"])),
                "side": row["side"],
                "point": grid_text(row, comparison.mix_keys),
                "opponents": _cell(row["opponents"], count_text(row["opponents"])),
                "first": _cell(row["first"], first),
                "second": _cell(row["second"], second),
                "change": _cell(row["difference"], change_text(row["difference"], "share"), _bounds(row, "share")),
                "bar": _bar(row, scale) if has_result and scale > 0.0 else None,
                "verdict": row["verdict"],
                "sign": _SIGNS.get(row["verdict"], "–"),
                "reason": clean(str(row["reason"])),
            }
        )
    return rows


def _cell(value: float, text: str, note: str = "") -> dict[str, Any]:
    return {"sort": None if np.isnan(value) else float(value), "text": text, "note": note}


def _bounds(row: Mapping[str, Any], kind: str) -> str:
    if not row["test"]:
        return ""
    return "exact" if row["test"] == "exact" else f"{change_text(row['low'], kind)} to {change_text(row['high'], kind)}"


def _scales(comparison: Comparison) -> dict[str, float]:
    """Return the largest bound of every metric, so that its bars can be compared."""
    changed = comparison.findings
    scales = {}
    for measure in comparison.metrics:
        rows = changed[changed["metric"] == measure.name]
        bounds = np.abs(rows[["low", "high", "practical"]].to_numpy(dtype=np.float64))
        scales[measure.name] = float(np.nanmax(bounds)) if bounds.size and np.nanmax(bounds) > 0 else 1.0
    return scales


def _bar(row: Mapping[str, Any], scale: float) -> dict[str, Any]:
    """Return where the marks of an interval stand, in a picture 100 wide with nothing in the middle."""

    def at(value: float) -> float:
        return round(_MIDDLE + _REACH * float(np.clip(value / scale, -1.0, 1.0)), 2)

    zone = at(row["practical"]) - at(-row["practical"])
    return {
        "zone": (at(-row["practical"]), round(zone, 2)),
        "low": at(row["low"]),
        "high": at(row["high"]),
        "value": at(row["difference"]),
    }
