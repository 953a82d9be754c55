"""Contact by impulses: the papers' non-linear complementarity problem, with all contacts, joint limits and joint friction
together, solved for the velocity after the step."""

from typing import Literal, cast

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Bool, Float

from ...dynamics import impulse_balance, mass_root, momentum_balance
from ...model import Model
from ...model.checks import NOT_NEGATIVE, check_choice, check_kind
from ...model.names import Marks
from ...spatial import Array, Scalar
from ..interface import Contact, Moment
from ..points import count_points
from .assemble import all_actions, approach, assemble_scene, rubbing_freedoms, sideways
from .cone import Cone
from .interface import Friction
from .misses import misses
from .problem import Impulse, Problem, Solution
from .pyramid import Pyramid
from .restitution import without_gain
from .scene import Scene
from .settle import Settled, settle, settle_through
from .slots import Slots
from .solve import converged, counted
from .targets import baumgarte, of_momentum, of_position, of_stopping


class Impulses(Contact):
    """Hard contact: nothing overlaps after a step, and impacts take no time.

    Two problems with the same rows are solved in a step. The first gives the velocity after it: approaching points
    stop or bounce. The second gives the velocity with which positions move: points end where they touch, and those that
    bounce within the step leave at the time of their impact. So keeping bodies apart gives them no energy, and the
    derivative of a bounce is that of the motion, not of the grid of time steps.
    """

    sweeps: int = eqx.field(static=True, default=100)
    """How many are done with `derivative="sweeps"`."""
    tolerance: float = eqx.field(static=True, default=1e-10)
    """A Newton step that changes the solution by less, beside its size, is the last."""
    friction: Friction = Cone()
    derivative: Literal["implicit", "sweeps"] = eqx.field(static=True, default="implicit")
    """Of the converged solution, or through exactly `sweeps` sweeps; see docs/contact.md."""
    stabilisation: Literal["positions", "velocities"] = eqx.field(static=True, default="positions")
    """How overlap is removed: by moving positions, or by giving bodies a velocity (Baumgarte; one problem a step)."""
    before_forces: bool = eqx.field(static=True, default=False)
    """Whether contact sees the velocity at the start of the step, as in TDS, and not that which forces lead to."""
    joint_friction: bool = eqx.field(static=True, default=False)
    """Coulomb friction of joints as rows that hold a joint at rest, in place of the smooth law."""

    def __check_init__(self):
        if not (isinstance(self.sweeps, int) and self.sweeps >= 1):
            raise ValueError(f"Impulses.sweeps is {self.sweeps!r}; it must be a whole number, at least 1")
        NOT_NEGATIVE.check("Impulses.tolerance", self.tolerance)
        check_kind("Impulses.friction", self.friction, Friction, "hs.Cone() or hs.Pyramid()")
        check_choice("Impulses.derivative", self.derivative, ("implicit", "sweeps"))
        check_choice("Impulses.stabilisation", self.stabilisation, ("positions", "velocities"))

    @classmethod
    def tds(cls, sweeps: int = 50) -> "Impulses":
        """As the papers' engine: pyramid, Baumgarte, contact before forces, the given number of sweeps.

        Its numbers are position_gain 0.2 and softness 1e-5.
        """
        return cls(sweeps, 0.0, Pyramid(), "sweeps", "velocities", before_forces=True)

    @property
    def smooth_joint_friction(self) -> bool:
        return not self.joint_friction

    def forces(self, now, named):
        return None, None

    def acts_on_velocities(self, model: Model) -> bool:
        rows = len(model.contacts.pairs) + len(model.limits.freedoms) + self.joint_friction
        return bool(model.nv and rows)

    def memory(self, model: Model) -> Impulse | None:
        """Impulses change little from step to step, so the search for the next ones starts from the last."""
        if self.derivative == "sweeps":
            return None
        rows = len(model.limits.freedoms) + (len(rubbing_freedoms(model)) if self.joint_friction else 0)
        dtype = jnp.result_type(model.gravity)
        return Impulse(jnp.zeros((count_points(model), 3), dtype=dtype), jnp.zeros(rows, dtype=dtype))

    def velocities(
        self, now: Moment, free: Float[Array, " nv"], dt: Scalar, named: Marks, memory: Impulse | None
    ) -> tuple[Float[Array, " nv"], Float[Array, " nv"], Impulse | None]:
        course = now.course
        seen = now.qd if self.before_forces else free
        # Prescribed joints need not end a step with the velocity with which their positions moved.
        both = (seen,) if course is None else (course.into(seen, course.after), course.into(seen, course.moving))
        # What stopping alone would do must be known only where something bounces.
        after_it = (len(both) - 1, of_position)
        goals = ((0, baumgarte),) if self._by_velocities else ((0, of_stopping), (0, of_momentum), after_it)
        scene, near, radii, bounces = assemble_scene(now, both, goals, dt, self.joint_friction, named)
        wanted = jnp.ones(1, dtype=bool) if self._by_velocities else jnp.stack([bounces, True, True])
        rows = len(scene.table.pairs), len(scene.freedoms)
        dtype = scene.numbers.points.distance.dtype
        nothing = Impulse(jnp.zeros((rows[0], 3), dtype=dtype), jnp.zeros(rows[1], dtype=dtype))
        start = lax.stop_gradient(nothing if memory is None else memory)
        if self.derivative == "implicit":
            settled = settle(self.friction, self._converged, goals, scene, near, radii, wanted, start)
        else:
            everything = Slots.all(rows[0]), Slots.all(rows[1])
            settled = settle_through(self._counted, goals, scene, wanted, start, *everything)
        first = 0 if self._by_velocities else 1
        after, moving = settled.velocity[first], settled.velocity[-1]
        if not self._by_velocities:
            after = lax.cond(bounces, lambda: self._without_gain(now, scene, settled, both[0]), lambda: after)
        impulse = jax.tree.map(lambda x: x[first], settled.impulse)
        marked = named("contact.impulse", impulse.contacts)
        if marked is not impulse.contacts:
            more = self._caused(now, scene, Impulse(marked - impulse.contacts, jnp.zeros_like(impulse.bounded)))
            after, moving = after + more, moving + more
        named.offer("contact.approach", lambda: approach(now, scene, after))
        named.offer("contact.residual", lambda: misses(self.friction, goals, scene, wanted, settled.impulse))
        named.offer("contact.normal_force", lambda: marked[:, 0] / dt)
        named.offer("contact.friction_force", lambda: sideways(scene, marked) / dt)
        moving_free = free
        if course is not None:
            moving_free = course.into(free, course.moving)
            x = Impulse(marked, impulse.bounded)
            driving = cast(Array, course.force)
            named.offer("joint.prescribed_force", lambda: driving + self._holding(now, scene, x, after) / dt)
        return free + after, moving_free + moving, None if memory is None else lax.stop_gradient(impulse)

    @property
    def _by_velocities(self) -> bool:
        return self.stabilisation == "velocities"

    def _without_gain(self, now: Moment, scene: Scene, settled: Settled, seen: Float[Array, " nv"]) -> Array:
        """The velocity after a step in which something bounces."""
        changes, forces = [], []
        for g in range(2):
            v, x = settled.velocity[g], jax.tree.map(lambda x, g=g: x[g], settled.impulse)
            forces.append(self._moving(now, v) - self._holding(now, scene, x, v))
            changes.append(v)
        return without_gain(seen, (changes[0], changes[1]), (forces[0], forces[1]))

    def _moving(self, now: Moment, v: Float[Array, " nv"]) -> Float[Array, " nv"]:
        """M v"""
        nodes, all_v = len(now.conf.reference), now.mechanism.topology.nv_all
        return -momentum_balance(now.mechanism, now.conf, jnp.zeros((nodes, 6)), jnp.zeros(all_v), v)

    def _holding(self, now: Moment, scene: Scene, x: Impulse, change: Float[Array, " nv"]) -> Float[Array, " nv"]:
        """The impulses that prescribed joints need in addition, M v - J^T x; zero at all others."""
        if now.course is None:
            return jnp.zeros_like(change)
        flat = jnp.concatenate([x.contacts.ravel(), x.bounded])
        return now.course.held_only(-impulse_balance(now.mechanism, now.conf, all_actions(now, scene), flat, change))

    def _caused(self, now: Moment, scene: Scene, x: Impulse) -> Float[Array, " nv"]:
        """What impulses do to velocities."""
        root = mass_root(now.mechanism, now.conf)
        flat = jnp.concatenate([x.contacts.ravel(), x.bounded])
        rest = jnp.zeros(now.model.nv, dtype=flat.dtype)
        pushed = impulse_balance(now.mechanism, now.conf, all_actions(now, scene), flat, rest)
        return root.velocities(root.of_force(pushed))

    def _converged(self, problem: Problem, start: Impulse, wanted: Bool[Array, ""]) -> Solution:
        return converged(self.friction, problem, start, wanted, self.tolerance)

    def _counted(self, problem: Problem, start: Impulse, wanted: Bool[Array, ""]) -> Solution:
        return lax.cond(
            wanted,
            lambda: counted(self.friction, problem, start, self.sweeps),
            lambda: Solution(start.contacts, start.bounded, jnp.zeros(problem.nv, dtype=start.contacts.dtype)),
        )
