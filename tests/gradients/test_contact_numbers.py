"""Derivatives of motions in contact by every number of shapes, pairs and limits: forward, reverse, and against differences."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hybridsim as hs
from hybridsim.identify import Parameters

OF_PAIRS = ("friction", "restitution")
OF_SPRINGS = ("friction", "stiffness", "dissipation", "transition_speed")


def _thrown(shape, size, **numbers):
    """A body above a plane that leans and is not at zero."""
    link = hs.Link(
        "body", 0.4, (0, 0, 0), (9e-4, 8e-4, 7e-4), (hs.Geom(shape, size, (0.002, 0.001, 0.003), name="body"),)
    )
    scene = hs.world(hs.free_body(link), hs.ground(height=0.01, normal=(0.05, -0.1, 1.0)))
    return hs.with_contacts(scene, **numbers)


def _pose(angle):
    axis = np.array([0.6, 0.64, 0.48])
    return np.concatenate([[0.0, 0.0, 0.14, np.cos(angle / 2)], np.sin(angle / 2) * axis])


SPEED = np.array([2.0, -3.0, 1.0, 0.6, 0.3, -0.8])
SHAPES = {
    "box": ("box", (0.05, 0.04, 0.03), ("size", "position", "rotation")),
    "sphere": ("sphere", 0.05, ("radius", "position")),
    "capsule": ("capsule", (0.03, 0.05), ("radius", "half_length", "position", "rotation.[xy]")),
    "cylinder": ("cylinder", (0.04, 0.05), ("radius", "half_length", "position", "rotation")),
    "ellipsoid": ("ellipsoid", (0.05, 0.04, 0.03), ("size", "position", "rotation")),
}
LAWS = {
    "impulses": (hs.Impulses(), 1e-3, 200, OF_PAIRS, {"friction": 0.08, "restitution": 0.3}),
    "springs": (
        hs.Springs(friction=hs.Coulomb()),
        2e-4,
        1000,
        OF_SPRINGS,
        {"friction": 0.3, "stiffness": 2e4, "dissipation": 2e4, "transition_speed": 0.1},
    ),
}


def _compare(model, free, q, qd, contact, dt, steps):
    """Slopes of one number of the last state by all that is free: forward, reverse, and two central differences."""
    chosen = Parameters(model, free)
    weights = np.random.default_rng(0).uniform(0.5, 1.0, model.nq + model.nv)

    def end(z):
        last = hs.rollout(chosen.model(z), (q, qd), dt=dt, steps=steps, contact=contact)[-1]
        return jnp.sum(weights * jnp.concatenate([last.q, last.qd]))

    zero, along = np.zeros(chosen.size), np.eye(chosen.size)
    both = hs.native.jit(lambda z, dz: jax.jvp(end, (z,), (dz,)))
    forward = np.array([both(zero, e)[1] for e in along])
    reverse = np.asarray(hs.native.jit(jax.grad(end))(zero))
    coarse, fine = (np.array([both(h * e, e)[0] - both(-h * e, e)[0] for e in along]) / (2 * h) for h in (1e-5, 1e-6))
    return chosen.names, forward, reverse, coarse, fine


def _assert_agree(names, forward, reverse, coarse, fine):
    np.testing.assert_allclose(reverse, forward, rtol=1e-6, atol=1e-8)
    assert np.all(np.abs(forward) > 1e-9), dict(zip(names, forward, strict=True))
    np.testing.assert_allclose(coarse, fine, rtol=1e-3, err_msg="a kink: the scene is badly chosen")
    np.testing.assert_allclose(forward, fine, rtol=2e-4, err_msg=str(names))


def _cases():
    """Those that compile quickly are in every run."""
    for law in LAWS:
        for shape in SHAPES:
            quick = (shape, law) in (("sphere", "impulses"), ("box", "springs"))
            yield pytest.param(shape, law, marks=() if quick else pytest.mark.slow, id=f"{shape}-{law}")


@pytest.mark.parametrize(("shape", "law"), list(_cases()))
def test_shapes_planes_and_pairs(shape, law):
    contact, dt, steps, of_pairs, numbers = LAWS[law]
    kind, size, of_shape = SHAPES[shape]
    free = [f"shape/body/{name}" for name in of_shape]
    free += ["shape/ground/height", "shape/ground/tilt", *(f"contact/body/ground/{name}" for name in of_pairs)]
    model = _thrown(kind, size, **numbers)
    _assert_agree(*_compare(model, free, _pose(0.4), SPEED, contact, dt, steps))


OUTLINES = {
    "points": (np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * [0.05, 0.04, 0.03], ()),
    "prism": (np.array([[0.05, -0.03, 0], [0.04, 0.04, 0], [-0.05, 0.02, 0]]), 0.04),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", OUTLINES)
def test_outlines_by_a_factor(kind):
    points, size = OUTLINES[kind]
    geom = hs.Geom(kind, size, points=points, name="body")
    body = hs.free_body(hs.Link("body", 0.4, (0, 0, 0), (9e-4, 8e-4, 7e-4), (geom,)))
    model = hs.with_contacts(hs.world(body, hs.ground()), friction=0.08, restitution=0.3)
    free = ["shape/body/*factor", "shape/body/position.z", "shape/body/rotation.[xy]"]
    _assert_agree(*_compare(model, free, _pose(0.4), SPEED, hs.Impulses(), 1e-3, 150))


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
def test_two_shapes_that_move(law):
    """A capsule that hits a sphere: both sizes, and a shape that is in two pairs."""
    contact, dt, steps, _, numbers = LAWS[law]
    links = [
        hs.Link("rod", 0.4, (0, 0, 0), (9e-4, 8e-4, 7e-4), (hs.Geom("capsule", (0.03, 0.05), name="rod"),)),
        hs.Link("ball", 0.3, (0, 0, 0), 4e-4, (hs.Geom("sphere", 0.04, name="ball"),)),
    ]
    joints = [hs.Joint(f"{link.name}_joint", "free", "world", link.name) for link in links]
    model = hs.with_contacts(hs.world(hs.build(links, joints), hs.ground()), **numbers)
    assert len(model.contacts.pairs) == 3
    q = np.concatenate([_pose(0.4), [0.05, 0.02, 0.045, 1, 0, 0, 0]])
    qd = np.concatenate([SPEED, [1.0, 0, 0, -0.4, 0.1, -0.2]])
    free = ["shape/*/radius", "shape/rod/half_length", "contact/ball/rod/friction", "contact/ball/rod/restitution"]
    free = free if law == "impulses" else [*free[:3], "contact/ball/rod/stiffness"]
    _assert_agree(*_compare(model, free, q, qd, contact, dt, steps))


@pytest.mark.parametrize(
    ("contact", "numbers"),
    [(hs.Impulses(), ("restitution",)), (hs.Springs(), ("stiffness", "dissipation"))],
    ids=["impulses", "springs"],
)
def test_limits_of_joints_and_a_base_that_leans(contact, numbers):
    arm = hs.chain(2, length=0.4, damping=0.01, lower=-0.2, upper=0.4, gravity=(1.0, 3.0, -9.0))
    arm = replace(arm, limits=replace(arm.limits, restitution=np.array([0.4, 0.3])))
    free = ["joint/joint1/rotation.[xy]", "limit/joint1/upper"]
    free += [f"limit/joint1/{name}" for name in numbers]
    q, qd = np.array([0.3, 0.2]), np.array([2.0, -5.0])
    _assert_agree(*_compare(arm, free, q, qd, contact, 5e-4, 500))
