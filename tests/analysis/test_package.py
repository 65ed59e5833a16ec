"""The package as such: lazy names, examples in docstrings."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import subprocess
import sys

import pytest

import analysis

MODULES = sorted(
    module.name for module in pkgutil.walk_packages(analysis.__path__, "analysis.") if module.name != "analysis.cli"
)


def test_public_names_are_verbs_found_lazily() -> None:
    assert set(analysis.__all__) <= set(dir(analysis))
    for name in analysis.__all__:
        assert callable(getattr(analysis, name))
        # A module of that name would take the verb's place once it is imported.
        assert f"analysis.{name}" not in MODULES
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = analysis.nothing


def test_importing_the_package_loads_nothing_heavy() -> None:
    heavy = ("numpy", "pandas", "plotly", "jinja2", "numba", "pyarrow")
    code = f"import sys, analysis; sys.exit(', '.join(name for name in {heavy} if name in sys.modules) or 0)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["analysis", *MODULES])
def test_examples_of_docstrings(name: str) -> None:
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0
