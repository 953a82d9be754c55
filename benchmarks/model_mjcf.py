"""A model as MJCF text, so that MuJoCo simulates exactly the mechanism and the shapes that we loaded from another format.

Links that no joint moves relative to their parent become one body with it: MuJoCo need not carry them, and refuses some
of their inertias.
"""

from xml.sax.saxutils import quoteattr

import numpy as np
from scipy.spatial.transform import Rotation

import hybridsim as hs

SIZES = {"sphere": 1, "capsule": 2, "cylinder": 2, "box": 3, "ellipsoid": 3}
"""How many sizes MJCF wants, which are ours."""
TYPES = {"revolute": "hinge", "continuous": "hinge", "prismatic": "slide"}
XX, YY, ZZ, XY, XZ, YZ = range(6)
"""Order of the numbers of an inertia, in the model and in MJCF."""


def mjcf(model: hs.Model, timestep: float, contact: bool = False) -> str:
    """Bodies and joints with springs and dampers; with `contact` also limits, what may touch a plane, and the planes."""
    return _Writer(model, contact).text(timestep)


class _Writer:
    def __init__(self, model: hs.Model, contact: bool):
        topology = model.topology
        unknown = {kind.name for kind in topology.kinds} - {*TYPES, "free", "fixed"}
        if unknown or max(topology.mimics, default=-1) >= 0:
            raise ValueError(f"no MJCF for joints that are {', '.join(unknown) or 'copies of others'}")
        self.model, self.contact = model, contact
        self.touching = _touching(model) if contact else {}
        zero = np.concatenate([np.zeros(0), *(kind.rest() for kind in topology.kinds)])
        pose = hs.forward_kinematics(model, zero).X_WL
        self.position, self.rotation = np.asarray(pose.position), np.asarray(pose.rotation)
        self.link_of = {joint: link for link, joint in enumerate(topology.link_joints)}
        self.children: dict[int, list[int]] = {}
        for joint, parent in enumerate(topology.parents):
            self.children.setdefault(parent, []).append(joint)

    def text(self, timestep: float) -> str:
        option = f'<option timestep="{timestep!r}" gravity="{_text(self.model.gravity)}" integrator="Euler"/>'
        world = self._geoms([-1], np.zeros(3), np.eye(3))
        bodies = "".join(self._body(joint, np.zeros(3), np.eye(3)) for joint in self.children.get(-1, []))
        return (
            '<mujoco><compiler angle="radian" autolimits="true"/>'
            f"{option}<worldbody>{world}{bodies}</worldbody></mujoco>"
        )

    def _body(self, joint: int, position: np.ndarray, rotation: np.ndarray) -> str:
        """The link that a joint moves, with all that is fixed to it, in a body with this pose in the world."""
        links, above = self._together(joint)
        own = self.link_of[joint]
        p, R = self.position[own], self.rotation[own]
        name = quoteattr(self.model.link_names[own])
        return (
            f'<body name={name} pos="{_text(rotation.T @ (p - position))}" quat="{_quaternion(rotation.T @ R)}">'
            f"{self._joint(joint)}{self._inertial(links, p, R)}{self._geoms(links, p, R)}"
            + "".join(self._body(child, p, R) for child in above)
            + "</body>"
        )

    def _together(self, joint: int) -> tuple[list[int], list[int]]:
        """Links that move with a joint's, and the joints that begin at any of them."""
        links, above = [self.link_of[joint]], []
        for child in self.children.get(joint, []):
            if self.model.topology.kinds[child].name == "fixed":
                more, further = self._together(child)
                links, above = links + more, above + further
            else:
                above.append(child)
        return links, above

    def _joint(self, joint: int) -> str:
        topology, joints = self.model.topology, self.model.joints
        name, kind = quoteattr(topology.joint_names[joint]), topology.kinds[joint].name
        if kind in ("free", "fixed"):
            return f"<freejoint name={name}/>" if kind == "free" else ""
        v, q = topology.v_slices[joint], topology.q_slices[joint]
        limits = np.concatenate([joints.lower[v], joints.upper[v]])
        numbers = {
            "axis": joints.axis[joint],
            "stiffness": joints.stiffness[v],
            "springref": joints.spring_rest[q],
            "damping": joints.damping[v],
            "armature": joints.armature[v],
            "frictionloss": joints.friction[v],
            **({"range": limits} if self.contact and np.isfinite(limits).all() else {}),
        }
        told = " ".join(f'{key}="{_text(value)}"' for key, value in numbers.items())
        return f'<joint name={name} type="{TYPES[kind]}" {told}/>'

    def _inertial(self, links: list[int], position: np.ndarray, rotation: np.ndarray) -> str:
        """Of all of these links together, in the frame with this pose."""
        numbers = self.model.links
        mass = np.asarray(numbers.mass)[links]
        if not mass.any():
            return ""
        turns = rotation.T @ self.rotation[links]
        coms = np.einsum("nij,nj->ni", turns, np.asarray(numbers.com)[links])
        coms += (self.position[links] - position) @ rotation
        com = mass @ coms / mass.sum()
        total = np.zeros((3, 3))
        for m, R, r, I in zip(mass, turns, coms - com, np.asarray(numbers.inertia)[links], strict=True):
            total += R @ _matrix(I) @ R.T + m * (r @ r * np.eye(3) - np.outer(r, r))
        inertia = total[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
        return f'<inertial pos="{_text(com)}" mass="{_text(mass.sum())}" fullinertia="{_text(inertia)}"/>'

    def _geoms(self, links: list[int], position: np.ndarray, rotation: np.ndarray) -> str:
        """Shapes of these links in the frame with this pose; link -1 is the world."""
        geometry, found = self.model.geometry, ""
        for i, friction in self.touching.items():
            link, kind = geometry.links[i], geometry.shapes[i]
            if link not in links:
                continue
            p, R = (self.position[link], self.rotation[link]) if link >= 0 else (np.zeros(3), np.eye(3))
            p, R = (
                p + R @ geometry.position[i],
                R @ Rotation.from_quat(geometry.quaternion[i], scalar_first=True).as_matrix(),
            )
            if kind == "plane":
                form = 'size="20 20 1" contype="0" conaffinity="1"'
            else:
                form = f'size="{_text(geometry.size[i][: SIZES[kind]])}" contype="1" conaffinity="0"'
            found += (
                f'<geom name={quoteattr(geometry.names[i])} type="{kind}" {form} friction="{_text(friction)}" '
                f'pos="{_text(rotation.T @ (p - position))}" quat="{_quaternion(rotation.T @ R)}"/>'
            )
        return found


def _touching(model: hs.Model) -> dict[int, float]:
    """Shapes that touch a plane, and the planes, with the friction of each."""
    geometry, found = model.geometry, {}
    for pair in model.contacts.pairs:
        if "plane" not in (geometry.shapes[i] for i in pair):
            raise ValueError(
                f"{geometry.names[pair[0]]} and {geometry.names[pair[1]]}: only pairs with a plane are written"
            )
        found |= {i: float(geometry.friction[i]) for i in pair}
    return found


def _matrix(inertia: np.ndarray) -> np.ndarray:
    return np.asarray(inertia)[np.array([[XX, XY, XZ], [XY, YY, YZ], [XZ, YZ, ZZ]])]


def _quaternion(rotation: np.ndarray) -> str:
    return _text(Rotation.from_matrix(rotation).as_quat(scalar_first=True))


def _text(numbers) -> str:
    return " ".join(repr(float(x)) for x in np.ravel(numbers))
