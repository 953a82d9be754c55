"""Programs around a loop of any length, and what the tests of templates compare them by."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend import core as jcore

from hybridsim import native
from hybridsim.native.lengths.affine import Affine, Count
from hybridsim.native.lengths.template import Template


def drive(steps: int) -> tuple[np.ndarray, np.ndarray]:
    """A start, and one row for each turn of the loop."""
    rng = np.random.default_rng(steps)
    return 1 + 0.5 * rng.normal(size=2), 0.01 * rng.normal(size=(steps, 2))


def states(q, u):
    """Of a loop that has `u` as its rows."""
    with native.any_length():
        return jax.lax.scan(lambda x, row: (x + row, jnp.sin(x) * 2), q, u)[1]


@dataclass(frozen=True)
class Program:
    function: Callable
    general: bool = True
    """Whether it can be compiled for any length."""
    few: tuple[int, ...] = (3, 7)
    """Lengths that are short, and still the same program: none that is another number of the program as well."""

    def differentiated(self, q, u):
        """One number made of its result, with its gradient."""

        def value(q, u):
            return sum(jnp.sum(x * jnp.cos(x)) for x in jax.tree.leaves(self.function(q, u)) if x.dtype == float)

        return jax.value_and_grad(value, (0, 1))(q, u)


def _delayed(q, u):
    """Rows from between two, as a delay picks them."""
    early = jnp.clip(2.3 + 0.1 * q[0], 0.0, 3.9)
    whole = jnp.floor(early).astype(jnp.int32)
    before, after = (jax.lax.dynamic_slice_in_dim(u, whole + k, u.shape[0] - 4) for k in (0, 1))
    return states(q, (1 - early + whole) * before + (early - whole) * after)


def _held(q, u):
    """Every row for three turns of the loop, of which one is shown."""
    made = jnp.concatenate([q[None], states(q, jnp.repeat(u, 3, axis=0))])
    return made[::3], made


def _without_width(q, u):
    """Arrays of many rows without numbers."""
    with native.any_length():
        _, (none, some) = jax.lax.scan(lambda x, row: (x + row, (jnp.zeros(0), x)), q, u)
    return jnp.concatenate([none, some], axis=1)[1:], jnp.concatenate([none, none])[::2]


def _policy(q, u):
    """Rows that are looked up in the loop."""
    with native.any_length():
        return jax.lax.scan(lambda x, k: (x + u[k], x), q, jnp.arange(u.shape[0]))[1]


PROGRAMS = {
    "last": Program(lambda q, u: states(q, u)[-1]),
    "some in the middle": Program(lambda q, u: states(q, u)[2:4], few=(7,)),
    "at an index": Program(lambda q, u: states(q, u)[q.astype(int)[0]]),
    "set last": Program(lambda q, u: states(q, u).at[-1].add(1.0)),
    "in parts": Program(lambda q, u: (states(q, u)[1:], states(q, u)[:-2], states(q, u)[-3:-1]), few=(7,)),
    "reversed": Program(lambda q, u: states(q, u)[::-1] * jnp.arange(u.shape[0])[:, None]),
    "differences": Program(lambda q, u: jnp.diff(states(q, u), axis=0)),
    "transposed": Program(lambda q, u: states(q, u).T * 2),
    "flat": Program(lambda q, u: states(q, u).ravel()),
    "flat and back": Program(lambda q, u: jnp.cos(states(q, u).ravel()).reshape(-1, 2)),
    "products over time": Program(lambda q, u: states(q, u).T @ u),
    "products in each row": Program(lambda q, u: states(q, u) @ np.arange(6.0).reshape(2, 3)),
    "columns of products": Program(lambda q, u: np.arange(6.0).reshape(3, 2) @ states(q, u).T),
    "a dot product": Program(lambda q, u: jnp.vdot(states(q, u)[:, 0], u[:, 1])),
    "slopes": Program(lambda q, u: jax.jacrev(lambda s: states(s * q, s[0] * u)[-1])(u[0])),
    "norms": Program(lambda q, u: jnp.linalg.norm(states(q, u) + 2.0, axis=1)),
    "spread": Program(lambda q, u: jnp.std(states(q, u), axis=0, ddof=1)),
    "means of means": Program(lambda q, u: jnp.mean(jnp.mean(states(q, u), axis=0)) / u.shape[0], few=(7,)),
    "products": Program(lambda q, u: jnp.max(states(q, u)) * jnp.min(u) + jnp.sum(states(q, u) > 0.5)),
    "running sums": Program(lambda q, u: 0.01 * jnp.cumsum(states(q, u), axis=0)),
    "running maxima": Program(lambda q, u: jax.lax.cummax(jax.lax.stop_gradient(states(q, u)), axis=0) * u),
    "times": Program(lambda q, u: states(q, u) * jnp.linspace(0.0, 1.0, u.shape[0])[:, None]),
    "joined": Program(lambda q, u: jnp.concatenate([states(q, u), q[None], u])),
    "stacked": Program(lambda q, u: jnp.stack([states(q, u), u], axis=1)),
    "chosen": Program(lambda q, u: jnp.where(jnp.arange(u.shape[0])[:, None] > 3, states(q, u), 0.0), few=(7,)),
    "areas": Program(lambda q, u: jnp.trapezoid(states(q, u), dx=0.1, axis=0)),
    "rows by number": Program(lambda q, u: states(q, u)[np.array([0, 2, 1])]),
    "turned around": Program(lambda q, u: jnp.roll(states(q, u), 1, axis=0)),
    "padded": Program(lambda q, u: jnp.pad(states(q, u), ((1, 2), (0, 1)))),
    "mapped": Program(lambda q, u: jax.vmap(lambda a: states(a, u))(jnp.outer(jnp.arange(3.0), q))),
    "less a log": Program(lambda q, u: states(q, u) - np.cos(np.arange(2.0 * u.shape[0])).reshape(u.shape)),
    "looked up": Program(_policy, few=()),
    "delayed": Program(_delayed, few=(20,)),
    "held": Program(_held),
    "without width": Program(_without_width, few=(7,)),
    "largest": Program(lambda q, u: states(q, u)[jnp.argmax(u[:, 0])]),
    "sorted": Program(lambda q, u: jnp.sort(states(q, u), axis=0), general=False, few=()),
    "pairs": Program(lambda q, u: states(q, u)[:, :1] - u[:, 0], general=False, few=()),
}


def instance(template: Template) -> Any:
    """The template with its lengths: an object with the parts of a jaxpr."""
    return _at(template.closed, template.lengths)


def _at(x: Any, lengths: tuple[int, ...]) -> Any:
    """With numbers for all sizes."""
    if isinstance(x, Affine):
        return x.at(lengths)
    if isinstance(x, Count):
        return 1.0 / x.size.at(lengths) if x.inverse else x.size.at(lengths)
    if isinstance(x, jcore.Literal):
        return jcore.Literal(_at(x.val, lengths), x.aval)
    if isinstance(x, (list, tuple)) and not hasattr(x, "_fields"):
        return type(x)(_at(y, lengths) for y in x)
    if isinstance(x, dict):
        return {name: _at(y, lengths) for name, y in x.items()}
    if type(x).__module__.endswith("lengths.template"):
        return SimpleNamespace(**{name: _at(y, lengths) for name, y in vars(x).items()})
    return x


_WITHOUT = ("sharding", "out_sharding", "ctx_mesh", "jvp_jaxpr_fun", "in_shardings", "out_shardings", "donated_invars")


def described(closed: Any, level: int = 0) -> list[str]:
    """A line for each equation: its primitive, what it reads and makes, its parameters; then the equations within."""
    lines = []
    for eqn in getattr(closed, "jaxpr", closed).eqns:
        inner = [x for p in eqn.params.values() for x in (p if isinstance(p, tuple) else (p,)) if _has_equations(x)]
        shown = {k: p for k, p in sorted(eqn.params.items()) if not _has_equations(p) and k not in _WITHOUT}
        shown = {k: p for k, p in shown.items() if "layouts" not in k and k != "branches"}
        reads = [] if eqn.primitive.name in ("jit", "pjit") else [_variable(v) for v in eqn.invars]
        makes = [] if eqn.primitive.name in ("jit", "pjit") else [_variable(v) for v in eqn.outvars]
        lines.append(re.sub(r"np\.int64\((-?\d+)\)", r"\1", f"{level} {eqn.primitive.name} {reads} {makes} {shown}"))
        for x in inner:
            lines += described(x, level + 1)
    return lines


def _has_equations(x: Any) -> bool:
    return hasattr(x, "eqns") or hasattr(getattr(x, "jaxpr", None), "eqns")


def _variable(v: Any) -> str:
    value = f"{float(np.asarray(v.val).ravel()[0])!r} " if isinstance(v, jcore.Literal) else ""
    return f"{value}{v.aval.dtype}{tuple(map(int, v.aval.shape))}"
