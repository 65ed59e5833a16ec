"""Inverse-CDF dice: exact thresholds, distribution, monotonicity, an independent dice library as oracle."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import icepool
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simcore.core.dice import GUESS, MAX_DICE, build_dice_table, draw_hits, hit_bounds

WORD = 2**64


def exact_bounds(numerator: int, denominator: int, n: int) -> list[int]:
    """Return 2**64 * P(hits <= k), rounded, for k = 0 to n, with fractions."""
    p = Fraction(numerator, denominator)
    running = Fraction(0)
    out = []
    for k in range(n + 1):
        running += math.comb(n, k) * p**k * (1 - p) ** (n - k)
        out.append(math.floor(running * WORD + Fraction(1, 2)))
    return out


@pytest.mark.parametrize("sides", [2, 3, 6, 12, 20])
@pytest.mark.parametrize("n", [0, 1, 2, 7, 40])
def test_bounds_equal_the_exact_fractions(sides: int, n: int) -> None:
    for value in range(sides + 1):
        first, bounds = hit_bounds(value, sides, n)
        exact = exact_bounds(value, sides, n)
        for k, limit in enumerate(exact):
            if k < first:
                assert limit == 0
            elif k - first < len(bounds):
                assert bounds[k - first] + 1 == limit
            else:
                assert limit == WORD
        assert bounds[-1] == WORD - 1


def test_thousands_of_dice_have_the_right_mean() -> None:
    for n in (2_000, MAX_DICE):
        first, bounds = hit_bounds(1, 6, n)
        limits = [0, *(bound + 1 for bound in bounds)]
        mean = sum((first + k) * (b - a) for k, (a, b) in enumerate(itertools.pairwise(limits))) / WORD
        assert mean == pytest.approx(n / 6, abs=1e-9)
        assert len(bounds) < n


@given(
    word=st.integers(0, WORD - 1),
    sides=st.integers(2, 20),
    n=st.integers(0, 60),
    data=st.data(),
)
def test_draw_is_the_inverse_cdf_and_monotone(word: int, sides: int, n: int, data: st.DataObject) -> None:
    value = data.draw(st.integers(0, sides))
    table = build_dice_table([(value, sides, n + 1), (min(value + 1, sides), sides, n + 1)])

    def hits(odds: int, dice: int) -> int:
        row = int(table.first_row[odds]) + dice
        return int(draw_hits(np.uint64(word), row, table.bounds, table.offset, table.guide))

    expected = next((k for k, limit in enumerate(exact_bounds(value, sides, n)) if word < limit), n)
    assert hits(0, n) == expected
    assert hits(0, n) <= hits(0, n + 1)
    assert hits(0, n) <= hits(1, n)


def test_edges_of_the_guide_table() -> None:
    table = build_dice_table([(1, 6, 12)])
    for n in range(13):
        first, bounds = hit_bounds(1, 6, n)
        edges = {0, WORD - 1, *bounds, *(b + 1 for b in bounds if b + 1 < WORD)}
        edges |= {top << 56 for top in range(256)} | {((top + 1) << 56) - 1 for top in range(256)}
        for word in edges:
            k = int(draw_hits(np.uint64(word), n, table.bounds, table.offset, table.guide))
            assert k == first + sum(word > b for b in bounds)


def test_the_guide_table_leaves_open_only_what_a_top_byte_leaves_open() -> None:
    for odds in ((1, 6), (1, 2)):
        table = build_dice_table([(*odds, 12)])
        for n in range(13):
            first, bounds = hit_bounds(*odds, n)
            for top in range(256):
                low, high = (first + sum(word > b for b in bounds) for word in (top << 56, ((top + 1) << 56) - 1))
                assert table.guide[256 * n + top] == (low if low == high else low + GUESS)


def test_pools_agree_with_an_independent_dice_library() -> None:
    for value, sides, n in [(1, 6, 5), (3, 6, 10), (7, 12, 4)]:
        die = n @ icepool.coin(value, sides)
        first, bounds = hit_bounds(value, sides, n)
        limits = [0, *(bound + 1 for bound in bounds)]
        for k, (a, b) in enumerate(itertools.pairwise(limits)):
            assert (b - a) / WORD == pytest.approx(float(die.probability(first + k)), abs=1e-12)


@pytest.mark.parametrize(("numerator", "denominator", "n"), [(7, 6, 1), (-1, 6, 1), (1, 6, -1), (1, 6, MAX_DICE + 1)])
def test_impossible_pools_are_refused(numerator: int, denominator: int, n: int) -> None:
    with pytest.raises(ValueError, match="no such dice pool"):
        hit_bounds(numerator, denominator, n)


def test_an_empty_table_has_one_harmless_row() -> None:
    table = build_dice_table([])
    assert int(draw_hits(np.uint64(WORD - 1), 0, table.bounds, table.offset, table.guide)) == 0
