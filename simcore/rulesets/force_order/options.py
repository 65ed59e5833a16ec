"""Readings of the rules that a scenario or an edition may choose."""

from __future__ import annotations

from typing import Literal, get_args

from pydantic import Field

from simcore.model import FrozenModel

__all__ = ["OPTION_FIELDS", "RuleOptions"]


class RuleOptions(FrozenModel):
    """Options of the rules; the first value of each is the default reading."""

    plane_win: Literal["stay", "take", "adjacent"] = Field(
        default="stay", description="Where a plane goes that has beaten an ordinary piece (FA-1)"
    )
    plane_special_win: Literal["adjacent", "stay"] = Field(
        default="adjacent", description="Where a plane goes that leaves a flag or lifeboat behind (FA-2)"
    )
    tie: Literal["both_die", "attacker_wins", "defender_wins", "both_stay"] = Field(
        default="both_die", description="What a tie does (FA-3)"
    )
    adjacency: Literal["orthogonal", "diagonal"] = Field(
        default="orthogonal", description='What "one square beside" is; diagonal: those too (FA-4)'
    )
    plane_line_blocked: bool = Field(default=False, description="Whether pieces between block a plane (FA-5)")
    lifeboat_saves: Literal["own_load", "all_cargo"] = Field(
        default="own_load", description="What stays with the lifeboat of a beaten boat (FA-6)"
    )
    saboteur_is_soldier: bool = Field(
        default=True, description="Whether a soldier may attack a saboteur on land (FA-7)"
    )
    boat_attacks_saboteur: bool = Field(default=False, description="Whether boats attack saboteurs at sea (FA-8)")
    plane_attacks_flag: Literal["refused", "plane_dies", "plane_takes"] = Field(
        default="refused", description="What happens when a plane attacks a lone flag (FA-9)"
    )
    own_flag_recovery: bool = Field(default=False, description="Whether a side may take up its own flag (FA-21)")
    order_of_forces: Literal["ranks", "pairs", "given"] = Field(
        default="ranks",
        description="Duels by ranks with exceptions, by a probability for each pair, or as `result` says (FA-17)",
    )

    def codes(self) -> tuple[int, ...]:
        """Return the options that bear on single attacks as numbers, in the order of `steps.Options`."""
        return tuple(
            int(value) if isinstance(value := getattr(self, name), bool) else _values(name).index(value)
            for name in OPTION_FIELDS
        )


def _values(name: str) -> tuple[str, ...]:
    return get_args(RuleOptions.model_fields[name].annotation)


OPTION_FIELDS = tuple(name for name in RuleOptions.model_fields if name != "order_of_forces")
