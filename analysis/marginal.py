"""The verb ``value``: what one more of a unit adds to a side, and how much its order of losses matters.

Everything is exact. To compare units of different costs, what one more of a unit adds is set against what the same cost
adds when it is spent on more of what the side already has, on each of its units in proportion to its cost.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from analysis.battery import Battery, read_frame
from analysis.estimators import percent_text
from analysis.frames import SIDES
from analysis.wording import clean, figure_text, points_text, short_label, wrapped
from simcore.argument import check_choice, check_names
from simcore.errors import ScenarioError
from simcore.unittext import format_units

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

__all__ = ["Worth", "value"]

_MOST_ORDERS: Final = 720
"""Orders of loss that are tried: those of six types of unit."""
_TEXT_WIDTH: Final = 80


@dataclass(frozen=True, eq=False, repr=False)
class Worth:
    """What the units of one side are worth in one battle.

    Attributes
    ----------
    side : str
        Whose units.
    attacker, defender : str
        The two unit lists.
    win_share, swing : float
        The side's probability of winning, and its expected swing: the enemy's cost lost minus its own.
    units : DataFrame
        One row per unit that the side could have one more of: ``unit``, ``cost``, ``number`` (it has already);
        ``win_share`` and ``swing``, what one more adds to them; ``win_share_equal_cost`` and ``swing_equal_cost``, the
        same beyond what an equal cost of the side's own units would add; ``loses``, what one fewer takes from the win
        share (NaN where it has none).
    orders : DataFrame
        One row per order of loss that was tried, the best first: ``order``, ``win_share``, ``swing``; empty where the
        ruleset has no such choice or the side has a single type of unit.
    order_note : str
        Why no orders, or not all of them, were tried.
    solved : int
        Battles that were solved.
    """

    side: str
    attacker: str
    defender: str
    win_share: float
    swing: float
    units: pd.DataFrame
    orders: pd.DataFrame
    order_note: str
    solved: int

    @property
    def order_range(self) -> float:
        """How much the order of losses can change the win share; 0 where there is nothing to choose."""
        return float(np.ptp(self.orders["win_share"])) if len(self.orders) else 0.0

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """The tables by the names under which they are exported."""
        return {"values": self.units, "orders": self.orders}

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON-able values (NaN as None)."""
        return {
            "side": self.side,
            "attacker": self.attacker,
            "defender": self.defender,
            "method": "exact",
            "win_share": self.win_share,
            "swing": self.swing,
            "units": _records(self.units),
            "orders": _records(self.orders),
            "order_range": self.order_range,
            "order_note": self.order_note,
            "solved": self.solved,
        }

    def to_text(self, width: int = _TEXT_WIDTH) -> str:
        """Return the table for a terminal."""
        lines = wrapped(
            f"One more for the {self.side} in {clean(self.attacker)} attacking {clean(self.defender)} (exact): wins "
            f"{percent_text(self.win_share)}, swing {figure_text(self.swing, signed=True)}",
            width,
        )
        lines += [
            "points of the win share, and swing; “at equal cost”: beyond as much of its own units",
            f"{'unit':<16}{'has':>4}{'cost':>6}{'one more':>10}{'at equal cost':>15}{'swing':>8}{'at equal cost':>15}",
        ]
        for row in self.units.to_dict(orient="records"):
            lines.append(
                f"{row['unit']:<16}{row['number']:>4}{row['cost']:>6}{_points(row['win_share']):>10}"
                f"{_points(row['win_share_equal_cost']):>15}{_swing(row['swing']):>8}{_swing(row['swing_equal_cost']):>15}"
            )
        if len(self.orders):
            lines += ["", f"order of losses: wins {_ends(self.orders)}, a range of {100 * self.order_range:.1f} points"]
            for word, place in (("best", 0), ("worst", -1)):
                order = self.orders.iloc[place]
                lines.append(
                    f"  {word:<5} {percent_text(order['win_share']):>7}  {short_label(order['order'], width - 18)}"
                )
        if self.order_note:
            lines += wrapped(self.order_note, width)
        return "\n".join(lines)

    def __repr__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        head = f"One more for the {self.side}: {self.attacker} attacking {self.defender}"
        return f"<p>{escape(clean(head))}</p>" + self.units.to_html(
            index=False, escape=True, float_format=lambda number: f"{number:.4g}"
        )


