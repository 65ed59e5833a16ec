"""Size and call of the exact solver."""

from __future__ import annotations

from functools import lru_cache
from math import comb, prod
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from simcore.core.swing import common_steps
from simcore.core.threads import share_out
from simcore.enums import Side, Status
from simcore.rulesets.mass_battle.encoding import ACCUMULATORS, MAX_CHARACTERS, Initiative, RowField
from simcore.rulesets.mass_battle.limits import (
    MOST_ENTRIES,
    MOST_HITS,
    MOST_ROWS,
    MOST_SPREAD_STATES,
    MOST_STATES,
    MOST_SWING_CHANCES,
    MOST_SWINGS,
    MOST_WAYS,
)
from simcore.schema import SPREAD

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simcore.rulesets.mass_battle.encoding import Armies
    from simcore.rulesets.mass_battle.params import MassBattleScenario

__all__ = [
    "MOST_STATES",
    "count_spread_states",
    "count_states",
    "describe_swing",
    "effort",
    "side_states",
    "solve_battles",
    "spread_swing",
]

_AT_A_TIME = 16
_MANY_AT_A_TIME = 256
_FEW_STATES = 1_000
"""Up to so many pairs of states a battle takes about a tenth of a millisecond."""
_SIDES = tuple(Side)
_STATE = 10_000
"""Steps of a nanosecond that a pair of states takes over as many turns as are usual."""
_FACES = 170
"""Steps that the effects of a roll take for each square of its dice: less likely numbers of hits are left out."""
_MANY_DICE = 50
"""Most dice of a roll whose effects take next to no time to list."""
_USUAL_TURNS = 100
_UNLIMITED = 1_000
"""Turns that a battle without a limit is reckoned with."""


def side_states(scenario: MassBattleScenario, side: Side) -> int:
    """Return how many states an army can be in at most.

    Of each type some squads are active, some come back in this turn or the next, some have left; where it matters
    who is in flight that is one more place.
    """
    return _places(tuple(scenario.counts(side).values()), 4 if scenario.remembers_flight(side) else 3)


@lru_cache(maxsize=4_096)
def _places(counts: tuple[int, ...], places: int) -> int:
    """Return in how many ways the squads of some types can stand in so many places; some have left."""
    return prod([comb(count + places, places) for count in counts])


def count_states(scenario: MassBattleScenario) -> int:
    """Return how many states the exact solver would have to hold at most; 0 where it does not reach.

    Parameters
    ----------
    scenario : MassBattleScenario

    Returns
    -------
    int
    """
    # The order of types does not matter.
    units = scenario.attacker.units, scenario.defender.units
    counts = tuple(filter(None, units[0].values())), tuple(filter(None, units[1].values()))
    if scenario.chosen.target_order == "random" and max(map(len, counts)) > 1:
        return 0
    places = tuple([4 if scenario.remembers_flight(side) else 3 for side in _SIDES])
    states, fits_by_far = _extent(counts, places, scenario.most_dice)
    if states > MOST_STATES or fits_by_far or all(_has_room(scenario, side) for side in _SIDES):
        return states
    return 0


@lru_cache(maxsize=4_096)
def _extent(counts: tuple[tuple[int, ...], ...], places: tuple[int, ...], dice: int) -> tuple[int, bool]:
    """Return how many pairs of states there may be, and whether they are so few that all lists fit for certain."""
    rooms = [_places(*army) for army in zip(counts, places, strict=True)]
    squads = max(map(sum, counts))
    most = max(rooms)
    fits_by_far = (
        most * most * (dice + 2) * (dice + 3) * (squads + 1) ** 2 <= MOST_ENTRIES
        and most * comb(squads + 4, 4) * (squads + 1) <= MOST_HITS
        and most << MAX_CHARACTERS <= MOST_WAYS
    )
    return prod(rooms), fits_by_far


def _has_room(scenario: MassBattleScenario, side: Side) -> bool:
    """Whether all lists of an army fit for certain, so that the solver never has to give up on the way.

    Lists are made by `list_states`, `list_chances` and `list_rows`.
    """
    options = scenario.chosen
    enemy = Side(1 - side)
    counts = scenario.counts(side)
    total = sum(counts.values())
    unlimited = options.rally_attempts == "unlimited"
    others = scenario.remembers_flight(side)
    low, high = scenario.pool_range(enemy)
    own_ones, ones = _ones_told(scenario, side), _ones_told(scenario, enemy)
    rolls = 1 + sum(_ones_of(scenario, pool, ones) for pool in range(low, high + 1))
    dice = max(scenario.rules.units[unit].dice for unit in counts) if counts else 0
    most_left = _most_left(scenario, side)
    effects = max(1, high)
    hits = 0
    rows: dict[int, int] = {}
    in_line = _by_standing(tuple(counts.values()), 3, others=others)
    targets = _by_standing(tuple(counts.values()), 4) if unlimited else in_line
    for (number, active), states in (targets if options.routed_targets else in_line).items():
        hits += states * comb(min(number, effects) + 3, 3) * (min(active, own_ones) + 1)
    sizes: dict[int, int] = {}
    for (size, active), states in targets.items():
        left = min(most_left, active * dice + 2)
        sizes[size] = sizes.get(size, 0) + states
        rows[size] = rows.get(size, 0) + states * rolls * (own_ones + 1) * left
    # A row leads to armies that are no larger, and have lost no more squads than the roll has effects.
    reach = min(total, effects)
    entries = sum(
        count * sum(sizes.get(other, 0) for other in range(size - reach, size + 1)) for size, count in rows.items()
    )
    places = sum(sizes.values()) * _rows_of_state(scenario, side)
    ways = prod([count + 1 for count in counts.values()]) << len(scenario.side(side).characters)
    return (
        hits <= MOST_HITS
        and places <= MOST_ROWS
        and entries <= MOST_ENTRIES
        and rolls * comb(reach + 4, 4) <= MOST_ENTRIES
        and ways <= MOST_WAYS
    )


