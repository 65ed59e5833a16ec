"""What the report says: the sections of the page as plain values, ready for the template.

Everything that could grow with the run is bounded here, and every bound that takes effect leaves a note that
the page shows.
"""

from __future__ import annotations

import json
from math import isqrt
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis import command
from analysis.estimators import percent_text, percent_texts
from analysis.frames import EXACT, MIXED, SIDES
from analysis.reporting.cell import figure_cell, share_cell, spaced
from analysis.reporting.figure import heat_map, swing_chart
from analysis.reporting.play import play_content, price_content
from analysis.reporting.strip import swing_range, swing_strip
from analysis.wording import (
    clean,
    count_text,
    duration_text,
    figure_text,
    interval_text,
    plural,
    points_text,
)
from simcore.errors import UnknownRulesetError
from simcore.registry import get_ruleset

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from analysis.balance import Summary

__all__ = ["page_content"]

IntArray = npt.NDArray[np.intp]

_MOST_POINTS: Final = 24
"""Grid points that can be chosen on the page."""
_MOST_CELLS: Final = 40_000
"""Cells of all heat maps together."""
_MOST_MIXES_A_SIDE: Final = 60
_MOST_MIX_ROWS: Final = 1_500
_MOST_MATCHUP_ROWS: Final = 450
_MOST_DOTS: Final = 24
_SURVIVOR_CARDS: Final = 6
_MOST_FAILURES: Final = 200
_MOST_SWEEP_LETTERS: Final = 100_000


def page_content(summary: Summary) -> dict[str, Any]:
    """Collect everything that the page shows.

    Parameters
    ----------
    summary : Summary
        The run.

    Returns
    -------
    dict
        Names of the template's variables and their values.
    """
    points = spaced(len(summary.grid_labels), _MOST_POINTS).tolist()
    content = {
        "title": clean(summary.run.title),
        "subtitle": _subtitle(summary),
        "tiles": _tiles(summary),
        "findings": [
            {
                "title": finding.title,
                "kind": finding.kind,
                "pieces": [(clean(piece.text), piece.is_name) for piece in finding.pieces],
            }
            for finding in summary.findings
        ],
        "points": [{"number": point, "label": summary.grid_labels[point]} for point in points],
        "points_note": _points_note(summary, len(points)),
        "wins_note": _wins_note(summary),
        "matrix": None,
        "swing": None,
        "mixes": None,
        "matchups": None,
        "play": None,
        "prices": price_content(summary),
        "survivors": [],
        "failures": _failures(summary),
        "settings": _settings(summary),
        "level": f"{summary.level:.0%}".replace("%", " %"),
        "intervals": "Wilson" if summary.run.precision is None else "valid at all times",
        "method": summary.run.method,
    }
    if len(summary.counted):
        content |= {
            "matrix": _matrix(summary, points),
            "swing": _swing(summary, points),
            "mixes": _mix_rows(summary, points),
            "matchups": _matchup_rows(summary, points),
            "play": play_content(summary, points),
            "survivors": _survivor_cards(summary),
        }
    return content


def _wins_note(summary: Summary) -> str:
    """Say what a win is where the outcomes do not say it themselves."""
    if all("win" in outcome or "clear" in outcome for wins in summary.run.wins.values() for outcome in wins):
        return ""
    parts = [f"the {side} wins with {' or '.join(wins).replace('_', ' ')}" for side, wins in summary.run.wins.items()]
    return f"In these battles {' and '.join(parts)}."


def _points_note(summary: Summary, shown: int) -> str:
    number = len(summary.grid_labels)
    return "" if shown == number else f"{shown} of {count_text(number)} grid points can be chosen here."


# ------------------------------------------------------------------------------------------------- top


def _subtitle(summary: Summary) -> str:
    manifest = summary.run.manifest
    parts = [str(manifest["ruleset"]).replace("_", " "), f"edition {manifest.get('edition', '?')}"]
    finished = str(manifest.get("finished") or manifest.get("created") or "")[:10]
    return clean(" · ".join([*parts, *([finished] if finished else [])]))


