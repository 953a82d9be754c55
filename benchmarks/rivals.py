"""MuJoCo and Pinocchio on the same mechanisms, with the same order of coordinates."""

import tempfile
from collections.abc import Callable
from pathlib import Path

import mujoco
import mujoco.rollout
import numpy as np
import pinocchio


class MuJoCo:
    """Accelerations, and rollouts by MuJoCo's own C loop on one thread."""

    def __init__(self, text: str):
        self.model = mujoco.MjModel.from_xml_string(text)
        self.data = mujoco.MjData(self.model)
        self.free = self.model.njnt > 0 and self.model.jnt_type[0] == mujoco.mjtJoint.mjJNT_FREE

    def set_state(self, q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> None:
        """Our free velocity is angular then linear in the body; MuJoCo's is linear in the world, then angular."""
        self.data.qpos[:] = q
        self.data.qvel[:] = qd
        self.data.qfrc_applied[:] = tau
        if self.free:
            R = _rotation(q)
            self.data.qvel[:6] = np.concatenate([R @ qd[3:6], qd[:3]])
            self.data.qfrc_applied[:6] = np.concatenate([R @ tau[3:6], tau[:3]])

    def accelerations(self) -> np.ndarray:
        """In our order. The world's rate of velocity is R (a + w x v) of the body's."""
        mujoco.mj_forward(self.model, self.data)
        a = self.data.qacc.copy()
        if self.free:
            R, w, v = _rotation(self.data.qpos), self.data.qvel[3:6], self.data.qvel[:3]
            a[:6] = np.concatenate([a[3:6], R.T @ a[:3] - np.cross(w, R.T @ v)])
        return a

    def forward(self) -> Callable[[], None]:
        return lambda: mujoco.mj_forward(self.model, self.data)

    def rollout(self, steps: int) -> Callable[[], np.ndarray]:
        kind = mujoco.mjtState.mjSTATE_FULLPHYSICS
        start = np.zeros(mujoco.mj_stateSize(self.model, kind))
        mujoco.mj_getState(self.model, self.data, start, kind)
        self.data.qfrc_applied[:] = 0
        return lambda: mujoco.rollout.rollout(self.model, self.data, start[None], nstep=steps)[0]


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
    R = np.zeros(9)
    mujoco.mju_quat2Mat(R, q[3:7])
    return R.reshape(3, 3)
