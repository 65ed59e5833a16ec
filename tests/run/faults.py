"""Disks that fail: one that forgets what was not synced when the power is cut, and one that is small."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass
class Disk:
    """What of a folder would be there after the power is cut, moment by moment.

    File names last from the sync of their folder on, contents from the sync of their file on. What was not synced may
    be there or not: `harsh` moments lose all of it, `hasty` ones have the names already, but not the contents.

    Attributes
    ----------
    root : Path
        The folder that is watched; it does not exist yet.
    moments : list
        After every step the two possible states: contents by path.
    """

    root: Path
    moments: list[tuple[dict[str, bytes], dict[str, bytes]]] = field(default_factory=list)
    _synced: dict[int, bytes] = field(default_factory=dict)
    _names: dict[Path, dict[str, int]] = field(default_factory=dict)

    def _entries(self, folder: Path) -> dict[str, int]:
        return {path.name: path.stat().st_ino for path in folder.iterdir()}

    def synced(self, handle: int) -> None:
        """Note that a file or folder was synced."""
        path = Path(f"/proc/self/fd/{handle}").resolve()
        if path.is_dir():
            self._names[path] = self._entries(path)
        else:
            self._synced[os.fstat(handle).st_ino] = path.read_bytes()
        self.note()

    def note(self) -> None:
        """Take down what would be left now."""
        self.moments.append((self._state(self._names.get), self._state(self._current)))

    def _current(self, folder: Path) -> dict[str, int] | None:
        return self._entries(folder) if folder.is_dir() else None

    def _state(self, names_of: Any) -> dict[str, bytes]:
        found: dict[str, bytes] = {}
        above = names_of(self.root.parent.resolve())
        if above is None or self.root.name not in above:
            return found
        for folder in (self.root, self.root / "parts"):
            within = names_of(folder.resolve()) or {}
            if folder != self.root and folder.name not in (names_of(self.root.resolve()) or {}):
                continue
            for name, inode in within.items():
                if name != "parts":
                    found[str((folder / name).relative_to(self.root))] = self._synced.get(inode, b"")
        return found

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Take down the state at every sync and every rename inside the block."""
        sync, replace = os.fsync, Path.replace

        def noted_sync(handle: int) -> None:
            sync(handle)
            self.synced(handle)

        def noted_replace(path: Path, target: Path) -> Path:
            moved = replace(path, target)
            self.note()
            return moved

        with mock.patch.object(os, "fsync", noted_sync), mock.patch.object(Path, "replace", noted_replace):
            yield


def restore(state: dict[str, bytes], folder: Path) -> None:
    """Write a state of a `Disk` into a folder."""
    shutil.rmtree(folder, ignore_errors=True)
    for name, data in state.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


@contextlib.contextmanager
def small_disk(folder: Path, size: str) -> Iterator[None]:
    """Mount a file system of limited size; RuntimeError where that is not allowed."""
    folder.mkdir(exist_ok=True)
    try:
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as problem:
        raise RuntimeError("file systems cannot be mounted here") from problem
    try:
        yield
    finally:
        subprocess.run(["umount", folder], check=True)


def resize(folder: Path, size: str) -> None:
    """Give a `small_disk` another size."""
    subprocess.run(["mount", "-o", f"remount,size={size}", folder], check=True)
