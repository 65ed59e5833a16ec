"""Tables from tallies: every figure against plain arithmetic on single battles."""

from __future__ import annotations

import dataclasses
import gc
import io
import random
import statistics
import sys
from contextlib import contextmanager
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import simcore
from simcore.errors import StoreError
from simcore.run import table as table_module
from simcore.run.store import Store, readable
from simcore.run.table import Total, sample_sd, writing_tables
from tests.run.sweeps import TABLE_FILES, digests, planned

if TYPE_CHECKING:
    from pathlib import Path

    from simcore.run.plan import Plan

BATTLES = 40
ERROR = "attacker.keep_land: too many"
TABLES: dict[str, Any] = {
    "sweep": {"battles": BATTLES, "seed": 2**64 - 1},
    "attacker": {"mixes": [{"name": "mob", "units": "3 infantry, 1 tank", "weight": 0.1}, "2 tank", "1 fighter"]},
    "defender": {"mixes": ["3 infantry", {"name": "guns", "units": "1 infantry, 1 artillery", "weight": 3}]},
    "grid": {"scenario.cycle_limit": [0, 4], "edition.tank.cost": [5, 6]},
}


def invent(plan: Plan, matchup: int) -> list[dict[str, Any]]:
    """Return battles as a kernel might have resolved them."""
    chance = random.Random(matchup)  # noqa: S311 - invented figures, no secret
    point, i, j = plan.locate(matchup)
    starts = {"attacker": point.attackers[i].counts, "defender": point.defenders[j].counts}
    battles = []
    for _ in range(BATTLES):
        is_captured = chance.random() < 0.3
        battles.append(
            {
                "outcome": chance.choice(plan.ruleset.outcomes[:-1]),
                "cycles": chance.randint(1, 9),
                "lost": {side: chance.randint(0, 20) for side in starts},
                "captured": {
                    "battles": int(is_captured),
                    "value": 3 * is_captured,
                    "guns": is_captured * chance.randint(0, 2),
                    "complexes": is_captured * chance.randint(0, 1),
                },
                "left": {
                    (side, unit): chance.randint(0, n) for side, counts in starts.items() for unit, n in counts.items()
                },
            }
        )
    return battles


def swing(battle: dict[str, Any]) -> int:
    return int(battle["lost"]["defender"] - battle["lost"]["attacker"])


def add_up(plan: Plan, battles: list[dict[str, Any]]) -> npt.NDArray[np.int64]:
    """Return the tally of battles."""
    sums = dict.fromkeys(plan.ruleset.accumulators, 0)
    for battle in battles:
        sums["battles"] += 1
        sums[f"outcome.{battle['outcome']}"] += 1
        lost = battle["lost"]
        figures = {"cycles": battle["cycles"], "swing": swing(battle)}
        figures |= {f"{side}.cost_lost": lost[side] for side in lost}
        for name, value in figures.items():
            sums[f"{name}.sum"] += value
            sums[f"{name}.sumsq"] += value**2
        for name, value in battle["captured"].items():
            sums[f"captured.{name}"] += value
        for (side, unit), left in battle["left"].items():
            sums[f"survivors.{battle['outcome']}.{side}.{unit}"] += left
    return np.array(list(sums.values()), dtype=np.int64)


def write(folder: Path, failing: tuple[int, ...] = (5,)) -> Plan:
    plan = planned(**TABLES)
    with Store(folder) as store, writing_tables(store, plan) as tables:
        for matchup in range(len(plan)):
            tally = add_up(plan, invent(plan, matchup))
            tables.add(Total(matchup, tally * (matchup not in failing), ERROR if matchup in failing else ""))
        assert tables.failed == len(failing)
    return plan


