"""What is under version control: text and pictures, nothing that a program made by accident."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PICTURES = {".png": b"\x89PNG\r\n\x1a\n", ".jpg": b"\xff\xd8\xff", ".gif": b"GIF8"}
"""Endings of names, and how the files begin."""


def is_binary(content: bytes) -> bool:
    try:
        return "\0" in content.decode()
    except UnicodeDecodeError:
        return True


def is_picture(path: Path, content: bytes) -> bool:
    start = PICTURES.get(path.suffix.lower())
    return start is not None and content.startswith(start)


def unwanted(files: list[Path]) -> list[Path]:
    contents = ((path, path.read_bytes()) for path in files if path.is_file())
    return [path for path, content in contents if is_binary(content) and not is_picture(path, content)]


def test_tracked_files_are_text_or_pictures():
    try:
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"this is no checkout of the repository, or git is missing: {error}")
    files = [ROOT / name for name in listed.split("\0") if name]
    assert len(files) > 100
    assert unwanted(files) == []


def test_binaries_are_recognised(tmp_path):
    contents = {
        "object": b"\x7fELF\x02\x01\x01\0\0",
        "object.png": b"\x7fELF\x02\x01\x01\0\0",
        "weights.npz": b"PK\x03\x04\xff",
        "picture.png": PICTURES[".png"] + b"\0\0",
        "text.md": "1 µm".encode(),
    }
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    assert [path.name for path in unwanted([tmp_path / name for name in contents])] == [
        "object",
        "object.png",
        "weights.npz",
    ]
