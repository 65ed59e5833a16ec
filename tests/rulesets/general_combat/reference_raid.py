"""A plain and slow reading of the rules of bombing raids in ``general_combat``.

Written from the rule text alone and sharing no code with ``simcore``; random words, numbers of hits and
unit tables come from the reference of land battles.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from tests.rulesets.general_combat.reference import (
    AIRCRAFT,
    ATTACKER,
    DEFENDER,
    EDITIONS,
    GROUP_REMAINDER,
    SIDES,
    STEP_AA,
    STEP_ATTACK,
    STEP_DEFENCE,
    TYPE,
    Dice,
    Edition,
    Force,
    RandomDice,
    Scenario,
    ScriptedDice,
    Throw,
    clamp,
    muster,
    parse_units,
    pool,
    random_key,
    throw_all,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Roll = Callable[[list[Throw]], int]

STEP_DAMAGE = 5
BOMBERS = ("tactical_bomber", "bomber")
OUTCOMES = ("damage", "no_damage")
FACILITY_CAP = {"major_complex": 20, "minor_complex": 6, "air_base": 6, "naval_base": 6}


@dataclass(frozen=True)
class RaidEdition(Edition):
    """Unit table and switches of one edition, as far as raids need them."""

    sbr_target: str = "complex"
    sbr_cap: str = "twice_territory"
    sbr_aa: str = "gun"
    sbr_bonus: int = 0
    sbr_air_battle: str = "none"


_SWITCHES: dict[str, dict[str, Any]] = {
    "1942_2nd": {"sbr_aa": "built_in", "sbr_air_battle": "optional"},
    "revised": {"sbr_target": "income", "sbr_cap": "territory"},
    "global40_2nd": {"sbr_aa": "built_in", "sbr_air_battle": "one_cycle", "sbr_cap": "facility", "sbr_bonus": 2},
}


def raiding(land: Edition, **switches: Any) -> RaidEdition:
    """Add the switches of raids to an edition of land battles."""
    return RaidEdition(**{part.name: getattr(land, part.name) for part in fields(Edition)} | switches)


RAID_EDITIONS = {name: raiding(land, **_SWITCHES.get(name, {})) for name, land in EDITIONS.items()}


@dataclass(frozen=True)
class RaidScenario(Scenario):
    """A raid, ready to be flown; `cap` is the most damage that the target can have, None = no limit."""

    edition: RaidEdition
    air_battle: bool = False
    cap: int | None = None
    damaged: int = 0


def cap_of(rules: RaidEdition, wish: str | int, target: str | None, value: int) -> int | None:
    """GC-6.2, GC-2.3 `sbr_cap`: the most damage that the target can have in all."""
    if wish == "none":
        return None
    if isinstance(wish, int):
        return wish
    if rules.sbr_cap == "facility":
        return FACILITY_CAP[target or "minor_complex"]
    return 2 * value if rules.sbr_cap == "twice_territory" else value


def read_raid(data: Mapping[str, Any], edition: RaidEdition | None = None) -> RaidScenario:
    """Turn a raid as a user writes it into a :class:`RaidScenario`."""
    rules = replace(edition or RAID_EDITIONS[data.get("edition", "spring1942")], **data.get("switches", {}))
    forces = []
    for side in SIDES:
        table = data.get(side, {})
        order = table.get("loss_order", "default")
        forces.append(
            Force(
                units=parse_units(table.get("units", {})),
                loss_order=order if isinstance(order, str) else tuple(order),
                technologies=frozenset(table.get("technologies", ())),
            )
        )
    raid = data.get("raid", {})
    value = data.get("territory", {}).get("value", 0)
    return RaidScenario(
        edition=rules,
        forces=(forces[0], forces[1]),
        low_luck=data.get("low_luck", "none"),
        value=value,
        air_battle=raid.get("air_battle", rules.sbr_air_battle == "one_cycle"),
        cap=cap_of(rules, raid.get("cap", "edition"), raid.get("target"), value),
        damaged=raid.get("damaged", 0),
    )


# --------------------------------------------------------------------------------------------------
# The steps
# --------------------------------------------------------------------------------------------------


def fighters_of(defenders: Sequence[str]) -> int:
    """Return the number of interceptors."""
    return sum(unit == "fighter" for unit in defenders)


def air_battle_throws(scenario: RaidScenario, side: int, aircraft: Sequence[str]) -> list[Throw]:
    """GC-2.3 `sbr_air_battle`: one die at 1 for everything that flies, whatever it is worth elsewhere."""
    count = Counter(aircraft)
    step = STEP_ATTACK if side == ATTACKER else STEP_DEFENCE
    chance = Fraction(1, scenario.edition.sides)
    throws = [Throw(1, step, side, TYPE[unit], count[unit], chance) for unit in AIRCRAFT if count[unit]]
    return pool(throws, low_luck=scenario.low_luck in {"combat", "both"}, group=GROUP_REMAINDER)


def air_battle(scenario: RaidScenario, attackers: list[str], defenders: list[str], roll: Roll) -> int:
    """Fight the one cycle before the raid, if there is one; return the number of cycles."""
    if not scenario.air_battle or not fighters_of(defenders) or not attackers:
        return 0
    attack = roll(air_battle_throws(scenario, ATTACKER, attackers))
    defence = roll(air_battle_throws(scenario, DEFENDER, ["fighter"] * fighters_of(defenders)))
    for _ in range(min(attack, fighters_of(defenders))):
        defenders.remove("fighter")
    del attackers[:defence]
    return 1


def fire_at_bombers(scenario: RaidScenario, attackers: list[str], roll: Roll) -> None:
    """GC-6.1: one die for every bomber that is left; each type takes the hits rolled for it."""
    if scenario.edition.sbr_aa == "gun" and not scenario.forces[DEFENDER].units.get("aa_gun", 0):
        return
    value = 2 if "radar" in scenario.forces[DEFENDER].technologies else 1
    chance = Fraction(clamp(value, scenario.edition.sides), scenario.edition.sides)
    for unit in BOMBERS:
        throw = Throw(0, STEP_AA, DEFENDER, TYPE[unit], attackers.count(unit), chance)
        for throws in pool([throw], low_luck=scenario.low_luck in {"aa", "both"}):
            for _ in range(roll([throws])):
                attackers.remove(unit)


def bombs(scenario: RaidScenario, attackers: Sequence[str], dice: Dice) -> int:
    """GC-6.1: the sum of the bombers' dice, before any cap.

    Dice of a kind are sorted by what they show, the highest face first: of those that show no more than f,
    each shows f with the same chance.
    """
    sides = scenario.edition.sides
    strategic = attackers.count("bomber")
    ordinary, better = attackers.count("tactical_bomber") + strategic, 0
    if "heavy_bombers" in scenario.forces[ATTACKER].technologies:
        if scenario.edition.heavy_bombers == "both_dice":
            ordinary += strategic
        else:
            ordinary, better = ordinary - strategic, strategic
    total = scenario.edition.sbr_bonus * strategic
    for number, group, larger_of_two in ((ordinary, 0, False), (better, GROUP_REMAINDER, True)):
        left = number
        for face in range(sides, 1, -1):
            if left:
                chance = Fraction(2 * face - 1, face * face) if larger_of_two else Fraction(1, face)
                showing = dice.hits(Throw(1, STEP_DAMAGE, ATTACKER, group + face, left, chance))
                total += showing * face
                left -= showing
        total += left
    return total


# --------------------------------------------------------------------------------------------------
# A raid
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Raid:
    """How a raid ended."""

    outcome: str
    cycles: int
    damage: int
    survivors: tuple[dict[str, int], dict[str, int]]
    cost_lost: tuple[int, int]

    @property
    def swing(self) -> int:
        """Return the defender's cost lost minus the attacker's."""
        return self.cost_lost[DEFENDER] - self.cost_lost[ATTACKER]


def flying(scenario: RaidScenario, side: int) -> list[str]:
    """Return the aircraft of a side in order of loss: nothing else can be lost in a raid."""
    return [unit for unit in muster(scenario, side) if unit in AIRCRAFT]


def conclude(scenario: RaidScenario, stacks: tuple[Sequence[str], Sequence[str]], cycles: int, bombed: int) -> Raid:
    """GC-6.2: the damage that counts, and the aircraft lost."""
    damage = bombed if scenario.cap is None else min(bombed, max(0, scenario.cap - scenario.damaged))
    lost = []
    for side, left in enumerate(stacks):
        gone = Counter(flying(scenario, side)) - Counter(left)
        lost.append(sum(scenario.row(unit).cost * number for unit, number in gone.items()))
    return Raid(
        outcome="damage" if damage > 0 else "no_damage",
        cycles=cycles,
        damage=damage,
        survivors=(dict(Counter(stacks[ATTACKER])), dict(Counter(stacks[DEFENDER]))),
        cost_lost=(lost[ATTACKER], lost[DEFENDER]),
    )


def before_bombs(scenario: RaidScenario, roll: Roll) -> tuple[list[str], list[str], int]:
    """Fly to the target: the two stacks that are left, and the cycles fought."""
    attackers, defenders = flying(scenario, ATTACKER), flying(scenario, DEFENDER)
    cycles = air_battle(scenario, attackers, defenders, roll)
    fire_at_bombers(scenario, attackers, roll)
    return attackers, defenders, cycles


def fly(scenario: RaidScenario, dice: Dice) -> Raid:
    """Fly one raid."""

    def roll(throws: list[Throw]) -> int:
        return throw_all(throws, dice)

    attackers, defenders, cycles = before_bombs(scenario, roll)
    return conclude(scenario, (attackers, defenders), cycles, bombs(scenario, attackers, dice))


def raid(data: Mapping[str, Any] | RaidScenario, number: int = 0, *, seed: int = 1, pairing: str = "matchup") -> Raid:
    """Fly the raid with this number, with the dice that the sampler would throw."""
    scenario = data if isinstance(data, RaidScenario) else read_raid(data)
    return fly(scenario, RandomDice(random_key(scenario, seed, pairing), number))


def scripted_raid(data: Mapping[str, Any] | RaidScenario, script: Sequence[int]) -> tuple[Raid, ScriptedDice]:
    """Fly a raid with hits given in advance; the dice returned remember every throw."""
    scenario = data if isinstance(data, RaidScenario) else read_raid(data)
    dice = ScriptedDice(list(script))
    return fly(scenario, dice), dice
