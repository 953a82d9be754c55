"""Hybrids of every form that can be exported, with random weights, and their modules."""

import importlib.util
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np

import hybridsim as hs
from augment.weights import shaken
from hybridsim.augment.acting import with_sites

SMALL = hs.MLP((5,), "tanh")


def friction(*inputs: str, entities: str = "*") -> hs.Augment:
    return hs.Augment("joint.friction", inputs, hs.Bounded(SMALL, 0.95), entities=entities, mode="scale")


def force(*inputs, network=SMALL, **options) -> hs.Augment:
    return hs.Augment("joint.passive_force", inputs, network, **options)


FORMS = {
    "all in one": [
        friction("joint.velocity", "joint.position", "joint.command", entities="joint1"),
        hs.Augment("joint.passive_force", "joint.position", hs.Conservative(SMALL), entities="joint2"),
        force("joint.velocity[joint2]", "joint.command", network=hs.Bounded(SMALL, 0.4), entities="joint1"),
        force("joint.command[joint1]", entities="joint2"),
    ],
    "friction": [friction("joint.velocity")],
    "friction twice": [friction("joint.position"), friction("joint.velocity", entities="joint2")],
    "potential": [hs.Augment("joint.passive_force", "joint.position", hs.Conservative(hs.MLP((5, 4), "tanh")))],
    "bounded force": [force("joint.velocity[joint2]", "joint.command", network=hs.Bounded(SMALL, 0.4))],
    "plain force": [force("joint.position[*]", "joint.velocity[*]")],
    "deep and shared": [force("joint.velocity", network=hs.MLP((5, 4), "tanh", bias=False), apply="shared")],
}


def hybrid(plain: hs.Model, augments: list[hs.Augment], seed: int = 0, size: float = 0.7) -> hs.Model:
    """Networks with random weights and a random normalisation."""
    rng = np.random.default_rng(seed)
    model = shaken(hs.Blueprint(*augments).graft(plain, contact=None), seed, size)
    sites = []
    for site in hs.sites_of(model):
        signature = site.plan.signature
        samples = rng.normal(0.4, 1.5, (20, signature.input_size))
        network = site.network.normalised(samples, rng.uniform(0.5, 2.0, signature.output_size))
        sites.append(replace(site, network=network))
    return with_sites(model, sites)


def imported(folder: Path) -> ModuleType:
    """The module that was written into the folder."""
    spec = importlib.util.spec_from_file_location("augmentation", folder / "augmentation.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
