"""What a model is built from: plain records of numbers, made by hand or by a loader.

arm = hs.build(
    links=[hs.Link("upper", mass=1.0, com=(0, 0, -0.5)), hs.Link("lower", mass=0.5, com=(0, 0, -0.3))],
    joints=[
        hs.Joint("shoulder", "revolute", "world", "upper", axis=(0, 1, 0)),
        hs.Joint("elbow", "revolute", "upper", "lower", position=(0, 0, -1), axis=(0, 1, 0)),
    ],
)
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from .joints import JointKind

Numbers = float | Sequence[float] | Sequence[Sequence[float]] | np.ndarray
WORLD = "world"


@dataclass(frozen=True)
class Geom:
    """A collision shape in its link's frame; `size` as in `Geometry.size`."""

    shape: str
    size: Numbers = ()
    position: Numbers = (0.0, 0.0, 0.0)
    quaternion: Numbers = (1.0, 0.0, 0.0, 0.0)
    friction: float = 0.5
    points: Numbers | None = None
    areas: Numbers | None = None
    name: str = ""
    group: tuple[int, int] = (1, 1)


@dataclass(frozen=True)
class Link:
    """A rigid body: mass [kg], centre of mass [m], inertia about it [kg m^2] in the link's frame.

    The inertia is a 3x3 matrix, six numbers (xx, yy, zz, xy, xz, yz), three (the diagonal) or one (a ball's).
    """

    name: str
    mass: float = 0.0
    com: Numbers = (0.0, 0.0, 0.0)
    inertia: Numbers = 0.0
    geoms: Sequence[Geom] = ()


@dataclass(frozen=True)
class Mimic:
    """q = ratio * q of `joint` + offset."""

    joint: str
    ratio: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True)
class Joint:
    """A joint between a parent link (or "world") and a child link. Units and meaning as in `Joints`.

    Several joints with the same child act one after the other, in the order given: the first is placed in
    the parent, each later one in the frame that the one before moves (usually without offset).
    One number stands for all freedoms of the joint.
    """

    name: str
    kind: str | JointKind
    parent: str
    child: str
    position: Numbers = (0.0, 0.0, 0.0)
    quaternion: Numbers = (1.0, 0.0, 0.0, 0.0)
    axis: Numbers = (0.0, 0.0, 1.0)
    anchor: Numbers = (0.0, 0.0, 0.0)
    rest: Numbers | None = None
    stiffness: Numbers = 0.0
    spring_rest: Numbers | None = None
    damping: Numbers = 0.0
    friction: Numbers = 0.0
    friction_speed: Numbers = 0.01
    armature: Numbers = 0.0
    lower: Numbers = -np.inf
    upper: Numbers = np.inf
    effort: Numbers = np.inf
    mimic: Mimic | None = None


@dataclass(frozen=True)
class Actuator:
    """A motor or servo on a joint. Meaning as in `Actuators`; `motor`, `position` and `velocity` make the usual ones."""

    name: str
    joint: str
    gain: float = 1.0
    bias: Numbers = (0.0, 0.0, 0.0)
    gear: Numbers = 1.0
    command_range: tuple[float, float] = (-np.inf, np.inf)
    force_range: tuple[float, float] = (-np.inf, np.inf)

    @classmethod
    def motor(cls, name: str, joint: str, gear: Numbers = 1.0) -> "Actuator":
        """force = command."""
        return cls(name, joint, gear=gear)

    @classmethod
    def position(cls, name: str, joint: str, kp: float, kv: float = 0.0, gear: Numbers = 1.0) -> "Actuator":
        """force = kp (command - length) - kv velocity."""
        return cls(name, joint, gain=kp, bias=(0.0, -kp, -kv), gear=gear)

    @classmethod
    def velocity(cls, name: str, joint: str, kv: float, gear: Numbers = 1.0) -> "Actuator":
        """force = kv (command - velocity)."""
        return cls(name, joint, gain=kv, bias=(0.0, 0.0, -kv), gear=gear)


@dataclass(frozen=True)
class Spec:
    """All that `build` needs; what a loader returns before it becomes arrays."""

    links: Sequence[Link]
    joints: Sequence[Joint]
    actuators: Sequence[Actuator] = ()
    world_geoms: Sequence[Geom] = ()
    """Shapes fixed in the world, such as the floor."""
    self_collision: bool = False
    """Whether links of one mechanism may touch each other; separate mechanisms, and what is fixed in the world, may."""
    excludes: Sequence[tuple[str, str]] = ()
    """Names of two links that never touch, unless `pairs` says so."""
    pairs: Sequence[tuple[str, str, float]] = ()
    """Names of two shapes that may touch whatever the filters say, with the friction between them."""
    gravity: Numbers = (0.0, 0.0, -9.81)
    timestep: float = 1e-3
    source: str = "model"
    """File or name, for messages."""
    elements: dict[str, str] = field(default_factory=dict)
    """From "link NAME", "joint NAME" or "actuator NAME" to the place in the file (line), for messages."""
