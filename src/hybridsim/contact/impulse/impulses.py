"""Contact by impulses: the papers' non-linear complementarity problem, with all contacts, joint limits and joint friction
together, solved for the velocity after the step."""

from typing import Literal, cast

import equinox as eqx
import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Float

from ...dynamics import Course, impulse_balance
from ...model import Model
from ...model.checks import NOT_NEGATIVE, check_choice, check_kind
from ...model.names import Marks
from ...spatial import Array, Scalar
from ..interface import Contact, Moment
from ..points import count_points
from .assemble import assemble_rows, rubbing_freedoms
from .cone import Cone
from .interface import Friction
from .misses import misses
from .problem import Impulse, Problem, Solution
from .pyramid import Pyramid
from .restitution import without_gain
from .settle import Setting, settle, settle_through
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
        course, moving_free = now.course, free
        seen = now.qd if self.before_forces else free
        if course is not None:
            seen, moving_free = course.into(seen, course.after), course.into(free, course.moving)
        assembly = assemble_rows(now, seen, dt, self.joint_friction, named)
        # Prescribed joints need not end a step with the velocity with which their positions moved.
        positions = assembly if course is None else assembly.at(course.into(seen, course.moving))
        bounces = assembly.bounces()
        if self.stabilisation == "velocities":
            targets, first, wanted = ((assembly, baumgarte),), 0, jnp.ones(1, dtype=bool)
        else:
            # What stopping alone would do must be known only where something bounces.
            targets = (assembly, of_stopping), (assembly, of_momentum), (positions, of_position)
            first, wanted = 1, jnp.stack([bounces, True, True])
        goals = jax.tree.map(lambda *rows: jnp.stack(rows), *(rows.rows(goal) for rows, goal in targets))
        nothing = Impulse(jnp.zeros_like(goals.contacts.b[0]), jnp.zeros_like(goals.bounded.b[0]))
        start = lax.stop_gradient(nothing if memory is None else memory)
        # Far from everything no row has anything to do.
        setting = Setting(now.mechanism, now.conf, assembly.actions(), goals)
        near = assembly.near() if course is None else assembly.near() | positions.near()
        problem = near, setting, wanted, start
        if self.derivative == "implicit":
            settled = settle(self.friction, self._converged, *problem)
        else:
            settled = settle_through(self._counted, *problem)
        after, moving = settled.velocity[first], settled.velocity[-1]
        if self.stabilisation == "positions":
            after = lax.cond(bounces, lambda: without_gain(assembly, settled), lambda: after)
        impulse = jax.tree.map(lambda x: x[first], settled.impulse)
        marked = named("contact.impulse", impulse.contacts)
        if marked is not impulse.contacts:
            more = assembly.velocities(marked - impulse.contacts)
            after, moving = after + more, moving + more
        named.offer("contact.approach", lambda: assembly.approach(after))
        named.offer("contact.residual", lambda: misses(self.friction, setting, wanted, settled))
        named.offer("contact.normal_force", lambda: marked[:, 0] / dt)
        named.offer("contact.friction_force", lambda: assembly.sideways(marked) / dt)
        if course is not None:
            named.offer("joint.prescribed_force", lambda: self._driving(now, assembly, marked, impulse, after, dt))
        return free + after, moving_free + moving, None if memory is None else lax.stop_gradient(impulse)

    def _driving(self, now: Moment, assembly, contacts, impulse: Impulse, after, dt: Scalar) -> Float[Array, " nv"]:
        """What drives prescribed joints: without impulses, and what these ask for in addition."""
        course = cast(Course, now.course)
        x = Impulse(contacts, impulse.bounded).flat
        missing = -impulse_balance(now.mechanism, now.conf, assembly.actions(), x, after)
        return cast(Array, course.force) + course.held_only(missing) / dt

    def _converged(self, problem: Problem, start: Solution) -> Solution:
        return converged(self.friction, problem, start, self.tolerance)

    def _counted(self, problem: Problem, start: Solution) -> Solution:
        return counted(self.friction, problem, start, self.sweeps)
