"""Joint forces: what actuators do, and what springs, dampers and friction do."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ..dynamics import Mechanism, assemble, displacements, expand_q, expand_v, reduce_force
from ..model import Model
from ..model.names import Marks, unmarked
from ..spatial import Array, add_at, pick
from .control import Control


@eqx.filter_jit
def passive_forces(model: Model, q: Float[Array, " nq"], qd: Float[Array, " nv"]) -> Float[Array, " nv"]:
    """Force of joint springs, dampers and friction on each coordinate."""
    mechanism = assemble(model)
    q_all, qd_all = expand_q(mechanism, jnp.asarray(q)), expand_v(mechanism, jnp.asarray(qd))
    return reduce_force(mechanism, _passive(model, q_all, qd_all))


def joint_forces(
    model: Model,
    mechanism: Mechanism,
    q: Float[Array, " all_q"],
    qd: Float[Array, " all_v"],
    control: Control,
    named: Marks = unmarked,
    smooth_friction: bool = True,
) -> Float[Array, " nv"]:
    """Total force on each coordinate, given the coordinates of all joints."""
    actuation = named("joint.actuation", _actuation(model, mechanism, q, qd, control, named))
    passive = named("joint.passive_force", reduce_force(mechanism, _passive(model, q, qd, smooth_friction)))
    return named("joint.force", actuation + passive)


def _passive(
    model: Model, q: Float[Array, " all_q"], qd: Float[Array, " all_v"], smooth_friction: bool = True
) -> Float[Array, " all_v"]:
    joints = model.joints
    force = -joints.stiffness * displacements(model, q) - joints.damping * qd
    return force - joints.friction * jnp.tanh(qd / joints.friction_speed) if smooth_friction else force


def passive_damping(model: Model, qd: Float[Array, " all_v"]) -> Float[Array, " all_v"]:
    """d with passive force = -d qd apart from springs: damping, and friction by its secant.

    The secant, unlike the slope, never lets an implicit step push a joint backwards.
    """
    joints = model.joints
    ratio = qd / joints.friction_speed
    small = jnp.abs(ratio) < 1e-4
    secant = jnp.where(small, 1 - ratio * ratio / 3, jnp.tanh(ratio) / jnp.where(small, 1.0, ratio))
    return joints.damping + joints.friction / joints.friction_speed * secant


def _actuation(
    model: Model,
    mechanism: Mechanism,
    q: Float[Array, " all_q"],
    qd: Float[Array, " all_v"],
    control: Control,
    named: Marks,
) -> Float[Array, " nv"]:
    """Force of actuators and of the control's own joint forces, within the joints' effort limits."""
    total = jnp.zeros(model.nv, dtype=qd.dtype) if control.force is None else jnp.asarray(control.force)
    if model.nu:
        total = total + reduce_force(mechanism, _actuators(model, q, qd, control, named))
    elif control.force is None:
        return total
    effort = pick(model.joints.effort, model.topology.own_v)
    return jnp.clip(total, -effort, effort)


def _actuators(
    model: Model, q: Float[Array, " all_q"], qd: Float[Array, " all_v"], control: Control, named: Marks
) -> Float[Array, " all_v"]:
    """gear^T (gain command + bias . (1, length, velocity)). Without a command it is taken as zero."""
    actuators, topology = model.actuators, model.topology
    # Every actuator acts on the freedoms of one joint: a list of (actuator, freedom, place in gear).
    slices = [topology.v_slices[j] for j in actuators.joints]
    owner = np.repeat(np.arange(model.nu), [s.stop - s.start for s in slices])
    dofs = np.concatenate([np.arange(s.start, s.stop) for s in slices])
    entry = np.concatenate([np.arange(s.stop - s.start) for s in slices])
    gear = pick(jnp.asarray(actuators.gear).ravel(), owner * actuators.gear.shape[1] + entry)

    command = jnp.zeros(model.nu, dtype=qd.dtype) if control.command is None else jnp.asarray(control.command)
    command = jnp.clip(command, actuators.command_range[:, 0], actuators.command_range[:, 1])
    # Lengths are measured from q = 0, not from the springs' rest.
    zero = np.concatenate([np.zeros(0), *(kind.rest() for kind in topology.kinds)])
    at_zero = eqx.tree_at(lambda m: m.joints.spring_rest, model, zero)
    length = add_at(model.nu, owner, gear * pick(displacements(at_zero, q), dofs))
    velocity = add_at(model.nu, owner, gear * pick(qd, dofs))
    bias = actuators.bias
    force = actuators.gain * command + bias[:, 0] + bias[:, 1] * length + bias[:, 2] * velocity
    force = named("actuator.force", jnp.clip(force, actuators.force_range[:, 0], actuators.force_range[:, 1]))
    return add_at(topology.nv_all, dofs, gear * pick(force, owner))
