"""From a model, logs and what is free to a problem that can be searched or sampled."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

import jax
import numpy as np

from ..contact import Contact
from ..data.log import Trajectory
from ..model import Model
from ..model.checks import check_choice
from ..simulate import Integrator, SemiImplicitEuler, check_overlaps
from .free import Free
from .losses import Loss, Squares
from .measured import Compare, measured
from .parameters import Parameters
from .problem import Problem
from .setting import at_rate, contact_of

_LONGEST_DELAY = 0.1
"""[s], unless bounds say otherwise."""


def prepare(
    model: Model,
    logs: Trajectory | Sequence[Trajectory],
    free: str | Free | Sequence[str | Free],
    *,
    window: float = 1.0,
    stride: float | None = None,
    dt: float | None = None,
    substeps: int = 1,
    compare: Compare = "position",
    start: Literal["fitted", "measured"] = "fitted",
    loss: Loss = Squares(),
    jump: float | None = None,
    integrator: Integrator = SemiImplicitEuler(),
    contact: Contact | Literal["auto"] | None = "auto",
) -> Problem:
    """The options are those of `fit`."""
    _check_precision()
    check_choice("start", start, ("fitted", "measured"))
    if jump is not None and not isinstance(compare, Mapping):
        raise ValueError(
            f"jump is {jump}, which can only be weighed against noise that is known: compare={{'position': 1e-3}}, "
            "with its standard deviation"
        )
    choices = _with_delay_bounds(free)
    delay = max([max(abs(c.lower), abs(c.upper)) for c in choices if c.pattern == "control/delay"], default=0.0)
    data = measured(model, logs, window, stride, dt, compare, delay, substeps)
    controls = data.controls.shape[-1]
    parameters = Parameters(at_rate(model, data.dt, substeps), choices, controls, None, data.runs)
    law = contact_of(model, contact)
    _check_limits_act(parameters, law)
    starts = [f"in run {run!r} at t = {t:.6g} s" for run, t in zip(data.runs, data.time, strict=True)]
    check_overlaps(model, data.q[:, 0], law, starts)
    return Problem(parameters, data, integrator, law, substeps, start == "fitted", loss, jump)


def _check_limits_act(parameters: Parameters, contact: Contact | None) -> None:
    stops = [name for name in parameters.names if name.startswith("limit/")]
    if stops and contact is None:
        raise ValueError(
            f"{stops[0]} is free, but without contact joints pass through their limits; give contact=hs.Impulses() or "
            "hs.Springs()"
        )


def _with_delay_bounds(free: str | Free | Sequence[str | Free]) -> list[Free]:
    several = [free] if isinstance(free, str | Free) else list(free)
    choices = [Free(c) if isinstance(c, str) else c for c in several]
    if not choices:
        raise ValueError("nothing is free: give patterns such as ['link/*/mass', 'joint/*/damping']")
    for i, c in enumerate(choices):
        if c.pattern == "control/delay":
            lower = c.lower if np.isfinite(c.lower) else 0.0
            upper = c.upper if np.isfinite(c.upper) else _LONGEST_DELAY
            choices[i] = replace(c, lower=lower, upper=upper)
    return choices


def _check_precision() -> None:
    if not jax.config.read("jax_enable_x64"):
        raise ValueError(
            "identification needs numbers of 64 bits: jax.config.update('jax_enable_x64', True), or JAX_ENABLE_X64=1"
        )
