"""What nights bring: kills, power cuts, full disks, rivals, clocks. Afterwards a sweep ends with the same bytes."""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from simcore.errors import StoreError
from simcore.run import session
from simcore.run.session import resume, sweep
from tests.run.faults import Disk, resize, restore, small_disk
from tests.run.sweeps import digests, parts_of, small

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
TINY = {"attacker": {"mixes": ["2 tank"]}}
"""Makes the small sweep a sweep of two parts."""

pytestmark = pytest.mark.usefixtures("short_parts")


def assert_same(folder: Path, undisturbed: Path) -> None:
    assert digests(folder) == digests(undisturbed)
    assert [path.read_bytes() for path in parts_of(folder)] == [path.read_bytes() for path in parts_of(undisturbed)]


def run_harness(folder: Path, trials: int, seed: int) -> dict[str, Any]:
    """Kill runs at random moments; the process compares the bytes itself."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.run.harness", str(folder), str(trials), str(seed)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=1_800,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_runs_that_are_killed_at_random_moments(tmp_path: Path) -> None:
    found = run_harness(tmp_path, 20, seed=1)
    assert sum(found["ends"].values()) >= 20
    assert found["ends"]["killed"] >= 5
    assert found["ends"]["stopped"] >= 3


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 3, 4, 5])
def test_runs_that_are_killed_at_two_hundred_random_moments(tmp_path: Path, seed: int) -> None:
    found = run_harness(tmp_path, 50, seed)
    assert sum(found["ends"].values()) >= 50
    # They meet the sweep in most of its phases.
    assert len(found["reached"]) >= 5


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the results folder of an undisturbed run of the sweep of two parts."""
    folder = tmp_path_factory.mktemp("tiny") / "out"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("simcore.run.plan.PART_BATTLES", 4_096)
        sweep(small(**TINY), folder, threads=1)
    return folder


def test_the_power_may_be_cut_at_any_moment(tmp_path: Path, tiny: Path) -> None:
    disk = Disk(tmp_path / "out")
    with disk.watching():
        sweep(small(**TINY), tmp_path / "out", threads=1)
    assert len(disk.moments) >= 10
    states = {str(sorted(state.items())): state for pair in disk.moments for state in pair}
    folder = tmp_path / "after"
    for state in states.values():
        restore(state, folder)
        result = sweep(small(**TINY), folder, threads=1)
        # Nothing that is there under its name is torn: data reach the disk before names do.
        assert result.reports == [], sorted(state)
        assert_same(folder, tiny)
    # What was promised is kept: the last state is whole, and no part is lost once the next one is begun.
    last = disk.moments[-1][0]
    assert {name for name in last if name.endswith(".parquet") and "/" not in name} == set(digests(tiny))
    restore(last, folder)
    assert resume(folder, threads=1).parts_computed == 0
    counts = [
        sum(name.startswith("parts/") and "unfinished" not in name for name in state) for state, _ in disk.moments
    ]
    assert counts == sorted(counts)
    assert counts[-1] == 2


@pytest.fixture
def full_disk(tmp_path: Path) -> Iterator[Path]:
    """Return a folder on a disk that has room for the beginning of the small sweep."""
    folder = tmp_path / "disk"
    try:
        with small_disk(folder, "40k"):
            yield folder
    except RuntimeError as problem:
        pytest.skip(str(problem))


def test_a_full_disk_keeps_all_parts_and_the_run_goes_on_when_there_is_room(full_disk: Path, undisturbed: Path) -> None:
    kept = 0
    for pages in (6, 8, 10, 11, 12):
        resize(full_disk, f"{4 * pages}k")
        with pytest.raises(StoreError, match="No space left on device; every part computed so far is kept") as caught:
            sweep(small(), full_disk / "out", threads=1)
        assert isinstance(caught.value.__cause__, OSError)
        now = len(parts_of(full_disk / "out"))
        assert now >= kept
        kept = now
    assert kept >= 2
    resize(full_disk, "4m")
    result = resume(full_disk / "out", threads=1)
    assert (result.parts_reused, result.reports) == (kept, [])
    assert_same(full_disk / "out", undisturbed)


