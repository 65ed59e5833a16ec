"""Landings, assaults and raids against exact distributions: worked figures, and the sampler within 4.5 standard errors.

Every accumulator of a tally is compared. The number of cycles is not kept for each ending: its mean is known.
"""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

import simcore
from tests.rulesets.general_combat import reference as ref
from tests.rulesets.general_combat import reference_assault as shore
from tests.rulesets.general_combat.reference_assault_exact import Chances, solve_assault, solve_landing, solve_raid
from tests.rulesets.general_combat.support import EDITIONS, cases, expectations
from tests.rulesets.general_combat.test_exact import BATTLES, assert_near
from tests.rulesets.general_combat.test_parity_assault import add_assault, add_landing, add_raid
from tests.rulesets.general_combat.test_reference import agrees
from tests.rulesets.general_combat.test_reference_assault import ashore, assault_of, raid_of, shares

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

TECHNOLOGY_EDITIONS = ("aa50", "revised", "global40_2nd")
MIXED = ("2 infantry, 1 fighter", "2 infantry, 1 aa_gun")


def landings() -> dict[str, dict[str, Any]]:
    """Return small landings in which an edition, a switch, a policy or low luck decides."""
    found = {}
    for edition in EDITIONS:
        for landed in ("1 infantry", "all"):
            found[f"{edition} {landed}"] = ashore(*MIXED, edition, landed=landed, bombard="2 battleship")
        for low_luck in ("combat", "aa", "both"):
            found[f"{edition} low luck {low_luck}"] = ashore(
                *MIXED, edition, landed="all", bombard="1 battleship", scenario_low_luck=low_luck
            )
        for leaving in ("aircraft_and_overland", "aircraft"):
            found[f"{edition} {leaving} leave"] = ashore(
                "2 infantry, 1 fighter",
                "1 infantry, 1 artillery",
                edition,
                landed="1 infantry",
                retreat={"after_cycles": 1},
                scenario_switches={"amphib_retreat": leaving},
            )
    for fire in (True, False):
        for cap in (True, False):
            found[f"return fire {fire}, cap {cap}"] = ashore(
                "1 infantry, 1 tank",
                "2 infantry, 1 fighter",
                landed="1 tank",
                bombard="1 cruiser, 1 battleship",
                scenario_switches={"bombard_return_fire": fire, "bombard_cap": cap},
            )
    for edition in TECHNOLOGY_EDITIONS:
        found[f"{edition} destroyers"] = ashore(
            "2 infantry",
            "2 infantry",
            edition,
            landed="all",
            bombard="2 destroyer",
            technologies=["combined_bombardment", "advanced_artillery"],
        )
    for number, retreat in enumerate(
        (
            {"when_units_at_most": 2},
            {"when_units_at_most": 3, "possible": False},
            {"when_only_aircraft": True},
            {"after_cycles": 2, "possible": False},
        )
    ):
        found[f"retreat {number}"] = ashore(
            "1 infantry, 1 artillery, 1 fighter", "2 infantry", landed="1 infantry", retreat=retreat
        )
    found["keep land"] = ashore("2 infantry, 1 fighter", "2 infantry", landed="1 infantry", keep_land=1)
    found["cycle limit"] = ashore(*MIXED, landed="all", bombard="1 cruiser", scenario_cycle_limit=2)
    found["capital"] = ashore(
        "2 infantry, 1 tank",
        "1 infantry, 1 aa_gun, 1 industrial_complex",
        landed="2 infantry",
        bombard="1 cruiser",
        scenario_territory={"value": 5, "capital": True, "treasury": 20},
    )
    found["guns alone"] = ashore("1 infantry, 1 fighter", "2 aa_gun", "1942_2nd", landed="all", bombard="1 cruiser")
    found["no defender"] = ashore("1 infantry", "", landed="all", bombard="1 cruiser")
    return found


