"""Loops that are written out, one turn after the other."""

import math
from typing import Any

import numpy as np

from ..arrays import Array, Small, size_of
from ..lengths.affine import Affine
from .calls import CALLED

WRITTEN_OUT = 100_000
"""Loops that compute more numbers than this, in all turns together, stay loops.

The longest loop of a chain, over its articulated bodies, has 350 a link. A chain of 200 takes 6.7 us a step where all of it is
written out, and 15 us where this loop is not; as loops it took 97 us, and twice as long to compile.
"""


def is_written_out(eqn: Any) -> bool:
    """Whether a scan is to be unrolled, by JAX's parameter, and has few enough numbers for that."""
    p = eqn.params
    if p["unroll"] == 1 or isinstance(p["length"], Affine):
        return False
    return 0 < p["length"] * _numbers(p["jaxpr"].jaxpr) <= WRITTEN_OUT


def writes_out_loops(jaxpr: Any) -> bool:
    """Whether any loop within is written out."""
    from ..lengths.labels import jaxprs_of

    for eqn in jaxpr.eqns:
        if eqn.primitive.name == "scan" and is_written_out(eqn):
            return True
        if any(writes_out_loops(getattr(inner, "jaxpr", inner)) for _, inner in jaxprs_of(eqn)):
            return True
    return False


def _numbers(jaxpr: Any) -> float:
    """How many numbers a jaxpr computes; infinitely many where it has loops, branches or open lengths."""
    total = 0.0
    for eqn in jaxpr.eqns:
        name = eqn.primitive.name
        if name in ("scan", "while", "cond"):
            return math.inf
        if name in CALLED:
            inner = eqn.params[CALLED[name]]
            total += _numbers(getattr(inner, "jaxpr", inner))
        else:
            sizes = [size_of(v.aval.shape) for v in eqn.outvars]
            total += math.inf if any(isinstance(size, Affine) for size in sizes) else sum(sizes)
    return total


def turn_by_turn(low: Any, eqn: Any, consts: list[Array], carry: list[Array], xs: list[Array]) -> list[Array]:
    """The carries after a scan and what its turns gave, all of it tables of scalars."""
    from ..lower import inline

    p = eqn.params
    carry, tables = [low.a.small(x) for x in carry], [low.a.small(x) for x in xs]
    turns = []
    for i in reversed(range(p["length"])) if p["reverse"] else range(p["length"]):
        rows = [Small(np.asarray(x.ids[i]), x.type) for x in tables]
        outs = [low.a.small(out) for out in inline(low, p["jaxpr"], [*consts, *carry, *rows])]
        carry = outs[: p["num_carry"]]
        turns.append(outs[p["num_carry"] :])
    columns = zip(*(turns[::-1] if p["reverse"] else turns), strict=True)
    return [*carry, *(Small(np.stack([y.ids for y in column]), column[0].type) for column in columns)]
