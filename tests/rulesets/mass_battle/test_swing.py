"""The distribution of the swing of solved battles: against the exact reference, and against the solution itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import simcore
from simcore import api
from simcore.rulesets.mass_battle import exact as exact_call
from simcore.rulesets.mass_battle.exact import count_spread_states, spread_swing
from simcore.rulesets.mass_battle.limits import MOST_SPREAD_STATES
from simcore.schema import SPREAD
from tests.rulesets.mass_battle import reference_exact as exact
from tests.rulesets.mass_battle.support import NEAR, battle
from tests.rulesets.mass_battle.test_solver import NAMED


def spread(scenario: dict[str, Any]) -> Any:
    encoded: Any = simcore.encode([scenario])
    return spread_swing(encoded.arrays, encoded.scenarios, 0)


def distribution(scenario: dict[str, Any]) -> dict[int, float]:
    found = spread(scenario)
    assert found is not None
    return dict(zip(found[0].tolist(), found[1].tolist(), strict=True))


@pytest.mark.parametrize("name", NAMED)
def test_it_is_that_of_the_reference(name: str) -> None:
    table = {key: value for key, value in NAMED[name].items() if key != "ruleset"}
    wanted: dict[int, float] = {}
    for ending, p in exact.solve(table, exact=False, left=1e-17).battles:
        wanted[ending.swing] = wanted.get(ending.swing, 0.0) + float(p)
    found = distribution(NAMED[name])
    assert set(wanted) <= set(found)
    for swing, chance in found.items():
        assert abs(chance - wanted.get(swing, 0.0)) <= NEAR, swing


@pytest.mark.parametrize(
    "scenario",
    [
        battle("1 squad, 1 mobile_squad", "1 squad, 1 mobile_squad"),
        battle("2 squad", "2 squad", max_turns=3),
        battle({"units": "2 squad", "can_flee": False}, "1 squad"),
        battle({"units": "2 squad", "pool_modifier": [1, 0, -1]}, "2 squad"),
    ],
    ids=["mobile", "limit", "no flight", "modifiers"],
)
def test_mean_and_square_are_those_of_the_solution(scenario: dict[str, Any]) -> None:
    found = distribution(scenario)
    solution = simcore.solve(simcore.encode([scenario]))
    assert sum(found.values()) == pytest.approx(1.0, abs=NEAR)
    for power, name in ((1, "swing.sum"), (2, "swing.sumsq")):
        assert sum(p * swing**power for swing, p in found.items()) == pytest.approx(solution.column(name)[0], abs=1e-10)


def test_odds_and_rows_tell_it(monkeypatch: pytest.MonkeyPatch) -> None:
    scenarios = [battle("2 squad", "1 squad"), battle("1 squad", "2 squad, 1 mobile_squad")]
    encoded = simcore.encode(scenarios)
    tally, _, problems = api.solve_checked(encoded, with_spread=True)
    assert not problems
    columns = len(encoded.ruleset.accumulators)
    for scenario, row in zip(scenarios, tally[:, columns:].tolist(), strict=True):
        told = simcore.odds(scenario=scenario, method="exact").swing
        assert [*told["quantiles"].values(), told["loss"]] == row
        found = distribution(scenario)
        assert told["loss"] == pytest.approx(sum(p for swing, p in found.items() if swing < 0))
        assert sum(p for swing, p in found.items() if swing <= told["quantiles"]["q50"]) >= 0.5 - 1e-12
    # The solution alone, which sweeps over prices and games ask for, does not take the time.
    assert np.isnan(simcore.solve(encoded).spread).all()
    monkeypatch.setattr(exact_call, "MOST_SPREAD_STATES", 10)
    assert "quantiles" not in simcore.odds(scenario=scenarios[1], method="exact").swing


def test_battles_with_too_many_states_or_swings_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    large: Any = simcore.encode([battle("9 squad", "9 squad")])
    assert count_spread_states(large.scenarios[0]) == 715**2
    assert spread(battle("9 squad", "9 squad")) is None
    monkeypatch.setattr(exact_call, "MOST_SWINGS", 1)
    assert spread(battle("1 squad", "1 squad")) is None


def test_rows_with_too_many_costs_are_left_out() -> None:
    """Few states, but many numbers of ones, and a swing for each whole number: two gigabytes."""
    costs = {"squad.cost": 60, "mobile_squad.cost": 61}
    scenario = battle("14 squad", "1 mobile_squad", ones_backfire="every_roll", pursuit_scope="routed_this_turn")
    encoded: Any = simcore.encode([{**scenario, "edition_changes": costs}])
    assert count_spread_states(encoded.scenarios[0]) <= MOST_SPREAD_STATES
    assert spread_swing(encoded.arrays, encoded.scenarios, 0) is None


@pytest.mark.parametrize(("costs", "swings"), [((0, 0), [0]), ((0, 3), [0, 3]), ((4, 6), [-4, -2, 0, 2, 4, 6])])
def test_costs_of_squads(costs: tuple[int, int], swings: list[int]) -> None:
    changes = {"squad.cost": costs[0], "mobile_squad.cost": costs[1]}
    found = distribution({**battle("1 squad", "1 mobile_squad"), "edition_changes": changes})
    assert list(found) == swings
    assert sum(found.values()) == pytest.approx(1.0, abs=NEAR)


def test_a_side_without_squads() -> None:
    assert distribution(battle("2 squad", ""))[0] == 1.0


def test_what_is_told_has_the_names_of_the_columns() -> None:
    encoded = simcore.encode([battle("1 squad", "1 squad")])
    assert encoded.ruleset.spread is not None
    assert encoded.ruleset.spread(encoded.arrays, encoded.scenarios, 0).shape == (len(SPREAD),)
