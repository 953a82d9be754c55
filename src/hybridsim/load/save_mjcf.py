"""A model's numbers into a copy of its MJCF file."""

import os
import shutil
import tempfile
import warnings
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from ..model import WORLD, Model, ModelError, ModelWarning, Spec, build_spec
from .differences import Name, changed_meshes, differences, mesh_rows, named_numbers, without_added
from .edit_xml import Document
from .mjcf import spec_of
from .mjcf_attributes import Element, last_or_new
from .mjcf_geoms import MESH, friction_of, meshes_of
from .mjcf_names import names
from .mjcf_pairs import put_pairs
from .mjcf_source import Source, open_mjcf
from .mjcf_text import completed, inlined
from .mjcf_writer import Writer
from .pair_friction import with_shape_friction

# Inertias are written about other axes and angles in degrees; both come back to rounding.
_READ_BACK = 1e-12
# One number may change others, such as a mass the gain of a servo given by its damping ratio; then these are
# written in the next round.
_ROUNDS = 4


def save_mjcf(model: Model, path: Path, like: Path) -> None:
    """Writes what changed, reads it back, and warns of every number that did not survive.

    Included files stay as they are: if numbers in them change, or the copy lies in another folder, their text
    takes the place of the <include>.
    """
    if not path.parent.is_dir():
        raise ModelError(f"{path}: its folder does not exist; make it first")
    with _scratch(path, like) as draft:
        if path.resolve().parent != like.resolve().parent:
            draft.write_bytes(inlined(like))
            _point_back(draft, like.resolve().parent)
        lost = _write_rounds(model, draft, path, like)
        if mesh_rows(model.geometry):
            lost += changed_meshes(model, _read(draft, path, meshes=True)[2])
        draft.replace(path)
    if lost:
        warnings.warn(
            f"{path}: MJCF cannot hold these numbers of the model, so loading it gives others: "
            f"{', '.join(map(str, lost))}",
            ModelWarning,
            stacklevel=3,
        )


@contextmanager
def _scratch(path: Path, like: Path) -> Iterator[Path]:
    """A copy beside the file to be written, where relative paths mean the same; gone at the end."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.stem, suffix=".xml")
    os.close(handle)
    draft = Path(name)
    try:
        shutil.copyfile(like, draft)
        shutil.copymode(like, draft)
        yield draft
    finally:
        draft.unlink(missing_ok=True)


def _write_rounds(model: Model, draft: Path, path: Path, like: Path) -> list[Name]:
    """Edits the draft until it says what it shall; returns the numbers that it cannot say."""
    source, spec, loaded = _read(draft, path)
    _same_mechanism(model, loaded, like)
    single = {frozenset((a, b)) for a, b, _ in spec.pairs}
    model = with_shape_friction(model, loaded)
    numbers = named_numbers(model) | _mesh_friction(model, source) | _friction_of_pairs(model, single)
    before: list[Name] = []
    step = 0
    while True:
        said = named_numbers(loaded) | _said_of_meshes(source) | _friction_of_pairs(loaded, single)
        changed = differences(numbers, said, _READ_BACK if step else 0.0)
        if changed == before or step == _ROUNDS:
            return without_added(_in_pairs(model, numbers, changed, single, draft, path), model, said)
        _edit(draft, source, spec, numbers, changed)
        before, step = changed, step + 1
        source, spec, loaded = _read(draft, path)


def _friction_of_pairs(model: Model, single: Collection[frozenset[str]]) -> dict[Name, np.ndarray]:
    """Friction of the pairs of which the file has a <pair>: it has to be written even where the shapes would give the same."""
    geometry, contacts = model.geometry, model.contacts
    names = [(geometry.names[a], geometry.names[b]) for a, b in contacts.pairs]
    return {
        Name("contact", " with ".join(pair), "friction"): np.asarray(value)
        for pair, value in zip(names, contacts.friction, strict=True)
        if frozenset(pair) in single
    }


def _in_pairs(
    model: Model,
    numbers: dict[Name, np.ndarray],
    lost: list[Name],
    single: Collection[frozenset[str]],
    draft: Path,
    path: Path,
) -> list[Name]:
    """Say by <pair>s what no friction of geoms can, if that comes back; returns what is still lost."""
    geometry, friction = model.geometry, {}
    for (a, b), value in zip(model.contacts.pairs, model.contacts.friction, strict=True):
        first, second = geometry.names[a], geometry.names[b]
        if Name("contact", f"{first} with {second}", "friction") in lost:
            friction[first, second] = float(value)
    if not friction:
        return lost
    before, document = draft.read_bytes(), Document(draft)
    put_pairs(document.root, _read(draft, path)[0].model, friction)
    _write(draft, document)
    source, _, loaded = _read(draft, path)
    said = named_numbers(loaded) | _said_of_meshes(source) | _friction_of_pairs(loaded, single)
    left = differences(numbers, said, _READ_BACK)
    if len(left) < len(lost):
        return left
    draft.write_bytes(before)
    return lost


def _said_of_meshes(source: Source) -> dict[Name, np.ndarray]:
    """Friction of the meshes of a file that was read without them."""
    return {
        Name("shape", f"{link}/{MESH}{k}", "friction"): np.asarray(friction_of(source.model, geom))
        for body, link in enumerate(names(source.model).bodies)
        for k, geom in enumerate(meshes_of(source, body))
    }


def _mesh_friction(model: Model, source: Source) -> dict[Name, np.ndarray]:
    """That of the model's meshes, under the same names; nothing of links of which a mesh was not found."""
    known, found = _said_of_meshes(source), {}
    for link, rows in mesh_rows(model.geometry).items():
        owner = model.link_names[link] if link >= 0 else WORLD
        own = [Name("shape", f"{owner}/{MESH}{k}", "friction") for k in range(len(rows) + 1)]
        if all(name in known for name in own[:-1]) and own[-1] not in known:
            found |= {name: np.asarray(model.geometry.friction[i]) for name, i in zip(own, rows, strict=False)}
    return found


