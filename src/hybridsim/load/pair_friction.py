"""Friction of pairs as friction of shapes, which is what files hold: a pair has the larger one of its two."""

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from ..model import Model, default_numbers


def with_shape_friction(model: Model, loaded: Model, by_link: bool = False) -> Model:
    """The model with friction of shapes that gives its pairs theirs, where there is such; pairs stay as they are.

    `loaded` is the file as it was. What it says of single pairs is not the shapes' to say. `by_link`: shapes of one link
    have one friction.
    """
    geometry, pairs = model.geometry, model.contacts.pairs
    usual, own = default_numbers(model)[0]["friction"], np.asarray(model.contacts.friction)
    if np.array_equal(usual, own):
        return model
    said = pairs_of_their_own(loaded)
    names = [frozenset((geometry.names[a], geometry.names[b])) for a, b in pairs]
    wanted = [(*pair, mu) for pair, mu, name in zip(pairs, own, names, strict=True) if name not in said]
    groups = geometry.links if by_link else tuple(range(len(geometry.links)))
    new = shape_friction(wanted, np.asarray(geometry.friction), groups, _preferred(model))
    return replace(model, geometry=replace(geometry, friction=new))


def pairs_of_their_own(model: Model) -> Collection[frozenset[str]]:
    """Names of the shapes of pairs whose friction does not come from the shapes."""
    geometry, usual = model.geometry, default_numbers(model)[0]["friction"]
    return {
        frozenset((geometry.names[a], geometry.names[b]))
        for (a, b), mu, own in zip(model.contacts.pairs, model.contacts.friction, usual, strict=True)
        if mu != own
    }


def _preferred(model: Model) -> list[int]:
    """Of each shape, how readily its friction is raised: rather a simple shape's than a mesh's, rather one that has some."""
    return [
        2 * (shape == "points") + bool(friction == 0)
        for shape, friction in zip(model.geometry.shapes, model.geometry.friction, strict=True)
    ]


def shape_friction(
    wanted: Sequence[tuple[int, int, float]], friction: np.ndarray, groups: Sequence[int], preferred: Sequence[int]
) -> np.ndarray:
    """Friction of shapes whose larger one is that of each pair (a, b, mu), changed as little as that allows.

    No shape may exceed the least friction of its pairs, and with this much a solution exists if there is any. So what is
    above is lowered, and where both are then too low for a pair, one that may is raised. Shapes of a group are equal.
    """
    members: dict[int, list[int]] = {}
    for shape, group in enumerate(groups):
        members.setdefault(group, []).append(shape)
    least = dict.fromkeys(members, np.inf)
    for a, b, mu in wanted:
        for shape in (a, b):
            least[groups[shape]] = min(least[groups[shape]], mu)
    new = np.array(friction)
    for group, own in members.items():
        if np.isfinite(least[group]):
            new[own] = min(*friction[own], least[group])
    for a, b, mu in wanted:
        able = [shape for shape in (a, b) if least[groups[shape]] == mu]
        if max(new[a], new[b]) < mu and able:
            new[members[groups[min(able, key=lambda shape: preferred[shape])]]] = mu
    return new
