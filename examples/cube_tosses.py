"""How well do simulators foretell where a real cube goes that is thrown onto a board?

Measured tosses of the ContactNets dataset (set HYBRIDSIM_DATA to the folder that holds contactnets-cube/). Each is
rolled out from its first sample to its end. A toss's error is the mean over time; the table shows medians over the
tosses, and the mean where a cube that ends on another face should count. Fifty tosses are for fitting: friction and
restitution of impulses, friction, stiffness and dissipation of springs, by SciPy on our gradient. Errors are of the
others.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import jax.numpy as jnp
import mujoco
import mujoco.rollout
import numpy as np
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

import hybridsim as hs
from hybridsim.data import PUBLISHED_CUBE, CubeParameters, CubeToss, DataError, read_cube_tosses

FITTED, SEED = 50, 0
HORIZON = 60
"""Samples of a toss that are fitted: later ones depend too much on how the first impacts went."""
SUBSTEPS = 7
"""Steps of a simulator between two samples."""
GRAVITY = 9.81
"""[m/s^2]"""

Poses = tuple[np.ndarray, np.ndarray]
"""Positions (time, 3) [m] and quaternions wxyz (time, 4), one row a sample, the first included."""
Predict = Callable[[CubeToss], Poses]


@dataclass(frozen=True)
class Row:
    """Errors of one simulator, one number a toss."""

    name: str
    position: np.ndarray
    """[% of the edge]"""
    rotation: np.ndarray
    """[degree]"""


def split(tosses: Sequence[CubeToss]) -> tuple[list[CubeToss], list[CubeToss]]:
    """(for fitting, held out), always the same."""
    order = np.random.default_rng(SEED).permutation(len(tosses))
    return [tosses[i] for i in order[:FITTED]], [tosses[i] for i in order[FITTED:]]


def errors(predicted: Poses, toss: CubeToss) -> tuple[float, float]:
    """Means over time: of the distance [% of the edge] and of the angle between the orientations [degree]."""
    positions, quaternions = predicted
    distance = np.linalg.norm(positions - toss.position, axis=1)
    found, true = (Rotation.from_quat(q, scalar_first=True) for q in (quaternions, toss.quaternion))
    angle = (found.inv() * true).magnitude()
    return 100 * float(np.mean(distance)) / PUBLISHED_CUBE.edge, float(np.rad2deg(np.mean(angle)))


def measured(name: str, predict: Predict, tosses: Sequence[CubeToss]) -> Row:
    """The errors of a simulator on these tosses."""
    return Row(name, *np.array([errors(predict(toss), toss) for toss in tosses]).T)


def table(rows: Sequence[Row], title: str) -> Table:
    result = Table(title=title, box=box.SIMPLE_HEAD, pad_edge=False, title_justify="left")
    result.add_column("simulator")
    for column in ("position, median [% of edge]", "rotation, median [deg]", "rotation, mean [deg]"):
        result.add_column(escape(column), justify="right")
    for row in rows:
        numbers = np.median(row.position), np.median(row.rotation), np.mean(row.rotation)
        result.add_row(row.name, *(f"{x:.1f}" for x in numbers))
    return result


def mujoco_cube(cube: CubeParameters, timestep: float, cone: str) -> mujoco.MjModel:
    """The cube and the board; all solver settings but the friction cone are MuJoCo's own."""
    inertia = " ".join([repr(cube.inertia)] * 3)
    return mujoco.MjModel.from_xml_string(f"""
      <mujoco>
        <option timestep="{timestep!r}" cone="{cone}" gravity="0 0 {-GRAVITY}"/>
        <default><geom friction="{cube.friction}"/></default>
        <worldbody>
          <geom type="plane" size="5 5 1"/>
          <body>
            <freejoint/>
            <inertial pos="0 0 0" mass="{cube.mass}" diaginertia="{inertia}"/>
            <geom type="box" size="{" ".join([repr(cube.edge / 2)] * 3)}"/>
          </body>
        </worldbody>
      </mujoco>""")


def mujoco_predictor(
    dt: float, cube: CubeParameters = PUBLISHED_CUBE, cone: str = "pyramidal", advanced: bool = False
) -> Predict:
    """MuJoCo on tosses sampled every dt [s].

    The measured velocities are those of half a sample earlier. `advanced` adds what gravity does in that time.
    """
    model = mujoco_cube(cube, dt / SUBSTEPS, cone)
    data = mujoco.MjData(model)

    def predict(toss: CubeToss) -> Poses:
        velocity = toss.velocity[0] - np.array([0, 0, GRAVITY * toss.dt / 2 if advanced else 0.0])
        pose = np.concatenate([toss.position[0], toss.quaternion[0]])
        start = np.concatenate([[0.0], pose, velocity, toss.angular_velocity[0]])
        states, _ = mujoco.rollout.rollout(model, data, start[None], nstep=SUBSTEPS * (len(toss) - 1))
        poses = np.concatenate([pose[None], states[0, SUBSTEPS - 1 :: SUBSTEPS, 1:8]])
        return poses[:, :3], poses[:, 3:]

    return predict


def our_cube(cube: CubeParameters = PUBLISHED_CUBE) -> hs.Model:
    """The cube and the board."""
    shape = hs.Geom("box", (cube.edge / 2,) * 3)
    link = hs.Link("cube", cube.mass, inertia=cube.inertia, geoms=[shape])
    model = hs.world(hs.free_body(link, gravity=(0.0, 0.0, -GRAVITY)), hs.ground())
    # Friction of springs rises within the transition speed; a shorter one would need shorter steps.
    return hs.with_contacts(model, friction=cube.friction, restitution=cube.restitution, transition_speed=0.1)


