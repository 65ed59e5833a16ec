"""Editions of force order: pieces with rank and cost, and the order of forces, as data."""

from __future__ import annotations

import json
import tomllib
from functools import cache, cached_property, lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from pydantic import Field, model_validator

from simcore.errors import ScenarioError, suggestion
from simcore.model import FrozenModel, parse_model, shown
from simcore.rulesets.force_order.layout import KINDS, Kind
from simcore.rulesets.force_order.options import BOARD_FIELDS, RuleOptions
from simcore.unittext import unit_name

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "ALIASES",
    "ATTACKERS",
    "DEFAULT_EDITION",
    "KIND_OF",
    "UNITS",
    "Duel",
    "Edition",
    "Odds",
    "UnitStats",
    "builtin_editions",
    "changed_edition",
    "order_table",
    "own_editions",
    "parse_editions",
]

DEFAULT_EDITION = "standard"
KIND_OF = {
    **{f"soldier{rank}": Kind.SOLDIER for rank in range(1, 10)},
    "saboteur": Kind.SABOTEUR,
    "boat_small": Kind.BOAT,
    "boat_medium": Kind.BOAT,
    "boat_large": Kind.BOAT,
    "lifeboat": Kind.LIFEBOAT,
    "plane_scout": Kind.PLANE,
    "plane_fighter": Kind.PLANE,
    "mine": Kind.MINE,
    "flag": Kind.FLAG,
}
"""Kind of every piece by its name."""
UNITS = tuple(KIND_OF)
ATTACKERS = tuple(unit for unit, kind in KIND_OF.items() if kind not in {Kind.MINE, Kind.FLAG})
"""Pieces that attack; mines and flags never do."""
ALIASES = {
    **{f"s{rank}": f"soldier{rank}" for rank in range(1, 10)},
    "sab": "saboteur",
    "small_boat": "boat_small",
    "medium_boat": "boat_medium",
    "large_boat": "boat_large",
    "scout": "plane_scout",
    "fighter": "plane_fighter",
}
_FIGHTING = tuple(name for name in KINDS if name != "flag")
_PATH_PARTS = 2
_MOST_RANK = 99
_SLACK = 1e-12


class UnitStats(FrozenModel):
    """One piece of an edition."""

    rank: int = Field(ge=0, le=_MOST_RANK, description="Place within its group of the order of forces")
    cost: int = Field(ge=0, le=1_000, description="Price of one piece")


class Odds(NamedTuple):
    """How a duel may end, from the attacker's view; the three add up to 1."""

    win: float
    lose: float
    tie: float


SURE: Final = {"win": Odds(1.0, 0.0, 0.0), "lose": Odds(0.0, 1.0, 0.0), "tie": Odds(0.0, 0.0, 1.0)}
"""Duels that always end alike."""


class Duel(FrozenModel):
    """One pair of pieces whose duel the ranks do not decide."""

    attacker: str
    defender: str
    result: Literal["win", "lose", "tie"] | None = Field(default=None, description="How it always ends")
    win: float | None = Field(default=None, ge=0, le=1, description="Probability that the attacker wins")
    lose: float | None = Field(
        default=None, ge=0, le=1, description="Probability that the defender wins; a tie is what is left"
    )

    @model_validator(mode="after")
    def _check(self) -> Duel:
        for field in ("attacker", "defender"):
            unit = getattr(self, field)
            if unit not in UNITS:
                raise ScenarioError(f"unknown unit {shown(unit)}{suggestion(unit, UNITS)}", field=field)
        if self.attacker not in ATTACKERS:
            raise ScenarioError(f"a {self.attacker} never attacks", field="attacker")
        if self.defender == "flag":
            raise ScenarioError("a lone flag is taken without a duel (FO-5, 14, 28)", field="defender")
        if (self.result is None) == (self.win is None and self.lose is None):
            raise ScenarioError('give either result = "win", "lose" or "tie", or win and lose as probabilities')
        if (self.win or 0.0) + (self.lose or 0.0) > 1.0 + _SLACK:
            raise ScenarioError(f"win and lose must add up to at most 1, got {self.win} and {self.lose}")
        return self

    @property
    def odds(self) -> Odds:
        """Return the three probabilities."""
        if self.result is not None:
            return SURE[self.result]
        win, lose = self.win or 0.0, self.lose or 0.0
        return Odds(win, lose, max(0.0, 1.0 - win - lose))


