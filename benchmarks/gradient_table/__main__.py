"""Print all tables and write docs/gradients.md; fails if a derivative is wrong or a step is unsolved.

PYTHONPATH=benchmarks python -m gradient_table [--steps 1040] [--tosses 240] [--without-mjx] [--out FILE]
"""

import time
from pathlib import Path

import jax
import tyro

jax.config.update("jax_enable_x64", True)

from rich.console import Console

from . import mjx_rollouts
from .bounce import bounces
from .mujoco_steps import rivals
from .report import Found, cells, markdown, rollouts
from .single_steps import Survey
from .survey_tables import by_kind, by_regime, of_rivals, of_tosses, terminal
from .table import rows
from .timing import timings
from .tosses import Tosses

DOCS = Path(__file__).resolve().parents[2] / "docs"


def main(
    out: Path = DOCS / "gradients.md", steps: int = 1040, tosses: int = 240, seed: int = 0, without_mjx: bool = False
) -> None:
    """Without MJX this takes about five minutes, most of it compiling; MJX takes some more."""
    console, started = Console(width=180), time.perf_counter()
    survey = Survey()

    def log(what: str) -> None:
        console.print(f"{time.perf_counter() - started:4.0f} s  {what}", highlight=False, soft_wrap=True)

    with console.status("compiling"):
        cases = []
        for case in survey.cases(steps, seed=seed):
            cases.append(case)
            if case.wrong or case.unsolved:
                log(case.where)
        log("single steps done")
        thrown = []
        for toss in Tosses().tosses(tosses, seed=seed):
            thrown.append(toss)
            if toss.errors:
                log(toss.where)
        log("tosses done")
        whole = []
        for row in rows():
            whole.append(row)
            log("  ".join(cells(row)))
        found = Found(
            cases, survey.walked, thrown, whole, bounces(), list(rivals()), timings(survey),
            [] if without_mjx else list(mjx_rollouts.rows()),
        )  # fmt: skip
        log("rivals done")
    for title, table in (
        ("Single steps by what moves", by_kind(cases)),
        ("Single steps by what happens", by_regime(cases)),
        ("Tosses", of_tosses(thrown)),
        ("Whole rollouts", rollouts(whole + found.mjx)),
        ("Jacobians of single steps by MuJoCo's finite differences and by ours", of_rivals(found.mujoco, found.ours)),
    ):
        console.print(terminal(title, table))
    out.write_text(markdown(found))
    console.print(f"{found.verdict}\nwrote {out}")
    raise SystemExit(not found.right)


if __name__ == "__main__":
    tyro.cli(main)
