"""Exact distributions of sea battles: the steps of the reference, run once for every way the dice fall.

Probabilities are fractions, or floats for battles whose fractions would grow too long.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any

from tests.rulesets.general_combat.reference import ATTACKER, DEFENDER, Throw
from tests.rulesets.general_combat.reference_exact import Number, hit_chances
from tests.rulesets.general_combat.reference_sea import (
    POOLED,
    Fleet,
    Fleets,
    Hits,
    Piece,
    SeaBattle,
    SeaScenario,
    Volley,
    before_battle,
    conclude,
    fight_cycle,
    muster_fleet,
    read_sea,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

Side = tuple[tuple[Piece, ...], int]
Position = tuple[Side, Side]


@dataclass
class SeaDistribution:
    """Probability of every way in which a battle can end."""

    endings: list[tuple[SeaBattle, Number]] = field(default_factory=list)
    mean_cycles: Number = 0

    def mean(self, what: Callable[[SeaBattle], int]) -> Number:
        """Return the expectation of a figure of the battle."""
        return sum((what(battle) * p for battle, p in self.endings), Fraction(0))

    def chance(self, test: Callable[[SeaBattle], bool]) -> Number:
        """Return the probability that a battle is of this kind."""
        return self.mean(lambda battle: int(test(battle)))

    def outcome(self, name: str) -> Number:
        """Return the probability of an outcome."""
        return self.chance(lambda battle: battle.outcome == name)

    def survivors(self, side: int) -> Number:
        """Return the mean number of survivors of a side."""
        return self.mean(lambda battle: sum(battle.survivors[side].values()))


def freeze(fleets: Fleets) -> Position:
    """Return the position between two cycles in a form that can be looked up."""
    attacker, defender = ((tuple(fleet.board), fleet.submerged) for fleet in fleets)
    return attacker, defender


def thaw(position: Position) -> Fleets:
    """Return the fleets that stand in this position."""
    attacker, defender = (Fleet(list(board), submerged=submerged) for board, submerged in position)
    return attacker, defender


@cache
def falls(throws: tuple[tuple[str, Throw], ...]) -> list[tuple[Hits, Fraction]]:
    """Return the numbers of hits by class that a volley can score, with their chances."""
    found = [(Hits(), Fraction(1))]
    for kind in POOLED:
        chances = hit_chances(throw for its, throw in throws if its == kind)
        found = [(hits._replace(**{kind: n}), p * q) for hits, p in found for n, q in enumerate(chances) if q]
    return found


class Fork(Exception):  # noqa: N818 - not an error: the dice can fall in several ways here
    """The cycle has come to a volley whose hits are not decided yet."""

    def __init__(self, throws: Volley) -> None:
        super().__init__()
        self.throws = tuple(throws)


def one_cycle(
    scenario: SeaScenario, position: Position, cycle: int, number: Callable[[Fraction], Number]
) -> Iterator[tuple[Position, str | None, Number]]:
    """Yield what a cycle can lead to: the position after it, the outcome if it ends the battle, the chance."""
    pending: list[tuple[tuple[Hits, ...], Number]] = [((), number(Fraction(1)))]
    while pending:
        decided, p = pending.pop()
        answers = iter(decided)

        def roll(throws: Volley, answers: Iterator[Hits] = answers) -> Hits:
            hits = next(answers, None)
            if hits is None:
                raise Fork(throws)
            return hits

        fleets = thaw(position)
        try:
            outcome = fight_cycle(scenario, fleets, cycle, roll)
        except Fork as fork:
            pending += [((*decided, hits), p * number(q)) for hits, q in falls(fork.throws)]
        else:
            yield freeze(fleets), outcome, p


def strength(position: Position) -> int:
    """Return the hits that the boards can still take: no cycle adds to it."""
    return sum(piece.hits for board, _ in position for piece in board)


@dataclass
class Chain:
    """The battle as a chain of positions: what is still running, and what has ended."""

    scenario: SeaScenario
    number: Callable[[Fraction], Number]
    running: dict[Position, Number] = field(default_factory=dict)
    ended: dict[tuple[Position, str], Number] = field(default_factory=dict)
    mean_cycles: Number = 0

    def book(self, position: Position, outcome: str | None, p: Number) -> None:
        """Add probability to a position or to an ending."""
        if outcome is None:
            self.running[position] = self.running.get(position, 0) + p
        else:
            self.ended[position, outcome] = self.ended.get((position, outcome), 0) + p

    def after(self, position: Position, cycle: int) -> dict[tuple[Position, str | None], Number]:
        """Return the chances of what follows on a position."""
        chances: dict[tuple[Position, str | None], Number] = {}
        for then, outcome, q in one_cycle(self.scenario, position, cycle, self.number):
            chances[then, outcome] = chances.get((then, outcome), 0) + q
        return chances

    def advance(self, cycle: int) -> None:
        """Fight one cycle of all running battles."""
        before, self.running = self.running, {}
        for position, p in before.items():
            self.mean_cycles += p
            for (then, outcome), q in self.after(position, cycle).items():
                self.book(then, outcome, p * q)

    def finish(self, cycle: int) -> None:
        """Fight to the end, when the rules are the same in `cycle` and in every later one.

        A cycle without losses leads back to where it began and is divided out. The strongest positions
        come first, so that everything that leads to a position is known when it is left.
        """
        while self.running:
            position = max(self.running, key=strength)
            p = self.running.pop(position)
            after = self.after(position, cycle)
            p /= 1 - after.pop((position, None), 0)
            self.mean_cycles += p
            for (then, outcome), q in after.items():
                self.book(then, outcome, p * q)


def solve_at_sea(data: Mapping[str, Any] | SeaScenario, *, exact: bool = True) -> SeaDistribution:
    """Return the distribution of the battle's endings.

    `exact` = False computes in floats, for battles of many units.
    """
    scenario = data if isinstance(data, SeaScenario) else read_sea(data)
    chain = Chain(scenario, (lambda p: p) if exact else float)
    fleets = muster_fleet(scenario, ATTACKER), muster_fleet(scenario, DEFENDER)
    outcome = before_battle(scenario, fleets)
    chain.book(freeze(fleets), outcome, chain.number(Fraction(1)))
    # Rules that look at the number of the cycle are the same from this cycle on.
    settled = max(scenario.cycle_limit, scenario.forces[ATTACKER].retreat.after_cycles, 1)
    for cycle in range(1, settled):
        chain.advance(cycle)
    chain.finish(settled)
    # The number of cycles is not kept for each ending: its mean is known.
    return SeaDistribution(
        [(conclude(scenario, thaw(position), outcome, -1), p) for (position, outcome), p in chain.ended.items()],
        chain.mean_cycles,
    )
