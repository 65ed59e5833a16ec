"""Files that are whole or not there."""

from __future__ import annotations

import contextlib
import os
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

from simcore.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["replacing"]


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Open a file that takes the place of another one when all of it is written.

    A link stays, and the file that it leads to is replaced. What is neither file nor folder, as a device or a pipe, is
    written to as it is: a file in its place would be the end of ``/dev/null``.

    Parameters
    ----------
    path : Path

    Yields
    ------
    binary file

    Raises
    ------
    StoreError
        When it cannot be written.
    """
    if not path.name:
        raise StoreError(f"{path}: cannot be written: is a folder, not a file")
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            with path.open("wb") as file:
                yield file
            return
        target = Path(os.path.realpath(path))
        # Not the name itself, which may be as long as names can be.
        temporary = target.with_name(f".simcore.{os.getpid()}.tmp")
        try:
            with temporary.open("wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(target)
        finally:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(f"{path}: cannot be written: {error.strerror or error}") from error
