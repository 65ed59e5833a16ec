"""The chance of a loss and the quantiles of the swing: intervals, report, comparison of runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import analysis
from analysis.difference import batch_difference
from analysis.estimators import wilson
from analysis.reporting.strip import swing_range, swing_strip
from simcore.api import batch_schedule
from tests.analysis.batched import Fought, write_fought
from tests.analysis.folders import Mix, matchup, write

if TYPE_CHECKING:
    from pathlib import Path

BATTLES = 20_000
GUARD, WALL = Mix("guard", "10 infantry", 30), Mix("wall", "9 infantry", 27)


def fought(chance: float, seed: int = 1, battles: int = BATTLES) -> Fought:
    """Return battles in which the attacker loses more than the defender wherever he does not win."""
    wins = np.random.default_rng(seed).random(battles) < chance
    losses = np.where(wins[:, None], [10, 20], [25, 18])
    return Fought(GUARD, WALL, wins, losses.astype(np.int64))


def lost(battles: Fought) -> np.ndarray[Any, Any]:
    """Return in which battles the attacker lost more than the defender."""
    return battles.losses[:, 1] < battles.losses[:, 0]


def test_the_chance_of_a_loss_has_an_interval_where_battles_were_drawn(tmp_path: Path) -> None:
    battles = fought(0.5)
    table = analysis.summarize(write_fought(tmp_path / "run", [battles])).matchups
    low, high = wilson(np.array([lost(battles).sum()]), np.array([BATTLES]))
    assert table["swing_negative"].iloc[0] == lost(battles).mean()
    assert table["lo_swing_negative"].iloc[0] == pytest.approx(low[0])
    assert table["hi_swing_negative"].iloc[0] == pytest.approx(high[0])


def test_what_is_solved_has_none(tmp_path: Path) -> None:
    row = matchup(GUARD, WALL, {"attacker_wins": 1, "defender_wins": 1}, method="exact") | {"swing_negative": 0.25}
    table = analysis.summarize(write(tmp_path / "run", [row])).matchups
    assert table[["lo_swing_negative", "hi_swing_negative"]].iloc[0].tolist() == [0.25, 0.25]


def test_where_a_precision_decided_the_interval_is_wider(tmp_path: Path) -> None:
    plain = analysis.summarize(write_fought(tmp_path / "plain", [fought(0.5)])).matchups.iloc[0]
    precise = analysis.summarize(write_fought(tmp_path / "precise", [fought(0.5)], precision=0.01)).matchups.iloc[0]
    assert precise["lo_swing_negative"] < plain["lo_swing_negative"]
    assert precise["hi_swing_negative"] > plain["hi_swing_negative"]


def test_the_report_shows_the_chance_with_its_interval(tmp_path: Path) -> None:
    folder = write_fought(tmp_path / "run", [fought(0.5)])
    row = analysis.summarize(folder).matchups.iloc[0]
    page = analysis.report(folder).read_text(encoding="utf-8")
    assert "Chance of a loss" in page
    assert f"{swing_range(row.to_dict())}</small>" in page
    strip = swing_strip(row.to_dict())
    assert strip is not None
    assert page.count(f'aria-label="{strip["label"]}"') == 2, "in the table and among the closest"
    shown = [f"{100 * row[f'{end}_swing_negative']:.1f}" for end in ("lo", "hi")]
    assert all(text in page for text in shown)


def test_wins_that_cost_more_than_they_bring_are_found(tmp_path: Path) -> None:
    dear = matchup(GUARD, WALL, {"attacker_wins": 7_000, "defender_wins": 3_000}) | {"swing_negative": 0.6}
    dearest = matchup(GUARD, Mix("fort"), {"attacker_wins": 6_000, "defender_wins": 4_000}) | {"swing_negative": 0.8}
    cheap = matchup(Mix("mob"), WALL, {"attacker_wins": 7_000, "defender_wins": 3_000}) | {"swing_negative": 0.4}
    unsure = matchup(Mix("mob"), Mix("fort"), {"attacker_wins": 7_000, "defender_wins": 3_000}) | {
        "swing_negative": 0.505
    }
    summary = analysis.summarize(write(tmp_path / "run", [dear, dearest, cheap, unsure]))
    (found,) = (finding for finding in summary.findings if finding.kind == "at_a_loss")
    assert found.text.startswith("Wins at a loss: “guard” attacking “fort” wins 60")
    assert "loses more than it destroys in 80" in found.text
    assert found.text.endswith("; so does the attacker in 1 other matchup.")
    nothing = analysis.summarize(write(tmp_path / "other", [cheap, unsure]))
    assert "at_a_loss" not in {finding.kind for finding in nothing.findings}


def test_runs_of_older_versions_have_no_such_column(tmp_path: Path) -> None:
    folder = write_fought(tmp_path / "run", [fought(0.5)])
    table = pq.read_table(folder / "matchups.parquet")
    table = table.drop_columns([name for name in table.column_names if name.startswith("swing_q")])
    pq.write_table(table.drop_columns(["swing_negative"]), folder / "matchups.parquet")
    assert "lo_swing_negative" not in analysis.summarize(folder).matchups
    page = analysis.report(folder).read_text(encoding="utf-8")
    assert "Chance of a loss" not in page
    assert 'class="strip"' not in page
    found = analysis.compare(folder, folder, metrics=["swing_negative"])
    assert found.rows["reason"].tolist() == ["swing_negative is not known in both runs"]


def test_the_chance_is_compared_batch_by_batch(tmp_path: Path) -> None:
    one, other = fought(0.5), fought(0.55)
    folders = [write_fought(tmp_path / str(i), [battles]) for i, battles in enumerate((one, other))]
    found = analysis.compare(*folders, metrics=["swing_negative", "attacker_win_share"]).rows.iloc[0]
    assert (found["metric"], found["test"], found["battles"]) == ("swing_negative", "paired t", BATTLES)
    batches = batch_schedule(BATTLES)
    first, second = (np.add.reduceat(lost(battles).astype(np.int64), batches[:, 0]) for battles in (one, other))
    expected = batch_difference(np.zeros(len(batches), np.intp), batches[:, 1], first, second, 1, 0.95)
    assert found["difference"] == pytest.approx(expected.value[0])
    assert (found["low"], found["high"]) == pytest.approx((expected.low[0], expected.high[0]))
    assert found["difference"] == pytest.approx(lost(other).mean() - lost(one).mean())
    # More losses are worse for the attackers.
    assert found["verdict"] == ("worse" if found["difference"] > 0 else "better")


def test_the_chance_with_other_dice_and_against_a_known_one(tmp_path: Path) -> None:
    one = write_fought(tmp_path / "one", [fought(0.5)])
    other = write_fought(tmp_path / "other", [fought(0.5, 2)], seed=8)
    assert analysis.compare(one, other, metrics=["swing_negative"]).rows["test"].tolist() == ["score"]
    row = matchup(GUARD, WALL, {"attacker_wins": 1, "defender_wins": 1}, method="exact") | {"swing_negative": 0.25}
    known = write(tmp_path / "known", [row])
    assert analysis.compare(known, one, metrics=["swing_negative"]).rows["test"].tolist() == ["binomial"]


def test_it_is_compared_only_when_asked_for(tmp_path: Path) -> None:
    folder = write_fought(tmp_path / "run", [fought(0.5)])
    assert "swing_negative" not in analysis.compare(folder, folder).rows["metric"].tolist()
