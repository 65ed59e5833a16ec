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

from simcore.core.jit import kernel

__all__ = ["RNG_VERSION", "TAG_CYCLE_SHIFT", "derive_key", "draw_tag", "fill_words", "philox4x32", "word64"]

RNG_VERSION = "simcore-rng-1"
TAG_CYCLE_SHIFT = 12

_M0 = np.uint64(0xD2511F53)
_M1 = np.uint64(0xCD9E8D57)
_W0 = np.uint64(0x9E3779B9)
_W1 = np.uint64(0xBB67AE85)
_LOW = np.uint64(0xFFFFFFFF)
_32 = np.uint64(32)
_ROUNDS = 10


@kernel
def philox4x32(c0, c1, c2, c3, k0, k1):  # type: ignore[no-untyped-def]
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
    for _ in range(_ROUNDS):
        p0 = _M0 * c0
        p1 = _M1 * c2
        c0 = (p1 >> _32) ^ c1 ^ k0
        c1 = p1 & _LOW
        c2 = (p0 >> _32) ^ c3 ^ k1
        c3 = p0 & _LOW
        k0 = (k0 + _W0) & _LOW
        k1 = (k1 + _W1) & _LOW
    return c0, c1, c2, c3


@kernel
def word64(tag, battle, k0, k1):  # type: ignore[no-untyped-def]
    """Return the 64-bit word of one draw.

    Parameters
    ----------
    tag : uint64
        From `draw_tag`, below 2**32.
    battle : uint64
        Battle number.
    k0, k1 : uint64
        Key words, each below 2**32.

    Returns
    -------
    uint64
    """
    x0, x1, _, _ = philox4x32(np.uint64(0), tag, battle & _LOW, battle >> _32, k0, k1)
    return x0 | (x1 << _32)


@kernel
def fill_words(words, row, battles, n, tag, k0, k1):  # type: ignore[no-untyped-def]
    """Fill ``words[row, :n]`` with the words of one draw point for `n` battles.

    The loop has no branch and no dependence between lanes, so the compiler turns it into vector code:
    this is where most of the sampler's speed comes from.

    Parameters
    ----------
    words : uint64 (draw points, lanes)
        Output.
    row : int64
        Row to fill.
    battles : uint64 (lanes,)
        Battle numbers of the lanes.
    n : int64
        Lanes in use.
    tag : uint64
        Address shared by all lanes.
    k0, k1 : uint64
        Key words.
    """
    for i in range(n):
        x0, x1, _, _ = philox4x32(np.uint64(0), tag, battles[i] & _LOW, battles[i] >> _32, k0, k1)
        words[row, i] = x0 | (x1 << _32)


@kernel
def draw_tag(cycle, step, side, group):  # type: ignore[no-untyped-def]
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
