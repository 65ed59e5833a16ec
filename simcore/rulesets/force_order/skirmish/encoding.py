"""Skirmishes as flat arrays: the pieces, the board and the rules of each matchup, and what is counted of its games."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from simcore.core.swing import common_steps, note_bins, place_bins
from simcore.enums import Side
from simcore.rulesets.force_order.edition import KIND_OF, UNITS
from simcore.rulesets.force_order.encoding import collect_orders
from simcore.rulesets.force_order.layout import KINDS
from simcore.rulesets.force_order.options import OPTION_FIELDS
from simcore.rulesets.force_order.skirmish.layout import ENDS, N_RULES, OUTCOMES, PLACING, End, Outcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simcore.rulesets.force_order.params import ForceOrderScenario

__all__ = ["ACCUMULATORS", "MEANS", "Accumulator", "Games", "encode", "swing_bins", "swing_bound"]

_SIDES = ("attacker", "defender")
_N_UNITS = len(UNITS)
_PIECE_COLUMNS = 3


class Accumulator(IntEnum):
    """Columns of a tally."""

    BATTLES = 0
    OUTCOMES = 1
    TURNS = OUTCOMES + len(Outcome)
    """Sum and sum of squares."""
    COST_LOST = TURNS + 2
    """Sum and sum of squares of the attacker's, then of the defender's."""
    SWING = COST_LOST + 4
    EDGE = SWING + 2
    """Sum and sum of squares of 1 where the side that moved first has won, -1 where the other has."""
    ENDED = EDGE + 2
    """By `End`."""
    PIECES_LOST = ENDED + len(End)
    FLAGS = PIECES_LOST + 2
    """Dropped, taken and retaken by each side, as in `State`."""
    SURVIVORS = FLAGS + 6
    """By outcome, side and unit."""


_MOMENTS = ("turns", "attacker.cost_lost", "defender.cost_lost", "swing", "first_mover_edge")
_COUNTS = ("pieces_lost", "flags_dropped", "flags_taken", "flags_retaken")
ACCUMULATORS = (
    "battles",
    *(f"outcome.{outcome}" for outcome in OUTCOMES),
    *(f"{name}.{power}" for name in _MOMENTS for power in ("sum", "sumsq")),
    *(f"end.{end}" for end in ENDS),
    *(f"{name}.{side}" for name in _COUNTS for side in _SIDES),
    *(f"survivors.{outcome}.{side}.{unit}" for outcome in OUTCOMES for side in _SIDES for unit in UNITS),
)
MEANS = {
    **{f"end.{end}": f"p_end_{end}" for end in ENDS},
    **{f"{name}.{side}": f"{side}_{name}_mean" for name in _COUNTS for side in _SIDES},
}
"""Accumulators that are counted once per game, with the column of a sweep's table that shows their mean."""


class Games(NamedTuple):
    """Skirmishes, one matchup a row. P: pieces of both sides with their flags, O: orders of forces.

    Attributes
    ----------
    rules : int64 (M, 17)
        By `Rule`.
    options : int64 (M, 10)
        By `steps.Options`.
    numbers : int64 (M, S)
        Pieces of each side.
    pieces : int16 (M, P, 3)
        Place on axis T, kind and side; the attacker's first, each side's flag last.
    placed : int64 (M, S)
        Pieces of each side that are put on squares: all but its mines.
    placing : int16 (M, P)
        Numbers of those pieces in the order in which they are placed; the defender's begin where its pieces do.
    costs : int64 (M, T)
    order : int64 (M,)
        Which order of forces holds.
    bounds : int64 (O, T, T, 2)
        Running shares of `SCALE` of a win, and of a win or a loss.
    starts : int64 (M, S, T)
        Units of the mixes, without flags.
    bins : int64 (M, 2)
        Width of the bins in which swings are counted, and the column of the tally that counts the bin of 0.
    """

    rules: npt.NDArray[np.int64]
    options: npt.NDArray[np.int64]
    numbers: npt.NDArray[np.int64]
    pieces: npt.NDArray[np.int16]
    placed: npt.NDArray[np.int64]
    placing: npt.NDArray[np.int16]
    costs: npt.NDArray[np.int64]
    order: npt.NDArray[np.int64]
    bounds: npt.NDArray[np.int64]
    starts: npt.NDArray[np.int64]
    bins: npt.NDArray[np.int64]


