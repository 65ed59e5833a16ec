"""Force order: attacks between the pieces of a land, sea and air capture game."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simcore.rulesets.force_order.edition import DEFAULT_EDITION, UNITS, builtin_editions, parse_editions
from simcore.rulesets.force_order.encoding import ACCUMULATORS, MEANS, Mixes, encode, swing_bound
from simcore.rulesets.force_order.layout import OUTCOMES
from simcore.rulesets.force_order.params import ForceOrderScenario, parse_scenario
from simcore.schema import Endings, Ruleset, Tallies

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    import numpy.typing as npt

    from simcore.rulesets.force_order.story import Replay

__all__ = ["RULESET"]

_STEPS_A_STATE = 200
"""Steps of the exact solver for each way in which an attack may end, roughly."""


def _tally(
    arrays: Mixes, keys: npt.NDArray[np.uint64], segments: npt.NDArray[np.int64], *, threads: int
) -> tuple[Tallies, npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    from simcore.rulesets.force_order.drive import tally_attacks  # noqa: PLC0415 - compiles kernels

    return tally_attacks(arrays, keys, segments, threads=threads)


def _record(
    arrays: Mixes, keys: npt.NDArray[np.uint64], row: int, first: int, count: int
) -> tuple[dict[str, npt.NDArray[Any]], Tallies, npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    from simcore.rulesets.force_order.drive import record_attacks  # noqa: PLC0415 - compiles kernels

    return record_attacks(arrays, keys, row, first, count)


def _replay(
    scenario: ForceOrderScenario,
    key: npt.NDArray[np.uint64],
    battle: int,
    script: npt.NDArray[np.int64] | None,
) -> Replay:
    from simcore.rulesets.force_order.story import replay  # noqa: PLC0415 - compiles kernels

    return replay(scenario, key, battle, script)


def _solve(
    arrays: Mixes,
    scenarios: Sequence[ForceOrderScenario],
    *,
    threads: int,  # noqa: ARG001 - a matchup is too short
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
    from simcore.rulesets.force_order.drive import solve_mixes  # noqa: PLC0415 - compiles kernels

    return solve_mixes(arrays, scenarios)


def _distribute(arrays: Mixes, _scenarios: Sequence[ForceOrderScenario], row: int) -> Endings:
    from simcore.rulesets.force_order.drive import distribute_attack  # noqa: PLC0415 - compiles kernels

    return distribute_attack(arrays, row)


def _count_states(scenario: ForceOrderScenario) -> int:
    """Return how many ways to end there are at most: a pair of states, and a result."""
    return 3 * len(scenario.states(0)) * len(scenario.states(1))


def _effort(scenario: ForceOrderScenario) -> int:
    return _STEPS_A_STATE * _count_states(scenario)


def _check_editions(data: Mapping[str, Any], source: str) -> Any:
    return parse_editions(data, source=source)


RULESET = Ruleset(
    id="force_order",
    title="Force order (attacks on land, at sea and in the air, with carriers and flags)",
    version=1,
    units=UNITS,
    outcomes=OUTCOMES,
    wins={"attacker": ("attacker_wins", "flag_taken"), "defender": ("defender_wins",)},
    accumulators=ACCUMULATORS,
    default_edition=DEFAULT_EDITION,
    scenario_model=ForceOrderScenario,
    editions=builtin_editions,
    parse=parse_scenario,
    check_editions=_check_editions,
    encode=encode,
    tally=_tally,
    record=_record,
    replay=_replay,
    swing_bound=swing_bound,
    default_sweep={
        "sweep": {"name": "force-order", "ruleset": "force_order", "battles": 10_000},
        "attacker": {"mixes": ["3 soldier5, 1 saboteur, 2 mine", "1 boat_large, 2 plane_fighter"]},
        "defender": {"mixes": ["4 soldier4, 1 flag", "2 boat_medium, 1 plane_scout, 1 soldier6"]},
    },
    count_states=_count_states,
    effort=_effort,
    solve=_solve,
    distribute=_distribute,
    pair=ForceOrderScenario.facing,
    means=MEANS,
)
