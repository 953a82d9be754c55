"""The tables for docs/gradients.md."""

from dataclasses import dataclass

from tables import table, versions

from .bounce import NAMES, Bounce
from .compare import SMALL, TINY, TOLERANCE
from .differences import ROUGH
from .mujoco_steps import EPSILON, Rival
from .single_steps import ENOUGH, SOLVED, WRONG, Case
from .survey_tables import Rows, by_kind, by_regime, of_rivals, of_tosses
from .table import Row
from .timing import Timing
from .tosses import STEPS, Toss
from .tosses import WRONG as WRONG_TOSS

HEAD = ["scene", "engine", "steps", "forward", "reverse", "entries", "unresolved", "not smooth", "NaN", ""]


@dataclass(frozen=True)
class Found:
    """All that was found."""

    cases: list[Case]
    walked: dict[str, list[int]]
    tosses: list[Toss]
    rollouts: list[Row]
    bounces: list[Bounce]
    mujoco: list[Rival]
    ours: list[Timing]
    mjx: list[Row]

    @property
    def right(self) -> bool:
        """Whether every derivative that was tested is right and every step is solved."""
        steps = not any(case.wrong or case.unsolved for case in self.cases) and not self.unsolved
        return steps and not any(toss.errors for toss in self.tosses) and all(row.right for row in self.rollouts)

    @property
    def unsolved(self) -> int:
        """Steps of all motions, also of those whose derivative was not looked at."""
        return sum(count for _, count in self.walked.values())

    @property
    def verdict(self) -> str:
        steps = sum(case.wrong for case in self.cases), sum(case.tested for case in self.cases)
        tosses = sum(bool(toss.errors) for toss in self.tosses), sum(toss.tested > 0 for toss in self.tosses)
        rows = sum(row.right for row in self.rollouts), len(self.rollouts)
        return (
            f"{steps[0]} of {steps[1]} single steps and {tosses[0]} of {tosses[1]} tosses have a wrong derivative; "
            f"{rows[0]} of {rows[1]} rollouts are right; "
            f"{self.unsolved} of {sum(count for count, _ in self.walked.values())} steps in contact are unsolved."
        )


def cells(row: Row) -> list[str]:
    reverse = "-" if row.note else f"{row.largest('reverse'):.1e}"
    counts = [row.count(name) for name in ("entries", "unresolved")]
    rough = sum(row.count(name) for name in ("kinks", "jumps", "rough", "noisy"))
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


def rollouts(rows: list[Row]) -> Rows:
    return HEAD, [cells(row) for row in rows]


def markdown(found: Found) -> str:
    places = [f"- {row.scene}, {row.engine}: {row.where()}" for row in found.rollouts if row.where()]
    parts = [
        *(_ABOUT, found.verdict),
        *("## Single steps", _STEPS, table(*by_kind(found.cases)), table(*by_regime(found.cases))),
        *("## Whole tosses", _TOSSES, table(*of_tosses(found.tosses))),
        *("## MuJoCo's finite differences", _MUJOCO, table(*of_rivals(found.mujoco, found.ours))),
        *("## Whole Jacobians of rollouts", _ROLLOUTS, table(*rollouts(found.rollouts))),
        *("Where the map is not smooth:", "\n".join(places) or "Nowhere in these scenes."),
        *("## A bounce against its closed form", _BOUNCE, _bounce_table(found.bounces)),
        *("## MJX", _MJX, table(*rollouts(found.mjx)) if found.mjx else "MJX is not installed and was skipped."),
    ]
    return "\n\n".join(parts) + f"\n\n{versions()}\n"


