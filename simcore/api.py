"""The verbs on single battles: encode, simulate, replay, odds. Validate, allocate, call, wrap."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from simcore.argument import check_choice, check_flag
from simcore.core.swing import BINS, Swings
from simcore.core.threads import share_out, usable_threads
from simcore.distribution import Distribution
from simcore.enums import Side, Status
from simcore.errors import KernelStatusError, ScenarioError, suggestion
from simcore.method import METHODS, choose
from simcore.model import FrozenModel, shown
from simcore.registry import get_ruleset, ruleset_names
from simcore.result import Result
from simcore.scenario import (
    DEFAULT_BATTLES,
    DEFAULT_RULESET,
    DEFAULT_SEED,
    MAX_BATTLES,
    MAX_SEED,
    load_scenario,
)
from simcore.schema import SMALL_CALL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simcore.schema import Ruleset, ScenarioModel, Tallies

__all__ = [
    "Encoded",
    "Simulation",
    "Solution",
    "batch_schedule",
    "count_swings",
    "encode",
    "encode_checked",
    "odds",
    "outcomes",
    "replay",
    "rulesets",
    "simulate",
    "solve",
    "tally",
]

CHUNK = 4_096
"""Battles per unit of parallel work: a constant, so that no result can depend on the machine."""
FIRST_BATCHES = 16
PAIRINGS = ("matchup", "common", "independent")
_INT64_MAX = 2**63 - 1
_MAX_KEPT = 50_000_000
_CALL_BATTLES = 2**22


@dataclass(frozen=True)
class Encoded:
    """Scenarios of one ruleset as flat arrays.

    Attributes
    ----------
    ruleset : Ruleset
    scenarios : tuple of ScenarioModel
        Length M.
    arrays : NamedTuple of ndarray
        One row per scenario.
    """

    ruleset: Ruleset
    scenarios: tuple[ScenarioModel, ...]
    arrays: Any

    def __len__(self) -> int:
        return len(self.scenarios)

    def __repr__(self) -> str:
        return f"Encoded({self.ruleset.id}, {len(self)} scenarios)"


@dataclass(frozen=True)
class Simulation:
    """Simulated battles of M scenarios.

    Attributes
    ----------
    ruleset : Ruleset
    first, battles : int
        Battle numbers ``first`` to ``first + battles - 1`` were fought.
    tally : int64 (M, K)
        Accumulators, named by ``ruleset.accumulators``.
    swings : Swings
        How often each swing occurred; ``swings.row(i).quantiles()`` are those of a scenario.
    outcome : int8 (M, B) or None
        Per battle, index into ``ruleset.outcomes``; None unless ``keep_battles``.
    cycles : int32 (M, B) or None
    survivors : int16 (M, B, S, T) or None
    cost_lost : int32 (M, B, S) or None
    captured_value : int32 (M, B) or None
    damaged : int16 (M, B, S, 2) or None
        Damaged ships among the survivors, where the ruleset has such: battleships and carriers.
    submerged, no_landing : int16 (M, B, S) or None
        Submerged submarines, and aircraft without room on a carrier, among the survivors.
    damage : int32 (M, B) or None
        Damage done by each raid.
    turns : int32 (M, B) or None
        In place of `cycles` where a ruleset counts turns.
    squads : int16 (M, B, S, status, T) or None
        Squads by what became of them: active, suppressed, routed, fled, destroyed, captured.
    """

    ruleset: Ruleset
    first: int
    battles: int
    tally: Tallies
    swings: Swings
    outcome: npt.NDArray[np.int8] | None = None
    cycles: npt.NDArray[np.int32] | None = None
    survivors: npt.NDArray[np.int16] | None = None
    cost_lost: npt.NDArray[np.int32] | None = None
    captured_value: npt.NDArray[np.int32] | None = None
    damaged: npt.NDArray[np.int16] | None = None
    submerged: npt.NDArray[np.int16] | None = None
    no_landing: npt.NDArray[np.int16] | None = None
    damage: npt.NDArray[np.int32] | None = None
    turns: npt.NDArray[np.int32] | None = None
    squads: npt.NDArray[np.int16] | None = None

    def __repr__(self) -> str:
        kept = ", each kept" if self.outcome is not None else ""
        return f"Simulation({self.ruleset.id}, {len(self.tally)} scenarios, {self.battles:,} battles of each{kept})"

    def column(self, name: str) -> npt.NDArray[np.int64]:
        """Return one accumulator of all scenarios, int64 (M,), by its name."""
        if name not in self.ruleset.accumulators:
            raise KeyError(f"no accumulator {name!r}{suggestion(name, self.ruleset.accumulators)}")
        return self.tally[:, self.ruleset.accumulators.index(name)]


@dataclass(frozen=True)
class Solution:
    """Exact answers for M scenarios.

    Attributes
    ----------
    ruleset : Ruleset
    tally : float64 (M, K)
        Expected accumulators of one battle, named by ``ruleset.accumulators``.
    states : int64 (M,)
        States that could be reached.
    dropped : float64 (M,)
        Probability that was too small to follow; 0 within rounding.
    spread : float64 (M, 6)
        What ``simcore.schema.SPREAD`` names of the swing: its quantiles, and the chance that it is below 0; NaN where
        the ruleset's solver does not tell it.
    distributions : tuple of Distribution or None
        Every way in which each battle may end; None unless asked for.
    """

    ruleset: Ruleset
    tally: npt.NDArray[np.float64]
    states: npt.NDArray[np.int64]
    dropped: npt.NDArray[np.float64]
    spread: npt.NDArray[np.float64]
    distributions: tuple[Distribution, ...] | None = None

    def __repr__(self) -> str:
        return f"Solution({self.ruleset.id}, {len(self.tally)} scenarios)"

    def column(self, name: str) -> npt.NDArray[np.float64]:
        """Return one expected accumulator of all scenarios, float64 (M,), by its name."""
        if name not in self.ruleset.accumulators:
            raise KeyError(f"no accumulator {name!r}{suggestion(name, self.ruleset.accumulators)}")
        return self.tally[:, self.ruleset.accumulators.index(name)]


def _whole(value: object, name: str, low: int, high: int) -> int:
    """Return `value` as an int in [low, high] or raise a ScenarioError naming the argument."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not low <= value <= high:
        raise ScenarioError(f"must be a whole number from {low} to {high}, got {shown(value)}", field=name)
    return int(value)


