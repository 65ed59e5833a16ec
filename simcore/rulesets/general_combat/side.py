"""The two sides of a battle as a scenario describes them: units, policies, technologies."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, field_validator, model_validator

from simcore.errors import ScenarioError, suggestion
from simcore.model import FrozenModel, shown
from simcore.rulesets.general_combat.edition import ALIASES, TWO_HIT_SHIPS
from simcore.rulesets.general_combat.encoding import UNITS
from simcore.unittext import format_units, parse_units, unit_name

__all__ = [
    "ALL_LAND",
    "DAMAGE",
    "MAX_CYCLES",
    "WISHES",
    "AttackerSide",
    "DecisionName",
    "DefenderSide",
    "Optimal",
    "Outnumbered",
    "RaidTarget",
    "RetreatPolicy",
    "SeaAttacker",
    "SeaDefender",
    "SeaPart",
    "TechnologyName",
    "Territory",
    "Units",
    "read_units",
]

MAX_UNITS = 2_000
MAX_CYCLES = 2**20 - 1
MAX_DAMAGE = 1_000_000
ALL_LAND = "all"
_LONGEST_NAME = 100
_MOST_OUTNUMBERED = 1_000
WISHES = ("when_win_chance_below", "when_swing_negative")
"""Fields of a retreat policy that scenarios without them do not have in their identity: they came later."""
DAMAGE = ":damage"
"""Ends the entries of an order of loss that stand for the first hit on a two-hit ship."""


def read_units(value: object) -> dict[str, int]:
    """Return units given as text or as a table."""
    return parse_units(value, UNITS, ALIASES, most=MAX_UNITS)


Units = Annotated[dict[str, int], BeforeValidator(read_units, json_schema_input_type=str | dict[str, int])]
TechnologyName = Literal[
    "super_submarines",
    "jet_fighters",
    "heavy_bombers",
    "radar",
    "advanced_artillery",
    "combined_bombardment",
    "long_range_aircraft",
]
_POSITION = {unit: i for i, unit in enumerate(UNITS)}

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
        damage = isinstance(entry, str) and entry.strip().lower().endswith(DAMAGE)
        name = unit_name(entry.strip()[: -len(DAMAGE)] if damage else entry, UNITS, ALIASES)
        if damage:
            if name not in TWO_HIT_SHIPS:
                raise ScenarioError(f"{shown(entry)}: only {' and '.join(TWO_HIT_SHIPS)} can be damaged")
            name += DAMAGE
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
    when_win_chance_below: float = Field(
        default=0.0, ge=0.0, le=1.0, description="Retreat when the chance to win by going on is smaller"
    )
    when_swing_negative: bool = Field(
        default=False, description="Retreat when going on costs the attacker more than the defender"
    )

    @field_validator("when_win_chance_below", mode="before")
    @classmethod
    def _is_number(cls, value: object) -> object:
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            raise ScenarioError(f"must be a number from 0 (off) to 1, got {shown(value)}")
        return value

    @cached_property
    def looks_ahead(self) -> bool:
        """Whether it needs to be known how the battle would go on."""
        return self.when_win_chance_below > 0 or self.when_swing_negative


GoalName = Literal["win", "capture", "swing"]
DecisionName = Literal["casualties", "retreat", "submerge"]


class Optimal(FrozenModel):
    """Optimal play by one side, given the other's policy."""

    goal: GoalName = Field(default="win", description="What the side is after")
    decisions: list[DecisionName] = Field(
        default_factory=list, description="What it decides by its goal; default: all that it can in such a battle"
    )


class Outnumbered(FrozenModel):
    """Submerge when so many enemies that can hit submarines face each own one."""

    outnumbered: float = Field(ge=0.001, le=1_000, description="Enemy units per own submarine, to three decimals")


def _read_submerge(value: object) -> object:
    if isinstance(value, Outnumbered) or (isinstance(value, str) and value in _SUBMERGE_POLICIES):
        return value
    ratio = value.get("outnumbered") if isinstance(value, dict) and set(value) == {"outnumbered"} else None
    is_number = isinstance(ratio, int | float) and not isinstance(ratio, bool)
    if is_number and 1 / _MOST_OUTNUMBERED <= ratio <= _MOST_OUTNUMBERED:  # type: ignore[operator]
        return value
    near = suggestion(value, _SUBMERGE_POLICIES) if isinstance(value, str) else ""
    raise ScenarioError(
        'must be "never", "always", "facing_aircraft" or { outnumbered = x } with x from 0.001 to 1,000, '
        f"got {shown(value)}{near}"
    )


_SUBMERGE_POLICIES = ("never", "always", "facing_aircraft")
Submerge = Annotated[Literal["never", "always", "facing_aircraft"] | Outnumbered, BeforeValidator(_read_submerge)]


class SeaDefender(FrozenModel):
    """What every side of a battle has; as `[sea.defender]` the defender in the sea battle before a landing."""

    units: Units = Field(default_factory=dict, description='Units as text ("10 infantry, 5 tank") or table')
    loss_order: LossOrder = Field(default="default", description="Order in which units are lost, or a named policy")
    damaged: Units = Field(default_factory=dict, description="Of the units, two-hit ships that are hit already")
    submerge: Submerge = Field(default="never", description="When submarines submerge instead of firing")
    cargo: list[Units] = Field(
        default_factory=list, max_length=MAX_UNITS, description="Land units aboard, one entry per loaded transport"
    )

    @cached_property
    def ordered(self) -> dict[str, int]:
        """Its units in table order, only counts above 0; not to be changed."""
        return {unit: self.units[unit] for unit in sorted(self.units, key=_POSITION.__getitem__) if self.units[unit]}


