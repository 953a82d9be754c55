"""The motion of prescribed joints, as data."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Float

from ..spatial import Array
from .model import Model
from .state import State


class PrescribedMotion(eqx.Module):
    """Where prescribed joints are and how fast they move, one row a time; made by `hs.prescribed_motion`.

    Numbers of prescribed joints alone, in the order of `model.prescribed_names`. In `hs.Control` the rows belong to the ENDS
    of steps.
    """

    q: Float[Array, "*time prescribed_q"]
    """[rad or m, quaternions wxyz]"""
    qd: Float[Array, "*time prescribed_v"]
    """[rad/s or m/s]"""

    @classmethod
    def of(cls, model: Model, q: Float[Array, "*time nq"], qd: Float[Array, "*time nv"]) -> "PrescribedMotion":
        """What prescribed joints do in states of the whole model."""
        return cls(q[..., model.topology.prescribed_q], qd[..., model.topology.prescribed_v])

    def start(self, model: Model, state: State | tuple[Array, Array] | None = None) -> State:
        """The state (the model's rest unless given) with the prescribed joints where the first row says."""
        q, qd = (jnp.asarray(x) for x in (model.rest() if state is None else state))
        places = model.topology.prescribed_q, model.topology.prescribed_v
        memory = state.memory if isinstance(state, State) else None
        return State(q.at[places[0]].set(self.q[0]), qd.at[places[1]].set(self.qd[0]), memory)

    @property
    def steps(self) -> "PrescribedMotion":
        """What `hs.Control` takes: all rows but the first, which the state at the start holds."""
        return PrescribedMotion(self.q[1:], self.qd[1:])
