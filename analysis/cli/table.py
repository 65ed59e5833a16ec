"""The verb export."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from analysis.cli import option
from analysis.cli.console import note, say, written
from simcore.errors import ScenarioError

__all__ = ["export_tables"]


def export_tables(
    folder: option.Folder,
    *,
    table: Annotated[
        str | None,
        typer.Option(
            help="matchups, mixes, survivors, game, restricted, residuals; comparison with --against.",
            show_default="all of them",
        ),
    ] = None,
    form: Annotated[option.Form, typer.Option("--format", help="How tables are written.")] = option.Form.CSV,
    out: Annotated[
        Path | None,
        typer.Option(
            parser=option.read_place, help="File to write, or folder for all tables.", show_default="standard output"
        ),
    ] = None,
    against: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="An earlier run, for the comparison.", show_default=False)
    ] = None,
) -> None:
    """Write the tables of a finished sweep as CSV or JSON."""
    import analysis
    from analysis.exporting import TABLES, table_of, write_table

    summary = analysis.summarize(folder)
    comparison = analysis.compare(against, summary.run) if against is not None else None
    if table is not None:
        frame = table_of(table, summary, comparison)
        if out is None:
            write_table(frame, sys.stdout, form.value)
            return
        with written(out) as file:
            write_table(frame, file, form.value)
        say(str(out))
        return
    if out is None:
        raise ScenarioError("needs --out with a folder, or one --table", field="--table")
    out.mkdir(parents=True, exist_ok=True)
    for name in TABLES:
        if name == "comparison" and comparison is None:
            continue
        path = out / f"{name}.{form.value}"
        try:
            frame = table_of(name, summary, comparison)
        except ScenarioError as error:  # a run may have no game, and has its other tables all the same
            note(f"warning: {path.name} is left out: {error}")
            continue
        with written(path) as file:
            write_table(frame, file, form.value)
        say(str(path))
