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


# --------------------------------------------------------------------------------------------------
# Sea battles
# --------------------------------------------------------------------------------------------------

SHIPS = ("submarine", "transport", "destroyer", "cruiser", "carrier", "battleship")
TWO_HITS = {"global40_2nd": ("battleship", "carrier")}
LOADS = ("infantry", "artillery", "tank")

sea_retreats = st.fixed_dictionaries(
    {},
    optional={
        "possible": st.booleans(),
        "after_cycles": st.integers(0, 3),
        "when_units_at_most": st.integers(0, 4),
        "when_only_aircraft": st.booleans(),
        "when_transports_only": st.booleans(),
    },
)

sea_switches = st.fixed_dictionaries(
    {},
    optional={
        "sub_first_strike": st.sampled_from(("no_enemy_destroyer", "always")),
        "sub_submerge": st.sampled_from(("step_2", "cycle_end")),
        "air_hits_subs": st.sampled_from(("with_destroyer", "always")),
        "tt_last": st.booleans(),
        "tt_swept": st.booleans(),
        "submarine_strikes": st.sampled_from(("simultaneous", "attacker_first")),
        "doomed_destroyer": st.sampled_from(("counts", "does_not")),
        "heavy_bombers": st.sampled_from(("both_dice", "best_of_two")),
        "jet_fighters": st.sampled_from(("attack", "defence")),
    },
)

submerge_policies: st.SearchStrategy[str | dict[str, float]] = st.sampled_from(
    ("never", "always", "facing_aircraft")
) | st.fixed_dictionaries({"outnumbered": st.sampled_from((0.5, 1.0, 1.1, 1.5, 2.0, 3.0))})


def sea_units(edition: str) -> tuple[str, ...]:
    """Return the ships and aircraft of an edition."""
    ships = tuple(unit for unit in SHIPS if edition != "revised" or unit != "cruiser")
    aircraft = tuple(unit for unit in AIRCRAFT if edition == "global40_2nd" or unit not in GLOBAL_ONLY)
    return ships + aircraft


def two_hit_units(edition: str) -> tuple[str, ...]:
    """Return the unit types that take two hits."""
    return TWO_HITS.get(edition, ("battleship",))


def counted(units: dict[str, int]) -> str:
    """Write a list of units."""
    return ", ".join(f"{number} {unit}" for unit, number in units.items())


@st.composite
def fleets(draw: st.DrawFn, edition: str, most: int) -> dict[str, Any]:
    """One side of a sea battle; each option is often left out, so that plain battles stay frequent."""
    units = sea_units(edition)
    # Mostly a few types: lone ships seldom fight, and full fleets seldom come to where the rules differ.
    kinds = draw(
        st.lists(st.sampled_from(units), unique=True, min_size=draw(st.sampled_from((1, 2, 3, 4))), max_size=6)
    )
    side: dict[str, Any] = {"units": {unit: draw(st.integers(1, most)) for unit in kinds}}
    two_hits = two_hit_units(edition)
    hurt = {unit: draw(st.integers(0, side["units"][unit])) for unit in two_hits if unit in kinds}
    if any(hurt.values()) and draw(st.booleans()):
        side["damaged"] = counted({unit: number for unit, number in hurt.items() if number})
    if draw(st.booleans()):
        side["loss_order"] = draw(loss_orders((*units, *(f"{unit}:damage" for unit in two_hits))))
    if "submarine" in kinds and draw(st.booleans()):
        side["submerge"] = draw(submerge_policies)
    if "transport" in kinds and draw(st.booleans()):
        load = st.tuples(st.sampled_from(LOADS), st.booleans()).map(
            lambda pair: f"1 {pair[0]}, 1 infantry" if pair[1] and pair[0] != "infantry" else f"1 {pair[0]}"
        )
        side["cargo"] = draw(st.lists(load, min_size=1, max_size=side["units"]["transport"]))
    return side


@st.composite
def sea_scenarios(draw: st.DrawFn, most: int = 3, editions: tuple[str, ...] = EDITIONS) -> dict[str, Any]:
    """Sea battles over all editions, options and policies, with at most `most` units of a type."""
    edition = draw(st.sampled_from(editions))
    scenario: dict[str, Any] = {
        "ruleset": "general_combat",
        "edition": edition,
        "terrain": "sea",
        "attacker": draw(fleets(edition, most)),
        "defender": draw(fleets(edition, most)),
    }
    if draw(st.booleans()):
        scenario["attacker"]["retreat"] = draw(sea_retreats)
    if draw(st.integers(0, 19)) == 13:
        scenario[draw(st.sampled_from(("attacker", "defender")))] = {"units": {}}
    if draw(st.integers(0, 2)) == 0:
        scenario["cycle_limit"] = draw(st.integers(0, 4))
    if draw(st.integers(0, 2)) == 0:
        scenario["low_luck"] = draw(st.sampled_from(("none", "combat", "aa", "both")))
    if draw(st.integers(0, 2)) == 0:
        scenario["switches"] = draw(sea_switches)
    if edition in TECHNOLOGY_EDITIONS and draw(st.booleans()):
        known = st.lists(st.sampled_from(TECHNOLOGIES), unique=True, min_size=1, max_size=4)
        scenario["attacker"]["technologies"] = draw(known)
        scenario["defender"]["technologies"] = draw(known)
    return scenario
