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


def kill_once(folder: Path, moment: float, number: signal.Signals) -> str:
    """Run the sweep in a child and send it a signal after a while; returns how it ended."""
    child = run_child(folder)
    time.sleep(moment)
    os.kill(child, number)
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    # A signal before Python is told about it, or while it ends, has the effect that it has on any process.
    if code not in {0, 3, -number}:
        raise AssertionError(f"{number.name} after {moment:.4f} s: exit code {code}")
    return "finished" if code == 0 else "killed" if code < 0 else "stopped"


def main(folder: Path, trials: int, seed: int) -> int:
    mock.patch.object(plan, "PART_BATTLES", SHORT_PART).start()
    whole = folder / "whole"
    sweep(small(), whole, threads=1)
    began = time.monotonic()
    sweep(small(), folder / "again", threads=1)
    usual = time.monotonic() - began
    choose = random.Random(seed)  # noqa: S311 - moments need not be secret
    ends = {"finished": 0, "killed": 0, "stopped": 0}
    reached: dict[int, int] = {}
    for trial in range(trials):
        out = folder / f"trial{trial}"
        for _ in range(choose.choice((1, 1, 2, 3))):
            ends[kill_once(out, choose.uniform(0, 1.1 * usual), choose.choice(SIGNALS))] += 1
        parts = len(parts_of(out)) if out.exists() else 0
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
