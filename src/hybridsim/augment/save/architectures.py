"""Architectures as JSON, and back: only classes of HybridSim, looked up among those that there are.

A structure is a dataclass around another architecture, so values nest. A module of the user's own is code, which no file
holds: it is written by its name, and the user gives it again.
"""

import dataclasses
import inspect
import math
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np

from .. import networks, structure
from ..networks import Architecture, Custom
from .errors import briefly, damaged
from .fields import Field

LARGEST = 10**7
"""No layer is wider: a small file must not ask for all memory there is."""


@cache
def known_classes() -> dict[str, type]:
    """The architectures of HybridSim by name; those of the user are not among them."""
    exported = [getattr(package, name) for package in (networks, structure) for name in package.__all__]
    kinds = [cls for cls in exported if isinstance(cls, type) and issubclass(cls, Architecture)]
    return {cls.__name__: cls for cls in kinds if dataclasses.is_dataclass(cls) and not inspect.isabstract(cls)}


def to_json(value: Any, place: str) -> Any:
    """An architecture, or a value in one."""
    if isinstance(value, Custom):
        return {"class": "Custom", "name": value.name}
    if dataclasses.is_dataclass(value) and type(value) is known_classes().get(type(value).__name__):
        fields = [field.name for field in dataclasses.fields(value) if field.init]
        return {"class": type(value).__name__} | {
            name: to_json(getattr(value, name), f"{place}.{name}") for name in fields
        }
    if isinstance(value, tuple | list):
        return [to_json(item, place) for item in value]
    if isinstance(value, np.generic):
        return to_json(value.item(), place)
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(value)}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise damaged(
        f"{place} is {value!r}, of which only its author knows how to make it again",
        "use an architecture of HybridSim, or give a module as hs.Custom(module, name=...)",
    )


def from_json(field: Field, own: Mapping[str, Any]) -> Any:
    """What `to_json` wrote; `own` are the user's modules by name."""
    value = field.value
    if isinstance(value, list):
        return tuple(from_json(item, own) for item in field.items())
    if not isinstance(value, dict):
        return value
    if set(value) == {"float"} and value["float"] in ("inf", "-inf"):
        return float(value["float"])
    if value.get("class") == "Custom":
        return _custom(field.record("class", "name")["name"], own)
    return _object(field, own)


def _object(field: Field, own: Mapping[str, Any]) -> Any:
    classes = known_classes()
    name = field.value.get("class")
    if not isinstance(name, str) or name not in classes:
        raise damaged(
            f"model.json: {field.place} is of the class {name!r}, which is none of {', '.join(sorted(classes))}",
            "install the HybridSim that wrote the file",
        )
    cls = classes[name]
    kinds = {f.name: f.type for f in dataclasses.fields(cls) if f.init}
    inner = field.record(*(key for key in ("class", *kinds) if key in field.value))
    given = {key: from_json(item, own) for key, item in inner.items() if key != "class"}
    for key, item in given.items():
        if kinds[key] is not float and _largest(item) > LARGEST:
            raise inner[key].wrong(f"is too large: no layer is wider than {LARGEST}")
    try:
        return cls(**given)
    except Exception as problem:
        raise field.wrong(f"is no {name} that can be made ({briefly(problem)})") from problem


def _largest(value: Any) -> int:
    if isinstance(value, tuple):
        return max(map(_largest, value), default=0)
    return value if type(value) is int else 0


def _custom(name: Field, own: Mapping[str, Any]) -> Custom:
    module = own.get(name.text())
    if module is None:
        given = ", ".join(map(repr, own)) or "none"
        raise damaged(
            f"it has a network of the user's own, {name.text()!r}, of which a file holds numbers but no code (given: {given})",
            f"give the module, or the function that makes it: hs.load_hybrid(path, networks={{{name.text()!r}: ...}})",
        )
    return module if isinstance(module, Custom) else Custom(module, name.text())
