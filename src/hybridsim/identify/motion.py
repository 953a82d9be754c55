"""The simulated side of a fit, in JAX: how physical values x and a window's start become a motion that can be compared."""

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Float, Int

from ..any_length import any_length
from ..contact import Contact, ContactByPair, Impulses
from ..dynamics import Mechanism, assemble, move
from ..model import Model, PrescribedMotion, State
from ..model.names import Recording, unmarked
from ..simulate import Control, Integrator, initial_state
from ..simulate.check_motion import prescribed_parts
from ..simulate.rollout import KEEP, with_memory
from ..simulate.step import advance, begin
from ..spatial import Array, Scalar, add_at, pick
from .apparatus import Apparatus, Setup
from .measured import Measured
from .parameters import Parameters


class Window(NamedTuple):
    """What one window gives to its simulation."""

    time: Scalar
    q: Float[Array, " nq"]
    qd: Float[Array, " nv"]
    """Measured at its start."""
    controls: Float[Array, "wide nc"]
    prescribed: Float[Array, "rows prescribed"] | None
    """Positions, then velocities, of prescribed joints at the end of each step of the simulator; None without such joints."""


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
        return 2 * (self.model.nv - len(self.model.topology.prescribed_v)) if self.own_start else 0

    @cached_property
    def _unravel(self):
        with jax.ensure_compile_time_eval():
            return ravel_pytree(self._first(jnp.asarray(self.model.rest()[0]), jnp.zeros(self.model.nv)))[1]

    @cached_property
    def lasting(self) -> Int[np.ndarray, " lasting"]:
        """The numbers of a state on which later ones depend: all but impulses from which a search begins."""
        with jax.ensure_compile_time_eval():
            first = self._first(jnp.asarray(self.model.rest()[0]), jnp.zeros(self.model.nv))
        known = self.model.nq + self.model.nv
        every = np.arange(ravel_pytree(first)[0].size)
        if first.memory is None or not _solves_implicitly(self.contact):
            return every
        impulses = sum(np.size(leaf) for leaf in jax.tree.leaves(first.memory.contact))
        return np.delete(every, np.arange(known, known + impulses))

    def _first(self, q: Float[Array, " nq"], qd: Float[Array, " nv"]) -> State:
        return with_memory(self.model, initial_state(self.model, (q, qd)), self.contact)

    def start(
        self, x: Float[Array, " size"], own: Float[Array, " own"], q: Float[Array, " nq"], qd: Float[Array, " nv"]
    ) -> Float[Array, " ns"]:
        """Where the sensors say that the mechanism is, and as far from there as the window's own numbers say."""
        sensors = self.parameters.setup(x).apparatus
        measured, q = q, (q - sensors.position_bias) / sensors.position_gain
        if self.own:
            by_q, by_qd = self._of_all(own)
            q, _ = move(self.model, q, qd, by_q, 1.0)
            qd = qd + by_qd
        if self.model.topology.prescribed:
            first = PrescribedMotion.of(self.model, measured, qd)
            first = self._driven(sensors, jnp.concatenate([first.q, first.qd]))
            q, qd = PrescribedMotion(first.q[None], first.qd[None]).start(self.model, (q, qd))
        return ravel_pytree(self._first(q, qd))[0]

    def _of_all(self, own: Float[Array, " own"]) -> tuple[Float[Array, " nv"], Float[Array, " nv"]]:
        """The window's own numbers, by position and by velocity; zero at prescribed joints, whose starts are given."""
        yields, half = self.model.topology.yields, own.shape[0] // 2
        if yields is None:
            return own[:half], own[half:]
        places = np.flatnonzero(yields)
        return add_at(self.model.nv, places, own[:half]), add_at(self.model.nv, places, own[half:])

    def _driven(self, apparatus: Apparatus, given: Float[Array, " prescribed"]) -> PrescribedMotion:
        """What prescribed joints do, where the sensors of their positions show what is given and the clock its time."""
        topology = self.model.topology
        size = len(topology.prescribed_q)
        bias, gain = (pick(x, topology.prescribed_q) for x in (apparatus.position_bias, apparatus.position_gain))
        # A sensor of an angle or a distance that shows too much shows too much speed.
        parts = [(part.q, part.v) for part in prescribed_parts(self.model)]
        of_speed = [gain[q] if q.stop - q.start == v.stop - v.start else jnp.ones(v.stop - v.start) for q, v in parts]
        return PrescribedMotion(
            (given[:size] - bias) / gain, given[size:] / apparatus.clock / jnp.concatenate(of_speed)
        )

    def drive(self, x: Float[Array, " size"], controls: Float[Array, "wide nc"]) -> Float[Array, "steps nc"]:
        """What reaches the mechanism in each step: the log, later by the delay, times a gain, plus a bias."""
        apparatus = self.parameters.setup(x).apparatus
        if self.margin:
            early = self.margin - jnp.clip(apparatus.delay / self.dt, -self.margin, self.margin)
            whole = jnp.clip(jnp.floor(early), 0, 2 * self.margin - 1)
            first, rows, share = whole.astype(jnp.int32), controls.shape[0] - 2 * self.margin, early - whole
            before, after = (jax.lax.dynamic_slice_in_dim(controls, first + k, rows) for k in (0, 1))
            controls = (1 - share) * before + share * after
        return apparatus.control_gain * controls + apparatus.control_bias

    def step(
        self, x: Float[Array, " size"], state: Float[Array, " ns"], control: Float[Array, " nc"], time: Scalar
    ) -> Float[Array, " outputs"]:
        """State and recorded values one step of the simulator later. After the controls come numbers of prescribed joints."""
        setup = self.parameters.setup(x)
        return jnp.concatenate([*self._later(setup, assemble(setup.model), state, control, time)])

    def _later(self, setup: Setup, mechanism: Mechanism, state: Any, control: Any, time: Scalar):
        model, now = setup.model, self._unravel(state)
        given = None
        if model.topology.prescribed:
            size = len(model.topology.prescribed_q) + len(model.topology.prescribed_v)
            control, given = control[:-size], self._driven(setup.apparatus, control[-size:])
        drive = Control(prescribed=given)
        if control.shape[0]:
            drive = replace(drive, **{"command" if self.control_kind == "command" else "force": control})
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
        if window.prescribed is not None:
            held = jnp.concatenate([held, window.prescribed], axis=1)
        with any_length():
            _, (states, values) = jax.lax.scan(body, first, (jnp.arange(held.shape[0]), held))
        states = jnp.concatenate([first[None], states])
        return Simulated(states[:: self.substeps], controls, values[:: self.substeps], states)

    def shown(self, x: Float[Array, " size"], states: Float[Array, "*many ns"]) -> dict[str, Array]:
        """What the sensors show of states."""
        nq, nv, sensors = self.model.nq, self.model.nv, self.parameters.setup(x).apparatus
        positions = sensors.position_gain * states[..., :nq] + sensors.position_bias
        return {"position": positions, "velocity": states[..., nq : nq + nv]}


def _solves_implicitly(contact: Contact | None) -> bool:
    """Whether the impulses of a step obey equations, wherever the search for them began."""
    models = contact.models if isinstance(contact, ContactByPair) else [contact]
    return all(model.derivative == "implicit" for model in models if isinstance(model, Impulses))


def window_of(data: Measured) -> Window:
    """Of all windows, as rows."""
    prescribed = data.prescribed if data.prescribed.shape[2] else None
    return Window(data.time, data.q[:, 0], data.qd[:, 0], data.controls, prescribed)
