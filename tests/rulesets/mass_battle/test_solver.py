"""The exact solver against the exact reference, the sampler, and what holds in every battle."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import simcore
from simcore.core.jit import is_jit_disabled
from simcore.errors import ScenarioError
from tests.rulesets.mass_battle import reference_exact as exact
from tests.rulesets.mass_battle.reference import OUTCOMES, STATES
from tests.rulesets.mass_battle.strategies import scenarios
from tests.rulesets.mass_battle.support import NEAR, SIDES, battle, house, means

PLACES = {
    "standard": {"squad": "type_1", "mobile_squad": "type_2"},
    "house": {"levy": "type_1", "guard": "type_2", "riders": "type_3"},
}


def reference_means(scenario: dict[str, Any]) -> dict[str, float]:
    """Return every accumulator that the reference knows."""
    found: dict[str, float] = {}

    def add(name: str, value: float) -> None:
        found[name] = found.get(name, 0.0) + value

    places = PLACES[scenario.get("edition", "standard")]
    table = {key: value for key, value in scenario.items() if key != "ruleset"}
    solved = exact.solve(table, exact=False, left=1e-17)
    for ending, p in solved.battles:
        chance = float(p)
        add(f"outcome.{ending.outcome}", chance)
        lost = ending.cost_lost
        for side, name in enumerate(SIDES):
            add(f"{name}.cost_lost.sum", chance * lost[side])
            add(f"{name}.cost_lost.sumsq", chance * lost[side] ** 2)
            for state in STATES:
                add(f"squads.{name}.{state}", chance * ending.total(side, state))
                for unit, count in ending.squads[side][state].items():
                    if state in {"active", "suppressed"}:
                        add(f"survivors.{ending.outcome}.{name}.{places[unit]}", chance * count)
        add("swing.sum", chance * ending.swing)
        add("swing.sumsq", chance * ending.swing**2)
    add("turns.sum", float(solved.mean_turns))
    if solved.turns:
        add("turns.sumsq", sum(turn**2 * float(p) for turn, p in solved.turns.items()))
    add("battles", sum(found.get(f"outcome.{name}", 0.0) for name in OUTCOMES))
    return found


def assert_equals_reference(scenario: dict[str, Any]) -> None:
    """Check every accumulator."""
    found, wanted = means(scenario), reference_means(scenario)
    for name, value in found.items():
        if name == "turns.sumsq" and name not in wanted:
            continue
        assert abs(value - wanted.get(name, 0.0)) <= NEAR * max(1.0, abs(value)), name


@given(scenario=scenarios(most=2))
@settings(max_examples=12)
def test_solutions_equal_the_exact_reference(scenario: dict[str, Any]) -> None:
    for side in SIDES:
        for name in ("pool", "pool_modifier"):
            if isinstance(scenario[side].get(name), list):
                scenario[side][name] = scenario[side][name][0]
        units = scenario[side]["units"]
        # The reference keeps squads apart and takes long for large armies.
        while sum(units.values()) > 2:
            units.popitem()
    if scenario["options"].get("target_order") == "random":
        scenario["options"]["target_order"] = "listed"
    with np.errstate(over="ignore"):
        assert_equals_reference(scenario)
