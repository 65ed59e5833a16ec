"""Fair prices against values worked out by hand, and what cannot be priced."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import analysis
import simcore
from analysis.pricing import price_run, stored_prices
from simcore.errors import ScenarioError, StoreError

if TYPE_CHECKING:
    from pathlib import Path


def _lead(own: str, enemy: str, *, attacks: bool) -> float:
    sides = (own, enemy) if attacks else (enemy, own)
    shares = simcore.odds(*sides, method="exact").outcomes
    lead = shares["attacker_wins"] + shares["attacker_clears"] - shares["defender_wins"]
    return lead if attacks else -lead


@pytest.mark.parametrize("attacks", [True, False])
def test_a_price_is_the_cost_of_the_enemies_by_the_even_number(*, attacks: bool) -> None:
    """The same by trying every number, as the definition says."""
    found = analysis.price(["tank"], against=["infantry"], sizes=[4])
    role = "attacker" if attacks else "defender"
    (duel,) = found.duels[found.duels["role"] == role].to_dict(orient="records")
    leads = [-1.0, *(_lead(f"{n} tank", "4 infantry", attacks=attacks) for n in range(1, 9))]
    low = max(n for n, lead in enumerate(leads) if lead < 0)
    even = low - leads[low] / (leads[low + 1] - leads[low])
    assert duel["even_number"] == pytest.approx(even, abs=1e-9)
    assert duel["price"] == pytest.approx(4 * 3 / even)


def test_means_go_over_roles_first() -> None:
    found = analysis.price(["tank", "artillery"], against=["infantry", "artillery"], sizes=[4, 8])
    for row in found.units.to_dict(orient="records"):
        duels = found.duels[found.duels["unit"] == row["unit"]]
        pairs = duels.groupby(["enemy", "size"])["price"].mean()
        assert len(duels) == 8
        assert row["price"] == pytest.approx(pairs.mean())
        assert (row["low"], row["high"]) == (pytest.approx(pairs.min()), pytest.approx(pairs.max()))
        assert row["ratio"] == pytest.approx(row["price"] / row["cost"])
        assert row["attacker"] == pytest.approx(duels.loc[duels["role"] == "attacker", "price"].mean())


def test_a_dearer_enemy_makes_everything_dearer() -> None:
    cheap = analysis.price(["tank"], sizes=[4])
    dear = analysis.price(["tank"], sizes=[4], scenario={"edition_changes": {"infantry.cost": 6}})
    assert cheap.enemies == ("infantry",)
    assert dear.units["price"].iloc[0] == pytest.approx(2 * cheap.units["price"].iloc[0])


def test_what_cannot_be_priced_says_why() -> None:
    found = analysis.price(["aa_gun"], sizes=[4])
    (row,) = found.units.to_dict(orient="records")
    assert row["price"] != row["price"]
    assert "cannot attack" in row["remark"]
    assert "never even" in row["remark"]
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["units"][0]["price"] is None
    assert "aa_gun: no attacker against infantry" in str(found)
    assert "aa_gun" in found._repr_html_()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"units": ["tnak"]}, 'units: no unit "tnak"'),
        ({"units": "tank"}, "units: must be a list"),
        ({"against": ["dragon"]}, "against: no unit"),
        ({"sizes": [0]}, "sizes: must be whole numbers from 1"),
        ({"sizes": []}, "sizes"),
        ({"scenario": {"edition": "spring"}}, "edition"),
        ({"against": ["infantry"], "scenario": {"edition_changes": {"infantry.cost": 0}}}, "cost above 0"),
    ],
)
def test_wrong_arguments_are_named(arguments: dict[str, object], words: str) -> None:
    with pytest.raises(ScenarioError, match=words):
        analysis.price(**arguments)  # type: ignore[arg-type]


def test_prices_beside_a_run(tmp_path: Path) -> None:
    table = {
        "sweep": {"name": "small", "edition": "1942_2nd"},
        "attacker": {"mixes": ["3 infantry, 1 tank"]},
        "defender": {"mixes": ["2 infantry, 1 artillery"]},
        "grid": {"edition.tank.cost": [5, 7]},
    }
    simcore.sweep(table, tmp_path / "run")
    run = analysis.load(tmp_path / "run")
    assert stored_prices(run) is None
    found = price_run(run, sizes=[4])
    assert found.units["unit"].tolist() == ["infantry", "artillery", "tank"]
    assert (found.edition, found.units["cost"].tolist()) == ("1942_2nd", [3, 4, 5])
    stored = stored_prices(run)
    assert stored is not None
    assert stored["units"] == found.to_dict()["units"]
    page = analysis.report(run).read_text(encoding="utf-8")
    assert 'id="prices-table"' in page
    assert "about fair" in page or "costs too much" in page or "worth more" in page
    # Prices of another sweep are not shown; damaged ones are refused.
    simcore.sweep({**table, "grid": {}}, tmp_path / "run", resume=False)
    assert stored_prices(analysis.load(tmp_path / "run")) is None
    good = {"unit": "tank", "cost": 6}
    sound: dict[str, Any] = {"units": [good], "duels": [], "enemies": [], "sizes": []}
    for changes in (
        [1],
        {},
        {"duels": 1},
        {"duels": [1]},
        {"duels": [{"unit": "tank", "enemy": 1, "role": "attacker"}]},
        {"duels": [{"unit": "tank", "enemy": "tank", "role": "attacker", "price": "3"}]},
        {"units": [1]},
        {"units": [{**good, "cost": 10**400}]},
        {"units": [{**good, "price": float("inf")}]},
        {"units": [{**good, "low": "3"}]},
        {"enemies": [1]},
        {"sizes": ["4"]},
    ):
        content = {**sound, **changes} if changes and isinstance(changes, dict) else changes
        (tmp_path / "run" / "prices.json").write_text(json.dumps(content), encoding="utf-8")
        with pytest.raises(StoreError, match=r"prices\.json: damaged"):
            stored_prices(run)
