"""Figure 10 of NeuralSim: a double pendulum with joint friction that the model does not know.

A network at every joint force looks at all positions and velocities; the sparse-group lasso leaves what matters. Then:
how many trajectories it takes, beside a feed-forward network of equal size that predicts the next state.
"""

from dataclasses import dataclass
from itertools import pairwise

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Float

import hybridsim as hs

from .pendulum import Array, Motion, errors, misfit, motions, pendulum, windows

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


class NextState(eqx.Module):
    """The rival: a network of two hidden layers that knows nothing of mechanics.

    It predicts changes of the state, in units of their own spread, from states in units of theirs: the strongest form
    of it that we know.
    """

    weights: tuple[Float[Array, "_ _"], ...]
    biases: tuple[Float[Array, " _"], ...]

    @classmethod
    def random(cls, seed: int, sizes: tuple[int, ...] = (4, 12, 12, 4)) -> "NextState":
        rng = np.random.default_rng(seed)
        limits = [(n, m, np.sqrt(6 / (n + m))) for n, m in pairwise(sizes)]
        return cls(
            tuple(rng.uniform(-limit, limit, (m, n)) for n, m, limit in limits), tuple(np.zeros(n) for n in sizes[1:])
        )

    def __call__(self, x: Float[Array, "4"]) -> Float[Array, "4"]:
        *hidden, last = zip(self.weights, self.biases, strict=True)
        for weight, bias in hidden:
            x = jnp.tanh(weight @ x + bias)
        return last[0] @ x + last[1]


def learn(data: Motion, held_out: Motion, steps: int, seed: int, progress: bool) -> float:
    """The same error of a network that was trained to predict the next state."""
    states = np.concatenate(data, axis=-1)
    centre, spread = states.mean(axis=(0, 1)), states.std(axis=(0, 1))
    change = np.diff(states, axis=-2).std(axis=(0, 1))

    def one_step(network, measured):
        """Squared error of predicted changes, in units of their spread."""
        states = jnp.concatenate(measured, axis=-1)
        made = jax.vmap(network)((states[:-1] - centre) / spread)
        return jnp.mean((made - (states[1:] - states[:-1]) / change) ** 2)

    def over_time(measured):
        states = jnp.concatenate(measured, axis=-1)

        def step(state, _):
            state = state + change * trained((state - centre) / spread)
            return state, state

        _, made = lax.scan(step, states[0], None, length=len(states) - 1)
        return 2 * jnp.mean((made - states[1:]) ** 2)

    trained = hs.train(NextState.random(seed), one_step, data, steps, batch_size=32, seed=seed, progress=progress).model
    found = np.asarray(hs.native.batch(over_time)(held_out))
    # A motion that left all bounds counts as a large error, not as none.
    return float(np.mean(np.minimum(np.nan_to_num(found, nan=np.inf), 1e6)))
