"""From a sweep file to numbered matchups and a fixed list of parts.

Matchups are counted before anything is built: grid point by grid point, within it attacker by attacker,
within that defender by defender. Parts are runs of consecutive (matchup, batch) rows; a matchup that is solved has
one row, without battles. The limits of parts follow from the numbers of battles and from the effort that solving is
expected to take, which depend on nothing but the matchups: a resumed run plans the same parts, and a part's name says
what went in.
"""

from __future__ import annotations

import copy
import hashlib
import itertools
import json
import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import NoneType
from typing import TYPE_CHECKING, Any, Final, get_args, get_origin

import numpy as np

from simcore import api
from simcore.core.rng import RNG_VERSION
from simcore.errors import ScenarioError, suggestion
from simcore.model import shown
from simcore.registry import get_ruleset
from simcore.run.mix import BudgetRange, Mix, Mixes
from simcore.scenario import load_scenario
from simcore.schema import AUTO_EFFORT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import numpy.typing as npt

    from simcore.scenario import SweepFile, SweepSide
    from simcore.schema import Ruleset, ScenarioModel

__all__ = [
    "MAX_MATCHUPS",
    "MAX_SWEEP_BATTLES",
    "PART_BATTLES",
    "PART_EFFORT",
    "SOLVED_ROW",
    "SOLVED_ROWS",
    "GridPoint",
    "Plan",
    "check_battles",
    "content_name",
    "cut_parts",
    "plan_sweep",
    "segment_schedule",
]

MAX_MATCHUPS: Final = 2_000_000
MAX_SWEEP_BATTLES: Final = 10**13
"""About five million parts, weeks of work for a hundred cores."""
PART_BATTLES: Final = 2**21
PART_EFFORT: Final = 10 * AUTO_EFFORT
"""Most effort of the matchups of a part that are solved, unless there is but one."""
_PART_ROWS: Final = 4_096
SOLVED_ROWS: Final = 512
"""Most matchups of a part that are solved."""
SOLVED_ROW: Final = (0, 0, 0)
"""The row of a matchup that is solved, without its number."""
_MOST_WHOLE: Final = 2**63
_SIDES: Final = ("attacker", "defender")
_MOST_WRITTEN: Final = 50_000
"""Parts of scenarios that are kept as JSON."""
_PROBE_COUNT: Final = 2_000
_LEAST_WEIGHT: Final = 1e-9
_MOST_WEIGHT: Final = 1e9
_EMPTY_NAME: Final = "nothing"
_PAIR: Final = 2
_DEEPEST: Final = 50
# A grid key among these changes which units there are, or their prices.
_EDITION_FIELDS: Final = ("edition", "switches", "edition_changes", "terrain")
# Fields that fit some mixes and not others.
_ABOUT_UNITS: Final = ("units", "damaged", "cargo", "landed", "bombard")
_MOST_PROBES: Final = 1_000
# What must not stand in the table or the grid, and where it belongs.
_ELSEWHERE: Final = {
    "ruleset": "sweep.ruleset",
    "edition_file": "sweep.edition_file",
    "editions": "sweep.editions",
    "attacker.units": "attacker.mixes",
    "defender.units": "defender.mixes",
}


@dataclass(frozen=True, slots=True)
class GridPoint:
    """One combination of the grid's values, with the mixes that meet there.

    Attributes
    ----------
    values : tuple
        One value per grid key.
    edition : str
        Name of the edition in force.
    attackers, defenders : Mixes
        Shared between points with equal prices.
    pairs : tuple of (int, int), or None
        Which meet; None for all.
    first : int
        Number of the first matchup.
    """

    values: tuple[Any, ...]
    edition: str
    attackers: Mixes
    defenders: Mixes
    pairs: tuple[tuple[int, int], ...] | None
    first: int

    def __len__(self) -> int:
        return len(self.attackers) * len(self.defenders) if self.pairs is None else len(self.pairs)


