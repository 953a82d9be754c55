"""The weights of networks: what training may change, without the scales and constants that come from data or the user."""

from dataclasses import fields
from typing import Any

import equinox as eqx

from .acting import Site
from .networks.custom import Own
from .networks.layers import InputLayer, OutputLayer
from .networks.linear import Matrix

_FIXED = {InputLayer: ("shift", "scale"), OutputLayer: ("gain",), Matrix: ("gain",)}
_FIXED |= {Own: ("shift", "scale", "gain"), Site: ("constants",)}


def weights(tree: Any) -> list:
    """All leaves that are weights, in the order of the tree; also of a tree like it with other leaves."""
    if isinstance(tree, eqx.Module):
        fixed = _FIXED.get(type(tree), ())
        own = [f.name for f in fields(tree) if f.name not in fixed and not f.metadata.get("static", False)]
        return [leaf for name in own for leaf in weights(getattr(tree, name))]
    if isinstance(tree, dict):
        return [leaf for key in sorted(tree) for leaf in weights(tree[key])]
    if isinstance(tree, list | tuple):
        return [leaf for part in tree for leaf in weights(part)]
    return [] if tree is None else [tree]
