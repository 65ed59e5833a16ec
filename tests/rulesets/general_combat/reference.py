"""A plain and slow reading of the land rules of ``general_combat``.

Written from the rule text alone and sharing no code with ``simcore``: unit tables and switches are
typed in again, the random words come from a Philox of its own, and the numbers of hits from big
integers. A battle is therefore reproduced by its key and its number, and any disagreement with the
sampler is a real one.

A side is a *stack*: the list of its units, one entry each, in the order in which they will be lost.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from math import comb
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

ATTACKER, DEFENDER = 0, 1
SIDES = ("attacker", "defender")

UNITS = (
    "infantry",
    "mech_infantry",
    "artillery",
    "tank",
    "aa_gun",
    "fighter",
    "tactical_bomber",
    "bomber",
    "submarine",
    "transport",
    "destroyer",
    "cruiser",
    "carrier",
    "battleship",
    "industrial_complex",
)
TYPE = {unit: number for number, unit in enumerate(UNITS)}
LAND = ("infantry", "mech_infantry", "artillery", "tank")
AIRCRAFT = ("fighter", "tactical_bomber", "bomber")
DEFAULT_ORDER = (
    ("aa_gun", "infantry", "mech_infantry", "artillery", "tank", "fighter", "tactical_bomber", "bomber"),
    ("aa_gun", "infantry", "mech_infantry", "artillery", "tank", "bomber", "fighter", "tactical_bomber"),
)
OUTCOMES = (
    "attacker_wins",
    "attacker_clears",
    "both_destroyed",
    "defender_wins",
    "attacker_retreats",
    "stand_off",
    "unfinished",
)

# Fields of a random address.
STEP_AA, STEP_ATTACK, STEP_DEFENCE = 0, 3, 4
SUPPORTED = 16
GROUP_REMAINDER = 32
GROUP_ANY_AIRCRAFT = 33


# --------------------------------------------------------------------------------------------------
# Editions
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class UnitRow:
    """Cost, attack and defence of a unit type; `supported` is its attack beside a supporter, 0 = none."""

    cost: int
    attack: int
    defence: int
    supported: int = 0


@dataclass(frozen=True)
class Edition:
    """Unit table and switches of one edition, as far as land battles need them."""

    units: Mapping[str, UnitRow]
    sides: int = 6
    aa_dice: str = "per_aircraft"
    aa_choice: str = "per_type"
    aa_fate: str = "captured"
    heavy_bombers: str = "both_dice"
    jet_fighters: str = "attack"
    technologies: bool = False


_BASE = {
    "infantry": UnitRow(3, 1, 2, supported=2),
    "artillery": UnitRow(4, 2, 2),
    "tank": UnitRow(5, 3, 3),
    "aa_gun": UnitRow(6, 0, 0),
    "fighter": UnitRow(10, 3, 4),
    "bomber": UnitRow(12, 4, 1),
    "industrial_complex": UnitRow(15, 0, 0),
}
_AAA_FOR_5 = {"aa_gun": UnitRow(5, 0, 0)}
_TANK_FOR_6 = {"tank": UnitRow(6, 3, 3)}
_GLOBAL_ONLY = {
    "mech_infantry": UnitRow(4, 1, 2, supported=2),
    "tactical_bomber": UnitRow(11, 3, 3, supported=4),
    "industrial_complex": UnitRow(12, 0, 0),
}

EDITIONS = {
    "spring1942": Edition(_BASE),
    "aa50": Edition(_BASE, technologies=True),
    "1942_2nd": Edition(
        {**_BASE, **_AAA_FOR_5, **_TANK_FOR_6},
        aa_dice="three_per_gun",
        aa_choice="owner",
        aa_fate="destroyed",
    ),
    "revised": Edition({**_BASE, **_AAA_FOR_5, "bomber": UnitRow(15, 4, 1)}, jet_fighters="defence", technologies=True),
    "global40_2nd": Edition(
        {**_BASE, **_AAA_FOR_5, **_TANK_FOR_6, **_GLOBAL_ONLY},
        aa_dice="three_per_gun",
        aa_choice="owner",
        aa_fate="destroyed",
        heavy_bombers="best_of_two",
        technologies=True,
    ),
}


def clamp(value: int, sides: int) -> int:
    """Return the number of faces of a die that hit."""
    return min(max(value, 0), sides)


# --------------------------------------------------------------------------------------------------
# Scenarios
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Retreat:
    """When the attacker breaks off; 0 and False mean "never for this reason"."""

    possible: bool = True
    after_cycles: int = 0
    when_units_at_most: int = 0
    when_only_aircraft: bool = False


@dataclass(frozen=True)
class Force:
    """One side as the scenario describes it."""

    units: Mapping[str, int]
    loss_order: str | tuple[str, ...] = "default"
    keep_land: int = 0
    technologies: frozenset[str] = frozenset()
    retreat: Retreat = Retreat()

    def text(self) -> str:
        """Return the canonical list of units, which is part of the random key."""
        return ", ".join(f"{self.units[unit]} {unit}" for unit in UNITS if self.units.get(unit, 0))


@dataclass(frozen=True)
class Scenario:
    """A land battle, ready to be fought."""

    edition: Edition
    forces: tuple[Force, Force]
    cycle_limit: int = 0
    low_luck: str = "none"
    value: int = 0

    @property
    def guns_are_units(self) -> bool:
        """Whether the edition has AAA units that can be lost, not guns that are captured."""
        return self.edition.aa_fate == "destroyed"

    def row(self, unit: str) -> UnitRow:
        """Return the unit's line of the table."""
        return self.edition.units[unit]

    def value_of(self, side: int, unit: str) -> int:
        """Return the unit's own value in the role of `side`, technologies included, at most a die's faces."""
        row = self.row(unit)
        role = "attack" if side == ATTACKER else "defence"
        value = row.attack if side == ATTACKER else row.defence
        if unit == "fighter" and "jet_fighters" in self.forces[side].technologies and self.edition.jet_fighters == role:
            value += 1
        return clamp(value, self.edition.sides)


