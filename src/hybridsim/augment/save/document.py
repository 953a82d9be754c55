"""The JSON document: its text for people, its version, and checksums that tell damage from a model.

The checksum of the structure is taken of its values and not of its text, so that white space does not matter.
"""

import hashlib
import json
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from .errors import briefly, damaged

FORMAT, VERSION = "hybridsim-model", 1
_HEAD = ("format", "version", "hybridsim", "sha256")


def as_text(structure: dict[str, Any], numbers: bytes) -> bytes:
    """The document of a model's structure."""
    document = {"format": FORMAT, "version": VERSION, "hybridsim": _own_version(), "sha256": {}, **structure}
    document["sha256"] = {"structure": _structure_hash(document), "numbers": hashlib.sha256(numbers).hexdigest()}
    return (_formatted(document, "") + "\n").encode()


def structure_of(text: bytes, numbers: bytes) -> dict[str, Any]:
    """The structure in a document, of this version and undamaged."""
    try:
        document = json.loads(text.decode("utf-8"), parse_constant=_refuse)
    except (ValueError, RecursionError) as problem:
        raise damaged(f"model.json is broken JSON ({briefly(problem)})") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise damaged(f'model.json has no "format": "{FORMAT}"', "give a model that hs.save_hybrid wrote")
    found = document.get("version")
    if type(found) is not int or found < 1:
        raise damaged(f"model.json has the version {found!r}, but versions are 1, 2, ...")
    if found > VERSION:
        raise damaged(
            f"it was written by HybridSim {document.get('hybridsim')} in version {found} of the format, and this one "
            f"reads up to version {VERSION}",
            "install a newer HybridSim",
        )
    sums = document.get("sha256")
    if not isinstance(sums, dict) or sums.get("structure") != _structure_hash(document):
        raise damaged("model.json is not as it was written: its checksum differs")
    if sums.get("numbers") != hashlib.sha256(numbers).hexdigest():
        raise damaged(
            "numbers.safetensors is not the one that was written with model.json: its checksum differs",
            "save the model again, or put back the files that belong together",
        )
    return {key: value for key, value in document.items() if key not in _HEAD}


def _structure_hash(document: dict[str, Any]) -> str:
    rest = {key: value for key, value in document.items() if key != "sha256"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _own_version() -> str:
    try:
        return version("hybridsim")
    except PackageNotFoundError:
        return "unknown"


def _refuse(constant: str):
    raise ValueError(f"{constant} is no JSON")


def _formatted(value: Any, indent: str) -> str:
    """Indented, but lists of plain values, and of lists of them, on one line."""
    inner = indent + "  "
    if isinstance(value, dict) and value:
        if all(_plain(v) for v in value.values()) and len(line := json.dumps(value, allow_nan=False)) < 200:
            return line
        rows = [f"{inner}{json.dumps(key)}: {_formatted(item, inner)}" for key, item in value.items()]
        return "{\n" + ",\n".join(rows) + f"\n{indent}}}"
    if isinstance(value, list) and not all(_plain(item) for item in value):
        return "[\n" + ",\n".join(inner + _formatted(item, inner) for item in value) + f"\n{indent}]"
    return json.dumps(value, allow_nan=False)


def _plain(value: Any) -> bool:
    """Whether it goes on one line with others."""
    if isinstance(value, list):
        return all(not isinstance(item, dict) and _plain(item) for item in value)
    return not isinstance(value, dict) or not value
