"""What a model lacks is asked of data: what is missing is named and first, what is not is left alone.

All questions share one compiled problem; only the measured motion differs.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pytest

import hybridsim as hs
from hybridsim.calibrate.discovery import Discovered, _folds, _gain, _left_out, _may, _simplest, discover_effects
from hybridsim.calibrate.library import with_library
from hybridsim.calibrate.menu import DELAY, EFFECTS, FRICTION, GAIN, SHAPES, Entry, entries
from hybridsim.identify import Parameters, Problem, prepare
from hybridsim.identify.levenberg_marquardt import Point, search
from hybridsim.identify.measured import measured
from hybridsim.identify.starts import best_starts

from .arms import JOINTS, driven

WINDOW, DT, LONGEST = 0.3, 1e-2, 0.05
BASE = ["link/forearm/mass", hs.Free("joint/*/damping", lower=0.0)]
FORCE = 0.2
"""Friction of the elbow that the model has not [N m]."""
LATE = 0.02
"""[s]"""


@dataclass(frozen=True)
class Asked:
    """A menu and its problem, which can be asked of any logs of three runs."""

    model: hs.Model
    problem: Problem
    menu: tuple[Entry, ...]
    places: dict[Entry, tuple[int, ...]]

    def of(self, logs: Sequence[hs.Trajectory], menu: Sequence[Entry] | None = None, **options) -> Discovered:
        data = measured(self.model, list(logs), WINDOW, None, DT, "position", LONGEST)
        problem = self.problem.with_data(data)
        assert problem._compiled is self.problem._compiled
        names = problem.parameters.names
        free = [i for i, name in enumerate(names) if name == "link/forearm/mass" or name.endswith("/damping")]
        z = problem.zeros()[0]
        held = tuple(i for i in range(problem.size) if i not in free)
        start = search(problem, Point(z, best_starts(problem, z)), 20, 1e-5, held=held)
        return discover_effects(
            (problem,), start, free, self.menu if menu is None else menu, self.places, **{"least": 0.05, **options}
        )


@pytest.fixture(scope="module")
def model(arm_model) -> hs.Model:
    """Without friction at the elbow."""
    joints = replace(arm_model.joints, friction=np.array([0.06, 0.0]), friction_speed=np.full(2, 0.05))
    return replace(arm_model, joints=joints)


@pytest.fixture(scope="module")
def asked(model) -> Asked:
    logs = runs(model)
    grafted, library = with_library(model, logs, None)
    taken = frozenset(Parameters(model, BASE, 2).names)
    menu = entries(model, logs, library, tuple(EFFECTS.values()), LONGEST, taken)
    laws = [f for e in menu for f in e.free]
    options = {"window": WINDOW, "dt": DT, "integrator": hs.RungeKutta4(), "contact": None}
    problem = prepare(grafted, logs, [*BASE, *laws, hs.Free("network")], **options)
    names = problem.parameters.names
    first = names.index("network[0]")
    places = {
        e: (
            *(i for i, name in enumerate(names) for f in e.free if name.split(" [")[0] == f.pattern),
            *(first + k for k in e.weights),
        )
        for e in menu
    }
    return Asked(model, problem, tuple(menu), places)


def runs(model: hs.Model, **options) -> list[hs.Trajectory]:
    return [driven(model, 1.2, DT, seed, run=f"run{seed}", held=True, **options) for seed in range(3)]


@pytest.fixture(scope="module")
def lacking(model) -> list[hs.Trajectory]:
    """Of an arm with friction at the elbow and late controls, and with other masses and damping."""
    joints = replace(model.joints, friction=np.array([0.06, FORCE]), damping=np.array([0.1, 0.05]))
    return runs(replace(model, joints=joints), delay=LATE, noise=2e-4)


@pytest.fixture(scope="module")
def heard() -> list[str]:
    """What was said on the way."""
    return []


@pytest.fixture(scope="module")
def found(asked, lacking, heard) -> Discovered:
    return asked.of(lacking, seen=heard.append)


def test_what_is_missing_is_chosen_and_nothing_else(found, heard):
    assert sorted(heard) == ["Coulomb friction at elbow", "delay of the controls"]
    assert {(e.effect, e.where) for e in found.chosen} == {(FRICTION, "elbow"), (DELAY, "")}
    assert [(c.effect, c.where) for c in found.candidates[:2]] == [(e.effect, e.where) for e in found.chosen]
    assert [c.order for c in found.candidates] == [0, 1] + [-1] * (len(found.candidates) - 2)


def test_what_is_chosen_has_its_true_size(asked, found):
    names = asked.problem.parameters.names
    values = dict(zip(names, asked.problem.parameters.values(found.point.z), strict=True))
    assert values["joint/elbow/friction"] == pytest.approx(FORCE, rel=0.05)
    assert values["control/delay"] == pytest.approx(LATE, rel=0.05)
    used = {i for e in found.chosen for i in asked.places[e]}
    for i, name in enumerate(names):
        if i not in used and name not in ("link/forearm/mass", "joint/shoulder/damping", "joint/elbow/damping"):
            assert found.point.z[i] == 0, name


def test_gains_are_shares_of_the_error(asked, found):
    assert len(found.candidates) == len(asked.menu)
    assert all(0 <= c.gain <= 1 for c in found.candidates)
    chosen = [c.gain for c in found.candidates if c.chosen]
    assert 0.9 < sum(chosen) <= 1
    assert max(c.gain for c in found.candidates if not c.chosen) < 0.01


def test_forms_of_friction_wait_for_friction(asked, found, lacking):
    """At the shoulder none was chosen, so its forms are not asked for; where friction is not on the menu they are."""
    gains = {(c.effect, c.where): c.gain for c in found.candidates}
    assert [gains[effect, "shoulder"] for effect in SHAPES] == [0.0] * len(SHAPES)
    other = asked.of(lacking, [e for e in asked.menu if e.effect in (*SHAPES, DELAY)], most=2)
    assert len(other.chosen) <= 2
    assert len(other.candidates) == len(SHAPES) * len(JOINTS) + 1
    assert max(c.gain for c in other.candidates if c.where == "elbow") > 0.5 * gains[FRICTION, "elbow"]


@pytest.mark.parametrize("noise", [pytest.param(1e-4, marks=pytest.mark.slow), 5e-3])
def test_nothing_is_chosen_where_nothing_is_missing(noise, model, asked):
    """Noise can be fitted, but not that of runs that are left out."""
    found = asked.of(runs(model, noise=noise))
    assert found.chosen == ()
    assert len(found.candidates) == len(asked.menu)
    assert not any(c.chosen for c in found.candidates)
    assert all(0 <= c.gain <= 0.05 for c in found.candidates)


def test_an_effect_has_to_help_in_most_parts_of_the_data():
    before = np.array([1.0, 1.0, 1.0])
    assert _gain(before, np.array([0.9, 0.8, 1.05])) == pytest.approx(0.25)
    assert _gain(before, np.array([0.1, 1.05, 1.05])) == 0


def test_gains_of_all_controls_are_never_free_beside_masses():
    one, other = (Entry(GAIN, joint, relative=True) for joint in ("shoulder", "elbow"))
    assert _may(one, [], [one, other])
    assert not _may(one, [other], [one, other])
    assert not _may(one, [], [one])
    fixed = Entry(GAIN, "shoulder")
    assert _may(fixed, [], [fixed])


def test_of_nearly_equals_the_simplest_is_preferred():
    law, force = Entry(FRICTION, "elbow", (hs.Free("joint/elbow/friction"),)), Entry("drag", "elbow", weights=(0,))
    wide = Entry("coupling", "elbow", weights=(1, 2))
    assert _simplest({law: 0.95, force: 1.0, wide: 0.97}) == law
    assert _simplest({law: 0.5, force: 0.95, wide: 1.0}) == force
    # A law may explain a good deal less, since new forces bend to more.
    assert _simplest({law: 0.65, force: 0.95, wide: 1.0}) == law
    assert _simplest({law: 0.5, force: 0.65, wide: 1.0}) == force
    assert _simplest({law: 0.5, force: 0.55, wide: 1.0}) == wide
    # Where all make it worse too.
    assert _simplest({law: -2.0, force: -1.0}) == force


SLIDER = """
<robot name="slider">
  <link name="rail"/>
  <link name="cart">
    <inertial><mass value="2"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <joint name="slide" type="prismatic">
    <parent link="rail"/><child link="cart"/><axis xyz="1 0 0"/>
    <limit lower="-100" upper="100" effort="100" velocity="100"/>
  </joint>
