"""One step of time: the table of contents of the engine."""

from dataclasses import replace
from itertools import chain, count

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Float

from ..contact import Contact, Impulses, Moment
from ..dynamics import (
    Course,
    Mechanism,
    accelerations,
    assemble,
    configuration,
    euler,
    expand_q,
    expand_v,
    move,
    node_forces,
    project,
    reduce_force,
    rnea,
    turning,
    velocities,
)
from ..model import Memory, Model, State
from ..model.names import Marks, Named, as_marks, unmarked
from ..spatial import Array, Scalar
from .checks import check_contact, check_memory
from .control import Control, as_control
from .forces import joint_forces, passive_damping
from .integrators import Integrator, Motion, SemiImplicitEuler
from .marks import mark_control, mark_numbers, mark_wrenches, offer_links

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
    time: Scalar = 0.0,
    named: Marks | Named = unmarked,
) -> State:
    """The state dt later (dt None: the model's own time step). Without `contact`, shapes and limits do not act.

    `time` matters only to networks that look at it. Where networks remember, the state carries what they do:
    `initial_state` gives one to begin with. Prescribed joints end the step where `control.prescribed` says.
    """
    dt = model.timestep if dt is None else dt
    check_contact(contact, dt)
    state, control = as_state(model, state), as_control(model, control)
    return advance(model, assemble(model), state, control, time, dt, integrator, contact, begin(model, state, named))


@eqx.filter_jit
def acceleration(
    model: Model,
    state: StateLike,
    control: ControlLike = None,
    contact: Contact | None = None,
    time: Scalar = 0.0,
    named: Marks | Named = unmarked,
) -> Float[Array, " nv"]:
    """Joint accelerations with all that acts by forces: actuators, springs, damping, friction, gravity.

    Contact only if it is `Springs`: impulses act on velocities. A prescribed joint keeps its velocity, so it has none.
    """
    check_contact(contact)
    state = as_state(model, state)
    control = as_control(model, control, driven=False)
    marks = begin(model, state, named)
    return _accelerate(model, assemble(model), control, time, contact, marks, state.q, state.qd)[0]


def advance(
    model: Model,
    mechanism: Mechanism,
    state: State,
    control: Control,
    time: Scalar,
    dt: Scalar,
    integrator: Integrator,
    contact: Contact | None,
    named: Marks,
) -> State:
    """`step`, with what depends on parameters only already done."""
    # A Runge-Kutta step evaluates several times; its first evaluation is the one that is remembered.
    evaluations = chain([named], (named.again() for _ in count()))
    course = Course.of(model, state, control.prescribed, dt)

    def accelerate(q, qd, implicit=0.0):
        return _accelerate(model, mechanism, control, time, contact, next(evaluations), q, qd, implicit, course)

    def acceleration(q, qd, part=0.0):
        if course is None:
            return accelerate(q, qd)[0]
        q, qd, given = course.at(q, qd, part)
        there = replace(course, acceleration=given)
        return _accelerate(model, mechanism, control, time, contact, next(evaluations), q, qd, 0.0, there)[0]

    def first_order(state, dt, implicit=0.0):
        qdd, now = accelerate(state.q, state.qd, implicit)
        if not impulsive:
            return State(*euler(model, state.q, state.qd, qdd, dt), state.memory)
        free = state.qd + dt * (qdd + turning(model, state.qd))
        if course is not None:
            free = course.into(free, course.after)
        memory = Memory() if state.memory is None else state.memory
        after, moving, impulses = contact.velocities(now, free, dt, named, memory.contact)
        return State(*move(model, state.q, after, moving, dt), Memory(impulses, memory.networks).or_nothing())

    impulsive = contact is not None and contact.acts_on_velocities(model)
    state = integrator(model, Motion(acceleration, first_order, impulsive), state, dt)
    return _finish(model, state, course, named)


def _finish(model: Model, state: State, course: Course | None, named: Marks) -> State:
    q, qd = named("state.next_position", state.q), named("state.next_velocity", state.qd)
    if q is not state.q:
        q = project(model, q)
    if course is not None:
        q, qd = course.pinned(q, qd)
    contact = None if state.memory is None else state.memory.contact
    return State(q, qd, Memory(contact, named.end()).or_nothing())


def _accelerate(
    model, mechanism, control, time, contact, named, q, qd, implicit=0.0, course: Course | None = None
) -> tuple[Float[Array, " nv"], Moment]:
    """qdd of (M + implicit D) qdd = forces, and what contact needs to know. Without a course prescribed joints keep on."""
    control = mark_control(model, control, time, named, qd.dtype)
    q, own_qd = named("joint.position", q), named("joint.velocity", qd)
    model, mechanism = mark_numbers(model, mechanism, named)
    q, qd = expand_q(mechanism, q), expand_v(mechanism, own_qd)
    conf = configuration(mechanism, q)
    now = Moment(model, mechanism, q, own_qd, conf, velocities(mechanism, q, conf, qd))
    offer_links(model, mechanism, conf, now.vel, named)
    pushed, held = None, None
    if contact is not None:
        now = contact.detect(now, named)
        pushed, held = contact.forces(now, named)
    external = node_forces(mechanism, conf, mark_wrenches(mechanism, control, named, qd.dtype).wrenches)
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
    given = None if course is None else course.acceleration
    qdd = accelerations(now.mechanism, conf, now.vel, tau, external, given)
    if course is not None:
        now = replace(now, course=_with_force(now, course, qdd, tau, external, contact, named))
    return named("joint.acceleration", qdd), now


def _with_force(now: Moment, course: Course, qdd, tau, external, contact: Contact | None, named: Marks) -> Course:
    """The course with what drives prescribed joints, which contact by impulses adds to; otherwise it is all, and marked."""
    if not named.wants("joint.prescribed_force"):
        return course
    needed = rnea(now.mechanism, now.conf, now.vel, expand_v(now.mechanism, qdd), external)
    force = course.held_only(reduce_force(now.mechanism, needed) - tau)
    if contact is None or not contact.acts_on_velocities(now.model):
        named.offer("joint.prescribed_force", lambda: force)
    return replace(course, force=force)


def begin(model: Model, state: State, named: Marks | Named) -> Marks:
    """Marks for one step: those of the model's networks, then the user's."""
    then = as_marks(named)
    if model.augmentation is None:
        return then
    memory = initial_state(model, state).memory
    return model.augmentation.begin(None if memory is None else memory.networks, then)


def initial_state(model: Model, state: StateLike | None = None) -> State:
    """The state (the model's rest unless given) with what its networks remember before the first step.

    Needed only where `step` is called in a loop of JAX: there the first state must have the form of all others.
    """
    state = as_state(model, model.rest() if state is None else state)
    given = Memory() if state.memory is None else state.memory
    networks = None if model.augmentation is None else model.augmentation.memory(state.q.dtype)
    if networks is not None and given.networks is not None:
        check_memory(networks, given.networks)
        networks = given.networks
    return State(state.q, state.qd, Memory(given.contact, networks).or_nothing())


def as_state(model: Model, state: StateLike) -> State:
    """The state as arrays of the precision in which the model computes, so that every step keeps it."""
    q, qd = (jnp.asarray(x) for x in state)
    dtype = jnp.result_type(q, qd, model.gravity)
    return State(q.astype(dtype), qd.astype(dtype), state.memory if isinstance(state, State) else None)
