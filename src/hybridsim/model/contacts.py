"""What may touch what, and the numbers of contact: arrays over pairs of shapes and over limited freedoms."""

import equinox as eqx
from jaxtyping import Float

from ..spatial import Array


class Contacts(eqx.Module):
    """Pairs of shapes that may touch, one row each. Which pairs there are is static; their numbers are parameters."""

    friction: Float[Array, " pairs"]
    """Coulomb coefficient mu of sliding."""
    restitution: Float[Array, " pairs"]
    """Speed after over speed before an impact, 0 to 1. Impulses only."""
    position_gain: Float[Array, " pairs"]
    """alpha: the part of an overlap that one step removes, 0 to 1 (Baumgarte). Impulses only."""
    velocity_gain: Float[Array, " pairs"]
    """beta: the part of the approaching speed that one step removes, 0 to 1 (Baumgarte). Impulses only."""
    softness: Float[Array, " pairs"]
    """How much a pair yields: the part of the speed that an impulse gives to both bodies, if they were points of their
    masses, with which they go on approaching (constraint force mixing). The points of a patch share it. Impulses only."""
    stiffness: Float[Array, " pairs"]
    """Of the Hunt-Crossley spring; of a patch, of all of its points together [N/m^exponent]. Springs only."""
    dissipation: Float[Array, " pairs"]
    """Of the Hunt-Crossley spring: damping for one unit of depth^exponent [N s/m^(exponent + 1)]. Springs only."""
    exponent: Float[Array, " pairs"]
    """Of the Hunt-Crossley spring: 3/2 for a ball on a plane. Springs only."""
    static_friction: Float[Array, " pairs"]
    """Coefficient at the onset of sliding, in the friction laws that have one. Springs only."""
    transition_speed: Float[Array, " pairs"]
    """Speed at which friction is fully developed [m/s]. Springs only."""

    pairs: tuple[tuple[int, int], ...] = eqx.field(static=True)
    """Indices of two shapes, a and b, ordered by kind of shape as in `SHAPES`."""
    upright: frozenset[tuple[int, int]] = eqx.field(static=True)
    """Pairs of a cylinder with an extruded shape whose axes stay parallel, see `upright_pairs`."""


class Limits(eqx.Module):
    """Freedoms whose motion ends at `Joints.lower` or `Joints.upper`, one row each; numbers as in `Contacts`."""

    restitution: Float[Array, " limited"]
    position_gain: Float[Array, " limited"]
    velocity_gain: Float[Array, " limited"]
    softness: Float[Array, " limited"]
    """[1/kg or 1/(kg m^2)]"""
    stiffness: Float[Array, " limited"]
    """[N m/rad or N/m]"""
    dissipation: Float[Array, " limited"]
    """[N m s/rad or N s/m for one unit of depth]"""

    freedoms: tuple[int, ...] = eqx.field(static=True)
    """Among those of ALL joints, mimics included; no limited freedom belongs to a mimic joint."""
