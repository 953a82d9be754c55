"""Figure 10 of NeuralSim: a double pendulum with joint friction that the model does not know.

A network at every joint force looks at all positions and velocities; the sparse-group lasso leaves what matters. Then:
how many trajectories it takes, beside a feed-forward network of equal size that predicts the next state.
"""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Float

import hybridsim as hs
from hybridsim.augment.networks import Network
from hybridsim.augment.networks.mlp import Perceptron
from hybridsim.augment.signature import Block, Signature

from .pendulum import Motion, errors, misfit, motions, pendulum, windows

EFFECTS = {
    "damping": {"damping": 0.1},
    "springs and Coulomb friction": {"stiffness": 3.0, "friction": 0.5, "friction_speed": 0.5},
}
"""What the reference system has and the model lacks."""
COUNTS = (1, 2, 5, 10, 100, 1000)


@dataclass(frozen=True)
class Curve:
    """Held-out mean squared errors over rollouts, for each number of training trajectories."""

    counts: tuple[int, ...]
    dense: tuple[float, ...]
    """Of the model with networks that are fed with everything."""
    pruned: tuple[float, ...]
    """Of the model with the blueprint that was found."""
    learned: tuple[float, ...]
    """Of the network that predicts the next state."""
    plain: float
    """Of the model that lacks the effect."""


EVERYTHING = ("joint.position[*]", "joint.velocity[*]")


def candidate(data: Motion, inputs: tuple[str, ...] = EVERYTHING, key: int = 0) -> hs.Model:
    """A network at each joint, with its numbers of normalisation from the data."""
    hybrid = hs.Blueprint(hs.Augment("joint.force", inputs, hs.MLP((8, 8), "tanh"))).graft(pendulum(), key)
    return hs.normalised(hybrid, (data.q, data.qd), contact=None)


def find(
    effect: str = "damping", count: int = 10, steps: int = 300, finish: int = 300, seed: int = 0, progress: bool = False
) -> tuple[hs.Model, hs.Discovery]:
    """The networks before, and what the data leave of them."""
    truth = pendulum(**EFFECTS[effect])
    data, held_out = (windows(motions(truth, n, seed + i), 10) for i, n in enumerate((count, 50)))
    dense = candidate(data, key=seed)
    found = hs.discover(dense, misfit, data, held_out, steps=steps, finish=finish, seed=seed, progress=progress)
    return found.points[0].model, found


def learning_curve(counts: tuple[int, ...] = COUNTS, steps: int = 1000, seed: int = 0, progress: bool = False) -> Curve:
    """How the error falls with the number of trajectories."""
    truth = pendulum(**EFFECTS["damping"])
    held_out, data = motions(truth, 100, seed + 1), motions(truth, max(counts), seed)
    dense, pruned, learned = [], [], []
    for count in counts:
        some = Motion(*(x[:count] for x in data))
        pieces = windows(some, 10)
        for inputs, found in ((EVERYTHING, dense), (("joint.velocity",), pruned)):
            hybrid = candidate(some, inputs, seed)
            trained = hs.train(
                hybrid, misfit, pieces, steps, batch_size=300, finish=steps // 5, seed=seed, progress=progress
            )
            found.append(float(errors(trained.model, held_out).mean()))
        learned.append(learn(some, held_out, 5 * steps, seed, progress))
    plain = float(errors(pendulum(), held_out).mean())
    return Curve(counts, tuple(dense), tuple(pruned), tuple(learned), plain)


def learn(data: Motion, held_out: Motion, steps: int, seed: int, progress: bool) -> float:
    """The same error of a network that was trained to predict the next state."""
    states = np.concatenate(data, axis=-1)
    shape = Signature((Block("state", "state", 4),), (Block("change", "change", 4),))
    network = hs.MLP((12, 12), "tanh").build(shape, np.random.default_rng(seed), at_zero=False)
    # It predicts changes of the state, in units of their own spread: the strongest form of this rival that we know.
    network = network.normalised(states.reshape(-1, 4), np.diff(states, axis=-2).reshape(-1, 4).std(axis=0))
    trained = hs.train(network, one_step, data, steps, batch_size=32, seed=seed, progress=progress).model
    run = hs.native.batch(lambda one: _roll_misfit(trained, one))
    return float(np.mean(np.minimum(np.nan_to_num(run(held_out), nan=np.inf), 1e6)))


def one_step(network: Perceptron, measured: Motion) -> Float[jnp.ndarray, ""]:
    """Squared error of predicted changes, in units of their spread."""
    states = jnp.concatenate(measured, axis=-1)
    made = jax.vmap(lambda state: network(state, None)[0])(states[:-1])
    return jnp.mean(((made - (states[1:] - states[:-1])) / network.last.gain) ** 2)


def _roll_misfit(network: Network, measured: Motion) -> Float[jnp.ndarray, ""]:
    states = jnp.concatenate(measured, axis=-1)

    def step(state, _):
        state = state + network(state, None)[0]
        return state, state

    _, made = lax.scan(step, states[0], None, length=len(states) - 1)
    return 2 * jnp.mean((made - states[1:]) ** 2)
