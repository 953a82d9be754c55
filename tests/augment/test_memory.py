"""What networks remember: earlier values and cells, from step to step and from one rollout to the next."""

import jax
import numpy as np
import pytest

import hybridsim as hs
from hybridsim.model import Memory

from .test_blueprint import CHAIN, DT, START, by_hand, grafted, network

PASSIVE = ("joint.passive_force", "joint.force", "joint.acceleration")


def added(motion) -> np.ndarray:
    """What networks at joint.force do."""
    return np.asarray(motion.values["joint.force"] - motion.values["joint.passive_force"])


def moved(model, steps=6, **options):
    return hs.rollout(model, START, dt=DT, steps=steps, contact=None, record=PASSIVE, **options)


def test_the_past_before_the_first_step_is_the_first_value():
    hybrid = grafted(hs.Augment("joint.force", ("joint.velocity", hs.history("joint.velocity", 2, every=2))), size=0.3)
    motion = moved(hybrid)
    past = [START.qd] * 4
    for qd, found in zip(motion.qd[:-1], added(motion), strict=True):
        y = [by_hand(hybrid, qd[i], past[-2][i], past[-4][i], i=i)[0] for i in range(2)]
        assert np.allclose(found, y, atol=1e-12)
        past.append(qd)


def test_the_past_of_what_comes_later_in_a_step_is_zero_before_the_first():
    hybrid = grafted(
        hs.Augment("joint.force", (hs.previous("joint.acceleration"), hs.history("joint.acceleration", 3))), size=0.1
    )
    motion = moved(hybrid)
    past = [np.zeros(2)] * 3
    for qdd, found in zip(motion.values["joint.acceleration"], added(motion), strict=True):
        y = [by_hand(hybrid, past[-1][i], past[-1][i], past[-2][i], past[-3][i], i=i)[0] for i in range(2)]
        assert np.allclose(found, y, atol=1e-11)
        past.append(qdd)


def test_a_network_sees_the_past_of_what_it_changes_as_physics_alone_had_it():
    hybrid = grafted(hs.Augment("joint.force", ("joint.force", hs.previous("joint.force"))), size=0.3)
    motion = moved(hybrid)
    force, passive = motion.values["joint.force"], motion.values["joint.passive_force"]
    last = passive[0]
    for now, after in zip(passive, force, strict=True):
        y = np.array([by_hand(hybrid, now[i], last[i], i=i)[0] for i in range(2)])
        assert np.allclose(after, now + y, atol=1e-12)
        last = now


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def gru(net, x, h):
    a, b = np.split(net.first.weight @ x + net.first.bias, 3), np.split(net.recurrent @ h, 3)
    r, z = sigmoid(a[0] + b[0]), sigmoid(a[1] + b[1])
    h = (1 - z) * np.tanh(a[2] + r * (b[2] + net.bias)) + z * h
    return net.last.weight @ h + net.last.bias, h


def lstm(net, x, memory):
    h, c = memory
    i, f, g, o = np.split(net.first.weight @ x + net.first.bias + net.recurrent @ h, 4)
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    h = sigmoid(o) * np.tanh(c)
    return net.last.weight @ h + net.last.bias, (h, c)


@pytest.mark.parametrize(
    ("cell", "by_loop", "start"),
    [(hs.GRU(3), gru, np.zeros(3)), (hs.LSTM(3), lstm, (np.zeros(3), np.zeros(3)))],
    ids=["GRU", "LSTM"],
)
@pytest.mark.parametrize("apply", ["each", "shared"])
def test_cells_against_a_loop(cell, by_loop, start, apply):
    hybrid = grafted(hs.Augment("joint.force", ("joint.position", "joint.velocity"), cell, apply=apply), size=0.4)
    motion = moved(hybrid)
    memories = [start, start]
    for q, qd, found in zip(motion.q[:-1], motion.qd[:-1], added(motion), strict=True):
        for i in range(2):
            net = network(hybrid, i if apply == "each" else 0)
            y, memories[i] = by_loop(net, np.array([q[i], qd[i]]), memories[i])
            assert np.allclose(found[i], y, atol=1e-11)


REMEMBERING = (
    hs.Augment("joint.force", ("joint.velocity", hs.history("joint.acceleration", 2)), hs.GRU(3)),
    hs.Augment("joint.passive_force", (hs.history("joint.position", 2, every=2), "world.time"), apply="together"),
)


