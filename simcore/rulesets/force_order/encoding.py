"""Mixes against mixes as flat arrays: what each side's piece may be, and how often."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from simcore.core.swing import common_steps, note_bins, place_bins
from simcore.enums import Side
from simcore.rulesets.force_order.edition import UNITS
from simcore.rulesets.force_order.layout import OUTCOMES, TARGET, Outcome, Result, RowField
from simcore.rulesets.force_order.options import OPTION_FIELDS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from simcore.rulesets.force_order.edition import Odds
    from simcore.rulesets.force_order.params import ForceOrderScenario

__all__ = [
    "ACCUMULATORS",
    "MEANS",
    "SCALE",
    "Accumulator",
    "Mixes",
    "collect_orders",
    "encode",
    "swing_bins",
    "swing_bound",
]

SCALE = 2**62
"""A draw is a number below this: it picks the first entry whose limit it does not reach."""
_SIDES = ("attacker", "defender")
_N_UNITS = len(UNITS)


class Accumulator(IntEnum):
    """Columns of a tally."""

    BATTLES = 0
    OUTCOMES = 1
    CYCLES = OUTCOMES + len(Outcome)
    """Attacks: 1 each, and its square."""
    COST_LOST = CYCLES + 2
    """Sum and sum of squares of the attacker's, then of the defender's."""
    SWING = COST_LOST + 4
    PIECES = SWING + 2
    """Pieces lost by each side, with all they held."""
    DROPPED = PIECES + 2
    """Flags left on the square of a dead holder, by its side."""
    TAKEN = DROPPED + 2
    SURVIVORS = TAKEN + 1
    """By outcome, side and unit."""


ACCUMULATORS = (
    "battles",
    *(f"outcome.{outcome}" for outcome in OUTCOMES),
    "cycles.sum",
    "cycles.sumsq",
    "attacker.cost_lost.sum",
    "attacker.cost_lost.sumsq",
    "defender.cost_lost.sum",
    "defender.cost_lost.sumsq",
    "swing.sum",
    "swing.sumsq",
    "pieces_lost.attacker",
    "pieces_lost.defender",
    "flags_dropped.attacker",
    "flags_dropped.defender",
    "flags_taken",
    *(f"survivors.{outcome}.{side}.{unit}" for outcome in OUTCOMES for side in _SIDES for unit in UNITS),
)
MEANS = {
    "pieces_lost.attacker": "attacker_pieces_lost_mean",
    "pieces_lost.defender": "defender_pieces_lost_mean",
    "flags_dropped.attacker": "attacker_flags_dropped_mean",
    "flags_dropped.defender": "defender_flags_dropped_mean",
    "flags_taken": "flags_taken_mean",
}
"""Accumulators that are counted once per battle, with the column of a sweep's table that shows their mean."""


class Mixes(NamedTuple):
    """Matchups of unit mixes, one row each. K: states in which a piece of a side may be met, O: orders of forces.

    Attributes
    ----------
    pieces : int8 (M, S, K, 8)
        By `PieceField`.
    units : int16 (M, S, K)
        Place of each state's unit on axis T.
    numbers : int64 (M, S)
        States of each side.
    weights : int64 (M, S, K)
        How often each state is met.
    limits : int64 (M, S, K)
        The same as running shares of `SCALE`, for draws.
    costs : int64 (M, S, K, 3)
        Cost of the piece, of the mine it holds, of its cargo.
    loads : int64 (M, S, K, 2)
        Whether its mine is one of the mix, and pieces of its cargo.
    scenes : int8 (M, 5)
        The fields of a row from `RowField.ROWS` to `RowField.BESIDE_TAKEN`.
    given : int64 (M,)
        `Result` of every duel where the scenario gives it; BY_RANK where the order of forces decides.
    options : int64 (M, 10)
        By `steps.Options`.
    order : int64 (M,)
        Which order of forces holds.
    chances : float64 (O, T, T, 3)
        Probability that the attacker wins, loses, ties.
    bounds : int64 (O, T, T, 2)
        Running shares of `SCALE` of a win, and of a win or a loss.
    starts : int64 (M, S, T)
        Units of the mixes.
    bins : int64 (M, 2)
        Width of the bins in which swings are counted, and the column of the tally that counts the bin of 0.
    """

    pieces: npt.NDArray[np.int8]
    units: npt.NDArray[np.int16]
    numbers: npt.NDArray[np.int64]
    weights: npt.NDArray[np.int64]
    limits: npt.NDArray[np.int64]
    costs: npt.NDArray[np.int64]
    loads: npt.NDArray[np.int64]
    scenes: npt.NDArray[np.int8]
    given: npt.NDArray[np.int64]
    options: npt.NDArray[np.int64]
    order: npt.NDArray[np.int64]
    chances: npt.NDArray[np.float64]
    bounds: npt.NDArray[np.int64]
    starts: npt.NDArray[np.int64]
    bins: npt.NDArray[np.int64]