_ABOUT = f"""# Derivatives through contact

Written by `make gradients`, which fails if a derivative is wrong or a step is unsolved. Every derivative is
computed by forward and by reverse mode and compared with differences of the same motion. Differences are trusted
only where they agree with themselves: central differences are extrapolated over a ladder of steps from 1e-3 to
1e-11, three steps in a row have to agree, no finer step may contradict them, and both sides must have the same
slope to {ROUGH:g}. Elsewhere an input is left out and counted:

| left out | what the map itself shows |
| --- | --- |
| kink | the slopes of both sides differ |
| near a kink | central differences change at finer steps: a kink is closer than the step |
| jump | the value changes by a finite amount, however small the step |
| noise | rounding is larger than a hundredth of the entry |

An input along which any output has a kink or a jump is left out for all outputs. The derivative there is a finite
number: that of the state of contacts (touching or not, stuck or sliding) in which the step was solved."""

_STEPS = f"""Random motions of random bodies (1 g to 100 kg, 1 cm to 2 m, sides of 1 to 10, centre of mass and inertia anywhere,
friction 0 to 2, restitution 0 to 0.95, steps of 0.2 to 10 ms, with and without forces), and from each motion some steps
in contact, chosen so that all regimes occur. Of each step the whole Jacobian of the next q and qd by q (through the
joints' freedoms), qd, control, masses, sizes of shapes, height of the plane, joint damping and joint limits, and friction,
restitution, position gain, velocity gain and softness of every pair.
A step is wrong if a smooth entry is off by more than {WRONG:g} of itself (but of no less than {SMALL:g} of the
largest entry of its block and {TINY:g} of the largest of all), and tested if at least {ENOUGH:.0%} of its Jacobian
were compared. "worst" is the largest error. Differences are those of a solver with tolerance 1e-12.

A step is unsolved if its impulses leave a residual above {SOLVED:g} of the speeds at hand, computed in NumPy from
the law of contact and not by the solver, or if the precise solver finds another state. The residual is computed
for all steps of all motions. Steps with a position gain other than 1 and a gap or overlap below 1e-7 m are not
chosen: all that rests is at the corner of that law."""

_TOSSES = f"""The same motions over 100 to 700 steps with many impacts: the state at the end, along a random direction, by the
logarithms of friction, restitution, softness and masses, by the gains, and by the start's q and qd and the control. A
derivative is tested where central differences of three steps in a row (of {", ".join(f"{h:g}" for h in STEPS)}) agree with each
other (to 1e-2 and 1e-3) and both sides have the same slope, and wrong beyond {WRONG_TOSS:.0%}.
"curved": the slope changes within 1e-5, because impacts amplify small changes; "noise": the
input has no influence beyond rounding, as the mass of a single body."""

_MUJOCO = f"""MuJoCo differentiates a step by `mjd_transitionFD`, here centered with a step of {EPSILON:g}. Its Jacobians (by q,
qd and control) are compared with differences of its own step that are chosen as above. Times are for one Jacobian;
ours is by all inputs."""

_ROLLOUTS = f"""Of each scene the whole Jacobian d(final q, final qd) / d(initial q and qd, control, and all numbers as above;
stiffness and dissipation on springs). Time steps are 1 ms (quadruped on springs: 0.25 ms). "forward" and "reverse"
are the largest relative errors over all smooth entries; they are to be below {TOLERANCE:g}. "unresolved" entries
are those where differences are less precise than the tolerance; there the derivative must lie within three times
their doubt."""

_BOUNCE = """A ball falls, bounces once and is somewhere on its way: d(height, velocity) at 0.25 s. The derivative of the closed
form holds the time of impact. The error is relative to the largest entry of the row. Impulses put the impact
inside the step, so that the error falls with dt; with the impact at the end of a step it stays."""

_MJX = """Its derivatives against differences of its own rollouts of 20 steps in contact, in the same way. With more than one
iteration its solver is a loop for which JAX has no reverse mode."""


def _bounce_table(bounces: list[Bounce]) -> str:
    head = ["", "dt [ms]", *(f"d {what} / d {name}" for what in ("height", "velocity") for name in NAMES), "error"]
    return table(
        head,
        [
            [b.engine, f"{b.dt * 1e3:g}" if b.dt else "", *(f"{x:.5f}" for x in b.jacobian.ravel()), f"{b.error:.1e}"]
            for b in bounces
        ],
    )
