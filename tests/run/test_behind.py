"""Parts are stored while others are resolved, in order and one at a time."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from simcore.run.behind import store_behind


def results(events: list[str], *names: str) -> Any:
    for name in names:
        events.append(f"compute {name}")
        yield name, name.upper()


def test_a_part_is_handed_on_when_it_is_stored() -> None:
    events: list[str] = []
    is_free = threading.Lock()

    def write(job: Any, rows: Any) -> None:
        assert is_free.acquire(blocking=False)  # one at a time
        time.sleep(0.01)
        events.append(f"write {job}{rows}")
        is_free.release()

    job: Any
    for job, _ in store_behind(results(events, "a", "b", "c"), write):
        assert f"write {job}{job.upper()}" in events
        events.append(f"take {job}")
    assert [event for event in events if event.startswith("write")] == ["write aA", "write bB", "write cC"]
    assert [event for event in events if event.startswith("take")] == ["take a", "take b", "take c"]
    # The next one is computed before the last one is handed on, and no more than that.
    assert events.index("compute b") < events.index("take a") < events.index("compute c")


def test_nothing_to_store() -> None:
    assert list(store_behind([], print)) == []


def test_an_error_of_the_disk_is_raised_and_nothing_more_is_written() -> None:
    written = []

    def write(job: Any, rows: Any) -> None:
        written.append(job)
        if job == "b":
            raise OSError("full")

    taken: list[Any] = []
    with pytest.raises(OSError, match="full"):
        taken.extend(job for job, _ in store_behind(results([], "a", "b", "c", "d"), write))
    assert taken == ["a"]
    assert written == ["a", "b"]


def test_an_interrupt_waits_for_what_is_being_written() -> None:
    written = []

    def write(job: Any, rows: Any) -> None:
        time.sleep(0.05)
        written.append(job)

    def interrupted() -> Any:
        yield "a", "A"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(store_behind(interrupted(), write))
    assert written == ["a"]
