"""Programs that are found on disk without tracing, because the caller says on what they depend.

`native.batch(f, key=value)` says: with the same code and arguments of the same shapes and types, the content of `value`
determines the program. An earlier process has left the structure of the result and the machine code under a hash of all
three. What cannot be put into words for certain means that the function is traced.
"""

import hashlib
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import jax
from jax.core import ShapedArray

from .cache import key_of, read, write
from .content import UnknownPartError, describe
from .fingerprint import compiler_version
from .function import Function
from .sources import PACKAGE, code_state, is_trusted
from .traced import Result, trace


def identity_of(f: Callable, key: Any, skeleton: tuple, specs: Sequence[jax.ShapeDtypeStruct]) -> str | None:
    """A text that stands for the program of f in every process; None where there is no such text.

    `skeleton`: structure and static leaves of the arguments; `specs`: their arrays.
    """
    tree, static = skeleton
    try:
        modules = {f.__module__}
        parts = [compiler_version()]
        _add((key, _encoded(tree), static, dict(jax.config.values)), parts, modules)
        parts += [f"{spec.dtype}{spec.shape} {spec.weak_type}" for spec in specs]
        if not is_trusted(f):
            raise UnknownPartError(f"{f.__module__}, of which only the user knows when it changes")
        parts.append(code_state(modules))
    except UnknownPartError:
        return None
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def function_of(
    f: Callable, specs: Sequence[jax.ShapeDtypeStruct], identity: str | None, optimise: int, fallback: bool
) -> tuple[Function, Result, tuple]:
    """f as a function of flat arrays, the structure of its result, and JAX's tracers that it has captured.

    If the identity is known, f is traced only where the machine code does not suffice.
    """
    if identity is not None and (known := _read(identity)) is not None:
        result, outputs = known
        inputs = [ShapedArray(spec.shape, spec.dtype, weak_type=spec.weak_type) for spec in specs]
        function = Function(lambda *arrays: jax.tree.leaves(f(*arrays)), inputs, outputs, optimise, fallback)
        function.identity = identity
        return function, result, ()
    traced = trace(f, list(specs))
    function = Function.of(traced.closed, optimise, fallback)
    if identity is not None and not traced.captured:
        _write(identity, traced.result, function)
        function.identity = identity
    return function, traced.result, traced.captured


def _write(identity: str, result: Result, function: Function) -> None:
    """Keep the structure of a result that has nothing but arrays."""
    if result.keys or len(result.places) != len(result.leaves):
        return
    try:
        tree = _encoded(result.tree)
    except UnknownPartError:
        return
    outputs = [(str(aval.dtype), aval.shape, aval.weak_type) for aval in function.outputs]
    write(key_of("result", identity), json.dumps({"tree": tree, "outputs": outputs}).encode())


def _read(identity: str) -> tuple[Result, list[ShapedArray]] | None:
    found = read(key_of("result", identity))
    if found is None:
        return None
    note = json.loads(found)
    tree = jax.tree.structure(_decoded(note["tree"]))
    outputs = [
        ShapedArray(tuple(shape), jax.numpy.dtype(dtype), weak_type=weak) for dtype, shape, weak in note["outputs"]
    ]
    return Result(tree, (None,) * len(outputs), tuple(range(len(outputs))), ()), outputs


def _encoded(tree: Any) -> Any:
    """A structure of tuples, lists, dictionaries and named tuples, as JSON; a leaf is 0."""
    if tree.node_data() is None:
        return 0
    kind, more = tree.node_data()
    children = [_encoded(child) for child in tree.children()]
    if kind in (tuple, list, type(None)):
        return [kind.__name__, children]
    if kind is dict and all(isinstance(name, str) for name in more):
        return ["dict", [list(more), children]]
    if issubclass(kind, tuple) and hasattr(kind, "_fields") and is_trusted(kind):
        return [f"{kind.__module__}:{kind.__qualname__}", children]
    raise UnknownPartError(f"a result of type {kind.__qualname__}")


def _decoded(tree: Any) -> Any:
    if tree == 0:
        return 0
    kind, children = tree
    if kind == "NoneType":
        return None
    if kind == "dict":
        return dict(zip(children[0], map(_decoded, children[1]), strict=True))
    made = [_decoded(child) for child in children]
    if kind in ("tuple", "list"):
        return tuple(made) if kind == "tuple" else made
    return _found(*kind.split(":"))(*made)


def _found(module: str, name: str) -> Any:
    thing: Any = sys.modules.get(module)
    for part in name.split("."):
        thing = getattr(thing, part, None)
    return thing


def _add(value: Any, parts: list[str], modules: set[str]) -> None:
    """Add the content of a value, and the modules of the package whose code it brings."""

    def by_name(thing: Any) -> str:
        """A function or class that can be imported: the source files say what it does."""
        module, name = getattr(thing, "__module__", None), getattr(thing, "__qualname__", None)
        if not module or not name or not is_trusted(thing) or _found(module, name) is not thing:
            raise UnknownPartError(f"{thing!r}, which is not a part of {PACKAGE}")
        modules.add(module)
        return f"{module}.{name}"

    def other(value: Any, parts: list[str]) -> None:
        if is_dataclass(value) and not isinstance(value, type):
            parts.append(by_name(type(value)))
            describe([(field.name, getattr(value, field.name)) for field in fields(value)], parts, other)
        elif isinstance(value, tuple):
            parts.append(by_name(type(value)))
            describe(tuple(value), parts, other)
        else:
            parts.append(by_name(value))

    describe(value, parts, other)