def rows_of(folder: Path, name: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.read_table(folder / f"{name}.parquet").to_pylist()
    return rows


def test_matchups(tmp_path: Path) -> None:
    plan = write(tmp_path)
    rows = rows_of(tmp_path, "matchups")
    assert [row["matchup"] for row in rows] == list(range(24))
    for matchup, row in enumerate(rows):
        point, i, j = plan.locate(matchup)
        assert (row["attacker"], row["defender"]) == (point.attackers[i].name, point.defenders[j].name)
        assert (row["attacker_units"], row["defender_units"]) == (
            point.attackers[i].units,
            point.defenders[j].units,
        )
        assert (row["attacker_weight"], row["defender_weight"]) == ((0.1, 1.0, 1.0)[i], (1.0, 3.0)[j])
        assert (row["grid.scenario.cycle_limit"], row["grid.edition.tank.cost"]) == point.values
        assert (row["ruleset"], row["edition"], row["method"]) == (
            "general_combat",
            "spring1942",
            "simulated",
        )
        assert row["seed"] == 2**64 - 1
        assert row["attacker_cost"] == (9 + point.values[1], 2 * point.values[1], 10)[i]
        if matchup == 5:
            continue
        battles = invent(plan, matchup)
        assert (row["battles"], row["status"], row["error"]) == (BATTLES, "ok", "")
        for outcome in plan.ruleset.outcomes:
            number = sum(battle["outcome"] == outcome for battle in battles)
            assert row[f"n_{outcome}"] == number
            assert row[f"p_{outcome}"] == number / BATTLES
        samples = {
            "cycles": [battle["cycles"] for battle in battles],
            "attacker_cost_lost": [battle["lost"]["attacker"] for battle in battles],
            "defender_cost_lost": [battle["lost"]["defender"] for battle in battles],
            "swing": [swing(battle) for battle in battles],
        }
        for name, values in samples.items():
            assert row[f"{name}_mean"] == statistics.mean(values)
            assert row[f"{name}_sd"] == pytest.approx(statistics.stdev(values), rel=1e-14)
        for column, name in (
            ("p_captured", "battles"),
            ("value_gained_mean", "value"),
            ("guns_captured_mean", "guns"),
            ("complexes_captured_mean", "complexes"),
        ):
            assert row[column] == sum(battle["captured"][name] for battle in battles) / BATTLES


def test_a_failed_matchup_has_an_error_and_no_figures(tmp_path: Path) -> None:
    write(tmp_path)
    row = rows_of(tmp_path, "matchups")[5]
    assert (row["status"], row["error"]) == ("failed", ERROR)
    assert (row["attacker"], row["defender"], row["defender_cost"]) == ("1 fighter", "guns", 7)
    figures = [name for name in row if name.startswith(("n_", "p_")) or name.endswith(("_mean", "_sd"))]
    assert len(figures) == 33
    assert all(row[name] is None for name in [*figures, "battles"])
    assert all(row["matchup"] != 5 for row in rows_of(tmp_path, "survivors"))


def test_column_types(tmp_path: Path) -> None:
    write(tmp_path)
    schema = pq.read_schema(tmp_path / "matchups.parquet")
    assert schema.field("matchup").type == pa.int32()
    assert schema.field("seed").type == pa.uint64()
    assert schema.field("grid.edition.tank.cost").type == pa.int64()
    assert schema.field("n_attacker_wins").type == pa.int64()
    assert schema.metadata == {b"simcore.schema": b"2"}


def test_survivors(tmp_path: Path) -> None:
    plan = write(tmp_path)
    rows = {(row["matchup"], row["side"], row["unit"], row["outcome"]): row for row in rows_of(tmp_path, "survivors")}
    expected = 0
    for matchup in set(range(24)) - {5}:
        battles = invent(plan, matchup)
        point, i, j = plan.locate(matchup)
        for side, mix in (("attacker", point.attackers[i]), ("defender", point.defenders[j])):
            for unit, start in mix.counts.items():
                for outcome in ("all", *plan.ruleset.outcomes):
                    left = [b["left"][side, unit] for b in battles if outcome in {"all", b["outcome"]}]
                    if not left:
                        assert (matchup, side, unit, outcome) not in rows
                        continue
                    row = rows[matchup, side, unit, outcome]
                    assert (row["battles"], row["start"]) == (len(left), start)
                    assert row["mean"] == sum(left) / len(left)
                    expected += 1
    assert len(rows) == expected


def test_mixes(tmp_path: Path) -> None:
    plan = write(tmp_path)
    rows = rows_of(tmp_path, "mixes")
    assert len(rows) == 4 * 5
    number = 0
    for point in plan.points:
        for side, own, others in (
            ("attacker", point.attackers, point.defenders),
            ("defender", point.defenders, point.attackers),
        ):
            for i, mix in enumerate(own):
                row = rows[number]
                number += 1
                assert (row["side"], row["mix"], row["units"], row["cost"]) == (
                    side,
                    mix.name,
                    mix.units,
                    mix.cost,
                )
                assert (row["weight"], row["grid.scenario.cycle_limit"]) == (mix.weight, point.values[0])
                check_mix(
                    plan,
                    row,
                    [(m, other) for m, other in meetings(plan, point.first, side, i, others) if m != 5],
                )


def meetings(plan: Plan, first: int, side: str, own: int, others: Any) -> list[tuple[int, Any]]:
    width = len(plan.points[0].defenders)
    return [
        (first + (own * width + j if side == "attacker" else j * width + own), other) for j, other in enumerate(others)
    ]


def check_mix(plan: Plan, row: dict[str, Any], met: list[tuple[int, Any]]) -> None:
    side = row["side"]
    other = "defender" if side == "attacker" else "attacker"
    wins = {"attacker": {"attacker_wins", "attacker_clears"}, "defender": {"defender_wins"}}[side]
    battles = {mix.name: invent(plan, matchup) for matchup, mix in met}
    weight = {mix.name: Fraction(mix.weight) for _, mix in met}
    shares = {name: sum(b["outcome"] in wins for b in fought) / BATTLES for name, fought in battles.items()}

    def mean(figure: Any) -> float:
        return float(
            sum(weight[name] * figure(b) for name, fought in battles.items() for b in fought)
            / (BATTLES * sum(weight.values()))
        )

    assert row["n_opponents"] == len(met)
    assert row["battles"] == BATTLES * len(met)
    assert row["win_share_mean"] == mean(lambda b: b["outcome"] in wins)
    assert row["win_share_worst"] == min(shares.values())
    assert row["win_share_best"] == max(shares.values())
    assert row["worst_opponent"] == min(shares, key=lambda name: shares[name])
    assert row["best_opponent"] == max(shares, key=lambda name: shares[name])
    assert row["swing_mean"] == mean(lambda b: b["lost"][other] - b["lost"][side])
    assert row["cost_lost_mean"] == mean(lambda b: b["lost"][side])
    assert row["enemy_cost_lost_mean"] == mean(lambda b: b["lost"][other])
    assert row["cost_efficiency"] == pytest.approx(row["enemy_cost_lost_mean"] / row["cost_lost_mean"], rel=1e-14)


def test_a_mix_whose_matchups_all_failed_has_no_figures(tmp_path: Path) -> None:
    write(tmp_path, failing=tuple(range(24)))
    for row in rows_of(tmp_path, "mixes"):
        assert (row["n_opponents"], row["battles"]) == (0, 0)
        assert row["win_share_mean"] is None
        assert row["worst_opponent"] is None
        assert row["cost_efficiency"] is None


def test_opponents_without_weight_count_for_the_extremes_only(tmp_path: Path) -> None:
    plan = planned(sweep={"battles": BATTLES}, defender={"mixes": [{"units": "3 infantry", "weight": 0}]})
    with Store(tmp_path) as store, writing_tables(store, plan) as tables:
        for matchup in range(len(plan)):
            tables.add(Total(matchup, add_up(plan, invent(plan, matchup))))
    row = rows_of(tmp_path, "mixes")[0]
    assert row["n_opponents"] == 1
    assert row["win_share_mean"] is None
    assert row["win_share_worst"] == row["win_share_best"] is not None


@pytest.mark.parametrize(
    ("values", "kind", "shown"),
    [
        ([1, 2], pa.int64(), [1, 2]),
        ([1, 1.5], pa.float64(), [1.0, 1.5]),
        ([True, False], pa.bool_(), [True, False]),
        (["a", "b"], pa.string(), ["a", "b"]),
        ([1, "default"], pa.string(), ["1", "default"]),
        ([["tank", "infantry"], "default"], pa.string(), ['["tank", "infantry"]', "default"]),
        ([{"b": 1, "a": True}], pa.string(), ['{"a": true, "b": 1}']),
        ([True, 1], pa.string(), ["true", "1"]),
    ],
)
def test_grid_columns_keep_their_type(tmp_path: Path, values: list[Any], kind: pa.DataType, shown: list[Any]) -> None:
    plan = planned(sweep={"battles": BATTLES}, grid={"scenario.cycle_limit": [0, *values]})
    points = tuple(dataclasses.replace(point, first=point.first - 6) for point in plan.points[1:])
    plan = dataclasses.replace(plan, grid={"scenario.cycle_limit": tuple(values)}, points=points)
    with Store(tmp_path) as store, writing_tables(store, plan) as tables:
        for matchup in range(len(plan)):
            tables.add(Total(matchup, add_up(plan, []), "failed"))
    for name in ("matchups", "mixes"):
        table = pq.read_table(tmp_path / f"{name}.parquet")
        column = table.column("grid.scenario.cycle_limit")
        assert column.type == kind
        assert list(dict.fromkeys(column.to_pylist())) == shown


def test_equal_tallies_give_equal_bytes(tmp_path: Path) -> None:
    write(tmp_path / "a")
    write(tmp_path / "b")
    assert digests(tmp_path / "a") == digests(tmp_path / "b")


def test_row_groups_are_of_bounded_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "a")
    monkeypatch.setattr(table_module, "_ROW_GROUP", 10)
    write(tmp_path / "b")
    file = pq.ParquetFile(tmp_path / "b" / "matchups.parquet")
    assert [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)] == [10, 10, 4]
    for name in ("matchups", "survivors", "mixes"):
        assert rows_of(tmp_path / "a", name) == rows_of(tmp_path / "b", name)


