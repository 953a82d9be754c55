"""Which variables a model's step has, in the order in which they are computed."""

from dataclasses import dataclass, replace

import jax
import jax.numpy as jnp

from ..contact import Contact, Impulses
from ..dynamics import assemble
from ..model import VARIABLES, Memory, Model, PrescribedMotion, State, Variable
from ..model.names import Marks
from ..spatial import Array
from .control import Control
from .integrators import SemiImplicitEuler
from .step import advance, as_state


@dataclass(frozen=True)
class Mark:
    """A named variable of one model."""

    name: str
    shape: tuple[int, ...]
    changes: bool
    """Whether a network may change it; what nothing in the step uses can only be read."""
    inputs: tuple[str, ...]
    """What it may depend on: all that is computed before. On what comes later it may depend by `previous`."""
    rows: tuple[int, ...] | None = None
    """Where pairs have different contact models: the contact points at which it may be changed; None for all."""
    known: tuple[int, ...] | None = None
    """The contact points of which it is known when it is computed; None for all."""

    @property
    def variable(self) -> Variable:
        """Unit, axis, meaning and place in the step."""
        return VARIABLES[self.name]


class Names(tuple[Mark, ...]):
    """Named variables in the order in which a step computes them; prints as a table."""

    def __str__(self) -> str:
        rows = [("", "name", "shape", "unit", "", "meaning")]
        for mark in self:
            shape, about = "x".join(map(str, mark.shape)) or "1", mark.variable
            change = "read only" if not mark.changes else "" if mark.rows is None else f"{len(mark.rows)} rows change"
            rows.append((about.stage, mark.name, shape, about.unit, change, about.text))
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        return "\n".join([*lines, "A variable may depend on all above it, and by hs.previous on all others."])


class _Survey(Marks):
    def __init__(self):
        self.found: dict[str, Mark] = {}

    def __call__(self, name: str, value: Array) -> Array:
        return self._see(name, value, True)

    def _see(self, name: str, value: Array, changes: bool) -> Array:
        if name not in VARIABLES:
            raise KeyError(f"the engine marks {name!r}, which model/variables.py does not describe")
        if 0 in jnp.shape(value):
            # Joint limits alone make a contact problem, one without points.
            return value
        self.found[name] = Mark(name, jnp.shape(value), changes, tuple(self.found))
        return value

    def partly(self, name, value, rows, known=None):
        value = self._see(name, value, len(rows) > 0)
        all_rows = len(value)
        self.found[name] = replace(
            self.found[name],
            rows=None if len(rows) in (0, all_rows) else tuple(map(int, rows)),
            known=None if known is None or len(known) == all_rows else tuple(map(int, known)),
        )
        return value

    def wants(self, name: str) -> bool:
        return True

    def offer(self, name, compute) -> None:
        self._see(name, compute(), False)


def names(model: Model, contact: Contact | None = Impulses()) -> Names:
    """All named variables of the model's step, in the order in which they are computed. Nothing is computed."""
    survey = _Survey()

    def one_step(state):
        impulsive = contact is not None and contact.acts_on_velocities(model)
        q, qd = as_state(model, state)
        state = State(q, qd, Memory(contact.memory(model) if impulsive else None).or_nothing())
        still = PrescribedMotion.of(model, q, qd) if model.topology.prescribed else None
        step = Control(prescribed=still), 0.0, model.timestep, SemiImplicitEuler(), contact
        return advance(model, assemble(model), state, *step, survey)

    jax.eval_shape(one_step, model.rest())
    return Names(survey.found.values())
