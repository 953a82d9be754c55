"""A hand throws: gradient descent on joint torques until the hand moves as fast as it can in one direction.

The gradient of the final hand velocity with respect to every torque at every step comes from one backward pass
through the rollout.
"""

from pathlib import Path

import jax

jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp
import numpy as np
import optax

import hybridsim as hs

ARM = Path(hs.__file__).parent / "assets" / "two_link_arm.urdf"
DT, STEPS = 4e-3, 100
DIRECTION = np.array([1.0, 0.0, 1.0]) / np.sqrt(2)
EFFORT_PRICE = 1e-3
"""(m/s) for each (N m)^2 of mean squared torque."""


def main(iterations: int = 150) -> tuple[float, float]:
    """Optimise, print, and return the speed along the direction before and after [m/s]."""
    model = hs.load(ARM)
    start = model.rest()

    def speed(torques):
        end = hs.rollout(model, start, torques, dt=DT)[-1]
        return DIRECTION @ (hs.jacobian(model, end.q, "hand") @ end.qd)[3:]

    optimiser = optax.adam(0.3)

    @jax.jit
    def improve(torques, memory):
        gradient = jax.grad(lambda x: EFFORT_PRICE * jnp.mean(x**2) - speed(x))(torques)
        change, memory = optimiser.update(gradient, memory)
        return optax.apply_updates(torques, change), memory

    torques = jnp.zeros((STEPS, model.nv))
    memory = optimiser.init(torques)
    for _ in range(iterations):
        torques, memory = improve(torques, memory)
    before, after = float(speed(jnp.zeros_like(torques))), float(speed(torques))
    print(f"speed of the hand after {DT * STEPS:g} s: {before:.2f} m/s hanging, {after:.2f} m/s thrown")
    print(f"largest torques asked for: {np.abs(torques).max(0).round(1)} N m; effort limits {model.joints.effort} N m")
    return before, after


if __name__ == "__main__":
    main()
