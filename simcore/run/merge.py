"""Several finished runs made into one: other matchups under the same rules, or the same ones with other seeds.

What may be added up is what one run could have counted: the same rules, options and method, and no battle twice. Two
samples of a matchup are added where their seeds differ, since they then share no dice; a matchup that was solved in
several runs must have the same solution in all of them and is taken once.
"""

from __future__ import annotations

import heapq
import itertools
import os
import time
from contextlib import ExitStack
from dataclasses import dataclass, replace
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

import numpy as np

from simcore.core.rng import RNG_VERSION
from simcore.errors import ScenarioError, StoreError
from simcore.model import shown
from simcore.run.plan import plan_sweep
from simcore.run.progress import Silent
from simcore.run.session import Session, SweepResult, read_manifest, results_folder, sweep_of
from simcore.run.store import MANIFEST, PARTS, Store
from simcore.run.table import Total, writing_tables
from simcore.run.wave import Stage
from simcore.scenario import SweepFile, load_sweep

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import numpy.typing as npt

    from simcore.run.executor import Job
    from simcore.run.mix import Mix, Mixes
    from simcore.run.plan import GridPoint, Plan
    from simcore.run.store import PartRows

__all__ = ["merge_runs"]

_SIDES: Final = ("attacker", "defender")
_FREE: Final = frozenset({"name", "out", "seed", "battles", "precision", "pairs"})
"""What runs that are merged may differ in, besides their mixes and reports."""
_MOST_SORTED: Final = 50_000
"""Matchups of a run that are held at once where they stand in another order than in the merged run."""
_KEPT: Final = (
    "name", "method", "battles", "precision", "seed", "matchups", "failed", "solved", "battles_counted", "created",
    "finished", "elapsed_s", "versions", "source_digest",
)  # fmt: skip