def _tiles(summary: Summary) -> list[dict[str, str]]:
    run, counted = summary.run, summary.counted
    attackers, defenders = (summary.matchups[side].nunique() for side in SIDES)
    points = len(summary.grid_labels)
    size = f"{count_text(attackers)} attacker × {count_text(defenders)} defender mixes"
    battles = int(counted["battles"].sum())
    tiles = [
        {
            "label": "Matchups",
            "value": count_text(len(summary.matchups)),
            "note": size + (f" × {count_text(points)} grid points" if points > 1 else ""),
        },
        {
            "label": "Battles",
            "value": EXACT if run.method == EXACT else _large(battles),
            "note": _battles_note(summary),
        },
    ]
    if len(counted):
        weights = (counted["attacker_weight"] * counted["defender_weight"]).to_numpy(dtype=np.float64)
        weights = weights if weights.sum() > 0 else np.ones(len(counted))
        for side in SIDES:
            share = float(np.average(counted[f"{side}_win_share"].to_numpy(dtype=np.float64), weights=weights))
            tiles.append(
                {"label": f"{side.capitalize()}s win", "value": percent_text(share), "note": "mean of all matchups"}
            )
        length = float(np.average(counted[f"{run.rounds}_mean"].to_numpy(dtype=np.float64), weights=weights))
        tiles.append(
            {"label": run.rounds.capitalize(), "value": figure_text(length), "note": "mean length of a battle"}
        )
        if "first_mover_edge_mean" in counted:
            edge = float(np.average(counted["first_mover_edge_mean"].to_numpy(dtype=np.float64), weights=weights))
            tiles.append(
                {
                    "label": "First mover's edge",
                    "value": points_text(edge),
                    "note": "games won by the side that moved first, minus lost",
                }
            )
        clear = counted["favourite"].isin(SIDES).mean()
        tiles.append(
            {"label": "Clear favourite", "value": percent_text(float(clear)), "note": "of the matchups have one"}
        )
    return tiles


def _battles_note(summary: Summary) -> str:
    """Say in how many matchups the battles were fought."""
    run = summary.run
    if run.method == EXACT:
        return "no battle was drawn"
    each = run.battles_each
    return f"{run.mixture} with {each} each" if run.method == MIXED else f"{each} per matchup"


def _large(number: int) -> str:
    """Return a large count with few digits."""
    for size, word in ((10**9, "billion"), (10**6, "million")):
        if number >= size:
            return f"{number / size:.3g} {word}" if number < 1000 * size else f"{number / size:,.0f} {word}"
    return count_text(number)


# ---------------------------------------------------------------------------------------------- figures


def _ranked(summary: Summary, side: str) -> list[str]:
    """Return the names of a side by mean win share over all grid points, strongest first."""
    table = summary.mixes[summary.mixes["side"] == side]
    means = table.groupby("mix", sort=False)["win_share_mean"].mean()
    return [str(name) for name in means.sort_values(ascending=False, kind="stable", na_position="last").index]


