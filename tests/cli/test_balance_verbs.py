"""The verbs game, price, value and need: the same as the Python functions say, and errors in one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import analysis
import simcore

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Cli

SWEEP = {
    "sweep": {"name": "small"},
    "attacker": {"mixes": ["4 infantry", {"name": "tanks", "units": "3 tank", "weight": 2}]},
    "defender": {"mixes": ["3 infantry", "2 infantry, 1 artillery"]},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("game") / "run"
    simcore.sweep(SWEEP, out)
    return out


def test_game(cli: Cli, folder: Path) -> None:
    found = cli("game", folder, "--json").json
    assert found == analysis.game(folder).to_dict()
    answer = cli("game", folder, "--payoff", "swing")
    assert answer.out == f"{analysis.game(folder, payoff='swing')}\n"
    assert "point: must be a whole number from 0 to 0" in cli("game", folder, "--point", 3).problem
    assert "no such folder" in cli("game", folder / "none").problem


def test_price(cli: Cli, folder: Path, tmp_path: Path) -> None:
    words = ("price", "--units", "tank, artillery", "--against", "infantry", "--sizes", "4")
    found = cli(*words, "--json").json
    assert found == analysis.price(["tank", "artillery"], against=["infantry"], sizes=[4]).to_dict()
    assert "tank" in cli(*words).out
    assert cli(*words, "--edition", "1942_2nd", "--json").json["edition"] == "1942_2nd"
    rules = tmp_path / "rules.toml"
    rules.write_text('edition_changes = { "tank.cost" = 9 }\n', encoding="utf-8")
    changed = cli(*words, "--scenario", rules, "--json").json
    assert changed["units"][0]["cost"] == 9
    assert cli("price", folder, "--sizes", "4", "--json").json["units"][0]["unit"] == "infantry"
    assert (folder / "prices.json").is_file()
    assert "has its own rules" in cli("price", folder, "--edition", "revised").problem
    for sizes in ("4, many", "-4", "9" * 5000):
        assert "--sizes" in cli("price", "--sizes", sizes).problem
    assert 'no unit "tnak"' in cli("price", "--units", "tnak").problem


def test_value(cli: Cli) -> None:
    words = ("value", "3 infantry, 1 tank", "2 infantry", "--units", "tank")
    assert cli(*words, "--json").json == analysis.value("3 infantry, 1 tank", "2 infantry", units=["tank"]).to_dict()
    assert "One more for the defender" in cli(*words, "--side", "defender").out
    assert "units[0]" in cli("value", "3 infantry", "2 infantry", "--units", "dragon").problem


def test_need(cli: Cli) -> None:
    words = ("need", "infantry, tank", "2 infantry", "--chance", "0.8")
    found = cli(*words, "--json").json
    assert found == analysis.need(["infantry", "tank"], "2 infantry", chance=0.8).to_dict()
    assert "cost 11: 1 mix" in cli(*words).out
    weighted = cli("need", "infantry, tank", "3 * 2 infantry", "1 tank", "--each", "--json").json
    assert [enemy["weight"] for enemy in weighted["enemies"]] == [0.75, 0.25]
    assert "chance: must be a number above 0" in cli(*words[:3], "--chance", "2").problem
    assert "goal: only the defender" in cli(*words, "--goal", "hold").problem
    assert "unknown unit" in cli("need", "infantry", "2 dragon").problem
    assert "against.weight: must be a number from 0 to" in cli("need", "infantry", "-1 * 2 infantry").problem
