"""Retreats that look ahead and optimal play: against a plain recursion over all choices, and against each other."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import simcore
from simcore.core.jit import is_jit_disabled
from simcore.errors import ScenarioError
from simcore.rulesets.general_combat.encoding import Accumulator
from simcore.rulesets.general_combat.optimal import play_out
from tests.rulesets.general_combat import reference_optimal as plain
from tests.rulesets.general_combat.reference import ATTACKER, combat_throws, read_scenario
from tests.rulesets.general_combat.reference_exact import hit_chances
from tests.rulesets.general_combat.reference_optimal_sea import best_at_sea
from tests.rulesets.general_combat.support import land, no_shrinking
from tests.rulesets.general_combat.test_params_sea import problem
from tests.rulesets.general_combat.test_reference_assault import ashore, assault_of, raid_of
from tests.rulesets.general_combat.test_reference_sea import at_sea
from tests.strategies import amphibious_scenarios, land_scenarios, sea_scenarios

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

NEAR = 1e-12
MARGIN = 1e-9
compiled_only = pytest.mark.skipif(is_jit_disabled(), reason="takes too long without the JIT")


@pytest.fixture(autouse=True)
def wrapping() -> Iterator[None]:
    """Let products of 64-bit words wrap around silently, as they do in compiled code."""
    with np.errstate(over="ignore"):
        yield


def played(scenario: Mapping[str, Any]) -> Any:
    """Return what the solver of decisions makes of a battle, whether or not it decides anything."""
    return play_out(simcore.encode([scenario]).arrays, 0)


def means(scenario: Mapping[str, Any]) -> dict[str, float]:
    """Return the expected accumulators of a battle."""
    encoded = simcore.encode([scenario])
    return dict(zip(encoded.ruleset.accumulators, simcore.solve(encoded, threads=1).tally[0].tolist(), strict=True))


def wins(found: Mapping[str, float]) -> float:
    """Return the attacker's chance to win."""
    return found["outcome.attacker_wins"] + found["outcome.attacker_clears"]


def optimal(scenario: Mapping[str, Any], side: str, **choice: Any) -> dict[str, Any]:
    """Return a scenario in which a side plays optimally."""
    return {**scenario, side: {**scenario[side], "optimal": choice}}


def retreating(scenario: Mapping[str, Any], **policy: Any) -> dict[str, Any]:
    """Return a scenario with another retreat policy of the attacker, added to his own."""
    own = scenario["attacker"]
    return {**scenario, "attacker": {**own, "retreat": {**own.get("retreat", {}), **policy}}}


# --------------------------------------------------------------------------------------------------
# Without a decision
# --------------------------------------------------------------------------------------------------


@compiled_only
@settings(max_examples=60, phases=no_shrinking)
@given(scenario=st.one_of(land_scenarios(4), amphibious_scenarios(3)))
def test_without_decisions_it_is_the_other_solver(scenario: dict[str, Any]) -> None:
    encoded = simcore.encode([scenario])
    found = played(scenario)
    solution = simcore.solve(encoded, threads=1)
    wanted = solution.tally[0]
    assert np.all(np.abs(found.tally[: len(wanted)] - wanted) <= NEAR * np.maximum(1, np.abs(wanted)))
    assert found.tally[len(wanted) : -1].tolist() == solution.spread[0, :-1].tolist()
    assert abs(found.tally[-1] - solution.spread[0, -1]) <= NEAR
    assert abs(found.value[1] - wanted[Accumulator.OUTCOMES : Accumulator.OUTCOMES + 2].sum()) <= NEAR
    assert abs(found.value[2] - wanted[Accumulator.SWING]) <= NEAR * max(1, abs(wanted[Accumulator.SWING]))


# --------------------------------------------------------------------------------------------------
# Against the plain recursion
# --------------------------------------------------------------------------------------------------

SMALL = {
    "land": land("2 infantry, 1 tank, 1 fighter", "2 infantry, 1 fighter"),
    "owner picks": land("2 infantry, 2 fighter, 1 bomber", "2 infantry, 2 aa_gun", "1942_2nd"),
    "limit": land("2 infantry, 1 tank, 1 fighter", "2 infantry, 1 fighter", cycle_limit=2),
    "landing": ashore(
        "2 infantry, 2 tank, 1 fighter", "2 infantry, 1 fighter", landed="1 infantry, 1 tank", bombard="1 cruiser"
    ),
    "revised": ashore(
        "2 infantry, 1 tank, 1 fighter", "2 infantry, 1 fighter", "revised", landed="1 infantry",
        bombard="1 battleship",
    ),
}  # fmt: skip


