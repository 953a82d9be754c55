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
from hybridsim.augment.signature import Block, Signature

from .pendulum import Motion, errors, misfit, motions, pendulum

DAMPING = 0.1
"""Of the reference system [N m s/rad]."""
HIDDEN = (8, 8)
COUNTS = (1, 2, 5, 10, 100, 1000)


@dataclass(frozen=True)
class Result:
    found: hs.Discovery
    counts: tuple[int, ...]
    hybrid: tuple[float, ...]
    """Held-out mean squared error over rollouts, for each number of training trajectories."""
    learned: tuple[float, ...]
    plain: float
    """Of the model without friction."""


def candidate(model: hs.Model, key: int = 0) -> hs.Model:
    """At each joint a network that is fed with everything."""
    everything = ("joint.position[*]", "joint.velocity[*]")
    return hs.Blueprint(hs.Augment("joint.force", everything, hs.MLP(HIDDEN))).graft(model, key)


def run(counts: tuple[int, ...] = COUNTS, steps: int = 1000, seed: int = 0, progress: bool = False) -> Result:
    truth, model = pendulum(damping=DAMPING), pendulum()
    held_out = motions(truth, 100, seed + 1)
    data = motions(truth, max(*counts, 10), seed)
    ten = Motion(*(x[:10] for x in data))
    dense = hs.normalised(candidate(model, seed), (ten.q, ten.qd), contact=None)
    found = hs.discover(dense, misfit, ten, held_out, steps=steps // 2, progress=progress)
    hybrid, learned = [], []
    for count in counts:
        some = Motion(*(x[:count] for x in data))
        few = hs.normalised(candidate(model, seed), (some.q, some.qd), contact=None)
        trained = hs.train(few, misfit, some, steps, batch_size=32, seed=seed, progress=progress).model
        hybrid.append(float(errors(trained, held_out).mean()))
        learned.append(learn(some, held_out, 5 * steps, seed, progress))
    return Result(found, counts, tuple(hybrid), tuple(learned), float(errors(model, held_out).mean()))


def learn(data: Motion, held_out: Motion, steps: int, seed: int, progress: bool) -> float:
    """The same error of a network that was trained to predict the next state."""
    states = np.concatenate(data, axis=-1)
    shape = Signature((Block("state", "state", 4),), (Block("change", "change", 4),))
    network = hs.MLP((12, 12)).build(shape, np.random.default_rng(seed), at_zero=False)
    # It predicts changes of the state, in units of their own spread: the strongest form of this rival that we know.
    network = network.normalised(states.reshape(-1, 4), np.diff(states, axis=-2).reshape(-1, 4).std(axis=0))
    trained = hs.train(network, one_step, data, steps, batch_size=32, seed=seed, progress=progress).model
    run = hs.native.batch(lambda one: _roll_misfit(trained, one))
    return float(np.mean(np.minimum(np.nan_to_num(run(held_out), nan=np.inf), 1e6)))


def one_step(network: Network, measured: Motion) -> Float[jnp.ndarray, ""]:
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
