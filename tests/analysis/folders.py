"""Results folders made by hand: what a sweep would have written, from figures that a test chooses."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

OUTCOMES = (
    "attacker_wins", "attacker_clears", "both_destroyed", "defender_wins", "attacker_retreats", "stand_off",
    "unfinished",
)  # fmt: skip
UNITS = ("infantry", "artillery", "tank", "fighter", "bomber")
COST = {"infantry": 3, "artillery": 4, "tank": 6, "fighter": 10, "bomber": 12}
FIGURES = (
    "cycles_mean", "cycles_sd", "attacker_cost_lost_mean", "attacker_cost_lost_sd", "defender_cost_lost_mean",
    "defender_cost_lost_sd", "swing_mean", "swing_sd", "p_captured", "value_gained_mean",
)  # fmt: skip


@dataclass(frozen=True)
class Mix:
    name: str
    units: str = "10 infantry"
    cost: int = 30
    weight: float = 1.0


def matchup(
    attacker: Mix,
    defender: Mix,
    counts: dict[str, int] | None,
    *,
    losses: tuple[float, float] = (10.0, 10.0),
    sds: tuple[float, float, float] = (4.0, 4.0, 6.0),
    cycles: tuple[float, float] = (3.0, 1.0),
    error: str = "",
    method: str = "simulated",
    **grid: Any,
) -> dict[str, Any]:
    """One row; `counts` None makes a failed one. `sds`: attacker's loss, defender's loss, swing.

    An exact row has the shares of the counts and no counts.
    """
    row: dict[str, Any] = {
        "attacker": attacker.name,
        "defender": defender.name,
        "attacker_units": attacker.units,
        "defender_units": defender.units,
        "attacker_weight": attacker.weight,
        "defender_weight": defender.weight,
        "attacker_cost": attacker.cost,
        "defender_cost": defender.cost,
        **{f"grid.{key.replace('__', '.')}": value for key, value in grid.items()},
        "method": method,
        "status": "failed" if counts is None else "ok",
        "error": error,
    }
    battles = sum(counts.values()) if counts else 0
    is_exact = method == "exact"
    row["battles"] = 0 if is_exact else battles
    for outcome in OUTCOMES:
        row[f"n_{outcome}"] = None if counts is None or is_exact else counts.get(outcome, 0)
        row[f"p_{outcome}"] = None if counts is None else counts.get(outcome, 0) / battles
    figures: Iterable[float | None] = [None] * len(FIGURES)
    if counts is not None:
        captured = counts.get("attacker_wins", 0) / battles
        figures = (
            *cycles, losses[0], sds[0], losses[1], sds[1], losses[1] - losses[0], sds[2], captured, 3 * captured,
        )  # fmt: skip
    row.update(zip(FIGURES, figures, strict=True))
    return row


def write(
    folder: Path, rows: Sequence[dict[str, Any]], *, grid: dict[str, list[Any]] | None = None, **manifest: Any
) -> Path:
    """Write a complete results folder and return it."""
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    return write_columns(folder, columns, grid=grid, **manifest)


def write_columns(
    folder: Path, columns: dict[str, Any], *, grid: dict[str, list[Any]] | None = None, **manifest: Any
) -> Path:
    """Write a folder from the columns of its matchups."""
    folder.mkdir(parents=True, exist_ok=True)
    number = len(columns["attacker"])
    battles = int(np.max(columns["battles"]))
    constant = {"ruleset": "general_combat", "edition": "spring1942", "seed": str(manifest.get("seed", 7))}
    matchups = {
        "matchup": pa.array(np.arange(number, dtype=np.int32)),
        **columns,
        **{name: pa.array([value] * number) for name, value in constant.items()},
    }
    pq.write_table(pa.table(matchups), folder / "matchups.parquet")
    pq.write_table(_mixes(columns, grid or {}), folder / "mixes.parquet")
    pq.write_table(_survivors(columns), folder / "survivors.parquet")
    names = {
        side: sorted(set(zip(*(columns[f"{side}{end}"] for end in ("", "_units", "_weight")), strict=True)))
        for side in ("attacker", "defender")
    }
    settings = {
        "schema": 1,
        "name": "land-30",
        "ruleset": "general_combat",
        "ruleset_version": 1,
        "edition": "spring1942",
        "method": "simulated",
        "battles": battles,
        "seed": 7,
        "pairing": "matchup",
        "grid": grid or {},
        "matchups": number,
        "failed": sum(status != "ok" for status in columns["status"]),
        "mixes": {
            side: [{"name": name, "units": units, "weight": weight} for name, units, weight in mixes]
            for side, mixes in names.items()
        },
        "versions": {"simcore": "0.1.0", "numba": "0.68.1", "numpy": "2.4.6", "python": "3.11.9", "rng": "1"},
        "source_digest": "0123456789abcdef",
        "sweep": {"sweep": {"name": "land-30", "battles": battles, "seed": 7}, "scenario": {}},
        "created": "2026-11-29T21:00:00+00:00",
        "finished": "2026-11-29T21:03:12+00:00",
        "elapsed_s": 192.4,
        "state": "complete",
        "outcomes": list(OUTCOMES),
        "report": {},
        **manifest,
    }
    (folder / "manifest.json").write_text(json.dumps(settings), encoding="utf-8")
    return folder


def _mixes(columns: dict[str, Any], grid: dict[str, list[Any]]) -> pa.Table:
    keys = [f"grid.{key}" for key in grid]
    rows: dict[tuple[Any, ...], None] = {}
    for side in ("attacker", "defender"):
        fields = [columns[name] for name in keys]
        fields += [columns[f"{side}{end}"] for end in ("", "_units", "_cost", "_weight")]
        rows.update(dict.fromkeys((side, *row) for row in zip(*fields, strict=True)))
    names = ["side", *keys, "mix", "units", "cost", "weight"]
    return pa.table({name: [row[place] for row in rows] for place, name in enumerate(names)})


def _survivors(columns: dict[str, Any]) -> pa.Table:
    """Half of every unit survives on average, wherever a matchup has a result."""
    rows = []
    for number, status in enumerate(columns["status"]):
        if status != "ok" or number >= 20_000:
            continue
        for side in ("attacker", "defender"):
            for part in columns[f"{side}_units"][number].split(", "):
                start, unit = part.split(" ")
                rows.append((number, side, unit, "all", int(columns["battles"][number]), int(start), int(start) / 2))
    names = ("matchup", "side", "unit", "outcome", "battles", "start", "mean")
    types = (pa.int32(), pa.string(), pa.string(), pa.string(), pa.int64(), pa.int32(), pa.float64())
    return pa.table(
        {
            name: pa.array([row[place] for row in rows], type=kind)
            for place, (name, kind) in enumerate(zip(names, types, strict=True))
        }
    )


def some_mixes(number: int, seed: int) -> list[Mix]:
    """Different unit mixes of about the same cost, named by their units as a sweep does."""
    rng = np.random.default_rng(seed)
    found: dict[str, Mix] = {}
    while len(found) < number:
        left, counts = 30 + int(rng.integers(0, 3 + number // 10)), dict.fromkeys(UNITS, 0)
        while left >= COST["infantry"]:
            unit = str(rng.choice([name for name in UNITS if COST[name] <= left]))
            counts[unit] += 1
            left -= COST[unit]
        text = ", ".join(f"{count} {unit}" for unit, count in counts.items() if count)
        cost = sum(COST[unit] * count for unit, count in counts.items())
        found.setdefault(text, Mix(text, text, cost))
    return list(found.values())


def battlefield(
    attackers: Sequence[Mix],
    defenders: Sequence[Mix],
    *,
    battles: int = 10_000,
    grid: dict[str, list[Any]] | None = None,
    seed: int = 5,
) -> dict[str, Any]:
    """Return plausible columns of all matchups: every mix has a strength, chance does the rest."""
    rng = np.random.default_rng(seed)
    (key, values), *_ = (grid or {"": [None]}).items()
    points, one, two = len(values), len(attackers), len(defenders)
    strength = [rng.normal(0.0, 1.0, one), rng.normal(0.3, 1.0, two)]
    lead = strength[0][:, None] - strength[1][None, :] + rng.normal(0.0, 0.4, (points, one, two))
    lead = (lead + 0.4 * np.arange(points)[:, None, None]).reshape(-1)
    win = 0.97 / (1.0 + np.exp(-1.6 * lead))
    chances = np.stack([0.96 * win, 0.04 * win, np.full_like(win, 0.03), 0.97 - win], axis=1)
    counts = rng.multinomial(battles, chances / chances.sum(axis=1, keepdims=True))
    place = np.indices((points, one, two)).reshape(3, -1)
    columns: dict[str, Any] = {}
    for side, mixes, index in (("attacker", attackers, place[1]), ("defender", defenders, place[2])):
        columns[side] = np.array([mix.name for mix in mixes], dtype=object)[index]
        columns[f"{side}_units"] = np.array([mix.units for mix in mixes], dtype=object)[index]
        columns[f"{side}_weight"] = np.array([mix.weight for mix in mixes])[index]
        columns[f"{side}_cost"] = np.array([mix.cost for mix in mixes])[index]
    if key:
        columns[f"grid.{key}"] = [values[point] for point in place[0]]
    columns["method"] = np.full(len(win), "simulated", dtype=object)
    columns["status"] = np.full(len(win), "ok", dtype=object)
    columns["error"] = np.full(len(win), "", dtype=object)
    columns["battles"] = np.full(len(win), battles)
    for number, outcome in enumerate(OUTCOMES):
        found = counts[:, number] if number < counts.shape[1] else np.zeros(len(win), dtype=np.int64)
        columns[f"n_{outcome}"], columns[f"p_{outcome}"] = found, found / battles
    own, enemy = 30.0 * (1.0 - win) + 5.0, 30.0 * win + 5.0
    figures = (
        3.0 + np.abs(lead) / 4, np.full_like(win, 1.2), own, 6.0 + 4.0 * win * (1 - win), enemy,
        6.0 + 4.0 * win * (1 - win), enemy - own, np.full_like(win, 13.0), counts[:, 0] / battles,
        3 * counts[:, 0] / battles,
    )  # fmt: skip
    columns.update(zip(FIGURES, figures, strict=True))
    return columns
