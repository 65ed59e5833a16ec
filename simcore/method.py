"""How battles are resolved: fought many times, or solved; "auto" solves those that are sure to be small enough.

Whether they are is known before anything is solved and depends on the scenario alone: not on how busy a machine
is, nor on its threads. So a sweep takes the same decisions wherever it runs and however often it is resumed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from simcore.schema import AUTO_EFFORT, AUTO_STATES, STATE_EFFORT

if TYPE_CHECKING:
    from simcore.schema import Ruleset, ScenarioModel

__all__ = ["METHODS", "RESOLVED", "Choice", "choose", "expected_effort", "is_solvable"]

METHODS: Final = ("auto", "simulate", "exact")
RESOLVED: Final = {False: "simulated", True: "exact"}
"""How a battle was resolved, by whether it was solved."""


class Choice(NamedTuple):
    """What "auto" does with a battle.

    Attributes
    ----------
    effort : int
        Most steps of solving it, roughly; 0 where it is simulated.
    reason : str
        Why, in a few words.
    """

    effort: int
    reason: str

    @property
    def is_exact(self) -> bool:
        """Whether it is solved."""
        return self.effort > 0


def expected_effort(ruleset: Ruleset, scenario: ScenarioModel) -> int:
    """Return how many steps of about a nanosecond the exact solver takes at most, roughly; 0 where there is none.

    Parameters
    ----------
    ruleset : Ruleset
        Record that resolves the scenario.
    scenario : ScenarioModel

    Returns
    -------
    int
    """
    return ruleset.effort(scenario) or STATE_EFFORT * ruleset.count_states(scenario)


def is_solvable(ruleset: Ruleset, scenario: ScenarioModel) -> bool:
    """Return whether there is an exact solver with room for a battle; some are found too large only while solving.

    Parameters
    ----------
    ruleset : Ruleset
        Record that resolves the scenario.
    scenario : ScenarioModel

    Returns
    -------
    bool
    """
    if ruleset.solve is None:
        return False
    return ruleset.may_be_far_smaller(scenario) or 0 < ruleset.count_states(scenario) <= ruleset.most_states


def choose(ruleset: Ruleset, scenario: ScenarioModel) -> Choice:
    """Decide whether "auto" solves a battle: where its states and the work they make stay within the limits.

    Parameters
    ----------
    ruleset : Ruleset
        Record that resolves the scenario.
    scenario : ScenarioModel

    Returns
    -------
    Choice
    """
    must = ruleset.cannot_simulate(scenario)
    if must:
        return Choice(max(1, expected_effort(ruleset, scenario)), must)
    if ruleset.solve is None:
        return Choice(0, "there is no exact solver for such battles")
    states = ruleset.count_states(scenario)
    if states <= 0:
        return Choice(0, "there is no exact solver for battles of this kind, size and options")
    most = min(AUTO_STATES, ruleset.most_states)
    if states > most:
        return Choice(0, f"up to {states:,} states, more than {most:,}")
    steps = expected_effort(ruleset, scenario)
    if steps > AUTO_EFFORT:
        return Choice(0, f"up to {states:,} states and {_billions(steps)} steps, more than {_billions(AUTO_EFFORT)}")
    return Choice(steps, f"at most {states:,} {'state' if states == 1 else 'states'}")


def _billions(steps: int) -> str:
    return f"{steps / 1e9:,.3g} billion" if steps < 10**12 else f"{steps // 10**9:,} billion"
