"""The rules of mass battle on plain numbers, without chance: each clause is written here and nowhere else.

Every function is a pure function of a few counts. The sampler applies them to many battles side by side, the
solver to all outcomes of a state, the script driver to one battle with given dice. Clause ids are those of RULES.md.
"""

from __future__ import annotations

from simcore.core.jit import kernel
from simcore.rulesets.mass_battle.encoding import Outcome, PoolModel, PursuitLimit, Standing

__all__ = [
    "GOES_ON",
    "attack_pool",
    "can_pursue",
    "catches",
    "conclude",
    "confirms",
    "deal_effect",
    "dice_below_four",
    "is_broken",
    "moves",
    "negative_dice",
]

GOES_ON = -1

_ACTIVE = int(Standing.ACTIVE)
_DUE = int(Standing.DUE)
_FAILED = int(Standing.FAILED)
_ROUT, _DESTROY = 1, 2

_FIXED = int(PoolModel.FIXED)
_DIFFERENCE = int(PoolModel.DIFFERENCE)
_SUPPRESSED_TOO = int(PursuitLimit.SUPPRESSED_TOO)
_ONE_PER_SQUAD = int(PursuitLimit.ONE_PER_SQUAD)
_ATTACKER_WINS = int(Outcome.ATTACKER_WINS)
_DEFENDER_WINS = int(Outcome.DEFENDER_WINS)
_UNDECIDED = int(Outcome.UNDECIDED)


@kernel
def attack_pool(forces, enemy_forces, fixed, modifier, model):
    """Pool of an army that can attack (MB-1, MA-2).

    Parameters
    ----------
    forces, enemy_forces : int64
        Dice of the active squads, support dice and modifier together, of both armies.
    fixed, modifier : int64
        Pool and modifier of this turn where the pool is fixed.
    model : int64
        `PoolModel`.

    Returns
    -------
    int64
        Dice of an ordinary roll if at least 1, otherwise a negative roll.
    """
    if model == _FIXED:
        return fixed + modifier
    if model == _DIFFERENCE:
        return forces - enemy_forces
    return forces


@kernel
def negative_dice(pool, as_counted):
    """Dice of a negative roll, the main die included (MB-19, MA-4): 2 - pool, or as many as the pool says."""
    return max(2, -pool) if as_counted else 2 - pool


@kernel
def confirms(hits, others, any_will_do):
    """Whether the other dice of a negative roll confirm what the main die shows (MB-20, MA-5).

    Parameters
    ----------
    hits, others : int64
        Other dice that show 4 or more, and all other dice.
    any_will_do : int64
        1 where one of them is enough.
    """
    return hits > 0 if any_will_do else hits == others


@kernel
def dice_below_four(main, hits, others):
    """Dice of a negative roll that show 3 or less, the only ones that can show a 1 (MB-21)."""
    return 1 - main + others - hits


@kernel
def deal_effect(squads, effects):
    """Squads of a group that one kind of effect reaches (MB-13): the surplus goes on to the next group, or is lost.

    Dealt from the strongest effect to the weakest, and from active squads to suppressed ones, this drops the
    weakest effects first (MB-14).
    """
    return min(squads, effects)


@kernel
def moves(standing, effect, renews):
    """Whether an effect changes a squad that it reaches (MB-3, MB-5, MB-10, MA-8, MA-9).

    A squad in flight can only be destroyed. Suppressing a suppressed squad delays its return, where it does at all,
    only if it would come back next turn.

    Parameters
    ----------
    standing : int64
        `Standing` before the roll.
    effect : int64
        0 to suppress, 1 to rout, 2 to destroy.
    renews : int64
        1 where a suppressed squad can be suppressed again.
    """
    if effect == _DESTROY or standing == _ACTIVE:
        return 1
    if effect == _ROUT:
        return 0 if standing == _FAILED else 1
    return 1 if standing == _DUE and renews else 0


@kernel
def is_broken(active, suppressed):
    """Whether an army is broken: only active and suppressed squads keep it in being (MB-17, MA-3)."""
    return active + suppressed == 0


@kernel
def conclude(attacker_broken, defender_broken, mutual, turn, limit):
    """How a battle stands after a turn (MB-17, MA-17, MA-22): an `Outcome`, or `GOES_ON`."""
    if attacker_broken and defender_broken:
        return mutual
    if attacker_broken:
        return _DEFENDER_WINS
    if defender_broken:
        return _ATTACKER_WINS
    if limit > 0 and turn >= limit:
        return _UNDECIDED
    return GOES_ON


@kernel
def can_pursue(active, suppressed, limit):
    """Mobile squads of the victor that pursue (MB-18, MA-19): active ones, suppressed ones where they may."""
    return active + suppressed if limit == _SUPPRESSED_TOO else active


@kernel
def catches(in_flight, pursuers, limit, can_flee):
    """Squads in flight that do not get away (MB-18, MA-19, MA-21)."""
    if not can_flee:
        return in_flight
    if limit == _ONE_PER_SQUAD:
        return min(in_flight, pursuers)
    return in_flight if pursuers > 0 else 0