def assaults() -> dict[str, dict[str, Any]]:
    """Return small assaults with sea battles of all endings."""
    found = {}
    for edition in EDITIONS:
        found[f"{edition} assault"] = assault_of(
            "1 destroyer, 1 transport", "1 destroyer", "1 infantry, 1 tank", "1 infantry", ["1 infantry"], edition
        )
        found[f"{edition} submarines"] = assault_of(
            "1 submarine, 1 transport", "1 submarine", "1 infantry", "1 infantry, 1 aa_gun", ["1 infantry"], edition
        )
    lossy = assault_of(
        "1 cruiser, 2 transport",
        "1 cruiser",
        "1 infantry, 1 tank, 1 fighter",
        "1 infantry",
        ["1 tank", "1 infantry"],
        scenario_switches={"tt_last": False},
        keep_land=1,
    )
    lossy["sea"]["attacker"]["loss_order"] = ["transport"]
    found["lost cargo"] = lossy
    hurt = assault_of("1 battleship, 1 transport", "1 battleship", "1 artillery", "1 infantry", ["1 artillery"])
    hurt["sea"]["attacker"]["damaged"] = "1 battleship"
    found["damage"] = hurt
    run = assault_of("1 cruiser, 1 transport", "1 cruiser", "1 infantry, 1 fighter", "1 infantry", ["1 infantry"])
    run["sea"]["attacker"]["retreat"] = {"after_cycles": 1}
    found["retreat at sea"] = run
    found["cycle limit"] = assault_of(
        "1 cruiser, 1 transport", "1 cruiser", "1 infantry", "1 infantry", ["1 infantry"], scenario_cycle_limit=1
    )
    found["carrier"] = assault_of(
        "1 carrier, 1 fighter, 1 transport", "1 destroyer", "1 tank", "1 infantry", ["1 tank"], bombard="1 battleship"
    )
    found["empty zone"] = assault_of(
        "2 transport", "", "1 infantry, 1 tank", "2 infantry", ["1 infantry", "1 tank"], bombard="2 cruiser"
    )
    return found


def raids() -> dict[str, dict[str, Any]]:
    """Return small raids in which an edition, a switch, a technology or low luck decides."""
    found = {}
    for edition in EDITIONS:
        for low_luck in ("none", "combat", "aa", "both"):
            found[f"{edition} low luck {low_luck}"] = raid_of(
                "3 bomber", "1 aa_gun", edition, territory={"value": 4}, low_luck=low_luck
            )
        for cap in ("twice_territory", "territory", "facility"):
            found[f"{edition} cap {cap}"] = raid_of(
                "2 bomber", "1 aa_gun", edition, territory={"value": 2}, switches={"sbr_cap": cap}
            )
        for fires in ("gun", "built_in"):
            found[f"{edition} fire {fires}"] = raid_of(
                "2 bomber", "", edition, raid={"cap": "none"}, switches={"sbr_aa": fires, "sbr_bonus": 1}
            )
        found[f"{edition} air battle"] = raid_of(
            "2 bomber, 1 fighter",
            "2 fighter, 1 aa_gun",
            edition,
            raid={"cap": 12, "damaged": 2},
            switches={"sbr_air_battle": "one_cycle"},
        )
    for edition in TECHNOLOGY_EDITIONS:
        for heavy in ("both_dice", "best_of_two"):
            data = raid_of("2 bomber", "1 aa_gun", edition, raid={"cap": "none"}, switches={"heavy_bombers": heavy})
            data["attacker"]["technologies"] = ["heavy_bombers", "jet_fighters"]
            data["defender"]["technologies"] = ["radar"]
            found[f"{edition} {heavy}"] = data
    found["base"] = raid_of(
        "1 bomber, 2 tactical_bomber, 1 fighter", "1 fighter", "global40_2nd", raid={"target": "air_base"}
    )
    return found


KINDS: dict[str, tuple[dict[str, dict[str, Any]], Callable[..., Chances[Any]], Callable[..., None]]] = {
    "landing": (
        {case["id"]: case["scenario"] for case in cases("assault") if "sea" not in case["scenario"]} | landings(),
        solve_landing,
        add_landing,
    ),
    "assault": (
        {case["id"]: case["scenario"] for case in cases("assault") if "sea" in case["scenario"]} | assaults(),
        solve_assault,
        add_assault,
    ),
    "raid": ({case["id"]: case["scenario"] for case in cases("raid")} | raids(), solve_raid, add_raid),
}
NAMED = [(kind, name) for kind, (scenarios, _, _) in KINDS.items() for name in scenarios]


# --------------------------------------------------------------------------------------------------
# Worked figures
# --------------------------------------------------------------------------------------------------


