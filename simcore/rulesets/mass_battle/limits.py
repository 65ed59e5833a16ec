"""How large an exact solution of a mass battle may be.

`exact` refuses battles whose lists may be longer before anything is solved; kernels check the same, so that no bound
there can harm more than the one battle.
"""

from __future__ import annotations

__all__ = [
    "MOST_ENTRIES",
    "MOST_HITS",
    "MOST_ROWS",
    "MOST_SPREAD_STATES",
    "MOST_STATES",
    "MOST_SWINGS",
    "MOST_SWING_CHANCES",
    "MOST_WAYS",
]

MOST_STATES = 2**19
"""Most pairs of states of both armies: one turn takes about a microsecond for each."""
MOST_SPREAD_STATES = 2**14
"""Most pairs of states that count destroyed squads, for the distribution of the swing: 5 against 5 of one type, which
takes about as long as simulating 100,000 battles."""
MOST_SWINGS = 1_000
"""Most swings of a battle, in steps, whose distribution is found."""
MOST_SWING_CHANCES = 2**25
"""Most chances of both armies' rows and costs, for the same: 8 bytes each."""
MOST_HITS = 2**24
"""Most outcomes of rolls, over all states of an army: 32 bytes each."""
MOST_ROWS = 2**23
"""Most rows of an army, one for each state and roll: a hundred bytes each."""
MOST_ENTRIES = 2**25
"""Most probabilities in all rows of an army, and in the list of what rolls may come to: 16 bytes each."""
MOST_WAYS = 2**17
"""Most ways in which the rallies of a turn may go."""
