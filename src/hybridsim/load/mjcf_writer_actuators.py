"""Numbers of one actuator into its element of an MJCF file."""

import numpy as np

from .differences import Name
from .mjcf_attributes import Element, drop, put, put_range
from .mjcf_fields import FREE, control_of
from .mjcf_source import Source


def write_actuator(element: Element, source: Source, i: int, name: Name, numbers: dict[Name, np.ndarray]) -> None:
    """One field of MuJoCo's actuator i."""
    m, value = source.model, numbers[name]
    if name.field == "gear" and m.jnt_type[m.actuator_trnid[i, 0]] == FREE:
        put(element, "gear", value[[3, 4, 5, 0, 1, 2]])
    elif name.field == "gear":
        put(element, "gear", value[: np.max(np.flatnonzero(value), initial=0) + 1])
    elif name.field == "command_range":
        if element.tag == "position" and source.spec.actuators[i].inheritrange:
            element.set("inheritrange", "0")
        put_range(element, "ctrlrange", "ctrllimited", value, m.actuator_ctrllimited[control_of(m, i)])
    elif name.field == "force_range":
        put_range(element, "forcerange", "forcelimited", value, m.actuator_forcelimited[i])
    else:
        gain, bias = (numbers[name._replace(field=field)] for field in ("gain", "bias"))
        _write_law(element, gain, bias)


def _write_law(element: Element, gain: np.ndarray, bias: np.ndarray) -> None:
    """force = gain * command + bias . (1, length, velocity), in the words of the element if it has them."""
    if element.tag == "position" and bias[0] == 0 and bias[1] == -gain and bias[2] <= 0:
        drop(element, "dampratio")
        put(element, "kp", gain)
        put(element, "kv", -bias[2])
    elif element.tag == "velocity" and bias[0] == bias[1] == 0 and bias[2] == -gain:
        put(element, "kv", gain)
    else:
        _make_general(element)
        put(element, "gainprm", gain)
        put(element, "biasprm", bias)
        element.set("biastype", "affine")


def _make_general(element: Element) -> None:
    """A <general> actuator can have any gain and bias."""
    if element.tag == "general":
        return
    element.tag = "general"
    drop(element, "kp", "kv", "dampratio", "timeconst", "inheritrange")
    element.set("gaintype", "fixed")
    element.set("dyntype", "none")
