"""Script files: reading, writing, and playing a battle again from one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import simcore
from analysis.script import parse_script, read_script, script_text, write_script
from simcore.errors import ScenarioError

if TYPE_CHECKING:
    from pathlib import Path

BATTLE = {
    "terrain": "amphibious",
    "attacker": {"units": "2 infantry, 1 tank, 1 fighter", "landed": "2 infantry", "bombard": "2 cruiser"},
    "defender": {"units": "3 infantry, 1 aa_gun"},
}


def test_a_written_script_is_the_battle_itself(tmp_path: Path) -> None:
    told = simcore.replay(BATTLE, battle=5)
    path = tmp_path / "battle.txt"
    path.write_text(script_text(told.draws, told.lines[0]), encoding="utf-8")
    again = simcore.replay(BATTLE, script=read_script(path))
    assert again.lines[1:] == told.lines[1:]
    assert again.draws == told.draws


def test_numbers_notes_and_separators() -> None:
    assert parse_script("2, 1 # 7 8\n\n  0,3\n# 5\n") == [2, 1, 0, 3]
    assert parse_script("") == []


@pytest.mark.parametrize("word", ["-1", "1.5", "two", "1e3", "99999999999", "\u0663", "0x1"])
def test_other_words_are_refused(word: str) -> None:
    with pytest.raises(ScenarioError, match="whole number"):
        parse_script(f"1 {word}")


def test_a_file_names_its_line(tmp_path: Path) -> None:
    path = tmp_path / "battle.txt"
    path.write_text("1\n2\nx\n", encoding="utf-8")
    with pytest.raises(ScenarioError, match=r"battle\.txt: script: line 3"):
        read_script(path)


@pytest.mark.parametrize("content", [b"", b"# nothing\n", b"\xff\xfe1", b"1 " * 2**17 + b"1"])
def test_files_that_hold_no_script(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "battle.txt"
    path.write_bytes(content)
    with pytest.raises(ScenarioError, match=r"battle\.txt"):
        read_script(path)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match="cannot be read"):
        read_script(tmp_path / "none.txt")


def test_nothing_but_a_script_is_replaced(tmp_path: Path) -> None:
    told = simcore.replay(BATTLE)
    path = tmp_path / "battle.txt"
    write_script(path, told.draws, told.lines[0])
    write_script(path, told.draws, told.lines[0])
    path.write_text("attacker = 1\n", encoding="utf-8")
    with pytest.raises(ScenarioError, match="is no script"):
        write_script(path, told.draws, told.lines[0])
    assert path.read_text(encoding="utf-8") == "attacker = 1\n"


def test_a_battle_without_dice_has_no_script(tmp_path: Path) -> None:
    told = simcore.replay({"attacker": {"units": "1 infantry"}, "defender": {"units": ""}})
    with pytest.raises(ScenarioError, match="no dice"):
        write_script(tmp_path / "battle.txt", told.draws, told.lines[0])
    assert not list(tmp_path.iterdir())