@pytest.mark.rule("GC-4.8.6")
@pytest.mark.rule("GC-4.3.2")
@pytest.mark.rule("GC-4.4.2")
@pytest.mark.parametrize("goal", ["win", "capture", "swing"])
@pytest.mark.parametrize("side", ["attacker", "defender"])
@pytest.mark.parametrize("name", list(SMALL)[:: 3 if is_jit_disabled() else 1])
def test_optimal_play_is_the_best_of_all(name: str, side: str, goal: str) -> None:
    scenario = optimal(SMALL[name], side, goal=goal)
    found = played(scenario)
    wanted = plain.best(scenario)
    assert abs(found.value[0] - wanted.goal) <= NEAR
    # What is valued backwards is what comes out forwards.
    assert abs(found.tally[Accumulator.BATTLES] - 1) <= NEAR
    assert abs(found.value[1] - found.tally[Accumulator.OUTCOMES : Accumulator.OUTCOMES + 2].sum()) <= NEAR
    assert abs(found.value[2] - found.tally[Accumulator.SWING]) <= 10 * NEAR


@pytest.mark.rule("GC-4.6.7")
@pytest.mark.rule("GC-5.6")
@pytest.mark.parametrize(
    "policy",
    [
        {"when_win_chance_below": 0.3},
        {"when_win_chance_below": 0.85, "after_cycles": 3},
        {"when_win_chance_below": 1.0},
        {"when_swing_negative": True},
        {"when_swing_negative": True, "possible": False, "when_units_at_most": 1},
    ],
)
@pytest.mark.parametrize("name", list(SMALL)[:: 3 if is_jit_disabled() else 1])
def test_retreats_look_ahead(name: str, policy: dict[str, Any]) -> None:
    scenario = retreating(SMALL[name], **policy)
    found = played(scenario)
    wanted = plain.best(scenario)
    assert abs(found.value[1] - wanted.win) <= NEAR
    assert abs(found.value[2] - wanted.swing) <= 10 * NEAR
    assert abs(found.value[1] - found.tally[Accumulator.OUTCOMES : Accumulator.OUTCOMES + 2].sum()) <= NEAR


@compiled_only
@settings(max_examples=40, phases=no_shrinking)
@given(
    scenario=st.one_of(land_scenarios(2), amphibious_scenarios(1)),
    side=st.sampled_from(["attacker", "defender"]),
    goal=st.sampled_from(["win", "capture", "swing"]),
)
def test_any_small_battle_is_played_optimally(scenario: dict[str, Any], side: str, goal: str) -> None:
    scenario = optimal(scenario, side, goal=goal)
    if sum(scenario["attacker"]["units"].values()) <= 7:
        assert abs(played(scenario).value[0] - plain.best(scenario).goal) <= 10 * NEAR


def test_all_policies_of_a_tiny_battle_one_by_one() -> None:  # noqa: C901 - a battle in a few lines
    """No recursion over choices here: every list of choices is tried as a whole battle."""
    scenario = read_scenario(land("2 infantry, 1 tank", "2 infantry"))
    types = ("infantry", "tank")

    def chances(side: int, counts: tuple[int, int]) -> list[Fraction]:
        stack = [unit for unit, n in zip(types, counts, strict=True) for _ in range(n)]
        return hit_chances(combat_throws(scenario, side, stack, 1))

    points = [(i, t, d, k) for i, t in product(range(3), range(2)) for d in (1, 2) for k in range(1, i + t) if i and t]

    def choices(i: int, t: int, k: int) -> list[tuple[int, int]]:
        return [(i - a, t - (k - a)) for a in range(k + 1) if a <= i and k - a <= t]

    def win(policy: dict[tuple[int, int, int, int], tuple[int, int]]) -> Fraction:
        @cache
        def arrive(i: int, t: int, d: int) -> Fraction:
            if i + t == 0:
                return Fraction(0)
            if d == 0:
                return Fraction(1)
            total, same = Fraction(0), Fraction(0)
            for h, p in enumerate(chances(ATTACKER, (i, t))):
                for k, q in enumerate(chances(1, (d, 0))):
                    left = max(0, d - h)
                    if h == 0 and k == 0:
                        same = p * q
                    elif k >= i + t:
                        total += p * q * arrive(0, 0, left)
                    else:
                        options = choices(i, t, k)
                        after = policy[i, t, left, k] if (i, t, left, k) in policy else options[0]
                        total += p * q * arrive(*after, left)
            return total / (1 - same)

        return arrive(2, 1, 2)

    best = max(
        win(dict(zip(points, chosen, strict=True))) for chosen in product(*(choices(i, t, k) for i, t, _, k in points))
    )
    found = played(optimal(land("2 infantry, 1 tank", "2 infantry"), "attacker", goal="win"))
    assert abs(found.value[0] - best) <= NEAR


