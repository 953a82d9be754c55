"""Fits of motion whose truth is known."""

from dataclasses import replace

import jax
import numpy as np
import pytest

import hybridsim as hs
from hybridsim.identify.uncertainty import uncertainty
from identify.logs import driven

TRUE = hs.chain(2, length=0.5, damping=0.3)
FREE = [hs.Free("joint/*/damping", start=0.1), "link/link2/mass"]
LOGS = [driven(TRUE, 1.0, noise=1e-3, seed=k, run=f"run {k}") for k in range(2)]


@pytest.fixture(scope="module")
def fit():
    return hs.fit(TRUE, LOGS, FREE, window=0.5)


def test_the_truth_is_found_within_what_it_states(fit):
    for name, truth in {"joint/joint1/damping": 0.3, "joint/joint2/damping": 0.3, "link/link2/mass": 1.0}.items():
        estimate = fit[name]
        assert abs(estimate.value - truth) < 4 * estimate.deviation
        assert estimate.deviation < 0.02
        assert estimate.lower < estimate.value < estimate.upper
    assert fit.noise == pytest.approx(1e-3, rel=0.05)
    assert fit.errors.median == pytest.approx(1e-3, rel=0.1)
    assert "all 3 numbers are determined" in fit.identifiability
    np.testing.assert_allclose(np.diag(fit.correlation), 1.0)


@pytest.mark.slow
def test_others_say_the_same_of_uncertainty(fit):
    """Samples and profiles: other ways to the same interval, where the cost is nearly a parabola."""
    name = "joint/joint2/damping"
    estimate, profile = fit[name], hs.profile_likelihood(fit, name)
    assert (profile.lower, profile.upper) == pytest.approx(
        (estimate.lower, estimate.upper), abs=0.1 * estimate.deviation
    )
    samples = hs.sample_posterior(fit, draws=150, warmup=100, chains=8)
    assert samples.intervals()[name] == pytest.approx((estimate.lower, estimate.upper), abs=0.5 * estimate.deviation)


def test_solvers_find_the_same(fit):
    by_gradients = hs.fit(TRUE, LOGS, FREE, hs.LBFGSB(), window=0.5)
    assert by_gradients.cost == pytest.approx(fit.cost, rel=1e-5)
    for one, other in zip(by_gradients.parameters, fit.parameters, strict=True):
        assert one.value == pytest.approx(other.value, abs=0.1 * other.deviation)
    by_adam, other = (
        hs.fit(TRUE, LOGS, FREE, solver, window=0.5, start="measured")
        for solver in (hs.Adam(400, 0.1, batch=2), hs.LevenbergMarquardt())
    )
    assert by_adam.cost < 1.1 * other.cost
    hopped = hs.fit(TRUE, LOGS, FREE, hs.BasinHopping(rounds=1, searches=2), window=0.5)
    assert hopped.cost == pytest.approx(fit.cost, rel=1e-6)


def test_it_is_saved_and_loaded(fit, tmp_path):
    fit.save(tmp_path / "fit")
    again = hs.load_fit(tmp_path / "fit")
    assert again.summary() == fit.summary()
    for one, other in zip(jax.tree.leaves(again.model), jax.tree.leaves(fit.model), strict=True):
        np.testing.assert_array_equal(one, other)
    with pytest.raises(ValueError, match="without its logs"):
        hs.sample_posterior(again)
    with pytest.raises(ValueError, match="holds no fit"):
        hs.load_fit(tmp_path)


def test_what_has_no_effect_is_said_and_warned_of():
    """A fixed frame turned about the joint's own axis changes nothing, nor does gravity along it."""
    with pytest.warns(hs.IdentifiabilityWarning, match="world/gravity.y has no effect"):
        fit = hs.fit(TRUE, LOGS[0], ["world/gravity", "joint/*/damping"], window=0.5)
    assert fit["world/gravity.y"].deviation == np.inf
    assert fit["world/gravity.z"].deviation < 0.5


def test_delay_and_offsets_of_the_measurement_are_found():
    late = LOGS[0]
    shift = 5
    controls = np.concatenate([late.controls[shift:], np.repeat(late.controls[-1:], shift, axis=0)])
    shown = hs.Trajectory(late.time, late.q + np.array([0.02, 0.0]), late.qd, controls, run="late")
    free = [hs.Free("control/delay", upper=0.05, start=0.004), "sensor/joint1/bias"]
    fit = hs.fit(TRUE, shown, free, window=0.5)
    assert fit["control/delay"].value == pytest.approx(shift * 2e-3, abs=1e-3)
    assert fit["sensor/joint1/bias"].value == pytest.approx(0.02, abs=4 * fit["sensor/joint1/bias"].deviation)
    assert float(fit.apparatus.delay) == fit["control/delay"].value
    with_it = hs.evaluate(fit.model, shown, 0.5, start="fitted", apparatus=fit.apparatus)
    without = hs.evaluate(fit.model, shown, 0.5, start="fitted")
    assert with_it.median < 0.5 * without.median


