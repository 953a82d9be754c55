"""One step of time: the table of contents of the engine."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Float

from ..contact import Contact, Impulses, Moment
from ..dynamics import (
    Mechanism,
    accelerations,
    assemble,
    configuration,
    euler,
    expand_q,
    expand_v,
    move,
    node_forces,
    reduce_force,
    turning,
    velocities,
)
from ..model import Model, State
from ..model.names import Named, unmarked
from ..spatial import Array, Scalar
from .control import Control, as_control
from .forces import joint_forces, passive_damping
from .integrators import Integrator, Motion, SemiImplicitEuler

StateLike = State | tuple[Array, Array]
ControlLike = Control | Array | None


@eqx.filter_jit
def step(
    model: Model,
    state: StateLike,
    control: ControlLike = None,
    dt: Scalar | None = None,
    integrator: Integrator = SemiImplicitEuler(),
    contact: Contact | None = Impulses(),
    named: Named = unmarked,
) -> State:
    """The state dt later (dt None: the model's own time step). Without `contact`, shapes and limits do not act."""
    dt = model.timestep if dt is None else dt
    state, control = as_state(model, state), as_control(model, control)
    return advance(model, assemble(model), state, control, dt, integrator, contact, named)


@eqx.filter_jit
def acceleration(
    model: Model,
    state: StateLike,
    control: ControlLike = None,
    contact: Contact | None = None,
    named: Named = unmarked,
) -> Float[Array, " nv"]:
    """Joint accelerations with all that acts by forces: actuators, springs, damping, friction, gravity.

    Contact only if it is `Springs`: impulses act on velocities.
    """
    state = as_state(model, state)
    control = as_control(model, control)
    return _accelerate(model, assemble(model), control, contact, named, state.q, state.qd)[0]


def advance(
    model: Model,
    mechanism: Mechanism,
    state: State,
    control: Control,
    dt: Scalar,
    integrator: Integrator,
    contact: Contact | None,
    named: Named,
) -> State:
    """`step`, with what depends on parameters only already done."""

    def accelerate(q, qd, implicit=0.0):
        return _accelerate(model, mechanism, control, contact, named, q, qd, implicit)

    def first_order(state, dt, implicit=0.0):
        qdd, now = accelerate(state.q, state.qd, implicit)
        if not impulsive:
            return State(*euler(model, state.q, state.qd, qdd, dt), state.memory)
        free = state.qd + dt * (qdd + turning(model, state.qd))
        after, moving, memory = contact.velocities(now, free, dt, named, state.memory)
        return State(*move(model, state.q, after, moving, dt), memory)

    impulsive = contact is not None and contact.acts_on_velocities(model)
    state = integrator(model, Motion(lambda q, qd: accelerate(q, qd)[0], first_order, impulsive), state, dt)
    return State(named("state.next_position", state.q), named("state.next_velocity", state.qd), state.memory)


def _accelerate(model, mechanism, control, contact, named, q, qd, implicit=0.0) -> tuple[Float[Array, " nv"], Moment]:
    """qdd of (M + implicit D) qdd = forces, and what contact needs to know."""
    own_qd = named("joint.velocity", qd)
    q, qd = expand_q(mechanism, named("joint.position", q)), expand_v(mechanism, own_qd)
    conf = configuration(mechanism, q)
    now = Moment(model, mechanism, q, own_qd, conf, velocities(mechanism, q, conf, qd))
    external = node_forces(mechanism, conf, control.wrenches)
    pushed, held = (None, None) if contact is None else contact.forces(now, named)
    tau = joint_forces(model, mechanism, q, qd, control, named, contact is None or contact.smooth_joint_friction)
    if pushed is not None:
        external = pushed if external is None else external + pushed
    if held is not None:
        tau = tau + reduce_force(mechanism, held)
    if not (isinstance(implicit, float) and implicit == 0.0):
        # Damping by the next velocity, v + dt (qdd + turning): the first part of it belongs to M, the second to tau.
        damping = implicit * passive_damping(model, qd)
        now = eqx.tree_at(lambda now: now.mechanism.armature, now, mechanism.armature + damping)
        tau = tau - reduce_force(mechanism, damping * expand_v(mechanism, turning(model, own_qd)))
    qdd = accelerations(now.mechanism, conf, now.vel, tau, external)
    return named("joint.acceleration", qdd), now


def as_state(model: Model, state: StateLike) -> State:
    """The state as arrays of the precision in which the model computes, so that every step keeps it."""
    q, qd = (jnp.asarray(x) for x in state)
    dtype = jnp.result_type(q, qd, model.gravity)
    return State(q.astype(dtype), qd.astype(dtype), state.memory if isinstance(state, State) else None)
