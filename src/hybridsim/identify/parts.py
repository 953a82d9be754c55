"""In what errors of positions are told: angles and distances, one number for each part of a configuration.

An angle or a distance that a joint has is a part by itself. Of a free body there are two: how far its place is off [m], and
by which angle it is turned away [rad], whichever of two opposite quaternions stands for the rotation.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float

from ..data.log.rotations import rotation_vectors, unwound
from ..model import Model

Unit = Literal["rad", "m"]


@dataclass(frozen=True)
class Part:
    """One number of an error."""

    name: str
    """The joint; NAME.position and NAME.rotation of one that both moves and turns."""
    unit: Unit
    kind: Literal["number", "distance", "rotation"]
    places: tuple[int, ...]
    """Of the numbers in q that it is made of."""


def parts_of(model: Model) -> tuple[Part, ...]:
    """All parts, in the model's order."""
    found: list[Part] = []
    for name, kind, mimic in zip(model.joint_names, model.topology.kinds, model.topology.mimics, strict=True):
        if not kind.nv or mimic >= 0:
            continue
        q = tuple(range(*model.q_of(name).indices(model.nq)))
        if kind.name == "free":
            found += [
                Part(f"{name}.position", "m", "distance", q[:3]),
                Part(f"{name}.rotation", "rad", "rotation", q[3:]),
            ]
        elif kind.name == "planar":
            found += [
                Part(f"{name}.position", "m", "distance", q[:2]),
                Part(f"{name}.rotation", "rad", "number", q[2:]),
            ]
        elif kind.name == "spherical":
            found.append(Part(name, "rad", "rotation", q))
        else:
            found.append(Part(name, "m" if kind.name == "prismatic" else "rad", "number", q))
    return tuple(found)


def part_differences(
    parts: tuple[Part, ...],
    simulated: Float[np.ndarray, "*many nq"],
    measured: Float[np.ndarray, "*many nq"],
    known: Bool[np.ndarray, "*many nq"],
) -> Float[np.ndarray, "*many parts"]:
    """How far simulated configurations are from measured ones, NaN where these are not known.

    With its sign where a part is one number; else a distance or an angle. A motion that is not finite is infinitely far off.
    """
    found = np.full((*measured.shape[:-1], len(parts)), np.nan)
    for i, part in enumerate(parts):
        a, b = (q[..., list(part.places)] for q in (simulated, measured))
        with np.errstate(invalid="ignore", over="ignore"):
            if part.kind == "number":
                apart = (a - b)[..., 0]
            elif part.kind == "distance":
                apart = np.linalg.norm(a - b, axis=-1)
            else:
                apart = angles_between(a, b)
        finite = np.isfinite(a).all(axis=-1)
        apart = np.where(finite, apart, np.inf)
        found[..., i] = np.where(known[..., list(part.places)].all(axis=-1), apart, np.nan)
    return found


def angles_between(a: Float[np.ndarray, "*many 4"], b: Float[np.ndarray, "*many 4"]) -> Float[np.ndarray, "*many"]:
    """Angles of the rotations from one orientation to the other, 0 to pi [rad]; NaN where either is no rotation."""
    found = np.full(a.shape[:-1], np.nan)
    good = np.isfinite(a).all(axis=-1) & np.isfinite(b).all(axis=-1)
    good &= (np.abs(a).max(axis=-1, initial=0.0) > 0) & (np.abs(b).max(axis=-1, initial=0.0) > 0)
    found[good] = np.linalg.norm(rotation_vectors(a[good], b[good]), axis=-1)
    return found


def shown_names(model: Model) -> tuple[tuple[str, Unit], ...]:
    """Names and units of the numbers by which people see a configuration: a rotation is a vector of three angles."""
    found: list[tuple[str, Unit]] = []
    for part in parts_of(model):
        joint = part.name.removesuffix(".position").removesuffix(".rotation")
        if part.kind == "distance":
            found.extend((f"{joint}.{axis}", "m") for axis in "xyz"[: len(part.places)])
        elif part.kind == "rotation":
            found.extend((f"{joint}.r{axis}", "rad") for axis in "xyz")
        else:
            found.append((part.name, part.unit))
    return tuple(found)


def shown_numbers(
    model: Model, q: Float[np.ndarray, "samples nq"], origin: Float[np.ndarray, " nq"]
) -> Float[np.ndarray, "samples shown"]:
    """A motion by these numbers; rotations are counted from that of `origin`, in its axes, past half a turn where they go on."""
    found = []
    for part in parts_of(model):
        own = q[:, list(part.places)]
        if part.kind == "rotation":
            vectors = np.full((len(q), 3), np.nan)
            good = np.isfinite(own).all(axis=1) & (np.abs(own).max(axis=1, initial=0.0) > 0)
            vectors[good] = unwound(rotation_vectors(origin[list(part.places)], own[good]))
            own = vectors
        found.append(own)
    return np.concatenate(found, axis=1) if found else np.zeros((len(q), 0))
