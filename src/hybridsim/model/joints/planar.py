"""Motion in the plane normal to an axis: q = (x, y, angle), v = dq/dt.

The plane's x and y directions are those of the joint frame turned so that its z lies along the axis
(for axis = z they are the joint frame's own).
"""

from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np

from ...spatial import Transform, cross, matrix_from_axis_angle, rotate_back
from .flat import FlatJoint, rows


def plane_directions(axis):
    """Two unit vectors that span the plane normal to `axis`: e_x and e_y carried along by the shortest
    turn from z to the axis. At axis = -z that turn is not unique; there x is kept and y reversed.
    """
    x, y, z = axis
    down = z < -1 + 1e-9
    a = 1 / (1 + jnp.where(down, 0.0, z))
    b = -x * y * a
    e_x = jnp.stack([1 - x * x * a, b, -x])
    e_y = jnp.stack([b, 1 - y * y * a, -y])
    one = np.eye(3, dtype=axis.dtype)
    return jnp.where(down, one[0], e_x), jnp.where(down, -one[1], e_y)


@dataclass(frozen=True)
class Planar(FlatJoint):
    name = "planar"
    nq = 3
    nv = 3
    unit = "m, m, rad"

    def transform(self, axis, q):
        e_x, e_y = plane_directions(axis)
        return Transform(matrix_from_axis_angle(axis, q[2]), q[0] * e_x + q[1] * e_y)

    def subspace(self, axis, q):
        e_x, e_y = plane_directions(axis)
        rotation = matrix_from_axis_angle(axis, q[2])
        zero = jnp.zeros(3, dtype=axis.dtype)
        return rows((zero, rotate_back(rotation, e_x)), (zero, rotate_back(rotation, e_y)), (axis, zero))

    def bias(self, axis, q, v):
        # The two translations are fixed in the joint frame, so in the child they turn backwards.
        e_x, e_y = plane_directions(axis)
        velocity = rotate_back(matrix_from_axis_angle(axis, q[2]), v[0] * e_x + v[1] * e_y)
        return jnp.concatenate([jnp.zeros(3, dtype=axis.dtype), -v[2] * cross(axis, velocity)])
