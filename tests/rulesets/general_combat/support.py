"""Short ways to write land battles down and to look at what became of them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from fractions import Fraction
from math import fsum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from hypothesis import Phase
from hypothesis import strategies as st

import simcore
from tests.rulesets.general_combat import reference as ref

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

CASES = Path(__file__).parent / "cases"
EDITIONS = tuple(ref.EDITIONS)
AAA_EDITIONS = ("1942_2nd", "global40_2nd")
GUN_EDITIONS = ("spring1942", "aa50", "revised")


# A failure names its scenario and battle; making a list of scenarios smaller takes long and tells no more.
no_shrinking = (Phase.explicit, Phase.reuse, Phase.generate)


def cases(name: str) -> list[dict[str, Any]]:
    """Read a file of cases."""
    found: list[dict[str, Any]] = json.loads((CASES / f"{name}.json").read_text(encoding="utf-8"))
    return found


def land(attacker: str, defender: str, edition: str = "spring1942", **options: Any) -> dict[str, Any]:
    """Return a scenario; the options of a side are given as ``attacker_keep_land=1``."""
    scenario: dict[str, Any] = {
        "edition": edition,
        "attacker": {"units": attacker},
        "defender": {"units": defender},
    }
    for name, value in options.items():
        side, _, field = name.partition("_")
        if side in ref.SIDES:
            scenario[side][field] = value
        else:
            scenario[name] = value
    return scenario


class Fought:
    """The battles of one scenario."""

    def __init__(self, simulation: Any, row: int) -> None:
        self.outcome: npt.NDArray[np.str_] = np.array(ref.OUTCOMES)[simulation.outcome[row]]
        self.cycles: npt.NDArray[np.int64] = simulation.cycles[row].astype(np.int64)
        self.cost_lost: npt.NDArray[np.int64] = simulation.cost_lost[row].astype(np.int64)
        self.captured_value: npt.NDArray[np.int64] = simulation.captured_value[row].astype(np.int64)
        self.survivors: npt.NDArray[np.int64] = simulation.survivors[row].astype(np.int64)
        self.tally: dict[str, int] = dict(
            zip(simulation.ruleset.accumulators, simulation.tally[row].tolist(), strict=True)
        )

    def left(self, side: str, *units: str) -> npt.NDArray[np.int64]:
        """Return the number of survivors of a side in each battle, of some units or of all."""
        chosen = [ref.TYPE[unit] for unit in units] or list(range(len(ref.UNITS)))
        total: npt.NDArray[np.int64] = self.survivors[:, ref.SIDES.index(side)][:, chosen].sum(axis=1)
        return total

    def outcomes(self) -> set[str]:
        """Return the outcomes that occurred."""
        return set(self.outcome.tolist())

    def same_as(self, other: Fought) -> bool:
        """Say whether all battles went the same way."""
        return (
            np.array_equal(self.outcome, other.outcome)
            and np.array_equal(self.cycles, other.cycles)
            and np.array_equal(self.survivors, other.survivors)
        )


def fought_all(scenarios: Sequence[Mapping[str, Any]], battles: int = 400, **options: Any) -> list[Fought]:
    """Fight the battles of several scenarios."""
    simulation = simcore.simulate(simcore.encode(scenarios), battles=battles, keep_battles=True, **options)
    return [Fought(simulation, row) for row in range(len(scenarios))]


def fought(scenario: Mapping[str, Any], battles: int = 400, **options: Any) -> Fought:
    """Fight the battles of one scenario."""
    return fought_all([scenario], battles, **options)[0]


# --------------------------------------------------------------------------------------------------
# The sampler beside the reference
# --------------------------------------------------------------------------------------------------


def kept_ending(simulation: Any, row: int, number: int) -> dict[str, Any]:
    """Return what the sampler keeps of every battle and every raid."""
    return {
        "outcome": simulation.ruleset.outcomes[simulation.outcome[row, number]],
        "cycles": int(simulation.cycles[row, number]),
        "survivors": [
            {unit: int(n) for unit, n in zip(ref.UNITS, counts, strict=True) if n}
            for counts in simulation.survivors[row, number]
        ],
        "cost_lost": simulation.cost_lost[row, number].tolist(),
    }


def outline_ending(fought: Any) -> dict[str, Any]:
    """Return the same of a battle or raid of the reference."""
    return {
        "outcome": fought.outcome,
        "cycles": fought.cycles,
        "survivors": list(fought.survivors),
        "cost_lost": list(fought.cost_lost),
    }


def kept(simulation: Any, row: int, number: int) -> dict[str, Any]:
    """Return what the sampler kept of a battle."""
    return kept_ending(simulation, row, number) | {"captured_value": int(simulation.captured_value[row, number])}


def outline(fought: ref.Battle) -> dict[str, Any]:
    """Return the same of a battle of the reference."""
    return outline_ending(fought) | {"captured_value": fought.captured_value}


def add_figures(sums: dict[str, int], figures: Mapping[str, int]) -> None:
    """Book the sum and the sum of squares of some figures."""
    for name, figure in figures.items():
        sums[f"{name}.sum"] += figure
        sums[f"{name}.sumsq"] += figure * figure


def add_ending(sums: dict[str, int], fought: Any) -> None:
    """Book what every battle and every raid has."""
    sums["battles"] += 1
    sums[f"outcome.{fought.outcome}"] += 1
    figures = {
        "cycles": fought.cycles,
        "attacker.cost_lost": fought.cost_lost[ref.ATTACKER],
        "defender.cost_lost": fought.cost_lost[ref.DEFENDER],
        "swing": fought.swing,
    }
    add_figures(sums, figures)
    for side, survivors in zip(ref.SIDES, fought.survivors, strict=True):
        for unit, number in survivors.items():
            sums[f"survivors.{fought.outcome}.{side}.{unit}"] += number


def add(sums: dict[str, int], fought: ref.Battle) -> None:
    """Book a land battle of the reference into the accumulators."""
    add_ending(sums, fought)
    sums["captured.battles"] += fought.outcome == "attacker_wins"
    sums["captured.value"] += fought.captured_value
    sums["captured.guns"] += fought.guns
    sums["captured.complexes"] += fought.complexes


def expectations(
    endings: Iterable[tuple[Any, Any]], names: Iterable[str], book: Callable[[dict[str, int], Any], None]
) -> tuple[dict[str, float], dict[str, float], dict[str, int]]:
    """Return mean, mean square and largest absolute value of each accumulator over the endings of a battle.

    `endings` are pairs of a battle and its probability; `book` adds a battle to the accumulators. The number of
    cycles is not kept for each ending, so what is said about cycles means nothing.
    """
    names = tuple(names)
    means: dict[str, list[float]] = {name: [] for name in names}
    squares: dict[str, list[float]] = {name: [] for name in names}
    most = dict.fromkeys(names, 0)
    for ending, chance in endings:
        sums = dict.fromkeys(names, 0)
        book(sums, ending)
        for name, figure in sums.items():
            if figure and chance:
                means[name].append(float(chance) * figure)
                squares[name].append(float(chance) * figure * figure)
                most[name] = max(most[name], abs(figure))
    return (
        {name: fsum(parts) for name, parts in means.items()},
        {name: fsum(parts) for name, parts in squares.items()},
        most,
    )


def add_ships(sums: dict[str, int], battle: Any) -> None:
    """Book what is peculiar to a sea battle: submarines below, damaged ships, aircraft without a carrier."""
    for side, name in enumerate(ref.SIDES):
        sums[f"submerged.{name}"] += battle.submerged[side]
        sums[f"no_landing.{name}"] += battle.no_landing[side]
        for ship, number in battle.damaged[side].items():
            sums[f"damaged.{name}.{ship}"] += number


def compare(
    scenarios: Sequence[Mapping[str, Any]],
    read: Callable[[Mapping[str, Any]], Callable[..., Any]],
    book: Callable[[dict[str, int], Any], None],
    *,
    battles: int = 4,
    seed: int = 1,
    first: int = 0,
    pairing: str = "matchup",
    of_sampler: Callable[[Any, int, int], dict[str, Any]] = kept,
    of_reference: Callable[[Any], dict[str, Any]] = outline,
) -> None:
    """Fight the same battles twice and compare everything, kept battles and tallies.

    `read` turns a scenario into what fights its battle of a number; `book` adds a battle to the accumulators.
    """
    encoded = simcore.encode(scenarios)
    options: dict[str, Any] = {"battles": battles, "seed": seed, "first": first, "pairing": pairing}
    simulation = simcore.simulate(encoded, keep_battles=True, **options)
    for threads in (1, None):
        tally = simcore.simulate(encoded, threads=threads, **options).tally
        assert np.array_equal(tally, simulation.tally)
    names = simulation.ruleset.accumulators
    for row, data in enumerate(scenarios):
        fight = read(data)
        sums = dict.fromkeys(names, 0)
        for number in range(battles):
            fought = fight(first + number, seed=seed, pairing=pairing)
            assert of_sampler(simulation, row, number) == of_reference(fought), f"battle {first + number} of {data}"
            book(sums, fought)
        assert dict(zip(names, simulation.tally[row].tolist(), strict=True)) == sums, data


def thrown_by_sampler(replay: Any) -> list[tuple[object, ...]]:
    """Return the throws of a replay."""
    return [(draw["side"], draw["cycle"], draw["dice"], Fraction(*draw["odds"]), draw["hits"]) for draw in replay.draws]


def thrown_by_reference(dice: ref.RandomDice | ref.ScriptedDice) -> list[tuple[object, ...]]:
    """Return the same of the reference."""
    return [(ref.SIDES[throw.side], throw.cycle, throw.dice, throw.chance, hits) for throw, hits in dice.thrown]


def assert_ended_alike(replay: Any, fought: Any) -> None:
    """Compare how a replay ended with a battle of the reference."""
    assert (replay.outcome, replay.cycles) == (fought.outcome, fought.cycles)
    assert replay.survivors == dict(zip(ref.SIDES, fought.survivors, strict=True))
    assert replay.cost_lost == dict(zip(ref.SIDES, fought.cost_lost, strict=True))


def assert_replayed_alike(
    scenario: Mapping[str, Any], battle: int, dice: ref.RandomDice, fight: Callable[[ref.Dice], Any]
) -> Any:
    """Replay a battle by its number and by its hits; both times it is that of the reference. Return the replay."""
    fought = fight(dice)
    replay = simcore.replay(scenario, battle=battle)
    assert thrown_by_sampler(replay) == thrown_by_reference(dice)
    assert_ended_alike(replay, fought)
    if dice.thrown:
        scripted = simcore.replay(scenario, script=[hits for _, hits in dice.thrown])
        assert (scripted.draws, scripted.survivors, scripted.outcome) == (
            replay.draws,
            replay.survivors,
            replay.outcome,
        )
    return replay


@dataclass
class DrawnDice:
    """Any hits that the dice allow, in a battle of a few cycles."""

    data: st.DataObject
    script: list[int] = field(default_factory=list)

    def hits(self, throw: ref.Throw) -> int:
        low = 1 if throw.cycle > 3 else 0
        self.script.append(self.data.draw(st.integers(low, throw.dice)))
        return self.script[-1]
