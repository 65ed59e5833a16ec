"""What one more unit adds, against single results."""

from __future__ import annotations

import json
from typing import Any

import pytest

import analysis
import simcore
from simcore.errors import ScenarioError

ATTACKER, DEFENDER = "3 infantry, 1 tank", "2 infantry, 1 artillery"


def _result(attacker: str, defender: str, **options: Any) -> tuple[float, float]:
    found = simcore.odds({"units": attacker, **options}, defender, method="exact")
    wins = found.outcomes["attacker_wins"] + found.outcomes["attacker_clears"]
    return wins, found.to_dict()["swing"]["mean"]


def test_one_more_is_a_difference_of_two_battles() -> None:
    found = analysis.value(ATTACKER, DEFENDER)
    base = _result(ATTACKER, DEFENDER)
    assert (found.win_share, found.swing) == pytest.approx(base)
    table = found.units.set_index("unit")
    for unit, more, fewer in (
        ("infantry", "4 infantry, 1 tank", "2 infantry, 1 tank"),
        ("tank", "3 infantry, 2 tank", "3 infantry"),
    ):
        assert table.loc[unit, "win_share"] == pytest.approx(_result(more, DEFENDER)[0] - base[0])
        assert table.loc[unit, "swing"] == pytest.approx(_result(more, DEFENDER)[1] - base[1])
        assert table.loc[unit, "loses"] == pytest.approx(base[0] - _result(fewer, DEFENDER)[0])
    assert table.loc["fighter", "win_share"] == pytest.approx(_result(f"{ATTACKER}, 1 fighter", DEFENDER)[0] - base[0])
    # Per point of cost, what the mix spends on itself: 9 of 14 on infantry, 5 on a tank.
    rate = 9 / 14 * table.loc["infantry", "win_share"] / 3 + 5 / 14 * table.loc["tank", "win_share"] / 5
    assert table.loc["fighter", "win_share_equal_cost"] == pytest.approx(table.loc["fighter", "win_share"] - 10 * rate)
    # Spent as before, money is worth what it is worth.
    spent = 3 * table.loc["infantry", "win_share_equal_cost"] + table.loc["tank", "win_share_equal_cost"]
    assert spent == pytest.approx(0.0, abs=1e-12)


def test_the_defender_counts_his_own_swing() -> None:
    found = analysis.value(ATTACKER, DEFENDER, side="defender", units=["infantry"])
    wins = simcore.odds(ATTACKER, DEFENDER, method="exact").outcomes["defender_wins"]
    assert found.win_share == pytest.approx(wins)
    assert found.swing == pytest.approx(-_result(ATTACKER, DEFENDER)[1])
    assert found.units["unit"].tolist() == ["infantry"]
    assert found.units["win_share"].iloc[0] > 0


def test_all_orders_of_losses_are_tried() -> None:
    found = analysis.value(ATTACKER, DEFENDER, units=["tank"])
    shares = {tuple(row["order"].split(", ")): row["win_share"] for row in found.orders.to_dict(orient="records")}
    assert set(shares) == {("infantry", "tank"), ("tank", "infantry")}
    for order, share in shares.items():
        assert share == pytest.approx(_result(ATTACKER, DEFENDER, loss_order=list(order))[0])
    assert found.order_range == pytest.approx(abs(shares["infantry", "tank"] - shares["tank", "infantry"]))
    assert found.orders["win_share"].is_monotonic_decreasing


def test_nothing_to_order() -> None:
    alone = analysis.value("3 infantry", "2 infantry", units=["infantry"])
    assert (alone.order_range, alone.order_note) == (0.0, "")
    squads = analysis.value("3 squad", "2 squad", scenario={"ruleset": "mass_battle"}, units=["squad"])
    assert "does not choose" in squads.order_note


def test_forms_of_the_answer() -> None:
    found = analysis.value(ATTACKER, DEFENDER, units=["tank"])
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["order_range"] == found.order_range
    assert "order of losses: wins" in str(found)
    assert "tank" in found._repr_html_()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"side": "both"}, "side: must be attacker or defender"),
        ({"units": ["dragon"]}, r"units\[0\]: unknown unit"),
        ({"units": "tank"}, "units: must be a list"),
        ({"attacker": ""}, "attacker.units: both sides need"),
        ({"defender": "2 dragon"}, "defender.units: unknown unit"),
    ],
)
def test_wrong_arguments_are_named(arguments: dict[str, Any], words: str) -> None:
    given = {"attacker": ATTACKER, "defender": DEFENDER, **arguments}
    with pytest.raises(ScenarioError, match=words):
        analysis.value(given.pop("attacker"), given.pop("defender"), **given)
