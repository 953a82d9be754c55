"""The contact part of the benchmark alone, in six minutes; writes benchmarks/RESULTS_CONTACT.md.

python benchmarks/contact_only.py
"""

from pathlib import Path

import jax

jax.config.update("jax_enable_x64", True)

import contact_gradients
import contact_report
import contact_rollouts
from contact_scenes import scenes
from measure import Effort
from tables import machine, targets_table, versions

EFFORT = Effort(5, 0.3)
RESULTS = Path(__file__).parent / "RESULTS_CONTACT.md"


def main() -> None:
    where = machine()
    results = [contact_rollouts.run(scene, EFFORT) for scene in scenes()]
    toss, p5 = contact_gradients.toss(EFFORT), contact_gradients.p5(EFFORT)
    parts = [
        "# Benchmark results of contact",
        "Written by `python benchmarks/contact_only.py`; do not edit. `make bench` measures the same with all else.",
        f"- {where}\n- {versions()}",
        "## Targets",
        targets_table(contact_report.targets(results, toss, p5)),
        *contact_report.sections(results, toss, p5),
    ]
    RESULTS.write_text("\n\n".join(parts) + "\n")
    print(f"wrote {RESULTS}")


if __name__ == "__main__":
    main()
