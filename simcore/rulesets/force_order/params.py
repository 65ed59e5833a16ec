"""The scenario of force order, checked and complete: attacks between two unit mixes, or a skirmish."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import Any, Literal, NamedTuple

import numpy as np
from pydantic import Field, field_validator, model_validator

from simcore.enums import Side
from simcore.errors import ScenarioError, suggestion
from simcore.model import FrozenModel, parse_model, shown
from simcore.rulesets.force_order.edition import (
    ALIASES,
    DEFAULT_EDITION,
    KIND_OF,
    SURE,
    UNITS,
    Edition,
    Odds,
    builtin_editions,
    changed_edition,
    own_editions,
)
from simcore.rulesets.force_order.layout import PIECE_FIELDS, ROW_FIELDS, TARGET, Kind, Mount, Place, RowField
from simcore.rulesets.force_order.options import BOARD_FIELDS
from simcore.rulesets.force_order.rows import MOST_STEPS, find_problem
from simcore.rulesets.force_order.skirmish.layout import ENDS, Policy, Tip
from simcore.unittext import format_units, parse_units, unit_name

__all__ = ["ForceOrderScenario", "PieceState", "State", "parse_scenario"]

MAX_UNITS = 2_000
_ATTACK_FIELDS = ("row_difference", "column_difference", "target_is_own", "line_blocked", "beside_taken")
_SKIRMISH_SIDE_FIELDS = ("policy", "flag_first")
_SKIRMISH_MEANS = {
    "mean_first_mover_edge": "first_mover_edge.sum",
    **{
        f"mean_{side}_{what}": f"{what}.{side}"
        for what in ("pieces_lost", "flags_dropped", "flags_taken", "flags_retaken")
        for side in ("attacker", "defender")
    },
    **{f"mean_end_{end}": f"end.{end}" for end in ENDS},
}
_HOLDERS = (Kind.SOLDIER, Kind.SABOTEUR)
"""Kinds that hold mines, in the order in which a mix's mines are dealt."""


class PieceState(FrozenModel):
    """How a piece stands and what it holds: the fields of a flat row."""

    mount: Literal["none", "boat_tip", "plane_tip", "hold"] = Field(
        default="none", description="What it stands on; hold: aboard, but not on the loading tip"
    )
    place: Literal["land", "sea"] | None = Field(
        default=None, description="Its square or its carrier's; default: each that is possible, equally often"
    )
    mine: bool = Field(default=False, description="Holds a mine, besides those that the mix deals out")
    flag: bool = Field(default=False, description="Holds a flag")
    lifeboat: bool = Field(default=False, description="A boat that has a lifeboat on it")
    cargo: Any = Field(default_factory=dict, description='Pieces aboard, besides those of the mix: "2 soldier3"')
    tip_soldier: bool = Field(default=False, description="Whether a soldier of the cargo stands on the loading tip")

    @field_validator("cargo")
    @classmethod
    def _read_cargo(cls, value: Any) -> dict[str, int]:
        counts = parse_units(value, UNITS, ALIASES, most=MAX_UNITS)
        for unit in counts:
            if unit in {"mine", "flag", "lifeboat"}:
                raise ScenarioError(f"a {unit} is no cargo; write {unit} = true")
        return counts

    @model_validator(mode="after")
    def _check_tip(self) -> PieceState:
        if self.tip_soldier and not any(KIND_OF[unit] == Kind.SOLDIER for unit in self.cargo):
            raise ScenarioError(
                "a soldier on the loading tip is cargo, so cargo must hold a soldier (FO-10)", field="tip_soldier"
            )
        return self


_ATTACK_SIDE_FIELDS = (*PieceState.model_fields, "pieces")


