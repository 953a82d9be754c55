"""Forces of a potential: what they give on one way they take back on every other."""

from dataclasses import dataclass, replace
from itertools import pairwise

import jax
import numpy as np
from jax import numpy as jnp
from jaxtyping import Float

from ...model import VARIABLES, Free, JointKind, Spherical
from ...spatial import Array, matrix_from_quaternion
from ..networks import Architecture
from ..signature import Block, Signature
from .interface import Structure, Structured, check_output, own_blocks

_FORCES = ("joint.force", "joint.passive_force", "joint.actuation")
_POSITION = "joint.position"
# No other joint has so many coordinates.
_TURNING: dict[int, JointKind] = {4: Spherical(), 7: Free()}


@dataclass(frozen=True)
class Conservative(Structure):
    """F = -dV/dq of a potential V that the network gives: the energy of the model and V together stay as they are.

    The network may look at the positions of the joints that it acts on, at their `hs.cyclic` too, and at constants. At
    spherical and free joints, F.v = -dV/dt; there it sees the rotation as a matrix, for q and -q are the same rotation.
    A smooth activation such as "tanh" makes smooth forces.
    """

    network: Architecture

    law = "potential"
    keeps = frozenset({"parity", "rest", "bound"})
    may_remember = False

    def known(self, outputs):
        return (_POSITION,)

    def demand(self, signature, mode, together):
        check_output(self, signature, _FORCES, mode)
        for block in signature.inputs:
            if block.name in VARIABLES and (block.name != _POSITION or block.own is None or block.delays != (0,)):
                raise ValueError(
                    f"Conservative: the input {block.label} is not the present position of a joint that the network acts "
                    "on. A potential of anything else would be changed by what it does not push against, so that energy "
                    "would be made; several joints can share a potential by apply='together'"
                )

    def inside(self, signature: Signature) -> Signature:
        return Signature(_reshaped(signature.inputs), (Block("potential", "potential", 1),))

    def around(self, network, signature, known):
        return Potential(network, signature, known)


class Potential(Structured):
    def __call__(self, x, memory):
        # The joint velocity v moves the inputs at the rate r(x) v, so F = -(d/dv) V(x + r(x) v) has the power -dV/dt.
        still = jnp.zeros(self.signature.output_size, dtype=x.dtype)
        return -jax.grad(lambda v: self.potential(x + self._rate(x, v)))(still), memory

    def potential(self, x: Float[Array, " inputs"]) -> Float[Array, ""]:
        """V [J], up to a constant."""
        return self.network(self._matrices(x), None)[0][0]

    def _rate(self, x, v):
        """How the inputs change at the velocity v: linear in it."""
        freedoms = self._freedoms()
        parts: list[Array] = [jnp.zeros(0, dtype=x.dtype)]
        for block in self.signature.inputs:
            here = x[self.signature.slices[block.label]]
            if block.name != _POSITION:
                parts.append(jnp.zeros_like(here))
            elif block.cyclic:
                sine, cosine = jnp.split(here, 2)
                w = v[freedoms[block.own]]
                parts += [cosine * w, -sine * w]
            else:
                w = v[freedoms[block.own]]
                parts.append(_TURNING[block.size].rate(here, w) if block.size in _TURNING else w)
        return jnp.concatenate(parts)

    def _freedoms(self) -> dict[int | None, slice]:
        sizes = [_TURNING[b.size].nv if b.size in _TURNING else b.size for b in own_blocks(self.signature, _POSITION)]
        ends = np.cumsum([0, *sizes])
        return {i: slice(a, b) for i, (a, b) in enumerate(pairwise(ends))}

    def _matrices(self, x):
        parts: list[Array] = [jnp.zeros(0, dtype=x.dtype)]
        for block in self.signature.inputs:
            here = x[self.signature.slices[block.label]]
            turns = _turns(block)
            parts += [here[:-4], matrix_from_quaternion(here[None, -4:]).reshape(9)] if turns else [here]
        return jnp.concatenate(parts)

    def normalised(self, x, gain):
        seen = np.asarray(jax.vmap(self._matrices)(jnp.asarray(x)))
        spread = seen.std(axis=0)
        # The potential is of the size of force times way.
        way = np.mean(spread[spread > 0]) if np.any(spread > 0) else 1.0
        return replace(self, network=self.network.normalised(seen, np.mean(gain, keepdims=True) * way))

    def reshaped(self, inputs):
        return _reshaped(inputs)


def _turns(block: Block) -> bool:
    return block.name == _POSITION and not block.cyclic and block.size in _TURNING


def _reshaped(inputs: tuple[Block, ...]) -> tuple[Block, ...]:
    return tuple(replace(block, size=block.size + 5) if _turns(block) else block for block in inputs)