@dataclass(frozen=True)
class Ours:
    """A contact model of ours: which numbers of pairs are fitted, and from where."""

    contact: hs.Impulses | hs.Springs
    start: dict[str, float]
    model: hs.Model
    substeps: int = SUBSTEPS

    def with_numbers(self, theta) -> hs.Model:
        """All numbers are positive, so their logarithms are free."""
        return hs.with_contacts(self.model, **dict(zip(self.start, jnp.exp(theta), strict=True)))

    def poses(self, theta, q, qd, dt: float, samples: int):
        """One row a sample."""
        n = self.substeps
        model, steps = self.with_numbers(theta), n * (samples - 1)
        return hs.rollout(model, (q, qd), dt=dt / n, steps=steps, contact=self.contact).q[::n]

    def first(self) -> np.ndarray:
        return np.log(list(self.start.values()))


def our_predictor(ours: Ours, theta: np.ndarray, dt: float, samples: int) -> Predict:
    """Rolled out over as many samples as the longest toss has, so that one compilation serves all."""
    run = hs.native.jit(lambda theta, q, qd: ours.poses(theta, q, qd, dt, samples))

    def predict(toss: CubeToss) -> Poses:
        state = toss.states()
        poses = run(theta, state.q[0], state.qd[0])[: len(toss)]
        return poses[:, :3], poses[:, 3:]

    return predict


def fitted(ours: Ours, tosses: Sequence[CubeToss]) -> np.ndarray:
    """Numbers that bring the predictions of these tosses near, by L-BFGS on our gradient."""
    dt = tosses[0].dt

    def loss(theta, q, qd, measured, weight):
        poses = ours.poses(theta, q, qd, dt, HORIZON)
        distance = jnp.sum((poses[:, :3] - measured[:, :3]) ** 2, axis=1) / PUBLISHED_CUBE.edge**2
        # 1 - (a . b)^2 is the squared sine of half the angle; the sign of a quaternion does not matter.
        turned = 4 * (1 - jnp.sum(poses[:, 3:] * measured[:, 3:], axis=1) ** 2)
        # The logarithm keeps tosses that end on another face from ruling the fit.
        return jnp.sum(weight * jnp.log1p((distance + turned) / 0.1**2)) / jnp.sum(weight)

    gradient = hs.native.value_and_grad(loss)
    data = []
    for toss in tosses:
        state, length = toss.states(), min(len(toss), HORIZON)
        measured = np.concatenate([state.q[:length], np.repeat(state.q[-1:], HORIZON - length, axis=0)])
        data.append((state.q[0], state.qd[0], measured, (np.arange(HORIZON) < length).astype(float)))

    def total(theta):
        values, gradients = zip(*(gradient(theta, *toss) for toss in data), strict=True)
        return np.mean(values), np.mean(gradients, axis=0)

    return minimize(total, ours.first(), jac=True, method="L-BFGS-B", options={"maxiter": 40}).x


def stays(toss: CubeToss) -> Poses:
    """The least that a prediction must beat: a cube that never moves."""
    return np.repeat(toss.position[:1], len(toss), axis=0), np.repeat(toss.quaternion[:1], len(toss), axis=0)


def main(count: int | None = None) -> list[Row]:
    """Measure on the held-out tosses (on the first `count` of them), print, and return the errors."""
    try:
        tosses = read_cube_tosses()
    except DataError as error:
        raise SystemExit(str(error)) from None
    training, held_out = split(tosses)
    chosen, dt, samples = held_out[:count], tosses[0].dt, max(map(len, tosses))
    predictors = {
        "a cube that never moves": stays,
        "MuJoCo, pyramidal cone": mujoco_predictor(dt),
        "MuJoCo, elliptic cone": mujoco_predictor(dt, cone="elliptic"),
        "MuJoCo, elliptic cone, start velocity half a sample later": mujoco_predictor(
            dt, cone="elliptic", advanced=True
        ),
    }
    cube = PUBLISHED_CUBE
    kinds = {
        "impulses": Ours(hs.Impulses(), {"friction": cube.friction, "restitution": cube.restitution}, our_cube()),
        "springs": Ours(
            # Stiff springs need short steps.
            hs.Springs(friction=hs.Coulomb()),
            {"friction": cube.friction, "stiffness": 1e5, "dissipation": 1e5},
            our_cube(),
            substeps=5 * SUBSTEPS,
        ),
    }
    console = Console(width=140)
    for name, ours in kinds.items():
        predictors[f"HybridSim, {name}"] = our_predictor(ours, ours.first(), dt, samples)
        theta = fitted(ours, training[:count])
        numbers = ", ".join(f"{key} {value:.4g}" for key, value in zip(ours.start, np.exp(theta), strict=True))
        console.print(f"{name}, fitted to {len(training[:count])} tosses: {numbers}")
        predictors[f"HybridSim, {name}, fitted"] = our_predictor(ours, theta, dt, samples)
    rows = [measured(name, predict, chosen) for name, predict in predictors.items()]
    console.print(table(rows, f"{len(chosen)} tosses that no fit has seen"))
    return rows


if __name__ == "__main__":
    main()
