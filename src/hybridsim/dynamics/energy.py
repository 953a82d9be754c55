"""Energy, momentum and centre of mass of everything that moves."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Float

from ..model import Model
from ..spatial import Array, shift_force
from .joints import displacements
from .kinematics import configuration, velocities
from .mechanism import assemble
from .mimic import expand_q, expand_v


class Energy(eqx.Module):
    """Energy of everything that moves."""

    kinetic: Float[Array, ""]
    """[J], rotors (armature) included."""
    potential: Float[Array, ""]
    """Of gravity, zero at the world's origin, and of joint springs [J]."""

    @property
    def total(self) -> Float[Array, ""]:
        return self.kinetic + self.potential


class Momentum(eqx.Module):
    """Momentum of everything that moves."""

    linear: Float[Array, "3"]
    """[kg m/s]"""
    angular: Float[Array, "3"]
    """About the world's origin [kg m^2/s]."""


@eqx.filter_jit
def energy(model: Model, q: Float[Array, " nq"], qd: Float[Array, " nv"]) -> Energy:
    """Kinetic and potential energy. Without damping, friction and actuation their sum is constant."""
    mechanism = assemble(model)
    q_all, qd_all = expand_q(mechanism, jnp.asarray(q)), expand_v(mechanism, jnp.asarray(qd))
    conf = configuration(mechanism, q_all)
    v = velocities(mechanism, q_all, conf, qd_all).v
    kinetic = jnp.einsum("ni,nij,nj->", v, conf.inertia.matrix(), v) + jnp.sum(mechanism.armature * qd_all**2)
    # The moment is about the reference point, so the weight's height is that of moment + mass * reference.
    moment = conf.inertia.moment + conf.inertia.mass[:, None] * conf.reference
    springs = jnp.sum(model.joints.stiffness * displacements(model, q_all) ** 2) / 2
    return Energy(kinetic / 2, springs - jnp.sum(moment @ mechanism.gravity))


@eqx.filter_jit
def momentum(model: Model, q: Float[Array, " nq"], qd: Float[Array, " nv"]) -> Momentum:
    """Total momentum. Without external forces that of a free-floating mechanism is constant."""
    mechanism = assemble(model)
    q_all, qd_all = expand_q(mechanism, jnp.asarray(q)), expand_v(mechanism, jnp.asarray(qd))
    conf = configuration(mechanism, q_all)
    v = velocities(mechanism, q_all, conf, qd_all).v
    h = shift_force(jnp.einsum("nij,nj->ni", conf.inertia.matrix(), v), conf.reference).sum(0)
    return Momentum(linear=h[3:], angular=h[:3])


@eqx.filter_jit
def centre_of_mass(model: Model, q: Float[Array, " nq"]) -> Float[Array, "3"]:
    """Of all that moves, in the world [m]."""
    mechanism = assemble(model)
    conf = configuration(mechanism, expand_q(mechanism, jnp.asarray(q)))
    moment = conf.inertia.moment + conf.inertia.mass[:, None] * conf.reference
    return moment.sum(0) / conf.inertia.mass.sum()
