"""Whatever Python functions are given, what is wrong is said in a sentence of the project's own errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import analysis
import simcore
from simcore.errors import SimcoreError
from tests.analysis.folders import Mix, matchup, write

if TYPE_CHECKING:
    from pathlib import Path

WRONG: dict[str, Any] = {
    "a whole number": 5,
    "a negative one": -1,
    "a number": 1.5,
    "nan": float("nan"),
    "true": True,
    "bytes": b"x",
    "a text": "abc",
    "nothing": "",
    "an object": object(),
    "numbers": [1],
    "lists in a list": [["a"]],
    "none in a list": [None],
    "an empty list": [],
    "a table": {"a": 1},
    "a table by numbers": {1: 2},
    "a set": {1},
    "an array": np.array([1.0, 2.0]),
    "a type": int,
    "a pair": ("a", "b"),
    "a huge number": 10**400,
}
DUEL = {"attacker": {"units": "2 infantry"}, "defender": {"units": "1 infantry"}}
SWEEP = {
    "sweep": {"name": "x", "method": "exact"},
    "attacker": {"mixes": ["2 infantry"]},
    "defender": {"mixes": ["1 infantry"]},
}

Call = tuple[Callable[..., object], dict[str, Any], str]


def _compare(**given: Any) -> object:
    return analysis.compare(given.pop("dir_a"), given.pop("dir_b"), **given)


def _calls(run: Path) -> dict[str, Call]:
    """Return functions with good arguments and the names of those that are made wrong one by one."""
    encoded = simcore.encode([DUEL])
    sides = {"attacker": "2 infantry", "defender": "1 infantry"}
    return {
        "odds": (
            simcore.odds,
            {**sides, "method": "exact"},
            "attacker defender scenario ruleset edition method battles seed pairing threads distribution",
        ),
        "encode": (simcore.encode, {"scenarios": [DUEL]}, "scenarios"),
        "simulate": (
            simcore.simulate,
            {"encoded": encoded, "battles": 2},
            "encoded battles seed first keep_battles pairing threads",
        ),
        "solve": (simcore.solve, {"encoded": encoded}, "encoded threads distribution"),
        "replay": (simcore.replay, {"scenario": DUEL}, "scenario battle seed pairing script"),
        "sweep": (
            simcore.sweep,
            {"path_or_config": SWEEP, "out": run / "none" / "x", "resume": False},
            "path_or_config out resume top_up threads progress",
        ),
        "load": (analysis.load, {"folder": run}, "folder"),
        "summarize": (analysis.summarize, {"run": run}, "run level"),
        "report": (analysis.report, {"folder": run, "out": run / "page.html"}, "folder out against"),
        "compare": (
            _compare,
            {"dir_a": run, "dir_b": run},
            "dir_a dir_b between metrics practical level fdr correction",
        ),
        "game": (analysis.game, {"run": run}, "run payoff point samples seed"),
        "price": (analysis.price, {"units": ["tank"], "sizes": [1]}, "units against sizes scenario"),
        "value": (analysis.value, {**sides, "units": ["tank"]}, "attacker defender scenario side units"),
        "need": (
            analysis.need,
            {"units": ["infantry"], "against": "1 infantry", "max_units": 3},
            "units against chance goal side each max_cost max_units scenario",
        ),
    }


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    wins = {"attacker_wins": 6, "defender_wins": 4}
    rows = [matchup(Mix("a"), Mix("b"), wins, method="exact"), matchup(Mix("a"), Mix("c"), wins, method="exact")]
    return write(tmp_path_factory.mktemp("run") / "run", rows)


@pytest.mark.parametrize(
    "name",
    [
        "odds", "encode", "simulate", "solve", "replay", "sweep", "load", "summarize", "report", "compare", "game",
        "price", "value", "need",
    ],
)  # fmt: skip
def test_wrong_types_are_refused_in_words(
    name: str, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # some of these are names of folders after all
    function, good, arguments = _calls(run)[name]
    # What a number may be is for other tests; it would be fought or solved.
    taken = {"battles", "first", "battle", "sizes", "threads", "seed"}
    for argument in arguments.split():
        for words, value in WRONG.items():
            if argument in taken and words in {"a whole number", "true"}:
                continue
            try:
                function(**{**good, argument: value})
            except SimcoreError as problem:
                text = str(problem)
                assert text, (argument, words)
                assert "\n" not in text, (argument, words)


def test_sentences_name_the_argument(run: Path) -> None:
    for call, start in (
        (lambda: analysis.price([["a"]]), "units: must be a list of units, got ['a'] in it"),  # type: ignore[list-item]
        (lambda: analysis.compare(run, run, metrics=[1]), "metrics: must be a list of metrics, got 1 in it"),  # type: ignore[list-item]
        (lambda: analysis.compare(run, run, practical=5), "practical: must be a table of sizes by kind, got 5"),  # type: ignore[arg-type]
        (lambda: analysis.load(5), "folder: must be the path of a folder, got 5"),  # type: ignore[arg-type]
        (lambda: simcore.encode([5]), "scenarios[0]: must be a scenario, as a table or the path of its file, got 5"),  # type: ignore[list-item]
        (lambda: simcore.sweep(5), "path_or_config: must be the path of a sweep file, got 5"),  # type: ignore[arg-type]
    ):
        with pytest.raises(SimcoreError) as caught:
            call()
        assert str(caught.value).startswith(start)
