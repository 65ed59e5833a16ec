"""From tallies to the tables that are read later: matchups, survivors, mixes.

Sums of battles are exact integers and become floats only at the very end; what was solved are floats from the
beginning and is added in the order of the plan. Rows are written in that order and nothing about the run itself
(times, threads, resumptions) enters, so equal sweeps give equal bytes. Memory holds one row group and the mixes of one
grid point, however long the sweep is.
"""

from __future__ import annotations

import hashlib
import io
import itertools
import json
import math
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from simcore.method import RESOLVED
from simcore.precision import reached
from simcore.result import expected_sd, sample_sd
from simcore.run.block import LARGEST_WEIGHT, Block, SolvedSums, Survivors, matchup_figures, survivor_columns
from simcore.run.manifest import SCHEMA
from simcore.scenario import load_scenario
from simcore.schema import SPREAD

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import numpy.typing as npt

    from simcore.core.swing import SwingCounts
    from simcore.run.mix import Mix
    from simcore.run.plan import GridPoint, Plan
    from simcore.run.store import Store
    from simcore.schema import Ruleset

__all__ = ["ALL_OUTCOMES", "TABLES", "Tables", "Total", "sample_sd", "writing_tables"]

TABLES: Final = ("matchups", "survivors", "mixes")
ALL_OUTCOMES: Final = "all"
_SIDES: Final = ("attacker", "defender")
_ROW_GROUP: Final = 8_192
_AT_ONCE: Final = 2_048
"""Solved matchups that are turned into rows together."""
_SEED_LIMIT: Final = 2**64
_NOTES: Final = {"simcore.schema": str(SCHEMA)}
"""Metadata of each table file."""


