"""Sweeps on local Dask workers: how throughput grows with them, and what a part costs besides its battles.

    python benchmarks/cluster.py                  # 1, 2 and 4 workers
    python benchmarks/cluster.py --workers 1 2    # others
    python benchmarks/cluster.py --parts 200

Times run from the first stored part to the last: starting workers and loading kernels is shown apart. The cost of a
part besides its battles is the time of tiny parts.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from unittest import mock

from simcore.run import executor, plan
from simcore.run.session import sweep

PART = 2**21
TINY = 2**12


class Clock:
    """Progress that takes down when each part is stored."""

    def __init__(self) -> None:
        self.times: list[float] = []
        self.used: list[float] = []

    def start(self, name: str, total: int, unit: str) -> None:  # noqa: ARG002 - the names are part of the protocol
        self.began = time.perf_counter()

    def advance(self, done: float, *, is_new: bool) -> None:  # noqa: ARG002 - the same
        self.times.append(time.perf_counter())
        self.used.append(time.process_time())

    def stop(self) -> None:
        pass


def measure(parts: int, battles: int, **how: Any) -> tuple[float, float, float]:
    """Return the seconds until the first parts, of each further part, and of processor time of this process for it."""
    mixes = [f"{1 + i} infantry, {1 + i % 7} tank" for i in range(parts)]
    config = {
        "sweep": {"name": "cluster", "method": "simulate", "battles": battles},
        "attacker": {"mixes": mixes},
        "defender": {"mixes": ["12 infantry, 2 artillery"]},
    }
    clock = Clock()
    # As many parts go first as are on their way at the same time: they wait for workers and kernels.
    first = 3 * how.get("workers", 1)
    with tempfile.TemporaryDirectory() as folder, mock.patch.object(plan, "PART_BATTLES", battles):
        called = time.perf_counter()
        sweep(config, Path(folder) / "out", progress=clock, **how)
    assert len(clock.times) == parts
    each, used = ((found[-1] - found[first - 1]) / (parts - first) for found in (clock.times, clock.used))
    return clock.times[first - 1] - called, each, used


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--parts", type=int, default=60)
    parser.add_argument("--tiny", type=int, default=200)
    given = parser.parse_args()
    measure(4, TINY, threads=1)
    spent: list[float] = []
    resolve = executor.resolve_part

    def timed(*args: Any, **options: Any) -> Any:
        began = time.perf_counter()
        rows = resolve(*args, **options)
        spent.append(time.perf_counter() - began)
        return rows

    with mock.patch.object(executor, "resolve_part", timed):
        _, own, _ = measure(given.parts, PART, threads=1)
    alone = sum(spent[3:]) / len(spent[3:])
    print(f"battles alone {alone * 1e3:.1f} ms a part; store, names and progress add {100 * (own / alone - 1):.1f} %")
    _, own_tiny, used = measure(given.tiny, TINY, threads=1)
    print(f"this process, one thread: {own * 1e3:.1f} ms a part")
    print(f"a tiny part: {own_tiny * 1e3:.1f} ms, {used * 1e3:.1f} ms of processor time")
    one = None
    for workers in given.workers:
        start, each, _ = measure(given.parts, PART, workers=workers)
        _, tiny, used = measure(given.tiny, TINY, workers=workers)
        one = each if one is None else one
        print(
            f"{workers} workers: {start:.1f} s to start, {each * 1e3:.1f} ms a part, {one / each:.2f} times the first"
        )
        print(f"a tiny part: {tiny * 1e3:.1f} ms, {used * 1e3:.1f} ms of processor time of the caller")
    return 0


if __name__ == "__main__":
    sys.exit(main())
