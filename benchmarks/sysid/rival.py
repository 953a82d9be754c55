"""The two problems by mujoco.sysid: `python rival.py small|large` prints its times and how good its answer is, as JSON.

The parent writes the problem's files, starts a process that solves it, and judges the answer. The process's residual is
the plain difference of angles [rad]; mujoco.sysid's own would divide each joint's by the norm of its signal. Links are
identified in its `Pseudo` parameters: the logarithms of the Cholesky factor of the pseudo-inertia, physical for every
value. All processors are used, and of its optimisers the one that does best.
"""

import json
import sys
import tempfile
import time
from pathlib import Path

BEGIN = time.perf_counter()

import numpy as np
from problems import LOG, PROBLEMS, START, Numbers, as_lists, from_lists, rms

sys.path.append(str(Path(__file__).parent.parent))
from processes import result_of

SETTINGS = {"small": {"optimizer": "mujoco"}, "large": {"optimizer": "scipy_parallel_fd"}}
"""In the large problem its default, "mujoco", takes twice the iterations to the same answer, and gets stuck with
`x_scale="jac"`, which it recommends for problems of bad condition."""
DAMPING = np.array([0.01, 100.0])
"""Bounds, which mujoco.sysid asks for, in start values."""


def run(name: str) -> dict:
    """In the parent."""
    with tempfile.TemporaryDirectory() as folder:
        problem = PROBLEMS[name]()
        problem.write(Path(folder))
        begin = time.perf_counter()
        result = result_of(__file__, name, folder)
        seconds = time.perf_counter() - begin
    return {"process [s]": seconds, **problem.score(from_lists(result["found"])), **result}


def solve(name: str, folder: Path) -> dict:
    """In the new process."""
    import mujoco
    from mujoco import sysid

    if not hasattr(sysid, "optimize"):  # it hides a failed import
        sys.exit("mujoco.sysid lacks packages that it imports: pip install mujoco[sysid]")
    log, spec = np.load(folder / LOG), mujoco.MjSpec.from_file(str(folder / START))
    model = spec.compile()
    imported = time.perf_counter()
    # It wants a torque for every angle, and does not use the last one.
    torques = sysid.TimeSeries(log["t"], np.vstack([log["torque"], log["torque"][-1:]]))
    angles = sysid.TimeSeries.from_names(log["t"], log["q"], model)
    state = sysid.create_initial_state(model, log["q0"], log["qd0"])
    sequences = sysid.ModelSequences(name, spec, "log", state, torques, angles)

    rollouts, history = 0, [(0.0, np.inf)]

    def plain_difference(params, predicted, measured, model, return_pred_all, state, sensor_weights=None):
        """In radians, after each step. Its sensors lag the state by a step, so the state (time, angles, ...) is compared."""
        nonlocal rollouts
        rollouts += 1
        after = sysid.TimeSeries(measured.times[1:], measured.data[1:], measured.signal_mapping)
        reached = sysid.TimeSeries(after.times, state[:, 1 : 1 + model.nq], measured.signal_mapping)
        difference = after.data - reached.data
        if rms(difference) < 0.99 * history[-1][1]:
            history.append((time.perf_counter() - begin, rms(difference)))
        return difference, reached, after

    residual = sysid.build_residual_fn(
        models_sequences=[sequences], modify_residual=plain_difference, resample_true=False
    )
    params = _parameters(sysid, spec, model, inertial=PROBLEMS[name]().inertial)
    begin = time.perf_counter()
    params, outcome = sysid.optimize(params, residual, **SETTINGS[name])
    end = time.perf_counter()
    return {
        "solve [s]": end - begin,
        "solve until the RMSE is within 1 % of its last [s]": history[-1][0],
        "import [s]": imported - BEGIN,
        "processors' time [s]": time.process_time(),
        "parameters": params.size,
        "Jacobians": outcome.get("njev") or len(outcome.extras["objective"]),
        "rollouts": rollouts,
        "history [s, rad]": history[1:],
        "found": as_lists(_numbers(sysid.apply_param_modifiers(params, spec))),
    }


def _parameters(sysid, spec, model, inertial: bool):
    params = sysid.ParameterDict()
    for joint in spec.joints:

        def write(spec, param, name=joint.name):
            spec.joint(name).damping[0] = param.value[0]

        params.add(
            sysid.Parameter(f"{joint.name} damping", joint.damping[0], *(joint.damping[0] * DAMPING), modifier=write)
        )
    if inertial:
        for body in spec.bodies[1:]:

            def write(spec, param, name=body.name):
                _write_inertia(spec.body(name), sysid.model_modifier.pi_from_theta(param.value))

            pseudo = sysid.InertiaType.Pseudo
            params.add(sysid.body_inertia_param(spec, model, body.name, pseudo, modifier=write))
    return params


def _write_inertia(body, pi: np.ndarray) -> None:
    """Mass, mass times centre, and inertia about the origin, into a body. Version 4.0.0's own function does not do: it leaves
    a quaternion of NaN, which its compiler refuses; and it compiles the model once for each body, which costs time."""
    body.mass = pi[0]
    body.ipos = pi[1:4] / pi[0]
    x = body.ipos
    I = pi[4:].reshape(3, 3) - body.mass * (x @ x * np.eye(3) - np.outer(x, x))
    body.fullinertia = [I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]]
    body.inertia, body.iquat = np.zeros(3), [1, 0, 0, 0]


def _numbers(model) -> Numbers:
    turned = np.array([_matrix(quat) for quat in model.body_iquat[1:]])
    inertia = turned * model.body_inertia[1:, None, :] @ np.swapaxes(turned, 1, 2)
    return Numbers(model.dof_damping, model.body_mass[1:], model.body_ipos[1:], inertia)


def _matrix(quat: np.ndarray) -> np.ndarray:
    import mujoco

    flat = np.zeros(9)
    mujoco.mju_quat2Mat(flat, quat)
    return flat.reshape(3, 3)


if __name__ == "__main__":
    arguments = sys.argv[1:]
    print(json.dumps(solve(arguments[0], Path(arguments[1])) if len(arguments) == 2 else run(*arguments)))
