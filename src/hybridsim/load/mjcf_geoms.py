"""Collision shapes of a compiled MJCF file as records.

Contact stiffness and its like (solref, solimp, margin, gap, priority) belong to MuJoCo's solver and are not read.
"""

import mujoco
import numpy as np

from ..model import Geom
from .mjcf_fields import Index
from .mjcf_source import Source

_SHAPES = {
    int(mujoco.mjtGeom.mjGEOM_PLANE): ("plane", 0),
    int(mujoco.mjtGeom.mjGEOM_SPHERE): ("sphere", 1),
    int(mujoco.mjtGeom.mjGEOM_CAPSULE): ("capsule", 2),
    int(mujoco.mjtGeom.mjGEOM_CYLINDER): ("cylinder", 2),
    int(mujoco.mjtGeom.mjGEOM_BOX): ("box", 3),
    int(mujoco.mjtGeom.mjGEOM_ELLIPSOID): ("ellipsoid", 3),
    int(mujoco.mjtGeom.mjGEOM_MESH): ("points", 0),
}


def read_geoms(source: Source, body: Index) -> list[Geom]:
    """The collision shapes of one body."""
    return [_geom(source.model, i) for i in shapes_of(source, body)]


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
    m = source.model
    return bool(m.geom_contype[geom] or m.geom_conaffinity[geom]) and not source.off("contact", "constraint")


def _geom(m: mujoco.MjModel, i: Index) -> Geom:
    shape, numbers = _SHAPES[m.geom_type[i]]
    return Geom(
        shape,
        size=m.geom_size[i, :numbers].copy(),
        position=m.geom_pos[i].copy(),
        quaternion=m.geom_quat[i].copy(),
        friction=friction_of(m, i),
        points=_hull(m, m.geom_dataid[i]) if shape == "points" else None,
        name=m.geom(i).name,
        group=(int(m.geom_contype[i]), int(m.geom_conaffinity[i])),
    )


def _hull(m: mujoco.MjModel, mesh: Index) -> np.ndarray:
    """The corners of a mesh's convex hull. `mesh_graph` starts with their number and lists them after their edges."""
    first, number = m.mesh_vertadr[mesh], m.mesh_vertnum[mesh]
    vertices = m.mesh_vert[first : first + number].astype(float)
    graph = m.mesh_graphadr[mesh]
    if graph < 0:
        return vertices
    corners = m.mesh_graph[graph]
    return vertices[m.mesh_graph[graph + 2 + corners : graph + 2 + 2 * corners]]
