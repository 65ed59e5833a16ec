"""Codes and columns of attacks as flat rows: what goes in, what comes out."""

from __future__ import annotations

from enum import IntEnum

__all__ = [
    "CLAUSES",
    "KINDS",
    "MOUNTS",
    "OUTCOMES",
    "PIECE_FIELDS",
    "PLACES",
    "REASONS",
    "ROW_FIELDS",
    "TARGET",
    "Fate",
    "FateField",
    "FateRow",
    "Kind",
    "Mount",
    "Outcome",
    "Part",
    "PieceField",
    "Place",
    "Position",
    "Reason",
    "Result",
    "RowField",
]

CLAUSES = 35
"""Clauses FO-1 to FO-35; clause n is bit n - 1 of a mask. Gaps FA-n are bits of another mask in the same way."""


class Kind(IntEnum):
    """What a piece is (int8)."""

    SOLDIER = 0
    SABOTEUR = 1
    BOAT = 2
    LIFEBOAT = 3
    """A lifeboat by itself on the sea; one aboard a boat is a part of the boat's load."""
    PLANE = 4
    FLAG = 5
    MINE = 6


class Mount(IntEnum):
    """What a piece stands on (int8)."""

    NONE = 0
    BOAT_TIP = 1
    PLANE_TIP = 2
    HOLD = 3
    """Aboard, but not on the loading tip."""


class Place(IntEnum):
    """The square of a piece or of its carrier (int8)."""

    LAND = 0
    SEA = 1


class PieceField(IntEnum):
    """Columns of one piece."""

    KIND = 0
    MOUNT = 1
    PLACE = 2
    MINE = 3
    FLAG = 4
    LIFEBOAT = 5
    CARGO = 6
    """Whether anything is aboard besides a lifeboat and a flag."""
    TIP_SOLDIER = 7
    """Whether a soldier of the cargo stands on the loading tip."""


TARGET = len(PieceField)
"""Column where the target's fields begin; the attacker's begin at 0."""


class RowField(IntEnum):
    """Columns of a row behind the two pieces."""

    ROWS = 16
    """Row of the target minus row of the attacker, -126 to 126."""
    COLUMNS = 17
    IS_OWN = 18
    """Whether the target belongs to the attacker's side."""
    BLOCKED = 19
    """Whether a piece stands between the two on a row or column."""
    BESIDE_TAKEN = 20
    """Whether a piece stands on the last square before the target."""
    RESULT = 21
    """`Result` of the duel."""
    ATTACKER_RANK = 22
    """Used where the result is `BY_RANK`."""
    TARGET_RANK = 23


class Result(IntEnum):
    """Result of a duel from the attacker's view (int8)."""

    BY_RANK = 0
    WIN = 1
    LOSE = 2
    TIE = 3


class Reason(IntEnum):
    """Which test an attack failed (int8); tested in this order."""

    LEGAL = 0
    NOT_ON_TIP = 1
    NO_TIP_CLAUSE = 2
    CARGO_TARGET = 3
    OWN_PIECE = 4
    NOT_ON_LAND = 5
    NOT_AT_SEA = 6
    NOT_NAMED = 7
    NO_TIP_SOLDIER = 8
    NO_RESULT = 9
    NOT_BESIDE = 10
    NOT_IN_LINE = 11
    BLOCKED = 12


class Outcome(IntEnum):
    """How an attack ends (int8)."""

    ATTACKER_WINS = 0
    DEFENDER_WINS = 1
    BOTH_DIE = 2
    BOTH_STAY = 3
    FLAG_TAKEN = 4
    ILLEGAL = 5


class Position(IntEnum):
    """Where the attacker stands afterwards (int8)."""

    NONE = 0
    """It is dead, or the attack was illegal."""
    TAKE = 1
    STAY = 2
    BESIDE = 3


class Fate(IntEnum):
    """What becomes of a piece (int8)."""

    NONE = 0
    LIVES = 1
    DIES = 2
    CAPTURED = 3


class Part(IntEnum):
    """What becomes of something that a piece holds (int8)."""

    NONE = 0
    """It has no such thing, or keeps it."""
    DIES = 1
    LEFT = 2
    """Stays on the square of the dead piece, with the carrier if that stood on one."""
    ON_LIFEBOAT = 3
    ON_ATTACKER = 4
    ON_TIP = 5
    """On the loading tip of the attacking boat."""


class FateField(IntEnum):
    """Columns of what becomes of one piece."""

    FATE = 0
    FLAG = 1
    LIFEBOAT = 2
    CARGO = 3
    MINE = 4


class FateRow(IntEnum):
    """Columns of the answer to a row."""

    REASON = 0
    OUTCOME = 1
    POSITION = 2
    ROW = 3
    """Final square of a living attacker, counted from where it stood."""
    COLUMN = 4
    ATTACKER = 5
    """First of the attacker's `FateField` columns."""
    TARGET = 10


def _names(codes: type[IntEnum]) -> tuple[str, ...]:
    return tuple(code.name.lower() for code in codes)


KINDS = _names(Kind)
MOUNTS = _names(Mount)
PLACES = _names(Place)
OUTCOMES = _names(Outcome)
REASONS = _names(Reason)
PIECE_FIELDS = _names(PieceField)
ROW_FIELDS = (
    *(f"attacker.{name}" for name in PIECE_FIELDS),
    *(f"target.{name}" for name in PIECE_FIELDS),
    *_names(RowField),
)
"""Names of the columns of a row, in order."""
