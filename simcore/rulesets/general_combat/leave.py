"""Retreats of the sampler that look ahead: what every state is worth was worked out before, here it is looked up."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from simcore.core.jit import part
from simcore.core.lane import emit
from simcore.rulesets.general_combat.lane import Ending
from simcore.rulesets.general_combat.trace import Event

__all__ = ["LeaveTable", "leave_by_table", "looks_up"]

_GOES_ON = Ending.NONE
_RETREAT = Ending.RETREAT
_LIMIT = Ending.LIMIT
_STEP_6 = 6
_LEAVE = int(Event.LEAVE)


class LeaveTable(NamedTuple):
    """In which states the attackers leave. M matchups, S sides, G lane rows of a side.

    Attributes
    ----------
    levels : int64 (M,)
        Cycles after which the decisions may differ, the last standing for all later ones; 0 = nothing to look up.
    radix : int64 (M, S, G)
        What a unit of each row adds to the number of a side's state.
    first, last : int64 (M, S)
        Where the states of a side stand in `keys`.
    keys : int64 (states,)
        Numbers of the states, ascending for each side.
    places : int64 (states,)
        Their places in `leaves`.
    start : int64 (M,)
        Where a matchup's decisions begin.
    leaves : uint8 (decisions,)
        By level, defender's state, attacker's state: why the attacker leaves, 0 = he does not.
    """

    levels: Any
    radix: Any
    first: Any
    last: Any
    keys: Any
    places: Any
    start: Any
    leaves: Any


@part
def _look_up(table, row, plan, side, alive, i):
    """Return the place of a side's state in lane `i`, -1 if it is not there."""
    base = plan.groups[side, 0]
    key = np.int64(0)
    for g in range(plan.groups[side, 0], plan.groups[side, 1]):
        key += table.radix[row, side, g - base] * np.int64(alive[g, i])
    low = table.first[row, side]
    high = table.last[row, side]
    while low < high:
        middle = (low + high) // 2
        if table.keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    if low < table.last[row, side] and table.keys[low] == key:
        return table.places[low]
    return np.int64(-1)


@part
def looks_up(table, row, plan, lanes, i, trace):
    """Whether the attacker of lane `i` leaves after this cycle (GC-4.6.7)."""
    cycle = lanes.cycles[i]
    levels = table.levels[row]
    if levels == 0 or cycle == 0:
        return False
    own = _look_up(table, row, plan, 0, lanes.alive, i)
    enemy = _look_up(table, row, plan, 1, lanes.alive, i)
    if own < 0 or enemy < 0:
        return False
    n_own = table.last[row, 0] - table.first[row, 0]
    n_enemy = table.last[row, 1] - table.first[row, 1]
    level = min(cycle, levels) - 1
    why = table.leaves[table.start[row] + (level * n_enemy + enemy) * n_own + own]
    if trace is not None and why != 0:
        emit(trace, _LEAVE, cycle, _STEP_6, 0, own, enemy, level, why, 0)
    return why != 0


@part
def leave_by_table(table, row, plan, lanes, n, trace):
    """Step 6, condition B: let the attackers leave where going on is worth too little (GC-4.6.1, GC-4.6.7)."""
    ending = lanes.ending
    for i in range(n):
        if (ending[i] == _GOES_ON or ending[i] == _LIMIT) and looks_up(table, row, plan, lanes, i, trace):
            ending[i] = _RETREAT
