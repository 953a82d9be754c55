"""Where a compiled MuJoCo model keeps what; its versions differ."""

import mujoco
import numpy as np

FREE, BALL, SLIDE, HINGE = (int(kind) for kind in mujoco.mjtJoint.__members__.values())
"""Kinds of joints."""

Index = int | np.integer
Flag = bool | np.bool_ | np.integer
"""MuJoCo 3 keeps flags as bytes."""


def drives_joint(model: mujoco.MjModel, actuator: Index) -> bool:
    return model.actuator_trntype[actuator] in (int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT))


def output_of(model: mujoco.MjModel, actuator: Index) -> int:
    """The row of `actuator_gear`; in MuJoCo 4 an actuator may have several."""
    return int(model.actuator_outadr[actuator] if hasattr(model, "actuator_outadr") else actuator)


def control_of(model: mujoco.MjModel, actuator: Index) -> int:
    """The row of `actuator_ctrlrange`; in MuJoCo 4 an actuator may have several."""
    return int(model.actuator_ctrladr[actuator] if hasattr(model, "actuator_ctrladr") else actuator)


def nonzero(model: mujoco.MjModel, field: str, i: Index) -> bool:
    """Is a number of element i other than zero? False for fields that this version of MuJoCo does not have."""
    values = getattr(model, field, None)
    return values is not None and bool(np.any(values[i]))
