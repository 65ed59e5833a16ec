"""Games with known solutions."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.equilibrium import averaged, domination, resampled, solve_game

RPS = np.array([[0.0, -1.0, 1.0], [1.0, 0.0, -1.0], [-1.0, 1.0, 0.0]])


def test_rock_paper_scissors() -> None:
    found = solve_game(RPS)
    assert found.value == pytest.approx(0.0, abs=1e-12)
    assert found.rows == pytest.approx([1 / 3] * 3)
    assert found.columns == pytest.approx([1 / 3] * 3)
    assert found.gap == pytest.approx(0.0, abs=1e-12)


def test_matching_pennies_with_unequal_stakes() -> None:
    # Rows mix so that both columns pay alike: 3x - (1 - x) = -x + (1 - x), hence x = 1/3 and the value 1/3.
    found = solve_game([[3.0, -1.0], [-1.0, 1.0]])
    assert found.value == pytest.approx(1 / 3)
    assert found.rows == pytest.approx([1 / 3, 2 / 3])
    assert found.columns == pytest.approx([1 / 3, 2 / 3])


def test_saddle_points_need_no_mixing() -> None:
    found = solve_game([[4.0, 2.0, 3.0], [1.0, 0.0, 5.0]])
    assert (found.value, found.gap) == (2.0, 0.0)
    assert (found.rows.tolist(), found.columns.tolist()) == ([1.0, 0.0], [0.0, 1.0, 0.0])
    assert solve_game([[0.25]]).value == 0.25
    assert solve_game(np.zeros((3, 2))).value == 0.0


@pytest.mark.parametrize("shape", [(2, 9), (9, 2), (25, 25), (40, 13)])
@pytest.mark.parametrize("scale", [1.0, 1e-6, 1e6])
def test_nobody_can_do_better(shape: tuple[int, int], scale: float) -> None:
    payoff = np.random.default_rng(4).normal(size=shape) * scale
    found = solve_game(payoff)
    assert (found.rows @ payoff).min() == pytest.approx(found.value, abs=1e-8 * scale)
    assert (payoff @ found.columns).max() == pytest.approx(found.value, abs=1e-8 * scale)
    assert found.rows.sum() == pytest.approx(1.0)
    mirrored = solve_game(-payoff.T)
    assert mirrored.value == pytest.approx(-found.value, abs=1e-8 * scale)


def test_a_constant_more_is_a_value_more() -> None:
    payoff = np.random.default_rng(5).random((6, 7))
    assert solve_game(payoff + 3.0).value == pytest.approx(solve_game(payoff).value + 3.0)


@pytest.mark.parametrize("payoff", [[], [[]], [[1.0, np.nan]], [1.0, 2.0]])
def test_what_is_no_matrix_is_refused(payoff: list[object]) -> None:
    with pytest.raises(ValueError, match="matrix"):
        solve_game(payoff)  # type: ignore[arg-type]


def test_duplicates_share_in_the_average() -> None:
    twice = RPS[[0, 0, 1, 2]]
    twice = twice[:, [0, 0, 1, 2]]
    weights = averaged(twice, 0.0, 1e-5)
    assert weights == pytest.approx([1 / 6, 1 / 6, 1 / 3, 1 / 3], abs=1e-4)


def test_near_duplicates_share_within_the_margin() -> None:
    payoff = np.array([[0.5, 0.5], [0.4995, 0.4995], [0.2, 0.2]])
    weights = averaged(payoff, 0.5, 0.001)
    assert weights[:2].sum() == pytest.approx(1.0, abs=0.01)
    assert weights[1] > 0.45
    assert (weights @ payoff).min() >= 0.5 - 0.001 - 1e-6


def test_the_average_of_a_game_with_one_solution_is_that_solution() -> None:
    payoff = np.array([[3.0, -1.0], [-1.0, 1.0]])
    assert averaged(payoff, 1 / 3, 1e-6) == pytest.approx([1 / 3, 2 / 3], abs=1e-4)


def test_dominated_by_one_row() -> None:
    found = domination([[1.0, 2.0], [0.4, 1.0], [2.0, 0.0]])
    assert found.margin == pytest.approx([0.0, 0.6, 0.0])
    assert found.by == ((), ((0, 1.0),), ())


def test_dominated_only_by_a_mixture() -> None:
    # Half of each of the others pays 2 everywhere; the third row 1 and 1.5.
    found = domination([[4.0, 0.0], [0.0, 4.0], [1.0, 1.5]])
    assert found.margin[:2].tolist() == [0.0, 0.0]
    (first, one), (second, other) = found.by[2]
    assert {first, second} == {0, 1}
    mixture = one * np.array([[4.0, 0.0], [0.0, 4.0]])[first] + other * np.array([[4.0, 0.0], [0.0, 4.0]])[second]
    assert (mixture - [1.0, 1.5]).min() == pytest.approx(found.margin[2])
    assert found.margin[2] == pytest.approx(0.75)
    assert domination([[4.0, 0.0], [0.0, 4.0], [1.0, 1.5]], 0.8).by[2] == ()


def test_equal_rows_do_not_dominate_each_other() -> None:
    assert not domination([[1.0, 2.0], [1.0, 2.0]]).margin.any()
    assert not domination([[1.0, 2.0]]).margin.any()


def test_resampling_is_reproducible_and_as_wide_as_the_errors() -> None:
    payoff, errors = np.array([[0.5]]), np.array([[0.1]])
    values, rows, columns = resampled(payoff, errors, replications=2_000, seed=3)
    assert values.std() == pytest.approx(0.1, rel=0.06)
    assert rows.shape == columns.shape == (2_000, 1)
    again = resampled(RPS, np.full((3, 3), 0.05), replications=5, seed=9)
    for one, other in zip(again, resampled(RPS, np.full((3, 3), 0.05), replications=5, seed=9), strict=True):
        assert (one == other).all()


@pytest.mark.statistical
def test_the_spread_of_the_value_covers_it() -> None:
    """A game of two by two without a saddle point; its value has a closed form, sampled again and again."""
    truth, n = np.array([[0.8, 0.3], [0.3, 0.6]]), 500
    solved = solve_game(truth)
    assert solved.value == pytest.approx((0.8 * 0.6 - 0.3 * 0.3) / (0.8 + 0.6 - 0.3 - 0.3))
    # To first order a payoff moves the value by how often its cell is played.
    errors = np.sqrt(truth * (1.0 - truth) / n)
    expected = np.sqrt(((np.outer(solved.rows, solved.columns) * errors) ** 2).sum())
    values, _, _ = resampled(truth, errors, replications=400, seed=11)
    assert values.std() == pytest.approx(expected, rel=0.1)
    found = np.random.default_rng(12).binomial(n, truth, size=(20_000, 2, 2)) / n
    a, b, c, d = found[:, 0, 0], found[:, 0, 1], found[:, 1, 0], found[:, 1, 1]
    covered = np.abs((a * d - b * c) / (a + d - b - c) - solved.value) <= 1.959964 * values.std()
    assert covered.mean() == pytest.approx(0.95, abs=0.03)
