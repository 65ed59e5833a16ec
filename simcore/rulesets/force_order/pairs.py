"""What comes of each pair of pieces when two mixes meet."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from simcore.enums import Side
from simcore.rulesets.force_order import kernel
from simcore.rulesets.force_order.attack import ANSWER_COLUMNS
from simcore.rulesets.force_order.edition import UNITS
from simcore.rulesets.force_order.encoding import encode
from simcore.rulesets.force_order.layout import OUTCOMES, ROW_FIELDS, FateRow, Result

if TYPE_CHECKING:
    from simcore.rulesets.force_order.params import ForceOrderScenario

__all__ = ["Pair", "pair_table"]

_DUELS = (Result.WIN, Result.LOSE, Result.TIE)


class Pair(NamedTuple):
    """Attacks of one unit on another.

    Attributes
    ----------
    attacker, defender : str
    share : float
        How often the two meet.
    outcomes : dict of str to float
        Probability of each outcome when they do.
    """

    attacker: str
    defender: str
    share: float
    outcomes: dict[str, float]


def pair_table(scenario: ForceOrderScenario) -> list[Pair]:
    """Return the exact outcomes of every pair of units that may meet.

    Parameters
    ----------
    scenario : ForceOrderScenario

    Returns
    -------
    list of Pair
        In table order of the attackers, then of the defenders; the shares add up to 1.

    Examples
    --------
    >>> from simcore.scenario import load_scenario
    >>> sides = {"attacker": {"units": "1 soldier5"}, "defender": {"units": "1 soldier4, 1 boat_small"}}
    >>> [(pair.defender, pair.share) for pair in pair_table(load_scenario({"ruleset": "force_order", **sides}))]
    [('soldier4', 0.5), ('boat_small', 0.5)]
    """
    mixes = encode([scenario])
    row, answer = np.zeros((1, len(ROW_FIELDS)), dtype=np.int8), np.zeros((1, ANSWER_COLUMNS), dtype=np.int8)
    sums: dict[tuple[int, int], list[float]] = {}
    attackers, defenders = (scenario.states(side) for side in Side)
    total = float(sum(state.weight for state in attackers) * sum(state.weight for state in defenders))
    for a, own in enumerate(attackers):
        for d, other in enumerate(defenders):
            place = UNITS.index(own.unit), UNITS.index(other.unit)
            found = sums.setdefault(place, [0.0] * len(OUTCOMES))
            given = int(mixes.given[0])
            chances = mixes.chances[0, place[0], place[1]] if given == Result.BY_RANK else np.eye(3)[given - Result.WIN]
            for result, chance in zip(_DUELS, chances.tolist(), strict=True):
                if chance:
                    kernel.meet(mixes, 0, a, d, int(result), row, answer)
                    found[answer[0, FateRow.OUTCOME]] += own.weight * other.weight * chance / total
    return [
        Pair(
            UNITS[own],
            UNITS[other],
            sum(found),
            {name: part / sum(found) for name, part in zip(OUTCOMES, found, strict=True) if part},
        )
        for (own, other), found in sorted(sums.items())
    ]