def _as_scenario(scenario: ScenarioModel | Mapping[str, Any] | str | Path) -> ScenarioModel:
    if isinstance(scenario, Mapping | str | Path):
        return load_scenario(scenario)
    given: object = scenario
    if not isinstance(given, FrozenModel):
        raise ScenarioError(f"must be a scenario, as a table or the path of its file, got {shown(given)}")
    return scenario


def encode(scenarios: Sequence[ScenarioModel | Mapping[str, Any] | str | Path]) -> Encoded:
    """Check scenarios and encode them as flat arrays.

    Parameters
    ----------
    scenarios : sequence of mapping, ScenarioModel or path
        At least one; all of the same ruleset.

    Returns
    -------
    Encoded
        Length M, in the given order.

    Raises
    ------
    ScenarioError
        Names the row, the field, the value and what is allowed.

    Examples
    --------
    >>> import simcore
    >>> simcore.encode([{"attacker": {"units": "3 infantry"}, "defender": {"units": "2 infantry"}}])
    Encoded(general_combat, 1 scenarios)
    """
    given: object = scenarios
    if isinstance(given, str | bytes | Path | Mapping) or not isinstance(given, Sequence) or not given:
        raise ScenarioError("must be a list of at least one scenario", field="scenarios")
    encoded, _, errors = encode_checked(scenarios)
    for row, problem in errors.items():
        raise problem.at(field=f"scenarios[{row}]" + (f".{problem.field}" if problem.field else ""))
    return encoded


def _kind_name(kind: str) -> str:
    return f'"{kind or "battle"}"'


