"""Figure 4 of NeuralSim: the link lengths of a double pendulum, sought from everywhere on a grid.

The truth is (3, 4). A local search from most far starts ends in a poor minimum; basin hopping leaves it.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

import hybridsim as hs

TRUTH = np.array([3.0, 4.0])
LOWER, UPPER = 0.5, 6.0
"""Lengths [m] of the starts, and between which is searched."""
NEAR = 1e-3
"""A search has succeeded that ends nearer to the truth than this [m]."""
DT, STEPS = 1e-2, 500
FREE = (
    hs.Free(("joint/joint2/position.z", "link/link1/com.z"), -UPPER, -LOWER, scale="linear", tied=True),
    hs.Free("link/link2/com.z", -UPPER, -LOWER, scale="linear"),
)
"""The second joint is at the end of the first link, and so is its mass."""
LOCAL = hs.LevenbergMarquardt(iterations=50)
SOLVERS = {
    "local: L-BFGS-B": hs.LBFGSB(iterations=100),
    "local: Levenberg-Marquardt": LOCAL,
    "parallel basin hopping": hs.BasinHopping(LOCAL, rounds=60, searches=2, target=1e-9),
}
"""The paper's local search, a better one, and what hops with it."""


@dataclass(frozen=True)
class Method:
    """Where searches of one kind end."""

    name: str
    ends: Float[np.ndarray, "cells cells 2"]
    """Lengths [m] by the start: of the first link along the first axis, of the second along the second."""

    @property
    def distance(self) -> Float[np.ndarray, "cells cells"]:
        """From the truth [m]."""
        return np.linalg.norm(self.ends - TRUTH, axis=-1)

    @property
    def share(self) -> float:
        """Of the starts that led to the truth."""
        return float(np.mean(self.distance < NEAR))


@dataclass(frozen=True)
class Landscape:
    starts: Float[np.ndarray, " cells"]
    """Lengths [m] at which both links start."""
    methods: tuple[Method, ...]


def pendulum(first: float, second: float) -> hs.Model:
    """Two small heavy bodies of 1 kg at the ends of light rods of these lengths [m]."""
    model = hs.chain(2)
    inertia = jnp.zeros((2, 6)).at[:, :3].set(0.009)
    com = jnp.array([[0, 0, -first], [0, 0, -second]])
    joints = replace(model.joints, position=jnp.array([[0, 0, 0], [0, 0, -first]]))
    return replace(model, links=replace(model.links, com=com, inertia=inertia), joints=joints)


def motion() -> hs.Trajectory:
    """Five seconds after it is let go at rest with the first link level."""
    start = np.array([np.pi / 2, 0.0]), np.zeros(2)
    made = hs.rollout(pendulum(*TRUTH), start, dt=DT, steps=STEPS, contact=None)
    return hs.Trajectory(DT * np.arange(STEPS + 1), np.asarray(made.q), np.asarray(made.qd), run="reference")


def run(cells: int = 20, methods: tuple[str, ...] = tuple(SOLVERS), seed: int = 0) -> Landscape:
    """A search of each kind from each of cells x cells starts."""
    middle = (LOWER + UPPER) / 2
    problem = hs.identify.prepare(
        pendulum(middle, middle), motion(), FREE, window=STEPS * DT, start="measured", contact=None
    )
    starts = np.linspace(LOWER, UPPER, cells)
    return Landscape(starts, tuple(Method(name, ends(problem, SOLVERS[name], starts, seed)) for name in methods))


def ends(problem: hs.identify.Problem, solver: hs.identify.Solver, starts: np.ndarray, seed: int) -> np.ndarray:
    """Lengths at which the solver ends from each pair of starts, two searches at a time."""
    lower, upper = problem.bounds()
    z, s = problem.zeros()

    def search(lengths: tuple[float, float]) -> np.ndarray:
        # Both lengths are linear in z, and their upper bounds are the lower ones of z, since z axes point upwards.
        share = (UPPER - np.array(lengths)) / (UPPER - LOWER)
        begin = hs.identify.solvers.Point(lower + share * (upper - lower), s)
        try:
            point = solver.run(problem, begin, hs.identify.solvers.Journal(), "fit", seed)
        except FloatingPointError:
            return np.array(lengths)
        return -problem.parameters.values(point.z)

    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(search, [(a, b) for a in starts for b in starts]))
    return np.array(found).reshape(len(starts), len(starts), len(z))
