"""From names and patterns to places in arrays: what one network reads and writes."""

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property

import numpy as np

from ..model import VARIABLES, Model, ModelError
from ..simulate import Mark
from .blueprint import Augment, Mode
from .entities import matching, related, rows_of
from .inputs import Constant, Input
from .signature import Block, Signature


@dataclass(frozen=True)
class Places:
    """A constant array of places that compares and hashes."""

    shape: tuple[int, ...]
    content: bytes

    @classmethod
    def of(cls, array: np.ndarray) -> "Places":
        return cls(array.shape, np.ascontiguousarray(array, dtype=np.int64).tobytes())

    @cached_property
    def array(self) -> np.ndarray:
        return np.frombuffer(self.content, dtype=np.int64).reshape(self.shape)


@dataclass(frozen=True)
class Wire:
    """A block of numbers between a variable and a network."""

    name: str
    label: str
    places: Places
    """In the flattened variable: rows, numbers."""
    delays: tuple[int, ...] = (0,)
    cyclic: bool = False
    hidden: bool = False
    own: int | None = None
    """As of `Block`."""

    @property
    def entity(self) -> str | None:
        """Whose it is; None for the world, and for the own entity of a shared network."""
        return self.label[self.label.index("[") + 1 : self.label.rindex("]")] if "[" in self.label else None

    @property
    def turns(self) -> bool:
        """Whether there is a quaternion in it: no other joints than spherical and free ones have so many coordinates."""
        return VARIABLES[self.name].axis == "coordinate" and self.places.shape[1] in (4, 7)

    def block(self) -> Block:
        size = self.places.shape[1] * len(self.delays) * (2 if self.cyclic else 1)
        plain = self.delays == (0,) and not self.cyclic
        kind = VARIABLES[self.name].kind if plain else "scalar"
        return Block(self.name, self.label, size, kind, self.hidden, self.own, self.delays, self.cyclic)


@dataclass(frozen=True)
class Given:
    """A block of constants; their numbers are among the site's leaves."""

    label: str
    size: int
    place: int

    def block(self) -> Block:
        return Block(self.label, self.label, self.size)


@dataclass(frozen=True)
class Plan:
    """All that is static about one network in a model."""

    augment: Augment
    entities: tuple[str, ...]
    inputs: tuple[Wire | Given, ...]
    outputs: tuple[Wire, ...]
    rows: int

    @property
    def mode(self) -> Mode:
        return self.augment.mode

    @cached_property
    def names(self) -> frozenset[str]:
        """Of all variables that it reads or writes."""
        return frozenset(wire.name for wire in (*self.inputs, *self.outputs) if isinstance(wire, Wire))

    @cached_property
    def signature(self) -> Signature:
        return Signature(tuple(wire.block() for wire in self.inputs), tuple(wire.block() for wire in self.outputs))

    def __str__(self) -> str:
        return f"{', '.join(self.augment.outputs)}[{', '.join(self.entities)}]"


def plans(augment: Augment, model: Model, marks: Mapping[str, Mark]) -> list[tuple[Plan, list[np.ndarray]]]:
    """One for each network of an augmentation, with its constants."""
    for name in augment.outputs:
        _known(name, marks, augment)
        if not marks[name].changes:
            changeable = ", ".join(mark.name for mark in marks.values() if mark.changes)
            raise ModelError(
                f"{augment}: {name!r} can be read but not changed, for no step uses it; choose from: {changeable}"
            )
    tables = {name: rows_of(model, name, marks[name].shape) for name in marks}
    acting = [_among(tables[name], marks[name], marks[name].rows) for name in augment.outputs]
    chosen = [matching(table, augment.entities) for table in acting]
    if not chosen[0]:
        raise ModelError(f"{augment}: nothing matches {augment.entities!r}; there are: {', '.join(acting[0])}")
    if any(other != chosen[0] for other in chosen):
        owners = "; ".join(f"{name!r} to {', '.join(of)}" for name, of in zip(augment.outputs, chosen, strict=True))
        raise ModelError(
            f"{augment}: outputs of one network must belong to the same entities, but {owners}; give each its own Augment"
        )
    wiring = _Wiring(augment, model, marks, tables)
    if augment.apply == "each":
        return [wiring.plan([entity]) for entity in chosen[0]]
    return [wiring.plan(chosen[0])]


