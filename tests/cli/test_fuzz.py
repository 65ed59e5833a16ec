"""Whatever a file holds, the answer is a result or a `SimcoreError`, never another exception."""

from __future__ import annotations

import copy
import tomllib
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import simcore
from simcore.errors import SimcoreError
from simcore.scenario import load_scenario, load_sweep, read_toml

if TYPE_CHECKING:
    from collections.abc import Iterator

SCENARIO: dict[str, Any] = {
    "ruleset": "general_combat",
    "edition": "aa50",
    "terrain": "land",
    "cycle_limit": 5,
    "low_luck": "both",
    "switches": {"aa_choice": "owner"},
    "attacker": {
        "units": "3 infantry, 1 tank, 1 fighter",
        "loss_order": ["infantry", "fighter"],
        "keep_land": 1,
        "retreat": {"possible": True, "after_cycles": 2, "when_units_at_most": 1, "when_only_aircraft": True},
        "technologies": ["jet_fighters"],
    },
    "defender": {"units": {"infantry": 2, "aa_gun": 1}, "loss_order": "cheapest", "technologies": ["radar"]},
    "territory": {"value": 3},
}
SWEEP: dict[str, Any] = {
    "sweep": {
        "name": "s",
        "edition": "aa50",
        "battles": 50,
        "seed": 3,
        "pairing": "common",
        "pairs": [[0, 1], [1, 0]],
    },
    "scenario": {"terrain": "land", "attacker": {"keep_land": 0}},
    "attacker": {"mixes": ["3 infantry", {"name": "t", "units": "2 tank", "weight": 2}]},
    "defender": {"budget": {"units": ["infantry", "tank"], "cost": 9, "slack": 1, "max_units": 3}},
    "grid": {"edition.tank.cost": [5, 6], "scenario.low_luck": ["none", "combat"]},
    "report": {"title": "T"},
}

TEXT = (Path(__file__).resolve().parents[2] / "examples" / "land-30.toml").read_text(encoding="utf-8")

WORDS = [
    "", "infantry", "3 infantry", "-1 infantry", "0 infantry", "1e3 infantry", "spring1942", "default", "all",
    "none", "auto", "both", "true", "\0", "\u202e", "x" * 300, "../..", "edition.tank.cost", "attacker",
]  # fmt: skip
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 5),
    st.sampled_from([2**31, 2**63 - 1, 2**63, 2**64, -(2**63), 10**40]),
    st.floats(),
    st.sampled_from(WORDS),
    st.text(max_size=8),
    st.binary(max_size=3),
    st.dates(),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.one_of(st.sampled_from(WORDS), st.text(max_size=5)), inner, max_size=3),
        st.dictionaries(st.integers(), inner, max_size=1),
    ),
    max_leaves=5,
)
FEW = settings(max_examples=300)


def _paths(value: object, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        items = list(value.items())
    elif isinstance(value, list):
        items = list(enumerate(value))
    return [path, *(found for key, inner in items for found in _paths(inner, (*path, key)))]


@st.composite
def mutated(draw: st.DrawFn, base: dict[str, Any]) -> dict[str, Any]:
    """Return `base` with some values replaced, removed or added."""
    data: Any = copy.deepcopy(base)
    for _ in range(draw(st.integers(1, 3))):
        path = draw(st.sampled_from([path for path in _paths(data) if path] or [()]))
        if not path:
            break
        table: Any = data
        for key in path[:-1]:
            table = table[key]
        action = draw(st.sampled_from(["replace", "remove", "add"]))
        if action == "remove":
            del table[path[-1]]
        elif action == "add" and isinstance(table, dict):
            table[draw(st.one_of(st.sampled_from(WORDS), st.text(max_size=6)))] = draw(VALUES)
        else:
            table[path[-1]] = draw(VALUES)
    assert isinstance(data, dict)
    return data


def _cap(data: dict[str, Any]) -> dict[str, Any]:
    """Keep what passes the checks small: what is tested is that nothing else escapes."""
    sweep = data.get("sweep")
    if isinstance(sweep, dict) and isinstance(sweep.get("battles"), int):
        sweep["battles"] = min(sweep["battles"], 50)
    return data


@contextmanager
def refusal_allowed(source: str = "") -> Iterator[None]:
    """Let a `SimcoreError` of one line pass, and nothing else."""
    try:
        yield
    except SimcoreError as error:
        _check_message(str(error), source)


def _check_message(text: str, source: str) -> None:
    assert text.strip()
    assert len(text.splitlines()) == 1, text
    assert source in text
    assert len(text) < 2_000


@FEW
@given(mutated(SCENARIO))
def test_scenarios(data: dict[str, Any]) -> None:
    with refusal_allowed():
        scenario = load_scenario(data)
        run = simcore.simulate(simcore.encode([scenario]), battles=3)
        assert run.tally[0, 0] == 3


@FEW
@given(mutated(SCENARIO))
def test_scenarios_through_odds(data: dict[str, Any]) -> None:
    options = dict(data)
    options |= {"attacker": data.get("attacker", ""), "defender": data.get("defender", ""), "battles": 3}
    with refusal_allowed():
        result = simcore.odds(**options)
        assert sum(result.outcomes.values()) == pytest.approx(1)


@FEW
@given(mutated(SWEEP))
def test_sweeps(data: dict[str, Any]) -> None:
    with refusal_allowed():
        load_sweep(_cap(data))


@settings(FEW, max_examples=40)
@given(mutated(SWEEP))
def test_sweeps_to_the_end(tmp_path_factory: pytest.TempPathFactory, data: dict[str, Any]) -> None:
    with refusal_allowed():
        simcore.sweep(_cap(data), out=tmp_path_factory.mktemp("sweep"))


@FEW
@given(st.one_of(st.binary(max_size=80), st.text(max_size=80).map(lambda text: text.encode("utf-8", "replace"))))
def test_files_of_any_bytes(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.mktemp("any") / "any.toml"
    path.write_bytes(content)
    for load in (read_toml, load_scenario, load_sweep):
        with refusal_allowed(str(path)):
            load(path)


@FEW
@given(st.integers(0, len(TEXT)), st.integers(0, 12), st.text(alphabet="[]{}=\"',.#\n0-9azx_ ", max_size=6))
def test_damaged_text(position: int, removed: int, inserted: str) -> None:
    text = TEXT[:position] + inserted + TEXT[position + removed :]
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    with refusal_allowed():
        load_sweep(data)
