"""Sampler = reference, battle by battle, in amphibious assaults and raids over all editions, options and policies."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import simcore
from tests.rulesets.general_combat import reference as ref
from tests.rulesets.general_combat import reference_assault as shore
from tests.rulesets.general_combat import reference_raid as raids
from tests.rulesets.general_combat import reference_sea as sea
from tests.rulesets.general_combat.support import (
    EDITIONS,
    DrawnDice,
    add,
    add_ending,
    add_figures,
    add_ships,
    assert_ended_alike,
    assert_replayed_alike,
    compare,
    kept,
    kept_ending,
    no_shrinking,
    outline,
    outline_ending,
)
from tests.strategies import (
    amphibious_scenarios,
    assault_scenarios,
    land_scenarios,
    raid_scenarios,
    sea_scenarios,
    territories,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

# One call of the sampler takes many scenarios; hypothesis makes them in lists.
sizes: Any = {"min_size": 12, "max_size": 30}
numbers: Any = {
    "seed": st.integers(0, 2**63),
    # Battle numbers on both sides of 2**32 use both counter words.
    "first": st.integers(0, 2**40) | st.integers(2**32 - 4, 2**32),
    "pairing": st.sampled_from(("matchup", "common")),
}
MOST_DAMAGE = 256
"""Damage from here on is counted together."""


# --------------------------------------------------------------------------------------------------
# The reference beside the sampler
# --------------------------------------------------------------------------------------------------


def add_landing(sums: dict[str, int], fought: shore.Landing | shore.Assault) -> None:
    """Book a land battle with landed units."""
    add(sums, fought)
    sums["captured.treasury"] += fought.treasury
    sums["retreated"] += fought.retreated
    sums["bombard.hits"] += fought.bombard_hits


def add_assault(sums: dict[str, int], fought: shore.Assault) -> None:
    """Book an assault: the whole, then its two battles."""
    add_landing(sums, fought)
    add_ships(sums, fought.sea)
    sums[f"sea.outcome.{fought.sea.outcome}"] += 1
    figures = {"sea.cycles": fought.sea.cycles}
    for side, cost in zip(ref.SIDES, fought.sea.cost_lost, strict=True):
        figures[f"sea.{side}.cost_lost"] = cost
    sums["landings"] += bool(fought.landed)
    sums["landed.sum"] += sum(fought.landed.values())
    if fought.land is not None:
        sums["land.battles"] += 1
        sums[f"land.outcome.{fought.land.outcome}"] += 1
        figures["land.cycles"] = fought.land.cycles
    add_figures(sums, figures)


def add_raid(sums: dict[str, int], flown: raids.Raid) -> None:
    """Book a raid."""
    add_ending(sums, flown)
    add_figures(sums, {"damage": flown.damage})
    sums[f"damage.n.{min(flown.damage, MOST_DAMAGE)}"] += 1


def kept_raid(simulation: Any, row: int, number: int) -> dict[str, Any]:
    """Return what the sampler kept of a raid."""
    return kept_ending(simulation, row, number) | {"damage": int(simulation.damage[row, number])}


def outline_raid(flown: raids.Raid) -> dict[str, Any]:
    """Return the same of a raid of the reference."""
    return outline_ending(flown) | {"damage": flown.damage}


def same_landings(
    scenarios: Sequence[Mapping[str, Any]],
    *,
    editions: Mapping[str, shore.AssaultEdition] | None = None,
    **options: Any,
) -> None:
    def read(data: Mapping[str, Any]) -> Callable[..., shore.Landing]:
        return partial(shore.landing, shore.read_shore(data, editions[data["edition"]] if editions else None))

    compare(scenarios, read, add_landing, **options)


def same_assaults(
    scenarios: Sequence[Mapping[str, Any]],
    *,
    editions: Mapping[str, shore.AssaultEdition] | None = None,
    **options: Any,
) -> None:
    def read(data: Mapping[str, Any]) -> Callable[..., shore.Assault]:
        return partial(shore.assault, shore.read_assault(data, editions[data["edition"]] if editions else None))

    compare(scenarios, read, add_assault, **options)


def same_raids(
    scenarios: Sequence[Mapping[str, Any]],
    *,
    editions: Mapping[str, raids.RaidEdition] | None = None,
    **options: Any,
) -> None:
    def read(data: Mapping[str, Any]) -> Callable[..., raids.Raid]:
        return partial(raids.raid, raids.read_raid(data, editions[data["edition"]] if editions else None))

    compare(scenarios, read, add_raid, of_sampler=kept_raid, of_reference=outline_raid, **options)


# --------------------------------------------------------------------------------------------------
# Land battles with landed units
# --------------------------------------------------------------------------------------------------


@settings(max_examples=25, phases=no_shrinking)
@given(scenarios=st.lists(amphibious_scenarios(), **sizes))
def test_every_landing_equals_the_reference(scenarios: list[dict[str, Any]]) -> None:
    same_landings(scenarios)


@pytest.mark.parametrize("edition", EDITIONS)
def test_landings_of_every_edition(edition: str) -> None:
    @settings(max_examples=3, phases=no_shrinking)
    @given(scenarios=st.lists(amphibious_scenarios(editions=(edition,)), **sizes))
    def check(scenarios: list[dict[str, Any]]) -> None:
        same_landings(scenarios)

    check()


@settings(max_examples=8, phases=no_shrinking)
@given(scenarios=st.lists(amphibious_scenarios(), min_size=4, max_size=8), **numbers)
def test_seeds_battle_numbers_and_pairings_of_landings(scenarios: list[dict[str, Any]], **options: Any) -> None:
    same_landings(scenarios, **options)


@settings(max_examples=5, phases=no_shrinking)
@given(scenarios=st.lists(amphibious_scenarios(most=40), min_size=4, max_size=8))
def test_large_landings(scenarios: list[dict[str, Any]]) -> None:
    same_landings(scenarios, battles=2)


@settings(max_examples=3, phases=no_shrinking)
@given(scenarios=st.lists(amphibious_scenarios(), min_size=2, max_size=3))
def test_many_battles_of_a_landing(scenarios: list[dict[str, Any]]) -> None:
    # Battles are resolved side by side and those that end make room: numbers must not get mixed up.
    same_landings(scenarios, battles=250)


def test_landings_around_the_end_of_a_chunk() -> None:
    data = {
        "terrain": "amphibious",
        "attacker": {
            "units": "3 infantry, 1 tank, 1 fighter",
            "landed": "2 infantry",
            "bombard": "1 cruiser, 1 battleship",
            "retreat": {"after_cycles": 2},
        },
        "defender": {"units": "3 infantry, 1 fighter, 1 aa_gun"},
    }
    scenario = shore.read_shore(data)
    simulation = simcore.simulate(simcore.encode([data]), battles=8_300, keep_battles=True)
    for number in (*range(4_090, 4_102), *range(8_186, 8_198), 8_299):
        assert kept(simulation, 0, number) == outline(shore.landing(scenario, number))


@pytest.mark.parametrize("edition", EDITIONS)
def test_the_largest_landings(edition: str) -> None:
    ships = "2000 battleship" if edition == "revised" else "2000 battleship, 2000 cruiser"
    attacker = {"units": "2000 infantry, 2000 tank", "landed": "all", "bombard": ships}
    frame = {"edition": edition, "terrain": "amphibious", "attacker": attacker, "cycle_limit": 2}
    same_landings(
        [
            frame | {"defender": {"units": "2000 infantry, 2000 fighter"}},
            frame | {"defender": {"units": "2000 infantry"}, "low_luck": "both"},
        ],
        battles=1,
    )


def captured_by(replay: Any) -> dict[str, int]:
    """Return what a replay says was captured, as numbers."""
    return {name: int(replay.captured[name]) for name in ("territory", "value", "guns", "complexes")}


def captured_in(fought: ref.Battle) -> dict[str, int]:
    """Return the same of the reference."""
    return {
        "territory": int(fought.outcome == "attacker_wins"),
        "value": fought.captured_value,
        "guns": fought.guns,
        "complexes": fought.complexes,
    }


@settings(max_examples=60)
@given(scenario=amphibious_scenarios(), battle=st.integers(0, 2**40))
def test_a_replayed_landing_throws_the_dice_of_the_reference(scenario: dict[str, Any], battle: int) -> None:
    read = shore.read_shore(scenario)
    dice = ref.RandomDice(ref.random_key(read, 1), battle)
    replay = assert_replayed_alike(scenario, battle, dice, partial(shore.land, read))
    assert captured_by(replay) == captured_in(shore.landing(read, battle))


@settings(max_examples=60)
@given(scenario=amphibious_scenarios(), data=st.data())
def test_scripted_landings_equal_the_reference(scenario: dict[str, Any], data: st.DataObject) -> None:
    dice = DrawnDice(data)
    fought = shore.land(shore.read_shore(scenario), dice)
    assume(dice.script)
    assert_ended_alike(simcore.replay(scenario, script=dice.script), fought)


# --------------------------------------------------------------------------------------------------
# Assaults
# --------------------------------------------------------------------------------------------------


@settings(max_examples=25, phases=no_shrinking)
@given(scenarios=st.lists(assault_scenarios(), **sizes))
def test_every_assault_equals_the_reference(scenarios: list[dict[str, Any]]) -> None:
    same_assaults(scenarios)


@pytest.mark.parametrize("edition", EDITIONS)
def test_assaults_of_every_edition(edition: str) -> None:
    @settings(max_examples=3, phases=no_shrinking)
    @given(scenarios=st.lists(assault_scenarios(editions=(edition,)), **sizes))
    def check(scenarios: list[dict[str, Any]]) -> None:
        same_assaults(scenarios)

    check()


@settings(max_examples=8, phases=no_shrinking)
@given(scenarios=st.lists(assault_scenarios(), min_size=4, max_size=8), **numbers)
def test_seeds_battle_numbers_and_pairings_of_assaults(scenarios: list[dict[str, Any]], **options: Any) -> None:
    same_assaults(scenarios, **options)


@settings(max_examples=4, phases=no_shrinking)
@given(scenarios=st.lists(assault_scenarios(most=15), min_size=4, max_size=6))
def test_large_assaults(scenarios: list[dict[str, Any]]) -> None:
    same_assaults(scenarios, battles=2)


@settings(max_examples=3, phases=no_shrinking)
@given(scenarios=st.lists(assault_scenarios(), min_size=2, max_size=3))
def test_many_battles_of_an_assault(scenarios: list[dict[str, Any]]) -> None:
    same_assaults(scenarios, battles=200)


def before_a_landing(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return an assault whose sea battle is that of a scenario: the cargo and one infantry attack one infantry."""
    sides = {side: dict(data[side]) for side in ref.SIDES}
    known = {side: {"technologies": table.pop("technologies", [])} for side, table in sides.items()}
    frame = {name: data[name] for name in ("edition", "cycle_limit", "low_luck", "switches") if name in data}
    cargo = [ref.parse_units(load) for load in sides["attacker"].get("cargo", ())]
    return frame | {
        "terrain": "amphibious",
        "attacker": known["attacker"] | {"units": shore.added([*cargo, {"infantry": 1}])},
        "defender": known["defender"] | {"units": "1 infantry"},
        "sea": sides,
    }


