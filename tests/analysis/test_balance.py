"""Summaries of hand-made runs with known answers."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import analysis
from analysis.estimators import wilson
from analysis.frames import Run
from analysis.wording import display_width
from simcore.errors import StoreError
from simcore.precision import always_valid
from tests.analysis.folders import OUTCOMES, Mix, battlefield, matchup, some_mixes, write, write_columns

if TYPE_CHECKING:
    from pathlib import Path

    from analysis.balance import Summary

Z = 1.959963984540054
A, B = Mix("alpha", "10 infantry", 30), Mix("beta", "5 tank", 30)
X, Y = Mix("x-ray", "8 infantry", 24, weight=1.0), Mix("yankee", "4 fighter", 40, weight=3.0)


def counts(wins: int, loses: int, **others: int) -> dict[str, int]:
    return {"attacker_wins": wins, "defender_wins": loses, **others}


@pytest.fixture
def summary(tmp_path: Path) -> Summary:
    rows = [
        matchup(A, X, counts(600, 300, attacker_clears=50, both_destroyed=50), losses=(10, 20), sds=(3, 4, 5)),
        matchup(A, Y, counts(200, 800), losses=(20, 10), sds=(2, 2, 2)),
        matchup(B, X, counts(1000, 0), losses=(0, 24), sds=(0, 0, 0)),
        matchup(B, Y, None, error="no such unit"),
    ]
    return analysis.summarize(write(tmp_path / "run", rows))


def row_of(summary: Summary, side: str, mix: str) -> dict[str, Any]:
    table = summary.mixes
    (row,) = table[(table["side"] == side) & (table["mix"] == mix)].to_dict(orient="records")
    return {str(key): value for key, value in row.items()}


def test_matchups_carry_intervals_and_errors(summary: Summary) -> None:
    table = summary.matchups
    low, high = wilson(600, 1000)
    assert table["lo_attacker_wins"].iloc[0] == low
    assert table["hi_attacker_wins"].iloc[0] == high
    assert table["attacker_win_share"].tolist()[:3] == [0.65, 0.2, 1.0]
    assert table["defender_win_share"].tolist()[:3] == [0.3, 0.8, 0.0]
    assert table["lo_attacker_win_share"].iloc[0] == wilson(650, 1000).low
    assert table["hi_attacker_win_share"].iloc[2] == 1.0
    assert table["lo_defender_win_share"].iloc[2] == 0.0
    assert table["lead"].iloc[0] == pytest.approx(0.35)
    assert table["lo_lead"].iloc[0] < 0.35 < table["hi_lead"].iloc[0]
    assert table["favourite"].tolist() == ["attacker", "defender", "attacker", ""]
    assert table["swing_se"].iloc[0] == pytest.approx(5 / math.sqrt(1000))
    assert table["attacker_cost_lost_se"].iloc[0] == pytest.approx(3 / math.sqrt(1000))
    assert table["lo_captured"].iloc[0] == wilson(600, 1000).low
    for column in ("lo_attacker_wins", "hi_lead", "swing_se", "lo_captured"):
        assert np.isnan(table[column].iloc[3])
    # Every outcome has its interval, the impossible ones too.
    for outcome in OUTCOMES:
        assert table[f"lo_{outcome}"].iloc[0] <= table[f"p_{outcome}"].iloc[0] <= table[f"hi_{outcome}"].iloc[0]


def test_runs_with_a_precision_carry_intervals_that_hold_at_all_times(tmp_path: Path) -> None:
    rows = [
        matchup(A, X, counts(4_000, 3_000, attacker_clears=192, both_destroyed=1_000)),
        matchup(A, Y, counts(2_000, 2_096)),
        matchup(B, X, counts(500, 500), method="exact"),
        matchup(B, Y, None, error="no such unit"),
    ]
    summary = analysis.summarize(write(tmp_path / "run", rows, precision=0.05))
    table = summary.matchups
    one = always_valid(4_000, 8_192, outcomes=len(OUTCOMES))
    assert table["lo_attacker_wins"].iloc[0] == one.low < wilson(4_000, 8_192).low
    ours, theirs = (always_valid(k, 8_192, outcomes=len(OUTCOMES)) for k in (4_192, 3_000))
    assert table["hi_attacker_win_share"].iloc[0] == ours.high
    assert table["lo_lead"].iloc[0] == pytest.approx(float(ours.low - theirs.high))
    # Two shares that are complements: the lead is as wide as twice either.
    assert table["hi_lead"].iloc[1] == pytest.approx(2 * table["hi_attacker_wins"].iloc[1] - 1)
    assert table["lo_attacker_wins"].iloc[2] == table["hi_attacker_wins"].iloc[2] == 0.5
    assert np.isnan(table["lo_attacker_wins"].iloc[3])
    # Opponents weigh by their weights, not by the battles against them.
    alpha = row_of(summary, "attacker", "alpha")
    assert alpha["win_share_mean"] == pytest.approx((4_192 / 8_192 + 3 * 2_000 / 4_096) / 4)
    assert "4,096 to 8,192 battles each" in " ".join(summary.to_text().split())
    assert "4,096 to 8,192 per simulated matchup" in repr(summary.run)
    assert summary.to_dict()["precision"] == 0.05
    page = analysis.report(summary).read_text(encoding="utf-8")
    assert "valid at all times for shares" in page
    assert "every share within 5 points" in page


@pytest.mark.parametrize("value", ["fine", True, [0.1]])
def test_a_precision_that_is_no_number_is_damage(tmp_path: Path, value: object) -> None:
    folder = write(tmp_path / "run", [matchup(A, X, counts(5, 5))], precision=value)
    with pytest.raises(StoreError, match='damaged, "precision" is not a number'):
        analysis.load(folder)


def test_attackers_means_weigh_their_opponents(summary: Summary) -> None:
    alpha = row_of(summary, "attacker", "alpha")
    assert alpha["n_opponents"] == 2
    assert alpha["n_failed"] == 0
    assert alpha["battles"] == 2000
    assert alpha["win_share_mean"] == pytest.approx(0.25 * 0.65 + 0.75 * 0.2)
    assert (alpha["win_share_worst"], alpha["worst_opponent"]) == (0.2, "yankee")
    assert (alpha["win_share_best"], alpha["best_opponent"]) == (0.65, "x-ray")
    assert alpha["lo_win_share_worst"] == wilson(200, 1000).low
    assert alpha["swing_mean"] == pytest.approx(0.25 * 10 - 0.75 * 10)
    assert alpha["swing_se"] == pytest.approx(math.sqrt((0.25 * 5) ** 2 + (0.75 * 2) ** 2) / math.sqrt(1000))
    # Spread of one battle: within matchups and between them.
    variance = 0.25 * (25 + 15**2) + 0.75 * (4 + 5**2)
    assert alpha["swing_sd"] == pytest.approx(math.sqrt(variance))
    assert alpha["cost_lost_mean"] == pytest.approx(0.25 * 10 + 0.75 * 20)
    assert alpha["enemy_cost_lost_mean"] == pytest.approx(0.25 * 20 + 0.75 * 10)
    assert alpha["cost_efficiency"] == pytest.approx(12.5 / 17.5)
    assert alpha["cost"] == 30
    assert alpha["units"] == "10 infantry"


def test_mean_share_has_the_combined_interval(summary: Summary) -> None:
    alpha = row_of(summary, "attacker", "alpha")
    one, two = wilson(650, 1000), wilson(200, 1000)
    below = math.sqrt((0.25 * (0.65 - one.low)) ** 2 + (0.75 * (0.2 - two.low)) ** 2)
    above = math.sqrt((0.25 * (one.high - 0.65)) ** 2 + (0.75 * (two.high - 0.2)) ** 2)
    assert alpha["lo_win_share_mean"] == pytest.approx(alpha["win_share_mean"] - below)
    assert alpha["hi_win_share_mean"] == pytest.approx(alpha["win_share_mean"] + above)


def test_defenders_view_is_the_other_way_round(summary: Summary) -> None:
    xray = row_of(summary, "defender", "x-ray")
    assert xray["win_share_mean"] == pytest.approx((0.3 + 0.0) / 2)
    assert xray["swing_mean"] == pytest.approx((-10 - 24) / 2)
    assert xray["cost_lost_mean"] == pytest.approx(22.0)
    assert xray["enemy_cost_lost_mean"] == pytest.approx(5.0)
    assert (xray["worst_opponent"], xray["best_opponent"]) == ("beta", "alpha")
    assert xray["weight"] == 1.0


def test_failed_rows_count_nowhere(summary: Summary) -> None:
    beta = row_of(summary, "attacker", "beta")
    assert (beta["n_opponents"], beta["n_failed"], beta["battles"]) == (1, 1, 1000)
    assert beta["win_share_mean"] == 1.0
    assert beta["hi_win_share_mean"] == 1.0
    assert beta["lo_win_share_mean"] == pytest.approx(float(wilson(1000, 1000).low))
    assert summary.failed["error"].tolist() == ["no such unit"]
    assert len(summary.counted) == 3
    assert any("1 of 4 matchups failed" in line for line in summary.headlines)


def test_nothing_lost_has_no_efficiency(summary: Summary) -> None:
    beta = row_of(summary, "attacker", "beta")
    assert np.isnan(beta["cost_efficiency"])
    assert np.isnan(beta["lo_cost_efficiency"])
    assert any("lost nothing in any battle and destroyed 24.0" in line for line in summary.headlines)


@pytest.mark.statistical
def test_coverage_of_mean_share_and_efficiency(tmp_path: Path) -> None:
    """Simulate runs of two opponents; the intervals must hold the true values 95 % of the time."""
    rng = np.random.default_rng(3)
    runs, n = 1_500, 400
    rows = []
    for number in range(runs):
        mix = Mix(f"mix {number}")
        for opponent, share in ((X, 0.97), (Y, 0.4)):
            # A loser loses 30, a winner between 0 and 10: the two losses depend on each other.
            wins = rng.random(n) < share
            own = np.where(wins, rng.integers(0, 11, n), 30)
            enemy = np.where(wins, 30, rng.integers(0, 11, n))
            rows.append(
                matchup(
                    mix, opponent, counts(int(wins.sum()), int(n - wins.sum())),
                    losses=(own.mean(), enemy.mean()),
                    sds=(own.std(ddof=1), enemy.std(ddof=1), (enemy - own).std(ddof=1)),
                )
            )  # fmt: skip
    mixes = analysis.summarize(write(tmp_path / "run", rows)).mixes
    table = mixes[mixes["side"] == "attacker"]
    share = 0.25 * 0.97 + 0.75 * 0.4
    covered = (table["lo_win_share_mean"] <= share) & (share <= table["hi_win_share_mean"])
    assert len(table) == runs
    assert 0.93 < covered.mean() < 0.97
    efficiency = (share * 30 + (1 - share) * 5) / (share * 5 + (1 - share) * 30)
    covered = (table["lo_cost_efficiency"] <= efficiency) & (efficiency <= table["hi_cost_efficiency"])
    assert 0.93 < covered.mean() < 0.97


def test_common_dice_are_not_taken_for_independent(tmp_path: Path) -> None:
    rows = [matchup(A, Mix(f"d{number}"), counts(500, 500)) for number in range(4)]
    apart = analysis.summarize(write(tmp_path / "apart", rows))
    shared = analysis.summarize(write(tmp_path / "shared", rows, pairing="common"))
    one, other = row_of(apart, "attacker", "alpha"), row_of(shared, "attacker", "alpha")
    width = other["hi_win_share_mean"] - other["lo_win_share_mean"]
    assert width == pytest.approx(2 * (one["hi_win_share_mean"] - one["lo_win_share_mean"]))
    assert other["swing_se"] == pytest.approx(2 * one["swing_se"])


def test_exact_runs_have_no_width(tmp_path: Path) -> None:
    rows = [matchup(A, X, counts(600, 400), method="exact"), matchup(B, X, counts(700, 300), method="exact")]
    summary = analysis.summarize(write(tmp_path / "run", rows, method="exact", battles=None))
    assert (summary.matchups["lo_attacker_wins"] == summary.matchups["hi_attacker_wins"]).all()
    assert (summary.mixes["lo_win_share_mean"] == summary.mixes["hi_win_share_mean"]).all()
    assert "interval" not in summary.headlines[1]
    assert "Strongest attacker: “beta” wins 70.0 % against its one opponent." in summary.headlines


def test_runs_of_both_kinds(tmp_path: Path) -> None:
    y = Mix("guns")
    rows = [
        matchup(A, X, counts(600, 400), method="exact"),
        matchup(A, y, counts(500, 500)),
        matchup(B, X, counts(700, 300), method="exact"),
        matchup(B, y, counts(300, 700), method="exact"),
    ]
    summary = analysis.summarize(write(tmp_path / "run", rows, method="auto", battles=1_000))
    table = summary.matchups
    assert summary.run.method == "mixed"
    assert table["n_attacker_wins"].isna().tolist() == [True, False, True, True]
    for name in ("attacker_wins", "attacker_win_share", "lead", "captured"):
        assert (table[f"lo_{name}"] == table[f"hi_{name}"]).tolist() == [True, False, True, True]
    assert (table["swing_se"] == 0.0).tolist() == [True, False, True, True]
    # The exact lead of 0.2 is a favourite by itself; the sampled lead of 0 is none.
    assert table["favourite"].tolist() == ["attacker", "none", "attacker", "defender"]
    # Half of the mean is exact: half the error is left.
    alpha, beta = (row_of(summary, "attacker", name) for name in ("alpha", "beta"))
    width = table["hi_attacker_win_share"].iloc[1] - 0.5
    assert alpha["hi_win_share_mean"] == pytest.approx(0.55 + width / 2)
    assert alpha["swing_se"] == pytest.approx(table["swing_se"].iloc[1] / 2)
    assert beta["lo_win_share_mean"] == beta["hi_win_share_mean"] == pytest.approx(0.5)
    assert (alpha["battles"], beta["battles"]) == (1_000, 0)
    text = " ".join(summary.to_text().split())
    assert "3 exact, 1 simulated, the latter with 1,000 battles each" in text
    assert "(each simulated one at 95 % confidence)" in text
    lines = [line for line in summary.to_text().splitlines() if line.startswith(("  alpha", "  beta"))]
    assert [" to " in line for line in lines] == [True, False]
    assert "3 exact, 1 simulated" in repr(summary.run)
    found = summary.to_dict()
    assert (found["method"], found["exact"], found["simulated"], found["battles"]) == ("mixed", 3, 1, 1_000)


def test_weights_of_nothing(tmp_path: Path) -> None:
    rows = [matchup(A, Mix("d", weight=0.0), counts(5, 5)), matchup(B, Mix("d", weight=0.0), counts(6, 4))]
    summary = analysis.summarize(write(tmp_path / "run", rows))
    assert np.isnan(row_of(summary, "attacker", "alpha")["win_share_mean"])
    assert row_of(summary, "attacker", "alpha")["win_share_worst"] == 0.5
    assert row_of(summary, "defender", "d")["win_share_mean"] == pytest.approx(0.45)
    assert summary.to_text()


def test_a_single_row(tmp_path: Path) -> None:
    summary = analysis.summarize(write(tmp_path / "run", [matchup(A, X, counts(900, 100))]))
    assert len(summary.matchups) == 1
    assert len(summary.mixes) == 2
    assert summary.headlines[0].startswith("Balance: 1 of 1 matchup favours the attacker, 0 the defender")
    assert any(line.startswith("Only attacker mix: “alpha” wins 90.0 %") for line in summary.headlines)
    assert not any(line.startswith(("Closest", "Weakest")) for line in summary.headlines)


def test_a_single_battle(tmp_path: Path) -> None:
    row = {**matchup(A, X, counts(1, 0)), "swing_sd": None, "cycles_sd": None}
    row |= {"attacker_cost_lost_sd": None, "defender_cost_lost_sd": None}
    summary = analysis.summarize(write(tmp_path / "run", [row]))
    assert summary.matchups["lo_attacker_win_share"].iloc[0] == pytest.approx(1 / (1 + Z**2))
    assert summary.to_text()


def test_all_ties(tmp_path: Path) -> None:
    rows = [matchup(one, two, counts(480, 480, both_destroyed=40)) for one in (A, B) for two in (X, Y)]
    summary = analysis.summarize(write(tmp_path / "run", rows))
    assert set(summary.matchups["favourite"]) == {"none"}
    text = "\n".join(summary.headlines)
    assert "0 of 4 matchups favour the attacker, 0 the defender, 4 neither clearly" in text
    assert "Attackers: No mix stands out; all 2 win between 48.0 % and 48.0 %" in text
    assert "Strongest" not in text
    assert "no clear favourite" in text


def test_nothing_but_failures(tmp_path: Path) -> None:
    rows = [matchup(A, X, None, error="out of range"), matchup(B, X, None, error="x" * 500)]
    summary = analysis.summarize(write(tmp_path / "run", rows, battles=100))
    assert summary.headlines == ("Failed: 2 of 2 matchups failed and count nowhere; the column “error” says why.",)
    assert "failed: alpha v x-ray: out of range" in summary.to_text()
    assert summary.mixes["n_failed"].tolist() == [1, 1, 2]


def test_many_failures_are_counted(tmp_path: Path) -> None:
    rows = [matchup(Mix(f"m{number}"), X, None, error="no") for number in range(5)]
    text = analysis.summarize(write(tmp_path / "run", rows, battles=100)).to_text()
    assert text.count("failed: m") == 3
    assert text.endswith("... and 2 more failed matchups")


def test_a_table_without_rows(tmp_path: Path) -> None:
    run = analysis.load(write(tmp_path / "run", [matchup(A, X, counts(6, 4))]))
    summary = analysis.summarize(dataclasses.replace(run, matchups=run.matchups.head(0)))
    assert summary.headlines == ()
    assert "0 matchups" in summary.to_text()
    assert analysis.report(summary).exists()


def test_near_rivals_are_named(tmp_path: Path) -> None:
    mixes = [Mix(name) for name in ("first", "second", "third", "last")]
    wins = [700, 695, 690, 100]
    rows = [matchup(mix, X, counts(won, 1000 - won)) for mix, won in zip(mixes, wins, strict=True)]
    summary = analysis.summarize(write(tmp_path / "run", rows))
    strongest = next(line for line in summary.headlines if line.startswith("Strongest attacker"))
    assert "“first”" in strongest
    assert "not told apart from “second” and 1 more" in strongest
    weakest = next(line for line in summary.headlines if line.startswith("Weakest attacker"))
    assert "“last” wins 10.0 %" in weakest
    assert "not told apart" not in weakest


def test_one_sided_and_closest(tmp_path: Path) -> None:
    cheap, dear = Mix("cheap", cost=10), Mix("dear", cost=60)
    rows = [
        matchup(dear, X, counts(1000, 0)),
        matchup(cheap, X, counts(1000, 0)),
        matchup(A, X, counts(700, 300)),
    ]
    summary = analysis.summarize(write(tmp_path / "run", rows))
    text = "\n".join(summary.headlines)
    # Of two sure winners the cheaper is the finding; "100 %" comes with its bound.
    assert "Most one-sided: “cheap” attacking “x-ray”: the attacker (cost 10 against 24) wins 100 % (99.62 to" in text
    assert "1 other matchup is as one-sided" in text
    assert "Closest: “alpha” attacking “x-ray”: 70.0 % against 30.0 % (lead +34." in text


def test_a_lopsided_field_says_so(tmp_path: Path) -> None:
    rows = [matchup(A, X, counts(950, 50)), matchup(B, X, counts(990, 10))]
    text = "\n".join(analysis.summarize(write(tmp_path / "run", rows)).headlines)
    assert "even this one is lopsided" in text


def test_undecided_matchups_are_not_close(tmp_path: Path) -> None:
    rows = [
        matchup(A, X, counts(0, 0, unfinished=1000)),
        matchup(B, X, counts(900, 100)),
        matchup(A, Y, counts(200, 200, stand_off=600)),
    ]
    summary = analysis.summarize(write(tmp_path / "run", rows))
    assert summary.closest["attacker"].tolist() == ["beta"]
    assert any(line.startswith("Closest: “beta” attacking “x-ray”") for line in summary.headlines)
    folder = write(tmp_path / "none", [rows[0], rows[2]])
    summary = analysis.summarize(folder)
    assert not any(line.startswith("Closest") for line in summary.headlines)
    assert 'id="survivors"' not in analysis.report(summary).read_text(encoding="utf-8")


def test_unfinished_battles_are_named(tmp_path: Path) -> None:
    rows = [matchup(A, X, counts(500, 400, unfinished=100)), matchup(B, X, counts(500, 500))]
    text = "\n".join(analysis.summarize(write(tmp_path / "run", rows)).headlines)
    assert "In 1 matchup battles reached the cycle limit undecided, up to 10.0 % of them: “alpha”" in text


def _grid_run(folder: Path, wins: list[int]) -> Summary:
    values = [5 + number for number in range(len(wins))]
    rows = [
        matchup(mix, X, counts(won, 1000 - won), edition__tank__cost=value)
        for value, won_by_a in zip(values, wins, strict=True)
        for mix, won in ((A, won_by_a), (B, 100))
    ]
    return analysis.summarize(write(folder, rows, grid={"edition.tank.cost": values}))


def test_grid_points_are_kept_apart(tmp_path: Path) -> None:
    summary = _grid_run(tmp_path / "run", [600, 300])
    assert summary.grid_labels == ("edition.tank.cost = 5", "edition.tank.cost = 6")
    assert summary.grid_points.tolist() == [0, 0, 1, 1]
    alpha = summary.mixes[summary.mixes["mix"] == "alpha"]
    assert alpha["grid_point"].tolist() == [0, 1]
    assert alpha["grid.edition.tank.cost"].tolist() == [5, 6]
    assert alpha["win_share_mean"].tolist() == [0.6, 0.3]
    text = "\n".join(summary.headlines)
    assert "wins 60.0 % (56.9 to 63.0 %) against its one opponent (at edition.tank.cost = 5)" in text
    assert "strongest at every grid point" in text
    assert "from 30.0 % at edition.tank.cost = 6 to 60.0 % at edition.tank.cost = 5" in text


def test_a_grid_without_effect_says_so(tmp_path: Path) -> None:
    text = "\n".join(_grid_run(tmp_path / "run", [600, 605]).headlines)
    assert "No mix's mean win share changes by more than the intervals allow for" in text


def test_many_grid_points_do_not_flood_the_terminal(tmp_path: Path) -> None:
    text = _grid_run(tmp_path / "run", [100 * number + 50 for number in range(9)]).to_text()
    assert "... and 6 more grid points" in text


@pytest.mark.parametrize("width", [60, 80, 120])
def test_text_keeps_to_its_width(tmp_path: Path, width: int) -> None:
    names = ["x" * 300, "歩兵" * 40, "Гвардия «Север»", "bell\x07\x1b[31m", *"abcdefgh"]
    mixes = [Mix(name, cost=30 + place) for place, name in enumerate(names)]
    grid = {"scenario.attacker.loss_order": [["infantry", "tank"], ["tank", "infantry"]]}
    columns = battlefield(mixes, mixes[:3], grid={"scenario.attacker.loss_order": ["a" * 90, "b"]})
    folder = write_columns(tmp_path / "run", columns, grid=grid, name="n" * 200)
    text = analysis.summarize(folder).to_text(width)
    assert max(display_width(line) for line in text.splitlines()) <= width
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "95 % interval" in text


def test_another_level(tmp_path: Path) -> None:
    folder = write(tmp_path / "run", [matchup(A, X, counts(60, 40)), matchup(B, X, counts(20, 80))])
    wide, narrow = analysis.summarize(folder, level=0.99), analysis.summarize(folder, level=0.5)
    assert (wide.mixes["hi_win_share_mean"] > narrow.mixes["hi_win_share_mean"]).all()
    assert "99% interval" in wide.to_text()
    with pytest.raises(ValueError, match="level"):
        analysis.summarize(folder, level=95)


def test_to_dict_is_json(summary: Summary) -> None:
    found = json.loads(json.dumps(summary.to_dict(), allow_nan=False))
    assert found["matchups"] == 4
    assert found["failed"] == 1
    assert found["headlines"][0]["kind"] == "balance"
    alpha = next(row for row in found["mixes"] if row["mix"] == "alpha")
    assert alpha["cost_efficiency"] == pytest.approx(12.5 / 17.5)
    beta = next(row for row in found["mixes"] if row["mix"] == "beta")
    assert beta["cost_efficiency"] is None


def test_notebook_form_escapes_names(tmp_path: Path) -> None:
    rows = [matchup(Mix("<img src=x onerror=alert(1)>"), X, counts(1, 9)), matchup(B, X, counts(9, 1))]
    summary = analysis.summarize(write(tmp_path / "run", rows, report={"title": "<b>T</b>"}))
    page = summary._repr_html_()
    assert "<img" not in page
    assert "&lt;img" in page
    assert "<b>T</b>" not in page
    assert repr(summary) == summary.to_text()


def test_summaries_of_runs_and_folders_agree(tmp_path: Path) -> None:
    folder = write(tmp_path / "run", [matchup(A, X, counts(6, 4)), matchup(B, X, counts(3, 7))])
    one, other = analysis.summarize(str(folder)), analysis.summarize(analysis.load(folder))
    pd.testing.assert_frame_equal(one.mixes, other.mixes)


def test_a_million_matchups_are_summed_up() -> None:
    columns = battlefield(some_mixes(250, 1), some_mixes(250, 2), grid={"k": list(range(16))})
    risk = np.linspace(0.0, 1.0, len(columns["attacker"]))
    frame = pd.DataFrame({"matchup": np.arange(len(risk)), **columns, "swing_q05": -5.0, "swing_negative": risk})
    manifest = {
        "schema": 1, "ruleset": "general_combat", "outcomes": list(OUTCOMES), "grid": {"k": list(range(16))},
    }  # fmt: skip
    run = Run(path=None, manifest=manifest, matchups=frame, mixes=pd.DataFrame())  # type: ignore[arg-type]
    assert len(frame) == 1_000_000
    summary = analysis.summarize(run)
    assert len(summary.mixes) == 16 * 500


def test_equal_cost_and_the_field(tmp_path: Path) -> None:
    cheap, fair = Mix("cheap", "1 tank", 20), Mix("fair", "5 tank", 30)
    same, near, dear = Mix("same", cost=30), Mix("near", cost=33, weight=3.0), Mix("dear", cost=34)
    nobody = Mix("nobody", cost=30, weight=0.0)
    shares = {"same": 60, "near": 40, "dear": 10, "nobody": 0}
    rows = [
        matchup(own, enemy, counts(shares[enemy.name], 100 - shares[enemy.name]))
        for own in (cheap, fair)
        for enemy in (same, near, dear, nobody)
    ]
    summary = analysis.summarize(write(tmp_path / "run", rows))
    row = row_of(summary, "attacker", "fair")
    assert row["n_equal_cost"] == 3
    assert row["win_share_equal_cost"] == pytest.approx((60 + 3 * 40) / 400)
    assert row["lo_win_share_equal_cost"] < row["win_share_equal_cost"] < row["hi_win_share_equal_cost"]
    assert row["equal_cost_rank"] == 1
    # An opponent without weight is no part of the field.
    assert (row["win_share_worst"], row["worst_opponent"]) == (0.1, "dear")
    lonely = row_of(summary, "attacker", "cheap")
    assert lonely["n_equal_cost"] == 0
    assert np.isnan(lonely["win_share_equal_cost"])
    assert np.isnan(lonely["equal_cost_rank"])


def test_findings_are_sentences(tmp_path: Path) -> None:
    """Each begins with a capital letter, a figure or a name, and ends in a full stop."""
    pairs = [(one, two) for one in (A, B) for two in (X, Y)]
    runs = {
        "ties": ([matchup(*pair, counts(480, 480, both_destroyed=40)) for pair in pairs], None),
        "clear": ([matchup(*pair, counts(900 - 9 * i, 100 + 9 * i)) for i, pair in enumerate(pairs)], None),
        "grid": (
            [matchup(*pair, counts(500, 500), edition__tank__cost=cost) for cost in (5, 6) for pair in pairs],
            {"edition.tank.cost": [5, 6]},
        ),
    }
    seen = set()
    for name, (rows, grid) in runs.items():
        for finding in analysis.summarize(write(tmp_path / name, rows, grid=grid)).findings:
            seen.add(finding.title)
            first = finding.pieces[0]
            assert first.is_name or not first.text.strip()[0].islower(), finding.text
            assert finding.text.endswith("."), finding.text
    assert {"Attackers", "Effect of the grid", "Closest", "Balance"} <= seen
