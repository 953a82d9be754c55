"""Augmentations and the plans that came of them as JSON.

Plans are written out, with the places of every wire, and not made again from their augmentations: after pruning they have
fewer inputs than those ask for.
"""

from collections.abc import Mapping
from typing import Any, get_args

import numpy as np

from ..blueprint import Apply, Augment, Mode
from ..inputs import Constant, Input
from ..networks import Architecture
from ..wiring import Given, Places, Plan, Wire
from .architectures import from_json, to_json
from .errors import briefly, damaged
from .fields import Field

DEEPEST = 10**6
"""No network looks back further [steps]."""


def augment_to_json(augment: Augment) -> dict[str, Any]:
    return {
        "outputs": list(augment.outputs),
        "inputs": [_input_to_json(x) for x in augment.inputs],
        "network": to_json(augment.network, f"the network at {', '.join(augment.outputs)}"),
        "entities": augment.entities,
        "apply": augment.apply,
        "mode": augment.mode,
    }


def augment_from_json(field: Field, own: Mapping[str, Any]) -> Augment:
    row = field.record("outputs", "inputs", "network", "entities", "apply", "mode")
    network = from_json(row["network"], own)
    if not isinstance(network, Architecture):
        raise row["network"].wrong("is no architecture of a network")
    inputs = [_input_from_json(x) for x in row["inputs"].items()]
    apply = row["apply"].chosen({what: what for what in get_args(Apply)}, "way to apply a network")
    mode = row["mode"].chosen({what: what for what in get_args(Mode)}, "mode")
    try:
        return Augment(row["outputs"].names(), inputs, network, row["entities"].text(), apply, mode)
    except ValueError as problem:
        raise field.wrong(f"cannot be ({briefly(problem)})") from None


def _input_to_json(x: Input | Constant) -> dict[str, Any]:
    if isinstance(x, Constant):
        return {"constant": x.name, "values": [[pattern, list(values)] for pattern, values in x.values]}
    return {
        "variable": x.name,
        "entities": x.entities,
        "delays": [int(delay) for delay in x.delays],
        "cyclic": x.cyclic,
    }


def _input_from_json(field: Field) -> Input | Constant:
    if isinstance(field.value, dict) and "constant" in field.value:
        row = field.record("constant", "values")
        pairs = [item.items() for item in row["values"].items()]
        if any(len(pair) != 2 for pair in pairs):
            raise row["values"].wrong("must be pairs of a pattern and its numbers")
        values = tuple((pattern.text(), tuple(x.number() for x in given.items())) for pattern, given in pairs)
        return Constant(row["constant"].text(), values)
    row = field.record("variable", "entities", "delays", "cyclic")
    entities = None if row["entities"].value is None else row["entities"].text()
    return Input(row["variable"].text(), entities, _delays(row["delays"]), row["cyclic"].flag())


def plan_to_json(plan: Plan) -> dict[str, Any]:
    return {
        "entities": list(plan.entities),
        "rows": int(plan.rows),
        "inputs": [_wire_to_json(wire) for wire in plan.inputs],
        "outputs": [_wire_to_json(wire) for wire in plan.outputs],
    }


def plan_from_json(row: dict[str, Field], augment: Augment, widths: list[int], sizes: Mapping[str, int]) -> Plan:
    """`widths` of the site's constants, `sizes` of the variables of the model's step."""
    rows = row["rows"].integer(1, 2**31)
    inputs = tuple(_wire_from_json(wire, rows, widths, sizes) for wire in row["inputs"].items())
    outputs = tuple(_wire_from_json(wire, rows, widths, sizes) for wire in row["outputs"].items())
    labels = [wire.label for wire in inputs]
    if len(set(labels)) < len(labels):
        raise row["inputs"].wrong("has an input twice")
    if tuple(getattr(wire, "name", None) for wire in outputs) != augment.outputs:
        raise row["outputs"].wrong("are not the outputs of the augmentation")
    wires = tuple(wire for wire in outputs if isinstance(wire, Wire) and wire.delays == (0,) and not wire.cyclic)
    if len(wires) < len(outputs):
        raise row["outputs"].wrong("are changed now and as they are, so without delays or cyclic")
    return Plan(augment, row["entities"].names(), inputs, wires, rows)


def _wire_to_json(wire: Wire | Given) -> dict[str, Any]:
    if isinstance(wire, Given):
        return {"constant": wire.label, "place": int(wire.place)}
    return {
        "variable": wire.name,
        "label": wire.label,
        "delays": [int(delay) for delay in wire.delays],
        "cyclic": wire.cyclic,
        "hidden": wire.hidden,
        "own": None if wire.own is None else int(wire.own),
        "places": wire.places.array.tolist(),
    }


def _wire_from_json(field: Field, rows: int, widths: list[int], sizes: Mapping[str, int]) -> Wire | Given:
    if isinstance(field.value, dict) and "constant" in field.value:
        given = field.record("constant", "place")
        place = given["place"].integer(0, len(widths))
        return Given(given["constant"].text(), widths[place], place)
    row = field.record("variable", "label", "delays", "cyclic", "hidden", "own", "places")
    size = row["variable"].chosen(sizes, "variable in the model's step")
    return Wire(
        row["variable"].text(),
        row["label"].text(),
        _places(row["places"], rows, size),
        _delays(row["delays"]),
        row["cyclic"].flag(),
        row["hidden"].flag(),
        None if row["own"].value is None else row["own"].integer(0, 2**31),
    )


def _places(field: Field, rows: int, size: int) -> Places:
    found = field.value
    table = isinstance(found, list) and all(isinstance(line, list) for line in found)
    if not table or len(found) != rows or len({len(line) for line in found}) > 1:
        raise field.wrong(f"must be a table of {rows} rows")
    if not all(type(x) is int and 0 <= x < size for line in found for x in line):
        raise field.wrong(f"must be whole numbers from 0 to {size - 1}, places in the variable")
    return Places.of(np.array(found, dtype=np.int64).reshape(rows, -1 if found[0] else 0))


def _delays(field: Field) -> tuple[int, ...]:
    found = tuple(item.integer(0, DEEPEST + 1) for item in field.items())
    if not found:
        raise damaged(f"model.json: {field.place} is empty")
    return found
