"""One battle told cycle by cycle: the replay and script driver of general combat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from simcore.enums import Side, Status
from simcore.rulesets.general_combat.drive import add_sea_battles, run_one
from simcore.rulesets.general_combat.encoding import (
    ACCUMULATORS,
    AIRCRAFT,
    AIRCRAFT_GROUP,
    ASSAULT_ACCUMULATORS,
    BEFORE_LANDING,
    DAMAGEABLE,
    LAND_UNITS,
    OUTCOMES,
    REMAINDER_GROUPS,
    SUPPORTED_GROUP,
    UNITS,
    Battles,
    DrawStep,
    Outcome,
    Why,
    encode,
)
from simcore.rulesets.general_combat.optimal import play_of
from simcore.rulesets.general_combat.trace import POOLED, Event, EventField, Records, new_records
from simcore.story import Story, check_end
from simcore.unittext import format_units

if TYPE_CHECKING:
    from simcore.rulesets.general_combat.params import GeneralCombatScenario

__all__ = ["Replay", "counted", "hits_text", "listed", "replay"]

_TRACE_EVENTS = 4_096
_NO_HITS_LEFT = -1
"""Fits no draw point: stands where a script has been used up."""

_PLURALS = {
    "infantry": "infantry",
    "mech_infantry": "mechanised infantry",
    "artillery": "artillery",
    "aircraft": "aircraft",
}
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
class Replay(Story):
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
    conclusion : dict
        What the battle changes beyond it: ``holder`` of the territory ("attacker", "friend" or "defender", None at
        sea), ``treasury`` taken, and by side ``damaged`` ships, ``submerged`` submarines, ``no_landing``
        (aircraft without room on a carrier), and the attacker's units that had ``retreated`` while others fought.
    sea : dict or None
        Of an assault: ``outcome`` and ``cycles`` of the sea battle, and the units ``landed``.
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
    conclusion: dict[str, Any]
    sea: dict[str, Any] | None
    draws: list[dict[str, Any]]

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
            "conclusion": self.conclusion,
            "sea": self.sea,
            "draws": self.draws,
            "story": self.lines,
        }


def counted(count: int, unit: str) -> str:
    """Return "1 tank", "3 tanks", "2 AA guns"."""
    name = _SINGULARS.get(unit, unit.replace("_", " "))
    return f"{count} {name if count == 1 or unit in _PLURALS else name + 's'}"


def hits_text(count: int) -> str:
    """Return "no hit", "1 hit", "3 hits"."""
    return "no hit" if count == 0 else "1 hit" if count == 1 else f"{count} hits"


class _Narrator:
    """Turns trace events into lines and draw records."""

    def __init__(self, scenario: GeneralCombatScenario, arrays: Battles) -> None:
        self.scenario = scenario
        self.arrays = arrays
        self.odds = arrays.odds
        self.lines: list[str] = []
        self.draws: list[dict[str, Any]] = []
        self.retreated: dict[str, int] = {}
        self.heading = ""
        self.last_loss: tuple[int, ...] = ()
        self.lost_together = 0

    def _value(self, odds: int) -> str:
        numerator, denominator, _ = (int(x) for x in self.odds[odds])
        sides = self.scenario.rules.dice_sides
        return f"{numerator} or less" if denominator == sides else f"{numerator} in {denominator}"

    def _draw(self, event: npt.NDArray[np.int32]) -> None:
        step, side, group, dice, odds, hits, sure = (int(event[i]) for i in range(EventField.STEP, len(EventField)))
        step %= BEFORE_LANDING
        name = Side(side).name.lower()
        if group in REMAINDER_GROUPS:
            what = _POOLS[REMAINDER_GROUPS.index(group)] if self.scenario.terrain == "sea" else "low luck"
        elif group == AIRCRAFT_GROUP:
            what = "AA at any aircraft"
        elif step == DrawStep.AA_FIRE:
            what = f"AA at {counted(2, UNITS[group]).removeprefix('2 ')}"
        elif group >= SUPPORTED_GROUP:
            what = f"{counted(dice, UNITS[group - SUPPORTED_GROUP])} with support"
        elif step == DrawStep.BOMBARD:
            what = counted(dice, UNITS[group])
        else:
            dice_per_unit = self.scenario.fire(Side(side), UNITS[group]).dice
            what = counted(dice // dice_per_unit, UNITS[group])
            if step == DrawStep.STRIKE:
                what += " by surprise"
        if hits == POOLED:  # the die comes with the remainder
            many = "" if what.startswith(f"{dice} ") else f", {dice} dice"
            verb = "adds its points" if dice == 1 else "add their points"
            self.lines.append(f"  {name}: {what}{many} at {self._value(odds)} {verb}")
            return
        count = f"{dice} {'die' if dice == 1 else 'dice'}"
        alone = (
            group not in {*REMAINDER_GROUPS, AIRCRAFT_GROUP}
            and step != DrawStep.AA_FIRE
            and what.startswith(f"{dice} ")
        )
        number = f"at {self._value(odds)}" if alone else f"{count} at {self._value(odds)}"
        certain = f"{hits_text(sure)} for sure" if sure else ""
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
        rolled = f"{number}: {hits_text(hits)}" if dice else ""
        self.lines.append(
            f"  {name}: {what}{' ' if alone else ', '}" + " and ".join(part for part in (certain, rolled) if part)
        )

    def read(self, event: npt.NDArray[np.int32]) -> None:
        kind, cycle = int(event[EventField.KIND]), int(event[EventField.CYCLE])
        if kind in {Event.DRAW, Event.SUBMERGE}:
            heading = f"Cycle {cycle}" if cycle else "Antiaircraft fire (4.0.1)"
            if kind == Event.DRAW and int(event[EventField.STEP]) == DrawStep.BOMBARD:
                heading = "Bombardment (5.4)"
            if heading != self.heading:
                self.heading = heading
                self.lines.append(heading)
        if kind != Event.LOSS:
            self.last_loss = ()
        if kind == Event.DRAW:
            self._draw(event)
        elif kind == Event.LEAVE:
            self._leave(event)
        elif kind in {Event.LOSS, Event.SWEEP, Event.SUBMERGE, Event.DAMAGE, Event.RETREAT}:
            self._change(event, kind)

    def _leave(self, event: npt.NDArray[np.int32]) -> None:
        """Tell why the attacker leaves, where that is known from what the states are worth."""
        own, enemy, level, why = (int(event[i]) for i in range(EventField.GROUP, EventField.SURE))
        if why == Why.POLICY:
            return
        play = play_of(self.arrays, 0)
        _, chance, swing = (float(x) for x in play.going[level, :, enemy, own])
        if why == Why.CHANCE:
            limit = self.scenario.attacker.retreat.when_win_chance_below
            reason = f"the chance to win by going on is {100 * chance:.1f} %, below {100 * limit:g} %"
        elif why == Why.SWING:
            so_far = int(play.stack(Side.DEFENDER).lost[enemy] - play.stack(Side.ATTACKER).lost[own])
            reason = f"going on would cost {so_far - swing:.2f} more than the defender loses"
        else:
            reason = f"going on is worth less to the goal (chance to win {100 * chance:.1f} %)"
        self.lines.append(f"  attacker breaks off: {reason} (4.6.7)")

    def _change(self, event: npt.NDArray[np.int32], kind: int) -> None:
        """Tell what happened to units without dice of their own: losses, damage, submerging, sweeps."""
        side = Side(int(event[EventField.SIDE])).name.lower()
        unit, count = UNITS[int(event[EventField.GROUP])], int(event[EventField.DICE])
        if kind == Event.SUBMERGE:
            self.lines.append(f"  {side} submerges {counted(count, unit)} (4.2.3)")
            return
        if kind == Event.DAMAGE:
            self.lines.append(f"  {side} has {counted(count, unit)} damaged (4.2.5)")
            return
        if kind == Event.RETREAT:
            self.retreated[unit] = self.retreated.get(unit, 0) + count
            if len(self.retreated) > 1 and self.lines[-1].startswith(f"  {side} withdraws "):
                self.lines.pop()
            self.lines.append(f"  {side} withdraws {listed(self.retreated)}; the others fight on (5.6)")
            return
        if kind == Event.LOSS:
            # Units of a type may stand in several rows, such as transports with and without cargo.
            fields = (EventField.SIDE, EventField.GROUP, EventField.CYCLE, EventField.STEP)
            loss = tuple(int(event[i]) for i in fields)
            if loss == self.last_loss:
                self.lines.pop()
                count += self.lost_together
            self.last_loss, self.lost_together = loss, count
            step = int(event[EventField.STEP])
            fires = step == DrawStep.BOMBARD and self.scenario.rules.switches.bombard_return_fire
            fires = fires and self.scenario.fire(Side.DEFENDER, unit).plain[0] > 0
            once_more = ", still to fire once (5.5)" if fires else ""
            self.lines.append(f"  {side} loses {counted(count, unit)}{once_more}")
        elif unit == "transport":
            clause = "4.5.3" if event[EventField.ODDS] else "4.5.2"
            self.lines.append(f"{side} loses {counted(count, unit)} without dice: defenceless ({clause})")
        else:
            self.lines.append(f"{counted(count, unit)} without company: destroyed (2.3 aa_fate)")


class _Told:
    """One battle, run and read: of land or sea, alone or as half of an assault."""

    def __init__(
        self,
        scenario: GeneralCombatScenario,
        arrays: Battles,
        key: npt.NDArray[np.uint64],
        battle: int,
        script: npt.NDArray[np.int64] | None,
        sea_records: Records | None = None,
    ) -> None:
        capacity = _TRACE_EVENTS
        columns = len(ACCUMULATORS if sea_records is None else ASSAULT_ACCUMULATORS)
        while True:
            trace = np.zeros((capacity, len(EventField)), dtype=np.int32)
            steps = np.zeros(1 if script is None else len(script) + 1, dtype=np.int64)
            steps[0] = 1
            if script is not None:
                steps[1:] = script
            self.records = new_records(1)
            _, status, _ = run_one(
                arrays, key.reshape(1, 2), 0, battle, self.records, trace, steps,
                columns=columns, sea_records=sea_records,
            )  # fmt: skip
            if trace[0, 0] < capacity:
                break
            capacity = int(trace[0, 0]) + 1
        self.narrator = _Narrator(scenario, arrays)
        for event in trace[1 : int(trace[0, 0]) + 1]:
            self.narrator.read(event)
        self.used = int(steps[0]) - 1
        self.status = Status(int(status[0]))


def replay(
    scenario: GeneralCombatScenario, key: npt.NDArray[np.uint64], battle: int, script: npt.NDArray[np.int64] | None
) -> Replay:
    """Resolve one battle with a trace and tell it.

    Parameters
    ----------
    scenario : GeneralCombatScenario
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
    lines = [f"Battle {battle}: {_title(scenario)} ({scenario.edition})"]
    draws: list[dict[str, Any]] = []
    at_sea = None
    used = 0
    if scenario.sea is not None:
        before = scenario.sea_battle
        at_sea = _Told(before, encode([before], before_landing=True), key, battle, script)
        used = at_sea.used
        draws += at_sea.narrator.draws
        check_end(at_sea.status, battle, script, used, draws, is_last=False)
        lines += ["At sea", *at_sea.narrator.lines]
        lines.append(_end_line(before, at_sea.records, Outcome(int(at_sea.records.outcome[0]))))
        lines += _landing_lines(scenario, at_sea.records)
    rest = script
    if script is not None and at_sea is not None:
        # What is left may be nothing; one entry beyond it keeps the driver in script mode.
        rest = script[used:] if used < len(script) else np.array([_NO_HITS_LEFT], dtype=np.int64)
    told = _Told(scenario, encode([scenario]), key, battle, rest, at_sea.records if at_sea else None)
    draws += told.narrator.draws
    used += told.used
    check_end(told.status, battle, script, used, draws, is_last=True)
    outcome = Outcome(int(told.records.outcome[0]))
    lines += ["On land"] if at_sea else []
    lines += told.narrator.lines
    lines.append(_end_line(scenario, told.records, outcome, at_sea.records if at_sea else None))
    if at_sea:
        add_sea_battles(told.records, at_sea.records)
    return _finish(scenario, told, at_sea, outcome, battle, lines, draws)


