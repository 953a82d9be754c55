"""A text that two jaxprs share only if the native compiler makes the same program of them.

It is the key under which compiled code is found on disk without lowering the jaxpr. What it does not understand
is an `UnknownPartError`, and then the program is lowered: a wrong match would give wrong numbers.
"""

import contextlib
import hashlib
import os
import sys
from dataclasses import fields, is_dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jax.extend import core as jcore

from .content import UnknownPartError, describe
from .lengths.affine import Count
from .lengths.template import ClosedTemplate, OpenJaxpr

_WITHOUT_EFFECT = frozenset((
    "jvp_jaxpr_fun", "fwd_jaxpr_thunk", "bwd", "out_trees", "policy", "ctx_mesh", "mesh", "donated_invars",
    "in_shardings", "out_shardings", "in_layouts", "out_layouts", "sharding", "out_sharding", "compiler_options_kvs",
))  # fmt: skip
"""Parameters that say how to differentiate or where to run, not what is computed."""


class _Parts(list[str]):
    """The text, in parts; `rules` says whether how to differentiate belongs to it."""

    rules = False


def fingerprint(closed: jcore.ClosedJaxpr | ClosedTemplate, rules: bool = False) -> str:
    """A hash of the jaxpr, its constants, and the versions of all that makes a program of it.

    With `rules` also of custom derivative rules, as JAX traces them where all inputs move, and of the state of all
    source files that are in use, in which the rules are written; so it stands for the first derivatives of the jaxpr as well.
    """
    parts = _Parts([compiler_version()])
    parts.rules = rules
    if rules:
        parts.append(source_state())
    _closed(closed, parts)
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def source_state() -> str:
    """Of the files of all modules: where they are, when they were changed and how long they are."""
    files = set()
    for name, module in list(sys.modules.items()):
        path = getattr(module, "__file__", None)
        if path is None and name == "__main__":
            raise UnknownPartError("code that was typed in, of which there is no file")
        files.add(path)
    state = []
    for path in sorted(filter(None, files)):
        with contextlib.suppress(OSError):
            status = os.stat(path)
            state.append(f"{path} {status.st_mtime_ns} {status.st_size}")
    return hashlib.sha256("\n".join(state).encode()).hexdigest()


@cache
def compiler_version() -> str:
    """Of JAX and of every file of this package, so that a change of the compiler makes new programs."""
    state = hashlib.sha256(f"{jax.__version__} {version('jaxlib')}".encode())
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        state.update(f"{path.name}\0".encode() + path.read_bytes())
    return state.hexdigest()


def _closed(closed: jcore.ClosedJaxpr | ClosedTemplate, parts: _Parts) -> None:
    for value in closed.consts:
        _value(value, parts)
    _jaxpr(closed.jaxpr, parts)


def _jaxpr(jaxpr: jcore.Jaxpr | OpenJaxpr, parts: _Parts) -> None:
    """Variables are numbered in the order of their appearance."""
    numbers: dict = {}

    def bind(v) -> str:
        numbers[v] = len(numbers)
        return _type(v.aval)

    def ref(v) -> str:
        if isinstance(v, jcore.Literal):
            literal = _Parts()
            _value(v.val if isinstance(v.val, Count) else np.asarray(v.val), literal)
            return f"{literal} {_type(v.aval)}"
        return str(numbers[v])

    parts.append(f"({[bind(v) for v in (*jaxpr.constvars, *jaxpr.invars)]}")
    for eqn in jaxpr.eqns:
        inputs = [ref(v) for v in eqn.invars]
        parts.append(f"{eqn.primitive.name} {inputs} {[bind(v) for v in eqn.outvars]}")
        if parts.rules:
            _rule(eqn, parts)
        for name, value in sorted(eqn.params.items()):
            if name not in _WITHOUT_EFFECT:
                parts.append(f".{name}")
                _value(value, parts)
    parts.append(f"{[ref(v) for v in jaxpr.outvars]})")


def _rule(eqn, parts: _Parts) -> None:
    """The custom derivative of an equation, if it has one."""
    if eqn.primitive.name == "custom_jvp_call":
        zeros = [False] * (len(eqn.invars) - eqn.params["num_consts"])
        try:
            jaxpr, consts, _ = eqn.params["jvp_jaxpr_fun"].call_wrapped(*zeros)
        except Exception as error:  # whatever JAX, or the rule, says of being traced on its own
            raise UnknownPartError(f"a custom derivative: {error}") from error
        rule = _Parts()  # a rule is not differentiated itself
        _closed(jcore.ClosedJaxpr(jaxpr, consts), rule)
        parts += rule
    elif "custom" in eqn.primitive.name:
        raise UnknownPartError(f"a custom derivative of {eqn.primitive.name}")


def _type(aval) -> str:
    return f"{aval.dtype}{aval.shape}"


def _value(value: Any, parts: _Parts) -> None:
    """A parameter of a primitive, or a constant."""
    describe(value, parts, _other)


def _other(value: Any, parts: _Parts) -> None:
    kind = type(value)
    if isinstance(value, (jcore.ClosedJaxpr, ClosedTemplate)):
        _closed(value, parts)
    elif isinstance(value, (jcore.Jaxpr, OpenJaxpr)):
        _jaxpr(value, parts)
    elif isinstance(value, tuple):
        parts.append(f"{kind.__qualname__} {len(value)}")
        for item in value:
            _value(item, parts)
    elif (closed := getattr(value, "closed", None)) is not None:  # a native function that this one calls
        _closed(closed, parts)
    elif is_dataclass(value):
        parts.append(kind.__qualname__)
        for field in fields(value):
            _value(getattr(value, field.name), parts)
    else:
        raise UnknownPartError(f"{kind.__qualname__} {value!r}")
