"""Hypothesis strategies for scenarios."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

LAND = ("infantry", "mech_infantry", "artillery", "tank")
AIRCRAFT = ("fighter", "tactical_bomber", "bomber")
GLOBAL_ONLY = {"mech_infantry", "tactical_bomber"}
EDITIONS = ("spring1942", "aa50", "1942_2nd", "revised", "global40_2nd")
AAA_EDITIONS = ("1942_2nd", "global40_2nd")
TECHNOLOGY_EDITIONS = ("aa50", "revised", "global40_2nd")
TECHNOLOGIES = (
    "jet_fighters",
    "heavy_bombers",
    "radar",
    "advanced_artillery",
    "super_submarines",
    "combined_bombardment",
    "long_range_aircraft",
)


def fighting_units(edition: str) -> tuple[str, ...]:
    """Return the land and air units of an edition."""
    return tuple(unit for unit in LAND + AIRCRAFT if edition == "global40_2nd" or unit not in GLOBAL_ONLY)


@st.composite
def unit_counts(draw: st.DrawFn, units: tuple[str, ...], most: int) -> dict[str, int]:
    """Some of the units, each at least once."""
    return draw(st.dictionaries(st.sampled_from(units), st.integers(1, most), min_size=1, max_size=len(units)))


def loss_orders(units: tuple[str, ...]) -> st.SearchStrategy[str | list[str]]:
    """Named policies and lists, complete or not."""
    partial = st.lists(st.sampled_from(units), unique=True, min_size=1, max_size=len(units))
    return st.sampled_from(("default", "cheapest", "weakest")) | partial


retreats = st.fixed_dictionaries(
    {},
    optional={
        "possible": st.booleans(),
        "after_cycles": st.integers(0, 3),
        "when_units_at_most": st.integers(0, 4),
        "when_only_aircraft": st.booleans(),
    },
)

switches = st.fixed_dictionaries(
    {},
    optional={
        "aa_dice": st.sampled_from(("per_aircraft", "three_per_gun")),
        "aa_choice": st.sampled_from(("per_type", "owner")),
        "aa_fate": st.sampled_from(("captured", "destroyed")),
        "heavy_bombers": st.sampled_from(("both_dice", "best_of_two")),
        "jet_fighters": st.sampled_from(("attack", "defence")),
    },
)


@st.composite
def attackers(draw: st.DrawFn, edition: str, most: int) -> dict[str, Any]:
    """The attacker's side; each option is often left out, so that plain battles stay frequent."""
    units = fighting_units(edition)
    side: dict[str, Any] = {"units": draw(unit_counts(units, most))}
    if draw(st.booleans()):
        side["loss_order"] = draw(loss_orders(units))
    if draw(st.booleans()):
        land = sum(number for unit, number in side["units"].items() if unit in LAND)
        side["keep_land"] = draw(st.integers(0, min(land, 3)))
    if draw(st.booleans()):
        side["retreat"] = draw(retreats)
    return side


@st.composite
def defenders(draw: st.DrawFn, edition: str, most: int) -> dict[str, Any]:
    """The defender's side of a scenario, at times with guns or a complex, at times with nothing else."""
    units = fighting_units(edition)
    side: dict[str, Any] = {"units": draw(unit_counts(units, most))}
    if draw(st.booleans()):
        side["loss_order"] = draw(loss_orders(("aa_gun", *units) if edition in AAA_EDITIONS else units))
    if draw(st.integers(0, 9)) == 0:
        side["units"] = {"aa_gun": draw(st.integers(1, 3))}
    elif draw(st.booleans()):
        side["units"]["aa_gun"] = draw(st.integers(1, 3))
    if draw(st.integers(0, 3)) == 0:
        side["units"]["industrial_complex"] = 1
    return side


@st.composite
def land_scenarios(draw: st.DrawFn, most: int = 5, editions: tuple[str, ...] = EDITIONS) -> dict[str, Any]:
    """Land battles over all editions, options and policies, with at most `most` units of a type."""
    edition = draw(st.sampled_from(editions))
    scenario: dict[str, Any] = {
        "ruleset": "general_combat",
        "edition": edition,
        "terrain": "land",
        "attacker": draw(attackers(edition, most)),
        "defender": draw(defenders(edition, most)),
    }
    if draw(st.integers(0, 2)) == 0:
        scenario["cycle_limit"] = draw(st.integers(0, 4))
    if draw(st.integers(0, 2)) == 0:
        scenario["low_luck"] = draw(st.sampled_from(("none", "combat", "aa", "both")))
    if draw(st.integers(0, 2)) == 0:
        scenario["switches"] = draw(switches)
    if draw(st.booleans()):
        scenario["territory"] = {"value": draw(st.integers(0, 12))}
    if edition in TECHNOLOGY_EDITIONS and draw(st.booleans()):
        known = st.lists(st.sampled_from(TECHNOLOGIES), unique=True, min_size=1, max_size=4)
        scenario["attacker"]["technologies"] = draw(known)
        scenario["defender"]["technologies"] = draw(known)
    return scenario
