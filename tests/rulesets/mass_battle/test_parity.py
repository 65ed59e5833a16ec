"""The sampler against the reference, battle by battle: both see the same dice and must tell the same battle."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import simcore
from tests.rulesets.mass_battle.reference import fight, read_scenario
from tests.rulesets.mass_battle.strategies import scenarios
from tests.rulesets.mass_battle.support import SIDES, ToldDice, squads_of


def fixed_pools(scenario: dict[str, Any]) -> dict[str, Any]:
    """Return a scenario as the reference reads it: lists of pools and modifiers are not its own."""
    return {key: value for key, value in scenario.items() if key != "ruleset"}


def has_lists(scenario: dict[str, Any]) -> bool:
    return any(isinstance(scenario[side].get(name), list) for side in SIDES for name in ("pool", "pool_modifier"))


@given(scenario=scenarios(), number=st.integers(0, 2**40))
def test_battles_equal_the_reference(scenario: dict[str, Any], number: int) -> None:
    for side in SIDES:  # turn by turn they have tests of their own
        for name in ("pool", "pool_modifier"):
            if isinstance(scenario[side].get(name), list):
                scenario[side][name] = scenario[side][name][0]
    with np.errstate(over="ignore"):
        told = simcore.replay(scenario, battle=number)
    dice = ToldDice(told.draws)
    found = fight(read_scenario(fixed_pools(scenario)), dice).battle
    assert dice.is_used_up()
    assert (told.outcome, told.turns) == (found.outcome, found.turns)
    assert squads_of(told) == found.squads
    assert told.cost_lost == dict(zip(SIDES, found.cost_lost, strict=True))
