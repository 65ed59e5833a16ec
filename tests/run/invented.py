"""Battles that are drawn by numpy in place of the kernels: quick, and with shares that are known."""

from __future__ import annotations

import hashlib
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from simcore import api
from simcore.core.swing import BINS

if TYPE_CHECKING:
    import numpy.typing as npt

    from simcore.api import Encoded

MOST = 600_000
"""Battles of a matchup that can be drawn."""


@cache
def shares_of(text: str, outcomes: int) -> tuple[float, ...]:
    """Return the shares of the outcomes of a matchup: one in three is even, the others are more or less one-sided."""
    number = int(hashlib.sha256(text.encode()).hexdigest(), 16)
    first = (0.5, 0.9, 0.997)[number % 3]
    return (first, 1 - first) + (0.0,) * (outcomes - 2)


@cache
def _battles(text: str, seed: int, outcomes: int) -> npt.NDArray[np.int64]:
    key = int(hashlib.sha256(f"{seed} {text}".encode()).hexdigest()[:16], 16)
    chance = np.random.Generator(np.random.Philox(key=key))
    return chance.choice(outcomes, size=MOST, p=shares_of(text, outcomes)).astype(np.int64)


def tally(
    encoded: Encoded, asked: npt.NDArray[np.int64], *, seed: int, pairing: str, threads: int | None
) -> npt.NDArray[np.int64]:
    """Take the place of `simcore.api.tally`."""
    assert pairing in api.PAIRINGS
    assert threads is None or threads > 0
    record = encoded.ruleset
    at = {name: position for position, name in enumerate(record.accumulators)}
    columns = len(record.accumulators)
    found = np.zeros((len(asked), columns + BINS), dtype=np.int64)
    for sums, (row, first, count) in zip(found, asked.tolist(), strict=True):
        assert first + count <= MOST
        scenario: Any = encoded.scenarios[row]
        text = f"{scenario.unit_text(0)} v {scenario.unit_text(1)}"
        drawn = _battles(text, seed, len(record.outcomes))[first : first + count]
        sums[at["battles"]] = count
        for k, name in enumerate(record.outcomes):
            sums[at[f"outcome.{name}"]] = sums[columns + k] = (drawn == k).sum()
        sums[at["swing.sum"]] = drawn.sum() * 7
        sums[at["swing.sumsq"]] = drawn.sum() * 49
        sums[at["attacker.cost_lost.sum"]] = count * 5
        sums[at["attacker.cost_lost.sumsq"]] = count * 25
    return found