@dataclass(frozen=True, eq=False)
class Plan:
    """All matchups of a sweep, and how they are cut into parts.

    Attributes
    ----------
    sweep : SweepFile
        What was asked for.
    ruleset : Ruleset
        Its ruleset.
    grid : mapping of str to tuple
        Values of each grid key.
    points : tuple of GridPoint
        In the order of their matchups.
    schedule : int64 (n, 3)
        Batch number, first battle and number of battles of the rows of each matchup.
    written : dict
        Parts of scenarios as JSON, by the identity of the object, for `content_name`.
    """

    sweep: SweepFile
    ruleset: Ruleset
    grid: Mapping[str, tuple[Any, ...]]
    points: tuple[GridPoint, ...]
    schedule: npt.NDArray[np.int64]
    written: dict[int, tuple[object, bytes]] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return self.points[-1].first + len(self.points[-1])

    @property
    def battles(self) -> int:
        """Battles of each matchup that is simulated, or the most of them where a precision decides."""
        return self.sweep.sweep.battles

    @property
    def precision(self) -> float | None:
        """Half-width to which every outcome share is brought; None when all matchups have equally many battles."""
        return self.sweep.sweep.precision

    @property
    def method(self) -> str:
        """What was asked for: "auto" decides matchup by matchup, "simulate" and "exact" hold for all."""
        return self.sweep.sweep.method

    @property
    def seed(self) -> int:
        """Seed of the random numbers."""
        return self.sweep.sweep.seed

    def locate(self, matchup: int) -> tuple[GridPoint, int, int]:
        """Return where a matchup stands.

        Parameters
        ----------
        matchup : int
            From 0.

        Returns
        -------
        GridPoint, int, int
            Its grid point and the positions of its two mixes there.
        """
        point = self.points[bisect_right(self.points, matchup, key=lambda point: point.first) - 1]
        offset = matchup - point.first
        i, j = divmod(offset, len(point.defenders)) if point.pairs is None else point.pairs[offset]
        return point, i, j

    def scenario(self, matchup: int) -> dict[str, Any]:
        """Return the scenario of a matchup as a table, not yet checked.

        Parameters
        ----------
        matchup : int
            From 0.

        Returns
        -------
        dict
        """
        point, i, j = self.locate(matchup)
        frame = _frame(self.sweep, dict(zip(self.grid, point.values, strict=True)))
        return _with_units(frame, point.attackers[i].counts, point.defenders[j].counts)

    def parts(
        self, effort_of: Callable[[int], int], drawn: Sequence[tuple[int, ...]] | None = None
    ) -> Iterator[npt.NDArray[np.int64]]:
        """Yield the rows of one part after the other.

        Parameters
        ----------
        effort_of : callable
            ``effort_of(matchup) -> int``: effort of solving a matchup, 0 for one that is simulated. It is asked once
            for each matchup, in their order.
        drawn : sequence of tuple, optional
            Rows of a matchup that is simulated, without its number; all of the schedule by default.

        Yields
        ------
        int64 (n, 4)
            Matchup number, batch number, first battle, number of battles: 0 for a matchup that is solved.
        """
        if drawn is None:
            drawn = [tuple(row) for row in self.schedule.tolist()]
        efforts = ((matchup, effort_of(matchup)) for matchup in range(len(self)))
        return cut_parts((matchup, own, drawn if not own else [SOLVED_ROW]) for matchup, own in efforts)


def check_battles(matchups: int, battles: int, source: str) -> None:
    """Refuse more battles than a results folder can have parts for.

    Parameters
    ----------
    matchups : int
        Matchups that are simulated.
    battles : int
        Battles of each.
    source : str
        Sweep file to name.

    Raises
    ------
    ScenarioError
        With the number.
    """
    if matchups * battles > MAX_SWEEP_BATTLES:
        raise ScenarioError(
            f"asks for {matchups * battles:,} battles ({matchups:,} matchups with {battles:,} each); "
            f"at most {MAX_SWEEP_BATTLES:,} are possible",
            field="sweep",
            source=source,
        )


def cut_parts(matchups: Iterable[tuple[int, int, Sequence[tuple[int, ...]]]]) -> Iterator[npt.NDArray[np.int64]]:
    """Yield the rows of one part after the other.

    Parameters
    ----------
    matchups : iterable
        Number of a matchup, effort of solving it (0 when it is simulated) and its rows: batch number, first battle,
        number of battles.

    Yields
    ------
    int64 (n, 4)
        Matchup number, batch number, first battle, number of battles.
    """
    rows: list[tuple[int, ...]] = []
    battles = effort = solved = 0
    for matchup, own, segments in matchups:
        for row in segments:
            is_full = (
                len(rows) == _PART_ROWS
                or battles + row[2] > PART_BATTLES
                or (own and (solved == SOLVED_ROWS or effort + own > PART_EFFORT))
            )
            if rows and is_full:
                yield np.array(rows, dtype=np.int64)
                rows = []
                battles = effort = solved = 0
            rows.append((matchup, *row))
            battles += row[2]
            effort += own
            solved += own > 0
    if rows:
        yield np.array(rows, dtype=np.int64)


def segment_schedule(battles: int) -> npt.NDArray[np.int64]:
    """Return the rows that every matchup has: its batches, the large ones cut so that a call stays short.

    Parameters
    ----------
    battles : int
        Battles of each matchup.

    Returns
    -------
    int64 (n, 3)
        Batch number, first battle, number of battles.
    """
    rows = [
        (batch, start, min(PART_BATTLES, first + count - start))
        for batch, (first, count) in enumerate(api.batch_schedule(battles).tolist())
        for start in range(first, first + count, PART_BATTLES)
    ]
    return np.array(rows, dtype=np.int64)


