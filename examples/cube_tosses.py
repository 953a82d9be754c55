"""How well do simulators foretell where a real cube goes that is thrown onto a board?

Measured tosses of the ContactNets dataset (set HYBRIDSIM_DATA to the folder that holds contactnets-cube/). Each is
rolled out from its first sample to its end. A toss's error is the mean over time; the table shows medians over the
tosses, and the mean where a cube that ends on another face should count. Fifty tosses are for fitting; errors are of
the others.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import mujoco
import mujoco.rollout
import numpy as np
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from scipy.spatial.transform import Rotation

from hybridsim.data import PUBLISHED_CUBE, CubeParameters, CubeToss, DataError, read_cube_tosses

FITTED, SEED = 50, 0
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


def stays(toss: CubeToss) -> Poses:
    """The least that a prediction must beat: a cube that never moves."""
    return np.repeat(toss.position[:1], len(toss), axis=0), np.repeat(toss.quaternion[:1], len(toss), axis=0)


def main(count: int | None = None) -> list[Row]:
    """Measure on the held-out tosses (on the first `count` of them), print, and return the errors."""
    try:
        tosses = read_cube_tosses()
    except DataError as error:
        raise SystemExit(str(error)) from None
    _, held_out = split(tosses)
    chosen, dt = held_out[:count], tosses[0].dt
    predictors = {
        "a cube that never moves": stays,
        "MuJoCo, pyramidal cone": mujoco_predictor(dt),
        "MuJoCo, elliptic cone": mujoco_predictor(dt, cone="elliptic"),
        "MuJoCo, elliptic cone, start velocity half a sample later": mujoco_predictor(
            dt, cone="elliptic", advanced=True
        ),
    }
    rows = [measured(name, predict, chosen) for name, predict in predictors.items()]
    Console(width=140).print(table(rows, f"{len(chosen)} tosses that no fit has seen, published parameters"))
    return rows


if __name__ == "__main__":
    main()
