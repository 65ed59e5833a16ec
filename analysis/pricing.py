"""The verb ``price``: what a unit would have to cost for its equal-cost duels to be even.

A number of enemies of one kind stands against n of the unit, and n is what makes the two sides win equally often. The
cost of the enemies divided by that n is the fair price against them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from analysis.battery import Battery, Counts, read_frame
from analysis.frames import SIDES, Run, load
from analysis.wording import clean, figure_text, wrapped
from analysis.writing import replacing
from simcore.argument import check_names
from simcore.errors import ScenarioError, StoreError, suggestion
from simcore.model import shown

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

__all__ = ["PRICE_FIGURES", "SIZES", "Prices", "price", "price_run", "read_prices", "stored_prices"]

SIZES: Final = (4, 8, 12)
"""Numbers of enemies."""
_MOST_UNITS: Final = 40
"""Units per enemy beyond which nothing is looked for."""
_MOST_ENEMIES: Final = 200
_DECIDED: Final = 1e-6
"""Battles that anybody wins; with fewer an even duel is no duel."""
_TEXT_WIDTH: Final = 80
_FILE: Final = "prices.json"
PRICE_FIGURES: Final = ("cost", "price", "attacker", "defender", "low", "high", "ratio")
"""What is a number, or not known, in a row of ``Prices.units``."""
_UNIT_COLUMNS: Final = ("unit", *PRICE_FIGURES, "remark")
_DUEL_COLUMNS: Final = ("unit", "enemy", "size", "role", "even_number", "price")
_MOST_PRICE: Final = 1e15
"""Beyond it no file holds a price."""


@dataclass(frozen=True, eq=False, repr=False)
class Prices:
    """Fair prices of units.

    Attributes
    ----------
    ruleset, edition : str
        The rules.
    enemies : tuple of str
        Units that the duels were fought against.
    sizes : tuple of int
        How many of them.
    units : DataFrame
        One row per unit: ``unit``, ``cost`` (as listed), ``price`` (the mean over both roles, all enemies and sizes),
        ``attacker`` and ``defender`` (the mean in that role), ``low`` and ``high`` (the extremes over enemies and sizes
        of the mean of both roles), ``ratio`` (price by cost) and ``remark``, which says why something is missing.
    duels : DataFrame
        One row per unit, enemy, size and role: ``unit``, ``enemy``, ``size``, ``role``, ``even_number`` (how many are
        as good as the enemies) and ``price``.
    solved : int
        Battles that were solved.
    """

    ruleset: str
    edition: str
    enemies: tuple[str, ...]
    sizes: tuple[int, ...]
    units: pd.DataFrame
    duels: pd.DataFrame
    solved: int

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """The tables by the names under which they are exported."""
        return {"prices": self.units, "duels": self.duels}

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON-able values (NaN as None)."""
        return {
            "ruleset": self.ruleset,
            "edition": self.edition,
            "method": "exact",
            "enemies": list(self.enemies),
            "sizes": list(self.sizes),
            "solved": self.solved,
            "units": _records(self.units),
            "duels": _records(self.duels),
        }

    def to_text(self, width: int = _TEXT_WIDTH) -> str:
        """Return the table for a terminal."""
        sizes = ", ".join(map(str, self.sizes))
        lines = wrapped(
            f"Fair prices: {clean(self.ruleset)}, edition {clean(self.edition)}, exact duels against {sizes} "
            f"{' and '.join(self.enemies)} at their listed cost",
            width,
        )
        lines.append(f"{'unit':<18}{'cost':>6}{'price':>8}{'ratio':>7}{'attacking':>11}{'defending':>11}{'range':>16}")
        for row in self.units.to_dict(orient="records"):
            bounds = "–" if np.isnan(row["low"]) else f"{figure_text(row['low'])} to {figure_text(row['high'])}"
            lines.append(
                f"{row['unit']:<18}{row['cost']:>6}{figure_text(row['price']):>8}{figure_text(row['ratio']):>7}"
                f"{figure_text(row['attacker']):>11}{figure_text(row['defender']):>11}{bounds:>16}"
            )
        for row in self.units.to_dict(orient="records"):
            if row["remark"]:
                lines += wrapped(f"{row['unit']}: {row['remark']}", width, indent="  ")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        caption = f"Fair prices against {', '.join(self.enemies)} ({self.ruleset}, edition {self.edition})"
        return f"<p>{escape(clean(caption))}</p>" + self.units.to_html(
            index=False, escape=True, float_format=lambda value: f"{value:.3g}"
        )


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    rows = table.astype(object).where(table.notna(), None).to_dict(orient="records")
    return [{str(key): value for key, value in row.items()} for row in rows]


