"""The networks of a model as JSON, and made again: built as their plan says, then given their numbers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from ...model import VARIABLES, Model
from ..acting import Networks, Site
from ..blueprint import Augment
from ..wiring import Plan
from .budget import Budget
from .errors import briefly, damaged
from .fields import Field
from .numbers import Numbers, is_number, leaf_names
from .plans import augment_from_json, augment_to_json, plan_from_json, plan_to_json
from .variables import shape_of


def networks_to_json(networks: Networks) -> dict[str, Any]:
    augments: list[Augment] = []
    for site in networks.sites:
        if site.plan.augment not in augments:
            augments.append(site.plan.augment)
    return {
        "variables": [name for name, _ in networks.sizes],
        "augments": [augment_to_json(augment) for augment in augments],
        "networks": [
            {
                "augment": augments.index(site.plan.augment),
                **plan_to_json(site.plan),
                "constants": [np.shape(constant)[1] for constant in site.constants],
            }
            for site in networks.sites
        ],
    }


def networks_from_json(field: Field, model: Model, numbers: Numbers, own: Mapping[str, Any]) -> Networks:
    """The networks of a model that has none yet."""
    row = field.record("variables", "augments", "networks")
    names = row["variables"].names()
    if unknown := [name for name in names if name not in VARIABLES]:
        raise row["variables"].wrong(f"has {', '.join(map(repr, unknown))}, which no step has")
    sizes = tuple((name, shape_of(model, name)) for name in names)
    augments = [augment_from_json(item, own) for item in row["augments"].items()]
    maker = _Maker(augments, {name: int(np.prod(shape)) for name, shape in sizes}, numbers)
    return Networks(tuple(maker.site(i, item) for i, item in enumerate(row["networks"].items())), sizes)


@dataclass(frozen=True)
class _Maker:
    augments: list[Augment]
    sizes: Mapping[str, int]
    numbers: Numbers

    def site(self, i: int, field: Field) -> Site:
        row = field.record("augment", "entities", "rows", "inputs", "outputs", "constants")
        augment = self.augments[row["augment"].integer(0, len(self.augments))]
        widths = [width.integer(0, 2**31) for width in row["constants"].items()]
        plan = plan_from_json(row, augment, widths, self.sizes)
        constants = tuple(self.numbers.take(f"constant/{i}/{j}", (plan.rows, width)) for j, width in enumerate(widths))
        return Site(self._network(i, plan), constants, plan)

    def _network(self, i: int, plan: Plan) -> Any:
        prefix = f"network/{i}"
        # No honest network starts with many more random numbers than it has weights.
        rng = Budget(4 * self.numbers.count(f"{prefix}/") + 1000)
        try:
            network = plan.augment.network.build(plan.signature, rng, at_zero=False)
        except Exception as problem:
            raise damaged(f"the network at {plan} cannot be made again ({briefly(problem)})") from problem
        leaves = [self._leaf(name, leaf) for name, leaf in leaf_names(network, prefix)]
        return jax.tree.unflatten(jax.tree.structure(network), leaves)

    def _leaf(self, name: str, leaf: Any) -> Any:
        if not is_number(leaf):
            return leaf
        found = self.numbers.take(name, np.shape(leaf), leaf)
        return found.item() if isinstance(leaf, bool | int | float) else found
