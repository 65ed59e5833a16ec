"""The command line as a process: signals, pipes, streams, exit codes."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Cli

COMMAND = [sys.executable, "-c", "from analysis.cli import main; main()"]
LONG = """
[sweep]
name = "long"
method = "simulate"
battles = 300_000
[attacker]
budget = { units = ["infantry", "artillery", "tank", "fighter"], cost = 30, slack = 2, max_units = 10 }
[defender]
mixes = ["10 infantry", "6 infantry, 2 artillery, 1 tank"]
"""
TABLES = ("matchups.parquet", "mixes.parquet", "survivors.parquet")


def _wait_for_parts(folder: Path, process: subprocess.Popen[str]) -> None:
    """Return when the sweep has stored its first part."""
    deadline = time.monotonic() + 120
    while not list(folder.glob("parts/*.parquet")):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_an_interrupted_sweep_goes_on_to_the_same_bytes(tmp_path: Path, shell: Cli) -> None:
    path, out, whole = tmp_path / "long.toml", tmp_path / "out", tmp_path / "whole"
    path.write_text(LONG)
    with subprocess.Popen(
        [*COMMAND, "sweep", str(path), "--out", str(out), "--no-report"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        _wait_for_parts(out, process)
        process.send_signal(signal.SIGINT)
        printed, errors = process.communicate(timeout=120)
    assert process.returncode == 3
    assert printed == ""
    assert errors.splitlines()[-1] == f"interrupted; continue with: simcore resume {out}"
    assert "Traceback" not in errors
    assert not (out / TABLES[0]).exists()

    kept = {part.name: part.stat().st_mtime_ns for part in out.glob("parts/*.parquet")}
    resumed = shell("resume", out, "--no-report")
    assert resumed.code == 0, resumed.err
    # What was there has been used, not computed again.
    assert all((out / "parts" / name).stat().st_mtime_ns == when for name, when in kept.items())
    assert shell("sweep", path, "--out", whole, "--no-report").code == 0
    for table in TABLES:
        assert (out / table).read_bytes() == (whole / table).read_bytes()


def test_a_full_disk_keeps_what_is_computed(tmp_path: Path, shell: Cli) -> None:
    path, out = tmp_path / "long.toml", tmp_path / "out"
    path.write_text(LONG.replace("150_000", "1_000"))
    sweep = shlex.join([*COMMAND, "sweep", str(path), "--out", str(out), "--json"])
    # No file may grow beyond 24 KiB: manifest and parts can be written, the largest table cannot.
    done = subprocess.run(["bash", "-c", f"ulimit -f 24; exec {sweep}"], capture_output=True, text=True, check=False)
    assert done.returncode == 3, done.stderr
    assert done.stdout == ""
    assert "File too large" in done.stderr
    assert done.stderr.endswith(f"; continue with: simcore resume {out}\n")
    assert len(done.stderr.splitlines()) == 1
    assert shell("resume", out, "--json").json["failed"] == 0


def test_a_disk_that_is_too_full_for_the_report(tmp_path: Path, shell: Cli) -> None:
    path, out = tmp_path / "long.toml", tmp_path / "out"
    path.write_text(LONG.replace("150_000", "1_000"))
    sweep = shlex.join([*COMMAND, "sweep", str(path), "--out", str(out)])
    # The report is by far the largest file.
    done = subprocess.run(["bash", "-c", f"ulimit -f 1000; exec {sweep}"], capture_output=True, text=True, check=False)
    assert done.returncode == 3, done.stderr
    assert done.stderr.endswith(f"; the tables are complete, go on with: simcore report {out}\n")
    assert len(done.stderr.splitlines()) == 1
    assert shell("report", out).code == 0


def test_a_reader_that_leaves_is_no_error() -> None:
    with subprocess.Popen([*COMMAND, "schema", "sweep"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0


def test_a_full_device_is_one_line() -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*COMMAND, "schema", "sweep"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 2
    assert done.stderr == "standard output: No space left on device\n"


def test_a_terminal_without_unicode(shell: Cli) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "LC_ALL": "C"}
    answer = shell("odds", "3 infantry", "2 infantry", "--battles", 100, env=environment)
    assert answer.code == 0, answer.err
    answer = shell("odds", "3 infantry", "2 infäntry", env=environment)
    assert answer.code == 2


def test_results_and_notes_go_to_different_streams(shell: Cli) -> None:
    answer = shell("odds", "3 infantry", "2 infantry", "--method", "simulate", "--battles", 100, "--json")
    assert answer.code == 0
    assert answer.json["battles"] == 100


def test_the_first_run_says_what_it_waits_for(shell: Cli, tmp_path: Path) -> None:
    cold = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    words = ("odds", "3 infantry", "2 infantry", "--method", "simulate", "--battles", 100, "--threads", 1)
    first = shell(*words, env=cold)
    assert first.code == 0
    assert first.err.startswith("compiling")
    assert len(first.err.splitlines()) == 1
    second = shell(*words, env=cold)
    assert second.err == ""
    assert second.out == first.out


@pytest.mark.parametrize("verb", [["rulesets"], ["rulesets", "--table", "editions"], ["doctor", "--json"]])
def test_without_an_output_nothing_is_said(verb: list[str]) -> None:
    words = ["sh", "-c", '"$@" >&-', "sh", *COMMAND, *verb]
    found = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert (found.returncode, found.stdout, found.stderr) == (0, "", "")


def test_without_a_place_for_errors_the_exit_code_tells() -> None:
    words = ["sh", "-c", '"$@" >&- 2>&-', "sh", *COMMAND, "rulesets", "none"]
    assert subprocess.run(words, timeout=120, check=False).returncode == 2


def test_a_cache_that_cannot_be_written_is_one_line(shell: Cli) -> None:
    # Nobody can create folders in /proc, not even root.
    environment = {key: value for key, value in os.environ.items() if key != "NUMBA_CACHE_DIR"}
    answer = shell("doctor", env={**environment, "XDG_CACHE_HOME": "/proc/nowhere"})
    assert answer.code == 0
    warned = [line for line in answer.err.splitlines() if line.startswith("warning: ")]
    assert len(warned) == 1
    assert "/proc/nowhere" in warned[0]


def test_pruning_removes_other_versions_only(shell: Cli, tmp_path: Path) -> None:
    environment = {key: value for key, value in os.environ.items() if key != "NUMBA_CACHE_DIR"}
    environment["XDG_CACHE_HOME"] = str(tmp_path)
    old = tmp_path / "simcore" / "0123456789abcdef-std"
    old.mkdir(parents=True)
    (old / "kernel.nbc").write_bytes(b"x" * 1000)
    answer = shell("doctor", "--prune", "--json", env=environment)
    assert answer.json["pruned"] == [str(old)]
    assert not old.exists()
    assert Path(answer.json["cache"]["folder"]).is_dir()
