"""A plain and slow reading of single attacks in ``force_order``.

Written from the rule text alone and sharing no code with ``simcore``. An attack is one row: two pieces, the
way from the one to the other, and what the order of forces says about them. Nothing here knows a board; what
the board adds (is the line of a plane blocked, is the square beside the target taken) stands in the row.

The text is followed clause by clause: first whether any clause lets this piece attack that one, then who is
left, then what becomes of each dead piece and of what it held, then where a winning attacker stands.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

KINDS = ("soldier", "saboteur", "boat", "lifeboat", "plane", "mine", "flag")
MOUNTS = ("none", "boat_tip", "plane_tip", "hold")
PLACES = ("land", "sea")
RESULTS = ("win", "lose", "tie")

# Which test an attack failed, in the order in which they are made.
REASONS = (
    "legal",
    "cannot_attack",  # mines and flags do not attack
    "not_on_tip",  # FA-10: cargo attacks from the loading tip alone
    "mount",  # no clause lets this kind attack from such a carrier
    "target_aboard",  # FA-23: the carrier is attacked, never its cargo
    "own_piece",  # FA-19, FA-21
    "terrain",  # FO-1, FO-8: land; FO-10, FO-19: sea
    "target_kind",  # the clause does not name such a target
    "no_tip_soldier",  # FO-10: a boat takes a flag with a soldier on the tip
    "flag_refused",  # FA-9: no clause says what becomes of it
    "range",  # one square beside, or for planes the row or column
    "blocked",  # FA-5
)
OUTCOMES = ("attacker_wins", "defender_wins", "both_die", "both_stay", "flag_taken", "illegal")
POSITIONS = ("none", "take", "stay", "beside")


@dataclass(frozen=True)
class Options:
    """The readings of the ambiguities; the defaults are the recommended ones."""

    plane_win: str = "stay"  # FA-1: stay | take | adjacent
    plane_special_win: str = "adjacent"  # FA-2: adjacent | stay
    tie: str = "both_die"  # FA-3: both_die | attacker_wins | defender_wins | both_stay
    adjacency: str = "orthogonal"  # FA-4: orthogonal | diagonal
    plane_line_blocked: bool = False  # FA-5
    lifeboat_saves: str = "own_load"  # FA-6: own_load | all_cargo
    saboteur_is_soldier: bool = True  # FA-7
    boat_attacks_saboteur: bool = False  # FA-8
    plane_attacks_flag: str = "refused"  # FA-9: refused | plane_dies | plane_takes
    tip_capacity: str = "unlimited"  # FA-10: unlimited | one | last (a matter of loading)
    own_flag_recovery: bool = False  # FA-21


DEFAULTS = Options()


@dataclass(frozen=True)
class Piece:
    """One side of an attack. A soldier on the tip is part of the cargo."""

    kind: str
    place: str = "land"
    mount: str = "none"
    mine: bool = False
    flag: bool = False
    lifeboat: bool = False
    cargo: bool = False
    tip_soldier: bool = False
    own: bool = False

    @property
    def is_foot(self) -> bool:
        return self.kind in {"soldier", "saboteur"}

    @property
    def is_boat(self) -> bool:
        """FA-11: a lifeboat is a boat of the lowest class."""
        return self.kind in {"boat", "lifeboat"}

    @property
    def is_loaded(self) -> bool:
        return self.cargo or self.tip_soldier

    @property
    def is_lone(self) -> bool:
        return self.kind in {"mine", "flag"}


@dataclass
class Fate:
    """What becomes of a piece and of what it holds; ``none`` where nothing happens or nothing is there."""

    life: str = "lives"  # none | lives | dies | captured
    cargo: str = "none"  # none | dies | stays
    lifeboat: str = "none"  # none | stays
    mine: str = "none"  # none | dies
    flag: str = "none"  # none | square | carrier | lifeboat | attacker | attacker_tip


@dataclass
class Answer:
    """The result of one attack; `square` counts from the attacker's square."""

    reason: str
    outcome: str = "illegal"
    attacker: Fate = field(default_factory=Fate)
    target: Fate = field(default_factory=Fate)
    position: str = "none"
    square: tuple[int, int] | None = None
    leaves_carrier: bool = False
    clauses: set[str] = field(default_factory=set)
    coverage: set[str] = field(default_factory=set)


