"""Editions of mass battle: squad types and options as data."""

from __future__ import annotations

import json
import re
import tomllib
from functools import cache, lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, field_validator, model_validator

from simcore.errors import ScenarioError, suggestion
from simcore.model import FrozenModel, parse_model, shown
from simcore.rulesets.mass_battle.encoding import MAX_ODDS_DICE, MAX_TYPES
from simcore.unittext import unit_name

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "DEFAULT_EDITION",
    "Edition",
    "Options",
    "SquadType",
    "builtin_editions",
    "changed_edition",
    "own_editions",
    "parse_editions",
]

DEFAULT_EDITION = "standard"
MAX_TURNS = 1_000_000
_PATH_PARTS = 2
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_FACES = ("4", "5", "6")
_EFFECTS = ("suppress", "rout", "destroy")
_Effect = Literal["suppress", "rout", "destroy"]
_PLAIN_FACES: dict[str, _Effect] = {"4": "suppress", "5": "rout", "6": "destroy"}


class SquadType(FrozenModel):
    """One row of the table of squad types (MA-23)."""

    dice: int = Field(default=1, ge=0, le=100, description="Dice that an active squad adds to the army's Forces")
    mobile: bool = Field(default=False, description="Whether the squad can pursue")
    rally: int = Field(
        default=1, ge=-MAX_ODDS_DICE, le=MAX_ODDS_DICE, description="Pool of its commander's roll after a rout"
    )
    size_class: int = Field(default=0, ge=-20, le=20, description="What a character's roll loses to the squad's size")
    cost: int = Field(default=1, ge=0, le=1_000, description="Price of one squad")


class Options(FrozenModel):
    """Readings of the rules (MA-1 to MA-22); the defaults are those of the rules as implemented."""

    face_effects: dict[str, _Effect] = Field(default=_PLAIN_FACES, description="What the faces 4, 5 and 6 do (MA-1)")
    pool_model: Literal["sum_active", "difference", "fixed"] = Field(
        default="sum_active", description="Where an army's dice come from (MA-2)"
    )
    negative_dice: Literal["two_minus_pool", "count"] = Field(
        default="two_minus_pool", description="Dice of a negative roll (MA-4)"
    )
    negative_needs: Literal["all", "any"] = Field(
        default="all", description="How many of the other dice confirm a negative roll (MA-5)"
    )
    ones_backfire: Literal["negative_only", "every_roll"] = Field(
        default="negative_only", description="Which rolls suppress own squads by their ones (MA-6)"
    )
    routed_targets: bool = Field(default=False, description="Whether squads in flight can be hit (MA-8)")
    renew_suppression: bool = Field(
        default=True, description="Whether a suppressed squad that is suppressed misses one more turn (MA-9)"
    )
    target_order: Literal["listed", "random", "strongest", "weakest"] = Field(
        default="listed", description="Which squads of a class are hit first (MA-10)"
    )
    initiative: Literal["simultaneous", "attacker_first", "defender_first"] = Field(
        default="simultaneous", description="Who rolls first (MA-11)"
    )
    rally_pool: int | None = Field(
        default=None, ge=-MAX_ODDS_DICE, le=MAX_ODDS_DICE, description="Commanders' pool in place of the squad types'"
    )
    success_face: int = Field(default=4, ge=2, le=6, description="Least face that is a success in a rally (MA-15)")
    rally_miss: Literal[0, 1] = Field(
        default=1, description="Turns that a rallied squad misses after the turn of its rally (MA-13)"
    )
    rally_attempts: Literal[1, "unlimited"] = Field(default=1, description="Attempts to halt a squad in flight (MA-14)")
    mutual_break: Literal["draw", "attacker", "defender"] = Field(
        default="draw", description="Who wins when both armies break in one turn (MA-17)"
    )
    pursuit_scope: Literal["in_flight", "routed_this_turn"] = Field(
        default="in_flight", description="Who can be pursued: all in flight, or those routed in the last turn (MA-18)"
    )
    pursuit_limit: Literal["none", "one_per_squad", "suppressed_too"] = Field(
        default="none", description="Who pursues, and how many squads each catches (MA-19)"
    )
    pursuit_fate: Literal["captured", "destroyed"] = Field(
        default="captured", description="What becomes of squads that are caught (MB-18)"
    )
    max_turns: int = Field(default=100, ge=0, le=MAX_TURNS, description="Turns until undecided; 0 = to the end (MA-22)")

    @field_validator("face_effects", mode="before")
    @classmethod
    def _faces_as_text(cls, value: object) -> object:
        # TOML writes the faces as text, Python callers may write numbers.
        return {str(face): effect for face, effect in value.items()} if isinstance(value, dict) else value

    @field_validator("face_effects")
    @classmethod
    def _each_effect_once(cls, value: dict[str, str]) -> dict[str, str]:
        if set(value) != set(_FACES) or sorted(value.values()) != sorted(_EFFECTS):
            raise ScenarioError(
                'must give each of the faces 4, 5 and 6 one of "suppress", "rout" and "destroy", each once, '
                f"got {shown(value)}"
            )
        return {face: value[face] for face in _FACES}

    @model_validator(mode="after")
    def _routed_stay(self) -> Options:
        if self.routed_targets and self.rally_attempts == 1:
            raise ScenarioError(
                'needs rally_attempts = "unlimited": with one attempt no squad in flight is on the field (MA-8)',
                field="routed_targets",
            )
        return self


