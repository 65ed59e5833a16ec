"""Sampler = reference, battle by battle, over all editions, options and policies."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import simcore
from tests.rulesets.general_combat import reference as ref
from tests.rulesets.general_combat.support import (
    EDITIONS,
    DrawnDice,
    add,
    assert_ended_alike,
    assert_replayed_alike,
    compare,
    kept,
    land,
    no_shrinking,
    outline,
)
from tests.strategies import land_scenarios

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

# One call of the sampler takes many scenarios; hypothesis makes them in lists.
batches = st.lists(land_scenarios(), min_size=16, max_size=40)


def assert_same(
    scenarios: Sequence[Mapping[str, Any]], *, editions: Mapping[str, ref.Edition] | None = None, **options: Any
) -> None:
    """Fight the same land battles twice and compare everything."""

    def read(data: Mapping[str, Any]) -> Callable[..., ref.Battle]:
        return partial(ref.battle, ref.read_scenario(data, editions[data["edition"]] if editions else None))

    compare(scenarios, read, add, **options)


@settings(max_examples=25, phases=no_shrinking)
@given(scenarios=batches)
def test_every_battle_equals_the_reference(scenarios: list[dict[str, Any]]) -> None:
    assert_same(scenarios)


@pytest.mark.slow
@settings(max_examples=400, phases=no_shrinking)
@given(scenarios=batches, seed=st.integers(0, 2**63), first=st.integers(0, 2**40))
def test_many_more_battles_equal_the_reference(scenarios: list[dict[str, Any]], seed: int, first: int) -> None:
    assert_same(scenarios, seed=seed, first=first, battles=8)


@settings(max_examples=10, phases=no_shrinking)
@given(
    scenarios=st.lists(land_scenarios(), min_size=4, max_size=8),
    seed=st.integers(0, 2**63),
    # Battle numbers on both sides of 2**32 use both counter words.
    first=st.integers(0, 2**40) | st.integers(2**32 - 4, 2**32),
    pairing=st.sampled_from(("matchup", "common")),
)
def test_seeds_battle_numbers_and_pairings(
    scenarios: list[dict[str, Any]], seed: int, first: int, pairing: str
) -> None:
    assert_same(scenarios, seed=seed, first=first, pairing=pairing)


@settings(max_examples=8, phases=no_shrinking)
@given(scenarios=st.lists(land_scenarios(most=60), min_size=4, max_size=8))
def test_large_stacks(scenarios: list[dict[str, Any]]) -> None:
    assert_same(scenarios, battles=2)


@settings(max_examples=4, phases=no_shrinking)
@given(scenarios=st.lists(land_scenarios(), min_size=2, max_size=3))
def test_many_battles_of_a_scenario(scenarios: list[dict[str, Any]]) -> None:
    # Battles are resolved side by side and those that end make room: numbers must not get mixed up.
    assert_same(scenarios, battles=300)


def test_battles_around_the_end_of_a_chunk() -> None:
    data = land("2 infantry, 1 artillery, 2 fighter", "3 infantry, 1 tank, 1 aa_gun")
    scenario = ref.read_scenario(data)
    simulation = simcore.simulate(simcore.encode([data]), battles=8_300, keep_battles=True)
    for number in (*range(4_080, 4_110), *range(8_180, 8_200), 8_299):
        assert kept(simulation, 0, number) == outline(ref.battle(scenario, number))


@settings(max_examples=60)
@given(scenario=land_scenarios(), battle=st.integers(0, 2**40))
def test_a_replay_throws_the_dice_of_the_reference(scenario: dict[str, Any], battle: int) -> None:
    read = ref.read_scenario(scenario)
    dice = ref.RandomDice(ref.random_key(read, 1), battle)
    replay = assert_replayed_alike(scenario, battle, dice, partial(ref.fight, read))
    fought = ref.battle(read, battle)
    captured = {name: replay.captured[name] for name in ("territory", "value", "guns", "complexes")}
    assert captured == {
        "territory": fought.outcome == "attacker_wins",
        "value": fought.captured_value,
        "guns": fought.guns,
        "complexes": fought.complexes,
    }


@settings(max_examples=60)
@given(scenario=land_scenarios(), data=st.data())
def test_scripts_equal_the_reference(scenario: dict[str, Any], data: st.DataObject) -> None:
    dice = DrawnDice(data)
    fought = ref.fight(ref.read_scenario(scenario), dice)
    assume(dice.script)
    assert_ended_alike(simcore.replay(scenario, script=dice.script), fought)


@pytest.mark.parametrize("edition", EDITIONS)
def test_the_largest_stacks(edition: str) -> None:
    armies = ("2000 infantry, 2000 tank", "2000 infantry, 2000 fighter")
    assert_same(
        [
            land(*armies, edition, cycle_limit=3),
            land("2000 bomber", "2000 infantry, 3 aa_gun", edition, cycle_limit=2),
            land(*armies, edition, cycle_limit=2, low_luck="both"),
        ],
        battles=1,
    )


# --------------------------------------------------------------------------------------------------
# Editions of one's own: other dice, other values, values out of the die's range.
# --------------------------------------------------------------------------------------------------


def own_edition(sides: int, shift: int, base: str) -> ref.Edition:
    """Return an edition with other dice, and values moved by `shift`."""
    built_in = ref.EDITIONS[base]
    units = {
        unit: ref.UnitRow(
            row.cost + shift,
            max(row.attack + shift, 0),
            max(row.defence * 2 - shift, 0),
            supported=max(row.supported + 2 * shift, 0) if row.supported else 0,
        )
        if unit in ref.LAND + ref.AIRCRAFT
        else row
        for unit, row in built_in.units.items()
    }
    return ref.Edition(
        units,
        sides=sides,
        aa_dice=built_in.aa_dice,
        aa_choice=built_in.aa_choice,
        aa_fate=built_in.aa_fate,
        heavy_bombers=built_in.heavy_bombers,
        jet_fighters=built_in.jet_fighters,
        technologies=True,
    )


def write_editions(editions: Mapping[str, ref.Edition], bases: Mapping[str, str], path: Path) -> None:
    """Write editions as a user would."""
    lines = []
    for name, edition in editions.items():
        lines += [
            f"[{name}]",
            f'title = "{name}"',
            f'base = "{bases[name]}"',
            f"dice_sides = {edition.sides}",
        ]
        lines += ['switches = { tech = "optional" }', f"[{name}.units]"]
        for unit, row in edition.units.items():
            supportable = unit in {"infantry", "mech_infantry", "tactical_bomber"}
            extra = f", supported_attack = {row.supported}" if supportable else ""
            lines.append(f"{unit} = {{ cost = {row.cost}, attack = {row.attack}, defence = {row.defence}{extra} }}")
    path.write_text("\n".join(lines), encoding="utf-8")


@pytest.fixture(scope="module")
def own_editions(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, ref.Edition]]:
    editions, bases = {}, {}
    for number, (sides, shift) in enumerate(((2, 0), (3, -1), (10, 1), (12, 2), (20, 4), (6, -2))):
        name = f"own_{sides}"
        bases[name] = ("global40_2nd", "aa50")[number % 2]
        editions[name] = own_edition(sides, shift, bases[name])
    path = tmp_path_factory.mktemp("editions") / "own.toml"
    write_editions(editions, bases, path)
    return path, editions


@settings(max_examples=10, phases=no_shrinking)
@given(data=st.data())
def test_editions_of_ones_own(own_editions: tuple[Path, dict[str, ref.Edition]], data: st.DataObject) -> None:
    path, editions = own_editions
    names = st.sampled_from(tuple(editions))
    scenarios = []
    for _ in range(data.draw(st.integers(4, 12))):
        name = data.draw(names)
        like = "global40_2nd" if "tactical_bomber" in editions[name].units else "aa50"
        scenario = data.draw(land_scenarios(editions=(like,)))
        # A die of many sides can make a battle long; the reference should not take all day.
        scenario |= {
            "edition": name,
            "edition_file": str(path),
            "cycle_limit": scenario.get("cycle_limit") or 40,
        }
        scenarios.append(scenario)
    assert_same(scenarios, editions=editions)


def test_simulation_arrays_have_the_documented_types() -> None:
    simulation: Any = simcore.simulate(
        simcore.encode([land("1 infantry", "1 infantry"), land("1 tank", "1 tank")]),
        battles=3,
        keep_battles=True,
    )
    assert simulation.outcome.dtype == np.int8
    assert simulation.outcome.shape == (2, 3)
    assert simulation.cycles.dtype == np.int32
    assert simulation.survivors.dtype == np.int16
    assert simulation.survivors.shape == (2, 3, 2, len(ref.UNITS))
    assert simulation.cost_lost.dtype == np.int32
    assert simulation.cost_lost.shape == (2, 3, 2)
    assert simulation.captured_value.dtype == np.int32
    assert simulation.tally.dtype == np.int64
