"""The nightly run: run or resume a sweep, compare it with the run before, judge, and write it all down.

Runs of a sweep lie side by side in a folder of their own, each in a folder that bears its number and its date, as in
``results/land-30/0007-2026-11-30``. The order of runs is that of their numbers, which are counted up and never taken
from the clock. A run counts as done when ``night.json`` in its folder says so; that file is written last, so a run
that was killed at any moment is the newest one and not done, and the next call goes on with it.
"""

from __future__ import annotations

import fcntl
import json
import re
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from analysis.balance import Summary, summarize
from analysis.comparison import Comparison, compare
from analysis.contrast import escaped, gate_lines
from analysis.frames import Run, load
from analysis.gate import GateFile, Judgement, judge
from analysis.reporting.document import report
from analysis.wording import clean, wrapped
from analysis.writing import replacing
from simcore.errors import ResumeMismatchError, ScenarioError, StoreError

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from simcore.run.session import SweepResult
    from simcore.scenario import SweepFile

__all__ = [
    "NIGHT",
    "SUMMARY",
    "Night",
    "Outcome",
    "as_dict",
    "begin_night",
    "finish_night",
    "markdown",
    "nights",
    "plain_text",
    "reason",
    "run_night",
]

NIGHT: Final = "night.json"
"""Says which run of its sweep a folder holds, and whether it is done."""
SUMMARY: Final = "summary"
"""Name of the summaries, without ``.md`` and ``.json``."""

_LOCK: Final = ".night.lock"
_RUNNING: Final = "running"
_DONE: Final = "done"
_FOLDER: Final = re.compile(r"(\d{4,})-\d{4}-\d{2}-\d{2}")
_GATE_FAILED: Final = 4
_BAD_INPUT: Final = 2
_WORDS: Final = {0: "done", _BAD_INPUT: "done with failures", _GATE_FAILED: "a gate failed"}


@dataclass(frozen=True)
class Night:
    """One run of a nightly sweep.

    Attributes
    ----------
    folder : Path
        Its results folder.
    number : int
        Which run of its sweep, from 1.
    is_done : bool
        Whether everything about it is written.
    is_resumed : bool
        Whether it was begun by an earlier call.
    """

    folder: Path
    number: int
    is_done: bool = False
    is_resumed: bool = False


@dataclass(frozen=True)
class Outcome:
    """What a night came to.

    Attributes
    ----------
    code : int
        Exit code: 0, 2 where matchups failed or nothing could be compared, 4 where a gate failed.
    summary : Summary
    comparison : Comparison or None
        None where there is nothing to compare with.
    judgements : tuple of Judgement
    notes : tuple of str
        What else must be told, one line each.
    files : tuple of Path
        Report, summary in Markdown, summary in JSON.
    """

    code: int
    summary: Summary
    comparison: Comparison | None
    judgements: tuple[Judgement, ...]
    notes: tuple[str, ...]
    files: tuple[Path, Path, Path]


def nights(root: Path) -> list[Night]:
    """Return the runs of a sweep, oldest first.

    Parameters
    ----------
    root : Path
        Folder of the sweep's runs.

    Returns
    -------
    list of Night
        Folders whose ``night.json`` is missing or damaged count as not done where their name has a number, and are
        passed over elsewhere.
    """
    found: list[Night] = []
    if not root.is_dir():
        return found
    for folder in root.iterdir():
        named = _FOLDER.fullmatch(folder.name)
        content = _read(folder / NIGHT)
        number = content.get("number")
        if not isinstance(number, int) or isinstance(number, bool) or number < 1:
            if named is None or not folder.is_dir():
                continue
            number, content = int(named.group(1)), {}
        found.append(Night(folder, number, content.get("state") == _DONE))
    return sorted(found, key=lambda night: (night.number, night.folder.name))


