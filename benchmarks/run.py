"""HybridSim beside MuJoCo and Pinocchio on the same mechanisms in one run. Writes RESULTS.md beside this file.

make bench
python benchmarks/run.py --rounds 3 --out results.md
"""

import datetime
import os
import platform
from importlib.metadata import version
from pathlib import Path

import jax
import tyro

jax.config.update("jax_enable_x64", True)

from measure import DT, Preparation, Result, run
from mechanisms import mechanisms

PACKAGES = ("hybridsim", "jax", "jaxlib", "equinox", "numpy", "mujoco", "pin")
TARGET = 2.0
"""Longest acceptable time to trace the gradient of one step of the quadruped [s]."""


def main(
    steps: int = 500,
    rounds: int = 5,
    at_least: float = 0.3,
    only: str = "",
    out: Path = Path(__file__).with_name("RESULTS.md"),
) -> None:
    """Measure and write the results.

    Args:
        steps: Length of a rollout.
        rounds: Times each rival is measured; medians are reported.
        at_least: Duration of one measurement [s].
        only: Measure only mechanisms whose name contains this.
        out: The file to write.
    """
    results = []
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    for name, model in mechanisms().items():
        if only in name:
            print(f"{name} ...", flush=True)
            results.append(run(name, model, steps, rounds, at_least))
    text = report(results, steps, rounds, load)
    out.write_text(text)
    print(text)


def report(results: list[Result], steps: int, rounds: int, load: float) -> str:
    """The results as Markdown."""
    versions = ", ".join(f"{package} {version(package)}" for package in PACKAGES)
    parts = [
        "# Benchmark results",
        "Written by `make bench`; do not edit.",
        f"- Date: {datetime.date.today().isoformat()}\n"
        f"- Machine: {processor()}, {os.cpu_count()} cores, load average {load:.1f} at the start\n"
        f"- Python {platform.python_version()}, {versions}\n"
        f"- float64, CPU. Run times are medians of {rounds} rounds; a round measures all engines one after the other and takes "
        "the fastest of many batches of calls. A ratio is the median of the rounds' ratios, below 1 where HybridSim is faster.",
        "All engines are given the same mechanism, without contacts. HybridSim runs under `jax.jit` with the model as an argument.",
        "## What one waits for once",
        "Processor time of tracing and compiling from nothing: caches are cleared before each measurement. The gradients are "
        "with respect to the state and every number of the model.",
        table(
            ["", "dof", *(f"{what}: {stage}" for what in WAITS.values() for stage in ("trace", "compile"))],
            [[r.name, str(r.dofs), *(s for key in WAITS for s in waits(getattr(r, key)))] for r in results],
        ),
        *target(results),
        "## Forward dynamics, one call from Python",
        "MuJoCo: `mj_forward`. Pinocchio: `aba`. Calling a compiled JAX program with a model as its argument costs about a tenth "
        "of a millisecond whatever it does; the rollouts below do not pay that at every step.",
        table(
            [
                "",
                "HybridSim",
                "MuJoCo",
                "Pinocchio",
                "ratio to MuJoCo",
                "ratio to Pinocchio",
                "largest relative difference",
            ],
            [
                [
                    r.name,
                    *(duration(r.times[key]) for key in ("forward", "forward MuJoCo", "forward Pinocchio")),
                    *(f"{r.ratios[f'forward / forward {rival}']:.2g}" for rival in ("MuJoCo", "Pinocchio")),
                    f"{max(r.disagreement[rival] for rival in ('MuJoCo', 'Pinocchio')):.0e}",
                ]
                for r in results
            ],
        ),
        f"## A rollout of {steps} steps of {DT * 1e3:g} ms, time a step",
        "Semi-implicit Euler in both. MuJoCo: `mujoco.rollout`, its own C loop, on one thread. Gradient: value and gradient of a "
        "function of the last state with respect to the first state and every number of the model, checkpointed.",
        table(
            ["", "HybridSim", "MuJoCo", "ratio", "gradient", "gradient / rollout", "last states differ by"],
            [
                [
                    r.name,
                    *(duration(r.times[key] / steps) for key in ("rollout", "rollout MuJoCo")),
                    f"{r.ratios['rollout / rollout MuJoCo']:.2g}",
                    duration(r.times["gradient"] / steps),
                    f"{r.ratios['gradient / rollout']:.2g}",
                    f"{r.disagreement['MuJoCo, end of rollout']:.0e}",
                ]
                for r in results
            ],
        ),
        "## Not included yet",
        "MJX and TDS: they join when HybridSim's native compiler does. Batches and accelerators.",
    ]
    return "\n\n".join(parts) + "\n"


WAITS = {
    "forward": "forward dynamics",
    "step_gradient": "gradient of a step",
    "rollout": "rollout",
    "rollout_gradient": "gradient of a rollout",
}


def waits(preparation: Preparation) -> tuple[str, str]:
    return f"{preparation.trace:.2f} s", f"{preparation.compile:.2f} s"


def target(results: list[Result]) -> list[str]:
    """Whether the quadruped's gradient is traced in time, where it was measured."""
    return [
        f"Target: the gradient of one step of the quadruped is traced in under {TARGET:g} s of processor time. "
        f"Measured: {r.step_gradient.trace:.2f} s, {'met' if r.step_gradient.trace < TARGET else 'NOT met'}."
        for r in results
        if r.name.startswith("quadruped")
    ]


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def duration(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def processor() -> str:
    """The processor's name, as far as the system tells it."""
    file = Path("/proc/cpuinfo")
    lines = file.read_text().splitlines() if file.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


if __name__ == "__main__":
    tyro.cli(main)
