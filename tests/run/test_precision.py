"""Runs with a precision: who gets more battles, resuming, topping up."""

from __future__ import annotations

import contextlib
import json
import shutil
import signal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from simcore import api
from simcore.errors import ResumeMismatchError, ScenarioError, StoreError
from simcore.precision import always_valid
from simcore.run import executor
from simcore.run.executor import LocalExecutor
from simcore.run.manifest import encode_manifest
from simcore.run.session import SweepInterrupted, resume, sweep
from simcore.run.wave import Stage
from simcore.scenario import load_sweep
from tests.run.sweeps import digests, parts_of, precise, small
from tests.run.test_interruption import child

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from simcore.run.executor import Job
    from simcore.run.store import PartRows

LOOKS = [4_096 * n for n in range(1, 17)] + [73_728, 90_112, 122_880, 188_416, 319_488, 581_632]


pytestmark = pytest.mark.usefixtures("invented_battles")


def fixed(battles: int) -> dict[str, Any]:
    config = precise(battles=battles)
    del config["sweep"]["precision"]
    return config


def rows_of(folder: Path, table: str = "matchups") -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.read_table(folder / f"{table}.parquet").to_pylist()
    return rows


def manifest_of(folder: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((folder / "manifest.json").read_text())
    return content


def test_matchups_get_battles_until_they_are_precise(tmp_path: Path) -> None:
    result = sweep(precise(), tmp_path)
    rows = rows_of(tmp_path)
    battles = [row["battles"] for row in rows]
    assert len(set(battles)) >= 3
    assert set(battles) <= set(LOOKS)
    assert result.battles == sum(battles) == manifest_of(tmp_path)["battles_counted"]
    assert result.imprecise == 0
    names = load_outcomes(tmp_path)
    for row in rows:
        assert row["precision"] <= 0.01
        counts = np.array([row[f"n_{name}"] for name in names])
        low, high = always_valid(counts, row["battles"], outcomes=len(names))
        assert row["precision"] == pytest.approx(float((high - low).max()) / 2, abs=1e-9)


def load_outcomes(folder: Path) -> list[str]:
    found: list[str] = manifest_of(folder)["outcomes"]
    return found


def test_no_matchup_goes_on_when_it_could_stop(tmp_path: Path) -> None:
    sweep(precise(), tmp_path / "out")
    stops = {row["matchup"]: row["battles"] for row in rows_of(tmp_path / "out")}
    for look in LOOKS[: LOOKS.index(max(stops.values())) + 1]:
        sweep(fixed(look), tmp_path / str(look))
        names = load_outcomes(tmp_path / "out")
        for row in rows_of(tmp_path / str(look)):
            low, high = always_valid([row[f"n_{name}"] for name in names], look, outcomes=len(names))
            is_precise = float((high - low).max()) / 2 <= 0.01
            if look < stops[row["matchup"]]:
                assert not is_precise
            if look == stops[row["matchup"]]:
                assert is_precise


def test_battles_are_the_cap(tmp_path: Path) -> None:
    result = sweep(precise(battles=20_000), tmp_path)
    rows = rows_of(tmp_path)
    short = [row for row in rows if row["precision"] > 0.01]
    assert short
    assert {row["battles"] for row in short} == {20_000}
    assert result.imprecise == len(short) == manifest_of(tmp_path)["imprecise"]
    assert f"{len(short)} matchups stay less precise than asked for" in str(result)


def test_without_battles_the_precision_decides() -> None:
    settings = load_sweep({**small(), "sweep": {"name": "a", "precision": 0.01}}).sweep
    assert (settings.precision, settings.battles) == (0.01, 65_536)
    again = load_sweep({**small(), "sweep": settings.model_dump(mode="json")}).sweep
    assert again == settings
    assert load_sweep({**small(), "sweep": {"name": "a"}}).sweep.battles == 100_000


@pytest.mark.parametrize("value", [0, -0.1, 1e-6, 0.5, 1, True, "0.001", float("nan")])
def test_a_precision_out_of_range_is_refused(value: object) -> None:
    with pytest.raises(ScenarioError, match=r"sweep\.precision: "):
        load_sweep({**small(), "sweep": {"name": "a", "precision": value}})


class Stubborn:
    """Resolves parts from the last to the first, and stops after some."""

    def __init__(self, most: int | None = None) -> None:
        self.left = most

    def run(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, PartRows]]:
        for found in reversed(list(LocalExecutor().run(jobs))):
            if self.left == 0:
                raise KeyboardInterrupt
            if self.left is not None:
                self.left -= 1
            yield found


