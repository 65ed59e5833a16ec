"""From tallies to the tables that are read later: matchups, survivors, mixes.

Sums of battles are exact integers and become floats only at the very end; what was solved are floats from the
beginning and is added in the order of the plan. Rows are written in that order and nothing about the run itself
(times, threads, resumptions) enters, so equal sweeps give equal bytes. Memory holds one row group and the mixes of one
grid point, however long the sweep is.
"""

from __future__ import annotations

import io
import json
import math
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from simcore.method import RESOLVED
from simcore.result import expected_sd, sample_sd
from simcore.scenario import load_scenario
from simcore.schema import SPREAD

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import numpy.typing as npt

    from simcore.run.mix import Mix
    from simcore.run.plan import GridPoint, Plan
    from simcore.run.store import Store
    from simcore.schema import Ruleset

__all__ = ["ALL_OUTCOMES", "TABLES", "Tables", "Total", "sample_sd", "writing_tables"]

TABLES: Final = ("matchups", "survivors", "mixes")
ALL_OUTCOMES: Final = "all"
_SIDES: Final = ("attacker", "defender")
_ROW_GROUP: Final = 8_192
_SEED_LIMIT: Final = 2**64


def _ratio(part: float, whole: float) -> float | None:
    """Return the correctly rounded quotient of two exact integers, or of two floats; None for nothing by nothing."""
    return part / whole if whole else None


class _Layout:
    """Where the figures of a tally lie."""

    def __init__(self, ruleset: Ruleset) -> None:
        at = {name: position for position, name in enumerate(ruleset.accumulators)}
        self.outcomes = [(name, at[f"outcome.{name}"]) for name in ruleset.outcomes]
        self.battles = at["battles"]
        self.moments = [
            (name.removesuffix(".sum").replace(".", "_"), at[name], at[f"{name}sq"])
            for name in ruleset.accumulators
            # Cycles on land are counted only where a battle took place on land.
            if name.endswith(".sum") and f"{name}sq" in at and not name.startswith("land.")
        ]
        self.means = [(column, at[name]) for name, column in ruleset.means.items() if name in at]
        self.means += [
            (name.replace("sea.outcome.", "p_sea_"), k) for name, k in at.items() if name.startswith("sea.outcome.")
        ]
        self.wins = [[at[f"outcome.{name}"] for name in ruleset.wins[side]] for side in _SIDES]
        self.lost = [at[f"{side}.cost_lost.sum"] for side in _SIDES]
        self.swing = at["swing.sum"]
        # Behind the accumulators, where a matchup was solved: quantiles of the swing, the chance that it is negative.
        self.spread = [(f"swing_{name}", len(at) + k) for k, name in enumerate(SPREAD)]
        self.survivors = {
            (side, unit): [at[f"survivors.{outcome}.{side}.{unit}"] for outcome in ruleset.outcomes]
            for side in _SIDES
            for unit in ruleset.units
            if f"survivors.{ruleset.outcomes[0]}.{side}.{unit}" in at
        }


class _Writer:
    """Collects rows and writes a row group whenever enough are together."""

    def __init__(self, file: _Sink, schema: pa.Schema) -> None:
        self._file = file
        self._schema = schema
        self._columns: list[list[Any]] = [[] for _ in schema]
        self._writer = pq.ParquetWriter(file, schema, compression="zstd")

    def add(self, row: Sequence[Any]) -> None:
        for column, value in zip(self._columns, row, strict=True):
            column.append(value)
        if len(self._columns[0]) == _ROW_GROUP:
            self._flush()

    def extend(self, rows: Sequence[Sequence[Any]]) -> None:
        """Add rows that belong together: a row group is not cut within them."""
        for column, values in zip(self._columns, zip(*rows, strict=True), strict=True):
            column.extend(values)
        if len(self._columns[0]) >= _ROW_GROUP:
            self._flush()

    def _flush(self) -> None:
        arrays = [pa.array(column, kind.type) for column, kind in zip(self._columns, self._schema, strict=True)]
        self._writer.write_batch(pa.record_batch(arrays, schema=self._schema))
        self._columns = [[] for _ in self._schema]

    def close(self) -> None:
        if self._columns[0]:
            self._flush()
        self._writer.close()

    def abandon(self) -> None:
        """Give up: nothing more reaches the disk, and nothing is left for the garbage collector to close."""
        self._file.abandon()
        try:
            self._writer.close()
        except (pa.ArrowException, OSError):
            self._writer.is_open = False


