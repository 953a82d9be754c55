"""How large a robot's file may be. A file that asks for more is refused before memory or time is spent on it."""

import json
import zipfile
from collections.abc import Callable
from pathlib import Path

from lxml import etree

from ..model import ModelError, Spec
from ..reading import amount, check_file, check_zip

LARGEST_XML = 32 * 2**20
"""Of a URDF or MJCF file [bytes]. The largest in public collections, with meshes written out as numbers, have some 10 MB."""
LARGEST_MESH = 200 * 10**6
"""Of a mesh file, unpacked [bytes]: some million triangles, of which contact uses only the convex hull."""
MOST_ENTRIES = 1000
"""Of a mesh file that is a zip."""
MOST_LINKS = 10_000
"""A humanoid with hands has 200. Reading takes a millisecond a link."""
MOST_SHAPES = 5_000
"""Each is compared with each to find those that may touch: 12 million pairs."""
MOST_ELEMENTS = 100_000
"""Of an MJCF file after <replicate>, <composite>, <flexcomp> and <attach> have multiplied them."""
MOST_CELLS = 10**7
"""Of one array of which an MJCF file gives only the size, such as a height field without data."""

_COMPRESSED = (".gz", ".tgz", ".bz2", ".xz", ".zst", ".tar", ".7z")
_COPIES = {"replicate": "count", "composite": "count", "flexcomp": "count"}
_SIZES = {"hfield": ("nrow", "ncol"), "numeric": ("size",), "texture": ("width", "height")}


def check_counts(spec: Spec) -> None:
    """A mechanism of at most so many links and shapes."""
    shapes = len(spec.world_geoms) + sum(len(link.geoms) for link in spec.links)
    for what, count, most in (("links", len(spec.links), MOST_LINKS), ("collision shapes", shapes, MOST_SHAPES)):
        if count > most:
            raise ModelError(f"{spec.source}: it has {count} {what}, and at most {most} are read; split it")


def check_mesh(path: Path) -> None:
    """A regular file that is not too large, also when unpacked and when the arrays that it announces are made."""
    check_file(path, LARGEST_MESH, ModelError)
    if path.suffix.lower() in _COMPRESSED:
        raise ModelError(f"{path} is compressed, and meshes are not unpacked; unpack it and name what was in it")
    try:
        with path.open("rb") as file:
            start = file.read(20)
            if start[:2] == b"PK":
                check_zip(file, LARGEST_MESH, MOST_ENTRIES)
            elif start[:4] == b"glTF" and start[16:] == b"JSON":
                _check_gltf(file.read(int.from_bytes(start[12:16], "little")))
            elif path.suffix.lower() == ".gltf":
                _check_gltf(path.read_bytes())
    except (ValueError, AttributeError, TypeError, zipfile.BadZipFile, RecursionError) as problem:
        raise ModelError(f"{path} is no mesh that can be read: {problem}") from problem


def _check_gltf(text: bytes) -> None:
    """An array of glTF without data is one of zeros: only the count says how large it is."""
    announced = json.loads(text).get("accessors", [])
    if (numbers := sum(int(array.get("count", 0)) for array in announced)) > MOST_CELLS:
        raise ValueError(f"its arrays have {numbers} rows, and at most {MOST_CELLS} are read")


def check_expansion(path: Path, root: etree._Element, brought: Callable[[etree._Element], int]) -> int:
    """How many elements an MJCF file has once its copies are made; too many are a ModelError.

    `brought`: how many elements of other files an <include> or <attach> brings.
    """
    total = 0
    waiting = [(root, 1)]
    while waiting:
        element, times = waiting.pop()
        if not isinstance(element.tag, str):
            continue
        if element.tag in _COPIES:
            times *= _product(element.get(_COPIES[element.tag], "1").split())
        total += times * (1 + brought(element) if element.tag in ("include", "attach") else 1)
        _check_sizes(path, element)
        if total > MOST_ELEMENTS:
            raise ModelError(
                f"{path}, line {element.sourceline}: <{element.tag}> makes {total} elements or more, and at most "
                f"{MOST_ELEMENTS} are read; give smaller counts"
            )
        waiting += [(child, times) for child in element]
    return total


def _check_sizes(path: Path, element: etree._Element) -> None:
    if element.tag == "size":
        names = [name for name in element.attrib if name != "memory"]
        sizes = [_product([element.get(name, "")]) for name in names]
    elif element.tag in _SIZES:
        sizes = [_product([element.get(name, "1") for name in _SIZES[element.tag]])]
    else:
        return
    if max(sizes, default=0) > MOST_CELLS:
        raise ModelError(
            f"{path}, line {element.sourceline}: <{element.tag}> asks for {max(sizes)} numbers, "
            f"{amount(8 * max(sizes))}; at most {MOST_CELLS} are read, so give a smaller one"
        )


def _product(words: list[str]) -> int:
    """Of whole numbers; what is none MuJoCo refuses by itself."""
    result = 1
    for word in words:
        try:
            result *= max(1, int(word)) if len(word) < 20 else 10**20
        except ValueError:
            continue
    return result
