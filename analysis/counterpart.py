"""Which matchup of one run is the same as which of another, and whether the two were fought with the same dice.

Matchups are told apart by content, not by number: the names of the two mixes and the grid point. A grid key with one
value in each run, or in one run only, may be the very thing that was changed, and tells nothing apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.frames import GRID_PREFIX, SIDES, Run
from analysis.wording import clean, grid_value_text
from simcore.errors import ScenarioError, suggestion

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Half", "Meetings", "are_related", "dice_of", "halves_between", "meet", "shares_dice", "whole"]

IntArray = npt.NDArray[np.intp]
BoolArray = npt.NDArray[np.bool_]

_NONE: Final = -1


@dataclass(frozen=True)
class Half:
    """One side of a comparison: a run, or the part of it at some grid points.

    Attributes
    ----------
    run : Run
    rows : DataFrame
        Its matchups, numbered from 0.
    grid : tuple of str
        Grid columns that tell its matchups apart.
    label : str
        What it is called.
    """

    run: Run
    rows: pd.DataFrame
    grid: tuple[str, ...]
    label: str


@dataclass(frozen=True)
class Meetings:
    """Matchups of two halves that belong together, and those that have no counterpart.

    Attributes
    ----------
    first, second : intp (R,)
        Row in each half; -1 where it has none.
    keys : DataFrame
        ``attacker``, ``defender`` and the grid columns of each, R rows.
    """

    first: IntArray
    second: IntArray
    keys: pd.DataFrame

    @property
    def are_both(self) -> BoolArray:
        """Which have a row on both sides."""
        return (self.first >= 0) & (self.second >= 0)


def whole(run: Run) -> Half:
    """Return all matchups of a run as one side of a comparison.

    Parameters
    ----------
    run : Run

    Returns
    -------
    Half
    """
    return Half(run, run.matchups.reset_index(drop=True), run.grid_columns, clean(run.name))


def halves_between(run: Run, key: str, values: Sequence[Any]) -> tuple[Half, Half]:
    """Return the matchups of a run at two values of a grid key.

    Parameters
    ----------
    run : Run
        A run with a grid.
    key : str
        Key of the grid as in the sweep file, as in ``"edition.tank.cost"``.
    values : sequence of two values
        The first is what the second is compared with.

    Returns
    -------
    Half, Half

    Raises
    ------
    ScenarioError
        When the grid has no such key, or not these two values.
    """
    column = f"{GRID_PREFIX}{key}"
    if column not in run.grid_columns:
        known = [name.removeprefix(GRID_PREFIX) for name in run.grid_columns]
        texts = ", ".join(clean(name) for name in known) or "none, the sweep has no grid"
        raise ScenarioError(
            f'the grid has no key "{clean(key)}"{suggestion(key, known)}; keys: {texts}', field="--between"
        )
    shown = _texts(run.matchups[column])
    wanted = [_text(value) for value in values]
    if len(wanted) != len(SIDES) or wanted[0] == wanted[1]:
        raise ScenarioError("needs two different values of the grid, as in KEY=[1, 2]", field="--between")
    known_values = list(dict.fromkeys(shown))
    for text in wanted:
        if text not in known_values:
            raise ScenarioError(
                f"{clean(key)} has no value {text}; values: {', '.join(known_values)}", field="--between"
            )
    left = tuple(name for name in run.grid_columns if name != column)
    first, second = (
        Half(run, run.matchups[shown == text].reset_index(drop=True), left, f"{clean(key)} = {text}") for text in wanted
    )
    return first, second


def meet(first: Half, second: Half) -> Meetings:
    """Find the matchups that two halves have in common.

    Parameters
    ----------
    first, second : Half

    Returns
    -------
    Meetings
        In the order of the first half, then what only the second has. A matchup of one half meets several of the
        other where only the other has a grid.

    Raises
    ------
    ScenarioError
        When both halves have grids of their own: nobody can tell which points belong together.
    """
    common = [column for column in first.grid if column in second.grid and _tells_apart(first, second, column)]
    keys = [*SIDES, *common]
    frames = []
    for place, half in enumerate((first, second)):
        frame = pd.DataFrame({key: _texts(half.rows[key]) if key in common else half.rows[key] for key in keys})
        frame[f"row{place}"] = np.arange(len(frame))
        frames.append(frame)
    repeated = [frame.duplicated(keys).any() for frame in frames]
    if all(repeated):
        own = [
            ", ".join(clean(column.removeprefix(GRID_PREFIX)) for column in half.grid if column not in common)
            for half in (first, second)
        ]
        raise ScenarioError(
            f"the grids do not fit each other: one run varies {own[0] or 'nothing'}, the other {own[1] or 'nothing'}"
        )
    joined = frames[0].merge(frames[1], on=keys, how="left", sort=False)
    one = joined["row0"].to_numpy(dtype=np.intp)
    other = joined["row1"].fillna(_NONE).to_numpy(dtype=np.intp)
    alone = np.setdiff1d(np.arange(len(second.rows)), other)
    one = np.concatenate((one, np.full(len(alone), _NONE))).astype(np.intp)
    other = np.concatenate((other, alone)).astype(np.intp)
    return Meetings(one, other, _keys(first, second, one, other))


def shares_dice(first: Half, second: Half, meetings: Meetings) -> BoolArray:
    """Return which meetings were fought with the same random words.

    Parameters
    ----------
    first, second : Half
    meetings : Meetings

    Returns
    -------
    bool (R,)
    """
    versions = [_rng(half.run) for half in (first, second)]
    pairing = first.run.pairing
    if versions[0] != versions[1] or pairing != second.run.pairing or pairing == "independent":
        return np.zeros(len(meetings.first), dtype=bool)
    found = meetings.are_both & _have_common_seeds(first, second, meetings)
    if pairing == "matchup":
        # Here the dice follow from the unit lists too, whatever the mixes are called.
        found &= _units(first, meetings.first) == _units(second, meetings.second)
    return np.asarray(found, dtype=np.bool_)


def are_related(first: Half, second: Half, meetings: Meetings, tested: BoolArray) -> bool:
    """Return whether tests of different meetings depend on each other because they share dice.

    Parameters
    ----------
    first, second : Half
    meetings : Meetings
    tested : bool (R,)
        Meetings with a test.

    Returns
    -------
    bool
    """
    if np.count_nonzero(tested) < len(SIDES):
        return False
    for half, rows in ((first, meetings.first), (second, meetings.second)):
        if pd.Series(dice_of(half, rows)[tested]).duplicated().any():
            return True
    return False


def dice_of(half: Half, rows: IntArray) -> npt.NDArray[np.object_]:
    """Return what decides the dice of some rows: equal values stand for the same random words.

    Parameters
    ----------
    half : Half
    rows : intp (R,)
        Rows of it; -1 for none.

    Returns
    -------
    object (R,)
    """
    if half.run.pairing == "common":
        return np.full(len(rows), "", dtype=object)
    return rows.astype(object) if half.run.pairing == "independent" else _units(half, rows)


def _rng(run: Run) -> str:
    """Return the version of a run's random numbers."""
    versions = run.manifest.get("versions")
    return str(versions.get("rng")) if isinstance(versions, dict) else ""