@settings(max_examples=10, phases=no_shrinking)
@given(scenarios=st.lists(sea_scenarios(), **sizes))
def test_assaults_with_sea_battles_of_all_kinds(scenarios: list[dict[str, Any]]) -> None:
    same_assaults([before_a_landing(data) for data in scenarios])


@settings(max_examples=60)
@given(scenario=assault_scenarios(), battle=st.integers(0, 2**40))
def test_a_replayed_assault_throws_the_dice_of_the_reference(scenario: dict[str, Any], battle: int) -> None:
    read = shore.read_assault(scenario)
    dice = ref.RandomDice(shore.assault_key(read, 1), battle)
    replay = assert_replayed_alike(scenario, battle, dice, partial(shore.fight_assault, read))
    assert captured_by(replay) == captured_in(shore.assault(read, battle))


@settings(max_examples=60)
@given(scenario=assault_scenarios(), data=st.data())
def test_scripted_assaults_equal_the_reference(scenario: dict[str, Any], data: st.DataObject) -> None:
    dice = DrawnDice(data)
    fought = shore.fight_assault(shore.read_assault(scenario), dice)
    assume(dice.script)
    assert_ended_alike(simcore.replay(scenario, script=dice.script), fought)


# --------------------------------------------------------------------------------------------------
# Raids
# --------------------------------------------------------------------------------------------------


