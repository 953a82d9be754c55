"""The shipped demo from its logs to MuJoCo: what was changed is found, and what was learned moves the arm there as here.

Its logs were made by MuJoCo with other masses, dry friction at both joints and a delay; truth.json says which.
"""

import csv
import json
import warnings
from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np
import pytest

import hybridsim as hs
from hybridsim.calibrate import Calibration, Config, calibrate, config_of, listed, propose
from hybridsim.calibrate.load import Bench, bench_of
from hybridsim.calibrate.menu import DELAY, FRICTION
from hybridsim.commands.demo import copy_demo

from .arms import JOINTS, RUN_FILES
from .exported import imported
from .test_export import compiled_c, needs_compiler


@dataclass(frozen=True)
class Demo:
    config: Config
    folder: Path
    found: Calibration
    truth: dict[str, float]


@pytest.fixture(scope="module")
def demo(tmp_path_factory, repository) -> Demo:
    folder = tmp_path_factory.mktemp("demo")
    arm, logs = copy_demo(folder)
    config = config_of(propose(arm, logs, folder=folder), folder)
    truth = json.loads((repository / "src/hybridsim/assets/demo/truth.json").read_text())
    return Demo(config, folder / "run", calibrate(config, folder / "run"), truth)


@pytest.fixture(scope="module")
def bench(demo) -> Bench:
    return bench_of(demo.config)


def test_changed_masses_are_within_their_intervals(demo):
    fit = demo.found.stage("explained").fit
    for name in ("link/upper_arm/mass", "link/forearm/mass"):
        assert fit[name].lower <= demo.truth[name] <= fit[name].upper
        # An interval that holds everything says nothing.
        assert fit[name].upper - fit[name].lower < 0.05 * abs(fit[name].start - demo.truth[name])


def test_friction_and_delay_are_named_and_nothing_else(demo):
    assert {(f.effect, f.where) for f in demo.found.findings} == {(DELAY, ""), *((FRICTION, joint) for joint in JOINTS)}
    words = {f.where: f.words for f in demo.found.findings}
    assert words[""].startswith("controls act late: a delay of 12")
    for joint in JOINTS:
        said = f"force at joint {joint} depends on its velocity, odd, saturating: looks like Coulomb friction of "
        assert words[joint].startswith(said)
        size, unit = words[joint].removeprefix(said).split(" ", 1)
        assert float(size) == pytest.approx(demo.truth[f"joint/{joint}/friction"], rel=0.05)
        assert unit == "N m"


def test_laws_have_the_numbers_of_the_hardware(demo):
    """MuJoCo's friction is not smooth as ours, so of it and of damping less is asked than of masses."""
    fit = demo.found.stage("explained").fit
    for name, value in demo.truth.items():
        assert fit[name].value == pytest.approx(value, rel=0.03), name


def test_candidates_are_in_order_and_gains_are_shares(demo):
    found = demo.found.candidates
    assert [c.order for c in found[:3]] == sorted(c.order for c in found[:3])
    assert all(0 <= c.gain <= 1 for c in found)
    assert all(c.chosen for c in found[:3])
    rest = [c.gain for c in found[3:]]
    assert rest == sorted(rest, reverse=True)
    assert max(rest) < 0.01
    assert not any(c.chosen for c in found[3:])


def test_held_out_error_is_ten_times_below_that_of_the_file(demo):
    assert [stage.name for stage in demo.found.stages] == ["original", "calibrated", "explained", "hybrid"]
    assert demo.found.improvement("original", "explained") >= 10
    assert demo.found.improvement("original", "hybrid") >= 10
    assert [log.run for log in demo.found.held_out] == ["run4"]
    assert not demo.found.stopped


def test_held_out_error_is_three_times_below_the_best_fit_without_friction(demo, bench):
    """Masses, damping and delay are free; friction stays as in the file."""
    how = {"window": demo.config.window, "dt": bench.dt, "substeps": bench.substeps, "integrator": bench.integrator}
    free = [*demo.config.free, hs.Free("control/delay", lower=0.0, upper=0.05)]
    with warnings.catch_warnings():
        # Of jitter and of the delay, which are known.
        warnings.simplefilter("ignore")
        without = hs.fit(bench.model, bench.training, free, contact=bench.contact, **how)
    judge = {**how, "start": 0.1, "stride": demo.config.window / 2, "contact": bench.contact}
    worse = hs.evaluate(without.model, bench.held_out, apparatus=without.apparatus, **judge)
    best = demo.found.best
    better = hs.evaluate(best.model, bench.held_out, apparatus=best.apparatus, **judge)
    assert better.median == pytest.approx(best.held_out.median, rel=0.05)
    assert worse.median / better.median >= 3


def test_the_folder_has_all_files(demo):
    names = set(listed(demo.found, demo.folder)) - {"report.html"}
    assert names == RUN_FILES | {
        "augmentation/augmentation.py",
        "augmentation/augmentation.c",
        "augmentation/plain.urdf",
    }
    assert not list(demo.folder.rglob(".*"))


def test_the_robots_file_has_the_fitted_numbers(demo):
    model = hs.load(demo.folder / "calibrated.urdf")
    for e in demo.found.stage("explained").fit.parameters:
        kind, name, what = f"{e.name}//".split("/")[:3]
        if kind == "link":
            assert np.asarray(model.links.mass)[model.link_names.index(name)] == pytest.approx(e.value, rel=1e-6)
        elif kind == "joint":
            array = np.asarray(getattr(model.joints, what))
            assert array[model.v_of(name)][0] == pytest.approx(e.value, rel=1e-6)
    assert mujoco.MjModel.from_xml_path(str(demo.folder / "calibrated.urdf")).nv == 2


