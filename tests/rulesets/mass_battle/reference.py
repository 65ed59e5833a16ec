"""A plain and slow reading of ``mass_battle``: squads as single objects, one battle turn step by step.

Written from the rule text alone and sharing no code with ``simcore``. Chance enters only through a
callable (:data:`Dice`) that is asked at named draw points (:class:`Draw`) and answers with numbers:

==========  ===================================================  ====================================
`step`      what is drawn                                        answer
==========  ===================================================  ====================================
character   the halt attempt of one character (`group`)          ``(successes,)``, 0 or 1
rally       the rolls of all commanders of one type (`group`)    ``(successes,)``, 0 to `rolls`
attack      the dice of an army                                  the faces; in a negative roll the
                                                                 main die is the first
target      the type of the next squad hit, by random order      ``(index into weights,)``
backfire    the type of the next own squad suppressed, likewise  ``(index into weights,)``
==========  ===================================================  ====================================

`side` is the army that rolls, or whose squads are hit. The order is that of the turn: rally attempts of
the attacker (characters in listed order, then commanders by type), those of the defender; both attacks;
targets among the defenders, then among the attackers; own squads of the attacker, then of the defender.
With an initiative the second attack comes after the targets of the first.

The files in ``cases/`` are lists of ``{"id", "title", "rules", "kind", ...}``; :mod:`test_reference`
has one test per kind. Fractions and printed decimals are texts, faces are listed main die first.

* ``faces``: an army (counts by state) suffers the faces of an ordinary roll; ``expect`` has the squads
  destroyed, routed, newly suppressed and renewed, the faces ignored, what is left, and ``broken``.
* ``negative``: one negative roll; ``expect`` has its one effect (or null) and the own squads suppressed.
* ``exchange``: both armies with the faces that they roll in the same turn.
* ``distribution``: one roll of ``pool`` at a target; ``joint`` maps "destroyed routed suppressed" to its
  chance, ``own_suppressed`` the number of own squads suppressed, ``broken`` the chance that nobody stands.
* ``chances``, ``rallies``, ``character``: chances of rally rolls.
* ``comeback``: the dice rolled turn by turn by an army with one routed squad.
* ``broken``, ``pursuit``: the end of a battle.
* ``battle``: a whole scenario with the chances of its outcomes and the mean number of turns.
* ``sampled``: the same as printed from that many random battles.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

ATTACKER, DEFENDER = 0, 1
SIDES = ("attacker", "defender")
STATES = ("active", "suppressed", "routed", "fled", "destroyed", "captured")
OUTCOMES = ("attacker_wins", "defender_wins", "both_broken", "undecided")

# MB-14: what is dropped first stands last.
SEVERITY = ("destroy", "rout", "suppress")
SUCCESS = 4
FACES = 6


def cases(name: str) -> list[dict[str, Any]]:
    """Return the worked cases of a file in ``cases/``."""
    path = Path(__file__).with_name("cases") / f"{name}.json"
    found: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return found


# --------------------------------------------------------------------------------------------------
# Scenarios
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SquadType:
    """What a squad is, never changed by a battle (MA-23)."""

    name: str
    dice: int = 1
    mobile: bool = False
    rally: int = 1
    size_class: int = 0
    cost: int = 1


EDITIONS: dict[str, tuple[SquadType, ...]] = {
    "standard": (SquadType("squad"), SquadType("mobile_squad", mobile=True, cost=2)),
}


@dataclass(frozen=True)
class Character:
    """Someone who may halt one routed squad a turn (MB-7, MB-9)."""

    skill: int
    route: str = "squad"
    army_modifier: int = 0


@dataclass(frozen=True)
class Force:
    """One side as the scenario describes it; `units` counts the squads of each type of the table."""

    units: tuple[int, ...]
    support_dice: int = 0
    pool_modifier: int = 0
    pool: int = 0
    can_flee: bool = True
    characters: tuple[Character, ...] = ()


@dataclass(frozen=True)
class Options:
    """The readings of MA-1 to MA-23 that can be chosen."""

    face_effects: tuple[tuple[int, str], ...] = ((4, "suppress"), (5, "rout"), (6, "destroy"))
    pool_model: str = "sum_active"
    negative_dice: str = "two_minus_pool"
    negative_needs: str = "all"
    ones_backfire: str = "negative_only"
    routed_targets: bool = False
    renew_suppression: bool = True
    target_order: str = "listed"
    initiative: str = "simultaneous"
    rally_miss: int = 1
    rally_attempts: int | str = 1
    success_face: int = SUCCESS
    mutual_break: str = "draw"
    pursuit_scope: str = "in_flight"
    pursuit_limit: str = "none"
    pursuit_fate: str = "captured"
    max_turns: int = 100


ALLOWED: dict[str, tuple[int | str, ...]] = {
    "pool_model": ("sum_active", "difference", "fixed"),
    "negative_dice": ("two_minus_pool", "count"),
    "negative_needs": ("all", "any"),
    "ones_backfire": ("negative_only", "every_roll"),
    "target_order": ("listed", "random", "strongest", "weakest"),
    "initiative": ("simultaneous", "attacker_first", "defender_first"),
    "rally_attempts": (1, "unlimited"),
    "mutual_break": ("draw", "attacker", "defender"),
    "pursuit_scope": ("in_flight", "routed_this_turn"),
    "pursuit_limit": ("none", "one_per_squad", "suppressed_too"),
    "pursuit_fate": ("captured", "destroyed"),
}


@dataclass(frozen=True)
class Scenario:
    """A battle, ready to be fought."""

    types: tuple[SquadType, ...]
    forces: tuple[Force, Force]
    options: Options = Options()

    def swapped(self) -> Scenario:
        """Return the same battle with the armies exchanged."""
        turned = {
            "attacker_first": "defender_first",
            "defender_first": "attacker_first",
            "attacker": "defender",
            "defender": "attacker",
        }
        options = replace(
            self.options,
            initiative=turned.get(self.options.initiative, self.options.initiative),
            mutual_break=turned.get(self.options.mutual_break, self.options.mutual_break),
        )
        return replace(self, forces=(self.forces[1], self.forces[0]), options=options)


def parse_units(units: str | Mapping[str, int]) -> dict[str, int]:
    """Read ``"3 squad, 1 mobile_squad"`` or ``{"squad": 3}`` (long names only)."""
    if not isinstance(units, str):
        return dict(units)
    counts: dict[str, int] = {}
    for part in filter(None, (piece.strip() for piece in units.split(","))):
        number, unit = part.split()
        counts[unit] = counts.get(unit, 0) + int(number)
    return counts


def read_types(name: str, editions: Mapping[str, Any]) -> tuple[SquadType, ...]:
    """Return the squad types of a built-in edition or of one that the scenario brings along."""
    if name not in editions:
        return EDITIONS[name]
    table = editions[name]
    known = {row.name: row for row in read_types(table["base"], editions)} if "base" in table else {}
    for unit, row in table.get("units", {}).items():
        known[unit] = replace(known.get(unit, SquadType(unit)), **row)
    return tuple(known.values())


def read_options(data: Mapping[str, Any]) -> Options:
    """Read the table ``[options]``."""
    values = {key: data[key] for key in data if key != "face_effects"}
    unknown = set(values) - {entry.name for entry in fields(Options)}
    if unknown:
        raise ValueError(f"unknown options {sorted(unknown)}")
    for key, allowed in ALLOWED.items():
        if key in values and values[key] not in allowed:
            raise ValueError(f"{key} must be one of {allowed}, got {values[key]!r}")
    if "face_effects" in data:
        effects = {int(face): str(effect) for face, effect in data["face_effects"].items()}
        if not set(effects) <= {4, 5, 6} or not set(effects.values()) <= set(SEVERITY):
            raise ValueError(f"face_effects gives the faces 4, 5 and 6 one of {SEVERITY}, got {effects}")
        values["face_effects"] = tuple(sorted(effects.items()))
    return Options(**values)


def read_scenario(data: Mapping[str, Any], types: tuple[SquadType, ...] | None = None) -> Scenario:
    """Turn a scenario as a user writes it into a :class:`Scenario`.

    `types` replaces the squad types of the edition that the scenario names.
    """
    table = types or read_types(data.get("edition", "standard"), data.get("editions", {}))
    forces = []
    for side in SIDES:
        given = dict(data.get(side, {}))
        counts = parse_units(given.pop("units", {}))
        characters = tuple(Character(**entry) for entry in given.pop("characters", ()))
        if set(counts) - {row.name for row in table}:
            raise ValueError(f"unknown squads in {counts}")
        forces.append(Force(tuple(counts.get(row.name, 0) for row in table), characters=characters, **given))
    return Scenario(table, (forces[0], forces[1]), read_options(data.get("options", {})))


# --------------------------------------------------------------------------------------------------
# State and dice
# --------------------------------------------------------------------------------------------------


@dataclass
class Squad:
    """One squad: its type's place in the table, its state, and when that state ends or began.

    `back` is the turn in which a suppressed squad is active again, `since` the turn in which a squad was
    routed or left the field.
    """

    kind: int
    state: str = "active"
    back: int = 0
    since: int = 0

    def suppress(self, back: int) -> None:
        """Miss every turn before `back`; a longer suppression is never shortened."""
        self.back = max(back, self.back) if self.state == "suppressed" else back
        self.state = "suppressed"
        self.since = 0

    def leave(self, state: str, turn: int = 0) -> None:
        """Be routed, fled, destroyed or captured."""
        self.state, self.since, self.back = state, turn, 0


Army = list[Squad]


@dataclass(frozen=True)
class Draw:
    """A named point at which dice are rolled; see the table at the top.

    `dice` is the size of one roll and `rolls` how many such rolls are made; `chance` is that of one roll
    to succeed, `weights` are the numbers of squads among which a target is drawn.
    """

    step: str
    side: int
    turn: int
    group: int = 0
    dice: int = 0
    rolls: int = 1
    negative: bool = False
    chance: Fraction = Fraction(0)
    weights: tuple[int, ...] = ()


Dice = Callable[[Draw], Sequence[int]]


class RandomDice:
    """Dice from a generator of the standard library."""

    def __init__(self, seed: int) -> None:
        self.source = Random(seed)  # noqa: S311

    def __call__(self, draw: Draw) -> tuple[int, ...]:
        """Throw."""
        if draw.step == "attack":
            return tuple(self.source.randint(1, FACES) for _ in range(draw.dice))
        if draw.weights:
            return (self.source.choices(range(len(draw.weights)), draw.weights)[0],)
        chance = draw.chance
        return (sum(self.source.randrange(chance.denominator) < chance.numerator for _ in range(draw.rolls)),)


class ScriptedDice:
    """Dice that were thrown beforehand; keeps what was asked."""

    def __init__(self, script: Iterable[Sequence[int]]) -> None:
        self.script = list(script)
        self.asked: list[tuple[Draw, tuple[int, ...]]] = []

    def __call__(self, draw: Draw) -> tuple[int, ...]:
        """Return the next answer of the script."""
        answer = tuple(self.script[len(self.asked)])
        self.asked.append((draw, answer))
        return answer


class KeptDice:
    """Other dice, and a record of what they showed."""

    def __init__(self, dice: Dice) -> None:
        self.dice = dice
        self.asked: list[tuple[Draw, tuple[int, ...]]] = []

    def __call__(self, draw: Draw) -> tuple[int, ...]:
        """Pass the question on."""
        answer = tuple(self.dice(draw))
        self.asked.append((draw, answer))
        return answer


def faces_of(dice: int, *, ones: int = 0, fours: int = 0, fives: int = 0, sixes: int = 0) -> tuple[int, ...]:
    """Return the faces of an ordinary roll of which only the counts are known."""
    blank = dice - ones - fours - fives - sixes
    if min(blank, ones, fours, fives, sixes) < 0:
        raise ValueError("more faces than dice")
    return (6,) * sixes + (5,) * fives + (4,) * fours + (2,) * blank + (1,) * ones


# --------------------------------------------------------------------------------------------------
# Rolls
# --------------------------------------------------------------------------------------------------


def dice_of(pool: int, rule: str) -> int:
    """Return how many dice a pool rolls (MA-4)."""
    if pool > 0:
        return pool
    return 2 - pool if rule == "two_minus_pool" else max(2, -pool)


def success_chance(pool: int, options: Options) -> Fraction:
    """Return the chance of a roll of so many К (MA-15, MA-16)."""
    one = Fraction(FACES + 1 - options.success_face, FACES)
    dice = dice_of(pool, options.negative_dice)
    if pool > 0:
        return 1 - (1 - one) ** dice
    return one**dice


@dataclass(frozen=True)
class Roll:
    """What an attack roll means: effects on the enemy, strongest first, and own squads to be suppressed."""

    effects: tuple[str, ...] = ()
    ones: int = 0


def read_faces(faces: Sequence[int], options: Options, *, negative: bool) -> Roll:
    """Turn the faces of an attack into effects (MB-2, MB-19 to MB-21)."""
    effects = dict(options.face_effects)
    ones = list(faces).count(1) if negative or options.ones_backfire == "every_roll" else 0
    if not negative:
        shown = [effects[face] for face in faces if face in effects]
        return Roll(tuple(sorted(shown, key=SEVERITY.index)), ones)
    main, *others = faces
    confirm = all if options.negative_needs == "all" else any
    if main in effects and confirm(face >= SUCCESS for face in others):
        return Roll((effects[main],), ones)
    return Roll((), ones)


# --------------------------------------------------------------------------------------------------
# The steps of a turn
# --------------------------------------------------------------------------------------------------


def muster(scenario: Scenario, side: int) -> Army:
    """Return the squads of a side before the battle."""
    return [Squad(kind) for kind, count in enumerate(scenario.forces[side].units) for _ in range(count)]


def in_state(army: Army, *states: str) -> Army:
    """Return the squads that are in one of the states."""
    return [squad for squad in army if squad.state in states]


def return_suppressed(army: Army, turn: int) -> None:
    """Bring suppressed squads back into line (MB-4, MA-12)."""
    for squad in in_state(army, "suppressed"):
        if squad.back == turn:
            squad.state, squad.back = "active", 0


def rally(scenario: Scenario, side: int, army: Army, turn: int, dice: Dice) -> None:
    """Try to halt the routed squads, each once (MB-6 to MB-9, MA-13, MA-14, MA-16)."""
    options = scenario.options
    waiting = sorted(in_state(army, "routed"), key=lambda squad: squad.kind)
    back = turn + 1 + options.rally_miss
    for number, character in enumerate(scenario.forces[side].characters):
        if not waiting:
            break
        squad = waiting.pop(0)
        whole_army = character.route == "army"
        modifier = character.army_modifier if whole_army else scenario.types[squad.kind].size_class
        chance = success_chance(character.skill - modifier, options)
        pool_dice = dice_of(character.skill - modifier, options.negative_dice)
        (success,) = dice(Draw("character", side, turn, number, pool_dice, chance=chance))
        if success and whole_army:
            squad.leave("active")
        elif success:
            squad.suppress(back)
        else:
            not_rallied(squad, turn, options)
    for kind, row in enumerate(scenario.types):
        fleeing = [squad for squad in waiting if squad.kind == kind]
        if not fleeing:
            continue
        pool_dice = dice_of(row.rally, options.negative_dice)
        chance = success_chance(row.rally, options)
        (successes,) = dice(Draw("rally", side, turn, kind, pool_dice, len(fleeing), chance=chance))
        for squad in fleeing[:successes]:
            squad.suppress(back)
        for squad in fleeing[successes:]:
            not_rallied(squad, turn, options)


def not_rallied(squad: Squad, turn: int, options: Options) -> None:
    """Keep running: off the field, unless every turn brings a new attempt (MA-14)."""
    if options.rally_attempts != "unlimited":
        squad.leave("fled", turn)


def forces_of(scenario: Scenario, side: int, army: Army) -> int:
    """Return the Forces of an army in this turn (MB-1, MA-2, MA-3)."""
    force = scenario.forces[side]
    if scenario.options.pool_model == "fixed":
        return force.pool + force.pool_modifier
    dice = sum(scenario.types[squad.kind].dice for squad in in_state(army, "active"))
    return dice + force.support_dice + force.pool_modifier


def pool_of(scenario: Scenario, side: int, armies: Sequence[Army]) -> int:
    """Return the pool of an army's attack roll; 0 and less is a negative roll."""
    pool = forces_of(scenario, side, armies[side])
    if scenario.options.pool_model == "difference":
        pool -= forces_of(scenario, 1 - side, armies[1 - side])
    return pool


