"""Five links fall on a plane, as in TDS: values digit for digit, and an independent implementation in the plane."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hybridsim as hs

LINKS, HALF, RADIUS, DT = 5, 0.5, 0.05, 1e-3
PIECE = 500
MASS = np.array([1, 2.16, 2.16, 2.16, 2.16])
INERTIA = np.array([0.00494875] + [0.00539427] * 4)
SPEEDS = np.array([0.1, 0.2, 0.3, 0.4, 0.5])
GRADIENT = np.array([0.2005692878, 0.1525636797, 0.1025380879, 0.053362589, 0.0219375365])


def five_links(plane=True):
    links = [
        hs.Link(f"l{i}", MASS[i], (0, HALF, 0), INERTIA[i], [hs.Geom("sphere", RADIUS, (0, HALF, 0))])
        for i in range(LINKS)
    ]
    joints = [
        hs.Joint(
            f"j{i}",
            "revolute",
            f"l{i - 1}" if i else "world",
            f"l{i}",
            position=(0, HALF, 0) if i else (0, 0, 1),
            axis=(1, 0, 0),
        )
        for i in range(LINKS)
    ]
    arm = hs.build(links, joints)
    model = hs.world(arm, hs.ground(friction=0.5)) if plane else arm
    # The softness of TDS, 1e-5 / kg, is not relative to masses.
    return hs.with_contacts(model, position_gain=0.2, softness=1e-5 * MASS if plane else 1e-5)


def cost(model, speeds, steps, contact):
    path = hs.rollout(model, (jnp.zeros(LINKS), speeds), dt=DT, steps=steps, contact=contact)
    return jnp.mean(path.q[1:])


def computed(steps, sweeps, model=None):
    """Mean of all angles, from pieces of 500 steps by one compiled function."""
    model = five_links() if model is None else model
    q, qd, total = np.zeros(LINKS), SPEEDS, 0.0
    for first in range(0, steps, PIECE):
        path = _piece(sweeps)(model, q, qd)
        total += np.sum(np.asarray(path.q)[1 : 1 + min(PIECE, steps - first)])
        q, qd = np.asarray(path.q[-1]), np.asarray(path.qd[-1])
    return total / steps / LINKS


@cache
def _piece(sweeps):
    contact = None if sweeps is None else hs.Impulses.tds(sweeps)
    # The one that takes long runs is compiled by ourselves; XLA compiles a little faster.
    compiler = jax.jit if sweeps in (1, 5, 10) else hs.native.jit
    return compiler(lambda m, q, qd: hs.rollout(m, (q, qd), dt=DT, steps=PIECE, contact=contact))


def independent(steps, sweeps):
    """The same in the plane (y, z), from Newton's laws in absolute angles and a dense Delassus matrix."""
    q, qd, total = np.zeros(LINKS), SPEEDS.copy(), 0.0
    chain = np.tril(np.ones((LINKS, LINKS)))  # Absolute angles from those of the joints.
    for _ in range(steps):
        angle, rate = chain @ q, chain @ qd
        along = np.stack([np.cos(angle), np.sin(angle)])
        across = np.stack([-np.sin(angle), np.cos(angle)])
        J = np.einsum("ij,aj,jk->aik", chain, HALF * across, chain)  # Of the centres.
        M = np.einsum("aik,i,ail->kl", J, MASS, J) + chain.T @ np.diag(INERTIA) @ chain
        centripetal = -(chain @ (HALF * along * rate**2).T).T
        h = np.einsum("aik,i,ai->k", J, MASS, centripetal + np.array([[0], [9.81]]))
        qdd = np.linalg.solve(M, -h)
        gap = 1 + chain @ (HALF * along[1]) - RADIUS
        low = np.flatnonzero(gap < 0)
        if len(low):
            qd = qd + _impulses(M, J, chain, gap, low, qd, sweeps)
        qd = qd + DT * qdd
        q = q + DT * qd
        total += q.mean()
    return total / steps


def _impulses(M, J, chain, gap, low, qd, sweeps):
    """Projected Gauss-Seidel: all normals, then all tangents, each within half its normal."""
    rows = np.concatenate([J[1, low], -(J[0, low] + RADIUS * chain[low])])
    response = np.linalg.solve(M, rows.T)
    A = rows @ response + 1e-5 * np.eye(len(rows))
    b = -rows @ qd
    count = len(low)
    b[:count] -= 0.2 * gap[low] / DT
    x = np.zeros(len(rows))
    for _ in range(sweeps):
        for r in range(len(rows)):
            most = 1e5 if r < count else 0.5 * x[r - count]
            x[r] = np.clip(x[r] + (b[r] - A[r] @ x) / A[r, r], 0.0 if r < count else -most, most)
    return response @ x


@pytest.mark.parametrize(("steps", "value"), [(5000, 0.00856907588979), (500, 0.0671792252528), (50, 0.00764708402828)])
def test_values_of_tds(steps, value):
    assert computed(steps, 50) == pytest.approx(value, rel=2e-11)


def test_without_a_plane():
    free = five_links(plane=False)
    assert computed(5000, 50, free) == pytest.approx(-0.0314465829495, rel=2e-11)
    assert computed(5000, None, free) == pytest.approx(-0.0314465829495, rel=2e-11)


@pytest.mark.parametrize("sweeps", [1, 5, 10])
def test_other_numbers_of_sweeps_against_an_independent_implementation(sweeps):
    # Far from converged the motion is chaotic later on; up to here both agree to rounding.
    steps = 1000
    assert computed(steps, sweeps) == pytest.approx(independent(steps, sweeps), rel=1e-9)


def test_the_independent_implementation_has_the_value_of_tds():
    assert independent(500, 50) == pytest.approx(0.0671792252528, rel=1e-10)
    assert independent(1000, 50) == pytest.approx(computed(1000, 50), rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(("derivative", "tolerance"), [("sweeps", 1e-8), ("implicit", 1e-5)])
def test_gradient(derivative, tolerance):
    contact = hs.Impulses(50, 0.0, hs.Pyramid(), derivative, "velocities", before_forces=True)
    value, gradient = hs.native.value_and_grad(lambda v, m: cost(m, v, 5000, contact))(SPEEDS, five_links())
    # The derivative of converged impulses goes with a solver that stops where nothing changes, beyond 50 sweeps.
    assert float(value) == pytest.approx(0.00856907588979, rel=1e-9 if derivative == "sweeps" else 1e-6)
    assert gradient == pytest.approx(GRADIENT, abs=tolerance)
