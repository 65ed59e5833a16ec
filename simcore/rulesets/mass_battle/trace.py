"""What the kernel writes about single battles: trace events for the story, records for `keep_battles`."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from simcore.rulesets.mass_battle.encoding import MAX_TYPES, STATUSES

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["UNDECIDED", "Event", "EventField", "Records", "new_records"]


class Event(IntEnum):
    """Kinds of trace events (first column)."""

    DRAW = 1
    RETURN = 2
    """Suppressed squads are active again."""
    HALT = 3
    """Commanders halt squads in flight."""
    STAND = 4
    """A character makes a squad active at once."""
    ROLL = 5
    """An army's attack roll begins: pool and dice."""
    EFFECT = 6
    """Squads hit: standing before (field ODDS) and effect (field HITS: 0 suppressed, 1 routed, 2 destroyed)."""
    BACKFIRE = 7
    """Own squads suppressed by ones."""
    CAUGHT = 8
    END = 9


class EventField(IntEnum):
    """Columns of a trace event (int32); row 0 of a trace holds the number of events in its first column."""

    KIND = 0
    TURN = 1
    STEP = 2
    SIDE = 3
    GROUP = 4
    """Group of a draw, squad type of a change, outcome of the end."""
    DICE = 5
    """Dice of a draw, squads of a change."""
    ODDS = 6
    HITS = 7
    EXTRA = 8


UNDECIDED = -1
"""In place of hits: a script that ended or did not fit here."""


class Records(NamedTuple):
    """Results of single battles, in order of battle number.

    Attributes
    ----------
    outcome : int8 (B,)
    turns : int32 (B,)
    survivors : int16 (B, S, T)
        Squads active or suppressed at the end.
    cost_lost : int32 (B, S)
    squads : int16 (B, S, status, T)
        Squads by what they are counted as, in the order of `STATUSES`.
    """

    outcome: npt.NDArray[np.int8]
    turns: npt.NDArray[np.int32]
    survivors: npt.NDArray[np.int16]
    cost_lost: npt.NDArray[np.int32]
    squads: npt.NDArray[np.int16]


def new_records(battles: int) -> Records:
    """Return empty records of a number of battles; outcome -1 means none yet."""
    return Records(
        outcome=np.full(battles, -1, dtype=np.int8),
        turns=np.zeros(battles, dtype=np.int32),
        survivors=np.zeros((battles, 2, MAX_TYPES), dtype=np.int16),
        cost_lost=np.zeros((battles, 2), dtype=np.int32),
        squads=np.zeros((battles, 2, len(STATUSES), MAX_TYPES), dtype=np.int16),
    )
