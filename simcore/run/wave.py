"""Which battles are fought in which order: waves of parts, each of which depends on the results of those before.

A run of a fixed size is a single wave. A run with a precision looks at every matchup after each batch of the fixed
schedule, and one wave holds the next batch of all matchups that are not precise enough yet. A run that was topped up
goes through the stages that it had before, wave by wave, and then adds what the last stage asks for beyond them.
Results are a function of counts alone, so whoever goes through the same stages meets the same waves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from simcore import api
from simcore.precision import largest_minorities
from simcore.run.plan import cut_parts, segment_schedule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy.typing as npt

    from simcore.run.plan import Plan
    from simcore.run.store import PartRows

__all__ = ["Course", "Stage", "Wave"]


@dataclass(frozen=True)
class Stage:
    """How many battles a run asks for.

    Attributes
    ----------
    battles : int
        Battles of each matchup that is simulated; with a precision the most of them.
    precision : float or None
        Half-width at which a matchup gets no more battles.
    """

    battles: int
    precision: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return it as the manifest keeps it."""
        return {"battles": self.battles, "precision": self.precision}

    @classmethod
    def read(cls, found: object) -> Stage | None:
        """Return the stage that a table of a manifest describes, None when it describes none.

        Parameters
        ----------
        found : object
            Table with ``battles`` and ``precision``; other entries are passed over.

        Returns
        -------
        Stage or None
        """
        if not isinstance(found, dict):
            return None
        battles, precision = found.get("battles"), found.get("precision")
        if not isinstance(battles, int) or isinstance(battles, bool) or battles < 1:
            return None
        if precision is not None and not (isinstance(precision, float) and precision > 0):
            return None
        return cls(battles, precision)

    @classmethod
    def read_all(cls, found: object) -> list[Stage] | None:
        """Return the stages that a list of tables of a manifest describes, None when anything in it describes none.

        Parameters
        ----------
        found : object
            As in `read`, each.

        Returns
        -------
        list of Stage or None
        """
        if not isinstance(found, list):
            return None
        stages = [cls.read(entry) for entry in found]
        known = [stage for stage in stages if stage is not None]
        return known if len(known) == len(stages) else None

    def problem_after(self, earlier: Stage) -> str:
        """Return why a run of stage `earlier` cannot be topped up to this one; empty when it can.

        Parameters
        ----------
        earlier : Stage
            What the run had asked for.

        Returns
        -------
        str
        """
        if self.battles < earlier.battles:
            return f"it has {earlier.battles:,} battles of each matchup, more than {self.battles:,}"
        if self.precision is None:
            return ""
        if earlier.precision is None:
            return "it has equally many battles of each matchup, which a precision would not have asked for"
        if self.precision > earlier.precision:
            return f"its precision of {earlier.precision:g} is finer than {self.precision:g}"
        return ""


@dataclass(frozen=True)
class Wave:
    """Parts that can be resolved in any order.

    Attributes
    ----------
    stage : Stage
        What asks for them.
    end : int
        Battles of each of its matchups after this wave.
    matchups : int64 (n,) or None
        Which matchups; None for all of them from their first battle on, those that are solved included.
    firsts : int64 (n,) or None
        First battle of each.
    """

    stage: Stage
    end: int
    matchups: npt.NDArray[np.int64] | None = None
    firsts: npt.NDArray[np.int64] | None = None

    def parts(self, plan: Plan, effort_of: Callable[[int], int]) -> Iterator[npt.NDArray[np.int64]]:
        """Yield the rows of one part after the other.

        Parameters
        ----------
        plan : Plan
            All matchups.
        effort_of : callable
            Effort of solving a matchup, 0 for one that is simulated.

        Yields
        ------
        int64 (n, 4)
            Matchup number, batch number, first battle, number of battles: 0 for a matchup that is solved.
        """
        cut: dict[int, list[tuple[int, ...]]] = {}

        def rows(first: int) -> list[tuple[int, ...]]:
            if first not in cut:
                cut[first] = [
                    (batch, max(start, first), min(start + count, self.end) - max(start, first))
                    for batch, start, count in segment_schedule(self.stage.battles).tolist()
                    if start + count > first and start < self.end
                ]
            return cut[first]

        if self.matchups is None or self.firsts is None:
            return plan.parts(effort_of, rows(0))
        pairs = zip(self.matchups.tolist(), self.firsts.tolist(), strict=True)
        return cut_parts((matchup, 0, rows(first)) for matchup, first in pairs)


