"""Work on many rows in Python threads: kernels do without the interpreter's lock, so they run side by side."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["share_out", "usable_threads"]

_RUNS_PER_THREAD = 4
"""More runs than threads, so that no thread waits long for the last one."""


def usable_threads() -> int:
    """Return how many threads this process may run at the same time."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def share_out(work: Callable[[int, int], None], count: int, threads: int, *, most: int = 1 << 62) -> None:
    """Do some work on rows 0 to ``count - 1``, in runs of neighbours, in so many threads.

    Parameters
    ----------
    work : callable
        ``work(low, high)`` works on the rows from `low` to ``high - 1`` and on nothing that belongs to others.
    count : int
        Rows.
    threads : int
        Threads, at least 1; with 1 everything happens in the caller's own.
    most : int
        Most rows of a run.

    Raises
    ------
    BaseException
        What `work` raised, or an interrupt: runs that have not begun are not begun any more, and none is left behind.
    """
    runs = 1 if threads == 1 else _RUNS_PER_THREAD * threads
    length = max(1, min(most, -(-count // runs)))
    starts = range(0, count, length)
    if threads == 1 or len(starts) <= 1:
        for low in starts:
            work(low, min(low + length, count))
        return
    pool = ThreadPoolExecutor(min(threads, len(starts)))
    try:
        for run in [pool.submit(work, low, min(low + length, count)) for low in starts]:
            run.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
