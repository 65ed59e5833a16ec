"""The figures on the page about mass battle are those of the solver."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

import simcore
from simcore.core.jit import is_jit_disabled
from tests.rulesets.mass_battle.support import battle

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "mass-battle.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (none|`.+`) \| (\d[^|]*(?: \| [-\d][^|]*)+) \|$", PAGE, re.MULTILINE)
if is_jit_disabled():
    ROWS = ROWS[::6]


def solved(attacker: Any, defender: Any, options: dict[str, Any]) -> dict[str, Any]:
    return simcore.odds(scenario=battle(attacker, defender, **options), method="exact").to_dict()


def test_the_tables_are_found() -> None:
    assert {len(cells.split(" | ")) for _, cells in ROWS} == {3, 4}


@pytest.mark.parametrize(("written", "cells"), ROWS, ids=[f"{i}: {row[0]}" for i, row in enumerate(ROWS)])
def test_figures_of_a_row(written: str, cells: str) -> None:
    options = tomllib.loads("" if written == "none" else "\n".join(re.findall(r"`([^`]+)`", written)))
    found = []
    columns = cells.split(" | ")
    if len(columns) == 3:
        for units, modifier in (("3 squad", 0), ("4 squad", 0), ("3 squad", -3)):
            data = solved(units, {"units": "3 squad", "pool_modifier": modifier}, options)
            shares = [100 * data["outcomes"][f"{side}_wins"] for side in ("attacker", "defender")]
            found.append(f"{shares[0]:.2f} / {shares[1]:.2f} / {data['turns']['mean']:.1f}")
    else:
        data = solved("2 squad, 1 mobile_squad", "3 squad", options)
        squads = data["defender"]["mean_squads"]
        found = [f"{100 * data['outcomes']['attacker_wins']:.2f}", f"{squads['destroyed']:.3f}"]
        found += [f"{squads['captured']:.3f}", f"{data['swing']['mean']:.3f}"]
    assert found == columns


def test_the_order_of_targets() -> None:
    block = re.search(r"^```toml\n(\[empire\].+?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert block is not None
    for order, share in (("listed", "35.44"), ("strongest", "29.21"), ("weakest", "35.44")):
        scenario = battle("2 levy, 1 guard", "4 levy", target_order=order)
        scenario |= {"edition": "empire", "editions": tomllib.loads(block[1])}
        data = simcore.odds(scenario=scenario, method="exact").to_dict()
        assert f"{100 * data['outcomes']['attacker_wins']:.2f}" == share
        assert f"{share} %" in PAGE
