"""Prescribed joints in one step: where they end, and how they get there."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Float

from ..model import Model, PrescribedMotion, State, Topology
from ..spatial import Array, Scalar, add_at, pick
from .joints import turning
from .prescribed import hermite, in_axes_before, velocity_between


class Course(eqx.Module):
    """What prescribed joints do during a step of length dt, and how they begin it."""

    q: Float[Array, " prescribed_q"]
    qd: Float[Array, " prescribed_v"]
    end: PrescribedMotion
    dt: Scalar
    moving: Float[Array, " prescribed_v"]
    """The velocity with which their positions move."""
    after: Float[Array, " prescribed_v"]
    """The velocity at the end, in the axes of the beginning."""
    acceleration: Float[Array, " nv"]
    """From the velocity at the beginning to `after`; zero at other joints."""
    force: Float[Array, " nv"] | None = None
    """What drives them, but for contact impulses; None where nothing asks for it."""
    topology: Topology = eqx.field(static=True, kw_only=True)

    @classmethod
    def of(cls, model: Model, state: State, end: PrescribedMotion | None, dt: Scalar) -> "Course | None":
        topology = model.topology
        if end is None:
            return None
        end = PrescribedMotion(*(jnp.asarray(x, dtype=state.q.dtype) for x in (end.q, end.qd)))
        q, qd = pick(state.q, topology.prescribed_q), pick(state.qd, topology.prescribed_v)
        moving = velocity_between(topology, q, end.q, dt)
        after = in_axes_before(topology, end.q, end.qd, moving, dt)
        rate = (after - qd) / dt - pick(turning(model, state.qd), topology.prescribed_v)
        acceleration = add_at(model.nv, topology.prescribed_v, rate)
        return cls(q, qd, end, dt, moving, after, acceleration, topology=topology)

    def into(self, velocity: Float[Array, " nv"], own: Float[Array, " prescribed_v"]) -> Float[Array, " nv"]:
        """A velocity of all joints with that of prescribed ones in it."""
        return jnp.asarray(velocity).at[self.topology.prescribed_v].set(own)

    def at(self, q: Float[Array, " nq"], qd: Float[Array, " nv"], part: Scalar) -> tuple[Array, Array, Array]:
        """q and qd with the prescribed joints where they are after a part of the step, and their acceleration there."""

        def place(part):
            return hermite(self.topology, self.q, self.qd, self.end.q, self.end.qd, self.dt, part)

        (own_q, own_v), (_, rate) = jax.jvp(place, (jnp.asarray(part, q.dtype),), (1 / jnp.asarray(self.dt, q.dtype),))
        q = jnp.asarray(q).at[self.topology.prescribed_q].set(own_q)
        return q, self.into(qd, own_v), add_at(len(qd), self.topology.prescribed_v, rate)

    def held_only(self, force: Float[Array, " nv"]) -> Float[Array, " nv"]:
        """What acts at prescribed joints, and zero at all others."""
        own = pick(force, self.topology.prescribed_v)
        return add_at(len(force), self.topology.prescribed_v, own)

    def pinned(self, q: Float[Array, " nq"], qd: Float[Array, " nv"]) -> tuple[Array, Array]:
        """q and qd after the step with exactly what is prescribed."""
        return jnp.asarray(q).at[self.topology.prescribed_q].set(self.end.q), self.into(qd, self.end.qd)
