"""Every pair with its derivatives, in awkward arrangements and random ones, compiled once."""

from functools import cache, partial

import equinox as eqx
import jax
import numpy as np

from contact.detect.cases import PAIRS, UPRIGHT, Placed, after, rates, stack, two, velocity
from contact.detect.nasty import arrangements
from hybridsim.contact.detect import Touch

RANDOM = 80


class Result(eqx.Module):
    """Leading axis: cases. The last `RANDOM` of them are random."""

    a: Placed
    b: Placed
    twists: np.ndarray
    touch: Touch
    change: Touch
    """Rate of the touch while the shapes move with these twists."""
    gradient: tuple[Placed, Placed]
    """Of the touch's product with random weights."""
    by_change: jax.Array
    """Product of the weights with the change..."""
    by_gradient: jax.Array
    """...and of the gradient with the motion: the same, by reverse mode."""


def inner(x, y):
    return sum((p * q).sum() for p, q in zip(jax.tree.leaves(x), jax.tree.leaves(y), strict=True))


def modes(pair, a, b, twists, weights):
    tangents = rates(a, twists[0]), rates(b, twists[1])
    touch, change = jax.jvp(PAIRS[pair], (a, b), tangents)
    gradient = jax.vjp(PAIRS[pair], a, b)[1](weights)
    return Result(a, b, twists, touch, change, gradient, inner(weights, change), inner(gradient, tangents))


@cache
def evaluated(pair: tuple[str, str], precision: type) -> Result:
    """Shapes of upright pairs keep their axes parallel while they move, but for one half of the random ones."""
    rng = np.random.default_rng(0)
    random = stack([two(pair, rng) for _ in range(RANDOM)])
    a, b = jax.tree.map(lambda x, y: np.concatenate([x, y]), arrangements(pair), random)
    twists = rng.normal(size=(len(a.size), 2, 6))
    if pair in UPRIGHT:
        keep = slice(0, -RANDOM // 2)
        twists[keep, :, :3] = twists[keep, :, :1] * b.pose.rotation[keep, None, :, 2]
    weights = jax.tree.map(lambda x: rng.normal(size=x.shape), jax.eval_shape(jax.vmap(PAIRS[pair]), a, b))
    numbers = jax.tree.map(lambda x: x.astype(precision), (a, b, twists, weights))
    return jax.jit(jax.vmap(partial(modes, pair)))(*numbers)


def random_ones(pair: tuple[str, str]) -> Result:
    return jax.tree.map(lambda x: x[-RANDOM:], evaluated(pair, np.float64))


@jax.jit
@jax.vmap
def approach(result: Result):
    """The rate of the distance as the velocities of the witnesses have it."""
    velocity_a = velocity(result.a, result.twists[0], result.touch.on_a)
    velocity_b = velocity(result.b, result.twists[1], result.touch.on_b)
    return (result.touch.normal * (velocity_a - velocity_b)).sum(axis=-1)


@cache
def compiled(pair: tuple[str, str]):
    """The pair, for random cases after some time of motion."""

    def at(result: Result, time):
        return PAIRS[pair](after(result.a, result.twists[0], time), after(result.b, result.twists[1], time))

    return jax.jit(jax.vmap(at, in_axes=(0, None)))