def content_name(
    plan: Plan,
    segments: npt.NDArray[np.int64],
    scenarios: Mapping[int, ScenarioModel],
    errors: Mapping[int, str],
) -> str:
    """Return the name of a part: a digest of everything that can change its content.

    Parameters
    ----------
    plan : Plan
        Gives seed, ruleset, method and pairing.
    segments : int64 (n, 4)
        Its rows.
    scenarios : mapping of int to scenario
        Its matchups.
    errors : mapping of int to str
        Its matchups that cannot be resolved, with the reason.

    Returns
    -------
    str
        64 hex digits.
    """
    head = {
        "accumulators": plan.ruleset.accumulators,
        "method": plan.method,
        "pairing": plan.sweep.sweep.pairing,
        "rng": RNG_VERSION,
        "ruleset": [plan.ruleset.id, plan.ruleset.version],
        "seed": plan.seed,
        "segments": segments.tolist(),
        **({"outcomes": "kept"} if plan.sweep.sweep.keep_outcomes else {}),
    }
    found = hashlib.sha256(_canonical_json(head))
    # Whole editions are part of every scenario and sides of many, the same objects: written out once.
    written = plan.written
    if len(written) > _MOST_WRITTEN:
        written.clear()
    keys: dict[str, bytes] = {}
    order: list[str] = []
    for matchup in sorted({*scenarios, *errors}):
        content = scenarios[matchup].canonical() if matchup in scenarios else {"failed": errors[matchup]}
        if content.keys() != keys.keys():
            order = sorted(content)
            keys = {key: b"\0%b\0" % key.encode() for key in order}
        pieces = [b"\n"]
        for key in order:
            value = content[key]
            before = written.get(id(value))
            if before is None:
                # Kept as well: an object that is gone may leave its place to another.
                before = written[id(value)] = (value, _canonical_json(value))
            pieces += keys[key], before[1]
        found.update(b"".join(pieces))
    return found.hexdigest()


def _canonical_json(content: object) -> bytes:
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def _frame(sweep: SweepFile, assigned: Mapping[str, Any]) -> dict[str, Any]:
    """Return the scenario of a grid point, without units, as a fresh table."""
    settings = sweep.sweep
    frame: dict[str, Any] = copy.deepcopy(sweep.scenario)
    frame["ruleset"] = settings.ruleset
    if settings.edition is not None:
        frame.setdefault("edition", settings.edition)
    if settings.editions:
        frame["editions"] = settings.editions
    for key, value in assigned.items():
        root, _, path = key.partition(".")
        if root == "edition":
            table = frame.setdefault("edition_changes", {})
            last = path
        else:
            *folders, last = path.split(".")
            table = frame
            for folder in folders:
                table = table.setdefault(folder, {}) if isinstance(table, dict) else table
        if not isinstance(table, dict):
            raise ScenarioError(
                f"does not lie in a table of the scenario: {key}", field=f"grid.{key}", source=sweep.source
            )
        table[last] = copy.deepcopy(value)
    return frame


def _with_units(frame: Mapping[str, Any], attacker: object, defender: object) -> dict[str, Any]:
    """Return a scenario table with the units of both sides; the frame stays as it is."""
    return {
        **frame,
        "attacker": {**frame.get("attacker", {}), "units": attacker},
        "defender": {**frame.get("defender", {}), "units": defender},
    }


def _check_plain(value: object, field: str, source: str, depth: int = 0) -> None:
    """Refuse what JSON cannot hold: the manifest keeps the sweep, and names are digests of JSON."""
    if depth > _DEEPEST:
        raise ScenarioError("is nested too deeply", field=field.partition("[")[0], source=source)
    entries: list[tuple[object, str]] = []
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise ScenarioError(f"names of fields must be text, got {shown(key)}", field=field, source=source)
        entries = [(key, field) for key in value] + [(entry, f"{field}.{key}") for key, entry in value.items()]
    elif isinstance(value, (list, tuple)):
        entries = [(entry, f"{field}[{i}]") for i, entry in enumerate(value)]
    elif not _is_plain(value):
        raise ScenarioError(
            f"must be text, a number of 64 bits, true, false, a list or a table, got {shown(value)}",
            field=field,
            source=source,
        )
    for entry, place in entries:
        _check_plain(entry, place, source, depth + 1)


