"""Tables are plain Parquet: pandas, Polars and DuckDB read the same rows from them, straight from the folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import pytest

from tests.run.sweeps import TABLE_FILES

if TYPE_CHECKING:
    from pathlib import Path


def ask(question: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Return names and rows of the answer of DuckDB."""
    found = duckdb.sql(question)
    assert found is not None
    return found.columns, found.fetchall()


@pytest.mark.parametrize("name", TABLE_FILES)
def test_all_readers_find_the_same_rows(undisturbed: Path, name: str) -> None:
    path = undisturbed / name
    rows = pq.read_table(path).to_pylist()
    assert rows
    assert pl.read_parquet(path).to_dicts() == rows
    columns, found = ask(f"select * from '{path}'")
    assert [dict(zip(columns, row, strict=True)) for row in found] == rows
    frame = pd.read_parquet(path)
    assert list(frame.columns) == list(rows[0])
    assert [{k: None if pd.isna(v) else v for k, v in row.items()} for row in frame.to_dict("records")] == rows


def test_questions_are_answered_without_loading_all(undisturbed: Path) -> None:
    path = undisturbed / "matchups.parquet"
    asked = f"select defender, avg(p_attacker_wins) as share from '{path}' group by defender order by defender"
    _, shares = ask(asked)
    lazy = pl.scan_parquet(path).group_by("defender").agg(pl.col("p_attacker_wins").mean()).sort("defender").collect()
    assert [defender for defender, _ in shares] == lazy["defender"].to_list()
    for (_, share), other in zip(shares, lazy["p_attacker_wins"].to_list(), strict=True):
        assert share == pytest.approx(other, abs=1e-12)


def test_parts_are_readable_as_one_table(undisturbed: Path) -> None:
    _, found = ask(f"select sum(battles), count(*) from '{undisturbed}/parts/*.parquet'")
    assert found == [(18_000, 6)]
    assert (
        pl.scan_parquet(undisturbed / "parts" / "*.parquet").select(pl.col("battles").sum()).collect().item() == 18_000
    )


@pytest.mark.parametrize("name", TABLE_FILES)
def test_the_schema_number_stands_in_each_file(undisturbed: Path, name: str) -> None:
    assert pq.read_schema(undisturbed / name).metadata[b"simcore.schema"] == b"2"
