"""Compare two pytest-benchmark reports by their minima.

    python benchmarks/compare.py base.json head.json [--fail-at 25]

Minima are the only figures that a shared machine repeats. The exit code is 1 when a benchmark became slower by
more than the limit, 2 for unusable reports.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path


def minima(path: Path) -> dict[str, float]:
    """Return the minimum time of each benchmark of a report, in seconds."""
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
        return {entry["fullname"]: float(entry["stats"]["min"]) for entry in report["benchmarks"]}
    except (OSError, ValueError, KeyError, TypeError) as problem:
        print(f"{path}: not a benchmark report: {problem}", file=sys.stderr)
        raise SystemExit(2) from None


def main() -> int:
    parser = argparse.ArgumentParser(description="Compare two benchmark reports by their minima.")
    parser.add_argument("base", type=Path)
    parser.add_argument("head", type=Path)
    parser.add_argument("--fail-at", type=float, default=25.0, help="per cent slower that fails")
    parser.add_argument("--warn-at", type=float, default=10.0, help="per cent slower that is marked")
    options = parser.parse_args()
    base, head = minima(options.base), minima(options.head)
    slower = False
    for name in sorted(base.keys() | head.keys()):
        if name not in base or name not in head:
            print(f"{'only in ' + ('head' if name in head else 'base'):>28}  {name}")
            continue
        change = 100 * (head[name] / base[name] - 1)
        mark = "FAIL" if change > options.fail_at else "warn" if change > options.warn_at else ""
        slower |= change > options.fail_at
        print(f"{base[name] * 1e3:>9.3f} {head[name] * 1e3:>9.3f} ms {change:>+6.1f} % {mark:<4} {name}")
    return int(slower)


if __name__ == "__main__":
    raise SystemExit(main())
