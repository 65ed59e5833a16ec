"""The rules of general combat on plain numbers, without chance: each clause is written here and nowhere else.

Every function is a pure function of a few counts. The sampler applies them to many battles side by side,
the script driver to one battle with given dice. Clause ids are those of RULES.md.
"""

from __future__ import annotations

from simcore.core.jit import kernel
from simcore.rulesets.general_combat.encoding import Outcome

__all__ = [
    "aa_dice_total",
    "absorb",
    "conclude",
    "condition_a",
    "may_retreat",
    "paired_tactical_bombers",
    "supported_infantry",
    "supported_mech_infantry",
    "swept_aa_guns",
    "wants_retreat",
]

_ATTACKER_WINS = int(Outcome.ATTACKER_WINS)
_ATTACKER_CLEARS = int(Outcome.ATTACKER_CLEARS)
_BOTH_DESTROYED = int(Outcome.BOTH_DESTROYED)
_DEFENDER_WINS = int(Outcome.DEFENDER_WINS)
_STAND_OFF = int(Outcome.STAND_OFF)


@kernel
def aa_dice_total(guns, aircraft, three_per_gun):
    """Dice of antiaircraft fire: one per aircraft, or at most three per gun (GC-4.0.1, GC-2.3:aa_dice)."""
    if guns == 0:
        return 0
    if three_per_gun and 3 * guns < aircraft:
        return 3 * guns
    return aircraft


@kernel
def supported_infantry(infantry, artillery, per_artillery):
    """Infantry that attack at the supported value this cycle (GC-4.3.3)."""
    return min(infantry, artillery * per_artillery)


@kernel
def supported_mech_infantry(mech_infantry, infantry, artillery, per_artillery):
    """Mechanised infantry supported by the artillery that infantry leave over (GC-4.3.3)."""
    return min(mech_infantry, artillery * per_artillery - supported_infantry(infantry, artillery, per_artillery))


@kernel
def paired_tactical_bombers(tactical_bombers, fighters, tanks):
    """Tactical bombers paired with a fighter or a tank (GC-4.3.3)."""
    return min(tactical_bombers, fighters + tanks)


@kernel
def absorb(units, hits):
    """Hits that a group of one-hit units next in the order of loss takes (GC-4.8.4, GC-8.23)."""
    return min(units, hits)


@kernel
def condition_a(attackers, defenders, attack_dice, defence_dice):
    """Whether the battle ends by loss of units (GC-4.6.2 to GC-4.6.4).

    `defenders` counts combat units only: guns and complexes keep no battle going (GC-4.0.5), AAA units
    without company neither (GC-2.3:aa_fate).
    """
    return (attackers == 0) | (defenders == 0) | ((attack_dice == 0) & (defence_dice == 0))


@kernel
def wants_retreat(cycle, units, land_units, after_cycles, units_at_most, only_aircraft):
    """Whether the attacker's policy asks for a retreat (GC-4.6.7); a limit of 0 is off."""
    return (
        ((after_cycles > 0) & (cycle >= after_cycles))
        | ((units_at_most > 0) & (units <= units_at_most))
        | ((only_aircraft != 0) & (land_units == 0))
    )


@kernel
def may_retreat(possible, land_units):
    """Whether a retreat is allowed: a space for land units (GC-4.6.8), none is needed by aircraft (GC-4.6.12)."""
    return (possible != 0) | (land_units == 0)


@kernel
def swept_aa_guns(aa_guns, attackers, defenders):
    """AAA units destroyed because no combat unit defends any more (GC-2.3:aa_fate)."""
    return aa_guns if (defenders == 0) & (attackers > 0) else 0


@kernel
def conclude(cycle, attackers, attacking_land, defenders, aa_guns):
    """Outcome of a battle that ended under condition A (GC-4.7.1, GC-4.7.2).

    Parameters
    ----------
    cycle : int64
        Cycles fought.
    attackers, attacking_land : int64
        Attacking units left, and the land units among them.
    defenders : int64
        Defending combat units left.
    aa_guns : int64
        AAA units left (0 where guns are not units).

    Returns
    -------
    int64
        A value of `Outcome`.
    """
    if attackers > 0:
        if defenders > 0:
            return _STAND_OFF
        return _ATTACKER_WINS if attacking_land > 0 else _ATTACKER_CLEARS
    # Attackers shot down before the first cycle leave the field to whoever stands there, a gun alone included.
    if defenders > 0 or aa_guns > 0 or cycle == 0:
        return _DEFENDER_WINS
    return _BOTH_DESTROYED
