"""From a jaxpr to a template: the same program with the lengths of its loops left open.

The template with its lengths is the jaxpr, written in another way: nothing is lost, and nothing is assumed of other lengths.
So two jaxprs that have one template are that template at two lengths, and its machine code serves both.
"""

from collections.abc import Iterator
from math import lcm
from typing import Any

from jax.extend import core as jcore

from ..rules.calls import CALLED
from .affine import NotGeneralError
from .labels import LONG, Labels, Places, is_marked, jaxprs_of
from .literals import mark_literals
from .relations import guess_rest
from .template import Template
from .write import template_of

SHORTEST = 3
"""Of lengths: with fewer turns JAX may write another program."""
PROGRAM = 200
"""Equations in the body of a loop outside of others from which on its length may change, as that of a simulation."""


def general(closed: jcore.ClosedJaxpr) -> Template | None:
    """The jaxpr for any lengths of its loops; None where no length is open, or where a part of it needs to be known."""
    try:
        labels = _labelled(closed.jaxpr)
        if labels is None:
            return None
        mark_literals(labels)
        return template_of(closed, labels)
    except NotGeneralError:
        return None


def _labelled(jaxpr: jcore.Jaxpr) -> Labels | None:
    """Labels that depend on the lengths of all loops whose length may change."""
    factors: dict[int, int] = {}
    while True:
        labels = Labels(jaxpr)
        for places, k in _loops(labels.root):
            if k not in places.turns:
                turns, factor = places.jaxpr.eqns[k].params["length"], factors.get(len(labels.lengths), 1)
                if turns % factor or turns // factor < SHORTEST:
                    return None
                labels.label_loop(places, k, labels.add_length(turns, factor))
                labels.spread()
        if not labels.lengths:
            return None
        guess_rest(labels)
        if not labels.factors:
            return labels
        if all(factors.get(k, 1) % factor == 0 for k, factor in labels.factors.items()):
            return labels
        factors = {k: lcm(factors.get(k, 1), labels.factors.get(k, 1)) for k in {*factors, *labels.factors}}


def _loops(places: Places, outside: bool = True) -> Iterator[tuple[Places, int]]:
    """Loops whose length may change: those that are marked, and long ones `outside` of others."""
    for k, eqn in enumerate(places.jaxpr.eqns):
        name = eqn.primitive.name
        if name == "scan" and eqn.params["length"] >= SHORTEST:
            marked = is_marked(eqn)
            long = (
                outside and eqn.params["length"] >= LONG and _equations(eqn.params["jaxpr"].jaxpr, PROGRAM) >= PROGRAM
            )
            if marked or long:
                yield places, k
            if marked:
                continue
        for number, (_, inner) in enumerate(jaxprs_of(eqn)):
            yield from _loops(places.within(k, number, inner), outside and name in CALLED)


def _equations(jaxpr: Any, enough: int) -> int:
    """How many equations a jaxpr has with those within, or that there are enough."""
    count = len(jaxpr.eqns)
    for eqn in jaxpr.eqns:
        for _, inner in jaxprs_of(eqn):
            if count >= enough:
                return count
            count += _equations(getattr(inner, "jaxpr", inner), enough - count)
    return count
