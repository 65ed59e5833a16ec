"""What the tests of mass battle share: scenarios as a user writes them, and battles as both sides tell them."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import simcore
from tests.rulesets.mass_battle.reference import STATES, Draw, faces_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

NEAR = 1e-12
SIDES = ("attacker", "defender")

HOUSE = {
    "house": {
        "units": {
            "levy": {"rally": 0, "cost": 1},
            "guard": {"dice": 2, "rally": 2, "size_class": 1, "cost": 3},
            "riders": {"mobile": True, "dice": 1, "cost": 2, "size_class": -1},
        }
    }
}
"""Three unlike squad types."""


def battle(attacker: Any, defender: Any, **options: Any) -> dict[str, Any]:
    """Return a scenario; armies as unit lists or as tables."""
    sides = {
        name: dict(army) if isinstance(army, dict) else {"units": army}
        for name, army in zip(SIDES, (attacker, defender), strict=True)
    }
    return {"ruleset": "mass_battle", **sides, "options": options}


def house(attacker: Any, defender: Any, **options: Any) -> dict[str, Any]:
    """Return a scenario with the squad types of `HOUSE`."""
    return {**battle(attacker, defender, **options), "edition": "house", "editions": HOUSE}


class ToldDice:
    """Dice that fell in a replay, answered to the questions of the reference."""

    def __init__(self, draws: Sequence[Mapping[str, Any]]) -> None:
        self.told: defaultdict[tuple[str, int, int], list[Mapping[str, Any]]] = defaultdict(list)
        for draw in draws:
            self.told[draw["step"], SIDES.index(draw["side"]), draw["turn"]].append(draw)

    def __call__(self, draw: Draw) -> tuple[int, ...]:
        """Return what the replay says that fell."""
        answers = self.told[draw.step, draw.side, draw.turn]
        if draw.step == "attack":
            parts = {answer["what"]: answer["hits"] for answer in answers}
            answers.clear()
            return attack_faces(parts, draw)
        answer = answers.pop(0)["hits"]
        if not draw.weights:
            return (answer,)
        for kind, weight in enumerate(draw.weights):
            if answer < weight:
                return (kind,)
            answer -= weight
        raise AssertionError("no such squad")

    def is_used_up(self) -> bool:
        """Whether the reference has asked for every die."""
        return not any(self.told.values())


def attack_faces(parts: Mapping[str, int], draw: Draw) -> tuple[int, ...]:
    """Return faces, main die first, that show what the parts of an attack roll say."""
    four = parts.get("showing 4 or more", 0)
    five = parts.get("of these, 5 or more", 0)
    six = parts.get("of these, 6", 0)
    ones = parts.get("dice below 4, 1", 0)
    if not draw.negative:
        return faces_of(draw.dice, ones=ones, fours=four - five, fives=five - six, sixes=six)
    others = draw.dice - 1
    confirming = parts.get("other dice, 4 or more", 0)
    ones_beside = min(ones, others - confirming)
    main = 6 if six else 5 if five else 4 if four else 1 if ones > ones_beside else 2
    return (main, *faces_of(others, ones=ones_beside, fours=confirming))


def squads_of(told: Any) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, int]]]:
    """Return a replay's squads as the reference counts them."""
    found = [{state: told.squads[side].get(state, {}) for state in STATES} for side in SIDES]
    return found[0], found[1]


def means(scenario: Mapping[str, Any], *, exact: bool = True, battles: int = 0) -> dict[str, float]:
    """Return the accumulators of one scenario: expected ones, or sums over battles divided by their number."""
    encoded = simcore.encode([scenario])
    if exact:
        row = simcore.solve(encoded, threads=1).tally[0].tolist()
    else:
        row = (simcore.simulate(encoded, battles=battles).tally[0] / battles).tolist()
    return dict(zip(encoded.ruleset.accumulators, row, strict=True))
