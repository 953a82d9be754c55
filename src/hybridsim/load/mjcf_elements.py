"""Which element of an MJCF file a compiled body, joint, geom or actuator comes from."""

import mujoco
import numpy as np
from lxml import etree

Element = etree._Element


class Elements:
    """By MuJoCo's index. What is made of several or of none (replicate, attach, composite) is not there."""

    def __init__(self, root: Element, model: mujoco.MjModel):
        self.bodies: dict[int, Element] = {}
        self.joints: dict[int, Element] = {}
        self.geoms: dict[int, Element] = {}
        actuators = [element for section in root.iterfind("actuator") for element in section.iterchildren("*")]
        names = {i: model.actuator(i).name for i in range(len(model.actuator_trntype))}
        self.actuators = _matched(names, actuators)
        self._fill(model, 0, list(root.iterfind("worldbody")))

    def _fill(self, model: mujoco.MjModel, body: int, places: list[Element]) -> None:
        """`places`: the elements that hold what is in a body; for the world there may be several."""

        def inside(*tags: str) -> list[Element]:
            return [element for place in places for element in _inside(place, tags)]

        joints = range(model.body_jntadr[body], model.body_jntadr[body] + model.body_jntnum[body])
        geoms = range(model.body_geomadr[body], model.body_geomadr[body] + model.body_geomnum[body])
        self.joints |= _matched({i: model.joint(i).name for i in joints}, inside("joint", "freejoint"))
        self.geoms |= _matched({i: model.geom(i).name for i in geoms}, inside("geom"))
        children = np.flatnonzero(model.body_parentid == body).tolist()
        found = _matched({i: model.body(i).name for i in children if i > 0}, inside("body"))
        for child, element in found.items():
            self.bodies[child] = element
            self._fill(model, child, [element])


def _inside(place: Element, tags: tuple[str, ...]) -> list[Element]:
    """Elements of a body, those in its frames too. A scaled frame changes numbers on the way, so it is left out."""
    found: list[Element] = []
    for element in place.iterchildren("*"):
        if element.tag in tags:
            found.append(element)
        elif element.tag == "frame" and not {"scale", "massscale"} & set(element.attrib):
            found += _inside(element, tags)
    return found


def _matched(names: dict[int, str], elements: list[Element]) -> dict[int, Element]:
    """One after the other if they agree in number and names, otherwise by name alone."""
    if [element.get("name", "") for element in elements] == list(names.values()):
        return dict(zip(names, elements, strict=True))
    by_name = {element.get("name"): element for element in elements if element.get("name")}
    return {i: by_name[name] for i, name in names.items() if name in by_name}
