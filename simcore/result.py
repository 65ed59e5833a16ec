"""The answer to "what are the odds": shares, intervals, losses and survivors of one matchup."""

from __future__ import annotations

import copy
import html
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from simcore.enums import Side
from simcore.schema import SPREAD

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from simcore.core.swing import SwingCounts
    from simcore.distribution import Distribution
    from simcore.schema import Ruleset, ScenarioModel

__all__ = ["Result", "expected_sd", "sample_sd", "wilson_interval"]

_Z95 = 1.959963984540054
ROUNDING = 1e-13
_LABELS = {"mean_bombard_hits": "bombardment hits"}
"""How further means are called where their names say too little."""


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


def expected_sd(n: float, total: float, squares: float) -> float:
    """Return the standard deviation of a figure from expected values.

    Parameters
    ----------
    n : float
        Probability of the battles that have the figure: 1 where all have it.
    total, squares : float
        Expected value of the figure and of its square, 0 counted where a battle does not have it.

    Returns
    -------
    float
    """
    mean = total / n
    variance = squares / n - mean * mean
    # What cancels to less than the rounding of its parts is a figure that does not vary.
    return math.sqrt(variance) if variance > ROUNDING * squares else 0.0


def whole(value: float) -> float:
    """Return a number as an integer where it is one."""
    return int(value) if value == int(value) else value


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


def _side_extras(sums: Mapping[str, float], scenario: ScenarioModel, side: Side, n: float) -> dict[str, Any]:
    """Return what became of some survivors of a side: submerged, damaged, without a place to land."""
    name = side.name.lower()
    units = scenario.counts(side)
    extras: dict[str, Any] = {}
    if f"submerged.{name}" in sums and "submarine" in units:
        extras["mean_submerged"] = sums[f"submerged.{name}"] / n
    damaged = {unit: sums[f"damaged.{name}.{unit}"] / n for unit in units if sums.get(f"damaged.{name}.{unit}")}
    if damaged:
        extras["mean_damaged"] = damaged
    squads = f"squads.{name}."
    if any(key.startswith(squads) for key in sums):
        extras["mean_squads"] = {key.removeprefix(squads): sums[key] / n for key in sums if key.startswith(squads)}
    if sums.get(f"no_landing.{name}"):
        extras["mean_without_landing_place"] = sums[f"no_landing.{name}"] / n
    return extras


def _distribution(sums: Mapping[str, float], n: float) -> dict[str, float]:
    """Return the share of each amount of damage that occurred; the last counted one stands for all larger ones."""
    counts = {name.removeprefix("damage.n."): count for name, count in sums.items() if name.startswith("damage.n.")}
    last = max(counts, key=int)
    return {amount + ("+" if amount == last else ""): count / n for amount, count in counts.items() if count}


def _counted_spread(swings: SwingCounts) -> dict[str, Any]:
    """Return the quantiles of the swing and the chance that it is below 0, with its interval."""
    n, losses = swings.battles, swings.losses
    told = {
        "quantiles": {name: whole(value) for name, value in zip(SPREAD[:-1], swings.quantiles(), strict=True)},
        "loss": losses / n,
        "loss_interval": list(wilson_interval(losses, n)),
    }
    return told | ({"rounding": whole(swings.rounding)} if swings.rounding else {})


def _parts(sums: Mapping[str, float], ruleset: Ruleset, n: float, *, is_sample: bool) -> dict[str, Any]:
    """Return the two battles of an assault: at sea in all of them, on land where somebody attacked there."""

    def moments(name: str, battles: float) -> dict[str, float]:
        return _moments(sums, name, battles, is_sample=is_sample)

    fought = sums["land.battles"]
    sea: dict[str, Any] = {
        "outcomes": {name: sums[f"sea.outcome.{name}"] / n for name in ruleset.outcomes},
        "cycles": moments("sea.cycles", n),
    }
    for side in Side:
        lost = moments(f"sea.{side.name.lower()}.cost_lost", n)
        sea[side.name.lower()] = {"mean_cost_lost": lost["mean"], "sd_cost_lost": lost["sd"]}
    land: dict[str, Any] = {
        "share": fought / n,
        "landing": sums["landings"] / n,
        "mean_landed": sums["landed.sum"] / n,
        "outcomes": {name: sums[f"land.outcome.{name}"] / fought for name in ruleset.outcomes} if fought else None,
        "cycles": moments("land.cycles", fought) if fought else None,
    }
    return {"sea": sea, "land": land}