def test_bytes_do_not_depend_on_order_or_interruptions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sweep(precise(), tmp_path / "whole")
    whole = {path.name: path.read_bytes() for path in parts_of(tmp_path / "whole")}
    with monkeypatch.context() as patch:
        patch.setattr(executor, "LocalExecutor", lambda threads: Stubborn())  # noqa: ARG005
        sweep(precise(), tmp_path / "backwards")
    assert digests(tmp_path / "backwards") == digests(tmp_path / "whole")
    assert {path.name: path.read_bytes() for path in parts_of(tmp_path / "backwards")} == whole
    for most in range(0, len(whole), 3):
        folder = tmp_path / str(most)
        with monkeypatch.context() as patch:
            patch.setattr(executor, "LocalExecutor", lambda threads, most=most: Stubborn(most))  # noqa: ARG005
            with pytest.raises(SweepInterrupted):
                sweep(precise(), folder)
        result = resume(folder)
        assert result.parts_computed == len(whole) - most
        assert digests(folder) == digests(tmp_path / "whole")
        assert {path.name: path.read_bytes() for path in parts_of(folder)} == whole


def test_a_lost_part_of_an_early_wave_is_computed_again(tmp_path: Path) -> None:
    sweep(precise(), tmp_path)
    before = digests(tmp_path)
    for path in parts_of(tmp_path)[::4]:
        path.unlink()
    (tmp_path / "matchups.parquet").unlink()
    sweep(precise(), tmp_path)
    assert digests(tmp_path) == before


@pytest.mark.parametrize("mode", ["precise", "top-up"])
@pytest.mark.parametrize(
    "sync_number",
    [pytest.param(9, marks=pytest.mark.slow), 24, 47, pytest.param(62, marks=pytest.mark.slow)],
)
def test_a_killed_process_ends_with_the_same_bytes(tmp_path: Path, mode: str, sync_number: int) -> None:
    folder = tmp_path / "out"
    if mode == "top-up":
        sweep(precise(0.03), folder)
        shutil.copytree(folder, tmp_path / "whole")
        sweep(precise(), tmp_path / "whole", top_up=True)
    else:
        sweep(precise(), tmp_path / "whole")
    with child(mode, folder, sync_number) as process:
        process.communicate(timeout=300)
    assert process.returncode == -signal.SIGKILL
    assert manifest_of(folder)["state"] == "running"
    result = resume(folder)
    assert result.reports == []
    assert digests(folder) == digests(tmp_path / "whole")
    whole = {path.name: path.read_bytes() for path in parts_of(tmp_path / "whole")}
    assert {path.name: path.read_bytes() for path in parts_of(folder)} == whole


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param(fixed(10_000), fixed(50_000), id="more battles"),
        pytest.param(precise(0.03), precise(0.01), id="finer precision"),
        pytest.param(precise(0.01, battles=20_000), precise(0.01), id="higher cap"),
        pytest.param(precise(0.03, battles=10_000), precise(0.005, battles=400_000), id="both"),
        pytest.param(precise(0.03, battles=50_000), fixed(60_000), id="all to the same number"),
    ],
)
def test_a_run_that_is_topped_up_equals_an_undisturbed_one(
    tmp_path: Path, first: dict[str, Any], second: dict[str, Any]
) -> None:
    undisturbed = sweep(second, tmp_path / "whole")
    start = sweep(first, tmp_path / "out")
    kept = {path.name: path.read_bytes() for path in parts_of(tmp_path / "out")}
    counted = count_battles(tmp_path / "out")
    result = sweep(second, tmp_path / "out", top_up=True)
    assert result.parts_reused == start.parts_computed
    assert digests(tmp_path / "out") == digests(tmp_path / "whole")
    assert (result.battles, result.imprecise) == (undisturbed.battles, undisturbed.imprecise)
    # What was there is used as it was, and no battle is counted twice.
    assert {path.name: path.read_bytes() for path in parts_of(tmp_path / "out") if path.name in kept} == kept
    assert counted < count_battles(tmp_path / "out") == undisturbed.battles
    (earlier,) = manifest_of(tmp_path / "out")["earlier"]
    assert earlier == {"battles": first["sweep"]["battles"], "precision": first["sweep"].get("precision")}
    for again in (
        resume(tmp_path / "out"),
        sweep(second, tmp_path / "out"),
        sweep(second, tmp_path / "out", top_up=True),
    ):
        assert (again.parts_computed, again.reports) == (0, [])
        assert manifest_of(tmp_path / "out")["earlier"] == [earlier]
    assert digests(tmp_path / "out") == digests(tmp_path / "whole")


