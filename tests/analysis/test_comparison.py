"""Comparing runs: which matchups meet, which test is used, and what is said about it."""

from __future__ import annotations

import json
import re
import shutil
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import analysis
from analysis.comparison import VERDICTS
from simcore.errors import ScenarioError
from tests.analysis.batched import Fought, battles_of, write_fought
from tests.analysis.conftest import FOREIGN, HOSTILE
from tests.analysis.folders import Mix, matchup, write

if TYPE_CHECKING:
    from pathlib import Path

GUARD, LEVY, WALL = Mix("guard", "10 infantry", 30), Mix("levy", "9 infantry", 27), Mix("wall", "8 infantry", 24)
BATTLES = 65_536
TRUNK = ("attacker_win_share", "swing")


def fought(
    chance: float, seed: int, *, battles: int = BATTLES, attacker: Mix = GUARD, defender: Mix = WALL, **grid: Any
) -> Fought:
    words = np.random.default_rng([seed, len(attacker.name), len(defender.name)]).random(battles)
    return Fought(attacker, defender, *battles_of(words, chance), grid=grid or None)


def grid_value(key: str, value: Any) -> dict[str, Any]:
    return {key.replace(".", "__"): value}


def exact(share: float, **options: Any) -> dict[str, Any]:
    counts = {"attacker_wins": round(share * 10_000), "defender_wins": 10_000 - round(share * 10_000)}
    return matchup(GUARD, WALL, counts, method="exact", **options)


def verdicts(found: analysis.comparison.Comparison, metric: str = "attacker_win_share") -> list[str]:
    return found.rows[found.rows["metric"] == metric]["verdict"].tolist()


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_fought(tmp_path_factory.mktemp("before") / "run", [fought(0.5, 1), fought(0.3, 1, attacker=LEVY)])


def test_same_dice_tell_small_changes_apart(before: Path, tmp_path: Path) -> None:
    after = write_fought(tmp_path / "run", [fought(0.515, 1), fought(0.3, 1, attacker=LEVY)])
    found = analysis.compare(before, after)
    row = found.rows.iloc[0]
    assert (row["test"], row["battles"]) == ("paired t", BATTLES)
    assert row["low"] <= row["difference"] <= row["high"]
    assert 0.012 < row["low"] < 0.0152 < row["high"] < 0.018, "far narrower than two shares of as many battles"
    assert verdicts(found) == ["better", "same"]
    assert verdicts(found, "defender_win_share") == ["better", "same"]
    assert verdicts(found, "cycles") == ["same", "same"]
    assert found.counts.loc["attacker_win_share", "better"] == 1
    assert found.counts.to_numpy().sum() == 2 * 6
    assert verdicts(analysis.compare(after, before)) == ["worse", "same"]


def test_what_matters_is_chosen(before: Path, tmp_path: Path) -> None:
    after = write_fought(tmp_path / "run", [fought(0.515, 1), fought(0.3, 1, attacker=LEVY)])
    assert verdicts(analysis.compare(before, after, practical={"share": 0.05})) == ["same", "same"]
    assert verdicts(analysis.compare(before, after, practical={"share": 0.015}))[0] == "unclear"
    assert verdicts(analysis.compare(before, after, practical={"share": 0.0}))[0] == "better"


def test_a_run_and_itself(before: Path) -> None:
    found = analysis.compare(before, before)
    assert set(found.rows["verdict"]) == {"same"}
    assert (found.rows["difference"] == 0).all()
    assert "no change found" in found.to_text()
    assert "all settings are the same" in found.to_text()


def test_other_dice_are_tested_apart(before: Path, tmp_path: Path) -> None:
    after = write_fought(tmp_path / "run", [fought(0.5, 2), fought(0.35, 2, attacker=LEVY)], seed=8)
    found = analysis.compare(before, after)
    assert set(found.rows["test"]) == {"score", "Welch's t"}
    assert verdicts(found) == ["same", "better"]
    assert not found.has_same_dice


