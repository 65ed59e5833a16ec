"""Gates: what they count, how they are read, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import analysis
from analysis.gate import GateLimits, judge, read_gates
from simcore.errors import ScenarioError
from tests.analysis.folders import Mix, matchup, write

if TYPE_CHECKING:
    from analysis.comparison import Comparison

WALL = Mix("wall", "8 infantry", 20)


def gates(folder: Path, text: str) -> Path:
    path = folder / "gates.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    """Four matchups: worse by 3 points, better by 10, the same, failed; a fifth is new."""
    folder = tmp_path_factory.mktemp("runs")
    shares = [(0.5, 0.47), (0.5, 0.6), (0.5, 0.5), (0.5, None)]
    runs = []
    for side in (0, 1):
        rows = []
        for number, pair in enumerate(shares):
            share = pair[side]
            won = 0 if share is None else round(share * 1000)
            counts = None if share is None else {"attacker_wins": won, "defender_wins": 1000 - won}
            rows.append(matchup(Mix(f"מגן {number}", "10 infantry", 20), WALL, counts, method="exact", error="no unit"))
        if side:
            rows.append(matchup(Mix("new"), WALL, {"attacker_wins": 1, "defender_wins": 1}, method="exact"))
        runs.append(write(folder / str(side), rows))
    return analysis.compare(*runs)


@pytest.mark.parametrize(
    ("limit", "found", "is_kept"),
    [
        ("max_worse = 0", 1, False),
        ("max_worse = 2", 1, True),
        ("max_better = 1", 1, True),
        ("max_changed = 1", 2, False),
        ("max_failed = 0", 1, False),
        ("max_not_comparable = 0", 1, False),
        ("max_unclear = 0", 0, True),
        ("max_share_change = 0.1", 0.1, True),
        ("max_share_change = 0.05", 0.1, False),
        ("max_cost_change = 0.0", 0.0, True),
        ("max_length_change = 0.5", 0.0, True),
        ("min_matchups = 3", 3, True),
        ("min_matchups = 4", 3, False),
    ],
)
def test_limits(compared: Comparison, tmp_path: Path, limit: str, found: float, is_kept: bool) -> None:
    file = read_gates(gates(tmp_path, f'[gates]\nmetrics = ["attacker_win_share", "swing", "cycles"]\n{limit}\n'))
    (judgement,) = judge(compared, file)
    assert judgement.found == pytest.approx(found)
    assert judgement.is_kept is is_kept
    assert judgement.gate in judgement.text
    assert judgement.to_dict()["kept"] == judgement.is_kept


def test_a_broken_gate_names_matchups(compared: Comparison, tmp_path: Path) -> None:
    file = read_gates(gates(tmp_path, "[gates]\nmax_worse = 0\nmax_share_change = 0.01\n"))
    worse, share = judge(compared, file)
    assert worse.text.startswith("max_worse: FAILED, 1 of 0 allowed (")
    assert "מגן 0 v wall" in worse.text
    assert share.examples[0] == "מגן 1 v wall: attacker_win_share +10.0"


def test_costs_are_measured_by_the_cost_of_the_sides(tmp_path: Path) -> None:
    runs = [
        write(
            tmp_path / str(loss),
            [matchup(Mix("a", cost=30), Mix("b", cost=10), {"attacker_wins": 1}, method="exact", losses=(loss, 5.0))],
        )
        for loss in (5.0, 7.0)
    ]
    found = analysis.compare(*runs, metrics=["attacker_cost_lost"])
    (judgement,) = judge(found, read_gates(gates(tmp_path, "[gates]\nmax_cost_change = 0.05\n")))
    assert judgement.found == pytest.approx(2 / 20)
    assert not judgement.is_kept


def test_required_metrics(compared: Comparison, tmp_path: Path) -> None:
    file = read_gates(gates(tmp_path, '[gates]\nrequired_metrics = ["swing"]\n'))
    (judgement,) = judge(compared, file)
    assert (judgement.found, judgement.limit, judgement.is_kept) == (3, 5, False)
    missing = read_gates(gates(tmp_path, '[gates]\nrequired_metrics = ["turns"]\n'))
    with pytest.raises(ScenarioError, match=r'gates\.toml: gates\.required_metrics: "turns" was not compared'):
        judge(compared, missing)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "gates: this field is required"),
        ("[gates]\n", "gates: sets no limit; limits: max_worse, max_better"),
        ("[gates]\nmax_wors = 1\n", 'gates.max_wors: unknown field (did you mean "max_worse"?)'),
        ("[gates]\nmax_worse = -1\n", "gates.max_worse: must be greater than or equal to 0, got -1"),
        ("[gates]\nmax_worse = 1.5\n", "gates.max_worse: must be a whole number, got 1.5"),
        ('[gates]\nmax_worse = "1"\n', "gates.max_worse: must be a whole number"),
        ("[gates]\nmax_share_change = 5\n", "gates.max_share_change: must be less than or equal to 1"),
        ("[gates]\nmax_share_change = nan\n", "gates.max_share_change: must be a finite number"),
        ("[gates]\nmax_worse = 0\n[compare]\nfdr = 0\n", "compare.fdr: must be greater than 0"),
        ("[gates]\nmax_worse = 0\n[compare.practical]\nshares = 1.0\n", 'compare.practical: unknown kind "shares"'),
        ("[gates]\nmax_worse = 0\n[compare]\ncorrection = 'holm'\n", 'compare.correction: must be "auto"'),
        ("source = 1\n[gates]\nmax_worse = 0\n", "source: unknown field"),
        ("[gates\n", "is not valid TOML"),
    ],
)
def test_faulty_files_are_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        read_gates(gates(tmp_path, text))
    assert message in str(caught.value)
    assert str(caught.value).startswith(str(tmp_path / "gates.toml"))


def test_every_limit_is_documented() -> None:
    text = (Path(__file__).resolve().parents[2] / "docs" / "compare.md").read_text(encoding="utf-8")
    for name in GateLimits.model_fields:
        assert f"`{name}`" in text, name
