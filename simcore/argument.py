"""Checks of what Python functions are given: a wrong type is named like any other wrong value."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simcore.errors import ScenarioError, suggestion
from simcore.model import shown

if TYPE_CHECKING:
    from collections.abc import Collection

__all__ = ["check_choice", "check_flag", "check_names", "check_path"]

_PAIR = 2


def check_path(value: object, field: str, what: str = "a folder") -> Path:
    """Return a path.

    Parameters
    ----------
    value : object
        What was given as a path.
    field : str
        Name of the argument.
    what : str
        What it leads to.

    Returns
    -------
    Path

    Raises
    ------
    ScenarioError
        For what is no path.

    Examples
    --------
    >>> check_path("results/land-30", "folder").name
    'land-30'
    """
    if isinstance(value, str | os.PathLike):
        text = os.fspath(value)
        if isinstance(text, str):
            return Path(text)
    raise ScenarioError(f"must be the path of {what}, got {shown(value)}", field=field)


def check_choice(value: object, allowed: Collection[str], field: str) -> str:
    """Return one of some words.

    Parameters
    ----------
    value : object
        What was given.
    allowed : collection of str
    field : str
        Name of the argument.

    Returns
    -------
    str

    Raises
    ------
    ScenarioError
        Names the words, with a near match.
    """
    if not isinstance(value, str) or value not in allowed:
        near = suggestion(value, allowed) if isinstance(value, str) else ""
        words = " or ".join(allowed) if len(allowed) == _PAIR else ", ".join(allowed)
        raise ScenarioError(f"must be {words}, got {shown(value)}{near}", field=field)
    return value


def check_flag(value: object, field: str) -> bool:
    """Return a truth value.

    Parameters
    ----------
    value : object
        What was given.
    field : str
        Name of the argument.

    Returns
    -------
    bool

    Raises
    ------
    ScenarioError
        For anything but True and False.
    """
    if not isinstance(value, bool):
        raise ScenarioError(f"must be true or false, got {shown(value)}", field=field)
    return value


def check_names(value: Any, field: str, what: str) -> list[str]:
    """Return a list of names; whether they are known is for the caller to tell.

    Parameters
    ----------
    value : object
        What was given.
    field : str
        Name of the argument.
    what : str
        What is named, in the plural.

    Returns
    -------
    list of str
        At least one.

    Raises
    ------
    ScenarioError
        For what is no list of texts, or empty.

    Examples
    --------
    >>> check_names(("tank", "fighter"), "units", "units")
    ['tank', 'fighter']
    """
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise ScenarioError(f"must be a list of {what}, got {shown(value)}", field=field)
    found = list(value)
    if not found:
        raise ScenarioError(f"must be a list of {what} with at least one in it, got {shown(value)}", field=field)
    for name in found:
        if not isinstance(name, str):
            raise ScenarioError(f"must be a list of {what}, got {shown(name)} in it", field=field)
    return found
