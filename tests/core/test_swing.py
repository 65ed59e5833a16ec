"""Bins of swings: where they lie, that counts add up, quantiles against numpy."""

from __future__ import annotations

import numpy as np
import pytest

from simcore.core.swing import BINS, BinField, SwingCounts, Swings, common_steps, place_bins

LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)


def needed(own: int, enemy: int, width: int) -> int:
    """Return how many bins hold all swings from -own to enemy."""
    return enemy // width - (-own // width) + 1


def test_a_bin_for_each_swing_as_long_as_they_fit() -> None:
    costs = np.array([[0, 0], [9, 0], [0, 9], [255, 256], [255, 257], [BINS, 0], [2_550, 2_560]])
    steps = np.array([0, 3, 3, 1, 1, 1, 10])
    bins = place_bins(costs, steps)
    assert bins.tolist() == [[1, 1, 0], [3, 3, 3], [3, 3, 0], [1, 1, 255], [1, 2, 128], [1, 2, 256], [10, 10, 255]]


def test_the_width_is_the_smallest_with_which_all_swings_fit() -> None:
    chance = np.random.default_rng(5)
    steps = chance.integers(1, 12, 400)
    costs = chance.integers(0, 5_000, (400, 2)) ** 2 // 100 * steps[:, None]
    for (own, enemy), (step, width, below) in zip(costs.tolist(), place_bins(costs, steps).tolist(), strict=True):
        assert width % step == 0
        assert below == -(-own // width)
        assert below + enemy // width + 1 == needed(own, enemy, width) <= BINS
        assert width == step or needed(own, enemy, width - step) > BINS


def test_costs_beyond_all_measure() -> None:
    ((step, width, below),) = place_bins(np.array([[2**61, 2**60]]), np.array([1])).tolist()
    assert step == 1
    assert below + 2**60 // width + 1 <= BINS
    assert width < 2**61 // 300


def test_common_steps() -> None:
    costs = np.array([[[3, 6], [0, 9]], [[4, 6], [0, 0]], [[0, 0], [0, 0]]])
    assert common_steps(costs).tolist() == [3, 2, 0]
    assert common_steps(np.zeros((0, 2, 5), dtype=np.int64)).tolist() == []


def counted(swings: np.ndarray, bins: np.ndarray) -> Swings:
    """Return the counts of one row of swings, as a kernel makes them."""
    row = np.zeros((1, BINS), dtype=np.int64)
    np.add.at(row[0], swings // bins[0, BinField.WIDTH] + bins[0, BinField.BELOW], 1)
    return Swings.from_bins(bins, row)


@pytest.mark.parametrize("number", [1, 2, 19, 20, 21, 100, 4_097])
@pytest.mark.parametrize(("own", "enemy", "step"), [(30, 40, 1), (60, 0, 3), (0, 500, 5), (3_000, 2_000, 1), (0, 0, 1)])
def test_quantiles_are_those_of_numpy(number: int, own: int, enemy: int, step: int) -> None:
    swings = np.random.default_rng(number).integers(-own // step, enemy // step, number, endpoint=True) * step
    bins = place_bins(np.array([[own, enemy]]), np.array([step]))
    found = counted(swings, bins).row(0)
    assert found is not None
    assert found.battles == number
    assert found.losses == (swings < 0).sum()
    truth = np.quantile(swings, LEVELS, method="inverted_cdf")
    assert np.abs(np.array(found.quantiles()) - truth).max() <= found.rounding
    assert (found.rounding == 0) == (own + enemy < 600 * step)
    ends = found.swings[[0, -1]]
    assert np.abs(ends - [swings.min(), swings.max()]).max() <= found.rounding


def test_counts_add_up_whatever_they_were_cut_into() -> None:
    chance = np.random.default_rng(1)
    swings = np.rint(chance.normal(3, 40, 5_000)).astype(np.int64)
    bins = place_bins(np.array([[400, 400]]), np.array([1]))
    whole = counted(swings, bins).row(0)
    rows = [counted(part, bins) for part in np.split(swings, [7, 8, 1_000, 4_998])]
    one = rows[0].row(0)
    for row in rows[1:]:
        more = row.row(0)
        assert one is not None
        assert more is not None
        one = one.plus(more)
    assert one == whole
    together = Swings(
        np.concatenate([row.heads for row in rows]),
        np.cumsum(np.concatenate([row.lengths for row in rows])),
        np.concatenate([row.counts for row in rows]),
    )
    assert together.added_up([0], [5]) == [whole]
    first, second = together.added_up([0, 2], [2, 5])
    assert first is not None
    assert second is not None
    assert second.plus(first) == whole


def test_what_was_not_counted_in_part_is_not_counted() -> None:
    bins = place_bins(np.array([[10, 10], [10, 10], [20, 0]]), np.array([1, 1, 2]))
    counts = np.zeros((3, BINS), dtype=np.int64)
    counts[0, 4:7] = 1, 0, 2
    counts[2, 0] = 3
    found = Swings.from_bins(bins, counts)
    assert found.heads.tolist() == [[1, 1, -6], [0, 0, 0], [2, 2, -10]]
    assert found.lengths.tolist() == [3, 0, 1]
    assert found.counts.tolist() == [1, 0, 2, 3]
    assert found.added_up([0, 2], [2, 3]) == [None, SwingCounts(2, 2, -10, np.array([3]))]
    assert found.row(1) is None
    assert len(Swings.nothing(2)) == 2
    assert Swings.nothing(2).added_up([0], [2]) == [None]


def test_counts_of_other_bins_are_refused() -> None:
    one = SwingCounts(1, 2, 0, np.array([1]))
    with pytest.raises(ValueError, match="bins of 2 in steps of 1, and of 4 in 1"):
        one.plus(SwingCounts(1, 4, 0, np.array([1])))
    assert one != 3
    assert repr(one) == "SwingCounts(1 battles, 1 bins of 2)"
