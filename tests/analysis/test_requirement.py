"""The cheapest mix that will do, against trying everything."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

import analysis
import simcore
from simcore.errors import ScenarioError
from simcore.registry import get_ruleset
from simcore.scenario import load_scenario

COST = {"infantry": 3, "artillery": 4, "tank": 5, "fighter": 10}


def _all_chances(
    enemy: str, most: int, units: tuple[str, ...], *, side: str, goal: str
) -> dict[str, tuple[int, float]]:
    """Solve every mix up to a cost, one by one."""
    found = {}
    for counts in itertools.product(*(range(most // COST[unit] + 1) for unit in units)):
        cost = sum(COST[unit] * count for unit, count in zip(units, counts, strict=True))
        if not 0 < cost <= most:
            continue
        text = ", ".join(f"{count} {unit}" for unit, count in zip(units, counts, strict=True) if count)
        sides = (text, enemy) if side == "attacker" else (enemy, text)
        result = simcore.odds(*sides, method="exact").to_dict()
        shares = result["outcomes"]
        captured = result["captured"]["share"]
        wins = shares["attacker_wins"] + shares["attacker_clears"] if side == "attacker" else shares["defender_wins"]
        found[text] = cost, {"win": wins, "capture": captured, "hold": 1.0 - captured}[goal]
    return found


@pytest.mark.parametrize(
    ("enemy", "side", "goal", "chance"),
    [
        ("3 infantry", "attacker", "win", 0.75),
        ("2 infantry, 1 fighter", "attacker", "capture", 0.7),
        ("3 infantry, 1 tank", "defender", "win", 0.5),
        ("2 infantry, 1 fighter", "defender", "hold", 0.8),
    ],
)
def test_it_is_the_cheapest(enemy: str, side: str, goal: str, chance: float) -> None:
    units = ("infantry", "tank", "fighter")
    everything = _all_chances(enemy, 22, units, side=side, goal=goal)
    good = {text: (cost, share) for text, (cost, share) in everything.items() if share >= chance}
    found = analysis.need(units, enemy, chance=chance, side=side, goal=goal)
    assert "never hurts" in found.method
    if not good:
        assert found.cost is None or found.cost > 22
        return
    least = min(cost for cost, _ in good.values())
    assert found.cost == least
    ties = {text: share for text, (cost, share) in good.items() if cost == least}
    assert dict(zip(found.mixes["units"], found.mixes["chance"], strict=True)) == pytest.approx(ties)
    assert found.mixes["chance"].is_monotonic_decreasing


def test_more_never_hurts_where_it_is_said_to() -> None:
    """All pairs of mixes that differ by one unit, on both sides."""
    units = ("infantry", "artillery", "tank", "fighter")
    for enemy in ("2 infantry, 1 artillery", "1 tank, 1 fighter"):
        for side, goal in (("attacker", "win"), ("attacker", "capture"), ("defender", "win"), ("defender", "hold")):
            table = _all_chances(enemy, 12, units, side=side, goal=goal)
            for text, (_, share) in table.items():
                for unit in units:
                    counts = dict.fromkeys(units, 0)
                    for part in text.split(", "):
                        number, name = part.split(" ")
                        counts[name] = int(number)
                    counts[unit] += 1
                    more = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
                    if more in table:
                        assert table[more][1] >= share - 1e-12, (enemy, side, goal, text, more)


@pytest.mark.parametrize(
    ("changes", "never_hurts"),
    [
        ({}, True),
        ({"low_luck": "combat"}, False),
        ({"cycle_limit": 2}, False),
        ({"attacker": {"units": "2 infantry", "retreat": {"after_cycles": 1}}}, False),
        ({"attacker": {"units": "2 infantry", "keep_land": 1}}, False),
        ({"defender": {"units": "2 infantry, 1 aa_gun"}}, False),
        ({"terrain": "sea", "attacker": {"units": "2 destroyer"}, "defender": {"units": "1 submarine"}}, False),
    ],
)
def test_where_a_unit_more_is_known_not_to_hurt(changes: dict[str, Any], never_hurts: bool) -> None:
    table = {"attacker": {"units": "2 infantry"}, "defender": {"units": "2 infantry"}, **changes}
    assert get_ruleset("general_combat").more_never_hurts(load_scenario(table)) is never_hurts


def test_all_mixes_are_tried_where_nothing_is_proved() -> None:
    found = analysis.need(["infantry", "tank"], "2 infantry", chance=0.6, scenario={"low_luck": "combat"})
    assert found.method == "all mixes were tried, cheapest first"
    assert found.cost is not None
    assert (found.nearest["chance"] < 0.6).all()


def test_weights_and_each() -> None:
    enemies: list[Any] = [{"units": "4 infantry", "weight": 3}, "1 infantry", {"units": "20 infantry", "weight": 0}]
    mean = analysis.need(["infantry", "tank"], enemies, chance=0.8)
    each = analysis.need(["infantry", "tank"], enemies, chance=0.8, each=True)
    assert mean.enemies["weight"].tolist() == [0.75, 0.25]
    best = mean.mixes.iloc[0]
    parts = [simcore.odds(best["units"], enemy, method="exact").outcomes for enemy in ("4 infantry", "1 infantry")]
    wins = [part["attacker_wins"] + part["attacker_clears"] for part in parts]
    assert best["chance"] == pytest.approx(0.75 * wins[0] + 0.25 * wins[1])
    assert best["worst"] == pytest.approx(min(wins))
    assert each.cost is not None
    assert mean.cost is not None
    assert each.cost >= mean.cost
    assert (each.mixes["worst"] >= 0.8).all()


def test_nothing_within_the_limits() -> None:
    found = analysis.need(["infantry"], "10 infantry", chance=0.9, max_cost=12)
    assert found.cost is None
    assert not len(found.mixes)
    assert found.nearest["units"].tolist() == ["4 infantry"]
    assert "no mix within the limits" in str(found)
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["cost"] is None
    few = analysis.need(["infantry", "tank"], "2 infantry", chance=0.99, max_units=2)
    assert few.cost is None


def test_other_rulesets_need_no_special_case() -> None:
    found = analysis.need(
        ["soldier4", "soldier7"], "1 soldier5", chance=0.9, scenario={"ruleset": "force_order"}, max_units=3
    )
    assert found.mixes["units"].tolist()[0] == "1 soldier7"
    assert found.cost == 7


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"chance": 0}, "chance: must be a number above 0"),
        ({"chance": True}, "chance"),
        ({"goal": "survive"}, "goal: must be win, capture, hold"),
        ({"goal": "hold"}, "goal: only the defender"),
        ({"side": "both"}, "side: must be attacker or defender"),
        ({"units": ["dragon"]}, r"units\[0\]: unknown unit"),
        ({"units": "tank"}, "units: must be a list"),
        ({"against": "2 dragon"}, "against: unknown unit"),
        ({"against": []}, "against: needs at least one"),
        ({"against": ""}, "against: must hold at least one unit"),
        ({"against": [{"units": "1 tank", "weight": -1}]}, "against.weight: must be a number"),
        ({"against": [{"units": "1 tank", "weight": 1e308}] * 2}, r"against\[0\].weight: must be a number"),
        ({"against": 5}, "against: must be a unit list"),
        ({"units": 5}, "units: must be a list"),
        ({"against": [{"units": "1 tank", "weight": 0}]}, "against: all weights are 0"),
        ({"max_cost": 0}, "max_cost: must be a whole number"),
        ({"max_units": 0}, "max_units"),
        ({"scenario": {"low_luck": "combat"}, "max_cost": 900, "units": list(COST)}, "units: there are"),
    ],
)
def test_wrong_arguments_are_named(arguments: dict[str, Any], words: str) -> None:
    given = {"units": ["infantry", "tank"], "against": "2 infantry", **arguments}
    with pytest.raises(ScenarioError, match=words):
        analysis.need(given.pop("units"), given.pop("against"), **given)
