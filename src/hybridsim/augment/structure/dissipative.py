"""Forces that only take energy away."""

from dataclasses import dataclass, replace

import numpy as np
from jax import numpy as jnp

from ...spatial import add_at
from ..networks import Architecture
from ..signature import Block, Signature
from .interface import Structure, Structured, check_output, own_places, own_value

VELOCITY = {
    "joint.force": "joint.velocity",
    "joint.passive_force": "joint.velocity",
    "joint.actuation": "joint.velocity",
    "link.external_force": "link.velocity",
    "contact.friction_force": "contact.sliding_velocity",
}
"""Of each force the velocity that it has to be multiplied by to give its power."""

# At first the force is a tenth of what is expected: little, yet L is not zero, where L L^T would have no derivative.
_START = 0.3


@dataclass(frozen=True)
class Dissipative(Structure):
    """F = -L L^T v: whatever the network gives for the lower triangle L, the power F.v = -|L^T v|^2 is never positive.

    v is the velocity that belongs to the force; the network sees it only if it is among its inputs. In apply="together"
    one matrix couples all entities. Friction at contacts stays in the plane of contact.
    """

    network: Architecture

    law = "power"
    keeps = frozenset({"parity", "rest", "bound"})

    def __post_init__(self):
        super().__post_init__()
        object.__setattr__(self, "starts_at_zero", False)

    def known(self, outputs):
        velocities = tuple(VELOCITY[name] for name in outputs if name in VELOCITY)
        return (*velocities, "contact.normal") if "contact.friction_force" in outputs else velocities

    def demand(self, signature, mode, together):
        check_output(self, signature, tuple(VELOCITY), mode)

    def inside(self, signature: Signature) -> Signature:
        n = signature.output_size
        return replace(signature, outputs=(Block("damping", "damping", n * (n + 1) // 2),))

    def around(self, network, signature, known):
        return Damper(network, signature, known)


class Damper(Structured):
    def __call__(self, x, memory):
        numbers, memory = self.network(x, memory)
        (output,) = self.signature.outputs
        n, (row, column) = output.size, np.tril_indices(output.size)
        root = add_at(n * n, row * n + column, _START * numbers).reshape(n, n)
        force = -(root @ (own_value(self.signature, VELOCITY[output.name], x) @ root))
        if output.name == "contact.friction_force":
            force = _along(own_value(self.signature, "contact.normal", x), force)
        return force, memory

    def normalised(self, x, gain):
        # With l = L_ij of the size sqrt(F_i / v_i) the sum over j of L_ij L_ji v_j has the size of F_i, if every freedom
        # dissipates about the same power.
        v = x[:, own_places(self.signature, VELOCITY[self.signature.outputs[0].name])]
        speed = np.sqrt(np.mean(v**2, axis=0))
        size = np.sqrt(gain / np.where(speed > 0, speed, 1.0))
        return replace(self, network=self.network.normalised(x, size[np.tril_indices(len(gain))[0]]))


def _along(normals, forces):
    """The part of each point's force in the plane of contact: P L L^T v, with v = P v, is dissipative as well."""
    n, f = normals.reshape(-1, 3), forces.reshape(-1, 3)
    return (f - n * jnp.sum(n * f, axis=1, keepdims=True)).reshape(-1)
