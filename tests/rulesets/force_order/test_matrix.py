"""Every row of the matrix of attacks, through the compiled rules."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from simcore.rulesets.force_order.attack import Attacks, resolve_rows
from simcore.rulesets.force_order.rows import attack_rows

CASES = Path(__file__).parent / "cases"
N_ROWS, N_PAIRS, N_LEGAL = 998, 462, 286
RESULTS = {"W": "win", "L": "lose", "T": "tie", "-": "win", "AUTO": "win"}
# The printed places are columns; a carried flag has two places.
PART = {
    "-": "none",
    "dies": "dies",
    "left on the loser's square": "left",
    "stays on the loser's square with its own load": "left",
    "stays on the loser's square, on the lifeboat": "on_lifeboat",
    "on the attacker, turned to its side": "on_attacker",
    "on the attacker, turned to its side, on the tip": "on_tip",
}
FATES = {"-": "none", "lives": "lives", "dies": "dies", "lives, stays": "lives", "captured": "captured"}
POSITIONS = {"-": "none", "take": "take", "stay": "stay", "next": "beside"}


def piece(case: str, *, is_target: bool) -> dict[str, Any]:
    """Return the fields of a printed piece, read from its words."""
    words = case[4:]
    kind = next(k for k in ("lifeboat", "boat", "plane", "soldier", "saboteur", "flag", "mine") if words.startswith(k))
    if words.startswith("boat"):
        kind = "boat"
    mount = "none"
    if " on boat tip" in words:
        mount = "boat_tip"
    elif " on plane tip" in words:
        mount = "plane_tip"
    elif "aboard" in words:
        mount = "hold"
    at_sea = "sea" in words or mount in {"boat_tip", "hold"} or kind in {"boat", "lifeboat"}
    is_boat = kind == "boat"
    return {
        "kind": kind,
        "mount": mount,
        "place": "sea" if at_sea else "land",
        "mine": kind != "mine" and "mine" in words,
        "flag": kind != "flag" and "flag" in words,
        "lifeboat": is_boat and "lifeboat" in words,
        # The targets with a lifeboat or a flag have other cargo too: the matrix lets it die.
        "cargo": "cargo" in words
        or ", soldier on tip" in words
        or (is_target and is_boat and ("lifeboat" in words or "flag" in words)),
        "tip_soldier": ", soldier on tip" in words,
    }


def printed() -> list[dict[str, str]]:
    with (CASES / "matrix.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def rows_of(lines: list[dict[str, str]]) -> npt.NDArray[np.int8]:
    columns: dict[str, list[Any]] = {}
    for line in lines:
        for part, case in (("attacker", line["attacker_case"]), ("target", line["target_case"])):
            for name, value in piece(case, is_target=part == "target").items():
                columns.setdefault(f"{part}.{name}", []).append(value)
    columns["result"] = [RESULTS[line["result"]] for line in lines]
    return attack_rows({**columns, "columns": np.ones(len(lines), dtype=np.int64)})


LINES = printed()


@pytest.fixture(scope="module")
def attacks() -> Attacks:
    return resolve_rows(rows_of(LINES), threads=1)


def test_the_matrix_is_whole() -> None:
    pairs = {(line["attacker_case"], line["target_case"]): line["legal"] == "True" for line in LINES}
    assert (len(LINES), len(pairs), sum(pairs.values())) == (N_ROWS, N_PAIRS, N_LEGAL)


@pytest.mark.parametrize("case", sorted({line["attacker_case"] for line in LINES}))
def test_every_row_of_the_matrix(case: str, attacks: Attacks) -> None:
    chosen = [i for i, line in enumerate(LINES) if line["attacker_case"] == case]
    assert len({LINES[i]["target_case"] for i in chosen}) == N_PAIRS // 21
    for i in chosen:
        line, told = LINES[i], attacks.describe(i)
        is_legal = line["legal"] == "True"
        assert (told["reason"] == "legal") == is_legal, line
        assert (told["outcome"] == "illegal") == (not is_legal), line
        assert told["attacker"]["fate"] == FATES[line["attacker"]], line
        assert told["target"]["fate"] == FATES[line["target"]], line
        assert told["position"] == POSITIONS[line["attacker_pos"]], line
        for side in ("attacker", "target"):
            for held in ("cargo", "lifeboat", "mine", "flag"):
                assert told[side][held] == PART[line[f"{side}_{held}"]], (side, held, line)
        assert set(told["clauses"]) == set(re.findall(r"FO-\d+", line["clauses"])), line
        assert set(told["gaps"]) == set(re.findall(r"FA-\d+", line["coverage"])), line
        assert told["square"] == [0, 1 if told["position"] == "take" else 0], line


def test_clauses_of_the_matrix(attacks: Attacks) -> None:
    """Every clause decides some row, but for the four that leave it to the order of forces."""
    found = {int(name[3:]) for i in range(len(attacks)) for name in attacks.describe(i)["clauses"]}
    assert found == set(range(1, 36)) - {2, 11, 21, 27}


def test_all_threads_say_the_same() -> None:
    rows = np.tile(rows_of(LINES), (40, 1))
    one, all_ = resolve_rows(rows, threads=1), resolve_rows(rows)
    for name in ("answers", "clauses", "gaps"):
        assert np.array_equal(getattr(one, name), getattr(all_, name))
