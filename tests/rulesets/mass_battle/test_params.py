"""What scenarios of mass battle accept and refuse, and what they say about themselves."""

from __future__ import annotations

import json
from typing import Any

import pytest

import simcore
from simcore.enums import Side
from simcore.errors import ScenarioError
from simcore.rulesets.mass_battle.params import squad_types
from simcore.scenario import load_scenario
from tests.rulesets.mass_battle.support import HOUSE, battle, house


def with_side(**fields: Any) -> dict[str, Any]:
    """Return a scenario whose attacker has these fields."""
    return battle({"units": "3 squad", **fields}, "2 squad")


def with_edition(table: Any) -> dict[str, Any]:
    """Return a scenario in an edition of its own."""
    return battle("1 a", "1 a") | {"edition": "mine", "editions": {"mine": table}}


def with_field(**fields: Any) -> dict[str, Any]:
    """Return a scenario with these fields."""
    return battle("3 squad", "2 squad") | fields


REFUSED = [
    (battle("3 squid", "1 squad"), r'attacker\.units: unknown unit "squid" \(did you mean "squad"\?\).*mobile_squad'),
    (battle("1 squad", "2 knights"), r'defender\.units: unknown unit "knights"; edition "standard" has: squad'),
    (battle("-1 squad", "1 squad"), r"attacker\.units: .*0 to 2,000, got -1"),
    (battle("2001 squad", "1 squad"), r"attacker\.units: .*2001"),
    (battle({"units": {"squad": 1.5}}, "1 squad"), r"attacker\.units: .*1\.5"),
    (battle({"units": 3}, "1 squad"), r"attacker\.units: .*got 3"),
    (with_field(attacker=3), r"attacker: must be a table, got 3"),
    (battle("", ""), r"attacker\.units: both armies are empty"),
    (with_side(support_dice=-1), r"attacker\.support_dice: .*-1"),
    (with_side(supportdice=1), r'attacker\.supportdice: unknown field \(did you mean "support_dice"\?\)'),
    (with_side(can_flee="no"), r'attacker\.can_flee: must be true or false, got "no"'),
    (with_side(pool=3), r"attacker\.pool: .*pool_model"),
    (with_side(pool_modifier="x"), r'attacker\.pool_modifier: must be a whole number from -6,000 to 6,000.*"x"'),
    (with_side(pool_modifier=[]), r"attacker\.pool_modifier: .*1 to 1,000 turns, got 0"),
    (with_side(pool_modifier=[1, True]), r"attacker\.pool_modifier: .*got true"),
    (with_side(pool_modifier=7_000), r"attacker\.pool_modifier: .*7000"),
    (with_side(pool_modifier=6_000), r"attacker\.units: .*6,003 dice.*at most 6,000"),
    (with_side(pool_modifier=-6_000), r"attacker\.units: .*6,001 dice.*at most 6,000"),
    (with_side(characters="x"), r"attacker\.characters: must be a list"),
    (with_side(characters=[{}]), r"attacker\.characters\[0\]\.skill: .*required"),
    (with_side(characters=[{"skill": 99}]), r"attacker\.characters\[0\]\.skill: .*20, got 99"),
    (with_side(characters=[{"skill": 1, "route": "x"}]), r'attacker\.characters\[0\]\.route: .*"squad" or "army"'),
    (with_side(characters=[{"skill": 1}] * 9), r"attacker\.characters: "),
    (battle("1 squad", "1 squad", initiative="atacker_first"), r'options\.initiative: .*mean "attacker_first"'),
    (battle("1 squad", "1 squad", initiativ="x"), r'options\.initiativ: .*mean "initiative"'),
    (battle("1 squad", "1 squad", max_turns=-1), r"options\.max_turns: .*got -1"),
    (battle("1 squad", "1 squad", pool_model="fixed"), r"attacker\.pool: is needed"),
    (battle("1 squad", "1 squad", face_effects={"4": "rout"}), r"options\.face_effects: .*each once"),
    (battle("1 squad", "1 squad", face_effects="x"), r"options\.face_effects: must be a table"),
    (battle("1 squad", "1 squad", rally_attempts=2), r'options\.rally_attempts: must be 1 or "unlimited", got 2'),
    (battle("1 squad", "1 squad", rally_miss=2), r"options\.rally_miss: must be 0 or 1, got 2"),
    (battle("1 squad", "1 squad", success_face=1), r"options\.success_face: .*got 1"),
    (battle("1 squad", "1 squad", routed_targets=True), r"options\.routed_targets: needs rally_attempts"),
    (with_field(options=3), r"options: must be a table, got 3"),
    (with_field(terrain="sea"), r"terrain: unknown field; allowed: .*options"),
    (with_field(rules={}), r"rules: unknown field"),
    (with_field(edition="standart"), r'edition: unknown edition "standart" \(did you mean "standard"\?\)'),
    (with_field(edition=3), r"edition: must be the name"),
    (with_field(editions=3), r"editions: must be a table"),
    (with_field(edition_changes={"squad.dice": -1}), r"edition_changes\.squad\.dice: .*-1"),
    (with_field(edition_changes={"squd.dice": 1}), r'edition_changes\.squd\.dice: .*mean "squad"'),
    (with_field(edition_changes={"squad": 1}), r"edition_changes\.squad: .*<squad type>\.<field>"),
    (with_field(edition_changes={"options.initiative": "z"}), r"edition_changes\.options\.initiative: "),
    (with_edition({"units": {}}), r"editions\.mine\.units: .*1 to 8 squad types, got 0"),
    (with_edition({"units": {f"a{i}": {} for i in range(9)}}), r"editions\.mine\.units: .*got 9"),
    (with_edition({"units": {"Bad Name": {}}}), r'editions\.mine\.units: "Bad Name" cannot name'),
    (with_edition({"units": {"a": {"dise": 1}}}), r"editions\.mine\.units\.a\.dise: unknown field"),
    (with_edition({"units": {"a": 3}}), r"editions\.mine\.units\.a: "),
    (with_edition(3), r"editions\.mine: must be the table"),
    (with_edition({"base": "standart", "units": {"a": {}}}), r'editions\.mine\.base: .*mean "standard"'),
    (with_edition({"base": "mine", "units": {"a": {}}}), r"editions\.mine\.base: .*each other's base"),
    (with_edition({"options": {"initiative": "q"}, "units": {"a": {}}}), r"editions\.mine\.options\.initiative: "),
]