def test_a_writer_that_cannot_be_closed_does_not_hide_the_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: Any) -> None:
        raise pa.ArrowInvalid("Operation on closed file")

    def stop() -> None:
        plan = planned(**TABLES)
        with Store(tmp_path) as store, writing_tables(store, plan):
            monkeypatch.setattr(pq.ParquetWriter, "close", refuse)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stop()


def test_an_error_leaves_the_older_tables(tmp_path: Path) -> None:
    plan = write(tmp_path)
    before = digests(tmp_path)

    def stop_half_way() -> None:
        with Store(tmp_path) as store, writing_tables(store, plan) as tables:
            tables.add(Total(0, add_up(plan, invent(plan, 0))))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stop_half_way()
    assert digests(tmp_path) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([".lock", "parts", *TABLE_FILES])


def test_an_interruption_while_the_writers_are_made_leaves_nothing_to_be_closed_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = planned(**TABLES)
    unraisable: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", unraisable.append)

    def interrupt(_: Any) -> None:
        raise KeyboardInterrupt

    def stop() -> None:
        with Store(tmp_path) as store, writing_tables(store, plan):
            pass

    # By then the writer of the matchups is there.
    monkeypatch.setattr(table_module.Tables, "_survivor_schema", interrupt)
    with pytest.raises(KeyboardInterrupt):
        stop()
    gc.collect()
    assert unraisable == []


