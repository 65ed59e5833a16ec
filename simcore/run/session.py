"""One run of a sweep: open the folder, resolve the parts that are missing, write the tables."""

from __future__ import annotations

import contextlib
import datetime as dt
import heapq
import itertools
import os
import platform
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import reduce
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeGuard, cast

import llvmlite
import numba
import numpy as np
import pyarrow as pa

import simcore
from simcore.argument import check_flag, check_path
from simcore.core.jit import source_digest
from simcore.core.rng import RNG_VERSION
from simcore.errors import ClusterError, ResumeMismatchError, ScenarioError, StoreError
from simcore.method import RESOLVED, choose, expected_effort
from simcore.model import shown
from simcore.run.behind import store_behind
from simcore.run.executor import Executor, Job, check_choice, choose_executor
from simcore.run.manifest import SCHEMA, DamagedManifestError, is_readable, newer_schema, parse_manifest
from simcore.run.plan import Plan, content_name, plan_sweep
from simcore.run.progress import Progress, choose_progress, duration
from simcore.run.stop import stopping_politely
from simcore.run.store import MANIFEST, PARTS, PartRows, Store
from simcore.run.table import TABLES, Tables, Total, writing_tables
from simcore.run.wave import Course, Stage, Wave
from simcore.scenario import SweepFile, load_scenario, load_sweep

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    import numpy.typing as npt

    from simcore.core.swing import SwingCounts
    from simcore.run.plan import GridPoint
    from simcore.schema import ScenarioModel

__all__ = [
    "Session",
    "SweepInterrupted",
    "SweepResult",
    "read_manifest",
    "results_folder",
    "resume",
    "sweep",
    "sweep_of",
]

_RESULTS: Final = "results"
_REPORT: Final = "report.html"
_RUNNING: Final = "running"
_COMPLETE: Final = "complete"
_DIFFERENCES_SHOWN: Final = 3
_LONGEST_S: Final = 1e10
_MOST_EFFORT: Final = 2**62
_MOST_SIDES: Final = 20_000
"""Scenarios that are kept for their sides."""
_METHODS_SHOWN: Final = {"auto": "auto", "simulate": RESOLVED[False], "exact": RESOLVED[True]}
"""Entry `method` of the manifest, by what the sweep asks for."""
_MISSING: Final = object()
_STAGE_FIELDS: Final = frozenset({"sweep.battles", "sweep.precision"})
"""What may change when a run is topped up."""


class SweepInterrupted(KeyboardInterrupt):
    """Ctrl-C during a sweep: everything computed so far is stored, and the folder can be resumed.

    Parameters
    ----------
    out : Path
        The results folder.
    """

    def __init__(self, out: Path) -> None:
        self.out = out
        super().__init__(f"interrupted; {out} can be resumed")


@dataclass(frozen=True)
class SweepResult:
    """What a sweep did.

    Attributes
    ----------
    name : str
        Name of the sweep.
    out : Path
        The results folder.
    matchups, failed : int
        All matchups, and those of them that failed; why is in column ``error`` of the matchup table.
    solved : int
        Matchups that were solved; no battle of them was drawn.
    battles : int
        Battles of all others in the tables, those of earlier runs included.
    parts_computed, parts_reused : int
        Parts resolved by this run, and parts that were there before.
    reports : list of str
        Files found damaged or foreign, one line each.
    elapsed_s : float
        Wall time of this run in seconds.
    imprecise : int
        Matchups that have as many battles as are allowed and are not as precise as asked for.
    """

    name: str
    out: Path
    matchups: int
    failed: int
    solved: int
    battles: int
    parts_computed: int
    parts_reused: int
    reports: list[str] = field(default_factory=list)
    elapsed_s: float = 0.0
    imprecise: int = 0

    def __str__(self) -> str:
        found = [f"{self.parts_computed} parts computed"]
        if self.parts_reused:
            found.append(f"{self.parts_reused} found")
        if self.failed:
            found.append(f"{self.failed:,} matchups failed")
        if self.imprecise:
            found.append(f"{self.imprecise:,} matchups stay less precise than asked for")
        done = [f"{self.solved:,} solved"] if self.solved else []
        if self.battles or not done:
            done.append(f"{self.battles:,} battles")
        return (
            f"{self.name}: {self.matchups:,} matchups, {', '.join(done)} "
            f"in {duration(self.elapsed_s)} ({', '.join(found)}): {self.out}"
        )


