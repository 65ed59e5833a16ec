"""The scenario of general combat, checked and complete: what the encoder and the stories ask it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from itertools import groupby
from typing import Any, Literal, NamedTuple

from pydantic import Field, model_validator

from simcore.enums import Side
from simcore.errors import ScenarioError, suggestion
from simcore.model import FrozenModel, parse_model, shown
from simcore.rulesets.general_combat.edition import (
    DEFAULT_EDITION,
    Edition,
    builtin_editions,
    changed_edition,
    own_editions,
)
from simcore.rulesets.general_combat.encoding import (
    AIRCRAFT,
    BOMBARDERS,
    LAND_UNITS,
    MAX_LOSS_GROUPS,
    SHIPS,
    UNITS,
    LossForm,
    SubmergePolicy,
)
from simcore.rulesets.general_combat.side import (
    ALL_LAND,
    DAMAGE,
    MAX_CYCLES,
    WISHES,
    AttackerSide,
    DecisionName,
    DefenderSide,
    Optimal,
    Outnumbered,
    RaidTarget,
    RetreatPolicy,
    SeaPart,
    TechnologyName,
    Territory,
)
from simcore.unittext import format_units

__all__ = ["GeneralCombatScenario", "parse_scenario"]

_LOAD = 2
"""Units aboard a transport: one land unit and one infantry (2.2)."""
_DESTROYER_BOMBARDMENT = 3
"""Value of destroyers with combined bombardment (7)."""
_FACILITIES = ("minor_complex", "major_complex", "air_base", "naval_base")
_BASES = ("air_base", "naval_base")
_MAJOR_CAP = 20
_OTHER_CAP = 6
"""Damage that facilities can have (2.3 sbr_cap)."""

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


class LossGroup(NamedTuple):
    """One row of a side: units in order of loss, or ships in another state."""

    unit: str
    size: int
    cost: int
    form: LossForm = LossForm.UNIT
    cargo: tuple[tuple[str, int], ...] = ()


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
    terrain: Literal["land", "sea", "amphibious", "raid"] = Field(default="land", description="Kind of battle")
    cycle_limit: int = Field(default=0, ge=0, le=MAX_CYCLES, description="Stop after this many cycles; 0 = to the end")
    low_luck: Literal["none", "combat", "aa", "both"] = Field(
        default="none", description="Where low luck replaces dice"
    )
    attacker: AttackerSide = AttackerSide()
    defender: DefenderSide = DefenderSide()
    sea: SeaPart | None = Field(default=None, description="Sea battle before an amphibious landing")
    raid: RaidTarget = RaidTarget()
    territory: Territory = Territory()
    rules: Edition = Field(exclude=True, json_schema_extra={"internal": True})

    @model_validator(mode="after")
    def _check(self) -> GeneralCombatScenario:
        for side in Side:
            name = side.name.lower()
            self._check_units(side, f"{name}.units")
            self._check_damage(side, f"{name}.damaged")
            self._check_cargo(side, name)
            self._check_technologies(side, f"{name}.technologies")
            if self.terrain != "sea" and self._side(side).submerge != "never":
                raise ScenarioError("submarines take no part in a land battle (3.3)", field=f"{name}.submerge")
        if self.terrain == "sea":
            self._check_no_land()
        if self.terrain == "amphibious":
            self._check_assault()
        elif self.attacker.landed or self.attacker.bombard or self.sea is not None:
            field = (
                "attacker.landed" if self.attacker.landed else "attacker.bombard" if self.attacker.bombard else "sea"
            )
            raise ScenarioError('needs terrain = "amphibious" (5)', field=field)
        if self.terrain == "raid":
            self._check_raid()
        elif self.raid != RaidTarget():
            raise ScenarioError('needs terrain = "raid" (6)', field="raid")
        self._check_decisions()
        self._check_not_empty()
        return self

    def _check_not_empty(self) -> None:
        if not self.own_counts(Side.ATTACKER) and not self.own_counts(Side.DEFENDER):
            hint = '; a battle of ships alone has terrain = "sea"' if self.sea is not None else ""
            raise ScenarioError(f"both sides are empty; at least one unit is needed{hint}", field="attacker.units")

    def facing(self, other: GeneralCombatScenario) -> GeneralCombatScenario | None:
        """Return this battle against the defender of another one that differs in nothing but its sides.

        Parameters
        ----------
        other : GeneralCombatScenario

        Returns
        -------
        GeneralCombatScenario or None
            None where sides are not checked one by one: in raids, in assaults with a sea battle, and where the odds
            of the battle itself decide in it.
        """
        if self.kind or self.looks_ahead or other.looks_ahead:
            return None
        battle = self.model_copy(update={"defender": other.defender})
        battle._check_not_empty()
        return battle

    def _check_decisions(self) -> None:
        """Check what the battle's own odds decide: retreats and optimal play."""
        policies = [("attacker", self.attacker.retreat)]
        policies += [("sea.attacker", self.sea.attacker.retreat)] if self.sea is not None else []
        for name, policy in policies:
            if self.sea is not None and policy.looks_ahead:
                field = "when_swing_negative" if policy.when_swing_negative else "when_win_chance_below"
                raise ScenarioError(
                    "cannot be used in an assault with a sea battle; give the landing or the sea battle alone",
                    field=f"{name}.retreat.{field}",
                )
        for side in Side:
            optimal, field = self.optimal(side), f"{side.name.lower()}.optimal"
            if optimal is None:
                continue
            if self.terrain == "raid" or self.sea is not None:
                kind = "a raid" if self.terrain == "raid" else "an assault with a sea battle"
                raise ScenarioError(f"there is no optimal play in {kind}", field=field)
            if self.optimal(Side(1 - side)) is not None:
                raise ScenarioError(
                    "only one side can play optimally, against the other's policy", field="defender.optimal"
                )
            if optimal.goal == "capture" and self.terrain == "sea":
                raise ScenarioError('nothing is captured at sea (4.7.2); goals: "win", "swing"', field=f"{field}.goal")
            able = self._able_decisions(side)
            for name in optimal.decisions:
                if name not in able:
                    raise ScenarioError(
                        f"the {side.name.lower()} has no such decision in this battle, got {shown(name)}; "
                        f"allowed: {', '.join(able)}",
                        field=f"{field}.decisions",
                    )

    def _able_decisions(self, side: Side) -> list[DecisionName]:
        able: list[DecisionName] = ["casualties"]
        able += ["retreat"] if side == Side.ATTACKER else []
        return [*able, "submerge"] if self.terrain == "sea" else able

    def optimal(self, side: Side) -> Optimal | None:
        """Return a side's wish for optimal play."""
        return self._side(side).optimal

    def decisions(self, side: Side) -> list[DecisionName]:
        """Return what a side decides by its goal, nothing where it follows its policies."""
        optimal = self.optimal(side)
        if optimal is None:
            return []
        return [name for name in self._able_decisions(side) if not optimal.decisions or name in optimal.decisions]

    @cached_property
    def looks_ahead(self) -> bool:
        """Whether the battle's own odds decide something in it."""
        return self.attacker.retreat.looks_ahead or any(self.optimal(side) is not None for side in Side)

    def _check_technologies(self, side: Side, field: str) -> None:
        technologies = self._side(side).technologies
        if technologies and self.rules.switches.tech == "none":
            raise ScenarioError(
                f'edition "{self.edition}" has no technologies, got {shown(technologies[0])}; '
                'editions with technologies: aa50, revised, global40_2nd, or set switches.tech = "optional"',
                field=field,
            )
        if len(set(technologies)) != len(technologies):
            raise ScenarioError("a technology is named twice", field=field)

    def _check_units(self, side: Side, field: str) -> None:
        for unit in self.own_counts(side):
            if unit not in self.rules.units:
                allowed = ", ".join(u for u in UNITS if u in self.rules.units)
                raise ScenarioError(
                    f'unit "{unit}" does not exist in edition "{self.edition}"; it has: {allowed}', field=field
                )
            if (unit in SHIPS) != (self.terrain == "sea") and unit not in AIRCRAFT:
                hint = ""
                if self.terrain == "amphibious" and unit in SHIPS:
                    hint = f"; ships of an assault stand in [sea.{side.name.lower()}]"
                    hint += " or in bombard" if side == Side.ATTACKER else ""
                article = "an" if self.terrain == "amphibious" else "a"
                kind = f"{article} {self.terrain}" + (" battle" if self.terrain in {"land", "sea"} else "")
                kind = f"{article} amphibious assault" if self.terrain == "amphibious" else kind
                raise ScenarioError(f"{unit} cannot take part in {kind}{hint}", field=field)

    def _check_assault(self) -> None:
        units = self.own_counts(Side.ATTACKER)
        for unit, count in self.landed.items():
            if unit not in LAND_UNITS:
                raise ScenarioError(
                    f"only land units are landed ({', '.join(LAND_UNITS)}), got {unit}",
                    field="attacker.landed" if self.attacker.landed else "sea.attacker.cargo",
                )
            if count > units.get(unit, 0):
                missing = (
                    f"{count} {unit}, but attacker.units has {units.get(unit, 0)}: it lists all who attack on land"
                )
                raise ScenarioError(missing, field="attacker.landed" if self.attacker.landed else "sea.attacker.cargo")
        for unit in self.attacker.bombard:
            if not self.bombard_value(unit):
                able = ", ".join(name for name in UNITS if self.bombard_value(name))
                raise ScenarioError(f"{unit} cannot bombard; ships that can: {able}", field="attacker.bombard")
        if self.sea is not None:
            written = self.attacker.landed
            if written and written not in (ALL_LAND, self.landed):
                raise ScenarioError(
                    f"differs from the cargo of [sea.attacker], {shown(format_units(self.landed))}; leave it out",
                    field="attacker.landed",
                )
            try:
                self._build_sea_battle()
            except ScenarioError as problem:
                raise problem.at(field=f"sea.{problem.field}") from None

    def _check_raid(self) -> None:
        switches = self.rules.switches
        if self.raid.target not in {None, *self._raid_targets()}:
            raise ScenarioError(
                f'edition "{self.edition}" has the targets {", ".join(self._raid_targets())}, '
                f"got {shown(self.raid.target)}",
                field="raid.target",
            )
        if self.raid.air_battle and switches.sbr_air_battle == "none":
            raise ScenarioError(f'edition "{self.edition}" has no air battle before a raid', field="raid.air_battle")
        self._check_raiders()
        if self.attacker.keep_land or self.attacker.retreat != RetreatPolicy():
            field = "attacker.keep_land" if self.attacker.keep_land else "attacker.retreat"
            raise ScenarioError("has no meaning in a raid", field=field)
        if self.cycle_limit:
            raise ScenarioError("has no meaning in a raid", field="cycle_limit")
        for name in ("original_owner", "original_capital_held_by", "capital", "treasury"):
            if getattr(self.territory, name) != getattr(Territory(), name):
                raise ScenarioError("has no meaning in a raid: it takes no territory", field=f"territory.{name}")
        if self.raid.cap == "edition" and switches.sbr_cap != "facility" and self.territory.value is None:
            raise ScenarioError(
                'a raid needs the value of the territory, which caps the damage (6.2), or raid.cap = "none"',
                field="territory.value",
            )

    def _check_raiders(self) -> None:
        fighters = ["fighter"] if self.has_air_battle else []
        bases = ["tactical_bomber"] if self.raid_target in _BASES else []
        for side, able in (
            (Side.ATTACKER, [*fighters, *bases, "bomber"]),
            (Side.DEFENDER, ["aa_gun", *fighters, "industrial_complex"]),
        ):
            for unit in self.own_counts(side):
                if unit not in able:
                    hint = ""
                    if unit == "fighter":
                        hint = "; fighters need an air battle (raid.air_battle)"
                    elif unit == "tactical_bomber" and side == Side.ATTACKER:
                        hint = "; tactical bombers raid bases only (raid.target)"
                    raise ScenarioError(
                        f"{unit} takes no part in this raid; allowed: {', '.join(able)}{hint}",
                        field=f"{side.name.lower()}.units",
                    )

    def _raid_targets(self) -> tuple[str, ...]:
        return _FACILITIES if self.rules.switches.sbr_cap == "facility" else ("complex",)

    @property
    def raid_target(self) -> str:
        """What is raided: the complex, or one of the facilities with caps of their own."""
        return self.raid.target or self._raid_targets()[0]

    @property
    def has_air_battle(self) -> bool:
        """Whether interceptors and escorts fight before the raid (GC-2.3:sbr_air_battle)."""
        if self.raid.air_battle is None:
            return self.rules.switches.sbr_air_battle == "one_cycle"
        return self.raid.air_battle

    @property
    def raid_cap(self) -> int:
        """Most damage that the target can have in all, -1 for no limit (GC-6.2, GC-2.3:sbr_cap)."""
        if self.raid.cap == "none":
            return -1
        if self.raid.cap != "edition":
            return self.raid.cap
        if self.rules.switches.sbr_cap == "facility":
            return _MAJOR_CAP if self.raid_target == "major_complex" else _OTHER_CAP
        value = self.territory.value or 0
        return 2 * value if self.rules.switches.sbr_cap == "twice_territory" else value

    @property
    def landed(self) -> dict[str, int]:
        """Land units that come from transports, by name, only counts above 0 (GC-5.6)."""
        if self.terrain != "amphibious":
            return {}
        if self.sea is not None:
            total: dict[str, int] = {}
            for load in self.sea.attacker.cargo:
                for unit, count in load.items():
                    total[unit] = total.get(unit, 0) + count
            return {unit: total[unit] for unit in UNITS if total.get(unit)}
        landed = self.attacker.landed
        own = self.own_counts(Side.ATTACKER)
        if landed == ALL_LAND:
            return {unit: count for unit, count in own.items() if unit in LAND_UNITS}
        assert isinstance(landed, dict)  # noqa: S101 - for the type checker
        return {unit: landed[unit] for unit in UNITS if landed.get(unit)}

    def bombard_value(self, unit: str) -> int:
        """Return the value at which a ship bombards, 0 if it cannot (GC-5.4, GC-7)."""
        if unit not in self.rules.units or unit not in BOMBARDERS:
            return 0
        value = self.rules.units[unit].bombard
        if unit == "destroyer" and self._has(Side.ATTACKER, "combined_bombardment"):
            value = max(value, _DESTROYER_BOMBARDMENT)
        return min(value, self.rules.dice_sides)

    def bombardment(self) -> dict[str, int]:
        """Return the ships that bombard: the strongest, as many as may (GC-5.3, GC-5.4, GC-2.3:bombard_cap)."""
        landed = sum(self.landed.values())
        fought = self.sea is not None and any(self.sea.defender.units.values())
        if not landed or fought or not any(group.size for group in self.loss_groups(Side.DEFENDER)):
            return {}
        left = landed if self.rules.switches.bombard_cap else sum(self.attacker.bombard.values())
        ships = {}
        for unit in sorted(BOMBARDERS, key=lambda unit: (-self.bombard_value(unit), UNITS.index(unit))):
            ships[unit] = min(left, self.attacker.bombard.get(unit, 0))
            left -= ships[unit]
        return {unit: ships[unit] for unit in BOMBARDERS if ships[unit]}

    @cached_property
    def sea_battle(self) -> GeneralCombatScenario:
        """The sea battle before the landing as a scenario of its own (GC-5.1)."""
        return self._build_sea_battle()

    def _build_sea_battle(self) -> GeneralCombatScenario:
        sea = self.sea or SeaPart()
        return parse_model(
            GeneralCombatScenario,
            {
                "edition": self.edition,
                "terrain": "sea",
                "cycle_limit": self.cycle_limit,
                "low_luck": self.low_luck,
                "attacker": {**sea.attacker.model_dump(), "technologies": self.attacker.technologies},
                "defender": {**sea.defender.model_dump(), "technologies": self.defender.technologies},
                "rules": self.rules,
            },
        )

    @property
    def kind(self) -> str:
        """Which of the ruleset's records resolves it: "", "assault" (with a sea battle before it) or "raid"."""
        if self.terrain == "raid":
            return "raid"
        return "assault" if self.sea is not None else ""

    def _check_no_land(self) -> None:
        if self.attacker.keep_land:
            raise ScenarioError("there are no land units to keep in a sea battle", field="attacker.keep_land")
        for name, value in self.territory.model_dump(exclude_defaults=True).items():
            if value:
                raise ScenarioError("there is no territory to win in a sea battle (4.7.2)", field=f"territory.{name}")

    def _check_damage(self, side: Side, field: str) -> None:
        counts = self.own_counts(side)
        for unit, count in self._side(side).damaged.items():
            if unit not in self.rules.units or self.rules.units[unit].hits == 1:
                raise ScenarioError(
                    f'{unit} takes one hit in edition "{self.edition}" and cannot be damaged', field=field
                )
            if count > counts.get(unit, 0):
                raise ScenarioError(f"{count} damaged {unit}, but the side has {counts.get(unit, 0)}", field=field)

    def _check_cargo(self, side: Side, name: str) -> None:
        cargo = self._side(side).cargo
        transports = self.own_counts(side).get("transport", 0)
        if len(cargo) > transports:
            raise ScenarioError(
                f"{len(cargo)} {'load' if len(cargo) == 1 else 'loads'}, but the side has {transports} "
                f"{'transport' if transports == 1 else 'transports'} (one entry per loaded transport)",
                field=f"{name}.cargo",
            )
        for i, load in enumerate(cargo):
            total, infantry = sum(load.values()), load.get("infantry", 0)
            aboard = {unit for unit in load if unit in self.rules.units and unit in (*LAND_UNITS, "aa_gun")}
            if aboard != set(load) or not 1 <= total <= _LOAD or total - infantry > 1:
                raise ScenarioError(
                    "a transport carries one land unit and one infantry, "
                    f"got {shown(format_units(load)) if total else 'nothing; leave empty transports out'}",
                    field=f"{name}.cargo[{i}]",
                )
        if len(self.loss_groups(side)) > MAX_LOSS_GROUPS:
            raise ScenarioError(
                "too many different loads one after the other; list equal loads together", field=f"{name}.cargo"
            )

    def _side(self, side: Side) -> DefenderSide:
        return self.attacker if side == Side.ATTACKER else self.defender

    def own_counts(self, side: int) -> dict[str, int]:
        """Return the units of a side without those of a sea battle before the landing."""
        return dict((self.attacker if side == Side.ATTACKER else self.defender).ordered)

    def counts(self, side: int) -> dict[str, int]:
        """Return the units of a side by name, in table order, only counts above 0, all battles together."""
        units = self.own_counts(side)
        if self.sea is None:
            return units
        at_sea = (self.sea.attacker if side == Side.ATTACKER else self.sea.defender).units
        total = {unit: units.get(unit, 0) + at_sea.get(unit, 0) for unit in UNITS}
        return {unit: count for unit, count in total.items() if count}

    def casualties(self, side: int) -> dict[str, int]:
        """Return those units of a side that can be lost: guns and complexes that are captured are no casualties."""
        possible = {group.unit for group in self.loss_groups(Side(side))}
        if self.sea is not None:
            possible |= set(self.sea_battle.casualties(side))
        return {unit: count for unit, count in self.counts(side).items() if unit in possible}

    def counted_as(self, unit: str) -> str:
        """Return the name under which accumulators count a unit: its own."""
        return unit

    def unit_text(self, side: int) -> str:
        """Return the canonical unit list of a side."""
        return format_units(self.counts(side))

    def canonical(self) -> dict[str, Any]:
        """Return everything that can change a result; file names and titles cannot.

        Returns
        -------
        dict
            Its values are not to be changed: other scenarios may share them.
        """
        if self.terrain != "land" or self.sea is not None or self.looks_ahead:
            return self._canonical_in_full()
        # Sweeps have many such battles, and few sides.
        return {
            "ruleset": self.ruleset,
            "edition": self.edition,
            "terrain": self.terrain,
            "cycle_limit": self.cycle_limit,
            "low_luck": self.low_luck,
            "attacker": self.attacker.canonical,
            "defender": self.defender.canonical,
            "sea": None,
            "raid": self.raid.canonical,
            "territory": self.territory.canonical,
            "rules": self.rules.canonical,
        }

    def _canonical_in_full(self) -> dict[str, Any]:
        data = self.model_dump(exclude={"edition_file", "editions", "edition_changes", "switches", "rules"})
        for side in Side:
            name = side.name.lower()
            data[name]["units"] = self.own_counts(side)
            data[name]["damaged"] = {unit: n for unit, n in self._side(side).damaged.items() if n}
            data[name]["cargo"] = [format_units(load) for load in self._side(side).cargo]
            data[name]["technologies"] = sorted(data[name]["technologies"])
            if data[name]["optimal"] is None:
                del data[name]["optimal"]
            else:
                data[name]["optimal"]["decisions"] = self.decisions(side)
        if not self.attacker.retreat.looks_ahead:
            # Scenarios without them keep the identity that they had before there were such policies.
            for name in WISHES:
                del data["attacker"]["retreat"][name]
        data["attacker"]["landed"] = self.landed
        data["attacker"]["bombard"] = {unit: n for unit, n in self.attacker.bombard.items() if n}
        if self.sea is not None:
            at_sea = self.sea_battle.canonical()
            data["sea"] = {side.name.lower(): at_sea[side.name.lower()] for side in Side}
        data["rules"] = self.rules.canonical
        return data

    def cost(self, side: int) -> int:
        """Return the cost of the units that can be lost: captured guns and complexes do not count."""
        total = sum(group.size * group.cost for group in self.loss_groups(Side(side)))
        if self.sea is not None:
            before = self.sea_battle.loss_groups(Side(side), cargo_apart=side == Side.ATTACKER)
            total += sum(group.size * group.cost for group in before)
        return total

    @property
    def may_leave_in_part(self) -> bool:
        """Whether some units may leave an assault in which others fight on (GC-5.6)."""
        if self.terrain != "amphibious":
            return False
        policy = self.attacker.retreat
        leaves = policy.after_cycles or policy.when_units_at_most or policy.when_only_aircraft or policy.looks_ahead
        return bool(leaves) or "retreat" in self.decisions(Side.ATTACKER)

    def extra_means(self) -> dict[str, str]:
        """Return the means that only some battles have, each with its accumulator."""
        means = {"mean_bombard_hits": "bombard.hits"} if self.bombardment() else {}
        return means | ({"mean_retreated": "retreated"} if self.may_leave_in_part else {})

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

    def dice(self, side: Side) -> int:
        """Return how many dice all units of a side may roll in a step, those that never fire included."""
        units = (self.attacker if side == Side.ATTACKER else self.defender).ordered
        heavy = side == Side.ATTACKER and self.has_heavy_bombers and self.rules.switches.heavy_bombers == "both_dice"
        return sum(units.values()) + (units.get("bomber", 0) if heavy else 0)

    def low_luck_points(self, side: Side) -> int:
        """Return how many low-luck points make a sure hit; best-of-two bombers need finer points."""
        sides = self.rules.dice_sides
        best = self._has(side, "heavy_bombers") and self.rules.switches.heavy_bombers == "best_of_two"
        return sides**2 if side == Side.ATTACKER and best else sides

    @property
    def has_heavy_bombers(self) -> bool:
        """Whether attacking bombers roll two dice (GC-7)."""
        return self._has(Side.ATTACKER, "heavy_bombers")

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
        if policy == "default":  # transports come last there
            return order
        damage = [entry for entry in order if entry.endswith(DAMAGE)]
        units = [entry for entry in order if not entry.endswith(DAMAGE)]
        if isinstance(policy, list):
            # Damage costs nothing, so it comes first unless the list says otherwise.
            order = [*(d for d in damage if d not in policy), *policy, *(u for u in units if u not in policy)]
        else:
            known = [unit for unit in units if unit in self.rules.units]
            cost = {unit: self.rules.units[unit].cost for unit in known}
            value = {unit: self.value(side, unit) for unit in known}
            first, second = (cost, value) if policy == "cheapest" else (value, cost)
            order = [*damage, *sorted(known, key=lambda unit: (first[unit], second[unit]))]
        if self.rules.switches.tt_last:
            order = [*(entry for entry in order if entry != "transport"), "transport"]
        return order

    def loss_groups(self, side: Side, *, cargo_apart: bool = False) -> list[LossGroup]:
        """Return a side's rows: units in the order in which the owner loses them, then units in other states.

        Parameters
        ----------
        side : Side
        cargo_apart : bool
            Transports cost nothing for their cargo, because it is counted elsewhere: in the battle on land.

        Returns
        -------
        list of LossGroup
        """
        counts = self.possible_losses(side)
        damaged = self._side(side).damaged
        landed = self.landed if side == Side.ATTACKER else {}
        two_hit = [unit for unit in counts if self.rules.units[unit].hits > 1]
        groups: list[LossGroup] = []
        for entry in self._loss_order(side):
            unit = entry.removesuffix(DAMAGE)
            if unit not in counts or (entry != unit and unit not in two_hit):
                continue
            cost = self.rules.units[unit].cost
            if unit == "transport":
                groups += self._transports(side, counts[unit], cost, cargo_apart=cargo_apart)
            elif entry != unit:
                groups.append(LossGroup(unit, 0, cost, LossForm.DAMAGE))
            elif unit in two_hit:
                groups.append(LossGroup(unit, counts[unit] - damaged.get(unit, 0), cost, LossForm.HULL))
            else:
                ashore = landed.get(unit, 0)
                rows = (LossGroup(unit, ashore, cost, LossForm.LANDED), LossGroup(unit, counts[unit] - ashore, cost))
                groups += [row for row in rows if row.size]
        if side == Side.ATTACKER and "casualties" not in self.decisions(side):
            groups = _kept_last(groups, self.attacker.keep_land, varies=self.sea is not None)
        states = [(unit, damaged.get(unit, 0), LossForm.DAMAGED) for unit in two_hit]
        states += [("submarine", 0, LossForm.SUBMERGED)] if "submarine" in counts else []
        if self.terrain == "amphibious" and side == Side.ATTACKER:
            states += [(unit, 0, LossForm.ELSEWHERE) for unit in counts]
        return groups + [LossGroup(unit, size, self.rules.units[unit].cost, form) for unit, size, form in states]

    def possible_losses(self, side: Side) -> dict[str, int]:
        """Return the units that stand in some order of loss: installations only where they can be lost."""
        counts = self.own_counts(side)
        counts.pop("industrial_complex", None)
        if self.rules.switches.aa_fate == "captured" or self.terrain == "raid":
            counts.pop("aa_gun", None)
        return counts

    def _transports(self, side: Side, count: int, cost: int, *, cargo_apart: bool) -> list[LossGroup]:
        """Return a side's transports in order of loss: empty ones first, then the loaded ones as listed."""
        loads = [{unit: load[unit] for unit in UNITS if load.get(unit)} for load in self._side(side).cargo]
        groups = [LossGroup("transport", count - len(loads), cost)] if count > len(loads) else []
        for load, run in groupby(loads):
            worth = 0 if cargo_apart else sum(n * self.rules.units[unit].cost for unit, n in load.items())
            groups.append(LossGroup("transport", len(list(run)), cost + worth, cargo=tuple(load.items())))
        return groups


def _kept_last(groups: list[LossGroup], keep: int, *, varies: bool) -> list[LossGroup]:
    """Move the last `keep` land units of an order behind everything else.

    Where it `varies` from battle to battle who attacks, each group of land units has a row in both parts, and
    `landing.start_landings` divides it.
    """
    if not keep:
        return groups
    front: list[LossGroup] = []
    kept: list[LossGroup] = []
    for group in reversed(groups):
        is_land = group.unit in LAND_UNITS
        moved = min(group.size, keep) if is_land else 0
        keep -= moved
        in_both = varies and is_land
        if moved or in_both:
            kept.insert(0, group._replace(size=moved))
        if not moved or group.size > moved or in_both:
            front.insert(0, group._replace(size=group.size - moved))
    return front + kept


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
        **(own_editions(own, source) if own else {}),
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
            edition = changed_edition(edition, changes, "" if start else field, source)
    return parse_model(GeneralCombatScenario, {**data, "rules": edition}, source=source)
