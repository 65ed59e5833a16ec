"""Sweeps, reports and replays of mass battles: everything outside the ruleset's folder knows them by their record."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import analysis
import simcore
from analysis import script
from simcore.errors import ScenarioError
from tests.rulesets.mass_battle.support import HOUSE, NEAR, battle, house

if TYPE_CHECKING:
    from analysis.frames import Run

ROOT = Path(__file__).resolve().parents[3]
STATUSES = ("active", "suppressed", "routed", "fled", "destroyed", "captured")


def sweep(tmp_path: Path, **settings: Any) -> Run:
    """Run a small sweep over a budget in an edition of its own."""
    config = {
        "sweep": {
            "name": "squads", "ruleset": "mass_battle", "edition": "house", "editions": HOUSE, "battles": 50, **settings
        },
        "attacker": {"budget": {"units": ["guards", "levy"], "cost": 4, "max_units": 4}},
        "defender": {"mixes": ["1 levy, 1 riders", {"name": "riders", "units": "2 riders"}]},
        "grid": {"scenario.options.initiative": ["simultaneous", "attacker_first"], "edition.levy.cost": [1, 2]},
    }  # fmt: skip
    with np.errstate(over="ignore"):
        simcore.sweep(config, tmp_path)
    return analysis.load(tmp_path)


@pytest.mark.parametrize("method", ["simulate", "exact"])
def test_a_sweep_over_mixes_and_options(tmp_path: Path, method: str) -> None:
    run = sweep(tmp_path, method=method)
    assert run.rounds == "turns"
    assert (run.matchups["status"] == "ok").all()
    # Budgets follow the price of a levy, in the order of the edition's table.
    at = run.matchups["grid.edition.levy.cost"]
    assert set(run.matchups[at == 1]["attacker"]) == {"4 levy", "1 levy, 1 guard"}
    assert set(run.matchups[at == 2]["attacker"]) == {"2 levy"}
    shares = run.matchups[[f"p_{outcome}" for outcome in run.outcomes]].sum(axis=1)
    assert np.allclose(shares, 1.0, atol=NEAR)
    squads = [
        f"defender_{status}_mean" for status in ("active", "suppressed", "routed", "fled", "destroyed", "captured")
    ]
    assert np.allclose(run.matchups[squads].sum(axis=1), 2.0, atol=1e-9)
    assert set(run.survivors["unit"]) == {"levy", "guard", "riders"}
    assert (run.matchups["turns_mean"] >= 1.0).all()


def test_the_report_speaks_of_turns_and_gives_commands(tmp_path: Path) -> None:
    sweep(tmp_path)
    page = analysis.report(tmp_path).read_text(encoding="utf-8")
    assert ">Turns<" in page
    assert "Cycles" not in page
    assert "--ruleset mass_battle" in page
    assert "options.initiative=attacker_first" in page


def test_results_print_squads_and_turns() -> None:
    result = simcore.odds(scenario=battle("2 squad", "1 squad"), method="exact")
    assert "turns" in str(result)
    assert "attacker squads" in str(result)
    assert result.turns["mean"] == result.to_dict()["turns"]["mean"]
    assert "cycles" not in result.to_dict()
    squads = result.to_dict()["attacker"]["mean_squads"]
    assert abs(sum(squads.values()) - 2.0) < NEAR


def test_a_written_script_plays_the_same_battle(tmp_path: Path) -> None:
    scenario = house("2 levy, 1 guard", "2 riders", target_order="random")
    with np.errstate(over="ignore"):
        told = simcore.replay(scenario, battle=5)
    script.write_script(tmp_path / "battle.txt", told.draws, told.lines[0])
    again = simcore.replay(scenario, script=script.read_script(tmp_path / "battle.txt"))
    assert again.squads == told.squads
    assert again.lines[1:] == told.lines[1:]
    assert "# turn 1, attacker: showing 4 or more" in (tmp_path / "battle.txt").read_text(encoding="utf-8")


def test_a_script_that_does_not_fit_names_the_turn_and_the_roll() -> None:
    scenario = battle("3 squad", "1 squad")
    with pytest.raises(ScenarioError, match=r"draw point 1 \(turn 1, attacker: showing 4 or more, 3 dice\).*0 to 3"):
        simcore.replay(scenario, script=[4])
    with pytest.raises(ScenarioError, match=r"ends after 1 draw points, but draw point 2 \(turn 1, attacker"):
        simcore.replay(scenario, script=[2])
    with pytest.raises(ScenarioError, match=r"the battle ends after 4 draw points, but the script has 5"):
        simcore.replay(scenario, script=[1, 1, 1, 0, 0])


def test_a_story_in_words() -> None:
    """One battle as it is told; a change of the words is made in the file, one of the dice raises the version."""
    with np.errstate(over="ignore"):
        told = simcore.replay(ROOT / "examples" / "mass-battle.toml", battle=32)
    assert told.to_text() + "\n" == (Path(__file__).parent / "playthrough.txt").read_text(encoding="utf-8")
