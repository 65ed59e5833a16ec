"""Input models of general combat: editions, sides, policies and the scenario itself."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib.resources import files
from itertools import groupby
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BeforeValidator, Field, field_validator, model_validator

from simcore.enums import Side
from simcore.errors import ScenarioError, suggestion
from simcore.model import FrozenModel, parse_model, shown
from simcore.rulesets.general_combat.encoding import (
    AIRCRAFT,
    LAND_UNITS,
    MAX_LOSS_GROUPS,
    SHIPS,
    UNITS,
    LossForm,
    SubmergePolicy,
)
from simcore.unittext import format_units, parse_units, unit_name

__all__ = ["Edition", "GeneralCombatScenario", "Switches", "UnitStats", "builtin_editions", "parse_scenario"]

MAX_UNITS = 2_000
MAX_CYCLES = 2**20 - 1
DEFAULT_EDITION = "spring1942"
_PATH_PARTS = 2
_LOAD = 2
"""Units aboard a transport: one land unit and one infantry (2.2)."""

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

# Orders in which units are lost unless a scenario says otherwise.
_DEFAULT_ORDER = {
    Side.ATTACKER: (
        "battleship:damage", "carrier:damage", "aa_gun", "infantry", "mech_infantry", "artillery", "tank", "submarine",
        "destroyer", "fighter", "tactical_bomber", "cruiser", "bomber", "carrier", "battleship", "transport",
    ),
    Side.DEFENDER: (
        "battleship:damage", "carrier:damage", "aa_gun", "infantry", "mech_infantry", "artillery", "tank", "bomber",
        "submarine", "destroyer", "carrier", "cruiser", "fighter", "tactical_bomber", "battleship", "transport",
    ),
}  # fmt: skip
_DAMAGE = ":damage"
_TWO_HIT_SHIPS = ("battleship", "carrier")


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

    @field_validator("units")
    @classmethod
    def _two_hit_ships(cls, units: dict[str, UnitStats]) -> dict[str, UnitStats]:
        for name, stats in units.items():
            if stats.hits > 1 and name not in _TWO_HIT_SHIPS:
                raise ScenarioError(f"only {' and '.join(_TWO_HIT_SHIPS)} may take two hits", field=f"{name}.hits")
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


def _read_units(value: object) -> dict[str, int]:
    return parse_units(value, UNITS, ALIASES, most=MAX_UNITS)


def _as_json(editions: Mapping[str, Any], source: str) -> str:
    try:
        return json.dumps(editions, sort_keys=True)
    except (TypeError, ValueError, RecursionError):
        raise ScenarioError(
            "must hold nothing but tables, lists, text, numbers, true and false", field="editions", source=source
        ) from None


@lru_cache(maxsize=64)
def _own_editions(text: str, source: str) -> dict[str, Edition]:
    """Parse inline editions once per sweep rather than once per matchup."""
    try:
        return parse_editions(json.loads(text), source=source)
    except ScenarioError as problem:
        raise problem.at(field=f"editions.{problem.field}" if problem.field else "editions") from None


Units = Annotated[dict[str, int], BeforeValidator(_read_units, json_schema_input_type=str | dict[str, int])]
TechnologyName = Literal[
    "super_submarines",
    "jet_fighters",
    "heavy_bombers",
    "radar",
    "advanced_artillery",
    "combined_bombardment",
    "long_range_aircraft",
]
LossPolicy = Literal["default", "cheapest", "weakest"]


def _read_loss_order(value: object) -> object:
    if isinstance(value, str):
        if value in {"default", "cheapest", "weakest"}:
            return value
        raise ScenarioError(
            f'must be a list of unit names or one of "default", "cheapest", "weakest", got {shown(value)}'
            + suggestion(value, ("default", "cheapest", "weakest"))
        )
    if not isinstance(value, list):
        raise ScenarioError(
            f'must be a list of unit names or one of "default", "cheapest", "weakest", got {shown(value)}'
        )
    order = []
    for entry in value:
        damage = isinstance(entry, str) and entry.strip().lower().endswith(_DAMAGE)
        name = unit_name(entry.strip()[: -len(_DAMAGE)] if damage else entry, UNITS, ALIASES)
        if damage:
            if name not in _TWO_HIT_SHIPS:
                raise ScenarioError(f"{shown(entry)}: only {' and '.join(_TWO_HIT_SHIPS)} can be damaged")
            name += _DAMAGE
        if name == "industrial_complex":
            raise ScenarioError("industrial_complex is never a casualty and cannot stand in an order of loss")
        if name in order:
            raise ScenarioError(f'"{name}" stands in the order twice')
        order.append(name)
    return order


LossOrder = Annotated[LossPolicy | list[str], BeforeValidator(_read_loss_order)]


class RetreatPolicy(FrozenModel):
    """When the attacker breaks off (GC-4.6.7); 0 and false are off, any true condition triggers."""

    possible: bool = Field(default=True, description="Whether a space to retreat to exists; aircraft alone need none")
    after_cycles: int = Field(default=0, ge=0, le=MAX_CYCLES, description="Retreat once this many cycles are fought")
    when_units_at_most: int = Field(default=0, ge=0, le=20_000, description="Retreat with this many units or fewer")
    when_only_aircraft: bool = Field(default=False, description="Retreat when only aircraft are left")
    when_transports_only: bool = Field(default=True, description="Retreat when only transports are left (GC-4.6.6)")

    @model_validator(mode="before")
    @classmethod
    def _needs_solver(cls, data: object) -> object:
        if isinstance(data, dict):
            for name in ("when_win_chance_below", "when_swing_negative"):
                if data.get(name):
                    raise ScenarioError(
                        f"{name} needs the exact solver, which this version does not have; "
                        "use after_cycles, when_units_at_most or when_only_aircraft"
                    )
            return {k: v for k, v in data.items() if k not in {"when_win_chance_below", "when_swing_negative"}}
        return data


class Outnumbered(FrozenModel):
    """Submerge when so many enemies that can hit submarines face each own one."""

    outnumbered: float = Field(ge=0.001, le=1_000, description="Enemy units per own submarine, to three decimals")


def _read_submerge(value: object) -> object:
    if isinstance(value, str) and value not in _SUBMERGE_POLICIES:
        raise ScenarioError(
            f'must be "never", "always", "facing_aircraft" or {{ outnumbered = 1.5 }}, got {shown(value)}'
            + suggestion(value, _SUBMERGE_POLICIES)
        )
    return value


_SUBMERGE_POLICIES = ("never", "always", "facing_aircraft")
Submerge = Annotated[Literal["never", "always", "facing_aircraft"] | Outnumbered, BeforeValidator(_read_submerge)]


class LossGroup(NamedTuple):
    """One row of a side: units in order of loss, or ships in another state."""

    unit: str
    size: int
    cost: int
    form: LossForm = LossForm.UNIT


class DefenderSide(FrozenModel):
    """The defending stack."""

    units: Units = Field(default_factory=dict, description='Units as text ("10 infantry, 5 tank") or table')
    loss_order: LossOrder = Field(default="default", description="Order in which units are lost, or a named policy")
    technologies: list[TechnologyName] = Field(default_factory=list, description="Technologies of this side")
    damaged: Units = Field(default_factory=dict, description="Of the units, two-hit ships that are hit already")
    submerge: Submerge = Field(default="never", description="When submarines submerge instead of firing")
    cargo: list[Units] = Field(
        default_factory=list, max_length=MAX_UNITS, description="Land units aboard, one entry per loaded transport"
    )


class AttackerSide(DefenderSide):
    """The attacking stack."""

    keep_land: int = Field(
        default=0, ge=0, le=20_000, description="Last land units of the order, lost after everything else"
    )
    retreat: RetreatPolicy = RetreatPolicy()

    @field_validator("units")
    @classmethod
    def _no_installations(cls, units: dict[str, int]) -> dict[str, int]:
        for unit in ("aa_gun", "industrial_complex"):
            if units.get(unit):
                raise ScenarioError(f"{unit} cannot attack; it may only stand on the defender's side")
        return units


class Territory(FrozenModel):
    """What is fought over."""

    value: int = Field(default=0, ge=0, le=1_000, description="Income value, gained by a capture (GC-4.7.3)")


class Fire(NamedTuple):
    """How a unit fires: odds as (numerator, denominator) per die."""

    plain: tuple[int, int]
    supported: tuple[int, int] | None
    dice: int


class GeneralCombatScenario(FrozenModel):
    """One battle of general combat, checked and complete."""

    ruleset: Literal["general_combat"] = "general_combat"
    edition: str = Field(default=DEFAULT_EDITION, description="Name of a built-in edition or of one in edition_file")
    edition_file: str | None = Field(
        default=None, description="TOML file with editions of your own, relative to this file"
    )
    editions: dict[str, Any] = Field(default_factory=dict, description="Editions of your own, in place of a file")
    edition_changes: dict[str, Any] = Field(
        default_factory=dict, description='Single values of the edition changed, as in {"tank.cost" = 5}'
    )
    switches: dict[str, Any] = Field(default_factory=dict, description="Switches of the edition overridden")
    terrain: Literal["land", "sea"] = Field(default="land", description="Kind of battle")
    cycle_limit: int = Field(default=0, ge=0, le=MAX_CYCLES, description="Stop after this many cycles; 0 = to the end")
    low_luck: Literal["none", "combat", "aa", "both"] = Field(
        default="none", description="Where low luck replaces dice"
    )
    attacker: AttackerSide = AttackerSide()
    defender: DefenderSide = DefenderSide()
    territory: Territory = Territory()
    rules: Edition = Field(exclude=True, json_schema_extra={"internal": True})

    @model_validator(mode="after")
    def _check(self) -> GeneralCombatScenario:
        for side in Side:
            counts = self.counts(side)
            name = side.name.lower()
            for unit in counts:
                if unit not in self.rules.units:
                    allowed = ", ".join(u for u in UNITS if u in self.rules.units)
                    raise ScenarioError(
                        f'unit "{unit}" does not exist in edition "{self.edition}"; it has: {allowed}',
                        field=f"{name}.units",
                    )
                if (unit in SHIPS) != (self.terrain == "sea") and unit not in AIRCRAFT:
                    raise ScenarioError(f"{unit} cannot take part in a {self.terrain} battle", field=f"{name}.units")
            self._check_damage(side, f"{name}.damaged")
            self._check_cargo(side, name)
            if self.terrain == "land" and self._side(side).submerge != "never":
                raise ScenarioError("submarines take no part in a land battle (3.3)", field=f"{name}.submerge")
            technologies = self._side(side).technologies
            if technologies and self.rules.switches.tech == "none":
                raise ScenarioError(
                    f'edition "{self.edition}" has no technologies, got {shown(technologies[0])}; '
                    'editions with technologies: aa50, revised, global40_2nd, or set switches.tech = "optional"',
                    field=f"{name}.technologies",
                )
            if len(set(technologies)) != len(technologies):
                raise ScenarioError("a technology is named twice", field=f"{name}.technologies")
        if self.terrain == "sea":
            self._check_no_land()
        if not self.counts(Side.ATTACKER) and not self.counts(Side.DEFENDER):
            raise ScenarioError("both sides are empty; at least one unit is needed", field="attacker.units")
        return self

    def _check_no_land(self) -> None:
        if self.attacker.keep_land:
            raise ScenarioError("there are no land units to keep in a sea battle", field="attacker.keep_land")
        if self.territory.value:
            raise ScenarioError("there is no territory to win in a sea battle (4.7.2)", field="territory.value")

    def _check_damage(self, side: Side, field: str) -> None:
        counts = self.counts(side)
        for unit, count in self._side(side).damaged.items():
            if unit not in self.rules.units or self.rules.units[unit].hits == 1:
                raise ScenarioError(
                    f'{unit} takes one hit in edition "{self.edition}" and cannot be damaged', field=field
                )
            if count > counts.get(unit, 0):
                raise ScenarioError(f"{count} damaged {unit}, but the side has {counts.get(unit, 0)}", field=field)

    def _check_cargo(self, side: Side, name: str) -> None:
        cargo = self._side(side).cargo
        transports = self.counts(side).get("transport", 0)
        if len(cargo) > transports:
            raise ScenarioError(
                f"{len(cargo)} loads, but the side has {transports} transports (one entry per loaded transport)",
                field=f"{name}.cargo",
            )
        for i, load in enumerate(cargo):
            total, infantry = sum(load.values()), load.get("infantry", 0)
            aboard = {unit for unit in load if unit in self.rules.units and unit in (*LAND_UNITS, "aa_gun")}
            if aboard != set(load) or not 1 <= total <= _LOAD or total - infantry > 1:
                raise ScenarioError(
                    f"a transport carries one land unit and one infantry, got {shown(format_units(load))}",
                    field=f"{name}.cargo[{i}]",
                )
        if len(self.loss_groups(side)) > MAX_LOSS_GROUPS:
            raise ScenarioError(
                "too many different loads one after the other; list equal loads together", field=f"{name}.cargo"
            )

    def _side(self, side: Side) -> DefenderSide:
        return self.attacker if side == Side.ATTACKER else self.defender

    def counts(self, side: int) -> dict[str, int]:
        """Return the units of a side by name, in table order, only counts above 0."""
        units = self._side(Side(side)).units
        return {unit: units[unit] for unit in UNITS if units.get(unit)}

    def casualties(self, side: int) -> dict[str, int]:
        """Return those units of a side that can be lost: guns and complexes that are captured are no casualties."""
        possible = {group.unit for group in self.loss_groups(Side(side))}
        return {unit: count for unit, count in self.counts(side).items() if unit in possible}

    def unit_text(self, side: int) -> str:
        """Return the canonical unit list of a side."""
        return format_units(self.counts(side))

    def canonical(self) -> dict[str, Any]:
        """Return everything that can change a result; file names and titles cannot."""
        data = self.model_dump(exclude={"edition_file", "editions", "edition_changes", "switches", "rules"})
        for side in Side:
            data[side.name.lower()]["units"] = self.counts(side)
            data[side.name.lower()]["damaged"] = {unit: n for unit, n in self._side(side).damaged.items() if n}
            data[side.name.lower()]["cargo"] = [format_units(load) for load in self._side(side).cargo]
            data[side.name.lower()]["technologies"] = sorted(data[side.name.lower()]["technologies"])
        data["rules"] = self.rules.model_dump(exclude={"name", "title"})
        return data

    def cost(self, side: int) -> int:
        """Return the cost of the units that can be lost: captured guns and complexes do not count."""
        return sum(group.size * group.cost for group in self.loss_groups(Side(side)))

    def _has(self, side: Side, technology: TechnologyName) -> bool:
        return technology in self._side(side).technologies

    def value(self, side: Side, unit: str) -> int:
        """Return a unit's value in its role, technologies included, at most the sides of the die."""
        stats = self.rules.units[unit]
        value = stats.attack if side == Side.ATTACKER else stats.defence
        jets = "attack" if side == Side.ATTACKER else "defence"
        if unit == "submarine" and side == Side.ATTACKER and self._has(side, "super_submarines"):
            value += 1
        if unit == "fighter" and self._has(side, "jet_fighters") and self.rules.switches.jet_fighters == jets:
            value += 1
        return min(value, self.rules.dice_sides)

    def fire(self, side: Side, unit: str) -> Fire:
        """Return how units of a type fire in steps 3 and 4 (GC-4.3.3, GC-7)."""
        sides = self.rules.dice_sides
        value = self.value(side, unit)
        if unit in {"aa_gun", "industrial_complex"}:  # no value in steps 3 and 4 (GC-4.0.5)
            return Fire((0, sides), None, 1)
        if side == Side.ATTACKER and unit == "bomber" and self._has(side, "heavy_bombers"):
            if self.rules.switches.heavy_bombers == "both_dice":
                return Fire((value, sides), None, 2)
            return Fire((sides**2 - (sides - value) ** 2, sides**2), None, 1)
        supported = self.rules.units[unit].supported_attack
        if side == Side.ATTACKER and supported is not None and unit in {"infantry", "mech_infantry", "tactical_bomber"}:
            return Fire((value, sides), (min(supported, sides), sides), 1)
        return Fire((value, sides), None, 1)

    def low_luck_points(self, side: Side) -> int:
        """Return how many low-luck points make a sure hit; best-of-two bombers need finer points."""
        sides = self.rules.dice_sides
        best = self._has(side, "heavy_bombers") and self.rules.switches.heavy_bombers == "best_of_two"
        return sides**2 if side == Side.ATTACKER and best else sides

    @property
    def aa_value(self) -> int:
        """Value of antiaircraft fire: 1, or 2 with the defender's radar (GC-4.0.1, GC-7)."""
        return 2 if self._has(Side.DEFENDER, "radar") else 1

    @property
    def per_artillery(self) -> int:
        """Infantry that one artillery supports: 1, or 2 with advanced artillery (GC-4.3.3, GC-7)."""
        return 2 if self._has(Side.ATTACKER, "advanced_artillery") else 1

    def submerge_policy(self, side: Side) -> tuple[SubmergePolicy, int]:
        """Return a side's policy and, for `outnumbered`, the enemies per thousand own submarines."""
        policy = self._side(side).submerge
        if isinstance(policy, Outnumbered):
            return SubmergePolicy.OUTNUMBERED, round(1_000 * policy.outnumbered)
        return SubmergePolicy[policy.upper()], 0

    def _loss_order(self, side: Side) -> list[str]:
        """Return every possible entry in a side's order of loss (GC-4.8.5, GC-4.8.6)."""
        policy = self._side(side).loss_order
        order = list(_DEFAULT_ORDER[side])
        damage = [entry for entry in order if entry.endswith(_DAMAGE)]
        units = [entry for entry in order if not entry.endswith(_DAMAGE)]
        if isinstance(policy, list):
            # Damage costs nothing, so it comes first unless the list says otherwise.
            order = [*(d for d in damage if d not in policy), *policy, *(u for u in units if u not in policy)]
        elif policy != "default":
            known = [unit for unit in units if unit in self.rules.units]
            cost = {unit: self.rules.units[unit].cost for unit in known}
            value = {unit: self.value(side, unit) for unit in known}
            first, second = (cost, value) if policy == "cheapest" else (value, cost)
            order = [*damage, *sorted(known, key=lambda unit: (first[unit], second[unit]))]
        if self.rules.switches.tt_last:
            order = [*(entry for entry in order if entry != "transport"), "transport"]
        return order

    def loss_groups(self, side: Side) -> list[LossGroup]:
        """Return a side's rows: units in the order in which the owner loses them, then ships in other states."""
        counts = self.counts(side)
        counts.pop("industrial_complex", None)
        if self.rules.switches.aa_fate == "captured":
            counts.pop("aa_gun", None)
        damaged = self._side(side).damaged
        two_hit = [unit for unit in counts if self.rules.units[unit].hits > 1]
        groups: list[LossGroup] = []
        for entry in self._loss_order(side):
            unit = entry.removesuffix(_DAMAGE)
            if unit not in counts or (entry != unit and unit not in two_hit):
                continue
            cost = self.rules.units[unit].cost
            if unit == "transport":
                groups += self._transports(side, counts[unit], cost)
            elif unit not in two_hit:
                groups.append(LossGroup(unit, counts[unit], cost))
            elif entry == unit:
                groups.append(LossGroup(unit, counts[unit] - damaged.get(unit, 0), cost, LossForm.HULL))
            else:
                groups.append(LossGroup(unit, 0, cost, LossForm.DAMAGE))
        if side == Side.ATTACKER:
            groups = _kept_last(groups, self.attacker.keep_land)
        for unit in two_hit:
            groups.append(LossGroup(unit, damaged.get(unit, 0), self.rules.units[unit].cost, LossForm.DAMAGED))
        if "submarine" in counts:
            groups.append(LossGroup("submarine", 0, self.rules.units["submarine"].cost, LossForm.SUBMERGED))
        return groups

    def _transports(self, side: Side, count: int, cost: int) -> list[LossGroup]:
        """Return a side's transports in order of loss: empty ones first, then the loaded ones as listed."""
        loads = [sum(n * self.rules.units[unit].cost for unit, n in load.items()) for load in self._side(side).cargo]
        groups = [LossGroup("transport", count - len(loads), cost)] if count > len(loads) else []
        for load, run in groupby(loads):
            groups.append(LossGroup("transport", len(list(run)), cost + load))
        return groups


