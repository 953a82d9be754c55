"""What a pair of shapes must say: where it touches, or would.

Every pair is a function of two placed shapes that returns a fixed number of points, far apart or not; which of
them matter is the contact model's business. Values and derivatives are finite everywhere.
"""

from collections.abc import Callable

import equinox as eqx
from jaxtyping import Float

from ...spatial import Array, Transform


class Placed(eqx.Module):
    """One shape somewhere in the world, or many of one kind."""

    pose: Transform
    """Of the shape's frame in the world."""
    size: Float[Array, "*batch 3"]
    """As in `Geometry.size`."""
    points: Float[Array, "*batch n 3"]
    """As in `Geometry.points`."""


class Touch(eqx.Module):
    """Points where shapes a and b touch or come closest."""

    distance: Float[Array, " points"]
    """Negative where they overlap [m]."""
    normal: Float[Array, "points 3"]
    """Of unit length, from b to a, world axes: moving a along it increases the distance."""
    on_a: Float[Array, "points 3"]
    """Witness on a's surface [m, world]; on_a - on_b = distance * normal."""
    on_b: Float[Array, "points 3"]


Pair = Callable[[Placed, Placed], Touch]
