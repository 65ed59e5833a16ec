"""Shared fixtures; browser tests run only where a marker expression asks for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.analysis.folders import Mix, battlefield, some_mixes, write_columns

if TYPE_CHECKING:
    from pathlib import Path

HOSTILE = (
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(2)>",
    "a\"b'c</td><b>&amp;</b>",
    "{{ 7 * 7 }}{% raw %}",
    "<a href='https://example.com'>link</a>",
    "line\u2028separator",
)
FOREIGN = ("Гвардия «Север»", "חיל הרגלים 1", "歩兵連隊", "مشاة 12")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave browser tests out of a plain run: they need Chromium, and fail without it where asked for."""
    if "browser" in (config.option.markexpr or ""):
        return
    left_out = [item for item in items if item.get_closest_marker("browser")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


@pytest.fixture(scope="session")
def small_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve attackers against five defenders, nothing unusual."""
    columns = battlefield(some_mixes(12, 1), some_mixes(5, 2))
    return write_columns(tmp_path_factory.mktemp("small") / "run", columns)


@pytest.fixture(scope="session")
def wild_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A grid of two points, names that try to be markup, many scripts, one failed matchup."""
    names = [*HOSTILE, *FOREIGN]
    mixes = [Mix(name, f"{place + 1} infantry", 3 * place + 3) for place, name in enumerate(names)]
    grid: dict[str, list[Any]] = {"edition.tank.cost": [5, 6]}
    columns = battlefield([*mixes, *some_mixes(2, 1)], mixes[::-1], grid=grid)
    columns["status"][3] = "failed"
    columns["error"][3] = 'no unit "</script><script>alert(3)</script>"'
    for name, values in columns.items():
        if name.startswith(("n_", "p_")) or name.endswith(("_mean", "_sd")):
            columns[name] = np.where(columns["status"] == "ok", values, np.nan)
    return write_columns(
        tmp_path_factory.mktemp("wild") / "run",
        columns,
        grid=grid,
        edition="<i>home</i>",
        report={"title": "<script>alert('title')</script> & “north”"},
    )
