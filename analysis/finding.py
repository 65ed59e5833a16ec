"""Findings: a few statements about a run, derived from its figures and never going beyond their intervals.

Two mixes are told apart when their intervals do not overlap, which is stricter than testing their difference.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from analysis.estimators import percent_text
from analysis.frames import EXACT, MIXED, SIDES
from analysis.wording import clean, count_text, figure_text, interval_text, plural, points_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pandas as pd

    from analysis.balance import Summary
    from analysis.contest import Game

__all__ = ["Finding", "Piece", "findings"]

_NOTEWORTHY: Final = 0.001
"""Share of stand-offs or unfinished battles from which a finding speaks of them."""
_MOSTLY: Final = 0.5
_LOPSIDED: Final = 0.5
"""Lead from which even the closest matchup is called lopsided."""


class Piece(NamedTuple):
    """A part of a finding's sentence."""

    text: str
    is_name: bool
    """True for the name of a unit mix, which is user's text and gets quotes or markup of its own."""


@dataclass(frozen=True)
class Finding:
    """One statement about a run.

    Attributes
    ----------
    kind : str
        What it is about: "balance", "strongest", "weakest", "one_sided", "closest", "efficiency", "at_a_loss",
        "grid", "equilibrium", "dominated", "cycles", "undecided" or "failed".
    title : str
        Two or three words to stand above or before the sentence.
    pieces : tuple of Piece
        The sentence, in parts.
    """

    kind: str
    title: str
    pieces: tuple[Piece, ...]

    @property
    def text(self) -> str:
        """Title and sentence, with names in quotes."""
        words = (f"“{clean(piece.text)}”" if piece.is_name else piece.text for piece in self.pieces)
        return f"{self.title}: {''.join(words)}"


def _sentence(kind: str, title: str, *parts: str | Piece) -> Finding:
    return Finding(
        kind, title, tuple(part if isinstance(part, Piece) else Piece(part, is_name=False) for part in parts)
    )


def _row(table: pd.DataFrame, place: int) -> dict[str, Any]:
    """Return one row of a table by its position."""
    return {str(column): table[column].iloc[place] for column in table.columns}


def _name(text: object) -> Piece:
    return Piece(str(text), is_name=True)


def findings(summary: Summary) -> Iterable[Finding]:
    """Yield the findings of a run, most important first.

    Parameters
    ----------
    summary : Summary
        Its tables ``counted`` (matchups with a result), ``failed`` and ``mixes`` are read.
    """
    counted = summary.counted
    if len(counted):
        yield _balance(summary)
        for side in SIDES:
            yield from _ranking(summary, side)
        yield _one_sided(summary)
        if len(counted) > 1:
            yield from _closest(summary)
        for side in SIDES:
            yield from _efficiency(summary, side)
        yield from _at_a_loss(summary)
        yield from _grid_effect(summary)
        yield from _game(summary)
        yield from _undecided(summary)
    if len(summary.failed):
        yield _sentence(
            "failed",
            "Failed",
            f"{count_text(len(summary.failed))} of {plural(len(summary.matchups), 'matchup', 'matchups')} "
            "failed and count nowhere; the column “error” says why.",
        )


def _balance(summary: Summary) -> Finding:
    counts = summary.counted["favourite"].value_counts()
    attacker, defender, nobody = (int(counts.get(who, 0)) for who in ("attacker", "defender", "none"))
    tail = f", {count_text(nobody)} neither clearly" if nobody else ""
    each = {EXACT: "", MIXED: "each simulated one"}.get(summary.run.method, "each")
    certainty = f" ({each} at {summary.level:.0%} confidence)".replace("%", " %") if each else ""
    return _sentence(
        "balance",
        "Balance",
        f"{count_text(attacker)} of {plural(len(summary.counted), 'matchup favours', 'matchups favour')} the "
        f"attacker, {count_text(defender)} the defender{tail}{certainty}.",
    )


def _at(summary: Summary, point: int) -> str:
    label = summary.grid_labels[point]
    return f" (at {label})" if label else ""


def _share_text(share: float, low: float, high: float) -> str:
    """Return a share with its interval; an exact one has none."""
    text = percent_text(share)
    return text if low == high else f"{text} ({interval_text(low, high)})"


