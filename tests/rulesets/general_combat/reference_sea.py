"""A plain and slow reading of the sea rules of ``general_combat``.

Written from the rule text alone and sharing no code with ``simcore``; random words, numbers of hits and
land values come from the reference of land battles.

A side is a :class:`Fleet`: its pieces one by one. Hits are given out one by one too, by matching hits
with the places that may take them, so nothing here rests on a formula for whole classes of units.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.rulesets.general_combat.reference import (
    AIRCRAFT,
    ATTACKER,
    DEFENDER,
    EDITIONS,
    SIDES,
    STEP_ATTACK,
    STEP_DEFENCE,
    SUPPORTED,
    TYPE,
    UNITS,
    Battle,
    Dice,
    Edition,
    Force,
    RandomDice,
    Retreat,
    Scenario,
    ScriptedDice,
    Throw,
    UnitRow,
    clamp,
    parse_units,
    pool,
    random_key,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

# Fields of a random address.
STEP_STRIKE = 2
# The classes of hits in the order of their low-luck dice, with the address of each.
POOLED = {"other": 32, "air": 34, "sub": 35}

DAMAGE = ":damage"
DEFAULT_ORDER = (
    (
        *("battleship:damage", "carrier:damage", "submarine", "destroyer", "fighter", "tactical_bomber"),
        *("cruiser", "bomber", "carrier", "battleship", "transport"),
    ),
    (
        *("battleship:damage", "carrier:damage", "bomber", "submarine", "destroyer", "carrier", "cruiser"),
        *("fighter", "tactical_bomber", "battleship", "transport"),
    ),
)


# --------------------------------------------------------------------------------------------------
# Editions
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SeaRow(UnitRow):
    """A unit type that may take more than one hit."""

    hits: int = 1


@dataclass(frozen=True)
class SeaEdition(Edition):
    """Unit table and switches of one edition, as far as sea battles need them."""

    sub_first_strike: str = "no_enemy_destroyer"
    sub_submerge: str = "step_2"
    air_hits_subs: str = "with_destroyer"
    tt_last: bool = True
    tt_swept: bool = True
    submarine_strikes: str = "simultaneous"
    doomed_destroyer: str = "counts"
    bb_repair: str = "battle_end"


_SHIPS = {
    "submarine": SeaRow(6, 2, 1),
    "transport": SeaRow(7, 0, 0),
    "destroyer": SeaRow(8, 2, 2),
    "cruiser": SeaRow(12, 3, 3),
    "carrier": SeaRow(14, 1, 2),
    "battleship": SeaRow(20, 4, 4, hits=2),
}
_REVISED_SHIPS = {
    "submarine": SeaRow(8, 2, 2),
    "transport": SeaRow(8, 0, 1),
    "destroyer": SeaRow(12, 3, 3),
    "carrier": SeaRow(16, 1, 3),
    "battleship": SeaRow(24, 4, 4, hits=2),
}
_GLOBAL_SHIPS = {**_SHIPS, "carrier": SeaRow(16, 0, 2, hits=2)}


def at_sea(land: Edition, ships: Mapping[str, UnitRow], **switches: Any) -> SeaEdition:
    """Add ships and the switches of sea battles to an edition of land battles."""
    return SeaEdition(
        units={**land.units, **ships},
        sides=land.sides,
        heavy_bombers=land.heavy_bombers,
        jet_fighters=land.jet_fighters,
        technologies=land.technologies,
        **switches,
    )


SEA_EDITIONS = {
    "spring1942": at_sea(EDITIONS["spring1942"], _SHIPS),
    "aa50": at_sea(EDITIONS["aa50"], _SHIPS),
    "1942_2nd": at_sea(EDITIONS["1942_2nd"], _SHIPS),
    "revised": at_sea(
        EDITIONS["revised"],
        _REVISED_SHIPS,
        sub_first_strike="always",
        sub_submerge="cycle_end",
        air_hits_subs="always",
        tt_last=False,
        tt_swept=False,
    ),
    "global40_2nd": at_sea(EDITIONS["global40_2nd"], _GLOBAL_SHIPS, bb_repair="purchase_at_naval_base"),
}


# --------------------------------------------------------------------------------------------------
# Scenarios
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SeaRetreat(Retreat):
    """When the attacker breaks off; transports that are left alone do so unless told to stay."""

    when_transports_only: bool = True


@dataclass(frozen=True)
class SeaForce(Force):
    """One side of a sea battle as the scenario describes it."""

    retreat: SeaRetreat = SeaRetreat()
    damaged: Mapping[str, int] = field(default_factory=dict)
    submerge: str | Fraction = "never"
    cargo: tuple[Mapping[str, int], ...] = ()


@dataclass(frozen=True)
class SeaScenario(Scenario):
    """A sea battle, ready to be fought."""

    edition: SeaEdition
    forces: tuple[SeaForce, SeaForce]

    def value_of(self, side: int, unit: str) -> int:
        """Return the unit's value in the role of `side`, technologies included, at most a die's faces."""
        if unit == "submarine" and side == ATTACKER and "super_submarines" in self.forces[side].technologies:
            return clamp(self.row(unit).attack + 1, self.edition.sides)
        return super().value_of(side, unit)

    def hits_of(self, unit: str) -> int:
        """Return the hits that an undamaged unit takes."""
        row = self.row(unit)
        return row.hits if isinstance(row, SeaRow) else 1


def read_sea(data: Mapping[str, Any], edition: SeaEdition | None = None) -> SeaScenario:
    """Turn a scenario as a user writes it into a :class:`SeaScenario`.

    `edition` replaces the built-in edition that the scenario names.
    """
    rules = edition or SEA_EDITIONS[data.get("edition", "spring1942")]
    rules = replace(rules, **data.get("switches", {}))
    forces = []
    for side in SIDES:
        table = data.get(side, {})
        order = table.get("loss_order", "default")
        submerge = table.get("submerge", "never")
        forces.append(
            SeaForce(
                units=parse_units(table.get("units", {})),
                loss_order=order if isinstance(order, str) else tuple(order),
                technologies=frozenset(table.get("technologies", ())),
                retreat=SeaRetreat(**table.get("retreat", {})),
                damaged=parse_units(table.get("damaged", {})),
                # The ratio is meant as it is written: 1.1 is eleven tenths.
                submerge=submerge if isinstance(submerge, str) else Fraction(str(submerge["outnumbered"])),
                cargo=tuple(parse_units(load) for load in table.get("cargo", ())),
            )
        )
    return SeaScenario(
        edition=rules,
        forces=(forces[0], forces[1]),
        cycle_limit=data.get("cycle_limit", 0),
        low_luck=data.get("low_luck", "none"),
    )


# --------------------------------------------------------------------------------------------------
# Fleets
# --------------------------------------------------------------------------------------------------


class Piece(NamedTuple):
    """A ship or an aircraft: the hits it can still take, its load, whether it fired in step 2."""

    unit: str
    hits: int = 1
    load: int = -1
    fired: bool = False


@dataclass
class Fleet:
    """One side: what is on the board, lost but still to fire, and submerged."""

    board: list[Piece]
    strip: list[Piece] = field(default_factory=list)
    submerged: int = 0


Fleets = tuple[Fleet, Fleet]


def muster_fleet(scenario: SeaScenario, side: int) -> Fleet:
    """Return the fleet of a side; transports stand in the order in which they are lost, the unloaded first."""
    force = scenario.forces[side]
    board: list[Piece] = []
    for unit in UNITS:
        number = force.units.get(unit, 0)
        if number == 0:
            continue
        if unit == "transport":
            empty = number - len(force.cargo)
            board += [Piece(unit)] * empty + [Piece(unit, load=load) for load in range(len(force.cargo))]
        else:
            hurt = force.damaged.get(unit, 0)
            board += [Piece(unit)] * hurt + [Piece(unit, scenario.hits_of(unit))] * (number - hurt)
    return Fleet(board)


def has(pieces: Iterable[Piece], unit: str) -> bool:
    """Say whether a unit of this type is there."""
    return any(piece.unit == unit for piece in pieces)


def is_aircraft(piece: Piece) -> bool:
    """Say whether the piece flies."""
    return piece.unit in AIRCRAFT


def class_of(unit: str) -> str:
    """GC-4.8.1: the class of the hits that a unit scores."""
    return "sub" if unit == "submarine" else "air" if unit in AIRCRAFT else "other"


def may_hit(hit: str, target: str, *, air_hits_subs: bool) -> bool:
    """GC-4.8.1: whether a hit of a class may fall on a unit type."""
    if hit == "sub":
        return target not in AIRCRAFT
    if hit == "air":
        return target != "submarine" or air_hits_subs
    return True


def sees_submarines(scenario: SeaScenario, pieces: Iterable[Piece]) -> bool:
    """GC-2.3 `air_hits_subs`: whether aircraft that stand beside these pieces can hit submarines."""
    return scenario.edition.air_hits_subs == "always" or has(pieces, "destroyer")


# --------------------------------------------------------------------------------------------------
# Giving out hits
# --------------------------------------------------------------------------------------------------


class Hits(NamedTuple):
    """Hits of one side in one step, by class."""

    sub: int = 0
    air: int = 0
    other: int = 0

    def each(self) -> list[str]:
        """Return the hits one by one, those with the fewest targets first."""
        return ["sub"] * self.sub + ["air"] * self.air + ["other"] * self.other


def loss_entries(scenario: SeaScenario, side: int) -> list[str]:
    """Return the owner's order of loss: unit types, and ``X:damage`` for the first hit of a two-hit X."""
    entries = [entry for entry in DEFAULT_ORDER[side] if entry.removesuffix(DAMAGE) in scenario.edition.units]
    damage = [entry for entry in entries if entry.endswith(DAMAGE)]
    units = [entry for entry in entries if entry not in damage]
    wish = scenario.forces[side].loss_order
    if wish == "cheapest":
        units.sort(key=lambda unit: (scenario.row(unit).cost, scenario.value_of(side, unit)))
    elif wish == "weakest":
        units.sort(key=lambda unit: (scenario.value_of(side, unit), scenario.row(unit).cost))
    listed = [] if isinstance(wish, str) else list(wish)
    order = [entry for entry in damage if entry not in listed] + listed + [unit for unit in units if unit not in listed]
    if scenario.edition.tt_last:
        # GC-4.8.5: transports take a hit only where nothing else can.
        order = [entry for entry in order if entry != "transport"] + ["transport"]
    return order