@dataclass
class _Search:
    """Looks for the number of units at which a duel is even, by halving between a loss and a win."""

    unit: str
    enemy: str
    size: int
    role: str
    most: int
    low: int = 0
    high: int | None = None
    # No units at all lose for certain.
    lead_low: float = -1.0
    lead_high: float = float("nan")
    is_idle: bool = False
    """Whether nobody wins where nobody loses."""

    @property
    def number(self) -> int:
        """The number to try next."""
        if self.high is None:
            return min(max(2 * self.low, self.size), self.most)
        return (self.low + self.high) // 2

    @property
    def is_open(self) -> bool:
        """Whether there is something to try."""
        return self.low < self.most if self.high is None else self.high - self.low > 1

    @property
    def battle(self) -> tuple[Counts, Counts]:
        """The battle to solve next."""
        own, enemies = {self.unit: self.number}, {self.enemy: self.size}
        return (own, enemies) if self.role == "attacker" else (enemies, own)

    def answer(self, wins: float, losses: float) -> None:
        """Take in how often `number` of the unit win and lose."""
        lead = wins - losses
        if lead >= 0.0:
            self.high, self.lead_high = self.number, lead
            self.is_idle = wins + losses < _DECIDED
        else:
            self.low, self.lead_low = self.number, lead

    @property
    def even(self) -> float:
        """Number at which both sides win equally often, on the straight line between its neighbours; NaN without."""
        if self.high is None or self.is_idle:
            return float("nan")
        return self.low + (0.0 - self.lead_low) / (self.lead_high - self.lead_low) * (self.high - self.low)


def price(
    units: Sequence[str] | None = None,
    *,
    against: Sequence[str] | None = None,
    sizes: Sequence[int] = SIZES,
    scenario: Mapping[str, Any] | str | PathLike[str] | None = None,
) -> Prices:
    """Return the fair prices of units: the cost at which their equal-cost duels are even.

    Parameters
    ----------
    units : sequence of str, optional
        Units to price; all of the edition that can fight in such a battle when left out.
    against : sequence of str, optional
        Kinds of enemies, whose listed costs are taken as right; by default the first unit of the edition's table that
        can fight on both sides.
    sizes : sequence of int
        How many enemies stand against the unit.
    scenario : mapping or path, optional
        Rules and policies that all duels share: ruleset, edition, terrain, ...

    Returns
    -------
    Prices

    Raises
    ------
    ScenarioError
        Names the argument, the value and what is allowed.

    Examples
    --------
    >>> found = price(["tank"], against=["infantry"], sizes=[4])
    >>> found.units["cost"].tolist()
    [5]
    """
    battery = Battery(read_frame(scenario))
    probe = battery.probe()
    known = battery.costs(battery.units)
    chosen = tuple(known) if units is None else tuple(_known_units(units, known, "units"))
    enemies = (probe,) if against is None else tuple(_known_units(against, known, "against"))
    for enemy in enemies:
        if known[enemy] <= 0:
            raise ScenarioError(f"{enemy} costs {known[enemy]}; an enemy needs a cost above 0", field="against")
    numbers = _sizes(sizes)
    found, remarks = _searches(battery, chosen, enemies, numbers)
    while waiting := [search for search in found if search.is_open]:
        tally = battery.solve([search.battle for search in waiting])
        shares = zip(*(battery.wins(tally, side).tolist() for side in SIDES), strict=True)
        for search, (attacker, defender) in zip(waiting, shares, strict=True):
            search.answer(*((attacker, defender) if search.role == "attacker" else (defender, attacker)))
    duels = pd.DataFrame(
        [
            {
                "unit": search.unit,
                "enemy": search.enemy,
                "size": search.size,
                "role": search.role,
                "even_number": search.even,
                "price": search.size * known[search.enemy] / search.even if search.even > 0.0 else float("nan"),
            }
            for search in found
        ],
        columns=list(_DUEL_COLUMNS),
    )
    rows = [_summed(unit, known[unit], duels[duels["unit"] == unit], remarks.get(unit, "")) for unit in chosen]
    if units is None:
        rows = [row for row in rows if (duels["unit"] == row["unit"]).any()]
    scenario_of = battery.load({probe: 1}, {probe: 1})
    return Prices(battery.ruleset.id, scenario_of.edition, enemies, numbers, pd.DataFrame(rows), duels, battery.solved)


