"""What samplers that resolve battles side by side have in common."""

from __future__ import annotations

import numpy as np

from simcore.core.dice import GUESS, guide_place, settle_guess
from simcore.core.jit import kernel

__all__ = ["count_swings", "emit", "sort_lanes", "swing_bin", "throw"]


@kernel
def throw(words, dice, start, stop, first_row, bounds, offset, guide, hits):
    """Write the hits of one draw point to ``hits[start:stop]``.

    Parameters
    ----------
    words : uint64 (L,)
    dice : int32 (L,)
        Table row of each lane's pool, counted from `first_row`: with one probability, its number of dice.
    start, stop : int64
    first_row : int64
    bounds, offset, guide : arrays
        Fields of `DiceTable`.
    hits : int32 (L,)
        Output; not the same as `dice`.
    """
    # In two loops: the first becomes vector code, and little is left for the second.
    for i in range(start, stop):
        hits[i] = np.int32(guide_place(words[i], first_row + dice[i]))
    for i in range(start, stop):
        entry = guide[np.uint64(hits[i])]
        if entry < GUESS:
            hits[i] = entry
        else:
            hits[i] = settle_guess(words[i], entry, first_row + dice[i], bounds, offset)


@kernel
def sort_lanes(ending, n, going, ended):
    """List the lanes whose battles go on and those whose battles end; returns both numbers."""
    n_going = np.int64(0)
    n_ended = np.int64(0)
    for i in range(n):
        # Written without a branch: whether a battle ends can hardly be predicted.
        going[n_going] = i
        ended[n_ended] = i
        stays = np.int64(ending[i] == 0)
        n_going += stays
        n_ended += 1 - stays
    return n_going, n_ended


@kernel
def swing_bin(swing, width):
    """Return the bin of a swing (`simcore.core.swing`), without a division where each has its own."""
    return swing if width == 1 else swing // width


@kernel
def count_swings(lost, n, zero, width, acc):
    """Count the swings of `n` finished battles.

    Parameters
    ----------
    lost : int64 (S, L)
        Cost lost by each side.
    n : int64
    zero : int64
        Column that counts the bin of 0.
    width : int64
        Of a bin.
    acc : int64 (K + BINS,)
        Accumulators, and counts of swings behind them.
    """
    if width == 1:
        for i in range(n):
            acc[zero + lost[1, i] - lost[0, i]] += 1
    else:
        for i in range(n):
            acc[zero + (lost[1, i] - lost[0, i]) // width] += 1


@kernel
def emit(trace, kind, cycle, step, side, group, dice, odds, hits, sure):
    """Append an event to the trace; what no longer fits is counted, so that the caller can give more room."""
    n = trace[0, 0] + 1
    trace[0, 0] = n
    if n < trace.shape[0]:
        trace[n, 0] = kind
        trace[n, 1] = cycle
        trace[n, 2] = step
        trace[n, 3] = side
        trace[n, 4] = group
        trace[n, 5] = dice
        trace[n, 6] = odds
        trace[n, 7] = hits
        trace[n, 8] = sure
