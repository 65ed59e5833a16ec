"""The story of one skirmish: the boards, and what each side did in its turns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from simcore.enums import Side
from simcore.errors import ScenarioError
from simcore.rulesets.force_order.attack import Attacks
from simcore.rulesets.force_order.edition import UNITS
from simcore.rulesets.force_order.encoding import SCALE
from simcore.rulesets.force_order.layout import Result
from simcore.rulesets.force_order.skirmish.drive import trace_game
from simcore.rulesets.force_order.skirmish.encoding import ACCUMULATORS, encode
from simcore.rulesets.force_order.skirmish.layout import ENDS, OUTCOMES, Act, Event, PieceColumn, TraceColumn
from simcore.rulesets.force_order.story import DUELS, fate_lines
from simcore.story import Story

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simcore.rulesets.force_order.params import ForceOrderScenario

__all__ = ["LETTERS", "GameReplay", "board_lines", "replay_game"]

LETTERS: Final = {
    **{f"soldier{rank}": f"s{rank}" for rank in range(1, 10)},
    "saboteur": "sa",
    "boat_small": "b1",
    "boat_medium": "b2",
    "boat_large": "b3",
    "lifeboat": "lb",
    "plane_scout": "p1",
    "plane_fighter": "p2",
    "flag": "fl",
}
"""How pieces are written on a board: the attacker's in capitals."""
_LEGEND = (
    "Capitals are the attacker's pieces: "
    + ", ".join(f"{LETTERS[unit].upper()} {unit}" for unit in UNITS if unit in LETTERS and "soldier" not in unit)
    + ", S1 to S9 soldiers; + holds something, * holds a flag; . land, ~ sea"
)
_ENDINGS: Final = {
    "flag_home": "the enemy's flag has come home",
    "flag_captured": "the enemy's flag is taken",
    "no_action": "the side on the move cannot act",
    "repetition": "the same board has come too often",
    "turn_cap": "the last turn is over",
}
_SET_UP: Final = {Event.PLACED: "square of ", Event.DEALT: "holder of "}
_VERBS: Final = {Act.MOVE: "moves to", Act.LOAD: "boards", Act.UNLOAD: "leaves for"}
_CELL = 5


