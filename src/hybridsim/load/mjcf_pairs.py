"""Friction of single pairs in MJCF: <contact><pair geom1 geom2 friction>, for what the friction of geoms cannot say."""

from collections.abc import Mapping

import mujoco
import numpy as np
from lxml import etree

from .mjcf_attributes import Element, last_or_new, put

SLIDING = 2
"""How many coefficients of a <pair> are of sliding; those of spinning and rolling follow."""


def put_pairs(root: Element, model: mujoco.MjModel, friction: Mapping[tuple[str, str], float]) -> None:
    """Give pairs of geoms, by their names, a friction of their own; geoms without names in the file are left out."""
    named = {element.get("name") for element in root.iter("geom")}
    for (first, second), value in friction.items():
        if not {first, second} <= named:
            continue
        element = _pair(root, first, second)
        others = np.max([model.geom(name).friction for name in (first, second)], axis=0)
        sliding = np.full(SLIDING, value)
        put(element, "friction", sliding if "friction" in element.attrib else np.append(sliding, others[[1, 2, 2]]))
        if max(model.geom(name).condim[0] for name in (first, second)) == 1 and "condim" not in element.attrib:
            element.set("condim", "3")


def _pair(root: Element, first: str, second: str) -> Element:
    """The element of two geoms, made if there is none."""
    for element in root.iterfind("contact/pair"):
        if {element.get("geom1"), element.get("geom2")} == {first, second}:
            return element
    element = etree.SubElement(last_or_new(root, "contact"), "pair")
    element.set("geom1", first)
    element.set("geom2", second)
    return element
