"""Finished and unfinished results folders."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from simcore import api
from simcore.run import plan
from simcore.run.session import sweep
from tests.run import invented
from tests.run.sweeps import SHORT_PART, small


@pytest.fixture
def short_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make even small sweeps have several parts."""
    monkeypatch.setattr(plan, "PART_BATTLES", SHORT_PART)


@pytest.fixture
def invented_battles(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let numpy draw the battles, and parts hold few of them."""
    monkeypatch.setattr(api, "tally", invented.tally)
    monkeypatch.setattr(plan, "PART_BATTLES", 10_000)


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the results folder of an undisturbed run of the small sweep."""
    folder = tmp_path_factory.mktemp("undisturbed") / "out"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan, "PART_BATTLES", SHORT_PART)
        sweep(small(), folder, threads=1)
    return folder


@pytest.fixture
def done(undisturbed: Path, tmp_path: Path) -> Path:
    """Return a finished results folder that a test may spoil."""
    return Path(shutil.copytree(undisturbed, tmp_path / "out"))
