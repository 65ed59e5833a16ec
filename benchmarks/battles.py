"""The battles that all benchmarks measure, and the yardstick beside them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

import simcore
from simcore import api
from simcore.core.jit import kernel
from simcore.core.rng import fill_words

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

BATTLES = {
    "1 v 1": ("1 infantry", "1 infantry"),
    "10 inf 5 tank v 10 inf": ("10 infantry, 5 tank", "10 infantry"),
    "40 inf 20 tank 10 ftr v 50 inf 10 tank 5 ftr": (
        "40 infantry, 20 tank, 10 fighter",
        "50 infantry, 10 tank, 5 fighter",
    ),
    "8 inf 4 art 3 tank 3 ftr 1 bmb v 9 inf 2 art 2 tank 2 ftr 1 aa": (
        "8 infantry, 4 artillery, 3 tank, 3 fighter, 1 bomber",
        "9 infantry, 2 artillery, 2 tank, 2 fighter, 1 aa_gun",
    ),
    "8 sub 6 dd 3 cru 3 cv 6 ftr 2 bmb 2 bb v 6 sub 6 dd 4 tt 2 cru 3 cv 6 ftr 2 bb": (
        "8 submarine, 6 destroyer, 3 cruiser, 3 carrier, 6 fighter, 2 bomber, 2 battleship",
        "6 submarine, 6 destroyer, 4 transport, 2 cruiser, 3 carrier, 6 fighter, 2 battleship",
    ),
    "landing: 8 inf 4 art 3 tank 3 ftr, 2 bb 2 cru off the coast, v 9 inf 2 art 2 tank 2 ftr 1 aa": (
        "8 infantry, 4 artillery, 3 tank, 3 fighter",
        "9 infantry, 2 artillery, 2 tank, 2 fighter, 1 aa_gun",
    ),
    "mass battle: 3 v 3": ("3 squad", "3 squad"),
    "mass battle: 10 v 6 and 4 mobile": ("10 squad", "6 squad, 4 mobile_squad"),
}
ALL_RULES = {
    "territory": {"value": 3},
    "attacker": {"keep_land": 1, "retreat": {"when_only_aircraft": True, "after_cycles": 50}},
}
"""Options that switch on what a plain battle leaves out: a kept land unit, retreat tests, a prize."""

LANES = 1_024


def scenario(name: str) -> dict[str, Any]:
    """Return the scenario of a named battle, with all land rules on."""
    attacker, defender = BATTLES[name]
    if name.startswith("mass battle"):
        return {"ruleset": "mass_battle", "attacker": {"units": attacker}, "defender": {"units": defender}}
    if name.startswith("landing"):
        side = {"units": attacker, "landed": "6 infantry, 3 tank", "bombard": "2 battleship, 2 cruiser"}
        retreat = {"after_cycles": 4}
        return {
            "terrain": "amphibious",
            "attacker": {**side, "retreat": retreat},
            "defender": {"units": defender},
            "territory": {"value": 3},
        }
    if "submarine" in attacker:
        return {"terrain": "sea", "attacker": {"units": attacker}, "defender": {"units": defender}}
    return {
        **ALL_RULES,
        "attacker": {**ALL_RULES["attacker"], "units": attacker},
        "defender": {"units": defender},
    }


def fight(encoded: api.Encoded, battles: int, threads: int) -> npt.NDArray[np.int64]:
    """Resolve battles of the only scenario of `encoded`."""
    segments = np.array([[0, 0, battles]], dtype=np.int64)
    return api.tally(encoded, segments, seed=1, threads=threads)


def draws_per_battle(name: str, battles: int = 1_000) -> float:
    """Return the mean number of random words that a battle needs, counted in replays."""
    given = scenario(name)
    return float(np.mean([len(simcore.replay(given, battle=battle).draws) for battle in range(battles)]))


@kernel
def _fill_alone(blocks, words, battles, cycles, k0, k1):  # type: ignore[no-untyped-def]
    total = np.uint64(0)
    for block in range(blocks):
        fill_words(words, battles, cycles, 0, len(words), np.int64(block & 4095), k0, k1)
        total ^= words[block % len(words)]
    return total


def words_alone(blocks: int) -> int:
    """Draw ``blocks * LANES`` words in the vector loop and do nothing with them."""
    words = np.zeros(LANES, dtype=np.uint64)
    battles = np.arange(LANES, dtype=np.uint64)
    cycles = np.zeros(LANES, dtype=np.int64)
    return int(_fill_alone(blocks, words, battles, cycles, np.uint64(1), np.uint64(2)))


def seconds(call: Callable[..., object], *arguments: object) -> float:
    """Return the wall time of one call."""
    start = time.perf_counter()
    call(*arguments)
    return time.perf_counter() - start
