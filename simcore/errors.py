"""Exceptions of simcore, all under :class:`SimcoreError`.

Messages name the file, the field, the value and what is allowed, so that a user can mend the input
without reading code.
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "ClusterError",
    "KernelStatusError",
    "ResumeMismatchError",
    "ScenarioError",
    "SimcoreError",
    "StoreError",
    "UnknownRulesetError",
    "suggestion",
]


class SimcoreError(Exception):
    """Base of every error that simcore raises on purpose."""


class ScenarioError(SimcoreError, ValueError):
    """A scenario, sweep or edition that cannot be used as given.

    Parameters
    ----------
    problem : str
        What is wrong, with the value and what is allowed.
    field : str
        Dotted path of the field, ``"attacker.units"``; empty for the whole input.
    source : str
        The file (or other origin) that was read; empty when the input came from Python.

    Attributes
    ----------
    problem, field, source : str
        As given.
    """

    def __init__(self, problem: str, *, field: str = "", source: str = "") -> None:
        self.problem = problem
        self.field = field
        self.source = source
        text = ": ".join(part for part in (source, field, problem) if part)
        # Names of fields and files come from users: a message stays one line that a terminal does not obey.
        super().__init__("".join(letter if letter.isprintable() else "\ufffd" for letter in text))

    def at(self, *, field: str | None = None, source: str | None = None) -> ScenarioError:
        """Return the same problem placed at another field or source (None keeps what was there)."""
        return ScenarioError(
            self.problem,
            field=self.field if field is None else field,
            source=self.source if source is None else source,
        )


class UnknownRulesetError(SimcoreError, LookupError):
    """No ruleset of that name is registered."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else "unknown ruleset"


class KernelStatusError(SimcoreError, RuntimeError):
    """A kernel stopped a battle for a technical reason; the message names battles that ``replay`` accepts."""


class StoreError(SimcoreError, RuntimeError):
    """A results folder cannot be read or written."""


class ClusterError(SimcoreError, RuntimeError):
    """A cluster cannot be reached or used any more; what it finished is stored, and the run can be resumed."""


class ResumeMismatchError(StoreError):
    """The results folder belongs to another sweep than the one asked for."""


def suggestion(word: str, known: Iterable[str]) -> str:
    """Return ``' (did you mean "x"?)'`` for a near match of `word`, else an empty string.

    Parameters
    ----------
    word : str
        What the user wrote.
    known : iterable of str
        Everything that would have been accepted.

    Returns
    -------
    str
        Text to append to an error message.
    """
    near = difflib.get_close_matches(word.lower(), list(known), n=1, cutoff=0.6)
    return f' (did you mean "{near[0]}"?)' if near else ""
