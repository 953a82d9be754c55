"""Random motions in contact: bodies that are thrown, dropped, placed and pushed, a chain, towers, an arm, a quadruped.

All motions of one build (the same joints and kinds of shapes) share their machine code: numbers are arguments of the programs.
"""

from collections.abc import Callable
from dataclasses import dataclass
from zlib import crc32

import numpy as np

import hybridsim as hs

from .bodies import REACH, dumbbell, height, hinged, hull, log_uniform, over_ground, proportions, solid, turned
from .bodies import with_numbers as with_numbers_of_contact
from .quadruped import FEET, standing

STEPS = 700
"""Of every motion."""
DT = 2e-4, 1e-2
"""[s]"""


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
    rng = random_numbers(kind, seed)
    dt = log_uniform(rng, *DT)
    model, q, qd, control = KINDS[kind](rng, dt)
    return Motion(kind, seed, model, q, qd, control, dt)


def random_numbers(kind: str, seed: int) -> np.random.Generator:
    """Those of a kind and a seed, whatever other kinds there are."""
    return np.random.default_rng([seed, crc32(kind.encode())])


Start = tuple[hs.Model, np.ndarray, np.ndarray, np.ndarray]
Maker = Callable[[np.random.Generator, float], hs.Link | hs.Model]
"""A body from random numbers and its largest half size."""


def _single(make: Maker, rolls: bool = False) -> Callable[[np.random.Generator, float], Start]:
    """A free body over the ground: thrown, dropped almost flat, or placed on the ground and pushed."""

    def start(rng: np.random.Generator, dt: float) -> Start:
        reach = log_uniform(rng, *REACH)
        model = over_ground(rng, [make(rng, reach)])
        q, qd = model.rest()
        how = rng.choice(["thrown", "dropped", "placed"])
        q[3:7] = turned(rng) if how == "thrown" else _almost_flat(rng, 10 ** rng.uniform(-4, -1) * (how == "dropped"))
        q[7:] = rng.uniform(-0.3, 0.3, model.nq - 7)
        overlap = 10 ** rng.uniform(-4, -2) * reach * (rng.random() < 0.5)
        q[2] += (-overlap if how == "placed" else fall(rng, dt)) - height(model, q)
        speed = 0.0 if how == "placed" and rng.random() < 0.3 else min(1.0, 0.1 * reach / dt)
        spin = speed * rng.uniform(-8, 8, 3) * (1.0 if how == "thrown" or rolls else 0.1)
        qd[:6] = [*spin, *speed * rng.uniform(-1, 1, 2), 0.0 if how == "placed" else -speed * rng.random()]
        qd[6:] = speed * rng.uniform(-5, 5, model.nv - 6)
        return model, q, qd, push(rng, model)

    return start


def _shape(shape: str, given: tuple[float, ...] = (), sizes: int = 0) -> Maker:
    """A body of one shape, near the proportions that are given, or of any."""

    def make(rng: np.random.Generator, reach: float) -> hs.Link:
        relative = np.array(given) * rng.uniform(0.8, 1.2, len(given)) if given else proportions(rng, sizes)
        return solid("body", rng, shape, reach * relative)

    return make


SINGLE: dict[str, Maker] = {
    "cube": _shape("box", (1.0, 1.0, 1.0)),
    "box": _shape("box", sizes=3),
    "flat box": _shape("box", (1.0, 0.7, 0.25)),
    "tall box": _shape("box", (0.25, 0.3, 1.0)),
    "sphere": _shape("sphere", (1.0,)),
    "capsule": _shape("capsule", sizes=2),
    "cylinder": _shape("cylinder", sizes=2),
    "hull": lambda rng, reach: hull("body", rng, reach * proportions(rng, 3)),
    "dumbbell": lambda rng, reach: dumbbell("body", rng, reach),
    "two links": hinged,
}
"""By name: bodies that move alone."""
PAIRS: dict[str, list[tuple[str, int]]] = {
    "two boxes": [("box", 3), ("box", 3)],
    "ball and box": [("box", 3), ("sphere", 1)],
    "capsule and box": [("box", 3), ("capsule", 2)],
}
"""By name: the shapes of bodies that meet, and how many sizes they have."""


def pair(rng: np.random.Generator, kind: str, reach: float) -> tuple[list[hs.Link], list[float]]:
    """Links of similar size, and how far each of them reaches from its origin."""
    sizes = [reach * rng.uniform(0.6, 1.0) * proportions(rng, count) for _, count in PAIRS[kind]]
    links = [
        solid(f"b{i}", rng, shape, size) for i, ((shape, _), size) in enumerate(zip(PAIRS[kind], sizes, strict=True))
    ]
    # A capsule is longer than its half length by its radius.
    return links, [float(np.linalg.norm(size) if len(size) > 2 else np.sum(size)) for size in sizes]


