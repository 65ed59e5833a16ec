"""From sweep file to matchups and parts."""

from __future__ import annotations

import contextlib
import itertools
import json
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simcore.api import batch_schedule
from simcore.errors import ScenarioError
from simcore.run.plan import PART_BATTLES, Plan, content_name, plan_sweep, segment_schedule
from simcore.scenario import load_scenario, load_sweep
from tests.run.sweeps import drawn, planned, small


def pairs_of(plan: Plan) -> list[tuple[tuple[Any, ...], str, str]]:
    found = []
    for matchup in range(len(plan)):
        point, i, j = plan.locate(matchup)
        found.append((point.values, point.attackers[i].name, point.defenders[j].name))
    return found


def refused(config: dict[str, Any]) -> ScenarioError:
    with pytest.raises(ScenarioError) as caught:
        plan_sweep(load_sweep(config, source="nightly.toml"))
    assert str(caught.value).startswith("nightly.toml: ")
    assert "\n" not in str(caught.value)
    return caught.value


def test_all_pairs_in_order() -> None:
    plan = planned()
    assert len(plan) == 6
    assert [names for _, *names in pairs_of(plan)][:3] == [
        ["3 infantry, 1 tank", "3 infantry"],
        ["3 infantry, 1 tank", "1 infantry, 1 artillery"],
        ["2 tank", "3 infantry"],
    ]


def test_listed_pairs() -> None:
    plan = planned(sweep={"pairs": [[2, 0], [0, 1]]}, grid={"scenario.cycle_limit": [0, 1]})
    assert pairs_of(plan) == [
        ((limit,), attacker, defender)
        for limit in (0, 1)
        for attacker, defender in (
            ("1 infantry, 1 fighter", "3 infantry"),
            ("3 infantry, 1 tank", "1 infantry, 1 artillery"),
        )
    ]


def test_mixes_are_named_by_their_canonical_text() -> None:
    mixes = ["5 arm + 10 inf", {"tank": 1, "inf": 2}, {"name": "air", "units": "ftr", "weight": 0.25}, ""]
    plan = planned(attacker={"mixes": mixes})
    found = plan.points[0].attackers
    assert [mix.name for mix in found] == ["10 infantry, 5 tank", "2 infantry, 1 tank", "air", "nothing"]
    assert [mix.units for mix in found] == ["10 infantry, 5 tank", "2 infantry, 1 tank", "1 fighter", ""]
    assert [mix.weight for mix in found] == [1.0, 1.0, 0.25, 1.0]
    assert [mix.cost for mix in found] == [55, 11, 10, 0]


def test_a_grid_crosses_scenario_and_edition_values() -> None:
    plan = planned(
        scenario={"attacker": {"retreat": {"after_cycles": 4}}},
        grid={"scenario.attacker.keep_land": [0, 1], "edition.tank.cost": [5, 6, 7]},
    )
    assert len(plan) == 36
    assert [point.values for point in plan.points] == [(k, c) for k in (0, 1) for c in (5, 6, 7)]
    table = plan.scenario(35)
    assert table["attacker"] == {
        "retreat": {"after_cycles": 4},
        "keep_land": 1,
        "units": {"infantry": 1, "fighter": 1},
    }
    assert table["edition_changes"] == {"tank.cost": 7}
    assert plan.points[5].attackers[1].cost == 14
    scenario = load_scenario(table)
    assert scenario.canonical()["rules"]["units"]["tank"]["cost"] == 7


def test_a_grid_does_not_change_the_sweep_as_read() -> None:
    config = small(
        grid={
            "scenario.attacker.retreat": [{"after_cycles": 1}, {"after_cycles": 2}],
            "scenario.attacker.retreat.possible": [True, False],
        }
    )
    sweep = load_sweep(config)
    before = sweep.model_dump_json()
    plan = plan_sweep(sweep)
    found = [plan.scenario(point.first)["attacker"]["retreat"] for point in plan.points]
    assert found == [{"after_cycles": n, "possible": possible} for n in (1, 2) for possible in (True, False)]
    assert sweep.model_dump_json() == before


def test_prices_of_the_grid_decide_what_a_budget_affords() -> None:
    plan = planned(
        attacker={"mixes": [], "budget": {"units": ["tank", "infantry"], "cost": 10}},
        grid={"edition.tank.cost": [5, 7]},
    )
    assert [[mix.name for mix in point.attackers] for point in plan.points] == [
        ["2 tank"],
        ["1 infantry, 1 tank"],
    ]
    assert [point.first for point in plan.points] == [0, 2]


