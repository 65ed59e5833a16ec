"""What optimal play is worth: against the policy that is written down, and against the default one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from simcore.enums import Side, Status
from simcore.rulesets.general_combat.encoding import ACCUMULATORS, UNITS, encode
from simcore.rulesets.general_combat.exact import solve_battles
from simcore.rulesets.general_combat.optimal import WINS, Play, play_out
from simcore.rulesets.general_combat.side import RetreatPolicy
from simcore.unittext import format_units

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from simcore.rulesets.general_combat.params import GeneralCombatScenario

__all__ = ["examples", "explain"]

_MOST_EXAMPLES = 10


def _player(scenario: GeneralCombatScenario) -> Side | None:
    return next((side for side in Side if scenario.optimal(side) is not None), None)


def _worth(means: Mapping[str, float], side: Side, goal: str) -> float:
    """Return what a result is worth by a goal, as it is reported."""
    if goal == "swing":
        return means["swing.sum"]
    outcomes = [outcome.name.lower() for outcome in WINS[side]] if goal == "win" else ["attacker_wins"]
    return sum(means[f"outcome.{name}"] for name in outcomes)


def _without(scenario: GeneralCombatScenario, side: Side, *, by_default: bool) -> GeneralCombatScenario:
    """Return the battle with a side's written policy, or the default one, in place of optimal play."""
    name = side.name.lower()
    own = scenario.attacker if side == Side.ATTACKER else scenario.defender
    changes: dict[str, Any] = {"optimal": None}
    if by_default:
        changes |= {"loss_order": "default", "submerge": "never"}
        if side == Side.ATTACKER:
            changes |= {"keep_land": 0, "retreat": RetreatPolicy(possible=scenario.attacker.retreat.possible)}
    return scenario.model_copy(update={name: own.model_copy(update=changes)})


def explain(scenario: GeneralCombatScenario, means: Mapping[str, float]) -> dict[str, Any]:
    """Return what optimal play decides and gains.

    Parameters
    ----------
    scenario : GeneralCombatScenario
    means : mapping of str to float
        Expected accumulators of the battle under optimal play.

    Returns
    -------
    dict
        Empty without optimal play. Otherwise ``optimal``: ``side``, ``goal``, ``decisions``; ``value``,
        ``value_written_policy`` and ``value_default_policy`` in terms of the goal (a probability, or defender's cost
        lost minus attacker's); ``gain`` over the default and ``gain_over_written``, positive where play is better for
        the side; and ``examples`` of decisions as text.
    """
    side = _player(scenario)
    if side is None:
        return {}
    optimal = scenario.optimal(side)
    assert optimal is not None  # noqa: S101 - for the type checker
    others = [_without(scenario, side, by_default=by_default) for by_default in (False, True)]
    tally, _, status = solve_battles(encode(others), others, threads=1)
    written, default = (
        _worth(dict(zip(ACCUMULATORS, row, strict=True)), side, optimal.goal) if code == Status.OK else None
        for row, code in zip(tally.tolist(), status.tolist(), strict=True)
    )
    value = _worth(means, side, optimal.goal)
    # The defender wants few captures and a small swing.
    sign = -1.0 if side == Side.DEFENDER and optimal.goal != "win" else 1.0
    found = {
        "side": side.name.lower(),
        "goal": optimal.goal,
        "decisions": list(scenario.decisions(side)),
        "value": value,
        "value_written_policy": written,
        "value_default_policy": default,
        "gain": None if default is None else sign * (value - default),
        "gain_over_written": None if written is None else sign * (value - written),
        "examples": examples(scenario),
    }
    return {"optimal": found}


def examples(scenario: GeneralCombatScenario, most: int = _MOST_EXAMPLES) -> list[str]:
    """Return some decisions as text: who leaves, and which losses differ from the order of loss.

    Parameters
    ----------
    scenario : GeneralCombatScenario
    most : int
        How many at most; those of the largest stacks come first.

    Returns
    -------
    list of str
    """
    if scenario.terrain == "sea":
        return []
    play = play_out(encode([scenario]), 0)
    lines: list[str] = []
    for line in _lines(play):
        lines.append(line)
        if len(lines) == most:
            break
    return lines


def _text(play: Play, side: Side, state: int) -> str:
    """Return the units of a state."""
    assert play.opening is not None  # noqa: S101 - of a battle that was decided
    stack = play.opening.own if side == Side.ATTACKER else play.opening.enemy
    first, last = play.opening.plan.board[side]
    counts: dict[str, int] = {}
    for g in range(int(first), int(last)):
        unit = UNITS[int(play.opening.plan.kind[g])]
        counts[unit] = counts.get(unit, 0) + int(stack.units[state, g - int(play.opening.plan.groups[side, 0])])
    return format_units({unit: n for unit, n in counts.items() if n}) or "nothing"


def _lines(play: Play) -> Iterator[str]:
    opening, game, aim = play.opening, play.game, play.aim
    if opening is None or game is None or aim is None:
        return
    own, enemy = opening.own, opening.enemy
    attackers = own.order[: int(own.count[0])][::-1].tolist()
    defenders = enemy.order[: int(enemy.count[0])][::-1].tolist()
    for a in attackers:
        for d in defenders:
            if game.leaves[-1, d, a]:
                chance = float(game.going[-1, 1, d, a])
                yield (
                    f"{_text(play, Side.ATTACKER, a)} v {_text(play, Side.DEFENDER, d)}: the attacker leaves "
                    f"(going on he would win with {100 * chance:.1f} %)"
                )
    if not game.best.size:
        return
    # The losses of the last level looked at: those that hold for all later cycles.
    for a in attackers:
        for d in defenders:
            state = a
            for h in range(1, min(game.best.shape[0], int(own.board[a]))):
                state = int(own.after[state, 0])
                best = int(game.best[h, d, a])
                if best != state and not np.array_equal(own.units[best], own.units[state]):
                    yield (
                        f"{_text(play, Side.ATTACKER, a)} after {h} {'hit' if h == 1 else 'hits'}, facing "
                        f"{_text(play, Side.DEFENDER, d)}: keeps {_text(play, Side.ATTACKER, best)}, "
                        f"not {_text(play, Side.ATTACKER, state)}"
                    )
                    break
