"""What networks in a model cost: a rollout with them, beside one without and the networks alone; and training.

python benchmarks/augmented.py writes RESULTS_AUGMENTED.md; `make bench` measures the same with all else.
"""

import time
from dataclasses import dataclass
from pathlib import Path

import jax

jax.config.update("jax_enable_x64", True)

import jax.numpy as jnp
import numpy as np
from measure import Effort, Timings, in_rounds, prepare_native
from mechanisms import arm
from tables import Target, duration, machine, table, targets_table, versions

import hybridsim as hs
from hybridsim.augment.flat import Flat

STEPS, DT = 500, 2e-3
HIDDEN = (16, 16)
ITERATIONS, TRAJECTORIES, LENGTH = 1000, 10, 200


def models() -> dict[str, tuple[hs.Model, hs.Model]]:
    """Without and with networks: at every joint one that sees all positions and velocities, or its own."""
    everything, own = ("joint.position[*]", "joint.velocity[*]"), ("joint.position", "joint.velocity")
    pendulum = hs.chain(2, length=0.5)
    cases = {
        "chain of 2, a network at each joint that sees all": (pendulum, everything, "each"),
        "chain of 2, one shared network": (pendulum, own, "shared"),
        "arm of 7, one shared network": (arm(), own, "shared"),
        "arm of 7, a network at each joint that sees all": (arm(), everything, "each"),
    }
    return {
        name: (model, _noisy(hs.Blueprint(hs.Augment("joint.force", inputs, hs.MLP(HIDDEN), apply=apply)).graft(model)))
        for name, (model, inputs, apply) in cases.items()
    }


def _noisy(model: hs.Model) -> hs.Model:
    """Weights of the last layers start at zero, which a compiler might see."""
    flat = Flat(model, lambda m: m.augmentation)
    return flat.model(flat.vector() + 0.01 * np.random.default_rng(0).standard_normal(flat.size))


def roll(model: hs.Model, q, qd):
    end = hs.rollout(model, (q, qd), dt=DT, steps=STEPS, contact=None)
    return end.q[-1], end.qd[-1]


def alone(model: hs.Model, q, qd):
    """The networks alone, as often as in a rollout, each evaluation after the one before."""
    sites = model.augmentation.sites

    def step(carry, _):
        q, qd = carry
        values = {"joint.position": q, "joint.velocity": qd}
        for site in sites:
            x = jnp.concatenate([values[wire.name][wire.places.array] for wire in site.plan.inputs], axis=1)
            y, _ = site(x, None)
            qd = qd + 1e-9 * jnp.zeros_like(qd).at[site.plan.outputs[0].places.array].add(y)
        return (q, qd), None

    return jax.lax.scan(step, (q, qd), None, length=STEPS)[0]


@dataclass(frozen=True)
class Cost:
    name: str
    multiplications: int
    timings: Timings

    @property
    def ratio(self) -> float:
        """What a step costs more, over what the networks alone cost."""
        found = [(row["hybrid"] - row["plain"]) / row["networks"] for row in self.timings.rows]
        return float(np.median(found))


@dataclass(frozen=True)
class Training:
    native: float
    """Of all iterations, without compiling [s]."""
    xla: float
    native_start: float
    """Until the first gradient [s]."""
    xla_start: float


def run(effort: Effort) -> tuple[list[Cost], Training]:
    costs = []
    for name, (plain, hybrid) in models().items():
        q, qd = 0.1 + np.zeros(plain.nq), 0.1 + np.zeros(plain.nv)
        calls = {}
        for what, f, model in (("plain", roll, plain), ("hybrid", roll, hybrid), ("networks", alone, hybrid)):
            # Of the model only the networks are an argument: the numbers of the mechanism are constants of the program.
            free = Flat(model, lambda m: m.links.mass if m.augmentation is None else m.augmentation)
            _, call = prepare_native(
                lambda w, q, qd, f=f, free=free: f(free.join(w), q, qd), free.free(free.vector()), q, qd
            )
            calls[what] = lambda call=call, w=free.free(free.vector()), q=q, qd=qd: call(w, q, qd)
        sites = hybrid.augmentation.sites
        count = sum(site.plan.rows * _multiplications(site.network) for site in sites)
        costs.append(Cost(name, count, in_rounds(calls, effort)))
    return costs, training()


