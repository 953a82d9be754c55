"""`native.value_and_grad`: a value and its gradient, found on disk without differentiating again.

Tracing a gradient takes JAX several times as long as tracing the function, and is most of what is left of a second start.
So the machine code of a gradient has a key of its own: the jaxpr of the function and the derivative rules in it.
"""

from collections.abc import Callable, Sequence
from itertools import chain, compress
from typing import Any, Literal

import jax
import jax.numpy as jnp
from jax.extend import core as jcore

from .arguments import Arguments
from .fingerprint import fingerprint
from .function import Function
from .jit import JitEntry, Jitted
from .traced import Result, Traced, trace


def value_and_grad(
    f: Callable,
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    *,
    fallback: Literal["xla"] | None = None,
    optimise: int = 2,
) -> "ValueAndGrad":
    """Like `native.jit(jax.value_and_grad(f, argnums, has_aux))`, but quicker to start in the next process.

    Leaves of the differentiated arguments that are not arrays of floats have the gradient None, as in Equinox's
    filter_value_and_grad. `fallback` and `optimise` are as in `jit`.
    """
    if fallback not in (None, "xla"):
        raise ValueError(f'fallback is {fallback!r}; it may be "xla" or None')
    return ValueAndGrad(f, argnums, has_aux, fallback == "xla", optimise)


class ValueAndGrad(Jitted):
    """A function with its gradient, compiled when it is first called with arguments of new shapes or types."""

    def __init__(self, f: Callable, argnums: int | Sequence[int], has_aux: bool, fallback: bool, optimise: int):
        super().__init__(f, fallback, optimise)
        self._single = isinstance(argnums, int)
        self._argnums = (argnums,) if isinstance(argnums, int) else tuple(argnums)
        self._has_aux = has_aux

    def _make(self, arguments: Arguments) -> JitEntry:
        traced = trace(arguments.function_of_arrays(self._f), arguments.specs())
        self._check(arguments, traced)
        moving, places, trees = self._moving(arguments)
        moving = (False,) * len(traced.captured) + moving
        function = _ValueAndGrad(traced.closed, moving, self._optimise, self._fallback)
        return JitEntry(function, self._result(traced.result, places, trees), traced.captured)

    def _check(self, arguments: Arguments, traced: Traced) -> None:
        count = len(arguments.args)
        for n in self._argnums:
            if not -count <= n < count:
                raise ValueError(f"argnums has {n}, but there are {count} positional arguments")
        if len({n % count for n in self._argnums}) < len(self._argnums):
            raise ValueError(f"argnums {self._argnums} names an argument twice")
        children = traced.result.tree.children() if self._has_aux else [traced.result.tree]
        value = traced.closed.out_avals[0] if traced.result.places[:1] == (0,) else None
        if self._has_aux and len(children) != 2:
            raise TypeError(f"with has_aux the function must return (value, more), but it returns {traced.result.tree}")
        if value is None or children[0].num_leaves != 1 or value.shape or not jnp.issubdtype(value.dtype, jnp.floating):
            found = traced.result.tree if value is None else f"{value.dtype}{list(value.shape)}"
            raise TypeError(f"a gradient is of one real number, but the function returns {found}")

    def _moving(self, arguments: Arguments) -> tuple[tuple[bool, ...], list[int], list[Any]]:
        """Which of all arrays move; where among the leaves of the gradient each of these belongs; the gradient's trees."""
        places: dict[int, list[int | None]] = {}
        """Of each argument, its leaves' places among all arrays, None for those that are none."""
        arrays, is_array = 0, iter(arguments.array_leaves())
        for n, argument in enumerate(arguments.args):
            places[n] = []
            for _ in jax.tree.leaves(argument):
                there = next(is_array)
                places[n].append(arrays if there else None)
                arrays += there
        specs = arguments.specs()
        chosen = [places[n % len(arguments.args)] for n in self._argnums]
        leaf_of = {
            k: leaf
            for leaf, k in enumerate(chain(*chosen))
            if k is not None and jnp.issubdtype(specs[k].dtype, jnp.floating)
        }
        trees = [jax.tree.structure(arguments.args[n]) for n in self._argnums]
        return tuple(k in leaf_of for k in range(len(specs))), [leaf_of[k] for k in sorted(leaf_of)], trees

    def _result(self, value: Result, places: list[int], trees: list[Any]) -> Result:
        """((value, more), gradient)"""
        gradients = trees[0] if self._single else jax.tree_util.treedef_tuple(trees)
        tree = jax.tree_util.treedef_tuple((value.tree, gradients))
        before = len(value.leaves)
        keys = (*value.keys, *[None] * len(places)) if value.keys else ()
        leaves = (*value.leaves, *[None] * gradients.num_leaves)
        return Result(tree, leaves, (*value.places, *(before + leaf for leaf in places)), keys)


class _ValueAndGrad(Function):
    """The outputs of a jaxpr, and the gradient of the first with respect to the moving inputs."""

    def __init__(self, forward: jcore.ClosedJaxpr, moving: tuple[bool, ...], optimise: int, fallback: bool):
        self._forward, self._moving = forward, moving
        call = jcore.jaxpr_as_fun(forward)

        def with_gradient(*arrays):
            def value(*at):
                values = iter(at)
                full = [next(values) if moves else x for x, moves in zip(arrays, moving, strict=True)]
                outputs = call(*full)
                return outputs[0], outputs

            at = list(compress(arrays, moving))
            if not at:
                return call(*arrays)
            (_, outputs), gradients = jax.value_and_grad(value, tuple(range(len(at))), has_aux=True)(*at)
            return [*outputs, *gradients]

        outputs = [*forward.out_avals, *compress(forward.in_avals, moving)]
        super().__init__(with_gradient, forward.in_avals, outputs, optimise, fallback)

    def early_fingerprints(self) -> list[Callable[[], str]]:
        """That of the function it is the gradient of; so the gradient need not be traced."""
        return [lambda: f"value and gradient {self._moving} {fingerprint(self._forward, rules=True)}"]
