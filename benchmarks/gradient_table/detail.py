"""One step in detail: contacts with their impulses, then the smooth entries that are most wrong."""

import numpy as np
from rich.console import Console
from rich.table import Table

from hybridsim.contact.points import pairs_of_points

from .compare import scales, whole_columns
from .differences import LADDER, ROUGH
from .single_steps import Survey
from .walk import Walk


def show(survey: Survey, walk: Walk, step: int, console: Console, entries: int = 12) -> None:
    scene, case = walk.scene(step), survey.case(walk, step)
    motion, model = walk.motion, walk.motion.model
    console.print(f"{case.where}; dt {motion.dt:.3g} s, masses {np.asarray(model.links.mass)} kg")
    console.print(f"q {scene.q}\nqd {scene.qd}\ncontrol {scene.control}", highlight=False)
    console.print(_contacts(walk, step))
    f, forward, reverse, found = survey.jacobians(scene)
    inputs = [f"{group.name} {i}" for group in f.groups for i in range(group.count)]
    outputs = [f"q {i}" for i in range(model.nq)] + [f"qd {i}" for i in range(model.nv)]
    scale, found = scales(f.groups, model.nq, found), whole_columns(found)
    smooth = ~(found.jump | found.kink | found.near) & (found.doubt <= ROUGH * scale)
    error = np.maximum(np.abs(forward - found.slope), np.abs(reverse - found.slope)) / scale
    error = np.where(smooth, error + 1e-30, 0.0)
    ladder = Table("output", "input", "forward", "reverse", "differences", "doubt", "ahead", "behind", "error")
    for place in np.argsort(-np.nan_to_num(error), axis=None)[:entries]:
        i, j = np.unravel_index(place, error.shape)
        numbers = forward, reverse, found.slope, found.doubt, found.ahead, found.behind
        ladder.add_row(outputs[i], inputs[j], *(f"{x[i, j]:.6g}" for x in numbers), f"{error[i, j]:.1e}")
    console.print(ladder)
    i, j = np.unravel_index(np.argmax(np.nan_to_num(error)), error.shape)
    console.print(_sides(f, int(i), int(j), outputs[i], inputs[j]))


def _contacts(walk: Walk, step: int) -> Table:
    """Points that are near or touch, in this step and the one before."""
    model, values = walk.motion.model, walk.values
    impulse, gap = values["contact.impulse"], values["contact.distance"][step]
    pairs = pairs_of_points(model)
    names = [f"{model.geometry.names[a]}/{model.geometry.names[b]}" for a, b in model.contacts.pairs]
    shown = Table("point", "pair", "gap [m]", "rate [m/s]", "normal", "tangential / (mu normal)", "normal before", "e")
    for k in np.flatnonzero((impulse[step, :, 0] > 0) | (impulse[max(step - 1, 0), :, 0] > 0) | (gap < 1e-4)):
        normal, *tangents = impulse[step, k]
        most = float(model.contacts.friction[pairs[k]]) * normal
        share = f"{np.linalg.norm(tangents) / most:.9f}" if most > 0 else "-"
        before = impulse[step - 1, k, 0] if step else 0.0
        rate, e = values["contact.normal_velocity"][step, k], float(model.contacts.restitution[pairs[k]])
        numbers = (f"{x:.4g}" for x in (gap[k], rate, normal))
        shown.add_row(str(k), names[pairs[k]], *numbers, share, f"{before:.4g}", f"{e:.2g}")
    return shown


def _sides(f, i: int, j: int, output: str, input: str) -> Table:
    """One-sided and central differences of the worst entry at all steps."""
    offsets = np.concatenate([[0.0], LADDER, -LADDER])[:, None] * np.eye(len(f.zero))[j]
    middle, *moved = f(f.zero + offsets)[:, i]
    above, below = np.array(moved).reshape(2, -1)
    shown = Table("step", f"{output} by {input}: ahead", "behind", "central")
    for h, a, b in zip(LADDER, above, below, strict=True):
        shown.add_row(f"{h:.0e}", *(f"{x:.8g}" for x in ((a - middle) / h, (middle - b) / h, (a - b) / (2 * h))))
    return shown