def _ranking(summary: Summary, side: str) -> Iterable[Finding]:
    """Find strongest and weakest mix of a side by mean win share, at the first grid point with results."""
    table = summary.mixes[(summary.mixes["side"] == side) & summary.mixes["win_share_mean"].notna()]
    if not len(table):
        return
    point = int(table["grid_point"].iloc[0])
    here = table[table["grid_point"] == point]
    low, high = here["lo_win_share_mean"].to_numpy(), here["hi_win_share_mean"].to_numpy()
    shares = here["win_share_mean"].to_numpy()
    if len(here) == 1:
        row = _row(here, 0)
        yield _sentence(
            "strongest",
            f"Only {side} mix",
            _name(row["mix"]),
            f" wins {_mean_text(row)}{_at(summary, point)}.",
        )
        return
    if low.max() <= high.min():
        yield _sentence(
            "strongest",
            f"{side.capitalize()}s",
            f"No mix stands out; all {count_text(len(here))} win between "
            f"{percent_text(shares.min())} and {percent_text(shares.max())} on average, "
            f"and their intervals overlap{_at(summary, point)}.",
        )
        return
    for kind, place in (("strongest", int(shares.argmax())), ("weakest", int(shares.argmin()))):
        row = _row(here, place)
        near = high >= low[place] if kind == "strongest" else low <= high[place]
        rivals = [index for index in np.flatnonzero(near).tolist() if index != place]
        rivals.sort(key=lambda index: abs(shares[index] - shares[place]))
        yield _sentence(
            kind,
            f"{kind.capitalize()} {side}",
            _name(row["mix"]),
            f" wins {_mean_text(row)}{_at(summary, point)}",
            *_rivals(here, rivals),
            _other_points(table, row["mix"], kind=kind),
            ".",
        )


def _mean_text(row: Mapping[str, Any]) -> str:
    share = _share_text(row["win_share_mean"], row["lo_win_share_mean"], row["hi_win_share_mean"])
    if int(row["n_opponents"]) == 1:
        return f"{share} against its one opponent"
    return f"{share} on average over {count_text(int(row['n_opponents']))} opponents"


def _rivals(here: pd.DataFrame, rivals: Sequence[int]) -> Iterable[str | Piece]:
    """Say which mixes cannot be told apart from the one named."""
    if rivals:
        yield "; not told apart from "
        yield _name(here["mix"].iloc[rivals[0]])
        if len(rivals) > 1:
            yield f" and {count_text(len(rivals) - 1)} more"


def _other_points(table: pd.DataFrame, mix: str, *, kind: str) -> str:
    """Say at how many grid points a mix leads (or trails) its side's ranking."""
    points = table["grid_point"].nunique()
    if points == 1:
        return ""
    shares = table.groupby("grid_point")["win_share_mean"]
    rows = table.loc[shares.idxmax() if kind == "strongest" else shares.idxmin()]
    number = int((rows["mix"] == mix).sum())
    return f"; {kind} at {'every grid point' if number == points else f'{number} of {points} grid points'}"


def _one_sided(summary: Summary) -> Finding:
    """Find the surest winner; among equals the one that cost least against its loser."""
    table = summary.counted
    attacker, defender = (table[f"{side}_win_share"].to_numpy() for side in SIDES)
    attacks = attacker >= defender
    share = np.maximum(attacker, defender)
    costs = [table[f"{side}_cost"].to_numpy(dtype=np.float64) for side in SIDES]
    winner, loser = np.where(attacks, costs[0], costs[1]), np.where(attacks, costs[1], costs[0])
    with np.errstate(divide="ignore", invalid="ignore"):
        price = np.nan_to_num(winner / loser, nan=np.inf, posinf=np.inf)
    order = np.lexsort((price, -share))
    place = int(order[0])
    row = _row(table, place)
    side = "attacker" if attacks[place] else "defender"
    low, high = row[f"lo_{side}_win_share"], row[f"hi_{side}_win_share"]
    same = int((share == share[place]).sum()) - 1
    more = f"; {plural(same, 'other matchup is', 'other matchups are')} as one-sided" if same else ""
    return _sentence(
        "one_sided",
        "Most one-sided",
        _name(row["attacker"]),
        " attacking ",
        _name(row["defender"]),
        f": the {side} (cost {winner[place]:,.0f} against {loser[place]:,.0f}) wins "
        f"{_share_text(share[place], low, high)}{_at(summary, _point(summary, table, place))}{more}.",
    )


def _point(summary: Summary, table: pd.DataFrame, place: int) -> int:
    """Return the grid point of a row of a part of the matchups."""
    return int(summary.grid_points[summary.matchups.index.get_loc(table.index[place])])


