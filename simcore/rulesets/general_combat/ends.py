"""How a battle may end: every end with its probability, written down where somebody asks for it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from simcore.core.chain import add_to, describe_spread, find_or_add, new_sums, new_table, slots_for
from simcore.core.jit import kernel, part
from simcore.rulesets.general_combat.encoding import ACCUMULATORS, MAX_LOSS_GROUPS, Accumulator

__all__ = ["Ends", "Record", "fold_swing", "new_ends", "new_record", "note_end", "record_end"]

_SWING = int(Accumulator.SWING)
_SPREAD = len(ACCUMULATORS)


class Ends(NamedTuple):
    """Ends of a battle. E ends, S sides, G lane rows, C cycles.

    Attributes
    ----------
    outcome : int8 (E,)
    units : int16 (E, S, G)
        Units of each row.
    chance, cycles : float64 (E,)
        Probability, and the same times the number of cycles.
    count : int64 (1,)
        Ends so far; the same end may be there more than once.
    by_cycle : float64 (C,)
        Probability of a battle of so many cycles, the last for that many or more; without room where nobody asks.
    """

    outcome: Any
    units: Any
    chance: Any
    cycles: Any
    count: Any
    by_cycle: Any


def new_ends(capacity: int, cycles: int = 0) -> Ends:
    """Return room for the ends of a battle and for the probabilities of `cycles` numbers of cycles."""
    return Ends(
        outcome=np.zeros(capacity, dtype=np.int8),
        units=np.zeros((capacity, 2, MAX_LOSS_GROUPS), dtype=np.int16),
        chance=np.zeros(capacity),
        cycles=np.zeros(capacity),
        count=np.zeros(1, dtype=np.int64),
        by_cycle=np.zeros(cycles),
    )


@kernel
def note_end(own_units, enemy_units, outcome, chance, cycles, ends):
    """Write an end down; returns False if there are too many.

    Parameters
    ----------
    own_units, enemy_units : int16 (G,)
        Units of each row.
    outcome : int64
    chance, cycles : float64
        Probability, and the same times the number of cycles.
    ends : Ends
    """
    n = ends.count[0]
    if n >= len(ends.chance):
        return False
    ends.count[0] = n + 1
    ends.outcome[n] = outcome
    ends.chance[n] = chance
    ends.cycles[n] = cycles
    for g in range(ends.units.shape[2]):
        ends.units[n, 0, g] = own_units[g]
        ends.units[n, 1, g] = enemy_units[g]
    return True


class Record(NamedTuple):
    """What is written down of the ends on the way: each end once, however often it is met.

    Attributes
    ----------
    swing : Sums
    ends : Ends
    keys, places : int64 (slots,)
        Table of the ends.
    """

    swing: Any
    ends: Any
    keys: Any
    places: Any


@part
def new_record(swings, ends):
    """Return an empty record with room for `swings` different swings; `ends` holds the ends."""
    keys, places = new_table(slots_for(len(ends.chance)))
    return Record(swing=new_sums(swings), ends=ends, keys=keys, places=places)


@part
def record_end(record, key, own_units, enemy_units, outcome, swing, chance, stamp, cycle):
    """Add the probability of an end to the record; returns False if there are too many ends.

    Parameters
    ----------
    record : Record
    key : int64
        Number of the end, not negative.
    own_units, enemy_units : int16 (G,)
        Units of each row.
    outcome, swing : int64
    chance, stamp : float64
        Probability, and the same times the number of cycles.
    cycle : int64
        Number of cycles as far as they are told apart.
    """
    add_to(record.swing, swing, chance)
    ends = record.ends
    if len(ends.by_cycle) > 0:
        ends.by_cycle[min(cycle, len(ends.by_cycle) - 1)] += chance
    if len(ends.chance) == 0:
        return True
    new = ends.count[0]
    at = find_or_add(record.keys, record.places, key, new)
    if at == new:
        return note_end(own_units, enemy_units, outcome, chance, stamp, ends)
    ends.chance[at] += chance
    ends.cycles[at] += stamp
    return True


@kernel
def fold_swing(swing, acc):
    """Turn the distribution of the swing into its accumulators, and into what `SPREAD` names where there is room."""
    for i in range(swing.count[0]):
        value = float(swing.values[i])
        acc[_SWING] += swing.chances[i] * value
        acc[_SWING + 1] += swing.chances[i] * value * value
    if len(acc) > _SPREAD:
        describe_spread(swing, acc[_SPREAD:])