def _kept_last(groups: list[LossGroup], keep: int) -> list[LossGroup]:
    """Move the last `keep` land units of an order behind everything else."""
    front: list[LossGroup] = []
    kept: list[LossGroup] = []
    for group in reversed(groups):
        moved = min(group.size, keep) if group.unit in LAND_UNITS else 0
        keep -= moved
        if moved:
            kept.insert(0, group._replace(size=moved))
        if not moved or group.size > moved:
            front.insert(0, group._replace(size=group.size - moved))
    return front + kept


def _changed_edition(edition: Edition, changes: Mapping[str, Any], field: str, source: str) -> Edition:
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


def parse_scenario(data: Mapping[str, Any], source: str = "") -> GeneralCombatScenario:
    """Check a scenario table and complete it with its edition.

    Parameters
    ----------
    data : mapping
        The scenario as read from TOML or given in Python; an `edition_file` must already be read into
        `editions`.
    source : str
        File name for error messages.

    Returns
    -------
    GeneralCombatScenario

    Raises
    ------
    ScenarioError
        Names the field, the value and what is allowed.
    """
    if "rules" in data:
        raise ScenarioError("unknown field; use edition, edition_changes or switches", field="rules", source=source)
    own = data.get("editions", {})
    if not isinstance(own, Mapping):
        raise ScenarioError(f"must be a table of editions, got {shown(own)}", field="editions", source=source)
    known = {
        **builtin_editions(),
        **(_own_editions(_as_json(own, source), source) if own else {}),
    }
    name = data.get("edition", DEFAULT_EDITION)
    if not isinstance(name, str):
        raise ScenarioError(f"must be the name of an edition, got {shown(name)}", field="edition", source=source)
    if name not in known:
        raise ScenarioError(
            f"unknown edition {shown(name)}{suggestion(name, known)}; known: {', '.join(sorted(known))}",
            field="edition",
            source=source,
        )
    edition = known[name]
    for field, start in (("edition_changes", ""), ("switches", "switches.")):
        changes = data.get(field, {})
        if not isinstance(changes, Mapping):
            raise ScenarioError(f"must be a table, got {shown(changes)}", field=field, source=source)
        if changes:
            changes = {start + str(key): value for key, value in changes.items()}
            edition = _changed_edition(edition, changes, "" if start else field, source)
    return parse_model(GeneralCombatScenario, {**data, "rules": edition}, source=source)
