"""Exact distributions of land battles: the steps of the reference with every throw enumerated.

Probabilities are fractions, or floats for battles whose fractions would grow too long.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from fractions import Fraction
from math import comb
from typing import TYPE_CHECKING, Any

from tests.rulesets.general_combat.reference import (
    ATTACKER,
    DEFENDER,
    Battle,
    Scenario,
    State,
    Throw,
    aa_throws,
    after_cycle,
    apply_aa,
    combat_throws,
    conclude,
    condition_a,
    muster,
    read_scenario,
    remove_losses,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

Number = Fraction | float
Stacks = tuple[tuple[str, ...], tuple[str, ...]]


@dataclass
class Distribution:
    """Probability of every way in which a battle can end."""

    endings: list[tuple[Battle, Number]] = field(default_factory=list)
    mean_cycles: Number = 0

    def mean(self, what: Callable[[Battle], int]) -> Number:
        """Return the expectation of a figure of the battle."""
        return sum((what(battle) * p for battle, p in self.endings), Fraction(0))

    def outcome(self, name: str) -> Number:
        """Return the probability of an outcome."""
        return self.mean(lambda battle: int(battle.outcome == name))

    def survivors(self, side: int, unit: str | None = None, outcome: str | None = None) -> Number:
        """Return the mean number of survivors, counted over the battles with that outcome only."""
        return self.mean(
            lambda battle: (
                sum(n for name, n in battle.survivors[side].items() if unit in {None, name})
                if outcome in {None, battle.outcome}
                else 0
            )
        )


def hit_chances(throws: Iterable[Throw]) -> list[Fraction]:
    """Return P(hits = k) of several throws together, for k = 0, 1, ..."""
    chances = [Fraction(1)]
    for throw in throws:
        single = [Fraction(0)] * throw.sure + [
            comb(throw.dice, k) * throw.chance**k * (1 - throw.chance) ** (throw.dice - k)
            for k in range(throw.dice + 1)
        ]
        product = [Fraction(0)] * (len(chances) + len(single) - 1)
        for i, p in enumerate(chances):
            for k, q in enumerate(single):
                product[i + k] += p * q
        chances = product
    return chances


def after_aa(scenario: Scenario) -> dict[Stacks, Fraction]:
    """Return the distribution of the two stacks when the guns have fired."""
    attackers, defenders = muster(scenario, ATTACKER), muster(scenario, DEFENDER)
    stacks: dict[Stacks, Fraction] = {(tuple(attackers), tuple(defenders)): Fraction(1)}
    for throw in aa_throws(scenario, State(attackers, defenders)):
        following: defaultdict[Stacks, Fraction] = defaultdict(Fraction)
        for (left, right), p in stacks.items():
            for hits, q in enumerate(hit_chances([throw])):
                state = State(list(left), list(right))
                apply_aa(state, throw.group, hits)
                if q:
                    following[tuple(state.attackers), tuple(state.defenders)] += p * q
        stacks = dict(following)
    return stacks


def capped(chances: list[Fraction], units: int) -> list[Fraction]:
    """Join the numbers of hits that remove everything."""
    return [*chances[:units], sum(chances[units:], Fraction(0))] if len(chances) > units else chances


def one_cycle(
    scenario: Scenario, stacks: Stacks, cycle: int, number: Callable[[Fraction], Number]
) -> list[tuple[Stacks, str | None, Number]]:
    """Return what a cycle can lead to: the stacks after it, the outcome if it ends the battle, the chance."""
    left, right = stacks
    attack = capped(hit_chances(combat_throws(scenario, ATTACKER, left, cycle)), len(right))
    defence = capped(hit_chances(combat_throws(scenario, DEFENDER, right, cycle)), len(left))
    after = []
    for hits, q in enumerate(map(number, attack)):
        for losses, r in enumerate(map(number, defence)):
            if q * r:
                state = State(list(left), list(right))
                remove_losses(state.defenders, hits)
                remove_losses(state.attackers, losses)
                outcome = after_cycle(scenario, state, cycle)
                after.append(((tuple(state.attackers), tuple(state.defenders)), outcome, q * r))
    return after


@dataclass
class Chain:
    """The battle as a chain of states: what is still running, and what has ended."""

    scenario: Scenario
    number: Callable[[Fraction], Number]
    running: dict[Stacks, Number] = field(default_factory=dict)
    ended: dict[tuple[Stacks, str], Number] = field(default_factory=dict)
    mean_cycles: Number = 0

    def book(self, stacks: Stacks, outcome: str | None, p: Number) -> None:
        """Add probability to a state or to an ending."""
        if outcome is None:
            self.running[stacks] = self.running.get(stacks, 0) + p
        else:
            self.ended[stacks, outcome] = self.ended.get((stacks, outcome), 0) + p

    def start(self) -> None:
        """Let the guns fire and test condition A."""
        for (left, right), p in after_aa(self.scenario).items():
            state = State(list(left), list(right))
            outcome = condition_a(self.scenario, state, 0)
            self.book((tuple(state.attackers), tuple(state.defenders)), outcome, self.number(p))

    def advance(self, cycle: int) -> None:
        """Fight one cycle of all running battles."""
        before, self.running = self.running, {}
        for stacks, p in before.items():
            self.mean_cycles += p
            for then, outcome, q in one_cycle(self.scenario, stacks, cycle, self.number):
                self.book(then, outcome, p * q)

    def finish(self, cycle: int) -> None:
        """Fight to the end, when the rules are the same in `cycle` and in every later one.

        A cycle without losses leads back to where it began and is divided out. The largest stacks come
        first, so that everything that leads to a state is known when the state is left.
        """
        while self.running:
            stacks = max(self.running, key=lambda pair: len(pair[0]) + len(pair[1]))
            p = self.running.pop(stacks)
            after = one_cycle(self.scenario, stacks, cycle, self.number)
            for then, outcome, q in after:
                if outcome is None and then == stacks:
                    p /= 1 - q
            self.mean_cycles += p
            for then, outcome, q in after:
                if outcome is not None or then != stacks:
                    self.book(then, outcome, p * q)


def solve(data: Mapping[str, Any] | Scenario, *, exact: bool = True) -> Distribution:
    """Return the distribution of the battle's endings.

    `exact` = False computes in floats, for battles of dozens of units.
    """
    scenario = data if isinstance(data, Scenario) else read_scenario(data)
    chain = Chain(scenario, (lambda p: p) if exact else float)
    chain.start()
    # Rules that look at the number of the cycle are the same from this cycle on.
    settled = max(scenario.cycle_limit, scenario.forces[ATTACKER].retreat.after_cycles, 1)
    for cycle in range(1, settled):
        chain.advance(cycle)
    chain.finish(settled)
    # The number of cycles is not kept for each ending: its mean is known.
    return Distribution(
        [
            (conclude(scenario, State(list(left), list(right)), outcome, -1), p)
            for ((left, right), outcome), p in chain.ended.items()
        ],
        chain.mean_cycles,
    )


def aa_losses(data: Mapping[str, Any]) -> dict[tuple[tuple[str, int], ...], Fraction]:
    """Return the distribution of the aircraft that the guns shoot down, as ((unit, number), ...)."""
    scenario = read_scenario(data)
    start = Counter(muster(scenario, ATTACKER))
    losses: defaultdict[tuple[tuple[str, int], ...], Fraction] = defaultdict(Fraction)
    for (left, _), p in after_aa(scenario).items():
        losses[tuple(sorted((start - Counter(left)).items()))] += p
    return dict(losses)