def mean_left(solved: Chances[Any], side: int) -> Fraction:
    """Return the mean number of units left of a side."""
    return solved.mean(lambda ending: sum(ending.survivors[side].values()))


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in cases("assault")])
def test_worked_figures_of_assaults(case: Mapping[str, Any]) -> None:
    scenario, expect = case["scenario"], case["expect"]
    solved: Chances[Any] = solve_assault(scenario) if "sea" in scenario else solve_landing(scenario)
    found = shares(solved)
    for name in ref.OUTCOMES:
        assert agrees(found.get(name, Fraction(0)), expect["outcomes"].get(name, "0")), name
    for side, key in enumerate(("attackers_left", "defenders_left")):
        if key in expect:
            assert agrees(mean_left(solved, side), expect[key]), key
    if "swing" in expect:
        assert agrees(solved.mean(lambda battle: battle.swing), expect["swing"])
    if "cycles" in expect:
        assert agrees(solved.mean_cycles, expect["cycles"])


@pytest.mark.parametrize("case", [pytest.param(case, id=case["id"]) for case in cases("raid")])
def test_worked_figures_of_raids(case: Mapping[str, Any]) -> None:
    scenario, expect = case["scenario"], case["expect"]
    solved = solve_raid(scenario)
    assert agrees(solved.mean(lambda raid: raid.damage), expect["damage"])
    for name, figure in expect.get("outcomes", {}).items():
        assert agrees(shares(solved).get(name, Fraction(0)), figure)
    start = [sum(ref.parse_units(scenario[side]["units"]).get(unit, 0) for unit in ref.AIRCRAFT) for side in ref.SIDES]
    for side, key in enumerate(("aircraft_lost", "interceptors_lost")):
        if key in expect:
            assert agrees(start[side] - mean_left(solved, side), expect[key]), key
    if "cost_lost" in expect:
        assert agrees(solved.mean(lambda raid: raid.cost_lost[ref.ATTACKER]), expect["cost_lost"])
    if "cycles" in expect:
        assert agrees(solved.mean_cycles, expect["cycles"])


# --------------------------------------------------------------------------------------------------
# The sampler
# --------------------------------------------------------------------------------------------------


@cache
def tallies(kind: str) -> dict[str, dict[str, int]]:
    """Fight all battles of a kind in one go."""
    scenarios, _, _ = KINDS[kind]
    encoded = simcore.encode(list(scenarios.values()))
    tally = simcore.simulate(encoded, battles=BATTLES, seed=22).tally
    names = encoded.ruleset.accumulators
    return {name: dict(zip(names, row.tolist(), strict=True)) for name, row in zip(scenarios, tally, strict=True)}


@pytest.mark.statistical
@pytest.mark.parametrize(("kind", "name"), NAMED)
def test_sampler_follows_the_exact_distribution_of_assaults(kind: str, name: str) -> None:
    scenarios, solve, book = KINDS[kind]
    solved = solve(scenarios[name])
    tally = tallies(kind)[name]
    means, squares, most = expectations(solved.endings, tally, book)
    assert tally["battles"] == BATTLES
    for accumulator, total in tally.items():
        if "cycles" not in accumulator:
            mean, square = means[accumulator], squares[accumulator]
            assert_near(total, mean, square, most[accumulator], accumulator)
    # The exact variance of the number of cycles is not kept: the sample's own is used.
    mean = float(solved.mean_cycles)
    variance = tally["cycles.sumsq"] / BATTLES - (tally["cycles.sum"] / BATTLES) ** 2
    assert_near(tally["cycles.sum"], mean, variance + mean**2, 1, "cycles")


def test_bombardments_of_equal_strength_have_equal_chances() -> None:
    # Who is landed does not matter as long as as many are landed as ships fire, and nobody retreats.
    alike = [case["scenario"] for case in cases("assault") if case["id"].startswith("B05")]
    assert len(alike) == 3
    battles = [solve_landing(shore.read_shore(scenario)) for scenario in alike]
    for what in ("outcome", "bombard_hits", "survivors", "cost_lost"):
        chances = []
        for solved in battles:
            found: defaultdict[str, Any] = defaultdict(int)
            for ending, p in solved.endings:
                found[repr(getattr(ending, what))] += p
            chances.append(dict(found))
        assert chances[0] == chances[1] == chances[2], what
