"""Intervals that hold at all times: the martingale, its coverage, and the rule that stops a matchup."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.estimators import wilson
from simcore import api
from simcore.precision import (
    FINEST,
    MIXTURE_BATTLES,
    always_valid,
    battles_enough,
    largest_minorities,
    log_mixture,
    reached,
)

LOOKS = api.batch_schedule(581_632).sum(axis=1)
ERROR = 0.05
SHARES = [
    (0.5, 0.5),
    (0.5, 0.3, 0.2),
    (0.98, 0.015, 0.005),
    (0.9999, 0.0001),
    (0.2,) * 5,
    (0.6, 0.3, 0.05, 0.03, 0.015, 0.0049, 0.0001),
    (0.7, 0.29999, 0.00001, 0.0, 0.0, 0.0, 0.0),
]


def by_lgamma(share: float, successes: int, trials: int) -> float:
    """Return log M from its definition."""

    def beta(one: float, other: float) -> float:
        return math.lgamma(one) + math.lgamma(other) - math.lgamma(one + other)

    one, other = MIXTURE_BATTLES * share, MIXTURE_BATTLES * (1 - share)
    mixture = beta(one + successes, other + trials - successes) - beta(one, other)
    return mixture - successes * math.log(share) - (trials - successes) * math.log(1 - share)


def counted(shares: tuple[float, ...], matchups: int, looks: npt.NDArray[np.int64], seed: int) -> npt.NDArray[np.int64]:
    """Return the counts of each outcome of matchups at each look, int64 (looks, matchups, outcomes)."""
    chance = np.random.default_rng(seed)
    steps = np.diff(looks, prepend=0)
    return np.stack([chance.multinomial(step, shares, size=matchups) for step in steps]).cumsum(axis=0)


@pytest.mark.parametrize(
    ("share", "successes", "trials"),
    [(0.5, 50, 100), (0.5, 5_300, 10_000), (1e-5, 3, 1_000), (0.3, 299_000, 10**6), (0.999, 4_096, 4_096), (0.1, 0, 9)],
)
def test_the_mixture_is_what_it_is_said_to_be(share: float, successes: int, trials: int) -> None:
    assert float(log_mixture(share, successes, trials)) == pytest.approx(by_lgamma(share, successes, trials), abs=1e-7)


@pytest.mark.parametrize("share", [0.5, 0.07, 0.001, 0.9])
@pytest.mark.parametrize("trials", [1, 5, 60])
def test_it_is_a_martingale_of_mean_one(share: float, trials: int) -> None:
    k = np.arange(trials + 1)
    chances = np.array([math.comb(trials, i) * share**i * (1 - share) ** (trials - i) for i in k.tolist()])
    now = np.exp(log_mixture(share, k, trials))
    assert float((chances * now).sum()) == pytest.approx(1.0, abs=1e-12)
    # One battle later its mean is what it is now, whatever was seen.
    later = share * np.exp(log_mixture(share, k + 1, trials + 1)) + (1 - share) * np.exp(
        log_mixture(share, k, trials + 1)
    )
    assert later == pytest.approx(now, rel=1e-12)


@pytest.mark.parametrize("shares", SHARES)
def test_all_shares_lie_within_their_intervals_at_all_looks(shares: tuple[float, ...]) -> None:
    matchups = 4_000
    counts = counted(shares, matchups, LOOKS, seed=len(shares))
    limit = math.log(len(shares) / ERROR)
    within = np.ones(matchups, dtype=bool)
    fixed = np.ones(matchups, dtype=bool)
    for k, share in enumerate(shares):
        if not share:
            continue
        within &= (log_mixture(share, counts[:, :, k], LOOKS[:, None]) < limit).all(axis=0)
        low, high = wilson(counts[:, :, k], LOOKS[:, None])
        fixed &= ((low <= share) & (share <= high)).all(axis=0)
    assert within.mean() > 1 - ERROR
    # Intervals for a number of battles that is fixed beforehand miss far more often when they are looked at again.
    assert fixed.mean() < 1 - 2 * ERROR


@pytest.mark.parametrize("share", [0.5, 0.01])
def test_looking_after_every_battle_does_no_harm(share: float) -> None:
    chance = np.random.default_rng(5)
    trials = np.arange(1, 4_001)
    successes = (chance.random((400, len(trials))) < share).cumsum(axis=1)
    missed = (log_mixture(share, successes, trials) >= math.log(1 / ERROR)).any(axis=1)
    assert missed.mean() <= ERROR


@pytest.mark.parametrize("shares", SHARES[:6])
@pytest.mark.parametrize("precision", [0.005, 0.02])
def test_matchups_that_stop_at_a_precision_are_covered(shares: tuple[float, ...], precision: float) -> None:
    counts = counted(shares, 300, LOOKS, seed=11)
    minorities = np.minimum(counts, LOOKS[:, None, None] - counts).max(axis=2)
    limits = largest_minorities(precision, LOOKS.tolist(), len(shares))
    stops = (minorities <= limits[:, None]).argmax(axis=0)
    assert (minorities <= limits[:, None]).any(axis=0).all()
    final = counts[stops, np.arange(counts.shape[1])]
    low, high = always_valid(final, LOOKS[stops][:, None], outcomes=len(shares))
    assert ((high - low) / 2 <= precision + 1e-9).all()
    covered = ((low <= shares) & (np.array(shares) <= high)).all(axis=1)
    assert covered.mean() > 1 - ERROR
    assert np.array_equal(reached(final) <= precision, np.ones(len(final), dtype=bool))


@given(trials=st.integers(1, 10**9), part=st.floats(0, 1), outcomes=st.integers(1, 20))
@settings(max_examples=60, deadline=None)
def test_bounds_are_where_the_mixture_says(trials: int, part: float, outcomes: int) -> None:
    successes = round(part * trials)
    limit = math.log(outcomes / ERROR)
    low, high = (float(bound) for bound in always_valid(successes, trials, outcomes=outcomes))
    assert 0 <= low <= successes / trials <= high <= 1
    if low > 0:
        assert float(log_mixture(low, successes, trials)) == pytest.approx(limit, rel=1e-5)
    else:
        assert successes <= 1
    mirrored = always_valid(trials - successes, trials, outcomes=outcomes)
    assert (float(mirrored.low), float(mirrored.high)) == pytest.approx((1 - high, 1 - low), abs=1e-15)


def test_no_interval_depends_on_what_else_is_asked_for() -> None:
    successes, trials = np.array([2, 3, 1_000, 2_048, 500_000, 10**8]), np.array([4_096] * 4 + [10**6, 10**9])
    together = always_valid(successes, trials, outcomes=7)
    alone = [always_valid(k, n, outcomes=7) for k, n in zip(successes, trials, strict=True)]
    assert together.low.tolist() == [bounds.low for bounds in alone]
    assert together.high.tolist() == [bounds.high for bounds in alone]


def test_unknown_counts_have_unknown_bounds() -> None:
    low, high = always_valid([np.nan, 3.0, 0.0], [5.0, np.nan, 0.0])
    assert np.isnan(low[:2]).all()
    assert np.isnan(high[:2]).all()
    assert (low[2], high[2]) == (0.0, 1.0)


@pytest.mark.parametrize("trials", [4_096, 90_112, 4_251_648])
def test_intervals_are_wider_the_more_evenly_battles_are_divided(trials: int) -> None:
    successes = np.unique(np.linspace(0, trials // 2, 300).astype(int))
    low, high = always_valid(successes, trials, outcomes=7)
    assert (np.diff(high - low) > 0).all()


@pytest.mark.parametrize("precision", [0.05, 0.004, 0.0007])
def test_the_most_even_division_that_is_precise_enough(precision: float) -> None:
    looks = [4_096, 65_536, 1_114_112]
    for look, most in zip(looks, largest_minorities(precision, looks, 7).tolist(), strict=True):
        if most >= 0:
            assert reached(np.array([[most, look - most, 0, 0, 0, 0, 0]]))[0] <= precision
        if most < look // 2:
            assert reached(np.array([[most + 1, look - most - 1, 0, 0, 0, 0, 0]]))[0] > precision


@pytest.mark.parametrize("precision", [0.2, 0.01, 0.001, FINEST])
def test_enough_battles_are_enough(precision: float) -> None:
    battles = battles_enough(precision)
    assert largest_minorities(precision, [battles], 7)[0] == battles // 2
    assert battles < 10**12


def test_the_price_of_looking_is_about_a_factor_of_two_in_width() -> None:
    for precision in (0.0005, 0.001, 0.002, 0.005):
        trials = round(3.4 / precision**2)
        low, high = always_valid(trials // 2, trials, outcomes=7)
        fixed = wilson(trials // 2, trials)
        assert 1.8 < float(high - low) / float(fixed.high - fixed.low) < 2.1