def hit_places(scenario: SeaScenario, side: int, board: Sequence[Piece]) -> list[int]:
    """Return the positions on the board in the order in which they take hits, a position once per hit.

    Damaged ships of a type go before undamaged ones, which then take both hits one after the other.
    """
    places: list[int] = []
    left = [piece.hits for piece in board]
    for entry in loss_entries(scenario, side):
        mine = [i for i, piece in enumerate(board) if piece.unit == entry.removesuffix(DAMAGE)]
        if entry.endswith(DAMAGE):
            for i in mine:
                if left[i] == 2:
                    places.append(i)
                    left[i] -= 1
        else:
            for i in sorted(mine, key=lambda i: left[i]):
                places += [i] * left[i]
                left[i] = 0
    return places


@cache
def take(places: tuple[str, ...], hits: Hits, *, air_hits_subs: bool) -> tuple[bool, ...]:
    """GC-4.8.4, GC-4.8.6, GC-4.8.7: which of the places, given by unit type, take a hit.

    Place after place asks for a hit. It gets one if the hits can be dealt anew so that everybody who has
    one keeps one; hence the most hits possible are given out, and the first places come first.
    """
    each = hits.each()
    dealt: dict[int, int] = {}  # hit -> place
    refused: set[str] = set()
    taken = [False] * len(places)
    for place, unit in enumerate(places):
        # What is refused to a unit is refused to its equals behind it.
        if unit in refused or len(dealt) == len(each):
            continue
        if deal(place, places, each, dealt, air_hits_subs=air_hits_subs):
            taken[place] = True
        else:
            refused.add(unit)
    return tuple(taken)


