"""The results folder: parts that are written whole or not at all, and trusted only after a check.

A part is a Parquet file named by what went into it. It is written to a temporary name, synced and renamed:
a killed run leaves either the whole part or nothing under its name. Whatever is read back is compared with
its checksum and with the plan; a file that fails is reported and computed again.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import itertools
import json
import os
import re
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, Final, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from simcore.core.swing import Swings
from simcore.errors import StoreError
from simcore.run.lock import LOCK, FolderLock
from simcore.run.manifest import DamagedManifestError, encode_manifest, parse_manifest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path
    from types import TracebackType

__all__ = ["MANIFEST", "PARTS", "PartRows", "Store", "check_part", "is_out_of_room", "is_part", "read_rows", "readable"]

MANIFEST: Final = "manifest.json"
PARTS: Final = "parts"
_TEMPORARY: Final = ".unfinished"
_FORMAT: Final = "1"
_SWING_DIGEST: Final = "simcore.swing_sha256"
_DRAWN: Final = "simcore.drawn"
_ZSTD_LEVEL: Final = 3
_PART_NAME: Final = re.compile(r"[0-9a-f]{64}\.parquet")
_UNTRUSTED: Final = (
    pa.ArrowException, ValueError, LookupError, TypeError, OSError, OverflowError, MemoryError,
)  # fmt: skip
"""What reading a damaged file may end in."""
_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})

# One row per run of battles: matchup, batch, first battle, number of battles, K accumulators, why it failed.
_SCHEMA: Final = pa.schema(
    [
        ("matchup", pa.int32()),
        ("batch", pa.int32()),
        ("first", pa.int64()),
        ("battles", pa.int64()),
        ("tally", pa.list_(pa.int64())),
        ("error", pa.string()),
    ]
)

_OUTCOMES: Final = pa.field("outcomes", pa.large_binary())
"""A column more where the outcomes of battles are kept."""

_SWINGS: Final = (
    pa.field("swing_step", pa.int64()),
    pa.field("swing_width", pa.int64()),
    pa.field("swing_first", pa.int64()),
    pa.field("swings", pa.list_(pa.int64())),
)
"""Columns more: how often each swing occurred. Parts of older versions have none, and who needs none skips them."""

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class PartRows:
    """The rows of a part: for each a matchup, a batch, the battles it covers and their tally.

    Attributes
    ----------
    segments : int64 (n, 4)
        Matchup number, batch number, first battle and number of battles; 0 battles where it was to be solved.
    tallies : int64 (n, K)
        Accumulators of those battles, or the bits of the float64 that a solution expects of one; zeros where the
        matchup failed.
    errors : mapping of int to str
        Why a matchup failed, by matchup number.
    drawn : frozenset of int
        Matchups that were to be solved, did not fit and have counts of all their battles instead.
    outcomes : tuple of bytes
        Outcome of every battle of each row, a byte each, where they are kept; empty where they are not.
    swings : Swings or None
        How often each swing occurred; None where that was not counted, or not read.
    """

    segments: Integers
    tallies: Integers
    errors: Mapping[int, str]
    drawn: frozenset[int] = frozenset()
    outcomes: tuple[bytes, ...] = ()
    swings: Swings | None = None

    def digest(self) -> str:
        """Return the SHA-256 of all but the swings as hex digits: equal rows, equal digest.

        Returns
        -------
        str
        """
        found = hashlib.sha256()
        found.update(json.dumps([list(self.segments.shape), list(self.tallies.shape)]).encode())
        found.update(np.ascontiguousarray(self.segments, dtype="<i8").tobytes())
        found.update(np.ascontiguousarray(self.tallies, dtype="<i8").tobytes())
        found.update(json.dumps(sorted(self.errors.items())).encode())
        if self.drawn:
            found.update(json.dumps(sorted(self.drawn)).encode())
        for row in self.outcomes:
            found.update(hashlib.sha256(row).digest())
        return found.hexdigest()


def _swing_digest(swings: Swings) -> str:
    """Return the SHA-256 of the swings of a part: one by itself, for readers that skip them."""
    found = hashlib.sha256()
    for array in swings.heads, swings.ends, swings.counts:
        found.update(np.ascontiguousarray(array, dtype="<i8").tobytes())
    return found.hexdigest()


def _add_swings(table: pa.Table, swings: Swings) -> pa.Table:
    """Add the columns of the swings."""
    offsets = np.concatenate(([0], swings.ends)).astype(np.int32)
    columns = [pa.array(column) for column in swings.heads.T]
    columns.append(pa.ListArray.from_arrays(pa.array(offsets), pa.array(swings.counts)))
    for field, column in zip(_SWINGS, columns, strict=True):
        table = table.append_column(field, column)
    return table


def _take_swings(table: pa.Table) -> Swings:
    """Read the columns of the swings back."""
    heads = np.stack([table.column(field.name).to_numpy().astype(np.int64) for field in _SWINGS[:-1]], axis=1)
    column = table.column(_SWINGS[-1].name).combine_chunks()
    counts = column.flatten().to_numpy().astype(np.int64)
    return Swings(heads, np.cumsum(column.value_lengths().to_numpy().astype(np.int64)), counts)


def is_out_of_room(problem: BaseException) -> bool:
    """Return whether a disk or a quota was full: the same can be tried again when there is room.

    Parameters
    ----------
    problem : exception
        As `readable` raises it.

    Returns
    -------
    bool
    """
    return isinstance(problem.__cause__, OSError) and problem.__cause__.errno in _FULL


@contextmanager
def readable(path: Path, doing: str) -> Iterator[None]:
    """Turn an operating system error into a `StoreError` of one line that names the file.

    Parameters
    ----------
    path : Path
        The file or folder concerned.
    doing : str
        What was attempted, as in ``"write"``.

    Raises
    ------
    StoreError
        In place of any `OSError`.
    """
    try:
        yield
    except OSError as problem:
        reason = problem.strerror or str(problem)
        advice = "; every part computed so far is kept" if problem.errno in _FULL else ""
        raise StoreError(f"{path}: cannot {doing}: {reason}{advice}") from problem


def _sync_folder(folder: Path) -> None:
    """Make renames in `folder` durable."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _make_folder(folder: Path) -> None:
    """Make a folder and those above it, so that none of them is lost when the power fails."""
    if folder.is_dir():
        return
    _make_folder(folder.parent)
    folder.mkdir(exist_ok=True)
    _sync_folder(folder.parent)


