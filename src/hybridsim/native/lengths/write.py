"""A jaxpr with labels, written as a template."""

from dataclasses import replace
from itertools import compress
from typing import Any

import numpy as np
from jax.extend import core as jcore

from ..rules.calls import CALLED
from .affine import NotGeneralError, at_lengths
from .labels import Labels, Places, jaxprs_of
from .rewrite import rewritten
from .template import Aval, ClosedTemplate, Equation, OpenJaxpr, Template, Variable


def template_of(closed: jcore.ClosedJaxpr, labels: Labels) -> Template:
    """The jaxpr with the sizes of its labels, without what none of its outputs depends on.

    What is not needed often has no labels, because nothing relates it to a loop.
    """
    writer = _Writer(labels.root, labels.lengths, [True] * len(closed.jaxpr.outvars))
    consts = [(v, x) for v, x in zip(closed.jaxpr.constvars, closed.consts, strict=True) if v in writer.needed]
    long = [(v, x) for v, x in consts if v in labels.root.sizes]
    short = [(v, x) for v, x in consts if v not in labels.root.sizes]
    inputs = [v if v in writer.needed else Variable(Aval((0,), v.aval.dtype, False)) for v in closed.jaxpr.invars]
    jaxpr = OpenJaxpr(
        [v for v, _ in short],
        writer.named([*inputs, *(v for v, _ in long)]),
        writer.jaxpr.outvars,
        writer.jaxpr.eqns,
    )
    arrays = tuple(np.ascontiguousarray(x, v.aval.dtype) for v, x in long)
    return Template(ClosedTemplate(jaxpr, [x for _, x in short]), arrays, tuple(labels.lengths))


class _Writer:
    def __init__(self, places: Places, lengths: list[int], wanted: list[bool]):
        """`lengths` of the jaxpr that was traced; `wanted`: which of the outputs are."""
        self.places, self.lengths = places, lengths
        self.variables = {v: _sized(places, v) for v in places.sizes}
        self.needed: set[Any] = set()
        inner = places.jaxpr
        outputs = _chosen(inner.outvars, wanted)
        self._need(outputs)
        eqns = []
        for k, eqn in reversed(list(enumerate(inner.eqns))):
            if eqn.effects or any(v in self.needed for v in eqn.outvars):
                eqns.append(self._equation(k, eqn))
        self.jaxpr = OpenJaxpr(self.named(inner.constvars), self.named(inner.invars), self.named(outputs), eqns[::-1])

    def _need(self, variables: Any) -> None:
        self.needed.update(v for v in variables if not isinstance(v, jcore.Literal))

    def named(self, variables: Any) -> list[Any]:
        """As they are called in the template."""
        return [v if isinstance(v, jcore.Literal) else self.variables.get(v, v) for v in variables]

    def _equation(self, k: int, eqn: Any) -> Any:
        """The equation, of which what it reads is needed from now on."""
        places = self.places
        invars, outvars = self.named(eqn.invars), self.named(eqn.outvars)
        for i, v in enumerate(eqn.invars):
            if (count := places.literals.get((k, i))) is not None:
                invars[i] = jcore.Literal(count, v.aval)
        changed: dict[str, Any] = {}
        if eqn.primitive.name in CALLED and places.within(k, 0, jaxprs_of(eqn)[0][1]).is_labelled:
            ((name, called),) = jaxprs_of(eqn)
            wanted = [v in self.needed for v in eqn.outvars]
            inner = _Writer(places.inner[k, 0], self.lengths, wanted)
            read = [v in inner.needed for v in inner.places.jaxpr.invars]
            jaxpr = replace(inner.jaxpr, invars=_chosen(inner.jaxpr.invars, read))
            changed[name] = _closed_as(called, inner.places, jaxpr)
            invars, outvars = _chosen(invars, read), _chosen(outvars, wanted)
            self._need(_chosen(eqn.invars, read))
        else:
            changed = self._jaxprs(k, eqn)
            self._need(eqn.invars)
        if k in places.turns:
            changed["length"] = places.turns[k]
        if any(isinstance(v, Variable) for v in (*invars, *outvars)):
            changed |= self._same_here(eqn, rewritten(eqn, invars, outvars))
        elif not changed and not any((k, i) in places.literals for i in range(len(invars))):
            return eqn
        return Equation(eqn.primitive, invars, outvars, {**eqn.params, **changed}, eqn.effects, eqn.source_info)

    def _same_here(self, eqn: Any, changed: dict[str, Any]) -> dict[str, Any]:
        """The parameters, which must have the values of the traced equation at its own lengths."""
        for name, value in changed.items():
            if at_lengths(value, self.lengths) != eqn.params[name]:
                raise NotGeneralError(
                    f"{name} of {eqn.primitive.name} is {eqn.params[name]}, and was written as {value}"
                )
        return changed

    def _jaxprs(self, k: int, eqn: Any) -> dict[str, Any]:
        """Parameters of a loop or branch with jaxprs that have labels, written with them."""
        found: dict[str, list] = {}
        labelled: set[str] = set()
        for number, (name, inner) in enumerate(jaxprs_of(eqn)):
            places = self.places.inner.get((k, number))
            if places is not None and places.is_labelled:
                labelled.add(name)
                writer = _Writer(places, self.lengths, [True] * len(places.jaxpr.outvars))
                inner = _closed_as(inner, places, writer.jaxpr)
            found.setdefault(name, []).append(inner)
        return {name: tuple(found[name]) if name == "branches" else found[name][0] for name in labelled}


def _sized(places: Places, v: Any) -> Variable:
    shape = tuple(places.size(v, d) for d in range(len(v.aval.shape)))
    return Variable(Aval(shape, v.aval.dtype, v.aval.weak_type))


def _closed_as(original: Any, places: Places, jaxpr: OpenJaxpr) -> OpenJaxpr | ClosedTemplate:
    """With the constants of the jaxpr that it is written for, if that has such."""
    if any(v in places.sizes for v in places.jaxpr.constvars):
        raise NotGeneralError("a constant of an inner function whose size depends on a length")
    return ClosedTemplate(jaxpr, list(original.consts)) if hasattr(original, "consts") else jaxpr


def _chosen(items: Any, are_chosen: list[bool]) -> list[Any]:
    return list(compress(items, are_chosen))
