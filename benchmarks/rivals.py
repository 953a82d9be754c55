"""MuJoCo and Pinocchio on the same mechanisms, with the same order of coordinates."""

import tempfile
from collections.abc import Callable
from pathlib import Path

import mujoco
import mujoco.rollout
import numpy as np
import pinocchio

STATE = mujoco.mjtState.mjSTATE_FULLPHYSICS


class MuJoCo:
    """Accelerations, and rollouts by MuJoCo's own C loop."""

    def __init__(self, text: str):
        self.model = mujoco.MjModel.from_xml_string(text)
        self.data = mujoco.MjData(self.model)
        free = np.flatnonzero(self.model.jnt_type == mujoco.mjtJoint.mjJNT_FREE)
        self.free = [(int(self.model.jnt_qposadr[j]), int(self.model.jnt_dofadr[j])) for j in free]
        """Of each free joint, where it begins in q and in qd."""

    def set_state(self, q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> None:
        """Forces as ours: for a free joint angular, then linear in the body."""
        self.data.qpos[:] = q
        self.data.qvel[:] = self.velocity(q, qd)
        self.data.qfrc_applied[:] = self.velocity(q, tau)

    def velocity(self, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """Our free velocity is angular then linear in the body; MuJoCo's is linear in the world, then angular."""
        moved = np.array(qd, dtype=float)
        for at, v in self.free:
            moved[v : v + 6] = np.concatenate([_rotation(q[at:]) @ qd[v + 3 : v + 6], qd[v : v + 3]])
        return moved

    def accelerations(self) -> np.ndarray:
        """In our order. The world's rate of velocity is R (a + w x v) of the body's."""
        mujoco.mj_forward(self.model, self.data)
        a, qvel = self.data.qacc.copy(), self.data.qvel
        for at, i in self.free:
            R, w, v = _rotation(self.data.qpos[at:]), qvel[i + 3 : i + 6], qvel[i : i + 3]
            a[i : i + 6] = np.concatenate([a[i + 3 : i + 6], R.T @ a[i : i + 3] - np.cross(w, R.T @ v)])
        return a

    def forward(self) -> Callable[[], None]:
        return lambda: mujoco.mj_forward(self.model, self.data)

    def rollout(
        self, q: np.ndarray, qd: np.ndarray, steps: int, threads: int = 1, controls: np.ndarray | None = None
    ) -> Callable[[], np.ndarray]:
        """Positions after each step, from one state or from one a row. What it writes is allocated once.

        `controls` has one row a step, the same from all states.
        """
        q, qd = np.atleast_2d(q), np.atleast_2d(qd)
        start = np.zeros((len(q), mujoco.mj_stateSize(self.model, STATE)))
        for row, q_row, qd_row in zip(start, q, qd, strict=True):
            self.set_state(q_row, qd_row, np.zeros(self.model.nv))
            mujoco.mj_getState(self.model, self.data, row, STATE)
        states = np.zeros((len(q), steps, start.shape[1]))
        data = [mujoco.MjData(self.model) for _ in range(threads)]
        options = {"nstep": steps, "state": states, "persistent_pool": threads > 1}

        if controls is not None:
            options["control"] = np.tile(controls, (len(q), 1, 1))

        def run() -> np.ndarray:
            mujoco.rollout.rollout(self.model, data, start, **options)
            return states[:, :, 1 : 1 + self.model.nq]

        return run


class Pinocchio:
    """Accelerations by the articulated-body algorithm, called from Python."""

    def __init__(self, text: str):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "mechanism.xml"
            path.write_text(text)
            self.model = pinocchio.buildModelFromMJCF(str(path))
        self.data = self.model.createData()
        self.free = self.model.nq != self.model.nv

    def state(self, q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Pinocchio's quaternion ends with w, and its free velocity is linear, then angular, in the body."""
        if not self.free:
            return q, qd, tau
        turned = np.concatenate([q[:3], q[4:7], q[3:4], q[7:]])
        return turned, *(np.concatenate([x[3:6], x[:3], x[6:]]) for x in (qd, tau))

    def accelerations(self, q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> np.ndarray:
        a = pinocchio.aba(self.model, self.data, *self.state(q, qd, tau)).copy()
        return np.concatenate([a[3:6], a[:3], a[6:]]) if self.free else a

    def forward(self, q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> Callable[[], object]:
        state = self.state(q, qd, tau)
        return lambda: pinocchio.aba(self.model, self.data, *state)


def _rotation(q: np.ndarray) -> np.ndarray:
    """Of a free joint whose numbers q begins with."""
    R = np.zeros(9)
    mujoco.mju_quat2Mat(R, q[3:7])
    return R.reshape(3, 3)
