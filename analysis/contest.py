"""The verb ``game``: which mixes a clever player would pick, which never, and how far one number ranks them.

The attacker picks a mix, the defender picks one without knowing it, and the matrix of a run says what happens.
Chance enters twice: in the battles, whose errors the run knows, and in the players' choice among their mixes.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis import ladder as ladders
from analysis.balance import Summary, summarize
from analysis.equilibrium import MOST_CELLS, averaged, domination, resampled, solve_game
from analysis.estimators import critical_value, percent_text
from analysis.frames import SIDES
from analysis.wording import clean, count_text, figure_text, plural, points_text, short_label, wrapped
from simcore.argument import check_choice
from simcore.errors import ScenarioError
from simcore.model import shown

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from analysis.frames import Run

__all__ = ["PAYOFFS", "Game", "game", "payoff_difference", "payoff_text"]

FloatArray = npt.NDArray[np.float64]

PAYOFFS: Final = ("win_share", "lead", "swing")
"""What the attacker wants much of: his share of wins, his lead over the defender's share, or his swing."""
_BOUNDS: Final = {"win_share": (0.0, 1.0), "lead": (-1.0, 1.0)}
_UNBOUNDED: Final = (-np.inf, np.inf)
_MARGIN: Final = 0.001
"""What the averaged strategies may give up, as a part of the payoffs' range."""
_SAMPLE_CELLS: Final = 400_000
"""Cells of all games together that are solved for the spread of the equilibrium."""
_MOST_SAMPLES: Final = 100
_LEAST_SAMPLES: Final = 20
_SAMPLES_ALLOWED: Final = 10_000
_RESTRICTED_CELLS: Final = 4_000_000
_SHOWN: Final = 8
_MOST_RESIDUALS: Final = 10
_TEXT_WIDTH: Final = 80
_MOST_TRIPLES_SIDE: Final = 3