@pytest.mark.parametrize("change", ["battles", "parts", "accumulators"])
def test_errors_are_added_where_batches_cannot_be_paired(before: Path, tmp_path: Path, change: str) -> None:
    battles = 3_000 if change == "battles" else BATTLES
    chances = (0.52, 0.3)
    pair = [fought(chances[0], 1, battles=battles), fought(chances[1], 1, battles=battles, attacker=LEVY)]
    after = write_fought(tmp_path / "run", pair)
    if change == "parts":
        shutil.rmtree(after / "parts")
    elif change == "accumulators":
        manifest = json.loads((after / "manifest.json").read_text())
        del manifest["accumulators"]
        (after / "manifest.json").write_text(json.dumps(manifest))
    found = analysis.compare(before, after)
    assert set(found.rows["test"]) == {"errors added"}
    assert verdicts(found)[0] == ("unclear" if change == "battles" else "better")


def test_batches_that_do_not_add_up_are_not_used(before: Path, tmp_path: Path) -> None:
    """The parts of another sweep lie in the folder: their sums are not those of the table."""
    after = write_fought(tmp_path / "run", [fought(0.5, 1), fought(0.3, 1, attacker=LEVY)])
    other = write_fought(tmp_path / "other", [fought(0.9, 1)])
    for part in (other / "parts").iterdir():
        shutil.copy(part, after / "parts")
    (after / "parts" / "note.parquet").write_text("nothing of ours")
    found = analysis.compare(before, after)
    assert (found.rows["difference"] == 0).all()
    table = pq.read_table(after / "matchups.parquet")
    count = pa.array([5, *table["n_attacker_wins"].to_pylist()[1:]])
    table = table.set_column(table.column_names.index("n_attacker_wins"), "n_attacker_wins", count)
    pq.write_table(table, after / "matchups.parquet")
    tests = analysis.compare(before, after).rows.groupby("pair")["test"].first().tolist()
    assert tests == ["errors added", "paired t"]


def test_the_common_prefix_is_compared(before: Path, tmp_path: Path) -> None:
    head = []
    for attacker, chance in ((GUARD, 0.5), (LEVY, 0.3)):
        one, more = fought(chance, 1, attacker=attacker), fought(chance, 2, attacker=attacker)
        wins, losses = np.concatenate((one.wins, more.wins)), np.concatenate((one.losses, more.losses))
        head.append(Fought(attacker, WALL, wins, losses))
    after = write_fought(tmp_path / "run", head)
    found = analysis.compare(before, after)
    assert set(found.rows["battles"]) == {BATTLES}
    assert (found.rows["difference"] == 0).all()


def test_exact_figures_are_subtracted(tmp_path: Path) -> None:
    first = write(tmp_path / "a", [exact(0.5)], method="exact")
    second = write(tmp_path / "b", [exact(0.512)], method="exact")
    found = analysis.compare(first, second, metrics=["attacker_win_share", "cycles"])
    assert found.rows["test"].tolist() == ["exact", "exact"]
    assert found.rows["difference"].tolist() == pytest.approx([0.012, 0.0])
    assert found.rows["verdict"].tolist() == ["better", "same"]
    assert found.rows["p"].isna().all()
    assert "tests" not in found.to_text()


@pytest.mark.parametrize("known", [0, 1])
def test_exact_against_sampled(tmp_path: Path, known: int) -> None:
    sample = matchup(GUARD, WALL, {"attacker_wins": 52_000, "defender_wins": 48_000}, losses=(10.2, 10.0))
    rows = [exact(0.5), sample]
    folders = [write(tmp_path / str(i), [rows[i]]) for i in (0, 1)]
    found = analysis.compare(folders[known], folders[1 - known])
    assert dict(zip(found.rows["metric"], found.rows["test"], strict=True)) == {
        "attacker_win_share": "binomial", "defender_win_share": "binomial", "swing": "z",
        "attacker_cost_lost": "z", "defender_cost_lost": "z", "cycles": "z",
    }  # fmt: skip
    row = found.rows.iloc[0]
    assert (row["first"], row["second"]) == ((0.5, 0.52), (0.52, 0.5))[known]
    assert row["low"] < row["difference"] < row["high"]
    assert row["difference"] == pytest.approx((0.02, -0.02)[known])
    assert row["verdict"] == ("better", "worse")[known]


