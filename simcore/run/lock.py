"""One run at a time in a results folder: a lock that ends with its process, and says who holds it."""

from __future__ import annotations

import contextlib
import datetime as dt
import fcntl
import json
import os
import platform
from typing import IO, TYPE_CHECKING, Final

from simcore.errors import StoreError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["LOCK", "FolderLock"]

LOCK: Final = ".lock"
_LONGEST: Final = 1_000


class FolderLock:
    """The lock of a folder, held by the operating system for this process.

    It is gone with the process, however that ends, so that a lock of a dead process never stands in the way. What is
    written in the file only tells others who holds it.

    Parameters
    ----------
    folder : Path
        An existing folder.

    Raises
    ------
    StoreError
        When another process holds it (named by its number and machine), or when files cannot be locked there.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = folder / LOCK
        try:
            self._file: IO[bytes] = self._path.open("a+b")
        except OSError as problem:
            raise StoreError(f"{self._path}: cannot write: {problem.strerror}") from problem
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = self._holder()
            self._file.close()
            raise StoreError(
                f"{folder}: another run is writing to this folder{holder}; wait for it or stop it"
            ) from None
        except OSError as problem:
            self._file.close()
            raise StoreError(f"{self._path}: cannot lock: {problem.strerror}") from problem
        self._sign()

    def _sign(self) -> None:
        """Write down who holds the lock; on a full disk it holds without."""
        now = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
        text = json.dumps({"process": os.getpid(), "host": platform.node(), "since": now})
        with contextlib.suppress(OSError):
            self._file.truncate(0)
            self._file.write(text.encode() + b"\n")
            self._file.flush()

    def _holder(self) -> str:
        """Return who holds the lock in brackets, nothing when that cannot be read."""
        try:
            self._file.seek(0)
            found = json.loads(self._file.read(_LONGEST))
            text = f" (process {found['process']} on {found['host']}, since {found['since']})"
        except (OSError, ValueError, LookupError, TypeError):
            return ""
        return "".join(letter if letter.isprintable() else "\ufffd" for letter in text)

    def check(self) -> None:
        """Make sure that the folder is still the one that was locked.

        Raises
        ------
        StoreError
            When it was removed or replaced, and another run may use what is there now.
        """
        try:
            is_same = os.path.samestat(self._path.stat(), os.fstat(self._file.fileno()))
        except OSError as problem:
            raise StoreError(f"{self._folder}: the folder was removed while in use ({problem.strerror})") from problem
        if not is_same:
            raise StoreError(f"{self._folder}: the folder was replaced by another one while in use")

    def release(self) -> None:
        """Give the lock back; the file stays, since removing it would race with others who wait for it."""
        with contextlib.suppress(OSError):
            self._file.truncate(0)
        with contextlib.suppress(OSError):  # what could not be written on a full disk is tried again here
            self._file.close()
