"""A plain and slow reading of skirmishes in ``force_order``: the board, the turns and the end of the game.

Written from the rule text alone and sharing no code with ``simcore``; single attacks are settled by the
reference of attacks. All chance comes from a callable: ``draw(n)`` gives a whole number from 0 to n - 1.

A piece stands on a square, or it is aboard a carrier; held mines and flags are aboard their holder too.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from tests.rulesets.force_order import reference as ref

Draw = Callable[[int], int]
Square = tuple[int, int]

SIDES = (0, 1)
OUTCOMES = ("attacker_wins", "defender_wins", "draw")
ACTIONS = ("move", "load", "unload", "attack")
BESIDE = ((-1, 0), (0, -1), (0, 1), (1, 0))

# In the order of the unit table, with the kind and the rank among its own.
TYPES: dict[str, tuple[str, int]] = {
    **{f"soldier{rank}": ("soldier", rank) for rank in range(1, 10)},
    "saboteur": ("saboteur", 0),
    "boat_small": ("boat", 1),
    "boat_medium": ("boat", 2),
    "boat_large": ("boat", 3),
    "lifeboat": ("lifeboat", 0),
    "plane_scout": ("plane", 1),
    "plane_fighter": ("plane", 2),
    "mine": ("mine", 0),
    "flag": ("flag", 0),
}
COSTS = {
    **{f"soldier{rank}": rank for rank in range(1, 10)},
    "saboteur": 5,
    "boat_small": 3,
    "boat_medium": 5,
    "boat_large": 8,
    "lifeboat": 2,
    "plane_scout": 3,
    "plane_fighter": 5,
    "mine": 1,
    "flag": 0,
}
FOOT = frozenset({"soldier", "saboteur"})
BOATS = frozenset({"boat", "lifeboat"})
CARRIES = {
    "boat": frozenset({"soldier", "saboteur", "boat", "lifeboat", "plane"}),
    "lifeboat": FOOT,
    "plane": FOOT,
}


@dataclass(frozen=True)
class Rules:
    """Board, limits and the readings of the ambiguities."""

    options: ref.Options = ref.DEFAULTS
    rows: int = 8
    land_columns: int = 5
    columns: int = 8
    set_up_rows: int = 3
    flag_rows: int = 2
    capacity: Mapping[str, int] = field(default_factory=lambda: {"boat": 4, "lifeboat": 2, "plane": 2})
    win: str = "carry_home"  # carry_home | capture
    turn_cap: int = 200
    repetitions: int = 3
    # FA-17: (attacking type, target type) -> a result, or weights of win, lose and tie.
    order_of_forces: Mapping[tuple[str, str], str | tuple[int, int, int]] = field(default_factory=dict)

    def is_land(self, square: Square) -> bool:
        return square[1] < self.land_columns

    def home_row(self, side: int) -> int:
        return 0 if side == 0 else self.rows - 1

    def on_board(self, square: Square) -> bool:
        return 0 <= square[0] < self.rows and 0 <= square[1] < self.columns

    def bears(self, kind: str, square: Square) -> bool:
        """Return whether a piece of this kind may stand loose on a square."""
        if kind in BOATS:
            return not self.is_land(square)
        return self.is_land(square) if kind == "soldier" else True


DEFAULTS = Rules()


# --------------------------------------------------------------------------------------------------
# Order of forces
# --------------------------------------------------------------------------------------------------


def by_rank(attacker: int, target: int) -> str:
    """Return win, lose or, for equal ranks, tie."""
    return "win" if attacker > target else "lose" if attacker < target else "tie"


def order_of_forces(attacker: str, target: str) -> str:
    """Return the result of a duel by the table of the built-in edition, from the attacker's view."""
    kind, rank = TYPES[attacker]
    other, other_rank = TYPES[target]
    if kind == "saboteur" and target in {"boat_large", "soldier9"}:
        return "win"
    if other == "mine":
        return "win" if kind == "saboteur" else "lose"
    groups = ({"soldier", "saboteur"}, {"boat", "lifeboat"}, {"plane"})
    if any({kind, other} <= group for group in groups):
        return by_rank(rank, other_rank)
    # Between classes: boats over all, then men, then planes.
    strength = {"plane": 0, "soldier": 1, "saboteur": 1, "boat": 2, "lifeboat": 2}
    return by_rank(strength[kind], strength[other])


