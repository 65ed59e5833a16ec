"""Time of exact solutions, one thread.

    python benchmarks/exact.py [--rounds 7]

Minima of several rounds, for each battle of a call that solves many such battles, as sweeps do. What stands behind
"known" is the time that the fastest public exact calculator of this kind of battle was seen to need on a machine like
the one these figures come from; "goal" is what this solver aims at.
"""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

from battles import seconds

import simcore

BATTLES = {
    "10 inf 5 tank v 10 inf": ("land", "10 infantry, 5 tank", "10 infantry", 0.65, 0.02),
    "8 inf 3 art 4 tank 2 ftr 1 bmb v 7 inf 2 art 2 tank 2 ftr 2 aa": (
        "land",
        "8 infantry, 3 artillery, 4 tank, 2 fighter, 1 bomber",
        "7 infantry, 2 artillery, 2 tank, 2 fighter, 2 aa_gun",
        3.5,
        0.2,
    ),
    "40 inf 20 tank 10 ftr v 50 inf 10 tank 5 ftr": (
        "land",
        "40 infantry, 20 tank, 10 fighter",
        "50 infantry, 10 tank, 5 fighter",
        38.0,
        3.0,
    ),
    "100 inf 20 art 30 tank 10 ftr 5 bmb v 110 inf 20 tank 10 ftr": (
        "land",
        "100 infantry, 20 artillery, 30 tank, 10 fighter, 5 bomber",
        "110 infantry, 20 tank, 10 fighter",
        500.0,
        45.0,
    ),
    "3 sub 2 dd 1 cru 1 cv 2 ftr 1 bb v 2 sub 2 dd 2 tt 1 cv 2 ftr 1 bb": (
        "sea",
        "3 submarine, 2 destroyer, 1 cruiser, 1 carrier, 2 fighter, 1 battleship",
        "2 submarine, 2 destroyer, 2 transport, 1 carrier, 2 fighter, 1 battleship",
        3.0,
        0.3,
    ),
    "8 sub 6 dd 3 cru 3 cv 6 ftr 2 bmb 2 bb v 6 sub 6 dd 4 tt 2 cru 3 cv 6 ftr 2 bb": (
        "sea",
        "8 submarine, 6 destroyer, 3 cruiser, 3 carrier, 6 fighter, 2 bomber, 2 battleship",
        "6 submarine, 6 destroyer, 4 transport, 2 cruiser, 3 carrier, 6 fighter, 2 battleship",
        73.0,
        10.0,
    ),
    "mass battle: 3 v 3": ("mass_battle", "3 squad", "3 squad", None, 0.1),
    "mass battle: 10 v 10": ("mass_battle", "10 squad", "10 squad", None, 50.0),
}


def scenario(kind: str, attacker: str, defender: str) -> dict[str, Any]:
    """Return a scenario of general combat by its terrain, or one of another ruleset by its name."""
    sides = {"attacker": {"units": attacker}, "defender": {"units": defender}}
    if kind in simcore.rulesets():
        return {"ruleset": kind, **sides}
    return {"edition": "1942_2nd", "terrain": kind, **sides}


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the exact solver.")
    parser.add_argument("--rounds", type=int, default=7, help="rounds; the minimum counts")
    rounds = parser.parse_args().rounds
    print(f"{'battle':<84} {'ms':>9} {'known':>8} {'goal':>7}")
    for name, (kind, attacker, defender, known, goal) in BATTLES.items():
        copies = max(1, min(64, int(64 / goal)))
        encoded = simcore.encode([scenario(kind, attacker, defender)] * copies)
        solve = partial(simcore.solve, encoded, threads=1)
        solve()
        best = 1e3 / copies * min(seconds(solve) for _ in range(rounds))
        missed = "" if best <= goal else "  <- misses its goal"
        print(f"{name:<84} {best:>9.3f} {known or '':>8} {goal:>7}{missed}")


if __name__ == "__main__":
    main()
