"""Philox4x32-10: random words that have an address instead of a position in a stream.

A 128-bit counter and a 64-bit key give four 32-bit words through ten rounds of multiply and xor
(Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC 2011). The counter of a
draw is (block, tag, battle low, battle high) with ``tag = cycle << 12 | step << 7 | side << 6 | group``,
so any draw of any battle can be computed alone, in any order, by any thread.
"""

from __future__ import annotations

import hashlib

import numpy as np
import numpy.typing as npt

from simcore.core.jit import kernel, outlined

__all__ = ["RNG_VERSION", "TAG_CYCLE_SHIFT", "derive_key", "draw_tag", "fill_words", "philox4x32"]

RNG_VERSION = "simcore-rng-1"
TAG_CYCLE_SHIFT = 12

_M0 = np.uint64(0xD2511F53)
_M1 = np.uint64(0xCD9E8D57)
_LOW = np.uint64(0xFFFFFFFF)
_32 = np.uint64(32)
_CYCLE = np.uint64(TAG_CYCLE_SHIFT)
_W0_TIMES = tuple(np.uint64(r * 0x9E3779B9 & 0xFFFFFFFF) for r in range(10))
_W1_TIMES = tuple(np.uint64(r * 0xBB67AE85 & 0xFFFFFFFF) for r in range(10))


@kernel
def _round(c0, c1, c2, c3, k0, k1):
    p0 = _M0 * c0
    p1 = _M1 * c2
    return (p1 >> _32) ^ c1 ^ k0, p1 & _LOW, (p0 >> _32) ^ c3 ^ k1, p0 & _LOW


@kernel
def philox4x32(c0, c1, c2, c3, k0, k1):
    """Return the four 32-bit words of one counter block (each held in a uint64).

    Parameters
    ----------
    c0, c1, c2, c3, k0, k1 : uint64
        Counter and key words, each below 2**32.

    Returns
    -------
    tuple of four uint64
        Output words, each below 2**32.
    """
    # Written out: a loop over the rounds would keep the loop over lanes from becoming vector code.
    c0, c1, c2, c3 = _round(c0, c1, c2, c3, k0, k1)
    c0, c1, c2, c3 = _round(c0, c1, c2, c3, (k0 + _W0_TIMES[1]) & _LOW, (k1 + _W1_TIMES[1]) & _LOW)
    c0, c1, c2, c3 = _round(c0, c1, c2, c3, (k0 + _W0_TIMES[2]) & _LOW, (k1 + _W1_TIMES[2]) & _LOW)
    c0, c1, c2, c3 = _round(c0, c1, c2, c3, (k0 + _W0_TIMES[3]) & _LOW, (k1 + _W1_TIMES[3]) & _LOW)
    c0, c1, c2, c3 = _round(c0, c1, c2, c3, (k0 + _W0_TIMES[4]) & _LOW, (k1 + _W1_TIMES[4]) & _LOW)
    c0, c1, c2, c3 = _round(c0, c1, c2, c3, (k0 + _W0_TIMES[5]) & _LOW, (k1 + _W1_TIMES[5]) & _LOW)
    c0, c1, c2, c3 = _round(c0, c1, c2, c3, (k0 + _W0_TIMES[6]) & _LOW, (k1 + _W1_TIMES[6]) & _LOW)
    c0, c1, c2, c3 = _round(c0, c1, c2, c3, (k0 + _W0_TIMES[7]) & _LOW, (k1 + _W1_TIMES[7]) & _LOW)
    c0, c1, c2, c3 = _round(c0, c1, c2, c3, (k0 + _W0_TIMES[8]) & _LOW, (k1 + _W1_TIMES[8]) & _LOW)
    c0, c1, c2, c3 = _round(c0, c1, c2, c3, (k0 + _W0_TIMES[9]) & _LOW, (k1 + _W1_TIMES[9]) & _LOW)
    return c0, c1, c2, c3