@settings(max_examples=25, phases=no_shrinking)
@given(scenarios=st.lists(raid_scenarios(), **sizes))
def test_every_raid_equals_the_reference(scenarios: list[dict[str, Any]]) -> None:
    same_raids(scenarios)


@settings(max_examples=8, phases=no_shrinking)
@given(scenarios=st.lists(raid_scenarios(), min_size=4, max_size=8), **numbers)
def test_seeds_battle_numbers_and_pairings_of_raids(scenarios: list[dict[str, Any]], **options: Any) -> None:
    same_raids(scenarios, **options)


@settings(max_examples=5, phases=no_shrinking)
@given(scenarios=st.lists(raid_scenarios(most=120), min_size=6, max_size=12))
def test_large_raids(scenarios: list[dict[str, Any]]) -> None:
    same_raids(scenarios, battles=4)


@settings(max_examples=3, phases=no_shrinking)
@given(scenarios=st.lists(raid_scenarios(), min_size=2, max_size=3))
def test_many_battles_of_a_raid(scenarios: list[dict[str, Any]]) -> None:
    same_raids(scenarios, battles=250)


def test_the_largest_raids() -> None:
    same_raids(
        [
            {
                "edition": edition,
                "terrain": "raid",
                "attacker": {"units": "2000 bomber", "technologies": ["heavy_bombers"]},
                "defender": {"units": "1 aa_gun"},
                "raid": {"cap": "none"},
            }
            for edition in ("aa50", "global40_2nd")
        ],
        battles=2,
    )


