"""The worked cases and printed figures of the rules, played by the sampler's steps, by scripts and by the solver."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import simcore
from simcore.core.jit import is_jit_disabled
from simcore.rulesets.mass_battle import army_states, turn_rows
from simcore.rulesets.mass_battle.encoding import MAX_TYPES, Standing, pool_odds
from simcore.rulesets.mass_battle.lane import N_STANDINGS
from tests.rulesets.mass_battle.field import ATTACKER, DEFENDER, Field, all_faces
from tests.rulesets.mass_battle.reference import cases
from tests.rulesets.mass_battle.support import NEAR, SIDES, battle, house, means

STATES: Any = army_states
ROWS: Any = turn_rows
ALL = [case for name in ("rolls", "chances", "endings", "battles", "sensitivity") for case in cases(name)]
IN_LINE = (Standing.ACTIVE, Standing.DUE, Standing.LATE)
SUPPRESSED = (Standing.DUE, Standing.LATE)
LEFT = {
    "active": (Standing.ACTIVE,),
    "suppressed": SUPPRESSED,
    "routed": (Standing.ROUTED,),
    "destroyed": (Standing.DESTROYED,),
}


def of_kind(*kinds: str) -> pytest.MarkDecorator:
    """Parametrise a test over the worked cases of a kind, each marked with its rules."""
    return pytest.mark.parametrize(
        "case",
        [
            pytest.param(case, id=case["id"], marks=[pytest.mark.rule(rule) for rule in case["rules"]])
            for case in ALL
            if case["kind"] in kinds
        ],
    )


def test_every_worked_case_is_played() -> None:
    kinds = {"faces", "negative", "exchange", "distribution", "chances", "rallies", "comeback", "character", "broken"}
    assert {case["kind"] for case in ALL} == kinds | {"pursuit", "battle", "sampled"}
    numbers = {int(case["id"][4:6]) for case in ALL if case["id"].startswith("MBC-")}
    assert numbers == set(range(1, 34))


@of_kind("faces")
def test_faces(case: dict[str, Any]) -> None:
    field = Field().put(ATTACKER, {"active": 1}).put(DEFENDER, case["army"])
    start = dict(case["army"])
    dropped = field.deal(DEFENDER, case["faces"])
    expect = case["expect"]
    assert field.count(DEFENDER, Standing.DESTROYED) == expect["destroyed"]
    assert field.count(DEFENDER, Standing.ROUTED) - start.get("routed", 0) == expect["routed"]
    if "suppressed" in expect:
        newly = field.count(DEFENDER, Standing.LATE)
        assert newly == expect["suppressed"] + expect["renewed"]
    assert dropped == sorted(expect["ignored"])
    assert (field.ending() != 0) == expect["broken"]
    for name, count in expect.get("left", {}).items():
        assert field.count(DEFENDER, *LEFT[name]) == count, name


def negative_script(faces: list[int]) -> list[int]:
    """Return the hits of the draw points of a negative roll, as far as any dice are asked."""
    main, *others = faces
    parts = [int(main >= 4)]
    if main >= 4:
        parts.append(int(main >= 5))
        if main >= 5:
            parts.append(int(main >= 6))
    parts.append(sum(face >= 4 for face in others))
    if any(face < 4 for face in faces):
        parts.append(faces.count(1))
    return parts


def ordinary_script(faces: list[int]) -> list[int]:
    """Return the hits of the draw points of an ordinary roll, as far as any dice are asked."""
    four, five = sum(face >= 4 for face in faces), sum(face >= 5 for face in faces)
    return [four] + ([five] if four else []) + ([faces.count(6)] if five else [])


@of_kind("negative")
def test_negative_rolls(case: dict[str, Any]) -> None:
    faces = case["faces"]
    own = {"units": "9 squad", "pool_modifier": 2 - len(faces) - 9}
    told = simcore.replay(battle(own, "9 squad", max_turns=1), script=[*negative_script(faces), 0])
    effects = {"suppress": "suppressed", "rout": "routed", "destroy": "destroyed", None: None}
    hit = {name: sum(counts.values()) for name, counts in told.squads["defender"].items() if name != "active"}
    wanted = effects[case["expect"]["effect"]]
    assert hit == ({wanted: 1} if wanted else {})
    assert sum(told.squads["attacker"].get("suppressed", {}).values()) == case["expect"]["own_suppressed"]


@of_kind("exchange")
def test_exchanges(case: dict[str, Any]) -> None:
    script: list[int] = []
    sides: list[dict[str, Any]] = []
    modifiers = case.get("pool_modifier", (0, 0))
    for modifier, army, faces in zip(modifiers, case["armies"], case["faces"], strict=True):
        sides.append({"units": {"squad": army["active"]}, "pool_modifier": modifier})
        script += negative_script(faces) if army["active"] + modifier < 1 else ordinary_script(faces)
    told = simcore.replay(battle(*sides, max_turns=1), script=script)
    for side, left in zip(SIDES, case["expect"]["left"], strict=True):
        found = {name: sum(counts.values()) for name, counts in told.squads[side].items()}
        assert found == left
    assert (told.outcome == "undecided") == (not any(case["expect"]["broken"]))


@of_kind("distribution")
def test_distributions(case: dict[str, Any]) -> None:
    expect, pool, target = case["expect"], case["pool"], case["target"]
    reach = sum(target.values())
    if pool >= 1:
        joint: Counter[str] = Counter()
        broken = 0
        for faces in all_faces(pool):
            field = Field.__new__(Field)
            field.__dict__ |= FIELD.__dict__ | {"squads": np.zeros_like(FIELD.squads)}
            field.put(ATTACKER, {"active": 1}).put(DEFENDER, target)
            field.deal(DEFENDER, faces)
            left = (Standing.DESTROYED, Standing.ROUTED, Standing.LATE)
            joint[" ".join(str(field.count(DEFENDER, standing)) for standing in left)] += 1
            broken += field.ending() != 0
        if "joint" in expect:
            assert {key: str(Fraction(n, 6**pool)) for key, n in joint.items()} == expect["joint"]
        if "broken" in expect:
            assert Fraction(broken, 6**pool) == Fraction(expect["broken"])
    assert_chances(case, pool, reach)


FIELD = Field()


def assert_chances(case: dict[str, Any], pool: int, reach: int) -> None:
    """Check the same figures in what the solver works with."""
    expect = case["expect"]
    most = max(pool, 2 - pool, 2)
    tables = [ROWS.binomials(np.int64(most), n, d) for n, d in ((1, 2), (2, 3), (1, 3))]
    out = np.zeros((reach + 1,) * 3)
    total = np.zeros_like(out)
    kept = 1 if pool >= 1 else most + 1
    own = []
    for ones in range(kept):
        ROWS.chances_of(FIELD.rules, *tables, np.int64(pool), np.int64(reach), np.int64(ones), np.int64(most), out)
        total += out
        own.append(out.sum())
    for key, value in expect.get("joint", {}).items():
        assert abs(total[tuple(map(int, key.split()))] - float(Fraction(value))) < NEAR
    for ones, value in expect.get("own_suppressed", {}).items():
        assert abs(own[int(ones)] - float(Fraction(value))) < NEAR
    if "broken" in expect and "suppressed" not in case["target"]:
        gone = sum(float(total[d, r, s]) for d, r, s in np.ndindex(*total.shape) if d + r == reach)
        assert abs(gone - float(Fraction(expect["broken"]))) < NEAR


@of_kind("chances")
def test_chances(case: dict[str, Any]) -> None:
    assert {pool: str(pool_odds(int(pool), 4)) for pool in case["expect"]} == case["expect"]


def rallied(field: Field, squads: int) -> dict[tuple[int, int], float]:
    """Return the chances of (active, suppressed) squads after the rolls for some routed ones."""
    room = 64
    lanes = np.zeros((2, N_STANDINGS, MAX_TYPES, room), dtype=np.int32)
    lanes[ATTACKER, Standing.ROUTED, 0, 0] = squads
    chances, tried, hits = np.zeros(room), np.zeros(room, dtype=np.int32), np.zeros(room, dtype=np.int32)
    n = STATES.expand_rally(
        field.rules, field.plan, field.odds, lanes, np.int64(ATTACKER), np.int64(1), chances,
        np.zeros(room, dtype=np.int64), tried, hits, np.zeros(room),
    )  # fmt: skip
    found: dict[tuple[int, int], float] = {}
    for i in range(n):
        own = lanes[ATTACKER, :, 0, i]
        key = int(own[Standing.ACTIVE]), int(own[Standing.DUE] + own[Standing.LATE])
        found[key] = found.get(key, 0.0) + chances[i]
    return found


@of_kind("rallies")
def test_rallies(case: dict[str, Any]) -> None:
    found = rallied(Field(), case["routed"])
    assert len(found) == len(case["expect"])
    for number, chance in case["expect"].items():
        assert abs(found[0, int(number)] - float(Fraction(chance))) < NEAR


@of_kind("character")
def test_characters(case: dict[str, Any]) -> None:
    types = {"mine": {"units": {"squad": {"size_class": case["size_class"], "rally": -20}}}}
    for route, expect in case["expect"].items():
        character = {"skill": case["skill"], "route": route, "army_modifier": case["army_modifier"]}
        army = {"units": "3 squad", "characters": [character]}
        found = rallied(Field(battle(army, "1 squad") | {"edition": "mine", "editions": types}), 1)
        key = (0, 1) if "suppressed" in expect else (1, 0)
        assert abs(found[key] - float(Fraction(next(iter(expect.values()))))) < NEAR
        assert abs(sum(found.values()) - 1.0) < NEAR


@of_kind("comeback")
def test_comeback(case: dict[str, Any]) -> None:
    # The second squad is routed in turn 1; the enemy misses from then on, and so does the army itself.
    script = [0, 1, 1, 0, 1, *[0] * 6]
    scenario = battle({"units": {"squad": case["squads"]}}, "1 squad", max_turns=case["turns"])
    told = simcore.replay(scenario, script=script)
    own = [draw for draw in told.draws if draw["side"] == "attacker" and draw["what"] == "showing 4 or more"]
    assert [draw["dice"] for draw in own] == case["expect"]["dice"]


@of_kind("broken")
def test_broken(case: dict[str, Any]) -> None:
    scenario = battle("1 squad", {"units": "2 squad", "support_dice": case["support_dice"]})
    field = Field(scenario).put(ATTACKER, {"active": 1}).put(DEFENDER, case["army"])
    assert (field.ending() != 0) == case["expect"]["broken"]


@of_kind("pursuit")
def test_pursuit(case: dict[str, Any]) -> None:
    field = Field(battle("2 squad, 2 mobile_squad", "9 squad", **case["options"]))
    for kind, name in enumerate(("squad", "mobile_squad")):
        field.put(ATTACKER, {"active": case["winner"].get(name, 0)}, kind)
    field.put(DEFENDER, {"routed": case["routed"], "failed": case["fled"]})
    field.conclude()
    assert field.count(DEFENDER, Standing.CAPTURED) == case["expect"]["taken"]


@of_kind("battle")
def test_whole_battles_exactly(case: dict[str, Any]) -> None:
    found, expect = means(case["scenario"]), case["expect"]
    figures = {**{f"outcome.{name}": value for name, value in expect["outcomes"].items()}, "turns.sum": expect["turns"]}
    for name, value in figures.items():
        # Printed decimals are right to half a unit of their last digit.
        room = NEAR if "/" in value else 0.5 * 10.0 ** -len(value.partition(".")[2]) + NEAR
        assert abs(found[name] - float(Fraction(value))) <= room, name
    assert abs(found["battles"] - 1.0) <= NEAR


@of_kind("battle")
@pytest.mark.statistical
def test_whole_battles_sampled(case: dict[str, Any]) -> None:
    battles = 300 if is_jit_disabled() else 400_000
    encoded = simcore.encode([case["scenario"]])
    run = simcore.simulate(encoded, battles=battles, seed=20261130)
    for name, value in case["expect"]["outcomes"].items():
        p = float(Fraction(value))
        error = math.sqrt(p * (1.0 - p) / battles)
        assert abs(int(run.column(f"outcome.{name}")[0]) / battles - p) <= 4.5 * error, name


@of_kind("sampled")
def test_printed_sensitivity(case: dict[str, Any]) -> None:
    found, expect = means(case["scenario"]), case["expect"]
    for name, value in expect["outcomes"].items():
        p = found[f"outcome.{name}"]
        error = math.sqrt(p * (1.0 - p) / case["battles"])
        assert abs(p - float(value)) <= 4.5 * error + 0.0005 + NEAR, name
    assert abs(found["turns.sum"] - float(expect["turns"])) <= 0.05 + 4.5 * 3.0 / math.sqrt(case["battles"])


def test_house_types_have_cases_of_their_own() -> None:
    told = simcore.replay(house("1 guard", "1 levy", max_turns=1), script=[2, 2, 2, 0])
    assert told.outcome == "attacker_wins"
    assert told.squads["defender"] == {"destroyed": {"levy": 1}}
