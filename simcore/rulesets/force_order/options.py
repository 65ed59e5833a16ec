"""Readings of the rules that a scenario or an edition may choose."""

from __future__ import annotations

from typing import Literal, get_args

from pydantic import Field, model_validator

from simcore.errors import ScenarioError
from simcore.model import FrozenModel

__all__ = ["BOARD_FIELDS", "OPTION_FIELDS", "RuleOptions"]


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
    tip_capacity: Literal["unlimited", "one", "last"] = Field(
        default="unlimited",
        description="Who of the cargo stands on the loading tip: all, the first or the last aboard (FA-10)",
    )
    rows: int = Field(default=8, ge=2, le=32, description="Rows of the board (FA-25)")
    columns: int = Field(default=8, ge=1, le=32, description="Columns of the board (FA-25)")
    land_columns: int = Field(
        default=5, ge=1, le=32, description="Columns from the left that are land, the others are sea (FA-25)"
    )
    set_up_rows: int = Field(
        default=3, ge=1, le=16, description="Rows, from its home row on, in which a side is placed (FA-25)"
    )
    flag_rows: int = Field(
        default=2, ge=1, le=16, description="Rows, from its home row on, in which a side's flag is placed (FA-25)"
    )
    boat_capacity: int = Field(default=4, ge=0, le=32, description="Pieces that a boat carries (FA-25)")
    lifeboat_capacity: int = Field(default=2, ge=0, le=32, description="Pieces that a lifeboat carries (FA-25)")
    plane_capacity: int = Field(default=2, ge=0, le=32, description="Pieces that a plane carries (FA-25)")
    win: Literal["carry_home", "capture"] = Field(
        default="carry_home", description="Whether the enemy's flag must be carried home or only be taken (FA-25)"
    )
    turn_cap: int = Field(default=200, ge=1, le=10_000, description="Turns after which a game is a draw (FA-25)")
    repetitions: int = Field(
        default=3,
        ge=0,
        le=10_000,
        description="How often the same board with the same side on the move makes a draw; 0: never (FA-25)",
    )

    @model_validator(mode="after")
    def _check_board(self) -> RuleOptions:
        if self.land_columns > self.columns:
            raise ScenarioError(
                f"must be at most columns = {self.columns}, got {self.land_columns}", field="land_columns"
            )
        if 2 * self.set_up_rows > self.rows:
            raise ScenarioError(
                f"both sides must fit on rows = {self.rows}: at most {self.rows // 2}, got {self.set_up_rows}",
                field="set_up_rows",
            )
        if self.flag_rows > self.set_up_rows:
            raise ScenarioError(
                f"must be at most set_up_rows = {self.set_up_rows}, got {self.flag_rows}", field="flag_rows"
            )
        if self.repetitions == 1:
            raise ScenarioError("must be 0 (never) or at least 2: every board comes once, got 1", field="repetitions")
        return self

    def codes(self) -> tuple[int, ...]:
        """Return the options that bear on single attacks as numbers, in the order of `steps.Options`."""
        return tuple(
            int(value) if isinstance(value := getattr(self, name), bool) else _values(name).index(value)
            for name in OPTION_FIELDS
        )


def _values(name: str) -> tuple[str, ...]:
    return get_args(RuleOptions.model_fields[name].annotation)


_NAMES = tuple(RuleOptions.model_fields)
OPTION_FIELDS = _NAMES[: _NAMES.index("order_of_forces")]
"""Options of single attacks, but for the order of forces."""
BOARD_FIELDS = _NAMES[_NAMES.index("tip_capacity") :]
"""Options of skirmishes alone."""