@dataclass(frozen=True)
class GameReplay(Story):
    """One skirmish, told.

    Attributes
    ----------
    battle : int
    outcome : str
    turns : int
    end : str
        Why the game ended: flag_home, flag_captured, no_action, repetition or turn_cap.
    lines : list of str
    actions : list of dict
        What was done in each turn: ``side``, ``unit``, ``act``, ``start``, ``goal``, how many actions there were to
        choose from, and of an attack what came of it.
    draws : list of dict
        Draw points in order: what was drawn, from how many, and which entry (``hits``) came up.
    """

    battle: int
    outcome: str
    turns: int
    end: str
    lines: list[str]
    actions: list[dict[str, Any]] = field(default_factory=list)
    draws: list[dict[str, Any]] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON-able data."""
        return {
            "battle": self.battle,
            "outcome": self.outcome,
            "turns": self.turns,
            "end": self.end,
            "actions": list(self.actions),
            "draws": list(self.draws),
            "lines": list(self.lines),
        }


def board_lines(
    size: tuple[int, int, int], units: Sequence[str], sides: Sequence[int], places: Sequence[Sequence[int]]
) -> list[str]:
    """Return a board as text, one line a row.

    Parameters
    ----------
    size : tuple of int
        Rows, columns, columns of land.
    units, sides : sequence
        Of each piece.
    places : sequence of (int, int)
        Square and carrier of each piece, -1 for none.

    Returns
    -------
    list of str

    Examples
    --------
    >>> for line in board_lines((2, 3, 2), ["soldier5", "mine", "flag"], [0, 0, 1], [(3, -1), (-1, 0), (5, -1)]):
    ...     print(line)
          0    1    2
     0  .    .    ~
     1  S5+  .    fl
    """
    rows, columns, land = size
    cells = [["." if column < land else "~" for column in range(columns)] for _ in range(rows)]
    for p, (square, _) in enumerate(places):
        if square < 0:
            continue
        text = LETTERS[units[p]]
        held = [other for other, _ in enumerate(places) if other != p and _root(places, other) == p]
        mark = "*" if any(units[other] == "flag" for other in held) else "+" if held else ""
        cells[square // columns][square % columns] = (text.upper() if sides[p] == Side.ATTACKER else text) + mark
    head = "    " + "".join(f"{column:>3}".ljust(_CELL) for column in range(columns))
    body = [f"{row:>2}  " + "".join(cell.ljust(_CELL) for cell in line) for row, line in enumerate(cells)]
    return [line.rstrip() for line in (head, *body)]


def _root(places: Sequence[Sequence[int]], p: int) -> int:
    """Return the piece that carries a piece in the end; itself if nothing does."""
    while places[p][1] >= 0:
        p = places[p][1]
    return p


class _Teller:
    """Turns the rows of a trace into sentences."""

    def __init__(self, scenario: ForceOrderScenario, trace: npt.NDArray[np.int64]) -> None:
        games = encode([scenario])
        self.trace = trace
        self.scenario = scenario
        options = scenario.rules.options
        self.size = options.rows, options.columns, options.land_columns
        number = int(games.numbers[0].sum())
        self.units = [UNITS[unit] for unit in games.pieces[0, :number, PieceColumn.UNIT].tolist()]
        self.sides = games.pieces[0, :number, PieceColumn.SIDE].tolist()

    def places(self, at: int) -> list[list[int]]:
        """Return square and carrier of each piece after an event."""
        found: list[list[int]] = self.trace[at, TraceColumn.PIECES :].reshape(-1, 2).tolist()
        return found

    def board(self, at: int) -> list[str]:
        """Return the board after an event."""
        return board_lines(self.size, self.units, self.sides, self.places(at))

    def draws(self) -> list[tuple[dict[str, Any], int, int]]:
        """Return the draw points in order, with the lowest and the highest entry of each."""
        found: list[tuple[dict[str, Any], int, int]] = []
        turn = 0
        for at, row in enumerate(self.trace.tolist()):
            if row[TraceColumn.EVENT] == Event.BEGUN:
                continue
            is_action = row[TraceColumn.EVENT] == Event.ACTED
            turn += is_action
            point = {"turn": turn, "side": Side(row[TraceColumn.SIDE]).name.lower(), "dice": 1}
            n = row[TraceColumn.CHOICES]
            if n > 1:
                what = "action" if is_action else _SET_UP[row[TraceColumn.EVENT]] + self.units[row[TraceColumn.PIECE]]
                found.append(({**point, "what": what, "odds": [1, n], "hits": row[TraceColumn.INDEX]}, 0, n - 1))
            if row[TraceColumn.IS_OPEN]:
                result = row[TraceColumn.RESULT]
                own, enemy = self.units[row[TraceColumn.PIECE]], self.units[self._standing(at, row)]
                chance = round(self.scenario.duels[own, enemy][result - 1] * SCALE)
                duel = {"what": "duel: 1 win, 2 lose, 3 tie", "odds": [chance, SCALE], "hits": result}
                found.append(({**point, **duel}, 1, 3))
        return found

    def _standing(self, at: int, row: Sequence[int]) -> int:
        """Return the piece that stood on the square of an action before it."""
        return [square for square, _ in self.places(at - 1)].index(row[TraceColumn.SQUARE])

    def turns(self) -> Iterator[tuple[dict[str, Any], list[str]]]:
        """Yield each action as data and in words; the board follows what changed it most, the attacks."""
        for at in np.flatnonzero(self.trace[:, TraceColumn.EVENT] == Event.ACTED).tolist():
            row = self.trace[at].tolist()
            p, act = row[TraceColumn.PIECE], Act(row[TraceColumn.ACT])
            before = self.places(at - 1)
            carrier = before[p][1]
            start, goal = (
                list(divmod(square, self.size[1])) for square in (before[_root(before, p)][0], row[TraceColumn.SQUARE])
            )
            other = self._standing(at, row) if act in {Act.LOAD, Act.ATTACK} else -1
            told: dict[str, Any] = {
                "side": Side(row[TraceColumn.SIDE]).name.lower(),
                "unit": self.units[p],
                "act": act.name.lower(),
                "start": start,
                "goal": goal,
                "legal_actions": row[TraceColumn.ACTIONS],
                "choices": row[TraceColumn.CHOICES],
            }
            where = f" ({start[0]},{start[1]})"
            if carrier >= 0:
                where = f" on {self.units[carrier]}{where}"
            head = f"{told['side']}: {told['unit']}{where} "
            if act == Act.ATTACK:
                text, more, found = self._attack(row, other, goal)
                told["attack"] = found
                yield told, [head + text, *more, *self.board(at)]
            else:
                aboard = f" {self.units[other]}" if other >= 0 else ""
                yield told, [f"{head}{_VERBS[act]}{aboard} ({goal[0]},{goal[1]})"]

    def _attack(self, row: list[int], target: int, goal: Sequence[int]) -> tuple[str, list[str], dict[str, Any]]:
        """Return an attack in words: the rest of the sentence, what came of it, and that as data."""
        answers = np.array([row[TraceColumn.ANSWER : TraceColumn.PIECES]], dtype=np.int8)
        masks = [np.array([row[column]], dtype=np.uint64) for column in (TraceColumn.CLAUSES, TraceColumn.GAPS)]
        found = Attacks(answers, *masks).describe(0)
        names = self.units[row[TraceColumn.PIECE]], self.units[target]
        text = f"attacks {names[1]} ({goal[0]},{goal[1]})"
        result = Result(row[TraceColumn.RESULT])
        text += f" and {DUELS[result]} the duel" if result in DUELS else ""
        cited = ", ".join([*found["clauses"], *found["gaps"]])
        return f"{text} ({cited})", [f"  {line}" for line in fate_lines(found, names)], found


def replay_game(
    scenario: ForceOrderScenario,
    key: npt.NDArray[np.uint64],
    battle: int,
    script: npt.NDArray[np.int64] | None,
) -> GameReplay:
    """Tell one skirmish.

    Parameters
    ----------
    scenario : ForceOrderScenario
    key : uint64 (2,)
    battle : int
    script : int64 (draws,) or None
        Entries of the draw points in place of random ones, for those with more than one: for each piece that is placed
        the number of its square among those that are free, for each mine the number of its holder, for each turn the
        number of the action among those that the policy chooses from, and 1, 2 or 3 for a duel that is left to chance.

    Returns
    -------
    GameReplay

    Raises
    ------
    ScenarioError
        For a script that does not fit.
    """
    trace, tally, used = trace_game(encode([scenario]), key, battle, script)
    teller = _Teller(scenario, trace)
    points = teller.draws()
    if script is not None:
        _check_script(script, used, points)
    sums = dict(zip(ACCUMULATORS, tally.tolist(), strict=True))
    outcome = next(name for name in OUTCOMES if sums[f"outcome.{name}"])
    end = next(name for name in ENDS if sums[f"end.{name}"])
    rows, columns, land = teller.size
    lines = [
        f"{scenario.unit_text(0)} v {scenario.unit_text(1)}, game {battle}",
        (
            f"{rows} rows and {columns} columns, {land} of them land; "
            f"the attacker's home is row 0, the defender's row {rows - 1}"
        ),
        _LEGEND,
        "",
        "Set-up",
        *teller.board(int(np.flatnonzero(trace[:, TraceColumn.EVENT] == Event.BEGUN)[0])),
        "",
    ]
    actions = []
    for number, (told, texts) in enumerate(teller.turns(), start=1):
        actions.append({"turn": number, **told})
        lines += [f"Turn {number}, {texts[0]}", *texts[1:]]
    lines += ["", "Final board", *teller.board(len(trace) - 1), ""]
    turns = sums["turns.sum"]
    lines.append(f"Outcome: {outcome.replace('_', ' ')} after {turns} turns, {_ENDINGS[end]}")
    return GameReplay(battle, outcome, turns, end, lines, actions, [point for point, _, _ in points])


def _check_script(script: npt.NDArray[np.int64], used: int, points: Sequence[tuple[dict[str, Any], int, int]]) -> None:
    """Refuse a script that does not fit; a negative `used` is minus the number of the first entry that does not."""
    if used >= 0:
        if used < len(script):
            raise ScenarioError(
                f"the game ends after {used} draw points, but the script has {len(script)}", field="script"
            )
        return
    draw, low, high = points[-used - 1]
    point = f"draw point {-used} (turn {draw['turn']}, {draw['side']}: {draw['what']})"
    if -used > len(script):
        raise ScenarioError(
            f"the script ends after {len(script)} draw points, but {point} needs its entry", field="script"
        )
    raise ScenarioError(f"{point} cannot give {int(script[-used - 1])}; allowed: {low} to {high}", field="script")
