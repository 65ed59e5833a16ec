"""Attacks as flat rows: columns checked and put together, refused where such a row cannot exist."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from simcore.errors import ScenarioError, suggestion
from simcore.model import shown
from simcore.rulesets.force_order.layout import (
    KINDS,
    MOUNTS,
    PIECE_FIELDS,
    PLACES,
    ROW_FIELDS,
    TARGET,
    Kind,
    Mount,
    PieceField,
    Place,
    Result,
    RowField,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["MOST_STEPS", "attack_rows", "check_rows", "find_problem", "row_rules"]

MOST_STEPS = 126
"""Largest difference of rows or columns: the numbers fit int8."""
_WORDS = {
    "kind": KINDS,
    "mount": MOUNTS,
    "place": PLACES,
    "result": tuple(result.name.lower() for result in Result),
}
_LIMITS = {
    "kind": (0, len(KINDS) - 1),
    "mount": (0, len(MOUNTS) - 1),
    "place": (0, 1),
    "rows": (-MOST_STEPS, MOST_STEPS),
    "columns": (-MOST_STEPS, MOST_STEPS),
    "result": (0, len(Result) - 1),
    "attacker_rank": (-128, 127),
    "target_rank": (-128, 127),
}

_Mask = npt.NDArray[np.bool_]


class Problem(NamedTuple):
    """The first row that cannot exist."""

    row: int
    field: str
    text: str


def attack_rows(columns: Mapping[str, npt.ArrayLike]) -> npt.NDArray[np.int8]:
    """Put attacks together from columns and check them.

    Parameters
    ----------
    columns : mapping of str to array-like
        Columns of equal length N by the names in `layout.ROW_FIELDS` ("attacker.kind", "target.flag", "rows", ...);
        those left out are 0, and a soldier on the tip is cargo. Numbers as in the enumerations of `layout`, or
        their names in lower case ("boat", "plane_tip", "sea", "tie").

    Returns
    -------
    int8 (N, 24)
        Rows for `attack.resolve_rows`.

    Raises
    ------
    ScenarioError
        For unknown columns, values out of range, and rows that cannot exist: names the row, the field and the clause.
    """
    for name in columns:
        if name not in ROW_FIELDS:
            raise ScenarioError(f"unknown column {shown(name)}{suggestion(name, ROW_FIELDS)}", field="columns")
    arrays = {name: _numbers(name, values) for name, values in columns.items()}
    lengths = {len(array) for array in arrays.values()}
    if len(lengths) != 1:
        raise ScenarioError(f"must be of one length, got {sorted(lengths) or 'none'}", field="columns")
    rows = np.zeros((lengths.pop(), len(ROW_FIELDS)), dtype=np.int8)
    for name, array in arrays.items():
        rows[:, ROW_FIELDS.index(name)] = array
    for base in (0, TARGET):
        rows[:, base + PieceField.CARGO] |= rows[:, base + PieceField.TIP_SOLDIER]
    check_rows(rows)
    return rows


def _numbers(name: str, values: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Return a column as numbers within its limits."""
    array = np.asarray(values)
    if array.ndim != 1:
        raise ScenarioError(f"must be a list of values, got {array.ndim} dimensions", field=name)
    short = name.rsplit(".", maxsplit=1)[-1]
    if array.dtype.kind in "UO":
        words = _WORDS.get(short, ())
        found, place = np.unique(array.astype(str), return_inverse=True)
        for word in found.tolist():
            if word not in words:
                at = int(np.flatnonzero(array.astype(str) == word)[0])
                allowed = ", ".join(words) or "numbers"
                raise ScenarioError(
                    f"must be {allowed}, got {shown(word)}{suggestion(word, words)}", field=f"rows[{at}].{name}"
                )
        codes = np.array([words.index(word) for word in found.tolist()], dtype=np.int64)
        return codes[place.reshape(-1)]
    if array.dtype.kind not in "biu":
        raise ScenarioError(f"must be whole numbers, got {array.dtype}", field=name)
    low, high = _LIMITS.get(short, (0, 1))
    outside = np.flatnonzero((array < low) | (array > high))
    if len(outside):
        at = int(outside[0])
        raise ScenarioError(f"must be {low} to {high}, got {array[at]}", field=f"rows[{at}].{name}")
    return array.astype(np.int64)


