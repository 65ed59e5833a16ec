"""One run of a sweep: open the folder, resolve the parts that are missing, write the tables."""

from __future__ import annotations

import contextlib
import datetime as dt
import json
import os
import platform
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeGuard

import numba
import numpy as np
import pyarrow as pa

import simcore
from simcore.core.jit import source_digest
from simcore.core.rng import RNG_VERSION
from simcore.errors import ResumeMismatchError, ScenarioError, StoreError
from simcore.model import shown
from simcore.run.executor import Executor, Job, LocalExecutor
from simcore.run.plan import METHODS, Plan, content_name, plan_sweep
from simcore.run.progress import Progress, choose_progress, duration
from simcore.run.store import MANIFEST, PARTS, PartRows, Store
from simcore.run.table import METHODS_SHOWN, TABLES, writing_tables
from simcore.scenario import SweepFile, load_scenario, load_sweep

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import numpy.typing as npt

    from simcore.schema import ScenarioModel

__all__ = ["SweepInterrupted", "SweepResult", "results_folder", "resume", "sweep"]

_SCHEMA: Final = 1
_RESULTS: Final = "results"
_REPORT: Final = "report.html"
_RUNNING: Final = "running"
_COMPLETE: Final = "complete"
_DIFFERENCES_SHOWN: Final = 3
_LONGEST_S: Final = 1e10
_MISSING: Final = object()


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
    battles : int
        Battles in the tables, those of earlier runs included.
    parts_computed, parts_reused : int
        Parts resolved by this run, and parts that were there before.
    reports : list of str
        Files found damaged or foreign, one line each.
    elapsed_s : float
        Wall time of this run in seconds.
    """

    name: str
    out: Path
    matchups: int
    failed: int
    battles: int
    parts_computed: int
    parts_reused: int
    reports: list[str] = field(default_factory=list)
    elapsed_s: float = 0.0

    def __str__(self) -> str:
        found = [f"{self.parts_computed} parts computed"]
        if self.parts_reused:
            found.append(f"{self.parts_reused} found")
        if self.failed:
            found.append(f"{self.failed:,} matchups failed")
        return (
            f"{self.name}: {self.matchups:,} matchups, {f'{self.battles:,} battles' if self.battles else 'solved'} "
            f"in {duration(self.elapsed_s)} ({', '.join(found)}): {self.out}"
        )


def sweep(
    path_or_config: str | os.PathLike[str] | Mapping[str, Any] | SweepFile,
    out: str | os.PathLike[str] | None = None,
    *,
    resume: bool = True,
    threads: int | None = None,
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
    threads : int, optional
        Threads to use, all by default. No result depends on it.
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
        When the folder holds another sweep.
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
    ...     run.matchups, run.failed, run.battles
    (2, 0, 2000)
    """
    config = path_or_config if isinstance(path_or_config, SweepFile) else load_sweep(_as_source(path_or_config))
    folder = results_folder(config, out)
    if isinstance(threads, int) and threads < 1:
        raise ScenarioError(f"must be a whole number from 1 up, got {shown(threads)}", field="threads")
    shows = choose_progress(asked=bool(progress)) if progress is None or isinstance(progress, bool) else progress
    plan = plan_sweep(config)
    with Store(folder) as store:
        return _Session(plan, store, LocalExecutor(threads), shows).run(resume=resume)


