"""Motors and servos on joints: force = gain * command + bias . (1, length, velocity)."""

import mujoco
import numpy as np

from ..model import Actuator
from .mjcf_bodies import BALL, FREE, HINGE, SLIDE, Names, output_of, unused
from .mjcf_source import Source


def read_actuators(source: Source, called: Names) -> tuple[list[Actuator], list[str]]:
    """The actuators that can be simulated, and the others with what is wrong with each."""
    m = source.model
    records: list[Actuator] = []
    others: list[str] = []
    taken = {m.actuator(i).name for i in range(m.actuator_trntype.size)}
    for i in range(m.actuator_trntype.size):
        if problem := _problem(source, i):
            others.append(f"{m.actuator(i).name or f'number {i}'}: {problem}")
        else:
            joint = called.joints[m.actuator_trnid[i, 0]]
            kind = "motor" if _word(mujoco.mjtBias, m.actuator_biastype[i]) == "none" else "servo"
            name = m.actuator(i).name or unused(f"{joint}_{kind}", taken)
            records.append(_actuator(source, i, name, joint))
    return records, others


def _problem(source: Source, i: int) -> str:
    """Why an actuator cannot be simulated; empty if it can."""
    m = source.model
    if source.off("actuation") or (int(m.opt.disableactuator) >> max(int(m.actuator_group[i]), 0)) & 1:
        return "switched off"
    if m.actuator_plugin[i] >= 0:
        return "plugin"
    transmission = _word(mujoco.mjtTrn, m.actuator_trntype[i])
    if transmission not in ("joint", "jointinparent"):
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
    delay = getattr(m, "actuator_delay", None)
    return "delay" if delay is not None and delay[i] > 0 else ""


def _joint_problem(m: mujoco.MjModel, i: int, transmission: str) -> str:
    kind, gear = m.jnt_type[m.actuator_trnid[i, 0]], m.actuator_gear[output_of(m, i)]
    if kind in (HINGE, SLIDE):
        return ""
    if transmission == "jointinparent":
        return "jointinparent on a joint with several freedoms"
    if kind == FREE and np.any(gear[:3]):
        return "pushes a free joint along the world's axes"
    if kind in (BALL, FREE) and np.any(getattr(m, "actuator_armature", np.zeros(i + 1))[i]):
        return "armature on a joint with several freedoms"
    return ""


def _actuator(source: Source, i: int, name: str, joint: str) -> Actuator:
    m = source.model
    kind, gear = m.jnt_type[m.actuator_trnid[i, 0]], m.actuator_gear[output_of(m, i)]
    control = int(m.actuator_ctrladr[i]) if hasattr(m, "actuator_ctrladr") else i
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


def _range(values: np.ndarray, limited: bool) -> tuple[float, float]:
    return (float(values[0]), float(values[1])) if limited else (-np.inf, np.inf)


def _word(enum, value: int) -> str:
    """`mjTRN_TENDON` as `tendon`."""
    return enum(int(value)).name.split("_", 1)[1].lower()
