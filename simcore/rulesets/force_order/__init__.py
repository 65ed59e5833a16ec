"""Force order: attacks and skirmishes between the pieces of a land, sea and air capture game."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from simcore.rulesets.force_order.edition import DEFAULT_EDITION, UNITS, builtin_editions, parse_editions
from simcore.rulesets.force_order.encoding import ACCUMULATORS, MEANS, Mixes, encode, swing_bins, swing_bound
from simcore.rulesets.force_order.layout import OUTCOMES
from simcore.rulesets.force_order.params import ForceOrderScenario, parse_scenario
from simcore.rulesets.force_order.skirmish import encoding as skirmish_encoding
from simcore.rulesets.force_order.skirmish import layout as skirmish_layout
from simcore.schema import Endings, Ruleset, Tallies

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    import numpy.typing as npt

    from simcore.rulesets.force_order.skirmish.encoding import Games
    from simcore.rulesets.force_order.skirmish.story import GameReplay
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


def _tally_games(
    arrays: Games, keys: npt.NDArray[np.uint64], segments: npt.NDArray[np.int64], *, threads: int
) -> tuple[Tallies, npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    from simcore.rulesets.force_order.skirmish.drive import tally_games  # noqa: PLC0415 - compiles kernels

    return tally_games(arrays, keys, segments, threads=threads)


def _record_games(
    arrays: Games, keys: npt.NDArray[np.uint64], row: int, first: int, count: int
) -> tuple[dict[str, npt.NDArray[Any]], Tallies, npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    from simcore.rulesets.force_order.skirmish.drive import record_games  # noqa: PLC0415 - compiles kernels

    return record_games(arrays, keys, row, first, count)


def _replay_game(
    scenario: ForceOrderScenario,
    key: npt.NDArray[np.uint64],
    battle: int,
    script: npt.NDArray[np.int64] | None,
) -> GameReplay:
    from simcore.rulesets.force_order.skirmish.story import replay_game  # noqa: PLC0415 - compiles kernels

    return replay_game(scenario, key, battle, script)


def _kind_of(data: Mapping[str, Any]) -> str:
    """Return which record resolves a scenario written like this."""
    return "skirmish" if data.get("mode") == "skirmish" else ""


def _check_editions(data: Mapping[str, Any], source: str) -> Any:
    return parse_editions(data, source=source)


_ATTACKS = Ruleset(
    id="force_order",
    title="Force order (attacks and skirmishes on land, at sea and in the air, with carriers and flags)",
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
    swing_bins=swing_bins,
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
    kind_of=_kind_of,
    means=MEANS,
)
_SKIRMISHES = replace(
    _ATTACKS,
    kind="skirmish",
    outcomes=skirmish_layout.OUTCOMES,
    wins={"attacker": ("attacker_wins",), "defender": ("defender_wins",)},
    accumulators=skirmish_encoding.ACCUMULATORS,
    encode=skirmish_encoding.encode,
    tally=_tally_games,
    record=_record_games,
    replay=_replay_game,
    swing_bins=skirmish_encoding.swing_bins,
    swing_bound=skirmish_encoding.swing_bound,
    default_sweep={
        "sweep": {"name": "skirmish", "ruleset": "force_order", "battles": 2_000},
        "scenario": {"mode": "skirmish", "options": {"rows": 6, "set_up_rows": 2, "turn_cap": 60}},
        "attacker": {"mixes": ["2 soldier5, 1 saboteur, 1 mine", "1 soldier3, 1 boat_large, 1 plane_fighter"]},
        "defender": {"mixes": ["3 soldier4", "2 soldier2, 1 boat_medium, 1 lifeboat, 1 plane_scout"]},
    },
    sweep_scenario={"first_mover": "alternate"},
    small_call=64,
    count_states=lambda _scenario: 0,
    effort=lambda _scenario: 0,
    solve=None,
    distribute=None,
    rounds="turns",
    means=skirmish_encoding.MEANS,
    titles={"first_mover_edge_mean": ("First mover's edge", "difference")},
)
RULESET = replace(_ATTACKS, kinds={"skirmish": _SKIRMISHES})