def attack(scenario: Scenario, side: int, armies: Sequence[Army], turn: int, dice: Dice) -> Roll:
    """Make the attack roll of an army; without an active squad there is none (MB-3, MA-20)."""
    if not in_state(armies[side], "active"):
        return Roll()
    pool = pool_of(scenario, side, armies)
    number = dice_of(pool, scenario.options.negative_dice)
    faces = dice(Draw("attack", side, turn, dice=number, negative=pool <= 0))
    if len(faces) != number:
        raise ValueError(f"{number} dice, {len(faces)} faces")
    return read_faces(faces, scenario.options, negative=pool <= 0)


def standing(army: Army, options: Options) -> Army:
    """Return the squads that an enemy can hit (MB-13, MA-8)."""
    routed = ("routed",) if options.rally_attempts == "unlimited" and options.routed_targets else ()
    return in_state(army, "active", "suppressed", *routed)


def place_in_line(squad: Squad) -> tuple[int, int]:
    """Return the class of a squad: active ones first, suppressed ones by their return, then routed ones (MB-16)."""
    return ("active", "suppressed", "routed").index(squad.state), squad.back


def first_in_line(scenario: Scenario, squads: Army, number: int, draw: Draw, dice: Dice) -> Army:
    """Return the squads that are hit first: class by class, inside a class by `target_order` (MA-10)."""
    order = scenario.options.target_order
    if order == "random":
        return drawn_in_line(squads, number, draw, dice)
    sign = {"listed": 0, "strongest": -1, "weakest": 1}[order]
    return sorted(squads, key=lambda squad: (place_in_line(squad), sign * scenario.types[squad.kind].dice, squad.kind))[
        :number
    ]


