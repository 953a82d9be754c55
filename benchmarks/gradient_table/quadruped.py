"""A quadruped built in code: a trunk, four legs of three hinges, a ball for each foot, a servo for each hinge."""

import numpy as np

import hybridsim as hs

STANCE = (0.05, 0.8, -1.6)
"""Angles of abduction, hip and knee in which it stands [rad]."""
LEGS = {"fl": (0.19, 0.05, 1), "fr": (0.19, -0.05, -1), "rl": (-0.19, 0.05, 1), "rr": (-0.19, -0.05, -1)}
LENGTH, FOOT = 0.2, 0.02
"""Of thigh and of shank, and radius of a foot [m]."""
FEET = [("*_foot", "ground")]
"""What may touch."""


def standing() -> tuple[hs.Model, np.ndarray, np.ndarray]:
    """The robot, q in which all feet touch the ground at height 0, and the servos' commands."""
    links, joints = [hs.solid("trunk", 5.0, "box", (0.19, 0.05, 0.06))], [hs.Joint("root", "free", "world", "trunk")]
    for leg, (x, y, side) in LEGS.items():
        thigh, shank = (_rod(f"{leg}_{part}", mass) for part, mass in (("thigh", 0.95), ("shank", 0.15)))
        foot = hs.Geom("sphere", FOOT, (0.0, 0.0, -LENGTH), friction=0.8, name=f"{leg}_foot")
        shank = hs.Link(shank.name, shank.mass, shank.com, shank.inertia, (*shank.geoms, foot))
        links += [hs.solid(f"{leg}_hip", 0.6, "sphere", 0.04), thigh, shank]
        for part, axis, parent, child, place in (
            ("abduction", (1, 0, 0), "trunk", f"{leg}_hip", (x, y, 0.0)),
            ("hip", (0, 1, 0), f"{leg}_hip", thigh.name, (0.0, 0.08 * side, 0.0)),
            ("knee", (0, 1, 0), thigh.name, shank.name, (0.0, 0.0, -LENGTH)),
        ):
            numbers = {"position": place, "axis": axis, "armature": 0.01, "damping": 0.1}
            joints.append(hs.Joint(f"{leg}_{part}", "revolute", parent, child, **numbers))
    servos = [hs.Actuator.position(joint.name, joint.name, kp=100.0, kv=2.0) for joint in joints[1:]]
    robot = hs.build(links, joints, servos, source="quadruped")

    angles = np.concatenate([np.array(STANCE) * (side, 1, 1) for _, _, side in LEGS.values()])
    q = np.concatenate([[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], angles])
    poses = hs.forward_kinematics(robot, q)
    heights = [float(poses[f"{leg}_shank"].apply(np.array([0.0, 0.0, -LENGTH]))[2]) for leg in LEGS]
    q[2] = FOOT - min(heights)
    return robot, q, angles + 0.02 * np.sin(np.arange(len(angles)))


def _rod(name: str, mass: float) -> hs.Link:
    return hs.solid(name, mass, "capsule", (0.02, LENGTH / 2 - 0.02), (0.0, 0.0, -LENGTH / 2))
