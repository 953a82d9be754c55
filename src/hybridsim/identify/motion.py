"""The simulated side of a fit, in JAX: how physical values x and a window's start become a motion that can be compared."""

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree
from jaxtyping import Float

from ..contact import Contact
from ..dynamics import Mechanism, assemble, move
from ..model import Model, State
from ..model.names import Recording, unmarked
from ..simulate import Control, Integrator, initial_state
from ..simulate.rollout import KEEP, with_memory
from ..simulate.step import advance, begin
from ..spatial import Array, Scalar
from .apparatus import Setup
from .measured import Measured
from .parameters import Parameters


class Window(NamedTuple):
    """What one window gives to its simulation."""

    time: Scalar
    q: Float[Array, " nq"]
    qd: Float[Array, " nv"]
    """Measured at its start."""
    controls: Float[Array, "wide nc"]


class Simulated(NamedTuple):
    """What comes out: arrays of JAX while it is traced, of NumPy when it has run."""

    states: Any
    """(samples, ns): positions, velocities, and what contact and networks remember."""
    controls: Any
    """(steps, nc): as the mechanism got them."""
    values: Any
    """(steps, recorded numbers)"""
    between: Any
    """(steps * substeps + 1, ns): the states also between samples."""


@dataclass(frozen=True, eq=False)
class Motion:
    """Functions of x, physical values in the order of `parameters`, each for one window."""

    parameters: Parameters
    dt: float
    margin: int
    control_kind: str
    record: tuple[str, ...]
    integrator: Integrator
    contact: Contact | None
    substeps: int
    own_start: bool
    """Whether the start of a window is among its own numbers; else it is as measured."""

    @property
    def model(self) -> Model:
        return self.parameters.base.model

    @property
    def content(self) -> tuple:
        """All that its functions depend on: the key under which their programs are found on disk."""
        options = [(field.name, getattr(self, field.name)) for field in fields(self) if field.name != "parameters"]
        return self.parameters.base, self.parameters.list, options

    @property
    def own(self) -> int:
        """How many numbers belong to a window alone: how far its start is from the measured one."""
        return 2 * self.model.nv if self.own_start else 0

    @cached_property
    def _unravel(self):
        with jax.ensure_compile_time_eval():
            return ravel_pytree(self._first(jnp.asarray(self.model.rest()[0]), jnp.zeros(self.model.nv)))[1]

    def _first(self, q: Float[Array, " nq"], qd: Float[Array, " nv"]) -> State:
        return with_memory(self.model, initial_state(self.model, (q, qd)), self.contact)

    def start(
        self, x: Float[Array, " size"], own: Float[Array, " own"], q: Float[Array, " nq"], qd: Float[Array, " nv"]
    ) -> Float[Array, " ns"]:
        """Where the sensors say that the mechanism is, and as far from there as the window's own numbers say."""
        sensors = self.parameters.setup(x).apparatus
        q = (q - sensors.position_bias) / sensors.position_gain
        if self.own:
            q, _ = move(self.model, q, qd, own[: self.model.nv], 1.0)
            qd = qd + own[self.model.nv :]
        return ravel_pytree(self._first(q, qd))[0]

    def drive(self, x: Float[Array, " size"], controls: Float[Array, "wide nc"]) -> Float[Array, "steps nc"]:
        """What reaches the mechanism in each step: the log, later by the delay, times a gain, plus a bias."""
        apparatus = self.parameters.setup(x).apparatus
        if self.margin:
            early = self.margin - jnp.clip(apparatus.delay / self.dt, -self.margin, self.margin)
            whole = jnp.clip(jnp.floor(early), 0, 2 * self.margin - 1)
            rows = whole.astype(jnp.int32) + jnp.arange(controls.shape[0] - 2 * self.margin)
            share = early - whole
            controls = (1 - share) * controls[rows] + share * controls[jnp.minimum(rows + 1, len(controls) - 1)]
        return apparatus.control_gain * controls + apparatus.control_bias

    def step(
        self, x: Float[Array, " size"], state: Float[Array, " ns"], control: Float[Array, " nc"], time: Scalar
    ) -> Float[Array, " outputs"]:
        """State and recorded values one step of the simulator later."""
        setup = self.parameters.setup(x)
        return jnp.concatenate([*self._later(setup, assemble(setup.model), state, control, time)])

    def _later(self, setup: Setup, mechanism: Mechanism, state: Any, control: Any, time: Scalar):
        model, now = setup.model, self._unravel(state)
        drive = Control()
        if control.shape[0]:
            drive = Control(command=control) if self.control_kind == "command" else Control(force=control)
        marks = Recording(begin(model, now, unmarked), self.record)
        dt = setup.apparatus.clock * model.timestep
        now = advance(model, mechanism, now, drive, time, dt, self.integrator, self.contact, marks)
        seen = [jnp.ravel(marks.values[name]) for name in self.record]
        return ravel_pytree(now)[0], jnp.concatenate(seen) if seen else jnp.zeros(0)

    def run(self, x: Float[Array, " size"], own: Float[Array, " own"], window: Window) -> Simulated:
        setup = self.parameters.setup(x)
        mechanism, controls = assemble(setup.model), self.drive(x, window.controls)
        dt = setup.apparatus.clock * setup.model.timestep

        def one(state, now):
            k, control = now
            later, values = self._later(setup, mechanism, state, control, window.time + k * dt)
            return later, (later, values)

        first = self.start(x, own, window.q, window.qd)
        body = jax.checkpoint(one, prevent_cse=False, policy=KEEP)
        # One loop over all steps: to copy a large mechanism for each between two samples would take long to compile.
        held = jnp.repeat(controls, self.substeps, axis=0)
        _, (states, values) = jax.lax.scan(body, first, (jnp.arange(held.shape[0]), held))
        states = jnp.concatenate([first[None], states])
        return Simulated(states[:: self.substeps], controls, values[:: self.substeps], states)

    def shown(self, x: Float[Array, " size"], states: Float[Array, "*many ns"]) -> dict[str, Array]:
        """What the sensors show of states."""
        nq, nv, sensors = self.model.nq, self.model.nv, self.parameters.setup(x).apparatus
        positions = sensors.position_gain * states[..., :nq] + sensors.position_bias
        return {"position": positions, "velocity": states[..., nq : nq + nv]}


def window_of(data: Measured) -> Window:
    """Of all windows, as rows."""
    return Window(data.time, data.q[:, 0], data.qd[:, 0], data.controls)