def _ones_told(scenario: MassBattleScenario, side: Side) -> int:
    """Return up to which number the ones of an army's rolls are told apart, 0 where they do not matter."""
    if scenario.chosen.ones_backfire == "every_roll" or scenario.pool_range(side)[0] < 1:
        return sum(scenario.counts(side).values())
    return 0


def _most_left(scenario: MassBattleScenario, side: Side) -> int:
    """Return how many numbers of dice left to an army are told apart when it rolls: 1 unless it answers the enemy."""
    if scenario.chosen.initiative != ("defender_first" if side == Side.ATTACKER else "attacker_first"):
        return 1
    return sum(count * scenario.rules.units[unit].dice for unit, count in scenario.counts(side).items()) + 2


def _rows_of_state(scenario: MassBattleScenario, side: Side) -> int:
    """Return how many places there are for the rows of one state of an army."""
    enemy = Side(1 - side)
    low, high = scenario.pool_range(enemy)
    ones = (_ones_told(scenario, side) + 1) * (_ones_told(scenario, enemy) + 1)
    return (high - low + 2) * ones * _most_left(scenario, side)


def _ones_of(scenario: MassBattleScenario, pool: int, most: int) -> int:
    """Return how many numbers of ones are told apart in a roll, as the solver does."""
    if pool >= 1:
        return min(pool, most) + 1 if scenario.chosen.ones_backfire == "every_roll" else 1
    dice = 2 - pool if scenario.chosen.negative_dice == "two_minus_pool" else max(2, -pool)
    return min(dice, most) + 1


@lru_cache(maxsize=1_024)
def _by_standing(counts: tuple[int, ...], places: int, *, others: bool = False) -> dict[tuple[int, int], int]:
    """Return in how many ways squads can stand in some places, by their number and that of active ones among them.

    With `others` those that have left are told apart in one more place, which does not count.
    """
    ways = {(0, 0): 1}
    for count in counts:
        total: dict[tuple[int, int], int] = {}
        for number in range(count + 1):
            for active in range(number + 1):
                own = comb(number - active + places - 2, places - 2) * (count - number + 1 if others else 1)
                for (n, a), x in ways.items():
                    key = n + number, a + active
                    total[key] = total.get(key, 0) + own * x
        ways = total
    return ways


