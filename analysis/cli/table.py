"""The verb export."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

import typer

from analysis.cli import option
from analysis.cli.delivery import Tables, deliver

__all__ = ["ExportTables", "export_tables"]


@dataclass(frozen=True, kw_only=True)
class ExportTables(Tables):
    """Tables of a results folder; those of `analysis.exporting`, which is heavy to import."""

    names: ClassVar = (
        "matchups", "mixes", "survivors", "game", "restricted", "residuals", "prices", "duels",
        "comparison", "mix_comparison", "verdicts", "changes",
    )  # fmt: skip
    table: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="matchups, mixes, survivors; game, restricted, residuals; prices, duels; with --against comparison, "
            "mix_comparison, verdicts, changes.",
            show_default="all that there are",
        ),
    ] = None


def export_tables(
    folder: option.Folder,
    *,
    tables: ExportTables,
    against: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="An earlier run, for the comparison.", show_default=False)
    ] = None,
) -> None:
    """Write the tables of a finished sweep as CSV or JSON."""
    import analysis

    tables.check()
    from analysis.exporting import table_of, tables_of

    summary = analysis.summarize(folder)
    comparison = analysis.compare(against, summary.run) if against is not None else None
    deliver(tables_of(summary, comparison), lambda name: table_of(name, summary, comparison), tables)
