"""Estimators against hand-computed values, and their coverage by simulation under fixed seeds."""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import NormalDist, fmean, stdev

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.estimators import (
    critical_value,
    lead_interval,
    mean_interval,
    moments_from_sums,
    percent_text,
    percent_texts,
    rounded_shares,
    standard_error,
    wilson,
)

Z = 1.959963984540054


def test_critical_value_and_its_range() -> None:
    assert critical_value() == pytest.approx(Z, rel=1e-12)
    assert critical_value(0.5) == pytest.approx(NormalDist().inv_cdf(0.75))
    for level in (0.0, 1.0, -1.0, 95.0):
        with pytest.raises(ValueError, match="between 0 and 1"):
            critical_value(level)


def test_wilson_bounds_rare_events() -> None:
    # 0 of 10,000 is at most z^2 / (n + z^2) = 0.0384 %; 2,000 of 2,000 at least n / (n + z^2) = 99.81 %.
    low, high = wilson([0, 2_000], [10_000, 2_000])
    assert low[0] == 0.0
    assert high[0] == pytest.approx(Z**2 / (10_000 + Z**2), rel=1e-12)
    assert round(100 * float(high[0]), 4) == 0.0384
    assert low[1] == pytest.approx(2_000 / (2_000 + Z**2), rel=1e-12)
    assert round(100 * float(low[1]), 2) == 99.81
    assert high[1] == 1.0


def test_wilson_textbook_value() -> None:
    # 81 of 263: 0.2553 to 0.3662 (Newcombe 1998, method 3).
    low, high = wilson(81, 263)
    assert (round(float(low), 4), round(float(high), 4)) == (0.2553, 0.3662)
    low, high = wilson(15, 148)
    assert (round(float(low), 4), round(float(high), 4)) == (0.0624, 0.1605)


def test_wilson_without_trials_and_with_unknown_counts() -> None:
    low, high = wilson([0, np.nan], [0, 10])
    assert (low[0], high[0]) == (0.0, 1.0)
    assert np.isnan(low[1])
    assert np.isnan(high[1])


@given(n=st.integers(1, 10**9), data=st.data())
def test_wilson_holds_the_share_and_mirrors(n: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(0, n))
    low, high = wilson(k, n)
    assert 0.0 <= low <= k / n <= high <= 1.0
    other_low, other_high = wilson(n - k, n)
    assert other_low == pytest.approx(1.0 - high, abs=1e-12)
    assert other_high == pytest.approx(1.0 - low, abs=1e-12)


@pytest.mark.statistical
@pytest.mark.parametrize("share", [0.003, 0.05, 0.3, 0.5, 0.97])
def test_wilson_coverage(share: float) -> None:
    draws, n = 20_000, 1_000
    k = np.random.default_rng(11).binomial(n, share, draws)
    low, high = wilson(k, n)
    covered = np.mean((low <= share) & (share <= high))
    # The score interval's coverage oscillates around 95 % by a point or so.
    assert 0.93 < covered < 0.975


@pytest.mark.statistical
@pytest.mark.parametrize("shares", [(0.45, 0.5), (0.02, 0.95), (0.3, 0.1), (0.6, 0.4)])
def test_lead_coverage(shares: tuple[float, float]) -> None:
    draws, n = 20_000, 1_000
    rest = max(1.0 - sum(shares), 0.0)
    counts = np.random.default_rng(12).multinomial(n, [*shares, rest], draws)
    low, high = lead_interval(counts[:, 0], counts[:, 1], n)
    true = shares[0] - shares[1]
    covered = np.mean((low <= true) & (true <= high))
    assert 0.935 < covered < 0.975


def test_lead_of_complements_is_wilson_stretched() -> None:
    k = np.array([0, 1, 37, 99, 100])
    low, high = lead_interval(k, 100 - k, 100)
    one_low, one_high = wilson(k, 100)
    np.testing.assert_allclose(low, 2 * one_low - 1, atol=1e-12)
    np.testing.assert_allclose(high, 2 * one_high - 1, atol=1e-12)
    low, high = lead_interval(0, 0, 0)
    assert (float(low), float(high)) == (-1.0, 1.0)


def test_lead_with_one_share_nothing() -> None:
    low, high = lead_interval(0, 0, 1_000)
    assert low < 0.0 < high
    assert high == -low