def _moments(sums: Mapping[str, float], name: str, n: float, *, is_sample: bool) -> dict[str, float]:
    """Return mean and standard deviation of a figure from its sums over `n` battles, or its expected values."""
    total, squares = sums[f"{name}.sum"], sums[f"{name}.sumsq"]
    if is_sample:
        return {"mean": total / n, "sd": sample_sd(int(n), int(total), int(squares)) or 0.0}
    return {"mean": total / n, "sd": expected_sd(n, total, squares)}


def _results(
    ruleset: Ruleset,
    scenario: ScenarioModel,
    sums: Mapping[str, float],
    n: float,
    head: Mapping[str, Any],
    more: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the figures of a result; `sums` are those of `n` battles."""

    def moments(name: str) -> dict[str, float]:
        return _moments(sums, name, n, is_sample=head["method"] == "simulated")

    data: dict[str, Any] = {
        "ruleset": ruleset.id,
        "edition": scenario.edition,
        **head,
        "outcomes": {name: sums[f"outcome.{name}"] / n for name in ruleset.outcomes},
        **more,
        ruleset.rounds: moments(ruleset.rounds),
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
                unit: sum(sums[f"survivors.{outcome}.{name}.{place}"] for outcome in ruleset.outcomes) / n
                for unit, place in ((unit, scenario.counted_as(unit)) for unit in scenario.casualties(side))
            },
        }
        data[name] |= _side_extras(sums, scenario, side, n)
    data["swing"] = moments("swing")
    if "captured.battles" in sums:
        data["captured"] = {
            "share": sums["captured.battles"] / n,
            "mean_value": sums["captured.value"] / n,
            "mean_guns": sums["captured.guns"] / n,
            "mean_complexes": sums["captured.complexes"] / n,
            "mean_treasury": sums["captured.treasury"] / n,
        }
    if "damage.sum" in sums:
        data["damage"] = {**moments("damage"), "distribution": _distribution(sums, n)}
    for extra, name in scenario.extra_means().items():
        data[extra] = sums[name] / n
    if "sea.cycles.sum" in sums:
        data |= _parts(sums, ruleset, n, is_sample=head["method"] == "simulated")
    return data


@dataclass(frozen=True)
class Result:
    """Odds of one matchup.

    Attributes
    ----------
    data : dict
        Everything as JSON-able data; `to_dict` returns a copy of it.
    distribution : Distribution or None
        Every way in which the battle may end, where that was asked for and the battle was solved.
    """

    data: dict[str, Any]
    distribution: Distribution | None = field(default=None, compare=False)

    @classmethod
    def from_tally(
        cls,
        ruleset: Ruleset,
        scenario: ScenarioModel,
        tally: Sequence[int],
        swings: SwingCounts | None = None,
        *,
        seed: int,
        pairing: str,
        reason: str | None = None,
    ) -> Result:
        """Build the result from one row of accumulators.

        Parameters
        ----------
        ruleset : Ruleset
        scenario : ScenarioModel
        tally : int64 (K,)
            Accumulators by ``ruleset.accumulators``.
        swings : SwingCounts, optional
            How often each swing occurred.
        seed : int
        pairing : str
        reason : str, optional
            Why it was simulated, where the caller left that open.

        Returns
        -------
        Result
        """
        sums = {name: int(value) for name, value in zip(ruleset.accumulators, tally, strict=True)}
        n = sums["battles"]
        head = {"method": "simulated", "method_reason": reason, "battles": n, "seed": seed, "pairing": pairing}
        intervals = {name: list(wilson_interval(sums[f"outcome.{name}"], n)) for name in ruleset.outcomes}
        data = _results(ruleset, scenario, sums, n, head, {"intervals": intervals})
        if swings is not None:
            data["swing"] |= _counted_spread(swings)
        return cls(data)

    @classmethod
    def from_solution(
        cls,
        ruleset: Ruleset,
        scenario: ScenarioModel,
        solved: Sequence[float],
        *,
        reason: str | None = None,
        distribution: Distribution | None = None,
    ) -> Result:
        """Build the result from the expected accumulators of one battle.

        Parameters
        ----------
        ruleset : Ruleset
        scenario : ScenarioModel
        solved : float64 (K + 6,)
            Expected accumulators by ``ruleset.accumulators``, then what ``simcore.schema.SPREAD`` names of the swing.
        reason : str, optional
            Why it was solved, where the caller left that open.
        distribution : Distribution, optional
            Every way in which it may end.

        Returns
        -------
        Result
        """
        names = (*ruleset.accumulators, *SPREAD)
        means = {name: float(value) for name, value in zip(names, solved, strict=True)}
        drawn = dict.fromkeys(("battles", "seed", "pairing"))
        head = {"method": "exact", "method_reason": reason, **drawn, "dropped": 1.0 - means["battles"]}
        data = _results(ruleset, scenario, means, 1, head, {})
        if not math.isnan(means[SPREAD[0]]):
            data["swing"] |= {"quantiles": {name: int(means[name]) for name in SPREAD[:-1]}, "loss": means[SPREAD[-1]]}
        if distribution is not None:
            data["distribution"] = distribution.to_dict()
        return cls(data | ruleset.explain(scenario, means), distribution)

    @property
    def outcomes(self) -> dict[str, float]:
        """Probability of each outcome."""
        return dict(self.data["outcomes"])

    @property
    def intervals(self) -> dict[str, tuple[float, float]]:
        """Wilson's 95 % interval of each outcome; empty when the result is exact."""
        return {name: (low, high) for name, (low, high) in self.data.get("intervals", {}).items()}

    @property
    def method(self) -> str:
        """How it was found: "exact" or "simulated"."""
        return str(self.data["method"])

    @property
    def method_reason(self) -> str | None:
        """Why "auto" chose this method; None where the caller chose it."""
        reason: str | None = self.data["method_reason"]
        return reason

    @property
    def swing(self) -> dict[str, Any]:
        """Defender's cost lost minus attacker's: mean, standard deviation, ``quantiles``, chance of a loss.

        ``loss`` is the probability of a swing below 0, ``loss_interval`` its Wilson interval where battles were drawn.
        ``rounding`` is there where a quantile may lie so far from what is shown: of battles with very many swings.
        """
        return copy.deepcopy(self.data["swing"])

    @property
    def rounds(self) -> str:
        """What the length of the battle is counted in: "cycles" or "turns"."""
        return "turns" if "turns" in self.data else "cycles"

    @property
    def cycles(self) -> dict[str, float]:
        """Cycles fought: mean and standard deviation."""
        return dict(self.data["cycles"])

    @property
    def turns(self) -> dict[str, float]:
        """Turns fought, in rulesets that count them: mean and standard deviation."""
        return dict(self.data["turns"])

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
                if self.method == "exact":
                    rows.append((name.replace("_", " "), f"{p:.6%}", ""))
                    continue
                low, high = self.data["intervals"][name]
                rows.append((name.replace("_", " "), f"{p:.2%}", f"{low:.2%} to {high:.2%}"))
        return rows

    def _facts(self) -> list[tuple[str, str]]:
        facts = []
        for side in ("attacker", "defender"):
            part = self.data[side]
            left = ", ".join(f"{mean:.2f} {unit}" for unit, mean in part["mean_survivors"].items())
            facts.append((f"{side} left", left or "nothing"))
            if "mean_squads" in part:
                shown = ", ".join(f"{mean:.2f} {status}" for status, mean in part["mean_squads"].items() if mean)
                facts.append((f"{side} squads", shown or "none"))
            facts.append(
                (
                    f"{side} cost lost",
                    f"{part['mean_cost_lost']:.2f} of {part['cost']} (sd {part['sd_cost_lost']:.2f})",
                )
            )
        swing = self.data["swing"]
        # Rounded first: what is nothing but rounding has no sign.
        facts.append(("swing", f"{round(swing['mean'], 2) + 0.0:+.2f} (sd {swing['sd']:.2f})"))
        if "quantiles" in swing:
            low, _, middle, _, high = swing["quantiles"].values()
            rounding = f" (to within {swing['rounding']:g})" if "rounding" in swing else ""
            facts.append(("swing q05 / q50 / q95", f"{low:+} / {middle:+} / {high:+}{rounding}"))
            interval = "{:.2%} to {:.2%}".format(*swing["loss_interval"]) if "loss_interval" in swing else ""
            facts.append(("swing below 0", f"{swing['loss']:.2%}" + (f" (95 %: {interval})" if interval else "")))
        facts.append((self.rounds, f"{self.data[self.rounds]['mean']:.2f}"))
        return [*facts, *self._more_facts()]

    def _more_facts(self) -> list[tuple[str, str]]:
        """Return the lines that only some battles have."""
        data = self.data
        facts = []
        if "damage" in data:
            facts.append(("damage", f"{data['damage']['mean']:.2f} (sd {data['damage']['sd']:.2f})"))
        if "optimal" in data:
            part = data["optimal"]
            facts.append(("optimal play", f"{part['side']}, {', '.join(part['decisions'])}, goal {part['goal']}"))
            for label, name in (("gain over default", "gain"), ("gain over written", "gain_over_written")):
                if part[name] is not None:
                    facts.append((label, f"{part[name]:+.6g}"))
        facts += [
            (_LABELS.get(name, name.removeprefix("mean_").replace("_", " ")), f"{data[name]:.2f}")
            for name in data
            if name.startswith("mean_")
        ]
        for part in ("sea", "land"):
            if part in data and data[part]["outcomes"]:
                shares = ", ".join(
                    f"{name.replace('_', ' ')} {share:.1%}" for name, share in data[part]["outcomes"].items() if share
                )
                fought = f" (fought in {data[part]['share']:.1%})" if part == "land" else ""
                facts.append((f"{part} battle{fought}", shares))
        if "land" in data:
            facts.append(("landing", f"{data['land']['landing']:.1%}, {data['land']['mean_landed']:.2f} units"))
        return facts

    def _title(self) -> str:
        return f"{self.data['attacker']['units'] or 'nothing'} v {self.data['defender']['units'] or 'nothing'}"

    def _origin(self) -> str:
        data = self.data
        if self.method == "exact":
            return f"{data['ruleset']}, {data['edition']}, exact: no battle drawn"
        drawn = f"{data['battles']:,} battles, seed {data['seed']}, {data['pairing']}"
        why = f"; not solved: {self.method_reason}" if self.method_reason else ""
        return f"{data['ruleset']}, {data['edition']}, {drawn}{why}"

    def __str__(self) -> str:
        rows = self._rows()
        width = max(len(label) for label, *_ in [*rows, *self._facts()])
        lines = [self._title(), f"({self._origin()})", ""]
        lines += [
            f"{name:<{width}}  {share:>8}" + (f"  95 %: {interval}" if interval else "")
            for name, share, interval in rows
        ]
        lines += ["", *(f"{label:<{width}}  {text}" for label, text in self._facts())]
        if self.distribution is not None:
            lines += ["", *self.distribution.lines()]
        return "\n".join(lines)

    __repr__ = __str__

    def _shares_html(self) -> str:
        """Return the outcomes as one bar: attackers' blue, defenders' orange, grey for the others."""
        colours = (("attacker_wins", "#1f6fb2"), ("attacker", "#6ba6d6"), ("defender", "#b9570a"), ("", "#a9b0ba"))
        parts = [
            f"<i title='{html.escape(name.replace('_', ' '))} {share:.1%}' "
            f"style='display:block;width:{100 * share:.3f}%;"
            f"background:{next(colour for word, colour in colours if name.startswith(word))}'></i>"
            for name, share in self.data["outcomes"].items()
            if share > 0
        ]
        return (
            "<div style='display:flex;height:14px;max-width:480px' role='img' aria-label='shares of the outcomes'>"
            f"{''.join(parts)}</div>"
        )

    def _repr_html_(self) -> str:
        e = html.escape
        rows = "".join(f"<tr><th>{e(a)}</th><td>{e(b)}</td><td>{e(c)}</td></tr>" for a, b, c in self._rows())
        facts = "".join(f"<tr><th>{e(a)}</th><td colspan='2'>{e(b)}</td></tr>" for a, b in self._facts())
        head = f"<caption>{e(self._title())}<br><small>{e(self._origin())}</small></caption>"
        third = "" if self.method == "exact" else "95 % interval"
        table = f"<table>{head}<tr><th>outcome</th><th>share</th><th>{third}</th></tr>{rows}{facts}</table>"
        table = self._shares_html() + table
        if self.distribution is None:
            return table
        listed = "\n".join(self.distribution.lines())
        return f"{table}<pre>{e(listed)}</pre>"
