"""The game of a run: hand-made matrices with known answers, in tables, words and JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import analysis
from analysis.reporting.play import play_content
from simcore.errors import ScenarioError
from tests.analysis.folders import Mix, battlefield, matchup, some_mixes, write, write_columns

if TYPE_CHECKING:
    from pathlib import Path

    from analysis.contest import Game

ROCK, PAPER, SCISSORS = (Mix(name, f"{place} tank") for place, name in enumerate(("rock", "paper", "scissors"), 1))
HANDS = (ROCK, PAPER, SCISSORS)


def _result(one: int, other: int) -> dict[str, int]:
    """One beats the other where it comes right after it in the circle; equal hands share."""
    wins = {0: 500, 1: 1000, 2: 0}[(one - other) % 3]
    return {"attacker_wins": wins, "defender_wins": 1000 - wins}


@pytest.fixture(scope="module")
def circle(tmp_path_factory: pytest.TempPathFactory) -> Game:
    rows = [
        matchup(own, enemy, _result(i, j), method="exact")
        for i, own in enumerate(HANDS)
        for j, enemy in enumerate(HANDS)
    ]
    return analysis.game(write(tmp_path_factory.mktemp("game") / "circle", rows, method="exact"))


def _column(played: Game, side: str, name: str) -> list[Any]:
    found: list[Any] = played.mixes.loc[played.mixes["side"] == side, name].tolist()
    return found


def test_rock_paper_scissors(circle: Game) -> None:
    assert circle.value == circle.lo_value == circle.hi_value == pytest.approx(0.5)
    for side in ("attacker", "defender"):
        assert _column(circle, side, "equilibrium") == pytest.approx([1 / 3] * 3)
        assert _column(circle, side, "averaged") == pytest.approx([1 / 3] * 3)
        assert _column(circle, side, "regret") == [0.0] * 3
        assert _column(circle, side, "exploitability") == pytest.approx([0.5] * 3)
        assert _column(circle, side, "strength") == pytest.approx([0.0] * 3, abs=1e-6)
        assert circle.field[side] == 0.0
        assert len(circle.support(side)) == 3
        assert not len(circle.dominated(side))
    assert circle.cycles == 1.0
    assert circle.cycle is not None
    assert set(circle.cycle) == {"rock", "paper", "scissors"}
    first, second, third = circle.cycle
    for winner, loser in ((first, second), (second, third), (third, first)):
        assert circle.matrix.loc[winner, loser] == 1.0
    assert circle.explained == pytest.approx(0.0, abs=1e-9)
    assert circle.samples == 0


def test_the_game_in_words_and_json(circle: Game) -> None:
    assert "value 50.0 %" in str(circle)
    assert "100 % of triples go in circles" in str(circle)
    found = json.loads(json.dumps(circle.to_dict(), allow_nan=False))
    assert found["value"] == pytest.approx(0.5)
    assert found["cycles"]["share"] == 1.0
    assert len(found["mixes"]) == 6
    assert "rock" in circle._repr_html_()
    kinds = [finding.kind for finding in circle.summary.findings]
    assert "equilibrium" in kinds
    assert "dominated" not in kinds
    assert any("beat each other in a circle" in line for line in circle.summary.headlines)


def test_a_dominated_row_and_the_value_without_a_unit(tmp_path: Path) -> None:
    strong, weak = Mix("strong", "2 tank"), Mix("weak", "4 infantry")
    shares = {("strong", "x"): 70, ("strong", "y"): 60, ("weak", "x"): 30, ("weak", "y"): 40}
    enemies = Mix("x", "5 infantry"), Mix("y", "2 fighter")
    rows = [
        matchup(own, enemy, {"attacker_wins": won, "defender_wins": 100 - won}, method="exact")
        for own in (strong, weak)
        for enemy in enemies
        for won in [shares[own.name, enemy.name]]
    ]
    played = analysis.game(write(tmp_path / "run", rows, method="exact"))
    assert played.value == pytest.approx(0.6)
    (beaten,) = played.dominated("attacker").to_dict(orient="records")
    assert (beaten["mix"], beaten["dominated_by"]) == ("weak", "strong")
    assert beaten["dominated_margin"] == pytest.approx(0.2)
    # For the defender neither is better everywhere.
    assert not len(played.dominated("defender"))
    assert _column(played, "attacker", "regret") == pytest.approx([0.0, 0.2])
    assert _column(played, "attacker", "exploitability") == pytest.approx([0.0, 0.3])
    # Attackers pick evenly: x, y are won in 50 % each, 10 points less than the value.
    assert played.field == pytest.approx({"attacker": 0.1, "defender": 0.05})
    table = played.restricted.set_index("unit")
    assert table.loc["tank", "attacker"] == pytest.approx(0.3)
    assert table.loc["fighter", "defender"] == pytest.approx(0.7)
    assert table.loc["infantry", "both"] == pytest.approx(0.6)
    assert table.loc["infantry", "attacker"] == pytest.approx(0.6)
    assert played.reversals == 1.0
    assert played.reversal == ("defender", "x", "y", "weak", "strong")


def test_payoffs(tmp_path: Path) -> None:
    folder = write_columns(tmp_path / "run", battlefield(some_mixes(4, 1), some_mixes(3, 2)))
    summary = analysis.summarize(folder)
    share, lead, swing = (analysis.game(summary, payoff=name, samples=0) for name in ("win_share", "lead", "swing"))
    for played, column in ((share, "attacker_win_share"), (lead, "lead"), (swing, "swing_mean")):
        for row in summary.matchups.to_dict(orient="records"):
            assert played.matrix.loc[row["attacker"], row["defender"]] == row[column]
    assert np.isnan(share.lo_value)


def test_weights_decide_what_the_field_is(tmp_path: Path) -> None:
    rows = [
        matchup(Mix(name, units, weight=weight), Mix(enemy), {"attacker_wins": won, "defender_wins": 100 - won})
        for name, units, weight, results in (("a", "1 tank", 3.0, (90, 10)), ("b", "1 infantry", 1.0, (10, 90)))
        for enemy, won in zip(("x", "y"), results, strict=True)
    ]
    played = analysis.game(write(tmp_path / "run", rows), samples=0)
    assert played.value == pytest.approx(0.5)
    # 3/4 of a and 1/4 of b win 70 % against x and 30 % against y.
    assert played.field["attacker"] == pytest.approx(0.2)
    assert played.field["defender"] == pytest.approx(0.0)


def test_the_spread_comes_from_the_sample_and_its_seed(tmp_path: Path) -> None:
    folder = write_columns(tmp_path / "run", battlefield(some_mixes(5, 1), some_mixes(4, 2), battles=200))
    one, other = (analysis.game(folder, seed=seed) for seed in (1, 1))
    assert one.samples == 100
    assert one.lo_value < one.value + 0.05
    assert one.hi_value - one.lo_value > 0.005
    assert (one.lo_value, one.hi_value) == (other.lo_value, other.hi_value)
    third = analysis.game(folder, seed=2)
    assert (third.lo_value, third.hi_value) != (one.lo_value, one.hi_value)


def test_battles_that_all_ended_alike_are_not_certain(tmp_path: Path) -> None:
    result = {"attacker_wins": 20, "defender_wins": 0}
    played = analysis.game(write(tmp_path / "run", [matchup(own, PAPER, result) for own in HANDS]))
    assert played.value == 1.0
    assert 0.9 < played.lo_value < 1.0
    assert played.hi_value == 1.0
    assert (played.mixes["strength_se"] > 0.0).all()


def test_mixes_that_did_not_meet_everybody_are_left_out(tmp_path: Path) -> None:
    even = {"attacker_wins": 50, "defender_wins": 50}
    rows = [
        matchup(ROCK, Mix("x"), even),
        matchup(ROCK, Mix("y"), even),
        matchup(PAPER, Mix("x"), even),
        matchup(PAPER, Mix("y"), None, error="no such unit"),
        matchup(SCISSORS, Mix("x"), even),
        matchup(SCISSORS, Mix("y"), even),
    ]
    played = analysis.game(write(tmp_path / "run", rows))
    assert played.matrix.shape in {(2, 2), (3, 1)}
    assert "left out" in played.notes[0]
    nothing = write(tmp_path / "none", [matchup(ROCK, Mix("x"), None, error="no")])
    with pytest.raises(ScenarioError, match="no such part"):
        analysis.game(nothing)
    assert analysis.summarize(nothing).game is None


@pytest.mark.parametrize(
    ("arguments", "field"),
    [({"payoff": "gold"}, "payoff"), ({"point": 1}, "point"), ({"samples": -1}, "samples"), ({"seed": -1}, "seed")],
)
def test_wrong_arguments_are_named(circle: Game, arguments: dict[str, Any], field: str) -> None:
    with pytest.raises(ScenarioError, match=field):
        analysis.game(circle.summary, **arguments)


def test_a_report_of_many_mixes_shows_the_ends_of_the_ladder(tmp_path: Path) -> None:
    folder = write_columns(tmp_path / "run", battlefield(some_mixes(320, 1), some_mixes(2, 2)))
    summary = analysis.summarize(folder)
    content = play_content(summary, [0])
    assert content is not None
    assert any("of 322 mixes" in note for note in content["notes"])
    shown = [row for row in content["rows"] if row["side"] == "attacker"]
    assert 300 <= len(shown) <= 302
    ranks = {row["rank"] for row in shown}
    assert {1, 2, 319, 320} <= ranks
    played = {row["name"] for row in shown if row["status"] == "played"}
    assert summary.game is not None
    assert played == set(summary.game.support("attacker")["mix"])


def test_grid_points_have_a_game_each(tmp_path: Path) -> None:
    columns = battlefield(some_mixes(4, 1), some_mixes(3, 2), grid={"edition.tank.cost": [5, 6]})
    folder = write_columns(tmp_path / "run", columns, grid={"edition.tank.cost": [5, 6]})
    first, second = (analysis.game(folder, point=point, samples=0) for point in (0, 1))
    assert (first.label, second.label) == ("edition.tank.cost = 5", "edition.tank.cost = 6")
    assert first.value != second.value
    content = play_content(analysis.summarize(folder), [0, 1])
    assert content is not None
    assert [row["point"] for row in content["values"]] == [0, 1]
    assert all(len(chart["figures"]) == 2 for chart in content["charts"])


def test_one_mix_a_side_is_no_game(tmp_path: Path) -> None:
    folder = write(tmp_path / "run", [matchup(ROCK, PAPER, _result(0, 1))])
    assert play_content(analysis.summarize(folder), [0]) is None
