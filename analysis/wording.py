"""Words and figures as people read them: safe names, short labels, numbers with units.

Names come from users and may hold anything: control characters that a terminal would obey, writing from
right to left, markup. :func:`clean` makes them plain text; escaping for HTML is left to whoever writes HTML.
"""

from __future__ import annotations

import math
import re
import unicodedata
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "clean",
    "count_text",
    "display_width",
    "duration_text",
    "figure_text",
    "fit",
    "grid_value_text",
    "interval_text",
    "plain_value",
    "plural",
    "points_text",
    "short_label",
    "short_labels",
    "wrapped",
]

# Controls, and the marks that would turn the direction of the text around a name.
_UNSAFE: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_UNIT_LIST: Final = re.compile(r"\d+ [a-z_]+(?:, \d+ [a-z_]+)*")
_WORD: Final = re.compile(r"[a-z_]+")
_KEPT_LETTERS: Final = 4
_MINUTE: Final = 60.0
_HOUR: Final = 3600.0
_SMALL: Final = 10.0
_MOST_DECIMALS: Final = 4
_WHOLE: Final = 100.0


def clean(text: str) -> str:
    r"""Return `text` with control and direction characters replaced by a visible mark.

    Examples
    --------
    >>> clean("tank\x1b[2J")
    'tank�[2J'
    """
    return _UNSAFE.sub("\ufffd", text)


def display_width(text: str) -> int:
    """Return the number of terminal cells of `text`: wide letters take two, combining marks none."""
    return sum(
        0 if unicodedata.combining(letter) else 2 if unicodedata.east_asian_width(letter) in "WF" else 1
        for letter in text
    )


