"""The verbs that look at finished runs: compare, report --against, nightly."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import simcore

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Cli

SWEEP = """
[sweep]
name = "duel"
method = "simulate"
battles = 20_000
[attacker]
mixes = ["2 infantry", {{ name = "חיל הרגלים", units = "1 infantry" }}]
[defender]
mixes = [{{ name = "Север", units = "1 infantry" }}]
[grid]
"edition.infantry.attack" = [{attack}]
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """A run, the same under another seed, and one in which infantry hits more often."""
    folder = tmp_path_factory.mktemp("runs")
    for name, attack, seed in (("a", 1, 1), ("b", 1, 2), ("c", 2, 1)):
        path = folder / f"{name}.toml"
        path.write_text(SWEEP.format(attack=attack), encoding="utf-8")
        text = path.read_text(encoding="utf-8").replace("battles =", f"seed = {seed}\nbattles =")
        path.write_text(text, encoding="utf-8")
        simcore.sweep(path, folder / name)
    return folder / "a", folder / "b", folder / "c"


@pytest.fixture
def gates(tmp_path: Path) -> Path:
    path = tmp_path / "gates.toml"
    path.write_text("[gates]\nmax_changed = 0\nmin_matchups = 2\n[compare]\nmetrics = ['swing']\n")
    return path


def test_text_json_and_markdown(cli: Cli, runs: tuple[Path, Path, Path]) -> None:
    first, _, changed = runs
    answer = cli("compare", first, changed)
    assert (answer.code, answer.err) == (0, "")
    assert "Paired t" in answer.out
    assert "grid.edition.infantry.attack" in answer.out
    found = cli("compare", first, changed, "--json").json
    assert found["counts"]["attacker_win_share"]["better"] == 2
    assert found["same_dice"] is True
    assert {row["test"] for row in found["rows"]} == {"paired t"}
    assert {row["battles"] for row in found["rows"]} == {20_000}
    marked = cli("compare", first, changed, "--markdown")
    assert "| חיל הרגלים v Север | attacker\\_win\\_share |" in marked.out
    assert cli("compare", first, changed, "--markdown", "--json").code == 2


def test_the_same_game_under_another_seed(cli: Cli, runs: tuple[Path, Path, Path]) -> None:
    found = cli("compare", runs[0], runs[1], "--json").json
    assert all(row["verdict"] in {"same", "unclear"} for row in found["rows"])


def test_gates_and_exit_code(cli: Cli, runs: tuple[Path, Path, Path], gates: Path) -> None:
    first, _, changed = runs
    answer = cli("compare", first, first, "--gates", gates)
    assert answer.code == 0
    assert "max_changed: kept, 0 of 0 allowed" in answer.out
    answer = cli("compare", first, changed, "--gates", gates, "--json")
    assert answer.code == 4
    assert len(answer.err.splitlines()) == 1
    assert answer.err.startswith("max_changed: FAILED, 2 of 0 allowed")
    judged = answer.json["gates"]
    assert [gate["kept"] for gate in judged] == [False, True]
    assert {row["metric"] for row in answer.json["rows"]} == {"swing"}
    assert cli("compare", first, changed, "--gates", gates, "--practical", "cost=2").code == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--metric", "swin"], 'metric: unknown metric "swin" (did you mean "swing"?)'),
        (["--practical", "share"], '--practical: "share" is not of the form KIND=NUMBER'),
        (["--practical", "share=x"], '--practical: "share=x" is not of the form KIND=NUMBER'),
        (["--fdr", "2"], "fdr: must be a number between 0 and 1"),
        (["--between", "edition.tank.cost=[1, 2]"], "between: compares two grid points of one run"),
        (["--gates", "nowhere.toml"], "nowhere.toml: no such file"),
    ],
)
def test_bad_options(cli: Cli, runs: tuple[Path, Path, Path], words: list[str], message: str) -> None:
    assert message in cli("compare", runs[0], runs[1], *words).problem


def test_folders_that_hold_no_run(cli: Cli, runs: tuple[Path, Path, Path], tmp_path: Path) -> None:
    assert "no such folder" in cli("compare", runs[0], tmp_path / "none").problem
    assert "needs a second run" in cli("compare", runs[0]).problem
    assert "the grid has no key" in cli("compare", runs[0], "--between", "edition.tank.cost=[1, 2]").problem
    assert "needs two values" in cli("compare", runs[0], "--between", "edition.infantry.attack=1").problem


def test_report_against_another_run(cli: Cli, runs: tuple[Path, Path, Path], tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert cli("report", runs[2], "--out", page, "--against", runs[0]).code == 0
    text = page.read_text(encoding="utf-8")
    assert '<section id="comparison"' in text
    assert "חיל הרגלים" in text


def test_nightly(cli: Cli, tmp_path: Path, gates: Path) -> None:
    file = tmp_path / "duel.toml"
    root = tmp_path / "nights"
    words = ("nightly", file, "--results", root, "--gates", gates)
    file.write_text(SWEEP.format(attack=1), encoding="utf-8")
    first = cli(*words)
    assert first.code == 0
    assert "There is no earlier run" in first.out
    again = cli(*words, "--json").json
    assert (again["number"], again["exit_code"]) == (2, 0)
    assert again["comparison"]["counts"]["swing"]["same"] == 2
    file.write_text(SWEEP.format(attack=2), encoding="utf-8")
    third = cli(*words)
    assert third.code == 4
    assert "max_changed: FAILED" in third.err
    folders = sorted(path for path in (root / "duel").iterdir() if path.is_dir())
    assert [path.name[:4] for path in folders] == ["0001", "0002", "0003"]
    assert json.loads((folders[2] / "summary.json").read_text(encoding="utf-8"))["exit_code"] == 4
    assert "חיל הרגלים" in (folders[2] / "summary.md").read_text(encoding="utf-8")


def test_nightly_refuses_before_it_begins(cli: Cli, tmp_path: Path, gates: Path) -> None:
    file = tmp_path / "duel.toml"
    assert "no such file" in cli("nightly", file, "--results", tmp_path / "nights").problem
    file.write_text(SWEEP.format(attack=1).replace("battles", "battels"), encoding="utf-8")
    assert "battels" in cli("nightly", file, "--results", tmp_path / "nights").problem
    gates.write_text("[gates]\nmax_wrose = 1\n")
    assert "max_wrose" in cli("nightly", file, "--results", tmp_path / "nights", "--gates", gates).problem
    file.write_text(SWEEP.format(attack=1), encoding="utf-8")
    gone = tmp_path / "gone"
    assert (
        f"{gone}: no such folder" in cli("nightly", file, "--results", tmp_path / "nights", "--against", gone).problem
    )
    assert not (tmp_path / "nights").exists()


def test_a_nightly_run_that_is_interrupted_goes_on(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "duel.toml"
    file.write_text(SWEEP.format(attack=1).replace("20_000", "500"), encoding="utf-8")
    words = ("nightly", file, "--results", tmp_path / "nights")

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("simcore.sweep", interrupted)
        answer = cli(*words)
    assert answer.code == 3
    assert answer.err == "interrupted; the same command goes on with this run\n"
    assert cli(*words, "--json").json["number"] == 1
    assert cli(*words, "--json").json["number"] == 2