@pytest.mark.parametrize(("scenario", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_bad_input_is_refused_with_field_and_value(scenario: dict[str, Any], message: str) -> None:
    with pytest.raises(ScenarioError, match=f"^{message}"):
        load_scenario(scenario)


def test_the_defaults_are_those_of_the_rules() -> None:
    scenario: Any = load_scenario(battle("3 squad", "2 mobile_squad"))
    assert scenario.edition == "standard"
    assert scenario.cost(Side.ATTACKER) == 3
    assert scenario.cost(Side.DEFENDER) == 4
    chosen = scenario.chosen.model_dump()
    assert chosen == {
        "face_effects": {"4": "suppress", "5": "rout", "6": "destroy"}, "pool_model": "sum_active",
        "negative_dice": "two_minus_pool", "negative_needs": "all", "ones_backfire": "negative_only",
        "routed_targets": False, "renew_suppression": True, "target_order": "listed", "initiative": "simultaneous",
        "rally_pool": None, "success_face": 4, "rally_miss": 1, "rally_attempts": 1, "mutual_break": "draw",
        "pursuit_scope": "in_flight", "pursuit_limit": "none", "pursuit_fate": "captured", "max_turns": 100,
    }  # fmt: skip


def test_units_are_read_in_the_order_of_the_edition() -> None:
    one = load_scenario(battle("2 mobile_squad, 3 squads", {"units": {"squad": 1}}))
    assert one.unit_text(Side.ATTACKER) == "3 squad, 2 mobile_squad"
    assert one.counted_as("mobile_squad") == "type_2"
    assert squad_types(house("1 levy", "1 levy")) == ("levy", "guard", "riders")


def test_editions_bring_types_and_options() -> None:
    table = {
        "base": "standard",
        "units": {"mobile_squad": False, "elephants": {"dice": 4, "cost": 9}},
        "options": {"initiative": "attacker_first"},
    }
    scenario: Any = load_scenario(
        battle("1 elephants", "3 squad", max_turns=7) | {"edition": "mine", "editions": {"mine": table}}
    )
    assert list(scenario.rules.units) == ["squad", "elephants"]
    assert scenario.chosen.initiative == "attacker_first"
    assert scenario.chosen.max_turns == 7
    changed: Any = load_scenario(battle("1 squad", "1 squad") | {"edition_changes": {"squad.dice": 3}})
    assert changed.rules.units["squad"].dice == 3


def test_what_makes_no_difference_is_no_part_of_the_identity() -> None:
    plain = load_scenario(battle("3 squad", "2 squad")).canonical()
    named = battle({"units": {"squad": 3, "mobile_squad": 0}}, "2 squad", max_turns=100)
    assert load_scenario(named).canonical() == plain
    assert json.loads(json.dumps(plain)) == plain
    other = load_scenario(battle("3 squad", "2 squad", max_turns=99)).canonical()
    assert other != plain
    # The order of the squad types decides who is hit first.
    turned = {"house": {"units": dict(reversed(HOUSE["house"]["units"].items()))}}
    one, two = house("1 levy", "1 levy"), house("1 levy", "1 levy") | {"editions": turned}
    assert load_scenario(one).canonical() != load_scenario(two).canonical()


def test_the_verbs_list_the_ruleset() -> None:
    found = simcore.rulesets()["mass_battle"]
    assert found["units"] == ["squad", "mobile_squad"]
    assert found["editions"] == {"standard": "Standard squads"}
