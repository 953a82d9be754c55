"""Numbers of a model to their places in the tree of an MJCF file."""

import mujoco
import numpy as np
from lxml import etree

from ..model import Spec
from .differences import Name
from .mjcf_attributes import Element, drop, last_or_new, put, put_range
from .mjcf_bodies import rotation, rotors, shifted
from .mjcf_elements import Elements
from .mjcf_fields import BALL, FREE, HINGE, SLIDE
from .mjcf_geoms import MESH, meshes_of, shapes_of
from .mjcf_names import names
from .mjcf_source import Source
from .mjcf_writer_actuators import write_actuator

_ORIENTATIONS = ("axisangle", "xyaxes", "zaxis", "euler")
_JOINT = {"stiffness": "stiffness", "damping": "damping", "friction": "frictionloss", "armature": "armature"}


class Writer:
    """For one round: `source` and `spec` are the file as it is now, `numbers` what it shall say."""

    def __init__(self, root: Element, source: Source, spec: Spec, numbers: dict[Name, np.ndarray]):
        self.root, self.source, self.numbers = root, source, numbers
        self.model = source.model
        self.called = names(source.model)
        self.elements = Elements(root, source.model)
        self._child = {joint.name: self.called.bodies.index(joint.child) for joint in spec.joints}
        self._bodies = {body.id: body for body in source.spec.bodies}
        self._joints = {joint.id: joint for joint in source.spec.joints}
        self._geoms = {geom.id: geom for geom in source.spec.geoms}

    def write(self, name: Name) -> bool:
        """One number or array, if MJCF has a place for it; False if the element is not in the tree."""
        if name.what in ("gravity", "timestep"):
            put(last_or_new(self.root, "option"), name.what, self.numbers[name])
            # An included file may say otherwise.
            return self.root.find(".//include") is None
        by_kind = {"link": self._link, "joint": self._joint, "actuator": self._actuator, "shape": self._shape}
        # Contact numbers belong to pairs, for which files have no place.
        return name.what in by_kind and by_kind[name.what](name)

    def _actuator(self, name: Name) -> bool:
        i = self.called.actuators.index(name.owner)
        if i not in self.elements.actuators:
            return False
        write_actuator(self.elements.actuators[i], self.source, i, name, self.numbers)
        return True

    # Bodies

    def _link(self, name: Name) -> bool:
        body = self.called.bodies.index(name.owner)
        if body not in self.elements.bodies:
            return False
        if self._is_aligned(body):
            return True
        element = self.elements.bodies[body]
        inertial = element.find("inertial")
        fields = [name.field]
        if inertial is None:
            inertial, fields = etree.SubElement(element, "inertial"), ["com", "mass", "inertia"]
        for field in fields:
            value = self.numbers[name._replace(field=field)]
            if field == "inertia":
                _put_inertia(inertial, value)
            else:
                put(inertial, "pos" if field == "com" else "mass", value)
        return self._let_inertials_count()

    def _let_inertials_count(self) -> bool:
        """Undo what makes the compiler ignore or change an <inertial>; the next round then writes them all."""
        compiler = self.source.spec.compiler
        ignored = compiler.inertiafromgeom == mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE
        scaled = compiler.settotalmass > 0
        return (not ignored or self._set_compiler("inertiafromgeom", "auto")) and (
            not scaled or self._set_compiler("settotalmass", "-1")
        )

    def _set_compiler(self, attribute: str, value: str) -> bool:
        found = [element for element in self.root.iterfind("compiler") if attribute in element.attrib]
        for element in found:
            element.set(attribute, value)
        return bool(found)

    def _is_aligned(self, body: int) -> bool:
        """Does MuJoCo move the frame of this body to its centre of mass? Then its numbers are not those in the file."""
        align = [joint.align for joint in self._bodies[body].joints if joint.type == mujoco.mjtJoint.mjJNT_FREE]
        automatic = self.source.spec.compiler.alignfree
        flags = mujoco.mjtAlignFree
        return any(a == flags.mjALIGNFREE_TRUE or (a == flags.mjALIGNFREE_AUTO and automatic) for a in align)

    # Joints

    def _joint(self, name: Name) -> bool:
        m, body = self.model, self._child[name.owner]
        if body not in self.elements.bodies:
            return False
        if name.owner not in self.called.joints:
            self._place_body(body, self._pose(name))
            return True
        j = self.called.joints.index(name.owner)
        if j not in self.elements.joints:
            return False
        first, kind = j == m.body_jntadr[body], m.jnt_type[j]
        if name.field == "rest" and kind == FREE and not self._is_aligned(body):
            self._place_body(body, (self.numbers[name][:3], self.numbers[name][3:]))
        elif name.field in ("position", "quaternion") and first and kind != FREE:
            reference = m.qpos0[m.jnt_qposadr[j]] if kind != BALL else 0.0
            self._place_body(body, shifted(self._pose(name), kind, m.jnt_axis[j], m.jnt_pos[j], reference))
        elif name.field == "rest" and first and kind in (HINGE, SLIDE):
            put(self.elements.joints[j], "ref", self.numbers[name], self._unit(j))
        else:
            self._joint_number(j, name)
        return True

    def _pose(self, name: Name) -> tuple[np.ndarray, np.ndarray]:
        position, quaternion = (self.numbers[name._replace(field=field)] for field in ("position", "quaternion"))
        return position.astype(float), quaternion.astype(float)

    def _joint_number(self, j: int, name: Name) -> None:
        element, value = self.elements.joints[j], self.numbers[name]
        scalar = self.model.jnt_type[j] in (HINGE, SLIDE)
        if name.field in ("axis", "anchor"):
            p, q = _frame(self.source.spec, self._joints[j].frame)
            back = rotation(q * [1, -1, -1, -1])
            put(element, *(("axis", back @ value) if name.field == "axis" else ("pos", back @ (value - p))))
        elif name.field in ("lower", "upper") and scalar:
            limits = np.concatenate([self.numbers[name._replace(field=field)] for field in ("lower", "upper")])
            put_range(element, "range", "limited", limits, self.model.jnt_limited[j], self._unit(j))
        elif name.field == "spring_rest" and scalar:
            put(element, "springref", value, self._unit(j))
        elif name.field == "effort" and scalar:
            switched = self.model.jnt_actfrclimited[j]
            put_range(element, "actuatorfrcrange", "actuatorfrclimited", np.append(-value, value), switched)
        elif name.field in _JOINT and np.ptp(value) == 0:
            self._joint_coefficient(j, name.field, value[0])

    def _joint_coefficient(self, j: int, field: str, value: float | np.floating) -> None:
        element = self.elements.joints[j]
        if np.any(self._joints[j].springdamper):
            # It would set stiffness and damping by itself; the next round writes both.
            element.set("springdamper", "0 0")
        own = value - getattr(rotors(self.model, j), field, 0.0)
        if own >= 0 or field == "stiffness":
            put(element, _JOINT[field], np.asarray(own))

    def _unit(self, j: int) -> float:
        return np.pi / 180 if self.model.jnt_type[j] == HINGE and self.source.spec.compiler.degree else 1.0

    # Places and shapes

    def _place_body(self, body: int, pose: tuple[np.ndarray, np.ndarray]) -> None:
        self._place(self.elements.bodies[body], self._bodies[body].frame, *pose)

    def _place(self, element: Element, frame, position: np.ndarray, quaternion: np.ndarray) -> None:
        """A pose in the body around it, as the file writes it: in the <frame>s around it."""
        p, q = _frame(self.source.spec, frame)
        back, local = q * [1, -1, -1, -1], np.zeros(4)
        mujoco.mju_mulQuat(local, back, quaternion.astype(float))
        put(element, "pos", rotation(back) @ (position - p))
        drop(element, *_ORIENTATIONS)
        put(element, "quat", local)

    def _shape(self, name: Name) -> bool:
        geom = self._geom(name.owner)
        if geom is None:
            return True  # it is in no file, such as a ground that was added
        if geom not in self.elements.geoms:
            return False
        element, value = self.elements.geoms[geom], self.numbers[name]
        if name.field == "friction":
            put(element, "friction", value)
            if value > 0 and self.model.geom_condim[geom] == 1:
                element.set("condim", "3")  # of dimension 1 it would have none
        elif name.field != "size":
            # The next round writes the length, which the ends have said until now.
            drop(element, "fromto")
            self._place(element, self._geoms[geom].frame, *self._pose(name))
        elif np.any(value):
            self._resize(geom, name, value[: np.max(np.flatnonzero(value)) + 1])
        return True

    def _resize(self, geom: int, name: Name, size: np.ndarray) -> None:
        element = self.elements.geoms[geom]
        if "fromto" not in element.attrib:
            put(element, "size", size)
        elif np.array_equal(size[1:], self.model.geom_size[geom, 1 : len(size)]):
            put(element, "size", size[:1])
        else:
            drop(element, "fromto")
            self._place(element, self._geoms[geom].frame, *self._pose(name))
            put(element, "size", size)

    def _geom(self, owner: str) -> int | None:
        """MuJoCo's index of the n-th shape of a link that is not a mesh, or of its n-th mesh; None if there are fewer."""
        link, _, count = owner.rpartition("/")
        body = self.called.bodies.index(link)
        if count.startswith(MESH):
            found, count = meshes_of(self.source, body), count.removeprefix(MESH)
        else:
            shapes = shapes_of(self.source, body)
            found = [i for i in shapes if self.model.geom_type[i] != int(mujoco.mjtGeom.mjGEOM_MESH)]
        return found[int(count)] if int(count) < len(found) else None