def count_battles(folder: Path) -> int:
    return sum(sum(pq.read_table(path).column("battles").to_pylist()) for path in parts_of(folder))


def test_topping_up_in_steps_and_interruptions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sweep(precise(0.004, battles=400_000), tmp_path / "whole")
    steps = [precise(0.05), precise(0.02), precise(0.02, battles=310_000), precise(0.004, battles=400_000)]
    folder = tmp_path / "out"
    for number, step in enumerate(steps):
        with monkeypatch.context() as patch:
            patch.setattr(executor, "LocalExecutor", lambda threads: Stubborn(1))  # noqa: ARG005
            with contextlib.suppress(SweepInterrupted):
                sweep(step, folder, top_up=number > 0)
        resume(folder)
    assert digests(folder) == digests(tmp_path / "whole")
    assert len(manifest_of(folder)["earlier"]) == 3


@pytest.mark.parametrize(
    ("first", "second", "problem"),
    [
        (fixed(10_000), fixed(9_000), "it has 10,000 battles of each matchup, more than 9,000"),
        (fixed(10_000), precise(), "it has equally many battles of each matchup, which a precision"),
        (precise(0.03), precise(0.04), "its precision of 0.03 is finer than 0.04"),
        (precise(0.03), precise(0.03, seed=8), "holds another sweep (sweep.seed was 7, is 8)"),
        (precise(0.03), fixed(299_999), "it has 300,000 battles"),
    ],
)
def test_what_cannot_be_topped_up_is_refused(
    tmp_path: Path, first: dict[str, Any], second: dict[str, Any], problem: str
) -> None:
    sweep(first, tmp_path)
    before = manifest_of(tmp_path)
    with pytest.raises(ResumeMismatchError) as caught:
        sweep(second, tmp_path, top_up=True)
    assert problem in str(caught.value)
    assert manifest_of(tmp_path) == before


def test_without_being_asked_nothing_is_topped_up(tmp_path: Path) -> None:
    sweep(precise(0.03), tmp_path)
    with pytest.raises(ResumeMismatchError, match=r"sweep\.precision was 0\.03, is 0\.02\); top it up, choose another"):
        sweep(precise(0.02), tmp_path)
    with pytest.raises(ResumeMismatchError, match=r"is 0\.04\); choose another folder"):
        sweep(precise(0.04), tmp_path)
    with pytest.raises(StoreError, match="holds no sweep that could be topped up"):
        sweep(precise(0.03), tmp_path / "new", top_up=True)
    with pytest.raises(ScenarioError, match="anew cannot be topped up"):
        sweep(precise(0.02), tmp_path, top_up=True, resume=False)
    sweep(precise(0.04), tmp_path, resume=False)
    assert manifest_of(tmp_path)["earlier"] == []


