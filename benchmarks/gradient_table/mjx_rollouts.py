"""The same table for MJX: its derivatives against its own central differences. Short horizons, because it compiles slowly."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import mujoco
import numpy as np
from optional_rivals import found

from .compare import Block, compare
from .differences import differences
from .parameters import Group
from .table import Row

STEPS = 20
PUSH = np.array([0.05, -0.08, 0.06, 0.002, 0.003, -0.004])
"""Force in the world's axes, then moment in the body's."""


@dataclass(frozen=True)
class Thrown:
    """A floating body that touches the floor within a few steps."""

    name: str
    geom: str
    q: tuple
    qd: tuple
    """Linear in the world's axes, then angular in the body's, as MuJoCo has it."""
    friction: float = 0.5

    def mjcf(self, iterations: int) -> str:
        option = f'<option timestep="0.001" iterations="{iterations}" ls_iterations="10"/>'
        geom = f'<geom {self.geom} mass="0.5" friction="{self.friction}"/>'
        floor = f'<geom type="plane" size="5 5 1" friction="{self.friction}"/>'
        return f"<mujoco>{option}<worldbody>{floor}<body><freejoint/>{geom}</body></worldbody></mujoco>"


BOX, BALL, CUBE = 'type="box" size=".05 .06 .04"', 'type="sphere" size=".1"', 'type="box" size=".05 .05 .05"'
TURNED = (0.9637, 0.1482, -0.0988, 0.1976)
BODIES = (
    Thrown("flight", BOX, (0, 0, 1, *TURNED), (1, 0.5, 0.3, 2, -1, 3)),
    Thrown("sliding", BOX, (0, 0, 0.0398, 0.98, 0, 0, 0.199), (1.2, 0.4, 0, 0, 0, 0.5), 0.3),
    Thrown("bouncing", BALL, (0, 0, 0.105, *TURNED), (0.5, 0.2, -1.4, 1, -2, 3)),
    Thrown("thrown cube", CUBE, (0, 0, 0.09, *TURNED), (1, 0.3, -1.0, 4, -3, 2), 0.4),
)
BOTH = ("sliding", "bouncing")
"""Those that are also run with one iteration: to compile its reverse mode takes more than a minute each."""


def rows() -> Iterator[Row]:
    """With MuJoCo's own number of iterations, whose loop has no reverse mode, and with one, which has."""
    mjx = found("mujoco.mjx")
    if mjx is None:
        return
    for body in BODIES:
        yield _row(mjx, body, 100)
        if body.name in BOTH:
            yield _row(mjx, body, 1)


def _row(mjx, body: Thrown, iterations: int) -> Row:
    groups, final, size = _final(mjx, body, iterations)
    zero = jnp.zeros(size)
    engine = f"MJX, {iterations} iteration{'s' if iterations > 1 else ''}"
    value, forward = jax.jit(final), np.array(jax.jit(jax.jacfwd(final))(zero))
    note, reverse = "", forward
    try:
        reverse = np.array(jax.jit(jax.jacrev(final))(zero))
    except ValueError as error:
        if "Reverse-mode differentiation does not work" not in str(error):
            raise
        note = "no reverse mode: a while loop"
    table = differences(lambda xs: np.stack([np.array(value(x)) for x in xs]), np.zeros(size))
    blocks: list[Block] = compare(groups, 7, forward, reverse, table)
    return Row(body.name, engine, STEPS, blocks, note)


def _final(mjx, body: Thrown, iterations: int) -> tuple[tuple[Group, ...], Callable, int]:
    model = mjx.put_model(mujoco.MjModel.from_xml_string(body.mjcf(iterations)))
    data = mjx.make_data(model)
    sizes = np.flatnonzero(np.asarray(model.geom_size)[1] > 0)
    groups = (
        Group("q", 6),
        Group("qd", 6),
        Group("control", 6),
        Group("mass", 1, True),
        Group("size", len(sizes), True),
        Group("friction", 1),
    )
    ends = np.cumsum([group.count for group in groups])

    def final(theta):
        parts = [theta[end - group.count : end] for group, end in zip(groups, ends, strict=True)]
        q, qd, control, mass, size, friction = parts
        start = jnp.asarray(body.q, dtype=float)
        pose = jnp.concatenate([start[:3] + q[:3], _turned(start[3:] / jnp.linalg.norm(start[3:]), q[3:])])
        changed = model.replace(
            body_mass=model.body_mass.at[1].multiply(1 + mass[0]),
            geom_size=jnp.asarray(model.geom_size).at[1, sizes].add(jnp.asarray(model.geom_size)[1, sizes] * size),
            geom_friction=jnp.asarray(model.geom_friction).at[:, 0].add(friction[0]),
        )
        state = data.replace(qpos=pose, qvel=jnp.asarray(body.qd) + qd, qfrc_applied=PUSH + control)
        state = jax.lax.scan(lambda d, _: (mjx.step(changed, d), None), state, None, length=STEPS)[0]
        return jnp.concatenate([state.qpos, state.qvel])

    return groups, final, int(ends[-1])


@partial(jnp.vectorize, signature="(4),(3)->(4)")
def _turned(quaternion, turn):
    """To first order in the rotation vector, then made a unit again."""
    w, v = quaternion[0], quaternion[1:]
    half = turn / 2
    product = jnp.concatenate([(w - v @ half)[None], v + w * half + jnp.cross(v, half)])
    return product / jnp.sqrt(product @ product)