def test_a_full_disk_while_writing_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = write(tmp_path)
    before = digests(tmp_path)

    class Full(io.BytesIO):
        def write(self, data: Any, /) -> int:
            if self.tell() + len(data) > 100:
                raise OSError(28, "No space left on device")
            return super().write(data)

    @contextmanager
    def replacing(self: Store, name: str) -> Any:
        with readable(self.folder / name, "write"):
            yield Full()

    monkeypatch.setattr(Store, "replacing", replacing)
    with pytest.raises(StoreError, match="No space left on device"):
        write(tmp_path)
    monkeypatch.undo()
    assert digests(tmp_path) == before
    assert len(plan) == 24


@given(st.lists(st.integers(-(10**6), 10**6), min_size=2, max_size=60))
def test_standard_deviations_are_exact(values: list[int]) -> None:
    found = sample_sd(len(values), sum(values), sum(value**2 for value in values))
    assert found is not None
    assert found == pytest.approx(statistics.stdev(values), rel=1e-14)


def test_standard_deviation_keeps_its_digits_far_from_zero() -> None:
    values = [10**9, 10**9 + 1, 10**9 + 2]
    assert sample_sd(3, sum(values), sum(value**2 for value in values)) == 1.0
    assert sample_sd(1, 5, 25) is None


def test_costs_are_those_of_the_whole_battle(tmp_path: Path) -> None:
    raid = {
        "sweep": {"name": "raid", "battles": 100, "edition": "global40_2nd"},
        "scenario": {"terrain": "raid"},
        "attacker": {"mixes": ["1 bomber"]},
        "defender": {"mixes": ["1 aa_gun", "1 fighter"]},
    }
    simcore.sweep(raid, tmp_path / "raid")
    table = pq.read_table(tmp_path / "raid" / "matchups.parquet").to_pydict()
    assert table["attacker_cost"] == [12, 12]
    # Guns cannot be lost in a raid.
    assert table["defender_cost"] == [0, 10]
    assault = {
        "sweep": {"name": "assault", "battles": 100},
        "scenario": {
            "terrain": "amphibious",
            "sea": {
                "attacker": {"units": "1 destroyer, 1 transport", "cargo": ["2 infantry"]},
                "defender": {"units": "1 submarine"},
            },
        },
        "attacker": {"mixes": ["2 infantry", "3 infantry"]},
        "defender": {"mixes": ["1 infantry"]},
    }
    simcore.sweep(assault, tmp_path / "assault")
    table = pq.read_table(tmp_path / "assault" / "matchups.parquet").to_pydict()
    assert table["attacker_cost"] == [6 + 8 + 7, 9 + 8 + 7]
    assert table["defender_cost"] == [9, 9]
    mixes = pq.read_table(tmp_path / "assault" / "mixes.parquet").to_pydict()
    assert mixes["cost"] == [21, 24, 9]
    survivors = pq.read_table(tmp_path / "assault" / "survivors.parquet").to_pydict()
    assert {"destroyer", "transport", "submarine"} <= set(survivors["unit"])