def sweep(
    path_or_config: str | os.PathLike[str] | Mapping[str, Any] | SweepFile,
    out: str | os.PathLike[str] | None = None,
    *,
    resume: bool = True,
    top_up: bool = False,
    threads: int | None = None,
    scheduler: str | None = None,
    workers: int | None = None,
    progress: bool | Progress | None = None,
) -> SweepResult:
    """Resolve all matchups of a sweep into a folder of Parquet tables.

    A run that was stopped goes on where it was, and ends with the same bytes as an undisturbed one.

    Parameters
    ----------
    path_or_config : path, mapping or SweepFile
        The sweep file, or its content.
    out : path, optional
        Results folder; by default what the sweep file says, else ``results/<name>`` in the current folder.
    resume : bool
        False to compute everything anew and replace whatever sweep the folder holds.
    top_up : bool
        True to go on with a folder that was asked for fewer battles of each matchup, or for a coarser precision:
        no battle that it holds is counted again.
    threads : int, optional
        Threads to use, all by default. No result depends on it, nor on the next two.
    scheduler : str, optional
        Address of the scheduler of a running Dask cluster whose workers resolve the parts.
    workers : int, optional
        Number of worker processes to start on this machine for it. Scripts that do so need the usual
        ``if __name__ == "__main__":``, because workers import the script.
    progress : bool or Progress, optional
        True for a bar on a terminal and a line a minute elsewhere, on standard error; nothing by default.

    Returns
    -------
    SweepResult

    Raises
    ------
    ScenarioError
        When the sweep file cannot be used; the message names the field.
    StoreError
        When the folder cannot be used, or another run is using it.
    ResumeMismatchError
        When the folder holds another sweep, or one that cannot be topped up to this one.
    ClusterError
        When a cluster cannot be reached or used any more; the folder can be resumed.
    SweepInterrupted
        On Ctrl-C; a `KeyboardInterrupt`.

    Examples
    --------
    >>> import tempfile
    >>> import simcore
    >>> table = {
    ...     "sweep": {"name": "small", "battles": 1000},
    ...     "attacker": {"mixes": ["3 infantry", "1 infantry, 1 tank"]},
    ...     "defender": {"mixes": ["2 infantry"]},
    ... }
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run = simcore.sweep(table, folder)
    ...     run.matchups, run.failed, run.solved, run.battles
    (2, 0, 2, 0)
    """
    config = path_or_config if isinstance(path_or_config, SweepFile) else load_sweep(_as_source(path_or_config))
    folder = results_folder(config, out)
    check_choice(threads, scheduler, workers)
    check_flag(resume, "resume")
    check_flag(top_up, "top_up")
    if not (progress is None or isinstance(progress, bool) or callable(getattr(progress, "advance", None))):
        raise ScenarioError(f"must be true, false or a Progress, got {shown(progress)}", field="progress")
    shows = choose_progress(asked=bool(progress)) if progress is None or isinstance(progress, bool) else progress
    if top_up and not resume:
        raise ScenarioError("a sweep that is computed anew cannot be topped up", field="top_up")
    plan = plan_sweep(config)
    with stopping_politely(), Store(folder) as store, choose_executor(threads, scheduler, workers) as executor:
        return Session(plan, store, executor, shows).run(resume=resume, top_up=top_up)


