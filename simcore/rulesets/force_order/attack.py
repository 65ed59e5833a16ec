"""Millions of attacks from flat rows, without a board and without chance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from simcore.core.threads import share_out, usable_threads
from simcore.enums import Status
from simcore.errors import KernelStatusError, ScenarioError
from simcore.rulesets.force_order import kernel
from simcore.rulesets.force_order.layout import (
    CLAUSES,
    OUTCOMES,
    REASONS,
    ROW_FIELDS,
    Fate,
    FateField,
    FateRow,
    Part,
    Position,
)
from simcore.rulesets.force_order.options import RuleOptions
from simcore.rulesets.force_order.rows import check_rows
from simcore.rulesets.force_order.steps import Options

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["ANSWER_COLUMNS", "Attacks", "clause_names", "resolve_rows"]

ANSWER_COLUMNS = FateRow.TARGET + len(FateField)
GAPS = 25
_CODES: dict[str, Sequence[str]] = {
    "reason": REASONS,
    "outcome": OUTCOMES,
    "position": tuple(position.name.lower() for position in Position),
    "fate": tuple(fate.name.lower() for fate in Fate),
    "part": tuple(part.name.lower() for part in Part),
}


def clause_names(mask: int, prefix: str = "FO") -> list[str]:
    """Return the ids of a mask of clauses, ``prefix="FA"`` for a mask of gaps.

    Parameters
    ----------
    mask : int
    prefix : {"FO", "FA"}

    Returns
    -------
    list of str

    Examples
    --------
    >>> clause_names(0b1001)
    ['FO-1', 'FO-4']
    """
    return [f"{prefix}-{n + 1}" for n in range(CLAUSES if prefix == "FO" else GAPS) if int(mask) >> n & 1]


@dataclass(frozen=True)
class Attacks:
    """What became of N attacks.

    Attributes
    ----------
    answers : int8 (N, 15)
        Columns by `layout.FateRow`, from ATTACKER and TARGET on by `layout.FateField`.
    clauses : uint64 (N,)
        Bit n - 1 for each clause FO-n that decided.
    gaps : uint64 (N,)
        Bit n - 1 for each gap FA-n of the rules that a default or an option had to fill.
    """

    answers: npt.NDArray[np.int8]
    clauses: npt.NDArray[np.uint64]
    gaps: npt.NDArray[np.uint64]

    def __len__(self) -> int:
        return len(self.answers)

    def describe(self, row: int) -> dict[str, Any]:
        """Return one answer in words, as JSON-able data.

        Parameters
        ----------
        row : int

        Returns
        -------
        dict
            ``reason``, ``outcome``, ``position``, ``square`` (of a living attacker, from where it stood), ``attacker``
            and ``target`` with their fates, ``clauses`` and ``gaps``.
        """
        answer = self.answers[row].tolist()
        told: dict[str, Any] = {
            "reason": _CODES["reason"][answer[FateRow.REASON]],
            "outcome": _CODES["outcome"][answer[FateRow.OUTCOME]],
            "position": _CODES["position"][answer[FateRow.POSITION]],
            "square": [answer[FateRow.ROW], answer[FateRow.COLUMN]],
        }
        for name, base in (("attacker", FateRow.ATTACKER), ("target", FateRow.TARGET)):
            told[name] = {
                field.name.lower(): _CODES["part" if field else "fate"][answer[base + field]] for field in FateField
            }
        return {
            **told,
            "clauses": clause_names(int(self.clauses[row])),
            "gaps": clause_names(int(self.gaps[row]), "FA"),
        }


def resolve_rows(
    rows: npt.NDArray[np.int8], options: RuleOptions | None = None, *, threads: int | None = None, checked: bool = False
) -> Attacks:
    """Resolve attacks row by row: the answer depends on nothing but the row and the options.

    Parameters
    ----------
    rows : int8 (N, 24)
        As `rows.attack_rows` builds them.
    options : RuleOptions, optional
        Readings of the rules; default: those of the standard edition.
    threads : int, optional
        Default: all there are; the answer is the same.
    checked : bool
        True where the rows come from `rows.attack_rows`, which has checked them.

    Returns
    -------
    Attacks

    Raises
    ------
    ScenarioError
        For an array of another form, and for rows that cannot exist.

    Examples
    --------
    >>> from simcore.rulesets.force_order.rows import attack_rows
    >>> duel = {"attacker.kind": ["soldier"], "target.kind": ["soldier"], "columns": [1], "result": ["win"]}
    >>> rows = attack_rows(duel)
    >>> resolve_rows(rows, threads=1).describe(0)["clauses"]
    ['FO-1', 'FO-4']
    """
    if rows.ndim != 2 or rows.shape[1] != len(ROW_FIELDS) or rows.dtype != np.int8:  # noqa: PLR2004 - N and fields
        raise ScenarioError(
            f"must be int8 of shape (N, {len(ROW_FIELDS)}), got {rows.dtype} {rows.shape}", field="rows"
        )
    if not checked:
        check_rows(rows)
    rows = np.require(rows, requirements=["C", "W"])
    answers = np.zeros((len(rows), ANSWER_COLUMNS), dtype=np.int8)
    clauses, gaps = np.zeros(len(rows), dtype=np.uint64), np.zeros(len(rows), dtype=np.uint64)
    status = np.full(-(-len(rows) // kernel.CHUNK), Status.UNSET, dtype=np.uint8)
    run: Any = kernel.attack_all_rows
    codes = Options(*(options or RuleOptions()).codes())

    def resolve(low: int, high: int) -> None:
        here = slice(low * kernel.CHUNK, high * kernel.CHUNK)
        run(rows[here], codes, answers[here], clauses[here], gaps[here], status[low:high])

    share_out(resolve, len(status), threads or usable_threads())
    if np.any(status != Status.OK):
        raise KernelStatusError("internal error: a run of attacks was not resolved")
    return Attacks(answers, clauses, gaps)