@dataclass(frozen=True, eq=False, repr=False)
class Game:
    """The game between the mixes of a run at one grid point.

    Attributes
    ----------
    summary : Summary
        What it was made from.
    point : int
        The grid point.
    payoff : str
        What is played for: one of `PAYOFFS`, seen by the attacker.
    matrix : DataFrame
        The payoffs: attackers down, defenders across.
    value : float
        What the attacker makes sure of by mixing his mixes well, and the defender holds him to; NaN where the matrix is
        too large.
    lo_value, hi_value : float
        Interval from the resampled games; equal to `value` where the run is exact, NaN where none were drawn.
    field : dict of str to float
        How much an enemy who knows it can gain against each side that picks its mixes by their weights: the
        exploitability of "attacker" and "defender".
    mixes : DataFrame
        One row per side and mix: ``side``, ``mix``, ``units``, ``cost``, ``weight``; ``equilibrium``, the weight in the
        equilibrium, with ``lo_`` and ``hi_``; ``averaged``, the weight in the most even strategy that is as good within
        `margin`; ``regret``, what it loses against the other side's equilibrium; ``exploitability``, what it loses
        against the best reply; ``dominated_margin`` (0: not dominated, NaN: not looked for) and ``dominated_by``;
        ``strength`` in rating points with ``strength_se``.
    restricted : DataFrame
        One row per unit: ``unit``, and ``attacker``, ``defender``, ``both``: the value when that side, or neither, may
        bring it; NaN where nothing else is left to bring.
    residuals : DataFrame
        The matchups that fit the strengths worst: ``attacker``, ``defender``, ``share``, ``fitted``, ``residual``.
    explained : float
        Part of the deviance of the matrix that the strengths account for.
    reversals : float
        Of all pairs of mixes of a side and pairs of opponents, those in which the opponent decides who is better; the
        larger of both sides.
    reversal : tuple of str, or None
        Side, the two mixes and the two opponents of the clearest of these: the first mix is better against the first.
    cycles : float
        Of all triples of mixes that both sides have, those that beat each other in a circle; NaN without such.
    cycle : tuple of str, or None
        The clearest circle: each beats the next, the last the first.
    margin : float
        What the averaged strategies give up, in units of the payoff.
    samples : int
        Games that were resampled.
    notes : tuple of str
        What was left out, and why.
    """

    summary: Summary
    point: int
    payoff: str
    matrix: pd.DataFrame
    value: float
    lo_value: float
    hi_value: float
    field: dict[str, float]
    mixes: pd.DataFrame
    restricted: pd.DataFrame
    residuals: pd.DataFrame
    explained: float
    reversals: float
    reversal: tuple[str, str, str, str, str] | None
    cycles: float
    cycle: tuple[str, str, str] | None
    margin: float
    samples: int
    notes: tuple[str, ...]

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """The tables by the names under which they are exported."""
        return {"game": self.mixes, "restricted": self.restricted, "residuals": self.residuals}

    @property
    def label(self) -> str:
        """The grid point in words; empty without a grid."""
        return self.summary.grid_labels[self.point]

    def support(self, side: str) -> pd.DataFrame:
        """Return the mixes of a side that the equilibrium plays, those of the largest weights first."""
        table = self.mixes[(self.mixes["side"] == side) & (self.mixes["equilibrium"] > 0.0)]
        return table.sort_values("equilibrium", ascending=False, kind="stable")

    def dominated(self, side: str) -> pd.DataFrame:
        """Return the dominated mixes of a side, by the largest margins first."""
        table = self.mixes[(self.mixes["side"] == side) & (self.mixes["dominated_margin"] > 0.0)]
        return table.sort_values("dominated_margin", ascending=False, kind="stable")

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the matrix as JSON-able values (NaN as None)."""
        return {
            "name": self.summary.run.name,
            "grid_point": self.label or None,
            "payoff": self.payoff,
            "value": _plain(self.value),
            "interval": None if np.isnan(self.lo_value) else [self.lo_value, self.hi_value],
            "samples": self.samples,
            "field_exploitability": {side: _plain(loss) for side, loss in self.field.items()},
            "averaged_margin": self.margin,
            "mixes": _records(self.mixes),
            "restricted": _records(self.restricted),
            "ladder": {"explained": _plain(self.explained), "residuals": _records(self.residuals)},
            "reversals": {"share": _plain(self.reversals), "example": self.reversal},
            "cycles": {"share": _plain(self.cycles), "example": self.cycle},
            "notes": list(self.notes),
        }

    def to_text(self, width: int = _TEXT_WIDTH) -> str:
        """Return the game as text for a terminal."""
        return "\n".join(_lines(self, width))

    def __repr__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        kept = self.mixes[(self.mixes["equilibrium"] > 0.0) | (self.mixes["averaged"] > 0.01)]  # noqa: PLR2004 - 1 %
        columns = ["side", "mix", "equilibrium", "averaged", "regret", "exploitability", "strength"]
        head = (
            f"Game of <bdi>{escape(clean(self.summary.run.title))}</bdi>: value {payoff_text(self.value, self.payoff)}"
        )
        return f"<h4>{head}</h4>" + kept[columns].to_html(
            index=False, escape=True, float_format=lambda value: f"{value:.4g}"
        )


def game(
    run: Run | Summary | str | PathLike[str],
    *,
    payoff: str = "win_share",
    point: int = 0,
    samples: int | None = None,
    seed: int = 1,
) -> Game:
    """Solve the game between the mixes of a run.

    Parameters
    ----------
    run : Run, Summary or path
        A run, or the results folder of one.
    payoff : {"win_share", "lead", "swing"}
        What the attacker wants and the defender grudges him: his share of wins; that less the defender's; the mean of
        the defender's cost lost minus his own.
    point : int
        Grid point, in the order of ``summary.grid_labels``.
    samples : int, optional
        Games with payoffs drawn anew from their errors, for the intervals of value and weights; by default as many as
        take a moment, at most 100. An exact run needs none.
    seed : int
        Of those draws.

    Returns
    -------
    Game

    Raises
    ------
    ScenarioError
        For an unknown payoff or grid point, or a run in which no complete matrix is left.
    StoreError
        If a folder is given and cannot be read.

    Examples
    --------
    >>> game("results/land-30").support("attacker")  # doctest: +SKIP
    """
    summary = run if isinstance(run, Summary) else summarize(run)
    check_choice(payoff, PAYOFFS, "payoff")
    number = len(summary.grid_labels)
    if not number:
        raise ScenarioError("a game needs a matchup; this run has none", field=summary.run.name)
    _check_whole(point, "point", number - 1)
    if samples is not None:
        _check_whole(samples, "samples", _SAMPLES_ALLOWED)
    _check_whole(seed, "seed", 2**64 - 1)
    return _Solver(summary, point, payoff).solve(samples, seed)


def _check_whole(value: object, field: str, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
        raise ScenarioError(f"must be a whole number from 0 to {most}, got {shown(value)}", field=field)


class _Solver:
    """Takes the matrices of a grid point out of a summary and puts the answers together."""

    def __init__(self, summary: Summary, point: int, payoff: str) -> None:
        self.summary, self.point, self.payoff = summary, point, payoff
        self.notes: list[str] = []
        self.samples = 0
        table = summary.matchups[summary.grid_points == point]
        codes, names = zip(*(pd.factorize(table[side]) for side in SIDES), strict=True)
        self._codes, self._shape = codes, (len(names[0]), len(names[1]))
        self._table = table
        kept = self._complete(self._filled("lead"))
        self.kept = kept
        self.names = [[str(names[side][place]) for place in kept[side]] for side in (0, 1)]
        firsts = [table.drop_duplicates(side).set_index(side) for side in SIDES]
        facts = [first.loc[names_of] for first, names_of in zip(firsts, self.names, strict=True)]
        self.units = [[str(text) for text in fact[f"{side}_units"]] for fact, side in zip(facts, SIDES, strict=True)]
        self.costs = [fact[f"{side}_cost"].to_numpy(dtype=np.float64) for fact, side in zip(facts, SIDES, strict=True)]
        self.weights = [
            fact[f"{side}_weight"].to_numpy(dtype=np.float64) for fact, side in zip(facts, SIDES, strict=True)
        ]
        self.lead = self._cells("lead")
        self.lead_se = self._share_errors(lead=True)
        if payoff == "swing":
            self.matrix, self.errors = self._cells("swing_mean"), self._cells("swing_se")
        elif payoff == "lead":
            self.matrix, self.errors = self.lead, self.lead_se
        else:
            self.matrix, self.errors = self._cells("attacker_win_share"), self._share_errors(lead=False)
        self.errors = np.nan_to_num(self.errors)

    def _filled(self, column: str) -> FloatArray:
        matrix = np.full(self._shape, np.nan)
        matrix[self._codes] = self._table[column].to_numpy(dtype=np.float64, na_value=np.nan)
        return matrix

    def _cells(self, column: str) -> FloatArray:
        return self._filled(column)[np.ix_(*self.kept)]

    def _share_errors(self, *, lead: bool) -> FloatArray:
        """Return the standard errors of the attackers' shares, or of the leads; 0 where exact."""
        table = self._table
        own, enemy = (table[f"{side}_win_share"].to_numpy(dtype=np.float64, na_value=np.nan) for side in SIDES)
        battles = table["battles"].to_numpy(dtype=np.float64, na_value=np.nan)
        variance = own + enemy - (own - enemy) ** 2 if lead else own * (1.0 - own)
        with np.errstate(divide="ignore", invalid="ignore"):
            # Where all battles ended alike the next one may not: an error as if one of them had not.
            errors = np.where(battles > 0, np.sqrt(np.maximum(variance, 1.0 / battles) / battles), 0.0)
        matrix = np.zeros(self._shape)
        matrix[self._codes] = errors
        return matrix[np.ix_(*self.kept)]

    def _complete(self, matrix: FloatArray) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Return rows and columns of a part without gaps: mixes go one by one, those with most gaps first."""
        gaps = np.isnan(matrix)
        rows, columns = np.arange(matrix.shape[0]), np.arange(matrix.shape[1])
        while gaps.any():
            in_rows, in_columns = gaps.mean(axis=1), gaps.mean(axis=0)
            if in_rows.max() >= in_columns.max():
                rows, gaps = rows[in_rows < in_rows.max()], gaps[in_rows < in_rows.max()]
            else:
                columns, gaps = columns[in_columns < in_columns.max()], gaps[:, in_columns < in_columns.max()]
        if not len(rows) or not len(columns):
            raise ScenarioError(
                "a game needs mixes that all met each other; in this run no such part is left", field=self._place()
            )
        left = matrix.shape[0] + matrix.shape[1] - len(rows) - len(columns)
        if left:
            self.notes.append(
                f"{plural(left, 'mix is', 'mixes are')} left out of the game: not paired with all opponents, or failed."
            )
        return rows, columns

    def _place(self) -> str:
        label = self.summary.grid_labels[self.point]
        return self.summary.run.name + (f" at {label}" if label else "")

    def solve(self, samples: int | None, seed: int) -> Game:
        """Put everything together."""
        is_solved = self.matrix.size <= MOST_CELLS
        size = float(np.ptp(self.matrix)) or 1.0
        tables = [self._facts(side) for side in (0, 1)]
        value, bounds, field = float("nan"), (float("nan"), float("nan")), dict.fromkeys(SIDES, float("nan"))
        if is_solved:
            value, field = self._solve_equilibrium(tables, size)
            bounds = self._spread(tables, value, samples, seed)
        else:
            self.notes.append(
                f"The equilibrium was left out: {count_text(self.matrix.size)} cells are more than the "
                f"{count_text(MOST_CELLS)} that are solved."
            )
        ladder = self._fit(tables)
        cyclic, cycle = self._cycles()
        share, reversal = self._reversals()
        return Game(
            summary=self.summary,
            point=self.point,
            payoff=self.payoff,
            matrix=pd.DataFrame(self.matrix, index=self.names[0], columns=self.names[1]),
            value=value,
            lo_value=bounds[0],
            hi_value=bounds[1],
            field=field,
            mixes=pd.concat([pd.DataFrame(table) for table in tables], ignore_index=True),
            restricted=self._restricted(is_solved=is_solved),
            residuals=self._residuals(ladder),
            explained=ladder.explained,
            reversals=share,
            reversal=reversal,
            cycles=cyclic,
            cycle=cycle,
            margin=_MARGIN * size,
            samples=self.samples,
            notes=tuple(self.notes),
        )

    def _facts(self, side: int) -> dict[str, Any]:
        number = len(self.names[side])
        table: dict[str, Any] = {
            "side": [SIDES[side]] * number,
            "mix": self.names[side],
            "units": self.units[side],
            "cost": self.costs[side],
            "weight": self.weights[side],
        }
        unknown = ("equilibrium", "lo_equilibrium", "hi_equilibrium", "averaged", "regret", "exploitability")
        table |= {name: np.full(number, np.nan) for name in (*unknown, "dominated_margin")}
        table["dominated_by"] = [""] * number
        return table

    def _solve_equilibrium(self, tables: Sequence[dict[str, Any]], size: float) -> tuple[float, dict[str, float]]:
        """Fill in what the equilibrium says of each mix; return the value and what the field gives up."""
        found = solve_game(self.matrix)
        strategies = (found.rows, found.columns)
        # Each side sees a matrix of its own, in which it picks a row and wants much.
        views = (self.matrix, np.ascontiguousarray(-self.matrix.T))
        values = (found.value, -found.value)
        z = critical_value(self.summary.level)
        noise = z * np.sqrt(2.0) * float(self.errors.max())
        field: dict[str, float] = {}
        for side, table in enumerate(tables):
            view, value = views[side], values[side]
            table["equilibrium"] = table["lo_equilibrium"] = table["hi_equilibrium"] = strategies[side]
            table["averaged"] = averaged(view, value, _MARGIN * size)
            # Rounding of the program would leave regrets of -1e-17.
            table["regret"] = _nonnegative(value - view @ strategies[1 - side], size)
            table["exploitability"] = _nonnegative(value - view.min(axis=1), size)
            weights = self.weights[side]
            weights = weights / weights.sum() if weights.sum() > 0.0 else np.full(len(weights), 1.0 / len(weights))
            field[SIDES[side]] = float(_nonnegative(np.array([value - (weights @ view).min()]), size)[0])
            beaten = domination(view, noise)
            table["dominated_margin"] = beaten.margin
            table["dominated_by"] = [self._mixture(side, parts) for parts in beaten.by]
            if np.isnan(beaten.margin).any():
                self.notes.append(
                    f"Mixtures that dominate were not looked for in {int(np.isnan(beaten.margin).sum()):,} "
                    f"{SIDES[side]} mixes: there are too many."
                )
        return found.value, field

    def _spread(
        self, tables: Sequence[dict[str, Any]], value: float, samples: int | None, seed: int
    ) -> tuple[float, float]:
        """Fill in the intervals of the weights; return that of the value."""
        if not self.errors.any():
            return value, value
        number = min(_SAMPLE_CELLS // self.matrix.size, _MOST_SAMPLES) if samples is None else samples
        if samples is None and number < _LEAST_SAMPLES:
            self.notes.append("The spread of the equilibrium was not sampled: the matrix is large.")
            number = 0
        if not number:
            for table in tables:
                table["lo_equilibrium"] = table["hi_equilibrium"] = np.full(len(table["mix"]), np.nan)
            return float("nan"), float("nan")
        self.samples = number
        drawn = resampled(
            self.matrix, self.errors, replications=number, seed=seed, bounds=_BOUNDS.get(self.payoff, _UNBOUNDED)
        )
        ends = np.array([0.5 - self.summary.level / 2.0, 0.5 + self.summary.level / 2.0])
        for table, weights in zip(tables, drawn[1:], strict=True):
            table["lo_equilibrium"], table["hi_equilibrium"] = np.quantile(weights, ends, axis=0)
        low, high = np.quantile(drawn[0], ends)
        return float(low), float(high)

    def _mixture(self, side: int, parts: Sequence[tuple[int, float]]) -> str:
        """Return a dominating mixture in words."""
        if len(parts) == 1:
            return self.names[side][parts[0][0]]
        return " + ".join(f"{percent_text(weight)} {self.names[side][place]}" for place, weight in parts)

    def _fit(self, tables: Sequence[dict[str, Any]]) -> ladders.Ladder:
        weights = self.weights[0][:, None] * self.weights[1][None, :]
        if not weights.any():
            weights = np.ones_like(weights)
        ladder = ladders.fit_ladder((1.0 + self.lead) / 2.0, weights, self.lead_se / 2.0)
        points = ladders.ELO
        for table, strength, error in zip(
            tables, (ladder.rows, ladder.columns), (ladder.rows_se, ladder.columns_se), strict=True
        ):
            table["strength"], table["strength_se"] = points * strength, points * error
        return ladder

    def _residuals(self, ladder: ladders.Ladder) -> pd.DataFrame:
        share = (1.0 + self.lead) / 2.0
        residual = share - ladder.fitted
        order = np.argsort(-np.abs(residual), axis=None, kind="stable")[:_MOST_RESIDUALS]
        rows, columns = np.unravel_index(order, residual.shape)
        return pd.DataFrame(
            {
                "attacker": [self.names[0][row] for row in rows],
                "defender": [self.names[1][column] for column in columns],
                "share": share[rows, columns],
                "fitted": ladder.fitted[rows, columns],
                "residual": residual[rows, columns],
            }
        )

    def _reversals(self) -> tuple[float, tuple[str, str, str, str, str] | None]:
        z = critical_value(self.summary.level)
        found = [
            ladders.reversals(view, errors, z=z)
            for view, errors in ((self.lead, self.lead_se), (-self.lead.T, self.lead_se.T))
        ]
        if any(each.is_sampled for each in found):
            self.notes.append("Reversals were counted among 400 mixes drawn at random, for there are more.")
        shares = np.array([each.share for each in found])
        if np.isnan(shares).all():
            return float("nan"), None
        side = int(np.nanargmax(shares))
        example = found[side].example
        if example is None:
            return float(shares[side]), None
        own, other = self.names[side], self.names[1 - side]
        i, k, x, y = example
        return float(shares[side]), (SIDES[side], own[i], own[k], other[x], other[y])

    def _cycles(self) -> tuple[float, tuple[str, str, str] | None]:
        """Count circles of three among the mixes that both sides have, each attacking once and defending once."""
        places = [{text: place for place, text in enumerate(units)} for units in self.units]
        common = [text for text in places[0] if text in places[1]]
        if len(common) < _MOST_TRIPLES_SIDE:
            return float("nan"), None
        rows, columns = ([places[side][text] for text in common] for side in (0, 1))
        lead, error = self.lead[np.ix_(rows, columns)], self.lead_se[np.ix_(rows, columns)]
        found = ladders.cycles(
            (lead - lead.T) / 2.0, np.sqrt(error**2 + error.T**2) / 2.0, z=critical_value(self.summary.level)
        )
        if found.example is None:
            return found.share, None
        first, second, third = (self.names[0][rows[place]] for place in found.example[:3])
        return found.share, (first, second, third)

    def _restricted(self, *, is_solved: bool) -> pd.DataFrame:
        """Return the value of the game when a unit may not be brought."""
        brings = [[_unit_names(text) for text in units] for units in self.units]
        known = list(dict.fromkeys(unit for side in brings for units in side for unit in units))
        columns = ("attacker", "defender", "both")
        table: dict[str, Any] = {"unit": known, **{column: np.full(len(known), np.nan) for column in columns}}
        if not is_solved or self.matrix.size * len(known) > _RESTRICTED_CELLS:
            if is_solved:
                self.notes.append("The game without a unit was not solved: the matrix is large.")
            return pd.DataFrame(table).head(0)
        for place, unit in enumerate(known):
            without = [np.array([unit not in units for units in side]) for side in brings]
            everyone = [np.ones(len(side), dtype=np.bool_) for side in brings]
            parts = ((without[0], everyone[1]), (everyone[0], without[1]), (without[0], without[1]))
            for column, (rows, across) in zip(columns, parts, strict=True):
                if rows.any() and across.any():
                    table[column][place] = solve_game(self.matrix[np.ix_(rows, across)]).value
        return pd.DataFrame(table)


def _nonnegative(losses: FloatArray, size: float) -> FloatArray:
    """Return losses without what is only rounding of the linear program."""
    return np.where(losses < 1e-9 * size, 0.0, losses)


def _unit_names(text: str) -> frozenset[str]:
    """Return the units that a canonical list names."""
    return frozenset(part.split(" ", 1)[1] for part in text.split(", ") if " " in part)


def payoff_text(value: float, payoff: str) -> str:
    """Return a payoff as people read it.

    Examples
    --------
    >>> payoff_text(0.5, "win_share"), payoff_text(-0.25, "lead"), payoff_text(3.0, "swing")
    ('50.0 %', '−25.0', '+3.00')
    """
    if np.isnan(value):
        return "–"
    if payoff == "win_share":
        return percent_text(value)
    return points_text(value) if payoff == "lead" else figure_text(value, signed=True)


def payoff_difference(value: float, payoff: str) -> str:
    """Return a difference of payoffs with its unit.

    Examples
    --------
    >>> payoff_difference(0.031, "win_share"), payoff_difference(1.5, "swing")
    ('3.1 points', '1.50')
    """
    if np.isnan(value):
        return "–"
    return figure_text(value) if payoff == "swing" else f"{100.0 * value:.1f} points"


def _plain(value: Any) -> Any:
    """Return a cell of a frame as JSON can hold it."""
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not np.isfinite(value) else value


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(key): _plain(value) for key, value in row.items()} for row in table.to_dict(orient="records")]


def _lines(played: Game, width: int) -> list[str]:
    payoff = played.payoff
    words = {"win_share": "attacker's share of wins", "lead": "attacker's lead in points", "swing": "attacker's swing"}
    size = f"{count_text(played.matrix.shape[0])} attacker x {count_text(played.matrix.shape[1])} defender mixes"
    title = clean(played.summary.run.title) + (f" at {played.label}" if played.label else "")
    lines = wrapped(f"Game of {title}: {size}, played for the {words[payoff]}", width)
    value = payoff_text(played.value, payoff)
    if not np.isnan(played.lo_value) and played.lo_value != played.hi_value:
        value += f" ({payoff_text(played.lo_value, payoff)} to {payoff_text(played.hi_value, payoff)})"
    if not np.isnan(played.value):
        losses = " and ".join(f"{payoff_difference(loss, payoff)} ({side}s)" for side, loss in played.field.items())
        lines += wrapped(f"value {value}; picking mixes by their weights gives up {losses}", width)
    for side in SIDES:
        lines += _side_lines(played, side, width)
    for text in _statements(played):
        lines += wrapped(text, width, first="* ", indent="  ")
    for note in played.notes:
        lines += wrapped(f"note: {note}", width, indent="  ")
    return lines


def _side_lines(played: Game, side: str, width: int) -> list[str]:
    table = played.mixes[played.mixes["side"] == side]
    order = ["equilibrium", "averaged", "strength"]
    table = table.sort_values(order, ascending=False, kind="stable", na_position="last")
    heading = f"{'weight':>7}  {'even':>7}  {'regret':>12}  {'rating':>6}"
    room = max(width - len(heading) - 2, 12)
    lines = ["", f"{side.capitalize()}s".ljust(room) + "  " + heading]
    for row in table.head(_SHOWN).to_dict(orient="records"):
        name = short_label(str(row["mix"]), room - 2)
        lines.append(
            f"  {name}".ljust(room)
            + f"  {percent_text(row['equilibrium']):>7}  {percent_text(row['averaged']):>7}"
            + f"  {payoff_difference(row['regret'], played.payoff):>12}  {row['strength']:>+6.0f}"
        )
    if len(table) > _SHOWN:
        lines.append(f"  ... {count_text(len(table) - _SHOWN)} more")
    return lines


def _statements(played: Game) -> list[str]:
    """Return what else is worth a line."""
    found = []
    for side in SIDES:
        table = played.dominated(side)
        if len(table):
            row = table.iloc[0]
            margin = payoff_difference(float(row["dominated_margin"]), played.payoff)
            found.append(
                f"dominated {side}s: {count_text(len(table))}, most of all {clean(str(row['mix']))}, by "
                f"{clean(str(row['dominated_by']))} ({margin} better against every opponent)"
            )
    if not np.isnan(played.explained):
        found.append(f"ratings account for {percent_text(played.explained)} of how the matchups differ")
    if played.cycle is not None:
        first, second, third = (clean(name) for name in played.cycle)
        found.append(
            f"{percent_text(played.cycles)} of triples go in circles: {first} beats {second} beats {third} beats "
            f"{first}"
        )
    elif played.reversal is not None:
        side, first, second, one, other = (clean(part) for part in played.reversal)
        found.append(
            f"the opponent decides who is better in {percent_text(played.reversals)} of cases: as {side}, {first} does "
            f"better than {second} against {one}, worse against {other}"
        )
    return found
