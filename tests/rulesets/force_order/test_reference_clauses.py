"""What the reference makes of each sentence about attacks and of each reading of an ambiguity."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rulesets.force_order import reference as ref
from tests.rulesets.force_order.reference_support import (
    BOAT,
    FLAG,
    LIFEBOAT,
    MINE,
    PLANE,
    SABOTEUR,
    SEA_FLAG,
    SEA_MINE,
    SEA_PLANE,
    SEA_SABOTEUR,
    SOLDIER,
    aboard,
    attack,
    having,
)

rule = pytest.mark.rule

LADEN_PLANE = having(PLANE, "cargo")
LADEN_SEA_PLANE = having(SEA_PLANE, "cargo")
EVERYTHING = {
    "soldier": SOLDIER,
    "saboteur": SABOTEUR,
    "sea_saboteur": SEA_SABOTEUR,
    "boat": BOAT,
    "lifeboat": LIFEBOAT,
    "plane": PLANE,
    "sea_plane": SEA_PLANE,
    "flag": FLAG,
    "sea_flag": SEA_FLAG,
    "mine": MINE,
    "sea_mine": SEA_MINE,
}


def kind(piece: dict[str, Any]) -> str:
    return str(piece["kind"])


def may_attack(attacker: dict[str, Any], way: tuple[int, int] = (0, 1), **options: Any) -> set[str]:
    """Return the names of all targets that a piece may attack."""
    return {
        name for name, target in EVERYTHING.items() if attack(attacker, target, "win", way, **options).reason == "legal"
    }


def assert_stands(answer: ref.Answer, position: str, square: tuple[int, int]) -> None:
    assert (answer.attacker.life, answer.position, answer.square) == ("lives", position, square)


# --------------------------------------------------------------------------------------------------
# Soldier
# --------------------------------------------------------------------------------------------------


@rule("FO-1")
@pytest.mark.parametrize("way", [(0, 1), (0, -1), (1, 0), (-1, 0)])
def test_a_soldier_attacks_what_is_beside_him_on_land(way: tuple[int, int]) -> None:
    assert may_attack(SOLDIER, way) == {"soldier", "saboteur", "plane", "flag"}
    assert may_attack(SOLDIER, (2 * way[0], 2 * way[1])) == set()
    assert attack(SOLDIER, SEA_PLANE).reason == "terrain"
    assert attack(SOLDIER, MINE).reason == "target_kind"


@rule("FO-2")
@rule("FO-11")
@rule("FO-21")
@rule("FO-27")
@pytest.mark.parametrize(
    ("attacker", "target"), [(SOLDIER, SOLDIER), (BOAT, BOAT), (PLANE, SOLDIER), (SABOTEUR, BOAT)], ids=kind
)
def test_the_order_of_forces_says_who_is_left(attacker: dict[str, Any], target: dict[str, Any]) -> None:
    row = {"attacker": attacker, "target": target, "rows": 0, "columns": 1}
    for ranks, outcome in (((2, 1), "attacker_wins"), ((1, 2), "defender_wins"), ((2, 2), "both_die")):
        assert ref.resolve({**row, "ranks": ranks}).outcome == outcome
    assert [attack(attacker, target, result).outcome for result in ref.RESULTS] == [
        "attacker_wins",
        "defender_wins",
        "both_die",
    ]


@rule("FO-3")
def test_a_soldier_takes_the_square_of_a_laden_plane() -> None:
    answer = attack(SOLDIER, LADEN_PLANE)
    assert_stands(answer, "take", (0, 1))
    assert (answer.target.life, answer.target.cargo) == ("dies", "dies")
    assert "FO-3" in answer.clauses
    assert "FO-3" not in attack(SOLDIER, PLANE).clauses


@rule("FO-4")
@pytest.mark.parametrize("target", [SOLDIER, SABOTEUR, PLANE], ids=kind)
def test_a_winning_soldier_takes_the_square(target: dict[str, Any]) -> None:
    answer = attack(SOLDIER, target)
    assert_stands(answer, "take", (0, 1))
    assert answer.target.life == "dies"
    assert "FO-4" in answer.clauses


@rule("FO-5")
def test_a_soldier_puts_the_flag_on_himself() -> None:
    for result in ref.RESULTS:  # no duel
        answer = attack(SOLDIER, FLAG, result)
        assert answer.outcome == "flag_taken"
        assert_stands(answer, "take", (0, 1))
        assert (answer.target.life, answer.target.flag) == ("captured", "attacker")


@rule("FO-6")
@rule("FO-31")
@pytest.mark.parametrize(("holder", "clause"), [(SOLDIER, "FO-6"), (SABOTEUR, "FO-31")], ids=["soldier", "saboteur"])
def test_a_held_mine_dies_with_its_holder(holder: dict[str, Any], clause: str) -> None:
    holding = having(holder, "mine")
    for answer, fate in (
        ((lost := attack(holding, SOLDIER, "lose")), lost.attacker),
        ((won := attack(SOLDIER, holding)), won.target),
        ((tied := attack(holding, SOLDIER, "tie")), tied.attacker),
    ):
        assert (fate.life, fate.mine) == ("dies", "dies")
        assert clause in answer.clauses
    assert attack(holding, SOLDIER).attacker.mine == "none"
    assert attack(SOLDIER, holding, "lose").target.mine == "none"


@rule("FO-7")
@rule("FO-33")
@pytest.mark.parametrize(("holder", "clause"), [(SOLDIER, "FO-7"), (SABOTEUR, "FO-33")], ids=["soldier", "saboteur"])
def test_a_flag_is_laid_where_its_holder_died(holder: dict[str, Any], clause: str) -> None:
    holding = having(holder, "flag")
    for attacker in (SOLDIER, SABOTEUR):
        answer = attack(attacker, holding)
        assert_stands(answer, "beside", (0, 0))
        assert (answer.target.life, answer.target.flag) == ("dies", "square")
        assert clause in answer.clauses
    far = attack(PLANE, holding, "win", (-3, 0))
    assert_stands(far, "beside", (-2, 0))
    lost = attack(holding, SOLDIER, "lose")
    assert (lost.attacker.flag, lost.target.life) == ("square", "lives")
    tied = attack(holding, holding, "tie")
    assert (tied.attacker.flag, tied.target.flag, tied.square) == ("square", "square", None)


@rule("FO-8")
@pytest.mark.parametrize("mount", ["boat_tip", "plane_tip"])
def test_a_soldier_attacks_from_a_tip(mount: str) -> None:
    soldier = aboard(SOLDIER, mount)
    assert may_attack(soldier) == {"soldier", "saboteur", "plane", "flag"}
    answer = attack(soldier, SOLDIER)
    assert "FO-8" in answer.clauses
    assert "FO-1" not in answer.clauses


@rule("FO-9")
@rule("FO-34")
@pytest.mark.parametrize(("attacker", "clause"), [(SOLDIER, "FO-9"), (SABOTEUR, "FO-34")], ids=["soldier", "saboteur"])
def test_the_piece_that_killed_its_attacker_stays(attacker: dict[str, Any], clause: str) -> None:
    answer = attack(attacker, LADEN_PLANE, "lose")
    assert answer.target == ref.Fate("lives")
    assert answer.attacker.life == "dies"
    assert clause in answer.clauses
    assert clause not in attack(attacker, PLANE, "tie").clauses


# --------------------------------------------------------------------------------------------------
# Boat
# --------------------------------------------------------------------------------------------------


@rule("FO-10")
@pytest.mark.parametrize("way", [(0, 1), (0, -1), (1, 0), (-1, 0)])
def test_a_boat_attacks_what_is_beside_it_on_the_sea(way: tuple[int, int]) -> None:
    assert may_attack(BOAT, way) == {"boat", "lifeboat", "sea_plane"}
    assert may_attack(having(BOAT, "cargo"), way) == {"boat", "lifeboat", "sea_plane"}
    assert may_attack(having(BOAT, "tip_soldier"), way) == {"boat", "lifeboat", "sea_plane", "sea_flag"}
    assert may_attack(BOAT, (2 * way[0], 2 * way[1])) == set()
    assert attack(BOAT, SEA_FLAG).reason == "no_tip_soldier"


@rule("FO-12")
def test_a_boat_takes_the_square_of_a_laden_plane() -> None:
    answer = attack(BOAT, LADEN_SEA_PLANE)
    assert_stands(answer, "take", (0, 1))
    assert (answer.target.life, answer.target.cargo) == ("dies", "dies")
    assert "FO-12" in answer.clauses


@rule("FO-13")
@rule("FO-17")
def test_a_boat_takes_the_square_of_a_boat() -> None:
    answer = attack(BOAT, having(BOAT, "cargo"))
    assert_stands(answer, "take", (0, 1))
    assert (answer.target.life, answer.target.cargo) == ("dies", "dies")
    assert {"FO-13", "FO-17"} <= answer.clauses
    assert "FO-13" not in attack(BOAT, SEA_PLANE).clauses
    assert "FO-17" in attack(BOAT, SEA_PLANE).clauses
    for held in ("lifeboat", "flag"):
        assert not {"FO-13", "FO-17"} & attack(BOAT, having(BOAT, held)).clauses


@rule("FO-14")
def test_a_boat_puts_the_flag_on_its_tip() -> None:
    answer = attack(having(BOAT, "tip_soldier"), SEA_FLAG)
    assert answer.outcome == "flag_taken"
    assert_stands(answer, "take", (0, 1))
    assert (answer.target.life, answer.target.flag) == ("captured", "attacker_tip")
    assert "FO-14" in answer.clauses


@rule("FO-15")
def test_the_flag_of_a_lost_boat_stays() -> None:
    boat = having(BOAT, "flag", "cargo")
    answer = attack(BOAT, boat)
    assert_stands(answer, "beside", (0, 0))
    assert (answer.target.cargo, answer.target.flag) == ("dies", "square")
    lost = attack(boat, BOAT, "lose")
    assert (lost.attacker.cargo, lost.attacker.flag, lost.target.life) == ("dies", "square", "lives")
    assert "FO-15" in answer.clauses & lost.clauses
    assert "FO-16" not in lost.clauses


@rule("FO-16")
def test_a_boat_that_attacked_and_lost_dies_with_its_cargo() -> None:
    lost = attack(having(BOAT, "cargo"), BOAT, "lose")
    assert (lost.attacker.life, lost.attacker.cargo) == ("dies", "dies")
    assert lost.target == ref.Fate("lives")
    assert "FO-16" in lost.clauses


@rule("FO-18")
def test_the_lifeboat_of_a_lost_boat_stays() -> None:
    boat = having(BOAT, "lifeboat", "cargo")
    answer = attack(BOAT, boat)
    assert_stands(answer, "stay", (0, 0))
    assert (answer.target.life, answer.target.lifeboat) == ("dies", "stays")
    lost = attack(boat, BOAT, "lose")
    assert (lost.attacker.life, lost.attacker.lifeboat) == ("dies", "stays")
    assert "FO-18" in answer.clauses & lost.clauses
    assert "FO-16" not in lost.clauses


@rule("FO-19")
def test_a_boat_on_a_tip_attacks_planes_and_boats() -> None:
    boat = aboard(having(BOAT, "tip_soldier"))
    assert may_attack(boat) == {"boat", "lifeboat", "sea_plane"}
    assert attack(boat, SEA_FLAG).reason == "target_kind"
    answer = attack(boat, BOAT)
    assert "FO-19" in answer.clauses
    assert answer.leaves_carrier


# --------------------------------------------------------------------------------------------------
# Plane
# --------------------------------------------------------------------------------------------------


@rule("FO-20")
def test_a_plane_attacks_along_its_row_and_column() -> None:
    anything = set(EVERYTHING) - {"flag", "sea_flag"}
    for way in ((0, 1), (0, -7), (5, 0), (-1, 0)):
        assert may_attack(PLANE, way) == anything
        assert may_attack(SEA_PLANE, way) == anything
    for way in ((1, 1), (-2, 2), (1, 6), (0, 0)):
        assert may_attack(PLANE, way) == set()


@rule("FO-22")
def test_a_lost_plane_dies_with_its_cargo() -> None:
    lost = attack(LADEN_PLANE, BOAT, "lose", (0, 4))
    assert (lost.attacker.life, lost.attacker.cargo) == ("dies", "dies")
    assert lost.target == ref.Fate("lives")
    beaten = attack(SABOTEUR, LADEN_SEA_PLANE)
    assert (beaten.target.life, beaten.target.cargo) == ("dies", "dies")
    assert "FO-22" in lost.clauses & beaten.clauses


@rule("FO-23")
@pytest.mark.parametrize("held", [("lifeboat",), ("flag",), ("flag", "lifeboat")], ids="+".join)
def test_a_plane_stops_beside_a_lifeboat_or_flag(held: tuple[str, ...]) -> None:
    answer = attack(PLANE, having(BOAT, *held), "win", (0, 6))
    assert_stands(answer, "beside", (0, 5))
    assert "FO-23" in answer.clauses
    assert "FO-24" not in answer.clauses
    assert_stands(attack(PLANE, having(BOAT, *held), "win", (0, 1)), "beside", (0, 0))


@rule("FO-24")
@pytest.mark.parametrize("target", [SOLDIER, SEA_SABOTEUR, BOAT, LIFEBOAT, PLANE, MINE], ids=kind)
def test_a_winning_plane_does_not_take_the_square(target: dict[str, Any]) -> None:
    answer = attack(PLANE, target, "win", (0, 6))
    assert_stands(answer, "stay", (0, 0))
    assert answer.target.life == "dies"
    assert "FO-24" in answer.clauses


@rule("FO-25")
def test_a_plane_attacks_from_the_tip_of_a_boat() -> None:
    plane = aboard(PLANE)
    assert may_attack(plane, (0, -7)) == set(EVERYTHING) - {"flag", "sea_flag"}
    assert may_attack(plane, (1, -7)) == set()
    answer = attack(plane, SOLDIER, "win", (0, 3))
    assert "FO-25" in answer.clauses
    assert_stands(answer, "stay", (0, 0))
    assert not answer.leaves_carrier
    moved = attack(plane, having(BOAT, "flag"), "win", (0, 3))
    assert_stands(moved, "beside", (0, 2))
    assert moved.leaves_carrier


# --------------------------------------------------------------------------------------------------
# Saboteur
# --------------------------------------------------------------------------------------------------


@rule("FO-26")
def test_a_saboteur_attacks_everything_beside_him() -> None:
    for saboteur in (SABOTEUR, SEA_SABOTEUR):
        assert may_attack(saboteur) == set(EVERYTHING)
        assert may_attack(saboteur, (0, 2)) == set()


@rule("FO-28")
@pytest.mark.parametrize("flag", [FLAG, SEA_FLAG], ids=["land", "sea"])
def test_a_saboteur_puts_the_flag_on_himself(flag: dict[str, Any]) -> None:
    answer = attack(SABOTEUR, flag)
    assert answer.outcome == "flag_taken"
    assert_stands(answer, "take", (0, 1))
    assert answer.target.flag == "attacker"
    assert "FO-28" in answer.clauses


@rule("FO-29")
@pytest.mark.parametrize("plane", [LADEN_PLANE, LADEN_SEA_PLANE], ids=["land", "sea"])
def test_a_saboteur_takes_the_square_of_a_laden_plane(plane: dict[str, Any]) -> None:
    answer = attack(SABOTEUR, plane)
    assert_stands(answer, "take", (0, 1))
    assert (answer.target.life, answer.target.cargo) == ("dies", "dies")
    assert "FO-29" in answer.clauses


@rule("FO-30")
@pytest.mark.parametrize("held", [("lifeboat",), ("flag",), ("flag", "lifeboat")], ids="+".join)
def test_a_saboteur_stays_beside_a_lifeboat_or_flag(held: tuple[str, ...]) -> None:
    answer = attack(SEA_SABOTEUR, having(BOAT, *held))
    assert_stands(answer, "beside", (0, 0))
    assert "FO-30" in answer.clauses
    assert "FO-35" not in answer.clauses


@rule("FO-32")
@pytest.mark.parametrize("mount", ["boat_tip", "plane_tip"])
def test_a_saboteur_attacks_from_a_tip(mount: str) -> None:
    saboteur = aboard(SABOTEUR, mount)
    assert may_attack(saboteur) == set(EVERYTHING)
    assert may_attack(saboteur, (0, 2)) == set()
    assert "FO-32" in attack(saboteur, BOAT).clauses


@rule("FO-35")
@pytest.mark.parametrize("target", [SOLDIER, SEA_SABOTEUR, PLANE, BOAT, LIFEBOAT, MINE], ids=kind)
def test_a_winning_saboteur_takes_the_square(target: dict[str, Any]) -> None:
    answer = attack(SABOTEUR, target)
    assert_stands(answer, "take", (0, 1))
    assert answer.target.life == "dies"
    assert "FO-35" in answer.clauses


# --------------------------------------------------------------------------------------------------
# Ambiguities
# --------------------------------------------------------------------------------------------------


@rule("FA-1")
@pytest.mark.parametrize(
    ("plane_win", "position", "column"), [("stay", "stay", 0), ("take", "take", 4), ("adjacent", "beside", 3)]
)
def test_where_a_winning_plane_stands(plane_win: str, position: str, column: int) -> None:
    answer = attack(aboard(PLANE), LADEN_SEA_PLANE, "win", (0, 4), plane_win=plane_win)
    assert_stands(answer, position, (0, column))
    assert answer.leaves_carrier == (column > 0)
    # The clauses about flags and lifeboats come first.
    assert attack(PLANE, having(SOLDIER, "flag"), "win", (0, 4), plane_win=plane_win).square == (0, 3)
    assert attack(PLANE, having(BOAT, "lifeboat"), "win", (0, 4), plane_win=plane_win).square == (0, 3)


@rule("FA-2")
@pytest.mark.parametrize(
    "target",
    [having(BOAT, "lifeboat"), having(BOAT, "flag"), having(SOLDIER, "flag"), having(SEA_SABOTEUR, "flag")],
    ids=["lifeboat", "boat with flag", "soldier with flag", "saboteur with flag"],
)
def test_where_a_plane_stands_that_left_something(target: dict[str, Any]) -> None:
    assert_stands(attack(PLANE, target, "win", (5, 0)), "beside", (4, 0))
    assert_stands(attack(PLANE, target, "win", (5, 0), beside_taken=True), "stay", (0, 0))
    assert_stands(attack(PLANE, target, "win", (5, 0), plane_special_win="stay"), "stay", (0, 0))
    # One square off, the square beside the target is the plane's own.
    assert_stands(attack(PLANE, target, "win", (1, 0), beside_taken=True), "beside", (0, 0))


@rule("FA-3")
@pytest.mark.parametrize("tie", ["both_die", "attacker_wins", "defender_wins", "both_stay"])
def test_ties(tie: str) -> None:
    for attacker, target in ((SOLDIER, having(SOLDIER, "flag")), (having(BOAT, "lifeboat"), having(BOAT, "cargo"))):
        answer = attack(attacker, target, "tie", tie=tie)
        assert answer.outcome == tie
        assert "FA-3" in answer.coverage
        if tie == "both_stay":
            assert_stands(answer, "stay", (0, 0))
            assert answer.target == ref.Fate("lives")
        elif tie != "both_die":
            plain = attack(attacker, target, "win" if tie == "attacker_wins" else "lose")
            assert (answer.attacker, answer.target, answer.square) == (plain.attacker, plain.target, plain.square)


@rule("FA-4")
def test_one_square_beside() -> None:
    for attacker, target in ((SOLDIER, SOLDIER), (BOAT, BOAT), (SABOTEUR, FLAG), (aboard(SOLDIER), PLANE)):
        for way in ((1, 1), (-1, 1)):
            assert attack(attacker, target, "win", way).reason == "range"
            assert_stands(attack(attacker, target, "win", way, adjacency="diagonal"), "take", way)
        assert attack(attacker, target, "win", (2, 1), adjacency="diagonal").reason == "range"
    assert attack(PLANE, SOLDIER, "win", (1, 1), adjacency="diagonal").reason == "range"


@rule("FA-5")
def test_a_blocked_line() -> None:
    assert attack(PLANE, SOLDIER, "win", (0, 3), blocked=True).reason == "legal"
    assert attack(PLANE, SOLDIER, "win", (0, 3), blocked=True, plane_line_blocked=True).reason == "blocked"
    assert attack(PLANE, SOLDIER, "win", (0, 3), plane_line_blocked=True).reason == "legal"


@rule("FA-6")
def test_who_is_saved_by_the_lifeboat() -> None:
    boat = having(BOAT, "lifeboat", "cargo")
    for attacker in (BOAT, PLANE, SABOTEUR):
        for saves, cargo in (("own_load", "dies"), ("all_cargo", "stays")):
            answer = attack(attacker, boat, lifeboat_saves=saves)
            assert (answer.target.cargo, answer.target.lifeboat) == (cargo, "stays")
            assert "FA-6" in answer.coverage
    assert attack(boat, BOAT, "lose", lifeboat_saves="all_cargo").attacker.cargo == "stays"
    assert attack(BOAT, having(BOAT, "cargo"), lifeboat_saves="all_cargo").target.cargo == "dies"
    flagged = attack(BOAT, having(boat, "flag"), lifeboat_saves="all_cargo")
    assert (flagged.target.cargo, flagged.target.flag) == ("stays", "lifeboat")


@rule("FA-7")
def test_a_saboteur_on_land_is_a_soldier() -> None:
    for soldier in (SOLDIER, aboard(SOLDIER, "plane_tip", "land")):
        assert_stands(attack(soldier, SABOTEUR), "take", (0, 1))
        assert attack(soldier, SABOTEUR, saboteur_is_soldier=False).reason == "target_kind"
        assert attack(soldier, SEA_SABOTEUR).reason == "terrain"


@rule("FA-8")
@pytest.mark.parametrize("boat", [BOAT, aboard(BOAT)], ids=["FO-10", "FO-19"])
def test_a_boat_and_a_saboteur_at_sea(boat: dict[str, Any]) -> None:
    assert attack(boat, SEA_SABOTEUR).reason == "target_kind"
    assert attack(boat, SABOTEUR, boat_attacks_saboteur=True).reason == "terrain"
    won = attack(boat, SEA_SABOTEUR, boat_attacks_saboteur=True)
    assert_stands(won, "take", (0, 1))
    assert "FO-17" in won.clauses
    laid = attack(boat, having(SEA_SABOTEUR, "flag", "mine"), boat_attacks_saboteur=True)
    assert_stands(laid, "beside", (0, 0))
    assert (laid.target.flag, laid.target.mine) == ("square", "dies")


@rule("FA-9")
@pytest.mark.parametrize("flag", [FLAG, SEA_FLAG], ids=["land", "sea"])
def test_a_plane_and_a_lone_flag(flag: dict[str, Any]) -> None:
    assert attack(LADEN_PLANE, flag).reason == "flag_refused"
    dead = attack(LADEN_PLANE, flag, "win", (0, 3), plane_attacks_flag="plane_dies")
    assert dead.outcome == "defender_wins"
    assert (dead.attacker.life, dead.attacker.cargo) == ("dies", "dies")
    assert dead.target == ref.Fate("lives")
    taken = attack(LADEN_PLANE, flag, "lose", (0, 3), plane_attacks_flag="plane_takes")
    assert taken.outcome == "flag_taken"
    assert_stands(taken, "take", (0, 3))
    assert taken.target.flag == "attacker"


@rule("FA-10")
@pytest.mark.parametrize("piece", [SOLDIER, SABOTEUR, BOAT, PLANE], ids=kind)
def test_cargo_off_the_tip_does_not_attack(piece: dict[str, Any]) -> None:
    assert may_attack(aboard(piece, "hold")) == set()
    assert may_attack(aboard(piece, "boat_tip")) != set()


@rule("FA-11")
def test_a_lone_lifeboat_is_a_boat() -> None:
    assert may_attack(LIFEBOAT) == may_attack(BOAT)
    assert may_attack(having(LIFEBOAT, "tip_soldier")) == may_attack(having(BOAT, "tip_soldier"))
    for attacker in (BOAT, PLANE, SABOTEUR):
        for held in ((), ("cargo",), ("flag",), ("cargo", "flag")):
            for result in ref.RESULTS:
                there = attack(attacker, having(LIFEBOAT, *held), result)
                boat = attack(attacker, having(BOAT, *held), result)
                assert (there.target, there.position, there.clauses) == (boat.target, boat.position, boat.clauses)
    assert attack(LIFEBOAT, BOAT, "lose").clauses == {"FO-10", "FO-16"}
    assert attack(LIFEBOAT, BOAT, "lose").coverage == {"FA-11"}


@rule("FA-12")
def test_flag_and_lifeboat_on_one_boat() -> None:
    boat = having(BOAT, "flag", "lifeboat")
    for attacker, position in ((BOAT, "stay"), (PLANE, "beside"), (SABOTEUR, "beside")):
        answer = attack(attacker, boat)
        assert_stands(answer, position, (0, 0))
        assert (answer.target.lifeboat, answer.target.flag) == ("stays", "lifeboat")
    lost = attack(boat, BOAT, "lose")
    assert (lost.attacker.lifeboat, lost.attacker.flag) == ("stays", "lifeboat")


@rule("FA-13")
@pytest.mark.parametrize("attacker", [PLANE, SABOTEUR], ids=["plane", "saboteur"])
def test_cargo_of_a_boat_dies_whoever_beat_it(attacker: dict[str, Any]) -> None:
    answer = attack(attacker, having(BOAT, "cargo"))
    assert (answer.target.life, answer.target.cargo) == ("dies", "dies")
    assert answer.coverage == {"FA-13"}


@rule("FA-14")
@pytest.mark.parametrize(
    "target", [BOAT, having(BOAT, "flag", "lifeboat"), LADEN_SEA_PLANE], ids=["boat", "flag", "plane"]
)
def test_the_target_of_a_lost_boat_with_lifeboat_stays(target: dict[str, Any]) -> None:
    answer = attack(having(BOAT, "lifeboat"), target, "lose")
    assert answer.target == ref.Fate("lives")
    assert "FA-14" in answer.coverage


@rule("FA-15")
def test_no_flag_on_a_plane() -> None:
    for piece in (having(PLANE, "flag"), having(aboard(SOLDIER, "plane_tip"), "flag")):
        with pytest.raises(ValueError, match="flag"):
            attack(piece, SOLDIER)
    # Where planes may take flags, the flag stays where the plane died.
    answer = attack(SOLDIER, having(PLANE, "flag"), plane_attacks_flag="plane_takes")
    assert answer.target.flag == "square"
    assert_stands(answer, "beside", (0, 0))


@rule("FA-16")
def test_pieces_on_a_tip() -> None:
    for piece, target in ((SOLDIER, PLANE), (BOAT, BOAT), (SABOTEUR, BOAT)):
        won = attack(aboard(piece), target)
        assert_stands(won, "take", (0, 1))
        assert won.leaves_carrier
    dead = attack(having(aboard(SOLDIER), "flag", "mine"), SOLDIER, "lose")
    assert (dead.attacker.flag, dead.attacker.mine) == ("carrier", "dies")
    for held, flag in ((("flag",), "carrier"), (("flag", "lifeboat"), "lifeboat")):
        assert attack(having(aboard(BOAT), *held), BOAT, "lose").attacker.flag == flag
    beside = attack(aboard(SABOTEUR), having(BOAT, "flag"))
    assert_stands(beside, "beside", (0, 0))
    assert not beside.leaves_carrier


@rule("FA-17")
@pytest.mark.parametrize("held", [(), ("cargo",), ("lifeboat",), ("cargo", "lifeboat", "flag", "tip_soldier")], ids=str)
def test_the_higher_rank_wins_and_cargo_is_ignored(held: tuple[str, ...]) -> None:
    row = {"attacker": having(BOAT, *held), "target": BOAT, "rows": 1, "columns": 0}
    outcomes = [ref.resolve({**row, "ranks": (rank, 5)}).outcome for rank in (4, 5, 6)]
    assert outcomes == ["defender_wins", "both_die", "attacker_wins"]
    with pytest.raises(ValueError, match="draw"):
        ref.resolve({**row, "result": "draw"})


@rule("FA-18")
def test_the_scope_of_on_land_and_on_the_sea() -> None:
    for soldier in (SOLDIER, aboard(SOLDIER)):
        for target in (SEA_PLANE, SEA_FLAG, SEA_SABOTEUR, BOAT):
            assert attack(soldier, target).reason == "terrain"
    for boat in (BOAT, aboard(BOAT)):
        for target in (PLANE, FLAG, SABOTEUR, SOLDIER):
            assert attack(boat, target, boat_attacks_saboteur=True).reason == "terrain"


@rule("FA-19")
@pytest.mark.parametrize("attacker", [SOLDIER, BOAT, PLANE, SABOTEUR], ids=kind)
def test_no_friendly_fire(attacker: dict[str, Any]) -> None:
    assert {attack(attacker, having(target, "own")).reason for target in EVERYTHING.values()} == {"own_piece"}


@rule("FA-20")
def test_mines() -> None:
    for mine, attackers in ((MINE, (SOLDIER, BOAT)), (SEA_MINE, (SOLDIER, BOAT, having(BOAT, "tip_soldier")))):
        for attacker in attackers:
            assert attack(attacker, mine).outcome == "illegal"
        assert_stands(attack(PLANE, mine), "stay", (0, 0))
        assert_stands(attack(SABOTEUR, mine), "take", (0, 1))
        assert attack(mine, SOLDIER).reason == "cannot_attack"
    plain, mined = attack(SOLDIER, SOLDIER), attack(SOLDIER, having(SOLDIER, "mine"))
    assert (plain.attacker, plain.position) == (mined.attacker, mined.position)


@rule("FA-21")
def test_a_dropped_flag() -> None:
    own = having(FLAG, "own")
    assert attack(SOLDIER, own).reason == "own_piece"
    answer = attack(SOLDIER, own, own_flag_recovery=True)
    assert answer.outcome == "flag_taken"
    assert_stands(answer, "take", (0, 1))
    assert attack(SOLDIER, having(SOLDIER, "own"), own_flag_recovery=True).reason == "own_piece"


@rule("FA-22")
@pytest.mark.parametrize("target", [SOLDIER, SABOTEUR, PLANE], ids=kind)
def test_a_winning_defender_does_not_move(target: dict[str, Any]) -> None:
    answer = attack(having(SOLDIER, "flag"), target, "lose")
    assert answer.target == ref.Fate("lives")
    assert (answer.position, answer.square) == ("none", None)


@rule("FA-23")
@pytest.mark.parametrize("mount", ["boat_tip", "plane_tip", "hold"])
def test_cargo_is_not_attacked(mount: str) -> None:
    for attacker in (SOLDIER, BOAT, PLANE, SABOTEUR):
        assert attack(attacker, aboard(SOLDIER, mount)).reason == "target_aboard"


@rule("FA-24")
def test_a_saboteur_crosses_the_shore() -> None:
    for here, there in ((SEA_SABOTEUR, SOLDIER), (SABOTEUR, BOAT), (SEA_SABOTEUR, LADEN_PLANE)):
        assert_stands(attack(here, there), "take", (0, 1))
