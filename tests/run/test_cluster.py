"""Sweeps on a Dask cluster: the same bytes as here, whatever happens to workers and scheduler."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dask
import psutil
import pytest
from distributed import Client, LocalCluster

from simcore.errors import ClusterError, ScenarioError
from simcore.run import cluster as cluster_module
from simcore.run.cluster import DaskExecutor, Identity, identity
from simcore.run.executor import choose_executor
from simcore.run.session import resume, sweep
from simcore.run.store import Store
from tests.run.sweeps import digests, parts_of, small
from tests.run.test_executor import make_job

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).resolve().parents[2]

in_short_parts = pytest.mark.usefixtures("short_parts")


class Acting:
    """Progress that does something once, after the first part is stored."""

    def __init__(self, act: Callable[[], object]) -> None:
        self.act: Callable[[], object] | None = act

    def start(self, name: str, total: int, unit: str) -> None:
        pass

    def advance(self, done: float, *, is_new: bool) -> None:  # noqa: ARG002 - the names are part of the protocol
        if self.act is not None:
            act, self.act = self.act, None
            act()

    def stop(self) -> None:
        pass


class Lethal(dict[int, str]):
    """What kills the process that unpickles it."""

    def __reduce__(self) -> tuple[Any, ...]:
        return (_die, ())


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _pretend(sources: str) -> None:
    """Let a worker be one with other sources."""
    found = identity()._replace(sources=sources)
    cluster_module.identity = lambda: found  # type: ignore[assignment]


def start_cluster(folder: Path, workers: int) -> LocalCluster:
    with dask.config.set({"distributed.scheduler.allowed-failures": 0}):
        return LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address=None,
            scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},
            local_directory=str(folder),
            silence_logs=logging.CRITICAL,
        )


@pytest.fixture(scope="module")
def two_workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCluster]:
    with start_cluster(tmp_path_factory.mktemp("workers"), 2) as started:
        yield started


@pytest.fixture
def client(two_workers: LocalCluster) -> Iterator[Client]:
    with Client(two_workers, set_as_default=False) as connected:
        connected.wait_for_workers(2, timeout=120)
        yield connected


def pids(client: Client) -> list[int]:
    return list(client.run(os.getpid).values())


def address_of(client: Client) -> str:
    assert client.scheduler is not None
    return str(client.scheduler.address)


def assert_same(folder: Path, undisturbed: Path) -> None:
    assert digests(folder) == digests(undisturbed)
    assert [path.read_bytes() for path in parts_of(folder)] == [path.read_bytes() for path in parts_of(undisturbed)]


@in_short_parts
def test_two_workers_of_a_running_cluster_give_the_same_bytes(
    client: Client, tmp_path: Path, undisturbed: Path
) -> None:
    result = sweep(small(), tmp_path, scheduler=address_of(client))
    assert (result.parts_computed, result.reports) == (6, [])
    assert_same(tmp_path, undisturbed)


@in_short_parts
def test_a_worker_of_its_own_gives_the_same_bytes_and_listens_to_nobody_else(tmp_path: Path, undisturbed: Path) -> None:
    heard: set[str] = set()

    def listen() -> None:
        me = psutil.Process()
        for process in (me, *me.children(recursive=True)):
            found = process.net_connections(kind="inet")
            heard.update(entry.laddr.ip for entry in found if entry.status == psutil.CONN_LISTEN)

    before = set(psutil.Process().children(recursive=True))
    sweep(small(), tmp_path, workers=1, progress=Acting(listen))
    assert_same(tmp_path, undisturbed)
    assert heard == {"127.0.0.1"}
    _, alive = psutil.wait_procs(set(psutil.Process().children(recursive=True)) - before, timeout=10)
    assert [process for process in alive if "resource_tracker" not in " ".join(process.cmdline())] == []


@in_short_parts
def test_a_worker_killed_in_the_middle_changes_nothing(client: Client, tmp_path: Path, undisturbed: Path) -> None:
    victim = pids(client)[0]
    executor = DaskExecutor(client)
    result = run_with(executor, tmp_path, lambda: os.kill(victim, signal.SIGKILL))
    assert result == 6
    assert_same(tmp_path, undisturbed)


def run_with(executor: DaskExecutor, folder: Path, act: Callable[[], object]) -> int:
    """Run the small sweep on an executor, with something happening after the first part."""
    from simcore.run import plan, session  # noqa: PLC0415 - a session is made by hand here only
    from simcore.scenario import load_sweep  # noqa: PLC0415

    with Store(folder) as store:
        planned = plan.plan_sweep(load_sweep(small()))
        return session.Session(planned, store, executor, Acting(act)).run(resume=True).parts_computed


def test_a_part_that_kills_workers_is_named_and_all_others_are_resolved(client: Client) -> None:
    good = [replace(make_job(battles=100 + i), name=f"good{i}") for i in range(3)]
    bad = replace(good[0], name="bad", errors=Lethal())
    found: list[str] = []
    results = DaskExecutor(client).run([good[0], bad, *good[1:]])
    with pytest.raises(ClusterError, match=r"died whenever they resolved part bad \(matchups 0 to 5\)") as caught:
        found.extend(job.name for job, _ in results)
    assert sorted(found) == ["good0", "good1", "good2"]
    assert "good" not in str(caught.value)


@in_short_parts
def test_workers_of_another_version_are_refused_by_name(client: Client, tmp_path: Path, undisturbed: Path) -> None:
    first, second = client.scheduler_info()["workers"]
    client.run(_pretend, "0123456789abcdef", workers=[first])
    executor = DaskExecutor(client)
    assert run_with(executor, tmp_path / "one", lambda: None) == 6
    assert_same(tmp_path / "one", undisturbed)
    assert list(executor.refused) == [first]
    assert f"sources 0123456789abcdef instead of {identity().sources}" in executor.refused[first]
    client.run(_pretend, "0" * 16, workers=[second])
    with pytest.raises(ClusterError, match="no worker can be used") as caught:
        run_with(DaskExecutor(client), tmp_path / "none", lambda: None)
    assert first in str(caught.value)
    assert second in str(caught.value)
    client.run(_pretend, identity().sources)
    resume(tmp_path / "none", scheduler=address_of(client))
    assert_same(tmp_path / "none", undisturbed)


def test_a_worker_that_turns_out_to_be_another_later_is_refused_too(client: Client) -> None:
    class Late(DaskExecutor):
        def _look_at_workers(self) -> None:
            super()._look_at_workers()
            if len(self._good) == 2:
                self._client.run(_pretend, "f" * 16, workers=sorted(self._good)[:1])

    executor = Late(client)
    jobs = [replace(make_job(battles=100 + i), name=f"part{i}") for i in range(6)]
    assert sorted(job.name for job, _ in executor.run(jobs)) == [f"part{i}" for i in range(6)]
    assert len(executor.refused) <= 1
    client.run(_pretend, identity().sources)


@in_short_parts
def test_a_scheduler_that_is_gone_ends_the_run_and_loses_nothing(tmp_path: Path, undisturbed: Path) -> None:
    started = start_cluster(tmp_path / "workers", 1)
    folder = tmp_path / "out"
    with started:
        address = started.scheduler_address
        with pytest.raises(ClusterError, match=r"the scheduler .* is gone or was restarted"):
            sweep(small(), folder, scheduler=address, progress=Acting(started.close))
    assert 1 <= len(parts_of(folder)) < 6
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cluster_module, "_REACH_S", 0.3)
        with pytest.raises(ClusterError, match=f"cannot reach the scheduler {address}"):
            resume(folder, scheduler=address)
    resume(folder, threads=1)
    assert_same(folder, undisturbed)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"workers": 0}, "workers: must be a whole number from 1 up, got 0"),
        ({"workers": True}, "workers: must be a whole number"),
        ({"workers": 5_000}, "workers: must be at most 4,096"),
        ({"workers": 2, "scheduler": "tcp://127.0.0.1:1"}, "not both"),
        ({"workers": 2, "threads": 2}, "threads: workers resolve on one thread each"),
        ({"scheduler": "foo://x:1"}, "scheduler: must be the address of a scheduler"),
        ({"scheduler": ""}, "scheduler: must be the address of a scheduler"),
    ],
)
def test_what_cannot_be_used_is_said(given: dict[str, Any], words: str) -> None:
    with pytest.raises(ScenarioError) as caught, choose_executor(**given):
        pass
    assert words in str(caught.value)


def test_a_wrong_address_leaves_no_folder(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="must be the address of a scheduler"):
        sweep(small(), tmp_path / "deep" / "out", scheduler="foo://x:1")
    assert not (tmp_path / "deep").exists()


def test_a_missing_extra_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("simcore.run.cluster")
    monkeypatch.setitem(sys.modules, "simcore.run.cluster", None)
    words = r'workers: needs Dask .*pip install "simcore\[cluster\]"'
    with pytest.raises(ScenarioError, match=words), choose_executor(workers=1):
        pass


def test_nothing_else_knows_dask() -> None:
    code = (
        "import sys, simcore.run.session, analysis.cli; sys.exit('dask' in sys.modules or 'distributed' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


def test_what_differs_between_two_identities() -> None:
    ours = Identity("1", "ab", "2", "3", "4", "3.11")
    assert ours.differences(ours) == ""
    assert (
        ours.differences(ours._replace(numba="9", python="3.12")) == "numba 9 instead of 2, python 3.12 instead of 3.11"
    )
