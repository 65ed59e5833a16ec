"""The verbs at their edges: arguments, sizes, pairing, results."""

from __future__ import annotations

import copy
import dataclasses
import json
import math
import pickle
import re
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import simcore
from simcore import api
from simcore.enums import Status
from simcore.errors import KernelStatusError, ScenarioError, UnknownRulesetError
from simcore.method import choose
from simcore.result import Result, sample_sd, wilson_interval
from simcore.scenario import load_scenario
from simcore.schema import AUTO_EFFORT, STATE_EFFORT

DUEL: dict[str, Any] = {"attacker": {"units": "1 tank"}, "defender": {"units": "1 infantry"}}


def outcome_bytes(scenario: dict[str, Any], **options: Any) -> bytes:
    run = simcore.simulate(simcore.encode([scenario]), battles=200, keep_battles=True, **options)
    assert run.outcome is not None
    return run.outcome.tobytes()


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"battles": 0}, "battles"),
        ({"battles": -5}, "battles"),
        ({"battles": 1.5}, "battles"),
        ({"battles": True}, "battles"),
        ({"battles": 10**13}, "battles"),
        ({"seed": -1}, "seed"),
        ({"seed": 2**64}, "seed"),
        ({"seed": "7"}, "seed"),
        ({"first": -1}, "first"),
        ({"pairing": "match"}, "pairing"),
        ({"threads": 0}, "threads"),
        ({"threads": "two"}, "threads"),
    ],
)
def test_arguments_out_of_range_name_themselves(options: dict[str, Any], field: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        simcore.simulate(simcore.encode([DUEL]), **options)
    assert caught.value.field == field


def test_sums_that_could_overflow_are_refused_with_the_number() -> None:
    big = {"attacker": {"units": "2000 bomber"}, "defender": {"units": "2000 infantry"}}
    encoded = simcore.encode([big])
    most = (2**63 - 1) // 24_000**2
    with pytest.raises(ScenarioError, match=f"at most {most:,} battles"):
        simcore.simulate(encoded, battles=most + 1)
    assert api.check_size(encoded, most) == {}


def test_too_many_kept_battles_are_refused() -> None:
    with pytest.raises(ScenarioError, match="at most 50,000,000"):
        simcore.simulate(simcore.encode([DUEL]), battles=50_000_001, keep_battles=True)


@pytest.mark.parametrize("scenarios", [[], {}, "10 infantry", DUEL])
def test_encode_wants_a_list(scenarios: Any) -> None:
    with pytest.raises(ScenarioError, match="at least one scenario"):
        simcore.encode(scenarios)


def test_encode_names_the_row_of_a_bad_scenario() -> None:
    with pytest.raises(ScenarioError) as caught:
        simcore.encode([DUEL, {"attacker": {"units": "3 infantri"}}])
    assert str(caught.value) == 'scenarios[1].attacker.units: unknown unit "infantri" (did you mean "infantry"?)'


def test_one_bad_scenario_does_not_stop_the_others() -> None:
    encoded, rows, errors = api.encode_checked([DUEL, {}, DUEL, {"attacker": {"units": "x"}}])
    assert len(encoded) == 2
    assert rows == [0, 2]
    assert sorted(errors) == [1, 3]


def test_pairing_decides_what_shares_dice() -> None:
    other_price = {**DUEL, "edition_changes": {"tank.cost": 9}}
    other_units = {"attacker": {"units": "1 tank"}, "defender": {"units": "1 artillery"}}
    assert outcome_bytes(DUEL) == outcome_bytes(other_price)
    assert outcome_bytes(DUEL, pairing="independent") != outcome_bytes(other_price, pairing="independent")
    assert outcome_bytes(DUEL, pairing="common") == outcome_bytes(other_price, pairing="common")
    assert outcome_bytes(DUEL) != outcome_bytes(DUEL, seed=2)
    # A tank against one unit that defends at 2, whatever its name: only common dice make the battles equal
    # in what the tank rolls.
    assert outcome_bytes(other_units) != outcome_bytes(DUEL)


def test_seed_reaches_both_ends_of_its_range() -> None:
    assert outcome_bytes(DUEL, seed=0) != outcome_bytes(DUEL, seed=2**64 - 1)


def test_large_battle_numbers_are_distinct_addresses() -> None:
    encoded = simcore.encode([{"attacker": {"units": "9 infantry"}, "defender": {"units": "9 infantry"}}])
    firsts = [0, 2**32, 2**32 + 2**31, 2**61]
    tallies = [simcore.simulate(encoded, battles=100, first=first).tally.tobytes() for first in firsts]
    assert len(set(tallies)) == len(firsts)


def test_batch_schedule() -> None:
    assert api.batch_schedule(1).tolist() == [[0, 1]]
    assert api.batch_schedule(4_097).tolist() == [[0, 4_096], [4_096, 1]]
    long = api.batch_schedule(1_000_000)
    assert long[:16, 1].tolist() == [4_096] * 16
    assert long[16:19, 1].tolist() == [8_192, 16_384, 32_768]
    assert int(long[:, 1].sum()) == 1_000_000
    short = api.batch_schedule(300_000)
    assert np.array_equal(short[:-1], long[: len(short) - 1])


def test_a_runaway_battle_is_an_error_that_names_the_battle(monkeypatch: pytest.MonkeyPatch) -> None:
    encoded = simcore.encode([DUEL])

    def stuck(*_: Any, **__: Any) -> Any:
        return np.zeros((1, len(encoded.ruleset.accumulators)), dtype=np.int64), np.array([1], np.uint8), np.array([42])

    monkeypatch.setattr(api, "_launch", stuck)
    with pytest.raises(KernelStatusError, match="RUNAWAY: battle 42 of 1 tank v 1 infantry"):
        simcore.simulate(encoded, battles=10)


def test_an_unset_status_is_an_internal_error(monkeypatch: pytest.MonkeyPatch) -> None:
    encoded = simcore.encode([DUEL])

    def lost(*_: Any, **__: Any) -> Any:
        return (
            np.zeros((1, len(encoded.ruleset.accumulators)), dtype=np.int64),
            np.array([255], np.uint8),
            np.array([0]),
        )

    monkeypatch.setattr(api, "_launch", lost)
    with pytest.raises(KernelStatusError, match="internal error"):
        simcore.simulate(encoded, battles=10)


def test_odds_of_a_duel_and_its_json() -> None:
    result = simcore.odds("1 tank", "1 infantry", method="simulate", battles=50_000, seed=5)
    data = json.loads(json.dumps(result.to_dict()))
    assert data["method"] == "simulated"
    assert data["battles"] == 50_000
    assert math.isclose(sum(data["outcomes"].values()), 1)
    low, high = data["intervals"]["attacker_wins"]
    assert low < 0.5 < high
    assert data["attacker"]["cost"] == 5
    assert data["attacker"]["mean_survivors"] == {"tank": pytest.approx(0.5, abs=0.02)}
    assert data["swing"]["mean"] == pytest.approx(
        data["defender"]["mean_cost_lost"] - data["attacker"]["mean_cost_lost"]
    )
    assert "attacker wins" in str(result)
    assert "<table>" in result._repr_html_()
    frame = result.to_frame()
    assert frame.loc["attacker_wins", "share"] == data["outcomes"]["attacker_wins"]


def test_odds_accepts_text_tables_and_whole_sides() -> None:
    ways = [
        simcore.odds("1 tank", "1 infantry", method="simulate", battles=100),
        simcore.odds({"tank": 1}, {"infantry": 1}, method="simulate", battles=100),
        simcore.odds({"units": "1 arm", "keep_land": 1}, {"units": {"inf": 1}}, method="simulate", battles=100),
        simcore.odds(scenario=DUEL, method="simulate", battles=100),
    ]
    assert len({json.dumps(way.outcomes) for way in ways}) == 1


def test_odds_refuses_what_it_does_not_have() -> None:
    with pytest.raises(ScenarioError, match="more than the 4,194,304 that fit") as caught:
        simcore.odds("2000 infantry, 2000 tank", "2000 infantry, 2000 tank", method="exact")
    assert caught.value.field == "method"
    with pytest.raises(ScenarioError, match='did you mean "exact"'):
        simcore.odds("1 tank", "1 infantry", method="exakt")
    with pytest.raises(ScenarioError, match='did you mean "simulate"'):
        simcore.odds("1 tank", "1 infantry", method="simulat")
    with pytest.raises(ScenarioError, match="not both"):
        simcore.odds("1 tank", scenario=DUEL)
    with pytest.raises(UnknownRulesetError, match="general_combat"):
        simcore.odds("1 tank", "1 infantry", ruleset="general_combatt")


def test_solve_returns_the_expectations_of_one_battle() -> None:
    encoded = simcore.encode([DUEL, {"attacker": {"units": "1 infantry"}, "defender": {"units": "1 infantry"}}])
    solution = simcore.solve(encoded)
    assert isinstance(solution, simcore.Solution)
    assert repr(solution) == "Solution(general_combat, 2 scenarios)"
    assert solution.tally.dtype == np.float64
    assert solution.tally.shape == (2, len(encoded.ruleset.accumulators))
    assert solution.column("outcome.attacker_wins") == pytest.approx([0.5, 0.25], abs=1e-15)
    assert solution.column("battles") == pytest.approx([1.0, 1.0], abs=1e-15)
    assert solution.column("cycles.sum") == pytest.approx([1.5, 2.25], abs=1e-14)
    assert solution.states.tolist() == [4, 4]
    assert np.abs(solution.dropped).max() < 1e-15


def test_solve_names_what_it_has_when_asked_for_something_else() -> None:
    solution = simcore.solve(simcore.encode([DUEL]))
    with pytest.raises(KeyError, match=r'no accumulator .*swing\.sun.*did you mean "swing\.sum"'):
        solution.column("swing.sun")


@pytest.mark.parametrize("threads", [1, 2, None])
def test_solve_gives_the_same_bits_with_any_number_of_threads(threads: int | None) -> None:
    encoded = simcore.encode([DUEL, {"attacker": {"units": "9 infantry"}, "defender": {"units": "3 tank"}}, DUEL])
    solution = simcore.solve(encoded, threads=threads)
    assert np.array_equal(solution.tally, simcore.solve(encoded, threads=1).tally)
    assert np.array_equal(solution.tally[0], simcore.solve(simcore.encode([DUEL])).tally[0])


@pytest.mark.parametrize("threads", [0, "two", 1.5])
def test_solve_refuses_impossible_threads(threads: Any) -> None:
    with pytest.raises(ScenarioError) as caught:
        simcore.solve(simcore.encode([DUEL, DUEL]), threads=threads)
    assert caught.value.field == "threads"


def test_a_battle_that_was_not_solved_is_an_internal_error(monkeypatch: pytest.MonkeyPatch) -> None:
    encoded = simcore.encode([DUEL])

    def lost(*_: Any, **__: Any) -> Any:
        n = len(encoded.ruleset.accumulators)
        return np.zeros((1, n)), np.zeros(1, dtype=np.int64), np.array([255], np.uint8)

    monkeypatch.setattr(api, "_launch_solver", lost)
    with pytest.raises(KernelStatusError, match="UNSET: 1 tank v 1 infantry was not solved"):
        simcore.solve(encoded)


def test_exact_odds() -> None:
    result = simcore.odds("1 tank", "1 infantry", method="exact")
    made = result.to_dict()
    assert (made["method"], made["battles"], made["seed"], made["pairing"]) == ("exact", None, None, None)
    assert "intervals" not in made
    assert result.intervals == {}
    assert abs(made["dropped"]) < 1e-15
    assert json.loads(json.dumps(made)) == made
    assert result.outcomes["attacker_wins"] == pytest.approx(0.5, abs=1e-15)
    # A cycle leaves both with 1/2 x 2/3 = 1/3.
    assert result.cycles == {"mean": pytest.approx(1.5), "sd": pytest.approx(math.sqrt(0.75))}
    assert result.swing["mean"] == pytest.approx(3 * 0.75 - 5 * 0.5)
    assert made["attacker"]["mean_survivors"] == {"tank": pytest.approx(0.5)}
    assert made["defender"]["mean_cost_lost"] == pytest.approx(3 * 0.75)
    assert made["defender"]["sd_cost_lost"] == pytest.approx(3 * math.sqrt(0.75 * 0.25))
    sampled = simcore.odds("1 tank", "1 infantry", method="simulate", battles=100).to_dict()
    assert made.keys() - {"dropped"} == sampled.keys() - {"intervals"}
    assert made == simcore.odds(scenario=DUEL, method="exact").to_dict()
    assert pickle.loads(pickle.dumps(result)) == copy.deepcopy(result) == result  # noqa: S301 - made here


def test_exact_odds_of_what_cannot_vary() -> None:
    made = simcore.odds("3 infantry", "", method="exact").to_dict()
    assert made["outcomes"]["attacker_wins"] == 1.0
    assert made["cycles"] == {"mean": 0.0, "sd": 0.0}
    assert made["swing"] == {
        "mean": 0.0,
        "sd": 0.0,
        "quantiles": dict.fromkeys(("q05", "q25", "q50", "q75", "q95"), 0),
        "loss": 0.0,
    }
    # Low luck: a sure hit each in the first cycle.
    sure = simcore.odds("6 infantry", "1 infantry", method="exact", low_luck="combat", cycle_limit=1).to_dict()
    assert sure["defender"]["sd_cost_lost"] == 0.0


def test_exact_odds_need_neither_battles_nor_seed() -> None:
    one = simcore.odds("2 tank", "2 infantry", method="exact")
    assert one == simcore.odds("2 tank", "2 infantry", method="exact", battles=7, seed=99, pairing="common")


def test_auto_solves_what_is_small() -> None:
    result = simcore.odds("2 tank", "2 infantry")
    assert (result.method, result.method_reason) == ("exact", "at most 9 states")
    asked = simcore.odds("2 tank", "2 infantry", method="exact")
    assert asked.method_reason is None
    assert {**result.data, "method_reason": None} == asked.data
    # Battles may be given; nothing is drawn for them.
    assert simcore.odds("2 tank", "2 infantry", battles=7, seed=99, pairing="common") == result


def test_auto_simulates_what_may_be_large() -> None:
    drawn = simcore.odds("2000 infantry", "2000 infantry", battles=300)
    assert (drawn.method, drawn.method_reason) == ("simulated", "up to 4,004,001 states, more than 1,000,000")
    assert drawn.data["battles"] == 300
    asked = simcore.odds("2000 infantry", "2000 infantry", method="simulate", battles=300)
    assert {**drawn.data, "method_reason": None} == asked.data
    assert "; not solved: up to 4,004,001 states" in str(drawn)
    assert "; not solved: up to 4,004,001 states" in drawn._repr_html_()
    assert "not solved" not in str(asked)


@pytest.mark.parametrize(
    ("limit", "reason"),
    [
        ("AUTO_STATES", "up to 9 states, more than 8"),
        ("AUTO_EFFORT", r"up to 9 states and \S+ billion steps, more than 8e-09 billion"),
    ],
)
def test_the_budget_of_auto(monkeypatch: pytest.MonkeyPatch, limit: str, reason: str) -> None:
    monkeypatch.setattr(f"simcore.method.{limit}", 8)
    result = simcore.odds("2 tank", "2 infantry", battles=10)
    assert result.method == "simulated"
    assert re.fullmatch(reason, str(result.method_reason))


def test_a_ruleset_without_a_solver_is_simulated() -> None:
    encoded = simcore.encode([DUEL])
    scenario = encoded.scenarios[0]
    none = dataclasses.replace(encoded.ruleset, solve=None)
    assert choose(none, scenario) == (0, "there is no exact solver for such battles")
    unknown = dataclasses.replace(encoded.ruleset, count_states=lambda _: 0)
    assert not choose(unknown, scenario).is_exact
    # Where a ruleset does not say how long it takes, the number of its states does.
    silent = dataclasses.replace(encoded.ruleset, effort=lambda _: 0)
    assert choose(silent, scenario).effort == 4 * STATE_EFFORT
    many = dataclasses.replace(silent, count_states=lambda _: AUTO_EFFORT // STATE_EFFORT + 1)
    assert not choose(many, scenario).is_exact


def test_auto_simulates_what_turns_out_not_to_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(encoded: Any, _: Any) -> Any:
        n = len(encoded.ruleset.accumulators)
        return np.zeros((1, n)), np.zeros(1, dtype=np.int64), np.array([Status.CAPACITY], np.uint8)

    monkeypatch.setattr(api, "_launch_solver", full)
    result = simcore.odds("1 tank", "1 infantry", battles=100)
    assert result.method == "simulated"
    assert result.method_reason == "the battle has more states than the exact solver has room for"
    with pytest.raises(ScenarioError, match="more states than"):
        simcore.odds("1 tank", "1 infantry", method="exact")


@pytest.mark.parametrize("method", ["auto", "simulate", "exact"])
@pytest.mark.parametrize(
    ("field", "value"), [("battles", 0), ("battles", 1.5), ("seed", -1), ("pairing", "dice"), ("threads", 0)]
)
def test_arguments_are_checked_whether_they_are_needed_or_not(method: str, field: str, value: Any) -> None:
    with pytest.raises(ScenarioError) as caught:
        simcore.odds("1 tank", "1 infantry", method=method, **{field: value})
    assert caught.value.field == field


def test_exact_odds_are_shown_without_intervals() -> None:
    result = simcore.odds("1 tank", "1 infantry", method="exact")
    text = str(result)
    assert text.splitlines()[:2] == ["1 tank v 1 infantry", "(general_combat, spring1942, exact: no battle drawn)"]
    assert "50.000000%" in text
    assert "95 %" not in text
    assert "stand off" not in text
    page = result._repr_html_()
    assert "<td>50.000000%</td>" in page
    assert "95 %" not in page
    frame = result.to_frame()
    assert list(frame.columns) == ["share", "low", "high"]
    assert (frame["low"] == frame["share"]).all()
    assert (frame["high"] == frame["share"]).all()
    assert frame.loc["attacker_wins", "share"] == result.outcomes["attacker_wins"]


@pytest.mark.parametrize(
    ("attacker", "defender", "options"),
    [
        ("2 submarine, 1 battleship", "2 destroyer", {"terrain": "sea"}),
        (
            {"units": "2 infantry, 1 tank", "landed": "all", "bombard": "1 battleship"},
            "2 infantry",
            {"terrain": "amphibious"},
        ),
        ("3 infantry, 1 fighter", "2 infantry, 1 aa_gun", {"low_luck": "both"}),
    ],
)
def test_exact_odds_are_what_many_battles_come_to(attacker: Any, defender: Any, options: dict[str, Any]) -> None:
    exact = simcore.odds(attacker, defender, method="exact", **options)
    sampled = simcore.odds(attacker, defender, method="simulate", battles=100_000, **options)
    assert sum(exact.outcomes.values()) == pytest.approx(1, abs=1e-12)
    for name, p in exact.outcomes.items():
        assert sampled.outcomes[name] == pytest.approx(p, abs=4.5 * math.sqrt(p * (1 - p) / 100_000) + 1e-4)
    assert sampled.swing["sd"] == pytest.approx(exact.swing["sd"], rel=0.02)
    assert sampled.cycles["sd"] == pytest.approx(exact.cycles["sd"], rel=0.05)
    one, other = exact.to_dict(), sampled.to_dict()
    assert one.keys() - {"dropped"} == other.keys() - {"intervals"}
    for side in ("attacker", "defender"):
        assert one[side].keys() == other[side].keys()
    assert str(exact)
    assert exact._repr_html_()


def test_result_figures_from_a_hand_made_tally() -> None:
    scenario = load_scenario(DUEL)
    ruleset = simcore.encode([DUEL]).ruleset
    sums = dict.fromkeys(ruleset.accumulators, 0)
    sums |= {"battles": 4, "outcome.attacker_wins": 3, "outcome.both_destroyed": 1, "cycles.sum": 8, "cycles.sumsq": 20}
    sums |= {"survivors.attacker_wins.attacker.tank": 3}
    result = Result.from_tally(ruleset, scenario, list(sums.values()), seed=1, pairing="matchup")
    assert result.outcomes["attacker_wins"] == 0.75
    assert result.cycles == {"mean": 2.0, "sd": pytest.approx(math.sqrt(4 / 3))}
    assert result.to_dict()["attacker"]["mean_survivors"] == {"tank": 0.75}


def test_wilson_interval_is_right_at_the_ends() -> None:
    low, high = wilson_interval(0, 10_000)
    assert low == 0.0
    assert high == pytest.approx(0.000384, abs=1e-6)
    low, high = wilson_interval(2_000, 2_000)
    assert low == pytest.approx(0.99808, abs=1e-5)
    assert high == 1.0
    low, high = wilson_interval(50, 100)
    assert low == pytest.approx(1 - high)


def test_sample_sd() -> None:
    assert sample_sd(3, 6, 14) == 1.0
    assert sample_sd(1, 5, 25) is None
    assert simcore.odds("1 tank", "1 infantry", method="simulate", battles=1).swing["sd"] == 0.0


@pytest.mark.parametrize(("script", "message"), [([], "at least one"), ([-1], "script"), ([1.5], "whole number")])
def test_impossible_scripts(script: list[Any], message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        simcore.replay(DUEL, script=script)


def test_scripts_that_do_not_fit_name_the_draw_point() -> None:
    with pytest.raises(ScenarioError, match=r"draw point 1 \(cycle 1, attacker: 1 tank, 1 die\) cannot give 2 hits"):
        simcore.replay(DUEL, script=[2])
    with pytest.raises(ScenarioError, match=r"ends after 1 draw points, but draw point 2"):
        simcore.replay(DUEL, script=[0])
    with pytest.raises(ScenarioError, match=r"ends after 2 draw points, but the script has 3"):
        simcore.replay(DUEL, script=[1, 0, 0])


def test_a_replay_longer_than_its_first_buffer_is_whole() -> None:
    crawl = {
        "attacker": {"units": "2000 infantry"},
        "defender": {"units": "2000 infantry"},
        "edition_changes": {"dice_sides": 20, "infantry.defence": 1},
        "switches": {"aa_choice": "owner"},
    }
    told = simcore.replay(crawl)
    assert told.cycles > 60
    assert sum(told.lost["attacker"].values()) + sum(told.survivors["attacker"].values()) == 2_000


def test_a_result_does_not_change_with_what_is_made_of_it() -> None:
    result = simcore.odds("1 tank", "1 infantry", method="simulate", battles=10)
    before = json.dumps(result.data)
    made = result.to_dict()
    made["intervals"]["attacker_wins"][0] = 7.0
    made["attacker"]["mean_survivors"]["tank"] = -1.0
    assert json.dumps(result.data) == before
    assert pickle.loads(pickle.dumps(result)) == copy.deepcopy(result) == result  # noqa: S301 - made here


def test_a_simulation_is_shown_in_one_line() -> None:
    run = simcore.simulate(simcore.encode([DUEL, DUEL]), battles=1_000, keep_battles=True)
    assert repr(run) == "Simulation(general_combat, 2 scenarios, 1,000 battles of each, each kept)"


def test_processes_forked_after_a_parallel_run_can_go_on() -> None:
    # No thread is left behind that a forked process would lack.
    code = (
        "import multiprocessing, simcore\n"
        "def wins(n):\n"
        "    odds = simcore.odds('3 infantry', '2 infantry', method='simulate', battles=5_000, threads=n)\n"
        "    return odds.outcomes\n"
        "if __name__ == '__main__':\n"
        "    here = wins(2)\n"
        "    with multiprocessing.get_context('fork').Pool(2) as pool:\n"
        "        there = pool.map_async(wins, [1, 2, None]).get(timeout=60)\n"
        "    print(there == [here] * 3)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120)
    assert done.stdout == "True\n", done.stderr


@pytest.mark.parametrize("editions", [{"my": {1: 2, "base": "spring1942"}}, {"my": {"title": {1, 2}}}])
def test_editions_that_no_file_could_hold(editions: dict[str, Any]) -> None:
    with pytest.raises(ScenarioError, match="nothing but tables, lists, text"):
        load_scenario({**DUEL, "editions": editions})


def test_installations_are_not_listed_among_the_survivors() -> None:
    fort = "2 infantry, 2 aa_gun, 1 industrial_complex"
    captured = simcore.odds("3 infantry", fort, method="simulate", battles=500).to_dict()
    assert list(captured["defender"]["mean_survivors"]) == ["infantry"]
    assert captured["captured"]["mean_guns"] == 2 * captured["captured"]["share"]
    units = simcore.odds("3 infantry", fort, edition="1942_2nd", method="simulate", battles=500).to_dict()
    assert list(units["defender"]["mean_survivors"]) == ["infantry", "aa_gun"]


def test_the_parts_of_an_assault_are_spread_alike_exact_and_drawn() -> None:
    fleet = {"units": "1 transport, 1 cruiser", "cargo": ["2 infantry"]}
    scenario = {
        "terrain": "amphibious",
        "attacker": {"units": "2 infantry"},
        "defender": {"units": "2 infantry"},
        "sea": {"attacker": fleet, "defender": {"units": "1 destroyer"}},
    }
    exact = simcore.odds(scenario=scenario, method="exact").to_dict()
    drawn = simcore.odds(scenario=scenario, method="simulate", battles=100_000).to_dict()
    assert 0.2 < exact["land"]["share"] < 0.9
    for part, figure in (("sea", "cycles"), ("land", "cycles"), ("sea", "attacker"), ("sea", "defender")):
        for name, value in exact[part][figure].items():
            assert value == pytest.approx(drawn[part][figure][name], rel=0.03, abs=1e-12)
            assert value > 0


def test_distribution_is_part_of_a_solved_result() -> None:
    result = simcore.odds("1 infantry", "1 infantry", distribution=True)
    assert result.distribution is not None
    assert result.distribution.swing == pytest.approx({-3: 5 / 8, 0: 1 / 8, 3: 2 / 8})
    data = result.to_dict()
    assert data["distribution"]["ends"][0] == {
        "outcome": "defender_wins",
        "attacker": "",
        "defender": "1 infantry",
        "swing": -3,
        "chance": pytest.approx(5 / 8),
    }
    assert data["swing"]["quantiles"] == {"q05": -3, "q25": -3, "q50": -3, "q75": 0, "q95": 3}
    assert data["swing"]["loss"] == pytest.approx(5 / 8)
    assert "most likely of 3 ends" in str(result)
    assert simcore.odds("1 infantry", "1 infantry").distribution is None
    (listed,) = simcore.solve(simcore.encode([DUEL]), distribution=True).distributions or ()
    assert listed.to_frame()["chance"].sum() == pytest.approx(1)


def test_only_solved_battles_have_a_distribution(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(simcore.ScenarioError, match="distribution: only battles that are solved"):
        simcore.odds("1 infantry", "1 infantry", method="simulate", distribution=True)
    with pytest.raises(simcore.ScenarioError, match='distribution: must be true or false, got "yes"'):
        simcore.odds("1 infantry", "1 infantry", distribution="yes")  # type: ignore[arg-type]
    with pytest.raises(
        simcore.ScenarioError, match='distribution: ruleset "mass_battle" does not list the ways to end'
    ):
        simcore.odds("1 squad", "1 squad", ruleset="mass_battle", distribution=True)
    monkeypatch.setattr("simcore.method.AUTO_STATES", 3)
    with pytest.raises(
        simcore.ScenarioError, match="distribution: the battle is not solved: up to 4 states, more than 3"
    ):
        simcore.odds("1 infantry", "1 infantry", distribution=True)


def test_distribution_stands_in_the_page() -> None:
    page = simcore.odds("1 infantry", "1 infantry", distribution=True)._repr_html_()
    assert "<pre>most likely of 3 ends" in page
