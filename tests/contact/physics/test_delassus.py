"""How velocities respond to impulses, on random mechanisms, against the dense mass matrix."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hybridsim as hs
from hybridsim.dynamics import assemble, configuration, mass_root, paths
from physics.mechanisms import random_case


@pytest.mark.parametrize("points", [4, 12])
@pytest.mark.parametrize("seed", range(3))
def test_response_equals_dense_mass_matrix(seed, points):
    """Y Y^T = J M^-1 J^T and velocities(Y^T x) = M^-1 J^T x, for forces on links, many of them on one, and at freedoms."""
    case = random_case(seed, links=2 + seed, portable=False)
    model = hs.build(case.spec.links, case.spec.joints, gravity=case.spec.gravity)
    rng = np.random.default_rng(seed)
    q = np.asarray(case.q)
    mechanism = assemble(model)
    conf = jax.jit(lambda q: configuration(mechanism, q))(q)
    links = [i for i in range(len(model.link_names)) if mechanism.link_nodes[i] >= 0]
    chosen = [links[i] for i in rng.integers(len(links), size=2)] + [links[-1]] * (points - 2)
    # One of the freedoms is where the forces on the last link enter, as of a limited joint whose body lies on the floor.
    entry = int(mechanism.layout.last_dofs[mechanism.link_nodes[links[-1]]])
    freedoms = np.array([entry, rng.integers(model.nv)])
    places, forces = rng.normal(size=(points, 3)), rng.normal(size=(points, 3))

    spatial, rows = [], []
    for link, point, force in zip(chosen, places, forces, strict=True):
        name = model.link_names[link]
        pose = hs.forward_kinematics(model, q)[name]
        world = np.asarray(pose.rotation) @ point + np.asarray(pose.position)
        lever = world - np.asarray(conf.reference)[mechanism.link_nodes[link]]
        spatial.append(np.concatenate([np.cross(lever, force), force]))
        rows.append(force @ np.asarray(hs.jacobian(model, q, name, point))[3:])
    dofs = [int(mechanism.layout.last_dofs[mechanism.link_nodes[link]]) for link in chosen]
    J = np.array([*rows, *np.eye(model.nv)[freedoms]])

    ends = [(dof, -1) for dof in (*dofs, *map(int, freedoms))]
    table = paths(model.topology, tuple(ends))

    @jax.jit
    def respond(conf, forces, x):
        root = mass_root(mechanism, conf)
        Y = []
        for k in range(points + 2):
            path = table.of(jnp.int32(k))
            at = None if k < points else (freedoms[k - points], 1.0)
            row = root.path_rows(path, forces[k][None] if k < points else jnp.zeros((1, 6)), None, at)
            Y.append(jnp.zeros(model.nv).at[path.dofs].add(row[0]))
        return jnp.array(Y), root.velocities(x @ jnp.array(Y))

    x = rng.normal(size=points + 2)
    Y, velocity = respond(conf, np.array(spatial), x)
    M = np.asarray(hs.mass_matrix(model, q))
    response = np.linalg.solve(M, J.T)
    scale = np.abs(J @ response).max()
    assert np.asarray(Y @ Y.T) == pytest.approx(J @ response, abs=1e-10 * scale)
    assert np.asarray(velocity) == pytest.approx(response @ x, abs=1e-9 * np.abs(response @ x).max())
