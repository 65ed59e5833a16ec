"""The compiled rules against the second writing of them: every row and reading, and the worked cases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simcore.rulesets.force_order.attack import resolve_rows
from simcore.rulesets.force_order.layout import KINDS, MOUNTS, PIECE_FIELDS, PLACES, ROW_FIELDS, TARGET, Result
from simcore.rulesets.force_order.options import OPTION_FIELDS, RuleOptions
from simcore.rulesets.force_order.rows import attack_rows, row_rules
from tests.rulesets.force_order import reference as ref

ROWS = 400
CASES = json.loads((Path(__file__).parent / "cases" / "attacks.json").read_text(encoding="utf-8"))
# The reference has words of its own for the tests that fail and for places of what is left behind.
REASONS = {
    "no_tip_clause": "mount",
    "cargo_target": "target_aboard",
    "not_on_land": "terrain",
    "not_at_sea": "terrain",
    "not_named": "target_kind",
    "no_result": "flag_refused",
    "not_beside": "range",
    "not_in_line": "range",
}
PARTS = {"square": "left", "carrier": "left", "stays": "left", "lifeboat": "on_lifeboat"} | {
    "attacker": "on_attacker",
    "attacker_tip": "on_tip",
}
WORDS = {"kind": KINDS, "mount": MOUNTS, "place": PLACES}

readings = st.builds(
    RuleOptions,
    plane_win=st.sampled_from(["stay", "take", "adjacent"]),
    plane_special_win=st.sampled_from(["adjacent", "stay"]),
    tie=st.sampled_from(["both_die", "attacker_wins", "defender_wins", "both_stay"]),
    adjacency=st.sampled_from(["orthogonal", "diagonal"]),
    plane_line_blocked=st.booleans(),
    lifeboat_saves=st.sampled_from(["own_load", "all_cargo"]),
    saboteur_is_soldier=st.booleans(),
    boat_attacks_saboteur=st.booleans(),
    plane_attacks_flag=st.sampled_from(["refused", "plane_dies", "plane_takes"]),
    own_flag_recovery=st.booleans(),
)


def random_rows(seed: int) -> npt.NDArray[np.int8]:
    """Return rows of every kind that can exist."""
    generator = np.random.default_rng(seed)
    high = [len(WORDS.get(name.split(".")[-1], "ab")) for name in ROW_FIELDS]
    rows = generator.integers(0, high, size=(ROWS * 150, len(ROW_FIELDS))).astype(np.int8)
    for base in (0, TARGET):  # most pieces stand on their own and hold little
        loose = generator.random(len(rows)) < 0.8
        rows[loose, base + PIECE_FIELDS.index("mount")] = 0
        rows[:, base + PIECE_FIELDS.index("tip_soldier")] &= rows[:, base + PIECE_FIELDS.index("cargo")]
    near = generator.integers(0, 4, len(rows))
    steps = np.array([[0, 1], [-1, 0], [0, -3], [2, 1]])
    rows[:, ROW_FIELDS.index("rows") : ROW_FIELDS.index("rows") + 2] = steps[near]
    rows[:, ROW_FIELDS.index("is_own")] = generator.random(len(rows)) < 0.1
    rows[:, ROW_FIELDS.index("result")] = generator.integers(0, len(Result), len(rows))
    impossible = np.zeros(len(rows), dtype=bool)
    for _, mask, _ in row_rules(rows):
        impossible |= mask
    return np.ascontiguousarray(rows[~impossible][:ROWS])


def reference_row(row: npt.NDArray[np.int8]) -> dict[str, Any]:
    values = dict(zip(ROW_FIELDS, row.tolist(), strict=True))
    pieces: dict[str, dict[str, Any]] = {"attacker": {}, "target": {}}
    for part, fields in pieces.items():
        for name in PIECE_FIELDS:
            value = values[f"{part}.{name}"]
            fields[name] = WORDS[name][value] if name in WORDS else bool(value)
    pieces["target"]["own"] = bool(values["is_own"])
    result = Result(values["result"]).name.lower()
    duel = {"ranks": (values["attacker_rank"], values["target_rank"])} if result == "by_rank" else {"result": result}
    return {**pieces, **duel} | {name: values[name] for name in ("rows", "columns", "blocked", "beside_taken")}


def assert_same(told: dict[str, Any], answer: ref.Answer, attacker: str, what: object) -> None:
    """Compare an answer of the compiled rules with one of the reference."""
    assert REASONS.get(told["reason"], told["reason"]) == answer.reason, what
    assert told["outcome"] == answer.outcome, what
    assert told["position"] == answer.position, what
    assert tuple(told["square"]) == (answer.square or (0, 0)), what
    for side in ("attacker", "target"):
        fate: ref.Fate = getattr(answer, side)
        found = told[side]
        expected = {"fate": fate.life} | {name: getattr(fate, name) for name in ("flag", "lifeboat", "cargo", "mine")}
        assert found == {name: PARTS.get(value, value) for name, value in expected.items()}, what
    if answer.reason == "legal":
        assert set(told["clauses"]) == answer.clauses, what
        if attacker == "lifeboat":  # the reference names one doubt of a pair, and that a lifeboat attacks is another
            answer.coverage.add("FA-11")
        assert set(told["gaps"]) == answer.coverage, what
    # Of an attack that fails, the reference names every gap that its pieces touch, and not only what failed it.
    assert set(told["gaps"]) <= answer.coverage, what


@settings(max_examples=8)
@given(readings, st.integers(0, 2**32))
def test_every_row_and_reading(options: RuleOptions, seed: int) -> None:
    rows = random_rows(seed)
    chosen = options.model_dump(include={*OPTION_FIELDS})
    found = resolve_rows(rows, options, threads=1)
    for i, row in enumerate(rows):
        given_row = reference_row(row)
        assert_same(
            found.describe(i), ref.resolve(given_row, ref.Options(**chosen)), given_row["attacker"]["kind"], given_row
        )


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_worked_cases(case: dict[str, Any]) -> None:
    start, goal = case["attacker"]["at"], case["target"]["at"]
    columns: dict[str, Any] = {"rows": [goal[0] - start[0]], "columns": [goal[1] - start[1]]}
    columns["blocked"] = [case.get("blocked", False)]
    columns["result"] = [case.get("result", "win")]
    for part in ("attacker", "target"):
        columns |= {f"{part}.{name}": [value] for name, value in case[part].items() if name != "at"}
    chosen = {name: value for name, value in case.get("options", {}).items() if name != "tip_capacity"}
    found = resolve_rows(attack_rows(columns), RuleOptions(**chosen), threads=1).describe(0)
    expect = case["expect"]
    assert found["outcome"] == expect["outcome"]
    assert REASONS.get(found["reason"], found["reason"]) == expect.get("reason", "legal")
    assert found["position"] == expect.get("position", "none")
    if "attacker_at" in expect:
        assert [a + b for a, b in zip(start, found["square"], strict=True)] == expect["attacker_at"]
    silent = "none" if expect["outcome"] == "illegal" else "lives"
    for part in ("attacker", "target"):
        assert found[part]["fate"] == expect.get(part, silent)
        for held in ("cargo", "lifeboat", "mine", "flag"):
            value = expect.get(f"{part}_{held}", "none")
            assert found[part][held] == PARTS.get(value, value)
    assert set(case["clauses"]) <= set(found["clauses"])