def encode_checked(
    scenarios: Sequence[ScenarioModel | Mapping[str, Any] | str | Path], ruleset: Ruleset | None = None
) -> tuple[Encoded, list[int], dict[int, ScenarioError]]:
    """Encode those scenarios that can be used and report the others.

    Parameters
    ----------
    scenarios : sequence
        As in `encode`.
    ruleset : Ruleset, optional
        Record that must resolve them; default: the one for the first scenario.

    Returns
    -------
    encoded : Encoded
        The good ones, in order; may be empty.
    rows : list of int
        Where each of them stood in `scenarios`.
    errors : dict of int to ScenarioError
        What is wrong with the others, by position.
    """
    good: list[ScenarioModel] = []
    rows: list[int] = []
    errors: dict[int, ScenarioError] = {}
    for row, scenario in enumerate(scenarios):
        try:
            model = _as_scenario(scenario)
        except ScenarioError as problem:
            errors[row] = problem
            continue
        if good and model.ruleset != good[0].ruleset:
            errors[row] = ScenarioError(
                f'all scenarios of a call must be of one ruleset, got "{model.ruleset}" after "{good[0].ruleset}"',
                field="ruleset",
            )
            continue
        kind = ruleset.kind if ruleset else good[0].kind if good else model.kind
        if model.kind != kind:
            errors[row] = ScenarioError(
                f"battles of the kinds {_kind_name(model.kind)} and {_kind_name(kind)} are counted in different ways "
                "and cannot be part of one call or sweep"
            )
            continue
        good.append(model)
        rows.append(row)
    if ruleset is None:
        ruleset = get_ruleset(good[0].ruleset if good else DEFAULT_RULESET)
        ruleset = ruleset.of_kind(good[0].kind if good else "")
    return Encoded(ruleset, tuple(good), ruleset.encode(good)), rows, errors


def _check_encoded(encoded: object) -> None:
    if not isinstance(encoded, Encoded):
        raise ScenarioError(f"must be what encode returned, got {shown(encoded)}", field="encoded")


def _check_pairing(pairing: object) -> None:
    check_choice(pairing, PAIRINGS, "pairing")


def stream_keys(encoded: Encoded, seed: int, pairing: str) -> npt.NDArray[np.uint64]:
    """Return the stream key of each scenario.

    Parameters
    ----------
    encoded : Encoded
        M scenarios.
    seed : int
        0 to 2**64 - 1.
    pairing : {"matchup", "common", "independent"}
        "matchup": the key is made of the seed and both unit lists, so editions, prices and policies share dice;
        "common": of the seed alone; "independent": of everything in the scenario.

    Returns
    -------
    uint64 (M, 2)
    """
    from simcore.core.rng import derive_key  # noqa: PLC0415 - imports numba

    _check_pairing(pairing)
    seed = _whole(seed, "seed", 0, MAX_SEED)
    keys = np.empty((len(encoded), 2), dtype=np.uint64)
    for row, scenario in enumerate(encoded.scenarios):
        parts: list[str | int] = [seed]
        if pairing != "common":
            parts += [scenario.unit_text(Side.ATTACKER), scenario.unit_text(Side.DEFENDER)]
        if pairing == "independent":
            parts.append(json.dumps(scenario.canonical(), sort_keys=True, separators=(",", ":"), ensure_ascii=False))
        keys[row] = derive_key(*parts)
    return keys


def check_size(encoded: Encoded, battles: int) -> dict[int, ScenarioError]:
    """Return the rows that cannot be simulated: among them those whose sums of squares could overflow.

    Parameters
    ----------
    encoded : Encoded
        M scenarios.
    battles : int
        Battles per scenario.

    Returns
    -------
    dict of int to ScenarioError
    """
    bound = encoded.ruleset.swing_bound(encoded.arrays).tolist()
    reasons = [encoded.ruleset.cannot_simulate(scenario) for scenario in encoded.scenarios]
    return {row: ScenarioError(reason, field="method") for row, reason in enumerate(reasons) if reason} | {
        row: ScenarioError(
            f"{battles:,} battles with a swing of up to {swing:,} exceed the exact sums "
            f"(battles x swing^2 must stay below 2^63); at most {_INT64_MAX // swing**2:,} battles",
            field="battles",
        )
        for row, swing in enumerate(bound)
        if battles * swing**2 > _INT64_MAX
    }


def _raise_status(
    encoded: Encoded,
    segments: npt.NDArray[np.int64],
    status: npt.NDArray[np.uint8],
    where: npt.NDArray[np.int64],
) -> None:
    for i in np.flatnonzero(status != Status.OK)[:1]:
        row = int(segments[i, 0])
        name = Status(int(status[i])).name
        about = (
            f"battle {int(where[i])}"
            if status[i] != Status.UNSET
            else "internal error: a run of battles was not resolved"
        )
        raise KernelStatusError(
            f"{name}: {about} of {encoded.scenarios[row].unit_text(0)} v {encoded.scenarios[row].unit_text(1)}; "
            "replay it with the same seed and pairing"
        )


