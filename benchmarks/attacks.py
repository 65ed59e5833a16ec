"""Attack rows a second through `force_order`, for any number of threads.

Run ``python benchmarks/attacks.py [threads]``: the best of seven rounds over two million rows of every kind that can
exist. The output arrays are part of what is timed; checking the rows is not.
"""

from __future__ import annotations

import sys
import time

import numba
import numpy as np

from simcore.rulesets.force_order.attack import resolve_rows
from simcore.rulesets.force_order.layout import KINDS, MOUNTS, PLACES, ROW_FIELDS, TARGET, Result
from simcore.rulesets.force_order.rows import row_rules

ROWS = 2_000_000
ROUNDS = 7
_CHOICES = {"kind": len(KINDS), "mount": len(MOUNTS), "place": len(PLACES), "result": len(Result)}


def random_rows(count: int) -> np.ndarray[tuple[int, int], np.dtype[np.int8]]:
    """Return rows that can exist, drawn evenly from all fields."""
    generator = np.random.default_rng(1)
    high = [_CHOICES.get(name.split(".")[-1], 2) for name in ROW_FIELDS]
    rows = generator.integers(0, high, size=(400_000, len(ROW_FIELDS))).astype(np.int8)
    for base in (0, TARGET):
        rows[generator.random(len(rows)) < 0.8, base + 1] = 0
    impossible = np.zeros(len(rows), dtype=bool)
    for _, mask, _ in row_rules(rows):
        impossible |= mask
    kept = rows[~impossible]
    return np.ascontiguousarray(kept[generator.integers(0, len(kept), count)])


def main() -> None:
    """Time all rounds and print the best."""
    threads = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))
    rows = random_rows(ROWS)
    found = resolve_rows(rows, threads=threads, checked=True)
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.perf_counter()
        resolve_rows(rows, threads=threads, checked=True)
        best = min(best, time.perf_counter() - start)
    legal = float(np.mean(found.answers[:, 0] == 0))
    print(f"{threads} threads: {ROWS / best / 1e6:.1f} million rows a second, {legal:.0%} of them legal")


if __name__ == "__main__":
    main()
