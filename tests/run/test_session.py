"""Whole sweeps: from the file to the tables, resumed, repeated, refused."""

from __future__ import annotations

import dataclasses
import errno
import io
import json
import os
import re
import shutil
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pyarrow.parquet as pq
import pytest

import simcore
from simcore import api
from simcore.errors import ResumeMismatchError, ScenarioError, StoreError
from simcore.run import plan as plan_module
from simcore.run.session import SweepInterrupted, SweepResult, results_folder, resume, sweep
from simcore.run.store import Store
from simcore.scenario import load_sweep
from tests.run.sweeps import TABLE_FILES, digests, parts_of, small

SWEEP_TOML = """
[sweep]
name = "from file"
battles = 500
edition = "house"
edition_file = "house.toml"
[attacker]
mixes = ["2 infantry"]
[defender]
mixes = [{ name = "line", units = "1 tank", weight = 2 }]
[grid]
"edition.tank.cost" = [5, 6]
[report]
title = "Title"
"""
HOUSE_TOML = """
[house]
base = "spring1942"
[house.units]
infantry = { attack = 3 }
"""


pytestmark = pytest.mark.usefixtures("short_parts")


def matchups_of(folder: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.read_table(folder / "matchups.parquet").to_pylist()
    return rows


def manifest_of(folder: Path) -> dict[str, Any]:
    """Return the manifest without its checksum, so that it can be changed and written back."""
    content: dict[str, Any] = json.loads((folder / "manifest.json").read_text())
    del content["checksum"]
    return content


def text_of(folder: Path) -> str:
    """Return the manifest as text without its checksum."""
    return re.sub(r'\n "checksum": "[0-9a-f]{64}",', "", (folder / "manifest.json").read_text())


def test_a_sweep_writes_what_is_promised(tmp_path: Path) -> None:
    result = sweep(small(), tmp_path / "out", threads=1)
    assert isinstance(result, SweepResult)
    assert dataclasses.replace(result, elapsed_s=0.0) == SweepResult(
        name="small",
        out=tmp_path / "out",
        matchups=6,
        failed=0,
        solved=0,
        battles=18_000,
        parts_computed=6,
        parts_reused=0,
        reports=[],
    )
    assert re.match(r"small: 6 matchups, 18,000 battles in 0:0\d:\d\d \(6 parts computed\): ", str(result))
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(
        [".lock", "manifest.json", "parts", *TABLE_FILES]
    )
    manifest = manifest_of(tmp_path / "out")
    assert manifest["state"] == "complete"
    assert manifest["finished"] >= manifest["created"]
    assert manifest["mixes"]["defender"] == [
        {"name": "3 infantry", "units": "3 infantry", "weight": 1.0},
        {"name": "1 infantry, 1 artillery", "units": "1 infantry, 1 artillery", "weight": 1.0},
    ]
    wanted = {"schema": 2, "name": "small", "ruleset": "general_combat", "edition": "spring1942", "failed": 0}
    wanted |= {"method": "simulated", "battles": 3_000, "seed": 7, "pairing": "matchup", "grid": {}, "matchups": 6}
    assert {key: manifest[key] for key in wanted} == wanted
    assert set(manifest["versions"]) == {"simcore", "numba", "llvmlite", "numpy", "pyarrow", "python", "rng"}
    assert manifest["outcomes"][0] == "attacker_wins"
    assert len(manifest["source_digest"]) == 16


def test_figures_are_those_of_simulate(undisturbed: Path) -> None:
    rows = matchups_of(undisturbed)
    encoded = api.encode(
        [{"attacker": {"units": row["attacker_units"]}, "defender": {"units": row["defender_units"]}} for row in rows]
    )
    run = api.simulate(encoded, battles=3_000, seed=7, threads=1)
    for i, row in enumerate(rows):
        for outcome in encoded.ruleset.outcomes:
            assert row[f"n_{outcome}"] == run.column(f"outcome.{outcome}")[i]
        assert row["swing_mean"] == run.column("swing.sum")[i] / 3_000


def test_a_large_matchup_is_added_up_over_its_parts(tmp_path: Path) -> None:
    config = small(sweep={"battles": 30_000}, attacker={"mixes": ["2 tank"]}, defender={"mixes": ["3 infantry"]})
    result = sweep(config, tmp_path, threads=1)
    assert result.parts_computed == 8
    encoded = api.encode([{"attacker": {"units": "2 tank"}, "defender": {"units": "3 infantry"}}])
    run = api.simulate(encoded, battles=30_000, seed=7, threads=1)
    (row,) = matchups_of(tmp_path)
    assert row["n_attacker_wins"] == run.column("outcome.attacker_wins")[0]
    assert row["battles"] == 30_000


@pytest.mark.parametrize("threads", [1, 2, None])
def test_bytes_do_not_depend_on_threads(tmp_path: Path, undisturbed: Path, threads: int | None) -> None:
    sweep(small(), tmp_path, threads=threads)
    assert digests(tmp_path) == digests(undisturbed)
    assert [path.read_bytes() for path in parts_of(tmp_path)] == [path.read_bytes() for path in parts_of(undisturbed)]


def test_bytes_do_not_depend_on_the_folder_or_the_time(tmp_path: Path, undisturbed: Path) -> None:
    sweep(small(sweep={"out": str(tmp_path / "elsewhere")}, report={"title": "T"}), threads=1)
    assert digests(tmp_path / "elsewhere") == digests(undisturbed)


def test_figures_do_not_depend_on_the_order(tmp_path: Path, undisturbed: Path) -> None:
    config = small()
    for side in ("attacker", "defender"):
        config[side]["mixes"].reverse()
    sweep(config, tmp_path, threads=1)

    def by_name(folder: Path) -> dict[tuple[str, str], dict[str, Any]]:
        return {(row["attacker"], row["defender"]): {**row, "matchup": 0} for row in matchups_of(folder)}

    assert by_name(tmp_path) == by_name(undisturbed)


def test_figures_do_not_depend_on_how_parts_are_cut(
    tmp_path: Path, undisturbed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan_module, "PART_BATTLES", 2**21)
    assert sweep(small(), tmp_path, threads=1).parts_computed == 1
    assert digests(tmp_path) == digests(undisturbed)


def test_a_finished_sweep_is_only_checked(done: Path, undisturbed: Path) -> None:
    for name in TABLE_FILES:
        (done / name).write_bytes(b"torn")
    result = sweep(small(), done, threads=1)
    assert (result.parts_computed, result.parts_reused, result.reports) == (0, 6, [])
    assert "6 found" in str(result)
    assert digests(done) == digests(undisturbed)
    assert manifest_of(done)["created"] == manifest_of(undisturbed)["created"]


def test_missing_parts_are_the_difference(done: Path, undisturbed: Path) -> None:
    for path in parts_of(done)[::2]:
        path.unlink()
    result = resume(done, threads=1)
    assert (result.parts_computed, result.parts_reused, result.reports) == (3, 3, [])
    assert digests(done) == digests(undisturbed)


def test_damaged_parts_are_reported_and_computed_again(done: Path, undisturbed: Path) -> None:
    torn, altered, foreign, swapped, *_ = parts_of(done)
    torn.write_bytes(torn.read_bytes()[:-20])
    data = bytearray(altered.read_bytes())
    data[200] ^= 1
    altered.write_bytes(data)
    foreign.write_text("something else")
    shutil.copy(parts_of(done)[-1], swapped)
    (done / "parts" / "notes.txt").write_text("mine")
    result = resume(done, threads=1)
    assert (result.parts_computed, result.parts_reused) == (4, 2)
    assert len(result.reports) == 5
    for path in (torn, altered, foreign, swapped, done / "parts" / "notes.txt"):
        assert sum(str(path) in line for line in result.reports) == 1
    assert digests(done) == digests(undisturbed)
    assert (done / "parts" / "notes.txt").read_text() == "mine"
    assert resume(done, threads=1).parts_computed == 0


def test_a_damaged_manifest_is_written_anew(done: Path, undisturbed: Path) -> None:
    (done / "manifest.json").write_bytes(b'{"schema": 1, "na')
    with pytest.raises(StoreError, match="damaged"):
        resume(done)
    result = sweep(small(), done, threads=1)
    assert len(result.reports) == 1
    assert result.parts_reused == 6
    assert manifest_of(done)["state"] == "complete"
    assert digests(done) == digests(undisturbed)


@pytest.mark.parametrize(
    ("tables", "words"),
    [
        ({"sweep": {"battles": 3_001}}, "sweep.battles was 3000, is 3001"),
        ({"sweep": {"seed": 8, "pairing": "common"}}, 'sweep.pairing was "matchup", is "common"; sweep.seed was 7'),
        ({"attacker": {"mixes": ["2 tank"]}}, "attacker.mixes was"),
        ({"grid": {"edition.tank.cost": [5]}}, "grid.edition.tank.cost was nothing, is [5]"),
        ({"scenario": {"low_luck": "aa"}}, 'scenario.low_luck was nothing, is "aa"'),
        ({"sweep": {"name": "x", "seed": 8, "battles": 9, "edition": "aa50"}}, "and 1 more"),
    ],
)
def test_the_folder_of_another_sweep_is_refused(done: Path, tables: dict[str, Any], words: str) -> None:
    before = {path: path.read_bytes() for path in done.rglob("*") if path.is_file()}
    with pytest.raises(ResumeMismatchError) as caught:
        sweep(small(**tables), done, threads=1)
    assert str(caught.value).startswith(f"{done}: holds another sweep (")
    assert words in str(caught.value)
    assert {path: path.read_bytes() for path in done.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(("key", "words"), [("ruleset_version", "ruleset version"), ("rng", "random numbers")])
def test_results_of_other_rules_are_refused(done: Path, key: str, words: str) -> None:
    manifest = manifest_of(done)
    (manifest if key in manifest else manifest["versions"])[key] = "0"
    (done / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(ResumeMismatchError, match=words):
        resume(done)


def test_starting_afresh_replaces_whatever_sweep_is_there(done: Path, undisturbed: Path) -> None:
    (done / "report.html").write_text("old")
    (done / "mine.txt").write_text("mine")
    config = small(sweep={"battles": 1_000})
    result = sweep(config, done, resume=False, threads=1)
    assert (result.parts_computed, result.parts_reused, result.reports) == (2, 0, [])
    assert len(parts_of(done)) == 2
    assert not (done / "report.html").exists()
    assert (done / "mine.txt").exists()
    assert digests(done) != digests(undisturbed)
    result = sweep(small(), done, resume=False, threads=1)
    assert result.parts_computed == 6
    assert digests(done) == digests(undisturbed)


def test_a_folder_is_enough_to_resume(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "night.toml").write_text(SWEEP_TOML)
    (tmp_path / "files" / "house.toml").write_text(HOUSE_TOML)
    monkeypatch.chdir(tmp_path)
    result = simcore.sweep("files/night.toml", threads=1)
    assert result.out == Path("results/from file")
    rows = matchups_of(result.out)
    assert [(row["grid.edition.tank.cost"], row["defender_cost"]) for row in rows] == [(5, 5), (6, 6)]
    assert [row["edition"] for row in rows] == ["house", "house"]
    before = digests(result.out)
    shutil.rmtree(tmp_path / "files")
    shutil.move(result.out, tmp_path / "moved")
    for path in parts_of(tmp_path / "moved"):
        path.unlink()
    again = resume(tmp_path / "moved", threads=1)
    assert again.parts_computed == result.parts_computed
    assert digests(tmp_path / "moved") == before
    assert manifest_of(tmp_path / "moved")["report"] == {"title": "Title"}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("[]", r"damaged \(not a table\)"),
        ("{}", "not the manifest of a sweep"),
        ('{"schema": 1, "sweep": 3}', "not the manifest of a sweep"),
        ('{"schema": 3, "sweep": {}}', "schema 3 is newer than 2, .*; install a newer simcore"),
        ('{"schema": 3, "sweep": {}, "versions": {"simcore": "9.1"}}', "this version reads; simcore 9.1 wrote it"),
    ],
)
def test_resuming_what_is_no_sweep(tmp_path: Path, content: str, words: str) -> None:
    (tmp_path / "manifest.json").write_text(content)
    with pytest.raises(StoreError, match=words):
        resume(tmp_path)


def test_the_folder_of_a_newer_version_is_left_alone(done: Path) -> None:
    (done / "manifest.json").write_text(json.dumps({**manifest_of(done), "schema": 3}))
    before = {path: path.read_bytes() for path in done.rglob("*.*") if path.is_file()}
    for is_resumed in (True, False):
        with pytest.raises(StoreError, match="schema 3 is newer than 2"):
            sweep(small(), done, resume=is_resumed)
    assert {path: path.read_bytes() for path in done.rglob("*.*") if path.is_file()} == before


def test_resuming_a_manifest_whose_sweep_cannot_be_used(done: Path) -> None:
    manifest = manifest_of(done)
    manifest["sweep"]["attacker"]["mixes"] = ["2 tnk"]
    (done / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(ScenarioError, match=r"manifest.json: attacker.mixes\[0\]"):
        resume(done)


def test_resuming_nothing(tmp_path: Path) -> None:
    for folder in (tmp_path / "none", tmp_path):
        with pytest.raises(StoreError, match="holds no sweep"):
            resume(folder)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "manifest.json").mkdir()
    with pytest.raises(StoreError, match="Is a directory"):
        resume(tmp_path)


def test_a_manifest_of_something_else_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text('{"name": "my-web-app"}')
    with pytest.raises(StoreError, match="not the manifest of a sweep"):
        sweep(small(), tmp_path)
    with pytest.raises(StoreError, match="not the manifest of a sweep"):
        sweep(small(), tmp_path, resume=False)
    assert (tmp_path / "manifest.json").read_text() == '{"name": "my-web-app"}'


@pytest.mark.parametrize("text", ["1e999", "NaN", "{}", '"\\ud800"', "null"])
def test_a_manifest_with_an_impossible_date_can_be_resumed(done: Path, text: str) -> None:
    path = done / "manifest.json"
    path.write_text(re.sub(r'"created": "[^"]+"', lambda _: f'"created": {text}', text_of(done)))
    resume(done, threads=1)
    assert manifest_of(done)["created"].startswith("20")


@pytest.mark.parametrize("text", ["1e999", "NaN", "-5", '"long"', "null"])
def test_a_manifest_with_an_impossible_time_can_be_resumed(done: Path, text: str) -> None:
    path = done / "manifest.json"
    path.write_text(re.sub(r'"elapsed_s": [\d.]+', f'"elapsed_s": {text}', text_of(done)))
    resume(done, threads=1)
    assert 0 <= manifest_of(done)["elapsed_s"] < 60


@pytest.mark.parametrize("name", ["..", ".", "a/b", "a\\b", "/etc", " a", "a\n", "a\x00b", "a\x7f", "\u202ea"])
def test_names_that_are_no_folder_names(tmp_path: Path, name: str) -> None:
    with pytest.raises(ScenarioError, match="usable as the name of a folder") as caught:
        sweep(small(sweep={"name": name}), tmp_path)
    assert caught.value.field == "sweep.name"
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("out", ["", "a\0b", "a\ud800b"])
def test_paths_that_are_none(out: str) -> None:
    with pytest.raises(ScenarioError, match="must be the path of a folder"):
        sweep(small(), out)


def test_where_results_go() -> None:
    config = load_sweep(small(sweep={"out": "there"}))
    assert results_folder(config) == Path("there")
    assert results_folder(config, "here") == Path("here")
    assert results_folder(load_sweep(small())) == Path("results/small")


@pytest.mark.parametrize("threads", [0, -1])
def test_threads_out_of_range(tmp_path: Path, threads: int) -> None:
    with pytest.raises(ScenarioError, match="threads: must be a whole number from 1 up"):
        sweep(small(), tmp_path / "out", threads=threads)
    assert not (tmp_path / "out").exists()


def test_one_bad_scenario_does_not_stop_the_others(tmp_path: Path) -> None:
    config = small(
        sweep={"battles": 1_000},
        attacker={"mixes": ["", "2 tank"]},
        defender={"mixes": ["", "3 infantry"]},
        grid={"scenario.attacker.keep_land": [0, 2, -1, "x"]},
    )
    result = sweep(config, tmp_path, threads=1)
    rows = matchups_of(tmp_path)
    assert result.matchups == len(rows) == 16
    assert result.failed == sum(row["status"] == "failed" for row in rows) == manifest_of(tmp_path)["failed"]
    assert result.battles == 1_000 * (16 - result.failed)
    status = {(row["grid.scenario.attacker.keep_land"], row["attacker"], row["defender"]): row for row in rows}
    assert "both sides are empty" in status["0", "nothing", "nothing"]["error"]
    assert status["0", "nothing", "3 infantry"]["p_defender_wins"] == 1.0
    assert status["2", "2 tank", "3 infantry"]["status"] == "ok"
    assert "attacker.keep_land" in status["-1", "2 tank", "nothing"]["error"]
    assert "whole number" in status["x", "2 tank", "nothing"]["error"]
    before = digests(tmp_path)
    assert resume(tmp_path, threads=1).parts_reused == result.parts_computed
    assert digests(tmp_path) == before


def test_a_sweep_in_which_everything_fails_still_ends(tmp_path: Path) -> None:
    result = sweep(small(attacker={"mixes": [""]}, defender={"mixes": [""]}), tmp_path)
    assert result.matchups == result.failed == 1
    assert "1 matchups failed" in str(result)
    assert pq.read_table(tmp_path / "survivors.parquet").num_rows == 0
    assert manifest_of(tmp_path)["state"] == "complete"


def test_sums_that_could_overflow_fail_their_matchup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan_module, "PART_BATTLES", 2**21)
    mixes = ["2000 infantry, 2000 tank, 2000 fighter, 2000 bomber", ""]
    config = small(sweep={"battles": 3_000_000, "pairs": [[0, 0]]}, attacker={"mixes": mixes})
    config["grid"] = {"edition.bomber.cost": [1_000]}
    result = sweep(config, tmp_path)
    (row,) = matchups_of(tmp_path)
    assert result.failed == 1
    assert "must stay below 2^63" in row["error"]


