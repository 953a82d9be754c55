"""Long chains and a humanoid without contact: how time and compile time grow with the number of links."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from measure import Effort, Timings, Wait, difference, in_rounds, prepare_native
from mechanisms import random_state
from model_mjcf import mjcf
from rivals import MuJoCo
from touching_scenes import robot_file

import hybridsim as hs

DT, STEPS = 1e-3, 500
LENGTHS = (10, 20, 50)
TALOS = "talos_data/robots/talos_reduced.urdf"
"""Without joints that copy others, which MuJoCo would have as constraints."""


@dataclass(frozen=True)
class Result:
    """Of one mechanism. Times are of whole rollouts."""

    name: str
    dofs: int
    forward_wait: Wait
    gradient_wait: Wait
    timings: Timings
    """Of "forward", "gradient" and "MuJoCo"."""
    difference: float
    """Of our positions from MuJoCo's, relative to the largest."""


def chains(effort: Effort) -> dict[str, Callable[[], Result]]:
    """How to measure each mechanism, by name."""
    names = [*(f"chain of {n}" for n in LENGTHS), "Talos"]
    return {name: partial(run, name, effort) for name in names}


def mechanism(name: str) -> hs.Model:
    if name != "Talos":
        return hs.chain(int(name.split()[-1]), length=0.5, radius=0.03)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hs.ModelWarning)  # of what has no mass
        model = hs.load(robot_file(TALOS), base="free", meshes=False)
    # Its Coulomb friction is smooth here and a constraint in MuJoCo.
    return replace(model, joints=replace(model.joints, friction=np.zeros_like(model.joints.friction)))


def positions(model: hs.Model, q, qd):
    return hs.rollout(model, (q, qd), dt=DT, steps=STEPS, contact=None, integrator=hs.ImplicitDamping()).q


def run(name: str, effort: Effort) -> Result:
    model = mechanism(name)
    q, qd, _ = random_state(model)
    forward_wait, forward = prepare_native(partial(positions, model), q, qd)
    given = (model.links, model.joints.position), q, qd

    def squares(numbers, q, qd):
        links, places = numbers
        changed = replace(model, links=links, joints=replace(model.joints, position=places))
        return jnp.sum(positions(changed, q, qd) ** 2)

    gradient_wait, gradient = prepare_native(jax.value_and_grad(squares), *given)
    mujoco = MuJoCo(mjcf(model, DT)).rollout(q, qd, STEPS)
    calls = {"forward": lambda: forward(q, qd), "gradient": lambda: gradient(*given), "MuJoCo": mujoco}
    differ = difference(mujoco()[0], forward(q, qd)[1:])
    return Result(name, model.nv, forward_wait, gradient_wait, in_rounds(calls, effort), differ)
