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


# --------------------------------------------------------------------------------------------------
# Amphibious assaults
# --------------------------------------------------------------------------------------------------

shore_switches = st.fixed_dictionaries(
    {},
    optional={
        "bombard_return_fire": st.booleans(),
        "bombard_cap": st.booleans(),
        "amphib_retreat": st.sampled_from(("aircraft_and_overland", "aircraft")),
    },
)


@st.composite
def territories(draw: st.DrawFn) -> dict[str, Any]:
    """What is fought over, with everything that matters once it is taken."""
    table: dict[str, Any] = {"value": draw(st.integers(0, 12)), "treasury": draw(st.integers(0, 40))}
    if draw(st.booleans()):
        table["original_owner"] = draw(st.sampled_from(("defender", "attacker", "friend")))
    if table.get("original_owner") == "friend" and draw(st.booleans()):
        table["original_capital_held_by"] = draw(st.sampled_from(("friend", "enemy")))
    if draw(st.booleans()):
        table["capital"] = draw(st.booleans())
    if draw(st.integers(0, 3)) == 0:
        table["owner"] = "someone"
    return table


@st.composite
def technologies(draw: st.DrawFn, edition: str) -> list[str]:
    """Technologies of a side, most often none."""
    if edition not in TECHNOLOGY_EDITIONS or draw(st.booleans()):
        return []
    return draw(st.lists(st.sampled_from(TECHNOLOGIES), unique=True, min_size=1, max_size=4))


@st.composite
def bombardments(draw: st.DrawFn, edition: str, known: list[str]) -> str:
    """Ships that bombard, often more than there are landed units."""
    able = ("cruiser", "battleship", *("destroyer" for technology in known if technology == "combined_bombardment"))
    able = tuple(ship for ship in able if ship in sea_units(edition))
    ships = draw(st.lists(st.sampled_from(able), unique=True, min_size=1, max_size=3))
    return counted({ship: draw(st.integers(1, 3)) for ship in ships})


@st.composite
def landed_units(draw: st.DrawFn, units: dict[str, int]) -> str:
    """All land units, or a part of them, of some types none; empty if there is none."""
    if draw(st.integers(0, 2)) == 0:
        return "all"
    part = {unit: draw(st.integers(0, number)) for unit, number in units.items() if unit in LAND}
    return counted({unit: number for unit, number in part.items() if number})


@st.composite
def frames(draw: st.DrawFn, edition: str, terrain: str) -> dict[str, Any]:
    """A scenario without its sides."""
    scenario: dict[str, Any] = {"ruleset": "general_combat", "edition": edition, "terrain": terrain}
    if draw(st.integers(0, 2)) == 0:
        scenario["cycle_limit"] = draw(st.integers(0, 4))
    if draw(st.integers(0, 2)) == 0:
        scenario["low_luck"] = draw(st.sampled_from(("none", "combat", "aa", "both")))
    if draw(st.booleans()):
        scenario["territory"] = draw(territories())
    return scenario


@st.composite
def amphibious_scenarios(draw: st.DrawFn, most: int = 4, editions: tuple[str, ...] = EDITIONS) -> dict[str, Any]:
    """Land battles with landed units and bombardment, with at most `most` units of a type.

    Nobody or everybody may have landed, there may be no ship or too many, nobody or guns alone may defend.
    """
    edition = draw(st.sampled_from(editions))
    scenario = draw(frames(edition, "amphibious"))
    attacker, defender = draw(attackers(edition, most)), draw(defenders(edition, most))
    for side in (attacker, defender):
        known = draw(technologies(edition))
        if known:
            side["technologies"] = known
    if draw(st.integers(0, 7)):
        attacker["landed"] = draw(landed_units(attacker["units"]))
    if draw(st.integers(0, 3)):
        attacker["bombard"] = draw(bombardments(edition, attacker.get("technologies", [])))
    if draw(st.booleans()):
        attacker["retreat"] = draw(retreats)
    if draw(st.integers(0, 19)) == 13:
        defender = {"units": {}}
    if draw(st.integers(0, 2)) == 0:
        scenario["switches"] = draw(shore_switches) | draw(switches)
    return scenario | {"attacker": attacker, "defender": defender}


