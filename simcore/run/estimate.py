"""What a sweep would take, before it runs: matchups, battles or states, time and disk.

A sample of matchups spread evenly over the plan is read, some of them are solved or fought for a moment, and what
that took is scaled up. Nothing is written beside a temporary folder.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import asdict, dataclass, replace
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from simcore import api
from simcore.errors import ScenarioError
from simcore.method import choose, expected_effort, is_solvable
from simcore.precision import largest_minorities
from simcore.run.executor import Job, resolve_part
from simcore.run.plan import PART_BATTLES, SOLVED_ROWS, check_battles
from simcore.run.progress import amount, duration
from simcore.run.store import PARTS, PartRows, Store
from simcore.run.table import Total, writing_tables
from simcore.scenario import load_scenario

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simcore.run.plan import Plan
    from simcore.schema import ScenarioModel

__all__ = ["Estimate", "estimate_sweep"]

_MOST_READ: Final = 4_000
_MOST_FOUGHT: Final = 16
_MOST_SOLVED: Final = 64
_MOST_SOLVED_EFFORT: Final = 10**9
_FEW_BATTLES: Final = 64
_MANY_BATTLES: Final = 2**19
"""Enough for threads to share, as they do in a run."""
_LONG_S: Final = 0.5
_GROWTH: Final = 8
_MIX_BYTES: Final = 160
_MANIFEST_BYTES: Final = 4_096
_MOST_MIXES: Final = 20_000
"""Up to so many mixes their table is written for the sample too."""
_FILE_S: Final = 0.01
"""Time of writing a part through to the disk."""
_UNITS: Final = ("bytes", "kB", "MB", "GB", "TB", "PB")
_THOUSAND: Final = 1_000


@dataclass(frozen=True)
class Estimate:
    """What a sweep would take.

    Attributes
    ----------
    name : str
        Name of the sweep.
    matchups : int
        Number of matchups.
    exact, simulated, failed : int
        How many of them would be solved, simulated, and cannot be fought at all.
    sampled : int
        Matchups that were read to tell; where it is fewer than `matchups` these three are scaled up.
    states : int
        States of the matchups that would be solved, at most.
    battles : int
        Battles of those that would be simulated; with a precision, as far as the sampled matchups tell.
    most_battles : int
        Battles if every one of them took as many as are allowed.
    parts : int
        Files of counts, about.
    seconds : float
        Time on this machine, about, once the battle kernels are compiled.
    disk_bytes : int
        Size of the results folder, about.
    solved_trial, fought_trial : int
        Matchups that were solved and fought for the estimate.
    trial_s : float
        How long the estimate took.
    """

    name: str
    matchups: int
    exact: int
    simulated: int
    failed: int
    sampled: int
    states: int
    battles: int
    most_battles: int
    parts: int
    seconds: float
    disk_bytes: int
    solved_trial: int
    fought_trial: int
    trial_s: float

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as JSON-able values.

        Returns
        -------
        dict
        """
        return asdict(self)

    def __str__(self) -> str:
        about = "" if self.sampled == self.matchups else "about "
        lines = [f"{self.name}: {self.matchups:,} matchups"]
        if self.exact:
            lines.append(f"  solved      {about}{self.exact:,} ({amount(self.states)} states at most)")
        if self.simulated:
            most = f", at most {self.most_battles:,}" if self.most_battles != self.battles else ""
            lines.append(f"  simulated   {about}{self.simulated:,} ({amount(self.battles)} battles{most})")
        if self.failed:
            lines.append(f"  impossible  {about}{self.failed:,}")
        lines.append(f"  time        about {duration(self.seconds)} on this machine")
        lines.append(f"  disk        about {_size(self.disk_bytes)} in {self.parts:,} parts and the tables")
        lines.append(
            f"estimated from {self.sampled:,} matchups that were read, {self.solved_trial:,} solved and "
            f"{self.fought_trial:,} fought in {self.trial_s:.1f} s; nothing was stored"
        )
        return "\n".join(lines)


def _size(number: float) -> str:
    """Return a number of bytes for people."""
    unit = 0
    while number >= _THOUSAND and unit < len(_UNITS) - 1:
        number, unit = number / _THOUSAND, unit + 1
    return f"{number:.3g} {_UNITS[unit]}"


def _spread(numbers: Sequence[int], most: int) -> list[int]:
    """Return at most so many of the numbers, spread evenly."""
    if len(numbers) <= most:
        return list(numbers)
    return [numbers[i] for i in np.linspace(0, len(numbers) - 1, most).round().astype(int).tolist()]