@outlined
def fill_words(words, battles, cycles, start, stop, point, k0, k1):
    """Fill ``words[start:stop]`` with the words of one draw point in many battles.

    The loop has no branch and no dependence between lanes, so the compiler turns it into vector code:
    this is where most of the sampler's speed comes from.

    Parameters
    ----------
    words : uint64 (lanes,)
        Output.
    battles : uint64 (lanes,)
        Battle numbers of the lanes.
    cycles : int64 (lanes,)
        Cycle that each lane's battle is in.
    start, stop : int64
        Lanes to fill.
    point : int64
        The draw point within a cycle: ``draw_tag(0, step, side, group)``.
    k0, k1 : uint64
        Key words.
    """
    low = np.uint64(point)
    for i in range(start, stop):
        # The rounds stand here once more: a function of this size would be called rather than inlined, and a
        # loop with a call in it does not become vector code.
        tag = (np.uint64(cycles[i]) << _CYCLE) | low
        c0, c1, c2, c3 = _round(np.uint64(0), tag, battles[i] & _LOW, battles[i] >> _32, k0, k1)
        c0, c1, c2, c3 = _round(c0, c1, c2, c3, (k0 + _W0_TIMES[1]) & _LOW, (k1 + _W1_TIMES[1]) & _LOW)
        c0, c1, c2, c3 = _round(c0, c1, c2, c3, (k0 + _W0_TIMES[2]) & _LOW, (k1 + _W1_TIMES[2]) & _LOW)
        c0, c1, c2, c3 = _round(c0, c1, c2, c3, (k0 + _W0_TIMES[3]) & _LOW, (k1 + _W1_TIMES[3]) & _LOW)
        c0, c1, c2, c3 = _round(c0, c1, c2, c3, (k0 + _W0_TIMES[4]) & _LOW, (k1 + _W1_TIMES[4]) & _LOW)
        c0, c1, c2, c3 = _round(c0, c1, c2, c3, (k0 + _W0_TIMES[5]) & _LOW, (k1 + _W1_TIMES[5]) & _LOW)
        c0, c1, c2, c3 = _round(c0, c1, c2, c3, (k0 + _W0_TIMES[6]) & _LOW, (k1 + _W1_TIMES[6]) & _LOW)
        c0, c1, c2, c3 = _round(c0, c1, c2, c3, (k0 + _W0_TIMES[7]) & _LOW, (k1 + _W1_TIMES[7]) & _LOW)
        c0, c1, c2, c3 = _round(c0, c1, c2, c3, (k0 + _W0_TIMES[8]) & _LOW, (k1 + _W1_TIMES[8]) & _LOW)
        c0, c1, c2, c3 = _round(c0, c1, c2, c3, (k0 + _W0_TIMES[9]) & _LOW, (k1 + _W1_TIMES[9]) & _LOW)
        words[i] = c0 | (c1 << _32)


@kernel
def draw_tag(cycle, step, side, group):
    """Return the address of a draw point within a battle.

    Parameters
    ----------
    cycle : int64
        0 for what happens before the first cycle; below 2**20.
    step : int64
        Rule step, below 32.
    side : int64
        Firing side, 0 or 1. Both sides may fire in the same step and must not share their dice.
    group : int64
        Firing group, below 64.

    Returns
    -------
    uint64
        Below 2**32.
    """
    return np.uint64((cycle << 12) | (step << 7) | (side << 6) | group)


def derive_key(*parts: str | int) -> npt.NDArray[np.uint64]:
    """Derive a stream key from the seed and whatever else the pairing says.

    Parameters
    ----------
    *parts : str or int
        Joined by line feeds after the version name and hashed with SHA-256; the first is the seed.

    Returns
    -------
    uint64 (2,)
        Key words k0 and k1, each below 2**32, from the first eight bytes of the digest (little endian).
    """
    text = "\n".join([RNG_VERSION, *(str(part) for part in parts)])
    digest = hashlib.sha256(text.encode()).digest()
    return np.array([int.from_bytes(digest[:4], "little"), int.from_bytes(digest[4:8], "little")], dtype=np.uint64)