def short_label(name: str, width: int) -> str:
    """Shorten a mix's name to `width` cells.

    A unit list has its unit words cut first ("10 inf, 5 tank, 2 art"), then its spaces ("10inf 5tank 2art");
    then, as for any other name, the middle gives way to an ellipsis, since both ends tell mixes apart.

    Examples
    --------
    >>> short_label("10 infantry, 5 tank", 40), short_label("10 infantry, 5 artillery", 16)
    ('10 infantry, 5 tank', '10 inf, 5 art')
    >>> short_label("the quick brown fox jumps", 13)
    'the qu… jumps'
    """
    text = clean(name)
    if display_width(text) <= width:
        return text
    if _UNIT_LIST.fullmatch(text):
        text = _cut_units(text)
        if display_width(text) <= width:
            return text
        text = text.replace(" ", "").replace(",", " ")
        if display_width(text) <= width:
            return text
    room = width - 1
    head = _head(text, (room + 1) // 2)
    tail = _head(text[::-1], room - display_width(head))[::-1]
    return f"{head}…{tail}"


def short_labels(names: Iterable[str], width: int) -> list[str]:
    """Shorten the names of one column; when one unit list must be cut, all unit lists are cut alike.

    Examples
    --------
    >>> short_labels(["2 tank, 1 artillery, 1 infantry", "1 infantry", "The Guard"], 20)
    ['2 tank, 1 art, 1 inf', '1 inf', 'The Guard']
    """
    texts = [clean(name) for name in names]
    if any(display_width(text) > width and _UNIT_LIST.fullmatch(text) for text in texts):
        texts = [_cut_units(text) if _UNIT_LIST.fullmatch(text) else text for text in texts]
    return [short_label(text, width) for text in texts]


def _cut_units(text: str) -> str:
    return _WORD.sub(lambda found: _short_word(found.group()), text)


def _short_word(word: str) -> str:
    first = word.split("_", maxsplit=1)[0]
    if len(first) <= _KEPT_LETTERS:
        return first
    return first[:_KEPT_LETTERS] if "_" in word else first[: _KEPT_LETTERS - 1]


def _head(text: str, width: int) -> str:
    """Return the longest beginning of `text` that fits in `width` cells."""
    used = 0
    for place, letter in enumerate(text):
        used += display_width(letter)
        if used > width:
            return text[:place]
    return text


def fit(text: str, width: int) -> str:
    """Shorten and pad a name to exactly `width` cells, for a column of a terminal table."""
    short = short_label(text, width)
    return short + " " * (width - display_width(short))


def wrapped(text: str, width: int, *, indent: str = "", first: str = "", most: int = 0) -> list[str]:
    """Break a text into lines of at most `width` cells, also where letters take two.

    Parameters
    ----------
    text : str
        Text without control characters; figures stay on the line of their percent sign.
    width : int
        Cells of a line.
    indent, first : str
        What stands before all lines but the first, and before the first.
    most : int
        Most lines; 0 = any number. What is left out becomes an ellipsis.

    Examples
    --------
    >>> wrapped("wins 50.0 % of battles", 12, indent="  ", first="* ")
    ['* wins', '  50.0 % of', '  battles']
    """
    lines, line = [], first
    is_empty = True
    for word in text.replace(" %", "\xa0%").split(" "):
        room = width - display_width(line) - (0 if is_empty else 1)
        if display_width(word) <= room:
            line += word if is_empty else f" {word}"
            is_empty = False
            continue
        if not is_empty:
            lines.append(line)
            line = indent
        rest = word
        while display_width(rest) > width - display_width(line):
            part = _head(rest, max(width - display_width(line), 2))
            lines.append(line + part)
            line, rest = indent, rest[len(part) :]
        line += rest
        is_empty = False
    lines.append(line)
    if most and len(lines) > most:
        lines = [*lines[: most - 1], f"{_head(lines[most - 1], width - 1)}…"]
    return [shown.replace("\xa0", " ") for shown in lines]


def count_text(value: Any) -> str:
    """Return a whole number with thousands separators; anything else as plain text.

    Examples
    --------
    >>> count_text(100000)
    '100,000'
    """
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return f"{value:,}"
    return "?" if value is None else clean(str(value))


def plural(number: int, one: str, many: str) -> str:
    """Return the number with the right form of its noun."""
    return f"{count_text(number)} {one if number == 1 else many}"


def figure_text(value: float, *, signed: bool = False) -> str:
    """Return a cost, swing or cycle figure: two decimals below ten, one above; NaN gives a dash.

    Examples
    --------
    >>> figure_text(3.14159), figure_text(-12.345, signed=True), figure_text(2.0, signed=True)
    ('3.14', '−12.3', '+2.00')
    """
    if np.isnan(value):
        return "–"
    if np.isinf(value):
        return "∞"
    text = f"{abs(value):,.2f}" if abs(value) < _SMALL else f"{abs(value):,.1f}"
    if not text.strip("0.,"):
        return text
    return ("−" if value < 0 else "+" if signed else "") + text


def points_text(value: float) -> str:
    """Return a difference of shares in percentage points, signed; nearly all is not shown as all.

    Examples
    --------
    >>> points_text(0.1234), points_text(-0.99991), points_text(1.0)
    ('+12.3', '−99.991', '+100')
    """
    size = 100.0 * abs(value)
    decimals = 0 if size == _WHOLE else 3 if size >= _WHOLE - 0.05 else 1
    text = f"{size:.{decimals}f}"
    return text if not text.strip("0.") else ("−" if value < 0 else "+") + text


def interval_text(low: float, high: float) -> str:
    """Return the bounds of a share in percent; near 0 and 100 % with as many decimals as say something.

    Examples
    --------
    >>> interval_text(0.70987, 0.71642), interval_text(0.0, 0.000384)
    ('71.0 to 71.6 %', '0 to 0.038 %')
    >>> interval_text(0.998083, 1.0)
    '99.81 to 100 %'
    """
    if np.isnan(low) or np.isnan(high):
        return "–"
    # The distance from the nearer end, in percent, gets two significant digits.
    distance = 100.0 * min(high, 1.0 - low)
    decimals = 1
    if 0.0 < distance < 1.0:
        decimals = min(1 - math.floor(math.log10(distance)), _MOST_DECIMALS)
    return f"{_bound_text(low, decimals)} to {_bound_text(high, decimals)} %"


def _bound_text(bound: float, decimals: int) -> str:
    return f"{100.0 * bound:.0f}" if bound in {0.0, 1.0} else f"{100.0 * bound:.{decimals}f}"


def plain_value(value: Any) -> Any:
    """Return a frame's cell as JSON can hold it; what is not known is None.

    Examples
    --------
    >>> plain_value(np.float64(0.5)), plain_value(float("nan")), plain_value(np.int64(3))
    (0.5, None, 3)
    """
    if isinstance(value, np.generic):
        value = value.item()
    elif isinstance(value, np.ndarray):
        value = value.tolist()
    # pandas' own marks of what is missing are not worth an import of pandas.
    if type(value).__name__ in {"NAType", "NaTType"}:
        return None
    return None if isinstance(value, float) and not np.isfinite(value) else value


def duration_text(seconds: float) -> str:
    """Return a time span in words.

    Examples
    --------
    >>> duration_text(4.2), duration_text(312), duration_text(9000)
    ('4.2 s', '5 min 12 s', '2 h 30 min')
    """
    if seconds < _MINUTE:
        return f"{seconds:.1f} s"
    if seconds < _HOUR:
        minutes, rest = divmod(round(seconds), 60)
        return f"{minutes} min {rest} s"
    hours, rest = divmod(round(seconds / _MINUTE), 60)
    return f"{hours} h {rest} min"


def grid_value_text(value: Any) -> str:
    """Return a value of the grid as TOML would write it, without quotes around text.

    Examples
    --------
    >>> grid_value_text(True), grid_value_text(6.0), grid_value_text("both"), grid_value_text([1, 2])
    ('true', '6', 'both', '1, 2')
    """
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, float | np.floating):
        return f"{float(value):g}"
    if isinstance(value, list | tuple | np.ndarray):
        return ", ".join(grid_value_text(item) for item in value)
    return clean(str(value))