# --------------------------------------------------------------------------------------------------
# At sea
# --------------------------------------------------------------------------------------------------

FLEETS = {
    "strikes": at_sea("1 submarine, 1 destroyer", "1 submarine, 1 fighter"),
    "two hits": at_sea("1 battleship, 1 submarine", "1 cruiser, 1 submarine", cycle_limit=2),
    "transports": at_sea("2 transport, 1 destroyer", "1 submarine, 1 fighter"),
    "attacker first": at_sea(
        "1 submarine, 1 destroyer", "1 submarine, 1 carrier",
        switches={"submarine_strikes": "attacker_first", "doomed_destroyer": "does_not"},
    ),
    "revised": at_sea("1 submarine, 1 battleship", "1 submarine, 1 fighter, 1 transport", "revised"),
    "global": at_sea("1 submarine, 1 fighter", "1 submarine, 1 carrier", "global40_2nd"),
}  # fmt: skip


@pytest.mark.rule("GC-4.2.2")
@pytest.mark.rule("GC-4.2.4")
@pytest.mark.rule("GC-4.8.4")
@pytest.mark.rule("GC-4.8.5")
@pytest.mark.parametrize("goal", ["win", "swing"])
@pytest.mark.parametrize("side", ["attacker", "defender"])
@pytest.mark.parametrize("name", list(FLEETS))
def test_optimal_play_at_sea_is_the_best_of_all(name: str, side: str, goal: str) -> None:
    scenario = optimal(FLEETS[name], side, goal=goal)
    found = played(scenario)
    assert abs(found.value[0] - best_at_sea(scenario).goal) <= 10 * NEAR
    assert abs(found.tally[Accumulator.BATTLES] - 1) <= NEAR
    assert abs(found.value[1] - found.tally[Accumulator.OUTCOMES]) <= NEAR
    assert abs(found.value[2] - found.tally[Accumulator.SWING]) <= 10 * NEAR


@pytest.mark.rule("GC-4.6.7")
@pytest.mark.rule("GC-4.6.6")
@pytest.mark.parametrize(
    "policy",
    [
        {"when_win_chance_below": 0.3},
        {"when_win_chance_below": 0.8, "after_cycles": 2},
        {"when_swing_negative": True},
        {"when_swing_negative": True, "possible": False},
    ],
)
@pytest.mark.parametrize("name", list(FLEETS))
def test_retreats_at_sea_look_ahead(name: str, policy: dict[str, Any]) -> None:
    scenario = retreating(FLEETS[name], **policy)
    found = played(scenario)
    wanted = best_at_sea(scenario)
    assert abs(found.value[1] - wanted.win) <= NEAR
    assert abs(found.value[2] - wanted.swing) <= 10 * NEAR
    assert abs(found.value[1] - found.tally[Accumulator.OUTCOMES]) <= NEAR


@compiled_only
@settings(max_examples=30, phases=no_shrinking)
@given(
    scenario=sea_scenarios(1),
    side=st.sampled_from(["attacker", "defender"]),
    decisions=st.sampled_from([["casualties"], ["submerge"], ["casualties", "submerge"]]),
)
def test_any_small_sea_battle_is_played_optimally(scenario: dict[str, Any], side: str, decisions: list[str]) -> None:
    scenario = optimal(scenario, side, goal="swing", decisions=decisions)
    encoded = simcore.encode([scenario]).scenarios[0]
    if sum(encoded.counts(0).values()) + sum(encoded.counts(1).values()) <= 6:
        assert abs(played(scenario).value[0] - best_at_sea(scenario).goal) <= 100 * NEAR


