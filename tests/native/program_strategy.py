"""The strategy: a random program with its inputs, and what is done to it (gradient, vmap ...)."""

import os
from dataclasses import dataclass
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import strategies as st
from jax import lax

from . import program_parts as parts
from . import program_steps as steps
from .disturbance import disturbed
from .program_steps import LARGEST, is_float, like, pick
from .programs import FLOATS, INTEGERS, Program, Step, quantised, values

FAMILIES = (
    [steps.unary, steps.binary, steps.structure] * 3
    + [steps.integer, steps.reduce, steps.join, parts.indexing, parts.dot, parts.window] * 2
    + [steps.compare, steps.select, steps.constants, steps.convert, steps.cumulative, steps.sort, parts.calls]
    + [parts.matrices, parts.random_numbers, parts.convolution]
)
SMALL_SHAPES = [(), (1,), (3,), (2, 3), (4,), (1, 4), (2, 1, 3), (0,), (2, 0), (5, 2), (3, 3)]
LARGE_SHAPES = [(300,), (2100,), (50, 45), (3, 800), (20, 20), (1, 600)]


def body(draw, inputs, length: int, depth: int) -> Program:
    """A program of `length` steps, with loops and branches down to `depth`."""
    pool, made = list(inputs), []
    for _ in range(length):
        family = draw(st.sampled_from(FAMILIES + ([control] * 4 if depth else [])))
        found = family(draw, pool, depth) if family is control else family(draw, pool)
        if found is None:
            continue
        name, function, operands = found
        results = tuple(jax.tree.leaves(jax.eval_shape(function, *(pool[i] for i in operands))))
        # Between these sizes everything is written out, which takes long to compile.
        if any(r.size > LARGEST or 400 < r.size <= 2048 for r in results if r not in pool):
            continue
        made.append(Step(name, function, tuple(operands), results))
        pool += results
    count = draw(st.integers(1, 3))
    late = range(max(0, len(pool) - 4), len(pool))
    outputs = tuple(draw(st.sampled_from(late[::-1])) for _ in range(count))
    return Program(tuple(inputs), tuple(made), outputs)


def control(draw, pool, depth: int):
    """A loop or branch around a program; arrays that it carries are mixed with what the program makes of them."""
    carried = tuple(pick(draw, pool) for _ in range(draw(st.integers(1, 2))))
    captured = tuple(pick(draw, pool) for _ in range(draw(st.integers(0, 1))))
    specs = [pool[i] for i in carried]
    name = draw(st.sampled_from(["scan", "fori", "dynamic fori", "while", "cond", "switch"]))
    operands = (*carried, *captured)
    n = len(carried)
    if name in ("cond", "switch"):
        k = pick(draw, pool)
        branches = [body(draw, [pool[i] for i in operands], draw(st.integers(0, 2)), depth - 1) for _ in range(3)]

        def choose(which, *xs):
            takes = [lambda *xs, b=b: mixed(xs[:n], b(*xs), specs) for b in branches]
            if name == "cond":
                return lax.cond(like(which, (), bool), takes[0], takes[1], *xs)
            return lax.switch(like(which, (), np.int32), takes, *xs)

        return f"{name} {branches}", choose, (k, *operands)
    count = draw(st.integers(0, 4))
    counter = jax.ShapeDtypeStruct((), np.dtype("int64"))
    if name == "scan":
        k = pick(draw, pool, lambda s: len(s.shape) > 0 and s.shape[0] <= 60)
        if k is None:
            return None
        row = jax.ShapeDtypeStruct(pool[k].shape[1:], pool[k].dtype)
        inner = body(draw, [*(pool[i] for i in operands), row], draw(st.integers(1, 3)), depth - 1)
        reverse = draw(st.booleans())

        def scanned(x, *xs):
            def turn(carry, r):
                outs = inner(*carry, *xs[n:], r)
                return mixed(carry, outs, specs), outs[0]

            return lax.scan(turn, tuple(xs[:n]), x, reverse=reverse)

        return f"scan {reverse} {inner}", scanned, (k, *operands)
    inner = body(draw, [*(pool[i] for i in operands), counter], draw(st.integers(1, 3)), depth - 1)
    if name == "while":

        def tested(*xs):
            def go_on(c):
                return (c[0] < count) & (quantised(like(c[1][0], (), "float64")) < 50)

            def turn(c):
                return c[0] + 1, mixed(c[1], inner(*c[1], *xs[n:], c[0]), specs)

            return lax.while_loop(go_on, turn, (jnp.zeros((), "int64"), tuple(xs[:n])))

        return f"while {count} {inner}", tested, operands

    def counted(*xs):
        end = jnp.minimum(like(xs[0], (), "int64"), 4) if name == "dynamic fori" else count
        return lax.fori_loop(0, end, lambda i, c: mixed(c, inner(*c, *xs[n:], i), specs), tuple(xs[:n]))

    return f"{name} {count} {inner}", counted, operands