def test_editions_of_the_grid_bring_their_units() -> None:
    plan = planned(
        attacker={
            "mixes": ["2 infantry"],
            "budget": {"units": ["mech_infantry", "tank"], "cost": 10, "slack": 4},
        },
        grid={"scenario.edition": ["spring1942", "global40_2nd"]},
    )
    assert [point.edition for point in plan.points] == ["spring1942", "global40_2nd"]
    assert all("mech" not in mix.name for mix in plan.points[0].attackers)
    assert any("mech" in mix.name for mix in plan.points[1].attackers)


def test_a_mix_of_one_edition_fails_in_the_other() -> None:
    plan = planned(attacker={"mixes": ["1 mech_infantry"]}, grid={"scenario.edition": ["spring1942", "global40_2nd"]})
    assert [point.attackers[0].cost for point in plan.points] == [None, 4]


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("tables", "field", "words"),
    [
        ({"attacker": {"mixes": ["1 tank", "2 infantri"]}}, "attacker.mixes[1]", 'did you mean "infantry"'),
        ({"attacker": {"mixes": ["1 aa_gun"]}}, "attacker.mixes[0]", "cannot attack"),
        ({"defender": {"mixes": ["3000 tank"]}}, "defender.mixes[0]", "0 to 2,000"),
        ({"defender": {"mixes": ["-1 tank"]}}, "defender.mixes[0]", "0 to 2,000"),
        (
            {"attacker": {"mixes": ["2 inf", {"infantry": 2}]}},
            "attacker.mixes[1]",
            "taken by attacker.mixes[0]",
        ),
        (
            {"attacker": {"mixes": [{"name": "a", "units": "tank", "wieght": 1}]}},
            "attacker.mixes[0].wieght",
            "weight",
        ),
        ({"attacker": {"mixes": [{"name": "a"}]}}, "attacker.mixes[0].units", "required"),
        ({"attacker": {"mixes": [{"name": "a\nb", "units": "tank"}]}}, "attacker.mixes[0].name", "one line"),
        ({"attacker": {"mixes": [{"weight": -1, "units": "tank"}]}}, "attacker.mixes[0].weight", "must be 0, or"),
        ({"attacker": {"mixes": [{"weight": 1e-10, "units": "tank"}]}}, "attacker.mixes[0].weight", "1e-09 to 1e+09"),
        ({"attacker": {"mixes": [{"weight": 1e10, "units": "tank"}]}}, "attacker.mixes[0].weight", "1e-09 to 1e+09"),
        ({"attacker": {"mixes": [{"weight": True, "units": "tank"}]}}, "attacker.mixes[0].weight", "number"),
        ({"attacker": {"mixes": []}}, "attacker", "needs mixes, a budget or both"),
        (
            {
                "attacker": {
                    "mixes": [{"name": "2 infantry", "units": "tank"}],
                    "budget": {"units": ["inf"], "cost": 6},
                }
            },
            "attacker.mixes[0]",
            "taken by a mix of the budget",
        ),
        (
            {"attacker": {"budget": {"units": ["inf", "tnk"], "cost": 9}}},
            "attacker.budget.units[1]",
            'mean "tank"',
        ),
        (
            {"attacker": {"budget": {"units": ["inf", "infantry"], "cost": 9}}},
            "attacker.budget.units[1]",
            "twice",
        ),
        (
            {"attacker": {"budget": {"units": ["aa_gun"], "cost": 9}}},
            "attacker.budget.units[0]",
            "cannot attack",
        ),
        (
            {"attacker": {"mixes": [], "budget": {"units": ["tank"], "cost": 4}}},
            "attacker.budget",
            "affordable",
        ),
        (
            {
                "attacker": {"mixes": [], "budget": {"units": ["tank"], "cost": 10}},
                "grid": {"edition.tank.cost": [5, 6]},
            },
            "attacker.budget",
            "edition.tank.cost = 6",
        ),
        ({"sweep": {"pairs": [[0, 2]]}}, "sweep.pairs[0]", "positions go from 0 to 1"),
        ({"sweep": {"pairs": [[-1, 0]]}}, "sweep.pairs[0]", "no attacker mix -1"),
        ({"sweep": {"pairs": [[0, 0], [0]]}}, "sweep.pairs[1]", "[attacker, defender]"),
        ({"sweep": {"pairs": [[0, 0], [0, 0]]}}, "sweep.pairs[1]", "same pair as sweep.pairs[0]"),
        ({"sweep": {"pairs": []}}, "sweep.pairs", "at least one"),
        ({"sweep": {"edition": "spring1943"}}, "sweep.edition", 'mean "spring1942"'),
        (
            {"sweep": {"edition": "aa50"}, "scenario": {"edition": "revised"}},
            "scenario.edition",
            "differs from sweep.edition",
        ),
        ({"scenario": {"atacker": {}}}, "scenario.atacker", 'mean "attacker"'),
        ({"scenario": {"attacker": {"keep_lnd": 1}}}, "scenario.attacker.keep_lnd", 'mean "keep_land"'),
        ({"scenario": {"attacker": 5}}, "scenario.attacker", "must be a table"),
        ({"scenario": {"attacker": {"units": "1 tank"}}}, "scenario.attacker.units", "attacker.mixes"),
        ({"scenario": {"edition_file": "x.toml"}}, "scenario.edition_file", "sweep.edition_file"),
        ({"scenario": {"rules": {}}}, "scenario.rules", "unknown field"),
        ({"scenario": {"low_luck": "bananas"}}, "scenario.low_luck", "none"),
        ({"scenario": {"cycle_limit": -1}}, "scenario.cycle_limit", "-1"),
        (
            {"scenario": {"attacker": {"retreat": {"posible": True}}}},
            "scenario.attacker.retreat.posible",
            "possible",
        ),
        ({"scenario": {"cycle_limit": 2**70}}, "scenario.cycle_limit", "64 bits"),
        ({"scenario": {"cycle_limit": nested(90)}}, "scenario.cycle_limit", "nested too deeply"),
        (
            {"scenario": {"edition_changes": 5}, "grid": {"scenario.edition_changes.tank.cost": [5]}},
            "grid.scenario.edition_changes.tank.cost",
            "does not lie in a table",
        ),
        ({"scenario": {"cycle_limit": float("nan")}}, "scenario.cycle_limit", "number"),
        (
            {"grid": {"scenario.attacker.keep_lnd": [0]}},
            "grid.scenario.attacker.keep_lnd",
            'mean "keep_land"',
        ),
        ({"grid": {"scenario.cycle_limit.x": [0]}}, "grid.scenario.cycle_limit.x", "not a table"),
        ({"grid": {"scenario.attacker.units": ["1 tank"]}}, "grid.scenario.attacker.units", "attacker.mixes"),
        ({"grid": {"scenario.attacker": [5]}}, "grid.scenario.attacker[0]", "must be a table"),
        (
            {"grid": {"scenario.attacker": [{"units": "tank"}]}},
            "grid.scenario.attacker[0].units",
            "attacker.mixes",
        ),
        ({"grid": {"scenario.edition_changes": [5]}}, "grid.scenario.edition_changes", "table"),
        ({"grid": {"scenario.edition": ["aa51"]}}, "grid.scenario.edition", 'mean "aa50"'),
        ({"grid": {"senario.cycle_limit": [0]}}, "grid.senario.cycle_limit", 'mean "scenario"'),
        ({"grid": {"edition": ["aa50"]}}, "grid.edition", "must begin with"),
        ({"grid": {"edition.tnk.cost": [5]}}, "grid.edition.tnk.cost", 'mean "tank"'),
        ({"grid": {"edition.tank.price": [5]}}, "grid.edition.tank.price", "unknown field"),
        ({"grid": {"edition.tank.cost": [5, -5]}}, "grid.edition.tank.cost", "-5"),
        ({"grid": {"edition.tank": [5]}}, "grid.edition.tank", "no such value"),
        ({"grid": {"edition.tank.cost": [5], "edition.arm.cost": [6]}}, "grid.edition.arm.cost", "tank.cost; keep one"),
        (
            {"grid": {"edition.units.Tanks.cost": [5, 6], "edition.tank.cost": [6]}},
            "grid.edition.tank.cost",
            "sets the same value as grid.edition.units.Tanks.cost",
        ),
        (
            {"grid": {"edition.switches.aa_choice": ["owner"], "scenario.switches.aa_choice": ["per_type"]}},
            "grid.scenario.switches.aa_choice",
            "sets the same value",
        ),
        (
            {"grid": {"scenario.attacker.retreat.after_cycles": [1], "scenario.attacker.retreat": [{}]}},
            "grid.scenario.attacker.retreat",
            "sets the same value",
        ),
        (
            {"grid": {"scenario.edition_changes": [{"tank.cost": 7}], "edition.tank.cost": [5]}},
            "grid.edition.tank.cost",
            "sets the same value",
        ),
        (
            {
                "scenario": {"switches": {"aa_choice": "owner"}},
                "grid": {"edition.switches.aa_choice": ["owner", "per_type"]},
            },
            "grid.edition.switches.aa_choice",
            "scenario.switches.aa_choice overrides this",
        ),
        ({"scenario": {"attacker": {1: 2}}}, "scenario.attacker", "names of fields must be text, got 1"),
        ({"grid": {"scenario.cycle_limit": []}}, "grid.scenario.cycle_limit", "at least one value"),
        ({"grid": {"scenario.cycle_limit": [1, 2, 1]}}, "grid.scenario.cycle_limit[2]", "twice"),
        ({"grid": {"scenario.cycle_limit": ["a", "b"]}}, "grid.scenario.cycle_limit", "whole number"),
    ],
)
def test_a_faulty_sweep_names_its_field(tables: dict[str, Any], field: str, words: str) -> None:
    problem = refused(small(**tables))
    assert problem.field == field
    assert words in problem.problem


