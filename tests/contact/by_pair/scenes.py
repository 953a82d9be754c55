"""A pusher on a rail and a box on the ground, and bodies that do not touch each other."""

import numpy as np

import hybridsim as hs

G = 9.81
HALF = (0.05, 0.04, 0.03)
"""Of the box [m]."""
RADIUS = 0.02
MASS, TIP_MASS = 0.5, 0.2
DT = 2e-4
SOFT = hs.Springs(hs.HuntCrossley(), hs.Coulomb())
PUSH = hs.ContactByPair({("tip*", "box*"): hs.Impulses(), ("*", "ground"): SOFT})
"""As in NeuralSim: impulses at the tip, springs under the object."""


def pushed(stiffness: float = 5e4, friction: float = 0.3, restitution: float = 0.0, tip: hs.Joint | None = None):
    """A box on the ground, and a ball on a rail along x at the height of its centre; pairs: tip with box, box with ground."""
    rail = tip or hs.Joint("rail", "prismatic", "world", "tip", axis=(1, 0, 0), position=(0, 0, HALF[2]))
    pusher = hs.build([hs.solid("tip", TIP_MASS, "sphere", RADIUS)], [rail])
    world = hs.world(hs.free_body(hs.solid("box", MASS, "box", HALF)), pusher, hs.ground())
    pairs = [("tip", "box"), ("box", "ground")]
    numbers = {"stiffness": stiffness, "friction": friction, "restitution": restitution, "transition_speed": 0.05}
    return hs.with_contacts(world, pairs, **numbers)


def resting_depth(stiffness: float = 5e4, mass: float = MASS) -> float:
    """Of four corners under a box: k d^(3/2) = m g / 4."""
    return (mass * G / 4 / stiffness) ** (2 / 3)


def approaching(model: hs.Model, speed: float, gap: float = 2e-3, depth: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """The box at rest, so deep in the ground, and the tip moving towards it."""
    q, qd = model.rest()
    q[model.q_of("root")][:3] = 0, 0, HALF[2] - depth
    q[model.q_of("rail")] = -HALF[0] - RADIUS - gap
    qd[model.v_of("rail")] = speed
    return q, qd


def apart() -> hs.Model:
    """Three bodies side by side that touch only the ground, each by its own name. Kinds of shapes alternate, so that points
    are not in the order of pairs."""
    shapes = [("ball", "sphere", 0.05), ("brick", "box", HALF), ("egg", "sphere", 0.07)]
    bodies = [
        hs.prefixed(hs.free_body(hs.solid(name, 0.3 + 0.2 * i, kind, size)), f"{name}/")
        for i, (name, kind, size) in enumerate(shapes)
    ]
    world = hs.world(*bodies, hs.ground())
    pairs = [("ball/ball", "ground"), ("brick/brick", "ground"), ("egg/egg", "ground")]
    return hs.with_contacts(world, pairs, friction=[0.2, 0.3, 0.4], restitution=[0.0, 0.1, 0.5], transition_speed=0.05)


def thrown(model: hs.Model) -> tuple[np.ndarray, np.ndarray]:
    """All three land, slide and turn."""
    q, qd = model.rest()
    for i, (name, height) in enumerate([("ball", 0.052), ("brick", 0.0302), ("egg", 0.075)]):
        q[model.q_of(f"{name}/root")][:3] = 0.5 * i, 0, height
        qd[model.v_of(f"{name}/root")] = 0.3, 0.2, 0.1, 0.6, -0.3, -0.2
    return q, qd
