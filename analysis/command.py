"""The one-line command that computes a row of a sweep again."""

from __future__ import annotations

import json
import re
import shlex
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from analysis.frames import EXACT, GRID_PREFIX, SIMULATED
from analysis.wording import clean

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from analysis.frames import Run

__all__ = ["OWN_EDITIONS", "options", "quoted"]

OWN_EDITIONS: Final = "editions.toml"
"""Stands for the user's own edition file, whose place the results do not know."""

_PLAIN_TEXT: Final = re.compile(r"[A-Za-z0-9_ ,.:-]*")
_BARE_WORD: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_BARE_KEY: Final = re.compile(r"[A-Za-z0-9_-]+")
_TOML_WORDS: Final = frozenset({"true", "false", "inf", "nan"})
_NAMED: Final = frozenset({"edition", "edition_file", "editions", "ruleset"})


def quoted(text: str) -> str:
    """Quote a unit list for a shell; double quotes where they will do, since every shell knows them.

    Examples
    --------
    >>> print(quoted("10 infantry, 5 tank"))
    "10 infantry, 5 tank"
    >>> print(quoted("$HOME"))
    '$HOME'
    """
    return f'"{text}"' if _PLAIN_TEXT.fullmatch(text) else shlex.quote(clean(text))


def options(run: Run, row: Mapping[str, Any]) -> str:
    """Return what follows the two unit lists in ``simcore odds ATTACKER DEFENDER``.

    Parameters
    ----------
    run : Run
        The run; its sweep file holds the scenario that all matchups share.
    row : mapping
        A row of its matchups: edition, method, number of battles, values of the grid. A method that is neither
        "exact" nor "simulated" leaves the choice to ``simcore odds``, which takes the one that the sweep took.

    Returns
    -------
    str
        Options, quoted for a POSIX shell.
    """
    manifest = run.manifest
    words = []
    if str(manifest["ruleset"]) != "general_combat":
        words += ["--ruleset", str(manifest["ruleset"])]
    words += ["--edition", str(row.get("edition") or manifest.get("edition"))]
    method = row.get("method")
    if method == EXACT:
        words += ["--method", "exact"]
    else:
        words += [*(["--method", "simulate"] if method == SIMULATED else []), *_dice(run, row)]
    sweep = _table(_table(manifest.get("sweep")).get("sweep"))
    scenario = dict(_table(_table(manifest.get("sweep")).get("scenario")))
    if sweep.get("editions") or sweep.get("edition_file") or scenario.get("editions"):
        words += ["--edition-file", OWN_EDITIONS]
    settings = dict(_flattened(scenario))
    for column in run.grid_columns:
        key = column.removeprefix(GRID_PREFIX)
        settings |= _grid_setting(key, row.get(column), manifest["grid"][key])
    for key, value in settings.items():
        words += ["--set", f"{key}={_toml(value)}"]
    return " ".join(shlex.quote(clean(word)) for word in words)


def _dice(run: Run, row: Mapping[str, Any]) -> list[str]:
    """Return the options that say which battles were fought."""
    battles = row.get("battles")
    if battles is None or np.isnan(battles) or not battles:
        battles = run.manifest.get("battles", 0)
    # A merged run has a list of seeds as text: as many battles with the first of them say as much.
    seed = str(run.manifest.get("seed")).partition(",")[0]
    words = ["--battles", str(int(battles)), "--seed", seed]
    return words + (["--pairing", run.pairing] if run.pairing != "matchup" else [])


def _table(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _flattened(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield dotted paths and values; the edition has options of its own."""
    for key, value in table.items():
        if not prefix and key in _NAMED:
            continue
        path = prefix + (key if _BARE_KEY.fullmatch(key) else _text(key))
        if isinstance(value, dict):
            yield from _flattened(value, f"{path}.")
        else:
            yield path, value


def _grid_setting(key: str, value: Any, written: Sequence[Any]) -> dict[str, Any]:
    """Return the setting of a scenario that a value of the grid stands for."""
    where, _, rest = key.partition(".")
    if rest in _NAMED:
        return {}
    if isinstance(value, str):
        # Values that no column can hold are kept as JSON text; the manifest has them as they were written.
        value = next((item for item in written if _as_column(item) == value), value)
    if where == "edition":
        return {f"edition_changes.{_text(rest)}": value}
    if isinstance(value, dict):
        return dict(_flattened(value, f"{rest}."))
    return {rest: value}


def _as_column(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)


def _toml(value: Any) -> str:
    """Return a value as ``--set`` reads it: TOML, or a bare word that is taken as text."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml_item, value))}]"
    if isinstance(value, dict):
        pairs = [f"{_text(key)} = {_toml_item(item)}" for key, item in value.items()]
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, str):
        return value if _BARE_WORD.fullmatch(value) and value not in _TOML_WORDS else _text(value)
    return str(value)


def _toml_item(value: Any) -> str:
    return _text(value) if isinstance(value, str) else _toml(value)


def _text(value: str) -> str:
    """Return a quoted string; JSON's are TOML's, except for letters written as surrogate pairs."""
    return json.dumps(value, ensure_ascii=False)
