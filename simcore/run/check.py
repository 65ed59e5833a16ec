"""Whether a results folder is whole: manifest, parts and tables against the checksums that were written with them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from simcore.errors import StoreError
from simcore.run.manifest import DamagedManifestError, newer_schema, parse_manifest
from simcore.run.store import MANIFEST, PARTS, check_part, is_part, readable
from simcore.run.table import TABLES

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

__all__ = ["Findings", "check_folder", "file_digest", "read_columns"]

_BLOCK: Final = 2**20
_COLUMNS_AT_ONCE: Final = 8


@dataclass(frozen=True)
class Findings:
    """What was found in a results folder.

    Attributes
    ----------
    manifest : dict
        The manifest, without its checksum.
    parts : int
        Whole part files.
    tables : dict of str to str
        ``"whole"``, ``"missing"``, ``"damaged"``, or ``"not checked"``: of a run that is not finished, or that another
        version wrote.
    problems : list of str
        One line each.
    """

    manifest: dict[str, Any]
    parts: int
    tables: dict[str, str]
    problems: list[str] = field(default_factory=list)

    @property
    def is_whole(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems


def check_folder(folder: str | os.PathLike[str]) -> Findings:
    """Check all files of a results folder; nothing is changed.

    Parameters
    ----------
    folder : path
        Of a sweep that is finished or not.

    Returns
    -------
    Findings

    Raises
    ------
    StoreError
        When there is no manifest, or when it is damaged: nothing else could be told.
    """
    path = Path(folder) / MANIFEST
    with readable(path, "read"):
        data = path.read_bytes()
    try:
        manifest = parse_manifest(data)
    except DamagedManifestError as problem:
        raise StoreError(f"{path}: damaged ({problem})") from None
    if "schema" not in manifest:
        raise StoreError(f"{path}: damaged, not the manifest of a sweep")
    if newer_schema(manifest):  # who made it can be told all the same
        return Findings(manifest, 0, dict.fromkeys(TABLES, "not checked"))
    problems: list[str] = []
    parts = _check_parts(Path(folder) / PARTS, manifest, problems)
    return Findings(manifest, parts, _check_tables(Path(folder), manifest, problems), problems)


def read_columns(path: Path) -> Iterator[pa.Table]:
    """Read a table a few columns at a time: what is read is held twice until it is a frame.

    Parameters
    ----------
    path : Path

    Yields
    ------
    Table
        All rows of the next columns.
    """
    with pq.ParquetFile(path) as file:
        names = file.schema_arrow.names
        for i in range(0, len(names), _COLUMNS_AT_ONCE):
            yield file.read(columns=names[i : i + _COLUMNS_AT_ONCE], use_threads=False)
            pa.default_memory_pool().release_unused()


def _check_parts(folder: Path, manifest: dict[str, Any], problems: list[str]) -> int:
    """Return the number of whole parts."""
    columns, written = manifest.get("columns"), manifest.get("parts")
    if not isinstance(columns, int) or isinstance(columns, bool) or columns < 1:  # of an older version
        return 0
    found = list(filter(is_part, sorted(folder.glob("*.parquet"))))
    torn = 0
    for path in found:
        reason = check_part(path, columns)
        if reason:
            problems.append(f"{path}: {reason}")
        torn += bool(reason)
    if manifest.get("state") == "complete" and isinstance(written, int) and len(found) < written:
        problems.append(f"{folder}: {written - len(found):,} of {written:,} parts are missing")
    return len(found) - torn


def _check_tables(folder: Path, manifest: dict[str, Any], problems: list[str]) -> dict[str, str]:
    written = manifest.get("tables")
    if manifest.get("state") != "complete" or not isinstance(written, dict):
        return {name: "not checked" if (folder / f"{name}.parquet").exists() else "missing" for name in TABLES}
    found = {}
    for name in TABLES:
        path = folder / f"{name}.parquet"
        try:
            found[name] = "whole" if file_digest(path) == written.get(name) else "damaged"
        except OSError as problem:
            found[name] = "missing"
            problems.append(f"{path}: {problem.strerror}")
        if found[name] == "damaged":
            problems.append(f"{path}: its checksum is not that of the manifest")
    return found


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file.

    Parameters
    ----------
    path : Path

    Returns
    -------
    str
        Hexadecimal.
    """
    found = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            found.update(block)
    return found.hexdigest()
