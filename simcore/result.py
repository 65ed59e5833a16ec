"""The answer to "what are the odds": shares, intervals, losses and survivors of one matchup."""

from __future__ import annotations

import copy
import html
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from simcore.enums import Side

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simcore.schema import Ruleset, ScenarioModel

__all__ = ["Result", "sample_sd", "wilson_interval"]

_Z95 = 1.959963984540054


def sample_sd(n: int, total: int, squares: int) -> float | None:
    """Return the sample standard deviation of `n` integers from their exact sums.

    Parameters
    ----------
    n : int
        How many.
    total, squares : int
        Their sum and the sum of their squares.

    Returns
    -------
    float or None
        None for fewer than two values.

    Examples
    --------
    >>> sample_sd(3, 6, 14)
    1.0
    """
    if n < 2:  # noqa: PLR2004 - one value has no spread
        return None
    return math.sqrt((n * squares - total * total) / (n * (n - 1)))


def wilson_interval(successes: int, n: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share.

    Parameters
    ----------
    successes, n : int
        0 <= successes <= n, n >= 1.

    Returns
    -------
    low, high : float
        Exactly 0 at the lower end without successes, exactly 1 at the upper end without failures.
    """
    p = successes / n
    z2 = _Z95**2 / n
    middle = (p + z2 / 2) / (1 + z2)
    half = _Z95 * math.sqrt(p * (1 - p) / n + z2 / (4 * n)) / (1 + z2)
    return (0.0 if successes == 0 else middle - half, 1.0 if successes == n else middle + half)


@dataclass(frozen=True)
class Result:
    """Odds of one matchup.

    Attributes
    ----------
    data : dict
        Everything as JSON-able data; `to_dict` returns a copy of it.
    """

    data: dict[str, Any]

    @classmethod
    def from_tally(
        cls, ruleset: Ruleset, scenario: ScenarioModel, tally: Sequence[int], *, seed: int, pairing: str
    ) -> Result:
        """Build the result from one row of accumulators.

        Parameters
        ----------
        ruleset : Ruleset
        scenario : ScenarioModel
        tally : int64 (K,)
            Accumulators by ``ruleset.accumulators``.
        seed : int
        pairing : str

        Returns
        -------
        Result
        """
        sums = {name: int(value) for name, value in zip(ruleset.accumulators, tally, strict=True)}
        n = sums["battles"]

        def moments(name: str) -> dict[str, float]:
            total, squares = sums[f"{name}.sum"], sums[f"{name}.sumsq"]
            return {"mean": total / n, "sd": sample_sd(n, total, squares) or 0.0}

        data: dict[str, Any] = {
            "ruleset": ruleset.id,
            "edition": scenario.edition,
            "method": "simulated",
            "battles": n,
            "seed": seed,
            "pairing": pairing,
            "outcomes": {name: sums[f"outcome.{name}"] / n for name in ruleset.outcomes},
            "intervals": {name: list(wilson_interval(sums[f"outcome.{name}"], n)) for name in ruleset.outcomes},
            "cycles": moments("cycles"),
        }
        for side in Side:
            name = side.name.lower()
            lost = moments(f"{name}.cost_lost")
            data[name] = {
                "units": scenario.unit_text(side),
                "cost": scenario.cost(side),
                "mean_cost_lost": lost["mean"],
                "sd_cost_lost": lost["sd"],
                "mean_survivors": {
                    unit: sum(sums[f"survivors.{outcome}.{name}.{unit}"] for outcome in ruleset.outcomes) / n
                    for unit in scenario.casualties(side)
                },
            }
            if f"submerged.{name}" in sums and "submarine" in scenario.counts(side):
                data[name]["mean_submerged"] = sums[f"submerged.{name}"] / n
        data["swing"] = moments("swing")
        if "captured.battles" in sums:
            data["captured"] = {
                "share": sums["captured.battles"] / n,
                "mean_value": sums["captured.value"] / n,
                "mean_guns": sums["captured.guns"] / n,
                "mean_complexes": sums["captured.complexes"] / n,
            }
        return cls(data)

    @property
    def outcomes(self) -> dict[str, float]:
        """Probability of each outcome."""
        return dict(self.data["outcomes"])

    @property
    def intervals(self) -> dict[str, tuple[float, float]]:
        """Wilson's 95 % interval of each outcome; empty when the result is exact."""
        return {name: (low, high) for name, (low, high) in self.data.get("intervals", {}).items()}

    @property
    def swing(self) -> dict[str, float]:
        """Defender's cost lost minus attacker's: mean and standard deviation."""
        return dict(self.data["swing"])

    @property
    def cycles(self) -> dict[str, float]:
        """Cycles fought: mean and standard deviation."""
        return dict(self.data["cycles"])

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON-able data (what ``simcore odds --json`` prints)."""
        return copy.deepcopy(self.data)

    def to_frame(self) -> Any:
        """Return a pandas frame with one row per outcome: share and interval."""
        import pandas as pd  # noqa: PLC0415 - frames are optional here

        rows = [
            (name, p, *self.data.get("intervals", {}).get(name, (p, p))) for name, p in self.data["outcomes"].items()
        ]
        return pd.DataFrame(rows, columns=["outcome", "share", "low", "high"]).set_index("outcome")

    def _rows(self) -> list[tuple[str, str, str]]:
        rows = []
        for name, p in self.data["outcomes"].items():
            if p > 0:
                low, high = self.data["intervals"][name]
                rows.append((name.replace("_", " "), f"{p:.2%}", f"{low:.2%} to {high:.2%}"))
        return rows

    def _facts(self) -> list[tuple[str, str]]:
        facts = []
        for side in ("attacker", "defender"):
            part = self.data[side]
            left = ", ".join(f"{mean:.2f} {unit}" for unit, mean in part["mean_survivors"].items())
            facts.append((f"{side} left", left or "nothing"))
            facts.append(
                (
                    f"{side} cost lost",
                    f"{part['mean_cost_lost']:.2f} of {part['cost']} (sd {part['sd_cost_lost']:.2f})",
                )
            )
        facts.append(("swing", f"{self.data['swing']['mean']:+.2f} (sd {self.data['swing']['sd']:.2f})"))
        facts.append(("cycles", f"{self.data['cycles']['mean']:.2f}"))
        return facts

    def _title(self) -> str:
        return f"{self.data['attacker']['units'] or 'nothing'} v {self.data['defender']['units'] or 'nothing'}"

    def _origin(self) -> str:
        data = self.data
        return (
            f"{data['ruleset']}, {data['edition']}, {data['battles']:,} battles, seed {data['seed']}, {data['pairing']}"
        )

    def __str__(self) -> str:
        rows = self._rows()
        width = max(len(label) for label, *_ in [*rows, *self._facts()])
        lines = [self._title(), f"({self._origin()})", ""]
        lines += [f"{name:<{width}}  {share:>8}  95 %: {interval}" for name, share, interval in rows]
        lines += ["", *(f"{label:<{width}}  {text}" for label, text in self._facts())]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        e = html.escape
        rows = "".join(f"<tr><th>{e(a)}</th><td>{e(b)}</td><td>{e(c)}</td></tr>" for a, b, c in self._rows())
        facts = "".join(f"<tr><th>{e(a)}</th><td colspan='2'>{e(b)}</td></tr>" for a, b in self._facts())
        head = f"<caption>{e(self._title())}<br><small>{e(self._origin())}</small></caption>"
        return f"<table>{head}<tr><th>outcome</th><th>share</th><th>95 % interval</th></tr>{rows}{facts}</table>"
