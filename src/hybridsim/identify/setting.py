"""Small decisions that fits and evaluations share."""

from dataclasses import replace
from typing import Literal

import numpy as np

from ..contact import Contact, Impulses
from ..model import Model


def contact_of(model: Model, contact: Contact | Literal["auto"] | None) -> Contact | None:
    """Auto: impulses where the model has pairs that may touch; else none, and joint friction is a smooth force."""
    if contact != "auto":
        return contact
    return Impulses() if len(model.contacts.pairs) else None


def at_rate(model: Model, dt: float, substeps: int) -> Model:
    """With the time step of the log, divided."""
    if not isinstance(substeps, int) or substeps < 1:
        raise ValueError(f"substeps is {substeps!r}, but must be a whole number, 1 or more")
    return replace(model, timestep=np.asarray(dt / substeps))
