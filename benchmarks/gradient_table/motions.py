"""Random motions in contact: bodies that are thrown, dropped, placed and pushed, a chain, towers, an arm, a quadruped.

All motions of one build (the same joints and kinds of shapes) share their machine code: numbers are arguments of the programs.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import hybridsim as hs

from .quadruped import FEET, standing

STEPS = 400
"""Of every motion."""


@dataclass(frozen=True)
class Motion:
    """A model, where it starts and the control that is held."""

    kind: str
    seed: int
    model: hs.Model
    q: np.ndarray
    qd: np.ndarray
    control: np.ndarray
    dt: float


def motion(kind: str, seed: int) -> Motion:
    """The motion of a kind with the random numbers of a seed."""
    if kind not in KINDS:
        raise ValueError(f"{kind!r} is no kind of motion; there are {', '.join(KINDS)}")
    rng = np.random.default_rng([seed, sorted(KINDS).index(kind)])
    dt = log_uniform(rng, 5e-4, 5e-3)
    model, q, qd, control = KINDS[kind](rng, dt)
    return Motion(kind, seed, model, q, qd, control, dt)


Start = tuple[hs.Model, np.ndarray, np.ndarray, np.ndarray]


def _single(shape: str, proportions: tuple[float, ...]) -> Callable[[np.random.Generator, float], Start]:
    """A free body over the ground: thrown, dropped almost flat, or placed on the ground and pushed."""

    def start(rng: np.random.Generator, dt: float) -> Start:
        size = _size(rng, proportions)
        model = world(rng, [solid("body", rng, shape, size)])
        q, qd = model.rest()
        how = rng.choice(["thrown", "dropped", "placed"])
        q[3:7] = turned(rng) if how == "thrown" else _almost_flat(rng, 10 ** rng.uniform(-4, -1) * (how == "dropped"))
        overlap = 10 ** rng.uniform(-4, -2) * max(size) * (rng.random() < 0.5)
        q[2] = _height(model, q) + (-overlap if how == "placed" else fall(rng, dt))
        speed = 0.0 if how == "placed" and rng.random() < 0.3 else min(1.0, 0.1 * max(size) / dt)
        spin = speed * rng.uniform(-8, 8, 3) * (1.0 if how == "thrown" else 0.1)
        qd[:] = [*spin, *speed * rng.uniform(-1, 1, 2), 0.0 if how == "placed" else -speed * rng.random()]
        if how == "placed" and shape in ("sphere", "capsule", "cylinder"):
            qd[:3] = rng.uniform(-8, 8, 3) * speed
        return model, q, qd, _push(rng, model)

    return start


def _several(shapes: list[tuple[str, tuple[float, ...]]]) -> Callable[[np.random.Generator, float], Start]:
    """Free bodies thrown at each other over the ground, or standing on each other."""

    def start(rng: np.random.Generator, dt: float) -> Start:
        scale = log_uniform(rng, 0.02, 0.3)
        sizes = [scale * rng.uniform(0.6, 1.4) * np.array(size) for _, size in shapes]
        solids = [
            solid(f"b{i}", rng, shape, size) for i, ((shape, _), size) in enumerate(zip(shapes, sizes, strict=True))
        ]
        return _thrown_together(rng, dt, solids, sizes)

    return start


def _thrown_together(rng: np.random.Generator, dt: float, solids: list, sizes: list) -> Start:
    model = world(rng, solids)
    q, qd = model.rest()
    top, speed = fall(rng, dt), min(1.0, 0.1 * float(np.max(np.concatenate(sizes))) / dt)
    for i, size in enumerate(sizes):
        reach = float(np.linalg.norm(size))
        q[7 * i : 7 * i + 7] = [*rng.uniform(-0.2, 0.2, 2) * reach, top + reach, *turned(rng)]
        top += 2 * reach
        velocity = [*speed * rng.uniform(-0.5, 0.5, 2), -speed * (0.2 + rng.random()) * (i + 0.5)]
        qd[6 * i : 6 * i + 6] = [*speed * rng.uniform(-8, 8, 3), *_in_body(q[7 * i + 3 : 7 * i + 7], velocity)]
    return model, q, qd, _push(rng, model)


def _stack(count: int) -> Callable[[np.random.Generator, float], Start]:
    """Boxes on each other: at rest, or each pushed to the side."""

    def start(rng: np.random.Generator, dt: float) -> Start:
        scale = log_uniform(rng, 0.02, 0.3)
        sizes = [scale * np.array([*rng.uniform(0.8, 1.2, 2), rng.uniform(0.4, 0.8)]) for _ in range(count)]
        model = world(rng, [solid(f"b{i}", rng, "box", size) for i, size in enumerate(sizes)], friction=(0.1, 1.0))
        q, qd = model.rest()
        height, pushed = 0.0, rng.random() < 0.5
        for i, size in enumerate(sizes):
            turn = rng.uniform(-0.3, 0.3)
            place = [*rng.uniform(-0.1, 0.1, 2) * scale, height + size[2]]
            q[7 * i : 7 * i + 7] = [*place, np.cos(turn / 2), 0.0, 0.0, np.sin(turn / 2)]
            height += 2 * size[2]
            if pushed:
                qd[6 * i + 3 : 6 * i + 5] = rng.uniform(-0.6, 0.6, 2)
        return model, q, qd, _push(rng, model, 0.3)

    return start


def _chain(rng: np.random.Generator, dt: float) -> Start:
    """Four capsules, one after the other, with hinges across: it falls on the ground."""
    length = log_uniform(rng, 0.03, 0.4)
    radius, links, joints = 0.15 * length, [], []
    for i in range(4):
        links.append(solid(f"l{i}", rng, "capsule", (radius, length / 2)))
        if i:
            axis = ((1, 0, 0), (0, 1, 0))[i % 2]
            place = {"position": (0, 0, length / 2 + radius), "anchor": (0, 0, -length / 2 - radius)}
            joints.append(hs.Joint(f"j{i}", "revolute", f"l{i - 1}", f"l{i}", axis=axis, damping=1e-3, **place))
    joints.insert(0, hs.Joint("root", "free", "world", "l0"))
    model = _contacts(rng, hs.world(hs.build(links, joints), hs.ground()))
    q, qd = model.rest()
    q[3:7] = _almost_flat(rng, 0.1, lie=True)
    q[7:] = rng.uniform(-0.5, 0.5, 3)
    q[2] = _height(model, q) + fall(rng, dt)
    speed = min(1.0, 0.1 * length / dt)
    qd[:] = speed * rng.uniform(-1, 1, model.nv) * ([3] * 3 + [1] * 3 + [5] * 3)
    return model, q, qd, _push(rng, model, 0.3)


def _arm(rng: np.random.Generator, dt: float) -> Start:
    """Three links between limits with balls at their ends, the last one above the ground."""
    links, joints, parent = [], [], "world"
    for i in range(3):
        links.append(solid(f"l{i}", rng, "sphere", (0.04,)))
        limit = float(rng.uniform(0.3, 0.9))
        height = {"position": (0.0, 0.0, 0.55)} if i == 0 else {"position": (0.2, 0.0, 0.0)}
        numbers = {"lower": -limit, "upper": limit, "axis": (0, 1, 0), "damping": 1e-2}
        joints.append(hs.Joint(f"j{i}", "revolute", parent, f"l{i}", **numbers, **height))
        parent = f"l{i}"
    model = _contacts(rng, hs.world(hs.build(links, joints), hs.ground(height=float(rng.uniform(0.2, 0.4)))))
    return model, rng.uniform(-0.3, 0.3, 3), rng.uniform(-5, 5, 3), _push(rng, model, 0.5)


def _quadruped(rng: np.random.Generator, dt: float) -> Start:
    """Four feet that drop on the ground, with servos whose commands are off by a little."""
    robot, q, control = standing()
    ground = hs.ground(friction=float(rng.uniform(0.2, 1.0)))
    numbers = {"friction": float(rng.uniform(0.2, 1.0)), "restitution": float(rng.uniform(0.0, 0.4))}
    model = hs.with_contacts(hs.world(robot, ground), FEET, **numbers)
    q[2] += rng.choice([0.0, 0.02]) * rng.random()
    q[7:] += rng.uniform(-0.05, 0.05, 12)
    qd = rng.uniform(-1, 1, model.nv) * ([0.5] * 3 + [0.5] * 3 + [1.0] * 12)
    return model, q, qd, control + rng.uniform(-0.2, 0.2, 12)


KINDS: dict[str, Callable[[np.random.Generator, float], Start]] = {
    "cube": _single("box", (1.0, 1.0, 1.0)),
    "flat box": _single("box", (1.0, 0.7, 0.25)),
    "tall box": _single("box", (0.25, 0.3, 1.0)),
    "sphere": _single("sphere", (1.0,)),
    "capsule": _single("capsule", (0.4, 0.8)),
    "cylinder": _single("cylinder", (0.6, 0.5)),
    "two boxes": _several([("box", (0.8, 0.6, 1.0)), ("box", (1.0, 0.5, 0.4))]),
    "ball and box": _several([("box", (1.0, 0.8, 0.4)), ("sphere", (0.7,))]),
    "stack of two": _stack(2),
    "stack of three": _stack(3),
    "chain": _chain,
    "arm": _arm,
    "quadruped": _quadruped,
}
"""By name: what makes the model, q, qd and control from random numbers and the time step."""


def world(rng: np.random.Generator, solids: list, friction: tuple[float, float] = (0.0, 1.0)) -> hs.Model:
    bodies = [hs.prefixed(hs.free_body(solid), f"{i}/") for i, solid in enumerate(solids)]
    return _contacts(rng, hs.world(*bodies, hs.ground()), friction)


def _contacts(rng: np.random.Generator, model: hs.Model, friction: tuple[float, float] = (0.0, 1.0)) -> hs.Model:
    """Every pair with its own numbers; a fifth of all models without friction or without restitution."""
    pairs = len(model.contacts.pairs)
    mu = rng.uniform(*friction, pairs) * (friction[0] > 0 or rng.random() > 0.1)
    restitution = rng.uniform(0.0, 0.8, pairs) * (rng.random() > 0.2)
    gain = np.ones(pairs) if rng.random() < 0.7 else rng.uniform(0.3, 1.0, pairs)
    return hs.with_contacts(model, friction=mu, restitution=restitution, position_gain=gain)


def solid(name: str, rng: np.random.Generator, shape: str, size) -> hs.Link:
    size = tuple(float(x) for x in size)
    return hs.solid(name, log_uniform(rng, 0.05, 20.0), shape, size if len(size) > 1 else size[0])


def _size(rng: np.random.Generator, proportions: tuple[float, ...]) -> np.ndarray:
    """Half sizes between 5 mm and half a metre, near the proportions."""
    return log_uniform(rng, 0.005, 0.5) * np.array(proportions) * rng.uniform(0.8, 1.2, len(proportions))


def log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def fall(rng: np.random.Generator, dt: float) -> float:
    """A height from which a body falls for 5 to 80 steps [m]."""
    return 0.5 * 9.81 * (dt * rng.uniform(5, 80)) ** 2


def _push(rng: np.random.Generator, model: hs.Model, strength: float = 0.5) -> np.ndarray:
    """Forces of the order of the weight of the body on which they act, or none."""
    if rng.random() < 0.4:
        return np.zeros(model.nv)
    reach = float(np.max(model.geometry.size)) or 0.1
    forces = rng.uniform(-strength, strength, model.nv)
    for joint, place in enumerate(model.topology.v_slices):
        weights = [9.81 * model.links.mass[i] for i, own in enumerate(model.topology.link_joints) if own == joint]
        forces[place] *= float(np.sum(weights))
        forces[place.start : place.start + (3 if place.stop - place.start == 6 else 1)] *= 0.05 * reach
    return forces


def turned(rng: np.random.Generator) -> np.ndarray:
    turn = rng.standard_normal(4)
    return turn / np.linalg.norm(turn)


def _almost_flat(rng: np.random.Generator, tilt: float, lie: bool | None = None) -> np.ndarray:
    """On one of the faces (lying: z of the body is level), up to a small random rotation."""
    lie = bool(rng.random() < 0.5) if lie is None else lie
    base = np.array([np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0]) if lie else np.array([1.0, 0.0, 0.0, 0.0])
    yaw, small = rng.uniform(-np.pi, np.pi), tilt * rng.uniform(-1, 1, 3)
    about = np.array([np.cos(yaw / 2), 0.0, 0.0, np.sin(yaw / 2)])
    turn = _product(about, _product(np.array([1.0, *small / 2]), base))
    return turn / np.linalg.norm(turn)


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Of quaternions."""
    return np.concatenate([[a[0] * b[0] - a[1:] @ b[1:]], a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])])