def test_neighbouring_values_may_meet_in_a_grid() -> None:
    plan = planned(
        scenario={"switches": {"aa_fate": "captured"}},
        grid={
            "edition.tank.cost": [5, 6],
            "edition.tank.attack": [3],
            "edition.battleship.cost": [20],
            "edition.dice_sides": [6],
            "edition.switches.aa_choice": ["owner"],
            "scenario.attacker.retreat.after_cycles": [0, 1],
            "scenario.attacker.retreat.when_only_aircraft": [True],
        },
    )
    assert len(plan.points) == 4


def test_a_policy_that_fits_some_grid_points_is_no_fault_of_the_file() -> None:
    assert len(planned(grid={"scenario.attacker.keep_land": [0, 50, "one"]})) == 18


def test_too_many_matchups_are_counted_and_refused_at_once() -> None:
    budget = {
        "units": ["infantry", "artillery", "tank", "fighter", "bomber"],
        "cost": 400,
        "slack": 50,
        "max_units": 90,
    }
    began = time.monotonic()
    problem = refused(small(attacker={"mixes": [], "budget": budget}, defender={"mixes": [], "budget": budget}))
    assert time.monotonic() - began < 5
    plan = planned(attacker={"mixes": [], "budget": {**budget, "max_units": 35}}, sweep={"pairs": [[0, 0]]})
    assert len(plan) == 1
    assert problem.field == "sweep"
    number = int(problem.problem.split()[2].replace(",", ""))
    assert number > 2_000_000
    assert round(number**0.5) ** 2 == number