def _ratio(part: Fraction | float, whole: Fraction | float) -> float | None:
    """Return the correctly rounded quotient of two exact numbers, or of floats; None for nothing by nothing."""
    return float(part / whole) if whole else None


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

    def __init__(
        self, file: _Sink, schema: pa.Schema, fill: Callable[[dict[str, list[Any]]], None] | None = None
    ) -> None:
        self.schema = schema
        self._fill = fill
        """Works out columns from others, for all rows of a group at once."""
        self._columns: list[list[Any]] = [[] for _ in schema]
        self._sealed: list[list[pa.Array]] = []
        self._held = 0
        self._writer = pq.ParquetWriter(file, schema.with_metadata(_NOTES), compression="zstd")

    def add(self, row: Sequence[Any]) -> None:
        for column, value in zip(self._columns, row, strict=True):
            column.append(value)
        self._count(1)

    def extend(self, rows: Sequence[Sequence[Any]]) -> None:
        """Add rows that belong together: a row group is not cut within them."""
        for column, values in zip(self._columns, zip(*rows, strict=True), strict=True):
            column.extend(values)
        self._count(len(rows))

    def extend_columns(self, columns: Sequence[pa.Array], ends: npt.NDArray[np.int64]) -> None:
        """Add rows column by column; a row group may end at each of `ends`, the last of which is their number."""
        self._seal()
        low = 0
        while low < ends[-1]:
            last = int(np.searchsorted(ends, low + _ROW_GROUP - self._held))
            high = int(ends[min(last, len(ends) - 1)])
            self._sealed.append([column.slice(low, high - low) for column in columns])
            self._count(high - low)
            low = high

    def _count(self, more: int) -> None:
        self._held += more
        if self._held >= _ROW_GROUP:
            self._flush()

    def _seal(self) -> None:
        """Turn rows into columns."""
        if not self._columns[0]:
            return
        if self._fill is not None:
            self._fill(dict(zip(self.schema.names, self._columns, strict=True)))
        self._sealed.append(
            [pa.array(column, kind.type) for column, kind in zip(self._columns, self.schema, strict=True)]
        )
        self._columns = [[] for _ in self.schema]

    def _flush(self) -> None:
        self._seal()
        arrays = [pa.concat_arrays(pieces) for pieces in zip(*self._sealed, strict=True)]
        self._writer.write_batch(pa.record_batch(arrays, schema=self.schema))
        self._sealed = []
        self._held = 0

    def close(self) -> None:
        if self._held:
            self._flush()
        self._writer.close()

    def abandon(self) -> None:
        """Give up, where nothing reaches the disk any more: nothing is left for the garbage collector to close."""
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
    seed : str, optional
        Seeds of its battles, where they are those of several runs.
    swings : SwingCounts, optional
        How often each swing occurred in its battles; None where it was solved, and where older versions drew some.
    """

    matchup: int
    tally: npt.NDArray[np.int64]
    error: str = ""
    is_exact: bool = False
    seed: str | None = None
    swings: SwingCounts | None = None

    def plus(self, more: Total) -> Total:
        """Return this and further battles of the same matchup together.

        Parameters
        ----------
        more : Total
            Counted later.

        Returns
        -------
        Total
        """
        swings = None if self.swings is None or more.swings is None else self.swings.plus(more.swings)
        tally, error = self.tally + more.tally, self.error or more.error
        return Total(self.matchup, tally, error, is_exact=more.is_exact, swings=swings)

    @property
    def figures(self) -> list[Any]:
        """Accumulators as integers, or as floats where it was solved."""
        return self.tally.view(np.float64).tolist() if self.is_exact else [int(value) for value in self.tally]


class _Figures(NamedTuple):
    """What a mix did, added up: over battles, or as expected of one battle against each opponent."""

    wins: Fraction | float = 0
    swing: Fraction | float = 0
    lost: Fraction | float = 0
    enemy_lost: Fraction | float = 0

    def plus(self, weight: int, other: _Figures) -> _Figures:
        return _Figures(*(own + weight * new for own, new in zip(self, other, strict=True)))

    def over(self, battles: int) -> _Figures:
        return _Figures(*(Fraction(int(own), battles) for own in self))


_NOTHING: Final = _Figures()


@dataclass(slots=True)
class _MixSums:
    """What a mix did against its opponents; sums carry the opponents' weights as integers."""

    opponents: int = 0
    battles: int = 0
    weight: int = 0
    solved_figures: _Figures | None = None
    drawn_figures: dict[int, _Figures] = field(default_factory=dict)
    """Over all battles of the matchups with a number of battles: whole numbers."""
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
            self.drawn_figures[battles] = self.drawn_figures.get(battles, _NOTHING).plus(weight, figures)
        else:
            self.solved_figures = (self.solved_figures or _NOTHING).plus(weight, figures)
        if not is_counted:
            return
        share = float(figures.wins / (battles or 1))
        if self.worst is None or share < self.worst[0]:
            self.worst = (share, opponent)
        if self.best is None or share > self.best[0]:
            self.best = (share, opponent)

    def enter(
        self,
        opponents: int,
        weight: int,
        figures: _Figures,
        worst: tuple[float, str],
        best: tuple[float, str],
    ) -> None:
        """Add what was added up elsewhere: opponents of matchups that were solved, their weights included."""
        self.opponents += opponents
        self.weight += weight
        self.solved_figures = (self.solved_figures or _NOTHING).plus(1, figures)
        if self.worst is None or worst[0] < self.worst[0]:
            self.worst = worst
        if self.best is None or best[0] > self.best[0]:
            self.best = best

    def row(self) -> list[Any]:
        """Return the figures of a mix."""
        total = self._total()
        return [
            self.opponents,
            _ratio(total.wins, self.weight),
            None if self.worst is None else self.worst[0],
            None if self.best is None else self.best[0],
            None if self.worst is None else self.worst[1],
            None if self.best is None else self.best[1],
            _ratio(total.swing, self.weight),
            _ratio(total.lost, self.weight),
            _ratio(total.enemy_lost, self.weight),
            _ratio(total.enemy_lost, total.lost),
            self.battles,
        ]

    def _total(self) -> _Figures:
        """Return the figures of one battle against each opponent: opponents weigh by their weights, not by battles."""
        drawn = _NOTHING
        for battles, figures in self.drawn_figures.items():
            drawn = drawn.plus(1, figures.over(battles))
        if self.solved_figures is None:
            return drawn
        return _Figures(*(own + float(more) for own, more in zip(self.solved_figures, drawn, strict=True)))


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
        self.solved = [SolvedSums(len(mixes)) for mixes in sides]
        self.survivors: tuple[Survivors, Survivors] | None = None

    @property
    def takes_blocks(self) -> bool:
        """Whether sums of weighted figures may be added up as floats, and all opponents count alike as extremes."""
        return all(sum(weights) < LARGEST_WEIGHT and (all(weights) or not any(weights)) for weights in self.weights)

    def finish(self) -> None:
        """Enter what was added in blocks into `sums`."""
        enemies = (self.point.defenders, self.point.attackers)
        for solved, sums, mixes in zip(self.solved, self.sums, enemies, strict=True):
            for place in np.flatnonzero(solved.opponents).tolist():
                (worst, worst_of), (best, best_of) = solved.extremes(place)
                sums[place].enter(
                    int(solved.opponents[place]),
                    int(solved.weights[place]),
                    _Figures(*solved.figures[place].tolist()),
                    (worst, mixes[worst_of].name),
                    (best, mixes[best_of].name),
                )


