"""What every registered ruleset must do, whatever its rules."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import simcore
from simcore import api
from simcore.core.jit import is_jit_disabled
from simcore.enums import Side
from simcore.registry import get_ruleset, ruleset_names
from simcore.scenario import scenario_schema

if TYPE_CHECKING:
    from simcore.schema import Ruleset

BATTLES = 300 if is_jit_disabled() else 20_000
GAMES = 3 if is_jit_disabled() else 2_000
"""Battles of a kind of which each is a whole game."""


def record_names() -> list[str]:
    """Return the rulesets, and behind a colon those kinds of battles that have a default sweep of their own."""
    names = []
    for name in ruleset_names():
        ruleset = get_ruleset(name)
        own = [kind for kind, record in ruleset.kinds.items() if _kind_of_sweep(record) == kind]
        names += [name, *(f"{name}:{kind}" for kind in own)]
    return names


def _kind_of_sweep(record: Ruleset) -> str:
    return record.kind_of(record.default_sweep.get("scenario", {}))


def scenarios(name: str) -> list[dict[str, Any]]:
    """Return the scenarios of the default sweep of a ruleset, or of one of its kinds of battles."""
    ruleset, _, kind = name.partition(":")
    sweep = get_ruleset(ruleset).of_kind(kind).default_sweep
    common = {"ruleset": ruleset, **sweep.get("scenario", {})}
    return [
        {**common, "attacker": {"units": attacker}, "defender": {"units": defender}}
        for attacker in sweep["attacker"]["mixes"]
        for defender in sweep["defender"]["mixes"]
    ]


@pytest.fixture(params=record_names())
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def battles(name: str) -> int:
    return GAMES if ":" in name else BATTLES


@pytest.fixture
def few(name: str) -> int:
    return 6 if ":" in name and is_jit_disabled() else 200


def test_outcomes_add_up_and_nothing_is_left_unset(name: str, battles: int) -> None:
    run = simcore.simulate(simcore.encode(scenarios(name)), battles=battles)
    outcomes = sum(run.column(f"outcome.{outcome}") for outcome in run.ruleset.outcomes)
    assert np.array_equal(outcomes, run.column("battles"))
    assert np.all(run.column("battles") == battles)


@pytest.mark.parametrize("threads", [1, 2, None])
def test_threads_change_nothing(name: str, battles: int, threads: int | None) -> None:
    encoded = simcore.encode(scenarios(name))
    expected = simcore.simulate(encoded, battles=battles, threads=1).tally
    assert np.array_equal(simcore.simulate(encoded, battles=battles, threads=threads).tally, expected)


def test_chunks_and_pieces_change_nothing(name: str, battles: int, monkeypatch: pytest.MonkeyPatch) -> None:
    encoded = simcore.encode(scenarios(name)[:1])
    whole = simcore.simulate(encoded, battles=battles, seed=9).tally
    cuts = sorted({0, 1, battles // 7, battles // 3, battles})
    pieces = [simcore.simulate(encoded, battles=b - a, first=a, seed=9).tally for a, b in itertools.pairwise(cuts)]
    assert np.array_equal(sum(pieces), whole)
    for chunk in (1 if battles < 1_000 else 37, 1_000, 100_000):
        monkeypatch.setattr(api, "CHUNK", chunk)
        assert np.array_equal(simcore.simulate(encoded, battles=battles, seed=9).tally, whole)


def test_order_and_company_of_scenarios_change_nothing(name: str, battles: int) -> None:
    given = scenarios(name)
    together = simcore.simulate(simcore.encode(given), battles=battles).tally
    backwards = simcore.simulate(simcore.encode(given[::-1]), battles=battles).tally
    alone = [simcore.simulate(simcore.encode([scenario]), battles=battles).tally[0] for scenario in given]
    assert np.array_equal(together, backwards[::-1])
    assert np.array_equal(together, alone)


def test_kept_battles_and_replays_are_the_battles_of_the_tally(name: str, few: int) -> None:
    scenario = scenarios(name)[0]
    encoded = simcore.encode([scenario])
    kept = simcore.simulate(encoded, battles=few, seed=3, keep_battles=True)
    tallied = simcore.simulate(encoded, battles=few, seed=3)
    assert np.array_equal(kept.tally, tallied.tally)
    assert kept.outcome is not None
    for index, outcome in enumerate(kept.ruleset.outcomes):
        assert int((kept.outcome == index).sum()) == int(kept.column(f"outcome.{outcome}")[0])
    for battle in (0, few // 2, few - 1):
        told = simcore.replay(scenario, battle=battle, seed=3)
        assert told.outcome == kept.ruleset.outcomes[int(kept.outcome[0, battle])]
        assert json.loads(json.dumps(told.to_dict()))["battle"] == battle


def test_prefix_of_a_run_is_the_shorter_run(name: str, few: int) -> None:
    encoded = simcore.encode(scenarios(name)[:1])
    long = simcore.simulate(encoded, battles=few, keep_battles=True)
    short = simcore.simulate(encoded, battles=few // 3, keep_battles=True)
    assert long.outcome is not None
    assert short.outcome is not None
    assert np.array_equal(long.outcome[:, : few // 3], short.outcome)


def test_units_are_conserved(name: str, few: int) -> None:
    encoded = simcore.encode(scenarios(name))
    kept = simcore.simulate(encoded, battles=few, keep_battles=True)
    assert kept.survivors is not None
    for row, scenario in enumerate(encoded.scenarios):
        for side in Side:
            counts = scenario.counts(side)
            places = {scenario.counted_as(unit): count for unit, count in counts.items()}
            assert set(places) <= set(kept.ruleset.units)
            start = np.array([places.get(place, 0) for place in kept.ruleset.units])
            assert np.all(kept.survivors[row, :, side] >= 0)
            assert np.all(kept.survivors[row, :, side] <= start)


def test_version_pins_the_results(name: str) -> None:
    """A changed digest means changed results: raise the ruleset's version and write the new digest here."""
    if ":" in name and is_jit_disabled():
        pytest.skip("a thousand games take minutes without compiled code")
    run = simcore.simulate(simcore.encode(scenarios(name)), battles=256, seed=20261129)
    pinned = {
        ("mass_battle", 1): [1024, 819, 204, 1, 0],
        ("force_order", 1): [1024, 325, 400, 0, 0, 24, 275],
        ("force_order:skirmish", 1): [1024, 190, 187, 647],
        ("general_combat", 1): [1024, 678, 58, 33, 255, 0, 0, 0],
    }
    sums = run.tally.sum(axis=0)
    found = [int(sums[run.ruleset.accumulators.index("battles")])]
    found += [int(sums[run.ruleset.accumulators.index(f"outcome.{outcome}")]) for outcome in run.ruleset.outcomes]
    assert found == pinned[name, run.ruleset.version]


def test_schema_describes_scenarios(name: str) -> None:
    schema = scenario_schema(name.partition(":")[0])
    assert schema["type"] == "object"
    assert {"attacker", "defender", "edition"} <= set(schema["properties"])
    assert "rules" not in schema["properties"]
