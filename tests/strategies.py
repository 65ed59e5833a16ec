"""Hypothesis strategies for scenarios."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

LAND = ("infantry", "mech_infantry", "artillery", "tank")
AIRCRAFT = ("fighter", "tactical_bomber", "bomber")
GLOBAL_ONLY = {"mech_infantry", "tactical_bomber"}
EDITIONS = ("spring1942", "aa50", "1942_2nd", "revised", "global40_2nd")
AAA_EDITIONS = ("1942_2nd", "global40_2nd")
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
    return draw(
        st.dictionaries(st.sampled_from(units), st.integers(1, most), min_size=1, max_size=len(units))
    )


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
def land_scenarios(draw: st.DrawFn, most: int = 5, editions: tuple[str, ...] = EDITIONS) -> dict[str, Any]:
    """Land battles over all editions, options and policies, with at most `most` units of a type."""
    edition = draw(st.sampled_from(editions))
    units = fighting_units(edition)
    attacker: dict[str, Any] = {"units": draw(unit_counts(units, most))}
    defender: dict[str, Any] = {"units": draw(unit_counts(units, most))}
    scenario: dict[str, Any] = {
        "ruleset": "general_combat",
        "edition": edition,
        "terrain": "land",
        "attacker": attacker,
        "defender": defender,
    }
    # Each option is often left out, so that plain battles stay frequent.
    if draw(st.booleans()):
        attacker["loss_order"] = draw(loss_orders(units))
    if draw(st.booleans()):
        defender["loss_order"] = draw(loss_orders(("aa_gun", *units) if edition in AAA_EDITIONS else units))
    if draw(st.booleans()):
        land = sum(number for unit, number in attacker["units"].items() if unit in LAND)
        attacker["keep_land"] = draw(st.integers(0, min(land, 3)))
    if draw(st.booleans()):
        attacker["retreat"] = draw(retreats)
    if draw(st.booleans()):
        defender["units"]["aa_gun"] = draw(st.integers(1, 3))
    if draw(st.integers(0, 9)) == 0:
        defender["units"] = {"aa_gun": draw(st.integers(1, 3))}
    if draw(st.integers(0, 3)) == 0:
        defender["units"]["industrial_complex"] = 1
    if draw(st.integers(0, 2)) == 0:
        scenario["cycle_limit"] = draw(st.integers(0, 4))
    if draw(st.integers(0, 2)) == 0:
        scenario["low_luck"] = draw(st.sampled_from(("none", "combat", "aa", "both")))
    if draw(st.integers(0, 2)) == 0:
        scenario["switches"] = draw(switches)
    if draw(st.booleans()):
        scenario["territory"] = {"value": draw(st.integers(0, 12))}
    if edition not in {"spring1942", "1942_2nd"} and draw(st.booleans()):
        known = st.lists(st.sampled_from(TECHNOLOGIES), unique=True, min_size=1, max_size=4)
        attacker["technologies"] = draw(known)
        defender["technologies"] = draw(known)
    return scenario
