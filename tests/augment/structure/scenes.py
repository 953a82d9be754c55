"""Mechanisms, random states and weights for tests of laws."""

from dataclasses import replace
from functools import cache

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

import hybridsim as hs
from hybridsim.model import WORLD

from ..weights import shaken

CHAIN = hs.chain(2)
BRICK = hs.solid("brick", 2.0, "box", (0.6, 0.5, 0.4))
BALL_JOINT = hs.build([BRICK], [hs.Joint("ball", "spherical", WORLD, "brick", anchor=(0.1, 0.2, 0.5))])
FLYING = hs.free_body(BRICK)
ON_THE_GROUND = hs.with_contacts(hs.world(FLYING, hs.ground()))
TWO = hs.world(hs.free_body(BRICK), hs.prefixed(hs.free_body(hs.solid("plank", 3.0, "box", (0.8, 0.5, 0.3))), "other/"))
FLOATING = replace(TWO, gravity=np.zeros(3))

SMOOTH = hs.MLP((6,), "tanh")


_grafted: dict = {}
"""A graft looks at all of a step, which takes a while; weights are shaken afterwards."""


def graft(model, output, inputs, network, contact=None, seed=0, size=1.0, **options) -> hs.Model:
    """With random weights."""
    augment = hs.Augment(output, inputs, network, **options)
    key = id(model), augment, contact
    if key not in _grafted:
        _grafted[key] = hs.Blueprint(augment).graft(model, contact=contact)
    return shaken(_grafted[key], seed, size)


def states(model, count: int, seed: int = 0, speed: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Random ones, all quaternions of unit length."""
    rng = np.random.default_rng(seed)
    q, qd = rng.standard_normal((count, model.nq)), speed * rng.standard_normal((count, model.nv))
    return np.asarray(jax.vmap(lambda q: hs.dynamics.project(model, q))(q)), qd


@cache
def _rollout(dt: float, steps: int, integrator):
    return hs.native.jit(
        lambda model, q, qd: hs.rollout(model, (q, qd), dt=dt, steps=steps, integrator=integrator, contact=None)
    )


def rollout(model, q, qd, dt: float, steps: int, integrator=hs.RungeKutta4()) -> hs.Rollout:
    """Without contact; natively, for XLA compiles longer than all these motions take."""
    return _rollout(dt, steps, integrator)(model, q, qd)


@eqx.filter_jit
def _answers(network, x):
    return jax.vmap(lambda x: network(x, network.memory(x.dtype))[0])(x)


def answers(model: hs.Model, x: np.ndarray, site: int = 0) -> np.ndarray:
    """Of the bare network, to rows of inputs; recurrent ones at their first step."""
    return np.asarray(_answers(model.augmentation.sites[site].network, jnp.asarray(x)))


@cache
def _power(contact):
    def power(plain, hybrid, q, qd):
        more = hs.acceleration(hybrid, (q, qd), contact=contact) - hs.acceleration(plain, (q, qd), contact=contact)
        return qd @ hs.mass_matrix(plain, q) @ more

    return hs.native.jit(power)


def powers(plain: hs.Model, hybrid: hs.Model, q, qd, contact=None) -> np.ndarray:
    """What networks do to the energy, by the mechanism's own motion: qd . M (change of qdd)."""
    return np.array([_power(contact)(plain, hybrid, *state) for state in zip(q, qd, strict=True)])


def variables(hybrid: hs.Model, seed: int) -> dict[str, np.ndarray]:
    """Random numbers for all variables of a step; sliding is along the plane of contact."""
    rng = np.random.default_rng(seed)
    values = {name: rng.standard_normal(shape) for name, shape in hybrid.augmentation.sizes}
    if "contact.normal" in values:
        normal = values["contact.normal"]
        normal /= np.linalg.norm(normal, axis=1, keepdims=True)
        sliding = values["contact.sliding_velocity"]
        sliding -= normal * np.sum(normal * sliding, axis=1, keepdims=True)
    return values


def outputs(hybrid: hs.Model, values: dict[str, np.ndarray], name: str) -> np.ndarray:
    """What all networks together give for one variable, in its shape."""
    total = np.zeros(values[name].size)
    for i, site in enumerate(hybrid.augmentation.sites):
        x = np.concatenate([values[w.name].ravel()[w.places.array] for w in site.plan.inputs], axis=1)
        np.add.at(total, site.plan.outputs[0].places.array, answers(hybrid, x, i))
    return total.reshape(values[name].shape)


def energies(model: hs.Model, trajectory: hs.Rollout) -> np.ndarray:
    return np.asarray(jax.vmap(lambda q, qd: hs.energy(model, q, qd).total)(trajectory.q, trajectory.qd))