class Edition(FrozenModel):
    """A complete set of pieces and the order of forces."""

    name: str
    title: str = ""
    units: dict[str, UnitStats]
    precedence: list[list[str]] = Field(
        description="Groups of kinds from the weakest to the strongest; ranks decide inside a group"
    )
    duels: list[Duel] = Field(default_factory=list, description="Pairs that the ranks do not decide")
    options: RuleOptions = RuleOptions()

    @cached_property
    def canonical(self) -> dict[str, Any]:
        """Everything that can change a result, as JSON-able data: always the same object, not to be changed."""
        return self.model_dump(exclude={"name", "title"})

    @cached_property
    def canonical_attack(self) -> dict[str, Any]:
        """Everything that can change the result of single attacks, as `canonical`."""
        return self.model_dump(exclude={"name": True, "title": True, "options": set(BOARD_FIELDS)})

    @model_validator(mode="after")
    def _check(self) -> Edition:
        listed = [kind for group in self.precedence for kind in group]
        for kind in listed:
            if kind not in _FIGHTING:
                raise ScenarioError(
                    f"unknown kind {shown(kind)}{suggestion(kind, _FIGHTING)}; known: {', '.join(_FIGHTING)}",
                    field="precedence",
                )
        if sorted(listed) != sorted(_FIGHTING):
            raise ScenarioError(
                f"must name each of {', '.join(_FIGHTING)} once, got {', '.join(listed) or 'none'}", field="precedence"
            )
        pairs = [(duel.attacker, duel.defender) for duel in self.duels]
        for i, pair in enumerate(pairs):
            if pair in pairs[:i]:
                raise ScenarioError(f"{pair[0]} against {pair[1]} is listed twice", field=f"duels[{i}]")
        if self.options.order_of_forces == "ranks":
            for i, duel in enumerate(self.duels):
                if duel.result is None and max(duel.odds) < 1.0:
                    raise ScenarioError(
                        'probabilities need options.order_of_forces = "pairs"; with "ranks" give a result',
                        field=f"duels[{i}]",
                    )
        return self

    def strength(self, unit: str) -> tuple[int, int]:
        """Return the place of a piece in the order of forces: its group, and its rank in that."""
        kind = KINDS[KIND_OF[unit]]
        group = next(i for i, kinds in enumerate(self.precedence) if kind in kinds)
        return group, self.units[unit].rank

    @cached_property
    def order(self) -> dict[tuple[str, str], Odds]:
        """The whole order of forces: odds of every duel by attacker and defender (FA-17)."""
        fighting = [unit for unit in self.units if unit != "flag"]
        found = {}
        for attacker in fighting:
            if attacker in ATTACKERS:
                for defender in fighting:
                    own, other = self.strength(attacker), self.strength(defender)
                    found[attacker, defender] = SURE["tie" if own == other else "win" if own > other else "lose"]
        found |= {(duel.attacker, duel.defender): duel.odds for duel in self.duels if duel.defender in self.units}
        return {pair: odds for pair, odds in found.items() if pair[0] in self.units}


class EditionSource(FrozenModel):
    """An edition as written in a file; `base` fills what is left out."""

    title: str = Field(default="", max_length=200)
    base: str | None = Field(default=None, description="Edition that supplies what this one leaves out")
    units: dict[str, dict[str, Any] | Literal[False]] = Field(
        default_factory=dict, description="Pieces; false removes a piece of the base edition"
    )
    precedence: list[list[str]] | None = None
    duels: list[dict[str, Any]] | None = Field(default=None, description="In place of all duels of the base edition")
    options: dict[str, Any] = Field(default_factory=dict)


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
    data: dict[str, Any] = {"units": {}, "options": {}}
    if raw.base is not None:
        if raw.base in sources:
            data = _resolve_edition(raw.base, sources, builtin, source, (*seen, name)).model_dump()
        elif raw.base in builtin:
            data = builtin[raw.base].model_dump()
        else:
            known = sorted({*sources, *builtin})
            raise ScenarioError(
                f"unknown edition {shown(raw.base)}{suggestion(raw.base, known)}; known: {', '.join(known)}",
                field=f"{name}.base",
                source=source,
            )
    data |= {"name": name, "title": raw.title or name}
    data["options"] = {**data["options"], **raw.options}
    for field in ("precedence", "duels"):
        if getattr(raw, field) is not None:
            data[field] = getattr(raw, field)
    for unit, row in raw.units.items():
        if unit not in UNITS:
            raise ScenarioError(
                f"unknown unit {shown(unit)}{suggestion(unit, UNITS)}; known: {', '.join(UNITS)}",
                field=f"{name}.units",
                source=source,
            )
        if row is False:
            data["units"].pop(unit, None)
        else:
            data["units"][unit] = {**data["units"].get(unit, {}), **row}
    data["units"] = {unit: data["units"][unit] for unit in UNITS if unit in data["units"]}
    return parse_model(Edition, data, source=source, prefix=name)