def deal(place: int, places: Sequence[str], each: Sequence[str], dealt: dict[int, int], *, air_hits_subs: bool) -> bool:
    """Find a hit for the place, moving the hits of others if need be (an augmenting path)."""
    reached_from: dict[int, int] = {}  # hit -> place that would like it
    waiting = [place]
    while waiting:
        asking = waiting.pop(0)
        for hit, kind in enumerate(each):
            if hit in reached_from or not may_hit(kind, places[asking], air_hits_subs=air_hits_subs):
                continue
            reached_from[hit] = asking
            if hit in dealt:
                waiting.append(dealt[hit])
                continue
            free = hit
            while True:
                taker = reached_from[free]
                given_up = next((other for other, owner in dealt.items() if owner == taker), None)
                dealt[free] = taker
                if given_up is None:
                    return True
                del dealt[given_up]
                free = given_up
    return False


def give_out(scenario: SeaScenario, side: int, fleet: Fleet, hits: Hits, *, air_hits_subs: bool) -> list[Piece]:
    """Let the owner take the hits; the pieces lost leave the board and are returned."""
    board = fleet.board
    places = hit_places(scenario, side, board)
    taken = take(tuple(board[i].unit for i in places), hits, air_hits_subs=air_hits_subs)
    absorbed = Counter(i for i, is_hit in zip(places, taken, strict=True) if is_hit)
    after = [piece._replace(hits=piece.hits - absorbed[i]) for i, piece in enumerate(board)]
    fleet.board = [piece for piece in after if piece.hits > 0]
    return [piece for piece in after if piece.hits == 0]