def _closest(summary: Summary) -> Iterable[Finding]:
    """Find the matchup with the smallest lead."""
    table = summary.closest
    if not len(table):
        return
    row = _row(table, 0)
    text = f"{percent_text(row['attacker_win_share'])} against {percent_text(row['defender_win_share'])}"
    where = _at(summary, _point(summary, table, 0))
    if row["lo_lead"] == row["hi_lead"]:
        verdict = f"a lead of {points_text(row['lead'])} points"
    else:
        bounds = f"lead {points_text(row['lo_lead'])} to {points_text(row['hi_lead'])} points"
        verdict = f"no clear favourite, {bounds}" if row["favourite"] == "none" else bounds
    remark = "; even this one is lopsided" if abs(row["lead"]) > _LOPSIDED else ""
    yield _sentence(
        "closest",
        "Closest",
        _name(row["attacker"]),
        " attacking ",
        _name(row["defender"]),
        f": {text} ({verdict}){where}{remark}.",
    )


def _efficiency(summary: Summary, side: str) -> Iterable[Finding]:
    """Find the mix of a side that destroys most per cost lost."""
    table = summary.mixes[(summary.mixes["side"] == side) & summary.mixes["enemy_cost_lost_mean"].notna()]
    table = table[table["grid_point"] == table["grid_point"].min()] if len(table) else table
    free = table[(table["cost_lost_mean"] == 0.0) & (table["enemy_cost_lost_mean"] > 0.0)]
    if len(free):
        row = _row(free, int(free["enemy_cost_lost_mean"].to_numpy().argmax()))
        more = f" (nor did {count_text(len(free) - 1)} more)" if len(free) > 1 else ""
        yield _sentence(
            "efficiency",
            f"Most cost-efficient {side}",
            _name(row["mix"]),
            f" lost nothing in any battle{more} and destroyed "
            f"{figure_text(row['enemy_cost_lost_mean'])} a battle{_at(summary, int(row['grid_point']))}.",
        )
        return
    table = table[table["cost_efficiency"] > 0.0]
    if len(table) < 2:  # noqa: PLR2004 - a best one needs at least two
        return
    values = table["cost_efficiency"].to_numpy()
    place = int(values.argmax())
    row = _row(table, place)
    near = table["hi_cost_efficiency"].to_numpy() >= row["lo_cost_efficiency"]
    rivals = [index for index in np.flatnonzero(near).tolist() if index != place]
    rivals.sort(key=lambda index: -values[index])
    low, high = row["lo_cost_efficiency"], row["hi_cost_efficiency"]
    bounds = "" if low == high else f" ({figure_text(low)} to {figure_text(high)})"
    yield _sentence(
        "efficiency",
        f"Most cost-efficient {side}",
        _name(row["mix"]),
        f" destroys {figure_text(row['cost_efficiency'])} for each 1 it loses{bounds}"
        f"{_at(summary, int(row['grid_point']))}",
        *_rivals(table, rivals),
        ".",
    )


def _at_a_loss(summary: Summary) -> Iterable[Finding]:
    """Find the matchup that the attacker mostly wins and in which he mostly loses more than he destroys."""
    table = summary.counted
    if "swing_negative" not in table:  # as older versions wrote it
        return
    table = table[(table["lo_attacker_win_share"] > _MOSTLY) & (table["lo_swing_negative"] > _MOSTLY)]
    if not len(table):
        return
    place = int(table["swing_negative"].to_numpy().argmax())
    row = _row(table, place)
    wins, loses = (
        _share_text(row[name], row[f"lo_{name}"], row[f"hi_{name}"])
        for name in ("attacker_win_share", "swing_negative")
    )
    others = len(table) - 1
    more = f"; so does the attacker in {plural(others, 'other matchup', 'other matchups')}" if others else ""
    yield _sentence(
        "at_a_loss",
        "Wins at a loss",
        _name(row["attacker"]),
        " attacking ",
        _name(row["defender"]),
        f" wins {wins}, and loses more than it destroys in {loses} of the battles"
        f"{_at(summary, _point(summary, table, place))}{more}.",
    )


def _grid_effect(summary: Summary) -> Iterable[Finding]:
    """Find the mix whose mean win share differs most between grid points."""
    if len(summary.grid_labels) == 1:
        return
    table = summary.mixes[summary.mixes["win_share_mean"].notna()].reset_index(drop=True)
    by_mix = table.groupby(["side", "mix"], sort=False)["win_share_mean"]
    spread = by_mix.max() - by_mix.min()
    if not len(spread):
        return
    most = int(spread.to_numpy().argmax())
    low = _row(table, int(by_mix.idxmin().to_numpy()[most]))
    high = _row(table, int(by_mix.idxmax().to_numpy()[most]))
    if not high["lo_win_share_mean"] > low["hi_win_share_mean"]:
        yield _sentence(
            "grid",
            "Effect of the grid",
            "No mix's mean win share changes by more than the intervals allow for.",
        )
        return
    yield _sentence(
        "grid",
        "Effect of the grid",
        "Largest for ",
        _name(high["mix"]),
        f" as {high['side']}: from {percent_text(low['win_share_mean'])} at "
        f"{summary.grid_labels[int(low['grid_point'])]} to {percent_text(high['win_share_mean'])} at "
        f"{summary.grid_labels[int(high['grid_point'])]}.",
    )


