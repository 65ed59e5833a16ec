"""The reference against the worked figures: an oracle has to be right before it judges."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import pytest

from tests.rulesets.general_combat import reference as ref
from tests.rulesets.general_combat import reference_exact as exact
from tests.rulesets.general_combat.support import cases, land

# Some battles are too large to enumerate here: the sampler alone is compared with their printed figures.
FIGURES = [
    pytest.param(case, id=case["id"])
    for case in cases("worked") + cases("disputed")
    if "sampled_only" not in case["expect"]
]
# Up to this many units a side the fractions stay short enough.
FRACTIONS_UP_TO = 8


def size(scenario: dict[str, Any]) -> int:
    return max(sum(ref.parse_units(scenario[side]["units"]).values()) for side in ref.SIDES)


def agrees(value: exact.Number, figure: str | float) -> bool:
    """Compare with a fraction exactly, with a printed decimal to half a unit of its last digit."""
    if isinstance(figure, str):
        wanted = Fraction(figure)
        return value == wanted if isinstance(value, Fraction) else abs(value - wanted) < 1e-12
    digits = len(repr(figure).partition(".")[2])
    return abs(float(value) - figure) <= 0.5000001 * 10.0**-digits


@pytest.mark.parametrize("case", FIGURES)
def test_worked_figures(case: dict[str, Any]) -> None:
    scenario, expect = case["scenario"], case["expect"]
    solved = exact.solve(scenario, exact=size(scenario) <= FRACTIONS_UP_TO)
    for name in ref.OUTCOMES:
        if "outcomes" in expect:
            assert agrees(solved.outcome(name), expect["outcomes"].get(name, "0")), name
    if "swing" in expect:
        assert agrees(solved.mean(lambda battle: battle.swing), expect["swing"])
    for side, key in enumerate(("attackers_left", "defenders_left")):
        if key in expect:
            assert agrees(solved.survivors(side), expect[key]), key
    if "cycles" in expect:
        assert solved.mean_cycles == expect["cycles"]
    for outcome, figure in expect.get("left_if", {}).items():
        side = ref.ATTACKER if outcome.startswith("attacker") else ref.DEFENDER
        assert agrees(solved.survivors(side, outcome=outcome) / solved.outcome(outcome), figure)
    if "attacker_hits" in expect:
        read = ref.read_scenario(scenario)
        throws = ref.combat_throws(read, ref.ATTACKER, ref.muster(read, ref.ATTACKER), 1)
        assert exact.hit_chances(throws) == [Fraction(p) for p in expect["attacker_hits"]]
    if "aircraft_lost" in expect:
        assert exact.aa_losses(scenario) == {
            tuple(sorted(ref.parse_units(units).items())): Fraction(p) for units, p in expect["aircraft_lost"].items()
        }


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in cases("scripted")])
def test_scripted_cases(case: dict[str, Any]) -> None:
    battle, dice = ref.scripted(case["scenario"], case["script"])
    assert len(dice.thrown) == len(case["script"])
    assert [
        [
            ref.SIDES[throw.side],
            throw.cycle,
            ref.UNITS[throw.group % ref.SUPPORTED] + " supported" * (throw.group >= ref.SUPPORTED),
            throw.dice,
            str(throw.chance),
            hits,
        ]
        for throw, hits in dice.thrown
    ] == case["throws"]
    expect = case["expect"]
    assert (battle.outcome, battle.cycles, list(battle.survivors)) == (
        expect["outcome"],
        expect["cycles"],
        expect["survivors"],
    )


@pytest.mark.parametrize(
    ("counter", "key", "words"),
    [
        ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
        (
            (0xFFFFFFFF,) * 4,
            (0xFFFFFFFF,) * 2,
            (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD),
        ),
        (
            (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
            (0xA4093822, 0x299F31D0),
            (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
        ),
    ],
)
def test_philox_known_answers(counter: tuple[int, ...], key: tuple[int, ...], words: tuple[int, ...]) -> None:
    assert ref.philox(counter, key) == words


def test_bounds_are_the_cumulative_distribution() -> None:
    assert ref.bounds(2, Fraction(1, 2)) == (1 << 62, 3 << 62, 1 << 64)
    assert ref.bounds(3, Fraction(0)) == (1 << 64,) * 4
    assert ref.bounds(3, Fraction(1)) == (0, 0, 0, 1 << 64)


def test_random_battles_follow_the_exact_distribution() -> None:
    scenario = ref.read_scenario(land("2 infantry, 1 fighter", "2 infantry, 1 aa_gun"))
    battles = 3_000
    counts = Counter(ref.battle(scenario, number).outcome for number in range(battles))
    solved = exact.solve(scenario)
    for name in ref.OUTCOMES:
        p = float(solved.outcome(name))
        assert abs(counts[name] - battles * p) <= 4.5 * (battles * p * (1 - p)) ** 0.5