def test_halves_loops_and_scans_are_the_same_motion():
    hybrid = grafted(*REMEMBERING, size=0.3)
    whole = moved(hybrid, 6)
    first = moved(hybrid, 3)
    rest = hs.rollout(hybrid, first.end, dt=DT, steps=3, contact=None, start_time=3 * DT, record=PASSIVE)
    assert np.allclose(rest.q, whole.q[3:], atol=1e-13)
    forgetful = hs.rollout(hybrid, first[-1], dt=DT, steps=3, contact=None, start_time=3 * DT, record=PASSIVE)
    assert not np.allclose(forgetful.q, whole.q[3:], atol=1e-8)

    state = START
    for i in range(6):
        state = hs.step(hybrid, state, dt=DT, contact=None, time=i * DT)
        assert np.allclose(state.q, whole.q[i + 1], atol=1e-13)

    def one(state, t):
        state = hs.step(hybrid, state, dt=DT, contact=None, time=t)
        return state, state.q

    last, q = jax.lax.scan(one, hs.initial_state(hybrid, START), DT * np.arange(6))
    assert np.allclose(q, whole.q[1:], atol=1e-13)
    for a, b in zip(jax.tree.leaves(last.memory), jax.tree.leaves(whole.memory), strict=True):
        assert np.allclose(a, b, atol=1e-12)


def test_runge_kutta_remembers_the_first_of_its_evaluations():
    cell = hs.Augment("joint.force", "joint.velocity", hs.GRU(3), apply="shared")
    past = hs.Augment("joint.passive_force", hs.previous("joint.velocity"), hs.Linear(), apply="shared")
    hybrid = grafted(cell, past, size=0.3)
    one = hs.step(hybrid, START, dt=DT, contact=None, integrator=hs.RungeKutta4())
    assert np.allclose(one.memory.networks.values["joint.velocity"], START.qd)
    for i in range(2):
        _, h = gru(network(hybrid), START.qd[i : i + 1], np.zeros(3))
        assert np.allclose(one.memory.networks.cells[0][i], h)

    def fine(steps):
        return hs.rollout(hybrid, START, dt=DT, steps=steps, contact=None, integrator=hs.RungeKutta4()).end

    two = hs.step(hybrid, one, dt=DT, contact=None, integrator=hs.RungeKutta4())
    assert np.allclose(fine(2).q, two.q, atol=1e-14)


def test_contact_and_networks_both_remember():
    ball = hs.world(hs.free_body(hs.solid("ball", 1.0, "sphere", 0.1)), hs.ground())
    hybrid = grafted(
        hs.Augment("link.external_force", ("link.velocity", hs.previous("contact.normal_force[*]")), hs.GRU(2)),
        model=ball,
        contact=hs.Impulses(),
        size=0.1,
    )
    start = hs.State(np.array([0, 0, 0.1, 1, 0, 0, 0.0]), np.array([0, 0, 0, 0.5, 0, 0.0]))
    # With all memories from the start, so that both halves are one program.
    start = hs.State(*start, Memory(hs.Impulses().memory(ball), hs.initial_state(hybrid).memory.networks))
    whole, first = (hs.rollout(hybrid, start, dt=DT, steps=n) for n in (6, 3))
    assert whole.memory.contact is not None
    assert np.allclose(hs.rollout(hybrid, first.end, dt=DT, steps=3).q, whole.q[3:], atol=1e-9)


# A state of another model


def test_a_plain_model_goes_on_from_where_a_hybrid_ended():
    end = moved(grafted(*REMEMBERING, size=0.1), 3).end
    onward = hs.rollout(CHAIN, end, dt=DT, steps=3, contact=None)
    assert np.array_equal(onward.q, hs.rollout(CHAIN, hs.State(*end), dt=DT, steps=3, contact=None).q)


def test_the_memory_of_other_networks_is_refused():
    end = moved(grafted(*REMEMBERING, size=0.1), 3).end
    other = grafted(hs.Augment("joint.force", "joint.velocity", hs.GRU(5)))
    for go in (hs.step, lambda model, state: hs.rollout(model, state, steps=2)):
        with pytest.raises(ValueError, match=r"networks of another model .* begin anew by hs\.State\(q, qd\)"):
            go(other, end)
