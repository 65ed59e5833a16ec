"""Small sweeps that the tests share."""

from __future__ import annotations

import copy
import hashlib
from typing import TYPE_CHECKING, Any

from simcore.run.plan import Plan, plan_sweep
from simcore.scenario import load_sweep

if TYPE_CHECKING:
    from pathlib import Path

SHORT_PART = 4_096
"""Battles of a part in tests: the small sweep then has six."""
TABLE_FILES = ("matchups.parquet", "survivors.parquet", "mixes.parquet")

_SMALL: dict[str, Any] = {
    "sweep": {"name": "small", "method": "simulate", "battles": 3_000, "seed": 7},
    "attacker": {"mixes": ["3 infantry, 1 tank", "2 tank", "1 infantry, 1 fighter"]},
    "defender": {"mixes": ["3 infantry", "1 infantry, 1 artillery"]},
}


def small(**tables: Any) -> dict[str, Any]:
    """Return a sweep of six matchups, with the entries of whole tables replaced or added."""
    config = copy.deepcopy(_SMALL)
    for name, table in tables.items():
        config[name] = {**config.get(name, {}), **table}
    return config


def precise(precision: float = 0.01, **settings: Any) -> dict[str, Any]:
    """Return a sweep of eight matchups to a precision, which need different numbers of battles."""
    return small(
        sweep={"precision": precision, "battles": 300_000, **settings},
        attacker={"mixes": ["3 infantry, 1 tank", "2 tank", "1 infantry, 1 fighter", "4 infantry"]},
    )


def planned(**tables: Any) -> Plan:
    """Return the plan of `small`."""
    return plan_sweep(load_sweep(small(**tables)))


def drawn(_: int) -> int:
    """Effort of solving a matchup that is simulated."""
    return 0


def digests(folder: Path) -> dict[str, str]:
    """Return a digest of each table of a results folder."""
    return {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in TABLE_FILES}


def parts_of(folder: Path) -> list[Path]:
    """Return the part files of a results folder."""
    return sorted((folder / "parts").glob("*.parquet"))