@cache
def builtin_editions() -> dict[str, Edition]:
    """Return the editions that come with the package, by name."""
    text = (files("simcore.rulesets.force_order") / "editions.toml").read_text(encoding="utf-8")
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
        For unknown fields, pieces, kinds, base editions, values out of range or an empty file.
    """
    known = builtin_editions() if builtin is None else builtin
    if not data:
        raise ScenarioError(
            'holds no edition; expected tables such as [house_rules] with base = "standard"', source=source
        )
    sources: dict[str, EditionSource] = {}
    for name, table in data.items():
        if not isinstance(table, dict):
            raise ScenarioError(f"must be the table of an edition, got {shown(table)}", field=str(name), source=source)
        sources[name] = parse_model(EditionSource, table, source=source, prefix=name)
    return {name: _resolve_edition(name, sources, known, source) for name in sources}


def own_editions(editions: Mapping[str, Any], source: str) -> dict[str, Edition]:
    """Return the editions that a scenario brings along; equal tables are parsed once."""
    try:
        text = json.dumps(editions, sort_keys=True)
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


def changed_edition(edition: Edition, changes: Mapping[str, Any], field: str, source: str) -> Edition:
    """Return `edition` with single values replaced, each named by a dotted path such as ``soldier9.rank``."""
    data = edition.model_dump()
    for path, value in changes.items():
        parts = path.split(".")
        if parts[0] == "units":
            parts = parts[1:]
        where = f"{field}.{path}" if field else path
        if path in {"duels", "precedence"}:
            data[path] = value
        elif len(parts) == _PATH_PARTS and parts[0] == "options":
            data["options"][parts[1]] = value
        elif len(parts) == _PATH_PARTS:
            unit = unit_name(parts[0], UNITS, ALIASES, field=where, source=source)
            if unit not in data["units"]:
                raise ScenarioError(
                    f'unit "{unit}" does not exist in edition "{edition.name}"', field=where, source=source
                )
            data["units"][unit][parts[1]] = value
        else:
            raise ScenarioError(
                'no such value of an edition; expected "<unit>.<field>", "options.<name>", "duels" or "precedence"',
                field=where,
                source=source,
            )
    try:
        return parse_model(Edition, data, source=source)
    except ScenarioError as problem:
        place = problem.field or next(iter(changes))
        raise problem.at(field=f"{field}.{place.removeprefix('units.')}" if field else place) from None


def order_table(edition: Edition) -> str:
    """Return the complete order of forces as text: how each attacker (row) fares against each defender (column).

    Parameters
    ----------
    edition : Edition

    Returns
    -------
    str
        W win, L lose, T tie; probabilities of a win and a loss where they are not certain.

    Examples
    --------
    >>> print(order_table(builtin_editions()["standard"]).splitlines()[1].split()[:4])
    ['soldier1', 'T', 'L', 'L']
    """
    defenders = [unit for unit in edition.units if unit != "flag"]
    attackers = [unit for unit in defenders if unit in ATTACKERS]
    cells = [["", *defenders]]
    cells += [[attacker, *(_cell(edition.order[attacker, unit]) for unit in defenders)] for attacker in attackers]
    widths = [max(len(line[column]) for line in cells) for column in range(len(cells[0]))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if column else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in cells
    )


def _cell(odds: Odds) -> str:
    for letter, chance in zip("WLT", odds, strict=True):
        if chance == 1.0:
            return letter
    return f"{odds.win:.4g}/{odds.lose:.4g}"