def _is_plain(value: object) -> bool:
    if isinstance(value, str):
        return value.isascii() or value.encode("utf-8", "replace").decode() == value
    if isinstance(value, bool) or value is None:
        return True
    if isinstance(value, int):
        return -_MOST_WHOLE <= value < _MOST_WHOLE
    return isinstance(value, float) and math.isfinite(value)


def _check_fields(model: type[Any], table: Mapping[str, Any], field: str, path: str, source: str) -> None:
    """Refuse fields that the scenarios of a ruleset do not have, wherever they stand."""
    for key, value in table.items():
        place, inner = f"{field}.{key}", f"{path}.{key}" if path else key
        _, submodel = _find_field(model, key, place, inner, source)
        _check_field(submodel, value, place, inner, source)


def _check_field(model: type[Any] | None, value: object, field: str, path: str, source: str) -> None:
    """Check what stands inside one field; only tables have an inside."""
    if model is None:
        return
    if not isinstance(value, Mapping):
        raise ScenarioError(f"must be a table, got {shown(value)}", field=field, source=source)
    _check_fields(model, value, field, path, source)


def _find_field(model: type[Any], name: str, field: str, path: str, source: str) -> tuple[Any, type[Any] | None]:
    """Return the type of a field of a scenario, and its model when it is a table; refuse unknown fields."""
    if path in _ELSEWHERE:
        raise ScenarioError(f"give this as {_ELSEWHERE[path]}", field=field, source=source)
    fields = {
        key: entry for key, entry in model.model_fields.items() if not (entry.json_schema_extra or {}).get("internal")
    }
    if name not in fields:
        known = ", ".join(sorted(fields))
        raise ScenarioError(f"unknown field{suggestion(name, fields)}; allowed: {known}", field=field, source=source)
    kind = fields[name].annotation
    if hasattr(kind, "model_fields"):
        return kind, kind
    # A table that may be left out is the model or nothing; one that may be text instead has no fixed inside.
    inside = get_args(kind)
    optional = [entry for entry in inside if hasattr(entry, "model_fields")]
    is_table = len(optional) == 1 and set(inside) == {optional[0], NoneType}
    return kind, optional[0] if is_table else None


@dataclass(frozen=True)
class _ListedMix:
    """A mix that is written down in the sweep file."""

    field: str
    name: str
    text: str
    counts: Mapping[str, int]
    weight: float


class _EditionAt:
    """The edition in force at some grid points: what exists in it and what it costs."""

    def __init__(self, sweep: SweepFile, assigned: Mapping[str, Any], ruleset: Ruleset) -> None:
        frame = ruleset.plain(_frame(sweep, assigned))
        # Side options are left out: a policy that fits one mix may not fit another, and prices ignore them.
        self._frame = {key: value for key, value in frame.items() if key not in _SIDES}
        self.units = ruleset.units_of(self._frame)
        self.probe, self.name = self._find_probe(self.units)

    def _find_probe(self, units: Sequence[str]) -> tuple[str, str]:
        """Return a unit that may fight on both sides, and the name of the edition."""
        first: ScenarioError | None = None
        for unit in units:
            try:
                return unit, load_scenario(_with_units(self._frame, {unit: 1}, {unit: 1})).edition
            except ScenarioError as problem:
                first = first or problem
        raise first or ScenarioError("the ruleset has no units")

    def load(self, side: str, units: object) -> ScenarioModel:
        """Check the units of one side against a single enemy."""
        other = {self.probe: 1}
        return load_scenario(
            _with_units(self._frame, units, other) if side == "attacker" else _with_units(self._frame, other, units)
        )

    def cost(self, side: str, units: object) -> int | None:
        """Return the cost of the units of one side, None when they are not possible in this edition."""
        try:
            return self.load(side, units).cost(_SIDES.index(side))
        except ScenarioError:
            return None


