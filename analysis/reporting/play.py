"""The report's section on the game between the mixes: best play, dominated mixes, ratings, life without a unit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from analysis.contest import game, payoff_difference
from analysis.estimators import percent_text
from analysis.frames import SIDES
from analysis.pricing import PRICE_FIGURES, stored_prices
from analysis.reporting.cell import figure_cell
from analysis.reporting.figure import weight_chart
from analysis.wording import clean, count_text, figure_text, interval_text
from simcore.errors import ScenarioError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from analysis.balance import Summary
    from analysis.contest import Game

__all__ = ["play_content", "price_content"]

_PAYOFF: Final = "win_share"
_SAMPLE_CELLS: Final = 200_000
"""Cells of all games of the page together that are solved for the spread."""
_LEAST_SAMPLES: Final = 20
_MOST_SAMPLES: Final = 100
_MOST_BARS: Final = 14
_LEAST_BAR: Final = 0.01
_MOST_ROWS: Final = 600
_FAIR: Final = 0.1
"""Prices within a tenth of the cost are called fair."""


def play_content(summary: Summary, points: Sequence[int]) -> dict[str, Any] | None:
    """Return what the section shows; None where no game can be made of the run.

    Parameters
    ----------
    summary : Summary
        The run.
    points : sequence of int
        Grid points that can be chosen on the page.

    Returns
    -------
    dict or None
    """
    try:
        games = [_game(summary, point, len(points)) for point in points]
    except ScenarioError:
        return None
    if all(min(played.matrix.shape) == 1 for played in games):
        return None
    quota = max(_MOST_ROWS // (2 * len(points)), 4)
    rows = [row for played in games for side in SIDES for row in _rows(played, side, quota)]
    total = sum(len(played.mixes) for played in games)
    notes = list(dict.fromkeys(note for played in games for note in played.notes))
    if len(rows) < total:
        notes.append(
            f"The table has {count_text(len(rows))} of {count_text(total)} mixes: those that best play uses and those "
            "with the highest and the lowest ratings."
        )
    return {
        "charts": [
            {
                "side": side,
                "figures": [weight_chart(_bars(played, side), side) for played in games],
                "alt": (
                    f"Bars: how often best play picks each {side} mix; diamonds: the same for the most even strategy "
                    "that is as good. The table of ratings holds the figures."
                ),
            }
            for side in SIDES
        ],
        "values": [_value(played) for played in games],
        "rows": rows,
        "restricted": [row for played in games for row in _restricted(played)],
        "residuals": [row for played in games for row in _residuals(played)],
        "notes": notes,
    }


def _game(summary: Summary, point: int, number: int) -> Game:
    """Solve one grid point; the spread of all of them together is bounded."""
    if number == 1 and summary.game is not None:
        return summary.game
    cells = max(len(summary.matchups) // max(len(summary.grid_labels), 1), 1)
    samples = min(_SAMPLE_CELLS // (cells * number), _MOST_SAMPLES)
    return game(summary, payoff=_PAYOFF, point=point, samples=samples if samples >= _LEAST_SAMPLES else 0)


def _bars(played: Game, side: str) -> pd.DataFrame:
    table = played.mixes[played.mixes["side"] == side]
    table = table[(table["equilibrium"] > 0.0) | (table["averaged"] >= _LEAST_BAR)]
    return table.sort_values(["equilibrium", "averaged"], ascending=False, kind="stable").head(_MOST_BARS)


def _share(value: float, low: float, high: float) -> str:
    return (
        percent_text(value) if low == high or np.isnan(low) else f"{percent_text(value)} ({interval_text(low, high)})"
    )


def _value(played: Game) -> dict[str, Any]:
    order = played.cycles if not np.isnan(played.cycles) else played.reversals
    return {
        "point": played.point,
        "point_label": played.label,
        "value": _share(played.value, played.lo_value, played.hi_value),
        "losses": {side: payoff_difference(loss, _PAYOFF) for side, loss in played.field.items()},
        "explained": percent_text(played.explained),
        "reversed": percent_text(played.reversals),
        "circles": percent_text(played.cycles),
        "is_circular": not np.isnan(order) and order > 0.0,
    }


def _rows(played: Game, side: str, quota: int) -> list[dict[str, Any]]:
    table = played.mixes[played.mixes["side"] == side]
    table = table.sort_values("strength", ascending=False, kind="stable").reset_index(drop=True)
    table["rank"] = np.arange(1, len(table) + 1)
    if len(table) > quota:
        is_kept = (table["equilibrium"] > 0.0).to_numpy(copy=True)
        is_kept[: quota // 2] = is_kept[-(quota // 2) :] = True
        table = table[is_kept]
    return [_row(played, row) for row in table.to_dict(orient="records")]


def _row(played: Game, row: Mapping[Any, Any]) -> dict[str, Any]:
    name, units = clean(str(row["mix"])), clean(str(row["units"]))
    is_beaten = row["dominated_margin"] > 0.0
    weight = figure_cell(
        row["equilibrium"],
        percent_text(row["equilibrium"]),
        ""
        if not row["equilibrium"] > 0.0 or row["lo_equilibrium"] == row["hi_equilibrium"]
        else interval_text(row["lo_equilibrium"], min(row["hi_equilibrium"], 1.0)),
    )
    error = row["strength_se"]
    return {
        "point": played.point,
        "point_label": played.label,
        "side": row["side"],
        "name": name,
        "units": "" if units == name else units,
        "rank": int(row["rank"]),
        "status": "played" if row["equilibrium"] > 0.0 else "dominated" if is_beaten else "neither",
        "weight": weight,
        "averaged": figure_cell(row["averaged"], percent_text(row["averaged"])),
        "regret": figure_cell(row["regret"], _points(row["regret"])),
        "exploitability": figure_cell(row["exploitability"], _points(row["exploitability"])),
        "strength": figure_cell(
            row["strength"], f"{row['strength']:+.0f}".replace("-", "−"), f"± {error:.1f}" if error else ""
        ),
        "dominated": figure_cell(
            row["dominated_margin"] if is_beaten else float("nan"),
            _points(row["dominated_margin"]) if is_beaten else "–",
        ),
        "dominated_by": clean(str(row["dominated_by"])) if is_beaten else "",
    }


def _points(value: float) -> str:
    return "–" if np.isnan(value) else f"{100.0 * value:.1f}"


def _restricted(played: Game) -> list[dict[str, Any]]:
    rows = []
    for row in played.restricted.to_dict(orient="records"):
        cells = {}
        for column in (*SIDES, "both"):
            change = row[column] - played.value
            note = "" if np.isnan(change) else "no change" if abs(change) < 5e-4 else f"{100.0 * change:+.1f} points"  # noqa: PLR2004 - shown as 0.0
            cells[column] = figure_cell(row[column], percent_text(row[column]), note.replace("-", "−"))
        rows.append(
            {
                "point": played.point,
                "point_label": played.label,
                "unit": clean(str(row["unit"])).replace("_", " "),
                **cells,
            }
        )
    return rows


def _residuals(played: Game) -> list[dict[str, Any]]:
    return [
        {
            "point": played.point,
            "point_label": played.label,
            "names": [clean(str(row[side])) for side in SIDES],
            "share": percent_text(row["share"]),
            "fitted": percent_text(row["fitted"]),
            "residual": figure_cell(row["residual"], f"{100.0 * row['residual']:+.1f}".replace("-", "−")),
        }
        for row in played.residuals.head(5).to_dict(orient="records")
        if not np.isnan(row["residual"])
    ]


def price_content(summary: Summary) -> dict[str, Any] | None:
    """Return the table of fair prices that stands beside the run; None without one.

    Parameters
    ----------
    summary : Summary
        The run.

    Returns
    -------
    dict or None
    """
    found = stored_prices(summary.run)
    if found is None:
        return None
    rows = []
    for row in found["units"]:
        figures = {name: float("nan") if row.get(name) is None else float(row[name]) for name in PRICE_FIGURES}
        bounds = "" if np.isnan(figures["low"]) else f"{figure_text(figures['low'])} to {figure_text(figures['high'])}"
        rows.append(
            {
                "unit": clean(str(row.get("unit"))).replace("_", " "),
                "remark": clean(str(row.get("remark") or "")),
                "cost": figure_cell(figures["cost"], f"{figures['cost']:,.0f}"),
                "price": figure_cell(figures["price"], figure_text(figures["price"]), bounds),
                "ratio": figure_cell(figures["ratio"], figure_text(figures["ratio"]), _verdict(figures["ratio"])),
                **{side: figure_cell(figures[side], figure_text(figures[side])) for side in SIDES},
            }
        )
    sizes = ", ".join(str(size) for size in found["sizes"])
    enemies = " and ".join(str(enemy).replace("_", " ") for enemy in found["enemies"])
    return {"rows": rows, "against": clean(f"{sizes} {enemies}")}


def _verdict(ratio: float) -> str:
    """Say in a word what the ratio of fair price and cost means."""
    if np.isnan(ratio):
        return ""
    return "worth more" if ratio > 1.0 + _FAIR else "costs too much" if ratio < 1.0 - _FAIR else "about fair"