def mixed(carry, outs, specs):
    """The next carry: of the shape and type that it must have, and no larger than before."""
    result = []
    for k, (old, spec) in enumerate(zip(carry, specs, strict=True)):
        new = like(outs[k % len(outs)], spec.shape, spec.dtype)
        result.append(disturbed(0.5 * old + 0.5 * new) if str(spec.dtype) in FLOATS else new)
    return tuple(result)


@dataclass(frozen=True)
class Case:
    """A function, arguments in rows, and along which axis each is one of many (None: shared)."""

    program: Program
    transform: str
    arguments: tuple[np.ndarray, ...]
    in_axes: tuple[int | None, ...]
    lanes: int
    special: bool

    def function(self, *args):
        return TRANSFORMS[self.transform](self.program, *args)

    @property
    def tolerance(self) -> float:
        """Relative; a result in double precision of numbers in single precision has the digits of these."""
        return 1e-5 if "float32" in repr(self.program) else 1e-12

    def row(self, k: int) -> list[np.ndarray]:
        return [x[k if axis == 0 else 0] for x, axis in zip(self.arguments, self.in_axes, strict=True)]

    def batched(self) -> list[np.ndarray]:
        return [x if axis == 0 else x[0] for x, axis in zip(self.arguments, self.in_axes, strict=True)]

    def __repr__(self) -> str:
        numbers = ", ".join(np.array2string(x, threshold=12) for x in self.batched())
        return f"{self.transform} in_axes={self.in_axes} lanes={self.lanes}\n{self.program}\nof {numbers}"


def _loss(program, floats, rest):
    """One number from all floats that a program returns."""
    outs = [x for x in program(*_merged(program, floats, rest)) if str(x.dtype) in FLOATS]
    return sum((jnp.sum(jnp.arctan(x.astype("float64"))) for x in outs), jnp.zeros(()))


def _split(program, args):
    return [x for x in args if str(x.dtype) in FLOATS], [x for x in args if str(x.dtype) not in FLOATS]


def _merged(program, floats, rest):
    floats, rest = iter(floats), iter(rest)
    return [next(floats) if is_float(spec) else next(rest) for spec in program.inputs]


def _gradient(program, *args):
    floats, rest = _split(program, args)
    return jax.value_and_grad(lambda f: _loss(program, f, rest))(floats)


def _tangents(program, *args):
    floats, rest = _split(program, args)
    return jax.jvp(lambda f: _loss(program, f, rest), (floats,), ([jnp.cos(x) for x in floats],))


def _vmapped(program, *args):
    """Over two copies, of which one is changed."""
    pairs = [jnp.stack([x, x[::-1] if x.ndim else x]) for x in args]
    return jax.vmap(lambda *xs: program(*xs))(*pairs)


TRANSFORMS = {
    "plain": lambda program, *args: program(*args),
    "gradient": _gradient,
    "jvp": _tangents,
    "vmap": _vmapped,
    "remat gradient": lambda program, *args: _gradient(
        Program(program.inputs, (_checkpointed(program),), tuple(range(len(program.inputs), len(program.inputs) + 1))),
        *args,
    ),
}


def _checkpointed(program):
    def first(*args):
        return jax.checkpoint(lambda *xs: program(*xs))(*args)[0]  # a new function each time: JAX remembers old ones

    return Step("checkpoint", first, tuple(range(len(program.inputs))), (jax.eval_shape(first, *program.inputs),))


def has_while(program: Program) -> bool:
    return any("while" in s.name or "dynamic fori" in s.name for s in program.steps)


def _count() -> None:
    """Tell `make fuzz` of one more program."""
    if (file := os.environ.get("HYBRIDSIM_FUZZ_COUNT")) is not None:
        with Path(file).open("ab") as counter:
            counter.write(b".")


@st.composite
def cases(draw, largest: int = 6) -> Case:
    special = draw(st.sampled_from([False, False, True]))
    inputs = []
    for k in range(draw(st.integers(1, 3))):
        dtype = draw(st.sampled_from(["float64"] * 6 + ["float32"] * 2 + [*INTEGERS, "bool"])) if k < 2 else "int32"
        shape = draw(st.sampled_from(SMALL_SHAPES * 3 + LARGE_SHAPES))
        inputs.append(jax.ShapeDtypeStruct(shape, np.dtype(dtype)))
    program = body(draw, inputs, draw(st.integers(1, largest)), depth=2)
    names = ["plain", "plain", "plain", "vmap", "jvp", "gradient", "remat gradient"]
    names = names[: 5 if has_while(program) else 7]
    if "custom_vjp" in repr(program):  # has no forward derivative
        names.remove("jvp")
    transform = draw(st.sampled_from(names))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    arguments = tuple(values(rng, spec, special) for spec in inputs)
    in_axes = tuple(draw(st.sampled_from([0, 0, None])) for _ in inputs)
    in_axes = in_axes if 0 in in_axes else (0, *in_axes[1:])
    _count()
    return Case(program, transform, arguments, in_axes, draw(st.sampled_from([4, 2, 1])), special)
