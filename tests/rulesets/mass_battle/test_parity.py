"""The sampler against the reference, battle by battle: both see the same dice and must tell the same battle."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import simcore
from simcore.rulesets.mass_battle.encoding import STATUSES
from tests.rulesets.mass_battle.reference import fight, read_scenario
from tests.rulesets.mass_battle.strategies import scenarios
from tests.rulesets.mass_battle.support import SIDES, ToldDice, battle, house, squads_of


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


KEPT = ("outcome", "turns", "survivors", "cost_lost", "squads")


@pytest.mark.parametrize(
    "scenario",
    [
        battle("3 squad", "2 squad, 1 mobile_squad"),
        battle("2 squad, 3 mobile_squad", "4 squad", rally_attempts="unlimited", routed_targets=True, max_turns=6),
        battle("3 squad", ""),
    ],
    ids=["plain", "unlimited rallies", "over before it begins"],
)
def test_battles_that_take_the_lanes_of_others_are_those_fought_alone(scenario: dict[str, Any]) -> None:
    encoded = simcore.encode([scenario])
    many = simcore.simulate(encoded, battles=1_300, first=7, keep_battles=True)
    for number in (0, 1, *range(505, 520), *range(1_020, 1_030), 1_299):
        alone = simcore.simulate(encoded, battles=1, first=7 + number, keep_battles=True)
        for name in KEPT:
            assert np.array_equal(getattr(many, name)[:, number], getattr(alone, name)[:, 0])


@pytest.mark.parametrize("battles", [1, 511, 512, 513, 1_300])
def test_a_tally_adds_up_the_battles(battles: int) -> None:
    scenario = house("2 levy, 1 guard", "1 levy, 2 riders", rally_attempts="unlimited")
    run = simcore.simulate(simcore.encode([scenario]), battles=battles, keep_battles=True)
    outcome, turns, lost, squads, survivors = (
        array[0].astype(np.int64)
        for array in (run.outcome, run.turns, run.cost_lost, run.squads, run.survivors)
        if array is not None
    )

    def total(column: str) -> int:
        return int(run.column(column)[0])

    for index, name in enumerate(run.ruleset.outcomes):
        assert total(f"outcome.{name}") == (outcome == index).sum()
        for s, side in enumerate(SIDES):
            for t in range(survivors.shape[2]):
                assert total(f"survivors.{name}.{side}.type_{t + 1}") == survivors[outcome == index, s, t].sum()
    assert (total("turns.sum"), total("turns.sumsq")) == (turns.sum(), (turns**2).sum())
    for s, side in enumerate(SIDES):
        assert total(f"{side}.cost_lost.sum") == lost[:, s].sum()
        assert total(f"{side}.cost_lost.sumsq") == (lost[:, s] ** 2).sum()
        for place, status in enumerate(STATUSES):
            assert total(f"squads.{side}.{status}") == squads[:, s, place].sum()
    swing = lost[:, 1] - lost[:, 0]
    assert (total("swing.sum"), total("swing.sumsq")) == (swing.sum(), (swing**2).sum())
