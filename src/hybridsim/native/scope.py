"""What is needed how long, so that an array that is changed in one place need not be copied for that.

An equation such as x.at[i].set(y) makes a new array. Where x is in memory and nothing needs it any more, the new one may take
its place: one number is written instead of all. A loop that changes an array in each turn would otherwise copy it each time.
"""

from typing import Any

from jax.extend import core as jcore

from .arrays import Array, Stored, memory_read
from .graph import Buffer, root


class Scope:
    """A jaxpr while its equations are evaluated, one after the other."""

    def __init__(self, jaxpr: Any, env: dict[Any, Array], given_up: frozenset[int]):
        self.jaxpr, self.env = jaxpr, env
        self.place = 0
        """Of the present equation."""
        self.last_use = {
            v: k for k, eqn in enumerate(jaxpr.eqns) for v in eqn.invars if not isinstance(v, jcore.Literal)
        }
        self.last_use |= {v: len(jaxpr.eqns) for v in jaxpr.outvars if not isinstance(v, jcore.Literal)}
        self.kept = {*jaxpr.constvars, *(v for k, v in enumerate(jaxpr.invars) if k not in given_up)}
        """Arguments that others may need."""

    def may_overwrite(self, k: int) -> bool:
        """Whether the present equation is the last that reads the memory of its operand k."""
        operands = self.jaxpr.eqns[self.place].invars
        v = operands[k]
        x = None if isinstance(v, jcore.Literal) else self.env[v]
        if not isinstance(x, Stored) or not root(x.buffer).reusable or v in self.kept or self.last_use[v] > self.place:
            return False
        others = [u for j, u in enumerate(operands) if j != k and not isinstance(u, jcore.Literal)]
        later = [u for u, last in self.last_use.items() if last > self.place and u in self.env]
        return not any(self._reads(u, root(x.buffer)) for u in (*others, *later))

    def _reads(self, v: Any, memory: Buffer) -> bool:
        read = memory_read(self.env[v])
        return read is None or memory in read
