"""Pinocchio as a witness: the same mechanism in its own joints, its answers in our conventions.

A joint of ours is a placement, an anchor and a motion about it; in Pinocchio the placement of a joint is
followed at once by its motion, so what comes after one motion is carried to the next joint or link.
Pinocchio's free joint is position and quaternion xyzw, its velocity linear then angular in the body; its
planar joint is (x, y, cos, sin), its velocity in the body.
"""

import numpy as np
import pinocchio as pin

from hybridsim.model import WORLD, Joint, Spec

from ..mechanisms import joints_of, layout
from .oracle import IDENTITY, Energy, Momentum, Pose, VelocityMap, block_map, plane_frame, rotation, unit


class PinocchioOracle:
    def __init__(self, spec: Spec):
        self.slots = layout(spec)
        self.model = pin.Model()
        self.model.gravity.linear = np.asarray(spec.gravity)
        self._joints: dict[str, list[int]] = {}
        self._attach(spec, WORLD, 0, IDENTITY)
        self.data = self.model.createData()

    def _attach(self, spec: Spec, parent: str, carrier: int, offset: Pose) -> None:
        for child in dict.fromkeys(joint.child for joint in spec.joints if joint.parent == parent):
            last, rest = carrier, offset
            for joint in joints_of(spec, child):
                last, rest = self._add_joint(joint, last, rest)
            link = next(link for link in spec.links if link.name == child)
            if link.mass:
                inertia = pin.Inertia(link.mass, np.asarray(link.com), np.asarray(link.inertia))
                self.model.appendBodyToJoint(last, inertia, _se3(rest))
            self.model.addFrame(pin.Frame(child, last, 0, _se3(rest), pin.OP_FRAME))
            self._attach(spec, child, last, rest)

    def _add_joint(self, joint: Joint, carrier: int, offset: Pose) -> tuple[int, Pose]:
        """The joint that carries what follows, and where that lies in it."""
        placed = offset @ Pose(rotation(joint.quaternion), np.asarray(joint.position))
        if joint.kind == "fixed":
            self._joints[joint.name] = []
            return carrier, placed
        # The planar joint moves along its own x and y.
        axes = plane_frame(joint.axis) if joint.kind == "planar" else np.eye(3)
        X_child_joint = Pose(axes, np.asarray(joint.anchor))
        placement, ids = placed @ X_child_joint, []
        for k, motion in enumerate(_motions(joint)):
            carrier = self.model.addJoint(carrier, motion, _se3(placement), f"{joint.name}/{k}")
            placement = IDENTITY
            ids.append(carrier)
        self._joints[joint.name] = ids
        armature = np.asarray(joint.armature)
        first = self.model.joints[ids[0]].idx_v
        self.model.armature[first : first + len(armature)] = _in_their_order(joint, armature)
        return carrier, X_child_joint.inverse()

    def configuration(self, q: np.ndarray) -> np.ndarray:
        out = np.zeros(self.model.nq)
        for joint, where, _ in self.slots:
            if ids := self._joints[joint.name]:
                numbers = _configuration(joint, q[where], len(ids))
                first = self.model.joints[ids[0]].idx_q
                out[first : first + len(numbers)] = numbers
        return out

    def velocity_map(self, q: np.ndarray, qd: np.ndarray) -> VelocityMap:
        moving = [slot for slot in self.slots if self._joints[slot.joint.name]]
        starts = [self.model.joints[self._joints[slot.joint.name][0]].idx_v for slot in moving]
        rows = [slice(i, i + slot.v.stop - slot.v.start) for i, slot in zip(starts, moving, strict=True)]
        blocks = [_velocity_block(s.joint, q[s.q], qd[s.v], len(self._joints[s.joint.name])) for s in moving]
        return block_map(rows, [slot.v for slot in moving], blocks)

    def forward_kinematics(self, q: np.ndarray) -> dict[str, Pose]:
        pin.framesForwardKinematics(self.model, self.data, self.configuration(q))
        frames = [(frame.name, X) for frame, X in zip(self.model.frames, self.data.oMf, strict=True)]
        return {name: Pose(X.rotation.copy(), X.translation.copy()) for name, X in frames}

    def jacobian(self, q: np.ndarray, link: str) -> np.ndarray:
        frame = self.model.getFrameId(link)
        J = pin.computeFrameJacobian(self.model, self.data, self.configuration(q), frame, pin.LOCAL_WORLD_ALIGNED)
        J = J.reshape(6, self.model.nv)  # Of one column it makes a vector.
        J = self.velocity_map(q, np.zeros(self.model.nv)).our_jacobian(J)
        return np.concatenate([J[3:], J[:3]])

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        M = np.triu(pin.crba(self.model, self.data, self.configuration(q)).reshape(self.model.nv, self.model.nv))
        M = M + np.triu(M, 1).T
        return self.velocity_map(q, np.zeros(self.model.nv)).our_inertia(M)

    def inverse_dynamics(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        to = self.velocity_map(q, qd)
        tau = pin.rnea(self.model, self.data, self.configuration(q), to.velocity(qd), to.acceleration(qdd))
        return to.our_force(tau)

    def forward_dynamics(self, q: np.ndarray, qd: np.ndarray, tau: np.ndarray, wrenches=None) -> np.ndarray:
        """By its mass matrix. Its ABA loses digits in long chains: of a hundred links it leaves a residual
        M qdd + h - tau of 3e-11 relative (in world axes 7e-7), where this, MuJoCo and we leave 1e-14.
        """
        to, q_pin = self.velocity_map(q, qd), self.configuration(q)
        forces = self._joint_forces(q_pin, wrenches or {})
        bias = pin.rnea(self.model, self.data, q_pin, to.velocity(qd), np.zeros(self.model.nv), forces)
        pin.crba(self.model, self.data, q_pin)
        pin.cholesky.decompose(self.model, self.data)
        return to.our_acceleration(pin.cholesky.solve(self.model, self.data, to.force(tau) - bias))

    def _joint_forces(self, q_pin: np.ndarray, wrenches: dict[str, np.ndarray]) -> pin.StdVec_Force:
        pin.framesForwardKinematics(self.model, self.data, q_pin)
        forces = pin.StdVec_Force([pin.Force.Zero() for _ in range(self.model.njoints)])
        for name, wrench in wrenches.items():
            index = self.model.getFrameId(name)
            frame = self.model.frames[index]
            turn = self.data.oMf[index].rotation.T
            forces[frame.parentJoint] += frame.placement.act(pin.Force(turn @ wrench[3:], turn @ wrench[:3]))
        return forces

    def energy(self, q: np.ndarray, qd: np.ndarray) -> Energy:
        """Potential of gravity only, and without links that are fixed to the world."""
        q_pin, v_pin = self.configuration(q), self.velocity_map(q, qd).velocity(qd)
        # Pinocchio 4.1 counts the rotors of most joints, but not of a RevoluteUnaligned: leave them out, then add all.
        links = self.model.copy()
        links.armature = np.zeros(self.model.nv)
        kinetic = pin.computeKineticEnergy(links, self.data, q_pin, v_pin) + v_pin**2 @ self.model.armature / 2
        return Energy(kinetic, pin.computePotentialEnergy(self.model, self.data, q_pin))

    def momentum(self, q: np.ndarray, qd: np.ndarray) -> Momentum:
        q_pin, v_pin = self.configuration(q), self.velocity_map(q, qd).velocity(qd)
        if self.model.njoints == 1:
            return Momentum(np.zeros(3), np.zeros(3))  # Nothing moves, and Pinocchio divides by no mass.
        h = pin.computeCentroidalMomentum(self.model, self.data, q_pin, v_pin)
        return Momentum(h.linear.copy(), h.angular + np.cross(self.data.com[0], h.linear))


def _se3(pose: Pose) -> pin.SE3:
    return pin.SE3(pose.rotation, pose.position)


def _in_their_order(joint: Joint, numbers: np.ndarray) -> np.ndarray:
    """Numbers of a joint's freedoms; of a free joint linear first."""
    return np.concatenate([numbers[3:], numbers[:3]]) if joint.kind == "free" else numbers


def _motions(joint: Joint) -> list[pin.JointModel]:
    match joint.kind:
        case "revolute" | "continuous":
            return [pin.JointModelRevoluteUnaligned(unit(joint.axis))]
        case "prismatic":
            return [pin.JointModelPrismaticUnaligned(unit(joint.axis))]
        case "spherical":
            return [pin.JointModelSpherical()]
        case "free":
            return [pin.JointModelFreeFlyer()]
        case "planar" if np.any(joint.armature):
            # Armature acts on accelerations in the plane's axes, which Pinocchio's planar joint does not have.
            return [pin.JointModelPX(), pin.JointModelPY(), pin.JointModelRZ()]
        case "planar":
            return [pin.JointModelPlanar()]
    raise ValueError(joint.kind)


def _configuration(joint: Joint, q: np.ndarray, parts: int) -> np.ndarray:
    match joint.kind:
        case "spherical":
            return np.roll(q, -1)
        case "free":
            return np.concatenate([q[:3], np.roll(q[3:], -1)])
        case "planar" if parts == 1:
            return np.array([q[0], q[1], np.cos(q[2]), np.sin(q[2])])
    return q


def _velocity_block(joint: Joint, q: np.ndarray, v: np.ndarray, parts: int) -> tuple[np.ndarray, np.ndarray]:
    match joint.kind:
        case "free":
            return np.eye(6)[[3, 4, 5, 0, 1, 2]], np.zeros(6)
        case "planar" if parts == 1:
            c, s = np.cos(q[2]), np.sin(q[2])
            to_body = np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]])
            rate = v[2] * np.array([[-s, c, 0], [-c, -s, 0], [0, 0, 0]])
            return to_body, rate @ v
    return np.eye(len(v)), np.zeros(len(v))
