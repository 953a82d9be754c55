"""Springs explode where a step is too long for stiffness and mass: said before the rollout, with a step that will do."""

import re
import warnings

import jax
import numpy as np
import pytest

import hybridsim as hs

SHORTER, LONGER = 0.7, 4.0
"""Of the longest stable step as estimated: there nothing may explode, and here almost everything does."""


def cubes(*masses, size=0.1, **numbers):
    """A tower on the ground."""
    solids = [hs.solid(f"cube{i}", mass=m, shape="box", size=(size,) * 3) for i, m in enumerate(masses)]
    bodies = [hs.prefixed(hs.free_body(solid), f"{i}/") for i, solid in enumerate(solids)]
    model = hs.with_contacts(hs.world(*bodies, hs.ground()), **numbers)
    q, qd = model.rest()
    q[2::7] = size * (1 + 2 * np.arange(len(masses)))
    return model, q, qd


def advice(model, q, qd, dt, **options):
    """The step that the warning gives, or None where there is none."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        hs.rollout(model, (q, qd), dt=dt, steps=1, contact=hs.Springs(), **options)
    found = [str(w.message) for w in caught if issubclass(w.category, hs.StepWarning)]
    assert len(found) <= 1
    return float(re.search(r"dt=([0-9.e-]+)", found[0])[1]) if found else None


@hs.native.jit
def _run(model, q, qd, dt, steps):
    return hs.rollout(model, (q, qd), dt=dt, steps=steps, contact=hs.Springs())


def energy_gained(model, q, qd, dt, steps=2000):
    """In units of the weight times a metre; infinite where numbers are not finite."""
    motion = _run(model, q, qd, np.asarray(dt), steps)
    sums = []
    for i in (0, steps // 2, steps):
        if not (np.isfinite(motion.q[i]).all() and np.isfinite(motion.qd[i]).all()):
            return np.inf
        energy = hs.energy(model, motion.q[i], motion.qd[i])
        sums.append(float(energy.kinetic + energy.potential))
    return (max(sums) - sums[0]) / (float(np.sum(model.links.mass)) * 9.81)


def test_a_heavy_cube_on_a_light_one():
    """100 kg on 1 kg with steps of 1 ms: a body flew away, without a word."""
    model, q, qd = cubes(1.0, 100.0)
    assert energy_gained(model, q, qd, 1e-3) > 1.0
    step = advice(model, q, qd, 1e-3)
    assert 1e-5 < step < 1e-3
    assert advice(model, q, qd, step) is None
    assert energy_gained(model, q, qd, step) < 1e-3


def test_the_warning_names_the_pair():
    model, q, qd = cubes(1.0, 100.0)
    with pytest.warns(hs.StepWarning, match=r"0.001 s .*0/cube0/box.* with .*1/cube1/box.* hs.Impulses"):
        hs.rollout(model, (q, qd), dt=1e-3, steps=1, contact=hs.Springs())


@pytest.mark.parametrize("masses", [(1.0,), (0.05,), (1.0, 1.0, 1.0), (10.0, 1.0)])
def test_ordinary_scenes_are_silent_at_a_millisecond(masses):
    model, q, qd = cubes(*masses)
    assert advice(model, q, qd, 1e-3) is None


def random_scene(rng, kind):
    """Sizes from centimetres to metres, masses from 10 g to 100 kg, stiffness over three decades."""
    size, mass, stiffness = (float(10 ** rng.uniform(*decades)) for decades in ((-2, 0), (-2, 2), (3, 6)))
    masses = (mass, mass * float(10 ** rng.uniform(-1, 2.5))) if kind == "stack" else (mass,)
    numbers = {"stiffness": stiffness, "dissipation": stiffness * float(10 ** rng.uniform(-1, 1))}
    model, q, qd = cubes(*masses, size=size, friction=0.3, static_friction=0.3, transition_speed=0.3, **numbers)
    if kind == "drop":
        q[2] += size * rng.uniform(0, 10)
        qd[:3] = 0.5 * rng.normal(size=3)
    return model, q, qd


@pytest.mark.parametrize("kind", ["rest", "drop", "stack"])
def test_the_advice_holds_for_other_sizes_masses_and_springs(kind):
    rng, exploded = np.random.default_rng(3), 0
    for _ in range(4):
        model, q, qd = random_scene(rng, kind)
        step = advice(model, q, qd, dt=1e3)  # so long that there is advice for any scene
        assert energy_gained(model, q, qd, step) < 1e-3
        exploded += energy_gained(model, q, qd, step / SHORTER * LONGER) > 1.0
    assert exploded >= 3


def test_a_stiff_joint_limit():
    model = hs.build(
        [hs.Link("wrist", mass=0.01, inertia=(1e-5,) * 3)],
        [hs.Joint("turn", "revolute", "world", "wrist", axis=(0, 0, 1), lower=-1.0, upper=1.0)],
    )
    q, qd = np.array([0.99]), np.array([1.0])
    step = advice(model, q, qd, 1e-3)
    assert step < 1e-3
    assert energy_gained(model, q, qd, 1e-3) > 1.0 or energy_gained(model, q, qd, 1e-3) == np.inf
    assert energy_gained(model, q, qd, step) < 1e-3


def test_runge_kutta_bears_more_than_euler_on_a_limit():
    model = hs.build(
        [hs.Link("wrist", mass=0.01, inertia=(1e-5,) * 3)],
        [hs.Joint("turn", "revolute", "world", "wrist", axis=(0, 0, 1), lower=-1.0, upper=1.0)],
    )
    start = np.array([0.99]), np.array([1.0])
    assert advice(model, *start, 1e-3, integrator=hs.RungeKutta4()) >= advice(model, *start, 1e-3)


def test_nothing_is_said_of_impulses_or_of_traced_numbers():
    model, q, qd = cubes(1.0, 100.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        hs.rollout(model, (q, qd), dt=1e-3, steps=1)
        jax.jit(lambda q: hs.rollout(model, (q, qd), dt=1e-3, steps=1, contact=hs.Springs()).q)(q)
