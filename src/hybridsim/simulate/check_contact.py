"""What contact cannot make good: shapes that overlap deeply at the start, and scenes in which nothing keeps shapes apart."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import jax
import numpy as np
from jax.core import Tracer
from jaxtyping import Float

from ..contact import Contact, Moment
from ..contact.points import contact_points, pairs_of_points
from ..dynamics import assemble, configuration, expand_q, expand_v, velocities
from ..model import Model
from ..spatial import Array

if TYPE_CHECKING:
    from .rollout import Rollout

APPROACH = "contact.approach"
BEFORE = "contact.normal_velocity"

_DEEP = 1.0
"""A start is refused where shapes overlap by more than this part of the thinner one's half thickness: from there on, the
shortest way out may be the wrong one. Less is taken back in the first step."""
_INFEASIBLE = 0.1
"""A contact has failed where its points go on approaching at more than this part of the speed that they had, or that
gravity gives in one step. Contact yields by `softness`, one part in a million, times the ratio of the mass that presses to the
lighter of the two bodies: up to a ratio of about 1e5 a scene can be told from one without a solution."""


class ContactError(ValueError):
    """Shapes that cannot be kept apart."""


def check_overlaps(
    model: Model, q: Float[Array, "*starts nq"], contact: Contact | None, when: Sequence[str] = ("at the start",)
) -> None:
    """Refuse starts at which shapes overlap deeply; `when` says of each what it is. Traced numbers are not looked at."""
    if contact is None or not model.contacts.pairs:
        return
    if any(isinstance(x, Tracer) for x in jax.tree.leaves((model, q))):
        return
    from .. import native  # takes time to import

    distances = native.jit(_distances, fallback="xla")
    owner, touching = pairs_of_points(model), np.array(contact.touches(model), dtype=bool)
    thickness = np.array([_half_thickness(model, i) for i in range(len(model.geometry.shapes))])
    allowed = np.array([_DEEP * min(thickness[a], thickness[b]) for a, b in model.contacts.pairs])[owner]
    allowed[~touching[owner]] = np.inf
    for start, name in zip(np.atleast_2d(np.asarray(q)), when, strict=True):
        depth = -np.asarray(distances(model, start))
        worst = int(np.argmax(depth - allowed))
        if depth[worst] > allowed[worst]:
            a, b = _names(model, int(owner[worst]))
            raise ContactError(
                f"{a!r} and {b!r} overlap by {depth[worst]:.3g} m {name}, more than half of the thinner one, so that which way "
                "they should part is unknown; start them apart (a free body's height is the third number of its q), or let "
                f'them pass through each other: contact=hs.ContactByPair({{("{a}", "{b}"): None}}), in fit.toml '
                f'[contact] pairs = [{{ between = ["{a}", "{b}"], model = "none" }}]'
            )


def check_kept_apart(model: Model, result: "Rollout", dt: float) -> None:
    """Refuse a rollout in which shapes went on approaching although they touched. It has recorded both variables."""
    approach, before = (np.asarray(result.values[name]) for name in (APPROACH, BEFORE))
    fall = dt * float(np.linalg.norm(np.asarray(model.gravity)))
    # A body that is squeezed may hardly move; the speed of what squeezes it is that of another of its contacts.
    scale = np.maximum(np.abs(before).max(axis=1, keepdims=True), fall)
    failed = approach > _INFEASIBLE * scale
    if not failed.any():
        return
    when = int(np.argmax(failed.any(axis=1)))
    worst = int(np.argmax(np.where(failed[when], approach[when], 0.0)))
    a, b = _names(model, int(pairs_of_points(model)[worst]))
    raise ContactError(
        f"nothing keeps {a!r} and {b!r} apart in step {when} (t = {float(result.t[when]):g} s): they touch and go on "
        f"approaching at {approach[when, worst]:.3g} m/s. Something is squeezed between what cannot yield, such as a prescribed "
        "body, a fixed one or joint limits: change that motion, use hs.Springs(), or make the masses less unequal"
    )


def _distances(model: Model, q: Float[Array, " nq"]) -> Float[Array, " points"]:
    mechanism = assemble(model)
    all_q, qd = expand_q(mechanism, q), np.zeros(model.nv)
    conf = configuration(mechanism, all_q)
    vel = velocities(mechanism, all_q, conf, expand_v(mechanism, qd))
    return contact_points(Moment(model, mechanism, all_q, qd, conf, vel)).distance


def _half_thickness(model: Model, shape: int) -> float:
    """Half of the smallest extent of a shape [m]; infinite for a plane and for points on one side of a body."""
    geometry = model.geometry
    kind, size, points = geometry.shapes[shape], np.asarray(geometry.size[shape]), np.asarray(geometry.points[shape])
    if kind in ("plane", "patch"):
        return np.inf
    if kind == "points":
        return float(np.ptp(points, axis=0).min() / 2)
    if kind == "prism":
        return float(min(size[0], np.ptp(points[:, :2], axis=0).min() / 2))
    return float({"sphere": size[:1], "capsule": size[:1], "cylinder": size[:2]}.get(kind, size).min())


def _names(model: Model, pair: int) -> tuple[str, str]:
    a, b = model.contacts.pairs[pair]
    return model.geometry.names[a], model.geometry.names[b]
