"""What a user waits for a gradient through contact with nothing on disk."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import contact_gradients
import jax.numpy as jnp
import push_scene
from box_scenes import NEAR, boxes
from measure import Effort, Wait, prepare_native, seconds

import hybridsim as hs

BOXES, STEPS = 16, 100


@dataclass(frozen=True)
class Gradient:
    name: str
    wait: Wait
    time: float
    """Of one value with its gradient [s]."""
    limit: float
    """Longest wait that is promised [s]."""


def gradients(effort: Effort) -> dict[str, Callable[[], Gradient]]:
    """How to measure each gradient, by name."""
    pushes = {f"gradient of a push, {how}": partial(push, how, effort) for how in push_scene.CONTACTS}
    return {
        f"gradient of a toss of {contact_gradients.TOSS} steps": partial(toss, effort),
        "gradient of P5": partial(p5, effort),
        **pushes,
        f"gradient of {BOXES} boxes": partial(many_boxes, effort),
    }


def toss(effort: Effort) -> Gradient:
    found = contact_gradients.toss(effort)
    return Gradient("toss of a cube", found.wait, found.timings.time("gradient"), 5.0)


def p5(effort: Effort) -> Gradient:
    found = contact_gradients.p5(effort, ["of the solution"])["of the solution"]
    return Gradient("five links on a floor (P5)", found.wait, found.timings.time("native"), 3.0)


def push(how: str, effort: Effort) -> Gradient:
    """Of the plate's last pose, by all numbers of the model."""
    model, start, stroke = push_scene.push()

    def pose(model, start, stroke):
        control, options = hs.Control(prescribed=stroke), {"dt": push_scene.DT, "contact": push_scene.CONTACTS[how]}
        return _sum(hs.rollout(model, start, control, **options).q[-1][:7])

    return _measured(f"push of 40 mm, {how} under the plate", pose, (model, start, stroke), 0, 15.0, effort)


def many_boxes(effort: Effort) -> Gradient:
    """Of the last poses, by the first state and all numbers of the model."""
    scene = boxes(BOXES, NEAR)

    def pose(model, q, qd):
        return _sum(hs.rollout(model, (q, qd), dt=scene.dt, steps=STEPS).q[-1])

    return _measured(f"{BOXES} boxes", pose, (scene.model, scene.q, scene.qd), (0, 1, 2), 5.0, effort)


def _measured(name: str, f: Callable, given: tuple, by: int | tuple, limit: float, effort: Effort) -> Gradient:
    """`by`: the arguments by which f is differentiated."""
    by = partial(hs.native.value_and_grad, argnums=by)
    wait, gradient = prepare_native(f, *given, by=by)
    return Gradient(name, wait, seconds(lambda: gradient(*given), effort.at_least, 1), limit)


def _sum(q):
    """One number of which every coordinate has a part of its own."""
    return jnp.sum(q * jnp.arange(1.0, len(q) + 1))