def duel(rules: Rules, attacker: str, target: str, draw: Draw) -> str:
    """Return the result of a duel; only an order of forces with weights needs chance."""
    told = rules.order_of_forces.get((attacker, target))
    if told is None:
        return order_of_forces(attacker, target)
    if isinstance(told, str):
        return told
    roll = draw(sum(told))
    for result, weight in zip(ref.RESULTS, told, strict=True):
        if roll < weight:
            return result
        roll -= weight
    raise AssertionError("a draw beyond its range")


# --------------------------------------------------------------------------------------------------
# State
# --------------------------------------------------------------------------------------------------


@dataclass
class Token:
    """A piece of the game: on a square, aboard `carrier`, or dead (neither)."""

    number: int
    side: int
    type: str
    square: Square | None = None
    carrier: int | None = None
    boarded: int = 0  # the later, the higher

    @property
    def kind(self) -> str:
        return TYPES[self.type][0]

    @property
    def is_alive(self) -> bool:
        return self.square is not None or self.carrier is not None


@dataclass(frozen=True, order=True)
class Action:
    """What a side does in its turn; `square` is the goal, or where the carrier or the target stands."""

    piece: int
    kind: int  # index into ACTIONS
    square: Square

    @property
    def name(self) -> str:
        return ACTIONS[self.kind]


