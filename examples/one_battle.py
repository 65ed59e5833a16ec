"""One battle from Python: the odds, solved and fought, what a variant changes, and a replay of a single battle.

Run it with ``python examples/one_battle.py``, or cell by cell in an editor or notebook.
"""

# %% The odds of an attack
import sys

import simcore

battles = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
attacker = {"units": "6 infantry, 2 artillery, 3 tank", "keep_land": 1}
result = simcore.odds(attacker, "8 infantry, 1 tank", edition="spring1942")
print(result)

# %% The same from battles that were fought: near the exact shares, as near as their intervals say
print(simcore.odds(attacker, "8 infantry, 1 tank", edition="spring1942", method="simulate", battles=battles))

# %% Another edition: the difference owes nothing to luck
other = simcore.odds(attacker, "8 infantry, 1 tank", edition="revised")
for outcome, share in result.outcomes.items():
    print(f"{outcome:20} {share:8.4f} {other.outcomes[outcome] - share:+8.4f}")

# %% Battle number 7, draw by draw
story = simcore.replay({"attacker": attacker, "defender": {"units": "8 infantry, 1 tank"}}, battle=7)
print(story.to_text())