def read_piece(fields: Mapping[str, Any], options: Options) -> Piece:
    """Read a piece and refuse one that the rules can never bring about."""
    piece = Piece(**fields)
    if piece.kind not in KINDS or piece.place not in PLACES or piece.mount not in MOUNTS:
        raise ValueError(f"{piece}: unknown kind, place or mount")
    loose = piece.mount == "none"
    holds_flags = (
        piece.is_foot or piece.is_boat or (piece.kind == "plane" and options.plane_attacks_flag == "plane_takes")
    )
    for wrong, why in (
        (loose and piece.kind == "soldier" and piece.place == "sea", "a soldier stands on land"),
        (loose and piece.is_boat and piece.place == "land", "boats are on the sea"),
        (piece.mount == "boat_tip" and piece.place == "land", "the tip of a boat is on the sea"),
        (piece.mine and not piece.is_foot, "soldiers and saboteurs hold mines"),
        (piece.flag and not holds_flags, "such a piece holds no flag"),
        (piece.flag and piece.mount == "plane_tip", "FA-15: no flag on a plane"),
        (piece.lifeboat and piece.kind != "boat", "boats have lifeboats"),
        (piece.is_loaded and not (piece.is_boat or piece.kind == "plane"), "boats and planes carry"),
    ):
        if wrong:
            raise ValueError(f"{piece}: {why}")
    return piece


# --------------------------------------------------------------------------------------------------
# May this piece attack that one?
# --------------------------------------------------------------------------------------------------


# The clause that lets a kind attack from where it stands; a hold is named by the clause of the tip.
LICENCE = {
    ("soldier", "none"): "FO-1",
    ("soldier", "boat_tip"): "FO-8",
    ("soldier", "plane_tip"): "FO-8",
    ("boat", "none"): "FO-10",
    ("boat", "boat_tip"): "FO-19",
    ("lifeboat", "none"): "FO-10",
    ("lifeboat", "boat_tip"): "FO-19",
    ("plane", "none"): "FO-20",
    ("plane", "boat_tip"): "FO-25",
    ("saboteur", "none"): "FO-26",
    ("saboteur", "boat_tip"): "FO-32",
    ("saboteur", "plane_tip"): "FO-32",
}


def named_to_soldier(target: Piece, options: Options) -> str:
    """FO-1, FO-8: soldiers, planes and flags on land."""
    if target.place != "land":
        return "terrain"
    if target.kind == "saboteur":
        return "legal" if options.saboteur_is_soldier else "target_kind"
    return "legal" if target.kind in {"soldier", "plane", "flag"} else "target_kind"


def named_to_boat(attacker: Piece, target: Piece, options: Options) -> str:
    """FO-10, FO-19: planes and boats on the sea; FO-10 alone adds the flag."""
    if target.place != "sea":
        return "terrain"
    if target.kind == "flag" and attacker.mount == "none":
        return "legal" if attacker.tip_soldier else "no_tip_soldier"
    if target.kind == "saboteur":
        return "legal" if options.boat_attacks_saboteur else "target_kind"
    return "legal" if target.is_boat or target.kind == "plane" else "target_kind"


def named_by_licence(attacker: Piece, target: Piece, options: Options) -> str:
    """Return the reason why the attacker's clause does not name the target, or ``legal``."""
    if attacker.kind == "soldier":
        return named_to_soldier(target, options)
    if attacker.is_boat:
        return named_to_boat(attacker, target, options)
    if attacker.kind == "plane" and target.kind == "flag" and options.plane_attacks_flag == "refused":
        return "flag_refused"
    # FO-20, FO-25, FO-26, FO-32: any piece, on sea and on land.
    return "legal"


def in_range(attacker: Piece, rows: int, columns: int, options: Options) -> bool:
    """Return whether the target is one square beside, or for a plane in the row or column."""
    if rows == columns == 0:
        return False
    if attacker.kind == "plane":
        return rows == 0 or columns == 0
    if options.adjacency == "diagonal":
        return max(abs(rows), abs(columns)) == 1
    return abs(rows) + abs(columns) == 1


def first_failure(row: Mapping[str, Any], attacker: Piece, target: Piece, options: Options) -> str:
    """Return ``legal`` or the first test that fails."""
    recovered = target.kind == "flag" and options.own_flag_recovery
    for failed, reason in (
        (attacker.is_lone, "cannot_attack"),
        (attacker.mount == "hold", "not_on_tip"),
        ((attacker.kind, attacker.mount) not in LICENCE, "mount"),
        (target.mount != "none", "target_aboard"),
        (target.own and not recovered, "own_piece"),
    ):
        if failed:
            return reason
    reason = named_by_licence(attacker, target, options)
    if reason != "legal":
        return reason
    if not in_range(attacker, row["rows"], row["columns"], options):
        return "range"
    if attacker.kind == "plane" and options.plane_line_blocked and row.get("blocked", False):
        return "blocked"
    return "legal"