@pytest.mark.parametrize("entry", [{"battles": "x"}, {"battles": 0}, {}, 5, {"battles": 5, "precision": "fine"}])
def test_a_damaged_history_is_refused(tmp_path: Path, entry: object) -> None:
    assert Stage.read(entry) is None
    sweep(precise(0.03), tmp_path)
    (tmp_path / "manifest.json").write_bytes(encode_manifest({**manifest_of(tmp_path), "earlier": [entry]}))
    with pytest.raises(StoreError, match="damaged, it does not say how many battles"):
        resume(tmp_path)


@pytest.mark.parametrize("history", [5, None, "x", {}, {"battles": 5, "precision": None}])
def test_a_history_that_is_no_list_is_refused(tmp_path: Path, history: object) -> None:
    sweep(precise(0.03), tmp_path)
    (tmp_path / "manifest.json").write_bytes(encode_manifest({**manifest_of(tmp_path), "earlier": history}))
    with pytest.raises(StoreError, match="damaged, it does not say how many battles"):
        resume(tmp_path)


def test_means_weigh_opponents_not_battles(tmp_path: Path) -> None:
    config = precise()
    config["defender"]["mixes"] = ["3 infantry", {"name": "guns", "units": "1 infantry, 1 artillery", "weight": 3}]
    sweep(config, tmp_path)
    matchups = rows_of(tmp_path)
    unequal = False
    for row in rows_of(tmp_path, "mixes"):
        own = [one for one in matchups if one[row["side"]] == row["mix"]]
        enemy = "defender" if row["side"] == "attacker" else "attacker"
        weights = [Fraction(one[f"{enemy}_weight"]) for one in own]
        wins = "n_attacker_wins" if row["side"] == "attacker" else "n_defender_wins"
        more = [one["n_attacker_clears"] if row["side"] == "attacker" else 0 for one in own]
        shares = [Fraction(one[wins] + clears, one["battles"]) for one, clears in zip(own, more, strict=True)]
        exact = sum(w * share for w, share in zip(weights, shares, strict=True)) / sum(weights)
        assert row["win_share_mean"] == float(exact)
        assert row["battles"] == sum(one["battles"] for one in own)
        unequal |= len({one["battles"] for one in own}) > 1
        if row["side"] == "attacker":
            assert row["cost_lost_mean"] == 5.0
    assert unequal


def test_a_matchup_that_turns_out_too_large_to_solve_joins_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(encoded: Any, **_: Any) -> Any:
        m = len(encoded.scenarios)
        return np.zeros((m, encoded.ruleset.columns)), None, {row: ScenarioError("too many states") for row in range(m)}

    monkeypatch.setattr(api, "solve_checked", refuse)
    sweep(precise(0.03, method="auto"), tmp_path / "out")
    sweep(precise(0.01, method="auto"), tmp_path / "out", top_up=True)
    sweep(precise(0.01, method="auto"), tmp_path / "whole")
    sweep(precise(0.01, method="simulate"), tmp_path / "drawn")
    assert digests(tmp_path / "out") == digests(tmp_path / "whole") == digests(tmp_path / "drawn")


def test_matchups_that_fail_do_not_stop_the_others(tmp_path: Path) -> None:
    config = precise()
    config["grid"] = {"scenario.attacker.keep_land": [0, -1]}
    sweep(config, tmp_path)
    rows = rows_of(tmp_path)
    assert {row["status"] for row in rows} == {"ok", "failed"}
    assert all(row["precision"] is None for row in rows if row["status"] == "failed")


class Recorder:
    def __init__(self) -> None:
        self.begun: tuple[str, int, str] | None = None
        self.done = 0.0

    def start(self, name: str, total: int, unit: str) -> None:
        self.begun = (name, total, unit)

    def advance(self, done: float, *, is_new: bool) -> None:  # noqa: ARG002 - the names are part of the protocol
        assert done >= -1e-9
        self.done += done

    def stop(self) -> None:
        pass


def test_progress_ends_at_all_matchups(tmp_path: Path) -> None:
    for folder in ("new", "new"):
        recorder = Recorder()
        sweep(precise(), tmp_path / folder, progress=recorder)
        assert recorder.begun == ("small", 8, "matchups")
        assert recorder.done == pytest.approx(8)
