"""Script files: the hits of a battle's draw points, one a line, to be played through by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from simcore.errors import ScenarioError
from simcore.model import shown

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["parse_script", "read_script", "script_text", "write_script"]

_MAX_BYTES: Final = 2**18
_MOST_HITS: Final = 10**6
_MARK: Final = b"# Hits of each draw point in order: change them and play the battle again."


def parse_script(text: str, *, field: str = "script", source: str = "") -> list[int]:
    """Return the hits that a script holds: whole numbers apart by space, commas or line ends; ``#`` starts a note.

    Parameters
    ----------
    text : str
        The script.
    field, source : str
        Named in errors.

    Returns
    -------
    list of int

    Raises
    ------
    ScenarioError
        For anything that is not a whole number of hits; names the line.

    Examples
    --------
    >>> parse_script("2, 1  # the attacker's infantry and tanks")
    [2, 1]
    """
    hits: list[int] = []
    lines = text.splitlines()
    for number, line in enumerate(lines, start=1):
        for word in line.partition("#")[0].replace(",", " ").split():
            if not (word.isascii() and word.isdigit() and len(word) <= len(str(_MOST_HITS))):
                place = f"line {number}: " if source else ""
                raise ScenarioError(f"{place}{shown(word)} is not a whole number of hits", field=field, source=source)
            hits.append(int(word))
    return hits


def read_script(path: Path) -> list[int]:
    """Read a script file.

    Parameters
    ----------
    path : Path

    Returns
    -------
    list of int

    Raises
    ------
    ScenarioError
        When the file cannot be read or holds something else.
    """
    source = str(path)
    try:
        with path.open("rb") as file:
            raw = file.read(_MAX_BYTES + 1)
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
        raise ScenarioError(f"cannot be read: {reason}", source=source) from None
    if len(raw) > _MAX_BYTES:
        raise ScenarioError(f"is larger than {_MAX_BYTES // 2**10} KiB", source=source)
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise ScenarioError(f"is not UTF-8 text (byte {problem.start})", source=source) from None
    hits = parse_script(text, source=source)
    if not hits:
        raise ScenarioError("holds no hits; one whole number for each draw point is needed", source=source)
    return hits


def write_script(path: Path, draws: Sequence[dict[str, Any]], title: str) -> None:
    """Write the script of a battle; a file that is not such a script is never replaced.

    Parameters
    ----------
    path : Path
    draws, title
        As in `script_text`.

    Raises
    ------
    ScenarioError
        When the battle throws no dice, or the file cannot be written or is something else.
    """
    source = str(path)
    if not draws:
        raise ScenarioError("the battle throws no dice, so it has no script", source=source)
    try:
        if path.exists():
            with path.open("rb") as file:
                if file.read(len(_MARK)) != _MARK:
                    raise ScenarioError("exists and is no script; choose another name", source=source)
        path.write_text(script_text(draws, title), encoding="utf-8")
    except OSError as problem:
        raise ScenarioError(f"cannot be written: {problem.strerror}", source=source) from None


def script_text(draws: Sequence[dict[str, Any]], title: str) -> str:
    """Return the script of a battle: the hits of each draw point, with a note of what is thrown.

    Parameters
    ----------
    draws : sequence of dict
        `Replay.draws`.
    title : str
        First line of the story.

    Returns
    -------
    str
    """
    lines = [_MARK.decode(), f"# {title}"]
    for draw in draws:
        numerator, denominator = draw["odds"]
        dice = f"{draw['dice']} {'die' if draw['dice'] == 1 else 'dice'} at {numerator} in {denominator}"
        clock = "turn" if "turn" in draw else "cycle"
        lines.append(f"{draw['hits']:<4}# {clock} {draw[clock]}, {draw['side']}: {draw['what']}, {dice}")
    return "\n".join(lines) + "\n"