# --------------------------------------------------------------------------------------------------
# What becomes of the pieces
# --------------------------------------------------------------------------------------------------


def bury_boat(boat: Piece, fate: Fate, answer: Answer, options: Options) -> None:
    """Say what becomes of all that is on a lost boat."""
    if boat.is_loaded:
        fate.cargo = "dies"
    if boat.lifeboat:
        answer.clauses.add("FO-18")
        fate.lifeboat = "stays"
        if boat.flag:
            # FO-15 speaks of boats without lifeboat: the flag goes with the lifeboat.
            fate.flag = "lifeboat"
            answer.coverage.add("FA-12")
        if boat.is_loaded:
            if options.lifeboat_saves == "all_cargo":
                fate.cargo = "stays"
            if not boat.flag:
                answer.coverage.add("FA-6")
    elif boat.flag:
        fate.flag = "square"
        answer.clauses.add("FO-15")


def bury(piece: Piece, answer: Answer, options: Options) -> Fate:
    """Return the fate of a piece that dies, whichever side it is on, and note its clauses."""
    fate = Fate(life="dies")
    if piece.is_boat:
        bury_boat(piece, fate, answer, options)
    elif piece.kind == "plane":
        answer.clauses.add("FO-22")
        fate.cargo = "dies" if piece.is_loaded else "none"
        if piece.flag:
            # FA-15, second reading: reached only where planes may take flags.
            fate.flag = "square"
            answer.coverage.add("FA-15")
    else:
        if piece.mine:
            fate.mine = "dies"
            answer.clauses.add("FO-6" if piece.kind == "soldier" else "FO-31")
        if piece.flag:
            fate.flag = "square"
            answer.clauses.add("FO-7" if piece.kind == "soldier" else "FO-33")
    if fate.flag == "square" and piece.mount != "none":
        # FA-16: the flag of a piece that dies on a tip stays with the carrier.
        fate.flag = "carrier"
        answer.coverage.add("FA-16")
    return fate


def note_lost_attack(attacker: Piece, answer: Answer) -> None:
    """Note the clauses about an attacker that dies."""
    if attacker.is_boat and not (attacker.flag or attacker.lifeboat):
        answer.clauses.add("FO-16")
    if answer.outcome == "both_die":
        return
    if attacker.is_foot:
        answer.clauses.add("FO-9" if attacker.kind == "soldier" else "FO-34")
    if attacker.lifeboat:
        # FO-16 leaves this boat out and FO-18 says nothing about the piece it attacked.
        answer.coverage.add("FA-14")


def is_marked_boat(target: Piece) -> bool:
    """Return whether a beaten target is a boat that leaves a lifeboat or a flag."""
    return target.is_boat and (target.lifeboat or target.flag)


def is_laden_plane(target: Piece) -> bool:
    """Return whether the target is a plane that holds one or more pieces."""
    return target.kind == "plane" and target.is_loaded


def boat_won(target: Piece, answer: Answer) -> str:
    """Return where a winning boat stands."""
    if target.lifeboat:
        return "stay"  # FO-18
    if target.is_boat and target.flag:
        return "beside"  # FO-15
    answer.clauses.add("FO-12" if is_laden_plane(target) else "FO-17")
    if target.is_boat:
        answer.clauses.add("FO-13")
    return "beside" if target.flag else "take"


def plane_won(target: Piece, answer: Answer, options: Options) -> str:
    """Return where a winning plane stands."""
    answer.clauses.add("FO-23" if is_marked_boat(target) else "FO-24")
    if is_marked_boat(target) or target.flag:
        return "beside" if options.plane_special_win == "adjacent" else "stay"
    return {"stay": "stay", "take": "take", "adjacent": "beside"}[options.plane_win]


def foot_won(attacker: Piece, target: Piece, answer: Answer) -> str:
    """Return where a winning soldier or saboteur stands."""
    if is_marked_boat(target):
        answer.clauses.add("FO-30")
        return "beside"
    soldier = attacker.kind == "soldier"
    if is_laden_plane(target):
        answer.clauses.add("FO-3" if soldier else "FO-29")
    else:
        answer.clauses.add("FO-4" if soldier else "FO-35")
    return "beside" if target.flag else "take"


def place_winner(attacker: Piece, target: Piece, answer: Answer, options: Options) -> str:
    """Return where a winning attacker stands, and note the clauses that say so."""
    if target.kind == "lifeboat":
        answer.coverage.add("FA-11")
    if target.is_boat and target.is_loaded and not is_marked_boat(target) and not attacker.is_boat:
        # Only where a boat is the other party is it said that everything on the boat dies.
        answer.coverage.add("FA-13")
    if attacker.is_boat:
        return boat_won(target, answer)
    if attacker.kind == "plane":
        return plane_won(target, answer, options)
    return foot_won(attacker, target, answer)


