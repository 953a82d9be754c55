"""MuJoCo as a witness: the same mechanism in its own format, its answers in our conventions.

All joints of a MuJoCo body are given in the axes of the body, ours each in its own: a joint of ours that is
followed by a placement D on the same body becomes D^-1 (motion) D, that is, its axis and anchor are seen
from behind D. A planar joint is two slides and a hinge. A free joint's position is that of the body in the
world and its velocity is linear in world axes, then angular in the body.
"""

import mujoco
import numpy as np

from hybridsim.model import WORLD, Joint, Spec

from ..mechanisms import SIZES, joints_of, layout
from .oracle import IDENTITY, Energy, Momentum, Pose, VelocityMap, block_map, plane_frame, quaternion, rotation, unit

HINGE, SLIDE = mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE
BALL, FREE = mujoco.mjtJoint.mjJNT_BALL, mujoco.mjtJoint.mjJNT_FREE
DISABLE = mujoco.mjtDisableBit
SPRINGS = DISABLE.mjDSBL_SPRING | DISABLE.mjDSBL_DAMPER


class MujocoOracle:
    def __init__(self, spec: Spec):
        self.slots = layout(spec)
        self._behind: dict[str, Pose] = {}
        world = mujoco.MjSpec()
        self._attach(spec, WORLD, world.worldbody)
        self.model = world.compile()
        self.model.opt.gravity = spec.gravity
        self.model.opt.disableflags |= DISABLE.mjDSBL_CONSTRAINT | SPRINGS
        self.model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
        for slot in self.slots:
            self._set_numbers(slot.joint)
        self.data = mujoco.MjData(self.model)

    def _attach(self, spec: Spec, parent: str, parent_body) -> None:
        for child in dict.fromkeys(joint.child for joint in spec.joints if joint.parent == parent):
            joints = joints_of(spec, child)
            placement = IDENTITY
            for joint in reversed(joints):
                self._behind[joint.name] = placement
                placement = Pose(rotation(joint.quaternion), np.asarray(joint.position)) @ placement
            body = parent_body.add_body(name=child, pos=placement.position, quat=quaternion(placement.rotation))
            self._set_inertia(body, next(link for link in spec.links if link.name == child))
            for joint in joints:
                self._add_joint(body, joint)
            self._attach(spec, child, body)

    def _set_inertia(self, body, link) -> None:
        body.explicitinertial = True
        body.mass, body.ipos = link.mass, link.com
        if link.mass:
            moments, axes = np.linalg.eigh(link.inertia)
            axes[:, 0] *= np.linalg.det(axes)
            body.inertia, body.iquat = moments, quaternion(axes)

    def _add_joint(self, body, joint: Joint) -> None:
        behind = self._behind[joint.name].inverse()
        anchor = behind.rotation @ joint.anchor + behind.position
        rotor = np.max(joint.armature, initial=0.0)  # Until `_set_numbers`: compiling asks for a regular inertia.
        for k, (kind, axis) in enumerate(_motions(joint)):
            body.add_joint(name=f"{joint.name}/{k}", type=kind, axis=behind.rotation @ axis, pos=anchor, armature=rotor)

    def _set_numbers(self, joint: Joint) -> None:
        """Those that MjSpec has one of for each joint, MjModel one for each freedom."""
        armature, damping = (_in_their_order(joint, np.asarray(value)) for value in (joint.armature, joint.damping))
        model, first = self.model, 0
        spring_rest = self._configuration(joint, np.asarray(joint.spring_rest))
        for k, part in enumerate(self._parts(joint)):
            nq, nv = (1, 1) if joint.kind == "planar" else SIZES[joint.kind]
            v, q = part.dofadr[0], part.qposadr[0]
            model.dof_armature[v : v + nv] = armature[first : first + nv]
            model.dof_damping[v : v + nv] = damping[first : first + nv]
            model.jnt_stiffness[part.id] = np.asarray(joint.stiffness)[k]
            model.qpos_spring[q : q + nq] = spring_rest[k : k + nq]
            first += nv

    def _parts(self, joint: Joint) -> list:
        return [self.model.joint(f"{joint.name}/{k}") for k in range(len(_motions(joint)))]

    def _placed(self, joint: Joint, q: np.ndarray) -> Pose:
        """Pose of a free body in the world."""
        placement = Pose(rotation(joint.quaternion), np.asarray(joint.position))
        return placement @ Pose(rotation(q[3:]), q[:3])

    def _configuration(self, joint: Joint, q: np.ndarray) -> np.ndarray:
        if joint.kind == "free":
            pose = self._placed(joint, q)
            return np.concatenate([pose.position, quaternion(pose.rotation)])
        if joint.kind == "spherical":
            turn = self._behind[joint.name].rotation
            return quaternion(turn.T @ rotation(q) @ turn)
        return q

    def configuration(self, q: np.ndarray) -> np.ndarray:
        out = np.zeros(self.model.nq)
        for joint, where, _ in self.slots:
            if parts := self._parts(joint):
                first, numbers = parts[0].qposadr[0], self._configuration(joint, q[where])
                out[first : first + len(numbers)] = numbers
        return out

    def velocity_map(self, q: np.ndarray, qd: np.ndarray) -> VelocityMap:
        moving = [slot for slot in self.slots if self._parts(slot.joint)]
        starts = [self._parts(slot.joint)[0].dofadr[0] for slot in moving]
        rows = [slice(i, i + slot.v.stop - slot.v.start) for i, slot in zip(starts, moving, strict=True)]
        return block_map(rows, [s.v for s in moving], [self._velocity_block(s.joint, q[s.q], qd[s.v]) for s in moving])

    def _velocity_block(self, joint: Joint, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if joint.kind == "free":
            R, zero = self._placed(joint, q).rotation, np.zeros((3, 3))
            return np.block([[zero, R], [np.eye(3), zero]]), np.concatenate([R @ np.cross(v[:3], v[3:]), np.zeros(3)])
        if joint.kind == "spherical":
            return self._behind[joint.name].rotation.T, np.zeros(3)
        return np.eye(len(v)), np.zeros(len(v))

    def _set(self, q: np.ndarray, qd: np.ndarray) -> VelocityMap:
        mujoco.mj_resetData(self.model, self.data)
        to = self.velocity_map(q, qd)
        self.data.qpos, self.data.qvel = self.configuration(q), to.velocity(qd)
        return to

    def forward_kinematics(self, q: np.ndarray) -> dict[str, Pose]:
        self._set(q, np.zeros(self.model.nv))
        mujoco.mj_kinematics(self.model, self.data)
        bodies = [self.data.body(i) for i in range(1, self.model.nbody)]
        return {body.name: Pose(body.xmat.reshape(3, 3).copy(), body.xpos.copy()) for body in bodies}

    def jacobian(self, q: np.ndarray, link: str) -> np.ndarray:
        to = self._set(q, np.zeros(self.model.nv))
        mujoco.mj_fwdPosition(self.model, self.data)
        angular, linear = np.zeros((3, self.model.nv)), np.zeros((3, self.model.nv))
        mujoco.mj_jacBody(self.model, self.data, linear, angular, self.model.body(link).id)
        return to.our_jacobian(np.concatenate([angular, linear]))

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        to = self._set(q, np.zeros(self.model.nv))
        mujoco.mj_fwdPosition(self.model, self.data)
        M = np.zeros((self.model.nv, self.model.nv))
        mujoco.mj_fullM(self.model, self.data, M)
        return to.our_inertia(M)

    def inverse_dynamics(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        to = self._set(q, qd)
        self.data.qacc = to.acceleration(qdd)
        mujoco.mj_inverse(self.model, self.data)
        return to.our_force(self.data.qfrc_inverse)

    def forward_dynamics(self, q: np.ndarray, qd: np.ndarray, tau: np.ndarray, wrenches=None) -> np.ndarray:
        to = self._set(q, qd)
        self.data.qfrc_applied = to.force(tau)
        mujoco.mj_kinematics(self.model, self.data)
        for name, wrench in (wrenches or {}).items():
            body = self.data.body(name)
            moment = wrench[:3] + np.cross(body.xpos - body.xipos, wrench[3:])
            body.xfrc_applied = np.concatenate([wrench[3:], moment])
        mujoco.mj_forward(self.model, self.data)
        return to.our_acceleration(self.data.qacc)

    def passive_forces(self, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        """Of springs and dampers."""
        self.model.opt.disableflags &= ~SPRINGS
        to = self._set(q, qd)
        mujoco.mj_forward(self.model, self.data)
        self.model.opt.disableflags |= SPRINGS
        return to.our_force(self.data.qfrc_passive)

    def energy(self, q: np.ndarray, qd: np.ndarray) -> Energy:
        """Potential of gravity and springs, with links that are fixed to the world."""
        self.model.opt.disableflags &= ~SPRINGS
        self._set(q, qd)
        mujoco.mj_forward(self.model, self.data)
        self.model.opt.disableflags |= SPRINGS
        potential, kinetic = self.data.energy
        return Energy(kinetic, potential)

    def momentum(self, q: np.ndarray, qd: np.ndarray) -> Momentum:
        self._set(q, qd)
        mujoco.mj_forward(self.model, self.data)
        mujoco.mj_subtreeVel(self.model, self.data)
        linear = self.data.subtree_linvel[0] * self.model.body_subtreemass[0]
        return Momentum(linear, self.data.subtree_angmom[0] + np.cross(self.data.subtree_com[0], linear))


def _in_their_order(joint: Joint, numbers: np.ndarray) -> np.ndarray:
    """Numbers of a joint's freedoms; of a free joint linear first."""
    return np.concatenate([numbers[3:], numbers[:3]]) if joint.kind == "free" else numbers


def _motions(joint: Joint) -> list[tuple[int, np.ndarray]]:
    """The MuJoCo joints, with axes in our child frame."""
    match joint.kind:
        case "fixed":
            return []
        case "revolute" | "continuous":
            return [(HINGE, unit(joint.axis))]
        case "prismatic":
            return [(SLIDE, unit(joint.axis))]
        case "planar":
            x, y, z = plane_frame(joint.axis).T
            return [(SLIDE, x), (SLIDE, y), (HINGE, z)]
        case "spherical":
            return [(BALL, np.array([0.0, 0.0, 1.0]))]
        case "free":
            return [(FREE, np.array([0.0, 0.0, 1.0]))]
    raise ValueError(joint.kind)
