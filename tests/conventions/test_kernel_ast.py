"""What the compiled code may look like, checked on the syntax tree of every source file.

Kernels must not raise (they report a status), must not draw from numpy's generator (whose stream depends on the order
of the calls), borrow nothing but their own parameters, and only `simcore.core.jit` may choose numba's flags.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted([*(ROOT / "simcore").rglob("*.py"), *(ROOT / "analysis").rglob("*.py")])
JIT = ROOT / "simcore" / "core" / "jit.py"
DECORATORS = {"kernel", "inlined", "outlined", "part", "leaf", "inlined_leaf"}
NUMBA_NAMES = {"njit", "jit", "vectorize", "guvectorize", "cfunc", "stencil", "jitclass", "prange"}


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def _decorator(function: ast.FunctionDef) -> str | None:
    for node in function.decorator_list:
        target = node.func if isinstance(node, ast.Call) else node
        name = target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", None)
        if name in DECORATORS:
            return str(name)
    return None


def _compiled(path: Path) -> list[tuple[str, ast.FunctionDef]]:
    """Return decorator name and definition of every compiled function of a file."""
    return [
        (kind, node)
        for node in ast.walk(_tree(path))
        if isinstance(node, ast.FunctionDef) and (kind := _decorator(node)) is not None
    ]


def _numba_imports(tree: ast.Module) -> list[str]:
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names if alias.name.split(".")[0] == "numba"]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "numba":
            found += [alias.name for alias in node.names]
    return found


def _dotted(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def _offences(function: ast.FunctionDef) -> list[str]:
    found = []
    for node in ast.walk(function):
        if isinstance(node, (ast.Raise, ast.Assert, ast.Try, ast.With)):
            found.append(f"{type(node).__name__.lower()} in line {node.lineno}")
        elif isinstance(node, ast.Call) and _dotted(node.func) == "print":
            found.append(f"print in line {node.lineno}")
        elif isinstance(node, ast.Attribute) and _dotted(node).startswith(("np.random", "numpy.random")):
            found.append(f"{_dotted(node)} in line {node.lineno}")
    return found


KERNELS = [
    pytest.param(path, kind, function, id=f"{_name(path)}:{function.name}")
    for path in SOURCES
    for kind, function in _compiled(path)
]


def test_there_are_kernels() -> None:
    assert len(KERNELS) > 10


@pytest.mark.parametrize("path", SOURCES, ids=_name)
def test_only_jit_imports_the_decorators_of_numba(path: Path) -> None:
    if path == JIT:
        return
    taken = NUMBA_NAMES.intersection(_numba_imports(_tree(path)))
    assert not taken, f"{_name(path)} imports {sorted(taken)} from numba; take kernel, part from jit"


@pytest.mark.parametrize("path", SOURCES, ids=_name)
def test_no_file_calls_the_random_generators_of_numpy(path: Path) -> None:
    used = {
        _dotted(node)
        for node in ast.walk(_tree(path))
        if isinstance(node, ast.Attribute) and _dotted(node).startswith(("np.random.", "numpy.random."))
    }
    # Statistics may draw samples of samples from a generator with a seed of its own; battles have their own dice.
    assert used <= ({"np.random.default_rng", "np.random.Generator"} if "analysis" in path.parts else set())


@pytest.mark.parametrize(("path", "kind", "function"), KERNELS)
def test_compiled_functions_never_raise_print_or_draw(path: Path, kind: str, function: ast.FunctionDef) -> None:
    assert not _offences(function), f"{_name(path)}: {kind} {function.name}"


@pytest.mark.parametrize(("path", "kind", "function"), KERNELS)
def test_only_parameters_are_borrowed(path: Path, kind: str, function: ast.FunctionDef) -> None:
    parameters = {argument.arg for argument in function.args.args}
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and _dotted(node.func) == "borrowed":
            (lent,) = node.args
            # Whoever called holds a parameter until the kernel returns; nobody holds anything else.
            assert isinstance(lent, ast.Name), f"{_name(path)}: {kind} {function.name}, line {node.lineno}"
            assert lent.id in parameters, f"{_name(path)}: {kind} {function.name}, line {node.lineno}"
        if isinstance(node, ast.Assign):
            assert not any(target.id in parameters for target in node.targets if isinstance(target, ast.Name)) or not (
                isinstance(node.value, ast.Call) and _dotted(node.value.func) == "borrowed"
            ), f"{_name(path)}: {function.name} lets go of what it borrows in line {node.lineno}"
