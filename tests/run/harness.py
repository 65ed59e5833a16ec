"""A process that lets children run the small sweep and kills them at random moments, started by `test_faults`.

Children are forked from a process that has everything imported and compiled: starting Python takes longer than the
sweep, and nearly all moments would be before its first byte.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from pathlib import Path
from unittest import mock

from simcore.run import plan
from simcore.run.session import SweepInterrupted, sweep
from tests.run.sweeps import SHORT_PART, digests, parts_of, small

SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT)


def run_child(folder: Path) -> int:
    """Fork a process that runs the sweep, and return its number."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        sweep(small(), folder, threads=1)
        code = 0
    except (SweepInterrupted, KeyboardInterrupt):
        code = 3
    finally:
        os._exit(code)


def count_parts(folder: Path) -> int:
    return len(parts_of(folder)) if folder.exists() else 0


def kill_once(folder: Path, parts: int, delay: float, number: signal.Signals) -> str:
    """Run the sweep in a child and send it a signal a while after so many parts are there; returns how it ended.

    On a machine with much else to do, moments of the clock alone would all lie in the same phase of the sweep.
    """
    child = run_child(folder)
    peek = os.WEXITED | os.WNOHANG | os.WNOWAIT
    while count_parts(folder) < parts and os.waitid(os.P_PID, child, peek) is None:
        time.sleep(delay / 10)
    time.sleep(delay)
    os.kill(child, number)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    # A signal before Python is told about it, or while it ends, has the effect that it has on any process.
    if code not in {0, 3, -number}:
        raise AssertionError(f"{number.name} {delay:.4f} s after part {parts}: exit code {code}")
    return "finished" if code == 0 else "killed" if code < 0 else "stopped"


def main(folder: Path, trials: int, seed: int) -> int:
    mock.patch.object(plan, "PART_BATTLES", SHORT_PART).start()
    whole = folder / "whole"
    sweep(small(), whole, threads=1)
    began = time.monotonic()
    sweep(small(), folder / "again", threads=1)
    usual = time.monotonic() - began
    most = count_parts(whole)
    choose = random.Random(seed)  # noqa: S311 - moments need not be secret
    ends = {"finished": 0, "killed": 0, "stopped": 0}
    reached: dict[int, int] = {}
    for trial in range(trials):
        out = folder / f"trial{trial}"
        for _ in range(choose.choice((1, 1, 2, 3))):
            delay = choose.uniform(0, 1.5 * usual / most)
            ends[kill_once(out, choose.randint(0, most), delay, choose.choice(SIGNALS))] += 1
        parts = count_parts(out)
        reached[parts] = reached.get(parts, 0) + 1
        result = sweep(small(), out, threads=1)
        assert result.reports == [], (trial, result.reports)
        assert digests(out) == digests(whole), trial
        assert [path.read_bytes() for path in parts_of(out)] == [path.read_bytes() for path in parts_of(whole)], trial
        assert not [path for path in out.rglob("*") if path.name.endswith(".unfinished")], trial
    print(json.dumps({"ends": ends, "reached": reached}))  # noqa: T201 - read by the parent process
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
