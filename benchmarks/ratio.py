"""Speed goals as ratios within one run: sampler against bare random words, two threads against one.

    python benchmarks/ratio.py [--rounds 15]

Times are minima of interleaved rounds, so a noisy machine shifts both sides of a ratio alike.
"""

from __future__ import annotations

import argparse

from battles import BATTLES, LANES, draws_per_battle, fight, scenario, seconds, words_alone

import simcore

GOAL_RATIO = 10.0
GOAL_RATIO_AT_SEA = 12.0
GOAL_THREADS = 1.8
BATTLES_PER_ROUND = 1 << 19
BLOCKS = 2_000


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the sampler's speed goals.")
    parser.add_argument("--rounds", type=int, default=15, help="interleaved rounds; the minimum of each counts")
    rounds = parser.parse_args().rounds
    print(f"{'battle':<92} {'M/s 1t':>7} {'M/s 2t':>7} {'words':>6} {'ratio':>6} {'2t/1t':>6}")
    for name in BATTLES:
        encoded = simcore.encode([scenario(name)])
        draws = draws_per_battle(name)
        for threads in (1, 2):
            fight(encoded, 100_000, threads)
        words_alone(1)
        one = two = bare = float("inf")
        for _ in range(rounds):
            bare = min(bare, seconds(words_alone, BLOCKS) / (BLOCKS * LANES))
            one = min(one, seconds(fight, encoded, BATTLES_PER_ROUND, 1) / BATTLES_PER_ROUND)
            two = min(two, seconds(fight, encoded, BATTLES_PER_ROUND, 2) / BATTLES_PER_ROUND)
        ratio, speedup = one / (draws * bare), one / two
        goal = GOAL_RATIO_AT_SEA if encoded.scenarios[0].canonical().get("terrain") == "sea" else GOAL_RATIO
        print(
            f"{name:<92} {1e-6 / one:>7.2f} {1e-6 / two:>7.2f} {draws:>6.2f} {ratio:>6.2f} {speedup:>6.2f}"
            f"{'' if ratio <= goal and speedup >= GOAL_THREADS else '  <- misses a goal'}",
            flush=True,
        )
    print(f"one random word alone: {bare * 1e9:.2f} ns")
    print(f"goals: ratio <= {GOAL_RATIO} ({GOAL_RATIO_AT_SEA} at sea), 2t/1t >= {GOAL_THREADS}")


if __name__ == "__main__":
    main()