def _grid_type(values: Iterable[Any]) -> tuple[pa.DataType, bool]:
    """Return the column type that holds all values of a grid key, and whether they become JSON text."""
    kinds = {type(value) for value in values}
    if kinds == {bool}:
        return pa.bool_(), False
    if kinds == {int}:
        return pa.int64(), False
    if kinds <= {int, float}:
        return pa.float64(), False
    return pa.string(), kinds != {str}


def _json_text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)


@dataclass(frozen=True)
class Total:
    """All that was found about one matchup.

    Attributes
    ----------
    matchup : int
        Its number.
    tally : int64 (K + 6,)
        Accumulators over all its battles, or the bits of those that a solution expects of one (float64) and of its
        `SPREAD`; ignored when it failed.
    error : str
        Why it failed, empty when it did not.
    is_exact : bool
        Whether it was solved.
    """

    matchup: int
    tally: npt.NDArray[np.int64]
    error: str = ""
    is_exact: bool = False

    @property
    def figures(self) -> list[Any]:
        """Accumulators as integers, or as floats where it was solved."""
        return self.tally.view(np.float64).tolist() if self.is_exact else [int(value) for value in self.tally]


class _Figures(NamedTuple):
    """What a mix did, added up: over battles, or as expected of one battle against each opponent."""

    wins: float = 0
    swing: float = 0
    lost: float = 0
    enemy_lost: float = 0

    def plus(self, weight: int, other: _Figures) -> _Figures:
        return _Figures(*(own + weight * new for own, new in zip(self, other, strict=True)))


_NOTHING: Final = _Figures()


@dataclass(slots=True)
class _MixSums:
    """What a mix did against its opponents; sums carry the opponents' weights as integers."""

    opponents: int = 0
    battles: int = 0
    weight: int = 0
    solved: int = 0
    drawn_figures: _Figures = _NOTHING
    """Over all battles: whole numbers."""
    solved_figures: _Figures = _NOTHING
    worst: tuple[float, str] | None = None
    best: tuple[float, str] | None = None

    def add(self, *, weight: int, opponent: str, battles: int, figures: _Figures) -> None:
        """Add an opponent; 0 battles where the matchup was solved."""
        if weight and not self.weight:
            # Opponents without weight decide what is worst and best only as long as there are no others.
            self.worst = self.best = None
        is_counted = bool(weight or not self.weight)
        self.opponents += 1
        self.battles += battles
        self.weight += weight
        if battles:
            self.drawn_figures = self.drawn_figures.plus(weight, figures)
        else:
            self.solved += 1
            self.solved_figures = self.solved_figures.plus(weight, figures)
        if not is_counted:
            return
        share = figures.wins / (battles or 1)
        if self.worst is None or share < self.worst[0]:
            self.worst = (share, opponent)
        if self.best is None or share > self.best[0]:
            self.best = (share, opponent)

    def row(self, battles: int) -> list[Any]:
        """Return the figures of a mix; all its matchups that were simulated have the same number of battles."""
        total, weight = self.drawn_figures, self.weight * battles
        if self.solved:
            total = _Figures(*(own + n / battles for own, n in zip(self.solved_figures, total, strict=True)))
            weight = self.weight
        return [
            self.opponents,
            _ratio(total.wins, weight),
            None if self.worst is None else self.worst[0],
            None if self.best is None else self.best[0],
            None if self.worst is None else self.worst[1],
            None if self.best is None else self.best[1],
            _ratio(total.swing, weight),
            _ratio(total.lost, weight),
            _ratio(total.enemy_lost, weight),
            _ratio(total.enemy_lost, total.lost),
            self.battles,
        ]


