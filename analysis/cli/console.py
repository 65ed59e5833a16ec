"""What is said to the user: results on stdout, notes on stderr, one line and an exit code at the end."""

from __future__ import annotations

import io
import json
import re
import shlex
import shutil
import sys
from collections.abc import Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, NoReturn

import typer

from analysis.writing import replacing

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "BAD_INPUT",
    "GATE_FAILED",
    "RESUMABLE",
    "announce_compilation",
    "columns",
    "layout",
    "note",
    "say",
    "say_json",
    "shell_word",
    "stop",
    "written",
]

BAD_INPUT: Final = 2
RESUMABLE: Final = 3
GATE_FAILED: Final = 4

_NARROW: Final = 80
_WIDEST: Final = 120


def say(text: str) -> None:
    """Write a line of the result to stdout."""
    typer.echo(text)


def note(text: str) -> None:
    """Write a line about the run (progress, warnings, errors) to stderr; names in it cannot steer a terminal."""
    typer.echo("".join(letter if letter.isprintable() else "\ufffd" for letter in text), err=True)


def stop(error: object, code: int = BAD_INPUT) -> NoReturn:
    """End the program with one line on stderr."""
    note(" ".join(re.split(r"[\t\r\n]+", str(error).strip())))
    raise typer.Exit(code)


def say_json(value: Mapping[str, Any]) -> None:
    """Write one JSON object to stdout."""
    say(json.dumps(_plain(value), indent=2, ensure_ascii=False, allow_nan=False))


def columns() -> int:
    """Return how wide a text may be."""
    return min(shutil.get_terminal_size().columns, _WIDEST) if sys.stdout.isatty() else _NARROW


def shell_word(path: Path) -> str:
    """Return a path as it can be typed in a shell."""
    return shlex.quote(str(path))


def layout(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """Lay out rows under a header: the first column to the left, the others to the right."""
    lines = [header, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if column else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def announce_compilation() -> None:
    """Say what the first run after an installation waits for."""
    from simcore.core.jit import is_cache_cold

    if is_cache_cold():
        note("compiling the battle kernels once (20 s to 2 min; cached afterwards) ...")


@contextmanager
def written(path: Path) -> Iterator[IO[str]]:
    """Open a text file that takes the place of `path` when all of it is written."""
    with replacing(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", errors="replace", newline="")
        yield text
        text.flush()
        text.detach()


def _plain(value: Any) -> Any:
    """Return `value` as JSON can hold it: numpy scalars as Python numbers, paths as text, NaN as null."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, float) and not (abs(value) < float("inf")):
        return None
    if isinstance(value, Path):
        return str(value)
    return value
