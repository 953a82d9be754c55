"""What the names at the marks mean: whose they are, their size, unit and place in the step.

A new name is a line in this table and the mark itself.
"""

from dataclasses import dataclass
from typing import Literal

Axis = Literal["coordinate", "freedom", "joint", "link", "pair", "actuator", "world"]
"""Whose a value is. `coordinate` and `freedom` count the model's own q and qd, joint by joint; `joint` the freedoms of all
joints, mimics included; `pair` contact points, pair by pair."""

Kind = Literal["scalar", "vector", "point", "spatial", "rotation", "pose"]
"""How the numbers of one row change with the axes of the world: not at all, as a vector or as a position (3), as a spatial
vector (two vectors), as a rotation matrix (9, by rows), as a position and a quaternion (7)."""


@dataclass(frozen=True)
class Variable:
    axis: Axis
    kind: Kind
    unit: str
    stage: str
    """Part of the step in which it is computed."""
    text: str


_START, _PLACE, _TOUCH, _FORCE, _MOTION, _IMPACT, _END = (
    "start",
    "kinematics",
    "contact",
    "forces",
    "dynamics",
    "impact",
    "end",
)

VARIABLES: dict[str, Variable] = {
    "world.time": Variable("world", "scalar", "s", _START, "at the start of the step"),
    "world.gravity": Variable("world", "vector", "m/s^2", _START, "acceleration of free fall"),
    "actuator.command": Variable("actuator", "scalar", "the actuator's", _START, "as given, before any limit"),
    "joint.command": Variable("freedom", "scalar", "N m or N", _START, "joint force of the control, before any limit"),
    "joint.position": Variable("coordinate", "scalar", "rad or m", _START, "q"),
    "joint.velocity": Variable("freedom", "scalar", "rad/s or m/s", _START, "qd"),
    "joint.stiffness": Variable("joint", "scalar", "N m/rad or N/m", _START, "of the joint's spring"),
    "joint.damping": Variable("joint", "scalar", "N m s/rad or N s/m", _START, "viscous"),
    "joint.friction": Variable("joint", "scalar", "N m or N", _START, "Coulomb"),
    "joint.armature": Variable("joint", "scalar", "kg m^2 or kg", _START, "inertia of the rotor"),
    "link.mass": Variable("link", "scalar", "kg", _START, "mass"),
    "link.com": Variable("link", "scalar", "m", _START, "centre of mass in the link's frame, xyz"),
    "link.inertia": Variable("link", "scalar", "kg m^2", _START, "about the centre of mass: xx, yy, zz, xy, xz, yz"),
    "link.position": Variable("link", "point", "m", _PLACE, "of the link's origin"),
    "link.rotation": Variable("link", "rotation", "1", _PLACE, "matrix from the link's axes to the world's, by rows"),
    "link.pose": Variable("link", "pose", "m, 1", _PLACE, "position xyz and quaternion wxyz, w not negative"),
    "link.velocity": Variable("link", "spatial", "rad/s, m/s", _PLACE, "angular, linear of the origin; world axes"),
    "link.momentum": Variable("link", "spatial", "N m s, N s", _PLACE, "angular about the origin, linear; world axes"),
    "link.external_force": Variable("link", "spatial", "N m, N", _FORCE, "moment, force at the origin; world axes"),
    "contact.distance": Variable("pair", "scalar", "m", _TOUCH, "negative where shapes overlap"),
    "contact.depth": Variable("pair", "scalar", "m", _TOUCH, "minus the distance"),
    "contact.normal": Variable("pair", "vector", "1", _TOUCH, "from shape b to shape a"),
    "contact.point": Variable("pair", "point", "m", _TOUCH, "where force acts"),
    "contact.normal_velocity": Variable("pair", "scalar", "m/s", _TOUCH, "of a relative to b, positive apart"),
    "contact.sliding_velocity": Variable("pair", "vector", "m/s", _TOUCH, "of a relative to b, along the surface"),
    "contact.friction": Variable("pair", "scalar", "1", _TOUCH, "coefficient of sliding"),
    "contact.static_friction": Variable("pair", "scalar", "1", _TOUCH, "coefficient at the onset of sliding"),
    "contact.transition_speed": Variable("pair", "scalar", "m/s", _TOUCH, "where friction is fully developed"),
    "contact.stiffness": Variable("pair", "scalar", "N/m^exponent", _TOUCH, "of the contact's spring"),
    "contact.dissipation": Variable("pair", "scalar", "N s/m^(exponent+1)", _TOUCH, "of the contact's spring"),
    "contact.exponent": Variable("pair", "scalar", "1", _TOUCH, "of the contact's spring"),
    "contact.restitution": Variable("pair", "scalar", "1", _IMPACT, "speed after over speed before an impact"),
    "contact.position_gain": Variable("pair", "scalar", "1", _IMPACT, "part of an overlap that a step removes"),
    "contact.velocity_gain": Variable("pair", "scalar", "1", _IMPACT, "part of the closing speed that a step removes"),
    "contact.normal_force": Variable(
        "pair", "scalar", "N", _TOUCH, "pushes apart; of impulses their mean over the step"
    ),
    "contact.friction_force": Variable("pair", "vector", "N", _TOUCH, "on a; of impulses their mean over the step"),
    "contact.approach": Variable("pair", "scalar", "m/s", _IMPACT, "speed at which what touches goes on approaching"),
    "contact.residual": Variable("pair", "scalar", "m/s", _IMPACT, "speed by which the solver misses what it solves"),
    "contact.impulse": Variable("pair", "vector", "N s", _IMPACT, "on a: along the normal and two tangents"),
    "actuator.force": Variable("actuator", "scalar", "N m or N", _FORCE, "output, before the gear"),
    "joint.actuation": Variable("freedom", "scalar", "N m or N", _FORCE, "of actuators and control, within the effort"),
    "joint.passive_force": Variable("freedom", "scalar", "N m or N", _FORCE, "of springs, damping and friction"),
    "joint.force": Variable("freedom", "scalar", "N m or N", _FORCE, "total"),
    "joint.prescribed_force": Variable(
        "freedom", "scalar", "N m or N", _MOTION, "that moves prescribed joints as given; of impulses their mean"
    ),
    "joint.acceleration": Variable("freedom", "scalar", "rad/s^2 or m/s^2", _MOTION, "qdd, without impulses"),
    "state.next_position": Variable("coordinate", "scalar", "rad or m", _END, "q after the step"),
    "state.next_velocity": Variable("freedom", "scalar", "rad/s or m/s", _END, "qd after the step"),
}
