"""The mechanisms whose derivatives are tested, and states of them."""

import numpy as np

import hybridsim as hs
from hybridsim.model import WORLD

INERTIA = (0.03, 0.04, 0.05, 0.002, -0.003, 0.004)
PASSIVE = {"stiffness": 2.0, "damping": 0.3, "friction": 0.4, "friction_speed": 0.5, "armature": 0.02}


def _link(name: str) -> hs.Link:
    return hs.Link(name, 1.3, (0.1, -0.05, 0.07), INERTIA, [hs.Geom("sphere", 0.1)])


def _joint(name: str, kind: str, parent: str, child: str, spring_rest=None, **numbers) -> hs.Joint:
    defaults = {"position": (0.1, 0.2, -0.3), "quaternion": (1.0, 0.3, -0.2, 0.1), "axis": (0.5, -1.0, 1.5)}
    return hs.Joint(name, kind, parent, child, spring_rest=spring_rest, **{**defaults, **PASSIVE, **numbers})


def everything(at=(0.0, 0.0, 0.0), springs_at_rest: bool = False) -> hs.Model:
    """Every joint kind, two joints with anchors on one body, a fixed joint, all passive forces, all actuators.

    Several short trees, so that it compiles fast. `at` is where in the world they stand; the free body by its q.
    """
    turned = None if springs_at_rest else (1.0, 0.4, -0.3, 0.2)
    away = None if springs_at_rest else (*np.add(at, (0.1, 0.2, 0.3)), 1.0, 0.4, -0.3, 0.2)
    off = None if springs_at_rest else 0.4
    base, home = np.asarray(at), (*at, 1.0, 0.0, 0.0, 0.0)
    joints = [
        _joint("free", "free", WORLD, "floating", away, position=(0, 0, 0), quaternion=(1, 0, 0, 0), rest=home),
        _joint("on it", "revolute", "floating", "arm", off),
        _joint("hinge", "revolute", WORLD, "bracket", off, position=base, anchor=(0.1, -0.2, 0.05)),
        _joint("slide", "prismatic", WORLD, "bracket", off, anchor=(0.0, 0.1, 0.2)),
        _joint("ball", "spherical", "bracket", "bob", turned, anchor=(0.05, 0.0, 0.1)),
        _joint("table", "planar", WORLD, "puck", None if springs_at_rest else (0.1, 0.2, 0.3), position=base),
        _joint("wheel", "continuous", "puck", "wheel", off),
        _joint("weld", "fixed", "wheel", "flange"),
    ]
    actuators = [
        hs.Actuator("servo", "hinge", gain=10.0, bias=(0.5, -10.0, -1.0), gear=1.5),
        hs.Actuator("driver", "slide", gain=3.0, bias=(0.2, 0.3, -3.0), gear=-0.7),
        hs.Actuator("ball motor", "ball", gain=2.0, bias=(0.1, -1.0, -0.2), gear=(1.0, -0.5, 0.7)),
    ]
    names = ("floating", "arm", "bracket", "bob", "puck", "wheel", "flange")
    model = hs.build([_link(name) for name in names], joints, actuators, timestep=1e-3)
    return hs.with_contacts(model, [])  # the trees stand in one place: contact would be at its corners


def gripper() -> hs.Model:
    """A finger that is copied by another one and by a slide, on a wrist, with a servo on a copy."""
    joints = [
        _joint("wrist", "revolute", WORLD, "palm", 0.2),
        _joint("left", "revolute", "palm", "left", 0.1, anchor=(0.02, 0.0, 0.1)),
        _joint("right", "revolute", "palm", "right", 0.1, mimic=hs.Mimic("left", ratio=-1.3, offset=0.2)),
        _joint("pusher", "prismatic", "right", "pusher", 0.1, mimic=hs.Mimic("left", ratio=0.4, offset=-0.1)),
    ]
    actuators = [hs.Actuator("servo", "right", gain=5.0, bias=(0.1, -5.0, -0.5), gear=1.5)]
    return hs.build([_link(name) for name in ("palm", "left", "right", "pusher")], joints, actuators, timestep=1e-3)


def limited() -> hs.Model:
    """Four sliders: at its command range, at its force range, at its effort limit, and within them all."""
    joints = [_joint(f"j{i}", "prismatic", WORLD, f"l{i}", effort=1.0 if i == 2 else 50.0) for i in range(4)]
    ranges = [{"command_range": (-9.0, 9.0), "force_range": (-40.0, 40.0)} for _ in range(4)]
    ranges[0]["command_range"] = ranges[1]["force_range"] = (-0.5, 0.5)
    actuators = [hs.Actuator(f"a{i}", f"j{i}", **ranges[i]) for i in range(4)]
    return hs.build([_link(f"l{i}") for i in range(4)], joints, actuators)


def hinge() -> hs.Model:
    """A body on a hinge: small enough for an integrator with four stages."""
    return hs.build([_link("bob")], [_joint("hinge", "revolute", WORLD, "bob", 0.4)], timestep=1e-3)


def quadruped() -> hs.Model:
    """Eighteen freedoms: a free trunk and four legs of three hinges, all of them driven."""
    links, joints = [_link("trunk")], [hs.Joint("root", "free", WORLD, "trunk")]
    for leg, (x, y) in {"FL": (1, 1), "FR": (1, -1), "RL": (-1, 1), "RR": (-1, -1)}.items():
        places = {"hip": (0.2 * x, 0.1 * y, 0.0), "thigh": (0.0, 0.08 * y, 0.0), "calf": (0.0, 0.0, -0.2)}
        parent = "trunk"
        for part, place in places.items():
            links.append(_link(f"{leg} {part}"))
            axis = (1, 0, 0) if part == "hip" else (0, 1, 0)
            joints.append(
                hs.Joint(f"{leg} {part}", "revolute", parent, links[-1].name, position=place, axis=axis, **PASSIVE)
            )
            parent = links[-1].name
    actuators = [hs.Actuator.position(joint.name, joint.name, kp=50.0, kv=1.0) for joint in joints[1:]]
    return hs.build(links, joints, actuators)


def moving(model: hs.Model, seed: int = 0, steps: int | None = None) -> dict:
    """Arguments in random motion: q with quaternions near unit length, qd, and commands (of each step)."""
    rng = np.random.default_rng(seed)
    q = model.rest()[0] + 0.3 * rng.normal(size=model.nq)
    return {
        "model": model,
        "q": q,
        "qd": rng.normal(size=model.nv),
        "control": rng.normal(size=_controls(model, steps)),
    }


def at_rest(model: hs.Model, steps: int | None = None) -> dict:
    """q at rest, where rotations are the identity, and qd = 0, both exactly."""
    q, qd = model.rest()
    return {"model": model, "q": q, "qd": qd, "control": np.zeros(_controls(model, steps))}


def _controls(model: hs.Model, steps: int | None) -> tuple[int, ...]:
    size = model.nu or model.nv
    return (size,) if steps is None else (steps, size)
