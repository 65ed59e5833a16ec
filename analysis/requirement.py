"""The verb ``need``: the cheapest mixes that win, capture or hold with at least a stated chance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.battery import Battery, Counts, read_frame
from analysis.estimators import percent_text
from analysis.frames import SIDES
from analysis.wording import clean, count_text, plural, short_label, wrapped
from simcore.argument import check_choice, check_flag, check_names
from simcore.errors import ScenarioError
from simcore.model import shown
from simcore.run.mix import count_mixes, list_mixes
from simcore.unittext import format_units

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from os import PathLike

__all__ = ["GOALS", "Need", "need"]

FloatArray = npt.NDArray[np.float64]
Mix = tuple[int, ...]

GOALS: Final = ("win", "capture", "hold")
"""What the mix has to do: win by the ruleset's own count, take the territory, or keep it from being taken."""
_ROUNDING: Final = 1e-12
_MOST_WEIGHT: Final = 1e9
_MOST_UNITS: Final = 40
_MOST_MIXES: Final = 20_000
_TIMES_THE_ENEMY: Final = 3
_BATCH: Final = 128
_TEXT_WIDTH: Final = 80


@dataclass(frozen=True, eq=False, repr=False)
class Need:
    """The cheapest mixes that do what is asked.

    Attributes
    ----------
    side : str
        Whose mixes they are.
    goal : str
        One of `GOALS`.
    chance : float
        The least probability asked for.
    enemies : DataFrame
        ``units`` and ``weight`` of the forces they stand against.
    is_each : bool
        Whether the chance is asked for against each of them, not on the weighted average.
    max_cost, max_units : int
        How far was looked.
    cost : int or None
        Cost of the cheapest mixes; None where none within these limits will do.
    mixes : DataFrame
        All mixes of that cost that do it, the surest first: ``units``, ``cost``, ``chance`` and ``worst``, the chance
        against the enemy that suits it least.
    nearest : DataFrame
        The mix that came closest for less (or, without a solution, at all), with the same columns; one row or none.
    method : str
        How all cheaper mixes were ruled out.
    tried, solved : int
        Mixes that were looked at, and battles solved for them.
    """

    side: str
    goal: str
    chance: float
    enemies: pd.DataFrame
    is_each: bool
    max_cost: int
    max_units: int
    cost: int | None
    mixes: pd.DataFrame
    nearest: pd.DataFrame
    method: str
    tried: int
    solved: int

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """The tables by the names under which they are exported."""
        return {"needed": self.mixes, "nearest": self.nearest, "enemies": self.enemies}

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON-able values."""
        return {
            "side": self.side,
            "goal": self.goal,
            "chance": self.chance,
            "enemies": self.enemies.to_dict(orient="records"),
            "each": self.is_each,
            "max_cost": self.max_cost,
            "max_units": self.max_units,
            "cost": self.cost,
            "mixes": self.mixes.to_dict(orient="records"),
            "nearest": self.nearest.to_dict(orient="records"),
            "method": self.method,
            "tried": self.tried,
            "solved": self.solved,
        }

    def to_text(self, width: int = _TEXT_WIDTH) -> str:
        """Return the answer for a terminal."""
        enemies = self.enemies.to_dict(orient="records")
        names = "; ".join(
            clean(row["units"]) + (f" (weight {row['weight']:g})" if len(enemies) > 1 else "") for row in enemies
        )
        how = "" if len(enemies) == 1 else " each" if self.is_each else " on average"
        role = "attacking" if self.side == "attacker" else "defending against"
        asked = f"To {self.goal}{how} with a chance of {percent_text(self.chance)} or more, {role} {names}"
        lines = wrapped(asked, width, indent="  ")
        if self.cost is None:
            limits = f"cost {count_text(self.max_cost)}, {plural(self.max_units, 'unit', 'units')}"
            lines += ["", *wrapped(f"no mix within the limits ({limits}) will do", width)]
        else:
            lines += ["", f"cost {count_text(self.cost)}: {plural(len(self.mixes), 'mix', 'mixes')}"]
        lines += _rows(self.mixes, width)
        if len(self.nearest):
            lines += ["closest for less:" if self.cost is not None else "closest:", *_rows(self.nearest, width)]
        lines += ["", *wrapped(f"exact; {self.method}; {count_text(self.tried)} mixes tried", width)]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        cost = "none within the limits" if self.cost is None else f"cost {self.cost}"
        return f"<p>Needed to {escape(self.goal)}: {cost}</p>" + self.mixes.to_html(
            index=False, escape=True, float_format=lambda value: f"{value:.4f}"
        )


def _rows(table: pd.DataFrame, width: int) -> list[str]:
    room = max(width - 30, 12)
    return [
        f"  {short_label(row['units'], room):<{room}}  {percent_text(row['chance']):>8}"
        + ("" if row["worst"] == row["chance"] else f"  worst {percent_text(row['worst']):>7}")
        for row in table.to_dict(orient="records")
    ]


def need(
    units: Sequence[str],
    against: str | Mapping[str, Any] | Sequence[str | Mapping[str, Any]],
    *,
    chance: float = 0.9,
    goal: str = "win",
    side: str = "attacker",
    each: bool = False,
    max_cost: int | None = None,
    max_units: int = _MOST_UNITS,
    scenario: Mapping[str, Any] | str | PathLike[str] | None = None,
) -> Need:
    """Find the cheapest mixes of some units that do what is asked with at least a stated chance.

    Parameters
    ----------
    units : sequence of str
        Units that the mixes are made of.
    against : str, mapping or sequence of these
        The enemy: a unit list, or several, or tables ``{"units": ..., "weight": ...}``.
    chance : float
        Least probability, above 0 and at most 1; of several enemies the mean by their weights.
    goal : {"win", "capture", "hold"}
        To win; as attacker to take the territory; as defender to keep the attacker from taking it.
    side : {"attacker", "defender"}
        Whose mixes are looked for.
    each : bool
        Ask for the chance against every enemy instead of the mean.
    max_cost : int, optional
        Most that a mix may cost; three times the dearest enemy when left out.
    max_units : int
        Most units of a mix.
    scenario : mapping or path, optional
        Rules and policies: ruleset, edition, terrain, ... Units in it are ignored.

    Returns
    -------
    Need

    Raises
    ------
    ScenarioError
        Names the argument, the value and what is allowed; also when there are too many mixes to try.

    Examples
    --------
    >>> found = need(["infantry", "tank"], "2 infantry", chance=0.8)
    >>> found.cost, found.mixes["units"].tolist()
    (11, ['2 infantry, 1 tank'])
    """
    check_choice(side, SIDES, "side")
    check_choice(goal, GOALS, "goal")
    _check_chance(chance)
    wrong = {"capture": "defender", "hold": "attacker"}.get(goal)
    if wrong == side:
        raise ScenarioError(f'only the {SIDES[1 - SIDES.index(side)]} can ask for this; use "win"', field="goal")
    battery = Battery(read_frame(scenario))
    search = _Search(
        battery, units, against, side=side, goal=goal, chance=float(chance), is_each=check_flag(each, "each")
    )
    search.limit(max_cost, max_units)
    return search.run()


def _check_chance(chance: object) -> None:
    if isinstance(chance, bool) or not isinstance(chance, int | float) or not 0.0 < chance <= 1.0:
        raise ScenarioError(f"must be a number above 0 and at most 1, got {shown(chance)}", field="chance")


def _check_whole(value: object, field: str, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise ScenarioError(f"must be a whole number from 1 to {most:,}, got {shown(value)}", field=field)
    return value


class _Search:
    """Tries mixes in an order that proves the cheapest one to be the cheapest."""

    def __init__(
        self,
        battery: Battery,
        units: Sequence[str],
        against: object,
        *,
        side: str,
        goal: str,
        chance: float,
        is_each: bool,
    ) -> None:
        self.battery, self.side, self.goal, self.chance, self.is_each = battery, side, goal, chance, is_each
        self.enemy_side = SIDES[1 - SIDES.index(side)]
        self.units, self.prices = self._read_units(units)
        self.enemies, weights = self._read_enemies(against)
        self.weights = np.array(weights) / sum(weights)
        self.max_cost = self.max_units = 0
        self._tried: dict[Mix, tuple[float, float]] = {}

    def _read_units(self, units: Sequence[str]) -> tuple[tuple[str, ...], tuple[int, ...]]:
        named = check_names(units, "units", "units")
        probe = self.battery.probe()
        found: dict[str, None] = {}
        for place, unit in enumerate(named):
            counts = self.battery.read({unit: 1}, self.side, {probe: 1}, f"units[{place}]")
            found |= dict.fromkeys(counts)
        names = tuple(unit for unit in self.battery.units if unit in found)
        costs = self.battery.costs(names)
        for unit in names:
            if costs.get(unit, 0) <= 0:
                raise ScenarioError(f"{unit} costs nothing, so that there is no cheapest mix", field="units")
        return names, tuple(costs[unit] for unit in names)

    def _read_enemies(self, against: object) -> tuple[list[dict[str, int]], list[float]]:
        if not isinstance(against, str | Mapping | Sequence):
            raise ScenarioError(f"must be a unit list or a list of such, got {shown(against)}", field="against")
        entries: list[Any] = [against] if isinstance(against, str | Mapping) else list(against)
        if not entries:
            raise ScenarioError("needs at least one enemy", field="against")
        enemies, weights = [], []
        for place, entry in enumerate(entries):
            field = "against" if len(entries) == 1 else f"against[{place}]"
            is_table = isinstance(entry, Mapping) and "units" in entry
            units, weight = (entry["units"], entry.get("weight", 1.0)) if is_table else (entry, 1.0)
            if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0.0 <= weight <= _MOST_WEIGHT:
                raise ScenarioError(
                    f"must be a number from 0 to {_MOST_WEIGHT:,.0f}, got {shown(weight)}", field=f"{field}.weight"
                )
            counts = self.battery.read(units, self.enemy_side, {self.units[0]: 1}, field)
            if not counts:
                raise ScenarioError("must hold at least one unit", field=field)
            if weight > 0.0:
                enemies.append(counts)
                weights.append(float(weight))
        if not enemies:
            raise ScenarioError("all weights are 0", field="against")
        return enemies, weights

    def limit(self, max_cost: int | None, max_units: int) -> None:
        """Set how far to look."""
        self.max_units = _check_whole(max_units, "max_units", 500)
        if max_cost is None:
            number = SIDES.index(self.enemy_side)
            dearest = max(self._scenario({self.units[0]: 1}, enemy).cost(number) for enemy in self.enemies)
            max_cost = max(_TIMES_THE_ENEMY * dearest, *self.prices)
        self.max_cost = _check_whole(max_cost, "max_cost", 1_000_000)

    def _scenario(self, own: Counts, enemy: Counts) -> Any:
        return self.battery.load(*(self._sides(own, enemy)))

    def _sides(self, own: Counts, enemy: Counts) -> tuple[dict[str, int], dict[str, int]]:
        return (dict(own), dict(enemy)) if self.side == "attacker" else (dict(enemy), dict(own))

    # ------------------------------------------------------------------------------------------ trying

    def _counts(self, mix: Mix) -> dict[str, int]:
        return {unit: count for unit, count in zip(self.units, mix, strict=True) if count}

    def _try(self, mixes: Iterable[Mix], *, until_first: bool) -> bool:
        """Solve the battles of mixes; return whether one of them will do, at once if that is enough."""
        waiting = [mix for mix in mixes if mix not in self._tried]
        found = any(self._does(mix) for mix in mixes)
        if found and until_first:
            return True
        for first in range(0, len(waiting), _BATCH):
            batch = waiting[first : first + _BATCH]
            battles = [self._sides(self._counts(mix), enemy) for mix in batch for enemy in self.enemies]
            tally = self.battery.solve(battles)
            chances = self._chances(tally).reshape(len(batch), len(self.enemies))
            means, worst = chances @ self.weights, chances.min(axis=1)
            self._tried |= dict(zip(batch, zip(means.tolist(), worst.tolist(), strict=True), strict=True))
            if any(self._does(mix) for mix in batch):
                found = True
                if until_first:
                    return True
        return found

    def _chances(self, tally: FloatArray) -> FloatArray:
        if self.goal == "win":
            return self.battery.wins(tally, self.side)
        captures = self.battery.captures(tally)
        return captures if self.goal == "capture" else 1.0 - captures

    def _does(self, mix: Mix) -> bool:
        if mix not in self._tried:
            return False
        mean, worst = self._tried[mix]
        return (worst if self.is_each else mean) >= self.chance - _ROUNDING

    # ------------------------------------------------------------------------------------------ searching

    def run(self) -> Need:
        """Find the least cost, and everything that does it for that."""
        if self._is_monotone():
            cost = self._halve()
            method = "a unit more never hurts here, so only mixes that cannot be added to were tried for each cost"
        else:
            cost = self._climb()
            method = "all mixes were tried, cheapest first"
        if cost is not None:
            self._try(self._of(cost, cost), until_first=False)
        return self._answer(cost, method)

    def _is_monotone(self) -> bool:
        """Return whether the rules prove that more units never lower the chance."""
        everything = dict.fromkeys(self.units, 1)
        return all(self.battery.ruleset.more_never_hurts(self._scenario(everything, enemy)) for enemy in self.enemies)

    def _of(self, low: int, high: int) -> list[Mix]:
        return list(list_mixes(self.prices, low, high, self.max_units))

    def _check_number(self, number: int | None, what: str) -> None:
        if number is None or number > _MOST_MIXES:
            many = "too many to count" if number is None else f"{number:,}"
            raise ScenarioError(
                f"there are {many} {what}, more than the {_MOST_MIXES:,} that are tried; "
                "take fewer kinds of units, or lower max_cost or max_units",
                field="units",
            )

    def _climb(self) -> int | None:
        """Try all mixes from the cheapest on."""
        self._check_number(count_mixes(self.prices, 1, self.max_cost, self.max_units), f"mixes up to {self.max_cost}")
        levels: dict[int, list[Mix]] = {}
        for mix in self._of(1, self.max_cost):
            levels.setdefault(sum(map(int.__mul__, mix, self.prices)), []).append(mix)
        for cost in sorted(levels):
            if self._try(levels[cost], until_first=False):
                return cost
        return None

    def _fullest(self, cost: int) -> Iterator[Mix]:
        """Yield the mixes within a cost to which nothing can be added, dearest first."""
        low = max(cost - min(self.prices) + 1, 1)
        number = count_mixes(self.prices, low, cost, self.max_units)
        self._check_number(number, f"mixes from {low} to {cost}")
        mixes = self._of(low, cost)
        if min(self.prices) * self.max_units < low:
            # Those with all the units that are allowed cannot be added to either, however cheap they are.
            self._check_number(count_mixes(self.prices, 1, low - 1, self.max_units), f"mixes up to {cost}")
            mixes += [mix for mix in self._of(1, low - 1) if sum(mix) == self.max_units]
        yield from sorted(mixes, key=lambda mix: -sum(map(int.__mul__, mix, self.prices)))

    def _halve(self) -> int | None:
        """Close in on the least cost at which a mix exists that will do; a dearer limit never has fewer such."""
        totals = sorted(
            {cost for cost in range(1, self.max_cost + 1) if count_mixes(self.prices, cost, cost, self.max_units)}
        )
        low, high = -1, min(len(totals) - 1, 4)
        while high < len(totals) - 1 and not self._reaches(totals[high]):
            low, high = high, min(2 * high + 1, len(totals) - 1)
        if not totals or not self._reaches(totals[high]):
            return None
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._reaches(totals[middle]) else (middle, high)
        return totals[high]

    def _reaches(self, cost: int) -> bool:
        return self._try(list(self._fullest(cost)), until_first=True)

    # ------------------------------------------------------------------------------------------ answering

    def _answer(self, cost: int | None, method: str) -> Need:
        does = [mix for mix in self._tried if self._does(mix) and self._cost(mix) == cost]
        fails = [mix for mix in self._tried if not self._does(mix) and (cost is None or self._cost(mix) < cost)]
        nearest = sorted(fails, key=lambda mix: -self._rank(mix))[:1]
        return Need(
            side=self.side,
            goal=self.goal,
            chance=self.chance,
            enemies=pd.DataFrame(
                {"units": [format_units(enemy) for enemy in self.enemies], "weight": self.weights.tolist()}
            ),
            is_each=self.is_each,
            max_cost=self.max_cost,
            max_units=self.max_units,
            cost=cost,
            mixes=self._frame(sorted(does, key=lambda mix: -self._rank(mix))),
            nearest=self._frame(nearest),
            method=method,
            tried=len(self._tried),
            solved=self.battery.solved,
        )

    def _cost(self, mix: Mix) -> int:
        return sum(map(int.__mul__, mix, self.prices))

    def _rank(self, mix: Mix) -> float:
        mean, worst = self._tried[mix]
        return worst if self.is_each else mean

    def _frame(self, mixes: Sequence[Mix]) -> pd.DataFrame:
        return pd.DataFrame(
            [
                {
                    "units": format_units(self._counts(mix)),
                    "cost": self._cost(mix),
                    "chance": min(self._tried[mix][0], 1.0),
                    "worst": min(self._tried[mix][1], 1.0),
                }
                for mix in mixes
            ],
            columns=["units", "cost", "chance", "worst"],
        )