def _among(table: dict[str, np.ndarray], mark: Mark, rows: tuple[int, ...] | None) -> dict[str, np.ndarray]:
    """The entities all of whose rows are among these; None for all."""
    if rows is None:
        return table
    width = int(np.prod(mark.shape[1:]))
    return {entity: places for entity, places in table.items() if np.isin(places // width, rows).all()}


def _known(name: str, marks: Mapping[str, Mark], augment: Augment) -> None:
    if name not in VARIABLES:
        close = get_close_matches(name, VARIABLES, 1)
        hint = f"did you mean {close[0]!r}? " if close else ""
        raise ModelError(f"{augment}: no variable is called {name!r}; {hint}this model has: {', '.join(marks)}")
    if name not in marks:
        raise ModelError(
            f"{augment}: this model's step computes no {name!r}; it has: {', '.join(marks)} (contact variables need shapes "
            "that can touch, and depend on the contact model: blueprint.graft(model, contact=...))"
        )


@dataclass
class _Wiring:
    augment: Augment
    model: Model
    marks: Mapping[str, Mark]
    tables: Mapping[str, dict[str, np.ndarray]]

    def plan(self, entities: list[str]) -> tuple[Plan, list[np.ndarray]]:
        augment = self.augment
        outputs = [self._output(name, entities) for name in augment.outputs]
        rows = outputs[0].places.shape[0]
        inputs, constants = [], []
        given = [(x, False) for x in augment.inputs]
        # What a structure needs and a network is not given, it knows but does not show to the network.
        given += [(need, True) for need in augment.network.needs(augment.outputs)]
        for x, hidden in given:
            if isinstance(x, Constant):
                numbers = self._constant(x, entities, rows)
                inputs.append(Given(str(x), numbers.shape[1], len(constants)))
                constants.append(numbers)
            else:
                wires = self._wires(x, entities, rows, hidden)
                # A need may be among the inputs under another name: "joint.velocity", "joint.velocity[*]".
                shown = [(wire.label, wire.places) for wire in inputs if isinstance(wire, Wire) and hidden]
                inputs += [wire for wire in wires if (wire.label, wire.places) not in shown]
        labels = [wire.label for wire in inputs]
        if twice := {label for label in labels if labels.count(label) > 1}:
            raise ModelError(f"{augment}: the input {', '.join(sorted(twice))} is given twice")
        if turning := [wire.label for wire in inputs if isinstance(wire, Wire) and wire.cyclic and wire.turns]:
            raise ModelError(f"{augment}: {', '.join(turning)}: a quaternion is no angle; give the position itself")
        plan = Plan(augment, tuple(entities), tuple(inputs), tuple(outputs), rows)
        try:
            augment.network.check(plan.signature, augment.mode, augment.apply == "together")
        except ValueError as problem:
            raise ModelError(f"{augment}: {problem}") from problem
        return plan, constants

    def _output(self, name: str, entities: list[str]) -> Wire:
        found = [self.tables[name][entity] for entity in entities]
        label = f"{name}[{', '.join(entities)}]"
        if self.augment.apply == "together":
            return Wire(name, label, Places.of(np.concatenate([rows.ravel() for rows in found])[None]))
        if len({rows.shape[1] for rows in found}) > 1:
            raise ModelError(
                f"{self.augment}: a shared network needs entities of one size, but {', '.join(entities)} differ in "
                f"{name!r}; choose fewer by entities=..., or apply='each'"
            )
        return Wire(name, label, Places.of(np.concatenate(found)))

    def _wires(self, x: Input, entities: list[str], rows: int, hidden: bool) -> list[Wire]:
        self._check_order(x)
        table = self._readable(x)
        own = x.entities is None
        shared = self.augment.apply == "shared"
        if own and shared:
            rows_of_each = [self._own(x, entity)[1] for entity in entities]
            stacked = self._stack(x, entities, rows_of_each)
            owner = 0 if self._is_own(x, entities[0], entities) else None
            return [Wire(x.name, self._label(x, None), Places.of(stacked), x.delays, x.cyclic, hidden, owner)]
        if x.entities is None:
            # What belongs to several of them, such as gravity, is looked at once.
            named = list(dict(self._own(x, entity) for entity in entities).items())
        else:
            chosen = matching(table, x.entities)
            if not chosen:
                raise ModelError(f"{self.augment}: nothing matches the input {x}; there are: {', '.join(table)}")
            named = [(entity, table[entity]) for entity in chosen]
        wires = []
        for entity, places in named:
            by_point = own and places.shape[0] == rows and self.augment.apply != "together"
            places = places if by_point else np.tile(places.reshape(1, -1), (rows, 1))
            owner = entities.index(entity) if (by_point or rows == 1) and self._is_own(x, entity, entities) else None
            wires.append(Wire(x.name, self._label(x, entity), Places.of(places), x.delays, x.cyclic, hidden, owner))
        return wires

    def _readable(self, x: Input) -> dict[str, np.ndarray]:
        """Entities of an input. The force of a pair that acts by impulses is known only after the forces of all springs."""
        mark = self.marks[x.name]
        return _among(self.tables[x.name], mark, mark.known if 0 in x.delays else None)

    def _is_own(self, x: Input, entity: str, entities: list[str]) -> bool:
        """Whether a variable is one of the very entities on which the network acts."""
        of, axis = VARIABLES[self.augment.outputs[0]].axis, VARIABLES[x.name].axis
        return entity in entities and related(self.model, entity, of, axis) == [entity]

    def _label(self, x: Input, entity: str | None) -> str:
        on_world = VARIABLES[x.name].axis == "world"
        return str(Input(x.name, None if on_world else entity, x.delays, x.cyclic))

    def _own(self, x: Input, entity: str) -> tuple[str, np.ndarray]:
        """Whose an input is that belongs to the entity on which the network acts, and its places."""
        of, axis = VARIABLES[self.augment.outputs[0]].axis, VARIABLES[x.name].axis
        others, table = related(self.model, entity, of, axis), self._readable(x)
        if not others or any(other not in table for other in others):
            raise ModelError(
                f"{self.augment}: {entity!r} has no {x.name!r} of its own; say whose: '{x.name}[name]', where there are: "
                f"{', '.join(table)}"
            )
        found = [table[other] for other in others]
        places = found[0] if len(found) == 1 else np.concatenate([rows.ravel() for rows in found])[None]
        return ", ".join(others), places

    def _stack(self, x: Input, entities: list[str], found: list[np.ndarray]) -> np.ndarray:
        if len({places.shape[1] for places in found}) > 1:
            raise ModelError(
                f"{self.augment}: {x} has different sizes at {', '.join(entities)}; they cannot share a network"
            )
        counts = [len(self.tables[self.augment.outputs[0]][entity]) for entity in entities]
        return np.concatenate([p if len(p) == n else np.tile(p, (n, 1)) for p, n in zip(found, counts, strict=True)])

    def _constant(self, x: Constant, entities: list[str], rows: int) -> np.ndarray:
        numbers = []
        for entity in entities:
            found = [v for pattern, v in x.values if matching([entity], pattern)]
            if not found:
                raise ModelError(f"{self.augment}: {x} has no number for {entity!r}")
            numbers.append(found[0])
        if self.augment.apply == "together" or len(entities) == 1:
            return np.tile(np.concatenate([np.asarray(v) for v in numbers])[None], (rows, 1))
        counts = [len(self.tables[self.augment.outputs[0]][entity]) for entity in entities]
        return np.concatenate([np.tile(np.asarray(v)[None], (n, 1)) for v, n in zip(numbers, counts, strict=True)])

    def _check_order(self, x: Input) -> None:
        """What is looked at now must be known before the first output is."""
        _known(x.name, self.marks, self.augment)
        first = min(self.augment.outputs, key=list(self.marks).index)
        if 0 not in x.delays or x.name == first or x.name in self.marks[first].inputs:
            return
        raise ModelError(
            f"{self.augment}: a step computes {x.name!r} after {first!r}, so this would go in a circle: "
            f"{first} -> (rest of the step) -> {x.name} -> (network) -> {first}; use hs.previous({x.name!r}), "
            "its value one step ago"
        )
