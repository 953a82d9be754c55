"""`hybridsim demo`"""

import json
import shutil
from importlib.resources import as_file, files
from pathlib import Path

from .arguments import Flag, Folder

ARM, LOGS = "two_link_arm.urdf", "demo"


def demo(out: Folder = Path("out/demo"), json: Flag = False) -> int:
    """Calibrate a two-link arm from logs that are shipped.

    The logs were made with MuJoCo: other masses than in the URDF, dry friction, a motor delay, noise and jitter.

    Args:
        out: Folder for the arm, its logs and the run.
        json: Print a summary as JSON instead of tables.
    """
    from .fit import fit
    from .init import init

    arm, logs = copy_demo(out)
    config = out / "fit.toml"
    _say(f"$ hybridsim init {arm} {logs[0].parent}/*.csv --out {config}", json)
    if not json:
        init(arm, logs, config, force=True)
    else:
        _write_quietly(arm, logs, config)
    _say(f"$ hybridsim fit {config} --out {out / 'run'}", json)
    code = fit((config,), out / "run", force=(out / "run").exists(), json=json)
    if not json and code == 0:
        show_truth(out)
    return code


def copy_demo(out: Path) -> tuple[Path, tuple[Path, ...]]:
    """The arm's URDF and its logs, in a folder of the user's."""
    out.mkdir(parents=True, exist_ok=True)
    with as_file(files("hybridsim") / "assets") as assets:
        shutil.copy(assets / ARM, out / ARM)
        (out / "logs").mkdir(exist_ok=True)
        for path in sorted((assets / LOGS).glob("*.csv")):
            shutil.copy(path, out / "logs" / path.name)
    return out / ARM, tuple(sorted((out / "logs").glob("run*.csv")))


def show_truth(out: Path) -> None:
    """What the logs were made with, beside what was found."""
    from rich import box
    from rich.table import Table

    from ..view.tables import terminal
    from .outcome import rounded

    truth = json.loads((files("hybridsim") / "assets" / LOGS / "truth.json").read_text())
    found = {p["name"]: p for p in json.loads((out / "run" / "parameters.json").read_text())}
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title="The stand-in hardware, which the fit has not seen")
    for column in ("parameter", "in the URDF", "found, with its 95 % interval", "in the hardware", "inside"):
        table.add_column(column, justify="left" if column == "parameter" else "right")
    for name, value in truth.items():
        p = found.get(name)
        if p is not None:
            shown, lower, upper = rounded(p["value"], p["lower"], p["upper"])
            interval = f"{shown}  [{lower}, {upper}]"
            inside = "yes" if p["lower"] <= value <= p["upper"] else "no"
            table.add_row(name, f"{p['start']:.4g}", interval, f"{value:.4g}", inside)
    terminal(100).print(table)


def _write_quietly(arm: Path, logs: tuple[Path, ...], config: Path) -> None:
    from ..calibrate import propose
    from .files import write_text

    write_text(config, propose(arm, logs, folder=config.parent))


def _say(line: str, quiet: bool) -> None:
    if not quiet:
        from ..view.tables import terminal

        terminal().print(f"\n{line}", markup=False, highlight=False, soft_wrap=True)