def _have_common_seeds(first: Half, second: Half, meetings: Meetings) -> BoolArray:
    """Return which meetings have battles of one seed in both halves; a merged matchup may have several seeds."""
    sides = [_seeds(half, rows) for half, rows in ((first, meetings.first), (second, meetings.second))]
    (one, own), (other, theirs) = sides
    are_common = np.array([[bool(a & b) for b in theirs] for a in own], dtype=np.bool_).reshape(len(own), len(theirs))
    return np.asarray(are_common[one, other], dtype=np.bool_)


def _seeds(half: Half, rows: IntArray) -> tuple[IntArray, list[frozenset[str]]]:
    """Return the seeds of some rows: the place of each in a list of all that occur; a row of -1 has none."""
    whole = str(half.run.manifest.get("seed"))
    if "seed" in half.rows:
        column = half.rows["seed"].fillna(whole) if half.rows["seed"].hasnans else half.rows["seed"]
        codes, values = pd.factorize(column)
        texts = [str(value) for value in values]
    else:
        codes, texts = np.zeros(len(half.rows), dtype=np.intp), [whole]
    places = np.full(len(rows), len(texts), dtype=np.intp)
    places[rows >= 0] = codes[rows[rows >= 0]]
    sets = [frozenset(part.strip() for part in text.split(",")) for text in texts]
    return places, [*sets, frozenset()]


def _units(half: Half, rows: IntArray) -> npt.NDArray[np.object_]:
    """Return the unit lists of both sides of some rows as one text; "" where there is no row."""
    texts = (half.rows["attacker_units"].astype(str) + "\0" + half.rows["defender_units"].astype(str)).to_numpy(
        dtype=object
    )
    found = np.full(len(rows), "", dtype=object)
    found[rows >= 0] = texts[rows[rows >= 0]]
    return found


def _tells_apart(first: Half, second: Half, column: str) -> bool:
    """Return False for a key with one value in each half, which may be what was changed."""
    values = [set(_texts(half.rows[column])) for half in (first, second)]
    return values[0] == values[1] or max(map(len, values)) > 1


def _is_shown(first: Half, second: Half, column: str) -> bool:
    owners = [half for half in (first, second) if column in half.grid]
    if len(owners) == len(SIDES):
        return _tells_apart(first, second, column)
    return len(set(_texts(owners[0].rows[column]))) > 1


def _keys(first: Half, second: Half, one: IntArray, other: IntArray) -> pd.DataFrame:
    """Return what the meetings are called, from whichever half has them."""
    columns = [*SIDES, *dict.fromkeys((*first.grid, *second.grid))]
    found: dict[str, Any] = {}
    for column in columns:
        values = np.full(len(one), None, dtype=object)
        for half, rows in ((second, other), (first, one)):
            if column in half.rows:
                has = rows >= 0
                values[has] = half.rows[column].to_numpy(dtype=object)[rows[has]]
        found[column] = values
    # What was changed tells nothing apart, and is told once for all matchups.
    kept = [name for name in columns if name in SIDES or _is_shown(first, second, name)]
    return pd.DataFrame({name: found[name] for name in kept})


def _text(value: Any) -> str:
    """Return a value of the grid as text, without rounding."""
    if isinstance(value, float | np.floating) and not float(value).is_integer():
        return repr(float(value))
    return grid_value_text(value)


def _texts(column: pd.Series[Any]) -> npt.NDArray[np.object_]:
    """Return the values of a grid column as text, alike for columns of different types."""
    codes, values = pd.factorize(column, use_na_sentinel=False)
    texts = np.array([_text(value) for value in values], dtype=object)
    return texts[codes] if len(texts) else np.zeros(0, dtype=object)
