"""Random weights, so that laws are tested for all of them and not for those that a network starts with."""

from dataclasses import replace

import jax
import numpy as np

import hybridsim as hs
from hybridsim.augment.networks import InputLayer, Layer, OutputLayer


def shaken(model: hs.Model, seed: int = 0, size: float = 1.0) -> hs.Model:
    """The model with normally distributed numbers added to all weights and biases of its networks."""
    rng = np.random.default_rng(seed)

    def noisy(x):
        return None if x is None else np.asarray(x) + size * rng.standard_normal(np.shape(x))

    def shake(node):
        if isinstance(node, InputLayer | Layer | OutputLayer):
            return replace(node, weight=noisy(node.weight), bias=noisy(node.bias))
        return noisy(node)

    def is_layer(node):
        return isinstance(node, InputLayer | Layer | OutputLayer)

    sites = tuple(
        replace(site, network=jax.tree.map(shake, site.network, is_leaf=is_layer)) for site in model.augmentation.sites
    )
    return replace(model, augmentation=replace(model.augmentation, sites=sites))
