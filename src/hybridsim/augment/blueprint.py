"""Blueprints: which network acts on which variable, with which inputs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import equinox as eqx

from ..contact import Contact, Impulses
from ..model import Model
from .inputs import Constant, Input, InputLike, as_input
from .networks import MLP, Architecture, Custom

Apply = Literal["each", "shared", "together"]
Mode = Literal["add", "scale", "replace"]


@dataclass(frozen=True, init=False)
class Augment:
    """One variable, or several, that depend on others in a way that is not known."""

    outputs: tuple[str, ...]
    inputs: tuple[Input | Constant, ...]
    network: Architecture
    entities: str
    """Patterns of names of the joints, links, actuators or pairs ("box/ground") concerned, separated by commas."""
    apply: Apply
    """One network for each entity; one that is shared by all; or one for all of them together. At contacts the network
    acts on every point."""
    mode: Mode
    """value + y, value (1 + y), or y."""

    def __init__(
        self,
        output: str | Sequence[str],
        inputs: InputLike | Sequence[InputLike],
        network: Architecture | eqx.Module | Callable = MLP(),
        entities: str = "*",
        apply: Apply = "each",
        mode: Mode = "add",
    ):
        outputs = (output,) if isinstance(output, str) else tuple(output)
        given = (inputs,) if isinstance(inputs, str | Input | Constant) else tuple(inputs)
        for what, value, allowed in (
            ("apply", apply, ("each", "shared", "together")),
            ("mode", mode, ("add", "scale", "replace")),
        ):
            if value not in allowed:
                raise ValueError(f"Augment({output!r}): {what} is {value!r}, but must be one of {', '.join(allowed)}")
        if not isinstance(entities, str):
            raise TypeError(f"Augment({output!r}): entities is {entities!r}; give patterns as one text: 'hip*, knee*'")
        if not outputs or len(set(outputs)) < len(outputs):
            raise ValueError(f"Augment: the outputs {outputs} must be one or more names, all different")
        a_kind = isinstance(network, type) and issubclass(network, Architecture)
        if a_kind or not (isinstance(network, Architecture) or callable(network)):
            raise TypeError(
                f"Augment({output!r}): the network is {network!r}; give hs.MLP(...), hs.GRU(...) and so on, or an Equinox "
                "module of your own, or a function that makes one"
            )
        if not isinstance(network, Architecture):
            network = Custom(network)
        object.__setattr__(self, "outputs", outputs)
        object.__setattr__(self, "inputs", tuple(map(as_input, given)))
        object.__setattr__(self, "network", network)
        object.__setattr__(self, "entities", entities)
        object.__setattr__(self, "apply", apply)
        object.__setattr__(self, "mode", mode)

    def __str__(self) -> str:
        sign = {"add": "+=", "scale": "*=", "replace": "="}[self.mode]
        where = "" if self.entities == "*" else f"[{self.entities}]"
        of = ", ".join(map(str, self.inputs))
        return f"{', '.join(self.outputs)}{where} {sign} {_title(self.network)}({of})"


def _title(network: Architecture) -> str:
    """Its kind, and what is inside of it: "Dissipative(MLP)"."""
    inner = getattr(network, "network", None)
    return type(network).__name__ + (f"({_title(inner)})" if isinstance(inner, Architecture) else "")


@dataclass(frozen=True, init=False)
class Blueprint:
    """Augmentations of one model."""

    augments: tuple[Augment, ...] = field()

    def __init__(self, *augments: Augment):
        for augment in augments:
            if not isinstance(augment, Augment):
                raise TypeError(f"a blueprint is made of hs.Augment(...), not of {augment!r}")
        object.__setattr__(self, "augments", augments)

    def graft(self, model: Model, key: int = 0, contact: Contact | None = Impulses()) -> Model:
        """The model with these networks in it, beside those that it has; `key` seeds their weights.

        A network that adds or scales starts with no effect where it can: until it is trained, the model moves as before.
        `contact` is that with which the model will be stepped, for it says which contact variables there are.
        """
        from .graft import graft

        return graft(self, model, key, contact)

    def __str__(self) -> str:
        return "\n".join(map(str, self.augments))
