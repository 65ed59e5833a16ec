"""Unit lists as text: ``"10 infantry, 5 tank"`` and back."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from simcore.errors import ScenarioError, suggestion
from simcore.model import shown

__all__ = ["format_units", "parse_units", "unit_name"]

_ENTRY = re.compile(r"^(?:(?P<count>[+-]?[0-9]+)\s*[x×*]?\s*)?(?P<name>[^\W\d][\w \-]*)$")
_DIGITS = 9


def unit_name(
    word: object, units: Sequence[str], aliases: Mapping[str, str], *, field: str = "", source: str = ""
) -> str:
    """Return the canonical name of a unit.

    Parameters
    ----------
    word : object
        Name, alias or plural as the user wrote it; case, spaces and hyphens do not matter.
    units : sequence of str
        Canonical names.
    aliases : mapping
        Short name to canonical name.
    field, source : str
        For the error message.

    Returns
    -------
    str

    Raises
    ------
    ScenarioError
        For anything else, with a near match where there is one.
    """
    if not isinstance(word, str):
        raise ScenarioError(f"must be the name of a unit, got {shown(word)}", field=field, source=source)
    name = re.sub(r"[\s\-]+", "_", word.strip().lower())
    for candidate in (name, name.removesuffix("s"), name.removesuffix("es")):
        if candidate in units:
            return candidate
        if candidate in aliases:
            return aliases[candidate]
    raise ScenarioError(f"unknown unit {shown(word)}{suggestion(name, [*units, *aliases])}", field=field, source=source)


def parse_units(value: object, units: Sequence[str], aliases: Mapping[str, str], *, most: int) -> dict[str, int]:
    """Read a unit list.

    Parameters
    ----------
    value : str or mapping
        ``"10 infantry, 5 tank"`` or ``{"infantry": 10, "tank": 5}``; an empty text is an empty list.
    units, aliases
        As in `unit_name`.
    most : int
        Largest count of one type.

    Returns
    -------
    dict of str to int
        Counts by canonical name, at least 1 each, in table order.

    Raises
    ------
    ScenarioError
        For unknown names, counts that are no whole numbers from 0 to `most`, and unreadable text.
    """
    if isinstance(value, str):
        pairs = [_read_entry(entry) for entry in re.split(r"[,;+]", value)] if value.strip() else []
    elif isinstance(value, Mapping):
        pairs = list(value.items())
    else:
        raise ScenarioError(f'must be text such as "10 infantry, 5 tank" or a table, got {shown(value)}')
    counts: dict[str, int] = {}
    for word, count in pairs:
        name = unit_name(word, units, aliases)
        if isinstance(count, bool) or not isinstance(count, int):
            raise ScenarioError(f"the count of {name} must be a whole number, got {shown(count)}")
        total = counts.get(name, 0) + count
        if count < 0 or total > most:
            raise ScenarioError(
                f"the count of {name} must be 0 to {most:,}, got {shown(count if count < 0 else total)}"
            )
        counts[name] = total
    return {unit: counts[unit] for unit in units if counts.get(unit)}


def _read_entry(entry: str) -> tuple[str, int]:
    match = _ENTRY.match(entry.strip())
    if match is None:
        raise ScenarioError(f'cannot read {shown(entry.strip())}; write a count and a unit, as in "10 infantry"')
    digits = match["count"] or "1"
    if len(digits) > _DIGITS:
        raise ScenarioError(f"the count {shown(digits)} is too large")
    return match["name"], int(digits)


def format_units(counts: Mapping[str, int]) -> str:
    """Return the canonical text of a unit list.

    Parameters
    ----------
    counts : mapping
        Counts by canonical name in table order; zeros are left out.

    Returns
    -------
    str
        ``"10 infantry, 5 tank"``, empty for no unit.
    """
    return ", ".join(f"{count} {unit}" for unit, count in counts.items() if count)
