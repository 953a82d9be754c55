"""What a structure must say: a network around another one, such that a law holds whatever the weights are."""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import equinox as eqx
import numpy as np
from jaxtyping import Float

from ...spatial import Array, pick
from ..inputs import Input
from ..networks import GRU, LSTM, Architecture, Custom, Network
from ..signature import Block, Signature

Law = Literal["power", "potential", "bound", "parity", "rest", "momentum", "frame"]


@dataclass(frozen=True)
class Structure(Architecture):
    """A network around another one. The networks within are called with the same vector, what is hidden included; only
    the innermost one does not see that."""

    network: Architecture
    law: ClassVar[Law]
    """What it promises."""
    keeps: ClassVar[frozenset[Law]]
    """Promises of networks within that still hold outside of it, or that are meant for what it is made of."""
    may_remember: ClassVar[bool] = True
    """Whether the law makes sense for a network with a memory."""

    def __post_init__(self):
        if not isinstance(self.network, Architecture):
            raise TypeError(
                f"{type(self).__name__}: the network is {self.network!r}; give hs.MLP(...), hs.GRU(...) and so on, or a "
                "module of your own as hs.Custom(module)"
            )
        object.__setattr__(self, "starts_at_zero", self.network.starts_at_zero)
        for inner in layers(self.network):
            if isinstance(inner, Structure) and inner.law not in self.keeps:
                raise ValueError(_broken(self, inner))
            if not self.may_remember and _remembers(inner):
                raise ValueError(self._forgetful())

    def _forgetful(self) -> str:
        return (
            f"{type(self).__name__}: the law is about a function of the inputs alone, but the network within has a memory, "
            "so that its output depends on the past too; use hs.MLP or hs.Linear, with hs.history(...) as inputs if need be"
        )

    def needs(self, outputs: tuple[str, ...]) -> tuple[Input, ...]:
        return tuple(dict.fromkeys((*map(Input, self.known(outputs)), *self.network.needs(outputs))))

    def known(self, outputs: tuple[str, ...]) -> tuple[str, ...]:
        """Variables of the entities it acts on that it must know itself."""
        return ()

    def kept(self, left: frozenset[str]) -> Architecture | None:
        inner = self.network.kept(left)
        return None if inner is None else replace(self, network=inner)

    def check(self, signature: Signature, mode: str, together: bool) -> None:
        self.demand(signature, mode, together)
        self.network.check(self.inside(signature), mode, together)

    def demand(self, signature: Signature, mode: str, together: bool) -> None:
        """Raise a ValueError where this law cannot hold or makes no sense."""
        return

    def inside(self, signature: Signature) -> Signature:
        """What the network within is given and must give."""
        return signature

    def build(self, signature: Signature, rng: np.random.Generator, at_zero: bool) -> "Structured":
        inside = self.inside(signature)
        if isinstance(self.network, Structure):
            network: Structured = self.network.build(inside, rng, at_zero)
        else:
            network = Shown(self.network.build(inside.without_hidden(), rng, at_zero), inside)
        if not self.may_remember and network.memory(float) is not None:
            raise ValueError(self._forgetful())
        known = tuple(need.name for need in self.needs(tuple(block.name for block in signature.outputs)))
        return self.around(network, signature, known)

    @abstractmethod
    def around(self, network: "Structured", signature: Signature, known: tuple[str, ...]) -> "Structured":
        """The structure with weights in it."""


class Structured(Network):
    """A structure with weights in it."""

    network: Any
    """Another one of these; the innermost is `Shown`, which holds a network of any other kind."""
    signature: Signature = eqx.field(static=True)
    """What it is called with, and what it gives."""
    known: tuple[str, ...] = eqx.field(static=True, default=())
    """Variables that it, or one within, must know even where the network does not look at them."""

    def memory(self, dtype) -> Any:
        return self.network.memory(dtype)

    def normalised(self, x, gain) -> "Structured":
        return replace(self, network=self.network.normalised(x, gain))

    def without(self, labels: frozenset[str]) -> "Structured":
        """The innermost network loses them; what a structure has to know becomes hidden."""

        def must_stay(block: Block) -> bool:
            return block.name in self.known and block.delays == (0,)

        kept = [block for block in self.signature.inputs if block.label not in labels or must_stay(block)]
        return self.fed(tuple(replace(block, hidden=True) if block.label in labels else block for block in kept))

    def fed(self, inputs: tuple[Block, ...]) -> "Structured":
        """The same for inputs of which some are gone or newly hidden."""
        signature = replace(self.signature, inputs=inputs)
        return replace(self, signature=signature, network=self.network.fed(self.reshaped(inputs)))

    def reshaped(self, inputs: tuple[Block, ...]) -> tuple[Block, ...]:
        """The inputs of the network within."""
        return inputs


class Shown(Structured):
    """The innermost network, which sees only what is not hidden."""

    def __call__(self, x, memory):
        places = self.signature.seen
        return self.network(x if len(places) == len(x) else pick(x, places), memory)

    def normalised(self, x, gain):
        return replace(self, network=self.network.normalised(x[:, self.signature.seen], gain))

    def fed(self, inputs):
        seen = {block.label for block in inputs if not block.hidden}
        gone = frozenset(b.label for b in self.signature.inputs if not b.hidden and b.label not in seen)
        network = self.network.without(gone) if gone else self.network
        return replace(self, network=network, signature=replace(self.signature, inputs=inputs))


def layers(network: Architecture) -> Iterator[Architecture]:
    """A network and all those within."""
    yield network
    if isinstance(network, Structure):
        yield from layers(network.network)


def own_blocks(signature: Signature, name: str) -> list[Block]:
    """A variable's present value at each of the entities that the network acts on, in their order."""
    found: dict[int, Block] = {}
    for block in signature.inputs:
        if block.name == name and block.own is not None and block.delays == (0,) and not block.cyclic:
            found.setdefault(block.own, block)
    return [found[i] for i in sorted(found)]


def own_places(signature: Signature, name: str) -> np.ndarray:
    slices = [signature.slices[block.label] for block in own_blocks(signature, name)]
    return np.concatenate([np.zeros(0, dtype=int), *(np.arange(s.start, s.stop) for s in slices)])


def own_value(signature: Signature, name: str, x: Float[Array, " inputs"]) -> Float[Array, " numbers"]:
    return pick(x, own_places(signature, name))


def check_output(structure: Structure, signature: Signature, allowed: tuple[str, ...], mode: str) -> None:
    """That it gives one of these variables, as it is and not as a factor."""
    own = type(structure).__name__
    names = [block.name for block in signature.outputs]
    if len(names) != 1 or names[0] not in allowed:
        raise ValueError(f"{own}: the output is {', '.join(names)}, but this law is about one of: {', '.join(allowed)}")
    if mode == "scale":
        raise ValueError(
            f"{own}: mode='scale' multiplies a force by what the network gives, which says nothing of the law any more; "
            "use mode='add' or 'replace'"
        )


def _remembers(network: Architecture) -> bool:
    return isinstance(network, GRU | LSTM) or (isinstance(network, Custom) and hasattr(network.module, "memory"))


def _broken(outer: Structure, inner: Structure) -> str:
    a, b = type(outer).__name__, type(inner).__name__
    said = f"{a}({b}(...)) would break the law of {b}"
    if inner.law == "momentum":
        return f"{said}: ActionReaction must be outermost" + (f": {b}({a}(...))" if outer.law in inner.keeps else "")
    if outer.law in inner.keeps:
        return f"{said}: put {a} inside: {b}({a}(...))"
    return f"{said}; the two cannot be combined"
