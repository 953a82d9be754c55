"""Every physical number of a model by a path: "link/upper_arm/mass", "joint/elbow/damping", "contact/foot/ground/friction".

A path names a place in one of the model's arrays. Paths are matched by patterns, and sorted as the model is.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase

import numpy as np

from ..model import Model
from ..spatial import Array


@dataclass(frozen=True)
class Place:
    """Where numbers of one entity lie."""

    path: str
    owner: str
    """"links", "joints", ..., or nothing for the model itself."""
    field: str
    index: tuple[int, ...]
    """Places in the flattened array."""
    unit: str
    positive: bool = False
    """Whether it has to be positive, so that its logarithm is the natural scale."""
    labels: tuple[str, ...] = ("",)
    """Of several numbers, such as ".x", ".y", ".z"."""

    def leaf(self, model: Model) -> Array:
        """The array in which they lie."""
        return getattr(getattr(model, self.owner) if self.owner else model, self.field)

    def with_leaf(self, model: Model, array: Array) -> Model:
        """The model with another array in its place."""
        if not self.owner:
            return replace(model, **{self.field: array})
        return replace(model, **{self.owner: replace(getattr(model, self.owner), **{self.field: array})})

    def value(self, model: Model) -> np.ndarray:
        return np.asarray(self.leaf(model), dtype=float).ravel()[list(self.index)]


_XYZ = (".x", ".y", ".z")
_SIX = (".xx", ".yy", ".zz", ".xy", ".xz", ".yz")
_JOINT = {
    "stiffness": "N m/rad or N/m",
    "damping": "N m s/rad or N s/m",
    "friction": "N m or N",
    "friction_speed": "rad/s or m/s",
    "armature": "kg m^2 or kg",
}
_CONTACT = {
    "friction": "1",
    "restitution": "1",
    "position_gain": "1",
    "velocity_gain": "1",
    "softness": "1/kg",
    "stiffness": "N/m^exponent",
    "dissipation": "N s/m^(exponent+1)",
    "exponent": "1",
    "static_friction": "1",
    "transition_speed": "m/s",
}


def places(model: Model) -> dict[str, Place]:
    """All places of a model by their paths."""
    return {place.path: place for place in _all(model)}


def _all(model: Model) -> Iterator[Place]:
    topology = model.topology
    for i, name in enumerate(topology.link_names):
        yield Place(f"link/{name}/mass", "links", "mass", (i,), "kg", True)
        yield Place(f"link/{name}/com", "links", "com", _row(i, 3), "m", labels=_XYZ)
        yield Place(f"link/{name}/inertia", "links", "inertia", _row(i, 6), "kg m^2", labels=_SIX)
    for i, name in enumerate(topology.joint_names):
        v = topology.v_slices[i]
        freedoms = tuple(range(v.start, v.stop))
        several = tuple(f"[{k}]" for k in range(len(freedoms))) if len(freedoms) > 1 else ("",)
        yield Place(f"joint/{name}/position", "joints", "position", _row(i, 3), "m", labels=_XYZ)
        yield Place(f"joint/{name}/axis", "joints", "axis", _row(i, 3), "1", labels=_XYZ)
        if freedoms:
            for field, unit in _JOINT.items():
                yield Place(f"joint/{name}/{field}", "joints", field, freedoms, unit, True, several)
            q = topology.q_slices[i]
            if q.stop - q.start == len(freedoms):
                rest = tuple(range(q.start, q.stop))
                yield Place(f"joint/{name}/spring_rest", "joints", "spring_rest", rest, "rad or m", labels=several)
    for i, (a, b) in enumerate(model.contacts.pairs):
        pair = f"{model.geometry.names[a]}/{model.geometry.names[b]}"
        for field, unit in _CONTACT.items():
            yield Place(f"contact/{pair}/{field}", "contacts", field, (i,), unit, True)
    for i, name in enumerate(model.actuators.names):
        yield Place(f"actuator/{name}/gain", "actuators", "gain", (i,), "N m or N for one unit of command")
        bias = (".constant", ".length", ".velocity")
        yield Place(f"actuator/{name}/bias", "actuators", "bias", _row(i, 3), "N m or N", labels=bias)
    yield Place("world/gravity", "", "gravity", (0, 1, 2), "m/s^2", labels=_XYZ)
    yield Place("world/timestep", "", "timestep", (0,), "s", True)


def _row(i: int, width: int) -> tuple[int, ...]:
    return tuple(range(width * i, width * (i + 1)))


def matching(known: dict[str, Place], pattern: str) -> list[Place]:
    """Places whose path is, or matches, the pattern; an error that says what there is where none does."""
    found = [place for path, place in known.items() if path == pattern or fnmatchcase(path, pattern)]
    if not found:
        close = get_close_matches(pattern, known, 3, 0.3)
        raise ValueError(
            f"no number of this model matches {pattern!r}; "
            f"{'the closest are: ' + ', '.join(close) if close else 'it has: ' + ', '.join(known)}"
        )
    return found
