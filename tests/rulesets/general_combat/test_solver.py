"""The exact solver against the exact reference, worked figures, the sampler, and what holds in every battle."""

from __future__ import annotations

from fractions import Fraction
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import simcore
from simcore.core.jit import is_jit_disabled
from simcore.enums import Status
from simcore.errors import ScenarioError
from simcore.rulesets.general_combat.ends import new_ends
from simcore.rulesets.general_combat.sea_solver import solve_all_at_sea
from tests.rulesets.general_combat import reference as ref
from tests.rulesets.general_combat import reference_sea as sea
from tests.rulesets.general_combat import test_exact as on_land
from tests.rulesets.general_combat import test_exact_assault as amphibious
from tests.rulesets.general_combat import test_exact_sea as in_a_sea_zone
from tests.rulesets.general_combat.reference_sea_exact import solve_at_sea
from tests.rulesets.general_combat.support import EDITIONS, add, cases, expectations, land, no_shrinking
from tests.rulesets.general_combat.test_parity_sea import add_at_sea
from tests.rulesets.general_combat.test_reference_assault import ashore
from tests.rulesets.general_combat.test_reference_sea import at_sea
from tests.strategies import amphibious_scenarios, assault_scenarios, land_scenarios, raid_scenarios, sea_scenarios

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

NEAR = 1e-12
DROPPED = 1e-13
compiled_only = pytest.mark.skipif(is_jit_disabled(), reason="takes too long without the JIT")


@pytest.fixture(autouse=True)
def wrapping() -> Iterator[None]:
    """Let products of 64-bit words wrap around silently, as they do in compiled code."""
    with np.errstate(over="ignore"):
        yield


def near(value: float, wanted: float) -> bool:
    """Compare two doubles: to 1e-12, of large figures relatively."""
    return abs(value - wanted) <= NEAR * max(1.0, abs(wanted))


def solve_all(scenarios: Iterable[Mapping[str, Any]], threads: int | None = 1) -> list[dict[str, float]]:
    """Return the expected accumulators of several scenarios."""
    chosen = list(scenarios)
    if not chosen:
        return []
    encoded = simcore.encode(chosen)
    solution = simcore.solve(encoded, threads=threads)
    names = encoded.ruleset.accumulators
    return [dict(zip(names, row.tolist(), strict=True)) for row in solution.tally]


def left(means: Mapping[str, float], side: str, outcome: str | None = None) -> float:
    """Return the mean number of survivors of a side, counted over the battles with that outcome only."""
    return sum(
        value
        for name, value in means.items()
        if name.startswith("survivors.") and name.split(".")[2] == side and outcome in {None, name.split(".")[1]}
    )


def assert_possible(means: Mapping[str, float]) -> None:
    """Check what holds for the expectations of every battle."""
    assert abs(1 - means["battles"]) <= DROPPED
    assert abs(1 - sum(value for name, value in means.items() if name.startswith("outcome."))) <= NEAR
    for name, value in means.items():
        assert value >= 0 or name == "swing.sum", name
        if name.endswith(".sumsq"):
            mean = means[name.removesuffix("sq")]
            assert value >= mean * mean * (1 - NEAR), name


# --------------------------------------------------------------------------------------------------
# The exact reference
# --------------------------------------------------------------------------------------------------


def solve_named(kind: str, name: str) -> Any:
    """Solve a landing, an assault or a raid of the exact reference."""
    scenarios, solve, _ = amphibious.KINDS[kind]
    return solve(scenarios[name])


KINDS: dict[str, tuple[dict[str, dict[str, Any]], Callable[[str], Any], Callable[..., None]]] = {
    "land": (
        {name: on_land.SCENARIOS[name] for name in on_land.SOLVED},
        on_land.solved_by_reference,
        add,
    ),
    "sea": (in_a_sea_zone.SCENARIOS, in_a_sea_zone.solved_by_reference, add_at_sea),
    **{kind: (scenarios, partial(solve_named, kind), book) for kind, (scenarios, _, book) in amphibious.KINDS.items()},
}
# Without the JIT some of each kind have to do.
NAMED = [(kind, name) for kind, (scenarios, _, _) in KINDS.items() for name in scenarios][
    :: 8 if is_jit_disabled() else 1
]


