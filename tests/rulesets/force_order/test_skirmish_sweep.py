"""Sweeps over skirmishes: both ways round, the same digits for any number of threads, the first mover's edge."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import analysis
import simcore
from analysis.cli import app
from analysis.command import options
from simcore.core.jit import is_jit_disabled
from simcore.errors import ScenarioError
from simcore.run.plan import plan_sweep
from simcore.scenario import load_sweep

if TYPE_CHECKING:
    from pathlib import Path

GAMES = 2 if is_jit_disabled() else 400
BOARD = {"rows": 5, "columns": 6, "land_columns": 4, "set_up_rows": 2, "turn_cap": 30}


def sweep_table(**scenario: Any) -> dict[str, Any]:
    return {
        "sweep": {"name": "skirmish", "ruleset": "force_order", "battles": GAMES},
        "scenario": {"mode": "skirmish", "options": BOARD, **scenario},
        "attacker": {"mixes": ["3 soldier4", "1 soldier8, 1 soldier4"]},
        "defender": {"mixes": ["3 soldier4", "2 soldier4, 1 boat_large"]},
        "grid": {"scenario.attacker.policy": ["random", "greedy"]},
    }


def test_pairings_are_played_both_ways_round(tmp_path: Path) -> None:
    simcore.sweep(sweep_table(), tmp_path / "run", threads=1)
    run = analysis.load(tmp_path / "run")
    assert run.rounds == "turns"
    assert run.manifest["sweep"]["scenario"]["first_mover"] == "alternate"
    assert len(run.matchups) == 8
    for row in run.matchups.to_dict("records"):
        policy = row["grid.scenario.attacker.policy"]
        side = {"units": row["attacker_units"], "policy": policy}
        game = {"ruleset": "force_order", "mode": "skirmish", "options": BOARD, "first_mover": "alternate"}
        game |= {"attacker": side, "defender": {"units": row["defender_units"]}}
        found = simcore.odds(scenario=game, battles=GAMES).to_dict()
        assert found["outcomes"]["draw"] == row["p_draw"]
        assert found["turns"]["mean"] == row["turns_mean"]
        assert found["mean_first_mover_edge"] == row["first_mover_edge_mean"]
        ends = [row[f"p_end_{end}"] for end in ("flag_home", "flag_captured", "no_action", "repetition", "turn_cap")]
        assert sum(ends) == pytest.approx(1)


def test_the_report_shows_the_first_movers_edge(tmp_path: Path) -> None:
    simcore.sweep(sweep_table(), tmp_path / "run", threads=1)
    run = analysis.load(tmp_path / "run")
    page = analysis.report(tmp_path / "run").read_text(encoding="utf-8")
    assert page.count("First mover&#39;s edge") >= 2
    assert "Turns" in page
    table = analysis.summarize(run).matchups
    errors = table["first_mover_edge_sd"] / GAMES**0.5
    assert table["first_mover_edge_se"].tolist() == pytest.approx(errors.tolist())


def test_the_command_of_a_row_computes_it_again(tmp_path: Path) -> None:
    simcore.sweep(sweep_table(), tmp_path / "run", threads=1)
    run = analysis.load(tmp_path / "run")
    row: dict[str, Any] = {str(name): value for name, value in run.matchups.iloc[5].items()}
    words = shlex.split(f'odds "{row["attacker_units"]}" "{row["defender_units"]}" {options(run, row)} --json')
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert f'"draw": {row["p_draw"]}' in done.stdout


def test_threads_and_resuming_change_nothing(tmp_path: Path) -> None:
    simcore.sweep(sweep_table(), tmp_path / "one", threads=1)
    simcore.sweep(sweep_table(), tmp_path / "two", threads=2)
    simcore.sweep(sweep_table(), tmp_path / "two", threads=2)
    for name in ("matchups", "survivors", "mixes"):
        one, two = (pq.read_table(tmp_path / folder / f"{name}.parquet") for folder in ("one", "two"))
        assert one.equals(two)


def test_a_sweep_file_may_say_who_moves_first() -> None:
    for mover in ("attacker", "defender"):
        plan = plan_sweep(load_sweep(sweep_table(first_mover=mover)))
        assert plan.scenario(0)["first_mover"] == mover
    table = sweep_table()
    table["grid"] = {"scenario.first_mover": ["attacker", "defender"]}
    plan = plan_sweep(load_sweep(table))
    assert [plan.scenario(matchup)["first_mover"] for matchup in (0, 4)] == ["attacker", "defender"]


def test_attacks_and_skirmishes_need_a_sweep_each() -> None:
    table = sweep_table()
    table["grid"] = {"scenario.mode": ["skirmish", "attack"]}
    with pytest.raises(ScenarioError, match=r"grid.scenario.mode\[1\]: battles of the kinds"):
        plan_sweep(load_sweep(table))


def test_a_mix_that_does_not_fit_is_refused_by_its_place() -> None:
    table = sweep_table()
    table["attacker"] = {"mixes": ["3 soldier4", "9 soldier4"]}
    with pytest.raises(ScenarioError, match=r"attacker.mixes\[1\]: soldiers and the flag are placed on land"):
        plan_sweep(load_sweep(table))


def test_a_budget_may_hold_boats() -> None:
    table = sweep_table()
    table["attacker"] = {"budget": {"units": ["soldier4", "boat_small", "plane_scout"], "cost": 8, "slack": 1}}
    plan = plan_sweep(load_sweep(table))
    assert {mix.units for mix in plan.points[0].attackers} >= {"2 soldier4", "1 soldier4, 1 plane_scout"}
