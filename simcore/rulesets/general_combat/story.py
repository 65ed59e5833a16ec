"""One battle told cycle by cycle: the replay and script driver of general combat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from simcore.enums import Side, Status
from simcore.errors import KernelStatusError, ScenarioError
from simcore.rulesets.general_combat.encoding import (
    ACCUMULATORS,
    AIRCRAFT_GROUP,
    OUTCOMES,
    REMAINDER_GROUPS,
    SUPPORTED_GROUP,
    UNITS,
    Battles,
    DrawStep,
    Outcome,
)
from simcore.rulesets.general_combat.kernel import resolve_serial
from simcore.rulesets.general_combat.trace import POOLED, Event, EventField, Records

if TYPE_CHECKING:
    from simcore.core.dice import DiceTable
    from simcore.rulesets.general_combat.params import GeneralCombatScenario

__all__ = ["Replay", "replay"]

_TRACE_EVENTS = 4_096

_PLURALS = {"infantry": "infantry", "mech_infantry": "mechanised infantry", "artillery": "artillery"}
_SINGULARS = {
    "mech_infantry": "mechanised infantry",
    "aa_gun": "AA gun",
    "tactical_bomber": "tactical bomber",
}

_POOLS = ("low luck of ships", "low luck of aircraft", "low luck of submarines")

_ENDINGS = {
    Outcome.ATTACKER_WINS: ("the attacker wins", "a land unit is left and takes the territory"),
    Outcome.ATTACKER_CLEARS: ("the attacker wins", "aircraft alone take no territory"),
    Outcome.BOTH_DESTROYED: ("both sides are destroyed", "the territory stays with the defender"),
    Outcome.DEFENDER_WINS: ("the defender wins", "the territory stays with the defender"),
    Outcome.ATTACKER_RETREATS: ("the attacker retreats", "the territory stays with the defender"),
    Outcome.STAND_OFF: ("a stand-off", "neither side can hit the other, both stay"),
    Outcome.UNFINISHED: ("the cycle limit is reached", "the battle is unfinished"),
}
_SEA_ENDINGS = {
    Outcome.ATTACKER_WINS: ("the attacker wins", "no enemy is left to fight", "4.6.2"),
    Outcome.BOTH_DESTROYED: ("both sides are destroyed", "the sea zone is empty", "8.16"),
    Outcome.DEFENDER_WINS: ("the defender wins", "no attacker is left", "4.6.2"),
    Outcome.ATTACKER_RETREATS: ("the attacker retreats", "the defender keeps the sea zone", "4.6.7"),
    Outcome.STAND_OFF: ("a stand-off", "neither side can hit the other, both stay", "4.6.4"),
    Outcome.UNFINISHED: ("the cycle limit is reached", "the battle is unfinished", ""),
}
_CLAUSES = {
    Outcome.ATTACKER_WINS: "4.7.1",
    Outcome.ATTACKER_CLEARS: "4.7.2",
    Outcome.BOTH_DESTROYED: "4.7.1",
    Outcome.DEFENDER_WINS: "4.7.1",
    Outcome.ATTACKER_RETREATS: "4.6.7",
    Outcome.STAND_OFF: "4.6.4",
    Outcome.UNFINISHED: "",
}


@dataclass(frozen=True)
class Replay:
    """One battle, told.

    Attributes
    ----------
    lines : list of str
        The story, one event a line.
    outcome : str
        Outcome name.
    cycles : int
        Cycles fought.
    battle : int
        Battle number.
    survivors, lost : dict of str to dict of str to int
        By side and unit, only counts above 0; together they are the units at the start.
    cost_lost : dict of str to int
        By side.
    captured : dict
        ``territory`` (bool), ``value``, ``guns``, ``complexes``.
    draws : list of dict
        Every draw point with cycle, side, what fired, dice and hits: a script is the list of its hits.
    """

    lines: list[str]
    outcome: str
    cycles: int
    battle: int
    survivors: dict[str, dict[str, int]]
    lost: dict[str, dict[str, int]]
    cost_lost: dict[str, int]
    captured: dict[str, Any]
    draws: list[dict[str, Any]]

    def to_text(self) -> str:
        """Return the story as text."""
        return "\n".join(self.lines)

    def __str__(self) -> str:
        return self.to_text()

    def to_dict(self) -> dict[str, Any]:
        """Return the replay as JSON-able data."""
        return {
            "battle": self.battle,
            "outcome": self.outcome,
            "cycles": self.cycles,
            "survivors": self.survivors,
            "lost": self.lost,
            "cost_lost": self.cost_lost,
            "captured": self.captured,
            "draws": self.draws,
            "story": self.lines,
        }

    def _repr_html_(self) -> str:
        text = self.to_text().replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        return f"<pre>{text}</pre>"


def _counted(count: int, unit: str) -> str:
    """Return "1 tank", "3 tanks", "2 AA guns"."""
    name = _SINGULARS.get(unit, unit.replace("_", " "))
    return f"{count} {name if count == 1 or unit in _PLURALS else name + 's'}"


def _hits(count: int) -> str:
    return "no hit" if count == 0 else "1 hit" if count == 1 else f"{count} hits"


class _Narrator:
    """Turns trace events into lines and draw records."""

    def __init__(self, scenario: GeneralCombatScenario, odds: npt.NDArray[np.int64]) -> None:
        self.scenario = scenario
        self.odds = odds
        self.lines: list[str] = []
        self.draws: list[dict[str, Any]] = []
        self.lost: dict[str, dict[str, int]] = {"attacker": {}, "defender": {}}
        self.submerged = {"attacker": 0, "defender": 0}
        self.cycle = -1
        self.last_loss: tuple[int, ...] = ()
        self.lost_together = 0

    def _value(self, odds: int) -> str:
        numerator, denominator, _ = (int(x) for x in self.odds[odds])
        sides = self.scenario.rules.dice_sides
        return f"{numerator} or less" if denominator == sides else f"{numerator} in {denominator}"

    def _draw(self, event: npt.NDArray[np.int32]) -> None:
        step, side, group, dice, odds, hits, sure = (int(event[i]) for i in range(EventField.STEP, len(EventField)))
        name = Side(side).name.lower()
        if group in REMAINDER_GROUPS:
            what = _POOLS[REMAINDER_GROUPS.index(group)] if self.scenario.terrain == "sea" else "low luck"
        elif group == AIRCRAFT_GROUP:
            what = "AA at any aircraft"
        elif step == DrawStep.AA_FIRE:
            what = f"AA at {_counted(2, UNITS[group]).removeprefix('2 ')}"
        elif group >= SUPPORTED_GROUP:
            what = f"{_counted(dice, UNITS[group - SUPPORTED_GROUP])} with support"
        else:
            dice_per_unit = self.scenario.fire(Side(side), UNITS[group]).dice
            what = _counted(dice // dice_per_unit, UNITS[group])
            if step == DrawStep.STRIKE:
                what += " by surprise"
        if hits == POOLED:  # the die comes with the remainder
            self.lines.append(f"  {name}: {what} at {self._value(odds)} add their points")
            return
        count = f"{dice} {'die' if dice == 1 else 'dice'}"
        alone = (
            group not in {*REMAINDER_GROUPS, AIRCRAFT_GROUP}
            and step != DrawStep.AA_FIRE
            and what.startswith(f"{dice} ")
        )
        number = f"at {self._value(odds)}" if alone else f"{count} at {self._value(odds)}"
        certain = f"{_hits(sure)} for sure" if sure else ""
        if dice:
            self.draws.append(
                {
                    "cycle": int(event[EventField.CYCLE]),
                    "step": DrawStep(step).name.lower(),
                    "side": name,
                    "what": what,
                    "dice": dice,
                    "odds": [int(x) for x in self.odds[odds][:2]],
                    "hits": hits,
                }
            )
        rolled = f"{number}: {_hits(hits)}" if dice else ""
        self.lines.append(
            f"  {name}: {what}{' ' if alone else ', '}" + " and ".join(part for part in (certain, rolled) if part)
        )

    def read(self, event: npt.NDArray[np.int32]) -> None:
        kind, cycle = int(event[EventField.KIND]), int(event[EventField.CYCLE])
        if kind in {Event.DRAW, Event.SUBMERGE} and cycle != self.cycle:
            self.cycle = cycle
            self.lines.append(f"Cycle {cycle}" if cycle else "Antiaircraft fire (4.0.1)")
        if kind != Event.LOSS:
            self.last_loss = ()
        if kind == Event.DRAW:
            self._draw(event)
        elif kind in {Event.LOSS, Event.SWEEP, Event.SUBMERGE, Event.DAMAGE}:
            self._change(event, kind)

    def _change(self, event: npt.NDArray[np.int32], kind: int) -> None:
        """Tell what happened to units without dice of their own: losses, damage, submerging, sweeps."""
        side = Side(int(event[EventField.SIDE])).name.lower()
        unit, count = UNITS[int(event[EventField.GROUP])], int(event[EventField.DICE])
        if kind == Event.SUBMERGE:
            self.submerged[side] += count
            self.lines.append(f"  {side} submerges {_counted(count, unit)} (4.2.3)")
            return
        if kind == Event.DAMAGE:
            self.lines.append(f"  {side} has {_counted(count, unit)} damaged (4.2.5)")
            return
        self.lost[side][unit] = self.lost[side].get(unit, 0) + count
        if kind == Event.LOSS:
            # Units of a type may stand in several rows, such as transports with and without cargo.
            fields = (EventField.SIDE, EventField.GROUP, EventField.CYCLE, EventField.STEP)
            loss = tuple(int(event[i]) for i in fields)
            if loss == self.last_loss:
                self.lines.pop()
                count += self.lost_together
            self.last_loss, self.lost_together = loss, count
            self.lines.append(f"  {side} loses {_counted(count, unit)}")
        elif unit == "transport":
            self.lines.append(f"{side} loses {_counted(count, unit)} without dice: defenceless (4.5.2, 4.5.3)")
        else:
            self.lines.append(f"{_counted(count, unit)} without company: destroyed (2.3 aa_fate)")


def replay(
    scenario: GeneralCombatScenario,
    arrays: Battles,
    table: DiceTable,
    key: npt.NDArray[np.uint64],
    battle: int,
    script: npt.NDArray[np.int64] | None,
) -> Replay:
    """Resolve one battle with a trace and tell it.

    Parameters
    ----------
    scenario : GeneralCombatScenario
    arrays : Battles
        The scenario, encoded alone.
    table : DiceTable
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
        For a battle that does not end within the range of cycles.
    """
    capacity = _TRACE_EVENTS
    while True:
        trace = np.zeros((capacity, len(EventField)), dtype=np.int32)
        steps = np.zeros(1 if script is None else len(script) + 1, dtype=np.int64)
        steps[0] = 1
        if script is not None:
            steps[1:] = script
        status = np.full(1, Status.UNSET, dtype=np.uint8)
        where = np.zeros(1, dtype=np.int64)
        tally = np.zeros((1, len(ACCUMULATORS)), dtype=np.int64)
        records = Records(
            outcome=np.full(1, -1, dtype=np.int8),
            cycles=np.zeros(1, dtype=np.int32),
            survivors=np.zeros((1, 2, len(UNITS)), dtype=np.int16),
            cost_lost=np.zeros((1, 2), dtype=np.int32),
            captured_value=np.zeros(1, dtype=np.int32),
        )
        segments = np.array([[0, battle, 1, 0]], dtype=np.int64)
        sea = 1 if scenario.terrain == "sea" else None
        resolve_serial(segments, arrays, table, key.reshape(1, 2), tally, status, where, records, trace, steps, sea)
        if trace[0, 0] < capacity:
            break
        capacity = int(trace[0, 0]) + 1
    narrator = _Narrator(scenario, arrays.odds)
    start = [scenario.unit_text(side) or "nothing" for side in Side]
    narrator.lines.append(f"Battle {battle}: {start[0]} attack {start[1]} ({scenario.edition})")
    for event in trace[1 : int(trace[0, 0]) + 1]:
        narrator.read(event)
    if script is not None:
        _check_script(script, int(steps[0]) - 1, int(status[0]), narrator)
    if status[0] != Status.OK:
        raise KernelStatusError(f"battle {battle} ended with status {Status(int(status[0])).name}")
    outcome = Outcome(int(records.outcome[0]))
    survivors = {
        side.name.lower(): {UNITS[t]: int(n) for t, n in enumerate(records.survivors[0, side]) if n} for side in Side
    }
    won = outcome == Outcome.ATTACKER_WINS and scenario.terrain == "land"
    counts = scenario.counts(Side.DEFENDER)
    guns = counts.get("aa_gun", 0) if won and scenario.rules.switches.aa_fate == "captured" else 0
    captured = {
        "territory": won,
        "value": int(records.captured_value[0]),
        "guns": guns,
        "complexes": counts.get("industrial_complex", 0) if won else 0,
    }
    cycles = int(records.cycles[0])
    clause = f" ({_CLAUSES[outcome]})" if _CLAUSES[outcome] else ""
    fought = "Before the first cycle" if cycles == 0 else f"After {cycles} cycle{'s' if cycles > 1 else ''}"
    ending, meaning = _ENDINGS[outcome]
    if scenario.terrain == "sea":
        ending, meaning, clause = _SEA_ENDINGS[outcome]
        clause = f" ({clause})" if clause else ""
    narrator.lines.append(f"{fought} {ending}: {meaning}{clause}.")
    narrator.lines.extend(_closing_lines(survivors, narrator.submerged, captured))
    return Replay(
        lines=narrator.lines,
        outcome=OUTCOMES[outcome],
        cycles=cycles,
        battle=battle,
        survivors=survivors,
        lost=narrator.lost,
        cost_lost={side.name.lower(): int(records.cost_lost[0, side]) for side in Side},
        captured=captured,
        draws=narrator.draws,
    )


def _closing_lines(
    survivors: dict[str, dict[str, int]], submerged: dict[str, int], captured: dict[str, Any]
) -> list[str]:
    lines = []
    for side in ("attacker", "defender"):
        below = f" ({submerged[side]} submerged)" if submerged[side] else ""
        left = ", ".join(
            _counted(count, unit) + (below if unit == "submarine" else "") for unit, count in survivors[side].items()
        )
        lines.append(f"Left of the {side}: {left or 'nothing'}")
    taken = [
        _counted(captured[kind], unit)
        for kind, unit in (("guns", "aa_gun"), ("complexes", "industrial_complex"))
        if captured[kind]
    ]
    if captured["value"]:
        lines.append(f"National production: attacker +{captured['value']}, defender -{captured['value']} (4.7.3)")
    if captured["guns"]:
        lines.append("A captured gun may not move in this turn's noncombat movement (4.7.4)")
    if captured["complexes"]:
        lines.append("A captured complex mobilises nothing before the captor's next turn (4.7.4)")
    return [*lines, *([f"Captured: {', '.join(taken)} (4.7.4)"] if taken else [])]


def _check_script(script: npt.NDArray[np.int64], used: int, status: int, narrator: _Narrator) -> None:
    """Raise when a script was too short, too long or gave impossible hits, naming the draw point."""
    if status in {Status.CAPACITY, Status.BAD_STATE}:
        draw = narrator.draws[-1]
        place = f"cycle {draw['cycle']}, {draw['side']}: {draw['what']}, {draw['dice']} dice"
        point = f"draw point {len(narrator.draws)} ({place})"
        if status == Status.CAPACITY:
            raise ScenarioError(
                f"the script ends after {len(script)} draw points, but {point} needs its hits",
                field="script",
            )
        raise ScenarioError(
            f"{point} cannot give {int(script[used - 1])} hits; allowed: 0 to {draw['dice']}", field="script"
        )
    if used < len(script):
        raise ScenarioError(
            f"the battle ends after {used} draw points, but the script has {len(script)}", field="script"
        )