def duel_of(row: Mapping[str, Any]) -> str:
    """Return the attacker's result, given as such or as two ranks of which the higher wins (FA-17)."""
    if "result" in row:
        result: str = row["result"]
        if result not in RESULTS:
            raise ValueError(f"result {result!r}: one of {RESULTS}")
        return result
    attacker, target = row["ranks"]
    return "win" if attacker > target else "lose" if attacker < target else "tie"


def fight(row: Mapping[str, Any], attacker: Piece, target: Piece, answer: Answer, options: Options) -> None:
    """Settle a duel: who dies, with what, and where a winning attacker stands."""
    result = duel_of(row)
    answer.outcome = {"win": "attacker_wins", "lose": "defender_wins", "tie": options.tie}[result]
    if result == "tie":
        answer.coverage.add("FA-3")
    if answer.outcome in {"defender_wins", "both_die"}:
        note_lost_attack(attacker, answer)
        answer.attacker = bury(attacker, answer, options)
    if answer.outcome in {"attacker_wins", "both_die"}:
        answer.target = bury(target, answer, options)
    if answer.outcome == "attacker_wins":
        answer.position = place_winner(attacker, target, answer, options)
    elif answer.outcome == "both_stay":
        answer.position = "stay"


def take_flag(attacker: Piece, answer: Answer, options: Options) -> None:
    """Settle an attack on a lone flag: there is no duel."""
    if attacker.kind == "plane" and options.plane_attacks_flag == "plane_dies":
        answer.outcome = "defender_wins"
        answer.attacker = bury(attacker, answer, options)
        return
    answer.outcome, answer.position = "flag_taken", "take"
    answer.target = Fate(life="captured", flag="attacker_tip" if attacker.is_boat else "attacker")
    if attacker.kind != "plane":
        answer.clauses.add({"soldier": "FO-5", "saboteur": "FO-28"}.get(attacker.kind, "FO-14"))


def set_square(row: Mapping[str, Any], attacker: Piece, answer: Answer) -> None:
    """Turn the position of a living attacker into a square."""
    rows, columns = row["rows"], row["columns"]
    answer.square = (0, 0)
    if answer.position == "take":
        answer.square = (rows, columns)
    elif answer.position == "beside" and attacker.kind == "plane":
        before = (rows - (rows > 0) + (rows < 0), columns - (columns > 0) + (columns < 0))
        if before != (0, 0) and row.get("beside_taken", False):
            answer.position = "stay"  # FA-2
        else:
            answer.square = before
    answer.leaves_carrier = attacker.mount != "none" and answer.square != (0, 0)


def note_doubtful_pair(attacker: Piece, target: Piece, answer: Answer) -> None:
    """Note the ambiguities that decide whether the attack is allowed at all."""
    if answer.reason == "not_on_tip":
        answer.coverage.add("FA-10")
    elif attacker.kind == "soldier" and target.kind == "saboteur" and target.place == "land":
        answer.coverage.add("FA-7")
    elif attacker.is_boat and target.kind == "saboteur" and target.place == "sea":
        answer.coverage.add("FA-8")
    elif attacker.kind == "plane" and target.kind == "flag":
        answer.coverage.add("FA-9")
    elif answer.reason == "legal" and (attacker.kind == "lifeboat" or (attacker.is_boat and target.kind == "lifeboat")):
        answer.coverage.add("FA-11")


def resolve(row: Mapping[str, Any], options: Options = DEFAULTS) -> Answer:
    """Resolve one attack.

    `row` has ``attacker`` and ``target`` (fields of `Piece`), ``rows`` and ``columns`` (from attacker to
    target), ``result`` or ``ranks``, and where the board matters ``blocked`` and ``beside_taken``.
    """
    attacker = read_piece(row["attacker"], options)
    target = read_piece(row["target"], options)
    answer = Answer(first_failure(row, attacker, target, options))
    note_doubtful_pair(attacker, target, answer)
    if answer.reason != "legal":
        answer.attacker = answer.target = Fate(life="none")
        return answer
    answer.clauses.add(LICENCE[attacker.kind, attacker.mount])
    if target.kind == "flag":
        take_flag(attacker, answer, options)
    else:
        fight(row, attacker, target, answer, options)
    if answer.position != "none":
        set_square(row, attacker, answer)
    return answer