def test_a_file_in_place_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    with pytest.raises(StoreError, match="cannot use this as results folder"):
        sweep(small(), tmp_path / "out")
    assert (tmp_path / "out").read_text() == "mine"


def test_two_runs_on_one_folder(done: Path) -> None:
    with Store(done), pytest.raises(StoreError, match="another run is writing to this folder"):
        sweep(small(), done)


def test_a_disk_that_fills_up_keeps_the_parts(
    tmp_path: Path, undisturbed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync = os.fsync
    calls = iter(range(1_000))

    def full(handle: int) -> None:
        # Two syncs for each file: its content and the folder's. The manifest comes first.
        if next(calls) >= 7:
            raise OSError(errno.ENOSPC, "No space left on device")
        sync(handle)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreError, match="No space left on device; every part computed so far is kept"):
        sweep(small(), tmp_path, threads=1)
    monkeypatch.setattr(os, "fsync", sync)
    assert len(parts_of(tmp_path)) >= 2
    assert manifest_of(tmp_path)["state"] == "running"
    assert not any(path.name.endswith(".unfinished") for path in tmp_path.rglob("*"))
    result = resume(tmp_path, threads=1)
    assert result.parts_reused == len(parts_of(undisturbed)) - result.parts_computed >= 2
    assert digests(tmp_path) == digests(undisturbed)


