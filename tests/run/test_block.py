"""Rows of many solved matchups at once are the rows that are made one by one, byte by byte."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from simcore.result import expected_sd
from simcore.run import table
from simcore.run.block import SolvedSums, expected_sds
from simcore.run.session import sweep
from tests.run.sweeps import digests

if TYPE_CHECKING:
    from pathlib import Path

MIXED: dict[str, Any] = {
    "sweep": {"name": "mixed", "method": "auto", "battles": 200},
    "attacker": {
        "mixes": [
            {"units": "3 infantry, 1 tank", "weight": 0.3},
            "1 tank",
            "1 bomber, 2 fighter",
            "40 infantry, 30 tank",
        ],
        "budget": {"units": ["infantry", "artillery", "fighter"], "cost": 12, "slack": 12, "max_units": 3},
    },
    "defender": {
        "mixes": ["2 infantry, 1 aa_gun", "1 fighter", {"units": "9 infantry", "weight": 0}, "2 mech_infantry"]
    },
    "grid": {"edition.tank.cost": [5, 6], "scenario.edition": ["spring1942", "global40_2nd"]},
}


@pytest.mark.parametrize("method", ["exact", "auto"])
def test_tables_have_the_same_bytes_row_by_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    config = {**MIXED, "sweep": {**MIXED["sweep"], "method": method}}
    monkeypatch.setattr(table, "_ROW_GROUP", 64)
    monkeypatch.setattr("simcore.method.AUTO_STATES", 60)  # larger ones are simulated under "auto"
    whole = sweep(config, tmp_path / "columns", threads=1)
    assert whole.failed > 0
    assert whole.solved > 100
    assert (whole.battles > 0) == (method == "auto")
    monkeypatch.setattr(table._PointSums, "takes_blocks", False)
    assert sweep(config, tmp_path / "rows", threads=1).solved == whole.solved
    assert digests(tmp_path / "columns") == digests(tmp_path / "rows")


@pytest.mark.parametrize("together", [1, 7, 10_000])
def test_bytes_do_not_depend_on_how_many_are_taken_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, together: int
) -> None:
    sweep(MIXED, tmp_path / "usual", threads=1)
    monkeypatch.setattr(table, "_AT_ONCE", together)
    sweep(MIXED, tmp_path / "other", threads=1)
    assert digests(tmp_path / "usual") == digests(tmp_path / "other")


def test_deviations_are_those_of_single_figures() -> None:
    random = np.random.default_rng(3)
    totals = random.normal(size=1_000) * 10
    squares = totals**2 * random.choice([1.0, 1.0 + 1e-15, 1.5], size=1_000) + random.choice([0.0, 1.0], size=1_000)
    found = expected_sds(totals, squares)
    assert found.tolist() == [expected_sd(1.0, *pair) for pair in zip(totals.tolist(), squares.tolist(), strict=True)]


def test_of_equal_shares_the_first_opponent_counts() -> None:
    sums = SolvedSums(3)
    shares = np.array([0.5, 0.2, 0.2, 0.9, 0.9])
    figures = np.stack([shares, *np.zeros((3, 5))], axis=1)
    for rows in (slice(0, 3), slice(3, 5)):
        own = np.array([1, 1, 1, 1, 1])[rows]
        sums.add(own, np.arange(5)[rows], np.ones(5, dtype=np.int64)[rows], figures[rows])
    assert sums.extremes(1) == ((0.2, 1), (0.9, 3))
    assert sums.opponents.tolist() == [0, 5, 0]
    assert sums.figures[1, 0] == 0.5 + 0.2 + 0.2 + 0.9 + 0.9
