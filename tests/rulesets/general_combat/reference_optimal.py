"""The best that a side can do on land, in fractions: a plain recursion over everything it may decide.

Written from the rule text: who rolls when, who chooses what and what he knows then. A state in which nobody is
hit is the same as before, and the same is decided again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.rulesets.general_combat.reference import (
    AIRCRAFT,
    ATTACKER,
    DEFENDER,
    GROUP_ANY_AIRCRAFT,
    LAND,
    State,
    aa_throws,
    combat_throws,
)
from tests.rulesets.general_combat.reference_assault import (
    Shore,
    ShoreScenario,
    Soldier,
    bombard_throws,
    conclude,
    condition_a,
    muster_shore,
    read_shore,
)
from tests.rulesets.general_combat.reference_exact import hit_chances

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence

WINS = {ATTACKER: ("attacker_wins", "attacker_clears"), DEFENDER: ("defender_wins",)}


class Worth(NamedTuple):
    """What a state is worth: the goal, the attacker's chance to win, the swing."""

    goal: Fraction
    win: Fraction
    swing: Fraction

    def plus(self, other: Worth, p: Fraction) -> Worth:
        """Add `p` times another worth."""
        return Worth(*(x + p * y for x, y in zip(self, other, strict=True)))

    def times(self, factor: Fraction) -> Worth:
        """Multiply by a factor."""
        return Worth(*(x * factor for x in self))


NOTHING = Worth(Fraction(0), Fraction(0), Fraction(0))


@dataclass(frozen=True)
class Policies:
    """What decides: `goal` for the decisions of `side`, and when the attacker leaves."""

    side: int = ATTACKER
    goal: str = "win"
    decisions: frozenset[str] = frozenset()
    win_below: Fraction = Fraction(0)
    swing_negative: bool = False


Stack = tuple[Any, ...]
Position = tuple[Stack, Stack, Stack]
"""Attackers, defenders, and attackers who have left."""


def without(stack: Stack, hits: int) -> list[Stack]:
    """Return everything that a stack can be after hits on units of the owner's choice; his order of loss first."""
    left = max(0, len(stack) - hits)
    found = dict.fromkeys([stack[len(stack) - left :]])
    for places in combinations(range(len(stack)), left):
        found[tuple(stack[place] for place in places)] = None
    return list({tuple(sorted(map(repr, kept))): kept for kept in reversed(found)}.values())[::-1]


