"""The swing of a matchup drawn small: where nine of ten battles end, where half of them do, and the middle one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.wording import figure_text

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["swing_range", "swing_strip"]

_LEVELS = ("swing_q05", "swing_q25", "swing_q50", "swing_q75", "swing_q95")


def _quantiles(row: Mapping[Any, Any]) -> list[float] | None:
    """Return the five quantiles of a row of the matchup table, None where they were not counted."""
    values = [float(row.get(name, np.nan)) for name in _LEVELS]
    return None if np.isnan(values).any() else values


def _swing_text(value: float) -> str:
    """Return a swing with its sign; whole ones, as most are, without decimals."""
    if not value.is_integer():
        return figure_text(value, signed=True)
    return "0" if value == 0 else f"{value:+,.0f}".replace("-", "−")


def swing_range(row: Mapping[Any, Any]) -> str:
    """Return between which swings nine of ten battles end, "" where that was not counted.

    Examples
    --------
    >>> swing_range(dict.fromkeys(_LEVELS, 3.0) | {"swing_q05": -21.0})
    '−21 to +3 in 9 of 10'
    """
    values = _quantiles(row)
    if values is None:
        return ""
    return f"{_swing_text(values[0])} to {_swing_text(values[-1])} in 9 of 10"


def swing_strip(row: Mapping[Any, Any]) -> dict[str, Any] | None:
    """Return a strip from the attacker losing all to the defender losing all, in percent of its length.

    Parameters
    ----------
    row : Mapping
        A row of the matchup table.

    Returns
    -------
    dict or None
        `low` and `range` (first place and length of nine tenths of the battles), `box_low` and `box` (of half of
        them), `middle`, `zero`, and `label`, which says the same in words. None where swings were not counted or
        nothing costs anything.

    Examples
    --------
    >>> quantiles = {"swing_q05": -10, "swing_q25": -5, "swing_q50": 0, "swing_q75": 5, "swing_q95": 10}
    >>> strip = swing_strip(quantiles | {"attacker_cost": 10, "defender_cost": 30})
    >>> strip["zero"], strip["low"], strip["range"], strip["box_low"], strip["box"]
    (25.0, 0.0, 50.0, 12.5, 25.0)
    """
    values = _quantiles(row)
    own, enemy = float(row["attacker_cost"]), float(row["defender_cost"])
    if values is None or not own + enemy > 0.0:
        return None

    def place(value: float) -> float:
        return round(100.0 * min(max((value + own) / (own + enemy), 0.0), 1.0), 2)

    low, box_low, middle, box_high, high = (place(value) for value in values)
    words = [_swing_text(value) for value in values]
    return {
        "low": low,
        "range": round(high - low, 2),
        "box_low": box_low,
        "box": round(box_high - box_low, 2),
        "middle": middle,
        "zero": place(0.0),
        "label": f"swing {words[0]} to {words[4]} in 9 of 10 battles, {words[1]} to {words[3]} in half of them, "
        f"{words[2]} in the middle",
    }
