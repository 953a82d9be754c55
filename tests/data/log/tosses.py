"""Logs of a brick that is tossed onto a floor, simulated, as poses alone."""

from functools import cache

import numpy as np

import hybridsim as hs

HALF = (0.05, 0.04, 0.03)
URDF = """<robot name="brick"><link name="brick">
  <inertial><mass value="0.5"/><inertia ixx="4.2e-4" iyy="5.7e-4" izz="6.8e-4" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><geometry><box size="0.1 0.08 0.06"/></geometry></collision></link></robot>"""
DT = 5e-3
COLUMNS = "t,x,y,z,qw,qx,qy,qz"


def brick() -> hs.Model:
    return hs.free_body(hs.solid("brick", 0.5, "box", HALF))


@cache
def _rollout():
    def run(model, q, qd):
        motion = hs.rollout(model, (q, qd), dt=DT / 2, steps=320)
        return motion.q[::2], motion.qd[::2]

    return hs.native.jit(run)


def toss(
    seed: int, height: float = 0.0, friction: float = 0.3, restitution: float = 0.2
) -> tuple[np.ndarray, np.ndarray]:
    """Poses (xyz, quaternion wxyz) and velocities (angular, linear, in the body) of 0.8 s, one row every DT."""
    rng = np.random.default_rng(seed)
    model = hs.world(brick(), hs.ground(height))
    model = hs.with_contacts(model, friction=friction, restitution=restitution)
    q, qd = model.rest()
    q[2], q[3:] = height + 0.2, rng.normal(size=4)
    q[3:] /= np.linalg.norm(q[3:])
    qd[:3], qd[3:] = rng.uniform(-6, 6, 3), rng.uniform(-1, 1, 3)
    poses, velocities = _rollout()(model, q, qd)
    return np.array(poses), np.array(velocities)


def written(path, poses: np.ndarray, header: str = COLUMNS, order=range(7), extra: np.ndarray | None = None):
    """A CSV file of poses, with their seven numbers in this order."""
    parts = [DT * np.arange(len(poses))[:, None], poses[:, list(order)], *([] if extra is None else [extra])]
    np.savetxt(path, np.concatenate(parts, axis=1), "%.9g", ",", header=header, comments="")
    return path
