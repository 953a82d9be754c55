"""Which contact model each pair of shapes has, by the names of shapes or links."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

import jax
import numpy as np
from jax.core import Tracer

from ..model import Model, ModelError
from ..model.pairs import matching_shapes
from ..spatial import pick
from .impulse import Impulses
from .interface import Contact
from .points import pairs_of_points
from .spring import Springs

PairModel = Springs | Impulses
Rules = tuple[tuple[str, str, int | None], ...]
"""Patterns of two shapes or links, and the place of their contact model; None where they do not touch."""

_EXAMPLE = '{("tip*", "object*"): hs.Impulses(), ("*", "ground"): hs.Springs()}'


def read_rules(rules: Any, otherwise: Any) -> tuple[tuple[PairModel, ...], Rules, int | None]:
    """The different contact models, the rules in order, and the place of the model of all other pairs."""
    if not isinstance(rules, Mapping) or not rules:
        raise TypeError(f"ContactByPair: the rules are {rules!r}; give contact models by pair, such as {_EXAMPLE}")
    models: list[PairModel] = []
    hard: list[str] = []

    def place(what: str, model: Contact | None) -> int | None:
        if model is None:
            return None
        if not isinstance(model, PairModel):
            raise TypeError(f"ContactByPair: {what} is {model!r}; give hs.Impulses(), hs.Springs() or None")
        for i, known in enumerate(models):
            if _same(known, model):
                return i
        models.append(model)
        hard.extend([what] if isinstance(model, Impulses) else [])
        return len(models) - 1

    found = []
    for pair, model in rules.items():
        if not (isinstance(pair, tuple) and len(pair) == 2 and all(isinstance(name, str) for name in pair)):
            raise TypeError(f"ContactByPair: {pair!r} is no pair of names; write the rules as {_EXAMPLE}")
        found.append((*pair, place(f"the model of {pair!r}", model)))
    last = place("otherwise", otherwise)
    if len(hard) > 1:
        raise ValueError(
            f"ContactByPair: {hard[0]} and {hard[1]} are two different hs.Impulses, but all impulses of a step are solved "
            "together; give the same hs.Impulses(...) wherever there are impulses"
        )
    return tuple(models), tuple(found), last


def _same(a: PairModel, b: PairModel) -> bool:
    """Whether two models are equal; numbers that JAX traces are equal only to themselves."""

    def equal(x: Any, y: Any) -> bool:
        return x is y if isinstance(x, Tracer) or isinstance(y, Tracer) else np.array_equal(x, y)

    if jax.tree.structure(a) != jax.tree.structure(b):
        return False
    return all(map(equal, jax.tree.leaves(a), jax.tree.leaves(b)))


def models_of_pairs(model: Model, rules: Rules, otherwise: int | None) -> tuple[int | None, ...]:
    """Of each pair the place of its contact model: that of the first rule whose patterns match, in either order."""
    pairs, names = model.contacts.pairs, model.geometry.names
    found: dict[int, int | None] = {}
    for first, second, place in rules:
        some, others = (set(matching_shapes(model.geometry, model.topology, name)) for name in (first, second))
        matched = [i for i, (a, b) in enumerate(pairs) if (a in some and b in others) or (a in others and b in some)]
        if not matched:
            listed = ", ".join(f"{names[a]} with {names[b]}" for a, b in pairs) or "none"
            raise ModelError(
                f"ContactByPair: no pair of shapes that may touch matches ({first!r}, {second!r}); pairs: {listed}. "
                "hs.with_contacts chooses pairs"
            )
        found = dict.fromkeys(matched, place) | found
    return tuple(found.get(i, otherwise) for i in range(len(pairs)))


@dataclass(frozen=True, eq=False)
class Part:
    """Some of a model's pairs, in the order of their points."""

    pairs: np.ndarray
    rows: np.ndarray
    """Their contact points, among those of all pairs."""

    @classmethod
    def of(cls, model: Model, chosen: Collection[int]) -> "Part":
        owner = pairs_of_points(model)
        # In this order the chosen pairs alone have their points in the order in which these stand among all points.
        pairs = [pair for pair in dict.fromkeys(owner.tolist()) if pair in chosen]
        return cls(np.array(pairs, dtype=int), np.flatnonzero(np.isin(owner, pairs)))

    def owners(self, model: Model) -> np.ndarray:
        """Of each of the points the pair, among all of the model."""
        return pairs_of_points(model)[self.rows]

    def model(self, model: Model) -> Model:
        """The model with these pairs only."""
        contacts = jax.tree.map(lambda x: pick(x, self.pairs), model.contacts)
        kept = tuple(model.contacts.pairs[i] for i in self.pairs)
        return replace(model, contacts=replace(contacts, pairs=kept))