def _split(segments: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Cut segments into chunks; returns the chunks and where each segment's chunks start."""
    chunks = -(-segments[:, 2] // CHUNK)
    starts = np.concatenate([[0], np.cumsum(chunks)])
    owner = np.repeat(np.arange(len(segments)), chunks)
    within = np.arange(int(starts[-1])) - starts[owner]
    out = segments[owner].copy()
    out[:, 1] += within * CHUNK
    out[:, 2] = np.minimum(CHUNK, segments[owner, 2] - within * CHUNK)
    return np.ascontiguousarray(out), starts


def tally(
    encoded: Encoded,
    segments: npt.NDArray[np.int64],
    *,
    seed: int,
    pairing: str = "matchup",
    threads: int | None = None,
) -> Tallies:
    """Resolve runs of battles and add up each run.

    Parameters
    ----------
    encoded : Encoded
        M scenarios.
    segments : int64 (N, 3)
        Row of `encoded`, first battle number, number of battles (at least 1).
    seed, pairing
        As in `stream_keys`.
    threads : int or None
        Threads to use; None: all that the process may, where there is work for them. No result depends on it.

    Returns
    -------
    int64 (N, K + BINS)
        Accumulators by ``encoded.ruleset.accumulators``, and behind them how often swings of each bin occurred
        (`count_swings`); adding rows merges runs exactly.

    Raises
    ------
    KernelStatusError
        When a battle could not be resolved; names it so that `replay` can show it.
    """
    keys = stream_keys(encoded, seed, pairing)
    chunks, starts = _split(segments)
    out = np.zeros((len(segments), len(encoded.ruleset.accumulators) + BINS), dtype=np.int64)
    # Bounded calls keep the chunk tallies small and let an interrupt through.
    per_call = _CALL_BATTLES // CHUNK
    owner = np.repeat(np.arange(len(segments)), np.diff(starts))
    for low in range(0, len(chunks), per_call):
        part = np.ascontiguousarray(chunks[low : low + per_call])
        tallies, status, where = _launch(encoded, keys, part, threads)
        _raise_status(encoded, part, status, where)
        rows, first = np.unique(owner[low : low + per_call], return_index=True)
        out[rows] += np.add.reduceat(tallies, first, axis=0)
    return out


def count_swings(encoded: Encoded, rows: npt.NDArray[np.int64], tallies: Tallies) -> Swings:
    """Return how often each swing occurred.

    Parameters
    ----------
    encoded : Encoded
        M scenarios.
    rows : int64 (N,)
        Row of `encoded` of each tally.
    tallies : int64 (N, K + BINS)
        As `tally` returns them.

    Returns
    -------
    Swings
    """
    bins = encoded.ruleset.swing_bins(encoded.arrays)
    return Swings.from_bins(bins[rows], tallies[:, len(encoded.ruleset.accumulators) :])


def _launch(
    encoded: Encoded, keys: npt.NDArray[np.uint64], segments: npt.NDArray[np.int64], threads: int | None
) -> tuple[Tallies, npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """Resolve runs of battles with a number of threads."""
    if threads is None:
        threads = 1 if int(segments[:, 2].sum()) <= encoded.ruleset.small_call else usable_threads()
    return encoded.ruleset.tally(encoded.arrays, keys, segments, threads=_whole(threads, "threads", 1, 4_096))


def batch_schedule(battles: int) -> npt.NDArray[np.int64]:
    """Return the batches into which a matchup's battles are counted.

    Sixteen batches of 4,096 battles, then each twice the one before; the last is cut short. The schedule
    depends on nothing but the number of battles, and a longer run begins with the batches of a shorter one.

    Parameters
    ----------
    battles : int
        At least 1.

    Returns
    -------
    int64 (n, 2)
        First battle and number of battles of each batch.
    """
    rows = []
    first, size = 0, CHUNK
    while first < battles:
        count = min(size, battles - first)
        rows.append((first, count))
        first += count
        if len(rows) >= FIRST_BATCHES:
            size *= 2
    return np.array(rows, dtype=np.int64)


def simulate(
    encoded: Encoded,
    *,
    battles: int = DEFAULT_BATTLES,
    seed: int = DEFAULT_SEED,
    first: int = 0,
    keep_battles: bool = False,
    pairing: str = "matchup",
    threads: int | None = None,
) -> Simulation:
    """Fight battles of every encoded scenario.

    Parameters
    ----------
    encoded : Encoded
        M scenarios.
    battles : int
        Battles per scenario, 1 to 10**12.
    seed : int
        0 to 2**64 - 1.
    first : int
        Number of the first battle; any range of battles can be fought alone.
    keep_battles : bool
        Also return each battle's result (at most 50 million in all).
    pairing : {"matchup", "common", "independent"}
        What shares dice with what.
    threads : int or None
        Threads to use; no result depends on it.

    Returns
    -------
    Simulation

    Raises
    ------
    ScenarioError
        For arguments out of range, or sums that 64-bit integers could not hold.
    KernelStatusError
        When a battle could not be resolved.

    Examples
    --------
    >>> import simcore
    >>> encoded = simcore.encode([{"attacker": {"units": "1 tank"}, "defender": {"units": "1 infantry"}}])
    >>> run = simcore.simulate(encoded, battles=1000, seed=7)
    >>> int(run.column("battles")[0])
    1000
    """
    _check_encoded(encoded)
    battles = _whole(battles, "battles", 1, MAX_BATTLES)
    first = _whole(first, "first", 0, 2**62)
    check_flag(keep_battles, "keep_battles")
    for row, problem in check_size(encoded, battles).items():
        field = problem.field or "battles"
        raise problem.at(field=f"scenarios[{row}].{field}" if len(encoded) > 1 else field)
    if not keep_battles:
        segments = np.array([[row, first, battles] for row in range(len(encoded))], dtype=np.int64)
        found = tally(encoded, segments, seed=seed, pairing=pairing, threads=threads)
        return _simulation(encoded, first, battles, found)
    if battles * len(encoded) > _MAX_KEPT:
        raise ScenarioError(
            f"cannot keep {battles * len(encoded):,} single battles; at most {_MAX_KEPT:,}",
            field="keep_battles",
        )
    keys = stream_keys(encoded, seed, pairing)
    tallies, kept = [], []
    for row in range(len(encoded)):
        records, rows, status, where = encoded.ruleset.record(encoded.arrays, keys, row, first, battles)
        _raise_status(encoded, np.full((len(status), 1), row, dtype=np.int64), status, where)
        tallies.append(rows.sum(axis=0))
        kept.append(records)
    each = {name: np.stack([k[name] for k in kept]) for name in kept[0]}
    return _simulation(encoded, first, battles, np.stack(tallies), **each)


def _simulation(encoded: Encoded, first: int, battles: int, tallies: Tallies, **kept: Any) -> Simulation:
    """Wrap the tallies of all rows."""
    swings = count_swings(encoded, np.arange(len(encoded)), tallies)
    columns = len(encoded.ruleset.accumulators)
    return Simulation(encoded.ruleset, first, battles, tallies[:, :columns].copy(), swings, **kept)


def outcomes(
    encoded: Encoded, segments: npt.NDArray[np.int64], seed: int, pairing: str
) -> Iterator[npt.NDArray[np.int8]]:
    """Yield the outcome of every battle of each segment.

    Parameters
    ----------
    encoded : Encoded
        M scenarios.
    segments : int64 (n, 3)
        Row, first battle and number of battles.
    seed : int
    pairing : str
        As in `simulate`.

    Yields
    ------
    int8 (battles,)
        Codes of outcomes.

    Raises
    ------
    KernelStatusError
        When a battle could not be resolved.
    """
    keys = stream_keys(encoded, seed, pairing)
    for row, first, battles in segments.tolist():
        found = []
        for start in range(first, first + battles, SMALL_CALL):
            count = min(SMALL_CALL, first + battles - start)
            records, _, status, where = encoded.ruleset.record(encoded.arrays, keys, row, start, count)
            _raise_status(encoded, np.full((len(status), 1), row, dtype=np.int64), status, where)
            found.append(records["outcome"])
        yield np.concatenate(found)


def solve(encoded: Encoded, *, distribution: bool = False, threads: int | None = None) -> Solution:
    """Return the exact expected accumulators of every encoded scenario: no battle is drawn.

    Parameters
    ----------
    encoded : Encoded
        M scenarios.
    distribution : bool
        Whether to list every way in which each battle may end too.
    threads : int or None
        Threads to use, one matchup each; no result depends on it.

    Returns
    -------
    Solution

    Raises
    ------
    ScenarioError
        For battles that the exact solver does not reach, or with more states than it may hold.

    Examples
    --------
    >>> import simcore
    >>> encoded = simcore.encode([{"attacker": {"units": "1 infantry"}, "defender": {"units": "1 infantry"}}])
    >>> float(simcore.solve(encoded).column("outcome.attacker_wins")[0])
    0.25
    """
    _check_encoded(encoded)
    check_flag(distribution, "distribution")
    tally, states, problems = solve_checked(encoded, threads=threads)
    for row, problem in problems.items():
        raise problem.at(field=f"scenarios[{row}].method" if len(encoded) > 1 else "method")
    dropped = 1.0 - tally[:, encoded.ruleset.accumulators.index("battles")]
    columns = len(encoded.ruleset.accumulators)
    listed = tuple(_distribute(encoded, row) for row in range(len(encoded))) if distribution else None
    return Solution(encoded.ruleset, tally[:, :columns], states, dropped, tally[:, columns:], listed)


def _distribute(encoded: Encoded, row: int) -> Distribution:
    """Return every way in which a battle may end."""
    ruleset = encoded.ruleset
    if ruleset.distribute is None:
        raise ScenarioError(f'ruleset "{ruleset.id}" does not list the ways to end; leave it out', field="distribution")
    endings = ruleset.distribute(encoded.arrays, encoded.scenarios, row)
    if endings is None:
        raise ScenarioError("the battle may end in more ways than can be listed; leave it out", field="distribution")
    return Distribution.from_endings(ruleset, endings)


def _way_out(ruleset: Ruleset, scenario: ScenarioModel) -> str:
    """Return what to do with a battle that is too large to be solved."""
    return "take fewer units" if ruleset.cannot_simulate(scenario) else 'use "simulate"'


def solve_checked(
    encoded: Encoded, *, threads: int | None = None, with_spread: bool = False
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64], dict[int, ScenarioError]]:
    """Solve those scenarios that can be solved and report the others.

    Parameters
    ----------
    encoded : Encoded
        M scenarios.
    threads : int or None
        As in `solve`.
    with_spread : bool
        Whether to find quantiles of the swing also where that takes longer than the solution.

    Returns
    -------
    tally : float64 (M, K + 6)
        Expected accumulators of one battle, zeros where there is a problem, and behind them what
        ``simcore.schema.SPREAD`` names of the swing, NaN where the solver does not tell it.
    states : int64 (M,)
        States that could be reached.
    problems : dict of int to ScenarioError
        Why the others cannot be solved, by row.

    Raises
    ------
    KernelStatusError
        When a solver gave no answer.
    """
    ruleset = encoded.ruleset
    tally = np.zeros((len(encoded), ruleset.columns))
    tally[:, len(ruleset.accumulators) :] = np.nan
    reached = np.zeros(len(encoded), dtype=np.int64)
    problems: dict[int, ScenarioError] = {}
    for row, scenario in enumerate(encoded.scenarios):
        if ruleset.solve is not None and ruleset.may_be_far_smaller(scenario):
            continue
        states = ruleset.count_states(scenario)
        if ruleset.solve is None or states == 0:
            which = "such battles" if ruleset.solve is None else "battles of this kind, size and options"
            problems[row] = ScenarioError(f'ruleset "{ruleset.id}" has no exact solver for {which}; use "simulate"')
        elif states > ruleset.most_states:
            problems[row] = ScenarioError(
                f"the battle has up to {states:,} states, more than the {ruleset.most_states:,} that fit; "
                + _way_out(ruleset, scenario)
            )
    rows = [row for row in range(len(encoded)) if row not in problems]
    if rows:
        part = encoded if not problems else encode([encoded.scenarios[row] for row in rows])
        found, states_found, status = _launch_solver(part, threads)
        reached[rows] = states_found
        is_solved = status == Status.OK
        tally[np.array(rows)[is_solved], : found.shape[1]] = found[is_solved]
        for at in np.flatnonzero(~is_solved).tolist():
            row = rows[at]
            if status[at] != Status.CAPACITY:
                name, battle = Status(int(status[at])).name, encoded.scenarios[row]
                raise KernelStatusError(
                    f"{name}: {battle.unit_text(0)} v {battle.unit_text(1)} was not solved (internal error)"
                )
            problems[row] = ScenarioError(
                "the battle has more states than the exact solver has room for; "
                + _way_out(ruleset, encoded.scenarios[row])
            )
    if with_spread:
        _add_spread(encoded, tally, [row for row in rows if row not in problems], threads)
    return tally, reached, problems


def _add_spread(encoded: Encoded, tally: npt.NDArray[np.float64], rows: Sequence[int], threads: int | None) -> None:
    """Fill in what is told of the swing of solved battles, where the solution does not tell it."""
    spread, first = encoded.ruleset.spread, len(encoded.ruleset.accumulators)
    if spread is None:
        return

    def describe(low: int, high: int) -> None:
        for row in rows[low:high]:
            tally[row, first:] = spread(encoded.arrays, encoded.scenarios, row)

    share_out(describe, len(rows), _solver_threads(threads))


def _launch_solver(
    encoded: Encoded, threads: int | None
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
    solver = encoded.ruleset.solve
    assert solver is not None  # noqa: S101 - checked by the caller
    return solver(encoded.arrays, encoded.scenarios, threads=_solver_threads(threads))


def _solver_threads(threads: int | None) -> int:
    return _whole(usable_threads() if threads is None else threads, "threads", 1, 4_096)


def replay(
    scenario: ScenarioModel | Mapping[str, Any] | str | Path,
    *,
    battle: int = 0,
    seed: int = DEFAULT_SEED,
    pairing: str = "matchup",
    script: Sequence[int] | None = None,
) -> Any:
    """Tell one battle, exactly as it was fought in any run with this seed and pairing.

    Parameters
    ----------
    scenario : mapping, ScenarioModel or path
    battle : int
        Battle number.
    seed, pairing
        As in `simulate`.
    script : sequence of int, optional
        Hits at each draw point in order, in place of the random words: a battle played through by hand.

    Returns
    -------
    Replay
        The ruleset's replay: ``lines``, ``outcome``, ``cycles``, ``to_text()``, ``to_dict()``.

    Raises
    ------
    ScenarioError
        For a faulty scenario, or a script that does not fit the battle (it names the draw point).

    Examples
    --------
    >>> import simcore
    >>> duel = {"attacker": {"units": "1 tank"}, "defender": {"units": "1 infantry"}}
    >>> simcore.replay(duel, script=[1, 0]).outcome
    'attacker_wins'
    """
    battle = _whole(battle, "battle", 0, 2**62)
    encoded = encode([scenario])
    given = None
    if script is not None:
        if isinstance(script, str | bytes) or not isinstance(script, Iterable):
            raise ScenarioError(f"must be a list of whole numbers, got {shown(script)}", field="script")
        given = np.array([_whole(hits, f"script[{i}]", 0, 10**6) for i, hits in enumerate(script)], dtype=np.int64)
        if not len(given):
            raise ScenarioError("must hold the hits of at least one draw point", field="script")
    key = stream_keys(encoded, seed, pairing)[0]
    return encoded.ruleset.replay(encoded.scenarios[0], key, battle, given)


def _check_distribution(distribution: object, method: str) -> None:
    if check_flag(distribution, "distribution") and method == "simulate":
        raise ScenarioError('only battles that are solved have one; use method "exact" or "auto"', field="distribution")


def _read_battle(
    attacker: str | Mapping[str, Any] | None,
    defender: str | Mapping[str, Any] | None,
    scenario: str | Path | Mapping[str, Any] | None,
    options: Mapping[str, Any],
) -> ScenarioModel:
    """Return the scenario that `odds` was given, whole or in sides and options."""
    if scenario is not None:
        if attacker is not None or defender is not None or options:
            raise ScenarioError("give either a scenario or sides and options, not both", field="scenario")
        return load_scenario(scenario)
    data = {key: value for key, value in options.items() if value is not None}
    for name, side in (("attacker", attacker), ("defender", defender)):
        if side is not None:
            # A table with `units` is a whole side, any other one a table of counts.
            data[name] = dict(side) if isinstance(side, Mapping) and "units" in side else {"units": side}
    return load_scenario(data)


def odds(
    attacker: str | Mapping[str, Any] | None = None,
    defender: str | Mapping[str, Any] | None = None,
    *,
    scenario: str | Path | Mapping[str, Any] | None = None,
    method: str = "auto",
    distribution: bool = False,
    battles: int = DEFAULT_BATTLES,
    seed: int = DEFAULT_SEED,
    pairing: str = "matchup",
    threads: int | None = None,
    **options: Any,
) -> Result:
    """Return the odds of one battle.

    Parameters
    ----------
    attacker, defender : str or mapping
        Units as text, a table of counts, or a side's full table with ``units`` and its policies.
    scenario : mapping or path, optional
        A whole scenario in place of `attacker` and `defender`.
    method : {"auto", "simulate", "exact"}
        How to resolve it: "exact" solves it and draws no battle, "simulate" fights battles, "auto" solves it where
        that is sure to be small (``simcore.schema.AUTO_STATES``, ``AUTO_EFFORT``) and else simulates; the result's
        ``method`` and ``method_reason`` say which and why.
    distribution : bool
        Whether to list every way in which a battle that is solved may end, as ``result.distribution``.
    battles, seed, pairing, threads
        As in `simulate`; the first three have no effect on what is solved.
    **options
        Further fields of the scenario: ``ruleset``, ``edition``, ``low_luck``, ``territory``, ...

    Returns
    -------
    Result
        Prints as a small table.

    Raises
    ------
    ScenarioError
        Names the field, the value and what is allowed.

    Examples
    --------
    >>> import simcore
    >>> result = simcore.odds("1 tank", "1 infantry")
    >>> round(result.outcomes["attacker_wins"], 6), result.method
    (0.5, 'exact')
    >>> simcore.odds("1 tank", "1 infantry", method="simulate", battles=10_000).method
    'simulated'
    """
    check_choice(method, METHODS, "method")
    encoded = encode([_read_battle(attacker, defender, scenario, options)])
    model = encoded.scenarios[0]
    # Whether input is refused does not depend on whether it is needed.
    battles = _whole(battles, "battles", 1, MAX_BATTLES)
    seed = _whole(seed, "seed", 0, MAX_SEED)
    _check_pairing(pairing)
    _check_distribution(distribution, method)
    choice = choose(encoded.ruleset, model) if method == "auto" else None
    reason = choice.reason if choice else None
    if method == "exact" or (choice and choice.is_exact):
        solved, _, problems = solve_checked(encoded, threads=threads, with_spread=True)
        if not problems:
            ends = _distribute(encoded, 0) if distribution else None
            return Result.from_solution(encoded.ruleset, model, solved[0], reason=reason, distribution=ends)
        if method == "exact" or encoded.ruleset.cannot_simulate(model):
            raise problems[0].at(field="method")
        reason = problems[0].problem.split(";", maxsplit=1)[0]
    if distribution:
        raise ScenarioError(f"the battle is not solved: {reason}; leave it out", field="distribution")
    run = simulate(encoded, battles=battles, seed=seed, pairing=pairing, threads=threads)
    return Result.from_tally(
        encoded.ruleset, model, run.tally[0], run.swings.row(0), seed=seed, pairing=pairing, reason=reason
    )


def rulesets() -> dict[str, dict[str, Any]]:
    """Return the battle systems: title, version, editions, units and outcomes of each.

    Returns
    -------
    dict of str to dict
    """
    out: dict[str, dict[str, Any]] = {}
    for name in ruleset_names():
        ruleset = get_ruleset(name)
        out[name] = {
            "title": ruleset.title,
            "version": ruleset.version,
            "default_edition": ruleset.default_edition,
            "editions": {edition: model.title for edition, model in ruleset.editions().items()},
            "units": list(ruleset.units_of({})),
            "outcomes": list(ruleset.outcomes),
        }
    return out
