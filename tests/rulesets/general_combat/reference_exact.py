"""Exact distributions of land battles: the steps of the reference with every throw enumerated.

Probabilities are fractions, or floats for battles whose fractions would grow too long.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import comb
from typing import Any

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


def solve(data: Mapping[str, Any] | Scenario, *, exact: bool = True) -> Distribution:
    """Return the distribution of the battle's endings.

    `exact` = False computes in floats, for battles of dozens of units.
    """
    scenario = data if isinstance(data, Scenario) else read_scenario(data)
    number: Callable[[Fraction], Number] = (lambda p: p) if exact else float
    ended: defaultdict[tuple[Stacks, str, int], Number] = defaultdict(lambda: number(Fraction(0)))
    result = Distribution()

    running: defaultdict[Stacks, Number] = defaultdict(lambda: number(Fraction(0)))
    for (left, right), p in after_aa(scenario).items():
        state = State(list(left), list(right))
        outcome = condition_a(scenario, state, 0)
        stacks = (tuple(state.attackers), tuple(state.defenders))
        if outcome is None:
            running[stacks] += number(p)
        else:
            ended[stacks, outcome, 0] += number(p)

    # Rules that look at the cycle's number are the same from this cycle on.
    settled = max(scenario.cycle_limit, scenario.forces[ATTACKER].retreat.after_cycles, 1)
    cycle = 0
    while running:
        cycle = min(cycle + 1, settled)
        following: defaultdict[Stacks, Number] = defaultdict(lambda: number(Fraction(0)))
        # The larger stacks come first, so that in the settled phase a state is complete when it is read.
        for _ in range(len(running)) if cycle < settled else iter(lambda: bool(running), False):
            stacks = max(running, key=lambda pair: len(pair[0]) + len(pair[1]))
            p = running.pop(stacks)
            left, right = stacks
            attack = hit_chances(combat_throws(scenario, ATTACKER, left, cycle))
            defence = hit_chances(combat_throws(scenario, DEFENDER, right, cycle))
            exits: list[tuple[Stacks, str | None, Number]] = []
            stay: Number = number(Fraction(0))
            for hits, q in enumerate(map(number, capped(attack, len(right)))):
                for losses, r in enumerate(map(number, capped(defence, len(left)))):
                    if not q * r:
                        continue
                    state = State(list(left), list(right))
                    remove_losses(state.defenders, hits)
                    remove_losses(state.attackers, losses)
                    outcome = after_cycle(scenario, state, cycle)
                    then = (tuple(state.attackers), tuple(state.defenders))
                    if outcome is None and then == stacks and cycle == settled:
                        stay += q * r
                    else:
                        exits.append((then, outcome, q * r))
            visits = p / (1 - stay)
            result.mean_cycles += visits
            for then, outcome, q in exits:
                if outcome is not None:
                    ended[then, outcome, cycle] += visits * q
                elif cycle == settled:
                    running[then] += visits * q
                else:
                    following[then] += visits * q
        running.update(following)

    joined: defaultdict[tuple[Stacks, str], Number] = defaultdict(lambda: number(Fraction(0)))
    for (stacks, outcome, _), p in ended.items():
        joined[stacks, outcome] += p
    for (stacks, outcome), p in joined.items():
        # The number of cycles is not kept apart: its mean is in `mean_cycles`.
        end = conclude(scenario, State(list(stacks[0]), list(stacks[1])), outcome, -1)
        result.endings.append((end, p))
    return result


def aa_losses(data: Mapping[str, Any]) -> dict[tuple[tuple[str, int], ...], Fraction]:
    """Return the distribution of the aircraft that the guns shoot down, as ((unit, number), ...)."""
    scenario = read_scenario(data)
    start = Counter(muster(scenario, ATTACKER))
    losses: defaultdict[tuple[tuple[str, int], ...], Fraction] = defaultdict(Fraction)
    for (left, _), p in after_aa(scenario).items():
        losses[tuple(sorted((start - Counter(left)).items()))] += p
    return dict(losses)
