"""How large an exact solution can become, known before it is begun.

On land a side's state is what its order of loss has left. At sea hits come in classes: hits of aircraft pass over
submarines while no destroyer of their side is there, hits of submarines pass over aircraft (GC-4.8.1). A side's units
then form up to three *chains*, each lost in order: its submarines, its aircraft, and all that nothing passes over.

**Bound of a sea battle.** In every step the owner gives out hits once along his order of loss, as many as each entry
can take (`sea.take_losses`). So

1. an entry of the main chain loses units only when every entry of it further forward is exhausted: the chain's state
   is one number, the hits that it has taken;
2. the same holds within the submarines and within the aircraft where those are passed over; and they lose units only
   when every entry of the main chain further forward is exhausted, since otherwise no hit would have come that far;
3. submarines submerge all at once, only while no enemy destroyer is left, and stay away for good;
4. a sweep takes defending transports when no other ship is left (GC-4.5.2, GC-4.5.3): that is the end of the main
   chain, except where submarines that nothing passes over are part of it and survive the sweep.

Destroyers never come back. While a side has one, nothing has ever passed over the enemy's submarines, which count as
part of the main chain. Pairs of states are therefore counted by who still has a destroyer. They are told apart by the
cycle as far as retreats or a limit count cycles; before cycle 1 there are at most two, the start and a sweep of it.
"""

from __future__ import annotations

from math import isqrt, prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from simcore.enums import Side
from simcore.rulesets.general_combat import optimal
from simcore.rulesets.general_combat.encoding import AIRCRAFT, LossForm

if TYPE_CHECKING:
    from simcore.rulesets.general_combat.params import GeneralCombatScenario

__all__ = ["attacker_states", "count_states", "effort", "may_be_far_smaller"]

_BEFORE_CYCLE_1 = 2
_ENDS = 6
"""Outcomes of a sea battle after which there may be a battle on land."""

# Steps of about a nanosecond, as measured: of a state, and of one combination of both sides' hits in it.
_LAND_STATE = 300
_LAND_COMBINATIONS = 12
"""Combinations that one step goes through on land."""
_SEA_STATE = 2_000
_SEA_COMBINATION = 1
_DOOMED = 8
"""How much longer a sea battle takes where those lost in step 2 still fire."""
_DECIDED_STATE = 100_000
"""Of a state of a battle in which its own odds decide."""
_RAID_STATE = 20_000
_RAID_PIP = 500


class _Entry(NamedTuple):
    """Entry of an order of loss at sea: its kind, and how many hits it takes when its turn comes."""

    kind: str
    size: int
    unit: str


def count_states(scenario: GeneralCombatScenario) -> int:
    """Return how many states the exact solver has to hold at most.

    Parameters
    ----------
    scenario : GeneralCombatScenario

    Returns
    -------
    int
        Of an assault with a sea battle: those of the sea battle and of one landing after it.
    """
    if scenario.terrain == "raid":
        attackers, defenders = _raid_states(scenario)
        return attackers * defenders
    if scenario.looks_ahead:
        return optimal.count_states(scenario)
    if scenario.terrain == "sea":
        return _sea_states(scenario)
    at_sea = _sea_states(scenario.sea_battle) if scenario.sea is not None else 0
    return at_sea + _land_states(scenario)


def may_be_far_smaller(scenario: GeneralCombatScenario) -> bool:
    """Return whether a solution may reach so few of its states that a try is worth while whatever their number."""
    return scenario.terrain == "sea" or scenario.sea is not None


def effort(scenario: GeneralCombatScenario) -> int:
    """Return how long an exact solution takes at most, roughly, in steps of about a nanosecond.

    Parameters
    ----------
    scenario : GeneralCombatScenario

    Returns
    -------
    int
        The same on every machine.
    """
    if scenario.terrain == "raid":
        return _raid_effort(scenario)
    if scenario.looks_ahead:
        return _DECIDED_STATE * optimal.count_states(scenario)
    if scenario.terrain == "sea":
        return _sea_effort(scenario)
    landing = _land_effort(scenario)
    if scenario.sea is None:
        return landing
    # Each cargo that may be left after each outcome is a landing of its own.
    cargoes = 1 + len(scenario.sea.attacker.cargo)
    overland = sum(scenario.own_counts(Side.ATTACKER).values()) > sum(scenario.landed.values())
    return _sea_effort(scenario.sea_battle) + cargoes * (_ENDS if overland else 1) * landing


def attacker_states(scenario: GeneralCombatScenario) -> int:
    """Return how many states the attacker can be in at most on land: what is left, and who has left an assault.

    Parameters
    ----------
    scenario : GeneralCombatScenario

    Returns
    -------
    int
    """
    units = scenario.attacker.units
    total = sum(units.values())
    after_fire = 1
    if scenario.defender.units.get("aa_gun", 0):
        after_fire = prod(units.get(unit, 0) + 1 for unit in AIRCRAFT)
    states = after_fire * (total + 1)
    # Each state may be left in part once, and what stays can then be lost unit by unit.
    return states * (total + 2) if scenario.may_leave_in_part else states


def _land_states(scenario: GeneralCombatScenario) -> int:
    return attacker_states(scenario) * (1 + sum(scenario.possible_losses(Side.DEFENDER).values()))


def _hits(scenario: GeneralCombatScenario, side: Side) -> int:
    """Return how many different numbers of hits of a side are likely enough to be followed."""
    dice = scenario.dice(side)
    # Twice 8.5 standard deviations of one half a die hold all but 1e-17 at either end.
    return min(dice + 1, 8 * isqrt(dice) + 2)