def parse_units(units: str | Mapping[str, int]) -> dict[str, int]:
    """Read ``"10 infantry, 5 tank"`` or ``{"infantry": 10}`` (long names only)."""
    if not isinstance(units, str):
        return dict(units)
    counts: dict[str, int] = {}
    for part in filter(None, (piece.strip() for piece in units.split(","))):
        number, unit = part.split()
        counts[unit] = counts.get(unit, 0) + int(number)
    return counts


def read_scenario(data: Mapping[str, Any], edition: Edition | None = None) -> Scenario:
    """Turn a scenario as a user writes it into a :class:`Scenario`.

    `edition` replaces the built-in edition that the scenario names.
    """
    rules = edition or EDITIONS[data.get("edition", "spring1942")]
    rules = replace(rules, **data.get("switches", {}))
    forces = []
    for side in SIDES:
        table = data.get(side, {})
        order = table.get("loss_order", "default")
        forces.append(
            Force(
                units=parse_units(table.get("units", {})),
                loss_order=order if isinstance(order, str) else tuple(order),
                keep_land=table.get("keep_land", 0),
                technologies=frozenset(table.get("technologies", ())),
                retreat=Retreat(**table.get("retreat", {})),
            )
        )
    return Scenario(
        edition=rules,
        forces=(forces[0], forces[1]),
        cycle_limit=data.get("cycle_limit", 0),
        low_luck=data.get("low_luck", "none"),
        value=data.get("territory", {}).get("value", 0),
    )


def type_order(scenario: Scenario, side: int) -> list[str]:
    """Return the unit types of a side in the order in which they are lost."""
    default = [unit for unit in DEFAULT_ORDER[side] if unit in scenario.edition.units]
    wish = scenario.forces[side].loss_order
    if wish == "default":
        return default
    if wish == "cheapest":
        return sorted(default, key=lambda unit: (scenario.row(unit).cost, scenario.value_of(side, unit)))
    if wish == "weakest":
        return sorted(default, key=lambda unit: (scenario.value_of(side, unit), scenario.row(unit).cost))
    listed = list(wish)
    return listed + [unit for unit in default if unit not in listed]


def muster(scenario: Scenario, side: int) -> list[str]:
    """Return the stack of a side: every unit that can be lost, first loss first."""
    force = scenario.forces[side]
    stack: list[str] = []
    for unit in type_order(scenario, side):
        if unit == "aa_gun" and not scenario.guns_are_units:
            continue
        stack += [unit] * force.units.get(unit, 0)
    kept = min(force.keep_land, sum(unit in LAND for unit in stack))
    if kept:
        places = [place for place, unit in enumerate(stack) if unit in LAND][-kept:]
        stack = [unit for place, unit in enumerate(stack) if place not in places] + [stack[place] for place in places]
    return stack


# --------------------------------------------------------------------------------------------------
# Dice
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Throw:
    """Dice that are thrown together: `sure` hits, plus those of `dice` dice with `chance` each."""

    cycle: int
    step: int
    side: int
    group: int
    dice: int
    chance: Fraction
    sure: int = 0