class ForceSide(PieceState):
    """One side of an attack: its pieces, and how they stand."""

    units: Any = Field(
        default_factory=dict, description='"2 soldier5, 1 boat_large" or { soldier5 = 2, boat_large = 1 }'
    )
    pieces: dict[str, dict[str, Any]] = Field(
        default_factory=dict, description="Other states for single units: { boat_large = { lifeboat = true } }"
    )
    policy: Literal["random", "greedy"] = Field(
        default="random",
        description="In a skirmish: random: any legal action, greedy: the largest cost of pieces won minus lost",
    )
    flag_first: bool = Field(
        default=True,
        description="In a skirmish: take the enemy's flag, or step homeward with it, whenever that is possible",
    )

    @field_validator("units")
    @classmethod
    def _read_units(cls, value: Any) -> dict[str, int]:
        return parse_units(value, UNITS, ALIASES, most=MAX_UNITS)

    @field_validator("pieces")
    @classmethod
    def _read_pieces(cls, value: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
        found = {unit_name(word, UNITS, ALIASES): table for word, table in value.items()}
        for unit, table in found.items():
            parse_model(PieceState, table, prefix=unit)
        return {unit: found[unit] for unit in UNITS if unit in found}

    def state_of(self, unit: str) -> PieceState:
        """Return how the pieces of a unit stand: the side's fields, replaced by those given for the unit alone."""
        common = {name: getattr(self, name) for name in PieceState.model_fields}
        return PieceState.model_validate({**common, **self.pieces.get(unit, {})})


class State(NamedTuple):
    """One way in which a piece of a side may be met.

    Attributes
    ----------
    unit : str
    weight : int
        How often, beside the other states of the side.
    fields : tuple of int
        By `layout.PieceField`.
    costs : tuple of int
        Of the piece, of the mine that it holds, of its cargo.
    is_dealt_mine : bool
        Whether its mine is one of the mix.
    cargo_pieces : int
    """

    unit: str
    weight: int
    fields: tuple[int, ...]
    costs: tuple[int, int, int]
    is_dealt_mine: bool
    cargo_pieces: int


class ForceOrderScenario(FrozenModel):
    """Attacks of one side's pieces on the other's, or a skirmish between them, checked and complete."""

    ruleset: Literal["force_order"]
    edition: str = Field(default=DEFAULT_EDITION, description="Name of a built-in edition or of one in edition_file")
    edition_file: str | None = Field(
        default=None, description="TOML file with editions of your own, relative to this file"
    )
    editions: dict[str, Any] = Field(default_factory=dict, description="Editions of your own, in place of a file")
    edition_changes: dict[str, Any] = Field(
        default_factory=dict, description='Single values of the edition changed, as in {"saboteur.cost" = 4}'
    )
    options: dict[str, Any] = Field(default_factory=dict, description="Options of the edition overridden")
    mode: Literal["attack", "skirmish"] = Field(
        default="attack",
        description="attack: one piece of the attacker attacks one of the defender; skirmish: a game on a board",
    )
    first_mover: Literal["attacker", "defender", "alternate"] = Field(
        default="attacker",
        description="Who moves first in a skirmish; alternate: the attacker in every other game, the default in sweeps",
    )
    row_difference: int = Field(
        default=0, ge=-MOST_STEPS, le=MOST_STEPS, description="Row of the target minus row of the attacker"
    )
    column_difference: int = Field(
        default=1, ge=-MOST_STEPS, le=MOST_STEPS, description="Column of the target minus column of the attacker"
    )
    target_is_own: bool = Field(default=False, description="Whether the target belongs to the attacker's own side")
    line_blocked: bool = Field(default=False, description="Whether a piece stands between the two on their line")
    beside_taken: bool = Field(default=False, description="Whether the last square before the target is taken")
    result: Literal["by_order", "win", "lose", "tie"] = Field(
        default="by_order", description="Result of the duel; by_order: by the order of forces"
    )
    attacker: ForceSide = ForceSide()
    defender: ForceSide = ForceSide()
    rules: Edition = Field(exclude=True, json_schema_extra={"internal": True})

    @model_validator(mode="after")
    def _check(self) -> ForceOrderScenario:
        if self.rules.options.order_of_forces == "given" and self.result == "by_order":
            raise ScenarioError('must be win, lose or tie with options.order_of_forces = "given"', field="result")
        self._check_mode()
        for side in Side:
            self._check_side(side)
        if self.mode == "attack":
            self._check_rows()
        return self

    def _check_mode(self) -> None:
        """Refuse what has no effect in this mode."""
        is_skirmish = self.mode == "skirmish"
        other, names = ("attack", _ATTACK_FIELDS) if is_skirmish else ("skirmish", ("first_mover",))
        side_names = _ATTACK_SIDE_FIELDS if is_skirmish else _SKIRMISH_SIDE_FIELDS
        given = [name for name in names if name in self.model_fields_set]
        for side in Side:
            own = self._side(side)
            given += [f"{side.name.lower()}.{name}" for name in side_names if name in own.model_fields_set]
        if not is_skirmish:
            given += [f"options.{name}" for name in BOARD_FIELDS if name in self.options]
        if given:
            raise ScenarioError(f'has no effect in mode "{self.mode}", only in "{other}"', field=given[0])

    def _check_side(self, side: Side) -> None:
        name, own = side.name.lower(), self._side(side)
        for field, units in (("units", own.units), *((f"pieces.{unit}", {unit: 1}) for unit in own.pieces)):
            for unit in units:
                if unit not in self.rules.units:
                    raise ScenarioError(
                        f'unit "{unit}" does not exist in edition "{self.edition}"; '
                        f"it has: {', '.join(self.rules.units)}",
                        field=f"{name}.{field}",
                    )
        if own.units.get("flag", 0) > 1:
            raise ScenarioError(f"a side has one flag, got {own.units['flag']}", field=f"{name}.units")
        if self.mode == "skirmish":
            self._check_pieces(side)
            return
        holders = sum(n for unit, n in own.units.items() if own.state_of(unit).flag)
        if holders > 1:
            raise ScenarioError(f"one piece holds the flag, got {holders}", field=f"{name}.flag")
        if not self.states(side):
            verb = "attacks; mines and flags never do" if side == Side.ATTACKER else "can be attacked"
            raise ScenarioError(f"has no piece that {verb}", field=f"{name}.units")

    def _check_pieces(self, side: Side) -> None:
        """Refuse a side of a skirmish that cannot be set up on the board."""
        field = f"{side.name.lower()}.units"
        kinds: Counter[Kind] = Counter()
        for unit, count in self.counts(side).items():
            kinds[KIND_OF[unit]] += count
        acting = kinds.total() - kinds[Kind.MINE]
        if not acting:
            raise ScenarioError("has no piece that can act; mines and flags never do", field=field)
        holders = sum(kinds[kind] for kind in _HOLDERS)
        if kinds[Kind.MINE] > holders:
            raise ScenarioError(
                f"every mine is held by a soldier or saboteur: at most {holders}, got {kinds[Kind.MINE]} (FA-25)",
                field=field,
            )
        board = self.rules.options
        land, whole = board.set_up_rows * board.land_columns, board.set_up_rows * board.columns
        for what, count, room in (
            ("soldiers and the flag are placed on land", kinds[Kind.SOLDIER] + 1, land),
            ("boats and lifeboats are placed at sea", kinds[Kind.BOAT] + kinds[Kind.LIFEBOAT], whole - land),
            ("pieces and the flag are placed on squares of their own", acting + 1, whole),
        ):
            if count > room:
                raise ScenarioError(
                    f"{what} of the side's {board.set_up_rows} rows, which has room for {room}, got {count} (FA-25)",
                    field=field,
                )

    def _check_rows(self) -> None:
        """Refuse pieces that cannot exist, by the same test as flat rows."""
        sides = [self.states(side) for side in Side]
        rows = np.zeros((max(map(len, sides)), len(ROW_FIELDS)), dtype=np.int8)
        for i in range(len(rows)):
            for base, states in zip((0, TARGET), sides, strict=True):
                rows[i, base : base + TARGET] = states[min(i, len(states) - 1)].fields
        rows[:, RowField.ROWS : RowField.BESIDE_TAKEN + 1] = self.scene
        problem = find_problem(rows)
        if problem is None:
            return
        named = {"rows": "row_difference", "blocked": "line_blocked", "beside_taken": "beside_taken"}
        if problem.field in named:
            raise ScenarioError(problem.text, field=named[problem.field])
        part, _, field = problem.field.partition(".")
        side = Side.ATTACKER if part == "attacker" else Side.DEFENDER
        states = sides[side]
        unit = states[min(problem.row, len(states) - 1)].unit
        own = field in self._side(side).pieces.get(unit, {})
        raise ScenarioError(
            f"{problem.text}; {side.name.lower()}.units has {unit}",
            field=f"{side.name.lower()}." + (f"pieces.{unit}.{field}" if own else field),
        )

    def facing(self, other: ForceOrderScenario) -> ForceOrderScenario:
        """Return this attack against the defender of another scenario that differs in nothing but its sides."""
        return self.model_copy(update={"defender": other.defender})

    def _side(self, side: int) -> ForceSide:
        return self.attacker if side == Side.ATTACKER else self.defender

    @property
    def duels(self) -> dict[tuple[str, str], Odds]:
        """Odds of every duel by attacker and defender: those of the edition, or the same result for all (FA-17)."""
        if self.result == "by_order":
            return self.rules.order
        return dict.fromkeys(self.rules.order, SURE[self.result])

    def board_rules(self) -> tuple[int, ...]:
        """Return what holds on the board of a skirmish, by `skirmish.layout.Rule`."""
        board, sides = self.rules.options, (self.attacker, self.defender)
        tips = [tip.name.lower() for tip in Tip]
        policies = [policy.name.lower() for policy in Policy]
        return (
            board.rows,
            board.columns,
            board.land_columns,
            board.set_up_rows,
            board.flag_rows,
            board.boat_capacity,
            board.lifeboat_capacity,
            board.plane_capacity,
            tips.index(board.tip_capacity),
            int(board.win == "capture"),
            board.turn_cap,
            board.repetitions,
            ("attacker", "defender", "alternate").index(self.first_mover),
            *(policies.index(side.policy) for side in sides),
            *(int(side.flag_first) for side in sides),
        )

    @property
    def scene(self) -> tuple[int, ...]:
        """Fields of a row from `RowField.ROWS` to `RowField.BESIDE_TAKEN`."""
        return (
            self.row_difference,
            self.column_difference,
            int(self.target_is_own),
            int(self.line_blocked),
            int(self.beside_taken),
        )

    def states(self, side: int) -> list[State]:
        """Return in which states a piece of a side may be met, each with its weight; none for a side without pieces."""
        return self._states[side]

    @cached_property
    def _states(self) -> tuple[list[State], list[State]]:
        return self._find_states(Side.ATTACKER), self._find_states(Side.DEFENDER)

    def _mine_shares(self, side: Side) -> tuple[dict[Kind, Fraction], int]:
        """Return the share of each kind's holders that is dealt a mine, and how many mines find no holder."""
        own = self._side(side)
        left = own.units.get("mine", 0)
        shares = {}
        for kind in _HOLDERS:
            holders = sum(n for unit, n in own.units.items() if KIND_OF[unit] == kind and not own.state_of(unit).mine)
            dealt = min(left, holders)
            left -= dealt
            shares[kind] = Fraction(dealt, holders) if holders else Fraction(0)
        return shares, left

    def _find_states(self, side: Side) -> list[State]:
        own = self._side(side)
        shares, loose = self._mine_shares(side)
        found: list[tuple[Fraction, State]] = []
        for unit, count in own.units.items():
            kind, state = KIND_OF[unit], own.state_of(unit)
            if side == Side.ATTACKER and kind in {Kind.FLAG, Kind.MINE}:
                continue
            number = loose if kind == Kind.MINE else count
            share = Fraction(0) if state.mine else shares.get(kind, Fraction(0))
            places = _places(kind, state)
            for place in places:
                for is_dealt, part in ((False, 1 - share), (True, share)):
                    weight = number * part / len(places)
                    if weight:
                        found.append((weight, self._state(unit, state, place, is_dealt=is_dealt)))
        scale = lcm(*(weight.denominator for weight, _ in found))
        return [state._replace(weight=int(weight * scale)) for weight, state in found]

    def _state(self, unit: str, state: PieceState, place: Place, *, is_dealt: bool) -> State:
        holds_mine = state.mine or is_dealt
        fields = dict.fromkeys(PIECE_FIELDS, 0) | {
            "kind": KIND_OF[unit],
            "mount": Mount[state.mount.upper()],
            "place": place,
            "mine": holds_mine,
            "flag": state.flag,
            "lifeboat": state.lifeboat,
            "cargo": bool(state.cargo),
            "tip_soldier": state.tip_soldier,
        }
        costs = (self._price(unit), self._price("mine") if holds_mine else 0, self._cargo_cost(state))
        values = tuple(int(fields[name]) for name in PIECE_FIELDS)
        return State(unit, 0, values, costs, is_dealt, sum(state.cargo.values()))

    def _price(self, unit: str) -> int:
        stats = self.rules.units.get(unit)
        return 0 if stats is None else stats.cost

    def _cargo_cost(self, state: PieceState) -> int:
        return sum(n * self._price(unit) for unit, n in state.cargo.items())

    @property
    def kind(self) -> str:
        """Kind of battle, as in `Ruleset.kinds`."""
        return "" if self.mode == "attack" else self.mode

    def canonical(self) -> dict[str, Any]:
        """Everything that can change a result, as JSON-able data."""
        left_out = {"edition", "edition_file", "editions", "edition_changes", "options"}
        if self.mode == "skirmish":
            sides = {"units", *_SKIRMISH_SIDE_FIELDS}
            data = self.model_dump(include={"ruleset", "mode", "first_mover", "result"})
            for side in Side:
                own = self._side(side).model_dump(include=sides)
                data[side.name.lower()] = {**own, "units": self.counts(side)}
            return {**data, "rules": self.rules.canonical}
        fields: dict[str, Any] = {**dict.fromkeys(left_out, True), "first_mover": True}
        fields |= {side.name.lower(): set(_SKIRMISH_SIDE_FIELDS) for side in Side}
        return {**self.model_dump(exclude=fields), "rules": self.rules.canonical_attack}

    def counts(self, side: int) -> dict[str, int]:
        """Pieces of a side's mix by name; what they hold besides is not counted, nor the flag of a skirmish."""
        units: dict[str, int] = self._side(side).units
        return {unit: n for unit, n in units.items() if self.mode == "attack" or unit != "flag"}

    def casualties(self, side: int) -> dict[str, int]:
        """Those pieces that can be lost: all but the flag, which no clause lets die."""
        return {unit: count for unit, count in self.counts(side).items() if unit != "flag"}

    def counted_as(self, unit: str) -> str:
        """Name of a unit on axis T."""
        return unit

    def unit_text(self, side: int) -> str:
        """Canonical unit list of a side."""
        return format_units(self.counts(side))

    def cost(self, side: int) -> int:
        """Cost of a side's pieces with all that they hold."""
        own = self._side(side)
        total = 0
        for unit, count in self.counts(side).items():
            state = own.state_of(unit)
            held = ("mine", state.mine), ("lifeboat", state.lifeboat)
            extra = sum(self._price(name) for name, has in held if has)
            total += count * (self._price(unit) + extra + self._cargo_cost(state))
        return total

    def extra_means(self) -> dict[str, str]:
        """Means that a result shows besides the usual ones: its name for each, and the accumulator."""
        if self.mode == "skirmish":
            return _SKIRMISH_MEANS
        return {
            "mean_attacker_pieces_lost": "pieces_lost.attacker",
            "mean_defender_pieces_lost": "pieces_lost.defender",
            "mean_attacker_flags_dropped": "flags_dropped.attacker",
            "mean_defender_flags_dropped": "flags_dropped.defender",
            "mean_flags_taken": "flags_taken",
        }


def _places(kind: Kind, state: PieceState) -> tuple[Place, ...]:
    """Return the places where a piece may be: the one given, or all that are possible (FA-18)."""
    if state.place is not None:
        return (Place[state.place.upper()],)
    if state.mount == "boat_tip" or (state.mount == "none" and kind in {Kind.BOAT, Kind.LIFEBOAT}):
        return (Place.SEA,)
    if state.mount == "none" and kind == Kind.SOLDIER:
        return (Place.LAND,)
    return (Place.LAND, Place.SEA)


def parse_scenario(data: Mapping[str, Any], source: str = "") -> ForceOrderScenario:
    """Check a scenario table and complete it with its edition.

    Parameters
    ----------
    data : mapping
        The scenario as read from TOML or given in Python; an `edition_file` must already be read into `editions`.
    source : str
        File name for error messages.

    Returns
    -------
    ForceOrderScenario

    Raises
    ------
    ScenarioError
        Names the field, the value and what is allowed.
    """
    if "rules" in data:
        raise ScenarioError("unknown field; use edition, edition_changes or options", field="rules", source=source)
    own = data.get("editions", {})
    if not isinstance(own, Mapping):
        raise ScenarioError(f"must be a table of editions, got {shown(own)}", field="editions", source=source)
    known = {**builtin_editions(), **(own_editions(own, source) if own else {})}
    name = data.get("edition", DEFAULT_EDITION)
    if not isinstance(name, str) or name not in known:
        raise ScenarioError(
            f"unknown edition {shown(name)}{suggestion(str(name), known)}; known: {', '.join(sorted(known))}",
            field="edition",
            source=source,
        )
    edition = known[name]
    for field, start in (("edition_changes", ""), ("options", "options.")):
        changes = data.get(field, {})
        if not isinstance(changes, Mapping):
            raise ScenarioError(f"must be a table, got {shown(changes)}", field=field, source=source)
        if changes:
            changes = {start + str(key): value for key, value in changes.items()}
            edition = changed_edition(edition, changes, "" if start else field, source)
    return parse_model(ForceOrderScenario, {**data, "rules": edition}, source=source)
