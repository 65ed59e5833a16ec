"""Shared scenarios: every option of every ruleset comes back, and nothing that is damaged is believed."""

from __future__ import annotations

import base64
import copy
import hashlib
import json
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

import pytest

from simcore.errors import ScenarioError
from simcore.registry import get_ruleset
from simcore.scenario import load_scenario, read_toml, standalone
from simcore.sharing import PREFIX, is_shared, share, unshare

if TYPE_CHECKING:
    from collections.abc import Iterator

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
BATTLES = [
    path for path in sorted(EXAMPLES.glob("*.toml")) if {"sweep", "attacker"} & read_toml(path).keys() == {"attacker"}
]
RULESETS = ("general_combat", "mass_battle", "force_order")
HOUSE = {"heavy": {"base": "spring1942", "title": "Тяжёлые танки", "units": {"tank": {"attack": 4, "cost": 7}}}}
RETREAT = {
    "possible": True, "after_cycles": 3, "when_units_at_most": 2, "when_only_aircraft": True,
    "when_transports_only": False, "when_win_chance_below": 0.25, "when_swing_negative": True,
}  # fmt: skip
FLEET = {
    "units": "2 submarine, 1 destroyer, 1 battleship, 2 transport", "damaged": "1 battleship",
    "cargo": ["2 infantry", "1 tank, 1 infantry"], "loss_order": ["destroyer", "submarine"],
    "submerge": {"outnumbered": 1.5},
}  # fmt: skip
SQUADS = {
    "support_dice": 2, "pool_modifier": [-4, -2, 0], "can_flee": False, "pool": [3, 4],
    "characters": [{"skill": 3, "route": "army", "army_modifier": 2}],
}  # fmt: skip
DUEL: dict[str, dict[str, Any]] = {
    "general_combat": {"attacker": {"units": "4 infantry, 1 tank"}, "defender": {"units": {"infantry": 3}}},
    "mass_battle": {"attacker": {"units": "3 squad"}, "defender": {"units": "2 squad, 1 mobile_squad"}},
    "force_order": {"attacker": {"units": "1 soldier5"}, "defender": {"units": "1 soldier3"}},
}
SCENARIOS: dict[str, list[dict[str, Any]]] = {
    "general_combat": [
        {"edition": "heavy", "editions": HOUSE, "low_luck": "both", "cycle_limit": 5},
        {"edition_changes": {"tank.cost": 6}, "switches": {"submarine_strikes": "attacker_first"}},
        {"edition": "revised", "attacker": {"technologies": ["heavy_bombers"], "retreat": RETREAT, "keep_land": 1}},
        {"attacker": {"optimal": {"goal": "swing", "decisions": ["casualties"]}}},
        {"defender": {"optimal": {"goal": "win", "decisions": ["casualties"]}}},
        {"edition": "revised", "defender": {"technologies": ["jet_fighters"]}},
        {"terrain": "sea", "attacker": {**FLEET, "retreat": RETREAT}, "defender": FLEET},
        {
            "terrain": "amphibious",
            "attacker": {"landed": "2 infantry", "bombard": "1 battleship, 1 cruiser", "loss_order": "cheapest"},
            "defender": {"loss_order": "weakest"},
            "territory": {
                "value": 3, "owner": "日本", "original_owner": "friend", "original_capital_held_by": "friend",
                "capital": True, "treasury": 24,
            },
        },
        {
            "terrain": "amphibious",
            "sea": {"attacker": {**FLEET, "retreat": {"when_units_at_most": 2}}, "defender": FLEET},
            "attacker": {"units": "3 infantry, 1 tank"},
        },
        {
            "terrain": "raid", "edition": "global40_2nd",
            "attacker": {"units": "4 bomber, 2 fighter"}, "defender": {"units": "2 fighter, 1 industrial_complex"},
            "raid": {"target": "major_complex", "damaged": 4, "air_battle": True, "cap": 12},
        },
    ],
    "mass_battle": [
        {"attacker": SQUADS, "defender": SQUADS, "options": {"pool_model": "fixed", "rally_pool": 3}},
        {"options": {"face_effects": {"4": "rout", "5": "suppress", "6": "destroy"}, "max_turns": 40}},
        {"editions": {"house": {"base": "standard", "units": {"squad": {"cost": 3}}}}, "edition": "house"},
        {"edition_changes": {"squad.cost": 2}},
    ],
    "force_order": [
        {"options": {"tie": "both_stay"}, "result": "win", "edition_changes": {"soldier3.cost": 4}},
        {"editions": {"house": {"base": "standard", "title": "House"}}, "edition": "house"},
    ],
}  # fmt: skip


