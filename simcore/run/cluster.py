"""Parts resolved by a Dask cluster: a running one, or worker processes on this machine.

The only module that knows Dask; it is imported when a cluster is asked for. Workers are processes that resolve one
part at a time on one thread, and a part is the same wherever it is resolved. What a cluster adds is that things go
wrong far away, so this module decides what then happens:

* a worker that dies gives its parts back, and they are resolved elsewhere;
* a part in whose company workers died again and again is put aside and tried once more alone at the end; only then
  is it given up, by name, so that a neighbour is never blamed;
* a worker with other sources, or other libraries that kernels are compiled with, is refused by name;
* a worker that is slow at the end is raced by an idle one, and the first answer counts: both are the same;
* a scheduler that is gone ends the run. Everything that was handed over is stored, and the run can be resumed.

Dask moves pickled objects and runs what it is sent: whoever reaches scheduler or workers can run code there. It must
be kept to a network, or to certificates (TLS), that one trusts.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import functools
import logging
import pickle
import platform
import statistics
import tempfile
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import dask
import llvmlite
import numba
import numpy as np
from distributed import Client, LocalCluster, wait
from distributed.scheduler import KilledWorker

import simcore
from simcore.core.jit import source_digest
from simcore.errors import ClusterError, ScenarioError
from simcore.model import shown
from simcore.run.executor import Job, resolve_part

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from distributed import Future

    from simcore.run.store import PartRows

__all__ = ["DaskExecutor", "Identity", "local_cluster", "running_cluster"]

_PER_WORKER: Final = 3
"""Parts that a worker has at once: the one it resolves and what keeps it busy while answers travel."""
_CONNECT_S: Final = 30.0
"""For workers of our own, which a busy machine starts slowly."""
_REACH_S: Final = 10.0
"""For a scheduler that runs already; a wrong address is tried for so long."""
_NO_WORKER_S: Final = 300.0
_LOOK_S: Final = 1.0
"""How often the state of the cluster is looked at while nothing happens."""
_LOCAL: Final = {
    "distributed.worker.multiprocessing-method": "spawn",
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": 2**28,
    "distributed.nanny.pre-spawn-environ.MALLOC_MMAP_THRESHOLD_": 2**25,
}
"""Of a cluster of our own: kernels hang in forked processes, nobody looks at its pages, and memory that is given back
after each call, as Dask has it, costs a quarter of the speed."""
_SLOW: Final = 3.0
"""A part that takes this many times the usual time is slow."""
_SLOW_LEAST_S: Final = 2.0
_CANCELLED: Final = (asyncio.CancelledError, concurrent.futures.CancelledError)
_GONE: Final = frozenset({"closed", "closing", "connecting"})


class Identity(NamedTuple):
    """What must be the same on all workers for results to be the same to the bit.

    Attributes
    ----------
    simcore : str
        Version.
    sources : str
        Digest of all source files.
    numba, llvmlite, numpy, python : str
        Versions of what kernels are compiled with; of Python the first two numbers.
    """

    simcore: str
    sources: str
    numba: str
    llvmlite: str
    numpy: str
    python: str

    def differences(self, other: Identity) -> str:
        """Return in words what another one has that is not as here."""
        return ", ".join(
            f"{name} {theirs} instead of {ours}"
            for name, ours, theirs in zip(self._fields, self, other, strict=True)
            if ours != theirs
        )


@functools.cache
def identity() -> Identity:
    """Return the identity of this process.

    Returns
    -------
    Identity
    """
    python = ".".join(platform.python_version_tuple()[:2])
    return Identity(
        simcore.__version__, source_digest(), numba.__version__, llvmlite.__version__, np.__version__, python
    )


@dataclass(frozen=True)
class _Refused:
    """Answer of a worker that is not of the kind that was asked for."""

    worker: str
    found: Identity


def _resolve(packed: bytes, expected: Identity) -> PartRows | _Refused:
    """Resolve a part on a worker, in its one thread."""
    found = identity()
    if found != expected:
        from distributed import get_worker  # noqa: PLC0415 - only workers have one

        return _Refused(get_worker().address, found)
    job: Job = pickle.loads(packed)  # noqa: S301 - Dask itself runs what it is sent; see the top of this module
    return resolve_part(job, threads=1)


@dataclass(eq=False)
class _Flight:
    """A part that is being resolved, by more than one worker when the first is slow."""

    job: Job
    began: float
    futures: list[Future[Any]] = field(default_factory=list)
    allowed: frozenset[str] = frozenset()
    """Workers that may resolve it; empty for all."""


class DaskExecutor:
    """Resolves parts on the workers of a Dask cluster.

    Few parts are on their way at a time, so that memory here and there does not grow with the sweep; Dask moves waiting
    ones from busy to idle workers.

    Parameters
    ----------
    client : distributed.Client
        Connected; it stays open.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._expected = identity()
        self._good: set[str] = set()
        self._refused: dict[str, str] = {}
        self._flights: dict[str, _Flight] = {}
        self._owners: dict[Future[Any], _Flight] = {}
        self._suspects: list[Job] = []
        self._times: list[float] = []
        self._numbers = 0
        self._looked = 0.0

    @property
    def refused(self) -> dict[str, str]:
        """Workers that get no parts, by address, and why."""
        return dict(self._refused)

    def run(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, PartRows]]:
        """Resolve `jobs`, in the order in which workers finish them.

        Parameters
        ----------
        jobs : iterable of Job
            Taken as workers become free.

        Yields
        ------
        Job, PartRows

        Raises
        ------
        ClusterError
            When the scheduler is gone, when there is no usable worker, or at the end for parts that kill workers.
        """
        try:
            self._wait_for_workers()
            yield from self._run_all(iter(jobs))
            yield from self._run_suspects()
        finally:
            self._cancel(list(self._owners))
            self._flights.clear()
            self._owners.clear()

    def _run_all(self, jobs: Iterator[Job]) -> Iterator[tuple[Job, PartRows]]:
        is_more = True
        while is_more or self._flights:
            while is_more and len(self._flights) < _PER_WORKER * len(self._good):
                job = next(jobs, None)
                is_more = job is not None
                if job is not None:
                    self._start(job)
            if self._flights:
                yield from self._collect()
                if not is_more:
                    self._race()

    def _run_suspects(self) -> Iterator[tuple[Job, PartRows]]:
        """Try parts alone that were running when workers died; those that kill again are given up by name."""
        guilty: list[Job] = []
        suspects, self._suspects = self._suspects, []
        for job in suspects:
            self._start(job)
            while self._flights:
                yield from self._collect()
            guilty += self._suspects
            self._suspects = []
        if guilty:
            shown_parts = "; ".join(
                f"part {job.name} (matchups {int(job.segments[0, 0])} to {int(job.segments[-1, 0])})" for job in guilty
            )
            raise ClusterError(
                f"workers died whenever they resolved {shown_parts}, which a lack of memory may explain; "
                "all other parts are stored"
            )

    def _start(self, job: Job) -> None:
        self._flights[job.name] = flight = _Flight(job, time.monotonic())
        self._submit(flight)

    def _submit(self, flight: _Flight) -> None:
        self._numbers += 1
        flight.allowed = frozenset(self._good if self._refused else ())
        future = self._client.submit(
            _resolve,
            # Packed, so that nobody but the worker unpacks it: the scheduler looks into all else that it passes on.
            pickle.dumps(flight.job, protocol=pickle.HIGHEST_PROTOCOL),
            self._expected,
            key=f"{flight.job.name}-{self._numbers}",
            workers=sorted(flight.allowed) or None,
            pure=False,
        )
        flight.futures.append(future)
        self._owners[future] = flight

    def _collect(self) -> Iterator[tuple[Job, PartRows]]:
        """Yield what is finished, after waiting a moment for something to be."""
        with self._client.as_current(), contextlib.suppress(TimeoutError, *_CANCELLED):
            wait(list(self._owners), timeout=_LOOK_S, return_when="FIRST_COMPLETED")
        self._check_scheduler()
        if time.monotonic() > self._looked + _LOOK_S:
            self._look_at_workers()
            self._rescue()
        for future in [future for future in self._owners if future.status != "pending"]:
            flight = self._owners.get(future)
            if flight is None:  # the other copy of a part that was handed over just now
                continue
            answer = self._take(future, flight)
            if answer is not None:
                self._times.append(time.monotonic() - flight.began)
                yield flight.job, answer
        self._check_scheduler()

    def _take(self, future: Future[Any], flight: _Flight) -> PartRows | None:
        """Return the answer of a finished future; None when there is none and the part is on its way again."""
        if future.status in {"cancelled", "lost"}:
            raise self._lost()
        if future.status == "error":
            problem = future.exception()
            self._drop(flight)
            if not isinstance(problem, KilledWorker):
                raise problem
            self._suspects.append(flight.job)
            return None
        answer: PartRows | _Refused = future.result()
        if isinstance(answer, _Refused):
            if answer.worker not in self._refused:
                self._refuse(answer.worker, f"{answer.worker} has {self._expected.differences(answer.found)}")
            flight.futures.remove(future)
            del self._owners[future]
            self._wait_for_workers()
            self._submit(flight)
            return None
        self._drop(flight)
        if not np.array_equal(answer.segments, flight.job.segments):
            raise ClusterError(f"part {flight.job.name}: a worker sent the rows of another part")
        return answer

    def _drop(self, flight: _Flight) -> None:
        """Forget a part and cancel what is still running for it."""
        del self._flights[flight.job.name]
        for future in flight.futures:
            self._owners.pop(future, None)
        self._cancel([future for future in flight.futures if future.status == "pending"])

    def _rescue(self) -> None:
        """Send parts on whose last allowed worker is gone: they would wait for it for ever."""
        self._wait_for_workers()
        for flight in self._flights.values():
            if flight.allowed and not flight.allowed & self._good:
                for future in flight.futures:
                    del self._owners[future]
                self._cancel(flight.futures)
                flight.futures.clear()
                self._submit(flight)

    def _cancel(self, futures: list[Future[Any]]) -> None:
        if futures and self._client.status == "running":
            # The scheduler may go in this very moment: then there is nothing to cancel.
            with contextlib.suppress(TimeoutError, OSError, *_CANCELLED):
                self._client.cancel(futures, force=True)

    def _race(self) -> None:
        """Let idle workers resolve parts that take unusually long, when no others are left."""
        if len(self._times) < _PER_WORKER:
            return
        limit = max(_SLOW * statistics.median(self._times), _SLOW_LEAST_S)
        now = time.monotonic()
        slow = [f for f in self._flights.values() if len(f.futures) == 1 and now - f.began > limit]
        if not slow:
            return
        busy = {worker for worker, keys in self._client.processing().items() if keys}
        # Only as many as there are idle workers, or the copies would wait behind others.
        for flight, _ in zip(slow, self._good - busy, strict=False):
            self._submit(flight)

    def _check_scheduler(self) -> None:
        if self._client.status in _GONE:
            raise self._lost()

    def _lost(self) -> ClusterError:
        address = getattr(self._client.scheduler, "address", None) or "of the cluster"
        return ClusterError(f"the scheduler {address} is gone or was restarted; all parts it handed over are stored")

    def _wait_for_workers(self) -> None:
        """Wait until there is a worker that can be used."""
        end = time.monotonic() + _NO_WORKER_S
        while not self._good:
            self._check_scheduler()
            self._look_at_workers()
            if self._good:
                return
            if self._refused or time.monotonic() > end:
                reasons = "; ".join(f"{worker}: {reason}" for worker, reason in self._refused.items())
                raise ClusterError(f"no worker can be used ({reasons or 'none has joined the cluster'})")
            time.sleep(_LOOK_S / 10)

    def _look_at_workers(self) -> None:
        """Take note of workers that went and check those that came."""
        self._looked = time.monotonic()
        known: dict[str, Any] = self._client.scheduler_info(n_workers=-1)["workers"]
        self._good &= known.keys()
        self._refused = {worker: reason for worker, reason in self._refused.items() if worker in known}
        new = sorted(known.keys() - self._good - self._refused.keys())
        if not new:
            return
        answers: dict[str, Any] = self._client.run(identity, workers=new, on_error="return")
        for worker, found in answers.items():
            name = known[worker].get("name", worker)
            label = f"{worker} ({name})" if name != worker else worker
            if isinstance(found, OSError):
                continue  # went in the meantime
            if not isinstance(found, tuple):
                self._refuse(worker, f"{label} has no usable simcore ({type(found).__name__}: {found})")
            elif Identity(*found) != self._expected:
                self._refuse(worker, f"{label} has {self._expected.differences(Identity(*found))}")
            else:
                self._good.add(worker)

    def _refuse(self, worker: str, reason: str) -> None:
        self._good.discard(worker)
        self._refused[worker] = reason
        logging.getLogger(__name__).warning("worker refused: %s", reason)


