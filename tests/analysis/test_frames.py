"""Reading results folders, whole and damaged."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

import analysis
from simcore.errors import StoreError
from simcore.run.check import file_digest
from simcore.run.manifest import SCHEMA
from tests.analysis.folders import Mix, battlefield, matchup, some_mixes, write, write_columns

if TYPE_CHECKING:
    from pathlib import Path

ONE, TWO = Mix("one", "10 infantry"), Mix("two", "5 tank")
COUNTS = {"attacker_wins": 60, "defender_wins": 40}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path / "run", [matchup(ONE, TWO, COUNTS), matchup(TWO, TWO, None, error="no")])


def _change(folder: Path, **fields: Any) -> None:
    file = folder / "manifest.json"
    manifest = {**json.loads(file.read_text()), **fields}
    file.write_text(json.dumps({key: value for key, value in manifest.items() if value is not ...}))


def test_a_whole_folder(folder: Path) -> None:
    run = analysis.load(folder)
    assert run.name == run.title == "land-30"
    assert len(run.matchups) == 2
    assert set(run.mixes["side"]) == {"attacker", "defender"}
    assert run.survivors["mean"].tolist() == [5.0, 2.5]
    assert run.survivors_of([0])["unit"].tolist() == ["infantry", "tank"]
    assert len(run.survivors_of([1])) == 0
    assert analysis.load(str(folder)).manifest == run.manifest


def test_title_of_the_report(folder: Path) -> None:
    _change(folder, report={"title": "Spring"})
    assert analysis.load(folder).title == "Spring"
    _change(folder, report=None, name="")
    assert analysis.load(folder).title == "run"


def test_how_a_run_prints(folder: Path) -> None:
    _change(folder, name="wild\x1b[2J<b>", edition="<i>")
    run = analysis.load(folder)
    text = repr(run)
    assert "2 (2 attacker mixes, 1 defender mix), 1 failed" in text
    assert "\x1b" not in text
    assert all(len(line) < 120 for line in text.splitlines())
    page = run._repr_html_()
    assert "<b>]" not in page
    assert "&lt;i&gt;" in page
    assert "\x1b" not in page


def test_grid_columns(tmp_path: Path) -> None:
    grid: dict[str, list[Any]] = {"edition.tank.cost": [5, 6], "scenario.low_luck": ["none", "both"]}
    rows = [
        matchup(ONE, TWO, COUNTS, edition__tank__cost=cost, scenario__low_luck=luck)
        for cost in (5, 6)
        for luck in ("none", "both")
    ]
    run = analysis.load(write(tmp_path / "run", rows, grid=grid))
    assert run.grid_columns == ("grid.edition.tank.cost", "grid.scenario.low_luck")
    assert "edition.tank.cost 5, 6" in repr(run)


def test_missing_folder_and_file_in_its_place(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="nowhere: no such folder"):
        analysis.load(tmp_path / "nowhere")
    (tmp_path / "file").write_text("x")
    with pytest.raises(StoreError, match="not a folder"):
        analysis.load(tmp_path / "file")
    with pytest.raises(StoreError, match=r"manifest\.json: missing; .* is not the results folder"):
        analysis.load(tmp_path)


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b"null", b"\xff\xfe", b"[" * 100_000, b'{"schema": "1"}'])
def test_damaged_manifest(folder: Path, content: bytes) -> None:
    (folder / "manifest.json").write_bytes(content)
    with pytest.raises(StoreError, match=r"manifest\.json: damaged"):
        analysis.load(folder)


def test_newer_and_unknown_schema(folder: Path) -> None:
    _change(folder, schema=SCHEMA + 1)
    with pytest.raises(StoreError, match=rf"manifest\.json: schema {SCHEMA + 1} is newer .* install a newer simcore"):
        analysis.load(folder)
    _change(folder, schema=0)
    with pytest.raises(StoreError, match="schema 0 is not known"):
        analysis.load(folder)
    _change(folder, schema=True)
    with pytest.raises(StoreError, match="no schema number"):
        analysis.load(folder)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"outcomes": []}, "outcomes"),
        ({"outcomes": [1]}, "outcomes"),
        ({"outcomes": ...}, "outcomes"),
        ({"ruleset": ...}, "ruleset"),
        ({"wins": {"attacker": ["attacker_wins"], "defender": [1]}}, "wins"),
        ({"grid": [1]}, "grid"),
        ({"grid": {"a": 1}}, "grid"),
    ],
)
def test_manifest_fields(folder: Path, fields: dict[str, Any], words: str) -> None:
    _change(folder, **fields)
    with pytest.raises(StoreError, match=f'manifest.json: damaged, "{words}"'):
        analysis.load(folder)


def test_an_unfinished_sweep_says_how_to_go_on(folder: Path) -> None:
    _change(folder, state="running")
    (folder / "matchups.parquet").unlink()
    with pytest.raises(StoreError, match="not finished; continue it with: simcore resume"):
        analysis.load(folder)


@pytest.mark.parametrize("table", ["matchups", "mixes", "survivors"])
def test_missing_and_damaged_tables(folder: Path, table: str) -> None:
    file = folder / f"{table}.parquet"
    whole = file.read_bytes()
    for content in (b"", b"PAR1", whole[: len(whole) // 2], whole[:-20] + b"\0" * 20, b"text\n" * 99):
        file.write_bytes(content)
        with pytest.raises(StoreError, match=rf"{table}\.parquet: damaged"):
            analysis.load(folder)
    file.unlink()
    with pytest.raises(StoreError, match=rf"{table}\.parquet: missing"):
        analysis.load(folder)


def test_flipped_bytes_never_give_another_error(folder: Path) -> None:
    file = folder / "matchups.parquet"
    whole = file.read_bytes()
    for place in range(4, len(whole), max(len(whole) // 60, 1)):
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        try:
            analysis.load(folder)
        except StoreError as error:
            assert "matchups.parquet" in str(error)  # noqa: PT017 - either outcome is right


def test_survivors_lost_after_loading(folder: Path) -> None:
    run = analysis.load(folder)
    (folder / "survivors.parquet").unlink()
    with pytest.raises(StoreError, match=r"survivors\.parquet: missing"):
        _ = run.survivors
    (folder / "survivors.parquet").write_bytes(b"x")
    with pytest.raises(StoreError, match=r"survivors\.parquet: damaged"):
        run.survivors_of([0])


def test_missing_columns_are_named(folder: Path) -> None:
    file = folder / "matchups.parquet"
    frame = pd.read_parquet(file)
    frame.drop(columns="swing_sd").to_parquet(file)
    with pytest.raises(StoreError, match=r'matchups\.parquet: damaged, column "swing_sd" is missing'):
        analysis.load(folder)
    frame[["matchup"]].to_parquet(file)
    with pytest.raises(StoreError, match=r'"attacker", "defender", "attacker_units" and \d+ more is missing'):
        analysis.load(folder)
    frame.assign(swing_mean="many").to_parquet(file)
    with pytest.raises(StoreError, match='column "swing_mean" does not hold numbers'):
        analysis.load(folder)


def test_a_folder_where_a_file_should_be(folder: Path) -> None:
    for name in ("mixes.parquet", "manifest.json"):
        (folder / name).unlink()
        (folder / name).mkdir()
        with pytest.raises(StoreError, match=name):
            analysis.load(folder)


def test_many_matchups(tmp_path: Path) -> None:
    columns = battlefield(some_mixes(60, 1), some_mixes(60, 2))
    run = analysis.load(write_columns(tmp_path / "run", columns))
    assert len(run.matchups) == 3_600
    assert len(run.mixes) == 120


@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        ("swing_mean", float("inf"), 'column "swing_mean" holds an infinite number'),
        ("swing_sd", "x", 'column "swing_sd" does not hold numbers'),
        ("attacker", None, 'column "attacker" lacks a name'),
        ("defender_units", None, 'column "defender_units" lacks a name'),
        ("matchup", 1, 'column "matchup" has a number twice'),
    ],
)
def test_tables_with_values_that_no_sweep_writes(folder: Path, column: str, value: Any, words: str) -> None:
    file = folder / "matchups.parquet"
    pd.read_parquet(file).assign(**{column: value}).to_parquet(file)
    with pytest.raises(StoreError, match=rf"matchups\.parquet: .*{words}"):
        analysis.load(folder)


@pytest.mark.parametrize(("column", "value"), [("mean", "x"), ("mean", float("inf")), ("start", float("nan"))])
def test_survivors_that_no_sweep_writes(folder: Path, column: str, value: Any) -> None:
    file = folder / "survivors.parquet"
    pd.read_parquet(file).assign(**{column: value}).to_parquet(file)
    with pytest.raises(StoreError, match=r"survivors\.parquet: "):
        analysis.load(folder).survivors_of([0])


def _sign(folder: Path) -> None:
    tables = ("matchups", "mixes", "survivors")
    _change(folder, tables={name: file_digest(folder / f"{name}.parquet") for name in tables})


@pytest.mark.parametrize("table", ["matchups", "mixes", "survivors"])
def test_a_table_of_another_run_is_refused(
    folder: Path, tmp_path: Path, table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _sign(folder)
    assert len(analysis.load(folder).matchups) == 2
    counts = {"attacker_wins": 77, "defender_wins": 3}
    other = write(tmp_path / "other", [matchup(ONE, TWO, counts), matchup(TWO, ONE, counts)])
    shutil.copy(other / f"{table}.parquet", folder)
    with pytest.raises(StoreError, match=rf"{table}\.parquet: is not the table that its manifest tells of"):
        analysis.load(folder)
    # Reading a table of many millions of rows twice would take too long; `simcore doctor` does.
    monkeypatch.setattr("analysis.frames._CHECKED_BYTES", 10)
    assert len(analysis.load(folder).matchups) == 2


def test_rows_are_counted_at_any_size(folder: Path) -> None:
    _change(folder, matchups=3)
    with pytest.raises(StoreError, match="2 matchups where its manifest tells of 3"):
        analysis.load(folder)