@compiled_only
@settings(max_examples=30, phases=no_shrinking)
@given(scenario=sea_scenarios(2))
def test_at_sea_without_decisions_it_is_the_other_solver(scenario: dict[str, Any]) -> None:
    # Each side may submerge once at the end of a cycle, whatever the other does then: one policy shows no difference.
    default = "cycle_end" if scenario["edition"] == "revised" else "step_2"
    if scenario.get("switches", {}).get("sub_submerge", default) == "cycle_end":
        scenario["attacker"].pop("submerge", None)
    encoded = simcore.encode([scenario])
    solution = simcore.solve(encoded, threads=1)
    wanted = solution.tally[0]
    found = played(scenario).tally
    assert np.all(np.abs(found[: len(wanted)] - wanted) <= 10 * NEAR * np.maximum(1, np.abs(wanted)))
    assert found[len(wanted) : -1].tolist() == solution.spread[0, :-1].tolist()
    assert abs(found[-1] - solution.spread[0, -1]) <= 10 * NEAR


# --------------------------------------------------------------------------------------------------
# What holds for every battle
# --------------------------------------------------------------------------------------------------

ORDERS: list[Any] = ["default", "cheapest", "weakest", ["fighter", "tank"], ["tank", "fighter"], ["artillery"]]
MIDDLING = land("4 infantry, 1 artillery, 2 tank, 1 fighter", "4 infantry, 1 artillery, 1 tank, 1 fighter")


@pytest.mark.rule("GC-4.8.6")
@pytest.mark.parametrize("side", ["attacker", "defender"])
@pytest.mark.parametrize("goal", ["win", "swing"])
def test_no_order_of_loss_is_better(side: str, goal: str) -> None:
    best = played(optimal(MIDDLING, side, goal=goal, decisions=["casualties"])).value[0]
    for order in ORDERS:
        for keep in (0, 1, 3) if side == "attacker" else (0,):
            policy = {"loss_order": order} | ({"keep_land": keep} if keep else {})
            found = means({**MIDDLING, side: {**MIDDLING[side], **policy}})
            if goal == "win":
                worth = wins(found) if side == "attacker" else found["outcome.defender_wins"]
            else:
                worth = found["swing.sum"] * (1 if side == "attacker" else -1)
            assert worth <= best + MARGIN


def test_more_decisions_are_never_worse() -> None:
    scenario = at_sea("2 submarine, 1 destroyer, 1 fighter", "1 submarine, 1 cruiser, 1 fighter")
    worths = [
        played(optimal(scenario, "attacker", goal="swing", decisions=decisions)).value[0]
        for decisions in (["submerge"], ["casualties", "submerge"], ["casualties", "submerge", "retreat"])
    ]
    assert worths[0] <= worths[1] + MARGIN
    assert worths[1] <= worths[2] + MARGIN
    assert means(scenario)["swing.sum"] <= worths[0] + MARGIN


@pytest.mark.rule("GC-4.6.7")
def test_a_threshold_of_zero_is_no_policy() -> None:
    plainly = means(MIDDLING)
    assert means(retreating(MIDDLING, when_win_chance_below=0.0, when_swing_negative=False)) == plainly
    # Who would have to win for sure leaves as soon as he may.
    found = means(retreating(MIDDLING, when_win_chance_below=1))
    assert found["outcome.attacker_retreats"] > 0.9
    assert wins(found) < 0.01


@pytest.mark.rule("GC-4.6.7")
def test_ties_go_on() -> None:
    # One tank against one infantry: the chance to win is exactly 1/2 in every cycle.
    duel = land("1 tank", "1 infantry")
    assert means(retreating(duel, when_win_chance_below=0.5))["outcome.attacker_retreats"] == 0
    assert means(retreating(duel, when_win_chance_below=0.5 + 1e-9))["outcome.attacker_retreats"] > 0
    # Fighter against bomber of equal price: as likely to lose as to gain.
    even = land("1 infantry", "1 infantry", edition_changes={"infantry.attack": 2})
    assert means(retreating(even, when_swing_negative=True))["outcome.attacker_retreats"] == 0


