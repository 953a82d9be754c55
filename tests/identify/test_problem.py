"""Cost and slopes: normal equations, reverse mode and finite differences agree for everything that may be free."""

from dataclasses import replace

import numpy as np
import pytest

import hybridsim as hs
from hybridsim.identify import prepare
from identify.logs import driven

ARM = hs.chain(2, length=0.5, damping=0.3)
FREE = {
    "mechanism": [
        "link/link1/inertial",
        "link/link2/mass",
        "link/link2/com",
        "joint/*/damping",
        hs.Free("joint/*/friction", start=0.2),
        hs.Free("joint/*/friction_speed", start=0.3),
        "joint/joint2/position",
        "world/gravity",
        "sensor/clock",
    ],
    "measurement": [
        hs.Free("control/delay", upper=0.02, start=0.0051),
        "sensor/*/bias",
        "sensor/*/gain",
        "control/*/bias",
        "control/*/gain",
        hs.Free("link/*/mass", tied=True, prior=(1.3, 0.2)),
    ],
}


def agree(problem, seed=0, rtol=2e-6):
    rng = np.random.default_rng(seed)
    z, s = problem.zeros()
    z = z + 0.05 * rng.standard_normal(z.shape) * (np.abs(problem.parameters.values(z)) > -1)
    z = np.clip(z, *problem.bounds())
    s = s + 0.01 * rng.standard_normal(s.shape)
    normal, (cost, by_z, by_s) = problem.normal(z, s), problem.gradient(z, s)
    assert normal.cost == pytest.approx(cost, rel=1e-12) == pytest.approx(problem.cost(z, s), rel=1e-12)
    np.testing.assert_allclose(normal.g, by_z, rtol=1e-9, atol=1e-9 * np.abs(by_z).max())
    np.testing.assert_allclose(normal.h, by_s, rtol=1e-9, atol=1e-9 * np.abs(by_s).max(initial=0.0))
    dz, ds = rng.standard_normal(z.shape), rng.standard_normal(s.shape)
    e = 1e-6
    difference = (problem.cost(z + e * dz, s + e * ds) - problem.cost(z - e * dz, s - e * ds)) / (2 * e)
    assert difference == pytest.approx(by_z @ dz + np.sum(by_s * ds), rel=rtol)
    if problem.jump is not None:
        return
    many = problem.gradients(np.stack([z, 1.01 * z]), np.stack([s, s]))
    assert many[0][0] == pytest.approx(cost, rel=1e-12)
    np.testing.assert_allclose(many[1][0], by_z, rtol=1e-9, atol=1e-9 * np.abs(by_z).max())


@pytest.mark.parametrize("kind", ["mechanism", pytest.param("measurement", marks=pytest.mark.slow)])
def test_slopes_by_what_is_free(kind):
    log = driven(hs.chain(2, length=0.45, damping=0.2), 0.6)
    agree(prepare(ARM, log, FREE[kind], window=0.2, compare={"position": 1e-2}))


def test_steps_between_samples_and_what_is_held():
    free = [
        hs.Free("control/delay", upper=0.02, start=0.0051),
        "control/*/gain",
        "sensor/*/bias",
        "link/link2/mass",
        "link/*/inertia_factor",
    ]
    log = driven(hs.chain(2, length=0.45, damping=0.2), 0.4, dt=1e-2)
    problem = prepare(ARM, log, free, window=0.2, substeps=3, compare={"position": 1e-2, "velocity": 1e-1})
    agree(problem)
    z, s = problem.zeros()
    whole, held = problem.normal(z, s), [0, 2, 3]
    some, others = problem.normal(z, s, held), np.setdiff1d(np.arange(problem.size), held)
    assert some.cost == whole.cost
    np.testing.assert_allclose(some.g[others], whole.g[others], rtol=1e-12)
    np.testing.assert_allclose(some.A[np.ix_(others, others)], whole.A[np.ix_(others, others)], rtol=1e-9)
    np.testing.assert_allclose(some.B[:, others], whole.B[:, others], rtol=1e-9, atol=1e-12 * np.abs(whole.B).max())
    assert not some.g[held].any()
    assert not some.A[held].any()


