"""The model: a forest of links and joints. Every physical number is an array leaf; the rest is static."""

import equinox as eqx
import numpy as np
from jaxtyping import Float

from ..spatial import Array, Vector3
from .augmentation import Augmentation
from .contacts import Contacts, Limits
from .geometry import Geometry
from .topology import Topology


class Links(eqx.Module):
    """Inertial numbers of all links, each in the link's own frame."""

    mass: Float[Array, " links"]
    """[kg]"""
    com: Float[Array, "links 3"]
    """Centre of mass [m]."""
    inertia: Float[Array, "links 6"]
    """About the centre of mass, along the link's axes: xx, yy, zz, xy, xz, yz [kg m^2]."""


class Joints(eqx.Module):
    """Numbers of all joints. `dofs` counts the freedoms of all joints in order, `coordinates` their q."""

    position: Float[Array, "joints 3"]
    """Of the child frame in the parent frame at rest [m]."""
    quaternion: Float[Array, "joints 4"]
    """Of the child frame in the parent frame at rest (w, x, y, z)."""
    anchor: Float[Array, "joints 3"] | None
    """The point of the child frame about which the joint moves [m]; None where all are the origin."""
    axis: Float[Array, "joints 3"]
    """In the child frame; its length does not matter."""
    rest: Float[Array, " coordinates"]
    """The configuration that `Model.rest` returns, such as a robot's home; without effect on the physics."""
    stiffness: Float[Array, " dofs"]
    """Of a spring towards `spring_rest` [N m/rad or N/m]."""
    spring_rest: Float[Array, " coordinates"]
    damping: Float[Array, " dofs"]
    """Viscous [N m s/rad or N s/m]."""
    friction: Float[Array, " dofs"]
    """Coulomb: -friction tanh(v / friction_speed) [N m or N]."""
    friction_speed: Float[Array, " dofs"]
    """[rad/s or m/s]"""
    armature: Float[Array, " dofs"]
    """Inertia of a rotor, seen at the joint, added to the diagonal of the mass matrix [kg m^2 or kg]."""
    lower: Float[Array, " dofs"]
    """Limit of motion; -inf where there is none. Only for joints with one coordinate a freedom."""
    upper: Float[Array, " dofs"]
    effort: Float[Array, " dofs"]
    """Largest actuation [N m or N]; inf where there is none."""
    mimic_ratio: Float[Array, " joints"] | None
    """q = ratio * q of the joint that is copied + offset; None in a model without mimic joints."""
    mimic_offset: Float[Array, " joints"] | None


class Actuators(eqx.Module):
    """Motors and servos: force = gain * command + bias . (1, length, velocity), applied through `gear`.

    A motor has gain 1 and no bias; a position servo gain kp, bias (0, -kp, -kv); a velocity servo gain kv,
    bias (0, 0, -kv). The length is gear . q, the velocity gear . v, the joint force gear * force.
    """

    gain: Float[Array, " actuators"]
    bias: Float[Array, "actuators 3"]
    gear: Float[Array, "actuators 6"]
    """One number for each freedom of the joint; the rest is not used."""
    command_range: Float[Array, "actuators 2"]
    """The command is clipped to it; infinite where there is none."""
    force_range: Float[Array, "actuators 2"]
    """The force is clipped to it; infinite where there is none."""

    names: tuple[str, ...] = eqx.field(static=True)
    joints: tuple[int, ...] = eqx.field(static=True)
    """Index of the joint that each one drives."""


class Model(eqx.Module):
    """One world: mechanisms, their shapes and actuators, gravity."""

    links: Links
    joints: Joints
    geometry: Geometry
    contacts: Contacts
    limits: Limits
    actuators: Actuators
    gravity: Vector3
    """[m/s^2]"""
    timestep: Float[Array, ""]
    """Used where a call names none [s]."""
    topology: Topology = eqx.field(static=True)
    augmentation: Augmentation | None = None
    """Networks at named variables; None in a plain model."""

    @property
    def nq(self) -> int:
        """Size of q."""
        return len(self.topology.own_q)

    @property
    def nv(self) -> int:
        """Size of qd, the number of degrees of freedom."""
        return len(self.topology.own_v)

    @property
    def nu(self) -> int:
        """Number of actuators."""
        return len(self.actuators.names)

    @property
    def link_names(self) -> tuple[str, ...]:
        return self.topology.link_names

    @property
    def joint_names(self) -> tuple[str, ...]:
        return self.topology.joint_names

    @property
    def prescribed_names(self) -> tuple[str, ...]:
        """Joints whose motion is given as data (`hs.prescribed`), in the order of joints."""
        return tuple(self.joint_names[j] for j in self.topology.prescribed)

    def rest(self) -> tuple[Float[np.ndarray, " nq"], Float[np.ndarray, " nv"]]:
        """(q, qd) with every joint at its rest configuration and no velocity."""
        q = np.asarray(self.joints.rest)[self.topology.own_q]
        return q, np.zeros(self.nv, dtype=q.dtype)

    def q_of(self, joint: str) -> slice:
        """Where a joint's configuration lies in q."""
        return self._own(joint, self.topology.q_slices, self.topology.own_q)

    def v_of(self, joint: str) -> slice:
        """Where a joint's velocity lies in qd."""
        return self._own(joint, self.topology.v_slices, self.topology.own_v)

    def _own(self, joint: str, slices: tuple[slice, ...], own: np.ndarray) -> slice:
        index = self.topology.joint(joint)
        if (copied := self.topology.mimics[index]) >= 0:
            raise KeyError(
                f"joint {joint!r} copies joint {self.joint_names[copied]!r} and has no coordinates of its own; "
                f"ask for {self.joint_names[copied]!r}, or load the file with mimic=False"
            )
        start = int(np.searchsorted(own, slices[index].start))
        return slice(start, start + slices[index].stop - slices[index].start)

    def describe(self) -> str:
        """A table of joints and links for people."""
        t = self.topology
        lines = [f"{len(t.link_names)} links, {len(t.joint_names)} joints, nq {self.nq}, nv {self.nv}, nu {self.nu}"]
        owner = {joint: name for name, joint in zip(t.link_names, t.link_joints, strict=True)}
        for i, name in enumerate(t.joint_names):
            parent = owner.get(t.parents[i], t.joint_names[t.parents[i]]) if t.parents[i] >= 0 else "world"
            given = ", prescribed" if i in t.prescribed else ""
            lines.append(f"  {name}: {t.kinds[i].name}, {parent} -> {owner.get(i, '(no link)')}{given}")
        return "\n".join(lines)
