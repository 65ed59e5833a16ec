"""How far a sweep is: a bar on a terminal, one plain line a minute elsewhere, nothing unless asked for."""

from __future__ import annotations

import sys
import time
from collections import deque
from typing import TYPE_CHECKING, Any, Final, Protocol, TextIO

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["BarProgress", "LineProgress", "Progress", "Silent", "amount", "choose_progress", "duration"]

_LINE_EVERY_S: Final = 60.0
_WINDOW_S: Final = 30.0
_MILLION: Final = 1_000_000
_THOUSAND: Final = 1_000
_TEN: Final = 10
_MINUTE: Final = 60


class Progress(Protocol):
    """What a sweep tells while it runs."""

    def start(self, name: str, total: int, unit: str) -> None:
        """Begin.

        Parameters
        ----------
        name : str
            Name of the sweep.
        total : int
            Battles of all matchups together, or matchups.
        unit : str
            "battles" or "matchups".
        """

    def advance(self, done: float, *, is_new: bool) -> None:
        """Count further battles or matchups.

        Parameters
        ----------
        done : float
            How many; a matchup may be done in part.
        is_new : bool
            False when they were found in the folder; these do not enter the speed.
        """

    def stop(self) -> None:
        """End, at the last battle or earlier."""


def amount(number: float) -> str:
    """Return a number for people: ``"0.3"``, ``"812"``, ``"41.3 thousand"``, ``"5.2 million"``.

    Parameters
    ----------
    number : float
        At least 0.

    Returns
    -------
    str

    Examples
    --------
    >>> amount(5_240_000)
    '5.2 million'
    """
    if number >= _MILLION:
        return f"{number / _MILLION:,.1f} million"
    if number >= _THOUSAND:
        return f"{number / _THOUSAND:.1f} thousand"
    return f"{number:.0f}" if number >= _TEN or number == int(number) else f"{number:.1f}"


def duration(seconds: float) -> str:
    """Return a time span as hours, minutes and seconds.

    Parameters
    ----------
    seconds : float
        At least 0.

    Returns
    -------
    str

    Examples
    --------
    >>> duration(3725)
    '1:02:05'
    """
    minutes, rest = divmod(round(seconds), _MINUTE)
    hours, minutes = divmod(minutes, _MINUTE)
    return f"{hours}:{minutes:02d}:{rest:02d}"


class Silent:
    """Progress that says nothing."""

    def start(self, name: str, total: int, unit: str) -> None:
        """Do nothing."""

    def advance(self, done: float, *, is_new: bool) -> None:
        """Do nothing."""

    def stop(self) -> None:
        """Do nothing."""


class _Meter:
    """Counts what is done and estimates speed and time left from what was computed lately.

    Only the last half minute counts: the first part may have waited for the compiler.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self.name = ""
        self.unit = ""
        self.total = 0
        self.done = 0.0
        self._new = 0.0
        self._recent: deque[tuple[float, float]] = deque()

    def start(self, name: str, total: int, unit: str) -> None:
        self.name, self.total, self.unit, self.done, self._new = name, total, unit, 0.0, 0.0
        self._recent = deque([(self._clock(), 0.0)])

    def count(self, done: float, *, is_new: bool) -> None:
        self.done += done
        if not is_new:
            return
        self._new += done
        now = self._clock()
        self._recent.append((now, self._new))
        while len(self._recent) > 2 and self._recent[0][0] < now - _WINDOW_S:  # noqa: PLR2004 - a span has two ends
            self._recent.popleft()

    def text(self) -> str:
        """Return speed and time left, empty before anything was computed."""
        (then, before), (now, new) = self._recent[0], self._recent[-1]
        if new == before or now <= then:
            return ""
        speed = (new - before) / (now - then)
        return f"{amount(speed)} {self.unit}/s, {duration(max(self.total - self.done, 0.0) / speed)} left"


class LineProgress:
    """One plain line a minute, for logs.

    Parameters
    ----------
    stream : text file
        Where the lines go.
    clock : callable, optional
        Seconds as float; for tests.
    """

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._clock = clock
        self._meter = _Meter(clock)
        self._next = 0.0

    def start(self, name: str, total: int, unit: str) -> None:
        """Begin; the first line comes after a minute."""
        self._meter.start(name, total, unit)
        self._next = self._clock() + _LINE_EVERY_S

    def advance(self, done: float, *, is_new: bool) -> None:
        """Count what is done and write a line when a minute has passed since the last."""
        self._meter.count(done, is_new=is_new)
        if self._clock() < self._next:
            return
        self._next = self._clock() + _LINE_EVERY_S
        meter = self._meter
        share = f"{100 * meter.done / meter.total:.1f} % of {amount(meter.total)} {meter.unit}"
        self._stream.write(", ".join(part for part in (f"{meter.name}: {share}", meter.text()) if part) + "\n")
        self._stream.flush()

    def stop(self) -> None:
        """Write nothing more; the caller prints the outcome."""


class BarProgress:
    """A bar with share, speed and time left, redrawn in place.

    Parameters
    ----------
    stream : text file
        A terminal.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._meter = _Meter(time.monotonic)
        self._bar: Any = None
        self._task: Any = None

    def start(self, name: str, total: int, unit: str) -> None:
        """Draw the empty bar."""
        from rich.console import Console  # noqa: PLC0415 - only runs on a terminal need it
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn  # noqa: PLC0415

        self._meter.start(name, total, unit)
        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.fields[speed]}", markup=False),
            console=Console(file=self._stream),
        )
        self._task = self._bar.add_task(name, total=total, speed="")
        self._bar.start()

    def advance(self, done: float, *, is_new: bool) -> None:
        """Count what is done and redraw."""
        self._meter.count(done, is_new=is_new)
        self._bar.update(self._task, completed=self._meter.done, speed=self._meter.text())

    def stop(self) -> None:
        """Leave the bar as it stands."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


def choose_progress(*, asked: bool, stream: TextIO | None = None) -> Progress:
    """Return the progress that suits the place it is shown at.

    Parameters
    ----------
    asked : bool
        False for none.
    stream : text file, optional
        Standard error by default: results keep standard output for themselves.

    Returns
    -------
    Progress
    """
    if not asked:
        return Silent()
    stream = sys.stderr if stream is None else stream
    return BarProgress(stream) if stream.isatty() else LineProgress(stream)