def test_numbers_of_single_runs():
    """Encoders that are set to zero wherever the arm is when it starts."""
    zeros = {"a": (0.03, -0.02), "b": (-0.01, 0.05)}
    logs = [driven(ARM, 0.6, seed=k, run=run) for k, run in enumerate(zeros)]
    logs = [replace(log, q=log.q + np.array(zeros[log.run])) for log in logs]
    free = ["joint/joint2/damping", hs.Free("sensor/*/bias", per_run=True)]
    agree(prepare(ARM, logs, free, window=0.2, compare={"position": 1e-2}))
    fit = hs.fit(ARM, logs, free, window=0.2)
    for run, zero in zeros.items():
        np.testing.assert_allclose(fit.runs[run].position_bias, zero, atol=1e-9)
        assert fit[f"sensor/joint1/bias [{run}]"].value == pytest.approx(zero[0], abs=1e-9)
    np.testing.assert_array_equal(fit.apparatus.position_bias, [0, 0])
    with pytest.raises(ValueError, match="cannot differ from run to run"):
        prepare(ARM, logs, [hs.Free("link/*/mass", per_run=True)], window=0.2)


OPTIONS = {
    "joined windows and substeps": {"jump": 0.05, "substeps": 2, "compare": {"position": 1e-2}},
    "velocities and Huber": {"compare": {"position": 1e-2, "velocity": 0.1}, "loss": hs.Huber(0.5)},
    "Runge-Kutta, one step": {
        "window": 2e-3,
        "stride": 0.05,
        "start": "measured",
        "integrator": hs.RungeKutta4(),
    },
}


@pytest.mark.parametrize(
    "kind", [kind if kind.startswith("joined") else pytest.param(kind, marks=pytest.mark.slow) for kind in OPTIONS]
)
def test_slopes_by_options(kind):
    log = driven(hs.chain(2, length=0.45, damping=0.2), 0.6)
    problem = prepare(ARM, log, ["joint/*/damping", "link/link2/mass"], **{"window": 0.2, **OPTIONS[kind]})
    if kind.startswith("joined"):
        assert len(problem._joints[0]) == 2
    agree(problem)


def test_slopes_by_weights_of_networks_that_remember():
    network = hs.Augment("joint.force", ("joint.velocity", hs.history("joint.velocity", 2)), hs.MLP((4,)))
    model = hs.Blueprint(network).graft(ARM, key=0)
    problem = prepare(model, driven(ARM, 0.2), ["network", "joint/*/damping"], window=0.05)
    assert problem.size > 10
    agree(problem)


@pytest.mark.slow
def test_slopes_of_a_body_in_space():
    """Quaternions, and starts that are turned."""
    model = hs.free_body(hs.Link("body", 0.5, inertia=np.diag([1e-3, 2e-3, 3e-3])))
    rng = np.random.default_rng(0)
    q0, qd0 = np.concatenate([rng.standard_normal(3), [1, 0, 0, 0]]), rng.standard_normal(6)
    made = hs.rollout(model, (q0, qd0), dt=1e-2, steps=30, contact=None)
    quaternions = (3,)
    log = hs.Trajectory(made.t, np.asarray(made.q), np.asarray(made.qd), run="a", quaternions=quaternions)
    agree(prepare(model, log, ["world/gravity"], window=0.1))


@pytest.mark.slow
def test_measured_values_other_than_states_are_compared():
    log = driven(ARM, 0.4)
    made = hs.rollout(
        ARM,
        (log.q[0], log.qd[0]),
        hs.Control(force=log.controls[:-1]),
        dt=2e-3,
        contact=None,
        record="joint.acceleration",
    )
    values = np.concatenate([made.values["joint.acceleration"], np.zeros((1, 2))])
    log = hs.Trajectory(log.time, log.q, log.qd, log.controls, run="a", values={"joint.acceleration": values})
    compare = {"position": 1e-3, "joint.acceleration": 0.1}
    problem = prepare(ARM, log, ["joint/*/damping"], window=0.1, compare=compare)
    assert problem.cost(*problem.zeros()) < 1e-12
    agree(problem)


def test_information_about_parameters_has_the_starts_taken_out():
    problem = prepare(ARM, driven(ARM, 0.6), ["joint/*/damping", "link/*/mass"], window=0.2)
    z, s = problem.zeros()
    R = problem.root(z, s)
    by_blocks = problem.normal(z, s).of_parameters()[0]
    np.testing.assert_allclose(R.T @ R, by_blocks, rtol=1e-4, atol=1e-6 * by_blocks.max())
