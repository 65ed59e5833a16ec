"""Every clause and every reading, attack by attack, through the compiled rules."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest

import simcore
from simcore.rulesets.force_order.attack import resolve_rows
from simcore.rulesets.force_order.options import RuleOptions
from simcore.rulesets.force_order.rows import attack_rows

rule = pytest.mark.rule

Piece = dict[str, Any]
SOLDIER: Piece = {"kind": "soldier"}
SABOTEUR: Piece = {"kind": "saboteur"}
BOAT: Piece = {"kind": "boat", "place": "sea"}
LIFEBOAT: Piece = {"kind": "lifeboat", "place": "sea"}
PLANE: Piece = {"kind": "plane"}
SEA: Piece = {"place": "sea"}
MINE: Piece = {"mine": True}
FLAG: Piece = {"flag": True}
CARGO: Piece = {"cargo": True}
TIP: Piece = {"cargo": True, "tip_soldier": True}
RAFT: Piece = {"lifeboat": True}
ON_BOAT: Piece = {"mount": "boat_tip", "place": "sea"}
ON_PLANE: Piece = {"mount": "plane_tip"}
LONE_FLAG: Piece = {"kind": "flag"}
LONE_MINE: Piece = {"kind": "mine"}


def attack(attacker: Piece, target: Piece, way: tuple[int, int] = (0, 1), **more: Any) -> dict[str, Any]:
    """Return the answer to an attack; `more` holds fields of the row and options."""
    options = {name: more.pop(name) for name in list(more) if name in RuleOptions.model_fields}
    columns = {f"attacker.{name}": [value] for name, value in attacker.items()}
    columns |= {f"target.{name}": [value] for name, value in target.items()}
    columns |= {"rows": [way[0]], "columns": [way[1]], "result": ["win"]}
    columns |= {name: [value] for name, value in more.items()}
    return resolve_rows(attack_rows(columns), RuleOptions(**options), threads=1).describe(0)


def left_of(side: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in side.items() if name != "fate" and value != "none"}


@pytest.mark.parametrize(
    ("clause", "attacker", "target", "result", "position", "attacker_left", "target_left"),
    [
        pytest.param(*case, marks=rule(case[0]), id=f"{case[0]}-{i}")
        for i, case in enumerate(
            (
                ("FO-1", SOLDIER, SOLDIER, "win", "take", {}, {}),
                ("FO-3", SOLDIER, PLANE | CARGO, "win", "take", {}, {"cargo": "dies"}),
                ("FO-4", SOLDIER, PLANE, "win", "take", {}, {}),
                ("FO-5", SOLDIER, LONE_FLAG, "win", "take", {}, {"flag": "on_attacker"}),
                ("FO-6", SOLDIER, SOLDIER | MINE, "win", "take", {}, {"mine": "dies"}),
                ("FO-6", SOLDIER | MINE, SOLDIER, "lose", "none", {"mine": "dies"}, {}),
                ("FO-7", SOLDIER, SOLDIER | FLAG, "win", "beside", {}, {"flag": "left"}),
                ("FO-7", SOLDIER | FLAG, SOLDIER | FLAG, "tie", "none", {"flag": "left"}, {"flag": "left"}),
                ("FO-8", SOLDIER | ON_BOAT, SOLDIER, "win", "take", {}, {}),
                ("FO-8", SOLDIER | ON_PLANE, LONE_FLAG, "win", "take", {}, {"flag": "on_attacker"}),
                ("FO-9", SOLDIER, PLANE | CARGO, "lose", "none", {}, {}),
                ("FO-10", BOAT, PLANE | SEA, "win", "take", {}, {}),
                ("FO-12", BOAT, PLANE | SEA | CARGO, "win", "take", {}, {"cargo": "dies"}),
                ("FO-13", BOAT, BOAT | CARGO, "win", "take", {}, {"cargo": "dies"}),
                ("FO-14", BOAT | TIP, LONE_FLAG | SEA, "win", "take", {}, {"flag": "on_tip"}),
                ("FO-15", BOAT, BOAT | FLAG | CARGO, "win", "beside", {}, {"flag": "left", "cargo": "dies"}),
                ("FO-15", BOAT | FLAG | CARGO, BOAT, "lose", "none", {"flag": "left", "cargo": "dies"}, {}),
                ("FO-16", BOAT | CARGO, BOAT, "lose", "none", {"cargo": "dies"}, {}),
                ("FO-17", BOAT, PLANE | SEA, "win", "take", {}, {}),
                ("FO-18", BOAT, BOAT | RAFT, "win", "stay", {}, {"lifeboat": "left"}),
                ("FO-18", BOAT | RAFT, BOAT, "lose", "none", {"lifeboat": "left"}, {}),
                ("FO-19", BOAT | ON_BOAT, BOAT, "win", "take", {}, {}),
                ("FO-20", PLANE, SOLDIER, "win", "stay", {}, {}),
                ("FO-22", PLANE | CARGO, SOLDIER, "lose", "none", {"cargo": "dies"}, {}),
                ("FO-23", PLANE, BOAT | RAFT, "win", "beside", {}, {"lifeboat": "left"}),
                ("FO-23", PLANE, BOAT | FLAG, "win", "beside", {}, {"flag": "left"}),
                ("FO-24", PLANE, BOAT | CARGO, "win", "stay", {}, {"cargo": "dies"}),
                ("FO-25", PLANE | ON_BOAT, SABOTEUR | SEA, "win", "stay", {}, {}),
                ("FO-26", SABOTEUR, BOAT, "win", "take", {}, {}),
                ("FO-28", SABOTEUR | SEA, LONE_FLAG, "win", "take", {}, {"flag": "on_attacker"}),
                ("FO-29", SABOTEUR, PLANE | CARGO, "win", "take", {}, {"cargo": "dies"}),
                ("FO-30", SABOTEUR, BOAT | RAFT, "win", "beside", {}, {"lifeboat": "left"}),
                ("FO-30", SABOTEUR, BOAT | FLAG, "win", "beside", {}, {"flag": "left"}),
                ("FO-31", SABOTEUR | MINE, SOLDIER, "lose", "none", {"mine": "dies"}, {}),
                ("FO-32", SABOTEUR | ON_PLANE, BOAT, "win", "take", {}, {}),
                ("FO-32", SABOTEUR | ON_BOAT, SOLDIER, "win", "take", {}, {}),
                ("FO-33", PLANE, SABOTEUR | FLAG, "win", "beside", {}, {"flag": "left"}),
                ("FO-34", SABOTEUR, SOLDIER | FLAG, "lose", "none", {}, {}),
                ("FO-35", SABOTEUR, LONE_MINE, "win", "take", {}, {}),
            )
        )
    ],
)
def test_what_a_clause_does(
    clause: str,
    attacker: Piece,
    target: Piece,
    result: str,
    position: str,
    attacker_left: dict[str, str],
    target_left: dict[str, str],
) -> None:
    told = attack(attacker, target, result=result)
    assert clause in told["clauses"]
    assert told["position"] == position
    assert left_of(told["attacker"]) == attacker_left
    assert left_of(told["target"]) == target_left
    assert told["square"] == [0, 1 if position == "take" else 0]


@pytest.mark.parametrize(
    ("attacker", "target"),
    [
        pytest.param(attacker, target, marks=rule(clause), id=clause)
        for clause, attacker, target in (
            ("FO-2", SOLDIER, SOLDIER),
            ("FO-11", BOAT, BOAT),
            ("FO-21", PLANE, PLANE),
            ("FO-27", SABOTEUR, SABOTEUR),
        )
    ],
)
def test_the_order_of_forces_decides(attacker: Piece, target: Piece) -> None:
    for ranks, outcome in (((2, 1), "attacker_wins"), ((1, 2), "defender_wins"), ((1, 1), "both_die")):
        told = attack(attacker, target, result="by_rank", attacker_rank=ranks[0], target_rank=ranks[1])
        assert told["outcome"] == outcome


@pytest.mark.parametrize(
    ("attacker", "target", "reason"),
    [
        pytest.param(attacker, target, reason, marks=rule(clause), id=f"{clause}-{reason}-{i}")
        for i, (clause, attacker, target, reason) in enumerate(
            (
                ("FO-1", SOLDIER, BOAT, "not_on_land"),
                ("FA-18", SOLDIER, PLANE | SEA, "not_on_land"),
                ("FA-18", BOAT, PLANE, "not_at_sea"),
                ("FO-8", SOLDIER | ON_BOAT, BOAT, "not_on_land"),
                ("FO-10", BOAT, LONE_FLAG | SEA, "no_tip_soldier"),
                ("FO-10", BOAT | CARGO, LONE_FLAG | SEA, "no_tip_soldier"),
                ("FO-19", BOAT | ON_BOAT | TIP, LONE_FLAG | SEA, "not_named"),
                ("FA-10", SOLDIER | SEA | {"mount": "hold"}, SOLDIER, "not_on_tip"),
                ("FA-10", PLANE | ON_PLANE, SOLDIER, "no_tip_clause"),
                ("FA-20", SOLDIER, LONE_MINE, "not_named"),
                ("FA-20", BOAT, LONE_MINE | SEA, "not_named"),
                ("FA-23", SABOTEUR, SOLDIER | ON_BOAT, "cargo_target"),
            )
        )
    ],
)
def test_what_is_not_allowed(attacker: Piece, target: Piece, reason: str) -> None:
    told = attack(attacker, target)
    assert (told["outcome"], told["reason"]) == ("illegal", reason)
    assert told["attacker"]["fate"] == told["target"]["fate"] == "none"


@rule("FO-20")
def test_how_far_attacks_reach() -> None:
    for attacker, target in ((SOLDIER, SOLDIER), (SABOTEUR, BOAT), (BOAT, BOAT)):
        for way in ((0, 1), (0, -1), (1, 0), (-1, 0)):
            assert attack(attacker, target, way)["reason"] == "legal"
        for way in ((1, 1), (0, 2), (-2, 0), (-1, 1)):
            assert attack(attacker, target, way)["reason"] == "not_beside"
    for way in ((0, 1), (0, -100), (100, 0), (-2, 0)):
        assert attack(PLANE, SOLDIER, way)["reason"] == "legal"
    assert attack(PLANE, SOLDIER, (1, 1))["reason"] == "not_in_line"


@rule("FA-1")
def test_where_a_winning_plane_goes() -> None:
    squares = {
        value: attack(PLANE, SOLDIER, (0, 6), plane_win=value)["square"] for value in ("stay", "take", "adjacent")
    }
    assert squares == {"stay": [0, 0], "take": [0, 6], "adjacent": [0, 5]}
    taken = attack(PLANE, SOLDIER, (0, 6), plane_win="adjacent", blocked=True, beside_taken=True)
    assert (taken["position"], taken["square"]) == ("stay", [0, 0])


@rule("FA-2")
def test_where_a_plane_goes_that_leaves_something_behind() -> None:
    for target in (BOAT | RAFT, BOAT | FLAG, SOLDIER | FLAG, SABOTEUR | FLAG):
        assert attack(PLANE, target, (-6, 0))["square"] == [-5, 0]
        assert attack(PLANE, target, (-6, 0), plane_special_win="stay")["position"] == "stay"
        taken = attack(PLANE, target, (-6, 0), blocked=True, beside_taken=True)
        assert (taken["position"], taken["square"]) == ("stay", [0, 0])
        assert attack(PLANE, target, (-6, 0), plane_win="take")["square"] == [-5, 0]


@rule("FA-3")
def test_ties() -> None:
    for value in ("both_die", "attacker_wins", "defender_wins", "both_stay"):
        told = attack(SOLDIER | MINE, SOLDIER | FLAG, result="tie", tie=value)
        assert told["outcome"] == value
        assert "FA-3" in told["gaps"]
        lives = {"attacker_wins": ("lives", "dies"), "defender_wins": ("dies", "lives")}
        lives |= {"both_die": ("dies", "dies"), "both_stay": ("lives", "lives")}
        assert (told["attacker"]["fate"], told["target"]["fate"]) == lives[value]


@rule("FA-4")
def test_squares_that_share_a_corner() -> None:
    assert attack(SOLDIER, SOLDIER, (1, -1), adjacency="diagonal")["square"] == [1, -1]
    assert attack(SOLDIER, SOLDIER, (1, -2), adjacency="diagonal")["reason"] == "not_beside"
    assert attack(PLANE, SOLDIER, (1, 1), adjacency="diagonal")["reason"] == "not_in_line"


@rule("FA-5")
def test_pieces_between() -> None:
    assert attack(PLANE, BOAT, (0, 6), blocked=True)["reason"] == "legal"
    assert attack(PLANE, BOAT, (0, 6), blocked=True, plane_line_blocked=True)["reason"] == "blocked"
    assert attack(PLANE, BOAT, (0, 6), plane_line_blocked=True)["reason"] == "legal"


@rule("FA-6")
def test_what_a_lifeboat_saves() -> None:
    loaded = BOAT | RAFT | CARGO
    assert attack(BOAT, loaded)["target"]["cargo"] == "dies"
    assert attack(BOAT, loaded, lifeboat_saves="all_cargo")["target"]["cargo"] == "left"
    assert attack(loaded, BOAT, result="lose", lifeboat_saves="all_cargo")["attacker"]["cargo"] == "left"
    assert attack(BOAT, BOAT | CARGO, lifeboat_saves="all_cargo")["target"]["cargo"] == "dies"


@rule("FA-7")
def test_soldiers_against_saboteurs() -> None:
    assert attack(SOLDIER, SABOTEUR)["gaps"] == ["FA-7"]
    refused = attack(SOLDIER, SABOTEUR, saboteur_is_soldier=False)
    assert (refused["reason"], refused["gaps"]) == ("not_named", ["FA-7"])


@rule("FA-8")
def test_boats_against_saboteurs() -> None:
    assert attack(BOAT, SABOTEUR | SEA)["reason"] == "not_named"
    assert attack(BOAT, SABOTEUR | SEA, boat_attacks_saboteur=True)["position"] == "take"
    assert attack(BOAT, SABOTEUR, boat_attacks_saboteur=True)["reason"] == "not_at_sea"


@rule("FA-9")
def test_planes_against_flags() -> None:
    assert attack(PLANE, LONE_FLAG, (0, 4))["reason"] == "no_result"
    dead = attack(PLANE | CARGO, LONE_FLAG, (0, 4), plane_attacks_flag="plane_dies")
    assert (dead["outcome"], dead["attacker"]["cargo"], dead["target"]["fate"]) == ("defender_wins", "dies", "lives")
    told = attack(PLANE, LONE_FLAG, (0, 4), plane_attacks_flag="plane_takes")
    assert (told["outcome"], told["square"], told["target"]["flag"]) == ("flag_taken", [0, 4], "on_attacker")


@rule("FA-11")
def test_a_lifeboat_by_itself_is_a_boat() -> None:
    assert attack(LIFEBOAT, BOAT)["clauses"] == ["FO-10", "FO-13", "FO-17"]
    assert attack(LIFEBOAT | TIP, LONE_FLAG | SEA)["outcome"] == "flag_taken"
    assert attack(BOAT, LIFEBOAT | CARGO)["target"]["cargo"] == "dies"
    assert attack(LIFEBOAT | ON_BOAT, BOAT)["clauses"][-1] == "FO-19"


@rule("FA-12")
def test_flag_and_lifeboat_of_one_boat() -> None:
    told = attack(BOAT, BOAT | FLAG | RAFT)
    assert left_of(told["target"]) == {"flag": "on_lifeboat", "lifeboat": "left"}
    assert told["gaps"] == ["FA-12"]
    assert "FO-15" not in told["clauses"]


@rule("FA-13")
def test_cargo_dies_whoever_wins() -> None:
    for attacker in (BOAT, PLANE, SABOTEUR):
        told = attack(attacker, BOAT | CARGO)
        assert told["target"]["cargo"] == "dies"
        assert ("FA-13" in told["gaps"]) == (attacker is not BOAT)


@rule("FA-14")
@rule("FA-22")
def test_a_winning_defender_stays() -> None:
    for attacker in (BOAT | RAFT, BOAT | FLAG, BOAT):
        told = attack(attacker, BOAT, result="lose")
        assert (told["target"]["fate"], told["position"]) == ("lives", "none")
    assert attack(BOAT | RAFT, BOAT, result="lose")["gaps"] == ["FA-14"]


@rule("FA-16")
def test_what_a_piece_on_a_tip_leaves() -> None:
    told = attack(SOLDIER | ON_BOAT | FLAG | MINE, SOLDIER, result="lose")
    assert left_of(told["attacker"]) == {"flag": "left", "mine": "dies"}
    assert told["gaps"] == ["FA-16"]
    assert attack(SOLDIER | ON_BOAT, SOLDIER)["position"] == "take"


@rule("FA-17")
def test_orders_of_forces() -> None:
    def shares(attacker: str, defender: str, **more: Any) -> dict[str, float]:
        found = simcore.odds(attacker, defender, ruleset="force_order", **more).outcomes
        return {name: share for name, share in found.items() if share}

    assert shares("1 soldier4", "1 soldier4") == {"both_die": 1.0}
    assert shares("1 soldier5", "1 soldier4") == {"attacker_wins": 1.0}
    saboteur = {"units": "1 saboteur", "place": "land"}
    assert shares(saboteur, "1 soldier9") == {"attacker_wins": 1.0}  # type: ignore[arg-type]
    assert shares(saboteur, "1 soldier1") == {"defender_wins": 1.0}  # type: ignore[arg-type]
    assert shares("1 soldier9", saboteur) == {"attacker_wins": 1.0}  # type: ignore[arg-type]
    pairs = {
        "options.order_of_forces": "pairs",
        "duels": [{"attacker": "soldier4", "defender": "soldier4", "win": 0.5, "lose": 0.25}],
    }
    found = shares("1 soldier4", "1 soldier4", edition_changes=pairs)
    assert found == {"attacker_wins": 0.5, "defender_wins": 0.25, "both_die": 0.25}
    assert shares("1 soldier1", "1 soldier9", result="win") == {"attacker_wins": 1.0}
    with pytest.raises(simcore.ScenarioError, match=r"result: must be win, lose or tie"):
        shares("1 soldier1", "1 soldier9", options={"order_of_forces": "given"})


@rule("FA-19")
@rule("FA-21")
def test_own_pieces() -> None:
    assert attack(SABOTEUR, SOLDIER, is_own=True)["reason"] == "own_piece"
    assert attack(SOLDIER, LONE_FLAG, is_own=True)["reason"] == "own_piece"
    assert attack(SOLDIER, LONE_FLAG, is_own=True, own_flag_recovery=True)["outcome"] == "flag_taken"
    assert attack(SOLDIER, SOLDIER, is_own=True, own_flag_recovery=True)["reason"] == "own_piece"


@rule("FA-20")
def test_mines() -> None:
    plain, holding = attack(SOLDIER, SOLDIER), attack(SOLDIER, SOLDIER | MINE)
    assert plain["attacker"] == holding["attacker"]
    assert attack(PLANE, LONE_MINE, (0, 3))["outcome"] == "attacker_wins"
    for unit, outcome in (("plane_fighter", "defender_wins"), ("saboteur", "attacker_wins")):
        assert simcore.odds(f"1 {unit}", "1 mine", ruleset="force_order").outcomes[outcome] == 1.0


@rule("FA-24")
def test_saboteurs_cross_the_shore() -> None:
    assert attack(SABOTEUR | SEA, SOLDIER)["position"] == "take"
    assert attack(SABOTEUR, SABOTEUR | SEA)["position"] == "take"


@pytest.mark.parametrize(
    ("field", "row", "text"),
    [
        pytest.param(field, row, text, marks=[rule(name) for name in clauses], id=field + str(i))
        for i, (field, row, text, clauses) in enumerate(
            (
                ("target.flag", {"target.kind": "plane", "target.flag": True}, "FA-15", ["FA-15"]),
                ("target.flag", {"target.mount": "plane_tip", "target.flag": True}, "FA-15", ["FA-15"]),
                ("target.cargo", {"target.cargo": True}, "FO-3", []),
                ("target.mine", {"target.kind": "mine", "target.mine": True}, "FO-6", []),
                ("target.lifeboat", {"target.kind": "plane", "target.lifeboat": True}, "FO-18", []),
                ("target.place", {"target.place": "sea"}, "FO-1", []),
                ("target.place", {"target.kind": "boat"}, "FO-10", []),
                ("target.place", {"target.mount": "boat_tip"}, "FO-10", []),
                ("target.mount", {"target.kind": "flag", "target.mount": "hold"}, "FO-6", []),
                ("attacker.kind", {"attacker.kind": "mine"}, "FO-1", []),
                ("rows", {"columns": 0}, "FO-1", []),
                ("blocked", {"blocked": True}, "FA-5", []),
                ("beside_taken", {"columns": 3, "beside_taken": True}, "FA-2", []),
                ("columns", {"columns": 127}, "-126 to 126", ["FA-25"]),
                ("target.kind", {"target.kind": "bote"}, 'did you mean "boat"', []),
            )
        )
    ],
)
def test_rows_that_cannot_exist(field: str, row: dict[str, Any], text: str) -> None:
    columns = {name: [good, row.get(name, good)] for name, good in (("attacker.kind", "soldier"), ("columns", 1))}
    empty = {"mount": "none", "place": "land", "kind": "soldier"}
    columns |= {name: [empty.get(name.split(".")[-1], 0), value] for name, value in row.items() if name not in columns}
    with pytest.raises(simcore.ScenarioError) as caught:
        attack_rows(columns)
    assert str(caught.value).startswith(f"rows[1].{field}: ")
    assert text in str(caught.value)


def test_every_clause_has_a_test() -> None:
    rules = Path(simcore.__file__).parent / "rulesets" / "force_order" / "RULES.md"
    clauses = re.findall(r"^- \*\*(F[OA]-\d+)\*\*", rules.read_text(encoding="utf-8"), re.MULTILINE)
    assert clauses == [f"FO-{n}" for n in range(1, 36)] + [f"FA-{n}" for n in range(1, 26)]
    tree = ast.parse(Path(__file__).read_text(encoding="utf-8"))
    named = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    assert set(clauses) <= named