def test_a_part_that_vanishes_while_in_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report_foreign = Store.report_foreign

    def spoil(self: Store, names: set[str]) -> None:
        report_foreign(self, names)
        parts_of(tmp_path)[0].unlink()

    monkeypatch.setattr(Store, "report_foreign", spoil)
    with pytest.raises(StoreError, match="changed while in use; run again"):
        sweep(small(), tmp_path, threads=1)
    monkeypatch.undo()


class Recorder:
    """Progress that remembers what it was told."""

    def __init__(self, stop_after: int = 1_000) -> None:
        self.told: list[Any] = []
        self.stop_after = stop_after

    def start(self, name: str, total: int, unit: str) -> None:
        self.told.append((name, total, unit))

    def advance(self, done: float, *, is_new: bool) -> None:
        self.told.append((done, is_new))
        if len(self.told) > self.stop_after:
            raise KeyboardInterrupt

    def stop(self) -> None:
        self.told.append("stop")


def test_progress_hears_of_every_battle(done: Path) -> None:
    parts_of(done)[0].unlink()
    recorder = Recorder()
    sweep(small(), done, threads=1, progress=recorder)
    assert recorder.told[0] == ("small", 18_000, "battles")
    assert recorder.told[-1] == "stop"
    assert sum(battles for battles, _ in recorder.told[1:-1]) == 18_000
    assert [is_new for _, is_new in recorder.told[1:-1]].count(True) == 1


