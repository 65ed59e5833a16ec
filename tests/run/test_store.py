"""The results folder: whole parts or none, and nothing is trusted unchecked."""

from __future__ import annotations

import errno
import os
import resource
import shutil
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from simcore.errors import StoreError
from simcore.run.store import PartRows, Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

NAME = "ab" * 32
WIDTH = 5


def make_rows(first: int = 0) -> PartRows:
    segments = np.array([[first + i // 2, i % 2, 100 * (i % 2), 100] for i in range(8)], dtype=np.int64)
    tallies = np.arange(8 * WIDTH, dtype=np.int64).reshape(8, WIDTH) * 2**40
    tallies[2:4] = 0
    return PartRows(segments, tallies, {first + 1: "attacker.units: no such unit"})


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "out") as opened:
        yield opened


def part_path(store: Store, name: str = NAME) -> Path:
    return store.folder / "parts" / f"{name}.parquet"


def read(store: Store, segments: npt.NDArray[np.int64] | None = None, width: int = WIDTH) -> PartRows | None:
    return store.read_part(NAME, make_rows().segments if segments is None else segments, width)


def test_a_part_comes_back_as_it_was(store: Store) -> None:
    rows = make_rows()
    store.write_part(NAME, rows, {"simcore.ruleset": "general_combat 1"})
    found = read(store)
    assert found is not None
    assert np.array_equal(found.segments, rows.segments)
    assert np.array_equal(found.tallies, rows.tallies)
    assert found.errors == rows.errors
    assert found.digest() == rows.digest()
    assert store.reports == []


def test_the_file_is_plain_parquet_with_one_list_per_row(store: Store) -> None:
    store.write_part(NAME, make_rows(), {"simcore.ruleset": "general_combat 1"})
    table = pq.read_table(part_path(store))
    assert table.column_names == ["matchup", "batch", "first", "battles", "tally", "error"]
    assert table.schema.field("tally").type == pa.list_(pa.int64())
    assert table.column("tally").to_pylist()[2:4] == [[], []]
    notes = table.schema.metadata
    assert notes[b"simcore.part"].decode() == NAME
    assert notes[b"simcore.sha256"].decode() == make_rows().digest()
    assert notes[b"simcore.ruleset"] == b"general_combat 1"


def test_equal_rows_give_equal_bytes(store: Store) -> None:
    store.write_part(NAME, make_rows())
    before = part_path(store).read_bytes()
    store.write_part(NAME, make_rows())
    assert part_path(store).read_bytes() == before


def test_a_missing_part_is_not_worth_a_report(store: Store) -> None:
    assert read(store) is None
    assert store.reports == []


def assert_distrusted(store: Store) -> None:
    assert read(store) is None
    assert len(store.reports) == 1
    assert str(part_path(store)) in store.reports[0]
    assert "\n" not in store.reports[0]
    store.reports.clear()


def test_torn_parts_are_not_trusted(store: Store) -> None:
    store.write_part(NAME, make_rows())
    whole = part_path(store).read_bytes()
    for length in range(0, len(whole), 97):
        part_path(store).write_bytes(whole[:length])
        assert_distrusted(store)


def test_a_changed_byte_never_changes_a_figure(store: Store) -> None:
    rows = make_rows()
    store.write_part(NAME, rows)
    whole = part_path(store).read_bytes()
    distrusted = 0
    for position in range(0, len(whole), 3):
        data = bytearray(whole)
        data[position] ^= 0x55
        part_path(store).write_bytes(data)
        found = read(store)
        if found is None:
            distrusted += 1
        else:  # a byte that carries nothing, such as the name of the writing library
            assert found.digest() == rows.digest()
    assert distrusted > len(whole) // 3 // 2
    assert len(store.reports) == distrusted


def test_an_altered_figure_is_found_though_the_file_is_sound(store: Store) -> None:
    store.write_part(NAME, make_rows())
    table = pq.read_table(part_path(store))
    column = table.column("tally").to_pylist()
    column[0][0] += 1
    altered = table.set_column(4, "tally", pa.array(column, pa.list_(pa.int64())))
    pq.write_table(altered, part_path(store))
    assert pq.read_table(part_path(store)).schema.metadata[b"simcore.part"].decode() == NAME
    assert_distrusted(store)


def test_foreign_files_are_not_trusted(store: Store) -> None:
    for data in (b"", b"hello\n", b"PAR1", b"PAR1" * 3, os.urandom(500)):
        part_path(store).write_bytes(data)
        assert_distrusted(store)
    pq.write_table(pa.table({"matchup": [1, 2]}), part_path(store))
    assert_distrusted(store)
    part_path(store).unlink()
    part_path(store).mkdir()
    assert_distrusted(store)


def test_a_part_under_the_name_of_another_is_not_trusted(store: Store) -> None:
    store.write_part("cd" * 32, make_rows())
    shutil.copy(part_path(store, "cd" * 32), part_path(store))
    assert_distrusted(store)


def test_rows_other_than_planned_are_not_trusted(store: Store) -> None:
    store.write_part(NAME, make_rows())
    assert read(store, make_rows(first=1).segments) is None
    assert read(store, make_rows().segments[:-1]) is None
    assert read(store, width=WIDTH + 1) is None
    assert len(store.reports) == 3


def test_files_of_no_planned_part_are_reported_and_left(store: Store) -> None:
    store.write_part(NAME, make_rows())
    store.write_part("cd" * 32, make_rows())
    (store.folder / "parts" / "notes.txt").write_text("mine")
    store.report_foreign({NAME})
    assert len(store.reports) == 2
    assert "notes.txt" in store.reports[1]
    assert (store.folder / "parts" / "notes.txt").read_text() == "mine"


def test_leftovers_of_a_killed_run_are_removed(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    left = [tmp_path / "parts" / f".{NAME}.parquet.unfinished", tmp_path / ".manifest.json.unfinished"]
    for path in left:
        path.write_bytes(b"half")
    (tmp_path / "parts" / "kept.parquet").write_bytes(b"")
    with Store(tmp_path):
        assert not any(path.exists() for path in left)
        assert (tmp_path / "parts" / "kept.parquet").exists()


def test_leftovers_that_cannot_be_removed(tmp_path: Path) -> None:
    (tmp_path / ".matchups.parquet.unfinished").mkdir()
    with pytest.raises(StoreError, match="cannot remove: Is a directory"), Store(tmp_path):
        pass
    (tmp_path / ".matchups.parquet.unfinished").rmdir()
    with Store(tmp_path):  # the lock was given back
        pass


def test_only_one_run_at_a_time(tmp_path: Path) -> None:
    words = rf"another run is writing to this folder \(process {os.getpid()} on .+, since 20.+\); wait"
    with Store(tmp_path), pytest.raises(StoreError, match=words), Store(tmp_path):
        pass
    with Store(tmp_path):
        pass


@pytest.mark.parametrize("text", [b"", b"{", b"7", b'{"process": 1}', b"\xff", b'{"process": 999999999, "host": "x"}'])
def test_what_stands_in_a_lock_file_holds_nobody_up(tmp_path: Path, text: bytes) -> None:
    (tmp_path / ".lock").write_bytes(text)
    with Store(tmp_path):
        # Nor does it matter when it cannot be read.
        (tmp_path / ".lock").write_bytes(text)
        with pytest.raises(StoreError, match="another run is writing to this folder; wait"), Store(tmp_path):
            pass


def test_a_folder_that_is_removed_or_replaced_while_in_use(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    with Store(folder) as store:
        store.write_manifest({"state": "running"})
        shutil.rmtree(folder)
        with pytest.raises(StoreError, match="the folder was removed while in use") as caught:
            store.write_manifest({"state": "running"})
        assert isinstance(caught.value.__cause__, OSError)
        with Store(folder) as other:  # whoever comes now has a folder of his own
            other.write_manifest({"state": "other"})
            with pytest.raises(StoreError, match="the folder was replaced by another one while in use"):
                store.write_part(NAME, make_rows())
            assert other.read_manifest() == {"state": "other"}


def test_a_file_in_place_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for folder in (tmp_path / "file", tmp_path / "file" / "out"):
        with pytest.raises(StoreError, match="cannot use this as results folder") as caught, Store(folder):
            pass
        assert str(folder) in str(caught.value)


def test_a_folder_in_place_of_the_lock(tmp_path: Path) -> None:
    (tmp_path / ".lock").mkdir()
    with pytest.raises(StoreError, match="cannot write: Is a directory"), Store(tmp_path):
        pass


def test_file_systems_without_locks_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> NoReturn:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", refuse)
    with pytest.raises(StoreError, match="cannot lock: No locks available"), Store(tmp_path):
        pass


def test_a_full_disk_leaves_what_was_there(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.write_part(NAME, make_rows())
    before = part_path(store).read_bytes()

    def full(_: int) -> NoReturn:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StoreError, match="No space left on device; every part computed so far is kept"):
        store.write_part(NAME, make_rows(first=3))
    assert part_path(store).read_bytes() == before
    assert [path.name for path in (store.folder / "parts").iterdir()] == [f"{NAME}.parquet"]


def test_a_write_that_the_system_cuts_short(store: Store) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200, hard))
    try:
        with pytest.raises(StoreError, match="cannot write: File too large"):
            store.write_part(NAME, make_rows())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert list((store.folder / "parts").iterdir()) == []


def test_the_manifest_is_replaced_as_a_whole(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    assert store.read_manifest() is None
    store.write_manifest({"state": "running", "name": "ä"})
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(errno.EIO, "Input/output error")))
    with pytest.raises(StoreError, match="Input/output error"):
        store.write_manifest({"state": "complete"})
    assert store.read_manifest() == {"state": "running", "name": "ä"}


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "not readable as JSON"),
        (b"{", "not readable as JSON"),
        (b"[]", "not a table"),
        (b"\xff\xfe", "not readable as JSON"),
        (b"[" * 100_000, "not readable as JSON"),
        (b'{"checksum": "00", "state": "running"}', "its checksum does not fit what it holds"),
        (b'{"checksum": null, "time": NaN}', ""),
        (b'{"checksum": 5, "time": NaN}', "its checksum does not fit what it holds"),
    ],
)
def test_a_damaged_manifest_is_reported(store: Store, data: bytes, words: str) -> None:
    path = store.folder / "manifest.json"
    path.write_bytes(data)
    assert (store.read_manifest() is None) == bool(words)
    assert store.reports == ([f"{path}: damaged ({words}), written anew"] if words else [])