def drawn_in_line(squads: Army, number: int, draw: Draw, dice: Dice) -> Army:
    """Return the squads that are hit first when every squad of a class is as likely as any other.

    Each draw is of a type, weighted by its squads that are left in the class; one type alone is not drawn.
    """
    waiting, hit = list(squads), []
    for turn_of in range(number):
        best = min(map(place_in_line, waiting))
        counts = Counter(squad.kind for squad in waiting if place_in_line(squad) == best)
        kinds = sorted(counts)
        if len(kinds) > 1:
            (index,) = dice(replace(draw, group=turn_of, weights=tuple(counts[kind] for kind in kinds)))
            kinds = [kinds[index]]
        place = next(i for i, squad in enumerate(waiting) if (place_in_line(squad), squad.kind) == (best, kinds[0]))
        hit.append(waiting.pop(place))
    return hit


def suffer(
    scenario: Scenario, side: int, army: Army, effects: Sequence[str], turn: int, dice: Dice
) -> list[tuple[Squad, str]]:
    """Hand out the enemy's effects, strongest first; return who got what (MB-13 to MB-16).

    All squads are chosen before any of them changes: nobody is hit twice by one roll.
    """
    targets = standing(army, scenario.options)
    kept = sorted(effects, key=SEVERITY.index)[: len(targets)]
    hit = first_in_line(scenario, targets, len(kept), Draw("target", side, turn), dice)
    chosen = list(zip(hit, kept, strict=True))
    for squad, effect in chosen:
        if effect == "destroy":
            squad.leave("destroyed")
        elif squad.state == "routed":
            continue
        elif effect == "rout":
            squad.leave("routed", turn)
        elif squad.state == "active" or scenario.options.renew_suppression:
            squad.suppress(turn + 2)
    return chosen


