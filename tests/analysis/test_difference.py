"""Tests of differences against textbook figures, figures worked out by hand, and simulation."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest

from analysis.difference import (
    batch_difference,
    discordant_difference,
    known_mean_difference,
    known_share_difference,
    mean_difference,
    share_difference,
)
from analysis.multiplicity import benjamini_hochberg, benjamini_yekutieli

# The p-values of Benjamini and Hochberg (1995), table of section 4.1.
PAPER = (
    0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0,
)  # fmt: skip
# Student (1908): hours of sleep gained by two drugs, ten patients.
SLEEP = (
    (0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0),
    (1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4),
)


def test_hochberg_on_the_figures_of_the_paper() -> None:
    adjusted = benjamini_hochberg(PAPER)
    expected = [0.0015, 0.003, 0.0095, 0.035625, 0.0603, 0.0298 * 15 / 7, 0.0298 * 15 / 7, 0.0645, 0.0765, 0.486]
    assert adjusted[:10] == pytest.approx(expected)
    assert (adjusted <= 0.05).sum() == 4
    assert adjusted[-1] == 1.0


def test_yekutieli_on_the_figures_of_the_paper() -> None:
    harmonic = float(sum(Fraction(1, n) for n in range(1, 16)))
    adjusted = benjamini_yekutieli(PAPER)
    assert adjusted[:4] == pytest.approx(np.array([0.0015, 0.003, 0.0095, 0.035625]) * harmonic)
    assert (adjusted <= 0.05).sum() == 3


def test_order_missing_tests_and_large_families() -> None:
    shuffled = np.random.default_rng(1).permutation(PAPER)
    assert sorted(benjamini_hochberg(shuffled)) == sorted(benjamini_hochberg(PAPER))
    found = benjamini_hochberg([0.01, np.nan, 0.04])
    assert found[[0, 2]] == pytest.approx([0.02, 0.04])
    assert np.isnan(found[1])
    assert benjamini_hochberg([]).shape == (0,)
    exact = float(np.sum(1.0 / np.arange(1, 2001)))
    assert benjamini_yekutieli([1e-9, *[1.0] * 1999])[0] == pytest.approx(2e-6 * exact, rel=1e-12)


def test_paired_t_of_equal_batches_is_students() -> None:
    first, second = (np.rint(np.array(values) * 10).astype(int) for values in SLEEP)
    found = batch_difference([0] * 10, [10] * 10, first, second, 1)
    assert float(found.value[0]) == pytest.approx(1.58)
    assert (float(found.low[0]), float(found.high[0])) == pytest.approx((0.7001142, 2.4598858), abs=1e-6)
    assert float(found.p[0]) == pytest.approx(0.00283289, abs=1e-8)


def test_paired_t_weighs_batches_by_their_battles() -> None:
    # Differences per battle 0, 2 and 4 in batches of 1, 2 and 5 battles: mean 24/8, squares 9, 2 and 5.
    found = batch_difference([0, 0, 0], [1, 2, 5], [0, 0, 0], [0, 4, 20], 1)
    assert float(found.value[0]) == pytest.approx(3.0)
    error = (16 / 2 / 8) ** 0.5
    assert float(found.high[0] - found.value[0]) == pytest.approx(4.302652729911275 * error)
    # The t distribution with two degrees of freedom has a closed form.
    t = 3.0 / error
    assert float(found.p[0]) == pytest.approx(1 - t / (2 + t * t) ** 0.5)


def test_paired_t_at_its_edges() -> None:
    pairs = [0, 0, 0, 1, 1, 2]
    found = batch_difference(pairs, [4] * 6, [1, 2, 3, 0, 0, 1], [1, 2, 3, 4, 4, 3], 4)
    assert found.value[:3].tolist() == [0.0, 1.0, 0.5]
    assert found.p[:2].tolist() == [1.0, pytest.approx(0.5)], "two equal signs"
    assert np.isnan(found.p[2]), "one batch does not tell how much batches differ"
    assert np.isnan(found.value[3]), "no batch, no difference"


def test_score_test_of_shares() -> None:
    found = share_difference(40, 100, 60, 100)
    assert float(found.p) == pytest.approx(0.004677735, abs=1e-8)  # z = 0.2 / sqrt(0.5 * 0.5 * 2 / 100) = 2.828427
    # Newcombe (1998), example 56/70 - 48/80: 0.0524 to 0.3339.
    found = share_difference(48, 80, 56, 70)
    assert (float(found.low), float(found.high)) == pytest.approx((0.0524, 0.3339), abs=1e-4)
    assert float(share_difference(0, 50, 0, 50).p) == 1.0


def test_errors_are_added_where_nothing_is_known_of_the_dependence() -> None:
    apart, worst = (share_difference(40, 100, 60, 100, at_worst=worst) for worst in (False, True))
    assert worst.low < apart.low < apart.high < worst.high
    assert float(worst.p) == pytest.approx(0.0455003, abs=1e-6)  # z = 2
    assert float(mean_difference(0, 1, 100, 0.4, 1, 100, at_worst=True).p) == pytest.approx(0.0469, abs=2e-4)


def test_welch() -> None:
    # Two samples of 10 and 20 with variances 4 and 25: freedom (0.4 + 1.25)^2 / (0.4^2 / 9 + 1.25^2 / 19) = 27.22.
    found = mean_difference(20.0, 2.0, 10, 23.0, 5.0, 20)
    t = 3.0 / 1.65**0.5
    assert float(found.value / (found.high - found.value)) == pytest.approx(t / 2.0511, abs=2e-3)
    assert float(found.p) == pytest.approx(0.0272, abs=2e-4)


def test_constant_samples_count_by_the_ways_to_deal_them_out() -> None:
    assert float(mean_difference(1, 0, 5, 2, 0, 5).p) == pytest.approx(2 / comb(10, 5))
    assert float(mean_difference(1, 0, 5, 1, 0, 5).p) == 1.0
    assert float(mean_difference(1, 0, 100_000, 2, 0, 100_000).p) < 1e-300
    assert np.isnan(float(mean_difference(1, np.nan, 1, 2, np.nan, 1).p))


def test_binomial_test_of_an_exact_share() -> None:
    tail = sum(comb(20, k) for k in range(15, 21)) / 2**20
    assert float(known_share_difference(0.5, 15, 20).p) == pytest.approx(2 * tail)
    assert float(known_share_difference(0.5, 5, 20).p) == pytest.approx(2 * tail)
    edges = known_share_difference([0.0, 0.0, 1.0, 1.0], [0, 1, 50, 49], [50] * 4)
    assert edges.p.tolist() == [1.0, 0.0, 1.0, 0.0]
    # One battle of a kind that happens once in ten million: no proof of anything.
    assert float(known_share_difference(1e-7, 1, 100_000).p) > 0.01


def test_exact_mean_takes_the_larger_spread() -> None:
    assert float(known_mean_difference(10.0, 2.0, 10.5, 0.0, 64).p) == pytest.approx(0.0455003, abs=1e-6)
    assert float(known_mean_difference(1e-7, 3e-4, 1e-5, 3e-3, 100_000).p) > 0.1
    assert float(known_mean_difference(10.0, 0.0, 10.0 + 1e-12, 0.0, 64).p) == 1.0
    assert float(known_mean_difference(10.0, 0.0, 11.0, 0.0, 64).p) == 0.0


def test_mcnemar() -> None:
    # Approval of a prime minister in two surveys of the same 1,600 people (Agresti): 150 and 86 changed their minds.
    found = discordant_difference(150, 86, 1_600)
    assert float(found.value) == pytest.approx(-0.04)
    assert (float(found.low), float(found.high)) == pytest.approx((-0.0588, -0.0211), abs=3e-4)
    exact = 2 * sum(comb(236, k) for k in range(87)) / 2**236
    assert float(found.p) == pytest.approx(exact)
    assert float(discordant_difference(0, 0, 100).p) == 1.0
    assert float(discordant_difference(0, 0, 100).high) > 0.0


@pytest.mark.statistical
def test_nothing_is_discovered_where_nothing_changed() -> None:
    """A/A: with no true difference every discovery is false, so a share of at most 5 % of runs may have any."""
    rng = np.random.default_rng(20)
    runs, matchups, battles, batches = 400, 60, 4_096, 16
    chance = rng.uniform(0.02, 0.98, matchups)
    apart = paired = 0
    for _ in range(runs):
        counts = rng.binomial(battles, np.broadcast_to(chance, (2, batches, matchups)))
        first, second = counts.sum(axis=1)
        shares = share_difference(first, battles * batches, second, battles * batches)
        # Every matchup is tested by two figures that move together, as win share and swing do.
        noise = rng.normal(0.0, 1.0, (2, matchups))
        sd = np.sqrt(chance * (1.0 - chance) + 1.0)
        means = (counts.sum(axis=1) / (battles * batches)) + noise / np.sqrt(battles * batches)
        swings = mean_difference(means[0], sd, battles * batches, means[1], sd, battles * batches)
        apart += bool((benjamini_hochberg(np.concatenate((shares.p, swings.p))) <= 0.05).any())
        pairs = np.tile(np.arange(matchups), batches)
        found = batch_difference(
            pairs, np.full(len(pairs), battles), counts[0].reshape(-1), counts[1].reshape(-1), matchups
        )
        paired += bool((benjamini_hochberg(found.p) <= 0.05).any())
    most = 0.05 + 4.5 * (0.05 * 0.95 / runs) ** 0.5
    assert apart / runs < most
    assert paired / runs < most


@pytest.mark.statistical
@pytest.mark.parametrize("matchups", [1, 4])
def test_metrics_of_a_matchup_may_depend_on_each_other(matchups: int) -> None:
    """Both win shares, swing, both costs and the length of the same battles, in a small family of tests."""
    rng = np.random.default_rng(23)
    runs, battles, found = 300, 300, 0
    for _ in range(runs):
        p: list[float] = []
        for _ in range(matchups):
            wins = rng.random((2, battles)) < 0.5
            own, enemy = rng.binomial(4, np.where(wins, 0.3, 1.0)), rng.binomial(4, np.where(wins, 1.0, 0.3))
            length = 2 + rng.poisson(1.5, (2, battles)) + (np.abs(own - enemy) < 2)
            p += [float(share_difference(*_counts(won, battles)).p) for won in (wins, ~wins)]
            for figures in (enemy - own, own, enemy, length):
                (first, second), (sd1, sd2) = figures.mean(axis=1), figures.std(axis=1, ddof=1)
                p.append(float(mean_difference(first, sd1, battles, second, sd2, battles).p))
        found += bool((benjamini_hochberg(p) <= 0.05).any())
    assert found / runs < 0.05 + 4.5 * (0.05 * 0.95 / runs) ** 0.5


def _counts(won: np.ndarray[tuple[int, ...], np.dtype[np.bool_]], battles: int) -> tuple[int, int, int, int]:
    first, second = won.sum(axis=1)
    return int(first), battles, int(second), battles


@pytest.mark.statistical
def test_dependent_tests_need_yekutieli_and_get_it() -> None:
    """Under one set of dice for all matchups tests move together; the adjustment for any dependence still holds."""
    rng = np.random.default_rng(21)
    runs, found = 500, 0
    for _ in range(runs):
        shared = rng.normal()
        z = np.sqrt(0.8) * shared * rng.choice([-1.0, 1.0], 200) + np.sqrt(0.2) * rng.normal(size=200)
        made = known_mean_difference(np.zeros(200), 1.0, z, 1.0, 1)
        found += bool((benjamini_yekutieli(made.p) <= 0.05).any())
    assert found / runs < 0.05 + 4.5 * (0.05 * 0.95 / runs) ** 0.5


@pytest.mark.statistical
def test_intervals_of_batches_cover_what_they_should() -> None:
    rng = np.random.default_rng(22)
    matchups, sizes = 4_000, np.array([4_096] * 16 + [131_072 // 4])
    first = rng.binomial(sizes, 0.5, (matchups, len(sizes)))
    second = first + rng.binomial(sizes, 0.03, (matchups, len(sizes)))
    pairs = np.repeat(np.arange(matchups), len(sizes))
    found = batch_difference(pairs, np.tile(sizes, matchups), first.reshape(-1), second.reshape(-1), matchups)
    covered = ((found.low <= 0.03) & (found.high >= 0.03)).mean()
    assert abs(covered - 0.95) < 4.5 * (0.95 * 0.05 / matchups) ** 0.5
