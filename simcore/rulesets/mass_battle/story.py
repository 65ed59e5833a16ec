"""One battle told turn by turn: the replay and script driver of mass battle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from simcore.enums import Side, Status
from simcore.rulesets.mass_battle.drive import run_one
from simcore.rulesets.mass_battle.encoding import OUTCOMES, STATUSES, DrawStep, FaceGroup, Outcome, Standing, encode
from simcore.rulesets.mass_battle.trace import Event, EventField, Records, new_records
from simcore.story import Story, check_end

if TYPE_CHECKING:
    from simcore.rulesets.mass_battle.params import MassBattleScenario

__all__ = ["Replay", "replay"]

_TRACE_EVENTS = 4_096
_EFFECTS = ("suppressed", "routed", "destroyed")
_EFFECT_CLAUSES = ("MB-3", "MB-5", "MB-10")
_STANDINGS = {
    Standing.ACTIVE: "",
    Standing.DUE: "suppressed ",
    Standing.LATE: "suppressed ",
    Standing.FAILED: "fleeing ",
}
_PARTS = {
    FaceGroup.FOUR_UP: "showing 4 or more",
    FaceGroup.FIVE_UP: "of these, 5 or more",
    FaceGroup.SIX: "of these, 6",
    FaceGroup.OTHERS_FOUR_UP: "other dice, 4 or more",
    FaceGroup.ONES: "dice below 4, 1",
}
_FACES = ("6", "5", "4")
_EVEN = (1, 2)


@dataclass(frozen=True)
class Replay(Story):
    """One battle, told.

    Attributes
    ----------
    lines : list of str
        The story, one event a line.
    outcome : str
        Outcome name.
    turns : int
        Turns fought.
    battle : int
        Battle number.
    squads : dict of str to dict of str to dict of str to int
        By side, by what became of them ("active", "suppressed", "routed", "fled", "destroyed", "captured") and by
        squad type; only counts above 0.
    survivors, lost : dict of str to dict of str to int
        By side and squad type: active and suppressed squads, destroyed and captured ones.
    cost_lost : dict of str to int
        By side.
    draws : list of dict
        Every draw point with turn, side, what is asked, dice and hits: a script is the list of its hits.
    """

    lines: list[str]
    outcome: str
    turns: int
    battle: int
    squads: dict[str, dict[str, dict[str, int]]]
    survivors: dict[str, dict[str, int]]
    lost: dict[str, dict[str, int]]
    cost_lost: dict[str, int]
    draws: list[dict[str, Any]]

    def to_dict(self) -> dict[str, Any]:
        """Return the replay as JSON-able data."""
        return {
            "battle": self.battle,
            "outcome": self.outcome,
            "turns": self.turns,
            "squads": self.squads,
            "survivors": self.survivors,
            "lost": self.lost,
            "cost_lost": self.cost_lost,
            "draws": self.draws,
            "story": self.lines,
        }


def _counted(count: int, name: str) -> str:
    """Return "1 squad", "3 mobile squads"."""
    words = name.replace("_", " ")
    return f"{count} {words if count == 1 or words.endswith('s') else words + 's'}"


def _dice(count: int) -> str:
    return f"{count} {'die' if count == 1 else 'dice'}"


class _Narrator:
    """Turns trace events into lines and draw records."""

    def __init__(self, scenario: MassBattleScenario, odds: npt.NDArray[np.int64]) -> None:
        self.scenario = scenario
        self.odds = odds
        self.types = list(scenario.rules.units)
        self.lines: list[str] = []
        self.draws: list[dict[str, Any]] = []
        self.turn = 0
        self.roll: dict[str, Any] | None = None
        self.effects: list[tuple[int, str]] = []
        self.hit_side = ""

    def read(self, event: npt.NDArray[np.int32]) -> None:
        """Take in the next event."""
        kind, turn, step, side, group, count = (int(event[i]) for i in range(EventField.ODDS))
        odds, hits = int(event[EventField.ODDS]), int(event[EventField.HITS])
        name = Side(side).name.lower()
        if not (kind == Event.DRAW and step == DrawStep.ATTACK):
            self._close_roll()
        # Draws of who is hit come between the effects of one roll.
        is_same_roll = name == self.hit_side if kind == Event.EFFECT else kind == Event.DRAW and step == DrawStep.TARGET
        if not is_same_roll:
            self._close_effects()
        if turn != self.turn and kind != Event.END:
            self.turn = turn
            self.lines.append(f"Turn {turn}")
        if kind == Event.DRAW:
            self._draw(name, step, group, count, odds, hits)
        elif kind == Event.ROLL:
            self.roll = {"side": name, "dice": count, "pool": odds, "parts": {}}
        elif kind == Event.EFFECT:
            squads = f"{_STANDINGS[Standing(odds)]}{self.types[group]}"
            self.hit_side = name
            self.effects.append((hits, squads) if count == 1 else (hits, f"{count}*{squads}"))
        elif kind in {Event.RETURN, Event.HALT, Event.STAND, Event.BACKFIRE, Event.CAUGHT}:
            self._change(kind, name, count, self.types[group], odds)

    def _change(self, kind: int, name: str, count: int, unit: str, fate: int) -> None:
        """Tell what happens to squads between the rolls."""
        squads = _counted(count, unit)
        is_are = "is" if count == 1 else "are"
        text = {
            Event.RETURN: f"{squads} {is_are} active again (MB-4)",
            Event.HALT: f"{squads} {is_are} halted in flight and suppressed (MB-8)",
            Event.STAND: f"{squads} {is_are} halted in flight and active at once (MB-9)",
            Event.BACKFIRE: f"own ones suppress {squads} (MB-21)",
        }
        if kind == Event.CAUGHT:
            done = "captured" if fate == Standing.CAPTURED else "destroyed"
            self.lines.append(f"  {name}: {squads} in flight {is_are} {done} (MB-18)")
        else:
            self.lines.append(f"  {name}: {text[Event(kind)]}")

    def _draw(self, name: str, step: int, group: int, dice: int, odds: int, hits: int) -> None:
        if not dice:
            return
        if step == DrawStep.ATTACK:
            what = _PARTS[FaceGroup(group)]
            if self.roll is not None:
                self.roll["parts"][FaceGroup(group)] = hits
        elif step == DrawStep.CHARACTER:
            what = f"character {group + 1} halts a squad"
        elif step == DrawStep.RALLY:
            what = f"commanders of {_counted(dice, self.types[group])} in flight"
        else:
            what = "place of the squad that is hit" if step == DrawStep.TARGET else "place of the own squad hit"
        is_place = odds < 0
        chance = [1, dice + 1] if is_place else [int(x) for x in self.odds[odds][:2]]
        self.draws.append(
            {
                "turn": self.turn,
                "step": DrawStep(step).name.lower(),
                "side": name,
                "what": what,
                "dice": dice,
                "odds": chance,
                "hits": hits,
            }
        )
        if step in {DrawStep.CHARACTER, DrawStep.RALLY}:
            many = _dice(dice) if step == DrawStep.RALLY else "roll"
            chance_text = "even chance" if tuple(chance) == _EVEN else f"chance {chance[0]} in {chance[1]}"
            result = "no success" if hits == 0 else f"{hits} success{'es' if hits > 1 else ''}"
            clause = "MB-7" if step == DrawStep.CHARACTER else "MB-6"
            self.lines.append(f"  {name}: {what}, {many} at {chance_text}: {result} ({clause})")

    def _close_roll(self) -> None:
        """Tell an attack roll, once all its parts are known."""
        if self.roll is None:
            return
        roll, self.roll = self.roll, None
        parts = {group: roll["parts"].get(group, 0) for group in FaceGroup}
        six, five, four = parts[FaceGroup.SIX], parts[FaceGroup.FIVE_UP], parts[FaceGroup.FOUR_UP]
        ones = f", {parts[FaceGroup.ONES]} × 1" if parts[FaceGroup.ONES] else ""
        if roll["pool"] < 1:
            main = "6" if six else "5" if five else "4" if four else "below 4"
            others = roll["dice"] - 1
            self.lines.append(
                f"  {roll['side']} makes a negative roll of {_dice(roll['dice'])} (pool {roll['pool']}): "
                f"main die {main}, {parts[FaceGroup.OTHERS_FOUR_UP]} of {_dice(others)} besides at 4 or more{ones} "
                "(MB-19)"
            )
            return
        shown = [f"{n} × {face}" for n, face in zip((six, five - six, four - five), _FACES, strict=True) if n]
        result = ", ".join(shown) or "nothing above 3"
        self.lines.append(f"  {roll['side']} rolls {_dice(roll['dice'])}: {result}{ones}")

    def _close_effects(self) -> None:
        """Tell what the rolls have done to an army, once all effects are known."""
        if not self.effects:
            return
        texts = []
        for effect in (2, 1, 0):
            counts: dict[str, int] = {}
            for kind, squads in self.effects:
                if kind == effect:
                    number, _, name = squads.rpartition("*")
                    counts[name] = counts.get(name, 0) + (int(number) if number else 1)
            if counts:
                listed = ", ".join(_counted(count, name) for name, count in counts.items())
                texts.append(f"{listed} {_EFFECTS[effect]} ({_EFFECT_CLAUSES[effect]})")
        self.lines.append(f"  {self.hit_side}: {'; '.join(texts)}")
        self.effects = []


def replay(
    scenario: MassBattleScenario, key: npt.NDArray[np.uint64], battle: int, script: npt.NDArray[np.int64] | None
) -> Replay:
    """Resolve one battle with a trace and tell it.

    Parameters
    ----------
    scenario : MassBattleScenario
    key : uint64 (2,)
    battle : int
        Battle number.
    script : int64 (draws,) or None
        Hits at each draw point in order; None draws from the battle's own words.

    Returns
    -------
    Replay

    Raises
    ------
    ScenarioError
        When the script does not fit the battle.
    KernelStatusError
        For a battle that does not end within the range of turns.
    """
    arrays = encode([scenario])
    capacity = _TRACE_EVENTS
    while True:
        trace = np.zeros((capacity, len(EventField)), dtype=np.int32)
        steps = np.zeros(1 if script is None else len(script) + 1, dtype=np.int64)
        steps[0] = 1
        if script is not None:
            steps[1:] = script
        records = new_records(1)
        _, status, _ = run_one(arrays, key.reshape(1, 2), 0, battle, records, trace, steps)
        if trace[0, 0] < capacity:
            break
        capacity = int(trace[0, 0]) + 1
    narrator = _Narrator(scenario, arrays.odds)
    for event in trace[1 : int(trace[0, 0]) + 1]:
        narrator.read(event)
    check_end(Status(int(status[0])), battle, script, int(steps[0]) - 1, narrator.draws, is_last=True)
    outcome = Outcome(int(records.outcome[0]))
    title = " v ".join(scenario.unit_text(side) or "nothing" for side in Side)
    squads = _squads(scenario, records)
    lines = [f"Battle {battle}: {title} ({scenario.edition})", *narrator.lines]
    lines.append(_end_line(outcome, int(records.turns[0]), scenario, squads))
    lines += [f"{side.name.capitalize()}: {_army_text(squads[side.name.lower()])}" for side in Side]
    return Replay(
        lines=lines,
        outcome=OUTCOMES[outcome],
        turns=int(records.turns[0]),
        battle=battle,
        squads=squads,
        survivors={side: _together(squads[side], ("active", "suppressed")) for side in squads},
        lost={side: _together(squads[side], ("destroyed", "captured")) for side in squads},
        cost_lost={side.name.lower(): int(records.cost_lost[0, side]) for side in Side},
        draws=narrator.draws,
    )


def _squads(scenario: MassBattleScenario, records: Records) -> dict[str, dict[str, dict[str, int]]]:
    """Return the squads of both armies by what became of them."""
    names = list(scenario.rules.units)
    return {
        side.name.lower(): {
            status: found
            for place, status in enumerate(STATUSES)
            if (found := {name: int(records.squads[0, side, place, t]) for t, name in enumerate(names)
                          if records.squads[0, side, place, t]})
        }
        for side in Side
    }  # fmt: skip


def _together(squads: dict[str, dict[str, int]], statuses: tuple[str, ...]) -> dict[str, int]:
    total: dict[str, int] = {}
    for status in statuses:
        for name, count in squads.get(status, {}).items():
            total[name] = total.get(name, 0) + count
    return total


def _army_text(squads: dict[str, dict[str, int]]) -> str:
    """Return what became of an army's squads."""
    parts = [
        f"{', '.join(_counted(count, name) for name, count in counts.items())} {status}"
        for status, counts in squads.items()
    ]
    return "; ".join(parts) or "nobody"


def _end_line(
    outcome: Outcome, turns: int, scenario: MassBattleScenario, squads: dict[str, dict[str, dict[str, int]]]
) -> str:
    fought = "Before the first turn" if turns == 0 else f"After {turns} turn{'s' if turns > 1 else ''}"
    if outcome == Outcome.UNDECIDED:
        return f"{fought} the limit of turns is reached: the battle is undecided (MA-22)."
    stands = [side for side in squads if _together(squads[side], ("active", "suppressed"))]
    if outcome == Outcome.BOTH_BROKEN:
        return f"{fought} both armies are broken: nobody pursues (MA-17)."
    winner = "attacker" if outcome == Outcome.ATTACKER_WINS else "defender"
    if not stands:
        return f"{fought} both armies are broken; by the option mutual_break the {winner} wins (MA-17)."
    loser = Side(1 - Side[winner.upper()])
    flight = "and flees" if scenario.side(loser).can_flee else "and cannot flee"
    return f"{fought} the {winner} wins: the {loser.name.lower()} is broken {flight} (MB-17)."