def _pieces_of(scenario: ForceOrderScenario, side: int) -> list[str]:
    """Return the units of a side one by one, in table order, with its flag."""
    counts = scenario.counts(side)
    return [unit for unit in UNITS for _ in range(1 if unit == "flag" else counts.get(unit, 0))]


def encode(scenarios: Sequence[ForceOrderScenario]) -> Games:
    """Encode checked scenarios.

    Parameters
    ----------
    scenarios : sequence of ForceOrderScenario

    Returns
    -------
    Games
    """
    m = len(scenarios)
    armies = [[_pieces_of(scenario, side) for side in Side] for scenario in scenarios]
    most = max((len(own) + len(other) for own, other in armies), default=2)
    order, _, bounds = collect_orders(scenarios)
    games = Games(
        rules=np.zeros((m, N_RULES), dtype=np.int64),
        options=np.zeros((m, len(OPTION_FIELDS)), dtype=np.int64),
        numbers=np.zeros((m, 2), dtype=np.int64),
        pieces=np.zeros((m, most, _PIECE_COLUMNS), dtype=np.int16),
        placed=np.zeros((m, 2), dtype=np.int64),
        placing=np.zeros((m, most), dtype=np.int16),
        costs=np.zeros((m, _N_UNITS), dtype=np.int64),
        order=order,
        bounds=bounds,
        starts=np.zeros((m, 2, _N_UNITS), dtype=np.int64),
        bins=np.zeros((m, 2), dtype=np.int64),
    )
    for row, (scenario, sides) in enumerate(zip(scenarios, armies, strict=True)):
        games.rules[row] = scenario.board_rules()
        games.options[row] = scenario.rules.options.codes()
        for unit, stats in scenario.rules.units.items():
            games.costs[row, UNITS.index(unit)] = stats.cost
        first = 0
        for side, units in zip(Side, sides, strict=True):
            _encode_side(games, row, side, first, units)
            first += len(units)
    note_bins(games.bins, 0, swing_bins(games), len(ACCUMULATORS))
    return games


def _encode_side(games: Games, row: int, side: Side, first: int, units: list[str]) -> None:
    kinds = [KINDS[KIND_OF[unit]] for unit in units]
    games.numbers[row, side] = len(units)
    for i, unit in enumerate(units):
        games.pieces[row, first + i] = UNITS.index(unit), KIND_OF[unit], side
        games.starts[row, side, UNITS.index(unit)] += unit != "flag"
    placing = [first + i for kind in PLACING for i, other in enumerate(kinds) if other == kind]
    games.placed[row, side] = len(placing)
    games.placing[row, first : first + len(placing)] = placing


def swing_bound(games: Games) -> npt.NDArray[np.int64]:
    """Return the largest possible absolute swing of each row: the dearer side lost, and nothing of the other."""
    return np.asarray(_worth(games).sum(axis=2).max(axis=1, initial=0), dtype=np.int64)


def _worth(games: Games) -> npt.NDArray[np.int64]:
    """Return what the pieces of each type cost together, int64 (M, S, T)."""
    return np.asarray(games.starts * games.costs[:, None, :], dtype=np.int64)


def swing_bins(games: Games) -> npt.NDArray[np.int64]:
    """Return the bins in which the swings of each matchup are counted.

    Parameters
    ----------
    games : Games

    Returns
    -------
    int64 (M, 3)
        By `simcore.core.swing.BinField`.
    """
    present = np.where(games.starts > 0, games.costs[:, None, :], 0)
    return place_bins(_worth(games).sum(axis=2), common_steps(present))