class Dice(Protocol):
    """Whatever says how many of some dice hit."""

    def hits(self, throw: Throw) -> int:
        """Return the number of hits among ``throw.dice`` (at least one) dice."""


def philox(counter: Sequence[int], key: Sequence[int]) -> tuple[int, int, int, int]:
    """Philox4x32 with ten rounds."""
    low = 0xFFFFFFFF
    x0, x1, x2, x3 = counter
    k0, k1 = key
    for _ in range(10):
        product0 = 0xD2511F53 * x0
        product1 = 0xCD9E8D57 * x2
        x0, x1, x2, x3 = (
            (product1 >> 32) ^ x1 ^ k0,
            product1 & low,
            (product0 >> 32) ^ x3 ^ k1,
            product0 & low,
        )
        k0 = (k0 + 0x9E3779B9) & low
        k1 = (k1 + 0xBB67AE85) & low
    return x0, x1, x2, x3


@cache
def bounds(dice: int, chance: Fraction) -> tuple[int, ...]:
    """Return ``floor(2**64 * P(Binomial(dice, chance) <= k))`` for k = 0 .. dice."""
    hit, all_faces = chance.numerator, chance.denominator
    total = all_faces**dice
    running = 0
    out = []
    for hits in range(dice + 1):
        running += comb(dice, hits) * hit**hits * (all_faces - hit) ** (dice - hits)
        out.append((running << 64) // total)
    return tuple(out)


def random_key(scenario: Scenario, seed: int, pairing: str = "matchup") -> tuple[int, int]:
    """Return the two words of the Philox key."""
    lines = ["simcore-rng-1", str(seed)]
    if pairing == "matchup":
        lines += [force.text() for force in scenario.forces]
    elif pairing != "common":
        raise ValueError(pairing)
    digest = hashlib.sha256("\n".join(lines).encode()).digest()
    return int.from_bytes(digest[:4], "little"), int.from_bytes(digest[4:8], "little")


@dataclass
class RandomDice:
    """The dice of one numbered battle: every throw has its own address. Remembers what was thrown."""

    key: tuple[int, int]
    battle: int
    thrown: list[tuple[Throw, int]] = field(default_factory=list)

    def word(self, throw: Throw) -> int:
        """Return the 64 random bits at the throw's address."""
        tag = throw.cycle << 12 | throw.step << 7 | throw.side << 6 | throw.group
        x0, x1, _, _ = philox((0, tag, self.battle & 0xFFFFFFFF, self.battle >> 32), self.key)
        return x0 | x1 << 32

    def hits(self, throw: Throw) -> int:
        word = self.word(throw)
        hits = next(k for k, bound in enumerate(bounds(throw.dice, throw.chance)) if word < bound)
        self.thrown.append((throw, hits))
        return hits


@dataclass
class ScriptedDice:
    """Hits given in advance, one number per throw; remembers what was thrown."""

    script: list[int]
    thrown: list[tuple[Throw, int]] = field(default_factory=list)

    def hits(self, throw: Throw) -> int:
        hits = self.script[len(self.thrown)]
        if not 0 <= hits <= throw.dice:
            raise ValueError(f"{hits} hits with {throw.dice} dice")
        self.thrown.append((throw, hits))
        return hits


# --------------------------------------------------------------------------------------------------
# The steps
# --------------------------------------------------------------------------------------------------


@dataclass
class State:
    """The two stacks."""

    attackers: list[str]
    defenders: list[str]

    def stack(self, side: int) -> list[str]:
        return self.attackers if side == ATTACKER else self.defenders

    def fighting_defenders(self) -> list[str]:
        """Return the defending combat units: AAA units are none."""
        return [unit for unit in self.defenders if unit != "aa_gun"]


def pool(throws: Iterable[Throw], *, low_luck: bool, group: int | None = None) -> list[Throw]:
    """Turn the throws of one side and step into those of low luck, if that is asked for.

    The whole part of the mean is certain; one die decides the rest, at the address of `group`.
    """
    throws = [throw for throw in throws if throw.dice > 0]
    if not low_luck or not throws:
        return throws
    mean = sum((throw.dice * throw.chance for throw in throws), Fraction(0))
    sure = mean.numerator // mean.denominator
    rest = mean - sure
    first = throws[0]
    return [
        replace(
            first,
            group=first.group if group is None else group,
            dice=1 if rest else 0,
            chance=rest,
            sure=sure,
        )
    ]


def aa_throws(scenario: Scenario, state: State) -> list[Throw]:
    """GC-4.0.1, GC-4.0.2, 2.3 `aa_dice`, `aa_choice`: the dice of the guns, in the order of throwing."""
    guns = scenario.forces[DEFENDER].units.get("aa_gun", 0)
    aircraft = [unit for unit in state.attackers if unit in AIRCRAFT]
    if guns == 0 or not aircraft:
        return []
    dice = len(aircraft)
    if scenario.edition.aa_dice == "three_per_gun":
        dice = min(3 * guns, dice)
    value = 2 if "radar" in scenario.forces[DEFENDER].technologies else 1
    chance = Fraction(clamp(value, scenario.edition.sides), scenario.edition.sides)
    low_luck = scenario.low_luck in {"aa", "both"}

    if scenario.edition.aa_choice == "owner":
        throw = Throw(0, STEP_AA, DEFENDER, GROUP_ANY_AIRCRAFT, dice, chance)
        return pool([throw], low_luck=low_luck)

    share: dict[str, int] = {}
    for unit in type_order(scenario, ATTACKER):
        if unit in AIRCRAFT:
            share[unit] = min(dice, aircraft.count(unit))
            dice -= share[unit]
    throws = []
    for unit in AIRCRAFT:
        throw = Throw(0, STEP_AA, DEFENDER, TYPE[unit], share.get(unit, 0), chance)
        throws += pool([throw], low_luck=low_luck)
    return throws


def apply_aa(state: State, group: int, hits: int) -> None:
    """GC-4.0.2, GC-4.0.3: the owner loses one aircraft a hit, of the type that was fired at."""
    for _ in range(hits):
        targets = [unit for unit in state.attackers if unit in AIRCRAFT and group in {TYPE[unit], GROUP_ANY_AIRCRAFT}]
        if targets:
            state.attackers.remove(targets[0])


def firing_groups(scenario: Scenario, side: int, stack: Sequence[str]) -> list[tuple[int, int, Fraction]]:
    """GC-4.0.5, GC-4.3.1, GC-4.3.3, GC-4.4.1: (group, dice, chance) of everything that a side fires."""
    count = Counter(unit for unit in stack if unit != "aa_gun")
    tech = scenario.forces[side].technologies
    sides = scenario.edition.sides
    supported: Counter[str] = Counter()
    if side == ATTACKER:
        left = count["artillery"] * (2 if "advanced_artillery" in tech else 1)
        for unit in ("infantry", "mech_infantry"):
            if count[unit] and scenario.row(unit).supported:
                supported[unit] = min(count[unit], left)
                left -= supported[unit]
        if count["tactical_bomber"] and scenario.row("tactical_bomber").supported:
            supported["tactical_bomber"] = min(count["tactical_bomber"], count["fighter"] + count["tank"])

    groups = []
    for unit in count:
        base = scenario.value_of(side, unit)
        plain = count[unit] - supported[unit]
        chance = Fraction(base, sides)
        if side == ATTACKER and unit == "bomber" and "heavy_bombers" in tech:
            if scenario.edition.heavy_bombers == "both_dice":
                plain *= 2
            else:
                chance = 1 - (1 - chance) ** 2
        if plain and base:
            groups.append((TYPE[unit], plain, chance))
        better = clamp(scenario.row(unit).supported, sides)
        if supported[unit]:
            groups.append((SUPPORTED + TYPE[unit], supported[unit], Fraction(better, sides)))
    return sorted(groups)


def combat_throws(scenario: Scenario, side: int, stack: Sequence[str], cycle: int) -> list[Throw]:
    """Return the dice of one side in one cycle, in the order of throwing."""
    step = STEP_ATTACK if side == ATTACKER else STEP_DEFENCE
    throws = [
        Throw(cycle, step, side, group, dice, chance) for group, dice, chance in firing_groups(scenario, side, stack)
    ]
    return pool(throws, low_luck=scenario.low_luck in {"combat", "both"}, group=GROUP_REMAINDER)


def remove_losses(stack: list[str], hits: int) -> None:
    """GC-4.8.4, GC-4.8.6, GC-8.23: one unit a hit in the owner's order; hits beyond the stack are lost."""
    del stack[:hits]


def condition_a(scenario: Scenario, state: State, cycle: int) -> str | None:
    """GC-4.6.2 to GC-4.6.4 and the conclusion 4.7: the outcome if the battle is over, else None.

    AAA units that stand alone against attackers are destroyed here.
    """
    attackers, fighters = state.attackers, state.fighting_defenders()
    if not attackers:
        # Before the first cycle only a gun can have shot the attackers down: the defence stands.
        return "defender_wins" if state.defenders or cycle == 0 else "both_destroyed"
    if not fighters:
        state.defenders.clear()
        return "attacker_wins" if any(unit in LAND for unit in attackers) else "attacker_clears"
    if not firing_groups(scenario, ATTACKER, attackers) and not firing_groups(scenario, DEFENDER, fighters):
        return "stand_off"
    return None


def condition_b(scenario: Scenario, state: State, cycle: int) -> bool:
    """GC-4.6.7, GC-4.6.8, GC-4.6.11, GC-4.6.12: whether the attacker breaks off after this cycle."""
    retreat = scenario.forces[ATTACKER].retreat
    only_aircraft = not any(unit in LAND for unit in state.attackers)
    wanted = (
        0 < retreat.after_cycles <= cycle
        or len(state.attackers) <= retreat.when_units_at_most
        or (retreat.when_only_aircraft and only_aircraft)
    )
    return wanted and (retreat.possible or only_aircraft)


def after_cycle(scenario: Scenario, state: State, cycle: int) -> str | None:
    """Step 6: A, then B, then the cycle limit; the outcome, or None when the battle goes on."""
    outcome = condition_a(scenario, state, cycle)
    if outcome is None and condition_b(scenario, state, cycle):
        return "attacker_retreats"
    if outcome is None and scenario.cycle_limit and cycle >= scenario.cycle_limit:
        return "unfinished"
    return outcome


# --------------------------------------------------------------------------------------------------
# A battle
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Battle:
    """How a battle ended."""

    outcome: str
    cycles: int
    survivors: tuple[dict[str, int], dict[str, int]]
    cost_lost: tuple[int, int]
    captured_value: int
    guns: int
    complexes: int

    @property
    def swing(self) -> int:
        """Return the defender's cost lost minus the attacker's."""
        return self.cost_lost[DEFENDER] - self.cost_lost[ATTACKER]


def conclude(scenario: Scenario, state: State, outcome: str, cycles: int) -> Battle:
    """Step 7: losses, survivors and what changes hands (GC-4.7.1 to GC-4.7.4)."""
    lost = []
    for side in (ATTACKER, DEFENDER):
        start = Counter(muster(scenario, side))
        start.subtract(Counter(state.stack(side)))
        lost.append(sum(scenario.row(unit).cost * number for unit, number in start.items()))
    captured = outcome == "attacker_wins"
    enemy = scenario.forces[DEFENDER].units
    return Battle(
        outcome=outcome,
        cycles=cycles,
        survivors=(dict(Counter(state.attackers)), dict(Counter(state.defenders))),
        cost_lost=(lost[0], lost[1]),
        captured_value=scenario.value if captured else 0,
        guns=enemy.get("aa_gun", 0) if captured and not scenario.guns_are_units else 0,
        complexes=enemy.get("industrial_complex", 0) if captured else 0,
    )


def throw_all(throws: Iterable[Throw], dice: Dice) -> int:
    """Return the hits of several throws together."""
    return sum(throw.sure + (dice.hits(throw) if throw.dice else 0) for throw in throws)


def fight(scenario: Scenario, dice: Dice) -> Battle:
    """Fight one battle from the first shot of the guns to the conclusion."""
    state = State(muster(scenario, ATTACKER), muster(scenario, DEFENDER))
    for throw in aa_throws(scenario, state):
        apply_aa(state, throw.group, throw_all([throw], dice))
    cycle = 0
    outcome = condition_a(scenario, state, cycle)
    while outcome is None:
        cycle += 1
        attack = throw_all(combat_throws(scenario, ATTACKER, state.attackers, cycle), dice)
        defence = throw_all(combat_throws(scenario, DEFENDER, state.defenders, cycle), dice)
        remove_losses(state.defenders, attack)
        remove_losses(state.attackers, defence)
        outcome = after_cycle(scenario, state, cycle)
    return conclude(scenario, state, outcome, cycle)


def battle(data: Mapping[str, Any] | Scenario, number: int = 0, *, seed: int = 1, pairing: str = "matchup") -> Battle:
    """Fight the battle with this number, with the dice that the sampler would throw."""
    scenario = data if isinstance(data, Scenario) else read_scenario(data)
    return fight(scenario, RandomDice(random_key(scenario, seed, pairing), number))


def scripted(data: Mapping[str, Any] | Scenario, script: Sequence[int]) -> tuple[Battle, ScriptedDice]:
    """Fight with hits given in advance; the dice returned remember every throw."""
    scenario = data if isinstance(data, Scenario) else read_scenario(data)
    dice = ScriptedDice(list(script))
    return fight(scenario, dice), dice
