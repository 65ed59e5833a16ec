"""Machinery of exact solvers: distributions of hits against fractions, tables of states against a dict."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simcore.core.chain import (
    add_to,
    binomial,
    clear_sums,
    convolve,
    find_or_add,
    new_sums,
    new_table,
    two_point,
    window,
)
from simcore.core.jit import is_jit_disabled

if TYPE_CHECKING:
    from collections.abc import Iterator

Floats = npt.NDArray[np.float64]

# Without the JIT every step of a kernel is Python.
MANY = 2_000 if is_jit_disabled() else 200_000
ODDS = [(1, 6), (2, 6), (3, 6), (5, 6), (1, 2), (1, 20), (19, 20), (7, 12)]


@pytest.fixture(autouse=True)
def wrapping() -> Iterator[None]:
    """Let products of 64-bit words wrap around silently, as they do in compiled code."""
    with np.errstate(over="ignore"):
        yield


def exact_binomial(n: int, p: Fraction) -> list[float]:
    """Return P(hits = k), each rounded once from its fraction."""
    a, b = p.numerator, p.denominator - p.numerator
    whole = p.denominator**n
    # Whole numbers of any length: one division rounds correctly.
    return [math.comb(n, k) * a**k * b ** (n - k) / whole for k in range(n + 1)]


def hits(n: int, numerator: int, denominator: int) -> Floats:
    out = np.full(n + 3, 7.0)
    binomial(n, numerator, denominator, out)
    assert out[n + 1] == out[n + 2] == 7.0, "only n + 1 entries belong to n dice"
    return out[: n + 1]


# --------------------------------------------------------------------------------------------------
# Dice
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("numerator", "denominator"), ODDS)
@pytest.mark.parametrize("n", [0, 1, 2, 3, 7, 40, 100, 333])
def test_binomial_equals_the_fractions(numerator: int, denominator: int, n: int) -> None:
    found = hits(n, numerator, denominator)
    wanted = exact_binomial(n, Fraction(numerator, denominator))
    assert found == pytest.approx(wanted, rel=1e-12, abs=1e-300)
    assert abs(math.fsum(found) - 1) <= 1e-15


@pytest.mark.parametrize(
    ("numerator", "denominator", "n"), [(1, 6, 2_000), (5, 6, 2_000), (1, 2, 1_999), (1, 20, 2_000)]
)
def test_binomial_of_thousands_of_dice(numerator: int, denominator: int, n: int) -> None:
    found = hits(n, numerator, denominator)
    wanted = exact_binomial(n, Fraction(numerator, denominator))
    # Far out the ratios of a thousand neighbours have been multiplied; below 1e-300 doubles lose digits.
    assert found == pytest.approx(wanted, rel=1e-11, abs=1e-300)
    assert np.abs(found - wanted).max() <= 1e-15
    assert abs(math.fsum(found) - 1) <= 1e-15
    assert found.min() >= 0
    mean = math.fsum(k * p for k, p in enumerate(found))
    assert mean == pytest.approx(n * numerator / denominator, rel=1e-13)


@pytest.mark.parametrize("n", [0, 1, 5, 2_000])
def test_dice_that_never_or_always_hit(n: int) -> None:
    never, always = hits(n, 0, 6), hits(n, 6, 6)
    assert never[0] == always[n] == 1.0
    assert never.sum() == always.sum() == 1.0
    # A value beyond the die's faces hits always, one below them never.
    assert np.array_equal(hits(n, -1, 6), never)
    assert np.array_equal(hits(n, 7, 6), always)


@given(n=st.integers(0, 300), odds=st.sampled_from(ODDS))
def test_binomial_is_a_mirror_image_of_its_misses(n: int, odds: tuple[int, int]) -> None:
    numerator, denominator = odds
    found, missed = hits(n, numerator, denominator), hits(n, denominator - numerator, denominator)
    assert found == pytest.approx(missed[::-1], rel=1e-12, abs=1e-300)


# --------------------------------------------------------------------------------------------------
# Low luck
# --------------------------------------------------------------------------------------------------


@given(points=st.integers(0, 200), per_hit=st.integers(1, 20))
def test_two_point(points: int, per_hit: int) -> None:
    out = np.full(points + 3, 7.0)
    most = int(two_point(points, per_hit, out))
    assert most == -(-points // per_hit)
    assert math.fsum(out[: most + 1]) == pytest.approx(1, abs=1e-15)
    assert np.count_nonzero(out[: most + 1]) == (1 if points % per_hit == 0 else 2)
    assert math.fsum(k * out[k] for k in range(most + 1)) == pytest.approx(points / per_hit, abs=1e-13)
    assert np.all(out[most + 1 :] == 7.0)


# --------------------------------------------------------------------------------------------------
# Sums and windows
# --------------------------------------------------------------------------------------------------


@given(a=st.lists(st.floats(0, 1), min_size=1, max_size=30), b=st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_convolve(a: list[float], b: list[float]) -> None:
    out = np.full(len(a) + len(b) + 1, 7.0)
    convolve(np.array(a), len(a) - 1, np.array(b), len(b) - 1, out)
    assert out[: len(a) + len(b) - 1] == pytest.approx(np.convolve(a, b), rel=1e-13, abs=1e-300)
    assert np.all(out[len(a) + len(b) - 1 :] == 7.0)


def test_two_pools_are_one_pool_where_they_hit_alike() -> None:
    out = np.zeros(64)
    convolve(hits(20, 1, 6), 20, hits(43, 1, 6), 43, out)
    assert out == pytest.approx(hits(63, 1, 6), rel=1e-12)


@given(
    weights=st.lists(st.floats(0, 1), min_size=1, max_size=40).filter(lambda found: sum(found) > 0),
    tail=st.sampled_from((0.0, 1e-17, 1e-3, 0.05, 0.4)),
)
def test_window_cuts_no_more_than_it_may(weights: list[float], tail: float) -> None:
    pmf = np.array(weights) / sum(weights)
    n = len(pmf) - 1
    low, high = window(pmf, n, tail)
    assert 0 <= low <= high <= n
    assert pmf[:low].sum() <= tail
    assert pmf[high + 1 :].sum() <= tail
    # It cuts as much as it may: the entry at either end would be too much.
    assert low == n or pmf[: low + 1].sum() > tail * (1 - 1e-12)
    assert high == low or pmf[high:].sum() > tail * (1 - 1e-12)


def test_window_of_sure_hits_is_one_number() -> None:
    assert window(np.array([0.0, 0.0, 1.0]), 2, 0.0) == (2, 2)
    assert window(np.array([1.0, 0.0, 0.0]), 2, 0.0) == (0, 0)
    assert window(np.array([1.0]), 0, 0.5) == (0, 0)


def test_window_of_many_dice_is_narrow() -> None:
    low, high = window(hits(2_000, 1, 6), 2_000, 1e-17)
    sd = (2_000 * 5 / 36) ** 0.5
    assert 2_000 / 6 - 10 * sd < low < 2_000 / 6 < high < 2_000 / 6 + 10 * sd


# --------------------------------------------------------------------------------------------------
# Tables of states
# --------------------------------------------------------------------------------------------------


def fill(drawn: list[int], capacity: int) -> None:
    """Look keys up, adding those that are new, beside a dict."""
    keys, places = new_table(capacity)
    known: dict[int, int] = {}
    for key in drawn:
        # Every key is offered the next free number; only a new one takes it.
        found = int(find_or_add(keys, places, key, len(known)))
        assert found == known.setdefault(key, len(known))
    for key, wanted in known.items():
        assert int(find_or_add(keys, places, key, -7)) == wanted
    assert np.count_nonzero(places >= 0) == len(known)


def test_tables_find_what_was_added() -> None:
    rng = random.Random(11)  # noqa: S311 - no secrets
    pool = [rng.randrange(2**62) for _ in range(MANY // 4)]
    capacity = 1 << (2 * len(pool)).bit_length()
    fill([rng.choice(pool) for _ in range(MANY)], capacity)


@pytest.mark.parametrize("step", [1, 2**10, 2**32, 2**45])
def test_tables_take_keys_that_are_alike(step: int) -> None:
    # Keys are numbers written in mixed radix: long runs and equal low bits are the rule.
    some = [k * step for k in range(MANY // 100)]
    fill(some + some[::-1], 1 << (2 * len(some)).bit_length())


@given(drawn=st.lists(st.integers(0, 2**62), max_size=32))
def test_small_tables(drawn: list[int]) -> None:
    fill(drawn, 64)


def test_a_new_table_is_empty() -> None:
    keys, places = new_table(16)
    assert len(keys) == len(places) == 16
    assert np.all(places == -1)


def test_cleared_sums_are_empty() -> None:
    sums = new_sums(8)
    for numbers in ((3, -2, 3), (-2, 5)):
        clear_sums(sums)
        for number in numbers:
            add_to(sums, np.int64(number), 0.25)
        n = int(sums.count[0])
        found = dict(zip(sums.values[:n].tolist(), sums.chances[:n].tolist(), strict=True))
        assert found == {number: 0.25 * numbers.count(number) for number in numbers}
