"""The examples run as their comments say, on few battles."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Cli

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
COMMAND = re.compile(r"^#\s+simcore (.+)$", re.MULTILINE)
COMMANDS = [
    pytest.param(shlex.split(words), id=f"{path.name}: {words}")
    for path in sorted(EXAMPLES.glob("*.toml"))
    for words in COMMAND.findall(path.read_text(encoding="utf-8"))
]


def test_every_example_says_how_to_run_it() -> None:
    for path in EXAMPLES.glob("*.toml"):
        assert COMMAND.search(path.read_text(encoding="utf-8")), path.name


@pytest.mark.parametrize("words", COMMANDS)
def test_commands_in_the_examples(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]) -> None:
    monkeypatch.chdir(ROOT)
    few = {"odds": ["--battles", "500"], "sweep": ["--battles", "200", "--out", str(tmp_path / "out")]}
    answer = cli(*words, *few.get(words[0], []))
    assert answer.code == 0, answer.err
    assert answer.out.strip()
    if words[0] == "sweep":
        assert (tmp_path / "out" / "report.html").stat().st_size > 10_000
    assert cli(*words, *few.get(words[0], []), "--json").json


def test_the_script(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "one_battle.py"), "500"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    assert "attacker_wins" in done.stdout


def test_the_example_of_the_documents_is_the_same() -> None:
    example = tomllib.loads((EXAMPLES / "house-rules.toml").read_text(encoding="utf-8"))["heavy_armour"]
    assert example["base"] == "spring1942"


def test_the_readme_runs_an_example() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for name in re.findall(r"examples/[\w.-]+", text):
        assert (ROOT / name).exists(), name
