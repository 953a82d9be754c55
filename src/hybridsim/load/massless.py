"""Joints that move no inertia at all, such as the frames of sensors and tools that some files hang on joints."""

import warnings
from dataclasses import replace

import numpy as np

from ..model import KINDS, Joint, JointKind, ModelWarning, Spec


def fix_massless(spec: Spec) -> Spec:
    """The same mechanism with those joints fixed, and a warning that lists them."""
    heavy = _links_that_carry_inertia(spec)
    light = [joint for joint in spec.joints if joint.child not in heavy and not np.all(np.asarray(joint.armature) > 0)]
    useless = {joint.name for joint in light if _moves(joint)}
    # A joint that is copied by one with inertia moves that inertia.
    useless -= {joint.mimic.joint for joint in spec.joints if joint.mimic and joint.name not in useless}
    if not useless:
        return spec
    names = [joint.name for joint in spec.joints if joint.name in useless]
    warnings.warn(f"{spec.source}: joints that move no mass are fixed: {', '.join(names)}", ModelWarning, stacklevel=2)
    return replace(spec, joints=[_fixed(joint) if joint.name in useless else joint for joint in spec.joints])


def _links_that_carry_inertia(spec: Spec) -> set[str]:
    """Links with inertia of their own or of what hangs on them."""
    heavy = {link.name for link in spec.links if link.mass > 0 or np.any(link.inertia)}
    while new := {joint.parent for joint in spec.joints if joint.child in heavy} - heavy:
        heavy |= new
    return heavy


def _moves(joint: Joint) -> bool:
    kind = joint.kind if isinstance(joint.kind, JointKind) else KINDS.get(joint.kind)
    return kind is not None and kind.nv > 0


def _fixed(joint: Joint) -> Joint:
    """What is left of a joint that no longer moves: its place."""
    return Joint(joint.name, "fixed", joint.parent, joint.child, joint.position, joint.quaternion, anchor=joint.anchor)