def test_a_grid_alone_can_be_too_large() -> None:
    values = list(range(1_000))
    keys = ("scenario.cycle_limit", "scenario.territory.value", "scenario.attacker.keep_land")
    problem = refused(small(grid=dict.fromkeys(keys, values)))
    assert problem.field == "grid"
    assert "1,000,000,000" in problem.problem


def test_a_budget_beyond_counting_is_refused() -> None:
    units = ["infantry", "artillery", "tank", "fighter", "bomber"]
    budget = {"units": units, "cost": 1_000_000, "slack": 9, "max_units": 2_000}
    problem = refused(small(attacker={"budget": budget}, grid={"edition.tank.cost": [997]}))
    assert problem.field == "attacker.budget"


_VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-5, 3_000),
        st.floats(),
        st.text(max_size=6),
        st.sampled_from(["tank", "2 inf"]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["units", "cost", "name", "weight", "slack", "tank", "retreat", "x"]), inner),
    ),
    max_leaves=8,
)
_PLACES = st.sampled_from(
    [
        ("sweep", "edition"), ("sweep", "editions"), ("sweep", "pairs"), ("sweep", "battles"), ("sweep", "name"),
        ("scenario", "attacker"), ("scenario", "defender"), ("scenario", "edition"), ("scenario", "switches"),
        ("scenario", "edition_changes"), ("scenario", "territory"), ("scenario", "low_luck"),
        ("attacker", "mixes"), ("attacker", "budget"), ("defender", "mixes"), ("defender", "budget"),
        ("grid", "scenario.attacker.keep_land"), ("grid", "scenario.attacker"), ("grid", "edition.tank.cost"),
        ("grid", "scenario.switches"), ("grid", "scenario.edition_changes.tank.cost"), ("grid", "edition.tank"),
        ("grid", "scenario.attacker.retreat"), ("grid", "scenario.edition"), ("grid", "scenario.ruleset"),
    ]
)  # fmt: skip