def _counted_cycles(scenario: GeneralCombatScenario) -> int:
    return max(1, scenario.attacker.retreat.after_cycles, scenario.cycle_limit)


def _land_effort(scenario: GeneralCombatScenario) -> int:
    combinations = _hits(scenario, Side.ATTACKER) * _hits(scenario, Side.DEFENDER)
    per_state = _LAND_STATE + combinations // _LAND_COMBINATIONS
    units = sum(sum(scenario.own_counts(side).values()) for side in Side)
    # Somebody hits in one cycle out of as many as the die has sides or more often: after so many nothing is left.
    cycles = min(_counted_cycles(scenario), 4 * scenario.rules.dice_sides * (units + 20))
    return _land_states(scenario) * per_state * cycles


def _sea_effort(scenario: GeneralCombatScenario) -> int:
    combinations = _hits(scenario, Side.ATTACKER) * _hits(scenario, Side.DEFENDER)
    per_state = _SEA_STATE + _SEA_COMBINATION * combinations
    if scenario.rules.switches.sub_first_strike == "always":
        per_state *= _DOOMED
    return _sea_states(scenario) * per_state


def _raid_states(scenario: GeneralCombatScenario) -> tuple[int, int]:
    """Return how many states either side of a raid can be in."""
    units = scenario.own_counts(Side.ATTACKER), scenario.own_counts(Side.DEFENDER)
    first, second = (prod(n + 1 for unit, n in side.items() if unit in AIRCRAFT) for side in units)
    return first, second


def _raid_effort(scenario: GeneralCombatScenario) -> int:
    attackers, defenders = _raid_states(scenario)
    units = scenario.own_counts(Side.ATTACKER)
    dice = sum(n * scenario.fire(Side.ATTACKER, unit).dice for unit, n in units.items())
    # Heavy bombers of the other kind keep one die of two, so pips are never more than these.
    return attackers * (_RAID_STATE * defenders + _RAID_PIP * dice * scenario.rules.dice_sides)


# --------------------------------------------------------------------------------------------------
# Chains at sea
# --------------------------------------------------------------------------------------------------


def _order(scenario: GeneralCombatScenario, side: Side) -> list[_Entry]:
    """Return a side's order of loss at sea.

    Damage before its ships takes one hit of each undamaged one and leaves them one; behind them it finds none.
    """
    groups = scenario.loss_groups(side)
    damaged = {group.unit: group.size for group in groups if group.form == LossForm.DAMAGED}
    whole = {group.unit: group.size for group in groups if group.form == LossForm.HULL}
    seen: set[str] = set()
    order: list[_Entry] = []
    for group in groups:
        unit, form = group.unit, group.form
        if form in {LossForm.DAMAGED, LossForm.SUBMERGED}:
            continue
        kind = "aircraft" if unit in AIRCRAFT else "submarine" if unit == "submarine" else ""
        size = group.size
        if form == LossForm.DAMAGE:
            size = 0 if unit in seen else whole[unit]
        elif form == LossForm.HULL:
            size = damaged[unit] + (1 if unit in seen else 2) * whole[unit]
        if form in {LossForm.DAMAGE, LossForm.HULL}:
            seen.add(unit)
        order.append(_Entry(kind, size, unit))
    return order


def _side_states(scenario: GeneralCombatScenario, side: Side, *, faces_destroyers: bool) -> tuple[int, int]:
    """Return how many states a side can be in at sea, without and with destroyers of its own."""
    order = _order(scenario, side)
    enemy = scenario.own_counts(1 - side)
    always = scenario.rules.switches.air_hits_subs == "always"
    hides = scenario.submerge_policy(side)[0] != 0 and not faces_destroyers
    apart = set()
    if hides or (not faces_destroyers and not always and any(enemy.get(unit) for unit in AIRCRAFT)):
        apart.add("submarine")
    if enemy.get("submarine"):
        apart.add("aircraft")
    # For each unit that is passed over: hits of the main chain that must have been taken before it can be lost.
    needed: dict[str, list[int]] = {"submarine": [], "aircraft": []}
    taken = destroyers_until = 0
    for entry in order:
        if entry.kind in apart:
            needed[entry.kind] += [taken] * entry.size
            continue
        taken += entry.size
        if entry.unit == "destroyer":
            destroyers_until = taken
    hits = np.arange(taken + 1)
    aircraft, submarines = (
        1 + np.searchsorted(needed[kind], hits, side="right").astype(np.int64) for kind in ("aircraft", "submarine")
    )
    if hides:  # as many as were left may have submerged, at least one
        submarines += np.minimum(submarines, len(needed["submarine"]))
    states = aircraft * submarines
    without, with_destroyers = int(states[destroyers_until:].sum()), int(states[:destroyers_until].sum())
    own = scenario.own_counts(side)
    if side == Side.DEFENDER and always and "submarine" not in apart and own.get("transport"):
        without += own.get("submarine", 0)
    return without, with_destroyers


def _sea_states(scenario: GeneralCombatScenario) -> int:
    """Return how many pairs of states a sea battle can reach at most; the module says why."""
    first = [_side_states(scenario, Side.ATTACKER, faces_destroyers=faces) for faces in (False, True)]
    second = [_side_states(scenario, Side.DEFENDER, faces_destroyers=faces) for faces in (False, True)]
    pairs = 0
    for has, side_states in enumerate(zip(*first, strict=True)):
        for enemy_has, own in enumerate(side_states):
            pairs += own * second[has][enemy_has]
    return pairs * _counted_cycles(scenario) + _BEFORE_CYCLE_1
