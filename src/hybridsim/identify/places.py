"""Every physical number of a model by a path: "link/upper_arm/mass", "joint/elbow/damping", "contact/foot/ground/friction".

"sensor/elbow/bias" and "control/delay" belong to the measurement. A path names a
place in an array. Paths are matched by patterns, and sorted as the model is.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any, Literal

import numpy as np

from ..model import Model
from ..model.joints import Prismatic
from ..spatial import Array
from .apparatus import Setup


@dataclass(frozen=True)
class Place:
    """Where numbers of one entity lie."""

    path: str
    owner: str
    """"model", "model.links", "apparatus", ..."""
    field: str
    index: tuple[int, ...]
    """Places in the flattened array."""
    unit: str
    kind: Literal["any", "not negative", "positive"] = "any"
    """What it may be. The natural scale of what has to be positive is its logarithm."""
    labels: tuple[str, ...] = ("",)
    """Of several numbers, such as ".x", ".y", ".z"."""
    factor: bool = False
    """Whether it is one number by which all those of `index` are multiplied."""

    @property
    def size(self) -> int:
        """How many numbers it has of its own."""
        return 1 if self.factor else len(self.index)

    def leaf(self, setup: Setup) -> Array:
        """The array in which they lie."""
        return getattr(_owner(setup, self.owner), self.field)

    def with_leaf(self, setup: Setup, array: Array) -> Setup:
        """The setup with another array in its place."""
        return _with(setup, [*self.owner.split("."), self.field], array)

    def numbers(self, setup: Setup) -> np.ndarray:
        """What lies at `index`."""
        return np.asarray(self.leaf(setup), dtype=float).ravel()[list(self.index)]

    def value(self, setup: Setup) -> np.ndarray:
        """Its own numbers."""
        return np.ones(1) if self.factor else self.numbers(setup)


def _owner(setup: Setup, path: str) -> Any:
    for name in path.split("."):
        setup = getattr(setup, name)
    return setup


def _with(owner: Any, path: list[str], array: Array) -> Any:
    first, *rest = path
    return replace(owner, **{first: _with(getattr(owner, first), rest, array) if rest else array})


FACTOR = "inertia_factor"
_XYZ = (".x", ".y", ".z")
_SIX = (".xx", ".yy", ".zz", ".xy", ".xz", ".yz")
_JOINT = {
    "stiffness": ("N m/rad", "N/m"),
    "damping": ("N m s/rad", "N s/m"),
    "friction": ("N m", "N"),
    "friction_speed": ("rad/s", "m/s"),
    "armature": ("kg m^2", "kg"),
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
_POSITIVE = ("stiffness", "exponent", "transition_speed")


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
        yield Place(f"link/{name}/com", "model.links", "com", _row(i, 3), "m", labels=_XYZ)
        yield Place(f"link/{name}/inertia", "model.links", "inertia", _row(i, 6), "kg m^2", labels=_SIX)
        # All six at once stay physical, which they need not if each goes its own way.
        yield Place(f"link/{name}/{FACTOR}", "model.links", "inertia", _row(i, 6), "times", "positive", factor=True)
    for i, name in enumerate(topology.joint_names):
        v = topology.v_slices[i]
        freedoms = tuple(range(v.start, v.stop))
        several = tuple(f"[{k}]" for k in range(len(freedoms))) if len(freedoms) > 1 else ("",)
        yield Place(f"joint/{name}/position", "model.joints", "position", _row(i, 3), "m", labels=_XYZ)
        yield Place(f"joint/{name}/axis", "model.joints", "axis", _row(i, 3), "1", labels=_XYZ)
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
    for i, (a, b) in enumerate(model.contacts.pairs):
        pair = f"{model.geometry.names[a]}/{model.geometry.names[b]}"
        for field, unit in _CONTACT.items():
            kind = "positive" if field in _POSITIVE else "not negative"
            yield Place(f"contact/{pair}/{field}", "model.contacts", field, (i,), unit, kind)
    for i, name in enumerate(model.actuators.names):
        yield Place(f"actuator/{name}/gain", "model.actuators", "gain", (i,), "N m or N for one unit of command")
        bias = (".constant", ".length", ".velocity")
        yield Place(f"actuator/{name}/bias", "model.actuators", "bias", _row(i, 3), "N m or N", labels=bias)
    yield Place("world/gravity", "model", "gravity", (0, 1, 2), "m/s^2", labels=_XYZ)


def _row(i: int, width: int) -> tuple[int, ...]:
    return tuple(range(width * i, width * (i + 1)))


def matching(known: dict[str, Place], pattern: str) -> list[Place]:
    """Places whose path is, or matches, the pattern; an error that says what there is where none does."""
    if pattern.startswith("contact/") and pattern.endswith("/mu"):
        pattern = pattern.removesuffix("mu") + "friction"
    found = []
    for path, place in known.items():
        if path == pattern or fnmatchcase(path, pattern):
            # A factor of numbers that have paths of their own is meant only where it is named.
            if not place.factor or pattern.endswith("factor"):
                found.append(place)
        else:
            found += [part for part in _components(place) if part.path == pattern or fnmatchcase(part.path, pattern)]
    if not found:
        close = get_close_matches(pattern, known, 3, 0.3)
        raise ValueError(
            f"no number of this model matches {pattern!r}; "
            f"{'the closest are: ' + ', '.join(close) if close else 'it has: ' + ', '.join(known)}"
        )
    return found


def _components(place: Place) -> list[Place]:
    """Single numbers of several, such as "link/x/com.z"."""
    if len(place.labels) == 1:
        return []
    pairs = zip(place.labels, place.index, strict=True)
    return [replace(place, path=place.path + label, index=(i,), labels=("",)) for label, i in pairs]
