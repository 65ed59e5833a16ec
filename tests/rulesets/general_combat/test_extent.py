"""The size of an exact solution, known before it is begun."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings

import simcore
from simcore import api
from simcore.core.jit import is_jit_disabled
from simcore.errors import ScenarioError
from simcore.method import choose
from simcore.rulesets.general_combat.extent import count_states, effort, may_be_far_smaller
from simcore.scenario import load_scenario
from simcore.schema import AUTO_EFFORT, AUTO_STATES, MAX_STATES
from tests import strategies
from tests.rulesets.general_combat.support import land

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

compiled_only = pytest.mark.skipif(is_jit_disabled(), reason="takes too long without the JIT")


def at_sea(attacker: str, defender: str, edition: str = "1942_2nd", **options: Any) -> dict[str, Any]:
    return {"terrain": "sea", **land(attacker, defender, edition, **options)}


def bound_of(data: dict[str, Any]) -> int:
    scenario: Any = load_scenario(data)
    return count_states(scenario)


def assert_bounded(data: dict[str, Any]) -> None:
    """Solve a battle: no more states than were promised."""
    try:
        encoded = simcore.encode([data])
    except ScenarioError:  # the strategies make some assaults that cannot be
        return
    _, states, problems = api.solve_checked(encoded, threads=1)
    assert not problems
    scenario: Any = encoded.scenarios[0]
    assert 1 <= states[0] <= count_states(scenario)
    assert effort(scenario) >= states[0]


@pytest.mark.parametrize(
    ("strategy", "examples"),
    [
        (strategies.land_scenarios(), 150),
        (strategies.sea_scenarios(most=3), 250),
        (strategies.amphibious_scenarios(), 150),
        (strategies.assault_scenarios(), 40),
        (strategies.raid_scenarios(), 30),
    ],
    ids=["land", "sea", "amphibious", "assault", "raid"],
)
@compiled_only
def test_no_solution_has_more_states_than_its_bound(strategy: SearchStrategy[dict[str, Any]], examples: int) -> None:
    @settings(max_examples=examples, suppress_health_check=list(HealthCheck))
    @given(strategy)
    def check(data: dict[str, Any]) -> None:
        assert_bounded(data)

    check()


FLEETS = (
    "3 submarine, 2 destroyer, 1 cruiser, 1 carrier, 2 fighter, 1 battleship",
    "2 submarine, 2 destroyer, 2 transport, 1 carrier, 2 fighter, 1 battleship",
    "4 destroyer, 3 fighter, 1 bomber",
    "6 submarine",
    "3 transport, 2 submarine",
    "5 fighter, 1 carrier",
)


@compiled_only
@pytest.mark.parametrize("edition", ["1942_2nd", "global40_2nd", "revised"])
@pytest.mark.parametrize("policy", ["never", "always", "facing_aircraft"])
def test_fleets_stay_within_their_bound(edition: str, policy: str) -> None:
    for attacker in FLEETS:
        for defender in FLEETS:
            data = at_sea(attacker, defender, edition)
            for side in ("attacker", "defender"):
                if "submarine" in data[side]["units"] and policy != "never":
                    data[side]["submerge"] = policy
                if edition == "revised":
                    data[side]["units"] = data[side]["units"].replace("cruiser", "destroyer, 1 transport")
                    data[side]["units"] = data[side]["units"].replace("2 destroyer, 1 destroyer", "3 destroyer")
            assert_bounded(data)


def test_what_nothing_passes_over_is_one_chain() -> None:
    # 1 to 4 destroyers and 1 carrier lost: 6 states against 5 and 3 hits; 2 before cycle 1.
    assert bound_of(at_sea("4 destroyer, 1 carrier", "2 cruiser")) == 6 * 3 + 2
    # Battleships take two hits, wherever the first of them stands in the order of loss.
    for order in (["battleship:damage", "destroyer"], ["battleship", "battleship:damage"], ["destroyer", "battleship"]):
        assert bound_of(at_sea("2 battleship, 1 destroyer", "1 cruiser", attacker_loss_order=order)) == 6 * 2 + 2
    assert bound_of(at_sea("2 battleship, 1 destroyer", "1 cruiser", attacker_damaged="1 battleship")) == 5 * 2 + 2


def test_what_is_passed_over_is_a_chain_of_its_own() -> None:
    # Hits of submarines pass over fighters: with any of the destroyers left no fighter is lost.
    assert bound_of(at_sea("2 destroyer, 1 fighter", "3 submarine")) == (2 + 2) * 4 + 2
    # The fighter is lost first here: with any number of destroyers.
    first = at_sea("2 destroyer, 1 fighter", "3 submarine", attacker_loss_order=["fighter"])
    assert bound_of(first) == 6 * 4 + 2
    # Hits of the fighter pass over submarines once its destroyer is gone, which then are a chain beside the cruiser.
    states = bound_of(at_sea("1 destroyer, 1 fighter", "2 submarine, 1 cruiser"))
    assert states == 1 * 4 + 2 * (3 * 2) + 2
    # Where aircraft can always hit them, they are not passed over.
    always = at_sea("1 destroyer, 1 fighter", "2 submarine, 1 cruiser", switches={"air_hits_subs": "always"})
    assert bound_of(always) == 3 * 4 + 2
    # A sweep takes transports from among them, so that either of two, or one, may be left alone.
    always["defender"]["units"] = "2 submarine, 1 transport"
    assert bound_of(always) == 3 * (4 + 2) + 2


def test_cycles_that_are_counted_multiply() -> None:
    plain = bound_of(at_sea("4 destroyer", "2 cruiser")) - 2
    assert bound_of(at_sea("4 destroyer", "2 cruiser", cycle_limit=7)) == 7 * plain + 2
    assert bound_of(at_sea("4 destroyer", "2 cruiser", attacker_retreat={"after_cycles": 3})) == 3 * plain + 2


def test_submarines_submerge_together() -> None:
    assert bound_of(at_sea("3 submarine", "1 cruiser")) == 4 * 2 + 2
    # Three, two or one of them may have submerged.
    assert bound_of(at_sea("3 submarine", "1 cruiser", attacker_submerge="always")) == (4 + 3) * 2 + 2


def test_the_largest_battles_are_counted_at_once() -> None:
    ships = ("submarine", "destroyer", "cruiser", "carrier", "battleship", "transport", "fighter", "bomber")
    units = ", ".join(f"2000 {unit}" for unit in ships)
    data = at_sea(units, units, attacker_submerge="always", cycle_limit=1_000_000)
    scenario: Any = load_scenario(data)
    assert count_states(scenario) > 10**20
    assert effort(scenario) > 10**24
    assert choose(simcore.encode([data]).ruleset, scenario).effort == 0


@compiled_only
def test_a_large_bound_is_no_reason_to_refuse_what_may_be_far_smaller() -> None:
    data = at_sea(
        "8 submarine, 6 destroyer, 3 cruiser, 3 carrier, 6 fighter, 2 bomber, 2 battleship",
        "6 submarine, 6 destroyer, 4 transport, 2 cruiser, 3 carrier, 6 fighter, 2 battleship",
        attacker_submerge="always",
        defender_submerge="always",
        attacker_retreat={"after_cycles": 5},
    )
    encoded = simcore.encode([data])
    scenario: Any = encoded.scenarios[0]
    assert count_states(scenario) > MAX_STATES
    assert may_be_far_smaller(scenario)
    assert not choose(encoded.ruleset, scenario).is_exact
    solution = simcore.solve(encoded, threads=1)
    assert solution.states[0] < count_states(scenario) / 10
    assert abs(solution.dropped[0]) < 1e-12


@pytest.mark.parametrize(
    ("data", "is_exact"),
    [
        (land("10 infantry, 5 tank", "10 infantry"), True),
        (land("30 infantry, 10 tank, 5 fighter", "40 infantry, 5 fighter, 2 aa_gun"), True),
        (land("1000 infantry, 500 tank", "1500 infantry"), False),
        (land("20 infantry", "30 infantry", cycle_limit=1_000), True),
        (at_sea("3 submarine, 2 destroyer, 2 fighter, 1 carrier", "3 submarine, 2 destroyer, 1 cruiser"), True),
        (at_sea("200 submarine, 200 destroyer, 200 fighter", "200 submarine, 200 destroyer, 200 fighter"), False),
    ],
)
def test_what_auto_solves(data: dict[str, Any], is_exact: bool) -> None:
    encoded = simcore.encode([data])
    scenario: Any = encoded.scenarios[0]
    choice = choose(encoded.ruleset, scenario)
    assert choice.is_exact == is_exact
    assert is_exact == (count_states(scenario) <= AUTO_STATES and effort(scenario) <= AUTO_EFFORT)


def test_a_limit_of_cycles_that_no_battle_reaches_costs_nothing_more() -> None:
    far, farther = (effort(load_scenario(land("5 infantry", "5 infantry", cycle_limit=n))) for n in (10**5, 10**6))  # type: ignore[arg-type]
    assert far == farther
    assert effort(load_scenario(land("5 infantry", "5 infantry"))) < far  # type: ignore[arg-type]


def test_an_assault_takes_a_landing_for_each_cargo() -> None:
    fleet = {"units": "1 destroyer, 2 transport", "cargo": ["2 infantry"]}
    data: dict[str, Any] = {
        "terrain": "amphibious",
        "attacker": {"units": "2 infantry"},
        "defender": {"units": "2 infantry"},
        "sea": {"attacker": fleet, "defender": {"units": "1 submarine"}},
    }
    one: Any = load_scenario(data)
    fleet["cargo"] = ["1 infantry", "1 infantry"]
    two: Any = load_scenario(data)
    data["attacker"]["units"] = "2 infantry, 1 tank"
    overland: Any = load_scenario(data)
    assert count_states(one) == count_states(two) < count_states(overland)
    assert effort(one) < effort(two) < effort(overland)
