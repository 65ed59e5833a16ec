"""Exact distributions of mass battles: the steps of the reference with every draw enumerated.

A function that asks dice is run again and again, each time along another branch of its answers
(:func:`branches`); faces that mean the same are thrown together. The states of a battle recur, since
suppressed squads come back, so it is followed turn by turn to the cap, or solved as a linear system.

Probabilities are fractions, or floats for battles whose fractions would grow too long.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import comb, factorial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from tests.rulesets.mass_battle.reference import (
    ATTACKER,
    DEFENDER,
    Army,
    Battle,
    Draw,
    Options,
    Roll,
    Scenario,
    Squad,
    attack,
    backfire,
    conclude,
    in_state,
    muster,
    outcome_of,
    rally,
    read_faces,
    read_scenario,
    return_suppressed,
    standing,
    suffer,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence

Number = Fraction | float
Answer = tuple[int, ...]
# (type, state, turns until the return, turns since the rout or flight): squads at turn 0, sorted.
Frozen = tuple[tuple[int, str, int, int], ...]
Pair = tuple[Frozen, Frozen]
Found = TypeVar("Found", bound="Hashable")


# --------------------------------------------------------------------------------------------------
# Enumeration
# --------------------------------------------------------------------------------------------------


def splits(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    """Yield every way to write `total` as a sum of that many numbers."""
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in splits(total - first, parts - 1):
            yield (first, *rest)


def rolled(dice: int, classes: Mapping[int, int]) -> Iterator[tuple[Answer, Fraction]]:
    """Yield the faces of `dice` dice in any order; `classes` maps a face to how many faces mean the same."""
    faces = tuple(classes)
    for counts in splits(dice, len(faces)):
        ways = factorial(dice)
        for face, count in zip(faces, counts, strict=True):
            ways = ways // factorial(count) * classes[face] ** count
        shown = tuple(face for face, count in zip(faces, counts, strict=True) for _ in range(count))
        yield shown, Fraction(ways, 6**dice)


def attack_faces(draw: Draw, *, merged: bool = True) -> Iterator[tuple[Answer, Fraction]]:
    """Yield what an attack roll can show; 2 stands for 3 too, and 4 for every success beside a main die."""
    every = dict.fromkeys(range(1, 7), 1)
    single = {1: 1, 2: 2, 4: 1, 5: 1, 6: 1} if merged else every
    if not draw.negative:
        yield from rolled(draw.dice, single)
        return
    others = {1: 1, 2: 2, 4: 3} if merged else every
    for main, p in rolled(1, single):
        for rest, q in rolled(draw.dice - 1, others):
            yield main + rest, p * q


def answers(draw: Draw) -> Iterator[tuple[Answer, Fraction]]:
    """Yield every answer to a draw with its probability."""
    if draw.step == "attack":
        yield from attack_faces(draw)
    elif draw.weights:
        for index, weight in enumerate(draw.weights):
            yield (index,), Fraction(weight, sum(draw.weights))
    else:
        p = draw.chance
        for k in range(draw.rolls + 1):
            yield (k,), comb(draw.rolls, k) * p**k * (1 - p) ** (draw.rolls - k)


class _Branch:
    """Dice that follow a given beginning of answers, and put off the first unknown draw."""

    def __init__(self, known: Sequence[Answer]) -> None:
        self.known = known
        self.place = 0

    def __call__(self, draw: Draw) -> Answer:
        if self.place == len(self.known):
            raise _UnknownDraw(draw)
        self.place += 1
        return self.known[self.place - 1]


class _UnknownDraw(Exception):  # noqa: N818
    def __init__(self, draw: Draw) -> None:
        super().__init__(draw)
        self.draw = draw


def branches(run: Callable[[Callable[[Draw], Answer]], Found]) -> dict[Found, Fraction]:
    """Return the distribution of what `run` returns; it is called with dice and must start afresh each time."""
    found: defaultdict[Found, Fraction] = defaultdict(Fraction)
    waiting: list[tuple[tuple[Answer, ...], Fraction]] = [((), Fraction(1))]
    while waiting:
        known, p = waiting.pop()
        try:
            found[run(_Branch(known))] += p
        except _UnknownDraw as unknown:
            waiting += [((*known, answer), p * q) for answer, q in answers(unknown.draw) if q]
    return dict(found)


# --------------------------------------------------------------------------------------------------
# One turn
# --------------------------------------------------------------------------------------------------


def freeze(army: Army, turn: int) -> Frozen:
    """Return an army as the same value for every order of equal squads, with turns counted from `turn`."""
    return tuple(
        sorted(
            (
                squad.kind,
                squad.state,
                squad.back - turn if squad.state == "suppressed" else 0,
                # Only whether it was in this very turn can matter later.
                int(squad.since == turn) if squad.state in {"routed", "fled"} else 0,
            )
            for squad in army
        )
    )


def thaw(frozen: Frozen) -> Army:
    """Return the army of a frozen one, at turn 0."""
    return [Squad(kind, state, back, 0 if since else -1) for kind, state, back, since in frozen]


@dataclass(frozen=True)
class Solver:
    """The steps of one scenario as distributions.

    With `forget` the squads that have left the battle for good all count as destroyed: fewer states, the
    same outcomes and turns.
    """

    scenario: Scenario
    number: Callable[[Fraction], Number] = Fraction
    forget: bool = False
    _memory: dict[Hashable, Any] = field(default_factory=dict)

    def _remember(self, key: Hashable, make: Callable[[], Any]) -> Any:
        if key not in self._memory:
            self._memory[key] = make()
        return self._memory[key]

    def _branches(self, key: Hashable, run: Callable[[Callable[[Draw], Answer]], Found]) -> dict[Found, Number]:
        def make() -> dict[Found, Number]:
            return {found: self.number(p) for found, p in branches(run).items()}

        return self._remember(key, make)  # type: ignore[no-any-return]

    def upkeep(self, side: int, frozen: Frozen) -> dict[Frozen, Number]:
        """Return what steps 1 and 2 of the next turn make of an army; turn 0 is then that turn."""

        def run(dice: Callable[[Draw], Answer]) -> Frozen:
            army = thaw(frozen)
            return_suppressed(army, 1)
            rally(self.scenario, side, army, 1, dice)
            return freeze(army, 1)

        return self._branches(("upkeep", side, frozen), run)

    def roll(self, side: int, pair: Pair) -> dict[Roll, Number]:
        """Return what the attack roll of a side can mean, without effects that find no target."""
        targets = len(standing(thaw(pair[1 - side]), self.scenario.options))
        own = len(in_state(thaw(pair[side]), "active"))

        def run(dice: Callable[[Draw], Answer]) -> Roll:
            roll = attack(self.scenario, side, [thaw(pair[0]), thaw(pair[1])], 0, dice)
            return Roll(roll.effects[:targets], min(roll.ones, own))

        return self._branches(("roll", side, pair), run)

    def hit(self, side: int, frozen: Frozen, effects: tuple[str, ...]) -> dict[Frozen, Number]:
        """Return what the enemy's effects make of an army."""

        def run(dice: Callable[[Draw], Answer]) -> Frozen:
            army = thaw(frozen)
            suffer(self.scenario, side, army, effects, 0, dice)
            return freeze(army, 0)

        return self._branches(("hit", side, frozen, effects), run)

    def burn(self, side: int, frozen: Frozen, ones: int) -> dict[Frozen, Number]:
        """Return what the 1s of its own roll make of an army."""

        def run(dice: Callable[[Draw], Answer]) -> Frozen:
            army = thaw(frozen)
            backfire(self.scenario, side, army, ones, 0, dice)
            return freeze(army, 0)

        if not ones:
            return {frozen: self.number(Fraction(1))}
        return self._branches(("burn", side, frozen, ones), run)

    def struck(self, side: int, pair: Pair) -> dict[int, dict[Frozen, Number]]:
        """Return what the roll of a side makes of its enemy, by the number of 1s in the roll."""
        found: defaultdict[int, defaultdict[Frozen, Number]] = defaultdict(lambda: defaultdict(int))
        for roll, p in self.roll(side, pair).items():
            for enemy, q in self.hit(1 - side, pair[1 - side], roll.effects).items():
                found[roll.ones][enemy] += p * q
        return {ones: dict(enemies) for ones, enemies in found.items()}

    def at_once(self, pair: Pair) -> dict[tuple[Pair, tuple[int, int]], Number]:
        """Return both armies hit by simultaneous rolls, and the 1s that each has rolled."""
        reached: dict[tuple[Pair, tuple[int, int]], Number] = {}
        for left, defenders in self.struck(ATTACKER, pair).items():
            for right, attackers in self.struck(DEFENDER, pair).items():
                for one, p in attackers.items():
                    for two, q in defenders.items():
                        reached[(one, two), (left, right)] = p * q
        return reached

    def in_order(self, pair: Pair, first: int) -> dict[tuple[Pair, tuple[int, int]], Number]:
        """Return the same when one army rolls first and the survivors answer."""
        reached: dict[tuple[Pair, tuple[int, int]], Number] = {(pair, (0, 0)): self.number(Fraction(1))}
        for side in (first, 1 - first):
            before, reached = reached, defaultdict(int)
            for (armies, ones), p in before.items():
                for roll, q in self.roll(side, armies).items():
                    rolled_ones = (roll.ones, ones[1]) if side == ATTACKER else (ones[0], roll.ones)
                    for enemy, r in self.hit(1 - side, armies[1 - side], roll.effects).items():
                        after = (armies[0], enemy) if side == ATTACKER else (enemy, armies[1])
                        reached[after, rolled_ones] += p * q * r
        return reached

    def after_rolls(self, pair: Pair) -> dict[Pair, Number]:
        """Return what steps 3 to 5 make of two armies."""

        def make() -> dict[Pair, Number]:
            initiative = self.scenario.options.initiative
            if initiative == "simultaneous":
                reached = self.at_once(pair)
            else:
                reached = self.in_order(pair, ATTACKER if initiative == "attacker_first" else DEFENDER)
            final: defaultdict[Pair, Number] = defaultdict(int)
            for (armies, ones), p in reached.items():
                for one, q in self.burn(ATTACKER, armies[0], ones[0]).items():
                    for two, r in self.burn(DEFENDER, armies[1], ones[1]).items():
                        final[one, two] += p * q * r
            return dict(final)

        return self._remember(("rolls", pair), make)  # type: ignore[no-any-return]

    def turn(self, pair: Pair) -> dict[Pair, Number]:
        """Return what a whole turn makes of two armies, both counted from the turn before."""

        def make() -> dict[Pair, Number]:
            reached: defaultdict[Pair, Number] = defaultdict(int)
            for one, p in self.upkeep(ATTACKER, pair[0]).items():
                for two, q in self.upkeep(DEFENDER, pair[1]).items():
                    for after, r in self.after_rolls((one, two)).items():
                        reached[self.simplify(after)] += p * q * r
            return dict(reached)

        return self._remember(("turn", pair), make)  # type: ignore[no-any-return]

    def simplify(self, pair: Pair) -> Pair:
        """Forget how squads left, when asked to."""
        if not self.forget:
            return pair
        left, right = (
            tuple(
                sorted(
                    (0, "destroyed", 0, 0) if squad[1] in {"fled", "destroyed", "captured"} else squad for squad in army
                )
            )
            for army in pair
        )
        return left, right