# --------------------------------------------------------------------------------------------------
# Dice
# --------------------------------------------------------------------------------------------------

Volley = list[tuple[str, Throw]]
"""Throws of one side in one step, each with the class of its hits, in the order of throwing."""
if TYPE_CHECKING:
    Roll = Callable[[Volley], Hits]


def volley(scenario: SeaScenario, side: int, shooters: Iterable[Piece], cycle: int, step: int) -> Volley:
    """GC-4.3.1, GC-4.4.1: one die for every piece with a positive value, whether or not it has a target."""
    count = Counter(piece.unit for piece in shooters)
    sides = scenario.edition.sides
    throws: Volley = []
    for unit, number in count.items():
        dice = number
        chance = Fraction(scenario.value_of(side, unit), sides)
        if side == ATTACKER and unit == "tactical_bomber" and scenario.row(unit).supported:
            # Section 2.2: one beside each fighter attacks at its better value; tanks are never on this board.
            paired = min(number, count["fighter"])
            better = Fraction(clamp(scenario.row(unit).supported, sides), sides)
            dice -= paired
            throws.append((class_of(unit), Throw(cycle, step, side, SUPPORTED + TYPE[unit], paired, better)))
        if side == ATTACKER and unit == "bomber" and "heavy_bombers" in scenario.forces[side].technologies:
            if scenario.edition.heavy_bombers == "both_dice":
                dice *= 2
            else:
                chance = 1 - (1 - chance) ** 2
        throws.append((class_of(unit), Throw(cycle, step, side, TYPE[unit], dice, chance)))
    throws = sorted(
        ((kind, throw) for kind, throw in throws if throw.dice and throw.chance), key=lambda pair: pair[1].group
    )
    if scenario.low_luck not in {"combat", "both"}:
        return throws
    return [
        (kind, pooled)
        for kind, address in POOLED.items()
        for pooled in pool((throw for its, throw in throws if its == kind), low_luck=True, group=address)
    ]


def roll_with(dice: Dice) -> Roll:
    """Return what throws these dice."""

    def roll(throws: Volley) -> Hits:
        hits = Counter[str]()
        for kind, throw in throws:
            hits[kind] += throw.sure + (dice.hits(throw) if throw.dice else 0)
        return Hits(**hits)

    return roll


# --------------------------------------------------------------------------------------------------
# The steps
# --------------------------------------------------------------------------------------------------


def wants_to_submerge(scenario: SeaScenario, side: int, fleets: Fleets) -> bool:
    """GC-4.2.2: the owner's policy, which looks at the two boards as they are."""
    policy = scenario.forces[side].submerge
    mine, theirs = fleets[side].board, fleets[1 - side].board
    if not theirs and not fleets[1 - side].submerged:  # nothing left to hide from
        return False
    if isinstance(policy, str):
        armed = [piece for piece in theirs if piece.unit != "transport"]
        facing_aircraft = bool(armed) and all(map(is_aircraft, armed))
        return policy == "always" or (policy == "facing_aircraft" and facing_aircraft)
    sees = sees_submarines(scenario, theirs)
    hunters = [
        piece
        for piece in with_a_value(scenario, 1 - side, theirs)
        if may_hit(class_of(piece.unit), "submarine", air_hits_subs=sees)
    ]
    return len(hunters) >= policy * sum(piece.unit == "submarine" for piece in mine)