class _Trial:
    """The sample of a plan and what resolving it takes."""

    def __init__(self, plan: Plan, threads: int | None) -> None:
        self.plan = plan
        self.threads = threads
        self.scenarios: dict[int, ScenarioModel] = {}
        self.efforts: dict[int, int] = {}
        self.sample = _spread(range(len(plan)), _MOST_READ)
        began = time.perf_counter()
        for matchup in self.sample:
            try:
                self.scenarios[matchup] = load_scenario(plan.scenario(matchup))
            except ScenarioError:
                continue
            effort = self._effort(self.scenarios[matchup])
            if not effort or is_solvable(plan.ruleset, self.scenarios[matchup]):
                self.efforts[matchup] = effort
        self.read_s = (time.perf_counter() - began) / len(self.sample)
        self.solved = [number for number, effort in self.efforts.items() if effort]
        self.drawn = [number for number, effort in self.efforts.items() if not effort]
        self.factor = len(plan) / len(self.sample)

    def scaled_up(self) -> tuple[int, int, int]:
        """Return how many of all matchups are solved, simulated and impossible; together they are all of them."""
        impossible = len(self.sample) - len(self.efforts)
        ends = accumulate((len(self.solved), len(self.drawn), impossible), initial=0)
        solved, drawn, failed = (after - before for before, after in pairwise(round(self.factor * n) for n in ends))
        return solved, drawn, failed

    def _effort(self, scenario: ScenarioModel) -> int:
        ruleset = self.plan.ruleset
        if self.plan.method == "simulate":
            return 0
        if self.plan.method == "auto":
            return choose(ruleset, scenario).effort
        return max(expected_effort(ruleset, scenario), 1)

    def _resolve(self, numbers: Sequence[int], battles: int) -> tuple[PartRows, float]:
        """Resolve some matchups; returns what was found and how long it took."""
        plan = self.plan
        segments = np.array([(number, 0, 0, battles) for number in numbers], dtype=np.int64)
        job = Job(
            name="",
            segments=segments,
            scenarios={number: self.scenarios[number] for number in numbers},
            errors={},
            battles=max(battles, 1),
            seed=plan.seed,
            pairing=plan.sweep.sweep.pairing,
            ruleset=plan.ruleset.id,
            kind=plan.ruleset.kind,
            method="exact" if not battles else "simulate",
            keep_outcomes=plan.sweep.sweep.keep_outcomes,
        )
        began = time.perf_counter()
        rows = resolve_part(job, self.threads)
        return rows, time.perf_counter() - began

    def solve(self) -> tuple[PartRows | None, float]:
        """Solve some matchups; returns them and the time for a step."""
        chosen: list[int] = []
        room = _MOST_SOLVED_EFFORT
        for number in _spread(self.solved, _MOST_SOLVED):
            if self.efforts[number] <= room:
                chosen.append(number)
                room -= self.efforts[number]
        if not chosen:
            return None, 1e-9  # a step takes about a nanosecond
        rows, taken = self._measure(chosen, 0)
        return rows, taken / sum(self.efforts[number] for number in chosen)

    def fight(self) -> tuple[PartRows | None, float]:
        """Fight some matchups; returns them and the time for a battle."""
        chosen = _spread(self.drawn, _MOST_FOUGHT)
        if not chosen:
            return None, 0.0
        battles = _FEW_BATTLES
        while True:
            rows, taken = self._measure(chosen, battles)
            # What a call takes by itself must not count as time of its battles.
            if taken >= _LONG_S or battles * len(chosen) >= _MANY_BATTLES:
                return rows, taken / (battles * len(chosen))
            battles *= _GROWTH

    def _measure(self, numbers: Sequence[int], battles: int) -> tuple[PartRows, float]:
        """Resolve some matchups twice, since the first time may wait for the compiler."""
        first = self._resolve(numbers, battles)
        second = self._resolve(numbers, battles)
        return second[0], min(first[1], second[1])


def _battles_each(plan: Plan, rows: PartRows | None) -> float:
    """Return how many battles a matchup that is simulated takes on average, judged by those that were fought."""
    if plan.precision is None or rows is None:
        return float(plan.battles)
    at = {name: position for position, name in enumerate(plan.ruleset.accumulators)}
    counts = rows.tallies[:, [at[f"outcome.{name}"] for name in plan.ruleset.outcomes]]
    good = ~np.isin(rows.segments[:, 0], list(rows.errors))
    shares = counts[good] / rows.segments[good, 3, None]
    looks = api.batch_schedule(plan.battles).sum(axis=1)
    limits = largest_minorities(plan.precision, looks.tolist(), shares.shape[1])
    minority = np.minimum(shares, 1.0 - shares).max(axis=1, initial=0.0)
    stops = minority[:, None] * looks <= limits
    stops[:, -1] = True
    return float(looks[stops.argmax(axis=1)].mean()) if len(stops) else float(plan.battles)


