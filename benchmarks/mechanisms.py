"""The mechanisms that are measured, built in code, and the same mechanisms as MJCF text for the rivals."""

from xml.sax.saxutils import quoteattr

import numpy as np

import hybridsim as hs

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


def mjcf(model: hs.Model, timestep: float) -> str:
    """The mechanism without shapes as MJCF: revolute and free joints."""
    topology, joints, links = model.topology, model.joints, model.links
    children: dict[int, list[int]] = {}
    for i, parent in enumerate(topology.parents):
        children.setdefault(parent, []).append(i)
    link_of = {joint: i for i, joint in enumerate(topology.link_joints)}

    def body(i: int) -> str:
        link, free = link_of[i], topology.kinds[i].name == "free"
        armature = "" if free else f' armature="{_text(joints.armature[topology.v_slices[i]])}"'
        joint = "<freejoint/>" if free else f'<joint type="hinge" axis="{_text(joints.axis[i])}"{armature}/>'
        return (
            f'<body name={quoteattr(topology.link_names[link])} pos="{_text(joints.position[i])}">{joint}'
            f'<inertial pos="{_text(links.com[link])}" mass="{_text(links.mass[link])}" '
            f'fullinertia="{_text(links.inertia[link])}"/>'
            + "".join(body(child) for child in children.get(i, []))
            + "</body>"
        )

    return (
        f'<mujoco><option timestep="{timestep!r}" gravity="{_text(model.gravity)}" integrator="Euler"/>'
        f"<worldbody>{''.join(body(i) for i in children[-1])}</worldbody></mujoco>"
    )


def _text(numbers) -> str:
    return " ".join(repr(float(x)) for x in np.ravel(numbers))
