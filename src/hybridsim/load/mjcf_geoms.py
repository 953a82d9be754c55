"""Collision shapes of a compiled MJCF file as records.

Contact stiffness and its like (solref, solimp, margin, gap, priority) belong to MuJoCo's solver and are not read.
"""

from dataclasses import replace

import mujoco
import numpy as np

from ..model import Geom, ModelError
from .decomposition import convex_parts
from .mjcf_fields import Index
from .mjcf_source import Source
from .parts import part_names

_SHAPES = {
    int(mujoco.mjtGeom.mjGEOM_PLANE): ("plane", 0),
    int(mujoco.mjtGeom.mjGEOM_SPHERE): ("sphere", 1),
    int(mujoco.mjtGeom.mjGEOM_CAPSULE): ("capsule", 2),
    int(mujoco.mjtGeom.mjGEOM_CYLINDER): ("cylinder", 2),
    int(mujoco.mjtGeom.mjGEOM_BOX): ("box", 3),
    int(mujoco.mjtGeom.mjGEOM_ELLIPSOID): ("ellipsoid", 3),
    int(mujoco.mjtGeom.mjGEOM_MESH): ("points", 0),
}


def read_geoms(source: Source, body: Index, concavity: float | None = None) -> list[Geom]:
    """The collision shapes of one body; meshes by their convex hull, or by their convex parts if a `concavity` is given."""
    return [part for i in shapes_of(source, body) for part in shapes_for(source, i, concavity)]


def shapes_of(source: Source, body: Index) -> list[int]:
    """MuJoCo's indices of the geoms of a body that are read. One that collides with nothing is only drawn."""
    m = source.model
    first, number = m.body_geomadr[body], m.body_geomnum[body]
    return [i for i in range(first, first + number) if collides(source, i) and m.geom_type[i] in _SHAPES]


MESH = "mesh"
"""Before the count of a link's meshes, in the names of their numbers."""


def meshes_of(source: Source, body: Index) -> list[int]:
    """MuJoCo's indices of the meshes of a body that collide, where the file was read without meshes."""
    return [i for i in source.silent if source.model.geom_bodyid[i] == body]


def friction_of(m: mujoco.MjModel, geom: Index) -> float:
    """Two shapes of contact dimension 1 slide on each other without friction."""
    return float(m.geom_friction[geom, 0]) if m.geom_condim[geom] > 1 else 0.0


def collides(source: Source, geom: Index) -> bool:
    """By its filter, or because a <pair> names it; not if the file was read without its mesh."""
    m = source.model
    paired = geom in m.pair_geom1 or geom in m.pair_geom2
    touches = bool(m.geom_contype[geom] or m.geom_conaffinity[geom]) or (paired and geom not in source.silent)
    return touches and not source.off("contact", "constraint")


def shapes_for(source: Source, i: Index, concavity: float | None = None) -> list[Geom]:
    """The shapes that stand for a geom: one, or as many as its mesh has convex parts."""
    m = source.model
    shape, numbers = _SHAPES[m.geom_type[i]]
    geom = Geom(
        shape,
        size=m.geom_size[i, :numbers].copy(),
        position=m.geom_pos[i].copy(),
        quaternion=m.geom_quat[i].copy(),
        friction=friction_of(m, i),
        name=m.geom(i).name,
        group=(int(m.geom_contype[i]), int(m.geom_conaffinity[i])),
    )
    if shape != "points":
        return [geom]
    parts = _parts(source, m.geom_dataid[i], concavity)
    names = part_names(geom.name, len(parts))
    return [replace(geom, points=points, name=name) for points, name in zip(parts, names, strict=True)]


def _parts(source: Source, mesh: Index, concavity: float | None) -> list[np.ndarray]:
    from .meshes import hull_corners

    m = source.model
    first, number = m.mesh_vertadr[mesh], m.mesh_vertnum[mesh]
    vertices = m.mesh_vert[first : first + number].astype(float)
    if concavity is None:
        return [hull_corners(vertices)]
    face, faces = m.mesh_faceadr[mesh], m.mesh_facenum[mesh]
    try:
        parts = convex_parts(vertices, m.mesh_face[face : face + faces], concavity)
    except ValueError as error:
        raise ModelError(f"{source.path}: mesh {m.mesh(mesh).name}: {error}; load without decompose") from None
    return [hull_corners(part) for part in parts]
