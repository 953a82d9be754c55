"""Rows that are far cost nothing, and which ones are left out makes no difference to the motion."""

from contextlib import contextmanager

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hybridsim as hs
from hybridsim.contact.impulse import assemble, settle
from hybridsim.contact.impulse.near import Near
from hybridsim.contact.impulse.settle import settle_through
from hybridsim.contact.impulse.slots import Slots
from hybridsim.contact.points import pairs_of_points

from .internals import take_apart
from .scenes import many, start

RECORD = ("contact.impulse", "contact.distance")


def _stepped(model, dt: float, joint_friction: bool = False):
    """q, qd to the state after one step, with its impulses."""

    def step(q, qd):
        # Tighter than usual, or where the two searches end would differ by 1e-9, too.
        contact = hs.Impulses(tolerance=1e-14, joint_friction=joint_friction)
        return hs.rollout(model, (q, qd), dt=dt, steps=1, contact=contact, record=RECORD)

    compiled = jax.jit(step)
    return lambda q, qd: jax.tree.map(np.asarray, compiled(q, qd))


@contextmanager
def _all_rows(monkeypatch):
    """Steps that are traced here are solved with all rows in order, without any list of those that are near."""
    traced = []

    def everything(scene, radii, others):
        gaps = scene.numbers.points.distance
        return Near.of(gaps, jnp.ones(len(gaps), dtype=bool), jnp.ones_like(others))

    def settled(solver, goals, scene, near, radii, wanted, start):
        rows = Slots.all(len(near.points)), Slots.all(len(near.others))
        traced.append(rows)
        return settle_through(solver, goals, scene, wanted, start, *rows)

    jax.clear_caches()  # or JAX would take what it traced before
    with monkeypatch.context() as patch:
        patch.setattr(assemble, "near_rows", everything)
        patch.setattr(settle, "_settled", settled)
        yield
    assert traced, "the step was solved as before"
    jax.clear_caches()


def _assert_same(path, expected):
    for found, wanted in (map(np.asarray, pair) for pair in ((path.q, expected.q), (path.qd, expected.qd))):
        assert found == pytest.approx(wanted, rel=1e-9, abs=1e-9 * max(1.0, np.abs(wanted).max()))
    found, wanted = (np.asarray(x.values["contact.impulse"]) for x in (path, expected))
    assert found == pytest.approx(wanted, rel=1e-6, abs=1e-9 * max(1.0, np.abs(wanted).max()))


def _near(model, q, qd, dt: float) -> np.ndarray:
    """Of each point, whether it is near at the velocities without contact."""
    return np.asarray(_near_points(model, q, qd, dt))


@eqx.filter_jit
def _near_points(model, q, qd, dt):
    return take_apart(model, q, qd, dt).near.points


def _row_of_balls():
    """Three balls of 5 cm radius over the ground, the second and the third at rest, a gap after each."""
    balls = many(*(hs.solid("ball", 0.1, "sphere", 0.05) for _ in range(3)))
    # The first one would reach the third, if the second were not between them.
    pairs = [("0/ball", "1/ball"), ("1/ball", "2/ball"), *((f"{i}/ball", "ground") for i in range(3))]
    return hs.with_contacts(balls, pairs, friction=0.3, restitution=0.5)


def test_a_body_that_crosses_its_gap_within_a_step_is_found(monkeypatch):
    """The first ball covers half a metre in the step, and the second, which it pushes, meets the third, at rest beside it."""
    model, dt = _row_of_balls(), 5e-3
    q, qd = start(model)
    q[[0, 7, 14]], q[[2, 9, 16]], qd[3] = (0.0, 0.3, 0.5), 0.5, 100.0
    names = [{model.geometry.names[i] for i in pair} for pair in model.contacts.pairs]
    point = list(pairs_of_points(model)).index(names.index({"1/ball/sphere", "2/ball/sphere"}))
    assert not _near(model, q, qd, dt)[point], "the test wants a row that becomes near by another one's impulse"
    path = _stepped(model, dt)(q, qd)
    assert path.values["contact.impulse"][0, point, 0] > 0
    x = path.q[-1, [0, 7, 14]]
    assert np.all(np.diff(x) > 0.1 - 1e-6), "no ball passes through the next one"
    with _all_rows(monkeypatch):
        _assert_same(path, _stepped(model, dt)(q, qd))


def _thrown(model, rng, dt):
    """Bodies close to each other, some of them fast enough to reach another one in this step."""
    q, qd = start(model)
    bodies = model.nv // 6
    for k in range(bodies):
        turn = np.array([1.0, *rng.normal(scale=0.3, size=3)])
        q[7 * k : 7 * k + 7] = [*rng.uniform(-0.05, 0.05, size=2), 0.13 + 0.24 * k, *turn / np.linalg.norm(turn)]
        qd[6 * k : 6 * k + 6] = rng.normal(size=6) * rng.choice([1.0, 0.1 / dt])
    return q, qd