def _finish(
    scenario: GeneralCombatScenario,
    told: _Told,
    at_sea: _Told | None,
    outcome: Outcome,
    battle: int,
    lines: list[str],
    draws: list[dict[str, Any]],
) -> Replay:
    records = told.records
    survivors: dict[str, dict[str, int]] = {}
    lost: dict[str, dict[str, int]] = {}
    for side in Side:
        left = {UNITS[t]: int(n) for t, n in enumerate(records.survivors[0, side]) if n}
        name = side.name.lower()
        survivors[name] = left
        start = scenario.casualties(side)
        lost[name] = {unit: n - left.get(unit, 0) for unit, n in start.items() if n > left.get(unit, 0)}
    won = outcome == Outcome.ATTACKER_WINS and scenario.terrain != "sea"
    counts = scenario.own_counts(Side.DEFENDER)
    guns = counts.get("aa_gun", 0) if won and scenario.rules.switches.aa_fate == "captured" else 0
    captured = {
        "territory": won,
        "value": int(records.captured_value[0]),
        "guns": guns,
        "complexes": counts.get("industrial_complex", 0) if won else 0,
    }
    conclusion: dict[str, Any] = {
        "holder": None if scenario.terrain == "sea" else "defender",
        "treasury": scenario.territory.spoils if won else 0,
        "retreated": told.narrator.retreated,
    }
    if won:
        conclusion["holder"] = "friend" if scenario.territory.is_liberated else "attacker"
    for side in Side:
        damaged = records.damaged[0, side].tolist()
        conclusion[side.name.lower()] = {
            "damaged": {unit: n for unit, n in zip(DAMAGEABLE, damaged, strict=True) if n},
            "submerged": int(records.submerged[0, side]),
            "no_landing": int(records.no_landing[0, side]),
        }
    sea = None
    if at_sea is not None:
        sea = {
            "outcome": OUTCOMES[int(at_sea.records.outcome[0])],
            "cycles": int(at_sea.records.cycles[0]),
            "landed": _landed(at_sea.records),
        }
    lines += _closing_lines(scenario, outcome, survivors, captured, conclusion)
    return Replay(
        lines=lines,
        outcome=OUTCOMES[outcome],
        cycles=int(records.cycles[0]),
        battle=battle,
        survivors=survivors,
        lost=lost,
        cost_lost={side.name.lower(): int(records.cost_lost[0, side]) for side in Side},
        captured=captured,
        conclusion=conclusion,
        sea=sea,
        draws=draws,
    )


