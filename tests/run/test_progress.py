"""What a sweep says while it runs."""

from __future__ import annotations

import io
import sys

import pytest

from simcore.run.progress import BarProgress, LineProgress, Silent, amount, choose_progress, duration


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (0.25, "0.2"),
        (9.96, "10.0"),
        (12.3, "12"),
        (999, "999"),
        (41_300, "41.3 thousand"),
        (5_240_000, "5.2 million"),
        (2.5e9, "2,500.0 million"),
    ],
)
def test_amounts(number: float, text: str) -> None:
    assert amount(number) == text


@pytest.mark.parametrize(("seconds", "text"), [(0, "0:00:00"), (59.6, "0:01:00"), (360_000, "100:00:00")])
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_one_line_a_minute() -> None:
    stream, clock = io.StringIO(), Clock()
    progress = LineProgress(stream, clock)
    progress.start("night", 100_000_000, "battles")
    for _ in range(100):
        clock.now += 2.0
        progress.advance(500_000, is_new=True)
    progress.stop()
    lines = stream.getvalue().splitlines()
    assert len(lines) == 3
    assert lines[0] == "night: 15.0 % of 100.0 million battles, 250.0 thousand battles/s, 0:05:40 left"


def test_what_was_found_does_not_count_as_speed() -> None:
    stream, clock = io.StringIO(), Clock()
    progress = LineProgress(stream, clock)
    progress.start("night", 4_000_000, "battles")
    clock.now += 61
    progress.advance(2_000_000, is_new=False)
    clock.now += 60
    progress.advance(1_000_000, is_new=True)
    lines = stream.getvalue().splitlines()
    assert lines[0] == "night: 50.0 % of 4.0 million battles"
    assert lines[1].startswith("night: 75.0 % of 4.0 million battles, 8.3 thousand battles/s, ")


def test_the_wait_for_the_compiler_is_forgotten() -> None:
    stream, clock = io.StringIO(), Clock()
    progress = LineProgress(stream, clock)
    progress.start("night", 1_000_000_000, "battles")
    clock.now += 50
    progress.advance(2_000_000, is_new=True)
    for _ in range(20):
        clock.now += 1
        progress.advance(2_000_000, is_new=True)
    assert "2.0 million battles/s" in stream.getvalue()


def test_a_bar_on_a_terminal() -> None:
    stream = Terminal()
    progress = choose_progress(asked=True, stream=stream)
    assert isinstance(progress, BarProgress)
    progress.start("[bold]night", 1_000_000, "battles")
    progress.advance(250_000, is_new=False)
    progress.advance(250_000, is_new=True)
    progress.stop()
    progress.stop()
    text = stream.getvalue()
    assert "[bold]night" in text
    assert "50%" in text
    assert "battles/s" in text


def test_the_place_decides(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert isinstance(choose_progress(asked=False, stream=Terminal()), Silent)
    assert isinstance(choose_progress(asked=True, stream=io.StringIO()), LineProgress)
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert isinstance(choose_progress(asked=True), BarProgress)
    silent = Silent()
    silent.start("night", 1, "battles")
    silent.advance(1, is_new=True)
    silent.stop()
    assert capsys.readouterr() == ("", "")
