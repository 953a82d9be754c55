"""Prescribed joints in a log: its positions drive them, so that they are not predictions to be compared."""

from dataclasses import replace

import jax
import numpy as np
from jaxtyping import Float

from ..data import DataError
from ..data.log import Trajectory, with_velocities
from ..data.log.channels import poses, quaternions
from ..data.log.rotations import continuous
from ..model import Model
from ..simulate.check_motion import check_jumps, check_positions
from ..simulate.prescribed_motion import differences, resampled


def with_all_velocities(model: Model, log: Trajectory) -> Trajectory:
    """The log with velocities, which are found on the manifold of the model's joints where they were not measured."""
    topology = model.topology
    q, mask = np.array(log.q), np.asarray(log.q_mask)
    for start in quaternions(model):
        # A log that no reader has made may change signs at will, which no interpolation bears.
        own = slice(start, start + 4)
        q[:, own] = continuous(q[:, own], np.all(mask[:, own], axis=1, keepdims=True)[:, 0])
    log = replace(log, q=q, quaternions=quaternions(model), poses=poses(model))
    if log.qd is not None or not log.quaternions or not set(log.quaternions) <= set(topology.prescribed_q):
        return with_velocities(log)
    flat = np.setdiff1d(np.arange(model.nq), topology.prescribed_q)
    mask = np.asarray(log.q_mask)
    others = with_velocities(replace(log, q=log.q[:, flat], q_mask=mask[:, flat], quaternions=(), poses=()))
    yields = np.asarray(topology.yields)
    qd, known = np.zeros((len(log), model.nv)), np.zeros((len(log), model.nv), dtype=bool)
    qd[:, yields], known[:, yields] = np.asarray(others.qd), np.asarray(others.qd_mask)
    own = jax.jit(lambda q: differences(model, log.time, q))(log.q[:, topology.prescribed_q])
    qd[:, ~yields], known[:, ~yields] = np.asarray(own), mask[:, topology.prescribed_q].all(axis=1, keepdims=True)
    return replace(log, qd=qd, qd_mask=known)


def given_motion(model: Model, log: Trajectory, substeps: int, measured: bool) -> Float[np.ndarray, "rows prescribed"]:
    """Positions, then velocities, of prescribed joints at each sample of an even log and between them: `substeps` rows a
    step. `measured`: whether velocities were, so that they are a witness against positions that jump.
    """
    topology = model.topology
    q, qd = log.q[:, topology.prescribed_q], np.asarray(log.qd)[:, topology.prescribed_v]
    _check(model, log, q, qd if measured else None)
    if substeps > 1:
        at = log.time[0] + log.dt / substeps * np.arange(substeps * (len(log) - 1) + 1)
        motion = resampled(model, log.time, q, qd, np.minimum(at, log.time[-1]))
        q, qd = np.asarray(motion.q), np.asarray(motion.qd)
    return np.concatenate([q, qd], axis=1)


def _check(model: Model, log: Trajectory, q: np.ndarray, qd: np.ndarray | None) -> None:
    """Refuse a log that does not say how prescribed joints move, or says that they jump."""
    where = f"log {log.source or log.run!r}"
    mask = np.asarray(log.q_mask)
    for name in model.prescribed_names:
        if not mask[:, model.q_of(name)].any():
            raise DataError(
                f"{where} has no positions of joint {name!r}, which is prescribed; name its column (columns, or "
                "[logs.columns] of fit.toml), or do not prescribe it"
            )
    known = mask[:, model.topology.prescribed_q].all(axis=1)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], known, [False]]).astype(int)))
    for first, last in zip(edges[::2], edges[1::2], strict=True):
        part = slice(int(first), int(last))
        try:
            check_positions(model, log.time[part], q[part], DataError)
            check_jumps(model, log.time[part], q[part], None if qd is None else qd[part], DataError)
        except DataError as problem:
            raise DataError(f"{where}: {problem}") from None
