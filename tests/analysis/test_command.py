"""The command that computes a row again."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import pytest

import analysis
from analysis import command
from tests.analysis.folders import Mix, matchup, write

if TYPE_CHECKING:
    from pathlib import Path

ONE, TWO = Mix("one", "10 infantry"), Mix("two", "5 tank")
COUNTS = {"attacker_wins": 60, "defender_wins": 40}


def words(folder: Path, place: int = 0) -> list[str]:
    run = analysis.load(folder)
    row = {str(name): run.matchups[name].iloc[place] for name in run.matchups.columns}
    return shlex.split(command.options(run, row))


def test_a_plain_run_needs_edition_battles_and_seed(tmp_path: Path) -> None:
    folder = write(tmp_path / "run", [matchup(ONE, TWO, COUNTS)])
    assert words(folder) == ["--edition", "spring1942", "--method", "simulate", "--battles", "100", "--seed", "7"]


def test_a_merged_run_is_repeated_with_its_first_seed(tmp_path: Path) -> None:
    folder = write(tmp_path / "run", [matchup(ONE, TWO, COUNTS)], seed="7, 8")
    assert words(folder)[-2:] == ["--seed", "7"]


def test_exact_rows_need_no_battles(tmp_path: Path) -> None:
    rows = [matchup(ONE, TWO, COUNTS, method="exact"), matchup(TWO, ONE, COUNTS)]
    folder = write(tmp_path / "run", rows, method="auto")
    assert words(folder) == ["--edition", "spring1942", "--method", "exact"]
    assert words(folder, 1)[2:] == ["--method", "simulate", "--battles", "100", "--seed", "7"]
    # For all rows at once: what the default method decides is what the sweep decided.
    run = analysis.load(folder)
    any_row = {"edition": "spring1942", "battles": 0, "method": None}
    assert command.options(run, any_row) == "--edition spring1942 --battles 100 --seed 7"


def test_what_differs_from_the_defaults_is_added(tmp_path: Path) -> None:
    scenario = {
        "edition": "spring1942",
        "low_luck": "both",
        "cycle_limit": 3,
        "switches": {"aa_choice": "owner"},
        "attacker": {"loss_order": ["tank", "infantry"], "retreat": {"possible": False}},
        "edition_changes": {"tank.cost": 5},
    }
    sweep = {"sweep": {"editions": {"house": {"base": "spring1942"}}}, "scenario": scenario}
    folder = write(tmp_path / "run", [matchup(ONE, TWO, COUNTS)], sweep=sweep, pairing="common")
    assert words(folder)[8:] == [
        "--pairing", "common",
        "--edition-file", "editions.toml",
        "--set", "low_luck=both",
        "--set", "cycle_limit=3",
        "--set", "switches.aa_choice=owner",
        "--set", 'attacker.loss_order=["tank", "infantry"]',
        "--set", "attacker.retreat.possible=false",
        "--set", 'edition_changes."tank.cost"=5',
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("key", "values", "column", "expected"),
    [
        ("edition.tank.cost", [5, 6], 6, 'edition_changes."tank.cost"=6'),
        ("scenario.attacker.keep_land", [0, 1], 1, "attacker.keep_land=1"),
        ("scenario.low_luck", ["none", "both"], "both", "low_luck=both"),
        ("scenario.attacker.loss_order", [["tank"], "cheapest"], '["tank"]', 'attacker.loss_order=["tank"]'),
        ("scenario.attacker.loss_order", [["tank"], "cheapest"], "cheapest", "attacker.loss_order=cheapest"),
        ("scenario.attacker.retreat.possible", [True, False], False, "attacker.retreat.possible=false"),
        ("scenario.a", [1, "1"], "1", "a=1"),
        ("scenario.a", [[{"b": "c"}]], '[{"b": "c"}]', 'a=[{"b" = "c"}]'),
        ("scenario.note", ["$(rm) 'x'"], "$(rm) 'x'", "note=\"$(rm) 'x'\""),
    ],
)
def test_values_of_the_grid(tmp_path: Path, key: str, values: list[Any], column: Any, expected: str) -> None:
    row = {**matchup(ONE, TWO, COUNTS), f"grid.{key}": column}
    folder = write(tmp_path / "run", [row], grid={key: values})
    assert words(folder)[-2:] == ["--set", expected]


def test_tables_of_the_grid_are_set_value_by_value(tmp_path: Path) -> None:
    key, values = "scenario.attacker.retreat", [{"after_cycles": 2, "possible": True}]
    row = {**matchup(ONE, TWO, COUNTS), f"grid.{key}": '{"after_cycles": 2, "possible": true}'}
    folder = write(tmp_path / "run", [row], grid={key: values})
    assert words(folder)[-4:] == [
        "--set", "attacker.retreat.after_cycles=2", "--set", "attacker.retreat.possible=true",
    ]  # fmt: skip


def test_an_edition_of_the_grid_is_the_rows_own(tmp_path: Path) -> None:
    row = {**matchup(ONE, TWO, COUNTS), "grid.scenario.edition": "revised"}
    folder = write(tmp_path / "run", [row], grid={"scenario.edition": ["spring1942", "revised"]})
    run = analysis.load(folder)
    assert command.options(run, {"edition": "revised", "battles": 100}).startswith("--edition revised --battles 100")


def test_another_ruleset_is_named(tmp_path: Path) -> None:
    run = analysis.load(write(tmp_path / "run", [matchup(ONE, TWO, COUNTS)], ruleset="mass_battle", battles=5))
    assert command.options(run, {}) == "--ruleset mass_battle --edition spring1942 --battles 5 --seed 7"


def test_units_are_quoted_for_any_shell() -> None:
    assert command.quoted("10 infantry, 5 tank") == '"10 infantry, 5 tank"'
    for text in ("$(reboot)", '"; reboot; "', "`x`", "it's"):
        assert shlex.split(command.quoted(text)) == [text]
