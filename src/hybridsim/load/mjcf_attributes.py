"""Numbers as attributes of MJCF elements."""

import numpy as np
from lxml import etree

from .mjcf_fields import Flag

Element = etree._Element


def put(element: Element, attribute: str, values: np.ndarray | np.floating, unit: float = 1.0) -> None:
    """Writes numbers, each with the digits that give it back; those that did not change keep their text.

    More numbers may stand behind them, such as the second and third coefficient of friction: these stay.
    """
    values = np.ravel(values)
    old = element.get(attribute, "").split()
    new = [str(value / unit) for value in values]
    for i, (word, value) in enumerate(zip(old, values, strict=False)):
        if float(word) * unit == value:
            new[i] = word
    element.set(attribute, " ".join(new + old[len(new) :]))


def put_range(
    element: Element, attribute: str, switch: str, limits: np.ndarray, switched: Flag, unit: float = 1.0
) -> None:
    """A range, or none where both ends are infinite; MJCF has none with one end. `switched`: is it on now?"""
    limited = bool(np.all(np.isfinite(limits)))
    if limited:
        put(element, attribute, limits, unit)
    if limited != switched and limited == np.any(np.isfinite(limits)):
        element.set(switch, "true" if limited else "false")


def drop(element: Element, *attributes: str) -> None:
    for attribute in attributes:
        element.attrib.pop(attribute, None)


def last_or_new(root: Element, tag: str) -> Element:
    """The last child of that name, whose word counts in MJCF, made if there is none."""
    found = root.findall(tag)
    return found[-1] if found else etree.SubElement(root, tag)
