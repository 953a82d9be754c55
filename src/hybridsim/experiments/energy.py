"""Physical by construction: networks of the same size, trained on the same short motions, then left alone for a minute.

A pendulum with joint friction that its model does not know: a plain network, and one that can only take energy away. And
one with joint springs: a plain network of the positions, and one whose force is the slope of a potential.
"""

from dataclasses import dataclass
from typing import cast

import jax
import numpy as np
from jaxtyping import Float

import hybridsim as hs
from hybridsim.augment import Architecture, Networks

from .pendulum import DT, errors, misfit, motions, pendulum, windows

FRICTION = {"friction": 0.2, "friction_speed": 0.5}
SPRINGS = {"stiffness": 3.0}
SECONDS = 60
STARTS = 40


@dataclass(frozen=True)
class Case:
    effect: str
    network: str
    error: float
    """On held-out motions as long as those of the training."""
    energies: Float[np.ndarray, "starts time"]
    """Above that of the start, over the long rollouts [J]; infinite after a divergence. A learned potential counts;
    without one the springs of the reference do."""

    @property
    def gained(self) -> Float[np.ndarray, " starts"]:
        """The most energy that each long rollout ever had above its start [J]."""
        return np.max(self.energies, axis=1)

    @property
    def drift(self) -> Float[np.ndarray, " starts"]:
        """Mean energy of the last ten seconds above that of the first ten [J]."""
        tenth = self.energies.shape[1] // 6
        return np.mean(self.energies[:, -tenth:], axis=1) - np.mean(self.energies[:, :tenth], axis=1)


def run(count: int = 3, steps: int = 300, finish: int = 300, seed: int = 0, progress: bool = False) -> list[Case]:
    plain = hs.MLP((16, 16), "tanh")
    found = []
    for effect, numbers, inputs, structured in (
        ("friction", FRICTION, ("joint.position[*]", "joint.velocity[*]"), hs.Dissipative(plain)),
        ("springs", SPRINGS, ("joint.position[*]",), hs.Conservative(plain)),
    ):
        truth = pendulum(**numbers)
        data, held_out = windows(motions(truth, count, seed), 10), motions(truth, 50, seed + 1)
        for network in (plain, structured):
            hybrid = graft(inputs, network, seed)
            hybrid = hs.normalised(hybrid, (data.q, data.qd), contact=None)
            hybrid = hs.train(hybrid, misfit, data, steps, finish=finish, seed=seed, progress=progress).model
            # Where friction takes energy away, wilder motions than any that was seen; springs keep theirs.
            wildness = 2.0 if effect == "friction" else 1.0
            above = energies(hybrid, truth if network is plain else pendulum(), wildness, seed + 2)
            error = float(errors(hybrid, held_out).mean())
            found.append(Case(effect, type(network).__name__ if network is not plain else "plain", error, above))
    return found


def graft(inputs: tuple[str, ...], network: Architecture, key: int) -> hs.Model:
    return hs.Blueprint(hs.Augment("joint.force", inputs, network, apply="together")).graft(pendulum(), key)


def energies(hybrid: hs.Model, of: hs.Model, wildness: float, seed: int) -> Float[np.ndarray, "starts time"]:
    """Over a minute, above the start, from random starts: energy as the model `of` has it, and learned potentials."""
    rng = np.random.default_rng(seed)
    starts = wildness * rng.uniform(-np.pi / 2, np.pi / 2, (STARTS, 2)), wildness * rng.uniform(-1, 1, (STARTS, 2))
    network = cast(Networks, hybrid.augmentation).sites[0].network
    potential = getattr(network, "potential", lambda q: 0.0)

    def one(q, qd):
        # Of fourth order, so that what is gained is the network's doing.
        steps = 2 * round(SECONDS / DT)
        made = hs.rollout(hybrid, (q, qd), dt=DT / 2, steps=steps, integrator=hs.RungeKutta4(), contact=None)
        return jax.vmap(lambda q, qd: hs.energy(of, q, qd).total + potential(q))(made.q[::20], made.qd[::20])

    found = np.asarray(hs.native.batch(one)(*starts))
    return np.nan_to_num(found - found[:, :1], nan=np.inf)
