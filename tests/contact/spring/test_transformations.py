"""Derivatives of all numbers, nasty points, precisions, vmap, and native code."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from gradients.check import Derivatives, assert_agree
from hybridsim import native
from hybridsim.contact.spring import Andersson, BrownMcPhee, HuntCrossley, PairNumbers, SigmoidOnset, friction_force
from hybridsim.model.contacts import Contacts

from .laws import FRICTION, NAMES, NORMAL, SLIDING, numbers

OF_NORMAL = ("stiffness", "dissipation", "exponent")
OF_FRICTION = tuple(name for name in NAMES if name not in OF_NORMAL)


def normal(law, depth, speed, pair):
    return law(depth, speed, pair)


@pytest.mark.parametrize("name", NORMAL)
def test_derivatives_of_the_normal_force(name):
    """Of depth, speed, every number, and the sharpness of the onset, for points that overlap, slow and fast."""
    # Blunt enough that differences see it.
    law = jax.tree.map(lambda number: min(number, 3.0), NORMAL[name])
    silent = tuple(f"pair/{other}" for other in OF_FRICTION)
    arguments = {
        "law": law,
        "depth": jnp.array([0.3, 0.4, 0.9, 0.5]),
        "speed": jnp.array([-0.4, 0.6, 2.0, -0.3]),
        "pair": numbers(4, stiffness=0.8, dissipation=0.7, exponent=1.5),
    }
    assert_agree(Derivatives(normal).check(arguments), silent=silent)


@pytest.mark.parametrize("name", SLIDING)
def test_derivatives_of_friction(name):
    """Of load, velocity, every number, and the law's own."""
    silent = tuple(f"numbers/{other}" for other in OF_NORMAL)
    if "andersson" in name:
        silent += ("numbers/transition_speed",)
    if name == "coulomb":
        silent += ("numbers/static_friction",)
    law = Andersson(vs=0.5, p=1.5, ktanh=3.0) if "andersson" in name else SLIDING[name]
    arguments = {
        "law": law,
        "load": jnp.array([3.0, 50.0, 1.0]),
        "velocity": jnp.array([[0.2, 0.1, 0.0], [-0.5, 0.3, 0.6], [1.5, 0.0, -1.0]]),
        "numbers": numbers(3, transition_speed=0.4),
    }
    assert_agree(Derivatives(friction_force).check(arguments), silent=silent)


def all_derivatives(function, *arguments):
    """Forward and reverse, and one of second order, of the sum."""
    total = lambda *a: jnp.sum(function(*a))  # noqa: E731
    places = tuple(range(len(arguments)))
    first = jax.grad(total, places)
    ones = jax.tree.map(jnp.ones_like, arguments)
    return jax.jit(lambda *a: (first(*a), jax.jvp(function, a, ones)[1], jax.jvp(first, a, ones)[1]))(*arguments)


def assert_finite(tree, note=""):
    for leaf in jax.tree.leaves(tree):
        assert np.all(np.isfinite(leaf)), (note, leaf)


def corners(dtype):
    """Zeros of both signs, denormal, tiny and huge numbers."""
    tiny, huge = np.finfo(dtype).tiny, {np.float64: 1e60, np.float32: 1e6}[dtype]
    sizes = np.array([0.0, tiny / 8, tiny, 1e3 * tiny, 1e-20, 1e-8, 1e-2, 1.0, huge], dtype=dtype)
    return np.concatenate([sizes, -sizes])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("exponent", [1.0, 1.5, 2.0])
@pytest.mark.parametrize("name", NORMAL)
def test_normal_force_has_no_nasty_points(name, exponent, dtype):
    """The rebound of TDS has an infinite slope at speed zero, so there only the values and slopes elsewhere."""
    sizes = corners(dtype)
    depth, speed = (jnp.asarray(a.ravel()) for a in np.meshgrid(sizes, sizes))
    if name == "as in TDS":
        speed = jnp.where(jnp.abs(speed) < 1e-8, jnp.zeros_like(speed), speed)
    pair = numbers(len(depth), dtype, exponent=exponent)
    force = NORMAL[name](depth, speed, pair)
    assert force.dtype == dtype
    assert_finite(force)
    # Second derivatives of x^n are infinite at zero for n < 2: only the first ones are to be finite.
    first, forward, second = all_derivatives(NORMAL[name], depth, speed, pair)
    assert_finite(first)
    assert not any(np.any(np.isnan(leaf)) for leaf in jax.tree.leaves((forward, second)))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", FRICTION)
