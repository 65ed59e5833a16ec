"""A sweep of a million exact land battles: how long it takes, phase by phase, and how much memory.

    python benchmarks/million.py                     # all of million.toml
    python benchmarks/million.py --defenders 20      # the same attackers against 20 of the defenders
    python benchmarks/million.py --report            # with the summary and the report of ``simcore sweep``
    python benchmarks/million.py --workers 2         # on a Dask cluster of worker processes

Kernels are compiled before the clock starts. Times are wall time; the machine should have nothing else to do.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
import tomllib
from collections import defaultdict
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

from simcore import api
from simcore.run import session
from simcore.run.plan import plan_sweep
from simcore.run.store import Store
from simcore.scenario import load_sweep

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HERE = Path(__file__).resolve().parent


def read_sweep(defenders: int | None) -> dict[str, Any]:
    """Return the sweep, with fewer defenders when they are given, spread over all of them."""
    table = tomllib.loads((HERE / "million.toml").read_text(encoding="utf-8"))
    if defenders is not None:
        mixes = plan_sweep(load_sweep(table)).points[0].defenders
        step = max(1, len(mixes) // defenders)
        table["defender"] = {"mixes": [mixes[i].units for i in range(0, len(mixes), step)][:defenders]}
    return table


@contextmanager
def timed(spent: dict[str, float]) -> Iterator[None]:
    """Add up the time spent in the phases that run inside a sweep."""

    def around(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def wrapper(*args: Any, **options: Any) -> Any:
            began = time.perf_counter()
            try:
                return function(*args, **options)
            finally:
                spent[name] += time.perf_counter() - began

        return wrapper

    phases = [
        ("encode", api, "encode_checked"),
        ("solve", api, "solve_checked"),
        ("load scenarios", session._Matchups, "take"),
        ("name parts", session, "content_name"),
        ("write parts", Store, "write_part"),
        ("tables", session.Session, "_tabulate"),
    ]
    patches = [mock.patch.object(home, name, around(label, getattr(home, name))) for label, home, name in phases]
    for patch in patches:
        patch.start()
    try:
        yield
    finally:
        for patch in patches:
            patch.stop()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--defenders", type=int, help="only so many defenders")
    parser.add_argument("--threads", type=int, help="threads of this process")
    parser.add_argument("--workers", type=int, help="worker processes")
    parser.add_argument("--out", type=Path, help="folder that keeps the results")
    parser.add_argument("--report", action="store_true", help="summary and report too")
    given = parser.parse_args()
    config = load_sweep(read_sweep(given.defenders))
    spent: dict[str, float] = defaultdict(float)
    with tempfile.TemporaryDirectory() as scratch:
        small = {"sweep": {"name": "warm", "method": "exact"}}
        small |= {side: {"mixes": ["1 infantry, 1 tank"]} for side in ("attacker", "defender")}
        session.sweep(small, Path(scratch) / "warm")
        out = given.out or Path(scratch) / "out"
        began, cpu = time.perf_counter(), time.process_time()
        with timed(spent):
            run = session.sweep(config, out, resume=False, threads=given.threads, workers=given.workers)
        whole = time.perf_counter() - began
        cpu = time.process_time() - cpu
        print(f"{run.matchups:,} matchups in {whole:.1f} s: {whole / run.matchups * 1e6:.0f} us each")
        print(f"processor time of this process: {cpu:.1f} s, {cpu / run.matchups * 1e6:.0f} us each")
        for name, seconds in spent.items():
            show_share(name, seconds, whole, run.matchups)
        show_share("the rest", whole - sum(spent.values()), whole, run.matchups)
        show_memory("sweep")
        size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
        tables = {path.name: path.stat().st_size / 1e6 for path in out.glob("*.parquet")}
        print(f"disk {size / 1e6:,.0f} MB, of them " + ", ".join(f"{name} {mb:,.0f}" for name, mb in tables.items()))
        if given.report:
            import analysis  # noqa: PLC0415 - only the report needs it

            began = time.perf_counter()
            summary = analysis.summarize(out)
            print(f"summary {time.perf_counter() - began:.1f} s")
            show_memory("summary")
            began = time.perf_counter()
            analysis.report(summary)
            print(f"report {time.perf_counter() - began:.1f} s")
            show_memory("report")
    return 0


def show_share(name: str, seconds: float, whole: float, matchups: int) -> None:
    """Print what a phase took."""
    print(f"  {name:<16}{seconds:8.1f} s {seconds / matchups * 1e6:6.1f} us each {100 * seconds / whole:5.1f} %")


def show_memory(what: str) -> None:
    """Print the largest memory so far of this process, and of any worker."""
    own, others = (resource.getrusage(who).ru_maxrss / 1e6 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    print(f"peak memory up to the {what}: {own:.2f} GB, largest worker {others:.2f} GB")


if __name__ == "__main__":
    sys.exit(main())
