"""Physical by construction: networks of the same size, trained on the same short motions, then left alone for a minute.

A pendulum with joint friction that its model does not know: a plain network, and one that can only take energy away. And
one with joint springs: a plain network of the positions, and one whose force is the slope of a potential.
"""

from dataclasses import dataclass

import jax
import numpy as np
from jaxtyping import Float

import hybridsim as hs

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
    """Above that of the start, over the long rollouts, as the reference system counts it [J]; infinite after a divergence.
    Where a learned spring is not quite the reference's, this goes up and down with the motion."""
    own: Float[np.ndarray, "starts time"] | None
    """The same with the learned potential in place of the reference's springs, where there is one."""

    @property
    def gained(self) -> Float[np.ndarray, " starts"]:
        """The most energy that each long rollout ever had above its start [J]."""
        return np.max(self.energies if self.own is None else self.own, axis=1)

    @property
    def drift(self) -> Float[np.ndarray, " starts"]:
        """Mean energy of the last ten seconds above that of the first ten [J]."""
        tenth = self.energies.shape[1] // 6
        return np.mean(self.energies[:, -tenth:], axis=1) - np.mean(self.energies[:, :tenth], axis=1)


def run(count: int = 5, steps: int = 300, finish: int = 300, seed: int = 0, progress: bool = False) -> list[Case]:
    plain = hs.MLP((16, 16), "silu")
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
            above, own = energies(hybrid, truth, wildness, seed + 2)
            error = float(errors(hybrid, held_out).mean())
            name = "plain" if network is plain else type(network).__name__
            found.append(Case(effect, name, error, above, own if name == "Conservative" else None))
    return found


def graft(inputs: tuple[str, ...], network: hs.Architecture, key: int) -> hs.Model:
    return hs.Blueprint(hs.Augment("joint.force", inputs, network, apply="together")).graft(pendulum(), key)


def energies(hybrid: hs.Model, truth: hs.Model, wildness: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Over a minute, above the start, from random starts: as the reference counts it, and with a learned potential."""
    rng = np.random.default_rng(seed)
    starts = wildness * rng.uniform(-np.pi / 2, np.pi / 2, (STARTS, 2)), wildness * rng.uniform(-1, 1, (STARTS, 2))
    potential = getattr(hs.sites_of(hybrid)[0].network, "potential", lambda q: 0.0)

    def one(q, qd):
        # Of fourth order, so that what is gained is the network's doing.
        steps = 2 * round(SECONDS / DT)
        made = hs.rollout(hybrid, (q, qd), dt=DT / 2, steps=steps, integrator=hs.RungeKutta4(), contact=None)
        q, qd = made.q[::20], made.qd[::20]
        by_reference = jax.vmap(lambda q, qd: hs.energy(truth, q, qd).total)(q, qd)
        return by_reference, jax.vmap(lambda q, qd: hs.energy(pendulum(), q, qd).total + potential(q))(q, qd)

    return tuple(np.nan_to_num(np.asarray(found) - found[:, :1], nan=np.inf) for found in hs.native.batch(one)(*starts))
