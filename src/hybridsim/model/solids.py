"""Links and small models in one line: solids of uniform density, chains, a body that floats, the ground."""

from collections.abc import Sequence

import numpy as np

from .build import build
from .errors import ModelError
from .model import Model
from .spec import WORLD, Geom, Joint, Link, Numbers


def solid(name: str, mass: float, shape: str, size: Numbers, position: Numbers = (0.0, 0.0, 0.0)) -> Link:
    """A link of uniform density with the shape it collides with; sizes as in `Geometry.size`.

    `position` is the shape's centre in the link's frame.
    """
    given = np.atleast_1d(np.asarray(size, dtype=float))
    inertia = _unit_inertia(name, shape, given) * mass
    return Link(name, mass, position, inertia, (Geom(shape, given, position),))


def _unit_inertia(name: str, shape: str, size: np.ndarray) -> np.ndarray:
    """Principal moments of a body of 1 kg about its centre (textbook formulas; capsules and cylinders along z)."""
    needed = {"sphere": 1, "cylinder": 2, "capsule": 2, "box": 3, "ellipsoid": 3}
    if shape not in needed:
        raise ModelError(f"link {name}: the inertia of a {shape!r} is not known; shapes are {', '.join(needed)}")
    if len(size) != needed[shape]:
        raise ModelError(f"link {name}: a {shape} has {needed[shape]} sizes, but {len(size)} are given")
    if shape == "sphere":
        return np.full(3, 0.4 * size[0] ** 2)
    if shape in ("box", "ellipsoid"):
        x, y, z = size**2 / (3 if shape == "box" else 5)
        return np.array([y + z, x + z, x + y])
    r, half = size
    if shape == "cylinder":
        across = r**2 / 4 + half**2 / 3
        return np.array([across, across, r**2 / 2])
    # A capsule is a cylinder and two halves of a ball whose centres of mass lie 3/8 r beyond its ends.
    volumes = np.array([2 * half, 4 / 3 * r]) * np.pi * r**2
    cylinder, ball = volumes / volumes.sum()
    across = cylinder * (r**2 / 4 + half**2 / 3) + ball * (0.4 * r**2 + half**2 + 3 / 4 * half * r)
    return np.array([across, across, cylinder * r**2 / 2 + ball * 0.4 * r**2])


def chain(
    links: int,
    length: float = 1.0,
    mass: float = 1.0,
    radius: float = 0.02,
    axis: Numbers = (0.0, 1.0, 0.0),
    kind: str = "revolute",
    base: str = "fixed",
    gravity: Numbers = (0.0, 0.0, -9.81),
    **joint_numbers,
) -> Model:
    """A pendulum of equal capsules that hang down (-z) from one another: `link1`, `joint1`, `link2`, ...

    `length`, `mass` and `radius` are those of one link. `base` is "fixed" (joint1 is at the world's origin) or
    "free" (joint1 is a free joint). `joint_numbers` go to every joint: damping, friction, armature, ...
    """
    if links < 1:
        raise ModelError(f"a chain of {links} links; give at least 1")
    size = (radius, length / 2 - radius)
    bodies = [solid(f"link{i + 1}", mass, "capsule", size, (0.0, 0.0, -length / 2)) for i in range(links)]
    joints = [
        Joint(
            f"joint{i + 1}",
            "free" if i == 0 and base == "free" else kind,
            bodies[i - 1].name if i else WORLD,
            body.name,
            position=(0.0, 0.0, -length) if i else (0.0, 0.0, 0.0),
            axis=axis,
            **({} if i == 0 and base == "free" else joint_numbers),
        )
        for i, body in enumerate(bodies)
    ]
    return build(bodies, joints, gravity=gravity, source="chain")


def free_body(link: Link, **options) -> Model:
    """One link that floats; its joint is called `root`. `options` as in `build`."""
    return build([link], [Joint("root", "free", WORLD, link.name)], source=link.name, **options)


def ground(height: float = 0.0, normal: Sequence[float] = (0.0, 0.0, 1.0), friction: float = 0.5) -> Model:
    """A plane fixed in the world through (0, 0, height)."""
    n = np.asarray(normal, dtype=float)
    if not np.linalg.norm(n) > 0:
        raise ModelError(f"ground: the normal is {normal}; it needs a direction")
    n = n / np.linalg.norm(n)
    # The rotation that takes z to n: a half turn about the direction midway between them.
    half = n + np.array([0.0, 0.0, 1.0])
    length = np.linalg.norm(half)
    quaternion = np.concatenate([[0.0], half / length]) if length > 1e-9 else np.array([0.0, 1.0, 0.0, 0.0])
    plane = Geom("plane", position=(0.0, 0.0, height), quaternion=quaternion, friction=friction, name="ground")
    return build([], [], world_geoms=[plane], source="ground")
