"""The story of one attack: who met whom, which clauses decided, what is left where."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from simcore.enums import Side
from simcore.errors import ScenarioError
from simcore.rulesets.force_order import kernel
from simcore.rulesets.force_order.attack import ANSWER_COLUMNS, Attacks
from simcore.rulesets.force_order.edition import KIND_OF
from simcore.rulesets.force_order.encoding import SCALE, encode
from simcore.rulesets.force_order.layout import ROW_FIELDS, Fate, Kind, Mount, Outcome, Part, PieceField, Place, Result

if TYPE_CHECKING:
    from simcore.rulesets.force_order.params import ForceOrderScenario, State

__all__ = ["DUELS", "REFUSALS", "Replay", "fate_lines", "replay"]

REFUSALS: Final = {
    "not_on_tip": "it is aboard, but not on the loading tip",
    "no_tip_clause": "no clause lets it act from the loading tip of such a carrier",
    "cargo_target": "what is aboard a carrier cannot be attacked, only the carrier",
    "own_piece": "the target belongs to its own side",
    "not_on_land": "it attacks on land only",
    "not_at_sea": "it attacks at sea only",
    "not_named": "no clause lets it attack such a piece",
    "no_tip_soldier": "a boat takes a flag only with a soldier on its loading tip",
    "no_result": "no clause says what comes of it",
    "not_beside": "the target is not one square beside it",
    "not_in_line": "the target is neither in its row nor in its column",
    "blocked": "a piece stands between the two",
}
"""Why an attack is illegal, by the name of its reason."""
DUELS: Final = {Result.WIN: "wins", Result.LOSE: "loses", Result.TIE: "ties"}
"""What an attacker does in its duel."""


@dataclass(frozen=True)
class Replay:
    """One attack, told.

    Attributes
    ----------
    battle : int
    outcome : str
    lines : list of str
    draws : list of dict
        Draw points in order: what was drawn, from how many, and which entry (``hits``) came up.
    answer : dict
        As of `attack.Attacks.describe`.
    """

    battle: int
    outcome: str
    lines: list[str]
    answer: dict[str, Any]
    draws: list[dict[str, Any]] = field(default_factory=list)
    cycles: int = 1

    def to_text(self) -> str:
        """Return the story as text."""
        return "\n".join(self.lines)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON-able data."""
        return {
            "battle": self.battle,
            "outcome": self.outcome,
            "cycles": self.cycles,
            **{key: value for key, value in self.answer.items() if key != "outcome"},
            "draws": list(self.draws),
            "lines": list(self.lines),
        }

    def __str__(self) -> str:
        return self.to_text()


def piece_text(state: State) -> str:
    """Return a piece with where it stands and what it holds."""
    value = dict(zip(PieceField, state.fields, strict=True))
    text = state.unit
    mount = {Mount.BOAT_TIP: " on a boat's loading tip", Mount.PLANE_TIP: " on a plane's loading tip"}
    text += mount.get(Mount(value[PieceField.MOUNT]), "")
    if value[PieceField.MOUNT] == Mount.HOLD:
        text += " aboard a carrier"
    text += " on land" if value[PieceField.PLACE] == Place.LAND else " at sea"
    held = [
        name
        for name, column in (
            ("a mine", PieceField.MINE),
            ("a flag", PieceField.FLAG),
            ("a lifeboat", PieceField.LIFEBOAT),
            ("cargo", PieceField.CARGO),
        )
        if value[column]
    ]
    if value[PieceField.TIP_SOLDIER]:
        held.append("a soldier on its tip")
    return text + (f" with {', '.join(held)}" if held else "")


class _Script:
    """Draws in order: those of a script, or else the random ones."""

    def __init__(self, given: npt.NDArray[np.int64] | None) -> None:
        self._given = given
        self.draws: list[dict[str, Any]] = []

    def take(self, drawn: int, what: str, side: Side, low: int, high: int, odds: tuple[int, int]) -> int:
        """Return the entry of a draw point that has more than one."""
        point = f"draw point {len(self.draws) + 1} ({what})"
        if self._given is not None:
            if len(self.draws) >= len(self._given):
                raise ScenarioError(
                    f"the script ends after {len(self._given)} draw points, but {point} needs its entry", field="script"
                )
            drawn = int(self._given[len(self.draws)])
            if not low <= drawn <= high:
                raise ScenarioError(f"{point} cannot give {drawn}; allowed: {low} to {high}", field="script")
        draw = {"cycle": 1, "side": side.name.lower(), "what": what, "dice": 1, "odds": list(odds), "hits": drawn}
        self.draws.append(draw)
        return drawn

    def finish(self) -> None:
        """Refuse a script that is longer than the battle."""
        if self._given is not None and len(self._given) > len(self.draws):
            used = len(self.draws)
            raise ScenarioError(
                f"the battle ends after {used} draw points, but the script has {len(self._given)}", field="script"
            )


