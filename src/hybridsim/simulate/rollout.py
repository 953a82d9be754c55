"""Many steps: a scan whose gradient keeps the states and computes the rest again."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import cast

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ..any_length import any_length
from ..contact import Contact, Impulses
from ..dynamics import assemble
from ..model import Memory, Model, State
from ..model.names import Marks, Named, Recording, unmarked
from ..spatial import KEPT, Array, Scalar
from .check_contact import check_overlaps
from .check_motion import check_given
from .check_result import check_rollout, needed_to_check
from .checks import check_contact, check_quaternions
from .control import as_control
from .integrators import Integrator, SemiImplicitEuler
from .spring_step import warn_of_long_steps
from .step import ControlLike, StateLike, advance, begin, initial_state

Policy = Callable[[Scalar, State], ControlLike]
"""control = policy(time, state)"""


KEEP = jax.checkpoint_policies.save_only_these_names(KEPT)


class Rollout(eqx.Module):
    """States over time, the first included."""

    t: Float[Array, " time"]
    """[s]"""
    q: Float[Array, "time nq"]
    qd: Float[Array, "time nv"]
    values: dict[str, Array] = eqx.field(default_factory=dict)
    """What was recorded, one row a step: values at the start of each step, so one row less than states."""
    memory: Memory | None = None
    """Of the last state."""

    def __getitem__(self, index) -> State:
        """The state at one time or at several, without what networks remember."""
        return State(self.q[index], self.qd[index])

    @property
    def end(self) -> State:
        """The last state with its memory: a rollout from here goes on as if it had never stopped."""
        return State(self.q[-1], self.qd[-1], self.memory)


def rollout(
    model: Model,
    state: StateLike,
    controls: ControlLike | Policy = None,
    dt: Scalar | None = None,
    steps: int | None = None,
    integrator: Integrator = SemiImplicitEuler(),
    contact: Contact | None = Impulses(),
    checkpoint: bool = True,
    check: bool = False,
    record: str | Sequence[str] = (),
    start_time: Scalar = 0.0,
    named: Marks | Named = unmarked,
) -> Rollout:
    """The states after 0, 1, ..., `steps` steps of length dt (None: the model's own time step).

    `controls` is None, an array or `Control` with one row a step, or a function of time and state. Without
    `contact`, shapes and joint limits do not act. Without `checkpoint` a gradient keeps all intermediate values of
    every step: faster, but memory grows with them. `check` raises `DivergedError`, naming step and joint, where a
    number is not finite, and `ContactError`, naming two shapes, where impulses cannot keep them apart. `record` names
    variables (`hs.names`) to be found in the result's `values`. Prescribed joints follow `controls.prescribed`, whose row
    k is where step k ends; the start holds what is before.

    Unless it is being traced, a start with a quaternion that is not unit is a `ValueError`, one at which shapes overlap
    deeply a `ContactError`, and a dt that is too long for `Springs` a `StepWarning`.
    """
    steps = _count(steps, controls)
    dt = model.timestep if dt is None else dt
    check_contact(contact, dt)
    state = initial_state(model, state)
    check_quaternions(model, state.q)
    check_given(model, state, controls, dt)
    check_overlaps(model, state.q, contact)
    warn_of_long_steps(model, state, dt, integrator, contact)
    wanted = (record,) if isinstance(record, str) else tuple(record)
    needed = needed_to_check(model, contact) if check else ()
    options = integrator, contact, checkpoint, tuple(dict.fromkeys((*wanted, *needed))), named
    result = _rollout(model, state, controls, dt, start_time, steps, *options)
    if check:
        check_rollout(model, result, dt)
    return replace(result, values={name: result.values[name] for name in wanted}) if needed else result


@eqx.filter_jit
def _rollout(model, state, controls, dt, start_time, steps, integrator, contact, checkpoint, record, named) -> Rollout:
    mechanism = assemble(model)
    with any_length():
        times = dt * jnp.arange(steps + 1)
    if not (isinstance(start_time, float) and start_time == 0.0):
        times = start_time + times
    policy = cast(Policy, controls) if callable(controls) else None

    def one_step(state, now):
        t, control = now
        control = as_control(model, policy(t, state) if policy else control)
        marks = Recording(begin(model, state, named), record)
        state = advance(model, mechanism, state, control, t, dt, integrator, contact, marks)
        return state, (state.q, state.qd, marks.values)

    first = with_memory(model, state, contact)
    body = jax.checkpoint(one_step, prevent_cse=False, policy=KEEP) if checkpoint else one_step
    with any_length():
        last, (*states, values) = jax.lax.scan(body, first, (times[:-1], None if policy else controls), length=steps)
    q, qd = (jnp.concatenate([start[None], rest]) for start, rest in zip(state, states, strict=True))
    return Rollout(times, q, qd, values, last.memory)


def with_memory(model: Model, state: State, contact: Contact | None) -> State:
    """The state with what the first step is to remember: of contact what it wants, unless the state has it already."""
    memory = Memory() if state.memory is None else state.memory
    impulsive = contact is not None and contact.acts_on_velocities(model)
    impulses = contact.memory(model) if impulsive else None
    if impulses is not None and memory.contact is not None:
        impulses = memory.contact
    return State(state.q, state.qd, Memory(impulses, memory.networks).or_nothing())


def _count(steps: int | None, controls) -> int:
    """The number of steps, given or the number of rows of the controls; both must agree."""
    arrays = [] if callable(controls) else jax.tree.leaves(controls)
    lengths = {np.shape(x)[0] if np.ndim(x) else 0 for x in arrays}
    if steps is None and not lengths:
        raise ValueError("how many steps? give steps=, or controls with one row a step")
    wanted = max(lengths) if steps is None else steps
    if wanted < 0:
        raise ValueError(f"steps is {wanted}; it must be 0 or more")
    if lengths - {wanted}:
        raise ValueError(f"controls need one row for each of the {wanted} steps, but have {sorted(lengths)} rows")
    return wanted