def test_failed_and_missing_matchups_are_told(before: Path, tmp_path: Path) -> None:
    rows = [
        matchup(GUARD, WALL, None, error="too many units"),
        matchup(Mix("new"), WALL, {"attacker_wins": 6, "defender_wins": 4}),
    ]
    found = analysis.compare(before, write(tmp_path / "run", rows))
    assert found.size == 3
    told = found.rows.drop_duplicates("pair")[["verdict", "reason"]].to_numpy().tolist()
    assert told == [
        ["failed", "failed in the second run: too many units"],
        ["not comparable", "only in the first run"],
        ["not comparable", "only in the second run"],
    ]
    assert "too many units" in found.to_text()
    assert "too many units" in found.to_markdown()
    assert found.matchups_with(["not comparable"]) == 2


def test_grid_points_meet_by_value_not_by_place(tmp_path: Path) -> None:
    grids: list[list[float]] = [[5, 6], [6.0, 5.0, 7.5]]
    folders = []
    for number, values in enumerate(grids):
        rows = [fought(0.4 + 0.05 * value / 5, 1, edition__tank__cost=value) for value in values]
        folders.append(write_fought(tmp_path / str(number), rows, grid={"edition.tank.cost": values}))
    found = analysis.compare(*folders, metrics=["attacker_win_share"])
    assert found.keys == ["attacker", "defender", "grid.edition.tank.cost"]
    assert found.rows["grid.edition.tank.cost"].tolist() == [5, 6, 7.5]
    assert found.rows["verdict"].tolist() == ["same", "same", "not comparable"]
    assert found.correction == "yekutieli", "grid points of a matchup share their dice"


def test_the_changed_key_tells_nothing_apart(tmp_path: Path) -> None:
    folders = [
        write_fought(
            tmp_path / str(cost), [fought(0.5, 1, edition__tank__cost=cost)], grid={"edition.tank.cost": [cost]}
        )
        for cost in (5, 6)
    ]
    found = analysis.compare(*folders)
    assert found.keys == ["attacker", "defender"]
    assert set(found.rows["verdict"]) == {"same"}
    assert found.correction == "hochberg"


def test_a_run_meets_every_grid_point_of_another(before: Path, tmp_path: Path) -> None:
    values = [5, 6]
    rows = [fought(0.5 + (value - 5) / 50, 1, edition__tank__cost=value) for value in values]
    found = analysis.compare(before, write_fought(tmp_path / "b", rows, grid={"edition.tank.cost": values}))
    points = found.rows.drop_duplicates("pair")["grid.edition.tank.cost"]
    assert points.tolist()[:2] == [5, 6]
    assert points.isna().tolist() == [False, False, True]
    assert verdicts(found) == ["same", "better", "not comparable"]
    assert found.rows["reason"].iloc[-1] == "only in the first run"
    assert "(edition.tank.cost = 6)" in found.to_text()


def test_grids_that_do_not_fit(tmp_path: Path) -> None:
    folders = []
    for key in ("edition.tank.cost", "scenario.cycle_limit"):
        rows = [fought(0.5, 1, **grid_value(key, value)) for value in (1, 2)]
        folders.append(write_fought(tmp_path / key, rows, grid={key: [1, 2]}))
    with pytest.raises(ScenarioError, match=r"one run varies edition\.tank\.cost, the other scenario\.cycle_limit"):
        analysis.compare(*folders)


def test_two_grid_points_of_one_run(tmp_path: Path) -> None:
    rows = [fought(0.5 + cost / 100, 1, edition__tank__cost=cost) for cost in (0, 5)]
    run = write_fought(tmp_path / "run", rows, grid={"edition.tank.cost": [0, 5]})
    found = analysis.compare(run, between=("edition.tank.cost", [0, 5]), metrics=TRUNK)
    assert found.rows["test"].tolist() == ["paired t", "paired t"]
    assert verdicts(found) == ["better"]
    assert "edition.tank.cost = 0" in found.to_text()
    for key, values, message in (
        ("edition.tank.cots", [0, 5], 'no key "edition.tank.cots" (did you mean "edition.tank.cost"?)'),
        ("edition.tank.cost", [0, 6], "has no value 6; values: 0, 5"),
        ("edition.tank.cost", [5], "needs two different values"),
    ):
        with pytest.raises(ScenarioError) as caught:
            analysis.compare(run, between=(key, values))
        assert message in str(caught.value)