def price_run(
    folder: str | PathLike[str] | Run,
    *,
    units: Sequence[str] | None = None,
    against: Sequence[str] | None = None,
    sizes: Sequence[int] = SIZES,
) -> Prices:
    """Price the units of a finished sweep under its own rules, and keep the answer beside it for the report.

    Policies of the sides and the first values of the grid are part of the rules.

    Parameters
    ----------
    folder : path or Run
        Results folder of the sweep.
    units : sequence of str, optional
        Units to price; those of its mixes when left out.
    against, sizes
        As in `price`.

    Returns
    -------
    Prices
        Stored as ``prices.json`` in the folder.

    Raises
    ------
    ScenarioError, StoreError
        As `price` and ``analysis.load`` do, and where the file cannot be written.
    """
    run = folder if isinstance(folder, Run) else load(folder)
    frame = _frame(run)
    if units is None:
        # Units that are only possible on one side, or not alone, are named in the answer with the reason.
        names = {part.split(" ", 1)[-1] for text in run.mixes["units"].unique() for part in str(text).split(", ")}
        units = [unit for unit in Battery(frame).units if unit in names]
    found = price(units, against=against, sizes=sizes, scenario=frame)
    path = run.path / _FILE
    content = {"sweep": _digest(run), **found.to_dict()}
    text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    with replacing(path) as file:
        file.write(text.encode())
    return found


def _frame(run: Run) -> dict[str, Any]:
    """Return the rules of a sweep at the first point of its grid, as a scenario without units."""
    from simcore.run.plan import plan_sweep  # noqa: PLC0415 - imports numba
    from simcore.scenario import load_sweep  # noqa: PLC0415 - imports pydantic

    source = run.path / "manifest.json"
    sweep = run.manifest.get("sweep", {})
    if not isinstance(sweep, dict):
        raise StoreError(f'{source}: damaged, "sweep" is not a table')
    plan = plan_sweep(load_sweep(sweep, source=str(source)))
    table = dict(plan.ruleset.plain(plan.scenario(0)))
    for side in SIDES:
        table[side] = {key: entry for key, entry in table.get(side, {}).items() if key != "units"}
    return table


