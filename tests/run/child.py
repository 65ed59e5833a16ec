"""A process that runs the small sweep and meets its end, started by `test_interruption`."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from unittest import mock

from simcore import api
from simcore.errors import StoreError
from simcore.run import plan
from simcore.run.session import SweepInterrupted, sweep
from tests.run import invented
from tests.run.sweeps import SHORT_PART, precise, small


def die_at(sync_number: int) -> None:
    """Kill this process at the given call of fsync, with the file half written."""
    sync = os.fsync
    calls = 0

    def deadly(handle: int) -> None:
        nonlocal calls
        calls += 1
        if calls < sync_number:
            sync(handle)
            return
        if not Path(f"/proc/self/fd/{handle}").is_dir():
            os.ftruncate(handle, os.fstat(handle).st_size // 2)
        os.kill(os.getpid(), signal.SIGKILL)

    mock.patch.object(os, "fsync", deadly).start()


class Waiting:
    """Progress that says when two parts are stored, and then waits for a signal."""

    def __init__(self) -> None:
        self.parts = 0

    def start(self, name: str, total: int, unit: str) -> None:
        pass

    def advance(self, done: float, *, is_new: bool) -> None:  # noqa: ARG002 - the names are part of the protocol
        self.parts += 1
        if self.parts == 2:
            print("ready", flush=True)  # noqa: T201 - the parent process waits for this
            time.sleep(60)

    def stop(self) -> None:
        pass


def peak_memory() -> int:
    """Return the largest memory this process had so far, in KiB."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))


def main(mode: str, folder: Path, number: int) -> int:
    if mode == "memory":
        mock.patch.object(plan, "PART_BATTLES", 2**15).start()
        sweep(small(sweep={"battles": 2**13}), folder / "warm", threads=1)
        before = peak_memory()
        result = sweep(small(sweep={"battles": number}), folder / "long", threads=1)
        print(peak_memory() - before, result.parts_computed)  # noqa: T201 - read by the parent process
        return 0
    if mode in {"precise", "top-up"}:
        mock.patch.object(plan, "PART_BATTLES", 10_000).start()
        mock.patch.object(api, "tally", invented.tally).start()
        die_at(number)
        sweep(precise(), folder, top_up=mode == "top-up")
        return 0
    mock.patch.object(plan, "PART_BATTLES", SHORT_PART).start()
    if mode == "rival":
        print("ready", flush=True)  # noqa: T201 - the parent process waits for this
        sys.stdin.readline()
        try:
            print("done", sweep(small(), folder, threads=1))  # noqa: T201 - read by the parent process
        except StoreError as problem:
            print(problem)  # noqa: T201 - the same
        return 0
    if mode == "kill":
        die_at(number)
        sweep(small(), folder, threads=1)
        return 0
    try:
        sweep(small(), folder, threads=1, progress=Waiting())
    except SweepInterrupted as stopped:
        print(stopped, flush=True)  # noqa: T201 - read by the parent process
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])))
