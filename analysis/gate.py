"""Gates: limits that a comparison must keep, read from a TOML file.

``[gates]`` holds the limits, ``[compare]`` how the comparison is made. A gate is judged by what is sure: a row counts
as a change when its verdict says so, never for a figure that chance may have moved.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
from pydantic import Field

from analysis.contrast import change_text, matchup_name, mix_name
from analysis.measure import practical_sizes
from analysis.wording import count_text, plural
from simcore.errors import ScenarioError, suggestion
from simcore.model import FrozenModel, parse_model
from simcore.scenario import read_toml

if TYPE_CHECKING:
    from pathlib import Path

    from analysis.comparison import Comparison

__all__ = ["CompareSettings", "GateFile", "GateLimits", "Judgement", "judge", "read_gates"]

_CHANGES: Final = ("better", "worse", "changed")
_SHOWN: Final = 3
_ROUNDING: Final = 1e-12


class GateLimits(FrozenModel):
    """Table ``[gates]``: every limit is left out or a number."""

    metrics: list[str] | None = Field(default=None, description="Metrics that count for the limits; all by default")
    max_worse: int | None = Field(default=None, ge=0, description="Most matchups with a metric that is worse")
    max_better: int | None = Field(default=None, ge=0, description="Most matchups with a metric that is better")
    max_changed: int | None = Field(
        default=None, ge=0, description="Most matchups with a metric that is better, worse or changed"
    )
    max_unclear: int | None = Field(default=None, ge=0, description="Most matchups with a metric that is unclear")
    max_failed: int | None = Field(default=None, ge=0, description="Most matchups that failed in either run")
    max_not_comparable: int | None = Field(default=None, ge=0, description="Most matchups without a counterpart")
    max_share_change: float | None = Field(
        default=None, ge=0.0, le=1.0, description="Largest change of any share that is sure, 0.05 = 5 points"
    )
    max_cost_change: float | None = Field(
        default=None,
        ge=0.0,
        description="Largest change of any cost that is sure, as part of the mean cost of both sides",
    )
    max_length_change: float | None = Field(
        default=None, ge=0.0, description="Largest change of the length of battles that is sure, in cycles or turns"
    )
    max_worse_mixes: int | None = Field(
        default=None, ge=0, description="Most mixes whose mean win share over the field is worse"
    )
    max_better_mixes: int | None = Field(default=None, ge=0, description="Most mixes for which it is better")
    max_changed_mixes: int | None = Field(default=None, ge=0, description="Most mixes for which it is better or worse")
    max_mix_change: float | None = Field(
        default=None, ge=0.0, le=1.0, description="Largest sure change of a mix's mean win share, 0.05 = 5 points"
    )
    min_matchups: int | None = Field(default=None, ge=0, description="Fewest matchups that must have been compared")
    required_metrics: list[str] = Field(
        default_factory=list, description="Metrics that every matchup of both runs must have a result in"
    )


class CompareSettings(FrozenModel):
    """Table ``[compare]``: how the comparison is made."""

    metrics: list[str] | None = Field(default=None, description="Metrics to compare")
    practical: dict[str, float] = Field(default_factory=dict, description="Size that matters of each kind of metric")
    fdr: float = Field(default=0.05, gt=0.0, lt=1.0, description="Share of false discoveries that is accepted")
    correction: Literal["auto", "hochberg", "yekutieli"] = Field(
        default="auto", description="How p-values are adjusted"
    )

    def options(self) -> dict[str, Any]:
        """Return the options of `analysis.compare`."""
        return {
            "metrics": self.metrics, "practical": self.practical, "fdr": self.fdr, "correction": self.correction,
        }  # fmt: skip


class GateFile(FrozenModel):
    """A file of gates."""

    gates: GateLimits
    compare: CompareSettings = CompareSettings()
    source: str = Field(default="", exclude=True, json_schema_extra={"internal": True})


@dataclass(frozen=True)
class Judgement:
    """How a comparison stands to one gate.

    Attributes
    ----------
    gate : str
        Name of the limit.
    limit, found : float
        What is allowed and what was found.
    is_kept : bool
    examples : tuple of str
        Matchups that broke it, the worst first.
    """

    gate: str
    limit: float
    found: float
    is_kept: bool
    examples: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The judgement as a sentence."""
        word = "kept" if self.is_kept else "FAILED"
        text = f"{self.gate}: {word}, {_number(self.found)} of {_number(self.limit)} allowed"
        if self.gate.startswith(("min_", "required")):
            text = f"{self.gate}: {word}, {_number(self.found)} found, {_number(self.limit)} needed"
        return text + (f" ({'; '.join(self.examples)})" if self.examples and not self.is_kept else "")

    def to_dict(self) -> dict[str, Any]:
        """Return the judgement as JSON-able values."""
        return {
            "gate": self.gate, "limit": self.limit, "found": self.found, "kept": self.is_kept,
            "examples": list(self.examples),
        }  # fmt: skip


