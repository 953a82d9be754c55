"""How fast a robot is simulated: compile time, one step, one step with its gradient, and MuJoCo's step beside it."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import jax
import jax.numpy as jnp
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from .. import native
from ..identify.setting import contact_of
from ..model import Model
from ..simulate import rollout
from .tables import terminal

STEPS, DT = 100, 1e-3
"""Of one call: so many that calling from Python hardly counts, so few that nothing falls far [s]."""
ROUNDS, ROUND_SECONDS = 7, 0.05


def measure(model: Model, file: Path, free: bool = False) -> dict[str, Any]:
    """Seconds of compiling and of one step, each with and without gradient; the same of MuJoCo if it can load the file.

    The gradient is with respect to all numbers of the model and to the start.
    """
    contact = contact_of(model, "auto")

    def cost(model, q, qd):
        end = rollout(model, (q, qd), None, DT, STEPS, contact=contact)
        return jnp.sum(end.q[-1] ** 2) + jnp.sum(end.qd[-1] ** 2)

    start = model.rest()
    with _nothing_on_disk():
        forward, forward_compile = _compiled(native.jit(cost), model, *start)
        gradient, gradient_compile = _compiled(native.value_and_grad(cost, (0, 1, 2)), model, *start)
    calls = {"step": forward, "gradient": gradient}
    rival, why_not = _mujoco(file, free, contact is not None)
    if rival is not None:
        calls["mujoco"] = rival
    seconds = _in_rounds(calls)
    return {
        "steps": STEPS,
        "dt": DT,
        "contact": contact is not None,
        "compile_seconds": forward_compile,
        "compile_gradient_seconds": gradient_compile,
        "step_seconds": median(row["step"] for row in seconds),
        "gradient_seconds": median(row["gradient"] for row in seconds),
        "mujoco_step_seconds": median(row["mujoco"] for row in seconds) if rival else None,
        "times_mujoco": median(row["mujoco"] / row["step"] for row in seconds) if rival else None,
        "mujoco_problem": why_not,
    }


@contextmanager
def _nothing_on_disk() -> Iterator[None]:
    """Turn the cache of compiled code off: the time of compiling is measured."""
    before = os.environ.get("HYBRIDSIM_CACHE")
    os.environ["HYBRIDSIM_CACHE"] = "off"
    try:
        yield
    finally:
        os.environ.pop("HYBRIDSIM_CACHE")
        if before is not None:
            os.environ["HYBRIDSIM_CACHE"] = before


def _compiled(function: Callable, *arguments) -> tuple[Callable[[], object], float]:
    """A call of it, and how long the first one took, tracing included."""
    jax.clear_caches()
    begin = time.perf_counter()
    function(*arguments)
    return lambda: function(*arguments), time.perf_counter() - begin


def _mujoco(file: Path, free: bool, contact: bool) -> tuple[Callable[[], object] | None, str | None]:
    """The same number of steps in MuJoCo's C, or why not."""
    import mujoco

    if free or file.suffix.lower() not in (".urdf", ".xml", ".mjcf"):
        return None, "it is not a file that MuJoCo reads as it is"
    try:
        model = mujoco.MjModel.from_xml_path(str(file))
    except ValueError as problem:
        return None, " ".join(str(problem).split())
    model.opt.timestep = DT
    if not contact:
        model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_LIMIT
    data = mujoco.MjData(model)

    def run() -> None:
        mujoco.mj_resetData(model, data)
        mujoco.mj_step(model, data, STEPS)

    return run, None


def _in_rounds(calls: dict[str, Callable[[], object]]) -> list[dict[str, float]]:
    """Seconds of one step; each round measures all one after the other, so that a slow moment harms all."""
    return [{name: _seconds(call) / STEPS for name, call in calls.items()} for _ in range(ROUNDS)]


def _seconds(call: Callable[[], object]) -> float:
    """The fastest of several calls: other programs only ever make one slower."""
    fastest, end = float("inf"), time.perf_counter() + ROUND_SECONDS
    while time.perf_counter() < end:
        begin = time.perf_counter()
        call()
        fastest = min(fastest, time.perf_counter() - begin)
    return fastest


def show_speeds(speeds: dict[str, Any], title: str, console: Console | None = None) -> None:
    """Print a small table."""
    console = console or terminal(100)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=escape(title), title_justify="left")
    table.add_column("")
    for column in ("one step", "steps/s", "compile"):
        table.add_column(column, justify="right")
    rows = [
        ("step", speeds["step_seconds"], speeds["compile_seconds"]),
        ("step with gradient", speeds["gradient_seconds"], speeds["compile_gradient_seconds"]),
        ("step of MuJoCo", speeds["mujoco_step_seconds"], None),
    ]
    for name, seconds, compiling in rows:
        if seconds is not None:
            waiting = "" if compiling is None else f"{compiling:.2f} s"
            table.add_row(name, f"{1e6 * seconds:.3g} us", f"{1 / seconds:,.0f}", waiting)
    console.print(table)
    said = (
        f"MuJoCo: {speeds['mujoco_problem']}"
        if speeds["times_mujoco"] is None
        else f"{speeds['times_mujoco']:.3g} times as fast as MuJoCo's step, one thread"
    )
    acting = "with contact" if speeds["contact"] else "without contact and joint limits"
    console.print(
        f"{said}; {acting}, from rest, {speeds['steps']} steps of {1e3 * speeds['dt']:g} ms a call.",
        markup=False,
        highlight=False,
        soft_wrap=not console.is_terminal,
    )
