"""Whether a results folder is whole, as `simcore doctor` tells."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from simcore.errors import StoreError
from simcore.run.check import check_folder
from simcore.run.session import resume
from tests.run.sweeps import TABLE_FILES, parts_of

if TYPE_CHECKING:
    from pathlib import Path

WHOLE = {"matchups": "whole", "survivors": "whole", "mixes": "whole"}


def test_a_finished_sweep_is_whole(undisturbed: Path) -> None:
    found = check_folder(undisturbed)
    assert (found.parts, found.tables, found.problems, found.is_whole) == (6, WHOLE, [], True)
    assert found.manifest["durations"].keys() == {"resolve_s", "tables_s"}
    assert all(seconds >= 0 for seconds in found.manifest["durations"].values())
    assert found.manifest["tables"].keys() == WHOLE.keys()


def test_every_altered_file_is_named(done: Path) -> None:
    for name in TABLE_FILES[:2]:
        data = bytearray((done / name).read_bytes())
        data[len(data) // 2] ^= 1
        (done / name).write_bytes(data)
    (done / TABLE_FILES[2]).unlink()
    torn, foreign, *_ = parts_of(done)
    torn.write_bytes(torn.read_bytes()[:-1])
    foreign.write_bytes(b"not Parquet\n\x1b[31m")
    found = check_folder(done)
    assert found.parts == 4
    assert found.tables == {"matchups": "damaged", "survivors": "damaged", "mixes": "missing"}
    assert not found.is_whole
    assert len(found.problems) == 5
    for path in (torn, foreign, *(done / name for name in TABLE_FILES)):
        assert sum(line.startswith(f"{path}: ") for line in found.problems) == 1
    assert all(line.isprintable() for line in found.problems)
    resume(done, threads=1)
    # What resume cannot use it computes under the names of its own plan; here these are other parts.
    assert check_folder(done).tables == WHOLE


def test_parts_that_are_gone_are_counted(done: Path) -> None:
    parts_of(done)[0].unlink()
    assert check_folder(done).problems == [f"{done / 'parts'}: 1 of 6 parts are missing"]
    resume(done, threads=1)
    assert check_folder(done).problems == []


def test_files_of_others_among_the_parts_are_not_judged(done: Path) -> None:
    (done / "parts" / "notes.parquet").write_bytes(b"not Parquet")
    assert check_folder(done).problems == []
    resume(done, threads=1)
    assert (done / "parts" / "notes.parquet").read_bytes() == b"not Parquet"


def test_an_unfinished_sweep_has_no_tables_to_check(done: Path) -> None:
    manifest = json.loads((done / "manifest.json").read_text())
    del manifest["checksum"]
    (done / "manifest.json").write_text(json.dumps({**manifest, "state": "running"}))
    (done / "mixes.parquet").unlink()
    found = check_folder(done)
    assert found.tables == {"matchups": "not checked", "survivors": "not checked", "mixes": "missing"}
    assert found.is_whole


def test_folders_of_older_versions_are_not_judged(done: Path) -> None:
    manifest = json.loads((done / "manifest.json").read_text())
    for key in ("checksum", "tables", "columns"):
        del manifest[key]
    (done / "manifest.json").write_text(json.dumps(manifest))
    found = check_folder(done)
    assert (found.parts, set(found.tables.values()), found.is_whole) == (0, {"not checked"}, True)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "damaged"),
        ("{}", "not the manifest of a sweep"),
        ('{"checksum": "0", "schema": 1}', "its checksum does not fit"),
    ],
)
def test_what_has_no_usable_manifest(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(StoreError, match=words):
        check_folder(tmp_path)


def test_what_a_newer_version_made_can_still_be_told(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text('{"schema": 7, "seed": 3}')
    found = check_folder(tmp_path)
    assert (found.manifest["seed"], set(found.tables.values()), found.problems) == (3, {"not checked"}, [])


def test_nothing_to_check(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"manifest.json: cannot read: No such file"):
        check_folder(tmp_path / "none")