class _Planner:
    """Works out mixes and grid points; problems of the sweep file itself are raised with their field."""

    def __init__(self, sweep: SweepFile) -> None:
        self.sweep = sweep
        self.ruleset = get_ruleset(sweep.sweep.ruleset)
        self.sides: dict[str, SweepSide] = {"attacker": sweep.attacker, "defender": sweep.defender}
        self.grid: dict[str, tuple[Any, ...]] = {}
        self.listed: dict[str, list[_ListedMix]] = {}
        self.budget_units: dict[str, list[str]] = {}
        self.pairs: tuple[tuple[int, int], ...] | None = None
        self.editions: dict[str, _EditionAt] = {}
        self._budgets: dict[tuple[str, str], BudgetRange | None] = {}
        self._lists: dict[tuple[str, str], Mixes] = {}

    def plan(self) -> Plan:
        """Return the plan of the sweep."""
        self._check_tables()
        self._read_grid()
        self._check_kind()
        self._check_editions()
        self._check_overlaps()
        for side in _SIDES:
            self.listed[side] = self._read_listed(side)
            self.budget_units[side] = self._read_budget_units(side)
        self._check_options()
        self.pairs = self._read_pairs()
        self._check_size()
        points: list[GridPoint] = []
        first = 0
        for values in itertools.product(*self.grid.values()):
            edition = self._edition_key(values)
            attackers, defenders = (self._mixes(side, edition) for side in _SIDES)
            point = GridPoint(values, self.editions[edition].name, attackers, defenders, self.pairs, first)
            points.append(point)
            first += len(point)
        return Plan(
            self.sweep,
            self.ruleset,
            self.grid,
            tuple(points),
            segment_schedule(self.sweep.sweep.battles),
        )

    def error(self, problem: str, field: str) -> ScenarioError:
        """Return an error at a field of the sweep file."""
        return ScenarioError(problem, field=field, source=self.sweep.source)

    def _check_tables(self) -> None:
        sweep = self.sweep
        _check_plain(sweep.scenario, "scenario", sweep.source)
        _check_plain(sweep.grid, "grid", sweep.source)
        _check_plain(sweep.sweep.editions, "sweep.editions", sweep.source)
        for side, table in self.sides.items():
            _check_plain(table.mixes, f"{side}.mixes", sweep.source)
            if not table.mixes and table.budget is None:
                raise self.error("needs mixes, a budget or both", side)
        model = self.ruleset.scenario_model
        options = {key: value for key, value in sweep.scenario.items() if (key, value) != ("ruleset", self.ruleset.id)}
        _check_fields(model, options, "scenario", "", sweep.source)
        edition = sweep.scenario.get("edition", sweep.sweep.edition)
        if sweep.sweep.edition is not None and sweep.sweep.edition != edition:
            raise self.error(f"differs from sweep.edition; give it once, got {shown(edition)}", "scenario.edition")

    def _read_grid(self) -> None:
        for key, values in self.sweep.grid.items():
            field = f"grid.{key}"
            root, _, path = key.partition(".")
            if root not in {"scenario", "edition"} or not path:
                near = suggestion(root, ("scenario", "edition"))
                raise self.error(f'must begin with "scenario." or "edition.", as in "edition.tank.cost"{near}', field)
            if root == "scenario":
                self._check_path(path, field, values)
            if not values:
                raise self.error("needs at least one value", field)
            texts = [json.dumps(value, sort_keys=True) for value in values]
            for i, text in enumerate(texts):
                if text in texts[:i]:
                    raise self.error(f"the value {shown(values[i])} stands here twice", f"{field}[{i}]")
            self.grid[key] = tuple(values)
        points = math.prod(map(len, self.grid.values()))
        if points > MAX_MATCHUPS:
            raise self.error(
                f"crosses to {points:,} combinations; at most {MAX_MATCHUPS:,} matchups are possible", "grid"
            )

    def _check_path(self, path: str, field: str, values: Sequence[Any]) -> None:
        """Refuse a grid key that names no field of a scenario."""
        model: type[Any] | None = self.ruleset.scenario_model
        parts = path.split(".")
        for i, part in enumerate(parts):
            if model is None:
                raise self.error(f'"{".".join(parts[:i])}" is a value, not a table', field)
            kind, model = _find_field(model, part, field, ".".join(parts[: i + 1]), self.sweep.source)
            if get_origin(kind) is dict:
                return
        for i, value in enumerate(values):
            _check_field(model, value, f"{field}[{i}]", path, self.sweep.source)

    def _edition_key(self, values: Sequence[Any]) -> str:
        """Return what decides the edition at a grid point, as a dictionary key."""
        return json.dumps(self._edition_values(values), sort_keys=True)

    def _edition_values(self, values: Sequence[Any]) -> dict[str, Any]:
        return {
            key: value
            for key, value in zip(self.grid, values, strict=True)
            if key.startswith("edition.") or key.split(".")[1] in _EDITION_FIELDS
        }

    def _check_kind(self) -> None:
        """Find the record that resolves the sweep; battles that are counted in different ways do not mix."""
        start = {key: values[0] for key, values in self.grid.items()}
        first = self.ruleset.kind_of(_frame(self.sweep, start))
        for key, values in self.grid.items():
            for i, value in enumerate(values):
                kind = self.ruleset.kind_of(_frame(self.sweep, {**start, key: value}))
                if kind != first:
                    raise self.error(
                        f'battles of the kinds "{first or "battle"}" and "{kind or "battle"}" are counted in '
                        "different ways and need a sweep each",
                        f"grid.{key}[{i}]",
                    )
        self.ruleset = self.ruleset.of_kind(first)
        scenario = {**self.ruleset.sweep_scenario, **self.sweep.scenario}
        self.sweep = self.sweep.model_copy(update={"scenario": scenario})

    def _check_editions(self) -> None:
        """Find the editions that occur; one that cannot be made is a problem of the sweep file."""
        for values in itertools.product(*self.grid.values()):
            key = self._edition_key(values)
            if key not in self.editions:
                try:
                    self.editions[key] = _EditionAt(self.sweep, self._edition_values(values), self.ruleset)
                except ScenarioError as problem:
                    raise self._placed(problem) from None

    def _check_overlaps(self) -> None:
        """Refuse grid keys that meet in one value: only one could have an effect, and the tables would name both."""
        found: dict[tuple[str, ...], str] = {}
        for key, values in self.grid.items():
            whole = self._target(key)
            leaves = {leaf for value in values for leaf in self._leaves(key, value)}
            for target, taken in found.items():
                # A table that comes later takes the place of what was set inside it.
                if target[: len(whole)] == whole or any(leaf == target[: len(leaf)] for leaf in leaves):
                    raise self.error(f"sets the same value as grid.{taken}; keep one of them", f"grid.{key}")
            found |= dict.fromkeys(leaves, key)
        # The switches of a scenario go before the values of its edition.
        switches = self.sweep.scenario.get("switches", {})
        for target, key in found.items():
            if key.startswith("edition.") and target[:-1] == ("edition", "switches") and target[-1] in switches:
                raise self.error(f"scenario.switches.{target[-1]} overrides this; leave it out", f"grid.{key}")

    def _leaves(self, key: str, value: object) -> Iterator[tuple[str, ...]]:
        """Yield what a value of the grid sets, which is more than one thing when it is a table."""
        if not isinstance(value, Mapping):
            yield self._target(key)
            return
        for name, entry in value.items():
            yield from self._leaves(f"{'edition' if key == 'scenario.edition_changes' else key}.{name}", entry)

    def _target(self, key: str) -> tuple[str, ...]:
        """Return what a grid key sets, alike for all ways to write it."""
        root, *parts = key.split(".")
        if root == "scenario":
            # Both lie over the edition.
            if parts[0] == "switches":
                return "edition", *parts
            return ("edition", *parts[1:]) if parts[0] == "edition_changes" else (root, *parts)
        if parts[0] == "units":
            parts = parts[1:]
        if len(parts) == _PAIR and parts[0] != "switches":
            parts = [self._unit(parts[0]), parts[1]]
        return root, *parts

    def _unit(self, word: str) -> str:
        """Return the name of a unit that may be written in another way, as far as some side may have it."""
        for edition in self.editions.values():
            try:
                (unit,) = edition.load("defender", {word: 1}).counts(_SIDES.index("defender"))
            except ScenarioError:
                continue
            return unit
        return word

    def _check_options(self) -> None:
        """Refuse options that fit at no grid point; those that fit somewhere fail row by row."""
        first: ScenarioError | None = None
        for values in itertools.product(*self.grid.values()):
            probe = self.editions[self._edition_key(values)].probe
            frame = _frame(self.sweep, dict(zip(self.grid, values, strict=True)))
            for attacker, defender in self._armies(probe):
                try:
                    load_scenario(_with_units(frame, attacker, defender))
                except ScenarioError as problem:
                    # What an invented unit cannot do says less than what the first mix cannot.
                    invented = first is None or first.field.rpartition(".")[2] in _ABOUT_UNITS
                    first = self._placed(problem) if invented else first
                else:
                    return
        has_budget = any(self.budget_units.values())
        if first is not None and not (has_budget and first.field.rpartition(".")[2] in _ABOUT_UNITS):
            raise first

    def _armies(self, probe: str) -> Iterator[tuple[Mapping[str, int], Mapping[str, int]]]:
        """Yield forces that the options may fit: one invented unit a side, then the mixes that are written down."""
        invented = ({probe: _PROBE_COUNT}, {probe: 1})
        yield invented
        sides = [[mix.counts for mix in self.listed[side]] or [invented[i]] for i, side in enumerate(_SIDES)]
        yield from itertools.islice(itertools.product(*sides), _MOST_PROBES)

    def _placed(self, problem: ScenarioError) -> ScenarioError:
        """Return a problem of a scenario at the place of the sweep file that brought it in."""
        field = problem.field
        if field.startswith("grid."):
            return problem
        for key in self.grid:
            root, _, path = key.partition(".")
            inner = f"edition_changes.{path}" if root == "edition" else path
            if field == inner or field.startswith((f"{inner}.", f"{inner}[")):
                return problem.at(field=f"grid.{key}", source=self.sweep.source)
        head = field.partition(".")[0]
        is_setting = head == "editions" or (head == "edition" and "edition" not in self.sweep.scenario)
        place = f"{'sweep' if is_setting else 'scenario'}.{field}" if field else "scenario"
        return problem.at(field=place, source=self.sweep.source)

    def _read_listed(self, side: str) -> list[_ListedMix]:
        found: list[_ListedMix] = []
        taken: dict[str, str] = {}
        for i, entry in enumerate(self.sides[side].mixes):
            field = f"{side}.mixes[{i}]"
            units, name, weight = self._read_entry(entry, field)
            counts, text = self._canonical(side, units, field)
            name = name or text or _EMPTY_NAME
            if name in taken:
                raise self.error(
                    f"the name {shown(name)} is taken by {taken[name]}; name one of them differently", field
                )
            taken[name] = field
            found.append(_ListedMix(field, name, text, counts, weight))
        return found

    def _read_entry(self, entry: object, field: str) -> tuple[object, str | None, float]:
        """Return units, name and weight of a mix as written."""
        if not isinstance(entry, dict) or not {"units", "name", "weight"} & entry.keys():
            return entry, None, 1.0
        unknown = [key for key in entry if key not in {"units", "name", "weight"}]
        if unknown:
            near = suggestion(unknown[0], ("units", "name", "weight"))
            raise self.error(f"unknown field{near}; allowed: name, units, weight", f"{field}.{unknown[0]}")
        if "units" not in entry:
            raise self.error("this field is required", f"{field}.units")
        name = entry.get("name")
        if name is not None and (not isinstance(name, str) or not name.strip() or not name.isprintable()):
            raise self.error(f"must be one line of text, got {shown(name)}", f"{field}.name")
        weight = entry.get("weight", 1.0)
        is_number = isinstance(weight, (int, float)) and not isinstance(weight, bool)
        if not is_number or not (weight == 0 or _LEAST_WEIGHT <= weight <= _MOST_WEIGHT):
            # Sums of weighted counts are exact; the ratios made of them must still fit a float.
            raise self.error(
                f"must be 0, or a number from {_LEAST_WEIGHT:g} to {_MOST_WEIGHT:g}, got {shown(weight)}",
                f"{field}.weight",
            )
        return entry["units"], name, float(weight)

    def _canonical(self, side: str, units: object, field: str) -> tuple[dict[str, int], str]:
        """Return counts and canonical text of a mix that is possible in at least one of the editions."""
        first: ScenarioError | None = None
        for edition in self.editions.values():
            try:
                scenario = edition.load(side, units)
            except ScenarioError as problem:
                first = first or problem
            else:
                number = _SIDES.index(side)
                return scenario.counts(number), scenario.unit_text(number)
        raise self.error(first.problem if first else "is not possible", field)

    def _read_budget_units(self, side: str) -> list[str]:
        """Return the unit types of a budget in table order; each must exist in one of the editions."""
        budget = self.sides[side].budget
        found: list[str] = []
        for i, word in enumerate(() if budget is None else budget.units):
            field = f"{side}.budget.units[{i}]"
            (unit,) = self._canonical(side, {word: 1}, field)[0]
            if unit in found:
                raise self.error(f"{unit} stands here twice", field)
            found.append(unit)
        known = dict.fromkeys(unit for edition in self.editions.values() for unit in edition.units)
        return [unit for unit in known if unit in found]

    def _budget_at(self, side: str, edition: str) -> BudgetRange | None:
        """Return the budget of a side in an edition."""
        if (side, edition) not in self._budgets:
            self._budgets[side, edition] = self._read_budget(side, self.editions[edition])
        return self._budgets[side, edition]

    def _read_budget(self, side: str, edition: _EditionAt) -> BudgetRange | None:
        budget = self.sides[side].budget
        if budget is None:
            return None
        found: dict[str, tuple[int, int]] = {}
        for unit in self.budget_units[side]:
            try:
                scenario: Any = edition.load(side, {unit: 1})
            except ScenarioError:
                continue  # exists in another edition of the grid only
            # A budget pays what the unit table says; captured guns have a price although they are never lost.
            found[unit] = (scenario.rules.units[unit].cost, scenario.cost(_SIDES.index(side)))
        prices = tuple(price for price, _ in found.values())
        costs = tuple(cost for _, cost in found.values())
        low = max(budget.cost - budget.slack, 0)
        whole = BudgetRange(tuple(found), prices, costs, low, budget.cost, budget.max_units)
        written = frozenset(row for mix in self.listed[side] if (row := whole.find(mix.counts)) is not None)
        for mix in self.listed[side]:
            self._check_name(side, mix, edition, whole, written)
        return replace(whole, written=written)

    def _check_name(
        self,
        side: str,
        mix: _ListedMix,
        edition: _EditionAt,
        budget: BudgetRange,
        written: frozenset[tuple[int, ...]],
    ) -> None:
        """Refuse a name that a mix of the budget has by itself."""
        if mix.name == mix.text:
            return
        try:
            scenario = edition.load(side, mix.name)
        except ScenarioError:
            return
        number = _SIDES.index(side)
        row = budget.find(scenario.counts(number))
        if row is not None and row not in written and scenario.unit_text(number) == mix.name:
            raise self.error(f"the name {shown(mix.name)} is taken by a mix of the budget", mix.field)

    def _count(self, side: str, edition: str) -> int:
        """Return how many mixes a side has in an edition."""
        budget = self._budget_at(side, edition)
        try:
            return len(self.listed[side]) + (0 if budget is None else budget.count())
        except OverflowError:
            raise self.error(
                "has too many possible totals to count; lower cost or max_units", f"{side}.budget"
            ) from None

    def _mixes(self, side: str, edition: str) -> Mixes:
        """Return the mixes of a side in an edition; they are the same at all its grid points."""
        if (side, edition) not in self._lists:
            self._lists[side, edition] = self._list_mixes(side, edition)
        return self._lists[side, edition]

    def _list_mixes(self, side: str, edition: str) -> Mixes:
        found = self.editions[edition]
        listed = [
            Mix(mix.name, mix.text, mix.counts, mix.weight, found.cost(side, mix.counts)) for mix in self.listed[side]
        ]
        return Mixes(listed, self._budget_at(side, edition))

    def _check_size(self) -> None:
        """Refuse what is too large, by counting alone."""
        pairs = self.sweep.sweep.pairs
        matchups = rows = 0
        for values in itertools.product(*self.grid.values()):
            key = self._edition_key(values)
            counts = [self._count(side, key) for side in _SIDES]
            for side, number in zip(_SIDES, counts, strict=True):
                if not number:
                    at = ", ".join(f"{name} = {shown(value)}" for name, value in zip(self.grid, values, strict=True))
                    place = f" at {at}" if at else ""
                    raise self.error(f"no mix is affordable{place}; raise cost, slack or max_units", f"{side}.budget")
            self._check_positions(counts)
            matchups += counts[0] * counts[1] if isinstance(pairs, str) else len(pairs)
            rows += sum(counts)
        for number, what in ((matchups, "matchups"), (rows, "unit mixes at all grid points together")):
            if number > MAX_MATCHUPS:
                raise self.error(f"asks for {number:,} {what}; at most {MAX_MATCHUPS:,} are possible", "sweep")
        settings = self.sweep.sweep
        if settings.method == "simulate" and settings.precision is None:
            check_battles(matchups, settings.battles, self.sweep.source)

    def _check_positions(self, counts: Sequence[int]) -> None:
        for i, pair in enumerate(self.pairs or ()):
            for side, position, number in zip(_SIDES, pair, counts, strict=True):
                if not 0 <= position < number:
                    raise self.error(
                        f"there is no {side} mix {position}; positions go from 0 to {number - 1}",
                        f"sweep.pairs[{i}]",
                    )

    def _read_pairs(self) -> tuple[tuple[int, int], ...] | None:
        pairs = self.sweep.sweep.pairs
        if isinstance(pairs, str):
            return None
        found: dict[tuple[int, int], int] = {}
        for i, pair in enumerate(pairs):
            field = f"sweep.pairs[{i}]"
            if len(pair) != _PAIR:
                raise self.error(f"must be [attacker, defender], got {shown(pair)}", field)
            key = (pair[0], pair[1])
            if key in found:
                raise self.error(f"is the same pair as sweep.pairs[{found[key]}]", field)
            found[key] = i
        if not found:
            raise self.error("needs at least one pair", "sweep.pairs")
        return tuple(found)


def plan_sweep(sweep: SweepFile) -> Plan:
    """Work out all matchups of a sweep.

    Parameters
    ----------
    sweep : SweepFile
        As read by ``load_sweep``.

    Returns
    -------
    Plan

    Raises
    ------
    ScenarioError
        For whatever is wrong with the sweep file itself, with the field. A matchup that is impossible by
        itself is not refused here; it becomes a failed row.

    Examples
    --------
    >>> from simcore.scenario import load_sweep
    >>> sides = {"attacker": {"mixes": ["3 infantry", "1 tank"]}, "defender": {"mixes": ["2 infantry"]}}
    >>> plan = plan_sweep(load_sweep({"sweep": {"name": "small"}, **sides}))
    >>> len(plan), plan.points[0].attackers[1].units
    (2, '1 tank')
    """
    return _Planner(sweep).plan()
