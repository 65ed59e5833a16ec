"""Where parts are resolved: on this machine. Anything with the same one method can take its place."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from simcore import api
from simcore.core.swing import BINS, Swings
from simcore.errors import KernelStatusError, ScenarioError
from simcore.model import shown
from simcore.registry import get_ruleset
from simcore.run.store import PartRows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    import numpy.typing as npt

__all__ = ["Executor", "Job", "LocalExecutor", "check_choice", "choose_executor", "resolve_part"]

_MOST_WORKERS: Final = 4_096


@dataclass(frozen=True)
class Job:
    """Everything that is needed to resolve one part, anywhere.

    Attributes
    ----------
    name : str
        Content name of the part.
    segments : int64 (n, 4)
        Matchup number, batch number, first battle, number of battles; 0 battles for a matchup to be solved.
    scenarios : mapping of int to scenario
        Parsed scenario of each matchup that could be parsed.
    errors : mapping of int to str
        Why the other matchups failed.
    battles : int
        Battles of each matchup that is simulated, all parts together.
    seed : int
        Seed of the random numbers.
    pairing : str
        Which runs share their dice.
    ruleset, kind : str
        Record that resolves it.
    method : str
        With "auto" a matchup that turns out not to fit the solver is simulated; with "exact" it fails.
    drawn : int
        Battles that such a matchup gets in this part; 0 for all of them.
    keep_outcomes : bool
        Whether to keep the outcome of every battle.
    """

    name: str
    segments: npt.NDArray[np.int64]
    scenarios: Mapping[int, Any]
    errors: Mapping[int, str]
    battles: int
    seed: int
    pairing: str
    ruleset: str
    kind: str = ""
    method: str = "simulate"
    drawn: int = 0
    keep_outcomes: bool = False


class Executor(Protocol):
    """Resolves jobs, in any order; each result is complete when it is handed over."""

    def run(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, PartRows]]:
        """Resolve `jobs`.

        Parameters
        ----------
        jobs : iterable of Job
            Taken one by one, so that a long plan is never held as a whole.

        Yields
        ------
        Job, PartRows
        """


class _Part:
    """The rows of a part while they are being resolved; a matchup that fails does not stop the others."""

    def __init__(self, job: Job, threads: int | None) -> None:
        self.job = job
        self.threads = threads
        self.record = get_ruleset(job.ruleset).of_kind(job.kind)
        self.segments = job.segments.copy()
        self.tallies = np.zeros((len(job.segments), self.record.columns), dtype=np.int64)
        self.swings = Swings.nothing(len(job.segments))
        self.errors = dict(job.errors)
        self.drawn: set[int] = set()
        self.outcomes: list[bytes] = [b""] * len(job.segments) if job.keep_outcomes else []

    def solve(self) -> None:
        """Solve the matchups without battles; the bits of their expected accumulators take the place of counts."""
        places = {int(self.segments[i, 0]): i for i in np.flatnonzero(self.segments[:, 3] == 0).tolist()}
        encoded, numbers = self._encode([number for number in places if number in self.job.scenarios])
        if not numbers:
            return
        found, _, problems = api.solve_checked(encoded, threads=self.threads, with_spread=True)
        for row, number in enumerate(numbers):
            if row not in problems:
                self.tallies[places[number]] = found[row].view(np.int64)
            elif self.job.method == "auto" and not self.record.cannot_simulate(self.job.scenarios[number]):
                self.drawn.add(number)
                self.segments[places[number], 2:] = 0, self.job.drawn or self.job.battles
            else:
                self.errors[number] = str(problems[row])

    def fight(self) -> None:
        """Fight the battles of the other matchups."""
        asked = self.segments[:, 3] > 0
        wanted = dict.fromkeys(self.segments[asked, 0].tolist())
        encoded, numbers = self._encode([number for number in wanted if number in self.job.scenarios])
        too_large = api.check_size(encoded, self.job.battles) if numbers else {}
        self.errors.update({numbers[row]: str(problem) for row, problem in too_large.items()})
        row_of = {number: row for row, number in enumerate(numbers) if row not in too_large}
        rows = np.array([row_of.get(int(number), -1) for number in self.segments[:, 0]], dtype=np.int64)
        good = asked & (rows >= 0)
        if not good.any():
            return
        columns = len(self.record.accumulators)
        found = np.zeros((len(rows), columns + BINS), dtype=np.int64)
        try:
            found[good] = self._tally(encoded, rows, good)
        except KernelStatusError:
            # A battle of this part cannot be resolved: find out of which matchups, and keep the others.
            for number, row in row_of.items():
                own = rows == row
                try:
                    found[own] = self._tally(encoded, rows, own)
                except KernelStatusError as problem:
                    self.errors[number] = str(problem)
        self.tallies[good, :columns] = found[good, :columns]
        self.swings = api.count_swings(encoded, rows, found)
        if self.job.keep_outcomes:
            self._keep(encoded, rows)

    def _keep(self, encoded: api.Encoded, rows: npt.NDArray[np.int64]) -> None:
        """Fight the battles of the plan once more, one by one, and keep their outcomes."""
        kept = [
            i
            for i in np.flatnonzero((rows >= 0) & (self.job.segments[:, 3] > 0)).tolist()
            if int(self.segments[i, 0]) not in self.errors
        ]
        asked = np.column_stack((rows[kept], self.segments[kept, 2:]))
        counted = [self.record.accumulators.index(f"outcome.{name}") for name in self.record.outcomes]
        for i, found in zip(kept, api.outcomes(encoded, asked, self.job.seed, self.job.pairing), strict=True):
            if not np.array_equal(np.bincount(found, minlength=len(counted)), self.tallies[i, counted]):
                raise KernelStatusError("internal error: single battles end in another way than they were counted")
            self.outcomes[i] = found.tobytes()

    def _encode(self, numbers: list[int]) -> tuple[api.Encoded, list[int]]:
        """Encode matchups; returns those that can be, and notes why the others fail."""
        encoded, kept, refused = api.encode_checked([self.job.scenarios[number] for number in numbers], self.record)
        self.errors.update({numbers[row]: str(problem) for row, problem in refused.items()})
        return encoded, [numbers[row] for row in kept]

    def _tally(
        self, encoded: api.Encoded, rows: npt.NDArray[np.int64], wanted: npt.NDArray[np.bool_]
    ) -> npt.NDArray[np.int64]:
        asked = np.column_stack((rows[wanted], self.segments[wanted, 2:]))
        found = api.tally(encoded, asked, seed=self.job.seed, pairing=self.job.pairing, threads=self.threads)
        if not np.array_equal(found[:, self.record.accumulators.index("battles")], asked[:, 2]):
            raise KernelStatusError("internal error: the number of battles counted is not that of battles asked for")
        return found


def resolve_part(job: Job, threads: int | None = None) -> PartRows:
    """Resolve all rows of a part; a matchup that fails does not stop the others.

    Parameters
    ----------
    job : Job
        The part.
    threads : int, optional
        Threads to use; the result does not depend on it.

    Returns
    -------
    PartRows
    """
    part = _Part(job, threads)
    part.solve()
    part.fight()
    swings = part.swings if len(part.swings.counts) else None
    return PartRows(job.segments, part.tallies, part.errors, frozenset(part.drawn), tuple(part.outcomes), swings)


@dataclass(frozen=True)
class LocalExecutor:
    """Resolves one part after the other with all threads of this process.

    A kernel call cannot be interrupted, so parts are small enough for Ctrl-C to be answered soon.

    Attributes
    ----------
    threads : int or None
        None for all.
    """

    threads: int | None = None

    def run(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, PartRows]]:
        """Resolve `jobs` in their order.

        Parameters
        ----------
        jobs : iterable of Job
            Parts to resolve.

        Yields
        ------
        Job, PartRows
        """
        for job in jobs:
            yield job, resolve_part(job, self.threads)


def check_choice(threads: int | None, scheduler: str | None, workers: int | None) -> None:
    """Refuse what `choose_executor` cannot open, before anything is written or started.

    Parameters
    ----------
    threads, scheduler, workers
        As there.

    Raises
    ------
    ScenarioError
        Names the argument.
    """
    numbers: dict[str, object] = {"threads": threads, "workers": workers}
    for name, value in numbers.items():
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
            raise ScenarioError(f"must be a whole number from 1 up, got {shown(value)}", field=name)
    if workers is not None and workers > _MOST_WORKERS:
        raise ScenarioError(f"must be at most {_MOST_WORKERS:,}, got {shown(workers)}", field="workers")
    address: object = scheduler
    if address is not None and not isinstance(address, str):
        raise ScenarioError(f"must be an address as text, got {shown(address)}", field="scheduler")
    if scheduler is not None and workers is not None:
        raise ScenarioError("give the scheduler of a running cluster or a number of workers, not both", field="workers")
    if threads is not None and (scheduler is not None or workers is not None):
        raise ScenarioError("workers resolve on one thread each; leave it out", field="threads")


@contextmanager
def choose_executor(
    threads: int | None = None, scheduler: str | None = None, workers: int | None = None
) -> Iterator[Executor]:
    """Open what resolves the parts of a sweep: this process, a running cluster, or worker processes of its own.

    Parameters
    ----------
    threads : int, optional
        Threads of this process.
    scheduler : str, optional
        Address of the scheduler of a running Dask cluster.
    workers : int, optional
        Number of worker processes to start on this machine.

    Yields
    ------
    Executor

    Raises
    ------
    ScenarioError
        For arguments that cannot be used, or when Dask is not installed.
    ClusterError
        When the cluster cannot be reached.
    """
    check_choice(threads, scheduler, workers)
    if scheduler is None and workers is None:
        yield LocalExecutor(threads)
        return
    try:
        from simcore.run import cluster  # noqa: PLC0415 - the only way to Dask
    except ImportError as problem:
        raise ScenarioError(
            f'needs Dask ({problem.name} is missing); install it with: pip install "simcore[cluster]"',
            field="workers" if scheduler is None else "scheduler",
        ) from problem
    opened = cluster.local_cluster(workers) if workers is not None else cluster.running_cluster(str(scheduler))
    with opened as executor:
        yield executor