</robot>
"""
LINEAR = [
    hs.Free("control/*/gain", scale="linear", lower=0.2, upper=5.0),
    hs.Free("world/gravity"),
    hs.Free("control/*/bias", per_run=True),
]


@pytest.fixture(scope="module")
def slider(tmp_path_factory) -> Problem:
    """Its motion is linear in gain and offset of its force, and in gravity along it."""
    file = tmp_path_factory.mktemp("slider") / "slider.urdf"
    file.write_text(SLIDER)
    rng = np.random.default_rng(0)
    t = DT * np.arange(91)
    logs = []
    for run in "abc":
        phase = rng.uniform(0, 6)
        u = np.sin(5 * t + phase)[:, None]
        speed = np.cumsum(np.concatenate([[0.0], DT * (1.3 * u[:-1, 0] + rng.uniform(-0.3, 0.3)) / 2]))
        q = np.cumsum(np.concatenate([[0.0], DT * speed[:-1]])) + 0.01 * rng.standard_normal(len(t))
        logs.append(hs.Trajectory(t, q[:, None], speed[:, None], u, run=run))
    options = {"window": WINDOW, "dt": DT, "start": "measured", "contact": None, "compare": {"position": 0.01}}
    return prepare(hs.load(file), logs, LINEAR, **options)


def by_refits(problem: Problem, columns: Sequence[int], own: Callable[[str], list[int]]) -> float:
    """Squared error on each run, after numbers were fitted to the others and its own to itself."""
    z, s = problem.zeros()
    labels = np.array(problem.data.runs)

    def rows(z: np.ndarray) -> np.ndarray:
        weighted = problem.data.weights["position"] * problem.residuals(z, s)["position"]
        return weighted.reshape(len(labels), -1)

    r = rows(z)
    J = np.stack([rows(z + unit) - r for unit in np.eye(problem.size)], axis=-1)
    total = 0.0
    for run in dict.fromkeys(labels):
        mine, others = labels == run, labels != run
        shared = [i for i in columns if i not in own(run)]
        zeros = [i for i in columns if i in own(run)]
        d = np.zeros(problem.size)
        if shared:
            A, b = J[others].reshape(-1, problem.size)[:, shared], r[others].ravel()
            d[shared] = -np.linalg.lstsq(A, b, rcond=None)[0]
        left = (r[mine] + J[mine] @ d).ravel()
        if zeros:
            A = J[mine].reshape(-1, problem.size)[:, zeros]
            left = left - A @ np.linalg.lstsq(A, left, rcond=None)[0]
        total += float(left @ left)
    return total


@pytest.mark.parametrize("free", [(), ("gain",), ("gravity",), ("gain", "gravity"), ("gain", "control/slide/bias")])
def test_linear_algebra_is_as_good_as_refits(free, slider):
    """Left-out errors, of numbers of all runs, and of offsets of single runs, which are found in the run itself."""
    names = slider.parameters.names
    columns = [
        i for i, name in enumerate(names) if any(word in name for word in free) and not name.endswith((".y", ".z"))
    ]
    assert len(columns) == len(free) + 2 * ("control/slide/bias" in free)

    def own(run: str) -> list[int]:
        return [i for i, name in enumerate(names) if name.endswith(f"[{run}]")]

    point = Point(*slider.zeros())
    found = _left_out(_folds(slider, point), np.array(columns, dtype=int), slider, point).sum()
    assert found == pytest.approx(by_refits(slider, columns, own), rel=1e-4)


def test_few_runs_are_cut_into_blocks(slider):
    """A single run is left out by parts."""
    one = slider.with_data(slider.data[np.flatnonzero(np.array(slider.data.runs) == "a")])
    point = Point(*one.zeros())
    folds = _folds(one, point)
    assert len(folds) == len(one.data) == 3
    whole = one.normal(*one.zeros())
    np.testing.assert_allclose(sum(f.A for f in folds), whole.A, rtol=1e-9, atol=1e-9 * np.abs(whole.A).max())
    np.testing.assert_allclose(sum(f.b for f in folds), whole.g, rtol=1e-9, atol=1e-9 * np.abs(whole.g).max())
    assert sum(f.c for f in folds) == pytest.approx(2 * whole.cost, rel=1e-9)
