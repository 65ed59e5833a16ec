"""The text of a manifest: JSON with a checksum of its own, so that a damaged one is told from another sweep's."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, Final

from simcore.model import shown

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["SCHEMA", "DamagedManifestError", "encode_manifest", "is_readable", "newer_schema", "parse_manifest"]

SCHEMA: Final = 2
"""Form of manifest, tables and parts; raised when older versions could not read them. 2: parts count swings."""
_CHECKSUM: Final = "checksum"


class DamagedManifestError(ValueError):
    """The bytes are not those of a whole manifest."""


def _checksum(content: Mapping[str, Any]) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def encode_manifest(content: Mapping[str, Any]) -> bytes:
    """Return the bytes of a manifest file.

    Parameters
    ----------
    content : mapping
        JSON-able data.

    Returns
    -------
    bytes
    """
    rest = {key: value for key, value in content.items() if key != _CHECKSUM}
    signed = {_CHECKSUM: _checksum(rest), **rest}
    return (json.dumps(signed, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()


def parse_manifest(data: bytes) -> dict[str, Any]:
    """Return the content of a manifest file, without its checksum.

    Parameters
    ----------
    data : bytes
        All of the file. Manifests of older versions have no checksum and are taken as they are.

    Returns
    -------
    dict

    Raises
    ------
    DamagedManifestError
        When it is torn or altered; the message says how that shows.

    Examples
    --------
    >>> parse_manifest(encode_manifest({"state": "running"}))
    {'state': 'running'}
    """
    try:
        content = json.loads(data)
    except (ValueError, RecursionError):
        raise DamagedManifestError("not readable as JSON") from None
    if not isinstance(content, dict):
        raise DamagedManifestError("not a table")
    found = content.pop(_CHECKSUM, None)
    try:
        is_sound = found is None or found == _checksum(content)
    except (ValueError, RecursionError):  # what JSON cannot hold was never written
        is_sound = False
    if not is_sound:
        raise DamagedManifestError("its checksum does not fit what it holds")
    return content


def is_readable(schema: object) -> bool:
    """Return whether this version reads what a manifest calls its schema.

    Parameters
    ----------
    schema : object
        The entry.

    Returns
    -------
    bool
    """
    return isinstance(schema, int) and not isinstance(schema, bool) and 1 <= schema <= SCHEMA


def newer_schema(content: Mapping[str, Any]) -> str:
    """Return why a manifest cannot be used that a newer version wrote, and what helps; empty for all others.

    Parameters
    ----------
    content : mapping
        As parsed.

    Returns
    -------
    str
    """
    schema, versions = content.get("schema"), content.get("versions")
    if isinstance(schema, bool) or not isinstance(schema, int) or schema <= SCHEMA:
        return ""
    writer = versions.get("simcore") if isinstance(versions, dict) else None
    by = f"; simcore {shown(writer)[1:-1]} wrote it" if isinstance(writer, str) else ""
    newest = f"schema {schema} is newer than {SCHEMA}, the newest this version reads{by}"
    return f"{newest}; install a newer simcore, or run the sweep again with this one in another folder"
