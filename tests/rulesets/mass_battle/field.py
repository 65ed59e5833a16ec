"""One army on the field, put into any state: rule steps applied to it without a battle around them."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

import simcore
from simcore.rulesets.mass_battle import lane
from simcore.rulesets.mass_battle.encoding import MAX_TYPES, RowField, Standing
from tests.rulesets.mass_battle.support import battle

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

# Kernels bear no types of their own: what they take is checked where they are compiled.
STEPS: Any = lane
PLACES = {
    "active": Standing.ACTIVE,
    "suppressed": Standing.DUE,
    "rallied": Standing.LATE,
    "routed": Standing.ROUTED,
    "failed": Standing.FAILED,
}
ATTACKER, DEFENDER = 0, 1
TURN = np.int64(1)


class Field:
    """Two armies of a scenario in one lane; squads are put and read by side, name of standing and type."""

    def __init__(self, scenario: Mapping[str, Any] | None = None) -> None:
        arrays = simcore.encode([scenario or battle("100 squad", "100 squad")]).arrays
        self.rules = arrays.rules[0]
        self.odds = arrays.odds
        self.plan = STEPS.plan_matchup(arrays, 0)
        self.squads = np.zeros((2, lane.N_STANDINGS, MAX_TYPES, 1), dtype=np.int32)
        self.in_line = np.zeros((2, 1), dtype=np.int32)

    def put(self, side: int, squads: Mapping[str, int], kind: int = 0) -> Field:
        """Set the squads of a type by name of standing."""
        for name, count in squads.items():
            self.squads[side, PLACES[name], kind, 0] = count
        return self

    def count(self, side: int, *standings: Standing, kind: int | None = None) -> int:
        """Return the squads in these standings."""
        kinds = slice(None) if kind is None else kind
        return int(sum(self.squads[side, standing, kinds, 0].sum() for standing in standings))

    def deal(self, side: int, faces: Sequence[int]) -> list[int]:
        """Let the faces of an ordinary roll hit an army; returns the faces that are dropped."""
        effects = np.zeros((3, 1), dtype=np.int32)
        places = (RowField.SUPPRESS_FACE, RowField.ROUT_FACE, RowField.DESTROY_FACE)
        face_of = [int(self.rules[place]) + 4 for place in places]
        for face in faces:
            if face in face_of:
                effects[face_of.index(face), 0] += 1
        fresh = np.zeros((MAX_TYPES, 1), dtype=np.int32)
        STEPS.deal_effects(self.rules, self.plan, self.squads, np.int64(side), np.int64(1), effects, fresh, TURN, None)
        return sorted(face for e, face in enumerate(face_of) for _ in range(effects[e, 0]))

    def backfire(self, side: int, ones: int) -> None:
        """Let own ones suppress squads."""
        left = np.zeros((2, 1), dtype=np.int32)
        left[side] = ones
        STEPS.suppress_own(self.plan, self.squads, np.int64(side), np.int64(1), left, TURN, None)

    def ending(self, turn: int = 1) -> int:
        """Return 0 if the battle goes on after this turn, otherwise its outcome + 1."""
        found = np.zeros(1, dtype=np.int32)
        turns = np.full(1, turn, dtype=np.int64)
        STEPS.find_endings(self.rules, self.plan, self.squads, turns, np.int64(1), self.in_line, found)
        return int(found[0])

    def conclude(self) -> None:
        """Let the victor pursue."""
        STEPS.end_battles(self.rules, self.plan, self.squads, np.int64(0), np.int64(1), self.in_line, TURN, None)

    def begin(self, side: int) -> None:
        """Begin a turn: suppressed squads come back, those that nobody halted leave."""
        unlimited = bool(self.rules[RowField.UNLIMITED_RALLY])
        STEPS.begin_turn(self.plan, unlimited, self.squads, np.int64(side), np.int64(1), TURN, None)


def all_faces(dice: int) -> Iterator[tuple[int, ...]]:
    """Every way in which some dice can fall."""
    return product(range(1, 7), repeat=dice)