def _totals(*parts: PartRows | None) -> list[Total]:
    """Return what was found, in the order of the matchups."""
    found = [
        Total(int(segment[0]), tally, rows.errors.get(int(segment[0]), ""), is_exact=not segment[3])
        for rows in parts
        if rows is not None
        for segment, tally in zip(rows.segments, rows.tallies, strict=True)
    ]
    return sorted(found, key=lambda total: total.matchup)


def _part_size(store: Store, number: int, rows: PartRows) -> int:
    """Write a part and return how many bytes it takes."""
    name = f"{number:064x}"
    store.write_part(name, rows)
    return (store.folder / PARTS / f"{name}.parquet").stat().st_size


class _Disk:
    """Sizes of what a run leaves, and the time of making the tables, for each matchup."""

    def __init__(self, plan: Plan, *parts: PartRows | None) -> None:
        totals = _totals(*parts)
        mixes = sum(len(point.attackers) + len(point.defenders) for point in plan.points)
        self.row_bytes = 0.0
        self.battle_bytes = 0.0
        self.matchup_bytes = 8.0 * plan.ruleset.columns
        self.matchup_s = 1e-4
        self.fixed_bytes = float(_MIX_BYTES * mixes + _MANIFEST_BYTES)
        with tempfile.TemporaryDirectory() as folder, Store(Path(folder)) as store:
            for number, rows in enumerate(parts):
                if rows is not None:
                    size = _part_size(store, number, replace(rows, outcomes=()))
                    self.row_bytes = max(self.row_bytes, size / len(rows.segments))
                    battles = int(rows.segments[:, 3].sum())
                    if rows.outcomes and battles:
                        self.battle_bytes = (_part_size(store, number, rows) - size) / battles
            if totals and mixes <= _MOST_MIXES:
                began = time.perf_counter()
                with writing_tables(store, plan) as tables:
                    for total in totals:
                        tables.add(total)
                self.matchup_s = (time.perf_counter() - began) / max(len(totals), 1)
                names = ("matchups", "survivors")
                sizes = sum((store.folder / f"{name}.parquet").stat().st_size for name in names)
                self.matchup_bytes = sizes / len(totals)


def _count_parts(plan: Plan, exact: int, simulated: int, each: float) -> int:
    """Return about how many parts there are; with a precision, waves end parts early."""
    waves = 1 if plan.precision is None else len(api.batch_schedule(max(round(each), 1)))
    return max(1, -(-exact // SOLVED_ROWS) + round(simulated * each / PART_BATTLES) + (waves if simulated else 0))


def estimate_sweep(plan: Plan, threads: int | None = None) -> Estimate:
    """Work out what a sweep would take, by resolving a small sample of it.

    Parameters
    ----------
    plan : Plan
        The sweep.
    threads : int, optional
        Threads that the run would use; all by default.

    Returns
    -------
    Estimate

    Raises
    ------
    ScenarioError
        When it is too large to be run; the message has the number.
    """
    began = time.perf_counter()
    trial = _Trial(plan, threads)
    solved, step_s = trial.solve()
    fought, battle_s = trial.fight()
    each = _battles_each(plan, fought)
    exact, simulated, failed = trial.scaled_up()
    most = simulated * plan.battles
    check_battles(simulated, round(each), plan.sweep.source)
    disk = _Disk(plan, solved, fought)
    rows = exact + simulated * len(api.batch_schedule(max(round(each), 1)))
    effort = trial.factor * sum(trial.efforts[number] for number in trial.solved)
    states = trial.factor * sum(plan.ruleset.count_states(trial.scenarios[number]) for number in trial.solved)
    parts = _count_parts(plan, exact, simulated, each)
    seconds = effort * step_s + simulated * each * battle_s + parts * _FILE_S
    seconds += len(plan) * (trial.read_s + disk.matchup_s)
    return Estimate(
        name=plan.sweep.sweep.name,
        matchups=len(plan),
        exact=exact,
        simulated=simulated,
        failed=failed,
        sampled=len(trial.sample),
        states=round(states),
        battles=round(simulated * each),
        most_battles=most,
        parts=parts,
        seconds=seconds,
        disk_bytes=round(
            rows * disk.row_bytes
            + simulated * each * disk.battle_bytes
            + len(plan) * disk.matchup_bytes
            + disk.fixed_bytes
        ),
        solved_trial=0 if solved is None else len(solved.segments),
        fought_trial=0 if fought is None else len(fought.segments),
        trial_s=time.perf_counter() - began,
    )
