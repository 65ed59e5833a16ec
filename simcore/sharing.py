"""Scenarios as short strings that survive a chat message or an address bar.

A string is ``sc1.`` and URL-safe base64 of a raw deflate stream with four bytes of SHA-256 in front. Inside is the
scenario's table as JSON, in the order in which it was written, since the order of squads or of unit tables can matter.
Nothing is evaluated on reading: the size is bounded before anything is unpacked, the JSON is checked as a file would
be, and then it is a scenario like any other.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
import zlib
from typing import TYPE_CHECKING, Any, Final

from simcore.errors import ScenarioError
from simcore.scenario import check_bounds, load_scenario, standalone

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["PREFIX", "is_shared", "share", "unshare"]

PREFIX: Final = "sc1."
_LONGEST: Final = 1_000_000
"""Letters of a string."""
_LARGEST: Final = 4_000_000
"""Bytes of the JSON inside."""
_CHECK: Final = 4
_RAW: Final = -15
_ALPHABET: Final = re.compile(r"[A-Za-z0-9_-]*")
# Words that most scenarios have: with them a small one takes half the letters. Part of the format "sc1".
_WORDS: Final = (
    b'"options":{"support_dice":"pool_modifier":"can_flee":"characters":[{"skill":"technologies":["cargo":["'
    b'"territory":{"value":"damaged":"1 "bombard":"1 cruiser"landed":"submerge":"retreat":{"after_cycles":'
    b'"when_units_at_most":"possible":false"keep_land":"loss_order":["cycle_limit":"low_luck":"terrain":"sea"'
    b'"land""amphibious""raid""mass_battle""force_order""general_combat""edition":"spring1942""aa50""revised""classic"'
    b" submarine, destroyer, carrier, battleship, transport, aa_gun, artillery, fighter, bomber, tank, infantry"
    b'{"ruleset":"general_combat","edition":"spring1942","attacker":{"units":"10 infantry, 1 tank"},'
    b'"defender":{"units":"'
)


def is_shared(text: str) -> bool:
    """Return True for what looks like a shared scenario of any version.

    Parameters
    ----------
    text : str

    Returns
    -------
    bool

    Examples
    --------
    >>> is_shared("sc1.abc"), is_shared("10 infantry"), is_shared("battle.toml")
    (True, False, False)
    """
    return re.match(r"sc\d+\.", text.strip()) is not None and not text.strip().endswith(".toml")


def share(scenario: str | Path | Mapping[str, Any]) -> str:
    """Return a scenario as a short string.

    Parameters
    ----------
    scenario : str, Path or mapping
        A TOML file, or its content; editions of a file of their own become part of the string.

    Returns
    -------
    str

    Raises
    ------
    ScenarioError
        When the scenario cannot be used, or is too large.

    Examples
    --------
    >>> text = share({"attacker": {"units": "10 infantry, 5 tank"}, "defender": {"units": "10 infantry"}})
    >>> unshare(text)["attacker"]
    {'units': '10 infantry, 5 tank'}
    """
    table = standalone(scenario)
    load_scenario(table, source="" if not isinstance(scenario, str) else scenario)
    try:
        content = json.dumps(table, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as problem:
        raise ScenarioError(f"holds a value that cannot be shared ({problem})") from None
    if len(content) > _LARGEST:
        raise ScenarioError(f"is too large to be shared: {len(content):,} bytes, at most {_LARGEST:,} are possible")
    packer = zlib.compressobj(9, zlib.DEFLATED, _RAW, 9, zlib.Z_DEFAULT_STRATEGY, _WORDS)
    packed = hashlib.sha256(content).digest()[:_CHECK] + packer.compress(content) + packer.flush()
    text = PREFIX + base64.urlsafe_b64encode(packed).rstrip(b"=").decode()
    if len(text) > _LONGEST:
        raise ScenarioError(f"is too large to be shared: {len(text):,} letters, at most {_LONGEST:,} are possible")
    return text


def unshare(text: str) -> dict[str, Any]:
    """Return the table of a shared scenario, checked.

    Parameters
    ----------
    text : str
        From `share`; white space around it does not matter.

    Returns
    -------
    dict
        What a scenario file would hold.

    Raises
    ------
    ScenarioError
        When the string is not whole, or holds no scenario.
    """
    text = "".join(text.split())
    source = "shared scenario"
    if not text.startswith(PREFIX):
        known = f"; this version reads {PREFIX}..." if is_shared(text) else ""
        raise ScenarioError(f'must begin with "{PREFIX}"{known}', source=source)
    content = _unpacked(text.removeprefix(PREFIX), source)
    try:
        table = json.loads(content, parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise ScenarioError("is damaged: no JSON inside", source=source) from None
    if not isinstance(table, dict):
        raise ScenarioError("is damaged: no table inside", source=source)
    check_bounds(table, source)
    if "edition_file" in table:
        raise ScenarioError("a shared scenario has no files", field="edition_file", source=source)
    load_scenario(table, source=source)
    return table


def _unpacked(body: str, source: str) -> bytes:
    """Return the JSON of a string; never more than the largest that could have been packed."""
    if len(body) > _LONGEST:
        raise ScenarioError(f"is too long: {len(body):,} letters, at most {_LONGEST:,} are possible", source=source)
    if not _ALPHABET.fullmatch(body):
        raise ScenarioError("holds letters that do not belong to it; copy the whole string again", source=source)
    try:
        packed = base64.urlsafe_b64decode(body + "=" * (-len(body) % 4))
        reader = zlib.decompressobj(_RAW, _WORDS)
        content = reader.decompress(packed[_CHECK:], _LARGEST)
    except (binascii.Error, ValueError, zlib.error):
        raise ScenarioError("is damaged or cut; copy the whole string again", source=source) from None
    is_whole = reader.eof and not reader.unused_data
    if not is_whole or hashlib.sha256(content).digest()[:_CHECK] != packed[:_CHECK]:
        raise ScenarioError("is damaged or cut; copy the whole string again", source=source)
    return content


def _refuse(word: str) -> None:
    raise ValueError(word)