def _points(share: float) -> str:
    return "–" if np.isnan(share) else points_text(share)


def _swing(amount: float) -> str:
    return "–" if np.isnan(amount) else figure_text(amount, signed=True)


def _ends(orders: pd.DataFrame) -> str:
    return f"{percent_text(orders['win_share'].min())} to {percent_text(orders['win_share'].max())}"


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    rows = table.astype(object).where(table.notna(), None).to_dict(orient="records")
    return [{str(key): cell for key, cell in row.items()} for row in rows]


def value(
    attacker: str | Mapping[str, Any] | None = None,
    defender: str | Mapping[str, Any] | None = None,
    *,
    scenario: Mapping[str, Any] | str | PathLike[str] | None = None,
    side: str = "attacker",
    units: Sequence[str] | None = None,
) -> Worth:
    """Return what one more of each unit adds to a side, and the range of its win share over the orders of loss.

    Parameters
    ----------
    attacker, defender : str or mapping, optional
        Unit lists; in place of those of the scenario.
    scenario : mapping or path, optional
        The battle, with its rules and policies.
    side : {"attacker", "defender"}
        Whose units are looked at.
    units : sequence of str, optional
        Units to add; all that the side may have when left out.

    Returns
    -------
    Worth

    Raises
    ------
    ScenarioError
        Names the argument, the value and what is allowed; also for a battle too large to be solved.

    Examples
    --------
    >>> found = value("3 infantry, 1 tank", "3 infantry", units=["tank"])
    >>> bool(found.units["win_share"].iloc[0] > 0)
    True
    """
    check_choice(side, SIDES, "side")
    frame = read_frame(scenario)
    for name, given in zip(SIDES, (attacker, defender), strict=True):
        if given is not None:
            frame[name] = {**frame.get(name, {}), "units": given}
    battery = Battery(frame)
    texts = [frame.get(name, {}).get("units", "") for name in SIDES]
    loaded = battery.load(*texts)
    both = [loaded.counts(number) for number in range(2)]
    return _Valuer(battery, frame, both, SIDES.index(side)).run(units)


