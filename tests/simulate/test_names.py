"""Marks on variables cost nothing: the program is the same, and a mark can see and change every named variable."""

import jax
import numpy as np
import pytest

import hybridsim as hs

MODEL = hs.chain(2, damping=0.1, stiffness=0.2)
STATE = hs.State(np.array([0.4, -0.7]), np.array([1.0, 0.5]))
NAMES = {
    "joint.position": 2,
    "joint.velocity": 2,
    "joint.passive_force": 2,
    "joint.actuation": 2,
    "joint.force": 2,
    "joint.acceleration": 2,
    "state.next_position": 2,
    "state.next_velocity": 2,
}


def program(function) -> str:
    return str(jax.make_jaxpr(function)(MODEL, STATE))


def identity(name, value):
    return value


@pytest.mark.parametrize(
    "integrator", [hs.SemiImplicitEuler(), hs.ImplicitDamping(), hs.RungeKutta4()], ids=lambda i: type(i).__name__
)
def test_a_marked_step_is_the_same_program_as_an_unmarked_one(integrator):
    unmarked = program(lambda m, s: hs.step(m, s, integrator=integrator))
    marked = program(lambda m, s: hs.step(m, s, integrator=integrator, named=identity))
    assert marked == unmarked


def test_a_marked_rollout_is_the_same_program_as_an_unmarked_one():
    unmarked = program(lambda m, s: hs.rollout(m, s, steps=5))
    assert program(lambda m, s: hs.rollout(m, s, steps=5, named=identity)) == unmarked


def test_a_step_marks_each_of_its_variables_once():
    seen = []

    def record(name, value):
        seen.append((name, value.shape))
        return value

    jax.make_jaxpr(lambda m, s: hs.step(m, s, named=record))(MODEL, STATE)
    assert sorted(seen) == sorted((name, (size,)) for name, size in NAMES.items())


@pytest.mark.parametrize("name", NAMES)
def test_a_mark_can_change_each_variable(name):
    def double(other, value):
        return 2 * value if other == name else value

    plain, changed = hs.step(MODEL, STATE, np.ones(2)), hs.step(MODEL, STATE, np.ones(2), named=double)
    assert not (np.allclose(plain.q, changed.q) and np.allclose(plain.qd, changed.qd))
