"""Work shared out among threads: every row once, no more threads than asked for, and nothing goes on after an error."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from simcore.core.threads import share_out, usable_threads


@pytest.mark.parametrize("threads", [1, 2, 3, 16])
@pytest.mark.parametrize("count", [0, 1, 2, 7, 100])
@pytest.mark.parametrize("most", [1, 4, 1 << 62])
def test_every_row_is_worked_on_once(threads: int, count: int, most: int) -> None:
    done = np.zeros(count, dtype=np.int64)
    lengths = []

    def work(low: int, high: int) -> None:
        done[low:high] += 1
        lengths.append(high - low)

    share_out(work, count, threads, most=most)
    assert (done == 1).all()
    assert all(0 < length <= most for length in lengths)


def test_one_thread_is_the_callers_own() -> None:
    seen = []
    share_out(lambda _low, _high: seen.append(threading.get_ident()), 10, 1, most=2)
    assert seen == [threading.get_ident()] * 5


def test_an_error_stops_what_has_not_begun() -> None:
    before = set(threading.enumerate())
    begun = []

    def work(low: int, _high: int) -> None:
        begun.append(low)
        if low == 0:
            raise ValueError("no")
        time.sleep(0.01)

    with pytest.raises(ValueError, match="no"):
        share_out(work, 10_000, 2, most=1)
    assert len(begun) < 1_000
    assert set(threading.enumerate()) <= before


def test_some_thread_is_usable() -> None:
    assert usable_threads() >= 1
