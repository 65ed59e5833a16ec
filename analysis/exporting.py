"""Tables for other programs: CSV and JSON, with all digits and names as they are."""

from __future__ import annotations

import csv
import json
from typing import IO, TYPE_CHECKING, Any, Final

import pandas as pd

from analysis.contest import game
from analysis.frames import SIDES
from analysis.pricing import read_prices, stored_prices
from analysis.wording import plain_value
from simcore.errors import ScenarioError, suggestion

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from analysis.balance import Summary
    from analysis.comparison import Comparison
    from simcore.result import Result

__all__ = ["COMPARED", "FORMATS", "PRICED", "TABLES", "odds_tables", "table_of", "tables_of", "write_table"]

FORMATS: Final = ("csv", "json")


def _of_all_games(part: str) -> Callable[[Summary], pd.DataFrame]:
    """Return what collects a table of the game between the mixes at every grid point."""

    def collect(summary: Summary) -> pd.DataFrame:
        frames = []
        for point, label in enumerate(summary.grid_labels or ("",)):  # without a matchup `game` says what is missing
            table = game(summary, point=point).tables[part]
            frames.append(table.assign(grid_point=label) if label else table)
        return pd.concat(frames, ignore_index=True)

    return collect


_RUN_TABLES: Final[dict[str, Callable[[Summary], pd.DataFrame]]] = {
    "matchups": lambda summary: summary.matchups,
    "mixes": lambda summary: summary.mixes,
    "survivors": lambda summary: summary.run.survivors,
    "game": _of_all_games("game"),
    "restricted": _of_all_games("restricted"),
    "residuals": _of_all_games("residuals"),
    "prices": lambda summary: read_prices(summary.run)["prices"],
    "duels": lambda summary: read_prices(summary.run)["duels"],
}
PRICED: Final = ("prices", "duels")
"""Tables of a run whose units were priced."""
COMPARED: Final = ("comparison", "mix_comparison", "verdicts", "changes")
"""Tables of a comparison with another run."""
TABLES: Final = (*_RUN_TABLES, *COMPARED)
_CHUNK: Final = 20_000


def tables_of(summary: Summary, comparison: Comparison | None = None) -> list[str]:
    """Return the names of the tables that a run has.

    Parameters
    ----------
    summary : Summary
        The run.
    comparison : Comparison, optional
        With another run.

    Returns
    -------
    list of str
        Those of `TABLES` without the prices of a run that was not priced and a comparison that was not made.
    """
    absent = () if stored_prices(summary.run) is not None else PRICED
    return [name for name in TABLES if name not in absent and (comparison is not None or name not in COMPARED)]


def table_of(name: str, summary: Summary, comparison: Comparison | None = None) -> pd.DataFrame:
    """Return a table of a run by its name.

    Parameters
    ----------
    name : str
        One of `TABLES`.
    summary : Summary
        The run.
    comparison : Comparison, optional
        With another run; needed for the tables `COMPARED`.

    Returns
    -------
    DataFrame

    Raises
    ------
    ScenarioError
        For an unknown name, a comparison without another run, or prices of a run that was not priced.
    """
    if name in _RUN_TABLES:
        return _RUN_TABLES[name](summary)
    if name not in COMPARED:
        raise ScenarioError(
            f'unknown table "{name}"{suggestion(name, TABLES)}; tables: {", ".join(TABLES)}', field="table"
        )
    if comparison is None:
        raise ScenarioError("needs another run to compare with (--against)", field="table")
    return comparison.tables[name]


def odds_tables(result: Result) -> dict[str, pd.DataFrame]:
    """Return the tables of the odds of one battle by name.

    Parameters
    ----------
    result : Result

    Returns
    -------
    dict
        ``outcomes`` with interval, ``survivors`` by side and unit, and ``distribution`` where it was asked for.

    Examples
    --------
    >>> import simcore
    >>> odds_tables(simcore.odds("2 infantry", "1 infantry"))["survivors"]["unit"].tolist()
    ['infantry', 'infantry']
    """
    survivors = [
        {"side": side, "unit": unit, "mean_survivors": mean}
        for side in SIDES
        for unit, mean in result.data[side]["mean_survivors"].items()
    ]
    found = {
        "outcomes": result.to_frame().reset_index(),
        "survivors": pd.DataFrame(survivors, columns=["side", "unit", "mean_survivors"]),
    }
    return found if result.distribution is None else {**found, "distribution": result.distribution.to_frame()}


def write_table(table: pd.DataFrame, file: IO[str], form: str) -> None:
    """Write a table as text.

    Parameters
    ----------
    table : DataFrame
    file : text file
        Where it goes; for CSV opened without translation of line ends.
    form : str
        "csv" (a header, then one line per row; nothing for what is not known) or "json" (an array of objects, null for
        what is not known).
    """
    if form == "csv":
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(table.columns)
        for row in _rows(table):
            writer.writerow("" if value is None else _csv_value(value) for value in row.values())
        return
    file.write("[")
    for number, row in enumerate(_rows(table)):
        file.write((",\n" if number else "\n") + json.dumps(row, ensure_ascii=False, allow_nan=False))
    file.write("\n]\n")


def _rows(table: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Yield rows with values that JSON can hold, a bounded number of them at a time."""
    for first in range(0, len(table), _CHUNK):
        for row in table.iloc[first : first + _CHUNK].to_dict(orient="records"):
            yield {str(key): plain_value(value) for key, value in row.items()}


def _csv_value(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value
