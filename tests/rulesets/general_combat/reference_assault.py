"""A plain and slow reading of the rules of amphibious assaults in ``general_combat``.

Written from the rule text alone and sharing no code with ``simcore``. Fire, orders of loss and the sea
battle come from the references of land and sea battles; what is here is the shore: landed units, which
cannot leave, the ships that bombard, and how the two battles of an assault make one result.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.rulesets.general_combat.reference import (
    AIRCRAFT,
    ATTACKER,
    DEFENDER,
    EDITIONS,
    GROUP_ANY_AIRCRAFT,
    GROUP_REMAINDER,
    LAND,
    SIDES,
    TYPE,
    Battle,
    Dice,
    Edition,
    Force,
    RandomDice,
    Retreat,
    Scenario,
    ScriptedDice,
    State,
    Throw,
    aa_throws,
    clamp,
    combat_throws,
    firing_groups,
    muster,
    parse_units,
    pool,
    random_key,
    throw_all,
    type_order,
)
from tests.rulesets.general_combat.reference_sea import (
    SEA_EDITIONS,
    SeaBattle,
    SeaEdition,
    SeaScenario,
    fight_at_sea,
    read_sea,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    Roll = Callable[[list[Throw]], int]

# Fields of a random address.
STEP_BOMBARD = 1
SEA_STEPS = 8
"""What is added to the steps of the sea battle of an assault: its cycles have the same numbers as those on land."""


# --------------------------------------------------------------------------------------------------
# Editions
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class AssaultEdition(SeaEdition):
    """Unit table and switches of one edition, as far as land battles, sea battles and landings need them."""

    bombard: Mapping[str, int] = field(default_factory=dict)
    bombard_return_fire: bool = True
    bombard_cap: bool = True
    amphib_retreat: str = "aircraft_and_overland"


def both(land: Edition, sea: SeaEdition, **switches: Any) -> AssaultEdition:
    """Join what an edition says about land and about sea battles, and add the switches of landings."""
    rules = {part.name: getattr(sea, part.name) for part in fields(SeaEdition)}
    rules |= {part.name: getattr(land, part.name) for part in fields(Edition) if part.name != "units"}
    return AssaultEdition(**rules | switches)


_USUAL = {"cruiser": 3, "battleship": 4}
_SHORE: dict[str, dict[str, Any]] = {
    "revised": {
        "bombard": {"battleship": 4},
        "bombard_return_fire": False,
        "bombard_cap": False,
        "amphib_retreat": "aircraft",
    }
}
COMBINED_BOMBARDMENT = 3
"""GC-7: the value at which destroyers bombard with that technology."""

ASSAULT_EDITIONS = {
    name: both(land, SEA_EDITIONS[name], **_SHORE.get(name, {"bombard": _USUAL})) for name, land in EDITIONS.items()
}


# --------------------------------------------------------------------------------------------------
# Scenarios
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Territory:
    """What is fought over (GC-4.7.3 to GC-4.7.6)."""

    value: int = 0
    owner: str = "defender"
    original_owner: str = "defender"
    original_capital_held_by: str = "friend"
    capital: bool = False
    treasury: int = 0

    @property
    def liberated(self) -> bool:
        """GC-4.7.5: whether the territory goes back to a friend of the attacker who takes it."""
        return self.original_owner == "friend" and (self.capital or self.original_capital_held_by == "friend")

    @property
    def spoils(self) -> int:
        """GC-4.7.6: the money that the captor takes."""
        return self.treasury if self.capital and self.original_owner == "defender" else 0


@dataclass(frozen=True)
class ShoreScenario(Scenario):
    """A land battle with landed units, ready to be fought; `landed` are among the units of the attacker."""

    edition: AssaultEdition
    landed: Mapping[str, int] = field(default_factory=dict)
    bombard: Mapping[str, int] = field(default_factory=dict)
    territory: Territory = Territory()

    def bombard_value(self, ship: str) -> int:
        """Return the value at which a ship bombards, at most a die's faces; 0 = it cannot."""
        value = self.edition.bombard.get(ship, 0)
        if ship == "destroyer" and "combined_bombardment" in self.forces[ATTACKER].technologies:
            value = COMBINED_BOMBARDMENT
        return clamp(value, self.edition.sides)


@dataclass(frozen=True)
class AssaultScenario:
    """A sea battle and the landing after it, ready to be fought."""

    sea: SeaScenario
    land: ShoreScenario


