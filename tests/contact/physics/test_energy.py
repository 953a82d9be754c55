"""Contact never adds energy: random scenes, all restitutions and frictions up to one."""

import jax
import numpy as np
import pytest

import hybridsim as hs

from .scenes import G, many, motion, start

BOX = hs.solid("box", 1.0, "box", (0.1, 0.06, 0.04))
BALL = hs.solid("ball", 0.5, "sphere", 0.08)
ROD = hs.solid("rod", 0.7, "capsule", (0.04, 0.1))
SCENES = {"box": [BOX], "rod": [ROD], "two boxes": [BOX, BOX], "rods and ball": [ROD, BALL, ROD]}
STEPS = 500


def thrown(links, seed, restitution=None):
    """Bodies above one another, turned and thrown at random."""
    rng = np.random.default_rng([seed, len(links)])
    model = many(*links)
    e = rng.uniform() if restitution is None else restitution
    model = hs.with_contacts(model, restitution=e, friction=rng.uniform(size=len(model.contacts.pairs)))
    q, qd = start(model)
    for i in range(len(links)):
        turn = rng.normal(size=4)
        q[7 * i : 7 * i + 7] = [*rng.normal(scale=0.02, size=2), 0.17 + 0.3 * i, *turn / np.linalg.norm(turn)]
        qd[6 * i : 6 * i + 6] = rng.normal(scale=[3, 3, 3, 1, 1, 1])
    return model, q, qd


@pytest.fixture(scope="module")
def energies():
    """Total energy over a path."""
    run = jax.jit(lambda model, q, qd: jax.vmap(lambda q, qd: hs.energy(model, q, qd).total)(q, qd))
    return lambda model, path: np.asarray(run(model, path.q, path.qd))


@pytest.mark.parametrize("restitution", [None, 1.0, 0.0])
@pytest.mark.parametrize("scene", SCENES)
def test_energy_does_not_grow(scene, restitution, energies):
    """By no more than 3/1000 of the weight times a metre, in any step or in all: an error of first order in the step,
    because impulses act where bodies are at its start. The next test shows that it is one."""
    links = SCENES[scene]
    scale = sum(link.mass for link in links) * G * 1.0
    worst, touched = {}, 0
    for seed in range(6):
        model, q, qd = thrown(links, seed, restitution)
        energy = energies(model, motion(hs.Impulses(), STEPS)(model, q, qd))
        assert np.all(np.isfinite(energy))
        touched += energy[-1] < energy[0] - 0.02 * scale
        worst[seed] = (np.max(energy - np.minimum.accumulate(energy))) / scale
    assert max(worst.values()) < 3e-3, worst
    assert touched or restitution == 1.0


def test_what_energy_grows_by_vanishes_with_the_step(energies):
    """A rod at restitution 1 whose impacts gain the most; Newton's law alone would gain 2 % at any step."""
    links = SCENES["rod"]
    scale = sum(link.mass for link in links) * G * 1.0
    model, q, qd = thrown(links, 1, 1.0)
    path = motion(hs.Impulses(), 10 * STEPS, 1e-4)(model, q, qd)
    energy = energies(model, path)
    assert np.max(energy - np.minimum.accumulate(energy)) / scale < 1e-4
