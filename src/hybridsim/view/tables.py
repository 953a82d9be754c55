"""A model as tables in the terminal, and as a record for programs."""

from typing import Any

import numpy as np
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.status import Status
from rich.table import Table
from rich.text import Text

from ..escape import for_people
from ..model import Model, pairs_left_out

PLAIN_WIDTH = 140
"""Columns of text where the output is no terminal, such as a file."""


class _Terminal(Console):
    def render_str(self, text: str, **options: Any) -> Text:
        """Names come from files: none of them may move the cursor or turn the direction of writing."""
        return super().render_str(for_people(text), **options)

    def on_broken_pipe(self) -> None:
        """Rich would exit; the command knows better with which code."""
        raise BrokenPipeError


def terminal(plain_width: int = PLAIN_WIDTH) -> Console:
    """Where results are printed; `plain_width` columns where it is a file or a pipe."""
    console = _Terminal(emoji=False)
    if not console.is_terminal:
        console.width = plain_width
    return console


def working(words: str) -> Status:
    """Something that moves on stderr, if that is a terminal, while nobody knows how long it takes: `with working(...)`."""
    return Console(stderr=True).status(words)


def show_model(model: Model, title: str, console: Console | None = None) -> None:
    """Print what a model consists of: sizes, joints, links, actuators."""
    console = console or terminal()
    gravity = " ".join(f"{x:g}" for x in np.asarray(model.gravity))
    console.print(title, style="bold", markup=False, highlight=False, soft_wrap=True)
    console.print(
        f"{len(model.link_names)} links, {len(model.joint_names)} joints, nq {model.nq}, nv {model.nv}, nu {model.nu}; "
        f"{np.sum(model.links.mass):.6g} kg; gravity {gravity} m/s^2; time step {float(model.timestep):g} s",
        highlight=False,
    )
    if model.contacts.pairs or model.geometry.names:
        console.print(_contact_line(model), highlight=False)
    for table in (joint_table(model), link_table(model), actuator_table(model)):
        if table.row_count:
            console.print(table)


def _contact_line(model: Model) -> str:
    left_out = len(pairs_left_out(model))
    line = f"{len(model.contacts.pairs)} pairs of shapes may touch"
    return line + (f"; {left_out} pairs within one mechanism do not (self_collision)" if left_out else "")


def model_record(model: Model) -> dict[str, Any]:
    """The same for programs: numbers as they are, in SI units; one list entry for each freedom of a joint."""
    topology, joints, links, actuators = model.topology, model.joints, model.links, model.actuators
    owners = dict(zip(topology.link_joints, topology.link_names, strict=True))
    return {
        "nq": model.nq,
        "nv": model.nv,
        "nu": model.nu,
        "mass": float(np.sum(links.mass)),
        "gravity": np.asarray(model.gravity).tolist(),
        "timestep": float(model.timestep),
        "contact_pairs": [[model.geometry.names[i] for i in pair] for pair in model.contacts.pairs],
        "networks": model.augmentation is not None,
        "joints": [
            {"name": name, "kind": topology.kinds[i].name, "parent": _parent(model, i), "child": owners.get(i)}
            | {what: np.asarray(getattr(joints, what))[topology.v_slices[i]].tolist() for what in _FREEDOM_NUMBERS}
            for i, name in enumerate(topology.joint_names)
        ],
        "links": [
            {"name": name} | {what: np.asarray(getattr(links, what))[i].tolist() for what in ("mass", "com", "inertia")}
            for i, name in enumerate(model.link_names)
        ],
        "actuators": [
            {"name": name, "joint": model.joint_names[actuators.joints[i]]}
            | {what: np.asarray(getattr(actuators, what))[i].tolist() for what in _ACTUATOR_NUMBERS}
            for i, name in enumerate(actuators.names)
        ],
    }


def joint_table(model: Model) -> Table:
    """One row a joint; where a joint's freedoms have different numbers, all are shown."""
    topology, joints = model.topology, model.joints
    owners = dict(zip(topology.link_joints, topology.link_names, strict=True))
    rows = []
    for i, (name, kind) in enumerate(zip(topology.joint_names, topology.kinds, strict=True)):
        dofs = topology.v_slices[i]
        row = {
            "joint": name,
            "kind": kind.name,
            "parent": _parent(model, i),
            "child": owners.get(i, ""),
            "q": _coordinates(model, i),
            "limits": _limits(np.asarray(joints.lower)[dofs], np.asarray(joints.upper)[dofs]),
        }
        rows.append(row | {what: _numbers(getattr(joints, what)[dofs]) for what in _JOINT_NUMBERS})
    return _table(rows)


