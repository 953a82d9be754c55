"""Numbers of shapes and contact in the table of parameters: their units, changes from zero, and what helps."""

from dataclasses import replace

import numpy as np

from hybridsim.identify import Estimate
from hybridsim.view.report.parameters import UNDETERMINED, parameters

from .synthetic import calibration

ESTIMATES = (
    Estimate("shape/ground/height", 0.012, 1e-4, 0.0118, 0.0122, 0.0, "m"),
    Estimate("shape/ground/tilt.x", -0.02, 1e-3, -0.022, -0.018, 0.0, "rad"),
    Estimate("contact/cube/ground/restitution", 0.3, 0.01, 0.28, 0.32, 0.0, "1"),
    Estimate("shape/cube/size.x", 0.05, np.inf, -np.inf, np.inf, 0.05, "m", UNDETERMINED),
    Estimate("limit/elbow/upper", 1.2, np.inf, -np.inf, np.inf, 1.2, "rad", UNDETERMINED),
)


def test_a_height_that_was_zero_is_not_new():
    made = calibration(("original", "calibrated"))
    first, fitted = made.stages
    stages = (first, replace(fitted, fit=replace(fitted.fit, parameters=ESTIMATES)))
    page = str(parameters(replace(made, stages=stages)))
    cells = [row.split("<td") for row in page.split("<tr>") if "shape/" in row or "contact/" in row]
    told = {
        name: next("".join(row) for row in cells if name in "".join(row)) for name in (e.name for e in ESTIMATES[:3])
    }
    assert "+0.012 m" in told["shape/ground/height"]
    assert "\N{MINUS SIGN}0.02 rad" in told["shape/ground/tilt.x"]
    assert "new" in told["contact/cube/ground/restitution"]
    assert "log contacts of every side of the shape" in page
    assert "the joint reaches its limit" in page
