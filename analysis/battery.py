"""Many exact battles of one setting at once: the same rules and policies, other units on the two sides."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from analysis.frames import SIDES
from simcore.api import encode_checked, solve_checked
from simcore.argument import check_path
from simcore.errors import ScenarioError
from simcore.model import shown
from simcore.registry import get_ruleset
from simcore.scenario import DEFAULT_RULESET, load_scenario, read_toml
from simcore.schema import AUTO_STATES
from simcore.unittext import format_units

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from os import PathLike

    from simcore.schema import Ruleset, ScenarioModel

__all__ = ["Battery", "Counts", "announcing", "read_frame"]

FloatArray = npt.NDArray[np.float64]
Counts = Mapping[str, int]
"""Units of a side by name."""

_BATCH: Final = 512
_announce: ContextVar[Callable[[], None] | None] = ContextVar("announce", default=None)


@contextmanager
def announcing(announce: Callable[[], None]) -> Iterator[None]:
    """Have something said before the first battle is solved, when all that was given has been checked.

    Parameters
    ----------
    announce : callable
        Called once.
    """
    token = _announce.set(announce)
    try:
        yield
    finally:
        _announce.reset(token)


def read_frame(scenario: Mapping[str, Any] | str | PathLike[str] | None) -> dict[str, Any]:
    """Return a scenario's table, whose sides may be without units.

    Parameters
    ----------
    scenario : mapping or path, optional
        A scenario or its file; the default ruleset and edition when left out.

    Returns
    -------
    dict
    """
    if scenario is None:
        return {"ruleset": DEFAULT_RULESET}
    table = dict(scenario) if isinstance(scenario, Mapping) else read_toml(check_path(scenario, "scenario", "a file"))
    table.setdefault("ruleset", DEFAULT_RULESET)
    for side in SIDES:
        if not isinstance(table.get(side, {}), Mapping):
            raise ScenarioError(f"must be a table, got {shown(table[side])}", field=side)
    return table


class Battery:
    """Solves battles that differ in nothing but the units of their sides.

    Parameters
    ----------
    frame : mapping
        A scenario's table; units in it are put aside.

    Attributes
    ----------
    solved : int
        Battles solved so far.
    """

    def __init__(self, frame: Mapping[str, Any]) -> None:
        self.solved = 0
        self._frame = dict(frame)
        ruleset = get_ruleset(str(frame.get("ruleset", DEFAULT_RULESET)))
        self.ruleset: Ruleset = ruleset.of_kind(ruleset.kind_of(self._frame))
        self.units = ruleset.units_of(self._frame)
        self._sides: tuple[dict[str, ScenarioModel], dict[str, ScenarioModel]] = ({}, {})
        self._columns = {name: place for place, name in enumerate(self.ruleset.accumulators)}

    def load(self, attacker: object, defender: object) -> ScenarioModel:
        """Check one battle; units may be text or counts."""
        return load_scenario(
            {
                **self._frame,
                "attacker": {**self._frame.get("attacker", {}), "units": attacker},
                "defender": {**self._frame.get("defender", {}), "units": defender},
            }
        )

    def probe(self) -> str:
        """Return the first unit that may fight on both sides."""
        first: ScenarioError | None = None
        for unit in self.units:
            try:
                self.load({unit: 1}, {unit: 1})
            except ScenarioError as problem:
                first = first or problem
            else:
                return unit
        raise first or ScenarioError("the ruleset has no units")

    def read(self, units: object, side: str, other: Counts, field: str) -> dict[str, int]:
        """Return the units of a text or table as counts by canonical name, checked against an enemy."""
        try:
            loaded = self.load(units, dict(other)) if side == "attacker" else self.load(dict(other), units)
        except ScenarioError as problem:
            inner = problem.field
            # What is wrong with the units themselves is at the argument that they came from.
            raise (problem.at(field=field) if not inner or inner == f"{side}.units" else problem) from None
        return loaded.counts(SIDES.index(side))

    def costs(self, units: Sequence[str]) -> dict[str, int]:
        """Return what the edition's table asks for units that exist in it."""
        probe: Any = self.load({self.probe(): 1}, {self.probe(): 1})
        table = probe.rules.units
        return {unit: int(table[unit].cost) for unit in units if unit in table and table[unit].cost is not None}

    def _pair(self, attacker: Counts, defender: Counts) -> ScenarioModel:
        """Return the scenario of two sides, put together of such as were read before where that is possible."""
        keys = format_units(attacker), format_units(defender)
        first, second = self._sides[0].get(keys[0]), self._sides[1].get(keys[1])
        if first is not None and second is not None:
            try:
                found: ScenarioModel | None = self.ruleset.pair(first, second)
            except ScenarioError:
                found = None  # what is read as a whole says where it is wrong
            if found is not None:
                return found
        loaded = self.load(dict(attacker), dict(defender))
        self._sides[0].setdefault(keys[0], loaded)
        self._sides[1].setdefault(keys[1], loaded)
        return loaded

    def solve(self, battles: Sequence[tuple[Counts, Counts]]) -> FloatArray:
        """Solve battles.

        Parameters
        ----------
        battles : sequence of (attacker, defender)
            Counts by canonical name.

        Returns
        -------
        float64 (M, K)
            Expected accumulators of one battle, by ``ruleset.accumulators``.

        Raises
        ------
        ScenarioError
            For a battle that is impossible or too large to be solved; it names the two sides.
        """
        parts = [self._solve(battles[first : first + _BATCH]) for first in range(0, len(battles), _BATCH)]
        return np.concatenate(parts) if parts else np.zeros((0, len(self._columns)))

    def _solve(self, battles: Sequence[tuple[Counts, Counts]]) -> FloatArray:
        scenarios = [self._pair(*battle) for battle in battles]
        for scenario in scenarios:
            states = self.ruleset.count_states(scenario)
            if states > AUTO_STATES and not self.ruleset.may_be_far_smaller(scenario):
                raise ScenarioError(
                    f"{scenario.unit_text(0)} v {scenario.unit_text(1)} has up to {states:,} states, more than the "
                    f"{AUTO_STATES:,} that are solved here; take fewer units"
                )
        encoded, _, errors = encode_checked(scenarios, self.ruleset)
        for problem in errors.values():
            raise problem
        announce = _announce.get()
        if announce is not None:
            announce()
            _announce.set(None)
        tally, _, problems = solve_checked(encoded)
        for row, problem in problems.items():
            scenario = scenarios[row]
            raise ScenarioError(f"{scenario.unit_text(0)} v {scenario.unit_text(1)}: {problem.problem}")
        self.solved += len(battles)
        return tally[:, : len(self._columns)]

    def wins(self, tally: FloatArray, side: str) -> FloatArray:
        """Return a side's probability of winning each battle, float64 (M,)."""
        places = [self._columns[f"outcome.{name}"] for name in self.ruleset.wins[side]]
        return np.asarray(tally[:, places].sum(axis=1), dtype=np.float64)

    def lead(self, tally: FloatArray) -> FloatArray:
        """Return the attacker's probability of winning less the defender's, float64 (M,)."""
        return self.wins(tally, "attacker") - self.wins(tally, "defender")

    def swing(self, tally: FloatArray) -> FloatArray:
        """Return the expected swing, the defender's cost lost minus the attacker's, float64 (M,)."""
        return np.asarray(tally[:, self._columns["swing.sum"]], dtype=np.float64)

    def captures(self, tally: FloatArray) -> FloatArray:
        """Return the probability of a capture, float64 (M,)."""
        if "captured.battles" not in self._columns:
            raise ScenarioError(
                f'battles of ruleset "{self.ruleset.id}" know no capture; use the goal "win"', field="goal"
            )
        return np.asarray(tally[:, self._columns["captured.battles"]], dtype=np.float64)