def _encode_rows(name: str, rows: PartRows, described: Mapping[str, str]) -> pa.Buffer:
    """Return the bytes of a part file."""
    failed = np.array([int(matchup) in rows.errors for matchup in rows.segments[:, 0]], dtype=bool)
    width = rows.tallies.shape[1]
    lengths = np.where(failed, 0, width)
    offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)
    values = pa.array(rows.tallies[~failed].ravel())
    texts = [rows.errors.get(int(matchup), "") for matchup in rows.segments[:, 0]]
    columns = [
        pa.array(rows.segments[:, 0].astype(np.int32)),
        pa.array(rows.segments[:, 1].astype(np.int32)),
        pa.array(rows.segments[:, 2]),
        pa.array(rows.segments[:, 3]),
        pa.ListArray.from_arrays(pa.array(offsets), values),
        pa.array(texts, pa.string()),
    ]
    table = pa.Table.from_arrays(columns, schema=_SCHEMA)
    if rows.outcomes:
        table = table.append_column(_OUTCOMES, pa.array(rows.outcomes, _OUTCOMES.type))
    if rows.swings is not None:
        table = _add_swings(table, rows.swings)
    table = table.replace_schema_metadata(
        {
            **described,
            "simcore.format": _FORMAT,
            "simcore.part": name,
            "simcore.sha256": rows.digest(),
            **({_DRAWN: json.dumps(sorted(rows.drawn))} if rows.drawn else {}),
            **({_SWING_DIGEST: _swing_digest(rows.swings)} if rows.swings is not None else {}),
        }
    )
    sink = pa.BufferOutputStream()
    pq.write_table(
        table,
        sink,
        compression="zstd",
        compression_level=_ZSTD_LEVEL,
        use_dictionary=False,
        write_statistics=False,
        write_page_checksum=True,
    )
    return sink.getvalue()


def is_part(path: Path) -> bool:
    """Return whether a file is named like a part; others among the parts are never read.

    Parameters
    ----------
    path : Path
        The file.

    Returns
    -------
    bool
    """
    return _PART_NAME.fullmatch(path.name) is not None


def check_part(path: Path, n_columns: int) -> str:
    """Return why a part file cannot be trusted whatever the plan; empty when it is whole.

    Parameters
    ----------
    path : Path
        The file.
    n_columns : int
        Length K of a tally.

    Returns
    -------
    str
    """
    try:
        _decode_rows(path.read_bytes(), path.stem, None, n_columns, with_swings=True)
    except _UNTRUSTED as problem:
        return f"torn, altered or foreign ({_one_line(problem)})"
    return ""


def _one_line(problem: Exception) -> str:
    """Return a reason, which may quote bytes of a damaged file, as printable text."""
    text = str(problem) or type(problem).__name__
    return "".join(c if c.isprintable() else " " for c in text.partition("\n")[0])


