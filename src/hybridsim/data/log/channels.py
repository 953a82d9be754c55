"""The channels of a model: every number of q, qd, joint force and command that a log may hold, with its name."""

from dataclasses import dataclass
from typing import Literal

from ...model import Model

Quantity = Literal["position", "velocity", "force", "command"]
QUANTITIES: tuple[Quantity, ...] = ("position", "velocity", "force", "command")

_QUATERNION = ("qw", "qx", "qy", "qz")
_PARTS: dict[str, dict[str, tuple[str, ...]]] = {
    "planar": {"position": ("x", "y", "angle"), "velocity": ("vx", "vy", "w"), "force": ("fx", "fy", "m")},
    "spherical": {"position": _QUATERNION, "velocity": ("wx", "wy", "wz"), "force": ("mx", "my", "mz")},
    "free": {
        "position": ("x", "y", "z", *_QUATERNION),
        "velocity": ("wx", "wy", "wz", "vx", "vy", "vz"),
        "force": ("mx", "my", "mz", "fx", "fy", "fz"),
    },
}
_TURNS = ("angle", "w", "wx", "wy", "wz", "m", "mx", "my", "mz")


@dataclass(frozen=True)
class Channel:
    """One number of the model that a column may hold."""

    owner: str
    """Joint, or actuator of a command."""
    quantity: Quantity
    part: str
    """Of a joint with several freedoms, which; empty for one freedom."""
    index: int
    """In q, qd, the joint force or the command."""
    motion: Literal["angle", "length", "other"]
    """Whether it turns or slides; other for quaternions and commands."""
    winds: bool = False
    """An angle that a log may have wrapped."""
    joint: str = ""
    """The kind of the joint; empty for commands."""

    @property
    def key(self) -> str:
        """As `columns=` names it, such as elbow.position or base.position.x."""
        return ".".join(filter(None, (self.owner, self.quantity, self.part)))


def channels(model: Model) -> list[Channel]:
    """All channels, positions first, each quantity in the model's order."""
    found: list[Channel] = []
    topology = model.topology
    for quantity in QUANTITIES[:3]:
        for joint, name in enumerate(topology.joint_names):
            kind = topology.kinds[joint]
            if kind.nv == 0 or topology.mimics[joint] >= 0:
                continue
            start = (model.q_of(name) if quantity == "position" else model.v_of(name)).start
            if kind.nv == 1:
                slides = kind.name == "prismatic"
                winds = quantity == "position" and not slides
                found.append(Channel(name, quantity, "", start, "length" if slides else "angle", winds, kind.name))
                continue
            for offset, part in enumerate(_PARTS[kind.name][quantity]):
                motion = "other" if part in _QUATERNION else "angle" if part in _TURNS else "length"
                found.append(Channel(name, quantity, part, start + offset, motion, part == "angle", kind.name))
    found += [Channel(name, "command", "", i, "other") for i, name in enumerate(model.actuators.names)]
    return found


def quaternions(model: Model) -> tuple[int, ...]:
    """Where in q quaternions begin."""
    return tuple(c.index for c in channels(model) if c.quantity == "position" and c.part == "qw")


def poses(model: Model) -> tuple[int, ...]:
    """Where in q poses of free joints begin."""
    return tuple(c.index for c in channels(model) if c.quantity == "position" and c.part == "x" and c.joint == "free")
