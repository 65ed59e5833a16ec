"""Swings in parts and tables: counted once, added up over parts and runs, missing where older versions drew."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import simcore
from simcore.core.swing import Swings
from simcore.errors import StoreError
from simcore.run.batch import read_batches
from simcore.run.manifest import encode_manifest
from simcore.run.merge import merge_runs
from simcore.run.session import resume, sweep
from simcore.run.store import PartRows, Store, check_part, read_rows
from simcore.schema import SPREAD
from tests.run.sweeps import digests, parts_of, planned, small

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("short_parts")

COLUMNS = [f"swing_{name}" for name in SPREAD]


def rows_of(folder: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.read_table(folder / "matchups.parquet").to_pylist()
    return rows


def columns_of_a_part() -> int:
    return planned().ruleset.columns


def make_old(folder: Path, keep: int = 0) -> None:
    """Turn a run into what a version wrote that did not count swings, but for some of its parts."""
    with Store(folder) as store:
        for path in parts_of(folder)[keep:]:
            rows = read_rows(path, columns_of_a_part(), with_swings=True)
            assert rows is not None
            store.write_part(path.stem, replace(rows, swings=None))
    content = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_bytes(encode_manifest({**content, "schema": 1}))


def test_the_table_has_the_quantiles_of_the_battles(done: Path) -> None:
    rows = rows_of(done)
    for row in rows:
        scenario = {"attacker": {"units": row["attacker_units"]}, "defender": {"units": row["defender_units"]}}
        run = simcore.simulate(simcore.encode([scenario]), battles=3_000, seed=7, keep_battles=True)
        assert run.cost_lost is not None
        swings = run.cost_lost[0, :, 1].astype(np.int64) - run.cost_lost[0, :, 0]
        truth = np.quantile(swings, [0.05, 0.25, 0.5, 0.75, 0.95], method="inverted_cdf").tolist()
        assert [row[name] for name in COLUMNS[:-1]] == truth
        assert row["swing_negative"] == (swings < 0).mean()
        assert row["swing_rounding"] == 0


def test_solved_and_simulated_rows_stand_side_by_side(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simcore.method.AUTO_STATES", 12)
    result = sweep(small(sweep={"method": "auto", "battles": 20_000}), tmp_path)
    assert result.solved > 0
    assert result.battles > 0
    for row in rows_of(tmp_path):
        exact = simcore.odds(row["attacker_units"], row["defender_units"], method="exact").swing
        assert row["swing_negative"] == pytest.approx(exact["loss"], abs=0.02)
        assert row["swing_rounding"] == 0
        if row["method"] == "exact":
            assert [row[name] for name in COLUMNS] == [*exact["quantiles"].values(), exact["loss"]]


def test_a_part_that_lost_its_swings_is_not_one_of_an_older_version(done: Path) -> None:
    before = digests(done)
    path = parts_of(done)[0]
    table = pq.read_table(path)
    pq.write_table(table.drop_columns([name for name in table.column_names if name.startswith("swing")]), path)
    problem = check_part(path, columns_of_a_part())
    assert problem
    assert "other columns" in problem
    result = resume(done)
    assert result.parts_computed == 1
    assert "other columns" in result.reports[0]
    assert digests(done) == before


def test_what_is_solved_alone_takes_no_columns_of_a_part(tmp_path: Path) -> None:
    sweep(small(sweep={"method": "exact"}), tmp_path)
    (path,) = parts_of(tmp_path)
    assert not [name for name in pq.read_schema(path).names if name.startswith("swing")]
    assert rows_of(tmp_path)[0]["swing_rounding"] == 0


def test_runs_of_older_versions_have_no_quantiles(done: Path, tmp_path: Path) -> None:
    before = rows_of(done)
    make_old(done)
    result = resume(done)
    assert (result.parts_computed, result.reports) == (0, [])
    for old, row in zip(before, rows_of(done), strict=True):
        assert [row[name] for name in (*COLUMNS, "swing_rounding")] == [None] * 7
        assert {name: row[name] for name in row if name not in {*COLUMNS, "swing_rounding"}}.items() <= old.items()
    # New battles cannot make up for those that were not counted ...
    sweep(small(sweep={"battles": 5_000}), done, top_up=True)
    assert {row["swing_q50"] for row in rows_of(done)} == {None}
    # ... nor can those of another run.
    sweep(small(sweep={"seed": 8}), tmp_path / "new")
    merge_runs([done, tmp_path / "new"], tmp_path / "both")
    assert {row["swing_negative"] for row in rows_of(tmp_path / "both")} == {None}
    assert sum(row["battles"] for row in rows_of(tmp_path / "both")) == 6 * 8_000


def test_matchups_are_empty_one_by_one(done: Path) -> None:
    make_old(done, keep=3)
    before = digests(done)
    resume(done)
    found = [row["swing_q50"] is None for row in rows_of(done)]
    assert sorted(set(found)) == [False, True]
    assert digests(done) != before


def test_counts_are_read_only_where_they_are_wanted(done: Path) -> None:
    path = parts_of(done)[0]
    (without, with_them) = (read_rows(path, columns_of_a_part(), with_swings=wanted) for wanted in (False, True))
    assert without is not None
    assert with_them is not None
    assert without.swings is None
    assert with_them.swings is not None
    assert without.digest() == with_them.digest()
    assert with_them.swings.counts.sum() == with_them.segments[:, 3].sum()


def test_altered_counts_are_found(done: Path) -> None:
    path = parts_of(done)[0]
    table = pq.read_table(path)
    counts = table.column("swings").to_pylist()
    counts[0][0] += 1
    at = table.column_names.index("swings")
    altered = table.set_column(at, table.field(at), pa.array(counts, table.field(at).type))
    pq.write_table(altered, path)
    assert "the checksum of the swings differs" in check_part(path, columns_of_a_part())
    # Whoever has no use for them can trust the rest.
    assert len(read_batches(done, planned().ruleset.accumulators, ["battles"]).battles) == 6
    before = digests(done)
    result = resume(done)
    assert (result.parts_computed, len(result.reports)) == (1, 1)
    assert digests(done) == before


def test_a_part_with_other_columns_is_not_trusted(done: Path) -> None:
    path = parts_of(done)[0]
    pq.write_table(pq.read_table(path).drop_columns(["swing_first"]), path)
    assert "other columns than those of a part" in check_part(path, columns_of_a_part())


def test_parts_keep_counts_short(tmp_path: Path) -> None:
    rows = np.zeros((2, 4), dtype=np.int64)
    rows[:, 3] = 5
    swings = Swings(np.array([[1, 1, -2], [3, 3, 0]]), np.array([2, 3]), np.array([4, 1, 5]))
    with Store(tmp_path) as store:
        store.write_part("0" * 64, PartRows(rows, rows, {}, swings=swings))
    (path,) = parts_of(tmp_path)
    assert pq.read_table(path).column("swings").to_pylist() == [[4, 1], [5]]
    found = read_rows(path, 4, with_swings=True)
    assert found is not None
    assert found.swings is not None
    assert found.swings.added_up([0, 1], [1, 2]) == swings.added_up([0, 1], [1, 2])


@pytest.mark.parametrize("schema", [0, -1, True, "2", 2.0, None])
def test_manifests_of_an_unknown_form_are_refused(done: Path, schema: object) -> None:
    content = json.loads((done / "manifest.json").read_text())
    (done / "manifest.json").write_bytes(encode_manifest({**content, "schema": schema}))
    with pytest.raises(StoreError, match="not the manifest of a sweep, or one of another version"):
        resume(done)
