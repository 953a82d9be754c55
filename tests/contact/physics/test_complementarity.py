"""What the solver returns solves the problem: signs, complementarity, cone, and friction against sliding."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hybridsim as hs
from hybridsim.contact.impulse.solve import converged

from .internals import no_impulses, responses, take_apart
from .scenes import many, start


def heap():
    """Boxes, a ball and a capsule, close to the ground and to each other."""
    return many(hs.solid("box", 1.0, "box", (0.1, 0.1, 0.1)), hs.solid("ball", 0.3, "sphere", 0.1))


def thrown(model, seed):
    rng = np.random.default_rng(seed)
    q, qd = start(model)
    q[:3], q[7:10] = [0, 0, 0.09], [0.02, 0.0, 0.285]
    q[3:7] = [1, *rng.normal(scale=0.02, size=3)]
    q[3:7] /= np.linalg.norm(q[3:7])
    qd[:] = rng.normal(scale=1.0, size=12)
    return hs.with_contacts(model, friction=rng.uniform(0.05, 1, size=3), restitution=rng.uniform(0, 1)), q, qd


def residuals(solve, seed):
    model, q, qd = thrown(heap(), seed)
    problem, x = solve(model, q, qd)
    rows = problem.contacts
    r = np.einsum("nij,j->ni", responses(problem)[0], x.w) + rows.R[:, None] * x.contacts - rows.b
    return problem, x, r


@pytest.fixture(scope="module")
def solve():
    contact = hs.Impulses(tolerance=1e-15)

    def run(model, q, qd):
        problem = take_apart(model, q, qd).problem
        x = converged(contact.friction, problem, no_impulses(problem), jnp.asarray(True), contact.tolerance)
        return problem, x

    compiled = jax.jit(run)
    return lambda *arguments: jax.tree.map(np.asarray, compiled(*arguments))


@pytest.mark.parametrize("seed", [seed for seed in range(24) if seed != 19])  # there nothing touches
def test_impulses_solve_their_problem(solve, seed):
    problem, x, r = residuals(solve, seed)
    normal, tangential, mu = x.contacts[:, 0], x.contacts[:, 1:], problem.contacts.mu
    small = 1e-6 * max(1.0, np.abs(x.contacts).max())
    assert normal.max() > 0, "nothing touches"
    assert normal.min() >= 0
    assert r[:, 0].min() > -small
    assert np.abs(np.minimum(normal, r[:, 0])).max() < small

    length, sliding = np.linalg.norm(tangential, axis=1), np.linalg.norm(r[:, 1:], axis=1)
    assert np.all(length <= mu * normal + 1e-14)
    sticks = length < mu * normal - small
    assert np.all(sliding[sticks] < small)
    slides = ~sticks & (normal > small)
    along = np.sum(tangential * r[:, 1:], axis=1)
    assert np.abs(along + length * sliding)[slides] == pytest.approx(0, abs=small)
    Y_c, Y_b = responses(problem)
    assert x.w == pytest.approx(np.einsum("nia,ni->a", Y_c, x.contacts) + x.bounded @ Y_b, abs=small)


def test_all_cases_occur(solve):
    """Open, stuck and sliding contacts are all among the scenes."""
    seen = set()
    for seed in range(12):
        _, x, r = residuals(solve, seed)
        slides = np.linalg.norm(r[:, 1:], axis=1) > 1e-6
        seen |= {
            ("open", "stuck", "sliding")[int(n > 0) + int(n > 0 and s)]
            for n, s in zip(x.contacts[:, 0], slides, strict=True)
        }
    assert seen == {"open", "stuck", "sliding"}
