"""Links of a URDF: inertia and collision shapes."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import yourdfpy
from lxml import etree

from ..model import Geom, Link, ModelError, ModelWarning
from .limits import check_mesh
from .packages import find_file
from .parts import part_names
from .poses import position_and_quaternion, rotation


@dataclass
class MeshFinder:
    """Turns mesh names into the corners of convex parts, and remembers those that it could not find or read."""

    folder: Path
    package_dirs: Sequence[str | Path] = ()
    enabled: bool = True
    concavity: float | None = None
    missing: dict[str, str] = field(default_factory=dict)

    def parts(self, mesh: yourdfpy.Mesh) -> list[np.ndarray]:
        """Corners of the mesh's convex hull, or of each of its convex parts; nothing where they cannot be had."""
        if not self.enabled:
            return []
        from .meshes import mesh_parts

        path = find_file(mesh.filename, self.folder, self.package_dirs)
        if path is None:
            self.missing[mesh.filename] = "not found"
            return []
        check_mesh(path)
        try:
            scale = 1.0 if mesh.scale is None else mesh.scale
            return [part * scale for part in mesh_parts(path, self.concavity)]
        except ValueError as error:
            if isinstance(error, ModelError):
                raise
            self.missing[mesh.filename] = str(error)
            return []

    def warn(self, source: Path) -> None:
        """One warning for all meshes of a file."""
        if not self.missing:
            return
        shown = [f"{name} ({problem})" for name, problem in list(self.missing.items())[:3]]
        more = f" and {len(self.missing) - 3} more" if len(self.missing) > 3 else ""
        warnings.warn(
            f"{source}: {len(self.missing)} collision meshes are left out: {', '.join(shown)}{more}; "
            "for package:// names give package_dirs=[...], or load with meshes=False",
            ModelWarning,
            stacklevel=2,
        )


def read_link(link: yourdfpy.Link, element: etree._Element, meshes: MeshFinder) -> Link:
    """One link; `element` is where yourdfpy read it."""
    pairs = zip(link.collisions, element.iterfind("collision"), strict=True)
    shapes = [_geoms(collision, shape.find("geometry/*").tag, meshes) for collision, shape in pairs]
    friction = link_friction(element)
    geoms = [replace(shape, friction=friction) for some in shapes for shape in some]
    if link.inertial is None:
        return Link(link.name, geoms=geoms)
    R = rotation(link.inertial.origin)
    com, _ = position_and_quaternion(link.inertial.origin)
    inertia = R @ link.inertial.inertia @ R.T
    return Link(link.name, link.inertial.mass, com, (inertia + inertia.T) / 2, geoms)


def link_friction(element: etree._Element) -> float:
    """Coulomb's coefficient of a link's shapes: <contact><lateral_friction value="..."/>, which is Bullet's addition to URDF."""
    said = element.find("contact/lateral_friction")
    return Geom.friction if said is None else float(said.get("value"))


def _geoms(collision: yourdfpy.Collision, shape: str, meshes: MeshFinder) -> list[Geom]:
    """A collision shape with our sizes (half lengths); a mesh is as many as it has convex parts, or none if it is not there."""
    geometry = collision.geometry
    position, quaternion = position_and_quaternion(collision.origin)
    name = collision.name or ""
    if shape == "mesh":
        parts = meshes.parts(geometry.mesh)
        names = part_names(name, len(parts))
        return [
            Geom("points", (), position, quaternion, points=part, name=own)
            for part, own in zip(parts, names, strict=True)
        ]
    if shape == "sphere":
        size = (geometry.sphere.radius,)
    elif shape == "box":
        size = geometry.box.size / 2
    else:
        size = (geometry.cylinder.radius, geometry.cylinder.length / 2)
    return [Geom(shape, size, position, quaternion, name=name)]
