"""MJCF, the format of MuJoCo: MuJoCo's own compiler resolves it, and its numbers become records.

What the engine shares with MuJoCo (bodies, joints, springs, dampers, motors, servos, convex shapes) is read to
the last digit. What it does not is named in one `ModelWarning` a file.
"""

from pathlib import Path

import numpy as np

from ..model import Spec
from .mjcf_actuators import read_actuators
from .mjcf_bodies import read_joints, read_links
from .mjcf_geoms import read_geoms, shapes_for
from .mjcf_names import Names, names
from .mjcf_pairs import read_pairs
from .mjcf_source import Source, listed, open_mjcf
from .mjcf_support import unsupported
from .xml import parse_xml


def read_mjcf(path: Path, meshes: bool = True, concavity: float | None = None) -> tuple[Spec, list[str]]:
    """The records of an MJCF file, and what in it is not simulated.

    q is MuJoCo's qpos; velocities of free joints are in the body, angular first. `meshes`: with False, collision meshes
    are left out. `concavity`: that of `convex_parts`; None for the convex hull of each mesh.
    """
    return spec_of(open_mjcf(path, meshes), concavity)


def spec_of(source: Source, concavity: float | None = None) -> tuple[Spec, list[str]]:
    """The records of a compiled file, and what they do not say."""
    called = names(source.model)
    actuators, others = read_actuators(source, called)
    pairs, uneven = read_pairs(source, lambda geom: [part.name for part in shapes_for(source, geom, concavity)])
    notes = [*source.notes, *unsupported(source, called), *uneven, listed("actuator", others)]
    spec = Spec(
        links=read_links(source, called, concavity),
        joints=read_joints(source, called),
        actuators=actuators,
        world_geoms=read_geoms(source, 0, concavity),
        excludes=source.excludes,
        pairs=pairs,
        gravity=np.zeros(3) if source.off("gravity") else source.model.opt.gravity.copy(),
        timestep=float(source.model.opt.timestep),
        source=str(source.path),
        elements=_elements(source, called),
    )
    return spec, [note for note in notes if note]


def _elements(source: Source, called: Names) -> dict[str, str]:
    """Lines, as far as MuJoCo knows them: it does not for what is included, and for what is attached not the file."""
    if parse_xml(source.path).find(".//attach") is not None:
        return {}
    known = {f"link {called.bodies[body.id]}": body.info for body in source.spec.bodies}
    known |= {f"joint {called.joints[joint.id]}": joint.info for joint in source.spec.joints}
    known |= {f"actuator {called.actuators[actuator.id]}": actuator.info for actuator in source.spec.actuators}
    return {thing: place for thing, place in known.items() if place not in ("", "line 0")}
