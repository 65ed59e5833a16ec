"""The arrows between the modules, and what importing costs."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HEAVY = {"numba", "numpy", "pandas", "pyarrow", "pydantic", "plotly", "jinja2", "rich", "scipy", "dask"}


def _loaded_after(statement: str) -> set[str]:
    """Return the top-level names that a fresh interpreter has loaded after `statement`."""
    code = f"{statement}\nimport sys, json\nprint(json.dumps(sorted({{m.split('.')[0] for m in sys.modules}})))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_contracts_of_import_linter_hold() -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports())",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("statement", ["import simcore", "import analysis", "import analysis.cli"])
def test_importing_loads_nothing_heavy(statement: str) -> None:
    assert not HEAVY & _loaded_after(statement)


def test_scenarios_are_checked_without_numba_and_pandas() -> None:
    loaded = _loaded_after("from simcore.scenario import load_scenario, load_sweep, scenario_schema, sweep_schema")
    assert not {"numba", "pandas", "pyarrow", "plotly"} & loaded
