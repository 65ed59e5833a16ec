"""Input of the verbs: scenario and sweep files, unit lists, and the options laid over them."""

from __future__ import annotations

import re
import tomllib
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from simcore.errors import ScenarioError, UnknownRulesetError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from analysis.cli.option import Rules
    from simcore.scenario import SweepFile
    from simcore.schema import ScenarioModel

__all__ = [
    "check_scenario",
    "given",
    "names",
    "placed",
    "quoted",
    "read_battle",
    "read_rules",
    "read_setting",
    "read_sweep",
    "whole_numbers",
]

_SIDES: Final = ("attacker", "defender")
_LONGEST_NUMBER: Final = 9
"""Digits of a whole number that is looked at; far less is allowed wherever one is asked for."""


@contextmanager
def placed(source: str) -> Iterator[None]:
    """Give scenario errors that name no file the name of the one being worked on."""
    try:
        yield
    except ScenarioError as error:
        raise (error if error.source or not source else error.at(source=source)) from None
    except UnknownRulesetError as error:
        raise UnknownRulesetError(f"{source}: {error}" if source else str(error)) from None


def quoted(text: str) -> str:
    """Return what was given, in quotes and cut to a readable length."""
    from simcore.model import shown

    return shown(text)


def given(**options: Any) -> dict[str, Any]:
    """Return the options that were given; the Python functions have the defaults."""
    return {name: value for name, value in options.items() if value is not None}


def names(text: str | None) -> list[str] | None:
    """Split a list of names."""
    return None if text is None else [part.strip() for part in text.split(",") if part.strip()]


def whole_numbers(text: str, option: str) -> list[int]:
    """Split a list of whole numbers."""
    numbers = []
    for part in names(text) or []:
        if not (part.isascii() and part.isdecimal() and len(part) <= _LONGEST_NUMBER):
            raise ScenarioError(f"must be whole numbers apart by commas, got {quoted(part)}", field=option)
        numbers.append(int(part))
    return numbers


def read_setting(setting: str, option: str = "--set") -> tuple[str, Any]:
    """Split ``key=value`` of an option; the value is TOML, or a bare word that is taken as text."""
    key, equals, text = setting.partition("=")
    key = key.strip()
    if not equals or not key:
        raise ScenarioError(f"{quoted(setting)} is not of the form KEY=VALUE", field=option)
    try:
        read = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        return key, text.strip()
    except (RecursionError, ValueError) as problem:  # lists in lists without end, endless numbers
        raise ScenarioError(f"{quoted(setting)} cannot be read: {problem}", field=option) from None
    if set(read) != {"value"}:
        raise ScenarioError(f"{quoted(setting)} sets more than one value", field=option)
    return key, read["value"]


def _apply(data: dict[str, Any], settings: list[str] | None) -> None:
    """Write the values of ``--set`` into `data`, in place; a path may use quotes as TOML does."""
    from simcore.scenario import check_bounds

    for setting in settings or ():
        key, value = read_setting(setting)
        try:
            parts: Any = tomllib.loads(f"{key} = 0")
        except (tomllib.TOMLDecodeError, RecursionError):
            raise ScenarioError(f"{quoted(key)} is not a dotted path", field="--set") from None
        table = data
        while True:
            ((name, parts),) = parts.items()
            if parts == 0:
                table[name] = value
                break
            inner = table.setdefault(name, {})
            if not isinstance(inner, dict):
                raise ScenarioError(f'"{key}" reaches into a value that is not a table', field="--set")
            table = inner
    if settings:
        check_bounds(data)


def _read_file(path: Path, table: str | None = None) -> dict[str, Any]:
    """Read a TOML file, with the name of an edition file as seen from here instead of from the file's folder."""
    from simcore.scenario import read_toml

    data = read_toml(path)
    part: Any = data if table is None else data.get(table)
    if isinstance(part, dict) and isinstance(part.get("edition_file"), str):
        part["edition_file"] = str(path.parent / part["edition_file"])
    return data


def _overlaid(data: dict[str, Any], rules: Rules, settings: list[str] | None) -> dict[str, Any]:
    """Lay the options over a scenario, in place."""
    file = None if rules.edition_file is None else str(rules.edition_file)
    data |= given(ruleset=rules.ruleset, edition=rules.edition, edition_file=file)
    _apply(data, settings)
    return data


def read_battle(units: list[str], rules: Rules, settings: list[str] | None) -> tuple[dict[str, Any], str]:
    """Read a scenario file, or make a scenario of two unit lists, and lay the options over it.

    Returns
    -------
    data : dict
        The scenario, not checked yet.
    source : str
        File name for error messages; empty for unit lists.
    """
    from simcore.sharing import is_shared, unshare

    source = ""
    if len(units) == 1 and is_shared(units[0]):
        data, source = unshare(units[0]), "shared scenario"
    elif len(units) == 1:
        path = Path(units[0])
        if re.match(r"\s*\d+\s*[A-Za-z]", units[0]) and not path.exists():
            raise ScenarioError(f'only one unit list, "{units[0]}": give the defender\'s too, or a file')
        data, source = _read_file(path), units[0]
    elif len(units) == len(_SIDES):
        if any(text.endswith(".toml") for text in units):
            raise ScenarioError("give one scenario file, or two unit lists")
        data = {side: {"units": text} for side, text in zip(_SIDES, units, strict=True)}
    else:
        raise ScenarioError(f"give one scenario file, or two unit lists in quotes; got {len(units)} arguments")
    return _overlaid(data, rules, settings), source


def read_rules(file: Path | None, rules: Rules, settings: list[str] | None) -> dict[str, Any]:
    """Return a scenario's table without units, from a file and options."""
    return _overlaid({} if file is None else _read_file(file), rules, settings)


def check_scenario(data: Mapping[str, Any], source: str) -> ScenarioModel:
    """Check a scenario before anything is compiled, and name its file where it is wrong."""
    from simcore.scenario import load_scenario

    with placed(source):
        return load_scenario(data)


def read_sweep(file: Path, settings: list[str] | None, **numbers: float | None) -> SweepFile:
    """Read a sweep file and lay the options over it."""
    from simcore.scenario import load_sweep

    data = _read_file(file, "sweep")
    table = data.get("sweep")
    if isinstance(table, dict):
        table |= given(**numbers)
    _apply(data, settings)
    with placed(str(file)):
        return load_sweep(data, source=str(file))
