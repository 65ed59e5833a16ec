"""The rules of general combat on plain numbers, without chance: each clause is written here and nowhere else.

Every function is a pure function of a few counts. The sampler applies them to many battles side by side,
the script driver to one battle with given dice. Clause ids are those of RULES.md.
"""

from __future__ import annotations

from simcore.core.jit import kernel
from simcore.rulesets.general_combat.encoding import Outcome, SubmergePolicy

__all__ = [
    "aa_dice_total",
    "absorb",
    "acts_in_step_2",
    "aircraft_without_room",
    "can_fire",
    "conclude",
    "conclude_landing",
    "conclude_sea",
    "conclude_without_landing",
    "condition_a",
    "damage_first",
    "hull_losses",
    "lands",
    "leaving_units",
    "may_leave_assault",
    "may_retreat",
    "paired_tactical_bombers",
    "raid_damage",
    "supported_infantry",
    "supported_mech_infantry",
    "sweeps_transports",
    "swept_aa_guns",
    "wants_retreat",
    "wants_submerge",
]

_ATTACKER_WINS = int(Outcome.ATTACKER_WINS)
_ATTACKER_CLEARS = int(Outcome.ATTACKER_CLEARS)
_BOTH_DESTROYED = int(Outcome.BOTH_DESTROYED)
_DEFENDER_WINS = int(Outcome.DEFENDER_WINS)
_ATTACKER_RETREATS = int(Outcome.ATTACKER_RETREATS)
_STAND_OFF = int(Outcome.STAND_OFF)
_UNFINISHED = int(Outcome.UNFINISHED)
_ALWAYS = int(SubmergePolicy.ALWAYS)
_FACING_AIRCRAFT = int(SubmergePolicy.FACING_AIRCRAFT)
_OUTNUMBERED = int(SubmergePolicy.OUTNUMBERED)


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


@kernel
def leaving_units(aircraft, overland, only_aircraft_leave):
    """Units of an assault that may break off: never those landed (GC-5.6, GC-2.3:amphib_retreat)."""
    return aircraft if only_aircraft_leave != 0 else aircraft + overland


@kernel
def may_leave_assault(possible, aircraft, overland, only_aircraft_leave):
    """Whether those who may break off an assault can: overland units need a space (GC-4.6.8, GC-4.6.11, GC-5.6)."""
    walking = 0 if only_aircraft_leave != 0 else overland
    return (aircraft + walking > 0) & may_retreat(possible, walking)


@kernel
def conclude_landing(outcome, retreated):
    """Outcome of a landing whose battle ended under condition A: a side that left in part is not destroyed."""
    return _ATTACKER_RETREATS if (outcome == _BOTH_DESTROYED) & (retreated > 0) else outcome


@kernel
def lands(sea_outcome):
    """Whether the cargo is landed after the sea battle (GC-5.2)."""
    return sea_outcome == _ATTACKER_WINS


@kernel
def conclude_without_landing(sea_outcome, defenders):
    """Outcome of an assault in which nobody attacks on land (GC-5.2).

    Parameters
    ----------
    sea_outcome : int64
        How the sea battle ended.
    defenders : int64
        Units on land that could be lost.
    """
    if sea_outcome in (_ATTACKER_RETREATS, _STAND_OFF, _UNFINISHED):
        return sea_outcome
    return _BOTH_DESTROYED if (sea_outcome == _BOTH_DESTROYED) & (defenders == 0) else _DEFENDER_WINS


@kernel
def aircraft_without_room(based, aircraft, carriers):
    """Aircraft that lost their place on a carrier, two of which each carrier has (GC-4.7.8)."""
    return max(0, min(based, aircraft) - 2 * carriers)


@kernel
def raid_damage(rolled, room):
    """Damage that a raid does: what was rolled, up to the room left below the cap; a negative room is none (GC-6.2)."""
    return rolled if room < 0 else min(rolled, room)


@kernel
def acts_in_step_2(submarines, enemy_destroyers, always):
    """Whether a side's submarines act in step 2 of this cycle (GC-4.2.1, GC-2.3:sub_first_strike)."""
    return (submarines > 0) & ((enemy_destroyers == 0) | (always != 0))


@kernel
def wants_submerge(policy, per_thousand, submarines, enemies, aircraft, fighting_ships, hunters):
    """Whether the owner's policy submerges the submarines that may (GC-4.2.2).

    Where no enemy is left in the sea zone there is nothing to hide from, and a won battle stays won.

    Parameters
    ----------
    policy : int64
        A value of `SubmergePolicy`.
    per_thousand : int64
        For OUTNUMBERED: enemies per thousand own submarines.
    submarines : int64
        Own submarines.
    enemies : int64
        Enemies in the sea zone, submerged ones included.
    aircraft, fighting_ships, hunters : int64
        Enemies on the board: aircraft, ships but transports, units that can hit submarines.
    """
    return (enemies > 0) & (
        (policy == _ALWAYS)
        | ((policy == _FACING_AIRCRAFT) & (aircraft > 0) & (fighting_ships == 0))
        | ((policy == _OUTNUMBERED) & (1_000 * hunters >= per_thousand * submarines))
    )


@kernel
def damage_first(whole, hits):
    """First hits that undamaged two-hit ships take: nothing is lost (GC-4.2.5, GC-4.8.6)."""
    return min(whole, hits)


@kernel
def hull_losses(damaged, hits):
    """Two-hit ships that are lost when `hits` reach them: damaged ones first, then two hits for each other.

    Returns
    -------
    sunk_damaged, sunk_whole, newly_damaged : int64
        Ships lost of either kind, and ships damaged by an odd last hit.
    """
    sunk_damaged = min(damaged, hits)
    rest = hits - sunk_damaged
    return sunk_damaged, rest // 2, rest % 2


@kernel
def can_fire(armed_ships, armed_submarines, armed_aircraft, aircraft, submarines, ships, transports, hits_submarines):
    """Whether a side has a unit with a value and a legal target among the enemies that follow (GC-4.6.3, GC-4.8.1)."""
    surface = ships + transports
    return (
        ((armed_ships > 0) & (aircraft + submarines + surface > 0))
        | ((armed_submarines > 0) & (submarines + surface > 0))
        | ((armed_aircraft > 0) & ((aircraft + surface > 0) | ((submarines > 0) & hits_submarines)))
    )


@kernel
def sweeps_transports(attackers, attacking_aircraft, armed, aircraft, submarines, ships, transports):
    """Whether the defending transports are defenceless and destroyed without dice (GC-4.5.2, GC-4.5.3, GC-8.2).

    `attackers`, `attacking_aircraft` and `armed` are the attacker's units on the board, his aircraft among
    them and his units with an attack value; the rest are the defender's units on the board.
    """
    alone = aircraft + submarines + ships == 0
    beside_submarines = (aircraft + ships == 0) & (submarines > 0) & (attackers == attacking_aircraft)
    return (transports > 0) & (armed > 0) & (alone | beside_submarines)


@kernel
def conclude_sea(attackers, defenders, submerged):
    """Outcome of a sea battle that ended under condition A (GC-4.6.2, GC-4.6.4, GC-4.6.5).

    `attackers` and `defenders` are units on the board, lone transports included; `submerged` counts the
    submarines of both sides that left it.
    """
    if attackers > 0:
        return _STAND_OFF if defenders > 0 else _ATTACKER_WINS
    if defenders > 0:
        return _DEFENDER_WINS
    return _STAND_OFF if submerged > 0 else _BOTH_DESTROYED
