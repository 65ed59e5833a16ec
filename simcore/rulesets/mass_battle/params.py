"""The scenario of mass battle, checked and complete: what the encoder and the stories ask it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, field_validator, model_validator

from simcore.enums import Side
from simcore.errors import ScenarioError, suggestion
from simcore.model import FrozenModel, parse_model, shown
from simcore.rulesets.mass_battle.edition import (
    DEFAULT_EDITION,
    Edition,
    Options,
    builtin_editions,
    changed_edition,
    own_editions,
)
from simcore.rulesets.mass_battle.encoding import MAX_CHARACTERS, MAX_ODDS_DICE, MAX_POOL, TYPES
from simcore.unittext import format_units, parse_units

__all__ = ["ArmySide", "Character", "MassBattleScenario", "parse_scenario", "squad_types"]

MAX_SQUADS = 2_000
"""Squads of one type in an army."""
_MOST_TURNS = 1_000
"""Turns that can have a pool or modifier of their own."""


class Character(FrozenModel):
    """Somebody who may halt one squad in flight each turn (MB-7 to MB-9, MA-16)."""

    skill: int = Field(ge=-MAX_ODDS_DICE, le=MAX_ODDS_DICE, description="Pool of Leadership or Acting")
    route: Literal["squad", "army"] = Field(
        default="squad", description="Roll against the squad's size, or against that of the whole army"
    )
    army_modifier: int = Field(default=0, ge=-20, le=20, description="What the roll loses to the size of the army")

    def pool(self, size_class: int) -> int:
        """Return the pool of the roll for a squad of a size class, within what can be rolled."""
        pool = self.skill - (self.army_modifier if self.route == "army" else size_class)
        return max(-MAX_ODDS_DICE, min(MAX_ODDS_DICE, pool))


def _read_turns(value: object) -> object:
    """Check a number, or a list with one for each turn."""
    entries = value if isinstance(value, list) else [value]
    for entry in entries:
        if isinstance(entry, bool) or not isinstance(entry, int) or not -MAX_POOL <= entry <= MAX_POOL:
            raise ScenarioError(
                f"must be a whole number from {-MAX_POOL:,} to {MAX_POOL:,}, or a list of them, one a turn, "
                f"got {shown(entry)}"
            )
    if not 1 <= len(entries) <= _MOST_TURNS:
        raise ScenarioError(f"a list holds 1 to {_MOST_TURNS:,} turns, got {len(entries):,}")
    return value


PerTurn = Annotated[int | list[int], BeforeValidator(_read_turns)]


class ArmySide(FrozenModel):
    """One army (MA-2, MA-3, MA-16, MA-21)."""

    units: dict[str, int] = Field(
        default_factory=dict,
        description='Squads, as in "8 squad, 2 mobile_squad" or { squad = 8 }',
        json_schema_extra={"type": ["string", "object"]},
    )
    support_dice: int = Field(default=0, ge=0, le=MAX_POOL, description="Dice of support forces, which are never hit")
    pool_modifier: PerTurn = Field(
        default=0, description="Added to the pool; a list gives one for each turn, the last one holds on"
    )
    pool: PerTurn | None = Field(
        default=None, description='The pool itself, with options.pool_model = "fixed"; a list as above'
    )
    can_flee: bool = Field(default=True, description="Whether the broken army can flee")
    characters: list[Character] = Field(default_factory=list, max_length=MAX_CHARACTERS, description="Who may rally")

    @field_validator("units", mode="before")
    @classmethod
    def _only_read(cls, value: object) -> object:
        # Which squad types there are depends on the edition: `parse_scenario` has read the list.
        return value

    @property
    def modifiers(self) -> list[int]:
        """Modifier of the pool in each turn."""
        return self.pool_modifier if isinstance(self.pool_modifier, list) else [self.pool_modifier]

    @property
    def pools(self) -> list[int]:
        """Fixed pool in each turn, 0 where there is none."""
        if self.pool is None:
            return [0]
        return self.pool if isinstance(self.pool, list) else [self.pool]


class MassBattleScenario(FrozenModel):
    """One mass battle, checked and complete."""

    ruleset: Literal["mass_battle"] = "mass_battle"
    edition: str = Field(default=DEFAULT_EDITION, description="Name of a built-in edition or of one in edition_file")
    edition_file: str | None = Field(
        default=None, description="TOML file with editions of your own, relative to this file"
    )
    editions: dict[str, Any] = Field(default_factory=dict, description="Editions of your own, in place of a file")
    edition_changes: dict[str, Any] = Field(
        default_factory=dict, description='Single values of the edition changed, as in {"squad.cost" = 2}'
    )
    options: Options = Field(default=Options(), description="Readings of the rules; default: those of the edition")
    attacker: ArmySide = ArmySide()
    defender: ArmySide = ArmySide()
    rules: Edition = Field(exclude=True, json_schema_extra={"internal": True})

    @model_validator(mode="after")
    def _check(self) -> MassBattleScenario:
        if not self.counts(Side.ATTACKER) and not self.counts(Side.DEFENDER):
            raise ScenarioError("both armies are empty; at least one squad is needed", field="attacker.units")
        for side in Side:
            army, name = self.side(side), side.name.lower()
            if army.pool is None and self.chosen.pool_model == "fixed":
                raise ScenarioError('is needed with options.pool_model = "fixed" (MA-2)', field=f"{name}.pool")
            if army.pool is not None and self.chosen.pool_model != "fixed":
                raise ScenarioError('needs options.pool_model = "fixed" (MA-2)', field=f"{name}.pool")
            low, high = self.pool_range(side)
            if high > MAX_POOL or 2 - low > MAX_POOL:
                found = high if high > MAX_POOL else 2 - low
                raise ScenarioError(
                    f"the army could roll up to {found:,} dice at once; at most {MAX_POOL:,} are possible "
                    "(squads x dice, support_dice, pool_modifier)",
                    field=f"{name}.units",
                )
        return self

    @property
    def chosen(self) -> Options:
        """Options in force: those of the edition, and over them those of the scenario."""
        return self.rules.options

    def side(self, side: int) -> ArmySide:
        """Return one army."""
        return self.attacker if side == Side.ATTACKER else self.defender

    def _forces(self, side: Side) -> tuple[int, int]:
        """Return the least and the largest sum of dice of an army that can attack."""
        dice = {unit: self.rules.units[unit].dice for unit in self.counts(side)}
        army = self.side(side)
        most = sum(count * dice[unit] for unit, count in self.counts(side).items())
        low = min(dice.values(), default=0) + army.support_dice + min(army.modifiers)
        return low, most + army.support_dice + max(army.modifiers)

    def pool_range(self, side: Side) -> tuple[int, int]:
        """Return bounds of an army's pool (MA-2)."""
        army = self.side(side)
        if self.chosen.pool_model == "fixed":
            return min(army.pools) + min(army.modifiers), max(army.pools) + max(army.modifiers)
        low, high = self._forces(side)
        if self.chosen.pool_model == "difference":
            enemy = self.side(Side(1 - side))
            least = enemy.support_dice + min(enemy.modifiers)
            return low - self._forces(Side(1 - side))[1], high - least
        return low, high

    @cached_property
    def most_dice(self) -> int:
        """Most dice that are ever thrown together."""
        ranges = [self.pool_range(side) for side in Side]
        return max(1, *(high for _, high in ranges), *(2 - low for low, _ in ranges))

    def remembers_flight(self, side: Side) -> bool:
        """Whether squads that nobody has halted still matter in their turn: they can be caught, or try again."""
        return self._remembers[side]

    @cached_property
    def _remembers(self) -> tuple[bool, ...]:
        return tuple(self._matters_in_flight(side) for side in Side)

    def _matters_in_flight(self, side: Side) -> bool:
        options = self.chosen
        if options.rally_attempts == "unlimited":
            return True
        enemies = self.counts(Side(1 - side))
        is_chased = not self.side(side).can_flee or any(self.rules.units[unit].mobile for unit in enemies)
        return options.pursuit_scope == "in_flight" and is_chased

    @property
    def kind(self) -> str:
        """Battles of this ruleset are of one kind."""
        return ""

    def counts(self, side: int) -> dict[str, int]:
        """Return the squads of an army by type, in table order, only counts above 0."""
        units = self.side(side).units
        return {unit: units[unit] for unit in self.rules.units if units.get(unit)}

    def casualties(self, side: int) -> dict[str, int]:
        """Return the squads that can be lost: all."""
        return self.counts(side)

    def counted_as(self, unit: str) -> str:
        """Return the name under which accumulators count a squad type."""
        return TYPES[list(self.rules.units).index(unit)]

    def unit_text(self, side: int) -> str:
        """Return the canonical list of an army's squads."""
        return format_units(self.counts(side))

    def canonical(self) -> dict[str, Any]:
        """Return everything that can change a result; file names and titles cannot."""
        data = self.model_dump(exclude={"edition_file", "editions", "edition_changes", "options", "rules"})
        for side in Side:
            data[side.name.lower()]["units"] = self.counts(side)
        data["rules"] = self.rules.model_dump(exclude={"name", "title", "units"})
        # A list, because the order of the squad types matters.
        data["rules"]["units"] = [[name, kind.model_dump()] for name, kind in self.rules.units.items()]
        return data

    def cost(self, side: int) -> int:
        """Return the cost of an army."""
        return sum(count * self.rules.units[unit].cost for unit, count in self.counts(side).items())

    def extra_means(self) -> dict[str, str]:
        """Return the means that only some battles have: none."""
        return {}


