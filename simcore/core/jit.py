"""The only place that configures numba: cache directory, the decorators of kernels, and borrowed arrays.

Numba's on-disk cache does not notice a change in *another* file, so machine code of an old version could
run silently. The cache directory therefore carries a digest of every source file of the package: new
sources, new directory. Everything here happens before numba is first imported where possible, because a
later compile re-reads the environment.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

__all__ = [
    "borrowed",
    "cache_directory",
    "inlined",
    "inlined_leaf",
    "is_cache_cold",
    "is_jit_disabled",
    "kernel",
    "leaf",
    "outlined",
    "part",
    "prune_cache",
    "source_digest",
]

_F = TypeVar("_F", bound=Callable[..., Any])


def source_digest() -> str:
    """Return the first 16 hex digits of a SHA-256 over all Python sources of ``simcore``.

    Returns
    -------
    str
        Changes whenever any source file changes, is added, removed or renamed.
    """
    root = Path(__file__).resolve().parent.parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode())
        digest.update(b"\0")
        digest.update(path.read_bytes())
        digest.update(b"\0")
    return digest.hexdigest()[:16]


def _cache_root() -> Path:
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or str(Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = str(Path.home() / "Library" / "Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "simcore"


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except (OSError, RuntimeError):
        return False


def _choose_cache_directory() -> Path:
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        return Path(chosen)
    mode = "bc" if os.environ.get("NUMBA_BOUNDSCHECK", "0") not in {"", "0"} else "std"
    try:
        folder = _cache_root() / f"{source_digest()}-{mode}"
    except RuntimeError:  # no home directory is known
        folder = Path(os.devnull)
    if not _writable(folder):
        # The cache holds pickles, so a predictable shared path would let others plant code in it.
        private = Path(tempfile.mkdtemp(prefix="simcore-"))
        warnings.warn(
            f"the cache directory {folder} cannot be written; compiling into {private} for this process only",
            RuntimeWarning,
            stacklevel=2,
        )
        folder = private
    return folder


_CACHE = _choose_cache_directory()
os.environ["NUMBA_CACHE_DIR"] = str(_CACHE)

import numba  # noqa: E402 - the environment above must be set first

_NUMBA: Any = numba  # numba.config is filled at run time, which type checkers cannot see
_NUMBA.config.CACHE_DIR = str(_CACHE)


def is_jit_disabled() -> bool:
    """Return True when kernels run as plain Python (``NUMBA_DISABLE_JIT``), as the coverage lane does."""
    return bool(_NUMBA.config.DISABLE_JIT)


def cache_directory() -> Path:
    """Return the directory that holds the compiled kernels of exactly these sources."""
    return _CACHE


def is_cache_cold() -> bool:
    """Return True when nothing is compiled yet, so that the first call will take seconds."""
    if is_jit_disabled():
        return False
    return not any(_CACHE.rglob("*.nbi"))


def prune_cache() -> list[Path]:
    """Remove the compiled kernels of other source versions.

    Returns
    -------
    list of Path
        The directories that were removed. A directory set through ``NUMBA_CACHE_DIR`` is never touched.
    """
    root = _cache_root()
    if _CACHE.parent != root or not root.is_dir():
        return []
    gone = [folder for folder in root.iterdir() if folder.is_dir() and folder != _CACHE]
    for folder in gone:
        shutil.rmtree(folder, ignore_errors=True)
    return gone


def kernel(function: _F) -> _F:
    """Compile a rule step or helper: cached, without the GIL, strict floating point, no hidden raises."""
    return _NUMBA.njit(cache=True, nogil=True, error_model="numpy")(function)  # type: ignore[no-any-return]


def inlined(function: _F) -> _F:
    """Compile a kernel into those that call it: handing over many arrays can take longer than a rule step."""
    return _NUMBA.njit(  # type: ignore[no-any-return]
        cache=True, nogil=True, error_model="numpy", forceinline=True, _nrt=True
    )(function)


def outlined(function: _F) -> _F:
    """Compile a large kernel that `inlined` ones call, but not into them unless the compiler finds it worthwhile.

    Kernels take over from whoever calls them first what is not said, and so would be compiled into all that call them.
    """
    return _NUMBA.njit(  # type: ignore[no-any-return]
        cache=True, nogil=True, error_model="numpy", forceinline=False, _nrt=True
    )(function)


def part(function: _F) -> _F:
    """Compile a kernel that only other kernels call.

    Nothing is compiled to call it from Python: with arguments of many arrays that takes longer than the code itself.
    """
    return _NUMBA.njit(  # type: ignore[no-any-return]
        cache=True, nogil=True, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True
    )(function)


def leaf(function: _F) -> _F:
    """Compile a part that makes no arrays and returns none, nor calls anything that does.

    It counts no references to arrays, which takes longer than short kernels themselves: who calls it holds them. In
    kernels that do make arrays, or call such, `borrowed` spares the counting for those that they were handed; neither
    can take the other's place.
    """
    return _NUMBA.njit(  # type: ignore[no-any-return]
        cache=True,
        nogil=True,
        error_model="numpy",
        no_cpython_wrapper=True,
        no_cfunc_wrapper=True,
        forceinline=False,  # kernels take over from those that call them what is not said
        _nrt=False,
    )(function)


def inlined_leaf(function: _F) -> _F:
    """Compile a leaf into those that call it: handing over many arrays can take longer than what is done with them."""
    return _NUMBA.njit(  # type: ignore[no-any-return]
        cache=True,
        nogil=True,
        error_model="numpy",
        no_cpython_wrapper=True,
        no_cfunc_wrapper=True,
        forceinline=True,
        _nrt=False,
    )(function)


def _without_owner(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """Return an array, or a tuple with arrays in it, as the compiled code holds it, without its owner."""
    types = _NUMBA.core.types
    if isinstance(kind, types.Array):
        array = _NUMBA.np.arrayobj.make_array(kind)(context, builder, value)
        nobody = _NUMBA.core.cgutils.get_null_value(array.meminfo.type)
        array.meminfo = nobody
        array.parent = nobody
        return array._getvalue()
    if isinstance(kind, types.BaseTuple):
        items = _NUMBA.core.cgutils.unpack_tuple(builder, value, len(kind))
        return context.make_tuple(
            builder, kind, [_without_owner(context, builder, of, item) for of, item in zip(kind, items, strict=True)]
        )
    return value


def _make_borrowed() -> Callable[[Any], Any]:
    if is_jit_disabled():
        return lambda arrays: arrays

    def borrowed(typing_context: Any, arrays: Any) -> Any:
        del typing_context

        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            return _without_owner(context, builder, signature.args[0], values[0])

        return arrays(arrays), generate

    return _NUMBA.extending.intrinsic(borrowed)  # type: ignore[no-any-return]


borrowed = _make_borrowed()
"""Return a kernel's array, or a (named) tuple with arrays in it, without counting who holds it.

Handing an array to a kernel counts a reference, which takes longer than many a rule step. A borrowed one is handed on
for nothing. Only a kernel's own parameters may be borrowed, and neither they nor parts of them may be returned or
stored: whoever handed them over holds them until the kernel returns.
"""
