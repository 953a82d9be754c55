"""A search for some of the free numbers is the search that was prepared with these alone."""

from dataclasses import replace

import numpy as np
import pytest

import hybridsim as hs
from hybridsim.identify import Parameters, Problem, prepare
from identify.logs import driven

ARM = hs.chain(2, length=0.5, damping=0.3)
ZERO = hs.Free("sensor/*/bias", lower=-0.5, upper=0.5, per_run=True)
SOME = ["link/*/mass", hs.Free("joint/joint2/damping", lower=0.0, prior=(0.2, 0.1)), ZERO]
EVERYTHING = [
    hs.Free("control/delay", lower=0.0, upper=0.02),
    "link/*/mass",
    hs.Free("joint/*/friction", start=0.1),
    hs.Free("joint/joint2/damping", lower=0.0),
    ZERO,
]
OPTIONS = {"window": 0.2, "compare": {"position": 1e-2}, "contact": None}


@pytest.fixture(scope="module")
def logs() -> list[hs.Trajectory]:
    made = [driven(hs.chain(2, length=0.45, damping=0.2), 0.4, dt=1e-2, seed=k, run=run) for k, run in enumerate("ab")]
    return [replace(log, q=log.q + zero) for log, zero in zip(made, (0.03, -0.02), strict=True)]


@pytest.fixture(scope="module")
def whole(logs) -> Problem:
    return prepare(ARM, logs, EVERYTHING, **OPTIONS)


def of_runs(whole: Problem, free, runs) -> Parameters:
    return Parameters(whole.parameters.base.model, free, 2, None, runs)


def points(problem: Problem, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    z, s = problem.zeros()
    z = np.clip(z + 0.05 * rng.standard_normal(z.shape), *problem.bounds())
    return z, s + 0.01 * rng.standard_normal(s.shape)


def test_a_part_is_the_problem_of_these_numbers_alone(whole, logs):
    """The others, here friction, stay where the point says that they are."""
    z = whole.zeros()[0]
    index = [i for i, name in enumerate(whole.parameters.names) if "friction" in name]
    z[index] = 0.2, 0.4
    friction = whole.parameters.values(z)[index]
    assert np.all(np.abs(friction - 0.1) > 0.01)
    part = whole.part(of_runs(whole, SOME, "ab"), z)
    assert part._compiled is whole._compiled
    alone = prepare(replace(ARM, joints=replace(ARM.joints, friction=friction)), logs, SOME, **OPTIONS)
    assert part.parameters.names == alone.parameters.names
    assert part.size == alone.size < whole.size
    for a, b in zip(part.bounds(), alone.bounds(), strict=True):
        np.testing.assert_array_equal(a, b)
    z, s = points(alone)
    assert part.cost(z, s) == pytest.approx(alone.cost(z, s), rel=1e-12)
    np.testing.assert_allclose(part.costs(z, s), alone.costs(z, s), rtol=1e-12)
    found, wanted = part.normal(z, s), alone.normal(z, s)
    for name in ("A", "g", "B", "C", "h"):
        a, b = getattr(found, name), getattr(wanted, name)
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12 * np.abs(b).max(), err_msg=name)
    cost, by_z, by_s = part.gradient(z, s)
    assert cost == pytest.approx(wanted.cost, rel=1e-12)
    np.testing.assert_allclose(by_z, wanted.g, rtol=1e-12, atol=1e-12 * np.abs(wanted.g).max())
    np.testing.assert_allclose(by_s, wanted.h, rtol=1e-12, atol=1e-12 * np.abs(wanted.h).max())
    # Of a root the signs of its rows are free.
    R, Q = part.root(z, s), alone.root(z, s)
    np.testing.assert_allclose(R.T @ R, Q.T @ Q, rtol=1e-12, atol=1e-12 * np.abs(Q.T @ Q).max())
    found, wanted = part.parameters.model(z), alone.parameters.model(z)
    np.testing.assert_allclose(found.links.mass, wanted.links.mass, rtol=1e-12)
    np.testing.assert_allclose(found.joints.damping, wanted.joints.damping, rtol=1e-12)


def test_runs_that_are_not_searched_keep_their_zeros(whole):
    """Zeros of encoders are free in run a only; those of run b stay at what they are said to be."""
    names = whole.parameters.names
    z = whole.zeros()[0]
    z[[names.index(f"sensor/{joint}/bias [b]") for joint in ("joint1", "joint2")]] = -0.08, 0.05
    part = whole.part(of_runs(whole, SOME, "a"), z)
    assert [name for name in part.parameters.names if "bias" in name] == [
        "sensor/joint1/bias [a]",
        "sensor/joint2/bias [a]",
    ]
    own, s = points(part)
    z[[names.index(name) for name in part.parameters.names]] = own
    np.testing.assert_allclose(part.costs(own, s), whole.costs(z, s), rtol=1e-12)
    # Nothing of run b speaks of the zeros of run a.
    b = np.flatnonzero(np.array(part.data.runs) == "b")
    of_a = [part.parameters.names.index(f"sensor/{joint}/bias [a]") for joint in ("joint1", "joint2")]
    normal = part.with_data(part.data[b]).normal(own, s[b])
    np.testing.assert_array_equal(normal.g[of_a], 0)
    np.testing.assert_array_equal(normal.A[of_a], 0)
    assert np.all(part.normal(own, s).g[of_a] != 0)


def test_a_part_of_other_windows_is_still_a_part(whole):
    z = whole.zeros()[0]
    part = whole.part(of_runs(whole, SOME, "ab"), z).with_data(whole.data[np.array([1, 2])])
    own, s = points(part)
    every = whole.part(of_runs(whole, SOME, "ab"), z)
    before = np.zeros((len(whole.data), whole.own))
    before[[1, 2]] = s
    np.testing.assert_allclose(part.costs(own, s), every.costs(own, before)[[1, 2]], rtol=1e-12)


def test_slopes_of_chosen_windows_are_those_of_these_windows(whole):
    """For methods that take some windows at a time."""
    part = whole.part(of_runs(whole, ["link/*/mass"], "ab"), whole.zeros()[0])
    z, s = points(part)
    chosen = np.array([0, 2])
    cost, by_z, by_s = part.gradient(z, s, chosen)
    wanted = part.with_data(part.data[chosen]).normal(z, s[chosen])
    assert cost == pytest.approx(wanted.cost, rel=1e-9)
    np.testing.assert_allclose(by_z, wanted.g, rtol=1e-9)
    np.testing.assert_allclose(by_s, wanted.h, rtol=1e-9, atol=1e-9)


def test_a_name_that_the_whole_has_not_is_an_error(whole):
    with pytest.raises(KeyError, match="armature"):
        whole.part(of_runs(whole, ["joint/joint1/armature"], "ab"), whole.zeros()[0])
