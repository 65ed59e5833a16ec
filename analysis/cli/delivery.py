"""How the answer of a verb leaves: as text, as one JSON object, or as tables."""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Protocol

import typer

from analysis.cli import option
from analysis.cli.console import columns, note, say, say_json, written
from simcore.errors import ScenarioError, suggestion

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["Answer", "Tables", "answer", "deliver", "table_option"]


def table_option(*names: str) -> Any:
    """Return the option that picks one of some tables."""
    return typer.Option(
        "--table", metavar="NAME", help=f"Print one table alone: {', '.join(names)}.", show_default=False
    )


@dataclass(frozen=True, kw_only=True)
class Tables:
    """Which tables of an answer are wanted, in which form and where; a verb says which tables it has."""

    names: ClassVar[tuple[str, ...]] = ()
    table: Annotated[str | None, table_option()] = None
    form: Annotated[
        option.Form | None, typer.Option("--format", help="How tables are written.", show_default="csv")
    ] = None
    out: Annotated[
        Path | None,
        typer.Option(
            parser=option.read_place, help="File for the table, or folder for all tables.", show_default=False
        ),
    ] = None

    @property
    def are_wanted(self) -> bool:
        """Whether tables take the place of the answer."""
        return self.table is not None or self.out is not None

    def check(self, *, as_json: bool = False) -> None:
        """Refuse what does not go together, before anything is computed."""
        if self.table is not None and self.table not in self.names:
            raise ScenarioError(
                f'unknown table "{self.table}"{suggestion(self.table, self.names)}; tables: {", ".join(self.names)}',
                field="--table",
            )
        if as_json and self.are_wanted:
            raise ScenarioError(
                "gives one object with everything; leave it out where tables are wanted", field="--json"
            )
        if self.form is not None and not self.are_wanted:
            raise ScenarioError("is for tables: add --table NAME, or --out FOLDER for all of them", field="--format")


class Answer(Protocol):
    """A result that turns itself into JSON, text and tables."""

    @property
    def tables(self) -> Mapping[str, "DataFrame"]:
        """Tables by name."""

    def to_dict(self) -> dict[str, Any]:
        """Return everything."""

    def to_text(self, width: int = ...) -> str:
        """Return what people read."""


def answer(found: Answer, wanted: Tables, *, as_json: bool) -> None:
    """Write a result: its tables where they are wanted, else one JSON object or a text."""
    if wanted.are_wanted:
        tables = found.tables
        deliver(list(tables), tables.__getitem__, wanted)
    elif as_json:
        say_json(found.to_dict())
    else:
        say(found.to_text(columns()))


def deliver(present: list[str], table_of: Callable[[str], "DataFrame"], wanted: Tables) -> None:
    """Write one table to stdout or a file, or all that are present into a folder.

    Parameters
    ----------
    present : list of str
        Tables that there are.
    table_of : callable
        Returns a table by name; what one of all cannot be is said on stderr.
    wanted : Tables
    """
    from analysis.exporting import write_table

    form = (wanted.form or option.Form.CSV).value
    if wanted.table is not None:
        frame = table_of(wanted.table)
        if wanted.out is None:
            write_table(frame, sys.stdout, form)
            return
        with written(wanted.out) as file:
            write_table(frame, file, form)
        say(str(wanted.out))
        return
    if wanted.out is None:
        raise ScenarioError("needs --out with a folder, or one --table", field="--table")
    wanted.out.mkdir(parents=True, exist_ok=True)
    for name in present:
        path = wanted.out / f"{name}.{form}"
        try:
            frame = table_of(name)
        except ScenarioError as error:  # a run may have no game, and has its other tables all the same
            note(f"warning: {path.name} is left out: {error}")
            continue
        with written(path) as file:
            write_table(frame, file, form)
        say(str(path))
