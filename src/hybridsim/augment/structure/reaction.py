"""Newton's third law."""

from dataclasses import dataclass, replace

import numpy as np
from jax import numpy as jnp

from ...spatial import shift_force
from ..networks import Architecture
from ..signature import Block, Signature
from .interface import Structure, Structured, check_output, own_value

_WRENCH, _POSITION = "link.external_force", "link.position"


@dataclass(frozen=True)
class ActionReaction(Structure):
    """Two links that act on each other: what the network gives acts on one, and the opposite on the other, at one point.

    The network gives a moment and a force (world axes) on the first link, in the order of the model, at the point midway
    between the origins of both. Their total momentum, linear and angular, stays as it is.
    """

    network: Architecture

    law = "momentum"
    keeps = frozenset({"parity", "rest", "bound", "frame"})

    def known(self, outputs):
        return (_POSITION,)

    def demand(self, signature, mode, together):
        check_output(self, signature, (_WRENCH,), mode)
        if not together or signature.output_size != 12:
            count = signature.output_size // 6 if together else 1
            raise ValueError(
                f"ActionReaction: a pair of links is needed, but this network acts on {count}; choose two by "
                "entities='one, other' and use apply='together'"
            )

    def inside(self, signature: Signature) -> Signature:
        return replace(signature, outputs=(Block(_WRENCH, signature.outputs[0].label, 6, "spatial"),))

    def around(self, network, signature, known):
        return Pair(network, signature, known)


class Pair(Structured):
    def __call__(self, x, memory):
        wrench, memory = self.network(x, memory)
        first, second = jnp.split(own_value(self.signature, _POSITION, x), 2)
        half = (second - first) / 2
        return jnp.concatenate([shift_force(wrench, half), -shift_force(wrench, -half)]), memory

    def normalised(self, x, gain):
        return replace(self, network=self.network.normalised(x, np.sqrt((gain[:6] ** 2 + gain[6:] ** 2) / 2)))
