"""What starting costs: help and completion answer at once and load nothing heavy."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import pytest

import simcore
from analysis.cli import option
from simcore import scenario

if TYPE_CHECKING:
    from tests.cli.conftest import Cli

VERBS = [
    "odds", "sweep", "resume", "nightly", "report", "compare", "export", "share", "replay", "rulesets", "schema",
    "doctor",
]  # fmt: skip
REPORT_MODULES = (
    "import sys; sys.argv[0] = 'simcore'\n"
    "from analysis.cli import main\n"
    "try:\n    main()\n"
    "except SystemExit:\n    pass\n"
    "print(*sorted({name.split('.')[0] for name in sys.modules}), file=sys.stderr)"
)


def _modules_of(*arguments: str, **environment: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", REPORT_MODULES, *arguments],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **environment},
    )
    return set(done.stderr.splitlines()[-1].split())


@pytest.mark.parametrize("arguments", [["--help"], ["odds", "--help"], ["sweep", "--help"], ["--version"]])
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    # Typer itself reads options by pydantic.
    heavy = {"numba", "numpy", "pandas", "pyarrow", "plotly", "jinja2", "rich"}
    assert not heavy & _modules_of(*arguments)


def test_completion_offers_verbs_without_numba() -> None:
    code = "from analysis.cli import main; main()"
    environment = {
        **os.environ,
        "_SIMCORE_COMPLETE": "complete_bash",
        "COMP_WORDS": "simcore ",
        "COMP_CWORD": "1",
    }
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    assert {"resume", "nightly", "report", "compare", "export", "share", "replay"} <= set(done.stdout.split())
    assert "numba" not in done.stderr


def test_help_names_all_verbs(cli: Cli) -> None:
    text = cli("--help").out
    for verb in VERBS:
        assert f"  {verb} " in text


def test_no_arguments_is_the_help(cli: Cli) -> None:
    answer = cli()
    assert "Usage: simcore" in answer.out + answer.err
    assert answer.code == 2


def test_version(cli: Cli) -> None:
    answer = cli("--version")
    assert answer.code == 0
    assert answer.out == f"simcore {simcore.__version__}\n"


def test_the_version_is_that_of_the_distribution() -> None:
    project = tomllib.loads((Path(__file__).resolve().parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["version"] == simcore.__version__


@pytest.mark.parametrize(
    "arguments",
    [
        ["oods"],
        ["odds", "--batles", "3"],
        ["odds", "1 inf", "1 inf", "--battles", "many"],
        ["schema", "colour"],
        ["sweep"],
    ],
)
def test_wrong_usage_is_exit_2(cli: Cli, arguments: list[str]) -> None:
    answer = cli(*arguments)
    assert answer.code == 2
    assert answer.out == ""
    assert re.search(r"Error|Invalid|Missing", answer.err)


def test_a_wrong_value_is_one_line(cli: Cli) -> None:
    assert cli("sweep").problem == "simcore sweep: Missing argument 'SWEEP.toml'."
    assert "--battles" in cli("odds", "1 inf", "1 inf", "--battles", "many").problem


def test_a_misspelt_verb_gets_a_near_match(cli: Cli) -> None:
    assert "odds" in cli("oods").err


def test_choices_are_those_of_the_files() -> None:
    assert [choice.value for choice in option.Pairing] == list(get_args(scenario.Pairing))
    assert [choice.value for choice in option.Method] == list(get_args(scenario.Method))
