"""What a step refuses before it begins."""

from typing import Any

import jax
import numpy as np
from jax.core import Tracer
from jaxtyping import Float

from ..contact import Contact
from ..model import Model
from ..model.checks import POSITIVE, check_kind
from ..spatial import Array, Scalar

UNIT = 1e-3
"""How far the length of a given quaternion may be from one; so little is rounding in a file, and is taken back."""


def check_contact(contact: Contact | None, dt: Scalar | None = None) -> None:
    """Not what is no contact model, nor a time step by which contact, which divides by it, would give NaN."""
    if contact is None:
        return
    check_kind("contact", contact, Contact, "hs.Impulses(), hs.Springs(), hs.ContactByPair(...) or None")
    if dt is not None:
        POSITIVE.check("dt", dt)


def check_memory(own: Any, given: Any) -> None:
    """Not what the networks of another model remember."""

    def form(memory):
        return jax.tree.structure(memory), [leaf.shape for leaf in jax.tree.leaves(memory)]

    if form(own) != form(given):
        raise ValueError(
            "the state holds what the networks of another model remember, which those of this model cannot read; "
            "begin anew by hs.State(q, qd)"
        )


def check_quaternions(model: Model, q: Float[Array, " nq"]) -> None:
    """Not a start whose quaternions are far from unit length, or zero. Traced numbers are not looked at."""
    if isinstance(q, Tracer):
        return
    q, topology = np.asarray(q), model.topology
    for j, kind in enumerate(topology.kinds):
        if kind.nq == kind.nv or topology.mimics[j] >= 0:
            continue
        quaternion = q[topology.q_slices[j]][-4:]
        length = float(np.linalg.norm(quaternion))
        if abs(length - 1) > UNIT:
            raise ValueError(
                f"joint {model.joint_names[j]!r}: the quaternion of its start is {quaternion}, of length {length:.4g}; give a "
                "unit quaternion (w, x, y, z), such as 1, 0, 0, 0 for no rotation"
            )
