"""Measured pushes of flat objects: the tip moves as recorded, and the grid under the object hardly matters."""

import numpy as np
import pytest
from scipy.spatial import ConvexHull

import hybridsim as hs
from hybridsim.data import push_runs, read_push, read_push_outline
from hybridsim.data.mcube_push import PUSHED_OBJECTS, THICKNESS, TIP_RADIUS

pytestmark = [pytest.mark.real_data, pytest.mark.slow]

DT = 5e-4
RULES = hs.ContactByPair(
    {("tip", "outline"): hs.Impulses(), ("grid", "ground"): hs.Springs(hs.HuntCrossley(), hs.Coulomb())}
)
RUN = hs.native.jit(lambda model, start, control: hs.rollout(model, start, control, dt=DT, contact=RULES)[-1].q)


def scene(shape: str, spacing: float) -> hs.Model:
    """An object on springs, and a tip that is prescribed."""
    body, outline = PUSHED_OBJECTS[shape], read_push_outline(shape)
    corners = outline[:: max(1, len(outline) // 36)]
    corners = corners[ConvexHull(corners).vertices]
    grid = hs.contact_grid(corners, -THICKNESS / 2, spacing)
    edge = hs.Geom("prism", size=THICKNESS / 2, points=np.pad(corners, ((0, 0), (0, 1))), name="outline")
    inertia = body.inertia * np.array([0.5, 0.5, 1.0])
    link = hs.Link("object", body.mass, inertia=inertia, geoms=[grid, edge])
    tip = hs.build(
        [hs.solid("tip", 1.0, "cylinder", (TIP_RADIUS, 0.05))],
        [hs.Joint("tip", "planar", "world", "tip", position=(0, 0, THICKNESS / 2))],
    )
    stiffness = body.mass * 9.81 / 1e-4**1.5  # it carries the object 0.1 mm deep
    world = hs.prescribed(hs.world(hs.free_body(link), tip, hs.ground()), "tip")
    return hs.with_contacts(
        world,
        [("tip", "outline"), ("grid", "ground")],
        friction=[0.25, 0.15],
        transition_speed=0.005,
        stiffness=stiffness,
        dissipation=stiffness,
    )


def end(push, spacing: float) -> tuple[np.ndarray, float]:
    """Position [m] and yaw [rad] of the object after the stroke."""
    model = scene(push.shape, spacing)
    stroke = push.tip_time <= push.tip_time[0] + 0.5 + 0.055 / push.speed
    path = np.pad(push.tip_position[stroke], ((0, 0), (0, 1)))
    motion = hs.prescribed_motion(model, push.tip_time[stroke], {"tip": path}, dt=DT)
    q, qd = model.rest()
    yaw = push.object_yaw[0]
    q[:7] = [*push.object_position[0], THICKNESS / 2 - 1e-4, np.cos(yaw / 2), 0, 0, np.sin(yaw / 2)]
    found = np.asarray(RUN(model, motion.start(model, (q, qd)), hs.Control(prescribed=motion.steps)))
    return found[:2], 2 * np.arctan2(found[6], found[3])


@pytest.mark.filterwarnings("ignore::hybridsim.ModelWarning")
@pytest.mark.parametrize("shape", ["rect1", "hex", "ellip3"])
def test_a_coarse_and_a_fine_grid_move_alike(shape, real_data):
    fast = [name for name in push_runs() if f"shape={shape}_" in name and "v=20_" not in name]
    push = read_push(fast[len(fast) // 2])
    (fine, fine_yaw), (coarse, coarse_yaw) = end(push, 0.012), end(push, 0.02)
    assert np.linalg.norm(fine - push.object_position[0]) > 2e-3
    assert np.linalg.norm(fine - coarse) < 0.5e-3
    assert abs(fine_yaw - coarse_yaw) < np.radians(0.5)