def _matrix(summary: Summary, points: Sequence[int]) -> dict[str, Any]:
    limit = min(_MOST_MIXES_A_SIDE, isqrt(_MOST_CELLS // len(points)))
    everyone = {side: _ranked(summary, side) for side in SIDES}
    shown = {side: [names[place] for place in spaced(len(names), limit)] for side, names in everyone.items()}
    position = {side: {name: place for place, name in enumerate(names)} for side, names in shown.items()}
    table = summary.matchups
    rows = [table[side].map(position[side]).to_numpy(dtype=np.float64) for side in SIDES]
    is_shown = ~np.isnan(rows[0]) & ~np.isnan(rows[1]) & np.isin(summary.grid_points, points)
    table = table[is_shown]
    places = [row[is_shown].astype(np.intp) for row in rows]
    at = np.searchsorted(points, summary.grid_points[is_shown])
    shape = (len(points), len(shown["attacker"]), len(shown["defender"]))
    shares = np.full(shape, np.nan)
    shares[at, places[0], places[1]] = table["attacker_win_share"].to_numpy(dtype=np.float64)
    texts = np.full((*shape, 3), "", dtype=object)
    for column, values in enumerate(_cell_texts(table)):
        texts[at, places[0], places[1], column] = values
    figures = [
        heat_map(shown["attacker"], shown["defender"], shares[number], texts[number]) for number in range(len(points))
    ]
    firsts = {side: table.drop_duplicates(side).set_index(side)[f"{side}_units"] for side in SIDES}
    units = {side: [command.quoted(str(firsts[side].get(name, ""))) for name in names] for side, names in shown.items()}
    return {
        "figures": figures,
        "details": {
            "attackers": [clean(name) for name in shown["attacker"]],
            "defenders": [clean(name) for name in shown["defender"]],
            "attackerUnits": units["attacker"],
            "defenderUnits": units["defender"],
            "options": [_point_options(summary, point) for point in points],
        },
        "note": _matrix_note(everyone, shown, has_gaps=bool(np.isnan(shares).any())),
        "alt": (
            f"Heat map of the attackers' win share: {plural(shape[1], 'attacker mix', 'attacker mixes')} down, "
            f"{plural(shape[2], 'defender mix', 'defender mixes')} across, strongest first. "
            "The tables below hold the figures."
        ),
    }


def _cell_texts(table: pd.DataFrame) -> Iterable[list[str]]:
    """Yield the hover texts of matchups: attackers' wins, defenders' wins, swing."""
    for side in SIDES:
        share = f"{side}_win_share"
        yield [
            _with_interval(*values)
            for values in zip(table[share], table[f"lo_{share}"], table[f"hi_{share}"], strict=True)
        ]
    yield [
        f"{figure_text(mean, signed=True)} ± {figure_text(sd)}"
        for mean, sd in zip(table["swing_mean"], table["swing_sd"], strict=True)
    ]


def _with_interval(share: float, low: float, high: float) -> str:
    """Return a share with its interval; an exact one has none, whose bounds are equal."""
    text = percent_text(share)
    return text if low == high or np.isnan(share) else f"{text} ({interval_text(low, high)})"


def _matrix_note(everyone: Mapping[str, Sequence[str]], shown: Mapping[str, Sequence[str]], *, has_gaps: bool) -> str:
    parts = [
        f"{len(shown[side])} of {count_text(len(everyone[side]))} {side} mixes"
        for side in SIDES
        if len(shown[side]) < len(everyone[side])
    ]
    notes = []
    if parts:
        notes.append(f"Shown are {' and '.join(parts)}, evenly spaced from the strongest to the weakest.")
    if has_gaps:
        notes.append("Empty cells were not paired or failed.")
    return " ".join(notes)


def _point_row(summary: Summary, point: int) -> dict[str, Any]:
    """Return a row of the matchups at a grid point, for what all rows there have in common."""
    here = np.flatnonzero(summary.grid_points == point)
    counted = here[(summary.matchups["status"].to_numpy(dtype=object)[here] == "ok")]
    return _row(summary.matchups, int((counted if len(counted) else here)[0]))


def _point_options(summary: Summary, point: int) -> str:
    """Return the options that compute any matchup of a grid point again."""
    at = summary.grid_points[summary.matchups.index.get_indexer(summary.counted.index)]
    methods = set(summary.counted["method"][at == point])
    row = _point_row(summary, point)
    return command.options(summary.run, row if len(methods) == 1 else {**row, "method": None})


def _row(table: pd.DataFrame, place: int) -> dict[str, Any]:
    return {str(column): table[column].iloc[place] for column in table.columns}


def _side_at(summary: Summary, side: str, point: int) -> pd.DataFrame:
    """Return the mixes of a side at a grid point that have a result, strongest first."""
    mixes = summary.mixes
    table = mixes[(mixes["side"] == side) & (mixes["grid_point"] == point) & mixes["win_share_mean"].notna()]
    return table.sort_values("win_share_mean", ascending=False, kind="stable")


def _swing(summary: Summary, points: Sequence[int]) -> list[dict[str, Any]]:
    charts = []
    for side in SIDES:
        figures, number = [], 0
        for point in points:
            table = _side_at(summary, side, point).sort_values("swing_mean", ascending=False, kind="stable")
            number = max(number, len(table))
            figures.append(swing_chart(table.take(spaced(len(table), _MOST_DOTS)), side))
        note = f"{_MOST_DOTS} of {count_text(number)} mixes, evenly spaced by rank." if number > _MOST_DOTS else ""
        charts.append(
            {
                "side": side,
                "figures": figures,
                "note": note,
                "alt": (
                    f"Mean swing of each {side} mix with the spread of single battles, from best to worst. "
                    "The table of mixes holds the figures."
                ),
            }
        )
    return charts


# ----------------------------------------------------------------------------------------------- tables


def _mix_rows(summary: Summary, points: Sequence[int]) -> dict[str, Any]:
    quota = max(_MOST_MIX_ROWS // (2 * len(points)), 2)
    rows, is_cut = [], False
    for point in points:
        for side in SIDES:
            table = _side_at(summary, side, point)
            if len(table) > quota:
                is_cut = True
                half = quota // 2
                table = pd.concat([table.head(half), table.tail(half)])
            rows += [_mix_row(summary, row) for row in table.to_dict(orient="records")]
    total = int(summary.mixes["win_share_mean"].notna().sum())
    note = (
        f"{count_text(len(rows))} of {count_text(total)} rows: the strongest and the weakest "
        f"{quota // 2} of each side{' and grid point' if len(points) > 1 else ''}."
        if is_cut
        else ""
    )
    return {"rows": rows, "note": note, "total": total}


def _mix_row(summary: Summary, row: Mapping[Any, Any]) -> dict[str, Any]:
    low, high = row["lo_cost_efficiency"], row["hi_cost_efficiency"]
    efficiency = figure_cell(
        row["cost_efficiency"],
        figure_text(row["cost_efficiency"]),
        "" if low == high or np.isnan(low) else f"{figure_text(low)} to {figure_text(high)}",
    )
    if row["cost_lost_mean"] == 0.0:
        efficiency = {"sort": "1e300" if row["enemy_cost_lost_mean"] else None, "text": "–", "note": "lost nothing"}
    name, units = clean(str(row["mix"])), clean(str(row["units"]))
    cells = {
        name: share_cell(row[share], row[f"lo_{share}"], row[f"hi_{share}"])
        for name, share in (
            ("mean", "win_share_mean"),
            ("worst", "win_share_worst"),
            ("best", "win_share_best"),
            ("equal", "win_share_equal_cost"),
        )
    }
    return {
        **cells,
        "rank": "" if np.isnan(row["equal_cost_rank"]) else f"rank {int(row['equal_cost_rank'])}",
        "point": int(row["grid_point"]),
        "point_label": summary.grid_labels[int(row["grid_point"])],
        "side": row["side"],
        "name": name,
        "units": "" if units == name else units,
        "worst_opponent": clean(str(row["worst_opponent"])),
        "best_opponent": clean(str(row["best_opponent"])),
        "cost": figure_cell(row["cost"], _whole(row["cost"])),
        "swing": figure_cell(
            row["swing_mean"], figure_text(row["swing_mean"], signed=True), f"± {figure_text(row['swing_sd'])}"
        ),
        "lost": figure_cell(row["cost_lost_mean"], figure_text(row["cost_lost_mean"])),
        "destroyed": figure_cell(row["enemy_cost_lost_mean"], figure_text(row["enemy_cost_lost_mean"])),
        "efficiency": efficiency,
        "opponents": plural(int(row["n_opponents"]), "opponent", "opponents")
        + (f", {count_text(int(row['n_failed']))} failed" if row["n_failed"] else ""),
    }


def _whole(value: float) -> str:
    return "–" if np.isnan(value) else f"{value:,.0f}"


def _picked(table: pd.DataFrame, quota: int) -> IntArray:
    """Return the positions of the matchups worth a row: closest, largest swing, surest winner."""
    if len(table) <= quota:
        return np.arange(len(table), dtype=np.intp)
    lead = np.abs(table["lead"].to_numpy(dtype=np.float64))
    swing = np.abs(table["swing_mean"].to_numpy(dtype=np.float64))
    third = max(quota // 3, 1)
    decided = table["attacker_win_share"].to_numpy() + table["defender_win_share"].to_numpy()
    close = np.where(decided > 0.0, lead, np.inf)
    orders = [np.argsort(values, kind="stable")[:third] for values in (close, -swing, -lead)]
    return np.unique(np.concatenate(orders))


def _matchup_rows(summary: Summary, points: Sequence[int]) -> dict[str, Any]:
    quota = max(_MOST_MATCHUP_ROWS // len(points), 3)
    at = summary.grid_points[summary.matchups.index.get_indexer(summary.counted.index)]
    extra = _extra_column(summary)
    rows = []
    for point in points:
        table = summary.counted if (at == point).all() else summary.counted[at == point]
        table = table.take(_picked(table, quota))
        order = np.argsort(-np.abs(table["swing_mean"].to_numpy(dtype=np.float64)), kind="stable")
        rows += [_matchup_row(summary, point, row, extra) for row in table.take(order).to_dict(orient="records")]
    total = len(summary.counted)
    note = (
        f"{count_text(len(rows))} of {count_text(total)} matchups: the closest, those with the largest swing and "
        f"the most one-sided ones{' of each grid point' if len(points) > 1 else ''}. "
        "All of them are in matchups.parquet."
        if len(rows) < total
        else ""
    )
    return {
        "rows": rows,
        "note": note,
        "total": total,
        "extra": extra[1],
        "has_risk": bool(summary.counted.get("swing_negative", pd.Series(dtype=np.float64)).notna().any()),
        "rounds": summary.run.rounds.capitalize(),
    }


def _extra_column(summary: Summary) -> tuple[str, str, str]:
    """Return name, title and kind of the column that only some battles have, as their ruleset says it."""
    table = summary.counted
    try:
        record = get_ruleset(str(summary.run.manifest["ruleset"]))
    except UnknownRulesetError:  # of a run that another installation made
        return "", "", ""
    for each in (*record.kinds.values(), record):
        for column, (title, kind) in each.titles.items():
            # A column of zeros would say no more than its absence: at sea nothing is ever captured.
            if column in table and (table[column] != 0).any():
                return column, title, kind
    return "", "", ""


def _matchup_row(summary: Summary, point: int, row: Mapping[Any, Any], extra: tuple[str, str, str]) -> dict[str, Any]:
    is_exact = row["method"] == EXACT
    wins = [float(row[f"{side}_win_share"]) for side in SIDES]
    other = max(1.0 - sum(wins), 0.0)
    # Counting the rest as a difference leaves crumbs of 1e-17 that are not rare battles.
    other = 0.0 if other < 1e-12 else other  # noqa: PLR2004 - rounding noise
    texts = percent_texts([wins[0], other, wins[1]])
    cells = {}
    for side, text in zip(SIDES, (texts[0], texts[2]), strict=True):
        share = f"{side}_win_share"
        cells[side] = share_cell(row[share], row[f"lo_{share}"], row[f"hi_{share}"])
        cells[side]["text"] = text
    length = row[f"{summary.run.rounds}_mean"]
    units = [str(row[f"{side}_units"]) for side in SIDES]
    bounds = f"{points_text(row['lo_lead'])} to {points_text(row['hi_lead'])}"
    arguments = " ".join(command.quoted(text) for text in units)
    return {
        "point": point,
        "point_label": summary.grid_labels[point],
        "names": [clean(str(row[side])) for side in SIDES],
        "costs": [_whole(row[f"{side}_cost"]) for side in SIDES],
        "wins": cells,
        "other": figure_cell(other, texts[1]),
        "other_width": round(100.0 * other, 2),
        "lead": figure_cell(row["lead"], points_text(row["lead"]), "" if is_exact else bounds),
        "favourite": {"none": "none clear"}.get(row["favourite"], row["favourite"]),
        "swing": figure_cell(
            row["swing_mean"],
            figure_text(row["swing_mean"], signed=True),
            swing_range(row) or f"± {figure_text(row['swing_sd'])}",
        ),
        "strip": swing_strip(row),
        "risk": _risk_figure(row),
        "length": figure_cell(length, figure_text(length)),
        "extra": _extra_figure(row, extra[0], extra[2]),
        "command": f"simcore odds {arguments} {command.options(summary.run, row)}",
    }


def _risk_figure(row: Mapping[Any, Any]) -> dict[str, Any]:
    """Return the chance that the attacker loses more than he destroys."""
    risk = row.get("swing_negative", np.nan)
    if np.isnan(risk):
        return figure_cell(np.nan, "–", "not counted")
    bounds = "" if row["method"] == EXACT else interval_text(row["lo_swing_negative"], row["hi_swing_negative"])
    return figure_cell(risk, percent_text(risk), bounds)


def _extra_figure(row: Mapping[Any, Any], column: str, kind: str) -> dict[str, Any]:
    if not column:
        return figure_cell(0.0, "")
    value, stem = row[column], column.removesuffix("_mean")
    if kind == "share":
        return figure_cell(value, percent_text(value))
    if kind == "difference":
        return figure_cell(value, points_text(value), f"± {points_text(row[f'{stem}_se']).lstrip('+')}")
    return figure_cell(value, figure_text(value), f"± {figure_text(row[f'{stem}_sd'])}")


# -------------------------------------------------------------------------------------- survivors, failures


def _survivor_cards(summary: Summary) -> list[dict[str, Any]]:
    """Return who is left of both sides in the closest matchups."""
    # The same pairing at another point of the grid would tell the same story again.
    closest = summary.closest.drop_duplicates(list(SIDES)).head(_SURVIVOR_CARDS)
    survivors = summary.run.survivors_of(closest["matchup"].tolist())
    survivors = survivors[survivors["outcome"] == "all"]
    cards = []
    for place, row in zip(closest.index, closest.to_dict(orient="records"), strict=True):
        here = survivors[survivors["matchup"] == row["matchup"]]
        point = int(summary.grid_points[summary.matchups.index.get_loc(place)])
        outcomes = summary.run.outcomes
        texts = percent_texts([float(row[f"p_{outcome}"]) for outcome in outcomes])
        cards.append(
            {
                "point_label": summary.grid_labels[point],
                "strip": swing_strip(row),
                "range": swing_range(row),
                "loss": percent_text(row["swing_negative"]) if "swing_negative" in row else "",
                "outcomes": [
                    {
                        "name": outcome,
                        "label": outcome.replace("_", " "),
                        "text": text,
                        "width": round(100.0 * float(row[f"p_{outcome}"]), 2),
                    }
                    for outcome, text in zip(outcomes, texts, strict=True)
                    if row[f"p_{outcome}"] > 0.0
                ],
                "sides": [
                    {
                        "side": side,
                        "name": clean(str(row[side])),
                        "units": [_survivor(unit) for unit in _of_side(here, side)],
                    }
                    for side in SIDES
                ],
            }
        )
    return cards


def _of_side(survivors: pd.DataFrame, side: str) -> list[dict[Any, Any]]:
    return survivors[survivors["side"] == side].to_dict(orient="records")


def _survivor(row: Mapping[Any, Any]) -> dict[str, Any]:
    start, mean = int(row["start"]), float(row["mean"])
    return {
        "unit": clean(str(row["unit"])).replace("_", " "),
        "start": count_text(start),
        "mean": "<0.01" if 0.0 < mean < 0.005 else figure_text(mean),  # noqa: PLR2004 - two decimals
        "width": round(100.0 * min(mean / start, 1.0), 2) if start else 0.0,
    }


def _failures(summary: Summary) -> dict[str, Any]:
    failed = summary.failed
    labels = summary.grid_labels
    at = summary.grid_points[summary.matchups.index.get_indexer(failed.index)]
    rows = [
        {
            "names": [clean(str(row[side])) for side in SIDES],
            "point_label": labels[int(point)],
            "error": clean(str(row["error"] or "no reason given")),
        }
        for point, row in zip(at[:_MOST_FAILURES], failed.head(_MOST_FAILURES).to_dict(orient="records"), strict=True)
    ]
    note = f"The first {len(rows)} of {count_text(len(failed))}." if len(rows) < len(failed) else ""
    return {"rows": rows, "note": note}


# --------------------------------------------------------------------------------------------- settings


def _battles_each(summary: Summary) -> str:
    each = summary.run.battles_each
    return f"{each} of each that was simulated" if summary.run.method == MIXED else each


def _settings(summary: Summary) -> dict[str, Any]:
    run = summary.run
    manifest = run.manifest
    rows = [
        ("Name", run.name),
        ("Ruleset", f"{manifest['ruleset']}, version {manifest.get('ruleset_version', '?')}"),
        ("Edition", manifest.get("edition", "?")),
        ("Method", run.mixture if run.method == MIXED else run.method),
        ("Battles per matchup", "none" if run.method == EXACT else _battles_each(summary)),
        *([("Precision", f"every share within {100 * run.precision:g} points")] if run.precision is not None else []),
        ("Seed", manifest.get("seed", "?")),
        ("Pairing", run.pairing),
    ]
    rows += [
        (f"Grid: {key}", ", ".join(json.dumps(value, ensure_ascii=False) for value in values))
        for key, values in (manifest.get("grid") or {}).items()
    ]
    for word in ("created", "finished"):
        if manifest.get(word):
            rows.append((word.capitalize(), str(manifest[word]).replace("T", " ")))
    elapsed = manifest.get("elapsed_s")
    if isinstance(elapsed, int | float) and np.isfinite(elapsed):
        rows.append(("Time taken", duration_text(float(elapsed))))
    versions = manifest.get("versions")
    if isinstance(versions, dict):
        rows.append(("Versions", ", ".join(f"{name} {version}" for name, version in versions.items())))
    if manifest.get("source_digest"):
        rows.append(("Source digest", manifest["source_digest"]))
    sweep = json.dumps(manifest.get("sweep", {}), indent=2, ensure_ascii=False)
    if len(sweep) > _MOST_SWEEP_LETTERS:
        sweep = sweep[:_MOST_SWEEP_LETTERS] + "\n… (cut; the whole of it is in manifest.json)"
    return {
        "rows": [(clean(str(label)), clean(str(value))) for label, value in rows],
        "sweep": "\n".join(clean(line) for line in sweep.split("\n")),
        "has_own_editions": command.OWN_EDITIONS in command.options(run, _point_row(summary, 0))
        if len(summary.matchups)
        else False,
    }
