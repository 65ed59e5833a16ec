"""Decisions taken by what a battle's own states are worth: retreats that look ahead, and optimal play."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from simcore.enums import Side, Status
from simcore.rulesets.general_combat.encoding import (
    ACCUMULATORS,
    AIRCRAFT,
    OUTCOMES,
    UNITS,
    WIN_BELOW_UNITS,
    Accumulator,
    Decision,
    Goal,
    LossForm,
    Outcome,
    RowField,
    encode,
)
from simcore.rulesets.general_combat.side import RetreatPolicy
from simcore.schema import MAX_STATES
from simcore.unittext import format_units

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simcore.rulesets.general_combat.encoding import Battles
    from simcore.rulesets.general_combat.params import GeneralCombatScenario
    from simcore.rulesets.general_combat.values import Aim, Game, Opening

__all__ = ["Play", "WINS", "aim_of", "count_states", "play_out", "report", "solve_decided", "values_of"]

WINS = {
    Side.ATTACKER: (Outcome.ATTACKER_WINS, Outcome.ATTACKER_CLEARS),
    Side.DEFENDER: (Outcome.DEFENDER_WINS,),
}
"""Outcomes that count as a win of a side."""
_FIRST_CAPACITY = 1_024
_GROWTH = 8
_MOST_ENTRIES = 2**27
"""Most entries of any table: states by levels, by criteria, or by hits."""
_MOST_EFFORT = 2e10
"""Most products of probabilities: some minutes of work."""
_MOST_EXAMPLES = 10
_LAST_EXAMPLE = 3
"""Hits up to which examples of losses are looked for."""


class Play(NamedTuple):
    """A battle that was decided.

    Attributes
    ----------
    status : Status
        CAPACITY where it has too many states.
    states : int
        Pairs of states.
    tally : float64 (K,)
        Expected accumulators of one battle.
    value : float64 (3,)
        What the battle is worth: the goal (the more the better for who decides), the attacker's chance to win, swing.
    levels : int
        Cycles after which decisions may differ; the last stands for all later ones.
    aim, opening, game : Aim, Opening, Game or None
        As the kernels left them.
    """

    status: Status
    states: int
    tally: npt.NDArray[np.float64]
    value: npt.NDArray[np.float64]
    levels: int = 1
    aim: Aim | None = None
    opening: Opening | None = None
    game: Game | None = None


def count_states(scenario: GeneralCombatScenario) -> int:
    """Return how many pairs of states a battle on land with decisions has at most.

    Parameters
    ----------
    scenario : GeneralCombatScenario

    Returns
    -------
    int
    """
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
    from simcore.rulesets.general_combat.values import (  # noqa: PLC0415 - compiles kernels
        ATTACKER_CHOOSES,
        DEFENDER_CHOOSES,
        MARGIN,
        ORDERED,
        Aim,
    )

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
    from simcore.rulesets.general_combat.values import (  # noqa: PLC0415 - compiles kernels
        ATTACKER_CHOOSES,
        CRITERIA,
        DEFENDER_CHOOSES,
        ORDERED,
        Game,
    )

    own, enemy = opening.own, opening.enemy
    n_own, n_enemy = int(own.count[0]), int(enemy.count[0])
    pairs = n_own * n_enemy
    kept = min(levels, 2) if losses == ORDERED else levels
    hits = int(enemy.most[:n_enemy].max())
    own_hits, enemy_hits = (float((stack.most[: int(stack.count[0])] + 1).sum()) for stack in (own, enemy))
    effort = levels * own_hits * enemy_hits
    entries = [pairs, levels * pairs, kept * CRITERIA * pairs]
    if losses == ATTACKER_CHOOSES:
        entries.append((hits + 1) * pairs)
    if losses == DEFENDER_CHOOSES:
        entries.append(n_enemy * n_enemy)
        # A state has about as many successors as the largest one has on the average.
        effort = levels * n_own * enemy_hits * float(np.sqrt(n_enemy)) * n_enemy**0.5
    if pairs > MAX_STATES or max(entries) > _MOST_ENTRIES or effort > _MOST_EFFORT:
        return None
    subs = n_enemy if losses == DEFENDER_CHOOSES else 0
    return Game(
        worth=np.zeros((kept, CRITERIA, n_enemy, n_own)),
        going=np.zeros((CRITERIA, n_enemy, n_own)),
        leaves=np.zeros((levels, n_enemy, n_own), dtype=np.uint8),
        best=np.zeros((hits + 1 if losses == ATTACKER_CHOOSES else 0, n_enemy, n_own), dtype=np.int32),
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


def play_out(battles: Battles, row: int) -> Play:
    """Work a battle on land out backwards and play it forwards under the decisions found.

    Parameters
    ----------
    battles : Battles
    row : int

    Returns
    -------
    Play
    """
    return _decide(battles, row, with_figures=True)


def _decide(battles: Battles, row: int, *, with_figures: bool) -> Play:
    from simcore.rulesets.general_combat import values  # noqa: PLC0415 - compiles kernels

    tally, total = np.zeros(len(ACCUMULATORS)), np.zeros(values.CRITERIA)
    aim, levels = aim_of(battles, row), levels_of(battles, row)
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
    if with_figures:
        play: Any = values.play
        play(rules, opening, aim, game, levels, starts, chosen, tally)
    return Play(Status.OK, states, tally, total, levels, aim, opening, game)


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
    tally : float64 (N, K)
    states : int64 (N,)
    status : uint8 (N,)
    """
    plays = [play_out(battles, row) for row in rows]
    return (
        np.array([play.tally for play in plays]).reshape(-1, len(ACCUMULATORS)),
        np.array([play.states for play in plays], dtype=np.int64),
        np.array([play.status for play in plays], dtype=np.uint8),
    )
