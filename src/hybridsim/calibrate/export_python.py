"""Learned joint forces as a Python module that needs neither JAX nor HybridSim."""

from collections.abc import Mapping
from pathlib import Path
from string import Template
from textwrap import fill

import numpy as np

from ..escape import in_c, in_python
from ..model import Model
from .export_networks import JointNetwork, joint_networks, joint_places

_TEMPLATE = Path(__file__).with_name("augmentation.py.txt")
_WIDTH = 118


def python_module(model: Model, friction: Mapping[str, tuple[float, float]], delay: float, plain_file: str) -> str:
    """Its text. `friction` holds coefficient and speed by joint, `plain_file` the name of the file of the plain model."""
    return Template(_TEMPLATE.read_text(encoding="utf-8")).substitute(
        # It stands inside a string within the module's docstring; octal escapes mean the same in Python as in C.
        plain_file=in_c(plain_file or "robot.xml"),
        joints="\n".join(f"    {in_python(joint)}," for joint in joint_places(model)),
        delay=repr(float(delay)),
        # In HybridSim a joint's command is the control's joint force, beside what the model's own actuators do.
        motors=repr(model.nu == 0),
        friction="\n".join(f"    {in_python(joint)}: {numbers!r}," for joint, numbers in friction.items()),
        networks="\n".join(map(_network, joint_networks(model))),
    )


def _network(network: JointNetwork) -> str:
    layers = "\n".join(
        f"            (\n{_rows(weight)}\n{_filled(repr(bias.tolist()))}\n            ),"
        for weight, bias in network.layers
    )
    inputs = ", ".join(f"({in_python(variable)}, {in_python(joint)})" for variable, joint in network.inputs)
    return f"""\
    Network(
        joint={in_python(network.joint)},
        acts_on={network.acts_on!r},
        inputs=[{inputs}],
        limit={network.limit!r},
        is_potential={network.is_potential!r},
        layers=[
{layers}
        ],
    ),"""


def _rows(weight: np.ndarray) -> str:
    """One row a line, every number with the digits that give it back."""
    rows = weight.tolist()
    ends = [""] * (len(rows) - 1) + ["]"]
    starts = ["["] + [" "] * (len(rows) - 1)
    return "\n".join(_filled(f"{start}{row!r}{end}") for start, row, end in zip(starts, rows, ends, strict=True))


def _filled(text: str) -> str:
    return fill(f"{text},", _WIDTH, initial_indent=" " * 16, subsequent_indent=" " * 18, break_on_hyphens=False)