def resume(
    out: str | os.PathLike[str],
    *,
    threads: int | None = None,
    scheduler: str | None = None,
    workers: int | None = None,
    progress: bool | Progress | None = None,
) -> SweepResult:
    """Go on with the sweep that a results folder holds; nothing but the folder is needed.

    Parameters
    ----------
    out : path
        The results folder.
    threads, scheduler, workers
        As in `sweep`.
    progress : bool or Progress, optional
        As in `sweep`.

    Returns
    -------
    SweepResult

    Raises
    ------
    StoreError
        When the folder holds no sweep, or its manifest is damaged.
    """
    folder = check_path(out, "out")
    content = read_manifest(folder)
    path = folder / MANIFEST
    if content.get("merged_from"):
        raise StoreError(f"{out}: was merged from other runs and is finished")
    table = sweep_of(content, path)
    return sweep(
        load_sweep(table, source=str(path)),
        out,
        threads=threads,
        scheduler=scheduler,
        workers=workers,
        progress=progress,
    )


def read_manifest(folder: Path) -> dict[str, Any]:
    """Return the manifest of a results folder.

    Parameters
    ----------
    folder : Path
        The results folder.

    Returns
    -------
    dict

    Raises
    ------
    StoreError
        When there is none that this version can read.
    """
    path = folder / MANIFEST
    try:
        content = parse_manifest(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        raise StoreError(f"{folder}: holds no sweep (there is no {MANIFEST})") from None
    except OSError as problem:
        raise StoreError(f"{path}: cannot read: {problem.strerror}") from problem
    except DamagedManifestError as problem:
        raise StoreError(f"{path}: damaged ({problem}); run the sweep file again with this folder as output") from None
    _check_schema(content, path)
    return content


def sweep_of(content: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """Return the sweep file that a run was made from.

    Parameters
    ----------
    content : mapping
        Its manifest.
    path : Path
        The manifest's file.

    Returns
    -------
    dict

    Raises
    ------
    StoreError
        When the manifest does not hold it.
    """
    table = content.get("sweep")
    if not isinstance(table, dict):
        raise StoreError(f"{path}: damaged, it does not hold the sweep")
    if isinstance(table.get("sweep"), dict) and content.get("method") == RESOLVED[False]:
        # Before there were matchups that "auto" solves, it simulated all of them: such a run ends as it began.
        table = {**table, "sweep": {**table["sweep"], "method": "simulate"}}
    return table


def _check_schema(content: Mapping[str, Any], path: Path) -> None:
    """Refuse what is not the manifest of a sweep, or that of a newer version."""
    newer = newer_schema(content)
    if newer and isinstance(content.get("sweep"), dict):
        raise StoreError(f"{path}: {newer}")
    if not is_readable(content.get("schema")) or not isinstance(content.get("sweep"), dict):
        raise StoreError(f"{path}: not the manifest of a sweep, or one of another version")


def results_folder(config: SweepFile, out: str | os.PathLike[str] | None = None) -> Path:
    """Return where the results of a sweep go.

    Parameters
    ----------
    config : SweepFile
        The sweep.
    out : path, optional
        Goes before what the sweep file says.

    Returns
    -------
    Path
        Relative to the current folder unless absolute.

    Raises
    ------
    ScenarioError
        When the name of the sweep cannot be the name of a folder.
    """
    name = config.sweep.name
    if name != name.strip() or name in {"", ".", ".."} or not name.isprintable() or set(name) & set("/\\"):
        raise ScenarioError(
            f"must be usable as the name of a folder (one line, no slashes), got {shown(name)}",
            field="sweep.name",
            source=config.source,
        )
    if out is not None:
        check_path(out, "out")
    chosen = out if out is not None else config.sweep.out
    folder = Path(_RESULTS) / name if chosen is None else Path(chosen)
    try:
        is_possible = b"\0" not in os.fsencode(folder) and chosen != ""
    except UnicodeEncodeError:
        is_possible = False
    if not is_possible:
        place = "out" if out is not None else "sweep.out" if chosen is not None else "sweep.name"
        raise ScenarioError(
            f"must be the path of a folder, got {shown(str(chosen))}", field=place, source=config.source
        )
    return folder


def _as_source(given: str | os.PathLike[str] | Mapping[str, Any]) -> str | Path | Mapping[str, Any]:
    return given if isinstance(given, Mapping) else check_path(given, "path_or_config", "a sweep file")


def _now() -> str:
    return dt.datetime.now(dt.UTC).isoformat(timespec="seconds")


def _is_time(value: object) -> TypeGuard[float]:
    """Return True for a number of seconds that a manifest can have; a damaged one may hold anything."""
    return isinstance(value, (int, float)) and 0 <= value < _LONGEST_S


def _flat(value: object, path: str = "") -> dict[str, Any]:
    """Return the leaves of nested tables by dotted path."""
    if not isinstance(value, dict) or not value:
        return {path: value}
    leaves: dict[str, Any] = {}
    for key, entry in value.items():
        leaves |= _flat(entry, f"{path}.{key}" if path else str(key))
    return leaves


def _identity(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return the leaves of what makes sweeps the same: all but where results go and how they are shown."""
    leaves = _flat({key: value for key, value in manifest["sweep"].items() if key != "report"})
    leaves.pop("sweep.out", None)
    if leaves.get("sweep.precision") is None:  # sweeps of equally many battles, those of older versions among them
        leaves.pop("sweep.precision", None)
    if not leaves.get("sweep.keep_outcomes"):
        leaves.pop("sweep.keep_outcomes", None)
    # What was done tells more than what was asked for: "auto" has not always solved what is small.
    meant = {shown: method for method, shown in _METHODS_SHOWN.items()}
    done = manifest.get("method")
    if isinstance(done, str) and done in meant:
        leaves["sweep.method"] = meant[done]
    return {
        **leaves,
        "ruleset version": manifest.get("ruleset_version"),
        "random numbers": manifest["versions"].get("rng"),
    }


class _Matchups:
    """Scenarios of the matchups of a plan as they come, and which are solved: found out once for each.

    Attributes
    ----------
    plan : Plan
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._point: GridPoint | None = None
        self._attackers: dict[int, ScenarioModel] = {}
        self._defenders: dict[int, ScenarioModel] = {}
        self._efforts = np.full(len(plan) if plan.method != "simulate" else 0, -1, dtype=np.int64)
        self._scenarios: dict[int, ScenarioModel] = {}
        self._errors: dict[int, str] = {}

    def effort(self, matchup: int) -> int:
        """Return the effort of solving a matchup, 0 for one that is simulated."""
        if self.plan.method == "simulate":
            return 0
        if self._efforts[matchup] < 0:
            self._efforts[matchup] = self._find_effort(matchup)
        return int(self._efforts[matchup])

    def _find_effort(self, matchup: int) -> int:
        self._load(matchup)
        scenario = self._scenarios.get(matchup)
        if scenario is None:  # it fails, which takes no battles
            return 1
        if self.plan.method == "auto":
            return choose(self.plan.ruleset, scenario).effort
        return min(max(expected_effort(self.plan.ruleset, scenario), 1), _MOST_EFFORT)

    def _load(self, matchup: int) -> None:
        if matchup in self._scenarios or matchup in self._errors:
            return
        try:
            self._scenarios[matchup] = self._pair(matchup) or load_scenario(self.plan.scenario(matchup))
        except ScenarioError as problem:
            self._errors[matchup] = str(problem)
            return
        _, i, j = self.plan.locate(matchup)
        for sides, place in ((self._attackers, i), (self._defenders, j)):
            if len(sides) >= _MOST_SIDES:
                sides.clear()
            sides.setdefault(place, self._scenarios[matchup])

    def _pair(self, matchup: int) -> ScenarioModel | None:
        """Return the scenario of two sides that were both read before, so that neither is read again."""
        point, i, j = self.plan.locate(matchup)
        if point is not self._point:
            self._point = point
            self._attackers.clear()
            self._defenders.clear()
        first, second = self._attackers.get(i), self._defenders.get(j)
        if first is None or second is None:
            return None
        try:
            return cast("ScenarioModel | None", self.plan.ruleset.pair(first, second))
        except ScenarioError:  # what is read as a whole says where it is wrong
            return None

    def take(self, numbers: Sequence[int]) -> tuple[dict[int, ScenarioModel], dict[int, str]]:
        """Return scenarios and errors of matchups in ascending order; only the last may be asked for again soon."""
        for matchup in numbers:
            self._load(matchup)
        scenarios = {number: self._scenarios[number] for number in numbers if number in self._scenarios}
        errors = {number: self._errors[number] for number in numbers if number in self._errors}
        for number in numbers[:-1]:
            self._scenarios.pop(number, None)
            self._errors.pop(number, None)
        return scenarios, errors


class Session:
    """The parts of one run and what is counted on the way.

    Parameters
    ----------
    plan : Plan
        What is resolved.
    store : Store
        The results folder.
    executor : Executor
        Resolves the parts that are missing.
    shows : Progress
        Told how far the run is.

    Attributes
    ----------
    stages : list of Stage
        What the folder was asked for, the last of them now.
    """

    def __init__(self, plan: Plan, store: Store, executor: Executor, shows: Progress) -> None:
        self.plan = plan
        self.store = store
        self.executor = executor
        self.shows = shows
        self.matchups = _Matchups(plan)
        self.stages = [Stage(plan.battles, plan.precision)]
        self.waves: list[tuple[Wave, list[str]]] = []
        self.short = 0
        self._shown = 0.0
        self.computed = 0
        self.reused = 0
        self._began = time.monotonic()
        self._manifest: dict[str, Any] = {}
        self._earlier_s = 0.0

    def run(self, *, resume: bool, top_up: bool = False) -> SweepResult:
        """Resolve what is missing and write the tables."""
        plan, store = self.plan, self.store
        self._open(resume=resume, top_up=top_up)
        try:
            total = len(plan) * (plan.battles if self._is_counted else 1)
            self.shows.start(plan.sweep.sweep.name, total, "battles" if self._is_counted else "matchups")
            try:
                self._resolve()
            finally:
                self.shows.stop()
            resolved_s = time.monotonic() - self._began
            store.report_foreign(set(self.names()))
            failed, solved, battles = self._tabulate()
            whole_s = time.monotonic() - self._began
            self._manifest["parts"] = len(set(self.names()))
            self._manifest["durations"] = {
                "resolve_s": round(resolved_s, 3),
                "tables_s": round(whole_s - resolved_s, 3),
            }
            self._mark(_COMPLETE, failed, solved, battles)
        except KeyboardInterrupt:
            self._mark_stopped()
            raise SweepInterrupted(store.folder) from None
        except (StoreError, ClusterError):
            self._mark_stopped()
            raise
        return SweepResult(
            name=plan.sweep.sweep.name,
            out=store.folder,
            matchups=len(plan),
            failed=failed,
            solved=solved,
            battles=battles,
            parts_computed=self.computed,
            parts_reused=self.reused,
            reports=list(store.reports),
            elapsed_s=time.monotonic() - self._began,
            imprecise=self.short,
        )

    def _open(self, *, resume: bool, top_up: bool) -> None:
        """Check that the folder is ours to fill, and say in it that a run has begun."""
        self._manifest = self._new_manifest()
        found = self.store.read_manifest()
        # Also when all is made anew: nobody means to replace the files of another program.
        if found is not None and not all(isinstance(found.get(key), dict) for key in ("sweep", "versions")):
            raise StoreError(f"{self.store.folder / MANIFEST}: not the manifest of a sweep; choose another folder")
        newer = newer_schema(found) if found is not None else ""
        if newer:
            raise StoreError(f"{self.store.folder / MANIFEST}: {newer}")
        if found is not None and found.get("merged_from") and resume:
            raise StoreError(
                f"{self.store.folder}: was merged from other runs; choose another folder, or start afresh to replace it"
            )
        if found is None and top_up:
            raise StoreError(f"{self.store.folder}: holds no sweep that could be topped up")
        if found is not None and resume:
            self.stages = self._earlier_stages(found, top_up=top_up) + self.stages
            self._manifest["earlier"] = [stage.to_dict() for stage in self.stages[:-1]]
            created, earlier = found.get("created"), found.get("elapsed_s")
            if isinstance(created, str) and created.isascii():
                self._manifest["created"] = created
            self._earlier_s = float(earlier) if _is_time(earlier) else 0.0
        self._mark(_RUNNING, 0)
        if not resume:
            self.store.remove([*(f"{name}.parquet" for name in TABLES), _REPORT])

    def _earlier_stages(self, found: Mapping[str, Any], *, top_up: bool) -> list[Stage]:
        """Return what the folder was asked for before; refuse the folder of another sweep."""
        stages, last = Stage.read_all(found.get("earlier", [])), Stage.read(found["sweep"].get("sweep"))
        if stages is None or last is None:
            raise StoreError(
                f"{self.store.folder / MANIFEST}: damaged, it does not say how many battles were asked for"
            )
        now = self.stages[-1]
        if last == now:
            self._compare(found)
            return stages
        problem = now.problem_after(last)
        if not top_up:
            self._compare(found, advice="" if problem else "top it up, ")
        self._compare(found, but=_STAGE_FIELDS)
        if problem:
            raise ResumeMismatchError(f"{self.store.folder}: cannot be topped up: {problem}")
        return [*stages, last]

    def _compare(self, found: Mapping[str, Any], *, but: Collection[str] = (), advice: str = "") -> None:
        """Refuse the folder of another sweep, and say in what it differs."""
        then, now = _identity(found), _identity(self._manifest)
        texts = []
        for key in sorted({*then, *now} - set(but)):
            old, new = then.get(key, _MISSING), now.get(key, _MISSING)
            if old != new or type(old) is not type(new):
                words = ["nothing" if value is _MISSING else shown(value) for value in (old, new)]
                texts.append(f"{key} was {words[0]}, is {words[1]}")
                advice = advice if key in _STAGE_FIELDS else ""
        if texts:
            more = len(texts) - _DIFFERENCES_SHOWN
            if more > 0:
                texts = [*texts[:_DIFFERENCES_SHOWN], f"and {more} more"]
            raise ResumeMismatchError(
                f"{self.store.folder}: holds another sweep ({'; '.join(texts)}); {advice}choose another folder, "
                "or start afresh to replace it"
            )

    def _new_manifest(self) -> dict[str, Any]:
        plan = self.plan
        settings = plan.sweep.sweep
        table = plan.sweep.model_dump(mode="json")
        return {
            "schema": SCHEMA,
            "name": settings.name,
            "ruleset": plan.ruleset.id,
            "ruleset_version": plan.ruleset.version,
            "edition": plan.points[0].edition,
            "method": _METHODS_SHOWN[plan.method],
            "battles": None if plan.method == "exact" else plan.battles,
            "precision": plan.precision,
            "earlier": [],
            "seed": plan.seed,
            "pairing": settings.pairing,
            "grid": {key: list(values) for key, values in plan.grid.items()},
            "matchups": len(plan),
            "failed": 0,
            "solved": 0,
            "battles_counted": 0,
            "imprecise": 0,
            "mixes": {"attacker": self._mixes("attackers"), "defender": self._mixes("defenders")},
            "versions": {
                "simcore": simcore.__version__,
                "numba": numba.__version__,
                "llvmlite": llvmlite.__version__,
                "numpy": np.__version__,
                "pyarrow": pa.__version__,
                "python": platform.python_version(),
                "rng": RNG_VERSION,
            },
            "source_digest": source_digest(),
            "columns": plan.ruleset.columns,
            "tables": {},
            "parts": None,
            "durations": {},
            "sweep": table,
            "outcomes": list(plan.ruleset.outcomes),
            "wins": {side: list(outcomes) for side, outcomes in plan.ruleset.wins.items()},
            "rounds": plan.ruleset.rounds,
            "accumulators": list(plan.ruleset.accumulators),
            "report": table["report"],
            "created": _now(),
            "finished": None,
            "elapsed_s": 0.0,
            "state": _RUNNING,
        }

    def _mixes(self, side: str) -> list[dict[str, Any]]:
        """Return the mixes of a side at all grid points, each once."""
        found: dict[str, dict[str, Any]] = {}
        seen: set[int] = set()
        for point in self.plan.points:
            mixes = getattr(point, side)
            if id(mixes) not in seen:
                seen.add(id(mixes))
                for mix in mixes:
                    found.setdefault(mix.name, {"name": mix.name, "units": mix.units, "weight": mix.weight})
        return list(found.values())

    def _mark(self, state: str, failed: int, solved: int = 0, battles: int = 0) -> None:
        """Write the manifest."""
        self._manifest |= {
            "state": state,
            "failed": failed,
            "solved": solved,
            "battles_counted": battles,
            "imprecise": self.short,
            "finished": _now() if state == _COMPLETE else None,
            "elapsed_s": round(self._earlier_s + time.monotonic() - self._began, 3),
        }
        self.store.write_manifest(self._manifest)

    def _mark_stopped(self) -> None:
        """Keep the time spent; a folder that cannot be written has its own error already."""
        with contextlib.suppress(StoreError):
            self._mark(_RUNNING, 0)

    def _resolve(self) -> None:
        """Store every part that is not there yet, wave by wave."""
        described = {
            "simcore.ruleset": f"{self.plan.ruleset.id} {self.plan.ruleset.version}",
            "simcore.rng": RNG_VERSION,
        }

        def write(job: Job, rows: PartRows) -> None:
            self.store.write_part(job.name, rows, described)

        course = Course(self.plan, self.stages)
        for wave in course.waves():
            self._show_settled(course)
            self.waves.append((wave, []))
            for job, rows in store_behind(self.executor.run(self._jobs(wave, course)), write):
                self.computed += 1
                course.note(rows)
                self._advance(job.segments, is_new=True)
        self._show_settled(course)
        self.short = course.short

    def _jobs(self, wave: Wave, course: Course) -> Iterator[Job]:
        """Yield the parts of a wave that are not there yet."""
        plan = self.plan
        names = self.waves[-1][1]
        for segments in wave.parts(plan, self.matchups.effort):
            scenarios, errors = self.matchups.take(np.unique(segments[:, 0]).tolist())
            name = content_name(plan, segments, scenarios, errors)
            names.append(name)
            found = self._read(name, segments)
            if found is not None:
                self.reused += 1
                course.note(found)
                self._advance(segments, is_new=False)
                continue
            yield Job(
                name=name,
                segments=segments,
                scenarios=scenarios,
                errors=errors,
                battles=wave.stage.battles,
                seed=plan.seed,
                pairing=plan.sweep.sweep.pairing,
                ruleset=plan.ruleset.id,
                kind=plan.ruleset.kind,
                method=plan.method,
                drawn=wave.end,
                keep_outcomes=plan.sweep.sweep.keep_outcomes,
            )

    @property
    def _is_counted(self) -> bool:
        """Whether the battles are known beforehand: progress is then shown in them, else in matchups."""
        return self.plan.method == "simulate" and self.plan.precision is None

    def _advance(self, segments: npt.NDArray[np.int64], *, is_new: bool) -> None:
        """Show what a part adds: battles, or matchups where some may be solved or become precise early."""
        done: float = int(segments[:, 3].sum())
        if not self._is_counted:
            done = int((segments[:, 3] == 0).sum()) + done / self.plan.battles
        self._show(done, is_new=is_new)

    def _show_settled(self, course: Course) -> None:
        """Show matchups that became precise in the wave before: they are done without the rest of their battles."""
        if self.plan.precision is not None:
            self._show(course.progress(self.plan.battles) - self._shown, is_new=self.computed > 0)

    def _show(self, done: float, *, is_new: bool) -> None:
        self._shown += done
        self.shows.advance(done, is_new=is_new)

    def _read(self, name: str, segments: npt.NDArray[np.int64]) -> PartRows | None:
        return self.store.read_part(name, segments, self.plan.ruleset.columns)

    def _tabulate(self) -> tuple[int, int, int]:
        """Add up the parts and write the tables; returns matchups failed, matchups solved and battles."""
        with writing_tables(self.store, self.plan) as tables:
            for total in self.totals():
                tables.add(total)
        self._manifest["tables"] = tables.digests
        return tables.failed, tables.solved, tables.battles

    def find_parts(self) -> None:
        """Go through all parts of a finished run; the executor meets those that are missing."""
        self._resolve()

    def names(self) -> Iterator[str]:
        """Yield the names of all parts that were gone through.

        Yields
        ------
        str
        """
        return itertools.chain.from_iterable(names for _, names in self.waves)

    def finish_merged(
        self, tables: Tables, seeds: Sequence[int], sources: Sequence[Mapping[str, Any]], parts: int
    ) -> None:
        """Write the manifest of a run that was made of others.

        Parameters
        ----------
        tables : Tables
            What was written.
        seeds : sequence of int
            Seeds of the runs.
        sources : sequence of mapping
            What is known about each run.
        parts : int
            Number of parts that were copied.
        """
        self._manifest = self._new_manifest() | {
            "seed": seeds[0] if len(seeds) == 1 else ", ".join(map(str, seeds)),
            "merged_from": list(sources),
            "tables": tables.digests,
            "parts": parts,
        }
        self._mark(_COMPLETE, tables.failed, tables.solved, tables.battles)

    def totals(self) -> Iterator[Total]:
        """Yield the totals of one matchup after the other, added up over all waves.

        Yields
        ------
        Total
        """
        waves = [self._wave_totals(wave, names) for wave, names in self.waves]
        if len(waves) == 1:
            yield from waves[0]
            return
        in_order = heapq.merge(*waves, key=attrgetter("matchup"))
        for _, totals in itertools.groupby(in_order, key=attrgetter("matchup")):
            yield reduce(Total.plus, totals)

    @staticmethod
    def _swings(rows: PartRows, starts: npt.NDArray[np.int64]) -> list[SwingCounts | None]:
        """Return how often each swing occurred in the runs of rows that begin at `starts`."""
        if rows.swings is None:
            return [None] * len(starts)
        return rows.swings.added_up(starts.tolist(), [*starts[1:].tolist(), len(rows.swings)])

    def _wave_totals(self, wave: Wave, names: Sequence[str]) -> Iterator[Total]:
        """Yield what a wave adds to one matchup after the other; only the last may go on in the next part."""
        current: Total | None = None
        for name, segments in zip(names, wave.parts(self.plan, self.matchups.effort), strict=True):
            rows = self._read(name, segments)
            if rows is None:
                raise StoreError(f"{self.store.folder / PARTS / name}.parquet: changed while in use; run again")
            numbers, starts = np.unique(rows.segments[:, 0], return_index=True)
            sums = np.add.reduceat(rows.tallies, starts, axis=0)
            solved = rows.segments[starts, 3] == 0
            swings = self._swings(rows, starts)
            for number, part, is_solved, counts in zip(numbers.tolist(), sums, solved.tolist(), swings, strict=True):
                is_exact = is_solved and number not in rows.drawn
                new = Total(number, part, rows.errors.get(number, ""), is_exact=is_exact, swings=counts)
                if current is not None and number == current.matchup:
                    current = current.plus(new)
                    continue
                if current is not None:
                    yield current
                current = new
        if current is not None:
            yield current
