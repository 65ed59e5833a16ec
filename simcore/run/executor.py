"""Where parts are resolved: on this machine. Anything with the same one method can take its place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from simcore import api
from simcore.errors import KernelStatusError, ScenarioError
from simcore.registry import get_ruleset
from simcore.run.store import PartRows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    import numpy.typing as npt

__all__ = ["Executor", "Job", "LocalExecutor", "resolve_part"]


@dataclass(frozen=True)
class Job:
    """Everything that is needed to resolve one part, anywhere.

    Attributes
    ----------
    name : str
        Content name of the part.
    segments : int64 (n, 4)
        Matchup number, batch number, first battle, number of battles.
    scenarios : mapping of int to scenario
        Parsed scenario of each matchup that could be parsed.
    errors : mapping of int to str
        Why the other matchups failed.
    battles : int
        Battles of each matchup, all parts together.
    seed : int
        Seed of the random numbers.
    pairing : str
        Which runs share their dice.
    ruleset, kind : str
        Record that resolves it.
    is_exact : bool
        Whether the matchups are solved instead of fought.
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
    is_exact: bool = False


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


def resolve_part(job: Job, threads: int | None = None) -> PartRows:
    """Resolve all battles of a part; a matchup that fails does not stop the others.

    Parameters
    ----------
    job : Job
        The part.
    threads : int, optional
        Threads of the kernel; the result does not depend on it.

    Returns
    -------
    PartRows
    """
    errors = dict(job.errors)
    numbers = list(job.scenarios)
    record = get_ruleset(job.ruleset).of_kind(job.kind)
    encoded, kept, refused = api.encode_checked([job.scenarios[number] for number in numbers], record)
    if job.is_exact:
        return _solve_part(job, encoded, [numbers[row] for row in kept], errors, numbers, refused, threads)
    too_large = api.check_size(encoded, job.battles)
    errors.update({numbers[row]: str(problem) for row, problem in refused.items()})
    errors.update({numbers[kept[row]]: str(problem) for row, problem in too_large.items()})
    row_of = {numbers[row]: position for position, row in enumerate(kept) if position not in too_large}

    counted = encoded.ruleset.accumulators.index("battles")
    rows = np.array([row_of.get(int(number), -1) for number in job.segments[:, 0]], dtype=np.int64)
    tallies = np.zeros((len(rows), len(encoded.ruleset.accumulators)), dtype=np.int64)

    def tally(wanted: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
        asked = np.column_stack((rows[wanted], job.segments[wanted, 2:]))
        found = api.tally(encoded, asked, seed=job.seed, pairing=job.pairing, threads=threads)
        if not np.array_equal(found[:, counted], asked[:, 2]):
            raise KernelStatusError("internal error: the number of battles counted is not that of battles asked for")
        return found

    good = rows >= 0
    if good.any():
        try:
            tallies[good] = tally(good)
        except KernelStatusError:
            # A battle of this part cannot be resolved: find out of which matchups, and keep the others.
            for number, row in row_of.items():
                own = rows == row
                try:
                    tallies[own] = tally(own)
                except KernelStatusError as problem:
                    errors[number] = str(problem)
                    tallies[own] = 0
    return PartRows(job.segments, tallies, errors)


def _solve_part(
    job: Job,
    encoded: api.Encoded,
    kept: list[int],
    errors: dict[int, str],
    numbers: list[int],
    refused: Mapping[int, ScenarioError],
    threads: int | None,
) -> PartRows:
    """Solve the matchups of a part; the bits of their expected accumulators take the place of counts."""
    errors.update({numbers[row]: str(problem) for row, problem in refused.items()})
    found, _, problems = api.solve_checked(encoded, threads=threads)
    errors.update({kept[row]: str(problem) for row, problem in problems.items()})
    row_of = {number: row for row, number in enumerate(kept) if row not in problems}
    tallies = np.zeros((len(job.segments), len(encoded.ruleset.accumulators)), dtype=np.int64)
    for i, number in enumerate(job.segments[:, 0].tolist()):
        if number in row_of:
            tallies[i] = found[row_of[number]].view(np.int64)
    return PartRows(job.segments, tallies, errors)


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