class Course:
    """The waves of a run, one after the other, and what its matchups have got so far.

    Parameters
    ----------
    plan : Plan
        All matchups.
    stages : sequence of Stage
        What was asked for, in this order; the last is what is asked for now.

    Attributes
    ----------
    short : int
        Matchups that have all the battles that are allowed and are not as precise as asked for; known at the end.
    """

    def __init__(self, plan: Plan, stages: Sequence[Stage]) -> None:
        self.short = 0
        self._stages = tuple(stages)
        self._size = len(plan)
        at = {name: position for position, name in enumerate(plan.ruleset.accumulators)}
        self._battles_at = at["battles"]
        self._outcomes_at = [at[f"outcome.{name}"] for name in plan.ruleset.outcomes]
        # A single wave needs no memory of what it found.
        self._is_long = len(self._stages) > 1 or any(stage.precision is not None for stage in self._stages)
        size = self._size if self._is_long else 0
        self._battles = np.zeros(size, dtype=np.int64)
        self._counts = np.zeros((size, len(self._outcomes_at)), dtype=np.int64)
        self._is_over = np.zeros(size, dtype=np.bool_)
        """Matchups that were solved or have failed."""
        self._is_precise = np.zeros(size, dtype=np.bool_)
        """Matchups that are as precise as the current stage asks for."""

    def note(self, rows: PartRows) -> None:
        """Take in what a part of the wave found; the parts of a wave may come in any order.

        Parameters
        ----------
        rows : PartRows
            The part.
        """
        if not self._is_long:
            return
        numbers = rows.segments[:, 0]
        drawn = np.isin(numbers, list(rows.drawn))
        failed = np.isin(numbers, list(rows.errors))
        solved = (rows.segments[:, 3] == 0) & ~drawn
        self._is_over[numbers[failed | solved]] = True
        counted = ~(failed | solved)
        np.add.at(self._battles, numbers[counted], rows.tallies[counted, self._battles_at])
        np.add.at(self._counts, numbers[counted], rows.tallies[np.ix_(counted, self._outcomes_at)])

    def progress(self, battles: int) -> float:
        """Return how many matchups are done, those that go on in part.

        Parameters
        ----------
        battles : int
            What a matchup may get at most.

        Returns
        -------
        float
        """
        is_done = self._is_over | self._is_precise
        return float(np.where(is_done, 1.0, self._battles / battles).sum())

    def waves(self) -> Iterator[Wave]:
        """Yield one wave after the other; the parts of each must be noted before the next is asked for.

        Yields
        ------
        Wave
        """
        is_first = True
        for stage in self._stages:
            for wave in self._stage_waves(stage, is_first=is_first):
                yield wave
                is_first = False

    def _stage_waves(self, stage: Stage, *, is_first: bool) -> Iterator[Wave]:
        if stage.precision is None:
            looks = np.array([stage.battles])
            limits = np.array([-1])
        else:
            looks = api.batch_schedule(stage.battles).sum(axis=1)
            limits = largest_minorities(stage.precision, looks.tolist(), len(self._outcomes_at))
        self._is_precise[:] = False
        for look, limit in zip(looks.tolist(), limits.tolist(), strict=True):
            if is_first:
                yield Wave(stage, look)
                is_first = False
            elif (waiting := np.flatnonzero(~self._is_over & ~self._is_precise & (self._battles < look))).size:
                yield Wave(stage, look, waiting, self._battles[waiting])
            here = np.flatnonzero(self._battles == look)
            self._is_precise[here] = self._minorities(here) <= limit
        self.short = 0 if stage.precision is None else int((~self._is_over & ~self._is_precise).sum())

    def _minorities(self, matchups: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return min(k, n - k) of the outcome that divides the battles of a matchup most evenly."""
        counts = self._counts[matchups]
        found: npt.NDArray[np.int64] = np.minimum(counts, self._battles[matchups, None] - counts).max(axis=1)
        return found