@given(changes=st.dictionaries(_PLACES, st.one_of(_VALUES, st.lists(_VALUES, min_size=1, max_size=3)), max_size=3))
def test_any_input_gives_a_plan_or_one_line(changes: dict[tuple[str, str], Any]) -> None:
    config = small()
    for (table, key), value in changes.items():
        config.setdefault(table, {})[key] = value
    plan, text = None, ""
    try:
        plan = plan_sweep(load_sweep(config, source="nightly.toml"))
    except ScenarioError as problem:
        text = str(problem)
    if plan is None:
        assert text.startswith("nightly.toml: ")
        assert "\n" not in text
        return
    for matchup in range(0, len(plan), max(len(plan) // 5, 1)):
        with contextlib.suppress(ScenarioError):
            load_scenario(plan.scenario(matchup))


@given(battles=st.one_of(st.integers(1, 10_000), st.integers(10_000, 2 * 10**7)))
def test_segments_cover_the_batches(battles: int) -> None:
    rows = segment_schedule(battles)
    assert rows[:, 1].tolist() == [0, *np.cumsum(rows[:, 2])[:-1].tolist()]
    assert rows[:, 2].sum() == battles
    assert rows[:, 2].min() >= 1
    assert rows[:, 2].max() <= PART_BATTLES
    for batch, (first, count) in enumerate(batch_schedule(battles).tolist()):
        own = rows[rows[:, 0] == batch]
        assert own[0, 1] == first
        assert own[:, 2].sum() == count


@pytest.mark.parametrize("battles", [1, 700, 4_096, 100_000, 3_000_000, 50_000_000])
def test_parts_are_consecutive_and_bounded(battles: int) -> None:
    plan = planned(sweep={"battles": battles}, grid={"scenario.cycle_limit": list(range(400))})
    assert len(plan) == 2_400
    row = 0
    per_matchup = len(plan.schedule)
    for parts, part in enumerate(plan.parts(drawn)):
        numbers = np.arange(row, row + len(part))
        assert np.array_equal(part[:, 0], numbers // per_matchup)
        assert np.array_equal(part[:, 1:], plan.schedule[numbers % per_matchup])
        assert part[:, 3].sum() <= PART_BATTLES
        assert len(part) <= 4_096
        row += len(part)
        if parts == 30:
            return
    assert row == per_matchup * len(plan)


def test_parts_are_as_large_as_they_may_be() -> None:
    plan = planned(sweep={"battles": 100_000}, grid={"scenario.cycle_limit": list(range(20))})
    parts = list(plan.parts(drawn))
    for part, following in itertools.pairwise(parts):
        assert part[:, 3].sum() + following[0, 3] > PART_BATTLES


def names_of(**tables: Any) -> list[str]:
    plan = planned(**tables)
    found = []
    for part in plan.parts(drawn):
        numbers = sorted(set(part[:, 0].tolist()))
        scenarios = {number: load_scenario(plan.scenario(number)) for number in numbers}
        found.append(content_name(plan, part, scenarios, {}))
    return found


@pytest.mark.parametrize(
    "tables",
    [
        {"sweep": {"seed": 8}},
        {"sweep": {"battles": 3_001}},
        {"sweep": {"pairing": "common"}},
        {"sweep": {"edition": "aa50"}},
        {"scenario": {"low_luck": "aa"}},
        {"scenario": {"attacker": {"keep_land": 1}}},
        {"grid": {"edition.tank.cost": [6]}},
        {"attacker": {"mixes": ["3 infantry, 1 tank", "2 tank", "2 infantry, 1 fighter"]}},
    ],
)
def test_whatever_changes_a_result_changes_the_name(tables: dict[str, Any]) -> None:
    assert names_of(**tables) != names_of()


@pytest.mark.parametrize(
    "tables",
    [
        {"sweep": {"name": "other", "out": "elsewhere", "method": "simulate"}},
        {"report": {"title": "T"}},
        {"scenario": {"terrain": "land", "cycle_limit": 0}},
        {"attacker": {"mixes": [{"name": "x", "units": "1 arm, 3 inf", "weight": 3}, "2 arm", "inf, fig"]}},
    ],
)
def test_what_changes_no_result_keeps_the_name(tables: dict[str, Any]) -> None:
    assert names_of(**tables) == names_of()


def test_names_are_digests() -> None:
    (name,) = names_of()
    assert len(name) == 64
    assert int(name, 16) >= 0
    assert json.dumps(name).isascii()


ASSAULT: dict[str, Any] = {
    "terrain": "amphibious",
    "sea": {
        "attacker": {"units": "1 destroyer, 1 transport", "cargo": ["2 infantry"]},
        "defender": {"units": "1 submarine"},
    },
}


def kinds_of_battles(scenario: dict[str, Any], grid: dict[str, list[Any]] | None = None) -> Plan:
    return plan_sweep(
        load_sweep(
            {
                "sweep": {"name": "kinds", "battles": 100},
                "scenario": scenario,
                "attacker": {"mixes": ["2 infantry", "3 infantry, 1 fighter"]},
                "defender": {"mixes": ["1 infantry"]},
                "grid": grid or {},
            }
        )
    )


def test_a_sweep_takes_the_record_of_its_kind() -> None:
    assert kinds_of_battles({}).ruleset.kind == ""
    assert kinds_of_battles({"terrain": "amphibious"}).ruleset.kind == ""
    plan = kinds_of_battles(ASSAULT)
    assert plan.ruleset.kind == "assault"
    assert "sea.cycles.sum" in plan.ruleset.accumulators


def test_grids_may_reach_into_the_sea_battle() -> None:
    plan = kinds_of_battles(ASSAULT, {"scenario.sea.defender.units": ["1 submarine", "1 destroyer"]})
    assert len(plan) == 4


def test_kinds_do_not_mix_in_a_sweep() -> None:
    with pytest.raises(ScenarioError, match="need a sweep each") as found:
        kinds_of_battles({"raid": {"cap": "none"}}, {"scenario.terrain": ["land", "raid"]})
    assert found.value.field == "grid.scenario.terrain[1]"
    assert kinds_of_battles({}, {"scenario.terrain": ["land", "amphibious"]}).ruleset.kind == ""


def test_raids_want_raiders() -> None:
    with pytest.raises(ScenarioError, match="takes no part in this raid"):
        kinds_of_battles({"terrain": "raid", "raid": {"cap": "none"}})


def at_sea(**tables: Any) -> dict[str, Any]:
    return {
        "sweep": {"name": "sea", "battles": 100},
        "scenario": {"terrain": "sea", **tables},
        "attacker": {"mixes": ["1 battleship, 1 transport", "2 battleship, 2 transport"]},
        "defender": {"mixes": ["1 submarine, 1 cruiser"]},
    }


@pytest.mark.parametrize("policy", ["never", "always", "facing_aircraft", {"outnumbered": 1.5}])
def test_values_that_may_be_text_or_a_table(policy: object) -> None:
    assert len(plan_sweep(load_sweep(at_sea(defender={"submerge": policy})))) == 2
    grid = {"scenario.defender.submerge": ["never", policy, {"outnumbered": 3}][policy == "never" :]}
    assert len(plan_sweep(load_sweep({**at_sea(), "grid": grid}))) == 2 * len(grid["scenario.defender.submerge"])


def test_options_that_only_the_mixes_fit() -> None:
    options = {"damaged": "1 battleship", "cargo": ["1 infantry"]}
    assert len(plan_sweep(load_sweep(at_sea(attacker=options)))) == 2
    assert refused(at_sea(attacker={"damaged": "3 battleship"})).field == "scenario.attacker.damaged"


def test_one_mix_that_fits_is_enough() -> None:
    for mixes in (["1 infantry", "4 infantry"], ["4 infantry", "1 infantry"]):
        config = {
            "sweep": {"name": "landing", "battles": 100},
            "scenario": ASSAULT,
            "attacker": {"mixes": mixes},
            "defender": {"mixes": ["1 infantry"]},
        }
        assert len(plan_sweep(load_sweep(config))) == 2
    budget = {"units": ["infantry", "tank"], "cost": 12, "slack": 3}
    assert len(plan_sweep(load_sweep({**config, "attacker": {"budget": budget}}))) > 2
