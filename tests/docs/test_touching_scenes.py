"""The scenes in which few shapes touch: both engines have the same mechanism, and it touches the floor."""

import sys
from functools import cache
from importlib import import_module
from pathlib import Path

import mujoco
import numpy as np
import pytest

import hybridsim as hs

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"
QUICK = ["Hopper", "A1"]
OTHERS = ["HalfCheetah", "Walker2d", "Ant", "Humanoid", "ANYmal", "A1, feet only"]
BOXES = ["1 box", "4 boxes", "4 boxes, apart"]


def benchmark_module(name):
    sys.path.insert(0, str(FOLDER))
    try:
        return import_module(name)
    finally:
        sys.path.remove(str(FOLDER))


@pytest.fixture(scope="module")
def scene_of():
    """A scene by its name; a skip where the robot's file is not installed."""
    touching_scenes = benchmark_module("touching_scenes")
    makers = benchmark_module("robot_scenes").makers() | benchmark_module("box_scenes").makers()

    @cache
    def scene_of(name):
        try:
            return makers[name]()
        except touching_scenes.MissingError as missing:
            pytest.skip(str(missing))

    return scene_of


@pytest.mark.parametrize("name", [*BOXES, *QUICK, *(pytest.param(name, marks=pytest.mark.slow) for name in OTHERS)])
def test_engines_agree_in_the_air(name, scene_of):
    scene = scene_of(name)
    engine, model = type(scene.mujoco)(scene.mjcf), scene.model  # its own, as flags are changed
    assert (model.nq, model.nv, model.nu) == (engine.model.nq, engine.model.nv, engine.model.nu)
    disabled = mujoco.mjtDisableBit
    engine.model.opt.disableflags |= disabled.mjDSBL_CONTACT | disabled.mjDSBL_LIMIT
    steps, qd = 10, np.random.default_rng(0).uniform(-0.5, 0.5, model.nv)
    controls = None if scene.controls is None else scene.controls[20 : 20 + steps]
    options = {"dt": scene.dt, "steps": steps, "contact": None, "integrator": hs.ImplicitDamping()}
    found = hs.native.jit(lambda q, qd, u: hs.rollout(model, (q, qd), u, **options).q, optimise=0)(
        scene.q, qd, controls
    )
    np.testing.assert_allclose(found[1:], engine.rollout(scene.q, qd, steps, controls=controls)()[0], atol=1e-9)


@pytest.mark.parametrize("name", [*BOXES, *QUICK, *OTHERS])
def test_engines_may_touch_at_the_same_pairs(name, scene_of):
    scene = scene_of(name)
    model = scene.mujoco.model
    allowed = {
        frozenset((model.geom(a).name, model.geom(b).name))
        for a in range(model.ngeom)
        for b in range(a)
        if model.geom_contype[a] & model.geom_conaffinity[b] or model.geom_contype[b] & model.geom_conaffinity[a]
    }
    names = scene.model.geometry.names
    assert {frozenset((names[a], names[b])) for a, b in scene.model.contacts.pairs} == allowed


@pytest.mark.parametrize("name", [*BOXES, "16 boxes", *QUICK, *OTHERS])
def test_scenes_start_free_and_touch_soon(name, scene_of):
    scene = scene_of(name)
    model, data = scene.mujoco.model, scene.mujoco.data
    scene.mujoco.set_state(scene.q, scene.qd, np.zeros(model.nv))
    mujoco.mj_forward(model, data)
    assert all(data.contact.dist > 0)
    touching, _ = scene.contacts()
    assert 0.5 < touching < scene.candidates