def backfire(scenario: Scenario, side: int, army: Army, ones: int, turn: int, dice: Dice) -> int:
    """Suppress own active squads, one for each 1; return how many (MB-21, MA-7)."""
    targets = in_state(army, "active")
    number = min(ones, len(targets))
    for squad in first_in_line(scenario, targets, number, Draw("backfire", side, turn), dice):
        squad.suppress(turn + 2)
    return number


def is_broken(army: Army) -> bool:
    """Whether no squad is active or suppressed (MB-17)."""
    return not in_state(army, "active", "suppressed")


def fight_turn(scenario: Scenario, armies: Sequence[Army], turn: int, dice: Dice) -> None:
    """Play steps 1 to 5 of a turn."""
    for army in armies:
        return_suppressed(army, turn)
    for side in (ATTACKER, DEFENDER):
        rally(scenario, side, armies[side], turn, dice)
    rolls = [Roll(), Roll()]
    if scenario.options.initiative == "simultaneous":
        rolls = [attack(scenario, side, armies, turn, dice) for side in (ATTACKER, DEFENDER)]
        for side in (ATTACKER, DEFENDER):
            suffer(scenario, 1 - side, armies[1 - side], rolls[side].effects, turn, dice)
    else:
        first = ATTACKER if scenario.options.initiative == "attacker_first" else DEFENDER
        for side in (first, 1 - first):
            rolls[side] = attack(scenario, side, armies, turn, dice)
            suffer(scenario, 1 - side, armies[1 - side], rolls[side].effects, turn, dice)
    for side in (ATTACKER, DEFENDER):
        backfire(scenario, side, armies[side], rolls[side].ones, turn, dice)


