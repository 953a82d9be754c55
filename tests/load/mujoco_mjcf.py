"""MuJoCo as a witness: the same file in its own compiler and dynamics, its answers in our conventions."""

import warnings
from pathlib import Path

import mujoco
import numpy as np

from hybridsim.load.mjcf_source import open_mjcf

OFF = mujoco.mjtDisableBit
FREE = int(mujoco.mjtJoint.mjJNT_FREE)


def compiled(path: Path) -> mujoco.MjModel:
    """MuJoCo's own reading of a file; where it gives up because a mesh or texture is missing, ours without them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = _compile_exactly(mujoco.MjSpec.from_file(str(path)))
        except ValueError:
            model = _compile_exactly(open_mjcf(path).spec)
    return model


def _compile_exactly(spec: mujoco.MjSpec) -> mujoco.MjModel:
    """MuJoCo takes a centre of mass within a micrometre of the origin to be there; not here."""
    for body in spec.bodies:
        if hasattr(body, "simple"):
            body.simple = 0
    model = spec.compile()
    model.body_sameframe[:] = 0
    return model


class MujocoFile:
    """Dynamics without constraints. A free joint's velocity is linear in world axes, then angular in the body."""

    def __init__(self, path: Path):
        self.model = compiled(path)
        self.model.opt.disableflags |= int(OFF.mjDSBL_CONSTRAINT)
        self.data = mujoco.MjData(self.model)

    def random_state(self, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """q, our qd, and joint forces."""
        rng = np.random.default_rng(seed)
        q = self.model.qpos0 + 0.7 * rng.normal(size=self.model.nq)
        mujoco.mj_normalizeQuat(self.model, q)
        return q, rng.normal(size=self.model.nv), rng.normal(size=self.model.nv)

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        self._set(q, np.zeros(self.model.nv))
        M = np.zeros((self.model.nv, self.model.nv))
        for column, unit in zip(M.T, np.eye(self.model.nv), strict=True):
            image = np.zeros(self.model.nv)
            mujoco.mj_mulM(self.model, self.data, image, unit)
            column[:] = image
        T = self._map(q)
        return T.T @ M @ T

    def forward_dynamics(self, q: np.ndarray, qd: np.ndarray, tau: np.ndarray) -> np.ndarray:
        """Without actuators, springs, dampers and fluid."""
        self._set(q, qd)
        T = self._map(q)
        qdd = np.zeros((1, self.model.nv))
        mujoco.mj_solveM(self.model, self.data, qdd, [np.linalg.solve(T.T, tau) - self.data.qfrc_bias])
        return self._our_acceleration(T, qd, qdd[0])

    def passive_forces(self, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """Springs and dampers."""
        self._set(q, qd)
        return self._map(q).T @ (self.data.qfrc_spring + self.data.qfrc_damper)

    def acceleration(self, q: np.ndarray, qd: np.ndarray, command: np.ndarray) -> np.ndarray:
        """With everything that acts but constraints and friction."""
        self._set(q, qd, command)
        return self._our_acceleration(self._map(q), qd, self.data.qacc_smooth)

    def _set(self, q: np.ndarray, qd: np.ndarray, command: np.ndarray | float = 0.0) -> None:
        self.data.qpos[:] = q
        self.data.qvel[:] = self._map(q) @ qd
        self.data.ctrl[:] = command
        mujoco.mj_forward(self.model, self.data)

    def _free(self) -> list[tuple[int, int]]:
        """Of each free joint, where it starts in q and in the velocity."""
        joints = np.flatnonzero(self.model.jnt_type == FREE)
        return [(int(self.model.jnt_qposadr[j]), int(self.model.jnt_dofadr[j])) for j in joints]

    def _map(self, q: np.ndarray) -> np.ndarray:
        """From our velocity to MuJoCo's."""
        T = np.eye(self.model.nv)
        for at, dof in self._free():
            R = np.zeros(9)
            mujoco.mju_quat2Mat(R, q[at + 3 : at + 7])
            T[dof : dof + 6, dof : dof + 6] = 0
            T[dof : dof + 3, dof + 3 : dof + 6] = R.reshape(3, 3)
            T[dof + 3 : dof + 6, dof : dof + 3] = np.eye(3)
        return T

    def _our_acceleration(self, T: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        """The linear velocity of a free body, seen from the turning body, also changes by -w x v."""
        ours = np.linalg.solve(T, qdd)
        for _, dof in self._free():
            ours[dof + 3 : dof + 6] -= np.cross(qd[dof : dof + 3], qd[dof + 3 : dof + 6])
        return ours


def error(ours: np.ndarray, theirs: np.ndarray) -> float:
    """Relative to the largest number."""
    return float(np.max(np.abs(ours - theirs), initial=0.0) / max(np.max(np.abs(theirs), initial=0.0), 1e-300))
