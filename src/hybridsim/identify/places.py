"""Every physical number of a model by a path: "link/upper_arm/mass", "joint/elbow/damping", "contact/foot/ground/friction",
"shape/foot/radius".

"sensor/elbow/bias" and "control/delay" belong to the measurement. A path names a
place in an array. Paths are matched by patterns, and sorted as the model is.
"""

from collections.abc import Callable, Iterator
from difflib import get_close_matches
from fnmatch import fnmatchcase

import numpy as np

from ..model import Model
from ..model.joints import Prismatic
from .apparatus import Setup
from .changes import FACTOR, TURN
from .contact_places import limit_places, pair_places, shape_places
from .place import XYZ, Place, row

INERTIA_FACTOR = "inertia_factor"
_SIX = (".xx", ".yy", ".zz", ".xy", ".xz", ".yz")
_JOINT = {
    "stiffness": ("N m/rad", "N/m"),
    "damping": ("N m s/rad", "N s/m"),
    "friction": ("N m", "N"),
    "friction_speed": ("rad/s", "m/s"),
    "armature": ("kg m^2", "kg"),
}


def places(setup: Setup) -> dict[str, Place]:
    """All places by their paths."""
    return {place.path: place for part in (_of_model(setup.model), _of_apparatus(setup)) for place in part}


def _of_apparatus(setup: Setup) -> Iterator[Place]:
    model = setup.model
    for i, name in enumerate(position_names(model)):
        # A number of a quaternion has no gain or bias of its own.
        if "[" not in name:
            yield Place(f"sensor/{name}/gain", "apparatus", "position_gain", (i,), "1")
            slides = isinstance(model.topology.kinds[model.joint_names.index(name)], Prismatic)
            yield Place(f"sensor/{name}/bias", "apparatus", "position_bias", (i,), "m" if slides else "rad")
    yield Place("sensor/clock", "apparatus", "clock", (0,), "1", "positive")
    count = np.size(setup.apparatus.control_gain)
    if count:
        for i, name in enumerate(control_names(model, count)):
            yield Place(f"control/{name}/gain", "apparatus", "control_gain", (i,), "1")
            yield Place(f"control/{name}/bias", "apparatus", "control_bias", (i,), "unit of the control")
        yield Place("control/delay", "apparatus", "delay", (0,), "s")


def control_names(model: Model, count: int) -> tuple[str, ...]:
    """Of actuators where the log has commands, else of the joints that get its forces."""
    if count == model.nu and count != model.nv:
        return model.actuators.names
    return _by_joint(model, model.nv, model.v_of)


def position_names(model: Model) -> tuple[str, ...]:
    """Of every number of a configuration the joint; with its place where a joint has several."""
    return _by_joint(model, model.nq, model.q_of)


def _by_joint(model: Model, size: int, where: Callable[[str], slice]) -> tuple[str, ...]:
    names, topology = [""] * size, model.topology
    for name, kind, mimic in zip(topology.joint_names, topology.kinds, topology.mimics, strict=True):
        if kind.nv and mimic < 0:
            own = np.arange(size)[where(name)]
            for k, i in enumerate(own):
                names[i] = name if len(own) == 1 else f"{name}[{k}]"
    return tuple(names)


def _of_model(model: Model) -> Iterator[Place]:
    topology = model.topology
    for i, name in enumerate(topology.link_names):
        yield Place(f"link/{name}/mass", "model.links", "mass", (i,), "kg", "positive")
        yield Place(f"link/{name}/com", "model.links", "com", row(i, 3), "m", labels=XYZ)
        yield Place(f"link/{name}/inertia", "model.links", "inertia", row(i, 6), "kg m^2", labels=_SIX)
        # All six at once stay physical, which they need not if each goes its own way.
        yield Place(
            f"link/{name}/{INERTIA_FACTOR}", "model.links", "inertia", row(i, 6), "times", "positive", change=FACTOR
        )
    for i, name in enumerate(topology.joint_names):
        v = topology.v_slices[i]
        freedoms = tuple(range(v.start, v.stop))
        several = tuple(f"[{k}]" for k in range(len(freedoms))) if len(freedoms) > 1 else ("",)
        yield Place(f"joint/{name}/position", "model.joints", "position", row(i, 3), "m", labels=XYZ)
        # It turns about the axes of the parent.
        yield Place(f"joint/{name}/rotation", "model.joints", "quaternion", row(i, 4), "rad", labels=XYZ, change=TURN)
        yield Place(f"joint/{name}/axis", "model.joints", "axis", row(i, 3), "1", labels=XYZ)
        if freedoms:
            for field, units in _JOINT.items():
                unit = units[isinstance(topology.kinds[i], Prismatic)] if len(freedoms) == 1 else " or ".join(units)
                kind = "positive" if field == "friction_speed" else "not negative"
                yield Place(f"joint/{name}/{field}", "model.joints", field, freedoms, unit, kind, several)
            q = topology.q_slices[i]
            if q.stop - q.start == len(freedoms):
                rest = tuple(range(q.start, q.stop))
                yield Place(
                    f"joint/{name}/spring_rest", "model.joints", "spring_rest", rest, "rad or m", labels=several
                )
    yield from shape_places(model)
    yield from pair_places(model)
    yield from limit_places(model)
    for i, name in enumerate(model.actuators.names):
        yield Place(f"actuator/{name}/gain", "model.actuators", "gain", (i,), "N m or N for one unit of command")
        bias = (".constant", ".length", ".velocity")
        yield Place(f"actuator/{name}/bias", "model.actuators", "bias", row(i, 3), "N m or N", labels=bias)
    yield Place("world/gravity", "model", "gravity", (0, 1, 2), "m/s^2", labels=XYZ)


def matching(known: dict[str, Place], pattern: str) -> list[Place]:
    """Places whose path is, or matches, the pattern; an error that says what there is where none does."""
    if pattern.startswith("contact/") and pattern.endswith("/mu"):
        pattern = pattern.removesuffix("mu") + "friction"
    found = []
    for path, place in known.items():
        if path == pattern or fnmatchcase(path, pattern):
            # A factor of numbers that have paths of their own is meant only where it is named.
            if place.change != FACTOR or pattern.endswith("factor"):
                found.append(place)
        else:
            found += [part for part in place.parts() if part.path == pattern or fnmatchcase(part.path, pattern)]
    if not found:
        close = get_close_matches(pattern, known, 3, 0.3)
        raise ValueError(
            f"no number of this model matches {pattern!r}; "
            f"{'the closest are: ' + ', '.join(close) if close else 'it has: ' + ', '.join(known)}"
        )
    return found