def _whole_weights(mixes: Sequence[Mix]) -> list[int]:
    """Return the weights times their common denominator, so that weighted sums stay exact."""
    exact = [Fraction(mix.weight) for mix in mixes]
    common = math.lcm(*(weight.denominator for weight in exact))
    return [int(weight * common) for weight in exact]


class _PointSums:
    """The mixes of the grid point whose matchups are being added."""

    def __init__(self, point: GridPoint) -> None:
        self.point = point
        sides = (point.attackers, point.defenders)
        self.weights = [_whole_weights(mixes) for mixes in sides]
        self.sums = [[_MixSums() for _ in mixes] for mixes in sides]


class _Sink(io.RawIOBase):
    """Passes bytes on until it is abandoned; a writer can then be closed without touching the disk."""

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__()
        self._file = file
        self._is_abandoned = False

    def abandon(self) -> None:
        self._is_abandoned = True

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        return len(data) if self._is_abandoned else self._file.write(data)


@contextmanager
def writing_tables(store: Store, plan: Plan) -> Iterator[Tables]:
    """Open the tables; they take their places when the block ends without an error.

    Parameters
    ----------
    store : Store
        The results folder.
    plan : Plan
        What the matchups are.

    Yields
    ------
    Tables

    Raises
    ------
    StoreError
        When they cannot be written; older tables stay as they were.
    """
    with ExitStack() as stack:
        sinks = {name: _Sink(stack.enter_context(store.replacing(f"{name}.parquet"))) for name in TABLES}
        tables = Tables(plan, sinks)
        try:
            yield tables
            tables.finish()
        except BaseException:
            tables.abandon()
            raise


