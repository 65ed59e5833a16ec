"""Integer enumerations shared by all rulesets."""

from __future__ import annotations

from enum import IntEnum

__all__ = ["Side", "Status"]


class Side(IntEnum):
    """Axis **S** of every per-side array."""

    ATTACKER = 0
    DEFENDER = 1


class Status(IntEnum):
    """Technical state of a battle (uint8). Stand-offs and reached limits are outcomes, not statuses."""

    OK = 0
    RUNAWAY = 1
    """The cycle number left the range of the random address (2**20)."""
    BAD_STATE = 2
    """A count left its range: an internal error."""
    CAPACITY = 3
    """A fixed buffer (trace, script) was too small."""
    UNSET = 255
    """Never written: the value that arrays are filled with before a kernel runs."""