def with_a_value(scenario: SeaScenario, side: int, board: Sequence[Any]) -> list[Any]:
    """GC-4.6.3: the units that have a value, their own or that of support by a fighter each (GC-4.3.3)."""
    armed = [piece for piece in board if scenario.value_of(side, piece.unit) > 0]
    bombers = [piece for piece in board if piece.unit == "tactical_bomber" and piece not in armed]
    if side == ATTACKER and bombers and scenario.row("tactical_bomber").supported > 0:
        armed += bombers[: sum(piece.unit == "fighter" for piece in board)]
    return armed


def submerge(scenario: SeaScenario, fleets: Fleets) -> None:
    """GC-4.2.2, GC-4.2.3: the attacker decides first; his submarines are then off the board."""
    for side in (ATTACKER, DEFENDER):
        fleet = fleets[side]
        if has(fleets[1 - side].board, "destroyer") or not has(fleet.board, "submarine"):
            continue
        if wants_to_submerge(scenario, side, fleets):
            staying = [piece for piece in fleet.board if piece.unit != "submarine"]
            fleet.submerged += len(fleet.board) - len(staying)
            fleet.board = staying


def strike(scenario: SeaScenario, fleets: Fleets, cycle: int, roll: Roll) -> None:
    """Step 2: submarines submerge or strike (GC-4.2).

    A side that has a destroyer can lose units here only where an enemy destroyer does not stop the
    strike; its losses go to the strip and fire once more.
    """
    protected = [has(fleet.board, "destroyer") for fleet in fleets]
    striking = [not protected[1 - side] for side in (ATTACKER, DEFENDER)]
    if scenario.edition.sub_submerge == "step_2":
        submerge(scenario, fleets)
    if scenario.edition.sub_first_strike == "always":
        striking = [True, True]

    def fire(side: int) -> Hits:
        fleet = fleets[side]
        submarines = [piece for piece in fleet.board if piece.unit == "submarine"] if striking[side] else []
        fleet.board = [
            piece._replace(fired=True) if submarines and piece.unit == "submarine" else piece for piece in fleet.board
        ]
        throws = volley(scenario, side, submarines, cycle, STEP_STRIKE)
        return roll(throws) if throws else Hits()

    def suffer(side: int, hits: Hits) -> None:
        lost = give_out(scenario, side, fleets[side], hits, air_hits_subs=False)
        if protected[side]:
            fleets[side].strip += lost

    if scenario.edition.submarine_strikes == "attacker_first":
        suffer(DEFENDER, fire(ATTACKER))
        suffer(ATTACKER, fire(DEFENDER))
    else:
        attack, defence = fire(ATTACKER), fire(DEFENDER)
        suffer(DEFENDER, attack)
        suffer(ATTACKER, defence)


def exchange(scenario: SeaScenario, fleets: Fleets, cycle: int, roll: Roll) -> None:
    """Steps 3 and 4: everything else fires, the units behind the strip included (GC-4.3, GC-4.4)."""
    for side, step in ((ATTACKER, STEP_ATTACK), (DEFENDER, STEP_DEFENCE)):
        fleet, enemy = fleets[side], fleets[1 - side]
        shooters = [piece for piece in fleet.board + fleet.strip if not piece.fired]
        throws = volley(scenario, side, shooters, cycle, step)
        hits = roll(throws) if throws else Hits()
        # GC-4.8.2: a destroyer behind the strip is still there when the dice are rolled (GC-8.7).
        counted = fleet.board + fleet.strip if scenario.edition.doomed_destroyer == "counts" else fleet.board
        lost = give_out(scenario, 1 - side, enemy, hits, air_hits_subs=sees_submarines(scenario, counted))
        if side == ATTACKER:
            enemy.strip += lost


