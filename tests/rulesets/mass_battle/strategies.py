"""Hypothesis strategies for mass battles over all options."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.rulesets.mass_battle.support import HOUSE

STANDARD = ("squad", "mobile_squad")

options = st.fixed_dictionaries(
    {"max_turns": st.sampled_from((1, 3, 30))},
    optional={
        "face_effects": st.permutations(("suppress", "rout", "destroy")).map(
            lambda effects: dict(zip(("4", "5", "6"), effects, strict=True))
        ),
        "pool_model": st.sampled_from(("sum_active", "difference")),
        "negative_dice": st.sampled_from(("two_minus_pool", "count")),
        "negative_needs": st.sampled_from(("all", "any")),
        "ones_backfire": st.sampled_from(("negative_only", "every_roll")),
        "renew_suppression": st.booleans(),
        "target_order": st.sampled_from(("listed", "random", "strongest", "weakest")),
        "initiative": st.sampled_from(("simultaneous", "attacker_first", "defender_first")),
        "rally_miss": st.sampled_from((0, 1)),
        "success_face": st.integers(2, 6),
        "mutual_break": st.sampled_from(("draw", "attacker", "defender")),
        "pursuit_scope": st.sampled_from(("in_flight", "routed_this_turn")),
        "pursuit_limit": st.sampled_from(("none", "one_per_squad", "suppressed_too")),
        "pursuit_fate": st.sampled_from(("captured", "destroyed")),
    },
)

characters = st.lists(
    st.fixed_dictionaries(
        {"skill": st.integers(-1, 4)},
        optional={"route": st.sampled_from(("squad", "army")), "army_modifier": st.integers(-1, 4)},
    ),
    max_size=2,
)


@st.composite
def armies(draw: st.DrawFn, kinds: tuple[str, ...], most: int, *, fixed: bool) -> dict[str, Any]:
    """One army; what is seldom used is often left out."""
    units = draw(st.dictionaries(st.sampled_from(kinds), st.integers(1, most), min_size=1, max_size=len(kinds)))
    army: dict[str, Any] = {"units": units}
    if draw(st.integers(0, 2)) == 0:
        army["pool_modifier"] = draw(st.integers(-4, 3) | st.lists(st.integers(-4, 3), min_size=1, max_size=3))
    if draw(st.integers(0, 3)) == 0:
        army["support_dice"] = draw(st.integers(0, 3))
    if draw(st.integers(0, 3)) == 0:
        army["can_flee"] = draw(st.booleans())
    if draw(st.integers(0, 2)) == 0:
        army["characters"] = draw(characters)
    if fixed:
        army["pool"] = draw(st.integers(-2, 4) | st.lists(st.integers(-2, 4), min_size=1, max_size=3))
    return army


@st.composite
def scenarios(draw: st.DrawFn, most: int = 3) -> dict[str, Any]:
    """Mass battles over all editions and options, with at most `most` squads of a type."""
    is_house = draw(st.booleans())
    kinds = tuple(HOUSE["house"]["units"]) if is_house else STANDARD
    chosen = draw(options)
    fixed = draw(st.integers(0, 4)) == 0
    if fixed:
        chosen["pool_model"] = "fixed"
    if draw(st.integers(0, 3)) == 0:
        chosen["rally_attempts"] = "unlimited"
        chosen["routed_targets"] = draw(st.booleans())
    scenario: dict[str, Any] = {"ruleset": "mass_battle", "options": chosen}
    if is_house:
        scenario |= {"edition": "house", "editions": HOUSE}
    for side in ("attacker", "defender"):
        scenario[side] = draw(armies(kinds, most, fixed=fixed))
    return scenario