def _title(scenario: GeneralCombatScenario) -> str:
    """Return who attacks whom, with damage and cargo."""
    if scenario.sea is not None:
        land = [format_units(scenario.own_counts(side)) or "nothing" for side in Side]
        return f"{land[0]} attack {land[1]}; at sea {_title(scenario.sea_battle)}"
    texts = []
    for side, table in zip(Side, (scenario.attacker, scenario.defender), strict=True):
        text = scenario.unit_text(side) or "nothing"
        notes = [f"{format_units(table.damaged)} damaged"] if any(table.damaged.values()) else []
        notes += ["aboard: " + " / ".join(format_units(load) for load in table.cargo)] if table.cargo else []
        if side == Side.ATTACKER:
            notes += [f"landed: {format_units(scenario.landed)}"] if scenario.landed else []
            ships = {unit: n for unit, n in scenario.attacker.bombard.items() if n}
            notes += [f"off the coast: {format_units(ships)}"] if ships else []
        texts.append(text + (f" ({'; '.join(notes)})" if notes else ""))
    return f"{texts[0]} attack {texts[1]}"


def _landed(at_sea: Records) -> dict[str, int]:
    if at_sea.outcome[0] != Outcome.ATTACKER_WINS:
        return {}
    return {unit: int(n) for unit, n in zip(LAND_UNITS, at_sea.cargo[0], strict=True) if n}