# --------------------------------------------------------------------------------------------------
# Whole battles
# --------------------------------------------------------------------------------------------------


@dataclass
class Distribution:
    """Probability of every way in which a battle can end, and of the turns that it takes.

    `battles` do not know how many turns they took: that has a distribution of its own, empty when an
    uncapped battle was solved at once. `running` is what was still undecided when a float was let go.
    """

    endings: dict[str, Number] = field(default_factory=dict)
    battles: list[tuple[Battle, Number]] = field(default_factory=list)
    turns: dict[int, Number] = field(default_factory=dict)
    mean_turns: Number = 0
    running: Number = 0

    def outcome(self, name: str) -> Number:
        """Return the probability of an outcome."""
        return self.endings.get(name, Fraction(0))

    def mean(self, what: Callable[[Battle], int]) -> Number:
        """Return the expectation of a figure of the battle (not when the departed were forgotten)."""
        if not self.battles:
            raise ValueError("the departed were forgotten")
        return sum((what(battle) * p for battle, p in self.battles), Fraction(0))

    def squads(self, side: int, state: str, kind: str | None = None) -> Number:
        """Return the mean number of squads of a side that end in a state."""
        return self.mean(
            lambda battle: sum(n for name, n in battle.squads[side][state].items() if kind in {None, name})
        )