@contextmanager
def begin_night(root: Path, today: dt.date) -> Iterator[Night]:
    """Open the newest run that is not done, or a new one; no other call may use the folder meanwhile.

    Parameters
    ----------
    root : Path
        Folder of the sweep's runs; made when it does not exist.
    today : date
        Date in the name of a new run; nothing else depends on it.

    Yields
    ------
    Night

    Raises
    ------
    StoreError
        When the folder cannot be used, or another nightly run is using it.
    """
    try:
        root.mkdir(parents=True, exist_ok=True)
        lock = (root / _LOCK).open("ab")
    except OSError as problem:
        raise StoreError(f"{root}: cannot use this as folder of nightly runs: {problem.strerror}") from problem
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StoreError(f"{root}: another nightly run is at work here; wait for it or stop it") from None
        yield _open(root, today)


def _open(root: Path, today: dt.date) -> Night:
    known = nights(root)
    if known and not known[-1].is_done:
        return Night(known[-1].folder, known[-1].number, is_resumed=True)
    return _new(root, known, today)


def _new(root: Path, known: list[Night], today: dt.date) -> Night:
    number = known[-1].number + 1 if known else 1
    folder = root / f"{number:04}-{today.isoformat()}"
    try:
        folder.mkdir()
    except OSError as problem:
        raise StoreError(f"{folder}: cannot be made: {problem.strerror}") from problem
    _replace(folder / NIGHT, _json({"number": number, "state": _RUNNING}))
    return Night(folder, number)


def run_night(
    root: Path, night: Night, config: SweepFile, today: dt.date, sweep: Callable[[SweepFile, Path], SweepResult]
) -> tuple[Night, SweepResult, list[str]]:
    """Run the sweep of a night, or go on with it.

    Parameters
    ----------
    root : Path
        Folder of the sweep's runs.
    night : Night
        From `begin_night`.
    config : SweepFile
    today : date
    sweep : callable
        ``sweep(config, folder)`` runs or resumes it.

    Returns
    -------
    Night, SweepResult, list of str
        The night that was run, what was done, and notes. An unfinished run of a sweep that has been changed since is
        given up for a new one.
    """
    try:
        return night, sweep(config, night.folder), []
    except ResumeMismatchError as problem:
        if not night.is_resumed:
            raise
        note = f"{night.folder} is left unfinished, since the sweep is another one now: {problem}"
        fresh = _new(root, nights(root), today)
        return fresh, sweep(config, fresh.folder), [note]


def finish_night(
    root: Path,
    night: Night,
    *,
    failed: int,
    gates: GateFile | None = None,
    against: Path | None = None,
    notes: list[str] | None = None,
) -> Outcome:
    """Compare a finished sweep with the run before it, judge it, and write report and summaries.

    Parameters
    ----------
    root : Path
        Folder of the sweep's runs.
    night : Night
        A run whose tables are complete.
    failed : int
        Number of its matchups that failed.
    gates : GateFile, optional
    against : Path, optional
        A results folder to compare with, in place of the run before.
    notes : list of str, optional
        What is to be told besides.

    Returns
    -------
    Outcome

    Raises
    ------
    StoreError
        When the tables cannot be read or something cannot be written.
    """
    said = list(notes or ())
    summary = summarize(night.folder)
    before = load(against) if against is not None else _run_before(root, night, summary.run, said)
    comparison: Comparison | None = None
    judgements: tuple[Judgement, ...] = ()
    code = 0
    if before is None:
        said.append("There is no earlier run to compare with.")
    else:
        try:
            options = gates.compare.options() if gates is not None else {}
            comparison = compare(before, summary.run, **options)
            judgements = judge(comparison, gates) if gates is not None else ()
        except ScenarioError as problem:
            said.append(f"Not compared: {problem}")
            comparison, code = None, _BAD_INPUT
    if failed:
        said.append(f"{failed:,} of {len(summary.matchups):,} matchups failed.")
        code = _BAD_INPUT
    if not all(judgement.is_kept for judgement in judgements):
        code = _GATE_FAILED
    outcome = Outcome(code, summary, comparison, judgements, tuple(said), _written(night.folder, summary, comparison))
    _replace(outcome.files[1], markdown(night, outcome))
    _replace(outcome.files[2], _json(as_dict(night, outcome)))
    _replace(night.folder / NIGHT, _json({"number": night.number, "state": _DONE, "exit_code": code}))
    return outcome


