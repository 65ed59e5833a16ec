"""Strengths with closed forms, and what no strength can explain."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.ladder import cycles, fit_ladder, reversals

RPS = np.array([[0.0, -1.0, 1.0], [1.0, 0.0, -1.0], [-1.0, 1.0, 0.0]])


def _logit(share: float) -> float:
    return float(np.log(share / (1.0 - share)))


def test_two_players() -> None:
    ladder = fit_ladder([[0.8]], [[5.0]], prior=0.0)
    assert ladder.rows[0] - ladder.columns[0] == pytest.approx(_logit(0.8))
    assert ladder.rows[0] == pytest.approx(-ladder.columns[0])
    assert ladder.fitted[0, 0] == pytest.approx(0.8)
    assert np.isnan(ladder.explained)


def test_three_players() -> None:
    ladder = fit_ladder([[0.8], [0.3]], [[1.0], [1.0]], prior=0.0)
    assert ladder.rows - ladder.columns == pytest.approx([_logit(0.8), _logit(0.3)])
    assert ladder.explained == pytest.approx(1.0)


@pytest.mark.parametrize("shape", [(4, 7), (7, 4), (30, 3)])
def test_a_true_ladder_is_found_and_explains_everything(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(1)
    rows, columns = rng.normal(size=shape[0]), rng.normal(size=shape[1])
    shares = 1.0 / (1.0 + np.exp(columns[None, :] - rows[:, None]))
    weights = rng.random(shape) + 0.1
    weights[0, 0] = 0.0
    shares[0, 0] = np.nan
    ladder = fit_ladder(shares, weights, prior=0.0)
    assert np.diff(ladder.rows) == pytest.approx(np.diff(rows))
    assert ladder.rows[0] - ladder.columns[0] == pytest.approx(rows[0] - columns[0])
    assert ladder.explained == pytest.approx(1.0)


def test_it_is_the_maximum_of_the_likelihood() -> None:
    """The fitted shares of each mix add up to the observed ones, which is the equation of the maximum."""
    rng = np.random.default_rng(2)
    shares, weights = rng.random((5, 6)), rng.random((5, 6)) + 0.2
    ladder = fit_ladder(shares, weights, prior=0.0)
    for axis in (0, 1):
        assert (weights * ladder.fitted).sum(axis=axis) == pytest.approx((weights * shares).sum(axis=axis))


def test_winning_everything_stays_finite() -> None:
    ladder = fit_ladder([[1.0, 1.0], [0.5, 0.5]], np.ones((2, 2)))
    assert np.isfinite(ladder.rows).all()
    assert ladder.rows[0] > ladder.rows[1] + 1.0
    stronger = fit_ladder([[1.0, 1.0], [0.5, 0.5]], np.ones((2, 2)), prior=0.01)
    assert stronger.rows[0] - stronger.rows[1] > ladder.rows[0] - ladder.rows[1]


def test_the_prior_has_a_closed_form_for_one_pair() -> None:
    """Half a battle drawn against the mean on each side: 0.5 (0.9 - p) = ... solved by hand for strengths s and -s."""
    ladder = fit_ladder([[0.9]], [[1.0]], prior=0.5)
    strength = ladder.rows[0]
    expected = 0.9 - 1.0 / (1.0 + np.exp(-2.0 * strength)) + 0.5 * (0.5 - 1.0 / (1.0 + np.exp(-strength)))
    assert expected == pytest.approx(0.0, abs=1e-9)


def test_rock_paper_scissors_has_no_ladder() -> None:
    ladder = fit_ladder((1.0 + RPS) / 2.0, np.ones((3, 3)))
    assert ladder.rows == pytest.approx([0.0] * 3, abs=1e-9)
    assert ladder.explained == pytest.approx(0.0, abs=1e-9)
    assert np.abs((1.0 + RPS) / 2.0 - ladder.fitted).max() == pytest.approx(0.5)


@pytest.mark.statistical
@pytest.mark.parametrize("shape", [(3, 4), (6, 2)])
def test_errors_are_those_of_repeated_samples(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(7)
    truth = 1.0 / (1.0 + np.exp(rng.normal(size=shape[1])[None, :] - rng.normal(size=shape[0])[:, None]))
    n = 2_000
    found = []
    for _ in range(600):
        shares = rng.binomial(n, truth) / n
        ladder = fit_ladder(shares, np.ones(shape))
        found.append(np.concatenate([ladder.rows, ladder.columns]))
    errors = np.sqrt(truth * (1.0 - truth) / n)
    ladder = fit_ladder(truth, np.ones(shape), errors)
    # The mean strength is set to 0 afterwards, which is not in the errors: differences are compared.
    sample = np.array(found)
    spread = (sample - sample.mean(axis=1, keepdims=True)).std(axis=0)
    assert np.concatenate([ladder.rows_se, ladder.columns_se]) == pytest.approx(spread, rel=0.25)


def test_nobody_met() -> None:
    with pytest.raises(ValueError, match="no two"):
        fit_ladder([[0.5]], [[0.0]])


def test_reversals_of_known_matrices() -> None:
    assert reversals(RPS).share == pytest.approx(2 / 3)
    assert reversals([[3.0, 2.0], [2.0, 1.0]]).share == 0.0
    found = reversals([[1.0, 0.0], [0.0, 1.0]])
    assert (found.share, found.example) == (1.0, (0, 1, 0, 1))
    assert np.isnan(reversals([[1.0, 2.0]]).share)
    assert reversals([[0.55, 0.5], [0.5, 0.55]], 0.1).share == 0.0


def test_circles_of_three() -> None:
    found = cycles(RPS)
    assert found.share == 1.0
    i, j, k, end = found.example or (0, 0, 0, 0)
    assert i == end
    assert RPS[i, j] == RPS[j, k] == RPS[k, i] == 1.0
    ladder = np.subtract.outer(np.arange(5.0), np.arange(5.0))
    assert cycles(ladder) == (0.0, None, False)
    assert cycles(RPS, 1.0).share == 0.0
    assert np.isnan(cycles([[0.0, 1.0], [-1.0, 0.0]]).share)
    # One circle among four: a fourth that beats all three.
    four = np.zeros((4, 4))
    four[:3, :3] = RPS
    four[3, :3], four[:3, 3] = 1.0, -1.0
    assert cycles(four).share == pytest.approx(1 / 4)


def test_many_rows_are_sampled_and_said_to_be() -> None:
    matrix = np.random.default_rng(1).random((500, 3))
    found = reversals(matrix)
    assert found.is_sampled
    assert 0.0 < found.share < 1.0
    assert found == reversals(matrix)
