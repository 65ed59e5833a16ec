"""A skirmish of the reference played with the random words of a game of the kernel, and compared turn by turn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from simcore.core.rng import draw_tag, philox4x32
from simcore.rulesets.force_order.attack import Attacks
from simcore.rulesets.force_order.layout import ROW_FIELDS, Result
from simcore.rulesets.force_order.skirmish.drive import trace_game
from simcore.rulesets.force_order.skirmish.encoding import ACCUMULATORS, encode
from simcore.rulesets.force_order.skirmish.layout import Event, TraceColumn
from simcore.scenario import load_scenario
from tests.rulesets.force_order import reference_skirmish as sk
from tests.rulesets.force_order.test_parity import assert_same, reference_row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

Mixes = tuple[dict[str, int], dict[str, int]]


def scenario_of(rules: sk.Rules, mixes: Mixes, policies: tuple[str, str], **more: Any) -> dict[str, Any]:
    """Return a scenario that holds what the reference is given."""
    options = vars(rules.options) | {
        name: getattr(rules, name)
        for name in ("rows", "columns", "land_columns", "set_up_rows", "flag_rows", "win", "turn_cap", "repetitions")
    }
    options |= {f"{kind}_capacity": places for kind, places in rules.capacity.items()}
    duels: list[dict[str, Any]] = [
        {"attacker": "saboteur", "defender": unit, "result": "win"} for unit in ("boat_large", "soldier9")
    ]
    for (attacker, defender), told in rules.order_of_forces.items():
        pair: dict[str, Any] = {"attacker": attacker, "defender": defender}
        if isinstance(told, str):
            pair["result"] = told
        else:
            pair |= {"win": told[0] / sum(told), "lose": told[1] / sum(told)}
        if defender != "flag":
            duels.append(pair)
    sides = {
        name: {
            "units": mix,
            "policy": "greedy" if policy == "greedy" else "random",
            "flag_first": policy != "random",
        }
        for name, mix, policy in zip(("attacker", "defender"), mixes, policies, strict=True)
    }
    changes = {"duels": duels, "options.order_of_forces": "pairs"}
    return {
        "ruleset": "force_order",
        "mode": "skirmish",
        "options": options,
        "edition_changes": changes,
        **sides,
        **more,
    }


class Words:
    """The random words of a game, by their addresses."""

    def __init__(self, key: Any, battle: int) -> None:
        self._key = [np.uint64(word) for word in key]
        self._battle = battle
        self._waiting: Iterator[int] = iter(())

    def at(self, block: int, cycle: int, step: int, side: int) -> tuple[int, int]:
        low, high = np.uint64(self._battle & 0xFFFFFFFF), np.uint64(self._battle >> 32)
        tag = np.uint64(draw_tag(cycle, step, side, 0))
        c = [int(word) for word in philox4x32(np.uint64(block), tag, low, high, *self._key)]
        return c[0] | c[1] << 32, c[2] | c[3] << 32

    def wait(self, words: Iterator[int]) -> None:
        """Say which words come next."""
        self._waiting = words

    def draw(self, sides: int) -> int:
        """Return a number below `sides`, made of the next word."""
        return next(self._waiting) * sides >> 64


def set_up_words(words: Words, mixes: Mixes) -> Iterator[int]:
    for side, mix in enumerate(mixes):
        placed = 1 + sum(n for unit, n in mix.items() if unit != "mine")
        for step, number in ((0, placed), (1, mix.get("mine", 0))):
            for block in range(number):
                yield words.at(block, 0, step, side)[0]


def compare(
    rules: sk.Rules,
    mixes: Mixes,
    policies: tuple[str, str] = ("eager", "eager"),
    *,
    key: tuple[int, int] = (1, 2),
    battle: int = 0,
    first: int = 0,
    watch: Callable[[sk.Game], None] | None = None,
) -> sk.Game:
    """Play a game in both ways and compare them turn by turn; returns the game of the reference."""
    mover = ("attacker", "defender")[first]
    games = encode([load_scenario(scenario_of(rules, mixes, policies, first_mover=mover))])  # type: ignore[list-item]
    trace, tally, _ = trace_game(games, np.array(key, dtype=np.uint64), battle, None)
    words = Words(key, battle)
    words.wait(set_up_words(words, mixes))
    game = sk.Game(rules, sk.set_up(rules, mixes, words.draw), first)
    events = trace[:, TraceColumn.EVENT]
    turns = trace[events == Event.ACTED]
    same_board(game, trace[events == Event.BEGUN][0])
    for row in turns:
        assert game.outcome is None
        if watch is not None:
            watch(game)
        same_turn(game, row, policies, words)
    assert game.outcome is not None
    same_end(game, dict(zip(ACCUMULATORS, tally.tolist(), strict=True)), first)
    return game


def same_board(game: sk.Game, row: Any) -> None:
    found = row[TraceColumn.PIECES :].reshape(-1, 2).tolist()
    columns = game.rules.columns
    expected = [
        [
            -1 if token.square is None else token.square[0] * columns + token.square[1],
            -1 if token.carrier is None else token.carrier,
        ]
        for token in game.tokens
    ]
    assert found == expected


def same_turn(game: sk.Game, row: Any, policies: tuple[str, str], words: Words) -> None:
    """Let the reference take its turn, and compare it with a row of the trace."""
    assert row[TraceColumn.SIDE] == game.mover
    assert row[TraceColumn.ACTIONS] == len(game.actions)
    words.wait(iter(words.at(0, game.turn + 1, 0, game.mover)))
    numbers: list[int] = []

    def draw(sides: int) -> int:
        numbers.append(sides)
        return words.draw(sides)

    action = sk.POLICIES[policies[game.mover]](game, draw)
    assert row[TraceColumn.CHOICES] == numbers[0]
    goal = action.square[0] * game.rules.columns + action.square[1]
    told = [int(row[column]) for column in (TraceColumn.PIECE, TraceColumn.ACT, TraceColumn.SQUARE)]
    assert told == [action.piece, action.kind, goal]
    fought = len(game.attacks)
    game.act(action, draw)
    same_board(game, row)
    assert (len(game.attacks) > fought) == (action.name == "attack")
    if action.name == "attack":
        same_attack(game, row)


def same_attack(game: sk.Game, row: Any) -> None:
    """Compare the last attack with the row and the answer of the trace."""
    given, answer = game.attacks[-1]
    end = TraceColumn.ROW + len(ROW_FIELDS)
    seen = reference_row(row[TraceColumn.ROW : end])
    duel = Result(int(row[TraceColumn.RESULT])).name.lower()
    assert duel == given.get("result", "by_rank")
    assert seen["attacker"] | {"own": False} == given["attacker"]
    assert seen["target"] == given["target"]
    assert (seen["rows"], seen["columns"]) == (given["rows"], given["columns"])
    for name in ("blocked", "beside_taken"):
        assert bool(seen[name]) == given.get(name, False)
    masks = [np.array([row[column]], dtype=np.uint64) for column in (TraceColumn.CLAUSES, TraceColumn.GAPS)]
    answers = np.array([row[TraceColumn.ANSWER : TraceColumn.PIECES]], dtype=np.int8)
    told = Attacks(answers, *masks).describe(0)
    assert_same(told, answer, given["attacker"]["kind"], given)


def same_end(game: sk.Game, tally: Mapping[str, int], first: int) -> None:
    assert tally[f"outcome.{game.outcome}"] == tally["battles"] == 1
    assert tally["turns.sum"] == game.turn
    for what in ("dropped", "taken"):
        number = sum(tally[f"flags_{what}.{side}"] for side in ("attacker", "defender"))
        assert number == getattr(game, f"flags_{what}")
    for number, side in enumerate(("attacker", "defender")):
        assert tally[f"{side}.cost_lost.sum"] == sk.cost_of_the_dead(game, number)
        dead = [token for token in game.tokens if token.side == number and not token.is_alive]
        assert tally[f"pieces_lost.{side}"] == len(dead)
        for unit in sk.TYPES:
            living = sum(
                token.side == number and token.type == unit and token.is_alive and unit != "flag"
                for token in game.tokens
            )
            assert tally[f"survivors.{game.outcome}.{side}.{unit}"] == living
    wins = {"attacker_wins": 0, "defender_wins": 1, "draw": None}[str(game.outcome)]
    assert tally["first_mover_edge.sum"] == (0 if wins is None else 1 if wins == first else -1)


def script_for(
    rules: sk.Rules, mixes: Mixes, squares: list[sk.Square], moves: list[tuple[int, str, sk.Square]]
) -> list[int]:
    """Return the script of a game without mines in which pieces start on these squares and then do this.

    Raises ValueError where a square is taken or an action is not legal. Draw points with one choice have no entry.
    """
    script: list[int] = []
    wanted = iter(squares)
    tokens: list[sk.Token] = []

    def choose(free: list[Any], entry: Any) -> None:
        at = free.index(entry)
        if len(free) > 1:
            script.append(at)

    for side, mix in enumerate(mixes):
        units = [unit for unit in sk.TYPES for _ in range({**mix, "flag": 1}.get(unit, 0))]
        own = [sk.Token(len(tokens) + n, side, unit, next(wanted)) for n, unit in enumerate(units)]
        tokens += own
        taken: set[sk.Square] = set()
        for kind in sk.PLACING:
            for token in own:
                if token.kind == kind:
                    assert token.square is not None
                    depth = rules.flag_rows if kind == "flag" else rules.set_up_rows
                    free = [
                        (row, column)
                        for row in range(depth)
                        for column in range(rules.columns)
                        if (row, column) not in taken
                        and rules.bears("soldier" if kind == "flag" else kind, (row, column))
                    ]
                    row, column = token.square
                    place = (row if side == 0 else rules.rows - 1 - row, column)
                    choose(free, place)
                    taken.add(place)
    game = sk.Game(rules, tokens)
    for piece, name, square in moves:
        action = sk.Action(piece, sk.ACTIONS.index(name), square)
        choose(game.actions, action)
        game.act(action, lambda _sides: 0)
    # What is left of the game is played by taking the first action.
    while game.outcome is None:
        choose(game.actions, game.actions[0])
        game.act(game.actions[0], lambda _sides: 0)
    return script