# --------------------------------------------------------------------------------------------------
# The sampler
# --------------------------------------------------------------------------------------------------

SAMPLED = {
    "chance": retreating(
        land("5 infantry, 2 tank, 2 fighter", "6 infantry, 1 fighter, 1 aa_gun"), when_win_chance_below=0.4
    ),
    "swing": retreating(
        land("5 infantry, 2 tank, 2 fighter", "4 infantry, 1 fighter"), when_swing_negative=True, after_cycles=3
    ),
    "landing": retreating(
        ashore(
            "5 infantry, 2 tank, 2 fighter", "4 infantry, 1 fighter", landed="3 infantry, 1 tank", bombard="2 cruiser"
        ),
        when_swing_negative=True,
        when_win_chance_below=0.7,
    ),
    "optimal": optimal(
        land("5 infantry, 2 tank, 2 fighter", "5 infantry, 1 fighter"), "attacker", goal="swing", decisions=["retreat"]
    ),
    "sea": retreating(
        at_sea("2 submarine, 1 battleship, 2 fighter", "1 submarine, 1 destroyer, 1 carrier, 2 fighter"),
        when_win_chance_below=0.5,
    ),
}


@pytest.mark.statistical
@compiled_only
@pytest.mark.rule("GC-4.6.7")
@pytest.mark.rule("GC-5.6")
def test_the_sampler_leaves_as_the_solver_does() -> None:
    encoded = simcore.encode(list(SAMPLED.values()))
    battles = 200_000
    run = simcore.simulate(encoded, battles=battles, seed=5)
    solution = simcore.solve(encoded, threads=1)
    for row, name in enumerate(SAMPLED):
        exact = dict(zip(encoded.ruleset.accumulators, solution.tally[row].tolist(), strict=True))
        found = dict(zip(encoded.ruleset.accumulators, (run.tally[row] / battles).tolist(), strict=True))
        # From a landing some leave while others fight on.
        assert exact["outcome.attacker_retreats"] + exact["retreated"] > 0.01, name
        for outcome in (column for column in exact if column.startswith("outcome.")):
            p = exact[outcome]
            assert abs(found[outcome] - p) <= 4.5 * (p * (1 - p) / battles) ** 0.5 + 1e-15, (name, outcome)
        for figure in ("swing", "cycles", "attacker.cost_lost", "defender.cost_lost"):
            mean = exact[f"{figure}.sum"]
            sd = max(0.0, exact[f"{figure}.sumsq"] - mean * mean) ** 0.5
            assert abs(found[f"{figure}.sum"] - mean) <= 4.5 * sd / battles**0.5 + 1e-12, (name, figure)


@pytest.mark.rule("GC-4.6.7")
@pytest.mark.parametrize("name", ["chance", "optimal", "sea"])
def test_a_replay_tells_why_the_attacker_leaves(name: str) -> None:
    scenario = SAMPLED[name]
    told = [simcore.replay(scenario, battle=battle, seed=5) for battle in range(12)]
    run = simcore.simulate(simcore.encode([scenario]), battles=12, seed=5, keep_battles=True)
    outcomes = [run.ruleset.outcomes[code] for code in run.outcome[0]] if run.outcome is not None else []
    assert [replay.outcome for replay in told] == outcomes
    left = [replay for replay in told if replay.outcome == "attacker_retreats"]
    assert left
    for replay in left:
        reasons = [line for line in replay.lines if "breaks off" in line]
        assert len(reasons) == 1
        wanted = "going on is worth less to the goal" if name == "optimal" else "chance to win by going on is"
        assert wanted in reasons[0]
    assert not any("breaks off" in line for replay in told if replay not in left for line in replay.lines)


