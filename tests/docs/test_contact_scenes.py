"""The scenes with contact: we read what MuJoCo reads, and they do in MuJoCo what their names say."""

import sys
from importlib import import_module
from pathlib import Path

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import hybridsim as hs

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"
SCENES = ["thrown_cube", "pendulum_on_floor", "ant", "standing_quadruped", "trotting_quadruped"]


def benchmark_module(name):
    sys.path.insert(0, str(FOLDER))
    try:
        return import_module(name)
    finally:
        sys.path.remove(str(FOLDER))


@pytest.fixture(scope="module")
def contact_scenes():
    return benchmark_module("contact_scenes")


@pytest.mark.parametrize("name", SCENES)
def test_engines_agree_on_the_mechanism(name, contact_scenes):
    scene = getattr(contact_scenes, name)()
    model = scene.load()
    engine = contact_scenes.MuJoCo(scene.mjcf())
    assert (model.nq, model.nv, model.nu) == (engine.model.nq, engine.model.nv, engine.model.nu)
    assert scene.controls is None or scene.controls.shape == (scene.steps, model.nu)
    flags = mujoco.mjtDisableBit
    engine.model.opt.disableflags |= flags.mjDSBL_CONTACT | flags.mjDSBL_LIMIT | flags.mjDSBL_ACTUATION
    engine.model.dof_damping[:] = 0
    rng = np.random.default_rng(0)
    qd, tau = rng.normal(size=(2, model.nv))
    engine.set_state(scene.q, qd, tau)
    expected = engine.accelerations()
    found = hs.forward_dynamics(model, scene.q, qd, tau)
    np.testing.assert_allclose(found, expected, atol=1e-8 * np.abs(expected).max())


@pytest.mark.parametrize("name", SCENES)
@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_scenes_touch_the_floor(name, cone, contact_scenes):
    scene = getattr(contact_scenes, name)()
    contacts, _ = scene.contacts(cone)
    assert 1 < contacts < 6


@pytest.mark.parametrize("name", ["standing_quadruped", "trotting_quadruped"])
@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize("dt", [1e-3, 2e-3])
def test_quadruped_does_not_fall(name, cone, dt, contact_scenes):
    q = getattr(contact_scenes, name)(dt, round(2 / dt)).mujoco(cone)()[0]
    tilt = Rotation.from_quat(q[:, 3:7], scalar_first=True).as_matrix()[:, 2, 2]
    assert np.rad2deg(np.arccos(tilt.min())) < 15
    assert q[:, 2].min() > 0.25
    assert (q[-1, 0] > 0.3) == (name == "trotting_quadruped")


def test_pendulum_is_that_of_the_papers(contact_scenes):
    """Before it touches, the mean angle of 500 steps is that of the papers' engine; it touches near step 511."""
    scene = contact_scenes.pendulum_on_floor()
    assert np.mean(scene.mujoco()()[0, :500]) == pytest.approx(0.0671792252528, rel=1e-10)
    early, late = (contact_scenes.pendulum_on_floor(steps=steps).contacts()[0] for steps in (505, 520))
    assert early == 0
    assert late > 0


def test_pendulum_has_the_value_of_tds(contact_scenes):
    """With the papers' contact, all steps: so the gradient that is measured is that of TDS."""
    gradients = benchmark_module("contact_gradients")
    mean = gradients.mean_angle(hs.Impulses.tds(50))
    assert float(hs.native.jit(mean)(contact_scenes.pendulum_on_floor().qd)) == pytest.approx(
        gradients.TDS_VALUE, rel=1e-10
    )


@pytest.mark.slow
def test_quadruped_trots_by_our_contact_too(contact_scenes):
    rollouts = benchmark_module("contact_rollouts")
    scene = contact_scenes.trotting_quadruped()
    positions = rollouts.positions(scene.load(), scene.dt, scene.steps, hs.Impulses())
    q = np.asarray(hs.native.jit(positions, optimise=0)(scene.q, scene.qd, scene.controls))
    assert q[:, 2].min() > 0.25
    assert q[-1, 0] > 0.3