def test_a_full_disk_is_no_reason_for_a_traceback(full_disk: Path, tmp_path: Path, undisturbed: Path) -> None:
    file = tmp_path / "sweep.toml"
    file.write_text(
        '[sweep]\nname = "small"\nmethod = "simulate"\nbattles = 3000\nseed = 7\n'
        '[attacker]\nmixes = ["3 infantry, 1 tank", "2 tank", "1 infantry, 1 fighter"]\n'
        '[defender]\nmixes = ["3 infantry", "1 infantry, 1 artillery"]\n'
    )
    out = full_disk / "out"

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        code = "from analysis.cli import main; main()"
        return subprocess.run(
            [sys.executable, "-c", code, *words, "--threads", "1", "--no-report", "--json"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    resize(full_disk, "24k")
    done = run("sweep", str(file), "--out", str(out))
    assert done.returncode == 3, done.stderr
    assert done.stdout == ""
    assert f"every part computed so far is kept; continue with: simcore resume {out}" in done.stderr
    assert "Traceback" not in done.stderr
    resize(full_disk, "4m")
    done = run("resume", str(out))
    assert done.returncode == 0, done.stderr
    assert digests(out) == digests(undisturbed)


@pytest.mark.parametrize(("number", "words"), [(errno.EROFS, "Read-only file system"), (errno.EIO, "Input/output")])
@pytest.mark.parametrize("moment", [0, 3, 9])
def test_a_disk_that_fails_in_the_middle(
    tmp_path: Path, undisturbed: Path, monkeypatch: pytest.MonkeyPatch, number: int, words: str, moment: int
) -> None:
    opened = Path.open
    count = 0

    def failing(path: Path, *args: Any, **options: Any) -> Any:
        nonlocal count
        if path.name.endswith(".unfinished"):
            count += 1
            if count > moment:
                raise OSError(number, os.strerror(number))
        return opened(path, *args, **options)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", failing)
        with pytest.raises(StoreError, match=f"cannot write: {words}"):
            sweep(small(), tmp_path / "out", threads=1)
    result = sweep(small(), tmp_path / "out", threads=1)
    assert result.reports == []
    assert result.parts_reused == min(max(moment - 1, 0), 6)
    assert_same(tmp_path / "out", undisturbed)


def test_a_folder_that_is_removed_in_the_middle(tmp_path: Path, undisturbed: Path) -> None:
    folder = tmp_path / "out"

    class Removing:
        def start(self, name: str, total: int, unit: str) -> None:
            pass

        def advance(self, done: float, *, is_new: bool) -> None:  # noqa: ARG002 - the names are part of the protocol
            shutil.rmtree(folder, ignore_errors=True)

        def stop(self) -> None:
            pass

    with pytest.raises(StoreError, match="the folder was removed while in use"):
        sweep(small(), folder, threads=1, progress=Removing())
    assert not folder.exists()
    sweep(small(), folder, threads=1)
    assert_same(folder, undisturbed)


def test_of_many_runs_in_one_folder_one_wins_and_the_others_say_so(tmp_path: Path, undisturbed: Path) -> None:
    folder = tmp_path / "out"
    runs = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.run.child", "rival", str(folder), "0"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    for run in runs:  # all are ready before the first begins
        assert run.stdout is not None
        assert run.stdout.readline() == "ready\n"
    for run in runs:
        assert run.stdin is not None
        run.stdin.write("go\n")
        run.stdin.flush()
    said = [run.communicate(timeout=120)[0].strip() for run in runs]
    winners = {run.pid for run, text in zip(runs, said, strict=True) if text.startswith("done")}
    assert winners
    for text in said:
        if not text.startswith("done"):
            assert "another run is writing to this folder" in text
            assert any(f"(process {pid} on " in text for pid in winners) or "(process" not in text
    assert_same(folder, undisturbed)


def test_clocks_may_jump(tmp_path: Path, undisturbed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter(["2099-12-31T23:59:59+00:00", "1970-01-01T00:00:00+00:00"] * 20)
    monkeypatch.setattr(session, "_now", lambda: next(times))
    folder = tmp_path / "out"
    sweep(small(), folder, threads=1)
    for i, path in enumerate(parts_of(folder)):
        os.utime(path, (i * 10**9, (5 - i) * 10**9))
    parts_of(folder)[0].unlink()
    result = resume(folder, threads=1)
    assert (result.parts_computed, result.parts_reused, result.reports) == (1, 5, [])
    assert_same(folder, undisturbed)
    manifest = json.loads((folder / "manifest.json").read_text())
    assert 0 <= manifest["elapsed_s"] < 600


def test_a_part_of_another_run_under_a_planned_name(tmp_path: Path, done: Path, undisturbed: Path) -> None:
    other = tmp_path / "other"
    sweep(small(sweep={"seed": 8}), other, threads=1)
    for mine, foreign in zip(parts_of(done), parts_of(other), strict=True):
        shutil.copy(foreign, mine)
    result = resume(done, threads=1)
    assert (result.parts_computed, len(result.reports)) == (6, 6)
    assert_same(done, undisturbed)


def test_a_file_system_that_does_not_sync_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> NoReturn:
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(StoreError, match="Invalid argument"):
        sweep(small(), tmp_path / "out", threads=1)
