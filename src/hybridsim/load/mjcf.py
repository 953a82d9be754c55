"""MJCF, the format of MuJoCo: MuJoCo's own compiler resolves it, and its numbers become records.

What the engine shares with MuJoCo (bodies, joints, springs, dampers, motors, servos, convex shapes) is read to
the last digit. What it does not is named in one `ModelWarning` a file.
"""

import warnings
from pathlib import Path

import numpy as np

from ..model import ModelWarning, Spec
from .mjcf_actuators import read_actuators
from .mjcf_bodies import names, read_geoms, read_joints, read_links
from .mjcf_source import Source, listed, open_mjcf
from .mjcf_support import unsupported


def read_mjcf(path: Path) -> Spec:
    """The records of an MJCF file. q is MuJoCo's qpos; velocities of free joints are in the body, angular first."""
    source = open_mjcf(path)
    spec, notes = spec_of(source)
    if notes:
        warnings.warn(f"{path}: not simulated: {'; '.join(notes)}", ModelWarning, stacklevel=2)
    return spec


def spec_of(source: Source) -> tuple[Spec, list[str]]:
    """The records of a compiled file, and what they do not say."""
    called = names(source.model)
    actuators, others = read_actuators(source, called)
    notes = [*source.notes, *unsupported(source, called), listed("actuator", others)]
    spec = Spec(
        links=read_links(source, called),
        joints=read_joints(source, called),
        actuators=actuators,
        world_geoms=read_geoms(source, 0),
        gravity=np.zeros(3) if source.off("gravity") else source.model.opt.gravity.copy(),
        timestep=float(source.model.opt.timestep),
        source=str(source.path),
        elements=_elements(source, called.bodies, called.joints),
    )
    return spec, [note for note in notes if note]


def _elements(source: Source, bodies: list[str], joints: list[str]) -> dict[str, str]:
    """Lines, as far as MuJoCo knows them: it does not for what is included."""
    known = {f"link {bodies[body.id]}": body.info for body in source.spec.bodies}
    known |= {f"joint {joints[joint.id]}": joint.info for joint in source.spec.joints}
    return {thing: place for thing, place in known.items() if place not in ("", "line 0")}