def read_gates(path: str | Path) -> GateFile:
    """Read a file of gates.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    GateFile

    Raises
    ------
    ScenarioError
        Names file, field, value and what is allowed.

    Examples
    --------
    >>> read_gates("gates.toml").gates.max_worse  # doctest: +SKIP
    0
    """
    data = read_toml(path)
    source = str(path)
    if "source" in data:
        raise ScenarioError("unknown field; allowed: compare, gates", field="source", source=source)
    found = parse_model(GateFile, {**data, "source": source}, source=source)
    limits = found.gates.model_dump(exclude_none=True, exclude={"metrics"}, exclude_defaults=True)
    if not limits:
        known = ", ".join(name for name in GateLimits.model_fields if name != "metrics")
        raise ScenarioError(f"sets no limit; limits: {known}", field="gates", source=source)
    try:
        practical_sizes(found.compare.practical)
    except ScenarioError as problem:
        raise problem.at(field=f"compare.{problem.field}", source=source) from None
    return found


def judge(comparison: Comparison, gates: GateFile) -> tuple[Judgement, ...]:
    """Hold a comparison against its gates.

    Parameters
    ----------
    comparison : Comparison
    gates : GateFile

    Returns
    -------
    tuple of Judgement
        One for every limit that is set, in the order of the documentation.

    Raises
    ------
    ScenarioError
        When a gate asks for a metric that was not compared.
    """
    limits = gates.gates
    known = [measure.name for measure in comparison.metrics]
    for field, names in (("metrics", limits.metrics or ()), ("required_metrics", limits.required_metrics)):
        for name in names:
            if name not in known:
                raise ScenarioError(
                    f'"{name}" was not compared{suggestion(name, known)}; metrics: {", ".join(known)}',
                    field=f"gates.{field}",
                    source=gates.source,
                )
    found: list[Judgement] = []
    for gate, verdicts in (
        ("max_worse", ("worse",)),
        ("max_better", ("better",)),
        ("max_changed", _CHANGES),
        ("max_unclear", ("unclear",)),
        ("max_failed", ("failed",)),
        ("max_not_comparable", ("not comparable",)),
    ):
        limit = getattr(limits, gate)
        if limit is not None:
            found.append(_counted(comparison, gate, limit, verdicts, limits.metrics))
    for kind in ("share", "cost", "length"):
        limit = getattr(limits, f"max_{kind}_change")
        if limit is not None:
            found.append(_largest(comparison, kind, limit, limits.metrics))
    found += _of_mixes(comparison, limits)
    if limits.min_matchups is not None:
        rows = comparison.rows
        number = int(rows[rows["test"] != ""]["pair"].nunique())
        found.append(Judgement("min_matchups", limits.min_matchups, number, number >= limits.min_matchups))
    if limits.required_metrics:
        found.append(_required(comparison, limits.required_metrics))
    return tuple(found)


def _number(value: float) -> str:
    return count_text(int(value)) if float(value).is_integer() else f"{value:.4g}"


def _named(comparison: Comparison, rows: Any) -> tuple[str, ...]:
    """Return some matchups of rows by name."""
    table = rows.drop_duplicates("pair")
    names = [
        matchup_name({str(key): value for key, value in row.items()}, comparison.keys)
        for row in table.head(_SHOWN).to_dict(orient="records")
    ]
    more = len(table) - len(names)
    return (*names, *([f"and {plural(more, 'more', 'more')}"] if more > 0 else []))


