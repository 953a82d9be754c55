"""Motion of known models as logs."""

import numpy as np

import hybridsim as hs


def driven(model, seconds=1.0, dt=2e-3, noise=0.0, seed=0, torque=1.0, run="a", **options):
    """A log of a model under sums of sines."""
    rng = np.random.default_rng(seed)
    steps = round(seconds / dt)
    t = dt * np.arange(steps + 1)
    frequency, phase = rng.uniform(0.3, 2, (2, model.nv)), rng.uniform(0, 6, (2, model.nv))
    u = torque * np.sum(np.sin(2 * np.pi * frequency * t[:, None, None] + phase), axis=1)
    q0, qd0 = rng.uniform(-0.5, 0.5, model.nv), rng.uniform(-1, 1, model.nv)

    def motion(model, u):
        made = hs.rollout(model, (q0, qd0), hs.Control(force=u), dt=dt, contact=None, **options)
        return made.q, made.qd

    q, qd = hs.native.jit(motion)(model, u[:-1])
    return hs.Trajectory(t, q + noise * rng.standard_normal(q.shape), qd, u, run=run)