def test_what_cannot_be_compared(before: Path, tmp_path: Path) -> None:
    other = write(tmp_path / "other", [exact(0.5)], ruleset="mass_battle")
    with pytest.raises(ScenarioError, match="different rulesets: general_combat and mass_battle"):
        analysis.compare(before, other)
    with pytest.raises(ScenarioError, match="needs a second run"):
        analysis.compare(before)
    with pytest.raises(ScenarioError, match="between: must be a grid key and two of its values, got 5"):
        analysis.compare(before, between=5)  # type: ignore[arg-type]
    for options, message in (
        ({"metrics": ["swin"]}, 'unknown metric "swin" \\(did you mean "swing"'),
        ({"metrics": []}, "metrics: must be a list of metrics with at least one in it"),
        ({"practical": {"shares": 1}}, 'unknown kind "shares" \\(did you mean "share"'),
        ({"practical": {"share": "x"}}, 'practical.share: must be a number from 0 to 1000, got "x"'),
        ({"practical": {"share": -1}}, "practical.share: must be a number from 0"),
        ({"fdr": "x"}, "fdr: must be a number between 0 and 1"),
        ({"level": None}, "level: must be a number between 0 and 1"),
        ({"fdr": 0}, "fdr: must be a number between 0 and 1, got 0"),
        ({"correction": "holm"}, "correction: must be auto, hochberg, yekutieli, got"),
    ):
        with pytest.raises(ScenarioError, match=message):
            analysis.compare(before, before, **options)


def test_pairing_decides_what_shares_its_dice(tmp_path: Path) -> None:
    pair = [fought(0.5, 1), fought(0.3, 1, attacker=LEVY)]
    common, independent = (write_fought(tmp_path / word, pair, pairing=word) for word in ("common", "independent"))
    assert analysis.compare(common, common).correction == "yekutieli"
    assert analysis.compare(common, common).has_same_dice
    found = analysis.compare(independent, independent)
    assert (found.correction, found.has_same_dice) == ("hochberg", False)
    renamed = write_fought(tmp_path / "units", [fought(0.5, 1, attacker=Mix("guard", "11 infantry", 33)), pair[1]])
    matchup_wise = write_fought(tmp_path / "matchup", pair)
    tests = analysis.compare(matchup_wise, renamed).rows.groupby("pair")["test"].first().tolist()
    assert tests == ["score", "paired t"], "other units, other dice"


def test_settings_that_differ_are_named(tmp_path: Path) -> None:
    tables: list[dict[str, Any]] = [
        {"sweep": {"name": "a", "edition": "classic"}, "attacker": {"mixes": ["1 tank"] * 9}},
        {
            "sweep": {"name": "b", "edition": "aa50"},
            "attacker": {"mixes": ["2 tank"] * 9},
            "scenario": {"low_luck": "x"},
        },
    ]
    first, second = (
        write(tmp_path / str(n), [exact(0.5)], sweep=table, edition=table["sweep"]["edition"])
        for n, table in enumerate(tables)
    )
    assert analysis.compare(first, second).changes == (
        ("attacker.mixes", "9 entries", "9 entries"),
        ("edition", "classic", "aa50"),
        ("scenario.low_luck", "absent", "x"),
        ("sweep.edition", "classic", "aa50"),
    )


def test_outcomes_can_be_compared(before: Path, tmp_path: Path) -> None:
    after = write_fought(tmp_path / "run", [fought(0.55, 1), fought(0.3, 1, attacker=LEVY)])
    found = analysis.compare(before, after, metrics=["p_attacker_wins", "p_defender_wins", "p_stand_off"])
    assert found.rows["verdict"].tolist() == ["better", "better", "same", "same", "same", "same"]


