"""What drives a model during one step."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Float

from ..dynamics import Wrenches
from ..model import Model, PrescribedMotion
from ..spatial import Array


class Control(eqx.Module):
    """Commands to actuators, forces at joints, wrenches on links; what is None is absent."""

    command: Float[Array, "*time nu"] | None = None
    """One number an actuator, in the actuator's unit."""
    force: Float[Array, "*time nv"] | None = None
    """Added to what actuators do [N m or N]."""
    wrenches: Wrenches = None
    """As in `forward_dynamics`."""
    prescribed: PrescribedMotion | None = None
    """What prescribed joints do: where they are and how fast they move at the END of each step."""


def as_control(model: Model, control: Control | Array | None, driven: bool = True) -> Control:
    """A bare array is the command where the model has actuators, and the joint force where it has none.

    `driven`: whether prescribed joints need a motion.
    """
    if control is None:
        control = Control()
    given = control.prescribed if isinstance(control, Control) else None
    if driven:
        _check_given(model, given)
    if isinstance(control, Control):
        command, force, wrenches = control.command, control.force, control.wrenches
    else:
        array = jnp.asarray(control)
        command, force, wrenches = (array, None, None) if model.nu else (None, array, None)
    for what, size, array in (("command", model.nu, command), ("force", model.nv, force)):
        if array is not None and array.shape != (size,):
            raise ValueError(
                f"the control's {what} has shape {array.shape} at each step, but this model needs ({size},); a bare array "
                "is the command of a model with actuators, and the joint force of one without: hs.Control names them"
            )
    return Control(command, force, wrenches, given)


def _check_given(model: Model, given: PrescribedMotion | None) -> None:
    """A motion is given if, and only if, joints are prescribed, and it has as many numbers as they have."""
    names, topology = model.prescribed_names, model.topology
    if given is None and names:
        raise ValueError(
            f"joint {', '.join(names)} is prescribed, but its motion is not given; make it by "
            "motion = hs.prescribed_motion(model, t, positions), begin at motion.start(model), and give "
            "hs.Control(prescribed=motion.steps)"
        )
    if given is None:
        return
    if not names:
        raise ValueError("the control has a prescribed motion, but no joint of this model is prescribed: hs.prescribed")
    for what, size, array in (("q", len(topology.prescribed_q), given.q), ("qd", len(topology.prescribed_v), given.qd)):
        if jnp.shape(array) != (size,):
            raise ValueError(
                f"the prescribed {what} has shape {jnp.shape(array)} at each step, but joint {', '.join(names)} needs "
                f"({size},): give numbers of prescribed joints only, as hs.prescribed_motion does"
            )
