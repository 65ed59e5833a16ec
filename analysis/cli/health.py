"""The verb doctor: what this installation is, and what a results folder was made with."""

import platform
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final

import typer

import simcore
from analysis.cli import option
from analysis.cli.console import RESUMABLE, note, say, say_json, shell_word, stop

__all__ = ["doctor"]

_LIBRARIES: Final = ("numba", "llvmlite", "numpy", "scipy", "pandas", "pyarrow", "pydantic", "typer", "plotly")
_PROVENANCE: Final = (
    "name", "state", "ruleset", "ruleset_version", "edition", "method", "battles", "precision", "seed", "pairing",
    "matchups", "solved", "failed", "battles_counted", "imprecise", "created", "finished", "elapsed_s", "durations",
    "source_digest", "schema", "versions", "tables",
)  # fmt: skip


def _facts() -> dict[str, Any]:
    """Collect what a report of a problem should name."""
    from importlib.metadata import version

    from simcore.core import jit
    from simcore.core.threads import usable_threads

    cache = jit.cache_directory()
    files = [path for path in cache.rglob("*") if path.is_file()]
    return {
        "versions": {
            "simcore": simcore.__version__,
            "python": platform.python_version(),
            **{name: version(name) for name in _LIBRARIES},
        },
        "platform": platform.platform(),
        "sources": jit.source_digest(),
        "cache": {
            "folder": cache,
            "bytes": sum(path.stat().st_size for path in files),
            "compiled": not jit.is_cache_cold(),
        },
        "cpu_threads": usable_threads(),
        "terminal": {
            "stdout": sys.stdout.isatty(),
            "stderr": sys.stderr.isatty(),
            "columns": shutil.get_terminal_size().columns,
            "encoding": sys.stdout.encoding,
        },
    }


def doctor(
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FOLDER]",
            parser=option.read_place,
            help="Say what this sweep was made with, and whether its files are whole.",
            show_default=False,
        ),
    ] = None,
    prune: Annotated[bool, typer.Option("--prune", help="Remove kernels of other versions.")] = False,
    as_json: option.Json = False,
) -> None:
    """Show versions, the folder of compiled kernels, and threads."""
    from simcore.core import jit

    run = None
    if folder is not None:
        from simcore.run.check import check_folder

        run = check_folder(folder)
    pruned = jit.prune_cache() if prune else []
    facts = _facts()
    if run is not None:
        facts["run"] = {key: run.manifest[key] for key in _PROVENANCE if key in run.manifest} | _history(run.manifest)
        facts["files"] = {"parts": run.parts, **run.tables, "problems": run.problems}
    if prune:
        facts["pruned"] = pruned
    if as_json:
        say_json(facts)
    else:
        _say_facts(facts)
    if folder is not None and run is not None and run.problems:
        for problem in run.problems:
            note(problem)
        number = len(run.problems)
        mend = (
            "merge it again" if run.manifest.get("merged_from") else f"mend with: simcore resume {shell_word(folder)}"
        )
        stop(f"{folder}: {number} {'problem' if number == 1 else 'problems'} found; {mend}", RESUMABLE)


def _history(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a run was asked for before it was topped up, and which runs it was made of."""
    earlier = [entry for entry in manifest.get("earlier") or () if isinstance(entry, Mapping)]
    merged = [entry for entry in manifest.get("merged_from") or () if isinstance(entry, Mapping)]
    asked = {
        str(number): f"{entry.get('battles')} battles"
        + (f" to a precision of {entry['precision']}" if entry.get("precision") else "")
        for number, entry in enumerate(earlier, 1)
    }
    sources = {str(entry.get("folder")): f"seed {entry.get('seed')}" for entry in merged}
    return {key: value for key, value in (("earlier", asked), ("merged_from", sources)) if value}


def _say_facts(facts: Mapping[str, Any]) -> None:
    """Print what `doctor` found, one fact a line."""
    for name, value in facts.items():
        if isinstance(value, Mapping):
            say(f"{name}:")
            for key, part in value.items():
                if isinstance(part, list):
                    continue  # told at the end
                text = ", ".join(f"{k} {v}" for k, v in part.items()) if isinstance(part, Mapping) else part
                say(f"  {key:<16} {text}")
        elif isinstance(value, list):
            say(f"{name + ':':<18} {len(value)} folders")
        else:
            say(f"{name + ':':<18} {value}")
