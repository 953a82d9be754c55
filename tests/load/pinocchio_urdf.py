"""Pinocchio as a witness: it reads the same URDF by itself (by urdfdom), and answers in our conventions.

Only joint names, their kinds and places in q and qd are taken from the model under test.
"""

from pathlib import Path

import numpy as np
import pinocchio as pin

from hybridsim.model import Model

ANGULAR_FIRST = [3, 4, 5, 0, 1, 2]


class PinocchioUrdf:
    """A file as Pinocchio reads it. Mimic joints move by themselves; joints that are fixed in our model are locked."""

    def __init__(self, path: Path, ours: Model, base: str = "fixed"):
        root = [pin.JointModelFreeFlyer()] if base == "free" else []
        self.ours = ours
        self.moving = [name for name, kind in zip(ours.joint_names, ours.topology.kinds, strict=True) if kind.nv]
        self.model = pin.buildModelFromUrdf(str(path), *root)
        if locked := [name for name in self.joint_names if name not in self.moving]:
            indices = [self.model.getJointId(name) for name in locked]
            self.model = pin.buildReducedModel(self.model, indices, pin.neutral(self.model))
        self.data = self.model.createData()

    @property
    def joint_names(self) -> set[str]:
        """Of the joints in the file that move."""
        return set(self.model.names) - {"universe", "root_joint"}

    def forward_dynamics(self, q, qd, tau) -> np.ndarray:
        T = self._velocity_map()
        theirs = pin.aba(self.model, self.data, self._configuration(q), T @ qd, np.linalg.solve(T.T, tau))
        return np.linalg.solve(T, theirs)

    def inverse_dynamics(self, q, qd, qdd) -> np.ndarray:
        T = self._velocity_map()
        return T.T @ pin.rnea(self.model, self.data, self._configuration(q), T @ qd, T @ qdd)

    def mass_matrix(self, q) -> np.ndarray:
        T = self._velocity_map()
        M = pin.crba(self.model, self.data, self._configuration(q))
        return T.T @ (np.triu(M) + np.triu(M, 1).T) @ T

    def _joint(self, name: str):
        return self.model.joints[self.model.getJointId(name if self.model.existJointName(name) else "root_joint")]

    def _root_frame(self, name: str) -> pin.SE3:
        """Where a free joint of ours is placed; Pinocchio's is placed at the origin, and carries what comes before."""
        if self.model.existJointName(name):
            return pin.SE3.Identity()
        i = self.ours.topology.joint(name)
        return _pose(self.ours.joints.position[i], self.ours.joints.quaternion[i])

    def _configuration(self, q: np.ndarray) -> np.ndarray:
        out = np.zeros(self.model.nq)
        for name in self.moving:
            joint, numbers = self._joint(name), q[self.ours.q_of(name)]
            place = slice(joint.idx_q, joint.idx_q + joint.nq)
            if joint.nq == 7:
                X = self._root_frame(name)
                out[place] = pin.SE3ToXYZQUAT(X * _pose(numbers[:3], numbers[3:]) * X.inverse())
            elif joint.nq == 2:
                out[place] = np.cos(numbers[0]), np.sin(numbers[0])
            else:
                out[place] = numbers
        return out

    def _velocity_map(self) -> np.ndarray:
        """Their velocity is this times ours."""
        T = np.zeros((self.model.nv, self.model.nv))
        for name in self.moving:
            joint = self._joint(name)
            block = np.eye(joint.nv)
            if joint.nv == 6:
                block = self._root_frame(name).action[:, ANGULAR_FIRST]
            T[joint.idx_v : joint.idx_v + joint.nv, self.ours.v_of(name)] = block
        return T


def _pose(position: np.ndarray, quaternion: np.ndarray) -> pin.SE3:
    w, x, y, z = quaternion
    return pin.SE3(pin.Quaternion(w, x, y, z), np.asarray(position))