def _counted(
    comparison: Comparison, gate: str, limit: int, verdicts: tuple[str, ...], metrics: list[str] | None
) -> Judgement:
    rows = comparison.select(verdicts, metrics)
    number = int(rows["pair"].nunique())
    return Judgement(gate, limit, number, number <= limit, _named(comparison, rows) if number > limit else ())


def _largest(comparison: Comparison, kind: str, limit: float, metrics: list[str] | None) -> Judgement:
    """Return the judgement of the largest sure change of a kind of metric, in the unit of its limit."""
    names = [
        measure.name
        for measure in comparison.metrics
        if measure.kind == kind and (metrics is None or measure.name in metrics)
    ]
    rows = comparison.rows
    is_sure = (rows["test"] == "exact") | (rows["p_adjusted"] <= comparison.fdr)
    rows = rows[is_sure & rows["metric"].isin(names)]
    size = np.abs(rows["difference"].to_numpy(dtype=np.float64))
    if kind == "cost":
        size /= comparison.mean_costs[rows["pair"].to_numpy()]
    largest = float(size.max()) if len(size) else 0.0
    order = np.argsort(-size, kind="stable")
    order = order[size[order] > limit + _ROUNDING]
    examples = tuple(
        f"{matchup_name(row, comparison.keys)}: {row['metric']} {change_text(row['difference'], kind)}"
        for row in ({str(k): v for k, v in row.items()} for row in rows.take(order[:_SHOWN]).to_dict(orient="records"))
    )
    return Judgement(f"max_{kind}_change", limit, largest, largest <= limit + _ROUNDING, examples)


def _of_mixes(comparison: Comparison, limits: GateLimits) -> list[Judgement]:
    """Return the judgements of what became of the mixes."""
    mixes = comparison.mixes
    found = []
    for gate, verdicts in (
        ("max_worse_mixes", ["worse"]),
        ("max_better_mixes", ["better"]),
        ("max_changed_mixes", ["better", "worse"]),
    ):
        limit = getattr(limits, gate)
        if limit is not None:
            rows = comparison.mix_findings
            rows = rows[rows["verdict"].isin(verdicts)]
            is_kept = len(rows) <= limit
            found.append(Judgement(gate, limit, len(rows), is_kept, () if is_kept else _named_mixes(comparison, rows)))
    if limits.max_mix_change is not None:
        is_sure = (mixes["test"] == "exact") | (mixes["p_adjusted"] <= comparison.fdr)
        size = np.where(is_sure, np.abs(mixes["difference"].to_numpy(dtype=np.float64)), 0.0)
        largest = float(size.max()) if len(size) else 0.0
        broken = np.flatnonzero(size > limits.max_mix_change + _ROUNDING)
        rows = mixes.take(broken[np.argsort(-size[broken], kind="stable")])
        found.append(
            Judgement("max_mix_change", limits.max_mix_change, largest, not len(rows), _named_mixes(comparison, rows))
        )
    return found


def _named_mixes(comparison: Comparison, rows: Any) -> tuple[str, ...]:
    """Return some mixes by name, with how much they changed."""
    names = [
        f"{mix_name(row, comparison.mix_keys)} {change_text(row['difference'], 'share')}"
        for row in ({str(k): v for k, v in row.items()} for row in rows.head(_SHOWN).to_dict(orient="records"))
    ]
    more = len(rows) - len(names)
    return (*names, *([f"and {plural(more, 'more', 'more')}"] if more > 0 else []))


def _required(comparison: Comparison, metrics: list[str]) -> Judgement:
    rows = comparison.rows
    wanted = rows["metric"].isin(metrics)
    missing = rows[wanted & (rows["test"] == "")]
    return Judgement(
        "required_metrics", int(wanted.sum()), int(wanted.sum()) - len(missing), not len(missing),
        _named(comparison, missing),
    )  # fmt: skip
