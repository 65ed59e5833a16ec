"""Editions of general combat: unit tables and switches as data."""

from __future__ import annotations

import json
import tomllib
from functools import cache, cached_property, lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, field_validator

from simcore.errors import ScenarioError, suggestion
from simcore.model import FrozenModel, parse_model, shown
from simcore.rulesets.general_combat.encoding import UNITS
from simcore.unittext import unit_name

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "ALIASES",
    "DEFAULT_EDITION",
    "TWO_HIT_SHIPS",
    "Edition",
    "Switches",
    "UnitStats",
    "builtin_editions",
    "changed_edition",
    "own_editions",
    "parse_editions",
]

DEFAULT_EDITION = "spring1942"
_PATH_PARTS = 2

ALIASES = {
    "inf": "infantry",
    "mech": "mech_infantry",
    "mechanised_infantry": "mech_infantry",
    "mechanized_infantry": "mech_infantry",
    "art": "artillery",
    "arm": "tank",
    "armor": "tank",
    "armour": "tank",
    "aa": "aa_gun",
    "aaa": "aa_gun",
    "ftr": "fighter",
    "fig": "fighter",
    "tac": "tactical_bomber",
    "bmb": "bomber",
    "bom": "bomber",
    "sub": "submarine",
    "tra": "transport",
    "tt": "transport",
    "des": "destroyer",
    "dd": "destroyer",
    "cru": "cruiser",
    "acc": "carrier",
    "cv": "carrier",
    "bat": "battleship",
    "bb": "battleship",
    "ic": "industrial_complex",
    "complex": "industrial_complex",
}
TWO_HIT_SHIPS = ("battleship", "carrier")


class UnitStats(FrozenModel):
    """One row of a unit table (GC-2.1)."""

    cost: int = Field(ge=0, le=1_000, description="Price of one unit")
    attack: int = Field(ge=0, le=20, description="Hits on this or less when attacking; 0 = does not fire")
    defence: int = Field(ge=0, le=20, description="Hits on this or less when defending; 0 = does not fire")
    move: int = Field(default=0, ge=0, le=20, description="Movement, for reference only")
    hits: int = Field(default=1, ge=1, le=2, description="Hits the unit takes before it is lost")
    supported_attack: int | None = Field(
        default=None,
        ge=0,
        le=20,
        description="Attack value beside its supporter (infantry: artillery; tactical bomber: fighter or tank)",
    )
    bombard: int = Field(default=0, ge=0, le=20, description="Value of shore bombardment; 0 = none")


class Switches(FrozenModel):
    """Rules in which editions differ (GC-2.3)."""

    aa_dice: Literal["per_aircraft", "three_per_gun"] = "per_aircraft"
    aa_when: Literal["battle_start", "movement_and_step_2"] = "battle_start"
    aa_choice: Literal["per_type", "owner"] = "per_type"
    aa_fate: Literal["captured", "destroyed"] = "captured"
    bombard_return_fire: bool = True
    bombard_cap: bool = True
    sub_first_strike: Literal["no_enemy_destroyer", "always"] = "no_enemy_destroyer"
    sub_submerge: Literal["step_2", "cycle_end"] = "step_2"
    air_hits_subs: Literal["with_destroyer", "always"] = "with_destroyer"
    tt_last: bool = True
    tt_swept: bool = True
    amphib_retreat: Literal["aircraft_and_overland", "aircraft"] = "aircraft_and_overland"
    bb_repair: Literal["battle_end", "purchase_at_naval_base"] = "battle_end"
    sbr_target: Literal["complex", "income"] = "complex"
    sbr_cap: Literal["twice_territory", "territory", "facility"] = "twice_territory"
    sbr_aa: Literal["gun", "built_in"] = "gun"
    sbr_bonus: int = Field(default=0, ge=0, le=20)
    sbr_air_battle: Literal["none", "optional", "one_cycle"] = "none"
    tech: Literal["none", "optional"] = "none"
    heavy_bombers: Literal["both_dice", "best_of_two"] = "both_dice"
    jet_fighters: Literal["attack", "defence"] = "attack"
    submarine_strikes: Literal["simultaneous", "attacker_first"] = "simultaneous"
    doomed_destroyer: Literal["counts", "does_not"] = "counts"


class Edition(FrozenModel):
    """A complete set of rules as data."""

    name: str
    title: str = ""
    dice_sides: int = Field(default=6, ge=2, le=20, description="Sides of the die")
    switches: Switches = Switches()
    units: dict[str, UnitStats]
    facilities: dict[str, int] = Field(default_factory=dict, description="Prices of facilities that never fight")

    @cached_property
    def canonical(self) -> dict[str, Any]:
        """Everything that can change a result, as JSON-able data: always the same object, not to be changed."""
        return self.model_dump(exclude={"name", "title"})

    @field_validator("units")
    @classmethod
    def _two_hit_ships(cls, units: dict[str, UnitStats]) -> dict[str, UnitStats]:
        for name, stats in units.items():
            if stats.hits > 1 and name not in TWO_HIT_SHIPS:
                raise ScenarioError(f"only {' and '.join(TWO_HIT_SHIPS)} may take two hits", field=f"{name}.hits")
        return units


class EditionSource(FrozenModel):
    """An edition as written in a file; `base` fills what is left out."""

    title: str = Field(default="", max_length=200)
    base: str | None = Field(default=None, description="Edition that supplies what this one leaves out")
    dice_sides: int | None = Field(default=None, ge=2, le=20)
    switches: dict[str, Any] = Field(default_factory=dict)
    units: dict[str, dict[str, Any] | Literal[False]] = Field(
        default_factory=dict, description="Unit rows; false removes a unit of the base edition"
    )
    facilities: dict[str, int] = Field(default_factory=dict)


