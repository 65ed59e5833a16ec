"""Short ways to write land battles down and to look at what became of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

import simcore
from tests.rulesets.general_combat import reference as ref

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

CASES = Path(__file__).parent / "cases"
EDITIONS = tuple(ref.EDITIONS)
AAA_EDITIONS = ("1942_2nd", "global40_2nd")
GUN_EDITIONS = ("spring1942", "aa50", "revised")


def cases(name: str) -> list[dict[str, Any]]:
    """Read a file of cases."""
    found: list[dict[str, Any]] = json.loads((CASES / f"{name}.json").read_text(encoding="utf-8"))
    return found


def land(attacker: str, defender: str, edition: str = "spring1942", **options: Any) -> dict[str, Any]:
    """Return a scenario; the options of a side are given as ``attacker_keep_land=1``."""
    scenario: dict[str, Any] = {
        "edition": edition,
        "attacker": {"units": attacker},
        "defender": {"units": defender},
    }
    for name, value in options.items():
        side, _, field = name.partition("_")
        if side in ref.SIDES:
            scenario[side][field] = value
        else:
            scenario[name] = value
    return scenario


class Fought:
    """The battles of one scenario."""

    def __init__(self, simulation: Any, row: int) -> None:
        self.outcome: npt.NDArray[np.str_] = np.array(ref.OUTCOMES)[simulation.outcome[row]]
        self.cycles: npt.NDArray[np.int64] = simulation.cycles[row].astype(np.int64)
        self.cost_lost: npt.NDArray[np.int64] = simulation.cost_lost[row].astype(np.int64)
        self.captured_value: npt.NDArray[np.int64] = simulation.captured_value[row].astype(np.int64)
        self.survivors: npt.NDArray[np.int64] = simulation.survivors[row].astype(np.int64)
        self.tally: dict[str, int] = dict(
            zip(simulation.ruleset.accumulators, simulation.tally[row].tolist(), strict=True)
        )

    def left(self, side: str, *units: str) -> npt.NDArray[np.int64]:
        """Return the number of survivors of a side in each battle, of some units or of all."""
        chosen = [ref.TYPE[unit] for unit in units] or list(range(len(ref.UNITS)))
        total: npt.NDArray[np.int64] = self.survivors[:, ref.SIDES.index(side)][:, chosen].sum(axis=1)
        return total

    def outcomes(self) -> set[str]:
        """Return the outcomes that occurred."""
        return set(self.outcome.tolist())

    def same_as(self, other: Fought) -> bool:
        """Say whether all battles went the same way."""
        return (
            np.array_equal(self.outcome, other.outcome)
            and np.array_equal(self.cycles, other.cycles)
            and np.array_equal(self.survivors, other.survivors)
        )


def fought_all(scenarios: Sequence[Mapping[str, Any]], battles: int = 400, **options: Any) -> list[Fought]:
    """Fight the battles of several scenarios."""
    simulation = simcore.simulate(simcore.encode(scenarios), battles=battles, keep_battles=True, **options)
    return [Fought(simulation, row) for row in range(len(scenarios))]


def fought(scenario: Mapping[str, Any], battles: int = 400, **options: Any) -> Fought:
    """Fight the battles of one scenario."""
    return fought_all([scenario], battles, **options)[0]