def encode(scenarios: Sequence[ForceOrderScenario]) -> Mixes:
    """Encode checked scenarios.

    Parameters
    ----------
    scenarios : sequence of ForceOrderScenario

    Returns
    -------
    Mixes
    """
    m = len(scenarios)
    k = max((len(scenario.states(side)) for scenario in scenarios for side in Side), default=1)
    scene = RowField.BESIDE_TAKEN - RowField.ROWS + 1
    order, chances, bounds = collect_orders(scenarios)
    mixes = Mixes(
        pieces=np.zeros((m, 2, k, TARGET), dtype=np.int8),
        units=np.zeros((m, 2, k), dtype=np.int16),
        numbers=np.zeros((m, 2), dtype=np.int64),
        weights=np.zeros((m, 2, k), dtype=np.int64),
        limits=np.zeros((m, 2, k), dtype=np.int64),
        costs=np.zeros((m, 2, k, 3), dtype=np.int64),
        loads=np.zeros((m, 2, k, 2), dtype=np.int64),
        scenes=np.zeros((m, scene), dtype=np.int8),
        given=np.zeros(m, dtype=np.int64),
        options=np.zeros((m, len(OPTION_FIELDS)), dtype=np.int64),
        order=order,
        chances=chances,
        bounds=bounds,
        starts=np.zeros((m, 2, _N_UNITS), dtype=np.int64),
        bins=np.zeros((m, 2), dtype=np.int64),
    )
    for row, scenario in enumerate(scenarios):
        for side in Side:
            _encode_side(mixes, row, side, scenario)
        mixes.scenes[row] = scenario.scene
        mixes.given[row] = Result.BY_RANK if scenario.result == "by_order" else Result[scenario.result.upper()]
        mixes.options[row] = scenario.rules.options.codes()
    note_bins(mixes.bins, 0, swing_bins(mixes), len(ACCUMULATORS))
    return mixes


def collect_orders(
    scenarios: Sequence[ForceOrderScenario],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Return the orders of forces of scenarios, equal ones once.

    Parameters
    ----------
    scenarios : sequence of ForceOrderScenario

    Returns
    -------
    order : int64 (M,)
        Which of them holds in each scenario.
    chances : float64 (O, T, T, 3)
        Probability that the attacker wins, loses, ties.
    bounds : int64 (O, T, T, 2)
        Running shares of `SCALE` of a win, and of a win or a loss.
    """
    order = np.zeros(len(scenarios), dtype=np.int64)
    places: dict[str, int] = {}
    tables: list[npt.NDArray[np.float64]] = []
    for row, scenario in enumerate(scenarios):
        key = repr(scenario.duels)
        if key not in places:
            places[key] = len(tables)
            tables.append(_order_table(scenario.duels))
        order[row] = places[key]
    chances = np.stack(tables) if tables else np.zeros((0, _N_UNITS, _N_UNITS, 3))
    return order, chances, _running(chances)


def _encode_side(mixes: Mixes, row: int, side: Side, scenario: ForceOrderScenario) -> None:
    states = scenario.states(side)
    mixes.numbers[row, side] = len(states)
    for unit, count in scenario.counts(side).items():
        mixes.starts[row, side, UNITS.index(unit)] = count
    total, reached = sum(state.weight for state in states), 0
    for i, state in enumerate(states):
        at = row, side, i
        mixes.pieces[at] = state.fields
        mixes.units[at] = UNITS.index(state.unit)
        mixes.costs[at] = state.costs
        mixes.loads[at] = state.is_dealt_mine, state.cargo_pieces
        mixes.weights[at] = state.weight
        reached += state.weight
        mixes.limits[at] = SCALE * reached // total


def _order_table(duels: Mapping[tuple[str, str], Odds]) -> npt.NDArray[np.float64]:
    table = np.zeros((_N_UNITS, _N_UNITS, 3))
    # A flag is taken without a duel; whichever result stands here, the rules do not ask for it.
    table[:, UNITS.index("flag"), 0] = 1.0
    for (attacker, defender), odds in duels.items():
        table[UNITS.index(attacker), UNITS.index(defender)] = odds
    return table


def _running(chances: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Return probabilities as running shares of `SCALE`; what is certain is so exactly."""
    sums = np.stack((chances[..., 0], 1.0 - chances[..., 2]), axis=-1)
    # Neither 0 nor 1 is rounded, so that a duel that cannot be tied never is.
    return np.asarray(np.clip(sums, 0.0, 1.0) * float(SCALE), dtype=np.int64)


def swing_bound(mixes: Mixes) -> npt.NDArray[np.int64]:
    """Return the largest possible absolute swing of each row: the dearest piece with all that it holds."""
    return np.asarray(_worth(mixes).max(axis=1, initial=0), dtype=np.int64)


def _worth(mixes: Mixes) -> npt.NDArray[np.int64]:
    """Return what the dearest piece of each side costs with all that it holds, int64 (M, S)."""
    return np.asarray(mixes.costs.sum(axis=3).max(axis=2, initial=0), dtype=np.int64)


def swing_bins(mixes: Mixes) -> npt.NDArray[np.int64]:
    """Return the bins in which the swings of each matchup are counted.

    Parameters
    ----------
    mixes : Mixes

    Returns
    -------
    int64 (M, 3)
        By `simcore.core.swing.BinField`.
    """
    return place_bins(_worth(mixes), common_steps(mixes.costs))