def test_progress_is_off_unless_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    stream = Terminal()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stderr", stream)
        sweep(small(), tmp_path, threads=1)
        assert stream.getvalue() == ""
        sweep(small(), tmp_path, threads=1, progress=True)
    assert "100%" in stream.getvalue()
    assert capsys.readouterr().out == ""


def test_ctrl_c_leaves_a_folder_that_can_be_resumed(tmp_path: Path, undisturbed: Path) -> None:
    recorder = Recorder(stop_after=3)
    with pytest.raises(SweepInterrupted, match="can be resumed") as caught:
        sweep(small(), tmp_path, threads=1, progress=recorder)
    assert isinstance(caught.value, KeyboardInterrupt)
    assert caught.value.out == tmp_path
    assert recorder.told[-1] == "stop"
    assert manifest_of(tmp_path)["state"] == "running"
    assert len(parts_of(tmp_path)) == 3
    assert not (tmp_path / "matchups.parquet").exists()
    result = resume(tmp_path, threads=1)
    assert (result.parts_computed, result.parts_reused) == (3, 3)
    assert digests(tmp_path) == digests(undisturbed)


def test_ctrl_c_before_anything_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(_: Any) -> NoReturn:
        raise KeyboardInterrupt

    monkeypatch.setattr("simcore.run.session.plan_sweep", stop)
    with pytest.raises(KeyboardInterrupt):
        sweep(small(), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_sweep_file_may_be_given_as_read(tmp_path: Path, undisturbed: Path) -> None:
    sweep(load_sweep(small()), tmp_path, threads=1)
    assert digests(tmp_path) == digests(undisturbed)
    assert np.isclose(manifest_of(tmp_path)["elapsed_s"], 0, atol=60)