def _landing_lines(scenario: GeneralCombatScenario, at_sea: Records) -> list[str]:
    """Tell what becomes of the cargo."""
    lines = []
    aboard = {unit: int(n) for unit, n in zip(LAND_UNITS, at_sea.cargo[0], strict=True)}
    drowned = {unit: n - aboard.get(unit, 0) for unit, n in scenario.landed.items() if n > aboard.get(unit, 0)}
    if drowned:
        lines.append(f"Lost with their transports: {listed(drowned)} (3.5)")
    left = {unit: n for unit, n in aboard.items() if n}
    if left and at_sea.outcome[0] == Outcome.ATTACKER_WINS:
        lines.append(f"Landed: {listed(left)} (5.2)")
    elif left:
        lines.append(f"No landing: {listed(left)} {'stays' if sum(left.values()) == 1 else 'stay'} aboard (5.2)")
    elif not scenario.landed:
        lines.append("Nothing to land")
    ships = any(scenario.attacker.bombard.values())
    if ships and scenario.sea is not None and any(scenario.sea.defender.units.values()):
        lines.append("No bombardment: a sea battle was fought in the zone (5.3)")
    return lines


def listed(units: dict[str, int]) -> str:
    """Return units as in "1 tank, 3 fighters"."""
    return ", ".join(counted(count, unit) for unit, count in units.items())


def _end_line(
    scenario: GeneralCombatScenario, records: Records, outcome: Outcome, at_sea: Records | None = None
) -> str:
    cycles = int(records.cycles[0]) - (int(at_sea.cycles[0]) if at_sea else 0)
    fought = "Before the first cycle" if cycles == 0 else f"After {cycles} cycle{'s' if cycles > 1 else ''}"
    ending, meaning = _ENDINGS[outcome]
    clause = _CLAUSES[outcome]
    if scenario.terrain == "sea":
        ending, meaning, clause = _SEA_ENDINGS[outcome]
    elif at_sea is not None and at_sea.outcome[0] == Outcome.UNFINISHED:
        return "The sea battle is unfinished, so nobody has fought on land."
    elif at_sea is not None and not _attacks_on_land(scenario, at_sea):
        return f"Nobody attacks on land: {ending} (5.2)."
    where = "on land " if scenario.sea is not None and cycles else ""
    return f"{fought} {where}{ending}: {meaning}{f' ({clause})' if clause else ''}."


