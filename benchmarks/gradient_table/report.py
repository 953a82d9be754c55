"""The table for the terminal and for docs/gradients.md."""

from rich.table import Table
from tables import table, versions

from .bounce import NAMES, Bounce
from .compare import ROUGH, SMALL, TINY, TOLERANCE
from .table import Row

HEAD = ["scene", "engine", "steps", "forward", "reverse", "entries", "unresolved", "not smooth", "NaN", ""]

ABOUT = f"""# Derivatives through contact

Written by `make gradients`. Of each scene the whole Jacobian d(final q, final qd) / d(initial q and qd, control, masses,
sizes, friction, restitution or stiffness and dissipation, joint damping), three ways: forward mode, reverse mode and
differences of the same rollout. q is perturbed through the joints' freedoms; masses, sizes, stiffness and dissipation
change in parts of themselves. Time steps are 1 ms (quadruped on springs: 0.25 ms).

"forward" and "reverse" are the largest relative errors over all smooth entries; they are to be below {TOLERANCE:g}. An
entry is measured by its own size, but by no less than {SMALL:g} of the largest entry of its block (final q or qd by
one group of numbers) and {TINY:g} of the largest of all. Differences are Richardson's extrapolation over a ladder of
steps from 1e-2 to 1e-11; the step is chosen by agreement of differences with each other. "unresolved" entries are those
where differences are less precise than the tolerance; there the derivative must lie within three times their doubt.
"not smooth" is what the map itself shows: kinks (both one-sided slopes converge, to different numbers), jumps, or a
slope that differs at every step by more than {ROUGH:g}. The derivative there is a finite number: that of the active
set of contacts (touching or not, stuck or sliding) in which the step was solved.

"implicit" is differentiated as `hs.Impulses()` has it, its differences are those of a solver with tolerance 1e-14, so
that they show the derivative of the solution and not the noise of where the sweeps stop.
"""


def cells(row: Row) -> list[str]:
    reverse = "-" if row.note else f"{row.largest('reverse'):.1e}"
    counts = [row.count(name) for name in ("entries", "unresolved")]
    rough = sum(row.count(name) for name in ("kinks", "jumps", "rough"))
    says = ", ".join(filter(None, ("" if row.right else "wrong", row.note)))
    return [
        row.scene,
        row.engine,
        str(row.steps),
        f"{row.largest('forward'):.1e}",
        reverse,
        *map(str, counts),
        str(rough),
        str(row.count("nan")),
        says,
    ]


def terminal(rows: list[Row]) -> Table:
    shown = Table(title="Derivatives of the final state: largest relative error against differences")
    for i, name in enumerate(HEAD):
        shown.add_column(name, justify="left" if i < 2 else "right")
    for row in rows:
        shown.add_row(*cells(row), style=None if row.right else "red")
    return shown


def markdown(rows: list[Row], rivals: list[Row], bounces: list[Bounce]) -> str:
    parts = [ABOUT, table(HEAD, [cells(row) for row in rows])]
    places = [f"- {row.scene}, {row.engine}: {row.where()}" for row in rows if row.where()]
    parts += ["## Where the map is not smooth", "\n".join(places) or "Nowhere in these scenes."]
    parts += ["## A bounce against its closed form", _BOUNCE, _bounce_table(bounces)]
    parts += ["## MJX", _MJX]
    parts += [table(HEAD, [cells(row) for row in rivals]) if rivals else "MJX is not installed and was skipped."]
    places = [f"- {row.scene}, {row.engine}: {row.where()}" for row in rivals if row.where()]
    parts += ["\n".join(places)] if places else []
    return "\n\n".join(parts) + f"\n\n{versions()}\n"


_BOUNCE = """A ball falls, bounces once and is somewhere on its way: d(height, velocity) at 0.25 s. The derivative of the
closed form holds the time of impact. The error is relative to the largest entry of the row. Impulses put the impact
inside the step, so that the error falls with dt; with the impact at the end of a step it stays."""

_MJX = """Its derivatives against differences of its own rollouts of 20 steps in contact, in the same way. With more than
one iteration its solver is a loop for which JAX has no reverse mode."""


def _bounce_table(bounces: list[Bounce]) -> str:
    head = ["", "dt [ms]", *(f"d {what} / d {name}" for what in ("height", "velocity") for name in NAMES), "error"]
    return table(
        head,
        [
            [b.engine, f"{b.dt * 1e3:g}" if b.dt else "", *(f"{x:.5f}" for x in b.jacobian.ravel()), f"{b.error:.1e}"]
            for b in bounces
        ],
    )
