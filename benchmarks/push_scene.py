"""A tip that moves as measured pushes a square plate over a table for 40 mm, beside its centre, so that it turns."""

import warnings

import numpy as np

import hybridsim as hs

DT, STEPS = 5e-4, 1600
"""Of the rollout; the tip moves at 50 mm/s."""
MASS, SIDE, THICKNESS, RADIUS = 0.8374, 0.09, 0.013, 0.00475
"""Of the plate, and of the steel cylinder that pushes it [kg, m]."""
BESIDE, SPACING = 0.02, 0.02
"""Of the tip from the plate's centre, and of the points under the plate [m]."""
STROKE = 0.04
DEPTH = 1e-4
"""To which the plate's weight presses the springs [m]."""
CONTACTS = {
    "springs": hs.ContactByPair({("grid", "ground"): hs.Springs(hs.HuntCrossley(), hs.Coulomb())}),
    "impulses": hs.Impulses(),
}
"""Under the plate, as in the papers and as our default; the tip is hard."""


def push() -> tuple[hs.Model, hs.State, hs.PrescribedMotion]:
    """The model, the state in which the tip all but touches the plate, and the stroke."""
    corners = SIDE / 2 * np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])
    outline = hs.Geom("prism", size=THICKNESS / 2, points=np.column_stack([corners, np.zeros(4)]), name="outline")
    grid = hs.contact_grid(corners, -THICKNESS / 2, SPACING)
    about = MASS * SIDE**2 / 12
    plate = hs.free_body(hs.Link("plate", MASS, inertia=(about, about, 2 * about), geoms=[grid, outline]))
    rail = hs.Joint("rail", "prismatic", "world", "tip", axis=(1, 0, 0), position=(0, BESIDE, THICKNESS / 2))
    tip = hs.build([hs.solid("tip", 1.0, "cylinder", (RADIUS, 0.05))], [rail])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hs.ModelWarning)  # of a tip and a grid, which are no pair below
        world = hs.world(plate, tip, hs.ground())
    stiffness = MASS * 9.81 / DEPTH**1.5
    numbers = {"friction": [0.2, 0.3], "transition_speed": 0.005, "stiffness": stiffness, "dissipation": stiffness}
    model = hs.with_contacts(world, [("tip", "outline"), ("grid", "ground")], **numbers)
    model = hs.prescribed(model, "rail")
    t = np.linspace(0.0, DT * STEPS, 201)
    stroke = hs.prescribed_motion(model, t, {"rail": -SIDE / 2 - RADIUS - DEPTH + STROKE * t / t[-1]}, dt=DT)
    q, qd = model.rest()
    q[2] = THICKNESS / 2 - DEPTH
    return model, stroke.start(model, (q, qd)), stroke.steps
