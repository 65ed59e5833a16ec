"""Tables for other programs, and scenarios as strings."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

import analysis
from analysis.exporting import COMPARED, PRICED, TABLES, table_of
from tests.analysis.conftest import FOREIGN, HOSTILE
from tests.analysis.folders import Mix, battlefield, write_columns

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Cli

NAMES = (*FOREIGN, *HOSTILE, '=1+1;"x",\ty', "+7")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    mixes = [Mix(name, f"{place + 1} infantry", 3 * place + 3) for place, name in enumerate(NAMES)]
    columns = battlefield(mixes, mixes[:2], grid={"edition.tank.cost": [5, 6]})
    columns["status"][1] = "failed"
    columns["error"][1] = 'no unit "x",\nreally'
    for name, values in columns.items():
        if name.startswith(("n_", "p_")) or name.endswith(("_mean", "_sd")):
            columns[name] = np.where(columns["status"] == "ok", values, np.nan)
    return write_columns(tmp_path_factory.mktemp("run") / "run", columns, grid={"edition.tank.cost": [5, 6]})


@pytest.mark.parametrize("table", [name for name in TABLES if name not in PRICED])
def test_tables_come_back(cli: Cli, run: Path, table: str) -> None:
    words = ["export", run, "--table", table, *(["--against", run] if table in COMPARED else [])]
    summary = analysis.summarize(run)
    frame = table_of(table, summary, analysis.compare(run, run) if table in COMPARED else None)
    rows = list(csv.reader(io.StringIO(cli(*words).out, newline="")))
    assert rows[0] == list(frame.columns)
    assert len(rows) == len(frame) + 1
    objects = json.loads(cli(*words, "--format", "json").out)
    assert len(objects) == len(frame)
    assert all(list(found) == rows[0] for found in objects)
    for row, found in zip(rows[1:], objects, strict=True):
        for text, value in zip(row, found.values(), strict=True):
            if isinstance(value, float):
                assert float(text) == value, "all digits"
            elif value is None:
                assert text == ""
            else:
                assert text == (str(value).lower() if isinstance(value, bool) else str(value))
    if table in {"matchups", "mixes", "comparison"}:
        names = {found[key] for found in objects for key in ("mix", "attacker") if key in found}
        assert set(NAMES) <= names


def test_into_files_and_folders(cli: Cli, run: Path, tmp_path: Path) -> None:
    target = tmp_path / "mixes.csv"
    answer = cli("export", run, "--table", "mixes", "--out", target)
    assert answer.out == f"{target}\n"
    assert target.read_text(encoding="utf-8").startswith("grid.edition.tank.cost,")
    answer = cli("export", run, "--out", tmp_path / "all", "--format", "json", "--against", run)
    assert sorted(path.name for path in (tmp_path / "all").iterdir()) == [
        "changes.json", "comparison.json", "game.json", "matchups.json", "mix_comparison.json", "mixes.json",
        "residuals.json", "restricted.json", "survivors.json", "verdicts.json",
    ]  # fmt: skip
    assert len(answer.out.splitlines()) == 10


def test_what_cannot_be_exported(cli: Cli, run: Path, tmp_path: Path) -> None:
    assert 'unknown table "mixs" (did you mean "mixes"?)' in cli("export", run, "--table", "mixs").problem
    assert "needs another run" in cli("export", run, "--table", "comparison").problem
    assert "needs --out" in cli("export", run).problem
    assert "cannot be written" in cli("export", run, "--table", "mixes", "--out", tmp_path / "no" / "x.csv").problem


def test_what_is_no_file_stays_what_it_is(cli: Cli, run: Path, tmp_path: Path) -> None:
    device = tmp_path / "device"
    device.symlink_to("/dev/full")
    answer = cli("export", run, "--table", "mixes", "--out", device)
    assert answer.code == 2
    assert answer.problem == f"{device}: cannot be written: No space left on device"
    assert device.is_char_device()
    device.unlink()
    device.symlink_to("/dev/null")
    assert cli("report", run, "--out", device).code == 0
    assert device.is_char_device()
    assert [path.name for path in tmp_path.iterdir()] == ["device"]


def test_a_link_leads_to_what_is_written(cli: Cli, run: Path, tmp_path: Path) -> None:
    target, link = tmp_path / ("x" * 251 + ".csv"), tmp_path / "latest.csv"
    target.touch()
    link.symlink_to(target.name)
    assert cli("export", run, "--table", "mixes", "--out", link).out == f"{link}\n"
    assert link.is_symlink()
    assert target.read_text(encoding="utf-8").startswith("grid.edition.tank.cost,")
    problem = cli("export", run, "--table", "mixes", "--out", target / "x.csv").problem
    assert problem == f"{target / 'x.csv'}: cannot be written: Not a directory"


def test_a_shared_scenario_takes_the_place_of_a_file(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "battle.toml"
    path.write_text('edition = "revised"\n[attacker]\nunits = "3 infantry"\n[defender]\nunits = "2 infantry"\n')
    text = cli("share", path).out.strip()
    assert cli("odds", text, "--json").json == cli("odds", path, "--json").json
    assert cli("replay", text).out == cli("replay", path).out
    shared = cli("share", "3 infantry", "2 infantry", "--edition", "revised", "--json").json
    assert shared["scenario"]["edition"] == "revised"
    assert cli("share", shared["shared"]).out.strip() == shared["shared"]
    assert "shared scenario: is damaged or cut" in cli("odds", text[:-3]).problem
    assert 'unknown unit "dragon"' in cli("share", "3 dragon", "2 infantry").problem


@pytest.mark.parametrize("out", [".", "/"])
def test_a_folder_is_no_file_to_write(cli: Cli, run: Path, out: str) -> None:
    assert "is a folder, not a file" in cli("export", run, "--table", "mixes", "--out", out).problem
    answer = cli("report", run, "--out", out)
    assert answer.code == 2
    assert "is a folder, not a file" in answer.err
