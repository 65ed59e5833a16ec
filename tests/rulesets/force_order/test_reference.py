"""The reference against the printed matrix and the worked cases: an oracle has to be right before it judges."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.rulesets.force_order import reference as ref

rule = pytest.mark.rule

CASES = Path(__file__).parent / "cases"
PIECES: dict[str, dict[str, Any]] = json.loads((CASES / "matrix_pieces.json").read_text(encoding="utf-8"))
ATTACKS: list[dict[str, Any]] = json.loads((CASES / "attacks.json").read_text(encoding="utf-8"))
with (CASES / "matrix.csv").open(encoding="utf-8", newline="") as lines:
    MATRIX = list(csv.DictReader(lines))

# The words of the matrix in the words of the reference.
RESULT = {"W": "win", "L": "lose", "T": "tie"}
LIFE = {"lives": "lives", "lives, stays": "lives", "dies": "dies", "captured": "captured", "-": "none"}
POSITION = {"take": "take", "stay": "stay", "next": "beside", "-": "none"}
HELD = {
    "-": "none",
    "dies": "dies",
    "stays on the loser's square with its own load": "stays",
    "left on the loser's square": "square",
    "stays on the loser's square, on the lifeboat": "lifeboat",
    "on the attacker, turned to its side": "attacker",
    "on the attacker, turned to its side, on the tip": "attacker_tip",
}
ILLEGAL = {
    "land targets only": "terrain",
    "sea targets only": "terrain",
    "does not name mines": "target_kind",
    "does not name saboteurs": "target_kind",
    "does not name flags": "target_kind",
    "needs a soldier on the tip": "no_tip_soldier",
    "names only the tip": "not_on_tip",
    "says any piece; no clause gives the result": "flag_refused",
}


def printed_row(line: dict[str, str]) -> dict[str, Any]:
    """Return the attack that a line of the matrix is about, one square to the right."""
    row = {
        "attacker": PIECES[line["attacker_case"][:3]],
        "target": PIECES[line["target_case"][:3]],
        "rows": 0,
        "columns": 1,
    }
    if line["result"] in RESULT:
        row["result"] = RESULT[line["result"]]
    elif line["legal"] == "False":
        row["result"] = "win"
    return row


def held(answer: ref.Answer, side: str) -> list[str]:
    fate: ref.Fate = getattr(answer, side)
    return [fate.life, fate.cargo, fate.lifeboat, fate.mine, fate.flag]


def name(line: dict[str, str]) -> str:
    return f"{line['attacker_case'][:3]}-{line['target_case'][:3]}-{line['result']}"


def test_the_matrix_is_whole() -> None:
    assert len(MATRIX) == 998
    assert len({name(line) for line in MATRIX}) == 998
    pairs = {(line["attacker_case"], line["target_case"]): line["legal"] == "True" for line in MATRIX}
    assert len(pairs) == 21 * 22
    assert sum(pairs.values()) == 286


@pytest.mark.parametrize("line", [pytest.param(line, id=name(line)) for line in MATRIX])
def test_every_row_of_the_matrix(line: dict[str, str]) -> None:
    answer = ref.resolve(printed_row(line))
    assert (answer.outcome != "illegal") == (line["legal"] == "True")
    for side in ("attacker", "target"):
        wanted = [LIFE[line[side]]] + [HELD[line[f"{side}_{what}"]] for what in ("cargo", "lifeboat", "mine", "flag")]
        assert held(answer, side) == wanted
    assert answer.position == POSITION[line["attacker_pos"]]
    if line["legal"] == "True":
        assert answer.reason == "legal"
        assert answer.clauses == set(line["clauses"].split(", "))
        far = ref.resolve({**printed_row(line), "columns": 2})
        assert (far.reason == "legal") == (line["range"] == "row/column")
    else:
        licence, _, why = line["clauses"].replace(":", "").partition(" ")
        assert answer.reason == ILLEGAL[why]
        mounted = printed_row(line)["attacker"].get("mount", "none").replace("hold", "boat_tip")
        assert ref.LICENCE[printed_row(line)["attacker"]["kind"], mounted] == licence
        assert not answer.clauses
    assert answer.coverage == set(re.findall(r"FA-\d+", line["coverage"]))


def test_the_matrix_uses_every_clause() -> None:
    """All but the four sentences that refer to the order of forces, which stand behind every duel."""
    used = {clause for line in MATRIX for clause in ref.resolve(printed_row(line)).clauses}
    assert used == {f"FO-{n}" for n in range(1, 36)} - {"FO-2", "FO-11", "FO-21", "FO-27"}


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in ATTACKS])
def test_worked_cases(case: dict[str, Any]) -> None:
    start, goal = case["attacker"]["at"], case["target"]["at"]
    row: dict[str, Any] = {
        "attacker": {key: value for key, value in case["attacker"].items() if key != "at"},
        "target": {key: value for key, value in case["target"].items() if key != "at"},
        "rows": goal[0] - start[0],
        "columns": goal[1] - start[1],
        "blocked": case.get("blocked", False),
    }
    if "result" in case:
        row["result"] = case["result"]
    answer = ref.resolve(row, ref.Options(**case.get("options", {})))
    found: dict[str, Any] = {
        "outcome": answer.outcome,
        "reason": answer.reason,
        "position": answer.position,
        "leaves_carrier": answer.leaves_carrier,
    }
    if answer.square is not None:
        found["attacker_at"] = [start[0] + answer.square[0], start[1] + answer.square[1]]
    for side in ("attacker", "target"):
        fate: ref.Fate = getattr(answer, side)
        found[side] = fate.life
        found |= {f"{side}_{what}": getattr(fate, what) for what in ("cargo", "lifeboat", "mine", "flag")}
    # What a case does not mention is as if nothing happened.
    silent: dict[str, Any] = {
        key: "none" for key in found if key.partition("_")[2] in {"cargo", "lifeboat", "mine", "flag"}
    }
    legal = case["expect"]["outcome"] != "illegal"
    silent |= {"reason": "legal", "position": "none", "leaves_carrier": False}
    silent |= {"attacker": "lives", "target": "lives"} if legal else {"attacker": "none", "target": "none"}
    assert found == silent | case["expect"]
    assert set(case["clauses"]) <= answer.clauses


def test_the_worked_cases_are_all_here() -> None:
    assert {case["id"].partition(":")[0] for case in ATTACKS} == {f"FOC-{n:02}" for n in range(1, 36)}


# --------------------------------------------------------------------------------------------------
# Combinations beyond the matrix
# --------------------------------------------------------------------------------------------------


@st.composite
def pieces(draw: st.DrawFn, *, target: bool) -> dict[str, Any]:
    """Draw a piece that can exist; targets stand on a square of their own."""
    kind = draw(st.sampled_from(ref.KINDS if target else ref.KINDS[:5]))
    piece: dict[str, Any] = {"kind": kind, "place": draw(st.sampled_from(ref.PLACES))}
    if not target:
        piece["mount"] = draw(st.sampled_from(ref.MOUNTS))
    mount = piece.get("mount", "none")
    if kind in {"boat", "lifeboat"} or mount == "boat_tip":
        piece["place"] = "sea"
    elif kind == "soldier" and mount == "none":
        piece["place"] = "land"
    for what, holders in {
        "mine": {"soldier", "saboteur"},
        "flag": {"soldier", "saboteur", "boat", "lifeboat"} if mount != "plane_tip" else set[str](),
        "lifeboat": {"boat"},
        "cargo": {"boat", "lifeboat", "plane"},
        "tip_soldier": {"boat", "lifeboat", "plane"},
    }.items():
        if kind in holders:
            piece[what] = draw(st.booleans())
    return piece


options = st.builds(
    ref.Options,
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
rows = st.fixed_dictionaries(
    {
        "attacker": pieces(target=False),
        "target": pieces(target=True),
        "rows": st.integers(-3, 3),
        "columns": st.integers(-3, 3),
        "result": st.sampled_from(ref.RESULTS),
        "blocked": st.booleans(),
        "beside_taken": st.booleans(),
    }
)


@given(rows, options)
def test_an_attack_is_consistent(row: dict[str, Any], chosen: ref.Options) -> None:
    answer = ref.resolve(row, chosen)
    assert answer.reason in ref.REASONS
    assert answer.outcome in ref.OUTCOMES
    assert answer.position in ref.POSITIONS
    assert (answer.reason == "legal") == (answer.outcome != "illegal") == bool(answer.clauses)
    lives = {
        "attacker_wins": ("lives", "dies"),
        "defender_wins": ("dies", "lives"),
        "both_die": ("dies", "dies"),
        "both_stay": ("lives", "lives"),
        "flag_taken": ("lives", "captured"),
        "illegal": ("none", "none"),
    }
    assert (answer.attacker.life, answer.target.life) == lives[answer.outcome]
    assert (answer.square is not None) == (answer.attacker.life == "lives") == (answer.position != "none")
    for side in ("attacker", "target"):
        fate: ref.Fate = getattr(answer, side)
        piece = row[side]
        # Nothing happens to what a living piece holds; all a dead piece holds gets a fate, and no flag dies.
        for what in ("cargo", "lifeboat", "mine", "flag"):
            there = piece.get(what, False) or (what == "cargo" and piece.get("tip_soldier", False))
            assert (getattr(fate, what) != "none") == (fate.life == "captured" and what == "flag") or (
                fate.life == "dies" and there
            )


@given(rows, options)
def test_the_fates_of_the_two_sides_do_not_mix(row: dict[str, Any], chosen: ref.Options) -> None:
    """In a tie each side fares as if it had lost; the way of a plane changes nothing but its square."""
    won, lost, tied = (ref.resolve({**row, "result": result}, chosen) for result in ref.RESULTS)
    assert won.reason == lost.reason == tied.reason
    if chosen.tie == "both_die" and tied.outcome == "both_die":
        assert tied.attacker == lost.attacker
        assert tied.target == won.target
        assert won.attacker == lost.target == ref.Fate()
    answer = ref.resolve(row, chosen)
    turned = ref.resolve({**row, "rows": -row["columns"], "columns": row["rows"]}, chosen)
    assert (turned.reason, turned.outcome, turned.position) == (answer.reason, answer.outcome, answer.position)
    if answer.square is not None:
        assert turned.square == (-answer.square[1], answer.square[0])


@given(rows)
def test_only_a_tip_soldier_changes_what_may_be_attacked(row: dict[str, Any]) -> None:
    bare = {key: row["attacker"][key] for key in ("kind", "place", "mount")}
    answer, plain = ref.resolve(row), ref.resolve({**row, "attacker": bare})
    if row["target"]["kind"] != "flag" or "boat" not in row["attacker"]["kind"]:
        assert answer.reason == plain.reason


@given(rows)
def test_what_reduces_to_the_matrix_equals_it(row: dict[str, Any]) -> None:
    """A second thing held adds its own fate and clause and leaves all the rest as it was."""
    answer = ref.resolve(row)
    for side in ("attacker", "target"):
        if not row[side].get("mine", False):
            continue
        plain = ref.resolve({**row, side: {**row[side], "mine": False}})
        mine = {"FO-6" if row[side]["kind"] == "soldier" else "FO-31"}
        fate: ref.Fate = getattr(answer, side)
        assert (fate.mine == "dies") == (fate.life == "dies")
        other = "target" if side == "attacker" else "attacker"
        both_mined = row[other].get("mine", False) and getattr(answer, other).mine == "dies"
        assert (answer.position, answer.square, answer.outcome) == (plain.position, plain.square, plain.outcome)
        if fate.life == "dies":
            assert answer.clauses == plain.clauses | mine
        elif not both_mined:
            assert answer.clauses == plain.clauses


@pytest.mark.parametrize(
    ("piece", "what"),
    [
        ({"kind": "soldier", "place": "sea"}, "stands on land"),
        ({"kind": "boat", "place": "land"}, "on the sea"),
        ({"kind": "soldier", "place": "land", "mount": "boat_tip"}, "tip of a boat"),
        ({"kind": "boat", "place": "sea", "mine": True}, "hold mines"),
        ({"kind": "plane", "flag": True}, "holds no flag"),
        ({"kind": "soldier", "flag": True, "mount": "plane_tip"}, "FA-15"),
        ({"kind": "plane", "lifeboat": True}, "boats have lifeboats"),
        ({"kind": "soldier", "cargo": True}, "boats and planes carry"),
        ({"kind": "tank"}, "unknown"),
    ],
)
def test_impossible_pieces_are_refused(piece: dict[str, Any], what: str) -> None:
    with pytest.raises(ValueError, match=what):
        ref.read_piece(piece, ref.DEFAULTS)


def test_every_clause_has_its_test() -> None:
    marked: set[str] = set()
    for path in Path(__file__).parent.glob("test_*.py"):
        marked |= set(re.findall(r"@rule\(\"(F[OA]-\d+)\"\)", path.read_text(encoding="utf-8")))
    wanted = {f"FO-{n}" for n in range(1, 36)} | {f"FA-{n}" for n in range(1, 26)}
    assert wanted <= marked
