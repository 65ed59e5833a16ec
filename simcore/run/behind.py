"""Storing one part while the next is being resolved: a disk that syncs slowly does not hold up the battles."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Future

    from simcore.run.executor import Job
    from simcore.run.store import PartRows

__all__ = ["store_behind"]


def store_behind(
    results: Iterable[tuple[Job, PartRows]], write: Callable[[Job, PartRows], None]
) -> Iterator[tuple[Job, PartRows]]:
    """Write each result in a thread while the next one is computed, and hand it on once it is stored.

    At most one part is being written, and one more is held.

    Parameters
    ----------
    results : iterable of (Job, PartRows)
        Computed as they are asked for.
    write : callable
        Stores a part; called for one at a time, in order.

    Yields
    ------
    Job, PartRows
        In the order of `results`. An error of `write` is raised in place of its part.
    """
    with ThreadPoolExecutor(1, thread_name_prefix="simcore-store") as pool:
        before: tuple[Job, PartRows, Future[None]] | None = None
        for job, rows in results:
            if before is not None:
                before[2].result()
                yield before[:2]
            before = job, rows, pool.submit(write, job, rows)
        if before is not None:
            before[2].result()
            yield before[:2]