@dataclass
class Player:
    """One battle and what is decided in it."""

    scenario: ShoreScenario
    policies: Policies
    is_landing: bool
    known: dict[Hashable, Worth] = field(default_factory=dict)

    @property
    def settled(self) -> int:
        """The cycle from which on it does not matter how many there were."""
        retreat = self.scenario.forces[ATTACKER].retreat
        return self.scenario.cycle_limit or max(1, retreat.after_cycles)

    def pay(self, shore: Shore, outcome: str) -> Worth:
        """Return what an end is worth."""
        battle = conclude(self.scenario, shore, outcome, -1)
        win = Fraction(int(outcome in WINS[ATTACKER]))
        swing = Fraction(battle.swing)
        side, goal = self.policies.side, self.policies.goal
        sign = 1 if side == ATTACKER else -1
        worth = {
            "win": Fraction(int(outcome in WINS[side])),
            "capture": Fraction(sign * int(outcome == "attacker_wins")),
            "swing": sign * swing,
        }
        return Worth(worth[goal], win, swing)

    def losses(self, side: int, stack: Stack, hits: int) -> list[Stack]:
        """Return what a side may be left with."""
        if side == self.policies.side and "casualties" in self.policies.decisions:
            return without(stack, hits)
        return [stack[hits:]]

    def cycle(self, position: Position, doomed: Stack, cycle: int, *, loop: bool) -> tuple[Worth, Fraction]:
        """Return the worth of fighting cycle `cycle`; with `loop` without the part in which nobody is hit."""
        attackers, defenders, gone = position
        units = [soldier.unit for soldier in attackers]
        attack = hit_chances(combat_throws(self.scenario, ATTACKER, units, cycle))
        defence = hit_chances(combat_throws(self.scenario, DEFENDER, defenders + doomed, cycle))
        total, same = NOTHING, Fraction(0)
        for hits, p in enumerate(attack):
            best: Worth | None = None
            for left in self.losses(DEFENDER, defenders, hits):
                worth = NOTHING
                for suffered, q in enumerate(defence):
                    if loop and hits == 0 and suffered == 0:
                        same = p * q
                        continue
                    worth = worth.plus(
                        max(
                            (
                                self.arrive((kept, left, gone), cycle)
                                for kept in self.losses(ATTACKER, attackers, suffered)
                            ),
                            key=lambda found: found.goal,
                        ),
                        q,
                    )
                if best is None or worth.goal > best.goal:
                    best = worth
            assert best is not None
            total = total.plus(best, p)
        return total, same

    def going(self, position: Position, cycle: int) -> Worth:
        """Return the worth of going on after cycle `cycle`."""
        if cycle == self.scenario.cycle_limit:
            return self.pay(self.shore(position), "unfinished")
        loop = cycle >= self.settled
        worth, same = self.cycle(position, (), min(cycle + 1, self.settled), loop=loop)
        return worth.times(1 / (1 - same))

    def shore(self, position: Position) -> Shore:
        """Return the board of a position."""
        attackers, defenders, gone = position
        return Shore(list(attackers), list(defenders), [], list(gone))

    def leavers(self, attackers: Sequence[Soldier]) -> list[Soldier]:
        """GC-4.6.8, GC-4.6.12, GC-5.6: those who leave when the attacker retreats; nobody where they cannot."""
        group = list(attackers)
        if self.is_landing:
            overland_too = self.scenario.edition.amphib_retreat == "aircraft_and_overland"
            group = [s for s in attackers if s.unit in AIRCRAFT or (overland_too and not s.landed)]
        needs_space = any(soldier.unit in LAND for soldier in group)
        return group if self.scenario.forces[ATTACKER].retreat.possible or not needs_space else []

    def arrive(self, position: Position, cycle: int) -> Worth:
        """Return the worth of step 6 after cycle `cycle`."""
        key = (*(tuple(sorted(map(repr, stack))) for stack in position), cycle)
        if key not in self.known:
            self.known[key] = self.step_6(position, cycle)
        return self.known[key]

    def step_6(self, position: Position, cycle: int) -> Worth:
        """A, then the attacker's decision, then the limit."""
        shore = self.shore(position)
        outcome = condition_a(self.scenario, shore, cycle)
        if outcome is not None:
            return self.pay(shore, outcome)
        going = self.going(position, cycle)
        group = self.leavers(position[0])
        if not group:
            return going
        leaving = self.leave(position, group, cycle)
        if self.policies.side == ATTACKER and "retreat" in self.policies.decisions:
            return leaving if leaving.goal > going.goal else going
        retreat = self.scenario.forces[ATTACKER].retreat
        attackers = position[0]
        so_far = self.pay(self.shore(position), "unfinished").swing
        leaves = (
            0 < retreat.after_cycles <= cycle
            or len(attackers) <= retreat.when_units_at_most
            or (retreat.when_only_aircraft and not any(soldier.unit in LAND for soldier in attackers))
            or going.win < self.policies.win_below
            or (self.policies.swing_negative and going.swing < so_far)
        )
        return leaving if leaves else going

    def leave(self, position: Position, group: list[Soldier], cycle: int) -> Worth:
        """Return the worth of a retreat."""
        attackers, defenders, gone = position
        if len(group) == len(attackers):
            return self.pay(self.shore(position), "attacker_retreats")
        stay = list(attackers)
        for soldier in group:
            stay.remove(soldier)
        rest = (tuple(stay), defenders, (*gone, *group))
        shore = self.shore(rest)
        outcome = condition_a(self.scenario, shore, cycle)
        return self.pay(shore, outcome) if outcome is not None else self.going(rest, cycle)

    def begin(self, attackers: Stack, defenders: Stack, doomed: Stack) -> Worth:
        """Return the worth of a battle before cycle 1."""
        shore = Shore(list(attackers), list(defenders), list(doomed))
        outcome = condition_a(self.scenario, shore, 0)
        if outcome is not None:
            return self.pay(shore, outcome)
        return self.cycle((attackers, defenders, ()), doomed, 1, loop=False)[0]

    def bombarded(self, attackers: Stack, defenders: Stack) -> Worth:
        """GC-5.4, GC-5.5: the ships fire before cycle 1."""
        start = muster_shore(self.scenario)
        throws = bombard_throws(self.scenario, start) if self.is_landing else []
        total = NOTHING
        for hits, p in enumerate(hit_chances(throws)):
            choices = []
            for left in self.losses(DEFENDER, defenders, hits):
                doomed = list(defenders)
                for unit in left:
                    doomed.remove(unit)
                fires = self.scenario.edition.bombard_return_fire
                choices.append(self.begin(attackers, left, tuple(doomed) if fires else ()))
            total = total.plus(max(choices, key=lambda found: found.goal), p)
        return total

    def value(self) -> Worth:
        """GC-4.0.1 to GC-4.0.3: the guns fire first of all. Returns what the whole battle is worth."""
        start = muster_shore(self.scenario)
        defenders = tuple(start.defenders)
        return self._after_guns(
            tuple(start.attackers), defenders, aa_throws(self.scenario, State(start.attacking(), []))
        )

    def _after_guns(self, attackers: Stack, defenders: Stack, throws: Sequence[Any]) -> Worth:
        if not throws:
            return self.bombarded(attackers, defenders)
        throw, total = throws[0], NOTHING
        for hits, p in enumerate(hit_chances([throw])):
            mine = [s for s in attackers if s.unit in AIRCRAFT and throw.group in {GROUP_ANY_AIRCRAFT, _type(s.unit)}]
            options: Iterable[Stack] = self.losses(ATTACKER, tuple(mine), hits)
            worths = []
            for left in options:
                stack = list(attackers)
                for soldier in mine:
                    stack.remove(soldier)
                kept = [*stack, *left]
                order = [s for s in attackers if s in kept]
                worths.append(self._after_guns(_picked(order, kept), defenders, throws[1:]))
            total = total.plus(max(worths, key=lambda found: found.goal), p)
        return total


