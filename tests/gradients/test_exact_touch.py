"""Bodies that start exactly touching are at a kink: the derivative is that of one side, whatever rounding errors say."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hybridsim as hs
from hybridsim.contact.impulse.targets import Closing, of_momentum

DT = 2e-3
MODEL = hs.world(
    hs.prefixed(hs.free_body(hs.solid("box", 30.0, "box", (0.1, 0.1, 0.1))), "lower/"),
    hs.prefixed(hs.free_body(hs.solid("box", 0.04, "box", (0.1, 0.1, 0.1))), "upper/"),
    hs.ground(),
)


def velocity_after(raised, q, sizes):
    """Of the upper box, along z, after a step from rest; `raised` is added to its height."""
    model = eqx.tree_at(lambda m: m.geometry.size, MODEL, sizes)
    return hs.step(model, (q + raised * np.eye(14)[9], jnp.zeros(12)), dt=DT).qd[11]


value = jax.jit(velocity_after)
derivative = jax.jit(jax.grad(velocity_after))


def standing(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """q and half sizes of two boxes on each other, turned about the vertical: heights are sums, as a user computes them."""
    sizes = np.concatenate([rng.uniform(0.05, 0.12, (2, 3)), np.zeros((1, 3))])
    places = []
    for height in (sizes[0, 2], 2 * sizes[0, 2] + sizes[1, 2]):
        half = rng.uniform(-1.5, 1.5)
        places += [*rng.uniform(-0.02, 0.02, 2), height, np.cos(half), 0.0, 0.0, np.sin(half)]
    return np.array(places), sizes


@pytest.mark.parametrize("seed", range(30))
def test_a_stack_that_touches_exactly(seed):
    """The upper box follows a gap at once, or rests. Corners must not choose between the two one by one."""
    start, h = standing(np.random.default_rng(seed)), 1e-7
    sides = [float((value(h, *start) - value(0.0, *start)) / h), float((value(0.0, *start) - value(-h, *start)) / h)]
    assert sides == pytest.approx([-1 / DT, 0.0], abs=0.01 / DT)
    slope = float(derivative(0.0, *start))
    assert min(abs(slope - side) for side in sides) < 0.01 / DT


@pytest.mark.parametrize("gaps", [(1e-17, -1e-17), (-3e-16, 0.0), (0.0, 5e-16)])
def test_corners_that_rounding_sets_apart_have_the_same_target(gaps):
    """Of two bodies that fall alike, so that nothing but rounding errors says whether they approach."""
    still, one = np.zeros(2), np.ones(2)

    def targets(gap):
        return of_momentum(Closing(gap, still, still, 0.2 * one, one, one), DT)[0]

    slopes = np.diag(jax.jacfwd(targets)(jnp.array(gaps)))
    assert slopes[0] == slopes[1] == 0.0
    assert np.asarray(targets(jnp.array(gaps))) == pytest.approx([0.0, 0.0])
