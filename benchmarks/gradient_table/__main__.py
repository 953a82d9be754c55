"""Print the table and write docs/gradients.md.

PYTHONPATH=benchmarks python -m gradient_table [--without-mjx] [--out FILE]
"""

import time
from pathlib import Path

import jax
import tyro

jax.config.update("jax_enable_x64", True)

from rich.console import Console

from . import rival
from .bounce import bounces
from .report import cells, markdown, terminal
from .table import rows

DOCS = Path(__file__).resolve().parents[2] / "docs"


def main(out: Path = DOCS / "gradients.md", without_mjx: bool = False) -> None:
    """Without MJX this takes two or three minutes, most of it compiling; MJX takes some more."""
    console, started, found = Console(width=160), time.perf_counter(), []
    with console.status("compiling") as status:
        for kind in (rows(), () if without_mjx else rival.rows()):
            found.append([])
            for row in kind:
                found[-1].append(row)
                status.update(f"{time.perf_counter() - started:.0f} s: {row.scene}, {row.engine} done")
                console.log("  ".join(cells(row)))
        status.update("bouncing ball")
        fallen = bounces()
    console.print(terminal(found[0] + found[1]))
    out.write_text(markdown(*found, fallen))
    wrong = [row for row in found[0] if not row.right]
    console.print(f"{len(found[0]) - len(wrong)} of {len(found[0])} rows are right; wrote {out}")
    for row in wrong:
        console.print(f"wrong: {row.scene}, {row.engine}")
        for block in row.blocks:
            console.print(block)
    raise SystemExit(bool(wrong))


if __name__ == "__main__":
    tyro.cli(main)
