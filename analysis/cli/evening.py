"""The verb nightly."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import simcore
from analysis.cli import option
from analysis.cli.campaign import Progress
from analysis.cli.console import RESUMABLE, columns, note, say, say_json, stop
from analysis.cli.reading import placed, read_sweep
from simcore.errors import StoreError

if TYPE_CHECKING:
    from simcore.run.session import SweepResult

__all__ = ["nightly"]


def nightly(
    file: option.File,
    *,
    results: Annotated[
        Path, typer.Option(metavar="DIR", parser=option.read_place, help="Where the runs of all sweeps lie.")
    ] = Path("nights"),
    gates: option.Gates = None,
    against: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Compare with this run.", show_default="the newest earlier run"),
    ] = None,
    battles: option.SweepBattles = None,
    seed: option.SweepSeed = None,
    threads: option.Threads = None,
    settings: option.SweepSettings = None,
    as_json: option.Json = False,
) -> None:
    """Run or resume tonight's sweep, compare it with the run before, and judge it by its gates."""
    from datetime import UTC, datetime

    from analysis import night as nights
    from analysis.frames import load
    from analysis.gate import read_gates
    from simcore.run.session import results_folder

    limits = read_gates(gates) if gates is not None else None
    config = read_sweep(file, settings, battles=battles, seed=seed)
    with placed(str(file)):
        if against is not None:
            load(against)  # what cannot be compared with is to be known before a night is spent
        root = results_folder(config, results) / config.sweep.name
        today = datetime.now(UTC).astimezone().date()
        with nights.begin_night(root, today) as opened, _again(root):

            def resolve(config: Any, folder: Path) -> "SweepResult":
                return simcore.sweep(config, folder, threads=threads, progress=Progress())

            night, run, notes = nights.run_night(root, opened, config, today, resolve)
            for line in run.reports:
                note(f"warning: {line}")
            outcome = nights.finish_night(root, night, failed=run.failed, gates=limits, against=against, notes=notes)
    if as_json:
        say_json(nights.as_dict(night, outcome))
    else:
        say(nights.plain_text(night, outcome, columns()))
    if outcome.code:
        stop(nights.reason(outcome, str(file)), outcome.code)


@contextmanager
def _again(root: Path) -> Iterator[None]:
    """End with exit code 3 when a nightly run stops half-way."""
    advice = "the same command goes on with this run"
    try:
        yield
    except KeyboardInterrupt:
        stop(f"interrupted; {advice}", RESUMABLE)
    except StoreError as error:
        # Without an error of the operating system behind it, going on would only fail again.
        if isinstance(error.__cause__, OSError) and root.is_dir():
            stop(f"{error}; {advice}", RESUMABLE)
        raise
