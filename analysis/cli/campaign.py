"""Verbs that make results folders: sweep, resume, merge."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import simcore
from analysis.cli import option
from analysis.cli.console import RESUMABLE, announce_compilation, say, say_json, shell_word, stop
from analysis.cli.presentation import present_run
from analysis.cli.reading import placed, read_sweep
from simcore.errors import ClusterError, StoreError

if TYPE_CHECKING:
    from simcore.scenario import SweepFile

__all__ = ["Progress", "merge", "resume_sweep", "sweep"]


class Progress:
    """Progress of a sweep; also says what a first run waits for, when all of its input is checked."""

    def __init__(self) -> None:
        from simcore.run.progress import choose_progress

        self._shown = choose_progress(asked=True)

    def start(self, name: str, total: int, unit: str) -> None:
        """Begin, just before the first battle."""
        announce_compilation()
        self._shown.start(name, total, unit)

    def advance(self, done: float, *, is_new: bool) -> None:
        """Count what is done."""
        self._shown.advance(done, is_new=is_new)

    def stop(self) -> None:
        """End, at the last battle or earlier."""
        self._shown.stop()


def _manifest(folder: Path) -> dict[str, Any]:
    """Read what a results folder was made with, whether the sweep is finished or not."""
    from simcore.run.manifest import DamagedManifestError, parse_manifest

    path = folder / "manifest.json"
    try:
        content = parse_manifest(path.read_bytes())
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror}") from None
    except DamagedManifestError as error:
        raise StoreError(f"{path}: damaged ({error})") from None
    if "schema" not in content:
        raise StoreError(f"{path}: damaged, not the manifest of a sweep")
    return content


def _is_resumable(folder: Path) -> bool:
    """Return True when `folder` holds a sweep that was begun and not finished."""
    try:
        return _manifest(folder).get("state") == "running"
    except StoreError:
        return False


@contextmanager
def _resumable(folder: Path) -> Iterator[None]:
    """End with exit code 3 and the command to go on with when a run stops half-way."""
    try:
        yield
    except KeyboardInterrupt:
        if _is_resumable(folder):
            stop(f"interrupted; continue with: simcore resume {shell_word(folder)}", RESUMABLE)
        stop("interrupted before anything was stored", RESUMABLE)
    except ClusterError as error:
        if _is_resumable(folder):
            stop(f"{error}; continue with: simcore resume {shell_word(folder)}", RESUMABLE)
        raise
    except StoreError as error:
        # Without an error of the operating system behind it, going on would only fail again.
        if isinstance(error.__cause__, OSError) and _is_resumable(folder):
            stop(f"{error}; continue with: simcore resume {shell_word(folder)}", RESUMABLE)
        raise


def _estimate(config: "SweepFile", *, threads: int | None, as_json: bool) -> None:
    """Print what a sweep would take."""
    from simcore.run.estimate import estimate_sweep
    from simcore.run.plan import plan_sweep

    plan = plan_sweep(config)
    announce_compilation()
    found = estimate_sweep(plan, threads)
    if as_json:
        say_json(found.to_dict())
    else:
        say(str(found))


def sweep(
    file: option.File,
    *,
    out: Annotated[
        str | None, typer.Option(metavar="DIR", help="Folder of the results.", show_default="as the file says")
    ] = None,
    resume: Annotated[
        bool,
        typer.Option("--resume/--fresh", help="Go on with what the folder holds, or compute all of it anew."),
    ] = True,
    top_up: Annotated[
        bool,
        typer.Option("--top-up", help="Add battles to a folder that was asked for fewer, or for a coarser precision."),
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option("--dry-run", help="Say how many matchups there are and what they would take; store nothing."),
    ] = False,
    battles: option.SweepBattles = None,
    precision: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Half-width at 95 % to which every outcome share is brought, as 0.001; --battles is then the most.",
            show_default="as the file says",
        ),
    ] = None,
    seed: option.SweepSeed = None,
    workers: option.Workers,
    settings: option.SweepSettings = None,
    ending: option.Ending,
) -> None:
    """Run all matchups of a sweep file: Parquet tables, a summary and an HTML report."""
    from simcore.run.executor import check_choice
    from simcore.run.session import results_folder

    config = read_sweep(file, settings, battles=battles, seed=seed, precision=precision)
    with placed(str(file)):
        folder = results_folder(config, out)
        if dry_run:
            check_choice(**asdict(workers))
            _estimate(config, threads=workers.threads, as_json=ending.as_json)
            return
        with _resumable(folder):
            run = simcore.sweep(config, folder, resume=resume, top_up=top_up, progress=Progress(), **asdict(workers))
    present_run(run, str(file), ending)


def resume_sweep(
    folder: option.Folder,
    *,
    workers: option.Workers,
    ending: option.Ending,
) -> None:
    """Go on with an interrupted sweep; the result is the same as that of an undisturbed run."""
    from simcore.run.session import resume

    with _resumable(folder):
        run = resume(folder, progress=Progress(), **asdict(workers))
    present_run(run, str(folder), ending)


def merge(
    folders: Annotated[
        list[Path],
        typer.Argument(
            metavar="FOLDER...",
            parser=option.read_place,
            help="Results folders of finished sweeps.",
            show_default=False,
        ),
    ],
    *,
    out: Annotated[
        Path,
        typer.Option(
            metavar="DIR", parser=option.read_place, help="Folder of the results, new or made by the same merge."
        ),
    ],
    name: Annotated[str | None, typer.Option(help="Name of the merged run.", show_default="that of the first")] = None,
    ending: option.Ending,
) -> None:
    """Combine runs of the same rules: other matchups, or the same with another seed; no battle counts twice."""
    from simcore.run.merge import merge_runs
    from simcore.run.store import is_out_of_room

    again = "give the same command again"
    try:
        run = merge_runs(folders, out, name=name)
    except KeyboardInterrupt:
        stop(f"interrupted before the merged run was complete; {again}", RESUMABLE)
    except StoreError as error:
        if is_out_of_room(error):
            stop(f"{error}; {again}", RESUMABLE)
        raise
    present_run(run, str(out), ending)
