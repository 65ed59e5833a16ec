"""Runs that are made into one, and those that do not belong together."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

from simcore.errors import ScenarioError, StoreError
from simcore.run.manifest import encode_manifest
from simcore.run.merge import merge_runs
from simcore.run.session import SweepInterrupted, resume, sweep
from tests.run.sweeps import digests, parts_of, small

if TYPE_CHECKING:
    from pathlib import Path

ATTACKERS = [
    "3 infantry, 1 tank",
    "2 tank",
    "1 infantry, 1 fighter",
    {"name": "guns", "units": "2 artillery", "weight": 2},
]
DEFENDERS = ["3 infantry", "1 infantry, 1 artillery"]

pytestmark = pytest.mark.usefixtures("invented_battles")


def config(**tables: Any) -> dict[str, Any]:
    given = small(attacker={"mixes": ATTACKERS}, defender={"mixes": DEFENDERS})
    given["sweep"]["battles"] = 9_000
    for name, table in tables.items():
        given[name] = {**given.get(name, {}), **table}
    return given


def rows_of(folder: Path, table: str = "matchups") -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.read_table(folder / f"{table}.parquet").to_pylist()
    return rows


def manifest_of(folder: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((folder / "manifest.json").read_text())
    return content


SHARDS = {
    "pairs": (
        config(sweep={"pairs": [[0, 0], [1, 1], [3, 0], [2, 1]]}),
        config(sweep={"pairs": [[0, 1], [1, 0], [2, 0], [3, 1]]}),
    ),
    "attackers": (config(attacker={"mixes": ATTACKERS[:1]}), config(attacker={"mixes": ATTACKERS[1:]})),
    "defenders": (config(defender={"mixes": DEFENDERS[:1]}), config(defender={"mixes": DEFENDERS[1:]})),
    "grid": tuple(
        config(attacker={"mixes": mixes}, grid={"edition.tank.cost": [5, 6], "scenario.cycle_limit": [0, 3]})
        for mixes in (ATTACKERS[:2], ATTACKERS[2:])
    ),
    "budget": tuple(
        config(attacker={"mixes": mixes, "budget": {"units": ["infantry", "tank"], "cost": 8, "slack": 3}})
        for mixes in ([], ["4 infantry"])
    ),
    "precision": tuple(
        config(sweep={"precision": 0.02, "battles": 100_000}, attacker={"mixes": mixes})
        for mixes in (ATTACKERS[:2], ATTACKERS[2:])
    ),
    "auto": (
        config(sweep={"method": "auto"}, defender={"mixes": DEFENDERS[:1]}),
        config(sweep={"method": "auto"}, defender={"mixes": DEFENDERS[1:]}),
    ),
}


def undivided(name: str) -> dict[str, Any]:
    first, second = SHARDS[name]
    whole = config(sweep={**first["sweep"], "pairs": "all"})
    whole["grid"] = first.get("grid", {})
    if name == "budget":
        whole["attacker"] = second["attacker"]
        first["attacker"] = {**first["attacker"], "mixes": []}
    return whole


@pytest.mark.parametrize("name", SHARDS)
def test_shards_become_the_undivided_run(tmp_path: Path, name: str) -> None:
    whole = undivided(name)
    first, second = SHARDS[name]
    if name == "budget":
        second = {**second, "sweep": {**second["sweep"], "pairs": [[0, 0], [0, 1]]}}
    for number, shard in enumerate((first, second)):
        sweep(shard, tmp_path / str(number))
    expected = sweep(whole, tmp_path / "whole")
    result = merge_runs([tmp_path / "0", tmp_path / "1"], tmp_path / "out")
    assert digests(tmp_path / "out") == digests(tmp_path / "whole")
    assert (result.matchups, result.battles, result.solved) == (expected.matchups, expected.battles, expected.solved)
    manifest = manifest_of(tmp_path / "out")
    assert manifest["state"] == "complete"
    assert manifest["seed"] == 7
    assert [source["folder"] for source in manifest["merged_from"]] == [str(tmp_path / "0"), str(tmp_path / "1")]
    assert manifest["sweep"]["sweep"]["pairs"] == "all"
    assert manifest["battles_counted"] == expected.battles


def test_part_of_the_pairs_stays_part(tmp_path: Path) -> None:
    sweep(config(sweep={"pairs": [[0, 0], [1, 1]]}), tmp_path / "0")
    sweep(config(sweep={"pairs": [[1, 0]]}), tmp_path / "1")
    sweep(config(sweep={"pairs": [[0, 0], [1, 0], [1, 1]]}), tmp_path / "whole")
    merge_runs([tmp_path / "0", tmp_path / "1"], tmp_path / "out")
    assert digests(tmp_path / "out") == digests(tmp_path / "whole")


@pytest.mark.parametrize("precision", [None, 0.02])
def test_other_seeds_are_further_battles(tmp_path: Path, precision: float | None) -> None:
    settings = {} if precision is None else {"precision": precision, "battles": 100_000}
    for seed in (7, 8, 2**64 - 1):
        sweep(config(sweep={**settings, "seed": seed}), tmp_path / str(seed))
    folders = [tmp_path / "7", tmp_path / "8", tmp_path / str(2**64 - 1)]
    merge_runs(folders, tmp_path / "out", name="more")
    single = [rows_of(folder) for folder in folders]
    for row, *others in zip(rows_of(tmp_path / "out"), *single, strict=True):
        assert row["battles"] == sum(other["battles"] for other in others)
        assert row["n_attacker_wins"] == sum(other["n_attacker_wins"] for other in others)
        assert row["seed"] == f"7, 8, {2**64 - 1}"
        if precision is not None:
            assert row["precision"] < min(other["precision"] for other in others)
    manifest = manifest_of(tmp_path / "out")
    assert (manifest["name"], manifest["seed"]) == ("more", f"7, 8, {2**64 - 1}")
    assert len(parts_of(tmp_path / "out")) == sum(len(parts_of(folder)) for folder in folders)


def test_merging_in_steps_gives_the_same_tables(tmp_path: Path) -> None:
    for seed in (1, 2, 3):
        sweep(config(sweep={"seed": seed}), tmp_path / str(seed))
    merge_runs([tmp_path / "1", tmp_path / "2", tmp_path / "3"], tmp_path / "at once")
    merge_runs([tmp_path / "1", tmp_path / "2"], tmp_path / "two")
    merge_runs([tmp_path / "two", tmp_path / "3"], tmp_path / "three")
    assert digests(tmp_path / "three") == digests(tmp_path / "at once")
    with pytest.raises(StoreError, match="both counted the battles"):
        merge_runs([tmp_path / "two", tmp_path / "1"], tmp_path / "never")


def test_topped_up_runs_are_merged_with_all_their_battles(tmp_path: Path) -> None:
    sweep(config(), tmp_path / "0")
    sweep(config(sweep={"battles": 20_000}), tmp_path / "0", top_up=True)
    sweep(config(sweep={"seed": 8}), tmp_path / "1")
    merge_runs([tmp_path / "0", tmp_path / "1"], tmp_path / "out")
    assert {row["battles"] for row in rows_of(tmp_path / "out")} == {29_000}


def test_solutions_are_taken_once(tmp_path: Path) -> None:
    sweep(config(sweep={"method": "exact"}), tmp_path / "0")
    sweep(config(sweep={"method": "exact", "seed": 8}), tmp_path / "1")
    merge_runs([tmp_path / "0", tmp_path / "1"], tmp_path / "out")
    for row, own in zip(rows_of(tmp_path / "out"), rows_of(tmp_path / "0"), strict=True):
        assert row["p_attacker_wins"] == own["p_attacker_wins"]
        assert row["battles"] == 0


def test_other_orders_of_mixes_are_put_in_order(tmp_path: Path) -> None:
    sweep(config(), tmp_path / "0")
    sweep(config(sweep={"seed": 8}, attacker={"mixes": ATTACKERS[::-1]}), tmp_path / "1")
    sweep(config(sweep={"seed": 8}), tmp_path / "2")
    merge_runs([tmp_path / "0", tmp_path / "1"], tmp_path / "out")
    merge_runs([tmp_path / "0", tmp_path / "2"], tmp_path / "same")
    assert digests(tmp_path / "out") == digests(tmp_path / "same")


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({}, "both counted the battles of '3 infantry, 1 tank' v '3 infantry' with seed 7"),
        ({"sweep": {"battles": 30_000}}, "both counted the battles"),
        ({"sweep": {"pairs": [[2, 1]]}}, "both counted the battles of '1 infantry, 1 fighter' v"),
        ({"sweep": {"seed": 8, "method": "exact"}}, "sweep.method is 'exact' here and 'simulate' there"),
        ({"sweep": {"seed": 8, "pairing": "common"}}, "sweep.pairing is 'common' here"),
        ({"sweep": {"seed": 8, "edition": "revised"}}, "sweep.edition is 'revised' here"),
        ({"sweep": {"seed": 8, "precision": 0.02}}, "a precision decided about the battles of one of them only"),
        ({"sweep": {"seed": 8}, "scenario": {"cycle_limit": 2}}, "scenario is"),
        ({"sweep": {"seed": 8}, "grid": {"edition.tank.cost": [5]}}, "grid is"),
        (
            {"sweep": {"seed": 8}, "attacker": {"mixes": [{"name": "guns", "units": "3 artillery", "weight": 2}]}},
            "attacker 'guns' is '3 artillery' with weight 2 here and '2 artillery' with weight 2 there",
        ),
        ({"sweep": {"seed": 8}, "defender": {"mixes": [{"units": "3 infantry", "weight": 2}]}}, "with weight 2 here"),
    ],
)
def test_what_does_not_belong_together_is_refused(tmp_path: Path, changes: dict[str, Any], problem: str) -> None:
    sweep(config(), tmp_path / "0")
    sweep(config(**changes), tmp_path / "1")
    before = [digests(tmp_path / name) for name in "01"]
    with pytest.raises(StoreError) as caught:
        merge_runs([tmp_path / "0", tmp_path / "1"], tmp_path / "out")
    assert problem.replace("'", '"') in str(caught.value).replace("'", '"')
    assert not (tmp_path / "out" / "manifest.json").exists()
    assert [digests(tmp_path / name) for name in "01"] == before


def test_folders_that_cannot_be_merged_are_refused(tmp_path: Path) -> None:
    sweep(config(), tmp_path / "0")
    sweep(config(sweep={"seed": 8}), tmp_path / "1")
    (tmp_path / "link").symlink_to(tmp_path / "0")
    with pytest.raises(ScenarioError, match="at least two"):
        merge_runs([tmp_path / "0"], tmp_path / "out")
    for folders, problem in (
        (("0", "link"), "is given twice"),
        (("0", "missing"), "missing: holds no sweep"),
    ):
        with pytest.raises(StoreError, match=problem):
            merge_runs([tmp_path / folder for folder in folders], tmp_path / "out")
    with pytest.raises(ScenarioError, match="out: must be the path of a folder"):
        merge_runs([tmp_path / "0", tmp_path / "1"], "")
    with pytest.raises(StoreError, match=r"lies in .*1, which is merged"):
        merge_runs([tmp_path / "0", tmp_path / "1"], tmp_path / "1" / "parts")
    with pytest.raises(StoreError, match="holds a sweep already"):
        merge_runs([tmp_path / "0", tmp_path / "1"], tmp_path / "1")
    shutil.copytree(tmp_path / "0", tmp_path / "copy")
    with pytest.raises(StoreError, match="both counted the battles"):
        merge_runs([tmp_path / "0", tmp_path / "copy"], tmp_path / "out")
    parts_of(tmp_path / "1")[0].unlink()
    with pytest.raises(StoreError, match="is missing or damaged; complete it with: simcore resume"):
        merge_runs([tmp_path / "0", tmp_path / "1"], tmp_path / "out")
    content = manifest_of(tmp_path / "1")
    for key, value, problem in (
        ("state", "running", "is not finished"),
        ("ruleset_version", 99, "was made with version 99"),
        ("merged_from", ["x"], "damaged, it does not say what was merged"),
        ("earlier", [{}], "damaged, it does not say how many battles"),
        ("earlier", 5, "damaged, it does not say how many battles"),
        ("schema", 99, "schema 99 is newer|newer version|of another version"),
    ):
        (tmp_path / "1" / "manifest.json").write_bytes(encode_manifest({**content, key: value}))
        with pytest.raises(StoreError, match=problem):
            merge_runs([tmp_path / "0", tmp_path / "1"], tmp_path / "out")


def test_a_merged_run_is_not_gone_on_with(tmp_path: Path) -> None:
    sweep(config(attacker={"mixes": ATTACKERS[:1]}), tmp_path / "0")
    sweep(config(attacker={"mixes": ATTACKERS[1:]}), tmp_path / "1")
    merge_runs([tmp_path / "0", tmp_path / "1"], tmp_path / "out")
    with pytest.raises(StoreError, match="was merged from other runs and is finished"):
        resume(tmp_path / "out")
    for top_up in (False, True):
        with pytest.raises(StoreError, match="was merged from other runs; choose another folder"):
            sweep(config(), tmp_path / "out", top_up=top_up)
    sweep(config(), tmp_path / "out", resume=False)
    assert "merged_from" not in manifest_of(tmp_path / "out")


def test_pairs_that_differ_from_point_to_point_cannot_be_written_down(tmp_path: Path) -> None:
    grid = {"edition.tank.cost": [5, 6]}
    budget = {"units": ["infantry", "tank"], "cost": 6}
    sweep(config(grid=grid, attacker={"mixes": [], "budget": budget}), tmp_path / "0")
    sweep(
        config(grid=grid, attacker={"mixes": ["1 fighter"], "budget": budget}, sweep={"pairs": [[0, 0]]}),
        tmp_path / "1",
    )
    with pytest.raises(StoreError, match="would differ from grid point to grid point"):
        merge_runs([tmp_path / "0", tmp_path / "1"], tmp_path / "out")


def test_an_interrupted_merge_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sweep(config(), tmp_path / "0")
    sweep(config(sweep={"seed": 8}), tmp_path / "1")
    folders = [tmp_path / "0", tmp_path / "1"]
    with monkeypatch.context() as patch:
        patch.setattr("simcore.run.merge._joined", lambda *_: (_ for _ in ()).throw(SweepInterrupted(tmp_path)))
        with pytest.raises(KeyboardInterrupt):
            merge_runs(folders, tmp_path / "out")
    assert not (tmp_path / "out" / "manifest.json").exists()
    merge_runs(folders, tmp_path / "out")
    merge_runs(folders, tmp_path / "other")
    assert digests(tmp_path / "out") == digests(tmp_path / "other")


def test_runs_that_turn_out_late_not_to_belong_together_leave_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What counts battles twice is only seen when the parts are read, where matchups may have been solved."""
    for name in ("a", "b"):
        sweep(config(), tmp_path / name)
    monkeypatch.setattr("simcore.run.merge._check_seeds", lambda *_: None)
    with pytest.raises(StoreError, match="no battle counts twice"):
        merge_runs([tmp_path / "a", tmp_path / "b"], tmp_path / "deep" / "merged")
    assert not (tmp_path / "deep").exists()
    (tmp_path / "kept").mkdir()
    with pytest.raises(StoreError, match="no battle counts twice"):
        merge_runs([tmp_path / "a", tmp_path / "b"], tmp_path / "kept")
    assert not list((tmp_path / "kept" / "parts").iterdir())
    assert not list((tmp_path / "kept").glob("*.parquet"))
