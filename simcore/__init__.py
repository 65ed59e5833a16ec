"""simcore: battles by the million, reproducible to the bit, for balance analysts.

The public verbs are resolved lazily: importing the package imports neither numba nor pandas.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simcore.api import Encoded, Simulation, Solution, encode, odds, replay, rulesets, simulate, solve
    from simcore.errors import (
        ClusterError,
        KernelStatusError,
        ResumeMismatchError,
        ScenarioError,
        SimcoreError,
        StoreError,
        UnknownRulesetError,
    )
    from simcore.result import Result
    from simcore.run.session import SweepResult, sweep

__version__ = "0.1.0"

_HOMES = {
    "simcore.api": (
        "Encoded",
        "Simulation",
        "Solution",
        "encode",
        "odds",
        "replay",
        "rulesets",
        "simulate",
        "solve",
    ),
    "simcore.errors": (
        "ClusterError",
        "KernelStatusError",
        "ResumeMismatchError",
        "ScenarioError",
        "SimcoreError",
        "StoreError",
        "UnknownRulesetError",
    ),
    "simcore.result": ("Result",),
    "simcore.run.session": ("SweepResult", "sweep"),
}
_WHERE = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "ClusterError",
    "Encoded",
    "KernelStatusError",
    "Result",
    "ResumeMismatchError",
    "ScenarioError",
    "SimcoreError",
    "Simulation",
    "Solution",
    "StoreError",
    "SweepResult",
    "UnknownRulesetError",
    "encode",
    "odds",
    "replay",
    "rulesets",
    "simulate",
    "solve",
    "sweep",
]


# The folder of the battle systems has the name of the verb ``rulesets()``, and importing a package binds its
# name in its parent. Doing it once here and taking the name away again keeps the verb a verb for good.
importlib.import_module("simcore.rulesets")
globals().pop("rulesets", None)


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(importlib.import_module(_WHERE[name]), name)
    raise AttributeError(f"module 'simcore' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_WHERE])
