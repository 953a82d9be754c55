"""The numbers of a model by name, and which of them differ between two models of the same mechanism."""

from typing import NamedTuple

import numpy as np

from ..model import Geometry, Model, default_numbers


class Name(NamedTuple):
    """Such as link/forearm/mass."""

    what: str
    owner: str
    field: str

    def __str__(self) -> str:
        return "/".join(part for part in self if part)


def named_numbers(model: Model) -> dict[Name, np.ndarray]:
    """Every number that a file may hold. Shapes are called by link and count, meshes left out."""
    topology, joints = model.topology, model.joints
    table = {Name("gravity", "", ""): model.gravity, Name("timestep", "", ""): model.timestep}

    def add(what: str, owner: str, record, fields: str, rows) -> None:
        for field in fields.split():
            if (values := getattr(record, field)) is not None:
                table[Name(what, owner, field)] = values[rows]

    for i, link in enumerate(topology.link_names):
        add("link", link, model.links, "mass com inertia", i)
    for i, joint in enumerate(topology.joint_names):
        add("joint", joint, joints, "position quaternion anchor", i)
        if topology.kinds[i].nv:
            add("joint", joint, joints, "axis", i)
        if topology.mimics[i] >= 0:
            add("joint", joint, joints, "mimic_ratio mimic_offset", i)
        dofs = "damping friction friction_speed stiffness armature lower upper effort"
        add("joint", joint, joints, dofs, topology.v_slices[i])
        add("joint", joint, joints, "rest spring_rest", topology.q_slices[i])
    for shape, i in primitive_rows(model.geometry, topology.link_names).items():
        add("shape", shape, model.geometry, "position quaternion size friction", i)
    table |= _contact_numbers(model)
    for i, actuator in enumerate(model.actuators.names):
        add("actuator", actuator, model.actuators, "gain bias gear command_range force_range", i)
    return {name: np.asarray(value) for name, value in table.items()}


def _contact_numbers(model: Model) -> dict[Name, np.ndarray]:
    """Numbers of pairs and limits that are not those with which a loaded model starts: no file has a place for them."""
    table, topology = {}, model.topology
    names = model.geometry.names
    pairs = [f"{names[a]} with {names[b]}" for a, b in model.contacts.pairs]
    joint_of = [
        joint for joint, s in zip(topology.joint_names, topology.v_slices, strict=True) for _ in range(s.start, s.stop)
    ]
    limited = [joint_of[i] for i in model.limits.freedoms]
    started = default_numbers(model)
    for what, owners, record, usual in (
        ("contact", pairs, model.contacts, started[0]),
        ("limit", limited, model.limits, started[1]),
    ):
        for field, values in usual.items():
            found = np.asarray(getattr(record, field))
            for i in np.flatnonzero(found != values.astype(found.dtype)):
                table[Name(what, owners[i], field)] = np.asarray(found[i])
    return table


def primitive_rows(geometry: Geometry, link_names: tuple[str, ...]) -> dict[str, int]:
    """From LINK/COUNT to the row of each shape that is not a mesh."""
    rows: dict[str, int] = {}
    counts: dict[int, int] = {}
    for i, (shape, link) in enumerate(zip(geometry.shapes, geometry.links, strict=True)):
        if shape != "points":
            counts[link] = counts.get(link, -1) + 1
            rows[f"{link_names[link] if link >= 0 else 'world'}/{counts[link]}"] = i
    return rows


def mesh_rows(geometry: Geometry) -> dict[int, list[int]]:
    """Of each link, the rows of its shapes that are meshes."""
    rows: dict[int, list[int]] = {}
    for i, (shape, link) in enumerate(zip(geometry.shapes, geometry.links, strict=True)):
        if shape == "points":
            rows.setdefault(link, []).append(i)
    return rows


def changed_meshes(model: Model, file: Model) -> list[Name]:
    """Numbers of meshes that are not those of the file, read with its meshes; no file has a place for them."""
    ours, theirs, found = mesh_rows(model.geometry), mesh_rows(file.geometry), []
    for link, rows in ours.items():
        known = theirs.get(link, [])
        if len(known) != len(rows):  # a mesh was not found: nothing is known of any
            continue
        for i, j in zip(rows, known, strict=True):
            for field in ("position", "quaternion", "points"):
                name = Name("shape", model.geometry.names[i], field)
                new, old = (np.asarray(getattr(m.geometry, field)[k]) for m, k in ((model, i), (file, j)))
                if new.shape != old.shape or not _same(name, new, old, 1e-9):
                    found.append(name)
    return found


def differences(new: dict[Name, np.ndarray], old: dict[Name, np.ndarray], tolerance: float = 0.0) -> list[Name]:
    """Names of the numbers in `new` that `old` lacks or gives otherwise, beyond a relative tolerance."""
    return [name for name, value in new.items() if name not in old or not _same(name, value, old[name], tolerance)]


def without_added(lost: list[Name], model: Model, file: dict[Name, np.ndarray]) -> list[Name]:
    """The same, with one name for all numbers of a shape that the file does not have, such as a ground that was added."""
    rows = primitive_rows(model.geometry, model.link_names)
    found: dict[Name, None] = {}
    for name in lost:
        if name.owner in rows and name.what == "shape" and name._replace(field="position") not in file:
            name = Name("shape", model.geometry.names[rows[name.owner]], "")
        found[name] = None
    return list(found)


def _same(name: Name, new: np.ndarray, old: np.ndarray, tolerance: float) -> bool:
    old = old.astype(new.dtype)  # a model in single precision equals its file to single precision
    if name.field == "quaternion":
        new, old = new / np.linalg.norm(new), old / np.linalg.norm(old)
        old = old * (-1 if new @ old < 0 else 1)
    scale = np.max(np.abs(new[np.isfinite(new)]), initial=0.0)
    return new.shape == old.shape and np.allclose(new, old, rtol=0, atol=tolerance * scale)
