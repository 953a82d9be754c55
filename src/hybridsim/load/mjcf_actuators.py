"""Motors and servos on joints: force = gain * command + bias . (1, length, velocity)."""

import mujoco
import numpy as np

from ..model import Actuator
from .mjcf_fields import BALL, FREE, HINGE, SLIDE, Flag, Index, control_of, drives_joint, nonzero, output_of
from .mjcf_names import Names
from .mjcf_source import Source


def read_actuators(source: Source, called: Names) -> tuple[list[Actuator], list[str]]:
    """The actuators that can be simulated, and the others with what is wrong with each."""
    records: list[Actuator] = []
    others: list[str] = []
    for i, name in enumerate(called.actuators):
        if problem := _problem(source, i):
            others.append(f"{name}: {problem}")
        else:
            records.append(_actuator(source, i, name, called.joints[source.model.actuator_trnid[i, 0]]))
    return records, others


def _problem(source: Source, i: int) -> str:
    """Why an actuator cannot be simulated; empty if it can."""
    m = source.model
    if source.off("actuation") or (int(m.opt.disableactuator) >> max(int(m.actuator_group[i]), 0)) & 1:
        return "switched off"
    if m.actuator_plugin[i] >= 0:
        return "plugin"
    transmission = _word(mujoco.mjtTrn, m.actuator_trntype[i])
    if not drives_joint(m, i):
        return f"{transmission} transmission"
    return _joint_problem(m, i, transmission) or _law_problem(m, i)


def _law_problem(m: mujoco.MjModel, i: int) -> str:
    dynamics = _word(mujoco.mjtDyn, m.actuator_dyntype[i])
    gain = _word(mujoco.mjtGain, m.actuator_gaintype[i])
    bias = _word(mujoco.mjtBias, m.actuator_biastype[i])
    if dynamics != "none":
        return f"{dynamics} dynamics"
    if gain not in ("fixed", "affine"):
        return f"{gain} gain"
    if gain == "affine" and np.any(m.actuator_gainprm[i, 1:3]):
        return "gain that depends on the motion"
    if bias not in ("none", "affine"):
        return f"{bias} bias"
    return "delay" if nonzero(m, "actuator_delay", i) else ""


def _joint_problem(m: mujoco.MjModel, i: int, transmission: str) -> str:
    kind, gear = m.jnt_type[m.actuator_trnid[i, 0]], m.actuator_gear[output_of(m, i)]
    if nonzero(m, "actuator_dampingpoly", i):
        return "damping polynomial"
    if kind in (HINGE, SLIDE):
        return ""
    if transmission == "jointinparent":
        return "jointinparent on a joint with several freedoms"
    if nonzero(m, "actuator_armature", i) or nonzero(m, "actuator_damping", i):
        return "armature or damping on a joint with several freedoms"
    if kind == FREE and (np.any(gear[:3]) or m.actuator_biasprm[i, 1]):
        return "free joint moved along or held in the world's axes"
    return ""


def _actuator(source: Source, i: int, name: str, joint: str) -> Actuator:
    m = source.model
    kind, gear = m.jnt_type[m.actuator_trnid[i, 0]], m.actuator_gear[output_of(m, i)]
    control = control_of(m, i)
    clipped = m.actuator_ctrllimited[control] and not source.off("clampctrl")
    affine = _word(mujoco.mjtBias, m.actuator_biastype[i]) == "affine"
    gears = {HINGE: gear[0], SLIDE: gear[0], BALL: gear[:3].copy(), FREE: gear[[3, 4, 5, 0, 1, 2]]}
    return Actuator(
        name,
        joint,
        gain=float(m.actuator_gainprm[i, 0]),
        bias=m.actuator_biasprm[i, :3].copy() if affine else np.zeros(3),
        gear=gears[kind],
        command_range=_range(m.actuator_ctrlrange[control], clipped),
        force_range=_range(m.actuator_forcerange[i], m.actuator_forcelimited[i]),
    )


def _range(values: np.ndarray, limited: Flag) -> tuple[float, float]:
    return (float(values[0]), float(values[1])) if limited else (-np.inf, np.inf)


def _word(enum, value: Index) -> str:
    """`mjTRN_TENDON` as `tendon`."""
    return enum(int(value)).name.split("_", 1)[1].lower()
