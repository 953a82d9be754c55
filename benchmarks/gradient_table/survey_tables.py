"""Tables of the survey of single steps and of tosses: what was tested, what was left out and why, what is wrong."""

from collections.abc import Callable

from rich.table import Table

from .mujoco_steps import Rival
from .single_steps import REASONS, Case
from .timing import Timing
from .tosses import REASONS as TOSS_REASONS
from .tosses import Toss, summary

Rows = tuple[list[str], list[list[str]]]
"""Head, and cells."""
_EVENTS = ("lands", "bounces", "leaves", "slides", "slips and sticks", "rolls", "rests")


def by_kind(found: list[Case]) -> Rows:
    """One row for each kind of motion, and all."""
    return _rows("motion", found, lambda case: case.kind, list(dict.fromkeys(case.kind for case in found)))


def by_regime(found: list[Case]) -> Rows:
    """One row for each regime of contact."""
    names = {case.regime.name: (_EVENTS.index(case.regime.event), case.regime.points) for case in found}
    return _rows("what happens", found, lambda case: case.regime.name, sorted(names, key=lambda name: names[name]))


def _rows(head: str, found: list[Case], key: Callable[[Case], str], names: list[str]) -> Rows:
    columns = [
        head,
        "steps",
        "tested",
        "entries",
        *(f"{reason} [%]" for reason in REASONS),
        "wrong",
        "worst",
        "unsolved",
    ]
    rows = [_row(name, [case for case in found if key(case) == name]) for name in names]
    return columns, [*rows, _row("all", found)]


def _row(name: str, cases: list[Case]) -> list[str]:
    entries = sum(case.count("entries") for case in cases)
    parts = [sum(case.count(field) for case in cases) / max(entries, 1) for field in REASONS.values()]
    compared = entries - sum(case.left_out for case in cases)
    counts = [len(cases), sum(case.tested for case in cases), compared]
    worst = max((case.error for case in cases), default=0.0)
    ends = [str(sum(case.wrong for case in cases)), f"{worst:.0e}", str(sum(case.unsolved for case in cases))]
    return [name, *map(str, counts), *(f"{100 * part:.1f}" for part in parts), *ends]


def of_tosses(found: list[Toss]) -> Rows:
    """One row for each kind of body, and all."""
    head = ["body", "tosses", "tested", "derivatives", *TOSS_REASONS, "wrong"]
    kinds = list(dict.fromkeys(toss.kind for toss in found))
    groups = {kind: [toss for toss in found if toss.kind == kind] for kind in kinds} | {"all": found}
    return head, [[name, *map(str, summary(tosses).values())] for name, tosses in groups.items()]


def of_rivals(found: list[Rival], ours: list[Timing]) -> Rows:
    """MuJoCo's finite differences by q, qd and control, and our derivatives by all inputs."""
    head = ["body", "MuJoCo: steps", "right", "worst", "inputs", "us", "ours: inputs", "forward, us", "reverse, us"]
    own = {timing.body: timing for timing in ours}
    return head, [
        [
            *(r.body, str(r.steps), str(r.agree), f"{r.worst:.0e}", "18", f"{1e6 * r.seconds:.0f}"),
            *(str(own[r.body].inputs), f"{1e6 * own[r.body].forward:.0f}", f"{1e6 * own[r.body].reverse:.0f}"),
        ]
        for r in found
    ]


def terminal(title: str, rows: Rows) -> Table:
    head, cells = rows
    shown = Table(title=title)
    for i, name in enumerate(head):
        shown.add_column(name, justify="right" if i else "left")
    for row in cells:
        shown.add_row(*row)
    return shown