def _decode_rows(data: bytes, name: str, segments: Integers | None, n_columns: int, *, with_swings: bool) -> PartRows:
    """Read the bytes of a part file back; one of `_UNTRUSTED` when anything does not fit.

    Where `segments` is None the rows may be any. Swings that are not asked for are not even decoded.
    """
    file = pq.ParquetFile(pa.BufferReader(data), page_checksum_verification=True)
    notes = {key.decode(): value.decode() for key, value in (file.schema_arrow.metadata or {}).items()}
    if notes.get("simcore.format") != _FORMAT:
        raise ValueError("not a part written by this version")
    if notes.get("simcore.part") != name:
        raise ValueError("the content belongs to another part")
    has_outcomes, has_swings = (field.name in file.schema_arrow.names for field in (_OUTCOMES, _SWINGS[0]))
    more = ([_OUTCOMES] if has_outcomes else []) + (list(_SWINGS) if has_swings else [])
    if not file.schema_arrow.equals(pa.schema([*_SCHEMA, *more])) or has_swings != (_SWING_DIGEST in notes):
        raise ValueError("other columns than those of a part")
    skipped = set() if with_swings else {field.name for field in _SWINGS}
    names = [name for name in file.schema_arrow.names if name not in skipped]
    table = file.read(names, use_threads=False).combine_chunks()
    table.validate(full=True)
    found = np.stack(
        [table.column(key).to_numpy().astype(np.int64) for key in ("matchup", "batch", "first", "battles")],
        axis=1,
    )
    column = table.column("tally").combine_chunks()
    lengths = column.value_lengths().to_numpy()
    if (segments is not None and not np.array_equal(found, segments)) or not np.isin(lengths, (0, n_columns)).all():
        raise ValueError("the rows are not the planned ones")
    tallies = np.zeros((len(found), n_columns), dtype=np.int64)
    tallies[lengths == n_columns] = column.flatten().to_numpy().reshape(-1, n_columns)
    errors = {
        int(matchup): str(text)
        for matchup, text in zip(found[:, 0], table.column("error").to_pylist(), strict=True)
        if text
    }
    outcomes = tuple(table.column("outcomes").to_pylist()) if has_outcomes else ()
    swings = _take_swings(table) if has_swings and with_swings else None
    drawn = frozenset(map(int, json.loads(notes.get(_DRAWN, "[]"))))
    rows = PartRows(found, tallies, errors, drawn, outcomes, swings)
    if rows.digest() != notes.get("simcore.sha256"):
        raise ValueError("the checksum differs")
    if swings is not None and _swing_digest(swings) != notes.get(_SWING_DIGEST):
        raise ValueError("the checksum of the swings differs")
    return rows


def read_rows(path: Path, n_columns: int, *, with_swings: bool = False) -> PartRows | None:
    """Read a part without a plan to compare it with; for readers of finished runs.

    Parameters
    ----------
    path : Path
        The file.
    n_columns : int
        Length K of a tally.
    with_swings : bool
        Whether to read how often each swing occurred, too.

    Returns
    -------
    PartRows or None
        None when the file is not a whole part with tallies of this length.
    """
    if not is_part(path):
        return None
    try:
        return _decode_rows(path.read_bytes(), path.stem, None, n_columns, with_swings=with_swings)
    except _UNTRUSTED:
        return None


