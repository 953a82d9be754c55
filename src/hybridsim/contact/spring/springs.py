"""Contact by springs: every point pushes on its own, by its depth and velocity."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from ...dynamics import expand_v
from ...model import Model
from ...model.checks import check_kind
from ...model.names import Marks
from ...spatial import Array, add_at, cross, pick
from ..interface import Contact, Moment
from ..points import contact_points, marked_points, point_table
from ..rows import limit_gaps, point_velocities
from ..sharing import point_shares, shared
from .brown_mcphee import BrownMcPhee
from .friction import friction_force
from .hunt_crossley import HuntCrossley
from .interface import FrictionLaw, NormalLaw, PairNumbers


class Springs(Contact):
    """Soft contact: bodies overlap a little. Smooth, cheap, right for any integrator; stiff ones need a small dt."""

    normal: NormalLaw = HuntCrossley()
    friction: FrictionLaw = BrownMcPhee()

    def __check_init__(self):
        laws = "hs.BrownMcPhee(), hs.Coulomb(), hs.Andersson(), hs.Hollars() or hs.Frictionless()"
        check_kind("Springs.normal", self.normal, NormalLaw, "hs.HuntCrossley()")
        check_kind("Springs.friction", self.friction, FrictionLaw, laws)

    @property
    def smooth_joint_friction(self) -> bool:
        return True

    def acts_on_velocities(self, model: Model) -> bool:
        return False

    def memory(self, model: Model) -> None:
        return None

    def velocities(self, now, free, dt, named, memory):
        return free, free, memory

    def forces(self, now: Moment, named: Marks):
        on_nodes = self.on_nodes(now, named) if now.model.contacts.pairs else None
        return on_nodes, self.on_freedoms(now) if now.model.limits.freedoms else None

    def on_nodes(self, now: Moment, named: Marks) -> Float[Array, "nodes 6"]:
        """Forces of contact points."""
        table, points = point_table(now), marked_points(contact_points(now), named)
        velocity = point_velocities(now, points, now.vel.v)
        rate = jnp.sum(points.normal * velocity, axis=-1)
        sliding = named("contact.sliding_velocity", velocity - rate[:, None] * points.normal)
        rate = named("contact.normal_velocity", rate)
        depth = named("contact.depth", -points.distance)
        numbers = PairNumbers.of(now.model.contacts, table.pairs).marked(named)
        load = shared(self.normal(depth, -rate, numbers), point_shares(now.model, table))
        load = named("contact.normal_force", load)
        rubbing = named("contact.friction_force", friction_force(self.friction, load, sliding, numbers))
        force = load[:, None] * points.normal + rubbing
        total = jnp.zeros((len(now.conf.reference), 6), dtype=force.dtype)
        for nodes, sign in ((table.nodes_a, 1.0), (table.nodes_b, -1.0)):
            moving = np.flatnonzero(nodes >= 0)
            if len(moving):
                push = sign * pick(force, moving)
                lever = pick(points.position, moving) - pick(now.conf.reference, nodes[moving])
                spatial = jnp.concatenate([cross(lever, push), push], axis=-1)
                total = total + add_at(len(now.conf.reference), nodes[moving], spatial)
        return total

    def on_freedoms(self, now: Moment) -> Float[Array, " all_v"]:
        """Forces of joint limits. A joint limit is a Hunt-Crossley spring of exponent 1."""
        limits, freedoms = now.model.limits, np.array(now.model.limits.freedoms, dtype=int)
        gap, away = limit_gaps(now.model, now.q)
        rate = away * pick(expand_v(now.mechanism, now.qd), freedoms)
        none = jnp.zeros_like(gap)
        numbers = PairNumbers(none, none, none + 1, limits.stiffness, limits.dissipation, none + 1)
        return add_at(now.model.topology.nv_all, freedoms, away * self.normal(-gap, -rate, numbers))