class _Absent:
    """Resolves nothing: a finished run has all its parts."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def run(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, PartRows]]:
        """Refuse the first part that is missing."""
        for job in jobs:
            raise StoreError(
                f"{self.folder}: part {job.name} is missing or damaged; complete it with: simcore resume {self.folder}"
            )
        return iter(())


@dataclass(frozen=True, eq=False)
class _Source:
    """A run that is merged.

    Attributes
    ----------
    folder : Path
        Where its parts lie.
    facts : mapping
        What the manifest of the merged run says about it.
    session : Session
        The run.
    """

    folder: Path
    facts: Mapping[str, Any]
    session: Session

    @property
    def plan(self) -> Plan:
        return self.session.plan

    @property
    def sweep(self) -> SweepFile:
        return self.plan.sweep


def _open(folder: Path, stack: ExitStack) -> list[_Source]:
    """Open a finished run; one that was merged itself is taken apart."""
    content = read_manifest(folder)
    if content.get("state") != "complete":
        raise StoreError(f"{folder}: the sweep is not finished; complete it with: simcore resume {folder}")
    store = stack.enter_context(Store(folder))
    merged = content.get("merged_from", [])
    if not isinstance(merged, list) or not all(isinstance(entry, dict) for entry in merged):
        raise StoreError(f"{folder / MANIFEST}: damaged, it does not say what was merged")
    found = []
    for facts in merged or [content]:
        table = sweep_of(facts, folder / MANIFEST)
        config = load_sweep(table, source=str(folder / MANIFEST))
        stages = Stage.read_all(facts.get("earlier", []))
        if stages is None:
            raise StoreError(f"{folder / MANIFEST}: damaged, it does not say how many battles were asked for")
        session = Session(plan_sweep(config), store, _Absent(folder), Silent())
        session.stages = [*stages, *session.stages]
        _check_versions(folder, facts, session.plan)
        kept = {key: facts.get(key) for key in (*_KEPT, "ruleset_version")}
        folder_name = str(facts.get("folder", folder)) if merged else str(folder)
        described = {"folder": folder_name, **kept, "earlier": facts.get("earlier", []), "sweep": table}
        found.append(_Source(folder, described, session))
    return found


def _check_versions(folder: Path, facts: Mapping[str, Any], plan: Plan) -> None:
    """Refuse runs whose parts this version would not have made."""
    versions = facts.get("versions")
    rng = versions.get("rng") if isinstance(versions, dict) else None
    if (facts.get("ruleset_version"), rng) != (plan.ruleset.version, RNG_VERSION):
        raise StoreError(
            f"{folder}: was made with version {shown(facts.get('ruleset_version'))} of its ruleset and random numbers "
            f"{shown(rng)}, this program has {shown(plan.ruleset.version)} and {shown(RNG_VERSION)}; run it again"
        )


def _settings(source: _Source) -> dict[str, Any]:
    """Return what all runs that are merged must have in common."""
    table = source.sweep.model_dump(mode="json")
    fixed: dict[str, Any] = {f"sweep.{key}": value for key, value in table["sweep"].items() if key not in _FREE}
    fixed |= {"scenario": table["scenario"], "grid": table["grid"]}
    return fixed | {f"{side}.budget": table[side]["budget"] for side in _SIDES}


def _check_alike(sources: Sequence[_Source]) -> None:
    """Refuse runs whose battles do not belong together."""
    first = sources[0]
    wanted = _settings(first)
    for source in sources[1:]:
        for key, value in _settings(source).items():
            if value != wanted[key]:
                raise StoreError(
                    f"{source.folder}: cannot be merged with {first.folder}: {key} is {shown(value)} here and "
                    f"{shown(wanted[key])} there"
                )
        if (source.plan.precision is None) != (first.plan.precision is None):
            raise StoreError(
                f"{source.folder}: cannot be merged with {first.folder}: a precision decided about the battles of one "
                "of them only, and their intervals are not of one kind"
            )


def _listed(source: _Source, side: str) -> Iterator[tuple[Any, Mix]]:
    """Yield the mixes of a side that are written down, as they are written and as they were read."""
    written = getattr(source.sweep, side).mixes
    mixes: Mixes = getattr(source.plan.points[0], f"{side}s")
    return zip(written, mixes[: len(written)], strict=True)


def _union(sources: Sequence[_Source], side: str) -> list[Any]:
    """Return the mixes of a side that are written down in any run, each once."""
    found: dict[str, tuple[Any, Mix, _Source]] = {}
    for source in sources:
        for written, mix in _listed(source, side):
            before = found.setdefault(mix.name, (written, mix, source))
            if (before[1].counts, before[1].weight) != (mix.counts, mix.weight):
                raise StoreError(
                    f"{source.folder}: cannot be merged with {before[2].folder}: {side} {shown(mix.name)} is "
                    f"{shown(mix.units)} with weight {mix.weight:g} here and {shown(before[1].units)} with weight "
                    f"{before[1].weight:g} there"
                )
    return [written for written, _, _ in found.values()]


def _positions(source: _Source, own: Mixes, whole: Mixes, side: str) -> npt.NDArray[np.int64]:
    """Return where the mixes of a run stand in the merged run."""
    places = {mix.name: i for i, mix in enumerate(whole)}
    found = []
    for mix in own:
        place = places.get(mix.name)
        if place is None or (whole[place].counts, whole[place].weight) != (mix.counts, mix.weight):
            raise StoreError(
                f"{source.folder}: cannot be merged: {side} {shown(mix.name)} is another mix, or has another weight, "
                "than that of this name in the other runs"
            )
        found.append(place)
    return np.array(found, dtype=np.int64)


def _codes(source: _Source, own: GridPoint, whole: GridPoint) -> npt.NDArray[np.int64]:
    """Return for each matchup of a grid point which pair of the merged run it is."""
    rows = _positions(source, own.attackers, whole.attackers, "attacker")
    columns = _positions(source, own.defenders, whole.defenders, "defender")
    if own.pairs is None:
        codes = rows[:, None] * len(whole.defenders) + columns[None, :]
        return codes.ravel()
    pairs = np.array(own.pairs, dtype=np.int64)
    return np.asarray(rows[pairs[:, 0]] * len(whole.defenders) + columns[pairs[:, 1]], dtype=np.int64)


def _merged_plan(sources: Sequence[_Source], name: str | None) -> tuple[Plan, list[npt.NDArray[np.int64]]]:
    """Return the plan of the merged run, and for each source the numbers that its matchups have there."""
    first = sources[0].sweep
    changes = {
        "seed": sources[0].plan.seed,
        "battles": max(source.plan.battles for source in sources),
        "precision": max(source.plan.precision or 0.0 for source in sources) or None,
        "pairs": "all",
        "out": None,
        **({} if name is None else {"name": name}),
    }
    table = first.model_dump(mode="json")
    table["sweep"] |= changes
    for side in _SIDES:
        table[side]["mixes"] = _union(sources, side)
    whole = plan_sweep(load_sweep(table, source=first.source))
    codes = [
        [_codes(source, own, point) for own, point in zip(source.plan.points, whole.points, strict=True)]
        for source in sources
    ]
    covered = [np.unique(np.concatenate(at_point)) for at_point in zip(*codes, strict=True)]
    if any(len(pairs) != len(point) for pairs, point in zip(covered, whole.points, strict=True)):
        widths = {len(point.defenders) for point in whole.points}
        if len(widths) > 1 or any(not np.array_equal(pairs, covered[0]) for pairs in covered):
            raise StoreError(
                f"{sources[0].folder}: cannot be merged with the others: which matchups there are would differ from "
                "grid point to grid point"
            )
        table["sweep"]["pairs"] = np.stack(np.divmod(covered[0], widths.pop()), axis=1).tolist()
        whole = plan_sweep(load_sweep(table, source=first.source))
    numbers = [
        np.concatenate(
            [
                point.first + np.searchsorted(pairs, code)
                for code, pairs, point in zip(own, covered, whole.points, strict=True)
            ]
        )
        for own in codes
    ]
    return whole, numbers


def _check_seeds(plan: Plan, sources: Sequence[_Source], numbers: Sequence[npt.NDArray[np.int64]]) -> None:
    """Refuse what certainly counts battles twice, before anything is read."""
    if plan.method != "simulate":
        return  # what was solved may stand in several runs
    for (one, own), (other, theirs) in itertools.combinations(zip(sources, numbers, strict=True), 2):
        common = np.intersect1d(own, theirs)
        if one.plan.seed == other.plan.seed and len(common):
            _refuse_twice(plan, int(common[0]), one, other)


def _refuse_twice(plan: Plan, matchup: int, one: _Source, other: _Source) -> NoReturn:
    point, i, j = plan.locate(matchup)
    raise StoreError(
        f"{other.folder}: cannot be merged with {one.folder}: both counted the battles of "
        f"{shown(point.attackers[i].name)} v {shown(point.defenders[j].name)} with seed {one.plan.seed}, and no battle "
        "counts twice; add battles to a run with: simcore sweep --top-up"
    )


def _in_order(source: _Source, numbers: npt.NDArray[np.int64]) -> Iterator[tuple[int, Total]]:
    """Yield the totals of a run in the order of the merged run."""
    found = ((int(numbers[total.matchup]), total) for total in source.session.totals())
    if (np.diff(numbers) > 0).all():
        return found
    if len(numbers) > _MOST_SORTED:
        raise StoreError(
            f"{source.folder}: cannot be merged: its {len(numbers):,} matchups stand in another order than in the "
            f"merged run, which is possible for at most {_MOST_SORTED:,}; list mixes and pairs in the same order"
        )
    return iter(sorted(found, key=itemgetter(0)))


def _joined(plan: Plan, matchup: int, found: Sequence[tuple[_Source, Total]]) -> Total:
    """Add up what the runs found about a matchup."""
    failed = [total for _, total in found if total.error]
    if failed:
        return replace(failed[0], matchup=matchup, seed=None)
    source, first = found[0]
    seeds = [other.plan.seed for other, _ in found]
    for other, total in found[1:]:
        if total.is_exact != first.is_exact or (first.is_exact and not np.array_equal(total.tally, first.tally)):
            point, i, j = plan.locate(matchup)
            raise StoreError(
                f"{other.folder}: cannot be merged with {source.folder}: "
                f"{shown(point.attackers[i].name)} v {shown(point.defenders[j].name)} was resolved in another way"
            )
    if first.is_exact:
        return replace(first, matchup=matchup)
    for place, seed in enumerate(seeds):
        if seed in seeds[:place]:
            _refuse_twice(plan, matchup, found[seeds.index(seed)][0], found[place][0])
    total = first
    for _, more in found[1:]:
        total = total.plus(more)
    return replace(total, matchup=matchup, seed=", ".join(map(str, seeds)))


def _totals(plan: Plan, sources: Sequence[_Source], numbers: Sequence[npt.NDArray[np.int64]]) -> Iterator[Total]:
    """Yield the totals of the merged run."""

    def labelled(source: _Source, own: npt.NDArray[np.int64]) -> Iterator[tuple[int, _Source, Total]]:
        for number, total in _in_order(source, own):
            yield number, source, total

    streams = [labelled(source, own) for source, own in zip(sources, numbers, strict=True)]
    in_order = heapq.merge(*streams, key=itemgetter(0))
    for matchup, group in itertools.groupby(in_order, key=itemgetter(0)):
        yield _joined(plan, matchup, [(source, total) for _, source, total in group])


def _copy_parts(sources: Sequence[_Source], store: Store) -> None:
    """Keep the parts, so that the merged run can be merged and compared like any other."""
    done: set[str] = set()
    for source in sources:
        for name in source.session.names():
            if name not in done:
                done.add(name)
                data = (source.folder / PARTS / f"{name}.parquet").read_bytes()
                with store.replacing(f"{PARTS}/{name}.parquet") as file:
                    file.write(data)


def _check_folders(folders: Sequence[Path], out: Path) -> None:
    """Refuse folders that are given twice or hold a sweep already, before any is touched."""
    if len(folders) < 2:  # noqa: PLR2004 - one run is merged already
        raise ScenarioError(f"needs at least two results folders, got {len(folders)}", field="folders")
    seen: dict[Path, Path] = {}
    for folder in folders:
        if not (folder / MANIFEST).is_file():
            raise StoreError(f"{folder}: holds no sweep (there is no {MANIFEST})")
        place = folder.resolve()
        if place in seen:
            raise StoreError(f"{folder}: is given twice; no battle counts twice")
        seen[place] = folder
    inside = next((seen[place] for place in out.resolve().parents if place in seen), None)
    if inside is not None:
        raise StoreError(f"{out}: lies in {inside}, which is merged; choose a folder outside")
    if (out / MANIFEST).exists():
        raise StoreError(f"{out}: holds a sweep already; choose another folder for the merged run")


def merge_runs(
    folders: Sequence[str | os.PathLike[str]], out: str | os.PathLike[str], *, name: str | None = None
) -> SweepResult:
    """Combine finished runs of the same rules into a results folder of its own.

    Parameters
    ----------
    folders : sequence of path
        At least two results folders. They may hold other matchups (other mixes, other pairs), or the same matchups
        with another seed; grid, options, edition, method and pairing are the same.
    out : path
        Folder of the merged run; it must not hold a sweep.
    name : str, optional
        Name of the merged run; that of the first by default.

    Returns
    -------
    SweepResult

    Raises
    ------
    StoreError
        When the runs do not belong together, when a battle would count twice, or when a folder cannot be used.
    """
    began = time.monotonic()
    if not os.fspath(out):
        raise ScenarioError('must be the path of a folder, got ""', field="out")
    paths, target = [Path(folder) for folder in folders], Path(out)
    _check_folders(paths, target)
    with ExitStack() as stack:
        sources = [source for path in paths for source in _open(path, stack)]
        _check_alike(sources)
        plan, numbers = _merged_plan(sources, name)
        results_folder(plan.sweep, target)  # refuses a name that no folder can have
        _check_seeds(plan, sources, numbers)
        for source in sources:
            source.session.find_parts()
        store = stack.enter_context(Store(target))
        merged = Session(plan, store, _Absent(target), Silent())
        seeds = list(dict.fromkeys(source.plan.seed for source in sources))
        with writing_tables(store, plan, are_seeds_text=len(seeds) > 1) as tables:
            for total in _totals(plan, sources, numbers):
                tables.add(total)
            # Runs that do not belong together are known by now, and leave nothing behind.
            _copy_parts(sources, store)
        parts = len({name for source in sources for name in source.session.names()})
        merged.finish_merged(tables, seeds, [dict(source.facts) for source in sources], parts)
        return SweepResult(
            name=plan.sweep.sweep.name,
            out=target,
            matchups=len(plan),
            failed=tables.failed,
            solved=tables.solved,
            battles=tables.battles,
            parts_computed=0,
            parts_reused=parts,
            elapsed_s=time.monotonic() - began,
        )
