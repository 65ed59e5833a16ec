"""Sweeps that solve some matchups and simulate the others."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import analysis
import simcore
from simcore import api
from simcore.enums import Status
from simcore.errors import ResumeMismatchError
from simcore.run import plan as plan_module
from simcore.run.plan import PART_BATTLES, PART_EFFORT
from simcore.run.session import SweepInterrupted, resume
from simcore.run.store import PartRows, Store
from tests.run.sweeps import digests, parts_of, planned, small
from tests.run.test_session import Recorder, manifest_of

if TYPE_CHECKING:
    from pathlib import Path

BATTLES = 3_000
LIMIT = 14
"""Most states that "auto" solves in these tests: about half of the matchups."""


@pytest.fixture
def tight(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make "auto" solve very small battles only, and even small sweeps have several parts."""
    monkeypatch.setattr("simcore.method.AUTO_STATES", LIMIT)
    monkeypatch.setattr(plan_module, "PART_BATTLES", 4_096)


pytestmark = pytest.mark.usefixtures("tight")


def mixed(**tables: Any) -> dict[str, Any]:
    """Return a sweep with both kinds of matchups."""
    tables["sweep"] = {"method": "auto", **tables.get("sweep", {})}
    return small(**tables)


def rows_of(folder: Path, name: str = "matchups") -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.read_table(folder / f"{name}.parquet").to_pylist()
    return rows


def test_each_matchup_is_what_odds_would_make_of_it(tmp_path: Path) -> None:
    result = simcore.sweep(mixed(), tmp_path, threads=1)
    rows = rows_of(tmp_path)
    assert [row["method"] for row in rows] == ["simulated", "simulated", "exact", "exact", "exact", "exact"]
    assert (result.matchups, result.failed, result.solved, result.battles) == (6, 0, 4, 2 * BATTLES)
    assert "6 matchups, 4 solved, 6,000 battles in" in str(result)
    for row in rows:
        odds = simcore.odds(row["attacker_units"], row["defender_units"], battles=BATTLES, seed=7)
        assert odds.method == row["method"]
        assert row["battles"] == (odds.data["battles"] or 0)
        for outcome, share in odds.outcomes.items():
            assert row[f"p_{outcome}"] == share
            drawn = None if odds.method == "exact" else round(share * BATTLES)
            assert row[f"n_{outcome}"] == drawn
        for figure in ("swing", "cycles"):
            assert row[f"{figure}_mean"] == pytest.approx(getattr(odds, figure)["mean"], rel=1e-12)
            assert row[f"{figure}_sd"] == pytest.approx(getattr(odds, figure)["sd"], rel=1e-9)
    left = {(row["matchup"], row["side"], row["unit"]): row for row in rows_of(tmp_path, "survivors")}
    assert {row["battles"] for key, row in left.items() if key[0] < 2 and row["outcome"] == "all"} <= {BATTLES}
    assert {row["battles"] for key, row in left.items() if key[0] >= 2} == {0}
    manifest = manifest_of(tmp_path)
    assert (manifest["method"], manifest["battles"], manifest["solved"]) == ("auto", BATTLES, 4)


def test_means_of_mixes_take_both_kinds(tmp_path: Path) -> None:
    weighted = [{"name": "many", "units": "3 infantry", "weight": 2}, {"name": "two", "units": "2 infantry"}]
    config = mixed(attacker={"mixes": ["3 infantry"]}, defender={"mixes": weighted})
    simcore.sweep(config, tmp_path, threads=1)
    rows = rows_of(tmp_path)
    assert [row["method"] for row in rows] == ["simulated", "exact"]
    mix = rows_of(tmp_path, "mixes")[0]
    shares = [row["p_attacker_wins"] + row["p_attacker_clears"] for row in rows]
    assert mix["win_share_mean"] == pytest.approx((2 * shares[0] + shares[1]) / 3, rel=1e-14)
    assert (mix["win_share_worst"], mix["win_share_best"]) == (shares[0], shares[1])
    assert (mix["worst_opponent"], mix["best_opponent"]) == ("many", "two")
    assert mix["battles"] == BATTLES
    for name, column in (("swing_mean", "swing_mean"), ("cost_lost_mean", "attacker_cost_lost_mean")):
        assert mix[name] == pytest.approx((2 * rows[0][column] + rows[1][column]) / 3, rel=1e-14)
    lost, destroyed = (
        2 * rows[0][f"{side}_cost_lost_mean"] + rows[1][f"{side}_cost_lost_mean"] for side in ("attacker", "defender")
    )
    assert mix["cost_efficiency"] == pytest.approx(destroyed / lost, rel=1e-14)


@pytest.mark.parametrize(("limit", "method"), [(1, "simulate"), (10**6, "exact")])
def test_all_of_a_kind_are_the_same_as_when_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int, method: str
) -> None:
    monkeypatch.setattr("simcore.method.AUTO_STATES", limit)
    simcore.sweep(mixed(), tmp_path / "auto", threads=1)
    simcore.sweep(small(sweep={"method": method}), tmp_path / "asked", threads=1)
    assert digests(tmp_path / "auto") == digests(tmp_path / "asked")


