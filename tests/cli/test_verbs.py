"""Every verb: what it prints, its JSON object, and that both say the same as the Python functions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import analysis
import simcore

if TYPE_CHECKING:
    from tests.cli.conftest import Cli

SCENARIO = """
edition = "spring1942"
[attacker]
units = "10 infantry, 5 tank"
[defender]
units = "10 infantry"
"""
SWEEP = """
[sweep]
name = "small"
method = "simulate"
battles = 400
seed = 5
[attacker]
mixes = ["4 infantry", { name = "tanks", units = "3 tank", weight = 2 }]
[defender]
mixes = ["3 infantry", "2 infantry, 1 artillery"]
[grid]
"edition.tank.cost" = [5, 6]
"""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "battle.toml"
    path.write_text(SCENARIO)
    return path


@pytest.fixture
def sweep(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(SWEEP)
    return path


class TestOdds:
    def test_table(self, cli: Cli) -> None:
        answer = cli("odds", "10 infantry, 5 tank", "10 infantry", "--method", "simulate", "--battles", 2000)
        assert answer.code == 0
        assert "attacker wins" in answer.out
        drawn = simcore.odds("10 infantry, 5 tank", "10 infantry", method="simulate", battles=2000)
        assert answer.out == f"{drawn}\n"

    def test_json_has_what_is_promised(self, cli: Cli) -> None:
        words = ("--method", "simulate", "--battles", 2000, "--seed", 3)
        found = cli("odds", "10 infantry, 5 tank", "10 infantry", *words, "--json").json
        assert found["ruleset"] == "general_combat"
        assert found["edition"] == "spring1942"
        assert (found["method"], found["method_reason"]) == ("simulated", None)
        assert found["battles"] == 2000
        assert found["seed"] == 3
        assert found["pairing"] == "matchup"
        assert sum(found["outcomes"].values()) == pytest.approx(1)
        for name, (low, high) in found["intervals"].items():
            assert 0 <= low <= found["outcomes"][name] <= high <= 1
        assert found["cycles"]["mean"] > 0
        assert set(found["swing"]) >= {"mean", "sd"}
        for side, cost in (("attacker", 55), ("defender", 30)):
            assert found[side]["cost"] == cost
            assert 0 < found[side]["mean_cost_lost"] <= cost
            assert set(found[side]["mean_survivors"]) <= {"infantry", "tank"}

    def test_exact(self, cli: Cli, scenario: Path) -> None:
        words = ("odds", "10 infantry, 5 tank", "10 infantry", "--method", "exact")
        found = cli(*words, "--json").json
        assert (found["method"], found["battles"], found["seed"]) == ("exact", None, None)
        assert "intervals" not in found
        assert sum(found["outcomes"].values()) == pytest.approx(1, abs=1e-12)
        assert abs(found["dropped"]) < 1e-13
        assert found == simcore.odds("10 infantry, 5 tank", "10 infantry", method="exact").to_dict()
        assert found == cli("odds", scenario, "--method", "exact", "--json").json
        sampled = cli("odds", scenario, "--method", "simulate", "--battles", 20_000, "--json").json
        for name, (low, high) in sampled["intervals"].items():
            assert low - 0.01 <= found["outcomes"][name] <= high + 0.01
        answer = cli(*words)
        assert answer.code == 0
        assert "exact: no battle drawn)" in answer.out
        assert "95 %" not in answer.out

    def test_small_battles_are_solved_by_default(self, cli: Cli) -> None:
        words = ("odds", "10 infantry, 5 tank", "10 infantry")
        answer = cli(*words)
        assert answer.out == f"{simcore.odds('10 infantry, 5 tank', '10 infantry')}\n"
        # Battles may be asked for all the same; the answer says that none was drawn.
        assert cli(*words, "--battles", 2000, "--seed", 3).out == answer.out
        assert "exact: no battle drawn" in answer.out
        found = cli(*words, "--battles", 2000, "--json").json
        assert (found["method"], found["battles"]) == ("exact", None)
        assert found["method_reason"] == "at most 176 states"

    def test_large_battles_are_simulated_by_default(self, cli: Cli) -> None:
        words = ("odds", "2000 infantry", "2000 infantry", "--battles", 500)
        answer = cli(*words)
        assert "500 battles, seed 1, matchup; not solved: up to 4,004,001 states, more than 1,000,000)" in answer.out
        found = cli(*words, "--json").json
        assert (found["method"], found["battles"]) == ("simulated", 500)
        assert found["method_reason"] == "up to 4,004,001 states, more than 1,000,000"
        assert "intervals" in found

    def test_exact_battles_that_are_too_large(self, cli: Cli) -> None:
        answer = cli("odds", "2000 infantry, 2000 tank", "2000 infantry, 2000 tank", "--method", "exact")
        assert "method" in answer.problem
        assert "4,194,304" in answer.problem

    def test_a_file_and_texts_give_the_same(self, cli: Cli, scenario: Path) -> None:
        from_file = cli("odds", scenario, "--battles", 500, "--json").json
        from_text = cli("odds", "10 inf + 5 arm", "10 inf", "--battles", 500, "--json").json
        assert from_file == from_text

    def test_options_win_over_the_file(self, cli: Cli, scenario: Path) -> None:
        found = cli("odds", scenario, "--edition", "1942_2nd", "--battles", 500, "--json").json
        assert found["edition"] == "1942_2nd"
        assert found["attacker"]["cost"] == 60

    @pytest.mark.parametrize(
        ("settings", "outcome"),
        [
            (["cycle_limit=1"], "unfinished"),
            (["attacker.retreat={after_cycles=1}"], "attacker_retreats"),
            (["attacker.retreat.after_cycles = 1"], "attacker_retreats"),
        ],
    )
    def test_any_value_can_be_set(self, cli: Cli, scenario: Path, settings: list[str], outcome: str) -> None:
        words = [word for setting in settings for word in ("--set", setting)]
        assert cli("odds", scenario, *words, "--battles", 500, "--json").json["outcomes"][outcome] > 0.5

    def test_bare_words_are_text(self, cli: Cli) -> None:
        words = ["--set", "attacker.loss_order=cheapest", "--set", 'low_luck="combat"']
        assert cli("odds", "3 inf, 1 tank", "2 inf", *words, "--battles", 100).code == 0

    def test_one_side_may_be_empty(self, cli: Cli) -> None:
        assert cli("odds", "3 inf", "", "--battles", 100, "--json").json["outcomes"]["attacker_wins"] == 1
        assert cli("odds", "", "3 inf", "--battles", 100, "--json").json["outcomes"]["defender_wins"] == 1

    def test_an_edition_file_lies_beside_the_scenario(
        self, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        folder = tmp_path / "mine"
        folder.mkdir()
        (folder / "rules.toml").write_text('[mine]\nbase = "spring1942"\n[mine.units]\ntank = { cost = 9 }\n')
        (folder / "battle.toml").write_text(
            'edition_file = "rules.toml"\nedition = "mine"\n' + SCENARIO.replace('edition = "spring1942"', "")
        )
        monkeypatch.chdir(tmp_path)
        assert cli("odds", "mine/battle.toml", "--battles", 100, "--json").json["attacker"]["cost"] == 75
        words = ["--edition-file", "mine/rules.toml", "--edition", "mine"]
        assert cli("odds", "1 tank", "1 inf", *words, "--battles", 100, "--json").json["attacker"]["cost"] == 9


class TestReplay:
    def test_text(self, cli: Cli, scenario: Path) -> None:
        answer = cli("replay", scenario, "--battle", 7)
        assert answer.code == 0
        assert answer.out == simcore.replay(SIDES, battle=7).to_text() + "\n"

    def test_it_is_the_battle_that_was_counted(self, cli: Cli) -> None:
        kept = simcore.simulate(simcore.encode([SIDES]), battles=20, keep_battles=True)
        assert kept.cycles is not None
        for battle in range(20):
            found = cli("replay", "10 inf, 5 tank", "10 inf", "--battle", battle, "--json").json
            assert found["cycles"] == int(kept.cycles[0, battle])

    def test_a_script(self, cli: Cli) -> None:
        found = cli("replay", "1 tank", "1 infantry", "--script", "1,0", "--json").json
        assert found["outcome"] == "attacker_wins"
        assert cli("replay", "1 tank", "1 infantry", "--script", "0 1", "--json").json["outcome"] == "defender_wins"

    def test_a_script_file(self, cli: Cli, tmp_path: Path) -> None:
        path = tmp_path / "battle.txt"
        told = cli("replay", "3 tank", "3 infantry", "--battle", 4, "--write-script", path).out
        again = cli("replay", "3 tank", "3 infantry", "--script-file", path).out
        assert again.splitlines()[1:] == told.splitlines()[1:]

    def test_the_seed_matters(self, cli: Cli) -> None:
        assert cli("replay", "10 inf", "10 inf", "--seed", 1).out != cli("replay", "10 inf", "10 inf", "--seed", 2).out


SIDES: dict[str, Any] = {"attacker": {"units": "10 infantry, 5 tank"}, "defender": {"units": "10 infantry"}}


class TestSweep:
    def test_tables_summary_and_report(self, cli: Cli, sweep: Path, tmp_path: Path) -> None:
        out = tmp_path / "out"
        answer = cli("sweep", sweep, "--out", out)
        assert answer.code == 0, answer.err
        for name in ("matchups.parquet", "mixes.parquet", "survivors.parquet", "report.html"):
            assert (out / name).is_file()
            assert str(out / name) in answer.out
        assert analysis.summarize(analysis.load(out)).to_text() in answer.out

    def test_json(self, cli: Cli, sweep: Path, tmp_path: Path) -> None:
        out = tmp_path / "out"
        found = cli("sweep", sweep, "--out", out, "--json").json
        assert found["folder"] == str(out)
        assert found["matchups"] == 8
        assert found["failed"] == 0
        assert Path(found["report"]).is_file()
        assert all(Path(path).is_file() for path in found["tables"].values())

    def test_no_report(self, cli: Cli, sweep: Path, tmp_path: Path) -> None:
        found = cli("sweep", sweep, "--out", tmp_path / "out", "--no-report", "--json").json
        assert found["report"] is None
        assert not (tmp_path / "out" / "report.html").exists()

    def test_options_win_over_the_file(self, cli: Cli, sweep: Path, tmp_path: Path) -> None:
        out = tmp_path / "out"
        words = ["--battles", 123, "--seed", 9, "--set", "sweep.edition=revised", "--no-report"]
        assert cli("sweep", sweep, "--out", out, *words).code == 0
        manifest = json.loads((out / "manifest.json").read_text())
        assert (manifest["battles"], manifest["seed"], manifest["edition"]) == (123, 9, "revised")

    def test_threads_change_no_byte(self, cli: Cli, sweep: Path, tmp_path: Path) -> None:
        tables = []
        for threads in (1, 2):
            out = tmp_path / str(threads)
            assert cli("sweep", sweep, "--out", out, "--threads", threads, "--no-report").code == 0
            tables.append([(out / f"{name}.parquet").read_bytes() for name in ("matchups", "mixes", "survivors")])
        assert tables[0] == tables[1]

    def test_again_is_the_same(self, cli: Cli, sweep: Path, tmp_path: Path) -> None:
        out = tmp_path / "out"
        first = cli("sweep", sweep, "--out", out, "--no-report").out
        before = (out / "matchups.parquet").read_bytes()
        assert cli("sweep", sweep, "--out", out, "--no-report").out == first
        assert cli("sweep", sweep, "--out", out, "--no-report", "--fresh").out == first
        assert (out / "matchups.parquet").read_bytes() == before

    def test_the_default_folder_is_named_after_the_sweep(
        self, cli: Cli, sweep: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        assert cli("sweep", sweep, "--no-report").code == 0
        assert (tmp_path / "results" / "small" / "matchups.parquet").is_file()

    def test_failed_matchups_keep_the_others(self, cli: Cli, tmp_path: Path) -> None:
        path, out = tmp_path / "part.toml", tmp_path / "out"
        # Only one of the editions has the unit.
        text = SWEEP.replace('"4 infantry",', '"2 mech_infantry",')
        path.write_text(text + '"scenario.edition" = ["spring1942", "global40_2nd"]\n')
        answer = cli("sweep", path, "--out", out)
        assert answer.code == 2
        assert answer.err.splitlines()[-1].startswith(f"{path}: 4 of 16 matchups failed")
        status = analysis.load(out).matchups["status"].value_counts()
        assert status["failed"] == 4
        assert status["ok"] == 12
        assert (out / "report.html").is_file()

    def test_small_matchups_are_solved_by_default(self, cli: Cli, tmp_path: Path) -> None:
        path, out = tmp_path / "mixed.toml", tmp_path / "out"
        text = SWEEP.replace('method = "simulate"\n', "").replace('"4 infantry",', '"4 infantry", "2000 infantry",')
        path.write_text(text.replace('"3 infantry"', '"3 infantry", "1500 infantry"'))
        found = cli("sweep", path, "--out", out, "--json").json
        assert (found["method"], found["exact"], found["simulated"], found["battles"]) == ("mixed", 16, 2, 400)
        answer = cli("sweep", path, "--out", out)
        assert answer.code == 0, answer.err
        assert "16 exact, 2 simulated, the latter with 400 battles each" in " ".join(answer.out.split())
        assert "each simulated one at 95 % confidence" in " ".join(answer.out.split())
        few = ("--set", 'attacker.mixes=["4 infantry"]', "--out", tmp_path / "solved")
        solved = cli("sweep", path, *few, "--json").json
        assert (solved["method"], solved["battles"]) == ("exact", None)


class TestFinished:
    def test_resume_of_a_finished_sweep(self, cli: Cli, sweep: Path, tmp_path: Path) -> None:
        out = tmp_path / "out"
        cli("sweep", sweep, "--out", out, "--no-report")
        before = (out / "matchups.parquet").read_bytes()
        found = cli("resume", out, "--json").json
        assert found["folder"] == str(out)
        assert (out / "matchups.parquet").read_bytes() == before
        assert (out / "report.html").is_file()

    def test_report(self, cli: Cli, sweep: Path, tmp_path: Path) -> None:
        out = tmp_path / "out"
        cli("sweep", sweep, "--out", out, "--no-report")
        assert str(out / "report.html") in cli("report", out).out
        page = tmp_path / "page.html"
        assert cli("report", out, "--out", page, "--json").json["report"] == str(page)
        assert page.read_bytes() == (out / "report.html").read_bytes()

    def test_doctor_tells_where_a_sweep_comes_from(self, cli: Cli, sweep: Path, tmp_path: Path) -> None:
        out = tmp_path / "out"
        cli("sweep", sweep, "--out", out, "--no-report")
        facts = cli("doctor", out, "--json").json
        found = facts["run"]
        assert found["seed"] == 5
        assert found["state"] == "complete"
        assert "numba" in found["versions"]
        assert facts["files"]["matchups"] == "whole"
        assert facts["files"]["problems"] == []
        assert "seed" in cli("doctor", out).out

    def test_doctor_finds_damage_that_resume_mends(self, cli: Cli, sweep: Path, tmp_path: Path) -> None:
        out = tmp_path / "out"
        cli("sweep", sweep, "--out", out, "--no-report")
        whole = (out / "mixes.parquet").read_bytes()
        (out / "mixes.parquet").write_bytes(whole[:-1])
        found = cli("doctor", out)
        assert found.code == 3
        assert f"{out / 'mixes.parquet'}: its checksum is not that of the manifest" in found.err
        assert f"{out}: 1 problem found; mend with: simcore resume {out}" in found.err
        assert cli("doctor", out, "--json").json["files"]["mixes"] == "damaged"
        cli("resume", out, "--no-report")
        assert (out / "mixes.parquet").read_bytes() == whole
        assert cli("doctor", out).code == 0

    def test_a_sweep_on_workers(self, cli: Cli, sweep: Path, tmp_path: Path) -> None:
        for out, how in (("here", ()), ("there", ("--workers", 1))):
            assert cli("sweep", sweep, "--out", tmp_path / out, "--no-report", *how).code == 0
        for name in ("matchups", "mixes", "survivors"):
            here, there = (tmp_path / out / f"{name}.parquet" for out in ("here", "there"))
            assert here.read_bytes() == there.read_bytes()
        assert "scheduler: must be the address" in cli("resume", tmp_path / "here", "--scheduler", "foo://x:1").problem


class TestRulesets:
    def test_list(self, cli: Cli) -> None:
        assert "general_combat" in cli("rulesets").out
        found = cli("rulesets", "--json").json
        assert set(found) == set(simcore.rulesets())
        assert "spring1942" in found["general_combat"]["editions"]

    def test_the_unit_table_of_an_edition(self, cli: Cli) -> None:
        text = cli("rulesets", "general_combat", "--edition", "1942_2nd").out
        row = next(line.split() for line in text.splitlines() if line.startswith("tank"))
        assert row[1:4] == ["6", "3", "3"]
        found = cli("rulesets", "general_combat", "--edition", "1942_2nd", "--json").json
        assert found["units"]["tank"]["cost"] == 6
        assert found["switches"]["aa_dice"] == "three_per_gun"

    def test_the_default_edition(self, cli: Cli) -> None:
        assert cli("rulesets", "general_combat", "--json").json["name"] == "spring1942"


@pytest.mark.parametrize("kind", ["scenario", "sweep"])
def test_schema(cli: Cli, kind: str) -> None:
    found = cli("schema", kind).json
    assert found["type"] == "object"
    assert "$schema" in found


def test_doctor(cli: Cli) -> None:
    found = cli("doctor", "--json").json
    assert found["versions"]["simcore"] == simcore.__version__
    assert found["cpu_threads"] >= 1
    assert Path(found["cache"]["folder"]).is_absolute()
    assert "numba" in cli("doctor").out


class TestPrecision:
    def test_a_sweep_to_a_precision_and_beyond(self, cli: Cli, sweep: Path, tmp_path: Path) -> None:
        folder, whole = tmp_path / "out", tmp_path / "whole"
        first = cli("sweep", sweep, "--precision", 0.03, "--battles", 50_000, "--out", folder, "--json")
        assert first.code == 0
        assert first.json["precision"] == 0.03
        more = cli("sweep", sweep, "--precision", 0.01, "--battles", 70_000, "--out", folder, "--top-up", "--json")
        assert more.code == 0
        assert cli("sweep", sweep, "--precision", 0.01, "--battles", 70_000, "--out", whole).code == 0
        for table in ("matchups", "mixes", "survivors"):
            assert (folder / f"{table}.parquet").read_bytes() == (whole / f"{table}.parquet").read_bytes()
        rows = analysis.load(folder).matchups
        assert (rows["precision"] <= 0.01).all()
        assert more.json["battles_counted"] == rows["battles"].sum() > first.json["battles_counted"]
        assert "valid at all times for shares" in (folder / "report.html").read_text()
        facts = cli("doctor", folder, "--json").json["run"]
        assert facts["earlier"] == {"1": "50000 battles to a precision of 0.03"}
        assert "50000 battles to a precision of 0.03" in cli("doctor", folder).out

    def test_top_up_refuses_less(self, cli: Cli, sweep: Path, tmp_path: Path) -> None:
        folder = tmp_path / "out"
        assert "holds no sweep that could be topped up" in cli("sweep", sweep, "--out", folder, "--top-up").problem
        assert cli("sweep", sweep, "--out", folder, "--no-report").code == 0
        assert "it has 400 battles" in cli("sweep", sweep, "--out", folder, "--battles", 300, "--top-up").problem
        assert "top it up" in cli("sweep", sweep, "--out", folder, "--battles", 500).problem
        assert "anew cannot be topped up" in cli("sweep", sweep, "--out", folder, "--fresh", "--top-up").problem

    def test_too_few_battles_are_told(self, cli: Cli, sweep: Path, tmp_path: Path) -> None:
        answer = cli("sweep", sweep, "--precision", 0.001, "--battles", 5_000, "--out", tmp_path / "out", "--no-report")
        assert answer.code == 0
        assert "warning: 8 of 8 matchups have as many battles as are allowed" in answer.err

    def test_a_precision_out_of_range(self, cli: Cli, sweep: Path) -> None:
        for value in ("0", "0.5", "-1", "nan"):
            assert "sweep.precision: " in cli("sweep", sweep, f"--precision={value}").problem

    def test_dry_run(self, cli: Cli, sweep: Path, tmp_path: Path) -> None:
        folder = tmp_path / "out"
        answer = cli("sweep", sweep, "--out", folder, "--dry-run")
        assert answer.code == 0
        assert answer.out.startswith("small: 8 matchups\n  simulated   8 (3.2 thousand battles)\n")
        found = cli("sweep", sweep, "--out", folder, "--dry-run", "--json").json
        assert (found["matchups"], found["simulated"], found["battles"]) == (8, 8, 3_200)
        assert not folder.exists()
        absurd = cli("sweep", sweep, "--battles", 10**12, "--set", 'grid."edition.tank.cost"=[5,6,7,8]', "--dry-run")
        assert "asks for 16,000,000,000,000 battles" in absurd.problem

    def test_merge(self, cli: Cli, sweep: Path, tmp_path: Path) -> None:
        for seed in (5, 6):
            assert cli("sweep", sweep, "--seed", seed, "--out", tmp_path / str(seed), "--no-report").code == 0
        answer = cli("merge", tmp_path / "5", tmp_path / "6", "--out", tmp_path / "both", "--json")
        assert answer.code == 0
        rows = analysis.load(tmp_path / "both").matchups
        assert (rows["battles"] == 800).all()
        assert (rows["seed"] == "5, 6").all()
        assert (tmp_path / "both" / "report.html").exists()
        facts = cli("doctor", tmp_path / "both", "--json").json
        assert list(facts["run"]["merged_from"]) == [str(tmp_path / "5"), str(tmp_path / "6")]
        assert facts["files"]["problems"] == []
        twice = cli("merge", tmp_path / "5", tmp_path / "both", "--out", tmp_path / "never").problem
        assert "no battle counts twice" in twice
        assert "at least two" in cli("merge", tmp_path / "5", "--out", tmp_path / "never").problem
        next((tmp_path / "both" / "parts").glob("*.parquet")).unlink()
        spoilt = cli("doctor", tmp_path / "both")
        assert spoilt.code == 3
        assert spoilt.err.splitlines()[-1] == f"{tmp_path / 'both'}: 1 problem found; merge it again"