@contextlib.contextmanager
def running_cluster(address: str) -> Iterator[DaskExecutor]:
    """Connect to a running cluster; it goes on after the block.

    Parameters
    ----------
    address : str
        Of its scheduler, as in ``"tcp://10.0.0.1:8786"``; ``"tls://..."`` takes certificates from Dask's configuration.

    Yields
    ------
    DaskExecutor

    Raises
    ------
    ScenarioError
        When it is no address.
    ClusterError
        When there is no scheduler.
    """
    try:
        client = Client(address, timeout=_REACH_S, set_as_default=False, name="simcore")
    except OSError as problem:
        reason = " ".join(str(problem).split()) or type(problem).__name__
        raise ClusterError(f"cannot reach the scheduler {address}: {reason}") from problem
    except (ValueError, TypeError) as problem:
        raise ScenarioError(
            f'must be the address of a scheduler, as in "tcp://10.0.0.1:8786", got {shown(address)} ({problem})',
            field="scheduler",
        ) from problem
    try:
        yield DaskExecutor(client)
    finally:
        _close(client)


@contextlib.contextmanager
def local_cluster(workers: int) -> Iterator[DaskExecutor]:
    """Start worker processes on this machine, reachable from nowhere else, and stop them after the block.

    Parameters
    ----------
    workers : int
        Number of processes.

    Yields
    ------
    DaskExecutor
    """
    with (
        tempfile.TemporaryDirectory(prefix="simcore-workers-", ignore_cleanup_errors=True) as folder,
        dask.config.set(_LOCAL),
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address=None,
            scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},
            local_directory=folder,
            silence_logs=logging.CRITICAL,
        ) as cluster,
    ):
        client = Client(cluster, set_as_default=False, timeout=_CONNECT_S)
        try:
            yield DaskExecutor(client)
        finally:
            _close(client)


def _close(client: Client) -> None:
    """Close a client, whose scheduler may be gone."""
    with contextlib.suppress(OSError, TimeoutError, *_CANCELLED):
        client.close(timeout=_LOOK_S)