class Tables:
    """Turns the tallies of matchups into rows of the three tables.

    Parameters
    ----------
    plan : Plan
        What the matchups are.
    sinks : mapping of str to binary file
        Where each table goes.

    Attributes
    ----------
    failed, solved : int
        Failed and solved matchups so far.
    """

    def __init__(self, plan: Plan, sinks: Mapping[str, _Sink]) -> None:
        self.failed = 0
        self.solved = 0
        self._places: dict[tuple[int, int, str], str] = {}
        self._mix_costs: dict[tuple[int, int, int], int] = {}
        self._plan = plan
        self._ruleset = plan.ruleset
        self._layout = _Layout(plan.ruleset)
        self._grid: list[tuple[pa.DataType, bool]] = [_grid_type(values) for values in plan.grid.values()]
        self._seed: Any = plan.seed if plan.seed < _SEED_LIMIT else str(plan.seed)
        self._matchups = _Writer(sinks["matchups"], self._matchup_schema())
        self._survivors = _Writer(sinks["survivors"], self._survivor_schema())
        self._mixes = _Writer(sinks["mixes"], self._mix_schema())
        self._writers = (self._matchups, self._survivors, self._mixes)
        self._points = iter(plan.points)
        self._sums = _PointSums(next(self._points))

    def finish(self) -> None:
        """Write what is still held; call it after the last matchup."""
        self._write_mixes(self._sums)
        for point in self._points:
            self._write_mixes(_PointSums(point))
        for writer in self._writers:
            writer.close()

    def abandon(self) -> None:
        """Give up the tables; the files are left to whoever opened them."""
        for writer in self._writers:
            writer.abandon()

    def _grid_fields(self) -> list[tuple[str, pa.DataType]]:
        return [(f"grid.{key}", kind) for key, (kind, _) in zip(self._plan.grid, self._grid, strict=True)]

    def _grid_values(self, point: GridPoint) -> list[Any]:
        return [
            _json_text(value) if as_text else value
            for value, (_, as_text) in zip(point.values, self._grid, strict=True)
        ]

    def _matchup_schema(self) -> pa.Schema:
        figures = [f"p_{name}" for name, _ in self._layout.outcomes]
        figures += [f"{name}_{what}" for name, _, _ in self._layout.moments for what in ("mean", "sd")]
        figures += [name for name, _ in self._layout.means]
        return pa.schema(
            [
                ("matchup", pa.int32()),
                ("attacker", pa.string()),
                ("defender", pa.string()),
                ("attacker_units", pa.string()),
                ("defender_units", pa.string()),
                ("attacker_weight", pa.float64()),
                ("defender_weight", pa.float64()),
                *self._grid_fields(),
                ("ruleset", pa.string()),
                ("edition", pa.string()),
                ("method", pa.string()),
                ("battles", pa.int64()),
                ("seed", pa.string() if isinstance(self._seed, str) else pa.uint64()),
                ("attacker_cost", pa.int64()),
                ("defender_cost", pa.int64()),
                *((f"n_{name}", pa.int64()) for name, _ in self._layout.outcomes),
                *((name, pa.float64()) for name in figures),
                *((name, pa.float64()) for name, _ in self._layout.spread),
                ("status", pa.string()),
                ("error", pa.string()),
            ]
        )

    def _survivor_schema(self) -> pa.Schema:
        return pa.schema(
            [
                ("matchup", pa.int32()),
                ("side", pa.string()),
                ("unit", pa.string()),
                ("outcome", pa.string()),
                ("battles", pa.int64()),
                ("start", pa.int32()),
                ("mean", pa.float64()),
            ]
        )

    def _mix_schema(self) -> pa.Schema:
        return pa.schema(
            [
                ("side", pa.string()),
                ("mix", pa.string()),
                ("units", pa.string()),
                ("cost", pa.int64()),
                ("weight", pa.float64()),
                *self._grid_fields(),
                ("n_opponents", pa.int32()),
                ("win_share_mean", pa.float64()),
                ("win_share_worst", pa.float64()),
                ("win_share_best", pa.float64()),
                ("worst_opponent", pa.string()),
                ("best_opponent", pa.string()),
                ("swing_mean", pa.float64()),
                ("cost_lost_mean", pa.float64()),
                ("enemy_cost_lost_mean", pa.float64()),
                ("cost_efficiency", pa.float64()),
                ("battles", pa.int64()),
            ]
        )

    def add(self, total: Total) -> None:
        """Add the next matchup; they come in the order of their numbers.

        Parameters
        ----------
        total : Total
            What was found about it.
        """
        point, i, j = self._plan.locate(total.matchup)
        attacker, defender = point.attackers[i], point.defenders[j]
        costs = self._costs(total.matchup, point, i, j, total.error)
        figures: list[Any] = [] if total.error else total.figures
        self._add_matchup(total, point, (attacker, defender), costs, figures)
        sums = self._sums_of(point)
        if total.error:
            self.failed += 1
            return
        self.solved += total.is_exact
        self._add_survivors(total, point, (attacker, defender), figures)
        layout = self._layout
        for side, (own, enemy) in enumerate(((i, j), (j, i))):
            sums.sums[side][own].add(
                weight=sums.weights[1 - side][enemy],
                opponent=(defender, attacker)[side].name,
                battles=0 if total.is_exact else figures[layout.battles],
                figures=_Figures(
                    wins=sum(figures[k] for k in layout.wins[side]),
                    swing=figures[layout.swing] * (1, -1)[side],
                    lost=figures[layout.lost[side]],
                    enemy_lost=figures[layout.lost[1 - side]],
                ),
            )

    def _add_matchup(
        self,
        total: Total,
        point: GridPoint,
        mixes: tuple[Mix, Mix],
        costs: tuple[int | None, int | None],
        figures: Sequence[Any],
    ) -> None:
        layout = self._layout
        row: list[Any] = [total.matchup, mixes[0].name, mixes[1].name, mixes[0].units, mixes[1].units]
        row += [mixes[0].weight, mixes[1].weight, *self._grid_values(point)]
        row += [self._ruleset.id, point.edition, self._method(total)]
        is_exact = total.is_exact
        n = 1 if is_exact or total.error else figures[layout.battles]
        row += [None if total.error else 0 if is_exact else n, self._seed, *costs]
        if total.error:
            row += [None] * (2 * len(layout.outcomes) + 2 * len(layout.moments) + len(layout.means))
            row += [None] * len(layout.spread)
        else:
            row += [None if is_exact else figures[k] for _, k in layout.outcomes]
            row += [figures[k] / n for _, k in layout.outcomes]
            for _, mean, squares in layout.moments:
                spread = expected_sd if is_exact else sample_sd
                row += [figures[mean] / n, spread(n, figures[mean], figures[squares])]
            row += [figures[k] / n for _, k in layout.means]
            row += [figures[k] if is_exact and figures[k] == figures[k] else None for _, k in layout.spread]
        row += ["failed" if total.error else "ok", total.error]
        self._matchups.add(row)

    def _method(self, total: Total) -> str | None:
        """Return how a matchup was resolved; of one that failed under "auto" nobody can tell."""
        if total.error:
            return {"simulate": RESOLVED[False], "exact": RESOLVED[True]}.get(self._plan.method)
        return RESOLVED[total.is_exact]

    def _costs(self, matchup: int, point: GridPoint, i: int, j: int, error: str) -> tuple[int | None, int | None]:
        """Return the costs of both sides: those of the mixes, and of what the scenario adds to them."""
        if error or not self._ruleset.kind:
            return point.attackers[i].cost, point.defenders[j].cost
        found: list[int | None] = []
        for side, place in enumerate((i, j)):
            key = (point.first, side, place)
            if key not in self._mix_costs:
                self._mix_costs[key] = load_scenario(self._plan.scenario(matchup)).cost(side)
            found.append(self._mix_costs[key])
        return found[0], found[1]

    def _place(self, matchup: int, point: GridPoint, side: int, unit: str) -> str:
        """Return the place of a unit on axis T at a grid point; "" if it cannot be lost and is not counted."""
        key = (point.first, side, unit)
        if key not in self._places:
            scenario = load_scenario(self._plan.scenario(matchup))
            self._places[key] = scenario.counted_as(unit) if unit in scenario.casualties(side) else ""
        return self._places[key]

    def _starts(self, matchup: int, point: GridPoint, side: int, mix: Mix) -> list[tuple[str, int]]:
        """Return the units of a side that can be lost, with their numbers at the start."""
        if self._ruleset.kind == "assault":  # ships stand in the scenario, not in the mix
            return list(load_scenario(self._plan.scenario(matchup)).casualties(side).items())
        return [(unit, n) for unit, n in mix.counts.items() if self._place(matchup, point, side, unit)]

    def _add_survivors(self, total: Total, point: GridPoint, mixes: tuple[Mix, Mix], figures: Sequence[Any]) -> None:
        layout = self._layout
        is_exact = total.is_exact
        n = 1 if is_exact else figures[layout.battles]
        counts = [(o, name, figures[k]) for o, (name, k) in enumerate(layout.outcomes) if figures[k]]
        rows: list[tuple[Any, ...]] = []
        for number, (side, mix) in enumerate(zip(_SIDES, mixes, strict=True)):
            for unit, start in self._starts(total.matchup, point, number, mix):
                place = self._place(total.matchup, point, number, unit)
                left = [figures[k] for k in layout.survivors[side, place]]
                shown = 0 if is_exact else n
                rows.append((total.matchup, side, unit, ALL_OUTCOMES, shown, start, sum(left) / n))
                rows += [
                    (total.matchup, side, unit, outcome, 0 if is_exact else times, start, left[o] / times)
                    for o, outcome, times in counts
                ]
        if rows:
            self._survivors.extend(rows)

    def _sums_of(self, point: GridPoint) -> _PointSums:
        """Return the sums of `point`, after writing the mixes of all grid points before it."""
        while self._sums.point is not point:
            self._write_mixes(self._sums)
            self._sums = _PointSums(next(self._points))
        return self._sums

    def _write_mixes(self, done: _PointSums) -> None:
        values = self._grid_values(done.point)
        for side, mixes in enumerate((done.point.attackers, done.point.defenders)):
            for place, (mix, sums) in enumerate(zip(mixes, done.sums[side], strict=True)):
                cost = self._mix_costs.get((done.point.first, side, place), mix.cost)
                start = [_SIDES[side], mix.name, mix.units, cost, mix.weight, *values]
                self._mixes.add(start + sums.row(self._plan.battles))