def _put_inertia(inertial: Element, six: np.ndarray) -> None:
    """As six numbers, unless MuJoCo finds their principal axes badly: one moment is zero, or they did not come back."""
    old = inertial.get("fullinertia")
    drop(inertial, "diaginertia", "fullinertia", "quat", *_ORIENTATIONS)
    if not np.any(six[3:]):
        put(inertial, "diaginertia", six[:3])
        return
    moments, axes = np.linalg.eigh(six[[0, 3, 4, 3, 1, 5, 4, 5, 2]].reshape(3, 3).astype(float))
    put(inertial, "fullinertia", six)
    if moments[0] < 1e-9 * moments[2] or inertial.get("fullinertia") == old:
        drop(inertial, "fullinertia")
        axes[:, 0] *= np.linalg.det(axes)
        quaternion = np.zeros(4)
        mujoco.mju_mat2Quat(quaternion, axes.ravel())
        put(inertial, "diaginertia", np.maximum(moments, 0.0))
        put(inertial, "quat", quaternion)


def _frame(spec: mujoco.MjSpec, frame) -> tuple[np.ndarray, np.ndarray]:
    """Pose of a <frame>, through all frames around it, in the body that holds it."""
    if frame is None:
        return np.zeros(3), np.array([1.0, 0, 0, 0])
    p, q = _frame(spec, frame.frame)
    own = frame.quat / np.linalg.norm(frame.quat)
    if frame.alt.type != mujoco.mjtOrientation.mjORIENTATION_QUAT:
        own = np.array(spec.resolve_orientation(spec.compiler.degree, spec.compiler.eulerseq, frame.alt))
    turned = np.zeros(4)
    mujoco.mju_mulQuat(turned, q, own)
    return p + rotation(q) @ frame.pos, turned
