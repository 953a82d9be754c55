"""A jaxpr evaluated on symbolic arrays: every equation by the rule of its primitive."""

from collections import Counter
from typing import Any

import jax
import numpy as np
from jax.extend import core as jcore

from .arrays import FROM_MEMORY, SMALL, Array, Arrays, Lazy, Small, memories_read, size_of
from .functions import FUNCTIONS
from .graph import Graph
from .lengths.affine import Count, Shape
from .rebuild import WIDTH
from .scalars import Scalars
from .scope import Scope
from .types import F64, Type, UnsupportedTypeError, dtype_name, is_key, type_of


class UnsupportedPrimitiveError(NotImplementedError):
    """A primitive without a rule."""


class Lowering:
    def __init__(self) -> None:
        self.g = Graph()
        self.s = Scalars(self.g, FUNCTIONS)
        self.a = Arrays(self.s)
        self.rows: list[np.ndarray] = []
        self.runs: list[np.ndarray] = []
        """Tables of values of as many rows as a vector has lanes: rows of an array, or its numbers in turn."""
        self.enclosing: list = []
        """The equations within which the present one lies, for messages."""
        self.scopes: list[Scope] = []
        """The jaxprs within which it lies."""

    def evaluate(
        self, jaxpr, consts: list[Array], args: list[Array], given_up: frozenset[int] = frozenset()
    ) -> list[Array]:
        """The outputs of a jaxpr. Arguments that are `given_up` are needed by nothing else."""
        from .rules import RULES

        env: dict = {}
        env.update(zip(jaxpr.constvars, consts, strict=True))
        env.update(zip(jaxpr.invars, args, strict=True))
        uses = Counter(v for eqn in jaxpr.eqns for v in eqn.invars if not isinstance(v, jcore.Literal))
        uses.update(v for v in jaxpr.outvars if not isinstance(v, jcore.Literal))
        scope = Scope(jaxpr, env, given_up)
        self.scopes.append(scope)
        for scope.place, eqn in enumerate(jaxpr.eqns):
            if not any(v in uses for v in eqn.outvars) and not eqn.effects:
                continue
            name = eqn.primitive.name
            rule = RULES.get(name)
            self.enclosing.append(eqn)
            if rule is None:
                raise UnsupportedPrimitiveError(
                    f"the native compiler has no rule for JAX's primitive {name!r}, used at {where(self.enclosing)}; "
                    'write the function without it, or pass fallback="xla"'
                )
            self._check_types(eqn)
            outs = rule(self, eqn, *(self.read(env, v) for v in eqn.invars))
            for v, out in zip(eqn.outvars, outs, strict=True):
                if isinstance(out, Lazy) and not out.cheap and uses[v] > 1:
                    out = self.a.stored(out)
                env[v] = out
                self._notice(out)
            self.enclosing.pop()
        self.scopes.pop()
        return [self.read(env, v) for v in jaxpr.outvars]

    def may_overwrite(self, k: int) -> bool:
        """Whether the present equation may change its operand k, an array in memory, where it is."""
        return self.scopes[-1].may_overwrite(k)

    def _check_types(self, eqn) -> None:
        for v in eqn.outvars:
            try:
                type_of(v.aval.dtype)
            except UnsupportedTypeError:
                name = dtype_name(v.aval.dtype)
                raise UnsupportedTypeError(
                    f"numbers of type {name} are not supported, but are used at {where(self.enclosing)}"
                ) from None

    def _notice(self, out: Array) -> None:
        """What is done to one row, or number, of an array is often done to all: `pack` wants to know."""
        if not isinstance(out, Small) or out.ids.size < WIDTH:
            return
        if out.shape[0] == WIDTH:
            self.rows.append(out.ids.reshape(WIDTH, -1))
        else:
            whole = out.ids.size // WIDTH * WIDTH
            self.runs.append(out.ids.ravel()[:whole].reshape(-1, WIDTH).T)

    def read(self, env: dict, v) -> Array:
        if isinstance(v, jcore.Literal):
            aval: Any = v.aval
            if isinstance(v.val, Count):
                return Small(np.array(self._count(v.val, type_of(aval.dtype))), type_of(aval.dtype))
            return self.a.constant(numbers(v.val), type_of(aval.dtype))
        return env[v]

    def _count(self, count: Count, type: Type) -> int:
        """A number that depends on lengths."""
        s = self.s
        size = s.index(count.size)
        return s.cast(s.div(s.const(1.0, F64), s.cast(size, F64)) if count.inverse else size, type)

    def result(self, shape: Shape, type, element, inputs, cheap: bool = False) -> Array:
        """A table of scalars or a formula, by size and by where the inputs are."""
        size = size_of(shape)
        small_input = any(isinstance(x, Small) and x.ids.size > 1 for x in inputs)
        if size <= FROM_MEMORY or (size <= SMALL and small_input):
            return self.a.small(Lazy(shape, type, element))
        return Lazy(shape, type, element, cheap and all(is_cheap(x) for x in inputs), memories_read(inputs))


def is_cheap(x: Array) -> bool:
    return x.cheap if isinstance(x, Lazy) else True


def where(equations: list) -> str:
    """The user's line that made the innermost equation; some are made by JAX itself, inside others."""
    from jax._src import source_info_util

    for eqn in reversed(equations):
        traceback = eqn.source_info.traceback
        if traceback and (frame := source_info_util.user_frame(traceback)):
            return f"{frame.file_name}:{frame.start_line} ({frame.function_name})"
    return "an unknown place"


def inline(lowering: Lowering, closed, args: list[Array], given_up: frozenset[int] = frozenset()) -> list[Array]:
    """The outputs of a closed jaxpr, written out here; what is `given_up` of the arguments is needed by nothing else."""
    consts = [numbers(c) for c in closed.consts]
    arrays = [lowering.a.constant(c, type_of(c.dtype)) for c in consts]
    return lowering.evaluate(closed.jaxpr, arrays, args, given_up)


def numbers(x) -> np.ndarray:
    """An array of JAX as an array of NumPy; of typed keys, their words, two in one number."""
    if hasattr(x, "dtype") and is_key(x.dtype):
        words = np.ascontiguousarray(jax.random.key_data(x))
        return words.view(np.uint64)[..., 0]
    return np.asarray(x)
