"""General combat: dice combat between stacks of land, sea and air units in cycles of fire."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from simcore.rulesets.general_combat.edition import DEFAULT_EDITION, builtin_editions, parse_editions
from simcore.rulesets.general_combat.encoding import (
    ACCUMULATORS,
    ASSAULT_ACCUMULATORS,
    OUTCOMES,
    UNITS,
    Assaults,
    Battles,
    assault_swing_bins,
    assault_swing_bound,
    encode,
    encode_assaults,
    swing_bins,
    swing_bound,
)
from simcore.rulesets.general_combat.exact import solve_assaults, solve_battles, solve_raids
from simcore.rulesets.general_combat.extent import count_states, effort, may_be_far_smaller
from simcore.rulesets.general_combat.gain import explain
from simcore.rulesets.general_combat.optimal import cannot_simulate
from simcore.rulesets.general_combat.params import GeneralCombatScenario, parse_scenario
from simcore.rulesets.general_combat.raid import (
    RAID_ACCUMULATORS,
    RAID_OUTCOMES,
    Raids,
    encode_raids,
    raid_swing_bins,
    raid_swing_bound,
)
from simcore.rulesets.general_combat.side import RetreatPolicy
from simcore.schema import Endings, Ruleset, Tallies

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    import numpy.typing as npt

    from simcore.rulesets.general_combat.raid_story import RaidReplay
    from simcore.rulesets.general_combat.story import Replay

__all__ = ["RULESET"]


_GUNS = frozenset({"aa_gun", "industrial_complex"})
"""An aircraft more is a shot more, which may cost a better one."""
_MEANS = {
    "captured.battles": "p_captured",
    "captured.value": "value_gained_mean",
    "captured.guns": "guns_captured_mean",
    "captured.complexes": "complexes_captured_mean",
    "captured.treasury": "treasury_captured_mean",
    "submerged.attacker": "attacker_submerged_mean",
    "submerged.defender": "defender_submerged_mean",
    "no_landing.attacker": "attacker_no_landing_mean",
    "no_landing.defender": "defender_no_landing_mean",
    "retreated": "retreated_mean",
    "bombard.hits": "bombard_hits_mean",
    "landings": "p_landing",
    "landed.sum": "landed_mean",
    "land.battles": "p_land_battle",
}
"""Columns of a sweep's table that show means of some accumulators."""


