"""Figures of the report as plain plotly structures.

Colours are left out on purpose: the page's script fills them in from its style sheet, for light, dark and
print. Names are escaped here because plotly reads a little HTML in all its texts.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from analysis.wording import clean, figure_text, short_label, short_labels

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt
    import pandas as pd

__all__ = ["heat_map", "isolated", "swing_chart", "weight_chart"]

_LONG_LABEL: Final = 30
_SHORT_LABEL: Final = 19
_HOVER_LABEL: Final = 70
_MOST_WRITTEN: Final = 16
"""Columns up to which the share is written into every cell."""
_CELL: Final = 26
_SMALL_CELL: Final = 15
_CERTAIN: Final = 100
_COMFORTABLE: Final = 24
"""Rows up to which cells have their full height."""


def isolated(text: str) -> str:
    """Return a name for plotly: markup escaped, its direction kept from the text around it.

    Examples
    --------
    >>> isolated("<b>") == "\u2068&lt;b&gt;\u2069"
    True
    """
    return f"\u2068{escape(clean(text), quote=False)}\u2069"


def _categories(names: Sequence[str]) -> list[str]:
    """Return full names for hovering; cut ones are numbered where they would be the same."""
    labels = [isolated(short_label(name, _HOVER_LABEL)) for name in names]
    seen: dict[str, int] = {}
    for place, label in enumerate(labels):
        seen[label] = seen.get(label, 0) + 1
        if seen[label] > 1:
            labels[place] = f"{label} ({seen[label]})"
    return labels


def _short_percent(share: float) -> str:
    """Return whole percents for a cell, without making a rare event impossible or sure."""
    whole = round(100 * share)
    if whole == 0:
        return "&lt;1" if share > 0.0 else "0"
    if whole == _CERTAIN:
        return "&gt;99" if share < 1.0 else "100"
    return str(whole)


def _labels(names: Sequence[str]) -> dict[str, list[str]]:
    """Return axis labels for wide and narrow windows."""
    return {
        size: [isolated(label) for label in short_labels(names, width)]
        for size, width in (("wide", _LONG_LABEL), ("narrow", _SHORT_LABEL))
    }


def heat_map(
    attackers: Sequence[str],
    defenders: Sequence[str],
    shares: npt.NDArray[np.float64],
    texts: npt.NDArray[np.object_],
) -> dict[str, Any]:
    """Build the matrix of win shares: attackers down, defenders across.

    Parameters
    ----------
    attackers, defenders : sequence of str
        Names, in the order to show: the first row on top.
    shares : ndarray of float64, shape (attackers, defenders)
        The attackers' win share; NaN where there is no result.
    texts : ndarray of str, shape (attackers, defenders, 3)
        Attackers' wins, defenders' wins and swing as text, for hovering.

    Returns
    -------
    dict
        ``data`` and ``layout`` of plotly; ``layout.meta`` holds the axis labels for wide and narrow windows
        and the height of the plotted area.
    """
    rows, columns = _categories(attackers), _categories(defenders)
    values: list[list[float | None]] = [
        [None if np.isnan(share) else round(share, 5) for share in row] for row in shares.tolist()
    ]
    trace: dict[str, Any] = {
        "type": "heatmap",
        "x": columns,
        "y": rows,
        "z": values,
        "zmin": 0.0,
        "zmax": 1.0,
        "xgap": 1,
        "ygap": 1,
        "customdata": texts.tolist(),
        "hoverongaps": False,
        "showscale": False,
        "hovertemplate": (
            "<b>%{y}</b><br>attacking <b>%{x}</b><br><br>attacker wins %{customdata[0]}<br>"
            "defender wins %{customdata[1]}<br>swing %{customdata[2]}<extra></extra>"
        ),
    }
    if len(columns) <= _MOST_WRITTEN:
        trace |= {
            "text": [["" if value is None else _short_percent(value) for value in row] for row in values],
            "texttemplate": "%{text}",
            "textfont": {"size": 12},
        }
    is_roomy = len(rows) <= _COMFORTABLE
    axis = {
        "type": "category", "ticks": "", "tickfont": {"size": 12 if is_roomy else 10}, "automargin": True,
        "fixedrange": True, "showgrid": False,
    }  # fmt: skip
    layout = {
        "xaxis": {**axis, "side": "top", "tickangle": -40, "tickvals": columns},
        "yaxis": {**axis, "autorange": "reversed", "tickvals": rows},
        "margin": {"l": 8, "r": 40, "t": 8, "b": 8},
        "meta": {
            "x": _labels(defenders),
            "y": _labels(attackers),
            "plotHeight": (_CELL if is_roomy else _SMALL_CELL) * len(rows),
            "cells": len(columns),
        },
    }
    return {"data": [trace], "layout": layout}


def swing_chart(table: pd.DataFrame, side: str) -> dict[str, Any]:
    """Build a dot per mix at its mean swing, with the spread of single battles as a line.

    Parameters
    ----------
    table : DataFrame
        Rows of one side and one grid point of the summary's mixes, in the order to show.
    side : str
        "attacker" or "defender": decides the colour.

    Returns
    -------
    dict
        ``data`` and ``layout`` of plotly.
    """
    names = [str(name) for name in table["mix"]]
    categories = _categories(names)
    columns = ("swing_mean", "swing_sd", "swing_se")
    means, sds, errors = (table[column].to_numpy(dtype=np.float64).tolist() for column in columns)
    texts = [
        [figure_text(mean, signed=True), figure_text(error), figure_text(sd)]
        for mean, sd, error in zip(means, sds, errors, strict=True)
    ]
    trace = {
        "type": "scatter",
        "x": means,
        "y": categories,
        "mode": "markers",
        "error_x": {"type": "data", "array": sds, "thickness": 1.5, "width": 0},
        "marker": {"size": 10},
        "customdata": texts,
        "meta": side,
        "hovertemplate": (
            "<b>%{y}</b><br>mean swing %{customdata[0]} (standard error %{customdata[1]})<br>"
            "spread of single battles ± %{customdata[2]}<extra></extra>"
        ),
    }
    layout = {
        "xaxis": {
            "zeroline": True, "fixedrange": True, "title": {"text": "swing", "standoff": 8}, "automargin": True,
        },
        "yaxis": {
            "type": "category", "range": [len(names) - 0.4, -0.6], "tickvals": categories, "ticks": "",
            "automargin": True, "fixedrange": True, "showgrid": False, "tickfont": {"size": 12},
        },
        "margin": {"l": 8, "r": 16, "t": 8, "b": 36},
        "showlegend": False,
        "meta": {"y": _labels(names), "plotHeight": 24 * len(names) + 16, "cells": 0},
    }  # fmt: skip
    return {"data": [trace], "layout": layout}


def weight_chart(table: pd.DataFrame, side: str) -> dict[str, Any]:
    """Build a bar per mix for its weight in best play, and a diamond for the most even strategy that is as good.

    Parameters
    ----------
    table : DataFrame
        Rows of one side of a game's mixes, in the order to show.
    side : str
        "attacker" or "defender": decides the colour.

    Returns
    -------
    dict
        ``data`` and ``layout`` of plotly.
    """
    names = [str(name) for name in table["mix"]]
    categories = _categories(names)
    weights, low, high, even = (
        np.nan_to_num(table[column].to_numpy(dtype=np.float64))
        for column in ("equilibrium", "lo_equilibrium", "hi_equilibrium", "averaged")
    )
    above = np.where(high > 0.0, np.maximum(high - weights, 0.0), 0.0)
    below = np.where(high > 0.0, np.maximum(weights - low, 0.0), 0.0)
    bars = {
        "type": "bar",
        "orientation": "h",
        "x": weights.tolist(),
        "y": categories,
        "width": 0.6,
        "marker": {},
        "opacity": 0.85,
        "error_x": {
            "type": "data", "array": above.tolist(), "arrayminus": below.tolist(), "symmetric": False, "thickness": 1.5,
            "width": 3, "visible": bool((above + below).any()),
        },
        "meta": {"bar": side, "error": "ink"},
        "hovertemplate": "<b>%{y}</b><br>best play picks it in %{x:.1%}<extra></extra>",
    }  # fmt: skip
    diamonds = {
        "type": "scatter",
        "mode": "markers",
        "x": even.tolist(),
        "y": categories,
        "marker": {"size": 9, "symbol": "diamond-open", "line": {"width": 2}},
        "error_x": {"visible": False},
        "meta": {"bar": "ink", "error": "ink"},
        "hovertemplate": "<b>%{y}</b><br>as good and most even: %{x:.1%}<extra></extra>",
    }
    layout = {
        "xaxis": {
            "range": [-0.02, 1.04], "tickformat": ".0%", "fixedrange": True, "zeroline": True, "automargin": True,
            "title": {"text": "how often it is picked", "standoff": 8},
        },
        "yaxis": {
            "type": "category", "range": [len(names) - 0.4, -0.6], "tickvals": categories, "ticks": "",
            "automargin": True, "fixedrange": True, "showgrid": False, "tickfont": {"size": 12},
        },
        "margin": {"l": 8, "r": 16, "t": 8, "b": 36},
        "showlegend": False,
        "meta": {"y": _labels(names), "plotHeight": 28 * max(len(names), 1) + 16, "cells": 0},
    }  # fmt: skip
    return {"data": [bars, diamonds], "layout": layout}
