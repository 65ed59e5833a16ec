"""Actions and games of skirmishes a second, and where the time goes.

Run ``python benchmarks/skirmish.py [threads]``: the best of five rounds of each line on the board of eight by eight.
Time is that of the clock; the first call of each line, which may compile, is left out.

Where the time goes is found by leaving parts out, as far as options can: a game without the rule of repetition does not
work out keys of boards, and one with ``flag_first = false`` does not look for flags. What is left is listing actions,
drawing them and carrying them out.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import simcore

GAMES = 2_000
ROUNDS = 5
FULL = "2 soldier3, 2 soldier5, 1 soldier9, 1 saboteur, 1 boat_large, 1 boat_small, 1 lifeboat, 1 plane_fighter, 2 mine"
FEW = "2 soldier4, 1 boat_small"
LINES: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "random": (FULL, {}, {}),
    "greedy": (FULL, {"policy": "greedy"}, {}),
    "random, flags left alone": (FULL, {"flag_first": False}, {}),
    "random, no repetitions": (FULL, {}, {"repetitions": 0}),
    "random, no planes or boats": ("4 soldier3, 4 soldier5, 2 saboteur", {}, {}),
    "random, few pieces": (FEW, {}, {}),
}


def measure(units: str, side: dict[str, Any], options: dict[str, Any], threads: int) -> tuple[float, float]:
    """Return actions and games a second."""
    own = {"units": units, **side}
    game = {"ruleset": "force_order", "mode": "skirmish", "options": options, "attacker": own, "defender": own}
    encoded = simcore.encode([game])
    best, turns = float("inf"), 0
    for number in range(ROUNDS + 1):
        start = time.perf_counter()
        run = simcore.simulate(encoded, battles=GAMES * threads, threads=threads, seed=7)
        if number:
            best = min(best, time.perf_counter() - start)
        turns = int(run.column("turns.sum")[0])
    return turns / best, GAMES * threads / best


def main() -> None:
    """Time all lines and print them."""
    threads = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    for name, (units, side, options) in LINES.items():
        actions, games = measure(units, side, options, threads)
        each = 1e9 * threads / actions
        print(f"{threads} threads, {name}: {actions:,.0f} actions and {games:,.0f} games a second, {each:,.0f} ns each")


if __name__ == "__main__":
    main()
