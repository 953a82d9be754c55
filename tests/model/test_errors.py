"""Impossible models are refused with a message that names the thing, the value found and a fix."""

import re

import numpy as np
import pytest

import hybridsim as hs
from hybridsim.model import WORLD

GOOD = hs.Link("upper", 1.0, inertia=0.1)
NAN, INF = float("nan"), float("inf")


def link(**numbers):
    return lambda: hs.free_body(hs.Link("upper", **{"mass": 1.0, "inertia": 0.1, **numbers}))


def joint(kind="revolute", **numbers):
    return lambda: hs.build([GOOD], [hs.Joint("shoulder", kind, WORLD, "upper", **numbers)])


def joints(*pairs, links="ab"):
    def make():
        bodies = [hs.Link(name, 1.0, inertia=0.1) for name in links]
        return hs.build(bodies, [hs.Joint(f"{a}->{b}", "revolute", a, b) for a, b in pairs])

    return make


def mimics(**of):
    def make():
        bodies = [hs.Link(name, 1.0, inertia=0.1) for name in "abc"]
        kinds = {"a": "revolute", "b": "revolute", "c": "spherical"}
        return hs.build(bodies, [hs.Joint(n, kinds[n], WORLD, n, mimic=of.get(n)) for n in "abc"])

    return make


def actuator(**numbers):
    record = hs.Actuator(**{"name": "motor", "joint": "shoulder", **numbers})
    return lambda: hs.build([GOOD], [hs.Joint("shoulder", "revolute", WORLD, "upper")], [record])


def geom(**numbers):
    return link(geoms=[hs.Geom(**{"shape": "sphere", "size": 0.1, **numbers})])


