"""A driven arm whose motors answer late and saturate, which its model does not know.

The commanded torque goes through a network that sees its last samples, or that remembers by itself.
"""

from dataclasses import dataclass
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

import hybridsim as hs

from .pendulum import Array

DT, STEPS = 1e-2, 200
DELAY, LIMIT = 5, 2.0
"""Of the motors: steps, and the largest torque [N m]."""


class Drive(NamedTuple):
    """One run: where it starts, what was commanded, and what happened."""

    q: Float[Array, "*many time joints"]
    qd: Float[Array, "*many time joints"]
    command: Float[Array, "*many steps joints"]


@dataclass(frozen=True)
class Result:
    errors: dict[str, float]
    """Held-out mean squared error of each model."""
    measured: Drive
    """The first held-out run."""
    motions: dict[str, Drive]
    """What each model makes of it."""


def arm() -> hs.Model:
    return hs.chain(2, length=0.5, damping=0.3)


def drives(count: int, seed: int) -> Drive:
    """Runs of the reference arm under sums of sines that ask for more than its motors can give."""
    rng = np.random.default_rng(seed)
    t = DT * np.arange(STEPS)
    amplitude = rng.uniform(0.3, 1.5, (count, 1, 2, 3))
    frequency = rng.uniform(0.3, 3.0, (count, 1, 2, 3))
    phase = rng.uniform(0, 2 * np.pi, (count, 1, 2, 3))
    command = np.sum(amplitude * np.sin(2 * np.pi * frequency * t[:, None, None] + phase), axis=-1)
    # Before the first step the command has been what it is in it.
    late = np.concatenate([np.repeat(command[:, :1], DELAY, axis=1), command[:, :-DELAY]], axis=1)
    torque = np.clip(late, -LIMIT, LIMIT)
    model, start = arm(), (np.zeros(2), np.zeros(2))

    def one(torque):
        made = hs.rollout(model, start, torque, dt=DT, contact=None)
        return made.q, made.qd

    q, qd = hs.native.batch(one)(torque)
    return Drive(q, qd, command)


def misfit(model: hs.Model, drive: Drive) -> Float[Array, ""]:
    made = hs.rollout(model, (drive.q[0], drive.qd[0]), drive.command, dt=DT, contact=None)
    return jnp.mean((made.q - drive.q) ** 2) + 0.1 * jnp.mean((made.qd - drive.qd) ** 2)


CANDIDATES: dict[str, tuple[tuple[str | hs.Input, ...], hs.Architecture]] = {
    "network of the command now": (("joint.command",), hs.MLP((16, 16))),
    "network of its last 8 samples": (("joint.command", hs.history("joint.command", 8)), hs.MLP((16, 16))),
    "recurrent network (GRU)": (("joint.command",), hs.GRU(12)),
}


def motor_network(inputs: tuple[str | hs.Input, ...], network: hs.Architecture, key: int = 0) -> hs.Model:
    """The same motor at both joints: one network is shared."""
    augment = hs.Augment("joint.command", inputs, network, apply="shared", mode="replace")
    return hs.Blueprint(augment).graft(arm(), key)


def run(count: int = 10, steps: int = 2000, seed: int = 0, progress: bool = False) -> Result:
    data, held_out = drives(count, seed), drives(20, seed + 1)
    found = {"the model alone": arm()}
    for name, (inputs, network) in CANDIDATES.items():
        model = motor_network(inputs, network, seed)
        model = hs.normalised(model, (data.q[:, :-1], data.qd[:, :-1]), data.command, {"joint.command": LIMIT}, None)
        found[name] = hs.train(model, misfit, data, steps, seed=seed, progress=progress).model
    errors, motions = {}, {}
    for name, model in found.items():
        made = hs.native.batch(lambda drive, model=model: (misfit(model, drive), *_motion(model, drive)))(held_out)
        errors[name] = float(np.mean(made[0]))
        motions[name] = Drive(made[1][0], made[2][0], held_out.command[0])
    return Result(errors, Drive(*(x[0] for x in held_out)), motions)


def _motion(model: hs.Model, drive: Drive) -> tuple[Array, Array]:
    made = hs.rollout(model, (drive.q[0], drive.qd[0]), drive.command, dt=DT, contact=None)
    return made.q, made.qd
