"""Compilation: cache directory by source digest, one signature per driver and use, fallback directories."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import simcore
from simcore.core import jit
from simcore.rulesets.general_combat import kernel

DUEL = {"attacker": {"units": "2 infantry"}, "defender": {"units": "2 infantry"}}


def child(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    keep = {key: value for key, value in os.environ.items() if not key.startswith("NUMBA_")}
    return subprocess.run(
        [sys.executable, "-c", code], env={**keep, **environment}, capture_output=True, text=True, check=False
    )


def test_digest_changes_with_any_source(tmp_path: Path) -> None:
    package = Path(simcore.__file__).parent
    shutil.copytree(package, tmp_path / "simcore", ignore=shutil.ignore_patterns("__pycache__"))
    code = (
        "import os, sys, json; sys.path.insert(0, os.environ['COPY']); "
        "from simcore.core import jit; print(json.dumps([jit.source_digest(), str(jit.cache_directory())]))"
    )
    environment = {"COPY": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    before = json.loads(child(code, **environment).stdout)
    with (tmp_path / "simcore" / "enums.py").open("a") as file:
        file.write("# another line\n")
    after = json.loads(child(code, **environment).stdout)
    assert before[0] != after[0]
    assert before[1] != after[1]
    assert before[1].startswith(str(tmp_path / "cache"))


def test_boundscheck_has_its_own_directory(tmp_path: Path) -> None:
    code = "from simcore.core import jit; print(jit.cache_directory().name)"
    plain = child(code, XDG_CACHE_HOME=str(tmp_path)).stdout.strip()
    checked = child(code, XDG_CACHE_HOME=str(tmp_path), NUMBA_BOUNDSCHECK="1").stdout.strip()
    assert plain.endswith("-std")
    assert checked.endswith("-bc")


def test_numba_already_loaded_still_gets_the_directory(tmp_path: Path) -> None:
    code = "import numba; from simcore.core import jit; print(numba.config.CACHE_DIR == str(jit.cache_directory()))"
    assert child(code, XDG_CACHE_HOME=str(tmp_path)).stdout.strip() == "True"


def test_unwritable_home_falls_back_to_a_private_directory(tmp_path: Path) -> None:
    blocker = tmp_path / "file"
    blocker.write_text("not a folder")
    code = (
        "import os; from simcore.core import jit; d = jit.cache_directory(); "
        "print(oct(os.stat(d).st_mode & 0o777), d.name.startswith('simcore-'))"
    )
    run = child(code, XDG_CACHE_HOME=str(blocker))
    assert run.stdout.split() == ["0o700", "True"]
    assert "cannot be written" in run.stderr


def test_prune_removes_only_other_versions(tmp_path: Path) -> None:
    other = tmp_path / "simcore" / "0123456789abcdef-std"
    other.mkdir(parents=True)
    code = (
        "from simcore.core import jit; gone = jit.prune_cache(); "
        "print([p.name for p in gone], jit.cache_directory().is_dir())"
    )
    assert child(code, XDG_CACHE_HOME=str(tmp_path)).stdout.strip() == "['0123456789abcdef-std'] True"
    assert not other.exists()


@pytest.mark.skipif(jit.is_jit_disabled(), reason="without the JIT there are no signatures")
def test_drivers_have_one_signature_for_sweeps_and_one_for_single_battles() -> None:
    encoded = simcore.encode([DUEL, {**DUEL, "edition": "1942_2nd", "low_luck": "both"}])
    simcore.simulate(encoded, battles=5_000, threads=1)
    simcore.simulate(encoded, battles=5_000, threads=2)
    simcore.simulate(encoded, battles=50, keep_battles=True)
    simcore.replay(DUEL)
    simcore.replay(DUEL, script=[1, 1, 1, 1])
    fleet = {"terrain": "sea", "attacker": {"units": "1 cruiser"}, "defender": {"units": "1 destroyer"}}
    landing = {"terrain": "amphibious", **DUEL}
    at_sea = {"attacker": {"units": "1 cruiser"}, "defender": {"units": "1 destroyer"}}
    for scenario in (fleet, landing, {**landing, "sea": at_sea}):
        simcore.simulate(simcore.encode([scenario]), battles=5_000, threads=2)
        simcore.simulate(simcore.encode([scenario]), battles=5_000, threads=1)
        simcore.simulate(simcore.encode([scenario]), battles=50, keep_battles=True)
        simcore.replay(scenario)
    simcore.simulate(simcore.encode([DUEL, fleet, landing]), battles=5_000, threads=2)
    resolve: Any = kernel.resolve_all
    # Land battles, sea battles and landings are compiled apart, each only when it is needed; an assault is the
    # last two.
    # Retreats by table, which other tests may have asked for, are compiled apart too.
    assert len([signature for signature in resolve.signatures if "LeaveTable" not in str(signature)]) == 3 * 2


@pytest.mark.skipif(jit.is_jit_disabled(), reason="nothing is compiled")
def test_leaves_count_no_references() -> None:
    for decorate, inlined in ((jit.leaf, False), (jit.inlined_leaf, True)):
        options = _options(decorate)
        assert options["_nrt"] is False
        assert options["forceinline"] is inlined
    assert "_nrt" not in _options(jit.part)


@pytest.mark.skipif(jit.is_jit_disabled(), reason="nothing is compiled")
def test_whether_a_kernel_is_compiled_into_others_does_not_depend_on_who_calls_it_first() -> None:
    for decorate, inlined in ((jit.inlined, True), (jit.outlined, False)):
        options = _options(decorate)
        assert options["forceinline"] is inlined
        assert options["_nrt"] is True


def _options(decorate: Any) -> dict[str, Any]:
    """Return what numba is asked for by a decorator; nothing is compiled."""

    def nothing() -> int:
        return 0

    options: dict[str, Any] = decorate(nothing).targetoptions
    return options


def test_cache_roots_of_other_systems(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("sys.platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    assert jit._cache_root() == tmp_path / "simcore"
    monkeypatch.setattr("sys.platform", "darwin")
    assert jit._cache_root().parts[-3:] == ("Library", "Caches", "simcore")


def test_the_directory_is_chosen_once_from_environment_and_sources(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "mine"))
    assert jit._choose_cache_directory() == tmp_path / "mine"
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("NUMBA_BOUNDSCHECK", "1")
    assert jit._choose_cache_directory() == tmp_path / "simcore" / f"{jit.source_digest()}-bc"
    blocker = tmp_path / "blocker"
    blocker.write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocker))
    with pytest.warns(RuntimeWarning, match="cannot be written"):
        private = jit._choose_cache_directory()
    assert private.stat().st_mode & 0o777 == 0o700
    private.rmdir()

    def no_home() -> Path:
        raise RuntimeError

    monkeypatch.setattr(jit, "_cache_root", no_home)
    with pytest.warns(RuntimeWarning, match="cannot be written"):
        jit._choose_cache_directory().rmdir()


def test_cold_and_pruned(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    own, other = tmp_path / "simcore" / "aaaa-std", tmp_path / "simcore" / "bbbb-std"
    own.mkdir(parents=True)
    other.mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(jit, "_CACHE", own)
    monkeypatch.setattr(jit, "is_jit_disabled", lambda: False)
    assert jit.is_cache_cold()
    (own / "kernel.nbi").write_text("")
    assert not jit.is_cache_cold()
    monkeypatch.setattr(jit, "is_jit_disabled", lambda: True)
    assert not jit.is_cache_cold()
    assert jit.prune_cache() == [other]
    monkeypatch.setattr(jit, "_CACHE", tmp_path / "elsewhere")
    assert jit.prune_cache() == []