def _type(unit: str) -> int:
    from tests.rulesets.general_combat.reference import TYPE  # noqa: PLC0415

    return TYPE[unit]


def _picked(order: list[Soldier], kept: list[Soldier]) -> Stack:
    """Return the soldiers that are kept in the order of loss."""
    left = list(kept)
    found = []
    for soldier in reversed(order):
        if soldier in left:
            left.remove(soldier)
            found.append(soldier)
    return tuple(reversed(found))


def plain(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return a scenario without what only looks ahead, as the other references read it."""
    scenario = {key: dict(value) if isinstance(value, dict) else value for key, value in data.items()}
    for side in ("attacker", "defender"):
        if side in scenario:
            scenario[side].pop("optimal", None)
    if "retreat" in scenario.get("attacker", {}):
        known = scenario["attacker"]["retreat"]
        scenario["attacker"]["retreat"] = {k: v for k, v in known.items() if k[:10] not in ("when_win_c", "when_swing")}
    return scenario


def policies_of(data: Mapping[str, Any]) -> Policies:
    """Read who decides what."""
    retreat = data.get("attacker", {}).get("retreat", {})
    thresholds = {
        "win_below": Fraction(retreat.get("when_win_chance_below", 0)).limit_denominator(10**12),
        "swing_negative": retreat.get("when_swing_negative", False),
    }
    for side, name in ((ATTACKER, "attacker"), (DEFENDER, "defender")):
        optimal = data.get(name, {}).get("optimal")
        if optimal is not None:
            able = ("casualties", "retreat") if side == ATTACKER else ("casualties",)
            decisions = frozenset(optimal.get("decisions") or able)
            return Policies(side=side, goal=optimal.get("goal", "win"), decisions=decisions, **thresholds)
    return Policies(**thresholds)


def best(data: Mapping[str, Any]) -> Worth:
    """Return what a land battle or landing is worth under its policies and best decisions."""
    scenario = plain(data)
    policies = policies_of(data)
    if "casualties" in policies.decisions and policies.side == ATTACKER:
        scenario["attacker"].pop("keep_land", None)
    is_landing = scenario.get("terrain") == "amphibious"
    return Player(read_shore(scenario), policies, is_landing).value()