@pytest.mark.parametrize("joint_friction", [False, True])
def test_a_step_is_that_with_all_rows(monkeypatch, joint_friction):
    """Boxes and balls at every speed, also with joint friction and a chain whose limits are near or far."""
    bodies = many(hs.solid("box", 1.0, "box", (0.1, 0.1, 0.1)), hs.solid("ball", 0.3, "sphere", 0.1), ground=False)
    links = [hs.solid(f"l{i}", 0.5, "capsule", (0.02, 0.1)) for i in range(2)]
    joints = [
        hs.Joint("j0", "revolute", "world", "l0", axis=(0, 1, 0), position=(0.1, 0, 0.5), lower=-0.5, upper=0.5),
        hs.Joint(
            "j1", "revolute", "l0", "l1", axis=(1, 0, 0), position=(0, 0, 0.2), lower=-0.3, upper=0.8, friction=0.2
        ),
    ]
    model = hs.with_contacts(hs.world(bodies, hs.build(links, joints), hs.ground()), friction=0.6, restitution=0.3)
    dt, rng = 1e-3, np.random.default_rng(3)
    step = _stepped(model, dt, joint_friction)
    cases, far, pushed = [], 0, 0
    for _ in range(30):
        q, qd = _thrown(model, rng, dt)
        q[-2:], qd[-2:] = rng.uniform((-0.5, -0.3), (0.5, 0.8)), rng.normal(scale=rng.choice([1.0, 100.0]), size=2)
        path = step(q, qd)
        cases.append((q, qd, path))
        far += int(np.sum(~_near(model, q, qd, dt)))
        pushed += int(np.sum(path.values["contact.impulse"][0, :, 0] > 0))
    assert far > 100
    assert pushed > 30
    with _all_rows(monkeypatch):
        step = _stepped(model, dt, joint_friction)
        for q, qd, path in cases:
            _assert_same(path, step(q, qd))


@pytest.mark.parametrize("count", [0, 1, 5, 40])
@pytest.mark.parametrize("compiler", [jax.jit, hs.native.jit])
def test_the_list_has_room_for_all_rows(compiler, count):
    """No capacity can be too small: with every flag set the list is full, and no row is lost."""
    rng = np.random.default_rng(count)
    listed = compiler(lambda flags: (lambda slots: (slots.places, slots.count))(Slots.of(flags)))
    doubled = compiler(lambda flags, x: Slots.of(flags).spread(Slots.of(flags).each(lambda _, __, x: 2 * x, (), x)))
    x = rng.normal(size=(count, 3))
    for flags in (np.ones(count, bool), np.zeros(count, bool), *(rng.random((5, count)) < 0.5)):
        places, found = listed(flags)
        assert len(places) == count
        np.testing.assert_array_equal(np.asarray(places)[: int(found)], np.flatnonzero(flags))
        np.testing.assert_array_equal(doubled(flags, x), np.where(flags[:, None], 2 * x, 0.0))


def test_every_row_may_act_at_once(monkeypatch):
    """A plate on the ground by a hundred points, all of which carry it."""
    grid = hs.contact_grid([(-0.1, -0.1), (0.1, -0.1), (0.1, 0.1), (-0.1, 0.1)])
    plate = hs.free_body(hs.Link("plate", 1.0, inertia=4e-3, geoms=[grid]))
    model = hs.with_contacts(hs.world(plate, hs.ground()), friction=0.4)
    q, qd = start(model)
    qd[2], qd[3] = 2.0, 0.5  # turning and sliding
    assert _near(model, q, qd, 1e-3).all()
    path = _stepped(model, 1e-3)(q, qd)
    assert np.sum(path.values["contact.impulse"][0, :, 0] > 0) == 100
    with _all_rows(monkeypatch):
        _assert_same(path, _stepped(model, 1e-3)(q, qd))


def test_batches_do_not_depend_on_lanes_or_threads():
    """Bit for bit, though the scenes of one vector register have other rows near."""
    balls = many(*(hs.solid("ball", 0.1, "sphere", 0.05) for _ in range(2)))
    model = hs.with_contacts(balls, friction=0.3, restitution=0.5)
    rng = np.random.default_rng(0)
    q, qd = (np.tile(x, (9, 1)) for x in start(model))
    q[:, [0, 7]] = np.array([0.0, 0.12]) + rng.uniform(0, 0.015, (9, 2))
    q[:, [2, 9]], qd[:, [3, 9]] = rng.uniform(0.05, 0.08, (9, 2)), rng.normal(scale=2, size=(9, 2))

    def run(q, qd):
        path = hs.rollout(model, (q, qd), dt=2e-3, steps=40, record="contact.impulse")
        return path.q, path.qd, path.values["contact.impulse"]

    one_by_one = hs.native.jit(run)
    expected = [np.array(x) for x in zip(*(one_by_one(*both) for both in zip(q, qd, strict=True)), strict=True)]
    touching = np.sum(expected[2][..., 0] > 0, axis=2)
    assert np.any(touching.max(axis=0) != touching.min(axis=0)), "at some time scenes differ in what touches"
    for lanes in (2, 8):
        for threads in (1, 3):
            batched = hs.native.batch(run, threads=threads, lanes=lanes)
            for size in (9, 3):
                for found, wanted in zip(batched(q[:size], qd[:size]), expected, strict=True):
                    np.testing.assert_array_equal(found, wanted[:size])


def test_points_that_a_network_moves_off_their_shapes_are_looked_at_where_they_are():
    """A spinning ball whose point of contact is put 2 m aside: there it moves downwards fast enough to reach the ground."""
    model = many(hs.solid("ball", 0.1, "sphere", 0.05))
    q, qd = start(model)
    q[2], qd[1] = 0.06, 10.0  # 1 cm above the ground, turning about y

    def aside(name, value):
        return value + np.array([2.0, 0.0, 0.0]) if name == "contact.point" else value

    def after(named):
        return np.asarray(hs.step(model, (q, qd), dt=1e-3, named=named).qd)

    flying, pushed = after(lambda name, value: value), after(aside)
    assert flying[1] == pytest.approx(10.0, abs=1e-9)
    assert pushed[1] < 9.0, "the point moves down by 2 cm in the step, through a gap of 1 cm"