def _attacks_on_land(scenario: GeneralCombatScenario, at_sea: Records) -> bool:
    """Whether the attacker has anybody on land at the start of the battle there."""
    return bool(_landed(at_sea)) or scenario.own_counts(Side.ATTACKER) != scenario.landed


def _closing_lines(
    scenario: GeneralCombatScenario,
    outcome: Outcome,
    survivors: dict[str, dict[str, int]],
    captured: dict[str, Any],
    conclusion: dict[str, Any],
) -> list[str]:
    """Tell what is left, whose the territory is and what the battle changes beyond it (4.7)."""
    lines = []
    for side in ("attacker", "defender"):
        notes = []
        if conclusion[side]["submerged"]:
            notes.append(f"{counted(conclusion[side]['submerged'], 'submarine')} submerged")
        if side == "attacker" and conclusion["retreated"]:
            notes.append(f"{listed(conclusion['retreated'])} withdrawn")
        note = f" ({'; '.join(notes)})" if notes else ""
        lines.append(f"Left of the {side}: {listed(survivors[side]) or 'nothing'}{note}")
    is_over = outcome != Outcome.UNFINISHED
    for side in ("attacker", "defender"):
        lines += _fleet_lines(scenario, side, conclusion[side]) if is_over else []
    aircraft = {unit: n for unit, n in survivors["attacker"].items() if unit in AIRCRAFT}
    if outcome == Outcome.ATTACKER_CLEARS:
        lines.append(
            "Aircraft take no territory; they wait and must still reach a friendly territory or carrier (4.7.2)"
        )
    elif outcome == Outcome.ATTACKER_RETREATS and aircraft:
        lines.append("Aircraft wait in the embattled space until the noncombat movement (4.6.10)")
    if captured["territory"]:
        lines += _capture_lines(scenario, captured, conclusion)
    return lines


def _fleet_lines(scenario: GeneralCombatScenario, side: str, left: dict[str, Any]) -> list[str]:
    lines = []
    if left["damaged"]:
        if scenario.rules.switches.bb_repair == "battle_end":
            lines.append(f"Undamaged again now that the battle is over: {side}'s {listed(left['damaged'])} (4.7.7)")
        else:
            lines.append(f"Still damaged until repaired at a naval base: {side}'s {listed(left['damaged'])} (4.7.7)")
    if left["no_landing"]:
        planes = counted(left["no_landing"], "aircraft")
        if side == "attacker":
            rule = "must land elsewhere in the attacker's noncombat movement"
        else:
            rule = "must land on a friendly carrier in the zone or within one space, else they are lost"
        lines.append(f"Without room on a carrier: {planes} of the {side} {rule} (4.7.8)")
    return lines


def _capture_lines(scenario: GeneralCombatScenario, captured: dict[str, Any], conclusion: dict[str, Any]) -> list[str]:
    territory = scenario.territory
    winner = conclusion["holder"]
    lines = []
    if winner == "friend":
        lines.append("Liberated: the territory goes back to the friend it belonged to (4.7.5)")
    elif territory.original_owner == "friend":
        lines.append("The attacker keeps the territory until its first owner's capital is free (4.7.5)")
    elif territory.original_owner == "attacker":
        lines.append("The attacker has his own territory back (4.7.1)")
    value = captured["value"]
    if value:
        lines.append(f"National production: {winner} +{value}, {territory.owner} -{value} (4.7.3)")
    if territory.capital and conclusion["treasury"]:
        lines.append(f"The treasury of {territory.owner} goes to the attacker: {conclusion['treasury']} (4.7.6)")
    elif territory.capital and territory.treasury and territory.original_owner != "defender":
        lines.append("Liberating a capital brings no money (4.7.6)")
    taken = [
        counted(captured[kind], unit)
        for kind, unit in (("guns", "aa_gun"), ("complexes", "industrial_complex"))
        if captured[kind]
    ]
    if taken:
        lines.append(f"Captured for the {winner}: {', '.join(taken)} (4.7.4)")
    if captured["guns"]:
        lines.append("A captured gun may not move in this turn's noncombat movement (4.7.4)")
    if captured["complexes"]:
        lines.append("A captured complex mobilises nothing before the captor's next turn (4.7.4)")
    return lines