def _read(draft: Path, path: Path, meshes: bool = False) -> tuple[Source, Spec, Model]:
    try:
        source = open_mjcf(draft, meshes=meshes)
        spec, _ = spec_of(source)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ModelWarning)
            return source, spec, build_spec(spec, strict=False)
    except ModelError as error:
        problem = str(error).replace(draft.name, path.name)
        raise ModelError(f"{path}: not written, because loading it would fail: {problem}") from None


def _same_mechanism(model: Model, file: Model, like: Path) -> None:
    if model.topology.unprescribed != file.topology or model.actuators.names != file.actuators.names:
        raise ModelError(
            f"{like}: its links, joints or actuators are not those of the model (links {_only(model, file)}); "
            "give the file that the model was loaded from"
        )


def _only(model: Model, file: Model) -> str:
    ours, theirs = set(model.link_names), set(file.link_names)
    surplus = {"model": ours - theirs, "file": theirs - ours}
    return "; ".join(f"only in the {where}: {', '.join(sorted(names)) or 'none'}" for where, names in surplus.items())


def _edit(draft: Path, source: Source, spec: Spec, numbers: dict[Name, np.ndarray], changed: list[Name]) -> None:
    document = Document(draft)
    if not _write_numbers(document, source, spec, numbers, changed) and document.root.find(".//include") is not None:
        draft.write_bytes(inlined(draft))
        document = Document(draft)
        _write_numbers(document, source, spec, numbers, changed)
    _write(draft, document)


def _write_numbers(document: Document, source: Source, spec: Spec, numbers, changed: list[Name]) -> bool:
    """Into the tree; False if it does not have all the elements that they belong to."""
    writer = Writer(document.root, source, spec, numbers)
    written = [writer.write(name) for name in changed]
    return all(written)


def _write(draft: Path, document: Document) -> None:
    encoding = document.root.getroottree().docinfo.encoding or "utf-8"
    draft.write_bytes(completed(document.text(), document.root).encode(encoding))


def _point_back(draft: Path, folder: Path) -> None:
    """Makes a copy find the files that it names by paths from the folder of the original."""
    document = Document(draft)
    back = Path(os.path.relpath(folder, draft.resolve().parent))
    for files, directory in (("mesh hfield skin", "meshdir"), ("texture", "texturedir")):
        _point_directory_back(document.root, files.split(), directory, back)
    for element in document.root.iterfind("asset/model"):
        element.set("file", (back / element.get("file", "")).as_posix())
    _write(draft, document)


def _point_directory_back(root: Element, tags: list[str], directory: str, back: Path) -> None:
    compilers = list(root.iterfind("compiler"))
    given = [element for element in compilers if {directory, "assetdir"} & set(element.attrib)]
    named = any(name.startswith("file") for tag in tags for element in root.iter(tag) for name in element.attrib)
    if given:
        old = given[-1].get(directory) or given[-1].get("assetdir", "")
        given[-1].set(directory, (back / old).as_posix())
    elif named:
        last_or_new(root, "compiler").set(directory, back.as_posix())