def _edition_of(data: Mapping[str, Any], source: str) -> Edition:
    """Return the edition of a scenario table, with its changes and options."""
    own = data.get("editions", {})
    if not isinstance(own, Mapping):
        raise ScenarioError(f"must be a table of editions, got {shown(own)}", field="editions", source=source)
    known = {**builtin_editions(), **(own_editions(own, source) if own else {})}
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
    for field in ("edition_changes", "options"):
        table = data.get(field, {})
        if not isinstance(table, Mapping):
            raise ScenarioError(f"must be a table, got {shown(table)}", field=field, source=source)
    if data.get("edition_changes"):
        edition = changed_edition(edition, data["edition_changes"], source)
    if data.get("options"):
        chosen = {**edition.options.model_dump(), **data["options"]}
        options = parse_model(Options, chosen, source=source, prefix="options")
        edition = edition.model_copy(update={"options": options})
    return edition


def squad_types(data: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the squad types of a scenario table's edition, in table order.

    Parameters
    ----------
    data : mapping
        A scenario as for `parse_scenario`; its armies are not read.

    Returns
    -------
    tuple of str

    Raises
    ------
    ScenarioError
        For a faulty edition.
    """
    return tuple(_edition_of(data, "").units)


def parse_scenario(data: Mapping[str, Any], source: str = "") -> MassBattleScenario:
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
    MassBattleScenario

    Raises
    ------
    ScenarioError
        Names the field, the value and what is allowed.
    """
    if "rules" in data:
        raise ScenarioError("unknown field; use edition, edition_changes or options", field="rules", source=source)
    edition = _edition_of(data, source)
    complete = {**data, "options": edition.options.model_dump(), "rules": edition}
    for side in Side:
        name = side.name.lower()
        army = data.get(name, {})
        if isinstance(army, Mapping):
            try:
                units = parse_units(army.get("units", {}), list(edition.units), {}, most=MAX_SQUADS)
            except ScenarioError as problem:
                known = f'; edition "{edition.name}" has: {", ".join(edition.units)}'
                text = problem.problem + (known if problem.problem.startswith("unknown unit") else "")
                raise ScenarioError(text, field=f"{name}.units", source=source) from None
            complete[name] = {**army, "units": units}
    return parse_model(MassBattleScenario, complete, source=source)