def _multiplications(network) -> int:
    return sum(int(np.size(leaf)) for leaf in jax.tree.leaves(network) if np.ndim(leaf) == 2)


def training() -> Training:
    truth = hs.chain(2, length=0.5, damping=0.1)
    hybrid = models()["chain of 2, a network at each joint that sees all"][1]
    rng = np.random.default_rng(0)
    starts = rng.uniform(-1.5, 1.5, (TRAJECTORIES, 2)), rng.uniform(-1, 1, (TRAJECTORIES, 2))

    def motion(model, q, qd):
        made = hs.rollout(model, (q, qd), dt=5e-3, steps=LENGTH, contact=None)
        return made.q, made.qd

    data = hs.native.batch(lambda q, qd: motion(truth, q, qd))(*starts)

    def loss(model, measured):
        made = motion(model, measured[0][0], measured[1][0])
        return sum(jnp.mean((a - b) ** 2) for a, b in zip(made, measured, strict=True))

    found = {}
    for backend in ("native", "xla"):
        begin = time.perf_counter()
        hs.train(hybrid, loss, data, steps=1, backend=backend)
        middle = time.perf_counter()
        hs.train(hybrid, loss, data, steps=ITERATIONS, backend=backend)
        end = time.perf_counter()
        # Each call compiles anew (native code comes from its cache then), so that is subtracted by a second start.
        hs.train(hybrid, loss, data, steps=1, backend=backend)
        found[backend] = end - middle - (time.perf_counter() - end), middle - begin
    return Training(found["native"][0], found["xla"][0], found["native"][1], found["xla"][1])


def targets(costs: list[Cost], trained: Training) -> list[Target]:
    return [
        *(
            Target(
                f"{c.name}: cost beyond the plain step",
                "at most 1.5 networks",
                f"{c.ratio:.2f} networks",
                c.ratio <= 1.5,
            )
            for c in costs
        ),
        Target(
            f"{ITERATIONS} Adam iterations, {TRAJECTORIES} trajectories of {LENGTH} steps",
            "seconds",
            duration(trained.native),
            trained.native < 10,
        ),
    ]


def sections(costs: list[Cost], trained: Training) -> list[str]:
    def step(cost: Cost, what: str) -> str:
        return duration(cost.timings.time(what) / STEPS)

    return [
        "## Networks in a model",
        f"Native rollouts of {STEPS} steps; hidden layers {HIDDEN}, ELU. The networks alone: the same evaluations in a loop.",
        table(
            ["", "multiplications", "plain step", "with networks", "networks alone", "(with - plain) / networks"],
            [
                [
                    c.name,
                    str(c.multiplications),
                    step(c, "plain"),
                    step(c, "hybrid"),
                    step(c, "networks"),
                    f"{c.ratio:.2f}",
                ]
                for c in costs
            ],
        ),
        "## Training",
        f"{ITERATIONS} Adam iterations of a chain of 2 with a network at each joint (2 x 369 weights), {TRAJECTORIES} "
        f"trajectories of {LENGTH} steps, gradients through the whole rollouts.",
        table(
            ["", "native", "jax.jit", "times faster"],
            [
                [
                    "all iterations",
                    duration(trained.native),
                    duration(trained.xla),
                    f"{trained.xla / trained.native:.1f}",
                ],
                [
                    "until the first gradient",
                    duration(trained.native_start),
                    duration(trained.xla_start),
                    f"{trained.xla_start / trained.native_start:.1f}",
                ],
            ],
        ),
    ]


def main() -> None:
    where = machine()
    found = run(Effort(5, 0.3))
    parts = [
        "# Benchmark results of augmented models",
        "Written by `python benchmarks/augmented.py`; do not edit.",
        f"- {where}\n- {versions()}",
        "## Targets",
        targets_table(targets(*found)),
        *sections(*found),
    ]
    Path(__file__).with_name("RESULTS_AUGMENTED.md").write_text("\n\n".join(parts) + "\n")
    print("\n\n".join(parts))


if __name__ == "__main__":
    main()
