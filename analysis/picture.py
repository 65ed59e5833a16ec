"""Small pictures for notebooks: plain SVG, so that they show wherever a notebook is shown, without scripts.

Colours are those of the report: blue for the attackers, orange for the defenders, which colour-blind people tell apart.
Text takes the colour of the page.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from analysis.wording import short_label

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

__all__ = ["ATTACKER", "DEFENDER", "NEUTRAL", "heat_map", "intervals"]

ATTACKER: Final = "#1f6fb2"
DEFENDER: Final = "#b9570a"
NEUTRAL: Final = "#8a93a0"

_CELL: Final = 34
_LABEL: Final = 200
_LINE: Final = 22
_WIDTH: Final = 320
_DARK: Final = 0.3
_LETTERS: Final = 26
_RAMP: Final = np.array(
    [[140, 61, 4], [224, 138, 60], [244, 241, 234], [107, 166, 214], [11, 74, 130]], dtype=np.float64
)


def heat_map(rows: Sequence[str], columns: Sequence[str], shares: npt.NDArray[np.float64], title: str) -> str:
    """Return a matrix of shares as SVG.

    Parameters
    ----------
    rows, columns : sequence of str
        Names.
    shares : float64 (rows, columns)
        NaN where nothing is known.
    title : str
        What it shows, for those who cannot see it.

    Returns
    -------
    str
    """
    head = _LABEL // 2 + 10
    width, height = _LABEL + _CELL * len(columns) + head, head + _CELL * len(rows)
    parts = [_text(x, head - 8, name, turn=True) for x, name in zip(_middles(len(columns)), columns, strict=True)]
    for i, name in enumerate(rows):
        y = head + _CELL * i
        parts.append(_text(_LABEL - 8, y + _CELL / 2 + 4, name, anchor="end"))
        for j, share in enumerate(shares[i]):
            x = _LABEL + _CELL * j
            if np.isnan(share):
                continue
            ink = "#fff" if abs(share - 0.5) > _DARK else "#1d2430"
            parts.append(_mark("rect", x=x, y=y, width=_CELL - 1, height=_CELL - 1, fill=_colour(float(share))))
            middle = f'x="{x + _CELL / 2}" y="{y + _CELL / 2 + 4}" text-anchor="middle"'
            parts.append(f'<text {middle} fill="{ink}">{share:.0%}</text>')
    return _svg(width, height, parts, title)


def intervals(rows: Sequence[dict[str, Any]], title: str) -> str:
    """Return differences with their intervals as SVG, all on one scale.

    Parameters
    ----------
    rows : sequence of dict
        Each with ``name``, ``value``, ``low``, ``high``, ``practical`` and ``colour``.
    title : str
        What it shows.

    Returns
    -------
    str
    """
    bounds = np.array([[row["low"], row["high"], row["practical"]] for row in rows], dtype=np.float64)
    reach = float(np.nanmax(np.abs(bounds))) if bounds.size else 1.0
    height, middle = _LINE * len(rows) + 4, 2 * _LABEL + _WIDTH / 2

    def at(value: float) -> float:
        return round(middle + value / (reach or 1.0) * _WIDTH / 2, 1)

    parts = []
    for i, row in enumerate(rows):
        y = _LINE * i + _LINE / 2 + 2
        left, right = at(-row["practical"]), at(row["practical"])
        low, high, colour = at(row["low"]), at(row["high"]), row["colour"]
        parts += [
            _text(2 * _LABEL - 10, y + 4, row["name"], anchor="end", letters=2 * _LETTERS),
            _mark("rect", x=left, y=y - 8, width=round(right - left, 1), height=16, fill=NEUTRAL, opacity=0.25),
            _mark("line", x1=low, x2=high, y1=y, y2=y, stroke=colour, stroke_width=3),
            _mark("circle", cx=at(row["value"]), cy=y, r=4, fill=colour),
        ]
    parts.append(_mark("line", x1=middle, x2=middle, y1=0, y2=height, stroke=NEUTRAL))
    return _svg(2 * _LABEL + _WIDTH + 10, height, parts, title)


def _mark(tag: str, **attributes: object) -> str:
    """Return an element without content; what stands in it is never text of a user."""
    words = " ".join(f'{name.replace("_", "-")}="{value}"' for name, value in attributes.items())
    return f"<{tag} {words}/>"


def _middles(number: int) -> list[float]:
    return [_LABEL + _CELL * (place + 0.5) for place in range(number)]


def _colour(share: float) -> str:
    place = np.clip(share, 0.0, 1.0) * (len(_RAMP) - 1)
    low = min(int(place), len(_RAMP) - 2)
    red, green, blue = (_RAMP[low] + (place - low) * (_RAMP[low + 1] - _RAMP[low])).round().astype(int)
    return f"#{red:02x}{green:02x}{blue:02x}"


def _text(x: float, y: float, name: str, *, anchor: str = "start", turn: bool = False, letters: int = _LETTERS) -> str:
    place = f' transform="rotate(-35 {x} {y})"' if turn else ""
    label = escape(short_label(name, letters))
    return (
        f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="currentColor"{place}>'
        f"<title>{escape(short_label(name, 400))}</title>{label}</text>"
    )


def _svg(width: float, height: float, parts: Sequence[str], title: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'style="max-width:100%;height:auto;font:12px sans-serif" role="img" aria-label="{escape(title)}">'
        f"{''.join(parts)}</svg>"
    )