@cache
def solved_cases() -> dict[tuple[str, str], dict[str, float]]:
    """Solve all scenarios of the exact reference, those that are counted alike in one call."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    for kinds in (("land", "sea", "landing"), ("assault",), ("raid",)):
        names = [(kind, name) for kind, name in NAMED if kind in kinds]
        found |= dict(zip(names, solve_all(KINDS[kind][0][name] for kind, name in names), strict=True))
    return found


@pytest.mark.parametrize(("kind", "name"), NAMED)
def test_every_accumulator_equals_the_exact_reference(kind: str, name: str) -> None:
    _, solve, book = KINDS[kind]
    found = solved_cases()[kind, name]
    solved = solve(name)
    means, _, _ = expectations(solved.endings, found, book)
    for accumulator, value in found.items():
        # The reference keeps the mean number of cycles alone: squares have tests of their own.
        if accumulator == "cycles.sum":
            assert near(value, float(solved.mean_cycles))
        elif "cycles" not in accumulator:
            assert near(value, means[accumulator]), accumulator
    assert_possible(found)


# --------------------------------------------------------------------------------------------------
# Worked and printed figures
# --------------------------------------------------------------------------------------------------

FIGURES = [
    case
    for name in ("worked", "disputed", "sea", "assault", "raid")
    for case in cases(name)
    if case["expect"].keys() - {"endings", "aircraft_lost"}
]
if is_jit_disabled():
    FIGURES = [case for case in FIGURES if "sampled_only" not in case["expect"]][::4]


@cache
def solved_figures() -> dict[int, dict[str, float]]:
    """Solve all scenarios that have figures, those that are counted alike in one call."""
    found: dict[int, dict[str, float]] = {}
    for kind in ("", "assault", "raid"):
        numbers = [i for i, case in enumerate(FIGURES) if kind_of(case["scenario"]) == kind]
        found |= dict(zip(numbers, solve_all(FIGURES[i]["scenario"] for i in numbers), strict=True))
    return found


def kind_of(scenario: Mapping[str, Any]) -> str:
    """Return what the battle is counted as."""
    return "raid" if scenario.get("terrain") == "raid" else "assault" if "sea" in scenario else ""


def agrees(value: float, figure: str | float) -> bool:
    """Compare with a fraction or whole number to 1e-12, with a printed decimal to half a unit of its last digit."""
    if isinstance(figure, str | int):
        return near(value, float(Fraction(figure)))
    return abs(value - figure) <= 0.5000001 * 10.0 ** -len(repr(figure).partition(".")[2])


@pytest.mark.parametrize(
    "number",
    [pytest.param(i, id=f"{case['scenario'].get('terrain', 'land')} {case['id']}") for i, case in enumerate(FIGURES)],
)
def test_figures(number: int) -> None:
    expect, means = FIGURES[number]["expect"], solved_figures()[number]
    if "outcomes" in expect:
        wanted = expect["outcomes"]
        if "sampled_only" not in expect:
            wanted = {name.partition(".")[2]: "0" for name in means if name.startswith("outcome.")} | wanted
        for name, figure in wanted.items():
            assert agrees(means[f"outcome.{name}"], figure), name
    for side in ref.SIDES:
        if f"{side}s_left" in expect:
            assert agrees(left(means, side), expect[f"{side}s_left"]), side
    for name, accumulator in (
        ("swing", "swing.sum"),
        ("cycles", "cycles.sum"),
        ("damage", "damage.sum"),
        ("cost_lost", "attacker.cost_lost.sum"),
    ):
        if name in expect:
            assert agrees(means[accumulator], expect[name]), name
    for outcome, figure in expect.get("left_if", {}).items():
        side = "attacker" if outcome.startswith("attacker") else "defender"
        assert agrees(left(means, side, outcome) / means[f"outcome.{outcome}"], figure), outcome
    assert_possible(means)


ATTACKER_HITS = [i for i, case in enumerate(FIGURES) if "attacker_hits" in case["expect"]]


@pytest.mark.parametrize("number", ATTACKER_HITS)
def test_hits_of_one_cycle(number: int) -> None:
    means, chances = solved_figures()[number], [Fraction(p) for p in FIGURES[number]["expect"]["attacker_hits"]]
    start = len(chances) - 1
    assert near(left(means, "defender"), start - float(sum(k * p for k, p in enumerate(chances))))
    assert near(means["outcome.attacker_wins"] + means["outcome.both_destroyed"], float(chances[-1]))


RAIDS = [i for i, case in enumerate(FIGURES) if kind_of(case["scenario"]) == "raid"]


@pytest.mark.parametrize("number", RAIDS)
def test_aircraft_lost_in_raids(number: int) -> None:
    scenario, expect = FIGURES[number]["scenario"], FIGURES[number]["expect"]
    for side, name in zip(ref.SIDES, ("aircraft_lost", "interceptors_lost"), strict=True):
        units = ref.parse_units(scenario[side]["units"])
        if name in expect:
            lost = sum(units.get(unit, 0) for unit in ref.AIRCRAFT) - left(solved_figures()[number], side)
            assert agrees(lost, expect[name]), name


# --------------------------------------------------------------------------------------------------
# Cycles
# --------------------------------------------------------------------------------------------------


def test_cycles_of_the_smallest_battle() -> None:
    # A cycle leaves both with 5/6 x 4/6 = 5/9: E N = 9/4, E N^2 = (1 + 5/9) / (4/9)^2.
    (means,) = solve_all([land("1 infantry", "1 infantry")])
    assert near(means["cycles.sum"], 9 / 4)
    assert near(means["cycles.sumsq"], 63 / 8)


CYCLES: dict[str, dict[str, Any]] = {
    "land": land("3 infantry, 1 artillery, 1 fighter", "2 infantry, 1 tank, 1 aa_gun"),
    "retreat": land("3 infantry, 1 fighter", "4 infantry", attacker_retreat={"when_units_at_most": 2}),
    "late retreat": land("3 infantry", "4 infantry", attacker_retreat={"after_cycles": 4}),
    "low luck": land("3 infantry, 1 tank", "3 infantry", low_luck="both"),
    "landing": ashore("3 infantry, 1 fighter", "4 infantry", landed="2 infantry", bombard="2 battleship"),
    "partial retreat": ashore("3 infantry, 1 fighter", "4 infantry", landed="1 infantry", retreat={"after_cycles": 2}),
    "sea": at_sea("1 submarine, 1 destroyer, 1 fighter", "1 battleship, 1 submarine"),
    "submerging": at_sea("2 submarine, 1 cruiser", "1 destroyer, 1 fighter", attacker_submerge="always"),
}
LONGEST = 150


@compiled_only
@pytest.mark.parametrize("name", CYCLES)
def test_moments_of_cycles_follow_from_battles_cut_short(name: str) -> None:
    # Of a battle cut short after k cycles the share P(N > k) is unfinished, and E N^2 = sum of (2k + 1) P(N > k).
    whole, *cut = solve_all([CYCLES[name]] + [CYCLES[name] | {"cycle_limit": k} for k in range(1, LONGEST)], None)
    longer = [means["outcome.unfinished"] for means in cut]
    assert longer[-1] < 1e-16
    fought = 1.0
    assert near(whole["cycles.sum"], fought + sum(longer))
    assert near(whole["cycles.sumsq"], fought + sum((2 * k + 1) * p for k, p in enumerate(longer, 1)))
    assert whole["outcome.unfinished"] == 0


# --------------------------------------------------------------------------------------------------
# The sampler
# --------------------------------------------------------------------------------------------------

BATTLES = 20_000


def most_of(scenario: Any, name: str) -> float:
    """Return the largest absolute value that a figure can have in one battle."""
    costs = [scenario.cost(side) for side in (0, 1)]
    part = name.split(".")
    if "cost_lost" in part:
        return float(costs["defender" in part])
    if part[0] == "swing":
        return float(max(costs))
    if part[0] == "captured":
        return 200.0 if part[1] in {"value", "treasury"} else 10.0
    if part[0] == "landings" or {"battles", "outcome", "n"} & set(part):
        return 1.0
    # Numbers of units; ships are not all units of the battle.
    units = [sum(scenario.own_counts(side).values()) for side in (0, 1)]
    return float(max(units) + 30)


def assert_sampler_agrees(scenarios: Sequence[Mapping[str, Any]]) -> None:
    """Fight battles of every scenario and compare all sums with the solver.

    Where a mean square is known it gives the variance; elsewhere the range does: the variance of a figure between
    0 and m of mean u is at most u (m - u).
    """
    encoded = simcore.encode(scenarios)
    solution = simcore.solve(encoded)
    run = simcore.simulate(encoded, battles=BATTLES, seed=31, keep_battles=True)
    kept = {f"{name}.sumsq": getattr(run, name) for name in ("cycles", "damage") if getattr(run, name) is not None}
    assert np.abs(solution.dropped).max() <= DROPPED
    names = encoded.ruleset.accumulators
    for row, scenario in enumerate(encoded.scenarios):
        means = dict(zip(names, solution.tally[row].tolist(), strict=True))
        sums = dict(zip(names, run.tally[row].tolist(), strict=True))
        assert_possible(means)
        for name, total in sums.items():
            mean = means[name]
            what = f"{name} of {scenarios[row]}"
            if name in {"sea.cycles.sumsq", "land.cycles.sumsq"}:
                continue
            if name in kept:
                # Its variance is the sample's own, beside which what is too rare to be in the sample may matter.
                variance = float((kept[name][row].astype(np.float64) ** 2).var())
                varies = mean - means[name.removesuffix("sq")] ** 2 > DROPPED * mean
                square = mean * mean + max(variance, 1e-9 if varies else 0.0)
                on_land.assert_near(total, mean, square, 1_000, what, battles=BATTLES)
                continue
            if name.endswith(".sumsq"):
                most = most_of(scenario, name.removesuffix(".sumsq")) ** 2
                square = most * mean
            elif f"{name}sq" in means:
                most = 30 if name.endswith(("cycles.sum", "damage.sum")) else most_of(scenario, name)
                square = means[f"{name}sq"]
            else:
                most = most_of(scenario, name)
                square = most * mean
            on_land.assert_near(total, mean, square, most, what, battles=BATTLES)


def batches(scenarios: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[list[dict[str, Any]]]:
    """Lists of scenarios for one call."""
    return st.lists(scenarios, min_size=10, max_size=24)


fixed = settings(max_examples=10, phases=no_shrinking, derandomize=True, database=None)
many = settings(max_examples=60, phases=no_shrinking, derandomize=True, database=None)


@pytest.mark.statistical
class TestSampler:
    @fixed
    @given(scenarios=batches(land_scenarios()))
    def test_on_land(self, scenarios: list[dict[str, Any]]) -> None:
        assert_sampler_agrees(scenarios)

    @fixed
    @given(scenarios=batches(amphibious_scenarios()))
    def test_landings(self, scenarios: list[dict[str, Any]]) -> None:
        assert_sampler_agrees(scenarios)

    @fixed
    @given(scenarios=batches(sea_scenarios(most=2)))
    def test_at_sea(self, scenarios: list[dict[str, Any]]) -> None:
        assert_sampler_agrees(scenarios)

    @fixed
    @given(scenarios=batches(assault_scenarios()))
    def test_assaults(self, scenarios: list[dict[str, Any]]) -> None:
        assert_sampler_agrees(scenarios)

    @fixed
    @given(scenarios=batches(raid_scenarios()))
    def test_raids(self, scenarios: list[dict[str, Any]]) -> None:
        assert_sampler_agrees(scenarios)

    @pytest.mark.slow
    @many
    @given(scenarios=batches(land_scenarios(most=8)))
    def test_many_more_on_land(self, scenarios: list[dict[str, Any]]) -> None:
        assert_sampler_agrees(scenarios)

    @pytest.mark.slow
    @many
    @given(scenarios=batches(amphibious_scenarios(most=6)))
    def test_many_more_landings(self, scenarios: list[dict[str, Any]]) -> None:
        assert_sampler_agrees(scenarios)

    @pytest.mark.slow
    @many
    @given(scenarios=batches(sea_scenarios()))
    def test_many_more_at_sea(self, scenarios: list[dict[str, Any]]) -> None:
        assert_sampler_agrees(scenarios)

    @pytest.mark.slow
    @many
    @given(scenarios=batches(assault_scenarios()))
    def test_many_more_assaults(self, scenarios: list[dict[str, Any]]) -> None:
        assert_sampler_agrees(scenarios)

    @pytest.mark.slow
    @many
    @given(scenarios=batches(raid_scenarios()))
    def test_many_more_raids(self, scenarios: list[dict[str, Any]]) -> None:
        assert_sampler_agrees(scenarios)


# --------------------------------------------------------------------------------------------------
# What holds in every battle
# --------------------------------------------------------------------------------------------------

EVEN = {"infantry": 1, "tank": 3, "fighter": 3, "bomber": 2}
EVEN_AT_SEA = {"submarine": 2, "destroyer": 2, "cruiser": 3, "battleship": 4, "carrier": 1}


def forces(units: Iterable[str], most: int = 6) -> st.SearchStrategy[dict[str, int]]:
    return st.dictionaries(st.sampled_from(tuple(units)), st.integers(1, most), min_size=1)


def mirror(units: dict[str, int], values: Mapping[str, int], **options: Any) -> dict[str, Any]:
    """Return a battle between two equal forces whose units attack and defend alike."""
    changes = {f"{unit}.{name}": value for unit, value in values.items() for name in ("attack", "defence")}
    order = [unit for unit in values if unit in units]
    side = {"units": units, "loss_order": order}
    return {"attacker": side, "defender": side, "edition_changes": changes, **options}


few = settings(max_examples=3 if is_jit_disabled() else 8, phases=no_shrinking)
small = 2 if is_jit_disabled() else 6


@few
@given(
    lands=st.lists(forces(EVEN, small), min_size=1, max_size=2 * small),
    fleets=st.lists(forces(EVEN_AT_SEA, small // 2), min_size=1, max_size=small),
    low_luck=st.sampled_from(("none", "combat")),
)
def test_mirrored_forces_have_equal_chances(
    lands: list[dict[str, int]], fleets: list[dict[str, int]], low_luck: str
) -> None:
    battles = [mirror(units, EVEN, low_luck=low_luck) for units in lands]
    # Without strikes and submarines apart, both sides do the same things at the same time at sea too.
    battles += [mirror(units, EVEN_AT_SEA, low_luck=low_luck, terrain="sea") for units in fleets]
    for means in solve_all(battles):
        wins = means["outcome.attacker_wins"] + means["outcome.attacker_clears"]
        assert near(wins, means["outcome.defender_wins"])
        assert near(means["swing.sum"], 0)
        assert near(means["attacker.cost_lost.sumsq"], means["defender.cost_lost.sumsq"])
        assert near(left(means, "attacker"), left(means, "defender"))


@few
@given(scenario=(land_scenarios(2) if is_jit_disabled() else land_scenarios()) | sea_scenarios(2))
def test_doubled_costs_double_the_swing(scenario: dict[str, Any]) -> None:
    model = simcore.encode([scenario]).scenarios[0]
    edition = simcore.rulesets()["general_combat"]
    assert model.edition in edition["editions"]
    prices = {unit: row.cost for unit, row in ref.EDITIONS[scenario["edition"]].units.items()}
    if scenario["terrain"] == "sea":
        prices = {unit: row.cost for unit, row in sea.SEA_EDITIONS[scenario["edition"]].units.items()}
    dearer = scenario | {"edition_changes": {f"{unit}.cost": 2 * cost for unit, cost in prices.items()}}
    once, twice = solve_all([scenario, dearer])
    for name in ("swing", "attacker.cost_lost", "defender.cost_lost"):
        assert near(twice[f"{name}.sum"], 2 * once[f"{name}.sum"])
        assert near(twice[f"{name}.sumsq"], 4 * once[f"{name}.sumsq"])
    for name, value in once.items():
        if not name.startswith(("swing", "attacker.cost_lost", "defender.cost_lost")):
            assert near(twice[name], value), name


FIGHTERS = ("infantry", "artillery", "tank", "fighter", "bomber")


@few
@given(
    edition=st.sampled_from(EDITIONS),
    forces=st.tuples(forces(FIGHTERS, small), forces(FIGHTERS, small)),
)
def test_one_more_unit_never_lowers_the_chance_to_win(
    edition: str, forces: tuple[dict[str, int], dict[str, int]]
) -> None:
    attacker, defender = forces
    battles = [(attacker, defender)]
    battles += [(attacker | {unit: attacker.get(unit, 0) + 1}, defender) for unit in FIGHTERS]
    battles += [(attacker, defender | {unit: defender.get(unit, 0) + 1}) for unit in FIGHTERS]
    found = solve_all(
        {"edition": edition, "attacker": {"units": first}, "defender": {"units": second}} for first, second in battles
    )
    wins = [means["outcome.attacker_wins"] + means["outcome.attacker_clears"] for means in found]
    holds = [means["outcome.defender_wins"] for means in found]
    more = len(FIGHTERS)
    for number, unit in enumerate(FIGHTERS, 1):
        assert wins[number] >= wins[0] - NEAR, f"one more attacking {unit}"
        assert holds[number] <= holds[0] + NEAR, f"one more attacking {unit}"
        assert holds[number + more] >= holds[0] - NEAR, f"one more defending {unit}"
        assert wins[number + more] <= wins[0] + NEAR, f"one more defending {unit}"


# --------------------------------------------------------------------------------------------------
# The same bits everywhere
# --------------------------------------------------------------------------------------------------


@compiled_only
def test_results_depend_on_neither_threads_nor_neighbours() -> None:
    chosen = [KINDS[kind][0][name] for kind, name in NAMED[::9] if kind not in {"assault", "raid"}]
    chosen += [land("40 infantry, 10 tank", "40 infantry, 10 fighter"), at_sea("4 submarine", "4 cruiser")]
    encoded = simcore.encode(chosen)
    serial = simcore.solve(encoded, threads=1)
    for threads in (2, 3, None):
        parallel = simcore.solve(encoded, threads=threads)
        assert np.array_equal(serial.tally, parallel.tally)
        assert np.array_equal(serial.states, parallel.states)
        assert np.array_equal(serial.dropped, parallel.dropped)
    for row, scenario in enumerate(chosen):
        alone = simcore.solve(simcore.encode([scenario]))
        assert np.array_equal(alone.tally[0], serial.tally[row]), scenario
        assert alone.states[0] == serial.states[row]
    backwards = simcore.solve(simcore.encode(chosen[::-1]))
    assert np.array_equal(backwards.tally[::-1], serial.tally)


@compiled_only
def test_a_sea_battle_that_finds_no_room_leaves_no_trace_in_the_next() -> None:
    small, large = at_sea("1 submarine, 1 destroyer", "1 cruiser"), at_sea(*["3 submarine, 3 destroyer, 3 fighter"] * 2)
    arrays: Any = simcore.encode([small, large]).arrays
    columns = simcore.solve(simcore.encode([small])).tally.shape[1]

    def solve(rows: list[int]) -> tuple[Any, list[int]]:
        found, status = np.zeros((len(rows), columns)), np.full(len(rows), Status.UNSET, dtype=np.uint8)
        reached = np.zeros(len(rows), dtype=np.int64)
        room = np.array([20, 120], dtype=np.int64)
        solve_all_at_sea(np.array(rows), arrays, room, found, status, reached, new_ends(0))
        return found, status.tolist()

    alone, status = solve([0])
    assert status == [Status.OK]
    found, status = solve([0, 1, 0, 0])
    assert status == [Status.OK, Status.CAPACITY, Status.OK, Status.OK]
    assert not found[1].any()
    for row in (0, 2, 3):
        assert np.array_equal(found[row], alone[0])


# --------------------------------------------------------------------------------------------------
# Sizes
# --------------------------------------------------------------------------------------------------


@compiled_only
def test_large_battles_on_land() -> None:
    battles = [
        land(
            "100 infantry, 20 artillery, 30 tank, 10 fighter, 5 bomber",
            "110 infantry, 20 tank, 10 fighter",
        ),
        land("300 infantry, 50 tank", "400 infantry"),
        land("60 infantry, 20 fighter", "60 infantry, 2 aa_gun", "1942_2nd"),
    ]
    encoded = simcore.encode(battles)
    solution = simcore.solve(encoded)
    assert np.abs(solution.dropped).max() <= DROPPED
    for row in solution.tally:
        assert_possible(dict(zip(encoded.ruleset.accumulators, row.tolist(), strict=True)))
    assert solution.states[0] == (1 + 165) * (1 + 140)


EVERYTHING = {"infantry": 2_000, "artillery": 2_000, "tank": 2_000, "fighter": 2_000, "bomber": 2_000}


def test_battles_with_too_many_states_are_refused_with_the_number() -> None:
    huge = {"attacker": {"units": EVERYTHING}, "defender": {"units": EVERYTHING}}
    with pytest.raises(
        ScenarioError, match=rf'up to {10_001**2:,} states, more than the 4,194,304.*use "simulate"'
    ) as caught:
        simcore.solve(simcore.encode([huge]))
    assert caught.value.field == "method"
    with pytest.raises(ScenarioError, match="states") as caught:
        simcore.solve(simcore.encode([land("1 tank", "1 infantry"), huge]))
    assert caught.value.field == "scenarios[1].method"


def test_submarines_submerge_once_at_the_end_of_a_cycle() -> None:
    # Both policies look at what is there; what the attacker's submerging changes is the next cycle's matter.
    scenario = {
        "edition": "revised",
        "terrain": "sea",
        "attacker": {"units": "1 submarine, 1 battleship", "submerge": "facing_aircraft"},
        "defender": {"units": "1 submarine, 1 fighter", "submerge": {"outnumbered": 1.0}},
    }
    (means,) = solve_all([scenario])
    solved = solve_at_sea(scenario)
    for outcome in simcore.rulesets()["general_combat"]["outcomes"]:
        assert near(means[f"outcome.{outcome}"], float(solved.outcome(outcome))), outcome


def test_fleets_with_too_many_states_are_refused() -> None:
    units = dict.fromkeys((*in_a_sea_zone.SHIPS, "fighter", "bomber"), 2_000)
    huge = {"terrain": "sea", "attacker": {"units": units}, "defender": {"units": units}}
    with pytest.raises(ScenarioError, match='more states than the exact solver has room for; use "simulate"') as caught:
        simcore.solve(simcore.encode([huge]))
    assert caught.value.field == "method"