@settings(max_examples=60)
@given(scenario=raid_scenarios(), battle=st.integers(0, 2**40))
def test_a_replayed_raid_throws_the_dice_of_the_reference(scenario: dict[str, Any], battle: int) -> None:
    read = raids.read_raid(scenario)
    dice = ref.RandomDice(ref.random_key(read, 1), battle)
    assert_replayed_alike(scenario, battle, dice, partial(raids.fly, read))


@settings(max_examples=60)
@given(scenario=raid_scenarios(), data=st.data())
def test_scripted_raids_equal_the_reference(scenario: dict[str, Any], data: st.DataObject) -> None:
    dice = DrawnDice(data)
    flown = raids.fly(raids.read_raid(scenario), dice)
    assume(dice.script)
    assert_ended_alike(simcore.replay(scenario, script=dice.script), flown)


# --------------------------------------------------------------------------------------------------
# What is fought over
# --------------------------------------------------------------------------------------------------


@settings(max_examples=8, phases=no_shrinking)
@given(scenarios=st.lists(st.tuples(land_scenarios(), territories()), **sizes))
def test_land_battles_for_capitals_and_old_possessions(scenarios: list[tuple[dict[str, Any], dict[str, Any]]]) -> None:
    # Away from the sea everybody may retreat, in every edition.
    def read(data: Mapping[str, Any]) -> Callable[..., shore.Landing]:
        scenario = shore.read_shore(data)
        inland = replace(scenario.edition, amphib_retreat="aircraft_and_overland")
        return partial(shore.landing, replace(scenario, edition=inland))

    compare([scenario | {"territory": territory} for scenario, territory in scenarios], read, add_landing)


