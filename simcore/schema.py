"""What a ruleset offers to the layers above it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = [
    "AUTO_EFFORT",
    "AUTO_STATES",
    "MAX_STATES",
    "SMALL_CALL",
    "SPREAD",
    "STATE_EFFORT",
    "Endings",
    "Ruleset",
    "ScenarioModel",
    "Tallies",
]

MAX_STATES = 2**22
"""Most states of an exact solution: their probabilities take up to 100 MB."""
AUTO_STATES = 1_000_000
"""Most states of a battle that ``method = "auto"`` solves: up to about 200 MB for each thread that solves."""
AUTO_EFFORT = 1_000_000_000
"""Most steps, of about a nanosecond each, of a battle that ``method = "auto"`` solves: about a second."""
STATE_EFFORT = 10_000
"""Steps of each state where a ruleset has no estimate of its own."""
SMALL_CALL = 2**18
"""Up to this many battles one thread is as quick as starting more."""

SPREAD = ("q05", "q25", "q50", "q75", "q95", "negative")
"""What is told of the swing: quantiles, and the probability of a swing below 0; by solvers behind the accumulators."""

Tallies = npt.NDArray[np.int64]
"""Integer accumulators (rows, K): adding rows merges runs exactly."""


class Endings(NamedTuple):
    """Every way in which a battle may end, as arrays. E ends, S sides, T unit types, C numbers of cycles.

    Attributes
    ----------
    outcome : int8 (E,)
    survivors : int16 (E, S, T)
    cost_lost : int64 (E, S)
    chance : float64 (E,)
        Equal ends may be listed more than once.
    cycle_chance : float64 (C,)
        Probability of each number of cycles; the last entry stands for that many or more.
    """

    outcome: npt.NDArray[np.int8]
    survivors: npt.NDArray[np.int16]
    cost_lost: npt.NDArray[np.int64]
    chance: npt.NDArray[np.float64]
    cycle_chance: npt.NDArray[np.float64]


class ScenarioModel(Protocol):
    """What every ruleset's parsed scenario offers."""

    @property
    def ruleset(self) -> str:
        """Name of the ruleset."""

    @property
    def edition(self) -> str:
        """Name of the edition."""

    def canonical(self) -> dict[str, Any]:
        """Everything that can change a result, as JSON-able data: the scenario's identity."""

    def unit_text(self, side: int) -> str:
        """Canonical unit list of a side, as in ``"10 infantry, 5 tank"``."""

    def counts(self, side: int) -> dict[str, int]:
        """Units of a side by name, only those with a count above 0."""

    def casualties(self, side: int) -> dict[str, int]:
        """Those units of a side that can be lost, by name: the only ones that are counted as survivors."""

    def counted_as(self, unit: str) -> str:
        """Name of a unit on axis **T**: the accumulators count it under this name."""

    def cost(self, side: int) -> int:
        """Cost of a side's units."""

    def extra_means(self) -> dict[str, str]:
        """Means that a result shows besides the usual ones: its name for each, and the accumulator."""

    @property
    def kind(self) -> str:
        """Kind of battle, as in `Ruleset.kinds`; "" for most."""


