"""What is refused after a rollout: motion that is not finite, and contact that did not keep shapes apart."""

from typing import TYPE_CHECKING

import numpy as np
from jax.core import Tracer

from ..contact import Contact
from ..model import Model
from ..spatial import Scalar
from .check_contact import APPROACH, BEFORE, check_kept_apart

if TYPE_CHECKING:
    from .rollout import Rollout


class DivergedError(FloatingPointError):
    """A rollout that left finite numbers."""


def needed_to_check(model: Model, contact: Contact | None) -> tuple[str, ...]:
    """The variables that a rollout has to record for `check_rollout`."""
    impulsive = contact is not None and contact.acts_on_velocities(model) and model.contacts.pairs
    return (APPROACH, BEFORE) if impulsive else ()


def check_rollout(model: Model, result: "Rollout", dt: Scalar) -> None:
    """Refuse motion that is not finite, and contact that has failed where the rollout recorded what that takes."""
    _raise_if_diverged(model, result)
    if APPROACH in result.values and BEFORE in result.values:
        check_kept_apart(model, result, float(dt))


def _raise_if_diverged(model: Model, result: "Rollout") -> None:
    if isinstance(result.q, Tracer):
        raise ValueError(
            "check=True needs numbers, but this rollout is being traced by jit, grad or vmap; check its result"
        )
    bad_q, bad_qd = (~np.isfinite(np.asarray(x)) for x in (result.q, result.qd))
    bad = bad_q.any(1) | bad_qd.any(1)
    if not bad.any():
        return
    when = int(np.argmax(bad))
    joints = []
    for j, name in enumerate(model.joint_names):
        if model.topology.kinds[j].nv and model.topology.mimics[j] < 0:
            if bad_q[when, model.q_of(name)].any() or bad_qd[when, model.v_of(name)].any():
                joints.append(name)
    where = f"not finite after step {when} (t = {float(result.t[when]):g} s) at joint {', '.join(joints)}"
    if when == 0:
        raise DivergedError(f"{where}: the start itself is not; give finite q and qd")
    raise DivergedError(
        f"{where}.{_fastest(model, np.asarray(result.qd)[when - 1])} Try a smaller dt, hs.ImplicitDamping() for stiff "
        "damping, softer contact or hs.Impulses() for stiff contact, or look for an inertia that is far too small"
    )


def _fastest(model: Model, qd: np.ndarray) -> str:
    """The joint that was fastest one step earlier is most often the one to look at."""
    speed, name = max(
        (float(np.abs(qd[model.v_of(name)]).max()), name)
        for j, name in enumerate(model.joint_names)
        if model.topology.kinds[j].nv and model.topology.mimics[j] < 0
    )
    return f" One step earlier joint {name} was the fastest, at {speed:.3g}."