def thrown_together(rng: np.random.Generator, dt: float, kind: str) -> Start:
    """Two free bodies thrown at each other over the ground."""
    links, reaches = pair(rng, kind, log_uniform(rng, *REACH))
    model = over_ground(rng, links)
    q, qd = model.rest()
    top, speed = fall(rng, dt), min(1.0, 0.1 * max(reaches) / dt)
    for i, reach in enumerate(reaches):
        q[7 * i : 7 * i + 7] = [*rng.uniform(-0.2, 0.2, 2) * reach, top + reach, *turned(rng)]
        top += 2 * reach
        velocity = [*speed * rng.uniform(-0.5, 0.5, 2), -speed * (0.2 + rng.random()) * (i + 0.5)]
        qd[6 * i : 6 * i + 6] = [*speed * rng.uniform(-8, 8, 3), *_in_body(q[7 * i + 3 : 7 * i + 7], velocity)]
    return model, q, qd, push(rng, model)


def _stack(count: int) -> Callable[[np.random.Generator, float], Start]:
    """Boxes on each other: at rest, or each pushed to the side."""

    def start(rng: np.random.Generator, dt: float) -> Start:
        scale = log_uniform(rng, *REACH)
        sizes = [scale * np.array([*rng.uniform(0.6, 1.0, 2), rng.uniform(0.1, 0.8)]) for _ in range(count)]
        model = over_ground(rng, [solid(f"b{i}", rng, "box", size) for i, size in enumerate(sizes)], (0.1, 1.5))
        q, qd = model.rest()
        top, pushed = 0.0, rng.random() < 0.5
        for i, size in enumerate(sizes):
            turn = rng.uniform(-0.3, 0.3)
            place = [*rng.uniform(-0.1, 0.1, 2) * scale, top + size[2]]
            q[7 * i : 7 * i + 7] = [*place, np.cos(turn / 2), 0.0, 0.0, np.sin(turn / 2)]
            top += 2 * size[2]
            if pushed:
                qd[6 * i + 3 : 6 * i + 5] = min(0.6, 0.1 * scale / dt) * rng.uniform(-1, 1, 2)
        return model, q, qd, push(rng, model, 0.3)

    return start


def _chain(rng: np.random.Generator, dt: float) -> Start:
    """Four capsules, one after the other, with hinges across: it falls on the ground."""
    length = log_uniform(rng, 0.03, 0.4)
    radius, links, joints = 0.15 * length, [], []
    for i in range(4):
        links.append(hs.solid(f"l{i}", log_uniform(rng, 0.05, 20.0), "capsule", (radius, length / 2)))
        if i:
            axis = ((1, 0, 0), (0, 1, 0))[i % 2]
            place = {"position": (0, 0, length / 2 + radius), "anchor": (0, 0, -length / 2 - radius)}
            joints.append(hs.Joint(f"j{i}", "revolute", f"l{i - 1}", f"l{i}", axis=axis, damping=1e-3, **place))
    joints.insert(0, hs.Joint("root", "free", "world", "l0"))
    model = with_numbers_of_contact(rng, hs.world(hs.build(links, joints), hs.ground()))
    q, qd = model.rest()
    q[3:7] = _almost_flat(rng, 0.1, lie=True)
    q[7:] = rng.uniform(-0.5, 0.5, 3)
    q[2] += fall(rng, dt) - height(model, q)
    speed = min(1.0, 0.1 * length / dt)
    qd[:] = speed * rng.uniform(-1, 1, model.nv) * ([3] * 3 + [1] * 3 + [5] * 3)
    return model, q, qd, push(rng, model, 0.3)


def _arm(rng: np.random.Generator, dt: float) -> Start:
    """Three links between limits with balls at their ends, the last one above the ground."""
    links, joints, parent = [], [], "world"
    for i in range(3):
        links.append(hs.solid(f"l{i}", log_uniform(rng, 0.05, 20.0), "sphere", 0.04))
        limit = float(rng.uniform(0.3, 0.9))
        place = {"position": (0.0, 0.0, 0.55)} if i == 0 else {"position": (0.2, 0.0, 0.0)}
        numbers = {"lower": -limit, "upper": limit, "axis": (0, 1, 0), "damping": 1e-2}
        joints.append(hs.Joint(f"j{i}", "revolute", parent, f"l{i}", **numbers, **place))
        parent = f"l{i}"
    ground = hs.ground(height=float(rng.uniform(0.2, 0.4)))
    model = with_numbers_of_contact(rng, hs.world(hs.build(links, joints), ground))
    return model, rng.uniform(-0.3, 0.3, 3), rng.uniform(-5, 5, 3), push(rng, model, 0.5)


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
    **{kind: _single(make, kind in ("sphere", "capsule", "cylinder", "dumbbell")) for kind, make in SINGLE.items()},
    **{kind: lambda rng, dt, kind=kind: thrown_together(rng, dt, kind) for kind in PAIRS},
    "stack of two": _stack(2),
    "stack of three": _stack(3),
    "chain": _chain,
    "arm": _arm,
    "quadruped": _quadruped,
}
"""By name: what makes the model, q, qd and control from random numbers and the time step."""


def fall(rng: np.random.Generator, dt: float) -> float:
    """A height from which a body falls for 5 to 80 steps [m]."""
    return 0.5 * 9.81 * (dt * rng.uniform(5, 80)) ** 2


def push(rng: np.random.Generator, model: hs.Model, strength: float = 0.5) -> np.ndarray:
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
