"""What the stories of all rulesets have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simcore.enums import Status
from simcore.errors import KernelStatusError, ScenarioError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["Story", "check_end"]


class Story:
    """What is told of a battle, as text and in notebooks.

    Attributes
    ----------
    lines : list of str
        One event a line.
    """

    lines: list[str]

    def to_text(self) -> str:
        """Return the story as text."""
        return "\n".join(self.lines)

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        text = self.to_text().replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        return f"<pre>{text}</pre>"


def check_end(
    status: Status,
    battle: int,
    script: npt.NDArray[np.int64] | None,
    used: int,
    draws: list[dict[str, Any]],
    *,
    is_last: bool,
) -> None:
    """Raise when a battle did not end as it should.

    Parameters
    ----------
    status : Status
        How it ended.
    battle : int
    script : int64 (draws,) or None
    used : int
        Entries of the script that were asked for.
    draws : list of dict
        Draw points so far, each with its cycle or turn.
    is_last : bool
        Whether the whole script must have been used by now.

    Raises
    ------
    ScenarioError
        For a script that is too short or too long, or gives impossible hits; names the draw point.
    KernelStatusError
        For a battle that does not end.
    """
    if script is not None and status in {Status.CAPACITY, Status.BAD_STATE}:
        draw = draws[-1]
        dice = "1 die" if draw["dice"] == 1 else f"{draw['dice']} dice"
        clock = "turn" if "turn" in draw else "cycle"
        place = f"{clock} {draw[clock]}, {draw['side']}: {draw['what']}, {dice}"
        point = f"draw point {len(draws)} ({place})"
        if used > len(script):
            raise ScenarioError(
                f"the script ends after {len(script)} draw points, but {point} needs its hits", field="script"
            )
        raise ScenarioError(
            f"{point} cannot give {int(script[used - 1])} hits; allowed: 0 to {draw['dice']}", field="script"
        )
    if status != Status.OK:
        raise KernelStatusError(f"battle {battle} ended with status {status.name}")
    if is_last and script is not None and used < len(script):
        raise ScenarioError(
            f"the battle ends after {used} draw points, but the script has {len(script)}", field="script"
        )