@given(st.lists(st.integers(-(10**6), 10**6), min_size=2, max_size=50))
def test_moments_equal_those_of_the_values(values: list[int]) -> None:
    mean, sd = moments_from_sums(len(values), sum(values), sum(value**2 for value in values))
    assert float(mean) == pytest.approx(fmean(values), rel=1e-12, abs=1e-9)
    assert float(sd) == pytest.approx(stdev(values), rel=1e-9, abs=1e-6)


def test_moments_do_not_cancel() -> None:
    # A million values of 2,000,000 and 2,000,001: textbook sumsq - sum^2/n in float64 loses the spread.
    n = 1_000_000
    total = 2_000_000 * n + n // 2
    squares = (n // 2) * (2_000_000**2 + 2_000_001**2)
    mean, sd = moments_from_sums(n, total, squares)
    exact = math.sqrt(Fraction(n, 4) / (n - 1))
    assert float(mean) == 2_000_000.5
    assert float(sd) == pytest.approx(exact, rel=1e-12)


def test_moments_near_the_end_of_int64() -> None:
    mean, sd = moments_from_sums([2], [3_000_000_001], [1_500_000_000**2 + 1_500_000_001**2])
    assert mean[0] == 1_500_000_000.5
    assert sd[0] == pytest.approx(math.sqrt(0.5))


def test_moments_of_too_few_values() -> None:
    mean, sd = moments_from_sums([0, 1], [0, 7], [0, 49])
    assert np.isnan(mean[0])
    assert mean[1] == 7.0
    assert np.isnan(sd).all()


def test_standard_errors_and_mean_interval() -> None:
    np.testing.assert_allclose(standard_error([3.0, 10.0, 1.0], [9, 100, 0]), [1.0, 1.0, np.nan])
    low, high = mean_interval(5.0, 2.0)
    assert float(low) == pytest.approx(5 - 2 * Z)
    assert float(high) == pytest.approx(5 + 2 * Z)


@given(st.lists(st.integers(0, 10_000), min_size=1, max_size=9).filter(sum))
def test_rounded_shares_add_up(counts: list[int]) -> None:
    shares = np.array(counts) / sum(counts)
    tenths = rounded_shares(shares)
    exact = [Fraction(1000 * count, sum(counts)) for count in counts]
    inside = [1 <= value <= 999 for value in exact]
    for value, shown, is_inside in zip(exact, tenths.tolist(), inside, strict=True):
        if is_inside:
            assert math.floor(value) <= shown <= math.ceil(value)
        else:
            assert shown == (1000 if value > 500 else 0)
    if any(inside):
        reachable = sum(math.ceil(value) for value, is_inside in zip(exact, inside, strict=True) if is_inside)
        shown = sum(number for number, is_inside in zip(tenths.tolist(), inside, strict=True) if is_inside)
        assert shown == min(1000, reachable)


def test_rounded_shares_of_whole_tables_at_once() -> None:
    table = np.array([[1 / 3, 1 / 3, 1 / 3], [0.5, 0.5, 0.0], [0.6, 0.3996, 0.0004], [1.0, 0.0, 0.0]])
    assert rounded_shares(table).tolist() == [[334, 333, 333], [500, 500, 0], [600, 400, 0], [1000, 0, 0]]


def test_whole_tenths_stay_as_they_are() -> None:
    # 0.289 * 1000 is 288.99999999999994: cutting it would move a share that needs no rounding.
    assert rounded_shares([0.289, 0.711]).tolist() == [289, 711]
    assert rounded_shares([0.001, 0.999]).tolist() == [1, 999]


def test_percent_texts() -> None:
    assert percent_texts([1 / 3, 1 / 3, 1 / 3]) == ["33.4 %", "33.3 %", "33.3 %"]
    assert percent_texts([0.9995, 0.0005, 0.0]) == [">99.9 %", "<0.1 %", "0 %"]
    assert percent_texts([1.0, 0.0]) == ["100 %", "0 %"]
    assert percent_texts([0.001, 0.999]) == ["0.1 %", "99.9 %"]
    assert percent_text(float("nan")) == "–"
    assert percent_text(0.71349) == "71.3 %"
