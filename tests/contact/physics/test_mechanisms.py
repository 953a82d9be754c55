"""Mechanisms in contact: with themselves, with coupled joints, with nothing."""

import jax
import numpy as np
import pytest

import hybridsim as hs

from .internals import take_apart
from .scenes import BOTH, BY_NAME, lasting, many, motion, start, with_gravity


def folding(touches):
    """Three links in a plane; the third folds back on the first."""
    arm = with_gravity(hs.chain(3, length=0.5, radius=0.02), (0, 0, 0))
    model = hs.with_contacts(arm, self_collision=True) if touches else arm
    return model, np.array([0.0, 1.8, 1.8]), np.array([0.0, 2.0, 2.0])


def test_a_folding_arm_touches_itself():
    model, q, qd = folding(True)
    names = [{model.geometry.names[i] for i in pair} for pair in model.contacts.pairs]
    assert names == [{"link1/capsule", "link3/capsule"}]
    path = motion(hs.Impulses(), 500)(model, q, qd)
    gap = jax.jit(jax.vmap(lambda q, qd: take_apart(model, q, qd).scene.numbers.points.distance.min()))(path.q, path.qd)
    assert gap[0] > 0.02
    assert np.min(gap) > -1e-4
    assert np.min(gap) < 1e-4, "they did not touch"

    free, _, _ = folding(False)
    through = motion(hs.Impulses(), 500)(free, q, qd)
    gap = jax.jit(jax.vmap(lambda q, qd: take_apart(model, q, qd).scene.numbers.points.distance.min()))(
        through.q, through.qd
    )
    assert np.min(gap) < -1e-3


def pair_of_balls(mimic):
    """Two balls on a rail that falls: coupled joints, or one body."""
    ball = {"inertia": 0.01, "geoms": [hs.Geom("sphere", 0.1)]}
    rail = {"position": (0, 0, 0.5), "axis": (0, 0, 1)}
    if mimic:
        links = [hs.Link("a", 1.0, **ball), hs.Link("b", 0.5, inertia=0.01, geoms=[hs.Geom("sphere", 0.1)])]
        joints = [
            hs.Joint("fall", "prismatic", "world", "a", **rail),
            hs.Joint("copy", "prismatic", "world", "b", position=(1, 0, 0.5), axis=(0, 0, 1), mimic=hs.Mimic("fall")),
        ]
    else:
        links = [hs.Link("a", 1.5, (1 / 3, 0, 0), 0.1, [hs.Geom("sphere", 0.1), hs.Geom("sphere", 0.1, (1, 0, 0))])]
        joints = [hs.Joint("fall", "prismatic", "world", "a", **rail)]
    # Softness is relative to the masses of links, which are not the same here.
    return hs.with_contacts(hs.world(hs.build(links, joints), hs.ground()), restitution=0.5, softness=0.0)


@pytest.mark.parametrize("contact", **BY_NAME)
def test_coupled_joints_in_contact_move_as_one_body(contact):
    """The dense square root of the mass matrix, in place of the tree's."""
    paths = [lasting(contact, 0.6)(pair_of_balls(mimic), np.zeros(1), np.zeros(1)) for mimic in (True, False)]
    assert paths[0].q.min() < -0.399
    assert paths[0].q == pytest.approx(paths[1].q, abs=1e-8)
    assert paths[0].qd == pytest.approx(paths[1].qd, abs=1e-6)


@pytest.mark.parametrize("contact", **BY_NAME)
def test_far_from_everything_contact_does_nothing(contact):
    model = many(hs.solid("box", 1.0, "box", (0.1, 0.2, 0.3)), hs.solid("ball", 0.3, "sphere", 0.1))
    q, qd = start(model)
    q[2], q[9] = 20.0, 30.0
    qd[:] = np.random.default_rng(0).normal(size=12)
    with_contact, without = (motion(c, 500, compiler=jax.jit)(model, q, qd) for c in (contact, None))
    assert with_contact.q == pytest.approx(without.q, abs=1e-13)
    assert with_contact.qd == pytest.approx(without.qd, abs=1e-13)


@pytest.mark.parametrize("contact", **BY_NAME)
def test_native_code_and_xla_agree(contact):
    model = many(hs.solid("box", 1.0, "box", (0.1, 0.08, 0.06)))
    q, qd = start(model)
    q[2] = 0.2
    qd[:] = [1, 2, 3, 1, 0.5, 0]
    ours, theirs = (motion(contact, 300, 5e-4, compiler=c)(model, q, qd) for c in (hs.native.jit, jax.jit))
    assert np.abs(np.diff(ours.qd[:, 0])).max() > 0.1, "it did not touch"
    assert ours.q == pytest.approx(theirs.q, abs=1e-8)
    assert ours.qd == pytest.approx(theirs.qd, abs=1e-6)


def test_both_models_are_tested():
    assert [type(contact) for contact in BOTH] == [hs.Impulses, hs.Springs]
