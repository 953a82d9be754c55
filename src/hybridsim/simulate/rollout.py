"""Many steps: a scan whose gradient keeps the states and computes the rest again."""

from collections.abc import Callable
from typing import cast

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Float

from ..contact import Contact, Impulses
from ..dynamics import assemble
from ..model import Model, State
from ..model.names import Named, unmarked
from ..spatial import KEPT, Array, Scalar
from .control import as_control
from .integrators import Integrator, SemiImplicitEuler
from .step import ControlLike, StateLike, advance, as_state

Policy = Callable[[Scalar, State], ControlLike]
"""control = policy(time, state)"""


_KEEP = jax.checkpoint_policies.save_only_these_names(KEPT)


class Rollout(eqx.Module):
    """States over time, the first included."""

    t: Float[Array, " time"]
    """[s]"""
    q: Float[Array, "time nq"]
    qd: Float[Array, "time nv"]

    def __getitem__(self, index) -> State:
        """The state at one time or at several."""
        return State(self.q[index], self.qd[index])


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
    named: Named = unmarked,
) -> Rollout:
    """The states after 0, 1, ..., `steps` steps of length dt (None: the model's own time step).

    `controls` is None, an array or `Control` with one row a step, or a function of time and state. Without
    `contact`, shapes and joint limits do not act. Without `checkpoint` a gradient keeps all intermediate values of
    every step: faster, but memory grows with them. `check` raises `DivergedError`, naming step and joint, where a
    number is not finite.
    """
    steps = _count(steps, controls)
    dt = model.timestep if dt is None else dt
    result = _rollout(model, as_state(model, state), controls, dt, steps, integrator, contact, checkpoint, named)
    if check:
        _raise_if_diverged(model, result)
    return result


@eqx.filter_jit
def _rollout(model, state, controls, dt, steps, integrator, contact, checkpoint, named) -> Rollout:
    mechanism = assemble(model)
    times = dt * jnp.arange(steps + 1)
    policy = cast(Policy, controls) if callable(controls) else None

    def one_step(state, now):
        t, control = now
        control = as_control(model, policy(t, state) if policy else control)
        state = advance(model, mechanism, state, control, dt, integrator, contact, named)
        return state, (state.q, state.qd)

    impulsive = contact is not None and contact.acts_on_velocities(model)
    first = State(state.q, state.qd, contact.memory(model) if impulsive else None)
    body = jax.checkpoint(one_step, prevent_cse=False, policy=_KEEP) if checkpoint else one_step
    _, states = jax.lax.scan(body, first, (times[:-1], None if policy else controls), length=steps)
    q, qd = (jnp.concatenate([start[None], rest]) for start, rest in zip(state, states, strict=True))
    return Rollout(times, q, qd)


def _count(steps: int | None, controls) -> int:
    """The number of steps, given or the number of rows of the controls; both must agree."""
    arrays = [] if callable(controls) else jax.tree.leaves(controls)
    lengths = {np.shape(x)[0] if np.ndim(x) else 0 for x in arrays}
    if steps is None and not lengths:
        raise ValueError("how many steps? give steps=, or controls with one row a step")
    wanted = max(lengths) if steps is None else steps
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
    before = "" if when == 0 else _fastest(model, np.asarray(result.qd)[when - 1])
    raise DivergedError(
        f"not finite after step {when} (t = {float(result.t[when]):g} s) at joint {', '.join(joints)}.{before} "
        "Try a smaller dt, hs.ImplicitDamping() for stiff damping, or look for an inertia that is far too small"
    )


def _fastest(model: Model, qd: np.ndarray) -> str:
    """The joint that was fastest one step earlier is most often the one to look at."""
    speed, name = max(
        (float(np.abs(qd[model.v_of(name)]).max()), name)
        for j, name in enumerate(model.joint_names)
        if model.topology.kinds[j].nv and model.topology.mimics[j] < 0
    )
    return f" One step earlier joint {name} was the fastest, at {speed:.3g}."