class Store:
    """A results folder, locked for as long as this object is open.

    Parameters
    ----------
    folder : Path
        Made when it does not exist.

    Attributes
    ----------
    folder : Path
        As given.
    reports : list of str
        Files that were found damaged or foreign, one line each.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "results") as store:
    ...     store.write_manifest({"state": "running"})
    ...     store.read_manifest()
    {'state': 'running'}
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.reports: list[str] = []
        self._parts = folder / PARTS
        self._lock: FolderLock | None = None
        self._made: list[Path] = []

    def __enter__(self) -> Self:
        self._made = list(itertools.takewhile(lambda path: not path.exists(), (self._parts, *self._parts.parents)))
        with readable(self.folder, "use this as results folder"):
            _make_folder(self._parts)
        self._lock = FolderLock(self.folder)
        try:
            self._remove_leftovers()
        except BaseException:
            self._release()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Whoever opened the lock's file in this moment notices that it is gone.
        is_empty = kind is not None and self._came_to_nothing()
        if is_empty:
            with contextlib.suppress(OSError):
                (self.folder / LOCK).unlink()
        self._release()
        if is_empty:
            self._remove_made()

    def _release(self) -> None:
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def _came_to_nothing(self) -> bool:
        """Return whether the folder was made for this run and holds nothing but the lock."""
        if self.folder not in self._made:
            return False
        try:
            return {path.name for path in self.folder.iterdir()} <= {PARTS, LOCK} and not any(self._parts.iterdir())
        except OSError:
            return False

    def _remove_made(self) -> None:
        """Remove the folders that were made for this run; what holds a file stays."""
        for folder in self._made:
            try:
                folder.rmdir()
            except OSError:
                return

    def _remove_leftovers(self) -> None:
        """Remove what a killed run was writing; under the lock nobody else can own these files."""
        for folder in (self.folder, self._parts):
            for path in folder.glob(f".*{_TEMPORARY}"):
                with readable(path, "remove"):
                    path.unlink()

    @contextmanager
    def replacing(self, name: str) -> Iterator[IO[bytes]]:
        """Open a temporary file that takes the place of `name` when the block ends without an error.

        Parameters
        ----------
        name : str
            Path relative to the folder.

        Yields
        ------
        binary file

        Raises
        ------
        StoreError
            When the file cannot be written; what was there before stays.
        """
        path = self.folder / name
        temporary = path.with_name(f".{path.name}{_TEMPORARY}")
        if self._lock is not None:
            self._lock.check()
        try:
            with readable(path, "write"):
                with temporary.open("wb") as file:
                    yield file
                    file.flush()
                    os.fsync(file.fileno())
                temporary.replace(path)
                _sync_folder(path.parent)
        except BaseException:
            # The old file stays alone. Where nothing can be removed the error on its way says why.
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise

    def write_manifest(self, content: Mapping[str, Any]) -> None:
        """Replace the manifest.

        Parameters
        ----------
        content : mapping
            JSON-able data.
        """
        data = encode_manifest(content)
        with self.replacing(MANIFEST) as file:
            file.write(data)

    def read_manifest(self) -> dict[str, Any] | None:
        """Return the manifest, or None when there is none or it is damaged (which is reported).

        Returns
        -------
        dict or None
        """
        path = self.folder / MANIFEST
        try:
            with readable(path, "read"):
                data = path.read_bytes()
            return parse_manifest(data)
        except StoreError as problem:
            if isinstance(problem.__cause__, FileNotFoundError):
                return None
            raise
        except DamagedManifestError as problem:
            self.reports.append(f"{path}: damaged ({problem}), written anew")
            return None

    def write_part(self, name: str, rows: PartRows, described: Mapping[str, str] | None = None) -> None:
        """Store a part under its content name.

        Parameters
        ----------
        name : str
            Content name (hex digits).
        rows : PartRows
            What was computed.
        described : mapping of str to str, optional
            Further notes for the file's metadata.
        """
        data = _encode_rows(name, rows, described or {})
        with self.replacing(f"{PARTS}/{name}.parquet") as file:
            file.write(data)

    def read_part(self, name: str, segments: Integers, n_columns: int) -> PartRows | None:
        """Return a stored part if it is whole and holds exactly the planned rows.

        Parameters
        ----------
        name : str
            Content name.
        segments : int64 (n, 4)
            The rows as planned.
        n_columns : int
            Length K of a tally.

        Returns
        -------
        PartRows or None
            None when there is no such part or it cannot be trusted; the latter is added to `reports`.
        """
        path = self._parts / f"{name}.parquet"
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as problem:
            self._distrust(path, problem.strerror or str(problem))
            return None
        try:
            return _decode_rows(data, name, segments, n_columns, with_swings=True)
        except _UNTRUSTED as problem:
            self._distrust(path, _one_line(problem))
            return None

    def _distrust(self, path: Path, reason: str) -> None:
        self.reports.append(f"{path}: torn, altered or foreign ({reason}); computed again")

    def report_foreign(self, names: set[str]) -> None:
        """Report files among the parts that belong to no planned part; they are left alone.

        Parameters
        ----------
        names : set of str
            Content names of all planned parts.
        """
        with readable(self._parts, "read"):
            found = sorted(path.name for path in self._parts.iterdir())
        for name in found:
            if name.removesuffix(".parquet") not in names or not name.endswith(".parquet"):
                self.reports.append(f"{self._parts / name}: not a part of this sweep; left alone, not used")

    def remove(self, names: Iterable[str]) -> None:
        """Remove the parts, and files beside them, so that everything is made anew.

        Parameters
        ----------
        names : iterable of str
            Files beside the parts. Among the parts only files go that are named like a part.
        """
        parts = [path for path in self._parts.glob("*.parquet") if is_part(path)]
        for path in [*parts, *(self.folder / name for name in names)]:
            with readable(path, "remove"):
                path.unlink(missing_ok=True)
