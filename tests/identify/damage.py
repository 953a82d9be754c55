"""Ways in which a file may be damaged."""

import json
from collections.abc import Callable
from pathlib import Path


def _cut(share: float) -> Callable[[Path], None]:
    def cut(path: Path) -> None:
        data = path.read_bytes()
        path.write_bytes(data[: int(share * len(data))])

    return cut


def _flip(share: float) -> Callable[[Path], None]:
    def flip(path: Path) -> None:
        data = bytearray(path.read_bytes())
        data[int(share * (len(data) - 1))] ^= 0x55
        path.write_bytes(data)

    return flip


def _json(value: object) -> Callable[[Path], None]:
    def replace(path: Path) -> None:
        path.write_text(json.dumps(value))

    return replace


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _link_to_itself(path: Path) -> None:
    """Which nobody can read, not even root."""
    path.unlink()
    path.symlink_to(path.name)


DAMAGE: dict[str, Callable[[Path], None]] = {
    "empty": _cut(0.0),
    "cut at the start": _cut(0.01),
    "cut in the middle": _cut(0.5),
    "cut at the end": _cut(0.99),
    "flipped at the start": _flip(0.0),
    "flipped in the middle": _flip(0.5),
    "flipped at the end": _flip(1.0),
    "a list": _json([]),
    "null": _json(None),
    "a number": _json(3),
    "an object": _json({}),
    "a folder": _folder,
    "a link to itself": _link_to_itself,
}
