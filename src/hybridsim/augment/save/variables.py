"""Shapes of the named variables of a model's step, without tracing a step: what places in a file are checked against."""

from ...contact import pairs_of_points
from ...model import VARIABLES, Model

_WIDTHS = {"vector": 3, "point": 3, "spatial": 6, "rotation": 9, "pose": 7}
_WIDE_SCALARS = {"link.com": 3, "link.inertia": 6}


def shape_of(model: Model, name: str) -> tuple[int, ...]:
    """As `hs.names` gives it for a step in which the variable is computed."""
    variable = VARIABLES[name]
    width = _WIDE_SCALARS.get(name) or _WIDTHS.get(variable.kind)
    return (*_rows(model, variable.axis), *([width] if width else []))


def _rows(model: Model, axis: str) -> tuple[int, ...]:
    if axis == "world":
        return ()
    if axis == "pair":
        return (len(pairs_of_points(model)),)
    counts = {
        "coordinate": model.nq,
        "freedom": model.nv,
        "joint": model.topology.nv_all,
        "link": len(model.link_names),
        "actuator": model.nu,
    }
    return (counts[axis],)
