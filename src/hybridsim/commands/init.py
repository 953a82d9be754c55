"""`hybridsim init`"""

from pathlib import Path

from .arguments import Flag, Logs, ModelFile, Names, OptionalOrder
from .files import refuse_to_overwrite, write_text
from .proposal import check_files, show_columns, show_world, unnamed


def init(
    model: ModelFile,
    logs: Logs,
    out: Path = Path("fit.toml"),
    force: Flag = False,
    free: Flag = False,
    prescribed: Names = (),
    quaternion: OptionalOrder = None,
) -> None:
    """Write a commented fit.toml for a robot and its logs.

    Args:
        model: URDF or MJCF.
        logs: CSV, npz, Parquet or MCAP files, each one run.
        out: The file to write.
        force: Replace a file that is there.
        free: Let the root link of a URDF float instead of fixing it to the world.
        prescribed: Joints that move as the logs say, whatever they touch.
        quaternion: Order of rotations whose columns do not tell it: wxyz or xyzw.
    """
    check_files(model, logs)
    refuse_to_overwrite(out, force)
    from ..calibrate import config_of, propose
    from ..view.tables import terminal

    base = "free" if free else "auto"
    text = propose(model, logs, base=base, folder=out.parent, joints=prescribed, quaternion=quaternion)
    config = config_of(text, out.parent)
    write_text(out, text)
    show_columns(config)
    show_world(config)
    missing = ", ".join(unnamed(config))
    first = f"Written: {out}; name the column of {missing} in it." if missing else f"Written: {out}; look through it."
    terminal().print(f"{first}\nnow: hybridsim fit {out}", markup=False, highlight=False, soft_wrap=True)
