"""Sweeps whose matchups are solved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import analysis
import simcore
from simcore.errors import ResumeMismatchError
from simcore.run.plan import plan_sweep
from simcore.scenario import load_sweep
from tests.run.sweeps import digests

if TYPE_CHECKING:
    from pathlib import Path

SWEEP: dict[str, Any] = {
    "sweep": {"name": "solved", "method": "exact"},
    "scenario": {"territory": {"value": 3}},
    "attacker": {"mixes": ["3 infantry", "2 infantry, 1 tank", "1 fighter"]},
    "defender": {"mixes": ["2 infantry", "1 infantry, 1 aa_gun"]},
    "grid": {"scenario.attacker.keep_land": [0, 1]},
}


def table_of(folder: Path, name: str = "matchups") -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = pq.read_table(folder / f"{name}.parquet").to_pydict()
    return found


def test_tables_hold_the_solutions(tmp_path: Path) -> None:
    result = simcore.sweep(SWEEP, tmp_path)
    assert (result.matchups, result.failed, result.solved, result.battles) == (12, 0, 12, 0)
    assert "solved" in str(result)
    plan = plan_sweep(load_sweep(SWEEP))
    solution = simcore.solve(simcore.encode([plan.scenario(number) for number in range(len(plan))]))
    table = table_of(tmp_path)
    for outcome in plan.ruleset.outcomes:
        assert table[f"p_{outcome}"] == solution.column(f"outcome.{outcome}").tolist()
        assert set(table[f"n_{outcome}"]) == {None}
    assert table["swing_mean"] == solution.column("swing.sum").tolist()
    spread = np.sqrt(solution.column("swing.sumsq") - solution.column("swing.sum") ** 2)
    assert np.allclose(table["swing_sd"], spread, rtol=1e-12, atol=0)
    assert table["value_gained_mean"] == solution.column("captured.value").tolist()
    assert set(table["battles"]) == {0}
    assert set(table["method"]) == {"exact"}
    shares = table_of(tmp_path, "mixes")["win_share_mean"]
    wins = solution.column("outcome.attacker_wins") + solution.column("outcome.attacker_clears")
    assert shares[0] == pytest.approx((wins[0] + wins[1]) / 2, abs=1e-15)
    left = table_of(tmp_path, "survivors")
    assert left["mean"][0] == pytest.approx(simcore.odds("3 infantry", "2 infantry", method="exact").to_dict()[
        "attacker"
    ]["mean_survivors"]["infantry"])  # fmt: skip


def test_a_sampled_sweep_comes_near(tmp_path: Path) -> None:
    simcore.sweep(SWEEP, tmp_path / "exact")
    simcore.sweep({**SWEEP, "sweep": {"name": "drawn", "method": "simulate", "battles": 20_000}}, tmp_path / "drawn")
    exact, drawn = (np.array(table_of(tmp_path / name)["p_attacker_wins"]) for name in ("exact", "drawn"))
    assert np.abs(exact - drawn).max() < 4.5 * 0.5 / 20_000**0.5


def test_resuming_and_threads_change_no_byte(tmp_path: Path) -> None:
    simcore.sweep(SWEEP, tmp_path / "one", threads=1)
    simcore.sweep(SWEEP, tmp_path / "two", threads=2)
    again = simcore.sweep(SWEEP, tmp_path / "two", resume=True)
    assert again.parts_computed == 0
    assert digests(tmp_path / "one") == digests(tmp_path / "two")
    with pytest.raises(ResumeMismatchError):
        simcore.sweep({**SWEEP, "sweep": {"name": "solved", "method": "simulate"}}, tmp_path / "two", resume=True)


def test_a_matchup_that_is_too_large_fails_alone(tmp_path: Path) -> None:
    many = ", ".join(f"2000 {unit}" for unit in ("infantry", "artillery", "tank", "fighter", "bomber"))
    config = {**SWEEP, "attacker": {"mixes": ["1 infantry", many]}, "defender": {"mixes": [many]}, "grid": {}}
    result = simcore.sweep(config, tmp_path)
    assert (result.matchups, result.failed) == (2, 1)
    table = table_of(tmp_path)
    assert table["status"] == ["ok", "failed"]
    assert "states" in table["error"][1]


@pytest.mark.parametrize("terrain", ["sea", "amphibious", "raid", "assault"])
def test_every_kind_of_battle(terrain: str, tmp_path: Path) -> None:
    config: dict[str, Any] = {**SWEEP, "grid": {}, "scenario": {"terrain": terrain}}
    if terrain == "sea":
        config |= {"attacker": {"mixes": ["1 submarine"]}, "defender": {"mixes": ["1 destroyer"]}}
    elif terrain == "raid":
        config |= {"attacker": {"mixes": ["2 bomber"]}, "defender": {"mixes": ["1 aa_gun"]}}
        config["scenario"]["raid"] = {"cap": "none"}
    elif terrain == "assault":
        sea = {
            "attacker": {"units": "1 transport, 1 cruiser", "cargo": ["2 infantry"]},
            "defender": {"units": "1 submarine"},
        }
        config |= {"scenario": {"terrain": "amphibious", "sea": sea}, "attacker": {"mixes": ["2 infantry"]}}
    simcore.sweep(config, tmp_path)
    run = analysis.load(tmp_path)
    assert run.method == "exact"
    assert (run.matchups["status"] == "ok").all()
    shares = run.matchups[[f"p_{outcome}" for outcome in run.outcomes]].to_numpy()
    assert np.allclose(shares.sum(axis=1), 1, atol=1e-12)
    text = analysis.summarize(run).to_text()
    assert "95 %" not in text
    page = analysis.report(run).read_text(encoding="utf-8")
    assert "--method exact" in page
    assert "--battles" not in page