# --------------------------------------------------------------------------------------------------
# The end
# --------------------------------------------------------------------------------------------------


def outcome_of(scenario: Scenario, armies: Sequence[Army], turn: int) -> str | None:
    """Return how the battle has ended after so many turns, or None (MB-17, MA-17, MA-22)."""
    options = scenario.options
    broken = [is_broken(army) for army in armies]
    if all(broken):
        return "both_broken" if options.mutual_break == "draw" else f"{options.mutual_break}_wins"
    if any(broken):
        return "attacker_wins" if broken[DEFENDER] else "defender_wins"
    return "undecided" if options.max_turns and turn >= options.max_turns else None


def pursuers(scenario: Scenario, army: Army) -> int:
    """Return how many squads of the victor can pursue (MB-18, MA-19)."""
    suppressed = ("suppressed",) if scenario.options.pursuit_limit == "suppressed_too" else ()
    return sum(scenario.types[squad.kind].mobile for squad in in_state(army, "active", *suppressed))


def pursue(scenario: Scenario, winner: int, armies: Sequence[Army], turn: int) -> int:
    """Destroy or capture the loser's squads in flight; return how many (MB-18, MA-18, MA-19, MA-21)."""
    options = scenario.options
    loser = armies[1 - winner]
    everyone = options.pursuit_scope == "in_flight"
    routed = [squad for squad in in_state(loser, "routed") if everyone or squad.since == turn]
    fled = [squad for squad in in_state(loser, "fled") if everyone and squad.since == turn]
    runaways = sorted(routed, key=lambda squad: squad.kind) + sorted(fled, key=lambda squad: squad.kind)
    if not scenario.forces[1 - winner].can_flee:
        runaways = in_state(loser, "routed") + fled
    elif options.pursuit_limit == "one_per_squad":
        runaways = runaways[: pursuers(scenario, armies[winner])]
    elif not pursuers(scenario, armies[winner]):
        runaways = []
    for squad in runaways:
        squad.leave(options.pursuit_fate)
    return len(runaways)


