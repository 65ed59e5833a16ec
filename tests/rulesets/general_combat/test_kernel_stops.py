"""Where a battle stops for a technical reason: scripts that end at each draw point, and runaway battles."""

from __future__ import annotations

from typing import Any

import pytest

import simcore
from simcore.core.jit import is_jit_disabled
from simcore.errors import KernelStatusError, ScenarioError
from simcore.rulesets.general_combat import kernel

RAID: dict[str, Any] = {
    "attacker": {"units": "2 infantry, 1 fighter, 1 bomber"},
    "defender": {"units": "2 infantry, 1 aa_gun"},
}
FLEET: dict[str, Any] = {
    "terrain": "sea",
    "attacker": {"units": "1 submarine, 1 cruiser"},
    "defender": {"units": "1 submarine, 1 cruiser"},
}


@pytest.mark.parametrize(
    ("scenario", "script", "draw_point"),
    [
        (RAID, [0], r"cycle 0, defender: AA at bombers"),
        (RAID, [0, 0], r"cycle 1, attacker: 2 infantry"),
        (RAID, [0, 0, 0, 0, 0], r"cycle 1, defender: 2 infantry"),
        ({**RAID, "low_luck": "aa"}, [0], r"cycle 0, defender: AA at bombers"),
        ({**RAID, "low_luck": "combat"}, [0, 0], r"cycle 1, attacker: low luck"),
        (FLEET, [0], r"cycle 1, defender: 1 submarine by surprise"),
        (FLEET, [0, 0], r"cycle 1, attacker: 1 cruiser"),
        (FLEET, [0, 0, 0], r"cycle 1, defender: 1 cruiser"),
        ({**FLEET, "low_luck": "combat"}, [0], r"cycle 1, defender: low luck of submarines"),
    ],
)
def test_a_script_that_ends_names_the_next_draw_point(
    scenario: dict[str, Any], script: list[int], draw_point: str
) -> None:
    with pytest.raises(ScenarioError, match=rf"ends after {len(script)} draw points.*{draw_point}"):
        simcore.replay(scenario, script=script)


@pytest.mark.skipif(not is_jit_disabled(), reason="compiled kernels have frozen the largest cycle")
@pytest.mark.parametrize("scenario", [RAID, FLEET])
def test_a_battle_that_leaves_the_range_of_cycles_is_named(
    scenario: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel, "MAX_CYCLE", 2)
    hopeless = {**scenario, "edition_changes": {"dice_sides": 20}, "switches": {"aa_choice": "owner"}}
    with pytest.raises(KernelStatusError, match=r"RUNAWAY: battle \d+ of"):
        simcore.simulate(simcore.encode([hopeless]), battles=200)
