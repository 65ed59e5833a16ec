"""Cells of the report's tables, and which rows a bounded table shows."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from analysis.estimators import percent_text
from analysis.wording import interval_text

__all__ = ["figure_cell", "share_cell", "spaced"]


def figure_cell(value: float, text: str, note: str = "") -> dict[str, Any]:
    """Return a cell: a value to sort by (None sorts last), its text and a smaller second line.

    Examples
    --------
    >>> figure_cell(1.5, "1.50")
    {'sort': '1.5', 'text': '1.50', 'note': ''}
    """
    return {"sort": None if np.isnan(value) else f"{value:.6g}", "text": text, "note": note}


def share_cell(share: float, low: float, high: float) -> dict[str, Any]:
    """Return the cell of a share, with its interval as the second line and the width of a bar."""
    cell = figure_cell(share, percent_text(share), "" if low == high or np.isnan(share) else interval_text(low, high))
    cell["width"] = 0.0 if np.isnan(share) else round(100.0 * float(share), 2)
    return cell


def spaced(number: int, most: int) -> npt.NDArray[np.intp]:
    """Return at most `most` of the positions 0 to number - 1, evenly spaced, with both ends.

    Examples
    --------
    >>> spaced(5, 3).tolist()
    [0, 2, 4]
    """
    if number <= most:
        return np.arange(number, dtype=np.intp)
    return np.unique(np.rint(np.linspace(0, number - 1, most)).astype(np.intp))