def test_json_and_html_and_hostile_names(tmp_path: Path) -> None:
    mixes = [Mix(name, f"{place + 1} infantry") for place, name in enumerate((*HOSTILE, *FOREIGN, "a|b\n# c"))]
    folders = []
    for number, chance in enumerate((0.3, 0.5)):
        rows = [fought(chance, 1, battles=20_000, attacker=mix) for mix in mixes]
        folders.append(write_fought(tmp_path / str(number), rows))
    found = analysis.compare(*folders)
    read = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert {row["attacker"] for row in read["rows"]} == {mix.name for mix in mixes}
    assert set(read["counts"]["swing"]) == set(VERDICTS)
    page = found._repr_html_()
    assert "<script" not in page
    assert "<img" not in page
    assert "<a " not in page
    text = found.to_text()
    assert "\u2028" not in text
    assert "\x1b" not in text
    marked = found.to_markdown()
    assert not re.search(r"(?<!\\)<", marked)
    lines = [line.replace("\\|", "") for line in marked.splitlines() if " v " in line]
    assert len(lines) > 10
    assert {line.count("|") for line in lines} == {8}


def test_text_keeps_to_its_width(before: Path, tmp_path: Path) -> None:
    after = write_fought(tmp_path / "run", [fought(0.55, 1), fought(0.2, 1, attacker=LEVY)])
    for width in (72, 80, 120):
        assert max(map(len, analysis.compare(before, after).to_text(width).splitlines())) <= width


@pytest.mark.parametrize("battles", [3_000, 20_000])
def test_battle_by_battle_where_outcomes_were_kept(tmp_path: Path, battles: int) -> None:
    folders = [
        write_fought(tmp_path / str(chance), [fought(chance, 1, battles=battles)], keep_outcomes=True)
        for chance in (0.5, 0.52)
    ]
    found = analysis.compare(*folders)
    assert dict(zip(found.rows["metric"], found.rows["test"], strict=True))["attacker_win_share"] == "McNemar"
    row = found.rows.iloc[0]
    changed = int((fought(0.5, 1, battles=battles).wins != fought(0.52, 1, battles=battles).wins).sum())
    assert row["difference"] == pytest.approx(changed / battles)
    assert row["p"] == pytest.approx(2 * 0.5**changed)
    assert row["second"] - row["first"] == pytest.approx(row["difference"])
    assert row["battles"] == battles
    assert row["verdict"] == "better"
    assert "McNemar's test of the same battles" in found.to_text(200)
    assert "not kept" not in found.to_text(200)
    # Other shares are of no outcome, so it does not matter whether outcomes were kept.
    assert "not kept" not in analysis.compare(*folders, metrics=["swing", "swing_negative"]).to_text(200)


def test_outcomes_must_be_kept_by_both_and_be_whole(tmp_path: Path) -> None:
    kept, plain = (write_fought(tmp_path / str(keep), [fought(0.5, 1)], keep_outcomes=keep) for keep in (True, False))
    assert "McNemar" not in set(analysis.compare(kept, plain).rows["test"])
    longer = write_fought(tmp_path / "longer", [fought(0.5, 1, battles=2 * BATTLES)], keep_outcomes=True)
    assert analysis.compare(kept, longer).rows.iloc[0]["battles"] == BATTLES
    table = pq.read_table(kept / "matchups.parquet")
    wrong = table.set_column(table.column_names.index("n_attacker_wins"), "n_attacker_wins", pa.array([5]))
    pq.write_table(wrong, kept / "matchups.parquet")
    assert "McNemar" not in set(analysis.compare(kept, longer).rows["test"])


