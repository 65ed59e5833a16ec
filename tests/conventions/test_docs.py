"""The documents: links lead somewhere, examples parse, every verb is described, nothing private slips in."""

from __future__ import annotations

import re
import shutil
import tomllib
from pathlib import Path

import pytest
from typer.main import get_command

import analysis
import simcore
from analysis.cli import app
from simcore.scenario import load_scenario, load_sweep

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md")])
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]+\]\(([^)\s]+)\)")
TEXT_SUFFIXES = {"", ".md", ".py", ".toml", ".html", ".yaml", ".yml", ".json", ".txt", ".cfg", ".ini", ".js"}
GENERATED = {
    ".git", ".venv", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis", ".benchmarks",
    ".import_linter_cache", "__pycache__", "build", "dist", "results", "simcore.egg-info",
}  # fmt: skip
# Built from pieces, so that this file does not contain what it looks for.
PRIVATE = [
    "/" + "work" + "/", "/" + "farm" + "/", "/" + "tmp" + "/venv", "bash_" + "jobs", "." + "library/",
    "/" + "root" + "/", "/" + "home" + "/",
]  # fmt: skip
UNFINISHED = ["TO" + "DO", "FIX" + "ME", "XX" + "X"]


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _blocks(language: str) -> list[object]:
    return [
        pytest.param(block, id=f"{_name(page)}:{number}")
        for page in PAGES
        for number, (kind, block) in enumerate(FENCE.findall(page.read_text(encoding="utf-8")))
        if kind == language
    ]


def _files() -> list[Path]:
    return sorted(
        path
        for path in ROOT.rglob("*")
        if path.is_file()
        and path.suffix in TEXT_SUFFIXES
        and not GENERATED.intersection(path.relative_to(ROOT).parts)
        and not path.name.startswith(".coverage")
    )


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_links_lead_to_files(page: Path) -> None:
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        if re.match(r"https?://", target):
            continue
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        assert there.exists(), target
        if anchor:
            titles = re.findall(r"^#+ (.+)$", there.read_text(encoding="utf-8"), re.MULTILINE)
            known = {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}
            assert anchor in known, target


@pytest.mark.parametrize("block", _blocks("toml"))
def test_toml_examples_are_accepted(block: str) -> None:
    data = tomllib.loads(block)
    if "sweep" in data:
        load_sweep(data)
    elif "attacker" in data or "defender" in data:
        load_scenario(data)


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_python_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = [block for kind, block in FENCE.findall(page.read_text(encoding="utf-8")) if kind == "python"]
    if page.name == "results.md":
        blocks.insert(0, 'import simcore\nsimcore.sweep("examples/land-30.toml")')
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    for path in (tmp_path / "examples").glob("*.toml"):
        path.write_text(path.read_text(encoding="utf-8").replace("100_000", "1_000"), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, _name(page), "exec"), names)  # noqa: S102 - our own documents


def test_readme_has_two_commands_in_two_screens() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = [block for kind, block in FENCE.findall(text) if kind == "bash"]
    assert len(commands) == 2
    assert all(len(command.strip().splitlines()) == 1 for command in commands)
    assert len(text.splitlines()) <= 100


def test_every_page_is_linked_from_the_index() -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    for page in (ROOT / "docs").glob("*.md"):
        assert page.name == "index.md" or f"]({page.name})" in index, page.name


def test_decisions_are_numbered_and_say_why() -> None:
    pages = sorted((ROOT / "docs" / "decisions").glob("*.md"))
    assert [page.name[:5] for page in pages] == [f"{number:04}-" for number in range(1, len(pages) + 1)]
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert text.startswith(f"# {int(page.name[:4])}. ")
        assert {"## Context\n", "## Decision\n"} <= set(re.findall(r"^## .+\n", text, re.MULTILINE))


def test_every_verb_and_option_is_described() -> None:
    text = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    group = get_command(app)
    verbs: dict[str, object] = getattr(group, "commands", {})
    assert verbs
    for verb, command in verbs.items():
        assert f"## {verb}\n" in text, verb
        section = text.split(f"## {verb}\n", 1)[1].split("\n## ", 1)[0]
        for parameter in getattr(command, "params", []):
            for option in [*parameter.opts, *parameter.secondary_opts]:
                if option.startswith("--") and option != "--help":
                    assert f"`{option}" in section, f"{verb} {option}"


@pytest.mark.parametrize("path", _files(), ids=_name)
def test_files_speak_of_the_project_alone(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for word in PRIVATE:
        assert word not in text, word
    if path.suffix == ".py":
        for word in UNFINISHED:
            assert not re.search(rf"\b{word}\b", text), word


def test_every_column_of_the_tables_is_described(tmp_path: Path) -> None:
    config = {
        "sweep": {"name": "columns", "battles": 10},
        "attacker": {"mixes": ["1 infantry"]},
        "defender": {"mixes": ["1 infantry"]},
    }
    simcore.sweep(config, tmp_path)
    run = analysis.load(tmp_path)
    pages = (ROOT / "docs" / "results.md").read_text(encoding="utf-8").split("\n## ")
    for title, table in (("matchups", run.matchups), ("mixes", run.mixes), ("survivors", run.survivors)):
        section = next(page for page in pages if page.startswith(f"{title}.parquet"))
        described = set(re.findall(r"`([\w.<>]+)`", section))
        columns = {re.sub(r"^([np])_(" + "|".join(run.outcomes) + ")$", r"\1_<outcome>", c) for c in table.columns}
        assert columns <= described, columns - described
        assert described & {"n_<outcome>", "p_<outcome>"} <= columns
