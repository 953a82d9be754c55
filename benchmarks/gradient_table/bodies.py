"""Random bodies: from 1 cm to 2 m and from 1 g to 100 kg, slender or stout, of one shape or several, of one link or two.

Half of all links are of uniform density. The others have their centre of mass anywhere inside and any inertia that a solid
of their size may have.
"""

import numpy as np

import hybridsim as hs

MASS = 1e-3, 100.0
"""[kg]"""
REACH = 5e-3, 1.0
"""Of the largest half size [m]."""
SLENDER = 0.1
"""The smallest half size beside the largest."""
FRICTION = 0.0, 2.0
RESTITUTION = 0.0, 0.95
CORNERS = 14
"""Of a convex hull."""


def log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def turned(rng: np.random.Generator) -> np.ndarray:
    """A quaternion; all rotations are equally likely."""
    turn = rng.standard_normal(4)
    return turn / np.linalg.norm(turn)


def proportions(rng: np.random.Generator, count: int) -> np.ndarray:
    """The largest is 1."""
    sizes = np.array([log_uniform(rng, SLENDER, 1.0) for _ in range(count)])
    return sizes / np.max(sizes)


def solid(name: str, rng: np.random.Generator, shape: str, size) -> hs.Link:
    """A link of one shape around its origin."""
    size = np.atleast_1d(np.asarray(size, dtype=float))
    mass = log_uniform(rng, *MASS)
    if rng.random() < 0.5:
        return hs.solid(name, mass, shape, size if len(size) > 1 else float(size[0]))
    around = {"sphere": size[[0, 0, 0]], "box": size}.get(shape, np.array([size[0], size[0], size[-1]]))
    return _link(name, rng, mass, around, [hs.Geom(shape, size)])


def hull(name: str, rng: np.random.Generator, size) -> hs.Link:
    """Corners on an ellipsoid, whose convex hull is the shape."""
    around = np.broadcast_to(size, 3)
    corners = rng.standard_normal((CORNERS, 3))
    points = around * corners / np.linalg.norm(corners, axis=1, keepdims=True)
    return _link(name, rng, log_uniform(rng, *MASS), 0.7 * around, [hs.Geom("points", points=points)])


def dumbbell(name: str, rng: np.random.Generator, size: float) -> hs.Link:
    """Two balls of different size on one link."""
    small, large = size * rng.uniform(0.1, 0.3), size * rng.uniform(0.2, 0.4)
    balls = [hs.Geom("sphere", small, (0, 0, size - small)), hs.Geom("sphere", large, (0, 0, large - size))]
    return _link(name, rng, log_uniform(rng, *MASS), size * np.array([0.3, 0.3, 0.9]), balls)


def hinged(rng: np.random.Generator, size: float) -> hs.Model:
    """Two floating links with a hinge between limits, about any axis; the links do not touch each other."""
    boxes = [size * proportions(rng, 3) for _ in range(2)]
    links = [solid(f"l{i}", rng, "box", box) for i, box in enumerate(boxes)]
    axis, limit = turned(rng)[:3], float(rng.uniform(0.3, 2.0))
    places = {"position": (0, 0, boxes[0][2]), "anchor": (0, 0, -boxes[1][2])}
    # Damping that would stop the lighter link within about a second.
    damping = min(link.mass for link in links) * size**2
    hinge = hs.Joint("hinge", "revolute", "l0", "l1", axis=axis, lower=-limit, upper=limit, damping=damping, **places)
    return hs.build(links, [hs.Joint("root", "free", "world", "l0"), hinge])


def over_ground(rng: np.random.Generator, bodies: list[hs.Link | hs.Model], friction=FRICTION) -> hs.Model:
    """Floating bodies above the ground, every pair with its own numbers of contact."""
    models = [hs.free_body(body) if isinstance(body, hs.Link) else body for body in bodies]
    if len(models) > 1:
        models = [hs.prefixed(model, f"{i}/") for i, model in enumerate(models)]
    return with_numbers(rng, hs.world(*models, hs.ground()), friction)


def with_numbers(rng: np.random.Generator, model: hs.Model, friction=FRICTION) -> hs.Model:
    """Every pair with its own numbers; a tenth of all models without friction, a fifth without restitution."""
    pairs = len(model.contacts.pairs)
    mu = rng.uniform(*friction, pairs) * (friction[0] > 0 or rng.random() > 0.1)
    restitution = rng.uniform(*RESTITUTION, pairs) * (rng.random() > 0.2)
    gain = np.ones(pairs) if rng.random() < 0.7 else rng.uniform(0.3, 1.0, pairs)
    return hs.with_contacts(model, friction=mu, restitution=restitution, position_gain=gain)


def _link(name: str, rng: np.random.Generator, mass: float, around: np.ndarray, geoms: list) -> hs.Link:
    """A mass anywhere within the half sizes `around`, with the inertia of some box that is turned."""
    x, y, z = (around * rng.uniform(0.2, 0.6, 3)) ** 2 / 3
    turn = _rotation(turned(rng))
    inertia = mass * turn @ np.diag([y + z, x + z, x + y]) @ turn.T
    return hs.Link(name, mass, around * rng.uniform(-0.4, 0.4, 3), inertia, geoms)


def _rotation(quaternion: np.ndarray) -> np.ndarray:
    w, x, y, z = quaternion
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + 2 * w * cross + 2 * cross @ cross


def height(model: hs.Model, q: np.ndarray) -> float:
    """How far the lowest point of all bodies is above the ground."""
    poses, bottoms, geometry = _poses(model, q), [], model.geometry
    for i, link in enumerate(geometry.links):
        if link >= 0:
            pose = poses[model.link_names[link]]
            rotation = np.asarray(pose.rotation)
            centre = np.asarray(pose.position) + rotation @ np.asarray(geometry.position[i])
            vertical = rotation[2] @ _rotation(np.asarray(geometry.quaternion[i]))
            size, points = np.asarray(geometry.size[i]), np.asarray(geometry.points[i])
            bottoms.append(centre[2] - _reach(geometry.shapes[i], size, points, vertical))
    return float(min(bottoms))


_poses = hs.native.jit(hs.forward_kinematics)


def _reach(shape: str, size: np.ndarray, points: np.ndarray, vertical: np.ndarray) -> float:
    """From the origin of a shape down to its lowest point; `vertical` is the world's z in the shape's axes."""
    if shape == "points":
        return float(-np.min(points @ vertical))
    if shape == "sphere":
        return float(size[0])
    if shape == "capsule":
        return float(size[0] + size[1] * abs(vertical[2]))
    if shape == "cylinder":
        return float(size[1] * abs(vertical[2]) + size[0] * np.hypot(vertical[0], vertical[1]))
    return float(np.abs(vertical) @ size)
