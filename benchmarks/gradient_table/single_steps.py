"""Every single step of random motions in contact: its derivative against differences of that step.

Bodies are thrown, towers fall, an arm swings into its limits; whatever happens on the way is tested where it happens: sliding,
sticking, rolling, leaving, and several contacts that begin within one step.

PYTHONPATH=benchmarks python -m gradient_table.single_steps [--rounds 3] [--each 24] [--seed 1]
"""

from collections.abc import Iterator
from dataclasses import dataclass

import jax
import numpy as np
import tyro
from rich.console import Console

import hybridsim as hs

from .compare import compare
from .differences import differences
from .jacobians import PRECISE, Map, Programs
from .scenes import Scene
from .table import Row


@dataclass(frozen=True)
class Motion:
    """A model and where it starts."""

    name: str
    model: hs.Model
    q: np.ndarray
    qd: np.ndarray
    dt: float = 1e-3
    steps: int = 400


def motions(rng: np.random.Generator) -> Iterator[Motion]:
    """One of each kind, with random numbers."""
    shapes = {
        "cube": ("box", (0.05,) * 3),
        "flat box": ("box", (0.08, 0.05, 0.02)),
        "tall box": ("box", (0.02, 0.03, 0.09)),
        "sphere": ("sphere", 0.06),
        "capsule": ("capsule", (0.03, 0.06)),
    }
    for name, (shape, size) in shapes.items():
        yield _thrown(name, rng, [(shape, size)])
    yield _thrown("two boxes", rng, [("box", (0.05, 0.06, 0.04)), ("box", (0.03, 0.03, 0.05))])
    yield _tower(rng)
    yield _arm(rng)


def _numbers(rng: np.random.Generator) -> dict[str, float]:
    return {"friction": float(rng.uniform(0.1, 0.9)), "restitution": float(rng.uniform(0.0, 0.6))}


def _bodies(rng: np.random.Generator, shapes: list) -> hs.Model:
    solids = [
        hs.solid(f"b{i}", mass=float(rng.uniform(0.2, 2)), shape=s, size=size) for i, (s, size) in enumerate(shapes)
    ]
    bodies = [hs.prefixed(hs.free_body(solid), f"{i}/") for i, solid in enumerate(solids)]
    return hs.with_contacts(hs.world(*bodies, hs.ground()), **_numbers(rng))


def _thrown(name: str, rng: np.random.Generator, shapes: list) -> Motion:
    model = _bodies(rng, shapes)
    q, qd = model.rest()
    for i in range(len(shapes)):
        turn = rng.standard_normal(4)
        q[7 * i : 7 * i + 7] = [
            *rng.uniform(-0.01, 0.01, 2),
            0.12 + 0.15 * i + 0.04 * rng.random(),
            *turn / np.linalg.norm(turn),
        ]
        qd[6 * i : 6 * i + 6] = [*rng.uniform(-8, 8, 3), *rng.uniform(-1, 1, 2), rng.uniform(-1.5, 0)]
    return Motion(name, model, q, qd)


def _tower(rng: np.random.Generator) -> Motion:
    """Three boxes on each other, pushed."""
    model = _bodies(rng, [("box", (0.05, 0.05, 0.04)), ("box", (0.04, 0.05, 0.03)), ("box", (0.05, 0.04, 0.02))])
    q, qd = model.rest()
    q[[2, 9, 16]] = 0.04, 0.11, 0.16
    q[[7, 8, 14, 15]] = rng.uniform(-0.005, 0.005, 4)
    qd[[9, 10, 15, 16]] = rng.uniform(-0.6, 0.6, 4)
    return Motion("tower", model, q, qd)


def _arm(rng: np.random.Generator) -> Motion:
    """Three links between limits, the last one above the ground."""
    links, joints, parent = [], [], "world"
    for i in range(3):
        links.append(hs.solid(f"l{i}", mass=float(rng.uniform(0.5, 1)), shape="sphere", size=0.04))
        limit = float(rng.uniform(0.4, 0.9))
        height = {"position": (0.0, 0.0, 0.55)} if i == 0 else {"position": (0.2, 0.0, 0.0)}
        joints.append(
            hs.Joint(f"j{i}", "revolute", parent, f"l{i}", axis=(0, 1, 0), lower=-limit, upper=limit, **height)
        )
        parent = f"l{i}"
    model = hs.with_contacts(hs.world(hs.build(links, joints), hs.ground(height=0.3)), **_numbers(rng))
    return Motion("arm", model, rng.uniform(-0.3, 0.3, 3), rng.uniform(-3, 3, 3))


class Survey:
    """Rows of single steps along random motions."""

    def __init__(self, steps_of_each: int, seed: int = 0):
        self.steps_of_each, self.seed = steps_of_each, seed
        self._programs = Programs(hs.Impulses(), PRECISE)
        self._walk = hs.native.jit(
            lambda model, q, qd, dt, steps: hs.rollout(
                model, (q, qd), dt=dt, steps=steps, record="contact.normal_force"
            )
        )

    def rows(self, only: tuple[str, ...] = (), rounds: int = 1) -> Iterator[Row]:
        """Of each motion some steps in which something touches; those first in which contacts begin or end."""
        rng = np.random.default_rng(self.seed)
        for _ in range(rounds):
            for motion in motions(rng):
                if not only or motion.name in only:
                    yield from self._along(motion, rng)

    def _along(self, motion: Motion, rng: np.random.Generator) -> Iterator[Row]:
        walk = self._walk(motion.model, motion.q, motion.qd, np.array(motion.dt), motion.steps)
        forces = np.asarray(walk.values["contact.normal_force"]).reshape(motion.steps, -1) > 0
        changes = np.flatnonzero(np.any(forces[1:] != forces[:-1], axis=1)) + 1
        busy = np.flatnonzero(forces.any(axis=1))
        chosen = list(rng.permutation(changes)[: self.steps_of_each // 2])
        rest = np.setdiff1d(busy, chosen)
        chosen += list(rng.permutation(rest)[: self.steps_of_each - len(chosen)])
        for i in sorted(chosen):
            scene = Scene(motion.name, motion.model, walk.q[i], walk.qd[i], np.zeros(motion.model.nv), 1, motion.dt)
            f = Map(self._programs, scene)
            blocks = compare(f.groups, motion.model.nq, f.forward(), f.reverse(), differences(f, f.zero))
            yield Row(f"{motion.name}, step {i}, {int(forces[i].sum())} touch", "impulses", 1, blocks)


WRONG = 0.02
"""Relative error of an entry that would mislead a search."""


def error(row: Row) -> float:
    """Of the worst smooth entry, in either mode."""
    return max(row.largest("forward"), row.largest("reverse"))


def main(rounds: int = 3, each: int = 24, seed: int = 1) -> None:
    """Print how many steps of each motion have an entry that is wrong by more than 1e-5, and by more than 2 %."""
    jax.config.update("jax_enable_x64", True)
    console, found = Console(), {}
    for row in Survey(each, seed).rows(rounds=rounds):
        found.setdefault(row.scene.split(",")[0], []).append(row)
        if error(row) > WRONG:
            console.print(f"{row.scene}: {error(row):.1e}")
    for name, rows in found.items():
        imprecise, wrong = (sum(error(row) > limit for row in rows) for limit in (1e-5, WRONG))
        console.print(f"{name}: {len(rows)} steps, {imprecise} beyond 1e-5, {wrong} beyond 2 %")


if __name__ == "__main__":
    tyro.cli(main)