def replay(
    scenario: ForceOrderScenario,
    key: npt.NDArray[np.uint64],
    battle: int,
    script: npt.NDArray[np.int64] | None,
) -> Replay:
    """Tell one attack.

    Parameters
    ----------
    scenario : ForceOrderScenario
    key : uint64 (2,)
    battle : int
    script : int64 (draws,) or None
        Entries of the draw points in place of random ones: number of the attacker's state where it has more than
        one, the same for the defender, then 1 for a win, 2 for a loss, 3 for a tie where that is open.

    Returns
    -------
    Replay

    Raises
    ------
    ScenarioError
        For a script that does not fit.
    """
    mixes = encode([scenario])
    drawn = kernel.draw_meeting(mixes, 0, np.uint64(battle), np.ascontiguousarray(key))
    attacker, target, result = (int(value) for value in drawn)
    source = _Script(script)
    states = [scenario.states(side) for side in Side]
    met = []
    for side, entry, what in (
        (Side.ATTACKER, attacker, "which piece attacks"),
        (Side.DEFENDER, target, "which is attacked"),
    ):
        own = states[side]
        if len(own) > 1:
            total = sum(state.weight for state in own)
            entry = source.take(entry, what, side, 0, len(own) - 1, (own[entry].weight, total))  # noqa: PLW2901
        met.append(entry)
    piece, enemy = states[0][met[0]], states[1][met[1]]
    result = _duel(scenario, piece.unit, enemy.unit, result, source)
    source.finish()
    row, answer = np.zeros((1, len(ROW_FIELDS)), dtype=np.int8), np.zeros((1, ANSWER_COLUMNS), dtype=np.int8)
    clauses, gaps = kernel.meet(mixes, 0, met[0], met[1], result, row, answer)
    found = Attacks(answer, np.array([clauses], dtype=np.uint64), np.array([gaps], dtype=np.uint64)).describe(0)
    lines = _lines(scenario, piece, enemy, Result(result), found, battle)
    return Replay(battle, found["outcome"], lines, found, source.draws)


def _duel(scenario: ForceOrderScenario, own: str, other: str, result: int, source: _Script) -> int:
    """Return the result of the duel, which is a draw point where it is not certain."""
    if scenario.result != "by_order" or KIND_OF[other] == Kind.FLAG:
        return result
    odds = scenario.rules.order[own, other]
    if max(odds) == 1.0:
        return 1 + odds.index(1.0)
    chance = round(odds[result - 1] * SCALE)
    return source.take(result, "duel: 1 win, 2 lose, 3 tie", Side.ATTACKER, 1, 3, (chance, SCALE))


def _lines(
    scenario: ForceOrderScenario, own: State, other: State, result: Result, found: dict[str, Any], battle: int
) -> list[str]:
    names = own.unit, other.unit
    down, across = scenario.row_difference, scenario.column_difference
    lines = [
        f"{scenario.unit_text(0)} v {scenario.unit_text(1)}, attack {battle}",
        f"{piece_text(own)} attacks {piece_text(other)}, {_direction(down, across)}",
    ]
    if found["outcome"] == "illegal":
        cited = ", ".join([*found["clauses"], *found["gaps"]])
        return [*lines, f"The attack is not allowed: {REFUSALS[found['reason']]} ({cited})"]
    if other.fields[PieceField.KIND] != Kind.FLAG:
        given = "as the scenario says" if scenario.result != "by_order" else "by the order of forces"
        lines.append(f"The {names[0]} {DUELS[result]} the duel, {given}")
    lines += fate_lines(found, names)
    lines.append(f"Outcome: {found['outcome'].replace('_', ' ')} ({', '.join(found['clauses'])})")
    if found["gaps"]:
        lines.append(f"Where the rules are silent: {', '.join(found['gaps'])}")
    return lines


def _direction(down: int, across: int) -> str:
    parts = [
        f"{abs(steps)} {'row' if axis == 0 else 'column'}{'s' if abs(steps) > 1 else ''} {words[steps > 0]}"
        for axis, (steps, words) in enumerate(((down, ("up", "down")), (across, ("to the left", "to the right"))))
        if steps
    ]
    return " and ".join(parts)


def fate_lines(found: dict[str, Any], names: tuple[str, str]) -> list[str]:
    """Return what became of the two pieces of an attack.

    Parameters
    ----------
    found : dict
        As of `attack.Attacks.describe`.
    names : tuple of str
        Units of the attacker and the target.

    Returns
    -------
    list of str
    """
    lines = []
    for side, name in zip(("attacker", "target"), names, strict=True):
        part = found[side]
        if part["fate"] == Fate.DIES.name.lower():
            lines.append(f"The {side}, {name}, dies{_held(part)}")
    if found["target"]["fate"] == Fate.LIVES.name.lower():
        lines.append(f"The target, {names[1]}, stays in its place")
    if found["attacker"]["fate"] == Fate.LIVES.name.lower():
        lines.append(f"The attacker, {names[0]}, {_where(found)}")
    return lines


def _held(part: dict[str, str]) -> str:
    """Return what becomes of the things that a dead piece held."""
    texts = {
        Part.DIES: "dies with it",
        Part.LEFT: "is left where it died",
        Part.ON_LIFEBOAT: "stays there on the lifeboat",
    }
    told = [
        f"its {name} {texts[code]}"
        for name in ("mine", "cargo", "lifeboat", "flag")
        for code in texts
        if part[name] == code.name.lower()
    ]
    return "; " + ", ".join(told) if told else ""


def _where(found: dict[str, Any]) -> str:
    down, across = found["square"]
    if found["position"] == "take":
        flag = found["target"]["flag"]
        extra = ""
        if found["outcome"] == Outcome.FLAG_TAKEN.name.lower():
            extra = (
                " and puts the flag on its loading tip" if flag == Part.ON_TIP.name.lower() else " and takes the flag"
            )
        return "takes the square of the target" + extra
    if found["position"] == "stay" or not (down or across):
        return "stays where it is"
    return f"moves {_direction(down, across)}, beside the square of the target"
