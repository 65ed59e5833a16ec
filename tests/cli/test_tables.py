"""Every table that a verb prints leaves as CSV and as JSON too, in the same way everywhere."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any

import pytest

import analysis
import simcore
from analysis import exporting
from analysis.cli.battle import OddsTables
from analysis.cli.contrast import CompareTables
from analysis.cli.table import ExportTables

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from tests.cli.conftest import Cli

DUEL = ("3 infantry, 1 tank", "2 infantry")
SWEEP = {
    "sweep": {"name": "small"},
    "attacker": {"mixes": ["4 infantry", "3 tank"]},
    "defender": {"mixes": ["3 infantry", "2 infantry, 1 artillery"]},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("tables") / "run"
    simcore.sweep(SWEEP, out)
    return out


def _check(cli: Cli, words: tuple[Any, ...], tables: dict[str, pd.DataFrame], place: Path) -> None:
    """Ask for every table one by one, and for all at once, and read them back."""
    for name, frame in tables.items():
        rows = list(csv.reader(io.StringIO(cli(*words, "--table", name).out, newline="")))
        objects = json.loads(cli(*words, "--table", name, "--format", "json").out)
        assert rows[0] == list(frame.columns), name
        assert len(rows) - 1 == len(objects) == len(frame), name
        for row, found in zip(rows[1:], objects, strict=True):
            for text, value in zip(row, found.values(), strict=True):
                if isinstance(value, float):
                    assert float(text) == value
                else:
                    assert text == ("" if value is None else str(value)), name
    answer = cli(*words, "--out", place)
    assert answer.out.splitlines() == [str(place / f"{name}.csv") for name in tables]
    for name, frame in tables.items():
        assert len((place / f"{name}.csv").read_text(encoding="utf-8").splitlines()) == len(frame) + 1


def test_price(cli: Cli, tmp_path: Path) -> None:
    found = analysis.price(["tank"], against=["infantry"], sizes=[4])
    words = ("price", "--units", "tank", "--against", "infantry", "--sizes", "4")
    _check(cli, words, found.tables, tmp_path)
    assert set(found.tables) == {"prices", "duels"}


def test_value(cli: Cli, tmp_path: Path) -> None:
    found = analysis.value(*DUEL, units=["tank"])
    _check(cli, ("value", *DUEL, "--units", "tank"), found.tables, tmp_path)
    assert found.tables["orders"]["order"].tolist()


def test_need(cli: Cli, tmp_path: Path) -> None:
    found = analysis.need(["infantry", "tank"], "2 infantry", chance=0.8)
    _check(cli, ("need", "infantry, tank", "2 infantry", "--chance", "0.8"), found.tables, tmp_path)


def test_game(cli: Cli, folder: Path, tmp_path: Path) -> None:
    _check(cli, ("game", folder), analysis.game(folder).tables, tmp_path)


def test_compare(cli: Cli, folder: Path, tmp_path: Path) -> None:
    found = analysis.compare(folder, folder)
    assert set(found.tables) == set(CompareTables.names) == set(exporting.COMPARED)
    _check(cli, ("compare", folder, folder), found.tables, tmp_path)
    assert "--markdown" in cli("compare", folder, folder, "--markdown", "--table", "changes").problem


def test_odds(cli: Cli, tmp_path: Path) -> None:
    tables = exporting.odds_tables(simcore.odds(*DUEL, distribution=True))
    assert set(tables) == set(OddsTables.names)
    _check(cli, ("odds", *DUEL, "--distribution"), tables, tmp_path)
    assert "needs --distribution" in cli("odds", *DUEL, "--table", "distribution").problem
    assert tables["survivors"]["side"].tolist() == ["attacker", "attacker", "defender"]


def test_rulesets(cli: Cli, tmp_path: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(cli("rulesets", "general_combat", "--table", "units").out)))
    assert rows[0]["unit"] == "infantry"
    assert rows[0]["cost"] == "3"
    assert any("" in row.values() for row in rows), "what a unit does not have is empty"
    switches = json.loads(cli("rulesets", "mass_battle", "--table", "switches", "--format", "json").out)
    assert {"switch": "max_turns", "value": 100} in switches
    editions = list(csv.DictReader(io.StringIO(cli("rulesets", "--table", "editions").out)))
    assert {row["ruleset"] for row in editions} == set(simcore.rulesets())
    assert "belongs to an edition" in cli("rulesets", "--table", "units").problem
    assert "leave the ruleset out" in cli("rulesets", "mass_battle", "--table", "editions").problem
    assert cli("rulesets", "mass_battle", "--out", tmp_path).out.count(".csv") == 2


def test_prices_of_a_run(cli: Cli, folder: Path, tmp_path: Path) -> None:
    assert ExportTables.names == exporting.TABLES
    (folder / "prices.json").unlink(missing_ok=True)
    assert "prices.csv" not in cli("export", folder, "--out", tmp_path / "before").out
    problem = cli("export", folder, "--table", "duels").problem
    assert problem.endswith(f"has no prices; make them with: simcore price {folder}")
    priced = ("price", folder, "--sizes", "4", "--units", "tank")
    printed = cli(*priced, "--table", "prices").out
    assert cli("export", folder, "--table", "prices").out == printed
    duels = cli("export", folder, "--table", "duels").out
    assert cli(*priced, "--table", "duels").out == duels
    answer = cli("export", folder, "--out", tmp_path / "after", "--against", folder)
    assert [line.rsplit("/", 1)[1] for line in answer.out.splitlines()] == [f"{name}.csv" for name in exporting.TABLES]


@pytest.mark.parametrize(
    "words",
    [
        ("price", "--units", "tank"),
        ("value", *DUEL),
        ("need", "infantry", "2 infantry"),
        ("odds", *DUEL),
        ("rulesets",),
        ("game", "nowhere"),
        ("compare", "nowhere", "nowhere"),
    ],
    ids=lambda words: words[0],
)
def test_options_that_do_not_go_together(cli: Cli, words: tuple[str, ...]) -> None:
    assert cli(*words, "--table", "tabel").problem.startswith('--table: unknown table "tabel"; tables: ')
    assert cli(*words, "--format", "csv").problem.startswith("--format: is for tables")
    assert cli(*words, "--out", "somewhere", "--json").problem.startswith("--json: gives one object")


def test_a_wrong_table_gets_a_near_match(cli: Cli) -> None:
    assert '"price" (did you mean "prices"?)' in cli("price", "--table", "price").problem
