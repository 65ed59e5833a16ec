"""What optimal play is worth: against the policy that is written down, and against the default one."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from simcore.enums import Side, Status
from simcore.rulesets.general_combat.encoding import ACCUMULATORS, ATTACKER_CHOOSES, MARGIN, UNITS, LossForm, encode
from simcore.rulesets.general_combat.exact import solve_battles
from simcore.rulesets.general_combat.optimal import WINS, Play, values_of
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
        for row, code in zip(tally[:, : len(ACCUMULATORS)].tolist(), status.tolist(), strict=True)
    )
    value = _worth(means, side, optimal.goal)

    def gain(other: float | None) -> float | None:
        if other is None:
            return None
        # The defender wants few captures and a small swing.
        more = other - value if side == Side.DEFENDER and optimal.goal != "win" else value - other
        return more if abs(more) > MARGIN * max(1.0, abs(value)) else 0.0

    found = {
        "side": side.name.lower(),
        "goal": optimal.goal,
        "decisions": list(scenario.decisions(side)),
        "value": value,
        "value_written_policy": written,
        "value_default_policy": default,
        "gain": gain(default),
        "gain_over_written": gain(written),
        "examples": examples(scenario),
    }
    return {"optimal": found}


def examples(scenario: GeneralCombatScenario, most: int = _MOST_EXAMPLES) -> list[str]:
    """Return some decisions as text: who leaves, who submerges, and which losses differ from the order of loss.

    They are those of the later cycles, in which it does not matter any more how many there were. Of losses at sea none
    are told.

    Parameters
    ----------
    scenario : GeneralCombatScenario
    most : int
        How many of each kind at most; those of the largest stacks come first.

    Returns
    -------
    list of str
    """
    play = values_of(encode([scenario]), 0)
    if play.status != Status.OK:
        return []
    kinds = (_leaving(play), _submerging(play), _losing(play))
    return [line for lines in kinds for line in islice(lines, most)]


def _text(play: Play, side: Side, state: int) -> str:
    """Return the units of a state that are on the board."""
    plan = play.plan
    first, last = (int(g) for g in plan.groups[side])
    counts: dict[str, int] = {}
    damaged: dict[str, int] = {}
    for g in range(first, last):
        unit, n = UNITS[int(plan.kind[g])], int(play.stack(side).units[state, g - first])
        if n and plan.form[g] not in {LossForm.ELSEWHERE, LossForm.SUBMERGED}:
            counts[unit] = counts.get(unit, 0) + n
            if plan.form[g] == LossForm.DAMAGED:
                damaged[unit] = n
    below = int(play.stack(side).units[state, int(plan.submerged[side]) - first]) if plan.submerged[side] < last else 0
    text = format_units(counts) or "nothing"
    text += f" ({format_units(damaged)} damaged)" if damaged else ""
    return text + (f" ({below} submerged)" if below else "")


def _pairs(play: Play) -> Iterator[tuple[int, int, str]]:
    """Yield all pairs of states, attacker's first, from the largest, with a text."""
    sizes = [play.stack(side).units[: int(play.stack(side).count[0])].sum(axis=1, dtype=np.int64) for side in Side]
    orders = [np.argsort(-size, kind="stable").tolist() for size in sizes]
    for a in orders[Side.ATTACKER]:
        for d in orders[Side.DEFENDER]:
            if sizes[Side.ATTACKER][a] and sizes[Side.DEFENDER][d]:
                yield a, d, f"{_text(play, Side.ATTACKER, a)} v {_text(play, Side.DEFENDER, d)}"


def _leaving(play: Play) -> Iterator[str]:
    leaves, going = play.leaves[-1], play.going[-1]
    for a, d, text in _pairs(play):
        if leaves[d, a]:
            yield f"{text}: the attacker leaves (going on he would win with {100 * float(going[1, d, a]):.1f} %)"


def _submerging(play: Play) -> Iterator[str]:
    if play.sea is None:
        return
    for name, when in (("dives", "instead of striking"), ("dives_late", "at the end of the cycle")):
        table = getattr(play.sea, name)[-1]
        for a, d, text in _pairs(play):
            n = int(table[d, a])
            if n:
                yield f"{text}: {n} {'submarine submerges' if n == 1 else 'submarines submerge'} {when}"


def _losing(play: Play) -> Iterator[str]:
    game, opening, aim = play.game, play.opening, play.aim
    if game is None or opening is None or aim is None or not game.best.size:
        return
    side = Side.ATTACKER if aim.losses == ATTACKER_CHOOSES else Side.DEFENDER
    stack = opening.own if side == Side.ATTACKER else opening.enemy
    for a, d, text in _pairs(play):
        state = a if side == Side.ATTACKER else d
        for hits in range(1, min(game.best.shape[0], int(stack.board[state]))):
            ordered = state
            for _ in range(hits):
                ordered = int(stack.after[ordered, 0])
            best = int(game.best[hits, d, a])
            if best != ordered:
                yield (
                    f"{text}: under {hits} {'hit' if hits == 1 else 'hits'} the {side.name.lower()} keeps "
                    f"{_text(play, side, best)}, not {_text(play, side, ordered)}"
                )
                break