def rules_of(data: Mapping[str, Any], edition: AssaultEdition | None) -> AssaultEdition:
    """Return the edition that a scenario names, or the one given, with the scenario's switches."""
    rules = edition or ASSAULT_EDITIONS[data.get("edition", "spring1942")]
    return replace(rules, **data.get("switches", {}))


def read_shore(data: Mapping[str, Any], edition: AssaultEdition | None = None) -> ShoreScenario:
    """Turn the land part of a scenario as a user writes it into a :class:`ShoreScenario`."""
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
    attacker = data.get("attacker", {})
    landed = attacker.get("landed", {})
    if landed == "all":
        landed = {unit: number for unit, number in forces[ATTACKER].units.items() if unit in LAND}
    territory = Territory(**data.get("territory", {}))
    return ShoreScenario(
        edition=rules_of(data, edition),
        forces=(forces[0], forces[1]),
        cycle_limit=data.get("cycle_limit", 0),
        low_luck=data.get("low_luck", "none"),
        value=territory.value,
        landed=parse_units(landed),
        bombard=parse_units(attacker.get("bombard", {})),
        territory=territory,
    )


def added(loads: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Return the units of several lists in one."""
    total: Counter[str] = Counter()
    for load in loads:
        total.update(load)
    return {unit: number for unit, number in total.items() if number}


def read_assault(data: Mapping[str, Any], edition: AssaultEdition | None = None) -> AssaultScenario:
    """Turn an assault as a user writes it into an :class:`AssaultScenario`."""
    fleets = {
        side: data["sea"].get(side, {}) | {"technologies": data.get(side, {}).get("technologies", ())} for side in SIDES
    }
    frame = {name: data[name] for name in ("cycle_limit", "low_luck") if name in data}
    sea = read_sea(fleets | frame, rules_of(data, edition))
    land = read_shore(data, edition)
    return AssaultScenario(sea, replace(land, landed=added(sea.forces[ATTACKER].cargo)))


# --------------------------------------------------------------------------------------------------
# The shore
# --------------------------------------------------------------------------------------------------


class Soldier(NamedTuple):
    """An attacking unit on land, and whether it came by sea."""

    unit: str
    landed: bool = False


@dataclass
class Shore:
    """Who is on the board, in order of loss, and who has left it.

    `doomed` are the defenders hit by the bombardment who have not fired yet; `retreated` are those who left
    while others stayed.
    """

    attackers: list[Soldier]
    defenders: list[str]
    doomed: list[str] = field(default_factory=list)
    retreated: list[Soldier] = field(default_factory=list)
    bombard_hits: int = 0

    def attacking(self) -> list[str]:
        """Return the unit types of the attackers on the board."""
        return [soldier.unit for soldier in self.attackers]


def muster_shore(scenario: ShoreScenario) -> Shore:
    """Return the two sides; of the attackers of a type, those that landed are lost first."""
    force = scenario.forces[ATTACKER]
    stack: list[Soldier] = []
    for unit in type_order(scenario, ATTACKER):
        landed = scenario.landed.get(unit, 0)
        stack += [Soldier(unit, landed=True)] * landed
        stack += [Soldier(unit)] * (force.units.get(unit, 0) - landed)
    kept: list[Soldier] = []
    for place in reversed(range(len(stack))):
        if stack[place].unit in LAND and len(kept) < force.keep_land:
            kept.insert(0, stack.pop(place))
    return Shore(stack + kept, muster(scenario, DEFENDER))


def fire_guns(scenario: ShoreScenario, shore: Shore, roll: Roll) -> None:
    """GC-4.0.1 to GC-4.0.3: the guns fire at the aircraft, as in any land battle."""
    for throw in aa_throws(scenario, State(shore.attacking(), shore.defenders)):
        targets = (
            AIRCRAFT if throw.group == GROUP_ANY_AIRCRAFT else [unit for unit in AIRCRAFT if TYPE[unit] == throw.group]
        )
        for _ in range(roll([throw])):
            hit = next((soldier for soldier in shore.attackers if soldier.unit in targets), None)
            if hit is not None:
                shore.attackers.remove(hit)


def bombard_throws(scenario: ShoreScenario, shore: Shore) -> list[Throw]:
    """GC-5.4: one die for every ship that bombards, the strongest first where not all of them may."""
    landed = sum(soldier.landed for soldier in shore.attackers)
    if landed == 0 or not shore.defenders:
        return []
    ships = [ship for ship, number in scenario.bombard.items() for _ in range(number)]
    ships.sort(key=lambda ship: (-scenario.bombard_value(ship), TYPE[ship]))
    if scenario.edition.bombard_cap:
        ships = ships[:landed]
    throws = [
        Throw(
            1,
            STEP_BOMBARD,
            ATTACKER,
            TYPE[ship],
            number,
            Fraction(scenario.bombard_value(ship), scenario.edition.sides),
        )
        for ship, number in Counter(ships).items()
        if scenario.bombard_value(ship)
    ]
    throws.sort(key=lambda throw: throw.group)
    return pool(throws, low_luck=scenario.low_luck in {"combat", "both"}, group=GROUP_REMAINDER)


def bombard(scenario: ShoreScenario, shore: Shore, roll: Roll) -> None:
    """GC-5.5: a hit takes the next unit of the owner's order; whether it fires once more is a switch."""
    throws = bombard_throws(scenario, shore)
    if not throws:
        return
    shore.bombard_hits = roll(throws)
    hit = shore.defenders[: shore.bombard_hits]
    del shore.defenders[: shore.bombard_hits]
    if scenario.edition.bombard_return_fire:
        shore.doomed = hit


def condition_a(scenario: ShoreScenario, shore: Shore, cycle: int) -> str | None:
    """GC-4.6.2 to GC-4.6.4 and 4.7.1: the outcome if the battle is over, else None.

    The doomed of the bombardment keep the battle going until they have fired, if they can fire at all.
    """
    fighting = [unit for unit in shore.defenders if unit != "aa_gun"]
    still_to_fire = bool(firing_groups(scenario, DEFENDER, shore.doomed))
    if shore.attackers and (fighting or still_to_fire):
        can_fire = (
            still_to_fire
            or firing_groups(scenario, DEFENDER, fighting)
            or firing_groups(scenario, ATTACKER, shore.attacking())
        )
        if can_fire:
            return None
    shore.doomed = []
    if not shore.attackers:
        if shore.defenders or cycle == 0:
            return "defender_wins"
        return "attacker_retreats" if shore.retreated else "both_destroyed"
    if fighting:
        return "stand_off"
    shore.defenders = []
    return "attacker_wins" if any(unit in LAND for unit in shore.attacking()) else "attacker_clears"


def leaving(scenario: ShoreScenario, shore: Shore, cycle: int) -> list[Soldier]:
    """GC-4.6.7, GC-5.6: those who break off after this cycle; whoever has landed stays."""
    retreat = scenario.forces[ATTACKER].retreat
    wanted = (
        0 < retreat.after_cycles <= cycle
        or len(shore.attackers) <= retreat.when_units_at_most
        or (retreat.when_only_aircraft and not any(unit in LAND for unit in shore.attacking()))
    )
    overland_too = scenario.edition.amphib_retreat == "aircraft_and_overland"
    group = [
        soldier for soldier in shore.attackers if soldier.unit in AIRCRAFT or (overland_too and not soldier.landed)
    ]
    needs_space = any(soldier.unit in LAND for soldier in group)
    return group if wanted and (retreat.possible or not needs_space) else []


def step_6(scenario: ShoreScenario, shore: Shore, cycle: int) -> str | None:
    """A, then B, then A for those who stay, then the cycle limit; None when the battle goes on."""
    outcome = condition_a(scenario, shore, cycle)
    if outcome is not None:
        return outcome
    group = leaving(scenario, shore, cycle)
    if group:
        if len(group) == len(shore.attackers):
            return "attacker_retreats"
        shore.retreated += group
        for soldier in group:
            shore.attackers.remove(soldier)
        outcome = condition_a(scenario, shore, cycle)
    if outcome is None and scenario.cycle_limit and cycle >= scenario.cycle_limit:
        return "unfinished"
    return outcome


def open_battle(scenario: ShoreScenario, shore: Shore, roll: Roll) -> str | None:
    """Everything before the first cycle: the guns, the ships, condition A."""
    fire_guns(scenario, shore, roll)
    bombard(scenario, shore, roll)
    return condition_a(scenario, shore, 0)


def fight_cycle(scenario: ShoreScenario, shore: Shore, cycle: int, roll: Roll) -> str | None:
    """Steps 3 to 6: both sides fire as they stand, the doomed too, then all losses leave."""
    attack = roll(combat_throws(scenario, ATTACKER, shore.attacking(), cycle))
    defence = roll(combat_throws(scenario, DEFENDER, shore.defenders + shore.doomed, cycle))
    shore.doomed = []
    del shore.defenders[:attack]
    del shore.attackers[:defence]
    return step_6(scenario, shore, cycle)


# --------------------------------------------------------------------------------------------------
# A landing
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Landing(Battle):
    """How a land battle with landed units ended; units that retreated are among the survivors."""

    treasury: int
    liberated: bool
    retreated: int
    bombard_hits: int


def price(scenario: Scenario, units: Mapping[str, int]) -> int:
    """Return what units cost."""
    return sum(scenario.row(unit).cost * number for unit, number in units.items())


def conclude(scenario: ShoreScenario, shore: Shore, outcome: str, cycles: int) -> Landing:
    """Step 7: losses, survivors and what changes hands (GC-4.7.1 to GC-4.7.6)."""
    start = muster_shore(scenario)
    left = Counter(shore.attacking() + [soldier.unit for soldier in shore.retreated]), Counter(shore.defenders)
    lost = Counter(start.attacking()) - left[ATTACKER], Counter(start.defenders) - left[DEFENDER]
    captured = outcome == "attacker_wins"
    enemy = scenario.forces[DEFENDER].units
    return Landing(
        outcome=outcome,
        cycles=cycles,
        survivors=(dict(left[ATTACKER]), dict(left[DEFENDER])),
        cost_lost=(price(scenario, lost[ATTACKER]), price(scenario, lost[DEFENDER])),
        captured_value=scenario.value if captured else 0,
        guns=enemy.get("aa_gun", 0) if captured and not scenario.guns_are_units else 0,
        complexes=enemy.get("industrial_complex", 0) if captured else 0,
        treasury=scenario.territory.spoils if captured else 0,
        liberated=captured and scenario.territory.liberated,
        retreated=len(shore.retreated),
        bombard_hits=shore.bombard_hits,
    )


def land(scenario: ShoreScenario, dice: Dice) -> Landing:
    """Fight one land battle with landed units from the first shot of the guns to the conclusion."""

    def roll(throws: list[Throw]) -> int:
        return throw_all(throws, dice)

    shore = muster_shore(scenario)
    cycle = 0
    outcome = open_battle(scenario, shore, roll)
    while outcome is None:
        cycle += 1
        outcome = fight_cycle(scenario, shore, cycle, roll)
    return conclude(scenario, shore, outcome, cycle)


def landing(
    data: Mapping[str, Any] | ShoreScenario, number: int = 0, *, seed: int = 1, pairing: str = "matchup"
) -> Landing:
    """Fight the battle with this number, with the dice that the sampler would throw."""
    scenario = data if isinstance(data, ShoreScenario) else read_shore(data)
    return land(scenario, RandomDice(random_key(scenario, seed, pairing), number))


def scripted_landing(data: Mapping[str, Any] | ShoreScenario, script: Sequence[int]) -> tuple[Landing, ScriptedDice]:
    """Fight with hits given in advance; the dice returned remember every throw."""
    scenario = data if isinstance(data, ShoreScenario) else read_shore(data)
    dice = ScriptedDice(list(script))
    return land(scenario, dice), dice


# --------------------------------------------------------------------------------------------------
# An assault
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Assault(Battle):
    """How a sea battle and the landing after it ended, together and apart.

    `aboard` is the attacker's cargo that is still afloat; after a sea battle that was won it is `landed`
    and fights the land battle, which is None where nobody was there to fight it.
    """

    sea: SeaBattle
    aboard: dict[str, int]
    landed: dict[str, int]
    land: Landing | None

    @property
    def treasury(self) -> int:
        """Return the money that was taken."""
        return self.land.treasury if self.land else 0

    @property
    def retreated(self) -> int:
        """Return the number of units that left the land battle while others stayed."""
        return self.land.retreated if self.land else 0

    @property
    def bombard_hits(self) -> int:
        """Return the hits of the bombardment."""
        return self.land.bombard_hits if self.land else 0


def afloat(scenario: SeaScenario, side: int, battle: SeaBattle) -> dict[str, int]:
    """GC-3.5: the cargo of a side that is left: the loads listed last are lost last."""
    cargo = scenario.forces[side].cargo
    ships = min(battle.survivors[side].get("transport", 0), len(cargo))
    return added(cargo[len(cargo) - ships :])


def on_land(scenario: AssaultScenario, sea: SeaBattle) -> ShoreScenario:
    """GC-5.2, GC-5.3, GC-5.7: the land battle that follows: who has landed, and everybody who came over land."""
    attacker, defender = scenario.land.forces
    landed = afloat(scenario.sea, ATTACKER, sea) if sea.outcome == "attacker_wins" else {}
    there = Counter(attacker.units)
    there.subtract(scenario.land.landed)
    there.update(landed)
    return replace(
        scenario.land,
        forces=(replace(attacker, units=dict(+there)), defender),
        landed=landed,
        bombard={} if scenario.sea.forces[DEFENDER].units else scenario.land.bombard,
    )


def without_landing(shore: ShoreScenario, sea: SeaBattle) -> str:
    """Return the outcome of an assault without a land battle: nobody is there for it, or the ships still fight."""
    if sea.outcome in {"attacker_retreats", "stand_off", "unfinished"}:
        return sea.outcome
    if sea.outcome == "both_destroyed" and not muster(shore, DEFENDER):
        return "both_destroyed"
    return "defender_wins"


def join(scenario: AssaultScenario, sea: SeaBattle, shore: ShoreScenario, land: Landing | None) -> Assault:
    """Add the two battles up; without a land battle, everybody who stands on land lives."""
    idle = dict(Counter(muster_shore(shore).attacking())), dict(Counter(muster(shore, DEFENDER)))
    aboard = afloat(scenario.sea, ATTACKER, sea)
    ashore = land.survivors if land else idle
    lost = land.cost_lost if land else (0, 0)
    waiting = {} if shore.landed else aboard
    return Assault(
        outcome=land.outcome if land else without_landing(shore, sea),
        cycles=sea.cycles + (land.cycles if land else 0),
        survivors=(
            added([sea.survivors[ATTACKER], waiting, ashore[ATTACKER]]),
            added([sea.survivors[DEFENDER], ashore[DEFENDER]]),
        ),
        cost_lost=(sea.cost_lost[ATTACKER] + lost[ATTACKER], sea.cost_lost[DEFENDER] + lost[DEFENDER]),
        captured_value=land.captured_value if land else 0,
        guns=land.guns if land else 0,
        complexes=land.complexes if land else 0,
        sea=sea,
        aboard=aboard,
        landed=dict(shore.landed),
        land=land,
    )


@dataclass
class SeaDice:
    """The same dice at the addresses of the sea battle of an assault."""

    dice: Dice

    def hits(self, throw: Throw) -> int:
        return self.dice.hits(replace(throw, step=throw.step + SEA_STEPS))


def fight_assault(scenario: AssaultScenario, dice: Dice) -> Assault:
    """Fight the sea battle, then the land battle with whoever is there."""
    # Where nobody meets the fleet the sea battle ends before its first die.
    sea = fight_at_sea(scenario.sea, SeaDice(dice))
    shore = on_land(scenario, sea)
    fought = sea.outcome != "unfinished" and bool(muster_shore(shore).attackers)
    return join(scenario, sea, shore, land(shore, dice) if fought else None)


def assault_key(scenario: AssaultScenario, seed: int, pairing: str = "matchup") -> tuple[int, int]:
    """Return the two words of the Philox key: the units of both battles count, those of a type together."""
    forces = [
        replace(land, units=added([land.units, sea.units]))
        for land, sea in zip(scenario.land.forces, scenario.sea.forces, strict=True)
    ]
    return random_key(replace(scenario.land, forces=(forces[0], forces[1])), seed, pairing)


def assault(
    data: Mapping[str, Any] | AssaultScenario, number: int = 0, *, seed: int = 1, pairing: str = "matchup"
) -> Assault:
    """Fight the assault with this number, with the dice that the sampler would throw."""
    scenario = data if isinstance(data, AssaultScenario) else read_assault(data)
    return fight_assault(scenario, RandomDice(assault_key(scenario, seed, pairing), number))


def scripted_assault(data: Mapping[str, Any] | AssaultScenario, script: Sequence[int]) -> tuple[Assault, ScriptedDice]:
    """Fight with hits given in advance; the dice returned remember every throw."""
    scenario = data if isinstance(data, AssaultScenario) else read_assault(data)
    dice = ScriptedDice(list(script))
    return fight_assault(scenario, dice), dice