def sweep(scenario: SeaScenario, fleets: Fleets) -> None:
    """GC-4.5.2, GC-4.5.3: defenceless transports are destroyed without dice."""
    attackers, defenders = fleets[ATTACKER].board, fleets[DEFENDER].board
    if not scenario.edition.tt_swept or not any(scenario.value_of(ATTACKER, piece.unit) for piece in attackers):
        return
    others = {piece.unit for piece in defenders} - {"transport"}
    if not others or (others == {"submarine"} and all(map(is_aircraft, attackers))):
        fleets[DEFENDER].board = [piece for piece in defenders if piece.unit != "transport"]


def can_fire(scenario: SeaScenario, side: int, fleets: Fleets) -> bool:
    """GC-4.6.3: whether a unit of the side has a positive value and a legal target."""
    mine, theirs = fleets[side].board, fleets[1 - side].board
    sees = sees_submarines(scenario, mine)
    return any(
        may_hit(class_of(piece.unit), target.unit, air_hits_subs=sees)
        for piece in with_a_value(scenario, side, mine)
        for target in theirs
    )


def asked_to_leave(scenario: SeaScenario, fleets: Fleets, cycle: int) -> bool:
    """GC-4.6.7: whether the owner set a number of cycles or of units, and it is reached."""
    policy = scenario.forces[ATTACKER].retreat
    counted = [piece for piece in fleets[ATTACKER].board if piece.unit != "transport"]
    return 0 < policy.after_cycles <= cycle or (
        policy.when_units_at_most > 0 and len(counted) <= policy.when_units_at_most
    )


def condition_a(scenario: SeaScenario, fleets: Fleets, cycle: int) -> str | None:
    """GC-4.6.2 to GC-4.6.5: the outcome if the battle is over, else None."""
    attackers, defenders = fleets[ATTACKER].board, fleets[DEFENDER].board
    fighting = [piece for piece in defenders if piece.unit != "transport" or not scenario.edition.tt_swept]
    if attackers and fighting and any(can_fire(scenario, side, fleets) for side in (ATTACKER, DEFENDER)):
        return None
    if attackers and defenders:
        only_transports = {piece.unit for piece in attackers + defenders} == {"transport"}
        leaves = cycle > 0 and scenario.forces[ATTACKER].retreat.possible and asked_to_leave(scenario, fleets, cycle)
        return "attacker_retreats" if only_transports and leaves else "stand_off"
    if attackers:
        return "attacker_wins"
    if defenders:
        return "defender_wins"
    return "stand_off" if any(fleet.submerged for fleet in fleets) else "both_destroyed"


def condition_b(scenario: SeaScenario, fleets: Fleets, cycle: int) -> bool:
    """GC-4.6.6 to GC-4.6.12: whether the attacker breaks off after this cycle."""
    attackers = fleets[ATTACKER].board
    policy = scenario.forces[ATTACKER].retreat
    only_aircraft = all(map(is_aircraft, attackers))
    only_transports = all(piece.unit == "transport" for piece in attackers)
    wanted = (
        asked_to_leave(scenario, fleets, cycle)
        or (policy.when_only_aircraft and only_aircraft)
        or (policy.when_transports_only and only_transports)
    )
    return wanted and (policy.possible or only_aircraft)


def before_battle(scenario: SeaScenario, fleets: Fleets) -> str | None:
    """GC-4.5.2: the sweep and condition A hold before the first die too."""
    sweep(scenario, fleets)
    return condition_a(scenario, fleets, 0)


def fight_cycle(scenario: SeaScenario, fleets: Fleets, cycle: int, roll: Roll) -> str | None:
    """Fight steps 2 to 6 once; return the outcome, or None when the battle goes on."""
    strike(scenario, fleets, cycle, roll)
    exchange(scenario, fleets, cycle, roll)
    for fleet in fleets:
        fleet.strip = []
        fleet.board = [piece._replace(fired=False) for piece in fleet.board]
    sweep(scenario, fleets)
    if scenario.edition.sub_submerge == "cycle_end":
        submerge(scenario, fleets)
        # Transports that are left without their submarines are as defenceless as any.
        sweep(scenario, fleets)
    outcome = condition_a(scenario, fleets, cycle)
    if outcome is None and condition_b(scenario, fleets, cycle):
        return "attacker_retreats"
    if outcome is None and scenario.cycle_limit and cycle >= scenario.cycle_limit:
        return "unfinished"
    return outcome


