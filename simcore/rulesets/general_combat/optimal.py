"""Decisions taken by what a battle's own states are worth: retreats that look ahead, and optimal play."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from simcore.enums import Side, Status
from simcore.errors import ScenarioError
from simcore.rulesets.general_combat.encoding import (
    ACCUMULATORS,
    AIRCRAFT,
    ATTACKER_CHOOSES,
    DEFENDER_CHOOSES,
    MARGIN,
    MAX_LOSS_GROUPS,
    ORDERED,
    WIN_BELOW_UNITS,
    Battles,
    Decision,
    Goal,
    LossForm,
    Outcome,
    RowField,
)
from simcore.schema import MAX_STATES, SPREAD

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simcore.rulesets.general_combat.ends import Ends
    from simcore.rulesets.general_combat.lane import Plan
    from simcore.rulesets.general_combat.leave import LeaveTable
    from simcore.rulesets.general_combat.params import GeneralCombatScenario
    from simcore.rulesets.general_combat.sea_values import Fleet, Sea
    from simcore.rulesets.general_combat.values import Aim, Game, Opening, Stack

__all__ = [
    "NOT_SIMULATED",
    "TOO_LARGE",
    "WINS",
    "Play",
    "aim_of",
    "cannot_simulate",
    "count_states",
    "leave_table",
    "levels_of",
    "looks_ahead",
    "play_of",
    "play_out",
    "solve_decided",
    "values_of",
]

WINS = {
    Side.ATTACKER: (Outcome.ATTACKER_WINS, Outcome.ATTACKER_CLEARS),
    Side.DEFENDER: (Outcome.DEFENDER_WINS,),
}
"""Outcomes that count as a win of a side."""
_FIRST_CAPACITY = 1_024
_GROWTH = 8
_MOST_ENTRIES = 2**26
"""Most entries of any table: states by levels, by criteria, or by hits."""
_SEA_CAPACITIES = ((256, 20_000, 4_096, 65_536), (4_096, 1_000_000, 16_384, 1_000_000))
"""Room at sea, one attempt after the other: states of a side, pairs, events and choices of a step."""
_COLUMNS = len(ACCUMULATORS) + len(SPREAD)
_MOST_EFFORT = 2e10
"""Most products of probabilities: some minutes of work."""
NOT_SIMULATED = 'optimal casualties and submerging are worked out by the exact solver alone; use "exact" or "auto"'
TOO_LARGE = "the battle has too many states for its odds to be worked out in advance, which decides in it"


class Play(NamedTuple):
    """A battle that was decided.

    Attributes
    ----------
    status : Status
        CAPACITY where it has too many states.
    states : int
        Pairs of states.
    tally : float64 (K + 6,)
        Expected accumulators of one battle, and what `SPREAD` names of the swing.
    value : float64 (3,)
        What the battle is worth: the goal (the more the better for who decides), the attacker's chance to win, swing.
    levels : int
        Cycles after which decisions may differ; the last stands for all later ones.
    aim, opening, game, sea : Aim, Opening, Game, Sea or None
        As the kernels left them: opening and game on land, sea at sea.
    ends : Ends or None
        How it ends, where that was asked for.
    """

    status: Status
    states: int
    tally: npt.NDArray[np.float64]
    value: npt.NDArray[np.float64]
    levels: int = 1
    aim: Aim | None = None
    opening: Opening | None = None
    game: Game | None = None
    sea: Sea | None = None
    ends: Ends | None = None

    @property
    def leaves(self) -> npt.NDArray[np.uint8]:
        """`Why` the attacker leaves by level, defender's and attacker's state."""
        if self.sea is not None:
            return np.asarray(self.sea.leaves[1:])
        assert self.game is not None  # noqa: S101 - of a battle that was decided
        return np.asarray(self.game.leaves)

    @property
    def going(self) -> npt.NDArray[np.float64]:
        """Worth of going on by level, criterion, defender's and attacker's state."""
        if self.sea is not None:
            return np.asarray(self.sea.going[1:])
        assert self.game is not None  # noqa: S101 - of a battle that was decided
        return np.asarray(self.game.going)

    @property
    def plan(self) -> Plan:
        """What the rows of both sides are."""
        owner: Any = self.sea if self.sea is not None else self.opening
        plan: Plan = owner.plan
        return plan

    def stack(self, side: Side) -> Stack | Fleet:
        """Return the states of a side."""
        if self.sea is not None:
            fleet: Fleet = self.sea.own if side == Side.ATTACKER else self.sea.enemy
            return fleet
        assert self.opening is not None  # noqa: S101 - of a battle that was decided
        stack: Stack = self.opening.own if side == Side.ATTACKER else self.opening.enemy
        return stack


def count_states(scenario: GeneralCombatScenario) -> int:
    """Return how many pairs of states a battle with decisions has at most.

    Parameters
    ----------
    scenario : GeneralCombatScenario

    Returns
    -------
    int
    """
    if scenario.terrain == "sea":
        cycles = max(1, scenario.attacker.retreat.after_cycles, scenario.cycle_limit)
        return cycles * prod(_fleets(scenario, side) for side in Side)
    sides = []
    for side in Side:
        groups = [g.size for g in scenario.loss_groups(side) if g.form in {LossForm.UNIT, LossForm.LANDED}]
        if "casualties" in scenario.decisions(side):
            states = prod(n + 1 for n in groups)
        else:
            states = sum(groups) + 1
            if side == Side.ATTACKER and scenario.own_counts(Side.DEFENDER).get("aa_gun", 0):
                states *= prod(scenario.own_counts(side).get(unit, 0) + 1 for unit in AIRCRAFT)
            if side == Side.ATTACKER and scenario.may_leave_in_part:
                states *= sum(groups) + 1
        # Each state may be left in part once.
        sides.append(2 * states if side == Side.ATTACKER and scenario.may_leave_in_part else states)
    return prod(sides)


def _fleets(scenario: GeneralCombatScenario, side: Side) -> int:
    """Return how many states a fleet has at most, whatever it loses: units whole, hurt, submerged or lost."""
    states = 1
    for unit, n in scenario.own_counts(side).items():
        is_double = unit == "submarine" or scenario.rules.units[unit].hits > 1
        states *= (n + 1) * (n + 2) // 2 if is_double else n + 1
    return states


def cannot_simulate(scenario: GeneralCombatScenario) -> str:
    """Return why only the exact solver resolves a scenario, "" where the sampler does too.

    Parameters
    ----------
    scenario : GeneralCombatScenario

    Returns
    -------
    str
    """
    if any(name != "retreat" for side in Side for name in scenario.decisions(side)):
        return NOT_SIMULATED
    return TOO_LARGE if scenario.looks_ahead and count_states(scenario) > MAX_STATES else ""


def aim_of(battles: Battles, row: int) -> Aim:
    """Return what is decided in a battle, and what for.

    Parameters
    ----------
    battles : Battles
    row : int

    Returns
    -------
    Aim
    """
    from simcore.rulesets.general_combat.values import Aim  # noqa: PLC0415 - compiles kernels

    rules = battles.rules[row]
    side, goal, decisions = (
        int(rules[field]) for field in (RowField.OPTIMAL_SIDE, RowField.OPTIMAL_GOAL, RowField.OPTIMAL_DECISIONS)
    )
    stake = float((battles.group_cost[row].astype(np.int64) * battles.group_count[row]).sum())
    prize = np.zeros(len(Outcome))
    per_swing = 0.0
    if goal == Goal.SWING:
        per_swing = -1.0 if side == Side.DEFENDER else 1.0
    elif goal == Goal.CAPTURE:
        prize[Outcome.ATTACKER_WINS] = -1.0 if side == Side.DEFENDER else 1.0
    else:
        prize[list(WINS[Side.DEFENDER if side == Side.DEFENDER else Side.ATTACKER])] = 1.0
    losses = ORDERED
    if decisions & Decision.CASUALTIES:
        losses = ATTACKER_CHOOSES if side == Side.ATTACKER else DEFENDER_CHOOSES
    return Aim(
        prize=prize,
        per_swing=per_swing,
        losses=losses,
        free_retreat=int(bool(decisions & Decision.RETREAT)),
        win_below=float(rules[RowField.RETREAT_WIN_BELOW]) / WIN_BELOW_UNITS,
        swing_negative=int(rules[RowField.RETREAT_SWING_NEGATIVE]),
        margin=MARGIN * max(1.0, stake) if goal == Goal.SWING else MARGIN,
        stake=max(1.0, stake),
    )


def levels_of(battles: Battles, row: int) -> int:
    """Return how many cycles are gone through one by one: those that the policies or a limit count."""
    rules = battles.rules[row]
    if rules[RowField.CYCLE_LIMIT]:
        return int(rules[RowField.CYCLE_LIMIT])
    is_free = int(rules[RowField.OPTIMAL_DECISIONS]) & Decision.RETREAT
    return 1 if is_free else max(1, int(rules[RowField.RETREAT_AFTER_CYCLES]))


def _may_leave_in_part(battles: Battles, row: int) -> bool:
    rules = battles.rules[row]
    triggers = (
        RowField.RETREAT_AFTER_CYCLES, RowField.RETREAT_UNITS_AT_MOST, RowField.RETREAT_ONLY_AIRCRAFT,
        RowField.RETREAT_WIN_BELOW, RowField.RETREAT_SWING_NEGATIVE,
    )  # fmt: skip
    asks = any(rules[field] for field in triggers) or int(rules[RowField.OPTIMAL_DECISIONS]) & Decision.RETREAT
    return bool(rules[RowField.LANDING] and asks)


def _open(battles: Battles, row: int, losses: int) -> Opening | None:
    """Return the states of a battle, None if there are too many."""
    from simcore.rulesets.general_combat import values  # noqa: PLC0415 - compiles kernels

    open_battle: Any = values.open_battle
    capacity = _FIRST_CAPACITY
    while capacity <= MAX_STATES:
        room = np.array([capacity, capacity], dtype=np.int64)
        opening: Opening = open_battle(battles, row, losses, _may_leave_in_part(battles, row), room)
        if opening.fits:
            return opening
        capacity *= _GROWTH
    return None


def _new_game(opening: Opening, losses: int, levels: int) -> Game | None:
    """Return room for the values of all states, None where there are too many of them."""
    from simcore.rulesets.general_combat.values import CRITERIA, Game  # noqa: PLC0415 - compiles kernels

    own, enemy = opening.own, opening.enemy
    n_own, n_enemy = int(own.count[0]), int(enemy.count[0])
    pairs = n_own * n_enemy
    kept = min(levels, 2) if losses == ORDERED else levels
    hits = 1 + int((own if losses == DEFENDER_CHOOSES else enemy).most.max())
    own_hits, enemy_hits = (float((stack.most[: int(stack.count[0])] + 1).sum()) for stack in (own, enemy))
    effort = levels * own_hits * enemy_hits
    entries = [levels * CRITERIA * pairs]
    if losses != ORDERED:
        entries.append(hits * pairs)
    if losses == DEFENDER_CHOOSES:
        entries.append(n_enemy * n_enemy)
        # A state has about as many successors as the largest one has on the average.
        effort = levels * n_own * enemy_hits * float(np.sqrt(n_enemy)) * n_enemy**0.5
    if pairs > MAX_STATES or max(entries) > _MOST_ENTRIES or effort > _MOST_EFFORT:
        return None
    subs = n_enemy if losses == DEFENDER_CHOOSES else 0
    return Game(
        worth=np.zeros((kept, CRITERIA, n_enemy, n_own)),
        going=np.zeros((levels, CRITERIA, n_enemy, n_own)),
        leaves=np.zeros((levels, n_enemy, n_own), dtype=np.uint8),
        best=np.zeros((hits if losses != ORDERED else 0, n_enemy, n_own), dtype=np.int32),
        subs=np.zeros((subs, subs), dtype=np.int32),
        sub_starts=np.zeros((subs, int(enemy.board[0]) + 2), dtype=np.int32),
    )


def values_of(battles: Battles, row: int) -> Play:
    """Work a battle on land out backwards, without playing it.

    Parameters
    ----------
    battles : Battles
    row : int

    Returns
    -------
    Play
        Its tally is empty.
    """
    return _decide(battles, row, with_figures=False)


def play_out(battles: Battles, row: int, *, cycles: int | None = None) -> Play:
    """Work a battle out backwards and play it forwards under the decisions found.

    Parameters
    ----------
    battles : Battles
    row : int
    cycles : int or None
        Numbers of cycles to tell apart where all ends are to be written down, 0 for none; None for the figures alone.

    Returns
    -------
    Play
        Its status is CAPACITY where there are too many states or ends.
    """
    return _decide(battles, row, with_figures=True, cycles=cycles)


def _room_for_ends(pairs: int, cycles: int | None) -> Ends:
    from simcore.rulesets.general_combat.ends import new_ends  # noqa: PLC0415 - compiles kernels

    if cycles is None:
        return new_ends(0)
    return new_ends(min(MAX_STATES, len(Outcome) * pairs), cycles)


def _decide(battles: Battles, row: int, *, with_figures: bool, cycles: int | None = None) -> Play:
    from simcore.rulesets.general_combat import values  # noqa: PLC0415 - compiles kernels

    tally, total = np.zeros(_COLUMNS), np.zeros(values.CRITERIA)
    aim, levels = aim_of(battles, row), levels_of(battles, row)
    if battles.rules[row, RowField.SEA]:
        return _decide_at_sea(battles, row, aim, levels, with_figures=with_figures, cycles=cycles)
    opening = _open(battles, row, aim.losses)
    game = _new_game(opening, aim.losses, levels) if opening is not None else None
    if opening is None or game is None:
        return Play(Status.CAPACITY, 0, tally, total)
    states = int(opening.own.count[0] * opening.enemy.count[0])
    rules = battles.rules[row]
    starts = np.zeros(len(opening.starts), dtype=np.int64)
    chosen = np.zeros((len(starts), len(opening.bombed)), dtype=np.int64)
    decide: Any = values.decide
    if not decide(rules, opening, aim, game, levels, starts, chosen, total):
        return Play(Status.CAPACITY, states, tally, total)
    ends = None
    if with_figures:
        play: Any = values.play
        ends = _room_for_ends(states, cycles)
        if not play(rules, opening, aim, game, levels, starts, chosen, tally, ends):
            return Play(Status.CAPACITY, states, tally, total)
    return Play(Status.OK, states, tally, total, levels, aim, opening, game, ends=ends)


def _decide_at_sea(
    battles: Battles, row: int, aim: Aim, levels: int, *, with_figures: bool, cycles: int | None
) -> Play:
    from simcore.rulesets.general_combat import sea_values  # noqa: PLC0415 - compiles kernels
    from simcore.rulesets.general_combat.values import CRITERIA  # noqa: PLC0415 - the same

    new_sea: Any = sea_values.new_sea
    explore: Any = sea_values.explore
    decide: Any = sea_values.decide_at_sea
    play: Any = sea_values.play_at_sea
    tally, total = np.zeros(_COLUMNS), np.zeros(CRITERIA)
    ends = None
    decisions, side = (int(battles.rules[row, f]) for f in (RowField.OPTIMAL_DECISIONS, RowField.OPTIMAL_SIDE))
    free_side = side if decisions & Decision.SUBMERGE else -1
    for states, pairs, events, choices in _SEA_CAPACITIES:
        room = np.array([states, pairs, events, choices], dtype=np.int64)
        sea, x, y, fits = new_sea(battles, row, free_side, room)
        if not fits:
            break
        if not explore(sea, aim, x, y):
            continue
        n_own, n_enemy = int(sea.own.count[0]), int(sea.enemy.count[0])
        if (levels + 1) * CRITERIA * n_own * n_enemy > _MOST_ENTRIES:
            break
        shape = (levels + 1, n_enemy, n_own)
        worths = {name: np.zeros((levels + 1, CRITERIA, n_enemy, n_own)) for name in ("arriving", "settled", "going")}
        choice = {name: np.zeros(shape, dtype=np.uint8) for name in ("leaves", "dives", "dives_late")}
        chances = {name: np.zeros(shape[1:]) for name in ("loops", "arrived", "stamps", "post", "post_stamps")}
        sea = sea._replace(**worths, **choice, **chances)
        sea.effort[0] = 0
        if not decide(sea, aim, levels, x, y, int(_MOST_EFFORT), total):
            break
        if with_figures:
            ends = _room_for_ends(int(sea.n_pairs[0]), cycles)
            if not play(sea, aim, levels, x, y, tally, ends):
                break
        return Play(Status.OK, int(sea.n_pairs[0]), tally, total, levels, aim, sea=sea, ends=ends)
    return Play(Status.CAPACITY, 0, tally, total)


def looks_ahead(battles: Battles, row: int) -> bool:
    """Return whether anything in a battle is decided by what its states are worth.

    Parameters
    ----------
    battles : Battles
    row : int

    Returns
    -------
    bool
    """
    fields = [RowField.RETREAT_WIN_BELOW, RowField.RETREAT_SWING_NEGATIVE, RowField.OPTIMAL_DECISIONS]
    return bool(battles.rules[row, fields].any())


def _single(battles: Battles, row: int) -> Battles:
    """Return one battle alone."""
    alone = {name: np.ascontiguousarray(array[row : row + 1]) for name, array in battles._asdict().items()}
    return battles._replace(**(alone | {"odds": battles.odds}))


@lru_cache(maxsize=16)
def _remembered(*arrays: tuple[bytes, str, tuple[int, ...]]) -> Play:
    fields = [np.frombuffer(data, dtype=dtype).reshape(shape).copy() for data, dtype, shape in arrays]
    return values_of(Battles(*fields), 0)


def play_of(battles: Battles, row: int) -> Play:
    """Return a battle worked out backwards; the last ones are remembered.

    Parameters
    ----------
    battles : Battles
    row : int

    Returns
    -------
    Play
        Its tally is empty.
    """
    alone = _single(battles, row)
    return _remembered(*((array.tobytes(), array.dtype.str, array.shape) for array in alone))


def leave_table(battles: Battles, rows: Sequence[int]) -> LeaveTable | None:
    """Return in which states attackers leave, for those battles in which that is worked out beforehand.

    Parameters
    ----------
    battles : Battles
    rows : sequence of int
        The battles in use.

    Returns
    -------
    LeaveTable or None
        None if no battle needs it.

    Raises
    ------
    ScenarioError
        For a battle that cannot be simulated: it has other decisions, or too many states.
    """
    wanted = [row for row in rows if looks_ahead(battles, row)]
    if not wanted:
        return None
    from simcore.rulesets.general_combat.leave import LeaveTable  # noqa: PLC0415 - compiles kernels

    m = len(battles.rules)
    levels, start = np.zeros(m, dtype=np.int64), np.zeros(m, dtype=np.int64)
    radix = np.zeros((m, len(Side), MAX_LOSS_GROUPS), dtype=np.int64)
    first, last = np.zeros((m, len(Side)), dtype=np.int64), np.zeros((m, len(Side)), dtype=np.int64)
    keys: list[npt.NDArray[np.int64]] = []
    places: list[npt.NDArray[np.int64]] = []
    leaves: list[npt.NDArray[np.uint8]] = []
    for row in wanted:
        if int(battles.rules[row, RowField.OPTIMAL_DECISIONS]) & ~Decision.RETREAT:
            raise ScenarioError(NOT_SIMULATED, field="method")
        play = play_of(battles, row)
        if play.status != Status.OK:
            raise ScenarioError(TOO_LARGE, field="method")
        levels[row] = play.levels
        start[row] = sum(len(part) for part in leaves)
        leaves.append(play.leaves.reshape(-1))
        for side in Side:
            stack = play.stack(side)
            n = int(stack.count[0])
            radix[row, side] = stack.radix
            numbers = stack.units[:n].astype(np.int64) @ stack.radix
            order = np.argsort(numbers, kind="stable")
            first[row, side] = sum(len(part) for part in keys)
            last[row, side] = first[row, side] + n
            keys.append(numbers[order])
            places.append(order)
    return LeaveTable(
        levels=levels,
        radix=radix,
        first=first,
        last=last,
        keys=np.concatenate(keys),
        places=np.concatenate(places),
        start=start,
        leaves=np.concatenate(leaves),
    )


def solve_decided(
    battles: Battles, rows: Sequence[int]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
    """Solve battles with decisions.

    Parameters
    ----------
    battles : Battles
    rows : sequence of int
        Which rows.

    Returns
    -------
    tally : float64 (N, K + 6)
        Expected accumulators of one battle, and what `SPREAD` names of the swing.
    states : int64 (N,)
    status : uint8 (N,)
    """
    plays = [play_out(battles, row) for row in rows]
    return (
        np.array([play.tally for play in plays]).reshape(-1, _COLUMNS),
        np.array([play.states for play in plays], dtype=np.int64),
        np.array([play.status for play in plays], dtype=np.uint8),
    )
