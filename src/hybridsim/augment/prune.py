"""Leaving out what has vanished: inputs, and whole networks. Predictions stay the same."""

from dataclasses import replace

import jax
import numpy as np

from ..model import Model
from .acting import Site, sites_of, with_sites
from .blueprint import Augment, Blueprint
from .entities import exactly, separate
from .inputs import Input
from .networks import Architecture, InputLayer, OutputLayer, layers_of
from .wiring import Given, Plan, Wire


def prune(model: Model) -> Model:
    """The model without inputs whose weights are all zero, and without networks that always give zero."""
    sites = sites_of(model)
    left = (_smaller(site, _vanished(site)) for site in sites if not _does_nothing(site))
    return with_sites(model, [site for site in left if site is not None]) if sites else model


def without_input(model: Model, site: int, label: str) -> Model:
    """The model in which one network no longer sees one of its inputs."""
    sites = list(sites_of(model))
    smaller = _smaller(sites[site], frozenset([label]))
    sites[site : site + 1] = [] if smaller is None else [smaller]
    return with_sites(model, sites)


def without_network(model: Model, site: int) -> Model:
    return with_sites(model, [other for i, other in enumerate(sites_of(model)) if i != site])


def blueprint_of(model: Model) -> Blueprint:
    """What the model's networks are, as they are now: of a pruned model the smaller blueprint."""
    merged: list[Augment] = []
    for plan in (site.plan for site in sites_of(model)):
        last, own = (merged or [None])[-1], _with_entities(plan.augment, exactly(plan.entities))
        if last is not None and _are_one(last, own):
            merged[-1] = _with_entities(last, f"{last.entities},{own.entities}")
        else:
            merged.append(own)
    return Blueprint(*merged)


def _are_one(one: Augment, other: Augment) -> bool:
    """Whether two augmentations say the same of different entities, to each of which belongs a network."""
    alike = one.apply == "each" and _with_entities(one, other.entities) == other
    return alike and other.entities not in separate(one.entities)


def _with_entities(augment: Augment, entities: str) -> Augment:
    return Augment(augment.outputs, augment.inputs, augment.network, entities, augment.apply, augment.mode)


def _is_zero(x) -> bool:
    return x is None or not np.any(np.asarray(x))


def _does_nothing(site: Site) -> bool:
    if site.plan.mode == "replace":
        return False
    last = layers_of(site.network, OutputLayer)
    if last:
        return all(_is_zero(layer.weight) and _is_zero(layer.bias) for layer in last)
    first = layers_of(site.network, InputLayer)
    return bool(first) and all(_is_zero(layer.weight) and _is_zero(layer.bias) for layer in first)


def _vanished(site: Site) -> frozenset[str]:
    """Inputs on which nothing depends."""
    layers = layers_of(site.network, InputLayer)
    if not layers:
        return frozenset()
    deaf = [layer for layer in layers_of(site.network, OutputLayer) if _is_zero(layer.weight)]
    return frozenset(
        label
        for label in layers[0].columns
        if deaf or all(label in x.columns and _is_zero(x.weight[:, x.columns[label]]) for x in layers)
    )


def _smaller(site: Site, vanished: frozenset[str]) -> Site | None:
    """The network without these inputs; None where it then always gives zero, as an odd function of nothing."""
    if not vanished:
        return site
    plan = site.plan
    needed = {need.name for need in plan.augment.network.needs(plan.augment.outputs)}
    wires: list[Wire | Given] = []
    for wire in plan.inputs:
        if wire.label not in vanished:
            wires.append(wire)
        elif isinstance(wire, Wire) and wire.name in needed and wire.delays == (0,):
            # A structure still has to know it.
            wires.append(replace(wire, hidden=True))
    constants = tuple(site.constants[wire.place] for wire in wires if isinstance(wire, Given))
    counted = iter(range(len(constants)))
    wires = [replace(wire, place=next(counted)) if isinstance(wire, Given) else wire for wire in wires]
    seen = [wire.block() for wire in wires if not getattr(wire, "hidden", False)]
    architecture = plan.augment.network.kept(frozenset(name for block in seen for name in (block.name, block.label)))
    if architecture is None:
        return None if plan.mode != "replace" else site
    smaller = replace(plan, inputs=tuple(wires), augment=_narrowed(plan, wires, architecture))
    network = site.network.without(vanished)
    if architecture != plan.augment.network:
        # Structures have no numbers of their own, so those of the network within are all there are, in the same order.
        built = architecture.build(smaller.signature, np.random.default_rng(0), at_zero=True)
        network = jax.tree.unflatten(jax.tree.structure(built), jax.tree.leaves(network))
    return Site(network, constants, smaller)


def _narrowed(plan: Plan, wires: list[Wire | Given], network: Architecture) -> Augment:
    """The augmentation of one network with the inputs that are left."""
    given = {str(x): x for x in plan.augment.inputs}
    inputs = [given[w.label] if isinstance(w, Given) else _input(plan, w) for w in wires if not getattr(w, "hidden", 0)]
    augment = plan.augment
    return Augment(augment.outputs, inputs, network, ",".join(plan.entities), augment.apply, augment.mode)


def _input(plan: Plan, wire: Wire) -> Input:
    """The input of a wire; that of the network's own entity without its name, so that like networks look alike."""
    own = wire.own is not None and plan.entities == (wire.entity,)
    return Input(wire.name, None if own else wire.entity, wire.delays, wire.cyclic)