# --------------------------------------------------------------------------------------------------
# Surface
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("side", ["attacker", "defender"])
@pytest.mark.parametrize("goal", ["win", "capture", "swing"])
def test_the_result_tells_the_gain(side: str, goal: str) -> None:
    scenario = optimal({**MIDDLING, "defender": {**MIDDLING["defender"], "loss_order": ["tank"]}}, side, goal=goal)
    scenario[side] = {**scenario[side], "loss_order": ["fighter"]}
    data = simcore.odds(scenario=scenario).to_dict()
    told = data["optimal"]
    assert data["method"] == "exact"
    assert (told["side"], told["goal"]) == (side, goal)
    assert told["decisions"] == (["casualties", "retreat"] if side == "attacker" else ["casualties"])
    assert told["gain"] >= 0
    assert told["gain"] > 0 or (side, goal) not in {("attacker", "capture"), ("attacker", "swing")}
    assert told["gain_over_written"] > 0
    without = {**scenario, side: {key: value for key, value in scenario[side].items() if key != "optimal"}}
    found = means(without)
    worth = {
        "win": wins(found) if side == "attacker" else found["outcome.defender_wins"],
        "capture": found["outcome.attacker_wins"],
        "swing": found["swing.sum"],
    }[goal]
    assert abs(told["value_written_policy"] - worth) <= NEAR
    sign = -1 if side == "defender" and goal != "win" else 1
    assert abs(told["gain_over_written"] - sign * (told["value"] - worth)) <= NEAR
    assert told["examples"]


def test_no_gain_where_there_is_nothing_to_decide() -> None:
    told = simcore.odds(scenario=optimal(land("3 tank", "3 infantry"), "attacker", goal="win")).to_dict()["optimal"]
    assert abs(told["gain"]) <= NEAR
    assert "optimal" not in simcore.odds(scenario=land("3 tank", "3 infantry"), method="exact").to_dict()


@pytest.mark.parametrize(
    ("scenario", "message"),
    [
        (retreating(MIDDLING, when_win_chance_below=1.5), "attacker.retreat.when_win_chance_below: must be a number"),
        (retreating(MIDDLING, when_win_chance_below=True), "attacker.retreat.when_win_chance_below: must be a number"),
        (retreating(MIDDLING, when_win_chance_below="0.5"), "must be a number from 0 (off) to 1"),
        (retreating(MIDDLING, when_swing_negative=2), "attacker.retreat.when_swing_negative"),
        (optimal(MIDDLING, "attacker", goal="loss"), "attacker.optimal.goal"),
        (optimal(MIDDLING, "attacker", decisions=["aim"]), "attacker.optimal.decisions"),
        (optimal(MIDDLING, "attacker", aim="win"), "attacker.optimal.aim"),
        (optimal(MIDDLING, "defender", decisions=["retreat"]), 'no such decision in this battle, got "retreat"'),
        (optimal(MIDDLING, "attacker", decisions=["submerge"]), "allowed: casualties, retreat"),
        (optimal(optimal(MIDDLING, "attacker"), "defender"), "only one side can play optimally"),
        (optimal(at_sea("1 cruiser", "1 cruiser"), "attacker", goal="capture"), "nothing is captured at sea"),
        (optimal(raid_of("1 bomber", "1 aa_gun", territory={"value": 3}), "attacker"), "no optimal play in a raid"),
    ],
)
def test_what_cannot_be_asked(scenario: dict[str, Any], message: str) -> None:
    assert message in problem(scenario)


def test_assaults_with_a_sea_battle_do_not_look_ahead() -> None:
    assault = assault_of("1 cruiser, 2 transport", "1 destroyer", "2 infantry, 1 tank", "1 infantry", ["2 infantry"])
    assert "no optimal play in an assault" in problem(optimal(assault, "attacker"))
    assert "assault with a sea battle" in problem(retreating(assault, when_swing_negative=True))


def test_the_sampler_refuses_what_it_cannot_do() -> None:
    with pytest.raises(ScenarioError, match="worked out by the exact solver alone"):
        simcore.odds(scenario=optimal(MIDDLING, "attacker"), method="simulate")
    huge = optimal(land("200 infantry, 200 tank, 200 fighter", "200 infantry"), "attacker")
    with pytest.raises(ScenarioError, match="take fewer units"):
        simcore.odds(scenario=huge)


def test_old_scenarios_keep_their_identity() -> None:
    canonical = simcore.encode([MIDDLING]).scenarios[0].canonical()
    assert "optimal" not in canonical["attacker"]
    assert "when_swing_negative" not in canonical["attacker"]["retreat"]
    changed = simcore.encode([retreating(MIDDLING, when_swing_negative=True)]).scenarios[0].canonical()
    assert changed != canonical
