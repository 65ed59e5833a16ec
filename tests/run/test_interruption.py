"""Real processes that are killed, interrupted and watched."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from simcore.errors import StoreError
from simcore.run.session import resume, sweep
from tests.run.sweeps import digests, parts_of, small

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.usefixtures("short_parts")


def child(mode: str, folder: Path, number: int = 0) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.run.child", mode, str(folder), str(number)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


# A run syncs 24 times: two folders that it makes, then manifest, six parts, three tables and manifest, and the folder
# after each of them.
@pytest.mark.parametrize(
    ("sync_number", "whole_parts"),
    [
        pytest.param(3, 0, id="first manifest"),
        pytest.param(5, 0, id="first part"),
        pytest.param(10, 3, id="after a rename"),
        pytest.param(15, 5, id="last part"),
        pytest.param(19, 6, id="second table"),
        pytest.param(23, 6, id="last manifest"),
    ],
)
def test_a_killed_run_ends_with_the_same_bytes(
    tmp_path: Path, undisturbed: Path, sync_number: int, whole_parts: int
) -> None:
    folder = tmp_path / "out"
    with child("kill", folder, sync_number) as process:
        process.communicate(timeout=300)
    assert process.returncode == -signal.SIGKILL
    assert len(parts_of(folder)) == whole_parts
    result = sweep(small(), folder, threads=1)
    assert (result.parts_computed, result.parts_reused, result.reports) == (6 - whole_parts, whole_parts, [])
    assert digests(folder) == digests(undisturbed)
    assert [path.read_bytes() for path in parts_of(folder)] == [path.read_bytes() for path in parts_of(undisturbed)]
    assert not [path for path in folder.rglob("*") if path.name.endswith(".unfinished")]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_stops_soon_and_nobody_else_gets_in_meanwhile(
    tmp_path: Path, undisturbed: Path, number: signal.Signals
) -> None:
    with child("wait", tmp_path) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        with pytest.raises(StoreError, match=rf"another run is writing to this folder \(process {process.pid} on "):
            sweep(small(), tmp_path, threads=1)
        process.send_signal(number)
        out, errors = process.communicate(timeout=60)
    assert process.returncode == 3
    assert "can be resumed" in out
    assert "Traceback" not in errors
    assert json.loads((tmp_path / "manifest.json").read_text())["state"] == "running"
    result = resume(tmp_path, threads=1)
    assert (result.parts_computed, result.parts_reused, result.reports) == (4, 2, [])
    assert digests(tmp_path) == digests(undisturbed)


def test_memory_does_not_grow_with_the_battles(tmp_path: Path) -> None:
    with child("memory", tmp_path, 2**18) as process:
        out, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    grown, parts = map(int, out.split())
    assert parts > 40
    assert grown < 20_000  # KiB