class _Valuer:
    """Changes one side of a battle unit by unit."""

    def __init__(self, battery: Battery, frame: Mapping[str, Any], both: list[dict[str, int]], side: int) -> None:
        self.battery, self.frame, self.both, self.side = battery, frame, both, side
        self.own = both[side]
        if not self.own or not both[1 - side]:
            raise ScenarioError(
                "both sides need at least one unit", field=f"{SIDES[side if not self.own else 1 - side]}.units"
            )

    def _battle(self, own: Mapping[str, int]) -> tuple[dict[str, int], dict[str, int]]:
        ordered = {unit: own[unit] for unit in self.battery.units if own.get(unit)}
        sides = [ordered, self.both[1]] if self.side == 0 else [self.both[0], ordered]
        return sides[0], sides[1]

    def _figures(self, battles: Sequence[tuple[dict[str, int], dict[str, int]]]) -> list[tuple[float, float]]:
        tally = self.battery.solve(battles)
        sign = 1.0 if self.side == 0 else -1.0
        shares = self.battery.wins(tally, SIDES[self.side]).tolist()
        return list(zip(shares, (sign * self.battery.swing(tally)).tolist(), strict=True))

    def run(self, units: Sequence[str] | None) -> Worth:
        """Solve everything and put it together."""
        added = self._addable(units)
        costs = self.battery.costs([*added, *self.own])
        fewer = [unit for unit in self.own if sum(self.own.values()) > 1]
        own = list(self.own)
        battles = [self._battle(self.own)]
        battles += [self._battle({**self.own, unit: self.own.get(unit, 0) + 1}) for unit in (*added, *own)]
        battles += [self._battle({**self.own, unit: self.own[unit] - 1}) for unit in fewer]
        (base, *rest) = self._figures(battles)
        more, rest = rest[: len(added)], rest[len(added) :]
        grown, less = rest[: len(own)], dict(zip(fewer, rest[len(own) :], strict=True))
        rates = [self._rate(costs, [figures[k] - base[k] for figures in grown]) for k in range(2)]
        rows = [
            {
                "unit": unit,
                "cost": costs.get(unit, 0),
                "number": self.own.get(unit, 0),
                "win_share": figures[0] - base[0],
                "swing": figures[1] - base[1],
                "win_share_equal_cost": figures[0] - base[0] - costs.get(unit, 0) * rates[0],
                "swing_equal_cost": figures[1] - base[1] - costs.get(unit, 0) * rates[1],
                "loses": base[0] - less[unit][0] if unit in less else float("nan"),
            }
            for unit, figures in zip(added, more, strict=True)
        ]
        orders, note = self._orders()
        return Worth(
            side=SIDES[self.side],
            attacker=format_units(self.both[0]),
            defender=format_units(self.both[1]),
            win_share=base[0],
            swing=base[1],
            units=pd.DataFrame(rows),
            orders=orders,
            order_note=note,
            solved=self.battery.solved,
        )

    def _rate(self, costs: Mapping[str, int], gains: Sequence[float]) -> float:
        """Return what a point of cost adds when it is spent on the side's own units, on each by its share."""
        spent = sum(costs.get(unit, 0) * count for unit, count in self.own.items())
        if not spent:
            return float("nan")
        # A unit's share of the cost is its number times its cost; what it adds per point is its gain by its cost.
        return sum(count * gain for count, gain in zip(self.own.values(), gains, strict=True)) / spent

    def _addable(self, units: Sequence[str] | None) -> list[str]:
        """Return the units of which the side may have one more."""
        if units is not None:
            found: dict[str, None] = {}
            for place, unit in enumerate(check_names(units, "units", "units")):
                counts = self.battery.read({unit: 1}, SIDES[self.side], self.both[1 - self.side], f"units[{place}]")
                found |= dict.fromkeys(counts)
            return list(found)
        possible = []
        for unit in self.battery.units:
            try:
                self.battery.load(*self._battle({**self.own, unit: self.own.get(unit, 0) + 1}))
            except ScenarioError:
                continue
            possible.append(unit)
        return possible

    def _orders(self) -> tuple[pd.DataFrame, str]:
        """Try the orders in which the side may lose its units."""
        empty = pd.DataFrame(columns=["order", "win_share", "swing"])
        model = self.battery.ruleset.scenario_model.model_fields[SIDES[self.side]].annotation
        if "loss_order" not in getattr(model, "model_fields", {}):
            return empty, "In this ruleset a side does not choose its order of losses."
        kinds = list(self.own)
        if len(kinds) == 1:
            return empty, ""
        number = math.factorial(len(kinds))
        if number > _MOST_ORDERS:
            return empty, f"{number:,} orders of losses were not tried: more than {_MOST_ORDERS}."
        rows = []
        for order in itertools.permutations(kinds):
            side = {**self.frame.get(SIDES[self.side], {}), "loss_order": list(order)}
            battery = Battery({**self.frame, SIDES[self.side]: side})
            tally = battery.solve([self._battle(self.own)])
            self.battery.solved += battery.solved
            sign = 1.0 if self.side == 0 else -1.0
            rows.append(
                {
                    "order": ", ".join(order),
                    "win_share": float(battery.wins(tally, SIDES[self.side])[0]),
                    "swing": sign * float(battery.swing(tally)[0]),
                }
            )
        table = pd.DataFrame(rows).sort_values(
            ["win_share", "swing"], ascending=False, kind="stable", ignore_index=True
        )
        return table, ""
