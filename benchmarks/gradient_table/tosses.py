"""Whole tosses with several impacts: the derivative of where a body ends, against differences of the whole motion.

PYTHONPATH=benchmarks python -m gradient_table.tosses [--count 240] [--kinds cube] [--seed 0]
"""

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import tyro
from rich.console import Console

import hybridsim as hs

from .motions import fall, log_uniform, solid, turned, world

MOST = 700
"""Steps of the longest toss. All are computed so far, and each is differentiated at its own end."""
STEPS = np.array([1e-5, 1e-6, 1e-7])
"""Of differences."""
NOISE = 1e-11
"""Changes of the end that are all below this are rounding [m]: the mass of a single body has no influence."""
NOTHING = 1e-4
"""What the derivative by an input without influence may be, beside the largest of the toss."""
REASONS = ("kink", "jump", "curved", "noise")
"""Why differences may say nothing: two slopes, two values, slopes that change within the steps, or rounding."""
WRONG = 0.02
"""Relative error of a derivative beyond which it is wrong."""

KINDS: dict[str, list[tuple[str, tuple[float, ...]]]] = {
    "cube": [("box", (1.0, 1.0, 1.0))],
    "flat box": [("box", (1.0, 0.7, 0.25))],
    "tall box": [("box", (0.25, 0.3, 1.0))],
    "plank": [("box", (0.15, 1.0, 0.5))],
    "sphere": [("sphere", (1.0,))],
    "capsule": [("capsule", (0.4, 0.8))],
    "cylinder": [("cylinder", (0.6, 0.5))],
    "ball and box": [("box", (1.0, 0.8, 0.4)), ("sphere", (0.7,))],
}
"""By name: the shapes of the bodies that are thrown, and their proportions."""


@dataclass(frozen=True)
class Throw:
    """A toss and the direction along which its end is measured."""

    kind: str
    seed: int
    model: hs.Model
    q: np.ndarray
    qd: np.ndarray
    direction: np.ndarray
    dt: float
    steps: int


@dataclass(frozen=True)
class Toss:
    """What was found."""

    kind: str
    seed: int
    steps: int
    names: list[str]
    derivative: np.ndarray
    forward: np.ndarray
    differences: np.ndarray
    """At the finest step."""
    no_influence: np.ndarray
    """Whether changes of an input change the end by rounding only."""
    left_out: list[str]
    """Of each input: why differences say nothing; empty where they agree with each other."""

    @property
    def tested(self) -> int:
        return sum(not reason for reason in self.left_out)

    @property
    def errors(self) -> dict[str, float]:
        """Of inputs whose derivative is wrong in either mode."""
        size = np.abs(self.differences)
        allowed = WRONG * size + np.where(self.no_influence, NOTHING * np.max(size), 1e-7)
        apart = np.maximum(np.abs(self.derivative - self.differences), np.abs(self.forward - self.differences))
        wrong = ~(apart <= allowed) & np.array([not reason for reason in self.left_out])
        return {name: float(x) for name, x, bad in zip(self.names, apart / allowed * WRONG, wrong, strict=True) if bad}

    @property
    def where(self) -> str:
        errors = ", ".join(f"{name} {error:.1e}" for name, error in self.errors.items())
        return f'--kinds "{self.kind}" --seed {self.seed}: {self.steps} steps; by {errors}'


def throw(kind: str, seed: int) -> Throw:
    """Bodies of random size, mass and numbers of contact in random motion above the ground."""
    rng = np.random.default_rng([seed, sorted(KINDS).index(kind)])
    scale, dt = log_uniform(rng, 0.01, 0.3), log_uniform(rng, 5e-4, 2e-3)
    sizes = [scale * np.array(size) * rng.uniform(0.8, 1.2, len(size)) for _, size in KINDS[kind]]
    solids = [
        solid(f"b{i}", rng, shape, size) for i, ((shape, _), size) in enumerate(zip(KINDS[kind], sizes, strict=True))
    ]
    model = world(rng, solids, friction=(0.05, 1.0))
    model = hs.with_contacts(model, restitution=float(rng.uniform(0.05, 0.6)), position_gain=1.0)
    q, qd = model.rest()
    top, speed = 0.5 * fall(rng, dt), min(1.0, 0.05 * scale / dt)
    for i, size in enumerate(sizes):
        reach = float(np.linalg.norm(size))
        q[7 * i : 7 * i + 7] = [*rng.uniform(-0.3, 0.3, 2) * reach, top + reach, *turned(rng)]
        qd[6 * i : 6 * i + 6] = [*speed * rng.uniform(-8, 8, 3), *speed * rng.uniform(-1, 1, 2), -speed * rng.random()]
        top += 2 * reach
    direction = np.zeros(model.nq)
    for i in range(len(sizes)):
        direction[7 * i : 7 * i + 3] = rng.standard_normal(3)
    direction /= np.linalg.norm(direction)
    return Throw(kind, seed, model, q, qd, direction, dt, int(rng.integers(100, MOST + 1)))