def test_a_changed_byte_of_a_manifest_is_found(store: Store) -> None:
    content = {"state": "running", "seed": 7, "name": "ä", "sweep": {"battles": 3_000, "share": 0.1}}
    store.write_manifest(content)
    path = store.folder / "manifest.json"
    whole = path.read_bytes()
    for position in range(len(whole)):
        data = bytearray(whole)
        data[position] ^= 0x01
        path.write_bytes(data)
        found = store.read_manifest()
        # White space carries nothing; without its name the checksum is that of an older version: one field more.
        assert found in (None, content) or content.items() <= found.items()
    for length in range(len(whole) - 1):
        path.write_bytes(whole[:length])
        assert store.read_manifest() in (None, content)


def test_an_unreadable_manifest_is_an_error(store: Store) -> None:
    (store.folder / "manifest.json").mkdir()
    with pytest.raises(StoreError, match="cannot read: Is a directory"):
        store.read_manifest()


def test_removing_takes_only_what_is_named(store: Store) -> None:
    store.write_part(NAME, make_rows())
    (store.folder / "parts" / "notes.txt").write_text("mine")
    (store.folder / "parts" / "spare.parquet").write_bytes(b"mine too")
    (store.folder / "matchups.parquet").write_bytes(b"x")
    store.remove(["matchups.parquet", "mixes.parquet"])
    assert sorted(path.name for path in (store.folder / "parts").iterdir()) == ["notes.txt", "spare.parquet"]
    assert not (store.folder / "matchups.parquet").exists()


