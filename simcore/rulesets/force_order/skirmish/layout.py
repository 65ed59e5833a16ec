"""Codes and columns of a skirmish: pieces on a board, the state of a game, how it ends."""

from __future__ import annotations

from enum import IntEnum

__all__ = [
    "ENDS",
    "N_RULES",
    "N_STATE",
    "OUTCOMES",
    "PLACING",
    "Act",
    "End",
    "Event",
    "KeyColumn",
    "ListColumn",
    "Outcome",
    "PieceColumn",
    "Policy",
    "Rule",
    "SquareColumn",
    "State",
    "Tip",
    "TraceColumn",
]

PLACING = ("flag", "soldier", "boat", "lifeboat", "saboteur", "plane")
"""Kinds in the order in which they are placed: those with the least choice of squares first, so that every
arrangement is as likely as any other."""


class PieceColumn(IntEnum):
    """Columns of a piece (int16). A piece that is neither on a square nor aboard is dead."""

    UNIT = 0
    """Place on axis T."""
    KIND = 1
    SIDE = 2
    SQUARE = 3
    """Row times columns of the board, plus column; -1 if not on a square."""
    CARRIER = 4
    """Number of the piece that it is aboard of, or that holds it; -1 if none."""
    FIRST = 5
    """First of the pieces aboard, in the order of boarding; -1 if none."""
    NEXT = 6
    """Next piece aboard of the same carrier; -1 if none."""


class SquareColumn(IntEnum):
    """Columns of a square (int16)."""

    PIECE = 0
    """Number of the piece on it, -1 if none."""
    ROW = 1
    COLUMN = 2
    IS_LAND = 3
    BESIDE = 4
    """First of the four squares beside it, in order and filled up with -1."""
    AROUND = 8
    """First of the eight squares around it, in the same way."""


class ListColumn(IntEnum):
    """Columns of lists (int32)."""

    ACTION = 0
    """Legal actions in order: number of the piece, `Act` and square, in bits 12 to 30, 10 to 11 and 0 to 9."""
    KIN = 1
    """All that is aboard a piece."""
    STAYS = 2
    """Whether it stays when that piece dies."""


class KeyColumn(IntEnum):
    """Columns of keys (uint64)."""

    HISTORY = 0
    """Key of the board after each turn."""
    PIECE = 1
    """Key of each piece with its load, while it is worked out."""


class Act(IntEnum):
    """What a piece does in a turn."""

    MOVE = 0
    LOAD = 1
    UNLOAD = 2
    ATTACK = 3


class Tip(IntEnum):
    """Who of the cargo stands on the loading tip (FA-10)."""

    UNLIMITED = 0
    ONE = 1
    """The piece that boarded first."""
    LAST = 2
    """The piece that boarded last."""


class Policy(IntEnum):
    """How a side chooses among its legal actions."""

    RANDOM = 0
    """All alike."""
    GREEDY = 1
    """One of those with the largest expected cost of pieces won minus pieces lost."""


class Outcome(IntEnum):
    """How a game ends (int8)."""

    ATTACKER_WINS = 0
    DEFENDER_WINS = 1
    DRAW = 2


class End(IntEnum):
    """Why a game ends (int8)."""

    FLAG_HOME = 0
    FLAG_CAPTURED = 1
    NO_ACTION = 2
    REPETITION = 3
    TURN_CAP = 4


class State(IntEnum):
    """First fields of the state of a game (int64); the rules and options that hold follow."""

    MOVER = 0
    TURN = 1
    """Actions so far."""
    ACTIONS = 2
    """Legal actions of the side on the move, the first entries of their column in `Board.lists`."""
    OUTCOME = 3
    """-1 while the game goes on."""
    END = 4
    FRESH = 5
    """First turn whose board can come again: attacks that cost a piece or take a flag cannot be undone."""
    DROPPED = 6
    """Flags left on a square by a dead holder, by its side."""
    TAKEN = 8
    """Lone flags taken, by side."""
    RETAKEN = 10
    """Those among them that had been taken before."""
    TOUCHED = 12
    """Whether each side's flag has been taken."""
    FLAGS = 14
    """Number of each side's flag."""
    STARTED = 16
    """Side that moved first."""
    SCRIPT = 17
    """Entries of the script that have been used."""
    FAULT = 18
    """Number, from 1, of the first of them that is missing or does not fit."""
    RULES = 19
    """First of the fields by `Rule`."""
    OPTIONS = 36
    """First of the fields by `steps.Options`."""


class Rule(IntEnum):
    """What holds on the board (FA-10, FA-25): columns of the rules of a matchup (int64)."""

    ROWS = 0
    COLUMNS = 1
    LAND_COLUMNS = 2
    """The first columns are land."""
    SET_UP_ROWS = 3
    """Rows of each side in which its pieces are placed."""
    FLAG_ROWS = 4
    BOAT_CAPACITY = 5
    LIFEBOAT_CAPACITY = 6
    PLANE_CAPACITY = 7
    TIP = 8
    """By `Tip`."""
    IS_CAPTURE = 9
    """Whether taking the enemy's flag wins, in place of carrying it home."""
    TURN_CAP = 10
    REPETITIONS = 11
    """How often a board with the same mover makes a draw; 0: never."""
    FIRST_MOVER = 12
    """0 attacker, 1 defender, 2 each in turn: the attacker in games with an even number."""
    POLICY = 13
    """By `Policy`, one for each side."""
    FLAG_FIRST = 15
    """Whether a side takes the flag, or a homeward step with it, when it can; one for each side."""


class Event(IntEnum):
    """What a row of a trace tells."""

    PLACED = 0
    DEALT = 1
    """A mine was dealt."""
    BEGUN = 2
    ACTED = 3


class TraceColumn(IntEnum):
    """Columns of a trace (int64)."""

    EVENT = 0
    SIDE = 1
    PIECE = 2
    ACT = 3
    SQUARE = 4
    """Goal of the action, square of a piece that is placed; for a mine the number of its holder."""
    ACTIONS = 5
    """Legal actions, or squares or holders to choose from."""
    CHOICES = 6
    """Those among which the policy chooses."""
    INDEX = 7
    """Which of them it was."""
    RESULT = 8
    """`Result` of the duel, 0 if there was none."""
    IS_OPEN = 9
    """Whether the order of forces left it to chance."""
    CLAUSES = 10
    GAPS = 11
    ROW = 12
    """First column of the attack, by `RowField`."""
    ANSWER = 36
    """First column of what came of it, by `FateRow`."""
    PIECES = 51
    """Square and carrier of each piece afterwards."""


N_STATE = 46
N_RULES = 17
OUTCOMES = tuple(outcome.name.lower() for outcome in Outcome)
ENDS = tuple(end.name.lower() for end in End)