def markdown(night: Night, outcome: Outcome) -> str:
    """Return the summary of a night as Markdown.

    Parameters
    ----------
    night : Night
    outcome : Outcome

    Returns
    -------
    str
    """
    run = outcome.summary.run
    lines = [f"# {escaped(run.title)}, run {night.number}: {_WORDS[outcome.code]}", ""]
    lines += [f"- {escaped(note)}" for note in outcome.notes]
    lines += [f"- {escaped(headline)}" for headline in outcome.summary.headlines]
    if outcome.judgements:
        lines += ["", "## Gates", *gate_lines(outcome.judgements)]
    if outcome.comparison is not None:
        lines += ["", "## Comparison with the run before", "", outcome.comparison.to_markdown()]
    return "\n".join(lines).rstrip("\n") + "\n"


def plain_text(night: Night, outcome: Outcome, width: int) -> str:
    """Return the summary of a night as plain text.

    Parameters
    ----------
    night : Night
    outcome : Outcome
    width : int
        Columns to fill.

    Returns
    -------
    str
    """
    title = f"{clean(outcome.summary.run.title)}, run {night.number}: {_WORDS[outcome.code]}"
    lines = wrapped(title, width)
    for note in (*outcome.notes, *outcome.summary.headlines):
        lines += wrapped(clean(note), width, first="* ", indent="  ", most=4)
    if outcome.comparison is not None:
        lines += ["", outcome.comparison.to_text(width)]
    for judgement in outcome.judgements:
        lines += wrapped(clean(judgement.text), width, indent="  ")
    return "\n".join([*lines, "", *map(str, outcome.files)])


def reason(outcome: Outcome, source: str) -> str:
    """Return in one line why the exit code is not 0.

    Parameters
    ----------
    outcome : Outcome
    source : str
        The sweep file.

    Returns
    -------
    str
    """
    if outcome.code == _GATE_FAILED:
        return "; ".join(judgement.text for judgement in outcome.judgements if not judgement.is_kept)
    return f"{source}: {' '.join(outcome.notes)}"


def as_dict(night: Night, outcome: Outcome) -> dict[str, Any]:
    """Return the summary of a night as JSON-able values.

    Parameters
    ----------
    night : Night
    outcome : Outcome

    Returns
    -------
    dict
    """
    return {
        "name": outcome.summary.run.name,
        "number": night.number,
        "folder": str(night.folder),
        "exit_code": outcome.code,
        "notes": list(outcome.notes),
        "report": str(outcome.files[0]),
        "gates": [judgement.to_dict() for judgement in outcome.judgements],
        "summary": outcome.summary.to_dict(),
        "comparison": None if outcome.comparison is None else outcome.comparison.to_dict(),
    }


def _run_before(root: Path, night: Night, run: Run, notes: list[str]) -> Run | None:
    """Return the newest earlier run that is done; what cannot be read is told and passed over."""
    for earlier in reversed(nights(root)):
        if earlier.number >= night.number or not earlier.is_done:
            continue
        try:
            found = load(earlier.folder)
        except StoreError as problem:
            notes.append(f"Passed over: {problem}")
            continue
        if found.name == run.name:
            return found
    return None


def _written(folder: Path, summary: Summary, comparison: Comparison | None) -> tuple[Path, Path, Path]:
    """Write the report; return where it and the summaries lie."""
    page = report(summary, against=comparison)
    return page, folder / f"{SUMMARY}.md", folder / f"{SUMMARY}.json"


def _read(path: Path) -> dict[str, Any]:
    """Return a JSON object; an empty one where there is none."""
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def _json(content: dict[str, Any]) -> str:
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _replace(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    with replacing(path) as file:
        file.write(text.encode("utf-8", errors="replace"))
