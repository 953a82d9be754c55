"""Shapes, poses and motions for the tests of pairs."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from hybridsim.contact import detect
from hybridsim.contact.detect import Placed
from hybridsim.spatial import Transform, cross, quaternion_exp, skew
from hybridsim.spatial.rotation import matrix_from_quaternion

PAIRS = detect.PAIRS | {("upright", other): function for (_, other), function in detect.UPRIGHT.items()}
"""All functions of pairs; `upright` is a cylinder whose axis is parallel to the other's."""
UPRIGHT = [("upright", "prism"), ("upright", "elliptic")]
CONVEX = [pair for pair, function in PAIRS.items() if function.__module__.endswith(".convex_pair")]
"""Pairs for which there is no formula, but the search for the direction in which they are furthest apart."""

QUICK = [pair for pair in PAIRS if pair not in CONVEX or pair in (("cylinder", "box"), ("points", "points"))]
"""Pairs that are tested by default; those of convex shapes share one program, so two stand for all of them."""


def marked(pairs) -> list:
    """These pairs as parameters of a test, with those that take long marked."""
    return [pytest.param(pair, marks=[] if pair in QUICK else pytest.mark.slow, id="-".join(pair)) for pair in pairs]


def shape(kind: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Random size and points."""
    size, points = rng.uniform(0.05, 0.3, 3), np.zeros((0, 3))
    if kind == "points":
        points = rng.uniform(-0.3, 0.3, (7, 3))
    if kind == "patch":
        points = rng.uniform(-0.3, 0.3, (5, 3)) * [1, 1, 0]
    if kind == "prism":
        angles = np.sort(np.linspace(0, 2 * np.pi, 5, endpoint=False) + rng.uniform(0, 1, 5))
        points = np.stack([0.3 * np.cos(angles), 0.2 * np.sin(angles), 0 * angles], axis=-1)
    return size, points


def placed(kind: str, rng: np.random.Generator, spread: float = 0.4, upright: bool = False) -> Placed:
    """A random shape at a random pose, its axis along the world's z if `upright`."""
    rotation = Rotation.from_euler("z", rng.uniform(0, 7)) if upright else Rotation.random(rng=rng)
    return Placed(Transform(rotation.as_matrix(), rng.uniform(-spread, spread, 3)), *shape(kind, rng))


def two(pair: tuple[str, str], rng: np.random.Generator, spread: float = 0.4) -> tuple[Placed, Placed]:
    """A random pair; the common axis of upright ones points anywhere, and one of them may be upside down."""
    upright = pair in UPRIGHT
    a, b = (placed(kind, rng, spread, upright) for kind in pair)
    if not upright:
        return a, b
    flip = np.diag([1.0, -1.0, -1.0]) if rng.uniform() < 0.5 else np.eye(3)
    a = Placed(Transform(a.pose.rotation @ flip, a.pose.position), a.size, a.points)
    everything = Transform(Rotation.random(rng=rng).as_matrix(), rng.normal(size=3))
    return moved(a, everything), moved(b, everything)


def at(kind: str, position, size=(0.1, 0.1, 0.1), turn=(0.0, 0.0, 0.0)) -> Placed:
    """A shape of this size, turned by this vector; the points of a prism are always the same."""
    points = shape(kind, np.random.default_rng(0))[1]
    return Placed(Transform(Rotation.from_rotvec(turn).as_matrix(), np.array(position, float)), np.array(size), points)


def moved(a: Placed, by: Transform) -> Placed:
    return Placed(by @ a.pose, a.size, a.points)


def stack(cases: list[tuple[Placed, Placed]]) -> tuple[Placed, Placed]:
    """Many pairs of shapes as one, with a leading axis."""
    return jax.tree.map(lambda *leaves: np.stack(leaves), *cases)


def touches(pair: tuple[str, str], cases: list[tuple[Placed, Placed]]):
    """The touches of many pairs of shapes, with a leading axis."""
    return compiled(pair)(*stack(cases))


@cache
def compiled(pair: tuple[str, str]):
    return jax.jit(jax.vmap(PAIRS[pair]))


def rates(a: Placed, twist) -> Placed:
    """The rate of change of a placed shape that turns with twist[:3] and whose origin moves with twist[3:]."""
    rotation = skew(twist[:3]) @ a.pose.rotation
    return Placed(Transform(rotation, twist[3:]), jnp.zeros_like(a.size), jnp.zeros_like(a.points))


def after(a: Placed, twist, time: float) -> Placed:
    """Where a placed shape with that constant motion is at a time."""
    turn = matrix_from_quaternion(quaternion_exp(time * twist[:3]))
    return Placed(Transform(turn @ a.pose.rotation, a.pose.position + time * twist[3:]), a.size, a.points)


def velocity(a: Placed, twist, points):
    """Of the material points of a that are at these places."""
    return twist[3:] + cross(twist[:3], points - a.pose.position)
