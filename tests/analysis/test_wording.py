"""Names and figures as text."""

from __future__ import annotations

import pytest

from analysis.wording import (
    clean,
    count_text,
    display_width,
    duration_text,
    figure_text,
    fit,
    grid_value_text,
    interval_text,
    plural,
    points_text,
    short_label,
    short_labels,
)


def test_clean_disarms_terminals_and_direction_marks() -> None:
    assert clean("a\x1b[31mb\nc") == "a\ufffd[31mb\ufffdc"
    assert clean("safe\u202egnp.exe\u2066") == "safe\ufffdgnp.exe\ufffd"
    assert clean("\ud800") == "\ufffd"
    assert clean("Гвардия חיל 歩兵 é") == "Гвардия חיל 歩兵 é"


@pytest.mark.parametrize("width", [12, 20, 34, 80])
@pytest.mark.parametrize(
    "name",
    [
        "10 infantry, 5 tank",
        "12 infantry, 11 mech_infantry, 10 artillery, 9 tank, 8 fighter, 7 tactical_bomber, 6 bomber",
        "歩兵歩兵歩兵歩兵歩兵歩兵歩兵歩兵歩兵歩兵歩兵",
        "e\u0301" * 60,
        "x" * 500,
    ],
)
def test_labels_fit(name: str, width: int) -> None:
    assert display_width(short_label(name, width)) <= width
    assert display_width(fit(name, width)) == width


def test_unit_lists_are_cut_by_word_before_they_are_cut_in_the_middle() -> None:
    assert short_label("10 infantry, 5 artillery", 24) == "10 infantry, 5 artillery"
    assert short_label("10 infantry, 5 artillery", 20) == "10 inf, 5 art"
    assert short_label("10 infantry, 5 artillery", 11) == "10inf 5art"
    assert short_label("2 mech_infantry, 1 aa_gun, 3 tactical_bomber", 24) == "2 mech, 1 aa, 3 tact"
    assert short_label("The Old Guard of 1815", 11) == "The O… 1815"


def test_one_long_list_cuts_all_lists_alike() -> None:
    names = ["1 infantry", "3 infantry, 4 artillery, 5 fighter", "Elite infantry"]
    assert short_labels(names, 24) == ["1 inf", "3 inf, 4 art, 5 fig", "Elite infantry"]
    assert short_labels(names[:1], 24) == ["1 infantry"]


def test_figures() -> None:
    assert [figure_text(value) for value in (0.0, 1.005, 9.99, 10.0, 1234.5)] == [
        "0.00", "1.00", "9.99", "10.0", "1,234.5",
    ]  # fmt: skip
    assert figure_text(-0.001, signed=True) == "0.00"
    assert figure_text(float("nan")) == "–"
    assert figure_text(float("inf")) == "∞"


def test_points_do_not_claim_all() -> None:
    assert points_text(0.0) == "0.0"
    assert points_text(-0.9996) == "−99.960"
    assert points_text(1.0) == "+100"


def test_intervals_near_the_ends_keep_digits() -> None:
    assert interval_text(0.0, 0.000384) == "0 to 0.038 %"
    assert interval_text(0.998083, 1.0) == "99.81 to 100 %"
    assert interval_text(0.4, 0.6) == "40.0 to 60.0 %"
    assert interval_text(0.0, 1.0) == "0 to 100 %"
    assert interval_text(float("nan"), 1.0) == "–"


def test_small_words() -> None:
    assert plural(1, "mix", "mixes") == "1 mix"
    assert plural(1200, "mix", "mixes") == "1,200 mixes"
    assert count_text(None) == "?"
    assert count_text("a\x07") == "a\ufffd"
    assert duration_text(59.94) == "59.9 s"
    assert duration_text(3599.0) == "59 min 59 s"
    assert duration_text(7320.0) == "2 h 2 min"
    assert [grid_value_text(value) for value in (True, 5, 0.5, "both", ["a", 1])] == [
        "true", "5", "0.5", "both", "a, 1",
    ]  # fmt: skip