def eliminate(chances: Sequence[Mapping[int, Number]], inflow: Sequence[Number]) -> list[Number]:
    """Return the expected visits x of a set of states: x = inflow + x P.

    `chances[i][j]` is the chance to go from state i to state j of the set.
    """
    size = len(inflow)
    if not all(isinstance(p, Fraction) for p in inflow):
        matrix = np.eye(size)
        for i, row in enumerate(chances):
            for j, p in row.items():
                matrix[j, i] -= float(p)
        return [float(x) for x in np.linalg.solve(matrix, np.array([float(p) for p in inflow]))]
    rows: list[list[Number]] = [
        [Fraction(int(i == j)) - chances[j].get(i, 0) for j in range(size)] for i in range(size)
    ]
    values = list(inflow)
    for pivot in range(size):
        for i in range(size):
            factor = rows[i][pivot] / rows[pivot][pivot]
            if i != pivot and factor:
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[pivot], strict=True)]
                values[i] -= factor * values[pivot]
    return [value / rows[i][i] for i, value in enumerate(values)]


def gone(pair: Pair) -> int:
    """Return how many squads can never come back: this number never falls."""
    return sum(squad[1] in {"fled", "destroyed", "captured"} for army in pair for squad in army)


class Chain:
    """A battle as a chain of states at the ends of turns."""

    def __init__(self, scenario: Scenario, number: Callable[[Fraction], Number], *, forget: bool = False) -> None:
        self.scenario = scenario
        self.number = number
        self.solver = Solver(scenario, number, forget)
        self.result = Distribution()
        self.running: dict[Pair, Number] = {}
        self.ended: dict[tuple[Pair, str], Number] = {}
        start = (freeze(muster(scenario, ATTACKER), 0), freeze(muster(scenario, DEFENDER), 0))
        self.book({start: number(Fraction(1))}, 0)

    def book(self, reached: Mapping[Pair, Number], turn: int) -> Number:
        """Add probability to states that go on and to endings; return that of the endings."""
        over: Number = 0
        for pair, p in reached.items():
            outcome = outcome_of(self.scenario, [thaw(pair[0]), thaw(pair[1])], turn)
            if outcome is None:
                self.running[pair] = self.running.get(pair, 0) + p
            else:
                self.ended[pair, outcome] = self.ended.get((pair, outcome), 0) + p
                over += p
        return over

    def advance(self, turn: int) -> None:
        """Fight one turn of all battles that still run."""
        reached: defaultdict[Pair, Number] = defaultdict(int)
        for pair, p in self.running.items():
            self.result.mean_turns += p
            for after, q in self.solver.turn(pair).items():
                reached[after] += p * q
        self.running = {}
        over = self.book(reached, turn)
        if over:
            self.result.turns[turn] = over

    def close(self) -> Distribution:
        """Let the victors pursue, and return the result."""
        for (pair, outcome), p in self.ended.items():
            self.result.endings[outcome] = self.result.endings.get(outcome, 0) + p
            if not self.solver.forget:
                armies = [thaw(pair[0]), thaw(pair[1])]
                self.result.battles.append((conclude(self.scenario, armies, 0, outcome), p))
        self.result.running = sum(self.running.values())
        return self.result

    def finish(self) -> None:
        """Solve a battle without a cap: the states of equal losses feed one another, the others in order.

        Every visit of a state that goes on is one turn.
        """
        while self.running:
            level = min(map(gone, self.running))
            group = [pair for pair in self.running if gone(pair) == level]
            for pair in group:
                group += [
                    after
                    for after in self.solver.turn(pair)
                    if gone(after) == level and after not in group and self.goes_on(after)
                ]
            place = {pair: i for i, pair in enumerate(group)}
            inflow = [self.running.pop(pair, self.number(Fraction(0))) for pair in group]
            chances = [
                {place[after]: p for after, p in self.solver.turn(pair).items() if after in place} for pair in group
            ]
            for pair, visits in zip(group, eliminate(chances, inflow), strict=True):
                self.result.mean_turns += visits
                self.book({after: visits * q for after, q in self.solver.turn(pair).items() if after not in place}, 0)

    def goes_on(self, pair: Pair) -> bool:
        """Whether neither army is broken."""
        return outcome_of(self.scenario, [thaw(pair[0]), thaw(pair[1])], 0) is None


