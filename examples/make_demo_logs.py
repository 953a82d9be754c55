"""Make the logs of the demo: MuJoCo stands in for an arm whose URDF is not quite right.

    python examples/make_demo_logs.py src/hybridsim/assets/demo

The "hardware" differs from two_link_arm.urdf as real arms do: both links have other masses (a heavier motor, a lighter
tool), the joints have dry friction and more damping, the motors answer late, encoders are noisy and the log's clock
jitters. None of this is known to the fit; the numbers below are what it has to find.
"""

import json
import sys
from pathlib import Path

import mujoco
import numpy as np

URDF = Path(__file__).parents[1] / "src/hybridsim/assets/two_link_arm.urdf"
MASS = {"upper_arm": 2.85, "forearm": 1.21}
"""[kg]; the URDF says 2.36 and 1.47. As if something small were put on, or taken off, at the centre of mass."""
FRICTION = {"shoulder": 0.6, "elbow": 0.25}
"""Coulomb [N m]; the URDF has none that is worth the name."""
DAMPING = {"shoulder": 0.15, "elbow": 0.06}
"""[N m s/rad]; the URDF says 0.04 and 0.02."""
DELAY = 0.012
"""From the command to the torque [s]."""
NOISE = {"position": 1e-3, "velocity": 0.02}
"""Standard deviations [rad, rad/s]."""
RATE, JITTER = 200.0, 0.1
"""Of the log [Hz], and the spread of its steps as a part of a step."""
SECONDS, RUNS = 10.0, 4
_STEP = 5e-5


def hardware() -> mujoco.MjModel:
    """The arm as it is."""
    spec = mujoco.MjSpec.from_file(str(URDF))
    # Fixed joints stay bodies of their own, so that every link of the URDF can be found by its name.
    spec.compiler.fusestatic = False
    model = spec.compile()
    for name, mass in MASS.items():
        model.body(name).mass = mass
    for name in FRICTION:
        joint = model.joint(name)
        model.dof_frictionloss[joint.dofadr[0]] = FRICTION[name]
        model.dof_damping[joint.dofadr[0]] = DAMPING[name]
        # Friction as hard as the solver allows: it takes hold within a millisecond.
        model.dof_solref[joint.dofadr[0]] = (1e-3, 1.0)
    model.opt.timestep = _STEP
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    return model


def torque(time: float, q: np.ndarray, qd: np.ndarray, phase: np.ndarray) -> np.ndarray:
    """A loose controller that follows sums of sines: enough motion to see everything, and safe on a table."""
    rates = np.array([[0.35, 0.8, 1.7], [0.5, 1.1, 2.3]])
    sizes = np.array([[0.8, 0.45, 0.15], [0.9, 0.5, 0.2]])
    wanted = np.sum(sizes * np.sin(2 * np.pi * rates * time + phase), axis=1)
    return np.clip([30.0, 10.0] * (wanted - q) - [2.0, 0.6] * qd, [-35, -15], [35, 15])


def record(seed: int) -> np.ndarray:
    """One run: time, positions, velocities and the commanded torques, as a logger would write them."""
    rng = np.random.default_rng(seed)
    model, phase = hardware(), rng.uniform(0, 2 * np.pi, (2, 3))
    data = mujoco.MjData(model)
    steps = np.clip(1 + JITTER * rng.standard_normal(int(SECONDS * RATE)), 0.5, 1.5) / RATE
    rows, sent = [], [(-1.0, np.zeros(2))]
    for sample in np.concatenate([[0.0], np.cumsum(steps)]):
        while data.time < sample:
            data.qfrc_applied[:2] = next(u for t, u in reversed(sent) if t <= data.time - DELAY + _STEP / 2)
            mujoco.mj_step(model, data)
        now = data.time
        q = data.qpos[:2] + NOISE["position"] * rng.standard_normal(2)
        qd = data.qvel[:2] + NOISE["velocity"] * rng.standard_normal(2)
        u = torque(now, q, qd, phase)
        sent = [*sent[-20:], (now, u)]
        rows.append([now, *q, *qd, *u])
    return np.array(rows)


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    joints = ("shoulder", "elbow")
    columns = ["time", *(f"{j}_{what}" for what in ("position", "velocity", "torque") for j in joints)]
    for run in range(RUNS):
        path = folder / f"run{run + 1}.csv"
        np.savetxt(path, record(run), fmt=["%.5f", *6 * ["%.5g"]], delimiter=",", header=",".join(columns), comments="")
        print(path)
    truth = {f"link/{name}/mass": mass for name, mass in MASS.items()}
    truth |= {f"joint/{name}/friction": c for name, c in FRICTION.items()}
    truth |= {f"joint/{name}/damping": d for name, d in DAMPING.items()} | {"control/delay": DELAY}
    (folder / "truth.json").write_text(json.dumps(truth, indent=1))


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out/demo_logs"))
