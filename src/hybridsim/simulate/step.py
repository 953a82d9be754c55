"""One step of time: the table of contents of the engine."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Float

from ..dynamics import Mechanism, accelerations, assemble, expand_q, expand_v, reduce_force, turning
from ..model import Model, State
from ..model.names import Named, unmarked
from ..spatial import Array, Scalar
from .control import Control, as_control
from .forces import joint_forces, passive_damping
from .integrators import Integrator, SemiImplicitEuler

StateLike = State | tuple[Array, Array]
ControlLike = Control | Array | None


@eqx.filter_jit
def step(
    model: Model,
    state: StateLike,
    control: ControlLike = None,
    dt: Scalar | None = None,
    integrator: Integrator = SemiImplicitEuler(),
    named: Named = unmarked,
) -> State:
    """The state dt later (dt None: the model's own time step)."""
    dt = model.timestep if dt is None else dt
    return advance(model, assemble(model), as_state(model, state), as_control(model, control), dt, integrator, named)


@eqx.filter_jit
def acceleration(
    model: Model, state: StateLike, control: ControlLike = None, named: Named = unmarked
) -> Float[Array, " nv"]:
    """Joint accelerations with all that acts: actuators, springs, damping, friction, gravity."""
    state = as_state(model, state)
    return _accelerate(model, assemble(model), as_control(model, control), named, state.q, state.qd)


def advance(
    model: Model, mechanism: Mechanism, state: State, control: Control, dt: Scalar, integrator: Integrator, named: Named
) -> State:
    """`step`, with what depends on parameters only already done."""

    def accelerate(q, qd, implicit=0.0):
        return _accelerate(model, mechanism, control, named, q, qd, implicit)

    state = integrator(model, accelerate, state, dt)
    return State(named("state.next_position", state.q), named("state.next_velocity", state.qd))


def _accelerate(model, mechanism, control, named, q, qd, implicit=0.0) -> Float[Array, " nv"]:
    """qdd of (M + implicit D) qdd = forces."""
    q, own_qd = expand_q(mechanism, named("joint.position", q)), named("joint.velocity", qd)
    qd = expand_v(mechanism, own_qd)
    tau = joint_forces(model, mechanism, q, qd, control, named)
    armature = mechanism.armature
    if not (isinstance(implicit, float) and implicit == 0.0):
        # Damping by the next velocity, v + dt (qdd + turning): the first part of it belongs to M, the second to tau.
        damping = implicit * passive_damping(model, qd)
        armature = armature + damping
        tau = tau - reduce_force(mechanism, damping * expand_v(mechanism, turning(model, own_qd)))
    return named("joint.acceleration", accelerations(mechanism, q, qd, tau, control.wrenches, armature))


def as_state(model: Model, state: StateLike) -> State:
    """The state as arrays of the precision in which the model computes, so that every step keeps it."""
    q, qd = (jnp.asarray(x) for x in state)
    dtype = jnp.result_type(q, qd, model.gravity)
    return State(q.astype(dtype), qd.astype(dtype))