def solve(
    scenario: Scenario | Mapping[str, Any], *, exact: bool = True, forget: bool = False, left: float = 1e-15
) -> Distribution:
    """Return the distribution of a battle; with ``max_turns = 0`` it is fought to its end.

    Floats are let go when less than `left` is still running.
    """
    read = scenario if isinstance(scenario, Scenario) else read_scenario(scenario)
    chain = Chain(read, Fraction if exact else float, forget=forget)
    if not read.options.max_turns:
        chain.finish()
    return follow(chain, 0 if exact else left)


def follow(chain: Chain, left: float) -> Distribution:
    """Fight turn by turn until no more than `left` is still running."""
    turn = 0
    while sum(chain.running.values()) > left:
        turn += 1
        chain.advance(turn)
    return chain.close()


def iterate(scenario: Scenario | Mapping[str, Any], *, left: float = 1e-15, forget: bool = False) -> Distribution:
    """Follow a battle without its cap turn by turn in floats until no more than `left` is still running."""
    read = scenario if isinstance(scenario, Scenario) else read_scenario(scenario)
    return follow(Chain(replace(read, options=replace(read.options, max_turns=0)), float, forget=forget), left)


def roll_meanings(pool: int, options: Options, *, negative: bool) -> dict[Roll, Fraction]:
    """Return what a roll of so many dice can mean, before any target is looked at."""
    draw = Draw("attack", ATTACKER, 0, dice=pool, negative=negative)
    found: defaultdict[Roll, Fraction] = defaultdict(Fraction)
    for faces, p in attack_faces(draw):
        found[read_faces(faces, options, negative=negative)] += p
    return dict(found)
