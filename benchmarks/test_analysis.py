"""Summaries and reports of large runs, beside their goals."""

from __future__ import annotations

import resource
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

import analysis
from analysis.frames import Run
from tests.analysis.folders import OUTCOMES, battlefield, some_mixes, write_columns

if TYPE_CHECKING:
    from pathlib import Path


def test_a_million_matchups_summed_up(benchmark: Any) -> None:
    columns = battlefield(some_mixes(250, 1), some_mixes(250, 2), grid={"k": list(range(16))})
    risk = np.linspace(0.0, 1.0, len(columns["attacker"]))
    frame = pd.DataFrame({"matchup": np.arange(len(risk)), **columns, "swing_q05": -5.0, "swing_negative": risk})
    manifest = {
        "schema": 1, "ruleset": "general_combat", "outcomes": list(OUTCOMES), "grid": {"k": list(range(16))},
    }  # fmt: skip
    run = Run(path=None, manifest=manifest, matchups=frame, mixes=pd.DataFrame())  # type: ignore[arg-type]
    benchmark.pedantic(lambda: analysis.summarize(run), rounds=3)
    benchmark.extra_info["peak memory, GB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    assert benchmark.stats.stats.min < 5.0
    assert benchmark.extra_info["peak memory, GB"] < 2.0


def test_report_of_a_hundred_thousand_matchups(benchmark: Any, tmp_path: Path) -> None:
    folder = write_columns(tmp_path / "run", battlefield(some_mixes(400, 1), some_mixes(250, 2)))
    target = benchmark.pedantic(lambda: analysis.report(folder), rounds=3)
    benchmark.extra_info["size, MB"] = target.stat().st_size / 1e6
    assert benchmark.stats.stats.min < 20.0
    assert benchmark.extra_info["size, MB"] < 15.0