IMPOSSIBLE = {
    "negative mass": (link(mass=-2.5), "link upper", "mass", "-2.5", "negative"),
    "NaN mass": (link(mass=NAN), "link upper", "mass", "nan", "finite"),
    "infinite centre of mass": (link(com=(0, INF, 0)), "link upper", "centre of mass", "inf", "finite"),
    "NaN inertia": (link(inertia=(0.1, NAN, 0.1)), "link upper", "inertia", "nan", "finite"),
    "negative moment": (link(inertia=(-0.1, 0.1, 0.1)), "link upper", "-0.1", "negative", "check units"),
    "triangle inequality": (link(inertia=(0.1, 0.2, 0.5)), "link upper", "0.1 0.2 0.5", "triangle", "check units"),
    "hidden triangle": (link(inertia=(0.1, 0.1, 0.1, 0.09, 0, 0)), "link upper", "triangle", "off-diagonals"),
    "unsymmetric inertia": (link(inertia=[[1, 0.2, 0], [0.1, 1, 0], [0, 0, 1]]), "link upper", "not symmetric", "0.2"),
    "inertia of four": (link(inertia=(1, 1, 1, 1)), "link upper", "inertia", r"\(4,\)", "1, 3, 6 or 3x3"),
    "flat centre of mass": (link(com=(1, 2)), "link upper", "centre of mass", r"\(2,\)", "three"),
    "zero axis": (joint(axis=(0, 0, 0)), "joint shoulder", "axis", "0 0 0", "0 0 1"),
    "NaN axis": (joint(axis=(0, NAN, 0)), "joint shoulder", "axis", "nan", "finite"),
    "short axis": (joint(axis=(0, 1)), "joint shoulder", "axis", r"\(2,\)", "3"),
    "infinite position": (joint(position=(INF, 0, 0)), "joint shoulder", "position", "inf", "finite"),
    "zero quaternion": (joint(quaternion=(0, 0, 0, 0)), "joint shoulder", "quaternion", "1 0 0 0"),
    "zero rest quaternion": (joint("spherical", rest=(0, 0, 0, 0)), "joint shoulder", "rest", "1 0 0 0"),
    "NaN stiffness": (joint(stiffness=NAN), "joint shoulder", "stiffness", "nan"),
    "two dampings for one freedom": (joint(damping=(1, 2)), "joint shoulder", "damping", r"\(2,\)", "1 number"),
    "negative damping": (joint(damping=-0.5), "joint shoulder", "damping", "-0.5", "negative"),
    "infinite damping": (joint(damping=INF), "joint shoulder", "damping", "inf", "finite"),
    "negative friction": (joint(friction=-1), "joint shoulder", "friction", "-1", "negative"),
    "negative armature": (joint(armature=-1), "joint shoulder", "armature", "-1", "negative"),
    "no friction speed": (joint(friction_speed=0), "joint shoulder", "friction_speed", "0", "positive"),
    "limits swapped": (joint(lower=2, upper=-1), "joint shoulder", "2", "-1", "exchange"),
    "NaN limit": (joint(lower=NAN), "joint shoulder", "limit", "NaN", "leave it out"),
    "negative effort": (joint(effort=-3), "joint shoulder", "effort", "-3", "negative"),
    "unknown kind": (joint("hinge"), "joint shoulder", "'hinge'", "revolute"),
    "uneven ball spring": (joint("spherical", stiffness=(1, 1, 2)), "joint shoulder", "1 1 2", "one stiffness"),
    "position of one number": (joint(position=1.0), "joint shoulder", "position", "3"),
    "axis of one number": (joint(axis=1.0), "joint shoulder", "axis", "3"),
    "gravity of one number": (lambda: hs.build([], [], gravity=-9.81), "gravity", "3"),
    "NaN gravity": (lambda: hs.build([], [], gravity=(0, 0, NAN)), "gravity", "nan", "finite"),
    "no time step": (lambda: hs.build([], [], timestep=0.0), "time step", "0", "positive"),
    "source is named": (lambda: hs.build([GOOD, GOOD], [], source="arm.urdf"), r"arm\.urdf", "upper"),
    "two links of a name": (joints((WORLD, "a"), links="aa"), "link a", "two links", "rename"),
    "two joints of a name": (joints((WORLD, "a"), (WORLD, "a"), links="a"), "joint world->a", "two joints", "rename"),
    "link called world": (joints(links=[WORLD]), "link world", "rename"),
    "missing parent": (joints(("z", "a"), links="ab"), "joint z->a", "parent link 'z'", "a, b"),
    "missing child": (joints((WORLD, "z"), links="ab"), "joint world->z", "child link 'z'", "a, b"),
    "two parents": (joints((WORLD, "a"), (WORLD, "b"), ("a", "b")), "joint a->b", "'b'", "'world' and 'a'", "loop"),
    "loop": (joints(("a", "b"), ("b", "a")), "a, b", "loop", "world"),
    "link without joint": (joints((WORLD, "a")), "link b", "no joint", "fixed or free"),
    "massless": (link(mass=0.0, inertia=0.0), "joint root", "0 kg", "armature", "mass"),
    "point mass on the axis": (
        lambda: hs.build([hs.Link("bob", 1.0, (0, 0, 1))], [hs.Joint("shoulder", "revolute", WORLD, "bob")]),
        "joint shoulder",
        "inertia",
    ),
    "mimic of nothing": (mimics(a=hs.Mimic("z")), "joint a", "'z'", "does not exist"),
    "mimic of a mimic": (mimics(a=hs.Mimic("b"), b=hs.Mimic("a")), "joint a", "'b'", "name that one"),
    "mimic of a ball": (mimics(a=hs.Mimic("c")), "joint a", "'c'", "one coordinate"),
    "NaN mimic": (mimics(a=hs.Mimic("b", ratio=NAN)), "joint a", "ratio", "nan", "finite"),
    "motor on nothing": (actuator(joint="elbow"), "actuator motor", "'elbow'", "does not exist"),
    "NaN gain": (actuator(gain=NAN), "actuator motor", "nan", "finite"),
    "bias of two": (actuator(bias=(1, 2)), "actuator", "bias", r"\(2,\)", "3"),
    "gear of two": (actuator(gear=(1, 2)), "actuator motor", "gear", r"\(2,\)", "1 number"),
    "command range swapped": (actuator(command_range=(1, -1)), "actuator motor", "command_range", "1", "-1"),
    "NaN force range": (actuator(force_range=(NAN, 1)), "actuator motor", "force_range", "nan"),
    "unknown shape": (geom(shape="cone"), "link upper", "'cone'", "capsule"),
    "negative radius": (geom(size=-0.1), "link upper", "sphere", "-0.1", "negative"),
    "too many sizes": (geom(size=(1, 1, 1, 1)), "link upper", "sphere", "size"),
    "NaN shape position": (geom(position=(0, NAN, 0)), "link upper", "position", "nan", "finite"),
    "negative contact friction": (geom(friction=-1.0), "link upper", "friction", "-1", "negative"),
    "unknown solid": (lambda: hs.solid("upper", 1.0, "cone", 1), "link upper", "'cone'", "capsule"),
    "box of two sizes": (lambda: hs.solid("upper", 1.0, "box", (1, 2)), "link upper", "3", "2"),
    "chain of none": (lambda: hs.chain(0), "0 links", "at least 1"),
    "ground without direction": (lambda: hs.ground(normal=(0, 0, 0)), "normal", "0, 0, 0", "direction"),
    "empty world": (lambda: hs.world(), "at least one"),
    "world with a name twice": (lambda: hs.world(hs.chain(1), hs.chain(1)), "link1", "models 0 and 1", "prefixed"),
}


@pytest.mark.parametrize(("make", "fragments"), [(m, f) for m, *f in IMPOSSIBLE.values()], ids=IMPOSSIBLE.keys())
def test_impossible_models_are_refused_by_name_value_and_fix(make, fragments):
    with pytest.raises(hs.ModelError) as caught:
        make()
    for fragment in fragments:
        assert re.search(fragment, str(caught.value)), f"{fragment!r} is not in: {caught.value}"


def test_what_is_unusual_but_possible_is_accepted():
    link(mass=0.0, inertia=0.1)()  # A rotor whose mass is counted elsewhere.
    joint("fixed", axis=(0, 0, 0))()
    joint(lower=-INF, upper=INF, effort=0.0)()
    joint(lower=0.3, upper=0.3)()
    link(inertia=(0.1, 0.1, 0.2))()  # A flat plate.
    assert hs.build([], []).nq == 0
    armed = hs.build([hs.Link("frame")], [hs.Joint("j", "revolute", WORLD, "frame", armature=0.1)])
    assert np.isfinite(hs.forward_dynamics(armed, np.zeros(1), np.zeros(1), np.ones(1)))
