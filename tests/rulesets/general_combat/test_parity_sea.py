"""Sampler = reference, battle by battle, in sea battles over all editions, options and policies."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import simcore
from tests.rulesets.general_combat import reference as ref
from tests.rulesets.general_combat import reference_sea as sea
from tests.rulesets.general_combat.support import (
    EDITIONS,
    DrawnDice,
    add_ending,
    add_ships,
    assert_ended_alike,
    assert_replayed_alike,
    cases,
    compare,
    kept,
    no_shrinking,
    outline,
)
from tests.rulesets.general_combat.test_reference_sea import at_sea
from tests.strategies import sea_scenarios

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

# One call of the sampler takes many scenarios; hypothesis makes them in lists.
batches = st.lists(sea_scenarios(), min_size=16, max_size=40)


def add_at_sea(sums: dict[str, int], fought: sea.SeaBattle) -> None:
    """Book a sea battle of the reference; nothing is captured at sea."""
    add_ending(sums, fought)
    add_ships(sums, fought)


def assert_same(
    scenarios: Sequence[Mapping[str, Any]], *, editions: Mapping[str, sea.SeaEdition] | None = None, **options: Any
) -> None:
    """Fight the same sea battles twice and compare everything."""

    def read(data: Mapping[str, Any]) -> Callable[..., sea.SeaBattle]:
        return partial(sea.sea_battle, sea.read_sea(data, editions[data["edition"]] if editions else None))

    compare(scenarios, read, add_at_sea, **options)


@settings(max_examples=25, phases=no_shrinking)
@given(scenarios=batches)
def test_every_sea_battle_equals_the_reference(scenarios: list[dict[str, Any]]) -> None:
    assert_same(scenarios)


@pytest.mark.slow
@settings(max_examples=400, phases=no_shrinking)
@given(scenarios=batches, seed=st.integers(0, 2**63), first=st.integers(0, 2**40))
def test_many_more_sea_battles_equal_the_reference(scenarios: list[dict[str, Any]], seed: int, first: int) -> None:
    assert_same(scenarios, seed=seed, first=first, battles=8)


@pytest.mark.parametrize("edition", EDITIONS)
def test_every_edition_equals_the_reference(edition: str) -> None:
    @settings(max_examples=4, phases=no_shrinking)
    @given(scenarios=st.lists(sea_scenarios(editions=(edition,)), min_size=16, max_size=30))
    def check(scenarios: list[dict[str, Any]]) -> None:
        assert_same(scenarios)

    check()


@settings(max_examples=6, phases=no_shrinking)
@given(
    scenarios=st.lists(sea_scenarios(), min_size=4, max_size=8),
    seed=st.integers(0, 2**63),
    # Battle numbers on both sides of 2**32 use both counter words.
    first=st.integers(0, 2**40) | st.integers(2**32 - 4, 2**32),
    pairing=st.sampled_from(("matchup", "common")),
)
def test_seeds_battle_numbers_and_pairings_at_sea(
    scenarios: list[dict[str, Any]], seed: int, first: int, pairing: str
) -> None:
    assert_same(scenarios, seed=seed, first=first, pairing=pairing)


@settings(max_examples=6, phases=no_shrinking)
@given(scenarios=st.lists(sea_scenarios(most=20), min_size=4, max_size=6))
def test_large_fleets(scenarios: list[dict[str, Any]]) -> None:
    assert_same(scenarios, battles=2)


def test_the_worked_cases_equal_the_reference() -> None:
    assert_same([case["scenario"] for case in cases("sea") + cases("sea_scripted")], battles=40)


def test_sea_battles_around_the_end_of_a_chunk() -> None:
    data = at_sea("2 submarine, 1 destroyer, 2 fighter", "2 submarine, 1 carrier, 1 battleship, 2 transport")
    scenario = sea.read_sea(data)
    simulation = simcore.simulate(simcore.encode([data]), battles=8_300, keep_battles=True)
    for number in (*range(4_090, 4_102), *range(8_186, 8_198), 8_299):
        assert kept(simulation, 0, number) == outline(sea.sea_battle(scenario, number))


@settings(max_examples=60)
@given(scenario=sea_scenarios(), battle=st.integers(0, 2**40))
def test_a_replay_at_sea_throws_the_dice_of_the_reference(scenario: dict[str, Any], battle: int) -> None:
    read = sea.read_sea(scenario)
    dice = ref.RandomDice(ref.random_key(read, 1), battle)
    assert_replayed_alike(scenario, battle, dice, partial(sea.fight_at_sea, read))


@settings(max_examples=60)
@given(scenario=sea_scenarios(), data=st.data())
def test_scripts_at_sea_equal_the_reference(scenario: dict[str, Any], data: st.DataObject) -> None:
    dice = DrawnDice(data)
    fought = sea.fight_at_sea(sea.read_sea(scenario), dice)
    assume(dice.script)
    assert_ended_alike(simcore.replay(scenario, script=dice.script), fought)


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in cases("sea_scripted")])
def test_scripted_cases_of_the_sampler(case: dict[str, Any]) -> None:
    replay = simcore.replay(case["scenario"], script=case["script"])
    expect = case["expect"]
    assert (replay.outcome, replay.cycles) == (expect["outcome"], expect["cycles"])
    assert replay.survivors == dict(zip(ref.SIDES, expect["survivors"], strict=True))
    assert replay.cost_lost == dict(zip(ref.SIDES, expect["cost_lost"], strict=True))


# --------------------------------------------------------------------------------------------------
# Editions of one's own: other dice, other values, values out of the die's range.
# --------------------------------------------------------------------------------------------------


def own_edition(sides: int, shift: int, base: str) -> sea.SeaEdition:
    """Return an edition with other dice, and values moved by `shift`."""
    built_in = sea.SEA_EDITIONS[base]
    units: dict[str, ref.UnitRow] = dict(built_in.units)
    for unit, row in built_in.units.items():
        moved = (row.cost + shift + 2, max(row.attack + shift, 0), max(row.defence * 2 - shift, 0))
        if isinstance(row, sea.SeaRow):
            units[unit] = sea.SeaRow(*moved, hits=row.hits)
        elif unit in ref.AIRCRAFT:
            units[unit] = ref.UnitRow(*moved, supported=row.supported)
    return sea.at_sea(
        ref.Edition(units, sides, heavy_bombers=built_in.heavy_bombers, jet_fighters=built_in.jet_fighters),
        {},
        **{
            switch: getattr(built_in, switch)
            for switch in ("sub_first_strike", "sub_submerge", "air_hits_subs", "tt_last", "tt_swept", "bb_repair")
        },
    )


@pytest.fixture(scope="module")
def own_editions(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str], dict[str, sea.SeaEdition]]:
    editions, bases, lines = {}, {}, []
    for number, (sides, shift) in enumerate(((2, 0), (3, -1), (10, 1), (12, 2), (20, 4), (6, -2))):
        name = f"own_{sides}"
        bases[name] = ("global40_2nd", "revised", "aa50")[number % 3]
        editions[name] = own_edition(sides, shift, bases[name])
        lines += [f"[{name}]", f'base = "{bases[name]}"', f"dice_sides = {sides}", 'switches = { tech = "optional" }']
        lines.append(f"[{name}.units]")
        for unit, row in editions[name].units.items():
            hits = f", hits = {row.hits}" if isinstance(row, sea.SeaRow) else ""
            lines.append(f"{unit} = {{ cost = {row.cost}, attack = {row.attack}, defence = {row.defence}{hits} }}")
    path = tmp_path_factory.mktemp("editions") / "own.toml"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path, bases, editions


@settings(max_examples=8, phases=no_shrinking)
@given(data=st.data())
def test_editions_of_ones_own_at_sea(
    own_editions: tuple[Path, dict[str, str], dict[str, sea.SeaEdition]], data: st.DataObject
) -> None:
    path, bases, editions = own_editions
    scenarios = []
    for _ in range(data.draw(st.integers(4, 10))):
        name = data.draw(st.sampled_from(tuple(editions)))
        scenario = data.draw(sea_scenarios(editions=(bases[name],)))
        # A die of many sides can make a battle long; the reference should not take all day.
        scenario |= {"edition": name, "edition_file": str(path), "cycle_limit": scenario.get("cycle_limit") or 40}
        scenarios.append(scenario)
    assert_same(scenarios, editions=editions)
