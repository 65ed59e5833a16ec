"""What kernels write about single battles: trace events for the story, records for `keep_battles`."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from simcore.core.jit import kernel
from simcore.core.lane import emit
from simcore.rulesets.general_combat.encoding import DAMAGEABLE, LAND_UNITS, LossForm, UnitType

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = [
    "POOLED",
    "UNDECIDED",
    "Event",
    "EventField",
    "RaidRecords",
    "Records",
    "new_raid_records",
    "new_records",
    "trace_losses",
]


class Event(IntEnum):
    """Kinds of trace events (first column)."""

    DRAW = 1
    LOSS = 2
    SWEEP = 3
    END = 4
    SUBMERGE = 5
    DAMAGE = 6
    RETREAT = 7
    """Units leave an assault while others fight on."""
    LEAVE = 8
    """The attacker leaves by what the states are worth: places of both states, level and reason."""


class EventField(IntEnum):
    """Columns of a trace event (int32); row 0 of a trace holds the number of events in its first column."""

    KIND = 0
    CYCLE = 1
    STEP = 2
    SIDE = 3
    GROUP = 4
    """Firing group of a draw, unit type of a loss, outcome of the end."""
    DICE = 5
    """Dice of a draw, units of a loss."""
    ODDS = 6
    """Odds of a draw; for swept transports 1 when submarines were beside them."""
    HITS = 7
    SURE = 8
    """Hits that low luck gave without a die."""


UNDECIDED = -1
"""In place of hits: a script that ended or did not fit here."""
POOLED = -2
"""In place of hits: the group's points went into the side's low-luck pool."""

_LOSS = int(Event.LOSS)
_DAMAGE = int(Event.DAMAGE)
_UNIT = int(LossForm.UNIT)
_HULL = int(LossForm.HULL)
_LANDED = int(LossForm.LANDED)


class Records(NamedTuple):
    """Results of single battles, in order of battle number.

    Attributes
    ----------
    outcome : int8 (B,)
    cycles : int32 (B,)
    survivors : int16 (B, S, T)
    cost_lost : int32 (B, S)
    captured_value : int32 (B,)
    damaged : int16 (B, S, 2)
        Damaged battleships and carriers among the survivors.
    submerged : int16 (B, S)
        Submerged submarines among the survivors.
    no_landing : int16 (B, S)
        Aircraft without room on a carrier among the survivors (GC-4.7.8).
    cargo : int16 (B, land units)
        Units aboard the attacker's surviving transports.
    """

    outcome: npt.NDArray[np.int8]
    cycles: npt.NDArray[np.int32]
    survivors: npt.NDArray[np.int16]
    cost_lost: npt.NDArray[np.int32]
    captured_value: npt.NDArray[np.int32]
    damaged: npt.NDArray[np.int16]
    submerged: npt.NDArray[np.int16]
    no_landing: npt.NDArray[np.int16]
    cargo: npt.NDArray[np.int16]


def new_records(battles: int) -> Records:
    """Return empty records of a number of battles; outcome -1 means none yet."""
    return Records(
        outcome=np.full(battles, -1, dtype=np.int8),
        cycles=np.zeros(battles, dtype=np.int32),
        survivors=np.zeros((battles, 2, len(UnitType)), dtype=np.int16),
        cost_lost=np.zeros((battles, 2), dtype=np.int32),
        captured_value=np.zeros(battles, dtype=np.int32),
        damaged=np.zeros((battles, 2, len(DAMAGEABLE)), dtype=np.int16),
        submerged=np.zeros((battles, 2), dtype=np.int16),
        no_landing=np.zeros((battles, 2), dtype=np.int16),
        cargo=np.zeros((battles, len(LAND_UNITS)), dtype=np.int16),
    )


class RaidRecords(NamedTuple):
    """Results of single raids, in order of battle number.

    Attributes
    ----------
    outcome : int8 (B,)
    cycles : int32 (B,)
    survivors : int16 (B, S, T)
    cost_lost : int32 (B, S)
    damage : int32 (B,)
    """

    outcome: npt.NDArray[np.int8]
    cycles: npt.NDArray[np.int32]
    survivors: npt.NDArray[np.int16]
    cost_lost: npt.NDArray[np.int32]
    damage: npt.NDArray[np.int32]


def new_raid_records(battles: int) -> RaidRecords:
    """Return empty records of a number of raids."""
    return RaidRecords(
        outcome=np.full(battles, -1, dtype=np.int8),
        cycles=np.zeros(battles, dtype=np.int32),
        survivors=np.zeros((battles, 2, len(UnitType)), dtype=np.int16),
        cost_lost=np.zeros((battles, 2), dtype=np.int32),
        damage=np.zeros(battles, dtype=np.int32),
    )


@kernel
def trace_losses(trace, plan, alive, before, side, cycle, step):
    """Record what a side lost in lane 0, and which of its ships were damaged, since `before` was taken."""
    for g in range(plan.groups[side, 0], plan.groups[side, 1]):
        kind = plan.kind[g]
        form = plan.form[g]
        if (form in (_UNIT, _LANDED)) and before[g] > alive[g, 0]:
            emit(trace, _LOSS, cycle, step, side, kind, before[g] - alive[g, 0], 0, 0, 0)
        elif form == _HULL:
            d = plan.second[side, kind]
            lost = before[g] + before[d] - alive[g, 0] - alive[d, 0]
            if alive[d, 0] > before[d]:
                emit(trace, _DAMAGE, cycle, step, side, kind, alive[d, 0] - before[d], 0, 0, 0)
            if lost > 0:
                emit(trace, _LOSS, cycle, step, side, kind, lost, 0, 0, 0)
    for g in range(plan.groups[side, 0], plan.groups[side, 1]):
        before[g] = alive[g, 0]
