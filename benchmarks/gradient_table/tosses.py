"""Whole motions with many impacts: the derivative of where they end, against differences of the whole motion.

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
from hybridsim.dynamics import move

from .motions import KINDS, Motion, motion, random_numbers
from .walk import FAST

SHORTEST, MOST = 100, 700
"""Steps of a toss. All are computed so far, and each is differentiated at its own end."""
STEPS = np.array([1e-5, 1e-6, 1e-7, 1e-8])
"""Of differences."""
NOISE = 1e-11
"""Changes of the end that are all below this are rounding [m]: the mass of a single body has no influence."""
NOTHING = 1e-4
"""What the derivative by an input without influence may be, beside the largest of the toss."""
UNSEEN = 1e-7
"""A derivative below this shows in no difference: what all bodies hold at rest has only such ones."""
REASONS = ("kink", "jump", "curved", "noise")
"""Why differences may say nothing: two slopes, two values, slopes that change within the steps, or rounding."""
WRONG = 0.02
"""Relative error of a derivative beyond which it is wrong."""
NUMBERS = ("log friction", "log restitution", "log mass", "log softness", "position gain", "velocity gain")
"""Of all pairs, or of all links, together."""


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
    """At the finer of the two steps that agree best."""
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
        allowed = WRONG * size + np.maximum(UNSEEN, np.where(self.no_influence, NOTHING * np.max(size), 0.0))
        apart = np.maximum(np.abs(self.derivative - self.differences), np.abs(self.forward - self.differences))
        wrong = ~(apart <= allowed) & np.array([not reason for reason in self.left_out])
        wrong |= ~np.isfinite(self.derivative) | ~np.isfinite(self.forward)
        return {name: float(x) for name, x, bad in zip(self.names, apart / allowed * WRONG, wrong, strict=True) if bad}

    @property
    def where(self) -> str:
        errors = ", ".join(f"{name} {error:.1e}" for name, error in self.errors.items())
        return f'--kinds "{self.kind}" --seed {self.seed}: {self.steps} steps; by {errors}'


def _end(arrays: tuple, theta):
    """The state at the end along a direction; theta: `NUMBERS`, then changes of q, of qd and of the control."""
    model, q, qd, control, direction, dt, steps = arrays
    numbers, (dq, dqd, push) = theta[: len(NUMBERS)], jnp.split(theta[len(NUMBERS) :], _places(model))
    contacts, links = model.contacts, model.links
    friction, restitution, mass, softness = jnp.exp(numbers[:4])
    moved = eqx.tree_at(
        lambda m: (
            *(m.links.mass, m.links.inertia, m.contacts.friction, m.contacts.restitution, m.contacts.softness),
            *(m.contacts.position_gain, m.contacts.velocity_gain),
        ),
        model,
        (
            *(mass * links.mass, mass * links.inertia, friction * contacts.friction),
            *(restitution * contacts.restitution, softness * contacts.softness),
            *(contacts.position_gain + numbers[4], contacts.velocity_gain + numbers[5]),
        ),
    )
    start, _ = move(model, jnp.asarray(q), jnp.zeros_like(qd), dq, 1.0)
    path = hs.rollout(moved, (start, qd + dqd), jnp.broadcast_to(control + push, (MOST, len(control))), dt=dt)
    end = jnp.concatenate([path.q, dt * path.qd], axis=1)
    return jnp.dot(direction, jnp.take(end, steps, axis=0)), jnp.max(jnp.abs(path.qd))


def _places(model: hs.Model) -> list[int]:
    return [model.nv, 2 * model.nv]


class Tosses:
    """Programs that are shared by all motions of the same build."""

    def __init__(self):
        self._values = hs.native.batch(_end, in_axes=(None, 0), optimise=1)
        self._gradient = hs.native.value_and_grad(_end, argnums=1, has_aux=True)
        self._forward = hs.native.batch(
            lambda arrays, x, dx: jax.jvp(lambda x: _end(arrays, x)[0], (x,), (dx,))[1],
            in_axes=(None, None, 0),
            optimise=1,
        )

    def toss(self, of: Motion) -> Toss | None:
        """None for a motion that becomes too fast for its time step."""
        rng, model = random_numbers(of.kind, of.seed), of.model
        steps = int(rng.integers(SHORTEST, MOST + 1))
        direction = rng.standard_normal(model.nq + model.nv)
        arrays = (model, of.q, of.qd, of.control, direction, np.array(of.dt), np.array(steps))
        zero = np.zeros(len(NUMBERS) + 2 * model.nv + len(of.control))
        (_, fastest), derivative = self._gradient(arrays, zero)
        if not fastest * of.dt <= FAST:
            return None
        forward = np.asarray(self._forward(arrays, zero, np.eye(len(zero))))
        offsets = np.concatenate([STEPS, -STEPS])[:, None, None] * np.eye(len(zero))
        values = np.asarray(self._values(arrays, np.concatenate([zero[None], offsets.reshape(-1, len(zero))]))[0])
        above, below = values[1:].reshape(2, len(STEPS), len(zero)) - values[0]
        groups = (("q", model.nv), ("qd", model.nv), ("control", len(of.control)))
        names = [*NUMBERS, *(f"{group} {i}" for group, count in groups for i in range(count))]
        judged = [_judge(*column) for column in zip(above.T, below.T, strict=True)]
        central, left_out = np.array([slope for slope, _ in judged]), [reason for _, reason in judged]
        nothing = np.max(np.abs([above, below]), axis=(0, 1)) < NOISE
        return Toss(of.kind, of.seed, steps, names, np.asarray(derivative), forward, central, nothing, left_out)

    def tosses(self, count: int, kinds: tuple[str, ...] = (), seed: int = 0) -> Iterator[Toss]:
        """As many of each kind."""
        kinds = kinds or tuple(KINDS)
        for i, kind in enumerate(kinds):
            left, number = count // len(kinds) + (i < count % len(kinds)), seed
            while left:
                toss = self.toss(motion(kind, number))
                number += 1
                if toss is not None:
                    yield toss
                    left -= 1


def _judge(above: np.ndarray, below: np.ndarray) -> tuple[float, str]:
    """The slope, and why it says nothing: empty where central differences at three steps in a row agree with each other and
    both sides have the same slope. `above` and `below` are changes of the value."""
    ahead, behind = above / STEPS, -below / STEPS
    central = (ahead + behind) / 2
    for i in range(len(STEPS) - 2):
        coarse, middle, fine = central[i : i + 3]
        size = abs(fine)
        if abs(middle - fine) <= 1e-3 * size + 1e-8 and abs(coarse - middle) <= 1e-2 * size + 1e-8:
            one_sided = abs(ahead[i + 2] - behind[i + 2]) > 1e-2 * size + 1e-8 + 4 * 1e-15 / STEPS[i + 2]
            return fine, "kink" if one_sided else ""
    size = abs(central[-2])
    if np.max(np.abs([above, below])) < NOISE:
        return central[-2], "noise"
    if max(abs(above[-2]), abs(below[-2])) > 0.3 * max(abs(above[0]), abs(below[0])):
        return central[-2], "jump"
    kink = np.all(np.abs(ahead - behind)[1:-1] > 0.1 * size)
    return central[-2], "kink" if kink else "curved"


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