def test_friction_has_no_nasty_points(name, dtype):
    sizes = corners(dtype)
    velocity = jnp.asarray(np.stack(np.meshgrid(sizes, sizes, sizes[:3]), axis=-1).reshape(-1, 3))
    pair = numbers(len(velocity), dtype)
    for load in (0.0, 1e5):
        loads = jnp.full(len(velocity), load, dtype=dtype)
        assert friction_force(FRICTION[name], loads, velocity, pair).dtype == dtype
        assert_finite(all_derivatives(lambda *a: friction_force(FRICTION[name], *a), loads, velocity, pair), load)


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0])
def test_andersson_has_no_nasty_points_in_its_own_numbers(p):
    # The last one is so fast that its square overflows.
    speeds = jnp.abs(jnp.asarray([*corners(np.float64), 1e200]))
    pair = numbers(len(speeds))
    own = (jnp.array(0.1), jnp.array(p), jnp.array(10.0))
    assert_finite(all_derivatives(lambda *a: Andersson(*a).ratio(speeds, pair), *own))


def test_single_precision_agrees_with_double():
    depth, speed = np.array([1e-4, 0.01, -0.1]), np.array([0.3, -0.4, 1.0])
    velocity = np.array([[1e-3, 0, 0], [0, 0.02, 0.01], [0.0, 0, 0]])

    def forces(dtype):
        pair = numbers(3, dtype)
        load = HuntCrossley()(depth.astype(dtype), speed.astype(dtype), pair)
        return load, friction_force(BrownMcPhee(), load, velocity.astype(dtype), pair)

    for single, double in zip(forces(np.float32), forces(np.float64), strict=True):
        assert single.dtype == np.float32
        np.testing.assert_allclose(single, double, rtol=1e-5)


def total_force(normal_law, friction_law, depth, speed, velocity, pair):
    load = normal_law(depth, speed, pair)
    return load, friction_force(friction_law, load, velocity, pair)


POINTS = (
    np.array([-0.1, 0.0, 0.003, 0.02, 0.1]),
    np.array([1.0, 0.4, -0.3, 0.0, -5.0]),
    np.array([[0.0, 0, 0], [0.1, 0, 0], [1e-3, 2e-3, 0], [0.0, 0, 0], [0.3, 1.0, 2.0]]),
)


def test_mapped_over_a_batch():
    """Each point is alone: a batch is the points one by one, and a changed point changes no other."""
    law = HuntCrossley(SigmoidOnset(100.0))
    pair = numbers(5, exponent=1.7)
    together = total_force(law, BrownMcPhee(), *POINTS, pair)
    rows = jax.tree.map(lambda x: x[:, None], (*map(jnp.asarray, POINTS), pair))
    alone = jax.jit(jax.vmap(lambda *a: total_force(law, BrownMcPhee(), *a)))(*rows)
    for one, other in zip(together, alone, strict=True):
        np.testing.assert_allclose(one, np.asarray(other)[:, 0], rtol=1e-14)


@pytest.mark.parametrize(("normal_name", "friction_name"), list(zip(NORMAL, itertools.cycle(FRICTION), strict=False)))
def test_native_code_gives_the_same(normal_name, friction_name):
    """Value and gradient."""
    pair = jax.tree.map(np.asarray, numbers(5))

    def loss(depth, speed, velocity, pair):
        load, friction = total_force(NORMAL[normal_name], FRICTION[friction_name], depth, speed, velocity, pair)
        return jnp.sum(load) + jnp.sum(friction @ jnp.array([1.0, -2.0, 0.5]))

    function = jax.value_and_grad(loss, (0, 1, 2, 3))
    expected, found = function(*map(jnp.asarray, POINTS), pair), native.jit(function)(*POINTS, pair)
    for one, other in zip(jax.tree.leaves(expected), jax.tree.leaves(found), strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-12, atol=1e-12 * np.abs(one).max(initial=1e-300))


def test_numbers_of_the_pair_of_each_point():
    rng = np.random.default_rng(0)
    others = ("restitution", "position_gain", "velocity_gain", "softness")
    values = {name: rng.uniform(size=3) for name in (*NAMES, *others)}
    contacts = Contacts(**values, pairs=((0, 1), (0, 2), (1, 2)), upright=frozenset())
    pair = PairNumbers.of(contacts, np.array([2, 0, 0, 1]))
    for name in NAMES:
        np.testing.assert_array_equal(getattr(pair, name), values[name][[2, 0, 0, 1]])
