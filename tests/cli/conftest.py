"""Ways to run the command line in tests."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from typer.testing import CliRunner

import simcore
from analysis.cli import app


@dataclass(frozen=True)
class Answer:
    """What a command printed and how it ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """The one JSON object of stdout."""
        found = json.loads(self.out)
        assert isinstance(found, dict)
        return found

    @property
    def problem(self) -> str:
        """The one line on stderr of a command that refused its input."""
        assert self.code == 2, (self.code, self.out, self.err)
        assert self.out == ""
        lines = self.err.splitlines()
        assert len(lines) == 1, self.err
        return lines[0]


Cli = Callable[..., Answer]


@pytest.fixture(scope="session", autouse=True)
def compiled() -> None:
    """Compile before the first test, so that no test sees the line that tells about it."""
    duel = {"attacker": {"units": "1 infantry"}, "defender": {"units": "1 infantry"}}
    for threads in (1, 2):
        simcore.odds(scenario=duel, battles=10, threads=threads)
    simcore.replay(duel)


@pytest.fixture
def cli() -> Cli:
    """Run a command in this process."""

    def call(*arguments: object) -> Answer:
        done = CliRunner().invoke(app, [str(argument) for argument in arguments])
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        return Answer(done.exit_code, done.stdout, done.stderr)

    return call


@pytest.fixture
def shell() -> Cli:
    """Run a command as its own process, as from a shell."""

    def call(*arguments: object, **options: Any) -> Answer:
        done = subprocess.run(
            [sys.executable, "-c", "from analysis.cli import main; main()", *map(str, arguments)],
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
            **options,
        )
        return Answer(done.returncode, done.stdout, done.stderr)

    return call