def _resolve_edition(
    name: str,
    sources: Mapping[str, EditionSource],
    builtin: Mapping[str, Edition],
    source: str,
    seen: tuple[str, ...] = (),
) -> Edition:
    raw = sources[name]
    where = f"{name}."
    if name in seen:
        raise ScenarioError(
            f"the editions {', '.join(seen)} are each other's base", field=f"{where}base", source=source
        )
    data: dict[str, Any] = {
        "name": name,
        "title": raw.title or name,
        "units": {},
        "facilities": dict(raw.facilities),
    }
    if raw.base is not None:
        if raw.base in sources:
            base = _resolve_edition(raw.base, sources, builtin, source, (*seen, name))
        elif raw.base in builtin:
            base = builtin[raw.base]
        else:
            known = sorted({*sources, *builtin})
            raise ScenarioError(
                f"unknown edition {shown(raw.base)}{suggestion(raw.base, known)}; known: {', '.join(known)}",
                field=f"{where}base",
                source=source,
            )
        data = base.model_dump()
        data |= {
            "name": name,
            "title": raw.title or name,
            "facilities": {**base.facilities, **raw.facilities},
        }
    if raw.dice_sides is not None:
        data["dice_sides"] = raw.dice_sides
    data["switches"] = {**data.get("switches", {}), **raw.switches}
    for unit, row in raw.units.items():
        if unit not in UNITS:
            raise ScenarioError(
                f"unknown unit {shown(unit)}{suggestion(unit, UNITS)}; known: {', '.join(UNITS)}",
                field=f"{where}units",
                source=source,
            )
        if row is False:
            data["units"].pop(unit, None)
        else:
            data["units"][unit] = {**data["units"].get(unit, {}), **row}
    return parse_model(Edition, data, source=source, prefix=name)


@cache
def builtin_editions() -> dict[str, Edition]:
    """Return the editions that come with the package, by name (GC-2.1, GC-2.3)."""
    text = (files("simcore.rulesets.general_combat") / "editions.toml").read_text(encoding="utf-8")
    return parse_editions(tomllib.loads(text), source="editions.toml", builtin={})


def parse_editions(
    data: Mapping[str, Any], *, source: str = "", builtin: Mapping[str, Edition] | None = None
) -> dict[str, Edition]:
    """Read the editions of an edition file.

    Parameters
    ----------
    data : mapping
        Edition name to its table.
    source : str
        File name for error messages.
    builtin : mapping, optional
        Editions that `base` may name besides those of the file; default: those of the package.

    Returns
    -------
    dict of str to Edition

    Raises
    ------
    ScenarioError
        For unknown fields, units, base editions, values out of range or an empty file.
    """
    known = builtin_editions() if builtin is None else builtin
    if not data:
        raise ScenarioError(
            'holds no edition; expected tables such as [house_rules] with base = "spring1942"', source=source
        )
    sources: dict[str, EditionSource] = {}
    for name, table in data.items():
        if not isinstance(table, dict):
            raise ScenarioError(f"must be the table of an edition, got {shown(table)}", field=str(name), source=source)
        sources[name] = parse_model(EditionSource, table, source=source, prefix=name)
    return {name: _resolve_edition(name, sources, known, source) for name in sources}


def own_editions(editions: Mapping[str, Any], source: str) -> dict[str, Edition]:
    """Return the editions that a scenario brings along; equal tables are parsed once."""
    return _parse_text(_as_json(editions, source), source)


def _as_json(editions: Mapping[str, Any], source: str) -> str:
    try:
        return json.dumps(editions, sort_keys=True)
    except (TypeError, ValueError, RecursionError):
        raise ScenarioError(
            "must hold nothing but tables, lists, text, numbers, true and false", field="editions", source=source
        ) from None


@lru_cache(maxsize=64)
def _parse_text(text: str, source: str) -> dict[str, Edition]:
    """Parse inline editions once per sweep rather than once per matchup."""
    try:
        return parse_editions(json.loads(text), source=source)
    except ScenarioError as problem:
        raise problem.at(field=f"editions.{problem.field}" if problem.field else "editions") from None


def changed_edition(edition: Edition, changes: Mapping[str, Any], field: str, source: str) -> Edition:
    """Return `edition` with single values replaced, each named by a dotted path such as ``tank.cost``."""
    data = edition.model_dump()
    for path, value in changes.items():
        parts = path.split(".")
        if parts[0] == "units":
            parts = parts[1:]
        where = f"{field}.{path}" if field else path
        if parts == ["dice_sides"]:
            data["dice_sides"] = value
        elif len(parts) == _PATH_PARTS and parts[0] == "switches":
            data["switches"][parts[1]] = value
        elif len(parts) == _PATH_PARTS:
            unit = unit_name(parts[0], UNITS, ALIASES, field=where, source=source)
            if unit not in data["units"]:
                raise ScenarioError(
                    f'unit "{unit}" does not exist in edition "{edition.name}"', field=where, source=source
                )
            data["units"][unit][parts[1]] = value
        else:
            raise ScenarioError(
                'no such value of an edition; expected "<unit>.<field>", "switches.<name>" or "dice_sides"',
                field=where,
                source=source,
            )
        try:
            edition = parse_model(Edition, data, source=source)
        except ScenarioError as problem:
            raise problem.at(field=where) from None
    return edition
