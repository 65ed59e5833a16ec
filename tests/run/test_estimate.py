"""What a sweep would take, told before it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from simcore.errors import ScenarioError
from simcore.run import estimate
from simcore.run.estimate import estimate_sweep
from simcore.run.plan import plan_sweep
from simcore.run.session import sweep
from simcore.scenario import load_sweep
from tests.run.sweeps import planned, small

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.usefixtures("invented_battles")
def test_battles_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimate, "_MANY_BATTLES", 5_000)
    found = estimate_sweep(planned(sweep={"battles": 200_000}))
    assert (found.matchups, found.exact, found.simulated, found.failed, found.sampled) == (6, 0, 6, 0, 6)
    assert found.battles == found.most_battles == 1_200_000
    assert found.seconds > 0
    assert found.fought_trial == 6
    text = str(found)
    assert "small: 6 matchups\n  simulated   6 (1.2 million battles)" in text
    assert "nothing was stored" in text
    assert found.to_dict()["battles"] == 1_200_000


@pytest.mark.usefixtures("invented_battles")
def test_a_precision_is_judged_by_the_sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimate, "_MANY_BATTLES", 50_000)
    config = small(sweep={"precision": 0.008, "battles": 500_000})
    found = estimate_sweep(plan_sweep(load_sweep(config)))
    result = sweep(config, tmp_path)
    assert found.most_battles == 3_000_000
    assert 0.7 * result.battles < found.battles < 1.4 * result.battles
    assert "at most 3,000,000" in str(found)
    sizes = sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file())
    assert sizes / 4 < found.disk_bytes < 4 * sizes


def test_solved_and_simulated_matchups_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimate, "_MANY_BATTLES", 1_000)
    large = "200 infantry, 200 tank, 200 fighter, 200 artillery"
    found = estimate_sweep(
        planned(
            sweep={"method": "auto", "battles": 10_000, "pairs": [[0, 0], [1, 1]]},
            attacker={"mixes": ["3 infantry", large]},
            defender={"mixes": ["2 infantry", large]},
            grid={"scenario.attacker.keep_land": [0, -1]},
        )
    )
    assert (found.matchups, found.exact, found.simulated, found.failed) == (4, 1, 1, 2)
    assert (found.battles, found.solved_trial, found.fought_trial) == (10_000, 1, 1)
    assert found.states >= 6
    assert "impossible  2" in str(found)


def test_what_no_solver_can_solve_is_impossible() -> None:
    skirmishes = planned(
        sweep={"ruleset": "force_order", "edition": None, "method": "exact"},
        scenario={"mode": "skirmish"},
        attacker={"mixes": ["1 soldier1", "1 soldier2"]},
        defender={"mixes": ["1 soldier3"]},
        grid={},
    )
    army = {"mixes": ["2000 infantry, 2000 tank, 2000 fighter"]}
    for plan in (skirmishes, planned(sweep={"method": "exact"}, attacker=army, defender=army)):
        found = estimate_sweep(plan)
        assert (found.exact, found.simulated, found.failed) == (0, 0, len(plan))


def test_kept_outcomes_take_room(tmp_path: Path) -> None:
    config = small(
        sweep={"method": "simulate", "battles": 500, "keep_outcomes": True},
        attacker={"mixes": ["1 infantry"]},
        defender={"mixes": ["1 infantry"]},
    )
    found = estimate_sweep(plan_sweep(load_sweep(config)))
    few = estimate_sweep(plan_sweep(load_sweep({**config, "sweep": {**config["sweep"], "keep_outcomes": False}})))
    assert found.disk_bytes > few.disk_bytes


@pytest.mark.usefixtures("invented_battles")
@pytest.mark.parametrize("solved", range(9))
def test_a_sample_scaled_up_counts_every_matchup_once(solved: int) -> None:
    trial = estimate._Trial(planned(), None)
    trial.sample, trial.factor = list(range(8)), 9 / 8
    trial.solved, trial.drawn = list(range(solved)), list(range(8 - solved))
    trial.efforts = dict.fromkeys(range(8), 1)
    exact, simulated, impossible = trial.scaled_up()
    assert exact + simulated == 9
    assert (impossible, min(exact, simulated) >= 0) == (0, True)


@pytest.mark.usefixtures("invented_battles")
def test_long_plans_are_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimate, "_MOST_READ", 4)
    monkeypatch.setattr(estimate, "_MANY_BATTLES", 5_000)
    found = estimate_sweep(planned())
    assert (found.sampled, found.simulated, found.battles) == (4, 6, 18_000)
    assert "simulated   about 6" in str(found)


def test_absurd_sizes_are_refused_with_the_number() -> None:
    with pytest.raises(
        ScenarioError, match=r"asks for 12,000,000,000,000 battles \(12 matchups with 1,000,000,000,000 each"
    ):
        planned(sweep={"battles": 10**12}, attacker={"mixes": [f"{n} tank" for n in range(1, 7)]})