class SeaAttacker(SeaDefender):
    """The attacker in the sea battle before a landing."""

    retreat: RetreatPolicy = RetreatPolicy()

    @field_validator("units")
    @classmethod
    def _no_installations(cls, units: dict[str, int]) -> dict[str, int]:
        for unit in ("aa_gun", "industrial_complex"):
            if units.get(unit):
                raise ScenarioError(f"{unit} cannot attack; it may only stand on the defender's side")
        return units


class SeaPart(FrozenModel):
    """The sea battle before a landing (GC-5.1)."""

    attacker: SeaAttacker = SeaAttacker()
    defender: SeaDefender = SeaDefender()


class DefenderSide(SeaDefender):
    """The defending stack."""

    technologies: list[TechnologyName] = Field(default_factory=list, description="Technologies of this side")
    optimal: Optimal | None = Field(default=None, description="Play this side as well as can be, in place of policies")

    @cached_property
    def canonical(self) -> dict[str, Any]:
        """All of the side that can change a battle on land in which nobody looks ahead, as JSON-able data.

        Not to be changed: sweeps recognise by the object that it was written out before.
        """
        data = self.model_dump(exclude={"optimal"})
        data["units"] = self.ordered
        data["damaged"] = {unit: n for unit, n in self.damaged.items() if n}
        data["cargo"] = [format_units(load) for load in self.cargo]
        data["technologies"] = sorted(data["technologies"])
        for name in WISHES:
            data.get("retreat", {}).pop(name, None)
        return data


def _read_landed(value: object) -> object:
    return value if value == ALL_LAND else read_units(value)


Landed = Annotated[Literal["all"] | dict[str, int], BeforeValidator(_read_landed)]


class AttackerSide(SeaAttacker, DefenderSide):
    """The attacking stack."""

    landed: Landed = Field(
        default_factory=dict, description='Of the units, those landed from transports; "all" = every land unit'
    )
    bombard: Units = Field(default_factory=dict, description="Ships that bombard before a landing")
    keep_land: int = Field(
        default=0, ge=0, le=20_000, description="Last land units of the order, lost after everything else"
    )


class Territory(FrozenModel):
    """What is fought over (GC-4.7)."""

    value: int | None = Field(default=None, ge=0, le=1_000, description="Income value, gained by a capture (GC-4.7.3)")
    owner: str = Field(default="defender", description="Name of the power that holds it, for the story")
    original_owner: Literal["defender", "attacker", "friend"] = Field(
        default="defender", description="Whose it was in the beginning, as the attacker sees it (GC-4.7.5)"
    )
    original_capital_held_by: Literal["friend", "enemy"] = Field(
        default="friend", description="In whose hands that friend's capital is (GC-4.7.5)"
    )
    capital: bool = Field(default=False, description="Whether it is the capital of its original owner (GC-4.7.6)")
    treasury: int = Field(default=0, ge=0, le=1_000_000, description="Unspent money of the owner (GC-4.7.6)")

    @field_validator("owner")
    @classmethod
    def _one_line(cls, owner: str) -> str:
        if not 1 <= len(owner) <= _LONGEST_NAME or not owner.isprintable() or not owner.strip():
            raise ScenarioError(f"must be one line of 1 to {_LONGEST_NAME} characters, got {shown(owner)}")
        return owner

    @model_validator(mode="after")
    def _capital_of_a_friend(self) -> Territory:
        if self.original_capital_held_by == "enemy" and self.original_owner != "friend":
            raise ScenarioError('matters only with original_owner = "friend" (4.7.5)', field="original_capital_held_by")
        return self

    @property
    def is_liberated(self) -> bool:
        """Whether a capture gives the territory back to a friend (GC-4.7.5)."""
        return self.original_owner == "friend" and (self.capital or self.original_capital_held_by == "friend")

    @property
    def spoils(self) -> int:
        """Money that a capture brings (GC-4.7.6)."""
        return self.treasury if self.capital and self.original_owner == "defender" else 0

    @cached_property
    def canonical(self) -> dict[str, Any]:
        """All its fields as JSON-able data; not to be changed."""
        return self.model_dump()


def _read_cap(value: object) -> object:
    is_number = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_DAMAGE
    if is_number or (isinstance(value, str) and value in {"edition", "none"}):
        return value
    raise ScenarioError(f'must be "edition", "none" or a whole number from 0 to {MAX_DAMAGE:,}, got {shown(value)}')


Cap = Annotated[Literal["edition", "none"] | int, BeforeValidator(_read_cap)]


class RaidTarget(FrozenModel):
    """What a raid is flown against (GC-6)."""

    target: Literal["complex", "minor_complex", "major_complex", "air_base", "naval_base"] | None = Field(
        default=None, description="Facility; default: complex, or minor_complex where facilities have caps of their own"
    )
    damaged: int = Field(default=0, ge=0, le=MAX_DAMAGE, description="Damage that is on it already")
    air_battle: bool | None = Field(
        default=None, description="Whether interceptors and escorts fight first; default: as the edition says"
    )
    cap: Cap = Field(default="edition", description="Most damage that the target can have")

    @cached_property
    def canonical(self) -> dict[str, Any]:
        """All its fields as JSON-able data; not to be changed."""
        return self.model_dump()
