"""Many steps: a scan whose gradient keeps the states and computes the rest again."""

from collections.abc import Callable, Sequence
from typing import cast

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Float

from ..contact import Contact, Impulses
from ..dynamics import assemble
from ..model import Memory, Model, State
from ..model.names import Marks, Named, Recording, unmarked
from ..spatial import KEPT, Array, Scalar
from .check_motion import check_given
from .checks import check_contact
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


class DivergedError(FloatingPointError):
    """A rollout that left finite numbers."""


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
    number is not finite. `record` names variables (`hs.names`) to be found in the result's `values`. Warns with
    `StepWarning` where dt is too long for `Springs`, unless it is being traced. Prescribed joints follow
    `controls.prescribed`, whose row k is where step k ends; the start holds what is before.
    """
    steps = _count(steps, controls)
    dt = model.timestep if dt is None else dt
    check_contact(contact, dt)
    state = initial_state(model, state)
    check_given(model, state, controls, dt)
    warn_of_long_steps(model, state, dt, integrator, contact)
    options = integrator, contact, checkpoint, (record,) if isinstance(record, str) else tuple(record), named
    result = _rollout(model, state, controls, dt, start_time, steps, *options)
    if check:
        _raise_if_diverged(model, result)
    return result


@eqx.filter_jit
def _rollout(model, state, controls, dt, start_time, steps, integrator, contact, checkpoint, record, named) -> Rollout:
    mechanism = assemble(model)
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


def _raise_if_diverged(model: Model, result: Rollout) -> None:
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
