"""The double pendulum of the papers' own engine: its cost, final angles and gradient to all printed digits."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

import hybridsim as hs

STEPS, DT = 500, 1e-3
INERTIA = 2 / 5 * 1.0 * 0.15**2


def pendulum(lengths) -> hs.Model:
    """Two links along y that swing about x. As in that engine, link 2 is attached at (0, its OWN length, 0) of link 1."""
    links = [hs.Link(name, 1.0, inertia=INERTIA) for name in ("upper", "lower")]
    joints = [
        hs.Joint("shoulder", "revolute", "world", "upper", axis=(1, 0, 0)),
        hs.Joint("elbow", "revolute", "upper", "lower", axis=(1, 0, 0)),
    ]
    along_y = jnp.array([0.0, 1.0, 0.0])
    com = lengths[:, None] * along_y
    position = jnp.stack([0 * along_y, lengths[1] * along_y])
    return eqx.tree_at(lambda m: (m.links.com, m.joints.position), hs.build(links, joints), (com, position))


def swing(lengths):
    """Angles after each of the steps, from horizontal rest."""
    return hs.rollout(pendulum(lengths), (np.zeros(2), np.zeros(2)), dt=DT, steps=STEPS).q[1:]


def test_cost_final_angles_and_gradient_are_those_of_the_papers_engine():
    target = swing(jnp.array([3.0, 4.0]))
    cost, gradient = jax.jit(jax.value_and_grad(lambda lengths: jnp.mean((swing(lengths) - target) ** 2)))(
        jnp.array([2.0, 5.0])
    )
    assert [f"{angle:.12f}" for angle in target[-1]] == ["-0.383522434567", "0.448136988051"]
    assert f"{cost:.12g}" == "0.00777826641144"
    assert [f"{slope:.11f}" for slope in gradient] == ["-0.01433660996", "-0.00096609036"]