@dataclass(frozen=True)
class Battle:
    """How a battle ended: for each side the number of squads by state and type name."""

    outcome: str
    turns: int
    squads: tuple[dict[str, dict[str, int]], dict[str, dict[str, int]]]
    cost: tuple[int, int]
    cost_lost: tuple[int, int]

    @property
    def swing(self) -> int:
        """Defender's cost lost minus attacker's cost lost."""
        return self.cost_lost[DEFENDER] - self.cost_lost[ATTACKER]

    def total(self, side: int, *states: str) -> int:
        """Return the number of squads of a side in these states."""
        return sum(sum(self.squads[side][state].values()) for state in states)


def count_squads(scenario: Scenario, army: Army) -> dict[str, dict[str, int]]:
    """Return the number of squads by state and type, without zeros."""
    counts: dict[str, dict[str, int]] = {state: {} for state in STATES}
    for squad in sorted(army, key=lambda squad: squad.kind):
        name = scenario.types[squad.kind].name
        counts[squad.state][name] = counts[squad.state].get(name, 0) + 1
    return counts


def cost_of(scenario: Scenario, army: Army) -> int:
    """Return what the squads cost together."""
    return sum(scenario.types[squad.kind].cost for squad in army)


def conclude(scenario: Scenario, armies: Sequence[Army], turn: int, outcome: str) -> Battle:
    """Let the victor pursue, when exactly one army broke, and count."""
    broken = [is_broken(army) for army in armies]
    if broken[ATTACKER] != broken[DEFENDER]:
        pursue(scenario, ATTACKER if broken[DEFENDER] else DEFENDER, armies, turn)
    lost = [cost_of(scenario, in_state(army, "destroyed", "captured")) for army in armies]
    return Battle(
        outcome,
        turn,
        (count_squads(scenario, armies[0]), count_squads(scenario, armies[1])),
        (cost_of(scenario, armies[0]), cost_of(scenario, armies[1])),
        (lost[0], lost[1]),
    )


@dataclass
class Story:
    """A battle with the state of both armies after every turn."""

    battle: Battle
    after: list[tuple[dict[str, dict[str, int]], dict[str, dict[str, int]]]] = field(default_factory=list)


def fight(scenario: Scenario, dice: Dice) -> Story:
    """Fight a battle to its end."""
    armies = [muster(scenario, side) for side in (ATTACKER, DEFENDER)]
    after = []
    turn = 0
    # An army without squads is broken before anyone rolls.
    outcome = outcome_of(scenario, armies, turn)
    while outcome is None:
        turn += 1
        fight_turn(scenario, armies, turn, dice)
        after.append((count_squads(scenario, armies[0]), count_squads(scenario, armies[1])))
        outcome = outcome_of(scenario, armies, turn)
    return Story(conclude(scenario, armies, turn, outcome), after)