_JOINT_NUMBERS = ("damping", "friction", "stiffness", "armature", "effort")
_FREEDOM_NUMBERS = ("lower", "upper", *_JOINT_NUMBERS)
_ACTUATOR_NUMBERS = ("gain", "bias", "gear", "command_range", "force_range")


def _parent(model: Model, joint: int) -> str:
    """The link that carries the joint; where there is none, the joint below it."""
    topology = model.topology
    parent = topology.parents[joint]
    owners = dict(zip(topology.link_joints, topology.link_names, strict=True))
    return "world" if parent < 0 else owners.get(parent, topology.joint_names[parent])


def link_table(model: Model) -> Table:
    """One row a link, with the principal moments of its inertia and its shapes; the world last, if it has shapes."""
    shapes: dict[int, list[str]] = {}
    for shape, link in zip(model.geometry.shapes, model.geometry.links, strict=True):
        shapes.setdefault(link, []).append(shape)
    rows = [
        {
            "link": name,
            "mass [kg]": f"{float(model.links.mass[i]):.6g}",
            "centre of mass [m]": " ".join(f"{x:.4g}" for x in np.asarray(model.links.com)[i]),
            "principal inertia [kg m^2]": " ".join(f"{x:.4g}" for x in _principal(np.asarray(model.links.inertia)[i])),
            "shapes": _counted(shapes.get(i, [])),
        }
        for i, name in enumerate(model.link_names)
    ]
    if -1 in shapes:
        rows.append(
            dict.fromkeys(rows[0] if rows else ("link", "shapes"), "")
            | {"link": "world", "shapes": _counted(shapes[-1])}
        )
    return _table(rows)


def actuator_table(model: Model) -> Table:
    """One row an actuator."""
    actuators = model.actuators
    return _table(
        [
            {
                "actuator": name,
                "joint": model.joint_names[actuators.joints[i]],
                "gain": f"{float(actuators.gain[i]):g}",
                "bias": _numbers(actuators.bias[i]),
                "gear": _numbers(np.trim_zeros(np.asarray(actuators.gear)[i], "b")),
                "command": _limits(*np.asarray(actuators.command_range)[i][:, None]),
                "force": _limits(*np.asarray(actuators.force_range)[i][:, None]),
            }
            for i, name in enumerate(actuators.names)
        ]
    )


def _table(rows: list[dict[str, str]]) -> Table:
    """A table of the columns that say something."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    columns = [column for column in (rows[0] if rows else ()) if any(row[column] for row in rows)]
    for column in columns:
        table.add_column(escape(column), overflow="fold")
    for row in rows:
        table.add_row(*(escape(row[column]) for column in columns))
    return table


def _coordinates(model: Model, joint: int) -> str:
    """Where the joint lies in q, or which joint it copies."""
    topology = model.topology
    if topology.kinds[joint].nq == 0:
        return ""
    if topology.mimics[joint] >= 0:
        return f"as {topology.joint_names[topology.mimics[joint]]}"
    place = model.q_of(topology.joint_names[joint])
    return str(place.start) if place.stop - place.start == 1 else f"{place.start}..{place.stop - 1}"


def _limits(lower: np.ndarray, upper: np.ndarray) -> str:
    if not np.any(np.isfinite(np.concatenate([lower, upper]))):
        return ""
    return ", ".join(f"{a:.4g} to {b:.4g}" for a, b in zip(lower, upper, strict=True))


def _numbers(values) -> str:
    """The values, one where all are the same; nothing where there is none or it has no effect."""
    values = np.asarray(values)
    if len(values) == 0 or np.all(values == 0) or np.all(np.isinf(values)):
        return ""
    return f"{values[0]:.4g}" if np.all(values == values[0]) else " ".join(f"{x:.4g}" for x in values)


def _principal(six: np.ndarray) -> np.ndarray:
    """Principal moments of (xx, yy, zz, xy, xz, yz)."""
    return np.linalg.eigvalsh(six[[0, 3, 4, 3, 1, 5, 4, 5, 2]].reshape(3, 3))


def _counted(words: list[str]) -> str:
    counts = {word: words.count(word) for word in words}
    return ", ".join(word if n == 1 else f"{n} {word}" for word, n in counts.items())