# --------------------------------------------------------------------------------------------------
# A battle
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SeaBattle(Battle):
    """How a sea battle ended; submerged submarines are among the survivors and stated apart.

    `no_landing` counts the carrier aircraft of each side that are left without a carrier.
    """

    submerged: tuple[int, int]
    damaged: tuple[dict[str, int], dict[str, int]]
    no_landing: tuple[int, int]


def loads_cost(scenario: SeaScenario, side: int, fleet: Fleet) -> int:
    """Return the price of the cargo that is still afloat."""
    cargo = scenario.forces[side].cargo
    loads = [cargo[piece.load] for piece in fleet.board if piece.load >= 0]
    return sum(scenario.row(unit).cost * number for load in loads for unit, number in load.items())


def no_landing(scenario: SeaScenario, side: int, left: Mapping[str, int], damaged: Mapping[str, int]) -> int:
    """GC-4.7.8: how many carrier aircraft of a side are left without room on a carrier of the battle.

    Aircraft beyond the room at the start came from elsewhere and land elsewhere. A damaged carrier that is
    not repaired at once takes nobody aboard.
    """
    start = scenario.forces[side].units
    aircraft = [sum(units.get(unit, 0) for unit in ("fighter", "tactical_bomber")) for units in (start, left)]
    decks = left.get("carrier", 0)
    if scenario.edition.bb_repair == "purchase_at_naval_base":
        decks -= damaged.get("carrier", 0)
    based = min(aircraft[0], 2 * start.get("carrier", 0))
    return max(0, min(based, aircraft[1]) - 2 * decks)


def conclude(scenario: SeaScenario, fleets: Fleets, outcome: str, cycles: int) -> SeaBattle:
    """Step 7: losses and survivors. Nothing changes hands at sea; damage costs nothing (GC-4.7.7)."""
    lost, survivors, damaged = [], [], []
    for side, fleet in enumerate(fleets):
        left = Counter(piece.unit for piece in fleet.board)
        if fleet.submerged:
            left["submarine"] += fleet.submerged
        gone = Counter(scenario.forces[side].units)
        gone.subtract(left)
        lost.append(
            sum(scenario.row(unit).cost * number for unit, number in gone.items())
            + loads_cost(scenario, side, muster_fleet(scenario, side))
            - loads_cost(scenario, side, fleet)
        )
        survivors.append(dict(left))
        damaged.append(dict(Counter(p.unit for p in fleet.board if p.hits < scenario.hits_of(p.unit))))
    return SeaBattle(
        outcome=outcome,
        cycles=cycles,
        survivors=(survivors[0], survivors[1]),
        cost_lost=(lost[0], lost[1]),
        captured_value=0,
        guns=0,
        complexes=0,
        submerged=(fleets[0].submerged, fleets[1].submerged),
        damaged=(damaged[0], damaged[1]),
        no_landing=(
            no_landing(scenario, ATTACKER, survivors[0], damaged[0]),
            no_landing(scenario, DEFENDER, survivors[1], damaged[1]),
        ),
    )


def fight_at_sea(scenario: SeaScenario, dice: Dice) -> SeaBattle:
    """Fight one battle from the first test to the conclusion."""
    fleets = muster_fleet(scenario, ATTACKER), muster_fleet(scenario, DEFENDER)
    roll = roll_with(dice)
    cycle = 0
    outcome = before_battle(scenario, fleets)
    while outcome is None:
        cycle += 1
        outcome = fight_cycle(scenario, fleets, cycle, roll)
    return conclude(scenario, fleets, outcome, cycle)


def sea_battle(
    data: Mapping[str, Any] | SeaScenario, number: int = 0, *, seed: int = 1, pairing: str = "matchup"
) -> SeaBattle:
    """Fight the battle with this number, with the dice that the sampler would throw."""
    scenario = data if isinstance(data, SeaScenario) else read_sea(data)
    return fight_at_sea(scenario, RandomDice(random_key(scenario, seed, pairing), number))


def scripted_at_sea(data: Mapping[str, Any] | SeaScenario, script: Sequence[int]) -> tuple[SeaBattle, ScriptedDice]:
    """Fight with hits given in advance; the dice returned remember every throw."""
    scenario = data if isinstance(data, SeaScenario) else read_sea(data)
    dice = ScriptedDice(list(script))
    return fight_at_sea(scenario, dice), dice