@dataclass(frozen=True)
class Ruleset:
    """The record by which a ruleset registers itself.

    Attributes
    ----------
    id, title : str
        Registered name and a readable one.
    version : int
        Raised whenever a seeded result changes.
    units : tuple of str
        Axis **T** by name: the units in table order, or places in the table where editions name their units
        themselves.
    outcomes : tuple of str
        Outcome names in the order of their codes.
    wins : mapping of side name to tuple of str
        Which outcomes count as a win of "attacker" and "defender".
    accumulators : tuple of str
        Names of the K accumulators of a tally.
    default_edition : str
        Edition used when a scenario names none.
    scenario_model : type
        Pydantic model of a scenario (frozen, extra fields refused).
    editions : callable
        Returns ``{name: model}`` of the built-in editions.
    parse : callable
        ``parse(data, source) -> ScenarioModel``; raises ScenarioError.
    check_editions : callable
        ``check_editions(data, source)``; raises ScenarioError for a faulty edition file.
    encode : callable
        ``encode(scenarios) -> arrays`` (a NamedTuple of flat arrays).
    tally : callable
        ``tally(arrays, keys, segments, threads) -> (tallies, status, where)``; behind the accumulators a tally counts
        the swings by bins, int64 (rows, K + ``simcore.core.swing.BINS``).
    record : callable
        ``record(arrays, keys, row, first, count) -> (dict of per-battle arrays, tallies, status, where)``.
    replay : callable
        ``replay(scenario, arrays, key, battle, script) -> Replay``.
    swing_bins : callable
        ``swing_bins(arrays) -> int64 (M, 3)``: the bins of each row, by ``simcore.core.swing.BinField``.
    swing_bound : callable
        ``swing_bound(arrays) -> int64 (M,)``: largest possible absolute swing of each row.
    default_sweep : mapping
        A small sweep that works out of the box.
    count_states : callable
        ``count_states(scenario) -> int``: most states that the exact solver would hold, known before it begins;
        0 where it does not reach.
    effort : callable
        ``effort(scenario) -> int``: most steps of the solver, roughly, of about a nanosecond each. It must depend on
        nothing but the scenario: what "auto" solves is the same everywhere. 0 for `STATE_EFFORT` steps a state.
    may_be_far_smaller : callable
        ``may_be_far_smaller(scenario) -> bool``: whether the solver finds its states on the way, and may reach so
        much fewer than `count_states` that it is worth a try when that is above `MAX_STATES`.
    most_states : int
        Most states that the exact solver takes on.
    solve : callable or None
        ``solve(arrays, scenarios, threads) -> (float64 tallies, states, status)``: the exact solver.
    spread : callable or None
        ``spread(arrays, scenarios, row) -> float64 (6,)``: what `SPREAD` names, where `solve` does not tell it because
        it takes much longer than the solution; NaN where it takes too long.
    distribute : callable or None
        ``distribute(arrays, scenarios, row) -> Endings``, or None where a battle has too many states or ends.
    pair : callable or None
        ``pair(first, second) -> scenario``: the attacker of one against the defender of another, where the two differ
        in nothing but their sides; None where that has to be checked anew.
    cannot_simulate : callable
        ``cannot_simulate(scenario) -> str``: why only the exact solver resolves it, "" for most.
    explain : callable
        ``explain(scenario, means) -> dict``: what else an exact result tells, from its expected accumulators by name.
    more_never_hurts : callable
        ``more_never_hurts(scenario) -> bool``: whether it is proved that a side with a unit more wins, or captures, at
        least as often, whatever it is and whatever the counts of the units are.
    kind_of : callable
        ``kind_of(table) -> str``: which kind of battle a scenario's table describes, before it is parsed.
    plain : callable
        ``plain(table) -> dict``: a scenario's table without what asks for certain units, to price units in.
    sweep_scenario : mapping of str
        Fields of a scenario's table that hold in sweeps unless the sweep file says otherwise.
    small_call : int
        Up to this many battles one thread is as quick as starting more.
    unit_names : callable or None
        ``unit_names(table) -> tuple of str``: units of the edition of a scenario's table, in table order; None
        where they are `units` in every edition.
    rounds : str
        What the length of a battle is counted in: the accumulators ``<rounds>.sum`` and ``<rounds>.sumsq``.
    means : mapping of str to str
        Accumulators that are counted once per battle, with the column of a sweep's table that shows their mean.
    titles : mapping of str to (str, str)
        Columns that only some battles have and a report has room for one of, the most telling first: its title, and
        whether it holds a "share", a "difference" of shares or an "amount".
    kind : str
        Kind of battles that this record resolves; "" for most of them.
    kinds : mapping of str to Ruleset
        Records for kinds of battles that are counted in another way.
    """

    id: str
    title: str
    version: int
    units: tuple[str, ...]
    outcomes: tuple[str, ...]
    wins: Mapping[str, tuple[str, ...]]
    accumulators: tuple[str, ...]
    default_edition: str
    scenario_model: type[Any]
    editions: Callable[[], Mapping[str, Any]]
    parse: Callable[[Mapping[str, Any], str], ScenarioModel]
    check_editions: Callable[[Mapping[str, Any], str], Any]
    encode: Callable[[Sequence[Any]], Any]
    tally: Callable[..., tuple[Tallies, npt.NDArray[np.uint8], npt.NDArray[np.int64]]]
    record: Callable[..., tuple[dict[str, npt.NDArray[Any]], Tallies, npt.NDArray[np.uint8], npt.NDArray[np.int64]]]
    replay: Callable[..., Any]
    swing_bins: Callable[[Any], npt.NDArray[np.int64]]
    swing_bound: Callable[[Any], npt.NDArray[np.int64]]
    default_sweep: Mapping[str, Any]
    count_states: Callable[[Any], int] = lambda _scenario: 0
    effort: Callable[[Any], int] = lambda _scenario: 0
    may_be_far_smaller: Callable[[Any], bool] = lambda _scenario: False
    most_states: int = MAX_STATES
    solve: Callable[..., tuple[npt.NDArray[np.float64], npt.NDArray[np.int64], npt.NDArray[np.uint8]]] | None = None
    spread: Callable[[Any, Sequence[Any], int], npt.NDArray[np.float64]] | None = None
    distribute: Callable[[Any, Sequence[Any], int], Endings | None] | None = None
    pair: Callable[[Any, Any], Any] = lambda _first, _second: None
    cannot_simulate: Callable[[Any], str] = lambda _scenario: ""
    more_never_hurts: Callable[[Any], bool] = lambda _scenario: False
    explain: Callable[[Any, Mapping[str, float]], dict[str, Any]] = lambda _scenario, _means: {}
    kind_of: Callable[[Mapping[str, Any]], str] = lambda _table: ""
    plain: Callable[[Mapping[str, Any]], dict[str, Any]] = dict
    sweep_scenario: Mapping[str, Any] = field(default_factory=dict)
    small_call: int = SMALL_CALL
    unit_names: Callable[[Mapping[str, Any]], tuple[str, ...]] | None = None
    rounds: str = "cycles"
    means: Mapping[str, str] = field(default_factory=dict)
    titles: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    kind: str = ""
    kinds: Mapping[str, Ruleset] = field(default_factory=dict)

    @property
    def columns(self) -> int:
        """Figures of a matchup: the accumulators, and `SPREAD` where it was solved."""
        return len(self.accumulators) + len(SPREAD)

    def units_of(self, table: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the units that a scenario's table may have, in table order."""
        return self.units if self.unit_names is None else self.unit_names(table)

    def of_kind(self, kind: str) -> Ruleset:
        """Return the record for a kind of battles."""
        return self.kinds.get(kind, self)
