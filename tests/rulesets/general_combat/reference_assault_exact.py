"""Exact distributions of landings, assaults and raids, in fractions, for battles of a few units.

Landings run the steps of the reference once for every way the dice fall. The damage of a raid is added up
from single dice instead, which is another way than that of the reference.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from tests.rulesets.general_combat import reference_raid as raids
from tests.rulesets.general_combat.reference import ATTACKER, Throw
from tests.rulesets.general_combat.reference_assault import (
    Assault,
    Landing,
    Shore,
    ShoreScenario,
    Soldier,
    conclude,
    fight_cycle,
    join,
    muster_shore,
    on_land,
    open_battle,
    read_assault,
    read_shore,
)
from tests.rulesets.general_combat.reference_exact import hit_chances
from tests.rulesets.general_combat.reference_sea_exact import solve_at_sea

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from tests.rulesets.general_combat.reference_assault import Roll


Ending = TypeVar("Ending")
Result = TypeVar("Result")


@dataclass
class Chances(Generic[Ending]):
    """Probability of every way in which a battle can end; the number of cycles is not kept, only its mean."""

    endings: list[tuple[Ending, Fraction]] = field(default_factory=list)
    mean_cycles: Fraction = Fraction(0)

    def mean(self, what: Callable[[Ending], int]) -> Fraction:
        """Return the expectation of a figure of the battle."""
        return sum((what(ending) * p for ending, p in self.endings), Fraction(0))

    def chance(self, test: Callable[[Ending], bool]) -> Fraction:
        """Return the probability that a battle is of this kind."""
        return self.mean(lambda ending: int(test(ending)))


class Fork(Exception):  # noqa: N818 - not an error: the dice can fall in several ways here
    """The battle has come to dice whose hits are not decided yet."""

    def __init__(self, throws: list[Throw]) -> None:
        super().__init__()
        self.throws = tuple(throws)


@cache
def falls(throws: tuple[Throw, ...]) -> list[Fraction]:
    """Return P(hits = k) of several throws together, for k = 0, 1, ..."""
    return hit_chances(throws)


def every_way(run: Callable[[Roll], Result]) -> Iterator[tuple[Result, Fraction]]:
    """Run something that throws dice once for every way they fall; yield what came out, with its chance."""
    pending: list[tuple[tuple[int, ...], Fraction]] = [((), Fraction(1))]
    while pending:
        decided, p = pending.pop()
        answers = iter(decided)

        def roll(throws: list[Throw], answers: Iterator[int] = answers) -> int:
            hits = next(answers, None)
            if hits is None:
                raise Fork(throws)
            return hits

        try:
            result = run(roll)
        except Fork as fork:
            pending += [((*decided, hits), p * q) for hits, q in enumerate(falls(fork.throws)) if q]
        else:
            yield result, p


# --------------------------------------------------------------------------------------------------
# Landings
# --------------------------------------------------------------------------------------------------

Position = tuple[tuple[Soldier, ...], tuple[str, ...], tuple[str, ...], tuple[Soldier, ...], int]


def freeze(shore: Shore) -> Position:
    """Return the position between two cycles in a form that can be looked up."""
    return (
        tuple(shore.attackers),
        tuple(shore.defenders),
        tuple(shore.doomed),
        tuple(shore.retreated),
        shore.bombard_hits,
    )


def thaw(position: Position) -> Shore:
    """Return the shore that is in this position."""
    attackers, defenders, doomed, retreated, bombard_hits = position
    return Shore(list(attackers), list(defenders), list(doomed), list(retreated), bombard_hits)


@dataclass
class Chain:
    """The battle as a chain of positions: what is still running, and what has ended."""

    scenario: ShoreScenario
    running: defaultdict[Position, Fraction] = field(default_factory=lambda: defaultdict(Fraction))
    ended: defaultdict[tuple[Position, str], Fraction] = field(default_factory=lambda: defaultdict(Fraction))
    mean_cycles: Fraction = Fraction(0)

    def book(self, position: Position, outcome: str | None, p: Fraction) -> None:
        """Add probability to a position or to an ending."""
        if outcome is None:
            self.running[position] += p
        else:
            self.ended[position, outcome] += p

    def start(self) -> None:
        """Let the guns and the ships fire and test condition A."""

        def run(roll: Roll) -> tuple[Position, str | None]:
            shore = muster_shore(self.scenario)
            outcome = open_battle(self.scenario, shore, roll)
            return freeze(shore), outcome

        for (position, outcome), p in every_way(run):
            self.book(position, outcome, p)

    def after(self, position: Position, cycle: int) -> dict[tuple[Position, str | None], Fraction]:
        """Return the chances of what follows on a position."""

        def run(roll: Roll) -> tuple[Position, str | None]:
            shore = thaw(position)
            outcome = fight_cycle(self.scenario, shore, cycle, roll)
            return freeze(shore), outcome

        chances: defaultdict[tuple[Position, str | None], Fraction] = defaultdict(Fraction)
        for following, q in every_way(run):
            chances[following] += q
        return dict(chances)

    def advance(self, cycle: int) -> None:
        """Fight one cycle of all running battles."""
        before = dict(self.running)
        self.running.clear()
        for position, p in before.items():
            self.mean_cycles += p
            for (then, outcome), q in self.after(position, cycle).items():
                self.book(then, outcome, p * q)

    def finish(self, cycle: int) -> None:
        """Fight to the end, when the rules are the same in `cycle` and in every later one.

        A cycle without losses leads back to where it began and is divided out. The largest boards come
        first, so that everything that leads to a position is known when it is left.
        """
        while self.running:
            position = max(self.running, key=lambda position: sum(map(len, position[:3])))
            p = self.running.pop(position)
            after = self.after(position, cycle)
            p /= 1 - after.pop((position, None), Fraction(0))
            self.mean_cycles += p
            for (then, outcome), q in after.items():
                self.book(then, outcome, p * q)


def solve_landing(data: Mapping[str, Any] | ShoreScenario) -> Chances[Landing]:
    """Return the distribution of the endings of a land battle with landed units."""
    scenario = data if isinstance(data, ShoreScenario) else read_shore(data)
    chain = Chain(scenario)
    chain.start()
    # Rules that look at the number of the cycle are the same from this cycle on.
    settled = max(scenario.cycle_limit, scenario.forces[ATTACKER].retreat.after_cycles, 1)
    for cycle in range(1, settled):
        chain.advance(cycle)
    chain.finish(settled)
    return Chances(
        [(conclude(scenario, thaw(position), outcome, -1), p) for (position, outcome), p in chain.ended.items()],
        chain.mean_cycles,
    )


def solve_assault(data: Mapping[str, Any]) -> Chances[Assault]:
    """Return the distribution of the endings of a sea battle and the landing after it."""
    scenario = read_assault(data)
    at_sea = solve_at_sea(scenario.sea)
    solved = Chances[Assault](mean_cycles=Fraction(at_sea.mean_cycles))
    fought: dict[tuple[tuple[str, int], ...], Chances[Landing]] = {}
    for sea, chance in at_sea.endings:
        p = Fraction(chance)
        shore = on_land(scenario, sea)
        if sea.outcome == "unfinished" or not muster_shore(shore).attackers:
            solved.endings.append((join(scenario, sea, shore, None), p))
            continue
        # The land battle depends on the sea battle only by who has landed.
        landed = tuple(sorted(shore.landed.items()))
        if landed not in fought:
            fought[landed] = solve_landing(shore)
        solved.endings += [(join(scenario, sea, shore, land), p * q) for land, q in fought[landed].endings]
        solved.mean_cycles += p * fought[landed].mean_cycles
    return solved


# --------------------------------------------------------------------------------------------------
# Raids
# --------------------------------------------------------------------------------------------------


def sum_of(dice: list[dict[int, Fraction]]) -> dict[int, Fraction]:
    """Return the distribution of the sum of independent dice."""
    total = {0: Fraction(1)}
    for die in dice:
        following: defaultdict[int, Fraction] = defaultdict(Fraction)
        for so_far, p in total.items():
            for face, q in die.items():
                following[so_far + face] += p * q
        total = dict(following)
    return total


def bombed(scenario: raids.RaidScenario, attackers: list[str]) -> dict[int, Fraction]:
    """Return the distribution of what these bombers' dice add up to, before any cap."""
    faces = range(1, scenario.edition.sides + 1)
    die = {face: Fraction(1, len(faces)) for face in faces}
    larger: defaultdict[int, Fraction] = defaultdict(Fraction)
    for one, p in die.items():
        for other, q in die.items():
            larger[max(one, other)] += p * q
    heavy = "heavy_bombers" in scenario.forces[ATTACKER].technologies
    strategic = [die]
    if heavy:
        strategic = [die, die] if scenario.edition.heavy_bombers == "both_dice" else [dict(larger)]
    dice = [die] * attackers.count("tactical_bomber") + strategic * attackers.count("bomber")
    bonus = scenario.edition.sbr_bonus * attackers.count("bomber")
    return {total + bonus: p for total, p in sum_of(dice).items()}


def solve_raid(data: Mapping[str, Any]) -> Chances[raids.Raid]:
    """Return the distribution of the endings of a raid."""
    scenario = raids.read_raid(data)
    solved = Chances[raids.Raid]()
    for (attackers, defenders, cycles), p in every_way(lambda roll: raids.before_bombs(scenario, roll)):
        solved.mean_cycles += cycles * p
        for total, q in bombed(scenario, attackers).items():
            solved.endings.append((raids.conclude(scenario, (attackers, defenders), cycles, total), p * q))
    return solved
