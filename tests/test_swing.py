"""Swings of simulated battles: counted by bins, against the battles themselves and against exact answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import simcore
from simcore import api
from simcore.core.jit import is_jit_disabled
from simcore.schema import SPREAD

LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
BATTLES = 150 if is_jit_disabled() else 5_000

KINDS: dict[str, dict[str, Any]] = {
    "land": {"attacker": {"units": "4 infantry, 2 tank"}, "defender": {"units": "5 infantry, 1 fighter"}},
    "sea": {
        "terrain": "sea",
        "attacker": {"units": "2 submarine, 1 battleship, 2 transport", "cargo": ["1 infantry"]},
        "defender": {"units": "2 destroyer, 1 carrier, 2 fighter"},
    },
    "landing": {
        "terrain": "amphibious",
        "attacker": {"units": "3 infantry, 1 tank", "landed": "2 infantry", "bombard": "1 battleship"},
        "defender": {"units": "3 infantry"},
    },
    "assault": {
        "terrain": "amphibious",
        "attacker": {"units": "2 infantry, 1 fighter"},
        "defender": {"units": "2 infantry"},
        "sea": {
            "attacker": {"units": "1 cruiser, 1 transport", "cargo": ["2 infantry"]},
            "defender": {"units": "1 destroyer"},
        },
    },
    "raid": {
        "terrain": "raid",
        "edition": "global40_2nd",
        "attacker": {"units": "3 bomber, 2 fighter"},
        "defender": {"units": "2 fighter, 1 industrial_complex"},
        "raid": {"target": "major_complex"},
    },
    "mass battle": {
        "ruleset": "mass_battle",
        "attacker": {"units": "3 squad, 1 mobile_squad"},
        "defender": {"units": "2 squad, 2 mobile_squad"},
    },
    "attack": {
        "ruleset": "force_order",
        "attacker": {"units": "2 soldier9, 1 soldier2"},
        "defender": {"units": "1 mine, 2 soldier5"},
    },
    "skirmish": {
        "ruleset": "force_order",
        "mode": "skirmish",
        "attacker": {"units": "2 soldier9, 1 soldier2"},
        "defender": {"units": "1 mine, 2 soldier5"},
    },
    # More than 512 swings: 4 x 139 tanks a side make 1,113.
    "large": {
        "attacker": {"units": "139 tank"},
        "defender": {"units": "139 tank"},
        "edition_changes": {"tank.cost": 4},
    },
    "wide": {"attacker": {"units": "200 infantry, 99 tank"}, "defender": {"units": "195 infantry, 100 tank"}},
    "one-sided": {"attacker": {"units": "8 tank"}, "defender": {"units": "1 infantry"}},
    "hopeless": {"attacker": {"units": "1 infantry"}, "defender": {"units": "9 tank"}},
    "nobody": {"attacker": {"units": "2 infantry"}, "defender": {"units": ""}},
}


def number(name: str) -> int:
    """Return how many battles of a kind are few seconds."""
    return max(4, BATTLES // 20) if name in {"skirmish", "large", "wide"} else BATTLES


@pytest.mark.parametrize("name", [*KINDS])
def test_counts_are_those_of_the_battles(name: str) -> None:
    encoded = simcore.encode([KINDS[name]])
    kept = simcore.simulate(encoded, battles=number(name), seed=3, keep_battles=True)
    tallied = simcore.simulate(encoded, battles=number(name), seed=3)
    found = kept.swings.row(0)
    assert found is not None
    assert found == tallied.swings.row(0)
    assert kept.cost_lost is not None
    swings = kept.cost_lost[0, :, 1].astype(np.int64) - kept.cost_lost[0, :, 0]
    assert found.battles == len(swings)
    assert found.losses == (swings < 0).sum()
    truth = np.quantile(swings, LEVELS, method="inverted_cdf")
    assert np.abs(np.array(found.quantiles()) - truth).max() <= found.rounding
    if not found.rounding:
        values, times = np.unique(swings, return_counts=True)
        assert found.swings[found.counts > 0].tolist() == values.tolist()
        assert found.counts[found.counts > 0].tolist() == times.tolist()
    for side, scenario in enumerate([encoded.scenarios[0]] * 2):
        assert kept.cost_lost[0, :, side].max() <= scenario.cost(side)
    assert (found.rounding > 0) == (name == "wide")


@pytest.mark.parametrize("name", [name for name in KINDS if name not in {"large", "wide"}])
def test_threads_chunks_and_pieces_change_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    encoded = simcore.encode([KINDS[name]])
    battles = min(number(name), 600)
    whole = simcore.simulate(encoded, battles=battles, threads=1).swings.row(0)
    assert whole is not None
    assert simcore.simulate(encoded, battles=battles, threads=2).swings.row(0) == whole
    first = simcore.simulate(encoded, battles=battles // 3).swings.row(0)
    rest = simcore.simulate(encoded, battles=battles - battles // 3, first=battles // 3).swings.row(0)
    assert first is not None
    assert rest is not None
    assert first.plus(rest) == whole
    monkeypatch.setattr(api, "CHUNK", 37)
    assert simcore.simulate(encoded, battles=battles).swings.row(0) == whole


@pytest.mark.parametrize("name", ["land", "sea", "landing", "assault", "raid", "attack"])
def test_what_is_solved_and_what_is_drawn_agree(name: str) -> None:
    encoded = simcore.encode([KINDS[name]])
    exact = dict(zip(SPREAD, simcore.solve(encoded).spread[0].tolist(), strict=True))
    battles = 400 if is_jit_disabled() else 40_000
    found = simcore.simulate(encoded, battles=battles, seed=5).swings.row(0)
    assert found is not None
    loss = exact["negative"]
    assert abs(found.losses / battles - loss) <= 4.5 * np.sqrt(loss * (1 - loss) / battles) + 1e-12
    # Each quantile of the battles lies between two of the distribution a little below and above its level.
    swings, below = found.swings, found.counts.cumsum() / battles
    for name_of, level in zip(SPREAD[:-1], LEVELS, strict=True):
        slack = 4.5 * np.sqrt(level * (1 - level) / battles)
        at = int(np.searchsorted(swings, exact[name_of]))
        assert below[at] >= level - slack
        assert at == 0 or below[at - 1] <= level + slack


def test_armies_without_cost() -> None:
    free = {f"{unit}.cost": 0 for unit in ("infantry", "tank", "fighter")}
    encoded = simcore.encode([{**KINDS["land"], "edition_changes": free}])
    found = simcore.simulate(encoded, battles=100).swings.row(0)
    assert found is not None
    assert (found.step, found.width, found.first, found.counts.tolist()) == (1, 1, 0, [100])
    assert found.quantiles() == [0.0] * 5
    assert found.losses == 0


def test_rows_of_one_call_have_bins_of_their_own() -> None:
    names = ["land", "wide", "one-sided", "hopeless"]
    together = simcore.simulate(simcore.encode([KINDS[name] for name in names]), battles=60)
    for row, name in enumerate(names):
        assert together.swings.row(row) == simcore.simulate(simcore.encode([KINDS[name]]), battles=60).swings.row(0)
    assert together.tally.shape == (4, len(together.ruleset.accumulators))


def test_odds_tell_quantiles_and_the_chance_of_a_loss_with_its_interval() -> None:
    result = simcore.odds(scenario=KINDS["land"], method="simulate", battles=2_000 if not is_jit_disabled() else 50)
    swing = result.swing
    assert list(swing) == ["mean", "sd", "quantiles", "loss", "loss_interval"]
    assert list(swing["quantiles"]) == list(SPREAD[:-1])
    assert all(isinstance(value, int) for value in swing["quantiles"].values())
    low, high = swing["loss_interval"]
    assert 0 <= low <= swing["loss"] <= high <= 1
    text, page = str(result), result._repr_html_()
    for words in ("swing q05 / q50 / q95", "swing below 0"):
        assert words in text
        assert words in page
    assert f"(95 %: {low:.2%} to {high:.2%})" in text


def test_odds_of_a_battle_with_very_many_swings_say_how_exact_they_are() -> None:
    result = simcore.odds(scenario=KINDS["wide"], method="simulate", battles=40)
    assert result.swing["rounding"] > 0
    assert f"(to within {result.swing['rounding']:g})" in str(result)
