"""Names of the rulesets and where they live; nothing is imported before it is asked for."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from simcore.errors import UnknownRulesetError, suggestion
from simcore.model import shown

if TYPE_CHECKING:
    from simcore.schema import Ruleset

__all__ = ["get_ruleset", "ruleset_names"]

_RULESETS = {
    "force_order": "simcore.rulesets.force_order:RULESET",
    "general_combat": "simcore.rulesets.general_combat:RULESET",
    "mass_battle": "simcore.rulesets.mass_battle:RULESET",
}


def ruleset_names() -> tuple[str, ...]:
    """Return the registered names in alphabetical order."""
    return tuple(sorted(_RULESETS))


def get_ruleset(name: str) -> Ruleset:
    """Return the record of a ruleset.

    Parameters
    ----------
    name : str
        Registered name.

    Returns
    -------
    Ruleset

    Raises
    ------
    UnknownRulesetError
        With a near match where there is one.
    """
    if name not in _RULESETS:
        raise UnknownRulesetError(
            f"ruleset: unknown ruleset {shown(name)}{suggestion(name, _RULESETS)}; known: {', '.join(ruleset_names())}"
        )
    module, attribute = _RULESETS[name].split(":")
    record: Ruleset = getattr(importlib.import_module(module), attribute)
    return record
