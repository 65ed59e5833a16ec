"""Nightly runs: which folder is used, what is compared with what, and what a kill leaves behind."""

from __future__ import annotations

import datetime as dt
import json
from typing import TYPE_CHECKING, Any

import pytest

from analysis.gate import read_gates
from analysis.night import NIGHT, Night, Outcome, as_dict, begin_night, finish_night, markdown, nights, run_night
from simcore.errors import ResumeMismatchError, StoreError
from simcore.run.session import SweepResult
from tests.analysis.folders import Mix, matchup, write

if TYPE_CHECKING:
    from pathlib import Path

MONDAY = dt.date(2026, 11, 30)
WALL = Mix("חומה", "8 infantry", 24)


@pytest.fixture(autouse=True)
def quick_page(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write a small page in place of the report, but for the test that looks at it."""
    if request.node.name == "test_report_and_summaries":
        return

    def page(summary: Any, **_: Any) -> Path:
        target: Path = summary.run.path / "report.html"
        target.write_text("page")
        return target

    monkeypatch.setattr("analysis.night.report", page)


class Game:
    """Stands for a sweep: the attackers' share is whatever the game is like that night."""

    def __init__(self, share: float = 0.5, *, failed: bool = False, **manifest: Any) -> None:
        self.share = share
        self.failed = failed
        self.manifest = manifest
        self.calls: list[str] = []

    def __call__(self, _config: Any, folder: Path) -> SweepResult:
        self.calls.append(folder.name)
        counts = {"attacker_wins": round(self.share * 1000), "defender_wins": 1000 - round(self.share * 1000)}
        rows = [matchup(Mix("Гвардия"), WALL, counts, method="exact")]
        if self.failed:
            rows.append(matchup(Mix("broken"), WALL, None, error="no such unit"))
        write(folder, rows, **self.manifest)
        return SweepResult("land-30", folder, len(rows), int(self.failed), 1, 0, 1, 0)


def night_of(root: Path, game: Game, *, today: dt.date = MONDAY, **options: Any) -> tuple[Night, Outcome]:
    with begin_night(root, today) as opened:
        night, run, notes = run_night(root, opened, None, today, game)  # type: ignore[arg-type]
        return night, finish_night(root, night, failed=run.failed, notes=notes, **options)


def test_runs_are_numbered_and_dated(tmp_path: Path) -> None:
    for number in (1, 2, 3):
        night, outcome = night_of(tmp_path / "sweep", Game())
        assert night.folder.name == f"{number:04}-2026-11-30"
        assert outcome.code == 0
        assert (outcome.comparison is None) == (number == 1)
    assert [night.number for night in nights(tmp_path / "sweep")] == [1, 2, 3]
    assert all(night.is_done for night in nights(tmp_path / "sweep"))


def test_a_clock_that_jumps_changes_nothing(tmp_path: Path) -> None:
    for share, today in ((0.5, MONDAY), (0.6, dt.date(2019, 1, 1)), (0.7, dt.date(2031, 5, 5))):
        _, outcome = night_of(tmp_path, Game(share), today=today)
    assert outcome.comparison is not None
    assert outcome.comparison.first.run.path.name == "0002-2019-01-01"
    assert outcome.comparison.rows["first"].iloc[0] == pytest.approx(0.6)


def test_report_and_summaries(tmp_path: Path) -> None:
    night_of(tmp_path, Game(0.5))
    night, outcome = night_of(tmp_path, Game(0.6))
    assert all(path.exists() for path in outcome.files)
    text = outcome.files[1].read_text(encoding="utf-8")
    assert text == markdown(night, outcome)
    assert "Гвардия v חומה" in text
    found = json.loads(outcome.files[2].read_text(encoding="utf-8"))
    assert found == json.loads(json.dumps(as_dict(night, outcome)))
    assert (found["exit_code"], found["number"]) == (0, 2)
    assert found["comparison"]["counts"]["attacker_win_share"]["better"] == 1
    assert 'id="comparison"' in outcome.files[0].read_text(encoding="utf-8")
    assert json.loads((night.folder / NIGHT).read_text()) == {"number": 2, "state": "done", "exit_code": 0}


@pytest.mark.parametrize("moment", ["before", "during", "after"])
def test_a_killed_run_is_gone_on_with(tmp_path: Path, moment: str) -> None:
    night_of(tmp_path, Game())
    with begin_night(tmp_path, MONDAY) as opened:
        assert not opened.is_resumed
        if moment == "after":
            run_night(tmp_path, opened, None, MONDAY, Game())  # type: ignore[arg-type]
    if moment == "before":
        (opened.folder / NIGHT).unlink()
    elif moment == "during":
        (opened.folder / NIGHT).write_text('{"number": 2')
    night, outcome = night_of(tmp_path, Game(0.6), today=dt.date(2026, 12, 1))
    assert night == Night(opened.folder, 2, is_resumed=True)
    assert outcome.comparison is not None
    assert len(nights(tmp_path)) == 2


def test_an_unfinished_run_of_another_sweep_is_left(tmp_path: Path) -> None:
    with begin_night(tmp_path, MONDAY):
        pass

    class Changed(Game):
        def __call__(self, config: Any, folder: Path) -> SweepResult:
            if folder.name.startswith("0001"):
                raise ResumeMismatchError(f"{folder}: holds another sweep")
            return super().__call__(config, folder)

    night, outcome = night_of(tmp_path, Changed())
    assert night.number == 2
    assert "is left unfinished" in outcome.notes[0]
    assert [one.is_done for one in nights(tmp_path)] == [False, True]
    assert night_of(tmp_path, Game())[0].number == 3


def test_runs_that_cannot_be_read_are_passed_over(tmp_path: Path) -> None:
    night_of(tmp_path, Game(0.4))
    second, _ = night_of(tmp_path, Game(0.5))
    (second.folder / "matchups.parquet").write_text("torn")
    (tmp_path / "notes").mkdir()
    (tmp_path / "0009-readme").write_text("not a run")
    _, outcome = night_of(tmp_path, Game(0.6))
    assert outcome.comparison is not None
    assert outcome.comparison.first.run.path.name.startswith("0001")
    assert any("Passed over" in note for note in outcome.notes)


def test_gates_and_failures_decide_the_exit_code(tmp_path: Path) -> None:
    (tmp_path / "gates.toml").write_text("[gates]\nmax_worse = 0\n")
    gates = read_gates(tmp_path / "gates.toml")
    root = tmp_path / "sweep"
    assert night_of(root, Game(0.5), gates=gates)[1].code == 0, "nothing to compare with yet"
    assert night_of(root, Game(0.6), gates=gates)[1].code == 0
    night, outcome = night_of(root, Game(0.5), gates=gates)
    assert outcome.code == 4
    assert "max\\_worse" in markdown(night, outcome)
    assert night_of(root, Game(0.5, failed=True), gates=gates)[1].code == 2
    assert night_of(root, Game(0.3, failed=True), gates=gates)[1].code == 4, "a gate that fails says more"


def test_another_run_can_be_the_yardstick(tmp_path: Path) -> None:
    accepted = write(tmp_path / "accepted", [matchup(Mix("Гвардия"), WALL, {"attacker_wins": 9, "defender_wins": 1})])
    night_of(tmp_path / "sweep", Game(0.5))
    _, outcome = night_of(tmp_path / "sweep", Game(0.5), against=accepted)
    assert outcome.comparison is not None
    assert outcome.comparison.first.run.path == accepted


def test_what_cannot_be_compared_is_told(tmp_path: Path) -> None:
    night_of(tmp_path, Game())
    _, outcome = night_of(tmp_path, Game(ruleset="mass_battle"))
    assert outcome.code == 2
    assert "different rulesets" in outcome.notes[0]


def test_two_calls_at_once(tmp_path: Path) -> None:
    with (
        begin_night(tmp_path, MONDAY),
        pytest.raises(StoreError, match="another nightly run is at work"),
        begin_night(tmp_path, MONDAY),
    ):
        pass
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot use this"), begin_night(tmp_path / "file", MONDAY):
        pass
