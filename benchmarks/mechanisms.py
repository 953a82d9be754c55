"""The mechanisms that are measured, built in code; `mjcf` gives them to the rivals."""

import numpy as np
from model_mjcf import mjcf

import hybridsim as hs

__all__ = ["arm", "mechanisms", "mjcf", "quadruped", "random_state"]

LEG = (("hip", (1, 0, 0), 0.7, 0.05), ("thigh", (0, 1, 0), 1.0, 0.2), ("shank", (0, 1, 0), 0.25, 0.2))
"""Of each leg's link: name, joint axis, mass [kg], length [m]."""

ARM = (
    ((0, 0, 1), 3.4, 0.28),
    ((0, 1, 0), 3.5, 0.18),
    ((0, 0, 1), 2.9, 0.22),
    ((0, -1, 0), 2.7, 0.20),
    ((0, 0, 1), 1.7, 0.19),
    ((0, 1, 0), 1.4, 0.10),
    ((0, 0, 1), 0.4, 0.06),
)
"""Of each link: joint axis, mass [kg], length [m]."""


def quadruped() -> hs.Model:
    """A floating trunk and four legs of three joints: 18 degrees of freedom."""
    links = [hs.solid("trunk", 6.0, "box", (0.19, 0.05, 0.06))]
    joints = [hs.Joint("root", "free", "world", "trunk")]
    for leg, x, y in (("fl", 0.19, 0.05), ("fr", 0.19, -0.05), ("rl", -0.19, 0.05), ("rr", -0.19, -0.05)):
        parent, place = "trunk", (x, y, 0.0)
        for part, axis, mass, length in LEG:
            name = f"{leg}_{part}"
            links.append(hs.solid(name, mass, "capsule", (0.02, length / 2), (0.0, 0.0, -length / 2)))
            joints.append(hs.Joint(f"{name}_joint", "revolute", parent, name, position=place, axis=axis, armature=0.01))
            parent, place = name, (0.0, 0.0, -length)
    return hs.build(links, joints, source="quadruped")


def arm() -> hs.Model:
    """Seven revolute joints in a row about alternating axes."""
    links, joints, parent, place = [], [], "world", (0.0, 0.0, 0.0)
    for i, (axis, mass, length) in enumerate(ARM, start=1):
        link = hs.solid(f"link{i}", mass, "capsule", (0.05, length / 2), (0.0, 0.0, length / 2))
        links.append(link)
        joints.append(hs.Joint(f"joint{i}", "revolute", parent, link.name, position=place, axis=axis, armature=0.05))
        parent, place = link.name, (0.0, 0.0, length)
    return hs.build(links, joints, source="arm")


def mechanisms() -> dict[str, hs.Model]:
    """All mechanisms by the names that the results use."""
    chains = {f"chain of {n}": hs.chain(n, length=0.5, radius=0.03) for n in (2, 5, 12)}
    return {**chains, "arm, 7 joints": arm(), "quadruped, 18 dof": quadruped()}


def random_state(model: hs.Model, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(q, qd, tau) with joints moved by up to half a radian."""
    rng = np.random.default_rng(seed)
    q, _ = model.rest()
    q = q + rng.uniform(-0.5, 0.5, model.nq)
    for name, kind in zip(model.joint_names, model.topology.kinds, strict=True):
        if kind.name == "free":
            quaternion = model.q_of(name).start + 3 + np.arange(4)
            q[quaternion] /= np.linalg.norm(q[quaternion])
    return q, rng.uniform(-1, 1, model.nv), rng.uniform(-1, 1, model.nv)
