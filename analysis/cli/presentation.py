"""What is shown of a finished sweep: its summary, where its files lie, its report; and the verb report."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from analysis.cli import option
from analysis.cli.console import RESUMABLE, columns, note, say, say_json, shell_word, stop
from simcore.errors import StoreError

if TYPE_CHECKING:
    from analysis.balance import Summary
    from simcore.run.session import SweepResult

__all__ = ["present_run", "write_report"]

_TABLES: Final = ("matchups", "mixes", "survivors")


def _present(
    folder: Path, *, page: Path | None, report_wanted: bool, as_json: bool, against: Path | None = None
) -> None:
    """Print the summary of a finished sweep, write its report and say where everything lies."""
    import analysis

    again = f"the tables are complete, go on with: simcore report {shell_word(folder)}"
    summary: Summary | None = None
    written: Path | None = None
    try:
        summary = analysis.summarize(folder)
        if not as_json:
            say(summary.to_text(columns()) + "\n")
        if report_wanted:
            written = analysis.report(summary, out=page, against=against)
    except KeyboardInterrupt:
        stop(f"interrupted; {again}", RESUMABLE)
    except StoreError as error:
        # A place that the user chose may be wrong for good, as a folder that cannot be read.
        if summary is not None and page is None and isinstance(error.__cause__, OSError):
            stop(f"{error}; {again}", RESUMABLE)
        raise
    tables = {table: folder / f"{table}.parquet" for table in _TABLES}
    if as_json:
        say_json({"folder": folder, "tables": tables, "report": written, **summary.to_dict()})
        return
    for path in [*tables.values(), *([written] if written is not None else [])]:
        say(str(path))


def present_run(run: "SweepResult", source: str, ending: option.Ending) -> None:
    """Present a finished sweep; exit code 2 when matchups failed."""
    for line in run.reports:
        note(f"warning: {line}")
    if run.imprecise:
        note(
            f"warning: {run.imprecise:,} of {run.matchups:,} matchups have as many battles as are allowed and are not "
            "as precise as asked for; give more with: --battles N --top-up"
        )
    _present(run.out, page=None, report_wanted=ending.report_wanted, as_json=ending.as_json)
    if run.failed:
        stop(
            f"{source}: {run.failed:,} of {run.matchups:,} matchups failed; "
            f'the column "error" of {run.out / "matchups.parquet"} says why'
        )


def write_report(
    folder: option.Folder,
    out: Annotated[
        Path | None,
        typer.Option(
            parser=option.read_place, help="Where to write the page.", show_default="report.html in the folder"
        ),
    ] = None,
    against: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="An earlier run to compare with, in a section of its own.", show_default=False
        ),
    ] = None,
    as_json: option.Json = False,
) -> None:
    """Write the HTML report of a finished sweep, and print its summary."""
    _present(folder, page=out, report_wanted=True, as_json=as_json, against=against)
