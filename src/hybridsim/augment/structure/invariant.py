"""Forces that do not depend on where the world's axes are."""

from dataclasses import dataclass, replace

import equinox as eqx
import jax
import numpy as np
from jax import numpy as jnp
from jaxtyping import Float

from ...model import VARIABLES
from ...spatial import Array, Matrix3, Vector3, matrix_from_quaternion, quaternion_from_matrix, unit
from ..networks import Architecture
from ..signature import Block
from .interface import Structure, Structured, check_output, own_value

_WRENCH, _ROTATION, _POSITION = "link.external_force", "link.rotation", "link.position"
# A turn about z is the sum of these, times the cosine, the sine and one.
_COSINE, _ONE = np.diag([1.0, 1.0, 0.0]), np.diag([0.0, 0.0, 1.0])
_SINE = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
_LEVEL = np.array([1.0, 1.0, 0.0])


@dataclass(frozen=True)
class Invariant(Structure):
    """A wrench on a link as its own frame sees it: F = R f(R^T inputs), with vectors, points and rotations turned alike.

    frame="body": R is the link's rotation and points are relative to its origin, so that turning and moving the whole world
    (gravity too, if it is an input) turns and moves the motion. frame="vertical": R is the link's heading, a turn about the
    world's z, and points are relative in x and y only, so that height and tilt can be seen and the rest turns about the
    vertical. The heading is that of the link's x axis: where that points straight up or down there is none.
    Within ActionReaction the frame is the first link's.
    """

    network: Architecture
    frame: str = "body"
    """Or "vertical"."""

    law = "frame"
    keeps = frozenset({"power", "parity", "rest", "bound"})

    def __post_init__(self):
        super().__post_init__()
        if self.frame not in ("body", "vertical"):
            raise ValueError(f"Invariant: the frame is {self.frame!r}, but must be 'body' or 'vertical'")

    def known(self, outputs):
        return (_ROTATION, _POSITION)

    def demand(self, signature, mode, together):
        check_output(self, signature, (_WRENCH,), mode)
        if signature.output_size != 6:
            raise ValueError(
                "Invariant: a network that acts on several links at once has no frame of its own; use apply='each' or "
                "'shared', or ActionReaction(Invariant(...)) for two"
            )
        for block in signature.inputs:
            if problem := None if block.hidden else self._problem(block, together):
                raise ValueError(f"Invariant: {block.label} {problem}")

    def _problem(self, block: Block, together: bool) -> str | None:
        if block.name == "contact.impulse":
            return "is given along tangents that depend on the world's axes; look at contact.friction_force"
        if block.cyclic and _kind(block) != "scalar":
            return "is no angle, and cannot be turned to other axes by its sine and cosine"
        in_world = ("joint.position", "state.next_position")
        if block.name in in_world and block.size // len(block.delays) // (2 if block.cyclic else 1) == 7:
            return "of a free joint is a place in the world; look at link.position and link.rotation of other links"
        seen = ("link.position", "link.rotation", "link.pose")
        if self.frame == "body" and block.own == 0 and block.delays == (0,) and block.name in seen and not together:
            return (
                "of the link itself tells nothing in its own frame; leave it out, look at world.gravity for what is up, or "
                "use frame='vertical', which sees height and tilt"
            )
        return None

    def around(self, network, signature, known):
        return Turned(network, signature, known, self.frame)


class Turned(Structured):
    frame: str = eqx.field(static=True, default="body")

    def __call__(self, x, memory):
        rotation, origin = self._frame(x)
        y, memory = self.network(self._seen(x, rotation, origin), memory)
        return (y.reshape(-1, 3) @ rotation.T).reshape(-1), memory

    def _frame(self, x: Float[Array, " inputs"]) -> tuple[Matrix3, Vector3]:
        # In apply="together" the first link's are the first of them.
        rotation = own_value(self.signature, _ROTATION, x)[:9].reshape(3, 3)
        origin = own_value(self.signature, _POSITION, x)[:3]
        if self.frame == "body":
            return rotation, origin
        heading = unit(rotation[:2, 0])
        turn = heading[0] * _COSINE.astype(x.dtype) + heading[1] * _SINE.astype(x.dtype) + _ONE.astype(x.dtype)
        return turn, origin * _LEVEL.astype(x.dtype)

    def _seen(self, x, rotation: Matrix3, origin: Vector3):
        parts: list[Array] = [jnp.zeros(0, dtype=x.dtype)]
        for block in self.signature.inputs:
            here = x[self.signature.slices[block.label]]
            parts.append(_turned(_kind(block), here, rotation, origin).reshape(-1))
        return jnp.concatenate(parts)

    def normalised(self, x, gain):
        x = jnp.asarray(x)
        seen = jax.vmap(lambda x: self._seen(x, *self._frame(x)))(x)
        # Each axis of the link may come to lie along any axis of the world.
        size = np.repeat(np.sqrt(np.mean(np.reshape(gain, (2, 3)) ** 2, axis=1)), 3)
        return replace(self, network=self.network.normalised(np.asarray(seen), size))


def _kind(block: Block) -> str:
    """Also of the past, which is turned by the present frame."""
    return VARIABLES[block.name].kind if block.name in VARIABLES else "scalar"


def _turned(kind: str, x: Float[Array, " numbers"], rotation: Matrix3, origin: Vector3) -> Array:
    """One or several such quantities in the axes of a frame."""
    if kind in ("vector", "spatial"):
        return x.reshape(-1, 3) @ rotation
    if kind == "point":
        return (x.reshape(-1, 3) - origin) @ rotation
    if kind == "rotation":
        return jnp.einsum("ji,njk->nik", rotation, x.reshape(-1, 3, 3))
    if kind == "pose":
        x = x.reshape(-1, 7)
        turned = jnp.einsum("ji,njk->nik", rotation, matrix_from_quaternion(x[:, 3:]))
        return jnp.concatenate([(x[:, :3] - origin) @ rotation, quaternion_from_matrix(turned)], axis=1)
    return x
