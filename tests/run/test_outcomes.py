"""Outcomes of single battles, kept in the parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import simcore
from simcore.errors import ResumeMismatchError
from simcore.run.batch import read_batches, read_outcomes
from simcore.run.store import PartRows
from simcore.scenario import load_scenario
from tests.run.sweeps import digests, parts_of, planned, small

if TYPE_CHECKING:
    from pathlib import Path

KEPT = {"battles": 500, "keep_outcomes": True}


def test_outcomes_are_those_of_the_battles(tmp_path: Path) -> None:
    simcore.sweep(small(sweep=KEPT), tmp_path)
    plan = planned(sweep=KEPT)
    names = plan.ruleset.accumulators
    kept = read_outcomes(tmp_path, names, range(len(plan)))
    assert sorted(kept) == [(number, 0) for number in range(len(plan))]
    for (number, _), codes in kept.items():
        encoded = simcore.encode([load_scenario(plan.scenario(number))])
        found = simcore.simulate(encoded, battles=500, seed=7, keep_battles=True)
        assert found.outcome is not None
        assert np.array_equal(codes, found.outcome[0])


def test_what_is_kept_changes_no_table(tmp_path: Path) -> None:
    simcore.sweep(small(sweep=KEPT), tmp_path / "kept")
    simcore.sweep(small(sweep={"battles": 500}), tmp_path / "plain")
    assert digests(tmp_path / "kept") == digests(tmp_path / "plain")
    assert {path.name for path in parts_of(tmp_path / "kept")} != {path.name for path in parts_of(tmp_path / "plain")}
    names = planned().ruleset.accumulators
    assert read_outcomes(tmp_path / "plain", names, range(6)) == {}
    again = simcore.sweep(small(sweep=KEPT), tmp_path / "kept")
    assert again.parts_computed == 0
    with pytest.raises(ResumeMismatchError, match="keep_outcomes"):
        simcore.sweep(small(sweep={"battles": 500}), tmp_path / "kept")


def test_batches_are_read_back(tmp_path: Path) -> None:
    simcore.sweep(small(sweep={"battles": 5_000}), tmp_path)
    names = planned().ruleset.accumulators
    found = read_batches(tmp_path, names, ["battles", "swing.sum"])
    assert found.matchups.tolist() == sorted([*range(6)] * 2)
    assert found.first.tolist() == [0, 4_096] * 6
    assert found.battles.tolist() == found.sums[:, 0].tolist() == [4_096, 904] * 6
    some = read_batches(tmp_path, names, ["swing.sum"], [1, 4])
    assert some.sums[:, 0].tolist() == found.sums[[2, 3, 8, 9], 1].tolist()
    (tmp_path / "parts" / "note.parquet").write_text("not of ours")
    part = parts_of(tmp_path)[0]
    part.write_bytes(part.read_bytes()[:-20])
    assert len(read_batches(tmp_path, names, ["battles"]).battles) < 12


def test_digests_tell_outcomes_apart() -> None:
    rows = np.zeros((1, 4), dtype=np.int64)
    parts = [PartRows(rows, rows, {}, outcomes=codes) for codes in ((), (b"",), (b"a",), (b"b",))]
    assert len({part.digest() for part in parts}) == 4