def _tally(
    arrays: Battles, keys: npt.NDArray[np.uint64], segments: npt.NDArray[np.int64], *, threads: int
) -> tuple[Tallies, npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    from simcore.rulesets.general_combat.drive import tally_battles  # noqa: PLC0415 - compiles kernels

    return tally_battles(arrays, keys, segments, threads=threads)


def _tally_assaults(
    arrays: Assaults, keys: npt.NDArray[np.uint64], segments: npt.NDArray[np.int64], *, threads: int
) -> tuple[Tallies, npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    from simcore.rulesets.general_combat.drive import tally_assaults  # noqa: PLC0415 - compiles kernels

    return tally_assaults(arrays, keys, segments, threads=threads)


def _record(
    arrays: Battles, keys: npt.NDArray[np.uint64], row: int, first: int, count: int
) -> tuple[dict[str, npt.NDArray[Any]], Tallies, npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    from simcore.rulesets.general_combat.drive import record_battles  # noqa: PLC0415 - compiles kernels

    return record_battles(arrays, keys, row, first, count)


def _record_assaults(
    arrays: Assaults, keys: npt.NDArray[np.uint64], row: int, first: int, count: int
) -> tuple[dict[str, npt.NDArray[Any]], Tallies, npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    from simcore.rulesets.general_combat.drive import record_assaults  # noqa: PLC0415 - compiles kernels

    return record_assaults(arrays, keys, row, first, count)


def _tally_raids(
    arrays: Raids, keys: npt.NDArray[np.uint64], segments: npt.NDArray[np.int64], *, threads: int
) -> tuple[Tallies, npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    from simcore.rulesets.general_combat.drive import tally_raids  # noqa: PLC0415 - compiles kernels

    return tally_raids(arrays, keys, segments, threads=threads)


def _record_raids(
    arrays: Raids, keys: npt.NDArray[np.uint64], row: int, first: int, count: int
) -> tuple[dict[str, npt.NDArray[Any]], Tallies, npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    from simcore.rulesets.general_combat.drive import record_raids  # noqa: PLC0415 - compiles kernels

    return record_raids(arrays, keys, row, first, count)


def _distribute(arrays: Battles, scenarios: Sequence[GeneralCombatScenario], row: int) -> Endings | None:
    from simcore.rulesets.general_combat.distribute import distribute_battle  # noqa: PLC0415 - compiles kernels

    return distribute_battle(arrays, scenarios, row)


def _distribute_assault(arrays: Assaults, scenarios: Sequence[GeneralCombatScenario], row: int) -> Endings | None:
    from simcore.rulesets.general_combat.distribute import distribute_assault  # noqa: PLC0415 - compiles kernels

    return distribute_assault(arrays, scenarios, row)


def _distribute_raid(arrays: Raids, scenarios: Sequence[GeneralCombatScenario], row: int) -> Endings:
    from simcore.rulesets.general_combat.distribute import distribute_raid  # noqa: PLC0415 - compiles kernels

    return distribute_raid(arrays, scenarios, row)


def _replay_raid(
    scenario: GeneralCombatScenario,
    key: npt.NDArray[np.uint64],
    battle: int,
    script: npt.NDArray[np.int64] | None,
) -> RaidReplay:
    from simcore.rulesets.general_combat.raid_story import replay_raid  # noqa: PLC0415 - compiles kernels

    return replay_raid(scenario, key, battle, script)


def _replay(
    scenario: GeneralCombatScenario,
    key: npt.NDArray[np.uint64],
    battle: int,
    script: npt.NDArray[np.int64] | None,
) -> Replay:
    from simcore.rulesets.general_combat.story import replay  # noqa: PLC0415 - compiles kernels

    return replay(scenario, key, battle, script)


def _check_editions(data: Mapping[str, Any], source: str) -> Any:
    return parse_editions(data, source=source)


def _kind_of(data: Mapping[str, Any]) -> str:
    """Return which record resolves a scenario written like this."""
    if data.get("terrain") == "raid":
        return "raid"
    return "assault" if data.get("sea") is not None else ""


def _plain(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return a scenario's table without what asks for certain units, so that single units can be priced in it."""
    table = {key: value for key, value in data.items() if key not in {"sea", "raid"}}
    return {**table, "terrain": "land"} if table.get("terrain") == "raid" else table


def _more_never_hurts(scenario: GeneralCombatScenario) -> bool:
    """Return whether a unit more can do its side no harm: in plain land battles, by docs/balance.md."""
    sides = (scenario.attacker, scenario.defender)
    return (
        scenario.terrain == "land"
        and scenario.cycle_limit == 0
        and scenario.low_luck == "none"
        and scenario.attacker.retreat == RetreatPolicy()
        and scenario.attacker.keep_land == 0
        and not any(side.optimal or side.technologies or _GUNS & side.units.keys() for side in sides)
    )


_BATTLES = Ruleset(
    id="general_combat",
    title="General combat (land and sea battles, amphibious assaults, raids)",
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
    swing_bins=swing_bins,
    swing_bound=swing_bound,
    default_sweep={
        "sweep": {"name": "general-combat", "ruleset": "general_combat", "battles": 10_000},
        "attacker": {"mixes": ["4 infantry, 2 tank", "2 infantry, 2 artillery, 1 fighter"]},
        "defender": {"mixes": ["5 infantry", "3 infantry, 1 tank"]},
    },
    count_states=count_states,
    effort=effort,
    may_be_far_smaller=may_be_far_smaller,
    solve=solve_battles,
    distribute=_distribute,
    pair=GeneralCombatScenario.facing,
    cannot_simulate=cannot_simulate,
    more_never_hurts=_more_never_hurts,
    explain=explain,
    kind_of=_kind_of,
    plain=_plain,
    means=_MEANS,
    titles={"p_captured": ("Captured", "share")},
)
_ASSAULTS = replace(
    _BATTLES,
    kind="assault",
    accumulators=ASSAULT_ACCUMULATORS,
    encode=encode_assaults,
    tally=_tally_assaults,
    record=_record_assaults,
    swing_bins=assault_swing_bins,
    swing_bound=assault_swing_bound,
    solve=solve_assaults,
    distribute=_distribute_assault,
)
_RAIDS = replace(
    _BATTLES,
    kind="raid",
    outcomes=RAID_OUTCOMES,
    wins={"attacker": ("damage",), "defender": ("no_damage",)},
    accumulators=RAID_ACCUMULATORS,
    encode=encode_raids,
    tally=_tally_raids,
    record=_record_raids,
    replay=_replay_raid,
    swing_bins=raid_swing_bins,
    swing_bound=raid_swing_bound,
    solve=solve_raids,
    distribute=_distribute_raid,
    titles={"damage_mean": ("Damage", "amount")},
)
RULESET = replace(_BATTLES, kinds={"assault": _ASSAULTS, "raid": _RAIDS})