# --------------------------------------------------------------------------------------------------
# Editions of one's own: other dice, other values, values out of the die's range.
# --------------------------------------------------------------------------------------------------


def own_edition(sides: int, shift: int, base: str) -> shore.AssaultEdition:
    """Return an edition with other dice, and values moved by `shift`: some units cannot fire then."""
    built_in = shore.ASSAULT_EDITIONS[base]
    units: dict[str, ref.UnitRow] = dict(built_in.units)
    for unit, row in built_in.units.items():
        moved = (row.cost + shift + 2, max(row.attack + shift, 0), max(row.defence * 2 - 2 + shift, 0))
        if isinstance(row, sea.SeaRow):
            units[unit] = sea.SeaRow(*moved, hits=row.hits)
        elif unit in ref.LAND + ref.AIRCRAFT:
            units[unit] = ref.UnitRow(*moved, supported=row.supported)
    bombard = {ship: value + shift + 1 for ship, value in built_in.bombard.items()}
    return replace(built_in, units=units, sides=sides, bombard=bombard, technologies=True)


@pytest.fixture(scope="module")
def own_editions(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str], dict[str, Any]]:
    editions: dict[str, shore.AssaultEdition] = {}
    bases, lines = {}, []
    for number, (sides, shift) in enumerate(((2, 0), (3, -1), (10, 1), (12, 2), (20, 4), (6, -2))):
        name = f"own_{sides}"
        bases[name] = ("global40_2nd", "revised", "aa50")[number % 3]
        editions[name] = own_edition(sides, shift, bases[name])
        lines += [f"[{name}]", f'base = "{bases[name]}"', f"dice_sides = {sides}", 'switches = { tech = "optional" }']
        lines.append(f"[{name}.units]")
        for unit, row in editions[name].units.items():
            values = {"cost": row.cost, "attack": row.attack, "defence": row.defence}
            if unit in editions[name].bombard:
                values["bombard"] = editions[name].bombard[unit]
            written = ", ".join(f"{key} = {value}" for key, value in values.items())
            lines.append(f"{unit} = {{ {written} }}")
    path = tmp_path_factory.mktemp("editions") / "own.toml"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path, bases, editions


@pytest.mark.parametrize(
    ("strategy", "same"), [(amphibious_scenarios, same_landings), (assault_scenarios, same_assaults)]
)
def test_assaults_in_editions_of_ones_own(
    own_editions: tuple[Path, dict[str, str], dict[str, Any]],
    strategy: Callable[..., st.SearchStrategy[dict[str, Any]]],
    same: Callable[..., None],
) -> None:
    path, bases, editions = own_editions

    @settings(max_examples=8, phases=no_shrinking)
    @given(data=st.data())
    def check(data: st.DataObject) -> None:
        scenarios = []
        for _ in range(data.draw(st.integers(4, 10))):
            name = data.draw(st.sampled_from(tuple(editions)))
            scenario = data.draw(strategy(editions=(bases[name],)))
            # A die of many sides can make a battle long; the reference should not take all day.
            scenario |= {"edition": name, "edition_file": str(path), "cycle_limit": scenario.get("cycle_limit") or 30}
            scenarios.append(scenario)
        same(scenarios, editions=editions)

    check()


@settings(max_examples=8, phases=no_shrinking)
@given(data=st.data())
def test_raids_in_editions_of_ones_own(
    own_editions: tuple[Path, dict[str, str], dict[str, Any]], data: st.DataObject
) -> None:
    path, bases, own = own_editions
    editions = {
        name: replace(raids.RAID_EDITIONS[base], units=own[name].units, sides=own[name].sides, technologies=True)
        for name, base in bases.items()
    }
    scenarios = []
    for _ in range(data.draw(st.integers(4, 10))):
        name = data.draw(st.sampled_from(tuple(editions)))
        scenario = data.draw(raid_scenarios(editions=(bases[name],)))
        scenarios.append(scenario | {"edition": name, "edition_file": str(path)})
    same_raids(scenarios, editions=editions)
