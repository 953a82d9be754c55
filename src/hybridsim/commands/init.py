"""`hybridsim init`"""

from pathlib import Path

from .arguments import Flag, Logs, ModelFile, Names
from .files import refuse_to_overwrite, write_text
from .proposal import check_files, show_columns, unnamed


def init(
    model: ModelFile,
    logs: Logs,
    out: Path = Path("fit.toml"),
    force: Flag = False,
    free: Flag = False,
    prescribed: Names = (),
) -> None:
    """Write a commented fit.toml for a robot and its logs.

    Args:
        model: URDF or MJCF.
        logs: CSV, npz, Parquet or MCAP files, each one run.
        out: The file to write.
        force: Replace a file that is there.
        free: Let the root link of a URDF float instead of fixing it to the world.
        prescribed: Joints that move as the logs say, whatever they touch.
    """
    check_files(model, logs)
    refuse_to_overwrite(out, force)
    from ..calibrate import config_of, propose
    from ..view.tables import terminal

    text = propose(model, logs, base="free" if free else "fixed", folder=out.parent, joints=prescribed)
    config = config_of(text, out.parent)
    write_text(out, text)
    show_columns(config)
    missing = ", ".join(unnamed(config))
    first = f"Written: {out}; name the column of {missing} in it." if missing else f"Written: {out}; look through it."
    terminal().print(f"{first}\nnow: hybridsim fit {out}", markup=False, highlight=False, soft_wrap=True)
