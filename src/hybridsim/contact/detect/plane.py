"""Every shape against a half space, b: points of the shape and their heights above the plane.

The plane's normal is z of its own frame. All of a plane's points are alike, so each point of a that may be lowest is
a candidate, and its height is its distance.
"""

import jax.numpy as jnp
import numpy as np

from ...spatial import Array, Scalar, Vector3, rotate_back, unit
from .interface import Placed, Touch
from .witness import touch

CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
"""Of a box, in half sizes."""

ENDS = np.array([[0, 0, -1], [0, 0, 1]])
"""Of an axis along z, in half lengths."""

DOME = 1e-3
"""The end discs of a cylinder bulge by this part of its (smaller) radius. See `_extruded_plane`."""

INSET = 0.95
"""Where the fixed points of an end disc are, in radii."""

_FIXED = np.array([[x, y, z] for x, y in ((1, 0), (0, 1), (-1, 0), (0, -1)) for z in (-1, 1)])


def _normal(plane: Placed) -> Vector3:
    return plane.pose.rotation[:, 2]


def _heights(plane: Placed, points: Vector3) -> Touch:
    """The touch of points of a, in the world, with the plane."""
    normal = _normal(plane)
    return touch(jnp.sum((points - plane.pose.position) * normal, axis=-1), normal, points)


def _signs(pattern: np.ndarray, like: Array) -> np.ndarray:
    return pattern.astype(like.dtype)


def sphere_plane(a: Placed, b: Placed) -> Touch:
    """The lowest point of the sphere."""
    return _heights(b, (a.pose.position - a.size[0] * _normal(b))[None])


def capsule_plane(a: Placed, b: Placed) -> Touch:
    """The lowest points of the spheres at both ends."""
    ends = a.pose.apply(_signs(ENDS, a.size) * a.size[1])
    return _heights(b, ends - a.size[0] * _normal(b))


def box_plane(a: Placed, b: Placed) -> Touch:
    """The eight corners."""
    return _heights(b, a.pose.apply(_signs(CORNERS, a.size) * a.size))


def points_plane(a: Placed, b: Placed) -> Touch:
    """All the points."""
    return _heights(b, a.pose.apply(a.points))


def prism_plane(a: Placed, b: Placed) -> Touch:
    """The corners of both ends."""
    ends = _signs(ENDS, a.size) * a.size[0]
    return _heights(b, a.pose.apply((a.points + ends[:, None]).reshape(-1, 3)))


def _lowest_of_ellipsoid(pose, half_sizes: Vector3, normal: Vector3) -> Vector3:
    """The point of an ellipsoid furthest against a direction, in its own frame."""
    return half_sizes * unit(half_sizes * -rotate_back(pose.rotation, normal))


def ellipsoid_plane(a: Placed, b: Placed) -> Touch:
    """The lowest point."""
    return _heights(b, a.pose.apply(_lowest_of_ellipsoid(a.pose, a.size, _normal(b)))[None])


def _extruded_plane(a: Placed, b: Placed, radii: Array, half_length: Scalar) -> Touch:
    """The lowest point of each end disc, on which a coin rolls, and four fixed points of each, on which it lies.

    The lowest point of a flat disc jumps across it when the disc passes through level, and the derivative of that
    point is infinite there. So each disc here is the outer half of an ellipsoid, a dome of height `DOME` times the
    smaller radius that touches the end of the cylinder from inside: the lowest point is always unique, is the centre
    when level, and the distance is too large by less than the dome's height, and exact when level or upright.
    The fixed points lie inside the rim by `INSET`, for a rolling coin not to bump on them.
    """
    height = DOME * jnp.minimum(radii[0], radii[1])
    ends = _signs(ENDS, a.size) * (half_length - height)
    lowest = ends + _lowest_of_ellipsoid(a.pose, jnp.stack([radii[0], radii[1], height]), _normal(b))
    fixed = _signs(_FIXED, a.size) * jnp.stack([INSET * radii[0], INSET * radii[1], half_length])
    return _heights(b, a.pose.apply(jnp.concatenate([lowest, fixed])))


def cylinder_plane(a: Placed, b: Placed) -> Touch:
    """Ten points, see `_extruded_plane`."""
    return _extruded_plane(a, b, jnp.stack([a.size[0], a.size[0]]), a.size[1])


def elliptic_plane(a: Placed, b: Placed) -> Touch:
    """Ten points, see `_extruded_plane`."""
    return _extruded_plane(a, b, a.size[:2], a.size[2])