@st.composite
def loads(draw: st.DrawFn, edition: str, most: int) -> list[str]:
    """What some transports carry: one land unit each, with or without an infantry beside it."""
    kinds = [unit for unit in fighting_units(edition) if unit in LAND]
    unit_and_more = st.tuples(st.sampled_from(kinds), st.booleans())
    pairs = draw(st.lists(unit_and_more, min_size=1, max_size=most))
    return [
        ("2 infantry" if unit == "infantry" else f"1 {unit}, 1 infantry") if more else f"1 {unit}"
        for unit, more in pairs
    ]


def aboard(cargo: list[str]) -> dict[str, int]:
    """Return all units of some loads together."""
    total: dict[str, int] = {}
    for load in cargo:
        for part in load.split(", "):
            number, unit = part.split()
            total[unit] = total.get(unit, 0) + int(number)
    return total


@st.composite
def landing_fleets(draw: st.DrawFn, edition: str, most: int) -> dict[str, Any]:
    """The attacker's side of a sea battle before a landing, mostly with loaded transports."""
    side = draw(fleets(edition, most))
    side.pop("cargo", None)
    if draw(st.integers(0, 3)) == 0:
        # Where transports may be lost first, a part of the cargo is lost and the rest lands.
        side["loss_order"] = ["transport"]
    if draw(st.booleans()):
        side["retreat"] = draw(sea_retreats)
    if draw(st.integers(0, 9)):
        cargo = draw(loads(edition, 3))
        side["cargo"] = cargo
        side["units"]["transport"] = len(cargo) + draw(st.sampled_from((0, 0, 1)))
    return side


@st.composite
def landing_zones(draw: st.DrawFn, edition: str, most: int) -> dict[str, Any]:
    """The defender's side of such a battle: often nobody or a single ship, so that landings are frequent."""
    kind = draw(st.integers(0, 3))
    if kind == 0:
        return {}
    if kind == 1:
        return {"units": {draw(st.sampled_from(sea_units(edition))): 1}}
    return draw(fleets(edition, most))


@st.composite
def landing_forces(draw: st.DrawFn, edition: str, most: int, cargo: list[str]) -> dict[str, Any]:
    """The attacker's side on land, the cargo included; at times there is nothing else."""
    side = draw(attackers(edition, most))
    if draw(st.booleans()) and cargo:
        side = {"units": {}}
    overland, carried = side["units"], aboard(cargo)
    side["units"] = {unit: overland.get(unit, 0) + carried.get(unit, 0) for unit in {**overland, **carried}}
    if draw(st.integers(0, 3)) == 0 and cargo:
        side["landed"] = counted(carried)
    if draw(st.booleans()):
        side["retreat"] = draw(retreats)
    return side


@st.composite
def assault_scenarios(draw: st.DrawFn, most: int = 2, editions: tuple[str, ...] = EDITIONS) -> dict[str, Any]:
    """Sea battles with landings after them, with at most `most` units of a type in each battle."""
    edition = draw(st.sampled_from(editions))
    scenario = draw(frames(edition, "amphibious"))
    at_sea, zone = draw(landing_fleets(edition, most)), draw(landing_zones(edition, most))
    attacker, defender = draw(landing_forces(edition, most, at_sea.get("cargo", []))), draw(defenders(edition, most))
    if draw(st.integers(0, 9)) == 7:
        defender = {"units": {}}
    for side in (attacker, defender):
        known = draw(technologies(edition))
        if known:
            side["technologies"] = known
    if draw(st.booleans()):
        attacker["bombard"] = draw(bombardments(edition, attacker.get("technologies", [])))
    changed: dict[str, Any] = {}
    if draw(st.integers(0, 2)) == 0:
        changed = draw(shore_switches) | draw(switches) | draw(sea_switches)
    if draw(st.booleans()):
        changed |= {"tt_last": False}
    if changed:
        scenario["switches"] = changed
    return scenario | {"attacker": attacker, "defender": defender, "sea": {"attacker": at_sea, "defender": zone}}


# --------------------------------------------------------------------------------------------------
# Raids
# --------------------------------------------------------------------------------------------------

FACILITIES = ("minor_complex", "major_complex", "air_base", "naval_base")
BASES = ("air_base", "naval_base")
# What each edition says; a scenario may say otherwise.
SBR_CAP = {"revised": "territory", "global40_2nd": "facility"}
AIR_BATTLE = {"1942_2nd": "optional", "global40_2nd": "one_cycle"}

