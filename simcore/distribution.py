"""The whole distribution of a battle: every way in which it may end, with its probability."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from simcore.enums import Side

if TYPE_CHECKING:
    from simcore.schema import Endings, Ruleset

__all__ = ["QUANTILES", "Distribution"]

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_SHOWN = 1e-4
"""Numbers of cycles less likely than this are not shown one by one."""
_SLACK = 1e-12
"""Rounding that a level is allowed: probabilities that sum up to exactly a half stay a half."""


@dataclass(frozen=True, eq=False)
class Distribution:
    """Every way in which a battle may end. E ends, S sides, T unit types, C numbers of cycles.

    Attributes
    ----------
    outcomes : tuple of str
    units : tuple of str
        Names of axis T.
    outcome : int8 (E,)
        Index into `outcomes`.
    survivors : int16 (E, S, T)
    cost_lost : int64 (E, S)
    chance : float64 (E,)
        Sums to 1 within rounding; no two ends are alike.
    cycle_chance : float64 (C,)
        Probability of each number of cycles; the last entry stands for that many or more.
    """

    outcomes: tuple[str, ...]
    units: tuple[str, ...]
    outcome: npt.NDArray[np.int8]
    survivors: npt.NDArray[np.int16]
    cost_lost: npt.NDArray[np.int64]
    chance: npt.NDArray[np.float64]
    cycle_chance: npt.NDArray[np.float64]

    @classmethod
    def from_endings(cls, ruleset: Ruleset, endings: Endings) -> Distribution:
        """Sort ends and add up those that are alike.

        Parameters
        ----------
        ruleset : Ruleset
        endings : Endings

        Returns
        -------
        Distribution
        """
        n = len(endings.chance)
        table = np.column_stack(
            (endings.outcome.astype(np.int64), endings.survivors.reshape(n, -1), endings.cost_lost.reshape(n, -1))
        )
        rows, place = np.unique(table, axis=0, return_inverse=True)
        chance = np.zeros(len(rows))
        np.add.at(chance, place.reshape(-1), endings.chance)
        types = len(ruleset.units)
        return cls(
            outcomes=ruleset.outcomes,
            units=ruleset.units,
            outcome=rows[:, 0].astype(np.int8),
            survivors=rows[:, 1 : 1 + 2 * types].reshape(-1, 2, types).astype(np.int16),
            cost_lost=rows[:, 1 + 2 * types :],
            chance=chance,
            cycle_chance=endings.cycle_chance,
        )

    def __len__(self) -> int:
        return len(self.chance)

    def __repr__(self) -> str:
        return f"Distribution({len(self):,} ends)"

    def _sums(self, values: npt.NDArray[np.int64]) -> dict[int, float]:
        found, place = np.unique(values, return_inverse=True)
        sums = np.zeros(len(found))
        np.add.at(sums, place, self.chance)
        return dict(zip(found.tolist(), sums.tolist(), strict=True))

    @property
    def swing(self) -> dict[int, float]:
        """Probability of each swing, the defender's cost lost minus the attacker's, in ascending order."""
        return self._sums(self.cost_lost[:, 1] - self.cost_lost[:, 0])

    def swing_quantiles(self, levels: tuple[float, ...] = QUANTILES) -> dict[float, int]:
        """Return quantiles of the swing.

        Parameters
        ----------
        levels : tuple of float
            Between 0 and 1.

        Returns
        -------
        dict of float to int
            For each level the smallest swing that is not exceeded with at least that probability.
        """
        swing = self.swing
        values, below = list(swing), np.cumsum(list(swing.values()))
        return {
            level: values[min(int(np.searchsorted(below, (level - _SLACK) * below[-1])), len(values) - 1)]
            for level in levels
        }

    @property
    def chance_of_loss(self) -> float:
        """Probability that the attacker loses more than the defender: of a swing below 0."""
        return sum(chance for value, chance in self.swing.items() if value < 0)

    @property
    def cycles(self) -> dict[str, float]:
        """Probability of each number of cycles; the last key ends in "+" where it stands for more of them too."""
        last = len(self.cycle_chance) - 1
        return {f"{n}{'+' if n == last else ''}": p for n, p in enumerate(self.cycle_chance.tolist()) if p > 0}

    def survivors_of(self, side: int, unit: str) -> dict[int, float]:
        """Return the probability of each number of surviving units of a type.

        Parameters
        ----------
        side : int
            0 attacker, 1 defender.
        unit : str
            A name in `units`.

        Returns
        -------
        dict of int to float
        """
        return self._sums(self.survivors[:, side, self.units.index(unit)].astype(np.int64))

    def _left(self, end: int, side: int) -> str:
        counts = self.survivors[end, side]
        return ", ".join(f"{counts[t]} {self.units[t]}" for t in np.flatnonzero(counts).tolist())

    def joint(self) -> list[dict[str, Any]]:
        """Return all ends, the most likely first: outcome, both sides' survivors as text, probability."""
        order = np.argsort(-self.chance, kind="stable")
        return [
            {
                "outcome": self.outcomes[self.outcome[end]],
                "attacker": self._left(end, Side.ATTACKER),
                "defender": self._left(end, Side.DEFENDER),
                "swing": int(self.cost_lost[end, 1] - self.cost_lost[end, 0]),
                "chance": float(self.chance[end]),
            }
            for end in order.tolist()
        ]

    def lines(self, most: int = 10) -> list[str]:
        """Return a summary as text: the most likely ends, and the numbers of cycles.

        Parameters
        ----------
        most : int
            Ends to name.

        Returns
        -------
        list of str
        """
        ends = self.joint()
        lines = [f"most likely of {len(ends):,} ends"]
        for end in ends[:most]:
            left = f"{end['attacker'] or 'nothing'} v {end['defender'] or 'nothing'}"
            lines.append(
                f"  {end['chance']:>8.3%}  {end['outcome'].replace('_', ' ')}: {left}, swing {end['swing']:+d}"
            )
        if len(ends) > most:
            lines.append(f"  {sum(end['chance'] for end in ends[most:]):>8.3%}  all others")
        lines.append("cycles")
        shown = [(n, p) for n, p in self.cycles.items() if p >= _SHOWN]
        lines += [f"  {p:>8.3%}  {n}" for n, p in shown]
        if len(shown) < len(self.cycles):
            lines.append(f"  {sum(p for p in self.cycles.values() if p < _SHOWN):>8.3%}  others")
        return lines

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON-able data."""
        return {
            "swing": {str(value): chance for value, chance in self.swing.items()},
            "cycles": self.cycles,
            "survivors": {
                side.name.lower(): {
                    unit: {str(n): chance for n, chance in self.survivors_of(side, unit).items()}
                    for t, unit in enumerate(self.units)
                    if self.survivors[:, side, t].any()
                }
                for side in Side
            },
            "ends": self.joint(),
        }

    def to_frame(self) -> Any:
        """Return a pandas frame with one row per end, the most likely first."""
        import pandas as pd  # noqa: PLC0415 - frames are optional here

        return pd.DataFrame(self.joint())
