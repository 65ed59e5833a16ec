"""Mixes between two runs: means over the field, how errors add up, and what is said about it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from scipy.stats import t as student

import analysis
from analysis.exporting import table_of
from analysis.gate import judge, read_gates
from analysis.reporting.contrast import comparison_content
from analysis.standing import Batched, Duels, compare_mixes
from tests.analysis.batched import Fought, battles_of, write_fought
from tests.analysis.conftest import HOSTILE
from tests.analysis.folders import Mix, matchup, write

if TYPE_CHECKING:
    from pathlib import Path

    from analysis.comparison import Comparison

GUARD, LEVY = Mix("guard", "10 infantry", 30), Mix("levy", "9 infantry", 27)
WALL, MOAT = Mix("wall", "8 infantry", 24, weight=1.0), Mix("moat", "7 infantry", 21, weight=3.0)
BATTLES = 65_536


def shared(own: Mix, enemy: Mix, share: float | None, **options: Any) -> dict[str, Any]:
    counts = (
        None if share is None else {"attacker_wins": round(share * 1000), "defender_wins": 1000 - round(share * 1000)}
    )
    return matchup(own, enemy, counts, method="exact", **options)


def row_of(found: Comparison, side: str, mix: str) -> dict[str, Any]:
    rows = found.mixes[(found.mixes["side"] == side) & (found.mixes["mix"] == mix)].to_dict(orient="records")
    assert len(rows) == 1
    return {str(key): cell for key, cell in rows[0].items()}


@pytest.fixture(scope="module")
def exact(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    """The guard gains 8 points against the wall and loses 4 against the moat, which weighs three times as much."""
    folder = tmp_path_factory.mktemp("exact")
    first = [shared(GUARD, WALL, 0.5), shared(GUARD, MOAT, 0.6), shared(LEVY, WALL, 0.3), shared(LEVY, MOAT, 0.4)]
    second = [shared(GUARD, WALL, 0.58), shared(GUARD, MOAT, 0.56), shared(LEVY, WALL, 0.3), shared(LEVY, MOAT, 0.404)]
    return analysis.compare(write(folder / "a", first), write(folder / "b", second))


def test_exact_means_over_the_weighted_field(exact: Comparison) -> None:
    guard = row_of(exact, "attacker", "guard")
    assert (guard["first"], guard["second"]) == (pytest.approx(0.575), pytest.approx(0.565))
    assert guard["difference"] == guard["low"] == guard["high"] == pytest.approx(-0.01)
    assert (guard["test"], guard["opponents"], guard["left_out"]) == ("exact", 2, 0)
    assert np.isnan(guard["p"])
    assert guard["verdict"] == "same", "just the size that matters"
    assert row_of(exact, "attacker", "levy")["verdict"] == "same"
    wall = row_of(exact, "defender", "wall")
    assert wall["difference"] == pytest.approx(-0.04)
    assert wall["verdict"] == "worse", "seen by the mix, not by the attackers"
    assert row_of(exact, "defender", "moat")["difference"] == pytest.approx((0.04 - 0.004) / 2)
    assert exact.mix_findings["mix"].tolist() == ["wall", "moat"]
    counts = exact.mix_counts.to_dict(orient="index")["defender"]
    assert (counts["better"], counts["worse"]) == (1, 1)


def test_the_field_is_that_of_both_runs_with_the_weights_of_the_second(tmp_path: Path) -> None:
    heavier = Mix("moat", MOAT.units, MOAT.cost, weight=1.0)
    first = [shared(GUARD, WALL, 0.5), shared(GUARD, MOAT, 0.6), shared(LEVY, WALL, 0.2)]
    second = [
        shared(GUARD, WALL, 0.58),
        shared(GUARD, heavier, 0.56),
        shared(GUARD, Mix("new"), 0.9),
        shared(LEVY, WALL, None),
    ]
    found = analysis.compare(write(tmp_path / "a", first), write(tmp_path / "b", second))
    guard = row_of(found, "attacker", "guard")
    assert guard["difference"] == pytest.approx(0.02)
    assert (guard["opponents"], guard["left_out"]) == (2, 1)
    assert guard["verdict"] == "better"
    levy = row_of(found, "attacker", "levy")
    assert (levy["verdict"], levy["reason"]) == ("failed", "failed against every opponent that both runs have")
    new = row_of(found, "defender", "new")
    assert (new["verdict"], new["reason"], new["test"]) == ("not comparable", "no opponent in both runs", "")
    wall = row_of(found, "defender", "wall")
    assert (wall["opponents"], wall["left_out"]) == (1, 1)


def test_a_field_without_weight(tmp_path: Path) -> None:
    light = Mix("wall", WALL.units, WALL.cost, weight=0.0)
    run = write(tmp_path / "a", [shared(GUARD, light, 0.5)])
    found = analysis.compare(run, run)
    assert row_of(found, "attacker", "guard")["reason"] == "all opponents have weight 0"
    assert row_of(found, "defender", "wall")["verdict"] == "same"


def fought(chance: float, own: Mix, enemy: Mix, words: np.ndarray[Any, np.dtype[np.float64]]) -> Fought:
    return Fought(own, enemy, *battles_of(words, chance))


def test_matchups_with_dice_of_their_own_add_the_squares_of_their_errors(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    words = [rng.random(BATTLES) for _ in range(2)]
    runs = []
    for name, chances in (("a", (0.5, 0.3)), ("b", (0.53, 0.33))):
        pair = [fought(chances[0], GUARD, WALL, words[0]), fought(chances[1], GUARD, MOAT, words[1])]
        runs.append(write_fought(tmp_path / name, pair))
    found = analysis.compare(*runs)
    rows = found.rows[found.rows["metric"] == "attacker_win_share"]
    assert set(rows["test"]) == {"paired t"}
    batches = 16
    errors = (rows["high"] - rows["low"]).to_numpy() / 2 / student.ppf(0.975, batches - 1)
    parts = np.array([0.25, 0.75]) * errors
    error = np.hypot(*parts)
    freedom = error**4 / (parts**4 / (batches - 1)).sum()
    guard = row_of(found, "attacker", "guard")
    assert guard["test"] == "independent matchups"
    assert guard["difference"] == pytest.approx(np.dot([0.25, 0.75], rows["difference"]))
    assert guard["high"] - guard["difference"] == pytest.approx(student.ppf(0.975, freedom) * error)
    assert guard["p"] == pytest.approx(2 * student.sf(guard["difference"] / error, freedom), rel=1e-6)
    assert guard["verdict"] == "better"
    wall = row_of(found, "defender", "wall")
    own = found.rows[(found.rows["metric"] == "defender_win_share") & (found.rows["defender"] == "wall")].iloc[0]
    for name in ("first", "second", "difference", "low", "high", "p"):
        assert wall[name] == pytest.approx(own[name], rel=1e-9, abs=0.0), "a mix with one opponent is its matchup"


def test_shared_dice_are_paired_batch_by_batch(tmp_path: Path) -> None:
    """Where all matchups move together, the means of batches show how far."""
    words = np.random.default_rng(4).random(BATTLES)
    runs = []
    for name, chances in (("a", (0.5, 0.3)), ("b", (0.53, 0.33))):
        pair = [fought(chances[0], GUARD, WALL, words), fought(chances[1], GUARD, MOAT, words)]
        runs.append(write_fought(tmp_path / name, pair, pairing="common"))
    found = analysis.compare(*runs)
    guard = row_of(found, "attacker", "guard")
    assert guard["test"] == "common batches"
    moved = [(words < new).astype(float) - (words < old) for old, new in ((0.5, 0.53), (0.3, 0.33))]
    change = 0.25 * moved[0] + 0.75 * moved[1]
    means = change.reshape(16, -1).mean(axis=1)
    error = means.std(ddof=1) / 4
    assert guard["difference"] == pytest.approx(means.mean())
    assert guard["high"] - guard["low"] == pytest.approx(2 * student.ppf(0.975, 15) * error)
    assert found.mix_correction == "yekutieli"


def test_errors_are_added_where_shared_dice_cannot_be_paired(tmp_path: Path) -> None:
    words = np.random.default_rng(4).random(3_000)
    runs = []
    for name, chances in (("a", (0.5, 0.3)), ("b", (0.53, 0.33))):
        pair = [fought(chances[0], GUARD, WALL, words), fought(chances[1], GUARD, MOAT, words)]
        runs.append(write_fought(tmp_path / name, pair, pairing="common"))
    found = analysis.compare(*runs)
    rows = found.rows[found.rows["metric"] == "attacker_win_share"]
    guard = row_of(found, "attacker", "guard")
    assert guard["test"] == "errors added"
    assert guard["high"] - guard["low"] == pytest.approx(np.dot([0.25, 0.75], rows["high"] - rows["low"]), rel=0.002)


def test_chance_is_named_change_no_more_often_than_is_accepted() -> None:
    """Four thousand mixes of which none changed: p-values are even, with own dice and with shared ones."""
    rng = np.random.default_rng(11)
    mixes, opponents, batches = 2_000, 5, 16
    number = mixes * opponents
    keys = pd.DataFrame(
        {
            "attacker": np.repeat(np.arange(mixes), opponents).astype(str),
            "defender": np.tile(np.arange(opponents), mixes).astype(str),
        }
    )
    for is_common in (False, True):
        noise = rng.normal(0.0, 30.0, (mixes, 1 if is_common else opponents, batches)) * np.ones((1, opponents, 1))
        change = np.rint(noise + 5 * rng.normal(size=noise.shape)).astype(np.int64).reshape(number, batches)
        means = change / 4096
        value = means.mean(axis=1)
        duels = Duels(
            first=np.full(number, 0.5),
            second=0.5 + value,
            difference=value,
            error=means.std(axis=1, ddof=1) / np.sqrt(batches),
            freedom=np.full(number, batches - 1.0),
            is_exact=np.zeros(number, bool),
            is_failed=np.zeros(number, bool),
            is_paired=np.ones(number, bool),
        )
        begin = np.tile(np.arange(batches) * 4096, number)
        batched = Batched(np.repeat(np.arange(number), batches), begin, np.full(begin.shape, 4096), change.reshape(-1))
        dice = np.zeros(number, int).astype(object) if is_common else np.arange(number).astype(object)
        weights = np.tile(np.arange(1.0, opponents + 1), mixes)
        found = compare_mixes(keys, "attacker", duels, batched, weights, (dice, dice), 0.95)
        assert set(found["test"]) == {"common batches" if is_common else "independent matchups"}
        # 4.5 standard errors of a share of 5 % in 2,000 are 2.2 points.
        assert abs((found["p"] < 0.05).mean() - 0.05) < 0.022
        covered = (found["low"] <= 0.0) & (found["high"] >= 0.0)
        assert abs(covered.mean() - 0.95) < 0.022


@pytest.mark.parametrize(("battles", "opponents"), [(1, 20), (2, 20), (5, 1)])
def test_few_battles_prove_nothing(tmp_path: Path, battles: int, opponents: int) -> None:
    """Intervals of few battles end at -1 and 1 and say little about errors: those of the tests count."""
    rng = np.random.default_rng(battles)
    mixes = 200
    chances = rng.random((mixes, opponents))

    def write_run(seed: int) -> Path:
        wins = rng.binomial(battles, chances)
        rows = [
            matchup(
                Mix(f"a{i}"),
                Mix(f"{i} d{j}", f"{j + 1} tank"),
                {"attacker_wins": int(won), "defender_wins": battles - int(won)},
            )
            for (i, j), won in np.ndenumerate(wins)
        ]
        return write(tmp_path / str(seed), rows, seed=seed)

    found = analysis.compare(write_run(1), write_run(2), metrics=["attacker_win_share"])
    assert not len(found.mix_findings)
    attackers = found.mixes[found.mixes["side"] == "attacker"]
    assert set(attackers["test"]) == {"independent matchups"}
    # 3.5 standard errors of a share of 5 % in 200 are 5.4 points.
    assert (attackers["p"] < 0.05).mean() < 0.104
    covered = (attackers["low"] <= 0.0) & (attackers["high"] >= 0.0)
    assert covered.mean() > 0.896


def test_all_battles_turned_around_are_as_many_as_they_are(tmp_path: Path) -> None:
    runs = []
    for seed, wins in ((1, 0), (2, 3)):
        row = matchup(GUARD, WALL, {"attacker_wins": wins, "defender_wins": 3 - wins})
        runs.append(write(tmp_path / str(seed), [row], seed=seed))
    guard = row_of(analysis.compare(*runs), "attacker", "guard")
    # Pooled share 1/2 of 3 and 3 battles, divisor 6 - 1 as in every sample.
    assert guard["p"] == pytest.approx(2 * norm.sf(1 / np.sqrt(0.25 * 6 / 5 * 2 / 3)))


def test_mixes_meet_by_grid_point(tmp_path: Path) -> None:
    keys = {"edition.tank.cost": [5, 6]}
    rows = [shared(GUARD, WALL, share, edition__tank__cost=cost) for cost, share in ((5, 0.5), (6, 0.6))]
    later = [shared(GUARD, WALL, share, edition__tank__cost=cost) for cost, share in ((5, 0.5), (6, 0.7))]
    found = analysis.compare(write(tmp_path / "a", rows, grid=keys), write(tmp_path / "b", later, grid=keys))
    guards = found.mixes[found.mixes["side"] == "attacker"]
    assert guards["grid.edition.tank.cost"].tolist() == [5, 6]
    assert guards["verdict"].tolist() == ["same", "better"]
    assert "attacker guard (edition.tank.cost = 6)" in found.to_text()
    between = analysis.compare(tmp_path / "a", between=("edition.tank.cost", [5, 6]))
    assert between.mixes["verdict"].tolist() == ["better", "worse"]


def test_it_is_told_everywhere(exact: Comparison, tmp_path: Path) -> None:
    text = exact.to_text(80)
    assert "4 mixes: 1 worse, 1 better, 2 same" in text
    assert "defender wall" in text
    assert max(map(len, text.splitlines())) <= 80
    markdown = exact.to_markdown()
    assert "**4 mixes: 1 worse, 1 better, 2 same**" in markdown
    assert "| defender wall | 60.0 % | 56.0 % | −4.0 | exact | worse |" in markdown
    table = exact.to_dict()
    assert table["mix_counts"]["defender"]["worse"] == 1
    assert [row["mix"] for row in table["mixes"]] == ["guard", "levy", "wall", "moat"]
    assert table["mixes"][0]["p"] is None
    assert "defender wall" in exact._repr_html_()
    content = comparison_content(exact)
    assert content is not None
    assert [row["name"] for row in content["mixes"]][:2] == ["wall", "moat"]
    summary = analysis.summarize(exact.second.run)
    assert table_of("mix_comparison", summary, exact) is exact.mixes
    page = analysis.report(summary, out=tmp_path / "page.html", against=exact.first.run).read_text(encoding="utf-8")
    assert 'id="mix-comparison-table"' in page


def test_hostile_names_stay_text(tmp_path: Path) -> None:
    def rows(share: float) -> list[dict[str, Any]]:
        return [shared(Mix(name), WALL, share) for name in HOSTILE]

    found = analysis.compare(write(tmp_path / "a", rows(0.5)), write(tmp_path / "b", rows(0.6)))
    assert not re.search(r"(?<!\\)<", found.to_markdown())
    assert "<script" not in found._repr_html_()
    page = analysis.report(tmp_path / "b", against=tmp_path / "a").read_text(encoding="utf-8")
    part = page[page.index('id="mix-comparison-table"') :]
    assert "<script>alert" not in part[: part.index("</table>")]


@pytest.mark.parametrize(
    ("limit", "found", "is_kept"),
    [
        ("max_worse_mixes = 0", 1, False),
        ("max_worse_mixes = 1", 1, True),
        ("max_better_mixes = 0", 1, False),
        ("max_changed_mixes = 1", 2, False),
        ("max_mix_change = 0.04", 0.04, True),
        ("max_mix_change = 0.03", 0.04, False),
    ],
)
def test_gates(exact: Comparison, tmp_path: Path, limit: str, found: float, is_kept: bool) -> None:
    path = tmp_path / "gates.toml"
    path.write_text(f"[gates]\n{limit}\n", encoding="utf-8")
    (judgement,) = judge(exact, read_gates(path))
    assert judgement.found == pytest.approx(found)
    assert judgement.is_kept == is_kept
    if not is_kept:
        assert any("defender" in example for example in judgement.examples)


def test_other_metrics_leave_the_mixes_as_they_are(exact: Comparison) -> None:
    found = analysis.compare(exact.first.run, exact.second.run, metrics=["swing"])
    assert set(found.rows["metric"]) == {"swing"}
    assert found.counts.index.tolist() == ["swing"]
    pd.testing.assert_frame_equal(found.mixes, exact.mixes)
