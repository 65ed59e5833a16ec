"""The swing of a matchup as a strip."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.reporting.strip import swing_range, swing_strip

_LEVELS = ("swing_q05", "swing_q25", "swing_q50", "swing_q75", "swing_q95")


def _row(values: list[float], own: float = 10.0, enemy: float = 30.0) -> dict[str, float]:
    return dict(zip(_LEVELS, values, strict=True)) | {"attacker_cost": own, "defender_cost": enemy}


def test_marks_stand_where_the_swing_is_on_the_way_from_one_loss_to_the_other() -> None:
    strip = swing_strip(_row([-10.0, -2.0, 4.0, 10.0, 30.0]))
    assert strip is not None
    assert (strip["low"], strip["box_low"], strip["middle"], strip["zero"]) == (0.0, 20.0, 35.0, 25.0)
    assert (strip["range"], strip["box"]) == (100.0, 30.0)
    assert strip["label"] == "swing −10 to +30 in 9 of 10 battles, −2 to +10 in half of them, +4 in the middle"


def test_marks_never_leave_the_strip() -> None:
    # Money taken with a capital may bring a swing beyond what the units cost.
    strip = swing_strip(_row([-40.0, -2.0, 4.0, 10.0, 90.0]))
    assert strip is not None
    assert strip["low"] == 0.0
    assert strip["low"] + strip["range"] == 100.0


def test_halves_keep_their_decimals() -> None:
    assert swing_range(_row([-12.5, 0.0, 0.0, 0.0, 0.0])) == "−12.5 to 0 in 9 of 10"


@pytest.mark.parametrize("missing", _LEVELS)
def test_without_all_quantiles_there_is_no_strip(missing: str) -> None:
    row = _row([0.0] * 5) | {missing: np.nan}
    assert swing_strip(row) is None
    assert swing_range(row) == ""
    del row[missing]
    assert swing_strip(row) is None


def test_units_without_a_cost_have_no_strip() -> None:
    assert swing_strip(_row([0.0] * 5, 0.0, 0.0)) is None
