"""From tallies to the tables that are read later: matchups, survivors, mixes.

All sums are exact integers and become floats only at the very end, rows are written in the order of the plan
and nothing about the run itself (times, threads, resumptions) enters, so equal sweeps give equal bytes.
Memory holds one row group and the mixes of one grid point, however long the sweep is.
"""

from __future__ import annotations

import io
import json
import math
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import IO, TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from simcore.result import expected_sd, sample_sd
from simcore.scenario import load_scenario

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import numpy.typing as npt

    from simcore.run.mix import Mix
    from simcore.run.plan import GridPoint, Plan
    from simcore.run.store import Store
    from simcore.schema import Ruleset

__all__ = ["ALL_OUTCOMES", "METHODS_SHOWN", "TABLES", "Tables", "sample_sd", "writing_tables"]

TABLES: Final = ("matchups", "survivors", "mixes")
ALL_OUTCOMES: Final = "all"
METHODS_SHOWN: Final = {False: "simulated", True: "exact"}
"""How a sweep's results were found, by whether it is exact."""
_SIDES: Final = ("attacker", "defender")
_ROW_GROUP: Final = 8_192
_SEED_LIMIT: Final = 2**64


def _ratio(part: int, whole: int) -> float | None:
    """Return the correctly rounded quotient of two exact integers, None for nothing by nothing."""
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


@dataclass(slots=True)
class _MixSums:
    """What a mix did against its opponents; sums carry the opponents' weights as integers."""

    opponents: int = 0
    battles: int = 0
    weight: int = 0
    wins: int = 0
    swing: int = 0
    lost: int = 0
    enemy_lost: int = 0
    worst: tuple[int, str] | None = None
    best: tuple[int, str] | None = None

    def add(self, *, weight: int, opponent: str, battles: int, wins: int, swing: int, lost: int, enemy: int) -> None:
        self.opponents += 1
        self.battles += battles
        self.weight += weight
        self.wins += weight * wins
        self.swing += weight * swing
        self.lost += weight * lost
        self.enemy_lost += weight * enemy
        if self.worst is None or wins < self.worst[0]:
            self.worst = (wins, opponent)
        if self.best is None or wins > self.best[0]:
            self.best = (wins, opponent)

    def row(self, battles: int) -> list[Any]:
        """Return the figures of a mix; all its matchups have the same number of battles."""
        weighted = self.weight * battles
        return [
            self.opponents,
            _ratio(self.wins, weighted),
            None if self.worst is None else self.worst[0] / battles,
            None if self.best is None else self.best[0] / battles,
            None if self.worst is None else self.worst[1],
            None if self.best is None else self.best[1],
            _ratio(self.swing, weighted),
            _ratio(self.lost, weighted),
            _ratio(self.enemy_lost, weighted),
            _ratio(self.enemy_lost, self.lost),
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
    failed : int
        Failed matchups so far.
    """

    def __init__(self, plan: Plan, sinks: Mapping[str, _Sink]) -> None:
        self.failed = 0
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

    def add(self, matchup: int, tally: npt.NDArray[np.int64], error: str) -> None:
        """Add the next matchup; they come in the order of their numbers.

        Parameters
        ----------
        matchup : int
            Number of the matchup.
        tally : int64 (K,)
            Accumulators over all its battles; ignored when it failed.
        error : str
            Why it failed, empty when it did not.
        """
        point, i, j = self._plan.locate(matchup)
        attacker, defender = point.attackers[i], point.defenders[j]
        # A solved matchup has expected values in place of counts, bit by bit.
        is_exact = self._plan.is_exact
        figures: list[Any] = tally.view(np.float64).tolist() if is_exact else [int(value) for value in tally]
        costs = self._costs(matchup, point, i, j, error)
        self._add_matchup(matchup, point, (attacker, defender), costs, figures, error)
        sums = self._sums_of(point)
        if error:
            self.failed += 1
            return
        self._add_survivors(matchup, point, (attacker, defender), figures)
        layout = self._layout
        for side, (own, enemy) in enumerate(((i, j), (j, i))):
            sums.sums[side][own].add(
                weight=sums.weights[1 - side][enemy],
                opponent=(defender, attacker)[side].name,
                battles=0 if is_exact else figures[layout.battles],
                wins=sum(figures[k] for k in layout.wins[side]),
                swing=figures[layout.swing] * (1, -1)[side],
                lost=figures[layout.lost[side]],
                enemy=figures[layout.lost[1 - side]],
            )

    def _add_matchup(
        self,
        matchup: int,
        point: GridPoint,
        mixes: tuple[Mix, Mix],
        costs: tuple[int | None, int | None],
        figures: Sequence[int],
        error: str,
    ) -> None:
        layout = self._layout
        row: list[Any] = [matchup, mixes[0].name, mixes[1].name, mixes[0].units, mixes[1].units]
        row += [mixes[0].weight, mixes[1].weight, *self._grid_values(point)]
        row += [self._ruleset.id, point.edition, METHODS_SHOWN[self._plan.is_exact]]
        is_exact = self._plan.is_exact
        n = 1 if is_exact else figures[layout.battles] if figures and not error else 0
        row += [None if error else 0 if is_exact else n, self._seed, *costs]
        if error:
            row += [None] * (2 * len(layout.outcomes) + 2 * len(layout.moments) + len(layout.means))
        else:
            row += [None if is_exact else figures[k] for _, k in layout.outcomes]
            row += [figures[k] / n for _, k in layout.outcomes]
            for _, total, squares in layout.moments:
                spread = expected_sd if is_exact else sample_sd
                row += [figures[total] / n, spread(n, figures[total], figures[squares])]
            row += [figures[k] / n for _, k in layout.means]
        row += ["failed" if error else "ok", error]
        self._matchups.add(row)

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

    def _add_survivors(self, matchup: int, point: GridPoint, mixes: tuple[Mix, Mix], figures: Sequence[int]) -> None:
        layout = self._layout
        counts = [(name, figures[k]) for name, k in layout.outcomes]
        for number, (side, mix) in enumerate(zip(_SIDES, mixes, strict=True)):
            for unit, start in self._starts(matchup, point, number, mix):
                place = self._place(matchup, point, number, unit)
                left = [figures[k] for k in layout.survivors[side, place]]
                is_exact = self._plan.is_exact
                n = 1 if is_exact else figures[layout.battles]
                shown = 0 if is_exact else n
                self._survivors.add([matchup, side, unit, ALL_OUTCOMES, shown, start, sum(left) / n])
                for (outcome, times), total in zip(counts, left, strict=True):
                    if times:
                        shown = 0 if is_exact else times
                        self._survivors.add([matchup, side, unit, outcome, shown, start, total / times])

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
