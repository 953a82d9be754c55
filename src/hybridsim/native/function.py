"""A function of flat arrays with the derivatives that JAX may ask for, all made from its jaxpr when they are needed."""

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import compress

import jax
import jax.numpy as jnp
from jax.core import ShapedArray
from jax.extend import core as jcore

from .build import Source, build, build_batch
from .compile import host_lanes
from .kernel import Kernel
from .lengths.general import general
from .lengths.template import Template


class Function(Source):
    """`call` on flat lists of arrays. It is compared by identity, so that JAX finds what it compiled before.

    It is linear in its inputs from number `linear` on (in none, if that is how many there are).
    """

    def __init__(
        self,
        call: Callable,
        inputs: Sequence[ShapedArray],
        outputs: Sequence[ShapedArray],
        optimise: int = 2,
        fallback: bool = False,
        linear: int | None = None,
    ):
        self.call = call
        self.inputs, self.outputs = tuple(inputs), tuple(outputs)
        self.optimise, self.fallback = optimise, fallback
        self.linear = len(self.inputs) if linear is None else linear
        self.moves = tuple(jnp.issubdtype(aval.dtype, jnp.inexact) for aval in self.outputs)
        """Which outputs have derivatives: not integers."""
        self.identity: str | None = None
        """A text that stands for it in every process, where one is known without its jaxpr."""
        self._made: dict = {}

    @classmethod
    def of(cls, closed: jcore.ClosedJaxpr, optimise: int = 2, fallback: bool = False) -> "Function":
        function = cls(jcore.jaxpr_as_fun(closed), closed.in_avals, closed.out_avals, optimise, fallback)
        function.closed = closed
        return function

    @cached_property
    def closed(self) -> jcore.ClosedJaxpr:
        return jax.make_jaxpr(lambda *args: list(self.call(*args)))(*map(as_spec, self.inputs))

    def for_these_lengths(self) -> jcore.ClosedJaxpr:
        return self.closed

    def for_any_lengths(self) -> Template | None:
        return self._once("any lengths", lambda: general(self.closed))

    def early_fingerprints(self) -> list[Callable[[], str]]:
        """Makers of texts that tell its machine code from all others, without its jaxpr."""
        identity = self.identity
        return [] if identity is None else [lambda: f"identity {identity}"]

    def jaxpr(self, rows: int | None, shared: tuple[bool, ...]) -> jcore.ClosedJaxpr:
        """The function, or the function over rows, as JAX writes it."""
        if rows is None:
            return self.closed
        axes = [None if same else 0 for same in shared]
        specs = [
            jax.ShapeDtypeStruct(x.shape if same else (rows, *x.shape), x.dtype)
            for x, same in zip(self.inputs, shared, strict=True)
        ]
        return jax.make_jaxpr(jax.vmap(self.call, axes, axis_size=rows))(*specs)

    def kernel(self, shared: tuple[bool, ...] | None = None, lanes: int | None = None) -> Kernel:
        """Machine code; with `shared`, of a batch in which only those inputs are the same for all rows."""
        if shared is None:
            return self._once("kernel", lambda: build(self))
        lanes = lanes or host_lanes()
        return self._once(("batch", shared, lanes), lambda: build_batch(self, lanes, shared))

    def tangent(self, moving: tuple[bool, ...]) -> "Function":
        """The derivative along changes of the `moving` inputs: of all inputs and these changes, linear in them."""
        return self._once(("tangent", moving), lambda: _Tangent(self, moving))

    def transposed(self, wanted: tuple[bool, ...], given: tuple[bool, ...]) -> "Function":
        """From inputs before `linear` and cotangents of the `given` outputs to cotangents of the `wanted` linear inputs."""
        return self._once(("transposed", wanted, given), lambda: self._transposed(wanted, given))

    def _transposed(self, wanted: tuple[bool, ...], given: tuple[bool, ...]) -> "Function":
        def point(known):  # a linear function has the same derivative everywhere
            return [*known, *(jnp.zeros(x.shape, x.dtype) for x in self.inputs[self.linear :])]

        return self._pulled_back(self, point, (False,) * self.linear + wanted, given)

    def _pulled_back(self, source: "Function", point: Callable, moving: tuple[bool, ...], given: tuple[bool, ...]):
        def pull(*args):
            known, cotangents = args[: self.linear], args[self.linear :]
            along, at = _along(source.call, point(known), moving, given)
            return list(jax.vjp(along, *at)[1](list(cotangents)))

        fixed, outputs = self.inputs[: self.linear], list(compress(source.outputs, given))
        results = list(compress(source.inputs, moving))
        return Function(pull, [*fixed, *outputs], results, self.optimise, self.fallback, self.linear)

    def _once(self, name, make: Callable):
        if name not in self._made:
            self._made.setdefault(name, make())
        return self._made[name]


class _Tangent(Function):
    """A derivative, which remembers of what: its transpose is the reverse mode of that."""

    def __init__(self, source: Function, moving: tuple[bool, ...]):
        def push(*args):
            points, changes = args[: len(moving)], args[len(moving) :]
            along, at = _along(source.call, points, moving, source.moves)
            return jax.jvp(along, at, list(changes))[1]

        inputs = [*source.inputs, *compress(source.inputs, moving)]
        outputs = list(compress(source.outputs, source.moves))
        super().__init__(push, inputs, outputs, source.optimise, source.fallback, len(source.inputs))
        self._source, self._moving = source, moving

    def _transposed(self, wanted: tuple[bool, ...], given: tuple[bool, ...]) -> Function:
        chosen, outputs = iter(wanted), iter(given)
        moving = tuple(moves and next(chosen) for moves in self._moving)
        kept = tuple(moves and next(outputs) for moves in self._source.moves)
        return self._pulled_back(self._source, list, moving, kept)


def _along(call: Callable, points: Sequence, moving: Sequence[bool], kept: Sequence[bool]) -> tuple[Callable, list]:
    """`call` as a function of the moving inputs alone, giving the kept outputs; and the place where it stands."""

    def along(*values):
        values = iter(values)
        full = [next(values) if moves else point for point, moves in zip(points, moving, strict=True)]
        return list(compress(call(*full), kept))

    return along, list(compress(points, moving))


def as_spec(aval) -> jax.ShapeDtypeStruct:
    """What JAX's tracing takes; a weak type is one that gives way to others, as Python's numbers do."""
    return jax.ShapeDtypeStruct(aval.shape, aval.dtype, weak_type=aval.weak_type)
