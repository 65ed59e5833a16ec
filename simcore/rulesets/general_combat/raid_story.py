"""One bombing raid told step by step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from simcore.enums import Side, Status
from simcore.rulesets.general_combat.drive import run_raid
from simcore.rulesets.general_combat.encoding import REMAINDER_GROUPS, UNITS, DrawStep
from simcore.rulesets.general_combat.raid import HEAVY_GROUP, RAID_OUTCOMES, encode_raids
from simcore.rulesets.general_combat.story import counted, hits_text, listed
from simcore.rulesets.general_combat.trace import POOLED, Event, EventField, new_raid_records
from simcore.story import Story, check_end

if TYPE_CHECKING:
    from simcore.rulesets.general_combat.params import GeneralCombatScenario

__all__ = ["RaidReplay", "replay_raid"]

_EVENTS = 256
_LOWEST_DRAWN = 2
"""Dice that show no face down to this one show 1."""
_TARGETS = {"complex": "industrial complex"}
_HEADINGS = {
    DrawStep.AA_FIRE: "Antiaircraft fire at the bombers (6.1)",
    DrawStep.ATTACK: "Air battle (2.3 sbr_air_battle)",
    DrawStep.DEFENCE: "Air battle (2.3 sbr_air_battle)",
    DrawStep.DAMAGE: "Bombs (6.1)",
}


@dataclass(frozen=True)
class RaidReplay(Story):
    """One raid, told.

    Attributes
    ----------
    lines : list of str
        The story, one event a line.
    outcome : str
        "damage" or "no_damage".
    cycles : int
        1 with an air battle, else 0.
    battle : int
        Battle number.
    damage : int
        Damage done, after the cap.
    survivors, lost : dict of str to dict of str to int
        By side and aircraft, only counts above 0.
    cost_lost : dict of str to int
        By side.
    draws : list of dict
        Every draw point: a script is the list of its hits; a damage die "hits" when it shows the face asked for.
    """

    lines: list[str]
    outcome: str
    cycles: int
    battle: int
    damage: int
    survivors: dict[str, dict[str, int]]
    lost: dict[str, dict[str, int]]
    cost_lost: dict[str, int]
    draws: list[dict[str, Any]]

    def to_dict(self) -> dict[str, Any]:
        """Return the replay as JSON-able data."""
        return {
            "battle": self.battle,
            "outcome": self.outcome,
            "cycles": self.cycles,
            "damage": self.damage,
            "survivors": self.survivors,
            "lost": self.lost,
            "cost_lost": self.cost_lost,
            "draws": self.draws,
            "story": self.lines,
        }


class _RaidNarrator:
    def __init__(self, scenario: GeneralCombatScenario, odds: npt.NDArray[np.int64]) -> None:
        self.scenario = scenario
        self.odds = odds
        self.lines: list[str] = []
        self.draws: list[dict[str, Any]] = []
        self.heading = ""

    def read(self, event: npt.NDArray[np.int32]) -> None:
        kind, step = int(event[EventField.KIND]), int(event[EventField.STEP])
        if kind == Event.DRAW:
            heading = _HEADINGS[DrawStep(step)]
            if heading != self.heading:
                self.heading = heading
                self.lines.append(heading)
            self._draw(event, DrawStep(step))
        elif kind == Event.LOSS:
            side = Side(int(event[EventField.SIDE])).name.lower()
            count = int(event[EventField.DICE])
            self.lines.append(f"  {side} loses {counted(count, UNITS[int(event[EventField.GROUP])])}")

    def _draw(self, event: npt.NDArray[np.int32], step: DrawStep) -> None:
        fields = (EventField.SIDE, EventField.GROUP, EventField.DICE, EventField.ODDS, EventField.HITS, EventField.SURE)
        side, group, dice, odds, hits, sure = (int(event[i]) for i in fields)
        name = Side(side).name.lower()
        numerator, denominator, _ = (int(x) for x in self.odds[odds])
        count = f"{dice} {'die' if dice == 1 else 'dice'}"
        if step == DrawStep.DAMAGE:
            face = group % HEAVY_GROUP
            heavy = group >= HEAVY_GROUP
            what = f"dice showing {face}" + (", the larger of two" if heavy else "")
            count = f"{dice} {'pair' if dice == 1 else 'pairs'} of dice, the larger counts" if heavy else count
            text = f"{count}: {hits} {'shows' if hits == 1 else 'show'} {face}"
            left = dice - hits
            if face == _LOWEST_DRAWN and left:
                text += f", {left} {'shows' if left == 1 else 'show'} 1"
        else:
            what = counted(max(dice, 2), UNITS[group]).split(" ", 1)[1] if group not in REMAINDER_GROUPS else "low luck"
            if step == DrawStep.AA_FIRE:
                what = f"AA at {what}"
            if hits == POOLED:
                self.lines.append(f"  {name}: {counted(dice, UNITS[group])} at {numerator} or less add their points")
                return
            parts = [f"{hits_text(sure)} for sure"] if sure else []
            parts += [f"{count} at {numerator} or less: {hits_text(hits)}"] if dice else []
            text = f"{what}, {' and '.join(parts)}"
        if dice:
            self.draws.append(
                {
                    "cycle": int(event[EventField.CYCLE]),
                    "step": step.name.lower(),
                    "side": name,
                    "what": what,
                    "dice": dice,
                    "odds": [numerator, denominator],
                    "hits": hits,
                }
            )
        self.lines.append(f"  {name}: {text}")


def replay_raid(
    scenario: GeneralCombatScenario, key: npt.NDArray[np.uint64], battle: int, script: npt.NDArray[np.int64] | None
) -> RaidReplay:
    """Resolve one raid with a trace and tell it; parameters and errors as of `story.replay`."""
    raids = encode_raids([scenario])
    records = new_raid_records(1)
    trace = np.zeros((_EVENTS, len(EventField)), dtype=np.int32)
    steps = np.zeros(1 if script is None else len(script) + 1, dtype=np.int64)
    steps[0] = 1
    if script is not None:
        steps[1:] = script
    _, status, _ = run_raid(raids, key.reshape(1, 2), 0, battle, records, trace, steps)
    narrator = _RaidNarrator(scenario, raids.odds)
    for event in trace[1 : int(trace[0, 0]) + 1]:
        narrator.read(event)
    check_end(Status(int(status[0])), battle, script, int(steps[0]) - 1, narrator.draws, is_last=True)
    target = _TARGETS.get(scenario.raid_target, scenario.raid_target.replace("_", " "))
    start = [scenario.unit_text(side) or "nothing" for side in Side]
    lines = [f"Raid {battle}: {start[0]} against {start[1]}; target: {target} ({scenario.edition})", *narrator.lines]
    survivors: dict[str, dict[str, int]] = {}
    lost: dict[str, dict[str, int]] = {}
    for side in Side:
        name = side.name.lower()
        survivors[name] = {UNITS[t]: int(n) for t, n in enumerate(records.survivors[0, side]) if n}
        begun = scenario.casualties(side)
        lost[name] = {
            unit: n - survivors[name].get(unit, 0) for unit, n in begun.items() if n > survivors[name].get(unit, 0)
        }
    damage = int(records.damage[0])
    lines += _closing_lines(scenario, survivors, damage)
    return RaidReplay(
        lines=lines,
        outcome=RAID_OUTCOMES[int(records.outcome[0])],
        cycles=int(records.cycles[0]),
        battle=battle,
        damage=damage,
        survivors=survivors,
        lost=lost,
        cost_lost={side.name.lower(): int(records.cost_lost[0, side]) for side in Side},
        draws=narrator.draws,
    )


def _closing_lines(scenario: GeneralCombatScenario, survivors: dict[str, dict[str, int]], damage: int) -> list[str]:
    bombers = survivors["attacker"].get("bomber", 0)
    bonus = scenario.rules.switches.sbr_bonus * bombers
    lines = []
    if bonus:
        lines.append(f"Each bomber adds {scenario.rules.switches.sbr_bonus}: {bonus} (2.3 sbr_bonus)")
    cap = f"; at most {scenario.raid_cap} in all (6.2)" if scenario.raid_cap >= 0 else ""
    before = f", {scenario.raid.damaged} before" if scenario.raid.damaged else ""
    owner = scenario.territory.owner
    if scenario.rules.switches.sbr_target == "income":
        lines.append(f"Lost income of {owner}: {damage}{before}{cap}")
    else:
        lines.append(f"Damage: {damage}{before}{cap}")
    lines += [f"Left of the {side}: {listed(survivors[side]) or 'no aircraft'}" for side in ("attacker", "defender")]
    return lines
