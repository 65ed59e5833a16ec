"""Attacks between mixes: exactly, drawn, told, refused."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import simcore
from simcore.core.jit import is_jit_disabled
from simcore.rulesets.force_order.edition import (
    ATTACKERS,
    KIND_OF,
    UNITS,
    builtin_editions,
    order_table,
    parse_editions,
)
from simcore.rulesets.force_order.layout import Kind
from simcore.rulesets.force_order.pairs import pair_table
from simcore.scenario import load_scenario
from tests.rulesets.force_order import reference as ref
from tests.rulesets.force_order.page import BEGIN, END, IMAGES, PAGE, PICTURES, tables

if TYPE_CHECKING:
    from pathlib import Path

BATTLES = 2_000 if is_jit_disabled() else 200_000


def scenario(attacker: Any, defender: Any, **more: Any) -> dict[str, Any]:
    sides = {
        name: side if isinstance(side, dict) and "units" in side else {"units": side}
        for name, side in (("attacker", attacker), ("defender", defender))
    }
    return {"ruleset": "force_order", **sides, **more}


def places(kind: Kind) -> list[str]:
    if kind == Kind.SOLDIER:
        return ["land"]
    return ["sea"] if kind in {Kind.BOAT, Kind.LIFEBOAT} else ["land", "sea"]


def states(units: dict[str, int], *, attacks: bool) -> list[tuple[Fraction, str, dict[str, Any]]]:
    """Return how often each piece of a mix is met, by going through all of them."""
    mines = units.get("mine", 0)
    found = []
    for kind in (Kind.SOLDIER, Kind.SABOTEUR):
        holders = sum(n for unit, n in units.items() if KIND_OF[unit] == kind)
        dealt = min(mines, holders)
        mines -= dealt
        for unit, n in units.items():
            if KIND_OF[unit] == kind:
                share = Fraction(dealt, holders)
                found += [(n * share, unit, {"mine": True}), (n * (1 - share), unit, {})]
    found += [
        (Fraction(mines if unit == "mine" else n), unit, {})
        for unit, n in units.items()
        if KIND_OF[unit] not in {Kind.SOLDIER, Kind.SABOTEUR} and not (attacks and unit not in ATTACKERS)
    ]
    total = sum(weight for weight, _, _ in found)
    return [
        (
            weight / total / len(places(KIND_OF[unit])),
            unit,
            {"kind": KIND_OF[unit].name.lower(), "place": place, **held},
        )
        for weight, unit, held in found
        for place in places(KIND_OF[unit])
        if weight
    ]


def strength(unit: str) -> tuple[int, int]:
    stats = builtin_editions()["standard"].units[unit]
    groups = {Kind.PLANE: 0, Kind.MINE: 1, Kind.SOLDIER: 2, Kind.SABOTEUR: 2, Kind.BOAT: 3, Kind.LIFEBOAT: 3}
    return groups[KIND_OF[unit]], stats.rank


def result_of(attacker: str, defender: str) -> str:
    if defender == "flag":
        return "win"
    if attacker == "saboteur" and defender in {"boat_large", "soldier9"}:
        return "win"
    own, other = strength(attacker), strength(defender)
    return "tie" if own == other else "win" if own > other else "lose"


def expected(attacker: dict[str, int], defender: dict[str, int]) -> dict[str, Fraction]:
    """Return the shares of the outcomes and the mean losses, pair by pair through the reference."""
    cost = {unit: stats.cost for unit, stats in builtin_editions()["standard"].units.items()}
    sums: dict[str, Fraction] = dict.fromkeys([*ref.OUTCOMES, "attacker", "defender"], Fraction(0))
    for p, own, piece in states(attacker, attacks=True):
        for q, other, target in states(defender, attacks=False):
            row = {"attacker": piece, "target": target, "rows": 0, "columns": 1, "result": result_of(own, other)}
            answer = ref.resolve(row)
            sums[answer.outcome] += p * q
            for side, unit, held in (("attacker", own, piece), ("defender", other, target)):
                fate = answer.attacker if side == "attacker" else answer.target
                if fate.life == "dies":
                    sums[side] += p * q * (cost[unit] + (cost["mine"] if held.get("mine") else 0))
    return sums


mixes = st.dictionaries(
    st.sampled_from([unit for unit in UNITS if unit != "flag"]), st.integers(1, 3), min_size=1, max_size=5
)


@settings(max_examples=20)
@given(mixes.filter(lambda mix: set(mix) & set(ATTACKERS)), mixes, st.booleans())
def test_exact_shares(attacker: dict[str, int], defender: dict[str, int], has_flag: bool) -> None:
    defender = defender | ({"flag": 1} if has_flag else {})
    found = simcore.odds(scenario=scenario(attacker, defender), method="exact").to_dict()
    sums = expected(attacker, defender)
    for outcome, share in found["outcomes"].items():
        assert share == pytest.approx(float(sums[outcome]), abs=1e-12)
    for side in ("attacker", "defender"):
        assert found[side]["mean_cost_lost"] == pytest.approx(float(sums[side]), abs=1e-9)


def test_drawn_shares_are_the_exact_ones() -> None:
    defender = "4 soldier4, 1 flag, 1 boat_large, 2 mine, 1 plane_scout"
    given_mixes = scenario("3 soldier5, 1 saboteur, 2 mine", defender)
    exact = simcore.solve(simcore.encode([given_mixes]))
    run = simcore.simulate(simcore.encode([given_mixes]), battles=BATTLES)
    for name in run.ruleset.accumulators:
        if name.endswith("sumsq"):
            continue
        share = float(exact.column(name)[0])
        drawn = int(run.column(name)[0]) / BATTLES
        spread = 40 if name.startswith("survivors") or "sum" in name else 1
        assert abs(drawn - share) <= 4.5 * spread * (0.25 / BATTLES) ** 0.5, name
    assert exact.column("battles")[0] == pytest.approx(1.0, abs=1e-12)


def test_probabilities_of_duels_are_drawn() -> None:
    duels = [{"attacker": "soldier4", "defender": "soldier4", "win": 0.125, "lose": 0.5}]
    changes = {"options.order_of_forces": "pairs", "duels": duels}
    run = simcore.simulate(
        simcore.encode([scenario("1 soldier4", "1 soldier4", edition_changes=changes)]), battles=BATTLES
    )
    for outcome, share in (("attacker_wins", 0.125), ("defender_wins", 0.5), ("both_die", 0.375)):
        drawn = int(run.column(f"outcome.{outcome}")[0]) / BATTLES
        assert abs(drawn - share) < 4.5 * (share * (1 - share) / BATTLES) ** 0.5


def test_pieces_held_count_as_lost() -> None:
    held = {"units": "1 boat_medium", "cargo": "2 soldier3", "tip_soldier": True, "flag": True}
    found = simcore.odds(scenario=scenario("1 boat_large", held)).to_dict()
    assert found["defender"]["cost"] == 5 + 6
    assert found["defender"]["mean_cost_lost"] == 11.0
    assert found["mean_defender_pieces_lost"] == 3.0
    assert found["mean_defender_flags_dropped"] == 1.0
    flag = {"units": "1 flag", "place": "sea"}
    taken = simcore.odds(scenario=scenario(held | {"units": "1 boat_large"}, flag)).to_dict()
    assert taken["outcomes"]["flag_taken"] == taken["mean_flags_taken"] == 1.0


def test_pairs_of_units() -> None:
    model = load_scenario(scenario("1 soldier5, 1 saboteur", "1 soldier9, 3 boat_large, 1 flag"))
    pairs = {(pair.attacker, pair.defender): pair for pair in pair_table(model)}  # type: ignore[arg-type]
    assert len(pairs) == 6
    assert sum(pair.share for pair in pairs.values()) == pytest.approx(1.0)
    assert pairs["soldier5", "boat_large"].share == pytest.approx(0.3)
    assert pairs["soldier5", "boat_large"].outcomes == {"illegal": 1.0}
    assert pairs["saboteur", "boat_large"].outcomes == pytest.approx({"attacker_wins": 1.0})
    assert pairs["soldier5", "flag"].outcomes == pytest.approx({"flag_taken": 0.5, "illegal": 0.5})
    whole = simcore.odds(scenario=scenario("1 soldier5, 1 saboteur", "1 soldier9, 3 boat_large, 1 flag")).outcomes
    for outcome, share in whole.items():
        parts = sum(pair.share * pair.outcomes.get(outcome, 0.0) for pair in pairs.values())
        assert parts == pytest.approx(share)


def test_states_of_single_units() -> None:
    side = {"units": "1 boat_large, 1 soldier9", "pieces": {"boat_large": {"lifeboat": True, "cargo": "1 soldier1"}}}
    encoded = simcore.encode([scenario("1 soldier1", side)])
    texts = [state.unit for state in encoded.scenarios[0].states(1)]  # type: ignore[attr-defined]
    assert texts == ["soldier9", "boat_large"]
    assert encoded.scenarios[0].cost(1) == 8 + 2 + 1 + 9


def test_the_distribution_lists_every_end() -> None:
    result = simcore.odds("2 soldier4, 1 mine", "1 soldier4, 1 soldier5", ruleset="force_order", distribution=True)
    assert result.distribution is not None
    assert result.distribution.chance.sum() == pytest.approx(1.0)
    assert len(result.distribution) == 4
    assert result.distribution.swing == pytest.approx({-5: 0.25, -4: 0.25, -1: 0.25, 0: 0.25})


def test_a_replay_tells_the_attack() -> None:
    boat = {"units": "1 boat_large", "cargo": "2 soldier3", "lifeboat": True, "flag": True}
    told = simcore.replay(scenario({"units": "1 saboteur", "mine": True, "place": "land"}, boat))
    assert told.to_text().splitlines() == [
        "1 saboteur v 1 boat_large, attack 0",
        "saboteur on land with a mine attacks boat_large at sea with a flag, a lifeboat, cargo, 1 column to the right",
        "The saboteur wins the duel, by the order of forces",
        (
            "The target, boat_large, dies; its cargo dies with it, its lifeboat is left where it died, "
            "its flag stays there on the lifeboat"
        ),
        "The attacker, saboteur, stays where it is",
        "Outcome: attacker wins (FO-18, FO-26, FO-30)",
        "Where the rules are silent: FA-12",
    ]
    refused = simcore.replay(scenario("1 soldier1", "1 boat_large"))
    assert refused.lines[-1] == "The attack is not allowed: it attacks on land only (FO-1)"
    far = simcore.replay(
        scenario(
            {"units": "1 plane_scout", "place": "land"},
            {"units": "1 boat_small", "lifeboat": True},
            row_difference=-4,
            column_difference=0,
            result="win",
        )
    )
    assert "The attacker, plane_scout, moves 3 rows up, beside the square of the target" in far.lines


def test_scripts() -> None:
    mixes_of_two = scenario("1 soldier4, 1 soldier5", "1 soldier4, 1 soldier6")
    assert simcore.replay(mixes_of_two, script=[0, 0]).outcome == "both_die"
    assert simcore.replay(mixes_of_two, script=[1, 0]).outcome == "attacker_wins"
    told = simcore.replay(mixes_of_two, battle=3)
    again = simcore.replay(mixes_of_two, script=[draw["hits"] for draw in told.draws])
    assert again.lines[1:] == told.lines[1:]
    for script, text in (
        ([2, 0], "cannot give 2; allowed: 0 to 1"),
        ([0], "needs its entry"),
        ([0, 0, 1], "after 2 draw"),
    ):
        with pytest.raises(simcore.ScenarioError, match=text):
            simcore.replay(mixes_of_two, script=script)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (scenario("1 soldier1", {"units": "1 plane_scout", "flag": True}), r"defender\.flag: a plane .*FA-15"),
        (scenario({"units": "1 soldier1", "place": "sea"}, "1 soldier1"), r"attacker\.place: a soldier stands on land"),
        (
            scenario("1 soldier1", {"units": "1 boat_small", "pieces": {"boat_small": {"mine": True}}}),
            r"defender\.pieces\.boat_small\.mine: .*FO-6",
        ),
        (scenario({"units": "1 soldier1", "cargo": "1 soldier2"}, "1 soldier1"), r"attacker\.cargo: only boats"),
        (scenario("1 soldier1", {"units": "1 boat_small", "cargo": "1 mine"}), r"defender\.cargo: a mine is no cargo"),
        (scenario({"units": "1 boat_small", "tip_soldier": True}, "1 soldier1"), r"attacker\.tip_soldier: .*FO-10"),
        (scenario("1 mine, 1 flag", "1 soldier1"), r"attacker\.units: has no piece that attacks"),
        (scenario("1 soldier1", ""), r"defender\.units: has no piece that can be attacked"),
        (scenario("1 soldier1", "2 flag"), r"defender\.units: a side has one flag, got 2"),
        (scenario("1 soldier1", {"units": "2 soldier1", "flag": True}), r"defender\.flag: one piece holds"),
        (scenario("1 soldier1", "1 soldier1", column_difference=0), r"row_difference: the target cannot stand"),
        (scenario("1 soldier1", "1 soldier1", line_blocked=True), r"line_blocked: nothing stands between"),
        (scenario("1 soldier1", "1 soldier1", options={"tie": "none"}), r"options\.tie"),
        (scenario("1 soldier1", "1 soldier1", edition="standart"), r'did you mean "standard"'),
        (scenario("1 soldier11", "1 soldier1"), r"attacker\.units: unknown unit"),
        (scenario("1 soldier1", "1 soldier1", mode="siege"), r"mode"),
    ],
)  # fmt: skip
def test_bad_scenarios(data: dict[str, Any], text: str) -> None:
    with pytest.raises(simcore.ScenarioError, match=text):
        simcore.encode([data])


@pytest.mark.parametrize(
    ("table", "text"),
    [
        ({"precedence": [["plane"]]}, "must name each of"),
        ({"duels": [{"attacker": "flag", "defender": "soldier1", "result": "win"}]}, "a flag never attacks"),
        ({"duels": [{"attacker": "soldier1", "defender": "flag", "result": "win"}]}, "without a duel"),
        ({"duels": [{"attacker": "soldier1", "defender": "soldier2", "win": 0.7, "lose": 0.6}]}, "at most 1"),
        ({"duels": [{"attacker": "soldier1", "defender": "soldier2", "win": 0.7}]}, "order_of_forces"),
        ({"duels": [{"attacker": "soldier1", "defender": "soldier2"}]}, "give either"),
        ({"duels": [{"attacker": "soldier1", "defender": "soldier2", "result": "win"}] * 2}, "listed twice"),
        ({"units": {"tank": {"rank": 1}}}, "unknown unit"),
        ({"units": {"soldier1": {"rank": -1}}}, "rank"),
    ],
)
def test_bad_editions(table: dict[str, Any], text: str) -> None:
    with pytest.raises(simcore.ScenarioError, match=text):
        parse_editions({"mine": {"base": "standard", **table}})


def test_the_order_of_forces_is_printed_whole() -> None:
    edition = builtin_editions()["standard"]
    lines = [line.split() for line in order_table(edition).splitlines()]
    assert lines[0] == [unit for unit in UNITS if unit != "flag"]
    assert [line[0] for line in lines[1:]] == list(ATTACKERS)
    letters = {"win": "W", "lose": "L", "tie": "T"}
    for line in lines[1:]:
        for defender, letter in zip(lines[0], line[1:], strict=True):
            assert letter == letters[result_of(line[0], defender)], (line[0], defender)


def test_a_sweep_has_the_columns_of_attacks(tmp_path: Path) -> None:
    config = {
        "sweep": {"name": "forces", "ruleset": "force_order", "battles": 500},
        "attacker": {"mixes": ["3 soldier5, 1 saboteur"], "budget": {"units": ["soldier2", "boat_small"], "cost": 6}},
        "defender": {"mixes": ["2 soldier4, 1 flag", "1 boat_large"]},
        "grid": {"scenario.options.tie": ["both_die", "both_stay"], "edition.soldier5.rank": [4, 5]},
    }
    simcore.sweep(config, tmp_path)
    import analysis  # noqa: PLC0415 - the table is what counts here

    table = analysis.load(tmp_path).matchups
    assert set(table["status"]) == {"ok"}
    assert {"flags_taken_mean", "attacker_pieces_lost_mean", "defender_flags_dropped_mean"} <= set(table.columns)
    ties = table[
        (table["edition.soldier5.rank"] if "edition.soldier5.rank" in table else table["grid.edition.soldier5.rank"])
        == 4
    ]
    assert np.any(ties["p_both_die"] > 0)
    assert np.any(ties["p_both_stay"] > 0)


def test_tables_and_pictures_of_the_page_are_those_of_the_rules() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert text.split(BEGIN)[1].split(END)[0].strip() == tables()
    for name, draw in PICTURES.items():
        assert (IMAGES / name).read_text(encoding="utf-8") == draw()
        assert f"images/{name}" in text