def _in_body(quaternion: np.ndarray, vector) -> np.ndarray:
    """A vector of the world in the body's axes."""
    w, v = quaternion[0], -quaternion[1:]
    return np.asarray(vector) + 2 * np.cross(v, np.cross(v, vector) + w * np.asarray(vector))


def _height(model: hs.Model, q: np.ndarray) -> float:
    """The height of the root at which the lowest point of all bodies touches the ground."""
    poses = _poses(model, q)
    bottoms = []
    for shape, link, size in zip(model.geometry.shapes, model.geometry.links, model.geometry.size, strict=True):
        if link >= 0:
            pose = poses[model.link_names[link]]
            bottoms.append(float(pose.position[2]) - _reach(shape, np.asarray(size), np.asarray(pose.rotation)[2]))
    return float(q[2] - min(bottoms))


_poses = hs.native.jit(hs.forward_kinematics)


def _reach(shape: str, size: np.ndarray, vertical: np.ndarray) -> float:
    """From the centre of a shape down to its lowest point; `vertical` is the world's z in the shape's axes."""
    if shape == "sphere":
        return float(size[0])
    if shape == "capsule":
        return float(size[0] + size[1] * abs(vertical[2]))
    if shape == "cylinder":
        return float(size[1] * abs(vertical[2]) + size[0] * np.hypot(vertical[0], vertical[1]))
    return float(np.abs(vertical) @ size[:3])