def resume(
    out: str | os.PathLike[str], *, threads: int | None = None, progress: bool | Progress | None = None
) -> SweepResult:
    """Go on with the sweep that a results folder holds; nothing but the folder is needed.

    Parameters
    ----------
    out : path
        The results folder.
    threads : int, optional
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
    path = Path(out) / MANIFEST
    try:
        content = json.loads(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        raise StoreError(f"{out}: holds no sweep (there is no {MANIFEST})") from None
    except OSError as problem:
        raise StoreError(f"{path}: cannot read: {problem.strerror}") from problem
    except (ValueError, RecursionError):
        raise StoreError(f"{path}: damaged; run the sweep file again with this folder as output") from None
    if not isinstance(content, dict) or content.get("schema") != _SCHEMA or not isinstance(content.get("sweep"), dict):
        raise StoreError(f"{path}: not the manifest of a sweep, or one of another version")
    return sweep(load_sweep(content["sweep"], source=str(path)), out, threads=threads, progress=progress)


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
    return Path(given) if isinstance(given, os.PathLike) else given


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


def _identity(table: Mapping[str, Any], ruleset_version: object, rng: object) -> dict[str, Any]:
    """Return the leaves of what makes sweeps the same: all but where results go and how they are shown."""
    leaves = _flat({key: value for key, value in table.items() if key != "report"})
    leaves.pop("sweep.out", None)
    leaves["sweep.method"] = METHODS[leaves.get("sweep.method") == "exact"]
    return {**leaves, "ruleset version": ruleset_version, "random numbers": rng}


class _Session:
    """The parts of one run and what is counted on the way."""

    def __init__(self, plan: Plan, store: Store, executor: Executor, shows: Progress) -> None:
        self.plan = plan
        self.store = store
        self.executor = executor
        self.shows = shows
        self.names: list[str] = []
        self.computed = 0
        self.reused = 0
        self._began = time.monotonic()
        self._manifest: dict[str, Any] = {}
        self._earlier_s = 0.0

    def run(self, *, resume: bool) -> SweepResult:
        """Resolve what is missing and write the tables."""
        plan, store = self.plan, self.store
        self._open(resume=resume)
        try:
            self.shows.start(plan.sweep.sweep.name, len(plan) * plan.battles)
            try:
                self._resolve()
            finally:
                self.shows.stop()
            store.report_foreign(set(self.names))
            failed = self._tabulate()
            self._mark(_COMPLETE, failed)
        except KeyboardInterrupt:
            self._mark_stopped()
            raise SweepInterrupted(store.folder) from None
        except StoreError:
            self._mark_stopped()
            raise
        return SweepResult(
            name=plan.sweep.sweep.name,
            out=store.folder,
            matchups=len(plan),
            failed=failed,
            battles=0 if plan.is_exact else (len(plan) - failed) * plan.battles,
            parts_computed=self.computed,
            parts_reused=self.reused,
            reports=list(store.reports),
            elapsed_s=time.monotonic() - self._began,
        )

    def _open(self, *, resume: bool) -> None:
        """Check that the folder is ours to fill, and say in it that a run has begun."""
        self._manifest = self._new_manifest()
        found = self.store.read_manifest()
        # Also when all is made anew: nobody means to replace the files of another program.
        if found is not None and not all(isinstance(found.get(key), dict) for key in ("sweep", "versions")):
            raise StoreError(f"{self.store.folder / MANIFEST}: not the manifest of a sweep; choose another folder")
        if found is not None and resume:
            self._compare(found)
            created, earlier = found.get("created"), found.get("elapsed_s")
            if isinstance(created, str) and created.isascii():
                self._manifest["created"] = created
            self._earlier_s = float(earlier) if _is_time(earlier) else 0.0
        self._mark(_RUNNING, 0)
        if not resume:
            self.store.remove([*(f"{name}.parquet" for name in TABLES), _REPORT])

    def _compare(self, found: Mapping[str, Any]) -> None:
        """Refuse the folder of another sweep, and say in what it differs."""
        then = _identity(found["sweep"], found.get("ruleset_version"), found["versions"].get("rng"))
        now = _identity(self._manifest["sweep"], self._manifest["ruleset_version"], RNG_VERSION)
        texts = []
        for key in sorted({*then, *now}):
            old, new = then.get(key, _MISSING), now.get(key, _MISSING)
            if old != new or type(old) is not type(new):
                words = ["nothing" if value is _MISSING else shown(value) for value in (old, new)]
                texts.append(f"{key} was {words[0]}, is {words[1]}")
        if texts:
            more = len(texts) - _DIFFERENCES_SHOWN
            if more > 0:
                texts = [*texts[:_DIFFERENCES_SHOWN], f"and {more} more"]
            raise ResumeMismatchError(
                f"{self.store.folder}: holds another sweep ({'; '.join(texts)}); choose another folder, "
                "or start afresh to replace it"
            )

    def _new_manifest(self) -> dict[str, Any]:
        plan = self.plan
        settings = plan.sweep.sweep
        table = plan.sweep.model_dump(mode="json")
        return {
            "schema": _SCHEMA,
            "name": settings.name,
            "ruleset": plan.ruleset.id,
            "ruleset_version": plan.ruleset.version,
            "edition": plan.points[0].edition,
            "method": METHODS_SHOWN[plan.is_exact],
            "battles": None if plan.is_exact else plan.battles,
            "seed": plan.seed,
            "pairing": settings.pairing,
            "grid": {key: list(values) for key, values in plan.grid.items()},
            "matchups": len(plan),
            "failed": 0,
            "mixes": {"attacker": self._mixes("attackers"), "defender": self._mixes("defenders")},
            "versions": {
                "simcore": simcore.__version__,
                "numba": numba.__version__,
                "numpy": np.__version__,
                "pyarrow": pa.__version__,
                "python": platform.python_version(),
                "rng": RNG_VERSION,
            },
            "source_digest": source_digest(),
            "sweep": table,
            "outcomes": list(plan.ruleset.outcomes),
            "wins": {side: list(outcomes) for side, outcomes in plan.ruleset.wins.items()},
            "rounds": plan.ruleset.rounds,
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

    def _mark(self, state: str, failed: int) -> None:
        """Write the manifest."""
        self._manifest |= {
            "state": state,
            "failed": failed,
            "finished": _now() if state == _COMPLETE else None,
            "elapsed_s": round(self._earlier_s + time.monotonic() - self._began, 3),
        }
        self.store.write_manifest(self._manifest)

    def _mark_stopped(self) -> None:
        """Keep the time spent; a folder that cannot be written has its own error already."""
        with contextlib.suppress(StoreError):
            self._mark(_RUNNING, 0)

    def _resolve(self) -> None:
        """Store every part that is not there yet."""
        described = {
            "simcore.ruleset": f"{self.plan.ruleset.id} {self.plan.ruleset.version}",
            "simcore.rng": RNG_VERSION,
        }
        for job, rows in self.executor.run(self._jobs()):
            self.store.write_part(job.name, rows, described)
            self.computed += 1
            self.shows.advance(int(job.segments[:, 3].sum()), is_new=True)

    def _jobs(self) -> Iterator[Job]:
        """Yield the parts that are not there yet."""
        plan = self.plan
        for segments in plan.parts():
            scenarios: dict[int, ScenarioModel] = {}
            errors: dict[int, str] = {}
            for number in range(int(segments[0, 0]), int(segments[-1, 0]) + 1):
                try:
                    scenarios[number] = load_scenario(plan.scenario(number))
                except ScenarioError as problem:
                    errors[number] = str(problem)
            name = content_name(plan, segments, scenarios, errors)
            self.names.append(name)
            if self._read(name, segments) is not None:
                self.reused += 1
                self.shows.advance(int(segments[:, 3].sum()), is_new=False)
                continue
            yield Job(
                name=name,
                segments=segments,
                scenarios=scenarios,
                errors=errors,
                battles=plan.battles,
                seed=plan.seed,
                pairing=plan.sweep.sweep.pairing,
                ruleset=plan.ruleset.id,
                kind=plan.ruleset.kind,
                is_exact=plan.is_exact,
            )

    def _read(self, name: str, segments: npt.NDArray[np.int64]) -> PartRows | None:
        return self.store.read_part(name, segments, len(self.plan.ruleset.accumulators))

    def _tabulate(self) -> int:
        """Add up the parts in the order of the plan, write the tables, return how many matchups failed."""
        with writing_tables(self.store, self.plan) as tables:
            for matchup, total, error in self._totals():
                tables.add(matchup, total, error)
            return tables.failed

    def _totals(self) -> Iterator[tuple[int, npt.NDArray[np.int64], str]]:
        """Yield tally and error of one matchup after the other; only the last may go on in the next part."""
        current = 0
        total = np.zeros(len(self.plan.ruleset.accumulators), dtype=np.int64)
        error = ""
        for name, segments in zip(self.names, self.plan.parts(), strict=True):
            rows = self._read(name, segments)
            if rows is None:
                raise StoreError(f"{self.store.folder / PARTS / name}.parquet: changed while in use; run again")
            numbers, starts = np.unique(rows.segments[:, 0], return_index=True)
            sums = np.add.reduceat(rows.tallies, starts, axis=0)
            for number, part in zip(numbers.tolist(), sums, strict=True):
                if number != current:
                    yield current, total, error
                    current, total, error = number, np.zeros_like(total), ""
                total = total + part
                error = error or rows.errors.get(number, "")
        yield current, total, error