class Game:
    """The state of one skirmish."""

    def __init__(self, rules: Rules, tokens: list[Token], mover: int = 0) -> None:
        self.rules = rules
        self.tokens = tokens
        self.mover = mover
        self.turn = 0
        self.clock = 1 + max((token.boarded for token in tokens), default=0)
        self.outcome: str | None = None
        self.flags_taken = 0
        self.flags_dropped = 0
        self.attacks: list[tuple[dict[str, Any], ref.Answer]] = []
        self.seen: Counter[Any] = Counter()
        self.standing: dict[Square, Token] = {}
        self.loads: dict[int, list[Token]] = {}
        self.actions: list[Action] = []
        self.look()
        self.judge(arrived=False)

    # -- Looking ------------------------------------------------------------------------------------

    def look(self) -> None:
        """Note who stands where and who is aboard whom, in the order of boarding."""
        self.standing = {token.square: token for token in self.tokens if token.square is not None}
        assert len(self.standing) == sum(token.square is not None for token in self.tokens), "two pieces on a square"
        self.loads = {token.number: [] for token in self.tokens}
        for token in sorted(self.tokens, key=lambda token: (token.boarded, token.number)):
            if token.carrier is not None:
                self.loads[token.carrier].append(token)

    def aboard(self, token: Token) -> list[Token]:
        """Return all that is directly on or held by a piece, in the order of boarding."""
        return self.loads[token.number]

    def cargo(self, token: Token) -> list[Token]:
        """Return the pieces aboard; flags and mines take no place."""
        return [other for other in self.aboard(token) if other.kind not in {"flag", "mine"}]

    def tip(self, token: Token) -> list[Token]:
        """FA-10: all cargo is on the tip, or the piece that boarded first, or the one that boarded last."""
        load = self.cargo(token)
        return {"unlimited": load, "one": load[:1], "last": load[-1:]}[self.rules.options.tip_capacity]

    def family(self, token: Token) -> list[Token]:
        """Return a piece with all that is on it, on what is on it, and so on."""
        return [token] + [member for other in self.aboard(token) for member in self.family(other)]

    def flags_on(self, token: Token) -> list[Token]:
        return [member for member in self.family(token) if member.kind == "flag"]

    def at(self, square: Square) -> Token | None:
        return self.standing.get(square)

    def between(self, start: Square, goal: Square) -> list[Square]:
        """Return the squares strictly between two squares of a row or column."""
        rows, columns = goal[0] - start[0], goal[1] - start[1]
        length = max(abs(rows), abs(columns))
        return [(start[0] + rows // length * i, start[1] + columns // length * i) for i in range(1, length)]

    # -- Legal actions ------------------------------------------------------------------------------

    def actors(self, side: int) -> list[tuple[Token, Square]]:
        """Return the pieces that may act and from which square: those on the board and their direct cargo."""
        found = []
        for token in self.tokens:
            if token.side != side or token.kind in {"mine", "flag"} or not token.is_alive:
                continue
            square = token.square if token.carrier is None else self.tokens[token.carrier].square
            if square is not None:
                found.append((token, square))
        return found

    def neighbours(self, square: Square) -> list[Square]:
        beside = [(square[0] + rows, square[1] + columns) for rows, columns in BESIDE]
        return [goal for goal in beside if self.rules.on_board(goal)]

    def goals(self, token: Token, square: Square) -> list[Square]:
        """Return where a piece on the board may move."""
        if token.kind == "plane":
            goals = []
            for rows, columns in BESIDE:
                goal = (square[0] + rows, square[1] + columns)
                while self.rules.on_board(goal) and self.at(goal) is None:
                    goals.append(goal)
                    goal = (goal[0] + rows, goal[1] + columns)
            return goals
        return [
            goal for goal in self.neighbours(square) if self.at(goal) is None and self.rules.bears(token.kind, goal)
        ]

    def may_board(self, token: Token, carrier: Token) -> bool:
        if carrier.side != token.side or token.kind not in CARRIES.get(carrier.kind, ()):
            return False
        load = self.cargo(carrier)
        if len(load) >= self.rules.capacity[carrier.kind]:
            return False
        if token.kind == "lifeboat" and any(other.kind == "lifeboat" for other in load):
            return False
        flags = self.flags_on(token)
        return not flags or (carrier.kind != "plane" and not self.flags_on(carrier))

    def piece_row(self, token: Token, viewer: int) -> dict[str, Any]:
        """Return a piece as a field of an attack row, seen by the side that attacks."""
        root = token
        while root.carrier is not None:
            root = self.tokens[root.carrier]
        assert root.square is not None
        mount = "none"
        if token.carrier is not None:
            carrier = self.tokens[token.carrier]
            mount = ("plane_tip" if carrier.kind == "plane" else "boat_tip") if token in self.tip(carrier) else "hold"
        load = self.cargo(token)
        return {
            "kind": token.kind,
            "place": "land" if self.rules.is_land(root.square) else "sea",
            "mount": mount,
            "mine": any(other.kind == "mine" for other in self.aboard(token)),
            "flag": token.kind != "flag" and bool(self.flags_on(token)),
            "lifeboat": any(other.kind == "lifeboat" for other in load),
            "cargo": any(other.kind != "lifeboat" for other in load),
            "tip_soldier": any(other.kind == "soldier" for other in self.tip(token)),
            "own": token.side == viewer,
        }

    def attack_row(self, token: Token, square: Square, target: Token) -> dict[str, Any]:
        assert target.square is not None
        rows, columns = target.square[0] - square[0], target.square[1] - square[1]
        row: dict[str, Any] = {
            "attacker": {**self.piece_row(token, token.side), "own": False},
            "target": self.piece_row(target, token.side),
            "rows": rows,
            "columns": columns,
        }
        if (rows == 0) != (columns == 0):
            line = self.between(square, target.square)
            row["blocked"] = any(self.at(step) is not None for step in line)
            row["beside_taken"] = bool(line) and self.at(line[-1]) is not None
        return row

    def may_attack(self, token: Token, square: Square, target: Token) -> bool:
        assert target.square is not None
        way = target.square[0] - square[0], target.square[1] - square[1]
        if not ref.in_range(ref.Piece(token.kind), *way, self.rules.options):
            return False  # tested here already because most targets are far off
        row = self.attack_row(token, square, target)
        if ref.resolve({**row, "result": "win"}, self.rules.options).reason != "legal":
            return False
        # Where owners may take their flags back, no piece comes to hold both.
        return target.kind != "flag" or not self.flags_on(token)

    def legal_actions(self, side: int | None = None) -> list[Action]:
        """Return all legal actions, by number of the piece, then kind of action, then square."""
        side = self.mover if side is None else side
        found = []
        for token, square in self.actors(side):
            if token.carrier is None:
                found += [Action(token.number, 0, goal) for goal in self.goals(token, square)]
                for goal in self.neighbours(square):
                    carrier = self.at(goal)
                    if carrier is not None and self.may_board(token, carrier):
                        found.append(Action(token.number, 1, goal))
            else:
                found += [
                    Action(token.number, 2, goal)
                    for goal in self.neighbours(square)
                    if self.at(goal) is None and self.rules.bears(token.kind, goal)
                ]
            for target in self.tokens:
                if target.square is not None and self.may_attack(token, square, target):
                    found.append(Action(token.number, 3, target.square))
        return sorted(found)

    # -- Acting -------------------------------------------------------------------------------------

    def kill(self, token: Token) -> None:
        token.square = token.carrier = None

    def put_aboard(self, token: Token, carrier: Token) -> None:
        token.square, token.carrier, token.boarded = None, carrier.number, self.clock
        self.clock += 1

    def put_down(self, token: Token, square: Square) -> None:
        token.square, token.carrier = square, None

    def remove(self, token: Token, fate: ref.Fate) -> None:
        """Take a dead piece away and give what was on it its fate."""
        family = self.family(token)[1:]
        square, carrier = token.square, token.carrier
        lifeboat = next((other for other in self.cargo(token) if other.kind == "lifeboat"), None)
        saved = [] if lifeboat is None else self.family(lifeboat)
        flags = [member for member in family if member.kind == "flag" and member not in saved]
        survivors = [other for other in self.cargo(token) if other is not lifeboat] if fate.cargo == "stays" else []
        self.kill(token)

        def lay(what: Token) -> None:
            if square is not None:
                self.put_down(what, square)
            else:
                assert carrier is not None
                self.put_aboard(what, self.tokens[carrier])

        if lifeboat is not None:
            assert fate.lifeboat == "stays"
            lay(lifeboat)
        for survivor in survivors:
            assert lifeboat is not None
            saved += self.family(survivor)
            self.put_aboard(survivor, lifeboat)
        for flag in flags:
            if flag in saved:
                continue  # its holder lives
            if lifeboat is not None:
                self.put_aboard(flag, lifeboat)
            else:
                self.flags_dropped += square is not None
                lay(flag)
        for member in family:
            if member not in saved and member.kind != "flag":
                self.kill(member)

    def attack(self, token: Token, target: Token, square: Square, draw: Draw) -> None:
        row = self.attack_row(token, square, target)
        if target.kind != "flag":
            row["result"] = duel(self.rules, token.type, target.type, draw)
        answer = ref.resolve(row, self.rules.options)
        assert answer.reason == "legal"
        self.attacks.append((row, answer))
        if answer.target.life == "captured":
            self.flags_taken += 1
            self.put_aboard(target, token)
        if answer.target.life == "dies":
            self.remove(target, answer.target)
        if answer.attacker.life == "dies":
            self.remove(token, answer.attacker)
        if answer.square is not None and answer.square != (0, 0):
            self.put_down(token, (square[0] + answer.square[0], square[1] + answer.square[1]))

    def act(self, action: Action, draw: Draw) -> None:
        """Carry out one action of the side on the move, then see whether the game has ended."""
        assert self.outcome is None
        token = self.tokens[action.piece]
        other = self.at(action.square)
        taken = self.flags_taken
        if action.name == "attack":
            assert other is not None
            start = token.square if token.carrier is None else self.tokens[token.carrier].square
            assert start is not None
            self.attack(token, other, start, draw)
        elif action.name == "load":
            assert other is not None
            self.put_aboard(token, other)
        else:
            self.put_down(token, action.square)
        self.look()
        enemy_flag_taken = self.flags_taken > taken and other is not None and other.side != self.mover
        self.turn += 1
        self.mover = 1 - self.mover
        self.judge(arrived=enemy_flag_taken and self.rules.win == "capture")

    # -- The end ------------------------------------------------------------------------------------

    def has_come_home(self, side: int) -> bool:
        """Return whether a side carries the enemy's flag on its home row."""
        arrived = [
            token
            for token in self.tokens
            if token.side == side and token.square is not None and token.square[0] == self.rules.home_row(side)
        ]
        return any(flag.side != side for token in arrived for flag in self.flags_on(token))

    def tree(self, token: Token) -> Any:
        """Return a piece and its load; equal pieces are interchangeable."""
        below = [self.tree(other) for other in self.aboard(token)]
        ordered = self.rules.options.tip_capacity != "unlimited"
        return (token.side, token.type, tuple(below if ordered else sorted(below)))

    def board(self) -> Any:
        """Return the board and who is on the move, as repetitions are counted."""
        return (
            self.mover,
            tuple(sorted((token.square, self.tree(token)) for token in self.tokens if token.square is not None)),
        )

    def judge(self, *, arrived: bool) -> None:
        """End the game if it has ended; `self.mover` is the side that would act next."""
        last, following = 1 - self.mover, self.mover
        self.seen[self.board()] += 1
        self.actions = self.legal_actions(following)
        if arrived or (self.turn > 0 and self.rules.win == "carry_home" and self.has_come_home(last)):
            self.outcome = OUTCOMES[last]
        elif not self.actions:
            self.outcome = OUTCOMES[last] if self.legal_actions(last) else "draw"
        elif self.seen[self.board()] >= self.rules.repetitions or self.turn >= self.rules.turn_cap:
            self.outcome = "draw"


# --------------------------------------------------------------------------------------------------
# Set-up and policies
# --------------------------------------------------------------------------------------------------


# Those with the least choice of squares first: then every arrangement is as likely as any other.
PLACING = ("flag", "soldier", "boat", "lifeboat", "saboteur", "plane")


def set_up(rules: Rules, mixes: tuple[Mapping[str, int], Mapping[str, int]], draw: Draw) -> list[Token]:
    """Place two mixes at random; the second side's squares are those of the first, mirrored."""
    tokens: list[Token] = []
    for side in SIDES:
        mix = {**mixes[side], "flag": 1}
        mine = [
            Token(len(tokens) + number, side, unit)
            for number, unit in enumerate(unit for unit in TYPES for _ in range(mix.get(unit, 0)))
        ]
        tokens += mine
        taken: set[Square] = set()
        for kind in PLACING:
            for token in mine:
                if token.kind != kind:
                    continue
                depth = rules.flag_rows if kind == "flag" else rules.set_up_rows
                free = [
                    (row, column)
                    for row in range(depth)
                    for column in range(rules.columns)
                    if (row, column) not in taken and rules.bears("soldier" if kind == "flag" else kind, (row, column))
                ]
                square = free[draw(len(free))]
                taken.add(square)
                token.square = square if side == 0 else (rules.rows - 1 - square[0], square[1])
        # Mines go to soldiers at random, then to saboteurs; nobody holds two.
        waiting = [token for token in mine if token.kind == "mine"]
        for kind in ("soldier", "saboteur"):
            holders = [token for token in mine if token.kind == kind]
            while waiting and holders:
                holder = holders.pop(draw(len(holders)))
                waiting.pop(0).carrier = holder.number
        if waiting:
            raise ValueError(f"side {side}: more mines than soldiers and saboteurs")
    return tokens


def is_preferred(game: Game, action: Action) -> bool:
    """Return whether an action takes the enemy's flag or steps homeward with it."""
    token = game.tokens[action.piece]
    if action.name == "attack":
        target = game.at(action.square)
        return target is not None and target.kind == "flag" and target.side != game.mover
    if action.name != "move" or not any(flag.side != game.mover for flag in game.flags_on(token)):
        return False
    assert token.square is not None
    home = game.rules.home_row(game.mover)
    return abs(action.square[0] - home) < abs(token.square[0] - home)


def choose_random(game: Game, draw: Draw) -> Action:
    """Choose any legal action, all alike."""
    return game.actions[draw(len(game.actions))]


def choose_eager(game: Game, draw: Draw) -> Action:
    """Choose a capture or a homeward step with the flag when there is one, else any legal action."""
    preferred = [action for action in game.actions if is_preferred(game, action)]
    pool = preferred or game.actions
    return pool[draw(len(pool))]


def cost_of_the_dead(game: Game, side: int) -> int:
    return sum(COSTS[token.type] for token in game.tokens if token.side == side and not token.is_alive)


def value(game: Game, action: Action) -> Fraction:
    """Return the expected cost of the enemy's pieces that an action takes off, minus that of the own ones."""
    if action.name != "attack":
        return Fraction(0)
    target = game.at(action.square)
    assert target is not None
    told = game.rules.order_of_forces.get((game.tokens[action.piece].type, target.type))
    chances = (1,) if target.kind == "flag" or not isinstance(told, tuple) else told
    expected = Fraction(0)
    for at, weight in enumerate(chances):
        if weight:
            tried = copy.deepcopy(game)
            first = sum(chances[:at])
            tried.act(action, lambda _sides, first=first: first)  # type: ignore[misc]
            gains = [cost_of_the_dead(tried, side) - cost_of_the_dead(game, side) for side in SIDES]
            expected += Fraction(weight, sum(chances)) * (gains[1 - game.mover] - gains[game.mover])
    return expected


def choose_greedy(game: Game, draw: Draw) -> Action:
    """Choose a capture or a homeward step with the flag when there is one, else one of the most valuable actions."""
    pool = [action for action in game.actions if is_preferred(game, action)]
    if not pool:
        values = [value(game, action) for action in game.actions]
        pool = [action for action, worth in zip(game.actions, values, strict=True) if worth == max(values)]
    return pool[draw(len(pool))]


POLICIES: dict[str, Callable[[Game, Draw], Action]] = {
    "random": choose_random,
    "eager": choose_eager,
    "greedy": choose_greedy,
}


def play(
    mixes: tuple[Mapping[str, int], Mapping[str, int]],
    draw: Draw,
    rules: Rules = DEFAULTS,
    policy: str = "eager",
    watch: Callable[[Game], None] | None = None,
) -> Game:
    """Play a skirmish to its end; `watch` sees every position."""
    game = Game(rules, set_up(rules, mixes, draw))
    while True:
        if watch is not None:
            watch(game)
        if game.outcome is not None:
            break
        game.act(POLICIES[policy](game, draw), draw)
    return game
