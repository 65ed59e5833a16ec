"""Results folders made by hand that have parts too: what every batch of battles added up to."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from simcore.api import batch_schedule
from simcore.core.swing import BINS, Swings
from simcore.run.store import PartRows, Store
from simcore.schema import SPREAD
from tests.analysis.folders import OUTCOMES, Mix, matchup, write

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy.typing as npt

ACCUMULATORS = (
    "battles", *(f"outcome.{name}" for name in OUTCOMES), "cycles.sum", "cycles.sumsq", "attacker.cost_lost.sum",
    "attacker.cost_lost.sumsq", "defender.cost_lost.sum", "defender.cost_lost.sumsq", "swing.sum", "swing.sumsq",
)  # fmt: skip


_BELOW = 200


@dataclass(frozen=True)
class Fought:
    """A matchup with all its battles: who won, and what it cost."""

    attacker: Mix
    defender: Mix
    wins: npt.NDArray[np.bool_]
    losses: npt.NDArray[np.int64]
    """Cost lost of both sides, (battles, 2)."""
    grid: dict[str, Any] | None = None


def _tally(fought: Fought, first: int, battles: int) -> list[int]:
    part = slice(first, first + battles)
    wins, (own, enemy) = fought.wins[part], fought.losses[part].T
    counts = {"attacker_wins": int(wins.sum()), "defender_wins": int((~wins).sum())}
    figures = [np.full(battles, 2), own, enemy, enemy - own]
    moments = [int(total) for values in figures for total in (values.sum(), (values**2).sum())]
    return [battles, *(counts.get(name, 0) for name in OUTCOMES), *moments]


def _swings(fought: Fought, first: int, battles: int) -> npt.NDArray[np.int64]:
    """Return how often each swing occurred, from -200 on."""
    own, enemy = fought.losses[first : first + battles].T
    return np.bincount(enemy - own + _BELOW, minlength=BINS)


def write_fought(folder: Path, matchups: Sequence[Fought], *, keep_outcomes: bool = False, **manifest: Any) -> Path:
    """Write a results folder of these battles, with parts."""
    if keep_outcomes:
        manifest["sweep"] = {"sweep": {"name": "land-30", "keep_outcomes": True}, "scenario": {}}
    codes: list[bytes] = []
    rows = []
    segments: list[tuple[int, ...]] = []
    tallies: list[list[int]] = []
    swings: list[npt.NDArray[np.int64]] = []
    for number, fought in enumerate(matchups):
        battles = len(fought.wins)
        own, enemy = fought.losses.T
        won = int(fought.wins.sum())
        rows.append(
            matchup(
                fought.attacker,
                fought.defender,
                {"attacker_wins": won, "defender_wins": battles - won},
                losses=(own.mean(), enemy.mean()),
                sds=(own.std(ddof=1), enemy.std(ddof=1), (enemy - own).std(ddof=1)),
                cycles=(2.0, 0.0),
                **(fought.grid or {}),
            )
        )
        rows[-1] |= _spread_of(enemy - own)
        for batch, (first, count) in enumerate(batch_schedule(battles).tolist()):
            segments.append((number, batch, first, count))
            tallies.append([*_tally(fought, first, count), *[0] * len(SPREAD)])
            swings.append(_swings(fought, first, count))
            won_here = fought.wins[first : first + count]
            codes.append(np.where(won_here, 0, OUTCOMES.index("defender_wins")).astype(np.int8).tobytes())
    write(folder, rows, accumulators=list(ACCUMULATORS), **manifest)
    name = hashlib.sha256(json.dumps([segments, tallies]).encode()).hexdigest()
    kept = tuple(codes) if keep_outcomes else ()
    counted = Swings.from_bins(np.tile([1, 1, _BELOW], (len(swings), 1)), np.array(swings, np.int64))
    sums = np.array(tallies, np.int64)
    rows_of_part = PartRows(np.array(segments, np.int64), sums, {}, outcomes=kept, swings=counted)
    with Store(folder) as store:
        store.write_part(name, rows_of_part)
    return folder


def _spread_of(swings: npt.NDArray[np.int64]) -> dict[str, float]:
    """Return the columns of the quantiles and of the chance of a loss."""
    found = np.quantile(swings, [0.05, 0.25, 0.5, 0.75, 0.95], method="inverted_cdf")
    return dict(zip((f"swing_{name}" for name in SPREAD), [*found.tolist(), float((swings < 0).mean())], strict=True))


def battles_of(words: npt.NDArray[np.float64], chance: float) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.int64]]:
    """Return battles that random words decide: more chance never loses a battle that less chance won."""
    wins = words < chance
    losses = np.stack((3 + np.floor(20 * words), 25 - np.floor(20 * words)), axis=1).astype(np.int64)
    losses[wins, 0] -= 2
    return wins, losses
