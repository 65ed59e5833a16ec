"""The figures by which two runs are compared: where they stand in the tables and in the sums of batches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from analysis.frames import SIDES
from simcore.argument import check_names
from simcore.errors import ScenarioError, suggestion
from simcore.model import shown
from simcore.run.batch import LOSSES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analysis.frames import Run

__all__ = ["DEFAULT_PRACTICAL", "KINDS", "Measure", "check_part", "measures", "practical_sizes"]

KINDS: Final = ("share", "cost", "length")
DEFAULT_PRACTICAL: Final = {"share": 0.01, "cost": 0.01, "length": 0.1}
"""Differences up to this size do not matter in practice: of shares, of costs as part of the mean cost of the two
sides, and of cycles or turns."""

_LOSS: Final = "swing_negative"
_COSTS: Final = {"swing": 1, "attacker_cost_lost": -1, "defender_cost_lost": 1}


@dataclass(frozen=True)
class Measure:
    """A figure that every matchup has.

    Attributes
    ----------
    name, label : str
        As in tables, and in words.
    kind : str
        "share", "cost" or "length": which practical size belongs to it.
    direction : int
        1 where more is better for the attackers, -1 where less is, 0 where neither.
    columns : tuple of str
        Columns of ``matchups`` that add up to it.
    spread : str
        Column of its standard deviation; "" for shares, which need none.
    sums : tuple of str
        Accumulators that add up to it over the battles of a batch.
    outcomes : tuple of str
        Outcomes that it is the share of; empty for means, and for other shares.
    """

    name: str
    label: str
    kind: str
    direction: int
    columns: tuple[str, ...]
    spread: str
    sums: tuple[str, ...]
    outcomes: tuple[str, ...] = ()


def measures(run: Run, names: Iterable[str] | None = None) -> tuple[Measure, ...]:
    """Return the figures to compare.

    Parameters
    ----------
    run : Run
        Gives the outcomes.
    names : iterable of str, optional
        Which; by default the win shares of both sides, swing, both costs lost and the length of battles. Others are
        ``swing_negative`` and ``p_<outcome>``.

    Returns
    -------
    tuple of Measure

    Raises
    ------
    ScenarioError
        For a name that is not known.
    """
    known = {measure.name: measure for measure in _all(run)}
    if names is None:
        return tuple(measure for name, measure in known.items() if name != _LOSS and not name.startswith("p_"))
    found: dict[str, Measure] = {}
    for name in check_names(names, "metrics", "metrics"):
        if name not in known:
            raise ScenarioError(
                f'unknown metric "{name}"{suggestion(name, known)}; metrics: {", ".join(known)}', field="metric"
            )
        found[name] = known[name]
    return tuple(found.values())


def check_part(value: object, field: str) -> None:
    """Refuse what is no number between 0 and 1, as a coverage or a share of false discoveries is.

    Parameters
    ----------
    value : object
        What was given.
    field : str
        Name of the argument.

    Raises
    ------
    ScenarioError
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 < value < 1.0:
        raise ScenarioError(f"must be a number between 0 and 1, got {shown(value)}", field=field)


def practical_sizes(given: Mapping[str, Any] | None) -> dict[str, float]:
    """Return the practical size of every kind of figure.

    Parameters
    ----------
    given : mapping of str to float, optional
        Sizes in place of the default ones.

    Returns
    -------
    dict

    Raises
    ------
    ScenarioError
        For an unknown kind, or a size that is no number from 0 to 1000.
    """
    sizes: object = {} if given is None else given
    if not isinstance(sizes, Mapping):
        raise ScenarioError(f"must be a table of sizes by kind, got {shown(sizes)}", field="practical")
    for kind, size in sizes.items():
        if not isinstance(kind, str):
            raise ScenarioError(f"must name kinds ({', '.join(KINDS)}), got {shown(kind)}", field="practical")
        if kind not in KINDS:
            raise ScenarioError(
                f'unknown kind "{kind}"{suggestion(kind, KINDS)}; kinds: {", ".join(KINDS)}', field="practical"
            )
        if isinstance(size, bool) or not isinstance(size, int | float) or not 0 <= size <= _LARGEST:
            raise ScenarioError(f"must be a number from 0 to {_LARGEST}, got {shown(size)}", field=f"practical.{kind}")
    return {**DEFAULT_PRACTICAL, **{kind: float(size) for kind, size in sizes.items()}}


_LARGEST: Final = 1_000


def _all(run: Run) -> Iterable[Measure]:
    for side, direction in zip(SIDES, (1, -1), strict=True):
        outcomes = tuple(name for name in run.wins[side] if name in run.outcomes)
        yield _share(f"{side}_win_share", f"{side}s win", direction, outcomes)
    for name, direction in _COSTS.items():
        label = "swing" if name == "swing" else f"{name.split('_', 1)[0]}s’ cost lost"
        accumulator = name if name == "swing" else name.replace("_cost_lost", ".cost_lost")
        yield Measure(name, label, "cost", direction, (f"{name}_mean",), f"{name}_sd", (f"{accumulator}.sum",))
    rounds = run.rounds
    yield Measure(rounds, rounds, "length", 0, (f"{rounds}_mean",), f"{rounds}_sd", (f"{rounds}.sum",))
    yield Measure(_LOSS, "chance of a loss", "share", -1, (_LOSS,), "", (LOSSES,))
    for outcome in run.outcomes:
        direction = sum(sign for side, sign in zip(SIDES, (1, -1), strict=True) if outcome in run.wins[side])
        yield _share(f"p_{outcome}", outcome.replace("_", " "), direction, (outcome,))


def _share(name: str, label: str, direction: int, outcomes: tuple[str, ...]) -> Measure:
    columns = tuple(f"p_{outcome}" for outcome in outcomes)
    return Measure(name, label, "share", direction, columns, "", tuple(f"outcome.{o}" for o in outcomes), outcomes)