def test_threads_and_the_cut_of_parts_change_no_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    simcore.sweep(mixed(), tmp_path / "one", threads=1)
    simcore.sweep(mixed(), tmp_path / "two", threads=2)
    monkeypatch.setattr(plan_module, "PART_BATTLES", PART_BATTLES)
    assert simcore.sweep(mixed(), tmp_path / "whole", threads=1).parts_computed == 1
    monkeypatch.setattr(plan_module, "PART_EFFORT", 1)
    assert simcore.sweep(mixed(), tmp_path / "single", threads=1).parts_computed >= 4
    assert digests(tmp_path / "one") == digests(tmp_path / "two")
    assert digests(tmp_path / "one") == digests(tmp_path / "whole") == digests(tmp_path / "single")


@pytest.mark.parametrize("stop_after", [1, 2, 5])
def test_an_interrupted_sweep_ends_with_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop_after: int
) -> None:
    monkeypatch.setattr(plan_module, "PART_EFFORT", 1)
    simcore.sweep(mixed(), tmp_path / "undisturbed", threads=1)
    folder = tmp_path / "stopped"
    with pytest.raises(SweepInterrupted):
        simcore.sweep(mixed(), folder, threads=1, progress=Recorder(stop_after=stop_after))
    assert not (folder / "matchups.parquet").exists()
    parts = len(parts_of(folder))
    result = resume(folder, threads=1)
    assert result.parts_reused == parts == stop_after
    assert digests(folder) == digests(tmp_path / "undisturbed")
    again = resume(folder, threads=1)
    assert (again.parts_computed, again.solved, again.battles) == (0, 4, 2 * BATTLES)


def test_progress_counts_matchups(tmp_path: Path) -> None:
    recorder = Recorder()
    simcore.sweep(mixed(sweep={"battles": 10_000}), tmp_path, threads=1, progress=recorder)
    assert recorder.told[0] == ("small", 6, "matchups")
    assert sum(done for done, _ in recorder.told[1:-1]) == pytest.approx(6)
    assert any(done % 1 for done, _ in recorder.told[1:-1])


def test_a_matchup_that_does_not_fit_after_all_is_simulated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    launch = api._launch_solver

    def full(encoded: api.Encoded, threads: int | None) -> Any:
        tally, states, status = launch(encoded, threads)
        for row, scenario in enumerate(encoded.scenarios):
            if scenario.unit_text(0) == "2 tank":
                status[row] = Status.CAPACITY
        return tally, states, status

    monkeypatch.setattr(api, "_launch_solver", full)
    config = mixed(sweep={"battles": 9_000})
    result = simcore.sweep(config, tmp_path / "full", threads=1)
    assert (result.failed, result.solved, result.battles) == (0, 2, 4 * 9_000)
    rows = rows_of(tmp_path / "full")
    assert [row["method"] for row in rows] == ["simulated"] * 4 + ["exact"] * 2
    # Found again and trusted, without the solver.
    monkeypatch.setattr(api, "_launch_solver", None)
    again = simcore.sweep(config, tmp_path / "full", threads=1)
    assert (again.parts_computed, again.reports) == (0, [])
    # The same battles as where they were drawn from the beginning.
    monkeypatch.undo()
    simcore.sweep(small(sweep={"battles": 9_000}), tmp_path / "drawn", threads=1)
    assert rows[:4] == rows_of(tmp_path / "drawn")[:4]


def test_with_exact_it_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(encoded: api.Encoded, _: int | None) -> Any:
        n = len(encoded)
        tally = np.zeros((n, len(encoded.ruleset.accumulators)))
        return tally, np.zeros(n, dtype=np.int64), np.full(n, Status.CAPACITY, dtype=np.uint8)

    monkeypatch.setattr(api, "_launch_solver", full)
    result = simcore.sweep(small(sweep={"method": "exact"}), tmp_path, threads=1)
    assert (result.failed, result.solved, result.battles) == (6, 0, 0)
    assert all("more states than" in row["error"] for row in rows_of(tmp_path))
    assert {row["method"] for row in rows_of(tmp_path)} == {"exact"}


def test_failed_matchups_have_no_method(tmp_path: Path) -> None:
    config = mixed(
        attacker={"mixes": ["2 infantry", "2 mech_infantry"]},
        grid={"scenario.edition": ["spring1942", "global40_2nd"]},
    )
    result = simcore.sweep(config, tmp_path, threads=1)
    assert result.failed == 2
    rows = rows_of(tmp_path)
    assert [row["method"] for row in rows if row["status"] == "failed"] == [None, None]
    assert [row["battles"] for row in rows if row["status"] == "failed"] == [None, None]
    run = analysis.load(tmp_path)
    assert run.method == "exact"
    assert len(analysis.summarize(run).failed) == 2