def test_parameters_and_ranges_can_be_read(demo):
    fit = demo.found.stage("explained").fit
    with open(demo.folder / "parameters.csv", newline="") as file:
        rows = {row["name"]: row for row in csv.DictReader(file)}
    ranges, listing = (strict((demo.folder / name).read_text()) for name in ("ranges.json", "parameters.json"))
    assert list(rows) == list(ranges) == [p["name"] for p in listing] == [e.name for e in fit.parameters]
    for e in fit.parameters:
        assert float(rows[e.name]["value"]) == ranges[e.name]["mean"] == e.value
        assert float(rows[e.name]["lower"]) == ranges[e.name]["lower"] == e.lower
        assert rows[e.name]["unit"] == e.unit


def test_the_summary_is_json_without_nan(demo):
    found = strict((demo.folder / "summary.json").read_text())
    assert [stage["name"] for stage in found["stages"]] == ["original", "calibrated", "explained", "hybrid"]
    assert found["best"] == demo.found.best.name
    assert found["unit"] == "rad"
    assert found["held_out"] == ["run4"]
    assert [f["words"] for f in found["findings"]] == [f.words for f in demo.found.findings]
    assert found["stages"][0]["median"] == demo.found.stages[0].held_out.median
    assert found["stopped"] is False


def strict(text: str):
    def refuse(word):
        raise AssertionError(f"JSON has no {word}")

    return json.loads(text, parse_constant=refuse)


def test_models_and_fits_can_be_loaded(demo):
    best, loaded = demo.found.best.model, hs.load_hybrid(demo.folder / "model.hybrid")
    state, force = (np.array([0.3, -0.2]), np.array([1.0, -2.0])), hs.Control(force=np.array([1.0, 0.5]))
    found, wanted = (np.asarray(hs.acceleration(model, state, force, contact=None)) for model in (loaded, best))
    np.testing.assert_array_equal(found, wanted)
    for name in ("calibrated", "explained", "hybrid"):
        fit = hs.load_fit(demo.folder / "fits" / name)
        assert fit.parameters == demo.found.stage(name).fit.parameters
        assert fit.errors.median == pytest.approx(demo.found.stage(name).fit.errors.median, rel=1e-12)


def test_learned_curves_are_friction(demo):
    assert sorted(curve.joint for curve in demo.found.curves) == sorted(JOINTS)
    for curve in demo.found.curves:
        (v,) = curve.axes
        assert curve.force.shape == curve.law.shape == v.shape
        assert curve.unit == "N m"
        size = demo.truth[f"joint/{curve.joint}/friction"]
        damping = demo.truth[f"joint/{curve.joint}/damping"]
        wanted = -size * np.sign(v) - damping * v
        far = np.abs(v) > 0.3
        np.testing.assert_allclose(curve.force[far], wanted[far], atol=0.1 * size)


DT, STEPS = 2e-3, 500
OFF = (mujoco.mjtDisableBit.mjDSBL_EULERDAMP, mujoco.mjtDisableBit.mjDSBL_CONTACT, mujoco.mjtDisableBit.mjDSBL_LIMIT)
INTEGRATORS = {
    "Runge-Kutta": (hs.RungeKutta4(), mujoco.mjtIntegrator.mjINT_RK4),
    "Euler": (hs.SemiImplicitEuler(), mujoco.mjtIntegrator.mjINT_EULER),
}


@pytest.mark.parametrize("kind", INTEGRATORS)
def test_mujoco_with_the_export_moves_as_the_hybrid(kind, demo):
    """Driven by the torques of a held-out run."""
    ours, theirs = INTEGRATORS[kind]
    (log,) = demo.found.held_out
    time = 1.0 + DT * np.arange(STEPS)
    torques = np.stack([np.interp(time, log.time, log.controls[:, j]) for j in range(2)], axis=1)
    first = int(np.argmin(np.abs(log.time - time[0])))
    start = log.q[first], log.qd[first]
    hybrid = demo.found.stage("hybrid").model
    options = {"dt": DT, "steps": STEPS, "contact": None, "integrator": ours}
    wanted = hs.native.jit(lambda: hs.rollout(hybrid, start, hs.Control(force=torques), **options).q)()

    folder = demo.folder / "augmentation"
    model = mujoco.MjModel.from_xml_path(str(folder / "plain.urdf"))
    model.opt.timestep, model.opt.integrator = DT, theirs
    model.opt.disableflags |= sum(map(int, OFF))
    found, without = moved(model, torques, start, imported(folder)), moved(model, torques, start, None)
    np.testing.assert_allclose(found, wanted, atol=1e-8)
    assert np.abs(without - wanted).max() > 0.05


def moved(model, torques, start, augmentation) -> np.ndarray:
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = start
    if augmentation is not None:
        augmentation.install(model)
    try:
        positions = [data.qpos.copy()]
        for torque in torques:
            data.qfrc_applied[:] = torque
            mujoco.mj_step(model, data)
            positions.append(data.qpos.copy())
    finally:
        if augmentation is not None:
            augmentation.uninstall()
    return np.array(positions)


@needs_compiler
def test_the_c_code_is_the_python_module(demo, tmp_path):
    folder = demo.folder / "augmentation"
    _, in_c = compiled_c(folder, tmp_path)
    in_python = imported(folder)
    np.testing.assert_allclose(in_python.DELAY, demo.truth["control/delay"], atol=2e-4)
    for q, qd, command in np.random.default_rng(0).normal(size=(20, 3, 2)):
        np.testing.assert_allclose(in_c(q, qd, command), in_python.force(q, qd, command), rtol=1e-12, atol=1e-14)
