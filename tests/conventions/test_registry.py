"""Every registered ruleset is complete: record, rules text, editions, documentation."""

from __future__ import annotations

from pathlib import Path

import pytest

import simcore
from simcore.errors import UnknownRulesetError
from simcore.registry import get_ruleset, ruleset_names

ROOT = Path(__file__).resolve().parents[2]
NAMES = ruleset_names()


def test_the_verb_lists_the_registered_names() -> None:
    assert set(simcore.rulesets()) == set(NAMES)


def test_the_folders_are_the_registered_names() -> None:
    folders = {path.parent.name for path in (ROOT / "simcore" / "rulesets").glob("*/__init__.py")}
    assert folders == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_ruleset_brings_its_parts(name: str) -> None:
    folder = ROOT / "simcore" / "rulesets" / name
    for part in ("RULES.md", "editions.toml", "params.py", "encoding.py", "steps.py", "kernel.py"):
        assert (folder / part).is_file(), part
    assert (ROOT / "tests" / "rulesets" / name / "reference.py").is_file()


@pytest.mark.parametrize("name", NAMES)
def test_a_record_is_consistent(name: str) -> None:
    record = get_ruleset(name)
    assert record.id == name
    assert record.version >= 1
    assert record.title
    assert len(set(record.units)) == len(record.units)
    assert len(set(record.outcomes)) == len(record.outcomes)
    assert len(set(record.accumulators)) == len(record.accumulators)
    assert "battles" in record.accumulators
    assert {f"outcome.{outcome}" for outcome in record.outcomes} <= set(record.accumulators)
    assert record.default_edition in record.editions()


@pytest.mark.parametrize("name", NAMES)
def test_a_ruleset_is_described_in_the_documents(name: str) -> None:
    text = (ROOT / "docs" / "editions.md").read_text(encoding="utf-8")
    assert f"`{name}`" in text
    for edition in get_ruleset(name).editions():
        assert f"`{edition}`" in text


def test_an_unknown_name_gets_a_near_match() -> None:
    with pytest.raises(UnknownRulesetError, match='did you mean "general_combat"'):
        get_ruleset("general_combatt")
