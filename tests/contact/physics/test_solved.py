"""Steps are solved, and a step that is not shows it."""

import jax
import jax.numpy as jnp
import numpy as np

import hybridsim as hs
from hybridsim.contact.impulse.cone import Cone
from hybridsim.contact.impulse.elimination import elimination
from hybridsim.contact.impulse.newton import residual
from hybridsim.contact.impulse.path import follow
from hybridsim.contact.impulse.problem import (
    BoundedReach,
    BoundedRows,
    ContactRows,
    Problem,
    Reach,
    missing_softness,
)
from hybridsim.contact.impulse.slots import Slots


def _numbers(rng: np.random.Generator, points: int, nv: int = 6, friction: float = 2.0) -> tuple[np.ndarray, ...]:
    """Y, b, R and mu of contacts in random directions on freedoms that are light or heavy, with much friction."""
    Y = rng.standard_normal((3 * points, nv)) * 10 ** rng.uniform(-1.5, 1.5, nv)
    b = rng.standard_normal((points, 3))
    # Somewhere all contacts open, sliding or not.
    b[:, 0] = np.minimum(b[:, 0], (Y.reshape(points, 3, nv)[:, 0] @ rng.standard_normal(nv)))
    own = np.sum(Y.reshape(points, 3, nv)[:, 0] ** 2, axis=1)
    return Y.reshape(points, 3, nv), b, 1e-6 * own, friction * rng.uniform(0, 1, points)


def _problem(Y, b, R, mu) -> Problem:
    (points, _, nv), nothing = Y.shape, jnp.zeros(0)
    A = jnp.einsum("nia,nja->nij", Y, Y)
    slots, others = Slots.all(points), Slots.all(0)
    everything = np.arange(nv, dtype=np.int32)
    return Problem(
        ContactRows(b, R, mu),
        BoundedRows(nothing, nothing, nothing, nothing),
        Reach(Y, A, everything),
        BoundedReach(jnp.zeros((0, nv)), nothing, everything),
        missing_softness(slots, others, A[:, 0, 0], nothing, R, nothing),
        slots,
        others,
        structure=elimination(np.ones((nv, nv), dtype=bool)),
        first=None,
    )


def test_the_path_of_softer_problems_ends_at_a_solution():
    """Also where it turns back, as it does in some of these."""
    rng = np.random.default_rng(0)

    def followed(*numbers):
        problem = _problem(*numbers)
        w = follow(Cone(), problem)
        return w, residual(Cone(), problem, w)

    end = hs.native.jit(followed, optimise=0)
    solved = []
    for _ in range(200):
        w, F = end(*_numbers(rng, 4))
        # F has slopes of one over the softness.
        solved.append(np.max(np.abs(F)) <= 1e-2 * np.max(np.abs(w)))
    assert np.mean(solved) >= 0.95


def _chain(friction: float) -> hs.Model:
    links = [hs.solid(f"l{i}", mass, "capsule", (0.015, 0.05)) for i, mass in enumerate((0.1, 5.0, 0.1, 2.0))]
    joints = [hs.Joint("root", "free", "world", "l0")] + [
        hs.Joint(f"j{i}", "revolute", f"l{i - 1}", f"l{i}", axis=axis, position=(0, 0, 0.065), anchor=(0, 0, -0.065))
        for i, axis in ((1, (0, 1, 0)), (2, (1, 0, 0)), (3, (0, 1, 0)))
    ]
    return hs.with_contacts(hs.world(hs.build(links, joints), hs.ground()), friction=friction, restitution=0.3)


def test_a_chain_with_much_friction_is_solved_in_every_step():
    model = _chain(1.9)
    q, qd = model.rest()
    q[2:7] = [0.1, np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0]
    q[7:] = [0.4, -0.3, 0.5]
    qd[:] = [3.0, -2.0, 1.0, 0.5, 0.3, -0.5, 4.0, -5.0, 3.0]
    path = hs.native.jit(
        lambda q, qd: hs.rollout(model, (q, qd), dt=1e-3, steps=600, record=("contact.residual", "contact.impulse")),
        optimise=0,
    )(q, qd)
    assert np.sum(np.any(path.values["contact.impulse"][..., 0] > 0, axis=1)) > 100
    assert np.max(path.values["contact.residual"]) < 1e-8


def _largest_residual(model, q, qd, contact) -> jax.Array:
    path = hs.rollout(model, (q, qd), dt=1e-3, steps=3, contact=contact, record="contact.residual")
    return jnp.max(path.values["contact.residual"])


def test_too_few_sweeps_leave_a_residual():
    box = hs.free_body(hs.solid("box", 1.0, "box", (0.1, 0.1, 0.05)))
    model = hs.with_contacts(hs.world(box, hs.ground()), friction=0.5)
    q, qd = model.rest()
    q[2], qd[3] = 0.05, 0.1

    solved, unsolved = (
        float(hs.native.jit(lambda q, qd, contact=contact: _largest_residual(model, q, qd, contact), optimise=0)(q, qd))
        for contact in (hs.Impulses(), hs.Impulses(sweeps=2, derivative="sweeps"))
    )
    assert solved < 1e-10
    assert unsolved > 1e-6