def _game(summary: Summary) -> Iterable[Finding]:
    """Say what clever players would pick, what never, and whether the mixes can be ranked at all."""
    played = summary.game
    if played is None or min(played.matrix.shape) < 2:  # noqa: PLR2004 - with one mix there is nothing to pick
        return
    at = f" (at {played.label})" if played.label else ""
    if not np.isnan(played.value):
        yield _sentence("equilibrium", "Best play", *_best_play(played), f"{at}.")
    for side in SIDES:
        beaten = played.dominated(side)
        if not len(beaten):
            continue
        row = _row(beaten, 0)
        total = int((played.mixes["side"] == side).sum())
        margin = 100.0 * row["dominated_margin"]
        yield _sentence(
            "dominated",
            f"Dominated {side}s",
            f"{count_text(len(beaten))} of {plural(total, 'mix does', 'mixes do')} worse than another choice whatever "
            "the opponent; most of all ",
            _name(row["mix"]),
            ", behind ",
            _name(row["dominated_by"]),
            f" by at least {margin:.1f} points{at}.",
        )
    yield from _circles(played, at)


def _best_play(played: Game) -> Iterable[str | Piece]:
    """Say what the two sides pick when both play their best."""
    bounds = ""
    if not np.isnan(played.lo_value) and played.lo_value != played.hi_value:
        bounds = f" ({interval_text(played.lo_value, played.hi_value)})"
    yield f"The attacker can make sure of {percent_text(played.value)}{bounds} of the battles, with "
    for side, words in (("attacker", "; the defender answers with "), ("defender", "")):
        support = played.support(side)
        row = _row(support, 0)
        if len(support) == 1:
            yield _name(row["mix"])
            yield " alone"
        else:
            yield f"{percent_text(row['equilibrium'])} "
            yield _name(row["mix"])
            yield f" and {count_text(len(support) - 1)} more"
        yield words


def _circles(played: Game, at: str) -> Iterable[Finding]:
    """Say whether one number can rank the mixes."""
    if np.isnan(played.explained):
        return
    ladder = f"; one rating per mix accounts for {percent_text(played.explained)} of how the matchups differ{at}."
    if played.cycle is not None:
        first, second, third = (_name(name) for name in played.cycle)
        yield _sentence(
            "cycles",
            "Circles",
            f"{percent_text(played.cycles)} of all triples beat each other in a circle, as ",
            first, " beats ", second, " beats ", third, " beats the first", ladder,
        )  # fmt: skip
    elif played.reversal is not None:
        side, *names = played.reversal
        better, worse, one, other = (_name(name) for name in names)
        yield _sentence(
            "cycles",
            "No single ranking",
            f"In {percent_text(played.reversals)} of all cases the opponent decides who is better: as {side} ",
            better, " does better than ", worse, " against ", one, " and worse against ", other, ladder,
        )  # fmt: skip
    else:
        yield _sentence("cycles", "One ranking", f"No opponent turns the order of two mixes round{ladder}")


def _undecided(summary: Summary) -> Iterable[Finding]:
    """Count battles that ended neither way because a limit was reached or nobody could fire."""
    table = summary.counted
    for outcome, words in (
        ("unfinished", "reached the cycle limit undecided"),
        ("undecided", "reached the turn limit undecided"),
        ("stand_off", "ended in a stand-off"),
    ):
        if outcome not in summary.run.outcomes:
            continue
        shares = table[f"p_{outcome}"].to_numpy()
        number = int((shares >= _NOTEWORTHY).sum())
        if number:
            place = int(shares.argmax())
            yield _sentence(
                "undecided",
                "Undecided",
                f"In {plural(number, 'matchup', 'matchups')} battles {words}, "
                f"up to {percent_text(shares[place])} of them: ",
                _name(table["attacker"].iloc[place]),
                " attacking ",
                _name(table["defender"].iloc[place]),
                f"{_at(summary, _point(summary, table, place))}.",
            )