def merged(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    found = copy.deepcopy(base)
    for key, value in over.items():
        old = found.get(key)
        found[key] = merged(old, value) if isinstance(value, dict) and isinstance(old, dict) else value
    return found


def whole(ruleset: str) -> list[dict[str, Any]]:
    duel = {"ruleset": ruleset, **DUEL[ruleset]}
    return [duel, *(merged(duel, scenario) for scenario in SCENARIOS[ruleset])]


def models(kind: Any) -> Iterator[Any]:
    if hasattr(kind, "model_fields"):
        yield kind
    for part in get_args(kind):
        yield from models(part)


def fields(model: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, field in model.model_fields.items():
        if (field.json_schema_extra or {}).get("internal"):
            continue
        yield (*path, name), field
        for inner in models(field.annotation):
            yield from fields(inner, (*path, name))


def values(kind: Any) -> Iterator[Any]:
    """Yield some values that a field of this type may take."""
    if get_origin(kind) is Literal:
        yield from get_args(kind)
    elif kind is bool:
        yield from (True, False)
    elif kind is int:
        yield from (1, 2, 3)
    elif kind is float:
        yield from (0.0, 0.25, 1.5)
    else:
        for part in get_args(kind):
            yield from values(part)


def present(table: Any, path: tuple[str, ...]) -> bool:
    if isinstance(table, list):
        return any(present(entry, path) for entry in table)
    if not path:
        return True
    return isinstance(table, dict) and path[0] in table and present(table[path[0]], path[1:])


def placed(path: tuple[str, ...], value: Any) -> dict[str, Any]:
    for name in reversed(path):
        value = {name: value}
    return dict(value)


def check(table: dict[str, Any]) -> None:
    text = share(table)
    back = unshare(text)
    assert json.dumps(back) == json.dumps(standalone(table)), "in the same order"
    assert load_scenario(back).canonical() == load_scenario(table).canonical()
    assert share(back) == text
    assert set(text) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.")


@pytest.mark.parametrize("ruleset", RULESETS)
def test_scenarios_come_back(ruleset: str) -> None:
    for table in whole(ruleset):
        check(table)


@pytest.mark.parametrize("ruleset", RULESETS)
def test_every_option_comes_back(ruleset: str) -> None:
    missing = []
    for path, field in fields(get_ruleset(ruleset).scenario_model):
        tried = any(present(table, path) for table in whole(ruleset)) or path == ("edition_file",)
        for value in values(field.annotation):
            for base in whole(ruleset):
                table = merged(base, placed(path, value))
                try:
                    load_scenario(table)
                except ScenarioError:
                    continue
                check(table)
                tried = True
                break
        if not tried:
            missing.append(".".join(path))
    known = {"attacker.cargo", "defender.cargo", "attacker.pieces", "defender.pieces"}
    assert not set(missing) - (known if ruleset == "force_order" else set())


@pytest.mark.parametrize("path", BATTLES, ids=lambda path: path.name)
def test_examples_come_back(path: Path) -> None:
    text = share(path)
    assert load_scenario(unshare(text)).canonical() == load_scenario(path).canonical()
    assert "edition_file" not in unshare(text)


def test_strings_are_short() -> None:
    assert len(share({"attacker": {"units": "10 infantry, 5 tank"}, "defender": {"units": "10 infantry"}})) < 60


def test_what_looks_like_one() -> None:
    assert is_shared(share(DUEL["general_combat"]))
    assert is_shared(" sc2.abc\n")
    for text in ("battle.toml", "sc1.toml", "scenario", "10 infantry"):
        assert not is_shared(text)


def test_line_breaks_of_a_message_do_not_matter() -> None:
    text = share(DUEL["general_combat"])
    assert unshare(f"  {text[:10]}\n{text[10:]}\n") == DUEL["general_combat"]


def packed(content: bytes, *, check: bytes | None = None) -> str:
    digest = hashlib.sha256(content).digest()[:4] if check is None else check
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    body = digest + packer.compress(content) + packer.flush()
    return PREFIX + base64.urlsafe_b64encode(body).rstrip(b"=").decode()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", 'must begin with "sc1."'),
        ("sc2.abc", "this version reads sc1..."),
        ("sc1.", "damaged or cut"),
        ("sc1.a", "damaged or cut"),
        ("sc1.ab$d", "letters that do not belong"),
        ("sc1." + "a" * 1_000_001, "is too long"),
        (packed(b"{}", check=b"xxxx"), "damaged or cut"),
        (packed(b"[1]"), "no table inside"),
        (packed(b"{"), "no JSON inside"),
        (packed(b'{"a":NaN}'), "no JSON inside"),
        (packed(b'{"a":' + b"9" * 5000 + b"}"), "no JSON inside"),
        (packed(b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}"), "no JSON inside"),
        (packed(b'{"cycle_limit":' + b"9" * 30 + b"}"), "at most 64 bits"),
        (packed(b"0" * 50_000_000), "damaged or cut"),
        (packed(b'{"edition_file":"/etc/passwd"}'), "a shared scenario has no files"),
        (packed(b'{"attacker":{"units":"1 infantri"},"defender":{"units":"1 tank"}}'), 'unknown unit "infantri"'),
        (packed(b'{"ruleset":"__import__"}'), "__import__"),
        (packed(b'{"ruleset":7}'), "must be the name of a ruleset"),
    ],
    ids=range(18),
)
def test_what_is_damaged_is_refused(text: str, message: str) -> None:
    with pytest.raises((ScenarioError, LookupError)) as caught:
        unshare(text)
    assert message in str(caught.value)


def test_every_changed_letter_is_noticed() -> None:
    text = share(DUEL["general_combat"])
    for place in range(len(PREFIX), len(text)):
        other = "A" if text[place] != "A" else "B"
        changed = text[:place] + other + text[place + 1 :]
        try:
            found = unshare(changed)
        except ScenarioError:
            continue
        assert found == DUEL["general_combat"], "unused bits of the last letter"
    with pytest.raises(ScenarioError):
        unshare(text[:-4])


def test_what_cannot_be_shared() -> None:
    with pytest.raises(ScenarioError, match="unknown unit"):
        share({"attacker": {"units": "1 dragon"}, "defender": {"units": "1 tank"}})
    with pytest.raises(ScenarioError, match="no such file"):
        share("nowhere.toml")