@pytest.mark.statistical
def test_the_same_sweep_under_another_seed_flags_about_nothing(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    mixes = [Mix(f"mix {number}", f"{number + 1} infantry") for number in range(200)]
    chances = rng.uniform(0.0, 1.0, len(mixes))
    folders = []
    for seed in (7, 8):
        rows = []
        for mix, chance in zip(mixes, chances, strict=True):
            won = int(rng.binomial(100_000, chance))
            losses = tuple(10 + rng.normal(0, 4 / np.sqrt(100_000), 2))
            counts = {"attacker_wins": won, "defender_wins": 100_000 - won}
            rows.append(matchup(mix, WALL, counts, losses=losses, sds=(4, 4, 5.66)))
        folders.append(write(tmp_path / str(seed), rows, seed=seed))
    found = analysis.compare(*folders)
    assert found.matchups_with(["better", "worse", "changed"]) == 0
    assert (found.rows["verdict"] == "same").mean() > 0.9


def test_equal_changes_in_few_batches_prove_little(tmp_path: Path) -> None:
    """One battle of 4,096 changed in each of four batches: all that is seen are four equal signs."""
    battles = 4 * 4_096
    runs = []
    for name, won in (("a", 0), ("b", 1)):
        wins = np.zeros(battles, dtype=bool)
        wins[::4_096] = True
        wins[1::4_096] = bool(won)
        losses = np.full((battles, 2), 5, dtype=np.int64)
        losses[::2, 0] = 6
        runs.append(write_fought(tmp_path / name, [Fought(GUARD, WALL, wins, losses)]))
    found = analysis.compare(*runs, practical={"share": 0.0})
    row = found.rows.iloc[0]
    assert (row["test"], row["difference"]) == ("paired t", 1 / 4_096)
    assert row["p"] == pytest.approx(2 / 2**4)
    assert row["low"] < 0.0 < row["high"]
    assert row["verdict"] == "unclear"
    assert found.mixes["p"].tolist() == pytest.approx([2 / 2**4] * 2)
    assert found.rows[found.rows["metric"] == "swing"]["p"].item() == 1.0


def test_battles_that_all_changed_alike_are_sure(tmp_path: Path) -> None:
    battles = 4 * 4_096
    runs = []
    for name, won, lost in (("a", False, 5), ("b", True, 7)):
        losses = np.tile(np.array([[lost, 5]], dtype=np.int64), (battles, 1))
        runs.append(write_fought(tmp_path / name, [Fought(GUARD, WALL, np.full(battles, won), losses)]))
    found = analysis.compare(*runs)
    told = dict(zip(found.rows["metric"], found.rows["verdict"], strict=True))
    assert told["attacker_win_share"] == "better"
    assert told["attacker_cost_lost"] == "worse"
    assert set(found.rows["test"]) == {"paired t"}


def _merged(folder: Path, chance: float, seeds: str) -> Path:
    """Write a run that was merged of two seeds: every batch is there twice, once of each."""
    pair = [fought(chance, seed) for seed in (1, 2)]
    write_fought(folder, pair[:1], seed=seeds)
    write_fought(folder / "other", pair[1:])
    for part in (folder / "other" / "parts").iterdir():
        shutil.copy(part, folder / "parts")
    wins, losses = (np.concatenate([getattr(one, name) for one in pair]) for name in ("wins", "losses"))
    both = Fought(GUARD, WALL, wins, losses)
    whole = write_fought(folder / "whole", [both], seed=seeds)
    for name in ("matchups.parquet", "mixes.parquet", "survivors.parquet", "manifest.json"):
        shutil.copy(whole / name, folder / name)
    return folder


def test_matchups_of_several_seeds_are_not_paired_crosswise(tmp_path: Path) -> None:
    """Batch 0 of one seed has nothing to do with batch 0 of the other."""
    before, after = _merged(tmp_path / "a", 0.5, "1, 2"), _merged(tmp_path / "b", 0.5, "2, 1")
    found = analysis.compare(before, after)
    assert found.has_same_dice, "the order in which seeds were merged is no difference"
    assert set(found.rows["test"]) == {"errors added"}
    assert not analysis.compare(before, _merged(tmp_path / "c", 0.5, "3, 4")).has_same_dice
    one = analysis.compare(before, write_fought(tmp_path / "one", [fought(0.5, 1)], seed=1))
    assert set(one.rows["test"]) == {"errors added"}, "half of the battles have the same dice"


def test_a_matchup_of_a_merged_run_keeps_its_own_seed(tmp_path: Path) -> None:
    """Runs of other matchups with other seeds were merged: each matchup meets the run that it came from."""
    pair = [fought(0.5, 1), fought(0.3, 1, attacker=LEVY)]
    merged = write_fought(tmp_path / "merged", pair, seed="7, 8")
    table = pq.read_table(merged / "matchups.parquet")
    table = table.set_column(table.column_names.index("seed"), "seed", pa.array(["7", "8"]))
    pq.write_table(table, merged / "matchups.parquet")
    found = analysis.compare(merged, write_fought(tmp_path / "seven", pair, seed=7))
    tests = found.rows.groupby("attacker")["test"].agg(set).to_dict()
    assert tests == {"guard": {"paired t"}, "levy": {"score", "Welch's t"}}
