"""What networks add to the joint forces, by itself: as a function, and as files for MuJoCo and for a robot's controller."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import cast

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ..augment import Networks
from ..augment.acting import Acting
from ..augment.entities import rows_of
from ..dynamics import assemble, expand_v, reduce_force
from ..identify.atomic_write import write_text
from ..load import save
from ..model import Model
from ..model.names import unmarked
from ..spatial import Array
from .export_c import c_files
from .export_networks import joint_networks, joint_places
from .export_python import python_module

LearnedForce = Callable[[Array, Array, Array], Array]
"""force [nv] = f(q [nq], qd [nv], command [nv]); the command is the joint force of the control."""


def learned_force(model: Model, whole_friction: bool = False) -> tuple[LearnedForce, Model]:
    """What the networks of a model add to its joint forces, and the model without them: both together move as it does.

    Where a network changes the Coulomb friction of a joint, all of this friction is in the function and none in the plain
    model; with `whole_friction` so is that of all other joints. That is the friction of steps with contact=None or
    hs.Springs(), -coefficient tanh(velocity / friction_speed). Networks that cannot be exported are a ValueError.
    """
    joint_networks(model)
    networks, joints = cast(Networks, model.augmentation), model.joints
    taken = np.array(_with_friction(model, whole_friction), dtype=bool)
    friction = np.where(taken, joints.friction, 0.0)
    plain = replace(model, augmentation=None, joints=replace(joints, friction=np.where(taken, 0.0, joints.friction)))

    def force(q: Float[Array, " nq"], qd: Float[Array, " nv"], command: Float[Array, " nv"]) -> Float[Array, " nv"]:
        marks, mechanism = Acting(networks, None, unmarked), assemble(model)
        for name, value in (("joint.command", command), ("joint.position", q), ("joint.velocity", qd)):
            marks(name, jnp.asarray(value))
        coefficient = marks("joint.friction", friction)
        slowing = -coefficient * jnp.tanh(expand_v(mechanism, jnp.asarray(qd)) / joints.friction_speed)
        return marks("joint.passive_force", reduce_force(mechanism, slowing))

    return force, plain


def write_augmentation(
    model: Model, folder: Path, delay: float = 0.0, like: Path | None = None, whole_friction: bool = False
) -> dict[str, str]:
    """Writes C code and a Python module of what the networks add; returns the files' names and what they are.

    `delay` [s] by which commands act later is written into them. `like` is the robot's file: a copy of it gets the
    numbers of the model without networks, to which the force is to be added. `whole_friction` as of `learned_force`;
    MuJoCo's own friction is not smooth, so only with it are motions there the same also at joints without networks.
    """
    if not jax.config.read("jax_enable_x64"):
        raise ValueError(
            "export needs numbers of 64 bits: jax.config.update('jax_enable_x64', True), or JAX_ENABLE_X64=1"
        )
    if not (np.isfinite(delay) and delay >= 0):
        raise ValueError(f"the delay is {delay} s, but must be zero or positive")
    function, plain = learned_force(model, whole_friction)
    source, header = c_files(_of_single_joints(model, function), tuple(joint_places(model)), delay)
    plain_name = "" if like is None else f"plain{like.suffix}"
    files = {
        "augmentation.c": (source, "the learned joint forces as C99 code that allocates nothing"),
        "augmentation.h": (header, "how to call the C code"),
        "augmentation.py": (
            python_module(model, _friction_of(model, whole_friction), delay, plain_name),
            "the learned joint forces as a Python module (NumPy), with a callback for MuJoCo",
        ),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, (text, _) in files.items():
        write_text(folder / name, text)
    written = {name: words for name, (_, words) in files.items()}
    if like is not None:
        save(plain, folder / plain_name, like)
        written[plain_name] = "the robot without networks, to which the learned forces are added"
    return written


def _with_friction(model: Model, whole_friction: bool) -> list[bool]:
    """Of each freedom of all joints, whether its friction belongs to the function."""
    learned = {network.joint for network in joint_networks(model) if network.acts_on == "friction"}
    rows = rows_of(model, "joint.friction", ())
    return [whole_friction or joint in learned for joint, places in rows.items() for _ in range(places.size)]


def _friction_of(model: Model, whole_friction: bool) -> dict[str, tuple[float, float]]:
    """Coefficient and speed of each joint whose friction belongs to the function."""
    taken, rows = _with_friction(model, whole_friction), rows_of(model, "joint.friction", ())
    friction, speed = (np.broadcast_to(x, len(taken)) for x in (model.joints.friction, model.joints.friction_speed))
    found = {}
    for joint, places in rows.items():
        here = places[0][np.array(taken)[places[0]]]
        if len(here) and joint in joint_places(model):
            found[joint] = float(friction[here.item()]), float(speed[here.item()])
        elif np.any(friction[here]):
            raise ValueError(
                f"the friction of joint {joint} cannot be exported: it has not one freedom of its own, but several, or "
                "copies another joint; use whole_friction=False"
            )
    return found


def _of_single_joints(model: Model, function: LearnedForce) -> LearnedForce:
    """The same for the joints of one freedom alone: networks see no others."""
    places = joint_places(model).values()
    in_q, in_v = (np.array([pair[i] for pair in places], dtype=int) for i in (0, 1))
    rest_q, rest_v = map(jnp.asarray, model.rest())

    def force(q, qd, command):
        return function(rest_q.at[in_q].set(q), rest_v.at[in_v].set(qd), rest_v.at[in_v].set(command))[in_v]

    return force