def _with_springs():
    return replace(TRUE, joints=replace(TRUE.joints, stiffness=np.full(2, 2.0)))


def test_correlated_residuals_widen_the_intervals(fit):
    """A model that lacks a spring: what is left is no noise."""
    spring = _with_springs()
    wrong = hs.fit(TRUE, driven(spring, 1.0, noise=1e-3), FREE, window=0.5)
    assert "correlated in time" in wrong.uncertainty
    assert "correlated" not in fit.uncertainty
    plain = uncertainty(wrong.problem, wrong.point, False, np.zeros(3, bool))
    assert plain.correlation > 0.5


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"free": []}, "nothing is free"),
        ({"window": 5.0}, "no window of 5 s"),
        ({"compare": ["position", "velocity"]}, "standard deviation of each"),
        ({"compare": "torque"}, "no 'torque' to compare"),
        ({"substeps": 0}, "substeps is 0"),
        ({"logs": []}, "no logs are given"),
        ({"horizons": [-1.0]}, "horizon is -1.0 s"),
    ],
)
def test_bad_options_are_named(change, message):
    options = {"logs": LOGS[0], "free": FREE, "window": 0.5} | change
    with pytest.raises(ValueError, match=message):
        hs.fit(TRUE, **options)


def test_single_precision_is_refused():
    jax.config.update("jax_enable_x64", False)
    try:
        with pytest.raises(ValueError, match="64 bits"):
            hs.fit(TRUE, LOGS[0], FREE)
    finally:
        jax.config.update("jax_enable_x64", True)


def test_errors_of_windows():
    perfect = hs.evaluate(TRUE, driven(TRUE, 1.0), 0.5, 0.25)
    assert perfect.median < 1e-12
    assert len(perfect.rmse) == 3
    off = hs.evaluate(hs.chain(2, length=0.5, damping=0.5), LOGS, 0.5)
    assert off.median > 0.003
    assert set(off.by_run()) == {"run 0", "run 1"}
    times, distance = off.by_horizon()
    assert times[-1] == pytest.approx(0.5)
    assert distance[-1] > 5 * distance[1]
    by_hand = hs.rollout(
        hs.chain(2, length=0.5, damping=0.5),
        (LOGS[0].q[0], LOGS[0].qd[0]),
        hs.Control(force=LOGS[0].controls[:250]),
        dt=2e-3,
        contact=None,
    )
    expected = np.sqrt(np.mean((np.asarray(by_hand.q) - LOGS[0].q[:251]) ** 2))
    assert off.rmse[0] == pytest.approx(expected, rel=1e-9)


def test_windows_without_controls_are_left_out_and_said():
    log = LOGS[0]
    known = np.ones_like(log.controls, dtype=bool)
    known[300:320] = False
    with pytest.warns(hs.DataWarning, match="1 of 2 windows are left out"):
        errors = hs.evaluate(TRUE, replace(log, controls_mask=known), 0.5)
    assert len(errors.rmse) == 1


def test_another_fit_is_not_resumed(tmp_path):
    hs.fit(TRUE, LOGS[0], FREE, window=0.5, folder=tmp_path)
    again = hs.fit(TRUE, LOGS[0], FREE, window=0.5, folder=tmp_path, resume=True)
    assert again.done
    for free in (["link/link2/mass"], [hs.Free("joint/*/damping", start=0.1, upper=0.2), "link/link2/mass"]):
        with pytest.raises(ValueError, match="belongs to another fit"):
            hs.fit(TRUE, LOGS[0], free, window=0.5, folder=tmp_path, resume=True)


@pytest.mark.slow
def test_the_level_of_noise_moves_where_huber_bends():
    """A profile of a fit with noise of unknown level is that of the same cost."""
    fit = hs.fit(TRUE, LOGS, FREE, window=0.5, loss=hs.Huber(3e-3))
    name = "joint/joint2/damping"
    profile, estimate = hs.profile_likelihood(fit, name), fit[name]
    assert (profile.lower, profile.upper) == pytest.approx(
        (estimate.lower, estimate.upper), abs=0.5 * estimate.deviation
    )
