"""Recover damping and the mass of a load from joint angles, by Gauss-Newton through the simulator.

The "measurement" is simulated here: an arm carries an unknown load and has unknown damping. Angles of one second of
motion, with noise, are all that the fit sees. The Jacobian is that of the whole rollout, by forward-mode derivatives.
"""

from pathlib import Path

import jax

jax.config.update("jax_enable_x64", True)

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from scipy.optimize import least_squares

import hybridsim as hs

ARM = Path(hs.__file__).parent / "assets" / "two_link_arm.urdf"
START = (np.array([1.5, 0.6]), np.zeros(2))
DT, STEPS = 2e-3, 500
NOISE = 1e-3
"""Of an angle [rad]."""


def with_parameters(model: hs.Model, parameters) -> hs.Model:
    """The model with (damping of shoulder and elbow, mass of the hand)."""
    hand = model.link_names.index("hand")
    mass = jnp.asarray(model.links.mass).at[hand].set(parameters[2])
    return eqx.tree_at(lambda m: (m.joints.damping, m.links.mass), model, (parameters[:2], mass))


def main() -> tuple[np.ndarray, np.ndarray]:
    """Fit, print, and return the true and the fitted parameters."""
    model = hs.load(ARM)
    true = np.array([0.11, 0.07, 1.3])

    @jax.jit
    def angles(parameters):
        return hs.rollout(with_parameters(model, parameters), START, dt=DT, steps=STEPS).q[::10].ravel()

    measured = np.asarray(angles(true))
    measured = measured + NOISE * np.random.default_rng(0).normal(size=measured.shape)
    guess = np.array([0.04, 0.02, 0.32])  # the numbers in the file
    fit = least_squares(lambda p: np.asarray(angles(p)) - measured, guess, jac=jax.jit(jax.jacfwd(angles)))
    for name, start, found, truth in zip(
        ("shoulder damping", "elbow damping", "hand mass"), guess, fit.x, true, strict=True
    ):
        print(f"{name:18s} file {start:.3f}   fitted {found:.4f}   true {truth:.4f}")
    print(f"error of an angle: {np.sqrt(np.mean(fit.fun**2)):.2e} rad, noise {NOISE:.0e} rad")
    return true, fit.x


if __name__ == "__main__":
    main()
