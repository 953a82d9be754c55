"""Free boxes that fall onto a floor, in heaps or far from each other; every pair of shapes may touch."""

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation
from touching_scenes import DT, Scene

import hybridsim as hs

STEPS = 150
SIDE, MASS, FRICTION = 0.1, 0.4, 0.5
"""Of every box [m, kg]."""
NEAR, APART = 0.11, 1.0
"""From the centre of a box to that of the next at the start [m]."""
SPEED = 0.5
"""Of the outermost boxes, towards the middle [m/s]."""


def makers() -> dict[str, Callable[[], Scene]]:
    near = {f"{n} box{'es' if n > 1 else ''}": partial(boxes, n, NEAR) for n in (1, 4, 8, 16)}
    apart = {f"{n} boxes, apart": partial(boxes, n, APART) for n in (4, 8, 16)}
    return near | apart


def boxes(count: int, spacing: float) -> Scene:
    """In rows that slide towards the middle; boxes that are near meet there."""
    bodies = "".join(
        f'<body name="box{i}"><freejoint name="root{i}"/>'
        f'<geom name="shape{i}" type="box" size="{SIDE / 2} {SIDE / 2} {SIDE / 2}" mass="{MASS}"/></body>'
        for i in range(count)
    )
    text = (
        f'<mujoco><option timestep="{DT}" integrator="Euler"/><default><geom friction="{FRICTION}"/></default>'
        f'<worldbody><geom name="floor" type="plane" size="20 20 1"/>{bodies}</worldbody></mujoco>'
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "boxes.xml"
        path.write_text(text)
        model = hs.load(path)
    rng = np.random.default_rng(0)
    q, qd = np.zeros((count, 7)), np.zeros((count, 6))
    side = int(np.ceil(np.sqrt(count)))
    q[:, :2] = spacing * (np.stack(np.divmod(np.arange(count), side), axis=1) - (side - 1) / 2)
    q[:, 2] = 0.6 * SIDE
    q[:, 3:] = Rotation.from_rotvec(rng.uniform(-0.05, 0.05, (count, 3))).as_quat(scalar_first=True)
    qd[:, 3:5] = -SPEED * q[:, :2] / max(np.abs(q[:, :2]).max(), SIDE)
    name = f"{count} box{'es' if count > 1 else ''}{', apart' if spacing == APART else ''}"
    return Scene(name, model, text, q.ravel(), qd.ravel(), steps=STEPS)