def _piece_rules(piece: npt.NDArray[np.int8]) -> Iterator[tuple[PieceField, _Mask, str]]:
    """Yield what a piece cannot be or hold: the field, where that is so, and why."""
    kind, mount, place = (piece[:, field] for field in (PieceField.KIND, PieceField.MOUNT, PieceField.PLACE))
    boats = np.isin(kind, (Kind.BOAT, Kind.LIFEBOAT))
    people = np.isin(kind, (Kind.SOLDIER, Kind.SABOTEUR))
    loaded = piece[:, PieceField.CARGO] != 0
    is_free = mount == Mount.NONE
    yield (
        PieceField.MINE,
        (piece[:, PieceField.MINE] != 0) & ~people,
        "only a soldier or saboteur holds a mine (FO-6, 31)",
    )
    flags = piece[:, PieceField.FLAG] != 0
    yield PieceField.FLAG, flags & (kind == Kind.PLANE), "a plane cannot hold a flag (FA-15)"
    yield PieceField.FLAG, flags & ~people & ~boats, "only soldiers, saboteurs and boats hold a flag (FO-5, 14, 28)"
    yield (
        PieceField.LIFEBOAT,
        (piece[:, PieceField.LIFEBOAT] != 0) & (kind != Kind.BOAT),
        "only a boat has a lifeboat on it (FO-18)",
    )
    yield PieceField.CARGO, loaded & ~boats & (kind != Kind.PLANE), "only boats and planes hold pieces (FO-3, 12, 13)"
    yield (
        PieceField.TIP_SOLDIER,
        (piece[:, PieceField.TIP_SOLDIER] != 0) & ~loaded,
        "a soldier on the loading tip is cargo, so cargo must be set too (FO-10)",
    )
    yield PieceField.PLACE, is_free & (kind == Kind.SOLDIER) & (place == Place.SEA), "a soldier stands on land (FO-1)"
    yield PieceField.PLACE, is_free & boats & (place == Place.LAND), "a boat is on the sea (FO-10)"
    yield PieceField.PLACE, (mount == Mount.BOAT_TIP) & (place == Place.LAND), "the carrying boat is on the sea (FO-10)"
    yield PieceField.FLAG, flags & (mount == Mount.PLANE_TIP), "no flag comes aboard a plane (FA-15)"
    yield (
        PieceField.MOUNT,
        ~is_free & np.isin(kind, (Kind.FLAG, Kind.MINE)),
        "flags and mines are held, not loaded (FO-6, FA-20)",
    )


def row_rules(rows: npt.NDArray[np.int8]) -> Iterator[tuple[str, _Mask, str]]:
    """Yield what cannot exist: the field, bool (N,) of the rows where that is so, and why.

    Parameters
    ----------
    rows : int8 (N, 24)
        Every value within its limits.
    """
    kind = rows[:, PieceField.KIND]
    yield (
        "attacker.kind",
        np.isin(kind, (Kind.FLAG, Kind.MINE)),
        "a flag or mine never attacks (FO-1, 10, 20, 26)",
    )
    for base, name in ((0, "attacker"), (TARGET, "target")):
        for field, mask, text in _piece_rules(rows[:, base : base + TARGET]):
            yield f"{name}.{PIECE_FIELDS[field]}", mask, text
    down, across = np.abs(rows[:, RowField.ROWS]), np.abs(rows[:, RowField.COLUMNS])
    yield "rows", (down == 0) & (across == 0), "the target cannot stand on the attacker's square (FO-1)"
    in_line = ((down == 0) | (across == 0)) & (np.maximum(down, across) > 1)
    blocked = rows[:, RowField.BLOCKED] != 0
    yield "blocked", blocked & ~in_line, "nothing stands between squares that are beside or not in line (FA-5)"
    yield (
        "beside_taken",
        (rows[:, RowField.BESIDE_TAKEN] != 0) & ~blocked,
        "a piece there stands between, so blocked must be set too (FA-2)",
    )


def find_problem(rows: npt.NDArray[np.int8]) -> Problem | None:
    """Return the first row that cannot exist, None where all can.

    Parameters
    ----------
    rows : int8 (N, 24)
        Every value within its limits.

    Returns
    -------
    Problem or None
    """
    found = [Problem(int(np.argmax(mask)), field, text) for field, mask, text in row_rules(rows) if mask.any()]
    return min(found, key=lambda problem: problem.row) if found else None


def check_rows(rows: npt.NDArray[np.int8]) -> None:
    """Refuse rows that cannot exist.

    Parameters
    ----------
    rows : int8 (N, 24)

    Raises
    ------
    ScenarioError
        Names the first such row, its field and the clause.
    """
    problem = find_problem(rows)
    if problem is not None:
        raise ScenarioError(problem.text, field=f"rows[{problem.row}].{problem.field}")