def test_what_cannot_be_written_is_told_even_if_nothing_can_be_removed(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("pathlib.Path.open", refuse)
    monkeypatch.setattr("pathlib.Path.unlink", refuse)
    with pytest.raises(StoreError, match=r"manifest\.json: cannot write: Permission denied"):
        store.write_manifest({})


def test_a_run_that_comes_to_nothing_leaves_no_folder(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "out"
    with pytest.raises(RuntimeError), Store(folder):
        raise RuntimeError
    assert not (tmp_path / "deep").exists()
    with Store(folder):
        pass
    assert folder.is_dir(), "what ended well stays, though it is empty"
    with pytest.raises(RuntimeError), Store(folder):
        raise RuntimeError
    assert folder.is_dir(), "so does a folder that was there before"


def _fail_after(folder: Path, store_something: Callable[[Store], None]) -> None:
    with Store(folder) as store:
        store_something(store)
        raise RuntimeError


def test_a_run_that_stored_something_keeps_it(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError):
        _fail_after(tmp_path / "out", lambda store: store.write_manifest({"state": "running"}))
    assert (tmp_path / "out" / "manifest.json").is_file()
    with pytest.raises(RuntimeError):
        _fail_after(tmp_path / "other", lambda store: store.write_part(NAME, make_rows()))
    assert (tmp_path / "other" / "parts" / f"{NAME}.parquet").is_file()