class Edition(FrozenModel):
    """Squad types and options as data."""

    name: str
    title: str = ""
    options: Options = Options()
    units: dict[str, SquadType] = Field(min_length=1, max_length=MAX_TYPES)


class EditionSource(FrozenModel):
    """An edition as written in a file; `base` fills what is left out."""

    title: str = Field(default="", max_length=200)
    base: str | None = Field(default=None, description="Edition that supplies what this one leaves out")
    options: dict[str, Any] = Field(default_factory=dict)
    units: dict[str, dict[str, Any] | Literal[False]] = Field(
        default_factory=dict, description="Squad types; false removes a type of the base edition"
    )


def _resolve_edition(
    name: str,
    sources: Mapping[str, EditionSource],
    builtin: Mapping[str, Edition],
    source: str,
    seen: tuple[str, ...] = (),
) -> Edition:
    raw = sources[name]
    if name in seen:
        raise ScenarioError(
            f"the editions {', '.join(seen)} are each other's base", field=f"{name}.base", source=source
        )
    data: dict[str, Any] = {"options": {}, "units": {}}
    if raw.base is not None:
        if raw.base in sources:
            base = _resolve_edition(raw.base, sources, builtin, source, (*seen, name))
        elif raw.base in builtin:
            base = builtin[raw.base]
        else:
            known = sorted({*sources, *builtin})
            raise ScenarioError(
                f"unknown edition {shown(raw.base)}{suggestion(raw.base, known)}; known: {', '.join(known)}",
                field=f"{name}.base",
                source=source,
            )
        data = base.model_dump()
    data |= {"name": name, "title": raw.title or name, "options": {**data["options"], **raw.options}}
    for unit, row in raw.units.items():
        if not _NAME.fullmatch(unit):
            raise ScenarioError(
                f"{shown(unit)} cannot name a squad type; small letters, digits and _ can, a letter first",
                field=f"{name}.units",
                source=source,
            )
        if row is False:
            data["units"].pop(unit, None)
        else:
            data["units"][unit] = {**data["units"].get(unit, {}), **row}
    if not 1 <= len(data["units"]) <= MAX_TYPES:
        raise ScenarioError(
            f"an edition has 1 to {MAX_TYPES} squad types, got {len(data['units'])}",
            field=f"{name}.units",
            source=source,
        )
    return parse_model(Edition, data, source=source, prefix=name)


@cache
def builtin_editions() -> dict[str, Edition]:
    """Return the editions that come with the package, by name."""
    text = (files("simcore.rulesets.mass_battle") / "editions.toml").read_text(encoding="utf-8")
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
        For unknown fields and base editions, values out of range or an empty file.
    """
    known = builtin_editions() if builtin is None else builtin
    if not data:
        raise ScenarioError('holds no edition; expected tables such as [mine] with base = "standard"', source=source)
    sources: dict[str, EditionSource] = {}
    for name, table in data.items():
        if not isinstance(table, dict):
            raise ScenarioError(f"must be the table of an edition, got {shown(table)}", field=str(name), source=source)
        sources[name] = parse_model(EditionSource, table, source=source, prefix=name)
    return {name: _resolve_edition(name, sources, known, source) for name in sources}


def own_editions(editions: Mapping[str, Any], source: str) -> dict[str, Edition]:
    """Return the editions that a scenario brings along; equal tables are parsed once."""
    try:
        # The order of the keys is kept: it is the order of the squad types.
        text = json.dumps(editions)
    except (TypeError, ValueError, RecursionError):
        raise ScenarioError(
            "must hold nothing but tables, lists, text, numbers, true and false", field="editions", source=source
        ) from None
    return _parse_text(text, source)


@lru_cache(maxsize=64)
def _parse_text(text: str, source: str) -> dict[str, Edition]:
    """Parse inline editions once per sweep rather than once per matchup."""
    try:
        return parse_editions(json.loads(text), source=source)
    except ScenarioError as problem:
        raise problem.at(field=f"editions.{problem.field}" if problem.field else "editions") from None


def changed_edition(edition: Edition, changes: Mapping[str, Any], source: str) -> Edition:
    """Return `edition` with single values replaced, each named by a dotted path such as ``squad.cost``.

    Parameters
    ----------
    edition : Edition
    changes : mapping
        ``"<squad type>.<field>"`` or ``"options.<name>"`` to the new value.
    source : str
        File name for error messages.

    Returns
    -------
    Edition

    Raises
    ------
    ScenarioError
        Names the path, the value and what is allowed.
    """
    data = edition.model_dump()
    for path, value in changes.items():
        parts = path.split(".")
        if parts[0] == "units":
            parts = parts[1:]
        where = f"edition_changes.{path}"
        if len(parts) != _PATH_PARTS:
            raise ScenarioError(
                'no such value of an edition; expected "<squad type>.<field>" or "options.<name>"',
                field=where,
                source=source,
            )
        if parts[0] == "options":
            data["options"][parts[1]] = value
        else:
            data["units"][unit_name(parts[0], list(data["units"]), {}, field=where, source=source)][parts[1]] = value
        try:
            edition = parse_model(Edition, data, source=source)
        except ScenarioError as problem:
            raise problem.at(field=where) from None
    return edition
