"""Kernel throughput per battle and thread count, random words, encoding."""

from __future__ import annotations

from typing import Any

import pytest
from battles import BATTLES, LANES, fight, scenario, words_alone

import simcore
from simcore.core.dice import build_dice_table

BATTLES_PER_ROUND = 1 << 16


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", list(BATTLES))
def test_battles(benchmark: Any, name: str, threads: int) -> None:
    encoded = simcore.encode([scenario(name)])
    fight(encoded, BATTLES_PER_ROUND, threads)
    benchmark.extra_info["battles"] = BATTLES_PER_ROUND
    benchmark(fight, encoded, BATTLES_PER_ROUND, threads)
    benchmark.extra_info["battles_per_s"] = BATTLES_PER_ROUND / benchmark.stats.stats.min


def test_random_words(benchmark: Any) -> None:
    words_alone(1)
    benchmark.extra_info["words"] = 1_000 * LANES
    benchmark(words_alone, 1_000)
    benchmark.extra_info["words_per_s"] = 1_000 * LANES / benchmark.stats.stats.min


def test_encode(benchmark: Any) -> None:
    scenarios = [scenario(name) for name in BATTLES] * 25
    encoded = benchmark(simcore.encode, scenarios)
    assert len(encoded) == len(scenarios)


def test_dice_tables_of_cached_pools(benchmark: Any) -> None:
    odds = [(value, 6, 100) for value in range(1, 5)]
    benchmark(build_dice_table, odds)