class _Sink(io.RawIOBase):
    """Passes bytes on until it is abandoned; a writer can then be closed without touching the disk."""

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__()
        self._file = file
        self._is_abandoned = False
        self._digest = hashlib.sha256()

    @property
    def digest(self) -> str:
        """SHA-256 of all that was passed on, as hex digits."""
        return self._digest.hexdigest()

    def abandon(self) -> None:
        self._is_abandoned = True

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        if self._is_abandoned:
            return len(data)
        self._digest.update(data)
        return self._file.write(data)


@contextmanager
def writing_tables(store: Store, plan: Plan, *, are_seeds_text: bool = False) -> Iterator[Tables]:
    """Open the tables; they take their places when the block ends without an error.

    Parameters
    ----------
    store : Store
        The results folder.
    plan : Plan
        What the matchups are.
    are_seeds_text : bool
        True where matchups may have battles of several seeds.

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
        tables: Tables | None = None
        # Someone may interrupt while they are made, too.
        try:
            tables = Tables(plan, sinks, are_seeds_text=are_seeds_text)
            yield tables
            tables.finish()
        except BaseException:
            for sink in sinks.values():
                sink.abandon()
            if tables is not None:
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
    are_seeds_text : bool
        True where matchups may have battles of several seeds.

    Attributes
    ----------
    digests : dict of str to str
        SHA-256 of each table file, once it is finished.
    failed, solved : int
        Failed and solved matchups so far.
    battles : int
        Battles of all others.
    """

    def __init__(self, plan: Plan, sinks: Mapping[str, _Sink], *, are_seeds_text: bool = False) -> None:
        self.failed = 0
        self.solved = 0
        self.digests: dict[str, str] = {}
        self._sinks = sinks
        self.battles = 0
        self._places: dict[tuple[int, int, str], str] = {}
        self._mix_costs: dict[tuple[int, int, int], int] = {}
        self._plan = plan
        self._ruleset = plan.ruleset
        self._layout = _Layout(plan.ruleset)
        self._grid: list[tuple[pa.DataType, bool]] = [_grid_type(values) for values in plan.grid.values()]
        self._seed: Any = plan.seed if plan.seed < _SEED_LIMIT and not are_seeds_text else str(plan.seed)
        self._has_precision = plan.precision is not None
        self._matchups = _Writer(
            sinks["matchups"], self._matchup_schema(), self._fill_precision if self._has_precision else None
        )
        self._survivors = _Writer(sinks["survivors"], self._survivor_schema())
        self._mixes = _Writer(sinks["mixes"], self._mix_schema())
        self._writers = (self._matchups, self._survivors, self._mixes)
        self._points = iter(plan.points)
        self._sums = _PointSums(next(self._points))
        self._waiting: list[Total] = []

    def finish(self) -> None:
        """Write what is still held; call it after the last matchup."""
        self._add_waiting()
        self._write_mixes(self._sums)
        for point in self._points:
            self._write_mixes(_PointSums(point))
        for writer in self._writers:
            writer.close()
        self.digests = {name: sink.digest for name, sink in self._sinks.items()}

    def abandon(self) -> None:
        """Give up the tables, whose sinks are abandoned; the files are left to whoever opened them."""
        for writer in self._writers:
            writer.abandon()

    def _grid_fields(self) -> list[tuple[str, pa.DataType]]:
        return [(f"grid.{key}", kind) for key, (kind, _) in zip(self._plan.grid, self._grid, strict=True)]

    def _grid_values(self, point: GridPoint) -> list[Any]:
        return [
            _json_text(value) if as_text else value
            for value, (_, as_text) in zip(point.values, self._grid, strict=True)
        ]

    def _figure_names(self) -> list[str]:
        figures = [f"p_{name}" for name, _ in self._layout.outcomes]
        figures += [f"{name}_{what}" for name, _, _ in self._layout.moments for what in ("mean", "sd")]
        return figures + [name for name, _ in self._layout.means]

    def _matchup_schema(self) -> pa.Schema:
        figures = self._figure_names()
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
                *([("precision", pa.float64())] if self._has_precision else []),
                ("seed", pa.string() if isinstance(self._seed, str) else pa.uint64()),
                ("attacker_cost", pa.int64()),
                ("defender_cost", pa.int64()),
                *((f"n_{name}", pa.int64()) for name, _ in self._layout.outcomes),
                *((name, pa.float64()) for name in figures),
                *((name, pa.float64()) for name, _ in self._layout.spread),
                ("swing_rounding", pa.float64()),
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
        if total.is_exact and not total.error and not self._ruleset.kind:
            self._waiting.append(total)
            if len(self._waiting) == _AT_ONCE:
                self._add_waiting()
            return
        self._add_waiting()
        self._add_one(total)

    def _add_waiting(self) -> None:
        """Add the solved matchups that were waiting for others, grid point by grid point."""
        waiting, self._waiting = self._waiting, []
        located = [self._plan.locate(total.matchup) for total in waiting]
        for _, group in itertools.groupby(range(len(waiting)), key=lambda at: located[at][0].first):
            at = list(group)
            sums = self._sums_of(located[at[0]][0])
            if not sums.takes_blocks:
                for k in at:
                    self._add_one(waiting[k])
                continue
            first, second = (np.array([located[k][side] for k in at], dtype=np.int64) for side in (1, 2))
            numbers = np.array([waiting[k].matchup for k in at], dtype=np.int64)
            figures = np.stack([waiting[k].tally for k in at]).view(np.float64)
            self._add_block(Block(numbers, (first, second), figures), sums)

    def _add_block(self, block: Block, sums: _PointSums) -> None:
        """Add solved matchups of one grid point."""
        layout, point = self._layout, sums.point
        self.solved += len(block.matchups)
        self._matchups.extend_columns(self._block_columns(block, point), np.arange(1, len(block.matchups) + 1))
        if sums.survivors is None:
            sums.survivors = (
                Survivors(partial(self._casualties, point, 0)),
                Survivors(partial(self._casualties, point, 1)),
            )
        outcomes = [k for _, k in layout.outcomes]
        names = [ALL_OUTCOMES, *(name for name, _ in layout.outcomes)]
        columns, ends = survivor_columns(block, sums.survivors, outcomes, names)
        if columns:
            self._survivors.extend_columns(columns, ends)
        figures = block.figures
        for side in range(2):
            own, enemy = block.places[side], block.places[1 - side]
            weights = np.array([sums.weights[1 - side][place] for place in enemy.tolist()], dtype=np.int64)
            wins = figures[:, layout.wins[side][0]].copy()
            for k in layout.wins[side][1:]:
                wins += figures[:, k]
            swing = figures[:, layout.swing] * (1, -1)[side]
            lost, enemy_lost = figures[:, layout.lost[side]], figures[:, layout.lost[1 - side]]
            sums.solved[side].add(own, enemy, weights, np.stack((wins, swing, lost, enemy_lost), axis=1))

    def _block_columns(self, block: Block, point: GridPoint) -> list[pa.Array]:
        """Return the columns of the matchup table."""
        layout, n = self._layout, len(block.matchups)
        schema = self._matchups.schema
        mixes = [
            [side[place] for place in places.tolist()]
            for side, places in zip((point.attackers, point.defenders), block.places, strict=True)
        ]
        values: dict[str, pa.Array] = {"matchup": pa.array(block.matchups.astype(np.int32))}
        for side, own in zip(_SIDES, mixes, strict=True):
            values[side] = pa.array([mix.name for mix in own], pa.string())
            values[f"{side}_units"] = pa.array([mix.units for mix in own], pa.string())
            values[f"{side}_weight"] = pa.array([mix.weight for mix in own], pa.float64())
            values[f"{side}_cost"] = pa.array([mix.cost for mix in own], pa.int64())
        same = {"ruleset": self._ruleset.id, "edition": point.edition, "method": RESOLVED[True], "battles": 0}
        same |= {"precision": 0.0, "seed": self._seed, "status": "ok", "error": ""}
        same |= dict(zip((name for name, _ in self._grid_fields()), self._grid_values(point), strict=True))
        same |= dict.fromkeys(f"n_{name}" for name, _ in layout.outcomes)
        figures = matchup_figures(
            block.figures,
            [k for _, k in layout.outcomes],
            [(total, squares) for _, total, squares in layout.moments],
            [k for _, k in layout.means],
            [k for _, k in layout.spread],
        )
        values |= dict(zip([*self._figure_names(), *(name for name, _ in layout.spread)], figures, strict=True))
        rounding = 0.0 * block.figures[:, layout.spread[0][1]]  # nothing where the quantiles are not told
        values["swing_rounding"] = pa.array(rounding, from_pandas=True)
        return [
            values[field.name] if field.name in values else pa.repeat(pa.scalar(same[field.name], field.type), n)
            for field in schema
        ]

    def _casualties(self, point: GridPoint, side: int, place: int, matchup: int) -> list[tuple[str, int, list[int]]]:
        """Return the units of a mix that can be lost, their numbers, and where their survivors are counted."""
        mix = (point.attackers, point.defenders)[side][place]
        return [
            (unit, start, self._layout.survivors[_SIDES[side], self._place(matchup, point, side, unit)])
            for unit, start in self._starts(matchup, point, side, mix)
        ]

    def _add_one(self, total: Total) -> None:
        """Add a matchup by itself."""
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
        self.battles += 0 if total.is_exact else figures[self._layout.battles]
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
        row += [None if total.error else 0 if is_exact else n]
        row += [0.0 if is_exact and not total.error else None] if self._has_precision else []
        row += [total.seed if total.seed is not None and isinstance(self._seed, str) else self._seed, *costs]
        if total.error:
            row += [None] * (2 * len(layout.outcomes) + 2 * len(layout.moments) + len(layout.means))
            row += [None] * (len(layout.spread) + 1)
        else:
            row += [None if is_exact else figures[k] for _, k in layout.outcomes]
            row += [figures[k] / n for _, k in layout.outcomes]
            for _, mean, squares in layout.moments:
                spread = expected_sd if is_exact else sample_sd
                row += [figures[mean] / n, spread(n, figures[mean], figures[squares])]
            row += [figures[k] / n for _, k in layout.means]
            row += self._spread(total, figures)
        row += ["failed" if total.error else "ok", total.error]
        self._matchups.add(row)

    def _spread(self, total: Total, figures: Sequence[Any]) -> list[float | None]:
        """Return what is told of the swing, and how far its quantiles may be from the true ones."""
        layout = self._layout
        if total.is_exact:
            told = [figures[k] if figures[k] == figures[k] else None for _, k in layout.spread]
            return [*told, None if told[0] is None else 0.0]
        if total.swings is None:
            return [None] * (len(layout.spread) + 1)
        share = total.swings.losses / figures[layout.battles]
        return [*total.swings.quantiles(), share, total.swings.rounding]

    def _fill_precision(self, columns: Mapping[str, list[Any]]) -> None:
        """Enter how precise the rows are that were simulated."""
        drawn = [i for i, battles in enumerate(columns["battles"]) if battles]
        if drawn:
            counts = [[columns[f"n_{name}"][i] for name, _ in self._layout.outcomes] for i in drawn]
            for i, width in zip(drawn, reached(np.array(counts, dtype=np.int64)).tolist(), strict=True):
                columns["precision"][i] = width

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
        done.finish()
        values = self._grid_values(done.point)
        for side, mixes in enumerate((done.point.attackers, done.point.defenders)):
            for place, (mix, sums) in enumerate(zip(mixes, done.sums[side], strict=True)):
                cost = self._mix_costs.get((done.point.first, side, place), mix.cost)
                start = [_SIDES[side], mix.name, mix.units, cost, mix.weight, *values]
                self._mixes.add(start + sums.row())