raid_switches = st.fixed_dictionaries(
    {},
    optional={
        "sbr_cap": st.sampled_from(("twice_territory", "territory", "facility")),
        "sbr_aa": st.sampled_from(("gun", "built_in")),
        "sbr_bonus": st.integers(0, 4),
        "sbr_air_battle": st.sampled_from(("none", "optional", "one_cycle")),
        "heavy_bombers": st.sampled_from(("both_dice", "best_of_two")),
        "aa_choice": st.sampled_from(("per_type", "owner")),
        "aa_dice": st.sampled_from(("per_aircraft", "three_per_gun")),
        "aa_fate": st.sampled_from(("captured", "destroyed")),
    },
)


@st.composite
def raid_tables(draw: st.DrawFn, targets: tuple[str, ...], air_rule: str) -> dict[str, Any]:
    """The raid itself: what is bombed, what is on it already, and whether there is an air battle."""
    table: dict[str, Any] = {}
    if draw(st.booleans()):
        table["target"] = draw(st.sampled_from(targets))
    if draw(st.booleans()):
        table["damaged"] = draw(st.integers(0, 12))
    if draw(st.booleans()):
        table["cap"] = draw(st.sampled_from(("edition", "none")) | st.integers(0, 30))
    if draw(st.booleans()):
        table["air_battle"] = air_rule != "none" and draw(st.booleans())
    return table


@st.composite
def raiders(draw: st.DrawFn, most: int, *, tactical: bool, escorts: bool) -> dict[str, int]:
    """Bombers of the kinds that may raid, at times with escorts."""
    units = {"bomber": draw(st.integers(1, most))}
    if tactical and draw(st.booleans()):
        units["tactical_bomber"] = draw(st.integers(1, most))
        if draw(st.booleans()):
            del units["bomber"]
    if escorts and draw(st.booleans()):
        units["fighter"] = draw(st.integers(1, most))
    return units


@st.composite
def raided(draw: st.DrawFn, most: int, *, interceptors: bool) -> dict[str, int]:
    """What defends against a raid; at times nothing."""
    units = {}
    if interceptors and draw(st.integers(0, 3)):
        units["fighter"] = draw(st.integers(1, most))
    if draw(st.integers(0, 3)):
        units["aa_gun"] = draw(st.integers(1, 2))
    if draw(st.booleans()):
        units["industrial_complex"] = 1
    return units


@st.composite
def raid_scenarios(draw: st.DrawFn, most: int = 5, editions: tuple[str, ...] = EDITIONS) -> dict[str, Any]:
    """Raids over all editions and options, with at most `most` aircraft of a type."""
    edition = draw(st.sampled_from(editions))
    scenario: dict[str, Any] = {"ruleset": "general_combat", "edition": edition, "terrain": "raid"}
    changed = draw(raid_switches) if draw(st.booleans()) else {}
    if changed:
        scenario["switches"] = changed
    if draw(st.integers(0, 2)) == 0:
        scenario["low_luck"] = draw(st.sampled_from(("none", "combat", "aa", "both")))
    facility = changed.get("sbr_cap", SBR_CAP.get(edition)) == "facility"
    air_rule = str(changed.get("sbr_air_battle", AIR_BATTLE.get(edition, "none")))
    table = draw(raid_tables(FACILITIES if facility else ("complex",), air_rule))
    if table:
        scenario["raid"] = table
    if not facility or draw(st.booleans()):
        scenario["territory"] = {"value": draw(st.integers(0, 12))}
    in_the_air = table.get("air_battle", air_rule == "one_cycle")
    tactical = edition == "global40_2nd" and table.get("target") in BASES
    for name, units in (
        ("attacker", draw(raiders(most, tactical=tactical, escorts=in_the_air))),
        ("defender", draw(raided(most, interceptors=in_the_air))),
    ):
        side: dict[str, Any] = {"units": units}
        if draw(st.integers(0, 2)) == 0:
            side["loss_order"] = draw(loss_orders(fighting_units(edition)))
        known = draw(technologies(edition))
        if known:
            side["technologies"] = known
        scenario[name] = side
    return scenario
