"""The notebooks run from beginning to end, show what they promise, and are stored without results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
PICTURES = {"1-one-battle": 3, "2-balance-study": 2, "3-nightly-comparison": 2}
"""Fewest results that show as a picture."""


def read(path: Path) -> Any:
    found = nbformat.read(path, as_version=4)
    nbformat.validate(found)
    return found


def test_there_are_three() -> None:
    assert [path.stem for path in NOTEBOOKS] == list(PICTURES)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_are_stored_without_results(path: Path) -> None:
    for cell in read(path).cells:
        assert cell.get("outputs", []) == []
        assert cell.get("execution_count") is None
        assert cell.metadata == {}


# Jupyter has warnings of its own, which are nothing of ours.
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(FOLDER.parents[1]))
    notebook = read(path)
    place = {"metadata": {"path": str(tmp_path)}}
    NotebookClient(notebook, timeout=600, kernel_name="python3", resources=place).execute()
    shown = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert not [output for output in shown if output.output_type == "error"]
    assert not [output.text for output in shown if output.get("name") == "stderr"]
    pages = ["".join(output.data["text/html"]) for output in shown if "text/html" in output.get("data", {})]
    assert sum("<svg" in page or "display:flex" in page for page in pages) >= PICTURES[path.stem]
    assert all("<table" in page or "<pre" in page or "<ol" in page for page in pages)
