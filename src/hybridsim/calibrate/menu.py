"""The menu: what a model may lack, each entry with the numbers that would supply it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..data.log import Trajectory
from ..identify import Free
from ..identify.places import INERTIA_FACTOR, control_names
from ..model import Model
from ..model.pairs import immovable
from .library import COUPLING, TERMS, one_freedom_joints

SHAPES = tuple(effect for effect in TERMS if effect.startswith("friction"))
"""Forms of dry friction: without it they would stand in for it."""
FRICTION, DELAY, ZERO, ROTOR, CENTRE, INERTIA, GAIN, BIAS = (
    "Coulomb friction",
    "delay of the controls",
    "zero of the encoder, new in every run",
    "inertia of the rotor",
    "centre of mass",
    "inertia of the link",
    "gain of the controls",
    "offset of the controls",
)
EFFECTS = {
    "friction": FRICTION,
    "delay": DELAY,
    "encoder-zero": ZERO,
    "rotor-inertia": ROTOR,
    "centre-of-mass": CENTRE,
    "link-inertia": INERTIA,
    "control-gain": GAIN,
    "control-offset": BIAS,
    **dict(
        zip(("drag", "one-sided-friction", "load-friction", "position-friction", "position-force"), TERMS, strict=True)
    ),
    "coupling": COUPLING,
}
"""All that can be asked for, by the words of fit.toml."""


@dataclass(frozen=True)
class Entry:
    """One effect at one place."""

    effect: str
    where: str
    free: tuple[Free, ...] = ()
    """Numbers of laws that the engine has, which URDF, MJCF or the apparatus can hold."""
    weights: tuple[int, ...] = ()
    """Weights of the library, for forces that no law of the engine is for."""
    relative: bool = False
    """Whether it says nothing new where it is free at all places: gains of all controls only scale masses and friction."""
    after: str = ""
    """The simpler effect at the same joint that has to be there before this one is asked for."""

    @property
    def law(self) -> bool:
        return bool(self.free)


def entries(
    model: Model,
    logs: Sequence[Trajectory],
    library: dict[tuple[str, str], tuple[int, ...]],
    effects: Sequence[str],
    delay: float,
    taken: frozenset[str],
) -> list[Entry]:
    """The menu for a model and its logs: nothing that is free anyway (`taken`), and nothing that these logs cannot have.

    `delay`: the longest that is thought possible [s].
    """
    found: list[Entry] = []
    driven = all(log.controls is not None for log in logs)
    joints = one_freedom_joints(model)
    for joint in joints:
        reach = float(np.ptp(np.concatenate([log.q[:, model.q_of(joint)] for log in logs])))
        found.append(Entry(FRICTION, joint, (Free(f"joint/{joint}/friction"),)))
        if driven:
            # What nothing drives has no rotor; its links may be harder to turn.
            found.append(Entry(ROTOR, joint, (Free(f"joint/{joint}/armature"),)))
        free = Free(f"sensor/{joint}/bias", lower=-0.5 * reach, upper=0.5 * reach, per_run=True)
        found.append(Entry(ZERO, joint, (free,)))
    for link in moving_links(model):
        found += [Entry(CENTRE, f"{link}, {axis}", (Free(f"link/{link}/com.{axis}"),)) for axis in "xyz"]
        if np.any(np.asarray(model.links.inertia)[model.link_names.index(link)]):
            found.append(Entry(INERTIA, link, (Free(f"link/{link}/{INERTIA_FACTOR}", lower=0.05, upper=20.0),)))
    if driven:
        # A step of the log earlier at most: controls that change smoothly are not held from sample to sample.
        earliest = -float(np.median([log.dt for log in logs]))
        found.append(Entry(DELAY, "", (Free("control/delay", lower=earliest, upper=delay),)))
        count = np.asarray(logs[0].controls).shape[1]
        for name in control_names(model, count):
            gain = Free(f"control/{name}/gain", lower=0.5, upper=2.0)
            found.append(Entry(GAIN, name, (gain,), relative=any(path.endswith("/mass") for path in taken)))
            found.append(Entry(BIAS, name, (Free(f"control/{name}/bias"),)))
    for (effect, joint), places in library.items():
        found.append(Entry(effect, joint, weights=places, after=FRICTION if effect in SHAPES else ""))
    asked = [e for e in found if e.effect in effects and not taken & {f.pattern for f in e.free}]
    # Forms of friction need its constant: asked for too, or free anyway.
    rough = {e.where for e in asked if e.effect == FRICTION} | {j for j in joints if f"joint/{j}/friction" in taken}
    return [e for e in asked if not e.after or e.where in rough]


def moving_links(model: Model) -> tuple[str, ...]:
    """The link behind each joint that moves; what is rigidly fixed to it moves with it, and counts as part of it.

    Without links that only prescribed joints move: their masses change nothing.
    """
    topology = model.topology
    moved = {joint for joint, kind in enumerate(topology.kinds) if kind.nv}
    links = zip(topology.link_names, topology.link_joints, strict=True)
    return tuple(name for i, (name, joint) in enumerate(links) if joint in moved and not immovable(topology, i))
