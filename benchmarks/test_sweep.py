"""A sweep end to end, and the start-up times that a user feels."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

import simcore

if TYPE_CHECKING:
    from pathlib import Path

SWEEP = {
    "sweep": {"name": "bench", "method": "simulate", "battles": 20_000, "seed": 1},
    "attacker": {
        "budget": {"units": ["infantry", "artillery", "tank", "fighter"], "cost": 30, "slack": 2, "max_units": 10}
    },
    "defender": {"mixes": ["10 infantry", "6 infantry, 2 artillery, 1 tank", {"infantry": 4, "fighter": 2}]},
}


def test_sweep_end_to_end(benchmark: Any, tmp_path: Path) -> None:
    simcore.sweep(SWEEP, out=tmp_path / "warm")
    runs = iter(range(1_000))
    result = benchmark(lambda: simcore.sweep(SWEEP, out=tmp_path / str(next(runs))))
    benchmark.extra_info["battles"] = result.battles


@pytest.mark.parametrize(
    "code",
    [
        "import simcore",
        "import runpy, sys; sys.argv = ['simcore', '--help']; from analysis.cli import main; main()",
        "import simcore; simcore.odds('10 infantry, 5 tank', '10 infantry', method='simulate')",
    ],
    ids=["import", "help", "odds with a warm cache"],
)
def test_start_up(benchmark: Any, code: str) -> None:
    command = [sys.executable, "-c", code]
    subprocess.run(command, check=False, capture_output=True)
    benchmark.pedantic(
        lambda: subprocess.run(command, check=False, capture_output=True), rounds=5, iterations=1, warmup_rounds=1
    )
