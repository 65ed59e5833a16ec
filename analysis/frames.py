"""Reading a sweep's results folder into pandas frames.

A folder holds ``manifest.json`` and three tables; their columns are checked on reading, so that everything
behind this module may rely on them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from analysis.wording import clean, count_text, grid_value_text, plural
from simcore.argument import check_path
from simcore.errors import StoreError
from simcore.run.check import file_digest, read_columns
from simcore.run.manifest import SCHEMA, DamagedManifestError, newer_schema, parse_manifest

if TYPE_CHECKING:
    from collections.abc import Iterable
    from os import PathLike
    from pathlib import Path

__all__ = ["EXACT", "GRID_PREFIX", "MIXED", "SCHEMA", "SIDES", "SIMULATED", "Run", "load"]

GRID_PREFIX: Final = "grid."
"""Tables hold one column per grid key, named with this prefix."""
SIDES: Final = ("attacker", "defender")
EXACT: Final = "exact"
SIMULATED: Final = "simulated"
MIXED: Final = "mixed"

_TEXT: Final = ("attacker", "defender", "attacker_units", "defender_units", "method", "status", "error")
_NAMES: Final = ("attacker", "defender", "attacker_units", "defender_units")
_FIGURES: Final = (
    "attacker_weight", "defender_weight", "battles", "attacker_cost", "defender_cost",
    "attacker_cost_lost_mean", "attacker_cost_lost_sd",
    "defender_cost_lost_mean", "defender_cost_lost_sd", "swing_mean", "swing_sd",
)  # fmt: skip
_WINS: Final = {"attacker": ("attacker_wins", "attacker_clears"), "defender": ("defender_wins",)}
"""Wins of folders that do not say what counts as one."""
_CHECKED_BYTES: Final = 64 * 2**20
"""Largest table whose checksum is compared on reading: that takes a tenth of a second."""
_MIX_COLUMNS: Final = ("side", "mix", "units", "cost", "weight")
_SURVIVOR_COLUMNS: Final = ("matchup", "side", "unit", "outcome", "battles", "start", "mean")
_SURVIVOR_FIGURES: Final = ("start", "mean")

# Whatever a Parquet reader may raise on a damaged file; its own exceptions derive from these, apart from
# FileNotFoundError, which is told apart below.
_UNREADABLE: Final = (
    OSError, ValueError, TypeError, KeyError, IndexError, NotImplementedError, OverflowError, MemoryError,
    RuntimeError,
)  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """A finished sweep, as tables.

    Attributes
    ----------
    path : Path
        The results folder.
    manifest : dict
        ``manifest.json`` as it was written: settings, grid, mixes, versions, times.
    matchups : DataFrame
        One row per matchup (grid point x attacker mix x defender mix): names, units, weights and costs of
        the two mixes, ``grid.<key>`` columns, ``method`` ("exact" or "simulated"), ``battles`` (0 where exact), counts
        ``n_<outcome>`` and shares ``p_<outcome>``, means and standard deviations of cycles or turns, costs lost and
        swing (of the sample, or of the distribution itself where exact), ``status`` and ``error``. Figures of a
        failed row are NaN, counts of an exact one too.
    mixes : DataFrame
        One row per grid point, side and unit mix, as the sweep summed it up.
    """

    path: Path
    manifest: dict[str, Any]
    matchups: pd.DataFrame
    mixes: pd.DataFrame

    @property
    def name(self) -> str:
        """Name of the sweep."""
        return str(self.manifest.get("name") or self.path.name)

    @property
    def title(self) -> str:
        """Title for a report: the one the sweep file asks for, else the name."""
        settings = self.manifest.get("report")
        title = settings.get("title") if isinstance(settings, dict) else None
        return str(title or self.name)

    @property
    def outcomes(self) -> tuple[str, ...]:
        """Names of the outcomes, in the ruleset's order."""
        return tuple(self.manifest["outcomes"])

    @property
    def wins(self) -> dict[str, tuple[str, ...]]:
        """Outcomes that count as a win of each side."""
        found = self.manifest.get("wins", _WINS)
        return {side: tuple(found[side]) for side in SIDES}

    @property
    def rounds(self) -> str:
        """What the length of battles is counted in: "cycles" or "turns"."""
        return str(self.manifest.get("rounds", "cycles"))

    @property
    def grid_columns(self) -> tuple[str, ...]:
        """Columns of the tables that tell the grid points apart; empty without a grid."""
        return tuple(f"{GRID_PREFIX}{key}" for key in self.manifest.get("grid") or {})

    @property
    def pairing(self) -> str:
        """What shares its dice: "matchup", "common" or "independent"."""
        return str(self.manifest.get("pairing", "matchup"))

    @property
    def precision(self) -> float | None:
        """Half-width to which every share was brought; None when all simulated matchups have equally many battles."""
        found = self.manifest.get("precision")
        return None if found is None else float(found)

    @cached_property
    def survivors(self) -> pd.DataFrame:
        """Mean survivors per matchup, side, unit and outcome (``"all"`` = over all battles).

        Read on first use, since it is by far the largest table.
        """
        return _survivors(self.path)

    def survivors_of(self, matchups: Iterable[int]) -> pd.DataFrame:
        """Return the rows of `survivors` of some matchups, without reading the rest.

        Parameters
        ----------
        matchups : iterable of int
            Values of the column ``matchup``.
        """
        return _survivors(self.path, [int(matchup) for matchup in matchups])

    def _facts(self) -> list[tuple[str, str]]:
        failed = int((self.matchups["status"] != "ok").sum())
        attackers, defenders = (self.matchups[side].nunique() for side in SIDES)
        facts = [
            (
                "matchups",
                f"{count_text(len(self.matchups))} ({plural(attackers, 'attacker mix', 'attacker mixes')}, "
                f"{plural(defenders, 'defender mix', 'defender mixes')})"
                + (f", {count_text(failed)} failed" if failed else ""),
            ),
            ("battles", self._battles_text()),
            ("rules", f"{self.manifest['ruleset']}, edition {clean(str(self.manifest.get('edition', '?')))}"),
            ("dice", f"seed {self.manifest.get('seed')}, pairing {self.pairing}"),
        ]
        for key, values in (self.manifest.get("grid") or {}).items():
            shown = ", ".join(grid_value_text(value) for value in values)
            facts.append((f"grid {clean(str(key))}", clean(shown)))
        facts.append(("folder", str(self.path)))
        return facts

    def _battles_text(self) -> str:
        if self.method == EXACT:
            return "none, exact results"
        each = f"{self.battles_each} per"
        return f"{each} matchup, simulated" if self.method == SIMULATED else f"{each} simulated matchup, {self.mixture}"

    @cached_property
    def battles_each(self) -> str:
        """How many battles the matchups have that were simulated, in words."""
        battles = self.matchups["battles"].to_numpy(dtype=np.float64, na_value=np.nan)
        battles = battles[(self.matchups["status"].to_numpy(dtype=object) == "ok") & (battles > 0)]
        if not len(battles) or battles.min() == battles.max():
            return count_text(int(battles[0]) if len(battles) else self.manifest.get("battles"))
        return f"{count_text(int(battles.min()))} to {count_text(int(battles.max()))}"

    @cached_property
    def is_exact(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Which rows of `matchups` hold exact results, bool, shape (rows,)."""
        return np.asarray(self.matchups["method"].to_numpy(dtype=object) == EXACT, dtype=np.bool_)

    @cached_property
    def method(self) -> str:
        """How the shares were found: "simulated", "exact", or "mixed" where that differs from matchup to matchup."""
        found = set(self.is_exact[self.matchups["status"].to_numpy(dtype=object) == "ok"].tolist())
        if not found:
            return EXACT if self.manifest.get("method") == EXACT else SIMULATED
        return MIXED if len(found) > 1 else EXACT if found.pop() else SIMULATED

    @property
    def mixture(self) -> str:
        """How many matchups were solved and how many simulated, in words."""
        ok = self.matchups["status"].to_numpy(dtype=object) == "ok"
        exact = int((self.is_exact & ok).sum())
        return f"{count_text(exact)} exact, {count_text(int(ok.sum()) - exact)} simulated"

    def __repr__(self) -> str:
        lines = [f"Run {clean(self.name)!r}"]
        lines += [f"  {label:<9} {text}" for label, text in self._facts()]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = "".join(
            f'<tr><th style="text-align:left">{escape(label)}</th>'
            f'<td style="text-align:left"><bdi>{escape(text)}</bdi></td></tr>'
            for label, text in self._facts()
        )
        return f"<table><caption><b>Run <bdi>{escape(clean(self.name))}</bdi></b></caption>{rows}</table>"


def load(folder: str | PathLike[str]) -> Run:
    """Read the results folder of a finished sweep.

    Parameters
    ----------
    folder : path
        The folder that ``simcore sweep`` wrote.

    Returns
    -------
    Run
        Manifest and tables.

    Raises
    ------
    StoreError
        If the folder, its manifest or one of its tables is missing, damaged, unfinished, or was written by a
        newer version; the message names the file.

    Examples
    --------
    >>> run = load("results/land-30")  # doctest: +SKIP
    >>> run.matchups[["attacker", "defender", "p_attacker_wins"]]  # doctest: +SKIP
    """
    path = check_path(folder, "folder")
    manifest = _manifest(path)
    run = Run(path=path, manifest=manifest, matchups=pd.DataFrame(), mixes=pd.DataFrame())
    grid, outcomes = run.grid_columns, run.outcomes
    needed = (
        "matchup", *_TEXT, *_FIGURES, f"{run.rounds}_mean", f"{run.rounds}_sd", *grid,
        *(f"{letter}_{outcome}" for letter in "np" for outcome in outcomes),
    )  # fmt: skip
    matchups = _table(path, "matchups", needed)
    file = path / "matchups.parquet"
    _check_numbers(file, matchups, [column for column in needed if column not in _TEXT and column not in grid])
    _check_names(file, matchups, _NAMES)
    told = manifest.get("matchups")
    if isinstance(told, int) and len(matchups) != told:
        raise StoreError(
            f"{file}: damaged, {count_text(len(matchups))} matchups where its manifest tells of {count_text(told)}; "
            f"make it again with: simcore resume {path}"
        )
    if matchups["matchup"].duplicated().any():
        raise StoreError(f'{file}: damaged, column "matchup" has a number twice')
    mixes = _table(path, "mixes", (*_MIX_COLUMNS, *grid))
    _check_survivors(path)
    _check_digests(path, manifest)
    return Run(path=path, manifest=manifest, matchups=matchups, mixes=mixes)


def _manifest(path: Path) -> dict[str, Any]:
    """Read and check ``manifest.json``."""
    file = path / "manifest.json"
    if not path.is_dir():
        raise StoreError(f"{path}: {'not a folder' if path.exists() else 'no such folder'}")
    try:
        manifest = parse_manifest(file.read_bytes())
    except FileNotFoundError:
        raise StoreError(f"{file}: missing; {path} is not the results folder of a sweep") from None
    except OSError as error:
        raise StoreError(f"{file}: {error.strerror or error}") from error
    except DamagedManifestError as error:
        raise StoreError(f"{file}: damaged ({error}); run the sweep file again with this folder as output") from error
    _check_schema(file, manifest)
    _check_fields(file, manifest)
    if manifest.get("state") == "running":
        raise StoreError(f"{path}: the sweep is not finished; continue it with: simcore resume {path}")
    return dict(manifest)


def _check_schema(file: Path, manifest: Any) -> None:
    """Refuse a manifest of a form that this version does not know."""
    schema = manifest.get("schema")
    if isinstance(schema, bool) or not isinstance(schema, int):
        raise StoreError(f"{file}: damaged, it has no schema number")
    newer = newer_schema(manifest)
    if newer:
        raise StoreError(f"{file}: {newer}")
    if schema < 1:
        raise StoreError(f"{file}: schema {schema} is not known; run the sweep again")


def _check_fields(file: Path, manifest: dict[str, Any]) -> None:
    """Check the fields of the manifest that the tables are read by."""
    outcomes = manifest.get("outcomes")
    if not isinstance(outcomes, list) or not outcomes or not all(isinstance(name, str) for name in outcomes):
        raise StoreError(f'{file}: damaged, "outcomes" is not a list of names')
    wins = manifest.get("wins", _WINS)
    if not isinstance(wins, dict) or not all(
        isinstance(wins.get(side), list | tuple) and all(isinstance(name, str) for name in wins[side]) for side in SIDES
    ):
        raise StoreError(f'{file}: damaged, "wins" is not a table of outcomes')
    precision = manifest.get("precision")
    if precision is not None and (isinstance(precision, bool) or not isinstance(precision, int | float)):
        raise StoreError(f'{file}: damaged, "precision" is not a number')
    if not isinstance(manifest.get("ruleset"), str):
        raise StoreError(f'{file}: damaged, "ruleset" is missing')
    grid = manifest.get("grid")
    if grid is not None and (
        not isinstance(grid, dict) or not all(isinstance(values, list) for values in grid.values())
    ):
        raise StoreError(f'{file}: damaged, "grid" is not a table of lists')


def _table(path: Path, name: str, needed: Iterable[str]) -> pd.DataFrame:
    """Read one table and check that it has the columns it must have."""
    file = path / f"{name}.parquet"
    try:
        # Each piece is given up while it becomes a frame: large tables are never held twice.
        frames = [piece.to_pandas(split_blocks=True, self_destruct=True) for piece in read_columns(file)]
        frame = pd.concat(frames, axis=1) if frames else pd.DataFrame()
    except FileNotFoundError:
        raise StoreError(f"{file}: missing; run the sweep again, finished parts are kept") from None
    except _UNREADABLE as error:
        raise _damaged(file, error) from error
    _check_columns(file, frame, needed)
    return frame


def _damaged(file: Path, error: BaseException) -> StoreError:
    reason = str(error).strip().split("\n")[0] or type(error).__name__
    return StoreError(f"{file}: damaged, cannot be read ({reason}); run the sweep again")


def _check_digests(path: Path, manifest: dict[str, Any]) -> None:
    """Refuse small tables that are not those the manifest was written with; large ones are for ``simcore doctor``.

    A table that lies beside the manifest of another run would be read like any other.
    """
    written = manifest.get("tables")
    if not isinstance(written, dict):  # of an older version
        return
    for name in sorted(written):
        file = path / f"{name}.parquet"
        try:
            is_other = file.stat().st_size <= _CHECKED_BYTES and file_digest(file) != written[name]
        except OSError as error:
            raise StoreError(f"{file}: {error.strerror or error}") from error
        if is_other:
            raise StoreError(
                f"{file}: is not the table that its manifest tells of; make it again with: simcore resume {path}"
            )


def _check_columns(file: Path, frame: pd.DataFrame, needed: Iterable[str]) -> None:
    missing = [column for column in needed if column not in frame.columns]
    if missing:
        shown = ", ".join(f'"{column}"' for column in missing[:3])
        more = f" and {len(missing) - 3} more" if len(missing) > len(missing[:3]) else ""
        raise StoreError(f"{file}: damaged, column {shown}{more} is missing")


def _check_numbers(file: Path, frame: pd.DataFrame, columns: Iterable[str]) -> None:
    """Refuse columns that hold text or infinite numbers; NaN stands for what is not known."""
    for column in columns:
        if not _is_numeric(frame[column]):
            raise StoreError(f'{file}: column "{column}" does not hold numbers')
        if np.isinf(frame[column].to_numpy(dtype=np.float64, na_value=np.nan)).any():
            raise StoreError(f'{file}: damaged, column "{column}" holds an infinite number')


def _check_names(file: Path, frame: pd.DataFrame, columns: Iterable[str]) -> None:
    """Refuse columns of names in which one is missing."""
    for column in columns:
        if frame[column].isna().any():
            raise StoreError(f'{file}: damaged, column "{column}" lacks a name')


def _is_numeric(column: pd.Series[Any]) -> bool:
    return bool(pd.api.types.is_numeric_dtype(column.dtype)) or bool(column.isna().all())


def _check_survivors(path: Path) -> None:
    """Check the largest table by its end, where Parquet keeps the list of columns, and one narrow column."""
    file = path / "survivors.parquet"
    try:
        pd.read_parquet(file, columns=["matchup"])
    except FileNotFoundError:
        raise StoreError(f"{file}: missing; run the sweep again, finished parts are kept") from None
    except _UNREADABLE as error:
        raise _damaged(file, error) from error


def _survivors(path: Path, matchups: list[int] | None = None) -> pd.DataFrame:
    """Read ``survivors.parquet``, of some matchups only when they are given."""
    file = path / "survivors.parquet"
    filters = None if matchups is None else [("matchup", "in", matchups)]
    try:
        frame = pd.read_parquet(file, filters=filters)
    except FileNotFoundError:
        raise StoreError(f"{file}: missing; run the sweep again, finished parts are kept") from None
    except _UNREADABLE as error:
        raise _damaged(file, error) from error
    _check_columns(file, frame, _SURVIVOR_COLUMNS)
    _check_numbers(file, frame, _SURVIVOR_FIGURES)
    if frame[list(_SURVIVOR_FIGURES)].isna().any(axis=None):
        raise StoreError(f"{file}: damaged, a number of survivors is missing")
    return frame
