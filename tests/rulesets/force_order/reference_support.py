"""Short ways to write attacks down."""

from __future__ import annotations

from typing import Any

from tests.rulesets.force_order import reference as ref

SOLDIER = {"kind": "soldier"}
SABOTEUR = {"kind": "saboteur"}
SEA_SABOTEUR = {"kind": "saboteur", "place": "sea"}
BOAT = {"kind": "boat", "place": "sea"}
LIFEBOAT = {"kind": "lifeboat", "place": "sea"}
PLANE = {"kind": "plane"}
SEA_PLANE = {"kind": "plane", "place": "sea"}
FLAG = {"kind": "flag"}
SEA_FLAG = {"kind": "flag", "place": "sea"}
MINE = {"kind": "mine"}
SEA_MINE = {"kind": "mine", "place": "sea"}

Fields = dict[str, Any]


def having(piece: Fields, *held: str) -> Fields:
    """Return a piece that holds something: mine, flag, lifeboat, cargo, tip_soldier."""
    return {**piece, **dict.fromkeys(held, True)}


def aboard(piece: Fields, mount: str = "boat_tip", place: str = "sea") -> Fields:
    """Return a piece aboard a carrier."""
    return {**piece, "mount": mount, "place": place}


def attack(
    attacker: Fields,
    target: Fields,
    result: str = "win",
    way: tuple[int, int] = (0, 1),
    *,
    blocked: bool = False,
    beside_taken: bool = False,
    **options: Any,
) -> ref.Answer:
    """Resolve an attack on a target that is `way` rows and columns off, under some options."""
    row = {
        "attacker": attacker,
        "target": target,
        "rows": way[0],
        "columns": way[1],
        "result": result,
        "blocked": blocked,
        "beside_taken": beside_taken,
    }
    return ref.resolve(row, ref.Options(**options))
