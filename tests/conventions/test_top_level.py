"""What lies at the top of the repository: results of a run that was started there do not belong to it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ALLOWED = {
    ".ci", ".gitignore", ".pre-commit-config.yaml", "CHANGELOG.md", "LICENSE", "README.md", "analysis", "benchmarks",
    "docs", "examples", "pyproject.toml", "simcore", "tests",
}  # fmt: skip


def test_nothing_else_is_in_the_repository() -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert {name.split("/")[0] for name in listed.split("\0") if name} == ALLOWED
