"""The public names and their documentation."""

from __future__ import annotations

import ast
import importlib
import inspect
import sys
from pathlib import Path

import pytest

import analysis
import simcore

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted(
    path for package in ("simcore", "analysis") for path in (ROOT / package).rglob("*.py") if path.name != "__init__.py"
)
VERBS = {
    "simcore": ["encode", "odds", "replay", "rulesets", "simulate", "sweep"],
    "analysis": ["compare", "game", "load", "need", "price", "report", "summarize", "value"],
}


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _public_functions(tree: ast.Module) -> list[ast.FunctionDef]:
    """Return the public functions of a module and the public methods of its public classes."""
    found = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            found += [part for part in node.body if isinstance(part, ast.FunctionDef)]
    return [node for node in found if not node.name.startswith("_")]


@pytest.mark.parametrize(("package", "verb"), [(package, verb) for package, verbs in VERBS.items() for verb in verbs])
def test_verbs_are_documented_functions(package: str, verb: str) -> None:
    module = {"simcore": simcore, "analysis": analysis}[package]
    assert verb in module.__all__
    assert verb in dir(module)
    function = getattr(module, verb)
    assert callable(function)
    if inspect.ismodule(function):  # a package that can be called as the verb of its name
        function = getattr(importlib.import_module("simcore.api"), verb)
    text = inspect.getdoc(function) or ""
    assert "Returns\n-------" in text
    if inspect.signature(function).parameters:
        assert "Parameters\n----------" in text


@pytest.mark.parametrize("module", [simcore, analysis], ids=["simcore", "analysis"])
def test_every_exported_name_exists(module: object) -> None:
    for name in getattr(module, "__all__", []):
        assert getattr(module, name) is not None


def test_an_unknown_name_is_an_attribute_error() -> None:
    for module in (simcore, analysis):
        assert not hasattr(module, "swep")


def test_no_module_bears_the_name_of_a_verb() -> None:
    verbs = {verb for verbs in VERBS.values() for verb in verbs}
    assert not verbs & {path.stem for path in MODULES}


def test_verbs_stay_functions_when_everything_is_imported() -> None:
    """Importing a submodule sets its name on the package, which would hide a verb of the same name."""
    for path in MODULES:
        importlib.import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
    for package, verbs in VERBS.items():
        for verb in verbs:
            assert callable(getattr(sys.modules[package], verb)), verb


@pytest.mark.parametrize("path", MODULES, ids=_name)
def test_modules_list_their_public_names(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert ast.get_docstring(tree), "a module says what it is for"
    listed = [
        node
        for node in tree.body
        if isinstance(node, ast.Assign) and any(getattr(t, "id", "") == "__all__" for t in node.targets)
    ]
    assert listed, "a module has __all__"
    assert isinstance(listed[0].value, ast.List)
    names = ast.literal_eval(listed[0].value)
    defined = {
        name
        for node in ast.walk(tree)
        for name in (
            [node.name]
            if isinstance(node, (ast.FunctionDef, ast.ClassDef))
            else [node.id]
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
            else [alias.asname or alias.name for alias in node.names]
            if isinstance(node, (ast.Import, ast.ImportFrom))
            else []
        )
    }
    assert set(names) <= defined


@pytest.mark.parametrize("path", MODULES, ids=_name)
def test_public_functions_say_what_they_take(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for function in _public_functions(tree):
        text = ast.get_docstring(function)
        assert text, f"{function.name} has no docstring"
