"""Mimic joints: q_all = ratio q + offset. All algorithms see every joint; the model's coordinates are fewer.

With E the matrix of ratios: v_all = E v, forces map by E^T, the mass matrix is E^T M E.
"""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ..model import Topology
from ..spatial import Array
from .mechanism import Mechanism


def expand_q(mechanism: Mechanism, q: Float[Array, " nq"]) -> Float[Array, " all_q"]:
    """Configuration of all joints."""
    topology = mechanism.topology
    check_size("q", q, len(topology.own_q))
    if not topology.has_mimics:
        return q
    joints, sources = _sources(topology, topology.q_slices, topology.own_q)
    return mechanism.mimic_ratio[joints] * q[sources] + mechanism.mimic_offset[joints]


def expand_v(mechanism: Mechanism, v: Float[Array, " nv"]) -> Float[Array, " all_v"]:
    """Velocity or acceleration of all joints: E v."""
    topology = mechanism.topology
    check_size("a velocity, acceleration or joint force", v, len(topology.own_v))
    if not topology.has_mimics:
        return v
    joints, sources = _sources(topology, topology.v_slices, topology.own_v)
    return mechanism.mimic_ratio[joints] * v[sources]


def reduce_force(mechanism: Mechanism, tau: Float[Array, "all_v *columns"]) -> Float[Array, "nv *columns"]:
    """Force on the model's coordinates: E^T tau."""
    topology = mechanism.topology
    if not topology.has_mimics:
        return tau
    joints, sources = _sources(topology, topology.v_slices, topology.own_v)
    ratio = jnp.asarray(mechanism.mimic_ratio)[joints].reshape(-1, *[1] * (tau.ndim - 1))
    return jnp.zeros((len(topology.own_v), *tau.shape[1:]), dtype=tau.dtype).at[sources].add(ratio * tau)


def check_size(what: str, x: Array, size: int) -> None:
    """An error in words where JAX would complain of shapes somewhere deep inside."""
    if x.shape != (size,):
        raise ValueError(
            f"{what} has shape {x.shape}, but this model needs ({size},); see model.nq, model.nv and model.q_of"
        )


def _sources(topology: Topology, slices: tuple[slice, ...], own: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of every joint coordinate: its joint, and the model's coordinate that it is or copies."""
    joints, sources = [], []
    for j, place in enumerate(slices):
        copied = topology.mimics[j]
        start = slices[copied].start if copied >= 0 else place.start
        size = place.stop - place.start
        joints += [j] * size
        sources += range(int(np.searchsorted(own, start)), int(np.searchsorted(own, start)) + size)
    return np.array(joints, dtype=int), np.array(sources, dtype=int)
