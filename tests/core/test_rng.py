"""Philox4x32-10: published vectors, addresses, and the vector loop against the plain function."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from simcore.core.rng import derive_key, draw_tag, fill_words, philox4x32
from simcore.rulesets.general_combat.encoding import AIRCRAFT_GROUP, REMAINDER_GROUPS, SUPPORTED_GROUP, UnitType

# Known-answer vectors published with the algorithm's reference implementation: counter, key, output.
KNOWN_ANSWERS = [
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]


def words(*values: int) -> list[np.uint64]:
    return [np.uint64(value) for value in values]


@pytest.mark.parametrize(("counter", "key", "expected"), KNOWN_ANSWERS)
def test_known_answers(counter: tuple[int, ...], key: tuple[int, ...], expected: tuple[int, ...]) -> None:
    c0, c1, c2, c3 = words(*counter)
    k0, k1 = words(*key)
    assert tuple(int(x) for x in philox4x32(c0, c1, c2, c3, k0, k1)) == expected


def test_the_vector_loop_gives_the_words_of_the_plain_function() -> None:
    rng = np.random.default_rng(5)
    battles = rng.integers(0, 2**63, 300, dtype=np.uint64)
    cycles = rng.integers(0, 2**20, 300, dtype=np.int64)
    k0, k1 = words(0x89ABCDEF, 0x01234567)
    point = int(draw_tag(0, 4, 1, 33))
    out = np.zeros(300, dtype=np.uint64)
    fill_words(out, battles, cycles, 10, 290, np.int64(point), k0, k1)
    assert not out[:10].any()
    assert not out[290:].any()
    for i in range(10, 290):
        tag = (int(cycles[i]) << 12) | point
        low, high = int(battles[i]) & 0xFFFFFFFF, int(battles[i]) >> 32
        c0, c1, c2, c3 = words(0, tag, low, high)
        x0, x1, _, _ = philox4x32(c0, c1, c2, c3, k0, k1)
        assert int(out[i]) == int(x0) | int(x1) << 32


def test_draw_addresses_are_disjoint() -> None:
    groups = [*range(len(UnitType)), *(SUPPORTED_GROUP + t for t in range(len(UnitType)))]
    groups += [*REMAINDER_GROUPS, AIRCRAFT_GROUP]
    assert len(set(groups)) == len(groups)
    assert max(groups) < 64
    tags = {
        int(draw_tag(cycle, step, side, group))
        for cycle in (0, 1, 2, 2**20 - 1)
        for step in (0, 2, 3, 4)
        for side in (0, 1)
        for group in groups
    }
    assert len(tags) == 4 * 4 * 2 * len(groups)
    assert max(tags) < 2**32


def test_keys_come_from_the_documented_digest() -> None:
    digest = hashlib.sha256(b"simcore-rng-1\n7\n10 infantry\n5 tank").digest()
    key = derive_key(7, "10 infantry", "5 tank")
    assert key.dtype == np.uint64
    assert [int(x) for x in key] == [int.from_bytes(digest[:4], "little"), int.from_bytes(digest[4:8], "little")]


def test_words_are_uniform() -> None:
    n = 200_000
    out = np.zeros(n, dtype=np.uint64)
    cycles = np.ones(n, dtype=np.int64)
    fill_words(out, np.arange(n, dtype=np.uint64), cycles, 0, n, np.int64(draw_tag(0, 3, 0, 0)), *derive_key(1))
    counts = np.bincount((out >> np.uint64(56)).astype(np.int64), minlength=256)
    chi_square = float(((counts - n / 256) ** 2 / (n / 256)).sum())
    assert abs(chi_square - 255) < 4.5 * (2 * 255) ** 0.5
    bits = ((out[:, None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)).mean(axis=0)
    assert np.all(np.abs(bits - 0.5) < 4.5 * 0.5 / n**0.5)
