"""Writing so that at no time there is half a file, and nothing is lost that is not an older model."""

import io
import json
import os
import secrets
import shutil
import zipfile
from pathlib import Path

from .container import LARGEST, STRUCTURE
from .document import FORMAT
from .errors import damaged

SUFFIX = ".hybrid"
_OTHERS = (".urdf", ".xml", ".mjcf", ".xacro", ".json", ".zip", ".npz", ".safetensors")


def check_target(path: Path) -> None:
    """That writing there would destroy nothing but an older model."""
    if not path.parent.is_dir():
        raise damaged(f"its folder {path.parent} does not exist", "make it first")
    if path.suffix in _OTHERS:
        raise damaged(
            f"a model with networks is not written as {path.suffix}",
            f"give a folder or a name that ends with {SUFFIX} (robot files are written by hs.save)",
        )
    if path.suffix == SUFFIX:
        _check_file(path)
    elif path.exists():
        _check_folder(path)


def write_members(path: Path, members: dict[str, bytes]) -> None:
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        if path.suffix == SUFFIX:
            _write(draft, _zipped(members))
            os.replace(draft, path)
        else:
            draft.mkdir()
            for name, content in members.items():
                _write(draft / name, content)
            _exchange(draft, path)
    finally:
        if draft.is_dir():
            shutil.rmtree(draft)
        else:
            draft.unlink(missing_ok=True)


def _check_file(path: Path) -> None:
    if path.is_dir():
        raise damaged("there is a folder of this name", "choose another name")
    if path.exists() and path.read_bytes()[:2] not in (b"", b"PK"):
        raise damaged("there is a file of this name that is no hybrid model", "choose another name, or remove it first")


def _check_folder(path: Path) -> None:
    if not path.is_dir():
        raise damaged(
            "there is a file of this name", f"choose another name, or one that ends with {SUFFIX} for one file"
        )
    inside = {item.name for item in path.iterdir()}
    strange = sorted(inside - set(LARGEST))
    if strange or (inside and not _is_ours(path / STRUCTURE)):
        listed = f" with {', '.join(strange[:3])} in it" if strange else ""
        raise damaged(
            f"there is a folder of this name{listed}, which is more than a model", "choose another name, or empty it"
        )


def _is_ours(structure: Path) -> bool:
    try:
        return json.loads(structure.read_bytes()).get("format") == FORMAT
    except (OSError, ValueError, AttributeError, RecursionError):
        return False


def _zipped(members: dict[str, bytes]) -> bytes:
    """The same bytes for the same model: without the time."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), content)
    return buffer.getvalue()


def _write(path: Path, content: bytes) -> None:
    with path.open("xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _exchange(new: Path, path: Path) -> None:
    """Puts a folder in the place of an older one. Where that fails, the older one is back."""
    if not path.exists():
        os.replace(new, path)
        return
    old = new.with_suffix(".old")
    os.replace(path, old)
    try:
        os.replace(new, path)
    except OSError:
        os.replace(old, path)
        raise
    shutil.rmtree(old)