def test_notes_on_drawn_matchups_are_part_of_the_checksum(tmp_path: Path) -> None:
    segments = np.array([[0, 0, 0, 0]])
    rows = PartRows(segments, np.array([[9, 8]]), {}, frozenset({0}))
    name = "ab" * 32
    with Store(tmp_path) as store:
        store.write_part(name, rows)
        found = store.read_part(name, segments, 2)
        assert found is not None
        assert found.drawn == {0}
        path = parts_of(tmp_path)[0]
        table = pq.read_table(path)
        notes = dict(table.schema.metadata)
        assert json.loads(notes.pop(b"simcore.drawn")) == [0]
        pq.write_table(table.replace_schema_metadata(notes), path)
        assert store.read_part(name, segments, 2) is None
        assert "checksum" in store.reports[0]


def parts_by(efforts: list[int], **tables: Any) -> list[list[list[int]]]:
    plan = planned(grid={"scenario.cycle_limit": list(range(math.ceil(len(efforts) / 6)))}, **tables)
    efforts = efforts + [0] * (len(plan) - len(efforts))
    asked: list[int] = []

    def effort_of(matchup: int) -> int:
        asked.append(matchup)
        return efforts[matchup]

    parts = [part.tolist() for part in plan.parts(effort_of)]
    assert asked == list(range(len(plan)))
    return parts


def test_solved_matchups_have_one_row_without_battles() -> None:
    (part,) = parts_by([0, 5, 0, 5, 5, 0], sweep={"battles": 700})
    assert part == [[0, 0, 0, 700], [1, 0, 0, 0], [2, 0, 0, 700], [3, 0, 0, 0], [4, 0, 0, 0], [5, 0, 0, 700]]


def test_parts_hold_so_much_effort_and_no_more() -> None:
    third = PART_EFFORT // 3
    parts = parts_by([third, third, third, third, 5 * PART_EFFORT, third], sweep={"battles": 1})
    assert [[row[0] for row in part] for part in parts] == [[0, 1, 2], [3], [4], [5]]
    parts = parts_by([1] * 1_200, sweep={"battles": 1})
    assert [len(part) for part in parts] == [512, 512, 176]


def test_the_folder_of_an_older_version_can_be_completed(tmp_path: Path) -> None:
    simcore.sweep(small(), tmp_path / "drawn", threads=1)
    folder = tmp_path / "older"
    simcore.sweep(small(), folder, threads=1)
    # What "auto" left behind when it drew every battle.
    manifest = manifest_of(folder)
    manifest["sweep"]["sweep"]["method"] = "auto"
    del manifest["solved"]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    parts_of(folder)[0].unlink()
    assert analysis.load(folder).method == "simulated"
    with pytest.raises(ResumeMismatchError, match=r'sweep\.method was "simulate", is "auto"'):
        simcore.sweep(mixed(), folder, threads=1)
    result = resume(folder, threads=1)
    assert (result.parts_computed, result.parts_reused, result.solved) == (1, 5, 0)
    assert digests(folder) == digests(tmp_path / "drawn")


def test_another_method_is_another_sweep(tmp_path: Path) -> None:
    simcore.sweep(mixed(), tmp_path, threads=1)
    for method in ("simulate", "exact"):
        with pytest.raises(ResumeMismatchError, match=rf'sweep\.method was "auto", is "{method}"'):
            simcore.sweep(small(sweep={"method": method}), tmp_path, threads=1)


@pytest.mark.parametrize("terrain", ["sea", "amphibious", "raid", "assault"])
def test_every_kind_of_battle(tmp_path: Path, terrain: str) -> None:
    scenario: dict[str, Any] = {"terrain": terrain}
    mixes = {
        "sea": (["1 submarine", "3 destroyer, 2 submarine, 3 fighter"], ["1 destroyer, 1 fighter"]),
        "amphibious": (["1 infantry", "4 infantry, 2 tank"], ["2 infantry"]),
        "raid": (["2 bomber", "30 bomber"], ["1 aa_gun"]),
        "assault": (["2 infantry", "2 infantry, 9 tank, 9 fighter"], ["1 infantry"]),
    }[terrain]
    if terrain == "raid":
        scenario["raid"] = {"cap": "none"}
    elif terrain == "assault":
        scenario["terrain"] = "amphibious"
        scenario["sea"] = {
            "attacker": {"units": "1 transport", "cargo": ["2 infantry"]},
            "defender": {"units": ""},
        }
    config = mixed(
        sweep={"battles": 300}, scenario=scenario, attacker={"mixes": mixes[0]}, defender={"mixes": mixes[1]}
    )
    result = simcore.sweep(config, tmp_path, threads=1)
    assert (result.failed, result.solved, result.battles) == (0, 1, 300)
    summary = analysis.summarize(tmp_path)
    assert summary.run.method == "mixed"
    assert "1 exact, 1 simulated" in summary.to_text()
    page = analysis.report(summary).read_text(encoding="utf-8")
    assert "--method exact" in page
    assert "--method simulate --battles 300" in page
