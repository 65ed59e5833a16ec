"""General combat: dice combat between stacks of land, sea and air units in cycles of fire."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from simcore.enums import Status
from simcore.rulesets.general_combat.encoding import (
    ACCUMULATORS,
    OUTCOMES,
    UNITS,
    Battles,
    RowField,
    encode,
    swing_bound,
)
from simcore.rulesets.general_combat.params import (
    DEFAULT_EDITION,
    GeneralCombatScenario,
    builtin_editions,
    parse_editions,
    parse_scenario,
)
from simcore.schema import Ruleset, Tallies

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simcore.core.dice import DiceTable
    from simcore.rulesets.general_combat.story import Replay

__all__ = ["RULESET"]


@lru_cache(maxsize=8)
def _dice_table(odds: bytes) -> DiceTable:
    from simcore.core.dice import build_dice_table  # noqa: PLC0415 - compiles kernels

    rows = np.frombuffer(odds, dtype=np.int64).reshape(-1, 3).tolist()
    return build_dice_table((a, b, n) for a, b, n in rows)


def _tally(
    arrays: Battles, keys: npt.NDArray[np.uint64], segments: npt.NDArray[np.int64], *, parallel: bool
) -> tuple[Tallies, npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    from simcore.rulesets.general_combat import kernel  # noqa: PLC0415 - compiles kernels

    tally = np.zeros((len(segments), len(ACCUMULATORS)), dtype=np.int64)
    status = np.full(len(segments), Status.UNSET, dtype=np.uint8)
    where = np.zeros(len(segments), dtype=np.int64)
    run: Any = kernel.resolve_parallel if parallel else kernel.resolve_serial
    table = _dice_table(arrays.odds.tobytes())
    at_sea = arrays.rules[segments[:, 0], RowField.SEA] != 0
    for picked, sea in ((np.flatnonzero(~at_sea), None), (np.flatnonzero(at_sea), 1)):
        if not len(picked):
            continue
        rows = np.zeros((len(picked), 4), dtype=np.int64)
        rows[:, :3] = segments[picked]
        part = [np.ascontiguousarray(array[picked]) for array in (tally, status, where)]
        run(rows, arrays, table, keys, *part, None, None, None, sea)
        tally[picked], status[picked], where[picked] = part
    return tally, status, where


def _record(
    arrays: Battles, keys: npt.NDArray[np.uint64], row: int, first: int, count: int
) -> tuple[dict[str, npt.NDArray[Any]], Tallies, npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    from simcore.rulesets.general_combat import kernel, trace  # noqa: PLC0415 - compiles kernels

    segments = np.array([[row, first, count, 0]], dtype=np.int64)
    records = trace.Records(
        outcome=np.full(count, -1, dtype=np.int8),
        cycles=np.zeros(count, dtype=np.int32),
        survivors=np.zeros((count, 2, len(UNITS)), dtype=np.int16),
        cost_lost=np.zeros((count, 2), dtype=np.int32),
        captured_value=np.zeros(count, dtype=np.int32),
    )
    tally = np.zeros((1, len(ACCUMULATORS)), dtype=np.int64)
    status = np.full(1, Status.UNSET, dtype=np.uint8)
    where = np.zeros(1, dtype=np.int64)
    no_trace = np.zeros((1, len(trace.EventField)), dtype=np.int32)
    no_script = np.zeros(1, dtype=np.int64)
    kernel.resolve_serial(
        segments,
        arrays,
        _dice_table(arrays.odds.tobytes()),
        keys,
        tally,
        status,
        where,
        records,
        no_trace,
        no_script,
        1 if arrays.rules[row, RowField.SEA] else None,
    )
    return records._asdict(), tally, status, where


def _replay(
    scenario: GeneralCombatScenario,
    key: npt.NDArray[np.uint64],
    battle: int,
    script: npt.NDArray[np.int64] | None,
) -> Replay:
    from simcore.rulesets.general_combat.story import replay  # noqa: PLC0415 - compiles kernels

    arrays = encode([scenario])
    return replay(scenario, arrays, _dice_table(arrays.odds.tobytes()), key, battle, script)


def _check_editions(data: Mapping[str, Any], source: str) -> Any:
    return parse_editions(data, source=source)


RULESET = Ruleset(
    id="general_combat",
    title="General combat (land and sea battles)",
    version=1,
    units=UNITS,
    outcomes=OUTCOMES,
    wins={"attacker": ("attacker_wins", "attacker_clears"), "defender": ("defender_wins",)},
    accumulators=ACCUMULATORS,
    default_edition=DEFAULT_EDITION,
    scenario_model=GeneralCombatScenario,
    editions=builtin_editions,
    parse=parse_scenario,
    check_editions=_check_editions,
    encode=encode,
    tally=_tally,
    record=_record,
    replay=_replay,
    swing_bound=swing_bound,
    default_sweep={
        "sweep": {"name": "general-combat", "ruleset": "general_combat", "battles": 10_000},
        "attacker": {"mixes": ["4 infantry, 2 tank", "2 infantry, 2 artillery, 1 fighter"]},
        "defender": {"mixes": ["5 infantry", "3 infantry, 1 tank"]},
    },
)
