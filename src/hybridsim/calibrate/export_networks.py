"""The networks of a model as plain numbers, each at one joint, for programs that know nothing of HybridSim."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NoReturn

import numpy as np
from jaxtyping import Float

from ..augment import Site, sites_of
from ..augment.entities import rows_of
from ..augment.networks import InputLayer, Layer, OutputLayer
from ..augment.networks.mlp import Perceptron
from ..augment.structure.bounded import Limited
from ..augment.structure.conservative import Potential
from ..augment.structure.interface import Shown
from ..augment.wiring import Wire
from ..model import Model

EXPORTABLE = (
    "what can be exported are networks at joint.friction (mode='scale') or joint.passive_force (mode='add'), at joints of "
    "one freedom, each or shared, that look at the present joint.position, joint.velocity or joint.command: "
    "hs.MLP(..., 'tanh'), alone or in hs.Bounded, or at joint.passive_force in hs.Conservative"
)

_MODES = {"joint.friction": "scale", "joint.passive_force": "add"}
_INPUTS = {"joint.position": "position", "joint.velocity": "velocity", "joint.command": "command"}


@dataclass(frozen=True, eq=False)
class JointNetwork:
    """One network at one joint: layers between a few variables and one number, y."""

    joint: str
    acts_on: Literal["friction", "force"]
    """The coefficient becomes (1 + y) times as large; or y is added to the joint force [N m or N]."""
    inputs: tuple[tuple[str, str], ...]
    """"position", "velocity" or "command", and of which joint."""
    layers: tuple[tuple[Float[np.ndarray, "_ _"], Float[np.ndarray, " _"]], ...]
    """Weight and bias; tanh follows each but the last. The normalisation of inputs and output is part of them."""
    limit: float | None
    """y = limit tanh(y / limit)."""
    is_potential: bool
    """Whether y is minus the derivative of what the network gives."""


def joint_places(model: Model) -> dict[str, tuple[int, int]]:
    """Of each joint that has one freedom of its own its place in q and in qd."""
    position, velocity = (rows_of(model, name, ()) for name in ("joint.position", "joint.velocity"))
    return {
        joint: (int(position[joint].item()), int(places.item()))
        for joint, places in velocity.items()
        if places.size == 1 and position[joint].size == 1
    }


def joint_networks(model: Model) -> tuple[JointNetwork, ...]:
    """All networks of the model; a ValueError says which of them cannot be written as plain numbers, and why."""
    sites = sites_of(model)
    if not sites:
        raise ValueError(f"this model has no networks to export; {EXPORTABLE}")
    return tuple(network for site in sites for network in _of_site(model, site))


def _of_site(model: Model, site: Site) -> Iterator[JointNetwork]:
    plan = site.plan
    if len(plan.outputs) != 1 or plan.outputs[0].name not in _MODES:
        _refuse(site, f"it changes {', '.join(plan.augment.outputs)}")
    (output,) = plan.outputs
    if plan.mode != _MODES[output.name]:
        _refuse(site, f"its mode is {plan.mode!r}")
    if output.places.shape[1] != 1:
        _refuse(site, f"it gives {output.places.shape[1]} numbers at once")
    wires = [wire for wire in plan.inputs if isinstance(wire, Wire) and wire.name in _INPUTS]
    for wire in plan.inputs:
        if wire not in wires:
            _refuse(site, f"it looks at {wire.label}")
    if special := [wire.label for wire in wires if wire.delays != (0,) or wire.cyclic or wire.hidden]:
        _refuse(site, f"it looks at {', '.join(special)}, which is not the present value of a variable")

    limit, is_potential, inner = _unwrapped(site)
    if is_potential and plan.signature.input_size != 1:
        _refuse(site, f"its potential has {plan.signature.input_size} inputs instead of the joint's position alone")
    layers = _layers(inner)
    if not all(np.all(np.isfinite(numbers)) for layer in layers for numbers in layer):
        _refuse(site, "some of its weights are not finite numbers")
    for row in range(plan.rows):
        yield JointNetwork(
            joint=_joint(model, site, output, row, 0),
            acts_on="friction" if output.name == "joint.friction" else "force",
            inputs=tuple(
                (_INPUTS[wire.name], _joint(model, site, wire, row, column))
                for wire in wires
                for column in range(wire.places.shape[1])
            ),
            layers=layers,
            limit=limit,
            is_potential=is_potential,
        )


def _unwrapped(site: Site) -> tuple[float | None, bool, Perceptron]:
    """The limit, whether it is a potential, and the layers within."""
    limit, is_potential, network = None, False, site.network
    if isinstance(network, Limited):
        limit, network = float(network.limit), network.network
    elif isinstance(network, Potential):
        is_potential, network = True, network.network
    inner = network.network if isinstance(network, Shown) else network
    if not isinstance(inner, Perceptron) or inner.activation != "tanh":
        _refuse(site, f"its network is {site.plan.augment.network}")
    return limit, is_potential, inner


def _joint(model: Model, site: Site, wire: Wire, row: int, column: int) -> str:
    """Whose number of the variable it is."""
    place = wire.places.array[row, column]
    (joint,) = (name for name, places in rows_of(model, wire.name, ()).items() if place in places)
    if joint not in joint_places(model):
        _refuse(site, f"joint {joint} has not one freedom of its own, but several, or copies another joint")
    return joint


def _layers(network: Perceptron) -> tuple[tuple[np.ndarray, np.ndarray], ...]:
    """Weights and biases, so that W (x - shift) / scale + b becomes W' x + b', and gain (W h + b) becomes W'' h + b''."""
    first, last = network.first, network.last
    numbers = [_numbers(layer) for layer in (first, *network.middle, last)]
    shift, scale, gain = (np.asarray(x, dtype=np.float64) for x in (first.shift, first.scale, last.gain))
    weight, bias = numbers[0]
    numbers[0] = weight / scale, bias - (weight / scale) @ shift
    weight, bias = numbers[-1]
    numbers[-1] = gain[:, None] * weight, gain * bias
    return tuple(numbers)


def _numbers(layer: InputLayer | Layer | OutputLayer) -> tuple[np.ndarray, np.ndarray]:
    weight = np.asarray(layer.weight, dtype=np.float64)
    return weight, np.zeros(len(weight)) if layer.bias is None else np.asarray(layer.bias, dtype=np.float64)


def _refuse(site: Site, why: str) -> NoReturn:
    raise ValueError(f"the network at {site.plan} cannot be exported: {why}; {EXPORTABLE}")
