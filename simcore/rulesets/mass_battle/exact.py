"""Size and call of the exact solver."""

from __future__ import annotations

from functools import lru_cache
from math import comb, prod
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from simcore.core.threads import share_out
from simcore.enums import Side, Status
from simcore.rulesets.mass_battle.encoding import ACCUMULATORS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simcore.rulesets.mass_battle.encoding import Armies
    from simcore.rulesets.mass_battle.params import MassBattleScenario

__all__ = ["MOST_STATES", "count_states", "effort", "side_states", "solve_battles"]

MOST_STATES = 2**19
"""Most pairs of states of both armies: one turn takes about a microsecond for each."""
_AT_A_TIME = 16
_SIDES = tuple(Side)
_STATE = 10_000
"""Steps of a nanosecond that a pair of states takes over as many turns as are usual."""
_USUAL_TURNS = 100
_UNLIMITED = 1_000
"""Turns that a battle without a limit is reckoned with."""


def side_states(scenario: MassBattleScenario, side: Side) -> int:
    """Return how many states an army can be in at most.

    Of each type some squads are active, some come back in this turn or the next, some have left; where it matters
    who is in flight that is one more place.
    """
    return _places(tuple(scenario.counts(side).values()), 4 if scenario.remembers_flight(side) else 3)


@lru_cache(maxsize=4_096)
def _places(counts: tuple[int, ...], places: int) -> int:
    """Return in how many ways the squads of some types can stand in so many places; some have left."""
    return prod([comb(count + places, places) for count in counts])


def count_states(scenario: MassBattleScenario) -> int:
    """Return how many states the exact solver would have to hold at most; 0 where it does not reach.

    Parameters
    ----------
    scenario : MassBattleScenario

    Returns
    -------
    int
    """
    if scenario.chosen.target_order == "random" and any(len(scenario.counts(side)) > 1 for side in Side):
        return 0
    return side_states(scenario, Side.ATTACKER) * side_states(scenario, Side.DEFENDER)


def effort(scenario: MassBattleScenario) -> int:
    """Return how long an exact solution takes at most, roughly, in steps of about a nanosecond.

    Parameters
    ----------
    scenario : MassBattleScenario

    Returns
    -------
    int
        The same on every machine.
    """
    turns = scenario.chosen.max_turns or _UNLIMITED
    return count_states(scenario) * _STATE * max(1, turns // _USUAL_TURNS)


def solve_battles(
    arrays: Armies, scenarios: Sequence[MassBattleScenario], *, threads: int
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
    """Solve battles.

    Parameters
    ----------
    arrays : Armies
        M rows.
    scenarios : sequence of MassBattleScenario
        The same, small enough by `count_states`.
    threads : int

    Returns
    -------
    tally : float64 (M, K)
        Expected accumulators of one battle.
    states : int64 (M,)
        States that were reached.
    status : uint8 (M,)
    """
    from simcore.rulesets.mass_battle import solver  # noqa: PLC0415 - compiles kernels

    m = len(scenarios)
    tally = np.zeros((m, len(ACCUMULATORS)))
    states = np.zeros(m, dtype=np.int64)
    status = np.full(m, Status.UNSET, dtype=np.uint8)
    remembers = np.zeros((m, len(Side)), dtype=np.int64)
    rooms = np.zeros((m, len(Side)), dtype=np.int64)
    for row, scenario in enumerate(scenarios):
        for side in _SIDES:
            remembers[row, side] = scenario.remembers_flight(side)
            rooms[row, side] = side_states(scenario, side)
    run: Any = solver.solve_all

    def solve(low: int, high: int) -> None:
        run(np.arange(low, high), arrays, remembers, rooms, tally, status, states)

    share_out(solve, m, threads, most=_AT_A_TIME)
    return tally, states, status
