"""Random mechanisms and states: every joint kind, trees and forests, several joints on a body.

A case is named by its shape (which links, attached how) and a seed (all numbers), so that a failure
reported by hypothesis is reproduced by `Case(shape, seed)`.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from hypothesis import Phase, settings
from hypothesis import strategies as st

from hybridsim.model import WORLD, Joint, Link, Spec

# (nq, nv) of each kind, said here once more because the oracles must not lean on the code under test.
SIZES = {
    "fixed": (0, 0),
    "revolute": (1, 1),
    "continuous": (1, 1),
    "prismatic": (1, 1),
    "spherical": (4, 3),
    "planar": (3, 3),
    "free": (7, 6),
}
KINDS = tuple(SIZES)

Shape = tuple[tuple[int, tuple[str, ...]], ...]
"""Of each link: its parent link (-1: the world, else an earlier link), and the kinds of its joints."""


@dataclass(frozen=True)
class Case:
    """A mechanism with a state. `portable` mechanisms can be written in MuJoCo's format too.

    Its records are made when they are asked for, not while hypothesis draws.
    """

    shape: Shape
    seed: int
    portable: bool = True

    @cached_property
    def spec(self) -> Spec:
        return _spec(self._random(0), self.shape, self.portable)

    @cached_property
    def q(self) -> np.ndarray:
        rng = self._random(1)
        parts = [random_configuration(rng, slot.joint.kind) for slot in layout(self.spec)]
        return np.concatenate([np.zeros(0), *parts])

    @cached_property
    def qd(self) -> np.ndarray:
        return self._random(2).normal(scale=1.0, size=self._nv)

    @cached_property
    def qdd(self) -> np.ndarray:
        return self._random(3).normal(scale=3.0, size=self._nv)

    @cached_property
    def tau(self) -> np.ndarray:
        return self._random(4).normal(scale=5.0, size=self._nv)

    def but(self, **parts) -> "Case":
        """The same case with another spec, q, qd, qdd or tau."""
        other = Case(self.shape, self.seed, self.portable)
        other.__dict__.update({name: self.__dict__[name] for name in PARTS if name in self.__dict__} | parts)
        return other

    def _random(self, stream: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, stream])

    @property
    def _nv(self) -> int:
        return sum(SIZES[kind][1] for _, kinds in self.shape for kind in kinds)


PARTS = ("spec", "q", "qd", "qdd", "tau")


class Slot(NamedTuple):
    """A joint and where its numbers lie in q and qd."""

    joint: Joint
    q: slice
    v: slice


def layout(spec: Spec) -> list[Slot]:
    """Joints depth first, children in the order in which the spec names them: the order of q and qd."""
    slots: list[Slot] = []

    def visit(parent: str, nq: int, nv: int) -> tuple[int, int]:
        children = dict.fromkeys(joint.child for joint in spec.joints if joint.parent == parent)
        for child in children:
            for joint in joints_of(spec, child):
                more_q, more_v = SIZES[joint.kind]
                slots.append(Slot(joint, slice(nq, nq + more_q), slice(nv, nv + more_v)))
                nq, nv = nq + more_q, nv + more_v
            nq, nv = visit(child, nq, nv)
        return nq, nv

    visit(WORLD, 0, 0)
    return slots


def joints_of(spec: Spec, link: str) -> list[Joint]:
    """The joints that attach a link, in the order in which they act."""
    return [joint for joint in spec.joints if joint.child == link]


def random_case(seed: int, links: int | None = None, portable: bool = True, kinds: tuple[str, ...] = KINDS) -> Case:
    """A case of random shape; 1 to 30 links unless `links` says how many."""
    rng = np.random.default_rng([seed, 5])
    count = links or int(rng.integers(1, 31))
    chain = rng.uniform()  # How slender the tree is: at 1 every link hangs on the one before.
    shape = []
    for i in range(count):
        parent = i - 1 if rng.uniform() < chain else int(rng.integers(-1, i))
        drawn = tuple(str(kind) for kind in rng.choice(kinds, size=rng.choice([1, 1, 1, 2, 3])))
        shape.append((parent, _portable(parent, drawn) if portable else drawn))
    return Case(tuple(shape), seed, portable)


@st.composite
def cases(draw, max_links: int = 30, portable: bool = True, kinds: tuple[str, ...] = KINDS) -> Case:
    """Hypothesis strategy; shrinks towards few links that each have one simple joint."""
    shape = []
    for i in range(draw(st.integers(1, max_links))):
        parent = draw(st.integers(-1, i - 1))
        drawn = tuple(draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=3)))
        shape.append((parent, _portable(parent, drawn) if portable else drawn))
    return Case(tuple(shape), draw(st.integers(0, 2**32 - 1)), portable)


def _portable(parent: int, kinds: tuple[str, ...]) -> tuple[str, ...]:
    """The nearest joints that MuJoCo accepts on one body.

    A free joint stands alone between the world and a body, after a spherical one there may only be slides,
    and a body has at most six freedoms.
    """
    if "free" in kinds and parent == -1:
        return ("free",)
    out: list[str] = []
    for kind in kinds:
        kind = "spherical" if kind == "free" else kind
        kind = "prismatic" if "spherical" in out and kind != "fixed" else kind
        if sum(SIZES[other][1] for other in [*out, kind]) <= 6:
            out.append(kind)
    return tuple(out)


def _spec(rng: np.random.Generator, shape: Shape, portable: bool) -> Spec:
    links, joints = [], []
    for i in rng.permutation(len(shape)):  # A spec need not name parents first.
        parent, kinds = shape[i]
        frame_only = set(kinds) == {"fixed"} and _sometimes(rng, 0.3)
        links.append(Link(f"link{i}") if frame_only else random_link(rng, f"link{i}"))
        ends = (f"link{parent}" if parent >= 0 else WORLD, f"link{i}")
        # Joints that move one body may be redundant; then only rotors tell how they share the motion.
        rotors = sum(kind != "fixed" for kind in kinds) > 1 or bool(_sometimes(rng, 0.5))
        for k, kind in enumerate(kinds):
            joints.append(_joint(rng, kind, f"joint{i}.{k}", *ends, rotors, portable, last=k == len(kinds) - 1))
    return Spec(links, joints, gravity=9.81 * random_direction(rng), source="random mechanism")


def random_link(rng: np.random.Generator, name: str) -> Link:
    """The mass, centre and inertia of a cloud of point masses: physical, with off-diagonals."""
    masses = rng.uniform(0.05, 0.5, size=6)
    points = rng.normal(scale=0.2, size=3) + rng.normal(scale=0.15, size=(6, 3))
    com = masses @ points / masses.sum()
    arms = points - com
    inertia = sum(m * (r @ r * np.eye(3) - np.outer(r, r)) for m, r in zip(masses, arms, strict=True))
    return Link(name, mass=masses.sum(), com=com, inertia=inertia)


def _joint(
    rng: np.random.Generator, kind: str, name: str, parent: str, child: str, rotors: bool, portable: bool, last: bool
) -> Joint:
    nv = SIZES[kind][1]
    armature = rotors * np.exp(rng.uniform(np.log(1e-3), np.log(1e-1), size=nv))
    damping = _sometimes(rng, 0.5) * rng.uniform(0, 2, size=nv)
    stiffness = _sometimes(rng, 0.5) * rng.uniform(0, 20, size=nv)
    anchor = _sometimes(rng, 0.5) * rng.normal(scale=0.2, size=3)
    if kind in ("spherical", "free"):
        stiffness[:3], stiffness[3:] = stiffness[0], stiffness[-1]
    if kind == "free":
        anchor = np.zeros(3)  # A body that may go anywhere is about its origin.
    if portable and kind == "free":
        # MuJoCo's linear velocity of a free body is in world axes, ours in the body's: armature or
        # uneven damping of it would mean another thing there. It has one stiffness for all six.
        armature[3:], damping[3:], stiffness[3:] = 0.0, damping[3], stiffness[0]
    if portable and kind == "spherical" and not last:
        # In MuJoCo all joints of a body share its axes, turned from those of our earlier joints.
        armature[:], damping[:] = armature[0], damping[0]
    return Joint(
        name,
        kind,
        parent,
        child,
        position=rng.normal(scale=0.3, size=3),
        quaternion=rng.normal(size=4),
        axis=random_axis(rng),
        anchor=anchor,
        rest=random_configuration(rng, kind),
        stiffness=stiffness,
        spring_rest=random_configuration(rng, kind),
        damping=damping,
        armature=armature,
    )


def _sometimes(rng: np.random.Generator, probability: float) -> float:
    return float(rng.uniform() < probability)


def random_direction(rng: np.random.Generator) -> np.ndarray:
    direction = rng.normal(size=3)
    return direction / np.linalg.norm(direction)


def random_axis(rng: np.random.Generator) -> np.ndarray:
    """Of any length; one in three along a coordinate axis, where formulas have their special cases."""
    if rng.uniform() < 1 / 3:
        return np.roll([rng.choice([-1.0, 1.0]), 0.0, 0.0], rng.integers(3))
    return rng.uniform(0.5, 2.0) * random_direction(rng)


def random_quaternion(rng: np.random.Generator) -> np.ndarray:
    quaternion = rng.normal(size=4)
    return quaternion / np.linalg.norm(quaternion)


def random_configuration(rng: np.random.Generator, kind: str) -> np.ndarray:
    """Of one joint: angles all around, distances of half a metre."""
    angle, place = rng.uniform(-np.pi, np.pi), rng.normal(scale=0.5, size=3)
    return {
        "fixed": np.zeros(0),
        "revolute": np.array([angle]),
        "continuous": np.array([angle]),
        "prismatic": place[:1],
        "spherical": random_quaternion(rng),
        "planar": np.array([*place[:2], angle]),
        "free": np.concatenate([place, random_quaternion(rng)]),
    }[kind]


def thoroughly(examples: int) -> settings:
    """So many random mechanisms.

    A failure is not shrunk, which would take minutes; `test_each_kind_alone_and_in_a_row` tells the kind apart.
    """
    phases = (Phase.explicit, Phase.reuse, Phase.generate)
    return settings(max_examples=examples, phases=phases)