def effort(scenario: MassBattleScenario) -> int:
    """Return how long an exact solution takes at most, roughly, in steps of about a nanosecond.

    Parameters
    ----------
    scenario : MassBattleScenario

    Returns
    -------
    int
        The same on every machine.
    """
    turns = scenario.chosen.max_turns or _UNLIMITED
    states = count_states(scenario)
    if states == 0:
        return 0
    steps = states * _STATE * max(1, turns // _USUAL_TURNS)
    if scenario.most_dice > _MANY_DICE:
        steps += sum(_faces_effort(scenario, side) for side in _SIDES)
    return steps


def _faces_effort(scenario: MassBattleScenario, side: Side) -> int:
    """Return how long it takes to list the effects of an army's rolls: longer than all else for hundreds of dice."""
    low, high = scenario.pool_range(side)
    reaches = sum(scenario.counts(Side(1 - side)).values())
    ones = _ones_told(scenario, side) + 1 if scenario.chosen.ones_backfire == "every_roll" else 1
    dice = range(max(1, low), high + 1)
    return reaches * ones * sum(min(n**3, _FACES * n**2) for n in dice)


def count_spread_states(scenario: MassBattleScenario) -> int:
    """Return how many states the distribution of the swing needs at most: those that count destroyed squads, too.

    Parameters
    ----------
    scenario : MassBattleScenario

    Returns
    -------
    int
    """
    return prod(_spread_room(scenario, side) for side in Side)


def _spread_room(scenario: MassBattleScenario, side: Side) -> int:
    return _places(tuple(scenario.counts(side).values()), 5 if scenario.remembers_flight(side) else 4)


def spread_swing(
    arrays: Armies, scenarios: Sequence[MassBattleScenario], row: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]] | None:
    """Return the swings of a battle and their probabilities.

    Parameters
    ----------
    arrays : Armies
        M rows.
    scenarios : sequence of MassBattleScenario
        The same, small enough by `count_states`.
    row : int

    Returns
    -------
    swings : int64 (n,), chances : float64 (n,)
        Or None, where there is more to do than allowed.
    """
    from simcore.rulesets.mass_battle import solver  # noqa: PLC0415 - compiles kernels

    scenario = scenarios[row]
    if count_spread_states(scenario) > MOST_SPREAD_STATES:
        return None
    of_rows = [name for name in arrays._fields if name != "odds"]
    alone = arrays._replace(**{name: getattr(arrays, name)[row : row + 1] for name in of_rows})
    step = max(1, int(common_steps(np.where(alone.counts > 0, alone.cost, 0).astype(np.int64))[0]))
    own, enemy = (scenario.cost(side) // step for side in Side)
    if own + enemy > MOST_SWINGS or _swing_chances(scenario, own + enemy) > MOST_SWING_CHANCES:
        return None
    remembers = np.array([[scenario.remembers_flight(side) for side in Side]], dtype=np.int64)
    rooms = np.array([[_spread_room(scenario, side) for side in Side]], dtype=np.int64)
    tally, states = np.zeros((1, len(ACCUMULATORS))), np.zeros(1, dtype=np.int64)
    status, chances = np.full(1, Status.UNSET, dtype=np.uint8), np.zeros(own + enemy + 1)
    nothing = np.zeros((1, 1, 1))
    sign = -1 if alone.rules[0, RowField.INITIATIVE] == Initiative.DEFENDER_FIRST else 1
    swings = ((nothing, nothing), np.int64(own), np.int64(sign), chances, np.int64(step))
    run: Any = solver.solve_all
    run(np.arange(1), alone, remembers, rooms, tally, status, states, np.int64(1), swings)
    if status[0] != Status.OK:
        return None
    return (np.arange(len(chances)) - own) * step, chances


def _swing_chances(scenario: MassBattleScenario, swings: int) -> int:
    """Return how many chances `end_costs.list_row_costs` lists for both armies."""
    mobile = [
        sum(count for unit, count in scenario.counts(side).items() if scenario.rules.units[unit].mobile)
        for side in _SIDES
    ]
    levels = max(mobile) if scenario.chosen.pursuit_limit == "one_per_squad" else min(1, max(mobile))
    rows = sum(_spread_room(scenario, side) * _rows_of_state(scenario, side) for side in _SIDES)
    return rows * (1 + 2 * (levels + 1)) * (swings + 1)


def describe_swing(arrays: Armies, scenarios: Sequence[MassBattleScenario], row: int) -> npt.NDArray[np.float64]:
    """Return what ``simcore.schema.SPREAD`` names of the swing of a battle.

    Parameters
    ----------
    arrays, scenarios, row
        As of `spread_swing`.

    Returns
    -------
    float64 (6,)
        NaN where there is more to do than allowed.
    """
    from simcore.core.chain import Sums, describe_spread  # noqa: PLC0415 - compiles kernels

    out = np.full(len(SPREAD), np.nan)
    found = spread_swing(arrays, scenarios, row)
    if found is not None:
        none = np.zeros(0, dtype=np.int64)
        describe_spread(Sums(none, none, *found, np.array([len(found[0])], dtype=np.int64)), out)
    return out


def solve_battles(
    arrays: Armies, scenarios: Sequence[MassBattleScenario], *, threads: int
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64], npt.NDArray[np.uint8]]:
    """Solve battles.

    Parameters
    ----------
    arrays : Armies
        M rows.
    scenarios : sequence of MassBattleScenario
        The same, small enough by `count_states`.
    threads : int

    Returns
    -------
    tally : float64 (M, K)
        Expected accumulators of one battle.
    states : int64 (M,)
        States that were reached.
    status : uint8 (M,)
    """
    from simcore.rulesets.mass_battle import solver  # noqa: PLC0415 - compiles kernels

    m = len(scenarios)
    tally = np.zeros((m, len(ACCUMULATORS)))
    states = np.zeros(m, dtype=np.int64)
    status = np.full(m, Status.UNSET, dtype=np.uint8)
    flights = [[scenario.remembers_flight(side) for side in _SIDES] for scenario in scenarios]
    remembers = np.array(flights, dtype=np.int64).reshape(m, len(Side))
    # As `side_states` has it, for all at once.
    counts = arrays.counts.astype(np.int64)
    ways = (counts + 1) * (counts + 2) * (counts + 3) // 6
    rooms = np.where(remembers[..., np.newaxis] != 0, ways * (counts + 4) // 4, ways).prod(axis=2)
    is_quick = m > 0 and rooms.prod(axis=1).max() <= _FEW_STATES

    run: Any = solver.solve_all

    def solve(rows: npt.NDArray[np.int64], *, others: np.int64 | None) -> None:
        def work(low: int, high: int) -> None:
            run(rows[low:high], arrays, remembers, rooms, tally, status, states, others, None)

        share_out(work, len(rows), threads, most=_MANY_AT_A_TIME if is_quick else _AT_A_TIME)

    solve(np.arange(m), others=None)
    left = np.flatnonzero(status == Status.UNSET)
    if len(left):
        solve(left, others=np.int64(1))
    return tally, states, status