def _digest(run: Run) -> str:
    text = json.dumps(run.manifest.get("sweep"), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def stored_prices(run: Run) -> dict[str, Any] | None:
    """Return what `price_run` left in a run's folder, as ``Prices.to_dict`` gave it.

    Parameters
    ----------
    run : Run

    Returns
    -------
    dict or None
        None where there is nothing, or it belongs to another sweep than the folder holds now.

    Raises
    ------
    StoreError
        If the file is damaged.
    """
    path = run.path / _FILE
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreError(f"{path}: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise StoreError(
            f"{path}: damaged, not JSON ({error}); make it again with: simcore price {run.path}"
        ) from error
    if not _is_price_table(content):
        raise StoreError(f"{path}: damaged, not a table of prices; make it again with: simcore price {run.path}")
    return content if content.get("sweep") == _digest(run) else None


def read_prices(run: Run) -> dict[str, pd.DataFrame]:
    """Return the tables of the prices that `price_run` left in a run's folder.

    Parameters
    ----------
    run : Run

    Returns
    -------
    dict
        As ``Prices.tables``.

    Raises
    ------
    ScenarioError
        Where there are none of this sweep.
    StoreError
        If the file is damaged.
    """
    found = stored_prices(run)
    if found is None:
        raise ScenarioError(f"{run.path} has no prices; make them with: simcore price {run.path}", field="table")
    return {
        "prices": pd.DataFrame(found["units"], columns=list(_UNIT_COLUMNS)),
        "duels": pd.DataFrame(found["duels"], columns=list(_DUEL_COLUMNS)),
    }


def _is_price_table(content: object) -> bool:
    """Say whether what was read from a file has the form of ``Prices.to_dict``."""
    if not isinstance(content, dict):
        return False
    parts: list[Any] = [content.get(name) for name in ("units", "duels", "enemies", "sizes")]
    if not all(isinstance(part, list) for part in parts):
        return False
    units, duels, enemies, sizes = parts
    return (
        all(isinstance(row, dict) and isinstance(row.get("unit"), str) for row in (*units, *duels))
        and all(_is_figure(row.get(name)) for row in units for name in PRICE_FIGURES)
        and all(isinstance(row.get(name), str) for row in duels for name in ("enemy", "role"))
        and all(_is_figure(row.get(name)) for row in duels for name in ("size", "even_number", "price"))
        and all(isinstance(enemy, str) for enemy in enemies)
        and all(_is_figure(size) for size in sizes)
    )


def _is_figure(value: object) -> bool:
    """Say whether a value of a file is a number that a float can hold, or unknown."""
    if value is None:
        return True
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= _MOST_PRICE


def _known_units(units: Sequence[str], known: Mapping[str, int], field: str) -> list[str]:
    named = check_names(units, field, "units")
    for unit in named:
        if unit not in known:
            near = suggestion(unit, known)
            raise ScenarioError(f"no unit {shown(unit)} with a cost{near}; known: {', '.join(known)}", field=field)
    return list(dict.fromkeys(named))


def _sizes(sizes: object) -> tuple[int, ...]:
    if not isinstance(sizes, Sequence) or isinstance(sizes, str | bytes) or not sizes:
        raise ScenarioError(f"must be a list of whole numbers, got {shown(sizes)}", field="sizes")
    for size in sizes:
        if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= _MOST_ENEMIES:
            raise ScenarioError(f"must be whole numbers from 1 to {_MOST_ENEMIES}, got {shown(size)}", field="sizes")
    return tuple(dict.fromkeys(sizes))


def _searches(
    battery: Battery, units: Sequence[str], enemies: Sequence[str], sizes: Sequence[int]
) -> tuple[list[_Search], dict[str, str]]:
    """Return the searches of those units and roles that are possible, and why others are not."""
    found: list[_Search] = []
    remarks: dict[str, str] = {}
    for unit in units:
        for enemy in enemies:
            for role in SIDES:
                sides = ({unit: 1}, {enemy: 1}) if role == "attacker" else ({enemy: 1}, {unit: 1})
                try:
                    battery.load(*sides)
                except ScenarioError as problem:
                    remarks[unit] = f"no {role} against {enemy}: {problem.problem}"
                    continue
                found += [_Search(unit, enemy, size, role, _MOST_UNITS * size) for size in sizes]
    return found, remarks


def _summed(unit: str, cost: int, duels: pd.DataFrame, remark: str) -> dict[str, Any]:
    """Condense the duels of a unit: first over the two roles, then over enemies and sizes."""
    # A pair of roles of which one has no even number has no mean.
    pairs = duels.groupby(["enemy", "size"], sort=False)["price"].agg(lambda prices: prices.mean(skipna=False))
    roles = {role: duels.loc[duels["role"] == role, "price"] for role in SIDES}
    never = [role for role in SIDES if roles[role].isna().any()]
    texts = [remark] if remark else []
    texts += [
        f"as {role} never even: with up to {_MOST_UNITS} for each enemy it loses, or nobody wins" for role in never
    ]
    mean = float(pairs.mean(skipna=False)) if len(pairs) else float("nan")
    return {
        "unit": unit,
        "cost": cost,
        "price": mean,
        **{role: float(prices.mean(skipna=False)) if len(prices) else float("nan") for role, prices in roles.items()},
        "low": float(pairs.min(skipna=False)) if len(pairs) else float("nan"),
        "high": float(pairs.max(skipna=False)) if len(pairs) else float("nan"),
        "ratio": mean / cost if cost else float("nan"),
        "remark": "; ".join(texts),
    }
