"""Single pairs in MJCF: <contact><pair geom1 geom2 friction>, which touch whatever the filters say.

They may have a friction that the friction of geoms cannot give them. Their margin, gap, solref and solimp belong to
MuJoCo's solver and are not read, like those of geoms.
"""

from collections.abc import Callable, Mapping

import mujoco
import numpy as np
from lxml import etree

from .mjcf_attributes import Element, last_or_new, put
from .mjcf_geoms import collides
from .mjcf_source import Source, listed

SLIDING = 2
"""How many coefficients of a <pair> are of sliding; those of spinning and rolling follow."""


def read_pairs(source: Source, pieces: Callable[[int], list[str]]) -> tuple[list[tuple[str, str, float]], list[str]]:
    """Names of two shapes with the friction of their sliding, and a note on what is left out.

    `pieces` gives the names of the shapes that stand for a geom. Of two frictions along the two tangents the first is used.
    """
    m = source.model
    pairs, uneven = [], []
    for i in range(m.npair):
        geoms = int(m.pair_geom1[i]), int(m.pair_geom2[i])
        if not all(collides(source, geom) for geom in geoms):
            continue
        friction = float(m.pair_friction[i, 0]) if m.pair_dim[i] > 1 else 0.0
        if m.pair_dim[i] > 1 and m.pair_friction[i, 1] != friction:
            uneven.append(m.pair(i).name or " with ".join(m.geom(geom).name for geom in geoms))
        pairs += [(a, b, friction) for a in pieces(geoms[0]) for b in pieces(geoms[1])]
    note = listed("second sliding friction of a contact pair, first one used", uneven)
    return pairs, [note] if note else []


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
