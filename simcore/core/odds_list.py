"""List of the hit probabilities that a set of scenarios uses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

__all__ = ["OddsList"]


class OddsList:
    """Hit probabilities in use, each once, with the largest pool thrown at it."""

    def __init__(self) -> None:
        self._index: dict[tuple[int, int], int] = {}
        self._rows: list[list[int]] = []
        self._remainders: dict[int, int] = {}

    def index(self, numerator: int, denominator: int, most: int) -> int:
        """Return the index of numerator/denominator, of which up to `most` dice are thrown."""
        key = (numerator, denominator)
        if key not in self._index:
            self._index[key] = len(self._rows)
            self._rows.append([numerator, denominator, 0])
        i = self._index[key]
        self._rows[i][2] = max(self._rows[i][2], most)
        return i

    def remainder(self, denominator: int) -> int:
        """Index of 0/denominator in a run of single dice 0/d, 1/d, ... that lie one after the other."""
        if denominator not in self._remainders:
            self._remainders[denominator] = len(self._rows)
            self._rows.extend([numerator, denominator, 1] for numerator in range(denominator))
        return self._remainders[denominator]

    def run(self, fractions: Sequence[tuple[int, int]], most: int) -> int:
        """Append odds that must lie one after the other; returns the index of the first."""
        first = len(self._rows)
        self._rows.extend([numerator, denominator, most] for numerator, denominator in fractions)
        return first

    def array(self) -> npt.NDArray[np.int64]:
        """Return all odds, int64 (O, 3): numerator, denominator, largest pool."""
        return np.array(self._rows, dtype=np.int64).reshape(-1, 3)