def _end(arrays: tuple, theta):
    """The position at the end along a direction; theta: logarithms of friction, restitution and masses, then velocities."""
    model, q, qd, direction, dt, steps = arrays
    friction, restitution, mass = jnp.exp(theta[:3])
    contacts, links = model.contacts, model.links
    moved = eqx.tree_at(
        lambda m: (m.contacts.friction, m.contacts.restitution, m.links.mass, m.links.inertia),
        model,
        (friction * contacts.friction, restitution * contacts.restitution, mass * links.mass, mass * links.inertia),
    )
    path = hs.rollout(moved, (q, qd + theta[3:]), dt=dt, steps=MOST)
    return jnp.dot(direction, jnp.take(path.q, steps, axis=0))


class Tosses:
    """Programs that are shared by all tosses of the same kinds of shapes."""

    def __init__(self):
        self._values = hs.native.batch(_end, in_axes=(None, 0), optimise=1)
        self._gradient = hs.native.value_and_grad(_end, argnums=1)
        self._forward = hs.native.batch(
            lambda arrays, x, dx: jax.jvp(lambda x: _end(arrays, x), (x,), (dx,))[1],
            in_axes=(None, None, 0),
            optimise=1,
        )

    def toss(self, of: Throw) -> Toss:
        arrays = (of.model, of.q, of.qd, of.direction, np.array(of.dt), np.array(of.steps))
        zero = np.zeros(3 + of.model.nv)
        _, derivative = self._gradient(arrays, zero)
        forward = np.asarray(self._forward(arrays, zero, np.eye(len(zero))))
        offsets = np.concatenate([STEPS, -STEPS])[:, None, None] * np.eye(len(zero))
        values = np.asarray(self._values(arrays, np.concatenate([zero[None], offsets.reshape(-1, len(zero))])))
        above, below = values[1:].reshape(2, len(STEPS), len(zero)) - values[0]
        names = ["log friction", "log restitution", "log mass", *(f"velocity {i}" for i in range(of.model.nv))]
        left_out = [_why_not(*column) for column in zip(above.T, below.T, strict=True)]
        central = (above[-1] - below[-1]) / (2 * STEPS[-1])
        nothing = np.max(np.abs([above, below]), axis=(0, 1)) < NOISE
        return Toss(of.kind, of.seed, of.steps, names, np.asarray(derivative), forward, central, nothing, left_out)

    def tosses(self, count: int, kinds: tuple[str, ...] = (), seed: int = 0) -> Iterator[Toss]:
        """As many of each kind."""
        kinds = kinds or tuple(KINDS)
        for i, kind in enumerate(kinds):
            for k in range(count // len(kinds) + (i < count % len(kinds))):
                yield self.toss(throw(kind, seed + k))


def _why_not(above: np.ndarray, below: np.ndarray) -> str:
    """Empty where central differences at three steps agree with each other; `above` and `below` are changes of the value."""
    coarse, middle, fine = (above - below) / (2 * STEPS)
    size = abs(fine)
    if abs(middle - fine) <= 1e-3 * size + 1e-8 and abs(coarse - middle) <= 1e-2 * size + 1e-8:
        return ""
    if np.max(np.abs([above, below])) < NOISE:
        return "noise"
    if max(abs(above[-1]), abs(below[-1])) > 0.3 * max(abs(above[0]), abs(below[0])):
        return "jump"
    sides = (above / STEPS + below / STEPS)[1:]
    return "kink" if np.all(np.abs(sides) > 0.1 * size) else "curved"


def summary(found: list[Toss]) -> dict[str, int]:
    reasons = Counter(reason for toss in found for reason in toss.left_out if reason)
    return {
        "tosses": len(found),
        "tested": sum(toss.tested > 0 for toss in found),
        "derivatives": sum(toss.tested for toss in found),
        **{reason: reasons[reason] for reason in REASONS},
        "wrong": sum(bool(toss.errors) for toss in found),
    }


def main(count: int = 240, kinds: tuple[str, ...] = (), seed: int = 0) -> None:
    """Print what was found, and every toss with a wrong derivative."""
    from .survey_tables import of_tosses, terminal

    jax.config.update("jax_enable_x64", True)
    console, started, found = Console(width=180), time.perf_counter(), []
    for toss in Tosses().tosses(count, kinds, seed):
        found.append(toss)
        if toss.errors:
            console.print(toss.where, highlight=False, soft_wrap=True)
    console.print(terminal("Tosses", of_tosses(found)))
    console.print(f"{time.perf_counter() - started:.0f} s")
    raise SystemExit(any(toss.errors for toss in found))


if __name__ == "__main__":
    tyro.cli(main)
