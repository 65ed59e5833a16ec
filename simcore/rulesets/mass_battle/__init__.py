"""Mass battle: armies of squads that suppress, rout and destroy each other until one of them is broken."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simcore.rulesets.mass_battle.edition import DEFAULT_EDITION, builtin_editions, parse_editions
from simcore.rulesets.mass_battle.encoding import (
    ACCUMULATORS,
    OUTCOMES,
    STATUSES,
    TYPES,
    Armies,
    encode,
    swing_bins,
    swing_bound,
)
from simcore.rulesets.mass_battle.exact import MOST_STATES, count_states, describe_swing, effort, solve_battles
from simcore.rulesets.mass_battle.params import MassBattleScenario, parse_scenario, squad_types
from simcore.schema import Ruleset, Tallies

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    import numpy.typing as npt

    from simcore.rulesets.mass_battle.story import Replay

__all__ = ["RULESET"]


def _tally(
    arrays: Armies, keys: npt.NDArray[np.uint64], segments: npt.NDArray[np.int64], *, threads: int
) -> tuple[Tallies, npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    from simcore.rulesets.mass_battle.drive import tally_battles  # noqa: PLC0415 - compiles kernels

    return tally_battles(arrays, keys, segments, threads=threads)


def _record(
    arrays: Armies, keys: npt.NDArray[np.uint64], row: int, first: int, count: int
) -> tuple[dict[str, npt.NDArray[Any]], Tallies, npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    from simcore.rulesets.mass_battle.drive import record_battles  # noqa: PLC0415 - compiles kernels

    return record_battles(arrays, keys, row, first, count)


def _replay(
    scenario: MassBattleScenario,
    key: npt.NDArray[np.uint64],
    battle: int,
    script: npt.NDArray[np.int64] | None,
) -> Replay:
    from simcore.rulesets.mass_battle.story import replay  # noqa: PLC0415 - compiles kernels

    return replay(scenario, key, battle, script)


def _check_editions(data: Mapping[str, Any], source: str) -> Any:
    return parse_editions(data, source=source)


RULESET = Ruleset(
    id="mass_battle",
    title="Mass battle (armies of squads: suppression, rout, destruction, pursuit)",
    version=1,
    units=TYPES,
    outcomes=OUTCOMES,
    wins={"attacker": ("attacker_wins",), "defender": ("defender_wins",)},
    accumulators=ACCUMULATORS,
    default_edition=DEFAULT_EDITION,
    scenario_model=MassBattleScenario,
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
        "sweep": {"name": "mass-battle", "ruleset": "mass_battle", "battles": 10_000},
        "attacker": {"mixes": ["4 squad, 2 mobile_squad", "8 squad"]},
        "defender": {"mixes": ["6 squad", "3 squad, 2 mobile_squad"]},
    },
    count_states=count_states,
    effort=effort,
    most_states=MOST_STATES,
    solve=solve_battles,
    spread=describe_swing,
    rounds="turns",
    means={
        f"squads.{side}.{status}": f"{side}_{status}_mean" for side in ("attacker", "defender") for status in STATUSES
    },
    unit_names=squad_types,
)
