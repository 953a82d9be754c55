"""Putting networks into a model."""

from dataclasses import replace

import numpy as np

from ..contact import Contact
from ..model import Model, ModelError
from ..simulate import names
from .acting import Networks, Site, sites_of
from .blueprint import Blueprint
from .wiring import plans


def graft(blueprint: Blueprint, model: Model, key: int, contact: Contact | None) -> Model:
    marks = {mark.name: mark for mark in names(replace(model, augmentation=None), contact)}
    rng = np.random.default_rng(_seed(key))
    before = sites_of(model)
    sites = [
        _site(plan, constants, rng)
        for augment in blueprint.augments
        for plan, constants in plans(augment, model, marks)
    ]
    for site in before:
        if missing := site.plan.names - set(marks):
            raise ModelError(
                f"the model has a network at {site.plan} which needs {', '.join(sorted(missing))}, but with this contact "
                "model there is no such variable; pass the same contact= to every graft"
            )
    sizes = tuple((mark.name, mark.shape) for mark in marks.values())
    return replace(model, augmentation=Networks((*before, *sites), sizes))


def _seed(key) -> int:
    if isinstance(key, bool) or not isinstance(key, int | np.integer) or key < 0:
        raise ValueError(f"graft: key is {key!r}, but must be a whole number, 0 or more: the seed of the weights")
    return int(key)


def _site(plan, constants, rng) -> Site:
    network = plan.augment.network
    at_zero = plan.mode != "replace" and network.starts_at_zero
    try:
        return Site(network.build(plan.signature, rng, at_zero), tuple(constants), plan)
    except ValueError as problem:
        raise ModelError(f"{plan.augment}: {problem}") from problem
