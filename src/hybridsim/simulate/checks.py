"""What a step refuses before it begins."""

from typing import Any

import jax

from ..contact import Contact
from ..model.checks import POSITIVE, check_kind
from ..spatial import Scalar


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
