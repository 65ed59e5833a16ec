"""The best that a side can do at sea, in fractions: a plain recursion over all dice and all choices.

The steps are told in the order of the rules, with two kinds of questions in between: how the dice fall, and what an
owner chooses. The order of the questions is who knows what. A position in which nothing has changed is the same as
before, and the same is decided again.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING, Any

from tests.rulesets.general_combat.reference import ATTACKER, DEFENDER, STEP_ATTACK, STEP_DEFENCE
from tests.rulesets.general_combat.reference_exact import hit_chances
from tests.rulesets.general_combat.reference_optimal import NOTHING, WINS, Policies, Worth, plain, policies_of
from tests.rulesets.general_combat.reference_sea import (
    STEP_STRIKE,
    Fleet,
    Fleets,
    Hits,
    Piece,
    SeaScenario,
    conclude,
    condition_a,
    condition_b,
    give_out,
    has,
    is_aircraft,
    may_hit,
    muster_fleet,
    read_sea,
    sees_submarines,
    sweep,
    volley,
    wants_to_submerge,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Side = tuple[tuple[Piece, ...], int]
Position = tuple[Side, Side]


class Dice(Exception):  # noqa: N818 - not an error: the dice can fall in several ways here
    """Chances of what comes next."""

    def __init__(self, chances: list[tuple[Any, Fraction]]) -> None:
        super().__init__()
        self.chances = chances


class Choice(Exception):  # noqa: N818 - not an error: somebody has to choose here
    """What there is to choose from."""

    def __init__(self, options: Sequence[Any]) -> None:
        super().__init__()
        self.options = options


class Oracle:
    """Answers the questions of one run from a list, and stops at the first that is not answered yet."""

    def __init__(self, answers: Sequence[Any]) -> None:
        self.answers = list(answers)

    def roll(self, chances: list[tuple[Any, Fraction]]) -> Any:
        """Return how the dice fall."""
        if len(chances) == 1:
            return chances[0][0]
        if not self.answers:
            raise Dice(chances)
        return self.answers.pop(0)

    def choose(self, options: Sequence[Any]) -> Any:
        """Return what is chosen."""
        if len(options) == 1:
            return options[0]
        if not self.answers:
            raise Choice(options)
        return self.answers.pop(0)


def freeze(fleets: Fleets) -> Position:
    """Return a position in a form that can be compared."""
    first, second = ((tuple(sorted(fleet.board)), fleet.submerged) for fleet in fleets)
    return first, second


def thaw(position: Position) -> Fleets:
    """Return the fleets of a position."""
    first, second = (Fleet(list(board), [], submerged) for board, submerged in position)
    return first, second


def fits(targets: Sequence[str], hits: Sequence[str], *, air_hits_subs: bool) -> bool:
    """Say whether every target can be given a hit of its own."""
    if not targets:
        return True
    return any(
        may_hit(hit, targets[0], air_hits_subs=air_hits_subs)
        and fits(targets[1:], [*hits[:i], *hits[i + 1 :]], air_hits_subs=air_hits_subs)
        for i, hit in enumerate(hits)
        if hit not in hits[:i]
    )


def assignments(scenario: SeaScenario, board: Sequence[Piece], hits: Hits, *, air_hits_subs: bool) -> list[list[int]]:
    """GC-4.8.4, GC-4.8.5: all ways to take as many hits as possible, as positions on the board."""
    places = [i for i, piece in enumerate(board) for _ in range(piece.hits)]
    each = hits.each()
    for number in range(min(len(places), len(each)), 0, -1):
        found: dict[tuple[tuple[Piece, int], ...], list[int]] = {}
        for chosen in combinations(places, number):
            key = tuple(sorted((board[i], n) for i, n in Counter(chosen).items()))
            if key not in found and fits([board[i].unit for i in chosen], each, air_hits_subs=air_hits_subs):
                found[key] = list(chosen)
        if found:
            ways = list(found.values())
            if scenario.edition.tt_last:
                fewest = min(sum(board[i].unit == "transport" for i in way) for way in ways)
                ways = [way for way in ways if sum(board[i].unit == "transport" for i in way) == fewest]
            return ways
    return [[]]


@dataclass
class Admiral:
    """One battle and what is decided in it."""

    scenario: SeaScenario
    policies: Policies
    known: dict[tuple[Position, int], Worth] = field(default_factory=dict)

    def decides(self, side: int, what: str) -> bool:
        """Say whether a side chooses freely."""
        return side == self.policies.side and what in self.policies.decisions

    @property
    def settled(self) -> int:
        """The cycle from which on it does not matter how many there were."""
        return self.scenario.cycle_limit or max(1, self.scenario.forces[ATTACKER].retreat.after_cycles)

    def pay(self, position: Position, outcome: str) -> Worth:
        """Return what an end is worth."""
        swing = Fraction(conclude(self.scenario, thaw(position), outcome, -1).swing)
        side, goal = self.policies.side, self.policies.goal
        won = Fraction(int(outcome in WINS[side]))
        sign = 1 if side == ATTACKER else -1
        return Worth(won if goal == "win" else sign * swing, Fraction(int(outcome in WINS[ATTACKER])), swing)

    # The steps -----------------------------------------------------------------------------------

    def suffer(self, side: int, fleet: Fleet, hits: Hits, oracle: Oracle, *, air_hits_subs: bool) -> list[Piece]:
        """Let the owner take hits, by his choice or his order; returns what is lost."""
        if not self.decides(side, "casualties"):
            return give_out(self.scenario, side, fleet, hits, air_hits_subs=air_hits_subs)
        ways = assignments(self.scenario, fleet.board, hits, air_hits_subs=air_hits_subs)
        way = Counter(oracle.choose(ways))
        after = [piece._replace(hits=piece.hits - way[i]) for i, piece in enumerate(fleet.board)]
        fleet.board = [piece for piece in after if piece.hits > 0]
        return [piece for piece in after if piece.hits == 0]

    def fire(self, side: int, shooters: list[Piece], step: int, oracle: Oracle) -> Hits:
        """Roll the dice of a side in a step."""
        throws = volley(self.scenario, side, shooters, 1, step)
        hits = {}
        for kind in {kind for kind, _ in throws}:
            chances = hit_chances([throw for its, throw in throws if its == kind])
            hits[kind] = oracle.roll([(n, p) for n, p in enumerate(chances) if p])
        return Hits(**hits)

    def submerge(self, fleets: Fleets, oracle: Oracle, forced: int | None) -> None:
        """GC-4.2.2, GC-4.2.3: the attacker decides first; by policy all go, by choice as many as one likes."""
        for side in (ATTACKER, DEFENDER):
            fleet, enemy = fleets[side], fleets[1 - side]
            number = sum(piece.unit == "submarine" for piece in fleet.board)
            if has(enemy.board, "destroyer") or not number:
                continue
            if self.decides(side, "submerge"):
                options = list(range(number + 1)) if enemy.board or enemy.submerged else [0]
                divers = oracle.choose(options) if forced is None else forced
            else:
                divers = number if wants_to_submerge(self.scenario, side, fleets) else 0
            for _ in range(divers):
                fleet.board.remove(next(piece for piece in fleet.board if piece.unit == "submarine"))
            fleet.submerged += divers

    def cycle(  # noqa: C901 - the steps of a cycle, one after the other
        self, position: Position, oracle: Oracle, late: int | None
    ) -> Position:
        """Steps 2 to 5; `late` submarines submerge at the end if nothing has changed until then, None asks."""
        scenario = self.scenario
        fleets = thaw(position)
        protected = [has(fleet.board, "destroyer") for fleet in fleets]
        striking = [not protected[1 - side] for side in (ATTACKER, DEFENDER)]
        if scenario.edition.sub_submerge == "step_2":
            self.submerge(fleets, oracle, None)
        if scenario.edition.sub_first_strike == "always":
            striking = [True, True]

        def strike(side: int) -> Hits:
            fleet = fleets[side]
            submarines = [piece for piece in fleet.board if piece.unit == "submarine"] if striking[side] else []
            fleet.board = [p._replace(fired=bool(submarines) and p.unit == "submarine") for p in fleet.board]
            return self.fire(side, submarines, STEP_STRIKE, oracle)

        def lose(side: int, hits: Hits) -> None:
            lost = self.suffer(side, fleets[side], hits, oracle, air_hits_subs=False)
            if protected[side]:
                fleets[side].strip += lost

        if scenario.edition.submarine_strikes == "attacker_first":
            lose(DEFENDER, strike(ATTACKER))
            lose(ATTACKER, strike(DEFENDER))
        else:
            hits = strike(ATTACKER), strike(DEFENDER)
            lose(DEFENDER, hits[0])
            lose(ATTACKER, hits[1])
        for side, step in ((ATTACKER, STEP_ATTACK), (DEFENDER, STEP_DEFENCE)):
            fleet, enemy = fleets[side], fleets[1 - side]
            scored = self.fire(side, [p for p in fleet.board + fleet.strip if not p.fired], step, oracle)
            counted = fleet.board + fleet.strip if scenario.edition.doomed_destroyer == "counts" else fleet.board
            sees = sees_submarines(scenario, counted)
            lost = self.suffer(1 - side, enemy, scored, oracle, air_hits_subs=sees)
            if side == ATTACKER:
                enemy.strip += lost
        for fleet in fleets:
            fleet.strip = []
            fleet.board = [piece._replace(fired=False) for piece in fleet.board]
        sweep(scenario, fleets)
        if scenario.edition.sub_submerge == "cycle_end":
            self.submerge(fleets, oracle, late if freeze(fleets) == position else None)
            sweep(scenario, fleets)
        return freeze(fleets)

    # The recursion -------------------------------------------------------------------------------

    def going(self, position: Position, cycle: int) -> Worth:
        """Return the worth of going on after cycle `cycle`."""
        loop = cycle >= self.settled
        side = self.policies.side
        divers = 0
        if self.scenario.edition.sub_submerge == "cycle_end" and self.decides(side, "submerge"):
            # As many as want to, the same number after every cycle that changes nothing.
            enemy = position[1 - side]
            able = not any(piece.unit == "destroyer" for piece in enemy[0]) and (enemy[0] or enemy[1])
            divers = sum(piece.unit == "submarine" for piece in position[side][0]) if able else 0
        found = []
        for late in range(divers + 1) if loop else [None]:
            worth, same = self.expect(position, (), min(cycle + 1, self.settled), late, loop=loop)
            found.append(worth.times(1 / (1 - same)))
        return max(found, key=lambda worth: worth.goal)

    def expect(
        self, position: Position, answers: tuple[Any, ...], cycle: int, late: int | None, *, loop: bool
    ) -> tuple[Worth, Fraction]:
        """Return the worth of a cycle whose first questions are answered, and the chance that nothing changes."""
        try:
            after = self.cycle(position, Oracle(answers), late)
        except Dice as dice:
            total, same = NOTHING, Fraction(0)
            for answer, p in dice.chances:
                worth, back = self.expect(position, (*answers, answer), cycle, late, loop=loop)
                total = total.plus(worth, p)
                same += p * back
            return total, same
        except Choice as choice:
            found = [self.expect(position, (*answers, answer), cycle, late, loop=loop) for answer in choice.options]
            return max(found, key=lambda option: option[0].goal / (1 - option[1]) if option[1] < 1 else -(10**9))
        if loop and after == position:
            return NOTHING, Fraction(1)
        return self.step_6(after, cycle), Fraction(0)

    def step_6(self, position: Position, cycle: int) -> Worth:
        """Return the worth of a position after cycle `cycle`: A, then the attacker's decision, then the limit."""
        key = (position, cycle)
        if key not in self.known:
            self.known[key] = self._step_6(position, cycle)
        return self.known[key]

    def _step_6(self, position: Position, cycle: int) -> Worth:
        fleets = thaw(position)
        outcome = condition_a(self.scenario, fleets, cycle)
        if outcome is not None:
            return self.pay(position, outcome)
        is_over = cycle == self.scenario.cycle_limit
        going = self.pay(position, "unfinished") if is_over else self.going(position, cycle)
        only_aircraft = all(map(is_aircraft, fleets[ATTACKER].board))
        if not (self.scenario.forces[ATTACKER].retreat.possible or only_aircraft):
            return going
        leaving = self.pay(position, "attacker_retreats")
        if self.decides(ATTACKER, "retreat"):
            return leaving if leaving.goal > going.goal else going
        leaves = (
            condition_b(self.scenario, fleets, cycle)
            or going.win < self.policies.win_below
            or (self.policies.swing_negative and going.swing < leaving.swing)
        )
        return leaving if leaves else going

    def value(self) -> Worth:
        """Return what the whole battle is worth."""
        fleets = muster_fleet(self.scenario, ATTACKER), muster_fleet(self.scenario, DEFENDER)
        sweep(self.scenario, fleets)
        position = freeze(fleets)
        outcome = condition_a(self.scenario, fleets, 0)
        if outcome is not None:
            return self.pay(position, outcome)
        return self.expect_first(position)

    def expect_first(self, position: Position) -> Worth:
        """Return the worth of the first cycle, before which nobody can leave."""
        worth, _ = self.expect(position, (), 1, None, loop=False)
        return worth


def best_at_sea(data: Mapping[str, Any]) -> Worth:
    """Return what a sea battle is worth under its policies and best decisions."""
    policies = policies_of(data)
    optimal = next((data[side]["optimal"] for side in ("attacker", "defender") if data[side].get("optimal")), None)
    if optimal is not None and not optimal.get("decisions"):
        able = {"casualties", "submerge"} | ({"retreat"} if policies.side == ATTACKER else set())
        policies = Policies(policies.side, policies.goal, frozenset(able), policies.win_below, policies.swing_negative)
    return Admiral(read_sea(plain(data)), policies).value()
