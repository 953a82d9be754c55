"""What drives a model during one step."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Float

from ..dynamics import Wrenches
from ..model import Model
from ..spatial import Array


class Control(eqx.Module):
    """Commands to actuators, forces at joints, wrenches on links; what is None is absent."""

    command: Float[Array, "*time nu"] | None = None
    """One number an actuator, in the actuator's unit."""
    force: Float[Array, "*time nv"] | None = None
    """Added to what actuators do [N m or N]."""
    wrenches: Wrenches = None
    """As in `forward_dynamics`."""


def as_control(model: Model, control: Control | Array | None) -> Control:
    """A bare array is the command where the model has actuators, and the joint force where it has none."""
    if control is None:
        return Control()
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
    return Control(command, force, wrenches)
